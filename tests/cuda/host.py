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

from symdiff.runtime.cuda import driver as cudadriver
from symdiff.runtime.cuda import nvrtc
from symdiff.runtime.cuda.device_arrays import LIBRARIES, Library

FLAGS = ("-O1", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", "-w", "-std=c++17")
_KERNEL = re.compile(r'^extern "C" __global__ void __launch_bounds__\([^)]*\) (\w+)\((.*)\)$', re.M)

SHIM = """\
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define __device__
#define __global__
#define __shared__ static
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __launch_bounds__(...)
static struct { int x; } threadIdx, blockIdx, gridDim, blockDim;
static int atomicMin(int *at, int value) { int old = *at; if (value < old) *at = value; return old; }

// The threads of a block take turns: each runs up to a barrier, then the next one does.
enum { THREADS = 256, STACK = 1 << 16 };
static ucontext_t fibers[THREADS], scheduler;
static char *stacks;
static bool done[THREADS];
static void (*body)(void **);
static void **given;
static void start() { body(given); done[threadIdx.x] = true; }
static bool all;
static void turn() { swapcontext(&fibers[threadIdx.x], &scheduler); }
static void __syncthreads() { all = true; turn(); }
// The threads of a warp come to the same shuffles, so each turn brings all of them to the next.
static long long shuffled[THREADS];
template <class T> static T shuffle(T value, int from)
{
    memcpy(&shuffled[threadIdx.x], &value, sizeof value);
    turn();
    memcpy(&value, &shuffled[from], sizeof value);
    turn();
    return value;
}
template <class T> static T __shfl_down_sync(unsigned, T value, int delta)
{
    int lane = threadIdx.x % 32;
    return shuffle(value, lane + delta < 32 ? threadIdx.x + delta : threadIdx.x);
}
template <class T> static T __shfl_sync(unsigned, T value, int lane)
{
    return shuffle(value, threadIdx.x / 32 * 32 + lane);
}
static void together(int threads)
{
    if (!stacks) stacks = (char *)malloc((size_t)THREADS * STACK);
    for (int t = 0; t < threads; t++) {
        getcontext(&fibers[t]);
        fibers[t].uc_stack.ss_sp = stacks + (size_t)t * STACK;
        fibers[t].uc_stack.ss_size = STACK;
        fibers[t].uc_link = &scheduler;
        done[t] = false;
        makecontext(&fibers[t], start, 0);
    }
    for (int left = threads; left > 0;) {
        int waiting = 0;
        all = false;
        for (int t = 0; t < threads; t++) {
            if (done[t]) continue;
            threadIdx.x = t;
            swapcontext(&scheduler, &fibers[t]);
            waiting += !done[t];
        }
        if (all && waiting != left) abort();  // not all threads have come to the barrier
        left = waiting;
    }
}
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
    """A translation unit with, for each kernel, a function that runs one block of it."""
    blocks = []
    for name, params in _KERNEL.findall(text):
        given = ", ".join(
            f"*({kind.replace('__restrict__', '').rpartition(' ')[0].strip()}*)a[{k}]"
            for k, kind in enumerate(p for p in params.split(", ") if p)
        )
        waits = any(w in _body(text, name) for w in ("__syncthreads", "_sync("))
        run = "together(threads);" if waits else (
            "for (int t = 0; t < threads; t++) { threadIdx.x = t; body(given); }"
        )  # fmt: skip
        blocks.append(
            f"static void run_{name}(void **a) {{ {name}({given}); }}\n"
            f'extern "C" void block_{name}(void **a, int block, int threads, int blocks)\n'
            "{\n    blockIdx.x = block; blockDim.x = threads; gridDim.x = blocks;\n"
            f"    body = run_{name}; given = a;\n    {run}\n}}\n"
        )
    return "\n".join([SHIM, text, *blocks])


def _body(text: str, name: str) -> str:
    """The text of one kernel."""
    start = text.index(f" {name}(")
    return text[start : text.find("\n}\n", start)]


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

    def machine_code(text: str, *_: Any, **__: Any) -> nvrtc.Code:
        path = compile_library(for_host(text), host_folder)
        few = {name: 32 for name, _ in _KERNEL.findall(text)}
        return nvrtc.Code(str(path).encode() + b"\0", few, {})

    package = HostArray.__module__.partition(".")[0]
    library = Library(
        lambda module, shape, dtype, device: HostArray(np.full(shape, -77, dtype)),
        lambda module, device: 0,
    )
    monkeypatch.setitem(LIBRARIES, package, ("numpy", library))
    monkeypatch.setattr(cudadriver, "library", lambda: driver)
    monkeypatch.setattr(cudadriver, "device", functools.cache(cudadriver.Device))
    monkeypatch.setattr(nvrtc, "machine_code", machine_code)
    before = ctypes.c_int.in_dll(driver, "allocated").value
    yield driver
    assert ctypes.c_int.in_dll(driver, "contexts").value == 0
    assert ctypes.c_int.in_dll(driver, "allocated").value == before
