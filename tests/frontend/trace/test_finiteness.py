"""nan and infinite arguments: what is asked of them, and which branch they take; values that are not defined."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.frontend.tracing import agrees_on_sizes, cases

FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.where(np.isnan(2 * x), 5.0, x),
    lambda x: np.where(np.isinf(2 * x), 5.0, x),
    lambda x: np.where(np.isfinite(2 * x), 5.0, x),
    lambda x: np.where(np.isfinite(np.arctan(x)), 5.0, x),
    lambda x: np.where(np.isfinite(np.exp(-x)), 5.0, 6.0),
    lambda x: np.where(np.isnan(x**2), 0.0, x**2),
    lambda x: np.where(np.isnan(1 / x), 5.0, 6.0),
    lambda x: np.where(np.isinf(1 / x), 5.0, 6.0),
    lambda x: np.where(np.isfinite(1 / x), 5.0, 6.0),
    lambda x: np.where(np.isinf(x**-2), 5.0, 6.0),
    lambda x: np.where(np.isnan(np.sin(x) / x), 5.0, 6.0),
    lambda x: np.where(np.isnan(1 / (1 - x)) | (x == 1), 5.0, 6.0),
    lambda x: np.where(np.isinf(np.log(np.abs(x))), 5.0, 6.0),
    lambda x: np.where(np.isfinite(np.log(np.abs(x))), 5.0, 6.0),
    lambda x: np.where(np.isinf(np.log1p(np.abs(x) - 1)), 5.0, 6.0),
    lambda x: 1.0 if x != x else 2.0,  # noqa: PLR0124
    lambda x: 1.0 if x * 2 == x * 2 else 2.0,
    lambda x: 1.0 if x**2 >= x**2 else 2.0,
    lambda x: 1.0 if not (x < 3) else 2.0,
    lambda x: 1.0 if not (x * x < 3) else 2.0,
    lambda x: 1.0 if x > 0 else 2.0 if x < 0 else 3.0,
    lambda x: np.where(2 * x > 0, 1.0, np.where(2 * x <= 0, 2.0, 3.0)),
    lambda x: np.where(x > 0, 1.0, np.where(x < 1, 2.0, 3.0)),
    lambda x: np.where(x > 0, 1.0, np.maximum(x, 0.0)),
    lambda x: np.where(x > 0, 1.0, np.minimum(0.0, x)),
    lambda x: np.where((x == 0) | np.isnan(x), 1.0, np.expm1(x) / x),
    lambda x: np.heaviside(x, 0.5),
    lambda x: np.sign(x),
    lambda x: np.clip(x, 0.0, 1.0),
]  # fmt: skip
POINTS = (math.nan, math.inf, -math.inf, 0.0, 1.0, -1.0, 2.5)


@pytest.mark.sampled
@pytest.mark.parametrize("fun", FUNCTIONS, ids=range(len(FUNCTIONS)))
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::symdiff.errors.GuardWarning")
def test_as_in_plain_python(fun: Callable[[Any], Any]) -> None:
    f = symgrad(fun)
    np.testing.assert_allclose(
        f(0.75), fun(np.float64(0.75)), rtol=3e-16
    )  # expm1 of NumPy is not of the C library
    plain = [float(fun(np.float64(x))) for x in POINTS]
    filled = [float(fun(np.float64(x))) if x or not math.isnan(y) else 1.0 for x, y in zip(POINTS, plain, strict=True)]  # fmt: skip
    for found in ([f(x) for x in POINTS], f(np.array(POINTS))):
        np.testing.assert_allclose(found, filled, rtol=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict", "certified"])
def test_of_a_computed_number_at_each_accuracy(accuracy: str) -> None:
    f = symgrad(lambda x: np.where(np.isfinite(3 * x**2), x, 7.0), accuracy=accuracy)
    x = np.array([1.0, 1e-200, math.nan, math.inf])
    np.testing.assert_array_equal(f(x), [1.0, 1e-200, 7.0, 7.0])
    np.testing.assert_array_equal(f.grad(x), [1.0, 1.0, 0.0, 0.0])


def test_reductions_leave_out_what_is_nan() -> None:
    f = symgrad(lambda x: np.sum(np.where(np.isnan(x**2), 0.0, x**2)) / np.sum(~np.isnan(x**2)))
    x = np.array([1.0, math.nan, 2.0])
    assert f(x) == 2.5
    np.testing.assert_array_equal(f.grad(x), [1.0, 0.0, 2.0])


def test_a_guard_that_asks_for_nan_is_one() -> None:
    def quotient(x: Any) -> Any:
        y = np.expm1(x) / x
        return np.where(np.isfinite(y), y, 1.0)

    f = symgrad(quotient)
    assert (f(0.0), f.grad(0.0), f(math.nan), f(math.inf)) == (1.0, 0.5, 1.0, 1.0)


LOST = np.array([np.nan, np.inf, -np.inf, 1.0, -2.0, 0.0])
OTHER = np.array([1.0, np.nan, 2.0, np.nan, -3.0, 0.0])


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: np.fmax(x, y),
        lambda x, y: np.fmin(x, y),
        lambda x, y: np.fmax(y, 0.5) * 2,
        lambda x, y: np.fmin(x * y, 1.0),
        lambda x, y: np.fmax(np.fmax(x, y), 1.5),
        lambda x, y: np.nan_to_num(x),
        lambda x, y: np.nan_to_num(x, nan=7.0),
        lambda x, y: np.nan_to_num(x, nan=7.0, posinf=3.0, neginf=-4.0),
        lambda x, y: np.nan_to_num(x * y, posinf=3.0),
        lambda x, y: np.nan_to_num(x, posinf=y, neginf=y),
        lambda x, y: np.nan_to_num(x, nan=y) + 1,
        lambda x, y: np.nan_to_num(np.nan_to_num(x, posinf=1.0) - y),
        lambda x, y: np.fmax(np.nan_to_num(x, neginf=0.0), y),
    ],
)
def test_nan_and_infinity_replaced(f: Any) -> None:
    s = symgrad(f)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(s(LOST, OTHER), f(LOST, OTHER))
        for x, y in zip(LOST, OTHER, strict=True):
            np.testing.assert_array_equal(s(float(x), float(y)), f(x, y))
        want = f(LOST, OTHER)
        total = symgrad(lambda x, y: np.sum(f(x, y)))
        if np.abs(want).max() < 1e300:  # or rounding hides the others
            np.testing.assert_array_equal(total(LOST, OTHER), np.sum(want))


def test_gradients_of_the_larger_number() -> None:
    f = symgrad(lambda x, y: np.fmax(x, y))
    assert f.grad(1.0, 1.0) == (0.5, 0.5)
    assert f.grad(2.0, math.nan) == (1.0, 0.0)
    assert f.grad(math.nan, 2.0) == (0.0, 1.0)
    assert f.grad(1.0, 2.0) == (0.0, 1.0)
    assert symgrad(lambda x: np.nan_to_num(x) ** 2).grad(3.0) == 6.0


MIXED = np.array([0.0, np.nan, np.inf, -np.inf])
HALF = np.array([0.0, np.nan, 1.0, np.nan])
LONG = np.concatenate([MIXED] * 30)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.isnan(x + MIXED),
        lambda x: np.isinf(x + MIXED),
        lambda x: np.isfinite(x * MIXED),
        lambda x: np.nan_to_num(x + MIXED),
        lambda x: np.where(np.isnan(x + MIXED), 0.0, 1.0),
        lambda x: np.sum(np.sin(np.nan_to_num(x + MIXED))),
        lambda x: np.sum(np.nan_to_num(x - MIXED, posinf=1.0, neginf=2.0)),
        lambda x: np.isnan(x[0] + np.inf - np.inf),
        lambda x: np.isnan(x + np.nan),
        lambda x: np.isfinite(x[1] + math.inf),
        lambda x: np.nansum(x + HALF),
        lambda x: np.sum(np.isnan(np.concatenate([x] * 30) * LONG)),
    ],
)
def test_constants_that_are_not_finite(f: Any) -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(symgrad(f)(x), f(x))


LOSSY = np.array([1.0, np.nan, 3.0])
ASKED: list[Callable[[Any], Any]] = [
    lambda x: np.where(np.isnan(x * LOSSY), 0.0, x * LOSSY),
    lambda x: np.where(x * LOSSY < 5, 1.0, x),
    lambda x: np.where(x * LOSSY != x * LOSSY, 1.0, x),
    lambda x: np.where(np.log(x) < 1, 1.0, x),
    lambda x: np.where(~(np.log(x) < 1), 1.0, x),
    lambda x: np.where(np.log(x) > 1, 1.0, x),
    lambda x: np.where(np.log(x) != np.log(x), 0.0, x),
    lambda x: np.where(np.sqrt(x) ** 2 < 7, 1.0, x),
    lambda x: np.where((np.sqrt(x) < 1) | (np.arccos(x) > 0), 1.0, 2.0),
    lambda x: np.where(np.isfinite(np.exp(1000 * x)), 1.0, x),
    lambda x: np.where(np.isinf(1e300 * x * x * 1e8), 1.0, x),
    lambda x: np.where(np.exp(x * 1000) == math.inf, 1.0, x),
    lambda x: np.maximum(1.0, x * LOSSY),
    lambda x: np.minimum(x * LOSSY, np.sin(x)),
    lambda x: np.max(x * LOSSY),
    lambda x: np.min(np.concatenate([x, x * LOSSY] * 9)),
    lambda x: np.maximum.accumulate(x * LOSSY),
    lambda x: np.maximum(x, math.nan),
    lambda x: np.isclose(x * LOSSY, x * LOSSY),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["fast", "high", "certified"])
def test_comparisons_are_those_of_doubles(accuracy: str) -> None:
    """Those with nan do not hold, whether it is a constant, an argument or out of a domain; and
    what overflowed is infinite."""
    for f in ASKED:
        s = symgrad(f, accuracy=accuracy)
        for x in (np.array([1.0, 2.0, 3.0]), np.array([-1.0, 2.0, 0.5]), np.array([np.nan, 2.0, -3.0])):  # fmt: skip
            with np.errstate(all="ignore"):
                want = f(x)
            np.testing.assert_allclose(s(x), want, rtol=1e-14)


def test_nan_beside_a_number_in_max_of_python() -> None:
    for f in (lambda x: max(x, math.nan), lambda x: max(math.nan, x), lambda x: min(x, math.nan)):
        np.testing.assert_equal(symgrad(f)(2.0), f(2.0))


@pytest.mark.sampled
@pytest.mark.parametrize("n", [1, 5, 64])
def test_extremes_of_arrays_keep_nan(n: int) -> None:
    x = np.arange(1.0, n + 1)
    largest, smallest = symgrad(lambda x: np.max(x)), symgrad(lambda x: np.min(x, axis=0))
    for k in range(0, n, 7):
        assert largest(x) == n
        assert smallest(x) == 1.0
        y = x.copy()
        y[k] = math.nan
        assert math.isnan(largest(y))
        assert math.isnan(smallest(y))


# ----------------- values that are not defined, although the simplified expression would be
def undefined_store(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.sqrt(x[i]) ** 2
    return y


def undefined_branch(x):
    y = np.where(x > 0, np.sqrt(x) ** 2, 1.0)
    return y


CASES = {
    "x: n": [undefined_store, undefined_branch],
}  # fmt: skip
SHORT = {
    "x: n": {
        "root_squared_over_x": lambda x: np.sqrt(x) ** 2 / x,
        "undefined_selection": lambda x: np.sum((np.sqrt(x) ** 2)[x > -1]),
        "undefined_chain": lambda x: np.log(np.exp(np.sqrt(x) ** 2)).sum(),
        "undefined_numbers": lambda x: (max(np.sqrt(x[0]) ** 2, 0.0), np.exp(np.log(x[0]))),
        "undefined_dot": lambda x: np.sum(np.sqrt(x) ** 2 * x) + x @ (np.sqrt(x) ** 2),
        "undefined_scan": lambda x: np.cumsum(np.sqrt(x) ** 2),
    },
    "x: n m": {"undefined_maximum": lambda x: np.max(np.sqrt(x) ** 2, axis=0)},
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), cases(CASES, SHORT))
def test_what_is_not_defined_is_nan(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)
