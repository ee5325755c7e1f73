"""Lists of unknown length hold references, as Python's do: rows are swapped, shared, replaced."""

import copy

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.errors import UnsupportedError
from tests.frontend.differences import slopes_by

SMALL = np.array([[1.0, 2, 3], [4, 5, 7], [8, -1, 2]])
LARGE = np.array([[1.0, 2, 3, 4], [4, 5, 7, -1], [8, -1, 2, 0.5], [-9, 2, 0.4, 0.6]])


def weighted(rows):
    return sum((k + 1) * np.sum(np.array(r) ** 2) for k, r in enumerate(rows))


def determinant(M):
    a = M.tolist()
    n, d = len(a), 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        if p != k:
            a[k], a[p] = a[p], a[k]
            d = -d
        d *= a[k][k]
        for i in range(k + 1, n):
            m = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= m * a[k][j]
    return d


def determinant_by_new_rows(M):
    a = [M[i].copy() for i in range(len(M))]
    n, d = len(a), 1.0
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        if p != k:
            t = a[k]
            a[k] = a[p]
            a[p] = t
            d = -d
        d *= a[k][k]
        for i in range(k + 1, n):
            a[i] = a[i] - a[i][k] / a[k][k] * a[k]
    return d


def bubble(M):
    rows = [M[i] * 1.0 for i in range(len(M))]
    for _ in range(len(rows)):
        for j in range(len(rows) - 1):
            if rows[j][0] > rows[j + 1][0]:
                rows[j], rows[j + 1] = rows[j + 1], rows[j]
    return weighted(rows)


def insertion_while_growing(M):
    rows = []
    for i in range(len(M)):
        rows.append(M[i] * 1.0)
        j = len(rows) - 1
        while j > 0 and rows[j - 1][0] > rows[j][0]:
            rows[j - 1], rows[j] = rows[j], rows[j - 1]
            j -= 1
    return weighted(rows)


def rotated(M):
    rows = [M[i] * 1.0 for i in range(len(M))]
    first = rows[0]
    for k in range(len(rows) - 1):
        rows[k] = rows[k + 1]
    rows[-1] = first
    return weighted(rows)


def replaced(M):
    rows = [M[i] * 1.0 for i in range(len(M))]
    old = rows[0]
    rows[0] = old * 2
    old[0] = 7.0
    return np.sum(old) + 10 * weighted(rows)


def shared_then_replaced(M):
    p = 0
    for i in range(len(M)):
        if M[i, 0] > M[p, 0]:
            p = i
    rows = [M[i] * 1.0 for i in range(len(M))]
    rows[1] = rows[p]
    rows[p] = M[0] * 7
    rows[1][1] = 3.5
    rows[0] = rows[1]
    rows[2] = M[1] - 1
    rows[0][0] = 2.5
    return weighted(rows)


def replaced_on_a_path(M):
    rows = [M[i] * 1.0 for i in range(len(M))]
    old = rows[0]
    if M[0, 0] > 0:
        rows[1] = old
    else:
        rows[1] = old * 1.0
    old[0] = 9.0
    return weighted(rows)


def changed_in_place(M):
    rows = [M[i] * 1.0 for i in range(len(M))]
    first = rows[0]
    rows[0] += M[1]
    return np.sum(first**2) + 10 * weighted(rows)


def simplex(M):
    n = len(M)
    v = [M[i] * 1.0 for i in range(n)]
    f = [np.sum(v[i] ** 2) for i in range(n)]
    for _ in range(6):
        for _ in range(n):
            for j in range(n - 1):
                if f[j] > f[j + 1]:
                    f[j], f[j + 1] = f[j + 1], f[j]
                    v[j], v[j + 1] = v[j + 1], v[j]
        centre = np.zeros(n)
        for i in range(n - 1):
            centre = centre + v[i] / (n - 1)
        tried = 2 * centre - v[n - 1]
        if np.sum(tried**2) < f[n - 1]:
            v[n - 1] = tried
            f[n - 1] = np.sum(tried**2)
        else:
            for i in range(1, n):
                v[i] = v[0] + 0.5 * (v[i] - v[0])
                f[i] = np.sum(v[i] ** 2)
    return f[0]


def tuples(M):
    found = []
    for v in M[0]:
        found.append((v, v * v))
    found[0], found[-1] = found[-1], found[0]
    return sum((k + 1) * a * b for k, (a, b) in enumerate(found))


def history(M):
    state, seen = np.zeros(len(M)), []
    for i in range(len(M)):
        state += M[i]
        seen.append(state.copy())
    return weighted(seen)


def ring(M):
    n = len(M)
    kept, total = [np.zeros(2) for _ in range(n)], 0.0
    for k in range(2 * n):
        v = M[0, k % n] * np.array([1.0, 2.0]) * k
        kept[k % n] = v
        total += np.sum(kept[(k + 1) % n] ** 2)
    return total


def copies(M):
    rows = [M[i] * 1.0 for i in range(len(M))]
    same, others = rows[:], copy.deepcopy(rows)
    rows[0], rows[1] = rows[1], rows[0] * 2
    others[0][0] = 5.0
    return weighted(rows) + 10 * weighted(same) + 100 * weighted(others)


WORKING = [
    determinant, determinant_by_new_rows, bubble, insertion_while_growing, rotated, replaced,
    shared_then_replaced, replaced_on_a_path, changed_in_place, pytest.param(simplex, marks=pytest.mark.slow), tuples, history, ring,
    copies,
]  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("f", WORKING)
def test_as_python(f):
    s = symgrad(f)
    for a in (SMALL, LARGE):
        assert s(a) == pytest.approx(f(a), rel=1e-12)
    assert s.grad(SMALL) == pytest.approx(slopes_by(f, (SMALL,), 0), rel=1e-5, abs=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["high", "fast"])
def test_a_swap_is_the_same_for_every_index_of_the_call(accuracy):
    def f(M, p):
        a = [M[i] * 1.0 for i in range(len(M))]
        a[0], a[p] = a[p], a[0]
        return np.sum(a[0]) + 10 * np.sum(a[1])

    s = symgrad(f, accuracy=accuracy)
    for p in (0, 1, 2, -1):
        assert s(SMALL, p) == f(SMALL, p)


def state_is_appended(x):
    state, seen = np.zeros(2), []
    for v in x:
        state += v
        seen.append(state)
    return np.sum(np.array(seen))


def next_iteration_changes_it(x):
    state, seen = [1.0, 0.5], []
    for v in x:
        state[0] = state[0] + v
        state = [state[0], state[1] + 1]
        seen.append(state)
    return sum(p[0] for p in seen)


def view_is_appended(x):
    state, seen = np.zeros(3), []
    for v in x:
        state[1:] = state[:-1]
        state[0] = v
        seen.append(state[:2])
    return np.sum(np.array(seen))


def all_the_same(x):
    z = np.zeros(2)
    rows = [z for _ in range(len(x))]
    for i in range(len(x)):
        rows[i][0] += x[i]
    return np.sum(np.array(rows))


def in_two_lists(x):
    a, b = [], []
    for v in x:
        w = v * np.ones(3)
        a.append(w)
        b.append(w)
    a[0][0] = 2.0
    return sum(np.sum(w) for w in b)


def stored_then_changed(x):
    rows = [v * np.ones(len(x)) for v in x]
    w = x * 3
    rows[-1] = w
    w[0] = 5.0
    return sum(np.sum(r) for r in rows)


def same_on_some_paths(x):
    state, seen = np.zeros(2), []
    for v in x:
        if v > 0:
            state = state + v
        seen.append(state)
    seen[0][0] = 3.0
    return sum(np.sum(z) for z in seen)


CHANGED, ALIKE = "may have been changed through other names", "may be the same object"
MANY = np.ones(3000)
"""Too many elements for a function to be traced again with the sizes of the call."""


@pytest.mark.parametrize(
    ("f", "message", "line"),
    [
        (state_is_appended, CHANGED, "seen.append(state)"),
        (next_iteration_changes_it, CHANGED, "seen.append(state)"),
        (view_is_appended, CHANGED, "seen.append(state[:2])"),
        (all_the_same, ALIKE, "rows[i][0] += x[i]"),
        (in_two_lists, CHANGED, "return sum(np.sum(w) for w in b)"),
        (stored_then_changed, CHANGED, "return sum(np.sum(r) for r in rows)"),
        (same_on_some_paths, ALIKE, "seen[0][0] = 3.0"),
    ],
)
def test_what_a_list_would_share_is_refused_at_the_line(f, message, line):
    with pytest.raises(UnsupportedError) as caught:
        symgrad(f)(MANY)
    said = str(caught.value)
    assert message in said
    assert line in said


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "f",
    [
        state_is_appended, next_iteration_changes_it, view_is_appended, all_the_same, in_two_lists,
        stored_then_changed,
    ],
)  # fmt: skip
def test_it_is_shared_where_the_sizes_of_the_call_are_known(f):
    s = symgrad(f)
    for x in (np.array([1.0]), np.array([1.0, 2.0, -3.0]), np.array([0.5, 0.7])):
        for _ in range(2):
            assert s(x) == pytest.approx(f(x), rel=1e-15)
            np.testing.assert_allclose(s.grad(x), slopes_by(f, (x,), 0), rtol=1e-8, atol=1e-8)


def test_what_a_condition_shares_is_refused_for_known_sizes_too():
    with pytest.raises(UnsupportedError, match="after one of its sides was changed"):
        symgrad(same_on_some_paths)(np.array([1.0, 2.0, 3.0]))


def deep_copies(x):
    a = [x * 1] * 2
    b, c = copy.deepcopy(a), copy.copy(a)
    b[0][0] = 7.0
    c[0][1] = 8.0
    d = copy.deepcopy({"p": a, "q": (a, a[1])})
    d["p"][0][0] = 3.0 * x[1]
    return np.sum(b[1]) + 10 * np.sum(a[1]) + 100 * np.sum(d["q"][1])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("known", [False, True])
def test_a_deep_copy_holds_one_copy_of_one_object(known):
    def f(x):
        rows = [x[:k] for k in range(len(x))] if known else [x]  # refused for arrays of any size
        return deep_copies(x) + sum(np.sum(r) for r in rows)

    s = symgrad(f)
    for x in (np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.7])):
        assert s(x) == pytest.approx(f(x), rel=1e-15)
        np.testing.assert_allclose(s.grad(x), slopes_by(f, (x,), 0), rtol=1e-8)
