"""What `symdiff check` reports: findings, and how they are written."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symdiff.errors import Location

NOT_FINITE, DIGITS_LOST, WRONG_GUARD = "not finite", "digits lost", "wrong guard"
"""Kinds of findings."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A point or range of one variable where an output is bad.

    Attributes
    ----------
    function, output : names, such as "f" and "df/dx".
    kind : "not finite", "digits lost" or "wrong guard".
    variable, low, high : the range; a point if low == high.
    at : the arguments of an example.
    got, right, symdiff : there: the plain chain rule, the true value, symdiff.
    ulps : the worst error of the plain chain rule seen in the range; inf if it is
        not finite.
    location : the operation where the trouble starts.
    cause : that operation, as text.
    others : how many more such ranges there are, further from 0.
    """

    function: str
    output: str
    kind: str
    variable: str
    low: float
    high: float
    at: Mapping[str, float]
    got: float
    right: float
    symdiff: float
    ulps: float
    location: Location | None
    cause: str
    others: int = 0

    @property
    def digits_lost(self) -> int:
        return min(16, round(math.log10(self.ulps))) if math.isfinite(self.ulps) else 16

    def to_dict(self) -> dict[str, Any]:
        place = self.location
        return {
            "function": self.function,
            "output": self.output,
            "kind": self.kind,
            "variable": self.variable,
            "low": self.low,
            "high": self.high,
            "at": dict(self.at),
            "naive": _json(self.got),
            "right": self.right,
            "symdiff": _json(self.symdiff),
            "ulps": _json(self.ulps),
            "path": shown_path(place.path) if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "cause": self.cause,
            "others": self.others,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, also: Sequence[str] = ()) -> str:
        """`path:line:col: function: message`; `also` names outputs with the same fault."""
        place = self.location
        where = f"{shown_path(place.path)}:{place.line}:{place.column}: " if place else ""
        more = f"; the same holds for {', '.join(also)}" if also else ""
        return f"{where}{self.function}: {self._message()}{more}"

    def _message(self) -> str:
        what = "the value" if self.output == self.function else self.output
        truth = f"should be {number(self.right)} (symdiff: {number(self.symdiff)})"
        others = [f"{n} = {number(x)}" for n, x in self.at.items() if n != self.variable]
        here = ", ".join([f"{self.variable} = {number(self.at[self.variable])}", *others])
        if self.kind == WRONG_GUARD:
            return f"{self.cause} is wrong: it is {number(self.got)} for {here}, {truth}"
        point = self.low == self.high
        spot = f"for {here if point else self._range()}"
        if self.kind == NOT_FINITE:
            if point:
                return f"{what} is {number(self.got)} {spot}, {truth}"
            return f"{what} is {number(self.got)} {spot}; at {here} it {truth}"
        upto, at = ("", "") if point else ("up to ", f"at {here} ")
        lost = f"{what} loses {upto}{self.digits_lost} of 16 digits {spot}"
        return f"{lost}; {at}it is {number(self.got)}, {truth}"

    def _range(self) -> str:
        low, high = self.low, self.high
        middle = self.at[self.variable]
        near = low + (high - low) / 2
        simple = float(f"{near:.3g}")
        more = f" and {self.others} more ranges" if self.others > 1 else ""
        more = " and one more range" if self.others == 1 else more
        if low < 0 < high or abs(high - low) > 0.01 * abs(middle):
            return f"{self.variable} in [{low:.3g}, {high:.3g}]{more}"
        center = simple if low <= simple <= high else middle
        ends = [
            f"{number(center)} {'-' if x < 0 else '+'} {abs(x):.2g}" if x else number(center)
            for x in (low - center, high - center)
        ]
        return f"{self.variable} in [{', '.join(ends)}]{more}"


# -------------------------------------------------------------------- printing
def lines(findings: Iterable[Finding]) -> list[str]:
    """A line per fault; outputs that have the same one at the same place share it."""
    groups: dict[Any, list[Finding]] = {}
    for f in findings:
        key = f.location, f.kind, f.variable, tuple(f.at.items())
        groups.setdefault((*key, None if len(f.at) > 1 else f.output), []).append(f)
    return [
        group[0].text([o for o in dict.fromkeys(f.output for f in group) if o != group[0].output])
        for group in groups.values()
    ]


def number(x: float) -> str:
    """A float as people write it: `0`, not `0.0`."""
    text = repr(float(x) + 0.0)
    return text.removesuffix(".0")


def shown_path(path: str) -> str:
    """A path below the working directory as relative to it."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def _json(x: float) -> float | str:
    """JSON has no inf and nan."""
    return x if math.isfinite(x) else str(x)
