"""Derivatives of GradBench's evaluations beside its C++ tool `manual`, in turns.

    python -m benchmarks.gradbench.compare MANUAL [--only kmeans gmm] [--seconds 1] [--accuracies high fast]

MANUAL is the folder of the compiled programs (`tools/manual/bin` of a checkout in which `make` has run, with
`-O3 -march=native`); each has its own reading of the input and its own clock. Both run on one thread. In each of
several turns the program of C++ and the functions here repeat the derivative for a while; the table has the median
over turns of the fastest call of each, and ratios to C++. `compile` is the first call here, in seconds.
`particle` and `saddle` have no C++ there, and the gradient of `ode` is a formula that takes no steps: they are
compared with C++ by hand (`*_by_hand.cpp`, `ode_adjoint.cpp`, compiled with `g++ -O3 -march=native`). Calls before the first turn are not counted, so that habits are formed
(docs/accuracy.md).
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import tempfile
import time
import warnings
from functools import cache
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


@cache
def compiled(source: Path) -> Any:
    """A gradient in C++ here: `void gradient(const double* x, size_t n, size_t steps, double* result)`."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "gradient.so"
        command = ["g++", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source]
        subprocess.run(command, check=True)
        function = ctypes.CDLL(str(library)).gradient
    pointer, size = ctypes.POINTER(ctypes.c_double), ctypes.c_size_t
    function.argtypes, function.restype = [pointer, size, size, pointer], None
    return function


def by_hand(source: Path, args: tuple[Any, ...], size: int, seconds: float) -> tuple[Any, float]:
    """The output, of so many numbers, and the seconds of the fastest call."""
    x, steps = np.atleast_1d(args[0]).astype(float), args[1] if len(args) > 1 else 0
    result = np.empty(size)
    pointer = ctypes.POINTER(ctypes.c_double)
    given = x.ctypes.data_as(pointer), len(x), steps, result.ctypes.data_as(pointer)
    _, runs = timed(compiled(source), given, 2, seconds)
    return result, min(runs) / 1e9


def leaves(tree: Any) -> np.ndarray:
    """All numbers of an output, by the names of its parts."""
    if isinstance(tree, dict):
        return np.concatenate([leaves(tree[key]) for key in sorted(tree)])
    return np.ravel(np.array(tree, dtype=float))


def apart(ours: Any, theirs: Any) -> float:
    """The largest difference, of the largest number."""
    a, b = leaves(ours), leaves(theirs)
    largest = np.max(np.abs(b)) or 1.0
    return float(np.max(np.abs(a - b)) / largest) if a.shape == b.shape else np.nan


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
            if found.by_hand or program.exists():
                theirs, best = (
                    by_hand(Path(__file__).parent / found.by_hand, args, leaves(output).size, share)
                    if found.by_hand
                    else c_plus_plus(program, file.name, found.derivative)
                )
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
