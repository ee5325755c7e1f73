"""Classes of SciPy's of which objects are made where a function is traced: our own in their place.

Before:  CubicSpline(x, y)(q), where y is traced
After:   an object of `splines.CubicSpline`, whose methods are inlined as those of a user's class are
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from symdiff.frontend.library import rotations, scientific, sparse_matrices, splines

CLASSES: dict[str, type] = (
    splines.CLASSES | rotations.CLASSES | sparse_matrices.CLASSES | scientific.CLASSES
)
"""By the dotted name of what is called to make an object."""


def find(function: Any) -> type | None:
    """The class that stands for one of SciPy's, or for a distribution that is called; None for all else."""
    module = getattr(function, "__module__", None) or type(function).__module__
    if not (isinstance(module, str) and module.startswith("scipy.")):
        return None
    loaded = tuple(m for m in _modules() if m in sys.modules)
    known, made = _by_identity(loaded).get(id(function), (None, None))
    return made if known is function else None


@functools.lru_cache(maxsize=1)
def _modules() -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.rpartition(".")[0] for name in CLASSES))


@functools.lru_cache(maxsize=16)
def _by_identity(loaded: tuple[str, ...]) -> dict[int, tuple[Any, type]]:
    found: dict[int, tuple[Any, type]] = {}
    for name, made in CLASSES.items():
        module, _, attribute = name.rpartition(".")
        if (
            module in loaded
            and (known := getattr(sys.modules[module], attribute, None)) is not None
        ):
            found[id(known)] = known, made
    return found
