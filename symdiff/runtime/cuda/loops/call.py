"""Calls of programs with arrays on a device: arguments from any library or the host, results
where the arguments are.

Arrays on a device that lie row by row in the dtype of the computation are read where they
are; others are converted first. Results are made by the library of the first argument on a
device, and kernels write into them; numbers are arrays without axes there. If all arguments
are on the host, so are the results.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.codegen.common.liveness import destinations
from symdiff.ir import Expr
from symdiff.ir.loop_program import ARRAY, INDEX, LoopProgram, Parameter, Type, name_of
from symdiff.ir.program import Tree, flatten_like, folded
from symdiff.runtime.cuda import driver
from symdiff.runtime.cuda.device_arrays import (
    Home,
    Region,
    checked_place,
    dense,
    element_of,
    place_of,
    region,
    stream_handle,
)
from symdiff.runtime.cuda.driver import Device
from symdiff.runtime.cuda.loops.kernel import CudaProgram, convert
from symdiff.runtime.cuda.loops.steps import Buffer, CheckError, Run
from symdiff.runtime.loops.arguments import BYTE, FLOAT32, FLOAT64, INT64, given, mismatch
from symdiff.runtime.loops.call import ERRORS, ComputationError
from symdiff.runtime.scalar import elementwise as arrays
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError

BOOL = np.dtype(bool)


class ArraysOnDevice:
    """A function with arrays whose program runs on a device.

    Parameters
    ----------
    program : what is computed.
    dtype : "float64" or "float32" to compute in that only; None follows the arguments.
    """

    def __init__(self, program: CudaProgram, dtype: str | None = None) -> None:
        self.program, self.dtype = program, dtype
        self._wanted: dict[str, dict[str, Any]] = {}

    @property
    def source(self) -> LoopProgram:
        return self.program.program

    def wanted(self, dtype: str) -> dict[str, Any]:
        """Which output an array becomes that is made under a name."""
        if dtype not in self._wanted:
            made = self.program.planned(dtype)[0]
            targets = {name_of(e): k for k, e in enumerate(made.outputs) if e.op is ARRAY}
            self._wanted[dtype] = destinations(made.block, targets)
        return self._wanted[dtype]

    @property
    def of_numbers(self) -> bool:
        """Whether it takes and gives numbers only."""
        arrays = [
            *(p.type.shape for p in self.source.params),
            *(t.shape for t in self.program.outputs),
        ]
        return not any(arrays)

    def each(self, args: Sequence[Any], out: Any = None, stream: Any = None) -> Any:
        """Results for each element of the arguments, which broadcast; of a program for rows
        of numbers."""
        values = [
            v if isinstance(v, Region) else arrays.prepare(p.name, v)
            for p, v in zip(self.source.params, args, strict=True)
        ]
        shape = arrays.broadcast(values)  # type: ignore[arg-type]
        flat: list[Any] = []
        for v in values:
            if isinstance(v, float) or not v.shape:
                flat.append(v)
            elif isinstance(v, Region):
                flat.append(v.broadcast_to(shape))
            else:
                flat.append(np.broadcast_to(v, shape))
        return self.run(flat, out, stream, shape)

    def run(
        self,
        args: Sequence[Any],
        out: Any = None,
        stream: Any = None,
        shape: tuple[int, ...] | None = None,
        by_rows: bool = False,
    ) -> Any:
        """The results, nested; or `out`, into whose arrays they are written. Arguments on a
        device are `located`. With a shape, the arrays have that instead of one axis, and so
        have the results. `by_rows` keeps the first axis of the results first where they
        become parts of one array."""
        params = self.source.params
        if len(args) != len(params):
            raise ArgumentError(
                f"{self.source.name} takes {len(params)} arguments, {len(args)} were given"
            )
        values = [
            a if shape is not None and np.shape(a) else _argument(p, a)
            for p, a in zip(params, args, strict=True)
        ]
        reals = [
            v for p, v in zip(params, values, strict=True)
            if p.type.kind == "f" and not isinstance(v, float)
        ]  # fmt: skip
        result = arrays.result_dtype(reals, self.dtype)
        count, tree = len(self.source.outputs), self.source.tree
        outs = [None] * count if out is None else _flat(tree, out, count)
        regions = [v for v in values if isinstance(v, Region)]
        regions += [r for r in map(place_of, outs) if r is not None]
        home = Home(regions[0]) if regions else None
        if home is not None and result.itemsize < 4:
            raise ArgumentError(f"arrays of {result} cannot be used on a device", hint="float32")
        device = driver.device(home.device if home is not None else 0)
        handle = 0 if home is None else home.stream()
        handle = handle if stream is None else stream_handle(stream)
        with device.current():
            call = _Call(self, device, handle, home, result, outs, shape)
            made = call.run(values)
            found = call.nested(tree, made, by_rows) if out is None else out
            if home is not None and home.library.waits:
                device.synchronize(handle)
        return found


class _Call:
    """One call, in a device's context."""

    def __init__(
        self,
        of: ArraysOnDevice,
        device: Device,
        stream: int,
        home: Home | None,
        result: np.dtype[Any],
        outs: Sequence[Any],
        elements: tuple[int, ...] | None,
    ) -> None:
        self.elements = elements
        self.of, self.device, self.stream, self.home = of, device, stream, home
        self.result, self.outs = result, outs
        self.real = FLOAT64 if result == FLOAT64 else FLOAT32
        self.program = of.program
        self.made: dict[int, tuple[Buffer, Any]] = {}
        self.inputs: list[Region] = []
        self.wanted: dict[str, Any] = {}

    def run(self, values: Sequence[Any]) -> list[Any]:
        source = self.of.source
        made, plan = self.program.planned(self.real.name)
        self.wanted = self.of.wanted(self.real.name)
        kernels = self.program.loaded(self.device, self.real.name)
        self.inputs = [v for v in values if isinstance(v, Region)]
        for v in self.inputs:
            if v.stream not in (None, self.stream):
                self.device.synchronize(v.stream or 0)
        single = self.real == FLOAT32
        with Run(self.device, plan, kernels, single, {}, self.stream, self.place) as run:
            self.bound = run
            self.sizes(run, values)
            for p, v in zip(source.params, values, strict=True):
                run.env[p.name] = self.given(p.type, v)
            for name, data in source.data.items():
                t = Type((ir.ONE,) * data.ndim, "i" if data.dtype.kind in "iu" else "f")
                run.env[name] = self.given(t, data)
            try:
                run.run()
                if self.home is None or plan.checked:
                    self.words = run.read()
            except CheckError as failed:
                raise self.error(failed.args[0]) from None
            return [self.output(k, e) for k, e in enumerate(made.outputs)]

    def sizes(self, run: Run, values: Sequence[Any]) -> None:
        """Name the sizes of the arguments."""
        program = self.of.source
        for p, v in zip(program.params, values, strict=True):
            for axis, n in enumerate(p.type.shape):
                size = v.shape[axis] if self.elements is None else math.prod(self.elements)
                known = run.env.setdefault(name_of(n), size) if n.op is INDEX else int(n.value)
                if known != size:
                    raise mismatch(p, axis, size, known, program)

    def error(self, number: int) -> Exception:
        """The error of a check."""
        check = self.program.plan(self.real.name).checks[number]
        kind = ERRORS.get(check.error, ComputationError)
        return kind(check.message, check.location)

    # ---------------------------------------------------------------- arguments
    def element(self, t: Type) -> np.dtype[Any]:
        """The dtype of an array in the kernels' memory."""
        return self.real if t.kind == "f" else INT64 if t.kind == "i" else BYTE

    def given(self, t: Type, value: Any) -> Any:
        """An argument as a number or a buffer."""
        if not t.shape:
            if isinstance(value, Region):
                host = np.empty((), value.dtype)
                self.device.download(host.ctypes.data, value.address, host.nbytes, self.stream)
                value = host[()]
            return float(value) if t.kind == "f" else int(value)
        dtype = self.element(t)
        if isinstance(value, Region):
            return self.on_device(value, dtype)
        data = np.ascontiguousarray(value, dtype)
        buffer = self.bound.new(data.nbytes)
        buffer.own = False
        if data.nbytes:
            self.device.upload(buffer.address, data.ctypes.data, data.nbytes, self.stream)
        return buffer

    def on_device(self, value: Region, dtype: np.dtype[Any]) -> Buffer:
        size = value.size * dtype.itemsize
        plain = dense(value.address, value.shape, value.dtype)
        if value.size and plain.strides == value.strides and value.dtype == dtype:
            return Buffer(value.address, size, own=False, owner=value)
        buffer = self.bound.new(size)
        buffer.own = False
        convert(self.device, value, dense(buffer.address, value.shape, dtype), self.stream)
        return buffer

    # ------------------------------------------------------------------ results
    def nested(self, tree: Tree, found: Sequence[Any], by_rows: bool) -> Any:
        """Results nested as a tree."""
        return folded(tree, found.__getitem__, lambda t: self.joined(t, found, by_rows))

    def joined(self, tree: np.ndarray[Any, Any], found: Sequence[Any], by_rows: bool) -> Any:
        """Results of one shape as parts of one array."""
        leaves = [found[int(i)] for i in tree.ravel()]
        if not leaves:
            return np.empty(tree.shape)
        if self.home is None:
            whole = np.stack(leaves, axis=1 if by_rows else 0)
            at = 1 if by_rows else 0
            return whole.reshape(*whole.shape[:at], *tree.shape, *whole.shape[at + 1 :])
        places = [p for p in map(region, leaves) if p is not None]
        shape = places[0].shape
        if any(p.shape != shape for p in places):
            raise ShapeError("the parts of an array of results have different shapes")
        lead = shape[:1] if by_rows else ()
        array = self.home.empty(
            (*lead, *tree.shape, *shape[len(lead) :]), np.result_type(*(p.dtype for p in places))
        )
        made = region(array)
        assert made is not None
        parts = made.later(tree.ndim) if by_rows else made
        for index, place in zip(np.ndindex(tree.shape), places, strict=True):
            convert(self.device, place, parts.item(index), self.stream)
        return array

    def dtype(self, t: Type) -> np.dtype[Any]:
        """The dtype of an output as it is handed out."""
        return {"f": self.result, "i": INT64, "b": BOOL}[t.kind]

    def place(self, name: str, size: int) -> Buffer | None:
        """Where an array is made that becomes an output: in the memory of the result."""
        k = self.wanted.get(name)
        if k is None or k in self.made or self.home is None:
            return None
        t = self.program.outputs[k]
        if t.kind == "f" and self.result != self.real:
            return None
        try:
            shape = self.shape(t)
        except KeyError:  # it depends on what is not computed yet
            return None
        target = self.target(k, shape, t)
        if target is None or target[0].size * target[0].dtype.itemsize != size or not size:
            return None
        where, array = target
        self.made[k] = Buffer(where.address, size, owner=array), array
        return self.made[k][0]

    def shape(self, t: Type) -> tuple[int, ...]:
        if self.elements is not None:
            return self.elements
        return tuple(max(0, self.bound.integer(n)) for n in t.shape)

    def target(self, k: int, shape: tuple[int, ...], t: Type) -> tuple[Region, Any] | None:
        """Memory of the caller or of a new array into which kernels may write."""
        assert self.home is not None
        if self.outs[k] is None:
            made = self.home.empty(shape, self.dtype(t))
            found = region(made)
            assert found is not None
            return found, made
        found = checked_place(self.outs[k], shape, self.dtype(t))
        fits = (
            found.dtype == self.dtype(t) and found.strides == dense(0, shape, found.dtype).strides
        )
        if not fits or any(found.clashes(v, True) for v in self.inputs):
            return None
        return found, self.outs[k]

    def output(self, k: int, e: Expr) -> Any:
        """One output as it is handed out."""
        t = self.program.outputs[k]
        if e.op is not ARRAY:
            return self.number(k, t)
        buffer: Buffer = self.bound.env[name_of(e)]
        shape = self.shape(t)
        kind = BOOL if t.kind == "b" else self.element(t)
        there = dense(buffer.address, shape, kind)
        if self.home is None:
            return self.to_host(k, there, t)
        if k in self.made and self.made[k][0] is buffer:
            return self.made[k][1]
        return self.moved(k, there, t)

    def moved(self, k: int, there: Region, t: Type) -> Any:
        """A result on the device that is copied to where it should be."""
        assert self.home is not None
        if self.outs[k] is not None:
            array = self.outs[k]
            target = checked_place(array, there.shape, self.dtype(t))
        else:
            array = self.home.empty(there.shape, self.dtype(t))
            made = region(array)
            assert made is not None
            target = made
        convert(self.device, there, target, self.stream)
        return array

    def to_host(self, k: int, there: Region, t: Type) -> Any:
        found = np.empty(there.shape, there.dtype)
        if found.nbytes:
            self.device.download(found.ctypes.data, there.address, found.nbytes, self.stream)
        found = found.astype(self.dtype(t), copy=False)
        return self.put(k, found)

    def put(self, k: int, value: Any) -> Any:
        if self.outs[k] is None:
            return value
        made = np.asarray(value)
        arrays.check_out(self.outs[k], made.shape, made.dtype)
        np.copyto(self.outs[k], made, casting="same_kind")
        return self.outs[k]

    def number(self, k: int, t: Type) -> Any:
        """An output that is a number."""
        word = self.program.plan(self.real.name).outputs[k]
        assert word is not None
        kind = self.real if word.kind == "f" else INT64
        if self.home is not None:
            there = dense(self.bound.words.address + 8 * word.slot, (), kind)
            return self.moved(k, there, t)
        value = self.words[word.slot : word.slot + 1].view(kind)[0]
        if t.kind != "f":
            return self.put(k, bool(value) if t.kind == "b" else int(value))
        return self.put(k, float(value) if self.result == FLOAT64 else self.result.type(value))


def _flat(tree: Tree, out: Any, count: int) -> list[Any]:
    """The places for outputs among nested ones; those in an array on a device are its parts."""
    flat: list[Any] = [None] * count

    def visit(t: Tree, v: Any) -> None:
        whole = place_of(v) if isinstance(t, np.ndarray) else None
        if whole is not None:
            if whole.shape[: t.ndim] != t.shape:
                raise ShapeError(f"out must have the shape {t.shape} here, not {whole.shape}")
            for index, i in np.ndenumerate(t):
                flat[int(i)] = whole.item(index)
        elif isinstance(t, dict) and isinstance(v, dict) and v.keys() == t.keys():
            for k in t:
                visit(t[k], v[k])
        elif isinstance(t, (tuple, list)) and isinstance(v, (tuple, list)) and len(v) == len(t):
            for a, b in zip(t, v, strict=True):
                visit(a, b)
        else:
            for k, place in enumerate(flatten_like(t, v, count, "out")):
                flat[k] = place if place is not None else flat[k]

    visit(tree, out)
    return flat


def _argument(p: Parameter, value: Any) -> Any:
    """An argument on the host or a device, of the right number of axes and type."""
    if not isinstance(value, Region):
        return given(p, value)
    rank = len(p.type.shape)
    if value.ndim != rank:
        axes = f"have {rank} {'axis' if rank == 1 else 'axes'}" if rank else "be a number"
        raise ShapeError(f"argument {p.name} has the shape {value.shape}; it must {axes}")
    element_of(value)
    if p.type.kind != "f" and value.dtype.kind not in "biu":
        raise ArgumentError(f"argument {p.name} is of dtype {value.dtype}, not of integers")
    return value


__all__ = ["ArraysOnDevice"]
