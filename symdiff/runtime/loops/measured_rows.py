"""Rows whose errors are measured, each by itself: computed to nearest, and rounding up, and down.

Rows where these differ, or have no value, are computed again in balls. What a row gives does not depend on others. As in probes (`runtime.loops.probe`), a result of zeros that is the same in all directions may have
lost what it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from symdiff.runtime import processor_modes, signals
from symdiff.runtime.loops.arguments import FLOAT64
from symdiff.runtime.loops.kernel import MORE, LoopKernel, Measured
from symdiff.runtime.loops.probe import FAILURES, LIMIT, ROUNDED, Schedule
from symdiff.runtime.scalar.elementwise import Array

BLOCK = 4096
"""Rows that are compared together."""
SMALLEST = ROUNDED * float(np.finfo(np.float64).smallest_subnormal)


class Rows(Protocol):
    """Computes rows in doubles."""

    def rows(
        self, args: Sequence[Any], mapped: Sequence[bool], out: Any, watches: int | None = None
    ) -> Any:
        """The outputs for rows of the mapped arguments, an array for each; `watches`: see `runtime.signals`."""


class MeasuredRows:
    """What computes rows, and again those that lost digits.

    Parameters
    ----------
    plain : computes rows in doubles, also with other directions of rounding.
    varies : of each result, whether it is not the number zero in every row.
    others : the kernel of rows with tests.
    schedule : when rows are measured; None: in every call.
    """

    def __init__(
        self,
        plain: Rows,
        varies: Sequence[bool],
        others: LoopKernel,
        schedule: Schedule | None = None,
    ) -> None:
        self.plain, self.varies, self.others, self.schedule = plain, varies, others, schedule

    def is_due(self, args: Sequence[Any]) -> bool:
        """Whether a call with these arguments is to be measured."""
        return self.schedule is None or self.schedule.due(args, ())

    def rows(self, args: Sequence[Any], mapped: Sequence[bool], out: Any) -> Any:
        """The outputs for rows of the mapped arguments; in `out` if it is given, an array for each."""
        environment = processor_modes.environment()
        if environment is None or any(
            isinstance(v, np.ndarray) and v.dtype != FLOAT64 for v in args
        ):
            return self.others(args, out)
        (count,) = {np.shape(v)[0] for v, m in zip(args, mapped, strict=True) if m}
        parts: list[Any] = []
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            given = [v[start:stop] if m else v for v, m in zip(args, mapped, strict=True)]
            places = None if out is None else [v[start:stop] for v in out]
            parts.append(self._block(environment, given, mapped, places))
        if out is not None:
            return list(out)
        return parts[0] if len(parts) == 1 else list(map(np.concatenate, zip(*parts, strict=True)))

    def _block(
        self, environment: Any, args: Sequence[Any], mapped: Sequence[bool], out: Any
    ) -> list[Any]:
        environment.clear()
        before = signals.watched()
        try:
            found = list(self.plain.rows(args, mapped, out))
            watches = MORE * (signals.watched() - before + 1)
            with environment.direction(processor_modes.UPWARD):
                up = self.plain.rows(args, mapped, None, watches)
            with environment.direction(processor_modes.DOWNWARD):
                down = self.plain.rows(args, mapped, None, watches)
        except FAILURES:
            return self.others(args, out)
        bad = np.zeros(len(found[0]), bool)
        inexact = environment.is_inexact()
        for plain, more, less, varies in zip(found, up, down, self.varies, strict=True):
            bad |= _lost(plain, more, less, varies and inexact)
        if not bad.any():
            return found
        if self.schedule is not None and (bad & _finite((*found, *up, *down))).any():
            self.schedule.lost()
        finite = _finite([v for v, m in zip(args, mapped, strict=True) if m])
        for which in (bad & finite, bad & ~finite):  # nothing is proven of what is not finite
            if which.any():
                given = [v[which] if m else v for v, m in zip(args, mapped, strict=True)]
                for place, v in zip(found, self.others.with_more_digits(given), strict=True):
                    place[which] = v
        return found


def _lost(plain: Any, up: Any, down: Any, zeros: bool) -> Any:
    """Which rows of a result differ by more than `LIMIT` of their largest element; `zeros`: also those that are 0."""
    if not plain[:1].size:
        return np.zeros(len(plain), bool)
    p, u, d = map(_columns, (plain, up, down))
    if plain.dtype.kind != "f":
        return (p != u).any(axis=0) | (p != d).any(axis=0)
    with np.errstate(all="ignore"):
        apart = np.abs(p - u)
        np.maximum(apart, np.abs(p - d), out=apart)
        largest = np.abs(p).max(axis=0)
        bad = ~(apart.max(axis=0) <= LIMIT * largest + SMALLEST)
    return bad | (largest == 0) if zeros else bad


def _columns(values: Array) -> Array:
    """The elements of rows, those of one place beside each other: comparing them is faster so."""
    return np.ascontiguousarray(values.reshape(len(values), -1).T)


def _finite(values: Sequence[Array]) -> Any:
    """The rows in which all is finite."""
    rows = [np.isfinite(v.reshape(len(v), -1)).all(axis=1) for v in values if v[:1].size]
    return np.all(rows, axis=0) if rows else np.ones(len(values[0]), bool)


class RowsOfKernel:
    """Rows by a kernel of programs with loops, which may be run with other directions of rounding."""

    def __init__(self, kernel: LoopKernel) -> None:
        self.kernel = kernel

    def rows(
        self, args: Sequence[Any], mapped: Sequence[bool], out: Any, watches: int | None = None
    ) -> list[Any]:
        """The outputs of all rows."""
        dtype, values, result = self.kernel._given(args)
        return self.kernel.code(dtype).run(values, out, result, serial=True, watches=watches)


def without_tests(kernel: LoopKernel) -> LoopKernel:
    """The kernel of the same rows without tests, which also runs with other directions of rounding."""
    return Measured(kernel.program, parallel=False, cache=kernel.cache, accuracy="fast")


__all__ = ["MeasuredRows", "RowsOfKernel", "without_tests"]
