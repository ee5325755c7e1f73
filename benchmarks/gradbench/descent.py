"""The gradient descent of the two nested problems, and gradients by either mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff import symgrad


def descend(f, slope, start, *given):
    """A minimum of f(x, *given) from `start`, of shape (n,): steps that grow while they go down, and are halved."""
    x, value, downhill = start, f(start, *given), slope(start, *given)
    step, gone = 1e-5, 0
    while np.sqrt(np.sum(downhill**2)) > 1e-5:
        if gone == 10:
            step, gone = 2 * step, 0
        else:
            moved = x - step * downhill
            if np.sqrt(np.sum((x - moved) ** 2)) <= 1e-5:
                break
            there = f(moved, *given)
            if there < value:
                x, value, downhill, gone = moved, there, slope(moved, *given), gone + 1
            else:
                step, gone = step / 2, 0
    return x


def gradient(f: Any, mode: str, accuracy: str) -> Any:
    """By the first parameter, of shape (n,): by reverse mode for "r", and for "f" forward, by each direction."""
    g = symgrad(f, wrt=0, accuracy=accuracy)
    if mode == "r":
        return g.grad

    def forward(x, *given):
        directions = np.eye(len(x))
        return np.array([g.jvp((x, *given), (direction,))[1] for direction in directions])

    return forward
