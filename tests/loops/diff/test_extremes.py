"""Maxima and minima of loops: ties of any number of terms, masks, nested loops, and no tape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences


def by_hand(q: np.ndarray) -> float:
    best = -1e300
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            best = max(best, q[i, j])
    return best * q[0, 0]


def masked(q: np.ndarray) -> float:
    best = 1e300
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            if i != j:
                best = min(best, q[i, j] + q[j, i])
    return best


def from_the_first(q: np.ndarray) -> float:
    best = q[0, 0]
    for i in range(q.shape[0]):
        best = min(best, q[i, 1])
    return best * best


def nearest(q: np.ndarray) -> float:
    best = 1e300
    for i in range(q.shape[0]):
        for j in range(i):
            best = min(best, np.sqrt(np.sum((q[i] - q[j]) ** 2)))
    return best


PROGRAMS: dict[str, Callable[[np.ndarray], float]] = {
    "largest": lambda q: np.max(q) * np.sum(q),
    "spread": lambda q: np.min(q) * np.max(q) + np.ptp(q),
    "by_rows": lambda q: np.sum(np.max(q, axis=1) * np.min(q, axis=1)),
    "of_columns": lambda q: np.max(np.max(q, axis=0) + np.min(q, axis=1)),
    "by_hand": by_hand,
    "masked": masked,
    "from_the_first": from_the_first,
    "nearest": nearest,
}
POINTS = {
    "apart": np.array([[0.3, 1.7, -0.4], [2.1, 0.9, 1.1], [-1.3, 0.6, 3.1]]),
    "all equal": np.ones((3, 3)),
    "rows equal": np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]),
}


def central(f: Callable[[np.ndarray], float], q: np.ndarray) -> np.ndarray:
    """The mean of both one-sided differences along each axis: the definition at kinks."""
    return differences(f, (q,), step=2.0**-20)


MET = [(f, p) for f in PROGRAMS for p in POINTS if f != "nearest" or p == "apart"]
"""But for rows that are equal, where a norm is 0 and ties are met at once."""


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "point"), MET)
def test_gradients_are_the_means_of_both_sides(name: str, point: str) -> None:
    f, q = PROGRAMS[name], POINTS[point]
    g = symgrad(f)
    for _ in range(2):  # the first call tries special points
        assert g.grad(q) == pytest.approx(central(f, q), abs=2e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["largest", "by_rows", "by_hand"])
def test_directional_derivatives_are_products_with_the_gradient(name: str) -> None:
    f, direction = PROGRAMS[name], np.arange(9.0).reshape(3, 3)
    for q in POINTS.values():
        _, slope = symgrad(f).jvp((q,), (direction,))
        assert slope == pytest.approx(np.sum(central(f, q) * direction), abs=2e-4)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [1, 2, 5])
def test_ties_of_any_number(n: int) -> None:
    q = np.full(n, 2.0)
    share = 1.0 if n == 1 else 0.5
    f = symgrad(PROGRAMS["largest"], accuracy="fast")
    assert f.grad(q) == pytest.approx(2.0 + share * 2 * n)


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [lambda q: np.max(q) ** 2, lambda q: np.min(q) ** 2])
def test_terms_that_are_not_numbers_make_the_derivative_nan(f: Any) -> None:
    assert np.isnan(symgrad(f).grad(np.array([1.0, np.nan, 3.0]))).any()


def larger(q: np.ndarray) -> float:
    best = q[0]
    for i in range(1, len(q)):
        best = max(best, q[i])
    return 3.0 * best


def test_a_maximum_of_python_passes_by_what_is_not_a_number() -> None:
    q = np.array([1.0, np.nan, 3.0, 2.0])
    assert symgrad(larger).grad(q).tolist() == [0.0, 0.0, 3.0, 0.0]


@pytest.mark.sampled
@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "nearest"])
def test_nothing_is_kept_for_the_reverse(name: str) -> None:
    g = symgrad(PROGRAMS[name])
    g.grad(POINTS["apart"])
    assert "kept for the gradient" not in str(g.report())


@pytest.mark.sampled
@pytest.mark.parametrize("bound", [1e300, 2.0**70, 1e25])
def test_large_literals_are_real_numbers(bound: float) -> None:
    def least(q: np.ndarray) -> float:
        best = bound
        for x in q:
            best = min(best, x)
        return best

    g = symgrad(least)
    assert g(np.array([3.0, 2.0])) == 2.0
    assert "require False" not in str(g.report())


def copies(q: np.ndarray) -> float:
    return np.max(np.hstack([q[0], q[0], q[1]])) * q[2, 2]


def copies_from_the_first(q: np.ndarray) -> float:
    terms = np.hstack([q[0], q[0]])
    best = terms[0]
    for t in terms:
        best = max(best, t)
    return np.sin(best)


def shared(q: np.ndarray) -> float:
    best = 1e300
    for i in range(5):
        best = min(best, q[0, 1] * q[1, 0] + 0 * i)
    return best


@pytest.mark.sampled(8)
@pytest.mark.parametrize("accuracy", ["high", "fast"])
@pytest.mark.parametrize("f", [copies, copies_from_the_first, shared], ids=lambda f: f.__name__)
def test_terms_that_are_equal_everywhere_count_once(
    f: Callable[[np.ndarray], float], accuracy: str
) -> None:
    q = POINTS["apart"]
    g = symgrad(f, accuracy=accuracy)
    assert g.grad(q) == pytest.approx(central(f, q), abs=2e-5)
    _, slope = g.jvp((q,), (np.ones((3, 3)),))
    assert slope == pytest.approx(np.sum(central(f, q)), abs=2e-4)
