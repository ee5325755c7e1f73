"""Sorting: bubble, insertion, heap, selection, merge; of numbers and of rows."""

import numpy as np

from tests.numerics.cases import Programs, mat, vec

programs = Programs()


def weighted(x):
    total = 0.0
    for i in range(len(x)):
        total += (i + 1) * x[i] ** 2
    return total


def weighted_rows(rows):
    return sum((k + 1) * np.sum(np.asarray(r) ** 2) for k, r in enumerate(rows))


@programs((vec(2),), (vec(7),))
def bubble(x):
    a = x.copy()
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return weighted(a)


@programs((vec(2),), (vec(6),))
def bubble_until_quiet(x):
    a, swapped = list(x), True
    while swapped:
        swapped = False
        for j in range(len(a) - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
    return weighted(a)


@programs((vec(2),), (vec(7),))
def insertion(x):
    a = x.copy()
    for i in range(1, len(a)):
        v, j = a[i], i - 1
        while j >= 0 and a[j] > v:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = v
    return a


@programs((vec(2),), (vec(6),))
def selection(x):
    a = x.copy()
    for i in range(len(a)):
        m = i
        for j in range(i + 1, len(a)):
            if a[j] < a[m]:
                m = j
        t = a[i]
        a[i] = a[m]
        a[m] = t
    return weighted(a)


@programs((vec(2),), (vec(6),))
def selection_by_argmin(x):
    a = x.copy()
    for i in range(len(a)):
        m = i + np.argmin(a[i:])
        a[i], a[m] = a[m], a[i]
    return weighted(a)


@programs((vec(2),), (vec(8),))
def heap_sort(x):
    a = x.copy()
    n = len(a)

    def down(i, end):
        while 2 * i + 1 < end:
            c = 2 * i + 1
            if c + 1 < end and a[c + 1] > a[c]:
                c += 1
            if a[c] <= a[i]:
                break
            a[i], a[c] = a[c], a[i]
            i = c

    for i in range(n // 2 - 1, -1, -1):
        down(i, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        down(0, end)
    return weighted(a)


@programs((vec(3),), (vec(7),))
def merge_bottom_up(x):
    a, n, width = x.copy(), len(x), 1
    while width < n:
        b = a.copy()
        for lo in range(0, n, 2 * width):
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, mid
            for k in range(lo, hi):
                if i < mid and (j >= hi or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        a, width = b, 2 * width
    return weighted(a)


@programs((vec(2),), (vec(7),))
def shell(x):
    a, gap = x.copy(), len(x) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            v, j = a[i], i
            while j >= gap and a[j - gap] > v:
                a[j] = a[j - gap]
                j -= gap
            a[j] = v
        gap //= 2
    return weighted(a)


@programs((vec(2),), (vec(6),))
def cocktail(x):
    a, lo, hi = x.copy(), 0, len(x) - 1
    while lo < hi:
        for i in range(lo, hi):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
        hi -= 1
        for i in range(hi, lo, -1):
            if a[i - 1] > a[i]:
                a[i - 1], a[i] = a[i], a[i - 1]
        lo += 1
    return a


@programs((vec(2),), (vec(7),))
def odd_even(x):
    a = x.copy()
    for k in range(len(a)):
        for i in range(k % 2, len(a) - 1, 2):
            lo, hi = min(a[i], a[i + 1]), max(a[i], a[i + 1])
            a[i], a[i + 1] = lo, hi
    return weighted(a)


@programs((mat(2, 2),), (mat(5, 2),))
def bubble_of_rows(m):
    rows = [m[i].copy() for i in range(len(m))]
    for i in range(len(rows)):
        for j in range(len(rows) - 1 - i):
            if rows[j][0] > rows[j + 1][0]:
                rows[j], rows[j + 1] = rows[j + 1], rows[j]
    return weighted_rows(rows)


@programs((mat(2, 2, seed=1),), (mat(5, 2, seed=1),))
def insertion_of_rows(m):
    rows = m.tolist()
    for i in range(1, len(rows)):
        row, j = rows[i], i
        while j > 0 and rows[j - 1][0] > row[0]:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row
    return weighted_rows(rows)


@programs((mat(2, 3, seed=2),), (mat(5, 3, seed=2),))
def selection_of_rows(m):
    a = m.copy()
    for i in range(len(a)):
        k = i
        for j in range(i + 1, len(a)):
            if np.sum(a[j]) < np.sum(a[k]):
                k = j
        a[[i, k]] = a[[k, i]]
    return weighted_rows(a)


@programs((mat(2, 2, seed=3),), (mat(5, 2, seed=3),))
def rows_changed_while_sorted(m):
    rows = [list(r) for r in m]
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            if rows[j][1] < rows[i][1]:
                rows[i], rows[j] = rows[j], rows[i]
                rows[i][0] *= 1.1
    return weighted_rows(rows)


@programs((vec(2), vec(2, seed=1)), (vec(6), vec(6, seed=1)))
def keys_and_values(k, v):
    k, v = k.copy(), v.copy()
    for i in range(1, len(k)):
        j = i
        while j > 0 and k[j - 1] > k[j]:
            k[j - 1], k[j] = k[j], k[j - 1]
            v[j - 1], v[j] = v[j], v[j - 1]
            j -= 1
    return np.sum(v * np.arange(1, len(v) + 1)) + k[0]


@programs((vec(2), vec(2, seed=1)), (vec(5), vec(5, seed=1)))
def pairs(k, v):
    p = [(k[i], v[i]) for i in range(len(k))]
    for _ in range(len(p)):
        for j in range(len(p) - 1):
            if p[j][0] > p[j + 1][0]:
                p[j], p[j + 1] = p[j + 1], p[j]
    return sum((i + 1) * a * b for i, (a, b) in enumerate(p))


@programs((vec(2),), (vec(7),))
def order_by_indices(x):
    order = list(range(len(x)))
    for i in range(len(order)):
        for j in range(i + 1, len(order)):
            if x[order[j]] < x[order[i]]:
                order[i], order[j] = order[j], order[i]
    return sum((k + 1) * x[i] ** 2 for k, i in enumerate(order))


@programs((vec(2),), (vec(6),))
def ranks(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        rank = 0
        for j in range(len(x)):
            if x[j] < x[i]:
                rank += 1
        out[rank] = x[i] * (rank + 1)
    return out


@programs((vec(3),), (vec(7),))
def quickselect_median(x):
    a, lo, hi, k = x.copy(), 0, len(x) - 1, len(x) // 2
    while lo < hi:
        p, store = a[hi], lo
        for i in range(lo, hi):
            if a[i] < p:
                a[i], a[store] = a[store], a[i]
                store += 1
        a[store], a[hi] = a[hi], a[store]
        if store == k:
            break
        if store < k:
            lo = store + 1
        else:
            hi = store - 1
    return a[k] ** 2


@programs((vec(2), 1), (vec(8), 3))
def largest_k(x, k):
    top = np.zeros(k)
    for v in x:
        if v > top[0]:
            top[0] = v
            j = 0
            while j + 1 < k and top[j] > top[j + 1]:
                top[j], top[j + 1] = top[j + 1], top[j]
                j += 1
    return weighted(top)


@programs((vec(2),), (vec(6),))
def insert_into_list(x):
    out = []
    for v in x:
        k = 0
        while k < len(out) and out[k] < v:
            k += 1
        out.insert(k, v)
    return weighted(out)


@programs(([0.9, 0.4],), ([0.9, 0.4, 1.7, 0.1, 1.2],))
def merge_recursive(x):
    def merge(a, b):
        out, i, j = [], 0, 0
        while i < len(a) and j < len(b):
            if a[i] < b[j]:
                out.append(a[i])
                i += 1
            else:
                out.append(b[j])
                j += 1
        return out + a[i:] + b[j:]

    def sort(v):
        return v if len(v) < 2 else merge(sort(v[: len(v) // 2]), sort(v[len(v) // 2 :]))

    return weighted(sort(x))


@programs((vec(2),), (vec(6),))
def library_sort(x):
    a = np.sort(x)
    order = np.argsort(x)
    return np.sum(a * np.arange(1, len(a) + 1)) + x[order[0]] ** 2


@programs((vec(2), 4), (vec(7), 4))
def bucket(x, n):
    sums, counts = np.zeros(n), np.zeros(n, dtype=int)
    for v in x:
        k = min(int(v / 2.0 * n), n - 1)
        sums[k] += v
        counts[k] += 1
    return np.sum(sums**2 * (1 + counts))


@programs((mat(2, 2, seed=6), 0.5), (mat(6, 2, seed=6), 0.5))
def pareto_front(m, w):
    front = []
    for i in range(len(m)):
        beaten = False
        for j in range(len(m)):
            if m[j, 0] < m[i, 0] and m[j, 1] < m[i, 1]:
                beaten = True
                break
        if not beaten:
            front.append(m[i, 0] + w * m[i, 1])
    return sum(front)
