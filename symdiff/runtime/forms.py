"""Forms of calls: how the arguments of a call are brought to a compiled entry.

The code that goes through a form is `symdiff.codegen.llvm.entry.binding`.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from symdiff.codegen.llvm.entry import binding


class Held(NamedTuple):
    """An object whose address is meant, though it is a number or a tuple."""

    value: Any


class Row(NamedTuple):
    """A step (`binding.STEP`), with objects in place of addresses; a tuple is a table of those of its entries."""

    op: int
    slot: int = 0
    a: Any = 0
    b: Any = 0


class Form:
    """One kind of call, as compiled code reads it.

    Parameters
    ----------
    positional, names : the number of arguments by position, and the keywords of the others.
    steps : what is done with them. slots : values that the steps find, arguments included.
    leaves : arguments of the target.
    target : what is called with those; it may return NotImplemented.
    results : how the result is made; the target's is returned if there are none.

    Attributes
    ----------
    address : of its words.
    """

    def __init__(
        self, positional: int, names: Sequence[str], steps: Sequence[Row], slots: int, leaves: int,
        target: Callable[..., Any], results: Sequence[Row] = (),
    ) -> None:  # fmt: skip
        self._alive: list[Any] = []
        keywords = tuple([sys.intern(n) for n in names])
        fields = {
            "positional": positional, "named": len(keywords), "keywords": self._word(keywords),
            "steps": self._rows(steps), "step_count": len(steps), "slots": max(slots, 1), "leaves": max(leaves, 1),
            "target": self._word(target), "results": self._rows(results), "result_count": len(results),
            "depth": len(results) + 1,
        }  # fmt: skip
        self._words = _table([fields[name] for name in binding.FORM])
        self.address = ctypes.addressof(self._words)
        rows = [(r.op, r.slot, *map(_name, (r.a, r.b))) for r in (*steps, *results)]
        self._key = positional, keywords, id(target), tuple(rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def _word(self, value: Any) -> int:
        """A number, or the address of an object, or of those of some objects."""
        if type(value) is int:
            return value
        self._alive.append(value)
        if type(value) is not tuple:
            return id(value.value if type(value) is Held else value)
        words = _table([id(v) for v in value])
        self._alive.append(words)
        return ctypes.addressof(words)

    def _rows(self, rows: Sequence[Row]) -> int:
        table = _table([w for r in rows for w in (r.op, r.slot, self._word(r.a), self._word(r.b))])
        self._alive.append(table)
        return ctypes.addressof(table)


def _name(value: Any) -> Any:
    """What distinguishes a word of a step."""
    if type(value) is int:
        return value
    if type(value) is tuple:
        return tuple(map(id, value))
    return id(value.value if type(value) is Held else value)


def _table(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * max(1, len(values)))(*values)
