"""Write constants beyond the range of doubles by several within the range.

Before:  10**400 * x**2
After:   10**400/2**1200 * (2**600 * (2**600 * x**2))

Constants are exact, so folding them may leave the range of doubles, on either side.

Requires: any DAG.
Ensures: the same values, and no constant beyond the range in arithmetic. Factors are applied one
by one, all large or all small, so that no intermediate is farther out than the
result; sums with such a term are computed at another scale.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, DIV, EQ, LE, LT, MUL, NAN, POW, SUB, Expr, is_far
from symdiff.ir.functions import LN2, LOG

STEP = 600
TINY = Fraction(1, 2**500)
LEAST = Fraction(1, 2**1074)


def without_far_constants(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs without such constants."""
    outputs = tuple(outputs)
    if not any(is_far(n) for n in ir.topological(outputs)):
        return outputs
    return ir.transform(outputs, lambda e, args: split_far_constants(ir.rebuild(e, args)))


def split_far_constants(e: Expr) -> Expr:
    """A node without constants beyond the range of doubles as its arguments."""
    if e.op is LOG and is_far(e.args[0]):
        lead, powers = _pieces(e.args[0])
        size = sum(
            _value(p).numerator.bit_length() - _value(p).denominator.bit_length() for p in powers
        )
        return LOG(lead) + ir.const(size) * LN2()
    if e.op not in (*ir.ARITHMETIC, LT, LE, EQ) or len(e.args) != 2:
        return e
    a, b = e.args
    far_a, far_b = is_far(a), is_far(b)
    if far_a is far_b:
        return e
    if e.op is MUL:
        return _product(b, *_pieces(a)) if far_a else _product(a, *_pieces(b))
    if e.op is DIV:
        if far_a:
            lead, powers = _pieces(a)
            return _product(ir.div(ir.mul(lead, powers[0]), b), ir.ONE, powers[1:])
        lead, powers = _pieces(b)
        return ir.div(_product(a, ir.ONE, [ir.div(ir.ONE, p) for p in powers]), lead)
    if e.op is POW:
        if far_b or not _value(a) > 0:
            return e
        lead, powers = _pieces(a)
        return _product(ir.power(lead, b), ir.ONE, [ir.power(p, b) for p in powers])
    if e.op in (ADD, SUB):
        return _sum(e)
    return e.op(_bound(e, a, True) if far_a else a, _bound(e, b, False) if far_b else b)


def _value(e: Expr) -> Fraction:
    q = ir.rational(e)
    assert q is not None
    return q


def _pieces(e: Expr) -> tuple[Expr, list[Expr]]:
    """A constant as a number near 1 and powers of two."""
    q = _value(e)
    size = abs(q.numerator).bit_length() - q.denominator.bit_length()
    return ir.const(q / Fraction(2) ** size), _powers(size)


def _product(e: Expr, lead: Expr, powers: list[Expr]) -> Expr:
    for p in powers:
        e = ir.mul(p, e)
    return ir.mul(lead, e)


def _sum(e: Expr) -> Expr:
    """A sum with a far constant, computed at another scale."""
    far, near = e.args if is_far(e.args[0]) else e.args[::-1]
    q = _value(far)
    size = abs(q.numerator).bit_length() - q.denominator.bit_length()
    down = size + STEP if size < 0 else size - STEP
    parts = _powers(-down)
    scaled = [
        _product(n, ir.ONE, parts) if n is near else ir.const(q / Fraction(2) ** down)
        for n in e.args
    ]
    total = _product(e.op(*scaled), ir.ONE, _powers(down))
    if size > 0:
        return total
    alone = ir.neg(near) if e.op is SUB and far is e.args[0] else near
    return ir.where(ir.lt(ir.abs_(near), ir.const(TINY)), total, alone)


def _powers(size: int) -> list[Expr]:
    """Powers of two whose product is 2**size."""
    steps = [STEP if size > 0 else -STEP] * (abs(size) // STEP)
    return [ir.const(Fraction(2) ** k) for k in (*steps, size - sum(steps)) if k]


def _bound(e: Expr, far: Expr, left: bool) -> Expr:
    """The comparison of a double with a far constant, with another bound instead."""
    q = _value(far)
    if abs(q) > 1:
        return ir.INF if q > 0 else ir.neg(ir.INF)
    if e.op is EQ:
        return NAN
    up = (q > 0) is ((e.op is LT) is not left)  # x < q is x < LEAST, for 0 < q < LEAST
    return ir.const(LEAST if q > 0 else -LEAST) if up else ir.ZERO
