"""The branches of a function of numbers that no compared call has taken yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir.plain import as_ball
from symdiff.ir.program import Program

PRECISION = 53
WORK, CALLS = 50_000, 64
"""Operations and calls that are spent on looking for branches. Until then calls go through Python."""
TRIES = 3
"""Calls that are compared for a side at which nothing is concluded."""
LOOKED_AT = 64
"""Elements of arrays whose branches are examined in one call."""

Side = tuple[int, bool]
"""A branch of the program and whether its condition holds."""


class Branches:
    """Which sides of the branches of a program no compared call took.

    The program is evaluated in balls at elements of the arguments of a call; a branch that a ball
    does not decide is not followed. After `WORK` operations or `CALLS` calls the search ends.
    """

    def __init__(self, program: Program) -> None:
        self._names = tuple(map(ir.var, program.params))
        self._roots = program.outputs
        self._tape: Tape | None = None
        wheres = [e for e in ir.topological(program.outputs) if e.op is ir.WHERE]
        self._count = 2 * sum(bool(ir.variables((e.args[0],))) for e in wheres)
        self._taken: set[Side] = set()
        self._work, self._calls = WORK, CALLS
        self._vain = 0

    @property
    def open(self) -> bool:
        """Whether there may be a side that no compared call took."""
        return len(self._taken) < self._count and self._work > 0 and self._calls > 0

    def told(self) -> Any:
        """What another process has to know, as JSON has it."""
        return [sorted(self._taken), self._work]

    def tell(self, told: Any) -> None:
        """What another process found."""
        taken, work = told
        self._work = min(self._work, work)
        self._taken |= {(i, bool(side)) for i, side in taken}

    def add(self, points: Iterable[Sequence[float]]) -> None:
        """Note that the program was compared at these points."""
        for point in points:
            self._taken |= self._sides(point)

    def new(self, values: Sequence[Any]) -> list[int]:
        """Elements of the arguments of a call at which a new side is taken, by their place in the
        broadcast shape; of several with the same sides the first."""
        self._calls -= 1
        found, met = [], set(self._taken)
        for place, point in points_of(values, LOOKED_AT):
            if self._work <= 0:
                break
            sides = self._sides(point)
            if not sides <= met:
                met |= sides
                found.append(place)
        return found

    def give_up(self, values: Sequence[Any], places: Sequence[int]) -> None:
        """Note that nothing can be concluded at these elements, after `TRIES` calls."""
        self._vain += 1
        if self._vain >= TRIES:
            self._vain = 0
            self.add(point for k, point in points_of(values, LOOKED_AT) if k in places)

    def _sides(self, point: Sequence[float]) -> set[Side]:
        """The sides that are taken at a point."""
        try:
            tape = self._tape = self._tape or Tape(self._names, self._roots)
            self._work -= len(tape.nodes)
            with exclusive(PRECISION):
                v = tape.run([as_ball(float(x)) for x in point], PRECISION)
        except (UnsupportedError, NotImplementedError, ValueError):  # it has no balls
            self._work = 0
            return set()
        stack, met, sides = list(tape.roots), set[int](), set[Side]()
        while stack:
            i = stack.pop()
            if i in met:
                continue
            met.add(i)
            e = tape.nodes[i]
            args = e.args
            if e.op is ir.WHERE:
                condition = v[tape.index[args[0]]]
                if condition is None:
                    continue
                if ir.variables((args[0],)):
                    sides.add((i, bool(condition)))
                args = (args[0], args[1 if condition else 2])
            stack += [tape.index[a] for a in args]
        return sides


def points_of(values: Sequence[Any], most: int) -> list[tuple[int, list[float]]]:
    """Some elements of arguments that broadcast: the place in the broadcast shape, and the numbers."""
    shape = np.broadcast_shapes(*map(np.shape, values))
    grids = [np.broadcast_to(np.asarray(v), shape) for v in values]
    count = int(np.prod(shape, dtype=np.int64))
    found = []
    for k in sorted({count * j // most for j in range(most)}) if count else ():
        place = np.unravel_index(k, shape)
        found.append((int(k), [float(g[place]) for g in grids]))
    return found
