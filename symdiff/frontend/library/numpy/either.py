"""Arrays of either class: a `SmallArray`, whose elements are traced one by one, or a `SymArray`,
whose size may be unknown. The functions that the library is written with dispatch here.

A `SmallArray` holds its elements in a NumPy array, so NumPy's own functions rearrange it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import selecting, small, symbolic
from symdiff.frontend.arrays.small import asarray, copy_or_view, unpack
from symdiff.frontend.loops import sequences
from symdiff.frontend.syntax.containers import elements, plain
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused, SmallArray, SymArray, array_of

Function = Callable[..., Any]
Array = SmallArray | SymArray


def arrays_of(t: Tracer, *values: Any) -> list[Any]:
    """Arrays, nested sequences or numbers as arrays of one class."""
    if sequences.involved(values):
        return [symbolic.symbolic(t, v) for v in values]
    return [asarray(v) for v in values]


def array_from(t: Tracer, value: Any) -> Any:
    """An array, nested sequence or number as an array."""
    if isinstance(value, (SmallArray, SymArray)):
        return value
    return arrays_of(t, value)[0]


def sizes_of(a: Array) -> tuple[ir.Expr, ...]:
    """The sizes of an array as formulas."""
    return a.shape if isinstance(a, SymArray) else tuple(map(ir.const, a.items.shape))


def rank_of(a: Array) -> int:
    """The number of axes of an array."""
    return len(a.shape) if isinstance(a, SymArray) else a.items.ndim


def subscript(t: Tracer, a: Array, key: Any) -> Any:
    """`a[key]`."""
    return selecting.subscript(t, a, key) if isinstance(a, SymArray) else small.load(a, key)


def sliced(t: Tracer, a: Array, axis: int, start: Any, stop: Any) -> Any:
    """`a[..., start:stop, ...]` along an axis."""
    return subscript(t, a, (*[slice(None)] * axis, slice(start, stop)))


# ------------------------------------------------------------------- rearrangements
def _by_class(few: Function, own: Function) -> Function:
    """A function that calls `own` if a `SymArray` is among its arguments, else `few`."""

    @functools.wraps(own)
    def implementation(t: Tracer, value: Any, *args: Any, **kwargs: Any) -> Any:
        large = sequences.involved((value, *args, *kwargs.values()))
        return (own if large else few)(t, value, *args, **kwargs)

    return implementation


def rearranged(f: Function, own: Function) -> Function:
    """A function that only rearranges the elements of one array, in new memory or as a view: `f`
    is NumPy's, `own` that of a `SymArray`."""

    def few(t: Tracer, value: Any, *args: Any, **kwargs: Any) -> Any:
        a = asarray(value)
        return copy_or_view(unpack(f(a.items, *args, **kwargs), a.kind), a)

    return _by_class(few, own)


def parted(f: Function, own: Function) -> Function:
    """A function that gives a list of views."""

    def few(t: Tracer, value: Any, *args: Any, **kwargs: Any) -> Any:
        a = asarray(value)
        try:
            parts = f(a.items, *map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
        except ValueError as error:
            raise Refused(str(error)) from None
        return t.own([SmallArray(p, a.kind) for p in parts])

    return _by_class(few, own)


def joined(f: Function, own: Function) -> Function:
    """A function that joins several arrays into a new one."""

    def few(t: Tracer, values: Any, *args: Any, **kwargs: Any) -> Any:
        result = f([asarray(v).items for v in elements(t, values)], *args, **kwargs)
        return t.own(array_of(list(result.ravel()), result.shape))

    return _by_class(few, own)
