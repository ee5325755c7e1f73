"""Functions of SciPy in terms of NumPy's, windows, filters, grids and equations of matrices: values as SciPy's,
slopes as differences of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.spatial.distance
from numpy.lib.stride_tricks import sliding_window_view
from scipy.interpolate import BSpline, RegularGridInterpolator

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

X = np.array([0.1, 0.4, 0.2, 0.9, 0.3])
EVEN = np.array([0.1, 0.4, 0.2, 0.9, 0.3, 0.7])
M = np.array([[2.0, 0.3, 0.1], [0.1, 1.5, -0.4], [0.6, -0.2, 0.8]])
AT = np.array([0.0, 0.5, 1.25, 1.5, 2.5, 3.0])
CUBIC = scipy.interpolate.CubicSpline([0, 1, 2, 3.0], [1, 2, 0, 1.0])
PERIODIC = scipy.interpolate.CubicSpline([0, 1, 2.0], [1, 2, 1.0], bc_type="periodic")
PCHIP = scipy.interpolate.PchipInterpolator([0, 1, 2, 3.0], [1, 2, 0, 1.0])

CASES: dict[str, tuple[Any, np.ndarray]] = {
    "simpson_odd": (lambda x: scipy.integrate.simpson(x, dx=0.1), X),
    "simpson_even": (lambda x: scipy.integrate.simpson(x, dx=0.1), EVEN),
    "simpson_at": (lambda x: scipy.integrate.simpson(x**2, x=AT), EVEN),
    "simpson_rows": (lambda m: np.sum(scipy.integrate.simpson(m, axis=0) ** 2), M),
    "trapezoid": (lambda x: scipy.integrate.trapezoid(x**2, AT), EVEN),
    "cumulative": (lambda x: np.sum(scipy.integrate.cumulative_trapezoid(x, initial=0) ** 2), X),
    "cdist": (lambda m: np.sum(scipy.spatial.distance.cdist(m, m + 1.0)), M),
    "cityblock": (lambda m: np.sum(scipy.spatial.distance.cdist(m, m**2, "cityblock") ** 2), M),
    "pdist": (lambda m: np.sum(scipy.spatial.distance.pdist(m)), M),
    "convolve2d": (lambda m: np.sum(scipy.signal.convolve2d(m, m[:2, :2], mode="same") ** 2), M),
    "lfilter": (lambda x: np.sum(scipy.signal.lfilter([1.0, 0.5], [2.0, -0.2, 0.1], x) ** 2), X),
    "expm": (lambda m: np.sum(scipy.linalg.expm(m)), M),
    "expm_large": (lambda m: np.sum(scipy.linalg.expm(5.0 * m)), M),
    "cubic": (lambda x: np.sum(CUBIC(4.0 * x)) + CUBIC(x[0], 1), X),
    "pchip": (lambda x: PCHIP(x[0] + 2.0) * PCHIP(x[1]), X),
    "grid": (lambda x: np.sum(np.mgrid[0:3, 0:2][0] * x[0] + np.ogrid[0:4][3] * x[1]), X),
}


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("f", "x"), CASES.values(), ids=CASES)
def test_values_and_slopes(f: Any, x: Any) -> None:
    check(f, x, value=1e-12, near=1e-8)


@pytest.mark.slow
def test_exponentials_of_small_and_nilpotent_matrices() -> None:
    n = np.array([[0.0, 3.0], [0.0, 0.0]])
    assert symgrad(lambda a: scipy.linalg.expm(a))(n).tolist() == [[1.0, 3.0], [0.0, 1.0]]
    slopes = symgrad(lambda a: scipy.linalg.expm(a)[0, 0]).grad(np.zeros((2, 2)))
    np.testing.assert_allclose(slopes, [[1.0, 0.0], [0.0, 0.0]], atol=1e-16)


# --------------------------------- windows of traced sizes, and filters along one axis
SIGNAL = np.array([1.0, 2.0, 3.5, 2.0, 1.5, 2.2, 0.3])
IMAGE = np.array([[2.0, 0.3, 0.1], [0.1, 1.5, -0.4], [0.6, -0.2, 0.8], [1.0, 2.0, 3.0]])
W = np.array([1.0, 2.0, 0.5])

WINDOWS: dict[str, Any] = {
    "hanning": lambda v: np.sum(np.hanning(len(v)) * v**2),
    "hamming": lambda v: np.sum(np.hamming(len(v)) * v**2),
    "blackman": lambda v: np.sum(np.blackman(len(v)) * v**2),
    "bartlett": lambda v: np.sum(np.bartlett(len(v)) * v**2),
    "kaiser": lambda v: np.sum(np.kaiser(len(v), 8.6) * v**2),
    "get_window": lambda v: np.sum(scipy.signal.get_window("hann", len(v)) * v**2),
    "periodic": lambda v: np.sum(scipy.signal.windows.kaiser(len(v), 8.6, sym=False) * v**2),
    "symmetric": lambda v: np.sum(scipy.signal.windows.hamming(len(v)) * v**2),
}
FILTERS: dict[str, tuple[Any, np.ndarray]] = {
    "gaussian": (lambda v: np.sum(scipy.ndimage.gaussian_filter1d(v, 1.3) ** 2), SIGNAL),
    "gaussian_rows": (lambda m: np.sum(scipy.ndimage.gaussian_filter(m, 0.7) ** 3), IMAGE),
    "convolve": (lambda v: np.sum(scipy.ndimage.convolve1d(v, W) ** 2), SIGNAL),
    "convolve_even": (lambda v: np.sum(scipy.ndimage.convolve1d(v, W[:2]) ** 2), SIGNAL),
    "uniform": (lambda v: np.sum(scipy.ndimage.uniform_filter1d(v, 4) ** 2), SIGNAL),
    "uniform_rows": (lambda m: np.sum(scipy.ndimage.uniform_filter(m, 3) ** 3), IMAGE),
    "axis": (lambda m: np.sum(scipy.ndimage.correlate1d(m, W, axis=0) ** 2 * IMAGE), IMAGE),
    **{
        mode: (
            lambda v, mode=mode: np.sum(
                scipy.ndimage.correlate1d(v, W, mode=mode, cval=2.0) ** 2 * SIGNAL
            ),
            SIGNAL,
        )
        for mode in ("nearest", "constant", "mirror", "wrap", "reflect")
    },
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name: str) -> None:
    f = WINDOWS[name]
    g = symgrad(f)
    for n in (1, 2, 7, 8):
        v = np.linspace(0.5, 2.0, n)
        assert g(v) == pytest.approx(f(v), rel=1e-13, abs=1e-15)
        assert g.grad(v) == pytest.approx(2 * v * weights(f, n), rel=1e-12, abs=1e-15)


def weights(f: Any, n: int) -> np.ndarray:
    return np.array([f(row) for row in np.eye(n)])


def test_shape_of_a_window() -> None:
    check(lambda v, b: np.sum(np.kaiser(len(v), b) * v), SIGNAL, 2.5)


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "x"), FILTERS.values(), ids=FILTERS)
def test_filters(f: Any, x: Any) -> None:
    check(f, x)


# ----------------------------- windows of arrays, splines by their knots, grids, polynomials
rng = np.random.default_rng(5)
PICTURE, STACK, KERNEL = (
    rng.normal(size=(4, 5)),
    rng.normal(size=(2, 3, 4)),
    rng.normal(size=(3, 2)),
)
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


ON_GRIDS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "windows_of_axes": (
        lambda x: np.sum(sliding_window_view(x, (2, 3), axis=(1, 2)).max(axis=(-2, -1))), (STACK,)),
    "windows_of_all_axes": (lambda x: np.sum(sliding_window_view(x, (2, 3))[1, 0] ** 2), (PICTURE,)),
    "windows_of_last_axes": (
        lambda x: np.sum(np.prod(sliding_window_view(x, (2, 2), (-1, 0)), axis=-1)), (PICTURE,)),
    "wrapped": (convolved("wrap", "same"), (PICTURE, KERNEL)),
    "mirrored": (convolved("symm", "full"), (PICTURE, KERNEL)),
    "filled": (convolved("fill", "full", 1.5), (PICTURE, KERNEL)),
    "filled_valid": (convolved("fill", "valid", 1.5), (PICTURE, KERNEL)),
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
@pytest.mark.parametrize(("f", "args"), ON_GRIDS.values(), ids=ON_GRIDS)
def test_grids_and_windows(f: Any, args: Any) -> None:
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


def test_the_hint_for_nditer() -> None:
    assert symgrad(lambda a: sum(v**2 for v in a.flat)).grad(ROOTS) == pytest.approx(2 * ROOTS)


# ------------------------ equations of Lyapunov and Riccati, and generalised eigenvalues
DRIFT = np.array([[0.4, 0.1], [-0.3, 0.7]])
B = np.array([[1.0], [0.4]])
S = np.array([[2.0, 0.3], [0.3, 1.0]])
K = np.array([[4.0, 1.0], [1.0, 3.0]])
R = np.array([[1.5]])
UNSTABLE = np.array([[1.2, 1.0], [0.1, 0.9]])

EQUATIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "sylvester": (lambda a, b: np.sum(scipy.linalg.solve_sylvester(a, b, DRIFT) ** 2), (K, S)),
    "continuous_lyapunov": (
        lambda a, q: np.sum(scipy.linalg.solve_continuous_lyapunov(a, q) * K), (DRIFT, S),
    ),
    "discrete_lyapunov": (
        lambda a, q: np.sum(scipy.linalg.solve_discrete_lyapunov(a, q) * K), (DRIFT, S),
    ),
    "continuous_riccati": (
        lambda a, b: np.sum(scipy.linalg.solve_continuous_are(a, b, S, R) * K), (UNSTABLE, B),
    ),
    "discrete_riccati": (
        lambda a, b: np.sum(scipy.linalg.solve_discrete_are(a, b, S, R) * K), (UNSTABLE, B),
    ),
    "values": (lambda a, b: scipy.linalg.eigh(a, b, eigvals_only=True)[0], (K, S)),
    "only_values": (lambda a, b: scipy.linalg.eigvalsh(a, b)[1], (K, S)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "args"), EQUATIONS.values(), ids=EQUATIONS)
def test_equations_of_matrices(f: Any, args: Any) -> None:
    check(f, *args, value=1e-10)


@pytest.mark.slow
def test_slopes_of_weights_of_riccati() -> None:
    def f(s: float, r: float) -> Any:
        q = np.array([[s, 0.1], [0.1, 1.0]])
        return np.sum(scipy.linalg.solve_discrete_are(UNSTABLE, B, q, np.array([[r]])))

    check(f, 2.0, 1.5, value=1e-10)
    second = symgrad(f).hessian(2.0, 1.5)
    h = 1e-4
    ends = [f(2.0, 1.5 + h), f(2.0, 1.5), f(2.0, 1.5 - h)]
    assert second[1][1] == pytest.approx((ends[0] - 2 * ends[1] + ends[2]) / h**2, rel=1e-5)


@pytest.mark.slow
def test_generalised_eigenvectors() -> None:
    def f(a: Any, b: Any) -> Any:
        values, vectors = scipy.linalg.eigh(a, b)
        return values[0] * values[1] ** 2 + np.abs(vectors[0, 0]) + vectors[1, 1] ** 2

    check(f, K, S)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "solve", [scipy.linalg.solve_discrete_are, scipy.linalg.solve_continuous_are]
)
def test_equations_without_a_stabilising_solution_raise(solve: Any) -> None:
    """Also in calls that are not compared with SciPy: what no input reaches grows."""
    f = symgrad(lambda a: np.sum(solve(a, np.zeros((2, 1)), S, R)))
    stable = np.diag([-0.2, -0.3])
    for _ in range(5):
        assert f(stable) == pytest.approx(np.sum(solve(stable, np.zeros((2, 1)), S, R)), rel=1e-12)
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        f(np.diag([2.0, 3.0]))


@pytest.mark.parametrize(("f", "args", "message"), [
    (lambda x, k: scipy.signal.convolve2d(x, k, boundary="reflect"), (PICTURE, KERNEL),
     r"the boundary of convolve2d\(\) is 'fill', 'wrap' or 'symm'"),
    (lambda x: sum(v * v for v in np.nditer(x)), (ROOTS,), r"loop over a\.flat"),
    (lambda x: np.roots(x), (ROOTS,), "which of its results are real differs"),
    (lambda x: np.poly(x)[0], (np.eye(2),), r"np\.poly\(\) of a matrix is not supported"),
    (lambda x: BSpline(KNOTS, x, 3, "periodic")(0.5), (COEFFICIENTS,), "extrapolate='periodic'"),
    (lambda x: RegularGridInterpolator(GRID, x, "cubic")((0.1, 0.1)), (TABLE,), "'linear' or 'nearest'"),
    (lambda a: np.sum(scipy.linalg.eigh(a, S, type=2)[0]), (K,), "type 2 or 3"),
    (lambda m: scipy.spatial.distance.cdist(m, m, "cosine"), (M,), "the metric cosine is not known"),
    (lambda x: PERIODIC(x), (0.3,), "cannot be traced"),
])  # fmt: skip
def test_what_is_refused(f: Any, args: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        symgrad(f)(*args)
