"""Whether a program computes its own rounding errors.

Before:  t = s + y; c = (t - s) - y                     the sum of Kahan
After:   True

In real arithmetic such a term is 0, and simplification removes it. In plain Python it carries what the
sum lost. So a program that contains one is computed with the rounding errors of its operations, whatever
the accuracy: no result is worse than that of plain Python.

Requires: a captured program, not simplified.
Ensures: True if a sum or difference of real numbers is identically 0, as its terms cancel.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symdiff.ir import ADD, CONST, MUL, NEG, ONE, SUB, Expr, rational, topological
from symdiff.ir.loop_program import kind_of

MAX_TERMS = 64
"""Longer sums are taken as terms."""

Sum = dict[Expr, Fraction]


def compensates(roots: Iterable[Expr]) -> bool:
    """Whether a sum in these expressions is identically 0."""
    known: dict[Expr, Sum] = {}
    for e in topological(tuple(roots)):
        found = known[e] = _sum(e, known)
        if not found and e.op is not CONST and kind_of(e) == "f":
            return True
    return False


def _sum(e: Expr, known: dict[Expr, Sum]) -> Sum:
    """A node as a sum of multiples of terms."""
    if (q := rational(e)) is not None:
        return {ONE: q} if q else {}
    if e.op is NEG:
        return {m: -c for m, c in known[e.args[0]].items()}
    if e.op is ADD or e.op is SUB:
        total, sign = dict(known[e.args[0]]), 1 if e.op is ADD else -1
        for m, c in known[e.args[1]].items():
            total[m] = total.get(m, Fraction(0)) + sign * c
        found = {m: c for m, c in total.items() if c}
        return found if len(found) <= MAX_TERMS else {e: Fraction(1)}
    if e.op is MUL and (q := rational(e.args[0])) is not None:
        return {m: q * c for m, c in known[e.args[1]].items()}
    return {e: Fraction(1)}
