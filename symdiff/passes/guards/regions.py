"""The set of values of a quantity for which a comparison with constants holds.

Before:  abs(2*x - 1) < 3
After:   x in (-1, 2)

`constraint` solves one comparison for the node behind shifts, factors and an
absolute value; `Known` collects such facts along a path of branches and decides
other comparisons of the same quantity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, ADD, AND, COMPARISONS, DIV, EQ, LT, MUL, NEG, NOT, OR, POW, SUB, Expr

Bound = Fraction | float


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval; `closed` tells for each end whether it belongs to it."""

    low: Bound
    high: Bound
    closed: tuple[bool, bool] = (False, False)

    def __contains__(self, other: Piece) -> bool:
        left = self.low < other.low or (
            self.low == other.low and (self.closed[0] or not other.closed[0])
        )
        right = other.high < self.high or (
            self.high == other.high and (self.closed[1] or not other.closed[1])
        )
        return left and right

    def meet(self, other: Piece) -> Piece | None:
        low, low_in = max((self.low, not self.closed[0]), (other.low, not other.closed[0]))
        high, high_in = min((self.high, self.closed[1]), (other.high, other.closed[1]))
        piece = Piece(low, high, (not low_in, high_in))
        if low > high or (low == high and piece.closed != (True, True)):
            return None
        return piece

    def image(self, factor: Fraction, shift: Fraction) -> Piece:
        """The interval of factor*u + shift."""
        ends = [_moved(self.low, factor, shift), _moved(self.high, factor, shift)]
        if factor < 0:
            return Piece(ends[1], ends[0], (self.closed[1], self.closed[0]))
        return Piece(ends[0], ends[1], self.closed)

    def squared(self) -> Piece:
        """The interval of u**2, for u that is not negative."""
        return Piece(self.low * self.low, self.high * self.high, self.closed)


Set = tuple[Piece, ...]
"""Disjoint intervals, in order."""
EVERYTHING: Set = (Piece(-math.inf, math.inf),)
NONNEGATIVE = Piece(Fraction(0), math.inf, (True, False))


def _moved(bound: Bound, factor: Fraction, shift: Fraction) -> Bound:
    if isinstance(bound, Fraction):
        return bound * factor + shift
    return bound if factor >= 0 else -bound  # infinite; large fractions are no floats


def intersection(a: Set, b: Set) -> Set:
    return tuple(m for p in a for q in b if (m := p.meet(q)) is not None)


def complement(a: Set) -> Set:
    rest = EVERYTHING
    for p in a:
        outside = (
            Piece(-math.inf, p.low, (False, not p.closed[0])),
            Piece(p.high, math.inf, (not p.closed[1], False)),
        )
        rest = intersection(rest, tuple(q for q in outside if q.low < q.high))
    return rest


def constraint(comparison: Expr, exact: bool = True) -> tuple[Expr, Set] | None:
    """(u, S): the comparison holds where u is in S; None for other comparisons. Not `exact`: u is rounded."""
    if comparison.op not in COMPARISONS:
        return None
    a, b = comparison.args
    zero = Fraction(0)
    holds: Set = (
        Piece(zero, zero, (True, True))
        if comparison.op is EQ
        else Piece(-math.inf, zero, (False, comparison.op is not LT)),
    )
    if (q := ir.rational(b)) is not None:
        e, holds = a, tuple(p.image(Fraction(1), q) for p in holds)
    elif (q := ir.rational(a)) is not None:
        e, holds = b, tuple(p.image(Fraction(-1), q) for p in reversed(holds))
    else:
        e = ir.sub(a, b)
    while exact and (step := _peeled(e, holds)) is not None:
        e, holds = step
    return (e, holds) if e.op is not ir.CONST else None


def _peeled(e: Expr, holds: Set) -> tuple[Expr, Set] | None:
    """The same pair for the child of a shift, a factor, an absolute value or a square root."""
    if e.op is ABS:
        positive = intersection(holds, (NONNEGATIVE,))
        mirrored = tuple(p.image(Fraction(-1), Fraction(0)) for p in reversed(positive))
        return e.args[0], _joined((*mirrored, *positive))
    if e.op is POW and ir.rational(e.args[1]) == Fraction(1, 2):
        return e.args[0], tuple(map(Piece.squared, intersection(holds, (NONNEGATIVE,))))
    factor, shift, child = Fraction(1), Fraction(0), e
    if e.op is NEG:
        factor, child = Fraction(-1), e.args[0]
    elif e.op in (ADD, SUB) and (q := ir.rational(e.args[1])) is not None:
        shift, child = q if e.op is ADD else -q, e.args[0]
    elif e.op is SUB and (q := ir.rational(e.args[0])) is not None:
        factor, shift, child = Fraction(-1), q, e.args[1]
    elif e.op is MUL and (q := ir.rational(e.args[0])):
        factor, child = q, e.args[1]
    elif e.op is DIV and (q := ir.rational(e.args[1])):
        factor, child = 1 / q, e.args[0]
    if child is e:
        return None
    images = tuple(p.image(1 / factor, -shift / factor) for p in holds)
    return child, images if factor > 0 else images[::-1]


def _joined(pieces: Iterable[Piece]) -> Set:
    """Neighbours that touch or overlap, as one interval."""
    joined: list[Piece] = []
    for p in pieces:
        last = joined[-1] if joined else None
        if last and (last.high > p.low or (last.high == p.low and (last.closed[1] or p.closed[0]))):
            joined[-1] = Piece(last.low, p.high, (last.closed[0], p.closed[1]))
        else:
            joined.append(p)
    return tuple(joined)


class Known:
    """The facts on one side of a branch.

    Where a comparison fails, its quantity is in the complement of its set, or nan. It is certainly
    a number only where a comparison holds, which then may imply others; or if all are `real`.
    """

    def __init__(
        self, condition: Expr, truth: bool, real: bool = False,
        read: Callable[[Expr], tuple[Expr, Set] | None] = constraint,
    ) -> None:  # fmt: skip
        self.truth: dict[Expr, bool] = {}
        self.sets: dict[Expr, Set] = {}
        self.numbers: set[Expr] = set()
        stack = [(condition, truth)]
        while stack:
            e, holds = stack.pop()
            if e.op is ir.BOOL or self.truth.get(e) is holds:
                continue
            self.truth[e] = holds
            if e.op is NOT:
                stack.append((e.args[0], not holds))
            elif (e.op is AND and holds) or (e.op is OR and not holds):
                stack.extend((a, holds) for a in e.args)
            elif (found := read(e)) is not None:
                u, inside = found
                self._narrow(u, inside if holds else complement(inside))
                if holds or real:
                    self.numbers.add(u)

    def _narrow(self, u: Expr, inside: Set) -> None:
        self.sets[u] = intersection(self.sets.get(u, EVERYTHING), inside)
        if u.op is SUB:
            mirrored = ir.sub(u.args[1], u.args[0])
            self.sets[mirrored] = tuple(
                p.image(Fraction(-1), Fraction(0)) for p in reversed(self.sets[u])
            )

    def decides(
        self, condition: Expr, found: tuple[Expr, Set] | None, real: bool = False
    ) -> bool | None:
        """Whether a condition with the set `found` holds, for real numbers or also for nan;
        None if that is open."""
        if condition in self.truth:
            return self.truth[condition]
        if found is None or found[0] not in self.sets:
            return None
        u, inside = found
        here = self.sets[u]
        if all(any(p in q for q in inside) for p in here):
            return True if real or u in self.numbers else None
        return False if not intersection(here, inside) else None

    def narrowed(self, found: tuple[Expr, Set] | None) -> Expr | None:
        """An equality in place of a condition that holds, or fails, at exactly one of the
        values that its quantity may have here; None for other conditions."""
        if found is None or found[0] not in self.sets:
            return None
        u, inside = found
        for holds, part in ((True, inside), (False, complement(inside))):
            rest = intersection(self.sets[u], part)
            if len(rest) == 1 and rest[0].low == rest[0].high:
                equal = ir.eq(u, ir.const(rest[0].low))
                return equal if holds else ir.not_(equal)
        return None
