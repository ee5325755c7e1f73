"""Images, Fourier transforms, filters, interpolation, splines, quadrature."""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np
from scipy import signal

from tests.programs.case import Case


def deblur_objective(image, kernel, blurred, lam):
    """Least squares with a smoothed total variation."""
    pad = np.pad(image, 1, mode="edge")
    model = np.zeros_like(blurred)
    for di in range(3):
        for dj in range(3):
            model += kernel[di, dj] * pad[di : di + image.shape[0], dj : dj + image.shape[1]]
    gx = np.diff(image, axis=0)[:, :-1]
    gy = np.diff(image, axis=1)[:-1, :]
    tv = np.sum(np.sqrt(gx**2 + gy**2 + 1e-3))
    return 0.5 * np.sum((model - blurred) ** 2) + lam * tv


def fourier_lowpass(x, cutoff, target):
    """Error of a signal after a Butterworth-like filter in the frequency domain."""
    n = len(x)
    X = np.fft.rfft(x)
    freqs = np.fft.rfftfreq(n, d=0.1)
    H = 1 / np.sqrt(1 + (freqs / cutoff) ** 8)
    y = np.fft.irfft(X * H, n)
    return np.mean((y - target) ** 2)


def spectral_power(x, window_power):
    n = len(x)
    w = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** window_power
    spectrum = np.abs(np.fft.fft(x * w)) ** 2
    p = spectrum[1 : n // 2]
    f = np.arange(1, n // 2)
    return (p * f).sum() / p.sum()


class CubicSpline:
    """A natural cubic spline through given points."""

    def __init__(self, xs, ys):
        self.xs, self.ys = xs, ys
        n = len(xs)
        A = np.zeros((n, n))
        rhs = np.zeros(n)
        A[0, 0] = A[-1, -1] = 1
        for i in range(1, n - 1):
            h0, h1 = xs[i] - xs[i - 1], xs[i + 1] - xs[i]
            A[i, i - 1], A[i, i], A[i, i + 1] = h0, 2 * (h0 + h1), h1
            rhs[i] = 6 * ((ys[i + 1] - ys[i]) / h1 - (ys[i] - ys[i - 1]) / h0)
        self.m = np.linalg.solve(A, rhs)

    def __call__(self, x):
        i = min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)
        h = self.xs[i + 1] - self.xs[i]
        a, b = (self.xs[i + 1] - x) / h, (x - self.xs[i]) / h
        return (
            a * self.ys[i]
            + b * self.ys[i + 1]
            + ((a**3 - a) * self.m[i] + (b**3 - b) * self.m[i + 1]) * h**2 / 6
        )


def spline_at_points(ys, queries):
    spline = CubicSpline([0.0, 1.0, 2.5, 3.0, 4.2], ys)
    return sum(spline(q) ** 2 for q in queries)


def table_lookup(temperature, table_values):
    """Steam-table style linear interpolation, extrapolated beyond the ends."""
    table = list(zip([250.0, 300.0, 350.0, 400.0], table_values))
    if temperature <= table[0][0]:
        (x0, y0), (x1, y1) = table[0], table[1]
    elif temperature >= table[-1][0]:
        (x0, y0), (x1, y1) = table[-2], table[-1]
    else:
        for (x0, y0), (x1, y1) in zip(table, table[1:]):
            if x0 <= temperature < x1:
                break
    return y0 + (y1 - y0) * (temperature - x0) / (x1 - x0)


def bilinear_warp(image, angle, shift):
    """Rotated image by bilinear sampling, correlated with itself."""
    H, W = image.shape
    total = 0.0
    for r in range(1, H - 1):
        for c in range(1, W - 1):
            y = math.cos(angle) * (r - H / 2) - math.sin(angle) * (c - W / 2) + H / 2 + shift[0]
            x = math.sin(angle) * (r - H / 2) + math.cos(angle) * (c - W / 2) + W / 2 + shift[1]
            i, j = int(math.floor(y)), int(math.floor(x))
            if not (0 <= i < H - 1 and 0 <= j < W - 1):
                continue
            fy, fx = y - i, x - j
            v = (1 - fy) * ((1 - fx) * image[i, j] + fx * image[i, j + 1])
            v += fy * ((1 - fx) * image[i + 1, j] + fx * image[i + 1, j + 1])
            total += v * image[r, c]
    return total


def bezier_length(points, n=20):
    """Length of a Bezier curve by de Casteljau's algorithm."""

    def casteljau(t):
        pts = list(points)
        while len(pts) > 1:
            pts = [(1 - t) * p + t * q for p, q in zip(pts[:-1], pts[1:])]
        return pts[0]

    length = 0.0
    last = casteljau(0.0)
    for t in np.linspace(0, 1, n + 1)[1:]:
        cur = casteljau(t)
        length += np.linalg.norm(cur - last)
        last = cur
    return length


def iir_filter(x, b, a):
    y = signal.lfilter(b, a, x)
    return np.sum(y**2) / len(y)


def karplus_strong(noise, decay, samples=40):
    """A plucked string in a ring buffer."""
    buf = list(noise)
    out = []
    for i in range(samples):
        out.append(buf[0])
        new = decay * 0.5 * (buf[0] + buf[1])
        buf = buf[1:] + [new]
    return sum(v * math.sin(0.3 * k) for k, v in enumerate(out))


def simpson_adaptive(a, b, k):
    """Adaptive quadrature with a stack of intervals of fixed depth."""

    def f(x):
        return math.exp(-x * x) * math.cos(k * x)

    def simpson(lo, hi):
        return (hi - lo) / 6 * (f(lo) + 4 * f((lo + hi) / 2) + f(hi))

    stack, total = [(a, b, 0)], 0.0
    while stack:
        lo, hi, depth = stack.pop()
        if depth == 3:
            total += simpson(lo, hi)
        else:
            mid = (lo + hi) / 2
            stack.append((lo, mid, depth + 1))
            stack.append((mid, hi, depth + 1))
    return total


def ssim(a, b):
    """Structural similarity over non-overlapping blocks."""
    c1, c2 = 0.01**2, 0.03**2
    scores = []
    for i in range(0, a.shape[0], 3):
        for j in range(0, a.shape[1], 3):
            p, q = a[i : i + 3, j : j + 3], b[i : i + 3, j : j + 3]
            mp, mq = p.mean(), q.mean()
            vp, vq = p.var(), q.var()
            cov = ((p - mp) * (q - mq)).mean()
            scores.append(
                (2 * mp * mq + c1) * (2 * cov + c2) / ((mp**2 + mq**2 + c1) * (vp + vq + c2))
            )
    return np.mean(scores)


def gradient_vector_flow(u):
    """Energy of a field by np.gradient and np.roll."""
    gy, gx = np.gradient(u)
    lap = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
    return np.sum(gx**2 + gy**2) + 0.3 * np.sum(lap**2)


def dtw_soft(a, b, gamma):
    """Soft dynamic time warping of two series."""
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (a[i - 1] - b[j - 1]) ** 2
            z = -np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]]) / gamma
            zmax = z.max()
            D[i, j] = cost - gamma * (zmax + np.log(np.sum(np.exp(z - zmax))))
    return D[n, m]


_rng = np.random.default_rng(7)
_im = _rng.random((6, 6))

PROGRAMS = [
    Case(deblur_objective, (_im, np.ones((3, 3)) / 9, _rng.random((6, 6)), 0.1)),
    Case(fourier_lowpass, (_rng.normal(size=16), 1.5, _rng.normal(size=16))),
    Case(spectral_power, (_rng.normal(size=20), 1.7)),
    Case(spline_at_points, (np.array([0.1, 0.9, -0.4, 0.3, 1.0]), [0.3, 1.7, 2.6, 3.9])),
    Case(table_lookup, (327.0, [1.0, 1.4, 2.1, 3.5])),
    Case(table_lookup, (420.0, [1.0, 1.4, 2.1, 3.5])),
    Case(bilinear_warp, (_im, 0.2, [0.3, -0.4])),
    Case(bezier_length, ([np.array([0.0, 0.0]), np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.array([4.0, 0.5])],), ("points",)),
    Case(iir_filter, (_rng.normal(size=20), [0.2, 0.3, 0.1], [1.0, -0.5, 0.2])),
    Case(karplus_strong, (_rng.normal(size=7), 0.98), ("noise", "decay")),
    Case(simpson_adaptive, (0.1, 2.0, 1.5)),
    Case(ssim, (_im, _im + 0.1 * _rng.normal(size=(6, 6)))),
    Case(gradient_vector_flow, (_im,)),
    Case(dtw_soft, (_rng.normal(size=5), _rng.normal(size=6), 0.5)),
]  # fmt: skip
