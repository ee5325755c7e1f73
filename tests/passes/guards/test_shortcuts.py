"""Branches at one value of a variable, where the other side is regular and has the same value: the function
that is written is the other side, and so are its derivatives."""

from __future__ import annotations

import math
import warnings
from functools import partial

import numpy as np
import pytest
from mpmath import mp

from symdiff import symgrad
from tests.passes.evaluate import slope


def tweedie(y, mu, p):
    if p == 0:
        return (y - mu) ** 2
    if p == 1:
        return 2 * (y * math.log(y / mu) - y + mu)
    if p == 2:
        return 2 * (math.log(mu / y) + y / mu - 1)
    return deviance(math, y, mu, p)


def deviance(m, y, mu, p):
    a, b = 1 - p, 2 - p
    return 2 * (y**b / (a * b) - y * mu**a / a + mu**b / b)


def annuity(rate, n):
    if abs(rate) < 1e-12 or n == 0:
        return n
    return ((1 + rate) ** n - 1) / rate


def test_one_point_of_a_smooth_function():
    f = symgrad(lambda x: 0.0 if x == 0 else math.sin(x))
    assert (f(0.0), f.grad(0.0), f.hessian(0.0)) == (0.0, 1.0, 0.0)
    g = symgrad(lambda x: np.where(x == 0, 0.0, np.sin(x) * np.exp(x)))
    assert np.array_equal(g.grad(np.array([0.0, -0.0])), [1.0, 1.0])


@pytest.mark.sampled
@pytest.mark.parametrize("k", [0.0, 1.0, 2.0])
def test_several_like_branches(k):
    f = symgrad(lambda x, k: 1.0 if k == 0 else x if k == 1 else x * x if k == 2 else x**k)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f.grad(3.0, k) == pytest.approx((k * 3 ** (k - 1), math.log(3) * 3**k), rel=1e-14)
    assert f.grad(-3.0, k) == (k * (-3) ** (k - 1), 0.0)  # where x**k is defined at k only
    assert f.grad(0.0, k) == (1.0 if k == 1 else 0.0, 0.0)
    assert f(-3.0, k) == (-3) ** k and f(0.0, k) == 0.0**k


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0])
def test_a_regular_branch_among_singular_ones(p):
    found = symgrad(tweedie, wrt="p").grad(1.0, 2.0, p)
    assert found == pytest.approx(slope(partial(deviance, mp), (1.0, 2.0, p), 2), rel=1e-13)


@pytest.mark.slow
def test_a_shortcut_beside_a_guard():
    assert symgrad(annuity).grad(0.1, 0.0) == (0.0, pytest.approx(math.log(1.1) / 0.1, rel=1e-14))


def test_a_shortcut_on_a_line_with_a_singular_point():
    f = symgrad(lambda x, y: 0.0 if x == 0 else x * y**2 / (x**2 + y**2))
    assert f(0.0, 0.0) == f(0.0, 2.0) == 0.0
    assert f.grad(0.0, 2.0) == (1.0, 0.0)
    assert f.grad(0.0, 0.0) == (0.0, 0.0)


def test_another_value_is_another_function():
    jump = symgrad(lambda x: 5.0 if x == 0 else x)
    assert (jump(0.0), jump.grad(0.0)) == (5.0, 0.0)
    mode = symgrad(lambda x, k: math.sin(x) if k == 0 else math.exp(x) * k)
    assert mode.grad(0.5, 0.0) == (pytest.approx(math.cos(0.5)), 0.0)
    half = symgrad(lambda x, k: abs(x) if k == 0 else x + k)
    assert half.grad(-2.0, 0.0) == (-1.0, 0.0)  # it jumps here,
    assert half.grad(2.0, 0.0) == (1.0, 1.0)  # and is continuous there
    assert symgrad(lambda a, b: 1.0 if a == b else 0.0).grad(2.0, 2.0) == (0.0, 0.0)


@pytest.mark.slow
def test_a_shortcut_to_a_kink_or_a_root_has_its_slope():
    assert symgrad(lambda x: 0.0 if x == 0 else max(x, 0.0)).grad(0.0) == 0.5
    assert symgrad(lambda x: 0.0 if x == 0 else math.sqrt(x)).grad(0.0) == math.inf
