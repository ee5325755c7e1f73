"""How long generated gradients are where kinks follow each other: operations of the gradient over those of the
value.

    python benchmarks/kinks.py [--second]

Operations are those of `.source()`: arithmetic, comparisons, selections, calls. A gradient in reverse mode needs
at most about 5 times those of its function (W. Baur, V. Strassen, The complexity of partial derivatives, 1983).
The time is that of the first call of the gradient, in seconds.
"""

from __future__ import annotations

import argparse
import ast
import math
import time
import warnings
from collections.abc import Sequence

import numpy as np

from symdiff import symgrad

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


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--second", action="store_true", help="second derivatives, too")
    second = parser.parse_args(arguments).second
    warnings.simplefilter("ignore")
    for f, given in PROGRAMS:
        s = symgrad(f)
        s(*given)
        start = time.perf_counter()
        s.grad(*given)
        spent = time.perf_counter() - start
        value, slopes = operations(s.source()), operations(s.grad.source())
        line = f"{f.__name__:18} value {value:4}, gradient {slopes:5}: {slopes / value:5.1f}, first call {spent:.2f}"
        if second and all(isinstance(x, float) for x in given):
            bends = operations(s.hessian.source())
            line += f", Hessian {bends:6}: {bends / value:6.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
