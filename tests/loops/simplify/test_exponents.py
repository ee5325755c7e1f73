"""Sums of exponentials in programs with arrays: no overflow, no underflow."""

import warnings

import mpmath
import numpy as np
import pytest
from scipy import special

from symdiff import symgrad
from symdiff.runtime.loops.recomputed import Recomputed
from tests.law.alike import differences


def by_loop(x):
    total = 0.0
    for v in x:
        total += np.exp(v)
    return np.log(total)


def shares_of(x):
    """Exactly e**x[i]/sum(e**x), and the logarithm of the sum."""
    with mpmath.workdps(10000 if np.max(np.abs(x)) > 5000 else 1000):
        weights = [mpmath.exp(v) for v in np.ravel(x)]
        total = mpmath.fsum(weights)
        shares = np.array([float(w / total) for w in weights]).reshape(np.shape(x))
        return shares, float(mpmath.log(total))


SUMS = {
    "plain": lambda x: np.log(np.sum(np.exp(x))),
    "loop": by_loop,
    "mean": lambda x: np.log(np.mean(np.exp(x))) + np.log(x.shape[0]),
    "base 2": lambda x: np.log2(np.sum(np.exp(x))) / np.log2(np.e),
}
POINTS = [
    [1000.0, 1001.0, 999.5], [-1000.0, -1001.0, -999.5], [0.1, 0.2, -0.3], [-800.0, 800.0, 0.0],
    [1e5], [-2e3, -1e3],
]  # fmt: skip


def check_logarithm(f, x):
    shares, value = shares_of(x)
    assert f(x) == pytest.approx(value, rel=4e-15)
    np.testing.assert_allclose(f.grad(x), shares, rtol=4e-13, atol=1e-307)


@pytest.mark.sampled
@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("x", POINTS, ids=repr)
def test_logarithms_of_sums(name, x):
    check_logarithm(symgrad(SUMS[name]), np.array(x))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", [1.0, 700.0, -1e4])
def test_sums_over_all_axes(scale):
    x = scale * np.array([[0.1, -0.7, 0.4], [0.3, 0.2, -0.5]])
    check_logarithm(symgrad(SUMS["plain"]), x)


@pytest.mark.slow
@pytest.mark.parametrize("x", POINTS, ids=repr)
def test_quotients_by_sums(x):
    def softmax(x):
        e = np.exp(x)
        return e / np.sum(e)

    f, x = symgrad(softmax), np.array(x)
    p, _ = shares_of(x)
    np.testing.assert_allclose(f(x), p, rtol=4e-13, atol=1e-307)
    np.testing.assert_allclose(f.jacobian(x), np.diag(p) - np.outer(p, p), rtol=1e-12, atol=1e-16)


ROWS = np.array([[1000.0, 1001.0, 0.0], [-1000.0, -1001.0, -999.0], [0.1, 0.2, 0.3]])


def exact_softmax(x):
    return np.array([shares_of(row)[0] for row in x])


@pytest.mark.slow
@pytest.mark.parametrize(
    "softmax",
    [
        lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
        lambda x: (e := np.exp(x)) / e.sum(axis=-1)[:, None],
        lambda x: np.exp(x - np.log(np.sum(np.exp(x), axis=1))[:, None]),
    ],
    ids=["keepdims", "walrus", "logarithm"],
)
def test_rows(softmax):
    f, p = symgrad(softmax), exact_softmax(ROWS)
    np.testing.assert_allclose(f(ROWS), p, rtol=4e-13, atol=1e-307)
    slopes = f.jacobian(ROWS)
    for i in range(3):
        own = np.diag(p[i]) - np.outer(p[i], p[i])
        np.testing.assert_allclose(slopes[i, :, i], own, rtol=1e-12, atol=1e-16)
        assert not np.any(slopes[i, :, i - 1])


@pytest.mark.slow
@pytest.mark.parametrize("library", [False, True])
def test_cross_entropy(library):
    def loss(x, y):
        if library:
            p = special.softmax(x, axis=1)
        else:
            p = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
        return -np.mean(np.sum(y * np.log(p), axis=1))

    y = np.eye(3)
    f = symgrad(loss, wrt="x")
    with mpmath.workdps(1000):
        terms = [
            mpmath.log(mpmath.fsum(mpmath.exp(v) for v in row)) - row[i]
            for i, row in enumerate(ROWS)
        ]
        wanted = float(mpmath.fsum(terms) / 3)
    assert f(ROWS, y) == pytest.approx(wanted, rel=1e-15)
    slopes = (exact_softmax(ROWS) - y) / 3
    np.testing.assert_allclose(f.grad(ROWS, y), slopes, rtol=1e-12, atol=1e-16)


@pytest.mark.slow
def test_second_derivatives():
    x = np.array([900.0, 900.5])
    p = 1 / (1 + np.exp([0.5, -0.5]))
    f = symgrad(SUMS["plain"])
    np.testing.assert_allclose(f.hessian(x), np.diag(p) - np.outer(p, p), rtol=1e-14)


@pytest.mark.slow
def test_weights_and_parameters():
    """A density far from all its data."""

    def density(x, at, width):
        return np.log(np.sum(2.5 * np.exp(-(((at - x) / width) ** 2) / 2)))

    x = np.array([0.0, 1.0])
    f = symgrad(density)
    with mpmath.workdps(3000):

        def exact(at, width):
            return mpmath.log(
                mpmath.fsum(mpmath.mpf(2.5) * mpmath.exp(-(((at - v) / width) ** 2) / 2) for v in x)
            )

        at, width, h = mpmath.mpf(100), mpmath.mpf(1), mpmath.mpf(10) ** -40
        value = float(exact(at, width))
        by_at = float((exact(at + h, width) - exact(at - h, width)) / (2 * h))
        by_width = float((exact(at, width + h) - exact(at, width - h)) / (2 * h))
    assert f(x, 100.0, 1.0) == pytest.approx(value, rel=1e-15)
    assert f.grad(x, 100.0, 1.0)[1:] == pytest.approx((by_at, by_width), rel=1e-13)


def test_empty_and_infinite_sums():
    f = symgrad(SUMS["plain"])
    assert f(np.zeros(0)) == -np.inf
    assert f(np.array([np.inf, 0.0])) == np.inf
    assert f(np.array([-np.inf, 2.0])) == 2.0


def test_sums_that_are_used_otherwise_are_left_alone():
    f = symgrad(lambda x: np.sum(np.exp(x)) ** 2)
    x = np.array([0.5, -0.25])
    np.testing.assert_allclose(f.grad(x), 2 * np.sum(np.exp(x)) * np.exp(x), rtol=1e-15)
    assert "largest" not in f.source()


def _shifted_sum(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def _shifted_shares(x):
    m = np.max(x)
    e = np.exp((x - m) / 3.0)
    return np.sum((e / np.sum(e)) ** 2)


def _shifted_rows(x):
    z = np.stack((x, 2 * x))
    s = z - np.max(z, axis=1, keepdims=True)
    return -np.mean(s[:, 0] - np.log(np.sum(np.exp(s), axis=1)))


def _shifted_by_hand(x):
    m = x[0]
    for i in range(1, x.shape[0]):
        m = max(m, x[i])
    s = 0.0
    for i in range(x.shape[0]):
        s += np.exp(x[i] - m)
    return np.log(s) + m


@pytest.mark.sampled
@pytest.mark.parametrize("f", [_shifted_sum, _shifted_shares, _shifted_rows, _shifted_by_hand])
def test_what_exponents_are_shifted_by_is_not_differentiated(f):
    program = symgrad(f, accuracy="fast")
    x = np.array([0.3, -1.2, 2.5, 2.5, 0.1, -3.0])
    assert np.isclose(program(x), f(x), rtol=1e-14, atol=0)
    np.testing.assert_allclose(program.grad(x), differences(f, (x,)), rtol=1e-6, atol=1e-9)
    assert "tape" not in program.grad.source()  # of the largest so far
    for scale in (1e3, -1e3):
        assert np.isfinite(program.grad(scale * x)).all()


@pytest.mark.sampled
@pytest.mark.parametrize("f", [_shifted_sum, _shifted_shares, _shifted_by_hand])
@pytest.mark.parametrize("at", [(np.inf, 1.0), (-np.inf, -np.inf), (np.nan, 0.0), (-np.inf, 1.0)])
def test_infinite_shifts_are_what_they_are_in_numpy(f, at):
    with np.errstate(all="ignore"):
        expected = f(np.array(at))
    assert np.array_equal(symgrad(f)(np.array(at)), expected, equal_nan=True)


def _sums_and_logarithms(z):
    m = np.max(z, axis=1, keepdims=True)
    s = np.sum(np.exp(z - m), axis=1)
    return s, np.log(s) + m[:, 0]


def _shares_and_logarithms(z):
    m = np.max(z, axis=1, keepdims=True)
    e = np.exp(z - m)
    s = np.sum(e, axis=1, keepdims=True)
    return e / s, np.log(s) - m, z - m - np.log(s)


def _shares(z):
    e = np.exp(z - np.max(z))
    return e / np.sum(e), np.sum(e)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [_sums_and_logarithms, _shares_and_logarithms, _shares])
@pytest.mark.parametrize("scale", [1.0, 1e3, -1e3])
@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_sums_that_are_results_keep_their_shift(f, scale, accuracy):
    z = np.array([[0.25, -1.5, 1.0], [0.5, 0.5, -0.25]]) * scale
    found = symgrad(f, accuracy=accuracy)(z)
    for part, wanted in zip(found, f(z), strict=True):
        np.testing.assert_allclose(part, wanted, rtol=1e-13, atol=1e-300)


@pytest.mark.slow
def test_a_shift_that_counts_stays():
    def moved(x, k):
        return k * k + np.log(np.sum(np.exp(x - k)))

    x = np.array([1.0, 2.0])
    assert np.isclose(symgrad(moved)(x, 0.5), moved(x, 0.5), rtol=1e-15, atol=0)
    by_x, by_k = symgrad(moved).grad(x, 0.5)
    assert np.allclose(by_x, np.exp(x) / np.sum(np.exp(x)), rtol=1e-15, atol=0)
    assert by_k == 0.0


@pytest.mark.slow
def test_shifts_behind_arrays_of_logarithms():
    def loss(w, x, labels):
        z = np.tanh(x @ w)
        m = np.max(z, axis=1, keepdims=True)
        logs = z - m - np.log(np.sum(np.exp(z - m), axis=1, keepdims=True))
        return -np.mean(logs[np.arange(len(labels)), labels])

    rng = np.random.default_rng(1)
    w, x, labels = rng.normal(size=(3, 4)), rng.normal(size=(5, 3)), np.array([0, 3, 1, 1, 2])
    f = symgrad(loss, wrt="w", accuracy="fast")
    assert np.isclose(f(w, x, labels), loss(w, x, labels), rtol=1e-14, atol=0)
    z = np.tanh(x @ w)
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    exact = x.T @ ((p - np.eye(4)[labels]) * (1 - z**2)) / 5
    assert np.allclose(f.grad(w, x, labels), exact, rtol=1e-13, atol=1e-16)
    assert "tape" not in f.grad.source()


@pytest.mark.slow
def test_errors_of_shifts_do_not_count(monkeypatch):
    """The largest of rounded numbers less itself is 0 with nothing known of its error."""
    ran = []
    run = Recomputed._in_balls

    def noted(self, *args):
        found = run(self, *args)
        ran.append(found[1])
        return found

    monkeypatch.setattr(Recomputed, "_in_balls", noted)
    rng = np.random.default_rng(2)
    w, x = rng.normal(size=(20, 10)), rng.normal(size=(100, 20))
    f = symgrad(
        lambda w, x: np.mean(special.logsumexp(np.tanh(x @ w), axis=1)), wrt="w", accuracy="strict"
    )
    z = np.tanh(x @ w)
    p = np.exp(z) / np.sum(np.exp(z), axis=1, keepdims=True)
    for _ in range(2):
        np.testing.assert_allclose(f.grad(w, x), x.T @ (p * (1 - z**2)) / 100, rtol=1e-11)
    assert ran
    assert not any(ran)


FAR = np.array([1000.0, 1001.0, -1000.0])
LOGARITHMS = {
    "plain": SUMS["plain"],
    "mean": lambda x: np.log(np.mean(np.exp(x))),
    "shifted": lambda x: np.max(x) + np.log(np.sum(np.exp(x - np.max(x)))),
    "weights": lambda x: np.log(3 * np.sum(np.exp(x)) / 7),
    "other bases": lambda x: np.log2(np.sum(np.exp(x))) - np.log10(np.sum(np.exp(x))),
    "rows": lambda x: np.sum(np.log(np.sum(np.exp(np.stack([x, -x])), axis=1))),
}


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high"])
@pytest.mark.parametrize("name", LOGARITHMS)
@pytest.mark.parametrize("shift", [0.0, -3000.0])
def test_logarithms_of_sums_do_not_leave_the_range(name, accuracy, shift):
    plain = LOGARITHMS[name]
    x = FAR + shift

    def truth(*x):
        total = mpmath.fsum(map(mpmath.exp, x))
        both = total * mpmath.fsum(mpmath.exp(-t) for t in x)
        found = mpmath.log(
            {"mean": total / 3, "weights": 3 * total / 7, "rows": both}.get(name, total)
        )
        return found / mpmath.log(2) - found / mpmath.log(10) if name == "other bases" else found

    with mpmath.workdps(900):
        value = float(truth(*map(mpmath.mpf, x)))
    f = symgrad(plain, accuracy=accuracy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(x) == pytest.approx(value, rel=1e-14)
        assert np.isfinite(f.grad(x)).all()
