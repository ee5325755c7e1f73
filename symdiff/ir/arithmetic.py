"""Constructors of arithmetic: they fold exact constants, and apply only local identities that
hold wherever their left side is defined (over the reals)."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction

from symdiff.ir.conditions import lt, where
from symdiff.ir.nodes import (
    ADD,
    BUILDERS,
    CONST,
    DIV,
    HALF,
    INF,
    MUL,
    NAN,
    NEG,
    ONE,
    POW,
    SUB,
    ZERO,
    Expr,
    Number,
    Op,
    apply,
    as_expr,
    const,
    integer,
    rational,
    raw,
)

MAX_CONSTANT_BITS = 4096
"""Exact constants longer than this are left as operations."""

MAX_FACTOR_BITS = 256
"""Constant factors are gathered into one while it stays within this."""


def _exact(q: Fraction) -> Expr | None:
    return raw(CONST, (), q) if _bits(q) <= MAX_CONSTANT_BITS else None


_UNIT = Fraction(1)
MAX_EXPONENT = 900
"""Constant factors are not raised to powers beyond 2**MAX_EXPONENT."""
Pair = tuple[Expr, Expr]


def _factor(e: Expr) -> Fraction | None:
    """The constant c of a product `c*u`, if it is short enough to move."""
    if e.op is not MUL or (q := rational(e.args[0])) is None:
        return None
    inner = e.args[1]
    if inner.op is MUL and inner.args[0].op is CONST:
        return None  # two constants that were too long for one
    return q if _bits(q) <= MAX_FACTOR_BITS else None


def _bits(q: Fraction) -> int:
    return q.numerator.bit_length() + q.denominator.bit_length()


def _moved(q: Fraction) -> Expr | None:
    """The constant of a product of constants, if it is short."""
    return raw(CONST, (), q) if _bits(q) <= MAX_FACTOR_BITS else None


def scaled(e: Expr) -> tuple[Fraction, Expr]:
    """Split `c*u` into (c, u) with c a rational; c = 1 if there is none."""
    if (q := _factor(e)) is not None:
        return q, e.args[1]
    if e.op is NEG:
        q, u = scaled(e.args[0])
        return -q, u
    return _UNIT, e


def _nonfinite(op: Op, a: Expr, b: Expr) -> Expr | None:
    """An operation on two constants, one of them inf, -inf or nan, by the rules of IEEE; and nan
    where the other operand does not matter."""
    if op is not POW and (a is NAN or b is NAN):
        return NAN
    if a.op is not CONST or b.op is not CONST:
        return None
    if isinstance(a.value, Fraction) and isinstance(b.value, Fraction):
        return None
    x, y = _clamped(a.value), _clamped(b.value)
    if op is DIV:
        return const(x * math.inf if y == 0 else x / y)
    if op is POW:
        return const(math.pow(x, y))
    return const(x + y if op is ADD else x - y if op is SUB else x * y)


def _clamped(value: float | Fraction) -> float:
    """A constant as a double; a finite one stays finite and keeps its sign."""
    if isinstance(value, float):
        return value
    bounded = min(max(value, -_LARGEST), _LARGEST)
    return float(bounded) or math.copysign(math.ulp(0.0), value) * (value != 0)


_LARGEST = Fraction(sys.float_info.max)


def add(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(ADD, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if p is not None and q is not None and (e := _exact(p + q)) is not None:
        return e
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    if b.op is NEG:
        return sub(a, b.args[0])
    if a.op is NEG:
        return sub(b, a.args[0])
    if p is not None and q is None:  # constants to the right, so that they meet
        return add(b, a)
    if q is not None and a.op in (ADD, SUB) and (r := rational(a.args[1])) is not None:
        if (e := _exact(q + r if a.op is ADD else q - r)) is not None:
            return add(a.args[0], e)
    (m, u), (n, v) = scaled(a), scaled(b)
    if u is v:
        return mul(const(m + n), u)
    return raw(ADD, (a, b))


def sub(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(SUB, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if p is not None and q is not None and (e := _exact(p - q)) is not None:
        return e
    if q == 0:
        return a
    if p == 0:
        return neg(b)
    if b.op is NEG:
        return add(a, b.args[0])
    if q is not None:
        if q < 0:
            return add(a, const(-q))
        if a.op in (ADD, SUB) and (r := rational(a.args[1])) is not None:
            return add(a.args[0], const(r - q if a.op is ADD else -r - q))
        if a.op is SUB and (r := rational(a.args[0])) is not None:
            return sub(const(r - q), a.args[1])
    if p is not None and b.op in (ADD, SUB) and (r := rational(b.args[1])) is not None:
        return sub(const(p - r if b.op is ADD else p + r), b.args[0])
    if p is not None and b.op is SUB and (r := rational(b.args[0])) is not None:
        return add(b.args[1], const(p - r))
    (m, u), (n, v) = scaled(a), scaled(b)
    if u is v:
        return mul(const(m - n), u)
    return raw(SUB, (a, b))


def neg(a: Expr | Number) -> Expr:
    a = as_expr(a)
    if a.op is CONST:
        return const(-a.value)
    if a.op is NEG:
        return a.args[0]
    if a.op is SUB:
        return sub(a.args[1], a.args[0])
    if a.op is MUL and (q := rational(a.args[0])) is not None:
        return mul(const(-q), a.args[1])
    return raw(NEG, (a,))


def _base_exponent(e: Expr) -> tuple[Expr, int] | None:
    """Write e as base**n with an integer n > 0."""
    if e.op is POW:
        n = integer(e.args[1])
        return (e.args[0], n) if n is not None and n > 0 else None
    return e, 1


def _exponent_of(a: Expr, b: Expr) -> tuple[Expr, int, int] | None:
    """(base, m, n) if a = base**m and b = base**n, and neither is a constant."""
    left, right = _base_exponent(a), _base_exponent(b)
    if left is None or right is None or left[0] is not right[0] or left[0].op is CONST:
        return None
    return left[0], left[1], right[1]


def mul(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(MUL, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if p is not None and q is not None and (e := _exact(p * q)) is not None:
        return e
    if q is not None and p is None:
        return mul(b, a)
    if p is not None:
        if p == 0:
            return ZERO
        if p == 1:
            return b
        if p == -1:
            return neg(b)
        if b.op is NEG:
            return mul(const(-p), b.args[0])
        if (r := _factor(b)) is not None and (e := _moved(p * r)) is not None:
            return mul(e, b.args[1])
        if b.op is DIV and (r := rational(b.args[0])) is not None:
            if (e := _moved(p * r)) is not None:
                return div(e, b.args[1])
        if b.op is DIV and (r := rational(b.args[1])):
            if (e := _moved(p / r)) is not None and (e.value.denominator == 1 or p.denominator > 1):
                return mul(e, b.args[0])
        return raw(MUL, (a, b))
    if a.op is NEG:
        return neg(mul(a.args[0], b))
    if b.op is NEG:
        return neg(mul(a, b.args[0]))
    if _factor(a) is not None:
        return mul(a.args[0], mul(a.args[1], b))
    if _factor(b) is not None:
        return mul(b.args[0], mul(a, b.args[1]))
    for quotient, factor in ((b, a), (a, b)):
        if quotient.op is DIV and (n := _exponent_of(factor, quotient.args[1])) is not None:
            base, m, k = n
            if m >= k:
                return mul(quotient.args[0], power(base, m - k))
            return div(quotient.args[0], power(base, k - m))
    for quotient, factor in ((b, a), (a, b)):
        if quotient.op is DIV and (r := rational(quotient.args[0])) is not None:
            if _bits(r) <= MAX_FACTOR_BITS:
                return mul(quotient.args[0], div(factor, quotient.args[1]))
    if (n := _exponent_of(a, b)) is not None:
        return power(n[0], n[1] + n[2])
    return raw(MUL, (a, b))


def div(a: Expr | Number, b: Expr | Number) -> Expr:
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(DIV, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if q is not None:
        if q == 0:
            if p is None:
                return raw(DIV, (a, b))
            return NAN if p == 0 else INF if p > 0 else neg(INF)
        if p is not None and (e := _exact(p / q)) is not None:
            return e
        if q == 1:
            return a
        if q == -1:
            return neg(a)
        if q < 0:
            return neg(div(a, const(-q)))
        if (r := _factor(a)) is not None and (e := _moved(r / q)) is not None:
            return mul(e, a.args[1])
        if a.op is DIV and (r := rational(a.args[1])) is not None:
            if (e := _moved(r * q)) is not None:
                return div(a.args[0], e)
        if q.numerator == 1 and q.denominator.bit_length() <= MAX_EXPONENT:
            return mul(const(1 / q), a)
    if p == 0:
        return ZERO
    if a is b:
        return ONE
    if a.op is NEG:
        return neg(div(a.args[0], b))
    if b.op is NEG:
        return neg(div(a, b.args[0]))
    if (r := _factor(b)) is not None:
        if p is not None and (e := _moved(p / r)) is not None:
            return div(e, b.args[1])
        if r.denominator == 1 and (s := _factor(a)) is not None:
            if (e := _moved(s / r)) is not None:
                return mul(e, div(a.args[1], b.args[1]))
    elif p is None and _factor(a) is not None:
        return mul(a.args[0], div(a.args[1], b))
    if b.op is DIV:
        return div(mul(a, b.args[1]), b.args[0])
    if (n := _exponent_of(a, b)) is not None:
        return power(n[0], n[1] - n[2])
    if a.op is MUL:
        for i, f in enumerate(a.args):
            if (n := _exponent_of(f, b)) is not None:
                return mul(a.args[1 - i], power(n[0], n[1] - n[2]))
    return raw(DIV, (a, b))


def power(a: Expr | Number, b: Expr | Number) -> Expr:
    """`a**b` over the reals: nan for a < 0 unless b is an integer; a**0 is 1."""
    a, b = as_expr(a), as_expr(b)
    if (e := _nonfinite(POW, a, b)) is not None:
        return e
    p, q = rational(a), rational(b)
    if q is None:
        return ONE if p == 1 else raw(POW, (a, b))
    if q == 0:
        return ONE
    if q == 1:
        return a
    if q < 0:
        return div(ONE, power(a, const(-q)))
    n = integer(b)
    if (
        p is not None
        and n is not None
        and n * max(1, p.numerator.bit_length()) <= MAX_CONSTANT_BITS
    ):
        if (e := _exact(p**n)) is not None:
            return e
    if n is None:
        if p == 0:
            return ZERO
        if p is not None and p < 0:
            return NAN
        if a.op is CONST and p is not None and p > 0 and (r := _root(p, q)) is not None:
            return const(r)
        if a.op is POW and (m := rational(a.args[1])) is not None:
            if m.denominator == 1 and m % 2 == 0:
                return power(abs_(a.args[0]), const(m * q))
            if m.denominator != 1:
                return power(a.args[0], const(m * q))
        return raw(POW, (a, b))
    if a.op is NEG:
        e = power(a.args[0], b)
        return e if n % 2 == 0 else neg(e)
    if a.op is POW and (m := rational(a.args[1])) is not None:
        return power(a.args[0], const(m * n))
    if a.op is DIV and _stays(a.args[0], n):
        return div(power(a.args[0], b), power(a.args[1], b))
    if a.op is MUL and _stays(a.args[0], n):
        return mul(power(a.args[0], b), power(a.args[1], b))
    if a.op is ABS and n % 2 == 0:
        return power(a.args[0], b)
    return raw(POW, (a, b))


def _stays(c: Expr, n: int) -> bool:
    """Whether a node is a constant whose power fits in a double."""
    q = rational(c)
    if q is None:
        return False
    return abs(q.numerator.bit_length() - q.denominator.bit_length()) * n <= MAX_EXPONENT


def sqrt(a: Expr | Number) -> Expr:
    """The square root is the power 1/2."""
    return power(a, HALF)


def _root(p: Fraction, q: Fraction) -> Fraction | None:
    """The exact value of p**q, p > 0, where it is rational."""
    if q.denominator > 64 or abs(q.numerator) > 64:
        return None
    parts = []
    for n in (p.numerator, p.denominator):
        r = round(n ** (1 / q.denominator)) if n < 2**53 else -1
        if r < 0 or r**q.denominator != n:
            return None
        parts.append(r)
    return Fraction(parts[0], parts[1]) ** q.numerator


def _abs_simplify(a: Expr) -> Expr | None:
    if a.op is NEG:
        return abs_(a.args[0])
    if a.op is ABS:
        return a
    if a.op is POW and (q := rational(a.args[1])) is not None:
        if q.denominator != 1 or q % 2 == 0:
            return a
        return power(abs_(a.args[0]), a.args[1])
    if a.op is MUL and (q := rational(a.args[0])) is not None:
        return mul(const(abs(q)), abs_(a.args[1]))
    return None


SIGN: Op = Op(
    "sign", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction((x > 0) - (x < 0)),
    names=("numpy.sign",),
    sign="same",
    sympy=lambda sp, x: sp.sign(x),
    python="np.sign({0})",
    expand=lambda x: where(lt(ZERO, x), ONE, where(lt(x, ZERO), const(-1), x)),
    ball=lambda x: x if x.is_nan() else x.sgn(), flint="arb_sgn",
    kink=lambda x: x,
    kink_rule="sign'(0) = 0",
)  # fmt: skip

ABS: Op = Op(
    "abs", 1,
    partials=lambda x: (SIGN(x),),
    slope=lambda x: (ONE,),
    simplify=_abs_simplify,
    fold=lambda x: abs(x),
    names=("builtins.abs", "math.fabs", "numpy.abs", "numpy.absolute", "numpy.fabs"),
    sympy=lambda sp, x: sp.Abs(x),
    libm="fabs", intrinsic="llvm.fabs", python="abs({0})", sign="nonnegative",
    ball=lambda x: abs(x), flint="arb_abs",
    kink=lambda x: x,
    kink_rule="abs'(0) = 0",
)  # fmt: skip


def abs_(a: Expr | Number) -> Expr:
    return apply(ABS, a)


def factors(e: Expr) -> Iterator[tuple[Expr, int]]:
    """The factors of a product with exponent 1, and those of its divisors with exponent -1."""
    stack = [(e, 1)]
    while stack:
        n, side = stack.pop()
        if n.op is MUL:
            stack += [(a, side) for a in reversed(n.args)]
        elif n.op is DIV:
            stack += [(n.args[1], -side), (n.args[0], side)]
        elif n.op is NEG:
            stack += [(n.args[0], side), (const(-1), 1)]
        else:
            yield n, side


def product(factors: Iterable[Expr]) -> Expr:
    """The product of factors, from the first to the last."""
    return functools.reduce(mul, factors, ONE)


BUILDERS.update({ADD: add, SUB: sub, MUL: mul, DIV: div, NEG: neg, POW: power})
