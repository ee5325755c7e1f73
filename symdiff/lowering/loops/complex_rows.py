"""Discrete Fourier transforms of complex rows, for kernels in balls, which call FLINT's.

Before:  u, v = rdft(x)
After:   a[j] = x[j]; b[j] = 0; c, d = dft(a, b); u[k] = c[k]; v[k] = d[k]

Ensures: the same results; transforms are `dft` along the last axis.
"""

from __future__ import annotations

from collections.abc import Mapping

from symdiff import ir
from symdiff.ir import ONE, ZERO, Expr, const
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.loop_program import (
    Build,
    Call,
    Statement,
    Type,
    array,
    index,
    load,
    name_of,
)
from symdiff.ir.names import Names


def of_rows(s: Call, known: Mapping[str, Type], names: Names) -> list[Statement]:
    """The statements of a transform."""
    arrays, axis = list(s.args[: len(SUMS[s.routine][0])]), ir.integer(s.args[-1]) or 0
    shape = known[name_of(arrays[0])].shape
    back = s.routine == "rdft_transposed"
    width, n = shape[axis], s.args[-2] if back else shape[axis]
    t = Type((*shape[:axis], *shape[axis + 1 :], n))
    made: list[Statement] = []

    def row(a: Expr | None) -> Expr:
        places = [names.fresh("i") for _ in t.shape]
        *others, j = [index(i) for i in places]
        value: Expr = ZERO
        if a is not None:
            inside = ir.lt(j, width)
            there = ir.where(inside, j, width - ONE) if back else j
            value = load(a, *others[:axis], there, *others[axis:])
            value = ir.where(inside, value, ZERO) if back else value
        name = names.fresh("row")
        made.append(Build(name, t, tuple(places), value))
        return array(name)

    parts = [row(arrays[0]), row(arrays[1] if len(arrays) > 1 else None)]
    found = [names.fresh("wave") for _ in parts]
    turned = parts[::-1] if back else parts
    made.append(Call("dft", tuple((name, t) for name in found), (*turned, const(len(shape) - 1))))
    for (result, kind), name in zip(s.results, found[1:] if back else found, strict=True):
        places = [names.fresh("i") for _ in kind.shape]
        at = [index(i) for i in places]
        value = load(array(name), *at[:axis], *at[axis + 1 :], at[axis])
        made.append(Build(result, kind, tuple(places), value))
    return made


__all__ = ["of_rows"]
