"""Readable Numba source."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symdiff import ir
from symdiff.codegen.source.python import IMPORTS, function_source
from symdiff.errors import UnsupportedError
from symdiff.ir import NAN, Expr, const, div, eq, lt, or_, power, sqrt, topological, var, where
from symdiff.ir import functions as fn
from tests.codegen.sympy.test_translate import decided, exact, rational_dags

x, y = var("x"), var("y")


def body(*outputs: Expr, dtype: str = "float64") -> str:
    """The statements of a function of x and y."""
    source = function_source("f", ["x", "y"], outputs, dtype=dtype, decorator="")
    ast.parse(source)
    return "\n".join(line.strip() for line in source.splitlines()[1:])


def load(source: str, name: str = "f") -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(IMPORTS + source, namespace)
    return namespace[name]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (x + 2, "return x + 2.0"),
        (x**3, "return x*x*x"),
        (1 / x**2, "return 1.0/(x*x)"),
        (sqrt(x), "return math.sqrt(x)"),
        (div(1, sqrt(x)), "return 1.0/abs(math.sqrt(x))"),
        (div(1, sqrt(1 + x)), "return 1.0/math.sqrt(x + 1.0)"),
        (x - (y - 1) * 2, "return x - 2.0*(y - 1.0)"),
        (const(-2) * x, "return -2.0*x"),
        (power(x, y), "return math.pow(x, y)"),
        (power(x, 40), "return math.pow(x, 40.0)"),
        (const(Fraction(1, 3)) + x, "return x + 0.3333333333333333"),
        (x / 3, "return x/3.0"),
        (fn.PI() * x, "return math.pi*x"),
        (where(lt(0, x), x, y), "return x if x > 0.0 else y"),
        (where(lt(x, y), x, where(eq(x, 0), 1, y)) + 1,
         "return (x if x < y else 1.0 if x == 0.0 else y) + 1.0"),
        (where(or_(lt(x, 0), ir.not_(eq(y, 1))), x, 2), "return x if x < 0.0 or not y == 1.0 else 2.0"),
        (where(lt(x, 0), NAN, ir.INF), "return math.nan if x < 0.0 else math.inf"),
        (fn.SIN(x) ** 2, "t0 = math.sin(x)\nreturn t0*t0"),
    ],
)  # fmt: skip
def test_statements(node: Expr, expected: str) -> None:
    assert body(node) == expected


def test_shared_nodes_are_named_once_and_in_order() -> None:
    a = fn.SIN(x) * y
    assert body(a + fn.EXP(a), a) == "t0 = math.sin(x)*y\nreturn t0 + math.exp(t0), t0"


def test_no_output_and_many_outputs() -> None:
    assert body() == "return ()"
    assert body(*(x * k for k in range(20, 60))).startswith("return (\n20.0*x,")


def test_single_precision_has_no_double_constant() -> None:
    text = body(x * const(0.1) + fn.PI() * fn.SIN(y) ** 5 - 2, dtype="float32")
    constants = [
        n
        for n in ast.walk(ast.parse("def f():\n " + text.replace("\n", "\n ")))
        if isinstance(n, ast.Constant)
    ]
    assert constants
    assert text.count("np.float32(") == len(constants) + text.count("math.pi")
    assert "np.float32(0.1)" in text
    assert "np.float32(math.pi)" in text


def test_long_lines_are_cut() -> None:
    e: Expr = x
    for k in range(60):
        e = e + fn.SIN(x * (k + 2)) * y
    lines = body(e).splitlines()
    assert len(lines) > 5
    assert max(len(line) for line in lines) < 110


def test_deep_functions() -> None:
    v = x
    for _ in range(2000):
        v = fn.SIN(v) + fn.COS(v) / 3
    lines = body(v).splitlines()
    assert lines[0] == "t0 = math.sin(x) + math.cos(x)/3.0"
    assert len(lines) == 2000


def test_names_that_the_text_needs_are_kept_free() -> None:
    t0, np_, np2 = var("t0"), var("np"), var("np_")
    a = fn.SIN(t0) + np_ * np2
    source = function_source("f", ["t0", "np", "np_"], [a * a])
    assert "def f(t0, np__, np_):" in source
    f = load(source)
    assert f.py_func(0.5, 2.0, 3.0) == (math.sin(0.5) + 6.0) ** 2


def test_docstring_is_quoted() -> None:
    text = 'a """quote""" and \\ and "'
    source = function_source("f", ["x"], [x], doc=text)
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert ast.get_docstring(function) == text


def test_unknown_dtype_and_function_are_refused() -> None:
    with pytest.raises(ValueError, match="dtype must be one of float64, float32"):
        function_source("f", ["x"], [x], dtype="float16")
    op = ir.Op("no_python_form_test", 1, libm="sin")
    with pytest.raises(UnsupportedError, match="no_python_form_test cannot be written as Python"):
        function_source("f", ["x"], [op(x)])


def in_one(table_samples: list) -> tuple[list[str], list[Expr], list[float]]:
    """Parameters, outputs and arguments of one function of all entries, each at its own point."""
    params, outputs, point = [], [], []
    for i, s in enumerate(table_samples):
        names = [f"p{i}_{n}" for n in s.params]
        params += names
        point += s.point
        args = [var(n) for n in names]
        outputs.append(s.op(const(0), *args) if s.op.arity > len(args) else s.op(*args))
    return params, outputs, point


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_numba_compiles_every_table_entry(table_samples: list, dtype: str) -> None:
    """All in one kernel, against ball arithmetic."""
    params, outputs, point = in_one(table_samples)
    f = load(function_source("f", params, outputs, dtype=dtype))
    real = np.dtype(dtype).type
    got = f(*(real(v) for v in point))
    types = {str(t) for t in f.nopython_signatures[0].return_type}
    assert types == {dtype}
    eps = float(np.finfo(dtype).eps)
    for s, value in zip(table_samples, got, strict=True):
        truth = float(s.truth)
        assert value == pytest.approx(truth, rel=64 * eps, abs=8 * eps), s.op


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_branches_and_powers_compile(dtype: str) -> None:
    outputs = [
        where(lt(0, x), sqrt(x) * power(x, 40), -x),
        where(lt(x, 0), NAN, power(x, y)),
        fn.MAXIMUM(x, y) - fn.MINIMUM(x, 3),
    ]
    f = load(function_source("f", ["x", "y"], outputs, dtype=dtype))
    real = np.dtype(dtype).type
    values = f(real(1.25), real(2.0))
    assert values == pytest.approx((1.25**40.5, 1.5625, 0.75), rel=1e-5)
    assert {str(t) for t in f.nopython_signatures[0].return_type} == {dtype}
    assert math.isnan(f(real(-1.0), real(2.0))[1])


@pytest.mark.slow
@given(rational_dags(), st.integers(-9, 9), st.integers(-9, 9))
def test_plain_python_gives_the_same_values(e: Expr, p: int, q: int) -> None:
    namespace: dict[str, Any] = {"math": math}
    exec(function_source("f", ["x", "y"], [e, e + 1], decorator=""), namespace)
    values = {"x": Fraction(p), "y": Fraction(q)}
    assume(decided(e, values))
    truth = exact(e, values)
    size = exact_size(e, p, q)
    if size < 2**200:  # the same operations in floating point, each rounded
        got = namespace["f"](float(p), float(q))
        assert got[0] == pytest.approx(float(truth), rel=1e-12, abs=1e-12 * float(size))


def exact_size(e: Expr, p: int, q: int) -> Fraction:
    """The largest intermediate value, for the rounding error."""
    values = {"x": Fraction(p), "y": Fraction(q)}
    return max(
        (abs(exact(n, values)) for n in topological((e,)) if not n.op.boolean), default=ir.ONE.value
    )
