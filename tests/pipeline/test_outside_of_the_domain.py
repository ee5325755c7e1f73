"""Derivatives have no value where the function has none: outside of its domain they are nan, also where
their formula says nothing of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

CANCELLED: tuple[Callable[[float], Any], ...] = (
    lambda x: math.sqrt(x) ** 2,
    lambda x: math.exp(math.log(x)),
    lambda x: math.sqrt(x) * x / math.sqrt(x),
    lambda x: math.log(x),
    lambda x: (x**1.5) ** 2,
    lambda x: 0 * math.sqrt(x) + x**3,
    lambda x: math.sqrt(x) if x >= 0 else math.nan,
)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("accuracy", ["high", "fast"])
@pytest.mark.parametrize("f", CANCELLED)
def test_numbers(f: Callable[[float], Any], accuracy: str) -> None:
    g = symgrad(lambda x: f(x), accuracy=accuracy)
    assert math.isnan(g(-1.5))
    found = (g.grad(-1.5), g.hessian(-1.5), *g.jvp((-1.5,), (1.0,)), g.diff("x", "x")(-1.5))
    assert all(map(math.isnan, found))
    h = 2.0**-13
    bend = (f(2.0 + h) - 2 * f(2.0) + f(2.0 - h)) / h**2
    assert [g.hvp((2.0,), (1.0,)), g.hessian(2.0)] == pytest.approx([bend] * 2, rel=1e-6, abs=1e-7)
    assert g.grad(2.0) == pytest.approx((f(2.0 + h) - f(2.0 - h)) / (2 * h), rel=1e-6)


def test_an_end_of_the_domain_is_no_place_outside() -> None:
    g = symgrad(lambda x: math.sqrt(x) ** 2)
    assert (g.grad(0.0), g.hessian(0.0)) == (1.0, 0.0)
    assert symgrad(lambda x: math.log(x)).grad(0.0) == math.inf


def test_other_variables() -> None:
    g = symgrad(lambda x, y: math.sqrt(x) ** 2 + y)
    assert np.isnan(g.grad(-1.0, 2.0)).all()
    assert g.grad(0.0, 2.0) == (1.0, 1.0)


def test_elements() -> None:
    g = symgrad(lambda x: np.sqrt(x) ** 2)
    np.testing.assert_array_equal(g.grad(np.array([-1.0, 4.0])), [np.nan, 1.0])
    np.testing.assert_array_equal(g.hessian(np.array([-1.0, 4.0])), [np.nan, 0.0])


def test_formulas_are_shown_as_they_are_on_the_domain() -> None:
    assert str(symgrad(lambda x: math.log(x)).grad.expr) == "1/x"


@pytest.mark.parametrize(
    "f", [lambda x: np.sqrt(x) ** 4, lambda x: np.where(x >= 0, x * x, np.nan)]
)
def test_sums_over_arrays(f: Callable[[Any], Any]) -> None:
    g = symgrad(lambda x: np.sum(f(x)))
    assert np.isnan(g.grad(np.array([-1.0, 4.0]))).all()
    np.testing.assert_array_equal(g.grad(np.array([1.0, 4.0])), [2.0, 8.0])


def test_a_nan_that_a_branch_stops_is_none() -> None:
    g = symgrad(lambda x: np.nansum(np.where(x >= 0, x * x, np.nan)))
    np.testing.assert_array_equal(g.grad(np.array([-1.0, 4.0])), [0.0, 8.0])


def test_what_one_output_needs_is_no_domain_of_the_others() -> None:
    f = symgrad(lambda x, y: (np.sqrt(x) ** 2 * y, x * y * y, np.log(y) - np.log(y)))
    np.testing.assert_array_equal(f(-1.0, 2.0), [np.nan, -4.0, 0.0])
    np.testing.assert_array_equal(f(1.0, -2.0), [-2.0, 4.0, np.nan])
    rows = [[np.nan, np.nan], [4.0, -4.0], [0.0, 0.0]]
    np.testing.assert_array_equal(f.jacobian(-1.0, 2.0), rows)
    np.testing.assert_array_equal(f.diff("x", "y")(-1.0, 2.0), [np.nan, 4.0, 0.0])
    values, tangents = f.jvp((-1.0, 2.0), (1.0, 1.0))
    np.testing.assert_array_equal(values, [np.nan, -4.0, 0.0])
    np.testing.assert_array_equal(tangents, [np.nan, 0.0, 0.0])
    g = symgrad(lambda x: f(x, 2.0)[1] + 1)
    assert (g(-1.0), g.grad(-1.0)) == (-3.0, 4.0)


def test_what_math_raises_an_error_for_is_outside_for_all_outputs() -> None:
    f = symgrad(lambda x: (math.sqrt(x), x * x))
    assert np.isnan(f(-1.0)).all() and np.isnan(f.jacobian(-1.0)).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "at"),
    [
        (lambda x, y: np.sqrt(x) ** 2 if x == y else y * x * y / x, (-1.0, -1.0)),
        (lambda x, y: np.sqrt(x) ** 2 * np.sin(y) / y * abs(y), (-1.0, 0.0)),
        (lambda x, y: abs(np.sqrt(x) ** 2 * y) + max(x, y, x * y), (-1.0, -1.0)),
    ],
)
def test_points_that_kernels_do_not_know(f: Any, at: tuple[float, float]) -> None:
    """The formula has values and slopes there by the definition, the function has none."""
    g = symgrad(lambda x, y: f(x, y))
    assert math.isnan(g(*at)) and np.isnan(g.grad(*at)).all()
