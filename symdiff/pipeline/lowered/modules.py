"""The tiers of functions of numbers as source code has them, which reads no processor's flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.codegen.source.modules.again import Checks
from symdiff.ir import FALSE, POW, Expr, rational
from symdiff.ir.program import OptimizedProgram
from symdiff.pipeline.lowered.scalar import LoweredFunction, error_test, violated
from symdiff.pipeline.written import Written

LARGE_TIER = 200
"""Nodes up to which a module has compensated outputs."""


def checked(
    optimized: OptimizedProgram,
    dtype: str,
    accuracy: str,
    demands: Sequence[Expr] = (),
    origin: Written | None = None,
) -> tuple[tuple[Expr, ...], Checks]:
    """The outputs of an optimized program as arrays are computed first, and what computes them again.

    Parameters
    ----------
    demands : conditions on the arguments; elements that do not satisfy them are flagged.
    origin : what the user wrote, which is asked where results are nan.
    """
    refused = violated(demands)
    fast = accuracy == "fast" or all(map(_rounds_once, optimized.outputs))
    outputs, found = optimized.outputs, FALSE
    if not fast:
        function = LoweredFunction(
            optimized.name, optimized.params, outputs, optimized.reference,
            corrected=dtype == "float64",
        )  # fmt: skip
        outputs = function.double(dtype, "array").outputs
        found = _without_flags(outputs, dtype)
    if found is FALSE:
        plain = optimized.outputs
        return plain if origin is None else _beside_guards(plain, origin), Checks(refused)
    from symdiff.passes.accuracy.far_constants import without_far_constants
    from symdiff.passes.accuracy.softmax import shared

    tier = function.compensated() if function.corrected else None
    between = () if tier is None else tier.outputs
    if len(ir.topological(between)) > LARGE_TIER:
        between = ()
    beyond = FALSE if origin is None else origin.beyond
    still = ir.or_(beyond, _without_flags(between, dtype)) if between else ir.TRUE
    closed = shared(without_far_constants(optimized.reference))
    checks = Checks(
        ir.or_(ir.or_(refused, beyond), found), between, still, closed, optimized.reference,
        plain=optimized.outputs,
    )  # fmt: skip
    return outputs, checks if origin is None else _with_origin(checks, origin)


def _with_origin(checks: Checks, origin: Written) -> Checks:
    """The same with the outputs as they were written, if they are something else."""
    scalar = len(origin.program.outputs) == 1
    slopes = origin.branches and scalar and len(checks.reference) > origin.values
    written = origin.formulas("derived").outputs
    if not slopes:
        written = written[: origin.values]
    if written == checks.reference[: len(written)]:
        return checks
    value = origin.formulas("value").outputs[0] if slopes else None
    written = (*written, *[ir.NAN] * (len(checks.reference) - len(written)))
    return replace(
        checks, written=written, own=origin.values, everywhere=origin.beyond is not FALSE,
        branches=origin.branches, value=value,
    )  # fmt: skip


def _beside_guards(outputs: tuple[Expr, ...], origin: Written) -> tuple[Expr, ...]:
    """Outputs in double arithmetic alone, which are as they were written where guards act and they
    have no value, and values where guards act at infinite arguments."""
    if origin.guarded is FALSE and origin.beyond is FALSE:
        return outputs
    written = origin.formulas("derived").outputs
    rescued = ir.FALSE
    if len(origin.program.outputs) == 1 and len(outputs) > origin.values:
        (value,), (smooth,) = (origin.formulas(what).outputs for what in ("value", "smooth"))
        rescued = ir.and_(_is_number(value), ir.not_(_is_number(smooth)))
    made = []
    for k, (e, w) in enumerate(zip(outputs, written, strict=True)):
        there = ir.and_(origin.guarded, ir.not_(_is_number(e)))
        if k < origin.values:
            there = ir.or_(there, ir.and_(origin.beyond, _is_number(w)))
        else:
            there = ir.and_(there, rescued)
        made.append(ir.where(there, w, e))
    return tuple(made)


def _is_number(e: Expr) -> Expr:
    """Whether a value is not nan."""
    return ir.le(e, ir.INF)


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
