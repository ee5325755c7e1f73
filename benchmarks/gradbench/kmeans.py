"""Clusters: a step of Newton's method for the squared distances of points to the nearest of some centroids.

The Hessian is diagonal, so its diagonal is its product with ones.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def cost(points, centroids):
    squares = np.sum((points[:, None, :] - centroids[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(squares, axis=1))


def functions(accuracy: str) -> Functions:
    f = symgrad(cost, wrt="centroids", accuracy=accuracy)

    @symgrad(accuracy=accuracy)
    def step(points, centroids):
        slope, curvature = f.grad.jvp((points, centroids), (np.ones(centroids.shape),))
        return slope / curvature

    return {"cost": f, "dir": step}


def given(rng, k, n, d):
    points = rng.random((n, d)).tolist()
    return {"points": points, "centroids": points[-k:]}


def sizes():
    rng = np.random.default_rng(31337)
    cases = [(10, 1000, 8), (100, 1000, 16), (100, 10000, 16), (1000, 10000, 8)]
    return {f"k={k},n={n},d={d}": given(rng, k, n, d) for k, n, d in cases}


EVAL = Eval(
    prepare=lambda given: (np.array(given["points"]), np.array(given["centroids"])),
    functions=functions,
    output=listed,
    example=lambda rng: given(rng, 3, 11, 2),
    derivative="dir",
    sizes=sizes,
)
