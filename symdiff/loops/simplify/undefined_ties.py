"""Slopes at ties become nan where slopes are multiplied.

Before:  2*taken(m, x[i])*taken(m, x[k])
After:   the same with where(m == x[i], nan, taken(m, x[i])) and so on

Requires: a program of second derivatives, not to be differentiated any more.
Ensures: the same values but where there is a tie, at which slopes are means: their products
are nan there. `runtime.loops.ties` has the values.
"""

from __future__ import annotations

from dataclasses import replace

from symdiff import ir
from symdiff.ir import ABS, NAN, SIGN, ZERO, Expr
from symdiff.ir.functions import SLOPES
from symdiff.ir.loop_program import LoopProgram, expressions_in, mapped_block


def with_undefined_ties(program: LoopProgram, captured: LoopProgram) -> LoopProgram:
    """The program, itself if it has no such slopes.

    Parameters
    ----------
    captured : the program it is derived from: signs written there are steps with slope 0.
    """
    written = _operations(captured)
    ops = {*SLOPES, SIGN} if ABS in written and SIGN not in written else {*SLOPES}
    if ops.isdisjoint(_operations(program)):
        return program

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(n, args)
        if n.op not in ops or made.op is not n.op:
            return made
        a, b = args if n.op in SLOPES else (*args, ZERO)
        return ir.where(ir.eq(a, b), NAN, made)

    def one(e: Expr) -> Expr:
        return ir.transform((e,), rule)[0]

    return replace(
        program, block=mapped_block(program.block, one), outputs=tuple(map(one, program.outputs))
    )


def _operations(program: LoopProgram) -> set[ir.Op]:
    every = expressions_in(program.block)
    return {n.op for n in ir.topological((*every, *program.outputs))}
