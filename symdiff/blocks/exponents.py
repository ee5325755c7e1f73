"""Sums of exponentials that loops add up, scaled so that they neither overflow nor vanish.

Before:  for i in range(n): s = s + exp(x[i])                          log(s)
After:   for i in range(n): m = x[i] if m < x[i] else m
         for i in range(n): r = r + exp(x[i] - m)                      log(exp(m)*r)

Requires: a valid program, not differentiated yet.
Ensures: equal values. m is a number of which no derivative is taken (`functions.DETACHED`):
what the sum is does not depend on it. Only sums are scaled that end up in a logarithm or below
a fraction bar, and whose loop does nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.functions import DETACHED, EXP, LOG, LOG1P, LOG2, LOG10
from symdiff.ir import ADD, DIV, MUL, ONE, ZERO, Expr, substitute, topological, var
from symdiff.structure import (
    LOAD,
    Block,
    Build,
    Carried,
    Loop,
    Names,
    Statement,
    Type,
    expressions,
    index,
    mapped,
    name_of,
    walk,
)

_LOGARITHMS = (LOG, LOG1P, LOG2, LOG10)


def scaled(block: Block, roots: Sequence[Expr], names: Names) -> tuple[Block, tuple[Expr, ...]]:
    """The block and the expressions after it."""
    found = list(_sums(block))
    if not found:
        return block, tuple(roots)
    used = [*(e for s in walk(block) for e in expressions(s)), *roots]
    builds = {s.name: s for s in walk(block) if isinstance(s, Build) and not s.body}
    sums: dict[str, tuple[Loop, ...]] = {}
    values: dict[Expr, Expr] = {}
    for s in found:
        parts = _exponent(s.carried[0], builds)
        if parts is not None and _matters(var(s.carried[0].result), used):
            sums[s.trips], values[var(s.carried[0].result)] = _in_two(s, *parts, names)
    if not values:
        return block, tuple(roots)

    def one(e: Expr) -> Expr:
        return substitute((e,), values)[0]

    def go(b: Block) -> Block:
        new: list[Statement] = []
        for s in b:
            if isinstance(s, Loop) and s.trips in sums:
                new.extend(mapped(t, one, go) for t in sums[s.trips])
            else:
                new.append(mapped(s, one, go))
        return tuple(new)

    return go(block), tuple(map(one, roots))


def _sums(block: Block) -> Iterable[Loop]:
    """Counted loops that do nothing but add up numbers from 0."""
    for s in walk(block):
        if isinstance(s, Loop) and not s.body and not s.saves and not s.restores and not s.reverse:
            if s.count is not None and s.condition is ir.TRUE and len(s.carried) == 1:
                c = s.carried[0]
                if not c.type.shape and c.type.kind == "f" and c.init is ZERO:
                    yield s


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


def _matters(total: Expr, used: Iterable[Expr]) -> bool:
    """Whether a sum is part of a logarithm's argument or of a denominator."""
    for n in topological(tuple(used)):
        if n.op in _LOGARITHMS or n.op is DIV:
            part = n.args[0] if n.op in _LOGARITHMS else n.args[1]
            if total in topological((part,)):
                return True
    return False


def _in_two(s: Loop, u: Expr, weight: Expr, names: Names) -> tuple[tuple[Loop, ...], Expr]:
    """The loops that find the largest exponent and the sum below it, and the whole sum."""
    c = s.carried[0]
    real = Type()
    peak, at, trips, first = (
        names.fresh(n) for n in ("largest", "largest", f"{s.trips}", f"{s.index}")
    )
    (moved,) = substitute((u,), {index(s.index): index(first)})
    highest = Carried(
        at, real, ir.neg(ir.INF), ir.where(ir.lt(var(at), moved), moved, var(at)), peak
    )
    shift = DETACHED(ir.where(ir.lt(ir.abs_(var(peak)), ir.INF), var(peak), ZERO))
    below = replace(c, next=var(c.name) + weight * EXP(u - shift))
    loops = Loop(first, s.count, (highest,), (), trips), replace(s, carried=(below,))
    return loops, EXP(shift) * var(c.result)


__all__ = ["scaled"]
