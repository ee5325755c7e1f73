"""Arguments of kernels with arrays: what is given as what is computed with, and sizes."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.codegen.llvm.entry.objects import ARRAY as FIELDS
from symdiff.ir import Expr, topological
from symdiff.ir.integers import axis_of
from symdiff.ir.loop_program import (
    FLOORDIV,
    INDEX,
    LARGEST,
    MOD,
    REAL_OF,
    LoopProgram,
    Parameter,
    name_of,
)
from symdiff.runtime import builtin
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.elementwise import ArgumentError, Array, ShapeError

FLOAT64, FLOAT32, INT64, BYTE = (np.dtype(n) for n in ("float64", "float32", "int64", "uint8"))
_NOTHING = np.zeros(8)
"""Where arrays without elements are said to lie: what is loaded from there does not count."""
_READY = 0x101
"""NumPy's flags of arrays that lie row by row and are aligned."""


def given(p: Parameter, value: Any) -> Any:
    """An argument as a number or an array that has the right number of axes."""
    rank = len(p.type.shape)
    if rank:
        made = value if type(value) is np.ndarray else np.asarray(value)
        if made.ndim != rank:
            axes = "axis" if rank == 1 else "axes"
            raise ShapeError(
                f"argument {p.name} has the shape {made.shape}; it must have {rank} {axes}"
            )
        if p.type.kind == "f":
            return elementwise.prepare(p.name, made)
        if made.dtype.kind not in "biu":
            raise ArgumentError(f"argument {p.name} is of dtype {made.dtype}, not of integers")
        if made.dtype.kind == "u" and made.size and made.max() > LARGEST:
            raise ArgumentError(f"argument {p.name} has integers that do not fit in 64 bits")
        return made != 0 if p.type.kind == "b" else made
    if p.type.kind != "f":
        try:
            return operator.index(value.item() if isinstance(value, np.ndarray) else value)
        except TypeError:
            raise ArgumentError(f"argument {p.name} is not an integer: {value!r}") from None
    number = elementwise.prepare(p.name, value)
    if isinstance(number, float):
        return number
    if number.shape:
        raise ShapeError(f"argument {p.name} has the shape {number.shape}; it must be a number")
    return number[()]


def laid_out(value: Any, dtype: np.dtype[Any]) -> Array:
    """The array itself if it can be read as it lies, else a copy."""
    if value.dtype is dtype and value.flags.num & _READY == _READY:
        made: Array = value
        return made
    made = np.asarray(value, dtype, "C")
    return made if made.flags.aligned else made.copy()


def mismatch(p: Parameter, axis: int, size: int, known: int, program: LoopProgram) -> ShapeError:
    """The error about the size of an axis that others contradict."""
    n, at = p.type.shape[axis], program.locations.get(axis_of(p.name, axis))
    hint = "" if at is None else "pass arrays whose sizes fit"
    if n.op is ir.CONST:
        return ShapeError(f"axis {axis} of {p.name} has the size {size}, not {known}", at, hint)
    other, place = next(
        (q.name, q.type.shape.index(n)) for q in program.params if n in q.type.shape
    )
    return ShapeError(
        f"axis {axis} of {p.name} has the size {size}, axis {place} of {other} has the size "
        f"{known}; both are {name_of(n)}",
        at,
        hint,
    )


def address(a: Array) -> int:
    """Where the elements of an array lie."""
    if not a.size:
        return int(_NOTHING.ctypes.data)
    if builtin.arrays_are_known():
        return ctypes.c_void_p.from_address(id(a) + FIELDS["data"]).value or 0
    return int(a.ctypes.data)


def view(address: int, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array over memory of the kernel."""
    size = math.prod(shape) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    buffer: Any = (ctypes.c_char * size).from_address(address)
    made: Array = np.frombuffer(buffer, dtype).reshape(shape)
    return made


def put(place: Array, value: Any) -> Array:
    """Write an output where the caller wants it."""
    if place is not value:
        made = np.asarray(value)
        elementwise.check_out(place, made.shape, made.dtype)
        np.copyto(place, made, casting="same_kind")
    return place


def integer_of(e: Expr, places: Mapping[str, int]) -> Callable[[Sequence[Any]], int]:
    """The size of an axis, at least 0, from frame in which those of the parameters stand."""
    if e.op is INDEX:
        return operator.itemgetter(places[name_of(e)])
    if (k := ir.integer(e)) is not None:
        return lambda frame: max(0, k)
    return lambda frame: max(0, whole_value(e, lambda n: frame[places[name_of(n)]]))


def whole_value(e: Expr, named: Callable[[Expr], int]) -> int:
    """The value of an integer, or of a condition on integers, from those of the names in it. It must
    not depend on real numbers; what is the same on both sides of a condition on these does not."""
    values: dict[Expr, Any] = {}
    for n in topological((e,)):
        if n.op is INDEX:
            values[n] = named(n)
        elif n.op is ir.CONST:
            values[n] = int(n.value)
        elif n.op is ir.BOOL:
            values[n] = n.value
        else:
            args = [values[a] for a in n.args]
            if n.op is ir.WHERE and args[0] is None:
                values[n] = args[1] if args[1] == args[2] else None
            elif n.op not in _WHOLE or None in args:
                values[n] = None  # real
            else:
                values[n] = _WHOLE[n.op](*args)
    return int(values[e])


_WHOLE: dict[ir.Op, Callable[..., Any]] = {
    ir.ADD: operator.add, ir.SUB: operator.sub, ir.MUL: operator.mul, ir.NEG: operator.neg,
    ir.ABS: abs, ir.POW: operator.pow,
    FLOORDIV: lambda a, b: a // b if b else 0, MOD: lambda a, b: a % b if b else 0,
    ir.LT: operator.lt, ir.LE: operator.le, ir.EQ: operator.eq,
    ir.NOT: operator.not_, ir.AND: lambda a, b: a and b, ir.OR: lambda a, b: a or b,
    ir.WHERE: lambda c, a, b: a if c else b, REAL_OF: lambda a: a,
}  # fmt: skip
"""Operations on integers, as in `symdiff.ir.loop_program`."""
