"""Whether a call lost digits, measured: the same machine code again, with the processor rounding up, and down.

A program with sums or loops is computed in plain doubles, without estimates of errors. A *probe* runs its
machine code twice more with the other directions of rounding and compares: results that differ by more
than `LIMIT` of the largest element of their array, or of themselves for numbers, have lost digits. So may a
number that is the same in all directions though operations were inexact: what cancels in it is quantised alike.

Other directions of rounding may lead to other decisions: loops that do not end, and checks that fail. No such run
is more than a few times as long as the plain one, and nothing that it raises is an error of the function's: a call that
cannot be measured so is compared with its rounding errors (`LoopKernel`).

When calls are probed, `Schedule` says. Measuring takes a small part of the work of the calls since it was last done:
probes become rarer, by a factor of `RARER` each time, up to one in `SELDOM` calls. They come sooner, after a `PART` of
that pause, where the largest element of an argument or a result is larger or smaller than any that was probed without
a loss; in the first `EAGER` calls at once. After a loss all begins anew.

Where the processor's direction cannot be set, arguments are moved by a unit in the last place instead.

Reference: Parker, Pierce, Eggert: Monte Carlo arithmetic, Computing in Science & Engineering 2 (2000);
Kahan, "How futile are mindless assessments of roundoff in floating-point computation?" (2006), section 10.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff.codegen.llvm.entry.loops import HEAD, SAMPLE, WORDS
from symdiff.errors import SymdiffError
from symdiff.runtime import processor_modes

LIMIT = 2.0**-40
"""What a result may lose, of the largest element of its array, or of itself."""
MOST, SHARE = 256.0, 2.0**-8
"""Differences between the directions of rounding that are a loss, whatever the result to nearest is, in limits: at
most; and for each element that may be added up, which are then 16 roundings."""
ROUNDED = 16
"""Smallest numbers by which results may differ that are hardly larger."""
FIRST, EAGER = 2, 24
"""The first calls, all of which are probed; and those of which all are that have elements of a new size."""
EVERY, RARER, SELDOM, PART = 32, 8, 16384, 4
SMALL = 4
"""Elements of an array that may all be the same in all directions, by chance, though they lost digits."""
INFINITE = 2047
"""The biased exponent of what is not finite."""
NONE = (INFINITE, 0, 0)
"""The words of an argument or a result before the first probe."""

CLOSED = 2**62
"""What is subtracted from the calls until the next probe, so that entries always find that one is due."""
LEFT, SOONER, CALLS = range(HEAD)
"""Places in the state of a schedule, before the words of arguments and results."""
FAILURES = (SymdiffError, ArithmeticError, MemoryError, np.linalg.LinAlgError)
"""What a run may raise that is no signal's."""

Results = Sequence[Any]


class Schedule:
    """When calls of one kernel are probed.

    Parameters
    ----------
    real : of each argument and each result, whether it is of real numbers.

    Attributes
    ----------
    state : what compiled entries read (`codegen.llvm.entry.loops`): the calls until the next probe; how many of
        those are left when elements of new sizes bring it forward; how many calls there were here; and `WORDS`
        words for each argument and result. Numbers below the smallest normal one count as zeros.
    """

    def __init__(self, real: Sequence[bool]) -> None:
        self.state = (ctypes.c_int64 * (HEAD + WORDS * len(real)))()
        self.pause = EVERY
        self._closed = 0
        self._before: list[Any] = []
        for k, is_real in enumerate(real):
            place = HEAD + WORDS * k
            self.state[place : place + WORDS] = list(NONE if is_real else (0, INFINITE, 1))

    def due(self, values: Sequence[Any], results: Results) -> bool:
        """Whether a call with these arguments and results is to be probed."""
        state = self.state
        state[CALLS] += 1
        self._left -= 1
        sizes = [exponent(v) for v in (*values, *results)]
        if state[CALLS] > FIRST and self._left > 0:
            if self._left > state[SOONER] or all(map(self._covers, range(len(sizes)), sizes)):
                return False
        self._before = list(state)
        for k, e in enumerate(sizes):
            place = HEAD + WORDS * k
            if e == 0:
                state[place + 2] = 1
            elif e < INFINITE:
                state[place] = min(state[place], e)
                state[place + 1] = max(state[place + 1], e)
        if state[CALLS] < FIRST:
            self._left = 0
        elif state[CALLS] == FIRST:
            self._left = state[SOONER] = EAGER
        elif self._left <= 0 or self.pause > EVERY:
            self._left = self.pause
            state[SOONER] = self.pause - self.pause // PART
            self.pause = min(RARER * self.pause, SELDOM)
        return True

    def _covers(self, which: int, e: int) -> bool:
        """Whether an exponent lies between those that were probed; that of what is not finite does."""
        low, high, zero = self.state[HEAD + WORDS * which : HEAD + WORDS * (which + 1)]
        return e == INFINITE or (bool(zero) if e == 0 else low <= e <= high)

    def lost(self) -> None:
        """The last call had lost digits: the next one is probed, those after it sooner, and all of these sizes."""
        self.pause = EVERY
        self.state[HEAD:] = self._before[HEAD:] or list(self.state[HEAD:])
        self._left, self.state[CALLS] = 0, FIRST - 1

    def close(self) -> None:
        """From now on no call is one for compiled entries, as they do not ask at which points the kernel is wrong."""
        left, self._closed = self._left, CLOSED
        self._left = left

    @property
    def _left(self) -> int:
        """The calls until the next probe."""
        return self.state[LEFT] + self._closed

    @_left.setter
    def _left(self, calls: int) -> None:
        self.state[LEFT] = calls - self._closed


def exponent(value: Any) -> int:
    """The biased binary exponent of the largest of some elements of an array, or of a number; 0 of zero and of
    what is no real number."""
    if isinstance(value, np.ndarray):
        if not value.size or value.dtype.kind != "f":
            return 0
        flat = value.reshape(-1) if value.flags.c_contiguous else value.ravel()
        value = float(np.abs(flat[:: max(1, flat.size // SAMPLE)]).max())
    elif not isinstance(value, float | np.floating):
        return 0
    if not math.isfinite(value):
        return INFINITE
    return max(math.frexp(value)[1] + 1022, 0) if value else 0


def has_lost(
    run: Callable[[Sequence[Any]], Results],
    values: Sequence[Any],
    plain: Results,
    steps: float = 0.0,
    infinities: bool = False,
    turns: bool = True,
) -> bool | None:
    """Whether a call lost digits; None where that was not measured, as a run did not end or failed.

    Parameters
    ----------
    run : computes the results for arguments, in the thread that calls it.
    plain : its results for these, to nearest.
    steps : of loops that are not over elements of the arguments.
    infinities : whether those that are made on the way are a loss, too: as divisors they vanish.
    turns : whether the processor may round in other directions: such runs are limited.
    """
    environment = processor_modes.environment() if turns else None
    if environment is None and infinities:
        return True
    try:
        if environment is None:
            return any(_spread(plain, run(_moved(values, way)), LIMIT) for way in (1, -1))
        environment.clear()
        with environment.direction(processor_modes.UPWARD):
            up = run(values)
        with environment.direction(processor_modes.DOWNWARD):
            down = run(values)
    except FAILURES:
        return None
    inexact = environment.is_inexact()
    if infinities and environment.made_infinities():
        return True
    part = min(MOST, max(1.0, SHARE * (steps + sum(map(np.size, values)))))
    if any(_apart(*found, part) for found in zip(plain, up, down, strict=True)):
        return True
    return inexact and any(map(_is_suspicious, plain, up, down))


def spreads(
    run: Callable[[Sequence[Any]], Results],
    values: Sequence[Any],
    plain: Results,
    turns: bool = True,
) -> list[float]:
    """By how much each of the `plain` results differs with the direction of rounding; nan where one is not finite,
    or that was not measured."""
    environment = processor_modes.environment() if turns else None
    ways = [plain]
    try:
        if environment is None:
            ways += [run(_moved(values, way)) for way in (1, -1)]
        else:
            for which in (processor_modes.UPWARD, processor_modes.DOWNWARD):
                with environment.direction(which):
                    ways.append(run(values))
    except FAILURES:
        return [math.nan] * len(plain)
    found = []
    for results in zip(*ways, strict=True):
        arrays = [np.asarray(r, float) for r in results]
        with np.errstate(all="ignore"):
            apart = (
                np.max(arrays, axis=0) - np.min(arrays, axis=0) if arrays[0].size else np.zeros(1)
            )
        found.append(float(np.max(apart)))
    return found


def _spread(a: Results, b: Results, limit: float) -> bool:
    return any(differ(x, y, limit) for x, y in zip(a, b, strict=True))


def differ(a: Any, b: Any, limit: float = LIMIT) -> bool:
    """Whether two results differ by more than a part of their size, in float32 by as many units; nan
    beside a number differs. Roundings of subnormal numbers do not: `ROUNDED` of their units."""
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape:
        return True
    if x.dtype.kind != "f":
        return not np.array_equal(x, y)
    if not x.size:
        return False
    with np.errstate(all="ignore"):
        finite = np.isfinite(x)
        if not finite.all():
            if not np.array_equal(x[~finite], y[~finite], equal_nan=True):
                return True
            x, y = x[finite], y[finite]
            if not x.size:
                return False
        if not np.isfinite(y).all():
            return True
        size = max(np.abs(x).max(), np.abs(y).max())
        apart = np.abs(x - y).max()
    info = np.finfo(x.dtype)
    limit *= float(info.eps) * 2.0**52
    return not apart <= limit * size + ROUNDED * float(info.smallest_subnormal)


def _apart(plain: Any, up: Any, down: Any, part: float) -> bool:
    """Whether a result lost digits. Roundings in one direction add up in long sums, to nearest they do not:
    there the result is in the middle of the other two, and only a part of their distance counts. What `part` limits
    are apart, more than such sums can be, has lost digits in any case: of few roundings the middle says nothing."""
    if _is_near(plain, up) and _is_near(plain, down):
        return False
    if not (differ(plain, up) or differ(plain, down) or differ(up, down)):
        return False
    if any(differ(x, y, part * LIMIT) for x, y in ((plain, up), (plain, down), (up, down))):
        return True
    with np.errstate(all="ignore"):
        middle = np.asarray(up) / 2 + np.asarray(down) / 2
    return differ(plain, middle.astype(np.asarray(plain).dtype), LIMIT / 2)


def _is_near(plain: Any, other: Any) -> bool:
    """Whether a finite result differs by less than what counts, found with few operations."""
    if isinstance(plain, float):
        return bool(abs(other - plain) <= LIMIT / 4 * abs(plain))
    x = np.asarray(plain)
    if x.dtype != np.float64 or not x.size or np.shape(other) != x.shape:
        return False
    return bool(np.abs(other - x).max() <= LIMIT / 4 * np.abs(x).max())


def _is_suspicious(plain: Any, up: Any, down: Any) -> bool:
    """Whether a number, an array of a few numbers or one of zeros is the same in all directions."""
    x = np.asarray(plain)
    if x.dtype.kind != "f" or not x.size or (x.size > SMALL and x.any()):
        return False
    return np.array_equal(x, up) and np.array_equal(x, down)


def _moved(values: Sequence[Any], way: int) -> list[Any]:
    """Arguments a unit in the last place away, up and down in turn."""
    moved = []
    for v in values:
        if isinstance(v, float):
            moved.append(math.nextafter(v, way * math.inf))
        elif isinstance(v, np.ndarray) and v.dtype.kind == "f":
            ends = np.where(np.arange(v.size).reshape(v.shape) % 2, way, -way) * np.inf
            moved.append(np.nextafter(v, ends.astype(v.dtype)))
        else:
            moved.append(v)
    return moved
