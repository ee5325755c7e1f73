"""Replacements of classes of SciPy's whose objects a traced function creates.

Before:  CubicSpline(x, y)(q), where y is traced
After:   an object of `splines.CubicSpline`, whose methods are inlined like those of a user's class
"""

from __future__ import annotations

import sys
from typing import Any

from symdiff.frontend.library import rotations, scientific, sparse_matrices, splines

CLASSES: dict[str, type] = (
    splines.CLASSES | rotations.CLASSES | sparse_matrices.CLASSES | scientific.CLASSES
)
"""The replacements, by the dotted name of SciPy's class."""


def find(function: Any) -> type | None:
    """The class that replaces one of SciPy's, or a distribution that is called; None for all else."""
    module = getattr(function, "__module__", None) or type(function).__module__
    if not (isinstance(module, str) and module.startswith("scipy.")):
        return None
    for name, made in CLASSES.items():
        owner, _, attribute = name.rpartition(".")
        if getattr(sys.modules.get(owner), attribute, None) is function:
            return made
    return None
