"""What `isfinite`, `isnan` and `isinf` say of numbers.

What is computed is finite wherever it is defined: real numbers are. What is given, an argument or
an element of an array, may be anything.
"""

from __future__ import annotations

from typing import Any

from symdiff import ir
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.values import as_real
from symdiff.ir.loop_program import LOAD


def finite(value: Any) -> Any:
    """A real number is finite wherever it is defined, and no divisor in it is 0."""
    if isinstance(value, int):
        return True
    x = as_real(value)
    if x.expr.op is ir.CONST and ir.rational(x.expr) is None:
        return False
    computed = scalars.conjunction(scalars.cond(x.defined), scalars.divides(x))
    if _is_given(x.expr):
        return scalars.conjunction(scalars.cond(ir.lt(ir.abs_(x.expr), ir.INF)), computed)
    return computed


def undefined(value: Any) -> Any:
    """Whether a value is nan: it is not defined, or was given as nan."""
    if isinstance(value, int):
        return False
    x = as_real(value)
    if x.expr.op is ir.CONST:
        return x.expr is ir.NAN
    if _is_given(x.expr):
        return scalars.negate(scalars.cond(ir.le(x.expr, ir.INF)))
    return scalars.negate(finite(value))


def infinite(value: Any) -> Any:
    """What is computed from real numbers is never infinite; what is given may be."""
    if isinstance(value, int):
        return False
    x = as_real(value).expr
    if _is_given(x):
        return scalars.cond(ir.eq(ir.abs_(x), ir.INF))
    return x in (ir.INF, ir.neg(ir.INF))


def _is_given(e: ir.Expr) -> bool:
    """Whether a number is an argument or an element of an array, which may be anything."""
    return e.op is ir.VAR or e.op is LOAD
