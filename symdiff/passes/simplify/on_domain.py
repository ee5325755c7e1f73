"""Forms that are equal on the domain of a function, where they may be defined beyond it.

Before:  exp(xlogy(a - 1, x) - x - lgamma(a)), 1/(sqrt(x - 1)*sqrt(x + 1))
After:   x**(a - 1)*exp(-x)/gamma(a), 1/sqrt((x - 1)*(x + 1))

Requires: a formula. Ensures: one to start from, which is to be compared there; where nothing is to
be done, the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, ONE, POW, SUB, ZERO, Expr
from symdiff.ir.formula_text import factors, of_factors, terms
from symdiff.ir.functions import EXP, GAMMA, LGAMMA, LOG, XLOG1PY, XLOGY


def as_powers(e: Expr) -> Expr:
    """With exponentials of logarithms as powers, and roots in products as one."""

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        if made.op is EXP:
            return _powers(made)
        return _one_root(made) if made.op is MUL or made.op is DIV else made

    return ir.transform((e,), rule)[0]


def logarithms_apart(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """With logarithms of products of several sums as sums of logarithms, whose slopes are the same."""

    def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(node, args)
        if made.op is not LOG or made.args[0].op not in (MUL, DIV, POW):
            return made
        found = list(_bases(made.args[0], ONE))
        if sum(base.op in (ADD, SUB) for base, _ in found) < 2:
            return made
        total: Expr = ZERO
        for base, exponent in found:
            total = ir.add(total, ir.mul(exponent, LOG(base)))
        return total

    return ir.transform(outputs, rule)


def _bases(e: Expr, scale: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The bases of a product that are no numbers, with exponents; roots of products too."""
    for base, exponent in factors(e)[1]:
        exponent = ir.mul(scale, exponent)
        if base.op is MUL or base.op is DIV:
            yield from _bases(base, exponent)
        else:
            yield base, exponent


def _powers(e: Expr) -> Expr:
    made, rest = ONE, ZERO
    for sign, term in terms(e.args[0]):
        power = _power(term)
        if power is None:
            rest = ir.add(rest, term) if sign > 0 else ir.sub(rest, term)
        else:
            made = ir.mul(made, power) if sign > 0 else ir.div(made, power)
    if made is ONE:
        return e
    return made if rest is ZERO else ir.mul(made, EXP(rest))


def _power(e: Expr) -> Expr | None:
    """The argument of the logarithm in a term of an exponent, if there is one."""
    if e.op is XLOGY:
        return ir.power(e.args[1], e.args[0])
    if e.op is XLOG1PY:
        return ir.power(ir.add(e.args[1], ONE), e.args[0])
    if e.op is LGAMMA:
        return GAMMA(e.args[0])
    unit, found = factors(e)
    logs = [b.args[0] for b, x in found if b.op is LOG and x is ONE and ir.variables(b.args)]
    if len(logs) != 1:
        return None
    return ir.power(logs[0], of_factors(unit, [f for f in found if f[0].op is not LOG]))


def _one_root(e: Expr) -> Expr:
    """A product with the roots of the same degree in it as one."""
    unit, found = factors(e)
    roots = dict[Fraction, list[tuple[Expr, int]]]()
    for base, x in found:
        q = ir.rational(x)
        if q is not None and q.denominator == 2 and ir.variables((base,)):
            roots.setdefault(abs(q), []).append((base, 1 if q > 0 else -1))
    if all(len(members) < 2 for members in roots.values()):
        return e
    made = ir.const(unit)
    for base, x in found:
        q = ir.rational(x)
        members = roots.get(abs(q), []) if q is not None else []
        if len(members) < 2 or (base, 1 if q is not None and q > 0 else -1) not in members:
            made = ir.mul(made, ir.power(base, x))
    for q, members in roots.items():
        if len(members) > 1:
            side = members[0][1]
            radicand = ONE
            for base, n in members:
                radicand = ir.mul(radicand, base) if n == side else ir.div(radicand, base)
            made = ir.mul(made, ir.power(radicand, ir.const(side * q)))
    return made
