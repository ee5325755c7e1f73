"""The gamma function and the derivatives of its logarithm."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    ABS,
    HALF,
    NAN,
    ONE,
    ZERO,
    Expr,
    Op,
    and_,
    const,
    div,
    eq,
    integer,
    le,
    lt,
    mul,
    neg,
    power,
    where,
)
from symdiff.ir.functions.columns import c_function, flint
from symdiff.ir.functions.exponential import EXP, LOG
from symdiff.ir.functions.named_numbers import PI
from symdiff.ir.functions.selection import FLOOR, ROUND
from symdiff.ir.functions.trigonometric import SIN, TAN


def no_gamma(x: Expr) -> Expr:
    """The poles of gamma: 0, -1, -2, ..."""
    return and_(le(x, ZERO), eq(FLOOR(x), x))


GAMMA: Op = Op(
    "gamma", 1,
    pole=no_gamma,
    partials=lambda x: (mul(GAMMA(x), POLYGAMMA(ZERO, x)),),
    fold=lambda x: Fraction(math.factorial(int(x) - 1)) if x.denominator == 1 and 0 < x < 100 else None,
    names=("math.gamma", "scipy.special.gamma"),
    sympy=lambda sp, x: sp.gamma(x),
    libm="tgamma", python="math.gamma({0})",
    ball=lambda x: x.gamma(), flint="arb_hypgeom_gamma",
)  # fmt: skip
LGAMMA: Op = Op(
    "lgamma", 1,
    pole=no_gamma,
    partials=lambda x: (POLYGAMMA(ZERO, x),),
    fold=lambda x: Fraction(0) if x in (1, 2) else None,
    names=("math.lgamma", "scipy.special.gammaln"),
    sympy=lambda sp, x: sp.log(sp.Abs(sp.gamma(x))),
    libm="lgamma", python="math.lgamma({0})",
    ball=lambda x: x.lgamma() if x > 0 else abs(x.gamma()).log(),
    flint=lambda x: where(lt(ZERO, x), c_function("arb_hypgeom_lgamma", 1, "lgamma")(x), LOG(ABS(GAMMA(x)))),
)  # fmt: skip


def _polygamma_ball(n: Any, x: Any) -> Any:
    order = int(n.unique_fmpz())
    if order == 0:
        return x.digamma()
    library = flint()
    if not (x > 0 or x < 0):
        return library.arb("nan")
    far = x if x > 0 else 1 - x  # (-1)**(n+1) n! zeta(n+1, x)
    value = library.arb(order + 1).zeta(far) * math.factorial(order)
    if x > 0:
        return value if order % 2 else -value
    ctx = library.ctx  # (-1)**n psi_n(1 - x) minus the derivative of pi*cot(pi*x)
    cap, ctx.cap = ctx.cap, order + 1
    try:
        waves = library.arb_series([x, 1]).cot_pi()[order]
    finally:
        ctx.cap = cap
    return -value - library.arb.pi() * waves * math.factorial(order)


def _polygamma_in_c(n: Expr, x: Expr) -> Expr:
    order = integer(n)
    if order is None:
        return NAN
    if order == 0:
        return c_function("arb_digamma", 1)(x)
    right = lt(ZERO, x)
    zeta = c_function("arb_hurwitz_zeta", 2)(const(order + 1), where(right, x, ONE - x))
    value = mul(const(math.factorial(order)), zeta)
    return where(right, value if order % 2 else neg(value), neg(value) - _cotangent_slope(order, x))


_BERNOULLI_NUMBERS = 18
"""Terms of the asymptotic series of the polygamma function,"""
_STEPS = 22
"""and how far the recurrence takes arguments for these."""


@functools.cache
def _bernoulli() -> tuple[Fraction, ...]:
    """B_2, B_4 and so on, by the recurrence DLMF 24.5.3."""
    found = [Fraction(1)]
    for m in range(1, 2 * _BERNOULLI_NUMBERS + 1):
        total = sum((math.comb(m + 1, k) * b for k, b in enumerate(found)), Fraction(0))
        found.append(-total / (m + 1))
    return tuple(found[2::2])


def _polygamma_expand(n: Expr, x: Expr) -> Expr:
    """Reflection for x < 1/2, recurrence up to x + 22 + 2*n, then the asymptotic series,
    accurate to 2**-110 there (DLMF 5.5.2, 5.5.4, 5.11.2, 5.15.5, 5.15.6, 5.15.8)."""
    order = integer(n)
    if order is None or not 0 <= order <= MAX_POLYGAMMA:
        raise NotImplementedError(f"polygamma of order {n} has no kernel")
    reflected = lt(x, HALF)
    t = where(reflected, ONE - x, x)
    steps = _STEPS + 2 * order
    shift = t + const(steps)
    z = div(ONE, power(shift, 2))
    series: Expr = ZERO
    for k in range(_BERNOULLI_NUMBERS, 0, -1):
        scale = Fraction(math.factorial(2 * k + order - 1), math.factorial(2 * k))
        series = mul(z, series + const(_bernoulli()[k - 1] * scale))
    if order == 0:
        tail = LOG(shift) - div(HALF, shift) - series
        for k in range(steps - 1, -1, -1):
            tail = tail - div(ONE, t + const(k))
        return where(reflected, tail - div(PI(), TAN(mul(PI(), x - ROUND(x)))), tail)
    lead = const(math.factorial(order - 1)) + div(const(Fraction(math.factorial(order), 2)), shift)
    total = div(lead + series, power(shift, order))
    for k in range(steps - 1, -1, -1):
        total = total + div(const(math.factorial(order)), power(t + const(k), order + 1))
    value = total if order % 2 else neg(total)
    mirrored = neg(value) if order % 2 else value
    return where(reflected, mirrored - _cotangent_slope(order, x), value)


def log_gamma(x: Expr) -> Expr:
    """log(abs(gamma(x))) by logarithms and reflection."""
    reflected, value = lt(x, HALF), _log_gamma_right(x)
    return where(reflected, LOG(div(PI(), ABS(SIN(mul(PI(), x - ROUND(x)))))) - value, value)


def by_log_gamma(x: Expr) -> Expr:
    """gamma(x) by an exponential and reflection (DLMF 5.5.3)."""
    value, n = EXP(_log_gamma_right(x)), ROUND(x)
    sign = ONE - mul(const(2), n - mul(const(2), FLOOR(div(n, const(2)))))
    return where(lt(x, HALF), div(PI(), sign * SIN(mul(PI(), x - n)) * value), value)


def _log_gamma_right(x: Expr) -> Expr:
    """log(gamma) of the larger of x and 1 - x, as `_polygamma_expand` has its derivatives (DLMF 5.11.1)."""
    t = where(lt(x, HALF), ONE - x, x)
    shift, product = t + const(_STEPS), t
    for k in range(1, _STEPS):
        product = mul(product, t + const(k))
    z = div(ONE, power(shift, 2))
    series: Expr = ZERO
    for k in range(_BERNOULLI_NUMBERS, 0, -1):
        scale = Fraction(1, 2 * k * (2 * k - 1))
        series = mul(z, series) + const(_bernoulli()[k - 1] * scale)
    lead = mul(shift - HALF, LOG(shift)) - shift + div(LOG(mul(const(2), PI())), const(2))
    return lead + div(series, shift) - LOG(product)


def _cotangent_slope(order: int, x: Expr) -> Expr:
    """The derivative of pi*cot(pi*x), as a polynomial in c = cot(pi*x): each
    differentiation takes p(c) to -pi*(1 + c**2)*p'(c)."""
    p = [0, 1]
    for _ in range(order):
        slope = [k * a for k, a in enumerate(p)][1:]
        p = [-(a + b) for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    c = div(ONE, TAN(mul(PI(), x - ROUND(x))))
    total: Expr = ZERO
    for a in reversed(p):
        total = total * c + const(a)
    return mul(power(PI(), order + 1), total)


MAX_POLYGAMMA = 20
"""Highest order of the polygamma function that has a kernel."""


POLYGAMMA: Op = Op(
    "polygamma", 2,
    pole=lambda n, x: no_gamma(x),
    partials=lambda n, x: (None, POLYGAMMA(n + ONE, x)),
    names=("scipy.special.polygamma",),
    sympy=lambda sp, n, x: sp.polygamma(n, x),
    expand=_polygamma_expand, written=True,
    ball=_polygamma_ball, flint=_polygamma_in_c,
)  # fmt: skip

ENTRIES: tuple[Op, ...] = (
    GAMMA, LGAMMA, POLYGAMMA,
)  # fmt: skip
