"""Which stage is at fault: switch one off after the other until the result is right.

`checked` does so for the formulas of an optimized program, from guards to bands; `sound_tiers` for
the compiled code of its tiers, from first-order compensation to double-double arithmetic.
The answer is right in either case, unless the chain rule of the captured program, which stands at
the end, is wrong itself, as it may be where kinks cancel: the warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from symdiff.errors import UnsupportedError, ValidationWarning, VerificationError
from symdiff.ir.program import OptimizedProgram, Program
from symdiff.pipeline.scalar import STAGES, Notes
from symdiff.pipeline.validation.chain import Chain, Step
from symdiff.pipeline.validation.differences import rule_fault
from symdiff.pipeline.validation.oracle import Fault, Oracle
from symdiff.process.callers import outside

REPORT = "please report it at the project's issue tracker, with the function"
CAPTURED = "captured"
"""Denotes all stages: the chain rule of the captured program is compiled as it is."""
_EVERYTHING = "simplifying and differentiating"

Emit = Callable[[frozenset[str]], tuple[OptimizedProgram, Notes]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What validating an optimized program found.

    Attributes
    ----------
    optimized : what to compile.
    without : the stages that are switched off.
    fault : the first difference, if there was one.
    oracle : the truth, for what is compiled from the optimized program; None if there is none.
    """

    optimized: OptimizedProgram
    without: frozenset[str]
    fault: Fault | None
    oracle: Oracle | None


def oracle_of(
    captured: Program, path: Sequence[Step], optimized: OptimizedProgram, notes: Notes, full: bool
) -> Oracle | None:
    """The truth about an optimized program; None for functions that balls cannot evaluate."""
    smooth = None
    repaired = any(g.kind == "repaired" for g in notes.guards.guards)
    if notes.guarded is not None and (repaired or notes.guards.literals):
        smooth = notes.guarded
    compiled = (*optimized.outputs, *optimized.reference)
    try:
        return Oracle(
            captured, path, compiled, smooth=smooth, loose=bool(notes.guards.literals), full=full
        )
    except (UnsupportedError, NotImplementedError, ValueError, OverflowError):
        return None


def checked(captured: Program, path: Sequence[Step], emit: Emit, full: bool = False) -> Outcome:
    """An optimized that agrees with the captured program at every point that was tried.

    Parameters
    ----------
    captured : as the frontend has it.
    path : the derivations.
    emit : makes the optimized program without some stages.
    full : whether to look thoroughly.
    """
    optimized, notes = emit(frozenset())
    first, oracle = _fault(captured, path, optimized, notes, full)
    wrong = None if oracle is None else rule_fault(oracle)
    if wrong is not None:
        raise VerificationError(
            f"a derivative in the table of functions is wrong: {captured.name} has the slope "
            f"{wrong.truth!r} at {wrong.point}, not {wrong.got!r}",
            hint=f"this is a fault of symdiff: {REPORT}",
        )
    if first is None:
        return Outcome(optimized, frozenset(), None, oracle)
    candidates = [frozenset({s}) for s in STAGES]
    candidates += [frozenset(STAGES[:k]) for k in range(2, len(STAGES) + 1)]
    for off in candidates:
        try:
            optimized, notes = emit(off)
            fault, oracle = _fault(captured, path, optimized, notes, True, likely=first)
        except (ArithmeticError, RecursionError, TypeError, KeyError, AssertionError):
            continue
        if fault is None:
            return Outcome(optimized, off, first, oracle)
    optimized = plain(captured, path, optimized)
    return Outcome(optimized, frozenset({CAPTURED}), first, None)


def plain(captured: Program, path: Sequence[Step], like: OptimizedProgram) -> OptimizedProgram:
    """The chain rule of the captured program, compiled as it is."""
    derived = Chain(captured).derived(path)
    outputs = tuple(e() for e in derived.entries)
    return OptimizedProgram(like.name, derived.params, like.tree, outputs, outputs)


def _fault(
    captured: Program,
    path: Sequence[Step],
    optimized: OptimizedProgram,
    notes: Notes,
    full: bool,
    likely: Fault | None = None,
) -> tuple[Fault | None, Oracle | None]:
    oracle = oracle_of(captured, path, optimized, notes, full)
    if oracle is None:
        return None, None
    if likely is not None:
        oracle.first(likely.point)
    found = oracle.repaired() or oracle.faults_of(optimized.outputs, optimized.reference)
    return (found[0] if found else None), oracle


def warn(name: str, fault: Fault, what: str) -> None:
    """Say that something was switched off."""
    where = ", ".join(repr(x) for x in fault.point)
    instead = "it is switched off for this function, whose results are right"
    if what == _EVERYTHING:
        instead = "the chain rule as written is computed instead, which may be wrong there as well"
    warnings.warn(
        f"{name}: {what} is wrong at ({where}): {fault.got!r} for {fault.truth!r}; {instead}. "
        f"This is a fault of symdiff: {REPORT}",
        ValidationWarning,
        stacklevel=outside(),
    )


def named(without: Iterable[str]) -> str:
    """The stages, for people."""
    names = sorted(without)
    if names == [CAPTURED]:
        return _EVERYTHING
    return "the stage " + repr(names[0]) if len(names) == 1 else f"one of the stages {names}"
