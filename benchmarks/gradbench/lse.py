"""The logarithm of a sum of exponentials, shifted by the largest."""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def primal(x):
    a = np.max(x)
    return a + np.log(np.sum(np.exp(x - a)))


def functions(accuracy: str) -> Functions:
    f = symgrad(primal, accuracy=accuracy)
    return {"primal": f, "gradient": f.grad}


def sizes():
    rng = np.random.default_rng(31337)
    return {f"n={n}": {"x": rng.random(n).tolist()} for n in (2500, 80000, 1280000)}


EVAL = Eval(
    prepare=lambda given: (np.array(given["x"], dtype=float),),
    functions=functions,
    output=listed,
    example=lambda rng: {"x": rng.random(7).tolist()},
    derivative="gradient",
    sizes=sizes,
)
