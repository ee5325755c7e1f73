"""What a gradient costs over its function, and a Hessian over the gradient, in cache.

    python benchmarks/gradients.py

Kernels of `accuracy="fast"` on small arrays that begin at cache lines, on one thread, called
directly: no element is computed twice. The functions of `workloads.py`, and all they are asked for
(Greeks, Jacobians) over the value alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from throughput import inputs, ours
from timing import clock, geometric_mean, race
from workloads import WORKLOADS, Workload

from symdiff import symgrad

BYTES = 300_000
"""Of all arrays of a call together."""


@dataclass(frozen=True)
class Cost:
    """Nanoseconds per element: of the value, with all derivatives, and of the Hessian."""

    work: Workload
    value: float
    all: float
    hessian: float

    @property
    def gradient_ratio(self) -> float:
        return self.all / self.value

    @property
    def hessian_ratio(self) -> float:
        """Over value and gradient; nan for a function of several values."""
        return self.hessian / self.all


def kernel(function: Any) -> Any:
    """The builtin that runs the compiled code of a function on arrays, however large."""
    return function._compiled({})[1].kernel.body("float64").entry(1 << 30, 1 << 30).call


def placed(size: int) -> np.ndarray:
    """An array that begins at a cache line."""
    memory = np.empty(size + 8)
    first = -memory.ctypes.data % 64 // 8
    return memory[first : first + size]


def slopes(functions: dict[str, Any], work: Workload, rounds: int) -> dict[str, float]:
    """Nanoseconds per element, without what a call costs and the making of its arrays: by
    the difference of two sizes, for which all arrays are in the second-level cache."""
    clocks, sizes = {}, {}
    for name, (function, results) in functions.items():
        size = min(4096, BYTES // (8 * (len(work.params) + results)) // 64 * 64)
        arrays = [placed(size) for _ in range(len(work.params) + results)]
        for a, given in zip(arrays, inputs(work, size), strict=False):
            a[:] = given
        call = kernel(function)
        clocks[name] = clock(call, *arrays, repeat=5)
        clocks[f"half {name}"] = clock(call, *(a[: size // 2] for a in arrays), repeat=5)
        sizes[name] = size
    found = race(clocks, rounds)
    return {n: (found[n] - found[f"half {n}"]) / (s - s // 2) * 1e9 for n, s in sizes.items()}


def costs(rounds: int = 60) -> Iterator[Cost]:
    options: dict[str, Any] = {"accuracy": "fast", "parallel": False}
    for work in WORKLOADS:
        f = symgrad(work.fun, wrt=work.by, **options)
        functions = {"value": (f, work.outputs), "all": (ours(work, **options), work.results)}
        if work.outputs == 1:
            functions["hessian"] = f.hessian, len(work.by) ** 2
        per = slopes(functions, work, rounds)
        yield Cost(work, per["value"], per["all"], per.get("hessian", float("nan")))


def main() -> None:
    warnings.simplefilter("ignore")
    print(
        "| function | value, ns | with derivatives | over the value | Hessian over that | n + 1 |\n"
        "|---|---|---|---|---|---|"
    )
    found = []
    for c in costs():
        found.append(c.gradient_ratio)
        cells = [f"{c.value:.2f}", f"{c.all:.2f}", f"{c.gradient_ratio:.2f}x"]
        cells += [f"{c.hessian_ratio:.2f}x", str(len(c.work.by) + 1)]
        print(f"| {c.work.name} | {' | '.join(cells)} |", flush=True)
    print(f"| geometric mean | | | {geometric_mean(found):.2f}x | | |")


if __name__ == "__main__":
    main()
