"""Derivatives at kinks do not depend on how many calls there were: compiled entries serve later ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symdiff import symgrad


def logs(y: Any) -> Any:
    return np.sum(np.log(1.0 + np.abs(np.maximum(0.0, y - 1))))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("accuracy", ["high", "strict", "certified"])
@pytest.mark.parametrize("size", [1, 2])
def test_all_calls_have_the_mean_of_both_sides(accuracy: str, size: int) -> None:
    gradient = symgrad(logs, accuracy=accuracy).grad
    for _ in range(6):
        np.testing.assert_array_equal(gradient(np.full(size, 1.0)), np.full(size, 0.5))
        np.testing.assert_allclose(gradient(np.full(size, 3.0)), np.full(size, 1 / 3), rtol=1e-15)


def test_sizes_after_the_first_calls() -> None:
    gradient = symgrad(logs).grad
    for size in (3, 3, 3, 3, 4, 4, 1, 3, 4, 2, 5, 6):
        np.testing.assert_array_equal(gradient(np.full(size, 1.0)), np.full(size, 0.5))
