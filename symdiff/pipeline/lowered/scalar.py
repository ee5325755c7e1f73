"""Lowered functions of numbers: what each tier of arithmetic computes, and what it flags.

A lowered function is one object. Kernels, modules and devices ask it for a tier when they
compile that tier; only then do the passes run that make it. What they find is kept on disk.

    tier             made by                                     flags
    double           `passes.accuracy.compensate.first_tier`     `passes.accuracy.error_test`
    compensated      `passes.accuracy.compensate`                `passes.accuracy.error_test`
    double-double    `passes.accuracy.widen`, for devices        the bound of its own error
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import FALSE, TRUE, Expr
from symdiff.ir.program import OptimizedProgram
from symdiff.ir.undefined import undefined
from symdiff.pipeline.options import Options
from symdiff.runtime.kept_formulas import kept
from symdiff.runtime.protocols import Tier

STRICT = 4
"""Units of rounding, half an ulp each, by which results may be off with "strict"."""
MAX_GUARDED = 16
"""Of more outputs it is not asked whether one is nan where a guard acts."""


@dataclass(frozen=True, slots=True)
class LoweredFunction:
    """The tiers of a function of numbers.

    Attributes
    ----------
    name, params : as of the program.
    outputs : as double arithmetic takes them; completed points are bands of polynomials.
    reference : the same values as double-double arithmetic takes them: in closed form.
    refused : where the arguments are not what they must be; every tier flags them.
    guarded : where guards act of the function as it was written; results that are nan there are
        flagged.
    tested : whether results are flagged that rounding may have spoilt.
    rearranged : whether double arithmetic computes sums in the order, and with the
        corrections, that lose fewest digits.
    corrected : whether there is a compensated tier.
    strict : whether double arithmetic propagates its errors, and is flagged above `STRICT` units.
    keep : whether what the passes find is kept on disk.
    """

    name: str
    params: tuple[str, ...]
    outputs: tuple[Expr, ...]
    reference: tuple[Expr, ...]
    refused: Expr = FALSE
    guarded: Expr = FALSE
    tested: bool = True
    rearranged: bool = True
    corrected: bool = True
    strict: bool = False
    keep: bool = True

    def double(self, dtype: str, kind: str) -> Tier:
        """The first tier, in "float64" or "float32".

        Parameters
        ----------
        kind : "point" for one element, "array", or "lean" for arrays where the processor's
            flags tell of overflow, underflow and invalid operations.
        """
        if not self.tested:
            test = ir.or_(self.refused, self._lost(self.outputs))
            return Tier(self.outputs, None if test is FALSE else test)
        outputs = self.outputs
        if self.strict and self.corrected and dtype == "float64" and (found := self._compensated()):
            outputs = found
        elif self.rearranged:
            outputs = self._rearranged(dtype, "point" if kind == "point" else "array")
        return Tier(outputs, self._flagged(outputs, dtype, kind))

    def compensated(self) -> Tier | None:
        """The outputs of double precision with the errors of all operations, for arrays; None
        if there is no such form, or if it would be the first tier again."""
        if self.strict:
            return None
        outputs = self._compensated() if self.corrected else None
        first = self._rearranged("float64", "array") if self.rearranged else self.outputs
        if outputs is None or outputs == first:
            return None
        return Tier(outputs, self._flagged(outputs, "float64", "array"))

    def double_double(self) -> Tier:
        """The outputs in double-double arithmetic; their conditions in double precision."""
        from symdiff.lowering.lower import lower
        from symdiff.passes.accuracy.widen import widen

        outputs, test = widen(self.reference)
        refused, guarded = lower((self.refused, self.guarded))
        lost = replace(self, guarded=guarded)._lost(outputs)
        return Tier(outputs, ir.or_(ir.or_(refused, lost), test))

    @property
    def flags(self) -> bool:
        """Whether any result may be flagged."""
        return self.tested or self.refused is not FALSE or self.guarded is not FALSE

    @property
    def has_double_double(self) -> bool:
        """Whether double-double arithmetic has every function of the outputs."""
        from symdiff.passes.accuracy.widen import has_rules

        return has_rules(self.reference)

    def part(self, members: Sequence[int]) -> LoweredFunction:
        """The same function with some of its outputs."""
        return replace(
            self,
            outputs=tuple(self.outputs[k] for k in members),
            reference=tuple(self.reference[k] for k in members),
        )

    def _rearranged(self, dtype: str, kind: str) -> tuple[Expr, ...]:
        def compute() -> tuple[Expr, ...]:
            from symdiff.passes.accuracy.compensate import first_tier

            corrected = self._compensated if dtype == "float64" else None
            return first_tier(self.outputs, corrected, strict=kind == "point")

        return kept(f"refine-{dtype}-{kind}", self.outputs, self.keep, compute)

    def _compensated(self, light: bool = False) -> tuple[Expr, ...] | None:
        def compute() -> tuple[Expr, ...]:
            from symdiff.passes.accuracy.compensate import compensate

            return compensate(self.outputs, light)

        return kept("light" if light else "correct", self.outputs, self.keep, compute) or None

    def _flagged(self, outputs: Sequence[Expr], dtype: str, kind: str) -> Expr:
        test = error_test(outputs, dtype, kind, self.keep, STRICT if self.strict else None)
        test = ir.and_(test, ir.not_(self._undefined(outputs)))
        return ir.or_(ir.or_(self.refused, self._lost(outputs)), test)

    def _undefined(self, outputs: Sequence[Expr]) -> Expr:
        """Where all outputs are nan, as they must be."""
        found = TRUE
        for value, condition in zip(outputs, undefined(self.reference, exactly=True), strict=True):
            is_nan = ir.not_(ir.le(value, ir.INF))
            found = ir.and_(found, ir.and_(condition, is_nan))
        return found

    def _lost(self, outputs: Sequence[Expr]) -> Expr:
        """Where guards act and an output is nan."""
        there = TRUE
        for e in outputs if self.guarded is not FALSE else ():
            there = ir.and_(there, ir.le(e, ir.INF))
        return ir.and_(self.guarded, ir.not_(there))


def error_test(
    outputs: Sequence[Expr], dtype: str, kind: str, keep: bool = True, limit: int | None = None
) -> Expr:
    """Where rounding may have spoilt outputs, by more than a limit of units; see
    `LoweredFunction.double` for the kinds."""

    def compute() -> tuple[Expr]:
        from symdiff.lowering.target import ARRAY_CHAIN, MAX_CHAIN
        from symdiff.passes.accuracy.error_test import flagged_where

        scalar, lean = kind == "point", kind == "lean"
        chain = MAX_CHAIN if scalar else ARRAY_CHAIN
        return (
            flagged_where(outputs, limit, dtype, fuses=True, strict=scalar, lean=lean, chain=chain),
        )

    return kept(f"flagged-{dtype}-{kind}-{limit}", outputs, keep, compute)[0]


def violated(demands: Sequence[Expr]) -> Expr:
    """Where not all conditions hold."""
    found = FALSE
    for condition in demands:
        found = ir.or_(found, ir.not_(condition))
    return found


def lowered(
    optimized: OptimizedProgram,
    options: Options,
    demands: Sequence[Expr] = (),
    without: str = "",
    guarded: Expr = FALSE,
) -> LoweredFunction:
    """The tiers of a program on the CPU.

    Parameters
    ----------
    demands : conditions on the arguments.
    without : one of `symdiff.pipeline.kernels.scalar.REMEDIES`, or nothing.
    guarded : where guards act of the function as it was written.
    """
    outputs = optimized.outputs
    if options.accuracy == "fast":
        from symdiff.lowering.fast import share_work

        outputs = share_work(outputs)
    return LoweredFunction(
        optimized.name, optimized.params, outputs, optimized.reference, violated(demands),
        guarded if len(outputs) <= MAX_GUARDED else FALSE,
        tested=options.accuracy in ("high", "strict"),
        rearranged=without != "refine",
        corrected=without != "correct" and options.dtype != "float32",
        strict=options.accuracy == "strict",
        keep=options.cache,
    )  # fmt: skip


def on_device(optimized: OptimizedProgram, options: Options) -> LoweredFunction:
    """The tiers of a program on a CUDA device: double-double arithmetic takes what double
    arithmetic takes, series around completed points included, as no third tier finds a limit."""
    return LoweredFunction(
        optimized.name, optimized.params, optimized.outputs, optimized.outputs,
        tested=options.accuracy != "fast", rearranged=False, corrected=False, keep=options.cache,
    )  # fmt: skip
