"""Gradients of an objective over more elements than fit in memory, in blocks, on one worker and on two.

    python benchmarks/blocks.py [--elements 1e9] [--block 1.6e7] [--memory 1GiB] [--workers 1 2]

The objective is a loss of logistic regression with one feature, summed over x, whose gradients
are by its two parameters (which all blocks share, and which are added by a tree) and by all elements
of x (an array in the same blocks, of which the largest slope is taken). Each worker is a process with one
thread and `--memory` for itself; x is made block by block. Of each run the wall time, the processors' time
of all workers, the largest memory of a worker, and what the same blocks cost in one process without a
scheduler.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from typing import Any

import dask
import dask.array as da
import numpy as np

from symdiff import symgrad
from symdiff.interop.dask import summed

SLOPE, START = 0.75, -1.5


def loss(x: Any, slope: Any, start: Any) -> Any:
    return np.sum(np.logaddexp(0.0, slope * x + start))


def block(first: int, last: int) -> Any:
    """Elements between 0 and 10, made without a generator of random numbers."""
    return np.arange(first, last) * 0.6180339887498949 % 1.0 * 10.0


def lazy(elements: int, size: int) -> Any:
    def made(block_info: Any = None) -> Any:
        return block(*block_info[None]["array-location"][0])

    chunks = da.core.normalize_chunks(size, (elements,), dtype=float)
    return da.map_blocks(made, chunks=chunks, dtype=float, meta=np.empty(0))


def used() -> tuple[float, float]:
    """Seconds of the processor, and the most memory so far in GiB."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def run(workers: int, elements: int, size: int, memory: str) -> None:
    import distributed

    total = summed(symgrad(loss))
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, memory_limit=memory,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        small = total.grad(lazy(4 * size // 100, size // 100), SLOPE, START)
        dask.compute(small)  # compiled, or read from disk, in each
        client.run(total._f.grad, block(0, 100), SLOPE, START)
        before = client.run(used)
        started = time.perf_counter()
        value, (slopes, *shared) = total.value_and_grad(lazy(elements, size), SLOPE, START)
        found = dask.compute(value, abs(slopes).max(), *shared)
        wall = time.perf_counter() - started
        after = client.run(used)
    cpu = sum(after[k][0] - before[k][0] for k in after)
    most = max(m for _, m in after.values())
    print(
        f"| {workers} | {wall:.1f} | {cpu:.1f} | {most:.2f} | {', '.join(f'{v:.15g}' for v in found)} |"
    )


def alone(elements: int, size: int) -> None:
    """The same blocks, a tenth of them, in this process."""
    f = symgrad(loss, parallel=False)
    f.value_and_grad(block(0, 100), SLOPE, START)
    count = max(1, elements // size // 10)
    made = computed = 0.0
    for k in range(count):
        a = time.process_time()
        x = block(k * size, (k + 1) * size)
        b = time.process_time()
        f.value_and_grad(x, SLOPE, START)
        made, computed = made + b - a, computed + time.process_time() - b
    per = 1e9 / (count * size)
    print(
        f"one process: {made * per:.2f} ns an element to make x, {computed * per:.2f} for value and gradients"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=float, default=1e9)
    parser.add_argument("--block", type=float, default=1.6e7)
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    elements, size = int(options.elements), int(options.block)
    print(
        f"{elements:,} elements ({elements * 8 / 2**30:.1f} GiB) in blocks of {size:,}, load {os.getloadavg()[0]:.1f}"
    )
    alone(elements, size)
    print(
        "| workers | seconds | seconds of processors | GiB of the largest | value, largest slope, by parameters |"
    )
    print("|---|---|---|---|---|")
    for workers in options.workers:
        run(workers, elements, size, options.memory)


if __name__ == "__main__":
    main()
