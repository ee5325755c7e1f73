"""Random programs with arrays and loops, and their derivatives."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symdiff.ir.verify.loops import faults
from symdiff.pipeline import loops as loop_pipeline
from tests.loops.programs import along, check_blocks, close, outputs
from tests.loops.random_programs import ARGUMENTS, PARAMETERS, Generator

NAMES = list(PARAMETERS)
FEW = settings(max_examples=25, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**6))
def test_reverse_mode(seed: int) -> None:
    program = Generator(Random(seed)).program()
    assert faults(program) == []
    slopes = loop_pipeline.gradient(program, NAMES)
    assert faults(slopes) == []
    assert close(
        outputs(loop_pipeline.value(program), ARGUMENTS)[0], outputs(program, ARGUMENTS)[0]
    )
    check_blocks(outputs(slopes, ARGUMENTS), program, ARGUMENTS, range(len(NAMES)))


@pytest.mark.slow
@FEW
@given(st.integers(0, 10**6))
def test_forward_and_second_derivatives(seed: int) -> None:
    program = Generator(Random(seed)).program()
    rng = np.random.default_rng(seed)
    v = [rng.uniform(-1, 1, np.shape(a)) for a in ARGUMENTS]
    slopes = loop_pipeline.gradient(program, NAMES)
    direction = dict(enumerate(v))
    tangent = outputs(loop_pipeline.jvp(program, NAMES), [*ARGUMENTS, *v])[1]
    assert close(tangent, along(program, ARGUMENTS, direction)[0])
    truth = along(slopes, ARGUMENTS, direction)
    assert all(map(close, outputs(loop_pipeline.hvp(program, NAMES), [*ARGUMENTS, *v]), truth))
    again = loop_pipeline.vjp(slopes, NAMES)
    assert faults(again) == []
    assert all(map(close, outputs(again, [*ARGUMENTS, *v])[len(NAMES) :], truth))
