"""Calls with float32 and float16: results have the dtypes that NumPy gives them.

Kernels compute in the dtype of the arguments. Where a program makes float64 of them
(`np.asarray(x, dtype=float)`, a sum with an array of float64, `float(x[0])`), the plain function is
run once for each kind and shape of arguments, which says the dtype of each result. Unless kernels
make the same of these arguments, all is computed in float64, and narrower results are rounded to
theirs. Derivatives, and the value returned with them, have the dtype of the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.api import whole_arguments
from symdiff.api.firstcalls import in_python, unwrapped
from symdiff.api.whole_arguments import leaves_of_result, matched
from symdiff.pipeline.shared_memory import each_once
from symdiff.process.progress import compiling

Function = Any
"""A `SymbolicFunction`, which imports this."""

_NARROW = (np.dtype(np.float32), np.dtype(np.float16))
_AS_COMPUTED = object()
"""The dtypes of results that are those which kernels give them."""
_MOST = 1024
"""Kinds and shapes of arguments that are remembered for a function."""


def kinds_matter(self: Function, real: Sequence[Any]) -> bool:
    """Whether results may be of other kinds than what kernels make of these arguments."""
    return whole_arguments.involved(self, real) or _involved(self, real)


def in_kinds_of_python(
    self: Function, real: tuple[Any, ...], static: Mapping[str, Any], key: Any
) -> Any:
    """What a call with integers or narrow floats returns; NotImplemented if that is what kernels
    make of these arguments, or if plain Python does not say.

    Raises
    ------
    SymdiffError : where the function is refused, or its domain is left.
    """
    if whole_arguments.involved(self, real):
        found = whole_arguments.result(self, real, static, tuple(each_once(real, _wide)), _chosen)
        if found is not NotImplemented:
            return found
    return _result(self, real, static, key) if _involved(self, real) else NotImplemented


def _involved(self: Function, real: Sequence[Any]) -> bool:
    """Whether results of a call may be wider than its arguments."""
    if not any(isinstance(v, (np.ndarray, np.generic)) and v.dtype in _NARROW for v in real):
        return False
    if self._source.path or self._options.dtype or self._options.target != "cpu":
        return False
    return self._expression is None and not self._source.captures.foreign


def _result(self: Function, real: tuple[Any, ...], static: Mapping[str, Any], key: Any) -> Any:
    """What a call returns if a result has another dtype than kernels give it."""
    kinds = key, tuple(map(_kind, real))
    dtypes = self._dtypes.get(kinds)
    if dtypes is None:
        dtypes = _seen(self, real, static)
        if len(self._dtypes) >= _MOST:  # as sizes may be new in every call
            self._dtypes.clear()
        self._dtypes[kinds] = dtypes
    if dtypes is _AS_COMPUTED:
        return NotImplemented
    args, kwargs = self._source.parameters.arguments(
        {**static, **dict(zip(self._source.parameters.real, each_once(real, _wide), strict=True))}
    )
    return _in_dtypes(dtypes, self(*args, **kwargs))


def _kind(value: Any) -> Any:
    """What decides the dtypes of results, and how many there are: the dtype and the shape."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.char, np.shape(value), isinstance(value, np.ndarray)
    return type(value)


def _seen(self: Function, real: Sequence[Any], static: Mapping[str, Any]) -> Any:
    """The dtypes of results, nested as these; None for those that are not narrow floats."""
    from symdiff.pipeline.validation.firstcall import sampled

    if unwrapped(self) is None:
        return _AS_COMPUTED
    found = sampled(real, lambda values: in_python(self, values, static))
    dtypes = matched(_narrow, found)
    leaves = list(leaves_of_result(found))
    if not any(map(_is_float, leaves)):
        return _AS_COMPUTED
    if any(_is_float(v) and _narrow(v) is None for v in leaves):
        return dtypes
    with compiling(self.__name__):
        ours = list(leaves_of_result(self._run(tuple(real), static, None)))
    meant = list(leaves_of_result(dtypes))
    if len(ours) == len(meant):
        same = all(d is None or _narrow(v) == d for d, v in zip(meant, ours, strict=True))
    else:  # it was seen for smaller arguments
        same = set(map(_narrow, ours)) == set(meant)
    return _AS_COMPUTED if same else dtypes


def _in_dtypes(dtypes: Any, result: Any) -> Any:
    """A result in its dtypes; where those are of smaller arguments, which nest otherwise, in the
    one dtype that all of them have."""
    try:
        return matched(_rounded, dtypes, result)
    except (AttributeError, LookupError, TypeError, ValueError):
        each = set(leaves_of_result(dtypes))
        if len(each) != 1:
            return result
        (dtype,) = each
        return matched(lambda value: _rounded(dtype, value), result)


def _is_float(value: Any) -> bool:
    dtype = getattr(value, "dtype", None)
    return isinstance(value, float) if dtype is None else dtype.kind == "f"


def _narrow(value: Any) -> np.dtype[Any] | None:
    """The dtype of a number or array of float32 or float16."""
    dtype = getattr(value, "dtype", None)
    return dtype if dtype in _NARROW else None


def _chosen(plain: Any, ours: Any) -> Any:
    """The integers of the one, and the floats of the other, in its dtype."""
    return plain if whole_arguments.is_whole(plain) else _rounded(_narrow(plain), ours)


def _wide(value: Any) -> Any:
    """An argument in float64, if it is narrower."""
    if _narrow(value) is None:
        return value
    return value.astype(np.float64) if isinstance(value, np.ndarray) else np.float64(value)


def _rounded(dtype: np.dtype[Any] | None, value: Any) -> Any:
    """A result in its dtype."""
    if dtype is None:
        return value
    return value.astype(dtype) if isinstance(value, np.ndarray) else dtype.type(value)
