"""Loops, comprehensions and early ends over arrays whose size is not known when traced."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.frontend.tracing import agrees_on_sizes, cases


def index_after_loop(x):
    s = 0.0
    i = 0
    for i in range(len(x)):
        s += x[i]
    return s + i


def inner_break_else(x):
    s = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if j > i:
                break
            s += x[j] * x[i]
        else:
            s += 100
    return s


def while_else(x):
    s = 0.0
    n = len(x)
    while n > 0:
        n -= 1
        if x[n] < 0:
            continue
        s += x[n]
        if s > 2:
            break
    else:
        s = -s
    return s


def backwards_triangle(x):
    s = 0.0
    for k in range(0, len(x), 2):
        for j in range(k, -1, -1):
            s += x[j]
    return s


def small_array_state(x):
    z = np.zeros(3)
    for v in x:
        z[0] += v
        z[1] = z[0] * 2
        z = z + 1
    return z


def list_rebound(x):
    z = [0.0, 0.0]
    for v in x:
        z = [z[0] + v, z[1] + z[0]]
        z[0] *= 0.5
    return z[0] + z[1]


def flag_state(x):
    flag = False
    cnt = 0
    for v in x:
        if v > 0:
            flag = True
        if flag:
            cnt += 1
    return cnt * 1.0 if flag else -1.0


def gauss(x):
    n = len(x)
    a = x + 5 * np.eye(n)
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
    d = 1.0
    for k in range(n):
        d *= a[k, k]
    return d


def cholesky_loops(x):
    n = len(x)
    a = x @ x.T + np.eye(n)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = sum(L[i, k] * L[j, k] for k in range(j))
            if i == j:
                L[i, j] = np.sqrt(a[i, i] - s)
            else:
                L[i, j] = (a[i, j] - s) / L[j, j]
    return L


def gram_by_loops(x, y):
    G = np.zeros((2, 2))
    for i, u in enumerate((x, y)):
        for j, v in enumerate((x, y)):
            G[i, j] = u @ v
    return G


def mapped(x):
    def square(v):
        return v**2

    return sum(map(square, x)) + max(map(abs, x))


def series_with_return(x):
    p, s = 1.0, 0.0
    for i in range(len(x)):
        p *= x[i] / (i + 1)
        s += p
        if abs(p) < 1e-3:
            return s, i
    return s, -1


def asserted(x):
    assert len(x) > 1
    assert np.all(x > -100)
    if x.ndim != 1:
        raise ValueError("no")
    return x[0] / x[1]


def raises_when_short(x):
    if len(x) < 2:
        raise ValueError("too short")
    return x[0] * x[1]


def branches_on_sizes(x):
    if len(x) == 0:
        return 0.0
    if len(x) == 1:
        return x[0]
    m = len(x) // 2
    return x[:m].sum() * x[m:].sum()


def compaction_loop(x):
    k = 0
    out = np.zeros(len(x))
    for v in x:
        if v > 0:
            out[k] = v
            k += 1
    return out[:k].sum() + k


def bisection(x):
    lo, hi = 0, len(x)
    y = np.sort(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if y[mid] < 0.3:
            lo = mid + 1
        else:
            hi = mid
    return lo + y.sum()


def bubble_sort(x):
    n = len(x)
    a = x.copy()
    for i in range(n):
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a


def moving_average(x):
    w = np.ones(3) / 3
    y = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        y[i] = w @ x[i - 1 : i + 2]
    return y


def ndindex(x):
    out = np.zeros(x.shape)
    for idx in np.ndindex(x.shape):
        out[idx] = x[idx] ** 2
    return out


def running_maximum(x):
    s = x[0]
    for v in x[1:]:
        s = max(s, v)
    return s


def unrolled_rebinding(x):
    u = x
    for _ in range(3):
        u = u[::-1] * 2
    return u


def insertion_sort(x):
    i = 0
    while i < len(x):
        j = i
        while j > 0 and x[j - 1] > x[j]:
            x[j - 1], x[j] = x[j], x[j - 1]
            j -= 1
        i += 1
    return x


def while_norm(x):
    it = 0
    v = x.copy()
    while np.linalg.norm(v) > 1e-2 and it < 100:
        v = v * 0.5
        it += 1
    return v, it


def return_from_endless_loop(x):
    v = x.copy()
    while True:
        v = v * 0.5
        if np.max(np.abs(v)) < 1e-3:
            return v


def power_iteration(x):
    v = np.ones(len(x))
    A = x @ x.T + np.eye(len(x))
    for _ in range(50):
        v = A @ v
        v = v / np.linalg.norm(v)
    return v @ A @ v


def recursion(x):
    def rec(k):
        if k == 0:
            return x[0]
        return rec(k - 1) * 0.5 + 1

    return rec(5)


def continue_in_loop_with_stores(x):
    k = 0
    for v in x:
        if v > 0:
            k += 1
        elif v < -0.5:
            k -= 1
        else:
            continue
        x[0] += k
    return x[0]


def branches_on_elements(x):
    if np.any(x > 1):
        return x.max()
    if x.sum() > 0:
        return x.min()
    return 0.0


def reversed_ranges(x):
    s = 0.0
    for i in range(len(x) - 1, 0, -2):
        s += i * x[i]
    for i in reversed(range(len(x))):
        s = s * 0.5 + x[i]
    for i, v in reversed(list(enumerate(x))):
        s += i * v
    return s


def loop_over_half(x):
    z = 0
    for i in range(2, 2 + len(x)):
        z += x[i - 2] * i
    for _ in range(len(x) // 2):
        z *= 0.9
    return z


def keyword_helper(x):
    def g(a, b=2.0, *, c=1.0):
        return a * b + c

    return sum(g(v, c=v) for v in x)


def two_filters(x):
    statesum = sum(1.0 for v in x if v > 0 if v < 1)
    return statesum + sum(v if v > 0 else -v for v in x)


def helper_stores(x, c):
    def fill(z, i):
        if z[i] > 0:
            z[i] = 0
            return 1.0
        z[i] -= 1
        return 2.0

    s = 0.0
    for i in range(len(x)):
        s += fill(x, i)
    return s + x.sum()


def array_state_in_branches(x, c):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            y = y + x
        else:
            y = y * 0.5
            y[i] = 3
    return y


def two_breaks(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            if x[j] < -0.5:
                break
            y[i] += x[j]
        if y[i] > 2:
            break
    return y


def boolean_array_written(x):
    b = np.zeros(len(x), dtype=bool)
    for i in range(len(x)):
        b[i] = x[i] > 0
    return x[b].sum() + b.sum() + x[~b].sum() * 2


def while_with_slices(x):
    i = 0
    y = x.copy()
    while i < len(y):
        if y[i] > 0:
            y[i:] *= 0.5
        i += 1
    return y


def best_and_place(x):
    best, arg = -np.inf, -1
    for i, v in enumerate(x, 1):
        if v > best:
            best, arg = v, i
    return best + arg if len(x) > 0 else 0.0


def running_maximum_written(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = max(y[i - 1] if i > 0 else 0.0, x[i])
    return y


def list_used_later(x):
    y = [x[i] * 2 for i in range(len(x))]
    return sum(y[i] * x[i] for i in range(len(y))) + len(y) + y[-1]


def small_matrix_state(x):
    M = np.array([[x[0], 1.0], [2.0, x[1]]])
    s = np.zeros(2)
    for v in x:
        s = M @ s * 0.1 + v
    return s


def while_in_for(x):
    s = 0.0
    for v in x:
        w = v
        while w > 0.1:
            w = w * 0.5
            s += w
    return s


def row_views_and_return(x):
    s = 0.0
    for i in range(len(x)):
        row = x[i]
        if row[0] > 0:
            row[1] = 7
            continue
        for v in row:
            s += v
            if v < 0:
                return s
    return x.sum() + s


def swap_in_branch(x):
    p = 0.0
    q = 1.0
    for v in x:
        p, q = q * v, p + v
        if p > q:
            p, q = q, p
    return p, q


def history(x):
    cur = x
    hist = np.zeros((40, len(x)))
    for k in range(40):
        cur = np.sin(cur) + 0.1 * k
        hist[k] = cur
    return hist[-1] + hist.sum(axis=0)


def three_loops(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            for k in range(len(x)):
                if i < j < k:
                    total += x[i] * x[j] * x[k]
    return total


def integer_state(x):
    z = 1
    for _ in x:
        z = z * 2
    return z + x.sum()


def modular_state(x):
    k = 0
    for _ in x:
        k = (k * 3 + 1) % 7
    return x[k % len(x)] + k // 2 - (-k) // 2


def negative_start(x):
    s = 0.0
    for i in range(-2, len(x)):
        s += x[i]
    return s


def negative_total(x):
    s = np.float64(0)
    for v in x:
        s += v
    total = 0
    for v in x:
        total -= v
    return s * total


def isnan_in_loop(x):
    s = 0.0
    for v in x:
        if np.isnan(v) or v > 100:
            continue
        s += v
    return s


def index_modulo_size(x):
    a = np.zeros(5)
    for i in range(5):
        a[i] = x[i % len(x)]
    return a


CASES = {
    "x: n": [
        index_after_loop, inner_break_else, while_else, backwards_triangle, small_array_state, list_rebound,
        index_modulo_size,
        flag_state, mapped, series_with_return, asserted, raises_when_short, branches_on_sizes, compaction_loop,
        bisection, bubble_sort, moving_average, running_maximum, unrolled_rebinding, insertion_sort, while_norm,
        return_from_endless_loop, recursion, continue_in_loop_with_stores, branches_on_elements, reversed_ranges,
        loop_over_half, keyword_helper, two_filters, two_breaks, boolean_array_written, while_with_slices,
        best_and_place, running_maximum_written, list_used_later, small_matrix_state, while_in_for, swap_in_branch,
        history, three_loops, integer_state, modular_state, negative_start, negative_total, isnan_in_loop,
    ],
    "x: n n": [gauss, cholesky_loops, power_iteration],
    "x: n, y: n": [gram_by_loops],
    "x: n m": [ndindex, row_views_and_return],
    "x: n, c:": [helper_stores, array_state_in_branches],
}  # fmt: skip
SHORT = {
    "x: n": {
        "suffix_sums": lambda x: np.array([x[i:].sum() for i in range(len(x))]),
        "nested_generator": lambda x: sum(x[i] * x[j] for i in range(len(x)) for j in range(len(x)) if i != j),
        "reduced_by_function": lambda x: reduce(lambda a, b: a * 0.5 + b, x),
        "zipped_ranges": lambda x: sum(x[i] * x[j] for i, j in zip(range(len(x)), range(1, len(x)), strict=False)),
    },
    "x: n 3": {"sum_over_points": lambda x: sum(np.sqrt(p @ p) for p in x) + sum(np.linalg.norm(p) for p in x)},
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("fun", "shapes"), cases(CASES, SHORT))
def test_as_python(fun: Any, shapes: Any) -> None:
    agrees_on_sizes(fun, shapes)


def _sum_of_logarithms(x, y):
    s = 1.0
    for v in x:
        if v > 0:
            s += y * math.log(v)
            if s > 100:
                return s
    return s


def _sum_of_quotients(x, y):
    s = 0.0
    for v in x:
        if v != 0:
            s += y / v
            if s > 100:
                return 2 * s
    return s


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "x", "slopes"),
    [
        (_sum_of_logarithms, [-2.0, 0.5, 1.0], ([0.0, 2.0, 1.0], math.log(0.5))),
        (_sum_of_quotients, [0.0, 0.5, 1.0], ([0.0, -4.0, -1.0], 3.0)),
        (_sum_of_quotients, [0.0, 2.0**-7, 1.0], ([0.0, -(2.0**15), 0.0], 2.0**8)),
    ],
)
@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_what_is_returned_from_a_loop_counts_where_it_is(f, x, slopes, accuracy) -> None:
    """Elsewhere it may be undefined, and so may its slopes."""
    by_x, by_y = symgrad(f, accuracy=accuracy).grad(np.array(x), 1.0)
    np.testing.assert_array_equal(by_x, slopes[0])
    assert by_y == pytest.approx(slopes[1], rel=1e-15)
