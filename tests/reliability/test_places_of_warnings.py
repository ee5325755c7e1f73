"""Warnings stand at the user's line."""

from __future__ import annotations

import inspect
import math
import warnings

import numpy as np
import pytest

from symdiff import AccuracyWarning, symgrad


@pytest.mark.parametrize("x", [1e5, np.array([1.0, 1e5])], ids=["a number", "an array"])
def test_an_accuracy_warning_stands_at_the_call(x: object) -> None:
    @symgrad
    def f(x):
        u = math.tanh(x)
        v = math.expm1(u) / u
        return v / (1.0 + v**2)

    frame = inspect.currentframe()
    assert frame is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f.grad(x)
        line = frame.f_lineno - 1
    found = [w for w in caught if w.category is AccuracyWarning]
    assert found and all((w.filename, w.lineno) == (__file__, line) for w in found)
