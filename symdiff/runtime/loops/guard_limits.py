"""Derivatives at points that a program treats apart, from what they are beside these.

A guard that goes through sums of arrays, as in `np.sum(x) if k == 0 else (np.prod(1 + k*x) - 1)/k`,
is not understood symbolically. So where a call is at such a point (`loops.simplify.guarded_points`),
the program is called beside it as well, on both sides and at several distances, and what it
tends to is extrapolated (Richardson, 1911). If the value is what the values beside it tend to, the derivatives are
those of the smooth function, as for every guard; else, and where those on both sides differ, they
are as written, and that is told if those beside the point are others. Where the derivatives that were
written are what those beside tend to, they stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = Any
"""A NumPy array of numbers."""
Values = Sequence[Any]
Kernel = Callable[[Sequence[Any]], list[Any]]
Way = dict[int, Any]
"""How far some parameters move, by their place."""
Limit = tuple[Array, Array, float]
"""What a result tends to, how far that may be off, and the largest number met."""

_LINES = 3
"""Lines through a point of what is computed."""
_LEVELS = 6
"""Distances, of which each is half of the one before."""
_FIRST = 2.0**-6
"""The largest distance."""
_SHRINK = 2.0**-6
"""How much smaller that of another try is."""
_TRIES = 4
"""How many there are."""
_ALIKE = 1e-9
"""The difference, in relation to the largest number, of a value from its limit at a point."""
_NEAR = 1e-3
"""The same in a band."""
_SURE = 1e-11
"""That of a limit from the one before it in the extrapolation that is taken for known."""
_SIDES = 0.25
"""How much of the difference between both sides may be left at the least distance."""
_CLOSE = (2.0**-30, 2.0**-24, 2.0**-18, 2.0**-12, 2.0**-6)
"""Distances at which derivatives are compared with those as written."""


class GuardLimits:
    """What computes derivatives there.

    Attributes
    ----------
    derivatives, value : what computes those and the values from the arguments, without such points.
    met : which conditions hold.
    points : of each condition the place of the parameter that it is of, if it is of one, its centre there
        and its radius.
    moved : the parameters by which is differentiated.
    own : how many parameters the value has: those after them are of products with vectors.
    """

    def __init__(
        self,
        derivatives: Kernel,
        value: Kernel,
        met: Kernel,
        points: Sequence[tuple[int | None, float, float]],
        moved: Sequence[int],
        own: int | None = None,
    ) -> None:
        self.derivatives, self.value, self.met = derivatives, value, met
        self.points, self.moved, self.own = points, moved, own

    def held(self, values: Values) -> list[int]:
        """The places of the points at which a call is."""
        return [k for k, holds in enumerate(self.met(values)) if holds]

    def tended(self, values: Values, written: Values) -> tuple[list[Any] | None, Any]:
        """The derivatives of the smooth function and how many of them are not known to all digits; None for
        those as they are written, with one of those and the one beside it if these differ."""
        held, values = self.held(values), [_in_doubles(v) for v in values]
        with np.errstate(all="ignore"):
            if self._is_limit(values, held):
                found = self._smooth(values, held, written)
                if found is not None:
                    return found
            return None, self._other(values, written)

    def _is_limit(self, values: Values, held: Sequence[int]) -> bool:
        """Whether the value is what those beside it tend to."""
        bands = any(self.points[k][2] for k in held)
        near = _NEAR if bands else _ALIKE

        def value(values: Values) -> list[Any]:
            return self.value(values[: self.own])

        here = [np.asarray(v, float) for v in value(values)]
        tended = self._limits(value, values, held)
        if bands and not all(
            self._is_free(values, way, _FIRST * 2.0 ** (1 - _LEVELS))
            and self._is_smooth(value, values, held, way)
            for way in self._ways(values, held)
        ):
            return False
        return tended is not None and all(
            np.all(np.abs(a - b) <= near * size)
            for a, (b, _, size) in zip(here, tended, strict=False)
        )

    def _smooth(
        self, values: Values, held: Sequence[int], written: Values
    ) -> tuple[list[Any], int] | None:
        """The derivatives of the smooth function, if there are any, and how many are not known."""
        tended = self._limits(self.derivatives, values, held)
        if tended is None:
            return None
        found, unsure = [], 0
        for w, (limit, error, size) in zip(written, tended, strict=False):
            same = np.abs(np.subtract(w, limit)) <= np.maximum(8 * error, _SURE * size)
            unsure += int(np.sum(~same & (error > _SURE * size)))
            value = np.where(same, w, limit)
            found.append(value.astype(w.dtype) if isinstance(w, np.ndarray) else type(w)(value))
        return found, unsure

    def _other(self, values: Values, written: Values) -> tuple[float, float] | None:
        """A derivative that was written and that just beside the point, on both sides, if these differ."""
        way = self._ways(values, self.held(values))[0]
        step = next((s for s in _CLOSE if self._is_free(values, way, s)), None)
        if step is None:
            return None
        up, down = (self.derivatives(_moved_by(values, way, side)) for side in (step, -step))
        for row in zip(written, up, down, strict=False):
            here, a, b = (np.asarray(v, float).ravel() for v in row)
            sides = [np.isfinite(v) & (np.abs(here - v) > _NEAR * np.abs(v)) for v in (a, b)]
            between = np.abs(2 * here - a - b) <= _NEAR * (np.abs(a) + np.abs(b))
            differ = sides[0] & sides[1] & ~between  # neither one of two pieces nor a kink
            if np.any(differ):
                k = int(np.argmax(np.where(differ, np.abs(here - a), -1.0)))
                return here.tolist()[k], a.tolist()[k]
        return None

    def _limits(self, kernel: Kernel, values: Values, held: Sequence[int]) -> list[Limit] | None:
        """What the results tend to; None if that is not seen, or differs from side to side."""
        first = None
        for way in self._ways(values, held):
            found = self._limit(kernel, values, held, way)
            if found is None:
                return None
            if first is None:
                first = found
            elif not all(
                np.all(np.abs(a - b) <= 8 * (e + u) + _ALIKE * size)
                for (a, e, size), (b, u, _) in zip(first, found, strict=False)
            ):
                return None
        return first

    def _ways(self, values: Values, held: Sequence[int]) -> list[Way]:
        """The directions from which a point is looked at: of some parameters, how far they move."""
        if all(self.points[k][0] is not None for k in held):
            near = [self.points[k] for k in held]
            return [{p: abs(centre) or 1.0 for p, centre, _ in near if p is not None}]
        rng, found = np.random.default_rng(3), []
        for _ in range(_LINES):
            signs = {
                k: rng.choice((-1.0, 1.0), np.shape(values[k]))
                * rng.uniform(0.5, 1.0, np.shape(values[k]))
                for k in self.moved
            }
            sizes = {k: float(np.max(np.abs(values[k]), initial=0.0)) or 1.0 for k in signs}
            way = {k: sizes[k] * signs[k] for k in signs}
            if not self._is_free(
                values, way, _FIRST
            ):  # what is within a band says nothing of sizes
                way = {k: max(sizes[k], 1.0) * signs[k] for k in signs}
            found.append(way)
        return found

    def _is_free(self, values: Values, way: Way, step: float) -> bool:
        """Whether no condition that is computed holds so far from a point, on either side."""
        if all(place is not None for place, _, _ in self.points):
            return True
        beside = [_moved_by(values, way, s * step) for s in (1, -1)]
        return not any(self.points[k][0] is None for v in beside for k in self.held(v))

    def _limit(
        self, kernel: Kernel, values: Values, held: Sequence[int], way: Way
    ) -> list[Limit] | None:
        """What the results tend to from one direction and its opposite: of each the limit, how far it may
        be off, and the largest number met."""
        best, bands = None, [self.points[k][2] for k in held if self.points[k][0] is not None]
        for number in range(_TRIES):
            step = _FIRST * _SHRINK**number
            least = step * 2.0 ** (1 - _LEVELS)
            if any(least <= 2 * radius for radius in bands):
                break
            if not self._is_free(values, way, least):
                break
            found = _tended(kernel, values, way, step)
            if found is None:
                continue
            if best is None or _largest_error(found) < _largest_error(best):
                best = found
            if _largest_error(best) <= _SURE:
                break
        if best is None or _largest_error(best) > math.sqrt(_SURE):
            return None
        return best

    def _is_smooth(self, kernel: Kernel, values: Values, held: Sequence[int], way: Way) -> bool:
        """Whether values and slopes tend to the same from both sides: else a band is no guard, but a piece
        of the function, such as that of Huber or a dead zone."""
        distances = [_FIRST * 2.0**-k for k in range(_LEVELS)]
        if any(distances[-1] <= self.points[k][2] for k in held if self.points[k][0] is not None):
            return False
        up, down = (
            [
                [np.asarray(v, float) for v in kernel(_moved_by(values, way, s * h))]
                for h in distances
            ]
            for s in (1, -1)
        )
        for k in range(len(up[0])):
            sides = [np.stack([row[k] for row in rows]) for rows in (up, down)]
            if not all(np.isfinite(side).all() for side in sides):
                continue
            size = max(float(np.max(np.abs(side), initial=0.0)) for side in sides)
            (a, e), (b, u) = (_at_zero(side) for side in sides)
            (c, f), (d, v) = (_at_zero(_slopes_of(side, distances)) for side in sides)
            if np.any(np.abs(a - b) > 8 * (e + u) + _ALIKE * size):
                return False
            if np.any(np.abs(c + d) > 8 * (f + v) + _ALIKE * size / _FIRST):
                return False
        return True


def _slopes_of(rows: Array, distances: Sequence[float]) -> Array:
    """Those between neighbouring distances."""
    steps = np.diff(distances).reshape(-1, *(1 for _ in rows.shape[1:]))
    return np.diff(rows, axis=0) / steps


def _at_zero(rows: Array) -> tuple[Array, Array]:
    """What rows at distances that halve tend to, and how far that may be off."""
    before = rows[-1]
    for level in range(1, len(rows)):
        before = rows[-1]
        rows = rows[1:] + (rows[1:] - rows[:-1]) / (2.0**level - 1)
    return rows[-1], np.abs(rows[-1] - before)


def _largest_error(found: Sequence[Limit]) -> float:
    return max((float(np.max(e, initial=0.0)) / s if s else 0.0 for _, e, s in found), default=0.0)


def _tended(kernel: Kernel, values: Values, way: Way, step: float) -> list[Limit] | None:
    """The limits by extrapolation from distances up to a step."""
    distances = [step * 2.0**-k for k in range(_LEVELS)]
    sides = [
        [[np.asarray(v, float) for v in kernel(_moved_by(values, way, s * h))] for s in (1, -1)]
        for h in distances
    ]
    found = []
    for k in range(len(sides[0][0])):
        up, down = (np.stack([pair[side][k] for pair in sides]) for side in (0, 1))
        if np.isfinite(up).all() and np.isfinite(down).all():
            size = float(max(np.max(np.abs(up), initial=0.0), np.max(np.abs(down), initial=0.0)))
            apart = np.abs(up - down)
            if np.any(apart[-1] > _SIDES * apart[0] + math.sqrt(_SURE) * size):
                return None
            rows, orders = (up + down) / 2, [2, 1]
        elif np.isfinite(up).all() or np.isfinite(down).all():  # the other is outside of the domain
            rows, orders = (up if np.isfinite(up).all() else down), [1]
            size = float(np.max(np.abs(rows), initial=0.0))
        else:
            return None
        ends = [_at_end(rows, n) for n in orders]
        found.append((*min(ends, key=lambda end: float(np.max(end[1], initial=0.0))), size))
    return found


def _at_end(rows: Array, order: int) -> tuple[Array, Array]:
    """What rows at distances that halve tend to, and how far that may be off, if they go by powers of that
    order: those of functions of norms may have odd ones on both sides."""
    before = rows[-1]
    for level in range(1, _LEVELS):
        rows = rows[1:] + (rows[1:] - rows[:-1]) / (2.0 ** (order * level) - 1)
        if level == _LEVELS - 2:
            before = rows[-1]
    return rows[-1], np.abs(rows[-1] - before)


def _moved_by(values: Values, way: Way, step: float) -> list[Any]:
    found = list(values)
    for k, direction in way.items():
        found[k] = values[k] + step * direction
        if not isinstance(found[k], np.ndarray) or not found[k].shape:
            found[k] = float(found[k])
    return found


def _in_doubles(v: Any) -> Any:
    """An argument in double precision, if it is a real one."""
    if isinstance(v, np.ndarray) and v.dtype.kind == "f":
        return v.astype(np.float64, copy=False)
    return float(v) if isinstance(v, np.floating) else v


__all__ = ["GuardLimits"]
