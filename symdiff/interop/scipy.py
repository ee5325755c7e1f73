"""SciPy's functions with the derivatives filled in, and functions that SciPy calls without Python.

`from symdiff.interop.scipy import minimize` replaces `from scipy.optimize import minimize`. A function
may take further arguments (`args=`): it is differentiated by the one that SciPy solves for, and the
others are data. Derivatives that are given by the caller are passed on as they are.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.errors import SymdiffError, optional
from symdiff.interop.derived import of_text
from symdiff.runtime.inside_numba.pending_errors import tell_waiting

SECOND = {
    "newton-cg": "hessp", "trust-ncg": "hessp", "trust-krylov": "hessp", "trust-constr": "hessp",
    "dogleg": "hess", "trust-exact": "hess",
}  # fmt: skip
"""What each method of `minimize` needs in addition to the gradient: products with the Hessian where those
suffice."""
FIRST = {"cg", "bfgs", "l-bfgs-b", "tnc", "slsqp", *SECOND}
"""The methods of `minimize` that take a gradient."""
STIFF = {"Radau", "BDF", "LSODA"}
"""The methods of `solve_ivp` that take a Jacobian."""


def _scipy(part: str = "") -> Any:
    return optional(
        f"scipy.{part}" if part else "scipy", "symdiff.interop.scipy needs SciPy", "scipy"
    )


def minimize(fun: Any, x0: Any, args: Any = (), method: Any = None, **options: Any) -> Any:
    """`scipy.optimize.minimize` with the gradient, and the Hessian or its products where the method
    takes them.

    Parameters
    ----------
    fun : a function of `x` and of `args`, decorated or not, that returns one number.
    x0, args, method, options : as SciPy takes them.

    Returns
    -------
    scipy.optimize.OptimizeResult

    Examples
    --------
    >>> import numpy as np
    >>> from symdiff.interop.scipy import minimize
    >>> minimize(lambda x, a: np.sum((x - a)**4), np.zeros(2), args=(1.0,), method="trust-exact").x.round(2)
    array([1., 1.])
    """
    optimize = _scipy("optimize")

    f = symgrad(fun)
    name = method.lower() if isinstance(method, str) else method
    solve: Any = f
    if (name is None or name in FIRST) and options.get("jac") is None:
        solve, options["jac"] = _by(f, 0).value_and_grad, True
    second = SECOND.get(name) if isinstance(name, str) else None
    if second and options.get("hess") is None and options.get("hessp") is None:
        options[second] = _product(f) if second == "hessp" else _by(f, 0).hessian
    return optimize.minimize(solve, x0, args, method, **options)


def least_squares(
    fun: Any, x0: Any, jac: Any = None, *, sparse: bool = False, **options: Any
) -> Any:
    """`scipy.optimize.least_squares` with the Jacobian of the residuals by their first argument.

    Parameters
    ----------
    fun : a function of `x` and of `args`, decorated or not, that returns the residuals.
    x0, jac, options : as SciPy takes them.
    sparse : whether the Jacobian is a sparse matrix.

    Returns
    -------
    scipy.optimize.OptimizeResult
    """
    optimize = _scipy("optimize")

    f = symgrad(fun)
    return optimize.least_squares(f, x0, jac or _jacobian(f, 0, sparse), **options)


def root(fun: Any, x0: Any, args: Any = (), method: str = "hybr", **options: Any) -> Any:
    """`scipy.optimize.root` with the Jacobian, where the method takes one.

    Parameters
    ----------
    fun : a function of `x` and of `args`, decorated or not, that returns as many values as `x` has.
    x0, args, method, options : as SciPy takes them.

    Returns
    -------
    scipy.optimize.OptimizeResult
    """
    optimize = _scipy("optimize")

    f = symgrad(fun)
    if method in ("hybr", "lm") and options.get("jac") is None:
        options["jac"] = _jacobian(f, 0, False)
    return optimize.root(f, x0, args, method, **options)


def root_scalar(f: Any, args: Any = (), method: Any = None, **options: Any) -> Any:
    """`scipy.optimize.root_scalar` with the first derivative, and the second for Halley's method.

    Parameters
    ----------
    f : a function of a number and of `args`, decorated or not.
    args, method, options : as SciPy takes them.

    Returns
    -------
    scipy.optimize.RootResults
    """
    optimize = _scipy("optimize")

    g = symgrad(f)
    first = g._source.parameters.names[0]
    open_ended = method is None and options.get("bracket") is None and options.get("x1") is None
    if (open_ended or method in ("newton", "halley")) and not options.get("fprime"):
        options["fprime"] = g.diff(first)
    if method == "halley" and not options.get("fprime2"):
        options["fprime2"] = g.diff(first, first)
    return optimize.root_scalar(g, args, method, **options)


def curve_fit(
    f: Any, xdata: Any, ydata: Any, p0: Any = None, *, jac: Any = None, **options: Any
) -> Any:
    """`scipy.optimize.curve_fit` with the derivatives by the parameters.

    Parameters
    ----------
    f : a function of the data and of each parameter, decorated or not.
    xdata, ydata, p0, jac, options : as SciPy takes them.

    Returns
    -------
    tuple
        The parameters and their covariance, and what `full_output` adds.

    Examples
    --------
    >>> import numpy as np
    >>> from symdiff.interop.scipy import curve_fit
    >>> t = np.linspace(0.0, 4.0, 9)
    >>> curve_fit(lambda t, a, b: a*np.exp(-b*t), t, 2*np.exp(-3*t))[0].round(3)
    array([2., 3.])
    """
    optimize = _scipy("optimize")

    g = symgrad(f)
    by = _by(g, *range(1, len(g._source.parameters.names))).jacobian

    def columns(*given: Any) -> Any:
        found = by(*given)
        found = found if isinstance(found, tuple) else (found,)
        return np.stack([np.ravel(c) for c in found], axis=-1)

    return optimize.curve_fit(g, xdata, ydata, p0, jac=jac or columns, **options)


def solve_ivp(
    fun: Any, t_span: Any, y0: Any, method: Any = "RK45", *, sparse: bool = False, **options: Any
) -> Any:
    """`scipy.integrate.solve_ivp` with the Jacobian by `y`, where the method takes one.

    Parameters
    ----------
    fun : a function of `t`, `y` and `args`, decorated or not, that returns as many values as `y` has.
    t_span, y0, method, options : as SciPy takes them.
    sparse : whether the Jacobian is a sparse matrix (`"Radau"` and `"BDF"` take one).

    Returns
    -------
    scipy.integrate.OdeResult
    """
    integrate = _scipy("integrate")

    f = symgrad(fun)
    if getattr(method, "__name__", method) in STIFF and options.get("jac") is None:
        options["jac"] = _jacobian(f, 1, sparse)
    return integrate.solve_ivp(f, t_span, y0, method, **options)


def solve_bvp(
    fun: Any, bc: Any, x: Any, y: Any, p: Any = None, S: Any = None, fun_jac: Any = None,
    bc_jac: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """`scipy.integrate.solve_bvp` with the derivatives of the right-hand side and of the conditions.

    Parameters
    ----------
    fun : a function of `x` (m), `y` (n, m) and, if there is one, `p` (k), decorated or not, that
        returns an array (n, m), whose column at a node is made of `x` and `y` at that node.
    bc : a function of `y` at both ends and, if there is one, `p`, decorated or not, that returns an
        array (n + k).
    x, y, p, S, fun_jac, bc_jac, options : as SciPy takes them; real.

    Returns
    -------
    scipy.optimize.OptimizeResult

    Examples
    --------
    >>> import numpy as np
    >>> from symdiff.interop.scipy import solve_bvp
    >>> x = np.linspace(0.0, 1.0, 5)
    >>> rod = solve_bvp(lambda x, y: np.vstack([y[1], -y[0]]), lambda a, b: np.array([a[0], b[0] - 1]), x, np.zeros((2, 5)))
    >>> round(float(rod.sol(0.5)[0]*np.sin(1)/np.sin(0.5)), 3)
    1.0
    """
    integrate = _scipy("integrate")

    f, ends = symgrad(fun), symgrad(bc)
    known = () if p is None else (np.ravel(p),)
    if fun_jac is None:
        by = [_by(f, k) for k in range(1, 2 + len(known))]

        def fun_jac(*args: Any) -> Any:
            found = [_by_node(g, args, a) for g, a in zip(by, args[1:], strict=True)]
            return found if known else found[0]

    if bc_jac is None:
        each = [_jacobian(ends, k, False) for k in range(2 + len(known))]

        def bc_jac(*args: Any) -> Any:
            return [np.asarray(jacobian(*args)) for jacobian in each]

    return integrate.solve_bvp(f, ends, x, y, p, S, fun_jac, bc_jac, **options)


def _by_node(f: SymbolicFunction, args: Any, by: Any) -> Any:
    """The derivatives by each row of an argument, or each of its elements, at every node: (n, rows, m)."""
    found = []
    for k in range(len(by)):
        direction = np.zeros_like(by, float)
        direction[k] = 1.0
        found.append(np.asarray(f.jvp(args, (direction,))[1]))
    return np.stack(found, axis=1)


def NonlinearConstraint(fun: Any, lb: Any, ub: Any, *args: Any, **options: Any) -> Any:
    """`scipy.optimize.NonlinearConstraint` with the Jacobian, and the Hessian of `v @ fun(x)`.

    Parameters
    ----------
    fun : a function of `x`, decorated or not, that returns one value or several.
    lb, ub, args, options : as SciPy takes them.

    Returns
    -------
    scipy.optimize.NonlinearConstraint
    """
    optimize = _scipy("optimize")

    f = symgrad(fun)
    given = {**dict(zip(("jac", "hess"), args, strict=False)), **options}
    given.setdefault("jac", _jacobian(f, 0, False))
    given.setdefault("hess", _weighted(f).hessian)
    return optimize.NonlinearConstraint(f, lb, ub, *args[2:], **given)


def lowlevel(fun: Any, kind: str = "integrand") -> Any:
    """A function of numbers as a `scipy.LowLevelCallable`: no Python runs in its calls.

    Parameters
    ----------
    fun : a function of numbers, decorated or not; or a derivative of one that returns one number.
    kind : "integrand" for `quad`, `dblquad`, `tplquad` and `nquad`, whose arguments are the
        variables, then `args`; "filter" for `ndimage.generic_filter`, whose arguments are the
        entries of the window, row by row.

    Returns
    -------
    scipy.LowLevelCallable
        Parameters that are not given have their defaults. Called with another number of arguments than
        `fun` takes, or where it raises an error (of which a `RuntimeWarning` tells), an integrand is
        nan, and a filter is an error.

    Raises
    ------
    SymdiffError : for functions with arrays or loops, and of several results.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.integrate import quad
    >>> from symdiff.interop.scipy import lowlevel
    >>> round(quad(lowlevel(lambda x, a: np.sin(a*x)/x), 0.0, 1.0, args=(2.0,))[0], 12)
    1.605412976803
    """
    import numba
    from numba import types

    f = symgrad(fun)
    names = f._source.parameters.real
    told = ctypes.CFUNCTYPE(None)(partial(tell_waiting, f.__name__))
    kernel = {"kernel": f.numba, "nan": np.nan, "told": told}
    if f._compiled(f._default_static())[0].tree != 0:
        raise SymdiffError(
            f"{f.__name__} has several results", hint="SciPy's callbacks return one number"
        )
    least, most, defaults = _counts(f)
    kernel["defaults"] = np.array([*defaults, 0.0])
    entries = ", ".join(
        f"p[{k}] if {k} < n else defaults[{k - least}]" if k >= least else f"p[{k}]"
        for k in range(len(names))
    )
    doubles = types.CPointer(types.double)
    if kind == "integrand":
        signature = types.double(types.intc, doubles)
        text = (
            f"def call(n, p):\n    found = nan\n    if {least} <= n <= {most}:\n        try:\n"
            f"            found = kernel({entries})\n        except Exception:\n            told()\n"
            "    return found\n"
        )
    elif kind == "filter":
        signature = types.intc(doubles, types.intp, doubles, types.voidptr)
        text = (
            f"def call(p, n, result, data):\n    if not {least} <= n <= {most}:\n        return 0\n"
            f"    done = 0\n    try:\n        result[0] = kernel({entries})\n        done = 1\n"
            "    except Exception:\n        told()\n    return done\n"
        )
    else:
        raise SymdiffError(f"unknown kind {kind!r}", hint='"integrand" or "filter"')
    exec(text, kernel)  # of numbers and the names above only
    made = numba.cfunc(signature)(kernel["call"])
    function = made.ctypes
    function.made = made, told  # whose machine code lives as long as it does
    return _scipy().LowLevelCallable(function)


def _counts(f: SymbolicFunction) -> tuple[int, int, list[float]]:
    """How many arguments a function takes at least and at most, and the defaults of the last ones."""
    parameters = f._source.parameters
    names, given = parameters.real, parameters.defaults
    least = len(names)
    while least and names[least - 1] in given:
        least -= 1
    return least, len(names), [float(given[n]) for n in names[least:]]


# ---------------------------------------------------------------- derivatives by one argument
def _by(f: SymbolicFunction, *positions: int) -> SymbolicFunction:
    """The function, with the derivatives by these parameters."""
    parameters = f._source.parameters
    if max(positions, default=0) >= len(parameters.names):
        raise SymdiffError(
            f"{f.__name__} takes {len(parameters.names)} arguments, and SciPy passes more"
        )
    return symgrad(f, wrt=tuple(parameters.names[k] for k in positions))


def _jacobian(f: SymbolicFunction, position: int, sparse: bool) -> Callable[..., Any]:
    """The Jacobian by one argument, as SciPy takes it."""
    by = _by(f, position).jacobian
    return partial(by, sparse=True) if sparse else by


def _product(f: SymbolicFunction) -> Callable[..., Any]:
    """The product of the Hessian with a vector, as SciPy calls it."""
    by = _by(f, 0)

    def hessp(x: Any, p: Any, *args: Any) -> Any:
        return by.hvp((x, *args), p)

    return hessp


def _weighted(f: SymbolicFunction) -> SymbolicFunction:
    """The sum of what a function returns, with weights."""
    weighted = of_text(f"{f.__name__}_weighted", "x, v", "sum(ravel(v)*ravel(f(x)))", f)
    return symgrad(weighted, wrt="x")
