"""Local derivatives of the operations of a run, by the rules of the IR.

A rule is a formula of the arguments. It is evaluated in doubles, or on scalars, which records it in turn: then
derivatives of derivatives are those of what was recorded.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.frontend.by_value.reals import (
    KEPT,
    REMAINDER,
    SIDED,
    TIE,
    Real,
    made,
    raw,
    refuse,
    value_of,
)
from symdiff.interpret.in_doubles import Program, function_of
from symdiff.ir import ABS, ADD, DIV, MUL, NEG, OPS, POW, SUB, Expr, Op
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


def _of_product(x: Real) -> tuple[Any, ...]:
    a, b = x.args
    return (float(b.v) if type(b) is Real else float(b)), (
        float(a.v) if type(a) is Real else float(a)
    )


def _of_quotient(x: Real) -> tuple[Any, ...]:
    b = float(raw(x.args[1]))
    inverse = 1.0 / b if b else math.copysign(math.inf, b)
    return inverse, -float(x.v) * inverse


def _of_power(x: Real) -> tuple[Any, ...]:
    base, exponent = x.args
    if type(exponent) is Real or type(base) is not Real or not base.v > 0:
        return _by_rule(x)
    return float(exponent) * float(base.v) ** (exponent - 1), 0.0


def _direct(slope: Callable[[float, float], float]) -> Callable[[Real], tuple[Any, ...]]:
    """The slope of a function of one number by its argument and value; by the rule where doubles raise an error."""

    def of(x: Real) -> tuple[Any, ...]:
        try:
            return (slope(float(x.args[0].v), float(x.v)),)
        except (ValueError, OverflowError, ZeroDivisionError):
            return _by_rule(x)

    return of


_SLOPES: dict[Op, Callable[[Real], tuple[Any, ...]]] = {
    ADD: lambda x: (1.0, 1.0),
    SUB: lambda x: (1.0, -1.0),
    MUL: _of_product,
    NEG: lambda x: (-1.0,),
    DIV: _of_quotient,
    POW: _of_power,
    OPS["exp"]: _direct(lambda a, v: v),
    OPS["log"]: _direct(lambda a, v: 1.0 / a),
    OPS["sin"]: _direct(lambda a, v: math.cos(a)),
    OPS["cos"]: _direct(lambda a, v: -math.sin(a)),
    OPS["tan"]: _direct(lambda a, v: 1.0 + v * v),
    OPS["sinh"]: _direct(lambda a, v: math.cosh(a)),
    OPS["cosh"]: _direct(lambda a, v: math.sinh(a)),
    OPS["tanh"]: _direct(lambda a, v: math.cosh(a) ** -2.0),
    OPS["asin"]: _direct(lambda a, v: 1.0 / math.sqrt((1.0 - a) * (1.0 + a))),
    OPS["acos"]: _direct(lambda a, v: -1.0 / math.sqrt((1.0 - a) * (1.0 + a))),
    OPS["atan"]: _direct(lambda a, v: 1.0 / (1.0 + a * a)),
}
"""The slopes of common operations, which are those of `_rule`."""


def slopes(x: Real) -> tuple[Any, ...]:
    """The derivatives of a scalar by its arguments, in doubles."""
    rule = _SLOPES.get(x.op)
    if rule is not None:
        return rule(x)
    return _by_rule(x) if isinstance(x.op, Op) else _marked(x)


def _by_rule(x: Real) -> tuple[Any, ...]:
    args, known = x.args, _known(x.op, x.args)
    _, program, places = _rule(x.op, known)
    at = program.at({f"a{k}": raw(a) for k, a in enumerate(args) if known[k] is None})
    return tuple([0.0 if k < 0 else float(at[k]) for k in places])


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
    if x.op is SIDED:
        return (1.0, *(0.5,) * (len(x.args) - 1))
    assert x.op is KEPT
    return (1.0, *(math.nan,) * (len(x.args) - 1))


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
    double = value_of if op.boolean else raw
    value = function_of(node)(*[double(a) if type(a) is Real else _number(a) for a in args])
    if op.boolean or not any(type(a) is Real for a in args):
        return value
    return made(float(value), op, *[a if type(a) is Real else _number(a) for a in args])


def _number(a: Any) -> Any:
    return float(a) if isinstance(a, Fraction) else a
