"""Results that are written over the arguments of the same call."""

import numpy as np
import pytest

from symdiff import symgrad

FLAGGED = [
    lambda x: np.cos(x) + x * x / 2 - 1,
    lambda x: np.exp(x) - 1 - x - x * x / 2,
    lambda x: np.sin(x) ** 2 + np.cos(x) ** 3 - 1,
]
"""Formulas of which an element near 0 is computed again, as doubles lose its digits."""


@pytest.mark.sampled
@pytest.mark.parametrize("f", FLAGGED)
def test_one_flagged_element_among_many(f):
    """It is computed again from its argument, not from the result that lies there by then."""
    x = np.linspace(0.5, 3.0, 200)
    x[77] = 1e-9
    want = symgrad(f, cache=False)(x)
    assert abs(want[77]) > 0
    g = symgrad(f, cache=False)
    for _ in range(2):  # the first call also compiles, and compares what it has compiled
        y = x.copy()
        g(y, out=y)
        np.testing.assert_array_equal(y, want)
    both = np.concatenate([x, x])
    g(both[:200], out=both[100:300])
    np.testing.assert_array_equal(both[100:300], want)
