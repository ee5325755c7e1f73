"""Functions of `scipy.special` with a known order, several results or optional arguments, in terms
of others: orthogonal polynomials and associated Legendre functions by their recurrences (DLMF 18.9,
14.10), derivatives of Bessel functions (DLMF 10.6, 10.29). Plain Python that is traced like a
user's, as in `composed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import exact, rows
from symdiff.ir import functions

bessel_j = exact(lambda v, z: functions.JV(v, z))
bessel_y = exact(lambda v, z: functions.YV(v, z))
bessel_i = exact(lambda v, z: functions.IV(v, z))
bessel_k = exact(lambda v, z: functions.KV(v, z))
airy_ai, airy_ai_slope = exact(functions.AIRY_AI), exact(functions.AIRY_AI_SLOPE)
airy_bi, airy_bi_slope = exact(functions.AIRY_BI), exact(functions.AIRY_BI_SLOPE)
sine_integral, cosine_integral = exact(functions.SI), exact(functions.CI)
sinh_integral, cosh_integral = exact(functions.SHI), exact(functions.CHI)
riemann_zeta, hurwitz_zeta = exact(functions.riemann), exact(functions.hurwitz)


def _recurrence(n: int, x: Any, now: Any, step: Any) -> Any:
    """The polynomial of degree n, from that of degree 1 and a step from two degrees to the next."""
    before = 1 + 0 * x
    for k in range(1, n + 1):
        before, now = now, step(k, now, before)
    return before


def eval_legendre(n: int, x: Any) -> Any:
    return eval_jacobi(n, 0, 0, x)


def eval_chebyt(n: int, x: Any) -> Any:
    return _recurrence(n, x, x, lambda k, p, q: 2 * x * p - q)


def eval_chebyu(n: int, x: Any) -> Any:
    return _recurrence(n, x, 2 * x, lambda k, p, q: 2 * x * p - q)


def eval_hermite(n: int, x: Any) -> Any:
    return _recurrence(n, x, 2 * x, lambda k, p, q: 2 * x * p - 2 * k * q)


def eval_hermitenorm(n: int, x: Any) -> Any:
    return _recurrence(n, x, x, lambda k, p, q: x * p - k * q)


def eval_laguerre(n: int, x: Any) -> Any:
    return eval_genlaguerre(n, 0, x)


def eval_genlaguerre(n: int, alpha: Any, x: Any) -> Any:
    return _recurrence(
        n,
        x,
        1 + alpha - x,
        lambda k, p, q: ((2 * k + 1 + alpha - x) * p - (k + alpha) * q) / (k + 1),
    )


def eval_gegenbauer(n: int, alpha: Any, x: Any) -> Any:
    return _recurrence(
        n,
        x,
        2 * alpha * x,
        lambda k, p, q: (2 * (k + alpha) * x * p - (k + 2 * alpha - 1) * q) / (k + 1),
    )


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


def slope(bessel: Any, sign: int, of_both: int = 1) -> Any:
    """The derivative of a Bessel function: half the difference of its neighbours, or their sum."""

    def found(v: Any, z: Any, n: int = 1) -> Any:
        if n == 0:
            return bessel(v, z)
        return of_both * (found(v - 1, z, n - 1) + sign * found(v + 1, z, n - 1)) / 2

    return found


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


# ------------------------------------------------- several results, optional arguments
def airy(z: Any) -> Any:
    return airy_ai(z), airy_ai_slope(z), airy_bi(z), airy_bi_slope(z)


def sici(x: Any) -> Any:
    return sine_integral(x), cosine_integral(x)


def shichi(x: Any) -> Any:
    return sinh_integral(x), cosh_integral(x)


def zeta(x: Any, q: Any = None) -> Any:
    return riemann_zeta(x) if q is None else hurwitz_zeta(x, q)


TABLE = rows(
    "scipy.special", 0,
    eval_legendre, eval_chebyt, eval_chebyu, eval_hermite, eval_hermitenorm, eval_laguerre,
    eval_genlaguerre, eval_gegenbauer, eval_jacobi, eval_sh_legendre, eval_sh_chebyt,
    eval_sh_chebyu, lpmv, airy, sici, shichi, zeta, jvp=slope(bessel_j, -1), yvp=slope(bessel_y, -1),
    ivp=slope(bessel_i, 1), kvp=slope(bessel_k, 1, -1),
)  # fmt: skip
"""Like `composed.TABLE`."""
