"""Sums in loops as eight sums at a time, each of every eighth term.

Before:  for i in range(n): s = s + x[i]*y[i]
After:   t[w] = {for k in range(n // 8): x[8*k + w]*y[8*k + w]} for 8 values of w; s = s + t[w];
         and the rest, one by one

A sum that is computed with its rounding error waits for each term: the error depends on the sum before it. Sums
that do not depend on each other are computed side by side in the lanes of a register.

Requires: a valid program.
Ensures: the same sums in another order. This applies only to sums of numbers in plain loops without
other effects, outside of builds and loops whose iterations already use lanes. Sums with few terms,
decided at run time, are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ZERO, Expr, const, raw, substitute, var
from symdiff.ir import loop_program as lp
from symdiff.ir.effects import has_tapes
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import added
from symdiff.passes.accuracy.float_expansions import with_loops

WIDTH, FEW = 8, 64
"""Sums at a time, and the most terms of a sum that is not divided."""


def in_lanes(
    program: lp.LoopProgram, keeps: Callable[[lp.Call], bool] = lambda s: False
) -> lp.LoopProgram:
    """The program with its products of matrices as loops, and sums divided; except for calls to keep."""
    names = lp.names_of(program)
    block = with_loops(program, names, keeps)
    used = {lp.name_of(e) for s in lp.walk(block) for e in lp.leaves(lp.expressions(s))}

    def go(block: lp.Block) -> lp.Block:
        made: list[lp.Statement] = []
        for s in block:
            if not isinstance(s, lp.Loop):
                made.append(s)
            elif s.trips not in used and (terms := _terms(s)) is not None:
                made += _divided(s, terms, names)
            else:
                made.append(s if _lies_in_lanes(s) else replace(s, body=go(s.body)))
        return tuple(made)

    return replace(program, block=go(block))


def _lies_in_lanes(s: lp.Loop) -> bool:
    """Whether several iterations of a loop may be computed in parallel: if it carries no numbers,
    and its statements change elements, or are sums."""
    if any(c.type == lp.REAL for c in s.carried):
        return False
    sums = [b for b in lp.walk(s.body) if not isinstance(b, lp.Update)]
    return not has_tapes(*sums) and all(
        isinstance(b, lp.Loop) and all(c.type == lp.REAL for c in b.carried) for b in sums
    )


def _terms(s: lp.Loop) -> list[Expr] | None:
    """The terms that each carried number of a loop accumulates; None if the loop does anything
    else."""
    if s.body or not lp.plain_loop(s) or s.count is None or s.count.op is ir.CONST:
        return None
    terms = [t for c in s.carried if (t := added(c)) is not None]
    own = {c.name for c in s.carried}
    return None if len(terms) < len(own) or own & lp.names_in(*terms) else terms


def _divided(s: lp.Loop, terms: list[Expr], names: Names) -> list[lp.Statement]:
    assert s.count is not None
    n, i = s.count, lp.index(s.index)
    few = ir.lt(n, const(FEW))
    width = ir.where(few, ZERO, const(WIDTH))
    many = ir.where(few, ZERO, raw(lp.FLOORDIV, (n, const(WIDTH))))
    made: list[lp.Statement] = []
    middle: list[lp.Carried] = []
    last: list[lp.Carried] = []
    lane = lp.index(names.fresh("lane"))
    left = names.fresh(s.index)
    for c, term in zip(s.carried, terms, strict=True):
        k, w = names.fresh(s.index), names.fresh("lane")
        (here,) = substitute((term,), {i: const(WIDTH) * lp.index(k) + lp.index(w)})
        name, part, end = (names.fresh(c.name) for _ in range(3))
        sums = lp.Loop(k, many, (_sum(part, ZERO, here, end),), (), names.fresh("trips"))
        made.append(lp.Build(name, lp.Type((width,)), (w,), var(end), (sums,)))
        middle.append(
            _sum(names.fresh(c.name), c.init, lp.load(lp.array(name), lane), names.fresh(c.name))
        )
        (here,) = substitute((term,), {i: const(WIDTH) * many + lp.index(left)})
        last.append(_sum(c.name, var(middle[-1].result), here, c.result))
    made.append(lp.Loop(lp.name_of(lane), width, tuple(middle), (), names.fresh("trips")))
    rest = n - const(WIDTH) * many
    return [*made, replace(s, index=left, count=rest, carried=tuple(last), reverse=False)]


def _sum(name: str, init: Expr, term: Expr, result: str) -> lp.Carried:
    return lp.Carried(name, lp.REAL, init, var(name) + term, result)
