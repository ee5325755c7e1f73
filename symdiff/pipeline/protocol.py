"""What the pipeline for functions of numbers and that for loop programs have in common.

`symdiff.pipeline.scalar` and `symdiff.pipeline.loops` are the two implementations. Both
are lists of passes (`symdiff.ir.pass_lists`); what ran is in a `Log`, which `symdiff show` prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from symdiff.ir.pass_lists import Stage


class Pipeline(Protocol):
    """From a captured program to the programs of its derivatives."""

    def derive(
        self, program: Any, kind: str, wrt: Sequence[str], notes: Any = None, checkpoint: Any = None
    ) -> Any:
        """The program of a derivative, to be differentiated further or emitted.

        Parameters
        ----------
        kind : "gradient", "value_and_gradient", "jacobian", "hessian", "derivative", "jvp", "vjp"
            or "hvp", as the function of that name.
        wrt : names of parameters.
        notes : what the passes note of what they did; None if nobody asks.
        checkpoint : how reversed loops keep their states.
        """

    def value(self, program: Any) -> Any:
        """The function itself, simplified."""

    def stages(self, program: Any, wrt: Sequence[str], order: int = 1) -> list[Stage[Any]]:
        """The program after each stage that makes its derivatives of an order."""
