"""Functions of NumPy and SciPy in terms of others, as the compiler has them: values by the libraries, slopes by those.

Functions of numbers are formulas of the IR; functions of arrays are plain Python that the compiler traces, and that
runs here with the names of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.by_value.arrays import lifted, objects, true_kind
from symdiff.frontend.by_value.complex_scalars import Complex, double, with_names, with_value
from symdiff.frontend.by_value.elementary import FUNCTIONS, library
from symdiff.frontend.by_value.local_slopes import on_scalars
from symdiff.frontend.by_value.reals import Real
from symdiff.frontend.library import composed, rearranged
from symdiff.frontend.library.scipy import matrix_functions, scientific
from symdiff.ir.functions.composites import COMPOSITES

_LEFT = frozenset(("compress", "choose", "sqrtm", "logm"))
"""Functions that NumPy's own code computes of objects, or that need more than plain Python."""


def _original(dotted: str) -> Any:
    """The function of a name; None if it is not installed, or not of the modules whose names runs redirect."""
    module, _, name = dotted.rpartition(".")
    if module not in ("numpy", "numpy.linalg", "scipy.linalg", "scipy.special") or name in _LEFT:
        return None
    return getattr(library(module), name, None)


def _of_numbers(original: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers, by a formula of the IR."""

    def found(*args: Any) -> Any:
        value = original(*map(double, args))
        if not any(type(a) is Real for a in args):
            return value
        names = [ir.var(f"a{k}") if type(a) is Real else ir.const(a) for k, a in enumerate(args)]
        values = {n: a for n, a in zip(names, args, strict=True) if type(a) is Real}
        return with_value(value, on_scalars(formula(*names), values))

    return found


def doubled(x: Any) -> Any:
    """An argument in doubles."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(doubled, x))
    if not isinstance(x, np.ndarray):
        return double(x)
    if true_kind(x) != "O":
        return x
    items = [double(v) for v in objects(x).flat]
    kind = complex if any(isinstance(v, complex) for v in items) else float
    return np.array(items, kind).reshape(x.shape)


def valued(value: Any, found: Any) -> Any:
    """What a composed function gives, with the doubles of the library."""
    if isinstance(value, (tuple, list)):
        parts = [valued(v, f) for v, f in zip(value, found, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, np.ndarray) and value.ndim:
        if value.dtype.kind not in "fc":
            return value
        items = np.empty(value.shape, object)
        for at in np.ndindex(*value.shape):
            items[at] = value[at]
        return lifted(np.frompyfunc(with_value, 2, 1)(items, objects(found)))
    if isinstance(value, (int, np.integer, str, type(None))):
        return value
    plain = found[()] if isinstance(found, np.ndarray) else found
    return with_value(value, plain) if type(plain) in (Real, Complex) else value


def _of_arrays(original: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    """A function of arrays, by plain Python."""

    def found(*args: Any, **kwargs: Any) -> Any:
        value = original(*map(doubled, args), **{k: doubled(v) for k, v in kwargs.items()})
        return valued(value, formula(*args, **kwargs))

    return found


def fill(numpy: Any) -> None:
    """Add them to the table, unless it has them.

    Parameters
    ----------
    numpy : what NumPy is called during a run.
    """
    for dotted, formula in COMPOSITES.items():
        original = _original(dotted)
        if original is not None and original not in FUNCTIONS:
            FUNCTIONS[original] = _of_numbers(original, formula)
    for module in (rearranged, composed, scientific, matrix_functions):
        scope = with_names((module,), np=numpy)
        for dotted, (function, *_) in module.TABLE.items():
            original = _original(dotted)
            if (
                original is not None
                and original not in FUNCTIONS
                and not isinstance(original, type)
            ):
                FUNCTIONS[original] = _of_arrays(original, scope.get(function.__name__, function))
    for alias, name in (composed.ALIASES | matrix_functions.ALIASES).items():
        original, function = _original(alias), _original(name)
        if original is not None and original not in FUNCTIONS:
            FUNCTIONS[original] = FUNCTIONS.get(function, function)
