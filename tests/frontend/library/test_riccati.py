"""Equations of Lyapunov and Riccati, and generalised eigenvalues: SciPy's values, and slopes as differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

from symdiff import UnsupportedError, symgrad
from tests.frontend.differences import check

A = np.array([[0.4, 0.1], [-0.3, 0.7]])
B = np.array([[1.0], [0.4]])
S = np.array([[2.0, 0.3], [0.3, 1.0]])
K = np.array([[4.0, 1.0], [1.0, 3.0]])
R = np.array([[1.5]])
UNSTABLE = np.array([[1.2, 1.0], [0.1, 0.9]])

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "sylvester": (lambda a, b: np.sum(scipy.linalg.solve_sylvester(a, b, A) ** 2), (K, S)),
    "continuous_lyapunov": (
        lambda a, q: np.sum(scipy.linalg.solve_continuous_lyapunov(a, q) * K), (A, S),
    ),
    "discrete_lyapunov": (
        lambda a, q: np.sum(scipy.linalg.solve_discrete_lyapunov(a, q) * K), (A, S),
    ),
    "continuous_riccati": (
        lambda a, b: np.sum(scipy.linalg.solve_continuous_are(a, b, S, R) * K), (UNSTABLE, B),
    ),
    "discrete_riccati": (
        lambda a, b: np.sum(scipy.linalg.solve_discrete_are(a, b, S, R) * K), (UNSTABLE, B),
    ),
    "values": (lambda a, b: scipy.linalg.eigh(a, b, eigvals_only=True)[0], (K, S)),
    "only_values": (lambda a, b: scipy.linalg.eigvalsh(a, b)[1], (K, S)),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes(name: str) -> None:
    f, args = CASES[name]
    check(f, *args, value=1e-10)


@pytest.mark.slow
def test_slopes_of_weights_of_riccati() -> None:
    def f(s: float, r: float) -> Any:
        q = np.array([[s, 0.1], [0.1, 1.0]])
        return np.sum(scipy.linalg.solve_discrete_are(UNSTABLE, B, q, np.array([[r]])))

    check(f, 2.0, 1.5, value=1e-10)
    second = symgrad(f).hessian(2.0, 1.5)
    h = 1e-4
    ends = [f(2.0, 1.5 + h), f(2.0, 1.5), f(2.0, 1.5 - h)]
    assert second[1][1] == pytest.approx((ends[0] - 2 * ends[1] + ends[2]) / h**2, rel=1e-5)


@pytest.mark.slow
def test_generalised_eigenvectors() -> None:
    def f(a: Any, b: Any) -> Any:
        values, vectors = scipy.linalg.eigh(a, b)
        return values[0] * values[1] ** 2 + np.abs(vectors[0, 0]) + vectors[1, 1] ** 2

    check(f, K, S)


def test_forms_that_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="type 2 or 3"):
        symgrad(lambda a, b: np.sum(scipy.linalg.eigh(a, b, type=2)[0]))(K, S)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "solve", [scipy.linalg.solve_discrete_are, scipy.linalg.solve_continuous_are]
)
def test_equations_without_a_stabilising_solution_raise(solve: Any) -> None:
    """Also in calls that are not compared with SciPy: what no input reaches grows."""
    f = symgrad(lambda a: np.sum(solve(a, np.zeros((2, 1)), S, R)))
    stable = np.diag([-0.2, -0.3])
    for _ in range(5):
        assert f(stable) == pytest.approx(np.sum(solve(stable, np.zeros((2, 1)), S, R)), rel=1e-12)
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        f(np.diag([2.0, 3.0]))
