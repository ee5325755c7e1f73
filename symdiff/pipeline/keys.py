"""Keys of programs: the arguments of a call that a program was made for; programs that are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symdiff.errors import UnsupportedError
from symdiff.frontend import Shapes
from symdiff.ir.program import Program


def shape_key(shapes: Shapes | None) -> Any:
    """A hashable stand-in for the shapes of arguments."""
    return None if shapes is None else tuple(shapes.items())


def static_key(static: Mapping[str, Any]) -> Any:
    """A hashable stand-in for the static arguments of a call; those that differ in type, or in
    the sign of a zero, are not the same."""
    return tuple((k, _hashable(v)) for k, v in static.items())


def _hashable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), tuple(_hashable(v) for v in value)
    if isinstance(value, dict):
        return type(value), tuple((_hashable(k), _hashable(v)) for k, v in value.items())
    if isinstance(value, (set, frozenset)):
        return type(value), frozenset(_hashable(v) for v in value)
    if isinstance(value, float):
        return type(value), value.hex()
    if isinstance(value, complex):
        return type(value), value.real.hex(), value.imag.hex()
    try:
        hash(value)
    except TypeError as e:
        raise UnsupportedError(
            f"a static argument of type {type(value).__name__} is not hashable"
        ) from e
    return type(value), value


def alike(a: Program, b: Program) -> bool:
    """Whether two programs are the same function."""
    if (a.params, a.outputs, a.domain, a.assumptions) != (b.params, b.outputs, b.domain, b.assumptions):  # fmt: skip
        return False
    if (a.of_derivatives, a.own) != (b.of_derivatives, b.own):
        return False
    return repr(a.tree) == repr(b.tree) and (a.kinds, a.slopes) == (b.kinds, b.slopes)
