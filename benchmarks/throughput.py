"""Elementwise value and gradient on large arrays, beside kernels written by hand.

    python benchmarks/throughput.py [--size 2000000] [--accuracy high]

For each function the same run times, on one thread where not said otherwise:

- symdiff's `value_and_grad`;
- NumPy, value and gradient written by hand with common subexpressions shared;
- C, the same by hand in one loop, compiled with `gcc -O3 -march=native`, and with
  `-ffast-math` (which calls glibc's vector library), where gcc is there.

The table gives nanoseconds per element of symdiff and the time of the others over it.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from symdiff import symgrad

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Workload:
    """A function, its hand-written twins, and the ranges of its inputs."""

    name: str
    fun: Callable[..., float]
    ranges: tuple[tuple[float, float], ...]
    numpy: Callable[..., Arrays]
    c: str
    """Statements that read x, y, ... and write f and d0, d1, ..."""


def rosenbrock(x, y):
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def rosenbrock_numpy(x, y):
    a, b = 1 - x, y - x * x
    return a * a + 100 * (b * b), -2 * a - 400 * (x * b), 200 * b


def softplus(x):
    return math.log(1 + math.exp(x))


def softplus_numpy(x):
    e = np.exp(x)
    d = 1 + e
    return np.log(d), e / d


def lennard_jones(x, y, z):
    s6 = (0.81 / (x * x + y * y + z * z)) ** 3
    return 5.2 * (s6 * s6 - s6)


def lennard_jones_numpy(x, y, z):
    r = 1 / (x * x + y * y + z * z)
    u = 0.81 * r
    s6 = u * u * u
    k = -31.2 * (2 * s6 * s6 - s6) * r
    return 5.2 * (s6 * s6 - s6), k * x, k * y, k * z


def morse(x, y, z):
    e = math.exp(-1.7 * (math.sqrt(x * x + y * y + z * z) - 1.1))
    return 2.3 * (1 - e) ** 2


def morse_numpy(x, y, z):
    r = np.sqrt(x * x + y * y + z * z)
    e = np.exp(-1.7 * (r - 1.1))
    w = 1 - e
    k = 7.82 * w * e / r
    return 2.3 * w * w, k * x, k * y, k * z


def gauss(x, mu, s):
    u = (x - mu) / s
    return -u * u / 2 - math.log(s)


def gauss_numpy(x, mu, s):
    i = 1 / s
    u = (x - mu) * i
    d = u * i
    return -0.5 * (u * u) - np.log(s), -d, d, (u * u - 1) * i


WORKLOADS = (
    Workload(
        "rosenbrock", rosenbrock, ((-2, 2), (-2, 2)), rosenbrock_numpy,
        "double a = 1 - x, b = y - x*x; f = a*a + 100*(b*b); d0 = -2*a - 400*(x*b); d1 = 200*b;",
    ),
    Workload(
        "softplus", softplus, ((-20, 20),), softplus_numpy,
        "double e = exp(x), d = 1 + e; f = log(d); d0 = e/d;",
    ),
    Workload(
        "lennard_jones", lennard_jones, ((0.8, 2),) * 3, lennard_jones_numpy,
        "double r = 1/(x*x + y*y + z*z), u = 0.81*r, s = u*u*u, k = -31.2*(2*s*s - s)*r;"
        "f = 5.2*(s*s - s); d0 = k*x; d1 = k*y; d2 = k*z;",
    ),
    Workload(
        "morse", morse, ((0.5, 2),) * 3, morse_numpy,
        "double r = sqrt(x*x + y*y + z*z), e = exp(-1.7*(r - 1.1)), w = 1 - e, k = 7.82*w*e/r;"
        "f = 2.3*w*w; d0 = k*x; d1 = k*y; d2 = k*z;",
    ),
    Workload(
        "gauss", gauss, ((-3, 3), (-1, 1), (0.5, 2)), gauss_numpy,
        "double i = 1/z, u = (x - y)*i, d = u*i; f = -0.5*(u*u) - log(z);"
        "d0 = -d; d1 = d; d2 = (u*u - 1)*i;",
    ),
)  # fmt: skip


def compiled(work: Workload, folder: Path, *flags: str) -> Callable[..., Arrays] | None:
    """The C loop as a function of arrays; None without gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    count = len(work.ranges)
    ins, outs = "xyz"[:count], ["f", *(f"d{i}" for i in range(count))]
    arguments = [f"const double *restrict p_{v}" for v in ins]
    arguments += [f"double *restrict p_{v}" for v in outs]
    reads = "".join(f"double {v} = p_{v}[i_]; " for v in ins)
    writes = "".join(f"p_{v}[i_] = {v}; " for v in outs)
    source, library = folder / "kernel.c", folder / f"kernel{'_'.join(flags)}.so"
    source.write_text(
        f"#include <math.h>\nvoid kernel(long n_, {', '.join(arguments)}) {{\n"
        f"for (long i_ = 0; i_ < n_; i_++) {{ {reads}double {', '.join(outs)};\n{work.c}\n{writes}}}}}\n"
    )
    command = [
        gcc,
        "-O3",
        "-march=native",
        *flags,
        "-shared",
        "-fPIC",
        "-o",
        library,
        source,
        "-lm",
    ]
    subprocess.run(command, check=True)
    kernel = ctypes.CDLL(str(library)).kernel

    def call(*arrays: np.ndarray, out: Arrays) -> Arrays:
        pointers = (ctypes.c_void_p(a.ctypes.data) for a in (*arrays, *out))
        kernel(ctypes.c_long(arrays[0].size), *pointers)
        return out

    return call


def best(function: Callable[..., object], *args: np.ndarray, **options: object) -> float:
    """The shortest of five times, in seconds, after one call to warm up."""
    function(*args, **options)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        function(*args, **options)
        times.append(time.perf_counter() - start)
    return min(times)


def check(work: Workload, found: Arrays, expected: Arrays) -> None:
    """Both compute the same thing, up to what the plain formula loses."""
    for a, b in zip(found, expected, strict=True):
        assert np.allclose(a, b, rtol=1e-6, atol=1e-9), work.name
        a[:] = 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Elementwise value and gradient.")
    parser.add_argument("--size", type=int, default=2_000_000)
    parser.add_argument("--accuracy", default="high")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    print(
        "| function | symdiff, ns | all cores | NumPy | C | C, fast-math |\n|---|---|---|---|---|---|"
    )
    for work in WORKLOADS:
        arrays = [rng.uniform(a, b, options.size) for a, b in work.ranges]
        results = [np.empty(options.size) for _ in range(len(arrays) + 1)]
        slopes = tuple(results[1:]) if len(arrays) > 1 else results[1]
        ours = {
            cores: symgrad(work.fun, accuracy=options.accuracy, parallel=cores).value_and_grad
            for cores in (False, True)
        }
        one, all_cores = (best(f, *arrays, out=(results[0], slopes)) for f in ours.values())
        expected = work.numpy(*arrays)
        check(work, results, expected)
        others = [best(work.numpy, *arrays)]
        with tempfile.TemporaryDirectory() as folder:
            for flags in ((), ("-ffast-math",)):
                kernel = compiled(work, Path(folder), *flags)
                if kernel is None:
                    others.append(math.nan)
                    continue
                others.append(best(kernel, *arrays, out=results))
                check(work, results, expected)
        cells = [f"{one / options.size * 1e9:.2f}", f"{all_cores / options.size * 1e9:.2f}"]
        cells += [f"{t / one:.2f}x" for t in others]
        print(f"| {work.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
