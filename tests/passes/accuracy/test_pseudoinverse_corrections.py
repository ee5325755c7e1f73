"""Pseudoinverses and least squares keep their digits, in values and gradients, also where the matrix loses them.

Truth is the same in 80 digits, by normal equations.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from symdiff import symgrad
from tests.passes.accuracy.test_solver_corrections import LOST, check, exact, ulps

pytestmark = pytest.mark.filterwarnings("error::symdiff.AccuracyWarning")
ULPS = 2.0
SHAPES = [(2, 2, 3), (3, 1, 0), (6, 3, 4), (3, 6, 4), (5, 5, 6), (8, 4, 7), (30, 4, 6)]


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(80):
        yield


def matrix(m, n, digits, seed=0):
    rng, k = np.random.default_rng(seed), min(m, n)
    left, right = (np.linalg.qr(rng.normal(size=(s, k)))[0] for s in (m, n))
    return (left * 3 * np.logspace(0, -digits, k)) @ right.T


def exact_inverse(a):
    m = exact(np.asarray(a))
    return mpmath.inverse(m.T * m) * m.T if m.rows >= m.cols else m.T * mpmath.inverse(m * m.T)


def pseudoinverse(a):
    return np.linalg.pinv(a)


def fitted(a, b):
    return np.linalg.lstsq(a, b, rcond=None)[0]


def total(a, b):
    return np.sum(np.linalg.lstsq(a, b, rcond=None)[0])


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "digits"), SHAPES)
def test_of_full_rank(m, n, digits):
    a, b = matrix(m, n, digits), np.random.default_rng(1).normal(size=m)
    p, right = exact_inverse(a), exact(b)
    x, one = p * right, mpmath.ones(n, 1)
    check(pseudoinverse, p, a)
    check(fitted, x, a, b)
    y, e = p.T * one, exact(a)
    slope = (right - e * x) * (p * y).T - y * x.T + (p.T * x) * (one - p * (e * one)).T
    check(total, (slope, y), a, b, of="grad")


@pytest.mark.sampled
@pytest.mark.parametrize("turned", [False, True])
def test_of_lower_rank(turned):
    """A = L R, exactly, has the pseudoinverse of R times that of L; it is differentiated at constant rank."""
    rng = np.random.default_rng(2)
    left, right = rng.integers(-9, 9, size=(6, 2)) / 8, rng.integers(-9, 9, size=(2, 4)) / 8
    right[1] = right[0] + right[1] / 512
    a = (left @ right).T if turned else left @ right
    p = exact_inverse(right) * exact_inverse(left)
    p = p.T if turned else p
    check(pseudoinverse, p, a)
    b = rng.normal(size=len(a))
    x, one, e = p * exact(b), mpmath.ones(p.rows, 1), exact(a)
    y = p.T * one
    slope = (exact(b) - e * x) * (p * y).T - y * x.T + (p.T * x) * (one - p * (e * one)).T
    check(fitted, x, a, b)
    check(total, (slope, y), a, b, of="grad")


@pytest.mark.slow
def test_errors_of_the_matrix_are_carried():
    t, y = np.linspace(0, 1, 12), np.cos(np.arange(12.0))

    def rate(c, t, y):
        a = np.stack([np.exp(-c * t), np.exp(-(c + 0.25) * t)], axis=1)
        return np.linalg.lstsq(a, y, rcond=None)[0][0]

    def truth(c):
        rows = [[mpmath.exp(-k * s) for k in (c, c + mpmath.mpf(0.25))] for s in map(mpmath.mpf, t)]
        a = mpmath.matrix(rows)
        return mpmath.lu_solve(a.T * a, a.T * exact(y))[0]

    c, h = 1.5, mpmath.mpf(10) ** -25
    slope = (truth(c + h) - truth(c - h)) / (2 * h)
    for accuracy, most in (("strict", ULPS), ("high", LOST)):
        f = symgrad(rate, wrt="c", accuracy=accuracy)
        assert ulps(f(c, t, y), [truth(mpmath.mpf(c))]) < most
        assert ulps(f.grad(c, t, y), [slope]) < most


@pytest.mark.slow
def test_what_counts_as_zero():
    """As NumPy counts: by 1e-15, or the number of rows, or a number."""
    a, b = np.diag([1.0, 2e-15, 4e-16]), np.ones(3)
    assert symgrad(lambda a: np.linalg.pinv(a)[2, 2])(a) == 0.0
    assert symgrad(lambda a: np.linalg.pinv(a, 1e-16)[2, 2])(a) == 1 / 4e-16
    assert symgrad(lambda a: np.linalg.pinv(a, rcond=0.5)[1, 1])(a) == 0.0
    for rcond in (None, 1e-16, 0.1):
        f = symgrad(lambda a, b, rcond=rcond: np.linalg.lstsq(a, b, rcond=rcond)[0], static="rcond")
        np.testing.assert_allclose(f(a, b), np.linalg.lstsq(a, b, rcond)[0], rtol=1e-15)


@pytest.mark.slow
def test_polynomials_of_columns_of_all_sizes():
    """As NumPy, by columns of length 1: those of years differ by 1e10."""
    x, y = np.arange(1950.0, 2020, 5), np.sin(np.arange(14.0))
    a = exact(np.vander(x, 3))
    inverse = mpmath.inverse(a.T * a) * a.T
    found = symgrad(lambda x, y: np.polyfit(x, y, 2))(x, y)
    for f, t in zip(found, inverse * exact(y), strict=True):
        assert abs(f - t) < 1e-13 * abs(t)
    slope = symgrad(lambda x, y: np.polyfit(x, y, 2)[0], wrt="y").grad(x, y)
    assert ulps(slope, inverse[0, :]) < 8


@pytest.mark.slow
def test_many_rows():
    """No matrix has as many columns as there are rows."""
    x = np.linspace(0, 1, 30_000)
    f = symgrad(lambda x, y: np.polyfit(x, y, 1)[0], accuracy="fast")
    np.testing.assert_allclose(f.grad(x, 3 * x + 1)[1] @ x, 1.0, rtol=1e-9)
