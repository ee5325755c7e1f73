"""Signals, such as Ctrl-C, that come while a kernel runs; see `symdiff.codegen.llvm.loops.interrupts`."""

from __future__ import annotations

import ctypes
import functools
import sys

from symdiff.codegen.llvm.loops.interrupts import API, ERROR


@functools.cache
def _table() -> ctypes.Array[ctypes.c_int64]:
    """What kernels ask, which lives as long as the process."""
    places = [ctypes.cast(getattr(ctypes.pythonapi, n), ctypes.c_void_p).value or 0 for n in API]
    return (ctypes.c_int64 * (len(API) + len(ERROR)))(*places)


def table() -> int:
    """The address of the table of kernels; 0 where Python cannot be asked."""
    if sys.implementation.name != "cpython":
        return 0
    return ctypes.addressof(_table())


def pending() -> None:
    """Raise the error of a signal that ended a kernel, if there is one."""
    errors = _table()
    held = errors[len(API) + 1]
    if not held:
        return
    given = list(errors[len(API) :])
    errors[len(API) :] = [0] * len(ERROR)
    error: BaseException = ctypes.cast(held, ctypes.py_object).value
    for place in filter(None, given):
        ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(place))
    raise error
