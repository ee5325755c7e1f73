"""Functions that a library computes with errors of several units, for numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.interpret import Certified, ulp_error
from symdiff.ir import functions
from symdiff.lowering.lower import lower
from symdiff.lowering.newton import corrected_by_newton

X = ir.var("x")


def test_cube_roots_are_nearly_rounded() -> None:
    rng = np.random.default_rng(3)
    points = [*rng.uniform(-8, 8, 1500), *(1 + rng.uniform(-1, 1, 500) * 1e-6)]
    points += [*(2.0 ** rng.uniform(-890, 890, 500)), -27.0, 8.0]
    f, truth = symgrad(lambda x: np.cbrt(x)), Certified([X], [functions.CBRT(X)])
    for x in points:
        (answer,) = truth.at_with_status([float(x)])
        assert ulp_error(f(float(x)), answer.ball) <= 0.6, x


@pytest.mark.sampled
@pytest.mark.parametrize("x", [0.0, math.inf, -math.inf, math.nan])
def test_what_the_step_would_spoil_is_the_librarys(x: float) -> None:
    assert np.array_equal(symgrad(lambda x: np.cbrt(x))(x), np.cbrt(x), equal_nan=True)


@pytest.mark.parametrize("x", [5e-324, -1e-310, 1.7e308, 2.3e-308])
def test_at_the_ends_of_the_range_too(x: float) -> None:
    """There, too, it is the library's, which errs by up to four units."""
    (answer,) = Certified([X], [functions.CBRT(X)]).at_with_status([x])
    assert ulp_error(symgrad(lambda x: np.cbrt(x))(x), answer.ball) <= 4


def test_powers_of_one_third_too() -> None:
    assert symgrad(lambda x: x ** (2 / 3))(-0.0) == 0.0
    assert symgrad(lambda x: x ** (1 / 3))(27.0) == 3.0
    roots = lower((functions.SIN(X),))
    assert corrected_by_newton(roots) == roots
