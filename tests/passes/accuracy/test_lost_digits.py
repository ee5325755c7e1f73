"""Results of programs with arrays and loops whose sums cancel, against high precision."""

from __future__ import annotations

import math
import warnings

import flint
import mpmath
import numpy as np
import pytest
import scipy.special
from flint import arb, arb_mat, ctx

import symdiff
from symdiff import symgrad
from symdiff.runtime.loops import recomputed
from symdiff.runtime.loops.ball_program import BallProgram
from symdiff.runtime.scalar.fallback import AccuracyWarning
from tests.passes.evaluate import slopes

pytestmark = pytest.mark.filterwarnings("error::symdiff.AccuracyWarning")


def ulps(got, exact):
    """The distance in units of the last place of the truth."""
    with ctx.workprec(2000):
        return float(abs(arb(float(got)) - exact)) / math.ulp(float(exact.mid()))


LOST = 2.0**12
"""Ulps of a number that the default may lose: 2**-40 of it."""


def of_the_largest(got, exact):
    """The largest distance, of the largest element of the truth."""
    off = max(abs(float(a) - b) for a, b in zip(np.ravel(got), exact, strict=True))
    return float(off) / max(abs(float(b)) for b in exact)


def quotient(d):
    return np.sum(1 - np.cos(d)) / np.sum(d**2)


def compound(d):
    p = 1.0
    for i in range(d.shape[0]):
        p = p * (1 + d[i])
    return p - 1


def log_mean_exp(x):
    return np.log(np.sum(np.exp(x)) / x.shape[0]) - np.sum(x) / x.shape[0]


def difference_of_norms(x, y):
    return np.sqrt(np.sum((1 + x) ** 2)) - np.sqrt(np.sum((1 + y) ** 2))


def vector(scale, n=5, seed=3):
    return scale * np.round(np.random.default_rng(seed).uniform(-1, 1, n), 3)


def balls(x):
    return [arb(float(v)) for v in x]


def test_the_gradient_of_a_quotient_of_sums():
    d = np.array([1e-9, 2e-9])
    with ctx.workprec(500):
        a, b = balls(d)
        top, bottom = 2 - a.cos() - b.cos(), a * a + b * b
        truth = [x.sin() / bottom - 2 * x * top / bottom**2 for x in (a, b)]
    for got, want in zip(symgrad(quotient).grad(d), truth, strict=True):
        assert ulps(got, want) <= 16
    np.testing.assert_allclose(symgrad(quotient).grad(d), [2.3333e-11, -1.5333e-10], rtol=1e-3)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [5, 400])
@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e-2])
def test_a_product_minus_one(scale, n):
    d = vector(scale, n)
    with ctx.workprec(2000):
        truth = arb(1)
        for x in balls(d):
            truth *= 1 + x
    assert ulps(symgrad(compound, accuracy="strict")(d), truth - 1) <= 16
    assert ulps(symgrad(compound)(d), truth - 1) <= 2**12  # 2**-40 of the result


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-9, 1e-5, 0.3])
def test_a_log_mean_exp_minus_the_mean(scale):
    x = vector(scale)
    with ctx.workprec(2000):
        b = balls(x)
        weights = sum(v.exp() for v in b)
        truth = (weights / 5).log() - sum(b) / 5
        by_x = [v.exp() / weights - arb(1) / 5 for v in b]
    f = symgrad(log_mean_exp, accuracy="strict")
    assert ulps(f(x), truth) <= 16
    assert max(map(ulps, f.grad(x), by_x)) <= 16
    f = symgrad(log_mean_exp)
    assert ulps(f(x), truth) <= LOST
    assert of_the_largest(f.grad(x), by_x) <= 2.0**-40


@pytest.mark.slow
def test_balls_alone(monkeypatch):
    """Large arguments, where formulas of all elements would be too long."""
    monkeypatch.setattr(recomputed, "MOST", -1)
    x, y = vector(1e-6, 1000), vector(1e-6, 1000, 4)
    with ctx.workprec(2000):
        norms = [sum((1 + v) ** 2 for v in balls(a)).sqrt() for a in (x, y)]
        truth = norms[0] - norms[1]
        slope = (1 + arb(float(x[7]))) / norms[0]
    f = symgrad(difference_of_norms, verify=False)
    assert ulps(f(x, y), truth) <= 16
    assert ulps(f.grad(x, y)[0][7], slope) <= 16


def test_out_and_kinds_of_what_is_computed_again():
    d = np.array([1e-9, 2e-9])
    f = symgrad(quotient)
    want = f.grad(d)
    out = np.empty(2)
    assert f.grad(d, out=out) is out
    np.testing.assert_array_equal(out, want)
    value, slope = f.value_and_grad(d)
    assert type(value) is float
    np.testing.assert_array_equal(slope, want)


def test_single_precision():
    d = np.array([1e-3, 2e-3], np.float32)
    got = symgrad(quotient).grad(d)
    assert got.dtype == np.float32
    want = symgrad(quotient).grad(d.astype(float))
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_what_is_left_is_told(monkeypatch):
    monkeypatch.setattr(recomputed, "MOST", -1)
    monkeypatch.setattr(recomputed.Recomputed, "_balls", None)
    x = vector(1e-15, 50)
    f = symgrad(log_mean_exp, verify=False)
    monkeypatch.setattr("symdiff.runtime.scalar.fallback._advised", set())
    with (
        pytest.warns(AccuracyWarning, match="log_mean_exp lost digits") as told,
        symdiff.options(validate=False),
    ):
        f(x)
        f(x)
    advised = [str(w.message).count("hint: error_bound(...)") for w in told]
    assert advised == [1, 0], "what to do is said once"


def test_arguments_that_are_not_finite():
    with np.errstate(all="ignore"):
        assert math.isnan(symgrad(quotient)(np.array([1.0, math.nan])))


def rotation(x):
    a, b = 1.0, 0.0
    for i in range(x.shape[0]):
        a, b = a - x[i] * b, b + x[i] * a
    return a * a + b * b


@pytest.mark.slow
def test_recurrences_without_loss_are_not_computed_again(monkeypatch):
    def never(*args):
        raise AssertionError("computed again")

    monkeypatch.setattr(recomputed.Recomputed, "__call__", never)
    x = vector(0.3, 6)
    with symdiff.options(validate=False):
        for f in (
            rotation,
            lambda x: np.sum(np.exp(x)) * np.sum(x**2) / (1 + np.sum(np.cos(x) ** 2)),
            ewma,
        ):
            g = symgrad(f, verify=False)
            g(x)
            g.grad(x)


def ewma(x):
    e = 2.0
    for i in range(x.shape[0]):
        e = 0.5 * e + 0.5 * (2 + x[i])
    return e


def network(W, U, x, c):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h = np.tanh(W @ h + U * x[t])
    return np.sum(h) - c


@pytest.mark.slow
def test_after_false_alarms_every_call_is_still_looked_at():
    """Bounds of long recurrences with matrices are far above their errors: those are computed."""
    rng = np.random.default_rng(5)
    W, U, x = rng.normal(size=(32, 32)) / 6, rng.normal(size=32), rng.normal(size=60)
    f, plain = symgrad(network, verify=False), symgrad(network, accuracy="fast", verify=False)
    for _ in range(8):
        for a, b in zip(f.grad(W, U, x, 0.0), plain.grad(W, U, x, 0.0), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=16 * np.spacing(np.abs(b).max()))
        c = round(f(W, U, x, 0.0), 11)
    with ctx.workprec(200):
        h = [arb(0)] * 32
        for v in balls(x):
            sums = [sum((a * b for a, b in zip(balls(row), h, strict=True)), arb(0)) for row in W]
            h = [(s + u * v).tanh() for s, u in zip(sums, balls(U), strict=True)]
        truth = sum(h, arb(0)) - arb(c)
    assert abs(truth) < 1e-11
    assert ulps(f(W, U, x, c), truth) <= 16


# ------------------------------------------------------------------------- linear solvers
SOLVERS = {
    "quadratic": lambda A, b, c: np.sum(np.linalg.solve(A, b) * b) - c,
    "several": lambda A, b, c: np.sum(np.linalg.solve(A, np.stack([b, 2 * b], axis=1))) - c,
    "determinant": lambda A, b, c: np.linalg.det(A) - c + 0 * b[0],
    "log_determinant": lambda A, b, c: np.linalg.slogdet(A)[1] - c + 0 * b[0],
    "inverse": lambda A, b, c: np.sum(np.linalg.inv(A) * b) - c,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_in_more_digits(name, monkeypatch):
    """A constant is taken off that is near, so that half of the digits are lost."""
    monkeypatch.setattr(recomputed, "MOST", -1)
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(6, 6)), rng.normal(size=6)
    A[0, 0] = 0.0  # rows are exchanged
    with ctx.workprec(300):
        M, v = arb_mat([balls(row) for row in A]), balls(b)
        x, inv = M.solve(arb_mat([[e] for e in v])), M.inv()
        truth = {
            "quadratic": sum((x[i, 0] * v[i] for i in range(6)), arb(0)),
            "several": 3 * sum((x[i, 0] for i in range(6)), arb(0)),
            "determinant": M.det(),
            "log_determinant": abs(M.det()).log(),
            "inverse": sum((inv[i, j] * v[j] for i in range(6) for j in range(6)), arb(0)),
        }[name]
        c = round(float(truth), 9)
        truth -= arb(c)
    with symdiff.options(validate=False):
        assert ulps(symgrad(SOLVERS[name], verify=False)(A, b, c), truth) <= 16


# ------------------------------------------------------------------------ long recurrences
def average(a, x):
    e = 0.0
    for i in range(x.shape[0]):
        e = a * x[i] + (1 - a) * e
    return e


def filtered(a, x):
    m = 0.0
    p = 1.0
    for i in range(x.shape[0]):
        p = p + 0.01
        k = p / (p + a)
        m = m + k * (x[i] - m)
        p = (1 - k) * p
    return m


def oscillation(a, x):
    u = 1.0
    v = 0.0
    for i in range(x.shape[0]):
        v = v - 0.01 * (a * u + 0.1 * v + x[i] * 0.01)
        u = u + 0.01 * v
    return u


@pytest.mark.slow
@pytest.mark.parametrize("f", [average, filtered, oscillation])
def test_long_recurrences(f):
    """100,000 steps: the value, and the derivative by differences of 600 bits."""
    x = np.random.default_rng(2).normal(size=100_000)
    with mpmath.workprec(600):
        xs = np.array([mpmath.mpf(float(v)) for v in x], object)
        a, step = mpmath.mpf(0.3), mpmath.mpf(2) ** -200
        ends = [f(a + k * step, xs) for k in (1, 0, -1)]
        truths = ends[1], (ends[0] - ends[2]) / (2 * step)
    g = symgrad(f, wrt="a", verify=False)
    with symdiff.options(validate=False):
        for got, truth in zip((g(0.3, x), g.grad(0.3, x)), truths, strict=True):
            assert abs(got - truth) <= 16 * math.ulp(float(truth))


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m) - 0.3 * x))


def recurrent(w, x):
    h = np.zeros(w.shape[0])
    for t in range(x.shape[0]):
        h = np.tanh(w @ h + x[t])
    return np.sum(h**2)


@pytest.mark.slow
def test_each_element_of_a_gradient_keeps_its_digits():
    """Small elements of gradients of short calls too, with "strict"."""
    rng = np.random.default_rng(1)
    args = rng.standard_normal((2, 2)), rng.standard_normal((6, 2))
    grads = (symgrad(recurrent, accuracy=level).grad(*args) for level in ("strict", "high"))

    def high(w, x):
        h = [mpmath.mpf(0)] * len(w)
        for row in x:
            h = [mpmath.tanh(sum(p * q for p, q in zip(r, h, strict=True)) + v)
                 for r, v in zip(w, row, strict=True)]  # fmt: skip
        return sum(v * v for v in h)

    for k, (strict, default) in enumerate(zip(*grads, strict=True)):
        wanted = slopes(high, args, k)
        with mpmath.workdps(80):
            for got, want in zip(strict.ravel().tolist(), wanted, strict=True):
                assert abs(got - want) <= math.ulp(float(want))
            assert of_the_largest(default, wanted) <= 2.0**-40


def test_corrections_that_cancel_too_are_not_believed():
    """Here values and their first-order errors agree, and what is left is of second order."""

    def defect(x):
        y = 1 + x**2
        return np.exp(np.sum(np.log(y)) / x.shape[0]) - np.sum(y) / x.shape[0]

    x = vector(1e-9, 5)
    with mpmath.workdps(200):
        y = [1 + mpmath.mpf(float(v)) ** 2 for v in x]
        want = mpmath.exp(sum(map(mpmath.log, y)) / 5) - sum(y) / 5
    assert abs(symgrad(defect)(x) / float(want) - 1) < 1e-14


def test_what_computes_calls_again_is_compiled_once(monkeypatch):
    made = []

    def noted(self, *args, plain=BallProgram.__init__):
        made.append(self)
        plain(self, *args)

    monkeypatch.setattr(BallProgram, "__init__", noted)
    x = vector(1e-5, 5)
    with mpmath.workdps(200):
        v = [mpmath.mpf(float(k)) for k in x]
        want = mpmath.log(sum(map(mpmath.exp, v)) / 5) - sum(v) / 5
    f = symgrad(log_mean_exp)
    for _ in range(3):
        assert f(x) == pytest.approx(float(want), rel=1e-14)
    assert len(made) == 1


@pytest.mark.slow
def test_calls_of_many_numbers_have_another_kernel():
    """The same function at both sizes, and results of shapes that are only known afterwards."""
    f = symgrad(lambda w, a, y: np.sum((a @ w - y) ** 2))
    rng = np.random.default_rng(2)
    for n in (10, 600):
        a, w, y = rng.standard_normal((n, 3)), rng.standard_normal(3), rng.standard_normal(n)
        for _ in range(2):
            np.testing.assert_allclose(f.grad(w, a, y)[0], 2 * a.T @ (a @ w - y), rtol=1e-11)


@pytest.mark.slow
def test_what_estimates_compute_again_is_not_tested(monkeypatch):
    """Elements were computed again at every call, for values that no result is made of."""
    from symdiff.runtime.loops.fallback import Again

    def evidence(x, a):
        s = a - (x[:, None] - a[None, :]) ** 2 / 2
        m = np.max(s, axis=1)
        return np.sum(m + np.log(np.sum(np.exp(s - m[:, None]), axis=1)))

    seen = []
    monkeypatch.setattr(Again, "_again", lambda self, *values: seen.append(values))
    rng = np.random.default_rng(3)
    symgrad(evidence)(rng.standard_normal(1100), rng.standard_normal(3))
    assert len(seen) < 100  # of 3300; all of them before


@pytest.mark.slow
@pytest.mark.parametrize("small", [1e-7, 1e-12, 1e-15])
def test_angles_near_zero(small):
    """Rounding errors beside values are not made up where they cancel as well."""
    f = symgrad(lambda u: np.arccos(u[0] / np.linalg.norm(u)))
    want = np.array([-small, 3.0]) / (9 + small**2)
    np.testing.assert_allclose(f.grad(np.array([3.0, small])), want, rtol=1e-15)


@pytest.mark.slow
def test_exact_zeros_of_short_calls():
    f = symgrad(lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2))
    for x in (np.ones(3), np.array([2.0, 4.0, 16.0])):
        assert f(x) == 0.0
        np.testing.assert_array_equal(f.grad(x), np.zeros(3))


@pytest.mark.sampled
@pytest.mark.parametrize("small", [1e-12, 1e-9, 1e-6])
def test_corrections_that_cancel_exactly(small):
    """Of each term the value stays and its corrections cancel; then the values do."""

    def pairs(x, y):
        r2 = 1 + x**2 + y**2
        return np.sum(1 / r2**6 - 2 / r2**3) + x.shape[0]

    x, y = small * np.array([0.3, -0.7, 0.9]), small * np.array([0.5, 0.2, -0.4])
    with flint.ctx.workprec(600):
        r2 = [1 + flint.arb(a) ** 2 + flint.arb(b) ** 2 for a, b in zip(x, y, strict=True)]
        want = float(sum((1 - 1 / r**3) ** 2 for r in r2))
    assert symgrad(pairs)(x, y) == pytest.approx(want, rel=1e-15)


def deviation(x):
    return np.median(np.abs(x - np.median(x)))


def inequality(x):
    n = len(x)
    return np.sum((2 * np.arange(1, n + 1) - n - 1) * np.sort(x)) / (n * np.sum(x))


@pytest.mark.slow
@pytest.mark.parametrize("f", [deviation, inequality])
def test_what_is_in_order_and_cancels_exactly(f):
    g = symgrad(f, cache=False)
    for x in ([1.0, 1.0], [5.0], [0.1, 0.1, 0.1], [1.0, 1.0, 1.0, 1.0]):
        assert g(np.array(x)) == 0.0
    assert symgrad(deviation, cache=False)(np.array([1.0, 1.0, 2.0])) == 0.0


def slerp(p, q, t):
    p = p / np.linalg.norm(p)
    q = q / np.linalg.norm(q)
    angle = np.arccos(np.dot(p, q))
    return (np.sin((1 - t) * angle) * p + np.sin(t * angle) * q) / np.sin(angle)


@pytest.mark.slow
def test_arrays_of_which_each_element_has_all_arguments_in_it():
    """The Jacobian of a rotation between two: with "strict" each entry is corrected at once, within an ulp or two."""
    rng = np.random.default_rng(3)
    p, q = rng.standard_normal((2, 4))
    got, default = (
        symgrad(slerp, wrt=("p", "q"), accuracy=accuracy).jacobian(p, q, 0.3)
        for accuracy in ("strict", "high")
    )

    def high(p, q):
        p, q = ([x / mpmath.sqrt(sum(y * y for y in v)) for x in v] for v in (p, q))
        angle = mpmath.acos(sum(x * y for x, y in zip(p, q, strict=True)))
        t = mpmath.mpf(0.3)
        a, b = (mpmath.sin(s * angle) / mpmath.sin(angle) for s in (1 - t, t))
        return [a * x + b * y for x, y in zip(p, q, strict=True)]

    for which in range(2):
        wanted = np.transpose(slopes(high, (p, q), which))
        with mpmath.workdps(80):
            for i, k in np.ndindex(4, 4):
                want = wanted[i, k]
                assert abs(got[which][i, k] - want) <= 2 * math.ulp(float(want))
                largest = np.abs(got[which]).max()
                assert abs(default[which][i, k] - want) <= 2.0**-40 * largest


@pytest.mark.slow
def test_rows_do_not_depend_on_how_many_there_are():
    """Of a product with a matrix, a row is the same to the last bit, in calls of few numbers and of many."""
    rng = np.random.default_rng(4)
    x, w = rng.standard_normal((700, 3)), rng.standard_normal(3)
    x[:, 2] = -(x[:, 0] * w[0] + x[:, 1] * w[1]) / w[2]  # what is left are roundings
    f = symgrad(lambda x, w: x @ w)
    rows = f(x, w)
    for n in (5, 100, 350):
        np.testing.assert_array_equal(f(x[:n], w), rows[:n])


def likelihood(y, s):
    t = np.arange(y.shape[0])
    k = np.exp(-0.5 * (t[:, None] - t[None, :]) ** 2 / s**2) + 0.125 * np.eye(y.shape[0])
    factor = np.linalg.cholesky(k)
    white = np.linalg.solve(factor, y)
    return 0.5 * white @ white + np.sum(np.log(np.diag(factor)))


@pytest.mark.slow
def test_gradients_through_cholesky_factors():
    """The likelihood of a Gaussian process by its length scale, without a warning."""
    y, s = np.array([1.0, -0.5, 0.25, 2.0]), 3.0
    n = len(y)

    def exact(s):
        k = mpmath.matrix(n, n)
        for i in range(n):
            for j in range(n):
                k[i, j] = mpmath.exp(-mpmath.mpf((i - j) ** 2) / 2 / s**2)
                k[i, j] += mpmath.mpf("0.125") * (i == j)
        white = mpmath.lu_solve(k, mpmath.matrix(list(map(float, y))))
        energy = sum(float(a) * b for a, b in zip(y, white, strict=True)) / 2
        return energy + mpmath.log(mpmath.det(k)) / 2

    with mpmath.workdps(60):
        want = float(mpmath.diff(exact, s))
    assert symgrad(likelihood).grad(y, s)[1] == pytest.approx(want, rel=1e-15)


def test_what_vanished_in_all_tiers_is_not_passed_as_zero():
    """Of 7e-40/3 beside log(3) no arithmetic of pairs knows a digit."""

    x = 1e-40 * np.array([1.0, 2.0, 4.0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", AccuracyWarning)
        found = symgrad(lambda x: scipy.special.logsumexp(x) - np.log(3.0))(x)
    assert told or found == pytest.approx(7e-40 / 3, rel=1e-12)
