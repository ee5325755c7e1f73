"""Error functions and the normal distribution."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from symdiff.ir import HALF, Expr, Op, abs_, add, const, div, mul, neg, power, sqrt
from symdiff.ir.functions.columns import at_zero, odd
from symdiff.ir.functions.exponential import EXP
from symdiff.ir.functions.named_numbers import PI


def _erfc_ball(x: Any) -> Any:
    """By its ends where it falls so fast that the radius would say nothing else."""
    if x.is_exact() or not x > 100:
        return x.erfc()
    return x.upper().erfc().union(x.lower().erfc())


ERF: Op = Op(
    "erf", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (mul(div(const(2), sqrt(PI())), EXP(neg(power(x, 2)))),),
    slope=lambda x: (const(2),),
    simplify=odd("erf"), fold=at_zero(0),
    names=("math.erf", "scipy.special.erf"),
    sympy=lambda sp, x: sp.erf(x),
    libm="erf", vector=True, python="math.erf({0})",
    ball=lambda x: x.erf(),
)  # fmt: skip
ERFC: Op = Op(
    "erfc", 1,
    monotone=True,
    sign="positive",
    partials=lambda x: (neg(mul(div(const(2), sqrt(PI())), EXP(neg(power(x, 2))))),), steepest=2,
    slope=lambda x: (mul(ERFC(x), add(add(abs_(x), x), const(Fraction(3, 2)))),),  # DLMF 7.8.2
    fold=at_zero(1),
    names=("math.erfc", "scipy.special.erfc"),
    sympy=lambda sp, x: sp.erfc(x),
    libm="erfc", vector=True, python="math.erfc({0})",
    ball=_erfc_ball,
)  # fmt: skip


def normal_below(x: Expr) -> Expr:
    """The normal distribution function."""
    return mul(HALF, ERFC(neg(div(x, sqrt(const(2))))))


ENTRIES: tuple[Op, ...] = (
    ERF, ERFC,
)  # fmt: skip
