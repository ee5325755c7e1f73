"""Objects of the user's classes that are made while tracing: dataclasses and plain classes.

A record has its fields in a dict that the trace owns, so it is changed, merged at branches and
carried by loops like a dict. Its methods, properties and operators are those of its class, and are
inlined.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from abc import ABCMeta
from collections.abc import Mapping
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

from symdiff.frontend.arrays.symbolic import write_down_costly
from symdiff.frontend.loops.slots import arrays
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Record, Refused

_HIDDEN = ("__new__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__")
"""Methods by which a class controls the creation of its objects."""


LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "numba", "sympy"}


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
        if package in LIBRARIES and base.__module__ not in ("abc", "typing"):
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
    elif is_generated(owner.__init__):  # type: ignore[misc]
        _fill(t, made, owner, args, kwargs)
    else:
        t.inline(owner.__init__, (made, *args), kwargs)  # type: ignore[misc]
    return made


def is_generated(method: Any) -> bool:
    """Whether `dataclasses` wrote a method; it keeps one that the class defines."""
    return isinstance(method, FunctionType) and method.__code__.co_filename == "<string>"


def _fill(
    t: Tracer, made: Record, owner: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """The constructor of a dataclass."""
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
            made.fields[f.name] = t.call(f.default_factory, (), {})
        elif f.init:
            raise Refused(f"'{name}' is called without its argument '{f.name}'")
    for key in left:
        raise Refused(f"'{name}' has no parameter '{key}'")
    after = inspect.getattr_static(made.made_of, "__post_init__", None)
    if isinstance(after, FunctionType):
        t.inline(after, (made,), {})


def attribute(t: Tracer, owner: Record, name: str, start: type | None = None) -> Any:
    """`owner.name`; for `super()`, of the classes after `start`."""
    static = _of_class(owner, name, start)
    if name in owner.fields and not _decides(static) and start is None:
        return t.wrap(owner.fields[name])
    if isinstance(static, FunctionType):
        return MethodType(static, owner)
    if isinstance(static, property) and isinstance(static.fget, FunctionType):
        return t.inline(static.fget, (owner,), {})
    if isinstance(static, functools.cached_property) and isinstance(static.func, FunctionType):
        return t.inline(static.func, (owner,), {})
    if isinstance(static, staticmethod):
        return t.wrap(static.__func__)
    if isinstance(static, classmethod) and isinstance(static.__func__, FunctionType):
        return MethodType(static.__func__, owner.made_of)
    get = getattr(type(static), "__get__", None)
    if isinstance(get, FunctionType):
        return t.inline(get, (static, owner, owner.made_of), {})
    if static is _MISSING or get is not None:
        raise Refused(f"an object of '{owner.made_of.__name__}' has no attribute '{name}' here")
    return t.wrap(static)


def _decides(static: Any) -> bool:
    """Whether a class attribute is a data descriptor, which controls access to an object's
    attribute."""
    return hasattr(type(static), "__set__") and not inspect.ismemberdescriptor(static)


_MISSING = object()


def _of_class(owner: Record, name: str, start: type | None = None) -> Any:
    """The attribute of the class."""
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
        t.inline(static.fset, (owner, value), {})
        return
    if _decides(static):
        setter = getattr(type(static), "__set__", None)
        if not isinstance(setter, FunctionType):
            raise Refused(f"attribute '{name}' of '{cls.__name__}' is assigned")
        t.inline(setter, (static, owner, value), {})
        return
    params = getattr(cls, "__dataclass_params__", None)
    if params is not None and params.frozen:
        raise Refused(
            f"field '{name}' of the frozen '{cls.__name__}' is assigned",
            "make another one: dataclasses.replace(...)",
        )
    t.mutate(owner.fields)
    for a in arrays(value):
        write_down_costly(t, a, name)
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
    if is_generated(vars(owner)["__init__"]):
        raise Refused("a subclass calls the constructor of its dataclass")
    return MethodType(vars(owner)["__init__"], found.owner)


def _nothing() -> None:
    """`object.__init__`."""
