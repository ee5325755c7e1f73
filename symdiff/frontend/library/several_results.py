"""Functions of `scipy.special` with more than one result, or with arguments that may be left out, in terms of
single functions. Plain Python that is traced like a user's, as in `composed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdiff.ir import Expr
from symdiff.ir.functions import (
    AIRY_AI,
    AIRY_AI_SLOPE,
    AIRY_BI,
    AIRY_BI_SLOPE,
    CHI,
    CI,
    SHI,
    SI,
    hurwitz,
    riemann,
)


def airy_ai(z: Any) -> Any:
    raise NotImplementedError


def airy_ai_slope(z: Any) -> Any:
    raise NotImplementedError


def airy_bi(z: Any) -> Any:
    raise NotImplementedError


def airy_bi_slope(z: Any) -> Any:
    raise NotImplementedError


def sine_integral(x: Any) -> Any:
    raise NotImplementedError


def cosine_integral(x: Any) -> Any:
    raise NotImplementedError


def sinh_integral(x: Any) -> Any:
    raise NotImplementedError


def cosh_integral(x: Any) -> Any:
    raise NotImplementedError


def riemann_zeta(x: Any) -> Any:
    raise NotImplementedError


def hurwitz_zeta(x: Any, q: Any) -> Any:
    raise NotImplementedError


EXACT: dict[Callable[..., Any], Callable[..., Expr]] = {
    airy_ai: lambda z: AIRY_AI(z), airy_ai_slope: lambda z: AIRY_AI_SLOPE(z),
    airy_bi: lambda z: AIRY_BI(z), airy_bi_slope: lambda z: AIRY_BI_SLOPE(z),
    sine_integral: lambda x: SI(x), cosine_integral: lambda x: CI(x),
    sinh_integral: lambda x: SHI(x), cosh_integral: lambda x: CHI(x),
    riemann_zeta: riemann, hurwitz_zeta: hurwitz,
}  # fmt: skip
"""What these functions are, as formulas."""


def airy(z: Any) -> Any:
    return airy_ai(z), airy_ai_slope(z), airy_bi(z), airy_bi_slope(z)


def sici(x: Any) -> Any:
    return sine_integral(x), cosine_integral(x)


def shichi(x: Any) -> Any:
    return sinh_integral(x), cosh_integral(x)


def zeta(x: Any, q: Any = None) -> Any:
    return riemann_zeta(x) if q is None else hurwitz_zeta(x, q)


TABLE: dict[str, tuple[Any, ...]] = {
    f"scipy.special.{f.__name__}": (f, 0) for f in (airy, sici, shichi, zeta)
}
"""As `composed.TABLE`."""
