"""Points of numbers that a program treats apart, and whose derivatives are looked at when it is called there.

Before:  return where(k == 0, sum(x), (product(1 + k*x) - 1)/k)
After:   the same, and a check "accuracy" that k == 0 does not hold

Requires: a program of derivatives, not to be differentiated any more.
Ensures: equal results; the check fails at the points. Guards whose formulas stand in one block are
understood by `passes.guards`; what goes through sums and products of arrays, which are names there, is
left as it was written. `runtime.loops.beside_guards` asks at run time whether it is the limit.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ABS, EQ, LE, LT, SUB, Expr
from symdiff.ir.loop_program import Check, LoopProgram, expressions, walk

WIDEST = Fraction(1, 1000)
"""The radius of a band that only avoids a point."""


class GuardedPoint(NamedTuple):
    """A condition on one parameter that holds at a point or close to it."""

    condition: Expr
    place: int
    centre: float
    radius: float

    def holds(self, value: float) -> bool:
        """Whether a value is there, or so close that it may be."""
        return abs(value - self.centre) <= self.radius


def guarded_points(
    program: LoopProgram, value: LoopProgram, by: Container[str]
) -> tuple[GuardedPoint, ...]:
    """The points that are left in a program of derivatives.

    Parameters
    ----------
    value : the simplified program of the value.
    by : the parameters by which is differentiated.
    """
    places = {
        p.leaf: k for k, p in enumerate(program.params)
        if p.type.kind == "f" and not p.type.shape and p.name in by
    }  # fmt: skip
    if not places:
        return ()
    left = set(_conditions(program))
    found = []
    for c in _conditions(value):
        if c in left and (point := _point(c)) is not None and point[0] in places:
            leaf, centre, radius = point
            found.append(GuardedPoint(c, places[leaf], float(centre), float(radius)))
    return tuple(found)


def told(program: LoopProgram, points: tuple[GuardedPoint, ...]) -> LoopProgram:
    """The program with checks that fail at the points."""
    checks = tuple(
        Check(ir.not_(p.condition), "accuracy", f"{program.name}: at a guarded point")
        for p in points
    )
    return replace(program, block=(*program.block, *checks))


def _conditions(program: LoopProgram) -> list[Expr]:
    every = (e for s in walk(program.block) for e in expressions(s))
    order = ir.topological((*every, *program.outputs))
    return [n for n in order if n.op in (EQ, LT, LE)]


def _point(c: Expr) -> tuple[Expr, Fraction, Fraction] | None:
    """The variable of a condition, the point and the radius."""
    a, b = c.args
    if c.op is EQ:
        if ir.rational(a) is not None:
            a, b = b, a
        u, radius = a - b, Fraction(0)
    else:
        if a.op is not ABS or (bound := ir.rational(b)) is None or not 0 < bound <= WIDEST:
            return None
        u, radius = a.args[0], bound
    leaf, centre = (u.args[0], ir.rational(u.args[1])) if u.op is SUB else (u, Fraction(0))
    return None if centre is None or leaf.op is not ir.VAR else (leaf, centre, radius)


__all__ = ["GuardedPoint", "guarded_points", "told"]
