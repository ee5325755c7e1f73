"""Answers GradBench's requests: a line of JSON on standard input for each, and a line of standard output.

    python -m benchmarks.gradbench [--accuracy high] [--multithreaded]

Only the evaluation is timed: arguments are made of the input before, the kernel is compiled in a call that is not
counted, and JSON is made of the result after.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from benchmarks.gradbench.evals import Eval, Functions, load


def timed(function: Any, args: tuple[Any, ...], runs: int, seconds: float) -> tuple[Any, list[int]]:
    """The last result, and nanoseconds of each run: as many as asked for, and until they took that long."""
    result, spent, total = None, [], 0
    while len(spent) < runs or total < 1e9 * seconds:
        start = time.perf_counter_ns()
        result = function(*args)
        spent.append(time.perf_counter_ns() - start)
        total += spent[-1]
    return result, spent


class Tool:
    """Answers to requests, with functions of the given accuracy."""

    def __init__(self, accuracy: str = "high") -> None:
        self.functions = cache(lambda name: load(name).functions(accuracy))

    def answers(self, lines: Iterable[str]) -> Iterator[dict[str, Any]]:
        """An answer to each line."""
        for line in lines:
            request = json.loads(line)
            yield {"id": request["id"]} | self.answer(request)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What is said to one request, but for its number."""
        kind = request["kind"]
        if kind == "start":
            return {"tool": "symdiff"}
        if kind not in ("define", "evaluate"):
            return {}
        try:
            found, functions = load(request["module"]), self.functions(request["module"])
            return {"success": True} | (
                evaluated(found, functions, request) if kind == "evaluate" else {}
            )
        except Exception:
            return {"success": False, "error": traceback.format_exc()}


def evaluated(found: Eval, functions: Functions, request: dict[str, Any]) -> dict[str, Any]:
    """The output of a function, and how long it took."""
    given, name = request["input"], request["function"]
    function, args = functions[name], found.prepare(given)
    start = time.perf_counter_ns()
    function(*args)
    first = time.perf_counter_ns() - start
    options = given if isinstance(given, dict) else {}
    result, spent = timed(
        function, args, options.get("min_runs", 1), options.get("min_seconds", 0.0)
    )
    timings = [{"name": "compile", "nanoseconds": first}]
    timings += [{"name": "evaluate", "nanoseconds": each} for each in spent]
    return {"output": found.output(name, result, given), "timings": timings}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accuracy", default="high")
    parser.add_argument("--multithreaded", action="store_true")
    chosen = parser.parse_args()
    if not chosen.multithreaded and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for answer in Tool(chosen.accuracy).answers(sys.stdin):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
