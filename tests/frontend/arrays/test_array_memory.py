"""Which names are the same memory: views, aliases and copies, as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.tracing import agrees_on_sizes, cases


def reshape_is_view(x):
    y = x.reshape(-1)
    y[0] = 9
    return x


def array_in_list(x):
    rows = [x, x * 2]
    rows[1][0] = 7
    return rows[1] + rows[0]


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


def masked_sign(x):
    m = x > 0
    x[m] = -x[m]
    return x[m].sum() + np.sum(x)


def rows_by_condition(x):
    x[x.sum(axis=1) > 0] = 0
    return x


def gather_is_copy(x):
    y = x[[0, 1, 0]]
    y[0] = 100
    return x.sum() + y.sum()


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


def store_at_argmax(x):
    i = np.argmax(x)
    x[i] = 0
    return x


def reversed_view(x):
    y = x[::-1]
    y[0] = 5
    return x


def swapped_slices(x):
    x[:-1], x[1:] = x[1:], x[:-1]
    return x


def swapped_rows_alias(x):
    tmp = x[0]
    x[0] = x[1]
    x[1] = tmp
    return x


def swapped_rows_gather(x):
    x[[0, 1]] = x[[1, 0]]
    return x


def asarray_then_sum(x):
    x = np.asarray(x, dtype=float)
    x = np.atleast_1d(x)
    return np.sum(x, dtype=float)


def tuple_of_arrays(x):
    t0 = (x, x + 1)
    u, v = t0
    u[0] = 3
    return u + v + x


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


def masks_of_views(x):
    y = x.copy()
    y[y < 0] = 0
    y[:, 0][y[:, 0] > 1] = 1
    return y


def diagonal_filled(x):
    np.fill_diagonal(x, 0)
    return x


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


def parameters_swapped(x, y):
    x, y = y, x
    x[0] = 1
    return x - y


def smoothing(x):
    x[1:-1] = 0.5 * (x[:-2] + x[2:])
    return x


def column_is_view(x):
    v = x[:, 0]
    x[0, 0] = 10
    return v.sum()


def sum_is_copy(x):
    v = x[0] + 0
    x[0, 0] = 10
    return v.sum() - x[0].sum()


def astype_is_copy(x):
    y = x.astype(np.float64)
    y[0] = 2
    return y.sum() - x.sum()


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


def strided_view_changed(x):
    y = x[::-2]
    y[::2] = 5
    y[1:] += 1
    return x


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


def mask_of_slice(x):
    y = x.copy()
    y[1:][y[1:] > 0] = 0
    return y


def joins_are_copies(x):
    y = np.concatenate([x, x])
    y[0] = 5
    z = np.stack([x, y[: len(x)]])
    z[0, 0] = 9
    return x.sum() + y.sum() + z.sum()


def where_is_copy(x):
    w = np.where(x > 0, x, 0)
    w += 1
    v = x.T
    v[0] = 2
    return w + x


def unary_is_copy(x):
    y = +x
    y[0] = 3
    z = abs(x)
    z[0] = 1
    return x + y * z


def broadcast_copy(x):
    y = np.broadcast_to(x, (2, len(x))).copy()
    y[0] = 1
    return y


CASES = {
    "x: n": [
        reshape_is_view, array_in_list, helper_changes_argument, helper_rebinds, best_so_far, swapped_rows_alias,
        masked_sign, gather_is_copy, arrays_in_dict, rows_assigned_together, broadcast_store, store_at_argmax,
        reversed_view, swapped_slices, asarray_then_sum, tuple_of_arrays, dict_of_array_rebound,
        dict_of_array_changed, list_of_arrays_swapped, list_by_unknown_index, matrix_written, smoothing,
        astype_is_copy, array_and_asarray, closure_sees_changes, strided_view_changed, two_rows_in_turn,
        buffers_in_turn, choice_of_views, mask_of_slice, joins_are_copies, where_is_copy, unary_is_copy,
        broadcast_copy,
    ],
    "x: n, c:": [return_in_branch, choice_in_loop],
    "x: n m": [
        rows_by_condition, swapped_rows_alias, swapped_rows_gather, masks_of_views, diagonal_filled,
        rows_changed_in_loop, row_views_changed, column_is_view, sum_is_copy,
    ],
    "x: n, y: n": [parameters_swapped],
}  # fmt: skip
SHORT = {
    "x: n": {"guarded_log": lambda x: np.where(x > 0, np.log(x), 0).sum() + np.sum(np.log(x[x > 0]))},
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
