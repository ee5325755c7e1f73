"""Peak memory and time of gradients of long recurrences, with and without checkpoints.

    python benchmarks/memory.py

Each case runs in a process of its own. Growth is that of the peak resident memory in the
call, less the gradient that it returns; the tape is what the simplified derivative saves
if every step is saved.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import symgrad

MIB = 2**20
ROUNDS = 5


def ewma(d):
    e = 0.0
    for i in range(len(d)):
        e = 0.5 * d[i] + 0.5 * e
    return e


def blending(d):
    e = 0.0
    for i in range(len(d)):
        e = (1 - e) * d[i] + e
    return e**2


def sines(d):
    e = 0.1
    for i in range(len(d)):
        e = np.sin(e) + d[i] * e
    return e


def rnn(W, U, x):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h = np.tanh(W @ h + U * x[t])
    return np.sum(h)


def series(n: int) -> tuple[Any, ...]:
    return (0.1 * np.random.default_rng(0).random(n),)


def network(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return 0.3 * rng.normal(size=(16, 16)), rng.normal(size=16), rng.normal(size=n)


CASES: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]], int, float, Any]] = [
    (ewma, series, 10**6, 0, None),
    (blending, series, 10**6, 8, None),
    (rnn, network, 10**5, 128, None),
    (rnn, network, 10**5, 128, "revolve"),
    (sines, series, 10**7, 8, None),
    (sines, series, 10**7, 8, 1_000_000),
]
"""Function, arguments, steps, bytes that a step saves, checkpoint."""


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB


def shortest(run: Callable[[], Any]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(case: int, results: Any) -> None:
    fun, make, steps, _, checkpoint = CASES[case]
    f = symgrad(fun, checkpoint=checkpoint)
    small, args = make(10), make(steps)
    f(*small), f.grad(*small)  # compiled
    before = peak()
    slopes = f.grad(*args)
    growth = peak() - before
    returned = sum(
        np.asarray(s).nbytes for s in (slopes if isinstance(slopes, tuple) else (slopes,))
    )
    value, gradient = shortest(lambda: f(*args)), shortest(lambda: f.grad(*args))
    results.put((growth - returned / MIB, value, gradient))


def main() -> None:
    context = multiprocessing.get_context("spawn")
    print(f"{'':10}{'steps':>10}{'checkpoint':>12}{'tape, MiB':>11}{'growth, MiB':>13}"
          f"{'value, ms':>11}{'gradient, ms':>14}{'ratio':>7}")  # fmt: skip
    for case, (fun, _, steps, saved, checkpoint) in enumerate(CASES):
        results = context.Queue()
        process = context.Process(target=measure, args=(case, results))
        process.start()
        growth, value, gradient = results.get()
        process.join()
        print(f"{fun.__name__:10}{steps:>10}{checkpoint!s:>12}{saved * steps / MIB:>11.1f}"
              f"{growth:>13.1f}{1e3 * value:>11.1f}{1e3 * gradient:>14.1f}"
              f"{gradient / value:>7.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
