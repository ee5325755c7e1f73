"""The tiers of arrays, over random expressions, against balls."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from symdiff import ir
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import Expr
from symdiff.ir import functions as f
from symdiff.passes.differentiate import gradient
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel
from tests.passes.expressions import EXPRESSIONS, X, Y

SIZE = 40_000
"""More than goes through the builtin for small arrays."""
ARRAYS = 8
"""Ulps that results on arrays may be off; random expressions nest deeper than people do,
and each operation adds to that."""


def tiered(outputs: tuple[Expr, ...]) -> Kernel:
    return make_kernel(outputs, tiered=True)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, st.integers(0, 2**32 - 1))
def test_ordinary_points_are_right_on_arrays(e: Expr, seed: int) -> None:
    outputs = (e, *gradient(e, [X, Y]))
    kernel = tiered(outputs)
    rng = np.random.default_rng(seed)
    x, y = (rng.choice([-1, 1], SIZE) * 2 ** rng.uniform(-4, 4, SIZE) for _ in "xy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = kernel.evaluate([x, y])
    reference = Certified(["x", "y"], outputs)
    flags = got.flags if got.flags is not None else np.zeros(SIZE)
    for k in range(12):
        if flags[k]:
            continue
        for value, answer in zip(got.values, reference.at_with_status([x[k], y[k]]), strict=True):
            if answer.status == "exact" and abs(answer.value) > 2.0**-1022:
                assert ulp_error(value[k], answer.ball) <= 2 * ARRAYS, (outputs, x[k], y[k])


def test_the_lean_tier_has_no_test_of_sizes() -> None:
    outputs = (X * Y + f.EXP(X),)
    kernel = tiered(outputs)
    lean, tested = (kernel._spec("float64", kind).lowered()[-1] for kind in ("lean", "array"))
    assert len(ir.topological((lean,))) < len(ir.topological((tested,)))
