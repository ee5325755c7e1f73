"""Competitors timed in turns, so that what else the machine does hits all of them alike.

What runs on one thread is timed by the processor's time of that thread, which does not run
while others are served.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping

Clock = Callable[[], float]
"""Runs once, and returns the seconds that took."""


def clock(
    function: Callable[..., object],
    *args: object,
    repeat: int = 1,
    timer: Clock = time.thread_time,
) -> Clock:
    """The time of one call in this process, the mean of `repeat` calls in a row."""

    def once() -> float:
        start = timer()
        for _ in range(repeat):
            function(*args)
        return (timer() - start) / repeat

    return once


def children() -> float:
    """Processor seconds of the processes that this one has waited for."""
    used = os.times()
    return used.children_user + used.children_system


def race(clocks: Mapping[str, Clock], rounds: int = 9) -> dict[str, float]:
    """The shortest time of each, in seconds, after one turn to warm up."""
    for run in clocks.values():
        run()
    best = dict.fromkeys(clocks, math.inf)
    for _ in range(rounds):
        for name, run in clocks.items():
            best[name] = min(best[name], run())
    return best


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive numbers; nan if there are none."""
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan
