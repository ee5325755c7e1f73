"""Loops over the elements of an array, around statements that add to adjoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff.ir import Expr, blocks
from symdiff.ir.loop_program import Block, Carried, Type
from symdiff.loops.context import Context


@dataclass(frozen=True, slots=True)
class Accumulator:
    """An adjoint that a loop adds to, of a name from outside it.

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

    if not axes:
        return body, [a.end for a in added]
    carried = [
        Carried(a.start, a.type, init, a.end, "") for a, init in zip(added, inits, strict=True)
    ]
    loop = blocks.nested(axes, carried, body, context.fresh)
    return (loop,), [context.leaf(c.result) for c in loop.carried]
