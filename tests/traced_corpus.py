"""The programs of the corpus of functions with arrays and loops, each traced and derived once in a process."""

from __future__ import annotations

import functools

from symdiff.frontend import capture
from symdiff.ir.loop_program import ARRAY, LoopProgram
from symdiff.ir.program import Program
from symdiff.pipeline import loops as loop_pipeline
from tests.array_corpus import CASES, Case

BY_NAME = {c.name: c for c in CASES}


@functools.cache
def _captured(name: str) -> Program | LoopProgram:
    case = BY_NAME[name]
    return capture(case.fun, case.static, case.kinds())


@functools.cache
def _value(name: str) -> LoopProgram:
    return loop_pipeline.value(traced(BY_NAME[name]))


@functools.cache
def _gradient(name: str) -> LoopProgram:
    program = traced(BY_NAME[name])
    return loop_pipeline.gradient(program, [p.name for p in program.params if p.type.kind == "f"])


def captured(case: Case) -> Program | LoopProgram:
    """The program as it was traced."""
    return _captured(case.name)


def traced(case: Case) -> LoopProgram:
    """The program of one of `PROGRAMS` as it was traced."""
    program = captured(case)
    assert isinstance(program, LoopProgram)
    return program


def value(case: Case) -> LoopProgram:
    """The function itself, simplified."""
    traced(case)
    return _value(case.name)


def has_gradient(case: Case) -> bool:
    """Whether it is a smooth function with one number as its result."""
    program = captured(case)
    return case.smooth and len(program.outputs) == 1 and program.outputs[0].op is not ARRAY


def gradient(case: Case) -> LoopProgram:
    """The gradient of one of `WITH_GRADIENT` by all real parameters."""
    assert has_gradient(case)
    return _gradient(case.name)
