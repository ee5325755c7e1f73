"""Derivatives of the corpus of NumPy functions, against differences in 400 bits."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff.ir.loop_program import ARRAY, LoopProgram
from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline
from tests.array_corpus import CASES, PROGRAMS, WITH_GRADIENT, Case, passed
from tests.loops.programs import along, check_blocks, close, outputs
from tests.traced_corpus import captured, has_gradient, traced

UNDEFINED = ("undefined_sum",)
"""Whose value is not a number at random points."""
REAL = [
    c for c in PROGRAMS
    if c.name not in UNDEFINED and any(kind == "f" for _, kind in c.kinds().values())
]  # fmt: skip
SMOOTH = [c for c in REAL if c.smooth]


def _traced(case: Case) -> tuple[LoopProgram, list, list[str], list[int]]:
    """The program, arguments, and what it is differentiated by."""
    program = traced(case)
    wrt = [p.name for p in program.params if p.type.kind == "f"]
    sizes = next(case.sizes((3,)))
    args = next(passed(program, case.arguments(sizes)))
    given = dict(zip(case.shapes, args, strict=True))
    names = [p.name for p in program.params]
    return program, [given[n] for n in names], wrt, [names.index(n) for n in wrt]


@pytest.mark.slow
def test_what_applies_to_which_is_what_is_traced() -> None:
    loops = [c for c in CASES if isinstance(captured(c), LoopProgram)]
    assert loops == PROGRAMS
    assert [c for c in loops if has_gradient(c)] == WITH_GRADIENT


@pytest.mark.sampled
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c.name)
def test_products(case: Case) -> None:
    program, args, wrt, places = _traced(case)
    forward, back = loop_pipeline.jvp(program, wrt), loop_pipeline.vjp(program, wrt)
    assert faults(forward) == faults(back) == []
    rng = np.random.default_rng(3)
    v = [rng.uniform(-1, 1, np.shape(args[k])) for k in places]
    truth = along(program, args, dict(zip(places, v, strict=True)))
    count = len(program.outputs)
    assert all(map(close, outputs(forward, [*args, *v])[count:], truth))
    bars = [rng.uniform(-1, 1, np.shape(t)) for t in truth]
    found = outputs(back, [*args, *bars])[count:]
    total = sum(np.sum(a * b) for a, b in zip(bars, truth, strict=True))
    assert close(sum(np.sum(a * b) for a, b in zip(found, v, strict=True)), total, 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("case", SMOOTH, ids=lambda c: c.name)
def test_jacobians_and_second_derivatives(case: Case) -> None:
    program, args, wrt, places = _traced(case)
    if not isinstance(program.tree, int) or program.outputs[0].op is ARRAY:
        jacobian = loop_pipeline.jacobian(program, wrt)
        assert faults(jacobian) == []
        check_blocks(outputs(jacobian, args), program, args, places)
        return
    slopes = loop_pipeline.gradient(program, wrt)
    rng = np.random.default_rng(5)
    v = [rng.uniform(-1, 1, np.shape(args[k])) for k in places]
    truth = along(slopes, args, dict(zip(places, v, strict=True)))
    again = outputs(loop_pipeline.vjp(slopes, wrt), [*args, *v])[len(wrt) :]
    bounded = outputs(loop_pipeline.gradient(program, wrt, "revolve"), args)
    assert all(map(close, outputs(loop_pipeline.hvp(program, wrt), [*args, *v]), truth))
    assert all(map(close, again, truth))
    assert all(map(close, bounded, outputs(slopes, args)))
