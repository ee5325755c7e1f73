"""Jacobians of elementwise functions: slopes, placed on a diagonal.

Before: the slopes of a result of shape (n, m) by an argument of shape (m,), element by element: (n, m)
After: the Jacobian of shape (n, m, m), which is 0 unless its last two indices are equal
Requires: arguments that broadcast to the shape of the result
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.errors import optional

Shape = tuple[int, ...]


def dense(slopes: Any, arguments: Sequence[Shape]) -> Any:
    """The derivative of a result by arguments of these shapes, one after the other.

    Parameters
    ----------
    slopes : element by element, of the shape of the result.
    arguments : their shapes; numbers, of shape (), add no axes.

    Returns
    -------
    An array of the shape of the result, followed by those of the arguments.
    """
    values = np.asarray(slopes)
    if not any(arguments):
        return slopes
    made = np.zeros(values.shape + sum(arguments, ()), values.dtype)
    steps = list(made.strides[: values.ndim])
    first = values.ndim
    for shape in arguments:
        for axis, size in enumerate(shape, start=values.ndim - len(shape)):
            if size == values.shape[axis]:  # else it is 1, and repeated
                steps[axis] += made.strides[first]
            first += 1
    if made.size:
        np.lib.stride_tricks.as_strided(made, values.shape, steps)[...] = values
    return made


def sparse(slopes: Any, argument: Shape) -> Any:
    """The same by one argument, as a SciPy CSR matrix of the flattened result and argument."""
    csr_array = optional("scipy.sparse", "sparse matrices need SciPy", "scipy").csr_array
    values = np.asarray(slopes)
    count = int(np.prod(argument, dtype=np.int64))
    places = np.broadcast_to(np.arange(count).reshape(argument), values.shape)
    rows = np.arange(values.size + 1)
    return csr_array((values.ravel(), places.ravel(), rows), shape=(values.size, count))


__all__ = ["dense", "sparse"]
