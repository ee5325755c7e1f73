"""Calls with arguments that are seldom given, in terms of the usual ones: plain Python that is traced like a user's.

Before:  np.interp(x, xp, fp, period=360.0)
After:   np.interp(x % 360.0, sorted xp with one more point at each end, ...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

ArrayLike = Any


def periodic_interp(
    x: Any, xp: ArrayLike, fp: ArrayLike, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    period = abs(period)
    at = np.asarray(xp) % period
    order = np.argsort(at)
    at, values = at[order], np.asarray(fp)[order]
    at = np.concatenate((at[-1:] - period, at, at[:1] + period))
    values = np.concatenate((values[-1:], values, values[:1]))
    return np.interp(x % period, at, values)


def open_meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: Any = "xy"
) -> Any:
    if not sparse:
        return np.meshgrid(*xi, indexing=indexing)
    found = []
    for k in range(len(xi)):
        place = 1 - k if indexing == "xy" and k < 2 and len(xi) > 1 else k
        shape = [1] * len(xi)
        shape[place] = len(xi[k])
        found.append(np.reshape(xi[k], tuple(shape)))
    return tuple(found)


def joined_as(f: Any) -> Any:
    """A join of arrays with a `dtype`."""

    def found(arrays: Any, *args: Any, dtype: Any = None, casting: str = "", **more: Any) -> Any:
        return f(arrays, *args, **more).astype(dtype)

    return found


def running_as(f: Any) -> Any:
    """A running sum or product of an array with a `dtype`."""

    def found(a: ArrayLike, axis: Any = None, dtype: Any = None) -> Any:
        return f(np.asarray(a).astype(dtype), axis=axis)

    return found


def linspace_and_step(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0,
) -> Any:  # fmt: skip
    found = np.linspace(start, stop, num, endpoint=endpoint)
    if dtype is not None:
        found = found.astype(dtype)
    return (found, (stop - start) / (num - 1 if endpoint else num)) if retstep else found


def array_of_dimensions(
    object: ArrayLike, dtype: Any = None, *, copy: bool = True, order: str = "K", ndmin: int = 0
) -> Any:
    found = np.array(object) if dtype is None else np.array(object, dtype=dtype)
    return np.reshape(found, (1,) * (ndmin - found.ndim) + found.shape)


def reshaped_by_columns(a: ArrayLike, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    return np.transpose(np.reshape(np.transpose(a), sizes[::-1]))


def raveled_by_columns(a: ArrayLike, order: str = "C") -> Any:
    return np.ravel(np.transpose(a))


def inserted_along(arr: ArrayLike, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert` at one place of an axis."""
    a = np.moveaxis(arr, axis, 0)
    k = obj if obj >= 0 else obj + a.shape[0]
    row = np.broadcast_to(np.asarray(values) * 1.0, a.shape[1:])
    return np.moveaxis(np.concatenate([a[:k], row[None], a[k:]]), 0, axis)


def running(function: Any, a: ArrayLike, axis: int = 0) -> Any:
    """`function.accumulate`, one element after the other."""
    along = np.moveaxis(a, axis, 0)
    found = along * 1.0
    for k in range(1, along.shape[0]):
        found[k] = function(found[k - 1], along[k])
    return np.moveaxis(found, 0, axis)


def reduced(function: Any, a: ArrayLike, axis: int = 0) -> Any:
    """`function.reduce`, one element after the other."""
    along = np.moveaxis(a, axis, 0)
    found = along[0] * 1.0
    for k in range(1, along.shape[0]):
        found = function(found, along[k])
    return found


def _given(*names: str, places: int = 99) -> Callable[..., bool]:
    """Whether one of some arguments is given: by name, or by more than `places` positional ones."""
    return lambda *args, **more: len(args) > places or any(n in more for n in names)


def _by_columns(*args: Any, **more: Any) -> bool:
    return more.get("order") in ("F", "A") or args[-1:] in (("F",), ("A",))


EXTENDED: dict[str, tuple[Any, ...]] = {
    "numpy.meshgrid": (open_meshgrid, _given("sparse", "copy")),
    "numpy.concat": (joined_as(np.concatenate), _given("dtype", "casting")),
    **{
        f"numpy.{f.__name__}": (joined_as(f), _given("dtype", "casting"))
        for f in (np.concatenate, np.stack, np.hstack, np.vstack)
    },
    **{
        f"numpy.{f.__name__}": (running_as(f), _given("dtype", places=2))
        for f in (np.cumsum, np.cumprod)
    },
    "numpy.linspace": (linspace_and_step, _given("retstep", "dtype", places=4)),
    "numpy.array": (array_of_dimensions, _given("ndmin")),
    "numpy.reshape": (reshaped_by_columns, _by_columns),
    "numpy.ravel": (raveled_by_columns, _by_columns),
}  # fmt: skip
"""Like `composed.EXTENDED`."""
