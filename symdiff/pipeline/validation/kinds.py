"""The key of a comparison: what the function consists of, and the kinds of its arguments."""

from __future__ import annotations

import functools
import hashlib
import marshal
import sys
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from symdiff.frontend.source import is_library
from symdiff.runtime import cache

LARGE = 1000
"""Entries of a container that are read."""
MOST_NUMBERS = 100_000
"""Numbers of an array that are read."""
NAMES = 10_000
"""Values that are read for one function."""


def kind(value: Any) -> Any:
    """What an argument is, for code: a plain number, or an array of so many axes; None if it
    is something else, which is not compared."""
    t = type(value)
    if t is float or t is int or t is bool:
        return t.__name__
    if t is np.ndarray:
        return (value.dtype.str, value.ndim) if value.dtype.kind in "biuf" else None
    if isinstance(value, np.generic):
        return value.dtype.str
    if t in (list, tuple):
        try:
            return t.__name__, np.ndim(value)
        except ValueError:
            return None
    return None


def is_whole(kind: Any) -> bool:
    """Whether a kind denotes an integer, a truth value or an array of these."""
    name = kind[0] if type(kind) is tuple else kind
    return name in ("int", "bool") or (name[:1] in "<>|=" and name[1:2] in "biu")


def mark(fun: Callable[..., Any], kinds: Any) -> str | None:
    """The name under which the cache notes that a function was compared; None if its text is
    not known."""
    text = fingerprint(fun)
    return None if text is None else cache.key("verified", text, kinds)


def fingerprint(fun: Callable[..., Any]) -> str | None:
    """A digest of the code of a function and of what it reads: defaults, closure cells, globals
    and, of functions among these that belong to no library, the same again.

    It is the same in every process. None if the code is not known.
    """
    if not isinstance(getattr(fun, "__code__", None), CodeType):
        return None
    try:
        told = repr(list(_Reading().read(fun)))
    except ValueError:  # code that cannot be written
        return None
    return hashlib.blake2b(told.encode(), digest_size=20).hexdigest()


class _Reading:
    """Values that were read, each once."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._alive: list[Any] = []

    def read(self, value: Any) -> Iterator[Any]:
        """What the key contains of a value, piece by piece."""
        stack = [value]
        while stack and len(self._alive) < NAMES:
            v = stack.pop()
            if isinstance(v, bool | int | float | complex | str | bytes | None):
                yield repr(v)
            elif id(v) in self._places:
                yield self._places[id(v)]
            else:
                self._places[id(v)] = len(self._alive)
                self._alive.append(v)
                told, parts = _parts(v)
                yield told
                stack += reversed(parts)


def _parts(value: Any) -> tuple[Any, list[Any]]:
    """What the key contains of a value, and the nested values that count."""
    while hasattr(type(value), "__symdiff_trace__") and "__wrapped__" in vars(value):
        value = value.__wrapped__
    if isinstance(value, MethodType):
        return "method", [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        if is_library(value.__code__.co_filename):
            return value.__qualname__, []
        return _parts_of_function(value)
    if isinstance(value, functools.partial):
        return "partial", [value.func, value.args, value.keywords]
    if isinstance(value, np.ndarray):
        held = value.dtype == object
        return (value.dtype.str, value.shape, b"" if held else _digest(value)), []
    if isinstance(value, list | tuple):
        return (type(value).__name__, len(value)), list(value[:LARGE])
    if isinstance(value, Mapping):
        found = list(value.items())[:LARGE] if type(value) is dict else []
        return (type(value).__name__, len(value)), [x for pair in found for x in pair]
    if isinstance(value, type | BuiltinFunctionType):
        return (value.__module__, value.__qualname__), []
    if isinstance(value, ModuleType):
        return value.__name__, []
    if isinstance(value, np.generic):
        return repr(value), []
    library = type(value).__module__.partition(".")[0] in sys.stdlib_module_names
    held = None if library else getattr(value, "__dict__", None)
    return type(value).__qualname__, [held if type(held) is dict else None]


def _parts_of_function(fun: FunctionType) -> tuple[Any, list[Any]]:
    names = sorted({n for code in _codes(fun.__code__) for n in code.co_names})
    found: list[Any] = [fun.__defaults__, fun.__kwdefaults__]
    for cell in fun.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            found.append(None)
    for name in names:
        value = fun.__globals__.get(name)
        found.append(value)
        if isinstance(value, ModuleType) and not is_library(
            getattr(value, "__file__", None) or "<"
        ):
            found += [vars(value).get(n) for n in names]
    return marshal.dumps(fun.__code__, 2), found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _digest(array: np.ndarray) -> bytes:
    """Of the numbers of an array; of a large one, of some."""
    if array.size > MOST_NUMBERS:
        array = array.reshape(-1)[:: array.size // MOST_NUMBERS]
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=20).digest()
