"""Solutions by name: roots, minima, integrals, differential equations.

Called in plain Python these are SciPy's functions, and inside of a function of `symgrad` what those are there:
the derivative is that of the solution (`frontend.library.scipy.implicit`, `minima`, `ode`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symdiff.errors import optional


def _scipy(part: str) -> Any:
    return optional(
        f"scipy.{part}", "roots, minima, integrals and solutions by name need SciPy", "scipy"
    )


def root(f: Callable[..., Any], x0: Any, args: tuple[Any, ...] = ()) -> Any:
    """A solution of `f(x, *args) = 0`, near `x0`.

    Parameters
    ----------
    f : function of a number, or of n numbers that returns n residuals.
    x0 : number or list of n numbers to start from.
    args : further arguments.

    Returns
    -------
    float or numpy.ndarray, shape (n,)

    Raises
    ------
    ValueError : inside of a function of `symgrad`, where none is found.

    Examples
    --------
    >>> import symdiff
    >>> f = symdiff.symgrad(lambda a: symdiff.root(lambda x: x * x - a, 1.0))
    >>> f.grad(4.0)
    0.25
    """
    found = _scipy("optimize").fsolve(f, x0, args)
    return found if np.ndim(x0) else found[0]


def argmin(f: Callable[..., Any], x0: Any, args: tuple[Any, ...] = ()) -> Any:
    """Where `f(x, *args)` has a minimum, near `x0`.

    Parameters
    ----------
    f : function of a number, or of n numbers, that returns a number.
    x0 : number or list of n numbers to start from.
    args : further arguments.

    Returns
    -------
    float or numpy.ndarray, shape (n,)

    Raises
    ------
    ValueError : inside of a function of `symgrad`, where none is found.

    Examples
    --------
    >>> import symdiff
    >>> f = symdiff.symgrad(lambda a: symdiff.argmin(lambda x: (x - a) ** 2 / 2 + a * x, 0.0))
    >>> f.grad(3.0)
    0.0
    """
    if np.ndim(x0):
        return _scipy("optimize").minimize(f, x0, args).x
    return _scipy("optimize").minimize(lambda x, *more: f(x[0], *more), [x0], args).x[0]


def integral(f: Callable[..., Any], a: float, b: float, args: tuple[Any, ...] = ()) -> Any:
    """The integral of `f(x, *args)` from a to b, which may be infinite.

    Raises
    ------
    ValueError : inside of a function of `symgrad`, where it does not converge, as at a kink.

    Examples
    --------
    >>> import symdiff
    >>> f = symdiff.symgrad(lambda b: symdiff.integral(lambda x: x * x, 0.0, b))
    >>> round(f.grad(3.0), 12)
    9.0
    """
    return _scipy("integrate").quad(f, a, b, args)[0]


def ode(
    f: Callable[..., Any], t_span: Sequence[float], y0: Any, t_eval: Any = None,
    args: tuple[Any, ...] = (), rtol: float = 1e-8, atol: float = 1e-8,
) -> Any:  # fmt: skip
    """The solution of `y' = f(t, y, *args)` from `y0` at `t_span[0]`, by Runge-Kutta steps of order 5.

    Parameters
    ----------
    f : function of the time and n numbers that returns n slopes.
    t_span : the first and the last time.
    y0 : n numbers.
    t_eval : times in the direction of the integration; None for the last one.
    args : further arguments.
    rtol, atol : the error of a step, as a part of a number and in itself.

    Returns
    -------
    numpy.ndarray
        Of shape (n,) at the last time, or (n, len(t_eval)).

    Examples
    --------
    >>> import symdiff
    >>> f = symdiff.symgrad(lambda k: symdiff.ode(lambda t, y: [-k * y[0]], (0, 1), [1.0])[0])
    >>> round(f.grad(2.0), 6)
    -0.135335
    """
    found = _scipy("integrate").solve_ivp(
        f, t_span, y0, "RK45", t_eval, args=args, rtol=rtol, atol=atol
    )
    return found.y[:, -1] if t_eval is None else found.y


__all__ = ["argmin", "integral", "ode", "root"]
