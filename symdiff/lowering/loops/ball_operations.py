"""Programs in operations for which FLINT has C functions, for kernels in balls.

Before:  y = logistic(x); z = sort(x)
After:   y = 1/(1 + exp(-x)); k = argsort(x); z[i] = x[k[i]]

Requires: a program in closed forms, whose routines are loops.
Ensures: the same program; `PINNED` values are choices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, transform, with_args
from symdiff.ir import functions as f
from symdiff.ir.blocks import bottom_up
from symdiff.ir.linalg.discrete_fourier import SUMS
from symdiff.ir.loop_program import (
    Block,
    Build,
    Call,
    LoopProgram,
    Statement,
    Type,
    array,
    index,
    kind_of,
    load,
    mapped_block,
    names_of,
    types,
)
from symdiff.ir.names import Names
from symdiff.ir.plain import is_plain
from symdiff.lowering.loops.complex_rows import of_rows
from symdiff.lowering.loops.refined import REFINED, refined

ORDERS = ("argsort", "argsort_rows")
KEPT = frozenset((*ORDERS, "sort", *REFINED, *SUMS))
"""Routines that the statements of a program may still have: those that put doubles in order, and those
that are written here."""
DEPTH = 8
"""Formulas inside of formulas."""


def in_ball_operations(program: LoopProgram) -> LoopProgram:
    """The program in operations of balls."""
    names, kinds = names_of(program), dict[Expr, str]()

    def one(e: Expr) -> Expr:
        for _ in range(DEPTH):
            (found,) = transform((e,), lambda n, args: _written(n, args, kinds))
            if found is e:
                return e
            e = found
        raise UnsupportedError("formulas of functions go too deep")

    known = types(program)
    block = bottom_up(program.block, lambda s: _routine(s, known, names))
    return replace(program, block=mapped_block(block, one), outputs=tuple(map(one, program.outputs)))  # fmt: skip


def _written(n: Expr, args: tuple[Expr, ...], kinds: dict[Expr, str]) -> Expr:
    op = n.op
    if not args or is_plain(n) or op.boolean or kind_of(n, kinds) != "f":
        return with_args(n, args)
    if op is f.PINNED:
        h, value, closed = args
        return ir.where(ir.eq(h, ir.ZERO), value, closed)
    formula = _formula(op)
    return with_args(n, args) if formula is None else formula(*args)


@functools.cache
def _formula(op: ir.Op) -> Callable[..., Expr] | None:
    if callable(op.flint):
        return op.flint
    return op.expand if op.flint is None and op.ball is None else None


def _routine(s: Statement, known: Mapping[str, Type], names: Names) -> Block:
    """A sort as reads in the order of the numbers, a spectral routine by its steps."""
    if not isinstance(s, Call) or s.routine in ORDERS:
        return (s,)
    if s.routine in SUMS:
        return tuple(of_rows(s, known, names))
    if s.routine != "sort":
        return tuple(refined(s, known, names))
    ((name, t),), (a,) = s.results, s.args
    if len(t.shape) != 1:
        raise UnsupportedError("rows are sorted")
    order, i = names.fresh("order"), names.fresh("i")
    found = Call("argsort", ((order, Type(t.shape, "i")),), (a,))
    value = load(a, load(array(order, "i"), index(i)))
    return found, Build(name, t, (i,), value)


__all__ = ["KEPT", "in_ball_operations"]
