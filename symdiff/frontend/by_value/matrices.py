"""Linear algebra of arrays of scalars, by elimination; pivots are chosen by the doubles."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from symdiff.frontend.by_value.array_functions import squares
from symdiff.frontend.by_value.arrays import lifted, objects
from symdiff.frontend.by_value.complex_scalars import Complex, double
from symdiff.frontend.by_value.elementary import FUNCTIONS, library
from symdiff.frontend.by_value.reals import RECORD, Real, raw, refuse, value_of


def _square(a: Any) -> Any:
    found = objects(a)
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    return found.astype(object)


def _factored(a: Any) -> tuple[Any, list[int], float]:
    """L and U in one matrix, the order of the rows, and its sign."""
    lu = _square(a).copy()
    n, sign = len(lu), 1.0
    order = list(range(n))
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(double(lu[i, k])))
        if type(lu[pivot, k]) is Real:
            RECORD.order(lu[pivot, k], 0.0)
        if double(lu[pivot, k]) == 0:
            raise np.linalg.LinAlgError("Singular matrix")
        if pivot != k:
            lu[[k, pivot]] = lu[[pivot, k]]
            order[k], order[pivot], sign = order[pivot], order[k], -sign
        for i in range(k + 1, n):
            if type(lu[i, k]) in (Real, Complex) or lu[i, k] != 0:
                lu[i, k] = lu[i, k] / lu[k, k]
                lu[i, k + 1 :] = lu[i, k + 1 :] - lu[i, k] * lu[k, k + 1 :]
    return lu, order, sign


def _solve(a: Any, b: Any, **options: Any) -> Any:
    if any(options.values()):
        raise refuse(f"options {', '.join(options)} of solve, in a function that is run by values")
    if np.ndim(a) > 2:
        right = objects(b)
        return lifted(np.stack([objects(_solve(x, y)) for x, y in zip(a, right, strict=True)]))
    lu, order, _ = _factored(a)
    x = objects(b)[order].astype(object)
    for i in range(1, len(x)):
        x[i] = x[i] - lu[i, :i] @ x[:i]
    for i in reversed(range(len(x))):
        rest = lu[i, i + 1 :] @ x[i + 1 :] if i + 1 < len(x) else 0.0
        x[i] = (x[i] - rest) / lu[i, i]
    return lifted(x)


def _inverse(a: Any, **options: Any) -> Any:
    if np.ndim(a) > 2:
        return lifted(np.stack([objects(_inverse(x)) for x in a]))
    return _solve(a, np.eye(len(objects(a))))


def _determinant(a: Any, **options: Any) -> Any:
    if np.ndim(a) > 2:
        return lifted(np.stack([objects(_determinant(x)) for x in a]))
    try:
        lu, _, sign = _factored(a)
    except np.linalg.LinAlgError:
        raise refuse("the determinant of a singular matrix, by elimination") from None
    return sign * functools.reduce(operator.mul, lu.diagonal())


def _signed_logarithm(a: Any) -> Any:
    found = _determinant(a)
    return type(np.linalg.slogdet(np.eye(1)))(
        np.sign(value_of(found)), FUNCTIONS[np.log](abs(found))
    )


def _lower(a: Any, upper: bool = False, **options: Any) -> Any:
    a = _square(a)
    n = len(a)
    factor = np.full((n, n), 0.0, object)
    for j in range(n):
        d = a[j, j] - sum(x * x for x in factor[j, :j])
        if not d > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        factor[j, j] = FUNCTIONS[np.sqrt](d)
        for i in range(j + 1, n):
            rest = sum(x * y for x, y in zip(factor[i, :j], factor[j, :j], strict=True))
            factor[i, j] = (a[i, j] - rest) / factor[j, j]
    return lifted(factor.T if upper else factor)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = lifted(objects(x))
    vectors = x.ndim == 1 or isinstance(axis, (int, np.integer))
    if ord is None or (ord == 2 and vectors) or (ord == "fro" and not vectors):
        total = np.sum(squares(x), axis=axis, keepdims=keepdims)
        if np.ndim(total) == 0:
            RECORD.order(total, 0.0)
        if np.ndim(total) == 0 and raw(total) == 0:  # its slope is 0 there
            return functools.reduce(FUNCTIONS[np.hypot], list(np.abs(x).ravel()), 0.0)
        return np.sqrt(total)
    size = np.abs(x)
    if vectors and ord in (np.inf, -np.inf):
        return (np.max if ord > 0 else np.min)(size, axis=axis, keepdims=keepdims)
    if vectors and ord:
        total = np.sum(size if ord == 1 else size**ord, axis=axis, keepdims=keepdims)
        return total if ord == 1 else total ** (1.0 / ord)
    if x.ndim == 2 and axis is None and not keepdims and ord in (1, np.inf):
        return np.max(np.sum(size, axis=0 if ord == 1 else 1))
    if x.ndim == 2 and axis is None and not keepdims and ord in (2, "nuc"):
        values = np.linalg.svd(x, compute_uv=False)
        return np.sum(values) if ord == "nuc" else np.max(values)
    raise refuse(f"the norm {ord!r}, in a function that is run by values")


def _power(a: Any, n: int) -> Any:
    if n < 0:
        return _power(_inverse(a), -n)
    return lifted(functools.reduce(np.dot, [_square(a)] * n, np.eye(len(a)).astype(object)))


def _triangular(a: Any, b: Any, trans: Any = 0, lower: bool = False, **options: Any) -> Any:
    kept = np.tril(a) if lower else np.triu(a)
    if kept is not a and options.get("unit_diagonal"):
        raise refuse("unit_diagonal= in a function that is run by values")
    return _solve(kept.T if trans in (1, "T", 2, "C") else kept, b)


_MODES: dict[str, Any] = {"full": "complete", "economic": "reduced"}
"""What NumPy calls the kinds of `scipy.linalg.qr`."""
FUNCTIONS.update(
    {
        np.linalg.solve: _solve,
        np.linalg.inv: _inverse,
        np.linalg.det: _determinant,
        np.linalg.slogdet: _signed_logarithm,
        np.linalg.cholesky: lambda a, /, *, upper=False: _lower(a, upper),
        np.linalg.norm: _norm,
        np.linalg.vector_norm: lambda x, /, *, axis=None, keepdims=False, ord=2: _norm(
            np.ravel(x) if axis is None else x, ord, axis, keepdims
        ),
        np.linalg.matrix_power: _power,
        np.linalg.multi_dot: lambda arrays: functools.reduce(
            np.dot, [lifted(objects(a)) for a in arrays]
        ),
    }
)
if scipy_linalg := library("scipy.linalg"):
    FUNCTIONS.update(
        {
            scipy_linalg.inv: _inverse,
            scipy_linalg.det: _determinant,
            scipy_linalg.cholesky: lambda a, lower=False, **options: _lower(a, not lower),
            scipy_linalg.norm: lambda a, ord=None, axis=None, keepdims=False, **options: _norm(
                a, ord, axis, keepdims
            ),
            scipy_linalg.qr: lambda a, mode="full", **options: tuple(
                np.linalg.qr(lifted(objects(a)), _MODES[mode])
            ),
            scipy_linalg.lstsq: lambda a, b, **options: np.linalg.lstsq(
                lifted(objects(a)), lifted(objects(b)), rcond=None
            ),
            scipy_linalg.eigh: lambda a: tuple(np.linalg.eigh(lifted(objects(a)))),
            scipy_linalg.eigvalsh: lambda a: np.linalg.eigvalsh(lifted(objects(a))),
            scipy_linalg.solve: lambda a, b, **options: _solve(a, b),
            scipy_linalg.solve_triangular: _triangular,
        }
    )
