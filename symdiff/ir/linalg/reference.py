"""Linear algebra in ball arithmetic (python-flint): the reference of `symdiff.ir.linalg.routines`.

Matrices are NumPy arrays of balls; the caller sets the precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

Matrix = Any
"""A NumPy array of balls."""

MAX_SWEEPS = 60


def _flint(a: Matrix) -> Any:
    return arb_mat([list(row) for row in a])


def _numpy(a: Any) -> Matrix:
    result = np.empty((a.nrows(), a.ncols()), object)
    for i, j in np.ndindex(*result.shape):
        result[i, j] = a[i, j].mid()
    return result


def matmul(a: Matrix, b: Matrix) -> tuple[Any]:
    """The product; one of the two may be a vector."""
    if 0 in (*a.shape, *b.shape):  # FLINT has no matrices without rows or columns
        return (np.full((*a.shape[:-1], *b.shape[1:]), arb(0), object),)
    if a.ndim == 1:
        return (_numpy(_flint(a.reshape(1, -1)) * _flint(b))[0],)
    if b.ndim == 1:
        return (_numpy(_flint(a) * _flint(b.reshape(-1, 1)))[:, 0],)
    return (_numpy(_flint(a) * _flint(b)),)


def solve(a: Matrix, b: Matrix) -> tuple[Any]:
    """The solution of a linear system."""
    if b.ndim == 1:
        return (_numpy(_flint(a).solve(_flint(b.reshape(-1, 1))))[:, 0],)
    return (_numpy(_flint(a).solve(_flint(b))),)


def inv(a: Matrix) -> tuple[Any]:
    """The inverse."""
    return (_numpy(_flint(a).inv()),)


def det(a: Matrix) -> tuple[Any]:
    """The determinant."""
    return (_flint(a).det().mid(),)


def cofactors(a: Matrix) -> tuple[Any]:
    """The matrix of cofactors, the derivative of the determinant."""
    result = np.empty(a.shape, object)
    for i, j in np.ndindex(*a.shape):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        size = det(minor)[0] if minor.size else arb(1)
        result[i, j] = size if (i + j) % 2 == 0 else -size
    return (result,)


def cofactor_slopes(a: Matrix, d: Matrix) -> tuple[Any]:
    """The derivative of the matrix of cofactors along d: of minors, by one row after the other."""
    result = np.empty(a.shape, object)
    for i, j in np.ndindex(*a.shape):
        minor, slopes = (np.delete(np.delete(m, i, 0), j, 1) for m in (a, d))
        total = arb(0)
        for k in range(len(minor)):
            changed = minor.copy()
            changed[k] = slopes[k]
            total += det(changed)[0]
        result[i, j] = total if (i + j) % 2 == 0 else -total
    return (result,)


def slogdet(a: Matrix) -> tuple[Any, Any]:
    """The sign of the determinant, and the logarithm of its size."""
    (d,) = det(a)
    return d.sgn(), abs(d).log().mid()


def cholesky(a: Matrix) -> tuple[Any]:
    """The lower factor, from the lower triangle."""
    n = len(a)
    result = np.full(a.shape, arb(0), object)
    for j in range(n):
        for i in range(j, n):
            rest = a[i, j] - sum((result[i, k] * result[j, k] for k in range(j)), arb(0))
            result[i, j] = (rest.sqrt() if i == j else rest / result[j, j]).mid()
    return (result,)


def eigh(a: Matrix) -> tuple[Any, Any]:
    """Eigenvalues in ascending order and eigenvectors, from the lower triangle, by
    Jacobi's rotations (Golub and Van Loan, Matrix Computations, 8.5)."""
    n = len(a)
    m = np.array([[a[max(i, j), min(i, j)] for j in range(n)] for i in range(n)], object)
    v = np.array([[arb(int(i == j)) for j in range(n)] for i in range(n)], object)
    small = arb(2) ** (8 - ctx.prec)
    for _ in range(MAX_SWEEPS):
        size = max((abs(x) for x in m.ravel()), key=float)
        left = [(i, j) for i in range(n) for j in range(i) if abs(m[i, j]) > small * size]
        if not left:
            break
        for i, j in left:
            _rotate(m, v, i, j)
    diagonal: list[Any] = [m[i, i] for i in range(n)]
    order = sorted(range(n), key=lambda i: float(diagonal[i].mid()))
    values = np.array([m[i, i] for i in order] + [None], object)[:-1]
    vectors = v[:, order]
    return values, vectors * _signs(vectors, lambda near: np.linalg.eigh(near)[1], a)


def _signs(vectors: Matrix, library: Callable[[Any], Any], a: Matrix) -> Any:
    """1 or -1 for each column, so that it has the direction of the library's: eigenvectors are
    correct with either sign."""
    try:
        near = library(a.astype(float))
    except (np.linalg.LinAlgError, OverflowError, ValueError):
        return np.ones(vectors.shape[1], int)
    along = np.sum(vectors.astype(float) * near, axis=0)
    return np.where(along < 0, -1, 1).astype(object)


def difference(y: Matrix, a: Matrix, x: Matrix) -> tuple[Any]:
    """The remainder of a matrix after subtracting a product."""
    return (y - matmul(a, x)[0],)


def pinv(a: Matrix, least: Matrix) -> tuple[Any]:
    """The pseudoinverse, from the singular values above `least` times the largest."""
    if a.shape[0] < a.shape[1]:
        return (pinv(a.T, least)[0].T,)
    square = matmul(a.T, a)[0]
    sizes = np.linalg.svd(a.astype(float), compute_uv=False)
    if sizes[-1] > 2 * float(least[0]) * sizes[0]:
        return matmul(inv(square)[0], a.T)
    squares, v = eigh(square)
    limit = (least[0] * squares[-1].sqrt()) ** 2
    over = np.array([1 / x if x > limit else arb(0) for x in squares] + [None], object)[:-1]
    return matmul(matmul(v * over, v.T)[0], a.T)


def svd(a: Matrix) -> tuple[Any, Any, Any]:
    """The thin decomposition of a matrix of full rank: singular values in descending order."""
    wide = a.shape[0] < a.shape[1]
    tall = a.T if wide else a
    squares, vectors = eigh(matmul(tall.T, tall)[0])
    v = vectors[:, ::-1]

    def library(near: Any) -> Any:
        left, _, right = np.linalg.svd(near, full_matrices=False)
        return left if wide else right.T

    v = v * _signs(v, library, a)
    sizes = np.array([x.sqrt().mid() for x in squares[::-1]] + [None], object)[:-1]
    other = matmul(tall, v)[0] / sizes
    return (v, sizes, other.T) if wide else (other, sizes, v.T)


def _rotate(m: Matrix, v: Matrix, p: int, q: int) -> None:
    """Make one element zero."""
    if m[p, q].is_zero():
        return
    t = (m[q, q] - m[p, p]) / (2 * m[p, q])
    slope = (1 if t >= 0 else -1) / (abs(t) + (t * t + 1).sqrt())
    c = 1 / (slope * slope + 1).sqrt()
    s = slope * c
    for x in (m, m.T, v):  # columns, then rows, then the columns of the vectors
        a, b = x[:, p].copy(), x[:, q].copy()
        for i in range(len(x)):
            x[i, p] = (c * a[i] - s * b[i]).mid()
            x[i, q] = (s * a[i] + c * b[i]).mid()


def argsort(a: Matrix) -> tuple[Any]:
    """The places of the elements in ascending order."""
    return (np.array(sorted(range(len(a)), key=lambda i: _Key(a[i])), np.int64),)


def argsort_rows(a: Matrix) -> tuple[Any]:
    """The same along the last axis."""
    found = np.zeros(a.shape, np.int64)
    for at in np.ndindex(*a.shape[:-1]):
        found[at] = argsort(a[at])[0]
    return (found,)


def sort(a: Matrix) -> tuple[Any]:
    """The elements in ascending order."""
    return (a[argsort(a)[0]],)


class _Key:
    """Orders balls without radius."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Key) -> bool:
        return bool(self.value < other.value)
