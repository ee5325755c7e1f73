"""Where values are defined: conditions that a simplified expression no longer shows.

Before: `sqrt(x)**2` became `x`, with the condition `0 <= x`
After: where it is stored, returned or carried: `where(0 <= x, x, nan)`
"""

from __future__ import annotations

from collections.abc import Collection

from symdiff import ir
from symdiff.frontend.trace import implied, scalars
from symdiff.frontend.trace.domains import domain_of
from symdiff.ir import TRUE, ZERO, Expr


def missing(e: Expr, defined: Expr, known: Collection[Expr] = ()) -> list[Expr]:
    """The conditions without which a value is nan although its expression may not be."""
    if defined is TRUE:
        return []
    wanted = [c for c in implied.conjuncts(defined) if not _holds(c, known)]
    if not wanted:
        return []
    own = set(implied.conjuncts(domain_of((e,))[e]))
    return [c for c in wanted if c not in own]


def masked(e: Expr, defined: Expr, known: Collection[Expr] = ()) -> Expr:
    """The expression, nan where the value is not defined."""
    for c in missing(e, defined, known):
        e = ir.where(c, e, ir.NAN)
    return e


def needed(defined: Expr, assumptions: Collection[Expr]) -> tuple[Expr, ...]:
    """The conditions that assumptions do not imply."""
    taken: set[Expr] = set()
    for a in assumptions:
        taken.update(implied.consequences(a))
    return tuple(c for c in implied.conjuncts(defined) if not _holds(c, taken))


def _holds(condition: Expr, known: Collection[Expr]) -> bool:
    if scalars.cond(condition) is True or implied.follows(condition, known):
        return True
    c = implied.canonical(condition)  # a sum of squares and the like is not negative
    return c.op is ir.LE and c.args[0] is ZERO and is_nonnegative(c.args[1])


def is_nonnegative(e: Expr) -> bool:
    """Whether an expression is visibly never negative."""
    stack, budget = [e], 64
    while stack and budget:
        n, budget = stack.pop(), budget - 1
        q = ir.rational(n)
        if q is not None:
            if q < 0:
                return False
        elif n.op in (ir.ADD, ir.MUL, ir.DIV):
            if n.op is ir.MUL and n.args[0] is n.args[1]:
                continue
            stack += n.args
        elif n.op is ir.WHERE:
            stack += n.args[1:]
        elif n.op is ir.POW:
            k = ir.integer(n.args[1])
            if ir.rational(n.args[1]) is None or (k is not None and k % 2):
                stack.append(n.args[0])
        elif n.op.sign == "same":
            stack += n.args
        elif not n.op.sign:
            return False
    return not stack
