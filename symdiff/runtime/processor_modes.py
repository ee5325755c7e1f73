"""The floating-point environment of a thread: in which direction the processor rounds, and what it raised."""

from __future__ import annotations

import ctypes
import functools
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

UPWARD, DOWNWARD, TO_NEAREST = range(3)
_MODES = {
    "x86_64": (0x800, 0x400, 0x20, 0x8 | 0x4),
    "aarch64": (0x400000, 0x800000, 0x10, 0x4 | 0x2),
}
"""The values of FE_UPWARD, FE_DOWNWARD, FE_INEXACT, and FE_OVERFLOW with FE_DIVBYZERO, by processor."""


class Environment:
    """The floating-point environment of the current thread."""

    def __init__(self, library: Any, up: int, down: int, inexact: int, infinite: int) -> None:
        self._set, self._get, self._test = (
            library.fesetround,
            library.fegetround,
            library.fetestexcept,
        )
        self._clear, self._modes = library.feclearexcept, (up, down, 0)
        self._inexact, self._infinite = inexact, infinite

    @contextmanager
    def direction(self, which: int) -> Iterator[None]:
        """Round up, down or to nearest, in this thread."""
        before = self._get()
        self._set(self._modes[which])
        try:
            yield
        finally:
            self._set(before)

    def clear(self) -> None:
        """Forget that operations were inexact, or made infinities."""
        self._clear(self._inexact | self._infinite)

    def is_inexact(self) -> bool:
        """Whether an operation was since."""
        return bool(self._test(self._inexact))

    def made_infinities(self) -> bool:
        """Whether an operation of numbers gave an infinity since."""
        return bool(self._test(self._infinite))


@functools.cache
def environment() -> Environment | None:
    """The environment, if its direction can be set."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine()
    )
    try:  # the C library of the process
        found = Environment(ctypes.CDLL(None), *_MODES[machine])
    except (KeyError, OSError, TypeError, AttributeError):
        return None
    tenth, third = float("0.1"), float("3")
    with found.direction(UPWARD):
        up = tenth / third
    with found.direction(DOWNWARD):
        down = tenth / third
    return found if up > tenth / third * (1 - 2.0**-52) and up > down else None


@contextmanager
def to_nearest() -> Iterator[None]:
    """Round to nearest in this thread, for Python code that a probed kernel calls."""
    found = environment()
    if found is None:
        yield
        return
    with found.direction(TO_NEAREST):
        yield


__all__ = ["DOWNWARD", "TO_NEAREST", "UPWARD", "Environment", "environment", "to_nearest"]
