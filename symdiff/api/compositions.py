"""Derivatives of functions built from the user's: of holomorphic functions, and with auxiliary results.

They are plain Python, which is traced like a user's own. By the equations of Cauchy and Riemann, the
derivative of a holomorphic function u + 1j*v is du/dx - 1j*du/dy, the gradient of its real part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from symdiff.api.firstcalls import unwrapped
from symdiff.api.function import SymbolicFunction, symbolic
from symdiff.errors import UnsupportedError
from symdiff.frontend import runs_when_traced
from symdiff.frontend.signature import parameter_location, python_function

Plain = Callable[..., Any]


def made(f: SymbolicFunction, composed: Plain) -> SymbolicFunction:
    """A function that is composed of another one, with its parameters and options."""
    functools.update_wrapper(composed, f, updated=())
    return symbolic(composed, f._options, f._source.parameters.static)


def plain(f: SymbolicFunction) -> Plain:
    """What is called where the function is a part of another one."""
    of_user = f._parent is None and f._expression is None
    found: Plain = getattr(f, "__wrapped__", f) if of_user else f
    return found


def first_result(f: SymbolicFunction) -> SymbolicFunction:
    """The first of two results, which is differentiated."""
    inner, refused = plain(f), _refusing(f, "has_aux=True, but the result is not a pair")

    def of_first_result(*args: Any, **kwargs: Any) -> Any:
        value = inner(*args, **kwargs)
        refused(isinstance(value, tuple) and len(value) == 2)
        return value[0]

    return made(f, of_first_result)


def real_part(f: SymbolicFunction) -> SymbolicFunction:
    """The real part of a function that is complex, of parameters that are."""
    inner, names, by = plain(f), f._source.parameters.names, f._wrt()
    text = "holomorphic=True, but {} is not a complex number or array"
    places = [
        (k, name, _refusing(f, text.format(f"argument {name}")))
        for k, name in enumerate(names) if name in by
    ]  # fmt: skip
    refused = _refusing(f, text.format("the result"))

    def of_real_part(*args: Any, **kwargs: Any) -> Any:
        for k, name, wrong in places:
            wrong(np.iscomplexobj(args[k] if k < len(args) else kwargs[name]))
        value = inner(*args, **kwargs)
        refused(np.iscomplexobj(value))
        return np.real(value)

    return made(f, of_real_part)


def _refusing(f: SymbolicFunction, message: str) -> Callable[[bool], None]:
    """What refuses a function, where it stands, unless something holds that is known when it is
    traced."""

    @runs_when_traced
    def refuse_unless(holds: bool) -> None:
        if not holds:
            fun = unwrapped(f)
            place = None if fun is None else parameter_location(python_function(fun))
            raise UnsupportedError(message, place, HINTS[message.split("=", maxsplit=1)[0]])

    return refuse_unless


HINTS = {
    "holomorphic": "choose the complex parameters with wrt=; real ones have jacobian",
    "has_aux": "return (value, aux)",
}


def differentiated(f: SymbolicFunction, holomorphic: bool, has_aux: bool) -> SymbolicFunction:
    """The function with one real result whose gradient is requested."""
    found = first_result(f) if has_aux else f
    return real_part(found) if holomorphic else found


def grad_and_aux(f: SymbolicFunction, holomorphic: bool) -> SymbolicFunction:
    """(gradient of the first result, second result)."""
    inner, slope = plain(f), differentiated(f, holomorphic, True).grad

    def both(*args: Any, **kwargs: Any) -> Any:
        return slope(*args, **kwargs), inner(*args, **kwargs)[1]

    return made(f, both)


def value_and_grad(f: SymbolicFunction, holomorphic: bool, has_aux: bool) -> SymbolicFunction:
    """(results, gradient of the one that is differentiated)."""
    inner, slope = plain(f), differentiated(f, holomorphic, has_aux).grad

    def both(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs), slope(*args, **kwargs)

    return made(f, both)
