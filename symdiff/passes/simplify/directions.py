"""Exponents and angles, the shorter way.

Before:  -(x - m)/s, L/l - x/l, sin(-2*x), cos(x + pi/2)
After:   (m - x)/s, (L - x)/l, -sin(2*x), -sin(x)
"""

from __future__ import annotations

import functools
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, ONE, SUB, ZERO, Expr
from symdiff.ir.formula_text import Formulas, factors, of_factors, terms
from symdiff.ir.functions import COS, COSH, PI, SIN, SINH, TAN, TANH
from symdiff.passes.cancel.algebra import linear
from symdiff.passes.simplify.pieces import turned

TURNING = (SIN, COS, TAN, SINH, COSH, TANH)


def times(q: Fraction, u: Expr, formulas: Formulas) -> Expr:
    """A multiple of an argument, the shorter way: `-(x - m)/s` as `(m - x)/s`."""
    made = [ir.mul(ir.const(q), u)]
    if q < 0:
        made += [ir.mul(ir.const(-q), other) for other in turned(u)]
    if q.denominator > 1 and u.op is DIV:
        made += [
            ir.div(ir.mul(ir.const(e.numerator), t), ir.mul(ir.const(q.denominator), u.args[1]))
            for e, t in ((q, u.args[0]), *((-q, t) for t in turned(u.args[0]) if q < 0))
        ]
    return min(made, key=formulas.length)


def gathered(u: Expr, formulas: Formulas) -> Expr:
    """A sum with the common factors of all its terms taken out, where that is shorter: `L/l - x/l`
    as `(L - x)/l`."""
    rows = [(sign, *factors(term)) for sign, term in terms(u)]
    shared = set(rows[0][2]).intersection(*(set(found) for _, _, found in rows[1:]))
    if len(rows) < 2 or not shared:
        return u
    rest = [(sign * unit, [f for f in found if f not in shared]) for sign, unit, found in rows]
    inner = functools.reduce(ir.add, [of_factors(*row) for row in rest], ZERO)
    for base, exponent in rows[0][2]:
        if (base, exponent) in shared:
            n = ir.integer(exponent)
            if n is not None and n < 0:
                inner = ir.div(inner, ir.power(base, -n))
            else:
                inner = ir.mul(ir.power(base, exponent), inner)
    return inner if formulas.length(inner) < formulas.length(u) else u


def in_phase(e: Expr) -> Expr:
    """A sine, cosine or tangent without quarter turns in its angle, and without a sign."""
    if e.op in TURNING and e.args[0].op in (MUL, DIV):
        unit, parts = factors(e.args[0])
        if unit < 0:
            u = of_factors(-unit, parts)
            return e.op(u) if e.op in (COS, COSH) else ir.neg(e.op(u))
    if e.op not in (SIN, COS, TAN) or e.args[0].op not in (ADD, SUB):
        return e
    found = linear(e.args[0]) or {}
    turns = next((c for m, c in found.items() if m.op is PI), Fraction(0))
    if turns == 0 or (2 * turns).denominator != 1 or len(found) < 2:
        return e
    rest = ir.ZERO
    for m, c in found.items():
        if m.op is not PI:
            rest = ir.add(rest, ir.mul(ir.const(c), m))
    quarter = int(2 * turns) % 4
    if e.op is TAN:
        return TAN(rest) if quarter % 2 == 0 else ir.neg(ir.div(ONE, TAN(rest)))
    quarter += e.op is COS  # cos(u) = sin(u + pi/2)
    made = SIN(rest) if quarter % 2 == 0 else COS(rest)
    return made if quarter % 4 < 2 else ir.neg(made)
