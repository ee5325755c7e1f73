"""Complete elliptic integrals of a parameter m, and their derivatives (DLMF 19.2, 19.5.1, 19.5.2)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symdiff.ir import ONE, ZERO, Op, and_, eq, le, lt
from symdiff.ir.functions.columns import by_balls, flint

HIGHEST = 60
"""The order of the last derivative that is computed."""


def _derivative(n: int, m: Any, first: Fraction) -> Any:
    """That of order n of 2F1(first, 1/2; 1; m)*pi/2 (DLMF 15.5.2)."""
    arb, size = flint().arb, Fraction(1)
    for j in range(n):
        size *= (first + j) * (Fraction(1, 2) + j) / (1 + j)
    a, b = (arb(q.numerator) / q.denominator for q in (first + n, Fraction(1, 2) + n))
    factor = arb(size.numerator) / size.denominator * arb.pi() / 2
    return factor * m.hypgeom_2f1(a, b, arb(n + 1))


def _order(n: Any) -> int | None:
    """What order a ball is; None if it is none."""
    found = n.unique_fmpz()
    return int(found) if n.is_exact() and found is not None and 0 <= found <= HIGHEST else None


def _first_kind(n: Any, m: Any) -> Any:
    order = _order(n)
    if order is None or not m < 1:
        return flint().arb("nan")
    return _derivative(order, m, Fraction(1, 2)) if order else flint().acb(m).elliptic_k().real


def _second_kind(n: Any, m: Any) -> Any:
    order = _order(n)
    if order is None or not m <= 1 or (order and not m < 1):
        return flint().arb("nan")
    return _derivative(order, m, Fraction(-1, 2)) if order else flint().acb(m).elliptic_e().real


def _no_order(n: float, m: float) -> bool:
    return not (0 <= n <= HIGHEST and n == int(n) and m <= 1)


def _first_edges(n: float, m: float) -> float | None:
    if _no_order(n, m):
        return math.nan
    return math.inf if m == 1 else 0.0 if math.isinf(m) else None


def _second_edges(n: float, m: float) -> float | None:
    if _no_order(n, m):
        return math.nan
    if m == 1:
        return -math.inf if n else 1.0
    if math.isinf(m):
        return 0.0 if n else math.inf
    return None


def _name(sp: Any, function: str, n: Any, m: Any) -> Any:
    return getattr(sp, function)(m) if n == 0 else sp.Function(f"{function}_derivative")(n, m)


ELLIPK: Op = Op(
    "ellipk", 2, sign="nonnegative",
    partials=lambda n, m: (None, ELLIPK(n + ONE, m)),
    domain=lambda n, m: le(m, ONE), pole=lambda n, m: eq(m, ONE),
    sympy=lambda sp, n, m: _name(sp, "elliptic_k", n, m),
    **by_balls("ellipk", _first_kind, _first_edges),
)  # fmt: skip
"""The derivative of order n of the integral of the first kind."""
ELLIPE: Op = Op(
    "ellipe", 2,
    partials=lambda n, m: (None, ELLIPE(n + ONE, m)),
    domain=lambda n, m: le(m, ONE), pole=lambda n, m: and_(eq(m, ONE), lt(ZERO, n)),
    sympy=lambda sp, n, m: _name(sp, "elliptic_e", n, m),
    **by_balls("ellipe", _second_kind, _second_edges),
)  # fmt: skip
"""The derivative of order n of the integral of the second kind."""

ENTRIES: tuple[Op, ...] = (
    ELLIPK, ELLIPE,
)  # fmt: skip
