"""What is stored in arrays of integers is what NumPy stores, by the dtypes of each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError
from tests.frontend.refused import program

Function = Callable[..., Any]
K = np.array([5, 2, 7])


zeros_like = program("zeros_like(k, a)", "w = np.zeros_like(k)", "w[0] = a", "return np.sum(w) * 0.5")  # fmt: skip


def full_like(k, a):
    return np.full_like(k, a) * 0.5


dtype_of = program("dtype_of(k, a)", "w = np.zeros((len(k), 2), k.dtype)", "w[:, 1] = a * k", "return w * 0.5")  # fmt: skip


def empty_like(k, a):
    w = np.empty_like(k)
    for i in range(len(k)):
        w[i] = a * i
    return w * 0.5


of_elements = program("of_elements(k, a)", "w = np.array([k[0], k[1]])", "w[1] = a", "return w * 0.5")  # fmt: skip
masked = program("masked(k, a)", "w = k.copy()", "w[k > 3] = a", "return w * 0.5")
put = program("put(k, a)", "w = k.copy()", "np.put(w, [0, 1], a)", "return w * 0.5")


def histogram(k, a):
    h = np.zeros_like(k)
    for v in k:
        h[int(v) % 2] += a
    return h * 0.5


view = program("view(k, a)", "w = np.concatenate([k, k])", "part = w[1:]", "part[0] = a", "return w * 0.5")  # fmt: skip
joined = program("joined(k, a)", "w = np.cumsum(k)", "w[[0, 1]] = [a, 2 * a]", "return w * 0.5")
argument = program("argument(k, a)", "k[0] = a", "return np.sum(k * 0.5)")
either = program("either(k, a)", "w = k.copy()", "w[0] = a if k[0] > 2 else k[1]", "return w * 0.5")
smallest = program("smallest(k, a)", "w = k.copy()", "w[0] = min(k[0], a)", "return w * 0.5")
truth = program("truth(k, a)", "w = np.zeros(len(k), dtype=bool)", "w[0] = a", "return w * a")


BY_ARGUMENTS = [
    zeros_like, full_like, dtype_of, empty_like, of_elements, masked, put, histogram, view, joined,
    argument, either, smallest, truth,
]  # fmt: skip
CALLS = [(K, 2.0), (K, 2.75), (K * 1.0, 2.75), (K, -3.25), (K.astype(float), -3.25), (K, 2)]


@pytest.mark.sampled
@pytest.mark.parametrize("f", BY_ARGUMENTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("calls", [CALLS, CALLS[::-1]], ids=["forward", "backward"])
def test_the_kind_of_the_storage_is_that_of_the_call(f: Function, calls: Any) -> None:
    made = symgrad(f)
    for k, a in calls:
        np.testing.assert_array_equal(made(k.copy(), a), f(k.copy(), a))


added = program("added(k, a)", "w = k.copy()", "w += a", "return w * 0.5")
scaled = program("scaled(k, a)", "w = k.copy()", "w *= 1.5", "return w * a")
divided = program("divided(k, a)", "w = k.copy()", "w[1:] /= 2", "return w * a")
into = program("into(k, a)", "w = np.zeros_like(k)", "np.multiply(k, a, out=w)", "return w * 0.5")
copied = program("copied(k, a)", "w = np.zeros_like(k)", "np.copyto(w, a)", "return w * 0.5")


@pytest.mark.sampled
@pytest.mark.parametrize("f", [added, scaled, divided, into, copied], ids=lambda f: f.__name__)
@pytest.mark.parametrize("first", [K, K * 1.0], ids=["integers", "floats"])
def test_in_place_what_numpy_refuses_is_an_error(f: Function, first: Any) -> None:
    made = symgrad(f)
    for k in (first, K, K * 1.0):
        if k.dtype == float:
            np.testing.assert_array_equal(made(k, 2.75), f(k, 2.75))
            continue
        with pytest.raises(TypeError, match="Cannot cast"):
            made(k, 2.75)


one = program("one(x, a)", "w = np.zeros(len(x), dtype=int)", "w[0] = a", "return w * x")
scaled_slice = program("scaled_slice(x, a)", "w = np.arange(len(x))", "w[1:] = a * x[1:]", "return np.sum(w * x)")  # fmt: skip
data = program("data(x, a)", "w = np.array([1, 2, 3])", "w[0] = a * x[1]", "return w * x")


def bins(x, a):
    h = np.zeros(4, dtype=np.int64)
    for v in x:
        h[int(v) % 4] += 1.5 * a
    return h * a


cut = program("cut(x, a)", "w = np.zeros(3)", "w[0] = np.array(a).astype(int) + (x * a).astype(int)[1]", "return w * x")  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", [one, scaled_slice, data, bins, cut], ids=lambda f: f.__name__)
@pytest.mark.parametrize("backward", [False, True])
def test_floats_are_rounded_towards_zero_and_have_slope_0_there(
    f: Function, backward: bool
) -> None:
    made, x, step = symgrad(f), np.array([5.5, 2.25, 7.125]), 1e-6
    for a in (2, 2.75, -3.3)[:: -1 if backward else 1]:
        np.testing.assert_allclose(made(x, a), f(x, a), rtol=1e-15)
    value, slope = made.jvp((x, 2.75), (np.zeros(3), 1.0))
    np.testing.assert_allclose(value, f(x, 2.75), rtol=1e-15)
    expected = (np.asarray(f(x, 2.75 + step)) - f(x, 2.75 - step)) / (2 * step)
    np.testing.assert_allclose(slope, expected, atol=1e-7)


def test_derivatives_are_those_of_the_function_that_was_called() -> None:
    made = symgrad(zeros_like)
    value, (by_k, by_a) = made.value_and_grad(K * 1.0, 2.75)
    assert (value, by_a) == (1.375, 0.5)
    np.testing.assert_array_equal(by_k, np.zeros(3))
    assert zeros_like(K, 2.75) == 1.0
    assert made.value_and_grad(K, 2.75) == (1.0, 0.0)  # there is none by the array of integers


def test_what_computes_with_floats_refuses_integers_that_would_round() -> None:
    made = symgrad(full_like)
    np.testing.assert_array_equal(made(K * 1.0, 2.75, out=np.zeros(3)), full_like(K * 1.0, 2.75))
    with pytest.raises(SymdiffError, match="argument k is of integers"):
        made(K, 2.75, out=np.zeros(3))
    with pytest.raises(SymdiffError, match="argument k is of integers"):
        made.map(np.array([K, K]), 2.75)
    with pytest.raises(SymdiffError, match="argument k is of integers"):
        symgrad(zeros_like, dtype="float32")(K, 2.75)


def test_a_caller_of_such_a_function_rounds_too() -> None:
    inner = symgrad(zeros_like)

    def outer(k, a):
        return inner(k, a) + a

    for k in (K * 1.0, K):
        assert symgrad(outer)(k, 2.75) == zeros_like(k, 2.75) + 2.75


@pytest.mark.slow
def test_numba_callers_are_refused() -> None:
    numba = pytest.importorskip("numba")
    made = symgrad(zeros_like)
    assert made.numba(K * 1.0, 2.75) == 1.375
    with pytest.raises((SymdiffError, numba.core.errors.TypingError), match="is of integers"):
        made.numba(K, 2.75)
