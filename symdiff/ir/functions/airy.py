"""Airy functions and their derivatives (DLMF 9.2)."""

from __future__ import annotations

import math
from collections.abc import Callable

from symdiff.ir import Op, mul
from symdiff.ir.functions.columns import by_balls

LARGEST = 150.0
"""Airy functions overflow or underflow the doubles there."""


def _edges(far: float, slope: bool) -> Callable[[float], float | None]:
    """The limits at infinities; a derivative has none on the left."""

    def edges(x: float) -> float | None:
        if x > LARGEST:
            return far
        return (math.nan if slope else 0.0) if math.isinf(x) else None

    return edges


def _pair(name: str, sympy_name: str, far: float, far_slope: float) -> tuple[Op, Op]:
    """A solution of y'' = x*y and its derivative, with their limits on the right."""
    value: Op = Op(
        name, 1,
        partials=lambda x: (slope(x),),
        sympy=lambda sp, x: getattr(sp, sympy_name)(x),
        **by_balls(name, lambda x: getattr(x, name)(0), _edges(far, False)),
    )  # fmt: skip
    slope: Op = Op(
        f"{name}_slope", 1,
        partials=lambda x: (mul(x, value(x)),),
        sympy=lambda sp, x: getattr(sp, f"{sympy_name}prime")(x),
        **by_balls(f"{name}_slope", lambda x: getattr(x, name)(1), _edges(far_slope, True)),
    )  # fmt: skip
    return value, slope


AIRY_AI, AIRY_AI_SLOPE = _pair("airy_ai", "airyai", 0.0, -0.0)
AIRY_BI, AIRY_BI_SLOPE = _pair("airy_bi", "airybi", math.inf, math.inf)

ENTRIES: tuple[Op, ...] = (
    AIRY_AI, AIRY_AI_SLOPE, AIRY_BI, AIRY_BI_SLOPE,
)  # fmt: skip
