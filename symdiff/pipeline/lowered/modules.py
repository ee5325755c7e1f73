"""The tiers of functions of numbers as source code has them, which reads no processor's flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import FALSE, POW, Expr, rational
from symdiff.ir.program import OptimizedProgram
from symdiff.pipeline.lowered.scalar import LoweredFunction, error_test, violated

LARGE_TIER = 200
"""Nodes up to which a module has compensated outputs."""


class Written(NamedTuple):
    """What a module needs of an optimized program.

    Attributes
    ----------
    outputs : as arrays are computed first.
    flagged : where they may be wrong; at the level "fast", where demands are not met.
    corrected : the compensated outputs; nothing if there are none, or where nothing is flagged.
    still : where these may be wrong.
    closed : as double-double arithmetic takes them; nothing as above.
    """

    outputs: tuple[Expr, ...]
    flagged: Expr
    corrected: tuple[Expr, ...] = ()
    still: Expr = ir.TRUE
    closed: tuple[Expr, ...] = ()


def written(
    optimized: OptimizedProgram, dtype: str, accuracy: str, demands: Sequence[Expr] = ()
) -> Written:
    """The tiers of an optimized program as source code has them."""
    refused = violated(demands)
    if accuracy == "fast" or all(map(_rounds_once, optimized.outputs)):
        return Written(optimized.outputs, refused)
    function = LoweredFunction(
        optimized.name, optimized.params, optimized.outputs, optimized.reference,
        corrected=dtype == "float64",
    )  # fmt: skip
    outputs = function.double(dtype, "array").outputs
    found = _without_flags(outputs, dtype)
    if found is FALSE:
        return Written(optimized.outputs, refused)
    from symdiff.passes.accuracy.far_constants import without_far_constants
    from symdiff.passes.accuracy.softmax import shared

    tier = function.compensated() if function.corrected else None
    between = () if tier is None else tier.outputs
    if len(ir.topological(between)) > LARGE_TIER:
        between = ()
    return Written(
        outputs, ir.or_(refused, found),
        between, _without_flags(between, dtype) if between else ir.TRUE,
        shared(without_far_constants(optimized.reference)),
    )  # fmt: skip


def _rounds_once(e: Expr) -> bool:
    """Whether a node is an argument, a constant, or one operation that IEEE arithmetic rounds
    correctly, of doubles."""
    from symdiff.lowering.target import is_float

    if e.op is POW and e.args[1] is not ir.HALF:
        return False
    exact = all(a.op is ir.VAR or ((q := rational(a)) is not None and is_float(q)) for a in e.args)
    return not e.args or (exact and e.op in (ir.ADD, ir.SUB, ir.MUL, ir.DIV, ir.NEG, ir.ABS, POW))


def _without_flags(outputs: Sequence[Expr], dtype: str) -> Expr:
    """Where double arithmetic may be wrong, without the processor's flags."""
    from symdiff.passes.accuracy.error_test import overflow

    return ir.or_(error_test(outputs, dtype, "lean"), overflow(outputs, dtype))
