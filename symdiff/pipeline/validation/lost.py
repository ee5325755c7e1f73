"""Values that were lost: a kernel is undefined where the captured program is not.

As where a guard went missing. What a kernel finds undefined is computed again in ball arithmetic,
which takes the limit where there is one: so that is what a user would be given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from flint import arb

from symdiff import ir
from symdiff.interpret import Certified, exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr
from symdiff.ir.program import Program

PRECISION = 400
BITS = 50


def undefined(tape: Tape, place: int, values: Sequence[Any]) -> bool:
    """Whether a node is proven to have no value, by an operation outside of its domain or on a
    pole: not for lack of precision."""
    if values[place].is_finite():
        return False
    return tape.trouble(place, values) in ("domain", "singular")


def lost_value(
    captured: Program,
    params: Sequence[str],
    reference: Expr,
    point: Sequence[float],
    truth: Any,
    path: Sequence[Any],
) -> float | None:
    """What is returned for an output that is undefined at a point, nan if nothing is; None if that
    is right. Of derivatives only nan is wrong, as a pole may be one whatever the chain rule makes
    of its terms, and none outside of the domain of the captured program."""
    at = dict(zip(params, point, strict=True))
    inside = Tape([ir.var(p) for p in captured.params], captured.outputs)
    values = inside.run([arb(at[p]) for p in captured.params], PRECISION)
    if not all(values[r].is_finite() for r in inside.roots):
        return None
    with exclusive():
        (found,) = Certified(list(params), [reference], jumps=True).at(list(point))
    if math.isnan(found):
        return found
    near = math.isfinite(found) and bool(abs(arb(found) - truth) <= abs(truth) * arb(2) ** -BITS)
    return None if path or near else found
