"""Finite differences: stencils, explicit and implicit steps."""

import numpy as np

from tests.numerics.cases import Programs, mat, vec

programs = Programs()


@programs((vec(3), 0.2, 2), (vec(8), 0.2, 5))
def heat_explicit(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return np.sum(u**2)


@programs((vec(3), 0.2, 1), (vec(9), 0.2, 4))
def heat_slices(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@programs((vec(2), 0.3), (vec(7), 0.3))
def heat_in_place(u, r):
    u = u.copy()
    for i in range(1, len(u) - 1):
        u[i] += r * (u[i - 1] - 2 * u[i] + u[i + 1])
    return np.sum(u * np.arange(len(u)))


@programs((vec(3), 0.4, 2), (vec(6), 0.4, 4))
def wave(u, c, steps):
    old, now = u.copy(), u.copy()
    for _ in range(steps):
        new = now.copy()
        for i in range(1, len(u) - 1):
            new[i] = 2 * now[i] - old[i] + c * c * (now[i + 1] - 2 * now[i] + now[i - 1])
        old, now = now, new
    return np.sum(now**2) + np.sum(old)


@programs((vec(3), 0.4, 1), (vec(7), 0.4, 3))
def periodic_advection(u, c, steps):
    n = len(u)
    for _ in range(steps):
        u = np.array([u[i] - c * (u[i] - u[(i - 1) % n]) for i in range(n)])
    return np.dot(u, u)


@programs((vec(3), 0.1), (vec(8), 0.1))
def gradient_norm(u, h):
    d = np.zeros(len(u))
    d[0] = (u[1] - u[0]) / h
    d[-1] = (u[-1] - u[-2]) / h
    for i in range(1, len(u) - 1):
        d[i] = (u[i + 1] - u[i - 1]) / (2 * h)
    return np.sqrt(np.sum(d**2))


@programs((mat(3, 3),), (mat(5, 6),))
def laplacian_2d(u):
    total = 0.0
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            total += (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4 * u[i, j]) ** 2
    return total


@programs((mat(3, 3), 0.1, 1), (mat(4, 6), 0.1, 3))
def heat_2d(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] += r * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u = v
    return np.sum(u**3)


@programs((vec(2), 0.3), (vec(6), 0.3))
def implicit_step(u, r):
    n = len(u)
    c, d = np.zeros(n), np.zeros(n)
    c[0], d[0] = -r / (1 + 2 * r), u[0] / (1 + 2 * r)
    for i in range(1, n):
        m = 1 + 2 * r + r * c[i - 1]
        c[i] = -r / m
        d[i] = (u[i] + r * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


@programs((vec(3), 0.3, 1), (vec(5), 0.3, 3))
def crank_nicolson(u, r, steps):
    n = len(u)
    a = np.eye(n) * (1 + r)
    b = np.eye(n) * (1 - r)
    for i in range(n - 1):
        a[i, i + 1] = a[i + 1, i] = -r / 2
        b[i, i + 1] = b[i + 1, i] = r / 2
    for _ in range(steps):
        u = np.linalg.solve(a, b @ u)
    return np.sum(u * u)


@programs((vec(3, -1.0, 1.0), 0.1, 1), (vec(7, -1.0, 1.0), 0.1, 3))
def burgers(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        f = 0.5 * u**2
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) - r * (f[i + 1] - f[i - 1])
    return np.sum(u * np.arange(1, len(u) + 1))


@programs((vec(3), 0.1, 1), (vec(6), 0.1, 4))
def neumann(u, r, steps):
    n = len(u)
    g = np.zeros(n + 2)
    g[1:-1] = u
    for _ in range(steps):
        g[0], g[-1] = g[1], g[-2]
        g[1:-1] = g[1:-1] + r * (g[:-2] - 2 * g[1:-1] + g[2:])
    return np.sum(g[1:-1] ** 2)


@programs((vec(3), vec(3, seed=1), 0.05, 1), (vec(6), vec(6, seed=1), 0.05, 3))
def reaction_diffusion(a, b, dt, steps):
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        la = np.roll(a, 1) + np.roll(a, -1) - 2 * a
        lb = np.roll(b, 1) + np.roll(b, -1) - 2 * b
        rate = a * b * b
        a += dt * (la - rate + 0.04 * (1 - a))
        b += dt * (0.5 * lb + rate - 0.1 * b)
    return np.sum(a) + 2 * np.sum(b)


@programs((vec(4),), (vec(9),))
def fourth_order(u):
    h = 1.0 / len(u)
    s = 0.0
    for i in range(2, len(u) - 2):
        s += ((-u[i + 2] + 8 * u[i + 1] - 8 * u[i - 1] + u[i - 2]) / (12 * h)) ** 2 * h
    return s + u[0]


@programs((vec(2), vec(3, 0.5, 1.5)), (vec(6), vec(7, 0.5, 1.5)))
def variable_coefficients(u, k):
    n = len(u)
    out = np.empty(n)
    for i in range(n):
        left = u[i - 1] if i > 0 else 0.0
        right = u[i + 1] if i < n - 1 else 1.0
        out[i] = k[i + 1] * (right - u[i]) - k[i] * (u[i] - left)
    return out


@programs(([0.3, 0.4], 0.1, 1), ([0.3, 0.4, 0.9, 0.7, 0.2], 0.1, 3))
def heat_of_lists(u, r, steps):
    for _ in range(steps):
        new = [u[0]]
        for i in range(1, len(u) - 1):
            new.append(u[i] + r * (u[i + 1] - 2 * u[i] + u[i - 1]))
        new.append(u[-1])
        u = new
    return sum(v * v for v in u)


@programs((vec(3), 0.2, 2), (vec(6), 0.2, 5))
def history(u, r, steps):
    rows = [u]
    for _ in range(steps):
        p = rows[-1]
        q = p.copy()
        q[1:-1] += r * (p[2:] - 2 * p[1:-1] + p[:-2])
        rows.append(q)
    return np.sum(np.array(rows)[:, 1] ** 2)


@programs((vec(3), 0.2, 2), (vec(6), 0.2, 5))
def snapshots_of_one_array(u, r, steps):
    state, seen = u.copy(), []
    for _ in range(steps):
        state[1:-1] += r * (state[2:] - 2 * state[1:-1] + state[:-2])
        seen.append(state)
    return sum(np.sum(s) for s in seen)


@programs((vec(3), 0.2, 2), (vec(6), 0.2, 5))
def ping_pong(u, r, steps):
    grids = [u.copy(), u.copy()]
    for k in range(steps):
        a, b = grids[k % 2], grids[(k + 1) % 2]
        for i in range(1, len(u) - 1):
            b[i] = a[i] + r * (a[i - 1] - 2 * a[i] + a[i + 1])
    return np.sum(grids[0] ** 2) + 3 * np.sum(grids[1])


@programs((0.3, 2), (0.3, 6))
def space_time_table(r, n):
    u = np.zeros((n + 1, n + 2))
    u[0] = np.sin(np.arange(n + 2) * r)
    for k in range(n):
        for i in range(1, n + 1):
            u[k + 1, i] = u[k, i] + r * (u[k, i + 1] - 2 * u[k, i] + u[k, i - 1])
    return u[n, n // 2 + 1]


@programs((mat(3, 3), 0.2), (mat(5, 4), 0.2))
def masked_obstacle(u, r):
    v = u.copy()
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            if (i + j) % 3 == 0:
                v[i, j] = 0.0
                continue
            v[i, j] = v[i, j] + r * (u[i - 1, j] + u[i + 1, j] - 2 * v[i, j])
    return np.sum(v**2)


@programs((vec(4), 0.3), (vec(8), 0.3))
def limited_diffusion(u, k):
    flux = np.zeros(len(u) + 1)
    for i in range(1, len(u)):
        d = u[i] - u[i - 1]
        flux[i] = d / (1 + (d / k) ** 2)
    return np.sum((u + 0.1 * (flux[1:] - flux[:-1])) ** 2)


@programs((vec(3), vec(3, seed=2), 0.1, 2), (vec(5), vec(5, seed=2), 0.1, 4))
def staggered(p, v, dt, steps):
    p, v = p.copy(), v.copy()
    for _ in range(steps):
        for i in range(len(v) - 1):
            v[i] -= dt * (p[i + 1] - p[i])
        for i in range(1, len(p)):
            p[i] -= dt * (v[i] - v[i - 1])
    return np.dot(p, v)


@programs((vec(3), 0.1, 0.25), (vec(6), 0.1, 1.05))
def until_time(u, dt, end):
    u, t = u.copy(), 0.0
    while t < end:
        step = min(dt, end - t)
        u[1:-1] += step * (u[2:] - 2 * u[1:-1] + u[:-2])
        t += step
    return np.sum(u**2)


@programs((vec(3), 0.2), (vec(7), 0.2))
def second_difference_matrix(u, h):
    n = len(u)
    a = [[0.0] * n for _ in range(n)]
    for i in range(n):
        a[i][i] = 2.0
        if i > 0:
            a[i][i - 1] = -1.0
        if i < n - 1:
            a[i][i + 1] = -1.0
    return sum(u[i] * a[i][j] * u[j] for i in range(n) for j in range(n)) / h**2
