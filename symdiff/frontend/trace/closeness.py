"""Whether numbers agree up to a tolerance, as `math.isclose` and `np.isclose` define it."""

from __future__ import annotations

import ast
from typing import Any

from symdiff import ir
from symdiff.frontend.trace import scalars
from symdiff.ir import functions


def isclose(a: Any, b: Any, relative: Any, absolute: Any, symmetric: bool) -> Any:
    """Whether two numbers agree, as math (symmetric) or NumPy defines it."""
    magnitude = _absolute(b)
    if symmetric:
        magnitude = scalars.apply(functions.MAXIMUM, _absolute(a), magnitude)
    scaled = scalars.binary(ast.Mult, relative, magnitude)
    if symmetric:
        bound = scalars.apply(functions.MAXIMUM, scaled, absolute)
    else:
        bound = scalars.binary(ast.Add, absolute, scaled)
    return scalars.compare(ast.LtE, _absolute(scalars.binary(ast.Sub, a, b)), bound)


def _absolute(value: Any) -> Any:
    return scalars.apply(ir.ABS, value)
