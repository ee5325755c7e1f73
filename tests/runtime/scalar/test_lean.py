"""Arrays in three tiers: what the processor's flags report is computed again."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.codegen.llvm import jit
from symdiff.codegen.llvm.tiers import CHUNK
from symdiff.interpret import Certified, ulp_error
from symdiff.runtime.scalar.compiled import Point, Spec

X = ir.var("x")
SIZE, SMALL = 160_000, 3000
"""More than goes through the builtin for small arrays, and what does."""
ARRAYS = 8
"""Ulps that results on arrays may be off."""


def norm(x, y):
    return np.sqrt(x * x + y * y)


def rational(x):
    return (x**3 - 2 * x + 1) / (x**2 + 1)


def check_rational(got: np.ndarray, x: np.ndarray, places: range) -> None:
    """Against balls."""
    reference = Certified(["x"], [(X**3 - 2 * X + 1) / (X**2 + 1)])
    for k in places:
        (answer,) = reference.at_with_status([x[k]])
        assert ulp_error(got[k], answer.ball) <= ARRAYS, x[k]


@pytest.fixture(scope="module")
def points() -> np.ndarray:
    return np.random.default_rng(0).uniform(-3, 3, SIZE)


def test_overflow_in_the_middle(points) -> None:
    x, y = points.copy(), points[::-1].copy()
    x[777], y[777] = 3e200, 4e200
    x[778], y[778] = 3e-200, 4e-200
    got = symgrad(norm)(x, y)
    assert got[777:779] == pytest.approx([5e200, 5e-200], rel=1e-15)
    np.testing.assert_allclose(got, np.hypot(x, y), rtol=1e-15)


def test_a_kernel_whose_flags_are_always_up(points) -> None:
    expected = np.where(points > 0, np.log(np.abs(points)), points * points)
    picked = symgrad(lambda x: np.where(x > 0, np.log(x), x * x))
    np.testing.assert_allclose(picked(points), expected, rtol=1e-14)


def test_nan_and_inf_go_their_own_way(points) -> None:
    x = points.copy()
    x[5], x[CHUNK + 1], x[-1] = np.nan, np.inf, -np.inf
    got = symgrad(rational)(x)
    assert np.isnan(got[5]) and np.isfinite(got[6:CHUNK]).all()
    assert got[0] == symgrad(rational)(float(x[0])) or abs(got[0]) > 0


def test_in_place_and_strided_and_broadcast(points) -> None:
    g = symgrad(rational).grad
    expected = g(points)
    spread = np.empty((SIZE, 3))
    spread[:, 1] = points
    np.testing.assert_array_equal(g(spread[:, 1]), expected)
    np.testing.assert_array_equal(g(points.reshape(100, -1).T).T.ravel(), expected)
    target = points.copy()
    assert g(target, out=target) is target
    np.testing.assert_array_equal(target, expected)
    both = symgrad(norm)(points.reshape(200, -1), points[:200].reshape(-1, 1))
    np.testing.assert_allclose(
        both, np.hypot(points.reshape(200, -1), points[:200, None]), rtol=1e-15
    )


def test_flagged_elements_are_put_right() -> None:
    x = np.linspace(-3, 3, SIZE)
    near = np.array([1.0 + 2.0**-k for k in range(20, 52)])
    x[1000 : 1000 + len(near)] = near
    check_rational(symgrad(rational)(x), x, range(990, 1050))


@pytest.mark.parametrize("size", [SMALL, SIZE])
def test_kernels_without_doubt_write_no_flags(size) -> None:
    f = symgrad(lambda r: (1 - np.exp(-(r - 1.5))) ** 2, parallel=False)
    kernel = f._compiled({})[1].kernel
    assert kernel.body("float64", "lean").spec.sure
    x = np.random.default_rng(4).uniform(0.5, 5, size)
    expected = np.expm1(1.5 - x) ** 2
    np.testing.assert_allclose(f(x), expected, rtol=1e-14)
    np.testing.assert_allclose(f(x[::2]), expected[::2], rtol=1e-14)
    x[7], x[-1], x[size // 2] = -900.0, np.nan, 800.0
    for given in (x, x.reshape(10, -1).T, x):
        got = f(given)
        wrong = np.array([np.inf, 1.0])
        np.testing.assert_array_equal(got.T.ravel()[[7, size // 2]], wrong)
        assert np.isnan(got.T.ravel()[-1])
        rest = np.isfinite(x) & (np.abs(x) < 100)
        np.testing.assert_allclose(got.T.ravel()[rest], expected[rest], rtol=1e-14)


def test_small_arrays_are_tested_where_the_processor_says_so() -> None:
    f = symgrad(norm, parallel=False)
    rng = np.random.default_rng(5)
    x, y = rng.uniform(1, 2, (2, SMALL))
    kernel = f._compiled({})[1].kernel
    np.testing.assert_allclose(f(x, y), np.hypot(x, y), rtol=1e-15)
    assert ("float64", "array") not in kernel._bodies
    for k in range(10):
        x[k], y[k] = 3e200, 4e-200
        x[-k], y[-k] = 3e-200, 4e-200
        np.testing.assert_allclose(f(x, y), np.hypot(x, y), rtol=1e-15)
    assert ("float64", "array") in kernel._bodies
    entries = [entry for (dtype, *_), entry in kernel._entries.items() if dtype == "float64"]
    raised, tried = (sum(e.field(name) for e in entries) for name in ("raised", "tried"))
    assert 0 < raised <= tried <= 8


def test_flagged_elements_of_small_arrays_come_from_further_tiers() -> None:
    x = np.linspace(-3, 3, SMALL)
    x[100:132] = [1.0 + 2.0**-k for k in range(20, 52)]
    f = symgrad(rational, parallel=False)
    for _ in range(2):
        check_rational(f(x), x, range(90, 140))


def test_threads_agree_with_one(points) -> None:
    x = np.concatenate([points] * 5)
    x[::501] = 1 + 1e-12
    one, all_cores = (symgrad(rational, parallel=p).value_and_grad(x) for p in (False, True))
    for a, b in zip(one, all_cores, strict=True):
        np.testing.assert_array_equal(a, b)


def test_single_precision(points) -> None:
    x = points.astype(np.float32)
    got = symgrad(lambda x: (x * x - 4) / (x - 2))(x)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, x + np.float32(2), rtol=1e-6)


@pytest.mark.skipif(not jit.has_flags(), reason="the processor's flags cannot be read")
@pytest.mark.parametrize(
    ("at", "flagged"),
    [((2.0, 3.0), False), ((1e-200, 1e-200), True), ((1e200, 1e200), True), ((1.0, 0.0), True)],
)
def test_points_that_read_the_flags(at: tuple[float, float], flagged: bool) -> None:
    x, y = ir.var("x"), ir.var("y")
    spec = Spec(("x", "y"), (x * y, x / y), ir.FALSE, "float64", "high", False, lean=True)
    values, found = Point(spec).evaluate(at)
    assert found is flagged and (flagged or values == [6.0, 2 / 3])


def test_early_exercise_is_computed_in_doubles() -> None:
    def put(s: float, k: float, r: float, sigma: float, t: float, n: int = 10) -> float:
        u = math.exp(sigma * math.sqrt(t / n))
        d, disc = 1 / u, math.exp(-r * t / n)
        p = (1 / disc - d) / (u - d)
        values = [max(k - s * u**j * d ** (n - j), 0.0) for j in range(n + 1)]
        for i in range(n - 1, -1, -1):
            values = [
                max(disc * (p * values[j + 1] + (1 - p) * values[j]), k - s * u**j * d ** (i - j))
                for j in range(i + 1)
            ]
        return values[0]

    made, at = symgrad(put, static="n"), (97.0, 100.0, 0.05, 0.3, 1.0)
    np.testing.assert_allclose(made(*at), put(*at), rtol=1e-13)
    ((_, tiers),) = made._emitted.values()
    values, flagged = tiers.kernel.point.evaluate(at)
    assert flagged is not jit.has_flags()
    np.testing.assert_allclose(values, put(*at), rtol=1e-13)
