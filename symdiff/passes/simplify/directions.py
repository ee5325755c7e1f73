"""Exponents and angles that are multiples of one another, however they are written.

Before:  exp(-(b + w*x)), exp(b + w*x); exp(dS/R - dH/(R*T)), exp((dS - dH/T)/R)
After:   powers of one generator each

Arguments are compared as quotients of polynomials. Those that are rational multiples of each
other, and have no term in common with the rest, are one *direction*; the others are taken apart
into their terms.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, ONE, SUB, VAR, ZERO, Expr
from symdiff.ir.formula_text import Formulas, factors, of_factors, terms
from symdiff.ir.functions import COS, COSH, PI, SIN, SINH, TAN, TANH
from symdiff.passes.cancel.algebra import linear
from symdiff.passes.cancel.rational import Factored, OutOfBudgetError

Parts = dict[Expr, Fraction]
"""A combination of directions."""

TURNING = (SIN, COS, TAN, SINH, COSH, TANH)

MAX_ARGUMENTS = 12
MAX_NODES = 60


def directions(arguments: Iterable[Expr], values: Any) -> dict[Expr, Parts]:
    """Each argument as a combination of directions.

    Parameters
    ----------
    values : gives a list of arguments as `Factored` of one ring, or raises.
    """
    given = list(dict.fromkeys(arguments))
    parts = {u: linear(u) or {u: Fraction(1)} for u in given}
    terms = {m for p in parts.values() for m in p}
    plain = all(len(p) == 1 for p in parts.values())
    if plain and (len(terms) == 1 or all(m.op is VAR for m in terms)):
        return parts
    if len(given) > MAX_ARGUMENTS or len(ir.topological(given)) > MAX_NODES:
        return parts
    try:
        ring, found = values(given)
        rows = _over_one_denominator(ring, found)
    except OutOfBudgetError:
        return parts
    classes: dict[str, list[tuple[Expr, Fraction]]] = {}
    monomials: dict[tuple[int, ...], set[str]] = {}
    for u, p in zip(given, rows, strict=True):
        if p.is_zero() or p.is_constant():
            return parts
        lead = p.leading_coefficient()
        key = str(p / lead)
        classes.setdefault(key, []).append((u, Fraction(int(lead.p), int(lead.q))))
        for m in p.monoms():
            monomials.setdefault(tuple(map(int, m)), set()).add(key)
    shared = {key for keys in monomials.values() if len(keys) > 1 for key in keys}
    formulas = Formulas()
    for key, members in classes.items():
        if key in shared:
            continue
        direction, unit = min(
            ((_positive(u, formulas), c) for u, c in members),
            key=lambda d: (formulas.length(d[0][0]), formulas.text(d[0][0])),
        )
        for u, c in members:
            parts[u] = {direction[0]: c / (unit * direction[1])}
    return parts


def _positive(u: Expr, formulas: Formulas) -> tuple[Expr, int]:
    """An argument or its negative, whichever is written without a sign; and which."""
    if formulas.of(u).signed.startswith("-"):
        other = times(Fraction(-1), u, formulas)
        if formulas.length(other) <= formulas.length(u):
            return other, -1
    return u, 1


def _over_one_denominator(ring: Any, values: list[Factored]) -> list[Any]:
    """The numerators of some quotients."""
    below: dict[str, tuple[Any, int]] = {}
    for v in values:
        for key, (base, n) in v.factors.items():
            if n < 0 and -n > below.get(key, (base, 0))[1]:
                below[key] = base, -n
    shared = Factored(Fraction(1), below)
    return [ring._expanded(ring.mul(v, shared), {}) for v in values]


def times(q: Fraction, u: Expr, formulas: Formulas) -> Expr:
    """A multiple of an argument, the shorter way: `-(x - m)/s` as `(m - x)/s`."""
    made = ir.mul(ir.const(q), u)
    if q == 1:
        return made
    best = made
    for other in (_distributed(q, u), _over(q, u)):
        if other is not None and formulas.length(other) < formulas.length(best):
            best = other
    return best


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


def _distributed(q: Fraction, u: Expr) -> Expr | None:
    if u.op in (ADD, SUB):
        a, b = (ir.mul(ir.const(q), x) for x in u.args)
        if q < 0:
            return ir.sub(b, ir.neg(a)) if u.op is ADD else ir.sub(ir.neg(b), ir.neg(a))
        return ir.add(a, b) if u.op is ADD else ir.sub(a, b)
    if u.op is DIV:
        inner = _distributed(q, u.args[0])
        return None if inner is None else ir.div(inner, u.args[1])
    if u.op is MUL:
        for i, a in enumerate(u.args):
            inner = _distributed(q, a)
            if inner is not None:
                return ir.mul(inner, u.args[1 - i]) if i == 0 else ir.mul(u.args[0], inner)
    return None


def _over(q: Fraction, u: Expr) -> Expr | None:
    """The denominator of the number below the line."""
    if q.denominator == 1 or u.op is not DIV:
        return None
    inner = _distributed(Fraction(q.numerator), u.args[0])
    top = ir.mul(ir.const(q.numerator), u.args[0]) if inner is None else inner
    return ir.div(top, ir.mul(ir.const(q.denominator), u.args[1]))


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
