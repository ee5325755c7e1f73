"""Windows, splines by their knots, grids and polynomials by their roots, as NumPy and SciPy have them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.signal
from numpy.lib.stride_tricks import sliding_window_view
from scipy.interpolate import BSpline, RegularGridInterpolator

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

rng = np.random.default_rng(5)
IMAGE, STACK, KERNEL = rng.normal(size=(4, 5)), rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 2))
KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0])
COEFFICIENTS = rng.normal(size=6)
SPLINE = BSpline(KNOTS, COEFFICIENTS, 3)
ENDED = BSpline(KNOTS, COEFFICIENTS, 3, extrapolate=False)
GRID = np.array([0.0, 0.5, 2.0]), np.array([-1.0, 0.0, 0.5, 3.0])
TABLE = rng.normal(size=(3, 4))
ON_GRID = RegularGridInterpolator(GRID, TABLE)
BEYOND = RegularGridInterpolator(GRID, TABLE, bounds_error=False, fill_value=None)
ROOTS = np.array([0.5, -1.5, 2.0])


def convolved(boundary: str, mode: str, fill: float = 0.0) -> Any:
    def f(x: Any, k: Any) -> Any:
        return np.sum(scipy.signal.convolve2d(x, k, mode, boundary, fill) ** 2)

    return f


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "windows_of_axes": (
        lambda x: np.sum(sliding_window_view(x, (2, 3), axis=(1, 2)).max(axis=(-2, -1))), (STACK,)),
    "windows_of_all_axes": (lambda x: np.sum(sliding_window_view(x, (2, 3))[1, 0] ** 2), (IMAGE,)),
    "windows_of_last_axes": (
        lambda x: np.sum(np.prod(sliding_window_view(x, (2, 2), (-1, 0)), axis=-1)), (IMAGE,)),
    "wrapped": (convolved("wrap", "same"), (IMAGE, KERNEL)),
    "mirrored": (convolved("symm", "full"), (IMAGE, KERNEL)),
    "filled": (convolved("fill", "full", 1.5), (IMAGE, KERNEL)),
    "filled_valid": (convolved("fill", "valid", 1.5), (IMAGE, KERNEL)),
    "spline": (lambda c, x: np.sum(BSpline(KNOTS, c, 3)(x) ** 2), (COEFFICIENTS, np.array([0.3, 1.7]))),
    "slope_of_spline": (lambda c, x: BSpline(KNOTS, c, 3).derivative()(x), (COEFFICIENTS, 1.3)),
    "captured_spline": (lambda x: SPLINE(x) * SPLINE(x, 2), (1.3,)),
    "grid": (
        lambda v, p: np.sum(RegularGridInterpolator(GRID, v)(p) ** 2),
        (TABLE, np.array([[0.2, 0.1], [1.9, 2.0], [0.7, -0.5]]))),
    "coordinates": (lambda x, y: BEYOND((x, y)), (2.5, -1.5)),
    "captured_grid": (lambda p: ON_GRID(p)[0], (np.array([0.7, 0.2]),)),
    "polynomial": (lambda r: np.sum(np.poly(r) ** 2), (ROOTS,)),
    "vectorised_root": (
        lambda a: scipy.optimize.brentq(lambda t: np.sum(a * np.exp(-a * t)) - 1.0, 0.0, 10.0),
        (np.array([1.0, 2.0, 3.0]),)),
}  # fmt: skip


@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    f, args = CASES[name]
    check(f, *args)


@pytest.mark.slow
def test_outside_of_knots_and_grids() -> None:
    assert math.isnan(symgrad(lambda x: ENDED(x))(3.5))
    assert symgrad(lambda x: ENDED(x, extrapolate=True))(3.5) == pytest.approx(SPLINE(3.5))
    with pytest.raises(ValueError, match="out of bounds of the grid"):
        symgrad(lambda p: ON_GRID(p)[0])(np.array([3.0, 0.0]))
    near = RegularGridInterpolator(GRID, TABLE, "nearest", False, -7.0)
    points = np.array([[0.25, 0.3], [0.26, 0.2], [9.0, 0.0]])
    np.testing.assert_array_equal(symgrad(lambda p: near(p))(points), near(points))


@pytest.mark.parametrize(("f", "args", "message"), [
    (lambda x, k: scipy.signal.convolve2d(x, k, boundary="reflect"), (IMAGE, KERNEL),
     r"the boundary of convolve2d\(\) is 'fill', 'wrap' or 'symm'"),
    (lambda x: sum(v * v for v in np.nditer(x)), (ROOTS,), r"loop over a\.flat"),
    (lambda x: np.roots(x), (ROOTS,), "which of its results are real differs"),
    (lambda x: np.poly(x)[0], (np.eye(2),), r"np\.poly\(\) of a matrix is not supported"),
    (lambda x: BSpline(KNOTS, x, 3, "periodic")(0.5), (COEFFICIENTS,), "extrapolate='periodic'"),
    (lambda x: RegularGridInterpolator(GRID, x, "cubic")((0.1, 0.1)), (TABLE,), "'linear' or 'nearest'"),
])  # fmt: skip
def test_what_is_refused_says_which_argument(f: Any, args: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(*args)


def test_the_hint_for_nditer() -> None:
    assert symgrad(lambda a: sum(v**2 for v in a.flat)).grad(ROOTS) == pytest.approx(2 * ROOTS)
