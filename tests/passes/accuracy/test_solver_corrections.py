"""Linear solvers, determinants and products of matrices keep their digits, also where the matrix loses them.

Truth is the same in 60 digits, for matrices whose condition is given.
"""

from __future__ import annotations

import flint
import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.loops.recomputed import Recomputed
from symdiff.runtime.scalar.fallback import AccuracyWarning

pytestmark = pytest.mark.filterwarnings("error::symdiff.AccuracyWarning")
LOST_DIGITS_ARE_TOLD = pytest.mark.filterwarnings("ignore::symdiff.AccuracyWarning")
ULPS, LOST = 4.0, 2.0**12
LEVELS = [("strict", ULPS), ("high", LOST)]
"""What results are off at most: with the default 2**-40 of the largest element."""
SPECTRA = [(2, 3), (3, 6), (6, 7), (12, 5)]
"""Where a few roundings of the largest value, which differ between processors, are less than half the digits
of the smallest one: more is not corrected."""
CONDITIONS = [(4, 1), (7, 5), (20, 6), (50, 3)]


def matrix(n, digits, symmetric=False):
    """A matrix of condition 10**digits."""
    rng = np.random.default_rng(n)
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    sizes = 3 * np.logspace(0, -digits, n)
    if not symmetric:
        return (left * sizes) @ right.T
    a = (left * sizes) @ left.T
    return (a + a.T) / 2


def exact(a):
    return mpmath.matrix(a.tolist())


def exact_inverse(a):
    with flint.ctx.workprec(400):
        rows = flint.arb_mat(a.tolist()).inv().tolist()
    return mpmath.matrix([
        [mpmath.mpf(tuple(map(int, v.mid().man_exp()))) for v in row] for row in rows
    ])  # fmt: skip


def ulps(found, truth):
    """The largest difference, in units of the last place of the largest element."""
    found, truth = np.asarray(found, float).ravel().tolist(), list(truth)
    size = max(abs(t) for t in truth)
    off = max(abs(mpmath.mpf(f) - t) for f, t in zip(found, truth, strict=True))
    return float(off / (size * mpmath.mpf(2) ** -52))


def check(f, truth, *args, of=""):
    """Each level keeps what it promises, of a derivative if it is `of` one; a tuple is one of results."""
    for accuracy, most in LEVELS:
        s = symgrad(f, accuracy=accuracy)
        found = (getattr(s, of) if of else s)(*args)
        pairs = zip(found, truth, strict=True) if isinstance(truth, tuple) else [(found, truth)]
        for a, b in pairs:
            assert ulps(a, b) < most, accuracy


def check_each(found, truth):
    """Each element by itself, as "strict" promises."""
    assert max(ulps([f], [t]) for f, t in zip(found, truth, strict=True)) < ULPS


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(60):
        yield


@pytest.fixture
def again(monkeypatch):
    """The names of programs that were computed again."""
    found = []
    run = Recomputed._in_balls
    monkeypatch.setattr(
        Recomputed, "_in_balls", lambda self, *a: found.append(self.kernel.program.name) or run(self, *a)
    )  # fmt: skip
    return found


# ----------------------------------------------------------------------------- routines


def inverse(a):
    return np.linalg.inv(a)


def factor(a):
    return np.linalg.cholesky(a)


def determinant(a):
    return np.linalg.det(a)


def logarithm(a):
    return np.linalg.slogdet(a)[1]


def form(a, b):
    return b @ np.linalg.solve(a, b)


@pytest.mark.sampled
@pytest.mark.parametrize(("n", "digits"), CONDITIONS)
@pytest.mark.parametrize("columns", [0, 3])
def test_solutions(n, digits, columns):
    a = matrix(n, digits)
    b = np.random.default_rng(1).normal(size=(n, columns) if columns else n)
    truth = exact_inverse(a) * exact(b)
    assert ulps(symgrad(lambda a, b: np.linalg.solve(a, b), accuracy="strict")(a, b), truth) < ULPS


@pytest.mark.slow
@pytest.mark.parametrize(("n", "digits"), CONDITIONS)
def test_inverses_and_determinants(n, digits):
    a = matrix(n, digits)
    truth = mpmath.det(exact(a))
    check(inverse, exact_inverse(a), a)
    check(determinant, [truth], a)
    check(logarithm, [mpmath.log(abs(truth))], a)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "digits"), CONDITIONS)
def test_factors(n, digits):
    a = matrix(n, digits, symmetric=True)
    assert ulps(symgrad(factor, accuracy="strict")(a), mpmath.cholesky(exact(a))) < ULPS


@pytest.mark.slow
@pytest.mark.parametrize(("n", "digits"), CONDITIONS)
def test_derivatives(n, digits):
    a, b = matrix(n, digits), np.random.default_rng(2).normal(size=n)
    x = exact_inverse(a) * exact(b)
    y = exact_inverse(a).T * exact(b)
    check(form, (-y * x.T, x + y), a, b, of="grad")
    check(logarithm, exact_inverse(a).T, a, of="grad")


def log_determinant(a):
    return np.log(np.linalg.det(a))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "digits"), [(3, 2), *CONDITIONS])
def test_derivatives_of_determinants(n, digits):
    a = matrix(n, digits, symmetric=True)
    inverse, det = exact_inverse(a).T, mpmath.det(exact(a))
    check(log_determinant, inverse, a, of="grad")
    check(determinant, inverse * det, a, of="grad")
    direction = np.random.default_rng(3).normal(size=(n, n))
    if n < 10:
        turned = -inverse * exact(direction.T) * inverse
        check(log_determinant, turned, (a,), (direction,), of="hvp")


@pytest.mark.slow
def test_gradient_of_the_determinant_of_a_singular_matrix():
    """What has no inverse has minors: by singular values, and where these lose more than is promised, in balls."""
    a = np.array([[1.0, 2, 3, 4], [2, 4, 6, 8], [0, 1, 2, 5], [3, 3, 1, 0]])
    minors = [
        [(-1) ** (i + j) * mpmath.det(exact(np.delete(np.delete(a, i, 0), j, 1))) for j in range(4)]
        for i in range(4)
    ]
    truth = [m for row in minors for m in row]
    assert ulps(symgrad(determinant).grad(a), truth) < LOST
    found = symgrad(determinant, accuracy="strict").grad(a).ravel().tolist()
    for f, t in zip(found, truth, strict=True):
        assert abs(f - t) <= 16 * np.spacing(abs(float(t))), "each element by itself"


@pytest.mark.slow
def test_products_that_cancel():
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(12, 12)))[0]
    a = q * np.sign(np.arange(12) - 5.5) @ q.T  # a @ a is nearly 1
    m = exact(a)
    truth = m * m * m - m
    assert ulps(symgrad(lambda a: np.sum(a @ a @ a - a))(a), [mpmath.fsum(truth)]) < ULPS


@pytest.mark.slow
def test_what_is_computed_before_counts():
    """Errors of the elements of a matrix are carried through factors and solutions."""

    def likelihood(t, x, y):
        k = np.exp(-((x[:, None] - x[None, :]) ** 2) * np.exp(t)) + 1e-4 * np.eye(len(x))
        low = np.linalg.cholesky(k)
        z = np.linalg.solve(low, y)
        return z @ z + 2 * np.sum(np.log(np.diag(low)))

    x, rng = np.linspace(0, 2, 25), np.random.default_rng(4)
    y = np.sin(3 * x) + 0.1 * rng.normal(size=25)

    def truth(t):
        k = mpmath.matrix(25, 25)
        for i in range(25):
            for j in range(25):
                d = mpmath.mpf(x[i]) - mpmath.mpf(x[j])
                k[i, j] = mpmath.exp(-(d**2) * mpmath.exp(t)) + (mpmath.mpf(1e-4) if i == j else 0)
        right = exact(y)
        return (right.T * mpmath.lu_solve(k, right))[0] + mpmath.log(mpmath.det(k))

    f, t = symgrad(likelihood, wrt="t"), 0.3
    h = mpmath.mpf(10) ** -15
    slope = (truth(t + h) - truth(t - h)) / (2 * h)
    assert ulps(f(t, x, y), [truth(mpmath.mpf(t))]) < ULPS
    assert ulps(f.grad(t, x, y), [slope]) < ULPS


# ------------------------------------------------------------------------- eigenvalues
def log_eigenvalues(a):
    return np.sum(np.log(np.linalg.eigvalsh(a)))


def values(a):
    return np.linalg.eigvalsh(a)


def root(a):
    w, v = np.linalg.eigh(a)
    return (v * np.sqrt(w)) @ v.T


def whitened(a, x):
    w, v = np.linalg.eigh(a)
    return np.sum((v.T @ x) ** 2 / w)


def lower(m):
    """The derivative by the lower triangle, which is all that is read."""
    n = m.rows
    return mpmath.matrix([
        [m[i, j] if i == j else m[i, j] + m[j, i] if i > j else 0 for j in range(n)]
        for i in range(n)
    ])  # fmt: skip


def exact_root(a):
    w, v = mpmath.eigsy(exact(a))
    return v * mpmath.diag([mpmath.sqrt(e) for e in w]) * v.T


@pytest.mark.slow
@pytest.mark.parametrize(("n", "digits"), SPECTRA)
def test_eigenvalues(n, digits):
    a = matrix(n, digits, symmetric=True)
    truth = mpmath.eigsy(exact(a), eigvals_only=True)
    check_each(symgrad(values, accuracy="strict")(a), truth)
    check(values, truth, a)
    check(log_eigenvalues, [mpmath.fsum(map(mpmath.log, truth))], a)
    check(log_eigenvalues, lower(exact_inverse(a)), a, of="grad")


@pytest.mark.slow
@pytest.mark.parametrize(("n", "digits"), SPECTRA)
def test_functions_of_matrices(n, digits):
    a, x = matrix(n, digits, symmetric=True), np.random.default_rng(4).normal(size=n)
    check(root, exact_root(a), a)
    y = exact_inverse(a) * exact(x)
    check(whitened, exact(x).T * y, a, x)
    check(whitened, (lower(-y * y.T), 2 * y), a, x, of="grad")


@pytest.mark.slow
def test_eigenvalues_that_are_equal():
    """Vectors that nothing turns are any; others of nearly equal values are not known, which is said."""
    f = symgrad(root, accuracy="strict")
    np.testing.assert_array_equal(f(4 * np.eye(5)), 2 * np.eye(5))
    x = np.arange(1.0, 6)
    check(values, [1, 1, 1, 1, 56], np.eye(5) + np.outer(x, x))
    near = 0.3 * np.eye(5) + np.outer(y := np.random.default_rng(1).normal(size=5), y)
    with pytest.warns(AccuracyWarning):
        found = f(near)
    assert ulps(found, exact_root(near)) < ULPS
    assert ulps(symgrad(root)(near), exact_root(near)) < LOST
    weights = np.arange(25.0).reshape(5, 5)
    with pytest.warns(AccuracyWarning):  # quotients by differences that rounding made
        symgrad(lambda a: np.sum(root(a) * weights)).grad(near)


# --------------------------------------------------------------------- singular values
def singular(a):
    return np.linalg.svd(a, compute_uv=False)


def volume(a):
    return np.sum(np.log(np.linalg.svd(a, compute_uv=False)))


def rotation(a):
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    return u @ vt


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "n", "digits"), [(3, 3, 6), (6, 6, 8), (8, 4, 5), (4, 7, 3), (12, 12, 7)]
)
def test_singular_values(m, n, digits):
    rng, k = np.random.default_rng(m), min(m, n)
    left, right = (np.linalg.qr(rng.normal(size=(s, k)))[0] for s in (m, n))
    a = (left * 3 * np.logspace(0, -digits, k)) @ right.T
    u, s, v = mpmath.svd_r(exact(a))
    check_each(symgrad(singular, accuracy="strict")(a), s)
    check(singular, s, a)
    check(volume, [mpmath.fsum(map(mpmath.log, s))], a)
    check(volume, u * mpmath.diag([1 / e for e in s]) * v, a, of="grad")
    check(rotation, u * v, a)


@pytest.mark.slow
def test_singular_matrices_have_norms():
    """What is not known of vectors of values that vanish counts as much as the values."""
    x = np.random.default_rng(0).normal(size=(6, 2))
    a = x @ x.T
    u, s, v = mpmath.svd_r(exact(a))
    f = symgrad(lambda a: np.linalg.norm(a, 2))
    assert ulps(f(a), [s[0]]) < ULPS
    assert ulps(f.grad(a), u[:, 0] * v[0, :]) < ULPS
    assert ulps(symgrad(lambda a: np.linalg.norm(a, "nuc"))(a), [mpmath.fsum(s)]) < ULPS
    assert f(np.zeros((3, 3))) == 0.0
    assert ulps(symgrad(singular)(a), s) < LOST
    with pytest.warns(AccuracyWarning):
        symgrad(singular, accuracy="strict")(a)


# --------------------------------------------------------------------------------- edges
@pytest.mark.slow
def test_singular_matrices():
    a = np.array([[1.0, 2, 3, 4], [2, 4, 6, 8], [0, 1, 2, 5], [3, 3, 1, 0]])
    assert symgrad(determinant)(a) == 0.0
    assert symgrad(logarithm)(a) == -np.inf
    with pytest.raises(np.linalg.LinAlgError):
        symgrad(inverse)(a)


@pytest.mark.slow
def test_exact_results_stay_exact():
    turned = 2.0 * np.eye(6)[[1, 0, 2, 4, 5, 3]]
    assert symgrad(determinant)(turned) == -64.0
    np.testing.assert_array_equal(symgrad(inverse)(turned) @ turned, np.eye(6))
    graded = np.diag(10.0 ** -np.arange(0.0, 60.0, 6.0))
    found = symgrad(inverse)(graded)
    np.testing.assert_array_equal(found, np.diag(1 / np.diag(graded)))


@pytest.mark.slow
def test_many_numbers_are_not_computed_again(again):
    n = 60
    a, b = matrix(n, 2, symmetric=True), np.ones(n)
    f = symgrad(form, verify=False)
    for _ in range(3):
        f(a, b)
        f.grad(a, b)
    assert not again


@pytest.mark.slow
def test_elements_that_underflow_before():
    """Exponentials of far points: what they lost does not count beside the matrix."""

    def likelihood(t, x, y):
        k = np.exp(-((x[:, None] - x[None, :]) ** 2) * t) + 0.01 * np.eye(len(x))
        low = np.linalg.cholesky(k)
        z = np.linalg.solve(low, y)
        return z @ z + 2 * np.sum(np.log(np.diag(low)))

    x, y = np.array([0.0, 0.1, 0.3, 0.5, 40.0, 60.0, 60.2, 27.0]), np.arange(8.0)

    def truth(t):
        d = [[mpmath.mpf(a) - mpmath.mpf(b) for b in x] for a in x]
        k = mpmath.matrix([[mpmath.exp(-(c**2) * t) for c in row] for row in d])
        k += mpmath.mpf(0.01) * mpmath.eye(8)
        right = exact(y)
        return (right.T * mpmath.lu_solve(k, right))[0] + mpmath.log(mpmath.det(k))

    t, h = 1.25, mpmath.mpf(10) ** -15
    slope = (truth(t + h) - truth(t - h)) / (2 * h)
    for accuracy, most in LEVELS:
        f = symgrad(likelihood, wrt="t", accuracy=accuracy)
        for _ in range(2):
            assert ulps(f(t, x, y), [truth(mpmath.mpf(t))]) < most
            assert ulps(f.grad(t, x, y), [slope]) < most


@pytest.mark.slow
def test_tiny_matrices():
    """Where products underflow, eliminations are computed with what they lose."""
    a, b = matrix(5, 3), np.ones(5)
    for accuracy, most in LEVELS:
        f = symgrad(form, accuracy=accuracy)
        for scale in (2.0**-700, 2.0**700, 2.0**-1000):
            truth = (exact(b).T * exact_inverse(a * scale) * exact(b))[0]
            assert ulps(f(a * scale, b), [truth]) < most


def reciprocals(a, b):
    return np.sum(1 / np.linalg.solve(a, b))


def length(a, b):
    return np.linalg.norm(np.linalg.inv(a) @ b)


def determinant_of(a, b):
    return np.linalg.det(a) * b[0]


@pytest.mark.sampled
@pytest.mark.parametrize("f", [reciprocals, length, form, determinant_of])
@pytest.mark.parametrize("n", [7, 9, 10])
@LOST_DIGITS_ARE_TOLD
def test_corrections_whose_squares_count_are_not_believed(f, n):
    """Of Hilbert's matrices, of condition up to 1e13, also where what follows is no linear function."""
    a = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    x = exact_inverse(a) * mpmath.ones(n, 1)
    truth = {
        reciprocals: mpmath.fsum(1 / v for v in x),
        length: mpmath.norm(x),
        form: mpmath.fsum(x),
        determinant_of: mpmath.det(exact(a)),
    }
    assert ulps(symgrad(f)(a, np.ones(n)), [truth[f]]) < ULPS


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 8])
@LOST_DIGITS_ARE_TOLD
def test_small_elements_of_solutions(n):
    """Each element where columns of matrices are of very different sizes: what is left of the largest is no
    correction of the smallest."""

    def scaled(a, b, c):
        return np.linalg.solve(a * c, b) * c

    a, b = matrix(n, 4), np.random.default_rng(1).normal(size=n)
    c = 2.0 ** -np.arange(0.0, 10.0 * n, 10.0)
    truth = exact_inverse(a) * exact(b)
    check_each(symgrad(scaled, accuracy="strict")(a, b, c), truth)
    check(scaled, truth, a, b, c)


@pytest.mark.slow
def test_products_that_vanish():
    """Products of matrices have no second order: what is left of them is what rounding lost."""

    def commutator(a, b):
        return a @ b - b @ a

    a = np.random.default_rng(5).normal(size=(6, 6))
    np.testing.assert_array_equal(symgrad(commutator)(a, a), np.zeros((6, 6)))
    b = a @ a
    truth = exact(a) * exact(b) - exact(b) * exact(a)
    assert ulps(symgrad(commutator)(a, b), truth) < ULPS


@pytest.mark.slow
@LOST_DIGITS_ARE_TOLD
def test_generated_code_has_no_routines_of_our_own():
    a = matrix(5, 3)
    f = symgrad(determinant, engine="numba")
    assert f(a) == pytest.approx(float(mpmath.det(exact(a))), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 9])
def test_slopes_of_logarithms_of_determinants(n):
    """The matrix of cofactors loses digits too."""
    a = np.array([[1 / (i + j + 1) for j in range(n)] for i in range(n)])
    found = symgrad(lambda a: np.log(np.linalg.det(a))).grad(a)
    assert ulps(found, (exact(a) ** -1).T) < ULPS


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 9])
def test_singular_determinants(n):
    """Minors tell that nothing is left; where one of them is, it is the slope."""
    a = np.eye(n)
    a[:2, :2] = [[0.1, 0.2], [0.2, 0.4]]
    sign = symgrad(lambda a: np.linalg.slogdet(a))(a)
    assert sign == (0.0, -np.inf)
    slope = np.zeros((n, n))
    slope[:2, :2] = [[0.4, -0.2], [-0.2, 0.1]]
    found = symgrad(determinant, accuracy="strict").grad(a)
    np.testing.assert_allclose(found, slope, rtol=1e-15)
    np.testing.assert_allclose(symgrad(determinant).grad(a), slope, rtol=0, atol=2.0**-41)


# ------------------------------------------------------------------------ second order
@pytest.mark.slow
def test_small_pivots_keep_their_digits():
    x = 0.03 * np.arange(5)
    a = np.exp(-((x[:, None] - x[None, :]) ** 2))
    pivot, log = mpmath.cholesky(exact(a))[4, 4] ** 3, mpmath.log(mpmath.det(exact(a)))
    np.testing.assert_allclose(
        symgrad(lambda a: np.linalg.cholesky(a)[4, 4] ** 3)(a), float(pivot), rtol=1e-14
    )
    found = symgrad(lambda a: 2 * np.sum(np.log(np.diag(np.linalg.cholesky(a)))))(a)
    np.testing.assert_allclose(found, float(log), rtol=1e-14)


def blocks(upper, lower):
    n, m = len(upper), len(lower)
    return np.block([[upper, np.zeros((n, m))], [np.zeros((m, n)), lower]])


@pytest.mark.slow
@LOST_DIGITS_ARE_TOLD
def test_large_blocks_do_not_hide_others():
    """The relative corrections of a block hang on its condition, whatever stands beside it."""
    x = 0.03 * np.arange(5)
    k = np.exp(-((x[:, None] - x[None, :]) ** 2))
    w = np.random.default_rng(0).normal(size=(3, 3))
    big = abs(np.linalg.inv(k)[0, 1])
    b = np.arange(1.0, 9)
    b[:5] /= big

    def solved(a, b):
        return np.sum(np.linalg.solve(a, b)[:5] ** 2)

    inverted = lambda a: np.linalg.inv(a)[0, 1] ** 3
    a, c = blocks(k, w), blocks(k * big, w / 1e12)
    y = mpmath.lu_solve(exact(a), exact(b))
    total, cube = mpmath.fsum(e**2 for e in y[:5]), (exact(c) ** -1)[0, 1] ** 3
    np.testing.assert_allclose(symgrad(solved)(a, b), float(total), rtol=1e-14)
    np.testing.assert_allclose(symgrad(inverted)(c), float(cube), rtol=1e-14)
