"""Evaluating expressions. Each handler takes the tracer and a node; expressions without a handler
are refused."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library.complex_numbers import complex_calls
from symdiff.frontend.library.numpy import ufuncs
from symdiff.frontend.syntax import attributes, calls, comprehensions, special_methods
from symdiff.frontend.syntax.containers import (
    elements,
    key,
    mapping,
    position,
    subscript,
    text_of,
)
from symdiff.frontend.syntax.operators import binary, compare, truth
from symdiff.frontend.trace import closures, extents, raised, scalars
from symdiff.frontend.trace.complex_pairs import of_python
from symdiff.frontend.trace.counted_truth import of_truth
from symdiff.frontend.trace.recorder import numbers_only
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    UNBOUND,
    Choice,
    Cond,
    Logical,
    Maybe,
    Real,
    Record,
    Refused,
    Selected,
    SmallArray,
    SymArray,
    Text,
    Unusable,
    as_real,
    describe,
    is_complex,
    is_number,
    is_single,
    number,
)


def evaluate(t: Tracer, node: ast.expr) -> Any:
    """The value of an expression."""
    handler = EXPRESSIONS.get(type(node))
    if handler is None:
        message, hint = REFUSED.get(type(node), ("this expression is not supported", ""))
        t.refuse(message, hint, node)
    return handler(t, node)


def condition(t: Tracer, node: ast.expr) -> Cond | bool:
    """Whether an expression counts as true; a bool if that is known here."""
    value = undecided(t, node)
    t.at = node
    return named(t, node, truth(t, value))


def named(t: Tracer, node: ast.expr, c: Cond | bool) -> Cond | bool:
    """Decide a condition if the path does; else record the user's text of it."""
    if isinstance(c, bool):
        return c
    if (known := t.known(c, strictly=True)) is not None:
        return known
    if c.expr not in t.texts:
        t.texts[c.expr] = t.frame.source.segment(node)
        t.texts.setdefault(ir.not_(c.expr), _negated(t, node))
    return c


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


def _negated(t: Tracer, node: ast.expr) -> str:
    segment = t.frame.source.segment
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return segment(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
        sign = scalars.SYMBOLS[_OPPOSITE[type(node.ops[0])]]
        return f"{segment(node.left)} {sign} {segment(node.comparators[0])}"
    text = segment(node)
    return f"not {text}" if isinstance(node, (ast.Name, ast.Call)) else f"not ({text})"


# ------------------------------------------------------------------------ leaves
def _constant(t: Tracer, node: ast.Constant) -> Any:
    value = node.value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, complex):
        return of_python(value)
    return value


def _name(t: Tracer, node: ast.Name) -> Any:
    return load(t, node)


def load(t: Tracer, node: ast.Name) -> Any:
    """The value of a name, as it is bound on this path."""
    value = _loaded(t, node)
    return t.resolve(value, f"name '{node.id}'") if type(value) is Choice else value


def undecided(t: Tracer, node: ast.expr) -> Any:
    """The value of an expression where None is distinguished from others: of a name or a call it may be a `Choice`,
    which other places refuse."""
    match node:
        case ast.Name():
            return _loaded(t, node)
        case ast.Call():
            return _called(t, node)
        case ast.NamedExpr():
            return _bound(t, node, undecided(t, node.value))
        case ast.Attribute():
            owner = evaluate(t, node.value)
            held = owner.fields.get(node.attr) if isinstance(owner, Record) else None
            t.at = node
            return t.left_open(held) if type(held) is Choice else _attribute_of(t, node, owner)
    return evaluate(t, node)


def _loaded(t: Tracer, node: ast.Name) -> Any:
    name, frame = node.id, t.frame
    cell = frame.cells.get(name)
    value = frame.env.get(name, UNBOUND) if cell is None else cell[name]
    if value is UNBOUND:
        t.at = node
        if name in frame.local_names():
            t.refuse(f"name '{name}' is used before it is assigned")
        value = frame.outer(name)
        if value is UNBOUND:
            t.refuse(f"name '{name}' is not defined")
    kind = type(value)
    if kind is Real or kind is int or kind is Cond:
        return value
    t.at = node
    if kind is Choice:
        return t.left_open(value)
    if kind is Maybe and type(value.value) is Choice:
        t.resolve(Maybe(None, value.bound, value.checked), f"name '{name}'")
        return t.left_open(value.value)
    if kind is Maybe or kind is Unusable:
        return t.resolve(value, f"name '{name}'")
    return t.wrap(value)


# -------------------------------------------------------------------- operators


def _binop(t: Tracer, node: ast.BinOp) -> Any:
    spine = [node]
    while isinstance(spine[-1].left, ast.BinOp):
        spine.append(spine[-1].left)
    value = evaluate(t, spine[-1].left)
    for n in reversed(spine):
        right = evaluate(t, n.right)
        t.at = n
        value = t.note(binary(t, type(n.op), value, right), n)
    return value


def _unary(t: Tracer, node: ast.UnaryOp) -> Any:
    known = not isinstance(node.op, ast.Not)
    value = evaluate(t, node.operand) if known else undecided(t, node.operand)
    t.at = node
    if known:
        found = special_methods.unary(t, node.op, value)
        if found is not NotImplemented:
            return found
    match node.op:
        case ast.Not():
            return scalars.negate(truth(t, value))
        case ast.USub():
            if is_complex(value):
                return complex_calls.negative(t, value)
            if _is_truth_of_numpy(t, value):
                raise Refused(
                    "'-' of a truth value of NumPy, which it refuses",
                    "negate it with ~ or np.logical_not, or make a number of it first: 1.0*(a > 0)",
                )
            return t.note(arrays.elementwise(scalars.negative, value), node)
        case ast.UAdd():
            if is_complex(value):
                return value
            if is_number(value):
                return of_truth(value)
            return arrays.elementwise(lambda v: v if is_number(v) else as_real(v), value)
        case _:
            if isinstance(value, Logical):
                return Logical(*_parts(scalars.negate(value)))
            if isinstance(value, Cond) and not t.array_parameters:
                raise Refused("'~' of a truth value, which is -1 or -2 in Python", "write 'not'")
            return arrays.elementwise(_invert, value)


def _parts(value: Any) -> tuple[Any, Any]:
    c = scalars.as_cond(value)
    return c.expr, c.defined


def _is_truth_of_numpy(t: Tracer, value: Any) -> bool:
    """Whether it is an array of truth values, or may be an element of one."""
    return getattr(value, "kind", "") == "b" or (
        isinstance(value, Cond) and bool(t.array_parameters)
    )


def _invert(value: Any) -> Any:
    if isinstance(value, (bool, Cond)):
        return scalars.negate(value)
    if isinstance(value, int):
        return ~value
    raise Refused(f"'~' of {describe(value)}", "it negates conditions: ~(x > 0)")


def _boolop(t: Tracer, node: ast.BoolOp) -> Any:
    """`a and b`, `a or b`: b is evaluated only where a does not decide."""
    return _connect(t, node, 0)


def _connect(t: Tracer, node: ast.BoolOp, i: int) -> Any:
    operand = node.values[i]
    if i == len(node.values) - 1:
        return evaluate(t, operand)
    value = undecided(t, operand)
    t.at = operand
    c = named(t, operand, truth(t, value))
    is_and = isinstance(node.op, ast.And)
    if isinstance(c, bool):
        return _connect(t, node, i + 1) if c is is_and else value
    if is_and:
        return _logical(
            t, t.either(c, lambda: _connect(t, node, i + 1), lambda: _short(t, value, False))
        )
    return _logical(
        t, t.either(c, lambda: _short(t, value, True), lambda: _connect(t, node, i + 1))
    )


def _short(t: Tracer, value: Any, decided: bool) -> Any:
    """The deciding operand: a condition is known there, a number is itself."""
    return decided if isinstance(value, (Cond, bool)) else t.left_open(value)


def _logical(t: Tracer, value: Any) -> Any:
    return scalars.cond(value.expr, value.defined) if isinstance(value, Cond) else value


_OF_EACH = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
"""Comparisons of values of any kind."""


def _compare(t: Tracer, node: ast.Compare) -> Any:
    value_of = undecided if isinstance(node.ops[0], _OF_EACH) else evaluate
    left = value_of(t, node.left)
    if len(node.ops) == 1:
        right = value_of(t, node.comparators[0])
        t.at = node
        return t.note(compare(t, type(node.ops[0]), left, right), node)
    result: Any = True
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = evaluate(t, comparator)
        t.at = node
        link = compare(t, type(op), left, right)
        if is_single(link) or (isinstance(link, SmallArray) and link.items.size == 1):
            link = truth(t, link)
        if isinstance(link, (SmallArray, SymArray, Selected)):
            raise numbers_only(
                "a chained comparison",
                "a chained comparison of arrays",
                "join two comparisons with &",
                truth=True,
            )
        result = scalars.conjunction(result, link)
        if result is False:
            return False
        left = right
    return t.note(result, node)


def _conditional(t: Tracer, node: ast.IfExp) -> Any:
    c = condition(t, node.test)
    if isinstance(c, bool):
        return evaluate(t, node.body if c else node.orelse)
    value = t.either(c, lambda: evaluate(t, node.body), lambda: evaluate(t, node.orelse))
    return t.note(value, node)


def _walrus(t: Tracer, node: ast.NamedExpr) -> Any:
    return _bound(t, node, evaluate(t, node.value))


def _bound(t: Tracer, node: ast.NamedExpr, value: Any) -> Any:
    if t.frame.name == comprehensions.NAME:
        t.refuse("':=' inside of a comprehension", "assign the name in a loop", node)
    closures.bind(t, node.target.id, value)
    raised.bound()
    return value


# ------------------------------------------------------------------- containers


def _spread(
    t: Tracer, nodes: list[ast.expr], value_of: Callable[[Tracer, ast.expr], Any] = evaluate
) -> list[Any]:
    values = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = evaluate(t, node.value)
            t.at = node
            if isinstance(inner, SymArray) and inner.shape and ir.integer(inner.shape[0]) is None:
                extents.sizes_must_be_known([inner])
            values += elements(t, inner)
        else:
            values.append(value_of(t, node))
    return values


def _tuple(t: Tracer, node: ast.Tuple) -> Any:
    return tuple(_spread(t, node.elts))


def _list(t: Tracer, node: ast.List) -> Any:
    return t.own(_spread(t, node.elts))


def _set(t: Tracer, node: ast.Set) -> Any:
    values = _spread(t, node.elts)
    t.at = node
    return t.own({key(v) for v in values})


def _dict(t: Tracer, node: ast.Dict) -> Any:
    result: dict[Any, Any] = {}
    for k, v in zip(node.keys, node.values, strict=True):
        if k is None:
            value = evaluate(t, v)
            t.at = v
            result.update(mapping(value))
        else:
            index = evaluate(t, k)
            t.at = k
            result[key(index)] = evaluate(t, v)
    return t.own(result)


def _slice(t: Tracer, node: ast.Slice) -> Any:
    parts = (node.lower, node.upper, node.step)
    return slice(*(None if p is None else position(evaluate(t, p)) for p in parts))


def _subscript(t: Tracer, node: ast.Subscript) -> Any:
    owner = evaluate(t, node.value)
    index = undecided(t, node.slice)
    t.at = node
    if isinstance(index, Choice):
        return t.note(_of_each(t, index, lambda key: subscript(t, owner, key)), node)
    if owner is np.r_ or owner is np.c_:
        return t.note(ufuncs.joined_by_index(t, owner, index), node)
    return t.note(subscript(t, owner, index), node)


def _of_each(t: Tracer, value: Any, result: Callable[[Any], Any]) -> Any:
    """The result of whichever of two values it is."""
    if not isinstance(value, Choice):
        return result(value)
    then, other = value.then, value.other
    return t.either(
        Cond(value.condition),
        lambda: _of_each(t, then, result),
        lambda: _of_each(t, other, result),
    )


def _attribute(t: Tracer, node: ast.Attribute) -> Any:
    return _attribute_of(t, node, evaluate(t, node.value))


def _attribute_of(t: Tracer, node: ast.Attribute, owner: Any) -> Any:
    t.at = node
    return attributes.attribute(t, owner, node.attr)


# ---------------------------------------------------------------------- strings
def _fstring(t: Tracer, node: ast.JoinedStr) -> str | Text:
    parts = []
    for piece in node.values:
        if isinstance(piece, ast.Constant):
            parts.append(str(piece.value))
            continue
        assert isinstance(piece, ast.FormattedValue)
        value = undecided(t, piece.value)
        t.at = piece
        shown = piece.format_spec is None and not isinstance(value, Choice)
        part = text_of(repr if piece.conversion == ord("r") else str, value) if shown else Text()
        if isinstance(part, Text):
            return part
        parts.append(part)
    return "".join(parts)


def _lambda(t: Tracer, node: ast.Lambda) -> Any:
    return closures.Closure.make(t, node)


def _call(t: Tracer, node: ast.Call) -> Any:
    value = _called(t, node)
    if type(value) is not Choice:
        return value
    return t.resolve(value, f"what '{t.frame.source.segment(node.func)}' returns")


def _called(t: Tracer, node: ast.Call) -> Any:
    function = evaluate(t, node.func)
    value_of = undecided if calls.is_inlined(function) else evaluate
    match node.args:
        case [ast.Starred(value)] if function is math.hypot:
            vector = evaluate(t, value)
            t.at = node.args[0]
            if isinstance(vector, SymArray) and len(vector.shape) == 1:
                function, args = np.linalg.norm, [vector]  # of any size
            else:
                args = elements(t, vector)
        case _:
            args = _spread(t, node.args, value_of)
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = value_of(t, keyword.value)
        if keyword.arg is None:
            t.at = keyword.value
            kwargs.update({str(k): t.wrap(v) for k, v in mapping(value).items()})
        else:
            kwargs[keyword.arg] = value
    t.step(node)
    t.undecided = getattr(function, "__func__", function)
    value = calls.call(t, function, tuple(args), kwargs)
    t.undecided = None
    return t.note(value, node)


Handler = Callable[[Tracer, Any], Any]

EXPRESSIONS: dict[type[ast.expr], Handler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binop,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolop,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.NamedExpr: _walrus,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.ListComp: comprehensions.of_list,
    ast.GeneratorExp: comprehensions.of_generator,
    ast.SetComp: comprehensions.of_set,
    ast.DictComp: comprehensions.of_dict,
    ast.JoinedStr: _fstring,
    ast.Lambda: _lambda,
}

REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.Await: ("'await' is not supported", ""),
    ast.Yield: calls.NO_YIELD,
    ast.YieldFrom: calls.NO_YIELD,
}
"""Expressions that are refused, with the reason and a hint."""
