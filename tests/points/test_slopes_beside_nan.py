"""Derivatives of maxima, minima and order statistics whose value is nan: no finite number is made up there."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

A = np.array([2.0, math.nan, 3.0])


def loop(x: Any) -> Any:
    m = x[0]
    for i in range(1, len(x)):
        m = np.maximum(m, x[i])
    return m


def peak(x: Any) -> Any:
    return np.max(x) ** 2


LOST = [
    lambda x: np.median(x),
    lambda x: np.sqrt(np.sum(np.maximum(x - 1, 0.0) ** 2)),
    lambda x: np.log1p(np.clip(x[1], -0.5, 0.5)) + x[0],
    loop,
]


@pytest.mark.sampled
@pytest.mark.parametrize("number", range(len(LOST)))
def test_a_selection_that_is_nan_has_no_finite_slope_by_the_nan_it_is_made_of(number: int) -> None:
    f = symgrad(LOST[number])
    assert math.isnan(f(A))
    assert math.isnan(f.grad(A)[1])


@pytest.mark.slow
def test_numbers_and_elements_have_the_same_slopes() -> None:
    for fun in (
        lambda x: np.maximum(x, 1.0),
        lambda x: np.clip(x, 0.0, 1.0),
        lambda x: np.minimum(x, x * x),
    ):
        f = symgrad(fun)
        assert math.isnan(f.grad(math.nan))
        found = f.grad(np.array([math.nan, 0.5, 3.0]))
        np.testing.assert_array_equal(found, [math.nan, f.grad(0.5), f.grad(3.0)])


@pytest.mark.slow
def test_selections_that_stop_nan_have_the_slopes_of_what_they_take() -> None:
    assert symgrad(lambda x, y: max(x, y)).grad(2.0, math.nan) == (1.0, 0.0)
    assert symgrad(lambda x, y: min(x, y)).grad(2.0, math.nan) == (1.0, 0.0)
    assert symgrad(lambda x: max(1.0, x)).grad(math.nan) == 0.0
    assert symgrad(lambda x, y: np.fmax(x, y)).grad(2.0, math.nan) == (1.0, 0.0)
    f = symgrad(lambda x: np.sum(np.where(np.isnan(x), 0.0, np.maximum(x, 0.0) ** 2)))
    np.testing.assert_array_equal(f.grad(A), [4.0, 0.0, 6.0])
    f = symgrad(lambda x: np.nanmax(x) ** 2)
    np.testing.assert_array_equal(f.grad(A), [0.0, 0.0, 6.0])


@pytest.mark.slow
def test_generated_modules_have_them_too(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    f = symgrad(peak)
    f(A)
    f.save(str(path), companion=None)
    spec = importlib.util.spec_from_file_location("kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert np.isnan(module.peak_grad(A)[1])
    assert np.isnan(symgrad(peak, accuracy="fast").grad(A)[1])
