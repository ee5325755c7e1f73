"""Functions that are computed together: right to a unit or two, everywhere."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.codegen.llvm import jit, sincos
from symdiff.codegen.llvm import printer as llvm
from symdiff.ir import functions as f
from symdiff.ir import var
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel, narrow

X = var("x")
PAIRS = list(sincos.PAIRS)
TRUTH = {f.SIN: mpmath.sin, f.COS: mpmath.cos, f.EXP: mpmath.exp, f.EXPM1: mpmath.expm1}
WORST = 2.0
needs_vectors = pytest.mark.skipif(jit.host().bits < 128, reason="no registers here")


def points(most: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    sign = rng.choice([-1.0, 1.0], 3000)
    sizes = [rng.uniform(0, 1, 1000), rng.uniform(0, most, 1000), 10 ** rng.uniform(-300, 0, 1000)]
    multiples = np.arange(-200, 200) * (math.pi / 2), np.arange(-200, 200) * math.log(2)
    return np.concatenate([np.concatenate(sizes) * sign, *multiples])


@pytest.mark.slow
@needs_vectors
@pytest.mark.parametrize("host", [jit.host(), narrow()], ids=["whole", "narrow"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: "-".join(op.name for op in p))
def test_values_are_right_to_two_units(pair, host, monkeypatch):
    monkeypatch.setattr(jit, "host", lambda: host)
    x = points(sincos.PAIRS[pair][1])
    found = make(pair)((x,))
    with mpmath.workprec(1300):
        for op, values in zip(pair, found, strict=True):
            for at, value in zip(x, values, strict=True):
                true = TRUTH[op](mpmath.mpf(float(at)))
                error = abs(mpmath.mpf(float(value)) - true) / np.spacing(abs(float(true)))
                assert error < WORST, (op.name, at)


def make(pair) -> Kernel:
    outputs = tuple(op(X) for op in pair)
    return make_kernel(outputs, ("x",), accuracy="fast", parallel=False)


@pytest.mark.sampled
@needs_vectors
@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: "-".join(op.name for op in p))
def test_arguments_that_are_too_large_go_to_the_library(pair):
    most = sincos.PAIRS[pair][1]
    kernel = make(pair)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e300, -1e300, most, -most, 2 * most]
    special += [-720.0, -740.0, -745.2, 709.7, 709.8, 5e-324, -5e-324]
    for start in range(8):  # in registers with ordinary neighbours
        x = np.array([0.5] * start + special + [0.25] * (8 - start))
        with np.errstate(all="ignore"):
            for op, values in zip(pair, kernel((x,)), strict=True):
                np.testing.assert_allclose(values, getattr(np, op.name)(x), rtol=1e-15, atol=0)


@needs_vectors
def test_a_function_alone_is_called():
    lanes = llvm.Lanes(4)
    for shares, outputs, calls in (
        (True, (f.SIN(X), f.COS(X)), False),
        (True, (f.SIN(X), f.COS(X + 1)), True),
        (False, (f.SIN(X), f.COS(X)), True),
    ):
        writer = llvm.Writer("float64", lanes, shares)
        text = llvm.print_body(("x",), outputs, None, "float64", lanes, writer)
        assert (".near" not in text) is calls


@pytest.mark.sampled
@needs_vectors
@pytest.mark.parametrize("chunk", [5, 1000])
def test_functions_of_many_parts(chunk, monkeypatch):
    """Where a kernel is several functions, and has more outputs than it can stream."""
    monkeypatch.setattr(llvm, "CHUNK", chunk)
    outputs = tuple(g(X * k) for k in range(1, 12) for g in (f.SIN, f.COS))
    kernel = make_kernel(outputs, ("x",), accuracy="fast")
    x = np.linspace(-3, 3, 100)
    for k, (sine, cosine) in enumerate(zip(*[iter(kernel((x,)))] * 2, strict=True), 1):
        np.testing.assert_allclose(sine, np.sin(k * x), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(cosine, np.cos(k * x), rtol=1e-14, atol=1e-15)


@pytest.mark.slow
def test_derivatives_of_what_is_computed_together():
    def g(x, y):
        return math.sin(x * y) * math.expm1(-x) / y

    fast, high = (symgrad(g, accuracy=a, cache=False).value_and_grad for a in ("fast", "high"))
    x, y = np.random.default_rng(1).uniform(0.5, 3, (2, 500))
    np.testing.assert_allclose(fast(x, y)[0], high(x, y)[0], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(fast(x, y)[1], high(x, y)[1], rtol=1e-13, atol=1e-14)
    single = [v.astype("float32") for v in (x, y)]
    np.testing.assert_allclose(fast(*single)[0], high(*single)[0], rtol=1e-4, atol=1e-6)
