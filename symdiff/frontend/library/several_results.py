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

EXACT: dict[Callable[..., Any], Callable[..., Expr]] = {}
"""What functions are, as formulas."""


def _of(formula: Callable[..., Expr]) -> Callable[..., Any]:
    """A function that is traced as a formula."""

    def found(*args: Any) -> Any:
        raise NotImplementedError

    EXACT[found] = formula
    return found


airy_ai, airy_ai_slope = _of(AIRY_AI), _of(AIRY_AI_SLOPE)
airy_bi, airy_bi_slope = _of(AIRY_BI), _of(AIRY_BI_SLOPE)
sine_integral, cosine_integral = _of(SI), _of(CI)
sinh_integral, cosh_integral = _of(SHI), _of(CHI)
riemann_zeta, hurwitz_zeta = _of(riemann), _of(hurwitz)


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
