"""Logistic regression with a softplus loss that stays finite at huge margins.

python examples/logistic.py
"""

from __future__ import annotations

import numpy as np

from symdiff import symgrad


@symgrad(wrt=("slope", "offset"))
def loss(slope, offset, x, label):
    """Of one observation; `label` is -1 or 1. softplus(v) is logaddexp(0, v)."""
    margin = label * (slope * x + offset)
    return np.logaddexp(0, -margin)


def fit(x: np.ndarray, label: np.ndarray, steps: int = 8) -> np.ndarray:
    """Newton's method on the mean loss, with a ridge for separable data."""
    weights = np.zeros(2)
    ridge = 1e-3
    for _ in range(steps):
        slope = np.mean(loss.grad(*weights, x, label), axis=1) + ridge * weights
        curvature = np.mean(loss.hessian(*weights, x, label), axis=2) + ridge * np.eye(2)
        weights = weights - np.linalg.solve(curvature, slope)
    return weights


def data(count: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Labels drawn from a logistic model with slope 2 and offset -1."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=count)
    chance = 1 / (1 + np.exp(-(2 * x - 1)))
    return x, np.where(rng.random(count) < chance, 1.0, -1.0)


def main() -> None:
    print(
        "margin -2000, 0, 2000:", [loss.grad(m, 0.0, 1.0, 1.0)[0] for m in (-2000.0, 0.0, 2000.0)]
    )
    print("weights (drawn with 2, -1):", fit(*data()))


if __name__ == "__main__":
    main()
