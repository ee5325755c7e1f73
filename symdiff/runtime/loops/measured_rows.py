"""Rows whose errors are measured, each by itself: computed to nearest, and rounding up, and down.

Rows where these differ, or have no value, are computed again in balls. What a row gives does not depend on others. As in probes (`runtime.loops.probe`), a result of zeros that is the same in all directions may have
lost what it was made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from symdiff.runtime import processor_modes, signals
from symdiff.runtime.loops import probe
from symdiff.runtime.loops.arguments import FLOAT64
from symdiff.runtime.loops.kernel import MORE, LoopKernel, Measured
from symdiff.runtime.loops.probe import FAILURES, ROUNDED, Schedule
from symdiff.runtime.scalar.elementwise import Array

LIMIT = 2.0**-44
"""What results may differ by, of the largest element of their row: roundings all go one way there, and to nearest about
a tenth of that is left."""
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
        self.limit = LIMIT if schedule is None else probe.LIMIT

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
            bad |= _lost(plain, more, less, self.limit, varies and inexact)
        numbers = np.ones(len(bad), bool)
        for v in (*found, *up, *down):
            numbers &= _each(np.isfinite(v), np.all)
        if self.schedule is not None and (bad & numbers).any():
            self.schedule.lost()
        finite = np.ones(len(bad), bool)
        for v in (v for v, m in zip(args, mapped, strict=True) if m):
            finite &= _each(np.isfinite(v), np.all)
        for which in (bad & finite, bad & ~finite):  # nothing is proven of what is not finite
            if which.any():
                given = [v[which] if m else v for v, m in zip(args, mapped, strict=True)]
                for place, v in zip(found, self.others.with_more_digits(given), strict=True):
                    place[which] = v
        return found


def _lost(plain: Any, up: Any, down: Any, limit: float, zeros: bool) -> Any:
    """Which rows of a result differ by more than a part of their largest element; `zeros`: also those that are 0."""
    if plain.dtype.kind != "f":
        return _each(plain != up, np.any) | _each(plain != down, np.any)
    with np.errstate(all="ignore"):
        largest = _each(np.abs(plain), np.max)
        apart = np.maximum(_each(np.abs(plain - up), np.max), _each(np.abs(plain - down), np.max))
        bad = ~(apart <= limit * largest + SMALLEST)
    return bad | (largest == 0) if zeros else bad


def _each(values: Array, of: Any) -> Any:
    """A number for each row."""
    return (
        of(values.reshape(len(values), -1), axis=1)
        if values[:1].size
        else np.zeros(len(values), bool)
    )


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
