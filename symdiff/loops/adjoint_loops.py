"""Loops over the elements of an array, around statements that add to adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff.ir import Expr
from symdiff.ir.loop_program import INTEGER, Block, Carried, Loop, Type, name_of
from symdiff.loops.context import Context


@dataclass(frozen=True, slots=True)
class Accumulator:
    """An adjoint that a loop adds to: of a name from outside of it.

    Attributes
    ----------
    primal : the name whose adjoint it is.
    type : of both.
    start : the adjoint at the start of an iteration, and
    end : at its end.
    """

    primal: str
    type: Type
    start: str
    end: Expr


def nested(
    context: Context,
    axes: Sequence[tuple[str, Expr]],
    body: Block,
    added: Sequence[Accumulator],
    inits: Sequence[Expr],
) -> tuple[Block, list[Expr]]:
    """Loops over axes (index, size) around a body; the adjoints after them.

    Parameters
    ----------
    inits : the adjoints before the loops.
    """

    def leaf(a: Accumulator) -> Expr:
        return context.leaf(context.fresh(a.start, a.type))

    ends = [a.end for a in added]
    starts = [a.start for a in added]
    for depth, (axis, size) in reversed(list(enumerate(axes))):
        outer = list(inits) if depth == 0 else list(map(leaf, added))
        results = list(map(leaf, added))
        carried = tuple(
            Carried(start, a.type, init, end, name_of(result))
            for a, start, init, end, result in zip(added, starts, outer, ends, results, strict=True)
        )
        body = (Loop(axis, size, carried, body, context.fresh("trips", INTEGER)),)
        ends, starts = results, [name_of(e) for e in outer if depth]
    return body, ends
