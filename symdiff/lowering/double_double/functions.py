"""The elementary functions in double-double arithmetic: one rule each, in `RULES`.

A rule maps pairs to a pair. It is evaluated as it stands, both sides of every
choice included, and may be nan outside of the range in which it is accurate.
Reduction and Taylor polynomials serve exp, sin and cos; log, atan and cbrt take
the double from libm and correct it by one step of Newton's method.

`RULES[op].units` bounds the error in units of 2**-106 of the result, up to an absolute
error of `FLOOR`; where an intermediate would underflow the result is nan instead.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symdiff.ir import HALF, LE, NAN, ONE, POW, ZERO, Expr, Op, abs_, const, raw
from symdiff.ir import functions as f
from symdiff.ir import mul as mul_
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double.arithmetic import (
    LOGB,
    POWER_OF_TWO,
    Pair,
    add,
    constant,
    div,
    exact,
    magnitude,
    mul,
    neg,
    polynomial,
    scale,
    select,
    sub,
)

UNIT = Fraction(1, 2**106)
"""The unit in which errors are counted: u**2 with u = 2**-53."""
FLOOR = Fraction(1, 2**1068)
"""Absolute error of a function whose value is tiny."""
_SMALLEST = const(Fraction(1, 2**900))


@dataclass(frozen=True, slots=True)
class Rule:
    """How a function is computed, and how far it may be off.

    Attributes
    ----------
    build : pairs to a pair.
    units : bound of the relative error for exact arguments, in units of 2**-106.
    room : doubles to a double: a change of an argument up to this much changes no
        slope by more than a factor of 2, within the domain; None: see `Op.slope`,
        which then holds everywhere.
    """

    build: Callable[..., Pair]
    units: int
    room: Callable[..., Expr] | None = None


@functools.cache
def named(op: Op, bits: int = 320) -> Fraction:
    """A named constant, to many bits."""
    import flint

    with flint.ctx.workprec(bits):
        assert op.ball is not None
        return _middle_of(op.ball())


def factorials(first: int, step: int, count: int, sign: int = 1) -> list[Fraction]:
    """sign**k / (first + step*k)!"""
    return [Fraction(sign**k, math.factorial(first + step * k)) for k in range(count)]


ONE_PAIR = exact(ONE)
TWO = const(2)


# ------------------------------------------------------------------- exponentials
@dd.called
def small_expm1(r: Pair) -> Pair:
    """exp(r) - 1 for |r| <= 0.35, without loss at 0."""
    return mul(r, polynomial(r, factorials(1, 1, 23), 13))


def reduced(x: Pair, step: Fraction, terms: int) -> tuple[Expr, Pair]:
    """An integer k, and x - k*step to nearly full relative precision."""
    k = dd.nearest_integer(dd.times(x.hi, dd.expansion(1 / step, 1)[0]))
    rest = x
    for part in dd.expansion(step, terms):
        rest = sub(rest, dd.two_product(k, part))
    return k, rest


@dd.called
def shift(x: Pair, k: Expr) -> Pair:
    """x * 2**k, in two steps, so that 2**k itself may be out of range."""
    half = raw(f.FLOOR, (dd.times(k, HALF),))
    other = dd.minus(k, half)
    return scale(scale(x, raw(POWER_OF_TWO, (half,))), raw(POWER_OF_TWO, (other,)))


def _clamp(x: Pair, limit: int) -> Pair:
    """x, or +-limit beyond that."""
    low, high = const(-limit), const(limit)
    x = select(dd.below(x.hi, low), exact(low), x)
    return select(dd.below(high, x.hi), exact(high), x)


@dd.called
def exp(x: Pair) -> Pair:
    k, r = reduced(_clamp(x, 800), named(f.LN2), 3)
    return shift(add(ONE_PAIR, small_expm1(r)), k)


@dd.called
def exp2(x: Pair) -> Pair:
    x = _clamp(x, 1200)
    k = dd.nearest_integer(x.hi)
    r = mul(sub(x, exact(k)), constant(named(f.LN2)))
    return shift(add(ONE_PAIR, small_expm1(r)), k)


@dd.called
def expm1(x: Pair) -> Pair:
    k, r = reduced(_clamp(x, 800), named(f.LN2), 3)
    p = small_expm1(r)
    result = add(shift(p, k), add(shift(ONE_PAIR, k), exact(const(-1))))
    return select(dd.same(k, ZERO), p, result)


# --------------------------------------------------------------------- logarithms
def _exponent(x: Pair) -> tuple[Expr, Pair]:
    """k and m with x = m * 2**k and m between 0.7 and 1.42, for x > 0."""
    k = raw(LOGB, (x.hi,))
    m = shift(x, dd.minus_of(k))
    big = dd.below(const(Fraction(181, 128)), m.hi)
    return dd.pick(big, dd.plus(k, ONE), k), select(big, scale(m, HALF), m)


@dd.called
def _small_log1p(d: Pair) -> Pair:
    """log(1 + d) for d from -0.3 to 0.42: libm's value and one Newton step."""
    y = raw(f.LOG1P, (d.hi,))
    e = small_expm1(exact(y))
    q = dd.over(sub(d, e).hi, dd.plus(ONE, e.hi))
    correction = dd.minus(q, dd.times(HALF, dd.times(q, q)))
    return dd.fast_two_sum(y, correction)


def _log_parts(x: Pair) -> tuple[Expr, Pair]:
    """k and log m with log x = k*log 2 + log m; nan for x < 0."""
    k, m = _exponent(x)
    small = _small_log1p(sub(m, ONE_PAIR))
    return k, select(dd.below(ZERO, x.hi), small, exact(NAN))


@dd.called
def log(x: Pair) -> Pair:
    k, small = _log_parts(x)
    return add(mul(exact(k), constant(named(f.LN2))), small)


@dd.called
def log2(x: Pair) -> Pair:
    k, small = _log_parts(x)
    return add(exact(k), mul(small, constant(1 / named(f.LN2))))


@dd.called
def log10(x: Pair) -> Pair:
    return mul(log(x), constant(1 / named(f.LN10)))


@dd.called
def log1p(x: Pair) -> Pair:
    near = dd.both(dd.below(const(Fraction(-3, 10)), x.hi), dd.below(x.hi, const(Fraction(2, 5))))
    k, m = _exponent(add(ONE_PAIR, x))
    d = select(near, x, sub(m, ONE_PAIR))
    k = dd.pick(near, ZERO, k)
    total = add(mul(exact(k), constant(named(f.LN2))), _small_log1p(d))
    result = select(near, _small_log1p(d), total)
    return select(dd.below(const(-1), x.hi), result, select(near, result, exact(NAN)))


# ------------------------------------------------------------------ powers and roots
@dd.called
def power(x: Pair, y: Pair) -> Pair:
    """x**y over the reals: for x < 0 the exponent must be an integer."""
    value = exp(mul(y, log(magnitude(x))))
    half = dd.scale(y, HALF)
    odd = dd.negation(dd.equal(dd.floor(half), half))
    whole = dd.equal(dd.floor(y), y)
    signed = select(odd, neg(value), value)
    left = select(whole, signed, exact(NAN))
    result = select(dd.negative(x), left, value)
    at_zero = dd.pick(dd.below(ZERO, y.hi), ZERO, const(math.inf))
    result = select(dd.same(x.hi, ZERO), exact(at_zero), result)
    return select(dd.same(y.hi, ZERO), ONE_PAIR, result)


def _underflows(x: Expr) -> Expr:
    """Whether the last bits of a product of this size are lost, other than 0."""
    return dd.both(dd.below(dd.size(x), _SMALLEST), dd.below(ZERO, dd.size(x)))


@dd.called
def cbrt(x: Pair) -> Pair:
    y = raw(f.CBRT, (x.hi,))
    square = dd.two_product(y, y)
    rest = sub(x, mul(square, exact(y)))
    step = dd.over(rest.hi, dd.times(const(3), square.hi))
    second = dd.over(dd.times(step, step), y)
    result = dd.fast_two_sum(y, dd.minus(step, second))
    result = select(dd.same(x.hi, ZERO), exact(ZERO), result)
    return select(_underflows(x.hi), exact(NAN), result)


@dd.called
def hypot(x: Pair, y: Pair) -> Pair:
    x, y = magnitude(x), magnitude(y)
    largest = dd.pick(dd.below(x.hi, y.hi), y.hi, x.hi)
    k = raw(LOGB, (largest,))
    x, y = shift(x, dd.minus_of(k)), shift(y, dd.minus_of(k))
    result = shift(dd.sqrt(add(mul(x, x), mul(y, y))), k)
    return select(dd.same(largest, ZERO), exact(ZERO), result)


# ------------------------------------------------------------------ trigonometric
LARGEST_ANGLE = 100_000
FURTHEST_ANGLE = 10**15
"""Beyond this, quarters of turns are no doubles any more."""


def _small_sin_cos(r: Pair) -> tuple[Pair, Pair]:
    """Sine and cosine for |r| <= 0.79."""
    z = mul(r, r)
    sine = mul(r, polynomial(z, factorials(1, 2, 15, -1), 8))
    return sine, polynomial(z, factorials(0, 2, 15, -1), 9)


def _sin_cos(x: Pair, largest: int = LARGEST_ANGLE, terms: int = 4) -> tuple[Pair, Pair, Expr]:
    """Sine and cosine of x - n*pi/2, and n modulo 4; nan for large angles."""
    n, r = reduced(x, named(f.PI) / 2, terms)
    inside = raw(LE, (dd.size(x.hi), const(largest)))
    sine, cosine = _small_sin_cos(select(inside, r, exact(NAN)))
    turns = raw(f.FLOOR, (dd.times(n, const(Fraction(1, 4))),))
    return sine, cosine, dd.minus(n, dd.times(const(4), turns))


@dd.called
def sin(x: Pair) -> Pair:
    return sine_of(*_sin_cos(x))


@dd.called
def cos(x: Pair) -> Pair:
    return cosine_of(*_sin_cos(x))


@dd.called
def tan(x: Pair) -> Pair:
    return tangent_of(*_sin_cos(x))


def of_far_angle(x: Pair, function: Callable[[Pair, Pair, Expr], Pair]) -> Pair:
    """`sine_of` or another of an angle up to `FURTHEST_ANGLE`, within 2**-100 for angles that are doubles."""
    return function(*_sin_cos(x, FURTHEST_ANGLE, 6))


def sine_of(s: Pair, c: Pair, quadrant: Expr) -> Pair:
    value = select(_is_odd(quadrant), c, s)
    return select(dd.below(const(Fraction(3, 2)), quadrant), neg(value), value)


def cosine_of(s: Pair, c: Pair, quadrant: Expr) -> Pair:
    value = select(_is_odd(quadrant), s, c)
    upper = dd.same(dd.size(dd.minus(quadrant, const(Fraction(3, 2)))), HALF)
    return select(upper, neg(value), value)


def tangent_of(s: Pair, c: Pair, quadrant: Expr) -> Pair:
    odd = _is_odd(quadrant)
    return div(select(odd, neg(c), s), select(odd, s, c))


def _is_odd(quadrant: Expr) -> Expr:
    return dd.either(dd.same(quadrant, ONE), dd.same(quadrant, const(3)))


@dd.called
def _small_atan(t: Pair) -> Pair:
    """The angle for 0 <= t <= 1: libm's value and one Newton step."""
    y = raw(f.ATAN, (t.hi,))
    s, c = _small_sin_cos(exact(y))
    rest = sub(mul(t, c), s)
    return dd.fast_two_sum(y, dd.over(rest.hi, add(c, mul(t, s)).hi))


@dd.called
def atan2(y: Pair, x: Pair) -> Pair:
    """The angle of (x, y); nan at the origin."""
    up, right = magnitude(y), magnitude(x)
    steep = dd.less(right, up)
    long = select(steep, up, right)
    ratio = div(select(steep, right, up), select(_underflows(long.hi), exact(NAN), long))
    angle = _small_atan(ratio)
    pi = named(f.PI)
    angle = select(steep, sub(constant(pi / 2), angle), angle)
    angle = select(dd.negative(x), sub(constant(pi), angle), angle)
    return select(dd.negative(y), neg(angle), angle)


@dd.called
def atan(x: Pair) -> Pair:
    return atan2(x, ONE_PAIR)


@dd.called
def _leg(x: Pair) -> Pair:
    """sqrt(1 - x**2), nan for |x| > 1."""
    return dd.sqrt(mul(sub(ONE_PAIR, x), add(ONE_PAIR, x)))


@dd.called
def asin(x: Pair) -> Pair:
    return atan2(x, _leg(x))


@dd.called
def acos(x: Pair) -> Pair:
    return atan2(_leg(x), x)


# --------------------------------------------------------------------- hyperbolic
def _odd(rule: Callable[[Pair], Pair]) -> Callable[[Pair], Pair]:
    """The odd function with these values for x >= 0."""

    def whole(x: Pair) -> Pair:
        value = rule(magnitude(x))
        return select(dd.negative(x), neg(value), value)

    return whole


def _sinh(x: Pair) -> Pair:
    e = expm1(x)
    return scale(add(e, div(e, add(ONE_PAIR, e))), HALF)


@dd.called
def cosh(x: Pair) -> Pair:
    e = exp(magnitude(x))
    return scale(add(e, div(ONE_PAIR, e)), HALF)


def _tanh(x: Pair) -> Pair:
    e = expm1(scale(_clamp(x, 40), TWO))
    return div(e, add(e, exact(TWO)))


_FAR = const(2**60)


def _asinh(x: Pair) -> Pair:
    far = dd.below(_FAR, x.hi)
    near = select(far, ONE_PAIR, x)
    square = mul(near, near)
    root = add(ONE_PAIR, dd.sqrt(add(ONE_PAIR, square)))
    value = log1p(add(near, div(square, root)))
    return select(far, add(log(x), constant(named(f.LN2))), value)


@dd.called
def acosh(x: Pair) -> Pair:
    far = dd.below(_FAR, x.hi)
    t = sub(select(far, ONE_PAIR, x), ONE_PAIR)
    value = log1p(add(t, dd.sqrt(mul(t, add(t, exact(TWO))))))
    return select(far, add(log(x), constant(named(f.LN2))), value)


def _atanh(x: Pair) -> Pair:
    return scale(log1p(div(scale(x, TWO), sub(ONE_PAIR, x))), HALF)


# ----------------------------------------------------------------------- the table
def _eighth(distance: Expr) -> Expr:
    return mul_(const(Fraction(1, 8)), distance)


def _constantly(x: Expr) -> Expr:
    return const(Fraction(1, 8))


ERF_NEAR = 1
"""Below this, the power series of erf serves."""
_ERF_REACH, _ERF_MIDDLE = Fraction(17, 2), Fraction(11, 4)
"""Beyond the first, erf is 1 up to 2**-107; the second is t = 0 of `erfcx_polynomial`."""
_ERFC_REACH, _ERFC_MIDDLE = Fraction(53, 2), Fraction(14)
"""The same of erfc beyond that, up to where it is subnormal, and its square is out of range."""
_ERF_TERMS, _ERFCX_TERMS = 32, 44
_ERF_FULL, _ERFCX_FULL = 19, 26


@dd.called
def _erf_near(x: Pair) -> Pair:
    """The power series, for |x| < `ERF_NEAR`."""
    series = polynomial(mul(x, x), erf_series(_ERF_TERMS), _ERF_FULL)
    return mul(mul(constant(two_over_root_pi()), x), series)


@dd.called
def _erf_beyond(y: Pair) -> Pair:
    """1 - erf(y) = exp(-y**2)*p((y - a)/(y + a)), from `ERF_NEAR` to `_ERF_REACH`."""
    middle = exact(const(_ERF_MIDDLE))
    t = div(sub(y, middle), add(y, middle))
    scaled = polynomial(t, erfcx_polynomial(_ERF_MIDDLE, _ERF_REACH, _ERFCX_TERMS), _ERFCX_FULL)
    return mul(exp(neg(mul(y, y))), scaled)


@dd.called
def erfcx(y: Pair) -> Pair:
    """(1 - erf(y))*exp(y**2) from `ERF_NEAR` on: polynomials up to `_ERFC_REACH`, an asymptotic series beyond."""
    between = _erfcx_within(y)
    inverse = div(ONE_PAIR, y)
    series = polynomial(mul(inverse, inverse), _erfcx_series(_ERFCX_SERIES), _ERFCX_SERIES // 2)
    out = mul(mul(inverse, constant(two_over_root_pi() / 2)), series)
    return select(dd.below(const(_ERFC_REACH), y.hi), out, between)


_ERFCX_SERIES = 18


def _erfcx_series(terms: int) -> list[Fraction]:
    """Of sqrt(pi)*x*exp(x**2)*(1 - erf(x)) by 1/x**2 (DLMF 7.12.1)."""
    return [Fraction((-1) ** n * math.prod(range(1, 2 * n, 2)), 2**n) for n in range(terms)]


@dd.called
def _erfcx_within(y: Pair) -> Pair:
    """The same up to `_ERFC_REACH`, by one of two polynomials."""
    beyond = dd.below(const(_ERF_REACH), y.hi)
    middle = exact(dd.pick(beyond, const(_ERFC_MIDDLE), const(_ERF_MIDDLE)))
    t = div(sub(y, middle), add(y, middle))
    near = erfcx_polynomial(_ERF_MIDDLE, _ERF_REACH, _ERFCX_TERMS)
    far = erfcx_polynomial(_ERFC_MIDDLE, _ERFC_REACH, _ERFCX_TERMS, _ERF_REACH)
    return dd.either_polynomial(beyond, t, far, near, _ERFCX_FULL)


@dd.called
def _erfc_beyond(y: Pair) -> Pair:
    """1 - erf(y) from `ERF_NEAR` to `_ERFC_REACH`."""
    return mul(exp(neg(mul(y, y))), _erfcx_within(y))


@dd.called
def erf(x: Pair) -> Pair:
    y = magnitude(x)
    small, beyond = dd.below(y.hi, const(ERF_NEAR)), dd.below(const(_ERF_REACH), y.hi)
    near = _erf_near(select(small, x, ONE_PAIR))
    far = sub(ONE_PAIR, _erf_beyond(select(beyond, exact(const(_ERF_REACH)), y)))
    return select(small, near, select(dd.negative(x), neg(far), far))


@dd.called
def erfc(x: Pair) -> Pair:
    """nan where it is subnormal, as `_erfc_beyond` reaches no further."""
    y = magnitude(x)
    small, beyond = dd.below(y.hi, const(ERF_NEAR)), dd.below(const(_ERFC_REACH), y.hi)
    near = sub(ONE_PAIR, _erf_near(select(small, x, ONE_PAIR)))
    rest = _erfc_beyond(select(beyond, exact(const(_ERFC_REACH)), y))
    far = select(beyond, Pair(NAN, NAN), rest)
    return select(small, near, select(dd.negative(x), sub(exact(TWO), rest), far))


def erf_series(terms: int) -> list[Fraction]:
    """Of sqrt(pi)/2 * erf(x)/x by x**2 (DLMF 7.6.1)."""
    return [Fraction((-1) ** n, math.factorial(n) * (2 * n + 1)) for n in range(terms)]


@functools.cache
def erfcx_polynomial(
    middle: Fraction, reach: Fraction, terms: int, near: Fraction = Fraction(ERF_NEAR)
) -> tuple[Fraction, ...]:
    """Coefficients of exp(x**2)*(1 - erf(x)) by t = (x - middle)/(x + middle), which
    interpolate it at Chebyshev's points for x from `near` to `reach`."""
    from flint import arb, arb_poly, ctx, fmpq

    with ctx.workprec(640):
        a, b, c = (arb(fmpq(q.numerator, q.denominator)) for q in (middle, reach, near))
        low, high = ((x - a) / (x + a) for x in (c, b))
        angles = [arb(2 * k + 1) / (2 * terms) for k in range(terms)]
        nodes = [arb(((low + high + (high - low) * c.cos_pi()) / 2).mid()) for c in angles]
        points = [a * (1 + t) / (1 - t) for t in nodes]
        heights = [(x * x).exp() * x.erfc() for x in points]
        return tuple(_middle_of(c) for c in arb_poly.interpolate(nodes, heights).coeffs())


@functools.cache
def two_over_root_pi() -> Fraction:
    from flint import arb, ctx

    with ctx.workprec(320):
        return _middle_of(2 / arb.pi().sqrt())


def _middle_of(ball: Any) -> Fraction:
    mantissa, exponent = (int(v) for v in ball.mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


RULES: dict[Op, Rule] = {
    f.ERF: Rule(erf, 64, lambda x: _eighth(ONE / (ONE + abs_(x)))),
    f.ERFC: Rule(erfc, 2**12, lambda x: _eighth(ONE / (ONE + abs_(x)))),
    POW: Rule(power, 2**16),
    f.EXP: Rule(exp, 16, _constantly),
    f.EXP2: Rule(exp2, 16, _constantly),
    f.EXPM1: Rule(expm1, 16, _constantly),
    f.LOG: Rule(log, 16, _eighth),
    f.LOG1P: Rule(log1p, 16, lambda x: _eighth(ONE + x)),
    f.LOG2: Rule(log2, 16, _eighth),
    f.LOG10: Rule(log10, 16, _eighth),
    f.CBRT: Rule(cbrt, 16, lambda x: _eighth(abs_(x))),
    f.HYPOT: Rule(hypot, 16),
    f.SIN: Rule(sin, 16),
    f.COS: Rule(cos, 16),
    f.TAN: Rule(tan, 32, lambda x: _eighth(ONE / (ONE + abs_(f.TAN(x))))),
    f.ASIN: Rule(asin, 32),
    f.ACOS: Rule(acos, 32),
    f.ATAN: Rule(atan, 32, lambda x: _eighth(ONE + abs_(x))),
    f.ATAN2: Rule(atan2, 32, lambda y, x: _eighth(f.HYPOT(x, y))),
    f.SINH: Rule(dd.called_as("pair_sinh", ("Pair",), "Pair")(_odd(_sinh)), 32, _constantly),
    f.COSH: Rule(cosh, 32, _constantly),
    f.TANH: Rule(dd.called_as("pair_tanh", ("Pair",), "Pair")(_odd(_tanh)), 32, _constantly),
    f.ASINH: Rule(
        dd.called_as("pair_asinh", ("Pair",), "Pair")(_odd(_asinh)),
        32,
        lambda x: _eighth(ONE + abs_(x)),
    ),
    f.ACOSH: Rule(acosh, 32),
    f.ATANH: Rule(
        dd.called_as("pair_atanh", ("Pair",), "Pair")(_odd(_atanh)),
        32,
        lambda x: _eighth(ONE - abs_(x)),
    ),
}
"""Every elementary function that has a double-double version."""
