"""Results of a run: their leaves, and whether they are those of plain Python."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError
from symdiff.frontend.by_value.arrays import lifted, plain, true_kind
from symdiff.frontend.by_value.complex_scalars import PAIRS, double
from symdiff.frontend.by_value.reals import NUMBERS, Real, raw

TOLERANCE = 1e-9
"""Differences between the run and plain Python that roundings explain: sums in another order."""


def mapped(result: Any, leaf: Callable[[Any], Any]) -> Any:
    """A result with another value for each number and array in it."""
    if isinstance(result, dict):
        return {k: mapped(v, leaf) for k, v in result.items()}
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[mapped(v, leaf) for v in result])
    if type(result) in (list, tuple):
        return type(result)([mapped(v, leaf) for v in result])
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        names = [f.name for f in dataclasses.fields(result)]
        made = object.__new__(type(result))
        for name in names:
            object.__setattr__(made, name, mapped(getattr(result, name), leaf))
        return made
    if isinstance(result, np.ndarray) and true_kind(result) in "fiubcO":
        return leaf(lifted(result))
    if type(result) is Real or type(result) in NUMBERS or type(result) in PAIRS:
        return leaf(result)
    raise UnsupportedError(f"a result is of the class {type(result).__name__}, which is no number")


def leaves(result: Any) -> list[Any]:
    """The numbers and arrays of a result, in order."""
    found: list[Any] = []
    mapped(result, found.append)
    return found


def elements(leaf: Any) -> list[Any]:
    """The numbers of a leaf."""
    return list(plain(leaf).ravel()) if isinstance(leaf, np.ndarray) else [leaf]


def is_complex(leaf: Any) -> bool:
    """Whether a leaf is a complex number or an array of them."""
    return type(leaf) in PAIRS or (isinstance(leaf, np.ndarray) and leaf.dtype.kind == "c")


def parts(leaf: Any) -> list[Any]:
    """The real numbers of a leaf."""
    if not is_complex(leaf):
        return elements(leaf)
    return [part for z in elements(leaf) for part in (z.real, z.imag)]


def mapped_items(array: Any, item: Callable[[Any], str]) -> str:
    """An array as nested lists of texts."""
    if not array.ndim:
        return item(array[()])
    return (
        "[" + ", ".join(mapped_items(plain(array)[k, ...], item) for k in range(len(array))) + "]"
    )


def doubles(leaf: Any) -> Any:
    """A leaf in doubles."""
    if is_complex(leaf):
        found = np.array([complex(double(z)) for z in elements(leaf)]).reshape(np.shape(leaf))
        return found if isinstance(leaf, np.ndarray) else complex(found)
    if type(leaf) is Real:
        return float(leaf.v)
    if not isinstance(leaf, np.ndarray) or true_kind(leaf) != "O":
        return leaf if isinstance(leaf, np.ndarray) else float(leaf)
    return np.array([float(raw(x)) for x in elements(leaf)]).reshape(leaf.shape)


def agree(run: Any, python: Any) -> bool:
    """Whether the result of a run is that of plain Python."""
    if isinstance(python, dict):
        same = isinstance(run, dict) and len(run) == len(python)
        return bool(same and all(k in run and agree(run[k], v) for k, v in python.items()))
    if isinstance(python, (list, tuple)):
        same = isinstance(run, type(python)) and len(run) == len(python)
        return bool(same and all(map(agree, run, python)))
    if dataclasses.is_dataclass(python):
        names = [f.name for f in dataclasses.fields(python)]
        same = type(run) is type(python)
        return bool(same and all(agree(getattr(run, n), getattr(python, n)) for n in names))
    if isinstance(python, np.ndarray) and not python.ndim:
        python = python[()]
    if isinstance(python, np.ndarray):
        if not isinstance(run, np.ndarray) or run.shape != python.shape:
            return False
        if is_complex(run) is not is_complex(python):
            return False
        size = float(np.max(np.abs(python[np.isfinite(python)]), initial=0.0))
        return all(_close(raw(a), b, size) for a, b in zip(parts(run), parts(python), strict=True))
    if is_complex(run) and is_complex(python):
        return all(
            _close(raw(a), b, abs(python)) for a, b in zip(parts(run), parts(python), strict=True)
        )
    if type(run) is Real or type(run) in NUMBERS:
        return type(python) in NUMBERS and _close(raw(run), python, 0.0)
    return False


def alike(a: Any, b: Any) -> bool:
    """Whether two results nest alike."""
    arrays = [[isinstance(leaf, np.ndarray) for leaf in leaves(r)] for r in (a, b)]
    containers = isinstance(a, (list, tuple, dict)) or isinstance(b, (list, tuple, dict))
    return arrays[0] == arrays[1] and (not containers or type(a) is type(b))


def _close(a: Any, b: Any, size: float) -> bool:
    a, b = float(a), float(b)
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return bool(abs(a - b) <= TOLERANCE * max(abs(a), abs(b), size) + 1e-300)


def finite(result: Any) -> bool:
    """Whether all numbers of a result are finite."""
    return all(math.isfinite(raw(x)) for leaf in leaves(result) for x in parts(leaf))
