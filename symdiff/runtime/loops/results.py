"""Results of programs with arrays and loops: where they go, and whether they are finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symdiff.runtime.loops.arguments import put
from symdiff.runtime.scalar.elementwise import Array


def put_in(place: Array | None, value: Any) -> Any:
    """A result, in its place if there is one."""
    return value if place is None else put(place, value)


def placed(found: Sequence[Any], out: Sequence[Array | None] | None) -> list[Any]:
    """Results where they are wanted."""
    return list(found) if out is None else list(map(put_in, out, found))


def overlap(values: Sequence[Any], out: Sequence[Array | None] | None) -> bool:
    """Whether results are written where an argument is."""
    return any(
        isinstance(v, np.ndarray) and o is not None and np.may_share_memory(v, o)
        for o in out or ()
        for v in values
    )


def is_finite(value: Any) -> bool:
    """Whether a number or all elements of an array are finite."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "f" or bool(np.isfinite(value).all())
    return not isinstance(value, float | np.floating) or math.isfinite(value)


def where_defined(value: Any, other: Any) -> Any:
    """A result, with another one for what is nan."""
    if not has_nan(value):
        return value
    return np.where(np.isnan(value), other, value) if isinstance(value, np.ndarray) else other


def has_nan(value: Any) -> bool:
    """Whether a number, or an element of an array, is nan."""
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())
