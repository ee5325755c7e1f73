"""NumPy's functions that join, split and pad arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.symbolic import SLOTS, lazy, needs, placed
from symdiff.frontend.library.numpy.either import joined as together
from symdiff.frontend.library.numpy.either import parted, sliced
from symdiff.frontend.library.numpy.shapes import (
    at_least_1d,
    at_least_2d,
    axis_of,
    divided,
    expanded,
    moved,
    ravel,
    reshaped,
)
from symdiff.frontend.syntax.containers import elements
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.domains import by_side
from symdiff.frontend.trace.extents import extent, same_size, shape_of
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Listed, Refused, Scalar, SymArray, as_real
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.integers import linear, shortest

Function = Callable[..., Any]


def parts_of(t: Tracer, values: Any) -> list[SymArray]:
    """The arrays to be joined."""
    if isinstance(values, (SymArray, Listed)):
        a = symbolic.symbolic(t, values)
        if ir.integer(a.shape[0]) is None:
            raise Refused("the rows of an array whose size is not known when traced are joined")
        return [symbolic.symbolic(t, v) for v in elements(t, a)]
    found = [symbolic.symbolic(t, v) for v in elements(t, values)]
    if not found:
        raise Refused("no arrays are joined")
    return found


def joined(t: Tracer, parts: Sequence[SymArray], axis: int) -> SymArray:
    """The concatenation of arrays along an axis."""
    rank = len(parts[0].shape)
    if any(len(p.shape) != rank for p in parts) or not rank:
        raise Refused("arrays of different dimensions are joined")
    k = axis_of(rank, axis)
    kind = symbolic.common_kind(parts)
    shape = list(parts[0].shape)
    for p in parts[1:]:
        for i in range(rank):
            if i != k:
                same_size(t, shape[i], p.shape[i])
    ends = [ZERO]
    for p in parts:
        symbolic.reused(t, p)
        ends.append(ir.add(ends[-1], extent(t, p.shape[k])))
    shape[k] = shortest(linear(ends[-1]))
    value, defined = None, ir.TRUE
    for p, start, end in reversed(list(zip(parts, ends, ends[1:], strict=False))):
        at = list(SLOTS[:rank])
        at[k] = ir.sub(SLOTS[k], linear(start))
        e, d = placed(symbolic.as_kind(p, kind), at), placed(needs(p), at)
        here = ir.lt(SLOTS[k], linear(end))
        defined = d if value is None else by_side(here, d, defined)
        value = e if value is None else ir.where(here, e, value)
    assert value is not None
    return lazy(shape, kind, value, defined)


def _rows(t: Tracer, values: Any) -> SymArray | None:
    """The argument of a join, if it is one array, or a list of unknown length."""
    if not isinstance(values, (SymArray, Listed)):
        return None
    a = symbolic.symbolic(t, values)
    if not a.shape or ir.integer(a.shape[0]) is not None:
        return None
    t.require(ir.ne(a.shape[0], ZERO), "value", "no arrays are joined")
    return symbolic.snapshot(a)


def _merged(t: Tracer, rows: SymArray, axis: int) -> SymArray:
    """The rows of an array concatenated along one of their axes."""
    k = axis_of(len(rows.shape) - 1, axis)
    a = moved(t, rows, 0, k)
    shape = (*a.shape[:k], ir.mul(a.shape[k], a.shape[k + 1]), *a.shape[k + 2 :])
    return reshaped(t, a, tuple(map(scalars.whole, shape)))


def _concatenate(t: Tracer, values: Any, axis: Any = 0) -> Any:
    if (rows := _rows(t, values)) is not None and len(rows.shape) > 1:
        return ravel(t, rows) if axis is None else _merged(t, rows, axis)
    parts = parts_of(t, values)
    if axis is None:
        return joined(t, [ravel(t, p) for p in parts], 0)
    return joined(t, parts, axis)


def _stack(t: Tracer, values: Any, axis: Any = 0) -> Any:
    found = _rows(t, values)
    if found is None:
        found = symbolic.stacked(t, parts_of(t, values))
    return moved(t, found, 0, axis)


def _hstack(t: Tracer, values: Any) -> Any:
    if (rows := _rows(t, values)) is not None:
        rank = len(rows.shape)
        return rows if rank == 1 else _merged(t, rows, 0 if rank == 2 else 1)
    parts = [at_least_1d(t, p) for p in parts_of(t, values)]
    return joined(t, parts, 0 if len(parts[0].shape) == 1 else 1)


def _vstack(t: Tracer, values: Any) -> Any:
    if (rows := _rows(t, values)) is not None:
        rank = len(rows.shape)
        return expanded(t, rows, 1) if rank == 1 else rows if rank == 2 else _merged(t, rows, 0)
    return joined(t, [at_least_2d(t, p) for p in parts_of(t, values)], 0)


def _column_stack(t: Tracer, values: Any) -> Any:
    if (rows := _rows(t, values)) is not None:
        rank = len(rows.shape)
        if rank > 2:
            return _merged(t, rows, 1)
        return expanded(t, rows, 0) if rank == 1 else moved(t, rows, 0, 1)
    parts = [at_least_1d(t, p) for p in parts_of(t, values)]
    return joined(t, [expanded(t, p, 1) if len(p.shape) == 1 else p for p in parts], 1)


def _append(t: Tracer, value: Any, more: Any, axis: Any = None) -> Any:
    return _concatenate(t, [value, at_least_1d(t, symbolic.symbolic(t, more))], axis)


def _split(t: Tracer, value: Any, sections: Any, axis: Any = 0) -> Any:
    a = symbolic.symbolic(t, value)
    k = axis_of(len(a.shape), axis)
    n = a.shape[k]
    if isinstance(sections, int):
        size = divided(n, ir.const(sections))
        even = ir.eq(ir.mul(size, ir.const(sections)), n)
        t.require(even, "value", "an array is split into parts of different sizes")
        ends = [scalars.whole(ir.mul(size, ir.const(i))) for i in range(1, sections)]
    else:
        ends = elements(t, sections)
    edges = [0, *ends, None]
    return t.own([sliced(t, a, k, i, j) for i, j in itertools.pairwise(edges)])


_PADDING: dict[str, Callable[[Expr, Expr], Expr]] = {
    "edge": lambda i, n: ir.where(
        ir.lt(i, ZERO), ZERO, ir.where(ir.lt(i, n), i, ir.sub(n, ONE))
    ),
    "wrap": lambda i, n: ir.apply(loop_program.MOD, i, n),
    "reflect": lambda i, n: ir.where(
        ir.lt(i, ZERO), ir.neg(i),
        ir.where(ir.lt(i, n), i, ir.sub(ir.mul(ir.const(2), ir.sub(n, ONE)), i)),
    ),
    "symmetric": lambda i, n: ir.where(
        ir.lt(i, ZERO), ir.sub(ir.const(-1), i),
        ir.where(ir.lt(i, n), i, ir.sub(ir.sub(ir.mul(ir.const(2), n), ONE), i)),
    ),
}  # fmt: skip
"""The source of an element outside of an axis of n elements."""


def _padded(t: Tracer, value: Any, width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:  # fmt: skip
    a = symbolic.symbolic(t, value)
    pairs = list(width) if isinstance(width, (tuple, list)) else [width]
    if not any(isinstance(p, (tuple, list)) for p in pairs):
        pairs = [(pairs[0], pairs[-1])]
    pairs = pairs * len(a.shape) if len(pairs) == 1 else pairs
    shape, at, inside = [], [], ir.TRUE
    for k, ((before, after), n) in enumerate(zip(pairs, a.shape, strict=True)):
        first, last = shape_of((before, after))
        n = extent(t, n)
        i = ir.sub(SLOTS[k], first)
        shape.append(linear(ir.add(n, ir.add(first, last))))
        if mode == "constant":
            inside = ir.and_(inside, ir.and_(ir.le(ZERO, i), ir.lt(i, n)))
        elif mode not in _PADDING:
            raise Refused(f"the mode {mode!r} of np.pad()", f"{', '.join(_PADDING)} are supported")
        at.append(i if mode == "constant" else _PADDING[mode](i, n))
    found = symbolic.gathered(a, shape, at)
    if mode != "constant":
        return found
    fill: Scalar = as_real(constant_values)
    if found.kind == "i" and not scalars.is_whole(constant_values):
        raise Refused("an array of integers is padded with a real number", "make it one of floats")
    if found.kind == "b":
        fill = scalars.as_cond(scalars.truth(constant_values))
    e = ir.where(inside, symbolic.as_kind(found, found.kind), fill.expr)
    return lazy(shape, found.kind, e, by_side(inside, needs(found), fill.defined))


_JOINING: tuple[tuple[str, Function, Function], ...] = (
    ("stack", np.stack, _stack), ("concatenate", np.concatenate, _concatenate),
    ("concat", np.concatenate, _concatenate), ("hstack", np.hstack, _hstack),
    ("vstack", np.vstack, _vstack), ("row_stack", np.vstack, _vstack),
    ("column_stack", np.column_stack, _column_stack),
)  # fmt: skip
"""Like `shapes._REARRANGING`."""

TABLE: dict[str, Function] = {
    "numpy.append": _append, "numpy.split": parted(np.split, _split), "numpy.pad": _padded,
    **{f"numpy.{name}": together(f, own) for name, f, own in _JOINING},
}  # fmt: skip
"""Traced versions, by the dotted name of the function."""

stack = TABLE["numpy.stack"]
