"""Thin bands around points as these points, for people.

Before:  where(abs(k) < 1e-12, log(y), (y**k - 1)/k)
After:   where(k == 0, log(y), (y**k - 1)/k)

Values in the bands change: there the definition of the derivative takes the value for that of the other side if it
agrees to the digits of float32. Beside other variables that is tried at some points; in calls, where it matters.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret import Undecided, evaluate, exclusive
from symdiff.interpret.lines import THIN
from symdiff.ir import VAR, WHERE, Expr
from symdiff.passes.guards.regions import Known, Piece

DIGITS = 2.0**-20
"""How far values in a band may be from those of the other side, relatively."""
TRIED, BITS = 12, 256
"""Points at which they are compared, and the precision."""


def bands_as_points(outputs: Sequence[Expr]) -> tuple[tuple[Expr, ...], set[Expr]]:
    """The outputs with equalities in place of conditions that are thin bands of a variable, and these equalities."""
    made: set[Expr] = set()

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        for truth in (True, False) if e.op is WHERE else ():
            inside, outside = args[1:] if truth else args[:0:-1]
            for v, band in _bands(args[0], truth):
                if _agree(v, band, inside, outside):
                    middle = Fraction(band.low) + Fraction(band.high - band.low) / 2
                    made.add(there := ir.eq(ir.sub(v, ir.const(middle)), ir.ZERO))
                    return ir.where(there, inside, outside)
        return ir.rebuild(e, args)

    return ir.transform(outputs, rule), made


def _bands(condition: Expr, truth: bool) -> list[tuple[Expr, Piece]]:
    """The variables that are in a thin band where a condition holds, or fails."""
    return [
        (v, pieces[0])
        for v, pieces in Known(condition, truth).sets.items()
        if v.op is VAR and len(pieces) == 1 and 0 < pieces[0].high - pieces[0].low <= THIN
    ]


def _agree(v: Expr, band: Piece, inside: Expr, outside: Expr) -> bool:
    """Whether values in a band are those of the other side, where other variables are ordinary numbers."""
    rng = random.Random(7)
    names = [x.value for x in ir.variables((inside, outside, v))]
    width, compared = float(band.high - band.low), 0
    for k in range(TRIED):
        at = float(band.low) + width * (0.05, 0.3, 0.7, 0.95)[k % 4]
        point = [
            at if n == v.value else rng.choice((1, 1, -1)) * 10 ** rng.uniform(-2, 2) for n in names
        ]
        try:
            with exclusive(BITS):
                a, b = evaluate((inside, outside), names, point, BITS)
                if a.is_finite() and b.is_finite():
                    compared += 1
                    if not abs(a - b) <= DIGITS * abs(b):
                        return False
        except (UnsupportedError, NotImplementedError, Undecided):
            return False
    return 3 * compared >= TRIED


__all__ = ["bands_as_points"]
