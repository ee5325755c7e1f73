"""Formulas at infinite arguments, as functions of the finite ones.

Before:  logaddexp(x, m) + exp(-x*y) at m = -inf, y = inf
After:   x + 0

A derivative by a finite argument is that of t -> f(p + t e_i), in which infinite quantities stay infinite: they are
constants, and so is a finite value that an operation gives them (1/inf, exp(-inf), tanh(inf)). Maxima, minima and
`logaddexp` leave the argument that counts. By an infinite argument every slope is 0, as -inf + t is -inf.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.interpret.loops import Doubles, evaluate
from symdiff.ir import Expr
from symdiff.ir.functions import EXTREMES, LOGADDEXP

CHOOSING = (*EXTREMES, LOGADDEXP)
"""Operations that have the value of their other argument where one is infinite."""


def beside_infinities(outputs: Sequence[Expr], point: Mapping[str, float]) -> list[Expr]:
    """The outputs as formulas of the finite arguments at a point; nan and infinities where they have those."""
    doubles, values, made = Doubles(), dict[Expr, Any](), dict[Expr, Expr]()
    with np.errstate(all="ignore"):
        for n in ir.topological(outputs):
            values[n] = _value(n, values, doubles, point)
            made[n] = _formula(n, [made[a] for a in n.args], values)
    return [made[e] for e in outputs]


def is_infinite(e: Expr) -> bool:
    """Whether a formula is nan or infinite everywhere."""
    return e.op is ir.CONST and isinstance(e.value, float) and not math.isfinite(e.value)


def _value(
    n: Expr, values: Mapping[Expr, Any], doubles: Doubles, point: Mapping[str, float]
) -> Any:
    if n.op is ir.VAR:
        return np.float64(point[n.value])
    if not n.args:
        return n.value if n.op is ir.BOOL else doubles.real(evaluate(n, doubles, {}))
    args = [values[a] for a in n.args]
    if n.op is ir.WHERE:
        return args[1] if args[0] else args[2]
    return doubles.apply(n.op, args)


def _formula(n: Expr, args: Sequence[Expr], values: Mapping[Expr, Any]) -> Expr:
    value = values[n]
    if not n.args:
        infinite = n.op is ir.VAR and not math.isfinite(value)
        return ir.const(float(value)) if infinite else n
    if n.op is ir.WHERE and args[0].op is ir.BOOL:
        return args[1] if args[0].value else args[2]
    if n.op is ir.WHERE or not any(map(is_infinite, args)):
        return ir.rebuild(n, tuple(args))
    if n.op.boolean:
        return ir.boolean(bool(value))
    if n.op in CHOOSING and math.isfinite(value):
        return next(a for a in args if not is_infinite(a))
    return ir.const(float(value))


__all__ = ["beside_infinities", "is_infinite"]
