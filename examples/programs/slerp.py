"""Interpolation of rotations, and its derivative by both ends, also where they are equal.

python examples/programs/slerp.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad

WRT = ("p", "q")
DERIVATIVE = "jacobian"


def function(p, q, t):
    p = p / np.linalg.norm(p)
    q = q / np.linalg.norm(q)
    angle = np.arccos(np.clip(np.dot(p, q), -1.0, 1.0))
    return (np.sin((1 - t) * angle) * p + np.sin(t * angle) * q) / np.sin(angle)


def data(rng):
    p, q = rng.normal(size=(2, 4))
    return p, q, 0.3


def main() -> None:
    between = symgrad(function, wrt=WRT)
    p, q = np.array([1.0, 0.1, 0.2, 0.3]), np.array([0.9, 0.2, 0.1, 0.4])
    print("a third of the way:", between(p, q, 1 / 3))
    by_p, by_q = between.jacobian(p, q, 1 / 3)
    print(f"slopes by the ends: {np.linalg.norm(by_p):.6f}, {np.linalg.norm(by_q):.6f}")


if __name__ == "__main__":
    main()
