"""Trigonometric functions and their inverses with their rounding errors.

Before:  sin(x)
After:   v, the double next to it or nearly, and e with v + e = sin(x) to 2**-63

Requires: an argument where `lowering.compensated.functions` says that it may be.
Ensures: what stands there; if `light`, to fewer bits in fewer operations.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff.ir import HALF, ONE, POW, ZERO, Expr, const, raw
from symdiff.ir import functions as f
from symdiff.lowering.compensated.unnormalised import (
    Unnormalised,
    ordered,
    polynomial,
    product,
    quotient,
    short,
    signed,
)
from symdiff.lowering.double_double.arithmetic import (
    Pair,
    below,
    expansion,
    fast_two_sum,
    fma,
    minus,
    minus_of,
    nearest_integer,
    over,
    plus,
    select,
    times,
    two_sum,
)
from symdiff.lowering.double_double.functions import factorials, named
from symdiff.lowering.target import nearest

LARGEST_ANGLE = 2**16
_SINE_TERMS, _COSINE_TERMS = 10, 11


def _turns(x: Expr) -> tuple[Expr, Pair]:
    """n and x - n*pi/2."""
    half = named(f.PI) / 2
    n = nearest_integer(times(x, const(Fraction(nearest(1 / half)))))
    head, (middle, low) = short(half, 36)
    rest = fma(minus_of(n), const(head), x)
    off = times(n, middle)
    lost = fma(n, middle, minus_of(off))
    s = two_sum(rest, minus_of(off))
    r = fast_two_sum(s.hi, minus(s.lo, fma(n, low, lost)))
    return n, r


def _small_sin_cos(r: Pair, light: bool) -> tuple[Pair, Pair]:
    """Sine and cosine for |r| <= 0.79."""
    square = times(r.hi, r.hi)
    lost = fma(r.hi, r.hi, minus_of(square))
    if light:
        sine = _light_sine(r, square, lost)
        return sine, _light_cosine(r, sine.hi, square, lost)
    z = Pair(square, fma(plus(r.hi, r.hi), r.lo, lost))
    bent = polynomial(z, factorials(3, 2, _SINE_TERMS - 1, -1), 2)
    bent = Pair(minus_of(bent.hi), minus_of(bent.lo))
    change = product(r, product(z, bent))
    s = fast_two_sum(r.hi, change.hi)
    sine = Pair(s.hi, plus(s.lo, plus(r.lo, change.lo)))
    return sine, polynomial(z, factorials(0, 2, _COSINE_TERMS, -1), 3)


def _light_sine(r: Pair, square: Expr, lost: Expr) -> Pair:
    """r - r**3/6 with the errors of both, and the rest without."""
    sixth = expansion(Fraction(-1, 6), 2)
    tail = polynomial(Pair(square, ZERO), factorials(5, 2, _SINE_TERMS - 2, -1), 0).hi
    cubed = times(r.hi, square)
    off = fma(r.hi, lost, fma(r.hi, square, minus_of(cubed)))
    bent = times(cubed, sixth[0])
    low = fma(cubed, sixth[0], minus_of(bent))
    low = fma(cubed, sixth[1], fma(off, sixth[0], low))
    s = fast_two_sum(r.hi, bent)
    low = plus(low, fma(minus_of(times(square, HALF)), r.lo, r.lo))
    return ordered(Pair(s.hi, fma(times(cubed, square), tail, plus(s.lo, low))))


def _light_cosine(r: Pair, sine: Expr, square: Expr, lost: Expr) -> Pair:
    """1 - r**2/2 with the errors of both, and the rest without."""
    tail = polynomial(Pair(square, ZERO), factorials(4, 2, _COSINE_TERMS - 2, -1), 0).hi
    s = fast_two_sum(ONE, times(square, const(Fraction(-1, 2))))
    low = fma(minus_of(sine), r.lo, fma(lost, const(Fraction(-1, 2)), s.lo))
    return ordered(Pair(s.hi, fma(times(square, square), tail, low)))


def sin_cos(x: Expr, light: bool) -> tuple[Pair, Pair]:
    n, r = _turns(x)
    sine, cosine = _small_sin_cos(r, light)
    odd = _is_odd(n)
    s, c = select(odd, cosine, sine), select(odd, sine, cosine)
    half = times(n, HALF)
    down = _is_odd(raw(f.FLOOR, (half,)))
    left = _is_odd(raw(f.FLOOR, (plus(half, HALF),)))
    s, c = signed(down, s), signed(left, c)
    return (s, c) if light else (ordered(s), ordered(c))


def _is_odd(n: Expr) -> Expr:
    half = times(n, HALF)
    return below(raw(f.FLOOR, (half,)), half)


def sin(x: Expr, light: bool) -> Unnormalised:
    s, c = sin_cos(x, light)
    return Unnormalised(s.hi, s.lo, c.hi)


def cos(x: Expr, light: bool) -> Unnormalised:
    s, c = sin_cos(x, light)
    return Unnormalised(c.hi, c.lo, minus_of(s.hi))


def tan(x: Expr, light: bool) -> Unnormalised:
    t = ordered(quotient(*sin_cos(x, light)))
    return Unnormalised(t.hi, t.lo, fma(t.hi, t.hi, ONE))


def atan(x: Expr, light: bool) -> Unnormalised:
    """The library's value and one step of Newton's method."""
    y = raw(f.ATAN, (x,))
    s, c = sin_cos(y, light)
    rest = _turned(product(c, Pair(x, ZERO)), s)
    error = over(rest, fma(x, s.hi, c.hi))
    return Unnormalised(y, error, over(ONE, fma(x, x, ONE)))


def _leg(x: Expr) -> Pair:
    """sqrt(1 - x**2)."""
    inner = ordered(product(two_sum(ONE, x), two_sum(ONE, minus_of(x))))
    s = raw(POW, (inner.hi, HALF))
    return Pair(s, over(plus(fma(minus_of(s), s, inner.hi), inner.lo), plus(s, s)))


def _turned(along: Pair, across: Pair) -> Expr:
    """The difference of two products that are nearly alike."""
    return plus(minus(along.hi, across.hi), minus(along.lo, across.lo))


def asin(x: Expr, light: bool) -> Unnormalised:
    """The library's value y, and the sine of what it lacks: x*cos(y) - sqrt(1 - x**2)*sin(y)."""
    y, leg = raw(f.ASIN, (x,)), _leg(x)
    s, c = sin_cos(y, light)
    return Unnormalised(y, _turned(product(c, Pair(x, ZERO)), product(leg, s)), over(ONE, leg.hi))


def acos(x: Expr, light: bool) -> Unnormalised:
    """Likewise by sqrt(1 - x**2)*cos(y) - x*sin(y)."""
    y, leg = raw(f.ACOS, (x,)), _leg(x)
    s, c = sin_cos(y, light)
    error = _turned(product(leg, c), product(s, Pair(x, ZERO)))
    return Unnormalised(y, error, over(const(-1), leg.hi))
