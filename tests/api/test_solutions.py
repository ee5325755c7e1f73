"""Solutions by name, in plain Python and inside of functions; and numbers of which no derivative is taken."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import symdiff
from symdiff import symgrad


@pytest.mark.slow
def test_roots_by_name() -> None:
    def number(a):
        return symdiff.root(lambda x: x * x - a, 1.0)

    def pair(a, b):
        return symdiff.root(lambda v: [v[0] ** 2 - a, v[0] * v[1] - b], [1.0, 1.0])

    assert number(4.0) == pytest.approx(2.0)
    assert symgrad(number).grad(4.0) == 0.25
    np.testing.assert_allclose(pair(4.0, 2.0), [2.0, 1.0], rtol=1e-9)
    by_a, by_b = symgrad(pair).jacobian(4.0, 2.0)
    np.testing.assert_allclose((by_a, by_b), [[0.25, -0.125], [0.0, 0.5]], rtol=1e-14)


@pytest.mark.slow
def test_minima_by_name() -> None:
    def number(a):
        return symdiff.argmin(lambda x: (x - a) ** 2 + x**4, 0.0)

    x = number(1.0)
    assert symgrad(number).grad(1.0) == pytest.approx(2 / (2 + 12 * x * x), rel=1e-5)
    f = symgrad(
        lambda a: symdiff.argmin(lambda v: (v[0] - a) ** 2 + (v[1] - v[0]) ** 2, [0.0, 0.0])
    )
    np.testing.assert_allclose(f.jacobian(3.0), [1.0, 1.0], rtol=1e-13)


@pytest.mark.slow
def test_integrals_by_name() -> None:
    def distance(b):
        return symdiff.integral(lambda x, k: math.exp(-k * x), 0.0, b, (2.0,))

    assert distance(1.0) == pytest.approx((1 - math.exp(-2)) / 2)
    assert symgrad(distance).grad(1.0) == pytest.approx(math.exp(-2), rel=1e-14)


@pytest.mark.slow
def test_differential_equations_by_name() -> None:
    def decay(k):
        return symdiff.ode(lambda t, y, k: [-k * y[0]], (0, 1), [1.0], args=(k,))[0]

    def at_times(k):
        return symdiff.ode(lambda t, y: [-k * y[0]], (0, 1), [1.0], t_eval=[0.5, 1.0])

    assert decay(2.0) == pytest.approx(math.exp(-2), rel=1e-6)
    assert symgrad(decay).grad(2.0) == pytest.approx(-math.exp(-2), rel=1e-5)
    assert at_times(2.0).shape == symgrad(at_times)(2.0).shape == (1, 2)


def test_stopped_gradients() -> None:
    stop = symdiff.stop_gradient
    x = np.array([1.0, 2.0, 3.0])
    assert stop(3.0) == 3.0
    assert symgrad(lambda x: x * stop(x)).grad(3.0) == 3.0
    np.testing.assert_array_equal(symgrad(lambda x: np.sum(x * stop(x) ** 2)).grad(x), x**2)
    rounded = symgrad(lambda x: x + stop(round(x) - x))
    assert (rounded(1.3), rounded.grad(1.3)) == (1.0, 1.0)
    assert symgrad(lambda x: x * stop(x)).grad.grad(3.0) == 0.0


def test_a_stopped_gradient_in_a_loop() -> None:
    def total(x):
        s = 1.0
        for v in x:
            s = s + v * symdiff.stop_gradient(s)
        return s

    x = np.array([1.0, 2.0, 3.0])
    before = [1.0, 2.0, 6.0]
    np.testing.assert_array_equal(symgrad(total).grad(x), before)


@pytest.mark.slow
def test_stopped_gradients_in_modules_products_and_other_functions(tmp_path, monkeypatch) -> None:
    @symgrad
    def f(x):
        return x * symdiff.stop_gradient(x * x)

    assert f.jvp((1.5,), (1.0,)) == (3.375, 2.25)
    assert symgrad(lambda x: 2 * f(x)).grad(1.5) == 4.5
    assert str(f.grad.expr) == "x**2"
    f.save(tmp_path / "stopped_gradient.py")
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("stopped_gradient").f_grad(1.5) == 2.25
