"""Formulas in, formulas out, of text or of SymPy expressions: `simplify` and `diff`, the passes
`cancel` and `complete`, and series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from symdiff import ir
from symdiff.errors import SymdiffError, outermost
from symdiff.frontend.formula.parse import parse
from symdiff.ir import Expr
from symdiff.ir.program import Program, map_objects
from symdiff.passes.simplify.window_by_window import Short
from symdiff.pipeline import readable_formulas as formulas
from symdiff.pipeline import single_passes


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
    return _expressions(program, formulas.short_value(program, False), symbols)


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
    shorts = formulas.short_derivative(program, _names(wrt, program.params), False)
    return _expressions(program, shorts, symbols)


@outermost
def cancel(expr: Any) -> Any:
    """A formula without the factors that numerators and denominators share.

    Powers are not multiplied out, as `sympy.cancel` does, and functions count as symbols.

    Parameters
    ----------
    expr : a formula as text, in the grammar of the command line, or a SymPy expression.

    Returns
    -------
    sympy.Expr
        Equal wherever `expr` is defined, and defined where only a common factor was zero. Of a
        text with commas, and of lists and tuples of expressions, a tuple.

    Raises
    ------
    SymdiffError : for what is no formula.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.cancel("(x**2 - 4)/(x - 2)")
    x + 2
    """
    program, symbols = _program(expr)
    found = single_passes.cancelled(program)
    return _shown(program, found.outputs, symbols)


@dataclass(frozen=True, slots=True)
class FilledPoint:
    """Where a formula was filled: at `where`, an equation, `formula` has the limit `value`."""

    where: Any
    formula: Any
    value: Any


@dataclass(frozen=True, slots=True)
class Completed:
    """A formula that is defined at its removable singularities.

    Attributes
    ----------
    expr : a SymPy expression, with a branch of a `Piecewise` for each point; of several formulas
        a tuple.
    filled : the points.
    """

    expr: Any
    filled: tuple[FilledPoint, ...]


@outermost
def complete(expr: Any) -> Completed:
    """A formula with its removable singularities filled by their limits.

    Common factors are cancelled first; what is left and removable (also along a surface, as
    x = y) is filled. Poles and branch points stay.

    Parameters
    ----------
    expr : a formula as text, in the grammar of the command line, or a SymPy expression.

    Raises
    ------
    SymdiffError : for what is no formula.

    Examples
    --------
    >>> import symdiff
    >>> found = symdiff.complete("sin(x)/x")
    >>> found.expr
    Piecewise((1, Eq(x, 0)), (sin(x)/x, True))
    >>> [(p.where, p.value) for p in found.filled]
    [(Eq(x, 0), 1)]
    """
    program, symbols = _program(expr)
    found, places = single_passes.completed(program)
    parts = [e for p in places for e in (p.variable, p.root, p.node, p.limit)]
    made = iter(_sympy(parts, symbols))
    import sympy

    filled = tuple(
        FilledPoint(sympy.Eq(next(made), next(made), evaluate=False), next(made), next(made))
        for _ in places
    )
    return Completed(_shown(program, found.outputs, symbols), filled)


@outermost
def series_at(expr: Any, variable: Any, point: Any = 0, n: int = 6, side: int = 0) -> Any:
    """The first terms of the series of a formula: a Laurent series, or one in rational powers.

    Parameters
    ----------
    expr : a formula as text, in the grammar of the command line, or a SymPy expression.
    variable : the name of a variable, or its symbol. Others are parameters in general position: a
        coefficient that is zero for some of their values only is not zero.
    point : a number, a constant as text or of SymPy; or an infinity.
    n : terms with exponents below this, as in `sympy.series`, whose order term is left out.
    side : 1 for the series where the variable is above `point`, -1 below, 0 where both sides agree
        or the formula is defined on one only.

    Returns
    -------
    sympy.Expr
        With exact coefficients, or 17 digits of those that are no short formula. Of a text with
        commas, and of lists and tuples of expressions, a tuple.

    Raises
    ------
    SymdiffError : where there is none (logarithms, essential singularities, kinks) or none was
        found, saying which.

    Examples
    --------
    >>> import symdiff
    >>> symdiff.series_at("sin(x)/x", "x", n=5)
    x**4/120 - x**2/6 + 1
    >>> symdiff.series_at("sqrt(x**2 + x) - x", "x", "inf", n=2)
    1/2 - 1/(8*x)
    """
    program, symbols = _program(expr)
    (name,) = _names((variable,), program.params)
    if side not in (-1, 0, 1):
        raise SymdiffError(f"side is {side!r}", hint="1, -1 or 0 for both")
    if isinstance(n, bool) or not isinstance(n, int):
        raise SymdiffError(f"n is {n!r}", hint="an integer: exponents are below it")
    found = single_passes.series_terms(program, name, _point(point), n, side)
    return _shown(program, found, symbols, exact=True)


def _point(point: Any) -> Expr:
    """A constant, which may be infinite."""
    if isinstance(point, (int, float, Fraction)) and not isinstance(point, bool):
        return ir.const(point)
    (found,) = _program(point)[0].outputs
    if ir.variables((found,)):
        raise SymdiffError(f"the point {point} is no constant", hint="shift the variable by it")
    return found


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
    return _shown(program, [short.formula for short in shorts], symbols)


def _shown(
    program: Program,
    outputs: Sequence[Expr],
    symbols: Mapping[str, Any] | None,
    exact: bool = False,
) -> Any:
    """The outputs as SymPy expressions, nested as the program says."""
    return map_objects(_sympy(outputs, symbols, exact).__getitem__, program.tree)


def _sympy(
    outputs: Sequence[Expr], symbols: Mapping[str, Any] | None, exact: bool = False
) -> list[Any]:
    from symdiff.codegen.sympy.translate import to_sympy

    return to_sympy(outputs, symbols=symbols, exact=exact)
