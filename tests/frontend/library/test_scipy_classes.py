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
    InterpolatedUnivariateSpline,
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
V = np.array([0.1, 0.4, 0.2, 0.9, 0.3, 0.7])


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
@pytest.mark.parametrize(("f", "args"), CASES.values(), ids=CASES)
def test_values_and_slopes(f: Any, args: Any) -> None:
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


# ---------------------------------------- interpolants of few points, of several values, of any size
AT = np.array([0.0, 0.5, 1.25, 1.5, 2.5, 3.0])
AROUND = np.array([-0.3, 0.0, 0.7, 1.3, 2.9, 3.5])
PAIRS = V.reshape(3, 2)

INTERPOLANTS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "two_points": (lambda y, q: CubicSpline(AT[:2], y)(q), (V[:2], 0.3)),
    "three_points": (lambda y, q: np.sum(CubicSpline(AT[:3], y)(q) ** 2), (V[:3], AROUND)),
    "three_clamped": (lambda y: CubicSpline(AT[:3], y, bc_type="clamped")(0.7), (V[:3],)),
    "rows": (lambda y: np.sum(CubicSpline(AT[:3], y)(AROUND) ** 2), (PAIRS,)),
    "row": (lambda y, q: np.sum(CubicSpline(AT[:3], y, bc_type="natural")(q) ** 2), (PAIRS, 0.3)),
    "integral_of_rows": (lambda y: np.sum(CubicSpline(AT[:3], y).integrate(0.2, 1.7) ** 2), (PAIRS,)),
    "pchip_of_rows": (lambda y: np.sum(PchipInterpolator(AT[:3], y)(AROUND) ** 2), (PAIRS,)),
    "any_size": (lambda y, q: CubicSpline(np.arange(len(y)) * 0.5, y)(q), (V, 1.7)),
    "places": (lambda x: np.sum(CubicSpline(x, V, bc_type="natural")(AROUND) ** 2), (AT,)),
    "pairs": (
        lambda y, v: make_interp_spline(AT, y, bc_type=([(1, v)], [(2, 0.2)]))(0.7),
        (V, 0.4),
    ),
    "univariate": (lambda y, q: InterpolatedUnivariateSpline(AT, y)(q) ** 2, (V, 1.3)),
    "antiderivative": (lambda y: CubicSpline(AT, y).antiderivative(2)(2.2), (V,)),
    "fourth": (lambda y: CubicSpline(AT, y).derivative(4)(0.3) + y[0], (V,)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "args"), INTERPOLANTS.values(), ids=INTERPOLANTS)
def test_interpolants_of_traced_values(f: Any, args: Any) -> None:
    check(f, *args)


@pytest.mark.slow
def test_slopes_are_those_of_a_linear_function() -> None:
    """A spline is linear in its values: the gradient consists of the splines of unit vectors."""
    units = np.eye(len(AT))
    g = symgrad(lambda y: CubicSpline(AT, y)(1.1)).grad(V)
    assert g == pytest.approx(CubicSpline(AT, units)(1.1), rel=1e-13)


# ---------------------------------------------------------------------- rotations
W = np.arange(9.0).reshape(3, 3)

ROTATIONS: dict[str, Any] = {
    "vectors": lambda v: np.sum(Rotation.from_rotvec(v.reshape(2, 3)).apply([1.0, 2, 3]) ** 3),
    "to_rows": lambda v: np.sum(Rotation.from_rotvec(v[:3]).apply(W, inverse=True) ** 3),
    "products": lambda v: np.sum(
        (Rotation.from_euler("xyz", v.reshape(2, 3)) * Rotation.from_rotvec(v[:3])).as_quat(
            scalar_first=True, canonical=True
        )
        * np.arange(4.0)
    ),
    "stack": lambda v: np.sum(Rotation.from_euler("z", v[:, None]).as_matrix() * W),
    "angles": lambda v: np.sum(Rotation.from_euler("ZXZ", v.reshape(2, 3)).magnitude() ** 2),
    "back": lambda v: np.sum(Rotation.from_quat(v[:4] - 1.0).as_rotvec(degrees=True) * v[:3]),
    "scalar_first": lambda v: np.sum(
        Rotation.from_quat(v[:4], scalar_first=True).inv().as_matrix() * W
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("f", ROTATIONS.values(), ids=ROTATIONS)
def test_rotations(f: Any) -> None:
    check(f, V)


@pytest.mark.slow
def test_vector_of_no_rotation() -> None:
    """To a vector and back at 0: the identity, whose slopes are those of the unit matrix."""
    g = symgrad(lambda r: Rotation.from_rotvec(r).as_rotvec())
    assert g(np.zeros(3)) == pytest.approx(np.zeros(3), abs=1e-15)
    assert g.jacobian(np.array([0.0, 1e-9, 0.0])) == pytest.approx(np.eye(3), abs=1e-8)


# ----------------------------------------------------------------- sparse matrices
AT_ROWS, AT_COLUMNS = np.array([0, 1, 2, 2, 0, 0]), np.array([1, 2, 0, 0, 3, 1])
PLACES, STARTS = np.array([0, 1, 3, 0, 2, 1]), np.array([0, 2, 4, 6])
ONE = np.array([1.0, 2.0, 3.0, 4.0])
SHAPE = (3, 4)


def chain(v: Any) -> Any:
    n = len(v)
    a = scipy.sparse.diags([-1.0, 2.0 + v, -1.0], [-1, 0, 1], shape=(n, n))
    return np.sum(scipy.sparse.linalg.spsolve(a.tocsc(), v))


def sums(v: Any) -> Any:
    a = scipy.sparse.csr_matrix(np.outer(v, v))
    return np.sum(a * v + (2 * a + scipy.sparse.eye(6) - a / 3).toarray() @ v)


SPARSE: dict[str, Any] = {
    "repeated": lambda v: np.sum((scipy.sparse.csr_array((v, (AT_ROWS, AT_COLUMNS)), shape=SHAPE) @ ONE) ** 2),
    "to_a_matrix": lambda v: np.sum(
        (scipy.sparse.coo_matrix((v, (AT_ROWS, AT_COLUMNS)), shape=SHAPE) @ np.outer(ONE, v)) ** 2
    ),
    "from_the_left": lambda v: np.sum(
        (v[:3] @ scipy.sparse.csr_array((v, (AT_ROWS, AT_COLUMNS)), shape=SHAPE)) ** 2
    ),
    "rows": lambda v: np.sum(
        scipy.sparse.csr_matrix((v, PLACES, STARTS), shape=SHAPE).dot(v[:4]) ** 2
    ),
    "columns": lambda v: np.sum(
        (scipy.sparse.csc_matrix((v, PLACES % 3, np.array([0, 2, 4, 6, 6])), shape=(3, 4)) @ ONE) ** 2
    ),
    "products": lambda v: np.sum(
        (scipy.sparse.csr_array(np.outer(v, v)) @ scipy.sparse.csr_array(np.diag(v))).toarray() ** 2
    ),
    "elements": lambda v: (
        scipy.sparse.csr_array(np.outer(v, v)) * scipy.sparse.csr_array(np.outer(v, v + 1))
    ).sum(),
    "chain": chain,
    "sums": sums,
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", SPARSE.values(), ids=SPARSE)
def test_sparse_matrices(f: Any) -> None:
    check(f, V)


@pytest.mark.parametrize(("f", "text"), [
    (lambda y: CubicSpline(AT, y, bc_type="periodic")(0.1), "the condition periodic"),
    (lambda y: make_interp_spline(AT, y, k=5)(0.1), "k=3 and 1"),
    (lambda y: CubicSpline(AT[:2], y.reshape(3, 2), axis=1)(0.1)[0], "along the first"),
    (lambda v: (scipy.sparse.csr_matrix((v, (AT_ROWS, AT_COLUMNS))) @ ONE)[0], r"pass shape=\(m, n\)"),
    (lambda v: (scipy.sparse.csr_matrix(np.outer(v, v)) + v)[0, 0], "use toarray"),
])  # fmt: skip
def test_refused(f: Any, text: str) -> None:
    with pytest.raises(UnsupportedError, match=text):
        symgrad(f)(V)
