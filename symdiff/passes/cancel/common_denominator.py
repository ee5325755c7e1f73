"""A formula as one quotient, over the least common denominator.

Before:  erf(r)/r**3 - c*exp(-r**2)/r**2
After:   erf(r) - c*r*exp(-r**2)  over  r**3

Requires: any formula. Ensures: numerator over denominator is the formula, except where a
denominator is zero. Nothing is expanded, and factors that both share stay.
"""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, NEG, ONE, POW, Expr
from symdiff.passes.cancel.algebra import RATIONAL_OPS

MAX_NODES = 24
"""The most operations to search, from the top."""

_Powers = dict[Expr, Fraction]


class _Outside:
    """All nodes except some."""

    def __init__(self, inside: Container[Expr]) -> None:
        self.inside = inside

    def __contains__(self, e: object) -> bool:
        return e not in self.inside


def together(e: Expr, limit: int = MAX_NODES) -> tuple[Expr, Expr] | None:
    """(numerator, denominator); None if the denominator is constant."""
    top = {e: None}
    queue = [e]
    for n in queue:
        if n.op in RATIONAL_OPS and len(top) <= limit:
            queue += [a for a in n.args if a not in top]
            top.update(dict.fromkeys(n.args))
    if not any(DIV in (n.op, *(a.op for a in n.args)) for n in top):
        return None
    forms: dict[Expr, tuple[Expr, _Powers]] = {}
    for n in ir.topological((e,), _Outside(top)):
        forms[n] = _combined(n, forms)
    numerator, powers = forms[e]
    denominator = _of_powers(powers)
    return None if denominator.op is ir.CONST else (numerator, denominator)


def _combined(n: Expr, forms: dict[Expr, tuple[Expr, _Powers]]) -> tuple[Expr, _Powers]:
    if n.op is POW and n.args[0].op is DIV and (k := ir.rational(n.args[1])) is not None:
        above, below = n.args[0].args
        if k > 0 and (ir.rational(above) or 0) > 0:  # a root of c/d
            return ir.power(above, ir.const(k)), {below: k}
    if n.op not in RATIONAL_OPS or any(a not in forms for a in n.args):
        return n, {}
    (p, q), (r, s) = forms[n.args[0]], forms[n.args[-1]]
    if not q and not s and n.op is not DIV:
        return n, {}
    if n.op is NEG:
        return -p, q
    if n.op is MUL:
        return p * r, _times(q, s)
    if n.op is DIV:
        constant, factors = _factors(r)
        return p * _of_powers(s) / constant, _times(q, factors)
    common = {b: max(q.get(b, Fraction(0)), s.get(b, Fraction(0))) for b in (*q, *s)}
    p, r = p * _missing(common, q), r * _missing(common, s)
    return (p + r if n.op is ADD else p - r), common


def _factors(d: Expr) -> tuple[Expr, _Powers]:
    """A denominator as a constant and powers of its other factors."""
    if d.op is MUL:
        (a, p), (b, q) = _factors(d.args[0]), _factors(d.args[1])
        return a * b, _times(p, q)
    if not ir.variables((d,)):
        return d, {}
    if d.op is POW and (k := ir.rational(d.args[1])) is not None and k > 0:
        return ONE, {d.args[0]: k}
    return ONE, {d: Fraction(1)}


def _times(a: _Powers, b: _Powers) -> _Powers:
    return {f: a.get(f, Fraction(0)) + b.get(f, Fraction(0)) for f in (*a, *b)}


def _missing(common: _Powers, powers: _Powers) -> Expr:
    return _of_powers({f: k - powers.get(f, Fraction(0)) for f, k in common.items()})


def _of_powers(powers: _Powers) -> Expr:
    return ir.product(ir.power(f, ir.const(k)) for f, k in powers.items())
