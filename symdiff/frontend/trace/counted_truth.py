"""Truth values as numbers: Python's are integers, NumPy's are not."""

from __future__ import annotations

import ast
from typing import Any

from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.values import Cond, as_real


def of_truth(value: Any) -> Any:
    """A truth value as the integer that Python takes it for; any other number as it is."""
    if isinstance(value, bool):
        return int(value)
    return scalars.integral(as_real(value)) if isinstance(value, Cond) else value


def difference_of(a: Any, b: Any) -> Any:
    """What `np.diff` takes as the difference of two elements: whether truth values differ."""
    if isinstance(a, (bool, Cond)) and isinstance(b, (bool, Cond)):
        return scalars.exclusive(a, b)
    return scalars.binary(ast.Sub, a, b)
