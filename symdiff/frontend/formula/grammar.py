"""The grammar of formulas given as text: names, operators and common mistakes."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections.abc import Callable

from symdiff.ir import (
    HALF,
    INF,
    NAN,
    ONE,
    ZERO,
    Expr,
    abs_,
    and_,
    eq,
    ge,
    gt,
    le,
    lt,
    mul,
    ne,
    or_,
    power,
    where,
)
from symdiff.ir.functions import (
    ACOS,
    ACOSH,
    ASIN,
    ASINH,
    ATAN,
    ATANH,
    CEIL,
    COMPOSITES,
    COS,
    COSH,
    EXP,
    FLOOR,
    GAMMA,
    LGAMMA,
    LOG,
    MAXIMUM,
    MINIMUM,
    PI,
    POLYGAMMA,
    SIN,
    SINH,
    TABLE,
)


def _function_table() -> dict[str, tuple[Callable[..., Expr], int, int | None]]:
    """Functions by the last part of each of their names, with least and most arguments."""
    table: dict[str, tuple[Callable[..., Expr], int, int | None]] = {}
    for op in TABLE:
        if op.arity and op.names:
            for dotted in (op.name, *op.names):
                table[dotted.rpartition(".")[2]] = op, op.arity, op.arity
    for dotted, function in COMPOSITES.items():
        count = len(inspect.signature(function).parameters)
        table.setdefault(dotted.rpartition(".")[2], (function, count, count))
    for alias, op in (("max", MAXIMUM), ("min", MINIMUM)):
        table[alias] = _fold(op), 1, None
    for alias in ("log", "ln"):
        table[alias] = lambda x, base=None: LOG(x) if base is None else LOG(x) / LOG(base), 1, 2
    for name, function in _OF_SYMPY.items():
        parameters = inspect.signature(function).parameters.values()
        least = sum(p.default is p.empty for p in parameters)
        table.setdefault(name, (function, least, len(parameters)))
    for alias, op in (("Max", MAXIMUM), ("Min", MINIMUM)):
        table[alias] = _fold(op), 1, None
    table["where"] = where, 3, 3  # its conditions are handled by the parser
    table["Piecewise"] = where, 1, None
    return table


def _fold(op: Callable[[Expr, Expr], Expr]) -> Callable[..., Expr]:
    def folded(first: Expr, *rest: Expr) -> Expr:
        for e in rest:
            first = op(first, e)
        return first

    return folded


_OF_SYMPY: dict[str, Callable[..., Expr]] = {
    "Abs": abs_,
    "sec": lambda x: ONE / COS(x),
    "csc": lambda x: ONE / SIN(x),
    "cot": lambda x: COS(x) / SIN(x),
    "asec": lambda x: ACOS(ONE / x),
    "acsc": lambda x: ASIN(ONE / x),
    "acot": lambda x: ATAN(ONE / x),
    "sech": lambda x: ONE / COSH(x),
    "csch": lambda x: ONE / SINH(x),
    "coth": lambda x: COSH(x) / SINH(x),
    "asech": lambda x: ACOSH(ONE / x),
    "acsch": lambda x: ASINH(ONE / x),
    "acoth": lambda x: ATANH(ONE / x),
    "ceiling": CEIL,
    "frac": lambda x: x - FLOOR(x),
    "Mod": lambda a, b: a - b * FLOOR(a / b),
    "Pow": power,
    "root": lambda x, n: power(x, ONE / n),
    "Rational": lambda p, q=ONE: p / q,
    "Heaviside": lambda x, at=HALF: COMPOSITES["numpy.heaviside"](x, at),
    "factorial": lambda n: GAMMA(n + ONE),
    "binomial": COMPOSITES["scipy.special.binom"],
    "trigamma": lambda x: POLYGAMMA(ONE, x),
    "loggamma": lambda x: where(gt(x, ZERO), LGAMMA(x), NAN),
    "Eq": eq,
    "Ne": ne,
    "Lt": lt,
    "Le": le,
    "Gt": gt,
    "Ge": ge,
}
"""The names of these functions in SymPy's parser and printers (definitions: NIST DLMF 4.14, 4.23,
4.28, 4.37, 5.2, 5.15; for real arguments)."""

FUNCTIONS = _function_table()
"""Every function of the grammar: builder, least and most arguments."""

ONLY_FUNCTIONS = frozenset(
    dotted.rpartition(".")[2]
    for dotted in (*(n for op in TABLE for n in op.names), *COMPOSITES)
    if dotted.startswith(("math.", "builtins.")) and dotted != "math.gamma"
) | {"ln", "where", "min", "max", "arcsin", "arccos", "arctan", "arctan2"}
"""Names that are functions even where they are not called, which is a mistake; other names are
variables there, such as `beta` and `gamma`."""

CONSTANTS: dict[str, Callable[[], Expr]] = {
    "pi": PI,
    "π": PI,
    "e": lambda: EXP(ONE),
    "inf": lambda: INF,
    "oo": lambda: INF,
    "nan": lambda: NAN,
}
"""Names of exact constants."""

QUALIFIED: dict[str, Callable[[], Expr]] = {**CONSTANTS, "tau": lambda: mul(2, PI())}
"""Names that are constants after the name of a module only, as in `math.tau`."""

MODULES = {"math", "np", "numpy", "scipy", "special"}
"""Prefixes that are skipped, as in `np.sin(x)`."""

COMPARISONS: dict[type[ast.cmpop], Callable[[Expr, Expr], Expr]] = {
    ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge, ast.Eq: eq, ast.NotEq: ne,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], Callable[[Expr, Expr], Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: power,
    ast.FloorDiv: lambda a, b: FLOOR(a / b),
    ast.Mod: lambda a, b: a - b * FLOOR(a / b),
}
MASKS: dict[type[ast.operator], Callable[[Expr, Expr], Expr]] = {
    ast.BitAnd: and_, ast.BitOr: or_,
}  # fmt: skip

_KEYWORDS = "|".join(keyword.kwlist)
_INFIX = "if|else|and|or|not|in|is"
_NAME = rf"(?!(?:{_INFIX})\b)[^\W\d]\w*"
_NUMBER = r"(?<![\w.])(?:\d+\.?\d*|\.\d+)"
_MISTAKES: tuple[tuple[str, str, str], ...] = (
    (rf"(?<!\w)(?!(?:{_INFIX}|True|False|None)\b)({_KEYWORDS})\b",
     "{0} is a keyword of Python", "give the variable another name"),
    (rf"(?:^|[-+*/%(,<>=]) *(?!not\b)({_INFIX})\b",
     "{0} is a keyword of Python", "give the variable another name"),
    (r"(?<![<>=!:])=(?!=)", "= is not part of a formula", "use == to compare"),
    (r"([×·])", "{0} is not part of a formula", "use * for a product"),
    (r"([−–])", "{0} is not part of a formula", "use the ASCII minus -"),
    (r"([²³])", "{0} is not part of a formula", "use ** for powers"),
    (r"(√)", "{0} is not part of a formula", "write sqrt(x)"),
    (rf"({_NUMBER}) *({_NAME})", "a product needs a sign", "write {0}*{1}"),
    (rf"(?<!\w)({_NAME}) +({_NAME}|\d[\w.]*)",
     "something is missing between two names", "write {0}*{1} for a product, {0}({1}) for a function"),
)  # fmt: skip
"""Mistakes that Python reports in terms of Python: pattern, message, hint."""


def explain(message: str, source: str, column: int) -> tuple[str, str, int]:
    """A syntax error of Python in terms of formulas: message, hint and column from 1."""
    if "too many nested parentheses" in message or "integer string conversion" in message:
        short = "too many nested parentheses" if "nested" in message else "the number is too long"
        return short, "", column
    if message.startswith(("'", "unmatched", "closing")):  # '(' was never closed
        return message, "", column
    for pattern, text, hint in _MISTAKES:
        found = re.search(pattern, source)
        if found is not None:
            groups = found.groups()
            start = found.start(1 if groups else 0)
            return text.format(*groups), hint.format(*groups), start + 1
    message = message.partition(". Perhaps")[0]
    if message.startswith("invalid syntax"):
        rest = source[column - 1 :]
        message = f"unexpected {rest[0]!r}" if rest else "the expression ends too early"
    return message, "", column
