"""The value of a formula at a point with IEEE infinities: 1/0 is inf, inf - inf nan.

Finite values stay proven balls, so an exact zero is one, with the sign it has in doubles:
1/-0.0 is -inf. Only infinite values follow the rules of floating point, and functions
of them those of the C library.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from flint import arb

from symdiff import ir
from symdiff.interpret.balls import UNKNOWN, Value
from symdiff.interpret.flat import Tape
from symdiff.interpret.rounding import FLOAT64, unique_rounding
from symdiff.ir import Expr
from symdiff.ir.functions import EXTREMES, LARGER, PINNED, SMALLER
from symdiff.ir.plain import as_ball
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


def extended_value(
    tape: Tape, root: int, point: Sequence[float], prec: int, fixed: Mapping[int, Value]
) -> Value:
    """The ball of a node with infinities allowed; nan where IEEE gives nan."""
    v = tape.run([as_ball(x) for x in point], prec, fixed)
    scope = {tape.nodes[i].value: np.float64(point[k]) for i, k in tape.slots}
    for i, e in enumerate(tape.nodes):
        if not e.args or i in fixed:
            continue
        args = [v[tape.index[a]] for a in e.args]
        if e.op is ir.DIV:
            v[i] = _quotient(args[0], args[1], e, scope)
        else:
            v[i] = tape.apply(i, v)
            if e.op in (LARGER, SMALLER) and args[1].is_nan():
                v[i] = args[0]  # nothing is larger than nan
                continue
            if e.op is PINNED and args[0].is_nan():
                v[i] = args[2]  # nan is no point
                continue
            if e.op in ir.COMPARISONS and v[i] is None and any(a.is_nan() for a in args):
                v[i] = False
            if e.op in _FLINT_RULES or e.op.boolean:
                continue
            if not v[i].is_finite() or not all(a.is_finite() for a in args):
                v[i] = _library_value(e, args, scope, v[i])
    return v[root]


_FLINT_RULES = (ir.ADD, ir.SUB, ir.MUL, ir.NEG, ir.ABS, ir.WHERE, PINNED, *EXTREMES)
"""Operations that treat infinite balls as IEEE does."""


def _quotient(a: Value, b: Value, e: Expr, scope: Mapping[str, Any]) -> Value:
    if not b.is_zero():
        return a / b
    if not (a > 0 or a < 0):
        return UNKNOWN
    below = math.copysign(1.0, _zero(e.args[1], scope)) < 0
    return arb("inf") if (a > 0) is not below else arb("-inf")


def _zero(e: Expr, scope: Mapping[str, Any]) -> float:
    """A node that is exactly zero, with its sign in the arithmetic of doubles."""
    from symdiff.interpret.loops import Doubles, evaluate  # formulas are printed without NumPy

    with np.errstate(all="ignore"):
        found = float(evaluate(e, Doubles(), scope))
    return found if found == 0.0 else 0.0


def _library_value(e: Expr, args: Sequence[Value], scope: Mapping[str, Any], ball: Value) -> Value:
    """The operation as floating-point libraries compute it; its ball, if kernels have that."""
    op = e.op
    floats = [
        _zero(n, scope) if a.is_zero() else _float(a) for n, a in zip(e.args, args, strict=True)
    ]
    if op.edges is not None and (known := op.edges(*floats)) is not None:
        return arb(known)
    if op.edges is not None and ball.is_finite():
        return ball
    if op is ir.POW and floats[0] == 1.0 and math.isinf(floats[1]):
        if not any(a.op in (ir.VAR, ir.CONST) for a in e.args):
            return UNKNOWN  # an unknown limit
    function: Any = np.power if op is ir.POW else _callable(op.names)
    if function is None:
        return UNKNOWN
    with np.errstate(all="ignore"):
        try:
            return arb(float(function(*floats)))
        except (ArithmeticError, ValueError):
            return UNKNOWN


def _float(a: Value) -> float:
    """A ball as a float, inf if it is beyond the floats, nan if that is unknown."""
    if a.is_finite():
        x = unique_rounding(a, FLOAT64)
        return math.nan if x is None else x
    return math.inf if a > 0 else -math.inf if a < 0 else math.nan


def _callable(names: Sequence[str]) -> Callable[..., Any] | None:
    """The first installed one of some dotted Python names, NumPy's before others."""
    for name in sorted(names, key=lambda n: not n.startswith("numpy.")):
        module, _, attribute = name.rpartition(".")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError):
            continue
        return found
    return None
