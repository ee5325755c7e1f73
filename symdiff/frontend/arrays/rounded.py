"""Rounded real numbers as integers of the program: sizes, ends of slices and ranges, indices.

A program has no operation from a real number to an integer. The integer is found by bisection, each
candidate compared with the number: ten steps below 1024, 53 otherwise.
"""

from __future__ import annotations

from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.symbolic import formula, placed
from symdiff.frontend.loops import nests
from symdiff.frontend.trace import demands, scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Integral, SymArray
from symdiff.ir import ONE, ZERO, Expr, functions, loop_program
from symdiff.ir.loop_program import FLOORDIV, Build, Carried, Loop, Type, array, index

_TOO_LARGE = "a number is made an integer"
_FEW, _ALL = ir.const(2**10), ir.const(2**53)


def as_whole(t: Tracer, value: Any, what: str) -> Any:
    """An integer of the program; `what` names the number in a refusal.

    Raises
    ------
    Refused : if it is not a rounded number either.
    """
    if scalars.is_whole(value) and not isinstance(value, bool):
        return value
    refusal = demands.not_whole(t, value, what, "use an integer, such as int(x)")
    if not isinstance(value, Integral):
        raise refusal
    t.require(_counts(value.expr), "value", f"{what}, which is nan or too large")
    return scalars.whole(formula(_found(t, symbolic.lazy((), "f", value.expr, value.defined))))


def as_wholes(t: Tracer, a: SymArray) -> SymArray:
    """An array of real numbers as one of integers, rounded towards zero."""
    demands.retrace_integers(t, formula(a))
    if not a.shape:
        value = scalars.integral(scalars.apply(functions.TRUNC, symbolic.element(a, ())))
        return symbolic.symbolic(t, as_whole(t, value, _TOO_LARGE))
    cut = symbolic.elementwise(t, lambda v: scalars.apply(functions.TRUNC, v), a)
    cut = symbolic.reused(t, cut)

    def check(at: tuple[Expr, ...], _: Any) -> tuple[list[Any], list[Expr]]:
        fine = ir.or_(ir.not_(t.path), _counts(placed(symbolic.stored(cut, "f"), at)))
        return [t.check(fine, "value", f"{_TOO_LARGE}, which is nan or too large")], []

    for s in nests.loops(t, cut.shape, (), check)[0]:
        t.emit(s)
    return _found(t, cut)


def _counts(e: Expr) -> Expr:
    """Whether all integers up to a number are doubles; false for nan."""
    return ir.lt(ir.abs_(e), _ALL)


def _found(t: Tracer, v: SymArray) -> SymArray:
    """The integers that equal the elements."""
    letters = symbolic.fresh_letters(t, len(v.shape))
    value = placed(symbolic.stored(v, "f"), [index(n) for n in letters])
    size = ir.abs_(value)
    low, high, low_end, high_end = (t.names.fresh(n) for n in ("low", "high", "low", "high"))
    i, j = index(low), index(high)
    middle = ir.apply(FLOORDIV, ir.add(i, j), ir.const(2))
    reached = ir.le(middle, size)
    number = loop_program.INTEGER
    carried = (
        Carried(low, number, ZERO, ir.where(reached, middle, i), low_end),
        Carried(high, number, ir.where(ir.lt(size, _FEW), _FEW, _ALL), ir.where(reached, j, middle), high_end),
    )  # fmt: skip
    left = ir.lt(ir.add(i, ONE), j)
    loop = Loop(t.names.fresh("step"), None, carried, (), t.names.fresh("trips"), left)
    end = index(low_end)
    result = ir.where(ir.lt(value, ZERO), ir.neg(end), end)
    if not v.shape:
        t.emit(loop)
        return symbolic.lazy((), "i", result)
    name = t.names.fresh("rounded")
    t.emit(Build(name, Type(v.shape, "i"), letters, result, (loop,)))
    return symbolic.in_memory(array(name, "i"), v.shape, "i")
