"""Guards whose conditions have constants that are rounded, as `0.1*(-25)/(1 - exp(2.5))` before a variable."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from mpmath import mp

from symdiff import ir, symgrad
from symdiff.ir import const, var
from symdiff.ir.plain import conditions_exactly, plain
from symdiff.passes.guards.clamps import clamp_of


def two_steps(g, s):
    """The voltage after two steps: the first makes constants, the second one is guarded at -40."""
    v = -65.0
    for _ in range(2):
        rate = 1.0 if abs(v + 40) < 1e-7 else 0.1 * (v + 40) / (1 - math.exp(-(v + 40) / 10))
        v += 0.05 * (s - g * rate * (v - 50))
    return v


def exact(g, s):
    v = mp.mpf(-65)
    for _ in range(2):
        u = v + 40
        rate = 1 if u == 0 else u / 10 / -mp.expm1(-u / 10)
        v += (s - g * rate * (v - 50)) / 20
    return v


def test_the_guard_goes() -> None:
    program = symgrad(two_steps).program
    assert not any(e.op is ir.WHERE for e in ir.topological(program.outputs))


@pytest.mark.parametrize("s", [500.0, 500.0 + 1e-6])
def test_slopes_there_are_those_of_the_limit(s: float) -> None:
    with mp.workdps(60):
        expected = [float(mp.diff(exact, (0, s + mp.mpf(10) ** -30), n)) for n in ((1, 0), (0, 1))]
    assert symgrad(two_steps).grad(0.0, s) == pytest.approx(expected, rel=1e-13)


X, HALVES = var("x"), const(Fraction(5, 2))


def test_a_folded_constant_is_read_as_the_function_that_formulas_have() -> None:
    folded = plain(ir.functions.EXP, HALVES)
    assert folded.op is ir.CONST
    condition, formula = ir.lt(plain(ir.MUL, X, folded), ir.ONE), ir.functions.EXP(HALVES)
    (read, _), _ = conditions_exactly((ir.where(condition, X, ir.ZERO), X * formula))
    assert read.args[0] is ir.lt(X * formula, ir.ONE)
    (read,), _ = conditions_exactly((ir.where(condition, X, ir.ZERO),))
    assert read.args[0] is ir.lt(X * folded, ir.ONE)  # a literal may be that number, too


def test_constants_that_are_no_doubles_are_read_as_they_are() -> None:
    condition = ir.lt(plain(ir.MUL, X, const(0.5)), const(2**1200))
    third = const(Fraction(1, 3) + Fraction(1, 2**70))
    (read, _), _ = conditions_exactly((ir.where(condition, X, ir.ZERO), X * third))
    assert read.args[0] is ir.lt(X * const(0.5), const(2**1200))


def test_a_literal_is_no_constant_with_an_epsilon() -> None:
    assert clamp_of(X + const(54.387)) is None
    assert clamp_of(X + const(54.387 + 1e-9)) is not None
