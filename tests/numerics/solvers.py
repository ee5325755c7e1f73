"""Solvers in place: Gauss-Seidel, Jacobi, LU with pivots, Thomas, Cholesky, QR, Newton."""

import numpy as np

from tests.numerics.cases import Programs, dominant, mat, vec

programs = Programs()


@programs((dominant(2), vec(2), 2), (dominant(5), vec(5), 4))
def gauss_seidel(a, b, sweeps):
    x = np.zeros(len(b))
    for _ in range(sweeps):
        for i in range(len(b)):
            s = b[i]
            for j in range(len(b)):
                if j != i:
                    s -= a[i, j] * x[j]
            x[i] = s / a[i, i]
    return np.sum(x**2)


@programs((dominant(2), vec(2), 2), (dominant(4), vec(4), 5))
def jacobi(a, b, sweeps):
    x = np.zeros_like(b)
    for _ in range(sweeps):
        new = np.empty_like(b)
        for i in range(len(b)):
            new[i] = (b[i] - a[i] @ x + a[i, i] * x[i]) / a[i, i]
        x = new
    return x


@programs((dominant(2), vec(2), 1.2, 2), (dominant(5), vec(5), 1.2, 3))
def sor(a, b, w, sweeps):
    x = b * 0
    for _ in range(sweeps):
        for i in range(len(b)):
            r = b[i] - np.dot(a[i, :i], x[:i]) - np.dot(a[i, i + 1 :], x[i + 1 :])
            x[i] = (1 - w) * x[i] + w * r / a[i, i]
    return np.sum(x)


@programs((mat(2, 2, seed=3),), (mat(4, 4, seed=3),))
def determinant_nested(m):
    n = len(m)
    a = [[m[i, j] for j in range(n)] for i in range(n)]
    d = 1.0
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        if p != k:
            a[k], a[p] = a[p], a[k]
            d = -d
        d *= a[k][k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
    return d


@programs((mat(2, 2, seed=5),), (mat(4, 4, seed=5),))
def determinant_of_rows(m):
    a = [list(row) for row in m]
    d = 1.0
    for k in range(len(a)):
        p = k
        for i in range(k + 1, len(a)):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        a[k], a[p] = a[p], a[k]
        if p != k:
            d = -d
        d *= a[k][k]
        for row in a[k + 1 :]:
            f = row[k] / a[k][k]
            for j in range(k, len(row)):
                row[j] -= f * a[k][j]
    return d


@programs((mat(2, 2, seed=7), vec(2)), (mat(4, 4, seed=7), vec(4)))
def solve_with_pivots(m, b):
    a, x = m.tolist(), b.tolist()
    n = len(x)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[i][k]) > abs(a[p][k]):
                p = i
        a[k], a[p] = a[p], a[k]
        x[k], x[p] = x[p], x[k]
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            a[i] = [u - f * v for u, v in zip(a[i], a[k], strict=True)]
            x[i] -= f * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - sum(a[k][j] * x[j] for j in range(k + 1, n))) / a[k][k]
    return sum(v * v for v in x)


@programs((mat(2, 2, seed=9), vec(2)), (mat(5, 5, seed=9), vec(5)))
def augmented(m, b):
    n = len(b)
    a = np.zeros((n, n + 1))
    a[:, :n] = m
    a[:, n] = b
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        a[[k, p]] = a[[p, k]]
        a[k] = a[k] / a[k, k]
        for i in range(n):
            if i != k:
                a[i] -= a[i, k] * a[k]
    return np.sum(a[:, n])


@programs((mat(2, 2, seed=11),), (mat(4, 4, seed=11),))
def swapped_by_temporary(m):
    a, d = m.copy(), 1.0
    for k in range(len(a)):
        p = k
        for i in range(k, len(a)):
            if abs(a[i, k]) > abs(a[p, k]):
                p = i
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
            d = -d
        for i in range(k + 1, len(a)):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
        d *= a[k, k]
    return d


@programs((mat(2, 2, seed=13), vec(2)), (mat(4, 4, seed=13), vec(4)))
def permutation(m, b):
    n = len(b)
    a, perm = m.copy(), list(range(n))
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(a[perm[i], k]) > abs(a[perm[p], k]):
                p = i
        perm[k], perm[p] = perm[p], perm[k]
        for i in range(k + 1, n):
            f = a[perm[i], k] / a[perm[k], k]
            a[perm[i], k:] -= f * a[perm[k], k:]
            a[perm[i], k] = f
    y = np.zeros(n)
    for i in range(n):
        y[i] = b[perm[i]] - sum(a[perm[i], j] * y[j] for j in range(i))
    return np.sum(y * y)


@programs((vec(1), vec(2, 3, 4), vec(1, seed=1), vec(2)), (vec(5), vec(6, 3, 4), vec(5, seed=1), vec(6)))  # fmt: skip
def thomas(lower, diagonal, upper, rhs):
    b, d = diagonal.copy(), rhs.copy()
    for i in range(1, len(b)):
        w = lower[i - 1] / b[i - 1]
        b[i] -= w * upper[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(len(b) - 2, -1, -1):
        d[i] = (d[i] - upper[i] * d[i + 1]) / b[i]
    return d


@programs(([3.0, 4.0], [1.0, 2.0]), ([3.0, 4.0, 3.5, 5.0], [1.0, 2.0, -1.0, 0.5]))
def thomas_of_lists(diagonal, rhs):
    c, d = [], []
    for i in range(len(rhs)):
        m = diagonal[i] - (c[-1] if i else 0.0)
        c.append(1.0 / m)
        d.append((rhs[i] + (d[-1] if i else 0.0)) / m)
    x = [d[-1]]
    for i in reversed(range(len(rhs) - 1)):
        x.insert(0, d[i] + c[i] * x[0])
    return sum(k * v for k, v in enumerate(x, 1))


@programs((dominant(2),), (dominant(4),))
def cholesky(m):
    n = len(m)
    low = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = (m[i, j] + m[j, i]) / 2 - np.sum(low[i, :j] * low[j, :j])
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return np.sum(low)


@programs((dominant(2),), (dominant(4),))
def doolittle(m):
    lu, n = m.copy(), len(m)
    for k in range(n):
        for i in range(k + 1, n):
            lu[i, k] /= lu[k, k]
            for j in range(k + 1, n):
                lu[i, j] -= lu[i, k] * lu[k, j]
    return lu


@programs((mat(3, 2),), (mat(5, 3),))
def gram_schmidt(a):
    q = []
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for u in q:
            v -= np.dot(u, v) * u
        q.append(v / np.sqrt(np.dot(v, v)))
    return sum((k + 1) * u[0] for k, u in enumerate(q))


@programs((mat(2, 2),), (mat(4, 3),))
def householder(a):
    r = a.copy()
    for k in range(min(r.shape[0] - 1, r.shape[1])):
        v = r[k:, k].copy()
        v[0] += np.sign(v[0]) * np.sqrt(np.sum(v**2))
        v /= np.sqrt(np.sum(v**2))
        r[k:, k:] -= 2 * np.outer(v, v @ r[k:, k:])
    return np.sum(np.abs(np.diag(r)))


@programs((mat(2, 2),), (mat(4, 3),))
def givens(a):
    r = a.copy()
    for j in range(r.shape[1]):
        for i in range(r.shape[0] - 1, j, -1):
            h = np.hypot(r[i - 1, j], r[i, j])
            c, s = r[i - 1, j] / h, r[i, j] / h
            top, low = r[i - 1].copy(), r[i].copy()
            r[i - 1] = c * top + s * low
            r[i] = c * low - s * top
    return r[0, 0] + np.sum(r[:, -1] ** 2)


@programs((dominant(2), vec(2), 1), (dominant(4), vec(4), 3))
def conjugate_gradients(m, b, steps):
    a = m @ m.T
    x = np.zeros(len(b))
    r = b.copy()
    p = r.copy()
    for _ in range(steps):
        ap = a @ p
        alpha = (r @ r) / (p @ ap)
        x += alpha * p
        new = r - alpha * ap
        p = new + (new @ new) / (r @ r) * p
        r = new
    return np.sum(x)


@programs((dominant(2), 2), (dominant(4), 4))
def power_iteration(m, steps):
    v = np.ones(len(m))
    for _ in range(steps):
        v = m @ v
        v = v / np.max(np.abs(v))
    return v @ m @ v / (v @ v)


@programs((dominant(2), vec(2)), (dominant(4), vec(4)))
def until_converged(a, b):
    x = np.zeros(len(b))
    for _ in range(100):
        old = x.copy()
        for i in range(len(b)):
            x[i] += (b[i] - a[i] @ x) / a[i, i]
        if np.max(np.abs(x - old)) < 1e-13:
            break
    return x


@programs((vec(1), 3), (vec(4), 5))
def newton_roots(a, steps):
    x = a.copy()
    for _ in range(steps):
        for i in range(len(x)):
            x[i] = x[i] - (x[i] ** 3 - a[i]) / (3 * x[i] ** 2)
    return np.sum(x)


@programs((mat(2, 2),), (mat(4, 4),))
def inverse_nested(m):
    n = len(m)
    a = [[m[i][j] + (3.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
    b = [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for k in range(n):
        p = a[k][k]
        a[k] = [v / p for v in a[k]]
        b[k] = [v / p for v in b[k]]
        for i in range(n):
            if i == k:
                continue
            f = a[i][k]
            a[i] = [u - f * v for u, v in zip(a[i], a[k], strict=True)]
            b[i] = [u - f * v for u, v in zip(b[i], b[k], strict=True)]
    return sum(b[i][i] for i in range(n))


@programs((mat(3, 3), 1), (mat(5, 4), 3))
def red_black(u, sweeps):
    u = u.copy()
    for _ in range(sweeps):
        for colour in (0, 1):
            for i in range(1, u.shape[0] - 1):
                for j in range(1, u.shape[1] - 1):
                    if (i + j) % 2 == colour:
                        u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) / 4
    return np.sum(u**2)


@programs((dominant(2), vec(2)), (dominant(4), vec(4)))
def forward_substitution(m, b):
    x = []
    for i in range(len(b)):
        s = b[i]
        for j, v in enumerate(x):
            s -= m[i, j] * v
        x.append(s / m[i, i])
    return np.array(x)


@programs((dominant(2), 2), (dominant(3), 3))
def qr_iteration(m, steps):
    a = (m + m.T) / 2
    for _ in range(steps):
        q = np.zeros_like(a)
        for j in range(len(a)):
            v = a[:, j].copy()
            for i in range(j):
                v -= (q[:, i] @ a[:, j]) * q[:, i]
            q[:, j] = v / np.sqrt(v @ v)
        a = q.T @ a @ q
    return a[0, 0] + 2 * a[-1, -1]


@programs((mat(2, 2, -1.0, 1.0, 2), 1), (mat(3, 3, -1.0, 1.0, 2), 2))
def jacobi_eigenvalues(m, sweeps):
    a = m + m.T
    for _ in range(sweeps):
        for p in range(len(a) - 1):
            for q in range(p + 1, len(a)):
                t = 0.5 * np.arctan2(2 * a[p, q], a[q, q] - a[p, p])
                c, s = np.cos(t), np.sin(t)
                x, y = a[p].copy(), a[q].copy()
                a[p], a[q] = c * x - s * y, s * x + c * y
                x, y = a[:, p].copy(), a[:, q].copy()
                a[:, p], a[:, q] = c * x - s * y, s * x + c * y
    return np.sum(np.diag(a) ** 2)
