"""Results for the rows of arguments, put together by threads that take ranges of rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff.errors import SymdiffError
from symdiff.ir.loop_program import LARGEST
from symdiff.ir.program import folded
from symdiff.runtime import threads
from symdiff.runtime.loops.measured_rows import MeasuredRows
from symdiff.runtime.scalar.elementwise import Array

Compute = Callable[[int, int, Sequence[Array] | None], Sequence[Any]]
"""The results of rows from one on and before another, stacked; where they should be put, if
that is said."""

FEW = 16
"""Rows that are timed to know whether threads are worth it."""


def leading(values: Sequence[Any], mapped: Sequence[bool]) -> int:
    """The number of rows of the arguments that are mapped."""
    sizes: set[int] = {v.shape[0] for v, m in zip(values, mapped, strict=True) if m}
    if len(sizes) != 1:
        raise SymdiffError(f"the leading axes that map() runs over have sizes {sorted(sizes)}")
    return sizes.pop()


def nested(tree: Any, found: Sequence[Any]) -> Any:
    """Results for all rows nested as a tree; the axis of rows stays the first."""

    def stacked(t: Any) -> Any:
        parts = np.stack([found[int(i)] for i in t.ravel()], axis=1)
        return parts.reshape(len(parts), *t.shape, *parts.shape[2:])

    return folded(tree, found.__getitem__, stacked)


class SpecialRows:
    """Rows at points that a program treats apart, each by the kernel of one row.

    Parameters
    ----------
    asked : computes for rows whether conditions of such points hold.
    count : of these conditions; `asked` may have more results.
    one : the kernel of one row.
    """

    def __init__(
        self, asked: Callable[..., Any], count: int, one: Callable[..., Sequence[Any]]
    ) -> None:
        self.asked, self.count, self.one = asked, count, one

    def put(self, args: Sequence[Any], mapped: Sequence[bool], found: Sequence[Array]) -> None:
        """Put their results into what was found for all rows."""
        met = np.any(self.asked([*args, LARGEST])[: self.count], axis=0)
        for k in np.flatnonzero(met):
            row = [v[k] if m else v for v, m in zip(args, mapped, strict=True)]
            for place, v in zip(found, self.one(row), strict=True):
                place[k] = v


def of_kernel(
    kernel: Callable[..., Any],
    values: Sequence[Any],
    mapped: Sequence[bool],
    first: Any = None,
    special: SpecialRows | None = None,
) -> Compute:
    """Rows of some arguments by a kernel that takes all rows at once; what is called `first`, if anything
    (`runtime.loops.transposed`, `runtime.loops.measured_rows`)."""

    if isinstance(first, MeasuredRows) and not first.is_due(values):
        first = None

    def compute(start: int, stop: int, out: Sequence[Array] | None) -> Sequence[Any]:
        part = [v[start:stop] if m else v for v, m in zip(values, mapped, strict=True)]
        found: Sequence[Any] = kernel(part, out) if first is None else first.rows(part, mapped, out)
        if special is not None:
            special.put(part, mapped, found)
        return found

    return compute


def one_by_one(
    kernel: Callable[..., Any], values: Sequence[Any], mapped: Sequence[bool]
) -> Compute:
    """Rows by a kernel that takes one at a time."""

    def compute(start: int, stop: int, out: Sequence[Array] | None) -> Sequence[Any]:
        found = [
            kernel([v[k] if m else v for v, m in zip(values, mapped, strict=True)])
            for k in range(start, stop)
        ]
        columns = [np.stack([np.asarray(v) for v in c]) for c in zip(*found, strict=True)]
        for place, column in zip(out or (), columns, strict=False):
            np.copyto(place, column)
        return columns

    return compute


def stacked(compute: Compute, count: int, parallel: bool | str) -> list[Array]:
    """The results of all rows (at least one)."""
    first = [np.asarray(v) for v in compute(0, 1, None)]
    found = [np.empty((count, *v.shape[1:]), v.dtype) for v in first]
    for place, v in zip(found, first, strict=True):
        place[:1] = v

    def fill(start: int, stop: int) -> None:
        if start < stop:
            compute(start, stop, [place[start:stop] for place in found])

    few = min(1 + FEW, count)
    begin = time.perf_counter()
    fill(1, few)
    taken = time.perf_counter() - begin
    left = count - few
    if not left:
        return found
    number = 1
    if parallel is not False:
        cost = 1e9 * taken / FEW * left
        most = left if parallel is True else int(cost / threads.GRAIN)
        number = max(1, min(threads.processors(), most, left))
    units = 64 * number  # `threads.run` divides at multiples of 64
    threads.run(lambda a, b: fill(few + left * a // units, few + left * b // units), units, number)
    return found
