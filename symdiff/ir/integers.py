"""Bounds on integers that are unknown at compile time: indices and sizes.

An index is in range if it is in range at both ends of the loops that it depends on, which is
decided on sums with like terms collected.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from symdiff import ir
from symdiff.ir import ONE, WHERE, Expr
from symdiff.ir.loop_program import FLOORDIV, INDEX, MOD, index, kind_of


class Sizes(set[Expr]):
    """Integers that are not negative, and those that checks of the program prove equal.

    Attributes
    ----------
    equal : integers that are equal unless one of some conditions holds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.equal: list[tuple[Expr, Expr, tuple[Expr, ...]]] = []

    def check(self, condition: Expr) -> None:
        """Record what a check of the program implies for the statements after it."""
        parts = [c for c in ir.reached((condition,), ir.through(ir.OR)) if c.op is not ir.OR]
        for c in parts:
            if c.op is ir.EQ and all(a in self for a in c.args):
                unless = tuple(p for p in parts if p is not c)
                self.equal.append((c.args[0], c.args[1], unless))

    def alike(self, ranges: Mapping[Expr, Expr]) -> dict[Expr, Expr]:
        """Maps sizes to those that they equal inside of loops with these ranges."""
        found: dict[Expr, Expr] = {}
        for a, b, unless in self.equal:
            if all(self._fails(c, ranges) for c in unless):
                (a, b) = ir.substitute((a, b), found)
                found = {n: ir.substitute((m,), {b: a})[0] for n, m in found.items()} | {b: a}
        return found

    def _fails(self, c: Expr, ranges: Mapping[Expr, Expr]) -> bool:
        """Whether a condition is false where loops run, as their counts are at least 1."""
        if c.op is not ir.LT:
            return False
        gap = c.args[0] - c.args[1]
        return any(
            never_negative(gap - (count - ONE), ranges, self) for count in (ONE, *ranges.values())
        )


@lru_cache(maxsize=4096)
def linear(e: Expr) -> Expr:
    """A sum with like terms collected, so that differences cancel; other expressions unchanged."""
    return _sum(_terms(e))


def _terms(e: Expr) -> dict[Expr, Fraction]:
    """The terms of a sum, and their factors."""
    terms: dict[Expr, Fraction] = {}
    stack = [(e, Fraction(1))]
    while stack:
        n, c = stack.pop()
        if n.op in (ir.ADD, ir.SUB):
            stack += [(n.args[0], c), (n.args[1], c if n.op is ir.ADD else -c)]
        elif n.op is ir.NEG:
            stack.append((n.args[0], -c))
        elif n.op is ir.MUL and (q := ir.rational(n.args[0])) is not None:
            stack.append((n.args[1], c * q))
        elif n.op is ir.DIV and (q := ir.rational(n.args[1])):
            stack.append((n.args[0], c / q))
        elif n.op is ir.MUL and n.args[0].op in (ir.ADD, ir.SUB):
            a, b = n.args[0].args
            stack += [
                (ir.mul(a, n.args[1]), c),
                (ir.mul(b, n.args[1]), c if n.args[0].op is ir.ADD else -c),
            ]
        else:
            q = ir.rational(n)
            key, weight = (ONE, q) if q is not None else (n, Fraction(1))
            terms[key] = terms.get(key, Fraction(0)) + c * weight
    return terms


def _sum(terms: Mapping[Expr, Fraction]) -> Expr:
    result = ir.const(terms.get(ONE, 0))
    for n, c in terms.items():
        result = ir.add(result, ir.mul(ir.const(c), n)) if c and n is not ONE else result
    return result


SHORT = 2**20
"""The largest denominator of a number that is short in binary: sums and products of a few such
numbers are exact in floating point."""


def axis_of(parameter: str, axis: int) -> Expr:
    """A symbol for the size of an axis of a parameter, used to record the axes whose size
    matters."""
    return index(f"{parameter} {axis}")


def quotient(e: Expr) -> tuple[Expr, int] | None:
    """(n, k) where a number is visibly n/k, with an integer n and a positive power of 2 k; else
    None."""
    terms = _terms(e)
    if any(n is not ONE and kind_of(n) != "i" for n in terms):
        return None
    k = math.lcm(*(c.denominator for c in terms.values()))
    if SHORT % k:
        return None
    return _sum({n: c * k for n, c in terms.items()}), k


def least(e: Expr, ranges: Mapping[Expr, Expr]) -> Expr:
    """The least value of an integer over loops, given the number of iterations of each index,
    outermost first; the expression itself where it is not linear in the indices."""
    for leaf, count in reversed(list(ranges.items())):
        if count.op is WHERE and ir.ZERO in count.args[1:]:
            count = count.args[2] if count.args[1] is ir.ZERO else count.args[1]  # or no iteration
        e = _at_least(e, leaf, count)
    return e


def _at_least(e: Expr, leaf: Expr, count: Expr) -> Expr:
    terms = _terms(e)
    if not any(leaf in ir.topological((n,)) for n in terms if n.args):
        c = terms.pop(leaf, Fraction(0))
        rest = _sum(terms) if c else e
        return rest if c >= 0 else ir.add(rest, ir.mul(ir.const(c), ir.sub(count, ONE)))
    if degree(e, leaf) > 2:
        return e
    at = [ir.substitute((e,), {leaf: ir.const(k)})[0] for k in (0, 1, 2)]
    step = ir.rational(linear(ir.sub(at[1], at[0])))
    if step is None or ir.rational(linear(ir.sub(at[2], at[1]))) != step:
        return e
    return at[0] if step >= 0 else ir.substitute((e,), {leaf: ir.sub(count, ONE)})[0]


def degree(e: Expr, leaf: Expr) -> float:
    """The degree, at most, of a polynomial in a leaf; infinite for anything else."""
    known: dict[Expr, float] = {}
    for n in ir.topological((e,)):
        parts = [known[a] for a in n.args]
        if n is leaf:
            known[n] = 1
        elif not any(parts):
            known[n] = 0
        elif n.op is ir.MUL:
            known[n] = sum(parts)
        else:
            known[n] = max(parts) if n.op in (ir.ADD, ir.SUB, ir.NEG) else math.inf
    return known[e]


def nonnegative(e: Expr, ranges: Mapping[Expr, Expr], sizes: Collection[Expr]) -> bool:
    """Whether an integer is visibly not negative, inside of loops and for nonnegative sizes."""
    return never_negative(least(linear(e), ranges), ranges, sizes)


def never_negative(low: Expr, ranges: Mapping[Expr, Expr], sizes: Collection[Expr]) -> bool:
    """The same, for an integer given by its least value."""
    stack = [linear(low)]
    while stack:
        n = stack.pop()
        if (q := ir.rational(n)) is not None:
            if q < 0:
                return False
        elif n.op in (ir.ADD, ir.MUL, FLOORDIV):
            stack += n.args
        elif n.op is MOD:
            stack.append(n.args[1])
        elif n.op is WHERE:
            stack += n.args[1:]
        elif n.op is not INDEX or (n not in sizes and n not in ranges):
            return False
    return True


FAR = 256
"""The largest size that `always` tries."""


def always(condition: Expr) -> bool:
    """Whether a condition on a single size visibly holds for all sizes: it consists of sums and
    choices, which comparisons divide into few pieces, linear in the size."""
    far = _far((condition,))
    sizes = [n for n in ir.topological((condition,)) if n.op is INDEX]
    if far is None or len(sizes) > 1:
        return False
    return all(
        ir.substitute((condition,), {n: ir.const(k) for n in sizes})[0] is ir.TRUE
        for k in range(far + 2)
    )


def shortest(e: Expr) -> Expr:
    """The one sum that an expression with choices of sums of a single size equals for all sizes;
    the expression itself if there is none."""
    nodes = ir.topological((e,))
    sizes = [n for n in nodes if n.op is INDEX]
    if len(sizes) != 1 or not any(n.op is WHERE for n in nodes):
        return e
    far = _far((e,))
    if far is None:
        return e
    ends = [ir.integer(ir.substitute((e,), {sizes[0]: ir.const(far + k)})[0]) for k in (1, 2)]
    if None in ends:
        return e
    first, second = (k for k in ends if k is not None)
    step = second - first
    found = linear(ir.add(ir.mul(ir.const(step), sizes[0]), ir.const(first - step * (far + 1))))
    return found if always(ir.eq(e, found)) else e


def _far(roots: Sequence[Expr]) -> int | None:
    """The size from which on an expression of one size by sums, choices and comparisons is linear in it; None
    of others, and if it is above `FAR`."""
    offsets: dict[Expr, int] = {}
    far = 0
    for n in ir.topological(roots):
        parts = [offsets[a] for a in n.args]
        q = ir.rational(n)
        if q is not None:
            if q.denominator != 1:
                return None
            offsets[n] = abs(int(q))
        elif n.op in (ir.ADD, ir.SUB, ir.NEG):
            offsets[n] = sum(parts)
        elif n.op is WHERE:
            offsets[n] = max(parts[1:])
        elif n.op in ir.COMPARISONS:
            offsets[n] = 0
            far = max(far, sum(parts))
        elif n.op is INDEX or n.op.boolean:
            offsets[n] = 0
        else:
            return None
    return far if far <= FAR else None


def in_range(i: Expr, n: Expr, ranges: Mapping[Expr, Expr], sizes: Collection[Expr]) -> bool:
    """Whether `0 <= i < n` holds in every iteration."""
    gap = n - ONE - i
    if not nonnegative(i, ranges, sizes):
        return False
    if nonnegative(gap, ranges, sizes):
        return True
    same = sizes.alike(ranges) if isinstance(sizes, Sizes) else {}
    if not same:
        return False
    known = dict(zip(ranges, ir.substitute(tuple(ranges.values()), same), strict=True))
    return nonnegative(ir.substitute((gap,), same)[0], known, sizes)
