"""The determinant of a matrix, by minors of its first row, theirs by minors of theirs, and so on."""

from __future__ import annotations

import numpy as np

from benchmarks.gradbench.evals import Eval, Functions, listed
from symdiff import symgrad


def minors(a, row, columns):
    """The determinant of the rows from `row` on and the given columns."""
    if not columns:
        return 1.0
    total = 0.0
    for place, column in enumerate(columns):
        rest = columns[:place] + columns[place + 1 :]
        total += (-1) ** place * a[row, column] * minors(a, row + 1, rest)
    return total


def functions(accuracy: str) -> Functions:
    @symgrad(wrt="a", static="ell", accuracy=accuracy)
    def determinant(a, ell):
        return minors(a, 0, tuple(range(ell)))

    def flat(a, ell):
        return determinant.grad(a, ell).ravel()

    return {"primal": determinant, "gradient": flat}


def prepare(given):
    ell = given["ell"]
    return np.array(given["A"], dtype=float).reshape(ell, ell), ell


def given(rng, ell):
    return {"A": rng.random(ell * ell).tolist(), "ell": ell}


def sizes():
    rng = np.random.default_rng(31337)
    return {f"{ell}": given(rng, ell) for ell in (5, 6, 7, 8)}


EVAL = Eval(
    prepare=prepare,
    functions=functions,
    output=listed,
    example=lambda rng: given(rng, 4),
    derivative="gradient",
    sizes=sizes,
)
