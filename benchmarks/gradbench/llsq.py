"""Least squares: the coefficients of a polynomial that is to be the sign of its argument."""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def primal(x, n):
    t = np.linspace(-1, 1, n)
    powers = t[:, None] ** np.arange(len(x))
    return np.sum((np.sign(t) - powers @ x) ** 2) / 2


def functions(accuracy: str) -> Functions:
    f = symgrad(primal, wrt="x", accuracy=accuracy)
    return {"primal": f, "gradient": f.grad}


def sizes():
    rng = np.random.default_rng(31337)
    return {f"n={n},m=128": {"x": rng.random(128).tolist(), "n": n} for n in (16, 256, 4096, 16392)}


EVAL = Eval(
    prepare=lambda given: (np.array(given["x"], dtype=float), given["n"]),
    functions=functions,
    output=listed,
    example=lambda rng: {"x": rng.random(5).tolist(), "n": 9},
    derivative="gradient",
    sizes=sizes,
)
