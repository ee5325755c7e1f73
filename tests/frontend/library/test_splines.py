"""Interpolants of traced values: of few points, of several values, of sizes that are not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.interpolate import (
    CubicSpline,
    InterpolatedUnivariateSpline,
    PchipInterpolator,
    make_interp_spline,
)

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

X = np.array([0.0, 0.5, 1.25, 1.5, 2.5, 3.0])
Y = np.array([0.1, 0.4, 0.2, 0.9, 0.3, 0.7])
Q = np.array([-0.3, 0.0, 0.7, 1.3, 2.9, 3.5])
PAIRS = Y.reshape(3, 2)

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "two_points": (lambda y, q: CubicSpline(X[:2], y)(q), (Y[:2], 0.3)),
    "three_points": (lambda y, q: np.sum(CubicSpline(X[:3], y)(q) ** 2), (Y[:3], Q)),
    "three_clamped": (lambda y: CubicSpline(X[:3], y, bc_type="clamped")(0.7), (Y[:3],)),
    "rows": (lambda y: np.sum(CubicSpline(X[:3], y)(Q) ** 2), (PAIRS,)),
    "row": (lambda y, q: np.sum(CubicSpline(X[:3], y, bc_type="natural")(q) ** 2), (PAIRS, 0.3)),
    "integral_of_rows": (lambda y: np.sum(CubicSpline(X[:3], y).integrate(0.2, 1.7) ** 2), (PAIRS,)),
    "pchip_of_rows": (lambda y: np.sum(PchipInterpolator(X[:3], y)(Q) ** 2), (PAIRS,)),
    "any_size": (lambda y, q: CubicSpline(np.arange(len(y)) * 0.5, y)(q), (Y, 1.7)),
    "places": (lambda x: np.sum(CubicSpline(x, Y, bc_type="natural")(Q) ** 2), (X,)),
    "pairs": (
        lambda y, v: make_interp_spline(X, y, bc_type=([(1, v)], [(2, 0.2)]))(0.7),
        (Y, 0.4),
    ),
    "univariate": (lambda y, q: InterpolatedUnivariateSpline(X, y)(q) ** 2, (Y, 1.3)),
    "antiderivative": (lambda y: CubicSpline(X, y).antiderivative(2)(2.2), (Y,)),
    "fourth": (lambda y: CubicSpline(X, y).derivative(4)(0.3) + y[0], (Y,)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    f, args = CASES[name]
    check(f, *args)


@pytest.mark.slow
def test_slopes_are_those_of_a_linear_function() -> None:
    """A spline is linear in its values: the gradient consists of the splines of unit vectors."""
    units = np.eye(len(X))
    g = symgrad(lambda y: CubicSpline(X, y)(1.1)).grad(Y)
    assert g == pytest.approx(CubicSpline(X, units)(1.1), rel=1e-13)


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda y: CubicSpline(X, y, bc_type="periodic")(0.1), "the condition periodic"),
        (lambda y: make_interp_spline(X, y, k=5)(0.1), "k=3 and 1"),
        (lambda y: CubicSpline(X[:2], y.reshape(3, 2), axis=1)(0.1)[0], "along the first"),
    ],
)
def test_refused(f: Any, text: str) -> None:
    with pytest.raises(UnsupportedError, match=text):
        symgrad(f)(Y)
