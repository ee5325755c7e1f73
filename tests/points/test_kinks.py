"""Derivatives at kinks: where both sides have one derivative, that is it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import scipy.special as sc

from symdiff import symgrad


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


def twice(x: float) -> float:
    return math.log(1 + max(x, 0.0) ** 2) + math.log(1 + min(x, 0.0) ** 2)


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
    (twice, 2.0),
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
