"""Derivatives where eigenvalues or singular values are equal: right, or nan; never 0 for what is not known."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences
from tests.law.made import formula


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def right_or_nan(got: Any, want: Any) -> None:
    got, want = np.asarray(got, float), np.asarray(want, float)
    known = ~np.isnan(got)
    np.testing.assert_allclose(got[known], want[known], atol=1e-9)


log_det = formula(
    "log_det", "a, b, c", "np.sum(np.log(np.linalg.eigvalsh(np.array([[a, b], [b, c]]))))"
)
cubes = formula("cubes", "a, b, c", "np.sum(np.linalg.eigvalsh(np.array([[a, b], [b, c]])) ** 3)")


def root(a, b, c):
    w, v = np.linalg.eigh(np.array([[a, b], [b, c]]))
    return ((v * np.sqrt(w)) @ v.T)[0, 1]


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", pytest.param("high", marks=pytest.mark.slow)])
def test_functions_of_two_eigenvalues(accuracy: Any) -> None:
    check = np.testing.assert_allclose if accuracy == "high" else right_or_nan
    at = 2.0, 0.0, 2.0
    check(symgrad(log_det, accuracy=accuracy).hessian(*at), np.diag([-0.25, -0.5, -0.25]))
    check(symgrad(cubes, accuracy=accuracy).hessian(*at), np.diag([12.0, 24.0, 12.0]))
    check(symgrad(root, accuracy=accuracy).grad(1.0, 0.0, 1.0), (0.0, 0.5, 0.0))


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", ["fast", pytest.param("high", marks=pytest.mark.slow)])
def test_functions_of_three_eigenvalues(accuracy: Any) -> None:
    c = np.array([[1.0, 2.0, 3.0], [2.0, 5.0, 6.0], [3.0, 6.0, 9.0]])

    def of_root(a):
        w, v = np.linalg.eigh(a)
        return np.sum(c * ((v * np.sqrt(w)) @ v.T))

    lower = np.tril(c) + np.tril(c, -1)
    right_or_nan(symgrad(of_root, accuracy=accuracy).grad(np.eye(3)), lower / 2)

    def of_cubes(a):
        return np.sum(np.linalg.eigvalsh(a) ** 3)

    hessian = symgrad(of_cubes, accuracy=accuracy).hessian(np.diag([2.0, 2.0, 3.0]))
    right_or_nan(hessian[1, 0, 1, 0], 24.0)
    right_or_nan(hessian[2, 0, 2, 0], 30.0)
    np.testing.assert_allclose([hessian[i, i, i, i] for i in range(3)], [12.0, 12.0, 18.0])


def test_what_does_not_depend_on_the_tie_is_known() -> None:
    def top(a):
        w, v = np.linalg.eigh(a)
        return v[0, 2] * v[0, 2] * w[2]

    a = np.diag([1.0, 1.0, 3.0])[::-1, ::-1].copy()
    np.testing.assert_allclose(symgrad(top, accuracy="fast").grad(a), np.diag([1.0, 0.0, 0.0]), atol=1e-15)  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ["fast", pytest.param("high", marks=pytest.mark.slow)])
def test_singular_values(accuracy: Any) -> None:
    d = np.array([[1.0, 2.0], [-4.0, 3.0]])

    def cubes(a):
        return np.sum(np.linalg.svd(a, compute_uv=False) ** 3)

    def polar(a):
        u, _, v = np.linalg.svd(a)
        return np.sum(d * (u @ v))

    def of_sizes(a):
        u, s, v = np.linalg.svd(a)
        return np.sum(d * ((u * s**2) @ v))

    odd = (d - d.T) / 2
    right_or_nan(symgrad(polar, accuracy=accuracy).grad(np.eye(2)), odd)
    right_or_nan(symgrad(of_sizes, accuracy=accuracy).grad(np.eye(2)), odd + (d + d.T))
    hessian = symgrad(cubes, accuracy=accuracy).hessian(np.eye(2))
    want = np.zeros((2, 2, 2, 2))  # of the trace of (A'A)**(3/2) at I
    want[0, 0, 0, 0] = want[1, 1, 1, 1] = 6.0
    want[0, 1, 0, 1] = want[1, 0, 1, 0] = 4.5
    want[0, 1, 1, 0] = want[1, 0, 0, 1] = 1.5
    right_or_nan(hessian, want)


@pytest.mark.slow
def test_apart_from_ties_nothing_changes() -> None:
    a, d = np.random.default_rng(2).normal(size=(2, 3, 3))

    def f(a):
        u, s, v = np.linalg.svd(a)
        return np.sum(d * ((u * s**2) @ v)) + np.sum(d * u) * 0.0 + np.sum(d * (u @ v))

    made, h = symgrad(f, accuracy="fast"), 1e-6
    second = made.hvp((a,), (d,))
    np.testing.assert_allclose(second, (made.grad(a + h * d) - made.grad(a - h * d)) / (2 * h), rtol=1e-5, atol=1e-5)  # fmt: skip
    np.testing.assert_allclose(made.grad(a), differences(f, (a,), step=h), rtol=1e-6, atol=1e-6)
