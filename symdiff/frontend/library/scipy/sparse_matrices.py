"""Sparse matrices of `scipy.sparse` that a traced function makes: classes that are traced like a
user's, in place of SciPy's. A matrix consists of entries and their places, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows

ArrayLike = Any


class Sparse:
    """A sparse matrix; entries at the same place are added.

    Attributes
    ----------
    _by_rows : whether it is compressed along rows, if that is given.
    _is_matrix : whether `*` is the product of matrices.
    """

    _by_rows, _is_matrix = True, True
    __array_ufunc__ = None
    """An array on the left leaves operators to this class."""

    def __init__(self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False) -> None:
        if isinstance(arg1, Sparse):
            self._keep(arg1._data, arg1._row, arg1._col, arg1.shape)
        elif not isinstance(arg1, tuple):
            a = np.asarray(arg1) * 1.0
            rows, columns = np.indices(a.shape)
            self._keep(np.ravel(a), np.ravel(rows), np.ravel(columns), a.shape)
        elif shape is None:
            raise TypeError("the shape of a sparse matrix is not given: pass shape=(m, n)")
        elif len(arg1) == 3:
            data, minor, starts = arg1
            size = np.asarray(minor).shape[0]
            major = np.searchsorted(np.asarray(starts), np.arange(size), side="right") - 1
            places = (major, minor) if self._by_rows else (minor, major)
            self._keep(data, places[0], places[1], shape)
        elif isinstance(arg1[1], (tuple, list)):
            data, (rows, columns) = arg1
            self._keep(data, rows, columns, shape)
        else:
            raise TypeError("a sparse matrix of its shape alone has no entries: use np.zeros")

    def _keep(self, data: Any, rows: Any, columns: Any, shape: Any) -> None:
        self._data, self.shape = np.asarray(data) * 1.0, shape
        self._row, self._col = np.asarray(rows), np.asarray(columns)

    def _like(self, data: Any) -> Any:
        return _made(data, self._row, self._col, self.shape, self._is_matrix)

    # ---------------------------------------------------------------- as other arrays
    def toarray(self) -> Any:
        found = np.zeros(self.shape)
        np.add.at(found, (self._row, self._col), self._data)
        return found

    def transpose(self) -> Any:
        shape = (self.shape[1], self.shape[0])
        return _made(self._data, self._col, self._row, shape, self._is_matrix)

    @property
    def T(self) -> Any:
        return self.transpose()

    def tocsr(self) -> Any:
        return self

    def tocsc(self) -> Any:
        return self

    def tocoo(self) -> Any:
        return self

    def diagonal(self) -> Any:
        return np.diag(self.toarray())

    def sum(self, axis: Any = None) -> Any:
        if axis is not None:
            raise TypeError("the sum of a sparse matrix along an axis is not supported")
        return np.sum(self._data)

    # ------------------------------------------------------------------------ products
    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return _of_dense(self.toarray() @ other.toarray(), self._is_matrix)
        x = np.asarray(other)
        if np.ndim(x) == 1:
            found = np.zeros(self.shape[0])
            np.add.at(found, self._row, self._data * x[self._col])
            return found
        found = np.zeros((self.shape[0], x.shape[1]))
        np.add.at(found, self._row, self._data[:, None] * x[self._col])
        return found

    def __rmatmul__(self, other: ArrayLike) -> Any:
        return (self.transpose() @ np.asarray(other).T).T

    def dot(self, other: Any) -> Any:
        return self @ other

    def multiply(self, other: Any) -> Any:
        """The product of the elements."""
        values = other.toarray() if isinstance(other, Sparse) else np.asarray(other) * 1.0
        return self._like(self._data * np.broadcast_to(values, self.shape)[self._row, self._col])

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Sparse) and np.ndim(other) == 0:
            return self._like(self._data * other)
        return self @ other if self._is_matrix else self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            return self._like(self._data * other)
        return other @ self if self._is_matrix else self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Sparse) or np.ndim(other) > 0:
            raise TypeError("a sparse matrix is divided by an array: divide toarray()")
        return self._like(self._data / other)

    # ---------------------------------------------------------------------------- sums
    def __neg__(self) -> Any:
        return self._like(-self._data)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sparse):
            raise TypeError("a sparse matrix is added to another array: use toarray()")
        parts = ((self._data, other._data), (self._row, other._row), (self._col, other._col))
        data, rows, columns = [np.concatenate(part) for part in parts]
        return _made(data, rows, columns, self.shape, self._is_matrix)

    def __sub__(self, other: Any) -> Any:
        return self + (-other)


class MatrixByColumns(Sparse):
    _by_rows = False


class ArrayByRows(Sparse):
    _is_matrix = False


class ArrayByColumns(Sparse):
    _by_rows, _is_matrix = False, False


# ------------------------------------------------------------------------------- makers
def _made(data: Any, rows: Any, columns: Any, shape: Any, is_matrix: bool) -> Any:
    entries = data, (rows, columns)
    return Sparse(entries, shape) if is_matrix else ArrayByRows(entries, shape)


def _of_dense(a: ArrayLike, is_matrix: bool) -> Any:
    return Sparse(a) if is_matrix else ArrayByRows(a)


def eye(m: Any, n: Any = None, k: int = 0, dtype: Any = float, format: Any = None) -> Any:
    return _of_dense(np.eye(m, n, k), True)


def eye_array(m: Any, n: Any = None, *, k: int = 0, dtype: Any = float, format: Any = None) -> Any:
    return _of_dense(np.eye(m, n, k), False)


def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    return _of_dense(np.eye(n), True)


def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    return _of_diagonals(diagonals, offsets, shape, True)


def diags_array(
    diagonals: Any, /, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    return _of_diagonals(diagonals, offsets, shape, False)


def _of_diagonals(diagonals: Any, offsets: Any, shape: Any, is_matrix: bool) -> Any:
    if np.ndim(offsets) == 0:
        several = isinstance(diagonals, (list, tuple)) and np.ndim(diagonals[0]) > 0
        diagonals, offsets = (diagonals if several else [diagonals]), [offsets]
    if shape is None:
        n = len(diagonals[0]) + abs(offsets[0])
        shape = (n, n)
    data, rows, columns = [], [], []
    for values, k in zip(diagonals, offsets, strict=True):
        size = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
        if np.ndim(values) == 0 or len(values) == 1:
            data.append(np.ones(size) * values)
        else:
            data.append(np.asarray(values)[:size] * 1.0)
        rows.append(np.arange(size) + max(-k, 0))
        columns.append(np.arange(size) + max(k, 0))
    parts = [np.concatenate(part) for part in (data, rows, columns)]
    return _made(parts[0], parts[1], parts[2], shape, is_matrix)


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """The solution with the full matrix."""
    if isinstance(b, Sparse):
        raise TypeError("spsolve() with a sparse right side is not supported: use toarray()")
    return np.linalg.solve(A.toarray(), np.asarray(b))


TABLE = rows("scipy.sparse", 0, eye, eye_array, identity, diags, diags_array) | rows(
    "scipy.sparse.linalg", 0, spsolve
)
"""Like `composed.TABLE`."""

CLASSES: dict[str, type] = {
    "scipy.sparse.coo_matrix": Sparse,
    "scipy.sparse.csr_matrix": Sparse,
    "scipy.sparse.csc_matrix": MatrixByColumns,
    "scipy.sparse.coo_array": ArrayByRows,
    "scipy.sparse.csr_array": ArrayByRows,
    "scipy.sparse.csc_array": ArrayByColumns,
}
"""By the dotted name of the class that each replaces."""
