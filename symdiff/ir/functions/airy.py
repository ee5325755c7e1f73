"""Airy functions and their derivatives (DLMF 9.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symdiff.ir import Op, mul
from symdiff.ir.functions.columns import by_balls

LARGEST = 150.0
"""Airy functions are beyond the doubles there."""


def _edges(far: float, slope: bool) -> Callable[[float], float | None]:
    """The limits at infinities; a derivative has none on the left."""

    def edges(x: float) -> float | None:
        if x > LARGEST:
            return far
        return (math.nan if slope else 0.0) if math.isinf(x) else None

    return edges


def _ball(name: str, slope: bool) -> Callable[[Any], Any]:
    return lambda x: getattr(x, name)(int(slope))


AIRY_AI: Op = Op(
    "airy_ai", 1,
    partials=lambda x: (AIRY_AI_SLOPE(x),),
    sympy=lambda sp, x: sp.airyai(x),
    **by_balls("airy_ai", _ball("airy_ai", False), _edges(0.0, False)),
)  # fmt: skip
AIRY_AI_SLOPE: Op = Op(
    "airy_ai_slope", 1,
    partials=lambda x: (mul(x, AIRY_AI(x)),),
    sympy=lambda sp, x: sp.airyaiprime(x),
    **by_balls("airy_ai_slope", _ball("airy_ai", True), _edges(-0.0, True)),
)  # fmt: skip
AIRY_BI: Op = Op(
    "airy_bi", 1,
    partials=lambda x: (AIRY_BI_SLOPE(x),),
    sympy=lambda sp, x: sp.airybi(x),
    **by_balls("airy_bi", _ball("airy_bi", False), _edges(math.inf, False)),
)  # fmt: skip
AIRY_BI_SLOPE: Op = Op(
    "airy_bi_slope", 1,
    partials=lambda x: (mul(x, AIRY_BI(x)),),
    sympy=lambda sp, x: sp.airybiprime(x),
    **by_balls("airy_bi_slope", _ball("airy_bi", True), _edges(math.inf, True)),
)  # fmt: skip

ENTRIES: tuple[Op, ...] = (
    AIRY_AI, AIRY_AI_SLOPE, AIRY_BI, AIRY_BI_SLOPE,
)  # fmt: skip
