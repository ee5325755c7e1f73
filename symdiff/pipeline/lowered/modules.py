"""The tiers of functions of numbers as source code has them, which reads no processor's flags."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from symdiff import ir
from symdiff.codegen.source.modules.kernels import Stage
from symdiff.ir import FALSE, POW, Expr, rational
from symdiff.ir.plain import as_plain
from symdiff.ir.program import OptimizedProgram
from symdiff.passes.accuracy.far_constants import without_far_constants
from symdiff.passes.accuracy.gather_fractions import gather
from symdiff.passes.accuracy.softmax import shared
from symdiff.pipeline.by_definition import ByDefinition
from symdiff.pipeline.lowered.scalar import LoweredFunction, error_test, violated


def checked(
    optimized: OptimizedProgram,
    dtype: str,
    accuracy: str,
    demands: Sequence[Expr] = (),
    origin: ByDefinition | None = None,
    before: Stage | None = None,
) -> Stage:
    """The outputs of an optimized program as arrays are computed first, where they are flagged, and
    their closed forms.

    Parameters
    ----------
    demands : conditions on the arguments; elements that do not satisfy them are flagged.
    origin : what the user wrote, whose values count where results are nan.
    before : the stage of a kernel that is computed as well; its outputs are tested too.
    """
    refused = violated(demands)
    outputs, found = optimized.outputs, FALSE
    if accuracy != "fast" and not all(map(_rounds_once, outputs)):
        function = LoweredFunction(
            optimized.name, optimized.params, outputs, optimized.reference,
            corrected=dtype == "float64",
        )  # fmt: skip
        outputs = function.double(dtype, "array").outputs
        found = _without_flags((*(before.tested if before else ()), *outputs), dtype)
    elif before is not None:
        found = before.flagged
    tested = outputs
    repaired = (
        found is not FALSE if before is None else before.repaired or found is not before.flagged
    )
    closed = _beyond(gather(optimized.outputs), optimized, 0 if before else len(outputs))
    closed = tuple(shared(without_far_constants(closed)))
    if origin is not None:
        outputs, closed = _beside_guards(outputs, origin), _beside_guards(closed, origin)
    return Stage(outputs, ir.or_(refused, found), closed, repaired, optimized.outputs, tested)


def _beyond(gathered: Sequence[Expr], optimized: OptimizedProgram, values: int) -> tuple[Expr, ...]:
    """Closed forms, of which values at infinite arguments are as IEEE arithmetic has them of the
    formula before its fractions were gathered."""
    size = as_plain(
        functools.reduce(ir.add, (ir.abs_(ir.var(p)) for p in optimized.params), ir.ZERO)
    )
    infinite = ir.eq(size, ir.INF)
    return tuple(
        ir.where(infinite, r, g) if k < values and g is not r else g
        for k, (g, r) in enumerate(zip(gathered, optimized.outputs, strict=True))
    )


def _beside_guards(outputs: tuple[Expr, ...], origin: ByDefinition) -> tuple[Expr, ...]:
    """Outputs which are as they were written where guards act and they
    have no value, and values where guards act at infinite arguments. A derivative by what a guard asks about
    stays nan: of a formula that goes through the guard's value it is a limit, which is not known here."""
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
        elif origin.asked.isdisjoint(origin.by(k)):
            there = ir.and_(there, rescued)
        else:  # what is written is the slope of the guard
            there = FALSE
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
