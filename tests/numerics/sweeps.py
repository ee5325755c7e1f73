"""Sweeps: upwind, alternating directions, tables of dynamic programming, scans."""

import math

import numpy as np

from tests.numerics.cases import Programs, mat, vec

programs = Programs()
INF = float("inf")


@programs((vec(3), vec(3, -1.0, 1.0, 1), 2), (vec(8), vec(8, -1.0, 1.0, 1), 4))
def upwind(u, v, steps):
    u = u.copy()
    for _ in range(steps):
        old = u.copy()
        for i in range(1, len(u) - 1):
            if v[i] > 0:
                u[i] = old[i] - 0.3 * v[i] * (old[i] - old[i - 1])
            else:
                u[i] = old[i] - 0.3 * v[i] * (old[i + 1] - old[i])
    return np.sum(u**2)


@programs((vec(3, -1.0, 1.0), 0.4), (vec(7, -1.0, 1.0), 0.4))
def godunov(u, r):
    n = len(u)
    flux = np.zeros(n + 1)
    for i in range(1, n):
        a, b = u[i - 1], u[i]
        if a > b:
            flux[i] = 0.5 * a * a if a + b > 0 else 0.5 * b * b
        elif a > 0:
            flux[i] = 0.5 * a * a
        elif b < 0:
            flux[i] = 0.5 * b * b
    return np.sum((u - r * np.diff(flux)) * np.arange(1, n + 1))


@programs((vec(4), 0.5), (vec(9), 0.5))
def minmod_limiter(u, c):
    out = u.copy()
    for i in range(2, len(u) - 1):
        a, b = u[i] - u[i - 1], u[i + 1] - u[i]
        slope = 0.0
        if a * b > 0:
            slope = a if abs(a) < abs(b) else b
        out[i] = u[i] - c * (a + 0.5 * (1 - c) * slope)
    return out


@programs((mat(2, 2), 0.3), (mat(4, 3), 0.3))
def adi(u, r):
    def line(d):
        c, x = np.zeros(len(d)), np.zeros(len(d))
        for i in range(len(d)):
            m = 1 + 2 * r + (r * c[i - 1] if i > 0 else 0.0)
            c[i] = -r / m
            x[i] = (d[i] + (r * x[i - 1] if i > 0 else 0.0)) / m
        for i in range(len(d) - 2, -1, -1):
            x[i] -= c[i] * x[i + 1]
        return x

    v = u.copy()
    for i in range(v.shape[0]):
        v[i] = line(v[i])
    for j in range(v.shape[1]):
        v[:, j] = line(v[:, j])
    return np.sum(v * v)


@programs((mat(2, 2, seed=1),), (mat(4, 5, seed=1),))
def cheapest_path(cost):
    n, m = cost.shape
    best = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                best[i, j] = cost[0, 0]
            elif i == 0:
                best[i, j] = best[i, j - 1] + cost[i, j]
            elif j == 0:
                best[i, j] = best[i - 1, j] + cost[i, j]
            else:
                best[i, j] = cost[i, j] + min(best[i - 1, j], best[i, j - 1])
    return best[-1, -1]


@programs((vec(2), vec(3, seed=1)), (vec(5), vec(4, seed=1)))
def dynamic_time_warping(a, b):
    n, m = len(a), len(b)
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = (a[i - 1] - b[j - 1]) ** 2
            d[i, j] = c + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[n, m]


@programs(([0.4, 1.1], [0.7, 0.2]), ([0.4, 1.1, 0.6, 1.9], [0.7, 0.2, 1.3]))
def warping_of_nested_lists(a, b):
    d = [[INF] * (len(b) + 1) for _ in range(len(a) + 1)]
    d[0][0] = 0.0
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            d[i + 1][j + 1] = (x - y) ** 2 + min(d[i][j + 1], d[i + 1][j], d[i][j])
    return d[-1][-1]


@programs((vec(2), vec(2, seed=1), 0.7), (vec(4), vec(5, seed=1), 0.7))
def edit_distance(a, b, gap):
    before = [gap * j for j in range(len(b) + 1)]
    for i in range(len(a)):
        now = [gap * (i + 1)]
        for j in range(len(b)):
            now.append(min(before[j] + abs(a[i] - b[j]), before[j + 1] + gap, now[j] + gap))
        before = now
    return before[-1]


@programs((vec(2), 3), (vec(4), 7))
def knapsack(value, room):
    best = np.zeros(room + 1)
    for i in range(len(value)):
        size = i + 1
        for w in range(room, size - 1, -1):
            best[w] = max(best[w], best[w - size] + value[i])
    return best[room]


@programs((vec(2), mat(2, 2), mat(3, 2)), (vec(3), mat(3, 3), mat(6, 3)))
def viterbi(start, step, seen):
    score = start + seen[0]
    for t in range(1, len(seen)):
        new = np.zeros(len(start))
        for j in range(len(start)):
            new[j] = np.max(score + step[:, j]) + seen[t, j]
        score = new
    return np.max(score)


@programs((vec(2), mat(2, 2), mat(2, 2)), (vec(3), mat(3, 3), mat(5, 3)))
def forward_algorithm(start, step, seen):
    alpha = start * seen[0]
    logs = 0.0
    for t in range(1, len(seen)):
        s = np.sum(alpha)
        logs += np.log(s)
        alpha = (alpha / s) @ step * seen[t]
    return logs + np.log(np.sum(alpha))


@programs((mat(2, 2, seed=2),), (mat(4, 4, seed=2),))
def floyd_warshall(w):
    d = w.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:  # noqa: PLR1730
                    d[i, j] = d[i, k] + d[k, j]
    return d


@programs((mat(2, 2, seed=4),), (mat(4, 4, seed=4),))
def bellman_ford(w):
    n = len(w)
    dist = [INF] * n
    dist[0] = 0.0
    for _ in range(n - 1):
        changed = False
        for i in range(n):
            for j in range(n):
                if i != j and dist[i] + w[i, j] < dist[j]:
                    dist[j] = dist[i] + w[i, j]
                    changed = True
        if not changed:
            break
    return sum(dist)


@programs((vec(2, -1.0, 1.0),), (vec(8, -1.0, 1.0),))
def best_run(x):
    best = now = x[0]
    for v in x[1:]:
        now = v if now < 0 else now + v
        if now > best:  # noqa: PLR1730
            best = now
    return best


@programs((vec(2),), (vec(7),))
def heaviest_increasing(x):
    best = [0.0] * len(x)
    for i in range(len(x)):
        best[i] = x[i]
        for j in range(i):
            if x[j] < x[i] and best[j] + x[i] > best[i]:
                best[i] = best[j] + x[i]
    return max(best)


@programs((vec(3),), (vec(5),))
def matrix_chain(p):
    n = len(p) - 1
    m = [[0.0] * n for _ in range(n)]
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i][j] = INF
            for k in range(i, j):
                m[i][j] = min(m[i][j], m[i][k] + m[k + 1][j] + p[i] * p[k + 1] * p[j + 1])
    return m[0][n - 1]


@programs((mat(2, 2),), (mat(4, 3),))
def summed_area(a):
    s = np.zeros((a.shape[0] + 1, a.shape[1] + 1))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[i + 1, j + 1] = a[i, j] ** 2 + s[i, j + 1] + s[i + 1, j] - s[i, j]
    return s[-1, -1] + s[1, -1]


@programs((vec(2),), (vec(6),))
def forward_and_backward(x):
    left, right = x.copy(), x.copy()
    for i in range(1, len(x)):
        left[i] = max(left[i - 1] * 0.9, x[i])
    for i in range(len(x) - 2, -1, -1):
        right[i] = max(right[i + 1] * 0.9, x[i])
    return np.sum(np.minimum(left, right))


@programs((mat(2, 2), 0.5), (mat(4, 4), 0.5))
def fast_sweeping(f, h):
    u = np.full(f.shape, 10.0)
    u[0, 0] = 0.0
    n, m = f.shape
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                continue
            a = u[i - 1, j] if i > 0 else 10.0
            b = u[i, j - 1] if j > 0 else 10.0
            if abs(a - b) >= f[i, j] * h:
                u[i, j] = min(a, b) + f[i, j] * h
            else:
                u[i, j] = 0.5 * (a + b + math.sqrt(2 * (f[i, j] * h) ** 2 - (a - b) ** 2))
    return u[-1, -1]


@programs((vec(2), 0.5), (vec(6), 0.5))
def discrete_ordinates(source, sigma):
    phi = np.zeros(len(source))
    for mu in (0.3, -0.3, 0.8, -0.8):
        psi = 0.0
        cells = range(len(source)) if mu > 0 else range(len(source) - 1, -1, -1)
        for i in cells:
            psi = (source[i] + abs(mu) * psi) / (sigma + abs(mu))
            phi[i] += 0.5 * psi
    return phi


@programs((vec(2), 0.9), (vec(5), 0.9))
def value_iteration(reward, gamma):
    n = len(reward)
    v = np.zeros(n)
    for _ in range(6):
        new = np.zeros(n)
        for s in range(n):
            stay = v[s]
            left = v[s - 1] if s > 0 else 0.0
            right = v[s + 1] if s < n - 1 else 0.0
            new[s] = reward[s] + gamma * max(stay, 0.8 * left + 0.2 * right)
        v = new
    return np.sum(v)


@programs((2, 0.3), (6, 0.3))
def pascal(n, p):
    row = [1.0]
    for _ in range(n):
        row = [0.0, *row, 0.0]
        row = [(1 - p) * row[i] + p * row[i + 1] for i in range(len(row) - 1)]
    return sum(k * k * v for k, v in enumerate(row))


@programs((vec(2), 3), (vec(4), 9))
def coin_weights(w, total):
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for i in range(len(w)):
        for t in range(i + 1, total + 1):
            ways[t] += w[i] * ways[t - i - 1]
    return ways[total]


@programs((mat(2, 2),), (mat(4, 5),))
def seam(e):
    m = e.copy()
    for i in range(1, len(m)):
        for j in range(m.shape[1]):
            lo, hi = max(j - 1, 0), min(j + 2, m.shape[1])
            m[i, j] += np.min(m[i - 1, lo:hi])
    return m[-1].min()


@programs((vec(2), 0.4), (vec(6), 0.4))
def alternating_smoothing(u, w):
    u = u.copy()
    for sweep in range(4):
        order = range(1, len(u)) if sweep % 2 == 0 else range(len(u) - 2, -1, -1)
        for i in order:
            j = i - 1 if sweep % 2 == 0 else i + 1
            u[i] = (1 - w) * u[i] + w * u[j]
    return np.sum(u**2)
