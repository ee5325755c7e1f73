"""`StructuredKernel`: outputs of a program with arrays and loops, compiled when first called."""

from __future__ import annotations

import ctypes
import operator
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.codegen import jit
from symdiff.codegen.nestloops import FIRST_CHECK, NO_ROUTINE
from symdiff.codegen.nests import FIXED, layout_of, lowered, print_nests
from symdiff.errors import Location, SymdiffError
from symdiff.functions import BUILTIN
from symdiff.ir import Expr, encode, topological
from symdiff.routines import ROUTINES
from symdiff.runtime import arrays, cache, compiled, threads
from symdiff.runtime.arrays import ArgumentError, Array, ShapeError
from symdiff.structure import (
    ARRAY,
    FLOORDIV,
    INDEX,
    MOD,
    Call,
    Parameter,
    Structured,
    Type,
    expressions,
    kind_of,
    name_of,
    types,
    walk,
)

_FLOAT64, _FLOAT32, _INT64, _BYTE = (np.dtype(n) for n in ("float64", "float32", "int64", "uint8"))
_SOURCES = ("symdiff.structure", "symdiff.integers", "symdiff.codegen.nests",
            "symdiff.codegen.nestloops", "symdiff.codegen.nestmemory", "symdiff.codegen.nestscope",
            "symdiff.codegen.nestlife", "symdiff.codegen.nestlanes", "symdiff.codegen.nestspans")  # fmt: skip
_NOTHING = np.zeros(8)
"""Where arrays without elements are said to lie: what is loaded from there does not count."""


class ElementError(SymdiffError, IndexError):
    """An index outside of an array, found while computing."""


class ComputationError(SymdiffError, ValueError):
    """A value that the function refuses, found while computing."""


class StructuredKernel:
    """Arrays and numbers computed from arrays and numbers.

    Parameters
    ----------
    program : what is computed; its completed operations are written out already.
    dtype : "float64" or "float32" to compute in that only; None follows the arguments.
    parallel : True, False, or "auto" to use threads where it pays.
    cache : whether compiled code is kept on disk.
    accuracy : as for `symdiff.runtime.kernel.Kernel`.
    """

    def __init__(
        self,
        program: Structured,
        dtype: Any = None,
        parallel: bool | str = "auto",
        cache: bool = True,
        accuracy: str = "high",
    ) -> None:
        self.program, self.parallel = program, parallel
        self.cache, self.accuracy = cache, accuracy
        self.dtype = None if dtype is None else np.dtype(dtype).name
        self.layout = layout_of(program)
        self._compiled: dict[str, _Code] = {}
        self._lock = threading.RLock()
        self._sizes = {n: k for k, n in enumerate(self.layout.sizes)}
        self._shapes = [
            tuple(_integer(n) for n in t.shape) if known else ()
            for t, known in zip(self.layout.outputs, self.layout.known, strict=True)
        ]
        self._elementwise = all(not p.type.shape for p in program.params) and all(
            not t.shape for t in self.layout.outputs
        )

    def __repr__(self) -> str:
        names = ", ".join(p.name for p in self.program.params)
        return f"<kernel {self.program.name}({names}), {len(self.program.outputs)} outputs>"

    def __reduce__(self) -> tuple[Any, ...]:
        return StructuredKernel, (
            self.program, self.dtype, self.parallel, self.cache, self.accuracy,
        )  # fmt: skip

    def llvm(self) -> str:
        """The LLVM IR of the kernel, without SIMD."""
        from symdiff.codegen.llvm import Lanes

        return print_nests(self.program, self.dtype or "float64", Lanes(), self.accuracy)

    def assembly(self, dtype: str = "float64") -> str:
        """The assembly of the kernel, for people and tests."""
        return jit.assembly(self._text(dtype), tidy=True)

    def _text(self, dtype: str) -> str:
        lanes = compiled.registers(dtype, self.accuracy == "strict")
        return print_nests(self.program, dtype, lanes, self.accuracy)

    def code(self, dtype: str) -> _Code:
        """The compiled kernel of one dtype."""
        found = self._compiled.get(dtype)
        if found is None:
            with self._lock:
                found = self._compiled.get(dtype)
                if found is None:
                    lanes = compiled.registers(dtype, self.accuracy == "strict")
                    how = (dtype, self.accuracy, lanes.isa, lanes.width, sorted(lanes.library))
                    key = cache.key("nests", fingerprint(self.program), how, _version(), jit.host())
                    linked = compiled.link(key, lambda: self._text(dtype), self.cache, tidy=True)
                    found = self._compiled[dtype] = _Code(self, linked, dtype)
        return found

    # ------------------------------------------------------------------ calling
    def __call__(self, args: Sequence[Any], out: Sequence[Array | None] | None = None) -> list[Any]:
        """The outputs as a flat list: Python numbers and new NumPy arrays.

        Parameters
        ----------
        args : one value per parameter; arrays may have any strides.
        out : an array or None for each output.

        Raises
        ------
        ArgumentError : for arguments that are not real numbers, or a wrong count.
        ShapeError : for arrays of a wrong number of axes, or sizes that differ.
        ElementError, ComputationError : for checks of the program that fail.
        MemoryError : if there is no room for arrays or tapes.
        """
        params = self.program.params
        if len(args) != len(params):
            raise ArgumentError(
                f"{self.program.name} takes {len(params)} arguments, {len(args)} were given"
            )
        if out is not None and len(out) != len(self.program.outputs):
            raise ArgumentError(
                f"out has {len(out)} entries for {len(self.program.outputs)} outputs"
            )
        if self._elementwise and any(isinstance(a, np.ndarray) and a.shape for a in args):
            return self._each(args, out)
        given = [_given(p, a) for p, a in zip(params, args, strict=True)]
        reals = [
            v for p, v in zip(params, given, strict=True)
            if p.type.kind == "f" and isinstance(v, np.ndarray)
        ]  # fmt: skip
        result = arrays.result_dtype(reals, self.dtype)
        compute = _FLOAT64 if result == _FLOAT64 else _FLOAT32
        return self.code(compute.name).run(given, out, result)

    def _each(self, args: Sequence[Any], out: Sequence[Array | None] | None) -> list[Any]:
        """Arrays for numbers: each element by itself, as a ufunc."""
        given = [arrays.prepare(p.name, a) for p, a in zip(self.program.params, args, strict=True)]
        reals = [v for p, v in zip(self.program.params, given, strict=True) if p.type.kind == "f"]
        result = arrays.result_dtype(reals, self.dtype)
        shape = arrays.broadcast(given)
        code = self.code("float64" if result == _FLOAT64 else "float32")
        results = []
        for k, t in enumerate(self.layout.outputs):
            place = None if out is None else out[k]
            if place is not None:
                arrays.check_out(place, shape, result if t.kind == "f" else _INT64)
            results.append(np.empty(shape, result if t.kind == "f" else _dtype(t, result)))
        wide = [np.broadcast_to(v, shape) for v in given]
        for at in np.ndindex(*shape):
            values = [_given(p, v[at]) for p, v in zip(self.program.params, wide, strict=True)]
            for target, value in zip(results, code.run(values, None, result), strict=True):
                target[at] = value
        if out is None:
            return results
        for k, place in enumerate(out):
            if place is not None:
                np.copyto(place, results[k], casting="same_kind")
                results[k] = place
        return results


class _Code:
    """The compiled code of a kernel for one dtype."""

    def __init__(self, kernel: StructuredKernel, linked: jit.Linked, dtype: str) -> None:
        self.kernel, self.linked = kernel, linked
        self.real = np.dtype(dtype)
        self.layout = kernel.layout
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(linked.address("kernel"))
        self.finish = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(linked.address("finish"))
        self._failure = threading.local()
        self.routine = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p)(self.call)
        self.parallel = ctypes.CFUNCTYPE(
            None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
        )(self.spread)
        self.callbacks = [
            ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (self.routine, self.parallel)
        ]
        if kernel.parallel is False:
            self.callbacks[1] = 0
        cells = ["q"] * self.layout.count
        for p, at in zip(self.layout.params, self.layout.places, strict=True):
            if not p.type.shape and p.type.kind == "f":
                cells[at] = "d"
        self.pack = struct.Struct("=" + "".join(cells)).pack
        self.held = [
            np.ascontiguousarray(v, self.element(p.type)) for p, v in zip(
                self.layout.params[len(kernel.program.params):], kernel.program.data.values(),
                strict=True,
            )
        ]  # fmt: skip

    def element(self, t: Type) -> np.dtype[Any]:
        """The dtype of an array in memory."""
        return self.real if t.kind == "f" else _INT64 if t.kind == "i" else _BYTE

    def run(
        self, given: Sequence[Any], out: Sequence[Array | None] | None, result: np.dtype[Any]
    ) -> list[Any]:
        """Call the kernel on prepared arguments."""
        layout, program = self.layout, self.kernel.program
        cells: list[Any] = [0] * layout.count
        cells[1 : len(FIXED)] = self.callbacks
        sizes: dict[str, int] = {}
        alive = []
        for p, value, at in zip(layout.params, (*given, *self.held), layout.places, strict=True):
            if not p.type.shape:
                cells[at] = value
                continue
            array = np.asarray(value, self.element(p.type), "C")
            if not array.flags.aligned:
                array = array.copy()
            alive.append(array)
            _measure(p, array, sizes, program)
            cells[at] = _address(array)
        for name, at in layout.sizes.items():
            cells[at] = sizes[name]
        targets = self.targets(sizes, out, alive)
        for target, at in zip(targets, layout.results, strict=True):
            if target is not None:
                cells[at] = _address(target)
        memory = bytearray(self.pack(*cells))
        buffer = (ctypes.c_char * len(memory)).from_buffer(memory)
        status = self.function(ctypes.addressof(buffer))
        if status:
            self.fail(status)
        results = [self.output(k, target, memory, result) for k, target in enumerate(targets)]
        if not all(layout.known):
            self.finish(ctypes.addressof(buffer))
        if out is not None:
            results = [
                _put(place, r, result) if place is not None else r
                for place, r in zip(out, results, strict=True)
            ]
        return results

    def targets(
        self, sizes: Mapping[str, int], out: Sequence[Array | None] | None, inputs: Sequence[Array]
    ) -> list[Array | None]:
        """The memory of the outputs that are arrays of known shape."""
        found: list[Array | None] = []
        for k, (t, known) in enumerate(zip(self.layout.outputs, self.layout.known, strict=True)):
            if not t.shape or not known:
                found.append(None)
                continue
            shape = tuple(n(sizes) for n in self.kernel._shapes[k])
            place = None if out is None else out[k]
            dtype = self.element(t)
            if (
                isinstance(place, np.ndarray) and place.shape == shape and place.dtype == dtype
                and place.flags.carray
                and not any(np.may_share_memory(place, a) for a in inputs)
                and not any(o is not None and np.may_share_memory(place, o) for o in found)
            ):  # fmt: skip
                found.append(place)
            else:
                found.append(np.empty(shape, dtype))
        return found

    def output(self, k: int, target: Array | None, memory: bytearray, result: np.dtype[Any]) -> Any:
        """One output, as it is handed out."""
        t, at = self.layout.outputs[k], 8 * self.layout.results[k]
        if not t.shape:
            if t.kind == "f":
                value = struct.unpack_from("=d", memory, at)[0]
                return float(value) if result == _FLOAT64 else result.type(value)
            whole = struct.unpack_from("=q", memory, at)[0]
            return bool(whole) if t.kind == "b" else whole
        if target is None:
            address, *shape = struct.unpack_from(f"={1 + len(t.shape)}q", memory, at)
            target = _view(address, shape, self.element(t)).copy()
        if t.kind == "b":
            return target.view(np.bool_)
        return target if t.kind != "f" or result == target.dtype else target.astype(result)

    def fail(self, status: int) -> None:
        """Raise the error of a return code."""
        if status == NO_ROUTINE:
            raise self._failure.error
        if status < FIRST_CHECK:
            raise MemoryError(f"{self.kernel.program.name}: no room for arrays or tapes")
        check = self.layout.checks[status - FIRST_CHECK]
        kind = ElementError if check.error == "index" else ComputationError
        raise kind(check.message, check.location)

    # ---------------------------------------------------------------- callbacks
    def call(self, which: int, record: int) -> int:
        """Run a routine for the kernel."""
        try:
            self.routine_of(self.layout.calls[which], record)
        except BaseException as error:
            self._failure.error = error
            return 1
        return 0

    def routine_of(self, s: Call, record: int) -> None:
        at = record
        args = []
        for e in s.args:
            value, at = self.argument(e, at)
            args.append(value)
        results = ROUTINES[s.routine].numpy(*args)
        for (_, t), value in zip(s.results, results, strict=True):
            if not t.shape:
                kind = ctypes.c_double if t.kind == "f" else ctypes.c_int64
                kind.from_address(at).value = value
                at += 8
                continue
            shape = list((ctypes.c_int64 * len(t.shape)).from_address(at + 8))
            address = ctypes.c_void_p.from_address(at).value or 0
            at += 8 + 8 * len(shape)
            np.copyto(_view(address, shape, self.element(t)), value)

    def argument(self, e: Expr, at: int) -> tuple[Any, int]:
        """A value that the kernel passes to a routine, and where the next stands."""
        if e.op is not ARRAY:
            if kind_of(e) == "f":
                return ctypes.c_double.from_address(at).value, at + 8
            return ctypes.c_int64.from_address(at).value, at + 8
        t = types(self.kernel.program)[name_of(e)]
        shape = list((ctypes.c_int64 * len(t.shape)).from_address(at + 8))
        address = ctypes.c_void_p.from_address(at).value or 0
        return _view(address, shape, self.element(t)), at + 8 + 8 * len(shape)

    def spread(self, part: int, frame: int, count: int, cost: float) -> None:
        """Run a part of the kernel for ranges that make up all of it."""
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(part)
        number = min(threads.processors(), max(1, int(count * cost / threads.GRAIN)), count)
        threads.run(lambda a, b: function(frame, a, b), count, number)


# ------------------------------------------------------------------ arguments
def _given(p: Parameter, value: Any) -> Any:
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
            return arrays.prepare(p.name, made)
        if made.dtype.kind not in "biu":
            raise ArgumentError(f"argument {p.name} is of dtype {made.dtype}, not of integers")
        return made != 0 if p.type.kind == "b" else made
    if p.type.kind != "f":
        try:
            return operator.index(value.item() if isinstance(value, np.ndarray) else value)
        except TypeError:
            raise ArgumentError(f"argument {p.name} is not an integer: {value!r}") from None
    made = arrays.prepare(p.name, value)
    if isinstance(made, float):
        return made
    if made.shape:
        raise ShapeError(f"argument {p.name} has the shape {made.shape}; it must be a number")
    return made[()]


def _measure(p: Parameter, a: Array, sizes: dict[str, int], program: Structured) -> None:
    """Note the sizes of an array's axes, or say which other they contradict."""
    for axis, (n, size) in enumerate(zip(p.type.shape, a.shape, strict=True)):
        known = int(n.value) if n.op is ir.CONST else sizes.setdefault(name_of(n), size)
        if known == size:
            continue
        if n.op is ir.CONST:
            raise ShapeError(f"axis {axis} of {p.name} has the size {size}, not {known}")
        other, place = next(
            (q.name, q.type.shape.index(n)) for q in program.params if n in q.type.shape
        )
        raise ShapeError(
            f"axis {axis} of {p.name} has the size {size}, axis {place} of {other} has the size "
            f"{known}; both are {name_of(n)}"
        )


def _address(a: Array) -> int:
    return a.ctypes.data if a.size else _NOTHING.ctypes.data


def _view(address: int, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """An array over memory of the kernel."""
    size = int(np.prod(shape)) * dtype.itemsize
    if not size:
        return np.empty(shape, dtype)
    buffer = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(buffer, dtype).reshape(shape)


def _put(place: Array, value: Any, result: np.dtype[Any]) -> Array:
    """Write an output where the caller wants it."""
    if place is not value:
        made = np.asarray(value)
        arrays.check_out(place, made.shape, made.dtype)
        np.copyto(place, made, casting="same_kind")
    return place


def _dtype(t: Type, real: np.dtype[Any]) -> np.dtype[Any]:
    return {"f": real, "i": _INT64, "b": np.dtype(bool)}[t.kind]


def _integer(e: Expr) -> Callable[[Mapping[str, int]], int]:
    """The size of an axis, at least 0, from the sizes of the parameters' axes."""
    if e.op is INDEX:
        return operator.itemgetter(name_of(e))
    if (k := ir.integer(e)) is not None:
        return lambda sizes: max(0, k)
    order = topological((e,))

    def evaluate(sizes: Mapping[str, int]) -> int:
        values: dict[Expr, Any] = {}
        for n in order:
            if n.op is INDEX:
                values[n] = sizes[name_of(n)]
            elif n.op is ir.CONST:
                values[n] = int(n.value)
            elif n.op is ir.BOOL:
                values[n] = n.value
            else:
                values[n] = _WHOLE[n.op](*(values[a] for a in n.args))
        return max(0, int(values[e]))

    return evaluate


_WHOLE: dict[ir.Op, Callable[..., Any]] = {
    ir.ADD: operator.add, ir.SUB: operator.sub, ir.MUL: operator.mul, ir.NEG: operator.neg,
    ir.ABS: abs, ir.POW: operator.pow,
    FLOORDIV: lambda a, b: a // b if b else 0, MOD: lambda a, b: a % b if b else 0,
    ir.LT: operator.lt, ir.LE: operator.le, ir.EQ: operator.eq,
    ir.NOT: operator.not_, ir.AND: lambda a, b: a and b, ir.OR: lambda a, b: a or b,
    ir.WHERE: lambda c, a, b: a if c else b,
}  # fmt: skip
"""Operations on integers, as in `symdiff.structure`."""


# ---------------------------------------------------------------------- caching
def fingerprint(program: Structured) -> tuple[Any, ...]:
    """All about a program that its code depends on."""
    own = (e for s in walk(program.block) for e in topological(expressions(s)))
    if any(e.op.expand is not None and e.op not in BUILTIN for e in own):
        program = lowered(program)  # the formula of a user's own function counts
    roots: list[Expr] = []

    def flat(value: Any) -> Any:
        if isinstance(value, Expr):
            roots.append(value)
            return None
        if isinstance(value, tuple):
            return tuple(map(flat, value))
        if is_dataclass(value) and not isinstance(value, Location):
            return type(value).__name__, *(
                flat(getattr(value, f.name)) for f in fields(value) if f.compare
            )
        return value

    shape = flat((program.params, program.block, program.outputs))
    data = tuple((n, a.shape, a.dtype.str) for n, a in program.data.items())
    return shape, encode(roots), data


def _version() -> str:
    """A digest of the modules that decide what is compiled."""
    return compiled.version() + compiled.digest(*_SOURCES)
