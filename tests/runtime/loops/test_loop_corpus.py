"""Compiled programs with arrays and loops do what Python and the reference interpreter do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff.interpret.loops import Precise, run
from symdiff.ir.loop_program import LoopProgram
from symdiff.pipeline import loops as loop_pipeline
from symdiff.runtime.loops.kernel import LoopKernel
from tests.array_corpus import PROGRAMS, WITH_GRADIENT, Case, passed
from tests.loops.programs import as_floats
from tests.traced_corpus import gradient, traced, value


def check(program: LoopProgram, case: Case, choices: tuple[int, ...] = (0, 1, 2, 7)) -> None:
    kernel = LoopKernel(program)
    for seed, sizes in enumerate(case.sizes(choices)):
        for args in passed(program, case.arguments(sizes, seed)):
            held = [np.copy(a) for a in args]
            want = run(program, args, Precise(120))
            for a, b in zip(kernel(args), want, strict=True):
                close(a, b, sizes)
            for a, b in zip(args, held, strict=True):
                np.testing.assert_array_equal(a, b)


def close(got: Any, want: Any, sizes: Any) -> None:
    want = as_floats(want)
    assert np.shape(got) == want.shape, sizes
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-11, err_msg=str(sizes))


@pytest.mark.sampled
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c.name)
def test_value(case: Case) -> None:
    check(loop_pipeline.final(value(case)), case)


@pytest.mark.slow
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda c: c.name)
def test_as_traced(case: Case) -> None:
    check(traced(case), case, (1, 19))


@pytest.mark.sampled
@pytest.mark.parametrize("case", WITH_GRADIENT, ids=lambda c: c.name)
def test_gradient(case: Case) -> None:
    check(loop_pipeline.final(gradient(case)), case)
