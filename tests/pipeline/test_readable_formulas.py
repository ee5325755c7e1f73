"""Formulas for people of functions with guards: right at the guarded points too."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import sympy
from flint import arb

import symdiff
from symdiff import ir, symgrad
from symdiff.codegen.sympy.text import formula_lines
from symdiff.frontend.formula.parse import parse
from symdiff.interpret.flat import Tape
from symdiff.ir.formula_text import Formulas
from symdiff.pipeline import readable_formulas as formulas


def relative_exponential(x):
    return 1.0 if x == 0 else math.expm1(x) / x


def box_cox(y, k):
    return math.log(y) if abs(k) < 1e-12 else (y**k - 1) / k


def logarithmic_mean(x, y):
    return x if x == y else (x - y) / (math.log(x) - math.log(y))


def axis_angle(a, b, c):
    t = math.sqrt(a * a + b * b + c * c)
    return a * (1.0 if t == 0 else math.sin(t) / t)


def stumpff(z):
    if z > 0:
        return (1 - math.cos(math.sqrt(z))) / z
    if z < 0:
        return (math.cosh(math.sqrt(-z)) - 1) / -z
    return 0.5


def geometric_sum(r, n):
    return n if r == 1 else (1 - r**n) / (1 - r)


AT = [
    (relative_exponential, (0.0,), (0.5,)),
    (box_cox, (3.0, 0.0), (1 / 3, math.log(3.0) ** 2 / 2)),
    (logarithmic_mean, (2.0, 2.0), (0.5, 0.5)),
    (axis_angle, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    (stumpff, (0.0,), (-1 / 24,)),
    (geometric_sum, (1.0, 5.0), (10.0, 1.0)),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "point", "slopes"), AT, ids=lambda v: getattr(v, "__name__", ""))
def test_printed_derivatives_have_the_values_of_guarded_points(f, point, slopes):
    program = symgrad(f).raw_program
    for name, slope in zip(program.params, slopes, strict=True):
        (short,) = formulas.short_derivative(program, [name])
        _, (text,) = formula_lines((short.formula,), expanded=True)
        again = parse(text)
        beside = tuple(x + 0.25 for x in point)
        for at, truth in ((point, slope), (beside, symgrad(f).diff(name)(*beside))):
            tape = Tape(tuple(map(ir.var, program.params)), again.outputs)
            values = tape.run([arb(x) for x in at], 128)
            assert float(values[tape.roots[0]]) == pytest.approx(truth, rel=1e-12, abs=1e-12), text


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "point", "slopes"), AT, ids=lambda v: getattr(v, "__name__", ""))
def test_expressions_have_them_too(f, point, slopes):
    made = symgrad(f).grad.expr
    made = made if isinstance(made, tuple) else (made,)
    names = symgrad(f).raw_program.params
    for expr, slope in zip(made, slopes, strict=True):
        symbols = {s.name: s for s in expr.free_symbols}
        at = {symbols[n]: x for n, x in zip(names, point, strict=True) if n in symbols}
        assert float(expr.subs(at, simultaneous=True)) == pytest.approx(slope, abs=1e-12)


def test_what_is_not_guarded_is_not_written():
    assert str(symdiff.diff("sin(x)/x", "x")) == "(cos(x) - sin(x)/x)/x"


def test_a_guard_in_a_sympy_expression():
    x = sympy.Symbol("x")
    guarded = sympy.Piecewise((1, sympy.Eq(x, 0)), ((sympy.exp(x) - 1) / x, True))
    made = symdiff.diff(guarded, x)
    assert made.subs(x, 0) == sympy.Rational(1, 2)


def test_a_guard_that_is_none_keeps_its_slope():
    """What the user put at the point is not the limit: it is what is differentiated there."""
    made = symdiff.diff("where(x == 0, 3, sin(x)/x)", "x")
    (x,) = made.free_symbols
    assert made.subs(x, 0) == 0


@pytest.mark.slow
def test_the_command_line_prints_it(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("def f(r, n):\n    return n if r == 1 else (1 - r**n)/(1 - r)\n")
    command = [sys.executable, "-m", "symdiff", "diff", f"{path}:f", "--wrt", "r"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("where(r == 1, n*(n - 1)/2, ")


def test_bands_are_written_as_their_middles_where_the_value_agrees():
    """Otherwise they are branches of their own."""

    def sinc(x, a):
        return a if abs(x) < 1e-8 else math.sin(a * x) / x

    def bowl(x, d):
        return 0.5 * x * x if abs(x) < 1e-4 else d * abs(x)

    printed = [
        Formulas().text(formulas.short_derivative(symgrad(f).raw_program, ["x"])[0].formula)
        for f in (sinc, bowl)
    ]
    assert printed == [
        "where(x == 0, 0, (a*cos(a*x) - sin(a*x)/x)/x)",
        "where(abs(x) < 0.0001, x, d*sign(x))",
    ]
