"""Derivatives where a formula is singular or has a kink: those that exist are there, those
that do not exist are not invented.

The truths were derived by hand, from one-sided limits of difference quotients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

from symdiff import symgrad
from symdiff.ir import NAN, apply, const, lt, var
from symdiff.ir.functions import MAXIMUM
from symdiff.passes.analysis.flat_regions import flat

inf = math.inf

SMOOTH_ENOUGH: dict[str, tuple[Callable[[Any], Any], tuple[float, float, float]]] = {
    "abs(x)**3": (lambda x: abs(x) ** 3, (0, 0, 0)),
    "abs(x)**2": (lambda x: abs(x) ** 2, (0, 0, 2)),
    "abs(x)**2.5": (lambda x: abs(x) ** 2.5, (0, 0, 0)),
    "abs(x)**1.5": (lambda x: abs(x) ** 1.5, (0, 0, inf)),
    "abs(x**3)": (lambda x: abs(x**3), (0, 0, 0)),
    "abs(sin(x))**3": (lambda x: abs(np.sin(x)) ** 3, (0, 0, 0)),
    "x**2*abs(x)": (lambda x: x**2 * abs(x), (0, 0, 0)),
    "abs(x)*(1-cos(x))": (lambda x: abs(x) * (1 - np.cos(x)), (0, 0, 0)),
    "x**3*sign(x)": (lambda x: x**3 * np.sign(x), (0, 0, 0)),
    "sqrt(x**2)**3": (lambda x: np.sqrt(x**2) ** 3, (0, 0, 0)),
    "sqrt(x**4)": (lambda x: np.sqrt(x**4), (0, 0, 2)),
    "sqrt(x**6)": (lambda x: np.sqrt(x**6), (0, 0, 0)),
    "(x**2)**1.5": (lambda x: (x**2) ** 1.5, (0, 0, 0)),
    "hypot(x, 0)**3": (lambda x: np.hypot(x, 0.0) ** 3, (0, 0, 0)),
    "max(x, 0)**3": (lambda x: max(x, 0) ** 3, (0, 0, 0)),
    "max(x**3, 0)": (lambda x: max(x**3, 0), (0, 0, 0)),
    "max(x, -x)**3": (lambda x: max(x, -x) ** 3, (0, 0, 0)),
    "min(x, 0)**4": (lambda x: min(x, 0) ** 4, (0, 0, 0)),
    "clip(x, 0, 1)**3": (lambda x: np.clip(x, 0.0, 1.0) ** 3, (0, 0, 0)),
    "x**3 or -x**3": (lambda x: x**3 if x > 0 else -(x**3), (0, 0, 0)),
    "cbrt(x)**6": (lambda x: np.cbrt(x) ** 6, (0, 0, 2)),
    "cbrt(x)**7": (lambda x: np.cbrt(x) ** 7, (0, 0, 0)),
    "cbrt(x)**4": (lambda x: np.cbrt(x) ** 4, (0, 0, inf)),
    "cos(abs(x))": (lambda x: np.cos(abs(x)), (1, 0, -1)),
    "exp(-abs(x)**3)": (lambda x: np.exp(-(abs(x) ** 3)), (1, 0, 0)),
    "sign(x)*abs(x)": (lambda x: np.sign(x) * abs(x), (0, 1, 0)),
    "max(x, 0)+log1p(exp(-abs(x)))": (
        lambda x: max(x, 0) + np.log1p(np.exp(-abs(x))),
        (math.log(2), 0.5, 0.25),
    ),
    "min(x, 0)-log1p(exp(-abs(x)))": (
        lambda x: min(x, 0) - np.log1p(np.exp(-abs(x))),
        (-math.log(2), 0.5, -0.25),
    ),
    "abs(x)+log1p(exp(-2*abs(x)))": (
        lambda x: abs(x) + np.log1p(np.exp(-2 * abs(x))),
        (math.log(2), 0, 1),
    ),
    "x**2*log(abs(x))": (lambda x: x**2 * np.log(abs(x)), (0, 0, -inf)),
    "x**3*log(abs(x))": (lambda x: x**3 * np.log(abs(x)), (0, 0, 0)),
    "x**3*atan(1/x)": (lambda x: x**3 * np.arctan(1 / x), (0, 0, 0)),
    "x**x": (lambda x: x**x, (1, -inf, inf)),
    "x**2.5": (lambda x: x**2.5, (0, 0, 0)),
    "x**1.5": (lambda x: x**1.5, (0, 0, inf)),
    "xlogy(x, x)": (lambda x: scipy.special.xlogy(x, x), (0, -inf, inf)),
    "xlogy(x**2, x)": (lambda x: scipy.special.xlogy(x**2, x), (0, 0, -inf)),
    "xlogy(x**3, x)": (lambda x: scipy.special.xlogy(x**3, x), (0, 0, 0)),
    "xlog1py(x, x)": (lambda x: scipy.special.xlog1py(x, x), (0, 0, 2)),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", SMOOTH_ENOUGH)
def test_at_zero(name: str) -> None:
    """f, f' and f'' at a kink or branch point of a part of f."""
    function, truth = SMOOTH_ENOUGH[name]
    f = symgrad(function)
    assert (f(0.0), f.grad(0.0), f.hessian(0.0)) == truth
    assert (f(np.zeros(3))[1], f.grad(np.zeros(3))[1], f.hessian(np.zeros(3))[1]) == truth


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("y", "by_x", "by_y", "mixed"),
    [
        (3.0, 0, 0, 0),
        (1.5, 0, 0, 0),
        (1.0, 1, 0, -inf),
        (0.5, inf, 0, -inf),
        (0.0, None, -inf, inf),
        (-1.0, -inf, -inf, inf),
    ],
)
def test_powers_of_zero(y: float, by_x: float | None, by_y: float, mixed: float) -> None:
    """x**y at x = 0, where d/dx d/dy tends to that of x**(y-1)*(1 + y*log(x))."""
    f = symgrad(lambda x, y: x**y)
    slopes = f.grad(0.0, y)
    assert by_x is None or slopes[0] == by_x
    assert slopes[1] == by_y
    ((_, upper), (lower, _)) = f.hessian(0.0, y)
    assert upper == lower == f.diff("x", "y")(0.0, y) == f.diff("y", "x")(0.0, y) == mixed


def test_a_product_with_a_logarithm_is_scipys() -> None:
    f = symgrad(lambda u, x: scipy.special.xlogy(u, x))
    g = symgrad(lambda u, x: scipy.special.xlog1py(u, x))
    for u, x in [(0.0, 2.0), (0.0, 0.0), (0.0, -3.0), (2.0, 0.0), (-2.0, 0.0), (1.5, 2.5)]:
        assert f(u, x) == pytest.approx(scipy.special.xlogy(u, x), rel=1e-15)
        assert g(u, x - 1) == pytest.approx(scipy.special.xlog1py(u, x - 1), rel=1e-15)
    assert f.grad(0.0, 2.0) == (math.log(2), 0.0)
    assert f.hessian(0.0, 2.0) == ((0.0, 0.5), (0.5, 0.0))


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y, w: math.sqrt(x * x + w * y * y),
        lambda x, y, w: math.sqrt(x * x + math.exp(w) * y * y),
        lambda x, y, w: math.sqrt(y * w * y + w * x * x * w),
    ],
)
def test_a_norm_with_weights_is_one(f: Callable[..., Any]) -> None:
    assert symgrad(f).grad(0.0, 0.0, 2.0) == (0.0, 0.0, 0.0)
    slopes = symgrad(f).grad(3.0, 0.0, 2.0)
    assert slopes[0] == pytest.approx((f(3 + 1e-6, 0.0, 2.0) - f(3 - 1e-6, 0.0, 2.0)) / 2e-6)


def test_a_form_that_is_not_positive_has_the_slopes_of_its_axes() -> None:
    f = symgrad(lambda x, y, w: math.sqrt(x * x + w * y * y))
    by_x, by_y, _ = f.grad(0.0, 0.0, -1.0)
    assert by_x == 0.0 and math.isnan(by_y)
    assert f.grad(0.0, 1.0, 0.0)[2] == f.grad(1.0, 1.0, -1.0)[0] == inf
    assert math.isnan(f.grad(0.0, 0.0, -2.0)[1])
    assert math.isnan(symgrad(lambda x, y: math.sqrt(x**2 - y**2)).grad(0.0, 0.0)[1])


@pytest.mark.slow
def test_no_count_has_no_slope() -> None:
    """d/dx u*log(x) is u/x, and 0 at u = 0 wherever the function is 0 of x >= 0; its derivatives
    by u are those of log(x)."""
    f = symgrad(lambda u, x: scipy.special.xlogy(u, x))
    assert f.grad(0.0, 0.0) == (-inf, 0.0)
    assert f.grad(2.0, 0.0) == (-inf, inf)
    assert f.hessian(0.0, 0.0) == ((0.0, inf), (inf, 0.0))
    assert f.diff("x", "x", "u")(0.0, 0.0) == -inf
    by_u, by_x = f.grad(np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 3.0]))
    assert by_u.tolist() == pytest.approx([-inf, -inf, math.log(3.0)], rel=1e-15)
    assert by_x.tolist() == [0.0, inf, 0.0]


def test_likelihoods_at_saturation() -> None:
    entropy = symgrad(
        lambda y, p: -scipy.special.xlogy(y, p) - scipy.special.xlog1py(1 - y, -p), wrt="p"
    )
    assert [entropy.grad(y, p) for y, p in ((0.0, 0.0), (1.0, 1.0), (0.0, 1e-300))] == [1, -1, 1]
    assert entropy.grad(1.0, 0.0) == -inf
    counts = symgrad(lambda k, rate: np.sum(rate - scipy.special.xlogy(k, rate)), wrt="rate")
    assert counts.grad(np.array([0.0, 2.0]), np.array([0.0, 1.0])).tolist() == [1.0, -1.0]


def black_scholes(s: Any, k: Any, t: Any, sigma: Any) -> Any:
    """A call, with the usual approximation of the normal distribution by tanh."""
    d1 = (np.log(s / k) + sigma * sigma * t / 2) / (sigma * np.sqrt(t))
    d2 = d1 - sigma * np.sqrt(t)
    n1 = 0.5 * (1 + np.tanh(0.7978845608028654 * (d1 + 0.044715 * d1 * d1 * d1)))
    n2 = 0.5 * (1 + np.tanh(0.7978845608028654 * (d2 + 0.044715 * d2 * d2 * d2)))
    return s * n1 - k * n2


@pytest.mark.slow
def test_second_derivatives_of_a_large_formula_at_its_limit() -> None:
    """At the money, with sigma = 0, the price is sigma times a bounded function of time: its
    derivatives by time are 0. What depends on the path, such as gamma, has no value."""
    hessian = symgrad(black_scholes).hessian(100.0, 100.0, 1.0, 0.0)
    assert hessian[2][2] == 0
    assert math.isnan(hessian[0][0]) and math.isnan(hessian[0][1])
    assert symgrad(black_scholes).hessian(90.0, 100.0, 1.0, 0.0)[3][3] == 0


# ------------------------------------------------------------------- angles of vectors
@pytest.mark.slow
def test_angles_at_the_origin_are_those_beside_it() -> None:
    """atan2(y, x) along a curve through the origin, or across the negative axis, where it
    jumps, and where it does not."""
    diagonal = symgrad(lambda y: math.atan2(y, y))
    for y in (1e-300, 1e-9, 1.0, -1e-9, -1.0):
        assert diagonal(y) == math.atan2(y, y)
    found = symgrad(lambda t: math.atan2(math.sin(t), t)).report().findings
    assert [f.kind for f in found] == ["jump"]
    halved = symgrad(lambda t: math.atan2(t, 1.0) / t)
    assert halved.report().findings[0].text == "t = 0 in atan2(t, 1)/t with 1, 0, -2/3"
    assert [halved(0.0), halved.grad(0.0), halved.hessian(0.0)] == [1, 0, -2 / 3]
    twice = symgrad(lambda t: math.atan2(t * t, 1 - math.cos(t)))
    assert twice(1e-8) == pytest.approx(math.atan(2), rel=1e-15)
    around = symgrad(lambda t: math.atan2(t, -1.0))
    assert around(1e-9) == math.atan2(1e-9, -1) and around(-1e-9) == math.atan2(-1e-9, -1)


@pytest.mark.slow
def test_stable_forms_of_smooth_functions_are_smooth_where_they_switch() -> None:
    f = symgrad(lambda x, y: np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y))))
    assert f.grad(1.0, 1.0) == (0.5, 0.5)
    assert f.hessian(1.0, 1.0) == ((0.25, -0.25), (-0.25, 0.25))
    loss = symgrad(lambda z, y: np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z))))
    assert loss.hessian(0.0, 1.0) == ((0.25, -1.0), (-1.0, 0.0))
    assert np.array_equal(loss.hessian(np.zeros(3), np.ones(3))[0][0], np.full(3, 0.25))
    assert loss.hvp((0.0, 1.0), (1.0, 0.0)) == (0.25, -1.0)


@pytest.mark.slow
@pytest.mark.parametrize("norm", [
    lambda *x: math.hypot(*x), lambda *x: np.hypot(np.hypot(x[0], x[1]), x[2]),
    lambda *x: np.linalg.norm([*x]), lambda *x: math.dist(x, (0, 0, 0)),
    lambda *x: np.sqrt(sum(v * v for v in x)),
], ids=["hypot", "nested", "linalg", "dist", "sqrt"])  # fmt: skip
def test_even_functions_of_norms_are_smooth_at_the_origin(norm: Any) -> None:
    def f(x, y, z):
        r = norm(x, y, z)
        return np.sin(r) / r

    g = symgrad(f)
    curved = -1 / 3
    diagonal = ((curved, 0.0, 0.0), (0.0, curved, 0.0), (0.0, 0.0, curved))
    assert g.hessian(0.0, 0.0, 0.0) == diagonal
    assert "filled" in str(g.report())
    assert g(1e200, 0.0, 0.0) == math.sin(1e200) / 1e200
    kinked = symgrad(lambda x, y, z: np.expm1(norm(x, y, z)) / norm(x, y, z))
    assert kinked.grad(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)


def haversine(a: float, b: float, c: float, d: float) -> float:
    s = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * math.asin(math.sqrt(s))


@pytest.mark.slow
def test_a_distance_with_factors_has_a_kink_where_it_vanishes() -> None:
    f = symgrad(haversine)
    assert f.grad(0.5, 0.25, 0.5, 0.25) == (0.0, 0.0, 0.0, 0.0)
    near = f.grad(0.5, 0.25, 0.5 + 2.0**-30, 0.25)
    assert near == pytest.approx((-1.0, 0.0, 1.0, 0.0), abs=1e-9)


def _third(square: Any) -> Any:
    """(t - sin(t))/t**3."""
    t = np.sqrt(square)
    return (t - np.sin(t)) / (square * t)


@pytest.mark.slow
def test_coefficients_beside_branches_over_arrays_are_completed() -> None:
    """A quotient whose divisor is a product is one function of the norm, whatever it is multiplied by."""

    def moved(w: Any, v: Any) -> Any:
        turned = np.cross(w, v)
        return v + _third(w @ w) * np.cross(w, turned)

    def bent(w: Any) -> Any:
        return _third(w @ w) * np.where(w > 5, w * w, w * w - w)

    v = np.array([0.4, -0.5, 0.6])
    assert np.array_equal(symgrad(moved, wrt=["w"]).jacobian(np.zeros(3), v), np.zeros((3, 3)))
    np.testing.assert_allclose(symgrad(bent).jacobian(np.zeros(2)), -np.eye(2) / 6, rtol=1e-15)


# --- quotients whose two sides are zero throughout a region
X = np.array([-1.5, 0.25, 2.0])

THROUGHOUT = [
    lambda x: np.maximum(x, 0) / np.maximum(x, 0),
    lambda x: np.maximum(x, 0) ** 2 / np.maximum(x, 0),
    lambda x: np.sin(np.maximum(x, 0)) / np.maximum(x, 0),
    lambda x: (np.exp(np.maximum(x, 0)) - 1) / np.maximum(x, 0),
    lambda x: np.log(1 + np.maximum(x, 0)) / np.maximum(x, 0),
    lambda x: np.maximum(x, 0) * (1 / np.maximum(x, 0)),
    lambda x: 0 * x / np.minimum(np.minimum(x, 0), 0),
    lambda x: np.where(x > 0, x, 0.0) / np.where(x > 0, x, 0.0),
    lambda x: x * (x > 0) / (x > 0),
    lambda x: (x + np.abs(x)) / (x + np.abs(x)),
    lambda x: (x * x - x * np.abs(x)) / (x - np.abs(x)),
    lambda x: np.floor(x) / np.floor(x),
    lambda x: (x - x % 1) / (x - x % 1),
    lambda x: np.trunc(x) / np.trunc(x),
    lambda x: np.heaviside(x, 0.0) / np.heaviside(x, 0.0),
    lambda x: np.where(x > -2, np.maximum(x, 0) / np.maximum(x, 0), x),
    lambda x: np.sqrt(np.maximum(x, 0)) / np.maximum(x, 0),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", THROUGHOUT)
def test_nan_where_both_are_zero_throughout(f: Callable[[Any], Any]) -> None:
    expected = f(X)
    assert np.isnan(expected).any()
    np.testing.assert_allclose(symgrad(f)(X), expected, rtol=1e-14)
    if f is not THROUGHOUT[-2]:
        total = symgrad(lambda x: np.sum(f(x)))
        np.testing.assert_allclose(total(X[1:]), np.sum(f(X[1:])), rtol=1e-14)
        assert np.isnan(total(X)) == np.isnan(np.sum(expected))


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.sin(x) / x, 1.0),
        (lambda x: np.abs(x) ** 3 / np.abs(x), 0.0),
        (lambda x: np.sin(np.maximum(x, -1)) / np.maximum(x, -1), 1.0),
        (lambda x: np.where(x > -1, x, 7.0) / np.where(x > -1, x, 7.0), 1.0),
        (lambda x: (0.0 if x in (0, 1) else x) / (0.0 if x in (0, 1) else x), 1.0),
        (lambda x: np.exp(-1 / np.maximum(1 - (1 + x) ** 2, 0)), 0.0),
        (lambda x: 1 / np.maximum(x, 0), np.inf),
        (lambda x: np.where(x > 0, np.maximum(x, 0) / np.maximum(x, 0), 5.0), 5.0),
    ],
)
def test_limits_at_points_and_poles_stay(f: Callable[[Any], Any], expected: float) -> None:
    assert symgrad(f)(0.0) == expected


def test_flat_regions() -> None:
    x, y = var("x"), var("y")
    assert flat(MAXIMUM_OF_X * y) is lt(x, 0)
    assert flat(MAXIMUM_OF_X + y).value is False
    assert flat(x * y).value is False
    assert flat(NAN).value is False


MAXIMUM_OF_X = apply(MAXIMUM, var("x"), const(0))
