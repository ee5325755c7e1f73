"""Arrays of integers that a function makes of truth values and rounded numbers, and what NumPy
does with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad


def stored(x):
    a = np.array([1, 2, 3])
    a[1] = x > 0
    return a * 2


def stored_among_many(x):
    a = np.arange(4)
    a[2] = x > 0
    return a + 0.5


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([1, x > 0]),
        lambda x: np.array([x > 0, False]),
        lambda x: np.array([1, round(x)]),
        lambda x: np.array([x > 0, 3 * (x > 1)]),
        lambda x: np.array([x > 0, 3 * (x > 1)]) // 2,
        lambda x: np.array([7, 3 * (x > 1)]) % 2,
        lambda x: np.array([x > 0, 3 * (x > 1)]) / 2,
        lambda x: np.array([1, math.floor(x)]) * np.arange(2),
        lambda x: np.array([1, x > 0]) * x,
        lambda x: np.array([1.0, x > 0]),
        lambda x: [np.array([0, round(x)]) % 2, abs(np.array([0, round(x)]))],
        lambda x: np.where(np.array([0, round(x)]) > 1, np.array([0, round(x)]), 0),
        lambda x: (np.array([2, x > 0]).sum(), np.array([2, x > 0]).max()),
        stored,
        stored_among_many,
    ],
)
@pytest.mark.parametrize("x", [2.6, -0.4])
def test_integers_of_what_is_decided(f: Callable[..., Any], x: float) -> None:
    got, want = symgrad(f)(x), f(np.float64(x))
    for a, b in zip(np.atleast_1d(*got), np.atleast_1d(*want), strict=True) if isinstance(want, (tuple, list)) else [(got, want)]:  # fmt: skip
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_array_equal(a, b)


def test_of_elements_of_arrays() -> None:
    x = np.array([2.0, -1.0])
    f = symgrad(lambda x: np.array([x[0] > 0, 3, np.sum(x > 0)]))
    np.testing.assert_array_equal(f(x), np.array([1, 3, 1]), strict=True)
    g = symgrad(lambda x: np.sum(np.array([1, x[1] > 0]) * x**2))
    assert g(x) == 4.0 and g.grad(x).tolist() == [4.0, 0.0]


def test_powers_of_integers() -> None:
    def masked(x, k):
        return 2**k * (x[k] > 0)

    f = symgrad(masked)
    x = np.array([1.0, 2.0, 3.0])
    for k in (2, -2, 0, -1):
        assert f(x, k) == masked(x, k)

    def of_array(x, k):
        return np.sum(np.arange(1, 4) ** k * x) + x[k]

    g = symgrad(of_array)
    assert g(x, 2) == 39.0
    with pytest.raises(ValueError, match="negative integer power"):
        g(x, -1)
    with pytest.raises(SymdiffError, match="negative integer power"):
        symgrad(lambda x: np.arange(1, 4) ** -1 * x)(x)


def test_no_derivative_by_an_integer_alone() -> None:
    x = np.array([1.0, 2.0])
    for which in ("k", 1):
        f = symgrad(lambda x, k: x[k] ** 2, wrt=which)
        for derivative in (f.grad, f.jacobian, f.value_and_grad, f.hessian):
            with pytest.raises(SymdiffError, match=r"'k' of .* is an integer here"):
                derivative(x, 1)
        assert f(x, 1) == 4.0


def test_squares_of_truth_values_are_refused() -> None:
    """NumPy has them in 8 bits, and roots of those in float16."""
    x = np.array([1.0, -2.0])
    with pytest.raises(SymdiffError, match="integers of 8 bits"):
        symgrad(lambda x: np.sqrt((x > 0) ** 2) * x)(x)
    np.testing.assert_array_equal(symgrad(lambda x: (x > 0) ** 3)(x), (x > 0) ** 3)
