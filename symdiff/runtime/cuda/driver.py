"""The CUDA driver: devices, memory, modules and launches, by the C interface.

Work is done in the primary context of a device, which CuPy, PyTorch, Numba and JAX use
too, so that their arrays and streams are ours.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterator, Sequence
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

from symdiff.errors import TargetError

SIMULATED = (
    'Numba\'s simulator cannot run kernels of target="cuda", which are PTX for the driver; in '
    "kernels of your own it runs f.numba_cuda"
)
LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")

_MULTIPROCESSORS, _MAJOR, _MINOR, _POOLS = 16, 75, 76, 115
_POINTER_DEVICE = 9
"""Numbers of attributes in NVIDIA's cuda.h."""


@functools.cache
def library() -> Any:
    """The driver, initialised.

    Raises
    ------
    TargetError : if there is no driver or no device.
    """
    for name in LIBRARIES:
        try:
            found = ctypes.CDLL(name)
        except OSError:
            continue
        status = found.cuInit(0)
        if status:
            raise TargetError(
                f"no CUDA device can be used: {_message(found, status)}",
                hint='target="auto" or "cpu" computes without one',
            )
        return found
    simulated = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
    usual = 'install the driver; target="auto" or "cpu" computes without one'
    raise TargetError(
        "there is no CUDA device: NVIDIA's driver is not installed",
        hint=SIMULATED if simulated else usual,
    )


def available() -> bool:
    """Whether there is a device."""
    try:
        return device_count() > 0
    except TargetError:
        return False


def device_count() -> int:
    count = c_int()
    call("cuDeviceGetCount", byref(count))
    return count.value


def call(name: str, *args: Any) -> None:
    """Call a function of the driver; its errors become `TargetError`s."""
    driver = library()
    status = getattr(driver, name)(*args)
    if status:
        raise TargetError(f"CUDA: {name} failed: {_message(driver, status)}")


def _message(driver: Any, status: int) -> str:
    text = c_char_p()
    if driver.cuGetErrorString(status, byref(text)) or text.value is None:
        return f"error {status}"
    return text.value.decode()


class Device:
    """One device and its primary context."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal = ordinal
        self._handle, self._context = c_int(), c_void_p()
        call("cuDeviceGet", byref(self._handle), c_int(ordinal))
        call("cuDevicePrimaryCtxRetain", byref(self._context), self._handle)
        self.capability = (self._attribute(_MAJOR), self._attribute(_MINOR))
        self.multiprocessors = self._attribute(_MULTIPROCESSORS)
        self._pools = bool(self._attribute(_POOLS))

    def _attribute(self, which: int) -> int:
        value = c_int()
        call("cuDeviceGetAttribute", byref(value), c_int(which), self._handle)
        return value.value

    @contextlib.contextmanager
    def current(self) -> Iterator[None]:
        """With this device's context."""
        call("cuCtxPushCurrent_v2", self._context)
        try:
            yield
        finally:
            call("cuCtxPopCurrent_v2", byref(c_void_p()))

    # What follows is called with the context.
    def load(self, image: bytes) -> c_void_p:
        """A module from machine code or PTX."""
        module = c_void_p()
        call("cuModuleLoadData", byref(module), c_char_p(image))
        return module

    def function(self, module: c_void_p, name: str) -> c_void_p:
        found = c_void_p()
        call("cuModuleGetFunction", byref(found), module, c_char_p(name.encode()))
        return found

    def resident(self, function: c_void_p, threads: int) -> int:
        """How many blocks of a kernel the device can hold at once."""
        blocks = c_int()
        call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            byref(blocks), function, c_int(threads), c_size_t(0),
        )  # fmt: skip
        return max(1, blocks.value) * self.multiprocessors

    def launch(
        self, function: c_void_p, blocks: int, threads: int, args: Sequence[Any], stream: int
    ) -> None:
        """Start a kernel; the arguments are ctypes numbers."""
        pointers = (c_void_p * max(1, len(args)))(*(ctypes.addressof(a) for a in args))
        call(
            "cuLaunchKernel", function, c_uint(blocks), c_uint(1), c_uint(1), c_uint(threads),
            c_uint(1), c_uint(1), c_uint(0), c_void_p(stream), pointers, c_void_p(0),
        )  # fmt: skip

    def allocate(self, size: int) -> int:
        address = c_uint64()
        call("cuMemAlloc_v2", byref(address), c_size_t(max(1, size)))
        return address.value

    def free(self, address: int) -> None:
        call("cuMemFree_v2", c_uint64(address))

    def reserve(self, size: int, stream: int) -> int:
        """Memory for what is queued on a stream from now on."""
        if not self._pools:
            return self.allocate(size)
        address = c_uint64()
        call("cuMemAllocAsync", byref(address), c_size_t(max(1, size)), c_void_p(stream))
        return address.value

    def release(self, address: int, stream: int) -> None:
        """Give back what was reserved, once what is queued on the stream is done."""
        if self._pools:
            call("cuMemFreeAsync", c_uint64(address), c_void_p(stream))
        else:
            self.synchronize(stream)
            self.free(address)

    def upload(self, address: int, host: int, size: int, stream: int) -> None:
        """Copy from host memory, which may be changed when this returns."""
        call("cuMemcpyHtoDAsync_v2", c_uint64(address), c_void_p(host), c_size_t(size),
             c_void_p(stream))  # fmt: skip
        self.synchronize(stream)

    def download(self, host: int, address: int, size: int, stream: int) -> None:
        """Copy to host memory, when the stream has come so far."""
        call("cuMemcpyDtoHAsync_v2", c_void_p(host), c_uint64(address), c_size_t(size),
             c_void_p(stream))  # fmt: skip
        self.synchronize(stream)

    def copy(self, target: int, source: int, size: int, stream: int) -> None:
        """Copy bytes from one place on the device to another."""
        call("cuMemcpyDtoDAsync_v2", c_uint64(target), c_uint64(source), c_size_t(size),
             c_void_p(stream))  # fmt: skip

    def fill(self, address: int, value: int, count: int, stream: int) -> None:
        """Write a number of 32 bits so many times."""
        call("cuMemsetD32Async", c_uint64(address), c_uint(value), c_size_t(count),
             c_void_p(stream))  # fmt: skip

    def synchronize(self, stream: int) -> None:
        call("cuStreamSynchronize", c_void_p(stream))


@functools.cache
def device(ordinal: int) -> Device:
    """The device of this number."""
    return Device(ordinal)


def device_of(address: int) -> int:
    """The number of the device whose memory this is."""
    ordinal = c_int()
    call("cuPointerGetAttribute", byref(ordinal), c_int(_POINTER_DEVICE), c_uint64(address))
    return ordinal.value
