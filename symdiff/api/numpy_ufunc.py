"""Elementwise functions as ufuncs of NumPy, made by its C interface.

NumPy's own machinery broadcasts, casts, masks (`where=`), allocates or takes the results (`out=`), hands
subclasses and other libraries their protocols, and calls a function for each run of elements, which
here calls the compiled kernel on the elements where they lie.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError

_FROM_FUNCTIONS = 1
"""The place of `PyUFunc_FromFuncAndData` in NumPy's table of functions."""
_NONE = -1
"""No identity."""
_ALL_FLAGS = 0x3F
"""The floating-point exceptions of all processors."""
_LOOP = ctypes.CFUNCTYPE(
    None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_ssize_t),
    ctypes.POINTER(ctypes.c_ssize_t), ctypes.c_void_p,
)  # fmt: skip
_KEPT: list[Any] = []
"""What ufuncs point to: NumPy keeps no reference to it."""


class _Elements:
    """Elements of an operand in memory, for NumPy."""

    def __init__(self, address: int, count: int, step: int, dtype: np.dtype[Any]) -> None:
        self.__array_interface__ = {
            "data": (address, False), "shape": (count,), "strides": (step,),
            "typestr": dtype.str, "version": 3,
        }  # fmt: skip


def made(call: Callable[..., Any], name: str, doc: str, nin: int, nout: int) -> np.ufunc:
    """A ufunc of a function of arrays.

    Parameters
    ----------
    call : takes nin arrays of one axis or numbers, and a list of nout arrays for the results, all
        of one dtype.
    """
    kinds = [np.dtype(t) for t in (np.float16, np.float32, np.float64)]
    loops = [_loop(call, kind, nin, nout) for kind in kinds]
    functions = (ctypes.c_void_p * len(kinds))(*(ctypes.cast(f, ctypes.c_void_p) for f in loops))
    data = (ctypes.c_void_p * len(kinds))()
    types = ctypes.create_string_buffer(b"".join(
        bytes([k.num]) * (nin + nout) for k in kinds
    ))  # fmt: skip
    texts = [ctypes.create_string_buffer(s.encode()) for s in (name, doc)]
    _KEPT.append((loops, functions, data, types, texts))
    result: np.ufunc = _maker()(functions, data, types, len(kinds), nin, nout, _NONE, *texts, 0)
    return result


def _maker() -> Any:
    """`PyUFunc_FromFuncAndData`."""
    core: Any = sys.modules.get("numpy._core._multiarray_umath")
    if core is None or not hasattr(core, "_UFUNC_API"):
        raise UnsupportedError("this NumPy has no C interface of ufuncs")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(core._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
        ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
    )  # fmt: skip
    return prototype(table[_FROM_FUNCTIONS])


def _loop(call: Callable[..., Any], kind: np.dtype[Any], nin: int, nout: int) -> Any:
    """What NumPy calls for a run of elements. Nothing can be raised from there: an error is shown as
    those of destructors are, and the elements are nan."""
    clear = getattr(ctypes.CDLL(None), "feclearexcept", None) if sys.platform != "win32" else None

    def loop(places: Any, counts: Any, steps: Any, _: Any) -> None:
        count = counts[0]
        every = [np.asarray(_Elements(places[k], count, steps[k], kind)) for k in range(nin + nout)]
        values, targets = every[:nin], every[nin:]
        ends = [_span(places[k], count, steps[k], kind.itemsize) for k in range(nin + nout)]
        alone = all(
            ends[j][1] <= ends[k][0] or ends[k][1] <= ends[j][0]
            or (j < nin and places[j] == places[k] and steps[j] == steps[k] != 0)
            for k in range(nin, nin + nout) for j in range(k)
        )  # fmt: skip
        try:
            if alone and count > 1:
                call([a[0] if s == 0 else a for a, s in zip(values, steps, strict=False)], targets)
            else:  # a result may be an argument of the next, as in reductions
                for i in range(count):
                    call([a[i] for a in values], [t[i : i + 1] for t in targets])
        except BaseException:
            for target in targets:
                target[:] = np.nan
            raise
        finally:
            if clear is not None:
                clear(_ALL_FLAGS)  # raised on the way, and no concern of NumPy

    return _LOOP(loop)


def _span(address: int, count: int, step: int, size: int) -> tuple[int, int]:
    """The addresses between which so many elements lie."""
    last = address + step * max(0, count - 1)
    return min(address, last), max(address, last) + size


__all__ = ["made"]
