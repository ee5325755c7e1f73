"""Terms that an exponential of -inf leaves out of a sum, as padding does.

Before:  r/(g*(1 + exp(r/g - a/g)))
After:   where(r/g - a/g > 5e299 and abs(r) == inf, 0, r/(g*(1 + exp(r/g - a/g))))

Requires: derivatives by the chain rule, of a program with an infinite constant.
Ensures: equal values, but where a product is nan, as it has an exponential of -inf, or one of inf below, and an infinite
factor. The exponential is 0 for all arguments nearby: so is its slope. Where other factors are infinite or nan, as
divisors are 0 when nothing is left of a sum, products stay nan.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, FALSE, MUL, NEG, SUB, VAR, ZERO, Expr
from symdiff.ir.functions import EXP, LOGADDEXP
from symdiff.ir.functions.exponential import LOWEST, gap
from symdiff.passes.cancel.algebra import linear

PRODUCTS = frozenset((MUL, DIV, NEG))
FAR = ir.neg(LOWEST / 2)
"""What exponents are beyond that are infinite, or `gap`s."""
Terms = frozenset[tuple[Expr, Fraction]]


def with_gaps(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with differences of the arguments of `logaddexp` in exponents that are 0 where both are -inf: its
    slopes are shares that the slope of what contains it multiplies with 0."""
    outputs = tuple(outputs)
    order = ir.topological(outputs)
    gaps = {_difference(ir.raw(SUB, e.args)) for e in order if e.op is LOGADDEXP} - {None}
    if not gaps:
        return outputs

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(e, args)
        if made.op is EXP and _difference(*made.args) in gaps:
            return EXP(gap(*made.args[0].args))
        return made

    return ir.transform(outputs, rule)


def _difference(e: Expr) -> Terms | None:
    """A difference of two computed values, up to its sign."""
    terms = linear(e) if e.op is SUB else None
    return frozenset((t, abs(c)) for t, c in terms.items()) if terms else None


def without_absent(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with 0 for terms that are left out, and `with_gaps`."""
    outputs = with_gaps(outputs)
    order = ir.topological(outputs)
    inner = {a for n in order if n.op in PRODUCTS for a in n.args if a.op in PRODUCTS}
    whole = {n for n in order if n.op in PRODUCTS and n not in inner} | {
        o for o in outputs if o.op in PRODUCTS
    }

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(e, args)
        return ir.where(_is_absent(e), ZERO, made) if e in whole else made

    return ir.transform(outputs, rule)


def _is_absent(e: Expr) -> Expr:
    """Where a product is left out: an exponent is infinite, and a factor that has to do with it; the rest is finite, as
    it is not where nothing is left of a sum."""
    exponents, others, below = list[Expr](), list[Expr](), list[Expr]()
    for n, side in ir.factors(e):
        found = [t.args[0] for t in ((n,) if side > 0 else _terms(n)) if t.op is EXP]
        exponents += [ir.neg(a) for a in found] if side > 0 else found
        if not found:
            (others if side > 0 else below).append(n)
    known = _variables(exponents)
    vanish = _any(ir.lt(FAR, a) for a in exponents)
    related = [bool(known & _variables((n,))) for n in others]
    infinite = _any(
        ir.eq(ir.abs_(n), ir.INF) for n, is_so in zip(others, related, strict=True) if is_so
    )
    rest = [
        ir.lt(ir.abs_(n), ir.INF) for n, is_so in zip(others, related, strict=True) if not is_so
    ]
    rest += [ir.lt(ZERO, ir.abs_(n)) for n in below if not known & _variables((n,))]
    return functools.reduce(ir.and_, dict.fromkeys(rest), ir.and_(vanish, infinite))


def _any(conditions: Iterable[Expr]) -> Expr:
    return functools.reduce(ir.or_, dict.fromkeys(conditions), FALSE)


def _variables(nodes: Iterable[Expr]) -> set[Expr]:
    return {n for n in ir.topological(tuple(nodes)) if n.op is VAR}


def _terms(e: Expr) -> Iterator[Expr]:
    """The terms of a sum, each of their factors."""
    if e.op is ADD:
        for a in e.args:
            yield from _terms(a)
    else:
        yield from (n for n, _ in ir.factors(e))
