"""Roots of polynomials and Lambert's function: the double by the library, and slopes by steps of Newton from there.

Each step doubles the order up to which the slopes are those of the root.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.frontend.by_value.array_functions import doubles
from symdiff.frontend.by_value.arrays import lifted, objects, pairs, plain
from symdiff.frontend.by_value.complex_scalars import double, with_value
from symdiff.frontend.by_value.elementary import FUNCTIONS, library
from symdiff.frontend.by_value.reals import RECORD, refuse

STEPS = 3


def _stepped(value: Any, step: Callable[[Any], Any]) -> Any:
    """A root with its slopes, where `step` gives the function over its slope."""
    found = value
    for _ in range(STEPS):
        found = found - step(found)
    return with_value(value, found)


def _roots(p: Any) -> Any:
    """`np.roots`."""
    coefficients = list(plain(objects(p)))
    RECORD.special = True  # how many there are, and which are real
    values = np.roots(doubles(p))
    for x, y in itertools.combinations(values, 2):
        if abs(x - y) <= 1e-7 * abs(x):
            raise refuse("equal roots of a polynomial, in a function that is run by values")

    def step(x: Any) -> Any:
        value, slope = 0.0, 0.0
        for c in coefficients:
            slope = slope * x + value
            value = value * x + c
        return value / slope

    found = np.empty(values.shape, object)
    for k, value in enumerate(values):
        found[k] = _stepped(value, step)
    return pairs(found) if values.dtype.kind == "c" else lifted(found)


def _lambertw(original: Any) -> Any:
    """`lambertw`."""

    def of_number(z: Any, k: Any) -> Any:
        def step(w: Any) -> Any:
            grown = FUNCTIONS[np.exp](w)
            return (w * grown - z) / (grown * (w + 1.0))

        value = original(double(z), k)
        if value == -1:
            raise refuse("lambertw at its branch point, in a function that is run by values")
        return _stepped(value, step)

    def found(z: Any, k: Any = 0, tol: Any = 1e-8) -> Any:
        if not np.ndim(z):
            return of_number(z, k)
        return lifted(np.frompyfunc(of_number, 2, 1)(objects(z), k))

    return found


FUNCTIONS[np.roots] = _roots
if special := library("scipy.special"):
    FUNCTIONS[special.lambertw] = _lambertw(special.lambertw)
