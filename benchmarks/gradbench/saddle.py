"""The saddle of a function: the least of its largest values, by a gradient descent inside of another."""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.descent import descend, gradient
from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def height(x, y):
    return x[0] ** 2 + x[1] ** 2 - (y[0] ** 2 + y[1] ** 2)


def depth(y, x):
    return -height(x, y)


def functions(accuracy: str) -> Functions:
    return {outer + inner: saddle(outer, inner, accuracy) for outer in "fr" for inner in "fr"}


def saddle(outer: str, inner: str, accuracy: str):
    """The function that finds the saddle, with the given modes for the two descents."""
    slope = gradient(depth, inner, accuracy)

    def highest(x, start):
        """Where the function is largest for a given x."""
        return descend(depth, slope, start, x)

    def ridge(x, start):
        return height(x, highest(x, start))

    downhill = gradient(ridge, outer, accuracy)

    @symgrad(accuracy=accuracy)
    def found(start):
        low = descend(ridge, downhill, start, start)
        return np.concatenate([low, highest(low, start)])

    return found


EVAL = Eval(
    prepare=lambda given: (np.array(given["start"], dtype=float),),
    functions=functions,
    output=listed,
    example=lambda rng: {"start": [1.0, 1.0]},
    derivative="rr",
    by_hand="saddle_by_hand.cpp",
    sizes=lambda: {"start=(1, 1)": {"start": [1.0, 1.0]}},
)
