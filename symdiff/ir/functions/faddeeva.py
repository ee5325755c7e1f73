"""Faddeeva's function w(z) = exp(-z**2) erfc(-i*z) at z = x + i*y, its derivatives, and Voigt's
profile (DLMF 7.2.3, 7.10.2, 7.19)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from symdiff.ir import INF, ONE, ZERO, Expr, Op, const, div, eq, mul, neg, power, sqrt, where
from symdiff.ir.functions.columns import by_balls, flint, no_order, order_of
from symdiff.ir.functions.named_numbers import PI


def _derivative(n: Any, x: Any, y: Any) -> Any:
    """By the recurrence w^(k+1) = -2*z*w^(k) - 2*k*w^(k-1), which begins with w' = -2*z*w + 2i/sqrt(pi)."""
    library = flint()
    order, z = order_of(n), library.acb(x, y)
    if order is None:
        return library.acb("nan", "nan")
    before, now = library.acb(0), (-z * z).exp() * library.acb(y, -x).erfc()
    for k in range(order):
        following = -2 * (z * now + k * before)
        if k == 0:
            following += library.acb(0, 2 / library.arb.pi().sqrt())
        before, now = now, following
    return now


def _edges(n: float, x: float, y: float) -> float | None:
    if no_order(n):
        return math.nan
    if math.isinf(x) or math.isinf(y):
        return 0.0 if y >= 0 else math.nan
    return None


def _part(name: str, part: str, partials: Callable[..., Any]) -> Op:
    made: Op = Op(
        name, 3, partials=partials,
        sympy=lambda sp, n, x, y: sp.Function(name)(n, x, y),
        **by_balls(name, lambda n, x, y: getattr(_derivative(n, x, y), part), _edges),
    )  # fmt: skip
    return made


FADDEEVA_REAL: Op = _part(
    "faddeeva_real", "real",
    lambda n, x, y: (None, FADDEEVA_REAL(n + ONE, x, y), neg(FADDEEVA_IMAG(n + ONE, x, y))),
)  # fmt: skip
"""The real part of the derivative of order n."""
FADDEEVA_IMAG: Op = _part(
    "faddeeva_imag", "imag",
    lambda n, x, y: (None, FADDEEVA_IMAG(n + ONE, x, y), FADDEEVA_REAL(n + ONE, x, y)),
)  # fmt: skip
"""The imaginary part."""


def voigt(x: Expr, sigma: Expr, gamma: Expr) -> Expr:
    """The convolution of a normal and a Cauchy density; one of them where the other has width 0."""
    width = mul(sigma, sqrt(const(2)))
    both = div(FADDEEVA_REAL(ZERO, div(x, width), div(gamma, width)), mul(width, sqrt(PI())))
    peak = where(eq(x, ZERO), INF, ZERO)
    cauchy = div(gamma, mul(PI(), power(x, 2) + power(gamma, 2)))
    return where(eq(sigma, ZERO), where(eq(gamma, ZERO), peak, cauchy), both)


ENTRIES: tuple[Op, ...] = (
    FADDEEVA_REAL, FADDEEVA_IMAG,
)  # fmt: skip
