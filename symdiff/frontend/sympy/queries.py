"""Kinds of SymPy's expressions: leaves, loops, inverses; and refused expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symdiff.errors import UnsupportedError
from symdiff.frontend.sympy.table import HINTS


def rebuilt(e: Any, args: list[Any]) -> Any:
    """The same operation on other operands; not evaluated, which could take any time."""
    import sympy

    if e.is_Add or e.is_Mul or e.is_Pow or e.is_Relational:
        return e.func(*args, evaluate=False)
    with sympy.evaluate(False):
        return e.func(*args)


def check_real(e: Any) -> None:
    """Refuse, by name, an expression that is neither a real operation nor a part of one."""
    import sympy

    known = (
        sympy.Symbol, sympy.Idx, sympy.Number, sympy.NumberSymbol, sympy.Add, sympy.Mul, sympy.Pow,
        sympy.core.function.Application, sympy.Piecewise, sympy.Sum, sympy.Product, sympy.Tuple, sympy.Indexed,
        sympy.IndexedBase, sympy.MatrixSymbol, sympy.matrices.expressions.matexpr.MatrixElement,
        sympy.logic.boolalg.Boolean, sympy.Rel,
    )  # fmt: skip
    if not isinstance(e, known):
        raise unknown_node(e)


def is_leaf(e: Any) -> bool:
    """Whether the parts of an object are not expressions: names, arrays, indices."""
    import sympy

    return not e.args or isinstance(e, (sympy.IndexedBase, sympy.MatrixSymbol, sympy.Idx))


def is_loop(e: Any) -> bool:
    import sympy

    return isinstance(e, (sympy.Sum, sympy.Product))


def is_whole(bound: Any) -> bool:
    """Whether a bound may be an integer."""
    if bound.is_number:
        return bool(bound.is_Integer)
    return bound.is_integer is not False and not bound.is_infinite


def is_inverse(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and e.exp < 0)


def listed_parameters(params: Any) -> list[Any]:
    return list(params) if isinstance(params, (list, tuple, set)) else [params]


def chosen_parameter(p: Any, by_name: Mapping[str, Any]) -> Any:
    """A parameter as it was given: a symbol, an array, its name, or a list of symbols."""
    import sympy

    if isinstance(p, (list, tuple, sympy.Tuple, sympy.MatrixBase)):
        return [chosen_parameter(s, by_name) for s in p]
    if isinstance(p, str):
        return by_name.get(p, sympy.Symbol(p))
    if isinstance(p, (sympy.Symbol, sympy.IndexedBase, sympy.MatrixSymbol)):
        return p
    raise UnsupportedError(f"the parameter {p!r} is no symbol", hint="name symbols or IndexedBases")


def short_text(e: Any) -> str:
    text = type(e).__name__
    return f"a {text}"


def unknown_node(e: Any) -> UnsupportedError:
    name = type(e).__name__
    if e.is_Function:
        return UnsupportedError(
            f"symdiff does not know the function {e.func.__name__}",
            hint="rewrite it in elementary functions, or declare it with custom_rule",
        )
    hint = HINTS.get(name, "give an expression of real symbols and elementary functions")
    return UnsupportedError(f"symdiff does not know {name} of SymPy", hint=hint)
