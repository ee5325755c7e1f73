"""Comparing results with those of plain Python, and derivatives with its differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np


def alike(
    got: Any, want: Any, rtol: float = 1e-14, atol: float = 0.0, types: str = "exact"
) -> None:
    """The same containers, shapes and values. `types` of numbers are "exact", but that a number of NumPy in
    floating point is Python's; of the same "kind", as arrays of the same dtype; or "any"."""
    if isinstance(want, dict):
        assert list(got) == list(want)
    if dataclasses.is_dataclass(want) or isinstance(want, (dict, list, tuple)):
        assert type(got) is type(want)
        got, want = _parts(got), _parts(want)
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            alike(a, b, rtol, atol, types)
        return
    if isinstance(want, str):
        assert got == want
        return
    dtype = np.asarray(want).dtype
    assert np.shape(got) == np.shape(want)
    if types != "any" and np.ndim(want):
        assert type(got) is type(want) and got.dtype == dtype
    elif types != "any":
        assert np.asarray(got).dtype.kind == dtype.kind
        assert types == "kind" or isinstance(got, float if dtype.kind == "f" else type(want))
    if dtype.kind == "f" or types == "any":
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
    else:
        assert np.array_equal(got, want)


def _parts(v: Any) -> list[Any]:
    if dataclasses.is_dataclass(v):
        return [getattr(v, f.name) for f in dataclasses.fields(v)]
    return list(v.values() if isinstance(v, dict) else v)


def differences(
    f: Callable[..., Any], args: tuple[Any, ...], k: int = 0, step: float = 2.0**-11
) -> Any:
    """The Jacobian by an argument from extrapolated differences: the shape of the result, then that of the argument."""

    def moved(place: tuple[int, ...], h: float) -> Any:
        values = [np.copy(a) for a in args]
        values[k] = values[k].astype(float)
        values[k][place] += h
        return np.asarray(f(*(v if v.ndim else v.item() for v in values)))

    found = np.zeros(np.shape(f(*map(np.copy, args))) + np.shape(args[k]))
    for place in np.ndindex(np.shape(args[k])):
        rough, fine = ((moved(place, h) - moved(place, -h)) / (2 * h) for h in (step, step / 2))
        found[(..., *place)] = (4 * fine - rough) / 3
    return found
