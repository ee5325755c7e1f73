"""Quotients whose two sides are zero throughout a region have no limit there: nan, as in NumPy. Those that are only at
points keep their limits, and what IEEE arithmetic has at poles stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.ir import NAN, apply, const, lt, var
from symdiff.ir.functions import MAXIMUM
from symdiff.passes.analysis.flat_regions import flat

X = np.array([-1.5, 0.25, 2.0])

THROUGHOUT = [
    lambda x: np.maximum(x, 0) / np.maximum(x, 0),
    lambda x: np.maximum(x, 0) ** 2 / np.maximum(x, 0),
    lambda x: np.sin(np.maximum(x, 0)) / np.maximum(x, 0),
    lambda x: (np.exp(np.maximum(x, 0)) - 1) / np.maximum(x, 0),
    lambda x: np.log(1 + np.maximum(x, 0)) / np.maximum(x, 0),
    lambda x: np.maximum(x, 0) * (1 / np.maximum(x, 0)),
    lambda x: 0 * x / np.minimum(np.minimum(x, 0), 0),
    lambda x: np.where(x > 0, x, 0.0) / np.where(x > 0, x, 0.0),
    lambda x: x * (x > 0) / (x > 0),
    lambda x: (x + np.abs(x)) / (x + np.abs(x)),
    lambda x: (x * x - x * np.abs(x)) / (x - np.abs(x)),
    lambda x: np.floor(x) / np.floor(x),
    lambda x: (x - x % 1) / (x - x % 1),
    lambda x: np.trunc(x) / np.trunc(x),
    lambda x: np.heaviside(x, 0.0) / np.heaviside(x, 0.0),
    lambda x: np.where(x > -2, np.maximum(x, 0) / np.maximum(x, 0), x),
    lambda x: np.sqrt(np.maximum(x, 0)) / np.maximum(x, 0),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", THROUGHOUT)
def test_nan_where_both_are_zero_throughout(f: Callable[[Any], Any]) -> None:
    expected = f(X)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(symgrad(f)(X), expected, rtol=1e-14)
    if f is not THROUGHOUT[-2]:
        total = symgrad(lambda x: np.sum(f(x)))
        np.testing.assert_allclose(total(X[1:]), np.sum(f(X[1:])), rtol=1e-14)
        assert np.isnan(total(X)) == np.isnan(np.sum(expected))


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.sin(x) / x, 1.0),
        (lambda x: np.abs(x) ** 3 / np.abs(x), 0.0),
        (lambda x: np.sin(np.maximum(x, -1)) / np.maximum(x, -1), 1.0),
        (lambda x: np.where(x > -1, x, 7.0) / np.where(x > -1, x, 7.0), 1.0),
        (lambda x: (0.0 if x in (0, 1) else x) / (0.0 if x in (0, 1) else x), 1.0),
        (lambda x: np.exp(-1 / np.maximum(1 - (1 + x) ** 2, 0)), 0.0),
        (lambda x: 1 / np.maximum(x, 0), np.inf),
        (lambda x: np.where(x > 0, np.maximum(x, 0) / np.maximum(x, 0), 5.0), 5.0),
    ],
)
def test_limits_at_points_and_poles_stay(f: Callable[[Any], Any], expected: float) -> None:
    assert symgrad(f)(0.0) == expected


def test_flat_regions() -> None:
    x, y = var("x"), var("y")
    assert flat(MAXIMUM_OF_X * y) is lt(x, 0)
    assert flat(MAXIMUM_OF_X + y).value is False
    assert flat(x * y).value is False
    assert flat(NAN).value is False


MAXIMUM_OF_X = apply(MAXIMUM, var("x"), const(0))
