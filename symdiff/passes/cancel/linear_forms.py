"""Expressions as linear forms, and their solutions for a variable."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import lru_cache

from symdiff import ir
from symdiff.ir import ADD, NEG, ONE, SUB, VAR, ZERO, Expr

Form = dict[Expr, Fraction]
"""A linear form: a nonzero factor for each of its unknowns. Constants are left out, or are factors
of 1."""


@lru_cache(maxsize=4096)
def form(u: Expr, constants: bool = False) -> Form:
    """An expression as a linear form in all parts that are not a sum, a difference or a multiple;
    with a factor for 1, if `constants` is set."""
    found: Form = {}
    stack = [(Fraction(1), u)]
    while stack:
        factor, e = stack.pop()
        q, e = ir.scaled(e)
        factor *= q
        if e.op in (ADD, SUB):
            stack += [(factor, e.args[0]), (factor if e.op is ADD else -factor, e.args[1])]
        elif e.op is NEG:
            stack.append((-factor, e.args[0]))
        elif e.args or e.op is VAR:
            found[e] = found.get(e, Fraction(0)) + factor
        elif constants and (c := ir.rational(e)) is not None:
            found[ONE] = found.get(ONE, Fraction(0)) + factor * c
        elif constants:
            found[e] = factor
    return {a: q for a, q in found.items() if q}


def alone(terms: Collection[Expr]) -> Iterator[Expr]:
    """The variables among the unknowns of a linear form that no other one depends on."""
    for v in terms:
        if v.op is VAR and not any(v in ir.variables((w,)) for w in terms if w is not v):
            yield v


def solved(terms: Form) -> tuple[Expr, Expr] | None:
    """Such a variable, and its value where the form is 0; None if there is none."""
    for v in alone(terms):
        rest: Expr = ZERO
        for w, q in terms.items():
            if w is not v:
                rest = rest + ir.const(-q / terms[v]) * w
        return v, rest
    return None
