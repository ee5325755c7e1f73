"""Small arrays, traced element by element: broadcasting, indexing, reductions."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.arrays import casting
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.counted_truth import of_truth
from symdiff.frontend.trace.demands import array_in_call, integer_hint
from symdiff.frontend.trace.outside import from_outside
from symdiff.frontend.trace.recorder import WIDE, Retrace, active
from symdiff.frontend.trace.values import (
    Cond,
    Listed,
    Masked,
    Real,
    Refused,
    Scalar,
    Selected,
    SmallArray,
    SymArray,
    array_of,
    as_float,
    as_real,
    cast,
    describe,
    is_number,
    join,
    number,
    python_kind,
)
from symdiff.ir import CONST, functions

Items = np.ndarray[Any, Any]


def asarray(value: Any) -> SmallArray:
    """A number, array or nested sequence of numbers as an array."""
    if isinstance(value, SmallArray):
        return value
    if isinstance(value, (SymArray, Selected)):
        raise Refused("this function of an array whose size is not known when traced")
    if is_number(value):
        return array_of([value], ())
    if isinstance(value, np.ndarray):
        return asarray(from_outside(value))
    if isinstance(value, (list, tuple, range)):
        parts = [asarray(from_outside(v)) for v in value]
        if not parts:
            return array_of([], (0,))
        shapes = {p.items.shape for p in parts}
        if len(shapes) != 1:
            raise Refused("the rows of an array have different lengths")
        flat = [v for p in parts for v in p.items.ravel()]
        return array_of(flat, (len(parts), *shapes.pop()))
    raise Refused(f"{describe(value)} is used as an array")


def unpack(items: Items, kind: str) -> Any:
    """An array, or its element if it has no dimension."""
    return SmallArray(items, kind) if items.ndim else items.item()


def item(value: Any, kind: str) -> Any:
    """The result of one step of iteration over an array: a view of a row, or an element."""
    return SmallArray(value, kind) if isinstance(value, np.ndarray) else value


def elementwise(f: Callable[..., Any], *values: Any) -> Any:
    """A scalar function applied to numbers and arrays, with broadcasting."""
    if all(is_number(v) for v in values):
        return f(*values)
    if any(isinstance(v, (SymArray, Selected, Listed)) for v in values):
        return active.get().elementwise(f, values)
    if any(isinstance(v, Masked) for v in values):
        return _elementwise_masked(f, values)
    _beside_data(values)
    arrays = [asarray(v).items for v in values]
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " and ".join(str(a.shape) for a in arrays)
        raise Refused(f"arrays of shapes {shapes} do not fit together") from None
    rows = zip(*(np.broadcast_to(a, shape).ravel() for a in arrays), strict=True)
    result = array_of([f(*row) for row in rows], shape)
    if result.items.size > WIDE:
        active.get().elements += result.items.size
    if any(_by_columns(a) for a in arrays) and all(_by_columns(a) or not a.ndim for a in arrays):
        result = SmallArray(np.asfortranarray(result.items), result.kind)  # NumPy's order "K"
    if not result.items.size:
        result = SmallArray(result.items, _kind_of_none(f, values))
    return own_or_item(result)


def _by_columns(items: Items) -> bool:
    """Whether an array lies in memory by columns only."""
    return items.flags.f_contiguous and not items.flags.c_contiguous


def own_or_item(made: SmallArray) -> Any:
    """A new array, which may be changed, or its element if it has no dimension."""
    return active.get().own(made) if made.items.ndim else made.items.item()


def _kind_of_none(f: Callable[..., Any], values: Sequence[Any]) -> str:
    """The kind of a result without elements: that of the result for some numbers."""
    some = []
    for v in values:
        items = asarray(v).items
        kind = asarray(v).kind
        any_of_kind = True if kind == "b" else 1 if kind == "i" else number(0.5)
        some.append(items.flat[0] if items.size else any_of_kind)
    try:
        return array_of([f(*some)], (1,)).kind
    except Refused:
        return "f"


def _beside_data(values: Sequence[Any]) -> None:
    """Trace a parameter as an array where it meets data, if it is an array in the call."""
    t = active.get()
    if t.shapes is None or not any(isinstance(v, SmallArray) and _is_data(v) for v in values):
        return
    for v in values:
        array_in_call(v, "it meets an array")


def _is_data(array: SmallArray) -> bool:
    """Whether the elements of an array of some size are known when traced."""
    return array.items.size > 1 and all(
        isinstance(v, int) or (isinstance(v, Scalar) and v.expr.op is CONST)
        for v in array.items.ravel()
    )


def _elementwise_masked(f: Callable[..., Any], values: Sequence[Any]) -> Masked:
    present = next(v.present for v in values if isinstance(v, Masked))
    columns = []
    for v in values:
        if isinstance(v, Masked) and _same(v.present, present):
            columns.append(v.items)
        elif is_number(v):
            columns.append((v,) * len(present))
        else:
            raise Refused(
                "elements selected by different conditions are combined", "use np.where instead"
            )
    return Masked(tuple(f(*row) for row in zip(*columns, strict=True)), present)


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    def plain(c: Any) -> Any:
        return c.expr if isinstance(c, Cond) else c

    return len(a) == len(b) and all(plain(x) is plain(y) for x, y in zip(a, b, strict=True))


# ------------------------------------------------------------------------- kinds
_DTYPES: dict[Any, str] = {
    float: "f", np.float64: "f", "float": "f", "float64": "f", "f8": "f", "d": "f",
    int: "i", np.int64: "i", np.intp: "i", "int": "i", "int64": "i",
    bool: "b", np.bool_: "b", "bool": "b",
}  # fmt: skip


_NARROW = (np.int32, "int32", "i4", "i")
"""Integers that are fine for indices; in results they would have 64 bits."""


def dtype_kind(dtype: Any) -> str | None:
    if dtype is None:
        return None
    if isinstance(dtype, np.dtype):
        dtype = dtype.type
    if dtype in _DTYPES:
        return _DTYPES[dtype]
    if dtype in _NARROW:
        t = active.get()
        message = "integers of 32 bits are returned, which a traced function has with 64"
        t.narrowed = t.narrowed or t.error(message, "convert to int, or to float")
        return "i"
    raise Refused(
        f"dtype {getattr(dtype, '__name__', dtype)} is not supported",
        "a traced function computes with real numbers; float, int and bool are known",
    )


def converted(array: SmallArray, kind: str | None, dtype: Any = None) -> SmallArray:
    """The array with the kind of a given dtype."""
    if kind is None or kind == array.kind:
        return array
    if kind == "i" and array.kind == "f":
        casting.must_not_follow(dtype)
    if not array.items.size:
        return SmallArray(array.items, kind)
    if kind == "b":
        return array_of([scalars.truth(v) for v in array.items.ravel()], array.items.shape)
    if kind == "i" and array.kind == "f" and array.items.size:
        known = [ir.rational(as_real(v).expr) for v in array.items.ravel()]
        if None not in known:
            return array_of([int(q) for q in known if q is not None], array.items.shape)
        if array.items.ndim and active.get().size_limit > 0:
            raise Retrace(what="real numbers are converted to integers")
        found = [scalars.apply(functions.TRUNC, as_real(v)) for v in array.items.ravel()]
        return array_of([scalars.integral(v) for v in found], array.items.shape)
    items = np.empty(array.items.shape, object)
    items.ravel()[:] = [cast(v, kind) for v in array.items.ravel()]
    return SmallArray(items, kind)


def copied(array: SmallArray) -> SmallArray:
    return SmallArray(array.items.copy(), array.kind)


# --------------------------------------------------------------------- indexing
def _index(index: Any) -> Any:
    """An index as NumPy takes it; a symbolic mask stays a `SmallArray`."""
    if isinstance(index, tuple):
        parts = tuple(_index(i) for i in index)
        if any(isinstance(p, SmallArray) for p in parts):
            raise Refused("a mask of conditions is one of several indices", "use np.where")
        return parts
    if isinstance(index, list):
        return _index(asarray(index))
    if isinstance(index, SmallArray):
        flat = index.items.ravel()
        if index.kind == "i" and all(isinstance(v, int) for v in flat):
            return index.items.astype(np.intp)
        if index.kind == "b":
            known = all(isinstance(v, bool) for v in flat)
            return index.items.astype(bool) if known else index
    if isinstance(index, (Scalar, SmallArray)):
        from symdiff.frontend.trace.demands import retrace_integers

        for v in index.items.ravel() if isinstance(index, SmallArray) else (index,):
            if isinstance(v, Scalar):
                array_in_call(v, "it is used as an index")
                retrace_integers(active.get(), v.expr)
        raise Refused(
            f"{describe(index)} is used as an index",
            integer_hint(index, "an index must be known; use np.where to select by value"),
        )
    return index


def load(array: SmallArray, index: Any) -> Any:
    """`array[index]`: a view for integers and slices, a copy for lists, `Masked` for conditions."""
    i = _index(index)
    if isinstance(i, SmallArray):
        if i.items.shape != array.items.shape:
            raise Refused("a mask and the array that it selects from differ in shape")
        return Masked(tuple(array.items.ravel()), tuple(i.items.ravel()))
    return copy_or_view(item(array.items[i], array.kind), array)


def copy_or_view(found: Any, array: SmallArray) -> Any:
    """A result of an array: new memory may be changed; a view may be changed if the array may."""
    is_new = isinstance(found, SmallArray) and found.owner() is not array.owner()
    return active.get().own(found) if is_new else found


def store(array: SmallArray, index: Any, value: Any) -> None:
    """`array[index] = value`."""
    i = _index(index)
    if isinstance(i, SmallArray):
        _store_masked(array, i, value)
        return
    if isinstance(value, Masked):
        raise Refused("elements selected by a condition are stored", "use np.where instead")
    target = array.items[i]
    if not isinstance(target, np.ndarray):
        new = asarray(value).items
        if new.size != 1:
            raise Refused(f"an array of shape {new.shape} is stored in one element")
        array.items[i] = casting.held_small(new.item(), array.kind)
        return
    if isinstance(value, SymArray) and active.get().size_limit >= 0:
        raise Retrace(what="an array in memory is stored in one that is traced one by one")
    new = asarray(value).items
    parts = np.empty(new.shape, object)
    parts.ravel()[:] = [casting.held_small(v, array.kind) for v in new.ravel()]
    try:
        array.items[i] = parts
    except ValueError:
        raise Refused(f"shape {new.shape} is stored in shape {target.shape}") from None


def _store_masked(array: SmallArray, mask: SmallArray, value: Any) -> None:
    if mask.items.shape != array.items.shape:
        raise Refused("a mask and the array that it selects from differ in shape")
    present = tuple(mask.items.ravel())
    if isinstance(value, Masked) and _same(value.present, present):
        new = list(value.items)
    elif is_number(value):
        new = [value] * len(present)
    else:
        raise Refused("an array is stored where a condition selects", "use np.where instead")
    old = array.items.ravel()
    parts = [choose(c, v, o) for c, v, o in zip(present, new, old, strict=True)]
    for k, v in zip(np.ndindex(array.items.shape), parts, strict=True):
        array.items[k] = casting.held_small(v, array.kind)


def choose(c: Any, a: Any, b: Any) -> Any:
    """`where(c, a, b)` of scalars."""
    c = scalars.truth(c)
    return scalars.select(c.expr, c.defined, a, b) if isinstance(c, Cond) else a if c else b


def chosen(c: Any, a: Any, b: Any) -> Any:
    """The result of `np.where` for three numbers: of the common kind of the last two."""
    found, kinds = choose(c, a, b), {python_kind(a), python_kind(b)}
    if python_kind(found) != "f" and "f" in kinds:
        return as_float(found)
    return int(found) if isinstance(found, bool) and "i" in kinds else found


# ------------------------------------------------------------------- reductions
def add(a: Any, b: Any) -> Any:
    return scalars.binary(ast.Add, a, b)


def multiply(a: Any, b: Any) -> Any:
    if isinstance(a, (bool, Cond)) and isinstance(b, (bool, Cond)):
        return scalars.conjunction(a, b)
    return scalars.binary(ast.Mult, a, b)


def total(values: Any, start: Any = 0) -> Any:
    """The sum of scalars; of those that a condition selects, if there is one."""
    result = start
    for v in counted(values, 0):
        result = add(result, v)
    return result


def product(values: Any, start: Any = 1) -> Any:
    result = start
    for v in counted(values, 1):
        result = multiply(result, v)
    return result


def counted(values: Any, neutral: Any) -> Iterator[Any]:
    """The elements, with a neutral one in place of those that are not selected."""
    if isinstance(values, Masked):
        for c, v in zip(values.present, values.items, strict=True):
            yield choose(c, v, neutral)
    else:
        yield from values


def extreme(pick: Callable[[Any, Any], Any], values: Any) -> Any:
    """The largest or smallest; undefined where no element is selected."""
    if not isinstance(values, Masked):
        values = list(values)
        if not values:
            raise Refused("the maximum or minimum of nothing")
        result = values[0]
        for v in values[1:]:
            result = pick(result, v)
        return result
    result, found = values.items[0], values.present[0]
    for c, v in zip(values.present[1:], values.items[1:], strict=True):
        result = choose(c, choose(found, pick(result, v), v), result)
        found = scalars.disjunction(found, c)
    nothing = found.expr if isinstance(found, Cond) else scalars.as_cond(found).expr
    x = as_real(result)
    return Real(x.expr, join(x.defined, nothing))


def hypotenuse(values: Sequence[Any]) -> Any:
    """The Euclidean norm; for more than two numbers, pair by pair."""
    if not values:
        return number(0)
    if len(values) == 1:
        return scalars.apply(ir.ABS, as_real(values[0]))
    return functools.reduce(lambda a, b: scalars.apply(functions.HYPOT, a, b), values)


def every(values: Any) -> Any:
    """Whether all (selected) elements are true."""
    result: Any = True
    for v in _implications(values, True):
        result = scalars.conjunction(result, v)
        if result is False:
            return False
    return result


def some(values: Any) -> Any:
    """Whether one (selected) element is true."""
    result: Any = False
    for v in _implications(values, False):
        result = scalars.disjunction(result, v)
        if result is True:
            return True
    return result


def _implications(values: Any, neutral: bool) -> Iterator[Any]:
    if isinstance(values, Masked):
        for c, v in zip(values.present, values.items, strict=True):
            yield choose(c, scalars.truth(v), neutral)
    else:
        yield from values


def reduce(f: Callable[[Any], Any], value: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """A reduction of all elements, or along an axis."""
    if isinstance(value, Masked):
        if axis not in (None, 0) or keepdims:
            raise Refused("a reduction along an axis of elements that a condition selects")
        return f(value)
    array = asarray(value)
    if not array.items.size:
        f = _of_none(f, array.kind)
    if axis is None:
        result = f(list(array.items.ravel()))
        return own_or_item(array_of([result], (1,) * array.items.ndim)) if keepdims else result
    axes = sorted(a % array.items.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    moved = np.moveaxis(array.items, axes, range(-len(axes), 0))
    kept = moved.shape[: moved.ndim - len(axes)]
    results = [f(list(moved[k].ravel())) for k in np.ndindex(kept)]
    shape = kept
    if keepdims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(array.items.shape))
    found = array_of(results, shape)
    if not results:
        found = converted(found, _kind_of_some(f, array.kind))
    return own_or_item(found)


def scan(combine: Callable[[Any, Any], Any], array: SmallArray, axis: int) -> Any:
    """A running reduction along an axis, with every intermediate value; truth values as
    integers."""
    if array.kind == "b":
        array = elementwise(of_truth, array)
    moved = np.moveaxis(array.items.copy(), axis, 0)
    for i in range(1, len(moved)):
        for k in np.ndindex(moved.shape[1:]):
            moved[(i, *k)] = combine(moved[(i - 1, *k)], moved[(i, *k)])
    result = np.moveaxis(moved, 0, axis)
    if not result.size:
        return active.get().own(SmallArray(result, array.kind))
    return active.get().own(array_of(list(result.ravel()), result.shape))


def _of_none(f: Callable[[Any], Any], kind: str) -> Callable[[Any], Any]:
    """A reduction of elements of this kind, whose empty result has the right kind."""

    def reduced(values: Any) -> Any:
        found = f(values)
        return found if values else cast(found, _kind_of_some(f, kind))

    return reduced


def _kind_of_some(f: Callable[[Any], Any], kind: str) -> str:
    """The kind of a reduction of some elements of this kind."""
    return _kind_of_none(
        lambda *values: f(list(values)), [SmallArray(np.empty(0, object), kind)] * 3
    )


def _promoted(*values: Any) -> str:
    """The kind of the combination of arrays."""
    return "f" if any(asarray(v).kind == "f" for v in values) else "i"


def dot(a: Any, b: Any) -> Any:
    """`a @ b` of vectors and matrices."""
    if isinstance(a, Masked) or isinstance(b, Masked):
        return total(elementwise(multiply, a, b))
    x, y = asarray(a).items, asarray(b).items
    if not (x.ndim in (1, 2) and y.ndim in (1, 2)) or x.shape[-1] != y.shape[0]:
        raise Refused(f"'@' of arrays of shapes {x.shape} and {y.shape}")
    rows = x if x.ndim == 2 else x[None, :]
    columns = y if y.ndim == 2 else y[:, None]
    parts = [
        total(multiply(u, v) for u, v in zip(r, c, strict=True)) for r in rows for c in columns.T
    ]
    kind = _promoted(a, b)
    if asarray(a).kind == asarray(b).kind == "b":
        parts, kind = [scalars.compare(ast.NotEq, c, 0) for c in parts], "b"
    shape = x.shape[:-1] + y.shape[1:]
    result = array_of(parts, shape)
    if not (x.size and y.size):
        result = converted(result, kind)
    return own_or_item(result)
