"""Eigenvalues and singular values of arrays of scalars, by rotations of Jacobi; and least squares.

The rotations converge, and with them all their derivatives. Order and signs are those of NumPy.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from symdiff.frontend.by_value.arrays import lifted, objects
from symdiff.frontend.by_value.elementary import FUNCTIONS, library
from symdiff.frontend.by_value.reals import RECORD, raw, refuse

LARGEST = 24
"""Rows or columns; the operations are some 30 times the third power."""
SWEEPS = 30
_raw = np.frompyfunc(raw, 1, 1)


def _doubles(a: Any) -> Any:
    """The doubles of an array. They choose an order and signs, which no guard repeats."""
    RECORD.special = True
    return _raw(a).astype(float)


def _matrix(a: Any) -> Any:
    found = objects(a).astype(object)
    if found.ndim != 2 or max(found.shape) > LARGEST:
        raise refuse(f"the decomposition of an array of the shape {found.shape}, run by values")
    return found


def _rotation(x: Any, y: Any, xy: Any) -> tuple[Any, Any]:
    """The cosine and sine of the rotation by which `[[x, xy], [xy, y]]` becomes diagonal."""
    d = y - x
    root = FUNCTIONS[np.sqrt](d * d + 4.0 * xy * xy)
    t = 2.0 * xy / (d + root if raw(d) >= 0 else d - root)
    c = 1.0 / FUNCTIONS[np.sqrt](1.0 + t * t)
    return c, c * t


def _columns_rotated(a: Any, p: int, q: int, c: Any, s: Any) -> None:
    a[:, p], a[:, q] = c * a[:, p] - s * a[:, q], s * a[:, p] + c * a[:, q]


def _symmetric(a: Any, upper: bool) -> Any:
    """The matrix that NumPy reads from one triangle."""
    a = _matrix(a)
    n = len(a)
    for i, j in itertools.combinations(range(n), 2):
        if upper:
            a[j, i] = a[i, j]
        else:
            a[i, j] = a[j, i]
    return a


def _eigh(a: Any, UPLO: str = "L") -> tuple[Any, Any]:
    a = _symmetric(a, UPLO == "U")
    n = len(a)
    _, want = np.linalg.eigh(_doubles(a))
    v = np.eye(n).astype(object)
    exact = 0
    for _ in range(SWEEPS):
        size = float(np.max(np.abs(_doubles(a)), initial=0.0))
        off = max((abs(raw(a[p, q])) for p, q in itertools.combinations(range(n), 2)), default=0.0)
        exact += off <= 1e-15 * size
        if exact > 2:  # the derivatives converge in the two sweeps after
            break
        for p, q in itertools.combinations(range(n), 2):
            if raw(a[p, p]) == raw(a[q, q]) and raw(a[p, q]) == 0:
                if all(
                    type(x) is float or type(x) is np.float64 for x in (a[p, q], a[p, p], a[q, q])
                ):
                    continue
                raise refuse("equal eigenvalues, in a function that is run by values")
            c, s = _rotation(a[p, p], a[q, q], a[p, q])
            _columns_rotated(a, p, q, c, s)
            _columns_rotated(a.T, p, q, c, s)
            _columns_rotated(v, p, q, c, s)
    order = np.argsort(_doubles(a.diagonal()), kind="stable")
    v = v[:, order]
    signs = np.where(np.sum(_doubles(v) * want, axis=0) < 0, -1.0, 1.0)
    kind = type(np.linalg.eigh(np.eye(1)))
    return kind(lifted(a.diagonal()[order]), lifted(v * signs))


def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, **options: Any
) -> Any:  # fmt: skip
    a = _matrix(a)
    if compute_uv and full_matrices and a.shape[0] != a.shape[1]:
        raise refuse(
            "full matrices of a singular value decomposition, run by values", "full_matrices=False"
        )
    wide = a.shape[0] < a.shape[1]
    u = (a.T if wide else a).copy()
    n = u.shape[1]
    v = np.eye(n).astype(object)
    want = np.linalg.svd(_doubles(a), full_matrices=False)
    exact = 0
    for _ in range(SWEEPS):
        cosines = 0.0
        for p, q in itertools.combinations(range(n), 2):
            x, y, xy = u[:, p] @ u[:, p], u[:, q] @ u[:, q], u[:, p] @ u[:, q]
            if raw(x) == raw(y) and raw(xy) == 0:
                raise refuse("equal singular values, in a function that is run by values")
            cosines = max(
                cosines, abs(raw(xy)) / (raw(x) * raw(y)) ** 0.5 if raw(x) * raw(y) else 0.0
            )
            c, s = _rotation(x, y, xy)
            _columns_rotated(u, p, q, c, s)
            _columns_rotated(v, p, q, c, s)
        exact += cosines <= 1e-15
        if exact > 2:
            break
    values = np.array([FUNCTIONS[np.sqrt](u[:, k] @ u[:, k]) for k in range(n)], object)
    order = np.argsort(-_doubles(values), kind="stable")
    values = values[order]
    if not compute_uv:
        return lifted(values)
    u, v = u[:, order] / values, v[:, order]
    left, right = (v, u) if wide else (u, v)
    signs = np.where(np.sum(_doubles(left) * want[0], axis=0) < 0, -1.0, 1.0)
    kinds = type(np.linalg.svd(np.eye(1)))
    return kinds(lifted(left * signs), lifted(values), lifted((right * signs).T))


def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The correction of the solution in doubles by the normal equations, which is 0 but for its slopes."""
    a, b = _matrix(a), objects(b)
    x, _, rank, _ = np.linalg.lstsq(_doubles(a), _doubles(b), rcond=rcond)
    if rank < a.shape[1]:
        raise refuse("least squares without full rank, in a function that is run by values")
    found = x + objects(FUNCTIONS[np.linalg.solve](a.T @ a, a.T @ (b - a @ x)))
    rest = b - a @ found
    squares = np.atleast_1d((rest * rest).sum(axis=0)) if a.shape[0] > a.shape[1] else np.zeros(0)
    return lifted(found), lifted(squares), rank, _svd(a, compute_uv=False)


def _pinv(a: Any, **options: Any) -> Any:
    a = _matrix(a)
    if options:
        raise refuse("options of pinv, in a function that is run by values")
    if a.shape[0] < a.shape[1]:
        return _pinv(a.T).T
    return _lstsq(a, np.eye(len(a)).astype(object))[0]


FUNCTIONS.update(
    {
        np.linalg.eigh: _eigh,
        np.linalg.eigvalsh: lambda a, UPLO="L": _eigh(a, UPLO)[0],
        np.linalg.svd: _svd,
        np.linalg.lstsq: _lstsq,
        np.linalg.pinv: _pinv,
    }
)
if hasattr(np.linalg, "svdvals"):
    FUNCTIONS[np.linalg.svdvals] = lambda x: _svd(x, compute_uv=False)


def _eigvalsh(a: Any, lower: bool = True, **options: Any) -> Any:
    """That of SciPy."""
    if options:
        raise refuse("options of eigvalsh, in a function that is run by values")
    return _eigh(a, "L" if lower else "U")[0]


if scipy_linalg := library("scipy.linalg"):
    FUNCTIONS.update(
        {
            scipy_linalg.svdvals: lambda a: _svd(a, compute_uv=False),
            scipy_linalg.eigvalsh: _eigvalsh,
        }
    )
