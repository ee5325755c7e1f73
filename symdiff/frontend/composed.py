"""NumPy's and SciPy's functions in terms of others: plain Python that is traced like a
user's. So they need no rules of their own, for small arrays or large ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.scalars import is_whole

ArrayLike = Any


# --------------------------------------------------------------------- statistics
def quantile(a: ArrayLike, q: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    """Linear interpolation between the two elements next to the place; any axis."""
    if axis is None:
        ordered = np.sort(np.ravel(a))
    else:
        ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = ordered.shape[0]
    if np.ndim(q) > 0:
        return np.stack([_at_place(ordered, n, p, axis, keepdims) for p in q])
    return _at_place(ordered, n, q, axis, keepdims)


def _at_place(ordered: ArrayLike, n: int, q: Any, axis: int | None, keepdims: bool) -> Any:
    place = q * (n - 1)
    below = np.searchsorted(np.arange(1, n) * 1.0, place, side="right")
    after = np.minimum(below + 1, n - 1)
    part = place - below
    found = ordered[below] + part * (ordered[after] - ordered[below])
    if keepdims:
        return np.expand_dims(found, 0 if axis is None else axis)
    return found


def percentile(a: ArrayLike, q: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    if np.ndim(q) > 0:
        return quantile(a, [p / 100 for p in q], axis, keepdims)
    return quantile(a, q / 100, axis, keepdims)


def median(a: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Any:
    ordered = np.sort(np.ravel(a)) if axis is None else np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = ordered.shape[0]
    found = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    if keepdims:
        return np.expand_dims(found, 0 if axis is None else axis)
    return found


def cov(
    m: ArrayLike, y: ArrayLike = None, rowvar: bool = True, bias: bool = False,
    ddof: int | None = None,
) -> Any:  # fmt: skip
    x = _observations(m, y, rowvar)
    n = x.shape[1]
    less = (0 if bias else 1) if ddof is None else ddof
    centred = x - np.mean(x, axis=1, keepdims=True)
    found = centred @ centred.T / (n - less)
    return found[0, 0] if np.ndim(m) == 1 and y is None else found


def corrcoef(x: ArrayLike, y: ArrayLike = None, rowvar: bool = True) -> Any:
    if np.ndim(x) == 1 and y is None:
        return 1.0
    found = cov(x, y, rowvar)
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
    extremes they come from."""
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


def unique(ar: ArrayLike) -> Any:
    """Sorted, each value once; the gradient of equal ones goes to the first of them."""
    x = np.sort(np.ravel(ar))
    places = np.arange(x.shape[0])
    return x[(x != x[np.maximum(places - 1, 0)]) | (places == 0)]


def partition(a: ArrayLike, kth: Any, axis: int = -1) -> Any:
    """Sorted, which is one of the orders that `np.partition` may leave."""
    return np.sort(a, axis=axis)


def argpartition(a: ArrayLike, kth: Any, axis: int = -1) -> Any:
    return np.argsort(a, axis=axis)


# --------------------------------------------------------------- lines and shapes
def correlate(a: ArrayLike, v: ArrayLike, mode: Any = "valid") -> Any:
    return np.convolve(a, v[::-1], mode)


def interp(x: Any, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None) -> Any:
    found = np.interp(x, xp, fp)
    if left is not None:
        found = np.where(x < xp[0], left, found)
    if right is not None:
        found = np.where(x > xp[-1], right, found)
    return found


def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    parts = [p for p in (prepend, a, append) if p is not None]
    if len(parts) > 1:
        parts = [p if np.ndim(p) else np.full(_thin(a.shape, axis), p) for p in parts]
        a = np.concatenate(parts, axis=axis)
    return np.diff(a, n=n, axis=axis)


def _thin(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    k = axis % len(shape)
    return (*shape[:k], 1, *shape[k + 1 :])


def gradient(f: ArrayLike, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second-order differences inside, those of the order that is asked for at the ends."""
    axes = range(np.ndim(f)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1,) * len(axes)
    found = [_slopes(f, h, k, edge_order) for h, k in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else found


def _slopes(f: ArrayLike, h: Any, axis: int, order: int) -> Any:
    a = np.moveaxis(f, axis, 0)
    if a.shape[0] < order + 1:
        raise ValueError("np.gradient() needs one element more than the order at the edges")
    steps = np.diff(h) if np.ndim(h) else np.full(a.shape[0] - 1, h * 1.0)
    s = steps.reshape((-1,) + (1,) * (np.ndim(f) - 1))
    rises = (a[1:] - a[:-1]) / s
    inside = (s[1:] * rises[:-1] + s[:-1] * rises[1:]) / (s[1:] + s[:-1])
    first, last = rises[:1], rises[-1:]
    if order == 2:
        first = first + s[:1] / (s[:1] + s[1:2]) * (rises[:1] - rises[1:2])
        last = last + s[-1:] / (s[-1:] + s[-2:-1]) * (rises[-1:] - rises[-2:-1])
    return np.moveaxis(np.concatenate([first, inside, last]), 0, axis)


def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> Any:
    if np.ndim(repeats) == 0:
        return np.repeat(a, repeats, axis)
    ends = np.cumsum(repeats)
    which = np.searchsorted(ends, np.arange(np.sum(repeats)), side="right")
    return np.take(np.ravel(a) if axis is None else a, which, axis=0 if axis is None else axis)


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    i, j = axes
    if k % 4 == 0:
        return m * 1
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, j), i, j)
    if k % 4 == 2:
        return np.flip(np.flip(m, i), j)
    return np.flip(np.swapaxes(m, i, j), j)


def dstack(arrays: Any) -> Any:
    parts = [a[None, :, None] if np.ndim(a) == 1 else a[:, :, None] if np.ndim(a) == 2 else a for a in arrays]  # fmt: skip
    return np.concatenate(parts, axis=2)


def tri(N: int, M: int | None = None, k: int = 0) -> Any:
    return np.where(np.arange(N)[:, None] + k >= np.arange(N if M is None else M), 1.0, 0.0)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    return np.nonzero(np.arange(n)[:, None] + k >= np.arange(n if m is None else m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    return np.nonzero(np.arange(n)[:, None] + k <= np.arange(n if m is None else m))


def tril_indices_from(arr: ArrayLike, k: int = 0) -> Any:
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr: ArrayLike, k: int = 0) -> Any:
    return triu_indices(arr.shape[0], k, arr.shape[1])


def sliding_window_view(x: ArrayLike, window_shape: int, axis: int | None = None) -> Any:
    k = (0 if axis is None else axis) % np.ndim(x)
    a = np.moveaxis(x, k, -1)
    places = np.arange(a.shape[-1] - window_shape + 1)[:, None] + np.arange(window_shape)
    return np.moveaxis(a[..., places], -2, k)


def delete(arr: ArrayLike, obj: int, axis: int | None = None) -> Any:
    a = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    n = a.shape[0]
    at = np.arange(n - 1)
    kept = np.where(at < (obj if obj >= 0 else obj + n), at, at + 1)
    return a[kept] if axis is None else np.moveaxis(a[kept], 0, axis)


def insert(arr: ArrayLike, obj: int, values: Any) -> Any:
    value = values if np.ndim(values) else np.full(1, values)
    return np.concatenate([arr[:obj], value, arr[obj:]])


def at(function: Any, a: ArrayLike, indices: Any, *values: Any) -> None:
    """What `np.ufunc.at` does: one index after the other."""
    if isinstance(indices, tuple):
        i, j = indices
        more = [np.broadcast_to(v, i.shape) for v in values]
        for k in range(i.shape[0]):
            a[i[k], j[k]] = function(a[i[k], j[k]], *[v[k] for v in more])
    else:
        i = np.ravel(indices)
        shape = a.shape[1:]
        more = [np.broadcast_to(v, np.shape(indices) + shape).reshape((-1, *shape)) for v in values]
        for k in range(i.shape[0]):
            a[i[k]] = function(a[i[k]], *[v[k] for v in more])


def ix_(*args: ArrayLike) -> Any:
    n = len(args)
    return tuple([a.reshape((1,) * k + (-1,) + (1,) * (n - 1 - k)) for k, a in enumerate(args)])


def block(arrays: Any) -> Any:
    return _blocks(arrays, _depth(arrays))


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _blocks(arrays: Any, depth: int) -> Any:
    if depth == 0:
        return arrays
    parts = [_blocks(a, depth - 1) for a in arrays]
    rank = max([np.ndim(p) for p in parts] + [depth])
    parts = [_leading(p, rank) for p in parts]
    return np.concatenate(parts, axis=-depth)


def _leading(a: ArrayLike, rank: int) -> Any:
    if np.ndim(a) == 0:
        return np.full((1,) * rank, a)
    return np.reshape(a, (1,) * (rank - np.ndim(a)) + np.shape(a))


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> Any:
    if not isinstance(indices_or_sections, int):
        return np.split(ary, indices_or_sections, axis)
    parts = indices_or_sections
    n = ary.shape[axis]
    ends = [k * (n // parts) + min(k, n % parts) for k in range(1, parts)]
    return np.split(ary, ends, axis)


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> Any:
    return np.split(ary, indices_or_sections, 0 if np.ndim(ary) == 1 else 1)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> Any:
    return np.split(ary, indices_or_sections, 0)


def atleast_3d(a: ArrayLike) -> Any:
    if np.ndim(a) == 0:
        return np.reshape(a, (1, 1, 1))
    if np.ndim(a) == 1:
        return a[None, :, None]
    return a[:, :, None] if np.ndim(a) == 2 else a


def ediff1d(ary: ArrayLike, to_end: Any = None, to_begin: Any = None) -> Any:
    found = np.diff(np.ravel(ary))
    if to_begin is not None:
        found = np.concatenate([np.atleast_1d(to_begin), found])
    return found if to_end is None else np.concatenate([found, np.atleast_1d(to_end)])


def diagflat(v: ArrayLike, k: int = 0) -> Any:
    return np.diag(np.ravel(v), k)


def diag_indices(n: int, ndim: int = 2) -> Any:
    return (np.arange(n),) * ndim


def diag_indices_from(arr: ArrayLike) -> Any:
    return (np.arange(arr.shape[0]),) * np.ndim(arr)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Any:
    k, n = axis % np.ndim(a), start + np.ndim(a) if start < 0 else start
    return np.moveaxis(a, k, n - 1 if k < n else n)


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0) -> Any:
    return base ** np.linspace(start, stop, num, endpoint)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    return start * (stop / start) ** np.linspace(0, 1, num, endpoint)


def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None) -> Any:
    mask = np.asarray(condition)
    if axis is None:
        return np.ravel(a)[mask]
    return np.moveaxis(np.moveaxis(a, axis, 0)[mask], 0, axis)


def put(a: ArrayLike, ind: ArrayLike, v: Any) -> None:
    a.reshape(-1)[ind] = v


def putmask(a: ArrayLike, mask: ArrayLike, values: Any) -> None:
    a[mask] = values if np.ndim(values) == 0 else values[mask]


def choose(a: ArrayLike, choices: Any) -> Any:
    places = np.asarray(a)
    return np.select([places == k for k in range(len(choices))], list(choices))


def broadcast_arrays(*args: ArrayLike) -> Any:
    shape = np.shape(sum([a * 0 for a in args]))
    return [np.broadcast_to(a, shape) for a in args]


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


# ------------------------------------------------------------------- polynomials
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Any:
    n = len(x) if N is None else N
    powers = np.arange(n)
    return x[:, None] ** (powers if increasing else n - 1 - powers)


def polyder(p: ArrayLike, m: int = 1) -> Any:
    for _ in range(m):
        n = len(p)
        p = p[:-1] * np.arange(n - 1, 0, -1)
    return p


def polyint(p: ArrayLike) -> Any:
    return np.concatenate([p / np.arange(len(p), 0, -1), np.zeros(1)])


def polyfit(x: ArrayLike, y: ArrayLike, deg: int) -> Any:
    return np.linalg.pinv(np.vander(x, deg + 1)) @ y


def polymul(a1: ArrayLike, a2: ArrayLike) -> Any:
    return np.convolve(a1, a2)


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Any:
    n = max(a1.shape[0], a2.shape[0])
    return np.pad(a1, (n - a1.shape[0], 0)) + np.pad(a2, (n - a2.shape[0], 0))


def polysub(a1: ArrayLike, a2: ArrayLike) -> Any:
    return polyadd(a1, -a2)


def polynomial_value(x: Any, c: ArrayLike) -> Any:
    return np.polyval(c[::-1], x)


# ---------------------------------------------------------------- linear algebra
def lstsq(a: ArrayLike, b: ArrayLike, rcond: Any = None) -> Any:
    """The shortest solution; its derivative by the matrix is the one at constant rank."""
    x = np.linalg.pinv(a) @ b
    rest = np.sum((b - a @ x) ** 2, axis=0)
    sizes = np.linalg.svd(a, compute_uv=False)
    least = 2.0**-52 * max(a.shape) if rcond is None else rcond
    return x, rest, np.sum(np.where(sizes > least * sizes[0], 1, 0)), sizes


def svdvals(x: ArrayLike) -> Any:
    return np.linalg.svd(x, compute_uv=False)


def cond(x: ArrayLike, p: Any = None) -> Any:
    if p is None:
        sizes = np.linalg.svd(x, compute_uv=False)
        return sizes[0] / sizes[-1]
    return np.linalg.norm(x, p) * np.linalg.norm(np.linalg.inv(x), p)


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
    """Of the triangle that is named."""
    return np.linalg.cholesky(a) if lower else np.linalg.cholesky(a.T).T


def vecdot(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Any:
    return np.sum(x1 * x2, axis=axis)


def matvec(x1: ArrayLike, x2: ArrayLike) -> Any:
    return np.sum(x1 * x2[..., None, :], axis=-1)


def vecmat(x1: ArrayLike, x2: ArrayLike) -> Any:
    return np.sum(x1[..., :, None] * x2, axis=-2)


def matrix_norm(x: ArrayLike, keepdims: bool = False, ord: Any = "fro") -> Any:
    return np.linalg.norm(x, ord, axis=(-2, -1), keepdims=keepdims)


def matrix_transpose(x: ArrayLike) -> Any:
    return np.swapaxes(x, -1, -2)


def matrix_trace(x: ArrayLike, offset: int = 0) -> Any:
    return np.trace(x, offset, -2, -1)


def scipy_solve(a: ArrayLike, b: ArrayLike, assume_a: str = "gen") -> Any:
    return np.linalg.solve(a, b)


TABLE: dict[str, tuple[Any, ...]] = {
    "numpy.quantile": (quantile, 1), "numpy.percentile": (percentile, 1),
    "numpy.histogram": (histogram, 1), "numpy.unique": (unique, 1),
    "numpy.partition": (partition, 1), "numpy.argpartition": (argpartition, 1),
    "numpy.median": (median, 1), "numpy.cov": (cov, 2), "numpy.corrcoef": (corrcoef, 2),
    "numpy.bincount": (bincount, 2, 0), "numpy.correlate": (correlate, 2),
    "numpy.gradient": (gradient, 1), "numpy.rot90": (rot90, 1), "numpy.dstack": (dstack, 1),
    "numpy.tri": (tri, 0), "numpy.tril_indices": (tril_indices, 0),
    "numpy.triu_indices": (triu_indices, 0), "numpy.tril_indices_from": (tril_indices_from, 1),
    "numpy.triu_indices_from": (triu_indices_from, 1),
    "numpy.lib.stride_tricks.sliding_window_view": (sliding_window_view, 1),
    "numpy.delete": (delete, 1), "numpy.insert": (insert, 1), "numpy.vander": (vander, 1),
    "numpy.polyder": (polyder, 1), "numpy.polyint": (polyint, 1), "numpy.polyfit": (polyfit, 2),
    "numpy.polynomial.polynomial.polyval": (polynomial_value, 0),
    "numpy.linalg.lstsq": (lstsq, 2), "numpy.linalg.svdvals": (svdvals, 1),
    "numpy.linalg.cond": (cond, 1), "scipy.linalg.solve_triangular": (solve_triangular, 2),
    "scipy.linalg.cho_factor": (cho_factor, 1), "scipy.linalg.cho_solve": (cho_solve, 2),
    "scipy.linalg.cholesky": (scipy_cholesky, 1), "scipy.linalg.solve": (scipy_solve, 2),
    "scipy.linalg.svdvals": (svdvals, 1), "numpy.ix_": (ix_, 9), "numpy.block": (block, 1),
    "numpy.array_split": (array_split, 1), "numpy.hsplit": (hsplit, 1),
    "numpy.vsplit": (vsplit, 1), "numpy.atleast_3d": (atleast_3d, 1),
    "numpy.ediff1d": (ediff1d, 1), "numpy.diagflat": (diagflat, 1),
    "numpy.diag_indices": (diag_indices, 0), "numpy.diag_indices_from": (diag_indices_from, 1),
    "numpy.rollaxis": (rollaxis, 1), "numpy.logspace": (logspace, 0),
    "numpy.geomspace": (geomspace, 0), "numpy.compress": (compress, 2), "numpy.put": (put, 2, 1),
    "numpy.putmask": (putmask, 2), "numpy.choose": (choose, 2),
    "numpy.broadcast_arrays": (broadcast_arrays, 9), "numpy.polymul": (polymul, 2),
    "numpy.polyadd": (polyadd, 2), "numpy.polysub": (polysub, 2), "numpy.vecdot": (vecdot, 2),
    "numpy.linalg.vecdot": (vecdot, 2), "numpy.matvec": (matvec, 2), "numpy.vecmat": (vecmat, 2),
    "numpy.linalg.matrix_norm": (matrix_norm, 1),
    "numpy.linalg.matrix_transpose": (matrix_transpose, 1),
    "numpy.linalg.trace": (matrix_trace, 1), "scipy.linalg.block_diag": (block_diag, 9),
    "scipy.linalg.toeplitz": (toeplitz, 2),
}  # fmt: skip
"""By the dotted name of what is implemented: the function, how many of its first arguments are
arrays, and the number of one that is an array of integers."""

EXTENDED: dict[str, tuple[Any, ...]] = {
    "numpy.interp": (interp, lambda *args, **more: len(args) > 3 or bool(more)),
    "numpy.diff": (diff, lambda *args, **more: "prepend" in more or "append" in more),
    "numpy.repeat": (repeat, lambda *args, **more: not is_whole((*args[1:2], *more.values())[0]), 1),
}  # fmt: skip
"""Calls of functions that are known otherwise, and what makes them calls of these; and likewise
which argument is an array of integers."""
