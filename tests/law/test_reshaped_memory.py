"""Arrays that are changed under another shape or name: a view or a copy, as their memory lies, or refused; and
sizes that slices leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, UnsupportedError, symgrad
from tests.law.made import made

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


@pytest.mark.sampled
@pytest.mark.parametrize("f", [_of_rows, _of_a_copy, _alone, _read_before])
def test_what_is_known(f: Callable[..., Any]) -> None:
    np.testing.assert_array_equal(symgrad(f)(ROWS), f(ROWS))


@pytest.mark.sampled
@pytest.mark.parametrize("f", [_of_rows, _of_a_copy])
def test_what_is_known_of_any_memory(f: Callable[..., Any]) -> None:
    x = np.asfortranarray(ROWS)
    np.testing.assert_array_equal(symgrad(f)(x), f(x))


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


@pytest.mark.sampled
@pytest.mark.parametrize("f", [_through_ravel, _under_reshape])
def test_what_hangs_on_the_memory_of_arguments(f: Callable[..., Any]) -> None:
    made = symgrad(f)
    for _ in range(3):
        np.testing.assert_array_equal(made(ROWS), f(ROWS))
        np.testing.assert_array_equal(made.vjp((ROWS,), f(ROWS))[0], f(ROWS))
        for x in (np.asfortranarray(ROWS), ROWS[:, ::-1]):
            with pytest.raises(SymdiffError, match="does not lie row by row"):
                made(x)
            with pytest.raises(SymdiffError, match="does not lie row by row"):
                made.vjp((x,), f(x))


def test_what_hangs_on_memory_that_is_not_known_is_refused() -> None:
    made = symgrad(_turned)
    for x in (np.ones((60, 50)), np.asfortranarray(ROWS), ROWS[:, ::-1]):
        with pytest.raises(SymdiffError, match="changed through another name"):
            made(x)
    for x in (
        ROWS,
        np.ones((3, 2)),
        ROWS,
    ):  # it is known of an array of few elements that lies row by row
        np.testing.assert_array_equal(made(x), _turned(x))
        np.testing.assert_array_equal(made.vjp((x,), _turned(x))[1], _turned(x).T)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.pad(x[1:], 1), lambda x: np.pad(np.diff(x), 1), lambda x: np.diag(x[1:], 1),
        lambda x: np.concatenate([x[1:], np.ones(2)]), lambda x: np.zeros(len(x[1:]) + 2) + np.sum(x),
        lambda x: np.array_equal(x, 0), lambda x: np.array_equal(x, x), lambda x: np.array_equal(x, x[None]),
        lambda x: np.ediff1d(np.hstack((x, x))), lambda x: (np.diag(x) + np.diag(x[1:], 1) + np.diag(x[:-1], -1)) @ x,
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


@pytest.mark.slow
def test_functions_that_store() -> None:
    np.testing.assert_allclose(symgrad(_diagonal)(ROWS), _diagonal(ROWS))


BASES: list[Callable[..., Any]] = [
    lambda x: np.zeros((3, 3)) + x, lambda x: x.copy(), lambda x: x * 1,
]  # fmt: skip
VIEWS: list[Callable[..., Any]] = [
    lambda y: np.einsum("ij->ji", y), lambda y: np.einsum("ii->i", y), lambda y: np.einsum("ij", y),
    lambda y: np.broadcast_to(y, (2, 3, 3)), np.real, lambda y: np.nan_to_num(y, copy=False), list,
    lambda y: [+r for r in y], np.diag, lambda y: y[:, 1].ravel(), lambda y: y[:, 0].ravel(),
    lambda y: y[:, 2].ravel(), lambda y: y[1, 1:].ravel(), lambda y: y[0, ::2].ravel(),
    lambda y: y[0, ::-1].ravel(), lambda y: y[1:2].reshape(-1), lambda y: y[0, ::-1].reshape(-1),
    lambda y: y.T.ravel(), lambda y: y[:2].ravel(), lambda y: y[:, :2].ravel(), lambda y: y[1].ravel(),
    lambda y: np.diagonal(y), lambda y: np.squeeze(y[None]), lambda y: np.rot90(y), lambda y: y.astype(float),
    lambda y: np.positive(y), lambda y: np.asarray(y), lambda y: np.split(y, 3)[1], lambda y: np.flip(y, 0),
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_a_view_and_what_a_copy(base: Any, view: Any) -> None:
    """What is stored is seen where NumPy shows it, or refused."""
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])

    def under(x: Any) -> Any:
        y = base(x)
        v = view(y)
        y[0] = 100.0
        y[1, 1] = -5.0
        y[:, 2] *= 3
        return v

    def over(x: Any) -> Any:
        y = base(x)
        v = view(y)
        v[...] = 77.0
        return y

    for f in (under, over):
        try:
            want = f(x)
        except (TypeError, ValueError):  # a list, or memory that may not be changed
            continue
        try:
            got = symgrad(f, verify=False, accuracy="fast")(x)
        except SymdiffError as refusal:
            assert "may have been changed" in str(refusal) or "copy=" in str(refusal)
            continue
        np.testing.assert_array_equal(got, want)


def test_ravel_of_a_transpose_hangs_on_sizes_and_memory() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        r = y.T.ravel()
        r *= 2
        return y

    made = symgrad(f, verify=False)
    for shape in ((2, 3), (1, 3), (3, 1), (1, 1), (2, 3)):
        np.testing.assert_array_equal(made(np.ones(shape)), f(np.ones(shape)))
    with pytest.raises(SymdiffError, match="does not lie row by row"):
        made(np.asfortranarray(ROWS))


def doubled(view):
    """A function that doubles a view of what is made of a vector, and returns both."""

    def f(x):
        made, seen = view(x)
        seen *= 2
        return made, seen

    return f


def _vector_in_rows(x):
    a = (x * 1).reshape(2, -1)
    return a, a.ravel()


def _vector_in_rows_and_back(x):
    a = x * 1
    return a, a.reshape(2, -1).ravel()


def _joined_in_rows(x):
    a = np.concatenate([x, x]).reshape(2, -1)
    return a, a.ravel()


def _sorted_in_rows(x):
    a = np.sort(x).reshape(2, -1)
    return a, a.ravel()


def _rolled(x):
    a = np.roll(np.outer(x, x), 1)
    return a, a.ravel()


def _small_turned(x):
    a = np.zeros((2, 3)) + x[0]
    return a, np.fliplr(a)


def _small_turned_and_indexed(x):
    a = np.zeros((2, 3)) + x[0]
    return a, np.flipud(a)[None, :]


def _small_swapped(x):
    a = np.arange(6.0).reshape(2, 3) + x[0]
    return a, np.swapaxes(a, 0, 1)


def _small_moved(x):
    a = np.arange(6.0).reshape(2, 3) + x[0]
    return a, np.moveaxis(a, 0, 1)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "view",
    [
        _vector_in_rows, _vector_in_rows_and_back, _joined_in_rows, _sorted_in_rows,
        _rolled, _small_turned, _small_turned_and_indexed, _small_swapped, _small_moved,
    ],
)  # fmt: skip
def test_views_of_what_was_reshaped_and_of_small_arrays(view):
    x = np.array([1.0, -2.0, 3.0, 4.0])
    for got, want in zip(symgrad(doubled(view))(x), doubled(view)(x), strict=True):
        np.testing.assert_array_equal(got, want)


def put_in_reverse(x):
    a = x * 2
    b = a[::-1]
    np.put(b, [0, 1], 0.4)
    return a


def put_in_turned(x):
    a = np.roll(x, -1)
    np.put(a.T, [0, -1], [0.4, 5.0])
    return a


def put_more(x):
    a = x * 1
    np.put(a, [1], [5.0, 6.0])
    np.put(a, [0, 2, 3], [7.0, 8.0])
    return a


def by_flat(x):
    a = np.flip(x * 1)
    a.flat[1] = 5.0
    a.T.flat[0] = x[0].sum()
    return a


@pytest.mark.sampled
@pytest.mark.parametrize("f", [put_in_reverse, put_in_turned, put_more, by_flat])
def test_elements_are_put_in_views(f):
    for x in (np.array([1.0, -2.0, 3.0, 4.0]), np.arange(6.0).reshape(2, 3) - 2):
        np.testing.assert_array_equal(symgrad(f)(x), f(x))
    assert symgrad(lambda x: np.sum(f(x) ** 2)).grad(np.arange(6.0).reshape(2, 3)).shape == (2, 3)


def ravelled(x):
    r = x.ravel()
    r *= 2
    return np.sum(x)


def ravelled_slice(x):
    r = x[1:].ravel()
    r *= 2
    return np.sum(x)


def ravelled_rows(x):
    r = x.reshape(2, -1).ravel()
    r *= 2
    return np.sum(x)


def ravelled_after_storing(x):
    x[0] = 5.0
    r = x.ravel()
    r *= 2
    return np.sum(x)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [ravelled, ravelled_slice, ravelled_rows, ravelled_after_storing])
def test_vectors_with_gaps_in_memory(f):
    """NumPy copies those that it would have to show in a row, and shows others."""
    whole, gaps = np.arange(8.0) + 1, np.zeros((8, 2))[:, 0]
    assert symgrad(f)(whole.copy()) == f(whole.copy())
    with pytest.raises(SymdiffError, match="does not lie row by row"):
        symgrad(f)(gaps)
    assert symgrad(lambda x: np.sum(x.ravel() ** 2))(gaps) == 0.0


ROWS_AND_COLUMNS = [
    "x[::2, 0]",
    "x[:, 0]",
    "(x*1)[:, 0]",
    "(x*1)[0]",
    "(x*1)[::2, 0]",
    "x.T[0]*1",
    "np.atleast_2d(x[0])",
    "x[:1]",
]


@pytest.mark.sampled
@pytest.mark.parametrize("view", ROWS_AND_COLUMNS)
def test_ravel_of_rows_and_columns(view: str) -> None:
    """A view where the elements are neighbours in memory, a copy elsewhere; both as arguments lie, or refused."""
    f = made(f"y = {view}", "r = y.ravel()", "r *= 2", "return y")
    g = symgrad(f, verify=False, accuracy="fast")
    for shape in ((3, 2), (3, 1), (1, 2), (1, 1), (4, 3)):
        x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
        np.testing.assert_array_equal(g(x), f(x.copy()))
    for given in (np.asfortranarray(ROWS), ROWS[:, ::-1], np.repeat(ROWS, 2, axis=0)[::2]):
        try:
            found = g(given)
        except SymdiffError as e:
            assert "does not lie row by row" in str(e)
            continue
        np.testing.assert_array_equal(found, f(given.copy(order="K")))


# --- what a condition selects, or lies otherwise in memory
X = np.array([[0.45, -1.3], [-0.2, 0.4], [0.1, -0.8]])


def _check(f: Callable[[Any], Any], may_be_refused: bool) -> None:
    try:
        found = symgrad(f, verify=False, accuracy="fast")(X.copy())
    except UnsupportedError as e:
        assert may_be_refused, e
        assert "changed" in str(e) or "assigned" in str(e)
        return
    for a, b in zip(found, f(X.copy()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-15)


SHOWN = [
    "a.reshape(-1)", "a.ravel()", "a.T", "a[1:]", "a[0]", "a[::-1]", "np.asarray(a)", "a[None]", "np.split(a, 1)[0]",
    "np.squeeze(a)", "[r for r in a][0]", "(a,)[0]",
]  # fmt: skip


@pytest.mark.parametrize("view", SHOWN)
def test_a_view_of_a_selection_is_changed(view: str) -> None:
    _check(made("a = x[x[:, 0] > 0]", f"b = {view}", "b[0] = 7.0", "return a, b"), True)


@pytest.mark.parametrize("view", SHOWN)
def test_a_selection_is_changed_that_a_view_shows(view: str) -> None:
    _check(made("a = x[x[:, 0] > 0]", f"b = {view}", "a *= 3.0", "return a, b"), True)


@pytest.mark.sampled
@pytest.mark.parametrize("read", ["np.mean(a)", "a*2", "np.sum(a.T)", "a.copy()", "len(a)"])
def test_what_was_only_read_may_be_changed(read: str) -> None:
    _check(made("a = x[x[:, 0] > 0]", f"b = {read}", "a *= 3.0", "return a, b"), False)


@pytest.mark.sampled
@pytest.mark.parametrize("array", ["np.transpose(x*1.0)", "x*1.0", "(x*1.0)[::2]", "(x*1.0)[:, 0]"])
def test_contiguous_arrays_are_views_or_copies(array: str) -> None:
    f = made(f"a = {array}", "b = np.ascontiguousarray(a)", "b[0] = 7.0", "return a, b")
    _check(f, "::2" in array)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "selected", ["t[t[:, 0]]", "t[t]", "t[:, 0][t[:, 0]]", "t[[0, 1]]", "t[1:]"]
)
def test_selected_truth_values_are_numpys(selected: str) -> None:
    f = made("t = x < x + 1", f"s = {selected}", "return s + s, True*s, s*s")
    _check(f, False)
    assert all(a.dtype == bool for a in symgrad(f)(X))


@pytest.mark.slow
def test_truth_values_in_functions_of_arrays() -> None:
    f = made(
        "t = x[:, 0] > 0", "return np.diag(t), np.median(t), np.interp(x[:, 1], [0.0, 1.0], t[:2])"
    )
    _check(f, False)
    assert symgrad(f)(X)[0].dtype == bool


def test_functions_of_one_element_give_floats() -> None:
    f = made("return np.trapezoid(x[0, :1]), np.linalg.norm(int(x[1, 1]) + 2)")
    _check(f, False)
    assert all(isinstance(v, float) for v in symgrad(f)(X))
