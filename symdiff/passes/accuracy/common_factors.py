"""Write errors with what all their terms have in common in front.

Before:  2*abs(x[i, j]*g[i]) + abs(x[i, j]*h[i])*e[i]
After:   abs(x[i, j])*(2*abs(g[i]) + abs(h[i])*e[i])

Requires: a sum of numbers that are not negative.
Ensures: the same number, but for roundings and what overflows on the way. Factors that hang on the same indices
stand together, so that they are computed outside of loops over others.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import ABS, ADD, CONST, MUL, NEG, ONE, Expr
from symdiff.ir.loop_program import INDEX

MOST = 64
"""Terms and factors that are looked at."""


def with_common_factors(e: Expr) -> Expr:
    """The sum with its common factors in front; itself if there are none."""
    terms = _terms(e)
    if len(terms) < 2 or len(terms) > MOST:
        return e
    products = [_factors(t) for t in terms]
    shared = functools.reduce(lambda a, b: a & b, (p for _, p in products))
    if not shared:
        return e
    sums = [_product(k, p - shared) for k, p in products]
    return _product(functools.reduce(ir.add, sums), shared)


def _terms(e: Expr) -> list[Expr]:
    found: list[Expr] = []
    stack = [e]
    while stack and len(found) <= MOST:
        n = stack.pop()
        if n.op is ADD:
            stack += reversed(n.args)
        else:
            found.append(n)
    return found


def _factors(e: Expr) -> tuple[Expr, Counter[Expr]]:
    """A constant, and what it is multiplied by."""
    constant: Expr = ONE
    found: Counter[Expr] = Counter()
    stack = [(e, False)]
    while stack:
        n, size = stack.pop()
        if n.op is MUL and len(stack) < MOST:
            stack += [(a, size) for a in n.args]
        elif n.op is ABS or (n.op is NEG and size):
            stack.append((n.args[0], True))
        elif n.op is CONST:
            constant = constant * (ir.abs_(n) if size else n)
        else:
            found[ir.abs_(n) if size else n] += 1
    return constant, found


def _product(first: Expr, factors: Counter[Expr]) -> Expr:
    """The product, in the order of the indices that it hangs on."""
    groups: dict[frozenset[Expr], list[Expr]] = {}
    for f in (first, *factors.elements()):
        groups.setdefault(_indices(f), []).append(f)
    ordered = sorted(groups.items(), key=lambda g: len(g[0]))
    return _times(_times(found) for _, found in ordered)


def _indices(e: Expr) -> frozenset[Expr]:
    return frozenset(n for n in ir.topological((e,)) if n.op is INDEX)


def _times(factors: Iterable[Expr]) -> Expr:
    return functools.reduce(lambda a, b: a * b, factors, ONE)


__all__ = ["with_common_factors"]
