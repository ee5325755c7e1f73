"""What is known of SciPy besides elementary functions, for `frontend.library.doors`."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from symdiff.frontend import captures
from symdiff.frontend.library.doors import Library
from symdiff.frontend.library.scipy import (
    filters,
    implicit,
    located,
    matrix_functions,
    minima,
    ode,
    riccati,
    rotations,
    scientific,
    sparse_matrices,
    special_orders,
    splines,
)  # fmt: skip
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Refused


def _called(t: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of a distribution, a distribution with its parameters, or an interpolant of Python's."""
    if type(function) is MethodType:
        if (traced := located.find(function)) is not None:
            return traced(t, args, kwargs)
        method = scientific.find(function)
        return NotImplemented if method is None else t.inline(method, args, kwargs)
    if (made := located.frozen(function, args, kwargs)) is not None:
        return made
    if (interpolant := scientific.interpolant(function)) is None:
        return NotImplemented
    of_parts, names = interpolant
    parts = [getattr(function, name) for name in names]
    for name, part in zip(names, parts, strict=True):
        captures.attribute(function, name, part)
    return t.inline(of_parts, (*map(t.wrap, parts), *args), kwargs)


def _adapted(name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
    """A function of matrices: `check_finite` has no effect, `overwrite_...` is refused."""
    if name.rpartition(".")[0] != "scipy.linalg":
        return usual

    def implementation(t: Tracer, *args: Any, check_finite: bool = True, **kwargs: Any) -> Any:
        for key in [k for k in kwargs if k.startswith("overwrite_")]:
            if kwargs.pop(key):
                raise Refused(f"{name}() may write into its arguments with {key}")
        return usual(t, *args, **kwargs)

    return implementation


_TABLES = (
    filters, implicit, matrix_functions, minima, ode, riccati, scientific, sparse_matrices,
    special_orders, splines,
)  # fmt: skip

LIBRARY = Library(
    functions={name: row for module in _TABLES for name, row in module.TABLE.items()},
    aliases=matrix_functions.ALIASES | {"scipy.integrate.trapezoid": "numpy.trapezoid"},
    classes=splines.CLASSES | rotations.CLASSES | sparse_matrices.CLASSES | scientific.CLASSES,
    called=_called,
    adapted=_adapted,
)
