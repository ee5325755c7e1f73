"""NumPy's functions that rearrange arrays, in terms of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library import rare_arguments
from symdiff.frontend.library.primitives import Row, rows

ArrayLike = Any


def correlate(a: ArrayLike, v: ArrayLike, mode: Any = "valid") -> Any:
    return np.convolve(a, v[::-1], mode)


def interp(
    x: Any, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    if period is not None:
        return rare_arguments.periodic_interp(x, xp, fp, left, right, period)
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


_SLOPES = type(np.gradient(np.zeros((2, 2))))
"""The container of several arrays from `np.gradient`: a tuple, before NumPy 2 a list."""


def gradient(f: ArrayLike, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Second-order differences inside, those of the given order at the ends."""
    axes = range(np.ndim(f)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or (1,) * len(axes)
    found = [_slopes(f, h, k, edge_order) for h, k in zip(steps, axes, strict=True)]
    return found[0] if len(found) == 1 else _SLOPES(found)


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


def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Any:
    edges = np.asarray(bins)
    side: Any = "left" if right else "right"
    if edges.shape[0] > 1 and edges[0] > edges[-1]:
        return edges.shape[0] - np.searchsorted(edges[::-1], x, side=side)
    return np.searchsorted(edges, x, side=side)


def bisect_left(a: ArrayLike, x: Any) -> Any:
    if np.isnan(x):
        return 0
    return np.searchsorted(a, x if np.ndim(x) == 0 else x.item())


def bisect_right(a: ArrayLike, x: Any) -> Any:
    if np.isnan(x):
        return len(a)
    return np.searchsorted(a, x if np.ndim(x) == 0 else x.item(), side="right")


def repeat(a: ArrayLike, repeats: Any, axis: int | None = None) -> Any:
    if np.ndim(repeats) == 0:
        return np.repeat(a, repeats, axis)
    ends = np.cumsum(repeats)
    which = np.searchsorted(ends, np.arange(np.sum(repeats)), side="right")
    return np.take(np.ravel(a) if axis is None else a, which, axis=0 if axis is None else axis)


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


def sliding_window_view(x: ArrayLike, window_shape: Any, axis: Any = None) -> Any:
    sizes = window_shape if isinstance(window_shape, (tuple, list)) else (window_shape,)
    rank = np.ndim(x)
    axes = range(rank) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(sizes) != len(axes):
        raise ValueError("window_shape and axis have different lengths")
    found = x
    for i in range(len(sizes)):
        k = axes[i] % rank
        a = np.moveaxis(found, k, -1)
        places = np.arange(a.shape[-1] - sizes[i] + 1)[:, None] + np.arange(sizes[i])
        found = np.moveaxis(a[..., places], -2, k)
    return found


def delete(arr: ArrayLike, obj: int, axis: int | None = None) -> Any:
    a = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    n = a.shape[0]
    at = np.arange(n - 1)
    kept = np.where(at < np.arange(n)[obj], at, at + 1)
    return a[kept] if axis is None else np.moveaxis(a[kept], 0, axis)


def insert(arr: ArrayLike, obj: int, values: Any) -> Any:
    value = np.asarray(values if np.ndim(values) else np.full(1, values)).astype(arr.dtype)
    n = arr.shape[0]
    at = np.arange(n + 1)[obj if obj >= 0 else obj + n]
    return np.concatenate([arr[:at], value, arr[at:]])


def at(function: Any, a: ArrayLike, indices: Any, *values: Any) -> None:
    """`np.ufunc.at`: one index after the other."""
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


def added_in_parts(a: ArrayLike, indices: Any) -> Any:
    """`np.add.reduceat` along the first axis."""
    starts = np.asarray(indices)
    found = []
    for k in range(len(starts)):
        i = starts[k]
        j = starts[k + 1] if k + 1 < len(starts) else a.shape[0]
        found.append(np.sum(a[i:j], axis=0) if j > i else a[i])
    return np.array(found)


def extreme_or(f: Any) -> Any:
    """`np.max` or `np.min` with an initial element, of what a condition selects."""

    def found(
        a: ArrayLike, axis: int | None = None, *, initial: Any, keepdims: bool = False,
        where: Any = True,
    ) -> Any:  # fmt: skip
        return f(_beside(a, axis, initial, where), axis, keepdims=keepdims)

    return found


def _beside(a: ArrayLike, axis: int | None, initial: Any, where: Any) -> Any:
    """An array with one more element along an axis, in case there is none."""
    if np.ndim(initial) or isinstance(axis, tuple) or np.ndim(a) == 0:
        raise ValueError("initial= of an extreme of arrays along one axis, or all, is a number")
    a = np.asarray(a)
    kept = a if where is None else np.where(where, a, initial)
    if np.ndim(kept) != np.ndim(a):
        raise ValueError("where has more axes than the array")
    along = 0 if axis is None else axis
    sizes = [1 if k == along % np.ndim(a) else n for k, n in enumerate(np.shape(kept))]
    return np.concatenate([kept, np.full(sizes, initial)], along)


def vectorized(pyfunc: Any, *args: ArrayLike) -> Any:
    """`np.vectorize(pyfunc)`."""
    if max([np.ndim(a) for a in args]) == 0:
        return pyfunc(*args)
    shape = np.shape(sum([np.asarray(a) * 0 for a in args]))
    columns = [np.ravel(np.broadcast_to(a, shape)) for a in args]
    return np.reshape(np.array([pyfunc(*row) for row in zip(*columns, strict=True)]), shape)


def apply_along_axis(func1d: Any, axis: int, arr: ArrayLike, *args: Any) -> Any:
    a = np.moveaxis(arr, axis, -1)
    found = np.array([func1d(row, *args) for row in a.reshape((-1, a.shape[-1]))])
    if np.ndim(found) == 1:
        return found.reshape(a.shape[:-1])
    return np.moveaxis(found.reshape(a.shape[:-1] + found.shape[1:]), -1, axis)


def isin(element: ArrayLike, test_elements: ArrayLike) -> Any:
    values = np.ravel(np.asarray(test_elements))
    return np.any(np.asarray(element)[..., None] == values, axis=-1)


def argwhere(a: ArrayLike) -> Any:
    return np.stack(np.nonzero(a), axis=-1)


def indices(dimensions: tuple[int, ...]) -> Any:
    return np.stack(np.meshgrid(*[np.arange(n) for n in dimensions], indexing="ij"))


def unravel_index(indices: Any, shape: tuple[int, ...]) -> Any:
    found = []
    for n in reversed(shape):
        found.append(indices % n)
        indices = indices // n
    return tuple(found[::-1])


def ravel_multi_index(multi_index: Any, dims: tuple[int, ...]) -> Any:
    found = 0
    for k, n in zip(multi_index, dims, strict=True):
        found = found * n + k
    return found


def ix_(*args: ArrayLike) -> Any:
    n = len(args)
    return tuple(
        [np.asarray(a).reshape((1,) * k + (-1,) + (1,) * (n - 1 - k)) for k, a in enumerate(args)]
    )


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


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> Any:
    return np.split(ary, indices_or_sections, 2)


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
    places, values = np.ravel(ind), np.ravel(v)
    for k in range(len(places)):
        a.flat[places[k]] = values[k % len(values)]


def putmask(a: ArrayLike, mask: ArrayLike, values: Any) -> None:
    a[mask] = values if np.ndim(values) == 0 else values[mask]


def choose(a: ArrayLike, choices: Any) -> Any:
    places = np.asarray(a)
    return np.select([places == k for k in range(len(choices))], list(choices))


def broadcast_arrays(*args: ArrayLike) -> Any:
    shape = np.shape(sum([np.asarray(a) * 0 for a in args]))
    return [np.broadcast_to(a, shape) for a in args]


def unwrap(p: ArrayLike, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    a = np.moveaxis(np.asarray(p), axis, -1)
    steps, half = a[..., 1:] - a[..., :-1], period / 2
    least = half if discont is None else max(discont, half)
    small = np.mod(steps + half, period) - half
    small = np.where((small == -half) & (steps > 0), half, small)
    turns = np.cumsum(np.where(np.abs(steps) < least, 0.0, small - steps), axis=-1)
    found = np.concatenate([a[..., :1], a[..., 1:] + turns], axis=-1)
    return np.moveaxis(found, -1, axis)


def modf(x: ArrayLike) -> Any:
    whole = np.trunc(x) * 1.0
    return np.where(np.isinf(x), 0.0, x - whole), whole


def ldexp(x1: ArrayLike, x2: Any) -> Any:
    return x1 * 2.0**x2


def isneginf(x: ArrayLike) -> Any:
    return np.isinf(x) & (np.asarray(x) < 0)


def isposinf(x: ArrayLike) -> Any:
    return np.isinf(x) & (np.asarray(x) > 0)


def cumulative(f: Any, first: Any) -> Any:
    """`np.cumulative_sum` by `np.cumsum`, or that of products; `first` is the value before all
    elements."""

    def found(x: ArrayLike, *, axis: int | None = None, include_initial: bool = False) -> Any:
        values = f(x, axis=axis)
        if include_initial:
            k = 0 if axis is None else axis
            values = np.concatenate([np.full(_thin(values.shape, k), first), values], axis=k)
        return values

    return found


def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    return np.array(list(iter), dtype=dtype)


def taken(a: ArrayLike, indices: Any, axis: int | None = None, *, mode: Any = "raise") -> Any:
    """`np.take` with places beyond the ends."""
    n = np.size(a) if axis is None else np.shape(a)[axis]
    places = np.asarray(indices)
    if mode == "raise":
        return np.take(a, places, axis)
    return np.take(a, places % n if mode == "wrap" else np.clip(places, 0, n - 1), axis)


def deleted(arr: ArrayLike, obj: Any, axis: int | None = None) -> Any:
    """`np.delete` of several places."""
    a = np.ravel(arr) if axis is None else np.moveaxis(arr, axis, 0)
    places = np.arange(a.shape[0])
    left = places
    for k in obj:
        left = left[left != places[k]]
    return a[left] if axis is None else np.moveaxis(a[left], 0, axis)


def inserted(arr: ArrayLike, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert` at several places, in their order; several values at one place."""
    if axis is not None:
        return rare_arguments.inserted_along(arr, obj, values, axis)
    values = np.asarray(values).astype(arr.dtype)
    places = np.arange(arr.shape[0] + 1)
    ends = [places[k] for k in obj]
    if len(ends) == 1 and np.ndim(values) > 0:
        return np.concatenate([arr[: ends[0]], values, arr[ends[0] :]])
    parts, before = [], 0
    for end, k in sorted(zip(ends, range(len(ends)), strict=True)):
        parts.append(arr[before:end])
        parts.append(np.full(1, values if np.ndim(values) == 0 else values[k]))
        before = end
    return np.concatenate([*parts, arr[before:]])


def unique(
    ar: ArrayLike, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:  # fmt: skip
    """The sorted values, each once; the gradient of equal ones goes to the first of them."""
    if return_index or return_inverse or return_counts:
        return _unique_with(np.asarray(ar), return_index, return_inverse, return_counts)
    x = np.sort(np.ravel(ar))
    places = np.arange(x.shape[0])
    return x[(x != x[np.maximum(places - 1, 0)]) | (places == 0)]


def _unique_with(ar: ArrayLike, index: bool, inverse: bool, counts: bool) -> Any:
    """The same with the first index of each value, the value of each element, and the counts."""
    x = np.sort(np.ravel(ar))
    n = x.shape[0]
    places = np.arange(n)
    before = x[np.maximum(places - 1, 0)]
    lost = np.isnan(x * 1.0) & np.isnan(before * 1.0)  # all nan count as one value
    first = ((x != before) & ~lost) | (places == 0)
    starts = places[first]
    found = [x[first]]
    order = np.argsort(np.ravel(ar), kind="stable") if index or inverse else places
    if index:
        found.append(order[first])
    if inverse:
        which = np.searchsorted(starts, np.argsort(order), side="right") - 1
        found.append(np.reshape(which, ar.shape))
    if counts:
        found.append(np.diff(np.concatenate([starts, np.full(1, n)])))
    return tuple(found)


def fftshift(x: ArrayLike, axes: Any = None) -> Any:
    for k in _axes(x, axes):
        x = np.roll(x, np.shape(x)[k] // 2, axis=k)
    return x


def ifftshift(x: ArrayLike, axes: Any = None) -> Any:
    for k in _axes(x, axes):
        x = np.roll(x, -(np.shape(x)[k] // 2), axis=k)
    return x


def _axes(x: ArrayLike, axes: Any) -> Any:
    if axes is None:
        return range(np.ndim(x))
    return (axes,) if isinstance(axes, int) else axes


TABLE: dict[str, Row] = {
    **rows(
        "numpy", 0, modf, ldexp, isneginf, isposinf, fromiter, tri, tril_indices, triu_indices, indices,
        unravel_index, ravel_multi_index, diag_indices, logspace, geomspace,
    ),
    **rows(
        "numpy", 1, unwrap, unique, gradient, dstack, tril_indices_from, triu_indices_from, delete,
        insert, argwhere, block, array_split, hsplit, vsplit, dsplit, ediff1d, diagflat,
        diag_indices_from, cumulative_sum=cumulative(np.cumsum, 0.0),
        cumulative_prod=cumulative(np.cumprod, 1.0),
    ),
    **rows("numpy", 2, correlate, digitize, isin, compress, putmask, choose),
    **rows("numpy", 3, apply_along_axis),
    **rows("numpy", 9, ix_, broadcast_arrays),
    "numpy.put": (put, 2, 1),
    **rows("numpy.lib.stride_tricks", 1, sliding_window_view),
    **rows("numpy.fft", 1, fftshift, ifftshift),
    **rows("bisect", 1, bisect_left, bisect_right),
}  # fmt: skip
"""Like `composed.TABLE`."""
