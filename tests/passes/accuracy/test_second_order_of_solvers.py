"""What corrections of solvers leave of second order, where a small element loses more than the largest."""

from __future__ import annotations

import warnings

import mpmath as mp
import numpy as np
import pytest

from symdiff import symgrad
from symdiff.runtime.scalar.fallback import AccuracyWarning

pytestmark = pytest.mark.slow


def last_pivot(a):
    return np.linalg.cholesky(a)[4, 4] ** 3


def log_determinant(a):
    return 2 * np.sum(np.log(np.diag(np.linalg.cholesky(a))))


def test_small_pivots_keep_their_digits():
    x = 0.03 * np.arange(5)
    a = np.exp(-((x[:, None] - x[None, :]) ** 2))
    with mp.workdps(60):
        exact = mp.matrix(a.tolist())
        pivot, log = mp.cholesky(exact)[4, 4] ** 3, mp.log(mp.det(exact))
    np.testing.assert_allclose(symgrad(last_pivot)(a), float(pivot), rtol=1e-14)
    np.testing.assert_allclose(symgrad(log_determinant)(a), float(log), rtol=1e-14)


def blocks(upper, lower):
    n, m = len(upper), len(lower)
    return np.block([[upper, np.zeros((n, m))], [np.zeros((m, n)), lower]])


def test_large_blocks_do_not_hide_others():
    """The relative corrections of a block hang on its condition, whatever stands beside it."""
    x = 0.03 * np.arange(5)
    k = np.exp(-((x[:, None] - x[None, :]) ** 2))
    w = np.random.default_rng(0).normal(size=(3, 3))
    big = abs(np.linalg.inv(k)[0, 1])
    b = np.arange(1.0, 9)
    b[:5] /= big

    def solved(a, b):
        return np.sum(np.linalg.solve(a, b)[:5] ** 2)

    def inverted(a):
        return np.linalg.inv(a)[0, 1] ** 3

    a, c = blocks(k, w), blocks(k * big, w / 1e12)
    with mp.workdps(60):
        y = mp.lu_solve(mp.matrix(a.tolist()), mp.matrix(b.tolist()))
        total = mp.fsum(e**2 for e in y[:5])
        cube = (mp.matrix(c.tolist()) ** -1)[0, 1] ** 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        np.testing.assert_allclose(symgrad(solved)(a, b), float(total), rtol=1e-14)
        np.testing.assert_allclose(symgrad(inverted)(c), float(cube), rtol=1e-14)
