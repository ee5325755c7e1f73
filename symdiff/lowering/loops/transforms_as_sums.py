"""Discrete Fourier transforms as sums, for arithmetic that libraries lack.

Before:  u, v = rdft(x)
After:   c[t] = cos(2*pi*t/n); s[t] = sin(2*pi*t/n)
         u[k] = sum of x[j]*c[j*k % n];  v[k] = sum of -x[j]*s[j*k % n]

Requires: a routine of `SUMS`. Ensures: the same results, by n operations for each.
"""

from __future__ import annotations

from collections.abc import Mapping

from symdiff import ir
from symdiff.ir import ZERO, Expr, const, raw
from symdiff.ir.functions import COS, PI, SIN
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.loop_program import (
    MOD,
    REAL,
    REAL_OF,
    Build,
    Call,
    Carried,
    Loop,
    Statement,
    Type,
    array,
    index,
    load,
    name_of,
)
from symdiff.ir.names import Names


def summed(s: Call, known: Mapping[str, Type], names: Names) -> list[Statement]:
    """The statements of a transform."""
    arrays, axis = s.args[: len(SUMS[s.routine][0])], ir.integer(s.args[-1]) or 0
    width = known[name_of(arrays[0])].shape[axis]
    n = s.args[-2] if s.routine == "rdft_transposed" else width
    made: list[Statement] = []
    tables = []
    for op, name in ((COS, "cosines"), (SIN, "sines")):
        t, table = names.fresh("turn"), names.fresh(name)
        angle = const(2) * PI() * raw(REAL_OF, (index(t),)) / raw(REAL_OF, (n,))
        made.append(Build(table, Type((n,)), (t,), op(angle)))
        tables.append(array(table))
    for (result, kind), factors in zip(s.results, SUMS[s.routine], strict=True):
        places = [names.fresh("i") for _ in kind.shape]
        at = [index(i) for i in places]
        j, total, end = index(names.fresh("j")), ir.var(names.fresh("total")), names.fresh("total")
        turn = ir.apply(MOD, j * at[axis], n)
        there = [*at[:axis], j, *at[axis + 1 :]]
        term: Expr = ZERO
        for a, pair in zip(arrays, factors, strict=True):
            for factor, wave in zip(pair, tables, strict=True):
                if factor:
                    term += const(factor) * load(a, *there) * load(wave, turn)
        carried = Carried(name_of(total), REAL, ZERO, total + term, end)
        loop = Loop(name_of(j), width, (carried,), (), names.fresh("trips"))
        made.append(Build(result, kind, tuple(places), ir.var(end), (loop,)))
    return made


__all__ = ["summed"]
