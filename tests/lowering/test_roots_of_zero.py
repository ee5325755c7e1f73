"""The root of -0.0 is -0.0, but powers of it have the sign of their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import symgrad

CASES = {
    "root": (lambda x: np.sqrt(x), np.inf),
    "root that is raised to a power": (lambda x: x**0.5, np.inf),
    "one-sided root of a product": (lambda x: np.sqrt(-2 * x), -np.inf),
    "root of a root": (lambda x: np.sqrt(np.sqrt(x)), np.inf),
    "both branches": (lambda x: np.where(x >= 0, np.sqrt(x), -np.sqrt(-x)), np.inf),
    "inverse of a function": (lambda x: np.arccosh(x + 1), np.inf),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("accuracy", ["high", "fast", "strict"])
@pytest.mark.parametrize("name", CASES)
def test_slopes_of_roots_at_zeros_of_both_signs(name: str, accuracy: str) -> None:
    f, slope = CASES[name]
    g = symgrad(f, accuracy=accuracy).grad
    assert g(-0.0) == g(0.0) == slope
    np.testing.assert_array_equal(g(np.array([-0.0, 0.0])), [slope, slope])


@pytest.mark.parametrize("accuracy", ["high", "fast", "strict"])
def test_negative_powers_that_are_no_integers(accuracy: str) -> None:
    for q in (-0.5, -1.5, -2.5):
        f = symgrad(lambda x, q=q: x**q, accuracy=accuracy)
        assert f(-0.0) == f(0.0) == math.inf
