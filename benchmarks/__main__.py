"""Every figure of speed with its bound, in one table.

    python benchmarks [--quick] [--only throughput,latency,compile,start,gradients]

`--quick` takes smaller arrays and fewer turns. The scripts beside this one print the
details; figures whose peer is not installed are left out. Accuracy, arrays and CUDA have
scripts of their own.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import gradients
import latency
import throughput
from peers import Jax
from timing import geometric_mean


@dataclass(frozen=True)
class Figure:
    """What was measured, and the bound it is held to; `least` if more is better."""

    what: str
    measured: float
    bound: float
    unit: str = "x"
    least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.bound if self.least else self.measured <= self.bound

    def line(self) -> str:
        sign = "at least" if self.least else "at most"
        bound = f"{sign} {self.bound:g} {self.unit}"
        return f"| {self.what} | {self.measured:.3g} | {bound} | {'yes' if self.met else 'no'} |"


def of_throughput(quick: bool) -> Iterator[Figure]:
    size, rounds = (1_000_000, 4) if quick else (4_000_000, 9)
    found = list(throughput.results(size, rounds))

    def mean(one: str, other: str) -> float:
        return geometric_mean(r.ratio(one, other) for r in found)

    yield Figure("throughput: JAX over symdiff, mean of 12", mean("JAX", "symdiff"), 9, least=True)
    yield Figure('throughput: JAX over "fast", mean of 12', mean("JAX", "fast"), 9, least=True)
    yield Figure("throughput: JAX over C by hand, mean of 12", mean("JAX", "C"), 0, least=True)
    yield Figure('throughput: "fast" over C by hand, mean of 12', mean("fast", "C"), 1.05)
    yield Figure("throughput: symdiff over C by hand, mean of 12", mean("symdiff", "C"), 1.25)
    bound = [r for r in found if r.near_memory]
    free = [r for r in found if not r.near_memory]
    if bound:
        worst = max(r.seconds["fast"] / r.memory for r in bound)
        names = ", ".join(r.work.name for r in bound)
        yield Figure(f'throughput: "fast" over what memory takes, worst of {names}', worst, 1.2)
    if free:
        least = min(r.ratio("one", "two") for r in free)
        yield Figure("throughput: two threads, least of the others", least, 1.6, least=True)
    single = max(r.instructions[1] for r in found)
    yield Figure("throughput: scalar instructions in a kernel", single, 0, "")


def of_calls(quick: bool) -> Iterator[Figure]:
    for name, seconds in latency.call_times():
        if name != "math.sin":
            yield Figure(f"one call: {name}", seconds * 1e9, 1500, "ns")
    jax = Jax.start()
    over = latency.overheads(jax)
    if jax is not None:
        jax.stop()
        ratio = over["JAX"] / over["symdiff"]
        yield Figure("a call on small arrays: JAX over symdiff", ratio, 20, least=True)
        ratio = over["JAX, a function of a vector"] / over["a function of a vector"]
        yield Figure("a function of a small vector: JAX over symdiff", ratio, 20, least=True)


def of_compiling(quick: bool) -> Iterator[Figure]:
    bounds = {100: 0.15, 1000: 0.3, 10_000: 3.0}
    for family, operations, found in latency.compile_times(1000 if quick else 10_000, None, False):
        what = f"first value and gradient, {family}, {operations} operations"
        yield Figure(what, found["first"], bounds[operations], "s")


def of_starting(quick: bool) -> Iterator[Figure]:
    seconds = latency.warm_start(3 if quick else 7)["seconds"]
    for name, taken in seconds.items():
        if name != "bare":
            yield Figure(f"start, {name} on disk, over NumPy's", taken - seconds["bare"], 0.25, "s")


def of_gradients(quick: bool) -> Iterator[Figure]:
    found = list(gradients.costs(10 if quick else 40))
    worst = max(found, key=lambda c: c.gradient_ratio)
    yield Figure(f"gradient over value, worst ({worst.work.name})", worst.gradient_ratio, 2.3)
    mean = geometric_mean(c.gradient_ratio for c in found)
    yield Figure("gradient over value, mean of 12", mean, 2)
    scaled = [
        (c.hessian_ratio / (len(c.work.by) + 1), c)
        for c in found
        if not math.isnan(c.hessian_ratio)
    ]
    ratio, cost = max(scaled, key=lambda item: item[0])
    yield Figure(f"Hessian over (n + 1) gradients, worst ({cost.work.name})", ratio, 1)


PARTS: dict[str, Callable[[bool], Iterator[Figure]]] = {
    "throughput": of_throughput,
    "latency": of_calls,
    "compile": of_compiling,
    "start": of_starting,
    "gradients": of_gradients,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description="Figures and their bounds.")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("Processor times, but for threads.\n")
    print("| figure | measured | bound | met |\n|---|---|---|---|")
    for part in options.only.split(","):
        for figure in PARTS[part](options.quick):
            if not math.isnan(figure.measured):
                print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
