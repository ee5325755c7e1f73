"""Terms that exponentials of -inf leave out, as padding and masks do, against the same without them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from symdiff import symgrad
from tests.law.alike import differences

X = np.array([0.3, -1.2, 2.0, 0.9])
MASK = np.array([True, False, True, True])


def masked(x: Any, mask: Any, g: float) -> Any:
    z = np.where(mask, x, -np.inf) / g
    top = np.max(z)
    return g * (top + np.log(np.sum(np.exp(z - top))))


def of_chosen(x: Any, g: float) -> Any:
    return g * np.log(np.sum(np.exp(x / g)))


def running(x: Any, g: float) -> Any:
    total = np.full(len(x) + 1, -np.inf)
    for i in range(len(x)):
        r = np.array([total[i], x[i]]) / g
        top = np.max(r)
        total[i + 1] = g * (top + np.log(np.sum(np.exp(r - top))))
    return total[len(x)]


def alignment(D: Any, g: float) -> Any:
    n, m = D.shape
    R = np.full((n + 1, m + 1), np.inf)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = -np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]]) / g
            top = np.max(r)
            R[i, j] = D[i - 1, j - 1] - g * (top + np.log(np.sum(np.exp(r - top))))
    return R[n, m]


@pytest.mark.parametrize("level", ["fast", "high"])
def test_masked_elements_have_no_part(level: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_x, by_g = symgrad(masked, wrt=("x", "g"), accuracy=level).grad(X, MASK, 0.7)
    want = np.exp(X[MASK] / 0.7) / np.sum(np.exp(X[MASK] / 0.7))
    np.testing.assert_allclose(by_x[MASK], want, rtol=1e-14)
    assert by_x[1] == 0
    assert by_g == pytest.approx(differences(of_chosen, (X[MASK], 0.7), 1).item(), rel=1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("level", ["fast", "high"])
@pytest.mark.parametrize("f, x", [(running, X), (alignment, np.outer(X + 2, X - 1) ** 2)])
def test_padding_has_no_part(f: Any, x: Any, level: str) -> None:
    by_x, by_g = symgrad(f, accuracy=level).grad(x, 0.7)
    assert by_g == pytest.approx(differences(f, (x, 0.7), 1).item(), rel=1e-8)
    np.testing.assert_allclose(by_x, differences(f, (x, 0.7)), rtol=1e-7, atol=1e-9)


def test_what_is_not_left_out_stays_infinite() -> None:
    f = symgrad(lambda w, x: np.sum(w * np.where(x > 0, x, -np.inf)), wrt="w", accuracy="fast")
    assert f.grad(np.ones(2), np.array([2.0, -1.0])).tolist() == [2.0, -np.inf]
