"""GradBench's own evaluations, with their data and validators, asked of `python -m benchmarks.gradbench`.

    python -m benchmarks.gradbench.validate CHECKOUT [--only kmeans det] [--accuracy high] [-- OPTIONS]

CHECKOUT is a checkout of GradBench in which `make` has run in `tools/manual`, whose C++ most validators ask. It
needs pydantic and what else its `python/gradbench` imports. OPTIONS are passed to the evaluation, such as `-n 16` for
llsq. What is valid is counted, and everything else is printed; the exit status is 1 if there is anything else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.gradbench.__main__ import Tool
from benchmarks.gradbench.evals import NAMES


def conversation(name: str, checkout: Path, tool: Tool, options: list[str]) -> Counter[str]:
    """Answer all requests of one evaluation: how many outputs it found valid, not valid, or had none of."""
    program = checkout / "python" / "gradbench" / "gradbench" / "evals" / name / "run.py"
    sources = str(checkout / "python" / "gradbench")
    path = os.pathsep.join(filter(None, [sources, os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, str(program), *options],
        cwd=checkout, env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdin and process.stdout
    found: Counter[str] = Counter()
    asked = ""
    for line in process.stdout:
        request: dict[str, Any] = json.loads(line)
        if request["kind"] == "end":
            break
        answer = {"id": request["id"]} | tool.answer(request)
        if request["kind"] == "evaluate":
            asked = f"{name}.{request['function']} {request.get('description', '')}"
        if request["kind"] == "analysis":
            found["valid" if request["valid"] else "not valid"] += 1
            if not request["valid"]:
                print(asked, "is not valid:", request.get("error"), flush=True)
        elif not answer.get("success", True):
            found["failed"] += 1
            print(asked, "failed:", answer["error"], flush=True)
        process.stdin.write(json.dumps(answer) + "\n")
        process.stdin.flush()
    process.stdin.close()
    if process.wait() != 0:
        found["ended early"] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--only", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--accuracy", default="high")
    own, options = sys.argv[1:], list[str]()
    if "--" in own:
        own, options = own[: own.index("--")], own[own.index("--") + 1 :]
    chosen = parser.parse_args(own)
    total: Counter[str] = Counter()
    for name in chosen.only:
        found = conversation(name, chosen.checkout.resolve(), Tool(chosen.accuracy), options)
        print(name, dict(found), flush=True)
        total += found
    sys.exit(set(total) != {"valid"})


if __name__ == "__main__":
    main()
