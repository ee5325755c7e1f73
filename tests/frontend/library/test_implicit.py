"""Roots and integrals inside of functions: values beside SciPy's, derivatives beside closed forms."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, newton, root_scalar

from symdiff import SymdiffError, UnsupportedError, symgrad
from tests.frontend.differences import slopes_by


# -------------------------------------------------------------------------- roots
def anomaly(m: float, e: float) -> float:
    return brentq(lambda x: x - e * math.sin(x) - m, 0.0, 7.0)


def anomaly_by_newton(m: float, e: float) -> float:
    def f(x: float, m: float, e: float) -> float:
        return x - e * np.sin(x) - m

    return newton(f, m, fprime=lambda x, m, e: 1 - e * np.cos(x), args=(m, e))


def anomaly_by_name(m: float, e: float) -> float:
    return root_scalar(lambda x: x - e * math.sin(x) - m, bracket=[0.0, 7.0]).root


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "f", [anomaly, anomaly_by_newton, anomaly_by_name], ids=lambda f: f.__name__
)
def test_roots_have_the_derivatives_of_the_implicit_function_theorem(f: Callable[..., Any]) -> None:
    m, e = 1.2, 0.3
    with mpmath.workdps(40):
        x = mpmath.findroot(lambda x: x - e * mpmath.sin(x) - m, 1.5)
        by_m = 1 / (1 - e * mpmath.cos(x))
        by_e = mpmath.sin(x) * by_m
        twice = -e * mpmath.sin(x) * by_m**3
    g = symgrad(f)
    assert g(m, e) == pytest.approx(float(x), rel=1e-15)
    assert g.grad(m, e) == pytest.approx((float(by_m), float(by_e)), rel=4e-16)
    assert g.hessian(m, e)[0][0] == pytest.approx(float(twice), rel=1e-14)


@pytest.mark.slow
def test_derivatives_of_roots_up_to_the_third_order() -> None:
    g = symgrad(lambda a: brentq(lambda x: x * x - a, 0.0, 9.0))
    a = 2.25
    expected = [a**-0.5 / 2, -(a**-1.5) / 4, 3 * a**-2.5 / 8]
    for slope in expected:
        g = g.grad
        assert g(a) == pytest.approx(slope, rel=1e-13)
    with pytest.raises(UnsupportedError, match="which solves an equation"):
        g.grad(a)
    second = symgrad(lambda a: brentq(lambda x: x * x - a, 0.0, 9.0)).grad.grad
    with pytest.raises(UnsupportedError, match="which solves an equation"):
        symgrad(lambda a: 2.0 * second(a)).grad.grad(a)


@pytest.mark.slow
def test_roots_in_a_loop_and_ends_that_are_parameters() -> None:
    def total(m: np.ndarray, b: float) -> float:
        found = 0.0
        for x in m:
            found += brentq(lambda z, x=x: z * z - x, 0.0, b)
        return found

    m = np.array([1.0, 2.0, 5.0])
    by_m, by_b = symgrad(total).grad(m, 3.0)
    assert by_m == pytest.approx(0.5 / np.sqrt(m), rel=1e-14)
    assert by_b == pytest.approx(0.0, abs=1e-20)


def test_a_bracket_without_a_root() -> None:
    with pytest.raises(ValueError, match="must have different signs"):
        symgrad(anomaly)(9.0, 0.3)
    with pytest.raises(ValueError, match="must have different signs"):  # nan at an end
        symgrad(lambda a: brentq(lambda x: math.log(x) - a, -1.0, 2.0))(0.1)


def test_a_root_that_is_0_where_scipy_has_a_tolerance() -> None:
    g = symgrad(lambda a: brentq(lambda x: x * math.exp(x) - a, -0.5, 2.0))
    assert g(0.0) == pytest.approx(0.0, abs=1e-30)
    assert g.grad(0.0) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [3, -1], ids=["multiple", "pole"])
def test_roots_at_which_the_implicit_function_theorem_does_not_hold(k: int) -> None:
    g = symgrad(lambda a: brentq(lambda x: (x - a) ** k, -1.0, 2.0), verify=False)
    for f in (g, g.grad):
        with pytest.raises(SymdiffError, match="an equation is singular at its root, or has none"):
            f(0.3)


def of_a_loop(c: np.ndarray) -> float:
    return brentq(lambda z: np.sum(c * z ** np.arange(3)), 0.0, 3.0)


@pytest.mark.parametrize(("f", "x", "message"), [
    (of_a_loop, np.ones(3000), "the root of a function with a loop that stays one"),
    (lambda a: newton(lambda z: z * z - a, 1.0, lambda z: 2 * z, fprime2=lambda z: 2.0), 2.0, "newton.. needs no fprime2"),
    (lambda a: root_scalar(lambda z: z * z - a, method="halley", x0=1.0).root, 2.0, "root_scalar.. by halley is not supported"),
    (lambda a: quad(lambda x: a * x, 0.0, 1.0), 2.0, "the error that quad.. estimates"),
], ids=["of a loop", "by halley", "by name", "with an error"])  # fmt: skip
def test_roots_that_are_refused(f: Callable[..., Any], x: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(x)


@pytest.mark.slow
def test_the_root_of_a_loop_over_an_array_whose_size_is_that_of_the_call() -> None:
    g = symgrad(of_a_loop)
    for c in (np.array([-2.0, 0.5, 1.0]), np.array([-1.5, 0.7, 1.1])):
        z = (-c[1] + math.sqrt(c[1] ** 2 - 4 * c[0] * c[2])) / (2 * c[2])
        assert g(c) == pytest.approx(z, rel=1e-14)
        slopes = -(z ** np.arange(3)) / (c[1] + 2 * c[2] * z)
        assert g.grad(c) == pytest.approx(slopes, rel=1e-13)


# ----------------------------------------------------------------------- integrals
def gamma(a: float) -> float:
    return quad(lambda t: t ** (a - 1) * math.exp(-t), 0, math.inf)[0]


def moment(mu: float, s: float) -> float:
    def density(x: float) -> float:
        return math.exp(-0.5 * ((x - mu) / s) ** 2) / (s * math.sqrt(2 * math.pi))

    return quad(lambda x: x * x * density(x), -np.inf, np.inf)[0]


INTEGRALS = {
    "gamma": (gamma, (2.5,), math.gamma(2.5), (math.gamma(2.5) * float(mpmath.digamma(2.5)),)),
    "moment": (moment, (0.3, 1.2), 1.53, (0.6, 2.4)),
    "ends": (lambda a, b: quad(lambda x: math.sin(x * a), a, b)[0], (0.5, 2.0), (math.cos(0.25) - math.cos(1.0)) / 0.5, None),
    "logarithm": (lambda a: quad(lambda x, a: math.log(x) * x**a, 0.0, 1.0, args=(a,))[0], (1.5,), -1 / 6.25, (2 / 2.5**3,)),
    "peak": (lambda w: quad(lambda x: w / (w * w + (x - 0.25) ** 2), 0.0, 1.0)[0], (0.01,),
             math.atan(75.0) + math.atan(25.0), (-75 / 56.26 - 25 / 6.26,)),
    "repeated": (lambda a: quad(lambda x: quad(lambda y: x * y * a, 0.0, x)[0], 0.0, 1.0)[0], (2.0,), 0.25, (0.125,)),
    "cancelled": (lambda c: quad(lambda x: (x - c) / (1e-2 + (x - c) ** 2), 0.0, 1.0)[0], (0.5,), 0.0, (-1 / 0.26,)),
    "nothing": (lambda a: quad(lambda x: a / (1e-4 + (x - 0.25) ** 2), 0.0, 1.0)[0], (0.0,),
                0.0, (100 * (math.atan(75.0) + math.atan(25.0)),)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("f", "at", "value", "slopes"), INTEGRALS.values(), ids=INTEGRALS)
def test_integrals(
    f: Callable[..., float], at: Any, value: float, slopes: tuple[float, ...] | None
) -> None:
    g = symgrad(f)
    assert g(*at) == pytest.approx(value, rel=1e-12, abs=1e-13)
    if slopes is None:
        a, b = at
        by_a = (a * -math.sin(a * a) * 2 + b * math.sin(a * b)) / a - value / a
        slopes = by_a, math.sin(a * b)
    found = g.grad(*at)
    found = found if isinstance(found, tuple) else (found,)
    assert found == pytest.approx(slopes, rel=1e-11)


def heston(v: float, k: float, s: float) -> float:
    """Of a characteristic function of returns, by Heston's model."""

    def integrand(u: float) -> float:
        x = u - 0.5j
        a = k + 0.7j * s * x
        d = cmath.sqrt(a * a + s**2 * (x * x + 1j * x))
        g, e = (a - d) / (a + d), cmath.exp(-d)
        c = 0.04 * k / s**2 * (a - d - 2 * cmath.log((1 - g * e) / (1 - g)))
        b = (a - d) / s**2 * (1 - e) / (1 - g * e)
        return cmath.exp(0.02j * u + c + b * v).real / (u * u + 0.25)

    return quad(integrand, 0.0, 60.0, epsabs=1e-13, limit=200)[0]


@pytest.mark.slow
def test_places_of_an_integral_are_numbers_to_what_is_integrated() -> None:
    f, at = symgrad(heston), (0.04, 1.5, 0.3)
    assert f(*at) == pytest.approx(heston(*at), rel=1e-12)
    for k, slope in enumerate(f.grad(*at)):
        by_differences = slopes_by(heston, at, k, 1e-3 * at[k], fine=True)
        assert slope == pytest.approx(by_differences, rel=1e-8)


def test_an_integral_that_does_not_converge() -> None:
    with pytest.raises(ValueError, match="an integral does not converge: split it at kinks"):
        symgrad(lambda a: quad(lambda x: abs(x - a), 0.0, 1.0)[0])(0.3)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict"])
@pytest.mark.parametrize("start", [{"x0": 1.0}, {"x0": 2.0}, {"x0": 1.1, "x1": 1.5}], ids=str)
def test_secants(start: dict[str, float], accuracy: str) -> None:
    def root(p: float) -> float:
        return newton(lambda x: x**3 - p * x - 1, **start)

    f = symgrad(root, accuracy=accuracy)
    x = mpmath.findroot(lambda x: x**3 - mpmath.mpf(1.3) * x - 1, 1.4)
    assert f(1.3) == pytest.approx(float(x), rel=1e-15)
    assert f.grad(1.3) == pytest.approx(float(x / (3 * x**2 - mpmath.mpf(1.3))), rel=1e-14)


def test_secants_by_name() -> None:
    f = symgrad(lambda a: root_scalar(lambda z: z * z - a, method="secant", x0=1.0, x1=2.0).root)
    assert f(2.0) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert f.grad(2.0) == pytest.approx(0.25 * math.sqrt(2), rel=1e-14)


def test_arguments_in_a_list() -> None:
    def root(a: float) -> float:
        return newton(lambda x, *q: x * x - q[0] * q[1], 1.0, lambda x, *q: 2 * x, args=[a, 3.0])

    assert symgrad(root)(2.0) == pytest.approx(math.sqrt(6), rel=1e-15)


def kinked(a):
    return quad(lambda t: abs(t - a), 0, 1, points=[a, 2.0])[0]


@pytest.mark.slow
def test_integrals_are_split_at_points():
    assert symgrad(kinked).grad(0.3) == pytest.approx(-0.4, rel=1e-14)


@pytest.mark.slow
def test_points_move_with_parameters():
    assert symgrad(kinked)(0.3) == pytest.approx(0.29, rel=1e-15)
    assert symgrad(kinked).hessian(0.3) == pytest.approx(2.0, rel=1e-13)

    def jumps(a):
        return quad(lambda t: 1.0 if t < a else math.exp(t), 0, 1, points=(a,))[0]

    assert symgrad(jumps).grad(0.3) == pytest.approx(1 - math.exp(0.3), rel=1e-13)
    back = symgrad(lambda a: quad(lambda t: abs(t - a), 1, 0, points=[a])[0])
    assert back.grad(0.3) == pytest.approx(0.4, rel=1e-14)
