"""Whether a call lost digits, measured: the same machine code again, with the processor rounding up, and down.

A program with sums or loops is computed in plain doubles, without estimates of errors. A *probe* runs its
machine code twice more with the other directions of rounding and compares: results that differ by more
than `LIMIT` of the largest element of their array, or of themselves for numbers, have lost digits. So may a
number that is the same in all directions though operations were inexact: what cancels in it is quantised alike.

Other directions of rounding may lead to other decisions: loops that do not end, and checks that fail. No such run
is more than a few times as long as the plain one, and nothing that it raises is an error of the function's: a call that
cannot be measured so is compared with its rounding errors (`LoopKernel`).

Probes are made in the first `FIRST` calls and after each call that had lost digits, then after `EVERY` calls, each
time after twice as many up to `SELDOM`, and whenever the largest element of an argument or a result has a binary
exponent at which no call was probed without a loss.

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

from symdiff.errors import SymdiffError
from symdiff.runtime import processor_modes

LIMIT = 2.0**-40
"""What a result may lose, of the largest element of its array, or of itself."""
PART, SHARE = 256.0, 2.0**-8
"""Differences between the directions of rounding that are a loss, whatever the result to nearest is, in limits: at
most; and for each element that may be added up, which are then 16 roundings."""
ROUNDED = 16
"""Smallest numbers by which results may differ that are hardly larger."""
FIRST, EVERY, SELDOM = 2, 16, 1024
SMALL = 4
"""Elements of an array that may all be the same in all directions, by chance, though they lost digits."""
SAMPLE = 64
"""Elements of an array by which its size is seen."""
INFINITE, WORDS = 2047, 32
"""The biased exponent of what is not finite; the words of 64 bits with a bit for each exponent."""

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
    state : what compiled entries read (`codegen.llvm.entry.loops`): the calls until the next probe, how many
        calls there were here, and for each argument and result `WORDS` words with a bit for each exponent
        that was probed without a loss; numbers below the smallest normal one have that of 0.
    """

    def __init__(self, real: Sequence[bool]) -> None:
        self.state = (ctypes.c_int64 * (2 + WORDS * len(real)))()
        self.pause = EVERY
        self._marked: list[tuple[int, int]] = []
        for k, is_real in enumerate(real):
            for w in range(0 if is_real else WORDS):
                self.state[2 + WORDS * k + w] = -1

    def due(self, values: Sequence[Any], results: Results) -> bool:
        """Whether a call with these arguments and results is to be probed."""
        state = self.state
        state[1] += 1
        state[0] -= 1
        moved = False
        self._marked = marked = []
        for k, value in enumerate((*values, *results)):
            e = exponent(value)
            if e < INFINITE:
                word, bit = 2 + WORDS * k + (e >> 6), 1 << (e & 63)
                marked.append((word, bit))
                if not state[word] & bit:
                    state[word] |= bit
                    moved = True
        if state[1] > FIRST and state[0] > 0 and not moved:
            return False
        if state[1] < FIRST:
            state[0] = 0
            return True
        state[0] = self.pause
        self.pause = min(2 * self.pause, SELDOM)
        return True

    def lost(self) -> None:
        """The last call had lost digits: the next one is probed, those after it sooner, and all of these sizes."""
        self.pause = EVERY
        self.state[0] = 0
        for word, bit in self._marked:
            self.state[word] &= ~bit


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
) -> bool | None:
    """Whether a call lost digits; None where that was not measured, as a run did not end or failed.

    Parameters
    ----------
    run : computes the results for arguments, in the thread that calls it.
    plain : its results for these, to nearest.
    steps : of loops that are not over elements of the arguments.
    infinities : whether those that are made on the way are a loss, too: as divisors they vanish.
    """
    environment = processor_modes.environment()
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
    part = min(PART, max(1.0, SHARE * (steps + sum(map(np.size, values)))))
    if any(_apart(*found, part) for found in zip(plain, up, down, strict=True)):
        return True
    return inexact and any(map(_is_suspicious, plain, up, down))


def spreads(
    run: Callable[[Sequence[Any]], Results], values: Sequence[Any], plain: Results
) -> list[float]:
    """By how much each of the `plain` results differs with the direction of rounding; nan where one is not finite,
    or that was not measured."""
    environment = processor_modes.environment()
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
