"""Which globals, cells and defaults a function reads, by itself and in the Python functions that it calls."""

from __future__ import annotations

import copy
import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from symdiff.frontend.by_value.arrays import RealArray
from symdiff.frontend.by_value.reals import Real

_LIBRARIES = frozenset(
    (
        "numpy",
        "scipy",
        "symdiff",
        "sympy",
        "mpmath",
        "flint",
        "numba",
        "llvmlite",
        "pytest",
        "_pytest",
    )
)
_PYTHON = frozenset(("fractions", "statistics", "bisect", "heapq", "colorsys"))
"""Modules of the standard library that compute with numbers in Python."""
_THROUGH = ("numpy.polynomial", "scipy.integrate", "scipy.optimize")
"""Parts of libraries that are written in Python."""

MOST = 10_000
"""Elements of containers that are compared before and after a call."""


@dataclass(slots=True)
class Reached:
    """What a function reads.

    Attributes
    ----------
    scopes : the globals of functions.
    cells : of closures.
    functions : the functions themselves.
    kept : lists, dicts, sets and attributes of objects that outlive a call.
    tables : dicts in which the functions store results, each with whether they also clear it.
    """

    scopes: list[dict[str, Any]] = field(default_factory=list)
    cells: list[types.CellType] = field(default_factory=list)
    functions: list[types.FunctionType] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    tables: dict[int, tuple[dict[Any, Any], bool]] = field(default_factory=dict)


def is_users(module: str | None) -> bool:
    """Whether a module's functions may be run with scalars."""
    name = module or ""
    top = name.partition(".")[0]
    if top in _LIBRARIES:
        return name.startswith(_THROUGH)
    return top not in sys.stdlib_module_names or top in _PYTHON or top == "__main__"


def reachable(function: Any, objects: Sequence[Any] = ()) -> Reached:
    """All that is read when a function is called with objects, as far as names tell."""
    found, seen, pending = Reached(), set(), [function, *_code_of(objects)]
    scopes: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if not isinstance(value, types.FunctionType):
            pending += _inner(value)
            found.kept += _containers(value)
            continue
        if not is_users(value.__module__):
            continue
        found.functions.append(value)
        _add_tables(value, found)
        scope = value.__globals__
        own = is_users(
            scope.get("__name__")
        )  # not that of a library's wrapper with the user's __module__
        if own and id(scope) not in scopes:
            scopes.add(id(scope))
            found.scopes.append(scope)
        for cell in value.__closure__ or ():
            try:
                pending.append(cell.cell_contents)
            except ValueError:  # not assigned yet
                continue
            found.cells.append(cell)
        pending += value.__defaults__ or ()
        pending += (value.__kwdefaults__ or {}).values()
        if wrapped := getattr(value, "__wrapped__", None):
            pending.append(wrapped)
        names = set(_names(value.__code__)) if own else set()
        for name in names:
            if name in scope:
                global_value = scope[name]
                pending.append(global_value)
                if isinstance(global_value, types.ModuleType) and is_users(global_value.__name__):
                    pending += [vars(global_value)[n] for n in names if n in vars(global_value)]
    return found


def _code_of(objects: Sequence[Any]) -> list[Any]:
    """The functions and classes of objects, which do not outlive a call themselves."""
    found, pending, seen = [], list(objects), set()
    while pending:
        value = pending.pop()
        if isinstance(value, (types.FunctionType, type)):
            found.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            pending += _inner(value)
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    """The names of globals and attributes in a function and in those inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _add_tables(function: types.FunctionType, found: Reached) -> None:
    """Add the dicts of globals, cells and defaults in which a function stores elements."""
    code = function.__code__
    values = function.__globals__
    given = function.__defaults__ or ()
    parameters = code.co_varnames[: code.co_argcount]
    inner = {
        **dict(zip(parameters[len(parameters) - len(given) :], given, strict=True)),
        **(function.__kwdefaults__ or {}),
    }
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        inner[name] = getattr(cell, "cell_contents", None)
    for name in _changed_in_place(code):
        of_call = name in inner or name in code.co_varnames
        table = inner.get(name) if of_call else values.get(name)
        if isinstance(table, dict) and len(table) <= MOST:
            clears = "clear" in code.co_names or found.tables.get(id(table), (table, False))[1]
            found.tables[id(table)] = table, clears


@functools.lru_cache(maxsize=1024)
def _changed_in_place(code: types.CodeType) -> frozenset[str]:
    """The names of containers in which a function stores elements, or which it clears."""
    named: dict[tuple[int | None, int | None], str] = {}
    found = set()
    for i in dis.get_instructions(code):
        at = (i.positions.lineno, i.positions.col_offset) if i.positions else (None, None)
        if i.opname == "STORE_SUBSCR" or i.argval in ("setdefault", "clear", "__setitem__"):
            found.add(named.get(at, ""))
        elif i.opname.startswith("LOAD_") and isinstance(i.argval, str):
            named[at] = i.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _changed_in_place(constant)
    return frozenset(found)


def _inner(value: Any) -> list[Any]:
    """The functions behind a value that is none."""
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, functools._lru_cache_wrapper):
        return [value.__wrapped__]
    if isinstance(value, (staticmethod, classmethod)):
        return [value.__func__]
    if isinstance(value, property):
        return [f for f in (value.fget, value.fset) if f is not None]
    if isinstance(value, type):
        bases = [b for b in value.__mro__[1:] if b is not object]
        return [*vars(value).values(), *bases] if is_users(value.__module__) else []
    if hasattr(value, "_source"):
        wrapped = getattr(value, "__wrapped__", None)
        return [] if wrapped is None else [wrapped]
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)[:1000]
    if isinstance(value, dict):
        return list(value.values())[:1000]
    kind = type(value)
    if isinstance(value, types.ModuleType) or not is_users(kind.__module__):
        return []
    return [kind, *getattr(value, "__dict__", {}).values()]


def _containers(value: Any) -> list[Any]:
    """What of a value can be changed in place."""
    if isinstance(value, (list, dict, set, deque)):
        return [value] if len(value) <= MOST else []
    if isinstance(value, (type, types.ModuleType)):
        return []
    own = getattr(value, "__dict__", None) if is_users(type(value).__module__) else None
    return [own] if type(own) is dict and not hasattr(value, "_source") else []


class State:
    """What outlives a call, as it was before one.

    Parameters
    ----------
    reached : what a function reads.
    """

    def __init__(self, reached: Reached) -> None:
        self._scopes = [(scope, dict(scope)) for scope in reached.scopes]
        self._cells = [(cell, cell.cell_contents) for cell in reached.cells]
        self._kept = [(value, copy.copy(value)) for value in reached.kept]
        self._tables = reached.tables
        for table, _ in reached.tables.values():  # results of earlier calls have no derivative
            for key in [k for k in table if holds(k, (float,))]:
                del table[key]

    def restored(self) -> str:
        """Put everything back; returns what was changed, or nothing."""
        changed = ""
        for scope, before in self._scopes:
            for name in [
                n
                for n, v in scope.items()
                if v is not before.get(n, scope) and not n.startswith("__")
            ]:
                changed = f"the global '{name}'"
                if name in before:
                    scope[name] = before[name]
                else:
                    del scope[name]
        for cell, value in self._cells:
            if cell.cell_contents is not value:
                changed = "a variable of the enclosing function"
                cell.cell_contents = value
        for value, before in self._kept:
            if not _same(value, before):
                if not self._is_memo(value, before):
                    changed = f"a {type(value).__name__} that outlives the call"
                value.clear()
                value.extend(before) if isinstance(value, (list, deque)) else value.update(before)
        return changed

    def _is_memo(self, value: Any, before: Any) -> bool:
        """Whether a dict only got results, under keys that say of which numbers they are."""
        if id(value) not in self._tables or self._tables[id(value)][1]:
            return id(value) in self._tables
        kept = (k for k in before if not holds(k, (float,)))
        return all(k in value and value[k] is before[k] for k in kept) and all(
            holds(k, (Real, int, float)) and (holds(k, (Real,)) or not holds(v, (Real, RealArray)))
            for k, v in value.items()
            if k not in before
        )


def holds(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of some class, or a tuple or list with elements that are."""
    if isinstance(value, (tuple, list)):
        return any(holds(v, kinds) for v in value)
    return type(value) in kinds or (float in kinds and isinstance(value, float))


def _same(value: Any, before: Any) -> bool:
    """Whether two containers hold the same objects."""
    if len(value) != len(before):
        return False
    if isinstance(value, dict):
        return all(k in before and before[k] is v for k, v in value.items())
    if isinstance(value, set):
        return {id(v) for v in value} == {id(v) for v in before}
    return all(v is w for v, w in zip(value, before, strict=True))
