"""Objects of SciPy's classes that are made of traced numbers: SciPy's values, and slopes as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse
import scipy.sparse.linalg
import scipy.special
from scipy import stats
from scipy.interpolate import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    interp1d,
    make_interp_spline,
)
from scipy.spatial.transform import Rotation

from symdiff import DomainError, UnsupportedError, symgrad
from tests.frontend.differences import check

X = np.array([0.0, 1.0, 2.5, 3.0, 4.0, 6.0])
Y = np.array([1.0, 2.0, 3.5, 2.0, 1.5, 2.2])
Q = np.array([0.3, 1.2, 2.7, 5.5])
COV = np.array([[4.0, 1.0], [1.0, 3.0]])
MEAN = np.array([0.3, 0.4])
POINTS = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
P = np.array([0.3, 0.4, 0.3])
TURN = np.array([0.3, 0.4, 0.5])
D = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 0.5])
ROWS, COLUMNS = np.array([0, 0, 1, 2, 2, 1]), np.array([0, 2, 1, 0, 2, 1])
Z = np.array([1.0, 2.0, -3.0])


def matrix(d: Any) -> Any:
    return scipy.sparse.coo_matrix((d, (ROWS, COLUMNS)), shape=(3, 3))


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "linear": (lambda y, q: np.sum(interp1d(X, y)(q) ** 2), (Y, Q)),
    "extrapolated": (lambda y, q: interp1d(X, y, fill_value="extrapolate")(q), (Y, 7.0)),
    "filled": (lambda y: interp1d(X, y, bounds_error=False, fill_value=(0.5, 1.0))(7.0) + y[0], (Y,)),
    "cubic": (lambda y, q: np.sum(interp1d(X, y, kind="cubic")(q) ** 2), (Y, Q)),
    "steps": (
        lambda y: sum(interp1d(X, y, kind=k)(1.2) ** 2 for k in ("previous", "next", "nearest")),
        (Y,),
    ),
    "spline": (lambda y, q: np.sum(CubicSpline(X, y)(q) ** 2), (Y, Q)),
    "natural": (lambda y, q: CubicSpline(X, y, bc_type="natural")(q, 1), (Y, 1.2)),
    "clamped": (lambda y, q: CubicSpline(X, y, bc_type="clamped").derivative()(q), (Y, 5.2)),
    "ends": (lambda y, q: CubicSpline(X, y, bc_type=((1, 0.5), (2, -1.0)))(q), (Y, 5.2)),
    "integral": (lambda y, b: CubicSpline(X, y).integrate(0.5, b), (Y, 5.2)),
    "places": (lambda x: CubicSpline(x, Y)(1.7), (X,)),
    "pchip": (lambda y, q: np.sum(PchipInterpolator(X, y)(q) ** 2), (Y, Q)),
    "akima": (lambda y, q: np.sum(Akima1DInterpolator(X, y)(q) ** 2), (Y, Q)),
    "hermite": (lambda y, q: CubicHermiteSpline(X, y, y**2)(q), (Y, 1.2)),
    "b_spline": (lambda y, q: make_interp_spline(X, y)(q) + make_interp_spline(X, y, k=1)(q), (Y, 1.2)),
    "normal": (lambda m, c: np.sum(stats.multivariate_normal(m, c @ c.T).logpdf(POINTS)), (MEAN, COV)),
    "normal_density": (lambda m: stats.multivariate_normal(mean=m, cov=COV).pdf([1.0, 2.0]), (MEAN,)),
    "multinomial": (lambda p: stats.multinomial.logpmf([1, 2, 3], 6, p / np.sum(p)), (P,)),
    "frozen_multinomial": (lambda p: stats.multinomial(6, p / np.sum(p)).pmf([1, 2, 3]), (P,)),
    "dirichlet": (lambda a: stats.dirichlet(a).logpdf([0.2, 0.3, 0.5]), (Z**2,)),
    "gmean": (lambda y: stats.gmean(y) + stats.hmean(y) + stats.pmean(y, 3), (Y,)),
    "weighted": (lambda y: stats.gmean(y, weights=y) + stats.hmean(y, weights=X), (Y,)),
    "rows": (lambda y: np.sum(stats.gmean(y.reshape(2, 3), axis=1, weights=Z**2) ** 2), (Y,)),
    "rotvec": (lambda r: np.sum(Rotation.from_rotvec(r).apply(Z) ** 3), (TURN,)),
    "quaternion": (lambda q: Rotation.from_quat(q).as_matrix()[0] @ Z, (np.append(TURN, 0.2),)),
    "extrinsic": (lambda r: np.sum(Rotation.from_euler("xyz", r).as_matrix()[1:] @ Z), (TURN,)),
    "intrinsic": (lambda r: Rotation.from_euler("ZYX", r, degrees=True).as_quat()[0], (TURN,)),
    "composed": (
        lambda r: (Rotation.from_rotvec(r) * Rotation.from_euler("z", r[0])).inv().as_rotvec()[1],
        (TURN,),
    ),
    "angle": (lambda r: (Rotation.from_rotvec(r) * Rotation.from_rotvec(r)).magnitude(), (TURN,)),
    "sparse": (lambda d, z: np.sum((matrix(d) @ z) ** 2), (D, Z)),
    "transposed": (lambda d, z: np.sum(matrix(d).tocsr().T.dot(z) ** 2), (D, Z)),
    "dense": (lambda d: np.sum(matrix(d).toarray() ** 3), (D,)),
    "solved": (lambda d, z: np.sum(scipy.sparse.linalg.spsolve(matrix(d).tocsc(), z)), (D, Z)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    f, args = CASES[name]
    check(f, *args)


@pytest.mark.slow
def test_no_rotation() -> None:
    """At 0 the formula of a rotation vector is removable: the slope of R(r) v is that of r x v."""
    g = symgrad(lambda r: Rotation.from_rotvec(r).apply(Z)[0])
    assert g(np.zeros(3)) == pytest.approx(Z[0])
    assert g.grad(np.zeros(3)) == pytest.approx([0.0, Z[2], -Z[1]])


@pytest.mark.slow
def test_outside_of_the_range() -> None:
    g = symgrad(lambda q: interp1d(X, Y)(q))
    with pytest.raises(DomainError, match="outside of the interpolation range"):
        g(7.0)
    assert np.isnan(symgrad(lambda q: Akima1DInterpolator(X, Y)(q))(7.0))


@pytest.mark.slow
def test_fits() -> None:
    data = 2 * np.exp(-1.3 * X / 3) + 0.01 * np.sin(9 * X)

    def decay(y: Any) -> Any:
        found, _ = scipy.optimize.curve_fit(lambda x, a, b: a * np.exp(-b * x), X, y, p0=[1.0, 1.0])
        return found[0] * found[1]

    def line(y: Any) -> Any:
        return scipy.optimize.curve_fit(lambda x, a, b: a * x + b, X, y, sigma=X + 1)[0][0]

    check(decay, data, value=1e-6, slope=1e-3, step=1e-3)
    g = symgrad(line)
    weights = np.array([np.polyfit(X, row, 1, w=1 / (X + 1))[0] for row in np.eye(len(X))])
    assert g(data) == pytest.approx(weights @ data, rel=1e-12)
    assert g.grad(data) == pytest.approx(weights, rel=1e-10)

    def covariances(y: Any) -> Any:
        return scipy.optimize.curve_fit(lambda x, a, b: a * x + b, X, y)[1][0, 0]

    with pytest.raises(UnsupportedError, match="the covariances of curve_fit"):
        symgrad(covariances)(data)


@pytest.mark.slow
def test_odeint() -> None:
    """Of y' = -k y and z' = y - z: y = exp(-k t), z = (exp(-k t) - exp(-t))/(1 - k)."""
    times = np.linspace(0, 2, 5)

    def last(k: float) -> Any:
        found = scipy.integrate.odeint(lambda y, t: [-k * y[0], y[0] - y[1]], [1.0, 0.0], times)
        return found[-1, 1]

    def squares(k: float) -> Any:
        def slope(y: Any, t: float, k: float) -> Any:
            return -k * y

        return np.sum(scipy.integrate.odeint(slope, 1.0, times, args=(k,))[:, 0] ** 2)

    k, a, b = 1.3, np.exp(-2.6), np.exp(-2.0)
    assert symgrad(last)(k) == pytest.approx((a - b) / (1 - k), rel=1e-8)
    slope = -2 * a / (1 - k) + (a - b) / (1 - k) ** 2
    assert symgrad(last).grad(k) == pytest.approx(slope, rel=1e-6)
    parts = np.exp(-2 * k * times)
    assert symgrad(squares)(k) == pytest.approx(np.sum(parts), rel=1e-8)
    assert symgrad(squares).grad(k) == pytest.approx(np.sum(-2 * times * parts), rel=1e-6)


def test_dawson_and_complex_polynomials() -> None:
    dawsn = symgrad(lambda x: scipy.special.dawsn(x))
    for x in (0.0, 1e-9, 0.3, -2.0, 30.0, 1e6):
        assert dawsn(x) == pytest.approx(scipy.special.dawsn(x), rel=1e-14)
    assert dawsn.grad(0.3) == pytest.approx(1 - 0.6 * scipy.special.dawsn(0.3), rel=1e-14)
    check(lambda p, w: abs(np.polyval(p, np.exp(1j * w))), Y, 0.5)


KNOTS = scipy.interpolate.splrep(np.linspace(0, 3, 9), np.sin(np.linspace(0, 3, 9)))
SURFACE = scipy.interpolate.bisplrep(
    *(g.ravel() for g in np.meshgrid(np.linspace(0, 3, 9), np.linspace(0, 3, 9))),
    np.outer(np.cos(np.linspace(0, 3, 9)), np.sin(np.linspace(0, 3, 9))).ravel(),
)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("named", [{}, {"der": 1}, {"der": 3}, {"ext": 1}, {"ext": 3}], ids=str)
def test_splev(named: dict[str, int]) -> None:
    f = symgrad(lambda x: scipy.interpolate.splev(x, KNOTS, **named))
    x = np.array([-0.5, 0.0, 0.7, 1.5, 3.0, 3.4])
    expected = scipy.interpolate.splev(x, KNOTS, **named)
    assert f(x) == pytest.approx(expected, rel=1e-13, abs=1e-15)
    if not named:
        assert f.grad(0.7) == pytest.approx(scipy.interpolate.splev(0.7, KNOTS, 1), rel=1e-13)


@pytest.mark.slow
def test_bisplev() -> None:
    f = symgrad(lambda x, y: scipy.interpolate.bisplev(x, y, SURFACE))
    for at in ((0.3, 0.4), (3.0, 0.0), (2.2, 3.0), (3.5, -1.0)):
        assert f(*at) == pytest.approx(scipy.interpolate.bisplev(*at, SURFACE), rel=1e-13)
    slopes = [scipy.interpolate.bisplev(0.3, 0.4, SURFACE, *d) for d in ((1, 0), (0, 1))]
    assert f.grad(0.3, 0.4) == pytest.approx(slopes, rel=1e-12)
