"""How many elements are flagged, for one form of a formula and for another?

Before:  x**3 - 2*x + 1 and x*(x**2 - 2) + 1
After:   0.07, 0.05

Requires: forms of one formula.
Ensures: an estimate from sample points, the same in every process. Few points are enough, as
a sum that cancels passes through zero evenly: where a share of a margin is used up, all of
it is used up somewhere near with about that probability.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from flint import arb

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr
from symdiff.lowering.target import ARRAY_CHAIN, MAX_CHAIN
from symdiff.passes.accuracy.error_test import ErrorTest
from symdiff.passes.differentiate import gradient

POINTS, REACH = 32, 3
"""Samples, whose binary exponents are up to `REACH` in size."""
EVENLY = 0.3
"""Probability that a margin is used up near a point where it is almost used up."""

STEPS, WORSE, FEW = 256, 16.0, 0.25
"""Samples of a step of a recurrence; the ratio of its loss to the losses of its carried
numbers, and the share of flagged samples, from which it is tested."""


def shares(forms: Sequence[Expr]) -> list[float] | None:
    """The estimated share of flagged elements of each form; None if it
    is unknown."""
    found = _margins(forms, ErrorTest(fuses=True, chain=ARRAY_CHAIN))
    if not found:
        return None
    sums = (
        sum(1.0 if m > 1 else EVENLY * m for m in column) for column in zip(*found, strict=True)
    )
    return [total / len(found) for total in sums]


def worst_share(outputs: Sequence[Expr], *, strict: bool = False) -> float | None:
    """The share of sample points at which some output is flagged; None if it is
    unknown. With `strict`, as for numbers."""
    chain = MAX_CHAIN if strict else ARRAY_CHAIN
    found = _margins(outputs, ErrorTest(fuses=True, chain=chain, strict=strict))
    return sum(max(row, default=0) > 1 for row in found) / len(found) if found else None


def _margins(forms: Sequence[Expr], work: ErrorTest) -> list[list[float]]:
    """The part of the allowed error that each form uses at the points where all are
    finite."""
    margins = [work.margin(e) for e in forms]
    inputs = ir.variables(margins)
    rng = random.Random(len(inputs))
    rows = []
    with exclusive():
        try:
            tape = Tape(inputs, margins)
        except UnsupportedError:  # a user's own function
            return []
        for i in range(POINTS):
            values = tape.run(_point(rng, len(inputs), close=i % 4 == 0), 64)
            found = [values[k] for k in tape.roots]
            if all(isinstance(v, arb) and v.is_finite() for v in found):
                rows.append([abs(float(v.mid())) for v in found])
    return rows


def inherits(form: Expr, carried: Sequence[Expr]) -> bool:
    """Whether a step of a recurrence loses no digits that its carried numbers still have:
    at the sample points where it is flagged, rounding these numbers costs about as much as the
    step does."""
    work = ErrorTest(fuses=True, chain=ARRAY_CHAIN)
    bound = work.of(form)
    own = bound.relative + bound.more / ir.abs_(form)
    given = ir.ZERO
    for x, slope in zip(carried, gradient(form, carried), strict=True):
        given = given + ir.abs_(x * slope / form)
    inputs = ir.variables((own, given, form))
    rng = random.Random(len(inputs))
    flagged = worse = 0
    with exclusive():
        try:
            tape = Tape(inputs, (own, given))
        except UnsupportedError:
            return False
        for i in range(STEPS):
            values = tape.run(_point(rng, len(inputs), close=i % 4 == 0), 64)
            found = [values[k] for k in tape.roots]
            if not all(isinstance(v, arb) and v.is_finite() for v in found):
                continue
            lost, had = (abs(float(v.mid())) for v in found)
            flagged += lost > float(work.allowed(form) - bound.k)
            worse += lost > float(work.allowed(form) - bound.k) and lost > WORSE * had
    return worse <= FEW * flagged


def _point(rng: random.Random, count: int, *, close: bool) -> list[arb]:
    """Values of all sizes and signs, or near to each other."""
    if not close:
        return [arb(rng.choice((1, -1)) * 2 ** rng.uniform(-REACH, REACH)) for _ in range(count)]
    middle = rng.choice((1, -1)) * 2 ** rng.uniform(-REACH, REACH)
    return [arb(middle * rng.uniform(0.9, 1.1)) for _ in range(count)]
