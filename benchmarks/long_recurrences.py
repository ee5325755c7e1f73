"""Numbers that a loop computes from each other over many steps: what accuracy="high" costs, and how far off it is.

    python benchmarks/long_recurrences.py [--steps 100000]

Time of value and gradient, "high" over "fast" in turns on one thread, least of each; and the errors of both in
ulp, of the gradient those of one element beside its largest. Truth is the same recurrence with 150 bits, and
dual numbers.
"""

from __future__ import annotations

import argparse
import functools
import math
import time
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from symdiff import symgrad


class Dual:
    """A number of many bits with its derivative in one direction."""

    def __init__(self, value: Any, slope: Any = 0) -> None:
        self.value, self.slope = mpmath.mpf(value), mpmath.mpf(slope)

    def __add__(self, other: Any) -> Dual:
        other = _dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other: Any) -> Dual:
        other = _dual(other)
        return Dual(self.value - other.value, self.slope - other.slope)

    def __rsub__(self, other: Any) -> Dual:
        return _dual(other) - self

    def __mul__(self, other: Any) -> Dual:
        other = _dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __truediv__(self, count: int) -> Dual:
        return Dual(self.value / count, self.slope / count)

    def __pow__(self, n: int) -> Dual:
        return Dual(self.value**n, n * self.slope * self.value ** (n - 1))

    def sin(self) -> Dual:
        return Dual(mpmath.sin(self.value), self.slope * mpmath.cos(self.value))

    __radd__, __rmul__ = __add__, __mul__


def _dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x)


def sine(x: Any) -> Any:
    return x.sin() if isinstance(x, Dual) else math.sin(x)


def rotation(x):
    a, b = 1.0, 0.5
    for i in range(len(x)):
        a, b = a - 0.1 * x[i] * b, b + 0.1 * x[i] * a
    return a


def weighted_running_sum(x):
    s, t = 0.0, 0.0
    for i in range(len(x)):
        s += x[i]
        t += s * x[i]
    return t


def compound(x):
    p, s = 1.0, 0.0
    for i in range(len(x)):
        p = p * (1.0 + 0.001 * x[i])
        s = s + p
    return s


def oscillator(x):
    p, v = 1.0, 0.0
    for i in range(len(x)):
        v = v - 0.01 * p + 0.01 * x[i]
        p = p + 0.01 * v
    return p


def predators(x):
    a, b = 1.0, 0.7
    for i in range(len(x)):
        a, b = a + 0.001 * (a - a * b + x[i]), b + 0.001 * (a * b - b)
    return a


def smoothing(x):
    e, s = 0.0, 0.0
    for i in range(len(x)):
        e = 0.9 * e + 0.1 * x[i]
        s += (x[i] - e) * (x[i] - e)
    return s


def pendulum(x):
    q, p = 1.0, 0.0
    for i in range(len(x)):
        p = p - 0.01 * math.sin(q)
        q = q + 0.01 * p + 0.001 * x[i]
    return q


def exact_pendulum(x):
    q, p = 1.0, 0.0
    for i in range(len(x)):
        p = p - 0.01 * sine(q)
        q = q + 0.01 * p + 0.001 * x[i]
    return q


PROGRAMS = (rotation, weighted_running_sum, compound, oscillator, predators, smoothing, pendulum)


def truth(f: Callable[..., Any], x: np.ndarray, at: int) -> Dual:
    """The value, and the derivative by one element."""
    f = exact_pendulum if f is pendulum else f
    with mpmath.workprec(150):
        found: Dual = f([Dual(v, k == at) for k, v in enumerate(x.tolist())])
        return found


def off(found: float, exact: Any, beside: float) -> float:
    """How far a result is off, in ulp of the larger of itself and another number."""
    with mpmath.workprec(150):
        size = max(abs(float(exact)), beside)
        return float(abs(found - exact) / np.spacing(size))


def least(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Seconds of each, in turns."""
    best = [math.inf] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    print("| recurrence | value, ns a step | high/fast | ulp fast | ulp high "
          "| gradient, ns a step | high/fast | ulp fast | ulp high |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    n = given.steps
    for f in PROGRAMS:
        x = np.random.default_rng(7).normal(size=n) * 0.1
        at = n // 3
        exact = truth(f, x, at)
        row = []
        both = [symgrad(f, accuracy=a, parallel=False) for a in ("fast", "high")]
        for kind in ("value", "gradient"):
            calls = [s if kind == "value" else s.grad for s in both]
            found = [c(x) for c in calls]
            fast, high = least([functools.partial(c, x) for c in calls], given.rounds)
            if kind == "value":
                ulps = [off(v, exact.value, 0.0) for v in found]
            else:
                ulps = [off(float(v[at]), exact.slope, float(np.abs(v).max())) for v in found]
            row += [f"{fast / n * 1e9:.2f}", f"{high / fast:.2f}", *(f"{u:.1f}" for u in ulps)]
        print(f"| {f.__name__} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
