"""Tolerances that are parameters: a guard is judged for small values of them.

Before:  def f(x, tol=1e-8):                            where(abs(x) < tol, 1, sin(x)/x)
After:   abs(x) < 1/1000, which contains abs(x) < tol where tol is between 0 and 1/1000

Requires: any DAG. Ensures: only reads it. A variable is a tolerance if it occurs in conditions
only, and a larger value enlarges the region where the guard acts: then a fact about the guard at
one value holds at all smaller ones.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, AND, DIV, LE, LT, MUL, NEG, POW, SUB, TRUE, Expr
from symdiff.ir.functions import EXTREMES

VALUES = tuple(map(Fraction, (1e-3, 1e-5, 1e-8, 1e-12)))
"""Values of tolerances to try until the guard is right: it is a guard for values up to this one."""


def tolerances(part: Expr, roots: Sequence[Expr]) -> list[Expr]:
    """The variables of a conjunction that are tolerances of the guard with the given sides."""
    compared = ir.variables((part,))
    elsewhere = ir.variables_of_values(roots) if compared else ()
    found = [v for v in compared if v not in elsewhere and _widens(part, v)]
    return found if set(ir.variables((part,))) > set(found) else []


def settings(found: Sequence[Expr]) -> Iterator[tuple[dict[Expr, Expr], Expr]]:
    """Values of tolerances, each with the condition that they are no larger; one empty entry if
    none."""
    for q in VALUES if found else ():
        sizes = (ir.and_(ir.le(0, v), ir.le(v, q)) for v in found)
        yield dict.fromkeys(found, ir.const(q)), functools.reduce(ir.and_, sizes)
    if not found:
        yield {}, TRUE


def _widens(part: Expr, v: Expr) -> bool:
    """Whether a conjunction holds in a larger region the larger a positive variable is."""
    for e in part.args if part.op is AND else (part,):
        if e.op is AND:
            if not _widens(e, v):
                return False
        elif v in ir.variables((e,)):
            if e.op not in (LT, LE):
                return False
            a, b = e.args
            if _slope(a, v) not in (0, -1) or _slope(b, v) not in (0, 1):
                return False
    return True


def _slope(e: Expr, v: Expr) -> int | None:
    """1 if a formula increases with a positive variable, -1 if it decreases, 0 if it does not
    depend on it; None if that is open."""
    found: dict[Expr, int | None] = {v: 1}
    signs: dict[Expr, int] = {}
    for n in ir.topological((e,)):
        if n not in found:
            found[n] = _slope_of(n, v, [found[a] for a in n.args], signs)
    return found[e]


def _slope_of(e: Expr, v: Expr, slopes: list[int | None], signs: dict[Expr, int]) -> int | None:
    """The same of one node, from those of its arguments; `signs` of factors are kept."""
    if not any(s != 0 for s in slopes):
        return 0
    if e.op is NEG and slopes[0] is not None:
        return -slopes[0]
    if e.op in (ADD, SUB, *EXTREMES) and None not in slopes:
        first, second = (s or 0 for s in slopes)
        second = -second if e.op is SUB else second
        return first or second if not first or not second or first == second else None
    if e.op in (MUL, DIV):
        a, b = slopes
        if b == 0 and (sign := _sign(e.args[1], signs)) and a is not None:
            return sign * a
        if a == 0 and e.op is MUL and (sign := _sign(e.args[0], signs)) and b is not None:
            return sign * b
    if e.op is POW and e.args[0] is v and (ir.rational(e.args[1]) or 0) > 0:
        return 1
    return None


def _sign(e: Expr, found: dict[Expr, int]) -> int:
    """The constant sign of a factor; 0 if it is open. `found`: those of nodes, which are kept."""
    for n in ir.topological((e,), found):
        q = ir.rational(n)
        if q is not None:
            found[n] = (q > 0) - (q < 0)
        elif n.op in EXTREMES or n.op in (ADD, MUL):
            a, b = (found[x] for x in n.args)
            found[n] = a * b if n.op is MUL else a if a == b else 0
        else:
            found[n] = 1 if n.op.sign in ("nonnegative", "positive") else 0
    return found[e]
