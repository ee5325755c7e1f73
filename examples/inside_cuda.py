"""Gradients inside of kernels that Numba compiles for CUDA.

A thread looks for the minimum of a Morse well from its own start, by Newton's method; another
kernel moves a particle for each thread. Without a device the kernels run under Numba's
simulator; that they compile to PTX is shown all the same.

    python examples/inside_cuda.py
"""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
from numba import cuda, float64

from symdiff import symgrad


@symgrad
def well(r):
    """A Morse well with its minimum at 1.1."""
    return (1 - math.exp(-1.7 * (r - 1.1))) ** 2


@cuda.jit
def minima(starts, found):
    """Where Newton's method ends, from each start."""
    i = cuda.grid(1)
    if i < found.size:
        r = starts[i]
        for _ in range(50):
            r -= well.grad(r) / well.hessian(r)
        found[i] = r


@cuda.jit
def oscillate(starts, step, steps, ends, energies):
    """Where particles of unit mass are after so many steps of the velocity Verlet method."""
    i = cuda.grid(1)
    if i < ends.size:
        r, velocity = starts[i], 0.0
        force = -well.grad(r)
        for _ in range(steps):
            velocity += 0.5 * step * force
            r += step * velocity
            force = -well.grad(r)
            velocity += 0.5 * step * force
        ends[i] = r
        energies[i] = well(r) + velocity**2 / 2


def run() -> None:
    starts = np.linspace(0.9, 1.3, 5)
    found, ends, energies = (np.empty(5) for _ in range(3))
    minima[1, 32](starts, found)
    print("minima:", found.round(12))
    oscillate[1, 32](starts, 1e-2, 200, ends, energies)
    drift = max(abs(e - well(s)) for e, s in zip(energies, starts, strict=True))
    print(f"after 2 time units: r = {ends.round(6)}, largest drift of energy {drift:.1e}")


def main() -> None:
    simulated = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
    if not simulated:
        ptx, _ = cuda.compile_ptx(minima, (float64[:], float64[:]), cc=(8, 0))
        calls = [line.strip() for line in ptx.splitlines() if line.startswith("\tsymdiff_")]
        print(f"PTX for compute capability 8.0: {len(ptx.splitlines())} lines, {len(calls)} calls")
    if simulated or cuda.is_available():
        run()
        return
    subprocess.run(
        [sys.executable, __file__], env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}, check=True
    )


if __name__ == "__main__":
    main()
