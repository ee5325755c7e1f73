"""What elements cost that are special points: ties, guarded points and curves of a gradient, all different.

    python benchmarks/special_points.py [--count N]

Microseconds of an element of the gradient with the default and with "fast", seconds of the first call (processor time),
and microseconds of an element at ordinary points. Derivatives at such points are those of the definition, in compiled
balls (`pipeline.slopes_beside`); an array of equal points costs one of them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings

import numpy as np

rng = np.random.default_rng(0)


def divided_difference(x, y):
    return np.where(x != y, (np.exp(x) - np.exp(y)) / np.where(x != y, x - y, 1.0), np.exp(x))


def logarithmic_mean(x, y):
    return np.where(x == y, x, (x - y) / (np.log(x) - np.log(y)))


def guarded_norm(x, y, k):
    r2 = x * x + y * y
    r = np.sqrt(np.where(r2 > 0, r2, 1.0))
    return np.where(r2 > 0, np.sin(k * r) / r, k)


def meeting_kinks(x, y):
    return np.maximum(x * x, y * y) * np.abs(x - y)


def norm_with_factor(x, y, z):
    return np.sqrt(x * x + y * y) * np.exp(-z)


def clipped(x, a):
    return np.clip(x, -a, a) * np.where(x > a, x, a)


def screened(r, d):
    return np.where(r == d, 0.5, (1 - np.exp(-(r - d))) / np.where(r == d, 1.0, r - d) - 0.5)


def programs(count):
    x, zero = rng.random(count) + 0.5, np.zeros(count)
    other = rng.random(count) + 2.0
    return {
        divided_difference: ((x, x), (x, other)),
        logarithmic_mean: ((x, x), (x, other)),
        guarded_norm: ((zero, zero, x), (x, other, x)),
        meeting_kinks: ((x, x), (x, other)),
        norm_with_factor: ((zero, zero, x), (x, other, x)),
        clipped: ((x, x), (x, other)),
        screened: ((x, x), (x, other)),
    }  # fmt: skip


def best(g, args, rounds=3):
    found = []
    for _ in range(rounds):
        start = time.process_time()
        g(*args)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    count = parser.parse_args().count
    os.environ["SYMDIFF_CACHE_DIR"] = tempfile.mkdtemp()
    warnings.simplefilter("ignore")
    from symdiff import symgrad

    print("| function | first, s | default, us | fast, us | ordinary, us |\n|---|---|---|---|---|")
    costs = []
    for f, (special, ordinary) in programs(count).items():
        high, fast = symgrad(f).grad, symgrad(f, accuracy="fast").grad
        start = time.process_time()
        high(*special)
        first = time.process_time() - start
        fast(*special)
        times = [best(g, args) / count * 1e6 for g, args in ((high, special), (fast, special), (high, ordinary))]  # fmt: skip
        costs.append(times[0])
        print(f"| {f.__name__} | {first:.2f} | {times[0]:.2f} | {times[1]:.2f} | {times[2]:.3f} |", flush=True)  # fmt: skip
    print(f"| mean | | {statistics.mean(costs):.2f} | | |")


if __name__ == "__main__":
    main()
