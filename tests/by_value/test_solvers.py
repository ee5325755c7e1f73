"""Roots, integrals, decompositions and least squares in functions that are run by values, by hand."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from symdiff import UnsupportedError
from tests.by_value.differences import check as by_differences
from tests.by_value.differences import run

A = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, 3.0]])
B = np.array([[1.0, 0.5], [0.2, -1.3], [0.7, 2.0]])


check = functools.partial(by_differences, rtol=1e-6, atol=1e-7)


def test_roots():
    optimize = pytest.importorskip("scipy.optimize")
    for solver in (optimize.brentq, optimize.bisect, optimize.ridder):
        f = run(lambda x, solver=solver: 2 * solver(lambda t: t**3 - x, 0, 4, xtol=1e-13))
        np.testing.assert_allclose(f.grad(8.0), 2 / 3 * 8 ** (-2 / 3), rtol=1e-12)
        np.testing.assert_allclose(f.hessian(8.0), -4 / 9 * 8 ** (-5 / 3), rtol=1e-10)
    with pytest.raises(UnsupportedError, match="options of brentq"):
        run(lambda x: optimize.brentq(lambda t: t - x, 0, 4, full_output=True)[0]).grad(1.0)


def test_integrals():
    integrate = pytest.importorskip("scipy.integrate")
    f = run(lambda x, b: integrate.quad(lambda t: math.exp(-x * t), 0.0, b)[0])
    x, b = 1.3, 2.0
    e = math.exp(-x * b)
    np.testing.assert_allclose(f.grad(x, b), (b * e / x - (1 - e) / x**2, e), rtol=1e-12)
    np.testing.assert_allclose(f.hessian(x, b)[1], (-b * e * 1.0, -x * e), rtol=1e-12)
    g = run(lambda x: integrate.quad(lambda t, y: abs(t - y), 0.0, 3.0, args=(x,))[0])
    np.testing.assert_allclose(g.grad(1.2), 1.2 - 1.8, rtol=1e-6)
    assert run(lambda b: integrate.quad(math.cos, 1.0, b)[0]).grad(1.0) == math.cos(1.0)
    with pytest.raises(UnsupportedError, match="infinity"):
        run(lambda x: integrate.quad(lambda t: math.exp(-x * t), 0, math.inf)[0]).grad(1.0)


def test_eigenvalues():
    values, vectors = np.linalg.eigh(A)
    for k in range(3):
        found = run(lambda a, k=k: np.linalg.eigvalsh(a)[k]).grad(A)
        want = np.outer(vectors[:, k], vectors[:, k])
        np.testing.assert_allclose(found, np.tril(2 * want) - np.diag(np.diag(want)), atol=1e-13)
    check(lambda a: np.linalg.eigh(a)[1][0, 1] + np.linalg.eigh(a)[0][2], A)
    f = run(lambda x: np.linalg.eigvalsh(np.array([[x, 1.0], [1.0, -x]]))[1])  # sqrt(x**2 + 1)
    np.testing.assert_allclose(f.hessian(0.75), 1.25**-3, rtol=1e-12)
    with pytest.raises(UnsupportedError, match="equal eigenvalues"):
        run(lambda x: np.linalg.eigvalsh(x * np.eye(2))[0]).grad(1.0)


def test_singular_values():
    check(lambda b: np.linalg.svd(b, compute_uv=False)[0] ** 2, B)
    check(lambda b: np.linalg.svd(b.T, compute_uv=False)[1], B)

    def parts(b):
        u, s, v = np.linalg.svd(b, full_matrices=False)
        return u[0, 0] * s[1] + v[1, 0]

    check(parts, B)
    check(lambda b: parts(b.T), B)


def test_least_squares():
    check(lambda b, y: np.linalg.lstsq(b, y, rcond=None)[0][0], B, np.array([1.0, 2.0, 0.5]))
    check(lambda b, y: np.linalg.lstsq(b, y, rcond=None)[1][0], B, np.array([1.0, 2.0, 0.5]))
    check(lambda b: np.sum(np.linalg.pinv(b) * B.T), B * 1.1)
