"""Derivatives at points that a program treats apart: how they are found
`runtime.loops.guard_limits` says. Where they are as written, and those beside are
others, a `GuardWarning` says so."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from symdiff.errors import GuardWarning, Location
from symdiff.runtime.loops.arguments import put
from symdiff.runtime.loops.guard_limits import GuardLimits
from symdiff.runtime.scalar.elementwise import Array
from symdiff.runtime.scalar.fallback import tell

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


class BesideGuards:
    """What computes the derivatives of one kernel there.

    Parameters
    ----------
    derivatives : the kernel without the checks.
    value : that of the value.
    met : that of which conditions hold.
    points : where the value is given apart.
    moved : the parameters by which is differentiated.
    own : how many parameters the value has: those after them are of products with vectors.
    places : where the points stand in the source.
    """

    def __init__(
        self,
        derivatives: Kernel,
        value: Kernel,
        met: Kernel,
        points: Sequence[Point],
        moved: Sequence[int],
        own: int,
        places: Sequence[Location | None] = (),
    ) -> None:
        given = [(p.place, p.centre, p.radius) for p in points]
        self.derivatives, self.places = derivatives, places
        self._beside = GuardLimits(derivatives, value, met, given, moved, own)

    def held(self, values: Sequence[Any]) -> list[int]:
        """The places among the points of those at which a call is."""
        return list(self._beside.held(values))

    def __call__(self, values: Sequence[Any], out: Sequence[Array | None] | None) -> list[Any]:
        """The results at such a point."""
        found = self.derivatives(values)
        smooth, told = self._beside.tended(values, found)
        if smooth is not None:
            found = smooth
            if told:
                tell(told, f"{told} derivatives at a guarded point are not known to all digits")
        elif told is not None:
            self._warn(self.held(values), *told)
        if out is None:
            return found
        return [r if place is None else put(place, r) for place, r in zip(out, found, strict=True)]

    def _warn(self, held: Sequence[int], here: float, there: float) -> None:
        """Warn, once for each line."""
        text = (
            "the value at a guard is not the limit of those beside it, or that is not known; derivatives "
            f"there are as written: {here!r}, and {there!r} beside it"
        )
        for k, place in enumerate(self.places):
            if k in held and place is not None and place not in _warned:
                _warned.add(place)
                warnings.warn_explicit(text, GuardWarning, place.path, place.line)


__all__ = ["BesideGuards"]
