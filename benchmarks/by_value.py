"""Runs by values, with plain Python: microseconds of a call, and what an operation costs.

    python benchmarks/by_value.py [NAME ...]

Programs are those of tests/by_value/programs.py, at their last arguments, and a queue of 10,000 events. `run` is the first call of the value, which is
recorded and compared with plain Python. `gradient` is that and the sweep in reverse. Both are the least of `ROUNDS`,
each of a new function, so no path recurs. `memory` is the peak that `tracemalloc` sees in a call of the gradient, for each operation.
`later` is the mean of calls at the same arguments after `BEFORE` others, when the path that recurs is compiled if it is
short enough (`paths`).
"""

from __future__ import annotations

import functools
import heapq
import re
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from symdiff import symgrad
from tests.by_value.programs import PROGRAMS

ROUNDS, BEFORE, CALLS = 5, 100, 20


def queue(gap, work, jobs):
    """A queue of events before one server."""
    events, free, waited = [], 0.0, 0.0
    for k in range(jobs):
        heapq.heappush(events, (gap * k, k))
    while events:
        at, k = heapq.heappop(events)
        begin = max(at, free)
        waited, free = waited + (begin - at) / (k + 1), begin + work
    return waited


LARGE = {queue: [(1.0, 1.5, 10_000)]}


def microseconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return 1e6 * (time.perf_counter() - start)


def least(make: Callable[[], Callable[[], Any]]) -> float:
    return min(microseconds(make()) for _ in range(ROUNDS))


def new(f: Callable[..., Any]) -> Any:
    return symgrad(f, by_value=True)


def found(pattern: str, text: str) -> int:
    """A number of the report."""
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def measure(f: Callable[..., Any], args: tuple[Any, ...]) -> dict[str, float]:
    new(f).grad(*args)  # modules are imported
    run = new(f)
    tracemalloc.start()
    run.grad(*args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    operations = found(r"(\d+) operations", str(run.report()))
    for _ in range(BEFORE):
        run.grad(*args)
    later = microseconds(lambda: [run.grad(*args) for _ in range(CALLS)]) / CALLS
    value = least(lambda: functools.partial(new(f), *args))
    gradient = least(lambda: functools.partial(new(f).grad, *args))
    return {
        "operations": operations,
        "plain": least(lambda: lambda: f(*args)),
        "run": value,
        "gradient": gradient,
        "us an operation": gradient / max(operations, 1),
        "memory": peak / max(operations, 1),
        "later": later,
        "paths": found(r"(\d+) paths? compiled", str(run.report())),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    head = ["operations", "plain", "run", "gradient", "us an operation", "memory", "later", "paths"]
    print(f"{'':18}" + "".join(f"{h:>16}" for h in head))
    for f, calls in {**PROGRAMS, **LARGE}.items():
        if not sys.argv[1:] or f.__name__ in sys.argv[1:]:
            row = measure(f, calls[-1])
            print(f"{f.__name__:18}" + "".join(f"{row[h]:16.4g}" for h in head), flush=True)


if __name__ == "__main__":
    main()
