"""NumPy's elementwise functions of truth values alone: NumPy computes them in formats of eight or
sixteen bits, such as float16, which traced programs do not have."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.frontend.arrays import small as arrays
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused, Selected, is_number, python_kind

Implementation = Callable[..., Any]

_UNCHANGED = ("floor", "ceil", "trunc", "absolute", "nan_to_num", "fix")
"""Functions that return truth values as they are."""
_LOGICAL: dict[str, Callable[[Any, Any], Any]] = {
    "add": scalars.disjunction, "multiply": scalars.conjunction,
    "maximum": scalars.disjunction, "minimum": scalars.conjunction,
    "fmax": scalars.disjunction, "fmin": scalars.conjunction,
}  # fmt: skip
_ROUNDED = ("round", "around")
"""Functions that are not universal functions, and compute in float16."""
_HINT = "make numbers of them first, such as np.where(a > 0, 1.0, 0.0)"


def concerned(function: Any) -> bool:
    """Whether NumPy's result for truth values is of another kind than for numbers."""
    if isinstance(function, np.ufunc):
        return _result(function) not in ("?", "d", "l") or function.__name__ in _MAPS
    return getattr(function, "__module__", "") == "numpy" and (
        function.__name__ in (*_ROUNDED, *_UNCHANGED)
    )


_MAPS = (*_UNCHANGED, *_LOGICAL)


def of(function: Any, usual: Implementation) -> Implementation:
    """The traced version of a function of NumPy, for truth values too."""
    count = function.nin if isinstance(function, np.ufunc) else 1
    name = function.__name__

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        given = args[:count]
        if len(given) < count or not all(map(_is_truth, given)):
            return usual(t, *args, **kwargs)
        if name in _UNCHANGED:
            return arrays.elementwise(lambda v: v, given[0])
        if name in _LOGICAL:
            return arrays.elementwise(_LOGICAL[name], *given)
        short = {"e": "float16", "b": "integers of 8 bits"}.get(_result(function), "")
        if short:
            raise Refused(f"np.{name}() of truth values, which NumPy computes in {short}", _HINT)
        raise Refused(f"np.{name}() of truth values", _HINT)

    return implementation


@functools.lru_cache(maxsize=512)
def _result(function: Any) -> str:
    """The code of the dtype of a function's result for truth values; "" if it takes none."""
    if not isinstance(function, np.ufunc):
        return "e" if function.__name__ in _ROUNDED else "?"
    if function.signature is not None:
        return "?"
    try:
        kinds = (np.dtype(bool),) * function.nin + (None,) * function.nout
        return str(function.resolve_dtypes(kinds)[-1].char)
    except TypeError:
        return ""


def _is_truth(value: Any) -> bool:
    """Whether a value is a truth value, or an array or sequence of them."""
    if is_number(value):
        return python_kind(value) == "b"
    if isinstance(value, Selected):
        value = value.items
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "b")
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_truth, value))
    return bool(getattr(value, "kind", "") == "b")
