"""How many bits are wrong in results of programs with arrays and loops whose sums cancel.

    python benchmarks/array_accuracy.py [--sizes 5 1000] [--scales 1e-9 1] [--only NAME ...]
                                        [--modules FOLDER] [--sample 4]

Each program is called at several scales and sizes; the truth is the same source run on balls of
3000 bits (python-flint), and differences of that for gradients. What is printed is the error of
the worst element in bits (0 is 1 ulp or less), of value and gradient, at each scale, beside NumPy's
for the value and `accuracy="fast"`, a plain chain rule in doubles, for the gradient. With `--modules`
the functions of generated modules, which are kept in a folder, take the place of symdiff's calls; with
`--sample` one program of so many is run.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx

import symdiff

BITS, STEP = 3000, 700
SCALES = (1e-12, 1e-9, 1e-6, 1e-3, 0.3, 1e3, 1e6, 1e12)
SIZES = (5,)
CHECKED = 6
"""Elements of a gradient that are compared, spread evenly."""

Program = Callable[..., Any]
PROGRAMS: dict[str, tuple[Program, int, float, bool]] = {}
"""By name: the function, how many vectors it takes, the largest scale, whether they are positive."""


def program(vectors: int = 1, most: float = 1e12, positive: bool = False) -> Any:
    """Put a function into the table."""

    def put(f: Program) -> Program:
        PROGRAMS[f.__name__] = f, vectors, most, positive
        return f

    return put


# ---------------------------------------------------------------------- statistics
@program()
def variance(x):
    return np.sum((x - np.sum(x) / x.shape[0]) ** 2) / x.shape[0]


@program()
def variance_by_moments(x):
    n = x.shape[0]
    return np.sum((1 + x) ** 2) / n - (np.sum(1 + x) / n) ** 2


@program()
def third_moment(x):
    return np.sum((x - np.sum(x) / x.shape[0]) ** 3)


@program(2)
def covariance(x, y):
    n = x.shape[0]
    return np.sum((1 + x) * (1 + y)) / n - np.sum(1 + x) * np.sum(1 + y) / n**2


@program(2)
def correlation_defect(x, y):
    a, b = 1 + x, 1 + x + 1e-3 * y
    return 1 - np.sum(a * b) / np.sqrt(np.sum(a**2) * np.sum(b**2))


@program()
def welford(x):
    mean = 0.0
    m2 = 0.0
    for i in range(x.shape[0]):
        delta = x[i] - mean
        mean = mean + delta / (i + 1)
        m2 = m2 + delta * (x[i] - mean)
    return m2 / x.shape[0]


@program(most=1e3)
def geometric_minus_arithmetic(x):
    y = 1 + x**2
    return np.exp(np.sum(np.log(y)) / x.shape[0]) - np.sum(y) / x.shape[0]


@program(most=1e3)
def harmonic_defect(x):
    y = 1 + x**2
    return np.sum(y) / x.shape[0] - x.shape[0] / np.sum(1 / y)


@program()
def residual_of_line(y):
    n = y.shape[0]
    t = np.arange(n) * 1.0
    slope = np.sum((t - np.sum(t) / n) * y) / np.sum((t - np.sum(t) / n) ** 2)
    off = np.sum(y) / n - slope * np.sum(t) / n
    return np.sum((y - off - slope * t) ** 2)


# ------------------------------------------------------------------ machine learning
@program(most=1e2)
def log_mean_exp(x):
    return np.log(np.sum(np.exp(x)) / x.shape[0]) - np.sum(x) / x.shape[0]


@program(most=1e2)
def entropy_defect(x):
    p = np.exp(x) / np.sum(np.exp(x))
    return np.log(x.shape[0]) + np.sum(p * np.log(p))


@program(2, most=1e2)
def kl_softmax(x, y):
    p = np.exp(x) / np.sum(np.exp(x))
    q = np.exp(y) / np.sum(np.exp(y))
    return np.sum(p * np.log(p / q))


@program(most=1e2)
def softmax_uniform(x):
    p = np.exp(x) / np.sum(np.exp(x))
    return np.sum((x.shape[0] * p - 1) ** 2)


@program(2, most=1e2)
def cross_entropy_difference(x, y):
    return np.log(np.sum(np.exp(x + y))) - np.log(np.sum(np.exp(x)))


@program(most=1e3)
def logistic_loss(x):
    return np.sum(np.log(1 + np.exp(-x))) - x.shape[0] * np.log(2.0)


@program(2)
def cosine_defect(x, y):
    a, b = 1 + x, 1 + y
    return 1 - np.sum(a * b) / (np.sqrt(np.sum(a**2)) * np.sqrt(np.sum(b**2)))


@program(2)
def cosine_gradient(x, y):
    return np.sum(x * y) / np.sqrt(np.sum(x**2) * np.sum(y**2))


@program()
def layer_norm(x):
    mean = np.sum(x) / x.shape[0]
    var = np.sum((x - mean) ** 2) / x.shape[0]
    y = (x - mean) / np.sqrt(var)
    return np.sum(y**3)


@program(2, most=1e2)
def attention(x, v):
    w = np.exp(x - np.max(x))
    return np.sum(w * v) / np.sum(w) - np.sum(v) / v.shape[0]


@program(most=1e2)
def rnn(x):
    h = 0.0
    for i in range(x.shape[0]):
        h = np.tanh(0.9 * h + x[i])
    return h


@program(most=1e2)
def rnn_minus_linear(x):
    h = 0.0
    g = 0.0
    for i in range(x.shape[0]):
        h = np.tanh(0.5 * h + x[i])
        g = 0.5 * g + x[i]
    return g - h


@program(2)
def dot(x, y):
    return np.sum(x * y)


@program()
def distances(x):
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[0]):
            if i != j:
                total = total + (x[i] - x[j]) ** 2
    return total - 2 * x.shape[0] * np.sum(x**2) + 2 * np.sum(x) ** 2 + np.sum(x**4)


# ----------------------------------------------------------------------- mechanics
@program(most=1e3)
def pendulum_quotient(d):
    return np.sum(1 - np.cos(d)) / np.sum(d**2)


@program(most=1e3)
def free_energy(d):
    return np.log(np.sum(np.exp(-(d**2)))) - np.log(np.sum(np.exp(-2 * d**2)))


@program(2)
def kinetic_difference(x, y):
    return np.sum((1 + x) ** 2) - np.sum((1 + y) ** 2)


@program(most=1e6)
def relativistic(v):
    return np.sum(np.sqrt(1 + v**2)) - v.shape[0]


@program()
def angular_momentum(x):
    total = 0.0
    for i in range(x.shape[0] - 1):
        total = total + (1 + x[i]) * (2 + x[i + 1]) - (1 + x[i + 1]) * (2 + x[i])
    return total


@program(most=1e3)
def verlet_energy(x):
    q = 1.0
    p = 0.0
    for i in range(x.shape[0]):
        p = p - 0.5 * x[i] * q
        q = q + x[i] * p
        p = p - 0.5 * x[i] * q
    return p * p + q * q - 1


@program(2)
def lennard_jones_pair(x, y):
    r2 = 1 + x**2 + y**2
    return np.sum(1 / r2**6 - 2 / r2**3) + x.shape[0]


# ------------------------------------------------------------------------- finance
@program(most=1e3)
def compound(d):
    p = 1.0
    for i in range(d.shape[0]):
        p = p * (1 + d[i])
    return p - 1


@program(most=1e3)
def compound_second_order(d):
    p = 1.0
    for i in range(d.shape[0]):
        p = p * (1 + d[i])
    return p - 1 - np.sum(d)


@program(most=1e3)
def product_defect(d):
    return np.prod(1 + d) - 1 - np.sum(d)


@program(most=1e2)
def bond_spread(r):
    price = 0.0
    for i in range(r.shape[0]):
        price = price + np.exp(-r[i] * (i + 1))
    return price - r.shape[0]


@program()
def ewma_difference(x):
    fast = 1.0
    slow = 1.0
    for i in range(x.shape[0]):
        fast = 0.5 * fast + 0.5 * (1 + x[i])
        slow = 0.9 * slow + 0.1 * (1 + x[i])
    return fast - slow


@program()
def garch(x):
    h = 1.0
    total = 0.0
    for i in range(x.shape[0]):
        h = 0.1 + 0.1 * x[i] ** 2 + 0.8 * h
        total = total + np.log(h) + x[i] ** 2 / h
    return total


@program(2)
def drawdown(x, y):
    best = 0.0
    worst = 0.0
    level = 0.0
    for i in range(x.shape[0]):
        level = level + x[i] - y[i]
        best = np.maximum(best, level)
        worst = np.maximum(worst, best - level)
    return worst


@program(most=1e3)
def kalman(y):
    m = 0.0
    p = 1 + y[0] ** 2
    total = 0.0
    for i in range(y.shape[0]):
        p = p + 0.01
        k = p / (p + 0.1)
        e = 1 + y[i] - m
        total = total + e * e / (p + 0.1)
        m = m + k * e
        p = (1 - k) * p
    return m - 1


# ------------------------------------------------------------------------ geometry
@program()
def norm_difference(d):
    return np.sqrt(np.sum((d + 1) ** 2)) - math.sqrt(d.shape[0])


@program(2)
def norm_difference_of_two(x, y):
    return np.sqrt(np.sum((1 + x) ** 2)) - np.sqrt(np.sum((1 + y) ** 2))


@program()
def polygon_area(x):
    n = x.shape[0]
    total = 0.0
    for i in range(n - 1):
        total = total + x[i] * (1 + x[i + 1]) - x[i + 1] * (1 + x[i])
    return 0.5 * total


@program(2)
def triangle_excess(x, y):
    return np.sqrt(np.sum((1 + x) ** 2)) + np.sqrt(np.sum(y**2)) - np.sqrt(np.sum((1 + x + y) ** 2))


# ------------------------------------------------------------ sums that telescope
@program()
def telescoping(x):
    total = 0.0
    for i in range(x.shape[0] - 1):
        total = total + ((1 + x[i + 1]) ** 2 - (1 + x[i]) ** 2)
    return total


@program()
def alternating(x):
    total = 0.0
    sign = 1.0
    for i in range(x.shape[0]):
        total = total + sign / (1 + x[i] ** 2)
        sign = -sign
    return total


@program(2)
def difference_of_sums(x, y):
    return np.sum(1 + x) - np.sum(1 + y)


@program(most=1e2)
def horner_minus_one(x):
    p = 0.0
    for i in range(x.shape[0]):
        p = p * x[i] + 1.0
    return p - 1.0


# ----------------------------------------------------------------------- measuring
def arguments(name: str, scale: float, size: int) -> list[np.ndarray]:
    """Vectors of a scale, always the same."""
    _, vectors, _, positive = PROGRAMS[name]
    rng = np.random.default_rng(7)
    found = [scale * np.round(rng.uniform(0.2, 1.0, size), 3) for _ in range(vectors)]
    if not positive:
        found = [v * np.sign(rng.uniform(-1, 1, size)) for v in found]
    return found


def exact(a: np.ndarray) -> np.ndarray:
    """An array of balls."""
    made = np.empty(a.shape, object)
    for place, x in np.ndenumerate(a):
        made[place] = arb(float(x))
    return made


def value_of(f: Program, args: list[np.ndarray]) -> Any:
    """The value of the source in balls: literals are the doubles they denote."""
    names = dict(f.__globals__)
    names["math"] = _Balls
    return type(f)(f.__code__, {**names, "np": _Numpy})(*args)


class _Balls:
    @staticmethod
    def sqrt(x: Any) -> Any:
        return arb(x).sqrt()


class _Numpy:
    """What the programs use of NumPy, for arrays of balls."""

    sum, prod, dot, abs = np.sum, np.prod, np.dot, np.abs

    @staticmethod
    def arange(n: int) -> Any:
        return exact(np.arange(n, dtype=float))

    @staticmethod
    def maximum(a: Any, b: Any) -> Any:
        return a if a > b else b

    @staticmethod
    def max(x: Any) -> Any:
        best = x[0]
        for v in x:
            best = v if v > best else best
        return best

    @staticmethod
    def _each(name: str, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            made = np.empty(x.shape, object)
            for place, v in np.ndenumerate(x):
                made[place] = getattr(v, name)()
            return made
        return getattr(arb(x), name)()


for _name in ("exp", "log", "sqrt", "cos", "sin", "tanh"):
    setattr(_Numpy, _name, staticmethod(lambda x, n=_name: _Numpy._each(n, x)))


def truth(name: str, args: list[np.ndarray]) -> tuple[Any, list[tuple[int, int, Any]]]:
    """The value, and derivatives by some elements: (argument, element, derivative)."""
    f = PROGRAMS[name][0]
    ctx.prec = BITS
    balls = [exact(a) for a in args]
    value = value_of(f, balls)
    slopes = []
    for which, a in enumerate(args):
        places = sorted({int(k) for k in np.linspace(0, a.size - 1, CHECKED)})
        for place in places:
            ends = []
            for sign in (1, -1):
                moved = [b.copy() for b in balls]
                step = abs(moved[which][place]) * arb(2) ** -STEP
                moved[which][place] += sign * step
                ends.append(value_of(f, moved))
            slopes.append((which, place, (ends[0] - ends[1]) / (2 * step)))
    return value, slopes


def bits(got: float, exact: Any) -> float:
    """The error in bits: log2 of 1 + the error in ulps, at most 64."""
    ctx.prec = BITS
    rounded = float(exact.mid()) if isinstance(exact, arb) else float(exact)
    if not math.isfinite(got):
        return 0.0 if not math.isfinite(rounded) else 64.0
    if abs(rounded) < 1e-290:  # a truth of zero, and underflow
        return 0.0 if abs(got) < 1e-290 else 64.0
    ulp = math.ulp(rounded)
    return min(64.0, math.log2(1 + float(abs(arb(got) - exact).mid() / arb(ulp))))


class Module:
    """The functions of a generated module at the level "strict", called as those of symdiff are."""

    def __init__(self, name: str, args: list[np.ndarray], folder: Path) -> None:
        f = symdiff.symgrad(PROGRAMS[name][0], accuracy="strict")
        f(*args)
        path = folder / f"array_{name}.py"
        f.save(path)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        self.value, self.grad = getattr(module, name), getattr(module, f"{name}_grad")

    def __call__(self, *args: Any) -> Any:
        return self.value(*args)


def measure(
    name: str, scale: float, size: int, made: dict[str, Any], folder: Path | None = None
) -> dict[str, float]:
    """Errors in bits of one program."""
    f, vectors, _, _ = PROGRAMS[name]
    args = arguments(name, scale, size)
    value, slopes = truth(name, args)
    found: dict[str, float] = {}
    with np.errstate(all="ignore"):
        found["numpy"] = bits(float(f(*args)), value)
    for level in ("high", "fast"):
        if level not in made and level == "high" and folder is not None:
            made[level] = Module(name, args, folder)
        if level not in made:
            made[level] = symdiff.symgrad(f, accuracy=level, verify=False)
        g = made[level]
        how = symdiff.options(validate="off" if level == "fast" else True)
        with how, warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            start = time.perf_counter()
            got, slope = float(g(*args)), g.grad(*args)
            found[f"{level} time"] = time.perf_counter() - start
        slope = slope if vectors > 1 else (slope,)
        found[level] = bits(got, value)
        found[f"{level} gradient"] = max(
            bits(float(slope[which][place]), t) for which, place, t in slopes
        )
        found[f"{level} warned"] = len(told)
    return found


def lost_in_sequences(names: list[str], scales: list[float], calls: int) -> None:
    """Call each program with arguments of scales in any order, and count results that the default has lost: off by more than
    2**-40 of the largest element, or of the number, without a warning."""
    rng = np.random.default_rng(1)
    counted = lost = needed = first = 0
    for name in names:
        f, vectors, largest, _ = PROGRAMS[name]
        fast = symdiff.symgrad(f, accuracy="fast", verify=False)
        high = symdiff.symgrad(f, verify=False)
        for k in range(calls):
            scale = rng.choice([s for s in scales if s <= largest])
            args = [a * rng.uniform(0.5, 2, np.shape(a)) for a in arguments(name, scale, SIZES[0])]
            value, slopes = truth(name, args)
            with np.errstate(all="ignore"), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                off = []
                for g in (fast, high):
                    slope = g.grad(*args)
                    slope = slope if vectors > 1 else (slope,)
                    apart = [abs(float(arb(float(slope[w][p])) - t)) for w, p, t in slopes]
                    size = max(float(np.abs(s).max()) for s in slope)
                    one = abs(float(arb(float(g(*args))) - value)) / max(
                        abs(float(value.mid())), 1e-290
                    )
                    off.append(max(one, max(apart) / max(size, 1e-290)))
            counted += 1
            needed += not off[0] <= 2.0**-40
            if not off[1] <= 2.0**-40 and not told:
                lost += 1
                first += k < 2
                print(f"{name:26} call {k + 1}, scale {scale:g}: off by {off[1]:.0e}", flush=True)
    print(
        f"{counted} calls, {needed} of which lose digits in doubles; {lost} lost in silence, {first} in first two calls"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--scales", type=float, nargs="*", default=SCALES)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--modules", type=Path, metavar="FOLDER")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--calls", type=int, help="calls in a row, with scales in any order")
    options = parser.parse_args()
    if options.calls:
        return lost_in_sequences(options.only[:: options.sample], options.scales, options.calls)
    every: dict[str, list[float]] = {}
    for size in options.sizes:
        print(f"vectors of {size} elements; bits wrong: value/gradient, w: with a warning")
        print(f"{'':26}" + "".join(f"{s:>12g}" for s in options.scales))
        for name in options.only[:: options.sample]:
            made: dict[str, Any] = {}
            rows: dict[str, list[str]] = {"symdiff": [], "plain": []}
            for scale in options.scales:
                if scale > PROGRAMS[name][2]:
                    for r in rows.values():
                        r.append(f"{'':12}")
                    continue
                m = measure(name, scale, size, made, options.modules)
                for key, v in m.items():
                    every.setdefault(key, []).append(v)
                mark = "w" if m["high warned"] else " "
                text = f"{m['high']:.1f}/{m['high gradient']:.1f}{mark}"
                rows["symdiff"].append(f"{text:>12}")
                text = f"{m['numpy']:.0f}/{m['fast gradient']:.0f} "
                rows["plain"].append(f"{text:>12}")
            print(f"{name:26}" + "".join(rows["symdiff"]), flush=True)
            print(f"{'  plain':26}" + "".join(rows["plain"]), flush=True)
    print()
    for key in ("numpy", "fast gradient", "high", "high gradient"):
        v = every[key]
        print(
            f"{key:16} worst {max(v):5.1f}  mean {np.mean(v):5.2f}  above 5 bits {sum(x > 5 for x in v)} of {len(v)}"
        )
    silent = sum(
        max(a, b) > 5 and not w
        for a, b, w in zip(every["high"], every["high gradient"], every["high warned"], strict=True)
    )
    print(
        f"more than 5 bits wrong without a warning: {silent}; warnings: {sum(map(bool, every['high warned']))}"
    )


if __name__ == "__main__":
    main()
