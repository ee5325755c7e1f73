"""Traced versions of NumPy's products of small arrays, and of what rearranges them."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.arrays.small import (
    asarray,
    converted,
    copied,
    dtype_kind,
    elementwise,
    unpack,
)
from symdiff.frontend.syntax.containers import elements, plain
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.counted_truth import difference_of
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused, SmallArray, array_of, as_float, is_number

Function = Callable[..., Any]


def outer(t: Tracer, a: Any, b: Any) -> Any:
    x, y = asarray(a).items.ravel(), asarray(b).items.ravel()
    return t.own(array_of([arrays.multiply(u, v) for u in x for v in y], (len(x), len(y))))


def dot(t: Tracer, a: Any, b: Any) -> Any:
    if is_number(a) or is_number(b):
        return elementwise(arrays.multiply, a, b)
    return arrays.dot(a, b)


def inner(t: Tracer, a: Any, b: Any) -> Any:
    if is_number(a) or is_number(b):
        return elementwise(arrays.multiply, a, b)
    x, y = asarray(a), asarray(b)
    return arrays.dot(x, SmallArray(y.items.T, y.kind))


def cross(t: Tracer, a: Any, b: Any) -> Any:
    x, y = asarray(a).items, asarray(b).items
    if x.shape != (3,) or y.shape != (3,):
        raise Refused(f"np.cross() of arrays of shapes {x.shape} and {y.shape}")

    def minor(i: int, j: int) -> Any:
        return scalars.binary(ast.Sub, arrays.multiply(x[i], y[j]), arrays.multiply(x[j], y[i]))

    return t.own(array_of([minor(1, 2), minor(2, 0), minor(0, 1)], (3,)))


def polyval(t: Tracer, coefficients: Any, x: Any) -> Any:
    result: Any = 0
    for c in elements(t, coefficients):
        result = elementwise(lambda r, v, k: arrays.add(arrays.multiply(r, v), k), result, x, c)
    return result


def diff(t: Tracer, value: Any, n: int = 1, axis: int = -1) -> Any:
    array = asarray(value)
    for _ in range(n):
        moved = np.moveaxis(array.items, axis, -1)
        upper, lower = SmallArray(moved[..., 1:], array.kind), SmallArray(moved[..., :-1], array.kind)  # fmt: skip
        step = elementwise(difference_of, upper, lower)
        array = SmallArray(np.moveaxis(step.items, -1, axis), step.kind)
    return array


def trapezoid(t: Tracer, y: Any, x: Any = None, dx: Any = 1) -> Any:
    values = list(asarray(y).items)
    if x is None:
        steps: list[Any] = [dx] * (len(values) - 1)
    else:
        steps = list(diff(t, x).items)
    means = [scalars.binary(ast.Div, arrays.add(a, b), 2) for a, b in itertools.pairwise(values)]  # fmt: skip
    return arrays.total(map(arrays.multiply, steps, means)) if means else as_float(0)


# ------------------------------------------------------------------------- shapes
def reshaped(f: Callable[..., Any]) -> Function:
    """A function that only rearranges elements: in new memory, or as a view."""

    def implementation(t: Tracer, value: Any, *args: Any, **kwargs: Any) -> Any:
        array = asarray(value)
        return arrays.copy_or_view(unpack(f(array.items, *args, **kwargs), array.kind), array)

    return implementation


def parted(f: Callable[..., Any]) -> Function:
    """A function that gives a list of views."""

    def implementation(t: Tracer, value: Any, *args: Any, **kwargs: Any) -> Any:
        array = asarray(value)
        try:
            parts = f(array.items, *map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
        except ValueError as error:
            raise Refused(str(error)) from None
        return t.own([SmallArray(p, array.kind) for p in parts])

    return implementation


def joined(f: Callable[..., Any]) -> Function:
    """A function that joins several arrays into a new one."""

    def implementation(t: Tracer, values: Any, *args: Any, **kwargs: Any) -> Any:
        parts = [asarray(v) for v in elements(t, values)]
        result = f([p.items for p in parts], *args, **kwargs)
        return t.own(array_of(list(result.ravel()), result.shape))

    return implementation


def reshape(t: Tracer, value: Any, *shape: Any, order: Any = "C") -> Any:
    array = asarray(value)
    size = shape[0] if len(shape) == 1 else shape
    return SmallArray(array.items.reshape(size, order=order), array.kind)


def astype(t: Tracer, value: Any, dtype: Any) -> Any:
    return t.own(copied(converted(asarray(value), dtype_kind(dtype), dtype)))


def flatten(t: Tracer, value: Any, order: Any = "C") -> Any:
    array = asarray(value)
    return t.own(SmallArray(array.items.flatten(order), array.kind))


def tolist(t: Tracer, value: Any) -> Any:
    def nested(items: Any) -> Any:
        return t.own([nested(v) for v in items]) if isinstance(items, np.ndarray) else items

    return nested(asarray(value).items)


def item(t: Tracer, value: Any, *index: Any) -> Any:
    return asarray(value).items.item(*index)
