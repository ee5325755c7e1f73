"""Runge and Kutta's method, of a chain of equations in which each derivative is a multiple of the one before.

The gradient of the C++ tool is a formula of the solution, which takes no steps: an adjoint by hand is timed beside.
"""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def slopes(x, y):
    return np.concatenate([x[:1], x[1:] * y[:-1]])


def primal(x, s):
    h = 2.0 / s
    y = np.zeros(len(x))
    for _ in range(s):
        k1 = slopes(x, y)
        k2 = slopes(x, y + h / 2 * k1)
        k3 = slopes(x, y + h / 2 * k2)
        k4 = slopes(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def last(x, s):
    return primal(x, s)[-1]


def functions(accuracy: str) -> Functions:
    f = symgrad(last, wrt="x", accuracy=accuracy)
    return {"primal": symgrad(primal, wrt="x", accuracy=accuracy), "gradient": f.grad}


def given(rng, n, s):
    return {"x": rng.random(n).tolist(), "s": s}


def sizes():
    rng = np.random.default_rng(31337)
    return {f"n={n},s={s}": given(rng, n, s) for n, s in ((1000, 10), (10000, 10), (1000, 100))}


EVAL = Eval(
    prepare=lambda given: (np.array(given["x"], dtype=float), given["s"]),
    functions=functions,
    output=listed,
    example=lambda rng: given(rng, 4, 3),
    derivative="gradient",
    sizes=sizes,
    by_hand="ode_adjoint.cpp",
)
