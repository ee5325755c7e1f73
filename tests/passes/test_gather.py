"""Gathered sums: the same values, in forms that are in doubt less often."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import HealthCheck, given, settings

from symdiff import functions as f
from symdiff import ir
from symdiff.codegen.symbolic import to_sympy
from symdiff.ir import DIV, Expr
from symdiff.passes.differentiate import gradient
from symdiff.passes.gather import gather
from symdiff.passes.samples import shares

from .evaluate import evaluate
from .expressions import EXPRESSIONS, POINTS, X, Y

QUOTIENT = (X**3 - 2 * X + 1) / (X**2 + 1)
FORMS = {
    "rational": gradient(QUOTIENT, [X])[0],
    "two variables": gradient((X * Y - 1) / (X * X + Y * Y + 1), [X])[0],
    "lennard-jones": gradient(4 * (X**-12 - X**-6), [X])[0],
    "squares": (X - Y) ** 2 / Y**3 - 1 / Y,
    "exponential": f.EXP(X) * Y / X - f.EXP(X) / X**2,
}


def divisions(e: Expr) -> int:
    return sum(n.op is DIV for n in ir.topological((e,)))


@pytest.mark.parametrize("name", FORMS)
def test_forms_are_shorter_and_in_doubt_less_often(name: str) -> None:
    before = FORMS[name]
    (after,) = gather((before,))
    assert after is not before
    assert divisions(after) <= divisions(before)
    doubts = shares((before, after))
    assert doubts is not None and doubts[1] <= doubts[0]


def test_a_derivative_is_one_quotient() -> None:
    (after,) = gather(gradient(QUOTIENT, [X]))
    (formula,) = to_sympy((after,))
    assert str(formula) == "(x*(x*(x**2 + 5) - 2) - 2)/(x**2 + 1)**2"


def test_what_is_short_stays() -> None:
    for e in ((1 - X) ** 2 + 100 * (Y - X * X) ** 2, f.LOG(1 + f.EXP(X)), X + Y, X * Y - 1):
        assert gather((e,)) == (e,)


def test_a_closed_form_combines_with_the_terms_beside_a_band() -> None:
    inner = ir.where(ir.lt(ir.abs_(X), ir.ONE), 1 - X**2 / 6, f.SIN(X) / X)
    outer = ir.where(ir.lt(ir.abs_(X), ir.const(2)), -X / 3, (f.COS(X) - inner) / X)
    (after,) = gather((outer,))
    assert not any(n.op is ir.WHERE for n in ir.topological((after.args[2],)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, POINTS)
def test_values_stay(e: Expr, points: list[tuple[float, float]]) -> None:
    outputs = (e, *gradient(e, [X, Y]))
    for before, after in zip(outputs, gather(outputs), strict=True):
        if before is after:
            continue
        for x, y in points:
            if max(abs(x), abs(y)) > 1e6 or 0 < min(abs(x), abs(y)) < 1e-6:
                continue
            with mpmath.workdps(400):
                point = {"x": mpmath.mpf(x), "y": mpmath.mpf(y)}
                try:
                    a, b = (evaluate(v, point) for v in (before, after))
                except (ArithmeticError, ValueError, KeyError, NotImplementedError):
                    continue
                if mpmath.isfinite(a) and mpmath.isfinite(b):
                    assert abs(a - b) <= mpmath.mpf(10) ** -40 * (1 + abs(a)), (before, after)


def test_samples_do_not_depend_on_the_process() -> None:
    first, second = shares((FORMS["rational"],)), shares((FORMS["rational"],))
    assert first == second and first is not None and math.isfinite(first[0])
