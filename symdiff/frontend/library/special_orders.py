"""Functions of `scipy.special` of an order that is known, in terms of others: orthogonal polynomials and
associated Legendre functions by their recurrences (DLMF 18.9, 14.10), derivatives of Bessel functions (DLMF 10.6, 10.29). Plain Python that is
traced like a user's, as in `composed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.ir import Expr
from symdiff.ir.functions import IV, JV, KV, YV


def bessel_j(v: Any, z: Any) -> Any:
    raise NotImplementedError


def bessel_y(v: Any, z: Any) -> Any:
    raise NotImplementedError


def bessel_i(v: Any, z: Any) -> Any:
    raise NotImplementedError


def bessel_k(v: Any, z: Any) -> Any:
    raise NotImplementedError


EXACT: dict[Callable[..., Any], Callable[..., Expr]] = {
    bessel_j: lambda v, z: JV(v, z), bessel_y: lambda v, z: YV(v, z),
    bessel_i: lambda v, z: IV(v, z), bessel_k: lambda v, z: KV(v, z),
}  # fmt: skip
"""What these functions are, as formulas."""


def eval_legendre(n: int, x: Any) -> Any:
    return eval_jacobi(n, 0, 0, x)


def eval_chebyt(n: int, x: Any) -> Any:
    before, now = 1 + 0 * x, x
    for _ in range(n):
        before, now = now, 2 * x * now - before
    return before


def eval_chebyu(n: int, x: Any) -> Any:
    before, now = 1 + 0 * x, 2 * x
    for _ in range(n):
        before, now = now, 2 * x * now - before
    return before


def eval_hermite(n: int, x: Any) -> Any:
    before, now = 1 + 0 * x, 2 * x
    for k in range(1, n + 1):
        before, now = now, 2 * x * now - 2 * k * before
    return before


def eval_hermitenorm(n: int, x: Any) -> Any:
    before, now = 1 + 0 * x, x
    for k in range(1, n + 1):
        before, now = now, x * now - k * before
    return before


def eval_laguerre(n: int, x: Any) -> Any:
    return eval_genlaguerre(n, 0, x)


def eval_genlaguerre(n: int, alpha: Any, x: Any) -> Any:
    before, now = 1 + 0 * x, 1 + alpha - x
    for k in range(1, n + 1):
        before, now = now, ((2 * k + 1 + alpha - x) * now - (k + alpha) * before) / (k + 1)
    return before


def eval_gegenbauer(n: int, alpha: Any, x: Any) -> Any:
    before, now = 1 + 0 * x, 2 * alpha * x
    for k in range(1, n + 1):
        before, now = (
            now,
            (2 * (k + alpha) * x * now - (k + 2 * alpha - 1) * before) / (k + 1),
        )
    return before


def eval_jacobi(n: int, alpha: Any, beta: Any, x: Any) -> Any:
    both = alpha + beta
    before, now = 1 + 0 * x, (alpha + 1) + (both + 2) * (x - 1) / 2
    for k in range(2, n + 2):
        c = 2 * k + both
        first = (c - 1) * (c * (c - 2) * x + (alpha - beta) * both)
        second = 2 * (k + alpha - 1) * (k + beta - 1) * c
        before, now = now, (first * now - second * before) / (2 * k * (k + both) * (c - 2))
    return before


def eval_sh_legendre(n: int, x: Any) -> Any:
    return eval_legendre(n, 2 * x - 1)


def eval_sh_chebyt(n: int, x: Any) -> Any:
    return eval_chebyt(n, 2 * x - 1)


def eval_sh_chebyu(n: int, x: Any) -> Any:
    return eval_chebyu(n, 2 * x - 1)


def jvp(v: Any, z: Any, n: int = 1) -> Any:
    if n == 0:
        return bessel_j(v, z)
    return (jvp(v - 1, z, n - 1) - jvp(v + 1, z, n - 1)) / 2


def yvp(v: Any, z: Any, n: int = 1) -> Any:
    if n == 0:
        return bessel_y(v, z)
    return (yvp(v - 1, z, n - 1) - yvp(v + 1, z, n - 1)) / 2


def ivp(v: Any, z: Any, n: int = 1) -> Any:
    if n == 0:
        return bessel_i(v, z)
    return (ivp(v - 1, z, n - 1) + ivp(v + 1, z, n - 1)) / 2


def kvp(v: Any, z: Any, n: int = 1) -> Any:
    if n == 0:
        return bessel_k(v, z)
    return -(kvp(v - 1, z, n - 1) + kvp(v + 1, z, n - 1)) / 2


def lpmv(m: int, v: int, x: Any) -> Any:
    """The associated Legendre function, with the phase of Condon and Shortley (DLMF 14.7.10, 14.9.3, 14.10.3)."""
    if v < 0:
        v = -v - 1
    order, size = abs(m), 1
    if order > v:
        return 0 * x
    before, now = 0 * x, np.sqrt(1 - x * x) ** order
    for k in range(order):
        now = -(2 * k + 1) * now
    for k in range(order, v):
        before, now = now, ((2 * k + 1) * x * now - (k + order) * before) / (k - order + 1)
    if m < 0:
        for k in range(v - order + 1, v + order + 1):
            size = -size * k if k % 2 else size * k
        now = now / size
    return now


TABLE: dict[str, tuple[Any, ...]] = {
    f"scipy.special.{f.__name__}": (f, 0)
    for f in (
        eval_legendre, eval_chebyt, eval_chebyu, eval_hermite, eval_hermitenorm, eval_laguerre,
        eval_genlaguerre, eval_gegenbauer, eval_jacobi, eval_sh_legendre, eval_sh_chebyt,
        eval_sh_chebyu, jvp, yvp, ivp, kvp, lpmv,
    )
}  # fmt: skip
"""As `composed.TABLE`."""
