"""Programs whose sums and products leave the range of doubles on the way to results that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.loops.recomputed import _kept
from tests.fuzz.duals import truth

Function = Callable[..., Any]


def recurrence(x: Any) -> Any:
    p, s = 1.0, 0.0
    for k in range(len(x)):
        p = p * x[k]
        s = s + p
    return 1.0 / s


def stored(x: Any) -> Any:
    y = np.zeros_like(x)
    for k in range(len(x)):
        y[k] += x[k] ** 3
    return np.sum(x) / np.sum(y)


SMALL, LARGE = np.array([1e-160, 2e-160]), np.array([1e160, -3e160])
MIXED = np.array([1e-200, 1e-200, 1e200, 3e200])
SUMS: list[Function] = [
    lambda x: np.log(np.sum(x * x)),
    lambda x: np.sum(x) / np.sum(x * x),
    lambda x: x[0] / (x[0] * x[0] + x[1] * x[1]),
    lambda x: x[0] * x[1] / np.sum(x * x),
]
PRODUCT, OVER_PRODUCT = lambda x: np.prod(x), lambda x: np.sum(x) / np.prod(x)
CASES: list[tuple[Function, np.ndarray]] = [
    *((f, x) for f in SUMS for x in (SMALL, SMALL * 1e-40, LARGE)),
    (PRODUCT, MIXED), (PRODUCT, MIXED[::-1].copy()), (OVER_PRODUCT, MIXED), (recurrence, SMALL),
    (recurrence, MIXED), (stored, np.array([1e-110, 3e-110])), (stored, np.array([1e110, 3e110])),
]  # fmt: skip


def _is_right(got: float, true: float) -> bool:
    if abs(true) < 1e-300:
        return abs(got - true) < 1e-300
    return got == true or abs(got - true) <= 1e-14 * abs(true)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "certified"])
@pytest.mark.parametrize(("f", "x"), CASES)
def test_what_leaves_the_range_on_the_way(f: Function, x: np.ndarray, accuracy: str) -> None:
    g = symgrad(f, accuracy=accuracy, verify=False)
    slopes = g.grad(x)
    for k in range(len(x)):
        value, slope = truth(f, [x], [np.eye(len(x))[k]])
        assert _is_right(g(x), float(value))
        assert _is_right(slopes[k], float(slope)), (k, slopes, slope)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "strict", "certified"])
def test_what_overflows_is_no_zero_beside_others(accuracy: str) -> None:
    """A divisor that is infinite on the way makes finite results, which are wrong."""

    def beside(x: Any) -> Any:
        return x[0] * x[1] / (x[0] * x[0] + np.sum(x[1:] * x[1:])) + np.sin(x[2])

    x = np.array([1e160, -3e160, 0.5])
    g = symgrad(beside, accuracy=accuracy, verify=False)
    part = 2.0**-40 if accuracy == "high" else 0.0  # of the largest element
    for _ in range(2):
        assert _is_right(g(x), -0.3 + np.sin(0.5))
        want = [-2.4e-161, -8e-162, np.cos(0.5)]
        np.testing.assert_allclose(g.grad(x), want, rtol=1e-14, atol=part)


@pytest.mark.slow
def test_infinite_results_have_the_sign_of_the_truth() -> None:
    x = SMALL * 1e-40
    assert symgrad(SUMS[0]).hessian(x).tolist() == [[np.inf, -np.inf], [-np.inf, -np.inf]]


def test_an_infinite_value_does_not_keep_what_was_computed_before() -> None:
    proven = np.array([np.inf, -np.inf, 1.0, 2.0])
    found = _kept(proven, np.array([0.0, np.inf, np.nextafter(1.0, 2.0), 3.0]))
    assert found.tolist() == [np.inf, -np.inf, np.nextafter(1.0, 2.0), 2.0]


@pytest.mark.slow
def test_small_results_of_long_recurrences_are_no_alarm() -> None:
    def decay(w: Any, x: Any) -> Any:
        h = 0.0
        for k in range(len(x)):
            h = np.tanh(w * h + x[k])
        return h

    x = np.zeros(4000)
    x[0] = 1.0
    found = symgrad(decay).grad(0.5, x)[1]
    assert found[-1] == 1.0
    assert (found[:10] == 0).all()


@pytest.mark.slow
def test_products_of_matrices_that_vanish() -> None:
    def along(x: Any) -> Any:
        return x[0] / (x @ x)

    def of_matrices(x: Any) -> Any:
        y = x @ x.T
        return x[0, 0] / (y[0, 0] + y[1, 1])

    assert _is_right(symgrad(along)(SMALL), 0.2e160)
    slopes = symgrad(along).grad(np.array([1e-160, 3e-160]) * 1e60)
    assert np.allclose(slopes, [8e198, -6e198], rtol=1e-14)
    x = np.array([[1e-160, 2e-160], [3e-160, -1e-160]])
    assert _is_right(symgrad(of_matrices)(x), 1e160 / 15)
