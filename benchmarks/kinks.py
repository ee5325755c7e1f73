"""How long generated gradients are where kinks follow each other: operations of the gradient over those of the
value.

    python benchmarks/kinks.py [--second] [--corpus]

Operations are those of `.source()`: arithmetic, comparisons, selections, calls. A gradient in reverse mode needs
at most about 5 times those of its function (W. Baur, V. Strassen, The complexity of partial derivatives, 1983).
The time is that of the first call of the gradient, in seconds. With --corpus, the programs of the tests are added,
those with numbers and those with arrays, and the worst and the median ratios are printed.
"""

from __future__ import annotations

import argparse
import ast
import functools
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symdiff import symgrad
from symdiff.errors import SymdiffError

KINDS = (ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Call, ast.AugAssign, ast.UnaryOp)


def operations(text: str) -> int:
    """How many operations the text of a program has."""
    return sum(isinstance(n, KINDS) for n in ast.walk(ast.parse(text)))


def chain(x, y):
    for k in range(6):
        x, y = max(x + k * y, x * y), abs(y - x)
    return x + y


def sizes(x, y):
    for k in range(8):
        x, y = abs(x - 0.1 * k * y), abs(y - 0.2 * x)
    return x + y


def edit_distance(a, b):
    before = [0.5 * j for j in range(len(b) + 1)]
    for i in range(len(a)):
        row = [0.5 * (i + 1)]
        for j in range(len(b)):
            kept = before[j] + abs(a[i] - b[j])
            row.append(min(before[j + 1] + 0.5, row[j] + 0.5, kept))
        before = row
    return before[-1]


def soft_step(a, b, c, g):
    top = max(a / g, b / g, c / g)
    return g * (top + np.log(np.exp(a / g - top) + np.exp(b / g - top) + np.exp(c / g - top)))


def soft_alignment(a, b, c, d, g):
    first = soft_step(-a, -b, -c, g)
    return soft_step(first - d, -b, -a, g)


def log_sum_exp(x, y, z):
    top = max(x, y, z)
    return top + math.log(math.exp(x - top) + math.exp(y - top) + math.exp(z - top))


def scaled_norm(x, y, z):
    size = max(abs(x), abs(y), abs(z))
    return size * math.sqrt((x / size) ** 2 + (y / size) ** 2 + (z / size) ** 2)


def limited_slopes(u, c):
    s = 0.0
    for i in range(2, len(u) - 1):
        left, right, before = u[i] - u[i - 1], u[i + 1] - u[i], u[i - 1] - u[i - 2]
        p = 0.0 if left * right <= 0 else (left if abs(left) < abs(right) else right)
        q = 0.0 if before * left <= 0 else (before if abs(before) < abs(left) else left)
        s = s + (u[i] - c * (u[i] + 0.5 * p - u[i - 1] - 0.5 * q)) ** 2
    return s


def ray_marching(px, pz, dx, dz, r):
    t = 0.0
    for _ in range(8):
        x, z = px + t * dx, pz + t * dz
        box = max(abs(x) - 1.0, abs(z) - 0.5)
        t = t + min(math.sqrt(x * x + z * z) - r, box, z + 2.0)
    return t


def controller(e, i, kp, ki, low, high):
    for _ in range(6):
        u = min(max(kp * e + ki * i, low), high)
        i = min(max(i + 0.1 * e, -1.0), 1.0)
        e = e - 0.2 * u
    return e * e + 0.1 * abs(u)


def median_filter(a, b, c, d, e):
    first = max(min(a, b), min(max(a, b), c))
    second = max(min(b, c), min(max(b, c), d))
    third = max(min(c, d), min(max(c, d), e))
    return max(min(first, second), min(max(first, second), third))


def sorting_network(a, b, c, d):
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    return a + 2 * b + 3 * c + 4 * d


def clips(x, y):
    for k in range(5):
        x = np.clip(x + 0.3 * y, -1.0 + 0.1 * k, 1.0)
        y = np.where(x > y, x * y, y - x)
    return x * y


def jacobi_rotations(a, b, c):
    for _ in range(3):
        if abs(b) > 1e-12:
            th = (c - a) / (2 * b)
            t = (1.0 if th >= 0 else -1.0) / (abs(th) + math.sqrt(th * th + 1))
            co = 1 / math.sqrt(t * t + 1)
            s = t * co
            a, b, c = (
                co * co * a - 2 * s * co * b + s * s * c,
                (co * co - s * s) * b + s * co * (a - c),
                s * s * a + 2 * s * co * b + co * co * c,
            )
    return max(a, c)


ROW = np.array([0.3, 1.2, -0.4, 0.9, 2.0])
PROGRAMS = (
    (chain, (1.0, 0.3)),
    (sizes, (0.4, 0.9)),
    (edit_distance, (ROW, ROW[:4])),
    (soft_step, (1.0, 2.0, 0.5, 0.1)),
    (soft_alignment, (1.0, 2.0, 0.5, 0.3, 0.1)),
    (log_sum_exp, (1.0, 2.0, 3.0)),
    (scaled_norm, (1.0, 2.0, 3.0)),
    (limited_slopes, (ROW, 0.4)),
    (ray_marching, (2.0, 1.0, -0.8, -0.3, 0.4)),
    (controller, (1.0, 0.2, 2.0, 0.5, -0.6, 0.7)),
    (median_filter, (1.0, 3.0, 2.0, 5.0, 4.0)),
    (sorting_network, (3.0, 1.0, 2.0, 0.0)),
    (clips, (0.3, 0.2)),
    (jacobi_rotations, (1.0, 0.3, 2.0)),
)


def corpus() -> Iterator[tuple[Callable[..., Any], Sequence[Any]]]:
    """The programs of the tests that have one number as their result."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests import array_corpus
    from tests import corpus as numbers

    for c in numbers.CASES:
        if c.gives_a_number:
            yield bound(c.fun, c.static), c.samples[0]
    for a in array_corpus.WITH_GRADIENT:
        yield bound(a.fun, a.static or {}), a.arguments(next(a.sizes((3,))))


def bound(f: Callable[..., Any], static: Any) -> Callable[..., Any]:
    """A function with its static arguments."""
    return functools.wraps(f)(functools.partial(f, **static)) if static else f


def ratio(f: Callable[..., Any], given: Sequence[Any], second: bool) -> float:
    """Print the line of a program."""
    s = symgrad(f)
    s(*given)
    start = time.perf_counter()
    s.grad(*given)
    spent = time.perf_counter() - start
    value, slopes = operations(s.source()), operations(s.grad.source())
    most = slopes / max(value, 1)
    line = (
        f"{f.__name__:26} value {value:4}, gradient {slopes:5}: {most:5.1f}, first call {spent:.2f}"
    )
    if second and all(isinstance(x, float) for x in given):
        bends = operations(s.hessian.source())
        line += f", Hessian {bends:6}: {bends / max(value, 1):6.1f}"
    print(line, flush=True)
    return most


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--second", action="store_true", help="second derivatives, too")
    parser.add_argument("--corpus", action="store_true", help="the programs of the tests, too")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found, left_out = [], []
    for f, given in (*PROGRAMS, *(corpus() if options.corpus else ())):
        try:
            found.append(ratio(f, given, options.second))
        except (SymdiffError, TypeError):
            left_out.append(f.__name__)
    worst, middle = max(found), statistics.median(found)
    few = sum(r <= 5 for r in found)
    print(f"{len(found)} programs: worst {worst:.1f}, median {middle:.1f}, at most 5 in {few}")
    if left_out:
        print("without a text in Python, or refused:", ", ".join(left_out))


if __name__ == "__main__":
    main()
