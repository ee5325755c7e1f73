"""Guards on a difference that vanishes where two quantities are equal, and elsewhere.

Before:  abs(sin(b) - sin(a)) < 1e-12                      b - a is 0, but also at b = pi - a
After:   that, and abs(b - a) <= (1 + abs(a))/1000

Requires: any DAG. Ensures: only reads it. A comparison alone says nothing of the shape of the region where
it holds unless it is algebraic; near the set where what it compares surely vanishes it does.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, ADD, DIV, EQ, LE, LT, SUB, TRUE, ZERO, Expr
from symdiff.passes.analysis.zeros import undone, zero_sets

SMALL = Fraction(1e-3)
"""A comparison with a larger bound is no guard;"""
BESIDE = Fraction(1, 1000)
"""and a guard acts within this distance of its zeros, relative to 1 and the equal quantities."""
MAX_OPERATIONS = 300
"""Zeros of formulas with more operations are not searched: each trial evaluates the formula."""


def beside(e: Expr) -> Expr | None:
    """A condition under which a comparison of several variables holds only near one set where what it
    compares vanishes; None if that is open, `TRUE` if it holds nowhere else."""
    d = _compared(e)
    if d is None or len(ir.variables((d,))) < 2 or len(ir.topological((d,))) > MAX_OPERATIONS:
        return None
    solutions = zero_sets(d)
    if len(solutions) != 1 or len(solutions[0]) != 1:
        return None
    if e.op is EQ and _vanishes_once(d):
        return TRUE
    ((v, value),) = solutions[0].items()
    return ir.le(ir.abs_(v - value), ir.const(BESIDE) * (1 + ir.abs_(value)))


def _compared(e: Expr) -> Expr | None:
    """The quantity that a comparison requires to be 0 or small."""
    if e.op is EQ:
        a, b = e.args
        return a if b is ZERO else b if a is ZERO else ir.sub(a, b)
    if e.op in (LT, LE) and e.args[0].op is ABS:
        q = ir.rational(e.args[1])
        return e.args[0].args[0] if q is not None and 0 < q <= SMALL else None
    return None


def _vanishes_once(d: Expr) -> bool:
    """Whether all functions from the node down to its linear part take each value only once."""
    while (inner := undone(d)) is not None:
        outer = d
        if d.op in (ADD, SUB):
            outer = next((a for a in d.args if a.op is not ir.CONST), d)
        if not (outer.op.monotone or outer.op is DIV):
            return False
        d = inner
    return all(n.op in ir.ARITHMETIC for n in ir.topological((d,)) if n.args)
