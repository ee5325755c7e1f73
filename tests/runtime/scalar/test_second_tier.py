"""Elements of arrays that a kernel flags are computed again by another body, and only they; numbers in balls."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.ir import Expr
from symdiff.ir import functions as f
from symdiff.pipeline.lowered.scalar import LoweredFunction
from symdiff.runtime.scalar import elementwise
from symdiff.runtime.scalar.fallback import Tiered
from symdiff.runtime.scalar.kernel import Kernel
from tests.kernels import make_kernel

X, Y = ir.var("x"), ir.var("y")
CANCELS = (1 - f.COS(X)) / X**2
NEAR = 1e-4


def small(outputs: Sequence[Expr], dtype: str, kind: str) -> Expr:
    """A stand-in for the analysis: |x| below a bound that depends on the dtype."""
    return ir.lt(ir.abs_(X), ir.const(1e-2 if dtype == "float64" else 0.5))


SERIES = ir.HALF - X**2 / 24 + X**4 / 720


def tiered(*outputs: Expr, names: tuple[str, ...] = ("x",), **options: object) -> Kernel:
    second = ir.substitute(outputs, {CANCELS: SERIES})
    none = ir.lt(ir.abs_(X), ir.const(1e-9))
    return make_kernel(outputs, names, test=small, second=second, flagged=none, **options)


def truth(x: float) -> float:
    """The series of (1 - cos x)/x**2, for small x."""
    return 0.5 - x**2 / 24 + x**4 / 720 - x**6 / 40320


def test_numbers_are_settled_in_compiled_code() -> None:
    function = LoweredFunction("f", ("x",), (CANCELS,), (CANCELS,), rearranged=False, keep=False)
    kernel = Kernel(function, cache=False)
    calls = Tiered(kernel, (CANCELS,))
    assert kernel.fast(NEAR) is NotImplemented  # balls are made when they are needed
    assert calls([NEAR]) == [truth(NEAR)]
    assert kernel.fast(NEAR) == truth(NEAR)
    assert kernel.fast(1e-12) == 0.5
    assert kernel.fast(0.0) is NotImplemented  # a limit
    assert calls([0.0]) == [0.5]
    assert kernel.fast(1.0) == pytest.approx(1 - math.cos(1.0), rel=1e-15)


def test_what_the_second_body_doubts_stays_flagged() -> None:
    """Of a kernel that was pickled, which keeps its tiers."""
    kernel = pickle.loads(pickle.dumps(tiered(CANCELS)))
    got = kernel.evaluate([np.array([1.0, NEAR, 1e-12, NEAR])])
    assert got.flagged == 1
    assert got.flags is not None and got.flags.tolist() == [0, 0, 1, 0]
    assert got.values[0][1] == got.values[0][3] == pytest.approx(truth(NEAR), rel=2e-16)


def test_only_flagged_elements_change() -> None:
    x = np.linspace(-2, 2, 10001).reshape(73, 137)
    plain = make_kernel([CANCELS], ["x"]).evaluate([x]).values[0]
    got = tiered(CANCELS).evaluate([x]).values[0]
    inner = np.abs(x) < 1e-2
    assert np.array_equal(got[~inner], plain[~inner])
    inner &= x != 0
    np.testing.assert_array_max_ulp(got[inner], truth(x[inner]), 2)


def test_broadcasting_strides_and_out() -> None:
    x = np.array([[1.0, NEAR, 2.0], [NEAR, 3.0, 1.0]])
    y = np.array([[10.0], [20.0]])
    kernel = tiered(CANCELS * Y, X - Y, names=("x", "y"))
    out = np.zeros((3, 2)).T
    got = kernel.evaluate([x, y], [out, None])
    assert got.values[0] is out and got.flagged == 0
    assert out[0, 1] == pytest.approx(10 * truth(NEAR), rel=2e-16)
    assert out[1, 0] == pytest.approx(20 * truth(NEAR), rel=2e-16)
    assert np.array_equal(got.values[1], x - y)


def test_float32_is_settled_in_double() -> None:
    x = np.array([0.25, 2e-3, 1.0], np.float32)
    got = tiered(CANCELS).evaluate([x])
    assert got.values[0].dtype == np.float32 and got.flagged == 0
    expected = truth(x[:2].astype(float)).astype(np.float32)
    assert np.array_equal(got.values[0][:2], expected)


SHAPES = [(1,), (63,), (64,), (65,), (9000,), (3, 5000), (5000, 3), (7, 11, 130)]


@pytest.mark.sampled
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("share", [0.002, 0.2, 1.0])
@pytest.mark.parametrize("layout", ["straight", "turned", "spread", "one row"])
def test_flagged_elements_wherever_they_lie(shape, share, layout) -> None:
    rng = np.random.default_rng(len(shape))
    x = np.where(rng.random(shape) < share, rng.uniform(1e-6, 1e-3, shape), 1.5)
    y, out = rng.uniform(1, 2, shape), np.zeros(shape)
    if layout == "turned":
        out = np.zeros(shape[::-1]).T
    elif layout == "spread":
        x = np.repeat(x, 2, axis=-1)[..., ::2]
        out = np.zeros((*shape[:-1], 3 * shape[-1]))[..., ::-3]
    elif layout == "one row":
        y = y[..., :1]
    got = tiered(CANCELS * Y, X - Y, names=("x", "y")).evaluate([x, y], [out, None])
    expected = np.where(x < 1e-2, truth(x), (1 - np.cos(1.5)) / 1.5**2) * y
    assert got.values[0] is out
    np.testing.assert_allclose(out, expected, rtol=1e-15)
    assert np.array_equal(got.values[1], x - y)


@pytest.mark.slow
def test_large_results_are_the_same_as_small_ones_wherever_many_are_flagged() -> None:
    """Results are written past the caches where few are computed again, in turns here."""
    n = 2 * elementwise.STREAMED // 8
    x = np.full(n, 1.5)
    x[n // 3 : n // 2 : 7] = NEAR
    x[::5000] = NEAR
    kernel = tiered(CANCELS, X + 1)
    for lead in (0, 3):
        (values, more), left = kernel.evaluate([x[lead:]])[:2]
        assert left == 0
        near = x[lead:] == NEAR
        np.testing.assert_allclose(values[near], truth(NEAR), rtol=2e-16)
        assert np.all(values[~near] == kernel.evaluate([np.full(9000, 1.5)]).values[0][0])
        assert np.array_equal(more, x[lead:] + 1)


def test_what_is_nan_is_not_asked_about(monkeypatch) -> None:
    """Arguments that are nan, and powers of negative numbers."""
    f = symgrad(lambda x, p: x**p).value_and_grad
    x, p = np.linspace(0.5, 1.5, 64), np.linspace(0.3, 2.7, 64)
    f(x, p)
    monkeypatch.setattr(Tiered, "_asked", None)
    x[::3], x[1::3] = np.nan, -1.7
    for result in (f(x, p)[0], *f(x, p)[1]):
        assert np.isnan(result[::3]).all() and np.isnan(result[1::3]).all()
        assert np.isfinite(result[2::3]).all()
