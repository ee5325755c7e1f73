"""Gradients through discrete Fourier transforms, beside the values in NumPy.

    python benchmarks/transforms.py [--rounds 15]

Microseconds of processor time in turn, the least of each: the function in plain Python with NumPy, and its gradient;
the first call in seconds; errors relative to the largest slope, against adjoints that NumPy computes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import clock, race

from symdiff import symgrad

Array = Any


def half(x: Array) -> Any:
    return np.sum(np.abs(np.fft.rfft(x)) ** 2 * np.arange(x.shape[0] // 2 + 1))


def half_slopes(x: Array) -> Array:
    w = 2 * np.arange(len(x) // 2 + 1) * np.fft.rfft(x)
    return np.real(np.fft.fft(np.conj(w), len(x)))


def whole(x: Array) -> Any:
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(x.shape[0]))


def whole_slopes(x: Array) -> Array:
    w = 2 * np.arange(len(x)) * np.fft.fft(x)
    return np.real(np.fft.fft(np.conj(w)))


def plane(x: Array) -> Any:
    return np.sum(np.abs(np.fft.fft2(x)) ** 2 * np.arange(x.shape[1]))


def plane_slopes(x: Array) -> Array:
    w = 2 * np.arange(x.shape[1]) * np.fft.fft2(x)
    return np.real(np.fft.fft2(np.conj(w)))


def filtered(x: Array) -> Any:
    z = np.fft.rfft(x)
    return np.sum(np.fft.irfft(z * np.arange(z.shape[0]), x.shape[0]) ** 2)


def filtered_slopes(x: Array) -> Array:
    k = np.arange(len(x) // 2 + 1)
    return 2 * np.fft.irfft(k * k * np.fft.rfft(x), len(x))


CASES: list[tuple[Callable[[Array], Any], Callable[[Array], Array], tuple[int, ...]]] = [
    *((half, half_slopes, (n,)) for n in (64, 4096, 4099, 2**18)),
    *((whole, whole_slopes, (n,)) for n in (4096, 2**18)),
    *((plane, plane_slopes, shape) for shape in ((64, 64), (512, 512))),
    (filtered, filtered_slopes, (4096,)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print("| function | shape | first, s | NumPy's value, us | gradient, us | ratio | error |")
    print("|---|---|---|---|---|---|---|")
    for f, slopes, shape in CASES:
        x = np.random.default_rng(0).normal(size=shape)
        g = symgrad(f, cache=False).grad
        start = time.process_time()
        found = g(x)
        first = time.process_time() - start
        expected = slopes(x)
        error = np.max(np.abs(found - expected)) / np.max(np.abs(expected))
        repeat = max(1, 20_000 // x.size)
        best = race(
            {"NumPy": clock(f, x, repeat=repeat), "gradient": clock(g, x, repeat=repeat)},
            options.rounds,
        )
        value, slope = (1e6 * best[name] for name in ("NumPy", "gradient"))
        size = " x ".join(map(str, shape))
        print(f"| {f.__name__} | {size} | {first:.1f} | {value:.1f} | {slope:.1f} | {slope / value:.1f} | {error:.1e} |")  # fmt: skip


if __name__ == "__main__":
    main()
