"""Paths into a point, along which limits are taken.

Before:  two parameters
After:   ((0.9, 1), (-0.7, 2)): steps of 0.9*t and -0.7*t**2

Requires: the parameters that move. Ensures: the same paths in every process.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache

from flint import arb, ctx

from symdiff.interpret.balls import Value

Path = tuple[tuple[float, int], ...]
"""For each parameter the factor c and the exponent e of its step c*t**e."""
EXTRA_PATHS = 32
"""The number of sign patterns to try after the ten paths, where those leave the domain."""
SHAPES, EXPONENTS = 40, (1, 2, 3, 4, 6)
"""The number of paths of other shapes to try, and the exponents of their steps."""
FLAT = (0, -1, -3, -7)
"""In place of an exponent e: steps c*exp(-1/t**(1 - e)), whose logarithms are as large as powers
of the others."""
FLAT_SHAPES = 24


def oblique_paths(used: Sequence[int], n: int) -> Iterator[Path]:
    """Paths into a point with steps of different orders and of all signs."""
    rng = random.Random(40)
    for _ in range(SHAPES):
        path = [(0.0, 1)] * n
        for k in used:
            path[k] = rng.choice((-1, 1)) * rng.uniform(0.5, 1), rng.choice(EXPONENTS)
        yield tuple(path)


def flat_paths(used: Sequence[int], point: Sequence[float]) -> Iterator[Path]:
    """Paths into a point on which some of the coordinates that are 0 there are far smaller than all
    powers of the others."""
    rng = random.Random(50)
    zeros = [k for k in used if point[k] == 0]
    for number in range(FLAT_SHAPES if zeros and len(used) > 1 else 0):
        path = [(0.0, 1)] * len(point)
        flat = zeros[number % len(zeros)]
        for k in used:
            others = EXPONENTS if k not in zeros or rng.random() < 0.7 else FLAT
            e = rng.choice(FLAT) if k == flat else rng.choice(others)
            path[k] = rng.choice((-1, 1)) * rng.uniform(0.5, 1), e
        yield tuple(path)


def step(depth: int, e: int) -> Value:
    """t**e for t = 2**-depth, or a step smaller than all powers."""
    return arb(2) ** (-depth * e) if e > 0 else _flat(depth * (1 - e), ctx.prec)


@lru_cache(maxsize=1024)
def _flat(k: int, prec: int) -> Value:
    """exp(-2**k), at the precision of the context."""
    return (-(arb(2) ** k)).exp()


def paths(used: Sequence[int], n: int) -> Iterator[Path]:
    """Paths into a point: straight and curved, then straight with random signs."""
    rng = random.Random(20)
    if len(used) <= 1:
        shapes = [[(1.0, 1)] * len(used)]
    else:

        def wide() -> float:
            return rng.uniform(0.5, 1)

        m = range(len(used))
        shapes = [
            [(wide(), 1) for _ in m],
            [(wide() * (-1) ** i, 1) for i in m],
            [(wide() if i % 2 else wide() / 10, 1) for i in m],
            [(wide(), 1 + i % 2) for i in m],
            [(wide(), 2 - i % 2) for i in m],
        ]
    shapes += [[(-c, e) for c, e in shape] for shape in shapes]
    if len(used) > 1:
        shapes += [[(wide() * rng.choice((-1, 1)), 1) for _ in m] for _ in range(EXTRA_PATHS)]
    for shape in shapes:
        path = [(0.0, 1)] * n
        for k, step in zip(used, shape, strict=True):
            path[k] = step
        yield tuple(path)


__all__ = ["FLAT", "Path", "flat_paths", "oblique_paths", "paths", "step"]
