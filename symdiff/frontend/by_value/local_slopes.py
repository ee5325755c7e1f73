"""Local derivatives of the operations of a run, by the rules of the IR.

A rule is a formula of the arguments. It is evaluated in doubles, or on scalars, which records it in turn: then
derivatives of derivatives are those of what was recorded.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.frontend.by_value.reals import (
    KEPT,
    REMAINDER,
    TIE,
    UNDECIDED,
    Real,
    made,
    refuse,
    value_of,
)
from symdiff.interpret.in_doubles import Program, function_of
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, POW, SUB, Expr, Op
from symdiff.passes.differentiate import gradient

_OPERATORS: dict[Op, Any] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    NEG: lambda a: -a,
    ABS: abs,
}


@functools.lru_cache(maxsize=4096)
def _rule(op: Op, known: tuple[Any, ...]) -> tuple[tuple[Expr | None, ...], Program, list[int]]:
    """The derivatives of an operation by those arguments that are not known; and their program."""
    args = [ir.var(f"a{k}") if v is None else ir.const(v) for k, v in enumerate(known)]
    wanted = [k for k, v in enumerate(known) if v is None]
    try:
        found = gradient(ir.apply(op, *args), [args[k] for k in wanted])
    except TypeError as error:
        raise refuse(str(error)) from None
    partials: list[Expr | None] = [None] * len(args)
    for k, partial in zip(wanted, found, strict=True):
        partials[k] = partial
    program = Program(found)
    places = [-1 if p is None else program.nodes.index(p) for p in partials]
    return tuple(partials), program, places


def _known(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments that are constants of the rule: exponents, and integers such as orders."""
    return tuple(
        None if type(a) is Real or not (op is POW or float(a).is_integer()) or not math.isfinite(a)
        else Fraction(float(a)) for a in args
    )  # fmt: skip


def slopes(x: Real) -> tuple[Any, ...]:
    """The derivatives of a scalar by its arguments, in doubles."""
    op, args = x.op, x.args
    if op is ADD:
        return 1.0, 1.0
    if op is SUB:
        return 1.0, -1.0
    if op is MUL:
        return float(value_of(args[1])), float(value_of(args[0]))
    if op is NEG:
        return (-1.0,)
    if op is DIV:
        b = float(value_of(args[1]))
        inverse = 1.0 / b if b else math.copysign(math.inf, b)
        return inverse, -float(x.v) * inverse
    if isinstance(op, Op):
        known = _known(op, args)
        _, program, places = _rule(op, known)
        at = program.at({f"a{k}": value_of(a) for k, a in enumerate(args) if known[k] is None})
        return tuple([0.0 if k < 0 else float(at[k]) for k in places])
    return _marked(x)


def recorded_slopes(x: Real) -> tuple[Any, ...]:
    """The same as scalars, recorded."""
    op, args = x.op, x.args
    if op is MUL:
        return args[1], args[0]
    if op is DIV:
        inverse = applied(DIV, 1.0, args[1])
        return inverse, -(x * inverse)
    if op in (ADD, SUB, NEG) or not isinstance(op, Op):
        return slopes(x)
    partials, _, _ = _rule(op, _known(op, args))
    values: dict[Expr, Any] = {ir.var(f"a{k}"): a for k, a in enumerate(args)}
    return tuple([0.0 if p is None else on_scalars(p, values) for p in partials])


def _marked(x: Real) -> tuple[Any, ...]:
    """The slopes of operations that are not the table's."""
    if x.op is REMAINDER:
        return 1.0, -float(x.args[2]), 0.0
    if x.op is TIE:
        return 0.5, 0.5
    if x.op is KEPT:
        return (1.0, *(math.nan,) * (len(x.args) - 1))
    assert x.op is UNDECIDED
    return (math.nan,) * len(x.args)


def on_scalars(e: Expr, values: dict[Expr, Any]) -> Any:
    """A formula of scalars, each of whose operations is recorded."""
    for n in ir.topological((e,)):
        if n in values:
            continue
        if n.op is ir.CONST or n.op is ir.BOOL:
            values[n] = float(n.value) if n.op is ir.CONST else n.value
        elif n.op is ir.WHERE:
            condition, a, b = (values[k] for k in n.args)
            values[n] = a if condition else b
        else:
            args = [values[k] for k in n.args]
            if n.op is POW and n.args[1].op is ir.CONST:
                args[1] = n.args[1].value
            values[n] = applied(n.op, *args, node=n)
    return values[e]


def applied(op: Op, *args: Any, node: Expr | None = None) -> Any:
    """An operation on scalars in doubles, as formulas have it."""
    if op in _OPERATORS:
        return _OPERATORS[op](*args)
    if node is None:
        node = ir.apply(op, *(ir.var(f"a{k}") for k in range(len(args))))
    value = function_of(node)(*[value_of(a) if type(a) is Real else _number(a) for a in args])
    if op.boolean or not any(type(a) is Real for a in args):
        return value
    return made(float(value), op, *[a if type(a) is Real else _number(a) for a in args])


def _number(a: Any) -> Any:
    return float(a) if isinstance(a, Fraction) else a
