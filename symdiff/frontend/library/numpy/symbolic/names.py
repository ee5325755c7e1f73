"""What NumPy does on arrays whose size is not known when traced: which function, method or
attribute is which of ours. Elementary functions apply element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.selecting import subscript
from symdiff.frontend.arrays.small import dtype_kind
from symdiff.frontend.arrays.storing import store
from symdiff.frontend.library import foreign
from symdiff.frontend.library.numpy.small.names import ARRAY_METHODS, as_function
from symdiff.frontend.library.numpy.symbolic import joins, linear_algebra, making, norms, reductions
from symdiff.frontend.library.numpy.symbolic import shapes as large_shapes
from symdiff.frontend.library.numpy.symbolic.making import converted, copied
from symdiff.frontend.library.numpy.symbolic.shapes import transpose
from symdiff.frontend.trace.demands import REDUCED, array_in_call, number_of, used_as_array
from symdiff.frontend.trace.extents import dims, size
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Axes,
    Method,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    SymArray,
    describe,
)

Function = Callable[..., Any]

TABLE: dict[str, Function] = (
    making.TABLE
    | reductions.TABLE
    | large_shapes.TABLE
    | joins.TABLE
    | linear_algebra.TABLE
    | norms.TABLE
)
"""Traced versions, by the dotted name of what they implement."""

NO_USE = {
    f"numpy.{name}"
    for name in (
        "where", "array", "asarray", "asanyarray", "copy", "linspace", "arange", "shape", "size", "ndim",
        "full_like", "zeros_like", "ones_like", "empty_like", "eye", "identity", "polyval",
        "interp",
    )
}  # fmt: skip
"""Functions that a number may be passed to: it is not an array because of that."""


IN_CALL = frozenset(
    f"numpy.{name}"
    for name in (
        "stack", "concatenate", "hstack", "vstack", "column_stack", "atleast_1d", "atleast_2d",
        "ravel", "reshape", "squeeze", "transpose", "flip", "roll", "tile", "repeat",
        "expand_dims", "broadcast_to",
    )
)  # fmt: skip
"""Functions that take numbers as well: what is passed is an array where it is in the call."""


OF_MATRICES = frozenset(
    f"numpy.linalg.{name}"
    for name in (
        "solve", "inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "pinv", "svd",
        "matrix_power",
    )
) | {"numpy.trace"}  # fmt: skip
"""Functions whose first argument is a matrix, where nothing else is known of it."""


def numbers_as_arrays(t: Tracer, name: str, values: Iterable[Any], *, listed: bool = False) -> None:
    """Where numbers are used as arrays by a function, trace again with their parameters as
    arrays; in a list, which is an array itself, only those that are arrays in the call."""
    if name in NO_USE:
        return
    for k, v in enumerate(values):
        if isinstance(number_of(v), Scalar) or (isinstance(v, SmallArray) and not v.items.ndim):
            if listed or name in IN_CALL:
                array_in_call(v, REDUCED)
            else:
                used_as_array(v, REDUCED, 2 if name in OF_MATRICES and k == 0 else 1)
        elif isinstance(v, (list, tuple)):
            numbers_as_arrays(t, name, v, listed=True)


def _astype(t: Tracer, value: Any, dtype: Any) -> Any:
    a = symbolic.symbolic(t, value)
    return symbolic.snapshot(converted(a, dtype_kind(dtype), dtype))


def _item(t: Tracer, value: Any, *index: Any) -> Any:
    a = symbolic.symbolic(t, value)
    for n in () if index else a.shape:
        t.require(ir.eq(n, ir.ONE), "value", "item() of an array that has not one element")
    if len(index) < 2 and not (index and isinstance(index[0], tuple)):
        return subscript(t, large_shapes.ravel(t, a), index[0] if index else 0)
    return subscript(t, a, index if len(index) > 1 else index[0])


def _tolist(t: Tracer, value: Any) -> Any:
    a = symbolic.symbolic(t, value)
    return symbolic.listed(symbolic.snapshot(a), "l" * len(a.shape)) if a.shape else _item(t, a)


def _fill(t: Tracer, value: Any, number: Any) -> None:
    if not isinstance(value, SymArray):
        raise Refused(
            f"{describe(value)} is filled", "fill an array that has been made: np.copy(...)"
        )
    store(t, value, Ellipsis, number)


PROPERTIES: dict[str, Callable[[Tracer, SymArray], Any]] = {
    "shape": lambda t, a: Axes(dims(t, symbolic.with_rows(t, a).shape), a),
    "size": lambda t, a: size(t, a.shape),
    "ndim": lambda t, a: len(symbolic.with_rows(t, a).shape),
    "T": transpose,
    "mT": lambda t, a: large_shapes.TABLE["numpy.swapaxes"](t, a, -1, -2),
    "real": lambda t, a: a,
    "dtype": lambda t, a: np.dtype({"f": float, "i": int, "b": bool}[a.kind]),
    "flat": large_shapes.flat,
}
"""Attributes of an array."""


def _copy(t: Tracer, a: SymArray) -> SymArray:
    """The method, which unlike the function makes arrays that lie row by row."""
    found = copied(t, a)
    found.memory.by_rows = True
    return found


def _reshape(t: Tracer, a: SymArray, *shape: Any, order: str = "C") -> Any:
    if order == "C":
        return TABLE["numpy.reshape"](t, a, *shape)
    return t.call(np.reshape, (a, shape[0] if len(shape) == 1 else shape), {"order": order})


def _ravel(t: Tracer, a: SymArray, order: str = "C") -> Any:
    return large_shapes.ravel(t, a) if order == "C" else t.call(np.ravel, (a,), {"order": order})


def _sorted_in_place(t: Tracer, a: SymArray, axis: Any = -1) -> None:
    t.store(a, Ellipsis, TABLE["numpy.sort"](t, a, axis=axis))


METHODS: dict[str, Function] = {
    name: TABLE[f"numpy.{name}"]
    for name in ("dot", "transpose", "swapaxes", "squeeze", "nonzero")
} | {
    name: as_function(name)
    for name in (
        "sum", "prod", "mean", "max", "min", "any", "all", "var", "std", "repeat", "take", "diagonal",
        "trace", "cumsum", "cumprod", "argmax", "argmin", "argsort", "searchsorted", "choose",
        "argpartition", "put",
    )
} | {
    "compress": lambda t, a, condition, **named: t.call(np.compress, (condition, a), named),
    "reshape": _reshape, "ravel": _ravel,
    "flatten": lambda t, a, order="C": symbolic.snapshot(_ravel(t, a, order)),
    "tolist": _tolist, "astype": _astype, "item": _item, "fill": _fill, "copy": _copy,
    "sort": _sorted_in_place,
}  # fmt: skip
"""Methods of an array."""

SMALL_METHODS = ("clip", "round", "conj", "conjugate")
"""Methods that apply element by element."""


def attribute(t: Tracer, owner: SymArray | Selected, name: str) -> Any:
    """`owner.name` of an array."""
    if isinstance(owner, Selected) and name in PROPERTIES:
        owner = symbolic.symbolic(t, owner)
    if isinstance(owner, SymArray) and name in PROPERTIES:
        return PROPERTIES[name](t, owner)
    if name in METHODS:
        return Method(METHODS[name], owner, name)
    if name in SMALL_METHODS:
        return Method(ARRAY_METHODS[name], owner, name)
    raise Refused(
        f"attribute '{name}' of an array whose size is not known when traced",
        foreign.method(name),
        raises=None if hasattr(np.ndarray, name) else AttributeError,
    )
