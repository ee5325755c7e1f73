"""Derivatives at kinks: where both sides have one derivative, that is it; else the mean, in every call. Where kinks
meet: the derivative that all sides have, and none that no side has."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as sc

from symdiff import symgrad
from tests.beside import beside


def smooth_min(a: float, b: float, k: float = 0.1) -> float:
    h = max(k - abs(a - b), 0.0) / k
    return min(a, b) - h * h * h * k / 6.0


def smooth_min2(a: float, b: float, k: float = 0.1) -> float:
    h = max(k - abs(a - b), 0.0)
    return min(a, b) - h * h * 0.25 / k


@pytest.mark.slow
@pytest.mark.parametrize(("f", "curvature"), [(smooth_min, 10.0), (smooth_min2, 5.0)])
def test_polynomial_smooth_minimum(f: Callable[..., float], curvature: float) -> None:
    s = symgrad(f, wrt=("a", "b"))
    want = pytest.approx(-curvature, rel=1e-14), pytest.approx(curvature, rel=1e-14)
    assert s.grad(0.3, 0.3) == (0.5, 0.5)
    assert s.hessian(0.3, 0.3) == (want, want[::-1])
    assert s.diff("a", "a")(0.3, 0.3) == want[0]
    assert s.grad.jvp((0.3, 0.3), (1.0, 0.0))[1] == want
    assert s.hvp((0.3, 0.3), (1.0, 0.0)) == want


SMOOTH: list[tuple[Callable[..., float], float]] = [
    (lambda x: max(x, 0.0) ** 2 + min(x, 0.0) ** 2, 2.0),
    (lambda x: max(x, 0.0) ** 2 + max(-x, 0.0) ** 2, 2.0),
    (lambda x: max(x, 0.0) * abs(x) + max(-x, 0.0) * abs(x), 2.0),
    (lambda x: max(x, 0.0) * max(-x, 0.0), 0.0),
    (lambda x: math.exp(max(x, 0.0)) + math.exp(min(x, 0.0)), 1.0),
    (lambda x: math.cosh(max(x, -x)), 1.0),
    (lambda x: max(abs(x), 0.0) ** 2, 2.0),
    (lambda x: abs(x) * abs(-2 * x), 4.0),
    (lambda x: (x + abs(x)) ** 2 + (x - abs(x)) ** 2, 8.0),
    (lambda x: np.clip(x, 0, 1) ** 2 + np.clip(x, -1, 0) ** 2, 2.0),
    (lambda x: max(x, 0.0) - abs(max(x, 0.0)), 0.0),
    (lambda x: max(x, 0.0) ** 2, 1.0),  # the mean of 0 and 2
    (lambda x: math.log(1 + max(x, 0.0) ** 2) + math.log(1 + min(x, 0.0) ** 2), 2.0),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "curvature"), SMOOTH, ids=range(len(SMOOTH)))
def test_second_derivatives_are_the_mean_of_the_sides(
    f: Callable[..., float], curvature: float
) -> None:
    g = symgrad(f, wrt="x")
    assert g.hessian(0.0) == curvature
    assert g.diff("x", "x")(0.0) == g.grad.grad(0.0) == curvature
    assert g.hessian(np.array([0.0, 0.0]))[1] == curvature
    sides = [g.hessian(s * 1e-9) for s in (1, -1)]
    assert sum(sides) / 2 == pytest.approx(curvature, abs=1e-7)


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "curvature"), [
    (lambda x: sc.i0e(x) ** 2, 5.0),
    (lambda x: np.log(sc.i0e(x)) + x, 0.5),  # a density of von Mises, by its concentration
    (lambda x: np.sqrt(sc.i0e(x)) * (1 + x), 0.5),
    (lambda x: sc.i1e(x) / sc.i0e(x), 0.0),
])  # fmt: skip
def test_second_derivatives_of_scaled_bessel_functions(
    f: Callable[..., float], curvature: float
) -> None:
    g = symgrad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert g.hessian(0.0) == g.diff("x", "x")(0.0) == curvature
        sides = [g.hessian(s * 1e-9) for s in (1, -1)]
    assert sum(sides) / 2 == pytest.approx(curvature, abs=1e-7)


def test_kinks_of_kinks() -> None:
    assert symgrad(lambda x: np.maximum(max(x, 0.0), 0.0)).grad(0.0) == 0.5
    assert symgrad(lambda x: max(x, 0.0) - abs(max(x, 0.0))).grad(0.0) == 0.0


def logsumexp(x: float, y: float) -> float:
    m = max(x, y)
    return m + math.log1p(math.exp(min(x, y) - m))


def test_two_variables() -> None:
    assert symgrad(logsumexp).hessian(1.0, 1.0) == ((0.25, -0.25), (-0.25, 0.25))
    both = symgrad(lambda x, y: max(x, y) * min(x, y))
    assert both.hessian(1.0, 1.0) == ((0.0, 1.0), (1.0, 0.0))


@pytest.mark.slow
def test_arrays() -> None:
    f = symgrad(lambda v: np.sum(np.maximum(v, 0) + np.log1p(np.exp(-np.abs(v)))))
    assert f.hessian(np.array([0.0, 30.0]))[0, 0] == 0.25
    g = symgrad(lambda v: sum(max(x, 0.0) ** 2 + min(x, 0.0) ** 2 for x in v))
    assert g.hessian(np.array([0.0, 1.0])).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert g.hvp(np.zeros(2), np.array([1.0, 3.0])).tolist() == [2.0, 6.0]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "point", "slope"),
    [
        (lambda x: np.abs(x - 1) * sc.digamma(x), 1.0, 0.0),
        (lambda x: sc.digamma(np.abs(x - 1) + 1), 1.0, 0.0),
        (lambda x: np.maximum(x, 1.0) * sc.polygamma(1, x), 1.0, math.pi**2 / 12 - 2 * sc.zeta(3)),
    ],
)
def test_functions_with_an_order(f: Callable[..., float], point: float, slope: float) -> None:
    assert symgrad(f).grad(point) == pytest.approx(slope, rel=1e-14)
    total = symgrad(lambda v: np.sum(f(v)))
    assert total.grad(np.array([point, 2.5]))[0] == pytest.approx(slope, rel=1e-14)


# --- compiled entries serve later calls
def logs(y: Any) -> Any:
    return np.sum(np.log(1.0 + np.abs(np.maximum(0.0, y - 1))))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("accuracy", ["high", "strict", "certified"])
@pytest.mark.parametrize("size", [1, 2])
def test_all_calls_have_the_mean_of_both_sides(accuracy: str, size: int) -> None:
    gradient = symgrad(logs, accuracy=accuracy).grad
    for _ in range(6):
        np.testing.assert_array_equal(gradient(np.full(size, 1.0)), np.full(size, 0.5))
        np.testing.assert_allclose(gradient(np.full(size, 3.0)), np.full(size, 1 / 3), rtol=1e-15)


def test_sizes_after_the_first_calls() -> None:
    gradient = symgrad(logs).grad
    for size in (3, 3, 3, 3, 4, 4, 1, 3, 4, 2, 5, 6):
        np.testing.assert_array_equal(gradient(np.full(size, 1.0)), np.full(size, 0.5))


# --- kinks in formulas that a parameter completes
L256 = math.log(256.0)

ODD: list[tuple[Callable[..., float], tuple[float, ...], float]] = [
    (lambda x, m: np.sign(x) * np.log1p(m * np.abs(x)) / np.log1p(m), (255.0,), 255.0 / L256),
    (lambda x, m: math.copysign(math.log1p(m * abs(x)) / math.log1p(m), x), (255.0,), 255 / L256),
    (lambda y, m: np.sign(y) * ((1 + m) ** np.abs(y) - 1) / m, (255.0,), L256 / 255),
    (lambda x, m: np.sign(x) * np.expm1(m * np.abs(x)) / m, (0.0,), 1.0),
    (lambda x, m: math.copysign(math.expm1(m * abs(x)), x), (-2.0,), 2.0),
    (lambda x, p: math.copysign(((1 + abs(x)) ** p - 1) / p, x), (0.0,), 1.0),
    (lambda x, p: np.sign(x) * (np.log1p(np.abs(x)) if p == 0 else ((1 + np.abs(x)) ** p - 1) / p), (0.0,), 1.0),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "others", "slope"), ODD)
def test_odd_functions_have_the_slope_of_both_sides(
    f: Callable[..., float], others: tuple[float, ...], slope: float
) -> None:
    s = symgrad(f)
    assert s.grad(0.0, *others)[0] == pytest.approx(slope, rel=1e-14)
    assert s.grad(1e-12, *others)[0] == pytest.approx(slope, rel=1e-8)
    assert s.grad(-1e-12, *others)[0] == pytest.approx(slope, rel=1e-8)


BENT: list[tuple[Callable[..., float], float]] = [
    (lambda x, m: abs(x) * math.log1p(m * abs(x)) / m, 2.0),
    (lambda x, m: math.log1p(m * max(x, 0.0) ** 2) / m, 1.0),
    (lambda x, m: math.log1p(m * abs(x)) / m, -2.0),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "bend"), BENT)
def test_second_derivatives_are_means_of_both_sides(f: Callable[..., float], bend: float) -> None:
    assert symgrad(f).hessian(0.0, 2.0)[0][0] == pytest.approx(bend, rel=1e-14)


# --- a derivative of a derivative is the second derivative, however it is asked for
KINKED = {
    "exp": (lambda x: math.exp(-abs(x)), 1.0),
    "log1p": (lambda x: math.log1p(abs(x)), -1.0),
    "softplus": (lambda x: max(x, 0) + np.log1p(np.exp(-abs(x))), 0.25),
    "root of a square": (lambda x: math.exp(-math.sqrt(x * x)), 1.0),
    "square of a maximum": (lambda x: max(x, 0) ** 2, 1.0),
    "step": (lambda x: (x + 1) * np.sign(x) ** 2, 0.0),
    "step and slope": (lambda x: np.sign(x) * math.exp(-abs(x)), 0.0),
    "signed square": (lambda x: x * abs(x), 0.0),
}
"""Functions and their second derivatives at 0: the mean of both sides, or of the step that is written."""


@pytest.mark.sampled
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", KINKED)
def test_at_kinks(name: str) -> None:
    plain, bend = KINKED[name]
    f = symgrad(plain)
    slope = symgrad(lambda x: f.grad(x))
    assert f.hessian(0.0) == f.grad.grad(0.0) == f.diff("x").grad(0.0) == bend
    assert slope.grad(0.0) == slope.grad(np.zeros(2))[0] == bend


@pytest.mark.filterwarnings("error")
def test_fourth_derivative() -> None:
    f = symgrad(lambda x: math.exp(-abs(x)))
    assert f.grad.grad.grad.grad(0.0) == f.hessian.hessian(0.0) == f.diff(*"xxxx")(0.0) == 1.0


def test_poles_that_cancel_in_a_band() -> None:
    f = symgrad(lambda x, a: a * x / 3 if abs(x) < 1e-4 else a * (1 / math.tanh(x) - 1 / x))
    assert f.hessian(0.0, 2.0) == ((0.0, 1 / 3), (1 / 3, 0.0))


def test_where_nothing_proves_which_sides_there_are() -> None:
    f = symgrad(lambda x, y: max(x**2, y**2))
    assert math.isnan(f.hessian(0.0, 0.0)[0][0])
    assert math.isnan(f.grad.jacobian(0.0, 0.0)[0][0])


@pytest.mark.slow
def test_several_variables() -> None:
    f = symgrad(lambda x, y: math.exp(-abs(x) * abs(y) - abs(x - y)))
    for at in ((0.0, 0.0), (1.0, 1.0)):
        assert (
            f.hessian(*at)
            == f.grad.jacobian(*at)
            == symgrad(lambda x, y: f.grad(x, y)).jacobian(*at)
        )


@pytest.mark.slow
def test_of_arrays() -> None:
    f = symgrad(lambda x: np.sum(np.exp(-np.abs(x))) * (1 + x[0]))
    g = symgrad(lambda x: f.grad(x))
    assert f.hessian(np.zeros(2)).tolist() == g.jacobian(np.zeros(2)).tolist() == np.eye(2).tolist()


@pytest.mark.slow
def test_values_of_powers_at_zero_in_other_functions() -> None:
    f = symgrad(lambda x, k: x ** (k - 1) * math.exp(-x))
    twice = symgrad(lambda x, k: 2 * f.grad(x, k)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert twice(0.0, 1.0) == -2.0
        assert twice(np.zeros(2), 1.0).tolist() == [-2.0, -2.0]
        assert twice.grad(0.0, 1.0)[0] == 2 * f.hessian(0.0, 1.0)[0][0] == 2.0


# --- where kinks meet
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
