"""`isfinite`, `isnan` and `isinf` of numbers, as plain Python computes them.

A number computed from real numbers is finite wherever it is defined, has no pole and does not
overflow. Inputs, arguments or elements of arrays, may be anything; where one is nan or infinite,
the double that was computed from it is tested.
"""

from __future__ import annotations

from typing import Any

from symdiff import ir
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.domains import all_given_real
from symdiff.frontend.trace.values import Cond, Real, as_real


def finite(value: Any) -> Any:
    """Whether a number is neither nan nor infinite."""
    if isinstance(value, int):
        return True
    x = as_real(value)
    if x.expr.op is ir.CONST:
        return scalars.conjunction(ir.rational(x.expr) is not None, scalars.cond(x.defined))
    here = scalars.cond(ir.lt(ir.abs_(x.expr), ir.INF))
    return scalars.conjunction(here, _computed(x))


def undefined(value: Any) -> Any:
    """Whether a number is nan."""
    if isinstance(value, int):
        return False
    x = as_real(value)
    if x.expr.op is ir.CONST:
        return scalars.disjunction(x.expr is ir.NAN, scalars.negate(scalars.cond(x.defined)))
    lost = scalars.cond(ir.not_(ir.or_(all_given_real(x.expr), ir.le(x.expr, ir.INF))))
    return scalars.disjunction(
        scalars.disjunction(lost, _indeterminate(x)), scalars.negate(scalars.cond(x.defined))
    )


def infinite(value: Any) -> Any:
    """Whether a number is infinite."""
    if isinstance(value, int):
        return False
    x = as_real(value)
    if x.expr.op is ir.CONST:
        return x.expr in (ir.INF, ir.neg(ir.INF))
    beyond = scalars.cond(ir.eq(ir.abs_(x.expr), ir.INF))
    there = scalars.conjunction(beyond, _computed(x))
    return scalars.disjunction(there, _at_pole(x))


def _computed(x: Real) -> Cond | bool:
    """Whether a number's operations are defined and have no pole."""
    return scalars.conjunction(scalars.cond(x.defined), scalars.poleless(x))


def _parts(x: Real) -> Cond | bool:
    """Whether the operands of a number's last operation have no pole."""
    found: Cond | bool = True
    for a in x.expr.args:
        if not a.op.boolean:
            found = scalars.conjunction(found, scalars.poleless(Real(a)))
    return found


def _at_pole(x: Real) -> Cond | bool:
    """Whether the last operation of a number is at a pole and its operands are at none: then it is
    infinite. A number with a pole further inside counts as nan."""
    e = x.expr
    if e.op is ir.DIV:
        above, below = e.args
        there = ir.and_(ir.eq(below, ir.ZERO), ir.lt(ir.ZERO, ir.abs_(above)))
    elif e.op is ir.POW and (q := ir.rational(e.args[1])) is not None and q < 0:
        there = ir.eq(e.args[0], ir.ZERO)
    elif e.op.pole is not None:
        there = e.op.pole(*e.args)
    else:
        return False
    here = scalars.conjunction(scalars.cond(x.defined), _parts(x))
    return scalars.conjunction(here, scalars.cond(there))


def _indeterminate(x: Real) -> Cond | bool:
    """Whether a number has a pole inside, or is 0/0."""
    inside = scalars.negate(_parts(x))
    if x.expr.op is not ir.DIV:
        return inside
    above, below = x.expr.args
    zeros = scalars.cond(ir.and_(ir.eq(below, ir.ZERO), ir.eq(above, ir.ZERO)))
    return scalars.disjunction(inside, zeros)
