"""What a call inside of `@njit` costs, beside the same formula written by hand in the same loop.

    python benchmarks/inlined.py [--size 20000] [--rounds 15] [--only chain,morse]

Value and gradient (of several values: the values) of the twelve functions of `workloads.py`, in a loop
over arrays that Numba compiles. "by hand" is the formula as Python text in that loop; "fast" and
"high" are calls of symdiff's functions with that accuracy. Processor time, in turn, the least of
each. Then the time to compile each loop for the first time, nothing on disk.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from workloads import WORKLOADS, Workload

from symdiff import symgrad


def function_of(work: Workload, accuracy: str) -> Any:
    """What is called in the loop."""
    f = symgrad(work.fun, accuracy=accuracy, cache=False)
    return f if work.outputs > 1 else f.value_and_grad


def loop(work: Workload, call: Any, count: int, flat: bool) -> Callable[..., None]:
    """A loop over arrays that Numba compiles; `flat`: the call returns one tuple."""
    outs = [f"o{k}" for k in range(count)]
    elements = ", ".join(f"{p}_[i]" for p in work.params)
    several = work.outputs == 1 and not flat and len(work.params) > 1
    results = f"{outs[0]}[i], ({', '.join(f'{o}[i]' for o in outs[1:])})" if several else ", ".join(f"{o}[i]" for o in outs)  # fmt: skip
    text = (
        f"def run({', '.join(f'{p}_' for p in work.params)}, {', '.join(outs)}):\n"
        f"    for i in range(o0.size):\n        {results} = call({elements})\n"
    )
    scope: dict[str, Any] = {"call": call}
    exec(text, scope)
    return numba.njit(error_model="numpy")(scope["run"])


def by_hand(work: Workload) -> Any:
    """The formula in double arithmetic as a function of Python text, which Numba inlines."""
    f = function_of(work, "fast")
    scope: dict[str, Any] = {"njit": numba.njit, "math": math, "np": np}
    exec(f.source("cpu").replace(", cache=True", ""), scope)
    return scope[f.__name__]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print("| function | by hand, ns | fast | high | compile by hand, s | fast | high |")
    print("|---|---|---|---|---|---|---|")
    ratios: dict[str, list[float]] = {"fast": [], "high": []}
    for work in WORKLOADS:
        if options.only and work.name not in options.only.split(","):
            continue
        count = work.outputs if work.outputs > 1 else 1 + len(work.params)
        points = [rng.uniform(a, b, options.size) for a, b in work.ranges]
        out = [np.empty(options.size) for _ in range(count)]
        made = {"by hand": loop(work, by_hand(work), count, True)}
        for accuracy in ("fast", "high"):
            f = function_of(work, accuracy)
            assert f.numba  # traced and compiled for Python, which is not what is timed
            made[accuracy] = loop(work, f, count, False)
        compiling, times = {}, dict.fromkeys(made, math.inf)
        for name, run in made.items():
            start = time.process_time()
            run(*points, *out)
            compiling[name] = time.process_time() - start
        for _ in range(options.rounds):
            for name, run in made.items():
                start = time.process_time()
                run(*points, *out)
                times[name] = min(times[name], time.process_time() - start)
        hand = times["by hand"]
        for name, found in ratios.items():
            found.append(times[name] / hand)
        cells = [f"{hand / options.size * 1e9:.2f}"]
        cells += [f"{times[n] / hand:.2f}" for n in ratios]
        cells += [f"{compiling[n]:.2f}" for n in made]
        print(f"| {work.name} | {' | '.join(cells)} |", flush=True)
    for name, found in ratios.items():
        print(
            f"{name}: geometric mean {math.exp(np.mean(np.log(found))):.2f}, worst {max(found):.2f}"
        )


if __name__ == "__main__":
    main()
