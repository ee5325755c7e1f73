"""No comparison with nan holds: branches of which no real number takes the last, asserted conditions, errors
that nan does not raise, and signs that formulas have. No finite slope is made up where a value is nan."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import special

from symdiff import symgrad
from tests.law.made import loaded


def after_an_error(x):
    if x <= 0:
        raise ValueError("not positive")
    return 1.0 if x > 0 else 2.0


def after_an_assertion(x):
    assert not x < 0
    return 1.0 if x >= 0 else 2.0


def chosen(x):
    if x <= 0:
        raise ValueError("not positive")
    return float(np.where(x > 0, 1.0, 3.0))


def returned_before(x):
    if x < 0:
        return 5.0
    if x >= 0:
        return 1.0
    return 2.0


def with_else(x):
    if x > 1:
        y = 5.0
    elif x <= 1:
        y = 1.0
    else:
        y = 2.0
    return y


def weaker(x):
    if x < 1:
        return 1.0
    return 2.0 if x > 0 else 3.0


def outside(x):
    if x < 0 or x > 1:
        return 0.0
    return 1.0 if 0 <= x <= 1 else 2.0


FUNCTIONS = [
    after_an_error, after_an_assertion, chosen, returned_before, with_else, weaker, outside,
    lambda x: 1.0 if x * x >= 0 else 2.0, lambda x: 1.0 if np.sqrt(x * x + 1) > 0 else 2.0, lambda x: float(np.where(np.exp(x) > 0, 1.0, 2.0)),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", FUNCTIONS)
def test_nan_takes_the_branch_that_it_takes_in_python(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for x in (math.nan, 0.5, 2.0):
        assert g(x) == f(np.float64(x)), x
    assert g(np.array([math.nan, 0.5, 2.0])).tolist() == [f(x) for x in (math.nan, 0.5, 2.0)]


def in_a_loop(x):
    s = 0.0
    for v in x:
        if v < 0:
            continue
        s += 1.0 if v >= 0 else 10.0
    return s


def test_elements_in_loops() -> None:
    assert symgrad(in_a_loop)(np.array([math.nan, 1.0, -1.0])) == 11.0


def by_sign(x):
    if x > 0:
        y = x
    elif x == 0:
        y = 3.0
    elif x < 0:
        y = -2 * x
    return y


def returned_by_sign(x):
    if x > 0:
        return x
    elif x == 0:
        return 3.0
    elif x < 0:
        return -2 * x


def in_two(x, y):
    if x < y:
        a, b = x, y
    if x >= y:
        a, b = y, x
    return b - a


def test_branches_that_take_all_real_numbers_need_no_else() -> None:
    """Plain Python fails for nan there, or returns nothing."""
    for f in (by_sign, returned_by_sign):
        g = symgrad(f)
        assert [g(x) for x in (2.0, 0.0, -1.0)] == [2.0, 3.0, 2.0]
        assert [g.grad(x) for x in (2.0, -1.0)] == [1.0, -2.0]
    assert symgrad(in_two)(1.0, 3.0) == symgrad(in_two)(3.0, 1.0) == 2.0


def test_assertions_are_used_where_they_say_that_a_number_is_there() -> None:
    def f(x):
        assert x > 0
        return math.sqrt(x**2) if x > 0 else 7.0

    assert str(symgrad(f).expr) == "x"


# --- maxima, minima and order statistics whose value is nan
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
    module = loaded(path)
    assert np.isnan(module.peak_grad(A)[1])
    assert np.isnan(symgrad(peak, accuracy="fast").grad(A)[1])


# --- slopes where the function has no value
OUTSIDE = {
    np.log: -1.5, np.log2: -1.5, np.log10: -1.5, np.log1p: -2.5, np.arctanh: 2.5, np.arccosh: 0.5,
    np.sqrt: -1.0, np.arcsin: 1.5, np.arccos: -1.5, special.logit: 1.5,
}  # fmt: skip


@pytest.mark.sampled(14)
@pytest.mark.parametrize("f", OUTSIDE, ids=lambda f: f.__name__)
def test_no_slope_outside_of_the_domain(f):
    x = np.array([OUTSIDE[f], 1.5 if f is np.arccosh else 0.5])
    total, each = symgrad(lambda x: np.sum(f(x))), symgrad(lambda x: 3 * f(x))
    assert np.isnan(total.grad(x)).all()  # the sum is nan
    assert np.isnan(total.hessian(x)).all()
    assert np.isnan(each.grad(x)).tolist() == [True, False]
    fast = symgrad(lambda x: np.sum(f(x)), accuracy="fast")
    assert np.isnan(fast.grad(x)).tolist() == [True, False]  # the formula of each element
    assert np.isfinite(fast.grad(x[1:])).all()


def test_what_cancels_says_where_it_was_defined():
    x = np.array([-1.0, 4.0])
    square = symgrad(lambda x: np.sum(np.sqrt(x) ** 2))
    assert np.isnan(square.grad(x)).all()
    assert np.isnan(square.hessian(x)).all()
    assert square.hessian(x[1:]) == 0.0


def test_formulas_are_those_of_the_domain():
    entropy = symgrad(lambda x: np.sum(x * np.log(x) - x))
    x = np.array([1 + 1e-9, 3.0])
    with mpmath.workdps(40):
        truth = [float(mpmath.log(mpmath.mpf(v))) for v in x]
    assert entropy.grad(x) == pytest.approx(truth, rel=1e-15)
    assert str(entropy.grad.expr) == "Lambda(k, log(x[k]))"
    assert str(symgrad(lambda x: np.sum(np.log(x))).grad.expr) == "Lambda(k, 1/x[k])"


@pytest.mark.slow
def test_branches_that_are_not_taken_stay_without_slopes():
    f = symgrad(lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)))
    assert f.grad(np.array([-1.0, 1.0])).tolist() == [0.0, 1.0]
    running = symgrad(lambda x: np.sum(np.log(np.cumsum(x))))
    assert np.isnan(running.grad(np.array([1.0, -3.0, 4.0]))).all()
    assert running.grad(np.array([1.0, 1.0])) == pytest.approx([1.5, 0.5])


def test_places_of_nan_are_those_of_the_comparisons():
    levels = [0.0, 1.0]
    assert symgrad(lambda t: bisect.bisect_left(levels, t) * 1.0)(math.nan) == 0.0
    assert symgrad(lambda t: bisect.bisect_right(levels, t) * 1.0)(math.nan) == 2.0
