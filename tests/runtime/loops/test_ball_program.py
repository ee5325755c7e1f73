"""Programs in compiled balls."""

import mpmath as mp
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.loops.recomputed import Recomputed


@pytest.fixture(autouse=True)
def balls_only(monkeypatch):
    """No other tier serves."""

    def refused(self, *args):
        raise AssertionError("another tier was asked")

    monkeypatch.setattr(Recomputed, "_formula", refused)


def determinant(a):
    return np.linalg.det(a)


def test_eliminations_of_hilbert_matrices():
    a = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)
    with mp.workdps(60):
        m = mp.matrix(a.tolist())
        want = (mp.det(m) * m**-1).T
        truth = np.array([[float(want[i, j]) for j in range(8)] for i in range(8)])
    np.testing.assert_allclose(symgrad(determinant).grad(a), truth, rtol=4e-15)


def spread_of_middle(x):
    y = np.sort(x)
    m = y[1:-1]
    return np.mean(m * m) - np.mean(m) ** 2


def test_orders_are_those_of_the_call():
    g = symgrad(spread_of_middle).grad
    x = 1e8 + np.array([0.25, 3.0, 1.5, 7.0, 5.0])
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2], [0, 1, 2, 3, 4]):
        y = x[order]
        inner = np.argsort(y)[1:-1]
        want = np.zeros(5)
        d = y[inner] - 1e8
        want[inner] = 2 * (d - d.mean()) / 3
        np.testing.assert_allclose(g(y), want, rtol=1e-14)
