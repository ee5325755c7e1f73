"""Call a compiled body on arrays: dtypes, broadcasting, `out=`, strides, overlap.

The rules are those of a NumPy ufunc with inputs of any number, except that integer
and boolean arrays compute in float64.
"""

from __future__ import annotations

import itertools
import math
import numbers
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symdiff.codegen.llvm import jit, tiers
from symdiff.codegen.llvm.array_loop import BLOCK, EXACT, JOB
from symdiff.codegen.llvm.entry.elementwise import SMALLEST_ALIGNED
from symdiff.codegen.llvm.nontemporal import MOST, PLAIN, SHIFTED, WHOLE, granule
from symdiff.errors import SymdiffError, UnsupportedError
from symdiff.runtime import threads
from symdiff.runtime.scalar.compiled import Body

Array = NDArray[Any]

_FLOAT64, _FLOAT32, _FLOAT16 = (np.dtype(n) for n in ("float64", "float32", "float16"))
_FLAG = np.dtype("uint8")
STREAMED = 32 << 20
"""Bytes of outputs that are written past the caches, where they would not stay."""


class ArgumentError(SymdiffError, TypeError):
    """An argument whose type is not real floating-point, or that does not fit."""


class ObjectError(ArgumentError, UnsupportedError):
    """An argument that is no number and no array; the function may be run by values."""


class ShapeError(SymdiffError, ValueError):
    """Shapes that do not broadcast."""


NUMERIC = frozenset((float, int, bool, np.ndarray, np.float64, np.float32, np.int64, np.bool_))
"""Arguments that are nothing more than numbers and arrays."""


def plain(name: str, value: Any) -> Any:
    """The argument itself, or the array that it is nothing more than.

    Raises
    ------
    ArgumentError : for what would lose its mask, labels, units or operators.
    """
    kind = type(value)
    if kind in NUMERIC or isinstance(value, (numbers.Real, np.generic)):
        return value
    if kind is np.memmap or hasattr(value, "__cuda_array_interface__"):
        return np.asarray(value) if kind is np.memmap else value
    called = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    hint = f"pass an array, such as np.asarray({name})"
    if isinstance(value, np.ndarray):
        hint += "; elementwise functions keep subclasses as f.ufunc"
    if value is None or isinstance(value, (str, bytes)) or callable(value):
        hint = f'if it says what is computed, list it: symgrad(static="{name}")'
    if kind.__module__.startswith("dask."):
        hint = (
            f"{name}.map_blocks(...) applies a function to each block, symdiff.interop.dask.summed adds one "
            f"number for each; or pass {name}.compute()"
        )
    if isinstance(value, str):
        hint = f'make it static: annotate it, {name}: str, or static="{name}"'
    if isinstance(value, np.ma.MaskedArray):
        hint = f"its mask would be lost: pass {name}.filled(...), or the mask as an argument"
    error = ArgumentError if hasattr(kind, "__array__") else ObjectError
    raise error(f"argument {name} is a {called}, which symdiff does not compute with", hint=hint)


def must_lie_by_rows(names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse arrays that are not C-contiguous if a function changes them in another shape.

    Raises
    ------
    ArgumentError : for such arrays.
    """
    for name, v in zip(names, values, strict=False):
        if isinstance(v, np.ndarray) and not v.flags.c_contiguous:
            raise ArgumentError(
                f"argument {name} does not lie row by row in memory, and the function stores in an "
                "array of another shape, which then is a copy in NumPy",
                hint=f"pass np.ascontiguousarray({name})",
            )


def is_scalar(value: Any) -> bool:
    """Whether a value is a plain Python number, which takes the dtype of arrays."""
    return type(value) in (float, int, bool) or (
        isinstance(value, numbers.Real) and not isinstance(value, np.generic)
    )


def prepare(name: str, value: Any) -> float | Array:
    """A Python float, or an array of real numbers; refuses anything else."""
    if is_scalar(value):
        try:
            made_float = float(value)
        except OverflowError:
            raise ArgumentError(f"argument {name} is too large for a float") from None
        if type(value) is int and int(made_float) != value:
            raise _inexact(name)
        return made_float
    made = np.asarray(value)
    if made.dtype.kind in "iu":
        return _integers(name, made)
    if made.dtype.kind == "b" or made.dtype in (_FLOAT64, _FLOAT32, _FLOAT16):
        return made
    if made.dtype.kind == "f" and made.dtype.newbyteorder("=") in (_FLOAT64, _FLOAT32, _FLOAT16):
        return made
    what = (
        f"of dtype {made.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
    )
    raise ArgumentError(
        f"argument {name} is {what}; symdiff computes with real numbers in float64 or float32",
        hint="convert it with .astype(float)",
    )


def _integers(name: str, given: Array) -> Array:
    """An array of integers that doubles represent exactly."""
    if given.dtype.kind == "u" or given.dtype.itemsize < 4:
        raise ArgumentError(
            f"argument {name} is of dtype {given.dtype}, whose arithmetic wraps around; symdiff "
            "computes with real numbers",
            hint="convert it with .astype(float)",
        )
    if (
        given.dtype.itemsize == 8
        and given.size
        and not -EXACT <= given.min() <= given.max() <= EXACT
    ):
        raise _inexact(name)
    return given


def _inexact(name: str) -> ArgumentError:
    return ArgumentError(
        f"argument {name} has integers beyond 2**53, which no float holds exactly",
        hint="pass floats",
    )


def result_dtype(values: Sequence[float | Array], forced: str | None) -> np.dtype[Any]:
    """float64 unless all arrays are narrower floats, or another is forced."""
    if forced is not None:
        return np.dtype(forced)
    found = [v.dtype for v in values if not isinstance(v, float)]
    if not found or any(d.kind in "biu" for d in found):
        return _FLOAT64
    return np.dtype(np.result_type(*found).name)  # the one object of this kind


def check_counts(
    name: str, args: Sequence[Any], inputs: int, out: Sequence[Any] | None, outputs: int
) -> None:
    """A kernel of so many inputs and outputs is called with as many arguments and places."""
    if len(args) != inputs:
        raise ArgumentError(f"{name} takes {inputs} arguments, {len(args)} were given")
    if out is not None and len(out) != outputs:
        raise ArgumentError(f"out has {len(out)} entries for {outputs} outputs")


def broadcast(values: Sequence[float | Array]) -> tuple[int, ...]:
    """The shape of all arguments together."""
    shapes = {v.shape for v in values if not isinstance(v, float)} - {()}
    if len(shapes) <= 1:
        return next(iter(shapes), ())
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = ", ".join(f"{v.shape}" if not isinstance(v, float) else "()" for v in values)
        raise ShapeError(f"the arguments have shapes that do not broadcast: {text}") from None


def leading(values: Sequence[float | Array], shape: tuple[int, ...]) -> Array | None:
    """The first full-sized input, whose memory order the results have."""
    return next((v for v in values if not isinstance(v, float) and v.shape == shape), None)


def dense(value: float | Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> float | Array:
    """An input as a float, or as a C-contiguous array of this dtype and the full size."""
    if isinstance(value, float):
        return value
    if value.ndim == 0:
        return float(value)
    if value.dtype == dtype and value.shape == shape and value.flags.c_contiguous:
        return value
    made = np.empty(shape, dtype)
    made[...] = value
    return made


def check_out(given: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse an `out` array that a ufunc would refuse."""
    if not isinstance(given, np.ndarray):
        raise ArgumentError(f"out must be an array or None, not {type(given).__name__}")
    if given.shape != shape:
        raise ShapeError(f"out has shape {given.shape}, the result has shape {shape}")
    if not np.can_cast(dtype, given.dtype, "same_kind"):
        raise ArgumentError(f"out has dtype {given.dtype}, which cannot hold {dtype}")
    if not given.flags.writeable:
        raise ShapeError("out is read-only")


@dataclass(frozen=True, slots=True)
class Bodies:
    """What a kernel runs over arrays; see `codegen.llvm.tiers`. Each is compiled when it is
    asked for first.

    Attributes
    ----------
    lean, between : None if the kernel has none; what `between` returns too.
    tested : what decides where both are there, or is alone.
    balls : the addresses of a body in ball arithmetic and of its plan, or None.
    """

    tested: Callable[[], Body]
    lean: Callable[[], Body] | None = None
    between: Callable[[], Body | None] | None = None
    balls: tuple[int, int] | None = None

    @property
    def repeats(self) -> bool:
        """Whether an element may be computed again from its arguments."""
        return any(x is not None for x in (self.lean, self.between, self.balls))


class Call:
    """One call of a kernel on arrays.

    Parameters
    ----------
    bodies : for the dtype in which to compute.
    compute, result : the dtypes of the computation and of the results.
    cost : estimated nanoseconds per element.
    parallel : as for `Kernel`.

    Attributes
    ----------
    sure : whether no flag has been written, as no element was flagged.
    """

    def __init__(
        self,
        bodies: Bodies,
        compute: np.dtype[Any],
        result: np.dtype[Any],
        cost: float,
        parallel: Any,
    ) -> None:
        self.bodies, self.compute, self.result = bodies, compute, result
        self.cost, self.parallel = cost, parallel
        self.flagged = False
        self.flags: Array | None = None
        self.sure, self.lock = False, Lock()

    def run(
        self,
        values: Sequence[float | Array],
        shape: tuple[int, ...],
        out: Sequence[Array | None],
        flagged: bool,
    ) -> tuple[list[Array], Array | None]:
        """The outputs, in `out` where that is given, and a flag for each element."""
        inputs = [np.asarray(v, self.compute) for v in values]
        like = leading(inputs, shape)
        results: list[Array] = []
        targets: list[Array] = []
        for given in out:
            if given is None:
                target = _empty(shape, self.compute, like)
            elif given.dtype == self.compute and not any(self._clash(given, a) for a in inputs):
                target = given
            else:
                target = np.empty(shape, self.compute)
            targets.append(target)
            results.append(target if given is None else given)
        self.flagged = flagged
        flags = self.flags = _empty(shape, _FLAG, like) if flagged else None
        lean = None if self.bodies.lean is None else self.bodies.lean()
        self.sure = lean is not None and lean.spec.sure
        operands = [np.broadcast_to(a, shape) if a.shape != shape else a for a in inputs]
        operands += targets
        if flags is not None:
            operands.append(flags)
        if math.prod(shape):
            self.launch(operands, len(inputs))
        for target, (k, given) in zip(targets, enumerate(out), strict=True):
            if given is not None:
                if target is not given:
                    np.copyto(given, target, casting="same_kind")
            elif self.result != self.compute:
                results[k] = target.astype(self.result)
        return results, None if self.sure else flags

    def launch(self, operands: Sequence[Array], inputs: int) -> None:
        """Reduce the dimensions to two and run the body over them."""
        addresses = [a.ctypes.data for a in operands]
        items = [a.itemsize for a in operands]
        shape, strides = _coalesce(operands)
        while len(shape) < 2:
            shape, strides = [1, *shape], [[0] * len(operands), *strides]
        order = sorted(range(len(shape)), key=lambda d: shape[d])
        rows, row = sorted(order[-2:])
        loops = [d for d in range(len(shape)) if d not in (rows, row)]
        for index in itertools.product(*(range(shape[d]) for d in loops)):
            moved = addresses
            if loops:
                moved = [
                    a + sum(i * strides[d][k] for i, d in zip(index, loops, strict=True))
                    for k, a in enumerate(addresses)
                ]
            table = array("q", [*moved, *strides[row], *strides[rows], *items])
            self.rows(table, inputs, shape[row], shape[rows])

    def rows(self, table: array[int], inputs: int, row: int, rows: int) -> None:
        """Run the bodies over `rows` times `row` elements, on several threads if it pays.

        `table` lists the operands' addresses, strides along and across rows, and items.
        """
        count, block = len(table) // 4, BLOCK
        lists = [table.buffer_info()[0] + 8 * count * k for k in range(4)]
        bodies = self.bodies
        elements = row * rows
        lead, stream = self._placed(table, inputs, elements)

        def job(
            address: int, width: int, memory: int, stream: int, count: int = count
        ) -> array[int]:
            work = memory + (count + tiers.EXTRA) * block * 8
            last = [width, memory, work, stream]
            return array("q", [address, *lists, inputs, count, row, 0, 0, *last])

        def part(first: int, last: int) -> None:
            memory = np.empty((count + tiers.EXTRA) * block + count, np.uint64)
            lean = None if bodies.lean is None else bodies.lean()
            own = bodies.tested() if lean is None else lean
            at, first_of = memory.ctypes.data, (own.address, own.width)
            sure = lean is not None and lean.spec.sure
            balls, plan = bodies.balls or (0, 0)
            jobs = [
                job(*(first_of if lean is not None else (0, 1)), at, stream, count - sure),
                job(*(first_of if lean is None else (0, 1)), at, stream),
                job(0, 1, at, 0),
                job(balls, 1, at, plan),
            ]
            makers = (bodies.lean, bodies.tested, bodies.between)
            there = (*makers, bodies.balls)
            addresses = [
                0 if what is None else j.buffer_info()[0]
                for j, what in zip(jobs, there, strict=True)
            ]
            begin = first + (lead - first) % own.width
            counters = len(("tried", "raised"))
            record = array("q", [*addresses, first, last, *([0] * counters), begin, sure])
            while missing := own.run(record.buffer_info()[0]):
                self._clear()
                make = makers[missing]
                assert make is not None
                found = make()
                if found is None:
                    record[missing] = 0
                else:
                    jobs[missing][0], jobs[missing][_WIDTH] = found.address, found.width

        threads.run(part, elements, threads.count(elements, self.cost, self.parallel))

    def _clear(self) -> None:
        """No element is flagged yet; from here on some may be."""
        with self.lock:
            if self.sure and self.flags is not None:
                self.flags.fill(0)
            self.sure = False

    def _placed(self, table: array[int], inputs: int, elements: int) -> tuple[int, int]:
        """The first element of which an output lies at a multiple of a register's size, and
        how to write outputs, past the caches if they are too large for them."""
        count, size = len(table) // 4, self.compute.itemsize
        starts = table[inputs : count - self.flagged]
        if elements < SMALLEST_ALIGNED or not starts:
            return 0, PLAIN
        register = jit.host().bits // 8
        short = -starts[0] % register
        if short % size:
            short = 0
        large = elements * size * len(starts) >= STREAMED and len(starts) <= MOST
        how, unit = PLAIN, granule(register, size)
        if large and jit.has_flags():
            if all((a + short) % register == 0 for a in starts):
                how = WHOLE
            elif unit is not None and all((a + short) % unit == 0 for a in starts):
                how = SHIFTED
        return short // size, how

    def _clash(self, out: Array, a: Array) -> bool:
        """Whether writing `out` element by element may spoil elements of `a` still to be
        read."""
        if not np.may_share_memory(out, a):
            return False
        same = (out.ctypes.data, out.strides, out.shape) == (a.ctypes.data, a.strides, a.shape)
        return self.bodies.repeats or not same


_WIDTH = JOB.index("width")


def _empty(shape: tuple[int, ...], dtype: np.dtype[Any], like: Array | None) -> Array:
    """A new array in the memory order of the first full-sized input."""
    if like is None:
        return np.empty(shape, dtype)
    return np.empty_like(like, dtype, subok=False)


def _coalesce(operands: Sequence[Array]) -> tuple[list[int], list[list[int]]]:
    """Order the dimensions by stride, largest first, and join those that lie in one.

    Returns the lengths, and for each dimension the strides of all operands.
    """
    first = operands[0]
    dims = [(n, [a.strides[d] for a in operands]) for d, n in enumerate(first.shape) if n != 1]
    dims.sort(key=lambda item: [-abs(s) for s in reversed(item[1])])
    shape: list[int] = []
    strides: list[list[int]] = []
    for n, steps in dims:
        if shape and all(s == t * n for s, t in zip(strides[-1], steps, strict=True)):
            shape[-1] *= n
            strides[-1] = steps
        else:
            shape.append(n)
            strides.append(steps)
    return shape, strides
