"""Exponential integrals, and those of sines and cosines (DLMF 6.2, 8.19)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import INF, NAN, ONE, ZERO, Expr, Op, abs_, and_, div, eq, le, lt, neg, where
from symdiff.ir.functions.columns import (
    LARGEST_PARAMETER,
    at_zero,
    by_balls,
    c_function,
    even,
    flint,
    odd,
    slope_by,
    unknown,
)
from symdiff.ir.functions.exponential import EXP, LOG
from symdiff.ir.functions.hyperbolic import COSH, SINH
from symdiff.ir.functions.selection import TRUNC
from symdiff.ir.functions.trigonometric import COS, SIN

LARGEST, SMALLEST = 750.0, -800.0
"""The exponential integral overflows or underflows the doubles outside of these."""


def _ei_edges(x: float) -> float | None:
    if x == 0:
        return -math.inf
    return math.inf if x > LARGEST else -0.0 if x < SMALLEST else None


EXPI: Op = Op(
    "expi", 1,
    partials=lambda x: (div(EXP(x), x),),
    pole=lambda x: eq(x, ZERO),
    names=("scipy.special.expi",),
    sympy=lambda sp, x: sp.Ei(x),
    flint="arb_hypgeom_ei", **by_balls("expi", lambda x: x.ei(), _ei_edges),
)  # fmt: skip


def _general(v: Any, x: Any) -> Any:
    library = flint()
    if not x >= 0:
        return library.arb("nan")
    return 1 / (v - 1) if x.is_zero() and v > 1 else x.expint(v)


def _general_edges(v: float, x: float) -> float | None:
    if x < 0 or math.isinf(v):
        return math.nan
    if x == 0:
        return math.inf if v <= 1 else 1 / (v - 1)
    return 0.0 if math.isinf(x) else None


def _inside(v: float, x: float) -> float | None:
    if x == 0 and math.isfinite(v):
        return -math.inf if v <= 1 else -1 / (v - 1) ** 2
    return None if 0 < x < math.inf and abs(v) <= LARGEST_PARAMETER else math.nan


EXPINT_TWICE = unknown(
    "expint_by_order_twice", 2,
    "the second derivative of an exponential integral by its order is not known: "
    "differentiate by the order once",
)  # fmt: skip
EXPINT_BY_ORDER: Op = Op(
    "expint_by_order", 2,
    partials=lambda v, x: (EXPINT_TWICE(v, x), neg(EXPINT_BY_ORDER(v - ONE, x))),
    slope=lambda v, x: (INF, abs_(EXPINT_BY_ORDER(v - ONE, x))),
    domain=lambda v, x: le(ZERO, x), pole=lambda v, x: eq(x, ZERO),
    sympy=lambda sp, v, x: sp.Function("expint_by_order")(v, x),
    **by_balls(
        "expint_by_order",
        slope_by(0, lambda v, x: x.expint(v), lambda v, x: flint().acb(x).expint(v)), _inside,
    ),
)  # fmt: skip
EXPINT: Op = Op(
    "expint", 2, sign="positive",
    partials=lambda v, x: (EXPINT_BY_ORDER(v, x), neg(EXPINT(v - ONE, x))),
    domain=lambda v, x: le(ZERO, x),
    pole=lambda v, x: and_(eq(x, ZERO), le(v, ONE)),
    sympy=lambda sp, v, x: sp.expint(v, x),
    flint=lambda v, x: where(lt(ZERO, x), c_function("arb_hypgeom_expint", 2)(v, x), NAN),
    **by_balls("expint", _general, _general_edges),
)  # fmt: skip


SPENCE: Op = Op(
    "spence", 1,
    partials=lambda x: (div(LOG(x), ONE - x),),
    domain=lambda x: le(ZERO, x), fold=lambda x: Fraction(0) if x == 1 else None,
    names=("scipy.special.spence",),
    sympy=lambda sp, x: sp.polylog(2, 1 - x),
    **by_balls(
        "spence", lambda x: (1 - x).polylog(2) if x >= 0 else flint().arb("nan"),
        lambda x: math.nan if x < 0 or math.isinf(x) else None,
    ),
)  # fmt: skip


# --------------------------------------------------------------- sines and cosines over x
def _far(limit: float, largest: float = math.inf) -> Callable[[float], float | None]:
    """The limit of an odd function at infinities."""
    return lambda x: math.copysign(limit, x) if abs(x) >= largest or math.isinf(x) else None


def _even_far(limit: float, largest: float = math.inf) -> Callable[[float], float | None]:
    """The same for an even function that has its pole at 0."""
    return lambda x: -math.inf if x == 0 else limit if abs(x) >= largest else None


SI: Op = Op(
    "sine_integral", 1, sign="same",
    partials=lambda x: (div(SIN(x), x),),
    simplify=odd("sine_integral"), fold=at_zero(0),
    sympy=lambda sp, x: sp.Si(x),
    flint="arb_hypgeom_si", **by_balls("si", lambda x: x.si(), _far(math.pi / 2)),
)  # fmt: skip
CI: Op = Op(
    "cosine_integral", 1,
    partials=lambda x: (div(COS(x), x),),
    pole=lambda x: eq(x, ZERO), simplify=even("cosine_integral"),
    sympy=lambda sp, x: sp.Ci(sp.Abs(x)),
    flint=lambda x: c_function("arb_hypgeom_ci", 1)(abs_(x)), **by_balls("ci", lambda x: abs(x).ci(), _even_far(0.0)),
)  # fmt: skip
SHI: Op = Op(
    "sinh_integral", 1, sign="same", monotone=True,
    partials=lambda x: (div(SINH(x), x),),
    simplify=odd("sinh_integral"), fold=at_zero(0),
    sympy=lambda sp, x: sp.Shi(x),
    flint="arb_hypgeom_shi", **by_balls("shi", lambda x: x.shi(), _far(math.inf, LARGEST)),
)  # fmt: skip
CHI: Op = Op(
    "cosh_integral", 1,
    partials=lambda x: (div(COSH(x), x),),
    pole=lambda x: eq(x, ZERO), simplify=even("cosh_integral"),
    sympy=lambda sp, x: sp.Chi(sp.Abs(x)),
    flint=lambda x: c_function("arb_hypgeom_chi", 1)(abs_(x)), **by_balls("chi", lambda x: abs(x).chi(), _even_far(math.inf, LARGEST)),
)  # fmt: skip


def of_whole_order(n: Expr, x: Expr) -> Expr:
    """The exponential integral of the order that SciPy rounds to an integer."""
    return where(lt(n, ZERO), NAN, EXPINT(TRUNC(n), x))


ENTRIES: tuple[Op, ...] = (
    EXPI, EXPINT, EXPINT_BY_ORDER, SPENCE, SI, CI, SHI, CHI,
)  # fmt: skip
