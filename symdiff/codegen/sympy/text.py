"""Print expressions as a person writes them, as text or LaTeX.

Text is that of `ir.formula_text`; what would fill pages as one formula is written with named
temporaries. LaTeX is SymPy's.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from symdiff.codegen.common.naming import named
from symdiff.codegen.common.temporaries import (
    ATOM,
    CONDITIONAL,
    NEGATION,
    PRODUCT,
    RELATION,
    Text,
    Writer,
    statements,
)
from symdiff.errors import SymdiffError
from symdiff.ir import Expr, Op, format_expr
from symdiff.ir.formula_text import Formulas, tree_sizes
from symdiff.ir.plain import exactly
from symdiff.process.locks import Lock
from symdiff.process.recursion import deep_recursion

MAX_OPERATIONS = 20_000
"""Formulas with more operations than this are not printed as one."""
MAX_DEPTH = 400
"""Nor are those nested deeper: SymPy's printer takes time quadratic in the depth."""
READABLE = 400
"""Above this many operations, shared parts get names."""

_stack_lock = Lock()


def format_latex(expression: Any) -> str:
    """A SymPy expression as LaTeX, without delimiters."""
    return _print(expression, _latex_printer())


def formula_lines(
    outputs: Sequence[Expr], *, expanded: bool = False, literals: Sequence[Fraction] = ()
) -> tuple[list[str], list[str]]:
    """The outputs as text a person can read.

    Parameters
    ----------
    outputs : the formulas.
    expanded : without names for what they share.
    literals : what was written as decimals: numbers are shown as such, and as quotients of them.

    Returns
    -------
    (lines, texts)
        Definitions such as `t = sqrt(x**2 + y**2)`, none unless they make the text
        shorter, and the text of each output.
    """
    outputs = exactly(outputs)
    sizes = tree_sizes(outputs)
    largest = max((sizes[e] for e in outputs), default=0)
    if expanded and largest > MAX_OPERATIONS:
        raise SymdiffError(
            f"the expression is too large to print as one formula: more than {MAX_OPERATIONS} "
            "operations",
            hint="print it without --expanded",
        )
    if largest <= READABLE or expanded:
        definitions, outputs = ([], tuple(outputs)) if expanded else named(outputs)
        formulas = Formulas(literals)
        lines = [f"{name} = {formulas.text(e)}" for name, e in definitions]
        return lines, [formulas.text(e) for e in outputs]
    assignments, texts = statements(outputs, TextWriter())
    return [f"{a.name} = {a.text}" for a in assignments], texts


def short_text(e: Expr) -> str:
    """One line about a node, cut where it would be long; for messages and reports."""
    (e,) = exactly((e,))
    if tree_sizes((e,))[e] <= READABLE:
        return Formulas().text(e)
    return format_expr(e, limit=200)


class TextWriter(Writer):
    """The command line's own grammar: exact numbers, `**`, `where`."""

    def number(self, e: Expr) -> Text:
        q = e.value
        if not isinstance(q, Fraction):
            return Text(str(q), PRODUCT if q < 0 else ATOM)
        if q.denominator > 1000:
            try:
                text = repr(float(q))
            except OverflowError:
                text = str(q)
        else:
            text = str(q)
        return Text(text, PRODUCT if q < 0 or "/" in text else ATOM)

    def function(self, op: Op, args: Sequence[str]) -> Text:
        return Text(f"{op.name}({', '.join(args)})" if args else op.name, ATOM)

    def sqrt(self, a: Text) -> Text:
        return Text(f"sqrt({a.text})", ATOM)

    def power(self, a: Text, b: Text) -> Text:
        base = a.text if a.level == ATOM and "**" not in a.text else f"({a.text})"
        return Text(f"{base}**{b.at(ATOM)}", ATOM)

    def negation(self, a: Text) -> Text:
        return Text("not " + a.at(RELATION), NEGATION)

    def conditional(self, condition: Text, a: Text, b: Text) -> Text:
        return Text(f"where({condition.at(CONDITIONAL)}, {a.text}, {b.text})", ATOM)

    def truth(self, value: bool) -> Text:
        return Text(str(value), ATOM)


# ------------------------------------------------------------------- printers
def _float_text(value: Any) -> str:
    """The shortest text of a double; 17 digits of anything longer."""
    double = float(value)
    if math.isfinite(double) and (value == double or value._prec <= 53):
        return repr(double)
    return str(value.n(17))


@cache
def _latex_printer() -> Callable[[Any], str]:
    from sympy.printing.latex import LatexPrinter

    class Printer(LatexPrinter):  # type: ignore[misc, unused-ignore]
        def _print_Float(self, e: Any) -> str:
            mantissa, _, exponent = _float_text(e).partition("e")
            return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    return lambda e: str(Printer().doprint(e))


def _print(expression: Any, printer: Callable[[Any], str]) -> str:
    operations, depth = _measure(expression)
    if operations > MAX_OPERATIONS or depth > MAX_DEPTH:
        size = (
            f"{MAX_OPERATIONS} operations" if operations > MAX_OPERATIONS else f"{MAX_DEPTH} levels"
        )
        raise SymdiffError(
            f"the expression is too large to print as one formula: more than {size}",
            hint="print it with named parts: --format python or .source('cpu')",
        )
    return printer(expression) if depth < 50 else _with_deep_stack(lambda: printer(expression))


def _measure(expression: Any) -> tuple[int, int]:
    """Operations as a tree (counted to 10**9) and depth of a SymPy expression."""
    known: dict[int, tuple[int, int]] = {}
    stack = [(expression, False)]
    while stack:
        e, ready = stack.pop()
        if id(e) in known:
            continue
        if ready or not e.args:
            below = [known[id(a)] for a in e.args]
            size = min(sum(n for n, _ in below) + 1, 10**9)
            known[id(e)] = size, max((d for _, d in below), default=0) + 1
        else:
            stack.append((e, True))
            stack.extend((a, False) for a in e.args)
    return known[id(expression)]


def _with_deep_stack(function: Callable[[], str]) -> str:
    """Call a function that recurses deeply, on a thread with room for it."""
    results: list[str] = []
    failures: list[BaseException] = []

    def target() -> None:
        try:
            results.append(function())
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=target)
    with deep_recursion(10**6):
        with _stack_lock:
            size = threading.stack_size(512 * 2**20)
            try:
                thread.start()
            finally:
                threading.stack_size(size)
        thread.join()
    if failures:
        raise failures[0]
    return results[0]
