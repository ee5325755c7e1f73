"""Functions whose results have another shape, structure or dtype for other sizes of the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, UnsupportedError, symgrad
from tests.law.alike import alike


def array_or_number(x):
    if len(x) < 3:
        return x
    return np.sum(x)


def another_rank(x):
    if x.size > 3:
        return x[:, None] * 1.0
    return x


def another_dtype(x):
    if len(x) < 3:
        return np.arange(len(x))
    return x * 2


def nothing_to_compare(x):
    if len(x) < 2:
        return 0.0
    return np.diff(x)


def none_or_an_element(x):
    third = None if len(x) < 3 else x[2]
    return x[0] if third is None else x[0] * third


def longer_list(x):
    found = []
    if len(x) > 2:
        found.append(x[2])
    found.append(x[0])
    return found


def dicts(x):
    if len(x) > 2:
        return {"sum": np.sum(x)}
    return {"all": x, "n": 1.0}


@symgrad
def inner(x):
    if len(x) < 3:
        return x
    return np.sum(x)


def composed(x):
    return inner(x * 2) + 1


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        array_or_number, another_rank, another_dtype, lambda x: np.arange(len(x)) if x.size < 3 else x**2,
        nothing_to_compare, none_or_an_element, longer_list, dicts, composed, lambda x: inner(x[1:]) * 2,
    ],
)  # fmt: skip
def test_each_size_is_what_it_is_in_python(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for size in (2, 4, 2, 1):
        x = np.arange(1.0, size + 1)
        alike(g(x), f(x), 0.0)


@pytest.mark.slow
def test_derivatives() -> None:
    f = symgrad(array_or_number)
    assert f.grad(np.array([1.0, 2.0, 4.0])).tolist() == [1, 1, 1]
    assert f.grad(np.array([1.0, 2.0])).tolist() == [1, 1]  # elementwise
    assert symgrad(composed).grad(np.array([1.0, 2.0, 4.0])).tolist() == [2, 2, 2]
    assert symgrad(none_or_an_element).grad(np.array([2.0, 0.0, 3.0])).tolist() == [3, 0, 2]


def test_pairs_of_sizes() -> None:
    def product(x, w):
        if x.shape[0] == w.shape[0]:
            return x @ w
        return x[:1] * w[0]

    f = symgrad(product)
    two, three = np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    assert f(two, two) == 5.0 and f(three, three) == 14.0
    alike(f(two, three), np.array([1.0]), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.linalg.det(x) if x.shape[0] == x.shape[1] else 0.0,
        lambda x: np.linalg.inv(x) if x.shape[0] == x.shape[1] else x.T,
        lambda x: np.linalg.solve(x, x[0]) if x.shape[0] == x.shape[1] else x[0],
    ],
)
def test_linear_algebra_of_matrices_that_are_square(f: Callable[..., Any]) -> None:
    g = symgrad(f)
    for x in (np.ones((2, 3)), np.ones((3, 2)), np.eye(3) * 2):
        np.testing.assert_allclose(g(x), f(x), rtol=1e-14)


def test_what_is_refused_stays_refused_at_its_line() -> None:
    def f(x):
        if len(x) < 3:
            return x.tobytes()
        return x

    with pytest.raises(UnsupportedError, match="tobytes"):
        symgrad(f)(np.ones(2))
    assert symgrad(f)(np.ones(4)).tolist() == [1, 1, 1, 1]

    def by_value(x):
        if x[0] > 0:
            return x
        return np.sum(x)

    with pytest.raises(SymdiffError, match="depending on whether"):
        symgrad(by_value)(np.ones(2))


def soft(p, m):
    """The size of the result hangs on a decision on real numbers."""
    r = np.linalg.norm(p)
    if r < 1e-9:
        return np.zeros(2)
    return m * np.tanh(r / m) * p / r


def shortened(p):
    if np.sum(np.exp(p)) < 1.0:
        return p[:1]
    return p * np.sum(p)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "strict", "fast"])
@pytest.mark.parametrize(
    ("f", "args"),
    [
        (soft, (np.array([0.3, 0.4]), 2.0)),
        (soft, (np.array([1e-12, 0.0]), 2.0)),
        (shortened, (np.array([0.3, 0.4]),)),
        (shortened, (np.array([-3.0, -4.0]),)),
    ],
)
def test_sizes_that_hang_on_real_numbers(f, args, accuracy):
    found, want = symgrad(f, accuracy=accuracy)(*args), f(*args)
    assert found.shape == want.shape
    np.testing.assert_allclose(found, want, rtol=1e-14)
