"""Denominators of a formula in its written form.

Before:  0.0 if abs(d) < 1e-9 else v/(L/tan(d))        with the formula v*tan(d)/L
After:   where(abs(d) < 1e-9, 0, filled(v*tan(d)/L, tan(d)))

Requires: conditions and values as they are traced. Ensures: a side of a branch next to a point at which a
denominator vanishes says so, where nothing in its formula does: the branch may be a guard. Values are the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache

from symdiff import ir
from symdiff.ir import ABS, EQ, LE, LT, POW, ZERO, Expr
from symdiff.ir.functions import FILLED
from symdiff.ir.plain import exactly
from symdiff.passes.analysis.zeros import divisors, zero_sets

SMALL = Fraction(1e-3)
"""A quantity with a larger bound does not count as small."""
MOST = 64
"""The most denominators that are tested at one branch, the last ones,"""
LARGEST = 400
"""and the most nodes of them, and of conditions and sides."""
FEW, SHORT = 8, 60
"""Largest number of quantities of one condition, and of nodes of those whose zeros are solved for."""
LITTLE = Fraction(1, 10**9)
"""The value that replaces a tolerance."""

denominators: ContextVar[dict[Expr, None] | None] = ContextVar("divided by", default=None)
"""The divisors of a trace that its quotients do not show."""


def divided(by: Expr, found: Expr) -> None:
    """Record the written denominators of a quotient that its formula no longer shows."""
    noted = denominators.get()
    if noted is None or by.op is ir.CONST or (found.op is ir.DIV and found.args[1] is by):
        return
    left = divisors(found)
    for p in (by, *divisors(by)):
        if p not in left:
            noted.setdefault(p)


def beside_poles(condition: Expr, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """The sides of a branch; the one not taken where a quantity is 0 or small is marked with the
    denominators that vanish there."""
    found = denominators.get()
    (condition,) = exactly((condition,)) if found else (condition,)
    if not found or len(ir.topological((condition, a, b))) > LARGEST:
        return a, b
    quantities = dict.fromkeys(itertools.islice(_small(condition), FEW))
    points = [s for d in quantities for s in ({d: ZERO}, *_zeros(d))]
    for at in points:
        (taken,) = ir.substitute((condition,), at)
        if taken.op is not ir.BOOL:  # the rest are tolerances
            (taken,) = ir.substitute((taken,), dict.fromkeys(ir.leaves((taken,)), ir.const(LITTLE)))
        if taken.op is not ir.BOOL:
            continue
        decided = {condition: ir.boolean(not taken.value)}
        sides = ir.substitute((a, b), decided)
        needed = {*ir.leaves(at)}
        shown = {n.args[1] for n in ir.topological(sides) if n.op in (ir.DIV, FILLED)}
        for p in list(found)[-MOST:]:
            if not needed <= {*ir.leaves((p,))} or len(ir.topological((p,))) > LARGEST:
                continue
            (other,) = ir.substitute((p,), decided)
            if other not in shown and ir.substitute((other,), at)[0] is ZERO:
                shown.add(other)
                a, b = (a, FILLED(b, other)) if taken.value else (FILLED(a, other), b)
    return a, b


@lru_cache(maxsize=512)
def _zeros(d: Expr) -> tuple[dict[Expr, Expr], ...]:
    """Where a quantity is zero, if that is found quickly."""
    return tuple(zero_sets(d)) if len(ir.topological((d,))) <= SHORT else ()


def _small(condition: Expr) -> Iterator[Expr]:
    """The quantities that a condition bounds by 0, or by a small number."""
    for n in ir.topological((condition,)):
        if n.op is EQ:
            yield ir.sub(*n.args)
        elif n.op in (LT, LE):
            for u, bound in (n.args, n.args[::-1]):
                inner = u
                while inner.op is ABS or (inner.op is POW and ir.integer(inner.args[1])):
                    inner = inner.args[0]
                q = ir.rational(bound)
                if (q is not None and abs(q) <= SMALL) or (q is None and u is not inner):
                    yield inner


__all__ = ["beside_poles", "denominators", "divided"]
