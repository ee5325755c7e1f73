"""Programs with arrays and loops, called by functions that Numba compiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from symdiff import symgrad
from symdiff.errors import SymdiffError
from symdiff.runtime.inside_numba.by_address import Argument, implementation
from tests.runtime.inside_numba.test_numba import in_threads

RNG = np.random.default_rng(5)
M, V, W = RNG.normal(size=(5, 3)), RNG.normal(size=3), RNG.normal(size=5)
A = M.T @ M + np.eye(3)


@symgrad
def loss(w, x, y):
    return np.mean(np.log1p(np.exp(-y * (x @ w)))) + 0.5 * np.sum(w**2)


@symgrad
def norm(v):
    return np.sqrt(np.sum(v**2))


@symgrad
def quotient(d):
    return np.sum(1 - np.cos(d)) / np.sum(d**2)


@symgrad
def smoothed(d):
    e = 0.0
    for value in d:
        e = 0.9 * e + 0.1 * value
    return e


@symgrad
def several(x):
    return np.sum(x), 2 * x, len(x), x[0] > 0, x > 0


@symgrad
def halved(x):
    while x > 1:
        x = x / 2
    return x


@symgrad
def picked(x, k):
    return x[k] * x[0]


@symgrad
def apart(a, b):
    return np.sum((a - b) ** 2, axis=1)


def same(found: Any, expected: Any) -> None:
    """Alike to the last bit and in their types."""
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
        return
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(found, expected)


FEW = [
    (smoothed.grad, (W,)),
    (quotient.grad, (np.array([1e-9, 2e-9]),)),
]
MORE = [
    (loss.value_and_grad, (V, M, np.sign(W))),
    (loss, (V, RNG.normal(size=(1000, 3)), np.sign(RNG.normal(size=1000)))),
    (norm.grad, (np.zeros(3),)),
    (quotient.hessian, (np.array([0.1, 0.2]),)),
    (several, (V,)),
    (halved, (5.0,)),
    (halved.grad, (np.array([5.0, 0.5, 17.0]),)),
    (picked.grad, (V, 2)),
    (apart, (M, V)),
    (apart, (M[:, :1], V)),
    (apart, (M.T[:3], V[:1])),
    (apart.jacobian, (M, V)),
    (symgrad(lambda a, b: np.linalg.solve(a, b)), (A, V)),
    (symgrad(lambda x: np.array([x, 2 * x * x[0]])), (V,)),
    (symgrad(lambda x: np.array([x[0] * x[1], math.sin(x[2])])).jacobian, (V,)),
    (symgrad(lambda x: x[x > 0]), (V,)),
    (symgrad(lambda x: np.mean(x * x)), (M.astype(np.float32),)),
    (symgrad(lambda x: np.mean(x * x)), (np.arange(5, dtype=np.int32),)),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "args"), FEW + [pytest.param(*case, marks=pytest.mark.slow) for case in MORE]
)
def test_as_in_python(f: Any, args: tuple[Any, ...]) -> None:
    call = njit(lambda *given: f(*given))
    wide = {"float32": float, "int32": int}  # 64 bits there
    kinds = [wide.get(str(getattr(a, "dtype", ""))) for a in args]
    expected = f(*(a.astype(k) if k else a for a, k in zip(args, kinds, strict=True)))
    for _ in range(3):  # the first call is the function's own, which is compared with Python
        same(call(*args), expected)


@pytest.mark.slow
def test_no_python_runs_in_calls_that_are_right() -> None:
    calls = []

    def counting(*args: Any) -> Any:
        calls.append(args)
        return norm.grad(*args)

    shapes = {"v": (1, "f")}
    made = norm.grad._arrays.for_numba(norm.grad._source.raw({}, shapes), {}, shapes, counting)
    call: Callable[..., Any] = njit(implementation(made, [Argument(1, "f", True)]))
    for _ in range(5):
        same(call(V)[0], norm.grad(V))
    assert len(calls) == 1
    same(call(np.array([1e300, 1e300]))[0], norm.grad(np.array([1e300, 1e300])))


@pytest.mark.slow
def test_errors_are_those_of_the_function() -> None:
    call = njit(lambda x, k: picked(x, k))
    assert call(V, 1) == V[1] * V[0]
    with pytest.raises(IndexError, match="an index is out of range"):
        call(V, 7)
    assert call(V, -1) == V[-1] * V[0]
    between = njit(lambda a, b: apart(a, b))
    with pytest.raises(
        SymdiffError, match="axis 0 of b has the size 2, axis 1 of a has the size 3"
    ):
        between(M, V[:2])


@pytest.mark.slow
def test_threads_that_do_not_hold_the_lock() -> None:
    slopes, lost = norm.grad, quotient.grad
    np.testing.assert_array_equal(in_threads(slopes)(M), [slopes(row) for row in M])
    small = M * np.array([[1.0], [1e-9], [1e-7], [1e-12], [1.0]])
    for got, row in zip(in_threads(lost)(small), small, strict=True):
        want = lost(row)  # a call after losses has other last digits
        np.testing.assert_allclose(got, want, rtol=0, atol=2.0**-40 * np.abs(want).max())


@pytest.mark.slow
def test_flagged_elements_in_threads_that_do_not_hold_the_lock() -> None:
    mixed = symgrad(lambda x: np.exp(x[::-1]) - 1 - x)
    m = np.array([[math.expm1(1.0), 1.0], [2.0, math.expm1(2.0)]])
    np.testing.assert_array_equal(in_threads(mixed)(m), [mixed(row) for row in m])


@pytest.mark.slow
def test_errors_that_compiled_code_catches() -> None:
    """What is raised in Python leaves nothing behind; where Numba would lose it, values are nan."""

    @njit
    def total(x, places):
        found, refused = 0.0, 0
        for k in places:
            try:
                found += picked(x, k)
            except Exception:
                refused += 1
        return found, refused

    for _ in range(2):
        assert total(np.array([2.0, 3.0]), np.array([0, 7, 1, 9])) == (10.0, 2)

    @njit(nogil=True)
    def without_lock(x, places):
        return np.array([picked(x, k) for k in places])

    with pytest.warns(RuntimeWarning, match="results are nan .*an index is out of range"):
        found = without_lock(np.array([2.0, 3.0]), np.array([0, 7, 1]))
    np.testing.assert_array_equal(found, [4.0, np.nan, 6.0])


@pytest.mark.slow
def test_what_python_alone_computes() -> None:
    special = pytest.importorskip("scipy.special")
    bessel = symgrad(lambda x: special.j0(x) * x)
    call = njit(lambda x: bessel.grad(x))
    assert call(1.5) == bessel.grad(1.5)
    np.testing.assert_array_equal(in_threads(bessel)(V), [bessel(float(v)) for v in V])
