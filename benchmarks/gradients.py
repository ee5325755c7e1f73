"""What a gradient costs over its function, and a Hessian over the gradient, in cache.

    python benchmarks/gradients.py [--accuracy high]

Arrays of 2048 elements on one thread; the functions of `workloads.py`, and all they are
asked for (Greeks, Jacobians) over the value alone.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from throughput import inputs, ours
from timing import clock, geometric_mean, race
from workloads import WORKLOADS, Workload

from symdiff import symgrad

SIZE = 2048


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


def costs(rounds: int = 40, **options: Any) -> Iterator[Cost]:
    for work in WORKLOADS:
        f = symgrad(work.fun, wrt=work.by, parallel=False, **options)
        arrays = inputs(work, SIZE)
        clocks = {
            "value": clock(f, *arrays, repeat=5),
            "all": clock(ours(work, parallel=False, **options), *arrays, repeat=5),
        }
        if work.outputs == 1:
            clocks["hessian"] = clock(f.hessian, *arrays, repeat=5)
        found = race(clocks, rounds)
        per = {k: t / SIZE * 1e9 for k, t in found.items()}
        yield Cost(work, per["value"], per["all"], per.get("hessian", float("nan")))


def main() -> None:
    parser = argparse.ArgumentParser(description="Costs of gradients and Hessians.")
    parser.add_argument("--accuracy", default="high")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| function | value, ns | with derivatives | over the value | Hessian over that | n + 1 |\n"
        "|---|---|---|---|---|---|"
    )
    found = []
    for c in costs(accuracy=options.accuracy):
        found.append(c.gradient_ratio)
        cells = [f"{c.value:.2f}", f"{c.all:.2f}", f"{c.gradient_ratio:.2f}x"]
        cells += [f"{c.hessian_ratio:.2f}x", str(len(c.work.by) + 1)]
        print(f"| {c.work.name} | {' | '.join(cells)} |", flush=True)
    print(f"| geometric mean | | | {geometric_mean(found):.2f}x | | |")


if __name__ == "__main__":
    main()
