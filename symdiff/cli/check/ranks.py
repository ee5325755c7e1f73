"""What a finding is worth: whether a user reaches the point, and how bad it is there.

An *error* is a value that is not finite, a guard whose value is not the limit, or a result without a
right digit, where people compute. A *warning* is a loss of more than half the digits there. A *note* is
what needs numbers of extreme size, or is in the nature of the function.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from symdiff import ir
from symdiff.cli.check.findings import LEVELS
from symdiff.diagnostics.naive import Naive
from symdiff.errors import Location
from symdiff.ir import Expr
from symdiff.ir.formula_text import text_of
from symdiff.ir.nodes import cut
from symdiff.ir.program import Program
from symdiff.passes.stabilise import Rewrite, stabilise
from symdiff.pipeline.samples import LARGEST, Array, Point, box

ERROR, WARNING, NOTE = LEVELS

SMALL, LARGE = 1e-6, 1e6
"""People compute with 0 and numbers of these sizes, unless they declare other bounds."""
ROOTS = 1e9
"""Singular points are examined from the inverse of this size up to it."""
SEEN = 2.0**-27
"""A wrong result is an error if it is wrong by more than this, relative to 1."""


class Reach:
    """The points where people compute with a function.

    Parameters
    ----------
    params : the names of its parameters.
    conditions : what is declared of them.
    """

    def __init__(self, params: Sequence[str], conditions: Iterable[Expr]) -> None:
        self.low, self.high = box(params, conditions)

    def along(self, axis: int, xs: Array, roots: Array) -> Array:
        """Which of the numbers along a line people reach, and which are near its roots."""
        low, high = float(self.low[axis]), float(self.high[axis])
        if low > -LARGEST and high < LARGEST:
            return np.ones(len(xs), bool)
        ends = [abs(e) for e in (low, high) if 0 < abs(e) < LARGEST]
        size = np.abs(xs)
        reached: Array = (size == 0) | (min([SMALL, *ends]) <= size) & (size <= max([LARGE, *ends]))
        near = size[roots & (size > 1 / ROOTS) & (size < ROOTS)]
        for root in near[(near < SMALL) | (near > LARGE)]:
            reached |= (root / 10 <= size) & (size <= 10 * root)
        return reached

    def holds(self, point: Point) -> bool:
        """Whether all coordinates of a point are such numbers."""
        none = np.zeros(1, bool)
        return all(self.along(k, np.array([x]), none)[0] for k, x in enumerate(point))


def level(reached: bool, excused: bool, got: float, right: float) -> str:
    """How bad a result is at a point.

    Parameters
    ----------
    reached : whether people get there.
    excused : whether any other formula would lose as much.
    """
    if not reached or excused:
        return NOTE
    if not math.isfinite(got):
        return ERROR
    return ERROR if got * right <= 0 and abs(got - right) > SEEN * max(1.0, abs(got)) else WARNING


class Fixes:
    """What symdiff would write in place of the operations of a program, where that mends them."""

    def __init__(self, program: Program, wrt: Sequence[str]) -> None:
        self.program, self.wrt = program, wrt
        self.by_line: dict[int, str] = {}
        found: list[Rewrite] = []
        self.outputs = stabilise(program.outputs, found)
        for r in found:
            if (place := self._place(r.before)) is not None:
                self.by_line.setdefault(place.line, _text(r))

    def of(
        self, node: Expr, place: Location | None, point: Sequence[float], output: int, right: float
    ) -> str:
        """The fix for the operation that is to blame for an output at a point; empty if there is no
        single one, or the plain chain rule is as bad with it."""
        found: list[Rewrite] = []
        stabilise((node,), found)
        text = _text(found[-1]) if found else self.by_line.get(place.line, "") if place else ""
        if not text:
            return ""
        got = self._mended.at(point)[output]
        return text if abs(got - right) <= 2.0**-26 * abs(right) else ""

    @functools.cached_property
    def _mended(self) -> Naive:
        return Naive(replace(self.program, outputs=self.outputs), self.wrt)

    def _place(self, e: Expr) -> Location | None:
        places: Mapping[Expr, Location] = self.program.locations
        return next((places[n] for n in (e, *reversed(ir.topological((e,)))) if n in places), None)


def _text(r: Rewrite) -> str:
    return f"write {cut(text_of(r.after), 60)} for {cut(text_of(r.before), 60)}"
