"""`symdiff check`: where the plain chain rule goes wrong, and what is right there.

A point is bad if the true value (ball arithmetic) is finite but the plain chain rule
in double arithmetic gives inf or nan, or loses more than half its digits. Points are
looked for along lines parallel to the axes: where a running error bound says that
digits may be lost, the true error is measured, and bad points next to each other
become a range. Loss that is not the formula's fault is left out unless asked for:
where a change of the arguments by a few ulps changes the result as much (beside any
root, sin(x*x) for large x), and underflow to zero.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from symdiff.api import SymbolicFunction
from symdiff.certify import answers_of, defaults_of, derivatives, output_labels, reference
from symdiff.errors import Location
from symdiff.interpret import Answer, Certified, ulp_error
from symdiff.ir import FALSE, VAR, format_expr, or_, topological
from symdiff.naive import HALF_THE_DIGITS, Naive
from symdiff.passes.guards import Guard, GuardNotes
from symdiff.samples import (
    Lines,
    Point,
    bases,
    breaks,
    from_ordinal,
    halfway,
    inside,
    ordinal,
    spread,
)

SECONDS = 10.0
"""Time for one function."""
POINT_SECONDS = 0.1
PER_RUN = 120
"""Points measured of each stretch that may be bad."""
SHOWN = 3
"""Ranges of one variable with the same cause that are listed."""
BETWEEN = 12
"""Points tried to see whether two bad ones belong together."""
STEPS = 14
"""Bisections for the end of a range."""
NUDGES = (4, 2**9, 2**18, 2**26)
"""Ulps by which arguments are changed to see how sharply the result depends on them."""
ALLOWANCE = 64
"""Ulps of change in an argument that excuse as large a change of the result."""
EXTREME = 1e300
"""Faults only of larger numbers, or of those below its inverse, are left out."""
UNDERFLOW = 2.0**-511
"""Absolute errors below this are gradual underflow."""
DIGITS = 53 * math.log10(2)
NOT_FINITE, DIGITS_LOST, EXCUSED = "not finite", "digits lost", "excused"
WRONG_GUARD = "wrong guard"


@dataclass(frozen=True, slots=True)
class Fault:
    """What the plain chain rule gets wrong for one output at one point."""

    kind: str
    got: float
    truth: float
    ulps: float


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


@dataclass(slots=True)
class Checked:
    """What was found in one function.

    Attributes
    ----------
    findings : in the order of the source.
    complete : whether the search ended within its time.
    """

    name: str
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "findings": [f.to_dict() for f in self.findings],
            "complete": self.complete,
        }


def check(
    function: SymbolicFunction,
    wrt: Sequence[str] | None = None,
    *,
    seconds: float = SECONDS,
    everything: bool = False,
) -> Checked:
    """The points and ranges where the plain chain rule is bad for a function.

    Parameters
    ----------
    function : what is checked, value and derivatives.
    wrt : the variables to differentiate by; None: as the function has it.
    seconds : when to stop searching.
    everything : also report digits lost where the arguments determine the result
        no better, and by underflow, and faults at sizes beyond 1e300 or below 1e-300.
    """
    start = time.perf_counter()
    examiner = Examiner(function, wrt, everything)
    search = _Search(examiner, start + seconds)
    findings = [*_wrong_guards(examiner), *_few(search.findings(), len(examiner.params))]
    order = {label: i for i, label in enumerate(examiner.labels)}
    findings.sort(key=lambda f: (_line(f.location), order[f.output], f.low))
    elapsed = time.perf_counter() - start
    return Checked(function.__name__, findings, search.complete, elapsed)


def _few(findings: Iterable[Finding], arity: int) -> list[Finding]:
    """Of many ranges with one cause, such as all multiples of pi, those closest to 0."""
    groups: dict[Any, list[Finding]] = {}
    for f in findings:
        groups.setdefault((f.output, f.kind, f.location), []).append(f)
    kept: list[Finding] = []
    for group in groups.values():
        group.sort(key=lambda f: (min(abs(f.low), abs(f.high)), f.low))
        shown, rest = group[:SHOWN], len(group) - SHOWN
        kept += [*shown[:-1], replace(shown[-1], others=max(rest, 0))]
    return kept


def _wrong_guards(examiner: Examiner) -> Iterable[Finding]:
    """Guards whose value is not the limit."""
    for guard in examiner.guards.guards:
        if guard.kind == "kept":
            yield _wrong_guard(examiner, guard)


def _wrong_guard(examiner: Examiner, guard: Guard) -> Finding:
    params = examiner.params
    at = {str(e.value): float(q) for e, q in guard.where if e.op is VAR}
    values = examiner.symdiff([at.get(p, 1.0) for p in params]) if at else [math.nan]
    variable, middle = next(iter(at.items()), (format_expr(guard.where[0][0], 40), 0.0))
    locations = examiner.program.locations
    below = (guard.node, *reversed(topological((guard.node,))))
    place = next((locations[n] for n in below if n in locations), None)
    name = examiner.function.__name__
    return Finding(
        name, name, WRONG_GUARD, variable, middle, middle,
        at or {variable: float(guard.where[0][1])}, guard.guarded, guard.limit,
        values[0], guard.ulps, place, "the guard",
    )  # fmt: skip


def _line(place: Location | None) -> tuple[int, int]:
    return (place.line, place.column) if place else (0, 0)


class Examiner:
    """One function, evaluated three ways: by the plain chain rule, proven, by symdiff.

    Attributes
    ----------
    labels : names of the outputs, values first.
    """

    def __init__(
        self,
        function: SymbolicFunction,
        wrt: Sequence[str] | None = None,
        everything: bool = False,
    ) -> None:
        self.function, self.everything = function, everything
        self.program = function.raw_program
        self.params = self.program.params
        self.wrt = tuple(wrt or function._wrt())
        self.labels = output_labels(self.program, self.wrt)
        self.naive = Naive(self.program, self.wrt)
        self.guards = GuardNotes()
        repaired = reference(self.program, self.guards)
        self.outputs = derivatives(repaired, self.wrt)
        self.reference = Certified(self.params, self.outputs, repaired.outputs, POINT_SECONDS)
        self.inside = inside(self.params, (*self.program.domain, *self.program.assumptions))
        self._known: dict[Point, tuple[Fault | None, ...]] = {}

    @cached_property
    def _answers(self) -> Any:
        own = self.function._wrt()
        if self.wrt == own:
            return answers_of(self.function)[0]
        derived = SymbolicFunction(self.function._source, _with_wrt(self.function, self.wrt))
        return answers_of(derived)[0]

    def symdiff(self, point: Sequence[float]) -> list[float]:
        """All outputs as symdiff computes them."""
        answers: list[float] = self._answers(point)
        return answers

    def truth(self, point: Sequence[float]) -> tuple[Answer, ...]:
        """All outputs, proven."""
        return self.reference.at_with_status(point)

    def faults(self, point: Point) -> tuple[Fault | None, ...]:
        """What is bad at a point, for each output."""
        if point not in self._known:
            got = self.naive.at(point)
            truth = self.truth(point)
            self._known[point] = tuple(
                self._fault(i, point, x, a) for i, (x, a) in enumerate(zip(got, truth, strict=True))
            )
        return self._known[point]

    def _fault(self, i: int, point: Point, got: float, right: Answer) -> Fault | None:
        if right.status not in ("exact", "limit") or not math.isfinite(right.value):
            return None
        if not math.isfinite(got):
            return Fault(NOT_FINITE, got, right.value, math.inf)
        ulps = ulp_error(got, right.ball)
        if ulps <= HALF_THE_DIGITS:
            return None
        counts = self.everything or self._at_fault(i, point, got, right)
        return Fault(DIGITS_LOST if counts else EXCUSED, got, right.value, ulps)

    def _at_fault(self, i: int, point: Point, got: float, right: Answer) -> bool:
        """Whether the loss is the formula's, and not in the nature of the function."""
        error = abs(got - right.value)
        if error <= UNDERFLOW:
            return False
        for k, x in enumerate(point):
            for step in (s * n for n in NUDGES for s in (1, -1)):
                moved = float(from_ordinal(ordinal(x) + step))
                if not math.isfinite(moved):
                    continue
                there = self.truth((*point[:k], moved, *point[k + 1 :]))[i].value
                if error <= ALLOWANCE * abs(there - right.value) / abs(step):
                    return False
        return True


def _with_wrt(function: SymbolicFunction, wrt: tuple[str, ...]) -> Any:
    return replace(function._options, wrt=wrt)


# ---------------------------------------------------------------------- search
class _Search:
    """Goes along the lines and gathers ranges."""

    def __init__(self, examiner: Examiner, deadline: float) -> None:
        self.examiner, self.deadline = examiner, deadline
        self.complete = True
        self.found: dict[Any, Finding] = {}
        places = breaks(examiner.naive.outputs, sums=True)
        self.lines = Lines(examiner.params, list(places))
        acts = [g.condition for g in examiner.guards.guards if g.kind == "repaired"]
        self.guarded = inside(examiner.params, [reduce(or_, acts, FALSE)])

    def findings(self) -> list[Finding]:
        defaults = defaults_of(self.examiner.function)
        for base in bases(self.examiner.params, self.examiner.inside, defaults):
            for axis in range(len(self.examiner.params)):
                if time.perf_counter() > self.deadline:
                    self.complete = False
                    return list(self.found.values())
                self._line(base, axis)
        return list(self.found.values())

    def _line(self, base: Point, axis: int) -> None:
        xs, roots = self.lines.grid(base, axis)
        rows = self.lines.points(base, axis, xs)
        valid = self.examiner.inside(rows)
        xs, rows, flagged = xs[valid], rows[valid], roots[valid]
        if not len(xs):
            return
        flagged |= self.examiner.naive.doubtful(rows) | self.guarded(rows)
        edges = np.nonzero(np.diff(np.concatenate(([0], flagged.astype(int), [0]))))[0]
        runs = list(zip(edges[::2], edges[1::2], strict=True))
        for first, end in sorted(runs, key=lambda r: min(map(_length, xs[slice(*r)]))):
            if time.perf_counter() > self.deadline:
                self.complete = False
                return
            self._run(base, axis, xs, int(first), int(end))

    def _run(self, base: Point, axis: int, xs: Any, first: int, end: int) -> None:
        """A stretch of flagged points xs[first:end]."""
        chosen = {*np.linspace(first, end - 1, PER_RUN).astype(int).tolist()}
        chosen |= set(sorted(range(first, end), key=lambda k: _length(xs[k]))[: PER_RUN // 2])
        chosen |= {k for k in (first - 1, end) if 0 <= k < len(xs)}
        points = [float(xs[k]) for k in sorted(chosen)]
        faults = [self._faults(base, axis, x) for x in points]
        for output in range(len(self.examiner.labels)):
            for kind in (NOT_FINITE, DIGITS_LOST):
                bad = [_is(f[output], kind) for f in faults]
                good = [f[output] is None for f in faults]

                def joined(a: float, b: float, i: int = output, kind: str = kind) -> bool:
                    between = spread(a, b, BETWEEN)
                    return any(_is(self._faults(base, axis, x)[i], kind) for x in between)

                if time.perf_counter() > self.deadline:
                    self.complete = False
                    return
                for a, b in _stretches(points, bad, good, joined):
                    self._gather(base, axis, output, kind, points, bad, a, b)

    def _faults(self, base: Point, axis: int, x: float) -> tuple[Fault | None, ...]:
        return self.examiner.faults((*base[:axis], x, *base[axis + 1 :]))

    def _gather(
        self,
        base: Point,
        axis: int,
        output: int,
        kind: str,
        points: Sequence[float],
        bad: Sequence[bool],
        a: int,
        b: int,
    ) -> None:
        """A finding from the bad points among points[a : b + 1]."""
        marked = [points[k] for k in range(a, b + 1) if bad[k]]
        found = ((x, self._faults(base, axis, x)[output]) for x in marked)
        faults = {x: f for x, f in found if f is not None}
        example = _example(faults)
        fault, worst = faults[example], max(f.ulps for f in faults.values())
        point = (*base[:axis], example, *base[axis + 1 :])
        if not self.examiner.everything and _extreme(marked[0], example, marked[-1]):
            return
        node, place = self.examiner.naive.blame(output, point)
        key: Any = (output, kind, place, axis, a, marked[0])
        if len(base) > 1:
            key = (output, kind, place)
        if key in self.found:
            return
        low, high = marked[0], marked[-1]
        if a > 0:
            low = self._end(base, axis, output, kind, low, points[a - 1])
        if b + 1 < len(points):
            high = self._end(base, axis, output, kind, high, points[b + 1])
        self.found[key] = Finding(
            self.examiner.function.__name__, self.examiner.labels[output], kind,
            self.examiner.params[axis], low, high,
            dict(zip(self.examiner.params, point, strict=True)),
            fault.got, fault.truth, self.examiner.symdiff(point)[output], worst,
            place, format_expr(node, 120),
        )  # fmt: skip

    def _end(
        self, base: Point, axis: int, output: int, kind: str, bad: float, good: float
    ) -> float:
        """The end of a range, between a bad point and a good one."""
        for _ in range(STEPS):
            middle = halfway(bad, good)
            if middle in (bad, good):
                break
            around = (halfway(middle, good), middle, halfway(middle, bad))
            for x in around:
                if x not in (bad, good) and _is(self._faults(base, axis, x)[output], kind):
                    bad = x
                    break
            else:
                good = middle
        return bad


def _is(fault: Fault | None, kind: str) -> bool:
    return fault is not None and fault.kind == kind


def _stretches(
    points: Sequence[float],
    bad: Sequence[bool],
    good: Sequence[bool],
    joined: Callable[[float, float], bool],
) -> Iterable[tuple[int, int]]:
    """First and last of the bad points that belong together: what is good between one
    and the next was rounded luckily."""
    marked = [k for k, b in enumerate(bad) if b]
    start = 0
    for i in range(1, len(marked) + 1):
        if i < len(marked):
            last, this = marked[i - 1], marked[i]
            if not any(good[last:this]) or joined(points[last], points[this]):
                continue
        yield marked[start], marked[i - 1]
        start = i


def _extreme(low: float, example: float, high: float) -> bool:
    """Whether a range has only numbers that nobody computes with."""
    huge = min(abs(low), abs(high)) > EXTREME and low * high > 0
    return huge or (example != 0 and max(abs(low), abs(high)) < 1 / EXTREME)


def _length(x: float) -> int:
    return len(repr(float(x)))


def _example(faults: Mapping[float, Fault]) -> float:
    """The shortest number, of those the one that loses the most."""
    return min(faults, key=lambda x: (_length(x), -faults[x].ulps, -abs(x), -x))


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
