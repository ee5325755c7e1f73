"""Signals, such as Ctrl-C, that come while a kernel runs; see `symdiff.codegen.llvm.loops.interrupts`."""

from __future__ import annotations

import ctypes
import functools
import sys

from symdiff.codegen.llvm.loops.interrupts import API, ERROR, LEFT

Table = ctypes.Array[ctypes.c_int64]
ENDLESS = 2**62


@functools.cache
def _table() -> Table:
    """What kernels ask, which lives as long as the process."""
    return _made(ENDLESS)


def _made(left: int) -> Table:
    places = [ctypes.cast(getattr(ctypes.pythonapi, n), ctypes.c_void_p).value or 0 for n in API]
    return (ctypes.c_int64 * (LEFT + 1))(*places, *(0 for _ in ERROR), left)


def table() -> int:
    """The address of the table of kernels; 0 where Python cannot be asked."""
    if sys.implementation.name != "cpython":
        return 0
    return ctypes.addressof(_table())


def watched() -> int:
    """How often loops that end by a condition have looked at the table so far, about once a millisecond."""
    return ENDLESS - _table()[LEFT]


def limited(watches: int) -> Table | None:
    """A table of its own for a run that may look at it so often; None where Python cannot be asked."""
    return _made(watches) if sys.implementation.name == "cpython" else None


def pending(errors: Table | None = None) -> None:
    """Raise the error of a signal that ended a kernel, if there is one."""
    errors = _table() if errors is None else errors
    held = errors[len(API) + 1]
    if not held:
        return
    given = list(errors[len(API) : LEFT])
    errors[len(API) : LEFT] = [0] * len(ERROR)
    error: BaseException = ctypes.cast(held, ctypes.py_object).value
    for place in filter(None, given):
        ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(place))
    raise error
