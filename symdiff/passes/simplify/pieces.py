"""Small pieces of writing: products of powers, signs, numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import fmpq

from symdiff import ir
from symdiff.ir import ONE, Expr
from symdiff.ir.formula_text import of_terms, terms
from symdiff.ir.functions import PI
from symdiff.passes.cancel.rational import Factored

_HALF, _ONE = Fraction(1, 2), ONE.value
_FOLDED = (ir.MUL, ir.DIV, ir.NEG, ir.CONST)
"""What products of nodes are not just written down of."""


def is_number(e: Expr) -> bool:
    """Whether this is a positive rational number, or such a multiple of pi."""
    if e.op is PI:
        return True
    if e.op is ir.MUL:
        return e.args[1].op is PI and is_number(e.args[0])
    return e.op is ir.CONST and (q := ir.rational(e)) is not None and q > 0


def roots_of_numbers(exponents: dict[Expr, Fraction | int], unit: Fraction) -> Fraction:
    """`sqrt(2)*sqrt(pi)` as `sqrt(2*pi)`, `sqrt(2)/sqrt(pi)` and `2/sqrt(2*pi)` as `sqrt(2/pi)`;
    the remaining number."""
    roots: list[list[Expr]] = []
    for half in (_HALF, -_HALF):
        found = [b for b, x in exponents.items() if x == half and is_number(b)]
        if len(found) > 1:
            for b in found:
                del exponents[b]
            found = [multiplied(sorted(found, key=lambda b: b.op is PI))]
            exponents[found[0]] = half
        roots.append(found)
    over, under = roots
    if not under:
        return unit
    top, below = over[0] if over else ONE, under[0]
    if not over:
        q, below = ir.scaled(below)
        if q != abs(unit) or q == 1 or below is ONE:
            return unit
        top, unit = ir.const(q), unit / q
    for b in (*over, *under):
        del exponents[b]
    exponents[ir.div(top, below)] = _HALF
    return unit


def primitive(p: Any) -> tuple[Any, Fraction]:
    """A polynomial with coprime integer coefficients, and the number it was divided by."""
    coefficients = p.coeffs()
    over = math.gcd(*[int(c.p) for c in coefficients])
    under = math.lcm(*[int(c.q) for c in coefficients])
    if over == 1 and under == 1:
        return p, _ONE
    return p / fmpq(over, under), Fraction(over, under)


def key_of(value: Factored) -> object:
    """A key that is equal for equal values of a frame."""
    unit, found = value.unit, value.factors
    if len(found) < 2:
        return unit.numerator, unit.denominator, *[(k, f[1]) for k, f in found.items()]
    return unit.numerator, unit.denominator, *sorted([(k, f[1]) for k, f in found.items()])


def negated(e: Expr) -> Expr:
    """The negative of a sum, term by term."""
    if e.op is ir.ADD:
        return ir.sub(ir.neg(e.args[0]), e.args[1])
    return ir.neg(e)


def multiplied(nodes: list[Expr]) -> Expr:
    """The product of powers of different bases."""
    if not nodes:
        return ONE
    product, plain = nodes[0], nodes[0].op not in _FOLDED
    for e in nodes[1:]:
        plain = plain and e.op not in _FOLDED
        product = ir.raw(ir.MUL, (product, e)) if plain else ir.mul(product, e)
    return product


def joined(unit: Fraction, base: Expr, n: int) -> tuple[Fraction, int]:
    """A number and an integer power of the base of some other power, as a number and such a power:
    the number alone where it is one of these, or the power is not all of it."""
    number = ir.rational(base)
    if unit == 1 or number is None or number <= 0 or number == 1:
        return unit, n
    whole = unit * number**n
    k = round(_log(abs(whole)) / _log(number))
    return (whole / number**k, k) if abs(whole) == number**k else (whole, 0)


def _log(q: Fraction) -> float:
    return math.log(q.numerator) - math.log(q.denominator)


def turned(e: Expr) -> list[Expr]:
    """The negative of a formula, with its sign moved into one of its sums."""
    if e.op in (ir.ADD, ir.SUB):
        return [of_terms((-sign, node) for sign, node in terms(e))]
    found = [ir.neg(e)]
    if e.op in (ir.MUL, ir.DIV):
        for i, a in enumerate(e.args):
            for t in turned(a) if a.op in (ir.ADD, ir.SUB, ir.MUL, ir.DIV) else ():
                found.append(ir.rebuild(e, (t, e.args[1]) if i == 0 else (e.args[0], t)))
    return found
