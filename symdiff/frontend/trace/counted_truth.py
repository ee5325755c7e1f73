"""Truth values as numbers: Python's are integers, NumPy's are not."""

from __future__ import annotations

import ast
from typing import Any

from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.values import Cond, Mixed, Refused, Undecided, as_real, of_integers


def of_truth(value: Any) -> Any:
    """A truth value as Python's integer; any other number unchanged."""
    if isinstance(value, bool):
        return int(value)
    return scalars.integral(as_real(value)) if isinstance(value, Cond) else value


def of_a_kind(t: Any, value: Any) -> Any:
    """A returned value of one kind, refused if it is an integer or a truth value depending on the
    arguments. For numbers that may be Python's it is an integer, and calls with NumPy's are
    refused."""
    if of_integers.get() or not isinstance(value, (Undecided, Mixed)):
        return value
    if isinstance(value, Mixed):
        raise Refused(
            "a truth value on one path and an integer on another", "return int(...) or bool(...)"
        )
    message = (
        "a product of truth values, which is an integer of Python's and a truth value of NumPy's"
    )
    hint = "write (a > 0) & (b > 0), or int(a > 0) * int(b > 0)"
    if t.of_numpy():
        raise Refused(message, hint)
    t.of_python = t.of_python or t.error(message, hint)
    return scalars.integral(as_real(value))


def absolute_of(value: Cond) -> Cond:
    """`abs` of an unknown truth value: NumPy's is unchanged, Python's becomes an integer."""
    return Undecided(value.expr, value.defined)


def difference_of(a: Any, b: Any) -> Any:
    """The difference of two elements in `np.diff`: whether truth values differ."""
    if isinstance(a, (bool, Cond)) and isinstance(b, (bool, Cond)):
        return scalars.exclusive(a, b)
    return scalars.binary(ast.Sub, a, b)
