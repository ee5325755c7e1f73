"""What callbacks of compiled code have to tell once it has returned.

C code cannot pass an exception on. Several threads may call one kernel at a time, and share
their calls with others (`runtime.threads`), so each finds what belongs to its own call.
"""

from __future__ import annotations

import ctypes

from symdiff.process.locks import Lock
from symdiff.runtime.scalar.fallback import tell
from symdiff.runtime.threads import caller

FEWER = 'pass fewer elements a call, as each call has a budget of its own; or use accuracy="fast" if the digits do not matter'


class Outcome:
    """Errors of the calls of one kernel, and what they spent on flagged values.

    Attributes
    ----------
    used : not 0 where there may be something to `finish`; compiled code looks.
    """

    def __init__(self, name: str) -> None:
        self.name, self.used = name, ctypes.c_int64(0)
        self._lock = Lock()
        self._errors: dict[int, BaseException] = {}
        self._spent: dict[int, int] = {}
        self._left: dict[int, int] = {}

    def fail(self, error: BaseException) -> None:
        """Raise this after the call."""
        with self._lock:
            self._errors.setdefault(caller(), error)
            self.used.value = 1

    @property
    def failed(self) -> bool:
        """Whether the call of this thread is to raise an error."""
        return caller() in self._errors

    @property
    def spent(self) -> int:
        """What the call of this thread spent so far."""
        return self._spent.get(caller(), 0)

    def spend(self, work: int) -> None:
        """Count work for the call of this thread."""
        with self._lock:
            me = caller()
            self._spent[me] = self._spent.get(me, 0) + work
            self.used.value = 1

    def leave(self) -> None:
        """Count a value that is left as it is, as too much was spent."""
        with self._lock:
            me = caller()
            self._left[me] = self._left.get(me, 0) + 1
            self.used.value = 1

    def finish(self) -> None:
        """After a call: report what remains flagged, raise what went wrong."""
        me = caller()
        with self._lock:
            error, left = self._errors.pop(me, None), self._left.pop(me, 0)
            self._spent.pop(me, None)
            self.used.value = int(bool(self._errors or self._spent or self._left))
        if error is not None:
            raise error
        if left:
            tell(
                left,
                self.name,
                f": {left} values are not proven accurate: the budget of a call for ball arithmetic was not enough",
                FEWER,
            )
