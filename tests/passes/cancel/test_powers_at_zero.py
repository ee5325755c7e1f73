"""Derivatives of powers where the base is 0 and the exponent a small integer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import symgrad


def deviance(y, mu, p):
    if p == 1:
        return 2 * ((y * math.log(y / mu) if y > 0 else 0) - y + mu)
    if p == 2:
        return 2 * (math.log(mu / y) + y / mu - 1)
    left = max(y, 0) ** (2 - p) / ((1 - p) * (2 - p))
    return 2 * (left - y * mu ** (1 - p) / (1 - p) + mu ** (2 - p) / (2 - p))


def test_powers():
    f = symgrad(lambda x, a: x**a)
    assert f.grad(0.0, 0.0)[0] == 0.0
    assert f.grad(0.0, 1.0) == (1.0, 0.0)
    assert [f.hessian(0.0, a)[0][0] for a in (0.0, 1.0, 2.0, 3.0)] == [0.0, 0.0, 2.0, 0.0]
    assert str(f.grad.expr[0]) == "a*x**(a - 1)"  # as a textbook writes it
    assert "Piecewise" not in str(f.grad.expr)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("density", "point", "truth"),
    [
        (lambda x, k: x ** (k - 1) * math.exp(-x), (0.0, 1.0), -1.0),  # gamma
        (lambda x, a: x ** (a - 1) * (1 - x) ** 2, (0.0, 1.0), -2.0),  # beta
        (lambda x, b: x**2 * (1 - x) ** (b - 1), (1.0, 1.0), 2.0),
        (lambda t, k, s: k / s * (t / s) ** (k - 1), (0.0, 1.0, 2.0), 0.0),  # Weibull hazard
        (lambda t, k, s: k / s * (t / s) ** (k - 1), (0.0, 2.0, 2.0), 0.5),
        (lambda x, a: x**a * math.exp(-x), (0.0, 0.0), -1.0),  # Schechter
        (lambda c, n, K: c**n / (c**n + K**n), (0.0, 1.0, 0.5), 2.0),  # Hill
        (lambda c, n: c ** (1 / n), (0.0, 1.0), 1.0),  # Freundlich
    ],
)
def test_slopes_at_the_end_of_densities(density, point, truth):
    assert symgrad(density).grad(*point)[0] == truth
    assert symgrad(density).value_and_grad(*point)[1][0] == truth


@pytest.mark.slow
def test_second_derivatives():
    burr = symgrad(lambda x, c, k: 1 - (1 + x**c) ** -k)
    assert burr.hessian(0.0, 1.0, 2.0)[0][0] == -6.0
    hill = symgrad(lambda c, n, K: c**n / (c**n + K**n))
    assert hill.hessian(0.0, 1.0, 0.5)[0][0] == -8.0


def test_what_is_infinite_stays_infinite():
    box_cox = symgrad(lambda x, lam: (x**lam - 1) / lam)
    assert box_cox.grad(0.0, 0.0)[0] == math.inf
    assert symgrad(lambda x, a: x**a).grad(0.0, 0.5)[0] == math.inf
    assert symgrad(lambda x, a: x**a).grad(0.0, 0.0)[1] == -math.inf


@pytest.mark.slow
def test_by_every_variable_of_an_exponent():
    f = symgrad(lambda x, a, b: x ** (a - b))
    assert f.grad(0.0, 1.0, 1.0) == (0.0, -math.inf, math.inf)  # 0**h is 0, and 0**-h is inf
    assert [f.hessian(0.0, 1.0, 1.0)[i][i] for i in range(3)] == [0.0, math.inf, math.inf]
    up, down = f.hessian(0.0, 2.0, 1.0)[0][1:]
    assert (up, down) == (-math.inf, math.inf)  # e*0**(e - 1) is inf, 1 and 0 for e <, = and > 1
    half = symgrad(lambda x, n, m: (x**2) ** ((n - m) / 2))
    assert half.grad(0.0, 1.0, 1.0) == (0.0, -math.inf, math.inf)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "point", "truth"),
    [
        (lambda x, a, b: x ** (a - b), (0.0, 2.0, 1.0), 0.0),
        (lambda x, a, b: x ** (a - b), (0.0, 3.0, 1.0), 2.0),
        (lambda x, y, a: (x * y) ** (a - 1), (0.0, 1.0, 1.0), 0.0),
        (lambda x, b: x ** (2 - 2 * b), (0.0, 1.0), 0.0),
        (lambda x, b: x ** (2 - 2 * b), (0.0, 0.5), 0.0),
        (lambda x, b: x ** (2 - 2 * b), (0.0, 0.0), 2.0),
        (lambda x, a, b: x ** (2 * a - b) * math.exp(x * a), (0.0, 1.0, 2.0), 1.0),
    ],
)
@pytest.mark.filterwarnings("error")
def test_second_derivatives_where_exponents_have_several_variables(function, point, truth):
    assert symgrad(function).hessian(*point)[0][0] == truth


def test_equation_of_state_of_dark_energy():
    f = symgrad(lambda x, a, b: x ** (-3 * (1 + a + b)) * math.exp(-3 * b * (1 - x)))
    assert f.grad(0.0, -1.0, 0.0) == (0.0, math.inf, math.inf)  # -3*log(0)


@pytest.mark.filterwarnings("error")
def test_mixed_derivatives_are_zero_where_logarithms_are_outweighed():
    # d/db d/dx = -2*x**e*(1 + (e + 1)*log(x)), e = 1 - 2*b
    f = symgrad(lambda x, b: x ** (2 - 2 * b))
    assert f.hessian(0.0, 0.446)[0][1] == f.hessian(0.0, 0.446)[1][0] == 0.0
    assert f.hessian(0.0, 0.446)[1][1] == 0.0
    x, b = 0.3, 0.446
    e = 1 - 2 * b
    mixed = -2 * x**e * (1 + (e + 1) * math.log(x))
    assert f.hessian(x, b)[1][0] == pytest.approx(mixed, rel=1e-14)
    g = symgrad(lambda x, p: x**p * math.log(x))
    assert g.hessian(0.0, 2.5) == ((0.0, 0.0), (0.0, 0.0))


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_base_that_is_a_product():
    f = symgrad(lambda x, b, a: (x * b) ** (a / 2 - 0.5))
    assert f.grad(0.0, 0.5, 2.5) == (math.inf, 0.0, 0.0)  # 0 for all b and a > 1
    assert f.hessian(0.0, 0.25, 4.0)[1] == (0.0, 0.0, 0.0)
    g = symgrad(lambda x, b, a: (x / b) ** (a - 0.5))
    assert g.hessian(0.0, 0.25, 2.0)[1] == (0.0, 0.0, 0.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_base_with_a_kink():
    f = symgrad(lambda x, a: abs(x) ** a)
    assert f.hessian(0.0, 2.0) == ((2.0, 0.0), (0.0, 0.0))
    assert f.hessian(0.0, 3.0) == ((0.0, 0.0), (0.0, 0.0))
    assert f.hessian(0.0, 1.5)[0][0] == math.inf  # of both sides
    mixed = f.hessian(0.0, 1.0)  # sign(x)*(log(abs(x)) + 1)
    assert math.isnan(mixed[0][1]) and math.isnan(mixed[1][0])
    hinge = symgrad(lambda x, k: max(0, 1 - x) ** k)
    assert hinge.hessian(1.0, 2.0) == ((1.0, 0.0), (0.0, 0.0))  # the mean of 2 and 0
    assert hinge.hessian(1.0, 3.0) == ((0.0, 0.0), (0.0, 0.0))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_deviance_of_tweedie():
    f = symgrad(deviance)
    # to 60 digits, by differences of the general formula on both sides
    for p, by_y, by_p in (
        (1.0, -0.48045301391820142, 0.067398258125331),
        (2.0, -0.30685281944005469, 0.04448881526453),
    ):
        h = f.hessian(2.0, 1.0, p)
        assert h[0][2] == h[2][0] == pytest.approx(by_y, rel=1e-14)
        assert h[2][2] == pytest.approx(by_p, rel=1e-10)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "at", "slope"),
    [
        (lambda y, p: max(y, 0) ** (2 - p) / ((1 - p) * (2 - p)), (0.0, 0.75), 0.0),
        (lambda y, p: y ** (2 - p) / ((1 - p) * (2 - p)), (0.0, 0.75), 0.0),
        (lambda y, p: np.maximum(y, 0) ** (3 - p) / ((2 - p) * (3 - p)), (0.0, 1.25), 0.0),
        (lambda y, p: y**p / (p * (p - 1)), (0.0, 1.5), 0.0),
        (lambda y, p: abs(y) ** (p + 1) / ((p + 1) * p), (0.0, 0.5), 0.0),
        (lambda y, p: max(y, 0) ** (2 - p) / (2 - p) - 3 * y / (1 - p), (0.0, 0.75), -12.0),
    ],
)
@pytest.mark.filterwarnings("error")
def test_powers_whose_base_is_cancelled(f, at, slope):
    """y*y**(-p) is no number at 0 where y**(1 - p) is 0."""
    assert symgrad(f).grad(*at)[0] == slope
    rows = symgrad(f).grad(*(np.full(3, a) for a in at))
    assert rows[0].tolist() == [slope] * 3


@pytest.mark.sampled
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("f", "at", "value", "slope", "bend"),
    [
        (lambda x, a, b: x**a * x**b, (0.0, 0.5, 0.5), 0.0, 1.0, 0.0),
        (lambda x, a, b: x**a * x**b, (0.0, 1.5, -0.5), 0.0, 1.0, 0.0),
        (lambda x, a, b: x**a / x**b, (0.0, 3.0, 1.0), 0.0, 0.0, 2.0),
        (lambda x, a: x**a / x, (0.0, 2.0), 0.0, 1.0, 0.0),
        (lambda x, p: x * x ** (1 - p), (0.0, 1.9), 0.0, math.inf, -math.inf),
        (lambda x, a, b: x**a * math.exp(x) * x**b / (1 + x), (0.0, 0.5, 0.5), 0.0, 1.0, 0.0),
    ],
)
def test_products_of_powers_of_one_base(f, at, value, slope, bend):
    g = symgrad(f)
    assert (g(*at), g.grad(*at)[0], g.hessian(*at)[0][0]) == (value, slope, bend)
    rows = g.grad(*(np.full(2, a) for a in at))[0]
    assert rows.tolist() == [slope] * 2


def test_products_of_powers_keep_their_domain():
    f = symgrad(lambda x, a, b: x**a * x**b)
    assert math.isnan(f(-2.0, 0.5, 0.5))
    assert f(-2.0, 2.0, 1.0) == -8.0
    assert str(symgrad(lambda x, a: x * x**a).expr) == "x**(a + 1)"


@pytest.mark.slow
def test_guards_on_lines():
    """At y = 0 there is a limit at p = 1 for this y and for larger ones, and none for smaller ones."""
    f = symgrad(deviance)
    log = math.log(2)  # the deviance of y = 0 is 2*mu**(2 - p)/(2 - p)
    assert f(0.0, 2.0, 1.0) == 4.0
    by_mu, by_p = f.grad(0.0, 2.0, 1.0)[1:]
    assert (by_mu, by_p) == (2.0, pytest.approx(4 - 4 * log, rel=1e-15))
    assert f.diff("p", "p")(0.0, 2.0, 1.0) == pytest.approx(4 * log**2 - 8 * log + 8, rel=1e-14)
    rows = f.grad(np.array([0.0, 0.0]), np.array([2.0, 1.0]), 1.0)[2]
    assert rows.tolist() == [by_p, 2.0]
