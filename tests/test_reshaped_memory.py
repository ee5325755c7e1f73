"""Arrays that are changed under another shape: a view or a copy, as their memory lies; and sizes that
slices leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad

ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def _of_rows(x: Any) -> Any:
    y = np.zeros(x.shape)
    y += x
    r = y.ravel()
    r *= 2
    return y


def _of_a_copy(x: Any) -> Any:
    y = x.copy()
    y.reshape(-1)[0] = 7
    return y


def _alone(x: Any) -> Any:
    r = (x * 1).ravel()
    r *= 2
    return r


def _read_before(x: Any) -> Any:
    y = x * 1
    s = np.sum(y.reshape(-1))
    y[0] = s
    return y


@pytest.mark.parametrize("f", [_of_rows, _of_a_copy, _alone, _read_before])
def test_what_is_known(f: Callable[..., Any]) -> None:
    np.testing.assert_array_equal(symgrad(f)(ROWS), f(ROWS))


@pytest.mark.parametrize("f", [_of_rows, _of_a_copy])
def test_what_is_known_of_any_memory(f: Callable[..., Any]) -> None:
    x = np.asfortranarray(ROWS)
    np.testing.assert_array_equal(symgrad(f)(x), f(x))


def _tridiagonal(x: Any) -> Any:
    return (np.diag(x) + np.diag(x[1:], 1) + np.diag(x[:-1], -1)) @ x


def _through_ravel(x: Any) -> Any:
    y = x * 1
    r = y.ravel()
    r *= 2
    return y


def _under_reshape(x: Any) -> Any:
    y = np.where(x > 0, x, 0.0)
    r = y.reshape(-1)
    y[0] = 7
    return r


def _turned(x: Any) -> Any:
    y = x.T * 1
    r = y.reshape(-1)
    r[0] = 7
    return y


@pytest.mark.parametrize("f", [_through_ravel, _under_reshape])
def test_what_hangs_on_the_memory_of_arguments(f: Callable[..., Any]) -> None:
    made = symgrad(f)
    for _ in range(3):
        np.testing.assert_array_equal(made(ROWS), f(ROWS))
        for x in (np.asfortranarray(ROWS), ROWS[:, ::-1]):
            with pytest.raises(SymdiffError, match="does not lie row by row"):
                made(x)
            with pytest.raises(SymdiffError, match="does not lie row by row"):
                made.vjp((x,), f(x))


def test_what_hangs_on_memory_that_is_not_known_is_refused() -> None:
    with pytest.raises(SymdiffError, match="changed through another name"):
        symgrad(_turned)(ROWS)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.pad(x[1:], 1), lambda x: np.pad(np.diff(x), 1), lambda x: np.diag(x[1:], 1),
        lambda x: np.concatenate([x[1:], np.ones(2)]), lambda x: np.zeros(len(x[1:]) + 2) + np.sum(x),
        lambda x: np.array_equal(x, 0), lambda x: np.array_equal(x, x), lambda x: np.array_equal(x, x[None]),
        lambda x: np.ediff1d(np.hstack((x, x))), _tridiagonal,
    ],
)  # fmt: skip
@pytest.mark.parametrize("n", [0, 1, 3])
def test_sizes_of_what_slices_leave(f: Callable[..., Any], n: int) -> None:
    x = np.linspace(0.5, 1.5, n)
    made = symgrad(f, verify=False)
    for v in (x, x[:0], x):
        got, want = made(v), f(v)
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want)


def _diagonal(x: Any) -> Any:
    y = np.zeros((2, 3))
    for p in range(2):
        for q in range(3):
            y[p, q] = p + q * 0.5
    np.fill_diagonal(y, np.mean(y > 0))
    np.copyto(y[0], y[1])
    return y * np.sum(x)


def test_functions_that_store() -> None:
    np.testing.assert_allclose(symgrad(_diagonal)(ROWS), _diagonal(ROWS))
