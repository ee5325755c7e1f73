"""Guards whose band is a parameter of the function, as in `def f(x, tol=1e-8)`."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import GuardWarning, symgrad


def point(x, tol=1e-8):
    if abs(x) < tol:
        return 1.0
    return math.expm1(x) / x


def chosen(x, eps=1e-8):
    safe = np.where(np.abs(x) < eps, 1.0, x)
    return np.where(np.abs(x) < eps, 1.0, np.expm1(safe) / safe)


GUARDED = {
    "point": point,
    "keyword only": lambda x, *, eps=1e-8: math.expm1(x) / x if abs(x) > eps else 1.0,
    "chosen": chosen,
    "squared": lambda x, tol=1e-8: 1.0 if x * x <= tol**2 else math.expm1(x) / x,
    "band": lambda x, tol=1e-8: 1.0 if -tol < x < tol else math.expm1(x) / x,
}


@pytest.mark.sampled
@pytest.mark.parametrize("f", GUARDED.values(), ids=GUARDED)
@pytest.mark.filterwarnings("error")
def test_a_tolerance_that_is_a_parameter_makes_a_guard(f):
    g = symgrad(f, wrt="x")
    assert g(0.0) == 1.0
    assert (g.grad(0.0), g.hessian(0.0)) == (0.5, 1 / 3)
    assert g.grad(1e-9) == pytest.approx(0.5, rel=1e-8)
    assert g.grad(0.5) == pytest.approx((math.exp(0.5) * -0.5 + 1) / 0.25, rel=1e-14)


def test_other_values_of_the_tolerance_count():
    g = symgrad(point)
    assert g.grad(1e-4, 1e-3) == (0.0, 0.0)  # no thin band
    assert g.grad(0.0, 1e-3) == (0.5, 0.0)
    assert g(1e-4, 1e-3) == 1.0
    assert (g(0.25, 0.5), g.grad(0.25, 0.5)) == (1.0, (0.0, 0.0))  # a branch, no guard
    assert math.isnan(g.grad(0.0, 0.0)[0]) or g.grad(0.0, 0.0)[0] == 0.5


def log_mean(a, b, tol=1e-10):
    return a if abs(a - b) <= tol * max(abs(a), abs(b)) else (a - b) / math.log(a / b)


def distance(z, k, tol=1e-8):
    if k > tol:
        return math.sin(math.sqrt(k) * z) / math.sqrt(k)
    if k < -tol:
        return math.sinh(math.sqrt(-k) * z) / math.sqrt(-k)
    return z


def product(x, y, eps=1e-9):
    if abs(x) < eps:
        return math.expm1(y) / y if abs(y) > eps else 1.0
    if abs(y) < eps:
        return math.sin(x) / x
    return math.sin(x) / x * math.expm1(y) / y


@pytest.mark.slow
@pytest.mark.parametrize(
    ("f", "at", "slopes"),
    [
        (log_mean, (0.5, 0.5), (0.5, 0.5, 0.0)),
        (distance, (1.5, 0.0), (1.0, -(1.5**3) / 6, 0.0)),
        (product, (0.0, 0.0), (0.0, 0.5, 0.0)),
    ],
)
@pytest.mark.filterwarnings("error")
def test_tolerances_of_several_branches_and_of_relative_bands(f, at, slopes):
    assert symgrad(f).grad(*at) == pytest.approx(slopes, rel=1e-14)


def test_a_wrong_value_is_named_at_the_point_and_not_at_a_wide_band():
    def wrong(x, tol=1e-8):
        return 0.5 if abs(x) < tol else math.expm1(x) / x

    with pytest.warns(GuardWarning, match="not the limit"):
        assert symgrad(wrong).grad(0.0) == (0.0, 0.0)
