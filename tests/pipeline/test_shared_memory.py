"""Arguments that share memory, of functions that change one of them: as Python on copies that
share likewise, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import SymdiffError
from symdiff.pipeline.shared_memory import each_once, shared

Function = Callable[..., Any]
X, OTHER = np.array([3.0, 1.0, 2.0]), np.array([0.5, 4.0, 1.5])


def element(a, b):
    a[0] = 5.0
    return np.sum(a * b)


def other_way(a, b):
    b[1:] = a[:-1]
    return a - 2 * b


def elementwise(a, b):
    a += 1
    return a * b


def recurrence(a, b):
    for i in range(len(a)):
        a[i] = a[i - 1] + b[i]
    return a + b


def ordered(a, b):
    a.sort()
    return a * b


def of_a_view(a, b):
    part = a[1:]
    part *= 3
    return a * b


def both(a, b):
    a[0] = 5.0
    b[1] = 7.0
    return np.sum(a * b)


def changes_it(x):
    x[x > 2] = 9.0


def in_a_call(a, b):
    changes_it(a)
    return np.sum(a * b)


def into_out(a, b):
    np.multiply(a, 2, out=a)
    return a + b


def identity(a, b):
    return np.sum(a) * 2 if a is b else np.sum(a * b)


def on_a_condition(a, b):
    if b[0] > 1:
        a[2] = 8.0
    return a * b


CHANGING = [
    element, other_way, elementwise, recurrence, ordered, of_a_view, both, in_a_call, into_out,
    identity, on_a_condition,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", CHANGING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [float, np.float32, int])
@pytest.mark.parametrize("first_apart", [True, False])
def test_one_array_twice(f: Function, dtype: Any, first_apart: bool) -> None:
    made, x, y = symgrad(f), X.astype(dtype), (2 * OTHER).astype(dtype)
    for apart in (first_apart, not first_apart) * 2:
        if apart:
            found, expected = made(x, y), f(x.copy(), y.copy())
        else:
            again = x.copy()
            found, expected = made(x, x), f(again, again)
        np.testing.assert_allclose(found, expected, rtol=1e-6 if dtype is np.float32 else 1e-15)
        np.testing.assert_array_equal(x, X.astype(dtype))


def test_another_array_of_the_same_elements() -> None:
    made, x, y = symgrad(identity), X.copy(), X.copy()
    assert made(x, x[:]) == identity(x, x[:])
    assert made(x, x) == identity(x, x)
    assert symgrad(element)(x, x[:]) == element(y, y[:])


@pytest.mark.parametrize("call", [
    lambda s, x: s(x[1:], x[:-1]),
    lambda s, x: s(x, x[::-1]),
    lambda s, x: s(x[:1], x),
    lambda s, x: s(b=x[1:], a=x[:-1]),
    lambda s, x: s.map(x[:, None], x, axes=(0, None)),
])  # fmt: skip
def test_views_that_overlap_are_refused(call: Callable[..., Any]) -> None:
    made, x = symgrad(element), X.copy()
    made(x, OTHER)
    with pytest.raises(SymdiffError, match=r"share memory|has the shape|does not fit"):
        call(made, x)
    assert made(x[:1], x[2:]) == 10.0


def test_containers_of_one_array() -> None:
    def f(q, a):
        q["u"][0] = 5.0
        return np.sum(q["u"] * q["v"] * a)

    made, x, y = symgrad(f), X.copy(), X.copy()
    assert made({"u": x, "v": OTHER}, OTHER) == f({"u": X.copy(), "v": OTHER}, OTHER)
    assert made({"u": x, "v": x}, OTHER) == f({"u": y, "v": y}, OTHER)
    y = X.copy()
    assert made({"u": x, "v": OTHER}, x) == f({"u": y, "v": OTHER}, y)


def test_rows_of_one_array() -> None:
    rows = np.outer([1.0, 2.0], X)
    expected = [element(r, r) for r in rows.copy()]
    np.testing.assert_allclose(symgrad(element).map(rows, rows), expected)


GLOBAL = X.copy()


def reads_a_global(a):
    a[0] = 5.0
    return np.sum(a * GLOBAL)


def test_an_array_that_the_function_reads_from_outside() -> None:
    made = symgrad(reads_a_global)
    for x in (OTHER, X):
        assert made(x) == reads_a_global(x.copy())
    for x in (GLOBAL, GLOBAL[:2]):
        with pytest.raises(SymdiffError, match="shares memory with an array"):
            made(x)


def test_a_number_without_axes() -> None:
    x = np.array(2.0)
    with pytest.raises(SymdiffError, match="share memory"):
        symgrad(elementwise)(x, x)
    assert symgrad(elementwise)(x, np.array(2.0)) == 6.0


def test_a_function_called_in_another() -> None:
    inner = symgrad(element)

    def outer(x):
        return inner(x, x) + x[0]

    x = X.copy()
    for x in (X, X.astype(int)):
        again = x.copy()
        assert symgrad(outer)(x) == element(again, again) + x[0]


@pytest.mark.sampled
@pytest.mark.parametrize("derivative", ["grad", "jacobian", "hessian", "value_and_grad"])
def test_derivatives_are_refused(derivative: str) -> None:
    made = getattr(symgrad(element), derivative)
    made(X, OTHER)
    with pytest.raises(SymdiffError, match="no derivative by one of them alone"):
        made(X, X)


def test_products_are_refused() -> None:
    made = symgrad(element)
    with pytest.raises(SymdiffError, match="no derivative by one of them alone"):
        made.jvp((X, X), (OTHER, OTHER))
    with pytest.raises(SymdiffError, match="no derivative by one of them alone"):
        made.vjp((X, X), 1.0)
    assert made.jvp((X, X.copy()), (OTHER, OTHER))[0] == element(X.copy(), X)


def test_functions_that_change_nothing_take_what_they_took() -> None:
    made = symgrad(lambda a, b: np.sum(a[: len(b)] * b))
    assert made(X, X) == 14.0
    assert made(X, X[1:]) == 3 + 2
    np.testing.assert_array_equal(made.grad(X, X)[1], X)


def test_results_into_an_argument() -> None:
    for f in (other_way, elementwise, recurrence):
        x, again = X.copy(), X.copy()
        symgrad(f)(x, x, out=x)
        np.testing.assert_array_equal(x, f(again, again))


@pytest.mark.slow
def test_numba() -> None:
    numba = pytest.importorskip("numba")
    made, by_elements = symgrad(element), symgrad(elementwise)

    @numba.njit
    def call(x, y):
        return made(x, y)

    x = X.copy()
    for _ in range(3):  # the first calls go to Python
        again = X.copy()
        assert call(x, x) == made.numba(x, x) == element(again, again)
        assert call(x, OTHER) == element(X.copy(), OTHER)
        with pytest.raises(SymdiffError, match="share memory"):
            call(x[1:], x[:-1])
        assert call(x[:1], x[2:]) == 10.0
    with pytest.raises(ValueError, match="share memory"):
        by_elements.numba(x, x)
    np.testing.assert_array_equal(by_elements.numba(x, OTHER), (X + 1) * OTHER)
    again = X.copy()
    assert symgrad(element, engine="numba")(x, x) == element(again, again)


def test_copies_share_as_their_originals() -> None:
    view = X[:]
    a, b, c, d = each_once([X, X, view, OTHER], np.copy)
    assert a is b
    assert c is not a
    assert np.shares_memory(a, c)
    assert not np.shares_memory(a, d)
    assert not np.shares_memory(a, X)


def test_compiled_entries_see_what_arrays_share() -> None:
    def f(a, b):
        a[0, 0] = 5.0
        return np.sum(a) * np.sum(b)

    made, a, b = symgrad(f), np.arange(6.0).reshape(2, 3), np.ones((1, 3))
    for _ in range(3):
        assert made(a, b) == 60.0
        again = a.copy()
        assert made(a, a) == f(again, again)
        for part in (a[:1], a[1:], a.ravel()[2:5][None, :], a.ravel()[None, :]):
            with pytest.raises(SymdiffError, match="share memory"):
                made(a, part)
        assert made(a[:1], a[1:]) == 8 * 12


def test_device_arrays_are_told_apart_by_their_addresses() -> None:
    class OnDevice:
        def __init__(self, data: int, size: int) -> None:
            self.__cuda_array_interface__ = {
                "data": (data, False), "shape": (size,), "typestr": "<f8", "version": 3,
            }  # fmt: skip

    x, same, part, other = OnDevice(64, 3), OnDevice(64, 3), OnDevice(72, 3), OnDevice(88, 3)
    assert shared("a", "ab", (x, x)) == {"b": "=a"}
    assert shared("a", "ab", (x, same)) == {"b": "~a"}
    assert shared("a", "ab", (x, other)) == shared("", "ab", (x, part)) == {}
    with pytest.raises(SymdiffError, match="share memory"):
        shared("b", "ab", (x, part))


def test_what_is_shown_is_not_that_of_a_call_with_one_array() -> None:
    made = symgrad(element)
    made(X, OTHER)
    shown = str(made.expr)
    made(X, X)
    assert str(made.expr) == shown


@pytest.mark.slow
def test_modules_refuse_it(tmp_path: Any) -> None:
    numba = pytest.importorskip("numba")
    made = symgrad(element)
    made(X, OTHER)
    made.save(tmp_path / "changing.py")
    scope: dict[str, Any] = {"__name__": "changing"}
    text = (tmp_path / "changing.py").read_text().replace("cache=True", "cache=False")
    exec(compile(text, "changing.py", "exec"), scope)
    module_function = scope["element"]

    @numba.njit
    def call(x, y):
        return module_function(x, y)

    for function in (module_function, call):
        assert function(X, OTHER) == element(X.copy(), OTHER)
        for a, b in ((X, X), (X[1:], X[:-1])):
            with pytest.raises(ValueError, match="share memory"):
                function(a, b)


def test_arrays_in_columns() -> None:
    made, a = symgrad(other_way), np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for _ in range(2):
        b = np.ones((2, 3))
        np.testing.assert_array_equal(made(a, b), other_way(a.copy("K"), b))
        again = a.copy("K")
        np.testing.assert_array_equal(made(a, a), other_way(again, again))
        with pytest.raises(SymdiffError, match="share memory"):
            made(a, a[::-1])
