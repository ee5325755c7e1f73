"""What a call of a function meets first.

Before : the first call of a function or a derivative of it, which goes on to Python (`api.function`):
         it captures, compiles, and leaves an entry here for arguments of its kind.
After  : from the second call on the stub calls that entry, and no Python of ours runs.

Without it each call would run a Python method before the compiled entry, which takes longer
than most functions of numbers.
"""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.entry import dispatch
from symdiff.runtime import builtin, cache
from symdiff.runtime.forms import Form
from symdiff.runtime.scalar.compiled import link

Entry = Callable[..., Any]
KEPT = 32
"""How often entries may be forgotten while a call of one of them still runs."""


def refusing(*_: Any, **__: Any) -> Any:
    """An entry that serves no call."""
    return NotImplemented


class Captured(Protocol):
    """What a function was captured with."""

    @property
    def address(self) -> int:
        """Of its header."""

    @property
    def epoch(self) -> int:
        """How often the function was captured again."""

    def ready(self) -> None:
        """Have the table for compiled calls say all that there is."""

    def hold(self) -> bool:
        """Whether nothing has changed."""


class Nothing:
    """Nothing that could change."""

    epoch = 0

    def __init__(self) -> None:
        self._header = (ctypes.c_int64 * 3)()
        self.address = ctypes.addressof(self._header)

    def ready(self) -> None:
        """There is nothing to do."""

    def hold(self) -> bool:
        """Nothing has changed."""
        return True


class CompiledEntry(NamedTuple):
    """An entry that returns NotImplemented for calls that it does not serve.

    Attributes
    ----------
    call : called with the arguments of a call that has no keywords.
    pair : whether its tuple of results becomes a pair: the first, and the tuple of the others.
    placed : called for a call with the keyword `out` alone, which follows the other arguments.
    """

    call: Entry
    pair: bool = False
    placed: Entry = refusing


class DispatchStub:
    """Asks a few entries, the one that served last first, then forms, and then the general path.

    Attributes
    ----------
    call : a callable with any arguments.
    ask : a callable that asks the entries alone, and returns NotImplemented if none serves the call.

    Notes
    -----
    Entries are added while others may run in other threads, so all stay as they are, and the
    record changes in one step.
    """

    def __init__(
        self, general: Entry, inputs: int, keep: bool, captures: Captured | None = None
    ) -> None:
        self._general, self._inputs = general, inputs
        self._captures = captures or Nothing()
        self._epoch = self._captures.epoch
        self._entries: list[CompiledEntry] = []
        self._forms: list[Form] = []
        self._past: deque[tuple[Any, ...]] = deque(maxlen=KEPT)
        self._record = (ctypes.c_int64 * len(dispatch.RECORD))()
        self._table = (ctypes.c_int64 * dispatch.MOST_FORMS)()
        self.call: Entry = self._interpreted
        self.ask: Entry = self._asked
        if (layout := builtin.float_layout()) is not None:
            key = cache.key("dispatch", jit.host(), layout)
            linked = link(key, lambda: dispatch.print_dispatch(layout[0]), keep)
            alive = self._table, self._entries, self._forms, general, self._captures
            self.call, self.ask = builtin.dispatch_builtins(linked, self._record, *alive)

    def add(self, entry: CompiledEntry) -> None:
        """Ask this one too; requires that there are fewer than `dispatch.MOST`, and that no other
        thread adds one."""
        if len(self._entries) >= dispatch.MOST:
            raise ValueError(f"a dispatch stub asks {dispatch.MOST} entries at most")
        self._entries.append(entry)
        self._captures.ready()
        self._write()

    def learn(self, form: Form) -> None:
        """Serve calls of this form, if there is room; requires that no other thread adds one."""
        if len(self._forms) < dispatch.MOST_FORMS and form not in self._forms:
            self._table[len(self._forms)] = form.address
            self._forms.append(form)
            self._captures.ready()
            self._write()

    def _write(self) -> None:
        """Put down what compiled calls look at."""
        fields: dict[str, Any] = {
            "entries": len(self._entries), "general": id(self._general), "out": id(sys.intern("out")),
            "inputs": self._inputs, "captures": self._captures.address, "epoch": self._epoch,
            "forms": ctypes.addressof(self._table), "form_count": len(self._forms),
        }  # fmt: skip
        for k, (call, pair, placed) in enumerate(reversed(self._entries)):
            fields |= {f"entry{k}": id(call), f"pair{k}": int(pair), f"placed{k}": id(placed)}
        self._record[:] = [fields.get(name, 0) for name in dispatch.RECORD]

    def begin(self) -> None:
        """Forget the entries and forms, as what the function was captured with has changed. Calls in
        other threads may still run them, so the last ones are kept."""
        self._past.append((*self._entries, *self._forms))
        self._entries.clear()
        self._forms.clear()
        self._epoch = self._captures.epoch
        self._write()

    def _asked(self, *args: Any) -> Any:
        """The same in Python, where we cannot make builtins."""
        if self._captures.epoch == self._epoch and self._captures.hold():
            for call, pair, _ in self._entries:
                result = call(*args)
                if result is not NotImplemented:
                    return (result[0], result[1:]) if pair else result
        return NotImplemented

    def _interpreted(self, *args: Any, **kwargs: Any) -> Any:
        """The same in Python; there are no forms."""
        if not kwargs:
            result = self._asked(*args)
            return self._general(*args) if result is NotImplemented else result
        if list(kwargs) == ["out"] and len(args) == self._inputs:
            same = self._captures.epoch == self._epoch and self._captures.hold()
            for _, _, placed in self._entries if same else ():
                if placed(*args, kwargs["out"]) is not NotImplemented:
                    return kwargs["out"]
        return self._general(*args, **kwargs)
