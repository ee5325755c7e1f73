"""Rows of a few numbers as lowered functions of these, for vectors over rows.

tier                     made by                                                  computes
double                   -                                                        with "fast" everything
corrected                `passes.accuracy.rows_with_errors.corrected_formulas`    with others everything

What the second tier flags is left to the kernel of rows (`pipeline.lowered.loops`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from symdiff.ir import FALSE, Expr
from symdiff.loops.fixed_rows import Columns
from symdiff.runtime.protocols import Tier


@dataclass(frozen=True)
class CorrectedRow:
    """The formulas of a row together with their rounding errors.

    Attributes
    ----------
    formulas : in closed form.
    """

    formulas: Columns

    refused = guarded = FALSE
    tested = flags = has_double_double = True

    @property
    def name(self) -> str:
        return self.formulas.program.name

    @property
    def params(self) -> tuple[str, ...]:
        return self.formulas.params

    @cached_property
    def _lean(self) -> Tier:
        return self._made(False)

    @cached_property
    def _watched(self) -> Tier:
        return self._made(True)

    def _made(self, tests: bool) -> Tier:
        from symdiff.passes.accuracy.rows_with_errors import corrected_formulas

        return Tier(*corrected_formulas(self.formulas.program, self.formulas.outputs, tests))

    @property
    def outputs(self) -> tuple[Expr, ...]:
        return self._lean.outputs

    @property
    def reference(self) -> tuple[Expr, ...]:
        return self.outputs

    def double(self, dtype: str, kind: str) -> Tier:
        """The formulas with their errors; but where the processor's flags are read with what underflow cost."""
        return self._lean if kind == "lean" else self._watched

    def double_double(self) -> Tier:
        return self._watched

    def compensated(self) -> None:
        return None

    def part(self, members: Sequence[int]) -> CorrectedRow:
        outputs = tuple(self.formulas.outputs[k] for k in members)
        return CorrectedRow(self.formulas._replace(outputs=outputs))
