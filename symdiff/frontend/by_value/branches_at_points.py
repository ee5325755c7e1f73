"""Branches that are taken at the arguments only: decisions by equal numbers, and runs on both sides of the point.

`x < y` at x == y is decided as on the side x >= y. So the branch taken is also taken near the point, on the side
on which all such decisions are the same. Where there is none for an argument (`x == y`, or `x >= y and x <= y`), the
function is run on both sides of the point, along the axis of that argument: at the same arguments, with decisions by
equal numbers as they are there.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError
from symdiff.frontend.by_value import outputs
from symdiff.frontend.by_value.arrays import RealArray, lifted
from symdiff.frontend.by_value.complex_scalars import Complex
from symdiff.frontend.by_value.reals import (
    OPERATIONS,
    SIDED,
    Real,
    made,
    raw,
    same_formula,
    variable,
)
from symdiff.frontend.by_value.sweeps import pulled_back, pushed_forward
from symdiff.frontend.by_value.ties import undecided

EXAMINED = 1000
"""Decisions by equal numbers that depend on arguments, which are examined one by one."""


@dataclass(slots=True)
class Followed:
    """A function, called with scalars.

    Attributes
    ----------
    result, raised, refused : what it returned, or why it did not.
    inside : the scalars of each leaf of the arguments.
    operations : how many there were.
    met, guards : decisions by equal numbers and by others, as `reals.Record` has them.
    """

    result: Any
    raised: Exception | None
    refused: UnsupportedError | None
    inside: list[list[Real]]
    operations: int
    met: list[tuple[Any, Any, int]]
    guards: list[tuple[str, Any, Any]] | None


@dataclass(frozen=True, slots=True)
class Near:
    """A run at the point, or near it.

    Attributes
    ----------
    first : the run before, whose scalars of arguments these are.
    live : the places of the scalars by which there are derivatives.
    along, side : the run is on this side (1 or -1) along the axis of a scalar; 0: at the point.
    """

    first: Followed
    live: frozenset[int]
    along: Real | None = None
    side: int = 0

    def entered(self, k: int, leaf: Any) -> Any:
        """A leaf of the arguments."""
        items = [x if x.n in self.live else variable(x.v) for x in self.first.inside[k]]
        if not isinstance(leaf, np.ndarray):
            return items[0]
        found = np.empty(leaf.shape, object)
        found.reshape(-1)[:] = items
        return found.view(RealArray) if found.ndim else found[()]

    def side_of(self, a: Any, b: Any) -> int:
        """The sign of `a - b` there, of two numbers that are equal at the point."""
        assert self.along is not None
        (slope,) = pulled_back([a, b], [1.0, -1.0], [self.along], False)
        return 0 if math.isnan(slope) else self.side * int(np.sign(slope))


def decided_alone(run: Followed) -> list[Real]:
    """The scalars of arguments on neither side of which the decisions by equal numbers are those of a run."""
    leaves = list({x.n: x for leaf in run.inside for x in leaf}.values())
    depending = _depending(run.met, leaves)
    if len(depending) > EXAMINED:
        return leaves
    same = {x.n: {1, -1} for x in leaves}
    for a, b, side in depending:
        for x, slope in zip(leaves, pulled_back([a, b], [1.0, -1.0], leaves, False), strict=True):
            if slope != 0:
                same[x.n] &= set() if math.isnan(slope) else {int(side * np.sign(slope))}
    return [x for x in leaves if not same[x.n]]


def _depending(
    met: Sequence[tuple[Any, Any, int]], leaves: Sequence[Real]
) -> list[tuple[Any, Any, int]]:
    """The decisions whose numbers have different slopes, along a direction that is no special one."""
    if not met:
        return []
    draw = random.Random(1)
    tangents = {x.n: draw.uniform(0.5, 1.5) for x in leaves}
    of_a = pushed_forward([a for a, _, _ in met], tangents, False)
    of_b = pushed_forward([b for _, b, _ in met], tangents, False)
    distinct = {}
    for m, s, t in zip(met, of_a, of_b, strict=True):
        if s != t:
            distinct[id(m[0]), id(m[1]) if type(m[1]) is Real else 0, m[2]] = m
    return list(distinct.values())


def near_the_point(
    first: Followed, followed: Callable[[Near], Followed], alone: list[Real], value: Any, order: int
) -> tuple[Any, str]:
    """The result of a run, with slopes of both sides by the scalars whose decisions hold at the point alone.

    Returns the result and what is special, as `trace.Run` has it.
    """
    leaves = frozenset(x.n for leaf in first.inside for x in leaf)
    places = frozenset(x.n for x in alone)
    if 2 * len(alone) * first.operations > OPERATIONS:
        return _unknown(first.result, alone), "nan"
    if order > 1 and len(leaves) > 1:
        return _on_all_sides(first, followed, alone, value, leaves)
    base = followed(Near(first, leaves - places)).result
    parts, jumps, unknown = [], [], []
    for x in alone:
        live = frozenset([x.n])
        sides = [followed(Near(first, live, x, side)) for side in (1, -1)]
        if not all(map(_returned, sides)):
            unknown.append(x)
        elif all(outputs.agree(s.result, value) for s in sides):
            parts += [s.result for s in sides]
        elif all(outputs.finite(s.result) for s in sides):
            jumps.append(x)
            parts += [followed(Near(first, live)).result] * 2
        else:
            unknown.append(x)
    result = _combined(base, parts)
    if unknown:
        return _unknown(result, unknown), "nan"
    return result, "jump" if jumps else ""


def _returned(run: Followed) -> bool:
    return run.raised is None and run.refused is None


def _on_all_sides(
    first: Followed, followed: Callable[[Near], Followed], alone: list[Real], value: Any,
    leaves: frozenset[int],
) -> tuple[Any, str]:  # fmt: skip
    """The same for derivatives of derivatives: that of the one formula that holds on all sides."""
    sides = [followed(Near(first, leaves, x, side)) for x in alone for side in (1, -1)]
    one = all(map(_returned, sides)) and all(_alike(s.result, sides[0].result) for s in sides)
    if one and outputs.agree(sides[0].result, value):
        return sides[0].result, ""
    if one and outputs.finite(sides[0].result):
        return first.result, "jump"
    return _unknown(first.result, alone), "nan"


def _numbers(result: Any) -> list[Any]:
    return [x for leaf in outputs.leaves(result) for x in outputs.parts(leaf)]


def _alike(a: Any, b: Any) -> bool:
    """Whether two results were computed by the same operations."""
    if not outputs.agree(a, outputs.mapped(b, outputs.doubles)):
        return False
    pairs = zip(_numbers(a), _numbers(b), strict=True)
    return all(
        same_formula(x, y) if type(x) is type(y) is Real else type(x) is type(y) for x, y in pairs
    )


def _mapped(result: Any, change: Callable[[Any], Any]) -> Any:
    """A result with another scalar for each number in it."""

    def of_leaf(leaf: Any) -> Any:
        if not isinstance(leaf, np.ndarray):
            return of_item(leaf)
        found = np.empty(leaf.shape, object)
        found.reshape(-1)[:] = [of_item(x) for x in outputs.elements(leaf)]
        return lifted(found)

    def of_item(x: Any) -> Any:
        return Complex(change(x.real), change(x.imag)) if outputs.is_complex(x) else change(x)

    return outputs.mapped(result, of_leaf)


def _combined(base: Any, parts: Sequence[Any]) -> Any:
    """A result whose slopes are the sum of those of its parts."""
    streams = [iter(_numbers(p)) for p in parts]
    return _mapped(base, lambda x: made(raw(x), SIDED, x, *map(next, streams)))


def _unknown(result: Any, by: list[Real]) -> Any:
    """A result whose slopes by some scalars are not known."""
    return _mapped(result, lambda x: undecided(x, by))
