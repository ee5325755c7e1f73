"""Where kinks meet: the derivative that all sides have, and none that no side has."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.beside import beside


def middle(x: Any, y: Any, z: Any) -> Any:
    return max(min(x, y), min(max(x, y), z))


def squares_in_order(x: float, y: float, z: float) -> float:
    return max(x, y, z) ** 2 + middle(x, y, z) ** 2 + min(x, y, z) ** 2


def product_in_order(x: float, y: float, z: float) -> float:
    return max(x, y, z) * middle(x, y, z) * min(x, y, z)


def largest(x: float, y: float, z: float) -> float:
    return max(x, y, z) ** 2


def clipped(x: float, y: float, z: float) -> float:
    return min(max(x, y), z) ** 2 + max(x * y, z)


def halves(x: float, y: float, z: float) -> float:
    return abs(x - y) * abs(y - z) + abs(abs(x) - abs(z)) * y


PROGRAMS = [
    largest,
    *(pytest.param(f, marks=pytest.mark.slow)
      for f in (squares_in_order, product_in_order, clipped, halves)),
]  # fmt: skip
POINTS = [(1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 2.0)]
WAYS = [
    tuple(s * n for s, n in zip(signs, sizes, strict=True))
    for sizes in itertools.permutations((7, 29, 101))
    for signs in itertools.product((1, -1), repeat=3)
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_sides_that_agree_and_sides_that_differ(f: Callable[..., float]) -> None:
    s = symgrad(f)
    for point in POINTS:
        slopes, bends = s.grad(*point), s.hessian(*point)
        for i, j in itertools.product(range(3), repeat=2):
            sides = [beside(f, point, way, i, j) for way in WAYS]
            for got, of in (
                (slopes[i], [a for a, _ in sides]),
                (bends[i][j], [b for _, b in sides]),
            ):
                if min(of) == max(of):
                    assert got == pytest.approx(float(of[0]), rel=1e-14, abs=1e-14), (point, i, j)
                elif not math.isnan(got):
                    assert min(of) <= got <= max(of), (point, i, j)
        assert not any(map(math.isnan, slopes))


@pytest.mark.slow
def test_a_smooth_function_of_sorted_numbers() -> None:
    s = symgrad(squares_in_order)
    assert s.grad(1.0, 1.0, 1.0) == (2.0, 2.0, 2.0)
    want = ((2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0))
    assert s.hessian(1.0, 1.0, 1.0) == s.hessian(0.0, 0.0, 0.0) == want
    assert s.hvp((1.0, 1.0, 1.0), (1.0, 2.0, 3.0)) == (2.0, 4.0, 6.0)
    assert s.diff("x", "y")(1.0, 1.0, 1.0) == 0.0


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "at", "bend"), [
    (lambda x: abs(x) * abs(math.sin(x)), 0.0, 2.0),
    (lambda x: abs(x) * abs(math.sin(-x)), 0.0, 2.0),
    (lambda x: abs(x - 2) * abs(x * x - 4), 2.0, 8.0),
    (lambda x: abs(1 - math.cos(x)), 0.0, 1.0),
    (lambda x: max(1 - math.cos(x), 0.0), 0.0, 1.0),
    (lambda x: min(math.cos(x) - 1, 0.0), 0.0, -1.0),
    (lambda x: abs(x**2 - 2 * x + 1), 1.0, 2.0),
    (lambda x: max(x**2, x**4), 0.0, 2.0),
    (lambda x: np.maximum(np.cosh(x), 1.0), 0.0, 1.0),
])  # fmt: skip
def test_formulas_that_vanish_together_or_do_not_cross(
    f: Callable[..., float], at: float, bend: float
) -> None:
    assert symgrad(f).hessian(at) == pytest.approx(bend, rel=1e-14)


def test_what_has_no_second_derivative_is_nan() -> None:
    largest = symgrad(lambda x, y: max(x**2, y**2)).hessian(0.0, 0.0)
    assert math.isnan(largest[0][0]) and math.isnan(largest[1][1])
    product = symgrad(lambda x, y: abs(x * y)).hessian(0.0, 0.0)
    assert math.isnan(product[0][1]) and product[0][0] == 0.0


def test_factors_beside_a_kink() -> None:
    both = symgrad(lambda x, y: abs(x) * abs(x * y))
    assert both.hessian(0.0, 3.0)[0][0] == 6.0
    assert both.hessian(0.0, -3.0)[0][0] == 6.0


@pytest.mark.slow
def test_kinks_of_sorted_numbers() -> None:
    def sum_of_sorted(a: float, b: float, c: float, d: float) -> float:
        low, high = min(a, b), max(a, b)
        first, last = min(c, d), max(c, d)
        return (max(low, first) + min(high, last)) ** 2

    s = symgrad(sum_of_sorted)
    # the middle two of four: a number that moves alone is none of them
    assert s.grad(1.0, 1.0, 1.0, 1.0) == (0.0, 0.0, 0.0, 0.0)
    # one kink alone is one, however many there are
    assert s.diff("a", "a")(1.0, 2.0, 1.0, 5.0) == 1.0


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "slope"), [
    (lambda x: (x + 1) * np.sign(x) ** 2, 0.0),
    (lambda x: np.sign(x) ** 2 * x + np.sign(x) ** 4, 0.0),
    (lambda x: np.where(x < 1, np.sign(x) ** 2 * (2 + x), x), 0.0),
    (lambda x: np.sign(x) * np.sign(x) * np.cos(x - 1), 0.0),
    (lambda x: np.sign(x) * np.abs(x), 1.0),
    (lambda x: x * np.sign(x), 0.0),
    (lambda x: x * np.sign(x) ** 2, 1.0),
    (lambda x: np.sign(x) * np.sign(x) * math.sin(x), 1.0),
    (lambda x: abs(x) * np.sign(x) ** 3, 1.0),
    (lambda x: math.copysign(1.0, x) ** 2 * (x + 1), 1.0),
    (lambda x: np.heaviside(x, 0.5) ** 2 * (x + 1), 0.25),
    (lambda x: np.heaviside(x, 0.0) * (x + 1), 0.0),
])  # fmt: skip
def test_steps_of_users(f: Callable[..., float], slope: float) -> None:
    """As a step they have slope 0 and the value that Python gives, unless the sides join."""
    s = symgrad(f)
    assert s(0.0) == f(0.0)
    assert s.grad(0.0) == slope
    assert s.grad(np.array([0.0, 0.5]))[0] == slope


def test_the_square_of_a_continuous_product() -> None:
    s = symgrad(lambda x: (np.sign(x) * np.expm1(x)) ** 2)
    assert s.hessian(0.0) == pytest.approx(2.0, rel=1e-14)


@pytest.mark.slow
def test_kinks_that_do_not_depend_on_each_other_meet_without_a_question() -> None:
    """However many, at one point; those that are computed from others are asked about."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=40)

    def one_layer(w: Any) -> Any:
        return np.sum((np.sum(np.maximum(x @ w, 0.0), axis=1) - y) ** 2)

    def two_layers(w: Any) -> Any:
        return np.sum(np.maximum(np.sum(np.maximum(x @ w, 0.0), axis=1), 0.0))

    zero = np.zeros((3, 2))
    for f, want in ((one_layer, -np.tile((y @ x)[:, None], 2)), (two_layers, np.tile(x.sum(axis=0)[:, None] / 2, 2))):  # fmt: skip
        g = symgrad(f).grad
        g(rng.normal(size=(3, 2)))
        np.testing.assert_allclose(g(zero), want, rtol=1e-13)
