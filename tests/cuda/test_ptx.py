"""Compilation to PTX and machine code, which needs NVIDIA's compiler but no device."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.codegen.cuda.thread_loop import Layout, Operand
from symdiff.errors import TargetError, UnsupportedError
from symdiff.frontend import capture
from symdiff.ir import functions, var
from symdiff.ir.loop_program import LoopProgram
from symdiff.pipeline import loops as loop_pipeline
from symdiff.runtime.cuda import driver
from symdiff.runtime.cuda import nvrtc as cudacompile
from symdiff.runtime.cuda.kernel import CudaKernel
from symdiff.runtime.cuda.loops.kernel import CudaProgram
from symdiff.runtime.protocols import Plain
from tests.array_corpus import CASES as ARRAY_CASES
from tests.conftest import apply_to_variables
from tests.corpus import CASES
from tests.traced_corpus import captured, gradient, has_gradient, value

pytest.importorskip("cuda.bindings", reason='NVRTC is not there: install "symdiff[cuda]"')

CAPABILITIES = [(7, 5), (8, 0), (9, 0)]
EACH = [(7, 5), *(pytest.param(cc, marks=pytest.mark.slow) for cc in CAPABILITIES[1:])]


def h(x):
    return (x**2 - 4) / (x - 2)


def wave(x, y):
    return math.sin(x * y) * math.exp(-x * x) + math.cos(y) / math.sqrt(1 + x * x)


def cosine_ratio(x):
    return (1 - math.cos(x)) / x**2


def entries(ptx):
    return re.findall(r"^\.visible \.entry (\w+)\(", ptx, re.M)


def table(dtype):
    """A kernel with an output for each function of the table."""
    ops = [op for op in functions.TABLE if op.arity and op.edges is None]
    return CudaKernel(Plain("f", ("x", "y"), tuple(apply_to_variables(op)[0] for op in ops)))


@pytest.mark.sampled
@pytest.mark.parametrize("cc", EACH)
@pytest.mark.parametrize("f", [h, wave, cosine_ratio])
def test_ptx_of_value_and_gradient(f, cc):
    ptx = symgrad(f).value_and_grad.ptx(cc=cc)
    assert f".target sm_{cc[0]}{cc[1]}" in ptx
    assert entries(ptx)[0] == "symdiff_0"
    single = symgrad(f, dtype="float32").value_and_grad.ptx(cc=cc)
    assert single == symgrad(f).value_and_grad.ptx(cc=cc, dtype="float32")
    assert ".f32" in single
    assert ".f64" not in single and "%fd" not in single


@pytest.mark.parametrize("cc", EACH)
def test_every_function_of_the_table(cc):
    double = table("float64").ptx("float64", cc)
    single = table("float32").ptx("float32", cc)
    assert double.count(".f64") > 1000
    assert single.count(".f32") > 1000
    assert ".f64" not in single


def test_dense_operands_are_read_as_vectors():
    assert "ld.global.nc.v2.f64" in symgrad(h, accuracy="fast").ptx()
    assert "st.global.v4.f32" in symgrad(h, accuracy="fast", dtype="float32").ptx()


def test_products_are_not_contracted_with_sums():
    def sums(x, y):
        return x * y + y / x - x * x * 3

    ptx = symgrad(sums, accuracy="fast").value_and_grad.ptx()
    expected = symgrad(sums, accuracy="fast").value_and_grad._cuda.compiled({})[1].kernel
    assert ptx.count("fma.rn.f64") == expected.text("float64", (9, 0)).count("fma(")
    assert "mul.rn.f64" in ptx and "add.rn.f64" in ptx


@pytest.mark.slow
def test_double_double_uses_fused_multiplication():
    ptx = symgrad(cosine_ratio).ptx()
    assert "symdiff_dd_mul" in ptx
    assert ptx.count("fma.rn.f64") > 100


def pair_forces(x, y, z):
    """Many outputs of much common work, more than registers hold."""
    total = []
    for k in range(24):
        r = math.sqrt((x - k) ** 2 + (y + k) ** 2 + z * z + 0.1 * k)
        total += [math.exp(-r) * math.sin(r + k) / r, math.log(r) * math.cos(k * r)]
    return total


@pytest.mark.slow
def test_outputs_are_divided_where_registers_spill(monkeypatch):
    kernel = symgrad(pair_forces, accuracy="fast").jacobian._cuda.compiled({})[1].kernel
    groups = kernel.groups("float64", (8, 0))
    assert sorted(m for g in groups for m in g.members) == list(range(144))
    for group in groups:
        spilled = kernel._measured(group, "float64", (8, 0)).spills[group.part.name]
        assert spilled == 0 or len(groups) == 1

    def spilling(text, cc, keep=True):
        code = cudacompile.Code(b"", {}, {})
        outputs = text.count("__restrict__ q")
        code.spills.update(dict.fromkeys(("symdiff_0", "symdiff_72"), 8 * (outputs > 50)))
        return code

    monkeypatch.setattr(cudacompile, "machine_code", spilling)
    monkeypatch.setattr(CudaKernel, "_width", lambda *_: 1)
    divided = CudaKernel(Plain("f", ("x",), tuple(var("x") * k for k in range(144)))).groups(
        "float64", (8, 0)
    )
    assert [len(g.members) for g in divided] == [36, 36, 36, 36]


@pytest.mark.parametrize("dtype", ["float64", pytest.param("float32", marks=pytest.mark.slow)])
def test_every_layout_compiles(dtype):
    kernel = symgrad(wave).value_and_grad._cuda.compiled({})[1].kernel
    groups = kernel.groups(dtype, (8, 0))
    real = "f8" if dtype == "float64" else "f4"
    shapes = [
        Layout((Operand(a, how), Operand(b, "value")), (Operand(c, how),) * 3, width, rank)
        for how, width, rank in (("dense", 1, 0), ("dense", 2, 0), ("strided", 1, 3))
        for a, b, c in ((real, real, real), ("i4", real, "f4"), ("u1", real, "f8"))
    ]
    from symdiff.codegen.cuda.printer import print_kernels
    from symdiff.runtime.cuda.kernel import _entries

    for layout in shapes:
        layouts = [layout] * len(groups)
        units = [
            (dtype, _entries(groups, layouts)),
            ("float64", kernel._repairing(groups, layouts)),
        ]
        for compute, found in units:
            if found:
                cudacompile.machine_code(print_kernels(kernel.params, found, compute), (8, 0))


@pytest.mark.slow
def test_the_readable_source_compiles_too():
    from numba import cuda, types

    for dtype in ("float64", "float32"):
        f = symgrad(wave, dtype=dtype).value_and_grad
        namespace = {}
        exec(f.source("cuda"), namespace)
        kernel = namespace["wave_value_and_grad"].py_func
        arrays = (getattr(types, dtype)[::1],) * 5
        for cc in CAPABILITIES:
            ptx, _ = cuda.compile_ptx(kernel, arrays, cc=cc)
            assert "mul.rn" in ptx


@pytest.mark.slow
def test_devices_newer_than_the_compiler_get_ptx():
    code = cudacompile.machine_code(table("float32").text("float32", (9, 0)), (99, 9))
    assert b".target sm_" in code.image
    assert cudacompile.machine_code("", (9, 0)).image.startswith(b"\x7fELF")


def test_errors(monkeypatch):
    with pytest.raises(TargetError, match=r"compute capability 2.0 is older than 5.0"):
        symgrad(h).ptx(cc=(2, 0))
    with pytest.raises(TargetError, match="NVRTC cannot compile for compute_999"):
        symgrad(h).ptx(cc=(99, 9))
    with pytest.raises(TargetError, match="there are no kernels in float16"):
        symgrad(h).ptx(dtype="float16")

    def missing():
        raise RuntimeError("no library")

    from cuda.bindings import nvrtc

    monkeypatch.setattr(nvrtc, "nvrtcVersion", missing)
    with pytest.raises(TargetError, match=r"(?s)NVRTC: no library.*pip install .symdiff\[cuda\]"):
        symgrad(lambda x: x * 3).ptx()


@pytest.mark.skipif(driver.available(), reason="there is a device")
def test_without_a_device():
    f = symgrad(h, target="cuda")
    with pytest.raises(TargetError, match=r"there is no CUDA device|no CUDA device can be used"):
        f(2.0)
    assert symgrad(h, target="auto")(2.0) == 4.0
    assert symgrad(h, target="auto").grad(np.array([1.0, 2.0])).tolist() == [1.0, 1.0]
    assert f.expr == symgrad(h).expr
    assert "symdiff_0" in f.ptx()


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_corpus_compiles(case):
    f = symgrad(case.fun, static=list(case.static))
    value, slopes = (g._cuda.compiled(case.static)[1].kernel for g in (f, f.jacobian))
    assert ".f64" not in value.ptx("float32", (8, 0))
    assert ".f64" not in slopes.ptx("float32", (8, 0))
    assert entries(slopes.ptx("float64", (8, 0)))


# ------------------------------------------------------------------ arrays and loops
ARRAYS = [
    "rosenbrock", "stencil", "compressed", "scatter_add", "running_sums", "places_of_extremes",
    "softmax_rows", "batched_products", "interpolated", "ewma", "blending", "rnn", "newton",
    "heat", "dynamic_programming", "lennard_jones", "logistic", "kalman", "histogram", "any_and_all",
]  # fmt: skip
"""Functions of the corpus that have every kind of kernel."""


def arrays(case, dtype):
    """The text of the value, and of the gradient if there is one."""
    yield CudaProgram(loop_pipeline.final(value(case))).plan(dtype).text
    if has_gradient(case):
        yield CudaProgram(loop_pipeline.final(gradient(case))).plan(dtype).text


def compiles(case, cc):
    for text in arrays(case, "float64"):
        assert entries(cudacompile.ptx(text, cc))
    for text in arrays(case, "float32"):
        assert "double" not in re.sub(r"__longlong_as_double", "", text)
        ptx = cudacompile.ptx(text, cc)
        assert ".f64" not in ptx and "%fd" not in ptx


@pytest.mark.sampled
@pytest.mark.parametrize("cc", CAPABILITIES)
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_compile(name, cc):
    compiles(next(c for c in ARRAY_CASES if c.name == name), cc)


@pytest.mark.slow
@pytest.mark.parametrize("case", ARRAY_CASES, ids=lambda c: c.name)
def test_the_corpus_of_arrays_compiles(case):
    try:
        if isinstance(captured(case), LoopProgram):
            compiles(case, (8, 0))
    except UnsupportedError as error:
        assert "which CUDA has not" in str(error)


def test_warps_and_blocks():
    def rows(X):
        return np.sum(X * X, axis=1)

    program = capture(rows, None, {"X": (2, "f")})
    text = CudaProgram(loop_pipeline.final(loop_pipeline.value(program))).plan("float64").text
    ptx = cudacompile.ptx(text, (9, 0))
    assert "shfl.sync.down" in ptx
    assert sorted(entries(ptx)) == ["symdiff_0", "symdiff_0_rows"]
    total = symgrad(lambda x: np.sum(x[:] * 2), dtype="float32").ptx()
    assert "bar.sync" in total and ".shared" in total
    assert ".f64" not in total
    assert "atom." not in total
