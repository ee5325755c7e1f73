"""The Jacobian of a robot arm: where its hand goes when each of six joints turns.

python examples/programs/arm.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad

WRT = ("q",)
DERIVATIVE = "jacobian"
LINKS = np.array([
    [0.1625, 0.0, np.pi / 2], [0.0, -0.425, 0.0], [0.0, -0.3922, 0.0],
    [0.1333, 0.0, np.pi / 2], [0.0997, 0.0, -np.pi / 2], [0.0996, 0.0, 0.0],
])  # fmt: skip
"""Of each link its offset, its length and its twist (Denavit and Hartenberg)."""


def link(turn, offset, length, twist):
    ct, st, ca, sa = np.cos(turn), np.sin(turn), np.cos(twist), np.sin(twist)
    return np.array([
        [ct, -st * ca, st * sa, length * ct],
        [st, ct * ca, -ct * sa, length * st],
        [0.0, sa, ca, offset],
        [0.0, 0.0, 0.0, 1.0],
    ])  # fmt: skip


def function(q):
    pose = np.eye(4)
    for k in range(6):
        pose = pose @ link(q[k], LINKS[k, 0], LINKS[k, 1], LINKS[k, 2])
    return pose[:3, 3]


def data(rng):
    return (rng.normal(size=6),)


def main() -> None:
    hand = symgrad(function)
    q, goal = np.array([0.1, -1.0, 1.2, 0.3, 0.5, 0.0]), np.array([-0.4, -0.2, 0.3])
    for _ in range(20):
        q = q + np.linalg.lstsq(hand.jacobian(q), goal - hand(q), rcond=None)[0]
    print(f"the hand at {hand(q).round(12)}, goal {goal}")


if __name__ == "__main__":
    main()
