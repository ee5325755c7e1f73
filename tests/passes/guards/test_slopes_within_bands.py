"""Slopes in thin bands aside of their middle."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import GuardWarning


def nested(x, y):
    if y > 0:
        if not (x > 1e-3 or x < -1e-3):
            return y
        return math.expm1(x * y) / x
    return x * y


BANDS = {  # the function, the middle of its band and half of the width
    "constant": (lambda x: 1.0 if abs(x) < 1e-6 else math.expm1(x) / x, 0.0, 1e-6),
    "squared": (lambda x: 1.0 if (x - 0.25) ** 2 < 1e-6 else math.expm1(x - 0.25) / (x - 0.25), 0.25, 1e-3),
    "beside": (lambda x, y: y if -1e-5 < x - 1 < 1e-5 else math.expm1((x - 1) * y) / (x - 1), 1.0, 1e-5),
    "nested": (nested, 0.0, 1e-3),
    "terms": (lambda x, y: y + y**2 * x / 2 if abs(x) < 1e-4 else math.expm1(x * y) / x, 0.0, 1e-4),
    "relative": (lambda x, y: y if abs(x) < 1e-5 * max(1.0, abs(y)) else math.expm1(x * y) / x, 0.0, 1e-5),
}  # fmt: skip


@pytest.mark.parametrize(("f", "middle", "width"), BANDS.values(), ids=BANDS)
@pytest.mark.parametrize("part", [0.5, -0.25, 1 - 2.0**-10])
def test_a_band_has_the_slopes_of_the_function_in_all_of_it(f, middle, width, part):
    # expm1(t*y)/t = y + y**2*t/2 + y**3*t**2/6 + ...
    x, y = middle + part * width, 1.5
    point = (x, y) if f.__code__.co_argcount == 2 else (x,)
    t, y = x - middle, point[1] if len(point) == 2 else 1.0
    g = symgrad(f)
    first = g.grad(*point)
    assert g(*point) == f(*point)
    slope = first[0] if len(point) == 2 else first
    assert slope == pytest.approx(y**2 / 2 + y**3 * t / 3 + y**4 * t**2 / 8, rel=1e-9)
    second = y**3 / 3 + y**4 * t / 4 + y**5 * t**2 / 10
    assert g.diff("x", "x")(*point) == pytest.approx(second, rel=1e-8)


@pytest.mark.parametrize("y", [0.5, 1.5])
def test_even_functions_have_slopes_in_relative_bands(y):
    # sin(x)/x = 1 - x**2/6 + ...
    x = 0.75e-6 * max(1.0, y)
    even = symgrad(lambda x, y: 1.0 if abs(x) < 1e-6 * max(1.0, abs(y)) else math.sin(x) / x)
    assert even.grad(x, y) == (pytest.approx(-x / 3, rel=1e-9), 0.0)


COMPARISONS = {
    "less": lambda x: 1.0 if abs(x) < 1e-6 else math.expm1(x) / x,
    "not more": lambda x: 1.0 if abs(x) <= 1e-6 else math.expm1(x) / x,
    "both": lambda x: 1.0 if -1e-6 < x < 1e-6 else math.expm1(x) / x,
    "neither": lambda x: 1.0 if not (x > 1e-6 or x < -1e-6) else math.expm1(x) / x,
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_ends_of_bands_in_sums(name):
    # the slope at an end is that of what is taken there, or of the band, which has the same
    f = COMPARISONS[name]
    g = symgrad(lambda x: sum(f(x[i]) for i in range(3)))
    slopes = [0.5 + x / 3 for x in (0.0, 1e-6, -1e-6)]
    assert g.grad(np.array([0.0, 1e-6, -1e-6])) == pytest.approx(slopes, rel=1e-9)


def test_a_band_whose_middle_is_wrong_has_the_slopes_of_its_value():
    def f(x, y):
        return y + 1e-3 if abs(x) < 1e-6 else math.expm1(x * y) / x

    with pytest.warns(GuardWarning):
        assert symgrad(f).grad(5e-7, 1.5) == (0.0, 1.0)


def test_masks_kept_in_arrays_are_conditions_of_bands():
    # x/(exp(x) - 1) = 1 - x/2 + x**2/12 - ...
    def f(x):
        m = x * x < 1e-7
        u = np.where(m, 1.0, x)
        return np.sum(np.where(m, 1 - x / 2, u / (np.exp(u) - 1)))

    x = np.array([1.5e-4, 0.0, -2e-4])
    assert symgrad(f).grad(x) == pytest.approx(-0.5 + x / 6, rel=1e-9)


def test_loops_over_bands_that_are_less_thin_are_compared_with_the_function():
    # cos(x)/x - sin(x)/x**2 = -x/3 + x**3/30 - ...
    def f(x):
        total = 0.0
        for k in range(len(x)):
            total += 1.0 if abs(x[k]) < 1e-2 else math.sin(x[k]) / x[k]
        return total

    x = np.array([0.75, 0.005, -0.003])
    first = math.cos(0.75) / 0.75 - math.sin(0.75) / 0.75**2
    slopes = [first, *(-x[1:] / 3 + x[1:] ** 3 / 30)]
    assert symgrad(f).grad(x) == pytest.approx(slopes, rel=1e-9)
