"""Three formulas that meet, for oblate and prolate spheroids and for spheres: a domain of arguments of one sign."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from mpmath import mp

from symdiff import symgrad
from tests.passes.evaluate import slope

Formula = Callable[[Any, Any, Any], Any]


def capacity(m, a, c):
    if a == c:
        return a
    if a > c:
        return m.sqrt(a * a - c * c) / m.acos(c / a)
    return m.sqrt(c * c - a * a) / m.log((c + m.sqrt(c * c - a * a)) / a)


def demagnetising(m, a, c):
    x = c / a
    if a == c:
        return 1 / 3
    if a > c:
        return 1 / (1 - x * x) * (1 - x / m.sqrt(1 - x * x) * m.acos(x))
    return 1 / (x * x - 1) * (x / m.sqrt(x * x - 1) * m.log(x + m.sqrt(x * x - 1)) - 1)


def demagnetising_by_eccentricity(m, a, c):
    if a == c:
        return 1 / 3
    if a > c:
        e = m.sqrt(1 - (c / a) ** 2)
        return (1 - m.sqrt(1 - e * e) / e * m.asin(e)) / e**2
    e = m.sqrt(1 - (a / c) ** 2)
    return (1 - e * e) / e**2 * (m.atanh(e) / e - 1)


def area(m, a, c):
    if a == c:
        return 4 * a * a
    if a > c:
        e = m.sqrt(1 - (c / a) ** 2)
        return 2 * a * a * (1 + (1 - e * e) / e * m.atanh(e))
    e = m.sqrt(1 - (a / c) ** 2)
    return 2 * a * a * (1 + c / (a * e) * m.asin(e))


def lens(m, a, c):
    if a == c:
        return 1.0
    if a > c:
        return m.acos(c / a) / m.sqrt(1 - (c / a) ** 2)
    return m.acosh(c / a) / m.sqrt((c / a) ** 2 - 1)


def arcs(m, a, c):
    if a == c:
        return 1.0
    if a > c:
        return m.asin(m.sqrt(a - c)) / m.sqrt(a - c)
    return m.asinh(m.sqrt(c - a)) / m.sqrt(c - a)


FORMULAS = [capacity, demagnetising, demagnetising_by_eccentricity, area, lens, arcs]


@pytest.mark.slow
@pytest.mark.parametrize("f", FORMULAS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [2.0, 0.75])
@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
def test_slopes_of_spheres(f: Formula, size: float) -> None:
    g = symgrad(lambda a, c: f(math, a, c))
    found = g.grad(size, size)
    for i in range(2):
        assert found[i] == pytest.approx(slope(partial(f, mp), (size, size), i, 1e-16), rel=1e-13)


def negative_binomial(m, y, mu, a):
    """Which has no power series in a at 0."""
    gamma = m.lgamma if m is math else m.loggamma
    if a == 0:
        return y * m.log(mu) - mu - gamma(y + 1)
    return (
        gamma(y + 1 / a) - gamma(1 / a) - gamma(y + 1)
        + y * m.log(a * mu / (1 + a * mu)) - m.log(1 + a * mu) / a
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_what_is_not_proved_has_the_derivative_of_its_sides() -> None:
    g = symgrad(lambda y, mu, a: negative_binomial(math, y, mu, a))
    found = g.grad(3.0, 2.0, 0.0)
    assert found[2] == (3 - 2) ** 2 / 2 - 3 / 2


@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
def test_kinks_and_roots_have_the_slopes_of_their_sides() -> None:
    assert symgrad(lambda x: 0.0 if x == 0 else abs(x)).grad(0.0) == 0.0
    assert symgrad(lambda x: 0.0 if x == 0 else x * math.log(abs(x))).grad(0.0) == -math.inf
    assert symgrad(lambda x: 0.0 if x <= 0 else math.exp(-1 / x)).grad(0.0) == 0.0
    assert symgrad(lambda x: 0.0 if x == 0 else x**2 * math.sin(1 / x)).grad(0.0) == 0.0


def bachelier(f, k, s, t):
    if t <= 0:
        return max(f - k, 0.0)
    v = s * math.sqrt(t)
    d = (f - k) / v
    normal = 0.5 * math.erfc(-d / math.sqrt(2))
    return (f - k) * normal + v * math.exp(-d * d / 2) / math.sqrt(2 * math.pi)


def bachelier_by_deviation(f, k, s, t):
    v = s * math.sqrt(t)
    if v == 0:
        return max(f - k, 0.0)
    d = (f - k) / v
    normal = 0.5 * math.erfc(-d / math.sqrt(2))
    return (f - k) * normal + v * math.exp(-d * d / 2) / math.sqrt(2 * math.pi)


@pytest.mark.slow
@pytest.mark.parametrize("f", [bachelier, bachelier_by_deviation])
@pytest.mark.filterwarnings("error::symdiff.GuardWarning")
def test_what_is_right_for_most_is_not_told(f: Callable[..., float]) -> None:
    """A negative deviation is one of the numbers that are tried."""
    assert symgrad(f).grad(1.2, 1.0, 0.3, 0.0) == (1.0, -1.0, 0.0, 0.0)
