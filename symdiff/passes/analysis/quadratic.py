"""Quadratic forms as sums of squares, exactly.

Before:  x**2 + x*y + y**2
After:   (x + y/2)**2 + 3/4*y**2: it is not negative, and 0 only where x + y/2 and y are

Requires: rational coefficients; all parts that are no sum, product or square are unknowns.
Ensures: the squares of Lagrange's reduction; none for a form that is negative somewhere.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, POW, SUB, ZERO, Expr

MAX_TERMS = 64
"""Largest number of terms of a form, and of its parts."""

Polynomial = dict[tuple[Expr, ...], Fraction]
"""A factor for each product of unknowns, in a fixed order; no factor is 0."""


def squared_in(u: Expr) -> list[Expr] | None:
    """The linear forms l_k of u = sum_k c_k l_k**2 with c_k > 0; None if u is no such sum."""
    order: dict[Expr, int] = {}
    p = _polynomial(u, order)
    if p is None or any(len(m) != 2 for m in p):
        return None
    found = []
    for x in order:
        square = p.get((x, x), Fraction(0))
        mixed = {m: q for m, q in p.items() if x in m and m != (x, x)}
        if square <= 0:
            if square or mixed:
                return None  # negative somewhere
            continue
        row: Polynomial = {(x,): Fraction(1)}
        for (a, b), q in mixed.items():
            row[b if a is x else a,] = q / (2 * square)
        found.append(_linear(row))
        taken = _times(row, row, order)
        for m, q in taken.items():
            p[m] = p.get(m, Fraction(0)) - square * q
        p = {m: q for m, q in p.items() if q}
    return found or None


def _linear(row: Polynomial) -> Expr:
    total: Expr = ZERO
    for (x,), q in row.items():
        total = total + ir.const(q) * x
    return total


def _polynomial(u: Expr, order: dict[Expr, int]) -> Polynomial | None:
    """A polynomial of degree 2 at most in its unknowns, which are numbered; None for others."""
    known: dict[Expr, Polynomial | None] = {}
    nodes = ir.topological((u,))
    if len(nodes) > 4 * MAX_TERMS:
        return None
    inside = set(ir.reached((u,), lambda e: e.args if _is_inner(e) else ()))
    for e in nodes:
        if e in inside:
            known[e] = _node(e, known, order)
    return known[u]


def _is_inner(e: Expr) -> bool:
    if e.op is POW:
        return ir.integer(e.args[1]) == 2
    return e.op in (ADD, SUB, NEG, MUL) or (e.op is DIV and ir.rational(e.args[1]) is not None)


def _node(
    e: Expr, known: dict[Expr, Polynomial | None], order: dict[Expr, int]
) -> Polynomial | None:
    if (q := ir.rational(e)) is not None:
        return {(): q} if q else {}
    if not _is_inner(e):
        order.setdefault(e, len(order))
        return {(e,): Fraction(1)}
    a = known[e.args[0]]
    b = a if e.op is POW else known[e.args[-1]]
    if a is None or b is None:
        return None
    if e.op in (ADD, SUB, NEG):
        sign = 1 if e.op is ADD else -1
        total = {} if e.op is NEG else dict(a)
        for m, q in b.items():
            total[m] = total.get(m, Fraction(0)) + sign * q
        found: Polynomial | None = {m: q for m, q in total.items() if q}
    elif e.op is DIV:
        found = {m: q / b[()] for m, q in a.items()} if b else None
    else:
        found = _times(a, b, order)
    return (
        None if found is None or len(found) > MAX_TERMS or any(len(m) > 2 for m in found) else found
    )


def _times(a: Polynomial, b: Polynomial, order: dict[Expr, int]) -> Polynomial:
    total: Polynomial = {}
    for m, p in a.items():
        for n, q in b.items():
            key = tuple(sorted((*m, *n), key=order.__getitem__))
            total[key] = total.get(key, Fraction(0)) + p * q
    return {m: q for m, q in total.items() if q}
