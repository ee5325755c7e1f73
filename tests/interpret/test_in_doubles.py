"""Prepared programs in doubles compute what Python does."""

from __future__ import annotations

import math

import pytest

from symdiff import ir
from symdiff.interpret.in_doubles import Program
from symdiff.ir.functions import EXP, SIN

X, Y = ir.var("x"), ir.var("y")
FORMULAS = {
    "where": (ir.where(ir.lt(X, Y), X * Y, X / Y), lambda x, y: x * y if x < y else x / y),
    "root": (ir.power(X * X + Y * Y, ir.HALF), lambda x, y: math.sqrt(x * x + y * y)),
    "function": (EXP(SIN(X) - Y), lambda x, y: math.exp(math.sin(x) - y)),
    "condition": (
        ir.where(ir.or_(ir.eq(X, Y), ir.not_(ir.le(X, ir.ONE))), ir.ONE, -X),
        lambda x, y: 1.0 if x == y or not x <= 1 else -x,
    ),
    "constant": (SIN(ir.const(2)) + X, lambda x, y: math.sin(2) + x),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_as_in_python(name: str) -> None:
    formula, plain = FORMULAS[name]
    program = Program((formula,))
    for x, y in ((0.3, 0.7), (1.5, 0.7), (-2.0, -2.0), (0.5, -1.0)):
        assert float(program.at({"x": x, "y": y})[-1]) == plain(x, y)


def test_no_error_is_raised() -> None:
    at = Program((X / Y,)).at
    assert math.isinf(at({"x": 1.0, "y": 0.0})[-1])
    assert math.isnan(at({"x": 0.0, "y": 0.0})[-1])
