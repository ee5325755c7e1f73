"""Shifts and scales on which an output does not depend have no slopes, and so no kinks.

Before:  m + log(exp(x - m) + exp(y - m)) with m = max(x, y)
After:   the same with `detached(m)`

Requires: values that are to be differentiated.
Ensures: the same values, and the same derivatives but where the maximum, the absolute value or the branch has a
kink: the derivative by it is identically 0, so there is none. What cancels says `passes.cancel.cancel`.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, POW, WHERE, ZERO, Expr
from symdiff.ir.functions import EXTREMES, UNIT
from symdiff.ir.functions.marks import DETACHED
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.differentiate import pullback


def detached_shifts(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with numbers without derivatives for such shifts."""
    outputs = tuple(outputs)
    order = ir.topological(outputs)
    kinked = [e for e in order if e.op in (ABS, WHERE, *EXTREMES) and not e.op.boolean]
    if not kinked:
        return outputs
    weights = [ir.var(f"weight {k}") for k in range(len(outputs))]
    slopes = cancel(_quotients(pullback(outputs, weights, kinked)))
    shifts = {e: DETACHED(e) for e, d in zip(kinked, slopes, strict=True) if d is ZERO}
    return ir.substitute(outputs, shifts) if shifts else outputs


def _quotients(slopes: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The slopes of norms, which are 0 where norms are, as quotients: of a root, one by its square."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op is not UNIT:
            return ir.rebuild(n, args)
        a, norm = args
        is_root = norm.op is POW and ir.rational(norm.args[1]) == Fraction(1, 2)
        return a * norm / norm.args[0] if is_root else a / norm

    return ir.transform(slopes, rule)
