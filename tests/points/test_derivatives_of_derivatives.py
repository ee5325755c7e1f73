"""A derivative of a derivative is the second derivative, at kinks and corners too, however it is asked for."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from symdiff import symgrad

KINKED = {
    "exp": (lambda x: math.exp(-abs(x)), 1.0),
    "log1p": (lambda x: math.log1p(abs(x)), -1.0),
    "softplus": (lambda x: max(x, 0) + np.log1p(np.exp(-abs(x))), 0.25),
    "root of a square": (lambda x: math.exp(-math.sqrt(x * x)), 1.0),
    "square of a maximum": (lambda x: max(x, 0) ** 2, 1.0),
    "step": (lambda x: (x + 1) * np.sign(x) ** 2, 0.0),
    "step and slope": (lambda x: np.sign(x) * math.exp(-abs(x)), 0.0),
    "signed square": (lambda x: x * abs(x), 0.0),
}
"""Functions and their second derivatives at 0: the mean of both sides, or of the step that is written."""


@pytest.mark.sampled
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", KINKED)
def test_at_kinks(name: str) -> None:
    plain, bend = KINKED[name]
    f = symgrad(plain)
    slope = symgrad(lambda x: f.grad(x))
    assert f.hessian(0.0) == f.grad.grad(0.0) == f.diff("x").grad(0.0) == bend
    assert slope.grad(0.0) == slope.grad(np.zeros(2))[0] == bend


@pytest.mark.filterwarnings("error")
def test_fourth_derivative() -> None:
    f = symgrad(lambda x: math.exp(-abs(x)))
    assert f.grad.grad.grad.grad(0.0) == f.hessian.hessian(0.0) == f.diff(*"xxxx")(0.0) == 1.0


def test_poles_that_cancel_in_a_band() -> None:
    f = symgrad(lambda x, a: a * x / 3 if abs(x) < 1e-4 else a * (1 / math.tanh(x) - 1 / x))
    assert f.hessian(0.0, 2.0) == ((0.0, 1 / 3), (1 / 3, 0.0))


def test_where_nothing_proves_which_sides_there_are() -> None:
    f = symgrad(lambda x, y: max(x**2, y**2))
    assert math.isnan(f.hessian(0.0, 0.0)[0][0])
    assert math.isnan(f.grad.jacobian(0.0, 0.0)[0][0])


@pytest.mark.slow
def test_several_variables() -> None:
    f = symgrad(lambda x, y: math.exp(-abs(x) * abs(y) - abs(x - y)))
    for at in ((0.0, 0.0), (1.0, 1.0)):
        assert (
            f.hessian(*at)
            == f.grad.jacobian(*at)
            == symgrad(lambda x, y: f.grad(x, y)).jacobian(*at)
        )


@pytest.mark.slow
def test_of_arrays() -> None:
    f = symgrad(lambda x: np.sum(np.exp(-np.abs(x))) * (1 + x[0]))
    g = symgrad(lambda x: f.grad(x))
    assert f.hessian(np.zeros(2)).tolist() == g.jacobian(np.zeros(2)).tolist() == np.eye(2).tolist()


@pytest.mark.slow
def test_values_of_powers_at_zero_in_other_functions() -> None:
    f = symgrad(lambda x, k: x ** (k - 1) * math.exp(-x))
    twice = symgrad(lambda x, k: 2 * f.grad(x, k)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert twice(0.0, 1.0) == -2.0
        assert twice(np.zeros(2), 1.0).tolist() == [-2.0, -2.0]
        assert twice.grad(0.0, 1.0)[0] == 2 * f.hessian(0.0, 1.0)[0][0] == 2.0
