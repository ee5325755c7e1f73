"""What is compared before a shorter formula is used: at which points, and what they tell apart."""

from __future__ import annotations

import pytest

from symdiff.frontend.formula.parse import parse
from symdiff.ir import Expr
from symdiff.ir.formula_text import Formulas
from symdiff.passes.simplify.candidates import Candidates
from symdiff.passes.simplify.check import compare, equal
from symdiff.passes.simplify.simplify import simplify


def formula(text: str) -> Expr:
    """The formula of a text."""
    return parse(text).outputs[0]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sqrt(x**2)", "x"),
        ("abs(x)*y", "x*y"),
        ("atan(x) + atan(1/x)", "pi/2"),  # on one side of 0 alone
        ("acos(x) + acos(-x) + y", "3*y"),
        ("log(x**2)", "2*log(x)"),
        ("x*sign(x) + y", "x + y"),
        ("max(x, y)", "x + y - abs(min(x, y))"),
        ("(x + y)**2", "x**2 + y**2"),
        ("exp(x)*exp(y)", "exp(x*y)"),
        ("sin(x)*y", "x*y - x**3*y/6"),
        ("asin(sin(x))", "x"),
        ("where(x > 0.25, y, 2*y)", "y"),
    ],
)
def test_wrong_forms_are_found(before: str, after: str) -> None:
    """Formulas that agree at some points only."""
    assert compare(formula(before), formula(after), False) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a*x + y", "a*(x**2 + x)/(x + 1) + y"),
        ("1/(x + 1) + a", "(x - 1)/(x**2 - 1) + a"),
        ("a*exp(x)", "a*exp(x)*(y**2 - y*z)/(y*(y - z))"),
        ("tanh(x)*y", "(exp(2*x) - 1)*y**2/(y*(exp(2*x) + 1))"),
        ("sin(x)*a", "a*tan(x)*cos(x)"),
        ("x**a*b", "x**(a + 1)*b/x"),
        ("a/(b - c)", "a*(d - c)/((b - c)*(d - c))"),
    ],
)
def test_undefined_forms_are_found(before: str, after: str) -> None:
    """Formulas that are undefined where what they replace is a number: at zeros of variables
    and of sums that they divide by."""
    rest = " + d*(c + y + z)"
    assert compare(formula(before + rest), formula(after + rest)) != ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sin(x)**2*a + a*cos(x)**2", "a"),
        ("V/(K + S) - S*V/(K + S)**2", "K*V/(K + S)**2"),
        ("sqrt(x)*sqrt(x)*y/x", "y*sqrt(x)/sqrt(x)"),
        ("log(exp(x)) + y", "x + y"),
        ("(exp(x) - exp(-x))/(exp(x) + exp(-x))*y", "tanh(x)*y"),
    ],
)
def test_equal_forms_are_known_to_be(before: str, after: str) -> None:
    assert equal(formula(before), formula(after), strict=False)


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("a/(a + b) - a*b/(a + b)**2", "(a/(a + b))**2"),
        ("-2*m**2/(m*x - y)**2", "-2*(m/(m*x - y))**2"),
        ("e**x", "exp(x)"),
        ("exp(x)**a", "exp(a*x)"),
        ("2*x*sin(y) + 2*z/(x + 1)", "2*(x*sin(y) + z/(x + 1))"),
        ("2*x*exp(-y)/sqrt(2*pi)", "x*sqrt(2/pi)*exp(-y)"),
        ("-x*sqrt(3)/sqrt(pi)", "-x*sqrt(3/pi)"),
        ("6*x/sqrt(2*pi)", "6*x/sqrt(2*pi)"),
        ("-A*g*cos(t)*exp(-g*t) - A*exp(-g*t)*sin(t)", "-A*(g*cos(t) + sin(t))*exp(-g*t)"),
    ],
)
def test_short(long: str, short: str) -> None:
    """Powers of quotients, powers of e, integers and signs that all terms have, roots of numbers."""
    (found,) = simplify((formula(long),))
    assert Formulas().text(found) == short


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("V/(K + S) - S*V/(K + S)**2", 4),
        ("(2*x + 3)/(x + 1) - (x**2 + 3*x)/(x + 1)**2", 4),
        ("-N*k*(1 - x)*exp(-k*t)/(x + 1)", 4),
    ],
)
def test_few_values_are_written(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a sum are not searched where they are longer than the whole for sure."""
    made: list[object] = []
    forms = Candidates._forms
    monkeypatch.setattr(Candidates, "_forms", lambda self, v: made.append(v) or forms(self, v))
    simplify((formula(text),))
    assert 0 < len(made) <= most
