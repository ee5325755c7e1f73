"""Ten programs as people write them (examples/programs): derivatives beside NumPy and JAX.

    python benchmarks/programs_benchmark.py [NAME ...]

NumPy's column is the function alone, without derivatives. Each tool runs on one thread, timed by
its processor, in turns; the best of several rounds counts. `high` is what `symgrad` does unless told
otherwise: results that lost digits are computed again. `fast` computes as JAX does. `differ` is how
far JAX's derivatives are from those of `high`, of the largest element of each array.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from peers import Jax
from timing import clock, geometric_mean, race

from symdiff import symgrad

EXAMPLES = Path(__file__).parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
ROUND = 0.02
"""Seconds of one turn."""


def leaves(tree: Any) -> list[np.ndarray]:
    """The arrays of nested results, in the order of JAX: dicts by their sorted keys."""
    if isinstance(tree, dict):
        return [a for key in sorted(tree) for a in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [a for value in tree for a in leaves(value)]
    return [np.ravel(np.asarray(tree))]


def apart(ours: Any, theirs: list[list[float]]) -> float:
    """The largest difference, relative to the largest element of its array."""
    worst = 0.0
    for a, b in zip(leaves(ours), map(np.array, theirs), strict=True):
        off = np.abs(a[: len(b)] - b) / max(np.abs(a).max(), 1e-300)
        worst = max(worst, float(off.max()))
    return worst


def derivatives(module: Any, accuracy: str) -> Any:
    return getattr(symgrad(module.function, wrt=module.WRT, accuracy=accuracy), module.DERIVATIVE)


def times(name: str, jax: Jax | None) -> dict[str, float]:
    """Seconds of each tool, and how far JAX is off."""
    module = importlib.import_module(f"programs.{name}")
    args = module.data(np.random.default_rng(0))
    found: dict[str, float] = {}
    clocks = {}
    functions = {"numpy": module.function, "high": derivatives(module, "high"),
                 "fast": derivatives(module, "fast")}  # fmt: skip
    for key, f in functions.items():
        f(*args)
        once = min(clock(f, *args)() for _ in range(3))
        clocks[key] = clock(f, *args, repeat=max(1, int(ROUND / max(once, 1e-6))))
    if jax is not None:
        found["differ"] = apart(functions["high"](*args), jax.ask(do="program", name=name))
        once = min(jax.clock()() for _ in range(3))
        clocks["jax"] = jax.clock(max(1, int(ROUND / max(once, 1e-6))))
    return found | race(clocks)


def main() -> None:
    if hasattr(os, "sched_setaffinity"):  # one thread
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")
    from programs import NAMES

    jax = Jax.start()
    print(f"microseconds; JAX {jax.version if jax else 'is not installed'}")
    columns = ("numpy", "jax", "high", "fast")
    print(
        f"{'program':18}"
        + "".join(f"{c:>10}" for c in columns)
        + f"{'jax/high':>10}{'jax/fast':>10}{'differ':>10}"
    )
    ratios: dict[str, list[float]] = {"high": [], "fast": []}
    for name in sys.argv[1:] or NAMES:
        t = times(name, jax)
        line = f"{name:18}" + "".join(f"{1e6 * t.get(c, np.nan):10.1f}" for c in columns)
        for how, all_ in ratios.items():
            ratio = t.get("jax", np.nan) / t[how]
            all_.append(ratio)
            line += f"{ratio:10.2f}"
        print(f"{line}{t.get('differ', np.nan):10.1e}", flush=True)
    print(
        "geometric mean of jax/high and jax/fast:",
        *(f"{geometric_mean(r):.2f}" for r in ratios.values()),
    )
    if jax is not None:
        jax.stop()


if __name__ == "__main__":
    main()
