"""Trade a unit in the last place for time: what `accuracy="fast"` does to lowered outputs.

Before : x/d, y/d; exp(a), exp(-a); a*b + c
After  : r = 1/d, x*r, y*r; 1/exp(a); fma(a, b, c)
Requires: lowered outputs, see `lower`.
Ensures : the same real values. A shared reciprocal and that of an exponential are each rounded
         once more. An exponential of a sum is not a product of others, which may be inf*0 where
         the sum is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff import ir
from symdiff.ir import Expr
from symdiff.ir.functions import EXP
from symdiff.lowering.factoring import products
from symdiff.lowering.lower import lower
from symdiff.lowering.quotients import fused_quotients

CHAIN = 64
"""Integer powers up to this are multiplied out."""


def share_work(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The outputs lowered, in fewer and cheaper operations."""
    roots = lower(fused_quotients(outputs), chain=CHAIN, divide=False)
    roots = lower(_exponentials(roots), chain=CHAIN, divide=False)
    return lower(products(roots), chain=CHAIN, divide=False, fuse=True)


# ---------------------------------------------------------------------- exponentials
@dataclass(frozen=True, slots=True)
class _Way:
    """How an exponential follows from others, and from a value that decides."""

    kind: str
    parts: tuple[Expr, ...]


def _exponentials(roots: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Exponentials that follow from others by one operation."""
    known = {e.args[0]: e for e in ir.topological(roots) if e.op is EXP}
    found = {e: way for u, e in known.items() if (way := _from_others(u, known))}
    ways = {e: w for e, w in found.items() if not any(p in found for p in w.parts)}
    new: dict[Expr, Expr] = {}
    for e in ir.children_first(roots, lambda e: ways[e].parts if e in ways else e.args):
        way = ways.get(e)
        new[e] = (
            ir.with_args(e, tuple(new[a] for a in e.args)) if way is None else _combined(way, new)
        )
    return tuple(new[r] for r in roots)


def _from_others(u: Expr, known: dict[Expr, Expr]) -> _Way | None:
    """How exp(u) follows from exponentials that are computed anyway."""
    v = u.args[0] if u.op is ir.NEG else u
    falling = known.get(ir.raw(ir.NEG, (ir.raw(ir.ABS, (v,)),)))
    if falling is not None:
        return _Way("falls" if u.op is ir.NEG else "grows", (falling, v))
    if u.op is ir.NEG and v in known:
        return _Way("inverse", (known[v],))
    return None


def _combined(way: _Way, new: dict[Expr, Expr]) -> Expr:
    first, *rest = (new[p] for p in way.parts)
    match way.kind:
        case "inverse":
            return ir.raw(ir.DIV, (ir.ONE, first))
    inverse = ir.raw(ir.DIV, (ir.ONE, first))
    sides = (first, inverse) if way.kind == "falls" else (inverse, first)
    return ir.raw(ir.WHERE, (ir.raw(ir.LT, (ir.ZERO, rest[0])), *sides))
