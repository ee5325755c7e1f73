"""Gathered sums: the same values, in forms that are flagged less often."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from symdiff import ir, symgrad
from symdiff.codegen.sympy.translate import to_sympy
from symdiff.ir import DIV, Expr
from symdiff.ir import functions as f
from symdiff.passes.accuracy.flagged import shares
from symdiff.passes.accuracy.gather_fractions import gather
from symdiff.passes.differentiate import gradient
from symdiff.runtime.scalar.kernel import Kernel
from tests.passes.evaluate import evaluate
from tests.passes.expressions import EXPRESSIONS, POINTS, X, Y

QUOTIENT = (X**3 - 2 * X + 1) / (X**2 + 1)
FORMS = {
    "rational": gradient(QUOTIENT, [X])[0],
    "two variables": gradient((X * Y - 1) / (X * X + Y * Y + 1), [X])[0],
    "lennard-jones": gradient(4 * (X**-12 - X**-6), [X])[0],
    "squares": (X - Y) ** 2 / Y**3 - 1 / Y,
    "exponential": f.EXP(X) * Y / X - f.EXP(X) / X**2,
    "whole angles": (X * (2 * f.SIN(X / 2) ** 2 - 3) + 3 * f.SIN(X)) / X**4,
    "half angles": f.SIN(X) / X**2 - 4 * f.SIN(X / 2) ** 2 / X**3,
}


def divisions(e: Expr) -> int:
    return sum(n.op is DIV for n in ir.topological((e,)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
def test_forms_are_shorter_and_flagged_less_often(name: str) -> None:
    before = FORMS[name]
    (after,) = gather((before,))
    assert after is not before
    assert divisions(after) <= divisions(before)
    flags = shares((before, after))
    assert flags is not None and flags[1] <= flags[0]


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


@pytest.mark.slow
def test_a_closed_form_stands_alone_where_the_middle_of_its_band_does_not_count() -> None:
    both = symgrad(lambda x: 1 / math.tanh(x) - 1 / x).value_and_grad
    slope = both._compiled({})[1].kernel.outputs[1]
    assert slope.op is ir.WHERE and has_choice(slope.args[2])
    (alone,) = gather((slope,))
    assert not has_choice(alone.args[2])
    (near,) = gather((slope.args[2],))
    assert has_choice(near)


def has_choice(e: Expr) -> bool:
    return any(n.op is ir.WHERE for n in ir.topological((e,)))


def test_a_sine_that_occurs_by_itself_stays() -> None:
    outputs = (f.SIN(X), f.SIN(X / 2) ** 2)
    assert gather(outputs) == outputs


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("fun", "most"),
    [
        (lambda t: (1 - math.cos(t)) / t**2, 0.05),
        (lambda t: 1 / math.tanh(t) - 1 / t, 0.02),
        (lambda t: (t - math.sin(t)) / t**3, 0.01),
    ],
    ids=["cosine quotient", "langevin", "sine quotient"],
)
def test_quotients_at_removable_points_are_right_and_seldom_flagged(
    fun: Callable[[float], float], most: float
) -> None:
    x = np.random.default_rng(2).uniform(-10, 10, 4000)
    both = symgrad(fun, parallel=False).value_and_grad
    kernel = both._compiled({})[1].kernel
    assert Kernel(kernel.function).evaluate([x]).flagged < most * x.size
    value, slope = both(x)
    true_value, true_slope = symgrad(fun, accuracy="certified").value_and_grad(x[:500])
    for got, true in ((value, true_value), (slope, true_slope)):
        assert np.all(np.abs(got[:500] - true) <= 8 * np.spacing(np.abs(true)))


@pytest.mark.slow
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
