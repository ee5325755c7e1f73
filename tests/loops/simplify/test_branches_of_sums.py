"""Guards around sums: what chooses between two sums is a guard of their terms."""

import warnings

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences

V = np.array([1.0, 0.5, 2.0])


def cut_off(v, k):
    e = np.maximum(v, 0.0)
    return np.sum((1 - np.exp(-k * e)) / k) if k != 0 else np.sum(e)


def squares(v, k):
    e = v**2
    return np.sum((1 - np.exp(-k * e)) / k) if k != 0 else np.sum(e)


def mean(v, k):
    return np.mean(np.expm1(k * v) / k) if k != 0 else np.mean(v)


def loops(v, k):
    s = 0.0
    if k == 0:
        for x in v:
            s += x
        return s**2
    for i in range(len(v)):
        s = s + np.log1p(k * v[i]) / k
    return s**2


def rows(v, k):
    out = 0.0
    for i in range(len(v)):
        out += v[i] * (np.sum(np.sin(k * v * i) / k) if k != 0 else np.sum(v * i))
    return out


SLOPES = {
    cut_off: -0.5 * (V**2).sum(),
    squares: -0.5 * (V**4).sum(),
    mean: 0.5 * (V**2).mean(),
    loops: -(V**2).sum() * V.sum(),
    rows: 0.0,
}


@pytest.mark.slow
@pytest.mark.parametrize("fun", SLOPES, ids=lambda f: f.__name__)
def test_derivatives_by_the_guarded_parameter(fun):
    f = symgrad(fun)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(V, 0.0) == pytest.approx(fun(V, 0.0), rel=1e-15)
        assert f(V, 0.25) == pytest.approx(fun(V, 0.25), rel=1e-14)
        by_v, by_k = f.grad(V, 0.0)
    assert by_k == pytest.approx(SLOPES[fun], rel=1e-14, abs=1e-14)
    np.testing.assert_allclose(by_v, differences(fun, (V, 0.0)), rtol=1e-8)


def test_sums_of_other_lengths_stay_apart():
    def f(x, y, k):
        return np.sum(x * k) if k > 0 else np.sum(y)

    x, y = np.arange(3.0), np.ones(5)
    g = symgrad(f)
    assert (g(x, y, 2.0), g(x, y, -1.0)) == (6.0, 5.0)
    assert g.grad(x, y, -1.0)[1].tolist() == [1.0] * 5


def by_elements(x, y):
    a, b, r = np.sum(x), np.sum(x**2), 0.0
    for i in range(len(y)):
        r += a * y[i] if y[i] > 0 else b
    return r


def by_array(x, y):
    a, b = np.sum(x), np.sum(x**2)
    return np.sum(np.where(y > 0, a, b) * y)


def by_what_is_carried(x, y):
    a, b, r = np.sum(x), np.sum(x**2), 0.0
    for _ in range(len(y)):
        r = 0.5 * r + (a if r > 1 else b)
    return r


@pytest.mark.slow
@pytest.mark.parametrize("fun", [by_elements, by_array, by_what_is_carried])
def test_conditions_that_change_in_a_loop_stay_there(fun):
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])
    f = symgrad(fun)
    assert f(x, y) == pytest.approx(fun(x, y), rel=1e-15)
    np.testing.assert_allclose(f.grad(x, y)[0], differences(fun, (x, y)), rtol=1e-8)
