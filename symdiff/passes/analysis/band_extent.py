"""How large does a function of one variable become in a band?

Before:  (|t**2/24| + ...)/|1/2 - t**2/24 + ...|, with |t| < 1/2
After:   at most 1.1

Requires: an expression in the variable of a band alone.
Ensures: a proven bound, from ball arithmetic on pieces of the band; or None.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import ABS, LE, LT, MUL, WHERE, Expr
from symdiff.ir.loop_program import leaves

FURTHER = 9
"""Bits of accuracy of a series in a band in addition to those of the arithmetic."""
MARGIN = 76
"""The truncation error of a series across a surface is below 2**-MARGIN of its sum."""
NEGLIGIBLE = Fraction(1, 2**40)
"""Less than this share of something is negligible relative to it."""
PIECES = 128
"""Intervals into which a band is divided."""
MAX_BANDS = 8
"""Largest number of conditions of bands in one program."""
USEFUL = 64.0
"""A larger bound is useless."""


def largest(e: Expr, branch: Expr) -> Fraction | None:
    """A bound of `e` >= 0 where the first side of `branch` is taken, rounded up; None if
    the branch is no band, or there is no bound."""
    band = _band(branch)
    if band is None:
        return None
    h, radius = band
    t = ir.var("?h")
    (inside,) = ir.substitute((e,), {h: t})
    if any(v is not t for v in leaves((inside,))):
        return None  # it contains elements of arrays
    return _largest(inside, radius)


@functools.lru_cache(maxsize=1024)
def _largest(inside: Expr, radius: float) -> Fraction | None:
    """The bound of a function of `?h` up to a distance from 0; many formulas share a series."""
    t = ir.var("?h")
    worst = 0.0
    with exclusive():
        tape = Tape([t], [inside])
        for k in range(-PIECES, PIECES):
            middle = arb(2 * k + 1) * radius / (2 * PIECES)
            value = tape.run([middle + arb(0, radius / (2 * PIECES))], 64)[tape.roots[0]]
            if not isinstance(value, arb) or not value < USEFUL:
                return None
            worst = max(worst, float(value.upper()))
    return Fraction(math.ceil(worst * 4), 4)


def series_in_bands(outputs: Sequence[Expr]) -> dict[Expr, Expr]:
    """The first sides of choices in bands that are used only under the same
    condition, and those choices."""
    bands = [e for e in ir.topological(outputs) if _band(e) is not None]
    conditions = list(dict.fromkeys(e.args[0] for e in bands))[:MAX_BANDS]
    found: dict[Expr, Expr] = {}
    for c in conditions:

        def beyond(e: Expr, c: Expr = c) -> tuple[Expr, ...]:
            return e.args[2:] if e.op is WHERE and e.args[0] is c else e.args

        elsewhere = set(ir.reached(outputs, beyond))
        found.update((e.args[1], e) for e in bands if e.args[0] is c and e.args[1] not in elsewhere)
    return found


def with_truncation(outputs: Sequence[Expr], share: Expr) -> tuple[Expr, ...]:
    """The outputs with each series in a band, or across a surface, off by a share of itself."""

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op is WHERE and (is_band(e) or _is_across(e.args[0])):
            return ir.where(args[0], args[1] * (1 + share), args[2])
        return ir.rebuild(e, args)

    return ir.transform(outputs, rule)


def _is_across(condition: Expr) -> bool:
    """Whether a condition compares terms of a series with its sum; the factor may be part
    of a coefficient."""
    return any(
        c.op is LE
        and c.args[1].op is MUL
        and any(0 < (ir.rational(a) or 0) < NEGLIGIBLE for a in c.args[1].args)
        for c in ir.conjuncts(condition)
    )


def is_band(e: Expr) -> bool:
    """Whether a choice takes its first side in a band around a point."""
    return _band(e) is not None


def center(e: Expr) -> Expr | None:
    """The quantity that is 0 in the middle of a band; None if a node chooses no series."""
    band = _band(e)
    return None if band is None else band[0]


def near(outputs: Sequence[Expr], h: Expr) -> set[Expr]:
    """The nodes in use near h = 0: all except those only on the second sides of bands there."""
    return set(ir.reached(outputs, lambda e: e.args[:2] if center(e) is h else e.args))


def _band(e: Expr) -> tuple[Expr, float] | None:
    """h and r of where(abs(h) < r, ..., ...)."""
    if e.op is not WHERE or e.args[0].op is not LT:
        return None
    size, radius = e.args[0].args
    r = ir.rational(radius)
    return (size.args[0], float(r)) if size.op is ABS and r is not None and r > 0 else None
