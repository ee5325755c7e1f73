"""What arithmetic with infinities gives: where there is no limit, values are those of NumPy, with the sign of
zero, for numbers, arrays and loops alike. Infinite arguments (log 0 in tables of transitions, masks): a slope
by a finite argument is that of the function of this argument alone; by an infinite one it is 0, as -inf + t
is -inf."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences

ONE_SIDED: dict[str, Any] = {
    "exp(-1/x)": lambda x: np.exp(-1 / x),
    "exp(1/x)": lambda x: np.exp(1 / x),
    "tanh(1/x)": lambda x: np.tanh(1 / x),
    "arctan(1/x)": lambda x: np.arctan(1 / x),
    "1/x": lambda x: 1 / x,
    "abs(1/x)": lambda x: abs(1 / x),
    "(1/x)**3": lambda x: (1 / x) ** 3,
    "1/(1 + exp(1/x))": lambda x: 1 / (1 + np.exp(1 / x)),
    "exp(-exp(1/x))": lambda x: np.exp(-np.exp(1 / x)),
    "exp(-1/sin(x))": lambda x: np.exp(-1 / np.sin(x)),
    "tanh(1/x**3) + 1": lambda x: np.tanh(1 / x**3) + 1,
    "minimum(1/x, 3)": lambda x: np.minimum(1 / x, 3.0),
    "maximum(1/x, 3)": lambda x: np.maximum(1 / x, 3.0),
    "clip(1/x)": lambda x: np.clip(1 / x, -1.0, 2.0),
    "where(1/x > 2)": lambda x: np.where(1 / x > 2, 1.0, x),
    "sign(1/x)": lambda x: np.sign(1 / x),
    "arctan2(1/x, -2)": lambda x: np.arctan2(1 / x, -2.0),
    "cbrt(1/x)": lambda x: np.cbrt(1 / x),
    "logaddexp(1/x, 2)": lambda x: np.logaddexp(1 / x, 2.0),
    "sinh(1/x)": lambda x: np.sinh(1 / x),
}
POINTS = np.array([0.0, -0.0, 1.5, -1.5])


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict", "certified"])
@pytest.mark.parametrize("name", ONE_SIDED)
def test_values_where_there_is_no_limit(name: str, accuracy: str) -> None:
    f = ONE_SIDED[name]
    s = symgrad(f, accuracy=accuracy)
    with np.errstate(all="ignore"):
        want = f(POINTS)
    for _ in range(2):
        np.testing.assert_allclose(s(POINTS), want, rtol=1e-14)
        np.testing.assert_allclose([s(float(x)) for x in POINTS], want, rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["high", "certified"])
def test_the_same_inside_of_loops_and_sums(accuracy: str) -> None:
    def looped(x: Any) -> Any:
        total = 0.0
        for k in range(x.shape[0]):
            total = total + np.exp(-1 / x[k]) + np.tanh(1 / x[k])
        return total

    functions = [
        looped,
        lambda x: np.dot(np.tanh(1 / x), x + 1),
        lambda x: np.prod(np.tanh(1 / x)),
        lambda x: np.mean(np.where(1 / x > 2, 1.0, x)),
    ]
    for f in functions:
        s = symgrad(f, accuracy=accuracy)
        for x in (np.array([0.0, 1.5]), np.array([-0.0, 0.5]), np.array([1.0, -0.0, 0.0])):
            with np.errstate(all="ignore"):
                want = f(x)
            np.testing.assert_allclose(s(x), want, rtol=1e-14)


DECIDED_BY_SIGNS_OF_ZEROS: list[Any] = [
    lambda x: np.where(1 / x > 2, 1.0, x),
    lambda x: np.where(1 / (x * x * x) > 2, 1.0, x),
    lambda x: np.where(1 / (-x) > 2, 1.0, x),
    lambda x: np.where(np.arctan2(x, -1.0) > 0, 1.0, x),
]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", "high", "strict", "certified"])
@pytest.mark.parametrize("f", DECIDED_BY_SIGNS_OF_ZEROS)
def test_signs_of_zeros_decide_in_every_arithmetic(f: Any, accuracy: str) -> None:
    x = np.array([-0.0, 0.5, 0.0, -1e-120, 1e-120])
    with np.errstate(all="ignore"):
        want, whole = f(x), np.sum(f(x))
        s, total = symgrad(f, accuracy=accuracy), symgrad(lambda x: np.sum(f(x)), accuracy=accuracy)
        for _ in range(2):
            np.testing.assert_array_equal(s(x), want)
            np.testing.assert_array_equal([s(float(v)) for v in x], want)
            assert total(x) == whole


def test_limits_of_derivatives_are_still_filled() -> None:
    bump = symgrad(lambda x: np.exp(-1 / x**2))
    assert [d(0.0) for d in (bump, bump.grad, bump.hessian)] == [0.0, 0.0, 0.0]
    step = symgrad(lambda x: np.tanh(1 / x))
    assert step.grad(0.0) == step.grad(-0.0) == 0.0


@pytest.mark.slow
def test_all_derivatives_of_a_power_of_zero() -> None:
    f = symgrad(lambda y: 0.0**y)
    y = np.array([2.0, 0.5, 0.0])
    np.testing.assert_array_equal(f(y), [0.0, 0.0, 1.0])
    for d in (f.grad, f.diff("y", "y"), f.diff("y", "y", "y")):
        np.testing.assert_array_equal(d(y)[:2], [0.0, 0.0])
        assert d(2.0) == 0.0
    assert math.isinf(f.grad(0.0))


POWERS_OF_ZERO = [
    lambda y: 0.0 ** (2 * y), lambda y: 0.0 ** (y + 1), lambda y: 0.0 ** (y**2), lambda y: np.power(0.0, y) * y,
    lambda y: 0.0**y * np.sin(y), lambda y: np.exp(0.0**y), lambda y: (0.0**y) ** 2, lambda y: 0**y + 0.0 ** (y / 3),
    lambda y: np.where(y > 0, 0.0**y, 1.0), lambda y: 1 / (1 + 0.0**y), lambda y: 0.0**y / y, lambda y: 0.0 ** np.exp(y),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", POWERS_OF_ZERO)
def test_what_powers_of_zero_are_made_into_is_constant(f: Any) -> None:
    s, y = symgrad(f), np.array([2.0, 0.5, 1.0, 3.0])
    np.testing.assert_array_equal(s(y), f(y))
    for d in (s.grad, s.diff("y", "y")):
        np.testing.assert_array_equal(d(y), np.zeros(4))


@pytest.mark.sampled
@pytest.mark.parametrize("function", [math.sinh, math.atan, math.tanh, math.expm1, math.sin])
def test_what_has_the_sign_of_an_inverse_is_zero_at_infinity(function):
    f = symgrad(lambda x: 1.0 if function(1 / x) == 0 else 2.0)
    assert (f(math.inf), f(2.0)) == (1.0, 2.0)


# --- infinite arguments
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
