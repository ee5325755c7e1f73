"""How many elements are in doubt, for one form of a formula and for another?

Before:  x**3 - 2*x + 1 and x*(x**2 - 2) + 1
After:   0.07, 0.05

Requires: forms of one formula.
Ensures: an estimate from sample points, the same in every process. Few points serve, as
a sum that cancels passes through zero evenly: where a margin is used to a part, it is
used up somewhere near with about that probability.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from flint import arb

from symdiff import ir
from symdiff.codegen.lower import ARRAY_CHAIN
from symdiff.errors import UnsupportedError
from symdiff.interpret import exclusive
from symdiff.interpret.tape import Tape
from symdiff.ir import Expr
from symdiff.passes.doubt import Doubt

POINTS, REACH = 32, 3
"""Samples, whose binary exponents are up to `REACH` in size."""
EVENLY = 0.3
"""Probability that a margin is used up near a point where it is nearly."""


def shares(forms: Sequence[Expr]) -> list[float] | None:
    """The estimated share of elements in doubt of each form; None if it
    is not known."""
    work = Doubt(fuses=True, chain=ARRAY_CHAIN)
    margins = [work.margin(e) for e in forms]
    inputs = ir.variables(margins)
    rng = random.Random(len(inputs))
    totals, count = [0.0] * len(forms), 0
    with exclusive():
        try:
            tape = Tape(inputs, margins)
        except UnsupportedError:  # a user's own function
            return None
        for i in range(POINTS):
            values = tape.run(_point(rng, len(inputs), close=i % 4 == 0), 64)
            found = [values[k] for k in tape.roots]
            if not all(isinstance(v, arb) and v.is_finite() for v in found):
                continue
            count += 1
            for k, v in enumerate(found):
                margin = abs(float(v.mid()))
                totals[k] += 1.0 if margin > 1 else EVENLY * margin
    return [t / count for t in totals] if count else None


def _point(rng: random.Random, count: int, *, close: bool) -> list[arb]:
    """Values of all sizes and signs, or near to each other."""
    if not close:
        return [arb(rng.choice((1, -1)) * 2 ** rng.uniform(-REACH, REACH)) for _ in range(count)]
    middle = rng.choice((1, -1)) * 2 ** rng.uniform(-REACH, REACH)
    return [arb(middle * rng.uniform(0.9, 1.1)) for _ in range(count)]
