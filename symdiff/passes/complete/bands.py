"""Series in a band around a point, instead of a closed form that loses digits there.

Before:  the second derivative of (1 - cos(t))/t**2
After:   where(abs(t) < 1, -1/12 + t**2*(1/120 - ...), its closed form)

Requires: the coefficients of the expansion, and the closed form.
Ensures: inside the band the polynomial is within 2**-(bits+FURTHER) of the function, so
that it is accurate beyond that arithmetic if it is computed with its rounding errors; without them
its error is within `SERIES_ERROR` units of roundoff; at the point it is the limit, rounded once.
The band covers all points where the closed form is flagged, if `MAX_TERMS` terms suffice for that.

Polynomials are Taylor polynomials with as few terms as needed: their truncation
error is estimated from the next coefficients. Where the nearest singularity limits
them, they interpolate the closed form, evaluated in balls, at Chebyshev
points. Rounding is bounded by running error analysis (Higham, Accuracy and
Stability of Numerical Algorithms, 2002, section 5.1); `passes.accuracy.error_test`
decides where the closed form is flagged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, arb_poly, ctx, fmpq

from symdiff import ir
from symdiff.interpret.balls import Undecided
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr
from symdiff.passes.accuracy.bounds import is_exact
from symdiff.passes.accuracy.error_test import flagged_where
from symdiff.passes.analysis.band_extent import FURTHER
from symdiff.series.coefficients import Coefficient, is_zero, to_ball, to_fraction

MAX_TERMS = 22
EXTRA_TERMS = 8
"""Coefficients beyond the polynomial from which its truncation is estimated."""
WIDER = (7, 4, 2)
"""Steps in the radius by which interpolation may widen a band."""
SERIES_ERROR = 8.0
CLOSED_ERROR = 8
FINENESS = 4
"""Radii are compared at this many steps per power of two."""
LARGEST, SMALLEST, ZERO = 12 * FINENESS, -64 * FINENESS, -20 * FINENESS
"""Radii of bands: the largest, the smallest, and the largest for a function that is 0 near the
point."""
CONSTANT_BITS = 256
SAMPLED = tuple(Fraction(k, 16) for k in (16, 15, 13, 10, 6, 2))
"""Parts of the radius at which a polynomial is compared with the closed form."""
PIECES = 24
"""Intervals inside a radius, each half the last, on which edges must have a sign."""
CLOSEST, CLOSE, AT_ONCE, LOOKED_AT = -1000, -64, 12, (-997, -601, -301, -65)
"""Kinks are searched for up to 2**CLOSEST from the point; up to 2**CLOSE only those that have no
sign on all of what is nearer, in as many octaves at once as they have one in."""


@dataclass(frozen=True, slots=True)
class Band:
    """abs(t - point) < radius, where `series(h)` in h = t - point is used.

    With z = h**step it is h**lead * sum_j coefficients[j]*z**j; `left` holds the coefficients for
    h < 0, if they differ.
    """

    point: Fraction
    radius: Fraction
    coefficients: tuple[Fraction, ...]
    lead: int = 0
    step: int = 1
    left: Band | None = None

    def series(self, h: Expr) -> Expr:
        """The polynomial, by Horner's rule."""
        z = h if self.step == 1 else ir.power(h, self.step)
        total = ir.const(self.coefficients[-1])
        for c in reversed(self.coefficients[:-1]):
            total = ir.const(c) + z * total
        total = ir.power(h, self.lead) * total
        return total if self.left is None else ir.where(ir.lt(h, 0), self.left.series(h), total)

    def around(self, t: Expr, closed: Expr) -> Expr:
        """The series inside of the band, the closed form outside."""
        h = t - ir.const(self.point)
        return ir.where(ir.lt(ir.abs_(h), ir.const(self.radius)), self.series(h), closed)


def band(coefficient: Callable[[int], Coefficient], form: Closed, bits: int) -> Band:
    """The band around a point for one derivative.

    Parameters
    ----------
    coefficient : k -> the coefficient of (t - point)**k.
    form : the closed form near the point.
    bits : digits of the arithmetic that the band is for.
    """
    point = form.point
    lead, step, series = _terms(coefficient)
    limit = form.smooth()
    if not series:
        return Band(point, _radius(min(limit, ZERO)), (Fraction(0),))
    sizes = [float(to_ball(c)) for c in series]
    rounded = [_is_rounded(c) for c in series]

    def reach(n: int) -> int:
        return min(limit, _bisect(lambda r: _suffices(sizes, rounded, lead, step, n, r, bits)))

    most = reach(MAX_TERMS)
    if form.trusted(most):
        needed = form.needed(most)
        n = next(n for n in range(2, MAX_TERMS + 1) if reach(n) >= needed)
        return form.confirmed(_trimmed(series[:n]), reach(n), lead, step, bits)
    for wider in WIDER if most < limit else ():
        found = _interpolated(series[0], form, lead, step, most + wider, bits)
        i = min(most + wider, limit)
        if found is not None and form.agrees(found, i, lead, step, bits):
            return Band(point, _radius(i), found, lead, step)
    return form.confirmed(_trimmed(series[:MAX_TERMS]), most, lead, step, bits)


# ------------------------------------------------------------------- coefficients
def _terms(coefficient: Callable[[int], Coefficient]) -> tuple[int, int, list[Coefficient]]:
    """(exponent of the leading term, step between exponents, coefficients)."""
    count = MAX_TERMS + EXTRA_TERMS
    found = [coefficient(k) for k in range(count)]
    zero = [_vanishes(c) for c in found]
    if all(zero):
        return 0, 1, []
    lead = zero.index(False)
    if all(zero[lead + 1 :: 2]):
        series = [coefficient(lead + 2 * j) for j in range(count)]
        return lead, 2, series
    return lead, 1, [coefficient(lead + j) for j in range(count)]


def _vanishes(c: Coefficient) -> bool:
    try:
        return is_zero(c)
    except Undecided:
        return bool(abs(to_ball(c)) < arb(2) ** (-ctx.prec // 2))


def _trimmed(coefficients: Sequence[Coefficient]) -> tuple[Fraction, ...]:
    """Rational coefficients of reasonable length, without zeros at the end."""
    exact = [_shortened(c) for c in coefficients]
    while len(exact) > 1 and exact[-1] == 0:
        exact.pop()
    return tuple(exact)


def _shortened(c: Coefficient) -> Fraction:
    exact = to_fraction(c)
    n, d = exact.numerator.bit_length(), exact.denominator.bit_length()
    if n + d <= CONSTANT_BITS:
        return exact
    scale = Fraction(2) ** (CONSTANT_BITS // 2 - n + d)
    return Fraction(round(exact * scale)) / scale


def _is_rounded(c: Coefficient) -> bool:
    """Whether a coefficient is not a double."""
    return not isinstance(c, fmpq) or not is_exact(to_fraction(c))


# -------------------------------------------------------------------------- radii
def _radius(i: int) -> Fraction:
    """The radius of index i, rounded down to a short number."""
    size = 2.0 ** (i / FINENESS)
    unit = 2.0 ** (math.floor(math.log2(size)) - 5)
    return Fraction(math.floor(size / unit)) * Fraction(unit)


def _bisect(works: Callable[[float], bool]) -> int:
    """The index of the largest radius that works, if all smaller ones do."""
    low, high = SMALLEST, LARGEST
    while low < high:
        middle = (low + high + 1) // 2
        if works(2.0 ** (middle / FINENESS)):
            low = middle
        else:
            high = middle - 1
    return low


def _suffices(
    sizes: Sequence[float],
    rounded: Sequence[bool],
    lead: int,
    step: int,
    n: int,
    r: float,
    bits: int,
) -> bool:
    """Whether n terms are accurate at distance r."""
    z = r**step
    rest = [abs(c) * z**j for j, c in enumerate(sizes)][n:]
    ratio = _growth(sizes) * z
    if ratio > 0.95 or sum(rest) + rest[-1] * ratio / (1 - ratio) > abs(sizes[0]) * 2.0 ** -(
        bits + FURTHER + 1
    ):
        return False
    return all(
        _running_error(sizes[:n], rounded[:n], s * z, step) + lead <= SERIES_ERROR
        for s in _signs(step)
    )


def _signs(step: int) -> tuple[float, ...]:
    return (1.0, -1.0) if step == 1 else (1.0,)


def _growth(sizes: Sequence[float]) -> float:
    """One over the radius of convergence in z, from the later coefficients."""
    later = range(len(sizes) // 2, len(sizes))
    return max(
        ((abs(sizes[j]) / abs(sizes[0])) ** (1 / j) for j in later if sizes[j] != 0), default=0.0
    )


def _running_error(
    coefficients: Sequence[float], rounded: Sequence[bool], z: float, step: int
) -> float:
    """A bound on the error of Horner's rule, in units of the result."""
    value = coefficients[-1]
    error = abs(value) if rounded[-1] else 0.0
    for c, inexact in zip(reversed(coefficients[:-1]), list(rounded)[-2::-1], strict=True):
        product = z * value
        error = abs(z) * error + abs(product) * step
        value = c + product
        error += abs(value) + (abs(c) if inexact else 0.0)
    return error / abs(value) if value else math.inf


# ------------------------------------------------------------------ interpolation
def _interpolated(
    first: Coefficient, form: Closed, lead: int, step: int, i: int, bits: int
) -> tuple[Fraction, ...] | None:
    """A polynomial with the right value at the point, accurate up to the radius of
    index i; None if there is none."""
    r = float(_radius(i))
    interval = (r**step if form.side >= 0 else 0.0, -r if form.side <= 0 and step == 1 else 0.0)
    n = MAX_TERMS
    nodes = [_between(interval, math.cos(math.pi * (j + 0.5) / n)) for j in range(n)]
    start = to_ball(first)
    known: dict[Fraction, arb] = {}

    def true(z: Fraction) -> arb:
        """The function divided by h**lead."""
        if z not in known:
            h = z if step == 1 else Fraction(math.sqrt(z))
            known[z] = form.value(h) / _ball(h) ** lead
        return known[z]

    if step == 2:
        nodes = [Fraction(math.sqrt(z)) ** 2 for z in nodes]
    heights = [(true(z) - start) / _ball(z) for z in nodes]
    if not all(y.is_finite() for y in heights):
        return None
    tail = arb_poly.interpolate([_ball(z) for z in nodes], heights).coeffs()
    reached, least = r**step, abs(start).mid() * arb(2) ** -(bits + 10)
    exact = _trimmed(
        [first, *(c if abs(c) * reached**j > least else fmpq(0) for j, c in enumerate(tail, 1))]
    )
    rounded = [not is_exact(q) for q in exact]
    if any(abs(q) >= 2**1023 for q in exact):
        return None
    sizes = [float(q) for q in exact]
    for end in interval:
        if end and _running_error(sizes, rounded, end, step) + lead > SERIES_ERROR:
            return None
    return exact


def _between(interval: tuple[float, float], c: float) -> Fraction:
    """The point of an interval at -1 <= c <= 1."""
    high, low = interval
    return Fraction((high + low) / 2 + (high - low) / 2 * c)


def _ball(q: Fraction) -> arb:
    return arb(fmpq(q.numerator, q.denominator))


def _octaves(k: int, count: int) -> arb:
    """From 2**k to 2**(k + count)."""
    low, high = arb(2) ** k, arb(2) ** (k + count)
    return arb((low + high) / 2, (high - low) / 2)


def _value(coefficients: Sequence[Fraction], z: arb) -> arb:
    total = arb(0)
    for q in reversed(coefficients):
        total = total * z + _ball(q)
    return total


# -------------------------------------------------------------------- closed forms
class Closed:
    """A closed form near a point: its values, and where it is flagged.

    Parameters
    ----------
    closed : what will be evaluated, in the variable t.
    plain : the same in terms of no lower derivatives.
    whole : the same without any completed functions.
    point, side : where; 1 or -1 if it is defined on that side only, else 0.
    """

    def __init__(
        self, closed: Expr, plain: Expr, whole: Expr, t: Expr, point: Fraction, side: int
    ) -> None:
        self.point, self.side = point, side
        self.plain = Tape([t], [plain])
        self.flag = Tape([t], [flagged_where((closed,), CLOSED_ERROR)])
        self.t, self.edges = t, Tape([t], list(edges(whole)))

    def confirmed(
        self, coefficients: tuple[Fraction, ...], i: int, lead: int, step: int, bits: int
    ) -> Band:
        """The band of the largest radius up to that of index i that `agrees`."""
        while i > SMALLEST and not self.agrees(coefficients, i, lead, step, bits):
            i -= FINENESS // 2
        return Band(self.point, _radius(i), coefficients, lead, step)

    def agrees(
        self, coefficients: tuple[Fraction, ...], i: int, lead: int, step: int, bits: int
    ) -> bool:
        """Whether the polynomial is the function up to the radius of index i, as far
        as samples tell."""
        tolerance = arb(2) ** -(bits + FURTHER)
        for part in SAMPLED:
            for h in self.offsets(part * _radius(i)):
                x, true = _ball(h), self.value(h)
                got = x**lead * _value(coefficients, x**step)
                if not abs(got - true) <= tolerance * abs(true):
                    return False
        return True

    def smooth(self) -> int:
        """The index of the radius within which nothing jumps or has a kink, and no
        branch changes, except at the point."""
        if not self.edges.nodes:
            return LARGEST
        return min(self._smooth_towards(int(h)) for h in self.offsets(Fraction(1)))

    def _smooth_towards(self, side: int) -> int:
        """The same on one side, from the point outwards. Edges that cancel too much to have a
        sign count only next to the radius: nearer to the point they may have no sign at all."""
        unknown: set[int] = set()
        most = LARGEST // FINENESS
        inside = arb(0.5, 0.5) * arb(2) ** CLOSE
        near = {e: s for e, s in self._signs(self.edges, side * inside).items() if s}
        open_ = [e for i in self.edges.roots if (e := self.edges.nodes[i]) not in near]
        low = Tape([self.t], open_)
        seen = [self._signs(low, side * _octaves(k, 1)) for k in LOOKED_AT if open_]
        few = Tape([self.t], [e for e in open_ if any(signs[e] for signs in seen)])
        if len(few.roots) < len(open_):  # some have no sign in any of these octaves
            unknown.update(range(CLOSEST, CLOSE))
        for k, signs in self._scanned(few, side, most):
            if any(sign * near.get(e, 0) < 0 for e, sign in signs.items()):
                most = k
                break
            if 0 in signs.values():
                unknown.add(k)
            near.update((e, sign) for e, sign in signs.items() if sign)
        while most > CLOSEST and not unknown.isdisjoint(range(most - PIECES, most)):
            most -= 1
        return most * FINENESS

    def _scanned(self, few: Tape, side: int, most: int) -> Iterator[tuple[int, dict[Expr, int]]]:
        """Pairs of k and the signs from 2**k to 2**(k+1) away from the point, outwards: for `few`
        edges up to 2**CLOSE, many octaves at a time where possible, and then for all."""
        for start in range(CLOSEST, CLOSE, AT_ONCE) if few.nodes else ():
            signs = self._signs(few, side * _octaves(start, AT_ONCE))
            if 0 not in signs.values():
                yield start, signs
                continue
            for k in range(start, min(start + AT_ONCE, CLOSE)):
                yield k, self._signs(few, side * _octaves(k, 1))
        for k in range(CLOSE, most):
            yield k, self._signs(self.edges, side * _octaves(k, 1))

    def _signs(self, edges: Tape, h: arb) -> dict[Expr, int]:
        """The signs of edges at that distance from the point; 0 if open."""
        values = edges.run([_ball(self.point) + h], ctx.prec)
        return {
            edges.nodes[i]: 1 if values[i] > 0 else -1 if values[i] < 0 else 0 for i in edges.roots
        }

    def _run(self, tape: Tape, h: Fraction) -> arb | bool | None:
        return tape.run([_ball(self.point + h)], ctx.prec)[tape.roots[0]]

    def value(self, h: Fraction) -> arb:
        """The value at point + h."""
        return self._run(self.plain, h)

    def offsets(self, r: Fraction) -> list[Fraction]:
        """The offsets to sample at distance r."""
        return [s * r for s in ((self.side,) if self.side else (1, -1))]

    def trusted(self, i: int) -> bool:
        """Whether the closed form is accurate at the radius of index i."""
        return all(self._run(self.flag, h) is False for h in self.offsets(_radius(i)))

    def needed(self, reach: int) -> int:
        """The index of the radius beyond which it is accurate, if it is accurate at `reach`."""
        low, high = min(SMALLEST // 2, reach), reach
        while low < high:
            middle = (low + high) // 2
            if self.trusted(middle):
                high = middle
            else:
                low = middle + 1
        return low


def edges(e: Expr) -> Iterator[Expr]:
    """Quantities that vanish where a branch changes or a function jumps or has a kink."""
    for n in ir.topological((e,)):
        if n.op in ir.COMPARISONS:
            yield n.args[0] - n.args[1]
        elif n.op.kink is not None:
            yield n.op.kink(*n.args)
