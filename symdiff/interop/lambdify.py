"""`lambdify`: SymPy's `lambdify` with kernels of symdiff, and their derivatives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from symdiff.api.function import SymbolicFunction
from symdiff.api.transforms import symgrad
from symdiff.codegen.sympy.translate import to_sympy
from symdiff.errors import SymdiffError, outermost
from symdiff.frontend.formula.parse import parse

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
    args : a symbol, or the parameters in order: symbols, `IndexedBase`s, `MatrixSymbol`s, applied
        functions and their derivatives, names (also as one text, `"x, y"`), or lists of symbols
        for a parameter that is unpacked.
    expr : an expression, a matrix, also of `MatrixSymbol`s of known shape, a formula as text, or lists,
        tuples and dicts of them.
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
    if isinstance(args, str):
        args = args.replace(",", " ").split()
    params, expr = _of_symbols(args if isinstance(args, (list, tuple)) else (args,), expr)
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


def _of_symbols(params: Any, expr: Any) -> tuple[Any, Any]:
    """The parameters and the expression in terms of symbols: applied functions and derivatives are symbols of
    their names, matrices of known shapes are written out, and texts are parsed."""
    import sympy
    from sympy.core.function import AppliedUndef
    from sympy.matrices.expressions.matexpr import MatrixExpr

    applied: dict[Any, Any] = {}

    def parameter(p: Any) -> Any:
        if isinstance(p, (AppliedUndef, sympy.Derivative)):
            return applied.setdefault(p, sympy.Symbol(re.sub(r"\W+", "_", str(p)).strip("_")))
        return type(p)(map(parameter, p)) if type(p) in (list, tuple) else p

    found = [parameter(p) for p in params]
    known = {s.name: s for s in _symbols(found) if isinstance(s, sympy.Symbol)}
    # derivatives first: functions occur in them
    order = sorted(applied, key=lambda e: not isinstance(e, sympy.Derivative))

    def written(e: Any) -> Any:
        if isinstance(e, (list, tuple)) and type(e) in (list, tuple):
            return type(e)(map(written, e))
        if isinstance(e, dict):
            return {k: written(v) for k, v in e.items()}
        if isinstance(e, str):
            (parsed,) = to_sympy(parse(e).outputs)
            return parsed.xreplace({s: known.get(s.name, s) for s in parsed.free_symbols})
        for old in order:
            e = e.subs(old, applied[old]) if hasattr(e, "subs") else e
        if isinstance(e, MatrixExpr):
            e = e.as_explicit()
        if isinstance(e, (sympy.Expr, sympy.MatrixBase)) and e.has(sympy.Determinant, sympy.Trace):
            whole = {m: m.as_explicit() for m in e.atoms(sympy.MatrixSymbol)}
            e = e.replace(
                lambda n: isinstance(n, (sympy.Determinant, sympy.Trace)),
                lambda n: n.subs(whole).doit(),
            )
        return e

    return found, written(expr)


def _symbols(params: Any) -> Iterator[Any]:
    for p in params:
        if isinstance(p, (list, tuple)):
            yield from _symbols(p)
        else:
            yield p


def _is_one(expr: Any) -> bool:
    import sympy

    return isinstance(expr, (sympy.Expr, int, float)) and not isinstance(expr, sympy.NDimArray)
