"""Attribute access: modules, plain objects of the user, arrays made while tracing."""

from __future__ import annotations

import enum
import functools
import inspect
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from symdiff.frontend import captures
from symdiff.frontend.library import doors, methods
from symdiff.frontend.library import registry as known
from symdiff.frontend.library.complex_numbers import complex_calls
from symdiff.frontend.library.numpy import names as array_names
from symdiff.frontend.library.numpy import ufuncs
from symdiff.frontend.syntax import records
from symdiff.frontend.syntax.calls import call
from symdiff.frontend.trace import raised
from symdiff.frontend.trace.demands import array_in_call, used_as_array
from symdiff.frontend.trace.recorder import active
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    LIST_HINT,
    Cond,
    Integral,
    Masked,
    Method,
    Record,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    Stream,
    SymArray,
    Whole,
    describe,
    is_complex,
    number,
)


def attribute(t: Tracer, owner: Any, name: str) -> Any:
    """`owner.name`; its value is fixed when traced."""
    if (traced := getattr(type(owner), "__symdiff_attribute__", None)) is not None:
        return traced(owner, name)
    if isinstance(owner, type) and (stand_in := doors.replacement(owner)) is not None:
        owner = stand_in
    if isinstance(owner, ModuleType):
        return _from_module(t, owner, name)
    if isinstance(owner, (SmallArray, Masked)) and name not in (
        "real",
        "T",
        "dtype",
        "copy",
        "astype",
    ):
        array_in_call(owner, f"attribute '{name}'")
    if isinstance(owner, (SmallArray, Masked, SymArray, Selected)):
        return array_names.attribute(t, owner, name)
    if isinstance(owner, Scalar):
        return _of_scalar(owner, name)
    if is_complex(owner):
        return complex_calls.attribute(t, owner, name)
    if isinstance(owner, Record):
        return records.attribute(t, owner, name)
    if isinstance(owner, records.Super):
        return records.of_parent(t, owner, name)
    if isinstance(owner, known.METHOD_OWNERS) and not hasattr(owner, "_fields"):
        found = getattr(owner, name, None)
        if isinstance(found, BuiltinMethodType):
            return found
        if (made := methods.find(owner, name)) is not None:
            return Method(made, owner, name)
        hint = LIST_HINT if isinstance(owner, list) and hasattr(np.ndarray, name) else ""
        raise Refused(f"{describe(owner)} has no method '{name}'", hint)
    if isinstance(owner, (Stream, Method)) or owner is None:
        raise Refused(f"attribute '{name}' of {describe(owner)}")
    return _of_object(t, owner, name)


def _from_module(t: Tracer, module: ModuleType, name: str) -> Any:
    try:
        value = getattr(module, name)
        captures.attribute(module, name, value)
        return t.wrap(value)
    except AttributeError:
        raise Refused(f"module '{module.__name__}' has no attribute '{name}'") from None


def _of_scalar(owner: Scalar, name: str) -> Any:
    if name in ("real", "T"):
        return owner
    if name == "imag":
        return 0 if isinstance(owner, (Cond, Whole, Integral)) else number(0.0)
    if name == "conjugate":
        return Method(lambda t, v: v, owner, name)
    if name == "dtype":
        return np.dtype(
            bool if isinstance(owner, Cond) else int if isinstance(owner, Whole) else float
        )
    if name in array_names.METHODS or name in array_names.PROPERTIES:
        used_as_array(owner, f"attribute '{name}'")
        if not hasattr(float, name):
            _must_have(owner, name)
    if name in array_names.METHODS:
        return Method(array_names.METHODS[name], owner, name)
    unknown = not hasattr(np.ndarray, name) and not hasattr(float, name)
    raise Refused(
        f"attribute '{name}' of {describe(owner)}", raises=AttributeError if unknown else None
    )


def _must_have(owner: Scalar, name: str) -> None:
    """In a `try` statement it matters whether a number is Python's, without NumPy's attributes."""
    if raised.journal.get() is None:
        return
    python = raised.of_python(active.get(), owner)
    if python is None:
        raise Refused(
            f"'try' around the attribute '{name}' of a number that may be Python's or NumPy's",
            "make it an array first: np.asarray(...)",
        )
    if python:
        raise Refused(f"attribute '{name}' of {describe(owner)}", raises=AttributeError)


def _is_data(static: Any) -> bool:
    """Whether reading an attribute runs no code."""
    plain = not hasattr(type(static), "__get__")
    return plain or inspect.ismemberdescriptor(static) or type(static).__name__ == "_tuplegetter"


def _of_object(t: Tracer, owner: Any, name: str) -> Any:
    """Data and methods of an object that runs no hidden code when read."""
    if isinstance(owner, np.ufunc) and (made := ufuncs.method(owner, name)) is not None:
        return Method(made, owner, name)
    if hasattr(type(owner), "__symdiff_trace__") or isinstance(owner, (FunctionType, np.finfo, np.iinfo)):  # fmt: skip
        found = getattr(owner, name, None)
        if found is None and not hasattr(owner, name):
            raise Refused(f"{describe(owner)} has no attribute '{name}'")
        return t.wrap(found)
    try:
        static = inspect.getattr_static(owner, name)
    except AttributeError:
        raise Refused(f"{describe(owner)} has no attribute '{name}'") from None
    if isinstance(owner, enum.Enum) and name in ("name", "value"):
        return t.wrap(getattr(owner, name))
    if not hasattr(owner, "_fields"):
        captures.attribute(owner, name, getattr(owner, name) if _is_data(static) else static)
    elif isinstance(static, (property, FunctionType)):  # its fields do not change
        captures.attribute(type(owner), name, static)
    if isinstance(static, property) and isinstance(static.fget, FunctionType):
        return call(t, static.fget, (owner,), {})
    if isinstance(static, functools.cached_property):
        return call(t, static.func, (owner,), {})
    found = getattr(owner, name)
    if _is_data(static) or isinstance(found, (FunctionType, MethodType)):
        return t.wrap(found)
    if isinstance(owner, type) and isinstance(found, owner):  # a member of an Enum
        return found
    raise Refused(
        f"attribute '{name}' of {describe(owner)}",
        "symdiff cannot see through it; pass plain numbers and functions",
    )
