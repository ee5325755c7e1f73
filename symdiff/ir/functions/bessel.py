"""Bessel functions of real order (DLMF 10.6, 10.15, 10.29, 10.38)."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    HALF,
    INF,
    NAN,
    NEG,
    ONE,
    SIGN,
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
    not_,
    or_,
    rational,
    where,
)
from symdiff.ir.functions.columns import (
    LARGEST_PARAMETER,
    by_balls,
    c_function,
    flint,
    slope_by,
    unknown,
)
from symdiff.ir.functions.exponential import EXP
from symdiff.ir.functions.selection import FLOOR

Rule = Callable[[Expr, Expr], Expr]


# -------------------------------------------------------------- what several of them share
def _whole(v: Expr) -> Expr:
    return eq(FLOOR(v), v)


def _on_both_sides(v: Expr, x: Expr) -> Expr:
    return or_(le(ZERO, x), _whole(v))


def _pole_of_negative_order(v: Expr, x: Expr) -> Expr:
    return and_(eq(x, ZERO), and_(lt(v, ZERO), not_(_whole(v))))


def _at_zero(v: Fraction, x: Fraction) -> Fraction | None:
    if x != 0 or (v < 0 and v.denominator != 1):
        return None
    return Fraction(v == 0)


def _reflected(name: str, alternates: bool) -> Callable[[Expr, Expr], Expr | None]:
    """For integer orders: f(v, -x) = (-1)**v f(v, x), and f(-v, x) = (-1)**v f(v, x) if it
    `alternates`, else f(v, x)."""
    from symdiff.ir import OPS

    def simplify(v: Expr, x: Expr) -> Expr | None:
        order = integer(v)
        if order is None:
            return None
        if order < 0:
            found = OPS[name](const(-order), x)
            return neg(found) if alternates and order % 2 else found
        if x.op is NEG:
            found = OPS[name](v, x.args[0])
            return neg(found) if order % 2 else found
        return None

    return simplify


def _neighbours(f: Rule, sign: int) -> Rule:
    """(f(v - 1, x) + sign*f(v + 1, x))/2."""

    def half(v: Expr, x: Expr) -> Expr:
        if v is ZERO:
            return mul(const(sign), f(ONE, x))
        below, above = f(v - ONE, x), f(v + ONE, x)
        return mul(HALF, below + above if sign > 0 else below - above)

    return half


def _steepness(v: Expr, x: Expr) -> Expr:
    return ZERO if v is ZERO else abs_(div(v, x))


def _moderate(v: Expr) -> bool:
    """Whether an order is known to be nonnegative, or is an integer."""
    q = rational(v)
    return q is not None and (q >= 0 or q.denominator == 1)


def _is_whole(v: float) -> bool:
    return v == math.floor(v)


def _from_zero(v: float) -> float:
    """The sign of x**v/gamma(v + 1) near x = 0, for an order below zero."""
    return -math.inf if v < -1 and math.floor(-v) % 2 else math.inf


BEYOND = 800.0
"""A power of e beyond this, times small factors, overflows or underflows."""


def _leading(v: float, x: float) -> float:
    """The logarithm of (x/2)**v/gamma(v + 1) for a large order, by Stirling's formula: J and I are
    less, up to exp(x*x/(4*v + 4)); Y and K are more than its inverse over 8*v, up to exp(-x)."""
    return v * (1 + math.log(x) - math.log(2 * v)) if v > 1 and x > 0 else 0.0


def _vanishes(v: float, x: float) -> bool:
    return _leading(v, abs(x)) + min(x * x / (4 * v + 4) if v > 0 else 0.0, abs(x)) < -BEYOND


def _explodes(v: float, x: float, lost: float) -> bool:
    return _leading(abs(v), x) + lost + math.log(8 * abs(v) + 8) < -BEYOND


def _value_at_zero(v: Any) -> Any:
    """The value of J and I at x = 0."""
    if v.is_zero():
        return flint().arb(1)
    return flint().arb(0) if v > 0 or v.is_integer() else flint().arb("nan")


def _growing_edges(far: float) -> Callable[[float, float], float | None]:
    """Edges of J and I, with their limit at infinite x."""

    def edges(v: float, x: float) -> float | None:
        if math.isinf(v):
            return 0.0 if v > 0 and math.isfinite(x) and x >= 0 else math.nan
        if x < 0 and not _is_whole(v):
            return math.nan
        if math.isinf(x):
            return -far if x < 0 and v % 2 else far
        if x == 0 and v < 0 and not _is_whole(v):
            return _from_zero(v)
        return 0.0 if _vanishes(v, x) else None

    return edges


def _growing_in_c(name: str) -> Callable[[Expr, Expr], Expr]:
    """J and I with their values at x = 0."""

    def value(v: Expr, x: Expr) -> Expr:
        at_zero = where(eq(v, ZERO), ONE, where(lt(ZERO, v), ZERO, NAN))
        return where(eq(x, ZERO), at_zero, c_function(name, 2)(v, x))

    return value


# -------------------------------------------------------------------------- J and Y
def _j_ball(v: Any, x: Any) -> Any:
    return _value_at_zero(v) if x.is_zero() else x.bessel_j(v)


JV: Op = Op(
    "jv", 2,
    partials=lambda v, x: (JV_BY_ORDER(v, x), _neighbours(JV, -1)(v, x)),
    slope=lambda v, x: (
        INF,
        ONE if _moderate(v) and integer(v) is not None
        else abs_(mul(JV(v, x), div(v, x))) + ONE if _moderate(v)
        else abs_(_neighbours(JV, -1)(v, x)),
    ),
    domain=_on_both_sides, pole=_pole_of_negative_order,
    simplify=_reflected("jv", True), fold=_at_zero,
    names=("scipy.special.jv", "scipy.special.jn"),
    sympy=lambda sp, v, x: sp.besselj(v, x),
    flint=_growing_in_c("arb_hypgeom_bessel_j"), **by_balls("jv", _j_ball, _growing_edges(0.0), True),
)  # fmt: skip


def _y_edges(v: float, x: float) -> float | None:
    if x < 0 or math.isinf(v):
        return math.nan
    if x == 0:
        if v >= 0:
            return -math.inf
        if _is_whole(v):
            return math.inf if v % 2 else -math.inf
        turn = v % 1  # times the cotangent of v*pi
        return 0.0 if turn == 0.5 else _from_zero(v) if turn < 0.5 else -_from_zero(v)
    if math.isinf(x):
        return 0.0
    return -math.inf if v > x and _explodes(v, x, 0.0) else None


YV: Op = Op(
    "yv", 2,
    partials=lambda v, x: (YV_BY_ORDER(v, x), _neighbours(YV, -1)(v, x)),
    slope=lambda v, x: (INF, abs_(mul(YV(v, x), div(v, x))) + abs_(YV(v + ONE, x))),
    domain=lambda v, x: le(ZERO, x), pole=lambda v, x: eq(x, ZERO),
    simplify=lambda v, x: _reflected("yv", True)(v, x) if x.op is not NEG else None,
    names=("scipy.special.yv",),
    sympy=lambda sp, v, x: sp.bessely(v, x),
    flint="arb_hypgeom_bessel_y", **by_balls("yv", lambda v, x: x.bessel_y(v), _y_edges),
)  # fmt: skip


# -------------------------------------------------------------------------- I and K
def _i_ball(v: Any, x: Any) -> Any:
    return _value_at_zero(v) if x.is_zero() else x.bessel_i(v)


def _ie_ball(v: Any, x: Any) -> Any:
    if x.is_zero():
        return _value_at_zero(v)
    if x > 0:
        return x.bessel_i(v, True)
    if not v.is_integer() or not v.is_exact():
        return flint().arb("nan")
    if not x < 0:
        return x.bessel_i(v) * (-abs(x)).exp()
    found = (-x).bessel_i(v, True)
    return -found if int(v.unique_fmpz()) % 2 else found


def _i_slope(v: Expr, x: Expr) -> Expr:
    if _moderate(v):
        return mul(abs_(IV(v, x)), _steepness(v, x) + ONE)
    return abs_(_neighbours(IV, 1)(v, x))


IV: Op = Op(
    "iv", 2,
    partials=lambda v, x: (IV_BY_ORDER(v, x), _neighbours(IV, 1)(v, x)),
    slope=lambda v, x: (INF, _i_slope(v, x)),
    domain=_on_both_sides, pole=_pole_of_negative_order,
    simplify=_reflected("iv", False), fold=_at_zero,
    names=("scipy.special.iv",),
    sympy=lambda sp, v, x: sp.besseli(v, x),
    flint=_growing_in_c("arb_hypgeom_bessel_i"), **by_balls("iv", _i_ball, _growing_edges(math.inf), True),
)  # fmt: skip
IVE: Op = Op(
    "ive", 2,
    partials=lambda v, x: (
        mul(EXP(neg(abs_(x))), IV_BY_ORDER(v, x)),
        _neighbours(IVE, 1)(v, x) - mul(SIGN(x), IVE(v, x)),
    ),
    slope=lambda v, x: (
        INF,
        mul(abs_(IVE(v, x)), _steepness(v, x) + ONE) if _moderate(v)
        else abs_(_neighbours(IVE, 1)(v, x)) + abs_(IVE(v, x)),
    ),
    domain=_on_both_sides, pole=_pole_of_negative_order,
    simplify=_reflected("ive", False), fold=_at_zero,
    names=("scipy.special.ive",),
    sympy=lambda sp, v, x: sp.exp(-sp.Abs(x)) * sp.besseli(v, x),
    kink=lambda v, x: x, kink_rule="as of abs, the mean of the sides",
    **by_balls("ive", _ie_ball, _growing_edges(0.0), True),
)  # fmt: skip


def _k_edges(scaled: bool) -> Callable[[float, float], float | None]:
    def edges(v: float, x: float) -> float | None:
        if x < 0 or math.isinf(v):
            return math.nan
        if x == 0:
            return math.inf
        if math.isinf(x):
            return 0.0
        return math.inf if _explodes(v, x, 0.0 if scaled else x) else None

    return edges


def _k_steepness(v: Expr, x: Expr) -> Expr:
    """More than -K'(x)/K(x) - 1, which is positive (DLMF 10.37.1 and recurrence)."""
    return div(abs_(v) + HALF, x)


KV: Op = Op(
    "kv", 2, sign="positive",
    partials=lambda v, x: (KV_BY_ORDER(v, x), neg(_neighbours(KV, 1)(v, x))),
    slope=lambda v, x: (INF, mul(KV(v, x), ONE + _k_steepness(v, x))),
    domain=lambda v, x: le(ZERO, x), pole=lambda v, x: eq(x, ZERO),
    simplify=lambda v, x: KV(neg(v), x) if (q := rational(v)) is not None and q < 0 else None,
    names=("scipy.special.kv",),
    sympy=lambda sp, v, x: sp.besselk(v, x),
    flint="arb_hypgeom_bessel_k", **by_balls("kv", lambda v, x: x.bessel_k(v), _k_edges(False)),
)  # fmt: skip
KVE: Op = Op(
    "kve", 2, sign="positive",
    partials=lambda v, x: (
        mul(EXP(x), KV_BY_ORDER(v, x)), KVE(v, x) - _neighbours(KVE, 1)(v, x)
    ),
    slope=lambda v, x: (INF, mul(KVE(v, x), _k_steepness(v, x))),
    domain=lambda v, x: le(ZERO, x), pole=lambda v, x: eq(x, ZERO),
    simplify=lambda v, x: KVE(neg(v), x) if (q := rational(v)) is not None and q < 0 else None,
    names=("scipy.special.kve",),
    sympy=lambda sp, v, x: sp.exp(x) * sp.besselk(v, x),
    flint="arb_hypgeom_bessel_k_scaled", **by_balls("kve", lambda v, x: x.bessel_k(v, True), _k_edges(True)),
)  # fmt: skip


# ----------------------------------------------------------------- derivatives by the order
def _by_order(name: str, neighbours: Callable[[Op], Rule]) -> Op:
    """The derivative of a function by its order; its own derivative by x has the same formula."""
    twice = unknown(
        f"{name}_by_order_twice", 2,
        f"the second derivative of {name} by its order is not known: differentiate by the order once",
    )  # fmt: skip

    def value(v: Any, x: Any) -> Any:
        return getattr(x, f"bessel_{name[0]}")(v)

    def complex_value(v: Any, x: Any) -> Any:
        return getattr(flint().acb(x), f"bessel_{name[0]}")(v)

    by_order = slope_by(0, value, complex_value)

    def ball(v: Any, x: Any) -> Any:
        return by_order(v, x) if name != "kv" or not v.is_zero() or not x > 0 else v  # K is even

    def edges(v: float, x: float) -> float | None:
        if x == 0 and name[0] in "ji" and v >= 0:
            return 0.0 if v > 0 else -math.inf
        return None if abs(v) <= LARGEST_PARAMETER and 0 < x < math.inf else math.nan

    made: Op = Op(
        f"{name}_by_order", 2,
        partials=lambda v, x: (twice(v, x), neighbours(made)(v, x)),
        slope=lambda v, x: (INF, INF),
        domain=lambda v, x: le(ZERO, x), pole=lambda v, x: eq(x, ZERO),
        sympy=lambda sp, v, x: sp.Derivative(
            getattr(sp, f"bessel{name[0]}")(v, x), v, evaluate=False
        ) if v.is_Symbol else sp.Function(f"{name}_by_order")(v, x),
        **by_balls(f"{name}_by_order", ball, edges),
    )  # fmt: skip
    return made


def _of_any_order(f: Op, sign: int, factor: Expr) -> Rule:
    """(f(v - 1, x) + sign*f(v + 1, x))/2, where v may be zero."""

    def half(v: Expr, x: Expr) -> Expr:
        below, above = f(v - ONE, x), f(v + ONE, x)
        return mul(factor, below + above if sign > 0 else below - above)

    return half


JV_BY_ORDER: Op = _by_order("jv", lambda f: _of_any_order(f, -1, HALF))
YV_BY_ORDER: Op = _by_order("yv", lambda f: _of_any_order(f, -1, HALF))
IV_BY_ORDER: Op = _by_order("iv", lambda f: _of_any_order(f, 1, HALF))
KV_BY_ORDER: Op = _by_order("kv", lambda f: _of_any_order(f, 1, neg(HALF)))

ENTRIES: tuple[Op, ...] = (
    JV, YV, IV, IVE, KV, KVE, JV_BY_ORDER, YV_BY_ORDER, IV_BY_ORDER, KV_BY_ORDER,
)  # fmt: skip
