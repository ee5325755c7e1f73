"""What accuracy="high" costs on arrays, beside accuracy="fast" and the naive closed form.

    python benchmarks/cost.py [--size 1000000] [--rounds 40]

Value and gradient of each function at a million points, on one thread, into arrays that
are there. The three are timed in turn, block by block, again and again, and the least
processor time of every block counts, so that other processes matter little. "balls" is
the share of elements that are left to balls, which is not in the times.

- fast: symdiff with accuracy="fast", the same formulas without tests.
- naive: the plain chain rule, term by term, compiled by the same code generator with the
  same SIMD functions; wrong near singular points.
- ulp: the worst error of accuracy="high" at the first points, against proven values.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from symdiff import symgrad
from symdiff.diagnostics.naive import Naive
from symdiff.runtime.protocols import Plain
from symdiff.runtime.scalar.kernel import Kernel

Arrays = Sequence[np.ndarray]


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def lennard_jones(r):
    return 4 * ((1 / r) ** 12 - (1 / r) ** 6)


def lennard_jones_3d(x, y, z):
    s6 = (0.81 / (x * x + y * y + z * z)) ** 3
    return 5.2 * (s6 * s6 - s6)


def rational(x):
    return (x**3 - 2 * x + 1) / (x**2 + 1)


def rational_2d(x, y):
    return (x * y - 1) / (x * x + y * y + 1)


def softplus(x):
    return math.log(1 + math.exp(x))


def morse(r):
    return (1 - math.exp(-(r - 1.5))) ** 2


def morse_3d(x, y, z):
    e = math.exp(-1.7 * (math.sqrt(x * x + y * y + z * z) - 1.1))
    return 2.3 * (1 - e) ** 2


def sinc(x):
    return np.sin(x) / x


def cosine_quotient(t):
    return (1 - np.cos(t)) / t**2


def langevin(x):
    return 1 / np.tanh(x) - 1 / x


def log_sum(a, b, c):
    return np.logaddexp(a, np.logaddexp(b, c))


def halo(r, c):
    x = r * c
    return (np.log(1 + x) - x / (1 + x)) / r


def call_price(s, k, t, r, v):
    d = (np.log(s / k) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
    e = d - v * np.sqrt(t)
    return s * special.ndtr(d) - k * np.exp(-r * t) * special.ndtr(e)


def projected(x, y, z, f, k1, k2):
    u, v = x / z, y / z
    s = u * u + v * v
    return f * u * (1 + k1 * s + k2 * s * s)


FUNCTIONS: tuple[tuple[Callable[..., float], tuple[tuple[float, float], ...]], ...] = (
    (rosenbrock, ((-2, 2), (-2, 2))),
    (lennard_jones, ((0.8, 3),)),
    (lennard_jones_3d, ((0.8, 2),) * 3),
    (rational, ((-10, 10),)),
    (rational_2d, ((-3, 3),) * 2),
    (softplus, ((-20, 20),)),
    (morse, ((0.5, 5),)),
    (morse_3d, ((0.5, 2),) * 3),
    (sinc, ((-10, 10),)),
    (cosine_quotient, ((-10, 10),)),
    (langevin, ((-10, 10),)),
    (log_sum, ((-5, 5),) * 3),
    (halo, ((0.5, 2),) * 2),
    (call_price, ((80, 120), (80, 120), (0.2, 2), (0.01, 0.05), (0.1, 0.4))),
    (projected, ((-1, 1), (-1, 1), (1, 5), (0.5, 1.5), (-0.1, 0.1), (-0.1, 0.1))),
)
"""Functions, and the ranges that their points are uniform in."""
BLOCK = 1_000_000
"""Points that are timed together."""
CHECKED = 1000
"""Points at which the error is measured."""


def kernels(fun: Callable[..., float]) -> dict[str, Kernel]:
    """The compiled forms of value and gradient, the tiers of "high" among them."""
    found = {}
    for accuracy in ("high", "fast"):
        both = symgrad(fun, accuracy=accuracy, parallel=False).value_and_grad
        found[accuracy] = both._compiled({})[1].kernel
    f = symgrad(fun)
    outputs = Naive(f.raw_program, f.raw_program.params).outputs
    found["naive"] = Kernel(
        Plain("naive", f.raw_program.params, outputs), accuracy="fast", parallel=False
    )
    return found


def times(
    compiled: dict[str, Kernel], points: Arrays, out: dict[str, Arrays], rounds: int
) -> dict[str, float]:
    """The time of each in seconds: the least of every block of points, taken in turn."""
    size = len(points[0])
    blocks = [slice(k, min(k + BLOCK, size)) for k in range(0, size, BLOCK)]
    best = {name: np.full(len(blocks), np.inf) for name in compiled}
    for _ in range(rounds):
        for k, block in enumerate(blocks):
            inputs = [p[block] for p in points]
            for name, kernel in compiled.items():
                results = [o[block] for o in out[name]]
                start = time.thread_time()
                kernel.evaluate(inputs, results)
                best[name][k] = min(best[name][k], time.thread_time() - start)
    return {name: float(t.sum()) for name, t in best.items()}


def worst(fun: Callable[..., float], found: Arrays, points: Arrays) -> float:
    """The largest error in ulps at the first points."""
    proven = symgrad(fun, accuracy="certified").value_and_grad
    value, slopes = proven(*(p[:CHECKED] for p in points))
    truth = (value, *(slopes if isinstance(slopes, tuple) else (slopes,)))
    errors = [
        np.abs(a[:CHECKED] - b) / np.spacing(np.abs(b)) for a, b in zip(found, truth, strict=True)
    ]
    return float(max(e.max() for e in errors))


def main() -> None:
    parser = argparse.ArgumentParser(description='The cost of accuracy="high".')
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rng = np.random.default_rng(0)
    print(
        "| function | fast, ns | high/fast | high/naive | balls | ulp |\n|---|---|---|---|---|---|"
    )
    for fun, ranges in FUNCTIONS:
        points = [rng.uniform(a, b, options.size) for a, b in ranges]
        compiled = kernels(fun)
        share = compiled["high"].evaluate(points).flagged / options.size
        for kernel in compiled.values():
            kernel.evaluate(points)
        out = {name: [np.empty(options.size) for _ in k.outputs] for name, k in compiled.items()}
        best = times(compiled, points, out, options.rounds)
        cells = [f"{best['fast'] / options.size * 1e9:.2f}"]
        cells += [f"{best['high'] / best[name]:.2f}" for name in ("fast", "naive")]
        cells += [f"{100 * share:.2f} %", f"{worst(fun, out['high'], points):.0f}"]
        print(f"| {fun.__name__} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
