"""Sums of exponentials that loops add up, scaled so that they neither overflow nor vanish.

Before:  for i in range(n): s = s + exp(x[i])                          log(s)
After:   for i in range(n): m = x[i] if m < x[i] else m
         for i in range(n): r = r + exp(x[i] - m)                      log(exp(m)*r)

and likewise for arrays of such sums, as of the rows of a matrix.

Requires: a valid program, not differentiated yet.
Ensures: equal values. m is a number of which no derivative is taken (`functions.DETACHED`):
what the sum is does not depend on it. Only sums are scaled that end up in a logarithm or below
a fraction bar, and whose loop does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ADD, DIV, MUL, ONE, ZERO, Expr, substitute, topological, var
from symdiff.ir.functions import DETACHED, EXP, LOG, LOG1P, LOG2, LOG10
from symdiff.ir.loop_program import (
    LOAD,
    Block,
    Build,
    Carried,
    Loop,
    Names,
    Statement,
    Type,
    array,
    expressions,
    index,
    load,
    mapped,
    name_of,
    renamed,
    walk,
)

_LOGARITHMS = (LOG, LOG1P, LOG2, LOG10)


def scaled(block: Block, roots: Sequence[Expr], names: Names) -> tuple[Block, tuple[Expr, ...]]:
    """The block and the expressions after it."""
    statements = list(walk(block))
    sums = {s.trips: s for s in statements if isinstance(s, Loop) and _is_sum(s)}
    if not sums:
        return block, tuple(roots)
    used = [*(e for s in statements for e in expressions(s)), *roots]
    parts = _Parts(
        used, {s.name: s for s in statements if isinstance(s, Build) and not s.body}, names
    )
    new: dict[str, Block] = {}
    for s in statements:
        if isinstance(s, Build) and len(s.body) == 1 and isinstance(s.body[0], Loop):
            if s.body[0].trips in sums and (made := parts.of_rows(s, s.body[0])) is not None:
                new[s.name] = made
    for s in sums.values():
        if (made := parts.of_number(s)) is not None:
            new[s.trips] = made
    if not new:
        return block, tuple(roots)

    def one(e: Expr) -> Expr:
        loads = {
            n: parts.row(n) for n in topological((e,)) if n.op is LOAD and n.args[0] in parts.rows
        }
        return substitute((e,), parts.values | loads)[0]

    def go(b: Block) -> Block:
        found: list[Statement] = []
        for s in b:
            name = s.trips if isinstance(s, Loop) else s.name if isinstance(s, Build) else ""
            found.extend(mapped(t, one, go) for t in new.get(name, (s,)))
        return tuple(found)

    return go(block), tuple(map(one, roots))


def _is_sum(s: Loop) -> bool:
    """Whether a counted loop does nothing but add up numbers from 0."""
    if (
        s.body
        or s.saves
        or s.restores
        or s.reverse
        or s.count is None
        or s.condition is not ir.TRUE
    ):
        return False
    return len(s.carried) == 1 and s.carried[0].type == Type() and s.carried[0].init is ZERO


class _Parts:
    """Sums in two parts: the largest exponent, and the sum below it.

    Attributes
    ----------
    values : what the names of such sums stand for.
    rows : arrays of such sums, with the arrays of their parts.
    """

    def __init__(self, used: Iterable[Expr], builds: dict[str, Build], names: Names) -> None:
        self.builds, self.names = builds, names
        self.inside: set[Expr] = set()  # of logarithms and denominators
        for n in topological(tuple(used)):
            if n.op in _LOGARITHMS or n.op is DIV:
                part = n.args[0] if n.op in _LOGARITHMS else n.args[1]
                self.inside.update(topological((part,), self.inside))
        self.values: dict[Expr, Expr] = {}
        self.rows: dict[Expr, tuple[Expr, Expr]] = {}

    def of_number(self, s: Loop) -> Block | None:
        total = var(s.carried[0].result)
        parts = _exponent(s.carried[0], self.builds)
        if parts is None or total not in self.inside or total in self.values:
            return None
        peak, largest = self._peak(s, parts[0])
        shift = DETACHED(_finite(largest))
        self.values[total] = EXP(shift) * total
        return peak, _below(s, *parts, shift)

    def of_rows(self, s: Build, loop: Loop) -> Block | None:
        """An array whose elements are such sums: an array of the largest exponents, one of
        the sums below, and the array itself."""
        parts = _exponent(loop.carried[0], self.builds)
        whole = array(s.name)
        used = any(n.op is LOAD and n.args[0] is whole for n in self.inside)
        if parts is None or not used or s.value is not var(loop.carried[0].result):
            return None
        at = tuple(map(index, s.indices))
        peak, largest = self._peak(loop, parts[0])
        (first,), _ = renamed(
            (Build(f"largest_{s.name}", s.type, s.indices, _finite(largest), (peak,)),), self.names
        )
        assert isinstance(first, Build)
        highest = array(first.name)
        below = _below(loop, *parts, DETACHED(load(highest, *at)))
        second = replace(s, name=self.names.fresh(s.name), body=(below,))
        self.rows[whole] = highest, array(second.name)
        indices = tuple(self.names.fresh(i) for i in s.indices)
        value = self.row(load(whole, *map(index, indices)))
        return first, second, Build(s.name, s.type, indices, value)

    def row(self, e: Expr) -> Expr:
        """An element of such an array, by its parts."""
        highest, below = self.rows[e.args[0]]
        return EXP(DETACHED(load(highest, *e.args[1:]))) * load(below, *e.args[1:])

    def _peak(self, s: Loop, u: Expr) -> tuple[Loop, Expr]:
        """The loop that finds the largest exponent, and its result."""
        fresh = self.names.fresh
        at, result, trips, first = (
            fresh("largest"),
            fresh("largest"),
            fresh(s.trips),
            fresh(s.index),
        )
        (u,) = substitute((u,), {index(s.index): index(first)})
        found = ir.where(ir.lt(var(at), u), u, var(at))
        carried = Carried(at, Type(), ir.neg(ir.INF), found, result)
        return Loop(first, s.count, (carried,), (), trips), var(result)


def _finite(x: Expr) -> Expr:
    return ir.where(ir.lt(ir.abs_(x), ir.INF), x, ZERO)


def _below(s: Loop, u: Expr, weight: Expr, shift: Expr) -> Loop:
    c = s.carried[0]
    return replace(s, carried=(replace(c, next=var(c.name) + weight * EXP(u - shift)),))


def _exponent(c: Carried, builds: dict[str, Build]) -> tuple[Expr, Expr] | None:
    """(u, w) if c.next is c + w*exp(u), neither depending on c."""
    if c.next.op is not ADD or var(c.name) not in c.next.args:
        return None
    a, b = c.next.args
    term = b if a is var(c.name) else a
    if term.op is LOAD and (build := builds.get(name_of(term.args[0]))) is not None:
        indices = dict(zip(map(index, build.indices), term.args[1:], strict=True))
        (term,) = substitute((build.value,), indices)
    weight, e = (term.args[0], term.args[1]) if term.op is MUL else (ONE, term)
    if weight.op is EXP and e.op is not EXP:
        weight, e = e, weight
    if e.op is not EXP or var(c.name) in topological((weight, e)):
        return None
    return e.args[0], weight


__all__ = ["scaled"]
