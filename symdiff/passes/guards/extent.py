"""How far a condition holds around a point, by bisection along lines.

Before:  abs(x) < 1e-4, from 0 along x
After:   1e-4

Requires: a condition in variables that are 0 at the point.
Ensures: the number is a lower bound, within a part in 4096.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from symdiff.interpret import Certified
from symdiff.ir import Expr
from symdiff.passes.complete.taylor import WORK

WIDEST = 4
"""Bands reach at most 2**WIDEST from the point."""
WIDE = 2.0 ** (WIDEST + 1)
NARROWEST = -1000
BEYOND = (1.53, 2.03, 3.07, 5.09, 10.3, 60.7, 1.01e3, 1.03e6)
"""Points beyond a band where the condition must not hold again. They are unlikely to lead from one
singular point to another, as 2 leads from one root of 1 - x**2 to the other, which has its own
band."""

Direction = tuple[float, ...]


def value_at_zero(e: Expr, params: Sequence[Expr]) -> float:
    """A node where all parameters are 0."""
    return Certified(params, [e], (), WORK).at([0.0] * len(params))[0]


def reaches(
    taken: Expr, params: Sequence[Expr], directions: Iterable[Direction]
) -> dict[Direction, float] | None:
    """How far a condition holds from 0 along each direction; None if too far along one."""
    ways = list(directions)
    if not ways:
        return {}
    program = Certified(params, [taken], (), WORK)
    if any(_holds(program, d, WIDE) for d in ways):  # this finds most that reach too far
        return None
    found: dict[Direction, float] = {}
    for d in ways:
        found[d] = _reach_along(program, d)
        if found[d] == math.inf:
            return None
    return found


def _holds(program: Certified, direction: Direction, size: float) -> bool:
    return program.at([w * size for w in direction]) == (1.0,)


def _reach_along(program: Certified, direction: Direction) -> float:
    """The distance from 0 along a direction up to which a condition holds that fails at `WIDE`: 0,
    or inf if it holds again farther on."""

    def holds(size: float) -> bool:
        return _holds(program, direction, size)

    if not holds(2.0**NARROWEST):
        return 0.0
    low, high = NARROWEST, WIDEST + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(2.0**middle) else (low, middle)
    inside, outside = 2.0**low, 2.0**high
    for _ in range(12):
        middle_size = (inside + outside) / 2
        if holds(middle_size):
            inside = middle_size
        else:
            outside = middle_size
    again = any(holds(inside * f) for f in BEYOND) or any(holds(f) for f in BEYOND if f > inside)
    return math.inf if again else inside


def turns_of(n: int) -> list[list[int]]:
    """Which of n variables are large (1) and which are small (-1): all, and such that any two of
    them differ once, as in quotients of their sizes."""
    return [
        [1] * n,
        *([1 - 2 * (i >> k & 1) for i in range(n)] for k in range((n - 1).bit_length())),
    ]
