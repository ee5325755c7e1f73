"""The error function and its complement with their rounding errors.

Before:  erf(x)
After:   v, the double next to it or nearly, and e with v + e = erf(x) to 2**-63

Requires: an argument where `lowering.compensated.functions` says that it may be.
Ensures: what stands there; if `light`, to fewer bits in fewer operations.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff.ir import ONE, ZERO, Expr, const
from symdiff.lowering.compensated.exponentials import exp
from symdiff.lowering.compensated.unnormalised import (
    Unnormalised,
    ordered,
    polynomial,
    product,
    quotient,
    signed,
    square,
    total,
)
from symdiff.lowering.double_double.arithmetic import (
    Pair,
    below,
    expansion,
    fast_two_sum,
    fma,
    minus,
    minus_of,
    pick,
    select,
    size,
    times,
)
from symdiff.lowering.double_double.functions import (
    ERF_NEAR,
    erf_series,
    erfcx_polynomial,
    two_over_root_pi,
)

ERF_REACH = Fraction(13, 2)
"""Beyond this, erf is 1 up to 2**-64."""
_ERF_TERMS, _ERFCX_TERMS = 23, 20
_MIDDLE = Fraction(11, 4)


def _near(x: Expr, full: int) -> Pair:
    """erf for |x| < `ERF_NEAR`."""
    scale = Pair(*expansion(two_over_root_pi(), 2))
    terms = polynomial(square(x), erf_series(_ERF_TERMS), full)
    return product(Pair(x, ZERO), product(scale, terms))


def _density(x: Expr, light: bool) -> Pair:
    """exp(-x**2)."""
    squared = square(x)
    gauss = exp(minus_of(squared.hi), light)
    return Pair(gauss.value, fma(minus_of(squared.lo), gauss.value, gauss.error))


def _beyond(far: Expr, density: Pair, full: int) -> Pair:
    """1 - erf for x from `ERF_NEAR` to `ERF_REACH`."""
    middle = const(_MIDDLE)
    t = quotient(Pair(minus(far, middle), ZERO), total(Pair(far, ZERO), Pair(middle, ZERO)))
    scaled = polynomial(t, erfcx_polynomial(_MIDDLE, ERF_REACH, _ERFCX_TERMS), full)
    return product(density, scaled)


def _parts(x: Expr, light: bool, full: tuple[int, int]) -> tuple[Expr, Pair, Pair, Pair]:
    """Whether x is near 0; erf there, 1 - erf elsewhere, in so many steps with their errors; exp(-x**2)."""
    small = below(size(x), const(ERF_NEAR))
    reach = const(ERF_REACH)
    far = pick(below(reach, size(x)), reach, size(x))
    density = _density(far, light)
    near = _near(pick(small, x, ONE), full[0])
    return small, near, _beyond(far, density, full[1]), density


def erf(x: Expr, light: bool) -> Unnormalised:
    small, near, rest, density = _parts(x, light, (3, 3) if light else (6, 6))
    s = fast_two_sum(ONE, minus_of(rest.hi))
    large = signed(below(x, ZERO), Pair(s.hi, minus(s.lo, rest.lo)))
    whole = ordered(select(small, near, large))
    return Unnormalised(whole.hi, whole.lo, times(const(two_over_root_pi()), density.hi))


def erfc(x: Expr, light: bool) -> Unnormalised:
    small, near, rest, density = _parts(x, light, (5, 4) if light else (8, 8))
    s = fast_two_sum(ONE, minus_of(near.hi))
    close = Pair(s.hi, minus(s.lo, near.lo))
    s = fast_two_sum(const(2), minus_of(rest.hi))
    left = Pair(s.hi, minus(s.lo, rest.lo))
    whole = ordered(select(small, close, select(below(x, ZERO), left, rest)))
    return Unnormalised(whole.hi, whole.lo, times(const(-two_over_root_pi()), density.hi))
