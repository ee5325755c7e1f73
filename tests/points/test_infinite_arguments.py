"""Infinite arguments: log 0 in tables of transitions, masks. A slope by a finite argument is that of the function
of this argument alone; by an infinite one it is 0, as -inf + t is -inf."""

import math
import warnings

import numpy as np
import pytest

from symdiff import symgrad

INF = math.inf


def forward(logA, logB, obs):
    a = np.full(len(logA), -np.inf)
    a[0] = 0.0
    for t in range(len(obs)):
        new = np.zeros(len(a))
        for j in range(len(a)):
            x = a + logA[:, j]
            m = np.max(x)
            new[j] = (
                -np.inf if m == -np.inf else m + np.log(np.sum(np.exp(x - m))) + logB[j, obs[t]]
            )
        a = new
    m = np.max(a)
    return m + np.log(np.sum(np.exp(a - m)))


def forward_reduced(init, A, B):
    a = init.copy()
    for t in range(B.shape[0]):
        a = np.logaddexp.reduce(a[:, None] + A, axis=0) + B[t]
    return np.logaddexp.reduce(a)


def backward(A, B):
    b = np.zeros(A.shape[0])
    for t in range(B.shape[0] - 1, -1, -1):
        b = np.logaddexp.reduce(A + (B[t] + b)[None, :], axis=1)
    return b[0]


def viterbi(init, A, B):
    a = init.copy()
    for t in range(B.shape[0]):
        a = np.max(a[:, None] + A, axis=0) + B[t]
    return np.max(a)


def attention(q, k, v, mask):
    s = q @ k.T + mask
    s = s - np.max(s, axis=1, keepdims=True)
    e = np.exp(s)
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) @ (v * v))


def masked_softmax(x, mask):
    z = x + mask
    e = np.exp(z - np.max(z))
    return np.sum(e / np.sum(e) * x)


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def padded(x, w):
    s = -np.inf
    for i in range(len(x)):
        s = np.logaddexp(s, x[i] + w[i])
    return s


def shortest(d):
    n, c = len(d), d.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if i != j:
                    c[i, j] = min(c[i, j], c[i, k] + c[k, j])
    return np.sum(np.exp(-c))


with np.errstate(divide="ignore"):
    A = np.log(np.array([[0.5, 0.5, 0.0], [0.0, 0.6, 0.4], [0.1, 0.0, 0.9]]))
B = np.log(np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.3, 0.3, 0.2, 0.2]]))
OBS = np.array([0, 1, 3, 2, 1])
SCORES = B.T[OBS] + 0.01 * np.arange(15).reshape(5, 3) ** 2
INIT = np.array([0.0, -INF, -INF])
RNG = np.random.default_rng(1)
Q, K, V = RNG.normal(size=(3, 3, 2))
MASK = np.triu(np.full((3, 3), -INF), 1)
D = np.array([[0.1, 1.0, INF], [INF, 0.2, 2.5], [INF, INF, 0.3]])


def differences(f, args, k):
    """Central differences by the finite elements of an argument."""
    found = np.zeros(args[k].shape)
    for at in zip(*np.nonzero(np.isfinite(args[k])), strict=True):
        sides = []
        for h in (1e-5, -1e-5):
            moved = [np.copy(a) for a in args]
            moved[k][at] += h
            sides.append(f(*moved))
        found[at] = (sides[0] - sides[1]) / 2e-5
    return found


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("f", "wrt", "args"),
    [
        (forward, ("logA", "logB"), (A, B, OBS)),
        (forward_reduced, ("init", "A", "B"), (INIT, A, SCORES)),
        (backward, ("A", "B"), (A, SCORES)),
        (viterbi, ("init", "A", "B"), (INIT, A, SCORES)),
        (attention, ("q", "k", "v", "mask"), (Q, K, V, MASK)),
        (masked_softmax, ("x", "mask"), (np.array([1.0, 2.0, 3.0]), np.array([0.0, -INF, 0.0]))),
        (log_sum_exp, ("x",), (np.array([1.0, -INF, 3.0]),)),
        (padded, ("x", "w"), (np.array([1.0, 2.0, 0.5]), np.array([0.0, -INF, 0.3]))),
        (shortest, ("d",), (D,)),
    ],
)
def test_tables_and_masks(f, wrt, args):
    names = f.__code__.co_varnames
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g = symgrad(f, wrt=wrt)
        found = g.grad(*args)
    assert g(*args) == pytest.approx(f(*args), rel=1e-13)
    for name, slopes in zip(wrt, found if len(wrt) > 1 else (found,), strict=True):
        with np.errstate(all="ignore"):
            want = differences(f, args, names.index(name))
        np.testing.assert_allclose(slopes, want, rtol=1e-7, atol=1e-8)


@pytest.mark.slow
def test_visits_add_up():
    assert np.sum(symgrad(forward, wrt="logB").grad(A, B, OBS)) == pytest.approx(
        len(OBS), rel=1e-13
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("f", "args", "slopes"),
    [
        (lambda x, y: math.exp(-x * y), (2.0, INF), (0, 0)),
        (lambda x, y: x + math.exp(-x * y), (2.0, INF), (1, 0)),
        (lambda x, y: np.logaddexp(x, y), (2.0, -INF), (1, 0)),
        (lambda x, y: x * np.logaddexp(y, x), (2.0, -INF), (4, 0)),
        (lambda x, y: x * np.exp(y), (2.0, -INF), (0, 0)),
        (lambda x, y: max(x, y) ** 2, (2.0, -INF), (4, 0)),
        (lambda x, y: x / (1 + np.exp(-y * x)), (2.0, INF), (1, 0)),
        (lambda x, y: x * math.tanh(x * y) + x * x, (2.0, INF), (5, 0)),
        (lambda x, y: x * math.atan(y), (2.0, INF), (math.pi / 2, 0)),
        (lambda x, y: x**2 + x / y, (2.0, INF), (4, 0)),
    ],
)
def test_numbers(f, args, slopes):
    assert symgrad(f).grad(*args) == pytest.approx(slopes, rel=1e-13, abs=1e-300)


@pytest.mark.slow
def test_second_derivatives_and_directions():
    x = np.array([1.0, -INF, 3.0])
    p, q = 1 / (1 + math.exp(2)), 1 / (1 + math.exp(-2))
    want = p * q * np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]])
    np.testing.assert_allclose(symgrad(log_sum_exp).hessian(x), want, rtol=1e-13, atol=1e-300)
    assert symgrad(log_sum_exp).jvp(x, np.array([1.0, 0.0, 0.5]))[1] == pytest.approx(p + q / 2)
    found = symgrad(forward_reduced, wrt="B").jvp((INIT, A, SCORES), (np.ones_like(SCORES),))[1]
    assert found == pytest.approx(5, rel=1e-13)


def test_elements_of_arrays():
    f = symgrad(lambda x, y: np.exp(-x * y))
    x, y = np.array([2.0, 0.5]), np.array([INF, 1.0])
    np.testing.assert_allclose(f.grad(x, y)[0], [0, -math.exp(-0.5)], rtol=1e-13)


def weighted(x, m, T):
    w = np.exp(-(x - m) * (x - m) / T)
    return np.sum(w * np.where(m < 0, 0.0, x)) / np.sum(w)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_a_mean_of_which_all_terms_are_left_out_has_no_slopes(accuracy):
    """0/0: neither has the function a value."""
    f = symgrad(weighted, accuracy=accuracy)
    args = np.array([1.0, 2.0, 3.0]), np.full(3, -INF), 0.5
    assert math.isnan(f(*args))
    assert all(np.isnan(g).all() for g in f.grad(*args))
    some = f.grad(np.array([1.0, 2.0]), np.array([0.0, -INF]), 0.5)
    np.testing.assert_allclose(some[0], [1.0, 0.0])
    np.testing.assert_allclose(some[2], 0.0)
