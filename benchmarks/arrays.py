"""Functions of arrays and their gradients, beside loops in Numba or NumPy written by hand.

    python benchmarks/arrays.py [--only ewma,rnn] [--rounds 7] [--accuracy fast] [--parallel]

On one thread unless `--parallel`, NumPy's BLAS too; the competitors take turns, and the
shortest time of each counts. Each runs once before it is timed, so that the caches hold what
it uses. The recurrences are those of `recurrences.py`.
"""

from __future__ import annotations

import argparse
import os
import sys

if "--parallel" not in sys.argv:  # before NumPy loads it
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from recurrences import RECURRENCES, fast
from timing import Clock, clock, race

from symdiff import symgrad

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Work:
    """A function, its arguments, and values and gradients by hand.

    Attributes
    ----------
    fun : the function.
    wrt : the parameters of its gradient.
    make : its arguments.
    value, gradient : the same by hand, or None.
    """

    fun: Callable[..., Any]
    wrt: str | tuple[str, ...]
    make: Callable[[], tuple[Any, ...]]
    value: Callable[..., Any] | None = None
    gradient: Callable[..., Any] | None = None


# ------------------------------------------------------------------- sums over arrays
def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@fast
def rosenbrock_value(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return s


@fast
def rosenbrock_gradient(x):
    g = np.zeros_like(x)
    for i in range(len(x) - 1):
        t = x[i + 1] - x[i] ** 2
        g[i] += -400.0 * t * x[i] - 2 * (1 - x[i])
        g[i + 1] += 200.0 * t
    return g


def pairwise(x):
    e = 0.0
    for i in range(len(x)):
        for j in range(i):
            e += 1 / (1 + (x[i] - x[j]) ** 2)
    return e


@fast
def pairwise_gradient(x):
    g = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            r = 1 / (1 + d * d)
            t = -2 * d * r * r
            g[i] += t
            g[j] -= t
    return g


def logistic(w, X, y):
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * np.sum(w**2)


def logistic_gradient(w, X, y):
    return X.T @ (1 / (1 + np.exp(-(X @ w))) - y) + w


def network(x, A, a, B):
    return np.sum((B @ np.tanh(A @ x + a)) ** 2)


def network_gradient(x, A, a, B):
    h = np.tanh(A @ x + a)
    r = 2 * (B @ h)
    t = (B.T @ r) * (1 - h * h)
    return np.outer(t, x), t, np.outer(r, h)


def batched(X, A, a, B):
    return np.sum((np.tanh(X @ A + a) @ B) ** 2)


def batched_gradient(X, A, a, B):
    h = np.tanh(X @ A + a)
    r = 2 * (h @ B)
    t = (r @ B.T) * (1 - h * h)
    return X.T @ t, t.sum(axis=0), h.T @ r


# --------------------------------------------------------------------- the table
def normal(*shape: int, scale: float = 1.0) -> Any:
    return scale * RNG.normal(size=shape)


def labels(n: int) -> Any:
    return (RNG.uniform(size=n) < 0.5).astype(float)


WORKS: dict[str, Work] = {
    "rosenbrock": Work(rosenbrock, "x", lambda: (normal(10**6),), rosenbrock_value,
                       rosenbrock_gradient),
    "pairwise": Work(pairwise, "x", lambda: (normal(3000),), fast(pairwise), pairwise_gradient),
    "logistic": Work(logistic, "w", lambda: (normal(100, scale=0.1), normal(20000, 100),
                                             labels(20000)), logistic, logistic_gradient),
    "network": Work(network, ("A", "a", "B"), lambda: (normal(500), normal(400, 500, scale=0.05),
                                                       normal(400), normal(300, 400)),
                    network, network_gradient),
    "batched": Work(batched, ("A", "a", "B"), lambda: (normal(2000, 100), normal(100, 64, scale=0.1),
                                                       normal(64), normal(64, 10)),
                    batched, batched_gradient),
}  # fmt: skip
for name in ("ewma", "blending", "sines", "rnn"):
    r = RECURRENCES[name]
    WORKS[name] = Work(r.fun, r.wrt, lambda r=r: r.make(r.steps), r.value, r.gradient)


def agree(name: str, found: Any, wanted: Any) -> None:
    """What is compared must be the same."""
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)


def warm(once: Clock) -> Clock:
    """The second of two runs in a row."""

    def twice() -> float:
        once()
        return once()

    return twice


def measure(name: str, work: Work, rounds: int, parallel: bool, accuracy: str) -> str:
    """One line of the table."""
    f = symgrad(work.fun, wrt=work.wrt, parallel="auto" if parallel else False,
                accuracy=accuracy)  # fmt: skip
    args = work.make()
    for ours, by_hand in ((f, work.value), (f.grad, work.gradient)):
        if by_hand is not None:
            agree(name, ours(*args), by_hand(*args))
    competitors: dict[str, Callable[..., Any] | None] = {
        "value": f, "value by hand": work.value, "gradient": f.grad,
        "gradient by hand": work.gradient,
    }  # fmt: skip
    clocks = {k: warm(clock(c, *args)) for k, c in competitors.items() if c is not None}
    t = race(clocks, rounds)

    def ratio(a: str, b: str) -> str:
        return f"{t[a] / t[b]:8.2f}" if a in t and b in t else " " * 8

    return (
        f"{name:12} {1e3 * t['value']:9.3f} {1e3 * t['gradient']:9.3f}"
        f" {ratio('value', 'value by hand')} {ratio('gradient', 'gradient by hand')}"
        f" {ratio('gradient', 'value')}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--parallel", action="store_true", help="on all cores")
    parser.add_argument("--accuracy", default="high", help="of symdiff's kernels")
    options = parser.parse_args()
    chosen = options.only.split(",") if options.only else list(WORKS)
    print("milliseconds: value, gradient; ratios: value/by hand, gradient/by hand, gradient/value")
    for name in chosen:
        line = measure(name, WORKS[name], options.rounds, options.parallel, options.accuracy)
        print(line, flush=True)


if __name__ == "__main__":
    main()
