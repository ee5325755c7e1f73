"""Accuracy of symdiff beside the plain chain rule, against very high precision.

    python benchmarks/accuracy.py [--points 200]

For formulas that lose digits, the error of the gradient over points of four kinds:
ordinary magnitudes, bit-uniform doubles, special values, and points close to a singular
one. The truth is a central difference of the formula in mpmath with 8000 bits, which
shares no code with symdiff; the plain chain rule is SymPy's `diff` with `lambdify`.

A larger, independent benchmark of 770 FPCore programs can be run from its own folder; it
imports symdiff, and needs nothing from here:

    python bench_accuracy.py corpus --cache DIR --tool symdiff --json s.json
    python bench_accuracy.py --merge s.json
    python bench_accuracy.py --paper --tool symdiff --json p.json
"""

from __future__ import annotations

import argparse
import math
import random
import struct
import warnings
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import sympy as sp

from symdiff import symgrad

warnings.simplefilter("ignore")
np.seterr(all="ignore")

Formula = Callable[[Any], Callable[[Any], Any]]
"""A formula over a module that has sin, exp, ...: NumPy, SymPy or mpmath."""

FORMULAS: dict[str, tuple[Formula, tuple[float, ...]]] = {
    "(x**2-4)/(x-2)": (lambda m: lambda x: (x**2 - 4) / (x - 2), (2.0,)),
    "(x**3-8)/(x-2)": (lambda m: lambda x: (x**3 - 8) / (x - 2), (2.0,)),
    "(exp(2x)-1)/(exp(x)-1)": (lambda m: lambda x: (m.exp(2 * x) - 1) / (m.exp(x) - 1), (0.0,)),
    "sin(x)/x": (lambda m: lambda x: m.sin(x) / x, (0.0,)),
    "(1-cos(x))/x**2": (lambda m: lambda x: (1 - m.cos(x)) / x**2, (0.0,)),
    "(exp(x)-1)/x": (lambda m: lambda x: (m.exp(x) - 1) / x, (0.0,)),
    "sqrt(x+1)-sqrt(x)": (lambda m: lambda x: m.sqrt(x + 1) - m.sqrt(x), (0.0,)),
    "sqrt(x*x+1)-x": (lambda m: lambda x: m.sqrt(x * x + 1) - x, ()),
    "log(1+exp(x))": (lambda m: lambda x: m.log(1 + m.exp(x)), ()),
    "x/tanh(x)": (lambda m: lambda x: x / m.tanh(x), (0.0,)),
    "exp(-x*x)": (lambda m: lambda x: m.exp(-x * x), ()),
    "x*log(x)": (lambda m: lambda x: x * m.log(x), (0.0,)),
}
"""Formulas, and their singular points."""
SPECIAL = (0.0, 1.0, -1.0, 2.0, 0.5, 1e-300, -1e-300, 1e300, -1e300, 1e-8, 1e8)


def points(kind: str, near: tuple[float, ...], count: int, rng: random.Random) -> list[float]:
    if kind == "special":
        return [*SPECIAL, *near]
    if kind == "near":
        return [
            c + s * 10.0 ** -rng.uniform(1, 17)
            for c in near
            for s in (1, -1)
            for _ in range(count // 2)
        ]
    if kind == "ordinary":
        return [rng.choice((1, -1)) * 10.0 ** rng.uniform(-8, 8) for _ in range(count)]
    bits = (
        struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0] for _ in range(10 * count)
    )
    return [v for v in bits if math.isfinite(v)][:count]


def error_bits(computed: float, truth: float) -> float:
    """log2(1 + error in ulp), 64 for a result that is not finite."""
    if not math.isfinite(computed):
        return 64.0
    return min(64.0, math.log2(1 + abs(computed - truth) / math.ulp(truth)))


def plain_gradient(formula: Formula) -> Callable[[float], float]:
    """SymPy's diff, lambdified: the chain rule as it stands."""
    x = sp.Symbol("x", real=True)
    return sp.lambdify(x, sp.diff(formula(sp)(x), x), "math")


def true_gradient(formula: Formula) -> Callable[[float], float]:
    """Central differences with two steps; nan where they disagree or are not real."""
    function = formula(mp)

    def slope(x: float) -> float:
        mp.mp.prec = 8000
        found = []
        for bits in (1200, 1400):
            step = mp.mpf(abs(x) or 1) * mp.mpf(2) ** -bits
            found.append((function(x + step) - function(x - step)) / (2 * step))
        a, b = (mp.mpc(v) for v in found)
        if a.imag or b.imag or not mp.isfinite(a) or abs(a - b) > abs(a) * mp.mpf(2) ** -80:
            return math.nan
        return float(a.real)

    return slope


def guarded(fun: Callable[[float], float], x: float) -> float:
    try:
        return float(fun(x))
    except (ArithmeticError, ValueError, TypeError):
        return math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description="Mean error bits of gradients.")
    parser.add_argument("--points", type=int, default=200)
    options = parser.parse_args()
    kinds = ("ordinary", "bits", "special", "near")
    print("mean error bits of the gradient, plain / symdiff (64: not finite)\n")
    print("| formula | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
    for name, (formula, near) in FORMULAS.items():
        rng = random.Random(name)
        plain, ours = plain_gradient(formula), symgrad(formula(np)).grad
        truth = true_gradient(formula)
        cells = []
        for kind in kinds:
            where = points(kind, near, options.points, rng)
            scored = [(x, t) for x in where if math.isfinite(t := guarded(truth, x))]
            if not scored:
                cells.append("-")
                continue
            each = [[error_bits(guarded(f, x), t) for x, t in scored] for f in (plain, ours)]
            cells.append(" / ".join(f"{np.mean(e):.2f}" for e in each))
        print(f"| `{name}` | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
