"""What plain Python that is traced calls and the tracer computes: formulas whose constants are exact, and what
Python has no word for, such as a number without derivatives.

Before:  turns = exact(lambda z: ATAN(z) / PI())
After:   turns(z), in a traced function, is that formula of z
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symdiff.errors import MissingExtraError, optional
from symdiff.frontend.arrays.small import elementwise
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real, Refused
from symdiff.ir import Expr
from symdiff.ir.functions.marks import DETACHED

Function = Callable[..., Any]

TABLE: dict[Any, Function] = {}
"""Traced versions, by the function that is called."""


def traced(implementation: Function) -> Function:
    """A function that is traced by calling this one, with the tracer first."""

    def found(*args: Any) -> Any:
        raise NotImplementedError("it is traced")

    TABLE[found] = implementation
    return found


def traced_as(function: Any) -> Callable[[Function], Function]:
    """The same for a function that plain Python also has."""

    def register(implementation: Function) -> Function:
        TABLE[function] = implementation
        return implementation

    return register


@traced_as(optional)
def _optional(t: Tracer, module: str, what: str, extra: str) -> Any:
    try:
        return optional(module, what, extra)
    except MissingExtraError as error:
        raise Refused(error.message, error.hint) from None


def exact(formula: Callable[..., Expr]) -> Function:
    """A function that is traced as a formula of each element."""
    return traced(shorthand(formula))


def shorthand(formula: Callable[..., Expr]) -> Function:
    """The traced version of a formula."""

    def implementation(t: Tracer, /, *args: Any, **kwargs: Any) -> Any:
        no_keywords(kwargs)
        return elementwise(lambda *v: scalars.compose(formula, v), *args)

    return implementation


def no_keywords(kwargs: dict[str, Any]) -> None:
    """Refuse keyword arguments."""
    for name in kwargs:
        raise Refused(f"the keyword argument '{name}' is not supported here")


def stop_gradient(x: Any) -> Any:
    """A number or array without derivatives: itself, as a constant.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.symgrad(lambda x: x * symdiff.stop_gradient(x)).grad(3.0)
    3.0
    """
    return x


@traced_as(stop_gradient)
def trace_stop_gradient(t: Tracer, x: Any) -> Any:
    t.of_derivatives = True  # the rules for single points hold for functions without it
    return elementwise(lambda v: Real(DETACHED(v.expr), v.defined) if isinstance(v, Real) else v, x)


Row = tuple[Any, ...]
"""A function in terms of others, how many of its first arguments are arrays, and the position of
one that is an array of integers."""


def rows(module: str, arrays: int, *functions: Any, **others: Any) -> dict[str, Row]:
    """Functions of a module by dotted name: those of the same name here, and `others`."""
    named = {f.__name__: f for f in functions} | others
    return {f"{module}.{name}": (f, arrays) for name, f in named.items()}
