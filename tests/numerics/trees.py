"""Trees: binomial options, segment trees in arrays, union-find with numbers, priority queues."""

import heapq
import math

import numpy as np

from tests.numerics.cases import Programs, mat, vec

programs = Programs()


@programs((100.0, 95.0, 0.2, 2), (100.0, 95.0, 0.2, 7))
def european_option(s, k, sigma, n):
    dt = 1.0 / n
    u = math.exp(sigma * math.sqrt(dt))
    p = (math.exp(0.05 * dt) - 1 / u) / (u - 1 / u)
    v = [max(s * u ** (2 * j - n) - k, 0.0) for j in range(n + 1)]
    for i in range(n, 0, -1):
        for j in range(i):
            v[j] = math.exp(-0.05 * dt) * (p * v[j + 1] + (1 - p) * v[j])
    return v[0]


@programs((100.0, 103.0, 0.3, 2), (100.0, 103.0, 0.3, 6))
def american_put(s, k, sigma, n):
    dt = 1.0 / n
    u = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(0.05 * dt) - 1 / u) / (u - 1 / u)
    v = np.zeros(n + 1)
    for j in range(n + 1):
        v[j] = max(k - s * u ** (2 * j - n), 0.0)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1):
            hold = np.exp(-0.05 * dt) * (p * v[j + 1] + (1 - p) * v[j])
            v[j] = max(hold, k - s * u ** (2 * j - i))
    return v[0]


@programs((100.0, 0.25, 2), (100.0, 0.25, 6))
def option_by_slices(s, sigma, n):
    u = np.exp(sigma / np.sqrt(n))
    v = np.maximum(s * u ** (2.0 * np.arange(n + 1) - n) - 97.0, 0.0)
    for _ in range(n):
        v = 0.5 * (v[1:] + v[:-1])
    return v[0]


@programs((100.0, 0.25, 2), (100.0, 0.25, 5))
def barrier_tree(s, sigma, n):
    u = math.exp(sigma / math.sqrt(n))
    v = [[0.0] * (i + 1) for i in range(n + 1)]
    for i in range(n, -1, -1):
        for j in range(i + 1):
            price = s * u ** (2 * j - i)
            if price < 83.0:
                continue
            v[i][j] = max(price - 96.0, 0.0) if i == n else 0.5 * (v[i + 1][j] + v[i + 1][j + 1])
    return v[0][0]


@programs((100.0, 0.03, 2), (100.0, 0.03, 5))
def trinomial(s, h, n):
    v = [max(s + 100 * h * j - 101.0, 0.0) for j in range(-n, n + 1)]
    while len(v) > 1:
        v = [0.3 * v[j] + 0.4 * v[j + 1] + 0.3 * v[j + 2] for j in range(len(v) - 2)]
    return v[0]


@programs((vec(2),), (vec(8),))
def segment_tree_sum(x):
    n = len(x)
    tree = np.zeros(2 * n)
    tree[n:] = x
    for i in range(n - 1, 0, -1):
        tree[i] = tree[2 * i] + tree[2 * i + 1]
    lo, hi, total = n + n // 4, 2 * n - 1, 0.0
    while lo < hi:
        if lo % 2 == 1:
            total += tree[lo]
            lo += 1
        if hi % 2 == 1:
            hi -= 1
            total += tree[hi]
        lo //= 2
        hi //= 2
    return total**2 + tree[1]


@programs((vec(2), 0.7), (vec(6), 0.7))
def segment_tree_max(x, v):
    n = len(x)
    tree = [0.0] * n + list(x)
    for i in range(n - 1, 0, -1):
        tree[i] = max(tree[2 * i], tree[2 * i + 1])
    i = n + n // 2
    tree[i] = tree[i] + v
    while i > 1:
        i //= 2
        tree[i] = max(tree[2 * i], tree[2 * i + 1])
    return tree[1] ** 2


@programs((vec(2),), (vec(7),))
def fenwick(x):
    n = len(x)
    tree = np.zeros(n + 1)
    for k in range(n):
        i = k + 1
        while i <= n:
            tree[i] += x[k] ** 2
            i += i & -i
    total = 0.0
    for k in range(1, n + 1):
        i = k
        while i > 0:
            total += tree[i]
            i -= i & -i
    return total


@programs((vec(2), 0.7), (vec(8), 0.7))
def union_find(x, gap):
    parent = list(range(len(x)))
    total = list(x)

    def find(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for i in range(len(x)):
        for j in range(i):
            if abs(x[i] - x[j]) < gap:
                a, b = find(i), find(j)
                if a != b:
                    parent[a] = b
                    total[b] += total[a]
    return sum(total[i] ** 2 for i in range(len(x)) if parent[i] == i)


@programs((vec(2), np.array([0]), np.array([1])), (vec(6), np.array([0, 2, 4, 1]), np.array([1, 3, 5, 5])))  # fmt: skip
def union_of_edges(weight, left, right):
    parent, w = np.arange(len(weight)), weight.copy()
    for k in range(len(left)):
        a, b = left[k], right[k]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
            w[b] += w[a]
            w[a] = 0.0
    return np.sum(w**2)


@programs((vec(2),), (vec(6),))
def huffman(x):
    heap, cost = list(x), 0.0
    while len(heap) > 1:
        i = heap.index(min(heap))
        a = heap.pop(i)
        j = heap.index(min(heap))
        b = heap.pop(j)
        heap.append(a + b)
        cost += a + b
    return cost


@programs((vec(2),), (vec(6),))
def library_heap(x):
    heap = list(x)
    heapq.heapify(heap)
    total, k = 0.0, 1
    while heap:
        total += k * heapq.heappop(heap)
        k += 1
    return total


@programs((vec(2),), (vec(7),))
def priority_queue(x):
    heap, size = np.zeros(len(x) + 1), 0
    for v in x:
        size += 1  # noqa: SIM113
        i = size
        while i > 1 and heap[i // 2] > v:
            heap[i] = heap[i // 2]
            i //= 2
        heap[i] = v
    return np.sum(heap * np.arange(len(heap))) + heap[1] ** 2


@programs((mat(2, 2, seed=1),), (mat(5, 5, seed=1),))
def dijkstra(w):
    n = len(w)
    dist, done = np.full(n, np.inf), [False] * n
    dist[0] = 0.0
    for _ in range(n):
        k = -1
        for i in range(n):
            if not done[i] and (k < 0 or dist[i] < dist[k]):
                k = i
        done[k] = True
        for j in range(n):
            dist[j] = min(dist[j], dist[k] + w[k, j])
    return np.sum(dist)


@programs((mat(2, 2, seed=2),), (mat(5, 5, seed=2),))
def prim(w):
    n, total = len(w), 0.0
    near, inside = [w[0, j] for j in range(n)], [j == 0 for j in range(n)]
    for _ in range(n - 1):
        best, k = 1e9, 0
        for j in range(n):
            if not inside[j] and near[j] < best:
                best, k = near[j], j
        inside[k] = True
        total += best
        for j in range(n):
            near[j] = min(near[j], w[k, j])
    return total


@programs((vec(2), 1.1), (vec(7), 1.1))
def search_tree(keys, query):
    n = len(keys)
    left, right = [-1] * n, [-1] * n
    for k in range(1, n):
        i = 0
        while True:
            side = left if keys[k] < keys[i] else right
            if side[i] < 0:
                side[i] = k
                break
            i = side[i]
    i, path = 0, 0.0
    while i >= 0:
        path += abs(query - keys[i])
        i = left[i] if query < keys[i] else right[i]
    return path


@programs((vec(3),), (vec(7),))
def implicit_tree_depths(x):
    total = 0.0
    for i in range(len(x)):
        k, scale = i, 1.0
        while k > 0:
            k = (k - 1) // 2
            scale *= 0.5 * x[k]
        total += scale * x[i]
    return total


@programs((vec(2), 1.1), (vec(6), 1.1))
def recursive_fold(x, w):
    def fold(lo, hi):
        if hi - lo == 1:
            return x[lo]
        mid = (lo + hi) // 2
        return w * fold(lo, mid) + fold(mid, hi) ** 2

    return fold(0, len(x))


@programs((vec(2),), (vec(7),))
def pairwise_reduction(x):
    a = x * 1.0
    while len(a) > 1:
        half = len(a) // 2
        b = a[:half] * a[half : 2 * half]
        a = np.append(b, a[2 * half :])
    return a[0]


@programs((vec(2), 0.9), (vec(7), 0.9))
def decision_tree(x, threshold):
    feature, total = [0.4, 0.8, 1.2], 0.0
    for v in x:
        node = 0
        while node < 3:
            node = 2 * node + (1 if v > feature[node] * threshold else 2)
        total += v * node
    return total


@programs((mat(2, 2), mat(2, 1)), (mat(4, 2), mat(4, 1)))
def nearest_neighbour_chain(points, weights):
    used, now, total = [False] * len(points), 0, 0.0
    for _ in range(len(points) - 1):
        used[now] = True
        best, k = 1e9, now
        for j in range(len(points)):
            d = np.sum((points[j] - points[now]) ** 2)
            if not used[j] and d < best:
                best, k = d, j
        total += weights[k, 0] * np.sqrt(best)
        now = k
    return total


@programs((vec(2), np.array([-1, 0])), (vec(6), np.array([-1, 0, 0, 1, 1, 2])))
def subtree_sums(x, parent):
    s = x.copy()
    for i in range(len(x) - 1, 0, -1):
        s[parent[i]] += s[i] * 0.8
    return s


@programs((vec(2), np.array([-1, 0])), (vec(6), np.array([-1, 0, 0, 1, 1, 2])))
def longest_branch(length, parent):
    deep = np.zeros(len(length))
    for i in range(len(length)):
        deep[i] = length[i]
        if parent[i] >= 0:
            deep[i] += deep[parent[i]]
    return np.max(deep) + np.sum(deep)


@programs((mat(2, 2, seed=5),), (mat(4, 4, seed=5),))
def single_linkage(d):
    n, total = len(d), 0.0
    label = list(range(n))
    for _ in range(n - 1):
        best, a, b = 1e9, 0, 0
        for i in range(n):
            for j in range(n):
                if label[i] != label[j] and d[i, j] < best:
                    best, a, b = d[i, j], label[i], label[j]
        label = [b if v == a else v for v in label]
        total += best
    return total


@programs((vec(3), 1), (vec(8), 4))
def stack_machine(x, n):
    stack = [x[0]]
    for k in range(1, n + 1):
        stack.append(x[k])
        if k % 2 == 0:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b + 0.5)
    return sum(stack)
