"""Series in a band around a point, instead of a closed form that loses digits there.

Before:  the second derivative of (1 - cos(t))/t**2
After:   where(abs(t) < 1.1, -1/12 + t**2*(1/120 - ...), its closed form)

Requires: the coefficients of the expansion, and the closed form.
Ensures: inside the band the polynomial is within 2**-(bits+2) of the series,
and its rounding error within `POLYNOMIAL_ERROR` units of the last place; the
band reaches as far as the closed form is in doubt, unless the polynomial
would need more than `MAX_TERMS` terms.

Truncation is estimated from the coefficients that follow, rounding by running
error analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
section 5.1); where the closed form is in doubt, `passes.doubt` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx, fmpq

from symdiff import ir
from symdiff.interpret.tape import Tape
from symdiff.ir import Expr
from symdiff.passes.doubt import doubt, is_exact
from symdiff.series.numbers import Coefficient, Undecided, is_zero, to_ball, to_fraction

MAX_TERMS = 18
EXTRA_TERMS = 8
"""Coefficients beyond the polynomial from which its truncation is estimated."""
POLYNOMIAL_ERROR = 3.5
CLOSED_ERROR = 10
FINENESS = 4
"""Radii are compared at this many steps per power of two."""
LARGEST, SMALLEST = 12 * FINENESS, -64 * FINENESS
CONSTANT_BITS = 256


@dataclass(frozen=True, slots=True)
class Band:
    """abs(t - point) < radius, where `polynomial(h)` in h = t - point is used."""

    point: Fraction
    radius: Fraction
    coefficients: tuple[Fraction, ...]
    lead: int
    step: int

    def polynomial(self, h: Expr) -> Expr:
        """h**lead * sum_j coefficients[j]*h**(j*step), by Horner's rule."""
        z = h if self.step == 1 else ir.power(h, self.step)
        total = ir.const(self.coefficients[-1])
        for c in reversed(self.coefficients[:-1]):
            total = ir.const(c) + z * total
        return ir.power(h, self.lead) * total

    def around(self, t: Expr, closed: Expr) -> Expr:
        """The polynomial inside of the band, the closed form outside."""
        h = t - ir.const(self.point)
        inside = ir.lt(ir.abs_(h), ir.const(self.radius))
        return ir.where(inside, self.polynomial(h), closed)


def band(
    coefficient: Callable[[int], Coefficient], closed: Expr, t: Expr, point: Fraction, side: int, bits: int
) -> Band:
    """The band around a point for one order of derivative.

    Parameters
    ----------
    coefficient : k -> the coefficient of (t - point)**k.
    closed : the closed form, in the variable t.
    side : 1 or -1 if it is defined on that side of the point only, else 0.
    bits : digits of the arithmetic that it is for.
    """
    lead, step, series = _terms(coefficient)
    if not series:
        return Band(point, Fraction(1, 2**20), (Fraction(0),), 0, 1)
    sizes = [float(to_ball(c)) for c in series]
    needed = _needed(closed, t, point, side, _reach(series, sizes, lead, step, MAX_TERMS, bits))
    for n in range(2, MAX_TERMS + 1):
        reach = _reach(series, sizes, lead, step, n, bits)
        if reach >= needed:
            break
    exact = tuple(_rounded(c) for c in series[:n])
    while len(exact) > 1 and exact[-1] == 0:
        exact = exact[:-1]
    return Band(point, _radius(reach), exact, lead, step)


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


def _rounded(c: Coefficient) -> Fraction:
    """A coefficient as a rational number of reasonable length."""
    if isinstance(c, fmpq) and int(c.p).bit_length() + int(c.q).bit_length() <= CONSTANT_BITS:
        return to_fraction(c)
    exact = to_fraction(c)
    shift = CONSTANT_BITS // 2 - exact.numerator.bit_length() + exact.denominator.bit_length()
    scale = Fraction(2) ** shift
    return Fraction(round(exact * scale)) / scale


def _radius(i: int) -> Fraction:
    """The radius of index i, rounded down to a short number."""
    size = 2.0 ** (i / FINENESS)
    unit = 2.0 ** (math.floor(math.log2(size)) - 5)
    return Fraction(math.floor(size / unit)) * Fraction(unit)


def _reach(
    series: Sequence[Coefficient], sizes: Sequence[float], lead: int, step: int, n: int, bits: int
) -> int:
    """The index of the largest radius at which n terms do."""
    rounded = [not isinstance(c, fmpq) or not is_exact(to_fraction(c)) for c in series[:n]]
    low, high = SMALLEST, LARGEST
    while low < high:
        middle = (low + high + 1) // 2
        r = 2.0 ** (middle / FINENESS)
        if _suffices(sizes, rounded, lead, step, n, r, bits):
            low = middle
        else:
            high = middle - 1
    return low


def _suffices(
    sizes: Sequence[float], rounded: Sequence[bool], lead: int, step: int, n: int, r: float, bits: int
) -> bool:
    """Whether n terms are accurate at distance r."""
    z = r**step
    rest = [abs(c) * z**j for j, c in enumerate(sizes)][n:]
    ratio = _growth(sizes) * z
    if ratio > 0.95 or sum(rest) + rest[-1] * ratio / (1 - ratio) > abs(sizes[0]) * 2.0 ** -(bits + 2):
        return False
    signs = (1.0, -1.0) if step == 1 else (1.0,)
    return all(
        _running_error(sizes[:n], rounded, s * z, step) + lead <= POLYNOMIAL_ERROR for s in signs
    )


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


def _needed(closed: Expr, t: Expr, point: Fraction, side: int, reach: int) -> int:
    """The index of the radius beyond which the closed form is not in doubt, at
    most `reach`."""
    tape = Tape([t], [doubt((closed,), CLOSED_ERROR)])

    def trusted(i: int) -> bool:
        h = _radius(i)
        for s in (side,) if side else (1, -1):
            x = point + s * h
            condition = tape.run([arb(fmpq(x.numerator, x.denominator))], ctx.prec)[tape.roots[0]]
            if condition is not False:
                return False
        return True

    if not trusted(reach):
        return reach
    low, high = SMALLEST // 2, reach
    while low < high:
        middle = (low + high) // 2
        if trusted(middle):
            high = middle
        else:
            low = middle + 1
    return low


__all__ = ["Band", "band"]
