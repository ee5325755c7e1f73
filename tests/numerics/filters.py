"""Filters: IIR, Kalman of small size, median, averages, ring buffers, moving windows."""

from collections import deque

import numpy as np

from tests.numerics.cases import Programs, mat, vec

programs = Programs()


@programs((vec(2), 0.3), (vec(9), 0.3))
def exponential_average(x, a):
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = a * x[i] + (1 - a) * y[i - 1]
    return y


@programs((vec(3), vec(3, seed=1), np.array([1.0, -0.5, 0.2])), (vec(9), vec(3, seed=1), np.array([1.0, -0.5, 0.2])))  # fmt: skip
def direct_form(x, b, a):
    y = np.zeros(len(x))
    for n in range(len(x)):
        for k in range(len(b)):
            if n - k >= 0:
                y[n] += b[k] * x[n - k]
        for k in range(1, len(a)):
            if n - k >= 0:
                y[n] -= a[k] * y[n - k]
        y[n] /= a[0]
    return np.sum(y**2)


@programs((vec(2), 0.3, 0.2, -0.4), (vec(8), 0.3, 0.2, -0.4))
def biquad_transposed(x, b, c, a):
    s1 = s2 = total = 0.0
    for v in x:
        y = b * v + s1
        s1 = c * v - a * y + s2
        s2 = b * v - 0.3 * y
        total += y * y
    return total


@programs((vec(2), 0.1, 0.5), (vec(8), 0.1, 0.5))
def scalar_kalman(z, q, r):
    x, p = z[0], 1.0
    for k in range(1, len(z)):
        p += q
        gain = p / (p + r)
        x += gain * (z[k] - x)
        p *= 1 - gain
    return x + p


@programs((vec(2), 0.3, 0.4), (vec(6), 0.3, 0.4))
def kalman_of_two_states(z, dt, r):
    x, p = np.zeros(2), np.eye(2)
    f = np.array([[1.0, dt], [0.0, 1.0]])
    h = np.array([1.0, 0.0])
    for v in z:
        x, p = f @ x, f @ p @ f.T + 0.01 * np.eye(2)
        s = h @ p @ h + r
        k = p @ h / s
        x = x + k * (v - h @ x)
        p = p - np.outer(k, h @ p)
    return x @ x + p[0, 0]


@programs((mat(2, 2), 0.3), (mat(5, 2), 0.3))
def kalman_log_likelihood(z, r):
    x, p, ll = np.zeros(2), np.eye(2), 0.0
    for k in range(len(z)):
        p = p + 0.1 * np.eye(2)
        s = p + r * np.eye(2)
        e = z[k] - x
        gain = p @ np.linalg.inv(s)
        ll -= 0.5 * (np.log(np.linalg.det(s)) + e @ np.linalg.solve(s, e))
        x = x + gain @ e
        p = (np.eye(2) - gain) @ p
    return ll


@programs((vec(3),), (vec(8),))
def median_of_three(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        a, b, c = x[i - 1], x[i], x[i + 1]
        y[i] = max(min(a, b), min(max(a, b), c))
    return y


@programs((vec(3), 1), (vec(8), 2))
def median_of_windows(x, h):
    total = 0.0
    for i in range(h, len(x) - h):
        w = np.sort(x[i - h : i + h + 1])
        total += (i + 1) * w[h]
    return total + x[0]


@programs((vec(2), 2), (vec(9), 3))
def ring_buffer(x, n):
    ring, total = np.zeros(n), 0.0
    for k in range(len(x)):
        ring[k % n] = x[k]
        total += np.sum(ring) ** 2 / n
    return total


@programs((vec(2), 2), (vec(9), 3))
def ring_of_a_list(x, n):
    ring, pos, out = [0.0] * n, 0, []
    for v in x:
        old = ring[pos]
        ring[pos] = v
        pos = (pos + 1) % n
        out.append(v - 0.5 * old)
    return sum(o * o for o in out)


@programs((mat(2, 2), 2), (mat(7, 2), 3))
def ring_of_vectors(x, n):
    ring = [np.zeros(x.shape[1]) for _ in range(n)]
    total = 0.0
    for k in range(len(x)):
        ring[k % n] = x[k]
        total += np.sum(ring[(k + 1) % n] * x[k])
    return total + np.sum(ring[0] ** 2)


@programs((vec(2), 2), (vec(9), 3))
def running_sum(x, n):
    s, out = 0.0, np.zeros(len(x))
    for i in range(len(x)):
        s += x[i]
        if i >= n:
            s -= x[i - n]
        out[i] = s / min(i + 1, n)
    return out


@programs((vec(3), 2), (vec(9), 3))
def deque_average(x, n):
    window, total = deque(maxlen=n), 0.0
    for v in x:
        window.append(v)
        total += (sum(window) / len(window)) ** 2
    return total


@programs((vec(3), 2), (vec(9), 3))
def list_as_window(x, n):
    window, total = [], 0.0
    for v in x:
        window.append(v)
        if len(window) > n:
            window.pop(0)
        total += max(window) - min(window)
    return total


@programs((vec(2), 2), (vec(9), 4))
def delay_line(x, n):
    line, y = np.zeros(n), np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] + 0.6 * line[-1]
        line[1:] = line[:-1].copy()
        line[0] = y[i]
    return np.sum(y**2)


@programs((vec(2),), (vec(7),))
def taps_shifted_by_hand(x):
    taps, w, total = [0.0, 0.0, 0.0], [0.5, 0.3, 0.2], 0.0
    for v in x:
        for k in range(2, 0, -1):
            taps[k] = taps[k - 1]
        taps[0] = v
        total += sum(a * b for a, b in zip(taps, w, strict=True)) ** 2
    return total


@programs((vec(2), vec(2, seed=1), 0.1), (vec(8), vec(3, seed=1), 0.1))
def least_mean_squares(x, w, mu):
    w = w.copy()
    n, err = len(w), 0.0
    for k in range(n, len(x)):
        e = x[k] - np.dot(w, x[k - n : k])
        w += mu * e * x[k - n : k]
        err += e * e
    return err + np.sum(w)


@programs((vec(2), 0.5, 0.3), (vec(8), 0.5, 0.3))
def holt(x, a, b):
    level, trend, sse = x[0], 0.0, 0.0
    for k in range(1, len(x)):
        sse += (x[k] - level - trend) ** 2
        old = level
        level = a * x[k] + (1 - a) * (level + trend)
        trend = b * (level - old) + (1 - b) * trend
    return sse + level


@programs((vec(2), 0.6, 0.2), (vec(8), 0.6, 0.2))
def alpha_beta(z, a, b):
    x, v, dt, out = 0.0, 0.0, 0.5, []
    for m in z:
        x += dt * v
        r = m - x
        x += a * r
        v += b / dt * r
        out.append((x, v))
    return sum(p * p + q for p, q in out)


@programs((vec(2, -1, 1), 0.5), (vec(10, -1, 1), 0.5))
def slew_limiter(x, rate):
    y = x.copy()
    for i in range(1, len(y)):
        d = x[i] - y[i - 1]
        if d > rate:
            y[i] = y[i - 1] + rate
        elif d < -rate:
            y[i] = y[i - 1] - rate
    return np.sum(y**2)


@programs((vec(3),), (vec(9),))
def outlier_rejection(x):
    mean, var, kept = x[0], 0.3, 0
    for v in x[1:]:
        if (v - mean) ** 2 < 2.5 * var:
            var = 0.9 * var + 0.1 * (v - mean) ** 2
            mean += 0.3 * (v - mean)
            kept += 1
    return mean + var + kept


@programs((vec(3),), (vec(9),))
def zero_phase(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] += 0.5 * (y[i - 1] - y[i])
    for i in range(len(y) - 2, -1, -1):
        y[i] += 0.5 * (y[i + 1] - y[i])
    return y


@programs((vec(2), 0.8), (vec(8), 0.8))
def welford(x, decay):
    mean = m2 = weight = 0.0
    for v in x:
        weight = decay * weight + 1
        d = v - mean
        mean += d / weight
        m2 = decay * m2 + d * (v - mean)
    return m2 / weight + mean


@programs((vec(3), 1), (vec(9), 2))
def savitzky_golay(x, h):
    t = np.arange(-h, h + 1) * 1.0
    basis = np.stack([np.ones(len(t)), t], axis=1)
    total = 0.0
    for i in range(h, len(x) - h):
        c = np.linalg.solve(basis.T @ basis, basis.T @ x[i - h : i + h + 1])
        total += c[0] ** 2 + c[1]
    return total


@programs((vec(2), 3), (vec(9), 5))
def comb_with_memory(x, n):
    memory = [0.0 for _ in range(n)]
    for k, v in enumerate(x):
        memory[(k * 2) % n] = 0.7 * memory[(k + 1) % n] + v
    return sum((j + 1) * m for j, m in enumerate(memory))
