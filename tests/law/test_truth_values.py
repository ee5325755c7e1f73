"""Truth values, alone and in arrays, are what Python and NumPy have: masks as arguments, counting, and
what NumPy computes in short formats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from tests.law.alike import alike

X = np.array([1.0, -2.0, 3.0])
MASK = np.array([True, False, True])


def same(f: Callable[..., Any], *args: Any) -> None:
    alike(symgrad(f)(*args), f(*args), types="kind")


def _stored(x: Any, m: Any) -> Any:
    y = x * 1
    y[m] = 7.0
    y[~m] *= x[~m]
    return y


def _summed(x: Any, m: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        if m[k]:
            total += x[k]
    return total


MASKED: list[tuple[Callable[..., Any], list[float]]] = [
    (lambda x, m: np.sum(x[m]), [1, 0, 1]),
    (lambda x, m: np.sum(x[~m] ** 2), [0, -4, 0]),
    (lambda x, m: np.sum(np.where(m, x, 0.5)), [1, 0, 1]),
    (lambda x, m: np.sum(m * x), [1, 0, 1]),
    (lambda x, m: np.sum(np.where(m & (x > 2), x, 0)), [0, 0, 1]),
    (lambda x, m: np.any(m) * np.sum(x), [1, 1, 1]),
    (lambda x, m: np.sum(x + m), [1, 1, 1]),
    (lambda x, m: np.sum(_stored(x, m)), [0, -4, 0]),
    (lambda x, m: m.astype(float) @ x, [1, 0, 1]),
    (_summed, [1, 0, 1]),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "slope"), MASKED)
def test_masks_as_arguments(f: Callable[..., Any], slope: list[float]) -> None:
    """An array of truth values selects, and is no array of indices 0 and 1."""
    same(f, X, MASK)
    np.testing.assert_allclose(symgrad(f, wrt=["x"]).grad(X, MASK), slope, rtol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda m: m @ m, lambda m: np.tanh((m @ m) * 1.0), lambda m: m + m, lambda m: m + 1, lambda m: m * m,
        lambda m: np.sum(m), lambda m: m / 2, lambda m: m.mean(), lambda m: np.diff(m), lambda m: ~m,
        lambda m: np.cumsum(m), lambda m: np.floor(m), lambda m: abs(m), lambda m: np.maximum(m, m[::-1]),
        lambda m: np.add(m, m), lambda m: np.multiply(m, m), lambda m: m.T,
    ],
)  # fmt: skip
def test_arithmetic_of_masks(f: Callable[..., Any]) -> None:
    same(f, MASK)
    same(lambda x: f(x > 0), X)


@pytest.mark.slow
def test_kernels_for_masks_are_not_those_for_numbers() -> None:
    numbers, integers = np.array([2.0, 0.0, 0.5]), np.array([2, 0, 1])
    for f in (
        lambda x, m: m * x + m,
        lambda x, m: np.sum(m * x + m),
        lambda x, m: np.cumsum(x * m) + m,
    ):
        for order in itertools.permutations([MASK, numbers, integers]):
            made = symgrad(f)
            for m in order * 3:
                np.testing.assert_allclose(made(X, m), f(X, m), rtol=1e-14)
    for order in itertools.permutations([MASK, numbers, integers]):
        made = symgrad(lambda x, m: np.sum(np.where(m == 1, x * x, m)), wrt=["x"])
        for m in order * 3:
            want = np.where(np.asarray(m, float) == 1, 2 * X, 0)
            np.testing.assert_allclose(made.grad(X, m), want, rtol=1e-14)


def test_counting() -> None:
    def positive(x: Any) -> Any:
        n = 0
        for u in x:
            n += u > 0
        return n

    def twice(x: Any) -> Any:
        n = 1
        for u in x:
            n *= 1 + (u > 0)
        return n, n / 2

    same(positive, X)
    got = symgrad(twice)(X)
    assert got == (4, 2.0)
    assert isinstance(got[0], int)
    same(lambda x: (x > 0) + (x < 5), 1.0)
    same(lambda x: 2 ** (x > 0), 1.0)
    same(lambda x: +(x > 0), 1.0)


def test_truth_values_whose_meaning_is_not_known_are_refused() -> None:
    for f in (lambda x: (x[0] > 0) + (x[1] > 0), lambda x: (x[0] > 0) // (x[2] > 0)):
        with pytest.raises(SymdiffError, match="two truth values"):
            symgrad(f)(X)
    with pytest.raises(SymdiffError, match="'~' of a truth value"):
        symgrad(lambda x: ~(x > 0))(1.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.copysign(len(x), -1), lambda x: math.copysign(np.argmax(x), -1.0),
        lambda x: np.copysign(len(x) * 1.0, -1.0), lambda x: np.copysign(x, len(x)),
        lambda x: math.fsum(np.argsort(x)), lambda x: math.pow(2, np.argmax(x)), lambda x: math.fabs(len(x)), lambda x: math.fmod(len(x), 2),
        lambda x: np.linalg.norm(np.searchsorted(np.array([0.0, 2.0]), x), np.inf),
        lambda x: np.linalg.norm(np.argsort(x), 1), lambda x: [u for u in x if u > 0],
    ],
)  # fmt: skip
def test_functions_of_integers_that_are_floats(f: Callable[..., Any]) -> None:
    same(f, X)


def test_truth_values_of_numpy_and_of_python() -> None:
    """Their sums and products differ; what may be either is refused, at the line or by the argument."""
    of_python = symgrad(lambda x: ((x > 0) + (x < 5)) * x)
    assert of_python(1.0) == 2.0
    assert of_python.grad(1.0) == 2.0
    for call in (of_python, of_python.grad):
        for number in (np.float64(1.0), np.array(1.0)):
            with pytest.raises(SymdiffError, match="x is a number of NumPy's"):
                call(number)
    same(lambda x: (x > 0) * (x < 5), 1.0)
    same(lambda x: abs(x > 0), 1.0)
    same(lambda x: (x > 0) * (x < 5) * np.sin(x), np.float64(1.0))
    for f in (
        lambda x: ((np.sin(x) > 0) + (x > 0)) * x,
        lambda x: ((np.abs(0.4) > 0) + (np.sin(0.4) < 1)) * x,
        lambda x: ((np.float64(0.4) > 0) + (x < 1)) * x,
        lambda x: (np.any(x > 0) + np.all(x > 0)) * x,
        lambda x: (np.max([x > 0, x < 0]) + True) * x,
        lambda x: (np.sin(x) > 0) // True * x,
    ):
        with pytest.raises(SymdiffError, match=r"test_truth_values.py:\d+.* of two truth values"):
            symgrad(f)(1.0)
    for f in (lambda x: (np.sin(x) > 0) * (x > 0), lambda x: abs(np.sin(x) > 0)):
        with pytest.raises(
            SymdiffError, match=r"test_truth_values.py:\d+.*a product of truth values"
        ):
            symgrad(f)(1.0)
    with pytest.raises(SymdiffError, match="on one path"):
        symgrad(lambda x: True if x > 0 else 2)(1.0)


def test_kinds_of_numbers_that_decide() -> None:
    """Whether a number is Python's or NumPy's is not known; arrays without axes are known."""
    same(lambda x: isinstance(x, float) * x, 1.5)
    same(lambda x: isinstance(x, (int, np.floating, float)) * x, np.float64(1.5))
    same(lambda x: isinstance(x > 1, (bool, np.bool_)) * x, 1.5)
    same(lambda x: isinstance(np.sin(x), np.ndarray) * x, 1.5)
    for make in (
        lambda x: np.where(x > 0, x, 1),
        lambda x: np.roll(x, 1),
        lambda x: np.full_like(x, 2.0),
    ):
        same(lambda x, make=make: isinstance(make(x), np.ndarray) * x, 1.5)
        same(lambda x, make=make: isinstance(make(x), float) * x, 1.5)
        same(lambda x, make=make: isinstance(make(x) * 2, np.ndarray) * x, 1.5)
    for f in (lambda x: isinstance(x, np.float64) * x, lambda x: isinstance(np.sin(x), np.generic) * x,
              lambda x: isinstance(x > 0, bool) * x):  # fmt: skip
        with pytest.raises(SymdiffError, match="one of NumPy's decides"):
            symgrad(f)(1.5)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros(2, bool), lambda: np.zeros((), bool), lambda: np.array(True), lambda: np.zeros_like(True),
        lambda: np.array([True, False]),
    ],
)  # fmt: skip
def test_what_arrays_of_truth_values_hold(make: Any) -> None:
    """Numbers are cast when they are stored: 2 is true."""

    def known(x: Any) -> Any:
        m = make()
        m[...] = 2
        return m * x

    def computed(x: Any) -> Any:
        m = make()
        m[...] = x - 1.5
        return m * x

    for x in (1.5, 0.5):
        same(known, x)
        same(computed, x)
