"""How far a guarded value is from the function that it replaces.

Before:  where(k == 0, e + abs(x), e + x + k), with the verdict that it is right for some x
After:   whether abs(x) and x, or their slopes by x, differ

Requires: a verdict on a guard that is right at points of a set, not at all of them.
Ensures: a condition that holds where the guard stays as written; also where a regular function is
undefined.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import FALSE, ZERO, Expr
from symdiff.passes.differentiate import pushforward
from symdiff.passes.guards.proof import CLOSE
from symdiff.passes.guards.verdicts import Verdict

NEAR = Fraction(1, 2**60)
"""Closer to 0 than this, relative to values for other variables, a limit counts as 0."""
EQUAL = Fraction(1, 2**40)
"""Closer than this, values and slopes of two regular formulas count as equal."""


def differs(small: Expr, other: Expr, v: Verdict) -> Expr:
    """Whether a guarded value is far from the function, as is possible where it is the limit only
    for some values of other variables; every value is far from 0.

    A singular function is nan at the point itself, in values as written: there its limit counts, and
    `pipeline.written` says what there is where it has none. A regular function is nan only where it is not defined.
    What was found at some points says nothing of others where a shortcut and the function only cross: they have
    other slopes by other variables."""
    if small is ZERO and not (v.partly or v.regular):  # has no small part
        return FALSE
    near = (EQUAL if v.regular else Fraction(CLOSE)) * ir.abs_(small)
    if v.partly or v.regular:  # no arithmetic decides that a limit is exactly 0
        near = near + ir.const(NEAR * Fraction(v.scale))
    distance = ir.abs_(small - other)
    if not v.regular:
        return ir.lt(near, distance)
    apart = ir.not_(ir.le(distance, near))
    across = {p for p, _ in v.singular}
    for p in ir.variables((small, other)):
        if p not in across:
            one, two = pushforward((small, other), {p: ir.ONE})
            alike = ir.le(ir.abs_(one - two), EQUAL * (ir.abs_(one) + ir.abs_(two)))
            apart = ir.or_(apart, ir.not_(alike))
    return apart
