"""Squares of signs in derivatives are 1, at the kink too.

Before:  sign(x)*(exp(-abs(x))*sign(x) + x)
After:   exp(-abs(x)) + sign(x)*x

Requires: derivatives. In a value that a user wrote, sign(0)**2 is 0, and stays 0; in its
derivatives too, unless the value is continuous there (`steps_of`).
Ensures: equal values except where the argument of a sign is 0. There the result is the limit, if
both sides have one limit, which sign(0) = 0 would miss: max(x, 0) + log1p(exp(-abs(x))) is
smooth at 0, and its second derivative there is 1/4. If the limits differ, a sum of
multiples of signs is the mean of the sides, as before.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import lru_cache

from symdiff import ir
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, ONE, POW, SIGN, SUB, TRUE, VAR, WHERE, ZERO, Expr
from symdiff.ir.functions import IVE, domain

MAX_SIGNS = 8
"""Largest number of signs in one program."""

MAX_DEPTH = 24
"""The most operations down to the branches into which a sign is moved."""

Split = tuple[Expr, Expr]
"""a and b of a + b*sign(u)."""


Place = tuple[Expr, int]
"""What vanishes at a kink, and whether it has the sign of the original argument or the opposite."""


def squares_of_signs(
    outputs: Iterable[Expr], but: Container[Expr] = frozenset()
) -> tuple[Expr, ...]:
    """The outputs without products of a sign with itself, except for the signs in `but`, and for those
    without which the outputs would be more than twice as long."""
    outputs = tuple(outputs)
    alike: dict[Expr, dict[Expr, int]] = {}
    for e in ir.topological(outputs):
        if e.op is SIGN:
            u, side = place(e.args[0])
            if u not in but:
                alike.setdefault(u, {})[e] = side
    most = 2 * len(ir.topological(outputs))  # an even and an odd part
    for signs in list(alike.values())[:MAX_SIGNS]:
        made = _Parity(signs).without_squares(outputs)
        outputs = made if len(ir.topological(made)) <= most else outputs
    return outputs


def slopes_of(
    values: Iterable[Expr], steps: Container[Expr], known: Iterable[Expr] = ()
) -> tuple[Expr, ...]:
    """The quantities that vanish at kinks of absolute values, whose slopes are signs in
    derivatives; with the known ones of the values."""
    nodes = ir.topological(values)
    found = (place(e.args[-1])[0] for e in nodes if e.op in (ABS, IVE))
    return tuple(dict.fromkeys((*known, *(u for u in found if u not in steps))))


def steps_of(values: Iterable[Expr], slopes: Container[Expr] = ()) -> set[Expr]:
    """Where signs that a user wrote jump, and no slopes do: the quantities that vanish there. Such a sign is a step,
    0 at 0, and none of its sides counts."""
    values = tuple(values)
    found: set[Expr] = set()
    for e in ir.topological(values):
        if e.op is SIGN and (u := place(e.args[0])[0]) not in found and u not in slopes:
            here = _at_step(values, u, 0)
            sides = (_at_step(values, u, side) for side in (1, -1))
            if any(ir.eq(a, b) is not TRUE for v in sides for a, b in zip(here, v, strict=True)):
                found.add(u)
    return found


def _at_step(values: tuple[Expr, ...], u: Expr, side: int) -> tuple[Expr, ...]:
    """The values where u is 0, with the given sign for u."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op is SIGN:
            at, turn = place(args[0])
            if at is u:
                return ir.const(turn * side)
        return ir.rebuild(n, args)

    found = ir.transform(values, rule)
    return ir.substitute(found, {u: ZERO}) if u.op is VAR else found


@lru_cache(maxsize=4096)
def place(a: Expr, b: Expr = ZERO) -> Place:
    """The canonical quantity that is 0 where a and b meet: the same for all multiples and odd
    powers of their difference."""
    if (q := ir.rational(a)) is not None:
        u, side = place(b, a) if ir.rational(b) is None else (ir.const(q) - b, -1)
        return u, -side
    factor, u = ir.scaled(a - b)
    side = 1 if factor > 0 else -1
    while u.op is POW and (k := ir.integer(u.args[1])) is not None and k > 0 and k % 2:
        u = u.args[0]
    if u.op in (SUB, ADD) and (turned := _turned(u)) is not None:
        return turned, -side
    return u, side


def _turned(u: Expr) -> Expr | None:
    """-u, if it is the representative of the two."""
    if u.op is not SUB:
        return None
    other = u.args[1] - u.args[0]
    first = min(u.args, key=repr)
    return other if first is not u.args[0] and other.op is SUB else None


class _Parity:
    """Nodes that depend on a sign, or on others of the same kink, as sums of an even and an odd
    part."""

    def __init__(self, signs: dict[Expr, int]) -> None:
        self.sign, first = next(iter(signs.items()))
        self.parts: dict[Expr, Split] = {
            e: (ZERO, ONE if side == first else -ONE) for e, side in signs.items()
        }
        self.squared: set[Expr] = set()
        self.total = all(map(_is_total, ir.topological(self.sign.args)))

    def without_squares(self, outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        for n in ir.topological(outputs):
            if n not in self.parts:
                self.parts[n] = self._split(n)
                if any(a in self.squared for a in n.args):
                    self.squared.add(n)
        return tuple(self._joined(o) if o in self.squared else o for o in outputs)

    def _joined(self, e: Expr) -> Expr:
        even, odd = self.parts[e]
        return even if odd is ZERO else even + self._signed(odd)

    def _signed(self, odd: Expr, depth: int = MAX_DEPTH) -> Expr:
        """An odd part times the sign, which stays inside its branches: outside of them the argument
        of the sign may be undefined."""
        if odd is ZERO or self.total or depth == 0:
            return odd if odd is ZERO else self.sign * odd
        if odd.op is WHERE:
            c, *sides = odd.args
            return ir.where(c, *(self._signed(a, depth - 1) for a in sides))
        if odd.op in (ADD, SUB, NEG):
            return ir.rebuild(odd, tuple(self._signed(a, depth - 1) for a in odd.args))
        if odd.op in (MUL, DIV):
            first = odd.args[0]
            if odd.op is DIV or any(n.op is WHERE for n in ir.topological((first,))):
                return ir.rebuild(odd, (self._signed(first, depth - 1), odd.args[1]))
            return first * self._signed(odd.args[1], depth - 1)
        return self.sign * odd

    def _split(self, n: Expr) -> Split:
        parts = [self.parts[a] for a in n.args]
        if all(odd is ZERO for _, odd in parts):
            return self._as_it_is(n)
        if n.op is NEG:
            return -parts[0][0], -parts[0][1]
        if n.op in (ADD, SUB):
            (a, b), (c, d) = parts
            combine = ir.add if n.op is ADD else ir.sub
            return combine(a, c), combine(b, d)
        if n.op is WHERE:
            condition = self._as_it_is(n.args[0])[0]
            (a, b), (c, d) = parts[1:]
            return ir.where(condition, a, c), ir.where(condition, b, d)
        if n.op is DIV and parts[1][1] is ZERO:
            return parts[0][0] / parts[1][0], parts[0][1] / parts[1][0]
        if n.op is MUL:
            (a, b), (c, d) = parts
            if b is ZERO or d is ZERO:
                return a * c, a * d if b is ZERO else b * c
            if a is ZERO or c is ZERO:  # others would cancel
                self.squared.add(n)
                return (b * d, b * c) if a is ZERO else (b * d, a * d)
        if n.op is POW and (k := ir.integer(n.args[1])) is not None and parts[0][0] is ZERO:
            self.squared.add(n)
            power = ir.power(parts[0][1], k)
            return (ZERO, power) if k % 2 else (power, ZERO)
        return self._as_it_is(n)

    def _as_it_is(self, n: Expr) -> Split:
        """A node over its reassembled arguments."""
        if not any(a in self.squared for a in n.args):
            return n, ZERO
        return ir.rebuild(n, tuple(self._joined(a) for a in n.args)), ZERO


def _is_total(n: Expr) -> bool:
    """Whether an operation has a value for all numbers."""
    if n.op is DIV and ir.rational(n.args[1]) is None:
        return False
    return n.op is not WHERE and domain(n.op, n.args) is TRUE
