"""Rows of a few numbers as formulas of these numbers.

Before:  for i in range(3): s = s + x[i]**2
After:   x[0]**2 + x[1]**2 + x[2]**2

Requires: a program in closed forms, and the shapes of its parameters.
Ensures: a formula for each element of each output. None if there is none: if control flow depends
on real values other than by branches, if checks do, if there are integers or conditions among
arguments or results, or if there are more operations than allowed. Functions of numbers are
computed in vectors over rows; parts common to all rows are computed once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret.unrolled import Formulas, TooLong, unrolled_with
from symdiff.ir import Expr
from symdiff.ir.loop_program import (
    ARRAY,
    LoopProgram,
    kind_of,
    name_of,
    types,
)

TRIED = 4
"""The most operations to create for each one that remains."""


class Columns(NamedTuple):
    """The formulas of a row.

    Attributes
    ----------
    program : the program of a row.
    params : names of the elements of its parameters, in order.
    outputs : the formulas of the elements of each result.
    shapes : the shapes of the results of a row.
    """

    program: LoopProgram
    params: tuple[str, ...]
    outputs: tuple[Expr, ...]
    shapes: tuple[tuple[int, ...], ...]


class _Unchecked(Formulas):
    """Formulas that have not been checked."""

    def holds(self, condition: Any) -> bool:
        return self.decided(condition)


def columns(program: LoopProgram, shapes: Sequence[tuple[int, ...]], most: int) -> Columns | None:
    """The formulas of a row of these shapes, with at most so many operations."""
    known = types(program)
    kinds = [known[name_of(e)].kind if e.op is ARRAY else kind_of(e) for e in program.outputs]
    if {*kinds, *(p.type.kind for p in program.params)} != {"f"}:
        return None
    if sum(map(math.prod, shapes)) > most:
        return None
    given = dict(zip((p.name for p in program.params), shapes, strict=True))
    numbers = _Unchecked(TRIED * most)
    try:
        params, made = unrolled_with(program, given, [None] * len(shapes), numbers)
    except (TooLong, SymdiffError, ArithmeticError, TypeError, ValueError, IndexError):
        return None
    arrays = [np.asarray(e, object) for e in made]
    outputs = tuple(numbers.real(e) for a in arrays for e in a.flat)
    if not outputs or len(ir.topological(outputs)) > most:
        return None
    return Columns(program, tuple(params), outputs, tuple(a.shape for a in arrays))
