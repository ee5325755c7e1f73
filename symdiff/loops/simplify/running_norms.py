"""Roots of sums of squares that loops add up: norms, whose derivative at 0 is 0.

Before:  for i in range(n): s = s + x[i]**2        sqrt(s)/(1 + s)
After:   the same loop                             sqrt(squares(s))/(1 + squares(s))

Requires: a valid program, not differentiated yet.
Ensures: equal values. `functions.SQUARES` says of a number that it is a sum of squares;
`passes.differentiate` takes the derivative of its root for that of a norm, as it does where
the squares stand under the root themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, CONST, DIV, HALF, MUL, POW, WHERE, Expr, substitute, topological, var
from symdiff.ir.functions import SQUARES
from symdiff.ir.loop_program import (
    LOAD,
    Block,
    Build,
    Carried,
    Loop,
    Update,
    array,
    kind_of,
    mapped,
)


def marked(block: Block, roots: Sequence[Expr]) -> tuple[Block, tuple[Expr, ...]]:
    """The block and the expressions after it, with sums of squares under roots marked."""
    known = _known(block, frozenset())
    if not known:
        return block, tuple(roots)

    def one(e: Expr) -> Expr:
        bases = [
            n.args[0]
            for n in topological((e,))
            if n.op is POW and n.args[1] is HALF and _is_sum(n.args[0], known)
        ]
        (result,) = substitute((e,), {b: SQUARES(b) for b in bases if _uses(b, known)})
        return result

    def go(b: Block) -> Block:
        return tuple(mapped(s, one, go) for s in b)

    return go(block), tuple(map(one, roots))


def _known(block: Block, known: frozenset[Expr]) -> frozenset[Expr]:
    """The names that are sums of squares, and arrays of such: those given and a block's."""
    for s in block:
        if isinstance(s, Build):
            known = _known(s.body, known)
            if s.type.kind == "f" and _is_sum(s.value, known):
                known |= {array(s.name)}
        elif isinstance(s, Update):
            if array(s.source) in known and _is_sum(s.value, known):
                known |= {array(s.name)}
        elif isinstance(s, Loop):
            known = _after_loop(s, known)
    return known


def _after_loop(s: Loop, known: frozenset[Expr]) -> frozenset[Expr]:
    """What is known after a loop: of carried values, what holds at the start and, if it does
    at the start of an iteration, at its end."""
    places: dict[Expr, tuple[Carried, Expr]] = {}
    for c in s.carried:
        if c.type.kind == "f" and _is_sum(c.init, known):
            leaf = array if c.type.shape else var
            places[leaf(c.name)] = c, leaf(c.result)
    while True:
        inside = _known(s.body, known | places.keys())
        lost = [e for e, (c, _) in places.items() if not _is_sum(c.next, inside)]
        if not lost:
            return inside | {result for _, result in places.values()}
        for e in lost:
            del places[e]


def _is_sum(e: Expr, known: frozenset[Expr]) -> bool:
    """Whether this is a sum of squares, or of products and greater powers of such."""
    if e in known or e.op is SQUARES:
        return True
    if e.op is CONST:
        return isinstance(e.value, Fraction) and e.value >= 0
    if e.op is LOAD:
        return e.args[0] in known
    if e.op is ADD:
        return all(_is_sum(a, known) for a in e.args)
    if e.op is MUL:
        return e.args[0] is e.args[1] or all(_is_sum(a, known) for a in e.args)
    if e.op is DIV:
        positive = kind_of(e.args[1]) == "i" or _is_sum(e.args[1], known)
        return positive and _is_sum(e.args[0], known)
    if e.op is WHERE:
        return all(_is_sum(a, known) for a in e.args[1:])
    if e.op is POW and (q := ir.rational(e.args[1])) is not None and q >= 1:
        return (q.denominator == 1 and q.numerator % 2 == 0) or _is_sum(e.args[0], known)
    return False


def _uses(e: Expr, known: frozenset[Expr]) -> bool:
    """Whether a sum is one by what is known of names: others are seen where they stand."""
    return any(n in known for n in topological((e,)))


__all__ = ["marked"]
