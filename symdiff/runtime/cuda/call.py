"""Calls of a CUDA kernel: arguments from any library, results nested as the function's.

Arrays on a device are used where they lie, and results stay on it. Host arrays are copied
to the device, and results back to new NumPy arrays; Python numbers alone give floats.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from ctypes import c_float
from typing import Any

import numpy as np

from symdiff.ir.program import Tree, flatten_like, holding, map_tree
from symdiff.runtime.cuda import driver
from symdiff.runtime.cuda.device_arrays import (
    Home,
    Region,
    checked_place,
    dense,
    region,
    stream_handle,
    wait_for,
)
from symdiff.runtime.cuda.driver import Device
from symdiff.runtime.cuda.kernel import CudaKernel, copy, scratch
from symdiff.runtime.loops.rows import nested
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.elementwise import ArgumentError, Array

Value = float | Array | Region


class OnDevice:
    """A function whose kernel runs on a device.

    Parameters
    ----------
    kernel : what is computed.
    tree : how the results nest.
    dtype : "float64" or "float32" to compute in that only; None follows the arguments.
    """

    def __init__(self, kernel: CudaKernel, tree: Tree, dtype: str | None = None) -> None:
        self.kernel, self.tree, self.dtype = kernel, tree, dtype

    def run(
        self, args: Sequence[Any], out: Any = None, stream: Any = None, by_rows: bool = False
    ) -> Any:
        """The results, nested; or `out`, into whose arrays they are written. Arguments on a
        device are `located`. With `by_rows` the leading axis of the arguments stays the first
        one of arrays of results."""
        values = [_prepared(n, a) for n, a in zip(self.kernel.params, args, strict=True)]
        regions = [v for v in values if isinstance(v, Region)] or _leaves(out)
        dtype = elementwise.result_dtype(values, self.dtype)  # type: ignore[arg-type]
        shape = elementwise.broadcast(values)  # type: ignore[arg-type]
        if regions:
            return self._on_device(values, regions[0], shape, dtype, out, stream, by_rows)
        return self._from_host(values, shape, dtype, out, stream, by_rows)

    # ---------------------------------------------------------------- device arrays
    def _on_device(
        self,
        values: Sequence[Value],
        like: Region,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        out: Any,
        stream: Any,
        by_rows: bool,
    ) -> Any:
        if dtype.itemsize < 4:
            raise ArgumentError(f"arrays of {dtype} cannot be used on a device", hint="float32")
        home = Home(like)
        device = driver.device(home.device)
        places = _Places(home, shape, dtype, len(self.kernel.outputs), by_rows)
        with device.current():
            result = places.nested(self.tree, out)
            handle = home.stream() if stream is None else stream_handle(stream)
            for v in values:
                if isinstance(v, Region) and v.stream not in (None, handle):
                    device.synchronize(v.stream or 0)
            self._compute(device, values, places.filled(), shape, dtype, handle)
            places.repeat(device, handle)
            if home.library.waits:
                device.synchronize(handle)
        return result

    # ------------------------------------------------------------------ host arrays
    def _from_host(
        self,
        values: Sequence[Value],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        out: Any,
        stream: Any,
        by_rows: bool,
    ) -> Any:
        count = len(self.kernel.outputs)
        given = [None] * count if out is None else flatten_like(self.tree, out, count, "out")
        for g in given:
            if g is not None:
                elementwise.check_out(g, shape, dtype)
        work = np.dtype(np.float32) if dtype.itemsize < 8 else np.dtype(np.float64)
        results = [np.empty(shape, work) for _ in range(count)]
        device = driver.device(0)
        handle = 0 if stream is None else stream_handle(stream)
        with device.current(), contextlib.ExitStack() as stack:
            places = [
                dense(stack.enter_context(scratch(device, r.nbytes, handle)), shape, work)
                for r in results
            ]
            self._compute(device, values, places, shape, dtype, handle)
            for r, place in zip(results, places, strict=True):
                device.download(r.ctypes.data, place.address, r.nbytes, handle)
        for r, g in zip(results, given, strict=True):
            if g is not None:
                np.copyto(g, r, casting="same_kind")
        if out is not None:
            return out
        leaves: list[Any] = [r.astype(dtype, copy=False) for r in results]
        if all(isinstance(v, float) for v in values):
            leaves = [float(r) for r in leaves]
        elif shape == ():
            leaves = [r[()] for r in leaves]
        return nested(self.tree, leaves) if by_rows else map_tree(leaves.__getitem__, self.tree)

    def _compute(
        self,
        device: Device,
        values: Sequence[Value],
        places: Sequence[Region],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        stream: int,
    ) -> None:
        """Bring what lies on the host to the device, and launch."""
        single = dtype.itemsize < 8
        with contextlib.ExitStack() as stack:
            operands: list[float | Region] = []
            for v in values:
                if isinstance(v, np.ndarray):
                    operands.append(stack.enter_context(_uploaded(device, v, stream)))
                elif isinstance(v, float) and single:
                    operands.append(c_float(v).value)
                else:
                    operands.append(v)
            compute = "float32" if single else "float64"
            self.kernel.launch(device, operands, places, shape, compute, stream)


class _Places:
    """Where the outputs of a call go: arrays of one library, nested as a tree."""

    def __init__(
        self, home: Home, shape: tuple[int, ...], dtype: np.dtype[Any], count: int, by_rows: bool
    ) -> None:
        self.home, self.shape, self.dtype, self.by_rows = home, shape, dtype, by_rows
        self.first: list[Region | None] = [None] * count
        self.made: dict[int, Any] = {}
        self.further: list[tuple[int, Region]] = []

    def nested(self, tree: Tree, out: Any) -> Any:
        """The results as they are returned, not yet computed."""
        if isinstance(tree, np.ndarray):
            return self._array(tree, out)
        if isinstance(tree, dict):
            if out is not None and (not isinstance(out, dict) or out.keys() != tree.keys()):
                raise ArgumentError(f"out must be a dict with the keys {list(tree)} here")
            return {k: self.nested(t, None if out is None else out[k]) for k, t in tree.items()}
        if isinstance(tree, (tuple, list)):
            if out is not None and (not isinstance(out, (tuple, list)) or len(out) != len(tree)):
                raise ArgumentError(f"out must have {len(tree)} entries here")
            parts = [self.nested(t, None if out is None else out[i]) for i, t in enumerate(tree)]
            return out if out is not None else holding(tree, parts)
        if out is None:
            if tree not in self.made:
                self.made[tree] = self.home.empty(self.shape, self.dtype)
                self._put(int(tree), self._own(self.made[tree]))
            return self.made[tree]
        self._put(int(tree), checked_place(out, self.shape, self.dtype))
        return out

    def _array(self, tree: Array, out: Any) -> Any:
        lead = self.shape[:1] if self.by_rows else ()
        shape = (*lead, *tree.shape, *self.shape[len(lead) :])
        made = self.home.empty(shape, self.dtype) if out is None else out
        whole = self._own(made) if out is None else checked_place(made, shape, self.dtype)
        parts = whole.later(tree.ndim) if self.by_rows else whole
        for index, i in np.ndenumerate(tree):
            self._put(int(i), parts.item(index))
        return made

    def _own(self, array: Any) -> Region:
        """Where a new array lies, which its library may hold to be read-only."""
        found = region(array)
        assert found is not None
        return found

    def _put(self, output: int, place: Region) -> None:
        if self.first[output] is None:
            self.first[output] = place
        else:
            self.further.append((output, place))

    def filled(self) -> list[Region]:
        """A place for every output, also for those that nothing asks for."""
        for k, place in enumerate(self.first):
            if place is None:
                self.nested(k, None)
        return [p for p in self.first if p is not None]

    def repeat(self, device: Device, stream: int) -> None:
        """Copy the outputs that are asked for in several places."""
        for output, place in self.further:
            source = self.first[output]
            assert source is not None
            copy(device, source, place, stream)


def located(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values, with arrays on a device as regions."""
    found: list[Any] = []
    for v in values:
        at = None if elementwise.is_scalar(v) or isinstance(v, np.ndarray) else region(v)
        if at is not None:
            wait_for(v)
        found.append(v if at is None else at)
    return tuple(found)


def on_device(values: Any) -> bool:
    """Whether any of these, nested as they may be, lies on a device."""
    return bool(_leaves(values))


def _prepared(name: str, value: Any) -> Value:
    """A Python float, an array on the host, or one on a device."""
    return value if isinstance(value, Region) else elementwise.prepare(name, value)


def _leaves(out: Any) -> list[Region]:
    """The arrays on a device among nested ones."""
    if isinstance(out, Region):
        return [out]
    if out is None or isinstance(out, np.ndarray) or elementwise.is_scalar(out):
        return []
    if isinstance(out, dict):
        out = list(out.values())
    if isinstance(out, (tuple, list)):
        return [leaf for o in out for leaf in _leaves(o)]
    found = region(out)
    return [] if found is None else [found]


@contextlib.contextmanager
def _uploaded(device: Device, array: Array, stream: int) -> Iterator[float | Region]:
    """An array of the host on the device; one without dimensions is passed by value."""
    if array.ndim == 0:
        yield float(array)
        return
    kind = array.dtype.newbyteorder("=")
    if kind.itemsize == 2 and kind.kind == "f":
        kind = np.dtype(np.float32)
    data = np.ascontiguousarray(array, kind)
    with scratch(device, data.nbytes, stream) as address:
        device.upload(address, data.ctypes.data, data.nbytes, stream)
        yield dense(address, data.shape, data.dtype)
