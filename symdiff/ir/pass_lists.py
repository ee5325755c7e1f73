"""Passes as data: the lists that a pipeline runs, that `symdiff show` prints, and from which validation
switches off what is at fault.

A pass takes a program, or a part of one, and the context of its pipeline, and returns the changed program.
Both are of any type: `pipeline.scalar` runs passes on programs, `loops.simplify.block_by_block` on blocks.

Modules with lists of passes are watched: where a pass or a function that passes call is replaced, or a list has
other passes, keys of what is kept on disk say so (`replaced`).
"""

from __future__ import annotations

import marshal
import sys
import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Generic, TypeVar

from symdiff.version import STARTED

P = TypeVar("P")
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Pass(Generic[P, C]):
    """One pass of a pipeline.

    Attributes
    ----------
    name : unique in its list, unless the same pass runs again.
    run : the function that it applies.
    requires, ensures : its contract, a line each.
    stage : the name that switches it off together with others; "" for its own name.
    suspicion : how early validation switches it off, from 1; 0 if that would change the result.
    instead : a replacement that runs where it is switched off; None if none is needed.
    """

    name: str
    run: Callable[[P, C], P]
    requires: str
    ensures: str
    stage: str = ""
    suspicion: int = 0
    instead: Callable[[P, C], P] | None = None

    @property
    def switch(self) -> str:
        """The stage that it is a part of."""
        return self.stage or self.name

    @property
    def optional(self) -> bool:
        """Whether it may be switched off."""
        return self.suspicion > 0


@dataclass(frozen=True, slots=True)
class Stage(Generic[P]):
    """A program after a stage of the pipeline, and the seconds that took; `inside` are the passes
    of the stage."""

    name: str
    program: P
    seconds: float
    inside: tuple[Stage[P], ...] = ()


@dataclass(slots=True)
class Log(Generic[P]):
    """The stages that ran, in order."""

    stages: list[Stage[P]] = field(default_factory=list)

    def run(self, name: str, step: Callable[[], P]) -> P:
        """Run a stage, and record it."""
        start = time.perf_counter()
        program = step()
        self.stages.append(Stage(name, program, time.perf_counter() - start))
        return program


def run(log: Log[P] | None, name: str, step: Callable[[], P]) -> P:
    """Run a stage, and record it if there is a log."""
    return step() if log is None else log.run(name, step)


def through(
    passes: Iterable[Pass[P, C]],
    program: P,
    context: C,
    without: Container[str] = (),
    log: Log[P] | None = None,
) -> P:
    """The program after these passes.

    Parameters
    ----------
    context : further data for the passes.
    without : stages that are switched off.
    log : the record of the run; the replacement of a pass that is switched off has its name.
    """
    for p in passes:
        step = p.run
        if p.optional and p.switch in without:
            if p.instead is None:
                continue
            step = p.instead
        program = run(log, p.name, lambda step=step, q=program: step(q, context))  # type: ignore[misc]
    return program


def switches(passes: Sequence[Pass[Any, Any]]) -> tuple[str, ...]:
    """The stages that may be switched off, the likeliest to be wrong first."""
    return tuple(dict.fromkeys(p.switch for p in sorted(passes, key=_suspicion) if p.optional))


def _suspicion(p: Pass[Any, Any]) -> int:
    return p.suspicion


_watched: dict[str, dict[str, Any]] = {}
"""The functions and lists of modules with passes, as they were imported."""


def watch(module: str) -> None:
    """Remember the functions and lists that a module has now."""
    names = vars(sys.modules[module]).items()
    _watched[module] = {n: v for n, v in names if isinstance(v, FunctionType | tuple)}


def replaced() -> list[tuple[str, str, Any]]:
    """What watched modules have in place of what was imported: where, its name, and what it is."""
    return [
        (module, name, _described(now))
        for module, names in _watched.items()
        for name, was in names.items()
        if (now := getattr(sys.modules[module], name, None)) is not was
    ]


def _described(value: Any) -> Any:
    """The same text in each process for the same code; for what is more than code, in no other process."""
    if isinstance(value, tuple):
        return tuple(map(_described, value))
    if isinstance(value, Pass):
        return value.name, _described(value.run), _described(value.instead)
    if isinstance(value, FunctionType) and not (
        value.__closure__ or value.__defaults__ or value.__kwdefaults__
    ):
        return marshal.dumps((value.__code__, value.__name__), 2)
    return None if value is None else (id(value), STARTED)


__all__ = ["Log", "Pass", "Stage", "replaced", "run", "switches", "through", "watch"]
