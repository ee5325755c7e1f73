"""Every fault has its message; valid programs have none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from symdiff import ir
from symdiff.ir import raw
from symdiff.ir.functions import SIN
from symdiff.ir.program import Program
from symdiff.ir.verify.scalar import faults

x, y = ir.var("x"), ir.var("y")
positive = ir.lt(0, x)


@pytest.mark.parametrize(
    "program",
    [
        Program("f", ("x",), (x,)),
        Program("f", (), (ir.ONE,)),
        Program("f", ("x", "y"), (x, SIN(x * y)), (0, [1, 0])),
        Program("f", ("x",), (x, x**2), {"a": np.array([[0, 1]])}),
        Program("f", ("x",), (ir.where(positive, x, ir.NAN), ir.NAN), (0, 1)),
        Program("f", ("x",), (x,), 0, (ir.le(0, x),), (ir.and_(positive, ir.lt(x, 1)),)),
    ],
)
def test_valid(program: Program) -> None:
    assert faults(program) == []


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (Program("f", ("x", "x"), (x,)), "two parameters are named x"),
        (Program("f", ("1x",), (ir.ONE,)), "parameter '1x' is not a name"),
        (Program("f", ("x",), (x + y,)), "y is not a parameter"),
        (Program("f", ("x",), (x,), 0, (ir.lt(0, y),)), "y is not a parameter"),
        (Program("f", ("x",), (1.0,)), "outputs[0] is not an expression but a float"),  # type: ignore[arg-type]
        (Program("f", ("x",), (positive,)), "outputs[0] is a condition: (0 < x)"),
        (Program("f", ("x",), (x,), 0, (x,)), "domain[0] is real: x"),
        (Program("f", ("x",), (x,), 0, (), (x,)), "assumptions[0] is real: x"),
        (Program("f", ("x",), (x,), 1), "the tree holds 1, but there are 1 outputs"),
        (Program("f", ("x",), (x,), (0, "a")), "the tree holds 'a', which is not the index"),
        (Program("f", ("x",), (x,), (0, True)), "the tree holds True, which is not the index"),
        (Program("f", ("x",), (x, x + 1), (1,)), "output 0 is not in the tree"),
        (Program("f", ("x",), (raw(ir.ADD, (x,)),)), "add has 1 arguments, not 2"),
        (Program("f", ("x",), (raw(ir.ADD, (x, positive)),)), "argument 1 of add is a condition"),
        (Program("f", ("x",), (raw(ir.WHERE, (x, x, x)),)), "argument 0 of where is real: x"),
        (
            Program("f", ("x",), (raw(ir.MUL, (x, ir.NAN)),)),
            "argument 1 of mul is the constant nan",
        ),
        (Program("f", ("x",), (raw(ir.CONST, (), 0.734),)), "constant 0.734 is not a Fraction"),
        (Program("f", ("x",), (raw(SIN, (x,), Fraction(1)),)), "sin carries a value"),
    ],
)
def test_faults(program: Program, message: str) -> None:
    found = faults(program)
    assert any(f.startswith(message) for f in found), found


@pytest.mark.slow
def test_deep_programs_do_not_recurse() -> None:
    e = x
    for _ in range(20_000):
        e = SIN(e) + 1
    assert faults(Program("f", ("x",), (e,))) == []
