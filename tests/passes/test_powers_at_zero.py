"""Derivatives of powers where the base is 0 and the exponent a small integer."""

from __future__ import annotations

import math

import pytest

from symdiff import symgrad


def slopes(function, *point):
    return symgrad(function).grad(*point)


def test_powers():
    f = symgrad(lambda x, a: x**a)
    assert f.grad(0.0, 0.0)[0] == 0.0
    assert f.grad(0.0, 1.0) == (1.0, 0.0)
    assert [f.hessian(0.0, a)[0][0] for a in (0.0, 1.0, 2.0, 3.0)] == [0.0, 0.0, 2.0, 0.0]
    assert str(f.grad.expr[0]) == "a*x**(a - 1)"  # as a textbook writes it
    assert "Piecewise" not in str(f.grad.expr)


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
    assert slopes(density, *point)[0] == truth
    assert symgrad(density).value_and_grad(*point)[1][0] == truth


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
