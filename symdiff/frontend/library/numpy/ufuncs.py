"""Methods of NumPy's elementwise functions, such as `np.add.reduce`; and its index tricks."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import selecting, storing, symbolic
from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.library import rare_arguments, rearranged
from symdiff.frontend.library.builtin_functions import call_back
from symdiff.frontend.library.numpy import shapes as large_shapes
from symdiff.frontend.library.numpy.reductions import extreme_so_far, logsumexp
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.demands import array_in_call, number_of
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Refused,
    SmallArray,
    SymArray,
    describe,
    is_number,
    number,
)
from symdiff.ir import functions

Function = Callable[..., Any]


def _add_at(t: Tracer, function: Any, a: Any, indices: Any, value: Any) -> None:
    if isinstance(a, SmallArray):
        raise Retrace(what="np.add.at() of an array whose elements are traced one by one")
    if not isinstance(a, SymArray):
        raise Refused(f"np.add.at() of {describe(a)}")
    storing.add_at(t, a, indices, value)


def _at(t: Tracer, function: Any, a: Any, indices: Any, *values: Any) -> None:
    if function is np.subtract:
        minus = arrays.elementwise(scalars.negative, values[0])
        return _add_at(t, function, a, indices, minus)
    if function is np.add:
        return _add_at(t, function, a, indices, *values)
    if isinstance(a, SmallArray):
        raise Retrace(what="np.ufunc.at() of an array whose elements are traced one by one")
    if isinstance(indices, tuple) and len(indices) != 2:
        raise Refused(f"np.{function.__name__}.at() of {len(indices)} arrays of indices")
    for k in indices if isinstance(indices, tuple) else (indices,):
        selecting.as_integers(t, k)
    if function not in (np.multiply, np.maximum, np.minimum) and getattr(a, "kind", "f") != "f":
        raise Refused(
            f"np.{function.__name__}.at() of integers or truth values", "make them floats"
        )
    for v in values:
        storing.must_hold(t, a, v)
    assert isinstance(rearranged.at, FunctionType)
    t.inline(rearranged.at, (function, a, indices, *values), {})
    return None


def _outer(t: Tracer, function: Any, a: Any, b: Any) -> Any:
    for v in (a, b):
        array_in_call(v, "np.ufunc.outer()")
    x, y = symbolic.symbolic(t, a), symbolic.symbolic(t, b)
    rank = len(x.shape)
    return call_back(t, function, large_shapes.expanded(t, x, tuple(range(rank, rank + len(y.shape)))), y)  # fmt: skip


_REDUCTIONS: dict[Any, Any] = {
    np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min,
    np.logical_and: np.all, np.logical_or: np.any,
}  # fmt: skip


def _reduce(t: Tracer, function: Any, value: Any, axis: Any = 0, **more: Any) -> Any:
    if function is np.logaddexp and not {*more} - {"keepdims"}:
        array_in_call(value, "np.logaddexp.reduce()")
        return logsumexp(t, value, axis, **more)
    if function not in _REDUCTIONS and not more:
        return _one_by_one(t, rare_arguments.reduced, function, value, axis)
    if function not in _REDUCTIONS:
        raise Refused(
            f"np.{function.__name__}.reduce() with {', '.join(more)}", "write it as a loop"
        )
    if isinstance(value, (list, tuple)):
        value = t.call(np.array, (value,), {})
    return t.call(_REDUCTIONS[function], (value,), {"axis": axis, **more})


def _one_by_one(t: Tracer, how: Any, function: Any, value: Any, axis: Any) -> Any:
    """A reduction by a function of two numbers, as a loop."""
    if function.nin != 2 or axis is None:
        raise Refused(f"a reduction by np.{function.__name__}", "write it as a loop")
    array_in_call(value, "np.ufunc.reduce()")
    if getattr(value, "kind", "f") != "f":
        raise Refused(f"np.{function.__name__} over integers or truth values", "make them floats")
    return t.inline(how, (function, symbolic.symbolic(t, value), axis), {})


def _reduceat(t: Tracer, function: Any, value: Any, indices: Any, axis: Any = 0) -> Any:
    if function is not np.add or axis != 0:
        raise Refused(f"np.{function.__name__}.reduceat() but np.add's along the first axis", "write it as a loop")  # fmt: skip
    assert isinstance(rearranged.added_in_parts, FunctionType)
    return t.inline(rearranged.added_in_parts, (value, indices), {})


def _accumulate(t: Tracer, function: Any, value: Any, axis: Any = 0) -> Any:
    if function in (np.add, np.multiply):
        running = np.cumsum if function is np.add else np.cumprod
        return t.call(running, (value,), {"axis": axis})
    if function in (np.maximum, np.minimum):
        array_in_call(value, "np.ufunc.accumulate()")
        if getattr(value, "kind", "f") != "f":
            raise Refused("the running extreme of integers or truth values", "make them floats")
        if function is np.maximum:
            return extreme_so_far(functions.MAXIMUM, ir.neg(ir.INF))(t, value, axis)
        return extreme_so_far(functions.MINIMUM, ir.INF)(t, value, axis)
    return _one_by_one(t, rare_arguments.running, function, value, axis)


METHODS: dict[str, Function] = {
    "at": _at, "outer": _outer, "reduce": _reduce, "reduceat": _reduceat, "accumulate": _accumulate,
}  # fmt: skip
"""Methods, called with the function first."""


def method(function: np.ufunc, name: str) -> Function | None:
    """A method of one of NumPy's functions."""
    return METHODS.get(name)


def _of_slice(t: Tracer, part: slice) -> Any:
    """The numbers that a slice in `np.r_` denotes."""
    if isinstance(part.step, complex):
        raise Refused("a number of points in np.r_[] or np.c_[]", "use np.linspace")
    start, step = 0 if part.start is None else part.start, 1 if part.step is None else part.step
    return call_back(t, np.arange, start, part.stop, step)


def joined_by_index(t: Tracer, owner: Any, key: Any) -> Any:
    """`np.r_[...]` and `np.c_[...]`."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if any(isinstance(p, str) for p in parts):
        raise Refused("a text in np.r_[] or np.c_[]", "use np.concatenate or np.stack")
    parts = [_of_slice(t, p) if isinstance(p, slice) else p for p in parts]
    if owner is np.c_:
        return call_back(t, np.column_stack, parts)
    for p in parts:
        array_in_call(p, "np.r_[]")
    parts = [[p] if is_number(p) else [number_of(p)] if is_number(number_of(p)) else p for p in parts]  # fmt: skip
    return call_back(t, np.concatenate, parts)


def vectorized(
    t: Tracer, function: Any, options: dict[str, Any], args: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """A call of `np.vectorize(function, **options)`."""
    if named:
        raise Refused(
            f"'{next(iter(named))}' is passed by name to an np.vectorize()", "pass it by its place"
        )
    made: Any = rearranged.vectorized
    types = options.get("otypes")
    floats = types is not None and [np.dtype(v) for v in types] == [np.float64]
    given = [k for k, v in options.items() if v and not (floats and k == "otypes")]
    if given:
        raise Refused(f"np.vectorize() with '{given[0]}'", "write a loop over the elements")
    found = t.inline(made, (function, *args), {})
    return t.call(np.multiply, (found, number(1.0)), {}) if floats else found
