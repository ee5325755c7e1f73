"""What a call of a function meets first.

Without it each call would run a Python method before the compiled entry, which takes longer
than most functions of numbers.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from symdiff.codegen import gate, jit
from symdiff.runtime import builtin, cache
from symdiff.runtime.compiled import link, version

Entry = Callable[..., Any]


def refusing(*_: Any) -> Any:
    """An entry that serves no call."""
    return NotImplemented


class Gate:
    """Asks two entries, the one that served last first, and then the general path.

    Attributes
    ----------
    call : a callable with any arguments; those with keywords go to the general path.

    Notes
    -----
    Entries are replaced while others may run in other threads, so all that ever were are kept.
    """

    def __init__(self, general: Entry, inputs: int, keep: bool) -> None:
        self._general, self._inputs = general, inputs
        self._entries: list[tuple[Entry, bool]] = []
        self._placed: Entry = refusing
        self._all: list[Entry] = [general]
        self._record = (ctypes.c_int64 * len(gate.RECORD))()
        self.call: Entry = self._interpreted
        if builtin.float_layout() is not None:
            key = cache.key("gate", version(), jit.host())
            self.call = builtin.gate_builtin(
                link(key, gate.print_gate, keep), self._record, self._all
            )

    def use(self, *entries: tuple[Entry, bool], placed: Entry = refusing) -> None:
        """Ask these two from now on, in this order; each returns NotImplemented for calls that
        it does not serve. With True its tuple of results becomes a pair: the first, and the
        tuple of the others. `placed` takes `out` behind its other arguments
        and serves calls with that keyword."""
        self._all.extend((*(entry for entry, _ in entries), placed))
        self._entries, self._placed = list(entries), placed
        (first, a), (second, b) = entries
        others = self._general, placed, sys.intern("out")
        self._record[:] = [id(first), id(second), int(a), int(b), *map(id, others), self._inputs]

    def _interpreted(self, *args: Any, **kwargs: Any) -> Any:
        """The same in Python, where we cannot make builtins."""
        if not kwargs:
            for entry, pair in self._entries:
                result = entry(*args)
                if result is not NotImplemented:
                    return (result[0], result[1:]) if pair else result
        elif list(kwargs) == ["out"] and len(args) == self._inputs:
            if self._placed(*args, kwargs["out"]) is not NotImplemented:
                return kwargs["out"]
        return self._general(*args, **kwargs)
