"""Comparing results with those of plain Python."""

from __future__ import annotations

import dataclasses
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
