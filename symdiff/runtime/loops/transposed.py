"""Rows of a few numbers each, by a kernel of functions of numbers over columns.

Blocks of rows are transposed, computed in vectors, and put back, while they are in the caches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.runtime.scalar.kernel import Kernel

BLOCK = 1024
"""Rows that are computed together: they and their results stay in the caches."""
APART = 8
"""Numbers between columns."""


class Transposed:
    """What computes rows of given shapes.

    Parameters
    ----------
    kernel : of the elements of a row.
    shapes : of the results of a row.
    others : the kernel for rows in other precisions.
    """

    def __init__(self, kernel: Kernel, shapes: Sequence[tuple[int, ...]], others: Any) -> None:
        self.kernel, self.shapes, self.others = kernel, shapes, others

    def rows(
        self, args: Sequence[Any], mapped: Sequence[bool], out: Any, watches: int | None = None
    ) -> Any:
        """The outputs for rows of the mapped arguments; in `out` if it is given, an array for each."""
        doubles = [v if isinstance(v, float) else _in_doubles(v) for v in args]
        if any(v is None for v in doubles):
            return self.others(args, out)
        args = doubles
        (count,) = {np.shape(v)[0] for v, m in zip(args, mapped, strict=True) if m}
        found = [np.empty((count, *s)) for s in self.shapes] if out is None else list(out)
        flat = [(v, v.reshape(count, -1)) for v in found]
        sizes = [math.prod(s) for s in self.shapes]
        room = _room(sum(sizes), count)
        taken = _room(len(self.kernel.params), count)
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            columns = [r[: stop - start] for r in room]
            given = _elements(args, mapped, taken, start, stop)
            self.kernel.evaluate(given, columns)
            first = 0
            for (_, v), size in zip(flat, sizes, strict=True):
                v[start:stop] = room[first : first + size, : stop - start].T
                first += size
        for v, rows in flat:
            if not np.may_share_memory(v, rows):  # a copy, of what does not lie row by row
                v[...] = rows.reshape(v.shape)
        return found


def _in_doubles(value: Any) -> Any:
    """Numbers as doubles; None in other precisions, and of integers that are none."""
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        found = array.astype(np.float64)
        return found if bool((np.abs(found) < 2**53).all()) else None
    return array if array.dtype == np.float64 else None


def _room(columns: int, count: int) -> Any:
    """Memory for blocks of columns, which do not all begin at one place of the caches."""
    return np.empty((columns, min(count, BLOCK) + APART))


def _elements(
    args: Sequence[Any], mapped: Sequence[bool], room: Any, start: int, stop: int
) -> list[Any]:
    """The elements of rows, an array for each, and of what has no rows as numbers."""
    found: list[Any] = []
    for v, m in zip(args, mapped, strict=True):
        if not m:
            found.extend(map(float, np.ravel(v)))
            continue
        rows = v[start:stop].reshape(stop - start, -1)
        places = room[len(found) : len(found) + rows.shape[1], : stop - start]
        places[...] = rows.T
        found.extend(places)
    return found


__all__ = ["Transposed"]
