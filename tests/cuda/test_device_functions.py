"""Functions called inside of `@cuda.jit` kernels, and CUDA C++ for other compilers: what the
text computes, on the host; that it links, without a device; and Numba's simulator."""

from __future__ import annotations

import ctypes
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from symdiff.runtime.cuda import nvrtc
from tests.cuda.host import SHIM, compile_library, for_host
from tests.cuda.test_cuda_module import simulated

pytest.importorskip("cuda.bindings", reason='NVRTC is not there: install "symdiff[cuda]"')
pytest.importorskip("numba.cuda.extending", reason="numba-cuda is not there")


@symgrad
def ratio(x, y):
    return (1 - math.cos(x * y)) / x**2


@symgrad
def root(a, b, c):
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


@symgrad
def line(x):
    return 2 * x + 1


POINTS = [(0.0, 2.0), (1e-9, 3.0), (-1e-5, 0.7), (1.3, -2.0), (4.0, 1e-3)]


def _kernel_of(f: Any) -> Any:
    return f._cuda.compiled({})[1].kernel


def _compiled(kernel: Any, signature: Any) -> str:
    from numba import cuda

    return str(cuda.compile_ptx(kernel, signature, cc=(8, 0))[0])


def _cubin(*ptx: str) -> bytes:
    """What NVIDIA's linker makes of these, for which no device is needed."""
    nvjitlink = pytest.importorskip("cuda.bindings.nvjitlink")
    handle = nvjitlink.create(1, ["-arch=sm_80"])
    for k, text in enumerate(ptx):
        data = text.encode() + b"\0"
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), f"part{k}")
    nvjitlink.complete(handle)
    code = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, code)
    nvjitlink.destroy(handle)
    return bytes(code)


@pytest.mark.slow
def test_a_kernel_that_calls_functions_compiles_and_links_without_a_device() -> None:
    from numba import cuda, float64, int64

    from symdiff.runtime.cuda.numba_device import text_of

    @cuda.jit
    def kernel(x, n, out):
        i = cuda.grid(1)
        if i < out.size:
            value, (dx, dy) = ratio.value_and_grad(x[i], n)
            out[i] = value + dx * dy + line(x[i]) + line.grad(n)

    ptx = _compiled(kernel, (float64[:], int64, float64[:]))
    called = set(re.findall(r"symdiff_[0-9a-f]{24}", ptx))
    texts = [text_of(_kernel_of(f)) for f in (ratio.value_and_grad, line, line.grad)]
    assert called == {name for _, name in texts}
    linked = _cubin(ptx, *(nvrtc.linkable(text) for text, _ in texts))
    assert linked[:4] == b"\x7fELF"
    assert b"kernel" in linked


def test_products_are_rounded_in_what_is_linked() -> None:
    text = """extern "C" __device__ double f(double x, double y) { return x * y + 1.0; }"""
    ptx = nvrtc.linkable(text)
    assert "mul.rn.f64" in ptx and "add.rn.f64" in ptx
    assert ".visible .func" in ptx and ".entry" not in ptx and "fma" not in ptx


@pytest.mark.slow
def test_the_device_function_itself() -> None:
    from numba import cuda, float64

    device = ratio.grad.numba_cuda
    assert device is ratio.grad.numba_cuda

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = device(x[i], 1.0)[0]

    assert "call.uni" in _compiled(kernel, (float64[:], float64[:]))


@pytest.mark.slow
def test_the_other_compiler_still_has_its_own() -> None:
    """Both of Numba's compilers ask one attribute for a type."""
    from numba import cuda, float64, njit

    @symgrad
    def fresh(x):
        return math.sin(x) / x

    @cuda.jit
    def kernel(out):
        out[0] = fresh.grad(out[0])

    _compiled(kernel, (float64[:],))
    assert njit(lambda x: fresh.grad(x))(0.5) == fresh.grad(0.5)
    _compiled(kernel, (float64[::1],))


def _on_host(f: Any, folder: Path) -> Any:
    """A device function, compiled for the host."""
    kernel = _kernel_of(f)
    name, count = "symdiff_on_host", len(kernel.outputs)
    library = ctypes.CDLL(str(compile_library(SHIM + kernel.device_function(name), folder)))
    function = library[name]
    function.argtypes = [ctypes.c_void_p, *[ctypes.c_double] * len(kernel.params)]

    def call(*args: float) -> list[float]:
        found = (ctypes.c_double * count)()
        assert function(found, *args) == 0
        return list(found)

    return call


@pytest.mark.slow
def test_tiers_in_the_same_thread(host_folder: Path) -> None:
    quadratic = _on_host(root, host_folder)
    assert quadratic(1.0, 1e9, 1.0) == [-1e-9]
    slopes = _on_host(ratio.grad, host_folder)
    for p in POINTS:
        np.testing.assert_allclose(slopes(*p), ratio.grad(*p), rtol=4e-16, atol=0)


@pytest.mark.slow
def test_cuda_c_for_other_compilers(host_folder: Path) -> None:
    text = root.grad.source("cuda-c")
    assert nvrtc.ptx(text, (8, 0)).count(".visible .entry root_grad_kernel(") == 1
    assert text == root.grad.source("cuda-c")
    columns = [np.array(c) for c in zip((1.0, 1e4, 1.0), (2.0, -3.0, 1.0), strict=True)]
    out = [np.empty(2) for _ in range(3)]
    library = ctypes.CDLL(str(compile_library(for_host(text), host_folder)))
    size = ctypes.c_longlong(2)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*columns, *out)]
    places = [ctypes.addressof(p) for p in (*pointers, size)]
    library.block_root_grad_kernel((ctypes.c_void_p * 7)(*places), 0, 256, 1)
    for k in range(2):
        want = root.grad(*(float(c[k]) for c in columns))
        np.testing.assert_allclose([o[k] for o in out], want, rtol=4e-16)


def test_cuda_c_of_single_precision_takes_floats() -> None:
    text = symgrad(lambda x: (1 - math.cos(x)) / x**2, dtype="float32").source("cuda-c")
    assert "const float* __restrict__ p0, float* __restrict__ q0, const long long n)" in text
    nvrtc.ptx(text, (8, 0))


def test_refused() -> None:
    summed = symgrad(lambda x: np.sum(x))
    summed(np.ones(3))
    with pytest.raises(SymdiffError, match="arrays or loops"):
        summed.numba_cuda
    with pytest.raises(SymdiffError, match="a result that is a dict"):
        symgrad(lambda x: {"a": x}).numba_cuda
    with pytest.raises(SymdiffError, match="cuda-c"):
        line.source("fortran")


SCRIPT = """
import json, math
import numpy as np
from numba import cuda
from symdiff import symgrad

@symgrad
def ratio(x, y):
    return (1 - math.cos(x * y)) / x**2

device = ratio.value_and_grad.numba_cuda

@cuda.jit
def kernel(x, out, other):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = ratio.grad(x[i], 2.0)[0]
        other[i] = device(x[i], 2.0)[1][1]

x = np.array([0.0, 1e-9, 0.5, -3.0])
out, other = np.empty(4), np.empty(4)
kernel[1, 32](x, out, other)
print(json.dumps([out.tolist(), other.tolist()]))
"""


@pytest.mark.slow
def test_under_the_simulator(tmp_path: Path) -> None:
    import json

    first, second = json.loads(simulated(SCRIPT, tmp_path))
    for x, a, b in zip((0.0, 1e-9, 0.5, -3.0), first, second, strict=True):
        assert (a, b) == ratio.grad(x, 2.0)


@pytest.mark.slow
def test_the_simulator_runs_device_functions_and_no_kernels_of_ours(tmp_path: Path) -> None:
    printed = simulated(SIMULATED, tmp_path).splitlines()
    assert printed[0] == "[2.0, 4.0]"
    if len(printed) > 1:  # else there is a device
        assert "PTX for the driver" in printed[1] and "f.numba_cuda" in printed[1]


SIMULATED = """
import numpy as np
from numba import cuda
from symdiff import symgrad
from symdiff.errors import TargetError

f = symgrad(lambda x: (x**2 - 4) / (x - 2), target="cuda")
device = f.numba_cuda


@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = device(x[i])


out = np.zeros(2)
kernel[1, 2](np.array([0.0, 2.0]), out)
print(out.tolist())
try:
    f(2.0)
except TargetError as error:
    print(str(error).replace("\\n", " "))
"""
