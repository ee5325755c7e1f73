"""Roots, factors and ranks of matrices, in terms of NumPy's: plain Python that is traced like a
user's, as in `composed`. Source: Higham, Functions of Matrices, SIAM 2008, chapter 6."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows
from symdiff.frontend.library.scipy.riccati import solve_sylvester

ArrayLike = Any

LIMIT = 64
"""Iterations after which there is no root: it takes about ten if there is one."""


# ------------------------------------------------------------------------------- roots
def sqrtm(A: ArrayLike) -> Any:
    """The square root: the product form of the iteration of Denman and Beavers with scaling by
    determinants (Higham, 6.29 and 6.5), then one Newton step, which restores cancelled digits."""
    a = np.asarray(A) * 1.0
    one = np.eye(a.shape[0])
    m, x, off, count = a, a, 1.0, 0
    while off > 1e-10 and count < LIMIT:
        sign, log_size = np.linalg.slogdet(m)
        if sign == 0:
            raise ValueError("the matrix is singular, or has no real principal square root")
        size = 1.0
        if off > 1e-2:
            size = np.exp(log_size / (-2 * a.shape[0]))
        back = np.linalg.inv(m)
        x = size * x @ (one + back / size**2) / 2
        m = (one + (size**2 * m + back / size**2) / 2) / 2
        off = np.max(np.abs(m - one))
        count = count + 1
    if not off <= 1e-10:
        raise ValueError("the matrix has no real principal square root")
    x = x @ (one + np.linalg.inv(m)) / 2
    return x + solve_sylvester(x, x, a - x @ x)


# ------------------------------------------------------------------------- logarithms
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12) / np.array([[2.0], [2.0]])
NODES = NODES + 0.5
"""The approximant of log(1 + x) of degree 12, as partial fractions (Higham, 11.18)."""
NEAR = 0.5
"""The largest distance of a matrix from the identity where the approximant has 16 digits."""


def logm(A: ArrayLike) -> Any:
    """The real principal logarithm, by roots until the matrix is near the identity (Higham,
    11.5)."""
    a = np.asarray(A) * 1.0
    one = np.eye(a.shape[0])
    size = 1.0
    while np.max(np.sum(np.abs(a - one), axis=0)) > NEAR:
        a = sqrtm(a)
        size = 2.0 * size
    away = a - one
    found = 0.0 * away
    for k in range(len(NODES)):
        found = found + WEIGHTS[k] * np.linalg.solve(one + NODES[k] * away, away)
    return size * found


# ----------------------------------------------------------------------------- factors
def lu(a: ArrayLike, permute_l: bool = False, *, p_indices: bool = False) -> Any:
    """Gaussian elimination; the pivot has the greatest size, the first of equal ones, as in
    LAPACK."""
    u = np.asarray(a) * 1.0
    if np.ndim(u) != 2:
        raise ValueError("lu of a stack of matrices; take them one by one")
    n, count = u.shape[0], min(u.shape[0], u.shape[1])
    rows = np.arange(n)
    order, factor = rows, np.zeros((n, count))
    for j in range(count):
        pivot = np.argmax(np.where(rows >= j, np.abs(u[:, j]), -1.0))
        swap = np.where(rows == j, pivot, np.where(rows == pivot, j, rows))
        u, factor, order = u[swap], factor[swap], order[swap]
        top = u[j, j]
        below = np.where((rows > j) & (top != 0), u[:, j] / np.where(top == 0, 1.0, top), 0.0)
        u = u - np.outer(below, u[j])
        column = np.where(rows == j, 1.0, below)
        factor = np.where(np.arange(count) == j, column[:, None], factor)
    u = np.triu(u[:count])
    if permute_l:
        return factor[np.argsort(order)], u
    if p_indices:
        return np.argsort(order), factor, u
    return np.where(rows[:, None] == order, 1.0, 0.0), factor, u


def solve_triangular(
    a: ArrayLike, b: ArrayLike, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False
) -> Any:
    part = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        part = part - np.diag(np.diag(part)) + np.eye(a.shape[0])
    return np.linalg.solve(part if trans in (0, "N") else part.T, b)


def cho_factor(a: ArrayLike, lower: bool = False) -> Any:
    return scipy_cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: ArrayLike) -> Any:
    c, lower = c_and_lower
    factor = np.tril(c) if lower else np.triu(c).T
    return np.linalg.solve(factor.T, np.linalg.solve(factor, b))


def scipy_cholesky(a: ArrayLike, lower: bool = False) -> Any:
    """The Cholesky factor from the named triangle."""
    return np.linalg.cholesky(a) if lower else np.linalg.cholesky(a.T).T


def scipy_pseudoinverse(a: ArrayLike) -> Any:
    return np.linalg.pinv(a, 2.0**-52 * max(a.shape))


def circulant(c: ArrayLike) -> Any:
    at = np.arange(c.shape[0])
    return c[(at[:, None] - at) % c.shape[0]]


def block_diag(*arrs: ArrayLike) -> Any:
    parts = [np.atleast_2d(a) for a in arrs]
    n, m = sum([a.shape[0] for a in parts]), sum([a.shape[1] for a in parts])
    found = np.zeros((n, m))
    i, j = 0, 0
    for a in parts:
        found[i : i + a.shape[0], j : j + a.shape[1]] = a
        i, j = i + a.shape[0], j + a.shape[1]
    return found


def toeplitz(c: ArrayLike, r: ArrayLike = None) -> Any:
    row = c if r is None else r
    at = np.arange(c.shape[0])[:, None] - np.arange(row.shape[0])
    return np.where(at >= 0, c[np.maximum(at, 0)], row[np.maximum(-at, 0)])


TABLE = (
    rows("scipy.linalg", 1, sqrtm, logm, lu, circulant, cho_factor, cholesky=scipy_cholesky, pinv=scipy_pseudoinverse)
    | rows("scipy.linalg", 2, solve_triangular, cho_solve, toeplitz)
    | rows("scipy.linalg", 9, block_diag)
)  # fmt: skip
"""Like `composed.TABLE`."""

ALIASES = {
    f"scipy.linalg.{name}": f"numpy.linalg.{name}" for name in ("inv", "det", "norm", "svdvals")
}
"""Like `composed.ALIASES`."""
