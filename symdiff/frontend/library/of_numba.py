"""Functions that Numba compiled, and its own functions: the Python that replaces them.

Numba is never imported: its objects are known once the user's module has it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from symdiff.frontend.trace.values import Cond, Refused, Scalar, SmallArray, SymArray, Whole

DECORATORS = ("njit", "jit")
"""Decorators of Numba that return an equivalent function."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A function of Numba's: `target` is its Python code; if it is `inside` of compiled code,
    calls of overloaded functions mean what Numba defines."""

    target: Any
    inside: bool = False


def find(function: Any) -> Compiled | None:
    """What replaces a function of Numba's; None if it is none.

    Raises
    ------
    Refused : for a generalised ufunc or a stencil.
    """
    numba = sys.modules.get("numba")
    if numba is None:
        return None
    kind = type(function)
    if function is getattr(numba, "prange", ()):
        return Compiled(range)
    if kind.__module__.partition(".")[0] != "numba":
        return None
    if isinstance(function, numba.types.Type):
        return _cast(numba.types, function)
    if isinstance(compiled := getattr(function, "py_func", None), FunctionType):
        return Compiled(compiled, True)
    if kind.__name__ == "CFunc" and isinstance(inner := function.__wrapped__, FunctionType):
        return Compiled(inner, True)
    if kind.__name__ == "DUFunc":
        return Compiled(np.vectorize(function._dispatcher.py_func), True)
    if kind.__name__ in ("GUFunc", "StencilFunc"):
        what = "a generalised ufunc" if kind.__name__ == "GUFunc" else "a stencil"
        raise Refused(f"{what} of Numba is called", "write it as loops over the arrays")
    return None


def _cast(types: Any, kind: Any) -> Compiled | None:
    """A cast to a number type of Numba's, as `numba.float64(x)`."""
    if kind == types.float64:
        return Compiled(float)
    return Compiled(int) if kind == types.int64 else None


def leaves(decorator: Any) -> bool:
    """Whether a decorator, or its maker when called, returns an equivalent function."""
    numba = sys.modules.get("numba")
    return numba is not None and any(decorator is getattr(numba, n) for n in DECORATORS)


def overloaded(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The function that compiled code calls for one with `numba.extending.overload`, for arguments
    of these types; None if that is the function itself."""
    if type(function) is not FunctionType or (numba := sys.modules.get("numba")) is None:
        return None
    templates = [
        template
        for key, kind in numba.core.typing.templates.builtin_registry.globals
        if key is function
        for template in getattr(kind, "templates", ())
    ]
    factories = [f for t in templates if (f := getattr(t, "_overload_func", None)) is not None]
    if not factories:
        return None
    kinds = [_type(numba, v) for v in args]
    named = {k: _type(numba, v) for k, v in kwargs.items()}
    for factory in reversed(factories):  # the last one counts, as in Numba
        if (made := factory(*kinds, **named)) is not None:
            return None if made is function else made
    raise Refused(f"no overload of '{function.__name__}' takes these arguments")


def _type(numba: Any, value: Any) -> Any:
    """The type that Numba gives a traced value."""
    types = numba.types
    if isinstance(value, Whole):
        return types.int64
    if isinstance(value, Cond):
        return types.boolean
    if isinstance(value, Scalar):
        return types.float64
    if isinstance(value, (SymArray, SmallArray)):
        element = {"b": types.boolean, "i": types.int64}.get(value.kind, types.float64)
        rank = len(value.shape) if isinstance(value, SymArray) else value.items.ndim
        return types.Array(element, rank, "C")
    try:
        return numba.typeof(value)
    except (TypeError, ValueError):
        raise Refused("a call of an overloaded function with what has no type in Numba") from None
