"""Arrays in device memory: whose they are, where they lie, and how new ones are made.

Whatever has `__cuda_array_interface__` (CuPy, PyTorch, Numba, JAX) or exports CUDA memory
by DLPack is read and written where it lies. Results are arrays of the library of the
first such argument, on whose current stream the kernel runs.
"""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symdiff.codegen.cuda.thread_loop import ELEMENTS
from symdiff.errors import SymdiffError, TargetError
from symdiff.runtime.cuda.driver import device_of
from symdiff.runtime.scalar.elementwise import ArgumentError, ShapeError

_DLPACK_CUDA = 2
_LEGACY = 1
"""The default stream, as `__cuda_array_interface__` names it."""


@dataclass(frozen=True, slots=True)
class Region:
    """Elements in device memory, as NumPy describes them in host memory.

    Attributes
    ----------
    address, shape, strides, dtype : strides in bytes, one per dimension.
    owner : what keeps the memory alive.
    stream : on which the owner may still be writing, if that is known.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any = None
    stream: int | None = None

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def broadcast_to(self, shape: tuple[int, ...]) -> Region:
        """The same elements, repeated to a shape that they broadcast to."""
        lead = len(shape) - len(self.shape)
        own = [0 if n == 1 else s for n, s in zip(self.shape, self.strides, strict=True)]
        strides = (*[0] * lead, *own)
        return Region(self.address, shape, strides, self.dtype, self.owner, self.stream)

    def item(self, index: tuple[int, ...]) -> Region:
        """What lies at an index of the first dimensions."""
        k = len(index)
        offset = sum(i * s for i, s in zip(index, self.strides, strict=False))
        return Region(
            self.address + offset, self.shape[k:], self.strides[k:], self.dtype,
            self.owner, self.stream,
        )  # fmt: skip

    def later(self, k: int) -> Region:
        """The same elements, with the first dimension behind the next k."""

        def turned(of: tuple[int, ...]) -> tuple[int, ...]:
            return (*of[1 : k + 1], of[0], *of[k + 1 :])

        return replace(self, shape=turned(self.shape), strides=turned(self.strides))

    def reshape(self, shape: tuple[int, ...]) -> Region:
        """The same elements, with dimensions of one element put in or left out."""
        own = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n != 1]
        if [n for n, _ in own] != [n for n in shape if n != 1]:
            raise ValueError(f"elements of the shape {self.shape} in the shape {shape}")
        steps = iter(own)
        strides = tuple(0 if n == 1 else next(steps)[1] for n in shape)
        return replace(self, shape=tuple(shape), strides=strides)

    def span(self) -> tuple[int, int]:
        """The first byte that it touches, and the one behind the last."""
        if self.size == 0:
            return self.address, self.address
        ends = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        low, high = sum(min(0, e) for e in ends), sum(max(0, e) for e in ends)
        return self.address + low, self.address + high + self.dtype.itemsize

    def clashes(self, other: Region, again: bool = False) -> bool:
        """Whether writing this element by element may spoil elements of the other that are
        still to be read; `again` is whether any is read again."""
        (a, b), (c, d) = self.span(), other.span()
        if b <= c or d <= a:
            return False
        same = (self.address, self.shape, self.strides, self.dtype) == (
            other.address, other.shape, other.strides, other.dtype,
        )  # fmt: skip
        return again or not same


def dense(address: int, shape: tuple[int, ...], dtype: np.dtype[Any], owner: Any = None) -> Region:
    """A contiguous region, the last dimension fastest."""
    strides, step = [], dtype.itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return Region(address, shape, tuple(reversed(strides)), dtype, owner)


def region(value: Any, writing: bool = False) -> Region | None:
    """Where an array lies on a device; None if it does not lie on one."""
    try:
        interface = getattr(value, "__cuda_array_interface__", None)
    except (RuntimeError, TypeError) as error:  # PyTorch: needs a gradient, is sparse
        raise ArgumentError(f"a {type(value).__name__} cannot be used: {error}") from None
    if interface is None:
        return _by_dlpack(value, writing)
    address, read_only = interface["data"]
    if writing and read_only:
        raise ArgumentError("out is read-only")
    shape = tuple(interface["shape"])
    dtype = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    if strides is None:
        strides = dense(0, shape, dtype).strides
    stream = interface.get("stream")
    stream = 0 if stream == _LEGACY else stream
    return Region(address or 0, shape, tuple(strides), dtype, value, stream)


def place_of(out: Any) -> Region | None:
    """Where the caller's array for results lies on a device."""
    if out is None or isinstance(out, (np.ndarray, Region)):
        return out if isinstance(out, Region) else None
    return region(out, writing=True)


def checked_place(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Region:
    """Where the caller's array for a result lies.

    Raises
    ------
    ArgumentError, ShapeError : for arrays on the host, of another shape, or that cannot hold it.
    """
    found = place_of(out)
    if found is None:
        raise ArgumentError(
            f"out is a {type(out).__name__}, but the arguments lie on a device",
            hint="an array on the same device",
        )
    if found.shape != shape:
        raise ShapeError(f"out has shape {found.shape}, the result has shape {shape}")
    if not np.can_cast(dtype, found.dtype, "same_kind"):
        raise ArgumentError(f"out has dtype {found.dtype}, which cannot hold {dtype}")
    return found


def element_of(array: Region) -> str:
    """The element type of an array that a kernel reads.

    Raises
    ------
    ArgumentError : if kernels have none for it.
    """
    kind = array.dtype.str[1:]
    if kind not in ELEMENTS or not array.dtype.isnative:
        raise ArgumentError(
            f"an array of dtype {array.dtype} cannot be used on a device",
            hint="float64, float32 or integers",
        )
    return kind


def _by_dlpack(value: Any, writing: bool) -> Region | None:
    where = getattr(value, "__dlpack_device__", None)
    if where is None or isinstance(value, np.ndarray) or int(where()[0]) != _DLPACK_CUDA:
        return None
    try:
        from cuda.core.utils import StridedMemoryView
    except ImportError as error:
        raise TargetError(f"DLPack needs cuda.core: {error}") from None
    view = StridedMemoryView.from_dlpack(value, stream_ptr=-1)
    if writing and view.readonly:
        raise ArgumentError("out is read-only")
    shape, dtype = tuple(view.shape), np.dtype(view.dtype)
    strides = dense(0, shape, dtype).strides
    if view.strides is not None:
        strides = tuple(s * dtype.itemsize for s in view.strides)
    return Region(view.ptr, shape, strides, dtype, (value, view))


# --------------------------------------------------------------------- the libraries
@dataclass(frozen=True, slots=True)
class Library:
    """How a library makes arrays, and the stream it works on.

    Attributes
    ----------
    empty : `(module, shape, dtype, device) -> array`, whose elements are to be written.
    stream : `(module, device) -> handle` of the current stream.
    waits : whether it must find results complete, as it orders its own work otherwise.
    """

    empty: Callable[[Any, tuple[int, ...], np.dtype[Any], int], Any]
    stream: Callable[[Any, int], int]
    waits: bool = False


def _cupy_empty(cupy: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
    with cupy.cuda.Device(device):
        return cupy.empty(shape, dtype)


def _numba_empty(numba: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
    with numba.cuda.gpus[device]:
        return numba.cuda.device_array(shape, dtype)


def _jax_empty(jax: Any, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
    with jax.default_device(jax.devices("cuda")[device]):
        made = jax.numpy.empty(shape, dtype)
    if made.dtype != dtype:
        raise ArgumentError(f"JAX makes no arrays of {dtype}", hint="enable jax_enable_x64")
    return made.block_until_ready()


LIBRARIES: dict[str, tuple[str, Library]] = {
    "cupy": ("cupy", Library(
        _cupy_empty, lambda cupy, device: int(cupy.cuda.get_current_stream().ptr)
    )),
    "torch": ("torch", Library(
        lambda torch, shape, dtype, device: torch.empty(
            shape, dtype=getattr(torch, dtype.name), device=f"cuda:{device}"
        ),
        lambda torch, device: int(torch.cuda.current_stream(device).cuda_stream),
    )),
    "jax": ("jax", Library(_jax_empty, lambda jax, device: 0, waits=True)),
    "jaxlib": ("jax", Library(_jax_empty, lambda jax, device: 0, waits=True)),
    "numba": ("numba.cuda", Library(_numba_empty, lambda numba, device: 0)),
}  # fmt: skip
"""By the package in which an array's type is defined: the module to import, and how."""


class Home:
    """Where results go: a library on a device."""

    def __init__(self, like: Region) -> None:
        value = like.owner[0] if isinstance(like.owner, tuple) else like.owner
        package = type(value).__module__.partition(".")[0]
        name, self.library = LIBRARIES.get(package, LIBRARIES["numba"])
        try:
            module = importlib.import_module(name)
        except ImportError:
            raise TargetError(
                f"no library is known that makes arrays like {type(value).__name__}, and Numba's "
                "are not there",
                hint="pass out=",
            ) from None
        self.module = importlib.import_module(name.partition(".")[0]) if "." in name else module
        self.device = device_of(like.address) if like.size else 0

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A new array of the library."""
        return self.library.empty(self.module, shape, dtype, self.device)

    def stream(self) -> int:
        """The handle of the library's current stream."""
        return self.library.stream(self.module, self.device)


def wait_for(value: Any) -> None:
    """Wait for an array that is still being computed, as JAX's are."""
    wait = getattr(value, "block_until_ready", None)
    if wait is not None:
        wait()


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream of any library; an integer is one itself.

    Raises
    ------
    SymdiffError : for what is no stream.
    """
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        found = getattr(stream, name, None)
        if found is not None:
            with contextlib.suppress(TypeError, ValueError):
                return int(getattr(found, "value", found) or 0)
    raise SymdiffError(
        f"a {type(stream).__name__} is not a CUDA stream",
        hint="a stream of CuPy, PyTorch or Numba, or its handle as an integer",
    )
