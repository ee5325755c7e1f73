"""Derivatives at points that a program treats apart, from what they are beside these.

A guard that goes through sums of arrays, as in `np.sum(x) if k == 0 else (np.prod(1 + k*x) - 1)/k`,
is not understood symbolically. So where a call is at such a point (`loops.simplify.guarded_points`),
the program is called beside it as well, on both sides and at several distances, and what it
tends to is extrapolated (Richardson, 1911). If the value is what the values beside it tend to, the derivatives are
those of the smooth function, as for every guard; else, and where those on both sides differ, they
are as written, and a `GuardWarning` says so if those beside the point are others. Where the derivatives that were
written are what those beside tend to, they stay.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from symdiff.errors import GuardWarning, Location
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import tell

LINES = 3
"""Lines through a point of what is computed."""
LEVELS = 6
"""Distances, of which each is half of the one before."""
FIRST, SHRINK, TRIES = 2.0**-6, 2.0**-6, 4
"""The largest distance, how much smaller that of another try is, and how many there are."""
ALIKE, NEAR, SURE = 1e-9, 1e-3, 1e-11
"""Differences, in relation to the largest number, of a value from its limit at a point, and in a band;
and of a limit from the one before it in the extrapolation that is taken for known."""
SIDES = 0.25
"""How much of the difference between both sides may be left at the least distance."""


CLOSE = (2.0**-30, 2.0**-24, 2.0**-18, 2.0**-12, FIRST)
"""Distances at which derivatives are compared with those as written."""

_warned: set[Location] = set()


class Point(Protocol):
    """See `symdiff.loops.simplify.guarded_points.GuardedPoint`."""

    @property
    def place(self) -> int | None: ...
    @property
    def centre(self) -> float: ...
    @property
    def radius(self) -> float: ...


Kernel = Callable[[Sequence[Any]], list[Any]]


@dataclass
class BesideGuards:
    """What computes the derivatives of one kernel there.

    Attributes
    ----------
    derivatives : the kernel without the checks.
    value : that of the value.
    met : that of which conditions hold.
    points : where the value is given apart.
    moved : the parameters by which is differentiated.
    own : how many parameters the value has: those after them are of products with vectors.
    places : where the points stand in the source.
    """

    derivatives: Kernel
    value: Kernel
    met: Kernel
    points: Sequence[Point]
    moved: Sequence[int]
    own: int
    places: Sequence[Location | None] = ()

    def held(self, values: Sequence[Any]) -> list[Point]:
        """The points at which a call is."""
        return [p for p, holds in zip(self.points, self.met(values), strict=True) if holds]

    def __call__(self, values: Sequence[Any], out: Sequence[Array | None] | None) -> list[Any]:
        """The results at such a point."""
        found, held = self.derivatives(values), self.held(values)
        wide = [_in_doubles(v) for v in values]
        with np.errstate(all="ignore"):
            smooth = self._smooth(wide, held, found) if self._is_limit(wide, held) else None
            if smooth is None:
                self._tell(wide, held, found)
        found = found if smooth is None else smooth
        if out is None:
            return found
        return [r if place is None else put(place, r) for place, r in zip(out, found, strict=True)]

    def _is_limit(self, values: Sequence[Any], held: Sequence[Point]) -> bool:
        """Whether the value is what those beside it tend to."""
        near = NEAR if any(p.radius for p in held) else ALIKE

        def value(values: Sequence[Any]) -> list[Any]:
            return self.value(values[: self.own])

        here = [np.asarray(v, float) for v in value(values)]
        tended = self._limits(value, values, held)
        if any(p.radius for p in held) and not all(
            self._is_free(values, way, FIRST * 2.0 ** (1 - LEVELS))
            and _is_smooth(value, values, held, way)
            for way in self._ways(values, held)
        ):
            return False
        return tended is not None and all(
            np.all(np.abs(a - b) <= near * size)
            for a, (b, _, size) in zip(here, tended, strict=True)
        )

    def _smooth(
        self, values: Sequence[Any], held: Sequence[Point], written: list[Any]
    ) -> list[Any] | None:
        """The derivatives of the smooth function, if there are any."""
        tended = self._limits(self.derivatives, values, held)
        if tended is None:
            return None
        found, unsure = [], 0
        for w, (limit, error, size) in zip(written, tended, strict=True):
            same = np.abs(np.subtract(w, limit)) <= np.maximum(8 * error, SURE * size)
            unsure += int(np.sum(~same & (error > SURE * size)))
            value = np.where(same, w, limit)
            found.append(value.astype(w.dtype) if isinstance(w, np.ndarray) else type(w)(value))
        if unsure:
            tell(unsure, f"{unsure} derivatives at a guarded point are not known to all digits")
        return found

    def _tell(self, values: Sequence[Any], held: Sequence[Point], written: list[Any]) -> None:
        """Warn, once for each line, if derivatives just beside the point, on both sides, are
        others than those as written."""
        way = self._ways(values, held)[0]
        step = next((s for s in CLOSE if self._is_free(values, way, s)), None)
        if step is None:
            return
        up, down = (self.derivatives(_beside(values, way, side)) for side in (step, -step))
        for row in zip(written, up, down, strict=True):
            here, a, b = (np.asarray(v, float).ravel() for v in row)
            sides = [np.isfinite(v) & (np.abs(here - v) > NEAR * np.abs(v)) for v in (a, b)]
            between = np.abs(2 * here - a - b) <= NEAR * (np.abs(a) + np.abs(b))
            differ = sides[0] & sides[1] & ~between  # neither one of two pieces nor a kink
            if np.any(differ):
                k = int(np.argmax(np.where(differ, np.abs(here - a), -1.0)))
                self._warn(held, float(here[k]), float(a[k]))
                return

    def _warn(self, held: Sequence[Point], here: float, there: float) -> None:
        text = (
            "the value at a guard is not the limit of those beside it, or that is not known; derivatives "
            f"there are as written: {here!r}, and {there!r} beside it"
        )
        for point, place in zip(self.points, self.places, strict=False):
            if point in held and place is not None and place not in _warned:
                _warned.add(place)
                warnings.warn_explicit(text, GuardWarning, place.path, place.line)

    def _limits(
        self, kernel: Kernel, values: Sequence[Any], held: Sequence[Point]
    ) -> Tended | None:
        """What the results tend to; None if that is not seen, or differs from side to side."""
        first: Tended | None = None
        for way in self._ways(values, held):
            found = self._limit(kernel, values, held, way)
            if found is None:
                return None
            if first is None:
                first = found
            elif not all(
                np.all(np.abs(a - b) <= 8 * (e + u) + ALIKE * size)
                for (a, e, size), (b, u, _) in zip(first, found, strict=True)
            ):
                return None
        return first

    def _ways(self, values: Sequence[Any], held: Sequence[Point]) -> list[Way]:
        """The directions from which a point is looked at."""
        if all(p.place is not None for p in held):
            return [{p.place: abs(p.centre) or 1.0 for p in held if p.place is not None}]
        rng, found = np.random.default_rng(3), []
        for _ in range(LINES):
            signs = {
                k: rng.choice((-1.0, 1.0), np.shape(values[k]))
                * rng.uniform(0.5, 1.0, np.shape(values[k]))
                for k in self.moved
            }  # fmt: skip
            sizes = {k: float(np.max(np.abs(values[k]), initial=0.0)) or 1.0 for k in signs}
            way: Way = {k: sizes[k] * signs[k] for k in signs}
            if not self._is_free(values, way, FIRST):  # what is within a band says nothing of sizes
                way = {k: max(sizes[k], 1.0) * signs[k] for k in signs}
            found.append(way)
        return found

    def _is_free(self, values: Sequence[Any], way: Way, step: float) -> bool:
        """Whether no condition that is computed holds so far from a point, on either side."""
        if all(p.place is not None for p in self.points):
            return True
        beside = [_beside(values, way, s * step) for s in (1, -1)]
        return not any(p.place is None for v in beside for p in self.held(v))

    def _limit(
        self, kernel: Kernel, values: Sequence[Any], held: Sequence[Point], way: Way
    ) -> Tended | None:
        """What the results tend to from one direction and its opposite."""
        best: Tended | None = None
        for number in range(TRIES):
            step = FIRST * SHRINK**number
            least = step * 2.0 ** (1 - LEVELS)
            if any(p.place is not None and least <= 2 * p.radius for p in held):
                break
            if not self._is_free(values, way, least):
                break
            found = _tended(kernel, values, way, step)
            if found is None:
                continue
            if best is None or _worst(found) < _worst(best):
                best = found
            if _worst(best) <= SURE:
                break
        return best if best is not None and _worst(best) <= math.sqrt(SURE) else None


Tended = list[tuple[Any, Any, float]]
"""Of each result the limit, how far it may be off, and the largest number met."""


Way = dict[int, Any]
"""A direction: of some parameters, how far they move."""


def _is_smooth(kernel: Kernel, values: Sequence[Any], held: Sequence[Point], way: Way) -> bool:
    """Whether values and slopes tend to the same from both sides: else a band is no guard, but a piece
    of the function, such as that of Huber or a dead zone."""
    distances = [FIRST * 2.0**-k for k in range(LEVELS)]
    if any(p.place is not None and distances[-1] <= p.radius for p in held):
        return False
    up, down = (
        [[np.asarray(v, float) for v in kernel(_beside(values, way, s * h))] for h in distances]
        for s in (1, -1)
    )
    for k in range(len(up[0])):
        sides = [np.stack([row[k] for row in rows]) for rows in (up, down)]
        if not all(np.isfinite(side).all() for side in sides):
            continue
        size = max(float(np.max(np.abs(side), initial=0.0)) for side in sides)
        (a, e), (b, u) = map(_at_zero, sides)
        (c, f), (d, v) = (_at_zero(_slopes(side, distances)) for side in sides)
        if np.any(np.abs(a - b) > 8 * (e + u) + ALIKE * size):
            return False
        if np.any(np.abs(c + d) > 8 * (f + v) + ALIKE * size / FIRST):
            return False
    return True


def _slopes(rows: Any, distances: Sequence[float]) -> Any:
    """Those between neighbouring distances."""
    steps = np.diff(distances).reshape(-1, *(1 for _ in rows.shape[1:]))
    return np.diff(rows, axis=0) / steps


def _at_zero(rows: Any) -> tuple[Any, Any]:
    """What rows at distances that halve tend to, and how far that may be off."""
    before = rows[-1]
    for level in range(1, len(rows)):
        before = rows[-1]
        rows = rows[1:] + (rows[1:] - rows[:-1]) / (2.0**level - 1)
    return rows[-1], np.abs(rows[-1] - before)


def _worst(found: Tended) -> float:
    return max((float(np.max(e, initial=0.0)) / s if s else 0.0 for _, e, s in found), default=0.0)


def _tended(kernel: Kernel, values: Sequence[Any], way: Way, step: float) -> Tended | None:
    """The limits by extrapolation from distances up to a step."""
    distances = [step * 2.0**-k for k in range(LEVELS)]
    sides = [
        [[np.asarray(v, float) for v in kernel(_beside(values, way, s * h))] for s in (1, -1)]
        for h in distances
    ]
    found: Tended = []
    orders: tuple[int, ...]
    for k in range(len(sides[0][0])):
        up, down = (np.stack([pair[side][k] for pair in sides]) for side in (0, 1))
        if np.isfinite(up).all() and np.isfinite(down).all():
            size = float(max(np.max(np.abs(up), initial=0.0), np.max(np.abs(down), initial=0.0)))
            apart = np.abs(up - down)
            if np.any(apart[-1] > SIDES * apart[0] + math.sqrt(SURE) * size):
                return None
            rows, orders = (up + down) / 2, (2, 1)
        elif np.isfinite(up).all() or np.isfinite(down).all():  # the other is outside of the domain
            rows, orders = (up if np.isfinite(up).all() else down), (1,)
            size = float(np.max(np.abs(rows), initial=0.0))
        else:
            return None
        found.append((*min((_extrapolated(rows, n) for n in orders), key=_off), size))
    return found


def _extrapolated(rows: Any, order: int) -> tuple[Any, Any]:
    """What rows at distances that halve tend to, and how far that may be off, if they go by powers of that
    order: those of functions of norms may have odd ones on both sides."""
    before = rows[-1]
    for level in range(1, LEVELS):
        rows = rows[1:] + (rows[1:] - rows[:-1]) / (2.0 ** (order * level) - 1)
        if level == LEVELS - 2:
            before = rows[-1]
    return rows[-1], np.abs(rows[-1] - before)


def _off(found: tuple[Any, Any]) -> float:
    return float(np.max(found[1], initial=0.0))


def _beside(values: Sequence[Any], way: Way, step: float) -> list[Any]:
    found = list(values)
    for k, direction in way.items():
        found[k] = values[k] + step * direction
        if not isinstance(found[k], np.ndarray) or not found[k].shape:
            found[k] = float(found[k])
    return found


def _in_doubles(v: Any) -> Any:
    """An argument in double precision, if it is a real one."""
    if isinstance(v, np.ndarray) and v.dtype.kind == "f":
        return v.astype(float, copy=False)
    return float(v) if isinstance(v, np.floating) else v


__all__ = ["BesideGuards"]
