"""The tables of NumPy's functions on arrays, and of methods and attributes of arrays. Elementary
functions apply element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.selecting import subscript
from symdiff.frontend.library import foreign
from symdiff.frontend.library.numpy import (
    elementwise,
    joins,
    linear_algebra,
    making,
    norms,
    reductions,
)
from symdiff.frontend.library.numpy import shapes as large_shapes
from symdiff.frontend.library.numpy.making import copied
from symdiff.frontend.trace.demands import REDUCED, array_in_call, number_of, used_as_array
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import (
    Axes,
    Masked,
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
"""Traced versions, by the dotted name of the function."""

NO_USE = {
    f"numpy.{name}"
    for name in (
        "where", "zeros", "ones", "empty", "full", "array", "asarray", "asanyarray", "copy", "linspace", "arange", "shape", "size", "ndim",
        "full_like", "zeros_like", "ones_like", "empty_like", "eye", "identity", "polyval",
        "interp", "searchsorted",
    )
}  # fmt: skip
"""Functions that also accept numbers: an argument does not become an array because of them."""


IN_CALL = frozenset(
    f"numpy.{name}"
    for name in (
        "stack", "concatenate", "hstack", "vstack", "column_stack", "atleast_1d", "atleast_2d",
        "ravel", "reshape", "squeeze", "transpose", "flip", "roll", "tile", "repeat",
        "expand_dims", "broadcast_to",
    )
)  # fmt: skip
"""Functions that also accept numbers: an argument is an array if it is one in the call."""


OF_MATRICES = frozenset(
    f"numpy.linalg.{name}"
    for name in (
        "solve", "inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "pinv", "svd",
        "matrix_power",
    )
) | {"numpy.trace"}  # fmt: skip
"""Functions whose first argument is a matrix, if nothing else is known of it."""


def numbers_as_arrays(t: Tracer, name: str, values: Iterable[Any], *, listed: bool = False) -> None:
    """Where a function uses numbers as arrays, trace again with their parameters as arrays; in a
    list, which is an array itself, only with those that are arrays in the call."""
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


def _item(t: Tracer, value: Any, *index: Any) -> Any:
    if isinstance(value, SmallArray):
        return value.items.item(*index)
    a = symbolic.symbolic(t, value)
    for n in () if index else a.shape:
        t.require(ir.eq(n, ir.ONE), "value", "item() of an array that has not one element")
    if len(index) < 2 and not (index and isinstance(index[0], tuple)):
        return subscript(t, large_shapes.ravel(t, a), index[0] if index else 0)
    return subscript(t, a, index if len(index) > 1 else index[0])


def _astype(t: Tracer, value: Any, dtype: Any) -> Any:
    """An array or a number of another kind."""
    found = copied(t, value, dtype)
    return found.items.item() if isinstance(value, Scalar) else found


def _tolist(t: Tracer, value: Any) -> Any:
    if isinstance(value, SmallArray):
        return _rows(t, value.items)
    a = symbolic.symbolic(t, value)
    return symbolic.listed(symbolic.snapshot(a), "l" * len(a.shape)) if a.shape else _item(t, a)


def _rows(t: Tracer, items: Any) -> Any:
    return t.own([_rows(t, v) for v in items]) if isinstance(items, np.ndarray) else items


def _fill(t: Tracer, value: Any, number: Any) -> None:
    if not isinstance(value, (SmallArray, SymArray)):
        raise Refused(
            f"{describe(value)} is filled", "fill an array that has been made: np.copy(...)"
        )
    t.store(value, Ellipsis, number)


def _flat(t: Tracer, a: Any) -> Any:
    if isinstance(a, SmallArray):
        raise Refused("attribute 'flat' of an array")
    return large_shapes.flat(t, a)


PROPERTIES: dict[str, Callable[[Tracer, Any], Any]] = {
    "shape": lambda t, a: a.items.shape if isinstance(a, SmallArray) else Axes(TABLE["numpy.shape"](t, a), a),
    "size": TABLE["numpy.size"],
    "ndim": TABLE["numpy.ndim"],
    "T": TABLE["numpy.transpose"],
    "mT": lambda t, a: TABLE["numpy.swapaxes"](t, a, -1, -2),
    "real": lambda t, a: a,
    "dtype": lambda t, a: np.dtype({"f": float, "i": int, "b": bool}[a.kind]),
    "flat": _flat,
}  # fmt: skip
"""Attributes of an array."""


def _copy(t: Tracer, a: Any) -> Any:
    """The method, which unlike the function makes arrays stored by rows."""
    found = copied(t, a)
    if isinstance(found, SymArray):
        found.memory.by_rows = True
    return found


def _reshape(t: Tracer, a: Any, *shape: Any, order: str = "C") -> Any:
    if order == "C" or isinstance(a, SmallArray):
        return TABLE["numpy.reshape"](t, a, *shape, order=order)
    return t.call(np.reshape, (a, shape[0] if len(shape) == 1 else shape), {"order": order})


def _ravel(t: Tracer, a: Any, order: str = "C") -> Any:
    if order == "C":
        return large_shapes.flattened(t, a)
    return t.call(np.ravel, (a,), {"order": order})


def as_function(name: str) -> Function:
    """A method with the same arguments as the function of that name."""
    return lambda t, a, *args, **named: t.call(getattr(np, name), (a, *args), named)


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
    "flatten": lambda t, a, order="C": copied(t, _ravel(t, a, order)),
    "tolist": _tolist, "astype": _astype, "item": _item,
    "fill": _fill, "copy": _copy, "sort": _sorted_in_place, "clip": elementwise.clip,
    "round": elementwise.rounded, "conj": elementwise.real_part, "conjugate": elementwise.real_part,
}  # fmt: skip
"""Methods of an array."""


def attribute(t: Tracer, owner: Any, name: str) -> Any:
    """`owner.name` of an array."""
    if isinstance(owner, Selected) and name in PROPERTIES:
        owner = symbolic.symbolic(t, owner)
    if isinstance(owner, (SmallArray, SymArray)) and name in PROPERTIES:
        return PROPERTIES[name](t, owner)
    if name in METHODS:
        return Method(METHODS[name], owner, name)
    unknown = AttributeError if not hasattr(np.ndarray, name) else None
    if isinstance(owner, (SmallArray, Masked)):
        raise Refused(f"attribute '{name}' of an array", raises=unknown)
    raise Refused(
        f"attribute '{name}' of an array whose size is not known when traced",
        foreign.method(name),
        raises=unknown,
    )
