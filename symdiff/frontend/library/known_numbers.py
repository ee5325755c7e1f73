"""NumPy's and SciPy's functions of known numbers, where they have no traced version: nodes of
quadratures, windows, coefficients. They are called, as in plain Python."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real, SmallArray

_MODULES = ("numpy.polynomial", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg", "scipy.signal.windows")  # fmt: skip
"""Packages whose functions depend on their arguments only, and change none of them."""
_OF_NUMPY = frozenset((
    "hanning", "hamming", "blackman", "bartlett", "kaiser", "broadcast_shapes", "roots", "poly", "polydiv",
    "histogram_bin_edges", "trim_zeros", "mask_indices", "setxor1d", "fromfunction", "nanmedian",
    "nanpercentile", "nanquantile", "nancumprod", "nanargmax", "nanargmin", "resize",
))  # fmt: skip
LARGEST = 10_000
"""The most elements of the arguments, and of the results."""


def called(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function whose arguments are all known; else, and if the result is not an
    array or number or Python raises, NotImplemented."""
    if not _depends_on_arguments_only(function):
        return NotImplemented
    try:
        given = [_known(v) for v in args]
        named = {k: _known(v) for k, v in kwargs.items()}
    except _UnknownError:
        return NotImplemented
    try:
        with np.errstate(all="ignore"):
            found = function(*given, **named)
    except (ArithmeticError, TypeError, ValueError, np.linalg.LinAlgError):
        return NotImplemented
    return _traced(t, found) if _is_plain(found) else NotImplemented


class _UnknownError(Exception):
    """A value is unknown when traced."""


def _depends_on_arguments_only(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__name__", "")
    if isinstance(function, type) or not callable(function):
        return False
    if isinstance(function, np.ufunc):
        return getattr(sys.modules.get("scipy.special"), name, None) is function
    if module == "numpy":
        return name in _OF_NUMPY
    return any(module == m or module.startswith(m + ".") for m in _MODULES)


def _known(value: Any) -> Any:
    """A value as a Python object."""
    if isinstance(value, Real):
        if (q := ir.rational(value.expr)) is None:
            raise _UnknownError
        return float(q)
    if isinstance(value, SmallArray):
        if value.items.size > LARGEST:
            raise _UnknownError
        found = np.empty(value.items.shape, {"f": float, "i": int, "b": bool}[value.kind])
        for place, v in np.ndenumerate(value.items):
            found[place] = _known(v)
        return found
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(_known, value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise _UnknownError


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    if isinstance(value, np.ndarray):
        return value.dtype in (np.float64, np.int64, np.bool_) and value.size <= LARGEST
    return isinstance(value, (bool, int, float, np.bool_, np.int64, np.float64))


def _traced(t: Tracer, made: Any) -> Any:
    """A result of Python as a new traced value."""
    if isinstance(made, (tuple, list)):
        parts = [_traced(t, v) for v in made]
        if isinstance(made, list):
            return t.own(parts)
        return type(made)(*parts) if hasattr(made, "_fields") else tuple(parts)
    return t.call(np.array, (t.wrap(made),), {}) if isinstance(made, np.ndarray) else t.wrap(made)
