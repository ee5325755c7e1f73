"""Norms of positive parts at their edges, before they are differentiated.

Before:  hypot(max(u, 0), max(v, 0))
After:   n = hypot(max(u, 0), max(v, 0));  where(n <= 0, max(max(u, v), 0), n)

Requires: outputs that are to be differentiated.
Ensures: equal values. Where one of the parts begins and the others are 0 beside the point too, the norm has the
slopes 0 and 1 by it, as a maximum has, and their mean at the edge: not 0, the least of the slopes that a norm
has where it is pointed. So what a distance is outside of a box meets what it is inside.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from symdiff import ir
from symdiff.ir import ADD, HALF, LE, MUL, POW, WHERE, ZERO, Expr
from symdiff.ir.functions import HYPOT, MAXIMA, MAXIMUM, SQUARES

MOST = 16
"""Parts of a norm."""


def with_edges(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs with norms of positive parts as maxima where they are 0."""
    outputs = tuple(outputs)
    order = ir.topological(outputs)
    if not any(n.op in MAXIMA for n in order):
        return outputs
    known = {n.args[0] for n in order if n.op is LE and n.args[1] is ZERO}
    inside = {a for n in order if n.op is HYPOT for a in n.args}
    found: dict[Expr, Expr] = {}
    for n in order:
        if n not in known and (n not in inside or n.op is not HYPOT) and (parts := _parts(n)):
            found[n] = at_edge(n, n, functools.reduce(MAXIMUM, parts))
    if not found:
        return outputs

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return found[n] if n in found else ir.rebuild(n, args)

    return ir.transform(outputs, rule)


def at_edge(norm: Expr, size: Expr, largest: Expr) -> Expr:
    """A norm, and where a size says that it is 0 the positive part of the largest of what it is made of."""
    return ir.raw(WHERE, (ir.raw(LE, (size, ZERO)), MAXIMUM(largest, ZERO), norm))


def part(e: Expr) -> Expr | None:
    """u in max(u, 0)**2, and the root of c times u in c*max(u, 0)**2."""
    if e.op is MUL and (c := ir.rational(e.args[0])) is not None and c > 0:
        inner = part(e.args[1])
        return None if inner is None else ir.sqrt(e.args[0]) * inner
    if e.op is MUL and e.args[0] is e.args[1]:
        return _above(e.args[0])
    return _above(e.args[0]) if e.op is POW and ir.rational(e.args[1]) == 2 else None


def _above(e: Expr) -> Expr | None:
    """u in max(u, 0)."""
    if e.op not in MAXIMA or ZERO not in e.args:
        return None
    return e.args[0] if e.args[1] is ZERO else e.args[1]


def _parts(n: Expr) -> Sequence[Expr]:
    """Of what a norm is made of several positive parts; none if it is not."""
    if n.op is POW and n.args[1] is HALF:
        stack, of = [n.args[0]], part
    elif n.op is HYPOT:
        stack, of = list(n.args), _above
    else:
        return ()
    found: list[Expr] = []
    while stack:
        e = stack.pop()
        if e.op is SQUARES or (e.op in (ADD, HYPOT) and len(stack) < MOST):
            stack += e.args
        elif (u := of(e)) is None or len(found) == MOST:
            return ()
        else:
            found.append(u)
    return found[::-1] if len(found) > 1 else ()


__all__ = ["at_edge", "part", "with_edges"]
