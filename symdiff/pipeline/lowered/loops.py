"""Lowered programs with arrays and loops: their error tests, and what computes flagged results.

tier                     made by                             computes
double                   the program itself                  everything; losses are measured (`runtime.loops.probe`)
double, rows             `passes.accuracy.loop_tiers`        rows of a map, each with its tests
balls, a value           `runtime.loops.fallback`            one flagged value
balls, a call            `lowering.loops.ball_operations`    everything, where results lost digits
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from symdiff.ir.blocks import unchecked
from symdiff.ir.loop_program import LoopProgram, names_of
from symdiff.ir.prune import pruned
from symdiff.pipeline import loops as pipeline
from symdiff.pipeline.derived_on_disk import kept_program
from symdiff.pipeline.lowered.scalar import LoweredFunction
from symdiff.runtime.protocols import ProgramWithTests, Reference

SELDOM = 1 / 16
"""Flagged values of a row, by sample points, up to which rows are computed in doubles first."""


@dataclass(frozen=True)
class LoweredProgram:
    """The tiers of a program with arrays or loops.

    Attributes
    ----------
    source : the program, whose completed operations are not written out.
    accuracy : "high", "strict" or "certified".
    reads_flags : whether the processor tells of overflow and underflow. Then norms are only
        scaled (`symdiff.loops.simplify.scaled_sums`) in kernels with tests, which it calls for.
    by_rows : whether it computes rows that do not depend on each other.
    of_numbers : whether it is a function that gives numbers alone, or a derivative of one: elements
        of what it gives may depend on all arguments, also on how many these are.
    keep : whether what is made of it is kept on disk.
    """

    source: LoopProgram
    accuracy: str = "high"
    reads_flags: bool = True
    by_rows: bool = False
    of_numbers: bool = False
    keep: bool = False

    @cached_property
    def closed(self) -> LoopProgram:
        """The program in closed forms; with `source` it names what is compiled."""
        return kept_program("closed", self.source, self.keep, lambda: pipeline.closed(self.source))

    @cached_property
    def _known(self) -> dict[Any, Any]:
        """What was found of the expressions, for kernels with other tests."""
        return {}

    @cached_property
    def exact(self) -> LoopProgram:
        """The program in closed forms with the values at completed points, for balls."""
        return pipeline.exact(self.source)

    def double(self, dtype: str, tests: int) -> ProgramWithTests:
        """The program with its error tests, as `symdiff.passes.accuracy.loop_tiers.with_error_tests` has
        them."""
        from symdiff.codegen.llvm.jit import has_flags
        from symdiff.loops.simplify.scaled_sums import scaled_norms
        from symdiff.lowering.target import OVERFLOWS, UNDERFLOWS
        from symdiff.passes.accuracy.loop_tiers import with_error_tests

        program = self.source
        flags = self.reads_flags and has_flags()
        how = self.accuracy, tests, self._known
        if not flags or (other := scaled_norms(program, dtype)) is program:
            return with_error_tests(program, dtype, *how)
        if tests:
            return with_error_tests(other, dtype, *how)
        found: Any = with_error_tests(program, dtype, *how)
        return found._replace(flags=OVERFLOWS | UNDERFLOWS)  # type: ignore[no-any-return]

    @cached_property
    def rows_lose(self) -> bool:
        """Whether errors of rows had better be measured, as what has error tests is not seldom flagged."""
        from symdiff.codegen.llvm.jit import has_flags
        from symdiff.passes.accuracy.flagged import worst_share

        if not (self.by_rows and self.accuracy == "high" and self.reads_flags and has_flags()):
            return False
        tested = (r.written for r in self.double("float64", 0).references)
        return sum(worst_share((e,)) or 0 for e in tested) > SELDOM

    def value(self, reference: Reference) -> LoweredFunction:
        """One flagged value, as a function of the names of its leaves."""
        name, params = self.source.name, tuple(reference.params)
        return LoweredFunction(name, params, (reference.written,), (reference.output,))

    def in_balls(self) -> LoopProgram:
        """The whole program without checks, in operations of balls.

        Raises
        ------
        UnsupportedError : if it calls a routine that has no such form.
        """
        from symdiff.lowering.loops.ball_operations import KEPT, in_ball_operations
        from symdiff.lowering.loops.routines_as_loops import with_loops

        keeps = lambda s: s.routine in KEPT
        block = unchecked(with_loops(self.exact, names_of(self.exact), keeps))
        return in_ball_operations(replace(self.exact, block=pruned(block, self.exact.outputs)))
