"""Products of one-sided slopes in derivatives are those of one side, at the kink too.

Before:  taken(x, 0)*taken(x, 0), of which each is 1/2 at x = 0
After:   where(x == 0, (1*1 + 0*0)/2, taken(x, 0)*taken(x, 0))

Requires: derivatives, of which each is linear in the slopes of one kink by itself.
Ensures: equal values but where a kink is met whose slopes are multiplied. There the result is the
mean of what it is on both sides, as for a single slope: so where both sides agree it is that,
as the second derivative of max(x, 0)**2 + min(x, 0)**2 is 2 and not 1. Kinks of kinks count,
max(x, 0) - abs(max(x, 0)) is 0; and kinks that meet, up to `MAX_CHOICES`.
"""

from __future__ import annotations

from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import ABS, ADD, DIV, HALF, MUL, NEG, ONE, POW, SIGN, SUB, WHERE, ZERO, Expr
from symdiff.ir.functions import MAXIMUM, MINIMUM, TAKEN
from symdiff.passes.cancel.signsquares import place

MAX_CHOICES = 12
"""Kinks that are told apart in one output, with those that meet there."""
MAX_NODES = 4000
"""Nodes of outputs that are looked at."""
MAX_WORK = 20_000
"""Nodes that are walked over for one output."""


def sides_of_kinks(outputs: Iterable[Expr], of: Iterable[Expr] = ()) -> tuple[Expr, ...]:
    """The outputs, derivatives of what is given, with means of sides where slopes of a kink are
    multiplied. Signs are slopes where they are those of an absolute value in it."""
    outputs = tuple(outputs)
    order = ir.topological((*outputs, *of))
    sizes = {e.args[0] for e in order if e.op is ABS}
    signs = any(e.op is SIGN and e.args[0] in sizes for e in order)
    if len(order) > MAX_NODES or not (signs or any(e.op is TAKEN for e in order)):
        return outputs
    return tuple(_Choices(sizes).of(o) for o in outputs)


class _Choices:
    """The kinks of one output."""

    def __init__(self, sizes: set[Expr]) -> None:
        self.sizes = sizes
        self.left = MAX_CHOICES
        self.work = MAX_WORK

    def of(self, e: Expr, done: frozenset[Expr] = frozenset()) -> Expr:
        """The output with choices at its kinks but those that are done."""
        for u in self._loci(e):
            if u in done or self.left <= 0 or self.work <= 0 or self._degree(e, u) < 2:
                continue
            self.left -= 1
            done = done | {u}
            here = [self.of(_beside(e, u, side), done) for side in (1, -1)]
            mean = here[0] if here[0] is here[1] else HALF * (here[0] + here[1])
            return ir.where(ir.eq(u, ZERO), mean, self.of(e, done))
        return e

    def _degree(self, e: Expr, u: Expr) -> int:
        """How many slopes of the kink at u = 0 are multiplied; 2 stands for more."""
        known: dict[Expr, int] = {}
        order = ir.topological((e,))
        self.work -= len(order)
        for n in order:
            parts = [known[a] for a in n.args]
            if n.op.boolean:
                found = 0
            elif n.op in (TAKEN, SIGN) and self._is_slope(n, u):
                found = 1
            elif n.op in (ADD, SUB, NEG, WHERE):
                found = max(parts)
            elif n.op is MUL:
                found = sum(parts)
            elif n.op is DIV:
                found = parts[0] + 2 * parts[1]
            else:
                found = 2 * max(parts, default=0)
            known[n] = min(found, 2)
        return known[e]

    def _is_slope(self, n: Expr, u: Expr) -> bool:
        """Whether a slope jumps where u vanishes, by itself or by what it is a slope of."""
        if place(*n.args)[0] is u:
            return True
        inside = ir.topological(n.args)
        self.work -= len(inside)
        found = (m for m in inside if m.op in (ABS, MAXIMUM, MINIMUM))
        if self.work <= 0 or not any(place(*m.args)[0] is u for m in found):
            return False
        for side in (1, -1):
            self.work -= len(inside)
            args = tuple(_beside(a, u, side) for a in n.args)
            if args != n.args and place(*args)[0] is u:
                return True
        return False

    def _loci(self, e: Expr) -> list[Expr]:
        """What vanishes at kinks whose slopes occur, with other signs on both sides."""
        found: dict[Expr, None] = {}
        for n in ir.topological((e,)):
            if n.op is TAKEN or (n.op is SIGN and n.args[0] in self.sizes):
                inside = (m for m in ir.topological(n.args) if m.op in (ABS, MAXIMUM, MINIMUM))
                for m in (*inside, n):
                    u, _ = place(*m.args)
                    if not _has_one_side(u):
                        found[u] = None
        return list(found)


def _has_one_side(u: Expr) -> bool:
    """Whether it is never negative, or never positive: that is a kink of what it is made of."""
    if u.op in (MAXIMUM, MINIMUM):
        return any(
            (q := ir.rational(a)) is not None and (q >= 0 if u.op is MAXIMUM else q <= 0)
            for a in u.args
        )
    return (bool(u.op.sign) and u.op.sign != "same") or _is_even_power(u)


def _is_even_power(u: Expr) -> bool:
    return u.op is POW and (k := ir.integer(u.args[1])) is not None and k % 2 == 0


def _beside(e: Expr, u: Expr, side: int) -> Expr:
    """An expression as it is where u has a sign, with values and slopes of that side."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op in (ABS, SIGN, TAKEN, MAXIMUM, MINIMUM):
            at, turn = place(*args)
            if at is u:
                turn *= side
                if n.op is ABS:
                    return args[0] if turn > 0 else -args[0]
                if n.op is SIGN:
                    return ir.const(turn)
                if n.op is TAKEN:
                    return ONE if turn > 0 else ZERO
                return args[0 if (turn > 0) == (n.op is MAXIMUM) else 1]
        return ir.rebuild(n, args)

    return ir.transform((e,), rule)[0]


__all__ = ["sides_of_kinks"]
