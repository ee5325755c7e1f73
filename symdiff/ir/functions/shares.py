"""Shares of distributions of the plane and of the circle: Owen's T function, Marcum's Q function,
and the distribution of von Mises.

Owen's function is a sum of positive terms, after the reflection of Owen (1956, Annals of
Mathematical Statistics 27, 1075) where the slope is above 1; Marcum's is a sum of products of
Poisson's probabilities (DLMF 8.4.10, 10.39.1)."""

from __future__ import annotations

import math
from typing import Any

from symdiff.ir import ONE, ZERO, Expr, Op, and_, const, div, le, mul, neg, power, sqrt
from symdiff.ir.functions.bessel import IVE
from symdiff.ir.functions.columns import by_balls, flint, integral, no_order, order_of
from symdiff.ir.functions.exponential import EXP
from symdiff.ir.functions.named_numbers import PI
from symdiff.ir.functions.normal import ERF
from symdiff.ir.functions.trigonometric import COS

FARTHEST = 40.0
"""A normal share beyond this is no double, and not the complement to 1."""
LARGEST, MOST_TERMS = 300.0, 200_000
"""Parameters beyond which Marcum's function is not computed, and the terms of its series."""
CHECKED = 8
"""Terms of a series between two bounds of the remainder."""
LEAST_EXPONENT = 800.0
"""A power of e that underflows."""
LARGEST_CONCENTRATION, FARTHEST_ANGLE = 1e4, 1e9
"""Limits for von Mises's distribution: beyond them, integrals take too long."""


# --------------------------------------------------------------------------- Owen's T
def _wedge(h: Any, a: Any) -> Any:
    """For |a| <= 1: the integral of exp(-u*t**2)/(1 + a**2*t**2) from 0 to 1, u = (a*h)**2/2, in
    powers of 1 - t**2. All terms are positive."""
    library = flint()
    arb, square, bits = library.arb, a**2, library.ctx.prec
    u, p, front = (a * h) ** 2 / 2, 1 - 1 / (1 + square), a * (-h * h / 2).exp() / (2 * arb.pi())
    if u < MOST_TERMS:
        power, coefficient, moment, total = (arb(1),) * 4
        first = int(float(u.upper())) + 1
        for k in range(1, first + 4 * bits):
            power, moment = power * u / k, moment * (2 * k) / (2 * k + 1)
            coefficient = p * coefficient + power
            total += moment * coefficient
            if k > first and k % CHECKED == 0:
                ratio = u.upper() / (k + 1)
                powers = power * ratio / (1 - ratio)
                left = (moment * (p * coefficient + powers) / (1 - p)).upper()
                if left <= total * arb(2) ** -bits:
                    return front * (-u).exp() / (1 + square) * (total + arb(0.5, 0.5) * left)
    return front * arb(0.5, 0.5)


def _owen(h: Any, a: Any) -> Any:
    """For large |a| by the tails beyond |h| and |a*h|."""
    if abs(a) <= 1:
        return _wedge(h, a)
    if not (a > 0 or a < 0):
        return flint().arb("nan")
    far, root = abs(a * h), flint().arb(2).sqrt()
    near_tail, far_tail = ((v / root).erfc() / 2 for v in (abs(h), far))
    found = near_tail / 2
    if a.is_finite():
        found += far_tail / 2 - near_tail * far_tail - _wedge(far, 1 / abs(a))
    return found if a > 0 else -found


def _owen_edges(h: float, a: float) -> float | None:
    return math.copysign(0.0, a) if a == 0 or abs(h) > FARTHEST else None


OWENS_T: Op = Op(
    "owens_t", 2,
    partials=lambda h, a: (
        neg(mul(EXP(neg(div(power(h, 2), const(2)))), div(ERF(div(mul(a, h), sqrt(const(2)))), mul(const(2), sqrt(mul(const(2), PI())))))),
        div(EXP(neg(mul(div(power(h, 2), const(2)), ONE + power(a, 2)))), mul(mul(const(2), PI()), ONE + power(a, 2))),
    ),
    names=("scipy.special.owens_t",),
    sympy=lambda sp, h, a: sp.Function("owens_t")(h, a),
    **by_balls("owens_t", _owen, _owen_edges),
)  # fmt: skip


# ------------------------------------------------------------------------- Marcum's Q
def _ordered(u: Any, v: Any, strictly: bool) -> Any:
    """The probability that a count of mean v is less than one of mean u, or at most as large."""
    library = flint()
    arb, k = library.arb, 0
    small, end = arb(2) ** -library.ctx.prec, float(u.upper())
    one, other = (-u).exp(), (-v).exp()
    total, below = arb(0), arb(0)
    while True:
        if strictly:
            total, below = total + one * below, below + other
        else:
            below += other
            total += one * below
        k += 1
        one, other = one * u / k, other * v / k
        if k > end:  # the remainder is less than a geometric series
            left = (one / (1 - u / (k + 1))).upper()
            if left <= total * small or k > MOST_TERMS:
                return total + arb(0.5, 0.5) * left


def _marcum(above: bool) -> Any:
    def ball(b: Any, z: Any) -> Any:
        library = flint()
        if not (z >= 0 and z < LARGEST + FARTHEST and b >= 0 and b < LARGEST):
            return library.arb("nan")
        u, v = b * b / 2, z * z / 2
        return _ordered(u, v, False) if above else _ordered(v, u, True)

    return ball


def _marcum_edges(below: float, above: float) -> Any:
    """Far from b, the share is all or nothing."""

    def edges(b: float, z: float) -> float | None:
        if z < 0 or b < 0 or (math.isinf(b) and math.isinf(z)):
            return math.nan
        if z == 0:
            return above
        if z - b > FARTHEST:
            return below
        if b - z > FARTHEST:
            return above
        return None if b < LARGEST else math.nan

    return edges


def _by_shift(b: Expr, z: Expr) -> Expr:
    """z exp(-(z**2 + b**2)/2) I_1(b*z)."""
    return mul(z, mul(EXP(neg(div(power(z - b, 2), const(2)))), IVE(ONE, mul(b, z))))


def rice_density(b: Expr, z: Expr) -> Expr:
    """z exp(-(z**2 + b**2)/2) I_0(b*z)."""
    return mul(z, mul(EXP(neg(div(power(z - b, 2), const(2)))), IVE(ZERO, mul(b, z))))


MARCUM_BELOW: Op = Op(
    "marcum_below", 2, sign="nonnegative",
    partials=lambda b, z: (neg(_by_shift(b, z)), rice_density(b, z)),
    domain=lambda b, z: and_(le(ZERO, b), le(ZERO, z)),
    sympy=lambda sp, b, z: sp.Function("marcum_below")(b, z),
    **by_balls("marcum_below", _marcum(False), _marcum_edges(1.0, 0.0)),
)  # fmt: skip
"""The share of the distribution of Rice below z."""
MARCUM_ABOVE: Op = Op(
    "marcum_above", 2, sign="nonnegative",
    partials=lambda b, z: (_by_shift(b, z), neg(rice_density(b, z))),
    domain=lambda b, z: and_(le(ZERO, b), le(ZERO, z)),
    sympy=lambda sp, b, z: sp.Function("marcum_above")(b, z),
    **by_balls("marcum_above", _marcum(True), _marcum_edges(0.0, 1.0)),
)  # fmt: skip
"""The share above z, which is Marcum's Q function of the first order."""


# ------------------------------------------------------------------------- on the circle
def _arc(n: Any, kappa: Any, z: Any) -> Any:
    library = flint()
    order, pi = order_of(n), library.arb.pi()
    if order is None or not (
        kappa >= 0 and kappa < LARGEST_CONCENTRATION and abs(z) <= FARTHEST_ANGLE
    ):
        return library.arb("nan")

    def integrand(t: Any, analytic: bool) -> Any:
        return t.cos() ** order * (kappa * (t.cos() - 1)).exp()

    turns = (z.mid() / (2 * pi) + 0.5).mid().floor().unique_fmpz() or 0
    left, width = z - 2 * pi * turns, 1 / (1 + kappa)
    peak = 1 if left > 0 else (kappa * (left.cos() - 1)).exp() * (left + pi)
    found = integral(integrand, -pi, left, peak * width, kappa, left)
    return found + turns * integral(integrand, -pi, pi, width, kappa) if turns else found


def _arc_edges(n: float, kappa: float, z: float) -> float | None:
    if no_order(n) or not 0 <= kappa < LARGEST_CONCENTRATION or not abs(z) <= FARTHEST_ANGLE:
        return math.nan
    if -math.pi <= z < 0 and kappa * (1 - math.cos(z)) > LEAST_EXPONENT:
        return 0.0
    return None


def _arc_density(n: Expr, kappa: Expr, z: Expr) -> Expr:
    return mul(power(COS(z), n), EXP(mul(kappa, COS(z) - ONE)))


ARC: Op = Op(
    "von_mises_arc", 3,
    partials=lambda n, kappa, z: (
        None, ARC(n + ONE, kappa, z) - ARC(n, kappa, z), _arc_density(n, kappa, z)
    ),
    domain=lambda n, kappa, z: le(ZERO, kappa),
    sympy=lambda sp, n, kappa, z: sp.Function("von_mises_arc")(n, kappa, z),
    **by_balls("von_mises_arc", _arc, _arc_edges),
)  # fmt: skip
"""The integral of cos(t)**n exp(kappa*(cos(t) - 1)) from -pi to z."""


def von_mises_share(kappa: Expr, z: Expr) -> Expr:
    """The distribution function of von Mises's distribution."""
    return div(ARC(ZERO, kappa, z), mul(mul(const(2), PI()), IVE(ZERO, kappa)))


ENTRIES: tuple[Op, ...] = (
    OWENS_T, MARCUM_BELOW, MARCUM_ABOVE, ARC,
)  # fmt: skip
