"""Second derivatives of determinants, which are polynomials: also where the matrix is singular."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from symdiff import symgrad


def minors(m):
    """The second derivatives of the determinant, as minors without two rows and columns."""
    n = len(m)
    found = np.zeros((n, n, n, n))
    for i, j, k, r in itertools.product(range(n), repeat=4):
        if i != k and j != r:
            rest = np.delete(np.delete(m, [i, k], 0), [j, r], 1)
            sign = (-1) ** (i + j + k + r) * (1 if (i < k) == (j < r) else -1)
            found[i, j, k, r] = sign * np.linalg.det(rest)
    return found


def determinant(m):
    return np.linalg.det(m)


MATRICES = {
    "rank 1": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "rank 2": np.diag([1.0, 2.0, 0.0]),
    "one number": np.zeros((1, 1)),
    "zero": np.zeros((3, 3)),
    "regular": np.array([[2.0, 1.0, 0.5], [0.0, -1.0, 3.0], [1.0, 1.0, 1.0]]),
    "rank 2 of 4": np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [2, 0, 4, 0], [0, 6, 0, 0]]),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", MATRICES)
def test_hessians(name):
    m = MATRICES[name]
    f = symgrad(determinant)
    np.testing.assert_allclose(f.hessian(m), minors(m), atol=1e-14)
    way = np.arange(1.0, m.size + 1).reshape(m.shape)
    along = np.einsum("ijkl,kl->ij", minors(m), way)
    np.testing.assert_allclose(f.hvp(m, way), along, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"engine": "numba"}, {"accuracy": "strict"}, {"accuracy": "fast"}])
def test_hessians_by_other_means(how):
    for name in ("rank 2", "regular"):
        found = symgrad(determinant, **how).hessian(MATRICES[name])
        np.testing.assert_allclose(found, minors(MATRICES[name]), atol=1e-14)


@pytest.mark.slow
def test_products_and_third_derivatives():
    squared = symgrad(lambda m: np.linalg.det(m) ** 2)
    assert squared.hessian(MATRICES["rank 2"])[2, 2, 2, 2] == pytest.approx(8.0, rel=1e-14)
    ways = np.random.default_rng(2).normal(size=(3, 3, 3))
    base = MATRICES["regular"]
    f = symgrad(lambda x, y, z: np.linalg.det(base + x * ways[0] + y * ways[1] + z * ways[2]))
    orders = itertools.permutations(range(3))
    mixed = sum(np.linalg.det([ways[p[k]][k] for k in range(3)]) for p in orders)
    assert f.diff("x", "y", "z")(0.0, 0.0, 0.0) == pytest.approx(mixed, rel=1e-12)
