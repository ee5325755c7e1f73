"""Peak memory and time of gradients of long recurrences, beside adjoints by hand.

    python benchmarks/memory.py [--rounds 5]

Growth is that of the peak resident memory in the first call of this length, less the
gradient that it returns; each in a process of its own. "saved" is what the simplified
derivative saves if it saves every step. Times are processor times, taken in turns.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable
from typing import Any

import numpy as np
from recurrences import RECURRENCES
from timing import clock, race

from symdiff import symgrad

MIB = 2**20

CASES: list[tuple[str, Any]] = [
    ("ewma", None),
    ("blending", None),
    ("sines", None),
    ("rnn", None),
    ("rnn", "revolve"),
    ("damped", None),
    ("damped", 1_000_000),
]
"""Recurrence, checkpoint."""


def peak() -> float:
    """MiB that this process had at most; `getrusage` would count those of its parent."""
    with open("/proc/self/status") as status:
        line = next(text for text in status if text.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / MIB


def growth(name: str, checkpoint: Any, by_hand: bool, results: Any) -> None:
    """MiB that the first long call takes."""
    case = RECURRENCES[name]
    f = symgrad(case.fun, wrt=case.wrt, checkpoint=checkpoint)
    gradient: Callable[..., Any] = case.gradient if by_hand else f.grad
    small, args = case.make(10), case.make(case.steps)
    gradient(*small)  # compiled
    before = peak()
    slopes = gradient(*args)
    grown = peak() - before
    parts = slopes if isinstance(slopes, tuple) else (slopes,)
    results.put(grown - sum(np.asarray(s).nbytes for s in parts) / MIB)


def apart(*args: Any) -> float:
    """Growth, in a process of its own."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=growth, args=(*args, results))
    process.start()
    found: float = results.get()
    process.join()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'':10}{'steps':>10}{'checkpoint':>12}{'saved, MiB':>12}{'growth':>8}{'by hand':>9}"
          f"{'gradient/value':>16}{'by hand':>9}{'gradient/by hand':>18}")  # fmt: skip
    for name, checkpoint in CASES:
        case = RECURRENCES[name]
        f = symgrad(case.fun, wrt=case.wrt, checkpoint=checkpoint)
        args = case.make(case.steps)
        competitors = {
            "value": f, "gradient": f.grad,
            "value by hand": case.value, "gradient by hand": case.gradient,
        }  # fmt: skip
        t = race({k: clock(c, *args) for k, c in competitors.items()}, options.rounds)
        grown = [max(apart(name, checkpoint, by_hand), 0.0) for by_hand in (False, True)]
        print(f"{name:10}{case.steps:>10}{checkpoint!s:>12}{case.saved * case.steps / MIB:>12.1f}"
              f"{grown[0]:>8.1f}{grown[1]:>9.1f}{t['gradient'] / t['value']:>16.2f}"
              f"{t['gradient by hand'] / t['value by hand']:>9.2f}"
              f"{t['gradient'] / t['gradient by hand']:>18.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
