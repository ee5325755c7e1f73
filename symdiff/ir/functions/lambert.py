"""Lambert's W: the real branches of the inverse of w*exp(w) (DLMF 4.13)."""

from __future__ import annotations

import math
from typing import Any

from symdiff.ir import ONE, ZERO, Expr, Op, and_, div, eq, le, neg
from symdiff.ir.functions.columns import at_zero, by_balls, flint
from symdiff.ir.functions.exponential import EXP

LEAST = -math.exp(-1)
"""A double below the branch point -1/e by less than an ulp."""


def _inside(x: Expr) -> Expr:
    """Beyond the branch point."""
    return le(neg(EXP(neg(ONE))), x)


def _principal(x: Any) -> Any:
    library = flint()
    if x.abs_upper() < library.arb(2) ** (-4 * library.ctx.prec):
        return x * (1 + x * library.arb(0, 2))
    return x.lambertw(0)


def _principal_edges(x: float) -> float | None:
    return math.nan if x <= LEAST else math.inf if math.isinf(x) else None


def _lower_edges(x: float) -> float | None:
    if x == 0:
        return -math.inf
    return None if LEAST < x < 0 else math.nan


LAMBERTW: Op = Op(
    "lambertw", 1, sign="same", monotone=True,
    partials=lambda x: (div(ONE, x + EXP(LAMBERTW(x))),), fold=at_zero(0),
    domain=_inside,
    sympy=lambda sp, x: sp.LambertW(x),
    **by_balls("lambertw", _principal, _principal_edges),
)  # fmt: skip
"""The principal branch, at least -1."""
LAMBERTW_LOWER: Op = Op(
    "lambertw_lower", 1,
    partials=lambda x: (div(ONE, x + EXP(LAMBERTW_LOWER(x))),),
    domain=lambda x: and_(_inside(x), le(x, ZERO)), pole=lambda x: eq(x, ZERO),
    sympy=lambda sp, x: sp.LambertW(x, -1),
    **by_balls("lambertw_lower", lambda x: x.lambertw(-1), _lower_edges),
)  # fmt: skip
"""The branch of index -1, at most -1."""

ENTRIES: tuple[Op, ...] = (
    LAMBERTW, LAMBERTW_LOWER,
)  # fmt: skip
