"""Arguments of a first call: smaller ones of the same kind, and how they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

SMALL = (5, 4, 3)
"""Sizes of axes that are tried where the given ones take too long, one more for each size."""
LARGE = 50_000
"""Elements from which smaller arrays are taken at once."""


def largest(values: Sequence[Any]) -> float:
    """The largest number among arguments, at least 1."""
    return max((float(np.max(np.abs(v), initial=1.0)) for v in values), default=1.0)


def is_finite(value: Any) -> bool:
    try:
        a = np.asarray(value)
        return a.dtype.kind in "biuf" and bool(np.isfinite(a).all())
    except (TypeError, ValueError):
        return False


def smaller(values: Sequence[Any]) -> Any:
    """The arguments, then with fewer elements along each axis; equal sizes stay equal."""
    arrays = [np.asarray(v) for v in values]
    sizes = sorted({n for a in arrays for n in a.shape})
    cut: dict[int, int] = {}
    if sum(a.size for a in arrays) <= LARGE:
        yield list(values)
        cut = {n: n for n in sizes}
    for most in SMALL:
        before, cut = cut, {n: min(n, most + k) for k, n in enumerate(sizes)}
        if before == cut:
            continue
        yield [
            a[tuple(slice(cut[n]) for n in a.shape)] if a.ndim else v
            for v, a in zip(values, arrays, strict=True)
        ]


def signed(value: Any) -> bool:
    a = np.asarray(value)
    return a.dtype.kind == "f" and bool(np.any((a == 0) & np.signbit(a)))


def described(value: Any) -> str:
    shape = np.shape(value) if isinstance(value, np.ndarray | list | tuple) else None
    if isinstance(value, np.ndarray):
        return f"an array of the shape {shape}"
    return f"a {type(value).__name__}"


def short(value: Any) -> str:
    text = np.array2string(np.asarray(value), threshold=6, precision=17, separator=", ")
    return text.replace("\n", "")
