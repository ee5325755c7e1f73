"""Derivatives of GradBench's evaluations beside its C++ tool `manual`, in turns.

    python -m benchmarks.gradbench.compare MANUAL [--only kmeans gmm] [--seconds 1] [--accuracies high fast]

MANUAL is the folder of the compiled programs (`tools/manual/bin` of a checkout in which `make` has run, with
`-O3 -march=native`); each has its own reading of the input and its own clock. Both run on one thread. In each of
several turns the program of C++ and the functions here repeat the derivative for a while; the table has the median
over turns of the fastest call of each, and ratios to C++. `compile` is the first call here, in seconds.
`particle` and `saddle` have no C++ there: their times stand alone. That of `ode` is the primal, as its gradient there is
a formula that takes no steps. Calls before the first turn are not counted, so that habits are formed
(docs/accuracy.md).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gradbench.__main__ import timed
from benchmarks.gradbench.evals import NAMES, load

TURNS = 5


def c_plus_plus(program: Path, file: str, function: str) -> tuple[Any, float]:
    """The output, and the seconds of the fastest call."""
    done = subprocess.run([program, file, function], check=True, capture_output=True, text=True)
    output, *timings = map(json.loads, done.stdout.splitlines())
    spent = [t["nanoseconds"] for t in timings if t["name"] == "evaluate"]
    return output, min(spent) / 1e9


def leaves(tree: Any) -> np.ndarray:
    """All numbers of an output, by the names of its parts."""
    if isinstance(tree, dict):
        return np.concatenate([leaves(tree[key]) for key in sorted(tree)])
    return np.ravel(np.array(tree, dtype=float))


def apart(ours: Any, theirs: Any) -> float:
    """The largest difference, of the largest number."""
    a, b = leaves(ours), leaves(theirs)
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b))) if a.shape == b.shape else np.nan


def row(
    name: str, given: Any, program: Path, seconds: float, accuracies: list[str]
) -> dict[str, float]:
    """Seconds of each, the first calls, and how far the outputs are apart."""
    found, share = load(name), seconds / TURNS
    args = found.prepare(given)
    row: dict[str, float] = {}
    functions = {}
    for accuracy in accuracies:
        functions[accuracy] = found.functions(accuracy)[found.derivative]
        start = time.perf_counter()
        result = functions[accuracy](*args)
        row[f"compile {accuracy}"] = time.perf_counter() - start
        for _ in range(4):
            result = functions[accuracy](*args)
    output = found.output(found.derivative, result, given)
    spent: dict[str, list[float]] = {key: [] for key in (*accuracies, "manual")}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        options = {"min_runs": 2, "min_seconds": share}
        json.dump(given | options if isinstance(given, dict) else given, file)
        file.flush()
        for _ in range(TURNS):
            if program.exists():
                theirs, best = c_plus_plus(program, file.name, found.against or found.derivative)
                if not found.against:
                    row["differ"] = apart(output, theirs)
                spent["manual"].append(best)
            for accuracy, function in functions.items():
                _, runs = timed(function, args, 2, share)
                spent[accuracy].append(min(runs) / 1e9)
    return row | {key: statistics.median(v) for key, v in spent.items() if v}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("manual", type=Path)
    parser.add_argument("--only", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--sizes", type=int, default=None, help="only the first ones of each")
    parser.add_argument("--accuracies", nargs="+", default=["high", "fast"])
    chosen = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")
    titles = [f"{a}, us | {a} / manual | compile {a}, s" for a in chosen.accuracies]
    print("| evaluation | size | manual, us |", " | ".join(titles), "| differ |")
    print("|---" * (4 + 3 * len(titles)) + "|")
    for name in chosen.only:
        for size, given in list(load(name).sizes().items())[: chosen.sizes]:
            t = row(name, given, chosen.manual / name, chosen.seconds, chosen.accuracies)
            theirs = t.get("manual", np.nan)
            cells = [name, size, f"{1e6 * theirs:.4g}"]
            for a in chosen.accuracies:
                cells += [f"{1e6 * t[a]:.4g}", f"{t[a] / theirs:.2f}", f"{t[f'compile {a}']:.1f}"]
            print("|", " | ".join([*cells, f"{t.get('differ', np.nan):.0e}"]), "|", flush=True)


if __name__ == "__main__":
    main()
