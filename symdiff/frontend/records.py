"""Objects of the user's classes that are made while tracing: dataclasses and plain classes.

A record has its fields in a dict that the trace owns, so it is changed, merged at branches and
carried by loops as a dict is. Its class says what its methods, properties and operators are;
they are inlined.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import sys
from abc import ABCMeta
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

from symdiff.frontend.calls import call, inline
from symdiff.frontend.containers import elements
from symdiff.frontend.frames import tuple_like
from symdiff.frontend.slots import arrays
from symdiff.frontend.symbolic import settle, snapshot
from symdiff.frontend.tracer import Tracer
from symdiff.frontend.values import Record, Refused, SmallArray, SymArray

_HIDDEN = ("__new__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__")
"""Methods with which a class decides itself what its objects are."""


_LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "numba", "sympy"}


def makes(function: Any) -> bool:
    """Whether objects of a class can be traced."""
    if function is SimpleNamespace:
        return True
    if type(function) not in (type, ABCMeta):
        return False
    frozen = getattr(function, "__dataclass_params__", None)
    hidden = _HIDDEN[:-2] if frozen is not None and frozen.frozen else _HIDDEN
    for base in function.__mro__[:-1]:
        package = base.__module__.partition(".")[0]
        if package in _LIBRARIES and base.__module__ not in ("abc", "typing"):
            return False
        if type(base) not in (type, ABCMeta) or any(n in vars(base) for n in hidden):
            return False
    return isinstance(function.__init__, FunctionType) or function.__init__ is object.__init__


def make(t: Tracer, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Record:
    """`cls(*args, **kwargs)`."""
    made = Record(cls, t.own({}))
    if cls is SimpleNamespace:
        made.fields.update(kwargs)
        return made
    owner = next(c for c in cls.__mro__ if "__init__" in vars(c))
    if owner is object:
        if args or kwargs:
            raise Refused(f"'{cls.__name__}' takes no arguments")
    elif (params := vars(owner).get("__dataclass_params__")) is not None and params.init:
        _fill(t, made, owner, args, kwargs)
    else:
        inline(t, owner.__init__, (made, *args), kwargs)  # type: ignore[misc]
    return made


def _fill(
    t: Tracer, made: Record, owner: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """What the constructor of a dataclass does."""
    name, left = made.made_of.__name__, dict(kwargs)
    every = dataclasses.fields(owner)
    positional = [f.name for f in every if f.init and not f.kw_only]
    if len(args) > len(positional):
        raise Refused(f"'{name}' takes {len(positional)} positional arguments, not {len(args)}")
    for key, value in zip(positional, args, strict=False):
        if key in left:
            raise Refused(f"'{name}' gets two values for '{key}'")
        left[key] = value
    for f in every:
        if f.init and f.name in left:
            made.fields[f.name] = left.pop(f.name)
        elif f.default is not dataclasses.MISSING:
            made.fields[f.name] = t.wrap(f.default)
        elif f.default_factory is not dataclasses.MISSING:
            made.fields[f.name] = call(t, f.default_factory, (), {})
        elif f.init:
            raise Refused(f"'{name}' is called without its argument '{f.name}'")
    for key in left:
        raise Refused(f"'{name}' has no parameter '{key}'")
    after = inspect.getattr_static(made.made_of, "__post_init__", None)
    if isinstance(after, FunctionType):
        inline(t, after, (made,), {})


def attribute(t: Tracer, owner: Record, name: str, start: type | None = None) -> Any:
    """`owner.name`; of the classes after one, for `super()`."""
    static = _of_class(owner, name, start)
    if name in owner.fields and not isinstance(static, property) and start is None:
        return t.wrap(owner.fields[name])
    if isinstance(static, FunctionType):
        return MethodType(static, owner)
    if isinstance(static, property) and isinstance(static.fget, FunctionType):
        return inline(t, static.fget, (owner,), {})
    if isinstance(static, functools.cached_property) and isinstance(static.func, FunctionType):
        return inline(t, static.func, (owner,), {})
    if isinstance(static, staticmethod):
        return t.wrap(static.__func__)
    if isinstance(static, classmethod) and isinstance(static.__func__, FunctionType):
        return MethodType(static.__func__, owner.made_of)
    if static is _MISSING or hasattr(type(static), "__get__"):
        raise Refused(f"an object of '{owner.made_of.__name__}' has no attribute '{name}' here")
    return t.wrap(static)


_MISSING = object()


def _of_class(owner: Record, name: str, start: type | None = None) -> Any:
    """What the class has under a name."""
    order = owner.made_of.__mro__
    for base in order if start is None else order[order.index(start) + 1 :]:
        if name in vars(base):
            return vars(base)[name]
    return _MISSING


def assign(t: Tracer, owner: Record, name: str, value: Any) -> None:
    """`owner.name = value`."""
    static, cls = _of_class(owner, name), owner.made_of
    if isinstance(static, property):
        if not isinstance(static.fset, FunctionType):
            raise Refused(f"property '{name}' of '{cls.__name__}' is assigned")
        inline(t, static.fset, (owner, value), {})
        return
    params = getattr(cls, "__dataclass_params__", None)
    if params is not None and params.frozen:
        raise Refused(
            f"field '{name}' of the frozen '{cls.__name__}' is assigned",
            "make another one: dataclasses.replace(...)",
        )
    t.mutate(owner.fields)
    for a in arrays(value):
        settle(t, a, name)
    owner.fields[name] = value


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Super:
    """`super()` in a method: an object, and the class after which names are looked up."""

    owner: Record
    start: type


def parent(t: Tracer, *given: Any) -> Super:
    """`super()`."""
    cls, owner = given or (t.frame.outer("__class__"), None)
    if owner is None:
        owner = t.frame.env.get(next(iter(t.frame.local_names()), ""))
    if not isinstance(owner, Record) or not isinstance(cls, type):
        raise Refused("'super' cannot be traced here")
    return Super(owner, cls)


def of_parent(t: Tracer, found: Super, name: str) -> Any:
    """`super().name`."""
    if name != "__init__":
        return attribute(t, found.owner, name, found.start)
    after = found.owner.made_of.__mro__
    owner = next(c for c in after[after.index(found.start) + 1 :] if "__init__" in vars(c))
    if owner is object:
        return functools.partial(_nothing)
    if (params := vars(owner).get("__dataclass_params__")) is not None and params.init:
        raise Refused("the constructor of a dataclass is called by a class made of it")
    return MethodType(vars(owner)["__init__"], found.owner)


def _nothing() -> None:
    """What `object.__init__` does."""


# ---------------------------------------------------------------------- special methods
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.Pow: "pow",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.MatMult: "matmul", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor",
}  # fmt: skip


def special(t: Tracer, owner: Record, name: str, *args: Any, **kwargs: Any) -> Any:
    """`type(owner).name(owner, *args)`; NotImplemented where it has no such method."""
    found = _of_class(owner, name)
    if not isinstance(found, FunctionType):
        return NotImplemented
    return inline(t, found, (owner, *args), kwargs)


def binary(t: Tracer, op: type[ast.operator], a: Any, b: Any) -> Any:
    """`a op b`, where one is a record; NotImplemented if neither has the operator."""
    name, found = _OPERATORS.get(op, ""), NotImplemented
    if isinstance(a, Record):
        found = special(t, a, f"__{name}__", b)
    if found is NotImplemented and isinstance(b, Record):
        found = special(t, b, f"__r{name}__", a)
    return found


# ------------------------------------------------------------------ of the standard library
def _replaced(t: Tracer, owner: Any, **changes: Any) -> Any:
    """`dataclasses.replace`."""
    if not isinstance(owner, Record):
        owner = _read(t, owner)
    for name in changes:
        if name not in owner.fields:
            raise Refused(f"'{owner.made_of.__name__}' has no parameter '{name}'")
    given = {f.name: owner.fields[f.name] for f in dataclasses.fields(owner.made_of) if f.init}
    return make(t, owner.made_of, (), {**given, **changes})


def _read(t: Tracer, owner: Any) -> Record:
    """An object that was made outside of the function."""
    if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
        raise Refused("this is of dataclasses only")
    found = {f.name: t.wrap(getattr(owner, f.name)) for f in dataclasses.fields(owner)}
    return Record(type(owner), t.own(found))


def _asdict(t: Tracer, owner: Any) -> Any:
    """`dataclasses.asdict`."""
    made = owner if isinstance(owner, Record) else _read(t, owner)
    return t.own({k: _asdict(t, v) if isinstance(v, Record) else t.freeze(v) for k, v in made.fields.items()})  # fmt: skip


def _astuple(t: Tracer, owner: Any) -> Any:
    """`dataclasses.astuple`."""
    made = owner if isinstance(owner, Record) else _read(t, owner)
    return tuple(_astuple(t, v) if isinstance(v, Record) else t.freeze(v) for v in made.fields.values())  # fmt: skip


def _deeply_copied(t: Tracer, value: Any) -> Any:
    """`copy.deepcopy`."""
    if isinstance(value, SymArray):
        return snapshot(value)
    if isinstance(value, Record):
        return Record(value.made_of, _deeply_copied(t, value.fields))
    if isinstance(value, (list, dict)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        new = {k: _deeply_copied(t, t.wrap(v)) for k, v in parts}
        return t.own(new if isinstance(value, dict) else list(new.values()))
    if isinstance(value, tuple):
        return tuple_like(value, [_deeply_copied(t, t.wrap(v)) for v in value])
    return t.own(t.freeze(value)) if isinstance(value, SmallArray) else value


def _copied(t: Tracer, value: Any) -> Any:
    """`copy.copy`."""
    if isinstance(value, Record):
        return Record(value.made_of, t.own(dict(value.fields)))
    if isinstance(value, (list, dict)):
        return t.own(value.copy())
    return _deeply_copied(t, value) if isinstance(value, (SymArray, SmallArray)) else value


def of_named_tuple(t: Tracer, owner: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """`_replace`, `_asdict` and `_make` of a named tuple, or of its type."""
    if name == "_make":
        return owner(*elements(t, args[0]))
    parts = dict(zip(owner._fields, owner, strict=True))
    if name == "_asdict":
        return t.own(parts)
    for key in kwargs:
        if key not in parts:
            raise Refused(f"'{type(owner).__name__}' has no field '{key}'")
    return type(owner)(**{**parts, **kwargs})


NAMED_TUPLE = ("_replace", "_asdict", "_make")
"""Methods that every named tuple has."""

TABLE: dict[str, Callable[..., Any]] = {
    "builtins.super": parent,
    "dataclasses.replace": _replaced,
    "dataclasses.asdict": _asdict,
    "dataclasses.astuple": _astuple,
    "copy.copy": _copied,
    "copy.deepcopy": _deeply_copied,
}
"""Traced versions, by the dotted name of what they implement."""
