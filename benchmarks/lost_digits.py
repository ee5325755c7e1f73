"""What calls of programs with arrays and loops cost whose results lose digits: gradients at such arguments.

    python benchmarks/lost_digits.py [--level strict] [NAME ...]

`fast` is microseconds a call with accuracy="fast", which loses the digits; `ratio` what the level costs over it, after
three calls; `first` are processor seconds of the first gradient of both, without a disk cache. How far off "fast" is, is counted
in units of the last place of the largest element of its array.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings

import numpy as np

rng = np.random.default_rng(2)


def correlation_defect(x, y):
    a, b = x - np.mean(x), y - np.mean(y)
    return 1 - np.sum(a * b) / np.sqrt(np.sum(a * a) * np.sum(b * b))


def alignment(D, g):
    n, m = D.shape
    R = np.full((n + 1, m + 1), np.inf)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = -np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]]) / g
            t = np.max(r)
            R[i, j] = D[i - 1, j - 1] - g * (t + np.log(np.sum(np.exp(r - t))))
    return R[n, m]


def mixture(w, mu, s, x):
    t = 0.0
    for i in range(len(x)):
        t = t + np.log(np.sum(w * np.exp(-0.5 * ((x[i] - mu) / s) ** 2) / s))
    return t


def moments(x):
    return np.log(np.mean(x * x) - np.mean(x) ** 2)


def logistic(x, r):
    for _ in range(60):
        x = r * x * (1 - x)
    return x


def process(x, y, length):
    d = x[:, None] - x[None, :]
    K = np.exp(-0.5 * (d / length) ** 2) + 1e-10 * np.eye(len(x))
    L = np.linalg.cholesky(K)
    return 0.5 * np.sum(y * np.linalg.solve(K, y)) + np.sum(np.log(np.diag(L)))


def log_sums(x, y):
    return np.log(np.sum(np.exp(x))) - np.log(np.sum(np.exp(y)))


def chebyshev(x):
    a, b = 1.0, x
    for _ in range(40):
        a, b = b, 2 * x * b - a
    return (b - a) ** 2


def balance(x):
    return np.sum(np.cumsum(x) ** 2)


def normal_equations(A, b):
    return np.sum(np.linalg.solve(A.T @ A, A.T @ b))


def quadratic(A, x):
    return (x @ A @ x) ** 2


def kalman(z, q):
    m, p, t = 0.0, 1e12, 0.0
    for i in range(len(z)):
        p = p + q
        k = p / (p + 1.0)
        t = t + (z[i] - m) ** 2 / (p + 1.0) + np.log(p + 1.0)
        m, p = m + k * (z[i] - m), (1 - k) * p
    return t


def richardson(x):
    T = np.zeros((8, 8))
    for i in range(8):
        h = 2.0 ** (-i - 4)
        T[i, 0] = (np.exp(x + h) - np.exp(x - h)) / (2 * h)
        for k in range(1, i + 1):
            T[i, k] = T[i, k - 1] + (T[i, k - 1] - T[i - 1, k - 1]) / (4.0**k - 1)
    return (T[7, 7] - np.exp(x)) * 1e12


def fraction(a):
    t = 0.0
    for i in range(len(a)):
        t = 1.0 / (a[len(a) - 1 - i] - t)
    return t


def determinant(A):
    return np.log(np.abs(np.linalg.det(A)))


def distances(x):
    t = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                t = t + 1 / (x[i] - x[j]) ** 3
    return t


def bessel(x):
    a, b = 0.7651976865579666, 0.44005058574493355
    for n in range(1, 20):
        a, b = b, 2 * n / x * b - a
    return b


def variance_chain(x):
    s, q = 0.0, 0.0
    for i in range(len(x)):
        s = s + x[i]
        q = q + x[i] ** 2
    return 1 / (q / len(x) - (s / len(x)) ** 2)


def hilbert(n):
    return 1 / (np.arange(n)[:, None] + np.arange(n)[None, :] + 1.0)


x = rng.random(40)
near = 1e6 + rng.random(200)
signs = np.array([1e15, 1.0, -1e15, 1.0] * 25)
skew = rng.random((20, 20))
skew = skew - skew.T + 1e-12 * np.eye(20)
CASES = (
    (correlation_defect, (x, x + 1e-8 * rng.random(40))),
    (alignment, (rng.random((8, 8)), 0.1)),
    (mixture, (np.array([0.3, 0.7]), np.array([0.0, 1.0]), np.array([0.1, 0.01]), np.linspace(-3, 3, 30))),
    (moments, (near,)),
    (logistic, (0.3, 3.9)),
    (process, (np.linspace(0, 1, 20), np.sin(7 * np.linspace(0, 1, 20)), 0.6)),
    (log_sums, (near / 1e5, near / 1e5 + 1e-13)),
    (chebyshev, (0.999999999,)),
    (balance, (signs,)),
    (normal_equations, (np.vander(np.linspace(1, 2, 12), 7), rng.random(12))),
    (quadratic, (skew, np.ones(20))),
    (kalman, (1e6 + rng.random(50), 1e-9)),
    (richardson, (0.5,)),
    (fraction, (2 + 1e-9 * rng.random(60),)),
    (determinant, (hilbert(9),)),
    (distances, (np.sort(rng.random(15)),)),
    (bessel, (1.0,)),
    (variance_chain, (near,)),
)  # fmt: skip


def flat(r):
    return [np.asarray(v, float) for v in (r if isinstance(r, tuple) else (r,))]


def apart(a, b):
    """The largest difference in units of the last place of the largest element of an array."""
    worst = 0.0
    for p, q in zip(flat(a), flat(b), strict=True):
        size = np.abs(q).max()
        if size > 0:
            worst = max(
                worst, float(np.nan_to_num(np.abs(p - q) / size, nan=np.inf).max()) / 2.0**-52
            )
    return worst


def main() -> None:
    from symdiff import symgrad

    parser = argparse.ArgumentParser()
    parser.add_argument("--level", default="high")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ratios, firsts = [], []
    for f, args in CASES:
        if options.names and f.__name__ not in options.names:
            continue
        found = {}
        for level in ("fast", options.level):
            g = symgrad(f, accuracy=level, cache=False).grad
            start = time.process_time()
            g(*args)
            first = time.process_time() - start
            for _ in range(3):
                r = g(*args)
            best = np.inf
            for _ in range(5):
                start = time.perf_counter()
                r = g(*args)
                best = min(best, time.perf_counter() - start)
            found[level] = best, first, r
        (fast, first_fast, a), (slow, first, b) = found["fast"], found[options.level]
        ratios.append(slow / fast)
        firsts.append(first - 1.5 * first_fast)
        nans = sum(int(np.isnan(v).sum()) for v in flat(b))
        print(
            f"{f.__name__:20} fast {fast * 1e6:9.1f} us  ratio {slow / fast:9.1f}  first {first_fast:6.2f} {first:6.2f} s"
            f"  nan {nans}  fast is off by {apart(a, b):.1e} ulp",
            flush=True,
        )
    print(f"ratio: median {statistics.median(ratios):.1f}, worst {max(ratios):.1f};"
          f" first - 1.5 fast: median {statistics.median(firsts):.2f}, worst {max(firsts):.2f} s")  # fmt: skip


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYMDIFF_CACHE_DIR"] = folder
        main()
