"""Routines of linear algebra as loops, for balls: products of matrices, solvers and transforms.

Before:  c = matmul(a, b)
After:   for i, j: c[i, j] = sum over k of a[i, k]*b[k, j]
"""

from __future__ import annotations

from collections.abc import Callable

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import ZERO
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import bottom_up
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.names import Names
from symdiff.lowering.loops.eliminations import can_be_eliminated, eliminated
from symdiff.lowering.loops.matmul import TURNED
from symdiff.lowering.loops.transforms_as_sums import summed


def with_loops(
    program: lp.LoopProgram, names: Names, keeps: Callable[[lp.Call], bool] = lambda s: False
) -> lp.Block:
    """The statements with products of matrices as sums, solvers as eliminations and transforms as sums, except for calls to keep.

    Raises
    ------
    UnsupportedError : for other routines.
    """
    known = lp.types(program)

    def one(s: lp.Statement) -> list[lp.Statement]:
        if not isinstance(s, lp.Call) or keeps(s):
            return [s]
        if can_be_eliminated(s):
            return eliminated(s, known, names)
        if s.routine in SUMS:
            return summed(s, known, names)
        if s.routine not in TURNED:
            raise UnsupportedError(f"{s.routine} has no version with more digits")
        ((name, t),), (a, b) = s.results, s.args
        places = [names.fresh("i") for _ in t.shape]
        at = list(map(lp.index, places))
        k, total = names.fresh("k"), names.fresh("total")
        left, right = TURNED[s.routine]
        rows, columns = (len(known[lp.name_of(e)].shape) == 2 for e in s.args)
        here = [*([at[0]] if rows else []), lp.index(k)]
        there = [lp.index(k), *([at[-1]] if columns else [])]
        x = lp.load(a, *(reversed(here) if left and rows else here))
        y = lp.load(b, *(reversed(there) if right and columns else there))
        count = known[lp.name_of(b)].shape[1 if right and columns else 0]
        result = names.fresh("total") if places else name
        carried = lp.Carried(total, lp.REAL, ZERO, ir.var(total) + x * y, result)
        loop = lp.Loop(k, count, (carried,), (), names.fresh("trips"))
        return [lp.Build(name, t, tuple(places), ir.var(result), (loop,)) if places else loop]

    return bottom_up(program.block, one)


__all__ = ["with_loops"]
