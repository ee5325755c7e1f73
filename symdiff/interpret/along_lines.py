"""Derivatives at a point, by the definition: one variable, both sides.

Before:  where(x == 0, 1, sin(w*x)/x)*x at x = 0, w = 2
After:   2, the mean of the slopes for x > 0 and x < 0

The partial derivative by x_i at p is that of t -> f(p + t e_i) at t = 0. The program is evaluated at
t = 2**-k and t = -2**-k for large k, in balls wide enough for any cancellation; slopes there tend to
the one-sided derivative (`limits.tendency`).

- A function with a derivative at p has that derivative, whatever branches the sides take.
- A branch taken at p that one of the sides takes as well is the branch of both sides.
- A branch taken at p alone is a puncture: both sides take their own branches if the value of the
  whole function at p is their limit; else the function jumps, and the branch of p counts.
- Any other difference between the sides gives the mean of the one-sided derivatives. An infinite
  one is the result if the other one is the same, or if the other side is outside the domain.

Second derivatives are derivatives of the first along t -> p + t e_j, where the first uses a second
infinitesimal, smaller than all powers of t that count.

Requires: expressions of real parameters as captured, with plain nodes in what decides (`ir.plain`): at p these are
doubles, and near p the reals that they denote. Callers hold `interpret.exclusive`.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from flint import arb, ctx

from symdiff import ir
from symdiff.interpret import work
from symdiff.interpret.balls import Value
from symdiff.interpret.certified import Certified
from symdiff.interpret.flat import span
from symdiff.interpret.limits import Limit, Stopped, close, size, tendency, vanished
from symdiff.interpret.lines import (
    ALIKE,
    BAND,
    BITS,
    UP,
    Choice,
    Inputs,
    Line,
    Lines,
    Place,
    no_double,
)
from symdiff.interpret.middles import middle_of
from symdiff.ir import Expr
from symdiff.ir.functions import EXTREMES
from symdiff.ir.plain import as_ball

DEPTH, SECOND_DEPTH = 160, 100
"""Exponents of the first steps: -log2(t)."""
INNER = 6
"""The exponent of the inner step of second derivatives, as a multiple of the outer one."""
CANCELLED = 100
"""Bits to which one-sided derivatives are known."""
POWERS = 1 << 62
"""The depth that distinguishes powers of t whose exponents differ in the last bits of a double."""
MOST_BITS = 24_000
GROWING = 1.01
"""The growth of a slope over half the distance that counts as infinite."""
ACCURATE = 86
FLOAT32 = 2.0**-23
"""The largest difference of the value in a very thin band from the function, if it is relatively
large."""
CLOSE = 1e-3
"""The largest difference in a band whose middle has the limit as its value, absolute or relative."""
WORK = 3_000_000
"""Operations for one first derivative at one point; see `symdiff.interpret.work`."""
SECOND_WORK = 4 * WORK
"""The same for second derivatives: a difference of differences, to more bits."""
SHORT, SHORT_BITS = 64, 512
"""The exponent of a short distance, and the precision there."""
SIDES = 16
"""The number of general points near a crossing of kinks."""
STEADY = 2.0**-24
"""The largest difference of slopes over a short distance and over half of it for a derivative."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative at a point.

    Attributes
    ----------
    value : the derivative, rounded; nan if there is none.
    known : whether it was found within the budget.
    jumps : whether the function jumps at a branch that is taken there alone.
    kink : whether the one-sided derivatives differ.
    """

    value: float
    known: bool = True
    jumps: bool = False
    kink: bool = False

    @property
    def is_none(self) -> bool:
        """Whether both one-sided derivatives are known, and have no mean."""
        return self.kink and math.isnan(self.value)


UNKNOWN_SLOPE = Slope(math.nan, known=False)


class Derivatives:
    """The derivatives of expressions, at any number of points.

    Parameters
    ----------
    params : the variables, or their names, in the order of a point.
    outputs : real expressions of them, as captured.
    """

    def __init__(self, params: Sequence[Expr | str], outputs: Sequence[Expr]) -> None:
        variables = [ir.var(p) if isinstance(p, str) else p for p in params]
        self.tape = Lines(variables, outputs)
        self.values = Certified(variables, outputs, jumps=True)

    def at(self, point: Sequence[float], until: float = math.inf) -> Point:
        """The derivatives at a point of finite doubles; stop when `work.spent` reaches `until`."""
        return Point(self, [float(x) for x in point], until)


class Point:
    """The derivatives at one point."""

    def __init__(self, program: Derivatives, point: list[float], until: float = math.inf) -> None:
        self.program, self.tape, self.point, self.until = program, program.tape, point, until
        self.far = 2 * span(self.tape, point)
        self.values = program.values.at_with_status(point)
        here = self.tape.on([as_ball(x) for x in point], 2 * DEPTH + self.far, {}, {})
        rng = random.Random(5)
        aside = [rng.choice((-1, 1)) * rng.randint(256, 511) for _ in point]
        self.place = Place(point, here, self.depth, aside)
        self._until: float = 0
        self._found: dict[tuple[int, tuple[int, ...]], Slope] = {}
        self._short: dict[int, list[float]] = {}

    def partial(self, output: int, by: Sequence[int]) -> Slope:
        """The value of an output, or its derivative by one parameter or two."""
        if not by:
            answer = self.values[output]
            return Slope(answer.value if answer.status == "exact" else math.nan)
        key = output, tuple(by)
        if key not in self._found and work.spent() > self.until:
            return UNKNOWN_SLOPE
        if key not in self._found:
            self._found[key] = (self.first if len(by) == 1 else self.second)(output, *by)
        return self._found[key]

    def is_pole(self, output: int) -> bool:
        """Whether an output is infinite at the point."""
        return math.isinf(self.values[output].value)

    def over_short(self, by: int) -> Sequence[float]:
        """The mean slopes of the outputs over a short distance on both sides of the point, which are their derivatives
        by a parameter, except for jumps that are as small; nan where slopes are not steady, and in thin bands,
        which end farther away."""
        if self._is_in_band:
            return [math.nan] * len(self.tape.roots)
        if by not in self._short:
            here = self.place.here
            sides = [[self._moved(by, s, k) for k in (SHORT, SHORT + 1)] for s in (1, -1)]
            self._short[by] = [
                _mean([[(v[r] - here[r]) / d for d, v in side] for side in sides])
                for r in self.tape.roots
            ]
        return self._short[by]

    @functools.cached_property
    def _is_in_band(self) -> bool:
        here = self.place.here
        return any(self.tape.within(i, here) is not None for i in self.tape.conditions)

    def _moved(self, by: int, side: int, k: int) -> tuple[Value, list[Value]]:
        """The distance of a parameter moved by 2**-k to a side, and the values of all nodes
        there."""
        ctx.prec = SHORT_BITS
        step = side * no_double(-k)
        moved = as_ball(self.point[by]) + step
        return step, self.tape.beside(self._plainly, by, moved, SHORT_BITS)

    @functools.cached_property
    def _plainly(self) -> list[Value]:
        """The values of all nodes at the point, with few bits."""
        return self.tape.on([as_ball(x) for x in self.point], SHORT_BITS, {}, {})

    # ------------------------------------------------------------------ first order
    def first(self, output: int, by: int) -> Slope:
        """The derivative of an output by a parameter, given by their indices."""
        self._until = min(work.spent() + WORK, self.until)
        root = self.tape.roots[output]
        if self._is_undefined(output):
            return Slope(math.nan)
        try:
            line = Line(self.tape, self.place, by)
            return self._along(
                output, line, lambda choice, side: self._one_sided(root, line, side, choice)
            )
        except Stopped as stopped:
            return UNKNOWN_SLOPE if stopped.kind == "open" else Slope(math.nan)

    def _is_undefined(self, output: int) -> bool:
        answer = self.values[output]
        return math.isnan(answer.value) and answer.status != "budget"

    def _along(
        self,
        output: int,
        line: Line,
        one_sided: Callable[[tuple[Choice, Choice], int], Limit],
        second: bool = False,
    ) -> Slope:
        root = self.tape.roots[output]
        choice = line.choices(root, outside=True)
        guarded = self._is_guarded(output, line, choice)
        jumps = not guarded and self._avoids(root, line, choice)
        if not guarded:
            choice = line.choices(root)
            if line.is_punctured and not self._is_limit(output, line, choice):
                choice, jumps = line.written(), True
            if any(line.mirrored) and not second:
                own = line.own()
                found = _joined([one_sided(own, s) for s in (1, -1)])
                if (
                    math.isfinite(found.value)
                    and not found.kink
                    and (self._is_limit(output, line, own) or self._is_filled(output, line, own))
                ):
                    return found
                choice = line.choices(root)
        sides: tuple[int, ...] = (1, -1)
        if second and not (guarded or line.is_punctured):
            sides = line.taking(root, choice) or sides
        found = _joined([one_sided(choice, s) for s in sides])
        if found.is_none and not self._is_limit(output, line, choice):
            found = Slope(math.nan)  # a jump, as of 0**x at 0
        return replace(found, jumps=True) if jumps else found

    def _avoids(self, root: int, line: Line, choice: tuple[Choice, Choice]) -> bool:
        """Whether a thin band avoids a point."""
        return line.is_banded and (line.is_very_thin or line.is_singular(root, choice[0]))

    def _is_guarded(self, output: int, line: Line, choice: tuple[Choice, Choice]) -> bool:
        """Whether the value at a point in a thin band stands for that of the function outside of it: it agrees, or it
        is close, and the value at the singular point of the line in the band agrees."""
        if not line.is_banded:
            return False
        if self._avoids(self.tape.roots[output], line, choice):
            if self._is_limit(output, line, choice):
                return True
        return self._is_right_within(output, line) and self._is_limit(output, line, choice, CLOSE)

    def _is_right_within(self, output: int, line: Line) -> bool:
        """Whether the value at the singular point of a line in a thin band is the limit there."""
        middle = middle_of(line)
        if middle is None or middle == self.point[line.by]:
            return False
        point = [*self.point]
        point[line.by] = middle
        there, root = Point(self.program, point, self.until), self.tape.roots[output]
        there._until = self._until
        beside = Line(self.tape, there.place, line.by, line.known)
        choice = beside.choices(root, outside=True)
        if not (beside.is_banded and beside.is_singular(root, choice[0])):
            return False
        return there._is_limit(output, beside, choice)

    def _is_limit(
        self, output: int, line: Line, choice: tuple[Choice, Choice], within: float = 0.0
    ) -> bool:
        """Whether the value at the point is the limit of the sides, or within a distance, relative or not."""
        answer, root = self.values[output], self.tape.roots[output]
        if answer.ball is None:
            return False
        inside, thin = 0, line.is_banded and line.is_very_thin
        for side in (1, -1):
            met = self._aside_of(
                line, functools.partial(self._value_beside, root, line, side, choice)
            )
            if met.kind == "domain":
                continue
            inside += 1
            if met.kind != "finite":
                return False
            ctx.prec = 256
            off, whole = abs(met.value - answer.ball), abs(met.value) + abs(answer.ball)
            if off <= arb(2) ** -(BAND if thin else ALIKE) * whole or off <= within * max(
                1, whole / 2
            ):
                continue
            if not (thin and off < FLOAT32 and off <= line.variation(root, choice[side < 0])):
                return False
        return inside > 0

    def _is_filled(self, output: int, line: Line, choice: tuple[Choice, Choice]) -> bool:
        """Whether an undefined value at the point is filled by a limit of both sides."""
        if not self._is_undefined_value(output):
            return False
        root = self.tape.roots[output]
        sides = [
            self._aside_of(line, functools.partial(self._value_beside, root, line, side, choice))
            for side in (1, -1)
        ]
        finite = all(s.kind == "finite" for s in sides)
        return finite and close(sides[0].value, sides[1].value)

    def _is_undefined_value(self, output: int) -> bool:
        return self.values[output].ball is None and not math.isinf(self.values[output].value)

    def _value_beside(
        self, root: int, line: Line, side: int, choice: tuple[Choice, Choice], aside: int
    ) -> Limit:
        """The limit of a node on one side."""

        def at(k: int) -> Value:
            return self._accurate(lambda prec: line.value(root, side, k, choice, prec, aside), k)

        return _tends(at, self.depth)

    @property
    def depth(self) -> int:
        return DEPTH + self.far

    def _one_sided(self, root: int, line: Line, side: int, choice: tuple[Choice, Choice]) -> Limit:
        """The derivative on one side."""

        def slope(k: int, aside: int) -> Value:
            def quotient(prec: int) -> Value:
                a, b = (line.value(root, side, d, choice, prec, aside) for d in (k, k + 1))
                return side * (a - b) / no_double(-k - 1)

            return self._accurate(quotient, k)

        found = self._aside_of(line, lambda aside: _tends(lambda k: slope(k, aside), self.depth))
        if found.kind in ("none", "infinite") and not self.point[line.by]:
            return self._by_powers(root, line, side, choice) or found
        return found

    def _by_powers(
        self, root: int, line: Line, side: int, choice: tuple[Choice, Choice]
    ) -> Limit | None:
        """The derivative of a function that grows as a power of t whose exponent is close to 1."""
        try:
            y = line.value(root, side, POWERS, choice, 4 * self.depth, 0)
        except Stopped:
            return None
        if not y.is_finite() or y.contains(0) or size(y) > -POWERS // 4:
            return None
        slope = abs(y) * arb(2) ** POWERS
        if abs(size(slope)) < 64:
            return None
        sign = side if y > 0 else -side
        return Limit("finite", arb(0)) if slope < 1 else Limit("infinite", sign)

    def _aside_of(self, line: Line, limit: Callable[[int], Limit]) -> Limit:
        """A limit on a line; where the formula is undefined on all of it, that on curves near it."""
        try:
            return limit(0)
        except Stopped as stopped:
            if stopped.kind == "domain":
                return Limit("domain")
            if stopped.kind != "none":
                raise
        found: list[Limit] = []
        for aside in (1, -1, UP):
            if aside == UP and any(m.kind != "domain" for m in found):
                break
            try:
                found.append(limit(aside))
            except Stopped as met:
                if met.kind == "open":
                    raise
                found.append(Limit("domain" if met.kind == "domain" else "none"))
        inside = [m for m in found if m.kind != "domain"] or found
        first = inside[0]
        if any(m.kind != first.kind for m in inside):
            return Limit("none")
        if first.kind == "finite" and not all(close(m.value, first.value) for m in inside):
            return Limit("none")
        return first

    def _accurate(self, of: Callable[[int], Value], k: int) -> Value:
        """A value at t = 2**-k to many digits."""
        prec = BITS * max(k, self.depth) + 256
        while True:
            ctx.prec = prec
            y = of(prec)
            if y.is_finite() and (y.rel_accuracy_bits() > ACCURATE or vanished(y)):
                return y
            prec *= 2
            if prec > MOST_BITS or work.spent() > self._until:
                raise Stopped("open")

    # ----------------------------------------------------------------- second order
    def second(self, output: int, by: int, then: int) -> Slope:
        """The derivative by one parameter and then by another one."""
        first = self.partial(output, (by,))
        if math.isnan(first.value):
            return first
        if self._is_crossing and not self._is_that_of_all_sides(output, by, then):
            return Slope(math.nan)
        found = self._second_along(output, by, then)
        if first.kink and by != then and found.known:  # which may be steeper near the point
            other = self._second_along(output, then, by)
            return other if math.isnan(other.value) else found
        return found

    @functools.cached_property
    def _is_crossing(self) -> bool:
        """Whether there is a kink along each line through the point, or along none, as where a kink crosses itself."""
        return any(
            len(u) > 1 and all(abs(slope) < STEADY for slope in u) for u in self._slopes_at_kinks()
        )

    def _slopes_at_kinks(self) -> Iterator[list[Value]]:
        """For each kink that is met, the slopes of what vanishes there."""
        tape = self.tape
        for e in tape.nodes:
            if e.op in (ir.ABS, *EXTREMES):
                a, b = tape.index[e.args[0]], tape.index[e.args[1]] if e.args[1:] else -1

                def zero(v: Sequence[Value], a: int = a, b: int = b) -> Value:
                    return v[a] if b < 0 else v[a] - v[b]

                if zero(self.place.here).contains(0):
                    below = sorted({*tape.parameters_below(tape.index[e])})
                    beside = (self._moved(by, 1, SHORT) for by in below)
                    yield [zero(v) / step for step, v in beside]

    def _is_that_of_all_sides(self, output: int, by: int, then: int) -> bool:
        """Whether a second derivative is the same at points near this one, in general directions."""
        rng, root, prec = random.Random(9), self.tape.roots[output], 2 * INNER * BITS * SHORT
        found = []
        for _ in range(SIDES):
            ctx.prec = prec
            t, h = no_double(-SHORT), no_double(-INNER * SHORT)
            near = [as_ball(x) + rng.choice((-1, 1)) * rng.randint(1, 511) * t for x in self.point]
            corners = []
            for a, b in ((1, 1), (1, 0), (0, 1), (0, 0)):
                point = list(near)
                point[by] += a * h
                point[then] += b * h
                corners.append(self.tape.on(point, prec, {}, {})[root])
            p, q, r, s = corners
            found.append((p - q - r + s) / h**2)
        return all(abs(x - found[0]) <= STEADY * (1 + abs(x)) for x in found)

    def _second_along(self, output: int, by: int, then: int) -> Slope:
        self._until = min(work.spent() + SECOND_WORK, self.until)
        root = self.tape.roots[output]
        try:
            known = {} if by == then else self._outside(output, by)
            line = Line(self.tape, self.place, then, known)
            return self._along(
                output, line, lambda choice, side: self._second(root, line, by, side, choice), True
            )
        except Stopped as stopped:
            return UNKNOWN_SLOPE if stopped.kind == "open" else Slope(math.nan)

    def _outside(self, output: int, by: int) -> Mapping[int, Value]:
        """The truth values outside the thin bands that guard a first derivative."""
        line, root = Line(self.tape, self.place, by), self.tape.roots[output]
        choice = line.choices(root, outside=True)
        return line.thin[0] if self._is_guarded(output, line, choice) else {}

    def _second(
        self, root: int, line: Line, by: int, side: int, choice: tuple[Choice, Choice]
    ) -> Limit:
        depth = SECOND_DEPTH + self.far

        def slope(k: int, aside: int) -> Value:
            def quotient(prec: int) -> Value:
                a, b = (
                    self._inner(root, line, by, side, d, choice, prec, aside) for d in (k, k + 1)
                )
                return side * (a - b) / no_double(-k - 1)

            return self._accurate(quotient, k)

        return self._aside_of(line, lambda aside: _tends(lambda k: slope(k, aside), depth))

    def _inner(
        self, root: int, line: Line, by: int, side: int, k: int,
        choice: tuple[Choice, Choice], prec: int, aside: int,
    ) -> Value:  # fmt: skip
        """The first derivative by a parameter at a point of a line."""
        base, given = line.inputs(side, k, aside, prec), choice[side < 0]
        u, none = no_double(-INNER * k), BITS // 2 * INNER * k

        def moved(by_how_much: Value) -> Inputs:
            found = list(base)
            found[by] = found[by] + by_how_much
            return found

        here, *sides = (
            self.tape.leaves(v)
            for d in (0, 1, -1)
            for v in (self.tape.on(moved(d * u), prec, {}, line.known, none),)
        )
        total, count = arb(0), 0
        for s, own in zip((1, -1), sides, strict=True):
            chosen = dict(given)
            for i, leaf in own.items():
                if leaf is not None and here[i] not in (sides[0][i], sides[1][i]):
                    chosen[i] = leaf
            a, b, c = (
                self._value(root, moved(s * x), prec, chosen, line.known, none)
                for x in (u, u / 2, u / 4)
            )
            if a is None or b is None or c is None:
                continue
            slope, closer = (a - b) / (u / 2), (b - c) / (u / 4)
            if abs(closer) > abs(slope) * GROWING:
                raise Stopped("open")  # the first derivative is infinite
            total, count = total + s * slope, count + 1
        if not count:
            raise Stopped("domain")
        return total / count

    def _value(
        self, root: int, inputs: Inputs, prec: int, choice: Choice, known: Mapping[int, Value],
        none: int,
    ) -> Value | None:  # fmt: skip
        """The value of a node; None outside the domain."""
        v = self.tape.on(inputs, prec, choice, known, none)
        if not v[root].is_finite():
            trouble = self.tape.trouble(root, v)
            if trouble == "domain":
                return None
            if trouble == "singular":
                raise Stopped("none")
        return v[root]


def _tends(at: Callable[[int], Value], k: int) -> Limit:
    """The limit of values at t = 2**-k as k grows."""
    a, b = at(k), at(k * 4 // 3)
    if not (vanished(a) or vanished(b)) and not close(a, b) and size(a) - size(b) >= 16:
        return Limit("finite", arb(0))  # like a power of t
    return tendency(at, k)


def _mean(sides: Sequence[Sequence[Value]]) -> float:
    """The mean of the slopes of both sides over half a distance; nan if those over all of it
    differ."""
    for far, near in sides:
        if not (far.is_finite() and near.is_finite()):
            return math.nan
        if not abs(far - near) <= STEADY * (1 + abs(near)):
            return math.nan
    return float((sum((near for _, near in sides), arb(0)) / len(sides)).mid())


def _joined(sides: Sequence[Limit]) -> Slope:
    """The derivative from those of both sides."""
    inside = [m for m in sides if m.kind != "domain"]
    if not inside or any(m.kind in ("none", "kink") for m in inside):
        return Slope(math.nan)
    if any(m.kind == "open" for m in inside):
        return UNKNOWN_SLOPE
    if all(m.kind == "finite" for m in inside):
        ctx.prec = 256
        total, size_of = sum((m.value for m in inside), arb(0)), sum(abs(m.value) for m in inside)
        if abs(total) <= size_of * 2.0**-CANCELLED:
            return Slope(0.0, kink=size_of != 0)
        kink = len(inside) == 2 and not close(inside[0].value, inside[1].value)
        return Slope(_rounded(total / len(inside)), kink=kink)
    if all(m.kind == "infinite" for m in inside) and len({m.value for m in inside}) == 1:
        return Slope(inside[0].value * math.inf)
    return Slope(math.nan, kink=True)


def _rounded(y: Value) -> float:
    return 0.0 if vanished(y) else float(y.mid())


__all__ = ["Derivatives", "Point", "Slope"]
