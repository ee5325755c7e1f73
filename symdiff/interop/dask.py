"""Dask: sums over the blocks of arrays, and their gradients, summed by a tree.

Elementwise functions of lazy arrays need nothing of this: they stay lazy when called. A function that
returns one number is applied to each block here, and the numbers, and the gradients by arguments that all
blocks share, are added by a tree; gradients by arrays in blocks are arrays in the same blocks.
"""

from __future__ import annotations

import functools
import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.errors import MissingExtraError, SymdiffError
from symdiff.frontend import pytrees

try:
    import dask
    import dask.array as da
except ImportError:
    raise MissingExtraError.of("symdiff.interop.dask needs Dask", "dask") from None

Index = tuple[int, ...]
"""What the axes of an array are called; axes of one name are cut alike."""


def summed(fun: Callable[..., Any], *, split_every: int | None = None) -> Summed:
    """The sum of a function over the blocks of its arguments, which need not fit in memory.

    Parameters
    ----------
    fun : a `SymbolicFunction`, or a function that `symgrad` takes, that returns one number. With `wrt=`
        gradients are by those arguments only.
    split_every : how many blocks are added at a time, as for `dask.array.reduction`.

    Returns
    -------
    Summed
        `summed(f)(*args)` is the sum of `f` over the blocks of the arguments that are Dask's arrays in
        several blocks, each with all of the others; so it is `f(*args)` where f is a sum of terms over the
        axes that are cut.

    Examples
    --------
    >>> import numpy as np
    >>> import dask.array as da  # doctest: +SKIP
    >>> from symdiff import symgrad
    >>> from symdiff.interop.dask import summed  # doctest: +SKIP
    >>> misfit = summed(symgrad(lambda x, a: np.sum((x - a)**2), wrt="a"))  # doctest: +SKIP
    >>> misfit.grad(da.arange(4.0, chunks=2), 1.0).compute()  # doctest: +SKIP
    -4.0
    """
    return Summed(symgrad(fun), split_every)


class Summed:
    """The sum of a function over blocks: see `summed`. Results are lazy arrays of Dask's."""

    def __init__(self, f: SymbolicFunction, split_every: int | None) -> None:
        self.function, self.split_every = f, split_every
        # blocks are computed side by side already
        self._f = symgrad(f, parallel=False) if f._options.parallel == "auto" else f

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The sum, an array of Dask's without axes."""
        return self._computed(args, kwargs, False)[0]

    def grad(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient by each argument in `wrt`, nested as the argument is.

        Gradients by arrays in several blocks are arrays in the same blocks; others are sums over all
        blocks, and their rounding errors separately. With one argument in `wrt` it is that gradient, else a tuple.
        """
        return self._computed(args, kwargs, True)[1]

    def value_and_grad(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The sum and the gradient; each block is computed once."""
        return self._computed(args, kwargs, True)

    def _computed(self, args: Any, kwargs: Any, derived: bool) -> tuple[Any, Any]:
        f = self._f
        real, static = f._source.parameters.bind(args, kwargs)
        names: list[str] = []
        leaves: list[Any] = []
        nodes = tuple(
            pytrees.flatten(v, n, names, leaves)
            for n, v in zip(f._source.parameters.real, real, strict=True)
        )
        indices, axes = _indices(f, names, leaves)
        by = tuple(map(f._source.parameters.real.index, f._wrt())) if derived else ()
        lazy = tuple(k for k, v in enumerate(leaves) if isinstance(v, da.Array))
        shared = [None if k in lazy else v for k, v in enumerate(leaves)]
        firsts = np.cumsum([0, *map(pytrees.count, nodes)])
        wanted = [k for p in by for k in range(firsts[p], firsts[p + 1])]
        of_blocks = [k for k in wanted if set(indices.get(k, ())) & set(axes)]
        added = [k for k in wanted if k not in of_blocks]
        order = tuple(map(wanted.index, (*added, *of_blocks)))
        block = _Block(f, nodes, by, static, lazy, order, len(added), max(1, len(axes)))
        parts = _parts(block, shared, leaves, indices, axes)
        total = da.reduction(
            parts, _first, functools.partial(_sum, last=True), combine=_sum, concatenate=False,
            dtype=object, split_every=self.split_every, meta=np.empty((), object),
        )  # fmt: skip
        dtype = _dtype(leaves)
        value, *sums = (
            _taken(total, (), k, np.shape(v), dtype)
            for k, v in enumerate([0.0, *(leaves[k] for k in added)])
        )
        found = dict(zip(added, sums, strict=True))
        for position, k in enumerate(of_blocks):
            found[k] = _cut(parts, leaves[k], indices[k], axes, position, dtype)
        slopes = iter([found[k] for k in wanted])
        gradients = tuple(pytrees.unflatten(nodes[p], slopes) for p in by)
        return value, gradients[0] if len(gradients) == 1 else gradients

    def __repr__(self) -> str:
        return f"<the sum of {self.function.__name__} over blocks>"


@dataclass(frozen=True)
class _Block:
    """What is computed of one block of each argument.

    Attributes
    ----------
    nodes : how the arguments nest.
    by : the positions of the arguments that the gradient is by; none, and there is none.
    lazy : which leaves of the arguments are in blocks.
    order : the leaves of the gradient: first those that are added, `added` of them, then the others.
    axes : of the array of such results.
    """

    f: SymbolicFunction
    nodes: tuple[pytrees.Node, ...]
    by: tuple[int, ...]
    static: dict[str, Any]
    lazy: tuple[int, ...]
    order: tuple[int, ...]
    added: int
    axes: int

    def __call__(self, shared: Sequence[Any], *blocks: Any) -> Any:
        leaves = list(shared)
        for k, block in zip(self.lazy, blocks, strict=True):
            while isinstance(block, list):  # axes that are in one piece
                (block,) = block
            leaves[k] = block if block.ndim else block[()]
        each = iter(leaves)
        args = [pytrees.unflatten(node, each) for node in self.nodes]
        kept: tuple[list[Any], list[Any]] = [], []
        if self.by:
            value, slopes = self.f.value_and_grad(*args, **self.static)
            flat = self._flat(slopes)
            ordered = [flat[k] for k in self.order]
            kept = ordered[: self.added], ordered[self.added :]
        else:
            value = self.f(*args, **self.static)
        if np.ndim(value):
            raise SymdiffError(
                f"{self.f.__name__} returns an array for a block, not a number",
                hint="return a sum; elementwise functions are called with lazy arrays themselves",
            )
        return _one((value, *kept), self.axes)

    def _flat(self, slopes: Any) -> list[Any]:
        if len(self.by) == 1:
            slopes = (slopes,)
        if not isinstance(slopes, tuple) or len(slopes) != len(self.by):
            raise SymdiffError(
                f"{self.f.__name__} uses one of its arguments as integers, by which there is no gradient",
                hint='say which are meant: summed(symgrad(f, wrt="a"))',
            )
        found: list[Any] = []
        for p, slope in zip(self.by, slopes, strict=True):
            found += pytrees.leaves_of(self.nodes[p], slope, "the gradient")
        return found


# ------------------------------------------------------------------------- graphs
def _indices(
    f: SymbolicFunction, names: Sequence[str], leaves: Sequence[Any]
) -> tuple[dict[int, Index], Index]:
    """What the axes of each lazy leaf are called, and which of those are cut."""
    lazy = {k: v for k, v in enumerate(leaves) if isinstance(v, da.Array)}
    if not lazy:
        raise SymdiffError(
            f"no argument of {f.__name__} is in blocks", hint="pass an array of Dask's, or call it itself"
        )  # fmt: skip
    many = {k: v for k, v in lazy.items() if v.npartitions > 1}
    first = next(iter(many.values()), None)
    axes: Index = ()
    if first is not None and all(_alike(v.chunks, first.chunks) for v in many.values()):
        axes = tuple(range(first.ndim))
    elif first is not None:
        axes = (0,)
        for k, v in many.items():
            if not _alike(v.chunks[:1], first.chunks[:1]) or max(v.numblocks[1:], default=1) > 1:
                raise SymdiffError(
                    f"argument {names[k]} is cut otherwise than {names[next(iter(many))]}",
                    hint="rechunk: arrays are cut all alike, or into the same rows",
                )
    others = iter(range(len(axes), 10**6))
    return {
        k: tuple(
            axes[j] if k in many and j < len(axes) else next(others) for j in range(v.ndim)
        )
        for k, v in lazy.items()
    }, axes  # fmt: skip


def _alike(chunks: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> bool:
    """Whether arrays are cut alike, as far as it is known."""
    return list(map(len, chunks)) == list(map(len, others)) and all(
        n == m or math.isnan(n) or math.isnan(m)
        for own, other in zip(chunks, others, strict=True)
        for n, m in zip(own, other, strict=True)
    )


def _parts(
    block: _Block, shared: Sequence[Any], leaves: Sequence[Any], indices: dict[int, Index], axes: Index
) -> Any:  # fmt: skip
    """An array of objects with a result for each block."""
    given = [x for k in block.lazy for x in (leaves[k], indices[k])]
    cut = next((leaves[k] for k, index in indices.items() if set(axes) & set(index)), None)
    name = f"{block.f.__name__.strip('<>')}-{uuid.uuid4().hex}"
    return da.blockwise(
        block, axes or (0,), dask.delayed(list(shared), traverse=False), None, *given,
        name=name, dtype=object, meta=np.empty((0,) * max(1, len(axes)), object), align_arrays=False,
        adjust_chunks={a: (1,) * cut.numblocks[j] for j, a in enumerate(axes)} if cut is not None else None,
        new_axes=None if axes else {0: 1},
    )  # fmt: skip


def _taken(total: Any, index: Index, k: int, shape: Sequence[int], dtype: Any) -> Any:
    """Entry k of the only block of an array of objects, an array of this shape."""
    new = {len(index) + j: n for j, n in enumerate(shape)}
    get = functools.partial(_entry, k=k, dtype=dtype)
    return da.blockwise(get, tuple(new), total, index, new_axes=new, dtype=dtype)


def _cut(parts: Any, like: Any, index: Index, axes: Index, position: int, dtype: Any) -> Any:
    """The gradient by an array in blocks, in the same blocks."""
    new = {a: like.shape[j] for j, a in enumerate(index) if a not in axes}
    get = functools.partial(_entry, k=position, dtype=dtype, cut=True)
    return da.blockwise(
        get, index, parts, axes, new_axes=new, dtype=dtype, align_arrays=False,
        adjust_chunks={a: like.chunks[j] for j, a in enumerate(index) if a in axes},
        meta=np.empty((0,) * len(index), dtype),
    )  # fmt: skip


# ------------------------------------------------------------- what is done in a task
def _one(value: Any, axes: int) -> Any:
    """An array of one object."""
    array = np.empty((1,) * axes, object)
    array[(0,) * axes] = value
    return array


def _entry(part: Any, k: int, dtype: Any, cut: bool = False) -> Any:
    found = part.item()
    return np.asarray(found[2][k] if cut else found[k], dtype)


def _first(part: Any, axis: Any, keepdims: bool) -> Any:
    """What is added of a block: the value and gradients, each with the rounding error of its sum."""
    value, added, _ = part.item()
    return _one([(v, 0.0) for v in (value, *added)], part.ndim)


def _sum(parts: Any, axis: Any, keepdims: bool, last: bool = False) -> Any:
    """The sums of several blocks, with the sums of their rounding errors."""
    blocks = list(_flattened(parts))
    sums = blocks[0].item()
    for block in blocks[1:]:
        sums = [_plus(a, b) for a, b in zip(sums, block.item(), strict=True)]
    result: Any = [np.add(s, np.where(np.isfinite(s), e, 0.0)) for s, e in sums] if last else sums
    return _one(result, blocks[0].ndim if keepdims else 0)


def _flattened(parts: Any) -> Iterator[Any]:
    if isinstance(parts, Iterable) and not isinstance(parts, np.ndarray):
        for part in parts:
            yield from _flattened(part)
    else:
        yield parts


def _plus(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """The sum of two numbers, or arrays, with errors."""
    with np.errstate(invalid="ignore", over="ignore"):
        s = np.add(a[0], b[0])
        z = np.subtract(s, a[0])
        lost = np.add(np.subtract(a[0], np.subtract(s, z)), np.subtract(b[0], z))
        return s, a[1] + b[1] + lost


def _dtype(leaves: Sequence[Any]) -> Any:
    """The dtype of results: that of the real arguments together."""
    kinds = [
        v if isinstance(v, (int, float)) else np.dtype(getattr(v, "dtype", float)) for v in leaves
    ]
    found = np.result_type(*kinds)
    return found if found.kind == "f" else np.dtype(float)
