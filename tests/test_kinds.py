"""The kind of a result is that of plain Python: floats, integers, truth values, and arrays of
them; integers that are passed are real numbers, or refused where no double holds them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError
from tests.fuzz.law import difference


def counted(x: Any) -> Any:
    n = 0
    for k in range(4):
        if x > k:
            n += 1
    return n


NUMBERS = [
    lambda x: 1 if x > 0 else 0,
    lambda x: 1.0 if x > 0 else 0.0,
    lambda x: x > 0,
    lambda x: not x > 0,
    lambda x: x > 0 and x < 2,
    lambda x: True,
    lambda x: 1,
    lambda x: 1.0,
    lambda x: 2.0**3,
    lambda x: math.floor(x),
    lambda x: math.trunc(x) + 1,
    lambda x: round(x),
    lambda x: round(x, 1),
    lambda x: int(x > 0),
    lambda x: float(x > 0),
    lambda x: float(math.floor(x)),
    lambda x: x // 2,
    lambda x: np.floor(x),
    lambda x: bool(x),
    lambda x: math.isfinite(x),
    lambda x: (x > 0) * 1,
    lambda x: (x > 0) + 1,
    lambda x: (x > 0) + (x > 1),
    lambda x: (x > 0) * x,
    lambda x: (x > 0) * 2.0,
    lambda x: -(x > 0),
    lambda x: abs(math.floor(x)),
    lambda x: max(math.floor(x), 0),
    lambda x: (1 if x > 0 else 2) ** 2,
    lambda x: (1 if x > 0 else 2) / 2,
    lambda x: math.floor(x) // 2 + math.ceil(x) % 2,
    lambda x: sum([x > 0, x > 1]),
    lambda x: (x, 1, x > 0),
    lambda x: {"a": 1, "b": x},
    lambda x: [2, 2.0, -3],
    counted,
]
ARRAYS = [
    lambda x: len(x),
    lambda x: x.shape,
    lambda x: x.size,
    lambda x: x.ndim,
    lambda x: 1.0,
    lambda x: 2.0**3,
    lambda x: True,
    lambda x: np.sum(x > 0),
    lambda x: (x > 0).mean(),
    lambda x: np.argmax(x),
    lambda x: np.argsort(x),
    lambda x: np.any(x > 0),
    lambda x: np.all(x > 0),
    lambda x: x > 0,
    lambda x: np.isnan(x),
    lambda x: np.where(x > 0, 1, 0),
    lambda x: np.where(x > 0, 1.0, 0.0),
    lambda x: np.zeros(3),
    lambda x: np.eye(2),
    lambda x: np.arange(len(x)),
    lambda x: np.count_nonzero(x > 0),
    lambda x: len(x) / 2,
    lambda x: (x > 0) * 1,
    lambda x: (x > 0) + 1,
    lambda x: (x > 0) + (x > 1),
    lambda x: (x > 0) * (x > 1),
    lambda x: (x > 0) * x,
    lambda x: np.max(x) > 0,
    lambda x: np.cumsum(x > 0),
    lambda x: [len(x), x[0]],
    lambda x: int(np.sum(x > 0)),
    lambda x: np.array([1, 2]) * (x[0] > 0),
    lambda x: np.float64(1),
    lambda x: [v * 2 for v in x],
    lambda x: (list(x), list(x) + [1.0], 2),  # noqa: RUF005
]


def kind(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: kind(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value), [kind(v) for v in value]
    if isinstance(value, np.ndarray) and value.shape:
        return value.dtype.kind, value.shape
    names = {"b": bool, "i": int, "u": int, "f": float}
    return names[np.asarray(value).dtype.kind]


def same(got: Any, want: Any) -> None:
    assert kind(got) == kind(want)
    if isinstance(want, dict):
        got, want = list(got.values()), list(want.values())
    pairs = zip(got, want, strict=True) if isinstance(want, (list, tuple)) else [(got, want)]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-15)


@pytest.mark.parametrize("f", NUMBERS)
def test_numbers_have_the_kind_of_python(f: Any) -> None:
    s = symgrad(f)
    for x in (1.7, -1.2, 2.5, 2.5):
        same(s(x), f(x))


@pytest.mark.parametrize("f", ARRAYS)
def test_functions_of_arrays_have_the_kind_of_numpy(f: Any) -> None:
    s = symgrad(f)
    for x in (np.array([1.7, -0.3, 2.5]), np.array([-1.0, 0.5]), np.array([1.7, -0.3, 2.5])):
        same(s(x), f(x))


def test_chosen_integers_for_each_element() -> None:
    f = symgrad(lambda x: 1 if x > 0 else 0)
    x = np.array([1.7, -0.3, 2.5])
    for _ in range(2):
        got = f(x)
        assert got.dtype == np.int64
        assert got.tolist() == [1, 0, 1]
    assert f.grad(x).tolist() == [0.0, 0.0, 0.0]
    assert f.grad(1.7) == 0.0


def test_a_number_that_is_an_integer_on_one_branch_only_is_a_float() -> None:
    f = symgrad(lambda x: x if x > 0 else 0)
    assert isinstance(f(-1.0), float)
    assert f(-1.0) == 0


def test_integers_that_no_double_holds_are_refused() -> None:
    f, total = symgrad(lambda x: x / 3), symgrad(lambda x: np.mean(x))
    big = 2**53 + 1
    assert f(3 * 2**50) == 2.0**50
    for value in (big, np.int64(big), np.array([big, 3])):
        with pytest.raises(SymdiffError, match="2\\*\\*53"):
            f(value)
    for dtype in ("uint8", "int8", "uint16", "int16", "uint64"):
        with pytest.raises(SymdiffError, match="wraps around"):
            total(np.array([200, 3]).astype(dtype))
    assert total(np.array([3, 4])) == 3.5


OF_TRUTH: list[Any] = [
    lambda x: (np.max(x > 0, axis=0), np.min(x > 0), np.triu(x > 0), np.pad(x > 0, 1)),
    lambda x: (np.outer(x > 0, x > 0), np.kron(x > 0, x > 0), np.abs(x > 0), np.maximum(x > 0, x < 5)),
    lambda x: ((x > 0) @ (x.T > 0), np.einsum("ij,ij->i", x > 0, x > 0), np.inner(x > 0, x > 0)),
    lambda x: (np.fmax(x > 0, np.sum(x > 0)), np.maximum(np.argmax(x), x > 0), np.nan_to_num(x > 0)),
    lambda x: (np.max(np.cumsum(x > 0, axis=1), axis=0), np.min(np.argsort(x, axis=1), axis=1)),
    lambda x: (np.add(x.size, 2), np.sign(np.square(np.size(x))), np.sum(np.size(x) > 0).max()),
    lambda x: np.convolve(x[0] > 0, x[1] > 0),
    lambda x: np.hypot(np.any(x > 0), 1),
]  # fmt: skip


@pytest.mark.parametrize("f", OF_TRUTH)
def test_truth_values_and_integers_stay_what_they_are(f: Any) -> None:
    x = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    assert not difference(symgrad(f, accuracy="fast")(x), f(x))


def test_lists_that_are_computed_as_arrays_nest_as_in_python() -> None:
    def f(x: Any) -> Any:
        pairs = list(zip(x[0], x[1], strict=True))
        return x.tolist(), [list(r) for r in x], [2 * r for r in x], tuple(x[0]), pairs, x.item(4)

    x = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
    assert not difference(symgrad(f)(x), f(x))
    g = symgrad(lambda x: [row[1] * 2 for row in x.tolist()])
    assert g(x) == [-4.0, 10.0]
