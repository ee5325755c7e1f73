"""Operations that passes put into formulas and that nobody calls."""

from __future__ import annotations

from symdiff.ir import (
    AND,
    CONST,
    HALF,
    NAN,
    ONE,
    ZERO,
    Expr,
    Op,
    abs_,
    const,
    div,
    eq,
    le,
    mul,
    neg,
    power,
    where,
)
from symdiff.ir.functions.selection import SLOPES

EXTENDED = Op(
    "extended", 2,
    partials=lambda value, smooth: (None, ONE),
    simplify=lambda value, smooth: value if smooth is value or smooth.op is CONST else None,
    expand=lambda value, smooth: value, sympy=lambda sp, value, smooth: value,
)  # fmt: skip
"""The value of a guard near a singularity, with the derivatives of the smooth extension; made by
`passes.guards.guards`."""

SQUARES: Op = Op(
    "squares", 1, sign="nonnegative", partials=lambda s: (ONE,),
    simplify=lambda s: s if s.op is SQUARES or s.op is CONST else None,
    expand=lambda s: s, sympy=lambda sp, s: s,
)  # fmt: skip
"""A number that is a sum of squares; made by `loops.simplify.running_norms`."""

ROOT_SLOPE: Op = Op(
    "root_slope", 1, sign="nonnegative",
    partials=lambda s: (neg(div(ROOT_SLOPE(s), mul(const(2), s))),),
    expand=lambda s: where(eq(s, ZERO), ZERO, div(ONE, mul(const(2), power(s, HALF)))),
    sympy=lambda sp, s: 1 / (2 * sp.sqrt(s)), ball=lambda s: s if s.is_zero() else 1 / (2 * s.sqrt()),
    flint=lambda s: where(eq(s, ZERO), ZERO, div(ONE, mul(const(2), power(s, HALF)))),
    kink=lambda s: s, kink_rule="the derivative of a norm at 0 is 0, its subgradient of least norm",
)  # fmt: skip
"""The slope of the root of a sum of squares: 0 where that is 0, which is no limit. Before it
is differentiated, `loops.simplify.norm_slopes` has the quotient that it is in its place."""

DETACHED = Op(
    "detached", 1,
    partials=lambda x: (None,), simplify=lambda x: x if x.op is CONST else None,
    expand=lambda x: x, sympy=lambda sp, x: x,
)  # fmt: skip
"""A number without derivatives, as what it is used for does not depend on it;
made by `loops.simplify.scaled_sums`."""

PINNED: Op = Op(
    "pinned", 3, partials=lambda h, value, closed: (None, None, ONE),
    expand=lambda h, value, closed: where(eq(h, ZERO), value, closed),
    sympy=lambda sp, h, value, closed: closed,
)  # fmt: skip
"""A formula with the value that it is given where h = 0. That is the value of a point: no
branch, which would count near it as well; made by `passes.complete.removable`."""


def pinned(condition: Expr, value: Expr, closed: Expr) -> Expr:
    """A formula with a given value where all of several equations hold."""
    distance, equations = ZERO, [condition]
    while equations:
        e = equations.pop()
        if e.op is AND:
            equations += e.args
        else:
            distance = distance + abs_(e.args[0] - e.args[1])
    return PINNED(distance, value, closed)


WITHIN: Op = Op(
    "within", 2,
    partials=lambda value, u: (
        WITHIN(ONE, u), WITHIN(ZERO, u) if value.op is CONST else None,
    ),
    simplify=lambda value, u: value if u.op is CONST or value is NAN else None,
    expand=lambda value, u: where(le(ZERO, u), value, NAN), sympy=lambda sp, value, u: value,
)  # fmt: skip
"""A value that is nan where u is negative, and so are its derivatives; made by `passes.margins`."""

FILLED = Op(
    "filled", 2, partials=lambda value, u: (ONE, None),
    simplify=lambda value, u: value if u.op is CONST else None,
    expand=lambda value, u: value, sympy=lambda sp, value, u: value,
)  # fmt: skip
"""A value that was singular where u = 0 in the user's formula, though its own formula is not; made
by `frontend.trace.poles`, for `passes.guards` and the definition."""

STEP: Op = Op(
    "step", 6,
    partials=lambda value, x, point, factor, rest, distance: (
        None, factor, rest, neg(distance), None, None,
    ),
    expand=lambda value, *_: value, sympy=lambda sp, value, *_: value,
)  # fmt: skip
"""factor*x + rest*point as the user wrote it, with rest = 1 - factor and distance = point - x: the
derivatives by these keep the digits that such differences would lose; made by
`loops.simplify.fixed_points`."""


MARKS = (DETACHED, EXTENDED, FILLED, SQUARES, STEP, WITHIN)
"""Marks with the value of their first argument; only their derivatives are their own."""
DERIVED = (*MARKS, *SLOPES, ROOT_SLOPE)
"""Operations that only derivatives need: they are expanded before anything is computed."""
