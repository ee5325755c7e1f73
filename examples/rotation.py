"""Rodrigues' rotation: turn a vector by a rotation vector, and its Jacobian.

The formula divides by the angle, so at and near angle 0 it is 0/0 and loses all digits
in plain arithmetic. symdiff fills the point with the limit, and uses series nearby.

    python examples/rotation.py
"""

from __future__ import annotations

import math

import numpy as np

from symdiff import symgrad


@symgrad(wrt=("a", "b", "c"))
def rotate(a, b, c, x, y, z):
    """The vector (x, y, z) turned by |(a, b, c)| radians about (a, b, c)."""
    t = math.sqrt(a * a + b * b + c * c)
    s = math.sin(t) / t
    k = (1 - math.cos(t)) / t**2
    along = a * x + b * y + c * z
    cos = math.cos(t)
    return (
        cos * x + s * (b * z - c * y) + k * along * a,
        cos * y + s * (c * x - a * z) + k * along * b,
        cos * z + s * (a * y - b * x) + k * along * c,
    )


def fit(before: np.ndarray, after: np.ndarray, guess: np.ndarray, steps: int = 20) -> np.ndarray:
    """The rotation vector that takes the rows of `before` to `after`, by Gauss-Newton."""
    for _ in range(steps):
        turned = np.stack(rotate(*guess, *before.T), axis=-1)
        slopes = np.array(rotate.jacobian(*guess, *before.T))  # 3 outputs, 3 parameters, points
        matrix = slopes.transpose(2, 0, 1).reshape(-1, 3)
        step = np.linalg.lstsq(matrix, (turned - after).ravel(), rcond=None)[0]
        guess = guess - step
    return guess


def main() -> None:
    print("e1 turned by 90 degrees about e3:", rotate(0.0, 0.0, math.pi / 2, 1.0, 0.0, 0.0))
    print("slopes at no rotation:", *rotate.jacobian(0.0, 0.0, 0.0, 1.0, 2.0, 3.0))
    truth = np.array([0.3, -0.7, 0.2])
    before = np.random.default_rng(0).normal(size=(50, 3))
    after = np.stack(rotate(*truth, *before.T), axis=-1)
    print("fitted rotation vector:", fit(before, after, np.array([0.1, 0.1, 0.1])))


if __name__ == "__main__":
    main()
