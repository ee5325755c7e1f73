"""Formulas as a person writes them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from symdiff import ir, symgrad
from symdiff.codegen.common.temporaries import statements
from symdiff.codegen.sympy.text import TextWriter, format_latex, formula_lines
from symdiff.codegen.sympy.translate import to_sympy
from symdiff.errors import SymdiffError
from symdiff.frontend.formula.parse import parse
from symdiff.ir import DIV, INF, NEG, Expr, const, div, eq, lt, not_, power, raw, sqrt, var, where
from symdiff.ir import functions as fn
from symdiff.ir.formula_text import Formulas
from tests.codegen.sympy.test_translate import decided, exact, rational_dags

x, y = var("x"), var("y")


def text(e: Expr) -> str:
    return Formulas().text(e)


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (x + 2, "x + 2"),
        (fn.COS(x) / x - fn.SIN(x) / x**2, "cos(x)/x - sin(x)/x**2"),
        (const(0.1) * x, "0.1*x"),
        (const(1e-8) * x, "1e-08*x"),
        (const(Fraction(3, 10)) * x, "3*x/10"),
        (2 * x - x**2, "2*x - x**2"),
        (fn.EXP(-x) - x, "exp(-x) - x"),
        (-x - y, "-x - y"),
        (-((x + 1) ** 2), "-(x + 1)**2"),
        ((x + y) * (x - y), "(x + y)*(x - y)"),
        (1 / x, "1/x"),
        (div(1, sqrt(x)), "1/sqrt(x)"),
        (power(x, Fraction(1, 3)), "x**(1/3)"),
        (div(1, x**2), "1/x**2"),
        (div(1, fn.COSH(x) ** 2), "1/cosh(x)**2"),
        (div(1, x * y), "1/(x*y)"),
        (power(x + 1, Fraction(-3, 2)), "1/(x + 1)**(3/2)"),
        (div(y, x**2), "y/x**2"),
        (fn.UNIT(x, sqrt(x**2 + y**2)), "x/sqrt(x**2 + y**2)"),
        (fn.EXP(const(1)) * x, "x*exp(1)"),
        (fn.PI() * x**2, "pi*x**2"),
        (fn.ABS(x) + fn.MAXIMUM(x, y), "abs(x) + max(x, y)"),
        (fn.CEIL(x) * fn.FLOOR(y), "ceil(x)*floor(y)"),
        (fn.EXPM1(x) / x, "expm1(x)/x"),
        (fn.LOG1P(x), "log1p(x)"),
        (fn.CBRT(x) ** 2 * fn.HYPOT(x, y), "cbrt(x)**2*hypot(x, y)"),
        (fn.POLYGAMMA(0, x), "digamma(x)"),
        (fn.POLYGAMMA(1, x), "polygamma(1, x)"),
        (fn.SINC(x), "sinc(x)"),
        (fn.LGAMMA(x), "lgamma(x)"),
        (where(lt(0, x), x, -1), "where(x > 0, x, -1)"),
        (where(lt(0, x), 1, where(eq(x, y), 2, 3)) * 2, "2*where(x > 0, 1, where(x == y, 2, 3))"),
        (where(lt(0, x), where(lt(1, x), 2, y), 3), "where(x > 0, where(x > 1, 2, y), 3)"),
        (
            where(ir.and_(lt(0, x), ir.or_(lt(x, y), not_(eq(y, 1)))), x, 1),
            "where(x > 0 and (x < y or y != 1), x, 1)",
        ),
        (where(lt(x, 0), ir.NAN, x), "where(x < 0, nan, x)"),
        (where(lt(x, 0), INF, x), "where(x < 0, inf, x)"),
        (where(lt(x, 0), -INF, x), "where(x < 0, -inf, x)"),
    ],
)  # fmt: skip
def test_text(node: Expr, expected: str) -> None:
    assert text(node) == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (div(fn.SIN(x), x), r"\frac{\sin{\left(x \right)}}{x}"),
        (const(0.1) * x, "0.1 x"),
        (const(1e-8) * x, r"1 \cdot 10^{-8} x"),
        (fn.EXPM1(x), "e^{x} - 1"),
        (sqrt(x), r"\sqrt{x}"),
    ],
)
def test_latex(node: Expr, expected: str) -> None:
    assert format_latex(to_sympy([node])[0]) == expected


@pytest.mark.slow
def test_deep_formulas_print() -> None:
    v = x
    for _ in range(100):
        v = 1 / (1 + v)
    assert format_latex(to_sympy([v])[0]).count(r"\frac{1}{") == 100
    for _ in range(300):
        v = 1 / (1 + v)
    with pytest.raises(SymdiffError, match="more than 400 levels"):
        format_latex(to_sympy([v])[0])


def test_a_formula_of_astronomic_size_is_refused() -> None:
    v = x
    for _ in range(200):
        v = fn.SIN(v) + fn.COS(v) / 3
    with pytest.raises(SymdiffError, match="too large to print as one formula"):
        format_latex(to_sympy([v])[0])


def test_long_formulas_name_their_shared_parts() -> None:
    v = x
    for _ in range(50):
        v = fn.SIN(v) + fn.COS(v) / 3
    lines, texts = formula_lines([v, x + 1])
    assert lines[0] == "t0 = sin(x) + cos(x)/3"
    assert lines[-1] == "t48 = sin(t47) + cos(t47)/3"
    assert texts == ["sin(t48) + cos(t48)/3", "x + 1"]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (x - (y - x), "x - (y - x)"),
        (raw(DIV, (x, raw(DIV, (y, x)))), "x/(y/x)"),
        ((x + y) * x, "(x + y)*x"),
        (-(x * y), "-x*y"),
        (power(-x, y), "(-x)**y"),
        (power(power(x, y), y), "(x**y)**y"),
        (power(x, const(Fraction(1, 3))), "x**(1/3)"),
        (const(-2) * x, "-2*x"),
        (raw(ir.ADD, (y, const(-2) * x)), "y - 2*x"),
        (raw(ir.SUB, (y, const(-2) * x)), "y + 2*x"),
        (raw(ir.ADD, (y, raw(NEG, (x,)))), "y + (-x)"),
        (raw(NEG, (const(-2) * x,)), "-(-2*x)"),
        (x + const(Fraction(1, 3)), "x + 1/3"),
        (not_(lt(x, 1)), "not x < 1"),
        (where(lt(0, x), 1, 2) ** 2, "where(x > 0, 1, 2)**2"),
    ],
)
def test_parentheses(node: Expr, expected: str) -> None:
    assert statements([node], TextWriter())[1] == [expected]


@pytest.mark.slow
@given(
    rational_dags(), st.fractions(-2, 2, max_denominator=8), st.fractions(-2, 2, max_denominator=8)
)
def test_what_is_printed_can_be_read_back(e: Expr, p: Fraction, q: Fraction) -> None:
    assume(decided(e, {"x": p, "y": q}))
    truth = exact(e, {"x": p, "y": q})
    for printed in (text(e), expanded(e)):
        read = parse(printed).outputs[0]
        got = exact(read, {"x": p, "y": q})
        assert abs(got - truth) <= 1e-12 * max(1, abs(truth)), printed  # constants to 17 digits


def expanded(e: Expr) -> str:
    """The text of the DAG as it stands, its temporaries written out."""
    assignments, (result,) = statements([e], TextWriter())
    for a in reversed(assignments):
        result = re.sub(rf"\b{a.name}\b", f"({a.text})", result)
    return result


@pytest.mark.slow
def test_what_decides_is_written_as_the_formula_that_it_is():
    """Decisions are computed in doubles, in nodes of their own, whose names are nobody's."""
    f = symgrad(
        lambda x, y: y * (1.0 if x * 10 == 1.0 else 2.0) + round(x * 10) / 10 + x // (y * 3)
    )
    text = str(f.report())
    assert "y*where(10*x == 1, 1, 2) + floor(x/(3*y)) + round(10*x)/10" in text
    g = symgrad(lambda x: sum(v for v in x if v * 10 < 3.0) + int(x[0] * 7))
    for shown in (text, str(g.report()), g.source(), f.grad.source(), str(g.expr)):
        assert "plain:" not in shown
