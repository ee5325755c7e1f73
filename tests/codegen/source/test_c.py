"""C99 source, compiled with gcc where there is one."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from pathlib import Path

import pytest

from symdiff.codegen.source.c import c_source
from symdiff.errors import UnsupportedError
from symdiff.ir import INF, NAN, Expr, Op, and_, const, eq, lt, not_, power, sqrt, var, where
from symdiff.ir import functions as fn
from tests.codegen.source.test_python import in_one

x, y = var("x"), var("y")
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def build(source: str, folder: Path) -> ctypes.CDLL:
    (folder / "f.c").write_text(source)
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-ffp-contract=off"]
    subprocess.run(
        [*command, "-shared", "-fPIC", "-o", "f.so", "f.c", "-lm"], cwd=folder, check=True
    )
    return ctypes.CDLL(str(folder / "f.so"))


def test_one_output_is_returned() -> None:
    text = c_source("f", ["x", "y"], [fn.SIN(x) ** 2 / 3 + y], header=False, comment="a */ b")
    assert text == (
        "/* a * / b */\n"
        "double f(double x, double y)\n"
        "{\n"
        "    double t0 = sin(x);\n"
        "    return t0*t0/3.0 + y;\n"
        "}\n"
    )


def test_several_outputs_and_reserved_names() -> None:
    i = var("int")
    text = c_source("f", ["int", "out"], [i * var("out"), -i], dtype="float32", header=False)
    assert text == (
        "void f(float int_, float out_, float out[2])\n"
        "{\n"
        "    out[0] = int_*out_;\n"
        "    out[1] = -int_;\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (where(and_(lt(0, x), not_(eq(y, 1))), x, y), "x > 0.0 && !(y == 1.0) ? x : y"),
        (where(lt(x, 0), NAN, -INF), "x < 0.0 ? NAN : -INFINITY"),
        (sqrt(x) * power(x, y), "sqrt(x)*pow(x, y)"),
        (fn.GAMMA(x) + const(0.1), "tgamma(x) + 0.1"),
    ],
)
def test_expressions(node: Expr, expected: str) -> None:
    assert f"return {expected};" in c_source("f", ["x", "y"], [node])


def test_functions_without_libm_are_refused() -> None:
    op = Op("no_libm_test", 1, intrinsic="llvm.made.up")
    with pytest.raises(UnsupportedError, match="no_libm_test cannot be written as C"):
        c_source("f", ["x"], [op(x)])


@pytest.mark.sampled
@needs_gcc
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gcc_compiles_every_table_entry(table_samples: list, dtype: str, tmp_path: Path) -> None:
    params, outputs, point = in_one(table_samples)
    library = build(c_source("f", params, outputs, dtype=dtype), tmp_path)
    real = ctypes.c_double if dtype == "float64" else ctypes.c_float
    out = (real * len(outputs))()
    library.f.restype = None
    library.f(*(real(v) for v in point), out)
    eps = 2.3e-16 if dtype == "float64" else 1.2e-7
    for s, value in zip(table_samples, out, strict=True):
        assert value == pytest.approx(float(s.truth), rel=64 * eps, abs=8 * eps), s.op


@needs_gcc
def test_gcc_compiles_branches_and_shared_conditions(tmp_path: Path) -> None:
    c = and_(lt(0, x), lt(x, y))
    library = build(c_source("f", ["x", "y"], [where(c, x, y) + where(c, 1, NAN)]), tmp_path)
    library.f.restype = ctypes.c_double
    assert library.f(ctypes.c_double(1.0), ctypes.c_double(2.0)) == 2.0
    got = library.f(ctypes.c_double(3.0), ctypes.c_double(2.0))
    assert math.isnan(got)
