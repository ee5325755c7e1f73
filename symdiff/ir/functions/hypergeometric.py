"""Hypergeometric functions of real parameters, with their derivatives (DLMF 13.3.15, 15.5.1, 16.3.1)."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

from symdiff.ir import FALSE, INF, ONE, ZERO, Expr, Op, and_, div, eq, le, mul, neg, not_, or_
from symdiff.ir.functions.columns import LARGEST_PARAMETER, by_balls, flint, slope_by, unknown
from symdiff.ir.functions.selection import FLOOR


def _ends(a: Expr) -> Expr:
    """Whether a parameter is 0, -1, -2, ..., where the series ends or is undefined."""
    return and_(le(a, ZERO), eq(FLOOR(a), a))


def _sign_of_gammas(*numbers: float) -> float:
    """The sign of the product of their gamma functions."""
    return math.prod(-1.0 if v < 0 and math.floor(v) % 2 else 1.0 for v in numbers)


def _family(name: str, upper: int) -> tuple[Op, ...]:
    """The function of upper parameters, one lower one, and x; then its derivatives by these."""
    arity, method = upper + 2, f"hypgeom_{upper}f1"

    def real(*args: Any) -> Any:
        if upper == 0 and args[0].is_integer() and not args[0] > 0:
            return flint().arb("nan")
        return getattr(args[-1], method)(*args[:-1])

    def complex_value(*args: Any) -> Any:
        return getattr(flint().acb(args[-1]), method)(*args[:-1])

    def quotient(*args: Expr) -> Expr:
        """The product of the upper parameters over the lower one."""
        return div(reduce(mul, args[:upper], ONE), args[upper])

    def raised(*args: Expr) -> tuple[Expr, ...]:
        return (*(a + ONE for a in args[:-1]), args[-1])

    def domain(*args: Expr) -> Expr:
        return reduce(or_, map(_ends, args[:upper]), le(args[-1], ONE))

    def pole(*args: Expr) -> Expr:
        above, below, x = args[:upper], args[upper:-1], args[-1]
        at_end = and_(eq(x, ONE), le(below[0], above[0] + above[1])) if upper == 2 else FALSE
        return or_(
            at_end,
            and_(
                _ends(below[0]),
                not_(reduce(or_, (and_(_ends(a), le(below[0], a)) for a in above), FALSE)),
            ),
        )

    def edges(*args: float) -> float | None:
        *above, below, x = args
        if any(map(math.isinf, args)):
            return math.nan
        if any(a <= 0 and a == math.floor(a) and (a >= below or below > 0) for a in above):
            return None  # a polynomial
        if below <= 0 and below == math.floor(below):
            return math.inf if upper else math.nan
        if upper == 2 and x >= 1:
            if x > 1:
                return math.nan
            return None if below > sum(above) else _sign_of_gammas(below, *above) * math.inf
        return None

    def slope_edges(*args: float) -> float | None:
        *parameters, x = args
        near = all(abs(p) <= LARGEST_PARAMETER for p in parameters)
        return None if near and math.isfinite(x) and (upper < 2 or x < 1) else math.nan

    twice = unknown(
        f"{name}_by_parameters_twice", arity,
        f"the second derivatives of {name} by its parameters are not known: differentiate by the parameters once",
    )  # fmt: skip

    def derivative(place: int) -> Op:
        def by_x(*args: Expr) -> Expr:
            if place < upper:
                changed = quotient(*args[:place], ONE, *args[place + 1 :])
            else:
                changed = neg(div(quotient(*args), args[place]))
            up = raised(*args)
            return mul(changed, whole(*up)) + mul(quotient(*args), made(*up))

        made: Op = Op(
            f"{name}_by_{place}", arity,
            partials=lambda *args: (*(twice(*args),) * (arity - 1), by_x(*args)),
            slope=lambda *args: (INF,) * arity,
            domain=domain if upper == 2 else None, pole=pole,
            sympy=lambda sp, *args: sp.Function(f"{name}_by_{place}")(*args),
            **by_balls(f"{name}_by_{place}", slope_by(place, real, complex_value), slope_edges),
        )  # fmt: skip
        return made

    whole: Op = Op(
        name, arity,
        partials=lambda *args: (
            *(d(*args) for d in slopes), mul(quotient(*args), whole(*raised(*args)))
        ),
        domain=domain if upper == 2 else None, pole=pole,
        names=(f"scipy.special.{name}",),
        sympy=lambda sp, *args: sp.hyper(args[:upper], args[upper:-1], args[-1]),
        **by_balls(name, real, edges),
    )  # fmt: skip
    slopes = [derivative(k) for k in range(arity - 1)]
    return whole, *slopes


HYP0F1, HYP0F1_BY_B = _family("hyp0f1", 0)
HYP1F1, HYP1F1_BY_A, HYP1F1_BY_B = _family("hyp1f1", 1)
HYP2F1, HYP2F1_BY_A, HYP2F1_BY_B, HYP2F1_BY_C = _family("hyp2f1", 2)

ENTRIES: tuple[Op, ...] = (
    HYP0F1, HYP0F1_BY_B, HYP1F1, HYP1F1_BY_A, HYP1F1_BY_B, HYP2F1, HYP2F1_BY_A, HYP2F1_BY_B, HYP2F1_BY_C,
)  # fmt: skip
