"""The interface between kernels and the functions they compile: one tier of arithmetic at a time.

`symdiff.pipeline.lowered` answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from symdiff.ir import FALSE, Expr
from symdiff.ir.loop_program import LoopProgram


class Tier(NamedTuple):
    """A function in one tier of arithmetic.

    Attributes
    ----------
    outputs : what is computed.
    test : the condition under which an element is flagged; None if none ever is.
    lean : whether the test omits what the processor's flags tell.
    """

    outputs: tuple[Expr, ...]
    test: Expr | None = None
    lean: bool = False


class Function(Protocol):
    """A lowered function of numbers; `symdiff.pipeline.lowered` has what its members mean."""

    @property
    def name(self) -> str: ...
    @property
    def params(self) -> tuple[str, ...]: ...
    @property
    def outputs(self) -> tuple[Expr, ...]: ...
    @property
    def reference(self) -> tuple[Expr, ...]: ...
    @property
    def refused(self) -> Expr: ...
    @property
    def guarded(self) -> Expr: ...
    @property
    def tested(self) -> bool: ...
    @property
    def flags(self) -> bool: ...
    @property
    def has_double_double(self) -> bool: ...
    def double(self, dtype: str, kind: str) -> Tier: ...
    def compensated(self) -> Tier | None: ...
    def double_double(self) -> Tier: ...
    def part(self, members: Sequence[int]) -> Function: ...


class Reference(Protocol):
    """A tested value in closed form, over the names of its leaves."""

    @property
    def params(self) -> tuple[str, ...]: ...
    @property
    def output(self) -> Expr: ...
    @property
    def written(self) -> Expr: ...


class ProgramWithTests(Protocol):
    """A program with tested values, and their references by number."""

    @property
    def program(self) -> LoopProgram: ...
    @property
    def references(self) -> Sequence[Reference]: ...
    @property
    def flags(self) -> int: ...


class LoopFunction(Protocol):
    """A lowered program with arrays or loops; see `symdiff.pipeline.lowered.loops`."""

    @property
    def source(self) -> LoopProgram: ...
    @property
    def closed(self) -> LoopProgram: ...
    @property
    def exact(self) -> LoopProgram: ...
    @property
    def by_rows(self) -> bool: ...
    @property
    def of_numbers(self) -> bool: ...
    @property
    def accuracy(self) -> str: ...
    def double(self, dtype: str, tests: int) -> ProgramWithTests: ...
    @property
    def rows_lose(self) -> bool: ...
    def value(self, reference: Reference) -> Function: ...
    def in_balls(self) -> LoopProgram: ...


@dataclass(frozen=True, slots=True)
class Plain:
    """A function in double arithmetic alone.

    Attributes
    ----------
    test : the condition under which its results cannot be trusted, in any dtype; None for none.
    """

    name: str
    params: tuple[str, ...]
    outputs: tuple[Expr, ...]
    test: Expr | None = None

    refused = guarded = FALSE
    tested = has_double_double = False

    @property
    def reference(self) -> tuple[Expr, ...]:
        return self.outputs

    @property
    def flags(self) -> bool:
        return self.test is not None

    def double(self, dtype: str, kind: str) -> Tier:
        return Tier(self.outputs, self.test)

    def compensated(self) -> None:
        return None

    def double_double(self) -> Tier:
        raise NotImplementedError(f"{self.name} has one tier")

    def part(self, members: Sequence[int]) -> Plain:
        return Plain(self.name, self.params, tuple(self.outputs[k] for k in members), self.test)
