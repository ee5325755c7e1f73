"""`simplify` and `diff`: formulas in, formulas out, of text or of SymPy expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symdiff.errors import SymdiffError, outermost
from symdiff.frontend.formula.parse import parse
from symdiff.ir import Expr
from symdiff.ir.program import Program, map_objects
from symdiff.passes.simplify import Short
from symdiff.pipeline import scalar as pipeline


@outermost
def simplify(expr: Any) -> Any:
    """The shortest form that is found for a formula.

    Parameters
    ----------
    expr : a formula as text, in the grammar of the command line, or a SymPy expression.

    Returns
    -------
    sympy.Expr
        Equal wherever `expr` is defined: symbols are real, none is assumed to be positive. Of a
        text with commas, and of lists and tuples of expressions, a tuple.

    Raises
    ------
    SymdiffError : for what is no formula.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.simplify("1/(1 + tan(x)**2)")
    cos(x)**2
    """
    program, symbols = _program(expr)
    return _expressions(program, pipeline.short_value(program, False), symbols)


@outermost
def diff(expr: Any, *wrt: Any) -> Any:
    """The derivative of a formula, simplified.

    Parameters
    ----------
    expr : a formula as text, in the grammar of the command line, or a SymPy expression.
    wrt : names or symbols to differentiate by, one after the other; a number repeats the one
        before it, as in SymPy. May be left out where there is only one variable.

    Returns
    -------
    sympy.Expr
        Of a text with commas, and of lists and tuples of expressions, a tuple.

    Raises
    ------
    SymdiffError : for what is no formula, or a name that does not occur in it.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.diff("Vmax*S/(Km + S)", "S")
    Km*Vmax/(Km + S)**2
    >>> symdiff.diff("x**3*y**2", "x", 2, "y")
    12*x*y
    """
    program, symbols = _program(expr)
    shorts = pipeline.short_derivative(program, _names(wrt, program.params), False)
    return _expressions(program, shorts, symbols)


def _names(wrt: tuple[Any, ...], params: tuple[str, ...]) -> list[str]:
    names: list[str] = []
    for item in wrt:
        if isinstance(item, int) and not isinstance(item, bool):
            if not names or item < 1:
                raise SymdiffError(f"diff: {item} is not the name of a variable")
            names += [names[-1]] * (item - 1)
        else:
            names.append(str(item))
    if not names:
        if len(params) != 1:
            raise SymdiffError(
                "diff: which variable is meant?",
                hint=f"name one of {', '.join(params)}" if params else "there is none",
            )
        names = list(params)
    for name in names:
        if name not in params:
            raise SymdiffError(
                f"diff: the variable '{name}' does not occur",
                hint=f"the variables are {', '.join(params) or 'none'}",
            )
    return names


def _program(expr: Any) -> tuple[Program, Mapping[str, Any] | None]:
    """A formula as a program, and the symbols that its variables were."""
    if isinstance(expr, str):
        return parse(expr), None
    from symdiff.api.transforms import symgrad
    from symdiff.frontend import is_sympy

    if isinstance(expr, Expr) or not is_sympy(expr):
        raise SymdiffError(
            f"{type(expr).__name__} is neither a text nor a SymPy expression",
            hint="use symgrad for functions",
        )
    function = symgrad(expr)
    return function.raw_program, function._symbols


def _expressions(
    program: Program, shorts: Sequence[Short], symbols: Mapping[str, Any] | None
) -> Any:
    from symdiff.codegen.sympy.translate import to_sympy

    made = to_sympy([short.formula for short in shorts], symbols=symbols)
    return map_objects(made.__getitem__, program.tree)
