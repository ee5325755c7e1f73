"""Checks that integers fit in 64 bits use names that are defined where they stand."""

from __future__ import annotations

from symdiff import ir
from symdiff.frontend.trace.wide_integers import checked
from symdiff.ir.loop_program import (
    INTEGER,
    REAL,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Parameter,
    index,
    walk,
)
from symdiff.ir.verify.loops import faults


def test_a_loop_that_compares_integers_and_numbers() -> None:
    """while s < 10 and k*k < 1000: s, k = 2*s, k + n"""
    s, k, n = ir.var("s"), index("k"), index("n")
    condition = ir.and_(ir.lt(s, ir.const(10)), ir.lt(ir.mul(k, k), ir.const(1000)))
    carried = (
        Carried("s", REAL, ir.var("x"), ir.mul(ir.const(2), s), "last_s"),
        Carried("k", INTEGER, n, ir.add(k, n), "last_k"),
    )
    loop = Loop("step", None, carried, (), "trips", condition)
    params = (Parameter("x", REAL), Parameter("n", INTEGER))
    found = checked(LoopProgram("f", params, (loop,), (ir.var("last_s"),)))
    assert any(isinstance(c, Check) for c in walk(found.block))
    assert faults(found) == []
