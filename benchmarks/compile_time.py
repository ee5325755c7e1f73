"""Processor seconds that first calls take, of programs whose loops are unrolled and of Hessians of rotations.

    python -m benchmarks.compile_time [NAME ...]
    python -m benchmarks.compile_time --programs [NAME ...]

Nothing is read from the cache. Each call is the first of its kind in the process. With `--programs`, those of
`tests/programs` as scientists write them; the last line has the median and the mean of their sums.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import UnsupportedError, symgrad


def debye(n: int) -> Callable[..., float]:
    """A sum of n guarded terms: Debye's integral by Simpson's rule."""

    def energy(temperature, theta=300.0):
        x = theta / temperature
        h = x / n

        def g(t):
            return t**4 * math.exp(t) / (math.exp(t) - 1) ** 2 if t > 0 else 0.0

        s = g(0.0) + g(x)
        for i in range(1, n):
            s += (4 if i % 2 else 2) * g(i * h)
        return 9 * s * h / 3 / x**3

    return energy


def shock(n: int) -> Callable[..., float]:
    """At most n steps of Newton's method with a helper of two branches, as in exact Riemann solvers."""

    def pressure(a, b):
        def f(p, s):
            if p > s:
                q = math.sqrt(2 / (p + s))
                return (p - s) * q, q * (1 - (p - s) / (2 * (s + p)))
            r = p / s
            return 3 * (r**0.25 - 1), r**-0.75 / s

        p = 0.5 * (a + b)
        for _ in range(n):
            (u, du), (v, dv) = f(p, a), f(p, b)
            new = max(1e-8, p - (u + v) / (du + dv))
            if 2 * abs(new - p) / (new + p) < 1e-14:
                break
            p = new
        return new

    return pressure


def screw(xi):
    """The translation that a twist makes, by its exponential."""
    v, w = xi[:3], xi[3:]
    angle = np.linalg.norm(w)
    W = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    if angle < 1e-8:
        V = np.eye(3) + 0.5 * W
    else:
        V = (
            np.eye(3)
            + (1 - np.cos(angle)) / angle**2 * W
            + (angle - np.sin(angle)) / angle**3 * W @ W
        )
    return np.sum(V @ v * np.array([1.0, 2.0, 3.0]))


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]] = {
    "debye": (debye(20), (250.0, 300.0), ("value", "grad")),
    "shock": (shock(12), (1.0, 0.1), ("value", "grad")),
    "screw": (screw, (np.array([1.0, 2.0, 3.0, 0.3, -0.2, 0.5]),), ("grad", "hessian")),
}


def seconds(name: str) -> dict[str, float]:
    """Of the first calls of a program's derivatives, in turn."""
    function, args, kinds = PROGRAMS[name]
    return _of(symgrad(function, cache=False), args, kinds)


def of_programs(names: list[str]) -> None:
    """Print those of programs as scientists write them, and their median."""
    from tests.programs.test_programs import PROGRAMS as CASES

    sums: dict[str, float] = {}
    for case in CASES:
        name = case.fun.__name__
        if name in sums or (names and name not in names):
            continue
        made = symgrad(case.fun, wrt=case.wrt or None, static=case.static or None, cache=False)
        try:
            found = _of(made, case.args, ("value", "grad"))
        except UnsupportedError as refused:
            print(f"{name}: {refused}", flush=True)
            continue
        sums[name] = sum(found.values())
        print(f"{name}: value {found['value']:.1f}, grad {found['grad']:.1f}", flush=True)
    if not (values := list(sums.values())):
        return
    print(
        f"{len(values)} programs: median {statistics.median(values):.1f}, mean {statistics.mean(values):.1f}"
    )


def _of(made: Any, args: tuple[Any, ...], kinds: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for kind in kinds:
        call = made if kind == "value" else getattr(made, kind)
        start = time.process_time()
        call(*args)
        found[kind] = time.process_time() - start
    return found


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    if names[:1] == ["--programs"]:
        of_programs(names[1:])
        return
    for name in names or list(PROGRAMS):
        row = ", ".join(f"{kind} {s:.1f}" for kind, s in seconds(name).items())
        print(f"{name}: {row}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
