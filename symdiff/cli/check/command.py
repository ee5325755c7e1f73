"""`symdiff check`: where the plain chain rule goes wrong, and what is right there.

Bad points (see `symdiff.cli.check.examine`) are looked for along lines parallel to the axes:
where a running error bound says that digits may be lost, and at singular points, the
true error is measured, and bad points next to each other become a range.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.cli.check.examine import Examiner, Fault
from symdiff.cli.check.findings import DIGITS_LOST, NOT_FINITE, WRONG_GUARD, Finding
from symdiff.cli.check.formulas import Formula, formulas
from symdiff.cli.check.ranks import ERROR, Fixes, Reach, level
from symdiff.cli.check.rounded_decisions import decided, decided_in
from symdiff.cli.check.singular_arrays import undefined
from symdiff.cli.check.whole import whole
from symdiff.cli.targets import of_formula
from symdiff.diagnostics.certify import defaults_of
from symdiff.errors import Location
from symdiff.interpret import work
from symdiff.ir import FALSE, VAR, format_expr, or_
from symdiff.ir.loop_program import LoopProgram
from symdiff.passes.guards.notes import Guard
from symdiff.pipeline.samples import Lines, Point, bases, breaks, halfway, inside, length, spread

SECONDS = 2.0
"""Time for one function."""
ALL_SECONDS = 10.0
"""Time for one function where numbers of all sizes are examined."""
PER_RUN = 64
"""Points measured of each stretch that may be bad."""
PATIENCE = 8
"""Stretches of one line, the simplest first, without a new fault, after which it is left."""
STRETCH_WORK = 200_000
"""Operations on balls for the points of one stretch, where people compute."""
SHOWN = 3
"""Ranges of one variable with the same cause that are listed."""
BETWEEN = 12
"""Points tried to see whether two bad ones belong together."""
STEPS = 14
"""Bisections for the end of a range. Where people compute, fewer points and bisections do."""
MAX_INTEGER = 2.0**40
"""Integers of functions with arrays are not larger."""
ELSEWHERE = (0.7, 2.3, 1.9)
"""Where else on the line of a first range a point is examined."""
EXTREME = 1e300
"""Faults only of larger numbers, or of those below its inverse, are left out."""


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
    function: SymbolicFunction | Callable[..., Any],
    wrt: Sequence[str] | None = None,
    *,
    seconds: float | None = None,
    extreme: bool = False,
    everything: bool = False,
) -> Checked:
    """The points and ranges where the plain chain rule is bad for a function.

    Parameters
    ----------
    function : what is checked, value and derivatives; decorated or not.
    wrt : the variables to differentiate by; None: as the function has it.
    seconds : when to stop searching: so many times the operations that take a second, about
        (`symdiff.interpret.work`), so that findings do not depend on the machine. None: 2, and
        10 with `extreme`.
    extreme : also look at numbers of extreme size, and at other values of parameters than their
        defaults.
    everything : that, and also report digits lost where the arguments determine the result
        no better, and by underflow, and faults at sizes beyond 1e300 or below 1e-300; what is found without
        it stays as it is.
    """
    if everything:
        first = check(function, wrt, seconds=seconds)
        return _added(first, _search(function, wrt, seconds, True, True))
    return _search(function, wrt, seconds, extreme, False)


def _added(first: Checked, more: Checked) -> Checked:
    """What was found first, and what more there is: other outputs, kinds of faults and places."""
    known = {(f.output, f.kind, f.location) for f in first.findings}
    new = [f for f in more.findings if (f.output, f.kind, f.location) not in known]
    found = sorted([*first.findings, *new], key=lambda f: _line(f.location))
    complete = first.complete and more.complete
    return Checked(first.name, found, complete, first.seconds + more.seconds)


def _search(
    function: SymbolicFunction | Callable[..., Any],
    wrt: Sequence[str] | None,
    seconds: float | None,
    extreme: bool,
    everything: bool,
    arrays: Formula | None = None,
) -> Checked:
    """One search; `arrays`: of a function at small sizes."""
    seconds = (ALL_SECONDS if extreme else SECONDS) if seconds is None else seconds
    checked = function if isinstance(function, SymbolicFunction) else symgrad(function)
    raw = checked._source.program(checked._default_static())
    if isinstance(raw, LoopProgram):
        return _of_formulas(
            checked.__name__, raw, _numbers(checked), wrt, seconds, extreme, everything
        )
    start, until = time.perf_counter(), _until(seconds)
    examiner = Examiner(checked, wrt, everything, arrays is not None)
    search = _Search(examiner, until, extreme, arrays.bases if arrays else ())
    found = _few(search.findings(), len(examiner.params))
    findings = [*_wrong_guards(examiner), *decided(examiner), *found]
    if arrays is not None and seconds > 0:
        findings += undefined(examiner, arrays)
    order = {label: i for i, label in enumerate(examiner.labels)}
    findings.sort(key=lambda f: (_line(f.location), order.get(f.output, -1), f.low))
    elapsed = time.perf_counter() - start
    return Checked(checked.__name__, findings, search.complete, elapsed)


def _numbers(function: SymbolicFunction) -> dict[str, float]:
    """The default values of parameters that are numbers."""
    given = function._source.parameters.defaults.items()
    return {n: x for n, x in given if isinstance(x, int | float) and not isinstance(x, bool)}


def _until(seconds: float) -> int:
    """What `work.spent` is when to stop."""
    return work.spent() + int(seconds * work.A_SECOND)


def _of_formulas(
    name: str,
    program: LoopProgram,
    defaults: Mapping[str, float],
    wrt: Sequence[str] | None,
    seconds: float,
    extreme: bool,
    everything: bool,
) -> Checked:
    """The same for a function with arrays or loops: at small sizes, or of what it computes for one
    element or in one iteration."""
    start, until = time.perf_counter(), _until(seconds)
    at_small_sizes = whole(program, wrt, defaults)
    todo = [at_small_sizes] if at_small_sizes else formulas(program, wrt, defaults)
    findings = decided_in(name, program, defaults)
    complete = True
    for k, f in enumerate(todo):
        left = (until - work.spent()) / work.A_SECOND
        examined = of_formula(f.program, f.usual)
        share = left / (len(todo) - k)
        found = _search(examined, f.wrt, share, extreme, everything, f if f.bases else None)
        complete = complete and found.complete
        findings += [_named(x, f, name) for x in found.findings if not _of_parts(x, f)]
    findings = list(dict.fromkeys(replace(f, at=_Point(f.at)) for f in findings))
    findings.sort(key=lambda f: (_line(f.location), f.output, f.low))
    return Checked(name, findings, complete, time.perf_counter() - start)


class _Point(dict[str, float]):
    """Arguments, to be compared."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


def _named(found: Finding, formula: Formula, name: str) -> Finding:
    """A finding in the names of the function with arrays."""
    known = {re.escape(n): text for n, text in formula.names.items()}
    word = re.compile(rf"(?<![\w.])(d?)({'|'.join(known)})\b") if known else None

    def text(old: str) -> str:
        return old if word is None else word.sub(lambda m: m[1] + formula.names[m[2]], old)

    cause, fix = text(found.cause), text(found.fix)
    if formula.bases:  # elements of arrays have what they have in common
        cause = found.location.text.strip() if found.location else cause
        fix = "" if any(f"[{k}" in fix for k in (1, 2)) else fix
    return replace(
        found, function=name, output=_label(text(found.output), formula.outputs),
        variable=text(found.variable),
        at={text(n): x for n, x in found.at.items()}, cause=cause, fix=fix,
    )  # fmt: skip


def _label(output: str, outputs: Mapping[str, str]) -> str:
    """An output, or its derivative, by its name in the function with arrays."""
    value, slash, by = output.partition("/")
    return f"d{outputs.get(value[1:], value[1:])}/{by}" if slash else outputs.get(value, value)


def _of_parts(found: Finding, formula: Formula) -> bool:
    """Whether a finding is about integers that are none, or too large ones."""
    return any(
        not x.is_integer() or abs(x) > MAX_INTEGER
        for n, x in found.at.items() if n in formula.whole
    )  # fmt: skip


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
    place = examiner.program.place(guard.node)
    name = examiner.function.__name__
    return Finding(
        name, name, WRONG_GUARD, variable, middle, middle,
        at or {variable: float(guard.where[0][1])}, guard.guarded, guard.limit,
        values[0], guard.ulps, place, "the guard", level=ERROR,
    )  # fmt: skip


def _line(place: Location | None) -> tuple[int, int]:
    return (place.line, place.column) if place else (0, 0)


# ---------------------------------------------------------------------- search
class _Search:
    """Goes along the lines and gathers ranges."""

    def __init__(
        self, examiner: Examiner, until: int, extreme: bool, through: Sequence[Point] = ()
    ) -> None:
        self.through = through
        self.examiner, self.until, self.extreme = examiner, until, extreme
        self.per_run, self.steps = (PER_RUN, STEPS) if extreme else (PER_RUN // 8, STEPS // 2)
        program = examiner.program
        self.reach = Reach(examiner.params, (*program.domain, *program.assumptions))
        self.fixes = Fixes(program, examiner.wrt)
        self.complete = True
        self.found: dict[Any, Finding] = {}
        self.not_finite: set[int] = set()
        places = breaks(examiner.naive.outputs, sums=True)
        self.lines = Lines(examiner.params, list(places))
        acts = [g.condition for g in examiner.guards.guards if g.kind == "repaired"]
        self.guarded = inside(examiner.params, [reduce(or_, acts, FALSE)])

    def findings(self) -> list[Finding]:
        params, defaults = self.examiner.params, defaults_of(self.examiner.function)
        held = {} if self.extreme else {params.index(n): float(x) for n, x in defaults.items()}
        found = self._given() or bases(params, self.examiner.inside, defaults)
        axes = [k for k, n in enumerate(params) if not self.through or n in self.examiner.wrt]
        for base in dict.fromkeys(tuple(held.get(k, x) for k, x in enumerate(b)) for b in found):
            for axis in (k for k in axes if k not in held):
                if work.spent() >= self.until:
                    self.complete = False
                    return list(self.found.values())
                self._line(base, axis)
        return list(self.found.values())

    def _given(self) -> list[Point]:
        """The given points that are in the domain."""
        return [p for p in self.through if self.examiner.inside(np.array([p]))[0]]

    def _line(self, base: Point, axis: int) -> None:
        xs, roots = self.lines.grid(base, axis)
        rows = self.lines.points(base, axis, xs)
        valid = self.examiner.inside(rows)
        if not self.extreme:
            valid &= self.reach.along(axis, xs, roots)
        xs, rows, flagged = xs[valid], rows[valid], roots[valid]
        if not len(xs):
            return
        flagged |= self.examiner.naive.flagged(rows) | self.guarded(rows)
        edges = np.nonzero(np.diff(np.concatenate(([0], flagged.astype(int), [0]))))[0]
        runs = list(zip(edges[::2], edges[1::2], strict=True))
        idle = 0
        for first, end in sorted(runs, key=lambda r: min(map(length, xs[slice(*r)]))):
            if idle == PATIENCE and not self.extreme:
                return
            if work.spent() >= self.until:
                self.complete = False
                return
            known = len(self.found)
            self._run(base, axis, xs, int(first), int(end))
            idle = 0 if len(self.found) > known else idle + 1

    def _run(self, base: Point, axis: int, xs: Any, first: int, end: int) -> None:
        """A stretch of flagged points xs[first:end]."""
        chosen = {*np.linspace(first, end - 1, self.per_run).astype(int).tolist()}
        chosen |= set(sorted(range(first, end), key=lambda k: length(xs[k]))[: self.per_run // 2])
        chosen |= {k for k in (first - 1, end) if 0 <= k < len(xs)}
        points = self._examined(base, axis, [float(xs[k]) for k in sorted(chosen)])
        faults = [self._faults(base, axis, x) for x in points]
        for output in range(len(self.examiner.labels)):
            for kind in (NOT_FINITE, DIGITS_LOST):
                bad = [_is(f[output], kind) for f in faults]
                good = [f[output] is None for f in faults]

                def joined(a: float, b: float, i: int = output, kind: str = kind) -> bool:
                    if work.spent() >= self.until:
                        return True
                    between = spread(a, b, BETWEEN if self.extreme else BETWEEN // 3)
                    return any(_is(self._fault(base, axis, x, i), kind) for x in between)

                for a, b in _stretches(points, bad, good, joined):
                    self._gather(base, axis, output, kind, points, bad, a, b)

    def _examined(self, base: Point, axis: int, points: Sequence[float]) -> list[float]:
        """Of the points of a stretch, the simplest that there is time for are examined."""
        until = self.until if self.extreme else min(self.until, work.spent() + STRETCH_WORK)
        done: list[float] = []
        for x in sorted(points, key=length):
            if done and work.spent() >= until:
                break
            self._faults(base, axis, x)
            done.append(x)
        return sorted(done)

    def _faults(self, base: Point, axis: int, x: float) -> tuple[Fault | None, ...]:
        """What is bad at a point of a line, except known findings."""
        point = (*base[:axis], x, *base[axis + 1 :])
        got = enumerate(self.examiner.computed(point))
        every = [i for i, y in got if math.isfinite(y) or not self._is_known(i, axis, point)]
        return self.examiner.faults(point, every)

    def _fault(self, base: Point, axis: int, x: float, output: int) -> Fault | None:
        return self.examiner.faults((*base[:axis], x, *base[axis + 1 :]), [output])[output]

    def _is_known(self, output: int, axis: int, point: Point) -> bool:
        """Whether an output that is not finite at a point of a line is as it is where that was found."""
        if len(point) == 1 or output not in self.not_finite:
            return False
        key = output, NOT_FINITE, self.examiner.naive.blame(output, point)[1]
        first = self.found.get(key)
        if first is None:
            return False
        along = self.examiner.params.index(first.variable)
        return axis == along or (*key, axis) in self.found or not self._is_line(first, point)

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
        found = ((x, self._fault(base, axis, x, output)) for x in marked)
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
            first = self.found.get(key)
            if first is not None and self._is_apart(first, axis, point):
                key = (*key, axis)
        if key in self.found:
            return
        low, high = marked[0], marked[-1]
        if a > 0 and self._between(low, points[a - 1]):
            low = self._end(base, axis, output, kind, low, points[a - 1])
        if b + 1 < len(points) and self._between(high, points[b + 1]):
            high = self._end(base, axis, output, kind, high, points[b + 1])
        self.not_finite |= {output} if kind == NOT_FINITE else set()
        self.found[key] = Finding(
            self.examiner.function.__name__, self.examiner.labels[output], kind,
            self.examiner.params[axis], low, high,
            dict(zip(self.examiner.params, point, strict=True)),
            fault.got, fault.truth, self.examiner.symdiff(point)[output], worst,
            place, format_expr(node, 120),
            level=level(self._reached(point, axis), fault.excused, fault.got, fault.truth),
            fix=self.fixes.of(node, place, point, output, fault.truth),
        )  # fmt: skip

    def _between(self, bad: float, good: float) -> bool:
        """Whether the end of a range, between two numbers of a line, is searched for."""
        return self.extreme or (bad != 0 and good != 0)

    def _reached(self, point: Point, axis: int) -> bool:
        """Whether people get to a point of a line along this axis."""
        return not self.extreme or self.reach.holds(point)

    def _is_apart(self, first: Finding, along: int, point: Point) -> bool:
        """Whether a point on a line along another axis than that of a range that was found
        first is bad anywhere along that, so that it is none of a surface which both cross."""
        axis = self.examiner.params.index(first.variable)
        if axis == along:
            return False
        if first.kind == NOT_FINITE and not self._is_line(first, point):
            return False
        output = self.examiner.labels.index(first.output)
        others = ((*point[:axis], x, *point[axis + 1 :]) for x in ELSEWHERE)
        return all(_is(self.examiner.faults(p)[output], first.kind) for p in others)

    def _is_line(self, first: Finding, point: Point) -> bool:
        """Whether an output is not finite along the axis of a range that was found first."""
        axis = self.examiner.params.index(first.variable)
        output = self.examiner.labels.index(first.output)
        others = ((*point[:axis], x, *point[axis + 1 :]) for x in ELSEWHERE)
        return not any(math.isfinite(self.examiner.computed(p)[output]) for p in others)

    def _end(
        self, base: Point, axis: int, output: int, kind: str, bad: float, good: float
    ) -> float:
        """The end of a range, between a bad point and a good one."""
        for _ in range(self.steps):
            middle = halfway(bad, good)
            if middle in (bad, good) or work.spent() >= self.until:
                break
            around = (
                (halfway(middle, good), middle, halfway(middle, bad)) if self.extreme else (middle,)
            )
            for x in around:
                if x not in (bad, good) and _is(self._fault(base, axis, x, output), kind):
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


def _example(faults: Mapping[float, Fault]) -> float:
    """The shortest number, of those the one that loses the most."""
    return min(faults, key=lambda x: (length(x), -faults[x].ulps, -abs(x), -x))
