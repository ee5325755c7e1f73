"""The possible signs of a node, from the shape of the DAG and the facts that the user asserts.

Before:  abs(x), with `assert x > 0`
After:   x

Requires: any DAG; facts are conditions that hold on the domain.
Ensures: `Signs` never excludes a sign that occurs; `assume` changes no value
where the facts hold.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from symdiff import ir
from symdiff.ir import ABS, ADD, DIV, EQ, LE, LT, MUL, NEG, NOT, POW, SUB, VAR, WHERE, Expr
from symdiff.ir.functions import EXP, EXTREMES, LARGER, MAXIMA, SIN, SMALLER, TAN
from symdiff.ir.plain import exactly

NEGATIVE, ZERO_, POSITIVE = 1, 2, 4
ANY = NEGATIVE | ZERO_ | POSITIVE
MAX_FACTORS = 16
ROOM = Fraction(1, 2**20)
"""How far from 0 a bound is, of the numbers that it is made of, where no rounding reaches 0."""
_VALUES = {NEGATIVE: -1, ZERO_: 0, POSITIVE: 1}


def _mask(signs: Iterable[int]) -> int:
    return sum({1 << (s + 1) for s in signs})


def _members(mask: int) -> list[int]:
    return [value for bit, value in _VALUES.items() if mask & bit]


@functools.cache
def _flip(mask: int) -> int:
    return _mask(-s for s in _members(mask))


@functools.cache
def _sum(a: int, b: int) -> int:
    total = 0
    for x, y in product(_members(a), _members(b)):
        total |= ANY if x * y < 0 else _mask([x or y])
    return total


@functools.cache
def _product(a: int, b: int) -> int:
    return _mask(x * y for x, y in product(_members(a), _members(b)))


class Signs:
    """Memoised sign analysis under a set of facts."""

    def __init__(self, facts: Iterable[Expr] = ()) -> None:
        self.known: dict[Expr, int] = {}
        self.facts: dict[Expr, int] = {}
        self.numbers: set[Expr] = set()
        for fact in ir.conjuncts(*exactly(facts)):
            self._learn(fact)
            if fact.op in (LT, LE, EQ) and not _may_drop_nan(fact):
                self.numbers.update(ir.variables((fact,)))  # no comparison with nan holds

    def _learn(self, fact: Expr) -> None:
        if fact.op is NOT and fact.args[0].op in (LT, LE):
            inner = fact.args[0]
            self._learn((ir.le if inner.op is LT else ir.lt)(inner.args[1], inner.args[0]))
        elif fact.op is NOT and fact.args[0].op is EQ:
            a, b = fact.args[0].args
            self._narrow(ir.sub(a, b), NEGATIVE | POSITIVE)
        elif fact.op in (LT, LE):
            a, b = fact.args
            bound = POSITIVE if fact.op is LT else POSITIVE | ZERO_
            self._narrow(ir.sub(b, a), bound)
            low, high = ir.rational(a), ir.rational(b)
            if low is not None and low >= 0:
                self._narrow(b, POSITIVE if low > 0 or fact.op is LT else bound)
            if high is not None and high <= 0:
                self._narrow(a, NEGATIVE if high < 0 or fact.op is LT else _flip(bound))

    def _narrow(self, e: Expr, mask: int) -> None:
        factor, base = ir.scaled(e)
        if base is not e and factor:
            self._narrow(base, mask if factor > 0 else _flip(mask))
        self.facts[e] = self.facts.get(e, ANY) & mask
        opposite = ir.neg(e)
        self.facts[opposite] = self.facts.get(opposite, ANY) & _flip(mask)

    def of(self, e: Expr) -> int:
        """The possible signs of a node, as a bit mask."""
        if e not in self.known:
            for node in ir.topological((e,), self.known):
                mask = ANY if node.op.boolean else self._local(node)
                self.known[node] = mask & self.facts.get(node, ANY)
        return self.known[e]

    def _local(self, e: Expr) -> int:
        if (q := ir.rational(e)) is not None:
            return _mask([(q > 0) - (q < 0)])
        op, args = e.op, e.args
        masks = [self.known[a] for a in args]
        if op in (ADD, SUB):
            found = _sum(masks[0], masks[1] if op is ADD else _flip(masks[1]))
            return self._minus_one(e) if found == ANY else found
        if op is NEG:
            return _flip(masks[0])
        if op is MUL:
            return _product(*masks)
        if op is DIV:
            return _product(masks[0], masks[1] & ~ZERO_) | (masks[0] & ZERO_)
        if op is POW:
            return self._power(e, masks[0])
        if op is WHERE:
            taken, other = args[0], ir.not_(args[0])
            return masks[1] & _bounded(taken, args[1]) | masks[2] & _bounded(other, args[2])
        if op in EXTREMES:
            pick = max if op in MAXIMA else min
            return _mask(pick(x, y) for x, y in product(_members(masks[0]), _members(masks[1])))
        if op is ABS:
            return (masks[0] & ZERO_) | (POSITIVE if masks[0] & ~ZERO_ else 0)
        if op.sign == "same":
            return masks[0]
        return {"positive": POSITIVE, "nonnegative": POSITIVE | ZERO_}.get(op.sign, ANY)

    def _minus_one(self, e: Expr) -> int:
        """The signs of u**q - 1 and exp(u) - 1, which depend on those of u - 1 and u."""
        factor, side = ir.ONE, 1
        if e.op is SUB and e.args[1] is ir.ONE:
            factor = e.args[0]
        elif e.op is SUB and e.args[0] is ir.ONE:
            factor, side = e.args[1], -1
        elif e.op is ADD and ir.rational(e.args[1]) == -1:
            factor = e.args[0]
        if factor.op is EXP:
            found = self.of(factor.args[0])
        elif factor.op is POW and self.of(factor.args[0]) == POSITIVE:
            found = _product(self.of(ir.sub(factor.args[0], ir.ONE)), self.of(factor.args[1]))
        else:
            return ANY
        return found if side > 0 else _flip(found)

    def _power(self, e: Expr, base: int) -> int:
        q = ir.rational(e.args[1])
        if q is None:
            return POSITIVE if base == POSITIVE else ANY
        if q.denominator == 1 and q.numerator % 2:
            return base
        return (base & ZERO_) | POSITIVE if base != ZERO_ else ZERO_

    def adds_up(self, e: Expr) -> bool:
        """Whether both terms of a sum or difference have one sign, so that nothing cancels."""
        a, b = e.args
        both = self.of(a) | self.of(ir.neg(b) if e.op is SUB else b)
        return not both & NEGATIVE or not both & POSITIVE

    def nonnegative(self, e: Expr) -> bool:
        return not self.of(e) & NEGATIVE

    def is_number(self, e: Expr) -> bool:
        """Whether the facts imply that no variable of it is nan."""
        return self.numbers.issuperset(ir.variables((e,)))

    def side(self, e: Expr) -> int:
        """1 if a node is never negative, -1 if it is never positive, 0 if it may be either."""
        return 1 if self.nonnegative(e) else -1 if self.nonnegative(ir.neg(e)) else 0

    def nonzero(self, e: Expr) -> bool:
        return not self.of(e) & ZERO_

    def holds(self, condition: Expr) -> bool | None:
        """Whether signs alone decide that a comparison of numbers that are not nan holds."""
        if condition.op in (LT, LE, EQ):
            a, b = condition.args
            signs = self.of(ir.sub(b, a))
            true = {LT: POSITIVE, LE: POSITIVE | ZERO_, EQ: ZERO_}[condition.op]
            return True if not signs & ~true else False if not signs & true else None
        return None


def _bounded(condition: Expr, e: Expr) -> int:
    """The signs that a node may have where a condition bounds it by a number that is not 0, so far from there that
    rounding decides nothing."""
    factor, base, offset = _affine(e)
    found = ANY
    for c in ir.conjuncts(condition):
        comparison = c.args[0] if c.op is NOT else c
        if comparison.op not in (LT, LE):
            continue
        low, high = comparison.args[::-1] if c.op is NOT else comparison.args
        for bound, inside, above in ((low, high, 1), (high, low, -1)):
            scale, bounded, shift = _affine(inside)
            if bounded is base and (q := ir.rational(bound)) is not None:
                most = factor * (q - shift) / scale  # beyond it is `factor*base`, on this side:
                side = above if factor * scale > 0 else -above
                if (most + offset) * side > ROOM * max(abs(most), abs(offset)):
                    found &= POSITIVE if side > 0 else NEGATIVE
    return found


def _affine(e: Expr) -> tuple[Fraction, Expr, Fraction]:
    """A node as factor*base + offset, with a factor that is not 0."""
    factor, offset = Fraction(1), Fraction(0)
    while True:
        scale, base = ir.scaled(e)
        if base is not e and scale:
            factor, e = factor * scale, base
        elif e.op is DIV and (q := ir.rational(e.args[1])):
            factor, e = factor / q, e.args[0]
        elif e.op in (ADD, SUB) and (q := ir.rational(e.args[1])) is not None:
            offset += factor * (q if e.op is ADD else -q)
            e = e.args[0]
        elif e.op in (ADD, SUB) and (q := ir.rational(e.args[0])) is not None:
            offset += factor * q
            factor, e = (factor if e.op is ADD else -factor), e.args[1]
        else:
            return factor, e, offset


def _may_drop_nan(e: Expr) -> bool:
    """Whether a node may be a number where one of its variables is nan."""
    return any(n.op is WHERE or n.op in (LARGER, SMALLER) for n in ir.topological(e.args))


def assume(outputs: Iterable[Expr], facts: Iterable[Expr]) -> tuple[Expr, ...]:
    """Drop absolute values and branches that the facts decide, and take squares out of
    roots of products that cannot be negative: sqrt(u**2*v) is abs(u)*sqrt(v). A comparison with 0
    of a function that vanishes with its argument becomes one of the argument."""
    facts = tuple(facts)
    outputs = tuple(outputs)
    found = {e.op for e in ir.topological(outputs)}
    decide = bool(facts) or POW in found  # signs are too strict at infinity: 1/x may be 0
    if not decide and EQ not in found:
        return outputs
    signs = Signs(facts)

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op is ABS and decide and (side := signs.side(args[0])):
            return args[0] if side > 0 else ir.neg(args[0])
        if e.op is WHERE and args[0].op is not ir.BOOL and decide:
            decided = signs.holds(args[0])
            if decided is False or (decided and signs.is_number(args[0])):
                return args[1] if decided else args[2]
        if e.op is EQ and ir.ZERO in args:
            return ir.eq(_with_the_same_zeros(args[1] if args[0] is ir.ZERO else args[0]), 0)
        if e.op is POW and args[0].op in (MUL, DIV):
            return _without_squares(args[0], args[1], signs)
        return ir.rebuild(e, args)

    return ir.transform(outputs, rule)


def _with_the_same_zeros(e: Expr) -> Expr:
    """A formula with the same zeros, for rational arguments: a sine has no other rational root.
    A quotient, which is 0 for infinite arguments too, stays inside."""
    inner = e
    while inner.op.sign == "same" or (inner.op in (SIN, TAN) and _is_rational(inner.args[0])):
        inner = inner.args[0]
    return e if inner is e or _divides(inner) else inner


def _divides(e: Expr) -> bool:
    """Whether a formula divides by an expression with variables."""
    for n in ir.topological((e,)):
        if n.op is DIV and ir.rational(n.args[1]) is None:
            return True
        if n.op is POW and ((q := ir.rational(n.args[1])) is None or q < 0):
            return True
    return False


def _is_rational(e: Expr) -> bool:
    """Whether a formula of rational numbers has rational values."""
    return all(
        n.op in (VAR, ADD, SUB, NEG, MUL, DIV)
        or ir.rational(n) is not None
        or (n.op is POW and ir.integer(n.args[1]) is not None)
        for n in ir.topological((e,))
    )


def _without_squares(base: Expr, exponent: Expr, signs: Signs) -> Expr:
    """A fractional power of a product, its even powers as powers of absolute values; as it
    is if the other factors may be negative."""
    q = ir.rational(exponent)
    if q is None or q.denominator == 1:
        return ir.power(base, exponent)
    roots, rest = ir.ONE, ir.ONE
    stack = [(base, True)]
    for _ in range(MAX_FACTORS):
        if not stack:
            break
        e, above = stack.pop()
        n = ir.integer(e.args[1]) if e.op is POW else None
        if e.op is MUL:
            stack += [(a, above) for a in reversed(e.args)]
        elif e.op is DIV:
            stack += [(e.args[1], not above), (e.args[0], above)]
        elif n is not None and n % 2 == 0:
            root = ir.power(ir.abs_(e.args[0]), n * q)
            roots = roots * root if above else roots / root
        elif signs.nonnegative(e):
            rest = rest * e if above else rest / e
        else:
            return ir.power(base, exponent)
    if stack or roots is ir.ONE:
        return ir.power(base, exponent)
    return roots * ir.power(rest, exponent)
