"""Second derivatives at points where kinks meet, from what they are beside these.

The slopes of maxima and of absolute values that loops have found are means where there is a tie, and
products of means are no means of products: max(v)**2 has second derivatives 2 and 0 beside a tie, and
(1/2)**2*2 is neither. So a kernel of second derivatives has nan for such slopes
(`loops.simplify.undefined_ties`). Where that shows in a result, the kernel with the mean slopes
is called at the point and at points close to it, in pairs on lines through it. The mean of a pair
differs in second order from that of the two sides, and is it for the two sides of one kink:

- where all lines have one mean, that is the result; it is taken from the mean slopes where these give
  the same, as for the logarithm of a sum of exponentials from which the largest is taken away;
- where they have not, as for max(v)**2 at a tie of three, there is no such mean. Results on which the lines
  and the mean slopes agree all the same are right, and others nan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import tell

Kernel = Any
"""What computes results of values."""

LINES = 6
"""Lines through the point."""
NEARER = 2.0**-6
"""A second distance on the first line, so that what changes with the distance shows."""


@dataclass
class Sides:
    """What computes second derivatives where kinks meet.

    Attributes
    ----------
    make : makes a kernel, such as `LoopKernel`.
    arguments : what the kernel with mean slopes is made of.
    moved : the parameters by which is differentiated.
    first : how many of the results are no second derivatives, and stand as they are.
    """

    make: Callable[..., Kernel]
    arguments: tuple[Any, ...]
    moved: tuple[int, ...]
    first: int = 0
    _kernel: Kernel | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Sides, (self.make, self.arguments, self.moved, self.first)

    def __call__(
        self,
        values: Sequence[Any],
        undefined: Sequence[Any],
        out: Sequence[Array | None] | None,
    ) -> list[Any]:
        """The outputs.

        Parameters
        ----------
        values : the arguments, prepared.
        undefined : the outputs with nan for slopes at ties.
        out : where they should be put.
        """
        kernel = self._kernel
        if kernel is None:
            kernel = self._kernel = self.make(*self.arguments)
        found: list[Any] = kernel(values)
        second = range(self.first, len(found))
        hidden = [np.isnan(undefined[k]) & np.isfinite(found[k]) for k in second]
        if any(h.any() for h in hidden):
            lost = 0
            merged = self._merged(kernel, values, [found[k] for k in second], hidden)
            for k, (value, unknown) in zip(second, merged, strict=True):
                found[k], lost = value, lost + unknown
            if lost:
                tell(
                    lost,
                    f"{kernel.program.name}: kinks meet here, and second derivatives are not the same "
                    "on all sides of them: those are nan",
                )
        if out is None:
            return found
        return [r if place is None else put(place, r) for place, r in zip(out, found, strict=True)]

    def _merged(
        self, kernel: Kernel, values: Sequence[Any], means: Sequence[Any], hidden: Sequence[Any]
    ) -> list[tuple[Any, int]]:
        """Each result, and how many numbers of it are not known.

        Parameters
        ----------
        means : the results of mean slopes.
        hidden : where these may be wrong.
        """
        unit = max(
            [np.finfo(np.asarray(v).dtype).eps for k, v in enumerate(values) if k in self.moved],
            default=np.finfo(float).eps,
        )
        far, close = unit**0.5, unit**0.75
        steps = [*((line, far) for line in range(LINES)), (0, far * NEARER)]
        pairs = [self._mean(kernel, values, line, step) for line, step in steps]
        made, known = [], []
        for k, mean in enumerate(means):
            each = np.stack([p[k] for p in pairs])
            size = np.max(np.abs(np.stack([*each, mean])), initial=0.0)
            with np.errstate(all="ignore"):
                known.append(each.max(axis=0) - each.min(axis=0) <= close * size)
                near = np.abs(mean - pairs[-1][k]) <= close * size
            near &= (np.asarray(mean) == 0) == (pairs[-1][k] == 0)
            made.append((mean, pairs[-1][k], near))
        if not all(np.all(alike | ~h) for alike, h in zip(known, hidden, strict=True)):
            known = [alike & near for alike, (*_, near) in zip(known, made, strict=True)]
        found = []
        for alike, h, (mean, between, near) in zip(known, hidden, made, strict=True):
            value = np.where(h, np.where(alike, np.where(near, mean, between), np.nan), mean)
            found.append((_like(value, mean), int(np.sum(h & ~alike))))
        return found

    def _mean(self, kernel: Kernel, values: Sequence[Any], line: int, step: float) -> list[Any]:
        """The mean of the results on the two sides of the point on a line."""
        sides = [kernel(self._beside(values, line, s))[self.first :] for s in (step, -step)]
        with np.errstate(all="ignore"):
            return [(np.asarray(a) + np.asarray(b)) / 2 for a, b in zip(*sides, strict=True)]

    def _beside(self, values: Sequence[Any], line: int, step: float) -> list[Any]:
        """The arguments, moved a little on a line."""
        rng = np.random.default_rng(line)
        found = list(values)
        for k in self.moved:
            v = np.asarray(values[k])
            size = float(np.max(np.abs(v), initial=0.0)) or 1.0
            way = rng.choice((-1.0, 1.0), v.shape) * rng.uniform(0.5, 1.0, v.shape)
            moved = (v + step * size * way).astype(v.dtype)
            found[k] = _like(moved, values[k])
        return found


def _like(value: Array, given: Any) -> Any:
    """A number in place of a number, of the same type."""
    if isinstance(given, np.ndarray):
        return value.astype(given.dtype, copy=False)
    return type(given)(value)


__all__ = ["Sides"]
