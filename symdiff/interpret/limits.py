"""The value that every path into a point tends to.

Where a formula is undefined at a point it is evaluated at the points
p + c*t**e for extreme t = 2**-k, along straight and curved paths (c, e) into p,
in balls that are wide enough to resolve any cancellation. A limit counts only
if it is seen on every path that stays in the function's domain, to more digits
than a double has: poles, jumps and oscillations do not pass. In several variables it is also
refuted by values near the point that are far from it: on paths of other shapes (x*y/s on s = x*y, or
x*log(y) on y = exp(-1/x)), near zeros of divisors ((x**3 + y**3)/(x - y)), near zeros of arguments of
logarithms (x*log(x + y)), and where a quotient of zeros has another value (acos(x/y)).

Branches are fixed at the point, then followed along each path. Paths on which the branch is
outside of its domain do not count where an undecided condition needs its value. An operation that jumps at the point (sign, floor,
the unit vector of a norm) is first taken along the path; if the one-sided limits
then differ but are finite, it is a kink, and the value at the point stands.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, Literal

from flint import arb, ctx

from symdiff import ir
from symdiff.interpret import work
from symdiff.interpret.balls import Value
from symdiff.interpret.flat import Reasons, Tape, exponent, span
from symdiff.interpret.paths import FLAT, Path, flat_paths, oblique_paths, paths, step
from symdiff.ir.functions import (
    ACOSH,
    ASINH,
    ATANH,
    LGAMMA,
    LOG,
    LOG1P,
    LOG2,
    LOG10,
    XLOG1PY,
    XLOGY,
)

Kind = Literal["finite", "infinite", "kink", "none", "domain", "open"]

BASE_DEPTH = 300
MAX_PRECISION = 60_000
AGREE = 66
"""Bits to which two values on a path must agree to count as its limit."""
VANISHED = 1200
"""A number below 2**-VANISHED rounds to zero in every format."""
STEADY = arb(2) ** -30
"""How exactly values must grow like a logarithm while they are not large relative to where they began."""
NODES = 14
"""Depths from which a slow limit is extrapolated."""
REFUTING = 400_000
"""Work for the search of counterexamples to one limit."""
NEAR = 64
"""Depth at which counterexamples are searched for, near a point of size 1."""
DIVISORS, DIRECTIONS, STEPS, PRECISION = 4, 8, 40, 4096
"""Divisors for which a zero near the point is searched, how many directions for a change of
sign, how many steps from there to a zero, and the bits for that."""
SIGN = 512
"""The bits that determine the sign of most values, in addition to those of a high power of the distance."""
OUTSIDE = 6
"""The factor by which more directions are tried, if some leave the domain."""
RATIOS, RATIO_STEPS = (Fraction(5, 8), Fraction(-5, 8), Fraction(63, 64), Fraction(-63, 64)), 90
"""Values that quotients of zeros are given near the point (many functions exist up to 1),
and how many steps to those."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of an output.

    `finite`: the ball `value`; `infinite`: `value` (1 or -1) times inf;
    `kink`: finite values that depend on the path; `none`: no limit;
    `domain`: no path is in the domain; `open`: not found within the budget.
    """

    kind: Kind
    value: Value = None


_LOGARITHMS = frozenset(
    (LOG, LOG1P, LOG2, LOG10, ATANH, ASINH, ACOSH, LGAMMA, XLOGY, XLOG1PY, ir.POW)
)


_OF_FIRST = frozenset((LOG, LOG2, LOG10, LGAMMA))
"""Logarithms of their first argument."""


class Stopped(Exception):  # noqa: N818
    """A point on a path has no value."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind


class Approach:
    """The paths into one point, and the values on them.

    Parameters
    ----------
    tape : the DAG.
    point : finite floats.
    values : the values of all nodes at the point itself.
    until : the value of `work.spent` at which to stop.
    ties : whether a comparison of equal values at the point may be a kink.
    """

    def __init__(
        self,
        tape: Tape,
        point: Sequence[float],
        values: Sequence[Value],
        until: int,
        ties: bool = False,
    ) -> None:
        self.ties = ties
        self.tape, self.point, self.values, self.until = tape, point, values, until
        self.fixed = {i: values[i] for i in tape.conditions if values[i] is not None}
        self.open = [i for i in tape.conditions if values[i] is None]
        self.asked: list[int] = []  # conditions whose operands must be defined on a path
        self.depth = BASE_DEPTH + 2 * span(tape, point)
        self._met: dict[tuple[Path, int, bool], tuple[int, list[Value], Reasons]] = {}
        self._beside: dict[object, list[list[Value]]] = {}
        self._starts: list[tuple[list[Value], list[Value]]] = []
        self._ways = random.Random(30)

    def limit(self, root: int) -> Limit:
        """The limit of one node; at a kink, with the values that the table of
        conventions gives at the point itself."""
        free = self._combine(root, keep_jumps=False)
        if free.kind in ("kink", "none") and self.open:
            inside = Approach(self.tape, self.point, self.values, self.until)
            inside.asked = self.open
            found = inside._combine(root, keep_jumps=False)
            if found.kind == "finite" and not inside._is_refuted(root, found.value):
                return found
        if free.kind == "finite" and (
            self._is_refuted(root, free.value) or (self.ties and self._is_unbounded(root))
        ):
            return Limit("none")
        if free.kind != "kink":
            return free
        kept = self._combine(root, keep_jumps=True)
        return kept if kept.kind == "finite" else free

    def _is_unbounded(self, root: int) -> bool:
        """Whether the values of the branch taken are unbounded near the point: a mean of slopes that
        are infinite at a kink is none."""
        nodes, values = self.tape.nodes, self.values
        meet = [
            i for i in self.fixed if _meet(*(values[self.tape.index[a]] for a in nodes[i].args))
        ]
        if not meet:
            return False
        beside = Approach(self.tape, self.point, values, self.until)
        beside.fixed = {i: v for i, v in self.fixed.items() if i not in meet}
        return beside._combine(root, keep_jumps=False).kind in ("none", "infinite")

    def _combine(self, root: int, keep_jumps: bool) -> Limit:
        met: list[Limit] = []
        used = self.tape.parameters_below(root)
        for number, path in enumerate(paths(used, len(self.point))):
            joined = _join(met)
            if number >= 10 and joined.kind != "domain":
                break
            if joined.kind in ("none", "open"):
                break
            try:
                met.append(tendency(partial(self._at, path, root, keep_jumps), self.depth))
            except Stopped as stop:
                met.append(Limit(stop.kind))
        return _join(met)

    def _is_refuted(self, root: int, value: Value) -> bool:
        """Whether some value near the point differs much from the values on the usual paths."""
        if len(self.tape.parameters_below(root)) <= 1:
            return False
        before, until = work.spent(), self.until
        self.until = min(until, before + REFUTING)
        try:
            return any(abs(y - value) > far for y, far in self._close_values(root, value))
        finally:  # this work does not reduce the budget
            self.until = until
            work.spend(before - work.spent())

    def _close_values(self, root: int, value: Value) -> Iterator[tuple[Value, Value]]:
        """Values close to the point, each with a distance from the limit that it must not exceed.
        The paths are those of all parameters, so that all roots share them."""
        for path in self._paths_beside:
            try:
                yield self._at(path, root, False, self._near), (1 + abs(value)) / 8
            except Stopped:
                if work.spent() > self.until:
                    break
        self.until = work.spent() + REFUTING // 2
        ways: tuple[tuple[Callable[[Any], Iterator[list[Value]]], Sequence[Any], Value], ...] = (
            (self._beside_zero, self._divisors(root), 1 + abs(value)),
            (self._beside_quotient, self._quotients(root), (1 + abs(value)) / 8),
            (self._flat_beside, self._arguments_of_logarithms(root), (1 + abs(value)) / 8),
        )
        for look, nodes, far in ways:
            for node in nodes[:DIVISORS]:
                for v in self._once(look, node):
                    if v[root].is_finite():
                        yield v[root], far

    def _once(
        self, look: Callable[[Any], Iterator[list[Value]]], node: Any
    ) -> Sequence[list[Value]]:
        """The values of all nodes at places close to the point, for all roots."""
        key = look.__name__, node
        if (found := self._beside.get(key)) is None:
            found = [v for v in look(node) if not self._is_outside(v)]
            if work.spent() <= self.until:  # the search is complete
                self._beside[key] = found
        return found

    @cached_property
    def _near(self) -> int:
        """The depth at which counterexamples are searched for."""
        return NEAR + exponent(self.tape, self.point)

    @cached_property
    def _moving(self) -> list[int]:
        """The positions of the parameters that any root depends on."""
        return sorted(k for _, k in self.tape.slots)

    @cached_property
    def _paths_beside(self) -> list[Path]:
        found = [*oblique_paths(self._moving, len(self.point))]
        if any(e.op in _LOGARITHMS for e in self.tape.nodes):
            found += flat_paths(self._moving, self.point)
        return found

    def _divisors(self, root: int) -> list[int]:
        """The divisors below a node that are zero at the point."""
        found = []
        for e in ir.topological((self.tape.nodes[root],)):
            q = ir.rational(e.args[1]) if e.op is ir.POW else None
            if e.op is ir.DIV or (q is not None and q < 0):
                d = self.tape.index[e.args[1] if e.op is ir.DIV else e.args[0]]
                if d not in found and self._is_zero(d):
                    found.append(d)
        return found

    def _quotients(self, root: int) -> list[tuple[int, int, bool]]:
        """The quotients of zeros below a node: dividend, divisor, and whether the latter is
        the reciprocal of the divisor, in a product."""
        found = []
        for e in ir.topological((self.tape.nodes[root],)):
            if e.op is ir.DIV:
                a, b = (self.tape.index[u] for u in e.args)
                if self._is_zero(a) and self._is_zero(b):
                    found.append((a, b, False))
            elif e.op is ir.MUL:
                for u, w in (e.args, e.args[::-1]):
                    a, b = self.tape.index[u], self.tape.index[w]
                    if (
                        w.op in (ir.POW, ir.DIV)
                        and self._is_zero(a)
                        and not self.values[b].is_finite()
                    ):
                        found.append((a, b, True))
        return found

    def _is_zero(self, i: int) -> bool:
        """Whether a node may be zero at the point."""
        value = self.values[i]
        return bool(value.is_finite() and value.contains(0))

    def _beside_quotient(self, quotient: tuple[int, int, bool]) -> Iterator[list[Value]]:
        """The values of all nodes close to the point, where a quotient has values that it need not
        have at the point."""
        a, b, inverse = quotient
        for q in RATIOS:
            ratio = arb(q.numerator) / q.denominator

            def off(v: list[Value], ratio: Value = ratio) -> Value:
                return v[a] - ratio * (1 / v[b] if inverse else v[b])

            for _, v in self._between(off, RATIO_STEPS):
                w = v[a] * v[b] if inverse else v[a] / v[b]
                if w.is_finite() and abs(w / ratio - 1) < arb(2) ** -8:
                    yield v
                    break

    def _arguments_of_logarithms(self, root: int) -> list[int]:
        """Nodes that are zero at the point, if a logarithm or a power with a variable exponent of
        them, or of an even power of them, is below a node."""
        found: list[int] = []
        for e in ir.topological((self.tape.nodes[root],)):
            if e.op in _OF_FIRST or (e.op is ir.POW and ir.rational(e.args[1]) is None):
                u = e.args[0]
            elif e.op is XLOGY:
                u = e.args[1]
            else:
                continue
            while (inner := self._that_vanishes(u)) is not None:
                u = inner
            d = self.tape.index[u]
            if u.args and d not in found and self._is_zero(d):
                found.append(d)
        return found

    def _that_vanishes(self, u: ir.Expr) -> ir.Expr | None:
        """The zero below an absolute value, a power, or a product or quotient with a nonzero
        factor."""
        if u.op is ir.ABS or (u.op is ir.POW and ir.rational(u.args[1]) is not None):
            return u.args[0]
        if u.op in (ir.MUL, ir.DIV):
            a, b = u.args
            zeros = [self._is_zero(self.tape.index[e]) for e in u.args]
            if zeros == [True, False] and self.values[self.tape.index[b]].is_finite():
                return a
            if zeros == [False, True] and u.op is ir.MUL:
                return b
        return None

    def _flat_beside(self, d: int) -> Iterator[list[Value]]:
        """The values of all nodes where a node that changes its sign close to the point is smaller
        than all powers of the distance, and the others are as at its zero."""
        ways = [way for way, _ in self._towards_zero(d, PRECISION * 3 // 5)]
        if not ways:
            return
        inputs = self._inputs(ways[-1])
        for e in FLAT[:3]:
            for flat in (step(self._near, e), -step(self._near, e)):
                v = self.tape.run(inputs, PRECISION, self.fixed, partial(_instead, d, flat))
                yield v

    def _beside_zero(self, divisor: int) -> Iterator[list[Value]]:
        """The values of all nodes where a divisor becomes smaller and smaller, close to the
        point."""
        for _, v in self._towards_zero(divisor, PRECISION // 5):
            yield v

    def _inputs(self, direction: Sequence[Value]) -> list[Value]:
        ctx.prec = PRECISION
        inputs = [arb(x) for x in self.point]
        for k, c in zip(self._moving, direction, strict=True):
            inputs[k] += c * arb(2) ** -self._near
        return inputs

    def _towards_zero(self, divisor: int, least: int) -> Iterator[tuple[list[Value], list[Value]]]:
        """Directions in which a node becomes smaller and smaller, to 2**-least, and the values of
        all nodes there: by regula falsi between directions in which its signs differ (Dowell and
        Jarratt, 1971)."""
        for way, v in self._between(itemgetter(divisor), STEPS, least):
            yield way, v
            if size(v[divisor]) < -least:
                return

    def _between(
        self,
        of: Callable[[list[Value]], Value],
        steps: int,
        least: int = PRECISION // 5,
    ) -> Iterator[tuple[list[Value], list[Value]]]:
        """Directions in which a function of the values of all nodes becomes smaller and smaller,
        and those values; none if it has one sign."""
        sides: dict[bool, tuple[list[Value], Value]] = {}
        tried = 0
        for number in range(OUTSIDE * DIRECTIONS):
            way, v = self._start(number)
            y = of(v)
            if y.is_finite() and y.contains(0):
                y = of(self._run(way))
            if y.is_finite() and not y.contains(0):
                sides.setdefault(bool(y > 0), (way, y))
            tried += bool(y.is_finite())
            if len(sides) == 2:
                break
            if tried == DIRECTIONS or work.spent() > self.until:
                return
        else:
            return
        (a, at_a), (b, at_b) = sides[True], sides[False]
        for _ in range(steps):
            if work.spent() > self.until:
                return
            part = (at_a / (at_a - at_b)).mid()
            way = [(x + part * (y - x)).mid() for x, y in zip(a, b, strict=True)]
            v = self._run(way)
            if of(v).contains(0):  # an exact hit, as for linear divisors
                little = arb(2) ** -(least + PRECISION // 20)
                way = [(w + little * (y - w)).mid() for w, y in zip(way, b, strict=True)]
                v = self._run(way)
            y = of(v)
            if not y.is_finite() or y.contains(0):
                return
            yield way, v
            if y > 0:
                a, at_a, at_b = way, y, at_b * at_a / (at_a + y)
            else:
                b, at_b, at_a = way, y, at_a * at_b / (at_b + y)

    def _run(self, way: Sequence[Value], prec: int = PRECISION) -> list[Value]:
        """The values of all nodes close to the point, in a direction."""
        return self.tape.run(self._inputs(way), prec, self.fixed)

    def _start(self, number: int) -> tuple[list[Value], list[Value]]:
        """One of the directions in which a change of sign is searched for, and all values there."""
        while number >= len(self._starts):
            signs = ((self._ways.choice((-1, 1)), self._ways.uniform(0.5, 1)) for _ in self._moving)
            way = [arb(s * c) for s, c in signs]
            prec = min(PRECISION, SIGN + 8 * self._near)
            self._starts.append((way, self._run(way, prec)))
        ctx.prec = PRECISION
        return self._starts[number]

    def _at(self, path: Path, root: int, keep_jumps: bool, depth: int) -> Value:
        """The value of a node at t = 2**-depth on a path, to many digits."""
        key = path, depth, keep_jumps
        prec, v, known = self._met.get(key, (0, [], {}))
        while True:
            if v:
                y = v[root]
                if y.is_finite():
                    if y.rel_accuracy_bits() > AGREE + 20 or vanished(y):
                        return y
                elif (reason := self.tape.trouble(root, v, known)) != "undecided":
                    raise Stopped("domain" if reason == "domain" else "open")
            prec = 2 * prec or 3 * depth + 256
            if prec > MAX_PRECISION or work.spent() > self.until:
                raise Stopped("open")
            ctx.prec = prec
            inputs = [
                arb(x) + arb(c) * step(depth, e) if c else arb(x)
                for x, (c, e) in zip(self.point, path, strict=True)
            ]
            v = self.tape.run(inputs, prec, self.fixed, self._keep if keep_jumps else None)
            if self._is_outside(v):
                raise Stopped("domain")
            known = {}
            self._met[key] = prec, v, known

    def _is_outside(self, v: Sequence[Value]) -> bool:
        """Whether something that must be defined near the point is undefined."""
        asked = {self.tape.index[a] for i in self.asked for a in self.tape.nodes[i].args}
        return any(self.tape.trouble(i, v) == "domain" for i in asked)

    def _keep(self, i: int, value: Value) -> Value:
        """The value at the point, where an operation jumps away from it."""
        at_point = self.values[i]
        if isinstance(at_point, bool) or at_point is None or not at_point.is_finite():
            return value
        jumped = abs(value - at_point) > arb(2) ** -32 * (1 + abs(at_point))
        return at_point if jumped else value


def _meet(a: Value, b: Value) -> bool:
    """Whether two values are surely equal."""
    return isinstance(a, arb) and isinstance(b, arb) and (a - b).is_zero()


def _instead(d: int, value: Value, i: int, computed: Value) -> Value:
    """The computed value of a node, or another in its place."""
    return value if i == d else computed


def tendency(at: Callable[[int], Value], k: int) -> Limit:
    """The limit of values at t = 2**-k as k grows, from a few of them."""
    far = k * 4 // 3
    a, b = at(k), at(far)
    if vanished(a) and vanished(b):
        grows = a != 0 and b != 0 and size(b) - size(a) >= 16  # to a pole, though not yet large
        return Limit("none") if grows else Limit("finite", arb(0))
    if close(a, b):
        if a != b and abs(at(far * 4 // 3) - b) > abs(
            b - a
        ):  # as a logarithm next to a large number
            return _growth(at, k)
        return Limit("finite", b)
    drop = VANISHED if vanished(b) else size(a) - size(b)
    if drop >= 16:
        if vanished(b):
            return Limit("finite", arb(0))
        deep = far + (VANISHED + 50 + size(b)) * (far - k) // drop
        c = at(max(deep, far + 1))
        if vanished(c):
            return Limit("finite", arb(0))
        d = at(max(deep, far + 1) * 4 // 3)
        return Limit("finite", d) if close(c, d) else Limit("none")
    if drop <= -16:
        if a.sgn() == b.sgn() and size(b) > 64:
            beyond = at(far * 4 // 3), at(2 * far)  # a wave has other signs there, or is small
            if all(v.sgn() == b.sgn() and size(v) > 64 for v in beyond):
                return Limit("infinite", 1 if b > 0 else -1)
        return Limit("none")
    if (grown := _growth(at, k)).kind == "infinite":
        return grown
    a, b, c, d = (at(j * k) for j in range(1, 5))
    if abs(d - c) < abs(c - b) < abs(b - a):
        before, after = _without_power(a, b, c), _without_power(b, c, d)
        if close(before, after):
            return Limit("finite", after)
        none = abs(a) * arb(2) ** -AGREE
        if abs(before) < none and abs(after) < none:
            return Limit("finite", arb(0))
    return _extrapolated(at, k)


def _without_power(a: Value, b: Value, c: Value) -> Value:
    """The limit of values whose distance from it is a power of t, at depths in equal steps (Aitken,
    1926)."""
    bend = (c - b) - (b - a)
    return c if bend.contains(0) else c - (c - b) ** 2 / bend


def _growth(at: Callable[[int], Value], k: int) -> Limit:
    """Whether values at doubling depths grow as a power of 1/t, or of log t. Growing differences
    may turn, as for sin(log t), or end, as for t**0.0001, which is 1 + 0.0001*log t for long."""
    a, b, c = at(k), at(2 * k), at(4 * k)
    first, second = b - a, c - b
    if first.sgn() != second.sgn() or not abs(second) > arb(1.4) * abs(first):
        return Limit("none")
    d = at(8 * k)
    third, sign = d - c, 1 if first > 0 else -1
    if third.sgn() != first.sgn():
        return Limit("none")
    towards = d.sgn() == sign
    if towards and size(d) - max(size(c), 0) > 2 * k and size(c) >= size(b):
        return Limit("infinite", sign)
    distance = abs(third * first / second**2 - 1)
    far = towards and a.sgn() == sign and abs(d) > 2 * abs(a)
    return Limit("infinite", sign) if distance < (arb(0.1) if far else STEADY) else Limit("none")


def _extrapolated(at: Callable[[int], Value], k: int) -> Limit:
    """The limit of a function of log t, a power series in 1/k (Richardson, 1911)."""
    rows: list[Value] = []
    for i in range(1, NODES + 1):
        rows.append(at(i * k))
        for j in range(i - 2, -1, -1):  # Neville's scheme for the value at 1/k = 0
            rows[j] = ((j + 1) * rows[j] - i * rows[j + 1]) / (j + 1 - i)
        if i == NODES - 1:
            before = rows[0]
    if close(before, rows[0]):
        return Limit("finite", rows[0])
    scale = abs(at(k)) * arb(2) ** -AGREE
    if abs(before) < scale and abs(rows[0]) < scale:
        return Limit("finite", arb(0))
    return Limit("none")


def _join(met: Iterable[Limit]) -> Limit:
    """One limit from the limits on all paths."""
    inside = [m for m in met if m.kind != "domain"]
    if not inside:
        return Limit("domain")
    kinds = {m.kind for m in inside}
    for kind in ("open", "none"):
        if kind in kinds:
            return Limit(kind)
    if len(kinds) > 1:
        return Limit("none")
    first = inside[0]
    if first.kind == "infinite":
        return first if len({m.value for m in inside}) == 1 else Limit("none")
    if all(close(m.value, first.value) for m in inside):
        return min(inside, key=lambda m: size(m.value.rad()))
    return Limit("kink")


def close(a: Value, b: Value) -> bool:
    """Whether two numbers agree to `AGREE` bits."""
    if a.is_zero() and b.is_zero():
        return True
    return bool(abs(a - b) <= abs(b) * arb(2) ** -AGREE)


def vanished(y: Value) -> bool:
    return bool(y.abs_upper() < arb(2) ** -VANISHED)


def size(y: Value) -> int:
    """The binary exponent of a number; that of a vanished one is low."""
    mantissa, exponent = y.mid().man_exp()
    bits = int(abs(mantissa)).bit_length()
    return bits + int(exponent) if bits else -100 * VANISHED
