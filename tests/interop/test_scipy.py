"""SciPy's solvers with derivatives filled in; the truth is theirs, or known."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from symdiff import SymdiffError, symgrad
from symdiff.interop.scipy import (
    NonlinearConstraint,
    curve_fit,
    least_squares,
    lowlevel,
    minimize,
    root,
    root_scalar,
    solve_bvp,
    solve_ivp,
)

pytest.importorskip("scipy")

from scipy import integrate, linalg, ndimage, optimize

T = np.linspace(0.0, 4.0, 20)
Y = 2.5 * np.exp(-1.3 * T) + 0.5
TRUTH = [2.5, 1.3, 0.5]


def residuals(p, t, y):
    a, b, c = p
    return a * np.exp(-b * t) + c - y


def squares(p, t, y):
    return np.sum((p[0] * np.exp(-p[1] * t) + p[2] - y) ** 2)


SQUARES, RESIDUALS = symgrad(squares), symgrad(residuals)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("method", [None, "CG", "L-BFGS-B", "TNC", "SLSQP", *(pytest.param(m, marks=pytest.mark.slow) for m in ("Newton-CG", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"))])  # fmt: skip
def test_minimize_of_every_method(method):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # of derivatives that are not used
        found = minimize(SQUARES, [2.4, 1.0, 0.4], args=(T, Y), method=method)
    assert_allclose(found.x, TRUTH, rtol=2e-3)


def test_a_method_without_derivatives_gets_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minimize(SQUARES, TRUTH, args=(T, Y), method="Nelder-Mead")
    assert minimize(SQUARES, TRUTH, args=(T, Y), jac="3-point").nfev > 3, "the caller's jac is kept"


def test_least_squares():
    assert_allclose(least_squares(RESIDUALS, np.ones(3), args=(T, Y)).x, TRUTH)


@pytest.mark.slow
def test_least_squares_with_a_sparse_jacobian():
    chain = least_squares(lambda x: x[1:] ** 2 - 2 * x[:-1] + 1, np.full(20, 0.3), sparse=True)
    assert chain.cost < 1e-16


@pytest.mark.slow
def test_roots():
    def crossing(x, a):
        return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - a, 0.5 * (x[1] - x[0]) ** 3 + x[1]]

    assert_allclose(root(crossing, [0.0, 0.0], args=1.0).x, [0.8411639, 0.1588361], rtol=1e-6)
    for options in ({"x0": 1.0}, {"x0": 1.0, "method": "halley"}, {"bracket": (0.0, 2.0)}):
        assert_allclose(
            root_scalar(lambda x, a: x**3 - a, args=(2.0,), **options).root, 2 ** (1 / 3)
        )


@pytest.mark.sampled
@pytest.mark.parametrize("options", [{}, {"bounds": (0, 5)}, {"sigma": np.full(20, 0.1)}])
def test_curve_fit(options):
    def decay(t, a, b, c):
        return a * np.exp(-b * t) + c

    assert_allclose(curve_fit(decay, T, Y, **options)[0], TRUTH, rtol=1e-6)


def test_curve_fit_of_one_parameter_and_of_rows():
    def product(rows, a):
        u, v = rows
        return a * u * v

    assert_allclose(curve_fit(product, np.stack([T, T**2]), 3 * T**3)[0], [3.0])


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["RK45", "Radau", "BDF", "LSODA", integrate.BDF])
def test_solve_ivp(method):
    def oscillator(t, y, mu):
        a, b = y
        return [b, mu * (1 - a**2) * b - a]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = solve_ivp(oscillator, [0, 2.0], [2.0, 0.0], method, args=(5.0,))
    span = [0, 2.0], [2.0, 0.0]
    exact = integrate.solve_ivp(oscillator, *span, "DOP853", args=(5.0,), rtol=1e-9)
    assert_allclose(found.y[0, -1], exact.y[0, -1], rtol=5e-3)


@pytest.mark.slow
def test_solve_ivp_with_a_sparse_jacobian():
    def heat(t, u):
        return np.concatenate([u[:1] * 0, u[2:] - 2 * u[1:-1] + u[:-2], u[-1:] * 0])

    u = np.sin(np.linspace(0, np.pi, 12))
    dense, sparse = (
        solve_ivp(heat, [0, 9.0], u, "BDF", sparse=s, rtol=1e-8, atol=1e-10) for s in (False, True)
    )
    assert_allclose(sparse.y[:, -1], dense.y[:, -1], atol=1e-9)


BOUNDARIES = {
    "nonlinear": (  # Bratu's problem
        lambda x, y: np.vstack((y[1], -np.exp(y[0]))), lambda a, b: np.array([a[0], b[0]]),
        np.zeros((2, 5)), None,
    ),
    "a parameter": (  # sin(k*x), k = 2*pi
        lambda x, y, p: np.vstack((y[1], -(p[0] ** 2) * y[0])),
        lambda a, b, p: np.array([a[0], b[0], a[1] - p[0]]),
        np.array([[0, 1, 0, -1, 0], [0, 0, 0, 0, 0.0]]), [6.0],
    ),
    "lists": (
        lambda x, y: [y[1], np.cos(x) * y[0]], lambda a, b: [a[0] - 1, b[1]], np.ones((2, 5)), None
    ),
    "elementwise": (lambda x, y: np.sin(x) - y**3, lambda a, b: a - b, np.ones((1, 5)), None),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", BOUNDARIES)
def test_solve_bvp(case, monkeypatch):
    """Derivatives by values at nodes and by parameters, in the shapes that SciPy asks for."""
    fun, bc, y, p = BOUNDARIES[case]
    solve, x, given = integrate.solve_bvp, np.linspace(0, 1, 5), {}

    def recorded(fun, bc, x, y, p, S, fun_jac, bc_jac, **options):
        given.update(fun=fun_jac, bc=bc_jac)
        return solve(fun, bc, x, y, p, S, fun_jac, bc_jac, **options)

    monkeypatch.setattr(integrate, "solve_bvp", recorded)
    found, plain = solve_bvp(fun, bc, x, y, p), solve(fun, bc, x, y, p)
    assert found.status == 0
    assert_allclose(found.sol(x), plain.sol(x), atol=1e-6)
    at, more = (
        np.cos(np.arange(1.0, 1 + y.size)).reshape(y.shape),
        () if p is None else (np.array(p),),
    )
    slopes = given["fun"](x, at, *more)
    slopes = slopes if more else [slopes]
    for slope, k in zip(slopes, range(1, 3), strict=False):
        args = [x, at, *more]
        for j in range(slope.shape[1]):
            step = np.zeros_like(args[k])
            step[j] = 1e-6
            up, down = (
                np.asarray(fun(*args[:k], args[k] + s * step, *args[k + 1 :])) for s in (1, -1)
            )
            assert_allclose(slope[:, j], (up - down) / 2e-6, atol=1e-7)
    ends = given["bc"](at[:, 0], at[:, -1], *more)
    assert [e.shape for e in ends] == [(len(y) + len(more), n) for n in (len(y), len(y), *map(len, more))]  # fmt: skip


@pytest.mark.slow
def test_constraints():
    single = NonlinearConstraint(lambda x: x[0] ** 2 + x[1], -np.inf, 1)
    several = NonlinearConstraint(lambda x: [x[0] ** 2 - x[1], x[0] * x[1]], -np.inf, [1, 0.3])
    assert_allclose(several.hess(np.array([0.5, 1.0]), np.array([2.0, 3.0])), [[4, 3], [3, 0]])
    found = minimize(lambda x: np.sum((x - 1) ** 2), [0.5, 0.0], method="trust-constr", constraints=[single, several])  # fmt: skip
    assert_allclose(found.x, optimize.minimize(lambda x: np.sum((x - 1) ** 2), [0.5, 0.0], constraints=[single, several]).x, atol=1e-3)  # fmt: skip


@pytest.mark.slow
def test_lowlevel_callables():
    f = symgrad(lambda x, a: np.sin(a * x) / x)
    exact = 1.6054129768026948  # Si(2)
    assert_allclose(integrate.quad(lowlevel(f), 0, 1, args=(2.0,))[0], exact, rtol=1e-14)
    assert_allclose(integrate.quad(lowlevel(f.diff("a")), 0, 1, args=(2.0,))[0], np.sin(2) / 2)
    assert np.isnan(integrate.quad(lowlevel(f), 0, 1)[0]), "an argument is missing"
    decay = lowlevel(lambda x, k=2.0, *, a=1: a * np.exp(-k * x))
    assert_allclose(integrate.quad(decay, 0, 1)[0], (1 - np.exp(-2)) / 2, rtol=1e-14)
    for args in ((3.0,), (3.0, 1.0)):
        assert_allclose(integrate.quad(decay, 0, 1, args=args)[0], (1 - np.exp(-3)) / 3, rtol=1e-14)
    image = np.random.default_rng(0).normal(size=(9, 8))
    mean = lowlevel(lambda a, b, c, d: (a + b + c + d) / 4, "filter")
    found = ndimage.generic_filter(image, mean, size=2)
    assert_allclose(found, ndimage.uniform_filter(image, 2), atol=1e-15)


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (lambda x: np.sum(x[1:]), "integrand", "arrays or loops"),
        (symgrad(lambda x, y: x * y).grad, "integrand", "several results"),
        (lambda x: x, "mapping", "unknown kind"),
    ],
)
def test_what_is_no_lowlevel_callable(function, kind, message):
    with pytest.raises(SymdiffError, match=message):
        lowlevel(function, kind)


ELEMENTS = pytest.mark.parametrize("start", [np.ones(1), np.array([1.0, 2.0])], ids=["one", "two"])


@pytest.mark.sampled
@ELEMENTS
@pytest.mark.parametrize("sparse", [False, True])
def test_elementwise_right_sides(start, sparse):
    """Whose derivative is an array of slopes: for SciPy it is a matrix."""
    for method in ("BDF", "Radau"):
        found = solve_ivp(lambda t, y: np.sin(t) - y**3, [0, 1], start, method, sparse=sparse)
        plain = integrate.solve_ivp(lambda t, y: np.sin(t) - y**3, [0, 1], start, "LSODA")
        assert_allclose(found.y[:, -1], plain.y[:, -1], rtol=5e-3)


@pytest.mark.sampled
@ELEMENTS
def test_elementwise_residuals(start):
    for options in ({}, {"method": "lm"}, {"sparse": True, "tr_solver": "lsmr"}):
        found = least_squares(lambda p: p**2 - 2, start, **options)
        assert_allclose(found.x, np.full(len(start), np.sqrt(2)), rtol=1e-7)
    for method in ("hybr", "lm"):
        assert_allclose(root(lambda p: p**2 - 2, start, method=method).x, np.sqrt(2), rtol=1e-7)
    t = np.linspace(0, 1, 50)
    if len(start) == 1:  # one parameter that broadcasts
        found = least_squares(lambda p: np.exp(p * t) - np.exp(1.3 * t), start)
        assert_allclose(found.x, 1.3, rtol=1e-7)


@pytest.mark.slow
def test_elementwise_constraints():
    inside = NonlinearConstraint(lambda x: x**2, 0, 1)
    found = minimize(
        lambda x: (x[0] - 1) ** 2 + (x[1] - 2.5) ** 2, [0.2, 0.5], method="trust-constr", constraints=[inside]
    )  # fmt: skip
    assert_allclose(found.x, [1, 1], atol=5e-3)


def raising(x):
    if x > 0.5:
        raise ValueError("too large")
    return x


def asserting(x):
    assert x < 0.5
    return x


@pytest.mark.slow
@pytest.mark.parametrize("f", [raising, asserting])
def test_lowlevel_callables_that_raise_are_nan_with_a_warning(f):
    with pytest.warns(RuntimeWarning, match=f"{f.__name__}: a result is nan, for .*Error"):
        assert np.isnan(integrate.quad(lowlevel(f), 0, 1)[0])
    assert integrate.quad(lowlevel(f), 0, 0.4)[0] == pytest.approx(0.08)
    with pytest.warns(RuntimeWarning, match="a result is nan"), pytest.raises(RuntimeError):
        ndimage.generic_filter(np.linspace(0, 1, 5), lowlevel(f, "filter"), size=1)


STRUCTURES = ["pos", "her", "diagonal", "tridiagonal", "upper triangular", "banded", None]


@pytest.mark.sampled
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_solve_reads_what_is_assumed(structure, lower):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(4, 4)) + 5 * np.eye(4), rng.normal(size=4)

    def f(a, b):
        return linalg.solve(a, b, lower=lower, assume_a=structure)

    assert_allclose(symgrad(f, accuracy="fast")(a, b), f(a, b), rtol=1e-13)
    by_a, by_b = symgrad(lambda a, b: np.sum(f(a, b) ** 2), accuracy="fast").grad(a, b)
    way = rng.normal(size=(4, 4))
    sides = [np.sum(f(a + h * way, b + h) ** 2) for h in (1e-6, -1e-6)]
    assert_allclose(np.sum(by_a * way) + np.sum(by_b), (sides[0] - sides[1]) / 2e-6, rtol=1e-6)


@pytest.mark.slow
def test_solve_refuses_what_scipy_refuses():
    singular, b = np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2)
    with pytest.raises(np.linalg.LinAlgError):
        symgrad(lambda a, b: linalg.solve(a, b, assume_a="pos"))(singular, b)
    with pytest.raises(SymdiffError, match="triangle is not a recognized matrix structure"):
        symgrad(lambda a, b: linalg.solve(a, b, assume_a="triangle"))(singular, b)
