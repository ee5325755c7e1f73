"""What the pipeline for functions of numbers and that for loop programs have in common.

`symdiff.pipeline.scalar` and `symdiff.pipeline.loops` are the two implementations. Stages run
through a `Log`, which `symdiff show` prints: what it shows is what ran.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Stage(Generic[P]):
    """A program after a stage of the pipeline, and the seconds that took."""

    name: str
    program: P
    seconds: float


@dataclass(slots=True)
class Log(Generic[P]):
    """The stages that ran, in order."""

    stages: list[Stage[P]] = field(default_factory=list)

    def run(self, name: str, step: Callable[[], P]) -> P:
        """The program that a stage gives."""
        start = time.perf_counter()
        program = step()
        self.stages.append(Stage(name, program, time.perf_counter() - start))
        return program


def run(log: Log[P] | None, name: str, step: Callable[[], P]) -> P:
    """The program that a stage gives, noted where anybody asked for a log."""
    return step() if log is None else log.run(name, step)


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
