"""Formulas of textbooks as they are printed: as short as they were, right, and input again; and
literals of programs as people wrote them."""

from __future__ import annotations

import ast
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from sympy.parsing.sympy_parser import parse_expr

from symdiff import ir
from symdiff.frontend.formula.parse import parse
from symdiff.ir import Expr
from symdiff.ir import functions as fn
from symdiff.ir.formula_text import Formulas
from symdiff.passes.simplify.check import equal
from symdiff.passes.simplify.decimals import as_written, decimals_of
from symdiff.passes.simplify.familiar import readable
from symdiff.passes.simplify.simplify import simplify as shorten
from symdiff.pipeline import readable_formulas as formulas
from symdiff.pipeline import scalar as pipeline

x, t = ir.var("x"), ir.var("t")

LISTS = ("textbooks.txt", "fields.txt")
LINES = [t for name in LISTS for t in (Path(__file__).parent / name).read_text().splitlines()]
CASES = [tuple(line.split(" : ")) for line in LINES if line and line[0] != "#"]
USUAL = {"abs": sympy.Abs, "max": sympy.Max, "min": sympy.Min, "lgamma": sympy.loggamma}
USUAL |= {"sign": sympy.sign, "where": lambda c, a, b: sympy.Piecewise((a, c), (b, True))}
PARTS = 48


def operations(text: str) -> int:
    """The operations of a formula as printed."""
    kinds = (ast.BinOp, ast.UnaryOp, ast.Call, ast.Compare, ast.BoolOp)
    return sum(isinstance(n, kinds) for n in ast.walk(ast.parse(text, mode="eval")))


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(PARTS))
def test_derivatives_of_textbooks(part: int) -> None:
    """Each is no longer than it was, has the value of the chain rule, and is read again."""
    for text, name, least in CASES[part::PARTS]:
        program = parse(text)
        decimals = decimals_of(program.outputs, program.outputs, text)
        (short,) = formulas.short_derivative(program, [name], False, decimals)
        (chain,) = pipeline.pushforward(program.outputs, {ir.var(name): ir.ONE})
        shown = Formulas(decimals).text(short.formula)
        assert operations(shown) <= int(least), shown
        chain = readable(chain)  # `xlogy` is 0 at 0 by continuity
        assert equal(chain, short.formula, strict=False, within=program.outputs[0]), shown
        again = parse(shown)
        assert again.outputs[0] is short.formula or equal(again.outputs[0], short.formula), shown
        if not re.search(r" and | or |==", shown):  # words of Python, not of SymPy's parser
            symbols = {n: sympy.Symbol(n, real=True) for n in again.params}
            read = parse_expr(shown, local_dict=USUAL | symbols)
            assert {str(s) for s in read.free_symbols} <= set(again.params), shown


# ---------------------------------------------------------------- literals of programs
def _doubles(text: str) -> Expr:
    """A formula whose decimals are the doubles that they denote in a program."""
    (e,) = parse(text).outputs
    new = {
        n: ir.const(float(q))
        for n in ir.topological((e,))
        if (q := ir.rational(n)) is not None and q.denominator > 1
    }
    return ir.substitute((e,), new)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(1 + 0.05*x)/(1 + 0.4*x**2)", "(0.05*x + 1)/(0.4*x**2 + 1)"),
        ("0.3*exp(-0.7*t)", "0.3*exp(-0.7*t)"),
        ("96485*V/(8.314*T)", "96485*V/(8.314*T)"),
        ("0.1*x + 0.2*x", "0.3*x"),
    ],
)
def test_literals_are_shown_as_they_were_written(text: str, expected: str) -> None:
    given = (_doubles(text),)
    made = as_written(given)
    assert made == parse(text).outputs
    shown = Formulas(decimals_of(given, made)).text(shorten(made)[0])
    assert equal(parse(shown).outputs[0], parse(expected).outputs[0])
    assert Formulas().length(parse(shown).outputs[0]) <= Formulas().length(made[0])


def test_pi_is_shown_where_its_double_was_written() -> None:
    assert as_written((ir.const(math.pi) * x**2,)) == (fn.PI() * x**2,)
    assert as_written((ir.const(2 * math.pi),)) == (2 * fn.PI(),)
    third = ir.const(Fraction(1, 3)) * x
    assert as_written((third,)) == (third,)


def test_decimals_do_not_stand_for_doubles_where_only_rounding_is_left() -> None:
    left = ir.raw(ir.SUB, (ir.const(0.1) * 3 * x, ir.const(0.3) * x))  # 2.8e-17*x, not 0
    assert as_written((left,)) == (left,)
    (kept,) = as_written((fn.SIN(ir.const(math.pi)),))
    assert kept is not ir.ZERO


def test_even_functions_have_no_sign_inside() -> None:
    program = parse("V*(a - b*exp(-7*V/(3*T)))/(1 - exp(-7*V/(3*T)))")
    (short,) = formulas.short_derivative(program, ["V"])
    assert "h(-" not in Formulas().text(short.formula)
