"""Compares the chain rule with differences of the captured values, which share no table with it."""

from __future__ import annotations

from typing import Any

from flint import arb

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir.functions.marks import DETACHED
from symdiff.pipeline.validation.oracle import PRECISIONS, Fault, Oracle
from symdiff.pipeline.validation.points import Point

PRECISION = PRECISIONS[1]
DIFFERENCES, DIFFERENCED = 2, 4
"""Points at which the chain rule is compared with differences, by so many variables."""
NUDGE, NUDGE_BITS = 100, 60
"""Binary size of those differences; bits to which they agree with a derivative."""


def rule_fault(oracle: Oracle) -> Fault | None:
    """Where the chain rule itself is not what differences of the captured values say: a
    derivative in the table of functions is wrong. Of first derivatives by few variables."""
    captured, kinds = oracle.captured, [k for k, _ in oracle.path]
    if kinds not in (["gradient"], ["jacobian"]) or len(oracle.path[0][1]) > DIFFERENCED:
        return None
    if oracle.smooth is not None or any(n.op is DETACHED for n in ir.topological(captured.outputs)):
        return None
    wrt, n = oracle.path[0][1], len(oracle.captured.outputs)
    try:
        with exclusive():
            tape = Tape([ir.var(p) for p in captured.params], captured.outputs)
    except UnsupportedError:  # a user's own function with a known derivative
        return None
    asked = 0
    for seen in oracle.seen():
        if asked >= DIFFERENCES or seen.limit or seen.hull or seen.outside:
            continue
        if not all(1e-3 < abs(x) < 1e3 for x in seen.point):
            continue
        asked += 1
        for j, name in enumerate(wrt):
            at = captured.params.index(name)
            near = _differences(oracle, tape, seen.point, at, NUDGE)
            for i in range(n):
                entry = i * len(wrt) + j
                if entry not in oracle.which:
                    continue
                truth = seen.truth[oracle.which.index(entry)]
                with exclusive(PRECISION):
                    if truth is None or not _differs(truth, near[i]):
                        continue
                    # of abs(x)**1.5*sign(x) at 0, differences come near to the slope slowly
                    nearer = _differences(oracle, tape, seen.point, at, 2 * NUDGE)[i]
                    left, before = abs(truth - nearer[0]), abs(truth - near[i][0])
                    if (
                        bool(left * 2 > before)
                        and _differs(truth, nearer)
                        and _agree(near[i], nearer)
                    ):
                        got, right = float(truth.mid()), float(nearer[0].mid())
                        return Fault(seen.point, entry, got, right)
    return None


def _differences(
    oracle: Oracle, tape: Tape, point: Point, at: int, nudge: int
) -> list[tuple[Any, Any]]:
    """Of each output the slope by one variable, and how much its line bends on the way."""
    sides = []
    with exclusive(PRECISION):
        for s in (1, 0, -1):
            moved = [arb(x) for x in point]
            moved[at] += s * arb(2) ** -nudge
            v = oracle.run(tape, moved, PRECISION, oracle.budget)
            sides.append([v[r] for r in tape.roots])
        return [
            ((a - c) * arb(2) ** (nudge - 1), abs(a - b - b + c) * arb(2) ** nudge)
            for a, b, c in zip(*sides, strict=True)
        ]


def _agree(near: tuple[Any, Any], nearer: tuple[Any, Any]) -> bool:
    """Whether differences over two distances are one slope; a value at a pole of odd order lies on a
    line with those at its sides, which is steeper the nearer they are."""
    off = abs(near[0] - nearer[0])
    return bool(off < (abs(nearer[0]) + 1) * arb(2) ** -NUDGE_BITS)


def _differs(truth: Any, measured: tuple[Any, Any]) -> bool:
    """Whether a derivative is not what differences say, and no kink or boundary of a branch is
    in their way."""
    slope, bend = measured
    if not slope.is_finite() or not bool(bend < (abs(slope) + 1) * arb(2) ** -NUDGE_BITS):
        return False
    return bool(abs(truth - slope) > (abs(truth) + abs(slope) + 1) * arb(2) ** -NUDGE_BITS)
