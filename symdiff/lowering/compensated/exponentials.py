"""Exponentials, logarithms and hyperbolic functions with their rounding errors.

Before:  exp(x)
After:   v, the double next to it or nearly, and e with v + e = exp(x) to 2**-63

Requires: an argument where `lowering.compensated.functions` says that it may be.
Ensures: what stands there; if `light`, to fewer bits in fewer operations: only the terms of a
polynomial that are large relative to the value are computed with their errors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction

from symdiff.ir import HALF, ONE, POW, ZERO, Expr, Op, const, raw
from symdiff.ir import functions as f
from symdiff.lowering.compensated.unnormalised import (
    Unnormalised,
    ordered,
    polynomial,
    product,
    quotient,
    short,
    square,
    total,
)
from symdiff.lowering.double_double.arithmetic import (
    EXPONENT,
    POWER_OF_TWO,
    Pair,
    below,
    expansion,
    fast_two_sum,
    fma,
    minus,
    minus_of,
    nearest_integer,
    over,
    pick,
    plus,
    same,
    select,
    size,
    times,
    two_sum,
)
from symdiff.lowering.double_double.functions import factorials, named
from symdiff.lowering.target import nearest

TWO = const(2)
Builder = Callable[[Expr, bool], Unnormalised]

# ---------------------------------------------------------------------- exponentials
_EXP_TERMS, _LIGHT_EXP_TERMS = 16, 14


def _reduced_by_ln2(x: Expr) -> tuple[Expr, Pair]:
    """k and x - k*log(2), which is at most 0.35 in size."""
    k = nearest_integer(times(x, const(Fraction(nearest(1 / named(f.LN2))))))
    head, (low, _) = short(named(f.LN2), 42)
    rest = fma(minus_of(k), const(head), x)
    off = times(k, low)
    hi = minus(rest, off)
    return k, Pair(hi, minus(minus(rest, hi), off))


def _small_expm1(r: Pair, light: bool) -> Pair:
    """exp(r) - 1 for |r| <= 0.35."""
    if not light:
        return product(r, polynomial(r, factorials(1, 1, _EXP_TERMS), 4))
    squared = square(r.hi)
    tail = polynomial(Pair(r.hi, ZERO), factorials(3, 1, _LIGHT_EXP_TERMS - 2), 0).hi
    s = fast_two_sum(r.hi, times(squared.hi, HALF))
    cubed = fma(times(r.hi, squared.hi), tail, fma(r.hi, r.lo, r.lo))
    return Pair(s.hi, plus(s.lo, fma(squared.lo, HALF, cubed)))


def _one_plus(small: Pair) -> Pair:
    s = fast_two_sum(ONE, small.hi)
    return fast_two_sum(s.hi, plus(s.lo, small.lo))


def _expm1_parts(x: Expr, light: bool) -> tuple[Expr, Pair]:
    """2**k, and exp(r) - 1 of the reduced argument."""
    k, r = _reduced_by_ln2(x)
    return raw(POWER_OF_TWO, (k,)), _small_expm1(r, light)


def exp(x: Expr, light: bool) -> Unnormalised:
    power, small = _expm1_parts(x, light)
    s = _one_plus(small)
    value = times(s.hi, power)
    return Unnormalised(value, times(s.lo, power), value)


def expm1_pair(x: Expr, light: bool) -> Pair:
    power, small = _expm1_parts(x, light)
    less = two_sum(power, const(-1))
    s = two_sum(less.hi, times(power, small.hi))
    found = Pair(s.hi, plus(fma(power, small.lo, s.lo), less.lo))
    return ordered(found) if light else found


def expm1(x: Expr, light: bool) -> Unnormalised:
    found = expm1_pair(x, light)
    s = found if light else ordered(found)
    return Unnormalised(s.hi, s.lo, plus(s.hi, ONE))


def exp2(x: Expr, light: bool) -> Unnormalised:
    k = nearest_integer(x)
    ln2 = Pair(*expansion(named(f.LN2), 2))
    s = _one_plus(_small_expm1(product(Pair(minus(x, k), ZERO), ln2), light))
    power = raw(POWER_OF_TWO, (k,))
    value = times(s.hi, power)
    return Unnormalised(value, times(s.lo, power), times(value, ln2.hi))


# ------------------------------------------------------------------------ logarithms
_LOG_TERMS = 13


def _small_log1p(d: Pair, light: bool) -> Pair:
    """log(1 + d) for d from -0.3 to 0.42, by the series of the inverse hyperbolic
    tangent of d/(2 + d)."""
    below_line = two_sum(TWO, d.hi)
    s = quotient(d, Pair(below_line.hi, plus(below_line.lo, d.lo)))
    return _twice_atanh(s, light)


def _twice_atanh(s: Pair, light: bool) -> Pair:
    """2*atanh(s) for |s| up to 0.18."""
    terms = [Fraction(2, 2 * n + 1) for n in range(_LOG_TERMS)]
    squared = times(s.hi, s.hi)
    if light:
        bent = times(squared, polynomial(Pair(squared, ZERO), terms[1:], 0).hi)
        return Pair(times(TWO, s.hi), fma(s.hi, bent, times(TWO, s.lo)))
    lost = fma(s.hi, s.hi, minus_of(squared))
    z = Pair(squared, fma(plus(s.hi, s.hi), s.lo, lost))
    return product(s, polynomial(z, terms, 2))


def _split(x: Expr) -> tuple[Expr, Expr, Expr]:
    """k, 2**-k and m with x = m * 2**k and m between 0.7 and 1.42."""
    root = const(Fraction(nearest(Fraction(math.sqrt(2)))))
    k = raw(EXPONENT, (times(x, root),))
    down = raw(POWER_OF_TWO, (minus_of(k),))
    return k, down, times(x, down)


def _with_exponent(k: Expr, small: Pair) -> Pair:
    """k*log(2) + small."""
    head, (low, _) = short(named(f.LN2), 42)
    s = fast_two_sum(times(k, const(head)), small.hi)
    inner = plus(fma(k, low, s.lo), small.lo)
    zero = same(k, ZERO)
    return select(zero, small, Pair(s.hi, inner))


def _log_pair(x: Expr, light: bool) -> Pair:
    k, _, m = _split(x)
    return ordered(_with_exponent(k, _small_log1p(Pair(minus(m, ONE), ZERO), light)))


def log(x: Expr, light: bool) -> Unnormalised:
    s = _log_pair(x, light)
    return Unnormalised(s.hi, s.lo, over(ONE, x))


def log_to(base: Op | None) -> Builder:
    """The logarithm to 2, or to the number whose natural logarithm is a constant."""
    inverse = functools.cache(lambda: 1 / named(f.LN2 if base is None else base))

    def build(x: Expr, light: bool) -> Unnormalised:
        scale = Pair(*expansion(inverse(), 2))
        s = ordered(product(_log_pair(x, light), scale))
        return Unnormalised(s.hi, s.lo, over(scale.hi, x))

    return build


def _log1p_pair(d: Pair, light: bool) -> Pair:
    """log(1 + d), unnormalised; d.lo counts as far as it is small relative to 1."""
    whole = two_sum(ONE, d.hi)
    k, down, m = _split(whole.hi)
    rest = whole.lo if d.lo is ZERO else plus(whole.lo, d.lo)
    near = below(size(plus(d.hi, const(Fraction(-1, 16)))), const(Fraction(5, 16)))
    far = Pair(minus(m, ONE), times(rest, down))
    small = _small_log1p(select(near, d, far), light)
    return ordered(_with_exponent(pick(near, ZERO, k), small))


def log1p(x: Expr, light: bool) -> Unnormalised:
    s = _log1p_pair(Pair(x, ZERO), light)
    return Unnormalised(s.hi, s.lo, over(ONE, plus(ONE, x)))


# ------------------------------------------------------------------------ hyperbolic
_FLAT = 23
"""Beyond this, the hyperbolic tangent is 1 up to 2**-65."""


def tanh(x: Expr, light: bool) -> Unnormalised:
    limit, low = const(_FLAT), const(-_FLAT)
    inner = pick(below(limit, x), limit, pick(below(x, low), low, x))
    e = expm1_pair(plus(inner, inner), light)
    down = two_sum(e.hi, TWO)
    t = ordered(quotient(e, Pair(down.hi, plus(down.lo, e.lo))))
    return Unnormalised(t.hi, t.lo, fma(minus_of(t.hi), t.hi, ONE))


def _sinh_cosh(x: Expr, light: bool) -> tuple[Pair, Pair]:
    """From e = exp(|x|) - 1: (e + e/(1 + e))/2 and (1 + e + 1/(1 + e))/2."""
    e = expm1_pair(size(x), light)
    whole = total(Pair(ONE, ZERO), e)
    inverse = quotient(Pair(ONE, ZERO), whole)
    cosine = ordered(total(whole, inverse))
    sine = ordered(total(e, product(e, inverse)))
    sign = pick(below(x, ZERO), const(Fraction(-1, 2)), HALF)
    half = Pair(times(cosine.hi, HALF), times(cosine.lo, HALF))
    return Pair(times(sine.hi, sign), times(sine.lo, sign)), half


def sinh(x: Expr, light: bool) -> Unnormalised:
    s, c = _sinh_cosh(x, light)
    return Unnormalised(s.hi, s.lo, c.hi)


def cosh(x: Expr, light: bool) -> Unnormalised:
    s, c = _sinh_cosh(x, light)
    return Unnormalised(c.hi, c.lo, s.hi)


def _root(x: Pair) -> Pair:
    s = raw(POW, (x.hi, HALF))
    rest = plus(fma(minus_of(s), s, x.hi), x.lo)
    return Pair(s, over(rest, plus(s, s)))


def asinh(x: Expr, light: bool) -> Unnormalised:
    """log1p(y + y**2/(1 + sqrt(1 + y**2))) with the sign of x, where y = |x|."""
    y = size(x)
    squared = square(y)
    root = _root(total(Pair(ONE, ZERO), squared))
    bent = quotient(squared, total(Pair(ONE, ZERO), root))
    near = _log1p_pair(ordered(total(Pair(y, ZERO), bent)), light)
    sign = pick(below(x, ZERO), const(-1), ONE)
    return Unnormalised(times(near.hi, sign), times(near.lo, sign), over(ONE, root.hi))


def acosh(x: Expr, light: bool) -> Unnormalised:
    """log1p(x - 1 + sqrt((x - 1)*(x + 1)))."""
    t = two_sum(x, const(-1))
    root = _root(ordered(product(t, two_sum(x, ONE))))
    s = _log1p_pair(ordered(total(t, root)), light)
    return Unnormalised(s.hi, s.lo, over(ONE, root.hi))


def atanh(x: Expr, light: bool) -> Unnormalised:
    """log1p(2*y/(1 - y))/2 with the sign of x, where y = |x|."""
    y = size(x)
    s = _log1p_pair(ordered(quotient(Pair(plus(y, y), ZERO), two_sum(ONE, minus_of(y)))), light)
    half = pick(below(x, ZERO), const(Fraction(-1, 2)), HALF)
    slope = over(ONE, times(plus(ONE, x), minus(ONE, x)))
    return Unnormalised(times(s.hi, half), times(s.lo, half), slope)


# ----------------------------------------------------------------------------- roots
def cbrt(x: Expr, light: bool) -> Unnormalised:
    """The library's value and one step of Newton's method."""
    y = raw(f.CBRT, (x,))
    squared = square(y)
    cubed = product(squared, Pair(y, ZERO))
    slope = over(ONE, times(const(3), squared.hi))
    return Unnormalised(y, times(minus(minus(x, cubed.hi), cubed.lo), slope), slope)
