"""NumPy's functions in terms of others: plain Python that is traced like a
user's. So they need no rules of their own, for small arrays or large ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symdiff.frontend.library import polynomial_names, rare_arguments, rearranged
from symdiff.frontend.library.numpy.linear_algebra import EIGH, SLOGDET, SVD
from symdiff.frontend.library.primitives import Row, rows
from symdiff.frontend.trace.values import SymArray, is_number

ArrayLike = Any

_QR: Any = type(np.linalg.qr(np.eye(1)))
"""The named tuple that NumPy returns."""


# --------------------------------------------------------------------- statistics
def quantile(
    a: ArrayLike, q: Any, axis: int | None = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False,
) -> Any:  # fmt: skip
    """The quantile by those methods of NumPy that use the places of "linear", q*(n - 1); any
    axis."""
    if method not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise TypeError(f"quantile() by the method {method} is not supported")
    if axis is None:
        ordered = np.sort(np.ravel(a))
    else:
        ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = ordered.shape[0]
    k = (0 if axis is None else axis) if keepdims else None
    if np.ndim(q) > 0:
        return np.stack([_at_place(ordered, n, p * (n - 1), method, k) for p in q])
    return _at_place(ordered, n, q * (n - 1), method, k)


def _at_place(ordered: ArrayLike, n: int, place: Any, method: str, kept: int | None) -> Any:
    """Linear interpolation between the two elements next to the place; some methods round the
    place."""
    if method == "midpoint":
        below = _at_place(ordered, n, np.floor(place), "linear", kept)
        return (below + _at_place(ordered, n, np.ceil(place), "linear", kept)) / 2
    if method == "lower":
        place = np.floor(place)
    elif method == "higher":
        place = np.ceil(place)
    elif method == "nearest":
        place = np.round(place)
    below = np.searchsorted(np.arange(1, n) * 1.0, place, side="right")
    after = np.minimum(below + 1, n - 1)
    part = place - below
    found = ordered[below] + part * (ordered[after] - ordered[below])
    found = _nan_beside(ordered[n - 1], found)
    return found if kept is None else np.expand_dims(found, kept)


def _nan_beside(last: ArrayLike, found: ArrayLike) -> ArrayLike:
    """The result, or nan if the last sorted element is nan; its slopes then are nan, as for
    maxima."""
    return np.where(np.isnan(last), np.maximum(last, found), found)


def percentile(
    a: ArrayLike, q: Any, axis: int | None = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False,
) -> Any:  # fmt: skip
    shares = [p / 100 for p in q] if np.ndim(q) > 0 else q / 100
    return quantile(a, shares, axis, None, False, method, keepdims)


def median(a: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Any:
    ordered = np.sort(np.ravel(a)) if axis is None else np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = ordered.shape[0]
    ordered = ordered * 1.0  # also for truth values
    found = np.mean(ordered, axis=0)  # nan without elements
    if n > 0:
        found = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
        found = _nan_beside(ordered[n - 1], found)
    if keepdims:
        return np.expand_dims(found, 0 if axis is None else axis)
    return found


def cov(
    m: ArrayLike, y: ArrayLike = None, rowvar: bool = True, bias: bool = False,
    ddof: int | None = None, fweights: Any = None, aweights: Any = None,
) -> Any:  # fmt: skip
    x = _observations(m, y, rowvar)
    n = x.shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        centred = x - np.mean(x, axis=1, keepdims=True)
        found = centred @ centred.T / max(n - less, 0)
    else:
        weights = np.ones(n) if fweights is None else np.asarray(fweights) * 1.0
        part = np.ones(n) if aweights is None else np.asarray(aweights)
        weights = weights * part
        total = np.sum(weights)
        centred = x - np.sum(x * weights, axis=1, keepdims=True) / total
        lost = less if aweights is None else less * np.sum(weights * part) / total
        found = (centred * weights) @ centred.T / max(total - lost, 0.0)
    return found[0, 0] if np.ndim(m) == 1 and y is None else np.squeeze(found)


def corrcoef(x: ArrayLike, y: ArrayLike = None, rowvar: bool = True) -> Any:
    if np.ndim(x) == 1 and y is None:
        return 1.0
    found = cov(x, y, rowvar)
    if np.ndim(found) == 0:
        return found / found
    sizes = np.sqrt(np.diag(found))
    return found / sizes[:, None] / sizes


def _observations(m: ArrayLike, y: ArrayLike, rowvar: bool) -> Any:
    x = m[None, :] if np.ndim(m) == 1 else m if rowvar else m.T
    if y is None:
        return x
    return np.concatenate([x, y[None, :] if np.ndim(y) == 1 else y if rowvar else y.T])


def bincount(x: ArrayLike, weights: ArrayLike = None, minlength: int = 0) -> Any:
    n = max(np.max(x) + 1, minlength) if len(x) > 0 else minlength
    if weights is None:
        found = np.zeros(n, int)
        np.add.at(found, x, 1)
        return found
    sums = np.zeros(n)
    np.add.at(sums, x, weights)
    return sums


def histogram(
    a: ArrayLike, bins: Any = 10, range: Any = None, density: bool = False,
    weights: ArrayLike = None,
) -> Any:  # fmt: skip
    """Counts have no gradient, sums of weights have that of the weights, and edges that of the
    extremes that define them."""
    x = np.ravel(a)
    if np.ndim(bins) > 0:
        edges = bins * 1.0
        low, high = edges[0], edges[-1]
    else:
        low, high = (np.min(x), np.max(x)) if range is None else range
        low, high = np.where(low == high, low - 0.5, low), np.where(low == high, high + 0.5, high)
        edges = np.linspace(low, high, bins + 1)
    n = edges.shape[0] - 1
    at = np.minimum(np.searchsorted(edges, x, side="right") - 1, n - 1)
    inside = (x >= low) & (x <= high)
    at = np.maximum(at, 0)
    if weights is None and not density:
        found = np.zeros(n, int)
        np.add.at(found, at[inside], 1)
        return found, edges
    sums = np.zeros(n)
    np.add.at(sums, at, np.where(inside, 1.0 if weights is None else np.ravel(weights), 0.0))
    return (sums / (np.sum(sums) * np.diff(edges)) if density else sums), edges


def partition(a: ArrayLike, kth: Any, axis: int = -1) -> Any:
    """The sorted array, which is one of the orders that `np.partition` may return."""
    return np.sort(a, axis=axis)


def argpartition(a: ArrayLike, kth: Any, axis: int = -1) -> Any:
    return np.argsort(a, axis=axis)


# ---------------------------------------------------------- leaving out nan
def nanmax(a: ArrayLike, axis: Any = None, keepdims: bool = False) -> Any:
    lost = np.isnan(a)
    found = np.max(np.where(lost, -math.inf, a), axis=axis, keepdims=keepdims)
    return np.where(np.all(lost, axis=axis, keepdims=keepdims), math.nan, found)


def nanmin(a: ArrayLike, axis: Any = None, keepdims: bool = False) -> Any:
    return -nanmax(-np.asarray(a), axis, keepdims)


def without_nan(f: Any, neutral: float) -> Any:
    """A sum or product, running or not, with nan replaced by a neutral number."""

    def found(a: ArrayLike, axis: Any = None, **more: Any) -> Any:
        return f(np.where(np.isnan(a), neutral, a), axis=axis, **more)

    return found


def nanmean(a: ArrayLike, axis: Any = None, keepdims: bool = False) -> Any:
    there = ~np.isnan(a)
    sums = np.sum(np.where(there, a, 0.0), axis=axis, keepdims=keepdims)
    return sums / np.sum(there, axis=axis, keepdims=keepdims)


def nanvar(a: ArrayLike, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    there = ~np.isnan(a)
    rest = np.where(there, a - nanmean(a, axis, True), 0.0)
    count = np.sum(there, axis=axis, keepdims=keepdims)
    return np.sum(rest * rest, axis=axis, keepdims=keepdims) / np.where(
        count > ddof, count - ddof, np.nan
    )


def nanstd(a: ArrayLike, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
    return np.sqrt(nanvar(a, axis, ddof, keepdims))


# ---------------------------------------------------------------- linear algebra
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1,
    axis: int | None = None,
) -> Any:  # fmt: skip
    if axis is not None:
        axisa = axisb = axisc = axis
    found = np.cross(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1))
    return np.moveaxis(found, -1, axisc)


def lstsq(a: ArrayLike, b: ArrayLike, rcond: Any = None) -> Any:
    """The shortest solution; its derivative by the matrix is the one at constant rank."""
    if rcond is None:
        least = 2.0**-52 * max(a.shape)
    else:
        least = 2.0**-52 if rcond == -1 else rcond
    x = np.linalg.pinv(a, least) @ b
    rest = np.sum((b - a @ x) ** 2, axis=0)
    sizes = np.linalg.svd(a, compute_uv=False)
    return x, rest, np.sum(np.where(sizes > least * sizes[0], 1, 0)), sizes


def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """QR by reflections, with the signs of LAPACK."""
    rows = np.arange(a.shape[0])
    q, r = np.eye(a.shape[0]), a * 1.0
    count = min(a.shape[0], a.shape[1])
    for j in range(count):
        below = np.sum(np.where(rows > j, r[:, j] ** 2, 0.0))
        length = np.copysign(np.sqrt(below + r[j, j] ** 2), r[j, j])
        v = np.where(rows >= j, r[:, j], 0.0) + np.where(rows == j, length, 0.0)
        size = np.where(below == 0, 0.0, 2 / np.where(below == 0, 1.0, v @ v))
        r = r - np.outer(v, size * (v @ r))
        q = q - np.outer(q @ v, size * v)
    if mode == "complete":
        return _QR(q, np.triu(r))
    return np.triu(r[:count]) if mode == "r" else _QR(q[:, :count], np.triu(r[:count]))


def _matrices(a: ArrayLike) -> Any:
    """The matrices of a stack, one after the other."""
    return np.reshape(a, (-1, a.shape[-2], a.shape[-1]))


def each_matrix(f: Any, made: Any = None, count: int = 0) -> Any:
    """A function of a matrix, for every matrix of a stack, with the given number of results."""

    def found(a: ArrayLike, *args: Any) -> Any:
        if made is None:
            return _stack([f(m, *args) for m in _matrices(a)], a)
        parts = [_stack([f(m, *args)[k] for m in _matrices(a)], a) for k in range(count)]
        return made(*parts)

    return found


def _stack(parts: Any, a: ArrayLike) -> Any:
    """Results for the matrices of a stack, in its shape."""
    found = np.array(parts)
    return np.reshape(found, (*a.shape[:-2], *found.shape[1:]))


def decompositions(a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    stack, before = _matrices(a), a.shape[:-2]
    k = min(a.shape[-2], a.shape[-1])
    sizes = np.array([np.linalg.svd(m, full_matrices, False) for m in stack])
    sizes = np.reshape(sizes, (*before, k))
    if not compute_uv:
        return sizes
    left = np.array([np.linalg.svd(m, full_matrices)[0] for m in stack])
    right = np.array([np.linalg.svd(m, full_matrices)[2] for m in stack])
    left = np.reshape(left, (*before, a.shape[-2], left.shape[-1]))
    return SVD(left, sizes, np.reshape(right, (*before, right.shape[-2], a.shape[-1])))


def spectral_norms(x: ArrayLike, ord: Any, axis: Any, keepdims: bool = False) -> Any:
    """Spectral norms of the matrices along two axes of an array."""
    rows, columns = axis
    stack = np.moveaxis(x, (rows, columns), (-2, -1))
    sizes = np.linalg.svd(stack, compute_uv=False)
    found = np.sum(sizes, axis=-1) if ord == "nuc" else sizes[..., 0 if ord == 2 else -1]
    if keepdims:
        first, second = sorted([rows % np.ndim(x), columns % np.ndim(x)])
        found = np.expand_dims(np.expand_dims(found, first), second)
    return found


def solutions(a: ArrayLike, b: ArrayLike) -> Any:
    if np.ndim(b) == 1:
        return solutions(a, b[:, None])[..., 0]
    left = a * np.ones_like(b[..., :1, :1])
    right = b * np.ones_like(a[..., :1, :1])
    matrices, sides = _matrices(left), _matrices(right)
    found = np.array([np.linalg.solve(matrices[k], sides[k]) for k in range(matrices.shape[0])])
    return np.reshape(found, right.shape)


def svdvals(x: ArrayLike) -> Any:
    return np.linalg.svd(x, compute_uv=False)


def cond(x: ArrayLike, p: Any = None) -> Any:
    if p is None:
        sizes = np.linalg.svd(x, compute_uv=False)
        return sizes[0] / sizes[-1]
    return np.linalg.norm(x, p) * np.linalg.norm(np.linalg.inv(x), p)


def matrix_rank(A: ArrayLike, tol: Any = None, *, rtol: Any = None) -> Any:
    """The number of singular values above a limit, by default that of NumPy."""
    if np.ndim(A) < 2:
        return np.where(np.any(A != 0), 1, 0)
    if np.ndim(A) > 2:
        raise ValueError("the ranks of a stack of matrices; take them one by one")
    sizes = np.linalg.svd(A, compute_uv=False)
    least = tol
    if tol is None:
        share = max(A.shape[0], A.shape[1]) * 2.0**-52 if rtol is None else rtol
        least = np.max(sizes) * share
    return np.sum(np.where(sizes > least, 1, 0))


def vecdot(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Any:
    if np.ndim(x1) < 1 or np.ndim(x2) < 1:
        raise ValueError("np.vecdot() of a number, where NumPy takes vectors only")
    return np.sum(x1 * x2, axis=axis)


def matvec(x1: ArrayLike, x2: ArrayLike) -> Any:
    if np.ndim(x1) < 2:
        raise ValueError("np.matvec() of a vector, where NumPy takes matrices only")
    return np.sum(x1 * x2[..., None, :], axis=-1)


def vecmat(x1: ArrayLike, x2: ArrayLike) -> Any:
    if np.ndim(x2) < 2:
        raise ValueError("np.vecmat() of a vector, where NumPy takes matrices only")
    return np.sum(x1[..., :, None] * x2, axis=-2)


def matrix_norm(x: ArrayLike, keepdims: bool = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)


def matrix_trace(x: ArrayLike, offset: int = 0) -> Any:
    return np.trace(x, offset, -2, -1)


def linalg_diagonal(x: ArrayLike, *, offset: int = 0) -> Any:
    return np.diagonal(x, offset, -2, -1)


# ------------------------------------------------------------------ Python's statistics
def mean_of_list(data: Any) -> Any:
    return sum(data) / len(data)


def median_of_list(data: Any) -> Any:
    return float(np.median(_sortable(data)))


def low_median_of_list(data: Any) -> Any:
    ordered = np.sort(_sortable(data))
    return float(ordered[(len(ordered) - 1) // 2])


def high_median_of_list(data: Any) -> Any:
    ordered = np.sort(_sortable(data))
    return float(ordered[len(ordered) // 2])


def _sortable(data: Any) -> Any:
    values = np.array(data)
    if np.any(np.isnan(values)):
        raise ValueError(
            "nan, which Python's sort leaves where it is, among the numbers of a median"
        )
    return values


def whole_variance_of_list(data: Any) -> Any:
    middle = sum(data) / len(data)
    return sum([(v - middle) ** 2 for v in data]) / len(data)


def variance_of_list(data: Any) -> Any:
    middle = sum(data) / len(data)
    return sum([(v - middle) ** 2 for v in data]) / (len(data) - 1)


def deviation_of_list(data: Any) -> Any:
    return math.sqrt(variance_of_list(data))


def whole_deviation_of_list(data: Any) -> Any:
    return math.sqrt(whole_variance_of_list(data))


TABLE: dict[str, Row] = {
    **rows(
        "numpy", 1, quantile, percentile, histogram, partition, argpartition, median, nanmax, nanmin,
        nanmean, nanvar, nanstd, nanprod=without_nan(np.prod, 1.0), nancumsum=without_nan(np.cumsum, 0.0),
        nancumprod=without_nan(np.cumprod, 1.0),
    ),
    **rows("numpy", 2, cov, corrcoef, vecdot, matvec, vecmat),
    "numpy.bincount": (bincount, 2, 0),
    **rows(
        "numpy.linalg", 1, qr, svdvals, cond, matrix_norm, matrix_rank, diagonal=linalg_diagonal, trace=matrix_trace
    ),
    **rows("numpy.linalg", 2, lstsq, vecdot),
    **rows(
        "statistics", 1, mean=mean_of_list, fmean=mean_of_list, median=median_of_list,
        median_low=low_median_of_list, median_high=high_median_of_list, variance=variance_of_list,
        pvariance=whole_variance_of_list, stdev=deviation_of_list, pstdev=whole_deviation_of_list,
    ),
    **rearranged.TABLE,
    **polynomial_names.TABLE,
}  # fmt: skip
"""By the dotted name of the function: its implementation, how many of its first arguments are
arrays, and the position of one that is an array of integers."""


ALIASES: dict[str, str] = {
    **{f"numpy.linalg.{name}": f"numpy.{name}" for name in ("outer", "matmul", "tensordot", "cross", "matrix_transpose")},
}  # fmt: skip
"""Functions that are equal to other, known functions."""


def _stacked(*args: Any, **more: Any) -> bool:
    """Whether an argument is a stack of matrices."""
    return any(isinstance(a, SymArray) and len(a.shape) > 2 for a in args)


def _of_spectra(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> bool:
    """Whether norms are of the singular values of several matrices."""
    spectral = ord == "nuc" or (isinstance(ord, int) and abs(ord) == 2)
    return spectral and isinstance(axis, tuple) and isinstance(x, SymArray)


def _with_initial(*args: Any, **more: Any) -> bool:
    return "initial" in more


EXTENDED: dict[str, tuple[Any, ...]] = {
    **{
        f"numpy.linalg.{f.__name__}": (each_matrix(f), _stacked)
        for f in (np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.pinv)
    },
    "numpy.linalg.slogdet": (each_matrix(np.linalg.slogdet, SLOGDET, 2), _stacked),
    "numpy.linalg.eigh": (each_matrix(np.linalg.eigh, EIGH, 2), _stacked),
    "numpy.linalg.svd": (decompositions, _stacked),
    "numpy.linalg.norm": (spectral_norms, _of_spectra),
    "numpy.linalg.solve": (solutions, _stacked),
    **rare_arguments.EXTENDED,
    "numpy.interp": (rearranged.interp, lambda *args, **more: len(args) > 3 or bool(more)),
    "numpy.cross": (cross, lambda *args, **more: len(args) > 2 or not {"axis"} >= {*more}),
    **dict.fromkeys(("numpy.max", "numpy.amax"), (rearranged.extreme_or(np.max), _with_initial)),
    **dict.fromkeys(("numpy.min", "numpy.amin"), (rearranged.extreme_or(np.min), _with_initial)),
    "numpy.take": (rearranged.taken, lambda *args, **more: "mode" in more),
    "numpy.delete": (rearranged.deleted, lambda *args, **more: len(args) > 1 and not is_number(args[1])),
    "numpy.insert": (rearranged.inserted, lambda *args, **more: "axis" in more or (len(args) > 1 and not is_number(args[1]))),
    "numpy.diff": (rearranged.diff, lambda *args, **more: "prepend" in more or "append" in more),
    "numpy.repeat": (rearranged.repeat, lambda *args, **more: not is_number((*args[1:2], *more.values())[0]), 1),
}  # fmt: skip
"""Functions with a usual implementation, and the condition under which a call uses this one; and
which argument is an array of integers."""
