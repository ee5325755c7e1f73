"""Double-double numbers that do not over- or underflow: a pair and the exponent of a power of two.

Before:  x*y, where x is 2**800 and y is 2**700
After:   mul(x, y), which is the pair 1 with the exponent 1500

Requires: nothing; an infinite number, 0 and nan have the exponent 0.
Ensures: the exponent is 0 where the pair is within 2**-300 and 2**300; else the pair is within 1 and 2.
The rules use those of pairs; `as_calls` (see `arithmetic`) writes each as a call.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symdiff.ir import HALF, INF, NAN, ONE, POW, ZERO, Expr, Op, const, raw
from symdiff.ir import functions as f
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double.arithmetic import LOGB, Condition, Pair, Scaled, called_as
from symdiff.lowering.double_double.functions import (
    ONE_PAIR,
    RULES,
    cosine_of,
    erfcx,
    named,
    of_far_angle,
    reduced,
    shift,
    sine_of,
    small_expm1,
    tangent_of,
    two_over_root_pi,
)

_LARGE = 300
"""Binary exponents up to which numbers are pairs alone."""
_FURTHEST = const(-2000)
_LARGEST_EXPONENT = const(10**15)


def _where(condition: Expr, x: Scaled, y: Scaled) -> Scaled:
    return dd.choose(condition, x, y)


@called_as("scaled")
def scaled(x: Pair, k: Expr) -> Scaled:
    """x * 2**k."""
    size = dd.size(x.hi)
    inside = dd.both(
        dd.below(const(Fraction(1, 2**_LARGE)), size), dd.below(size, const(2**_LARGE))
    )
    special = dd.either(dd.same(size, ZERO), dd.negation(dd.below(size, INF)))
    stays = dd.either(dd.both(dd.same(k, ZERO), inside), special)
    return _where(stays, Scaled(x, ZERO), _rescaled(x, k))


@called_as("rescaled")
def _rescaled(x: Pair, k: Expr) -> Scaled:
    """x * 2**k, for what is neither 0 nor infinite."""
    own = raw(LOGB, (dd.size(x.hi),))
    total = dd.plus(k, own)
    near = dd.below(dd.size(total), const(_LARGE))
    moved = shift(x, dd.pick(near, k, dd.minus_of(own)))
    return Scaled(moved, dd.pick(near, ZERO, total))


@called_as("number")
def number(a: Expr) -> Scaled:
    """A double."""
    return scaled(dd.exact(a), ZERO)


def _or(found: Scaled, plain: Expr) -> Scaled:
    """A result; where that is nan, as an operand is infinite or 0, what doubles give."""
    return _where(_is_number(found), found, Scaled(dd.exact(plain), ZERO))


def _is_number(x: Scaled) -> Expr:
    return dd.same(x.pair.hi, x.pair.hi)


def constant(q: Fraction) -> Scaled:
    """A rational rounded to a pair, with its exponent."""
    exponent = abs(q.numerator).bit_length() - q.denominator.bit_length() if q else 0
    exponent = exponent if abs(exponent) >= _LARGE else 0
    pair = dd.constant(q / Fraction(2) ** exponent)
    if exponent == 0 and pair.lo is ZERO:
        return number(pair.hi)
    return Scaled(pair, const(exponent))


@called_as("double")
def double(x: Scaled) -> Expr:
    """The nearest double."""
    low, high = const(-5000), const(5000)
    k = dd.pick(dd.below(x.exponent, low), low, x.exponent)
    return raw(dd.LDEXP, (x.pair.hi, dd.pick(dd.below(high, k), high, k)))


@called_as("neg")
def neg(x: Scaled) -> Scaled:
    """-x."""
    return Scaled(dd.neg(x.pair), x.exponent)


@called_as("abs")
def magnitude(x: Scaled) -> Scaled:
    """|x|."""
    return Scaled(dd.magnitude(x.pair), x.exponent)


@called_as("at_exponent")
def _at(x: Scaled, k: Expr) -> Pair:
    """x / 2**k, where k is at least its own exponent."""
    down = dd.minus(x.exponent, k)
    least = dd.pick(dd.below(down, _FURTHEST), _FURTHEST, down)
    return shift(x.pair, dd.pick(dd.below(ZERO, least), ZERO, least))


def _common(x: Scaled, y: Scaled) -> Expr:
    """The larger exponent; of 0, the other's."""
    larger = dd.pick(dd.below(x.exponent, y.exponent), y.exponent, x.exponent)
    of_y = dd.pick(dd.same(y.pair.hi, ZERO), x.exponent, larger)
    return dd.pick(dd.same(x.pair.hi, ZERO), y.exponent, of_y)


@called_as("add")
def add(x: Scaled, y: Scaled) -> Scaled:
    """x + y."""
    apart = _add_apart(x, y, _common(x, y))
    alike = scaled(dd.add_pairs(x.pair, y.pair), x.exponent)
    found = _where(dd.same(x.exponent, y.exponent), alike, apart)
    return _or(found, dd.plus(x.pair.hi, y.pair.hi))


@called_as("add_apart")
def _add_apart(x: Scaled, y: Scaled, k: Expr) -> Scaled:
    """x + y, by way of their common exponent k."""
    return scaled(dd.add_pairs(_at(x, k), _at(y, k)), k)


@called_as("sub")
def sub(x: Scaled, y: Scaled) -> Scaled:
    """x - y."""
    return add(x, neg(y))


@called_as("mul")
def mul(x: Scaled, y: Scaled) -> Scaled:
    """x * y."""
    found = scaled(dd.mul_pairs(x.pair, y.pair), dd.plus(x.exponent, y.exponent))
    return _or(found, dd.times(x.pair.hi, y.pair.hi))


@called_as("div")
def div(x: Scaled, y: Scaled) -> Scaled:
    """x / y."""
    found = scaled(dd.div(x.pair, y.pair), dd.minus(x.exponent, y.exponent))
    return _or(found, dd.over(x.pair.hi, y.pair.hi))


@called_as("sqrt")
def sqrt(x: Scaled) -> Scaled:
    """The square root."""
    half = raw(f.FLOOR, (dd.times(x.exponent, HALF),))
    odd = dd.negation(dd.same(dd.plus(half, half), x.exponent))
    found = scaled(dd.sqrt(dd.scale(x.pair, dd.pick(odd, const(2), ONE))), half)
    return _or(found, raw(POW, (x.pair.hi, HALF)))


def _cbrt(x: Scaled) -> Scaled:
    """The cube root."""
    third = raw(f.FLOOR, (dd.over(x.exponent, const(3)),))
    rest = dd.minus(x.exponent, dd.times(const(3), third))
    return scaled(RULES[f.CBRT].build(shift(x.pair, rest)), third)


# ---------------------------------------------------------------------- conditions
@called_as("less")
def less(x: Scaled, y: Scaled) -> Condition:
    """x < y."""
    return _compared(x, y, dd.less, dd.below)


@called_as("at_most")
def less_equal(x: Scaled, y: Scaled) -> Condition:
    """x <= y."""
    return _compared(x, y, dd.less_equal, lambda a, b: dd.negation(dd.below(b, a)))


@called_as("equal")
def equal(x: Scaled, y: Scaled) -> Condition:
    """x == y."""
    return _compared(x, y, dd.equal, dd.same)


def _compared(
    x: Scaled,
    y: Scaled,
    alike: Callable[[Pair, Pair], Expr],
    apart: Callable[[Expr, Expr], Expr],
) -> Expr:
    """A comparison: of pairs with one exponent; else of the difference with 0."""
    same = dd.same(x.exponent, y.exponent)
    other = apart(sub(x, y).pair.hi, ZERO)
    return dd.either(dd.both(same, alike(x.pair, y.pair)), dd.both(dd.negation(same), other))


# ----------------------------------------------------------------------- functions
@called_as("usual")
def usual(x: Scaled) -> Pair:
    """x without its exponent: what is huge is infinite, what is tiny may be 0."""
    k = x.exponent
    tiny = shift(x.pair, dd.pick(dd.below(k, _FURTHEST), _FURTHEST, k))
    out = dd.select(dd.below(ZERO, k), dd.exact(dd.times(x.pair.hi, INF)), tiny)
    return dd.select(dd.same(k, ZERO), x.pair, out)


def _exp(x: Scaled) -> Scaled:
    """exp(x)."""
    p = usual(x)
    low, high = dd.minus_of(_LARGEST_EXPONENT), _LARGEST_EXPONENT
    p = dd.select(dd.below(p.hi, low), dd.exact(low), p)
    p = dd.select(dd.below(high, p.hi), dd.exact(high), p)
    k, r = reduced(p, named(f.LN2), 3)
    return scaled(dd.add(ONE_PAIR, small_expm1(r)), k)


def _log(x: Scaled) -> Scaled:
    """log(x)."""
    pair = RULES[f.LOG].build(x.pair)
    beside = dd.mul(dd.exact(x.exponent), dd.constant(named(f.LN2)))
    return scaled(dd.select(dd.same(x.exponent, ZERO), pair, dd.add(beside, pair)), ZERO)


def _hypot(x: Scaled, y: Scaled) -> Scaled:
    """sqrt(x**2 + y**2)."""
    return sqrt(add(mul(x, x), mul(y, y)))


def _atan2(y: Scaled, x: Scaled) -> Scaled:
    """The angle of (x, y)."""
    k = _common(y, x)
    return scaled(RULES[f.ATAN2].build(_at(y, k), _at(x, k)), ZERO)


def _power(x: Scaled, y: Scaled) -> Scaled:
    """x**y over the reals: for x < 0 the exponent must be an integer."""
    value, whole = exp(mul(y, log(magnitude(x)))), usual(y)
    half = dd.scale(whole, HALF)
    odd = dd.negation(dd.equal(dd.floor(half), half))
    integer = dd.equal(dd.floor(whole), whole)
    signed = _where(odd, neg(value), value)
    left = _where(integer, signed, Scaled(dd.exact(NAN), ZERO))
    result = _where(dd.negative(x.pair), left, value)
    at_zero = dd.pick(dd.below(ZERO, whole.hi), ZERO, INF)
    result = _where(dd.same(x.pair.hi, ZERO), Scaled(dd.exact(at_zero), ZERO), result)
    return _where(dd.same(y.pair.hi, ZERO), Scaled(ONE_PAIR, ZERO), result)


@called_as("rounded")
def _rounded(x: Scaled, step: Pair) -> Scaled:
    """An integer near x: x itself where that is huge."""
    return _where(dd.below(ZERO, x.exponent), x, scaled(step, ZERO))


def of_step(rule: Callable[[Pair], Pair]) -> Callable[[Scaled], Scaled]:
    """A rounding to integers."""
    return lambda x: _rounded(x, rule(usual(x)))


def _of_table(op: Op, *args: Scaled) -> Scaled:
    """A function of the table: of a tiny argument it is that times the slope at 0, if it is 0 there."""
    made = scaled(RULES[op].build(*map(usual, args)), ZERO)
    if op.arity != 1 or op.fold is None or op.fold(Fraction(0)) != 0:
        return made
    (x,) = args
    slope = _SLOPES.get(op)
    near = x if slope is None else mul(x, constant(slope()))
    return _where(dd.below(x.exponent, ZERO), near, made)


def _erfc(x: Scaled) -> Scaled:
    """1 - erf(x), beyond 1 by exp(-x**2)."""
    y = magnitude(x)
    scale = usual(y)
    beyond = mul(exp(neg(mul(y, y))), scaled(erfcx(scale), ZERO))
    far = _where(dd.negative(x.pair), sub(number(const(2)), beyond), beyond)
    near = scaled(RULES[f.ERFC].build(usual(x)), ZERO)
    return _where(dd.below(scale.hi, ONE), near, far)


def _expm1(x: Scaled) -> Scaled:
    """exp(x) - 1."""
    return _where(_far(x), sub(exp(x), number(ONE)), _of_table(f.EXPM1, x))


def _cosh(x: Scaled) -> Scaled:
    e = exp(x)
    return mul(add(e, div(number(ONE), e)), number(HALF))


def _sinh(x: Scaled) -> Scaled:
    e = exp(x)
    far = mul(sub(e, div(number(ONE), e)), number(HALF))
    return _where(_far(x), far, _of_table(f.SINH, x))


def _far(x: Scaled) -> Expr:
    """Whether x is so large that neither cancels."""
    return dd.below(const(40), dd.size(usual(x).hi))


def _log1p(x: Scaled) -> Scaled:
    """log(1 + x)."""
    made = scaled(RULES[f.LOG1P].build(usual(x)), ZERO)
    made = _where(dd.below(ZERO, x.exponent), log(x), made)
    return _where(dd.below(x.exponent, ZERO), x, made)


def _angle(function: Callable[[Pair, Pair, Expr], Pair]) -> Callable[[Scaled], Scaled]:
    def of_angle(x: Scaled) -> Scaled:
        made = scaled(of_far_angle(usual(x), function), ZERO)
        return made if function is cosine_of else _where(dd.below(x.exponent, ZERO), x, made)

    return of_angle


_SLOPES: dict[Op, Callable[[], Fraction]] = {f.ERF: two_over_root_pi}
"""Of functions whose slope at 0 is not 1."""
_OWN: dict[Op, Callable[..., Scaled]] = {
    f.EXP: _exp, f.LOG: _log, f.LOG1P: _log1p, f.CBRT: _cbrt, f.HYPOT: _hypot, f.ATAN2: _atan2,
    f.ERFC: _erfc, f.EXPM1: _expm1, f.COSH: _cosh, f.SINH: _sinh, POW: _power,
    f.SIN: _angle(sine_of), f.COS: _angle(cosine_of), f.TAN: _angle(tangent_of),
}  # fmt: skip


def _entry(op: Op) -> Callable[..., Scaled]:
    """A function of the table; where no rule gives a number, as the library has it."""

    def function(*args: Scaled) -> Scaled:
        found = _OWN[op](*args) if op in _OWN else _of_table(op, *args)
        there = number(raw(op, tuple(map(double, args))))
        return _where(_is_number(found), found, there)

    function.__doc__ = f"{op.name}({', '.join('xyz'[: op.arity])})."
    return called_as(op.name, ("Scaled",) * op.arity, "Scaled")(function)


TABLE: dict[Op, Callable[..., Scaled]] = {op: _entry(op) for op in RULES}
"""Every elementary function that has a double-double version."""
exp, log, cbrt = TABLE[f.EXP], TABLE[f.LOG], TABLE[f.CBRT]
