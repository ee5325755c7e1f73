"""Taylor coefficients along a direction, beside mpmath's."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from symdiff import DomainError, SymdiffError, UnsupportedError, symgrad


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", [0, 1, 5, 30])
def test_coefficients_are_right_to_the_last_digit(order: int) -> None:
    def f(m: Any, x: Any) -> Any:
        return m.exp(m.sin(x)) * m.log1p(x)

    found = symgrad(lambda x: f(math, x)).taylor(0.37, order=order)
    with mpmath.workdps(60):
        wanted = mpmath.taylor(lambda x: f(mpmath, x), mpmath.mpf(0.37), order)
    assert found.shape == (order + 1,)
    np.testing.assert_allclose(found, [float(w) for w in wanted], rtol=2.3e-16)


def test_a_direction_of_several_variables() -> None:
    f = symgrad(lambda x, y: math.sin(x * y) / y)
    found = f.taylor(0.3, 0.7, order=4, direction=(1.0, 2.0))
    with mpmath.workdps(60):
        x, y = mpmath.mpf(0.3), mpmath.mpf(0.7)
        wanted = mpmath.taylor(lambda t: mpmath.sin((x + t) * (y + 2 * t)) / (y + 2 * t), 0, 4)
    np.testing.assert_allclose(found, [float(w) for w in wanted], rtol=2.3e-16)
    assert found[1] == pytest.approx(np.dot(f.grad(0.3, 0.7), (1.0, 2.0)), rel=1e-15)


def test_a_removable_singularity() -> None:
    found = symgrad(lambda x: math.sin(x) / x if x else 1.0).taylor(0.0, order=6)
    np.testing.assert_array_equal(found, [1, 0, -1 / 6, 0, 1 / 120, 0, -1 / 5040])


@pytest.mark.sampled(4)
@pytest.mark.parametrize("x", [0.0, 5e-7, 0.3])
def test_a_guard_in_a_band(x: float) -> None:
    f = symgrad(lambda x: 1.0 if abs(x) < 1e-6 else math.sin(x) / x)
    value, slope, half = f.taylor(x, order=2)
    assert (value, slope, 2 * half) == pytest.approx((f(x), f.grad(x), f.hessian(x)), rel=1e-14)


def test_a_guard_that_holds_its_value() -> None:
    f = symgrad(lambda x: 1.0 if abs(x) < 1e-4 else math.expm1(x) / x)
    found = f.taylor(5e-5, order=2)
    assert found[0] == f(5e-5) == 1.0
    assert found[1:] == pytest.approx([f.grad(5e-5), f.hessian(5e-5) / 2], rel=1e-14)


def test_several_results() -> None:
    first, second = symgrad(lambda x: (x**2, {"cube": x**3})).taylor(2.0, order=3)
    np.testing.assert_array_equal(first, [4, 4, 1, 0])
    np.testing.assert_array_equal(second["cube"], [8, 12, 6, 1])


@pytest.mark.parametrize(
    ("f", "x", "why"),
    [
        (abs, 0.0, "another series on either side"),
        (lambda x: math.sqrt(x), 0.0, "exponents"),
        (lambda x: 1 / x, 0.0, "poles"),
        (lambda x: math.log(x), -1.0, "not defined"),
        (lambda x: 5.0 if x == 0 else x, 0.0, "jumps to its value"),
        (lambda x: x, math.inf, "not finite"),
    ],
)
def test_where_there_is_none(f: Any, x: float, why: str) -> None:
    g = symgrad(lambda x: f(x))
    with pytest.raises(SymdiffError, match=why):
        g.taylor(x, order=2)


def test_outside_of_an_asserted_domain() -> None:
    def f(x: float) -> float:
        assert x > 0
        return x * x

    with pytest.raises(DomainError):
        symgrad(f).taylor(-1.0, order=2)


def test_what_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="arrays or loops"):
        symgrad(lambda x: np.sum(x)).taylor(np.ones(3), order=2)
    with pytest.raises(UnsupportedError, match="of the derivative"):
        symgrad(lambda x: x * x).grad.taylor(1.0, order=2)
    with pytest.raises(SymdiffError, match="needs a direction"):
        symgrad(lambda x, y: x * y).taylor(1.0, 2.0, order=2)
    with pytest.raises(SymdiffError, match="order is -1"):
        symgrad(lambda x: x).taylor(1.0, order=-1)
