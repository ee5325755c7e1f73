"""Kinks under functions with infinite slopes, in sums over arrays, where ball arithmetic has no limit."""

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

R = np.linspace(0.0, 1.0, 41)[[0, 12, 16, 30]]


def cosine(p: Any, z: Any, r: Any) -> Any:
    """Of the angle in a triangle, which ends where z = p + r."""
    return (r**2 + z**2 - p**2) / (2 * np.where(r * z == 0, 1, r * z))


def angle(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.arccos(np.clip(cosine(p, z, r), -1, 1)))


def root(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.sqrt(np.maximum(1 - cosine(p, z, r), 0)))


def power(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.maximum(1 - cosine(p, z, r), 0) ** 0.3)


def cubic(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.cbrt(1 - cosine(p, z, r)))


def square(p: Any, z: Any, r: Any) -> Any:
    return np.sum(np.maximum(1 - cosine(p, z, r), 0) ** 1.5)


CASES = [(angle, np.nan), (root, np.nan), (power, np.nan), (cubic, np.inf)]
POINTS = [
    (0.6, 1.0),
    (0.5, 0.8),
]  # where one of the sums is exact in doubles: 0.6 + 0.4 and 0.5 + 0.3


@pytest.mark.filterwarnings("ignore:the (guarded )?value")
@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "slope"), CASES)
def test_infinite_slopes_on_one_side_or_both(f: Any, slope: float) -> None:
    p, z = POINTS[f is cubic]
    of_numbers = symgrad(lambda p, z: f(p, z, R))
    np.testing.assert_equal(of_numbers.grad(p, z), (slope, -slope))
    np.testing.assert_equal(symgrad(f, wrt="z").grad(p, z, R), -slope)


@pytest.mark.filterwarnings("ignore:the (guarded )?value")
def test_finite_slopes_on_both_sides() -> None:
    (p, z), h = POINTS[0], 1e-10
    there = [square(p + k * h, z, R) for k in (-1, 1)]
    np.testing.assert_allclose(
        symgrad(square, wrt="p").grad(p, z, R), np.diff(there)[0] / (2 * h), rtol=1e-4
    )
