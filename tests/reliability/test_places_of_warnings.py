"""Warnings stand at the user's line."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import scipy.special

from symdiff import AccuracyWarning, symgrad

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("x", [-1.7e308, np.array([1.0, -1.7e308])], ids=["a number", "an array"])
def test_an_accuracy_warning_stands_at_the_call(x: object) -> None:
    @symgrad
    def f(x):
        return scipy.special.gammaln(x)

    frame = inspect.currentframe()
    assert frame is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(x)
        line = frame.f_lineno - 1
    found = [w for w in caught if w.category is AccuracyWarning]
    assert found and all((w.filename, w.lineno) == (__file__, line) for w in found)
