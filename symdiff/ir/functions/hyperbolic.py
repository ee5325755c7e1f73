"""Hyperbolic functions."""

from __future__ import annotations

from fractions import Fraction

from symdiff.ir import ONE, Op, abs_, add, const, div, eq, le, mul, power, sqrt
from symdiff.ir.functions.columns import at_zero, even, like_its_argument, odd

SINH: Op = Op(
    "sinh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (COSH(x),),
    slope=lambda x: (ONE + abs_(SINH(x)),),
    simplify=odd("sinh"), fold=at_zero(0),
    names=("math.sinh", "numpy.sinh"),
    sympy=lambda sp, x: sp.sinh(x),
    libm="sinh", vector=True, python="math.sinh({0})",
    ball=like_its_argument("sinh"), flint="arb_sinh",
)  # fmt: skip
COSH: Op = Op(
    "cosh", 1,
    sign="positive",
    partials=lambda x: (SINH(x),),
    slope=lambda x: (COSH(x),),
    simplify=even("cosh"), fold=at_zero(1),
    names=("math.cosh", "numpy.cosh"),
    sympy=lambda sp, x: sp.cosh(x),
    libm="cosh", vector=True, python="math.cosh({0})",
    ball=lambda x: x.cosh(), flint="arb_cosh",
)  # fmt: skip
TANH: Op = Op(
    "tanh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, power(COSH(x), 2)),),
    by_value=lambda y: (mul(ONE - y, ONE + y),),
    slope=lambda x: (ONE - power(TANH(x), 2) + const(Fraction(1, 2**50)),), steepest=1,
    simplify=odd("tanh"), fold=at_zero(0),
    names=("math.tanh", "numpy.tanh"),
    sympy=lambda sp, x: sp.tanh(x),
    libm="tanh", vector=True, python="math.tanh({0})",
    ball=like_its_argument("tanh"), flint="arb_tanh",
)  # fmt: skip
ASINH: Op = Op(
    "asinh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, sqrt(add(power(x, 2), ONE))),), steepest=1,
    simplify=odd("asinh"), fold=at_zero(0),
    names=("math.asinh", "numpy.arcsinh", "numpy.asinh"),
    sympy=lambda sp, x: sp.asinh(x),
    libm="asinh", vector=True, python="math.asinh({0})",
    ball=lambda x: x.asinh(), flint="arb_asinh",
)  # fmt: skip
ACOSH: Op = Op(
    "acosh", 1,
    monotone=True,
    sign="nonnegative",
    partials=lambda x: (div(ONE, mul(sqrt(x - ONE), sqrt(x + ONE))),),
    domain=lambda x: le(ONE, x),
    fold=lambda x: Fraction(0) if x == 1 else None,
    names=("math.acosh", "numpy.arccosh", "numpy.acosh"),
    sympy=lambda sp, x: sp.acosh(x),
    libm="acosh", vector=True, python="math.acosh({0})",
    ball=lambda x: x.acosh(), flint="arb_acosh",
)  # fmt: skip
ATANH: Op = Op(
    "atanh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, mul(ONE - x, ONE + x)),),
    domain=lambda x: le(abs_(x), ONE),
    pole=lambda x: eq(abs_(x), ONE),
    simplify=odd("atanh"), fold=at_zero(0),
    names=("math.atanh", "numpy.arctanh", "numpy.atanh"),
    sympy=lambda sp, x: sp.atanh(x),
    libm="atanh", vector=True, python="math.atanh({0})",
    ball=lambda x: x.atanh(), flint="arb_atanh",
)  # fmt: skip

ENTRIES: tuple[Op, ...] = (
    SINH, COSH, TANH, ASINH, ACOSH, ATANH,
)  # fmt: skip
