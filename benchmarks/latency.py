"""How long things take before and around the arithmetic.

    python benchmarks/latency.py

- one scalar call of a compiled gradient, in nanoseconds;
- trace, differentiate, cancel and compile to the first gradient, for a sum of about 1000
  operations in six variables, and for nested functions of growing depth;
- the same in a second process that finds the kernel on disk.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import textwrap
import time
import timeit
from collections.abc import Callable

TERMS = 100
"""Ten operations each."""


def wide(a, b, c, d, e, f):
    """A sum of products: about 10 operations per term."""
    x = (a, b, c, d, e, f)
    total = 0.0
    for k in range(TERMS):
        u, v, w = x[k % 6], x[(5 * k + 1) % 6], x[(7 * k + 2) % 6]
        total = total + math.sin((1 + k / 128) * u + v) * math.exp(-(w * v)) * (u + (k + 0.5))
    return total


POINT = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def nested(depth: int) -> Callable[[float], float]:
    """v = sin(v) + cos(v)/3, again and again."""

    def function(v):
        for _ in range(depth):
            v = math.sin(v) + math.cos(v) / 3
        return v

    return function


def products(depth: int) -> Callable[[float], float]:
    """y = y sin(y) + x: every step is used twice, and x in all of them."""

    def function(x):
        y = x
        for _ in range(depth):
            y = y * math.sin(y) + x
        return y

    return function


def first_gradient(fun: Callable[..., float], *point: float) -> float:
    """Seconds from the decorator to the first gradient, nothing on disk."""
    from symdiff import symgrad

    start = time.perf_counter()
    symgrad(fun, cache=False).grad(*point)
    return time.perf_counter() - start


def call_nanoseconds(function: Callable[..., object], *point: float) -> float:
    timer = timeit.Timer(lambda: function(*point))
    empty = timeit.Timer(lambda: None)
    count = 200_000
    return (min(timer.repeat(7, count)) - min(empty.repeat(7, count))) / count * 1e9


def warm_start() -> tuple[float, float, str]:
    """Seconds of a cold and of a warm process to the first gradient, imports included,
    and which of SymPy and Numba the warm one imported."""
    code = textwrap.dedent(
        """
        import time; start = time.perf_counter()
        import sys; sys.path[:0] = {path!r}
        from latency import POINT, wide
        from symdiff import symgrad
        symgrad(wide).grad(*POINT)
        seconds = time.perf_counter() - start
        print(seconds, ",".join(m for m in ("sympy", "numba") if m in sys.modules) or "neither")
        """
    ).format(path=sys.path)
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, SYMDIFF_CACHE_DIR=folder)
        runs = []
        for _ in range(4):
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, text=True, check=True,
                stdout=subprocess.PIPE,
            )  # fmt: skip
            runs.append(done.stdout.split())
    return float(runs[0][0]), min(float(r[0]) for r in runs[1:]), runs[-1][1]


def main() -> None:
    import numba  # noqa: F401  (a fair start: what the first gradient needs is imported)
    import sympy  # noqa: F401

    from symdiff import symgrad

    first_gradient(lambda x: x * x, 1.0)
    print("| one scalar call | ns |\n|---|---|")
    quotient = symgrad(lambda x: (x**2 - 4) / (x - 2))
    sine = symgrad(lambda x, y: math.sin(x) * math.exp(y))
    print(f"| gradient of (x**2-4)/(x-2) | {call_nanoseconds(quotient.grad, 2.5):.0f} |")
    print(f"| gradient of sin(x)*exp(y) | {call_nanoseconds(sine.grad, 0.5, 0.25):.0f} |")
    print(f"| math.sin, for comparison | {call_nanoseconds(math.sin, 0.5):.0f} |\n")
    print("| first gradient | seconds |\n|---|---|")
    print(f"| 1000 operations, 6 variables | {first_gradient(wide, *POINT):.2f} |")
    for depth in (250, 500, 1000, 2000):
        print(
            f"| v = sin(v) + cos(v)/3, {depth} times | {first_gradient(nested(depth), 0.5):.2f} |"
        )
    for depth in (75, 150, 300):
        print(f"| y = y*sin(y) + x, {depth} times | {first_gradient(products(depth), 0.5):.2f} |")
    cold, warm, imported = warm_start()
    print("\n| process from start to first gradient, 1000 operations | seconds |\n|---|---|")
    print(f"| nothing on disk | {cold:.2f} |")
    print(f"| kernel on disk ({imported} of SymPy and Numba imported) | {warm:.2f} |")


if __name__ == "__main__":
    main()
