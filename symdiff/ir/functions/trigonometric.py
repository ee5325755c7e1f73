"""Sine and related functions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symdiff.ir import (
    ABS,
    HALF,
    MUL,
    ONE,
    ZERO,
    Expr,
    Op,
    abs_,
    add,
    const,
    div,
    le,
    lt,
    mul,
    neg,
    power,
    rational,
    raw,
    scaled,
    sqrt,
    where,
)
from symdiff.ir.functions.columns import at_zero, c_function, even, flint, odd
from symdiff.ir.functions.named_numbers import PI
from symdiff.ir.functions.roots_and_norms import HYPOT

_TURNS = {  # the fractions of pi whose sine is rational (Niven's theorem)
    Fraction(0): ZERO, Fraction(1, 6): HALF, Fraction(1, 2): ONE, Fraction(5, 6): HALF,
    Fraction(1): ZERO, Fraction(7, 6): neg(HALF), Fraction(3, 2): neg(ONE),
    Fraction(11, 6): neg(HALF),
}  # fmt: skip


def _of_pi(x: Expr, ahead: Fraction) -> Expr | None:
    """sin(x + ahead*pi) for a rational multiple x of pi, where that is rational."""
    factor, rest = scaled(x)
    return _TURNS.get((factor + ahead) % 2) if rest.op is PI else None


def _sin_simplify(x: Expr) -> Expr | None:
    found = odd("sin")(x)
    return _of_pi(x, Fraction(0)) if found is None else found


def _cos_simplify(x: Expr) -> Expr | None:
    found = even("cos")(x)
    return _of_pi(x, Fraction(1, 2)) if found is None else found


_ANGLES = {  # the multiples of pi whose sines and tangents are rational
    "asin": {Fraction(1): Fraction(1, 2), Fraction(1, 2): Fraction(1, 6), Fraction(0): Fraction(0)},
    "atan": {Fraction(1): Fraction(1, 4)},
}  # fmt: skip


def _angle_of(name: str, x: Expr) -> Expr | None:
    """The angle whose sine or tangent is a given number, if it is a multiple of pi."""
    if (q := rational(x)) is None or (part := _ANGLES[name].get(abs(q))) is None:
        return None
    return mul(const(part if q > 0 else -part), PI())


def _odd_angle(name: str) -> Callable[[Expr], Expr | None]:
    def simplify(x: Expr) -> Expr | None:
        found = odd(name)(x)
        return _angle_of(name, x) if found is None else found

    return simplify


def _acos_simplify(x: Expr) -> Expr | None:
    found = _angle_of("asin", x)
    return None if found is None else mul(HALF, PI()) - found


def _atan2_simplify(y: Expr, x: Expr) -> Expr | None:
    """The angle of a vector on an axis."""
    up, right = rational(y), rational(x)
    if up is None or right is None or (up and right) or up == right:
        return None
    half = Fraction(1, 2) if up > 0 else Fraction(-1, 2)
    return mul(const(half if up else Fraction(right < 0)), PI())


def _tan_simplify(x: Expr) -> Expr | None:
    factor, rest = scaled(x)
    if rest.op is PI and 4 * factor % 4 in (0, 1, 3):
        return const({0: 0, 1: 1, 3: -1}[int(4 * factor % 4)])
    return odd("tan")(x)


SIN: Op = Op(
    "sin", 1,
    partials=lambda x: (COS(x),),
    slope=lambda x: (ONE,),
    simplify=_sin_simplify, fold=at_zero(0),
    names=("math.sin", "numpy.sin"),
    sympy=lambda sp, x: sp.sin(x),
    libm="sin", vector=True, python="math.sin({0})",
    ball=lambda x: x.sin(), flint="arb_sin",
)  # fmt: skip
COS: Op = Op(
    "cos", 1,
    partials=lambda x: (neg(SIN(x)),),
    slope=lambda x: (ONE,),
    simplify=_cos_simplify, fold=at_zero(1),
    names=("math.cos", "numpy.cos"),
    sympy=lambda sp, x: sp.cos(x),
    libm="cos", vector=True, python="math.cos({0})",
    ball=lambda x: x.cos(), flint="arb_cos",
)  # fmt: skip
TAN: Op = Op(
    "tan", 1,
    partials=lambda x: (add(power(TAN(x), 2), ONE),),
    slope=lambda x: (ONE + power(TAN(x), 2),),
    simplify=_tan_simplify, fold=at_zero(0),
    names=("math.tan", "numpy.tan"),
    sympy=lambda sp, x: sp.tan(x),
    libm="tan", vector=True, python="math.tan({0})",
    ball=lambda x: x.tan(), flint="arb_tan",
)  # fmt: skip
ASIN: Op = Op(
    "asin", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, sqrt(mul(ONE - x, ONE + x))),),
    domain=lambda x: le(abs_(x), ONE),
    simplify=_odd_angle("asin"), fold=at_zero(0),
    names=("math.asin", "numpy.arcsin", "numpy.asin"),
    sympy=lambda sp, x: sp.asin(x),
    libm="asin", vector=True, python="math.asin({0})",
    ball=lambda x: x.asin(), flint="arb_asin",
)  # fmt: skip
ACOS: Op = Op(
    "acos", 1,
    monotone=True,
    sign="nonnegative",
    partials=lambda x: (div(const(-1), sqrt(mul(ONE - x, ONE + x))),),
    domain=lambda x: le(abs_(x), ONE),
    simplify=_acos_simplify, fold=lambda x: Fraction(0) if x == 1 else None,
    names=("math.acos", "numpy.arccos", "numpy.acos"),
    sympy=lambda sp, x: sp.acos(x),
    libm="acos", vector=True, python="math.acos({0})",
    ball=lambda x: x.acos(), flint="arb_acos",
)  # fmt: skip
ATAN: Op = Op(
    "atan", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, add(power(x, 2), ONE)),), steepest=1,
    simplify=_odd_angle("atan"), fold=at_zero(0),
    names=("math.atan", "numpy.arctan", "numpy.atan"),
    sympy=lambda sp, x: sp.atan(x),
    libm="atan", vector=True, python="math.atan({0})",
    ball=lambda x: x.atan(), flint="arb_atan",
)  # fmt: skip


def _angle(y: Expr, x: Expr) -> Expr:
    """The angle of a vector by the quadrant it is in."""
    half = mul(HALF, PI())
    steep = where(lt(ZERO, y), half, neg(half)) - ATAN(div(x, y))
    turned = where(lt(ZERO, x), ZERO, where(le(ZERO, y), PI(), neg(PI())))
    return where(lt(ABS(x), ABS(y)), steep, ATAN(div(y, x)) + turned)


ATAN2: Op = Op(
    "atan2", 2,
    partials=lambda y, x: (
        div(x, add(power(x, 2), power(y, 2))),
        neg(div(y, add(power(x, 2), power(y, 2)))),
    ),
    slope=lambda y, x: (div(ONE, HYPOT(x, y)), div(ONE, HYPOT(x, y))),
    simplify=_atan2_simplify,
    names=("math.atan2", "numpy.arctan2", "numpy.atan2"),
    sympy=lambda sp, y, x: sp.atan2(y, x),
    libm="atan2", vector=True, python="math.atan2({0}, {1})",
    ball=lambda y, x: y + x if y.is_nan() or x.is_nan() else flint().arb.atan2(y, x),
    flint=lambda y, x: c_function("arb_atan2", 2, "atan2")(y, x) + raw(MUL, (ZERO, y + x)),  # nan if one is
    cut=lambda y, x: y, pieces=lambda y, x: _angle(y, x),
)  # fmt: skip

ENTRIES: tuple[Op, ...] = (
    SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2,
)  # fmt: skip
