"""What the default costs: beside "fast" in later calls, and seconds of the first gradient.

    python benchmarks/price.py [--level strict] [NAME ...]

Each program is measured in a process of its own, with an empty disk cache. `first` is the processor time of
the first derivative with the default, from the decorator to the result: capture, differentiation, compiling, the comparison
with plain Python. Then "high" and "fast" take turns on one thread, with the same arguments; the least of each counts. So
the probes of later calls are not in it: `mean` has them, the mean over calls of the default. `moving` is the price where
arguments move, as in an optimiser or a sampler: the first argument takes a random walk over decades, and the times of
`MOVING` calls, after `BEFORE` others, are added up.
`differ` is how far "fast" is from the default, of the largest element of each result.

Programs: examples/programs, those of `_ordinary` below (recurrences, statistics, rotations).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from programs_benchmark import ROUND, derivatives, leaves
from scipy import special
from timing import clock, geometric_mean, race

from symdiff import symgrad


# ------------------------------------------------------------------------- recurrences
def ewma(x, y):
    e, total = 0.0, 0.0
    for i in range(len(x)):
        e = 0.9 * e + 0.1 * x[i]
        total += (e - y[i]) ** 2
    return total


def blending(d):
    e = 0.0
    for i in range(len(d)):
        e = (1 - e) * d[i] + e
    return e**2


def logistic_map(r, x):
    total = 0.0
    for _ in range(200):
        x = r * x * (1 - x)
        total += x
    return total


def oscillator(w, n):
    q, p = 1.0, 0.0
    for _ in range(n):
        p = p - 0.01 * w * q
        q = q + 0.01 * p
    return q


def running_best(x):
    best, total = x[0], 0.0
    for i in range(len(x)):
        best = max(best, x[i])
        total += best * x[i]
    return total


# -------------------------------------------------------------------------- statistics
def poisson_regression(w, x, y):
    eta = x @ w
    return np.sum(np.exp(eta) - y * eta + special.gammaln(y + 1))


def negative_binomial(t, x, y):
    mu, r = np.exp(x @ t[1:]), np.exp(t[0])
    return -np.sum(
        special.gammaln(y + r) - special.gammaln(r) - special.gammaln(y + 1)
        + r * np.log(r / (r + mu)) + y * np.log(mu / (r + mu))
    )  # fmt: skip


def zero_inflated(t, y):
    share, mu = 1 / (1 + np.exp(-t[0])), np.exp(t[1])
    none = np.log(share + (1 - share) * np.exp(-mu))
    some = np.log(1 - share) - mu + y * np.log(mu) - special.gammaln(y + 1)
    return -np.sum(np.where(y == 0, none, some))


def beta_regression(t, x, y):
    m, k = 1 / (1 + np.exp(-(x @ t[1:]))), np.exp(t[0])
    a, b = m * k, (1 - m) * k
    return np.sum(special.betaln(a, b) - (a - 1) * np.log(y) - (b - 1) * np.log1p(-y))


def logistic_regression(w, x, y):
    eta = x @ w
    return np.sum(np.log(1 + np.exp(eta)) - y * eta)


def softmax_regression(w, x, labels):
    eta = x @ w
    return np.sum(special.logsumexp(eta, axis=1)) - np.sum(eta[np.arange(len(labels)), labels])


def cox(w, x, event):
    eta = x @ w
    return -np.sum(event * (eta - np.log(np.cumsum(np.exp(eta[::-1]))[::-1])))


def student(t, y):
    m, s, nu = t[0], np.exp(t[1]), 2 + np.exp(t[2])
    z = (y - m) / s
    return np.sum(
        special.gammaln(nu / 2) - special.gammaln((nu + 1) / 2)
        + 0.5 * np.log(nu * np.pi) + np.log(s) + 0.5 * (nu + 1) * np.log1p(z * z / nu)
    )  # fmt: skip


def mixture(t, y):
    share = np.exp(t[:2] - special.logsumexp(t[:2]))
    z = (y[:, None] - t[2:4]) / np.exp(t[4:6])
    return -np.sum(special.logsumexp(np.log(share) - 0.5 * z * z - t[4:6], axis=1))


def hidden_markov(t, y):
    trans = np.exp(t[:4].reshape(2, 2))
    trans = trans / np.sum(trans, axis=1)[:, None]
    alpha = np.array([0.5, 0.5])
    total = 0.0
    for i in range(len(y)):
        alpha = (alpha @ trans) * np.exp(-0.5 * (y[i] - t[4:6]) ** 2)
        size = np.sum(alpha)
        alpha = alpha / size
        total += np.log(size)
    return -total


def soft_alignment(x, y):
    n, m = len(x), len(y)
    d = np.full((n + 1, m + 1), 1e8)
    d[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            a, b, c = d[i, j], d[i, j + 1], d[i + 1, j]
            low = min(a, b, c)
            soft = low - np.log(np.exp(low - a) + np.exp(low - b) + np.exp(low - c))
            d[i + 1, j + 1] = (x[i] - y[j]) ** 2 + soft
    return d[n, m]


def random_walk(t, y):
    s = np.exp(t[0])
    return np.sum((y[1:] - y[:-1] - t[1]) ** 2) / (2 * s * s) + (len(y) - 1) * np.log(s)


# --------------------------------------------------------------------------- rotations
def rotated(w, p):
    angle = np.sqrt(np.sum(w * w))
    k = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    turn = np.eye(3) + np.sin(angle) / angle * k + (1 - np.cos(angle)) / angle**2 * (k @ k)
    return np.sum((p @ turn.T) ** 3)


def rotation_angle(r):
    return np.arccos((np.trace(r) - 1) / 2) ** 2


def pairwise(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d2 = np.sum((x[i] - x[j]) ** 2)
            total += 1 / d2**6 - 1 / d2**3
    return total


def _ordinary() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=(200, 5)), rng.poisson(2.0, 200).astype(float), 0.1 * np.ones(5)
    z = rng.normal(size=200)
    share = rng.uniform(0.05, 0.95, 200)
    binary = (rng.uniform(size=200) < 0.4).astype(float)
    turn = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    return {
        "ewma": (ewma, (z, rng.normal(size=200))),
        "blending": (blending, (rng.uniform(0.1, 0.9, 100),)),
        "logistic map": (logistic_map, (3.2, 0.3)),
        "oscillator": (oscillator, (1.5, 1000)),
        "running best": (running_best, (z,)),
        "poisson": (poisson_regression, (w, x, y)),
        "negative binomial": (negative_binomial, (np.r_[0.3, w], x, y)),
        "zero inflated": (zero_inflated, (np.array([-0.4, 0.6]), y)),
        "beta": (beta_regression, (np.r_[1.0, w], x, share)),
        "logistic": (logistic_regression, (w, x, binary)),
        "softmax": (softmax_regression, (0.1 * rng.normal(size=(5, 4)), x, rng.integers(0, 4, 200))),
        "cox": (cox, (w, x, binary)),
        "student": (student, (np.array([0.1, 0.2, 1.0]), z)),
        "mixture": (mixture, (np.array([0.2, -0.1, -1.0, 1.0, 0.1, 0.2]), z)),
        "hidden markov": (hidden_markov, (np.array([1.0, 0.0, 0.2, 1.0, -1.0, 1.0]), z)),
        "soft alignment": (soft_alignment, (z[:20], z[20:45])),
        "random walk": (random_walk, (np.array([0.1, 0.05]), z)),
        "rotated": (rotated, (np.array([0.1, -0.2, 0.3]), rng.normal(size=(50, 3)))),
        "rotation angle": (rotation_angle, (turn,)),
        "pairwise": (pairwise, (np.arange(60.0).reshape(20, 3) + rng.normal(size=(20, 3)),)),
    }  # fmt: skip


def _program(name: str) -> tuple[Callable[[str], Any], tuple[Any, ...]]:
    """The derivative of a program at an accuracy, and its arguments."""
    from programs import NAMES  # of examples, which programs_benchmark puts on the path

    if name in NAMES:
        module = importlib.import_module(f"programs.{name}")
        return partial(derivatives, module), module.data(np.random.default_rng(0))
    function, args = _ordinary()[name]
    first = function.__code__.co_varnames[0]
    return lambda accuracy: symgrad(function, wrt=first, accuracy=accuracy).grad, args


BEFORE, MOVING = 200, 400
"""Calls at moving arguments before those that are measured, and those."""


def moving(high: Callable[..., Any], fast: Callable[..., Any], args: Sequence[Any]) -> float:
    """The price over a random walk of the first argument, which both take call by call."""
    rng = np.random.default_rng(7)
    first, rest, scale = np.asarray(args[0], float), args[1:], 0.0
    spent = [0.0, 0.0]
    for k in range(BEFORE + MOVING):
        scale = 0.98 * scale + 0.15 * rng.normal()
        x = first * np.exp(scale + 0.05 * rng.normal(size=first.shape))
        x = x if first.shape else float(x)
        for j, f in enumerate((high, fast)):
            start = time.perf_counter()
            f(x, *rest)
            spent[j] += (k >= BEFORE) * (time.perf_counter() - start)
    return spent[0] / spent[1]


def measured(name: str, level: str) -> dict[str, float]:
    """Seconds of the first call and of later ones of a program, in this process."""
    warnings.simplefilter("ignore")
    derivative, args = _program(name)
    start = time.process_time()
    high = derivative(level)
    results = high(*args)
    first = time.process_time() - start
    start = time.process_time()
    fast = derivative("fast")
    plain = fast(*args)
    first_fast = time.process_time() - start
    for _ in range(20):
        high(*args)
        fast(*args)
    once = min(clock(high, *args)() for _ in range(5))
    repeat = max(1, int(ROUND / max(once, 1e-7)))
    best = race(
        {"high": clock(high, *args, repeat=repeat), "fast": clock(fast, *args, repeat=repeat)}
    )
    mean = clock(high, *args, repeat=min(1000, 20 * repeat))()
    differ = max(
        float(np.abs(a - b).max(initial=0.0) / max(np.abs(a).max(initial=0.0), 1e-300))
        for a, b in zip(leaves(results), leaves(plain), strict=True)
    )
    price = moving(high, fast, args)
    return {
        "first": first, "first fast": first_fast, **best, "mean": mean, "differ": differ, "moving": price,
    }  # fmt: skip


def main() -> None:
    """Print a table of the programs that are named, or of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--level", default="high", help="what takes the place of the default")
    parser.add_argument("--one", action="store_true", help="measure one in this process")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.names[0], given.level)))
        return
    o = given.level
    from programs import NAMES

    print(
        f"| program | first, s | {o}, us | fast, us | {o} / fast | mean / fast | moving | differ |"
    )
    print("|---|---|---|---|---|---|---|---|")
    firsts, ratios, prices = [], [], []
    for name in given.names or [*NAMES, *_ordinary()]:
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "SYMDIFF_CACHE_DIR": cache, "SYMDIFF_PROGRESS": "0"}
            command = [sys.executable, __file__, "--level", given.level, "--one", name]
            try:
                done = subprocess.run(
                    command,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=120,
                    check=True,
                )
            except subprocess.SubprocessError as error:
                lines = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
                print(f"| {name} | - | - | - | - | - | - | {lines[-1][:80]} |", flush=True)
                continue
        m = json.loads(done.stdout.splitlines()[-1])
        firsts.append(m["first"])
        ratios.append(m["high"] / m["fast"])
        prices.append(m["moving"])
        print(
            f"| {name} | {m['first']:.2f} | {m['high'] * 1e6:.1f} | {m['fast'] * 1e6:.1f} "
            f"| {ratios[-1]:.2f} | {m['mean'] / m['fast']:.2f} | {m['moving']:.2f} | {m['differ']:.0e} |",
            flush=True,
        )  # fmt: skip
    if ratios:
        print(
            f"\n{o} / fast: median {statistics.median(ratios):.2f}, geometric mean "
            f"{geometric_mean(ratios):.2f}, worst {max(ratios):.2f}; moving: median "
            f"{statistics.median(prices):.2f}, worst {max(prices):.2f}; first: median "
            f"{statistics.median(firsts):.2f} s, worst {max(firsts):.2f} s"
        )


if __name__ == "__main__":
    main()
