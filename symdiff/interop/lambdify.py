"""`lambdify`: SymPy's `lambdify` with kernels of symdiff, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.errors import SymdiffError, outermost

_DOUBLES = ("numpy", "scipy", "math", "numexpr")


@outermost
def lambdify(
    args: Any,
    expr: Any,
    derivatives: Any = 0,
    *,
    modules: Any = None,
    cse: bool = True,
    **options: Any,
) -> Any:
    """A fast, accurate function of SymPy expressions; as `sympy.lambdify(args, expr)`.

    Parameters
    ----------
    args : a symbol, or the parameters in order: symbols, `IndexedBase`s, names, or lists of
        symbols for a parameter that is unpacked.
    expr : an expression, a matrix, or lists, tuples and dicts of them.
    derivatives : 0 for the value; 1 for (value, first derivatives); 2 for (value, first, second
        derivatives). First derivatives are a gradient, or the Jacobian of several values;
        second ones a Hessian, of one value only.
    modules : as SymPy takes it, also in the place of `derivatives`: "numpy", "scipy", "math" or "numexpr",
        or several of these, all of which mean doubles. It makes no difference.
    cse : makes no difference: what is shared is computed once.
    options : of `symdiff.symgrad`, such as `accuracy`.

    Returns
    -------
    callable
        With `derivatives=0` and 1 a `SymbolicFunction`, with 2 a function of the same arguments.

    Raises
    ------
    SymdiffError : naming what symdiff does not know.

    Examples
    --------
    >>> import sympy
    >>> from symdiff import lambdify
    >>> x, y = sympy.symbols("x y")
    >>> lambdify((x, y), sympy.sin(x * y) / x)(0.0, 2.0)
    2.0
    >>> lambdify(x, x**3, derivatives=2)(2.0)
    (8.0, 12.0, 12.0)
    """
    if isinstance(derivatives, (str, list, tuple, dict)):
        modules, derivatives = derivatives, 0
    for module in modules if isinstance(modules, (list, tuple)) else [modules]:
        if module is not None and module not in _DOUBLES:
            raise SymdiffError(
                f"modules={module!r} is not computed in doubles",
                hint=f"one of {', '.join(_DOUBLES)}",
            )
    if derivatives not in (0, 1, 2):
        raise SymdiffError(f"derivatives is {derivatives!r}", hint="0, 1 or 2")
    if isinstance(expr, (int, float)):
        import sympy

        expr = sympy.sympify(expr)
    params = args if isinstance(args, (list, tuple)) else (args,)
    f: SymbolicFunction = symgrad(expr, params=params, **options)
    if derivatives == 0:
        return f
    several = not _is_one(expr)
    if derivatives == 1 and not several:
        return f.value_and_grad
    if derivatives == 2 and several:
        raise SymdiffError(
            "second derivatives of several values",
            hint="lambdify each of them, or use derivatives=1",
        )
    parts: Sequence[SymbolicFunction] = (f, f.jacobian) if several else (f, f.grad, f.hessian)

    def evaluate(*values: Any, **named: Any) -> tuple[Any, ...]:
        return tuple(part(*values, **named) for part in parts)

    evaluate.__name__, evaluate.__doc__ = f.__name__, f"The value and derivatives of {f!r}."
    return evaluate


def _is_one(expr: Any) -> bool:
    import sympy

    return isinstance(expr, (sympy.Expr, int, float)) and not isinstance(expr, sympy.NDimArray)
