"""Norms of arrays of any size: neither they nor their gradients overflow or vanish before the
truth does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from symdiff.frontend import capture
from symdiff.ir.loop_program import LoopProgram
from symdiff.ir.verify import loops as verify_loops
from symdiff.loops.simplify.scaled_sums import scaled_norms
from symdiff.pipeline import loops as loop_pipeline
from symdiff.pipeline.lowered.loops import LoweredProgram
from tests.loops.programs import close, outputs


def weighted(x):
    s = 0.0
    for i in range(len(x)):
        s = s + 3 * (x[i] - x[0] / 3) ** 2 / len(x)
    return np.sqrt(s)


def distances(x):
    p = x.reshape(-1, 2)
    return np.sum(np.sqrt(np.sum((p[:, None, :] - p[None, :, :]) ** 2, axis=2)))


def pairs(x):
    p, total = x.reshape(-1, 2), 0.0
    for i in range(len(p)):
        for j in range(i):
            total = total + np.linalg.norm(p[i] - p[j])
    return total


FUNCTIONS = {
    "norm": lambda x: np.linalg.norm(x),
    "root_of_product": lambda x: np.sqrt(x @ x),
    "frobenius": lambda x: np.linalg.norm(np.outer(x, np.array([1.0, 2.0, -1.0]))),
    "weighted": weighted,
    "rows": lambda x: np.sum(np.linalg.norm(x.reshape(-1, 2), axis=1)),
    "columns": lambda x: np.sum(np.linalg.norm(x.reshape(-1, 2), axis=0)),
    "distances": distances,
    "pairs": pairs,
    "root_mean_square": lambda x: np.sqrt(np.mean(x**2)),
    "beside_a_number": lambda x: np.sqrt(x @ x + x[0] ** 2),
}
"""Of degree 1: 2x has twice the value and the same gradient, exactly."""
EACH = pytest.mark.parametrize("fun", FUNCTIONS.values(), ids=FUNCTIONS)
norm = FUNCTIONS["norm"]
X = np.random.default_rng(4).normal(size=16)


@pytest.mark.sampled
@EACH
@pytest.mark.parametrize("power", [-1060, -900, -700, -500, -300, 300, 500, 800, 1015])
def test_norms_of_any_size(fun, power) -> None:
    f, size = symgrad(fun), 2.0**power
    value, slopes = f.value_and_grad(X)
    tight = 1e-14 if power > -1000 else 3e-3  # few bits are left of x
    x = X * size
    assert f(x) == pytest.approx(value * size, rel=tight, abs=0)
    np.testing.assert_allclose(f.grad(x), slopes, rtol=tight, atol=tight / 10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["norm", "rows", "weighted", "pairs"])
@pytest.mark.parametrize("power", [-100, 100])
def test_single_precision(name, power) -> None:
    f, x = symgrad(FUNCTIONS[name]), X.astype(np.float32)
    value, slopes = f.value_and_grad(x)
    large = x * np.float32(2.0**power)
    assert f(large) == pytest.approx(float(value) * 2.0**power, rel=1e-5, abs=0)
    np.testing.assert_allclose(f.grad(large), slopes, rtol=1e-4, atol=1e-5)


def test_sizes_that_differ() -> None:
    x = np.array([3e-200, 1e-320, 4e-200, 0.0, 1e-250])
    assert symgrad(norm)(x) == pytest.approx(5e-200, rel=1e-15, abs=0)
    x = np.array([3e200, 1e-320, 4e200, 1.0])
    np.testing.assert_allclose(symgrad(norm).grad(x), x / 5e200, rtol=1e-15)
    x = np.array([1.0, 1e-300, 1e200])
    assert symgrad(norm)(x) == 1e200


def test_directions() -> None:
    unit = symgrad(lambda x: x / np.linalg.norm(x))
    for size in (1e-200, 1.0, 1e200):
        np.testing.assert_allclose(unit(size * np.array([3.0, 4.0])), [0.6, 0.8], rtol=1e-15)


def test_norms_of_what_a_norm_divides() -> None:
    def f(x):
        n, t = np.linalg.norm(x), 0.0
        for v in x:
            t = t + (v / n + 0.5) ** 2
        return np.sqrt(t)

    value = symgrad(f)(np.array([3.0, 4.0]))
    for size in (1e-200, 1e200):
        assert symgrad(f)(size * np.array([3.0, 4.0])) == pytest.approx(value, rel=1e-15)


def test_norms_at_zero_and_beyond() -> None:
    f = symgrad(norm)
    assert f(np.zeros(3)) == 0
    np.testing.assert_array_equal(f.grad(np.zeros(3)), np.zeros(3))
    assert f(np.array([np.inf, 1.0])) == np.inf
    assert np.isnan(f(np.array([np.nan, 1e200])))


# ---------------------------------------------------------------------- the program
def program(fun: Callable[..., Any]) -> LoopProgram:
    raw = capture(fun, {}, {"x": (1, "f")})
    return loop_pipeline.gradient(loop_pipeline.value(raw), ["x"])


@pytest.mark.sampled
@EACH
def test_programs_are_valid(fun) -> None:
    before = program(fun)
    after = scaled_norms(before, "float64")
    assert after is not before
    assert verify_loops.faults(after) == []


@EACH
def test_programs_mean_the_same(fun) -> None:
    """In high precision; kernels that were wrong here would be corrected by the next tier."""
    before, x = program(fun), 1e200 * np.array([3.0, -1.5, 2.0, 0.5, -4.0, 1.0])
    pairs = zip(outputs(scaled_norms(before, "float64"), [x]), outputs(before, [x]), strict=True)
    assert all(close(a, b) for a, b in pairs)


def test_the_first_kernel_does_without() -> None:
    before = program(norm)
    assert "largest" not in str(LoweredProgram(before).double("float64", 0).program)
    assert "largest" in str(LoweredProgram(before).double("float64", 1).program)
    plain = LoweredProgram(before, reads_flags=False).double("float64", 2)
    assert "largest" not in str(plain.program)


def test_other_sums_stay() -> None:
    def products(x):
        return np.sqrt(np.sum(x[1:] * x[:-1]))

    def squares(x):
        return x @ x

    for fun in (products, squares):
        before = program(fun)
        assert scaled_norms(before, "float64") is before
