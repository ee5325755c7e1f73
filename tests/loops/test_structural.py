"""Programs that are not valid, and why."""

from __future__ import annotations

import pytest

from symdiff import ir
from symdiff.ir import const, var
from symdiff.ir.loop_program import Loop, LoopProgram, Restore, Save, array, index, load
from symdiff.ir.verify.loops import faults
from tests.loops.corpus import PROGRAMS, I, K
from tests.loops.programs import MATRIX, REAL, VECTOR, N, at, build, function, loop, update

S = var("s")


def _vector(*block, output=None) -> LoopProgram:
    return function({"x": VECTOR, "a": REAL}, block, output if output is not None else var("a"))


BROKEN = {
    "y is not defined": (_vector(build("b", "k", at("y", K))), "uses y, which is not defined"),
    "used before": (_vector(build("b", "k", at("c", K)), build("c", "k", K)), "uses c, which"),
    "inner names": (_vector(build("b", "k", K), output=index("k")), "uses k, which is not defined"),
    "twice": (_vector(build("b", "k", K), build("b", "q", K)), "b is defined 2 times"),
    "rank": (_vector(build("b", "k", load(array("x"), K, K))), "from 1 axes"),
    "real index": (_vector(output=at("x", var("a"))), "which is not an integer"),
    "whole array": (_vector(output=ir.OPS["sin"](array("x"))), "uses a whole array"),
    "number": (_vector(output=array("a")), "uses a as an array"),
    "kind": (_vector(build("b", "k", load(array("x", "i"), K))), "an array of another kind"),
    "indices": (_vector(build("b", "kq", at("x", K))), "b has 2 indices for 1 axes"),
    "condition": (_vector(build("b", "k", ir.lt(K, N))), "an element of b is a condition"),
    "guard": (_vector(update("b", "x", 0, 1, guard=K)), "the guard of b is not a condition"),
    "source": (_vector(update("b", "y", 0, 1)), "b is made from y, which is not defined"),
    "type": (_vector(update("b", "x", (0, 0), 1, MATRIX)), "b has another type than x"),
    "count": (_vector(loop("i", None, {"s": (0, S)})), "the loop over i has no count"),
    "real count": (_vector(loop("i", var("a"), {"s": (0, S)})), "the count of i is not an integer"),
    "carried": (_vector(loop("i", N, {"s": (const(0), S, VECTOR)})), "is no array: 0"),
    "array next": (
        _vector(build("m", "kq", K, MATRIX), loop("i", N, {"s": (array("x"), array("m"), VECTOR)})),
        "which has another type",
    ),
    "tape": (
        _vector(Loop("i", N, (), (), "t", restores=(Restore("tape", REAL, "r"),))),
        "the tape tape is restored but not saved",
    ),
    "tapes": (
        _vector(Loop("i", N, (), (), "t", saves=(Save("p", REAL, I), Save("p", REAL, I)))),
        "the tape p is saved at 2 places",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name: str) -> None:
    program, message = BROKEN[name]
    assert any(message in f for f in faults(program)), faults(program)


@pytest.mark.parametrize("name", PROGRAMS)
def test_valid(name: str) -> None:
    assert faults(PROGRAMS[name][0]) == []
