"""How far may the results of a program be off?

Before:  for i: s = s + x[i]*y[i]
After:   the same with q = q + (2*x[i]*y[i])**2 beside it; sqrt(q), |s|

Requires: a program, as `estimates` takes it.
Ensures: in place of each result two numbers: the units of rounding by which it may be off, to first
order, and its size; of an array, of the element with most of each. Of what is no real number 0.
"""

from __future__ import annotations

from dataclasses import replace

from symdiff import ir
from symdiff.ir import ZERO, Expr, const
from symdiff.ir.loop_program import (
    ARRAY,
    LoopProgram,
    Statement,
    index,
    kind_of,
    load,
    name_of,
    types,
)
from symdiff.ir.prune import pruned
from symdiff.passes.accuracy.estimated_statements import over_elements
from symdiff.passes.accuracy.program_errors import ProgramErrors
from symdiff.passes.accuracy.propagation import EXACT, element


def bounded(program: LoopProgram, dtype: str = "float64") -> LoopProgram:
    """The program that computes the errors of results in units, and their sizes, in turns."""
    work = ProgramErrors(program, dtype, strict=False, tests=False, by_rows=False, norm=False)
    work.partly_summed = True
    block: list[Statement] = list(work.block(program.block))
    known, outputs = types(program), list[Expr]()
    for e in program.outputs:
        if e.op is not ARRAY:
            real = kind_of(e) == "f"
            outputs += [work.units(e, work.error(e)), ir.abs_(e)] if real else [ZERO, ZERO]
            continue
        t, found = known[name_of(e)], work.errors.get(name_of(e), EXACT)
        if t.kind != "f":
            outputs += [ZERO, ZERO]
            continue
        places = [work.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        size = ir.abs_(load(e, *at))
        off = const(found.k) * size + element(found, at)
        off = ir.where(ir.le(off, ir.INF), off, ir.INF)  # nan is not known
        largest, more = over_elements(work.names, places, t, (off, size), (True, True))
        outputs += largest
        block += more
    made = pruned((*work.first, *block), outputs)
    return replace(program, block=made, outputs=tuple(outputs), tree=tuple(range(len(outputs))))


__all__ = ["bounded"]
