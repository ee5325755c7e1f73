"""Errors of a guard's derivatives where it could not be proved right.

Before:  capacity of a sphere where a == c, else sqrt(a*a - c*c)/acos(c/a), at a = c
After:   the guard has slope 1 by a instead of 2/3

Requires: a guard, moved so that its point is 0. Ensures: compares one-sided difference quotients near the point, in
balls; nothing is proved by it, and nothing rewritten: it is said in a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symdiff.interpret import Certified
from symdiff.ir import Expr

STEPS = (2.0**-20, 2.0**-30)
"""Distances from the point at which the sides are compared."""
CONVERGED = 1e-3
"""Slopes over two steps, or on both sides, count as equal within this relative difference."""
SEEN = 1e-6
"""The least difference of slopes, relative to the values, that is reported."""
WORK = 200_000


class Missed(NamedTuple):
    """The variable of differentiation, the guard's slope, and that of the other side."""

    variable: Expr
    guarded: float
    other: float


def missed_slope(
    params: Sequence[Expr], small: Expr, other: Expr, varied: Sequence[Expr]
) -> Missed | None:
    """A slope that differs from the guard's, though its value is the limit, along one of the
    variables that lead away from the point; None if none is found: also where the two sides of a
    kink differ, or one side has no slope."""
    program = Certified(params, [other, small], (), WORK)
    (_, at) = program.at_with_status([0.0] * len(params))
    if at.status != "exact":
        return None
    for v in varied:
        found: list[tuple[float, float]] = []
        for sign in (1.0, -1.0):
            side = _side(program, [sign * (p is v) for p in params], at.value)
            if side == "open":
                found = []
                break
            if not isinstance(side, str):
                found.append((sign * side[0], sign * side[1]))
        gaps = [gap for gap, _ in found]
        if not gaps or max(gaps) - min(gaps) > CONVERGED * max(map(abs, gaps)):
            continue
        gap, own = found[0]
        if abs(gap) > SEEN * max(abs(own), abs(at.value)):
            return Missed(v, own, own + gap)
    return None


def _side(
    program: Certified, direction: Sequence[float], value: float
) -> tuple[float, float] | str:
    """How much faster the other side changes than the guard's value, which is given at the point,
    and how fast that does; "outside" if it has no value, "open" if the test fails."""
    gaps, own = [], 0.0
    for h in STEPS:
        other, small = program.at_with_status([h * d for d in direction])
        if "domain" in (other.status, small.status):
            return "outside"
        if (
            other.ball is None
            or small.ball is None
            or not (other.ball.is_finite() and small.ball.is_finite())
        ):
            return "open"
        gap = (other.ball - small.ball) / h
        gaps.append(float(gap.mid()))
        if float(gap.rad()) > CONVERGED * abs(gaps[-1]):
            gaps[-1] = 0.0
        own = (small.value - value) / h
    if abs(gaps[0] - gaps[1]) > CONVERGED * abs(gaps[1]):
        return "open"
    return gaps[1], own
