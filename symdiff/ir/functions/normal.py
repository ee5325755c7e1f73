"""Error functions and the normal distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    HALF,
    ONE,
    ZERO,
    Expr,
    Op,
    abs_,
    add,
    and_,
    const,
    div,
    eq,
    le,
    mul,
    neg,
    or_,
    power,
    sqrt,
)
from symdiff.ir.functions.columns import at_zero, by_balls, flint, odd
from symdiff.ir.functions.exponential import EXP
from symdiff.ir.functions.named_numbers import PI


def _erfc_ball(x: Any) -> Any:
    """From the ends of x where erfc falls so fast that a ball with a radius is useless."""
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
    ball=lambda x: x.erf(), flint="arb_hypgeom_erf",
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
    ball=_erfc_ball, flint="arb_hypgeom_erfc",
)  # fmt: skip


ERFI: Op = Op(
    "erfi", 1, monotone=True, sign="same",
    partials=lambda x: (mul(div(const(2), sqrt(PI())), EXP(power(x, 2))),),
    simplify=odd("erfi"), fold=at_zero(0),
    names=("scipy.special.erfi",),
    sympy=lambda sp, x: sp.erfi(x), flint="arb_hypgeom_erfi",
    **by_balls("erfi", lambda x: x.erfi(), lambda x: x if math.isinf(x) else None),
)  # fmt: skip


def normal_below(x: Expr) -> Expr:
    """The normal distribution function."""
    return mul(HALF, ERFC(neg(div(x, sqrt(const(2))))))


# --------------------------------------------------------------------------- inverses
def _inverse_edges(low: float, high: float) -> Callable[[float], float | None]:
    """Edges of a rising function that has its poles at the ends of its domain."""

    def edges(x: float) -> float | None:
        if not min(low, high) <= x <= max(low, high):
            return math.nan
        return -math.inf if x == low else math.inf if x == high else None

    return edges


def _erfinv_ball(x: Any) -> Any:
    return x.erfinv() if x > -1 and x < 1 else flint().arb("nan")


def _erfcinv_ball(x: Any) -> Any:
    return x.erfcinv() if x > 0 and x < 2 else flint().arb("nan")


ERFINV: Op = Op(
    "erfinv", 1, monotone=True, sign="same",
    partials=lambda x: (mul(mul(HALF, sqrt(PI())), EXP(power(ERFINV(x), 2))),),
    by_value=lambda y: (mul(mul(HALF, sqrt(PI())), EXP(power(y, 2))),),
    domain=lambda x: le(abs_(x), ONE), pole=lambda x: eq(abs_(x), ONE),
    simplify=odd("erfinv"), fold=at_zero(0),
    names=("scipy.special.erfinv",),
    sympy=lambda sp, x: sp.erfinv(x), flint="arb_hypgeom_erfinv",
    **by_balls("erfinv", _erfinv_ball, _inverse_edges(-1.0, 1.0)),
)  # fmt: skip
ERFCINV: Op = Op(
    "erfcinv", 1, monotone=True,
    partials=lambda x: (neg(mul(mul(HALF, sqrt(PI())), EXP(power(ERFCINV(x), 2)))),),
    by_value=lambda y: (neg(mul(mul(HALF, sqrt(PI())), EXP(power(y, 2)))),),
    domain=lambda x: and_(le(ZERO, x), le(x, const(2))),
    pole=lambda x: or_(eq(x, ZERO), eq(x, const(2))),
    fold=lambda x: Fraction(0) if x == 1 else None,
    names=("scipy.special.erfcinv",),
    sympy=lambda sp, x: sp.erfcinv(x), flint="arb_hypgeom_erfcinv",
    **by_balls("erfcinv", _erfcinv_ball, _inverse_edges(2.0, 0.0)),
)  # fmt: skip


def normal_quantile(p: Expr) -> Expr:
    """The inverse of the normal distribution function."""
    return neg(mul(sqrt(const(2)), ERFCINV(mul(const(2), p))))


ENTRIES: tuple[Op, ...] = (
    ERF, ERFC, ERFI, ERFINV, ERFCINV,
)  # fmt: skip
