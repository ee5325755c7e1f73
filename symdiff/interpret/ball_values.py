"""Values of functions that only ball arithmetic has: see `Op.edges`."""

from __future__ import annotations

from typing import Any

from flint import arb, ctx

from symdiff.interpret.balls import exclusive
from symdiff.interpret.rounding import FLOAT64, Format, unique_rounding
from symdiff.ir import Op

PRECISIONS = (90, 200, 500, 1200)
"""Precisions in bits, tried in this order."""


def value_of(op: Op, args: tuple[float, ...], fmt: Format = FLOAT64) -> float:
    """The correctly rounded value at a point; nan where there is none, or where balls of
    `PRECISIONS` do not prove it."""
    assert op.edges is not None and op.ball is not None
    found = op.edges(*args)
    if found is not None:
        return found
    with exclusive():
        for ctx.prec in PRECISIONS:
            value: Any = op.ball(*map(arb, args))
            if value.is_finite() and (rounded := unique_rounding(value, fmt)) is not None:
                return rounded
    return float("nan")
