"""Which names are the same memory: views, aliases and copies, as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.refused import program
from tests.frontend.tracing import agrees_on_sizes, cases


def helper_changes_argument(x):
    def change(z):
        z[0] = 100
        return 0

    change(x)
    return x


def helper_rebinds(x):
    def change(z):
        z += 1
        z = z * 2
        return z

    w = change(x)
    return x - w


def best_so_far(x):
    best = x.copy()
    for _ in range(40):
        x = x * 0.9
        if x[0] < 0.5:
            best = x
    return best + x


def return_in_branch(x, c):
    y = np.zeros(len(x))
    if c > 0:
        for i in range(len(x)):
            y[i] = c * x[i]
        return y
    y += 3
    return y


def arrays_in_dict(x):
    d = {"a": x, "b": x * 1}
    d["b"] += d["a"]
    d["a"][0] = 7
    return x + d["b"]


def rows_assigned_together(x):
    y = np.zeros((2, len(x)))
    y[0], y[1] = x, x**2
    y[:, 0] = 1
    return y


def broadcast_store(x):
    y = np.zeros((len(x), 2))
    y[:] = x[:, None]
    y[...] += 1
    y[1:, 1] *= 2
    return y


def asarray_then_sum(x):
    x = np.asarray(x, dtype=float)
    x = np.atleast_1d(x)
    return np.sum(x, dtype=float)


def dict_of_array_rebound(x):
    state = {"w": np.ones(len(x))}
    for _ in range(len(x)):
        state["w"] = state["w"] * 0.5 + x
    return state["w"]


def dict_of_array_changed(x):
    state = {"w": np.ones(len(x))}
    for i in range(len(x)):
        state["w"][i] += x[i]
    return state["w"]


def list_of_arrays_swapped(x):
    A = [np.zeros(len(x)), np.ones(len(x))]
    for _ in range(len(x)):
        A[0], A[1] = A[1], A[0] + x
    return A[0] - 3 * A[1]


def list_by_unknown_index(x):
    A = [np.zeros(len(x)), np.ones(len(x))]
    for i in range(len(x)):
        A[i % 2][i] = x[i]
    return A[0] - 3 * A[1]


def matrix_written(x):
    n = len(x)
    M = np.zeros((n, n))
    M[np.arange(n), np.arange(n)] = x
    M[0, :] += 1
    M[:, -1] = M[:, 0]
    return M


def rows_changed_in_loop(x):
    for row in x:
        row += 1
        row[0] = 0
    return x


def row_views_changed(x):
    for i in range(len(x)):
        r = x[i]
        r *= 2
    return x


def array_and_asarray(x):
    a = np.array(x)
    b = np.asarray(x)
    a[0] = 1
    b[0] = 2
    return a - x + b


def choice_in_loop(x, c):
    y = x if c > 0 else x.copy()
    for i in range(len(x)):
        y[i] += i
    return x + y


def closure_sees_changes(x):
    y = x * 2

    def g():
        return y.sum()

    a = g()
    y[0] = 0
    return a + g()


def two_rows_in_turn(x):
    u = np.zeros((2, len(x)))
    for _ in range(40):
        u[1] = u[0] * 0.5 + x
        u[0] = u[1]
    return u


def buffers_in_turn(x):
    cur, new = x.copy(), np.zeros_like(x)
    for _ in range(40):
        new[:] = cur * 0.5
        new[0] += 1
        cur, new = new, cur
    return cur - new


def choice_of_views(x):
    if x[0] > x[-1]:
        x[0], x[-1] = x[-1], x[0]
        y = x
    else:
        y = x[::-1]
    y[0] += 100
    return x


def joins_are_copies(x):
    y = np.concatenate([x, x])
    y[0] = 5
    z = np.stack([x, y[: len(x)]])
    z[0, 0] = 9
    return x.sum() + y.sum() + z.sum()


CASES = {
    "x: n": [
        helper_changes_argument, helper_rebinds, best_so_far, arrays_in_dict, rows_assigned_together, broadcast_store,
        asarray_then_sum, dict_of_array_rebound, dict_of_array_changed, list_of_arrays_swapped, list_by_unknown_index,
        matrix_written, array_and_asarray, closure_sees_changes, two_rows_in_turn, buffers_in_turn, choice_of_views,
        joins_are_copies,
    ],
    "x: n, c:": [return_in_branch, choice_in_loop],
    "x: n m": [rows_changed_in_loop, row_views_changed],
}  # fmt: skip
SHORT = {
    "x: n": {
        "guarded_log": lambda x: np.where(x > 0, np.log(x), 0).sum() + np.sum(np.log(x[x > 0])),
        "reshape_is_view": program("x", "y = x.reshape(-1)", "y[0] = 9", "return x"),
        "array_in_list": program("x", "rows = [x, x * 2]", "rows[1][0] = 7", "return rows[1] + rows[0]"),
        "masked_sign": program("x", "m = x > 0", "x[m] = -x[m]", "return x[m].sum() + np.sum(x)"),
        "gather_is_copy": program("x", "y = x[[0, 1, 0]]", "y[0] = 100", "return x.sum() + y.sum()"),
        "store_at_argmax": program("x", "i = np.argmax(x)", "x[i] = 0", "return x"),
        "reversed_view": program("x", "y = x[::-1]", "y[0] = 5", "return x"),
        "swapped_slices": program("x", "x[:-1], x[1:] = x[1:], x[:-1]", "return x"),
        "swapped_rows_alias": program("x", "tmp = x[0]", "x[0] = x[1]", "x[1] = tmp", "return x"),
        "tuple_of_arrays": program("x", "t0 = (x, x + 1)", "u, v = t0", "u[0] = 3", "return u + v + x"),
        "smoothing": program("x", "x[1:-1] = 0.5 * (x[:-2] + x[2:])", "return x"),
        "astype_is_copy": program("x", "y = x.astype(np.float64)", "y[0] = 2", "return y.sum() - x.sum()"),
        "strided_view_changed": program("x", "y = x[::-2]", "y[::2] = 5", "y[1:] += 1", "return x"),
        "mask_of_slice": program("x", "y = x.copy()", "y[1:][y[1:] > 0] = 0", "return y"),
        "where_is_copy": program("x", "w = np.where(x > 0, x, 0)", "w += 1", "v = x.T", "v[0] = 2", "return w + x"),
        "unary_is_copy": program("x", "y = +x", "y[0] = 3", "z = abs(x)", "z[0] = 1", "return x + y * z"),
        "broadcast_copy": program("x", "y = np.broadcast_to(x, (2, len(x))).copy()", "y[0] = 1", "return y"),
    },
    "x: n m": {
        "rows_by_condition": program("x", "x[x.sum(axis=1) > 0] = 0", "return x"),
        "swapped_rows_alias": program("x", "tmp = x[0]", "x[0] = x[1]", "x[1] = tmp", "return x"),
        "swapped_rows_gather": program("x", "x[[0, 1]] = x[[1, 0]]", "return x"),
        "masks_of_views": program("x", "y = x.copy()", "y[y < 0] = 0", "y[:, 0][y[:, 0] > 1] = 1", "return y"),
        "diagonal_filled": program("x", "np.fill_diagonal(x, 0)", "return x"),
        "column_is_view": program("x", "v = x[:, 0]", "x[0, 0] = 10", "return v.sum()"),
        "sum_is_copy": program("x", "v = x[0] + 0", "x[0, 0] = 10", "return v.sum() - x[0].sum()"),
    },
    "x: n, y: n": {
        "parameters_swapped": program("x, y", "x, y = y, x", "x[0] = 1", "return x - y"),
    },
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), cases(CASES, SHORT))
def test_as_python(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)


def test_ravel_of_a_transpose_is_a_copy() -> None:
    """Of more than one element; which of one is, cannot be seen."""

    def f(x):
        A = x[:, None] * x
        B = A.T.ravel()
        A[0] = 1
        C = A.T
        A[:, 0] = 2
        return B.sum() + C[0].sum() + A.sum()

    agrees_on_sizes(f, {"x": "n"}, (5, 3, 2))
