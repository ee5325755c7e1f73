"""What IEEE infinities make of a formula at a point: 1/0 is inf, inf - inf nan.

Finite values stay proven balls, so an exact zero is one; only what is infinite
follows the rules of floating point, and functions of it the C library's.
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
from symdiff.interpret.rounding import FLOAT64, settle
from symdiff.process.lazy_modules import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")


def extended_value(
    tape: Tape, root: int, inputs: Sequence[Value], prec: int, fixed: Mapping[int, Value]
) -> Value:
    """The ball of a node with infinities allowed; nan where IEEE gives nan."""
    v = tape.run(inputs, prec, fixed)
    for i, e in enumerate(tape.nodes):
        if not e.args or i in fixed:
            continue
        args = [v[tape.index[a]] for a in e.args]
        if e.op is ir.DIV:
            v[i] = _quotient(*args)
        else:
            v[i] = tape.apply(i, v)
            if e.op in ir.COMPARISONS and v[i] is None and any(a.is_nan() for a in args):
                v[i] = False
            if e.op in _FLINT_RULES or e.op.boolean:
                continue
            if not v[i].is_finite() or not all(a.is_finite() for a in args):
                v[i] = _library_value(e.op, args)
    return v[root]


_FLINT_RULES = (ir.ADD, ir.SUB, ir.MUL, ir.NEG, ir.ABS, ir.WHERE)
"""Operations that treat infinite balls as IEEE does."""


def _quotient(a: Value, b: Value) -> Value:
    if not b.is_zero():
        return a / b
    return arb("inf") if a > 0 else arb("-inf") if a < 0 else UNKNOWN


def _library_value(op: ir.Op, args: Sequence[Value]) -> Value:
    """The operation as floating-point libraries compute it."""
    floats = [_float(a) for a in args]
    function: Any = np.power if op is ir.POW else _callable(op.names)
    if function is None:
        return UNKNOWN
    with np.errstate(all="ignore"):
        try:
            return arb(float(function(*floats)))
        except (ArithmeticError, ValueError):
            return UNKNOWN


def _float(a: Value) -> float:
    """A ball as a float, inf if it is beyond the floats, nan if that is not known."""
    if a.is_finite():
        x = settle(a, FLOAT64)
        return math.nan if x is None else x
    return math.inf if a > 0 else -math.inf if a < 0 else math.nan


def _callable(names: Sequence[str]) -> Callable[..., Any] | None:
    """The first of some dotted Python names that is installed, NumPy's before others."""
    for name in sorted(names, key=lambda n: not n.startswith("numpy.")):
        module, _, attribute = name.rpartition(".")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        except (ImportError, AttributeError):
            continue
        return found
    return None
