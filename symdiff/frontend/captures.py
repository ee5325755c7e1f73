"""The values that a function was captured with: globals, closure cells, attributes, and contents.

Their values are constants of the program. So each is noted with the place that it was read
from, and before a call all places are checked again: where one has another value, the function
is captured again. The notes are a table of machine words too, which a compiled call goes through
(`symdiff.codegen.llvm.entry.dispatch`) without any Python.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import CellType, ModuleType
from typing import Any

import numpy as np

WORD, ITEM, BYTES, ATTRIBUTE, CALL, VERSION = range(1, 7)
"""The rows of the table, of four words: kind, a, b, c.

WORD : the word at a is b.
ITEM : the dict a has c under the key b; 0 if it has none.
BYTES : c bytes where the word at a points to are those at b.
ATTRIBUTE : the attribute b of a is c.
CALL : a() is True.
VERSION : the word at a is b, or the next c rows must be checked; b becomes what it is.
"""
ROW = 4
HEADER = ("rows", "count", "epoch")
"""The words that a dispatch stub reads: the address of the table, its number of rows, and how often
the function was captured again."""
CONTENTS, LIST_SIZE, LIST_ITEMS, TAG, DATA = 16, 16, 24, 24, 16
"""Where CPython keeps the value of a cell, the size and the items of a list, the version of a dict,
and NumPy the data of an array."""
KEPT = 16
"""Tables that calls in other threads may still read."""
LARGE = 10_000
"""The most entries of a list or a dict that are compared one by one."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_FIXED = ("numpy", "scipy", "math", "cmath", "builtins", "symdiff", "operator", "functools")
_MISSING: Any = object()

_active: ContextVar[Captures | None] = ContextVar("captures", default=None)

Note = tuple[str, Any, Any]
"""Where a value was read: how, from which object, and under which name."""


class Captures:
    """The values that a function and its derivatives were captured with.

    Attributes
    ----------
    epoch : how often they were captured again.
    foreign : names of other libraries that the function calls; it is not compared with their
        arithmetic.
    prints : whether the function calls `symdiff.debug`.
    """

    def __init__(self) -> None:
        self.notes: dict[tuple[str, int, Any], tuple[Note, Any]] = {}
        self.foreign: set[str] = set()
        self.prints = False
        self.header = (ctypes.c_int64 * len(HEADER))()
        self._alive: deque[Any] = deque(maxlen=KEPT)
        self._built = 0

    @property
    def epoch(self) -> int:
        return self.header[HEADER.index("epoch")]

    @property
    def address(self) -> int:
        """The address of the header, for compiled calls."""
        return ctypes.addressof(self.header)

    # ------------------------------------------------------------------ noting
    def note(self, how: str, holder: Any, key: Any, value: Any) -> None:
        """Record a value and its contents."""
        self.notes[how, id(holder), key] = (how, holder, key), value
        self.contents(value)

    def contents(self, value: Any) -> None:
        """Record the contents of a value, if they can change."""
        stack, seen = [value], set[int]()
        while stack:
            v = stack.pop()
            if id(v) in seen or ("list", id(v), None) in self.notes:
                continue
            seen.add(id(v))
            if type(v) is list:
                self.notes["list", id(v), None] = ("list", v, None), list(v)
                stack += v[:LARGE]
            elif type(v) is dict:
                self.notes["keys", id(v), None] = ("keys", v, None), len(v)
                for k, x in list(v.items())[:LARGE]:
                    self.notes["item", id(v), k] = ("item", v, k), x
                    stack.append(x)
            elif isinstance(v, tuple):
                stack += v[:LARGE]
            elif isinstance(v, np.ndarray) and v.dtype != object:
                if v.flags.writeable or v.base is not None:
                    self.notes["array", id(v), None] = ("array", v, None), v.copy()
            elif isinstance(v, (set, bytearray)):
                self.notes["equal", id(v), None] = ("equal", v, None), v.copy()

    def include(self, other: Captures) -> None:
        """Add the captures of another function, which is part of this one."""
        self.notes.update(other.notes)
        self.foreign |= other.foreign
        self.prints |= other.prints

    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """The arrays among the recorded values."""
        return [holder for (how, holder, _), _ in self.notes.values() if how == "array"]

    # ----------------------------------------------------------------- looking
    def hold(self) -> bool:
        """Whether nothing has changed; equal plain values count as unchanged."""
        renewed = False
        for key, (note, value) in list(self.notes.items()):
            now = _now(note, value)
            if now is value:
                continue
            if type(now) is not type(value) or type(value) not in _PLAIN or now != value:
                return False
            if isinstance(value, float) and str(now) != str(value):  # the sign of a zero
                return False
            self.notes[key] = note, now
            renewed = True
        if renewed:
            self._built = -1
        self.ready()
        return True

    def renew(self) -> None:
        """Forget everything: the function is captured again."""
        self.notes = {}
        self.header[HEADER.index("epoch")] += 1
        self._build()

    def ready(self) -> None:
        """Bring the table up to date with the record."""
        if self._built != len(self.notes):
            self._build()

    def _build(self) -> None:
        rows: list[tuple[int, int, int, int]] = []
        alive: list[Any] = []
        dicts: dict[int, list[tuple[int, int, int, int]]] = {}
        holders: dict[int, Any] = {}
        for (how, holder, key), value in self.notes.values():
            at = id(holder)
            alive += [holder, key, value]
            match how:
                case "cell":
                    rows.append((WORD, at + CONTENTS, 0 if value is _MISSING else id(value), 0))
                case "item":
                    holders[at] = holder
                    expected = 0 if value is _MISSING else id(value)
                    dicts.setdefault(at, []).append((ITEM, at, id(key), expected))
                case "list":
                    held = (ctypes.c_void_p * max(1, len(value)))(*map(id, value))
                    alive.append(held)
                    rows.append((WORD, at + LIST_SIZE, len(value), 0))
                    where = ctypes.addressof(held)
                    rows.append((BYTES, at + LIST_ITEMS, where, 8 * len(value)))
                case "array" if holder.flags.c_contiguous and holder.dtype == value.dtype:
                    rows.append((WORD, at + DATA, holder.ctypes.data, 0))
                    rows.append((BYTES, at + DATA, value.ctypes.data, value.nbytes))
                case "attribute":
                    rows.append((ATTRIBUTE, at, id(key), id(value)))
                case "keys":
                    rows.append((WORD, at + CONTENTS, value, 0))
                case _:
                    call = _Unchanged((how, holder, key), value)
                    alive.append(call)
                    rows.append((CALL, id(call), 0, 0))
        for at, items in dicts.items():
            if sys.version_info < (3, 12):
                tag = ctypes.c_int64.from_address(at + TAG).value
                rows.append((VERSION, at + TAG, tag, len(items)))
            rows += items
        table = (ctypes.c_int64 * (ROW * max(1, len(rows))))(*(w for row in rows for w in row))
        # calls in other threads may still read the old table
        self._alive.append((table, alive))
        self.header[0], self.header[1] = ctypes.addressof(table), len(rows)
        self._built = len(self.notes)


class _Unchanged:
    """Tells compiled code whether something is unchanged."""

    def __init__(self, note: Note, value: Any) -> None:
        self.note, self.value = note, value

    def __call__(self) -> bool:
        return _now(self.note, self.value) is self.value


def _now(note: Note, value: Any) -> Any:
    """The current value of a place; the recorded value itself if that is unchanged."""
    how, holder, key = note
    match how:
        case "cell":
            try:
                return holder.cell_contents
            except ValueError:
                return _MISSING
        case "item":
            return holder.get(key, _MISSING)
        case "attribute":
            return getattr(holder, key, _MISSING)
        case "list":
            same = len(holder) == len(value) and all(map(_is, holder, value))
            return value if same else _MISSING
        case "keys":
            return value if len(holder) == value else _MISSING
        case "array":
            same = holder.shape == value.shape and holder.dtype == value.dtype
            return value if same and holder.tobytes() == value.tobytes() else _MISSING
    return value if holder == value else _MISSING


def _is(a: Any, b: Any) -> bool:
    return a is b


# --------------------------------------------------------------------- what the tracer reads
@contextmanager
def noting(captures: Captures) -> Iterator[None]:
    """Record reads from outside of the function in these captures."""
    token = _active.set(captures)
    try:
        yield
    finally:
        _active.reset(token)


def cell(holder: CellType, value: Any) -> None:
    """Record the read of a closure cell."""
    if (found := _active.get()) is not None:
        found.note("cell", holder, None, value)


def item(holder: Mapping[str, Any], key: str, value: Any) -> None:
    """Record the read of a name of a module; `MISSING` if it has none."""
    if (found := _active.get()) is not None and type(holder) is dict:
        found.note("item", holder, key, value)


def attribute(owner: Any, name: str, value: Any) -> None:
    """Record the read of an attribute."""
    found = _active.get()
    if found is None:
        return
    if isinstance(owner, ModuleType):
        if owner.__name__.split(".")[0] not in _FIXED:
            found.note("item", owner.__dict__, name, value)
        return
    own = getattr(owner, "__dict__", None)
    if type(own) is dict and name in own:
        found.note("item", own, name, value)
        return
    if type(own) is dict:
        found.note("item", own, name, _MISSING)
    kind = owner if isinstance(owner, type) else type(owner)
    if getattr(kind, name, None) is getattr(kind, name, None):
        held = getattr(kind, name, None)
        found.note("attribute", kind, name, held)
    if getattr(owner, name, None) is value:
        found.note("attribute", owner, name, value)


def defaults(function: Any) -> None:
    """Record the defaults of a function."""
    found = _active.get()
    if found is not None and function.__defaults__:
        found.note("attribute", function, "__defaults__", function.__defaults__)
    if found is not None and function.__kwdefaults__:
        found.note("attribute", function, "__kwdefaults__", function.__kwdefaults__)


def of_function(fun: Any, inner: Any) -> None:
    """Record that the captured object is a function, or something that calls it."""
    defaults(inner)
    found = _active.get()
    while found is not None and isinstance(fun, functools.partial):
        found.contents([fun.args, fun.keywords])
        fun = fun.func


def include(captures: Captures) -> None:
    """Add the captures of a function that is part of this one."""
    if (found := _active.get()) is not None and found is not captures:
        found.include(captures)


def foreign(name: str) -> None:
    """Record a call of a function of another library."""
    if (found := _active.get()) is not None:
        found.foreign.add(name)


def prints() -> None:
    """Record a call of `symdiff.debug`."""
    if (found := _active.get()) is not None:
        found.prints = True


MISSING = _MISSING
__all__ = [
    "HEADER", "MISSING", "Captures", "attribute", "cell", "defaults", "foreign", "include", "item", "noting", "of_function", "prints",
]  # fmt: skip
