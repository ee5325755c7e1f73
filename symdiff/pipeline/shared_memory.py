"""Arguments of a call that share memory, of a function that changes one of them.

Before:  def f(a, b): a[0] = 5.0; return np.sum(a*b)     called as f(x, x)
After:   a program that is captured with both names bound to one array

What shares memory otherwise (views that overlap, an array that the function has captured) is refused.
Functions that change no argument are not checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.frontend import Captures, Shapes, SymArray
from symdiff.runtime.scalar.elementwise import ArgumentError

MOST_WORK = 100_000
"""What NumPy may try to find an element that two arrays share."""
Shared = Mapping[str, str]
"""Names of arguments, and "=" with the name of an earlier one that is the same object, or "~" if it is
another array of the same elements."""


def shared_in_call(
    changed: Collection[str], shapes: Shapes, values: Sequence[Any], mapped: Sequence[bool],
    captures: Captures, derived: bool,
) -> Shared:  # fmt: skip
    """Which arguments of a call are the same array, of a function that changes some.

    Parameters
    ----------
    changed : the arguments that it changes.
    mapped : the parameters that receive a row.
    captures : what the function was captured with.
    derived : whether a derivative is called.

    Raises
    ------
    ArgumentError : where it cannot be called with these.
    """
    must_not_be_captured(changed, shapes, values, captures)
    found = shared(changed, shapes, values)
    rows = dict(zip(shapes, mapped, strict=False))
    for name, first in ((n, s[1:]) for n, s in found.items()):
        if derived or rows.get(name) != rows.get(first):
            why = "there is no derivative by one of them alone" if derived else "only one is mapped"
            raise ArgumentError(
                f"arguments {first} and {name} are one array, which the function changes: {why}",
                hint=f"pass a copy: {name}.copy(), or write a function of one argument",
            )
    return found


def shared(changed: Collection[str], names: Iterable[str], values: Sequence[Any]) -> Shared:
    """Which arguments are the same array as one before, where the function changes one of the two.

    Raises
    ------
    ArgumentError : for arrays that share a part of their memory.
    """
    found: dict[str, str] = {}
    given = [(n, v) for n, v in zip(names, values, strict=False) if _has_memory(v)]
    for k, (name, value) in enumerate(given):
        for first, other in given[:k]:
            if not {first, name} & {*changed} or not _share(other, value):
                continue
            if not _same_elements(other, value) or _without_axes(value):
                raise ArgumentError(
                    f"arguments {first} and {name} share memory, and the function changes one of them",
                    hint=f"pass a copy: {name}.copy()",
                )
            kind = "=" if value is other else "~"
            found.setdefault(name, kind + found.get(first, "=" + first)[1:])
    return found


def must_not_be_captured(
    changed: Collection[str], names: Iterable[str], values: Sequence[Any], captures: Captures
) -> None:
    """Refuse arguments that are changed and share memory with an array that the function captured."""
    held = captures.arrays()
    for name, value in zip(names, values, strict=False) if held else ():
        if name in changed and isinstance(value, np.ndarray):
            if any(_share(value, other) for other in held):
                raise ArgumentError(
                    f"argument {name} shares memory with an array that the function reads from outside, and the "
                    "function changes it",
                    hint=f"pass a copy: {name}.copy()",
                )


def each_once(values: Sequence[Any], made: Callable[[Any], Any]) -> list[Any]:
    """Maps each value; arrays with the same elements remain arrays with the same elements."""
    found: list[Any] = []
    for k, value in enumerate(values):
        arrays = isinstance(value, np.ndarray)
        twin = next(
            (j for j in range(k) if arrays and isinstance(values[j], np.ndarray)
             and _same_elements(values[j], value) and _share(values[j], value)),
            None,
        )  # fmt: skip
        if twin is None:
            found.append(made(value))
        else:
            found.append(found[twin] if value is values[twin] else found[twin][...])
    return found


_ON_DEVICE = "__cuda_array_interface__"


def _has_memory(value: Any) -> bool:
    return isinstance(value, (np.ndarray, SymArray)) or hasattr(value, _ON_DEVICE)


def _without_axes(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.ndim


def _same_elements(a: Any, b: Any) -> bool:
    """Whether two arrays that share memory have the same elements at the same places."""
    if isinstance(a, SymArray) or isinstance(b, SymArray):
        return a is b or (a.sides is b.sides is None and (a.where, a.shape) == (b.where, b.shape))
    return _layout(a) == _layout(b)


def _layout(value: Any) -> tuple[Any, ...]:
    """Where the elements of an array lie: an address, the shape, the strides and the dtype."""
    if isinstance(value, np.ndarray):
        return value.ctypes.data, value.shape, value.strides, value.dtype
    held = getattr(value, _ON_DEVICE)
    dtype, shape = np.dtype(held["typestr"]), tuple(held["shape"])
    strides = held.get("strides")
    if strides is None:
        strides = [dtype.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return held["data"][0], shape, tuple(strides), dtype


def _share(a: Any, b: Any) -> bool:
    """Whether two arrays share an element; also where that takes too much work to see."""
    if isinstance(a, SymArray) and isinstance(b, SymArray):
        return a.memory is b.memory
    if isinstance(a, SymArray) or isinstance(b, SymArray):
        return False
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        (low, high), (first, last) = _bounds(a), _bounds(b)
        return type(a) is type(b) and low < last and first < high
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=MOST_WORK))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _bounds(value: Any) -> tuple[int, int]:
    """The stretch of memory in which the elements of an array lie."""
    data, shape, strides, dtype = _layout(value)
    reach = [(n - 1) * step for n, step in zip(shape, strides, strict=True)]
    if not all(shape):
        return data, data
    low = data + sum(r for r in reach if r < 0)
    return low, data + sum(r for r in reach if r > 0) + dtype.itemsize
