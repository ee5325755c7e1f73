"""Arrays of integers and truth values passed to decorated functions inside of others, and types
of numbers that a function asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad

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
    got, want = symgrad(f)(*args), f(*args)
    np.testing.assert_array_equal(got, want)
    assert np.asarray(got).dtype.kind == np.asarray(want).dtype.kind


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
