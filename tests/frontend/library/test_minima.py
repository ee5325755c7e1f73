"""Systems of equations and minima inside of functions: values beside SciPy's, derivatives beside closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve, least_squares, minimize, minimize_scalar, root

from symdiff import SymdiffError, UnsupportedError, symgrad


def test_the_root_of_one_equation() -> None:
    f = symgrad(lambda a: fsolve(lambda x: x**3 - a, 1.0)[0])
    assert f(2.0) == pytest.approx(2 ** (1 / 3), rel=4e-16)
    assert f.grad(2.0) == pytest.approx(2 ** (-2 / 3) / 3, rel=1e-15)
    assert f.grad.grad(2.0) == pytest.approx(-2 / 9 * 2 ** (-5 / 3), rel=1e-14)


def crossing(a: float, b: float) -> float:
    x = fsolve(lambda v: [v[0] ** 2 - a, v[0] * v[1] - b], [1.0, 1.0])
    return x[0] + 2 * x[1]


def test_a_system_of_two_equations() -> None:
    a, b = 2.0, 3.0
    f = symgrad(crossing)
    assert f(a, b) == pytest.approx(a**0.5 + 2 * b * a**-0.5, rel=1e-15)
    assert f.grad(a, b) == pytest.approx((a**-0.5 / 2 - b * a**-1.5, 2 * a**-0.5), rel=1e-14)


def chain(a: float) -> Any:
    """Five unknowns, each the square root of the one before and 1."""

    def residuals(v: Any, a: float) -> Any:
        return [v[0] - a, *(v[k] ** 2 - v[k - 1] - 1 for k in range(1, 5))]

    return root(residuals, np.ones(5), args=(a,)).x[4]


@pytest.mark.slow
def test_a_system_that_lapack_solves() -> None:
    f, v, slope = symgrad(chain), 3.0, 1.0
    for _ in range(4):
        v = (v + 1) ** 0.5
        slope /= 2 * v
    assert f(3.0) == pytest.approx(v, rel=1e-15)
    assert f.grad(3.0) == pytest.approx(slope, rel=1e-13)


def valley(a: float, b: float) -> Any:
    return minimize(lambda x: (a - x[0]) ** 2 + b * (x[1] - x[0] ** 2) ** 2, [-1.0, 1.0]).x


@pytest.mark.slow
def test_a_minimum_of_two_variables() -> None:
    a, b = 1.2, 3.0
    f = symgrad(valley)
    np.testing.assert_allclose(f(a, b), [a, a * a], rtol=1e-13)
    by_a, by_b = f.jacobian(a, b)
    np.testing.assert_allclose(by_a, [1.0, 2 * a], rtol=1e-10)
    np.testing.assert_allclose(by_b, [0.0, 0.0], atol=1e-10)


def test_a_minimum_of_one_variable() -> None:
    f = symgrad(lambda a: minimize_scalar(lambda x: (x - a) ** 2 + x**4).x)
    x = f(1.0)
    assert 2 * (x - 1) + 4 * x**3 == pytest.approx(0.0, abs=1e-15)
    assert f.grad(1.0) == pytest.approx(2 / (2 + 12 * x * x), rel=1e-14)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("f", "x", "slope"), [
    (lambda a: minimize_scalar(lambda x: (x + a) ** 2, bounds=(a, 3), method="bounded").x, 1.3, 1.0),
    (lambda a: minimize_scalar(lambda x: -x * a, bounds=(0, a**2)).x, 1.69, 2.6),
    (lambda a: minimize_scalar(lambda x, b: np.exp(x) - b * x, bounds=(-1, 6), args=(a,)).x,
     math.log(1.3), 1 / 1.3),
    (lambda a: minimize_scalar(lambda x: np.cos(a * x), bounds=(-1.0, 6.0)).x,
     math.pi / 1.3, -math.pi / 1.69),
], ids=["lower", "upper", "inside", "a wave"])  # fmt: skip
def test_a_minimum_between_bounds(f: Any, x: float, slope: float) -> None:
    assert f(1.3) == pytest.approx(x, abs=3e-5)  # SciPy's own tolerance
    assert symgrad(f)(1.3) == pytest.approx(x, rel=1e-14)
    assert symgrad(f).grad(1.3) == pytest.approx(slope, rel=1e-12)


def test_the_value_at_a_minimum_has_the_slope_of_the_envelope() -> None:
    f = symgrad(lambda a: minimize(lambda x: a * x[0] ** 2 - np.sin(x[0]), [0.1]).fun)
    x = symgrad(lambda a: minimize(lambda x: a * x[0] ** 2 - np.sin(x[0]), [0.1]).x[0])(1.5)
    assert f.grad(1.5) == pytest.approx(x * x, rel=1e-13)


@pytest.mark.slow
def test_least_squares() -> None:
    times = np.linspace(0.0, 2.0, 8)

    def rate(k: float) -> float:
        measured = np.exp(-k * times) + 0.1 * np.sin(3 * times)
        found = least_squares(lambda p: p[0] * np.exp(-p[1] * times) - measured, [1.0, 0.5])
        return found.x[1]

    f = symgrad(rate)
    assert f(1.3) == pytest.approx(rate(1.3), rel=1e-4)
    difference = (f(1.3 + 1e-4) - f(1.3 - 1e-4)) / 2e-4
    assert f.grad(1.3) == pytest.approx(difference, rel=1e-7)


def test_what_has_no_solution() -> None:
    with pytest.raises(SymdiffError, match="no root was found"):
        symgrad(lambda a: fsolve(lambda x: x**2 + a, 1.0)[0])(1.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: minimize(lambda x: (x[0] - a) ** 2, [0.0], bounds=[(0, 1)]).x[0], "bounds"),
        (lambda a: fsolve(lambda x: [x[0] - a, x[0]], [1.0])[0], "as many equations as unknowns"),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(1.0)
