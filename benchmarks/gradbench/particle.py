"""A charged particle that is to fly through the origin: a control, by gradient descent through its path.

The force on it is a gradient too, of the potential of two charges, so derivatives nest.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.descent import descend, gradient
from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def potential(x, w):
    first, second = np.array([10.0, 10.0 - w[0]]), np.array([10.0, 0.0])
    return 1 / np.sqrt(np.sum((x - first) ** 2)) + 1 / np.sqrt(np.sum((x - second) ** 2))


def functions(accuracy: str) -> Functions:
    return {outer + inner: control(outer, inner, accuracy) for outer in "fr" for inner in "fr"}


def control(outer: str, inner: str, accuracy: str):
    """The function that finds the control, with the given modes for the descent and for the force."""
    slope = gradient(potential, inner, accuracy)

    def miss(w):
        """The square of where the path meets the axis; w has shape (1,)."""
        x, v, dt = np.array([0.0, 8.0]), np.array([0.75, 0.0]), 0.1
        moved = x + dt * v
        while moved[1] > 0:
            v = v - dt * slope(x, w)
            x = moved
            moved = x + dt * v
        landed = moved[0] - moved[1] / v[1] * v[0]
        return landed**2

    downhill = gradient(miss, outer, accuracy)

    @symgrad(accuracy=accuracy)
    def found(w):
        return descend(miss, downhill, np.array([w]))[0]

    return found


EVAL = Eval(
    prepare=lambda given: (float(given["w"]),),
    functions=functions,
    output=listed,
    example=lambda rng: {"w": 0.0},
    derivative="rr",
    by_hand="particle_by_hand.cpp",
    sizes=lambda: {"w=0": {"w": 0.0}},
)
