"""Sparse matrices of `scipy.sparse` that are made where a function is traced: a class that is traced like
a user's, in place of SciPy's. A matrix is its entries and their places, in any order."""

from __future__ import annotations

from typing import Any

import numpy as np

ArrayLike = Any


class Sparse:
    """Entries at the same place are added."""

    def __init__(
        self, entries: Any, shape: Any = None, dtype: Any = None, copy: bool = False
    ) -> None:
        if not isinstance(entries, tuple) or len(entries) != 2 or shape is None:
            raise TypeError("sparse matrices are made here of (data, (rows, columns)) and a shape")
        data, (rows, columns) = entries
        self._data, self.shape = np.asarray(data) * 1.0, shape
        self._row, self._col = np.asarray(rows), np.asarray(columns)

    def __matmul__(self, other: ArrayLike) -> Any:
        x = np.asarray(other)
        if np.ndim(x) == 1:
            found = np.zeros(self.shape[0])
            np.add.at(found, self._row, self._data * x[self._col])
            return found
        return self.toarray() @ x

    def __rmatmul__(self, other: ArrayLike) -> Any:
        return np.asarray(other) @ self.toarray()

    def dot(self, other: ArrayLike) -> Any:
        return self @ other

    def toarray(self) -> Any:
        found = np.zeros(self.shape)
        np.add.at(found, (self._row, self._col), self._data)
        return found

    def transpose(self) -> Any:
        return Sparse((self._data, (self._col, self._row)), (self.shape[1], self.shape[0]))

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


def spsolve(A: Any, b: ArrayLike) -> Any:
    """By the whole matrix."""
    return np.linalg.solve(A.toarray(), np.asarray(b))


TABLE: dict[str, tuple[Any, int]] = {"scipy.sparse.linalg.spsolve": (spsolve, 0)}
"""As `composed.TABLE`."""

CLASSES: dict[str, type] = {
    f"scipy.sparse.{kind}_{name}": Sparse
    for kind in ("coo", "csr", "csc")
    for name in ("matrix", "array")
}
"""By the dotted name of the class that each stands for."""
