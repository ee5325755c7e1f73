"""Functions that are run by values beside plain Python and its central differences."""

from __future__ import annotations

import numpy as np

from symdiff import symgrad
from tests.frontend.differences import slopes_by


def run(f, **options):
    return symgrad(f, by_value=True, **options)


def gradient(f, args):
    """The gradient of a function of numbers and arrays, an array for each argument."""
    return [slopes_by(f, args, k) for k in range(len(args))]


def check(f, *args, rtol=2e-6, atol=2e-6, both=None):
    """The value is exactly plain Python's, and the gradient that of differences; `both` gives them."""
    value, found = (both or run(f).value_and_grad)(*args)
    assert value == f(*args)
    for part, want in zip(found if len(args) > 1 else [found], gradient(f, args), strict=True):
        np.testing.assert_allclose(part, want, rtol=rtol, atol=atol)
