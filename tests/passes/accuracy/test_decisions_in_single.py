"""Integers of float32 arrays: decisions are those of float32, and no integer is rounded to it."""

from __future__ import annotations

import numpy as np
import pytest

from symdiff import symgrad

X = np.array([-0.045, 0.045, 0.125, 0.3, 71.9], np.float32)


@pytest.mark.parametrize(
    "fun",
    [
        lambda x: np.round(x, 2), lambda x: np.floor(x * 100) / 100, lambda x: np.rint(x * 100) / 100,
        lambda x: np.where(x * 100 == 4.5, x, 2 * x),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_decisions_are_those_of_float32(fun) -> None:
    found = symgrad(fun)(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, fun(X), rtol=1e-6)


@pytest.mark.parametrize("fun", [lambda x, y: np.remainder(x, y), lambda x, y: x % y])
@pytest.mark.filterwarnings("error")
def test_large_quotients(fun) -> None:
    y = np.float32(1e-12) * np.arange(1, 6, dtype=np.float32)
    found = symgrad(fun)(X, y)
    np.testing.assert_allclose(found, np.remainder(X, y), rtol=1e-6)
