"""What `symdiff check` reports: findings, and how they are written."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symdiff.errors import Location

LEVELS = ("error", "warning", "note")
"""How bad a finding is; see `symdiff.cli.check.ranks`."""
IGNORE = re.compile(r"#\s*symdiff:\s*ignore\b")
"""The comment on lines whose findings are not wanted."""
NOT_FINITE, DIGITS_LOST, WRONG_GUARD = "not finite", "digits lost", "wrong guard"
DECIDED = "decided by rounding"
UNDEFINED = "undefined"
"""Kinds of findings."""
_ELEMENT = re.compile(r"(\w+)\[([\d, ]+)\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """A point or range of one variable where an output is bad.

    Attributes
    ----------
    function, output : names, such as "f" and "df/dx".
    kind : "not finite", "digits lost", "wrong guard", "decided by rounding" or "undefined", where no
        value is right.
    variable, low, high : the range; a point if low == high.
    at : the arguments of an example.
    got, right, symdiff : there: the plain chain rule, the true value, symdiff.
    ulps : the worst error of the plain chain rule seen in the range; inf if it is
        not finite.
    location : the operation where the trouble starts.
    cause : that operation, as text.
    others : how many more such ranges there are, further from 0.
    level : "error", "warning" or "note".
    fix : what symdiff would write there, if that is one formula.
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
    level: str = "warning"
    fix: str = ""

    @property
    def digits_lost(self) -> int:
        return min(16, round(math.log10(self.ulps))) if math.isfinite(self.ulps) else 16

    def to_dict(self) -> dict[str, Any]:
        place = self.location
        return {
            "function": self.function,
            "output": self.output,
            "kind": self.kind,
            "level": self.level,
            "fix": self.fix,
            "variable": self.variable,
            "low": self.low,
            "high": self.high,
            "at": dict(self.at),
            "naive": _json(self.got),
            "right": _json(self.right),
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
        """`path:line:col: level: function: message`; `also` names outputs with it."""
        place = self.location
        where = f"{shown_path(place.path)}:{place.line}:{place.column}: " if place else ""
        return f"{where}{self.level}: {self.said(also)}"

    def said(self, also: Sequence[str] = ()) -> str:
        """`function: message`."""
        names = ["the value" if o == self.function else o for o in also]
        more = f"; also {', '.join(names)}" if also else ""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{self.function}: {self._message()}{more}{fix}"

    def _message(self) -> str:
        what = "the value" if self.output == self.function else self.output
        truth = f"should be {number(self.right)} (symdiff: {number(self.symdiff)})"
        here = arguments({self.variable: self.at[self.variable], **self.at})
        if self.kind == UNDEFINED:
            why = "where it has no limit" if math.isnan(self.got) else "which is a pole"
            return f"{what} is {number(self.got)} for {here}, {why}"
        if self.kind == DECIDED:
            return (
                f"rounding decides {self.cause}: it is {number(self.got)} for {here}, and "
                f"{number(self.right)} of these decimals"
            )
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
    """A line per fault, the worst first: findings in one line of the source that have a cause or an
    example in common are one fault."""
    return [group[0].text(others(group)) for group in merged(findings)]


def others(group: Sequence[Finding]) -> list[str]:
    """The further outputs of the findings of a fault."""
    return [o for o in dict.fromkeys(f.output for f in group) if o != group[0].output]


def is_ignored(f: Finding) -> bool:
    """Whether the line of a finding says `# symdiff: ignore`."""
    return f.location is not None and IGNORE.search(f.location.text) is not None


def merged(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings of each fault, the one that says most first."""
    groups: list[list[Finding]] = []
    for f in sorted(findings, key=_telling):
        for group in groups:
            if _alike(f, group[0]) or any(_alike(f, g) for g in group[1:]):
                group.append(f)
                break
        else:
            groups.append([f])
    places = {
        id(g): (g[0].location.line, g[0].location.column) if g[0].location else (0, 0)
        for g in groups
    }
    return sorted(groups, key=lambda g: (LEVELS.index(g[0].level), places[id(g)]))


def _telling(f: Finding) -> tuple[Any, ...]:
    """What says most: the worst level, values before derivatives, the simplest example."""
    return (
        LEVELS.index(f.level),
        f.kind == DIGITS_LOST,
        len(repr(dict(f.at))),
        f.output != f.function,
    )


def _alike(f: Finding, g: Finding) -> bool:
    """Whether two findings are of one fault."""
    if f.function != g.function or (f.location is None) != (g.location is None):
        return False
    if (
        f.location
        and g.location
        and (f.location.path, f.location.line) != (g.location.path, g.location.line)
    ):
        return False
    return f.at == g.at or (f.cause == g.cause and f.kind == g.kind)


def arguments(at: Mapping[str, float]) -> str:
    """Arguments as people write them: `x = [1, 2], k = 3` for x[0], x[1] and k."""
    arrays: dict[str, dict[tuple[int, ...], float]] = {}
    for n, x in at.items():
        match = _ELEMENT.fullmatch(n)
        place = tuple(map(int, match[2].split(","))) if match else ()
        arrays.setdefault(match[1] if match else n, {})[place] = x
    return ", ".join(f"{n} = {_array(elements)}" for n, elements in arrays.items())


def _array(elements: Mapping[tuple[int, ...], float]) -> str:
    """Nested lists; the elements are known by their indices."""
    if () in elements:
        return number(elements[()])
    rows: dict[int, dict[tuple[int, ...], float]] = {}
    for i, x in sorted(elements.items()):
        rows.setdefault(i[0], {})[i[1:]] = x
    return f"[{', '.join(map(_array, rows.values()))}]"


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
