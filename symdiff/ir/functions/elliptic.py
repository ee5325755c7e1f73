"""Elliptic integrals of a parameter m, and their derivatives by it (DLMF 19.2, 19.5.1, 19.5.2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    ONE,
    ZERO,
    Expr,
    Op,
    abs_,
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
)
from symdiff.ir.functions.columns import by_balls, flint, integral, no_order, order_of
from symdiff.ir.functions.gamma import GAMMA
from symdiff.ir.functions.named_numbers import PI
from symdiff.ir.functions.trigonometric import SIN


def _derivative(n: int, m: Any, first: Fraction) -> Any:
    """The derivative of order n of 2F1(first, 1/2; 1; m)*pi/2 (DLMF 15.5.2)."""
    arb, size = flint().arb, Fraction(1)
    for j in range(n):
        size *= (first + j) * (Fraction(1, 2) + j) / (1 + j)
    a, b = (arb(q.numerator) / q.denominator for q in (first + n, Fraction(1, 2) + n))
    factor = arb(size.numerator) / size.denominator * arb.pi() / 2
    return factor * m.hypgeom_2f1(a, b, arb(n + 1))


def _first_kind(n: Any, m: Any) -> Any:
    order = order_of(n)
    if order is None or not m < 1:
        return flint().arb("nan")
    return _derivative(order, m, Fraction(1, 2)) if order else flint().acb(m).elliptic_k().real


def _second_kind(n: Any, m: Any) -> Any:
    order = order_of(n)
    if order is None or not m <= 1 or (order and not m < 1):
        return flint().arb("nan")
    return _derivative(order, m, Fraction(-1, 2)) if order else flint().acb(m).elliptic_e().real


def _no_order(n: float, m: float) -> bool:
    return no_order(n) or not m <= 1


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


# ------------------------------------------------------------------------ incomplete ones
FAR = 1e12
"""Derivatives by a parameter below minus this are not computed: integrals take too long."""


def _up_to(n: int, phi: Any, m: Any, first: Fraction) -> Any:
    """The derivative of order n of the integral from 0 to phi of (1 - m sin(t)**2)**-first: over whole
    half-turns, and over the rest."""
    library = flint()
    arb, acb = library.arb, library.acb
    half_turns = (phi.mid() / arb.pi() + 0.5).mid().floor().unique_fmpz()
    if half_turns is None or (n and not m > -FAR):
        return arb("nan")
    factor = arb(1)
    for j in range(n):
        factor *= (arb(first.numerator) / 2) + j

    def integrand(t: Any, analytic: bool) -> Any:
        square = t.sin() ** 2
        root = (1 - m * square).sqrt(analytic=analytic)
        return square**n * root ** (-first.numerator - 2 * n)

    left = phi - half_turns * arb.pi()
    found = factor * integral(
        integrand, 0, left, left * integrand(acb(left / 2), False).real, left, m
    )
    return found + (2 * half_turns * _derivative(n, m, first) if half_turns else 0)


def _first_up_to(n: Any, phi: Any, m: Any) -> Any:
    library = flint()
    order, inside = order_of(n), bool(m < 1) or bool((m <= 1) and abs(phi) < library.arb.pi() / 2)
    if order is None or not inside:
        return library.arb("nan")
    return _up_to(order, phi, m, Fraction(1, 2)) if order else library.acb.elliptic_f(phi, m).real


def _second_up_to(n: Any, phi: Any, m: Any) -> Any:
    library = flint()
    order, inside = order_of(n), bool(m < 1) or bool((m <= 1) and abs(phi) < library.arb.pi() / 2)
    if order is None or not (inside or (order == 0 and m <= 1)):
        return library.arb("nan")
    return (
        _up_to(order, phi, m, Fraction(-1, 2)) if order else library.acb.elliptic_e_inc(phi, m).real
    )


def _edges_up_to(complete: Callable[[float, float], float | None]) -> Callable[..., float | None]:
    """Where the whole integral is infinite or unknown, and at infinities."""

    def edges(n: float, phi: float, m: float) -> float | None:
        if no_order(n) or not m <= 1 or (n and -math.inf < m < -FAR):
            return math.nan
        if phi == 0:
            return phi
        whole = complete(n, m)
        if math.isinf(phi):
            return math.copysign(math.inf, phi) if not n and math.isfinite(m) else math.nan
        if math.isinf(m) or (whole is not None and math.isinf(whole) and abs(phi) > math.pi / 2):
            return None if whole is None else math.copysign(1.0, phi) * whole
        return None

    return edges


def _slope_by_angle(n: Expr, phi: Expr, m: Expr, first: Fraction) -> Expr:
    """(first)_n sin(phi)**(2*n) (1 - m sin(phi)**2)**(-first - n)."""
    order = integer(n)
    if order is None:
        scale = div(GAMMA(n + const(first)), GAMMA(const(first)))
    else:
        scale = const(math.prod((first + j for j in range(order)), start=Fraction(1)))
    square = power(SIN(phi), 2)
    return mul(scale, mul(power(square, n), power(ONE - mul(m, square), neg(n + const(first)))))


def _no_value(n: Expr, phi: Expr, m: Expr) -> Expr:
    return and_(eq(m, ONE), le(div(PI(), const(2)), abs_(phi)))


ELLIPF: Op = Op(
    "ellipf", 3,
    partials=lambda n, phi, m: (
        None, _slope_by_angle(n, phi, m, Fraction(1, 2)), ELLIPF(n + ONE, phi, m)
    ),
    domain=lambda n, phi, m: le(m, ONE), pole=_no_value,
    sympy=lambda sp, n, phi, m: sp.elliptic_f(phi, m) if n == 0 else sp.Function("ellipf_derivative")(n, phi, m),
    **by_balls("ellipf", _first_up_to, _edges_up_to(_first_edges)),
)  # fmt: skip
"""The derivative of order n of the incomplete integral of the first kind."""
ELLIPEINC: Op = Op(
    "ellipeinc", 3,
    partials=lambda n, phi, m: (
        None, _slope_by_angle(n, phi, m, Fraction(-1, 2)), ELLIPEINC(n + ONE, phi, m)
    ),
    domain=lambda n, phi, m: le(m, ONE),
    pole=lambda n, phi, m: and_(lt(ZERO, n), _no_value(n, phi, m)),
    sympy=lambda sp, n, phi, m: sp.elliptic_e(phi, m) if n == 0 else sp.Function("ellipeinc_derivative")(n, phi, m),
    **by_balls("ellipeinc", _second_up_to, _edges_up_to(_second_edges)),
)  # fmt: skip
"""The derivative of order n of the incomplete integral of the second kind."""

ENTRIES: tuple[Op, ...] = (
    ELLIPK, ELLIPE, ELLIPF, ELLIPEINC,
)  # fmt: skip
