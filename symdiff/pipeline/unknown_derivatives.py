"""Derivatives without a formula: refused where they are asked for, at the line of the function.

Before:  the Hessian of betainc(a, b, x), with the operation betainc_by_parameters_twice
After:   an error at the call of betainc
"""

from __future__ import annotations

from collections.abc import Iterator

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, Op, topological
from symdiff.ir.functions.columns import UNKNOWN
from symdiff.ir.loop_program import LoopProgram, expressions_in
from symdiff.ir.program import Program


def refuse_unknown(derived: Program | LoopProgram, captured: Program | LoopProgram) -> None:
    """Refuse a derived program that contains a derivative without a formula.

    Raises
    ------
    UnsupportedError : at the function in the captured program that has none.
    """
    unknown = next((e.op for e in _nodes(derived) if e.op in UNKNOWN), None)
    if unknown is None:
        return
    text, _, hint = UNKNOWN[unknown].partition(": ")
    origins = (e for e in _nodes(captured) if e in captured.locations and _leads(e.op, unknown))
    place = next((captured.locations[e] for e in origins), None)
    raise UnsupportedError(text, place, hint)


def _nodes(program: Program | LoopProgram) -> list[Expr]:
    block = expressions_in(program.block) if isinstance(program, LoopProgram) else []
    return topological((*block, *program.outputs))


def _leads(op: Op, unknown: Op) -> bool:
    """Whether derivatives of a function, or derivatives of those, contain an operation."""
    return any(unknown in {n.op, *_derivatives(n.op)} for n in _partials(op))


def _derivatives(op: Op) -> Iterator[Op]:
    return (n.op for n in _partials(op))


def _partials(op: Op) -> list[Expr]:
    if op.partials is None:
        return []
    names = [ir.var(f"x{k}") for k in range(op.arity)]
    found = [e for e in op.partials(*names) if e is not None]
    return [n for n in topological(found) if n.args]
