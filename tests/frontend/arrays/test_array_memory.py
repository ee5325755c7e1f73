"""Which names are the same memory: views, aliases and copies, as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontend.tracing import Cases, agrees_on_sizes

case = Cases()


@case(x="n")
def view_of_formula(x):
    y = 2 * x
    v = y[1:]
    v[0] = 5
    return y


@case(x="n")
def reshape_is_view(x):
    y = x.reshape(-1)
    y[0] = 9
    return x


@case(x="n")
def array_in_list(x):
    rows = [x, x * 2]
    rows[1][0] = 7
    return rows[1] + rows[0]


@case(x="n")
def helper_changes_argument(x):
    def change(z):
        z[0] = 100
        return 0

    change(x)
    return x


@case(x="n")
def helper_rebinds(x):
    def change(z):
        z += 1
        z = z * 2
        return z

    w = change(x)
    return x - w


@case(x="n")
def best_so_far(x):
    best = x.copy()
    for _ in range(40):
        x = x * 0.9
        if x[0] < 0.5:
            best = x
    return best + x


@case(x="n", c="")
def return_in_branch(x, c):
    y = np.zeros(len(x))
    if c > 0:
        for i in range(len(x)):
            y[i] = c * x[i]
        return y
    y += 3
    return y


@case(x="n")
def masked_sign(x):
    m = x > 0
    x[m] = -x[m]
    return x[m].sum() + np.sum(x)


@case(x="n m")
def rows_by_condition(x):
    x[x.sum(axis=1) > 0] = 0
    return x


@case(x="n")
def gather_is_copy(x):
    y = x[[0, 1, 0]]
    y[0] = 100
    return x.sum() + y.sum()


@case(x="n")
def arrays_in_dict(x):
    d = {"a": x, "b": x * 1}
    d["b"] += d["a"]
    d["a"][0] = 7
    return x + d["b"]


@case(x="n")
def rows_assigned_together(x):
    y = np.zeros((2, len(x)))
    y[0], y[1] = x, x**2
    y[:, 0] = 1
    return y


@case(x="n")
def broadcast_store(x):
    y = np.zeros((len(x), 2))
    y[:] = x[:, None]
    y[...] += 1
    y[1:, 1] *= 2
    return y


@case(x="n")
def store_at_argmax(x):
    i = np.argmax(x)
    x[i] = 0
    return x


@case(x="n")
def reversed_view(x):
    y = x[::-1]
    y[0] = 5
    return x


@case(x="n")
def swapped_slices(x):
    x[:-1], x[1:] = x[1:], x[:-1]
    return x


@case(x="n")
def swapped_elements(x):
    tmp = x[0]
    x[0] = x[1]
    x[1] = tmp
    return x


@case(x="n m")
def swapped_rows_alias(x):
    tmp = x[0]
    x[0] = x[1]
    x[1] = tmp
    return x


@case(x="n m")
def swapped_rows_gather(x):
    x[[0, 1]] = x[[1, 0]]
    return x


@case(x="n")
def asarray_then_sum(x):
    x = np.asarray(x, dtype=float)
    x = np.atleast_1d(x)
    return np.sum(x, dtype=float)


@case(x="n")
def tuple_of_arrays(x):
    t0 = (x, x + 1)
    u, v = t0
    u[0] = 3
    return u + v + x


@case(x="n")
def dict_of_array_rebound(x):
    state = {"w": np.ones(len(x))}
    for _ in range(len(x)):
        state["w"] = state["w"] * 0.5 + x
    return state["w"]


@case(x="n")
def dict_of_array_changed(x):
    state = {"w": np.ones(len(x))}
    for i in range(len(x)):
        state["w"][i] += x[i]
    return state["w"]


@case(x="n")
def list_of_arrays_swapped(x):
    A = [np.zeros(len(x)), np.ones(len(x))]
    for _ in range(len(x)):
        A[0], A[1] = A[1], A[0] + x
    return A[0] - 3 * A[1]


@case(x="n")
def list_by_unknown_index(x):
    A = [np.zeros(len(x)), np.ones(len(x))]
    for i in range(len(x)):
        A[i % 2][i] = x[i]
    return A[0] - 3 * A[1]


@case(x="n")
def matrix_written(x):
    n = len(x)
    M = np.zeros((n, n))
    M[np.arange(n), np.arange(n)] = x
    M[0, :] += 1
    M[:, -1] = M[:, 0]
    return M


@case(x="n m")
def masks_of_views(x):
    y = x.copy()
    y[y < 0] = 0
    y[:, 0][y[:, 0] > 1] = 1
    return y


@case(x="n m")
def diagonal_filled(x):
    np.fill_diagonal(x, 0)
    return x


@case(x="n m")
def rows_changed_in_loop(x):
    for row in x:
        row += 1
        row[0] = 0
    return x


@case(x="n m")
def row_views_changed(x):
    for i in range(len(x)):
        r = x[i]
        r *= 2
    return x


@case(x="n", y="n")
def parameters_swapped(x, y):
    x, y = y, x
    x[0] = 1
    return x - y


@case(x="n")
def smoothing(x):
    x[1:-1] = 0.5 * (x[:-2] + x[2:])
    return x


@case(x="n m")
def column_is_view(x):
    v = x[:, 0]
    x[0, 0] = 10
    return v.sum()


@case(x="n m")
def sum_is_copy(x):
    v = x[0] + 0
    x[0, 0] = 10
    return v.sum() - x[0].sum()


@case(x="n")
def astype_is_copy(x):
    y = x.astype(np.float64)
    y[0] = 2
    return y.sum() - x.sum()


@case(x="n")
def array_and_asarray(x):
    a = np.array(x)
    b = np.asarray(x)
    a[0] = 1
    b[0] = 2
    return a - x + b


@case(x="n", c="")
def choice_in_loop(x, c):
    y = x if c > 0 else x.copy()
    for i in range(len(x)):
        y[i] += i
    return x + y


@case(x="n")
def closure_sees_changes(x):
    y = x * 2

    def g():
        return y.sum()

    a = g()
    y[0] = 0
    return a + g()


@case(x="n")
def strided_view_changed(x):
    y = x[::-2]
    y[::2] = 5
    y[1:] += 1
    return x


@case(x="n")
def two_rows_in_turn(x):
    u = np.zeros((2, len(x)))
    for _ in range(40):
        u[1] = u[0] * 0.5 + x
        u[0] = u[1]
    return u


@case(x="n")
def buffers_in_turn(x):
    cur, new = x.copy(), np.zeros_like(x)
    for _ in range(40):
        new[:] = cur * 0.5
        new[0] += 1
        cur, new = new, cur
    return cur - new


@case(x="n")
def choice_of_views(x):
    if x[0] > x[-1]:
        x[0], x[-1] = x[-1], x[0]
        y = x
    else:
        y = x[::-1]
    y[0] += 100
    return x


@case(x="n")
def mask_of_slice(x):
    y = x.copy()
    y[1:][y[1:] > 0] = 0
    return y


@case(x="n")
def joins_are_copies(x):
    y = np.concatenate([x, x])
    y[0] = 5
    z = np.stack([x, y[: len(x)]])
    z[0, 0] = 9
    return x.sum() + y.sum() + z.sum()


@case(x="n")
def where_is_copy(x):
    w = np.where(x > 0, x, 0)
    w += 1
    v = x.T
    v[0] = 2
    return w + x


@case(x="n")
def unary_is_copy(x):
    y = +x
    y[0] = 3
    z = abs(x)
    z[0] = 1
    return x + y * z


@case(x="n")
def broadcast_copy(x):
    y = np.broadcast_to(x, (2, len(x))).copy()
    y[0] = 1
    return y


case.short({"guarded_log": lambda x: np.where(x > 0, np.log(x), 0).sum() + np.sum(np.log(x[x > 0]))}, x="n")  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), case)
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
