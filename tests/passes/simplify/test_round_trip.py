"""What is printed for the functions of the corpus is input again, and input of SymPy's parser."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from typing import Any

import pytest
import sympy
from sympy.parsing.sympy_parser import parse_expr

from symdiff import ir, symgrad
from symdiff.cli.targets import _subject, resolve
from symdiff.codegen.sympy.text import formula_lines
from symdiff.codegen.sympy.translate import to_sympy
from symdiff.errors import SymdiffError
from symdiff.frontend.formula.parse import parse
from symdiff.ir import Expr
from symdiff.ir.formula_text import tree_sizes
from symdiff.ir.plain import exactly
from symdiff.ir.program import Program
from symdiff.passes.simplify.check import equal
from symdiff.pipeline import readable_formulas as formulas
from tests import corpus

USUAL: dict[str, Any] = {
    "abs": sympy.Abs,
    "max": sympy.Max,
    "min": sympy.Min,
    "lgamma": sympy.loggamma,
    "sign": sympy.sign,
    "copysign": lambda u, v: sympy.Abs(u) * sympy.sign(v),  # of v that is not 0
    "where": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
    "exp2": lambda u: 2**u,
    "log2": lambda u: sympy.log(u, 2),
    "log10": lambda u: sympy.log(u, 10),
    "hypot": lambda u, v: sympy.sqrt(u**2 + v**2),
    "xlogy": lambda u, v: u * sympy.log(v),
    "sinc": lambda u: sympy.sinc(sympy.pi * u),  # NumPy's, not SymPy's
    "ceil": sympy.ceiling,
    "trunc": lambda u: sympy.sign(u) * sympy.floor(abs(u)),
    "fmod": lambda u, v: u - v * sympy.sign(u / v) * sympy.floor(abs(u / v)),
    "round": sympy.Function("round"),
}
"""The names of NumPy and SciPy that the grammar has and SymPy has not, or has for others."""
LARGE, LONG = 1000, 5000
"""Operations, as a tree, and characters of formulas that are not looked at."""
FEW = ("exponentials", "hyperbolic", "norms", "scipy_functions", "logarithm_bases")


def _agree(want: Expr, text: str, params: list[str], rng: random.Random) -> None:
    """SymPy's reading of a text has the value of the formula, at some points."""
    symbols = {v: sympy.Symbol(v, real=True) for v in params}
    read = parse_expr(text, local_dict=USUAL | symbols)
    assert {str(s) for s in read.free_symbols} <= set(params), text
    if "round(" in text:
        return
    for _ in range(2):
        at = {v: Fraction(rng.randrange(3, 30), 16) for v in params}
        (value,) = ir.substitute((want,), {ir.var(v): ir.const(q) for v, q in at.items()})
        mine = complex(to_sympy([value])[0])
        bound = {symbols[v]: sympy.Rational(q.numerator, q.denominator) for v, q in at.items()}
        theirs = complex(read.subs(bound).evalf(20))
        if abs(mine) < 1e30:  # not nan either
            assert abs(theirs - mine) <= 1e-9 * (1 + abs(mine)), text


def _round_trip(case: Any) -> int:
    function = symgrad(case.fun, static=tuple(case.static)) if case.static else symgrad(case.fun)
    try:
        program = _subject(function, None).program
    except SymdiffError:
        return 0  # needs to be told sizes, or values of parameters
    if not isinstance(program, Program):
        return 0
    program = formulas.shown(program)
    shorts = formulas.short_value(program, False)
    for name in program.params:
        shorts += formulas.short_derivative(program, [name], False)
    sizes = tree_sizes(s.formula for s in shorts)
    wanted = list(exactly(s.formula for s in shorts if sizes[s.formula] < LARGE))
    rng = random.Random(case.name)
    definitions, bodies = formula_lines(wanted)
    for want, body in zip(wanted, bodies, strict=True):
        again = parse("".join(f"with {d}: " for d in definitions) + body)
        (got,) = again.outputs
        if want.args and max(q.denominator for q in _numbers(want)) < 10**12:
            assert got is want or equal(want, got), body
        try:
            (text,) = formula_lines([want], expanded=True)[1]
        except SymdiffError:
            continue  # too long as one formula
        if len(text) < LONG and not re.search(r" and | or |==|not \(", text):
            _agree(want, text, list(again.params), rng)
    return len(wanted)


def _numbers(e: Expr) -> list[Fraction]:
    return [q for n in ir.topological((e,)) if (q := ir.rational(n)) is not None] + [Fraction(1)]


@pytest.mark.sampled
@pytest.mark.parametrize("name", FEW)
def test_functions_of_numpy_are_read_again(name: str) -> None:
    (case,) = [c for c in corpus.CASES if c.name == name]
    assert _round_trip(case)


@pytest.mark.slow
def test_the_corpus_is_read_again() -> None:
    assert sum(map(_round_trip, corpus.CASES)) > 150


def test_a_target_with_names_of_functions_is_read_again() -> None:
    subject = resolve("gamma*S*I/N + beta**zeta*E")
    assert isinstance(subject.program, Program)
    for name in subject.program.params:
        for short in formulas.short_derivative(subject.program, [name]):
            (text,) = formula_lines([short.formula])[1]
            _agree(short.formula, text, list(subject.program.params), random.Random(name))
