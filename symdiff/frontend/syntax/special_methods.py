"""Special methods of the user's classes: operators, statements and Python's functions on objects.

An object is a record, made while tracing, or one that was captured; its class says what is called, by
Python's rules, and that is inlined. NotImplemented denotes a class without such a method.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from symdiff.frontend import captures, source
from symdiff.frontend.syntax.records import LIBRARIES, is_generated
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Cond,
    Masked,
    Record,
    Refused,
    SmallArray,
    Stream,
    SymArray,
    is_complex,
)

_FOREIGN = LIBRARIES | {"builtins", "symdiff"}
_MISSING = object()


def class_of(value: Any) -> type | None:
    """The user's class of an object; None for values that are not such objects."""
    if isinstance(value, Record):
        return None if is_complex(value) else value.made_of
    cls = type(value)
    return None if cls.__module__.partition(".")[0] in _FOREIGN else cls


def _found(cls: type | None, name: str) -> Any:
    """The attribute of a class under a name, except what every class has."""
    for base in () if cls is None else cls.__mro__[:-1]:
        if name in vars(base):
            return vars(base)[name]
    return _MISSING


def method(value: Any, name: str) -> Any:
    """The method that Python calls for an operator; None if it is not written in Python."""
    found = _found(class_of(value), name)
    return found if isinstance(found, FunctionType) and not source.of_library(found) else None


def special(t: Tracer, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """`type(owner).name(owner, *args)`; NotImplemented if it has no such method."""
    found = method(owner, name)
    if found is None:
        return NotImplemented
    if not isinstance(owner, Record):
        captures.attribute(type(owner), name, getattr(type(owner), name))
    return t.inline(found, (owner, *args), kwargs)


# ---------------------------------------------------------------------- operators
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.MatMult: "matmul", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip

_UNARY: dict[type[ast.unaryop], str] = {
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
}


def unary(t: Tracer, op: ast.unaryop, value: Any) -> Any:
    """`op value` of an object."""
    return special(t, value, _UNARY[type(op)])


def binary(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b`, where one is an object; NotImplemented if neither has the operator. The method of a
    subclass of the other class, if it overrides, comes first."""
    name = _OPERATORS[op]
    there, back = f"__{name}__", f"__r{name}__"
    ours, theirs = class_of(a), class_of(b)
    _not_by_elements(a, theirs)
    tries = [(a, there, b), (b, back, a)]
    if ours is theirs:
        tries.pop()
    elif ours and theirs and issubclass(theirs, ours) and _found(ours, back) is not _found(theirs, back):  # fmt: skip
        tries.reverse()
    return _first(lambda owner, name, other: special(t, owner, name, other), tries)


def _not_by_elements(a: Any, theirs: type | None) -> None:
    """Refuse an operator on an array and an object, for which NumPy makes an array of objects
    unless the class forbids it."""
    if theirs is None or not isinstance(a, (SymArray, SmallArray, Masked)):
        return
    if _found(theirs, "__array_ufunc__") is _MISSING and _found(theirs, "__array_priority__") is _MISSING:  # fmt: skip
        raise Refused(
            "an operator has an array on the left and an object on the right, and NumPy takes the object for each element",
            "write the object first, or __array_ufunc__ = None in its class",
        )


def in_place(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    """The new value of a name after `a op= b`, by a method for that."""
    return special(t, a, f"__i{_OPERATORS[op]}__", b)


def _first(ask: Callable[[Any, str, Any], Any], tries: list[tuple[Any, str, Any]]) -> Any:
    for owner, name, other in tries:
        found = ask(owner, name, other)
        if found is not NotImplemented:
            return found
    return NotImplemented


# -------------------------------------------------------------------- comparisons
_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"), ast.Lt: ("__lt__", "__gt__"),
    ast.Gt: ("__gt__", "__lt__"), ast.LtE: ("__le__", "__ge__"), ast.GtE: ("__ge__", "__le__"),
}  # fmt: skip

_NAMED = {there: op for op, (there, _) in _COMPARISONS.items()}

Compare = Callable[[type[ast.cmpop], Any, Any], Any]


def is_compared(value: Any, op: type[ast.cmpop]) -> bool:
    """Whether the class of a value defines a comparison."""
    return class_of(value) is not None and (
        isinstance(value, Record) or any(method(value, n) for n in (*_COMPARISONS[op], "__eq__"))
    )


def compare(t: Tracer, op: type[ast.cmpop], a: Any, b: Any, plain: Compare) -> Any:
    """`a op b`, where one is an object; `plain` compares the fields of dataclasses."""
    there, back = _COMPARISONS[op]
    ours, theirs = class_of(a), class_of(b)
    _not_by_elements(a, theirs)
    tries = [(a, there, b), (b, back, a)]
    if ours is not theirs and ours and theirs and issubclass(theirs, ours):
        tries.reverse()
    found = _first(lambda owner, name, other: _compared(t, owner, name, other, plain), tries)
    if found is not NotImplemented:
        return found
    if op in (ast.Eq, ast.NotEq):
        return (a is b) is (op is ast.Eq)
    raise Refused("objects are compared", "compare their attributes")


def _compared(t: Tracer, owner: Any, name: str, other: Any, plain: Compare) -> Any:
    """The result of one method of a comparison."""
    cls = class_of(owner)
    found = _found(cls, name)
    if found is _MISSING and name == "__ne__":
        same = _compared(t, owner, "__eq__", other, plain)
        return same if same is NotImplemented else scalars.negate(same)
    if found is _MISSING:
        return NotImplemented
    if is_generated(found) and cls:
        if class_of(other) is not cls:
            return NotImplemented
        home: Any = next(c for c in cls.__mro__ if name in vars(c))
        names = [f.name for f in dataclasses.fields(home) if f.compare]
        held = [tuple(t.attribute(v, n) for n in names) for v in (owner, other)]
        return plain(_NAMED[name], *held)
    if method(owner, name) is None:
        raise Refused("objects are compared", "compare their attributes")
    return special(t, owner, name, other)


def by_value(value: Any) -> bool:
    """Whether it is an object of a class that defines equality."""
    return isinstance(value, Record) and _found(class_of(value), "__eq__") is not _MISSING


# ------------------------------------------------------------- truth and containers
def truth(t: Tracer, value: Any) -> Any:
    """The value that decides whether an object counts as true: a truth value, or a length."""
    for name in ("__bool__", "__len__"):
        if (found := special(t, value, name)) is not NotImplemented:
            if name == "__bool__" and not isinstance(found, (bool, Cond)):
                raise Refused("'__bool__' returns what is no truth value", raises=TypeError)
            return found
    return NotImplemented


def iterated(t: Tracer, value: Any) -> Any:
    """The iterable of a loop over a value: the result of `__iter__` of an object, else the
    value."""
    if class_of(value) is None:
        return value
    found = special(t, value, "__iter__")
    if found is NotImplemented:
        if method(value, "__getitem__") is not None:
            raise Refused(
                "an object that has '__getitem__' but no '__iter__' is iterated over",
                "give its class a method __iter__, such as: return iter(self.values)",
            )
        return value
    if not isinstance(found, Stream) and method(found, "__next__") is not None:
        raise Refused(
            "an object with '__next__' is iterated over",
            "write a generator: def __iter__(self): ... yield value",
        )
    return found


# ---------------------------------------------------------------------- functions
_METHODS: dict[Any, tuple[str, ...]] = {
    abs: ("__abs__",), len: ("__len__",), round: ("__round__",), next: ("__next__",),
    float: ("__float__", "__index__"), int: ("__int__", "__index__"), divmod: ("__divmod__",),
    reversed: ("__reversed__",), math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"), math.trunc: ("__trunc__",), iter: ("__iter__",),
}  # fmt: skip
"""The methods that Python's functions call, in this order."""

_ITERATE = (
    builtins.sum, builtins.list, builtins.tuple, builtins.set, builtins.frozenset, builtins.sorted, builtins.any,
    builtins.all, builtins.enumerate, builtins.max, builtins.min, math.fsum, math.prod,
)  # fmt: skip
"""Functions that iterate over their first argument."""


def called(
    t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...]]:
    """The callable and the arguments of a call of an object, or of a function of Python's on one;
    the callable may be NotImplemented."""
    if is_compared(function, ast.Eq):  # otherwise it may be a known function
        return special(t, function, "__call__", *args, **kwargs), args
    if not args or not any(class_of(v) is not None for v in args):
        return NotImplemented, args
    try:
        names = _METHODS.get(function, ())
    except TypeError:  # not hashable
        return NotImplemented, args
    for name in names:
        if (found := special(t, args[0], name, *args[1:])) is not NotImplemented:
            return found, args
    if function is zip:
        return NotImplemented, tuple(iterated(t, v) for v in args)
    if function in _ITERATE and (len(args) == 1 or function not in (max, min)):
        return NotImplemented, (iterated(t, args[0]), *args[1:])
    if function in (map, filter):
        return NotImplemented, (args[0], *(iterated(t, v) for v in args[1:]))
    return NotImplemented, args
