"""Locks that outlive a fork, and that never wait in a circle.

A thread that does not exist in a forked child never releases what it held there. So every lock
of the package is one of these: in the child those of other threads are free again. What a lock
protects must therefore be whole at any moment (published in one step, when it is done), or be
marked `whole`: a fork then waits until no other thread is in the middle of it.
"""

from __future__ import annotations

import _imp
import contextlib
import importlib
import os
import threading
import time
from types import TracebackType
from typing import Any
from weakref import WeakSet

_RLock: Any = type(threading.RLock())
PATIENCE = 60.0
"""Seconds that a fork waits for another thread to leave what is `whole`. One that takes longer
is cut off, rather than never to fork. A thread waits as long for another one's work."""


class Lock(_RLock):  # type: ignore[misc]
    """A lock that its thread may take again.

    It is taken and released in C, so that the exception of a signal (Ctrl-C) never comes between
    taking it and the statement that releases it.

    Parameters
    ----------
    whole : whether processes are not forked while other threads hold it.
    """

    def __new__(cls, whole: bool = False) -> Lock:
        made: Lock = super().__new__(cls)
        return made

    def __init__(self, whole: bool = False) -> None:
        (_whole if whole else _locks).add(self)

    def _renew(self) -> None:
        """In a forked child: free, unless the thread that forked holds it itself."""
        if not self._is_owned():
            self._at_fork_reinit()


class Once:
    """A lock around work that should be done once, but may be done twice.

    Threads that meet work which is not done yet wait for the one that does it. They do not
    wait in a circle: where functions use each other, a thread that would wait for one which
    waits for it does the work itself; so does one that has waited for `PATIENCE`, as a signal may
    have ended the owner's work before it could say so. So what is protected is published in one
    step, and the first to be done is kept (`dict.setdefault`).
    """

    __slots__ = ("__weakref__", "_depth", "_free", "_owner")

    def __init__(self) -> None:
        self._owner: int | None = None
        self._depth = 0
        self._free = threading.Condition(_mutex)
        _onces.add(self)

    def __enter__(self) -> None:
        me = threading.get_ident()
        with _mutex:
            while self._owner not in (None, me) and not self._is_circle(me):
                _waits[me] = self
                try:
                    if not self._free.wait(PATIENCE):
                        break
                finally:
                    del _waits[me]
            if self._owner in (None, me):
                self._owner = me
                self._depth += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _mutex:
            if self._owner == threading.get_ident():
                self._depth -= 1
                if not self._depth:
                    self._owner = None
                    self._free.notify()

    def _is_circle(self, me: int) -> bool:
        """Whether its owner waits, at last, for this thread."""
        owner = self._owner
        seen = set()
        while owner is not None and owner not in seen:
            seen.add(owner)
            awaited = _waits.get(owner)
            owner = None if awaited is None else awaited._owner
            if owner == me:
                return True
        return False

    def __reduce__(self) -> tuple[type[Once], tuple[()]]:
        return Once, ()


def whole_at_forks(lock: Any) -> None:
    """Let a fork wait for a lock of a library too, which may be taken again by its thread."""
    _foreign.append(lock)


_mutex = threading.RLock()
"""Of all `Once`: it is held for a few instructions only."""
_waits: dict[int, Once] = {}
"""What threads wait for."""
_locks: WeakSet[Lock] = WeakSet()
_whole: WeakSet[Lock] = WeakSet()
_onces: WeakSet[Once] = WeakSet()
_foreign: list[Any] = []
_taken: list[Any] = []
"""What the thread that forks has taken for it."""


_IMPORTED = ("symdiff", "numpy", "llvmlite", "flint", "numba", "sympy", "scipy")
"""Packages whose modules are imported when first needed."""


def _before() -> None:
    """Wait until no other thread is in the middle of what is `whole`, or of an import: a
    module that was imported halfway stays so in the child, and locked."""
    until = time.monotonic() + PATIENCE
    while True:
        for lock in [*list(_whole), *_foreign]:
            if lock.acquire(timeout=max(0.0, until - time.monotonic())):
                _taken.append(lock)
        _imp.acquire_lock()  # no import begins any more
        if not _others_import() or time.monotonic() >= until:
            break
        _release()
        time.sleep(1e-3)
    _mutex.acquire()


def _others_import() -> bool:
    """Whether another thread imports a module that we may need."""
    me = threading.get_ident()
    locks: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})
    for name, found in list(locks.items()):
        if name.partition(".")[0] in _IMPORTED and (lock := found()) is not None:
            if getattr(lock, "owner", None) not in (None, me):
                return True
    return False


def _release() -> None:
    with contextlib.suppress(RuntimeError):
        _imp.release_lock()
    while _taken:
        _taken.pop().release()


def _in_parent() -> None:
    _mutex.release()
    _release()


def _in_child() -> None:
    me = threading.get_ident()
    _in_parent()
    _waits.clear()
    for lock in [*_locks, *_whole]:
        lock._renew()
    for once in list(_onces):
        if once._owner != me:
            once._owner, once._depth = None, 0
        once._free = threading.Condition(_mutex)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
