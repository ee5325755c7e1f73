"""The proven value of a program at a point, or the limit where it has none."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from flint import arb

from symdiff import ir
from symdiff.interpret import work
from symdiff.interpret.balls import UNKNOWN, Undecided, Value, exclusive
from symdiff.interpret.deep import Deep
from symdiff.interpret.extended import extended_value
from symdiff.interpret.flat import Tape
from symdiff.interpret.limits import Approach, Limit
from symdiff.interpret.rationals import Rationals
from symdiff.interpret.rounding import Format, format_of, unique_rounding
from symdiff.ir import Expr
from symdiff.ir.functions import COS, LOG, SIN, TAN
from symdiff.ir.plain import as_ball
from symdiff.process.lazy_modules import Later
from symdiff.process.recent import Recent, bits

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Status = Literal["exact", "limit", "pole", "domain", "budget"]

FAR = 64
"""Limits at infinite coordinates are taken so many powers of two beyond the others."""
ALL_ORDERS = 4
"""Up to this many growing coordinates, every order of their sizes is tried."""
PRECISIONS = (128, 320, 800, 2000, 5000, 16000)
"""Precisions in bits, tried in this order."""
STEP, GUARD = 1000, 96
"""Precisions between those, where a ball shows how many bits it lacks: multiples of the step, with
guard bits for accuracy."""
LAST = 48000
"""The last precision if numbers are very large or small."""
ROUGH = 30
"""The least bits of a value that is not proven."""
DEEP = 8
"""Only sums of numbers within 2**(precision/DEEP) are assumed to be zero."""
WORK = 1_600_000
"""Operations for one point by default, at least; see `symdiff.interpret.work`."""
WORK_PER_NODE = 1200
"""The same per node of large programs: a limit takes their values at some tens of places and
precisions."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One output at one point.

    Attributes
    ----------
    value : the correctly rounded value; inf or nan where there is none.
    status : `exact`: proven; `limit`: undefined there, but removable; `pole`: no
        finite limit, the value is that of IEEE arithmetic; `domain`: outside
        the function's domain; `budget`: the best estimate, not proven.
    ball : an enclosure of the true value where there is one, else None.
    """

    value: float
    status: Status
    ball: Any = None


class Certified:
    """Outputs compiled once, to be evaluated at any number of points.

    Parameters
    ----------
    params : the variables, or their names, in the order of a point.
    outputs : real expressions of them.
    primals : the functions whose derivatives the outputs are, in order of differentiation (f;
        or f, f'). A removable singularity of a derivative is filled only where
        those before it are finite: atan(1/x) jumps at 0, so it has no derivative
        there although 1/(1 + x**2) tends to 1.
    budget : operations for one point (`symdiff.interpret.work`); None: by the size of the outputs.
    limits : whether the value at an infinite coordinate is the limit, if that is one
        however fast each coordinate grows, instead of the nan of IEEE arithmetic: infinite
        elements pad the tables of dynamic programs.
    jumps : whether the value where there is no limit is that of IEEE arithmetic, if it is
        finite, instead of nan: atan(1/0) is pi/2.
    ties : whether to take no limit at the edge of branches with infinite values nearby.

    Examples
    --------
    >>> x = ir.var("x")
    >>> Certified(["x"], [(x**2 - 4) / (x - 2)]).at([2.0])
    (4.0,)
    """

    def __init__(
        self,
        params: Sequence[Expr | str],
        outputs: Sequence[Expr],
        primals: Sequence[Expr] = (),
        budget: int | None = None,
        limits: bool = False,
        jumps: bool = False,
        ties: bool = False,
    ) -> None:
        variables = [ir.var(p) if isinstance(p, str) else p for p in params]
        self.outputs, self.primals = tuple(outputs), tuple(primals)
        self.arity, self.limits, self.jumps, self.ties = len(variables), limits, jumps, ties
        with exclusive():
            self.tape = Tape(variables, self.outputs)
            self._variables = variables
        self.places = dict(zip(self.outputs, self.tape.roots, strict=True))
        self._deep: Deep | None = None
        by_size = max(WORK, WORK_PER_NODE * len(self.tape.nodes))
        self.budget = by_size if budget is None else budget
        self._answers = Recent[tuple[Answer, ...]]()

    def at(self, point: Sequence[float], dtype: Any = "float64") -> tuple[float, ...]:
        """The value of each output at a point of floats, correctly rounded."""
        return tuple(a.value for a in self.at_with_status(point, dtype))

    def at_with_status(
        self,
        point: Sequence[float],
        dtype: Any = "float64",
        limits_of: Collection[int] | None = None,
    ) -> tuple[Answer, ...]:
        """The value of each output, its status, and a ball around the true value; with `limits_of`,
        limits are searched only for these outputs."""
        floats = [float(x) for x in point]
        if len(floats) != self.arity:
            raise ValueError(f"a point has {self.arity} coordinates, not {len(floats)}")
        wanted = None if limits_of is None else tuple(limits_of)
        key = bits([floats])
        question = None if key is None else (key, str(dtype), wanted)
        if (known := self._answers.get(question)) is not None:
            return known
        with exclusive():
            found = _Search(self, floats, format_of(dtype)).answers(limits_of)
        return self._answers.keep(question, found)

    @property
    def deep(self) -> Deep:
        """The outputs where functions are farther from their limits than any precision reaches."""
        if self._deep is None:
            self._deep = Deep(self._variables, self.outputs)
        return self._deep

    def primals_of(self, output: Expr) -> tuple[Expr, ...]:
        """The functions whose derivative an output is."""
        before = self.primals
        return before[: before.index(output)] if output in before else before

    @cached_property
    def primal_tape(self) -> Certified:
        """The primals alone, where they are no outputs."""
        return Certified(self._variables, self.primals, (), self.budget)


class _Search:
    """The search for the outputs at one point."""

    def __init__(self, program: Certified, point: list[float], fmt: Format) -> None:
        self.program, self.tape, self.point, self.fmt = program, program.tape, point, fmt
        self.inputs = [as_ball(x) for x in point]
        self.until = work.spent() + program.budget
        self.rationals = Rationals(self.tape, point)
        self.found: dict[int, Answer] = {}
        self.undecided: set[int] = set()
        self.primals: tuple[Answer, ...] | None = None

    def answers(self, limits_of: Collection[int] | None = None) -> tuple[Answer, ...]:
        roots = self.tape.roots
        if not all(map(math.isfinite, self.point)):
            return tuple(self._at_infinity(r) for r in roots)
        singular = self._climb(set(roots))
        if singular - self.undecided:  # where cosh(x) overflows, 1/cosh(x) does not
            self._look_deep(singular - self.undecided)
            singular -= self.found.keys()
        if singular:
            approach = Approach(self.tape, self.point, self.values, self.until, self.program.ties)
            for k, e in enumerate(self.program.outputs):
                if limits_of is None or k in limits_of:
                    self._settled(approach, e)
        unknown = Answer(math.nan, "budget")
        return tuple(self.found.get(r, unknown) for r in roots)

    def _settled(self, approach: Approach, output: Expr) -> Answer:
        """The known value of an output, or else its limit."""
        root = self.program.places[output]
        if root not in self.found:
            self.found[root] = self._fill(approach, output, root)
        return self.found[root]

    def _primals_are_defined(self, approach: Approach, output: Expr) -> bool:
        """Whether the functions whose derivative an output is are finite at the point."""
        primals = self.program.primals_of(output)
        if all(e in self.program.places for e in primals):
            answers: Iterable[Answer] = (self._settled(approach, e) for e in primals)
        else:
            if self.primals is None:
                self.primals = self.program.primal_tape.at_with_status(self.point)
            answers = self.primals[: len(primals)]
        return all(a.status in ("exact", "limit", "budget") for a in answers)

    def _climb(self, pending: set[int]) -> set[int]:
        """Settle outputs with growing precision; the others are undefined there."""
        singular: set[int] = set()
        prec: int | None = PRECISIONS[0]
        tried = False
        while prec is not None:
            self.values = self._run(prec, pending)
            for root in sorted(pending):
                y = self.values[root]
                if y.is_finite():
                    value = unique_rounding(y, self.fmt)
                    if value is not None:
                        self.found[root] = Answer(value, "exact", y)
                elif (reason := self.tape.trouble(root, self.values)) == "domain":
                    self.found[root] = Answer(math.nan, "domain")
                elif reason == "singular":
                    singular.add(root)
            pending = pending - self.found.keys() - singular
            if pending and not tried and prec >= PRECISIONS[2]:
                tried = True
                self._look_deep(pending)
                pending = pending - self.found.keys()
            if not pending:
                return singular
            if work.spent() > self.until:
                break
            prec = self._next(prec, pending)
        else:
            self._assume_zeros(pending)
            pending = pending - self.found.keys()
        for root in pending:
            y = self.values[root]
            if y.is_finite() and y.rel_accuracy_bits() >= ROUGH:
                self.found[root] = Answer(self._nearest(y), "budget", y)
            elif y.is_finite():  # nothing is known
                self.found[root] = Answer(math.nan, "budget")
            else:
                self.undecided.add(root)
        return singular | self.undecided

    def _look_deep(self, pending: set[int]) -> None:
        """Decide outputs that are undecided only because functions are extremely close to their
        limits."""
        deep, prec = self.program.deep, PRECISIONS[1]
        places = {root: k for k, root in enumerate(self.tape.roots)}
        balls = deep.plain(self.inputs, prec)
        for root in pending:
            y = balls[places[root]]
            if y.is_finite() and (value := unique_rounding(y, self.fmt)) is not None:
                self.found[root] = Answer(value, "exact", y)
        left = pending - self.found.keys()
        if left and deep.factors:
            self._at_limits(left, places)

    def _at_limits(self, pending: set[int], places: Mapping[int, int]) -> None:
        limits = self.program.deep.limits(self.inputs, PRECISIONS[1])
        for root in pending:
            if (y := limits[places[root]]) is not None:
                value = unique_rounding(y, self.fmt)
                if value is not None:
                    self.found[root] = Answer(value, "limit", y)

    def _next(self, prec: int, pending: set[int]) -> int | None:
        """The precision to try after this one. Radii shrink by as much as it grows; where they
        are too large to compare, values lose about as many bits with each operation."""
        above = next((p for p in PRECISIONS if p > prec), None)
        if above is None and prec == PRECISIONS[-1] and any(self._deep()):
            return LAST
        if above is None or prec not in PRECISIONS:
            return above
        balls = [self.values[root] for root in pending]
        if not all(y.is_finite() for y in balls):
            return above
        accuracy = min(int(y.rel_accuracy_bits()) for y in balls)
        enough = prec + GUARD - accuracy
        if accuracy < -prec:
            count = len(self.values)
            enough = prec * count // max(1, self.tape.first_lost(self.values)) + prec // 10
        return min(above, -(-enough // STEP) * STEP)

    def _run(self, prec: int, pending: set[int]) -> list[Value]:
        """All values; once balls do not suffice, with exact rationals. Outputs use these
        if they may lie between two doubles."""
        values = self.tape.run(self.inputs, prec, self.rationals.known)
        between = prec > PRECISIONS[0]
        if between or not all(values[r].is_finite() for r in pending):
            if self.rationals.look(values, pending if between else ()):
                values = self.tape.run(self.inputs, prec, self.rationals.known)
        return values

    def _assume_zeros(self, pending: set[int]) -> None:
        """At the last precision, take a sum that cancels to all bits for zero.

        A ball can never prove that sin(x)**2 + cos(x)**2 - 1 is 0. Where the size of the numbers
        allows a remainder beyond the precision, no zero is assumed."""
        prec = PRECISIONS[-1]
        tiny = arb(2) ** (-prec // 2)
        tape, known = self.tape, dict(self.rationals.known)
        deep = self._deep()

        def assume(i: int, value: Value) -> Value:
            e = tape.nodes[i]
            if deep[i]:
                return value
            if value is None and e.op in ir.COMPARISONS:
                return e.op is not ir.LT
            if e.op in (ir.ADD, ir.SUB) and value.contains(0) and value.abs_upper() < tiny:
                return arb(0)
            return value

        self.values = tape.run(self.inputs, prec, known, assume)
        for root in pending:
            y = self.values[root]
            if y.is_finite() and (value := unique_rounding(y, self.fmt)) is not None:
                self.found[root] = Answer(value, "budget", y)

    def _fill(self, approach: Approach, output: Expr, root: int) -> Answer:
        """The limit at a point where the formula is undefined, or the infinity that is written
        there."""
        if self._is_written(root):
            y = extended_value(self.tape, root, self.point, PRECISIONS[1], self.rationals.known)
            if not math.isnan(value := _infinity(y)):
                return Answer(value, "pole")
        defined = self._primals_are_defined(approach, output)
        limit = approach.limit(root) if defined else Limit("none")
        if limit.kind == "finite":
            return Answer(self._nearest(limit.value), "limit", limit.value)
        if limit.kind == "infinite":
            return Answer(limit.value * math.inf, "pole")
        if limit.kind == "domain":
            return Answer(math.nan, "domain")
        y = extended_value(self.tape, root, self.point, PRECISIONS[1], self.rationals.known)
        known = self.program.jumps or (limit.kind == "open" and root in self.undecided)
        value = self._nearest(y) if known and y.is_finite() else _infinity(y)
        return Answer(value, "budget" if limit.kind == "open" else "pole")

    def _is_written(self, root: int) -> bool:
        """Whether a value is not finite only because of infinite constants, or of logarithms of 0,
        which have one limit on all paths."""
        stack, seen = [self.tape.nodes[root]], set()
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            if e.op is ir.WHERE:
                taken = self.values[self.tape.index[e.args[0]]]
                if not isinstance(taken, bool):
                    return False
                stack.append(e.args[1 if taken else 2])
            elif not e.args:
                if not ir.is_infinite(e):
                    return False
            else:
                values = [(a, self.values[self.tape.index[a]]) for a in e.args]
                far = [
                    a
                    for a, y in values
                    if not isinstance(y, bool) and not (y is not None and y.is_finite())
                ]
                if not far and not self._is_logarithm_of_zero(e):
                    return False
                stack += far
        return True

    def _is_logarithm_of_zero(self, e: Expr) -> bool:
        return e.op is LOG and self.rationals.known.get(self.tape.index[e.args[0]]) == 0

    def _deep(self) -> list[bool]:
        """Which nodes depend on numbers that are very large or small."""
        bits = PRECISIONS[-1] // DEEP
        small, large = arb(2) ** -bits, arb(2) ** bits
        found = [False] * len(self.tape.nodes)
        for i, e in enumerate(self.tape.nodes):
            y = self.values[i]
            found[i] = any(found[self.tape.index[a]] for a in e.args) or (
                isinstance(y, arb) and not y.contains(0) and not small < abs(y) < large
            )
        return found

    def _nearest(self, y: Value) -> float:
        return self.fmt.round(y.mid())

    def _at_infinity(self, root: int) -> Answer:
        """IEEE arithmetic where a coordinate is infinite or nan."""
        y = extended_value(self.tape, root, self.point, PRECISIONS[1], {})
        if not y.is_finite():
            value = _infinity(y)
            if math.isnan(value) and self.program.limits:
                value = self._far(root)
                if math.isfinite(value):
                    return Answer(value, "limit")
            return Answer(value, "domain" if math.isnan(value) else "pole")
        return Answer(self._nearest(y), "limit", y)

    def _far(self, root: int) -> float:
        """The limit where coordinates are infinite; nan if there is none, or the values do not
        converge soon."""
        places = [k for k, x in enumerate(self.point) if math.isinf(x)]
        sizes = [math.frexp(x)[1] for x in self.point if math.isfinite(x)]
        beyond_all = max(map(abs, sizes), default=0)
        for beyond in (beyond_all, max([0, *sizes])):  # reciprocals of far numbers may count
            found = [
                self._towards(root, far + beyond, ranks)
                for ranks in _orders(places) for far in (FAR, 3 * FAR)
            ]  # fmt: skip
            if all(y.is_finite() for y in found):
                values = {unique_rounding(y, self.fmt) for y in found}
                if len(values) == 1 and (value := next(iter(values))) is not None:
                    return value
                tiny = arb(2) ** -(PRECISIONS[1] // 2 + beyond)
                if None in values and all(y.abs_upper() < tiny for y in found):
                    return 0.0  # a sum that cancels to all bits
                if beyond == beyond_all:
                    trends = {_trend(*pair) for pair in zip(found[::2], found[1::2], strict=True)}
                    return trends.pop() if len(trends) == 1 else math.nan
        return math.nan

    def _towards(self, root: int, start: int, ranks: Mapping[int, int]) -> Value:
        """The value with infinite coordinates far out, from a power of two on, those of a
        higher rank farther; nan if any value oscillates."""
        inputs = list(self.inputs)
        for k, rank in ranks.items():
            inputs[k] = arb(math.copysign(1.0, self.point[k])) * arb(2) ** (start + 8 * rank)
        values = self.tape.run(inputs, PRECISIONS[1] + start, {})
        for e in self.tape.nodes:
            if e.op in (SIN, COS, TAN) and not abs(values[self.tape.index[e.args[0]]]) < 2**FAR:
                return UNKNOWN
        return values[root]


def _orders(places: Sequence[int]) -> list[dict[int, int]]:
    """How fast coordinates may grow: one after the other, and all alike."""
    if len(places) <= ALL_ORDERS:
        turns = [list(p) for p in itertools.permutations(places)]
    else:
        turns = [[*places[k:], *places[:k]] for k in range(len(places))]
        turns += [p[::-1] for p in turns]
    orders = [{k: rank for rank, k in enumerate(p)} for p in turns]
    return orders if len(places) == 1 else [*orders, dict.fromkeys(places, 0)]


def _trend(near: Value, last: Value) -> float:
    """What values tend to, if the last is much farther out."""
    grown = arb(2) ** (FAR // 2)
    if last.abs_lower() > grown * near.abs_upper():
        return math.inf if last > 0 else -math.inf
    return 0.0 if grown * last.abs_upper() < near.abs_lower() else math.nan


def _infinity(y: Value) -> float:
    """The infinity that a ball represents; nan for other balls."""
    if y.is_finite() or y.is_nan():
        return math.nan
    return math.inf if y > 0 else -math.inf if y < 0 else math.nan


def evaluate(
    outputs: Sequence[Expr], params: Sequence[Expr | str], point: Sequence[float], prec: int
) -> list[Any]:
    """Balls around the outputs at a point, from one pass at a precision.

    Raises
    ------
    Undecided
        A condition or a zero cannot be decided at this precision. Outputs that are
        undefined at the point are the ball `nan`.
    """
    variables = [ir.var(p) if isinstance(p, str) else p for p in params]
    with exclusive(prec):
        tape = Tape(variables, outputs)
        inputs = [arb(float(x)) for x in point]
        values = tape.run(inputs, prec)
        if not all(values[r].is_finite() for r in tape.roots):
            rationals = Rationals(tape, point)
            rationals.look(values)
            values = tape.run(inputs, prec, rationals.known)
        for root, output in zip(tape.roots, outputs, strict=True):
            if not values[root].is_finite():
                if tape.trouble(root, values) == "undecided":
                    raise Undecided(f"{prec} bits do not decide {output}")
                values[root] = UNKNOWN
        return [values[r] for r in tape.roots]


def truth(
    outputs: Sequence[Expr],
    params: Sequence[Expr | str],
    points: Iterable[Sequence[float]],
    dtype: Any = "float64",
    primals: Sequence[Expr] = (),
) -> tuple[np.ndarray[Any, Any], list[tuple[Status, ...]]]:
    """The outputs at many points: an array (points, outputs), and the statuses."""
    program = Certified(params, outputs, primals)
    rows = [program.at_with_status(p, dtype) for p in points]
    values = np.array([[a.value for a in row] for row in rows], dtype=dtype)
    return values.reshape(len(rows), len(outputs)), [tuple(a.status for a in row) for row in rows]
