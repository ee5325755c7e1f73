"""Functions whose results move with the direction of rounding, for kernels that are run rounding up, and down.

Before:  exp(x)
After:   exp(x) + exp(x)/2**60, in one rounding: the same to nearest, a unit more where the processor rounds up
"""

from __future__ import annotations

from fractions import Fraction

from symdiff.ir import HALF, NEG, POW, Expr, const, raw, topological
from symdiff.ir.loop_program import kind_of
from symdiff.lowering.target import FMA

FAINT = Fraction(1, 2**60)
"""A part of a double that is lost when rounding to nearest."""


def moving(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Functions whose results move by a unit in the last place away from zero, in turn when the processor rounds
    in the direction of their sign, and in the other: those of vectors are rounded to nearest in any case, so that
    probes would not see what cancels in them. To nearest, of infinities, and of powers of integers, nothing changes."""
    new: dict[Expr, Expr] = {}
    kinds: dict[Expr, str] = {}
    in_turn = False
    for e in topological(roots):
        args = tuple(new[a] for a in e.args)
        made = e if args == e.args else raw(e.op, args, e.value)
        rounds = e.op.libm is not None and e.op.intrinsic is None and kind_of(e, kinds) == "f"
        if rounds and not (e.op is POW and e.args[1] is HALF):
            negated = raw(NEG, (made,)) if in_turn else made
            made = raw(FMA, (negated, const(FAINT), negated))
            made, in_turn = (raw(NEG, (made,)) if in_turn else made), not in_turn
        new[e] = made
    return tuple(new[r] for r in roots)


__all__ = ["moving"]
