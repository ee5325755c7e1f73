"""Central differences of plain functions."""

from __future__ import annotations

import numpy as np

STEP = 1e-6


def gradient(f, args):
    """The gradient of a function of numbers and arrays, an array for each argument."""
    found = []
    for k, argument in enumerate(args):
        center = np.asarray(argument, float)
        slopes = np.zeros(center.shape)
        for at in np.ndindex(*center.shape):
            sides = []
            for h in (STEP, -STEP):
                moved = center.copy()
                moved[at] += h
                sides.append(f(*args[:k], moved if moved.ndim else float(moved), *args[k + 1 :]))
            slopes[at] = (sides[0] - sides[1]) / (2 * STEP)
        found.append(slopes)
    return found
