"""What elements cost whose digits are lost: gradients of functions of numbers at 512 hard elements.

    python benchmarks/hard_elements.py [--level strict] [NAME ...]

`fast` is microseconds an element with accuracy="fast", which loses the digits; `default` the same with the level;
`ratio` is their quotient, `nan` the number of results that are nan, `first` processor seconds of the first call with an
empty disk cache. Times are processor times, the least of some calls, alternating.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings

import numpy as np
from scipy import special

rng = np.random.default_rng(1)
COUNT, ROUNDS = 512, 5


def spread(low=-8.0, high=8.0):
    return rng.choice([-1.0, 1.0], COUNT) * 10.0 ** rng.uniform(low, high, COUNT)


def small(low=-16.0, high=0.0):
    return 10.0 ** rng.uniform(low, high, COUNT)


def shares(a, b, c):
    return np.exp(a) / (np.exp(a) + np.exp(b) + np.exp(c))


def gap(x):
    return 1 / np.tanh(x) - 1 / x + np.log(np.exp(x) + np.exp(-x))


def annuity(r):
    return (1 - (1 + r) ** -30) / r


def softmax(a, b):
    return np.exp(a) / (np.exp(a) + np.exp(b))


def logistic(x, k):
    p = 1 / (1 + np.exp(-k * x))
    return p * np.log(p / (1 - p))


def growth(x):
    return (np.exp(x) - 1 - x) / x**2


def powers(a, b):
    return a**7 - b**7 - 7 * a**6 * (a - b)


def tail(x):
    return np.log(special.erfc(x)) + x * x


def call_price(s, k, v):
    d = np.log(s / k) / v + v / 2
    cdf = lambda t: 0.5 * (1 + special.erf(t / np.sqrt(2)))
    return s * cdf(d) - k * cdf(d - v)


def haversine(a, b, c, d):
    h = np.sin((c - a) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((d - b) / 2) ** 2
    return 2 * np.arcsin(np.sqrt(h))


def relative(u, v):
    return (u - v) / (1 - u * v)


def energy(p, m):
    return np.sqrt(p * p + m * m) - m


def slope(x, y):
    return (np.sin(x) - np.sin(y)) / (x - y)


def beats(x, w):
    return np.cos(w * x) - np.cos((w + 1e-9) * x)


def programs():
    near = small(-15, -3)
    angle, lat = rng.uniform(-1, 1, COUNT), rng.uniform(-1, 1, COUNT)
    return {
        shares: (spread(), spread(), spread()),
        gap: (spread(),),
        annuity: (small(),),
        softmax: (spread(), spread()),
        logistic: (spread(-3, 3), spread(-1, 2)),
        growth: (small(),),
        powers: (1 + angle, (1 + angle) * (1 + near)),
        tail: (rng.uniform(3, 40, COUNT),),
        call_price: (100 * (1 - small(-1, 0)), np.full(COUNT, 100.0), small(-2, -0.5)),
        haversine: (lat, angle, lat + near, angle - near),
        relative: (1 - near, 1 - small(-15, -3)),
        energy: (small(-12, 0), small(-1, 3)),
        slope: (angle * 100, angle * 100 * (1 + near)),
        beats: (angle, spread(0, 3)),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--level", default="high")
    given = parser.parse_args()
    os.environ["SYMDIFF_CACHE_DIR"] = tempfile.mkdtemp()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    from symdiff import symgrad

    print(
        "| function | first, s | default, us | fast, us | ratio | nan |\n|---|---|---|---|---|---|"
    )
    ratios = []
    for function, args in programs().items():
        if given.names and function.__name__ not in given.names:
            continue
        slopes = {level: symgrad(function, accuracy=level).grad for level in (given.level, "fast")}
        best, first, result = {}, {}, None
        for level, g in slopes.items():
            start = time.process_time()
            g(*args)
            first[level] = time.process_time() - start
            best[level] = np.inf
        for _ in range(ROUNDS):
            for level, g in slopes.items():
                start = time.process_time()
                found = g(*args)
                best[level] = min(best[level], time.process_time() - start)
                result = found if level == given.level else result
        lost = int(np.isnan(np.asarray(result, float)).sum())
        high, fast = (best[level] / COUNT * 1e6 for level in (given.level, "fast"))
        ratios.append(high / fast)
        print(
            f"| {function.__name__} | {first[given.level]:.2f} | {high:.3f} | {fast:.4f} "
            f"| {high / fast:.1f} | {lost} |",
            flush=True,
        )
    print(f"| median | | | | {statistics.median(ratios):.1f} | |")


if __name__ == "__main__":
    main()
