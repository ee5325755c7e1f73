"""Elementary functions with their rounding errors: one entry each, in `CORRECTED`.

Before:  exp(x)
After:   v, the double next to it or nearly, and d with v + d = exp(x) to about 2**-60

An entry maps a double to `Valued`: the value, its error, and the slope there. It costs
two or three times what a library function does, a tenth of double-double arithmetic, and
has no branches: it is printed into SIMD code. Arguments are reduced exactly; of the
polynomials only the leading terms are computed with their errors, as the others are small.

value + error is within 2**-BITS of the function, relative to it, for arguments `inside`,
which is tested against ball arithmetic.
Reference: J.-M. Muller, Elementary Functions (2016), chapters 3 to 5 and 11.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from symdiff import functions as f
from symdiff.codegen.ddfunctions import (
    ERF_NEAR,
    erf_series,
    erfcx_polynomial,
    named,
    two_over_root_pi,
)
from symdiff.codegen.doubledouble import (
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
from symdiff.codegen.lower import nearest
from symdiff.ir import HALF, ONE, ZERO, Expr, Op, abs_, and_, const, le, lt, raw
from symdiff.ir import mul as mul_

BITS = 63
"""Relative error of all functions, as a power of two."""
TWO = const(2)


class Valued(NamedTuple):
    """A function at a double: value + error, and its derivative to a few bits less than
    a double has."""

    value: Expr
    error: Expr
    slope: Expr


@dataclass(frozen=True, slots=True)
class Correction:
    """How a function is computed with its error.

    Attributes
    ----------
    build : a double to `Valued`.
    inside : the condition on the argument under which it holds.
    room : as far as an argument is off by a small part of this, the error of the first
        order is off by no more than that part, or by less than 2**-BITS of the value.
    """

    build: Callable[[Expr], Valued]
    inside: Callable[[Expr], Expr]
    room: Callable[[Expr], Expr]


# --------------------------------------------------------------------------- helpers
def _polynomial(z: Pair, coefficients: Sequence[Fraction], full: int) -> Pair:
    """The sum of c[k] * z**k, of which the first `full` steps of Horner's rule are
    computed with their errors; their constants must be larger than what they are added to."""
    tail = const(Fraction(nearest(coefficients[-1])))
    for c in reversed(coefficients[full:-1]):
        tail = fma(tail, z.hi, const(Fraction(nearest(c))))
    total = Pair(tail, ZERO)
    for c in reversed(coefficients[:full]):
        hi, lo = expansion(c, 2)
        product = times(z.hi, total.hi)
        lost = fma(z.hi, total.hi, minus_of(product))
        s = fast_two_sum(hi, product)
        low = fma(z.hi, total.lo, plus(lost, s.lo)) if total.lo is not ZERO else plus(lost, s.lo)
        if z.lo is not ZERO:
            low = fma(z.lo, total.hi, low)
        total = Pair(s.hi, low if lo is ZERO else plus(low, lo))
    return total


def _product(x: Pair, y: Pair) -> Pair:
    """x*y, of pairs in no order."""
    p = times(x.hi, y.hi)
    low = fma(x.hi, y.hi, minus_of(p))
    low = low if y.lo is ZERO else fma(x.hi, y.lo, low)
    return Pair(p, low if x.lo is ZERO else fma(x.lo, y.hi, low))


def _sum(x: Pair, y: Pair) -> Pair:
    s = two_sum(x.hi, y.hi)
    low = s.lo if x.lo is ZERO else plus(s.lo, x.lo)
    return Pair(s.hi, low if y.lo is ZERO else plus(low, y.lo))


def _quotient(x: Pair, y: Pair) -> Pair:
    inverse = over(ONE, y.hi)
    q = times(x.hi, inverse)
    rest = plus(fma(minus_of(q), y.hi, x.hi), x.lo)
    return Pair(q, times(fma(minus_of(q), y.lo, rest), inverse))


def _square(x: Expr) -> Pair:
    s = times(x, x)
    return Pair(s, fma(x, x, minus_of(s)))


def _ordered(x: Pair) -> Pair:
    return fast_two_sum(x.hi, x.lo)


def _short(q: Fraction, bits: int) -> tuple[Fraction, list[Expr]]:
    """The leading bits of a constant, and two doubles that hold the rest."""
    exponent = math.frexp(nearest(q))[1]
    unit = Fraction(2) ** (exponent - bits)
    head = round(q / unit) * unit
    return head, expansion(q - head, 2)


def _factorials(first: int, step: int, count: int, sign: int = 1) -> list[Fraction]:
    return [Fraction(sign**k, math.factorial(first + step * k)) for k in range(count)]


# ---------------------------------------------------------------------- exponentials
_LARGEST_EXPONENT = 600
"""Up to this, no part of an exponential underflows."""


def _reduced_by_ln2(x: Expr) -> tuple[Expr, Pair]:
    """k and x - k*log(2), which is at most 0.35 in size."""
    k = nearest_integer(times(x, const(Fraction(nearest(1 / named(f.LN2))))))
    head, (low, _) = _short(named(f.LN2), 42)
    rest = fma(minus_of(k), const(head), x)
    off = times(k, low)
    hi = minus(rest, off)
    return k, Pair(hi, minus(minus(rest, hi), off))


_EXP_TERMS = 16


def _expm1_parts(x: Expr, full: int) -> tuple[Expr, Pair]:
    """2**k, and exp(r) - 1 of the reduced argument."""
    k, r = _reduced_by_ln2(x)
    inner = _polynomial(r, _factorials(1, 1, _EXP_TERMS), full)
    return raw(POWER_OF_TWO, (k,)), _product(r, inner)


def _exp(x: Expr) -> Valued:
    power, small = _expm1_parts(x, 4)
    s = fast_two_sum(ONE, small.hi)
    s = fast_two_sum(s.hi, plus(s.lo, small.lo))
    value = times(s.hi, power)
    return Valued(value, times(s.lo, power), value)


def _expm1_pair(x: Expr) -> Pair:
    power, small = _expm1_parts(x, 4)
    less = two_sum(power, const(-1))
    s = two_sum(less.hi, times(power, small.hi))
    return Pair(s.hi, plus(fma(power, small.lo, s.lo), less.lo))


def _expm1(x: Expr) -> Valued:
    s = _ordered(_expm1_pair(x))
    return Valued(s.hi, s.lo, plus(s.hi, ONE))


def _exp2(x: Expr) -> Valued:
    k = nearest_integer(x)
    ln2 = Pair(*expansion(named(f.LN2), 2))
    r = _product(Pair(minus(x, k), ZERO), ln2)
    small = _product(r, _polynomial(r, _factorials(1, 1, _EXP_TERMS), 4))
    s = fast_two_sum(ONE, small.hi)
    s = fast_two_sum(s.hi, plus(s.lo, small.lo))
    power = raw(POWER_OF_TWO, (k,))
    value = times(s.hi, power)
    return Valued(value, times(s.lo, power), times(value, ln2.hi))


# ------------------------------------------------------------------------ logarithms
_LOG_TERMS = 13
_LOG_RANGE = 900
"""Exponents of the arguments of logarithms."""


def _small_log1p(d: Pair) -> Pair:
    """log(1 + d) for d from -0.3 to 0.42, by the series of the inverse hyperbolic
    tangent of d/(2 + d)."""
    total = two_sum(TWO, d.hi)
    s = _quotient(d, Pair(total.hi, plus(total.lo, d.lo)))
    square = times(s.hi, s.hi)
    lost = fma(s.hi, s.hi, minus_of(square))
    z = Pair(square, fma(plus(s.hi, s.hi), s.lo, lost))
    return _product(s, _polynomial(z, [Fraction(2, 2 * n + 1) for n in range(_LOG_TERMS)], 2))


def _split(x: Expr) -> tuple[Expr, Expr, Expr]:
    """k, 2**-k and m with x = m * 2**k and m between 0.7 and 1.42."""
    k = raw(
        EXPONENT,
        (
            times(
                x,
                const(Fraction(nearest(Fraction(math.sqrt(2))))),
            ),
        ),
    )
    down = raw(POWER_OF_TWO, (minus_of(k),))
    return k, down, times(x, down)


def _with_exponent(k: Expr, small: Pair) -> Pair:
    """k*log(2) + small."""
    head, (low, _) = _short(named(f.LN2), 42)
    s = fast_two_sum(times(k, const(head)), small.hi)
    inner = plus(fma(k, low, s.lo), small.lo)
    zero = same(k, ZERO)
    return select(zero, small, Pair(s.hi, inner))


def _log_pair(x: Expr) -> Pair:
    k, _, m = _split(x)
    return _ordered(_with_exponent(k, _small_log1p(Pair(minus(m, ONE), ZERO))))


def _log(x: Expr) -> Valued:
    s = _log_pair(x)
    return Valued(s.hi, s.lo, over(ONE, x))


def _log_to(base: Op | None) -> Callable[[Expr], Valued]:
    inverse = functools.cache(lambda: 1 / named(f.LN2 if base is None else base))

    def build(x: Expr) -> Valued:
        scale = Pair(*expansion(inverse(), 2))
        s = _ordered(_product(_log_pair(x), scale))
        return Valued(s.hi, s.lo, over(scale.hi, x))

    return build


def _log1p(x: Expr) -> Valued:
    total = two_sum(ONE, x)
    k, down, m = _split(total.hi)
    near = below(size(plus(x, const(Fraction(-1, 16)))), const(Fraction(5, 16)))
    far = Pair(minus(m, ONE), times(total.lo, down))
    d = select(near, Pair(x, ZERO), far)
    s = _ordered(_with_exponent(pick(near, ZERO, k), _small_log1p(d)))
    return Valued(s.hi, s.lo, over(ONE, total.hi))


# --------------------------------------------------------------------- trigonometric
LARGEST_ANGLE = 2**16
_SINE_TERMS, _COSINE_TERMS = 10, 11


def _turns(x: Expr) -> tuple[Expr, Pair]:
    """n and x - n*pi/2."""
    half = named(f.PI) / 2
    n = nearest_integer(times(x, const(Fraction(nearest(1 / half)))))
    head, (middle, low) = _short(half, 36)
    rest = fma(minus_of(n), const(head), x)
    off = times(n, middle)
    lost = fma(n, middle, minus_of(off))
    s = two_sum(rest, minus_of(off))
    r = fast_two_sum(s.hi, minus(s.lo, fma(n, low, lost)))
    return n, r


def _small_sin_cos(r: Pair) -> tuple[Pair, Pair]:
    """Sine and cosine for |r| <= 0.79."""
    square = times(r.hi, r.hi)
    lost = fma(r.hi, r.hi, minus_of(square))
    z = Pair(square, fma(plus(r.hi, r.hi), r.lo, lost))
    bent = _polynomial(z, _factorials(3, 2, _SINE_TERMS - 1, -1), 2)
    bent = Pair(minus_of(bent.hi), minus_of(bent.lo))
    change = _product(r, _product(z, bent))
    s = fast_two_sum(r.hi, change.hi)
    sine = Pair(s.hi, plus(s.lo, plus(r.lo, change.lo)))
    return sine, _polynomial(z, _factorials(0, 2, _COSINE_TERMS, -1), 3)


def _sin_cos(x: Expr) -> tuple[Pair, Pair]:
    n, r = _turns(x)
    sine, cosine = _small_sin_cos(r)
    odd = _is_odd(n)
    s, c = select(odd, cosine, sine), select(odd, sine, cosine)
    half = times(n, HALF)
    down = _is_odd(raw(f.FLOOR, (half,)))
    left = _is_odd(raw(f.FLOOR, (plus(half, HALF),)))
    return _ordered(_signed(down, s)), _ordered(_signed(left, c))


def _signed(negative: Expr, x: Pair) -> Pair:
    sign = pick(negative, const(-1), ONE)
    return Pair(times(x.hi, sign), times(x.lo, sign))


def _is_odd(n: Expr) -> Expr:
    half = times(n, HALF)
    return below(raw(f.FLOOR, (half,)), half)


def _sin(x: Expr) -> Valued:
    s, c = _sin_cos(x)
    return Valued(s.hi, s.lo, c.hi)


def _cos(x: Expr) -> Valued:
    s, c = _sin_cos(x)
    return Valued(c.hi, c.lo, minus_of(s.hi))


def _tan(x: Expr) -> Valued:
    t = _ordered(_quotient(*_sin_cos(x)))
    return Valued(t.hi, t.lo, fma(t.hi, t.hi, ONE))


def _atan(x: Expr) -> Valued:
    """The library's value and one step of Newton's method."""
    y = raw(f.ATAN, (x,))
    s, c = _sin_cos(y)
    along = _product(c, Pair(x, ZERO))
    rest = plus(minus(along.hi, s.hi), minus(along.lo, s.lo))
    error = over(rest, fma(x, s.hi, c.hi))
    return Valued(y, error, over(ONE, fma(x, x, ONE)))


# ------------------------------------------------------------------------ hyperbolic
_FLAT = 23
"""Beyond this, the hyperbolic tangent is 1 but for 2**-65."""


def _tanh(x: Expr) -> Valued:
    limit, low = const(_FLAT), const(-_FLAT)
    inner = pick(below(limit, x), limit, pick(below(x, low), low, x))
    e = _expm1_pair(plus(inner, inner))
    down = two_sum(e.hi, TWO)
    t = _ordered(_quotient(e, Pair(down.hi, plus(down.lo, e.lo))))
    return Valued(t.hi, t.lo, fma(minus_of(t.hi), t.hi, ONE))


def _sinh_cosh(x: Expr) -> tuple[Pair, Pair]:
    """From e = exp(|x|) - 1: (e + e/(1 + e))/2 and (1 + e + 1/(1 + e))/2."""
    e = _expm1_pair(size(x))
    whole = _sum(Pair(ONE, ZERO), e)
    inverse = _quotient(Pair(ONE, ZERO), whole)
    cosine = _ordered(_sum(whole, inverse))
    sine = _ordered(_sum(e, _product(e, inverse)))
    sign = pick(below(x, ZERO), const(Fraction(-1, 2)), HALF)
    half = Pair(times(cosine.hi, HALF), times(cosine.lo, HALF))
    return Pair(times(sine.hi, sign), times(sine.lo, sign)), half


def _sinh(x: Expr) -> Valued:
    s, c = _sinh_cosh(x)
    return Valued(s.hi, s.lo, c.hi)


def _cosh(x: Expr) -> Valued:
    s, c = _sinh_cosh(x)
    return Valued(c.hi, c.lo, s.hi)


# -------------------------------------------------------------------- error function
_ERF_REACH = Fraction(13, 2)
"""Beyond this, erf is 1 but for 2**-64."""
_ERF_TERMS, _ERFCX_TERMS = 23, 20
_MIDDLE = Fraction(11, 4)


def _erf(x: Expr) -> Valued:
    small = below(size(x), const(ERF_NEAR))
    close = pick(small, x, ONE)
    scale = Pair(*expansion(two_over_root_pi(), 2))
    terms = erf_series(_ERF_TERMS)
    near = _product(Pair(close, ZERO), _product(scale, _polynomial(_square(close), terms, 6)))

    reach = const(_ERF_REACH)
    far = size(x)
    far = pick(below(reach, far), reach, far)
    squared = _square(far)
    gauss = _exp(minus_of(squared.hi))
    density = Pair(gauss.value, fma(minus_of(squared.lo), gauss.value, gauss.error))
    middle = const(_MIDDLE)
    t = _quotient(Pair(minus(far, middle), ZERO), _sum(Pair(far, ZERO), Pair(middle, ZERO)))
    rest = _product(density, _polynomial(t, erfcx_polynomial(_MIDDLE, _ERF_REACH, _ERFCX_TERMS), 6))
    s = fast_two_sum(ONE, minus_of(rest.hi))
    large = _signed(below(x, ZERO), Pair(s.hi, minus(s.lo, rest.lo)))

    total = _ordered(select(small, near, large))
    return Valued(total.hi, total.lo, times(scale.hi, density.hi))


# -------------------------------------------------------------------------- the table
def _within(limit: int) -> Callable[[Expr], Expr]:
    return lambda x: le(abs_(x), const(limit))


def _positive(x: Expr) -> Expr:
    unit = Fraction(2) ** _LOG_RANGE
    return and_(le(const(1 / unit), x), le(x, const(unit)))


def _anywhere(x: Expr) -> Expr:
    return le(abs_(x), const(Fraction(2) ** _LOG_RANGE))


def _constantly(room: Fraction | int) -> Callable[[Expr], Expr]:
    return lambda x: const(room)


_TURNING = Fraction(1, 2**12)
"""Room where the slope may vanish: the square of 2**-32 counts for nothing."""

CORRECTED: dict[Op, Correction] = {
    f.EXP: Correction(_exp, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.EXP2: Correction(_exp2, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.EXPM1: Correction(_expm1, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.LOG: Correction(_log, _positive, abs_),
    f.LOG2: Correction(_log_to(None), _positive, abs_),
    f.LOG10: Correction(_log_to(f.LN10), _positive, abs_),
    f.LOG1P: Correction(
        _log1p,
        lambda x: and_(lt(const(-1), x), _anywhere(x)),
        lambda x: abs_(ONE + x),
    ),
    f.SIN: Correction(_sin, _within(LARGEST_ANGLE), _constantly(_TURNING)),
    f.COS: Correction(_cos, _within(LARGEST_ANGLE), _constantly(_TURNING)),
    f.TAN: Correction(
        _tan,
        _within(LARGEST_ANGLE),
        lambda x: mul_(const(Fraction(1, 4)), ONE / (ONE + abs_(f.TAN(x)))),
    ),
    f.ATAN: Correction(_atan, _anywhere, _constantly(1)),
    f.TANH: Correction(_tanh, _anywhere, _constantly(HALF.value)),
    f.SINH: Correction(_sinh, _within(_LARGEST_EXPONENT), _constantly(1)),
    f.COSH: Correction(_cosh, _within(_LARGEST_EXPONENT), _constantly(_TURNING)),
    f.ERF: Correction(_erf, _anywhere, _constantly(1)),
}
"""Every elementary function that is computed with its error."""

__all__ = ["BITS", "CORRECTED", "Correction", "Valued"]
