"""Run the CUDA kernels that symdiff prints on the CPU, for want of a device.

The C++ text is compiled with the system's compiler, with the few names of CUDA that it
uses defined for the host, and a driver whose memory is the host's launches it, so that
everything but the device itself is tested: the text, the tiers, how arguments are passed,
and what is done with arrays.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff.runtime import cudacompile, cudadriver
from symdiff.runtime.cudaarrays import LIBRARIES, Library

FLAGS = ("-O1", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-w", "-std=c++17")
_KERNEL = re.compile(r'^extern "C" __global__ void __launch_bounds__\([^)]*\) (\w+)\((.*)\)$', re.M)

SHIM = """\
#include <math.h>
#include <string.h>
#define __device__
#define __global__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __launch_bounds__(...)
static struct { int x; } threadIdx, blockIdx, gridDim;
static float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
static int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
static double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
#define VECTORS(name, type) \\
    struct alignas(2 * sizeof(type)) name##2 { type x, y; }; \\
    struct alignas(4 * sizeof(type)) name##4 { type x, y, z, w; };
VECTORS(double, double) VECTORS(float, float) VECTORS(char, signed char) VECTORS(short, short)
VECTORS(int, int) VECTORS(longlong, long long) VECTORS(uchar, unsigned char)
VECTORS(ushort, unsigned short) VECTORS(uint, unsigned) VECTORS(ulonglong, unsigned long long)
"""


def compile_library(text: str, folder: Path) -> Path:
    """A shared library, compiled once for each text."""
    name = hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
    source, library = folder / f"{name}.cpp", folder / f"{name}.so"
    if not library.exists():
        source.write_text(text)
        compiler = shutil.which("g++") or shutil.which("clang++")
        if compiler is None:
            pytest.skip("there is no C++ compiler")
        made = source.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
        subprocess.run([compiler, *FLAGS, "-o", made, source, "-ldl"], check=True)
        made.replace(library)
    return library


def for_host(text: str) -> str:
    """A translation unit with, for each kernel, a function that runs one thread of it."""
    threads = []
    for name, params in _KERNEL.findall(text):
        given = ", ".join(
            f"*({kind.replace('__restrict__', '').rpartition(' ')[0].strip()}*)a[{k}]".replace(
                "*(const ", "*(const "
            )
            for k, kind in enumerate(params.split(", "))
        )
        threads.append(
            f'extern "C" void thread_{name}(void **a, int block, int thread, int blocks)\n'
            "{\n    blockIdx.x = block; threadIdx.x = thread; gridDim.x = blocks;\n"
            f"    {name}({given});\n}}\n"
        )
    return "\n".join([SHIM, text, *threads])


class HostArray:
    """An array of the fake device: it says so, and NumPy is kept from reading it."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.array.__array_interface__, "version": 3, "stream": None}

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array is not allowed")


@pytest.fixture(scope="session")
def host_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def fake_device(monkeypatch: pytest.MonkeyPatch, host_folder: Path) -> Any:
    """The fake driver, in the place of NVIDIA's; what it counts are its attributes."""
    source = (Path(__file__).parent / "fake_driver.cpp").read_text(encoding="utf-8")
    driver = ctypes.PyDLL(str(compile_library(source, host_folder)))  # one thread at a time

    def machine_code(text: str, *_: Any, **__: Any) -> cudacompile.Code:
        path = compile_library(for_host(text), host_folder)
        few = {name: 32 for name, _ in _KERNEL.findall(text)}
        return cudacompile.Code(str(path).encode() + b"\0", few, {})

    package = HostArray.__module__.partition(".")[0]
    library = Library(
        lambda module, shape, dtype, device: HostArray(np.full(shape, -77, dtype)),
        lambda module, device: 0,
    )
    monkeypatch.setitem(LIBRARIES, package, ("numpy", library))
    monkeypatch.setattr(cudadriver, "library", lambda: driver)
    monkeypatch.setattr(cudadriver, "device", functools.cache(cudadriver.Device))
    monkeypatch.setattr(cudacompile, "machine_code", machine_code)
    before = ctypes.c_int.in_dll(driver, "allocated").value
    yield driver
    assert ctypes.c_int.in_dll(driver, "contexts").value == 0
    assert ctypes.c_int.in_dll(driver, "allocated").value == before
