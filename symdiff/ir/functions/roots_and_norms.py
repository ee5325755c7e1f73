"""Cube roots and norms."""

from __future__ import annotations

from fractions import Fraction

from symdiff.ir import (
    ABS,
    NEG,
    ONE,
    POW,
    SIGN,
    ZERO,
    Expr,
    Op,
    abs_,
    const,
    div,
    eq,
    mul,
    neg,
    power,
    raw,
    where,
)
from symdiff.ir.functions.columns import odd

CBRT: Op = Op(
    "cbrt", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, mul(const(3), power(CBRT(x), 2))),),
    slope=lambda x: (abs_(div(CBRT(x), const(3) * x)),),
    simplify=odd("cbrt"),
    fold=lambda x: _exact_cbrt(x),
    names=("math.cbrt", "numpy.cbrt", "scipy.special.cbrt"),
    sympy=lambda sp, x: sp.real_root(x, 3) if x.is_number else sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3),
    libm="cbrt", vector=True, python="np.cbrt({0})",
    ball=lambda x: x if x.is_zero() else x.root(3) if x > 0 else -((-x).root(3)),
    flint=lambda x: mul(SIGN(x), raw(POW, (abs_(x), const(Fraction(1, 3))))),
)  # fmt: skip


def _exact_cbrt(x: Fraction) -> Fraction | None:
    if max(abs(x.numerator), x.denominator) >= 2**150:
        return None
    n, d = round(abs(x.numerator) ** (1 / 3)), round(x.denominator ** (1 / 3))
    r = Fraction(n, max(d, 1)) * (1 if x >= 0 else -1)
    return r if r**3 == x else None


UNIT: Op = Op(
    "unit", 2,
    partials=lambda w, norm: (div(ONE, norm), neg(div(div(w, norm), norm))),
    sympy=lambda sp, w, norm: w / norm,
    expand=lambda w, norm: where(eq(norm, ZERO), ZERO, div(w, norm)),
    ball=lambda w, norm: norm if norm.is_zero() else w / norm,
    flint=lambda w, norm: where(eq(norm, ZERO), ZERO, div(w, norm)),
    kink=lambda w, norm: norm,
    kink_rule="the derivative of a norm at 0 is 0, its subgradient of least norm",
)  # fmt: skip
HYPOT: Op = Op(
    "hypot", 2,
    sign="nonnegative",
    partials=lambda x, y: (UNIT(x, HYPOT(x, y)), UNIT(y, HYPOT(x, y))),
    slope=lambda x, y: (ONE, ONE),
    simplify=lambda x, y: _hypot_simplify(x, y),
    names=("math.hypot", "numpy.hypot"),
    sympy=lambda sp, x, y: sp.sqrt(x**2 + y**2),
    libm="hypot", vector=True, python="math.hypot({0}, {1})",
    ball=lambda x, y: (x * x + y * y).sqrt(), flint="arb_hypot",
    kink=lambda x, y: HYPOT(x, y),
    kink_rule="the derivative of a norm at 0 is 0, its subgradient of least norm",
)  # fmt: skip


def _hypot_simplify(x: Expr, y: Expr) -> Expr | None:
    if x is ZERO or y is ZERO:
        return abs_(y if x is ZERO else x)
    if x.op in (NEG, ABS) or y.op in (NEG, ABS):
        return HYPOT(*(e.args[0] if e.op in (NEG, ABS) else e for e in (x, y)))
    return None


ENTRIES: tuple[Op, ...] = (
    CBRT, UNIT, HYPOT,
)  # fmt: skip
