"""Integers in functions of arrays: derivatives beside them, those that are passed on to other functions, and
those that a function makes of what is decided."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symdiff
from symdiff import SymdiffError, symgrad
from tests.law.alike import alike

K, A = np.array([1, 2, 2]), 2.7


def zeros(k, a):
    w = np.zeros_like(k)
    w[0] = a
    return np.sum(w) * a


def empty(k, a):
    w = np.empty_like(k)
    w[:] = a * k
    return np.sum(w) * a


def one_by_one(k, a):
    w = np.empty_like(k)
    for i in range(len(k)):
        w[i] = a + i
    return np.sum(w) * a


def copied(k, a):
    w = k.copy()
    w[1] = a
    return np.sum(w) * a


def sliced(k, a):
    w = k[:] * 1
    w[1:] = a
    return np.sum(w * a)


def converted(k, a):
    w = k.astype(float)
    w[0] = a
    return np.sum(w) * a


def listed(k, a):
    w = np.array(k)
    w[0] = a
    return np.sum(w) * a


def accumulated(k, a):
    w = np.zeros_like(k)
    for i in range(1, len(k)):
        w[i] = w[i - 1] / 2 + k[i] * a
    return np.sum(w) * a


def counted(k, a):
    c = np.zeros(3)
    for i in range(len(k)):
        c[k[i]] += a
    return np.sum(c**2)


def labels(k, a):
    total = 0.0
    for c in range(3):
        total = total + np.sum(np.where(k == c, a, 0.5)) ** 2 * (c + 1)
    return total


def truths(k, a):
    w = np.zeros_like(k > 1)
    w[0] = a
    return np.sum(w) * a


EACH = [
    zeros, empty, one_by_one, copied, sliced, converted, listed, accumulated, counted, labels, truths,
    lambda k, a: np.sum(np.full_like(k, a)) * a,
    lambda k, a: np.sum(k // 2) * a + np.sum(k % 2) * a**2 + np.sum(k / 2) * a,
    lambda k, a: np.sum(np.where(k > 1, a, a**2)),
    lambda k, a: np.sum(a**k) + np.sum(k**2) * a,
]  # fmt: skip


def slope(f: Callable[..., Any], *args: Any) -> float:
    """The difference quotient by the last argument of plain Python."""
    *kept, a = args
    h = 1e-5
    return (f(*kept, a + h) - f(*kept, a - h)) / (2 * h)


@pytest.mark.sampled
@pytest.mark.parametrize("f", EACH)
def test_slopes_by_floats(f: Callable[..., Any]) -> None:
    want = pytest.approx(slope(f, K, A), rel=1e-8)
    g = symgrad(f, wrt="a")
    assert g.grad(K, A) == want
    assert g.value_and_grad(K, A) == (pytest.approx(f(K, A)), want)
    by_all = symgrad(f).grad(K, A)
    assert (by_all[-1] if isinstance(by_all, tuple) else by_all) == want


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["fast", "strict", "certified"])
@pytest.mark.parametrize("f", EACH)
def test_slopes_in_other_ways(f: Callable[..., Any], accuracy: Any) -> None:
    want = pytest.approx(slope(f, K, A), rel=1e-8)
    g = symgrad(f, wrt="a", accuracy=accuracy)
    assert g.grad(K, A) == g.jacobian(K, A) == g.diff("a")(K, A) == want
    assert g.jvp((K, A), (1.0,)) == (pytest.approx(f(K, A)), want)
    assert g.vjp((K, A), 1.0) == (pytest.approx(f(K, A)), want)
    assert g.hessian(K, A) == pytest.approx(slope(g.grad, K, A), abs=1e-6)
    assert symdiff.grad(f, wrt="a")(K, A) == want


def test_derivatives_by_them_are_left_out_or_refused() -> None:
    f = symgrad(zeros)
    assert f.grad(K, A) == f.jacobian(K, A) == 2.0
    assert f.jvp((K, A), (0 * K, 1.0)) == (5.4, 2.0)
    with pytest.raises(SymdiffError, match="'k' of zeros is an integer here"):
        symgrad(zeros, wrt="k").grad(K, A)
    with pytest.raises(SymdiffError, match="'k' of zeros is an integer here"):
        f.diff("k")(K, A)
    with pytest.raises(SymdiffError, match="the vector by k is not 0"):
        f.jvp((K, A), (K, 1.0))


def test_each_call_by_its_kinds() -> None:
    g = symgrad(zeros, wrt="a").grad
    for _ in range(3):
        assert g(K * 1.0, A) == 5.4
        assert g(K, A) == 2.0
        assert g(K, 3) == 3.0  # a number that is differentiated by is real
    both = np.stack([K, K])
    np.testing.assert_array_equal(g.map(both, np.array([2.7, 3.7])), [2.0, 3.0])
    np.testing.assert_array_equal(g.map(both * 1.0, np.array([2.7, 3.7])), [5.4, 7.4])
    for narrow in (np.uint8, np.int8, np.int32, np.uint64):
        with pytest.raises(SymdiffError, match="floats that zeros_grad stores"):
            g(K.astype(narrow), A)


@pytest.mark.slow
def test_lists_and_numbers_that_make_arrays() -> None:
    g = symgrad(listed, wrt="a").grad
    assert g([1, 2], A) == g((1, 2), A) == 4.0
    assert g([1.0, 2], A) == 7.4

    def pair(k, n, a):
        w = np.array([k, n])
        w[0] = a
        return np.sum(w) * a

    assert symgrad(pair, wrt="a").grad(3, 5, A) == symgrad(pair).grad(3, 5, A) == 7.0
    assert symgrad(pair).grad(3.0, 5, A) == (0.0, 2.7, pytest.approx(10.4))


@dataclass
class Model:
    k: Any
    b: float


def of_model(p, a):
    w = np.zeros_like(p.k)
    w[0] = a
    return np.sum(w) * a * p.b


def test_leaves_of_containers() -> None:
    g = symgrad(of_model, wrt="a").grad
    assert g(Model(K, 2.0), A) == g(Model(K, 2), A) == 4.0
    assert g(Model(K * 1.0, 2.0), A) == pytest.approx(10.8)
    with pytest.raises(SymdiffError, match="containers with integers"):
        symgrad(of_model, wrt="p").grad(Model(K, 2.0), A)


def by_type(k, a):
    return a * k if isinstance(k, int) else a * a


def test_types_that_functions_ask_for() -> None:
    for g in (symgrad(by_type, wrt="a").grad, symgrad(by_type, wrt="a", accuracy="fast").grad):
        for _ in range(2):
            assert g(3.0, A) == 5.4
            assert g(3, A) == 3.0
    assert symgrad(by_type).grad(3, A) == 3.0
    assert symgrad(lambda x: 2 * x if isinstance(x, (int, float)) else x).grad(3) == 2.0


def every(x, k, a):
    s = acc = 0.0
    n = 0
    for v in x:
        acc = acc + v / a
        n = n + 1
        if n == k:
            s, acc, n = s + acc**2, 0.0, 0
    return s + acc


@pytest.mark.slow
def test_numbers_that_are_only_compared() -> None:
    x = np.ones(9)
    f, by_others = symgrad(every), symgrad(every, wrt=("x", "a"))
    for k in (2, 4):
        for got, want in zip(f.grad(x, k, 0.6), by_others.grad(x, k, 0.6), strict=True):
            np.testing.assert_allclose(got, want)
        assert f.grad(x, k, 0.6)[1] == pytest.approx(slope(every, x, k, 0.6))
    by_x, by_k, by_a = f.grad(x, 2.0, 0.6)
    assert by_k == 0.0 and by_a == pytest.approx(slope(every, x, 2, 0.6))
    with pytest.raises(SymdiffError, match="'k' of every is an integer here"):
        symgrad(every, wrt="k").grad(x, 2, 0.6)


def test_numbers_of_python_count_as_floats() -> None:
    assert symgrad(lambda x, n: x**n + n * x).grad(2.0, 3) == pytest.approx(
        (15.0, 8 * np.log(2) + 2)
    )
    assert symgrad(lambda x, y: 0.0 if x == 0 and y == 0 else x + 2 * y).grad(0, 0) == (1.0, 2.0)
    assert symgrad(lambda k, n: np.sum(k) * n).grad(K, 3)[1] == 5.0


h = symgrad(zeros, wrt="a")


@pytest.mark.slow
def test_derivatives_inside_of_functions() -> None:
    def outer(k, b):
        return h.grad(k, b) * b

    def known(b):
        return h.grad(np.array([1, 2, 3]), b) * b

    assert symgrad(outer, wrt="b")(K, A) == pytest.approx(5.4)
    assert symgrad(outer, wrt="b").grad(K, A) == symgrad(known).grad(A) == 2.0
    assert symgrad(outer, wrt="b").grad(K * 1.0, A) == pytest.approx(10.8)


# --- passed to decorated functions inside of others
X = np.array([1.0, -2.0, 3.0])


@symgrad
def pick(x, places):
    return np.sum(x[places])


@symgrad
def half(q):
    return q / 2


@symgrad
def square(q):
    return q * q


@symgrad
def doubling(a):
    a *= 2
    return np.sum(a)


@symgrad
def by_element(u):
    return u * 2 if u > 1 else u


@symgrad
def larger(u, v, k=2):
    return np.where(u > v, u, v) * k


def keeps_what_it_passes(x):
    k = np.array([1, 2, 3])
    s = doubling(k)
    return s + k * x


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: pick(x, np.array([0, 2])) * 2, (X,)),
        (lambda x, places: pick(x, places) * 2, (X, np.array([0, 2]))),
        (lambda x: sum(pick(x, np.array([i])) for i in range(3)), (X,)),
        (lambda x: pick(x, x > 0), (X,)),
        (lambda x: half(np.arange(3)) * x, (X,)),
        (lambda x: square(np.arange(3)) + 0 * int(x > 0), (2.0,)),
        (lambda x, k: square(k) * x, (2.0, np.array([1, 2]))),
        (lambda x, k: by_element(k) * x, (2.0, np.array([1, 2, 3]))),
        (lambda x: larger(x, np.any(x > 0)), (X,)),
        (lambda x: larger(x, np.array_equal(x, x), 1), (X.reshape(1, 3),)),
        (keeps_what_it_passes, (2.0,)),
        (lambda x, k: doubling(k) + np.sum(k) + x, (1.0, np.array([1, 2]))),
    ],
)
def test_they_stay_integers(f: Callable[..., Any], args: Any) -> None:
    alike(symgrad(f)(*args), f(*args), 0.0, types="kind")


def test_derivatives() -> None:
    f = symgrad(lambda x, places: pick(x**2, places))
    assert f.grad(X, np.array([0, 2])).tolist() == [2.0, 0.0, 6.0]


def of_type(x, k):
    if isinstance(k, int):
        return x[k]
    return x[0] * k


def of_floats(x):
    return x * 2 if isinstance(x, float) else -x


def test_types_are_those_of_the_call() -> None:
    f, g = symgrad(of_type), symgrad(of_floats)
    for k in (1, 0.5, 0, 1.0):
        assert f(X, k) == of_type(X, k)
    for v in (1, 0.5, 0, 1.0, np.float64(2.0)):
        assert g(v) == of_floats(v)


# --- made of truth values and rounded numbers
def stored(x):
    a = np.array([1, 2, 3])
    a[1] = x > 0
    return a * 2


def stored_among_many(x):
    a = np.arange(4)
    a[2] = x > 0
    return a + 0.5


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([1, x > 0]),
        lambda x: np.array([1, round(x)]),
        lambda x: np.array([1, x > 0]) * x,
        lambda x: (
            np.array([x > 0, False]),
            np.array([1.0, x > 0]),
            np.array([x > 0, 3 * (x > 1)]),
        ),
        lambda x: (np.array([x > 0, 3 * (x > 1)]) // 2, np.array([7, 3 * (x > 1)]) % 2),
        lambda x: (np.array([x > 0, 3 * (x > 1)]) / 2, np.array([1, math.floor(x)]) * np.arange(2)),
        lambda x: [np.array([0, round(x)]) % 2, abs(np.array([0, round(x)]))],
        lambda x: np.where(np.array([0, round(x)]) > 1, np.array([0, round(x)]), 0),
        lambda x: (np.array([2, x > 0]).sum(), np.array([2, x > 0]).max()),
        stored,
        stored_among_many,
    ],
)
@pytest.mark.parametrize("x", [2.6, -0.4])
def test_integers_of_what_is_decided(f: Callable[..., Any], x: float) -> None:
    alike(symgrad(f)(x), f(np.float64(x)), 0.0, types="kind")


def test_of_elements_of_arrays() -> None:
    x = np.array([2.0, -1.0])
    f = symgrad(lambda x: np.array([x[0] > 0, 3, np.sum(x > 0)]))
    np.testing.assert_array_equal(f(x), np.array([1, 3, 1]), strict=True)
    g = symgrad(lambda x: np.sum(np.array([1, x[1] > 0]) * x**2))
    assert g(x) == 4.0 and g.grad(x).tolist() == [4.0, 0.0]


def test_powers_of_integers() -> None:
    def masked(x, k):
        return 2**k * (x[k] > 0)

    f = symgrad(masked)
    x = np.array([1.0, 2.0, 3.0])
    for k in (2, -2, 0, -1):
        assert f(x, k) == masked(x, k)

    with pytest.raises(SymdiffError, match="negative integer power"):
        symgrad(lambda x: np.arange(1, 4) ** -1 * x)(x)


def test_no_derivative_by_an_integer_alone() -> None:
    x = np.array([1.0, 2.0])
    for which in ("k", 1):
        f = symgrad(lambda x, k: x[k] ** 2, wrt=which)
        for derivative in (f.grad, f.jacobian, f.value_and_grad, f.hessian):
            with pytest.raises(SymdiffError, match=r"'k' of .* is an integer here"):
                derivative(x, 1)
        assert f(x, 1) == 4.0


def test_squares_of_truth_values_are_refused() -> None:
    """NumPy has them in 8 bits, and roots of those in float16."""
    x = np.array([1.0, -2.0])
    with pytest.raises(SymdiffError, match="integers of 8 bits"):
        symgrad(lambda x: np.sqrt((x > 0) ** 2) * x)(x)
    np.testing.assert_array_equal(symgrad(lambda x: (x > 0) ** 3)(x), (x > 0) ** 3)
