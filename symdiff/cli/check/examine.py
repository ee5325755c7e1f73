"""One function, evaluated three ways, and what the plain chain rule gets wrong at a point.

A point is bad if the true value (ball arithmetic) is finite but the plain chain rule
in double arithmetic gives inf or nan, or loses more than half its digits. Loss that is
not the formula's fault is excused unless asked for: where a change of the arguments by
a few ulps changes the result as much (near any root, sin(x*x) for large x),
underflow to zero, and in place of a derivative that is 0, where the value is far larger.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from symdiff.api.function import SymbolicFunction
from symdiff.cli.check.findings import DIGITS_LOST, NOT_FINITE
from symdiff.diagnostics.certify import answers_of, derivatives, output_labels, reference
from symdiff.diagnostics.naive import HALF_THE_DIGITS, Naive
from symdiff.interpret import Answer, Certified, ulp_error, work
from symdiff.passes.guards.notes import GuardNotes
from symdiff.pipeline.samples import Point, from_ordinal, inside, ordinal

POINT_WORK = 400_000
POINT_OVERHEAD, LIMIT_WORK, ANSWER_WORK = 1_000, 8_000, 60_000
"""What a point, the limit of an output (the search for paths along which it fails) and symdiff's own answer cost beside
their operations on balls, about."""
NUDGES = (4, 5, 7, 9, 2**9, 2**18, 2**26)
"""Ulps by which arguments are changed to see how sharply the result depends on them."""
CLOSE = 9
"""Of those, the ulps within which a function without a value is as sensitive as can be."""
ALLOWANCE = 64
"""Ulps of change in an argument that excuse as large a change of the result."""
UNDERFLOW = 2.0**-511
"""Absolute errors below this are gradual underflow."""
ROUNDED = 2.0**-30
"""Relative errors up to this are less than half of the digits."""
LOST = HALF_THE_DIGITS * 2.0**-53
"""Half of the digits of a number, relative to it."""
EXCUSED = "excused"
"""The kind of faults that are not the formula's."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What the plain chain rule gets wrong for one output at one point."""

    kind: str
    got: float
    truth: float
    ulps: float
    excused: bool = False


UNASKED = Fault("not examined", math.nan, math.nan, math.nan)


class Examiner:
    """One function, evaluated three ways: by the plain chain rule, proven, by symdiff.

    Attributes
    ----------
    labels : names of the outputs, values first.
    of_arrays : whether the function is one of elements of arrays: losses count relative to the largest
        of all values, or of all derivatives.
    """

    def __init__(
        self,
        function: SymbolicFunction,
        wrt: Sequence[str] | None = None,
        everything: bool = False,
        of_arrays: bool = False,
    ) -> None:
        self.of_arrays = of_arrays
        self.function, self.everything = function, everything
        self.program = function.raw_program
        self.params = self.program.params
        self.wrt = tuple(wrt or function._wrt())
        self.labels = output_labels(self.program, self.wrt)
        self.naive = Naive(self.program, self.wrt)
        self.guards = GuardNotes()
        repaired = reference(self.program, self.guards)
        self.outputs = derivatives(repaired, self.wrt)
        self.reference = Certified(self.params, self.outputs, repaired.outputs, POINT_WORK)
        self.inside = inside(self.params, (*self.program.domain, *self.program.assumptions))
        self._got: dict[Point, list[float]] = {}
        self._known: dict[Point, dict[int, Fault | None]] = {}
        self._own: dict[Point, list[float]] = {}
        self._truth: dict[Point, dict[int, Answer]] = {}
        self._near: dict[Point, list[tuple[int, tuple[Answer, ...]]]] = {}

    @cached_property
    def _answers(self) -> Any:
        own = self.function._wrt()
        if self.wrt == own:
            return answers_of(self.function)[0]
        derived = SymbolicFunction(self.function._source, _with_wrt(self.function, self.wrt))
        return answers_of(derived)[0]

    def symdiff(self, point: Sequence[float]) -> list[float]:
        """All outputs as symdiff computes them."""
        key = tuple(point)
        if key not in self._own:
            work.spend(ANSWER_WORK)
            self._own[key] = self._answers(point)
        return self._own[key]

    def truth(
        self, point: Sequence[float], of: Collection[int] | None = None
    ) -> tuple[Answer, ...]:
        """All outputs, proven; limits only of some, if these are given."""
        answers = self.reference.at_with_status(point, limits_of=of)
        limits = sum(a.status != "exact" for i, a in enumerate(answers) if of is None or i in of)
        work.spend(limits * LIMIT_WORK + POINT_OVERHEAD)
        return answers

    def computed(self, point: Point) -> list[float]:
        """All outputs by the plain chain rule."""
        if point not in self._got:
            self._got[point] = self.naive.at(point)
        return self._got[point]

    def faults(self, point: Point, of: Collection[int] | None = None) -> tuple[Fault | None, ...]:
        """What is bad at a point, for each output; only some are examined, if these are given."""
        known = self._known.setdefault(point, {})
        every = range(len(self.labels))
        asked = [i for i in (every if of is None else of) if i not in known]
        if asked:
            got = self.computed(point)
            truth = self._proven(point, every if self.of_arrays else asked)
            for i in asked:
                known[i] = self._fault(i, point, got[i], truth[i], self._largest(i, truth))
        return tuple(known.get(i, UNASKED) for i in every)

    def _proven(self, point: Point, of: Collection[int]) -> Mapping[int, Answer]:
        """The truth at a point, at least of some outputs."""
        proven = self._truth.setdefault(point, {})
        if left := [i for i in of if i not in proven]:
            answers = enumerate(self.truth(point, left))
            proven.update((i, a) for i, a in answers if i in left or a.status != "budget")
        return proven

    def _largest(self, i: int, truth: Mapping[int, Answer]) -> float:
        """What the loss of an output is relative to."""
        if not self.of_arrays or self.everything:
            return 0.0
        values = len(self.program.outputs)
        group = (a.value for k, a in truth.items() if (k < values) == (i < values))
        return max((abs(x) for x in group if math.isfinite(x)), default=0.0)

    def _fault(
        self, i: int, point: Point, got: float, right: Answer, largest: float
    ) -> Fault | None:
        if right.status not in ("exact", "limit") or not math.isfinite(right.value):
            return None
        if not math.isfinite(got):
            return Fault(NOT_FINITE, got, right.value, math.inf)
        if abs(got - right.value) <= ROUNDED * abs(right.value):
            return None
        ulps = ulp_error(got, right.ball)
        if ulps <= HALF_THE_DIGITS or abs(got - right.value) <= LOST * largest:
            return None
        excused = not self._at_fault(i, point, got, right)
        kind = EXCUSED if excused and not self.everything else DIGITS_LOST
        return Fault(kind, got, right.value, ulps, excused)

    def _at_fault(self, i: int, point: Point, got: float, right: Answer) -> bool:
        """Whether the loss is the formula's, and not in the nature of the function."""
        error = abs(got - right.value)
        if error <= UNDERFLOW or (right.value == 0 and self._is_noise(i, point, error)):
            return False
        for step, answers in self._surroundings(point):
            change = abs(answers[i].value - right.value)
            at_an_end = step <= CLOSE and not math.isfinite(change)  # (-1e-7)**12.0000001
            if at_an_end or error <= ALLOWANCE * change / step:
                return False
        return True

    def _is_noise(self, i: int, point: Point, error: float) -> bool:
        """Whether an error of a derivative that is 0 matters in no digit of the first half of the value,
        where the variable changes by its size, or by 1."""
        if i < (values := len(self.program.outputs)):
            return False
        value, by = divmod(i - values, len(self.wrt))
        size = abs(self._proven(point, [value])[value].value)
        step = max(1.0, abs(point[self.params.index(self.wrt[by])]))
        return error * step <= LOST * size < math.inf

    def _surroundings(self, point: Point) -> Iterable[tuple[int, tuple[Answer, ...]]]:
        """The truth at points a few, and many, ulps away in every coordinate."""
        known = self._near.setdefault(point, [])
        for k, step in enumerate(s * n for n in NUDGES for s in (1, -1)):
            if k == len(known):
                moves = [step + (j * step) // 3 * (-1) ** j for j in range(len(point))]
                moved = from_ordinal(ordinal(point) + moves).tolist()
                if not all(map(math.isfinite, moved)):
                    moved = point
                known.append((abs(step), self.truth(moved)))
            yield known[k]


def _with_wrt(function: SymbolicFunction, wrt: tuple[str, ...]) -> Any:
    return replace(function._options, wrt=wrt)
