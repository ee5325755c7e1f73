"""A SymPy derivation as kernels: symdiff's `lambdify` beside SymPy's, accuracy and time.

    python benchmarks/pendulum.py [--points 200000] [--checked 400]

The accelerations of the double pendulum of `examples/double_pendulum.py` and their Jacobian, as
SymPy derives them; at ordinary states, and at states where the angles differ by 1e-9 to 1e-3. Truth
is the same expressions in 50 digits (mpmath). Time is for arrays of states, processor time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import sympy as sp

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from double_pendulum import DERIVATIVE, STATE

from symdiff import lambdify


def states(kind: str, count: int) -> list[np.ndarray]:
    """Angles and velocities."""
    rng = np.random.default_rng(0)
    a, u, w = rng.uniform(-3, 3, count), rng.uniform(-2, 2, count), rng.uniform(-2, 2, count)
    if kind == "ordinary":
        return [a, rng.uniform(-3, 3, count), u, w]
    apart = 10.0 ** rng.uniform(-9, -3, count)
    return [a, a + apart, u, u + apart]


def timed(call: Callable[..., Any], points: list[np.ndarray]) -> float:
    """The least processor time for one state, in nanoseconds."""
    call(*points)
    best = float("inf")
    for _ in range(7):
        start = time.process_time()
        call(*points)
        best = min(best, time.process_time() - start)
    return best / len(points[0]) * 1e9


def flat(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [v for part in value for v in flat(part)]
    return [value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--checked", type=int, default=400)
    options = parser.parse_args()
    forces = tuple(DERIVATIVE[2:])
    slopes = tuple(f.diff(s) for f in forces for s in STATE)
    exact = sp.lambdify(STATE, (*forces, *slopes), "mpmath", cse=True)
    plain = sp.lambdify(STATE, (*forces, *slopes), "numpy", cse=True)
    start = time.perf_counter()
    ours = lambdify(STATE, forces, derivatives=1)
    ours(*(float(v[0]) for v in states("ordinary", 1)))
    made = time.perf_counter() - start
    print("| states | | ns a state | median ulp | worst ulp |\n|---|---|---|---|---|")
    for kind in ("ordinary", "angles nearly equal"):
        points = states(kind, options.points)
        checked = [p[: options.checked] for p in points]
        with mpmath.workdps(50):
            truth = np.array(
                [[float(v) for v in exact(*map(mpmath.mpf, p))] for p in zip(*checked, strict=True)]
            ).T
        for name, call in (("SymPy `lambdify`, cse", plain), ("symdiff `lambdify`", ours)):
            found = np.array(flat(call(*checked)))
            error = np.abs(found - truth) / np.spacing(np.abs(truth))
            taken = timed(call, points)
            print(f"| {kind} | {name} | {taken:.0f} | {np.median(error):.2f} | {error.max():.0f} |")
    print(f"\nfrom the expressions to the first result: {made:.2f} s")


if __name__ == "__main__":
    main()
