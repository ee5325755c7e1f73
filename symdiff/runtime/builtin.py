"""Python builtins whose code we compiled ourselves, and what that code needs to know.

Where the layout of objects is not the known one (another Python than CPython, free
threading, 32 bits) there are no builtins, and the callers take their general path.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.array_loop import TABLE
from symdiff.codegen.llvm.entry import dispatch
from symdiff.codegen.llvm.entry import loops as loop_entry
from symdiff.codegen.llvm.entry.elementwise import API
from symdiff.codegen.llvm.entry.objects import ARRAY

_METH_FASTCALL, _METH_KEYWORDS = 0x80, 0x2
_NEW_FROM_DESCR = 94
"""The index of `PyArray_NewFromDescr` in NumPy's table of functions."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("method", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Owner:
    """Keeps what a builtin uses alive."""

    def __init__(self, *things: object) -> None:
        self.things = things


@functools.cache
def float_layout() -> tuple[int, int] | None:
    """Where a Python float keeps its type and its value; None if we cannot know."""
    word = ctypes.sizeof(ctypes.c_void_p)
    if sys.implementation.name != "cpython" or "free-threading" in sys.version or word != 8:
        return None
    return object.__basicsize__ - word, float.__basicsize__ - 8


@functools.cache
def double_type() -> int:
    """The address of `np.float64`, if its numbers lie in memory as Python's floats do; else 0,
    which is no object's type."""
    layout, value = float_layout(), np.float64(1.5)
    alike = layout is not None and np.float64.__basicsize__ == float.__basicsize__
    if not alike or ctypes.c_double.from_address(id(value) + layout[1]).value != 1.5:  # type: ignore[index]
        return 0
    return id(np.float64)


def _api(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _fill(linked: jit.Linked, table: str, *addresses: int) -> None:
    values = (ctypes.c_void_p * len(addresses))(*addresses)
    ctypes.memmove(linked.address(table), values, ctypes.sizeof(values))


@functools.cache
def _definition(address: int, flags: int) -> _MethodDef:
    """What Python reads of a builtin, also while it frees that: the collector may have cleared the owner
    by then, so definitions stay, one for each address."""
    return _MethodDef(b"kernel", address, flags, None)


def _new(
    address: int, self: object, owner: _Owner, flags: int = _METH_FASTCALL
) -> Callable[..., Any]:
    """A builtin for a METH_FASTCALL function; `owner` is freed with it."""
    definition = _definition(address, flags)
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object
    )
    made: Callable[..., Any] = kind(("PyCFunction_NewEx", ctypes.pythonapi))(
        definition, self, owner
    )
    return made


def scalar_builtin(linked: jit.Linked, doubles: bool, integers: bool = True) -> Callable[..., Any]:
    """The builtin of a module that `driver.print_entry` ends; NumPy's doubles are refused if
    not `doubles`, and Python's integers if not `integers`."""
    addresses = _addresses(TABLE)
    if not doubles:
        addresses[TABLE.index("numpy.float64")] = 0
    _fill(linked, "table", *addresses)
    bound = None if integers else NotImplemented
    return _new(linked.address("entry"), bound, _Owner(linked))


@functools.cache
def arrays_are_known() -> bool:
    """Whether arrays lie in memory as we think they do; tried on one."""
    if float_layout() is None:
        return False
    array = np.zeros((3, 5))[1:]

    def field(name: str, kind: Any) -> Any:
        return kind.from_address(id(array) + ARRAY[name]).value

    dims, strides = field("dims", ctypes.c_void_p), field("strides", ctypes.c_void_p)
    return (
        field("data", ctypes.c_void_p) == array.ctypes.data
        and field("nd", ctypes.c_int) == 2
        and list((ctypes.c_ssize_t * 2).from_address(dims)) == [2, 5]
        and list((ctypes.c_ssize_t * 2).from_address(strides)) == [40, 8]
        and field("descr", ctypes.c_void_p) == id(array.dtype)
        and bool(field("flags", ctypes.c_int) & 1) == array.flags.c_contiguous
    )


def _numpy_function(index: int) -> int:
    """A function of NumPy's C interface."""
    core: Any = getattr(np, "_core", None) or np.core
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    table = get(core._multiarray_umath._ARRAY_API, None)
    return ctypes.c_void_p.from_address(table + 8 * index).value or 0


def _addresses(names: Sequence[str]) -> list[int]:
    """The addresses of Python's and NumPy's objects and functions."""
    known = {
        "float": id(float),
        "int": id(int),
        "numpy.float64": double_type(),
        "NotImplemented": id(NotImplemented),
        "ndarray": id(np.ndarray),
        "None": id(None),
        "True": id(True),
        "str": id(str),
        "dict": id(dict),
        "list": id(list),
        "dtype.float64": id(np.dtype(np.float64)),
        "dtype.int64": id(np.dtype(np.int64)),
    }
    return [
        known[n] if n in known
        else _numpy_function(_NEW_FROM_DESCR) if n == "PyArray_NewFromDescr"
        else _api(n)
        for n in names
    ]  # fmt: skip


def fill_array_api(driver: jit.Linked) -> None:
    """Tell the driver's module where Python's and NumPy's functions are."""
    _fill(driver, "api", *_addresses(API))


def array_builtin(
    driver: jit.Linked, memory: ctypes.Array[ctypes.c_int64], *alive: object
) -> Callable[..., Any]:
    """The builtin that runs the bodies of a record (`arraycall.RECORD`) on arrays."""
    return _new(driver.address("call"), _capsule(memory), _Owner(driver, memory, *alive))


def dispatch_builtins(
    linked: jit.Linked, memory: ctypes.Array[ctypes.c_int64], *alive: object
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The builtin in front of the entries and forms of a record (`dispatch.RECORD`), and the one that
    asks the entries alone."""
    _fill(linked, "dispatch.api", *_addresses(dispatch.API))
    owner = _Owner(linked, memory, *alive)
    capsule = _capsule(memory)
    flags = _METH_FASTCALL | _METH_KEYWORDS
    front = _new(linked.address("dispatch"), capsule, owner, flags)
    return front, _new(linked.address("ask"), capsule, owner)


def loop_builtin(
    linked: jit.Linked, memory: ctypes.Array[ctypes.c_int64], *alive: object
) -> Callable[..., Any]:
    """The builtin that calls the kernel of a record (`nestentry.RECORD`)."""
    _fill(linked, "loops.api", *_addresses(loop_entry.API))
    return _new(linked.address("loops"), _capsule(memory), _Owner(linked, memory, *alive))


def _capsule(memory: ctypes.Array[ctypes.c_int64]) -> object:
    """A capsule without a name that points to a record."""
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )
    made: object = new(ctypes.addressof(memory), None, None)
    return made
