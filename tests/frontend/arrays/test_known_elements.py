"""Elements of tables at places that are known when traced, and parameters that are said to be numbers."""

import importlib.util

import numpy as np
import pytest

from symdiff import SymdiffError, symgrad
from tests.frontend.differences import slopes_by

TABLE = np.linspace(0.0, 1.0, 36).reshape(6, 6)
ENDLESS = np.where(TABLE > 0.5, np.inf, TABLE)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [
    lambda a: a * np.meshgrid(np.arange(6.0), np.arange(6.0))[1][1, 0],
    lambda a: np.exp(-a * sum(g**2 for g in np.meshgrid(*[np.linspace(0, 1, 6)] * 2)))[2, 3],
    lambda a: a * (TABLE + TABLE.T)[1, 2],
    lambda a: a * np.meshgrid(np.arange(60), np.arange(2))[0][1, 17] // 2,
    lambda a: a + np.meshgrid(ENDLESS[5], ENDLESS[0])[0][1, 1],
])  # fmt: skip
def test_elements_of_tables_are_numbers(f):
    assert symgrad(f)(1.5) == pytest.approx(f(1.5), rel=1e-15)
    if np.isfinite(f(1.5)):
        slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
        assert symgrad(f).grad(1.5) == pytest.approx(slope, rel=1e-6)


EDGES = np.array([0.0, 1.0, 2.0, 3.0])


def searched(x: float, a: float, b: float):
    return x * b + EDGES[np.searchsorted(EDGES, a * 3)]


@pytest.mark.slow
def test_what_is_annotated_float_is_a_number_before_any_call(tmp_path):
    symgrad(searched).save(tmp_path / "searched_kernels.py")
    spec = importlib.util.spec_from_file_location(
        "searched_kernels", tmp_path / "searched_kernels.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.searched(1.0, 0.5, 2.0) == searched(1.0, 0.5, 2.0) == 4.0
    assert module.searched_grad(1.0, 0.5, 2.0) == (2.0, 0.0, 1.0)


def choosing(x, kind: str):
    if kind == "square":
        return x * x
    raise ValueError(f"unknown {kind!r} for {x}")


def test_messages_of_errors_have_the_values_that_are_known():
    with pytest.raises(SymdiffError, match="raises ValueError when traced: unknown 'cube' for"):
        symgrad(choosing)(2.0, "cube")


@pytest.mark.slow
def test_derivatives_at_singular_matrices():
    """Those of determinants are polynomials; an inverse has none there."""
    m = np.array([[1.0, 2.0], [2.0, 4.0]])
    hessian = symgrad(lambda m: np.linalg.det(m), accuracy="fast").hessian(m)
    want = np.zeros((2, 2, 2, 2))
    want[0, 0, 1, 1] = want[1, 1, 0, 0] = 1.0
    want[0, 1, 1, 0] = want[1, 0, 0, 1] = -1.0
    np.testing.assert_allclose(hessian, want, atol=1e-15)
    with pytest.raises(np.linalg.LinAlgError):
        symgrad(lambda m: np.sum(np.linalg.inv(m)), accuracy="fast").grad(np.zeros((2, 2)))


PADDED = np.array([[1.0, np.inf, 2.0], [3.0, 4.0, np.inf], [np.inf, 1.0, 2.0]])


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["fast", "high"])
def test_what_is_not_taken_from_padded_tables_contributes_nothing(accuracy):
    x = np.array([1.0, 2.5, 3.0])
    for f in (
        lambda x, t: np.sum(np.min((t - x) ** 2 + x, axis=1)),
        lambda x, t: np.sum(np.min(x * t**2, axis=1)),
        lambda x, t: np.sum(np.max(-x * t**2, axis=1)),
        lambda x, t: np.sum(np.where(np.isinf(t), 0.0, x * t)),
    ):
        found = symgrad(f, wrt="x", accuracy=accuracy).grad(x, PADDED)
        np.testing.assert_allclose(found, slopes_by(f, (x, PADDED), 0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", [
    lambda x: (x > 0) - (x < 0), lambda x: (x > 0) - True, lambda x: (x > 0) - (x > 0),
])  # fmt: skip
def test_differences_of_truth_values_are_refused_as_numpy_does(f):
    with pytest.raises(TypeError):
        f(np.ones(2))
    with pytest.raises(SymdiffError, match="'-' of arrays of truth values"):
        symgrad(f)(np.ones(2))
    assert symgrad(lambda x: (x > 0) - (x < 0))(2.0) == 1  # of numbers it is Python's


def largest_so_far(x):
    best, total = x[0], 0.0
    for i in range(len(x)):
        best = max(best, x[i])
        total += best * x[i]
    return total


def least_so_far(x):
    low, total = x[0], 0.0
    for i in range(1, len(x)):
        low = min(x[i], low)
        total += low * i
    return total + low


def largest_and_its_square(x):
    best, square = x[0], 0.0
    for i in range(1, len(x)):
        square = best * best
        best = max(best, x[i])
    return best + square


@pytest.mark.sampled
@pytest.mark.parametrize("f", [largest_so_far, least_so_far, largest_and_its_square])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_extremes_so_far_that_something_reads(f, n):
    """Adjoints come from all iterations there, not from the last one alone."""
    x = np.random.default_rng(n).normal(size=n)
    want = slopes_by(f, (x,), 0, 2.0**-20)
    np.testing.assert_allclose(symgrad(f).grad(x), want, rtol=1e-8, atol=1e-8)
