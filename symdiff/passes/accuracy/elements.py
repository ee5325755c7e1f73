"""Sums and largest values over the elements of an array, as loops that carry them."""

from __future__ import annotations

from collections.abc import Sequence

from symdiff import ir
from symdiff.ir import ZERO, Expr, raw
from symdiff.ir.loop_program import REAL, Block, Carried, Loop, Type
from symdiff.ir.names import Names


def over_elements(
    names: Names, places: Sequence[str], t: Type, each: Sequence[Expr], largest: Sequence[bool],
) -> tuple[list[Expr], Block]:  # fmt: skip
    """Over all elements of an array: sums of values, or the largest of them."""
    block: Block = ()
    for place, count in zip(reversed(places), reversed(t.shape), strict=True):
        carried = []
        for e, most in zip(each, largest, strict=True):
            name, result = names.fresh("worst"), names.fresh("worst")
            now = ir.var(name)
            end = raw(ir.ADD, (now, e))
            if most:
                end = raw(ir.WHERE, (raw(ir.LT, (now, e)), e, now))
            carried.append(Carried(name, REAL, ZERO, end, result))
        block = (Loop(place, count, tuple(carried), block, names.fresh("trips")),)
        each = [ir.var(c.result) for c in carried]
    return list(each), block
