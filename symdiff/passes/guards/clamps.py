"""Clamps and epsilons: quantities that are kept away from 0.

Before:  max(u, 1e-8)
After:   it is u, except for u < 1e-8, where it is 1e-8

Requires: any DAG. Ensures: only reads it; a node that may not be a clamp is none.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ADD, CONST, SIGN, SUB, TRUE, WHERE, Expr
from symdiff.ir.functions import COPYSIGN, EXTREMES, MAXIMA
from symdiff.passes.guards.shape import TINY, positive

MAX_DENOMINATOR = 1000
LEAST, ROUNDED = Fraction(1e-7), Fraction(2) ** -50
"""A constant this close to such a fraction may be the fraction plus an epsilon."""


class Clamp(NamedTuple):
    """The condition under which it acts (`TRUE`: always, as an epsilon), the value then, and the
    quantity otherwise; the largest change by it."""

    condition: Expr
    inside: Expr
    plain: Expr
    epsilon: Fraction


def clamp_of(e: Expr) -> Clamp | None:
    """max(u, eps) and the like, and branches that replace a quantity by a constant; u + eps, and u
    + eps*sign(u)."""
    if e.op in EXTREMES:
        for c, u in (e.args, e.args[::-1]):
            if (q := ir.rational(c)) is not None and 0 < abs(q) <= TINY:
                return Clamp(ir.lt(u, c) if e.op in MAXIMA else ir.lt(c, u), c, u, abs(q))
    if e.op is WHERE:
        condition, a, b = e.args
        for holds, c, u in ((condition, a, b), (positive(ir.not_(condition)), b, a)):
            if (q := ir.rational(c)) is not None and u.op is not CONST and holds.op is not ir.OR:
                return Clamp(holds, c, u, abs(q))
    if e.op in (ADD, SUB):
        if (added := _added(e)) is not None:
            return added
        for u, term in (e.args, e.args[::-1]):
            if u.op is not CONST and 0 < (size := _step(term)) <= TINY:
                plain = u if u is e.args[0] or e.op is ADD else ir.neg(u)
                return Clamp(TRUE, e, plain, size)
    return None


def _added(e: Expr) -> Clamp | None:
    """An epsilon that was added to another constant, as in x - 1 + 1e-8."""
    for c in e.args:
        if q := ir.rational(c):
            r = q.limit_denominator(MAX_DENOMINATOR)
            if r and abs(r) * ROUNDED < abs(q - r) <= LEAST:
                return Clamp(TRUE, e, ir.substitute((e,), {c: ir.const(r)})[0], abs(q - r))
    return None


def _step(e: Expr) -> Fraction:
    """The size of a number with the sign of a node, or of a constant; 0 for other nodes."""
    factor, rest = ir.scaled(e)
    if rest.op is SIGN:
        return abs(factor)
    if rest.op is COPYSIGN:
        return abs(factor * (ir.rational(rest.args[0]) or Fraction(0)))
    ends = rest.args[1:] if rest.op is WHERE else (rest,)
    sizes = {abs(ir.rational(a) or Fraction(0)) for a in ends}
    return abs(factor) * sizes.pop() if len(sizes) == 1 else Fraction(0)
