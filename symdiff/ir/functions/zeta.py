"""Hurwitz's zeta function and its derivatives by the exponent (DLMF 25.4.2, 25.11.1, 25.11.3, 25.11.17)."""

from __future__ import annotations

import math
from typing import Any

from symdiff.ir import NAN, ONE, ZERO, Expr, Op, and_, eq, integer, le, lt, mul, neg, or_, where
from symdiff.ir.functions.columns import by_balls, flint, no_order, order_of
from symdiff.ir.functions.selection import FLOOR

MOST_STEPS = 10_000
"""Terms of the series that are added one by one, for a negative base."""
FAR = 2.0**20
"""Exponents whose values overflow or underflow, except near whole bases."""


def _ball(n: Any, s: Any, q: Any) -> Any:
    library = flint()
    arb, order = library.arb, order_of(n)
    if order is None or s.contains(arb(1)):
        return arb("nan")
    if order == 0 and not q > 0:
        return _below_zero(s, q)
    if not q > 0:
        return arb("nan")
    if order == 0:
        return s.zeta() if (q - 1).is_zero() else s.zeta(q)
    if not abs(s) < FAR:
        return arb("nan")  # the series of balls gives the same after half a second
    ctx = library.ctx
    cap, ctx.cap = ctx.cap, order + 1
    try:
        return library.arb_series([s, 1]).zeta(q)[order] * math.factorial(order)
    finally:
        ctx.cap = cap


def _below_zero(s: Any, q: Any) -> Any:
    """The value for a whole exponent, with the terms of negative base added one by one."""
    arb, exponent = flint().arb, s.unique_fmpz()
    if exponent is None or not q > -MOST_STEPS:
        return arb("nan")
    total, base = arb(0), q
    while not base > 0:
        total, base = total + base**-exponent, base + 1
    return total + s.zeta(base)


def _edges(n: float, s: float, q: float) -> float | None:
    if no_order(n) or math.isinf(q):
        return math.nan
    if q <= 0:
        if q == math.floor(q):
            return math.inf if s > 0 and not n else math.nan
        return math.nan if n or math.isinf(s) or s != math.floor(s) else None
    if s == 1:
        return math.nan if n else math.inf
    if s == math.inf:
        return 0.0 if n or q > 1 else 1.0 if q == 1 else math.inf
    if s > FAR and n and q == 1:
        return 0.0
    if s < -FAR:
        return _far_below(s) if q == 1 and not n else math.nan
    return None


def _far_below(s: float) -> float:
    """The limit, by the sign of sin(pi*s/2)."""
    turn = s % 4
    if math.isinf(s):
        return math.nan
    return 0.0 if turn in (0, 2) else math.inf if turn < 2 else -math.inf


def _by_base(n: Expr, s: Expr, q: Expr) -> Expr:
    """The derivative of order n, by s, of -s*zeta(s + 1, q)."""
    found = mul(neg(s), ZETA(n, s + ONE, q))
    return found if integer(n) == 0 else found - mul(n, ZETA(n - ONE, s + ONE, q))


ZETA: Op = Op(
    "zeta", 3,
    partials=lambda n, s, q: (None, ZETA(n + ONE, s, q), _by_base(n, s, q)),
    domain=lambda n, s, q: or_(lt(ZERO, q), and_(eq(n, ZERO), eq(FLOOR(s), s))),
    pole=lambda n, s, q: or_(eq(s, ONE), and_(le(q, ZERO), eq(FLOOR(q), q))),
    sympy=lambda sp, n, s, q: sp.zeta(s, q) if n == 0 else sp.Function("zeta_derivative")(n, s, q),
    **by_balls("zeta", _ball, _edges),
)  # fmt: skip
"""The derivative of order n of the sum of (q + k)**-s over k = 0, 1, ..."""


def riemann(s: Expr) -> Expr:
    """Riemann's zeta function."""
    return ZETA(ZERO, s, ONE)


def hurwitz(s: Expr, q: Expr) -> Expr:
    """For exponents from 1 on, as in SciPy."""
    return where(lt(s, ONE), NAN, ZETA(ZERO, s, q))


ENTRIES: tuple[Op, ...] = (
    ZETA,
)  # fmt: skip
