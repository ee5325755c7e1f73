"""Where a formula is zero throughout a region.

Before:  max(x, 0)*y
After:   x < 0

Requires: a formula. Ensures: a condition; wherever it holds, the formula is zero there and at all
points near, whatever further variables it has. Points and curves of zeros do not count: a quotient
may have a limit there. For sums of more than `MOST` kinks, only regions where all terms are zero
are found.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

from symdiff import ir
from symdiff.ir import FALSE, TRUE, ZERO, Expr
from symdiff.ir.functions import EXTREMES, MAXIMA
from symdiff.ir.functions.selection import CEIL, FLOOR, ROUND, TRUNC
from symdiff.ir.plain import exactly

MOST = 3
"""The most kinks of one formula whose sides are all combined."""
LARGEST = 400
"""Largest number of nodes of a formula."""
STEPS = (FLOOR, CEIL, TRUNC, ROUND)
SIDED = (ir.WHERE, ir.ABS, *EXTREMES)


@lru_cache(maxsize=4096)
def flat(e: Expr) -> Expr:
    """The condition under which a formula is zero at a point and near it; FALSE where none is
    known."""
    if not ir.has_at_most(LARGEST, (e,)):
        return ir.boolean(e is ZERO)
    (e,) = exactly((e,))
    kinks = e.args and any(n.op in SIDED or n.op in STEPS for n in ir.topological((e,)))
    return _flat(e) if kinks else ir.boolean(e is ZERO)


def _flat(e: Expr) -> Expr:
    if e.op is ir.MUL:
        return ir.or_(*map(flat, e.args))
    if e.op is ir.WHERE or e.op in EXTREMES:
        (c, a), (d, b) = ((holds, flat(side)) for holds, side in (_side(e, 0), _side(e, 1)))
        return ir.or_(ir.or_(ir.and_(c, a), ir.and_(d, b)), ir.and_(a, b))
    if e.op in (ir.ADD, ir.SUB):
        both = ir.and_(*map(flat, e.args))
        return both if both is not FALSE else _of_sides(e)
    if e.op in STEPS:
        return _side(e, 0)[0]
    if e.op is ir.POW:
        q = ir.rational(e.args[1])
        return flat(e.args[0]) if q is not None and q > 0 else FALSE
    if e.op is ir.DIV or (len(e.args) == 1 and ir.apply(e.op, ZERO) is ZERO):
        return flat(e.args[0])
    return _of_sides(e)


_STEP = {FLOOR: (0, 1), CEIL: (-1, 0), TRUNC: (-1, 1), ROUND: (-0.5, 0.5)}
"""The open interval on which a step is 0."""


def _opened(c: Expr) -> Expr:
    """A condition without the parts that hold at most on a surface."""
    if c.op is ir.AND:
        return c if all(_opened(p) is not FALSE for p in c.args) else FALSE
    if c.op is ir.OR:
        return ir.or_(*map(_opened, c.args))
    return FALSE if c.op is ir.EQ else c


def _of_sides(e: Expr) -> Expr:
    """The condition from all combinations of the sides of the kinks."""
    kinks = [n for n in ir.topological((e,)) if n.op in SIDED or n.op in STEPS]
    if len(kinks) > MOST:
        return FALSE
    found = FALSE
    for chosen in itertools.product((0, 1), repeat=len(kinks)):
        holds, at = TRUE, dict[Expr, Expr]()
        for n, k in zip(kinks, chosen, strict=True):
            taken, new = ir.substitute(_side(n, k), at)
            at[n] = new
            holds = ir.and_(holds, taken)
        if holds is not FALSE and ir.substitute((e,), at)[0] is ZERO:
            found = ir.or_(found, holds)
    return found


def _side(e: Expr, k: int) -> tuple[Expr, Expr]:
    """The condition and the value of a side of a kink; for a step, where it is 0."""
    if e.op in STEPS:
        (u,), (low, high) = e.args, _STEP[e.op]
        inside = ir.and_(ir.lt(ir.const(low), u), ir.lt(u, ir.const(high)))
        return (inside, ZERO) if k == 0 else (FALSE, e)
    if e.op is ir.ABS:
        (u,) = e.args
        return (ir.lt(ZERO, u), u) if k == 0 else (ir.lt(u, ZERO), ir.neg(u))
    if e.op is ir.WHERE:
        c = e.args[0]
        return _opened(c if k == 0 else ir.not_(c)), e.args[1 + k]
    a, b = e.args if k == 0 else e.args[::-1]
    return (ir.lt(b, a) if e.op in MAXIMA else ir.lt(a, b)), a
