"""The reference interpreter, against Python written by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret import exclusive
from symdiff.interpret.loops import Doubles, Precise, run
from symdiff.ir import loop_program as lp
from symdiff.ir import var
from symdiff.ir.loop_program import Loop, LoopProgram, Restore, Save, Type, array, index, load
from tests.loops.corpus import PROGRAMS, I, K
from tests.loops.programs import REAL, VECTOR, N, at, build, close, function, loop, outputs, update

X = [0.3, 0.5, 0.7, 1.1]


def test_a_network() -> None:
    program, (x, w, u), _ = PROGRAMS["network"]
    h = np.zeros(2)
    for v in x:
        h = np.tanh(np.array(w) @ h + np.array(u) * v)
    assert close(float(run(program, [x, w, u])[0]), h.sum(), 1e-14)
    assert close(outputs(program, [x, w, u])[0], h.sum(), 1e-14)


def test_a_triangle() -> None:
    program, _, _ = PROGRAMS["triangle"]
    s = 1.0
    for i in range(4):
        for j in range(i):
            s += math.exp(X[i] * X[j]) * s / 10
    assert close(outputs(program, [X])[0], s, 1e-13)


def test_a_while_loop() -> None:
    program, _, _ = PROGRAMS["newton"]
    assert abs(outputs(program, [2.7])[0] - math.sqrt(2.7)) < 1e-3


def test_a_reversed_loop() -> None:
    program, _, _ = PROGRAMS["backwards"]
    s = 1.0
    for v in reversed(X):
        s = math.sin(s) * v
    assert close(outputs(program, [X])[0], s, 1e-14)


def test_precision() -> None:
    third = function({"x": REAL}, [], var("x") / 3)
    (value,) = run(third, [1.0], Precise(500))
    with exclusive(500):
        assert abs(value * 3 - 1) < 2.0**-490
    assert run(third, [1.0], Doubles()) == [1 / 3]


def test_integers_round_down() -> None:
    values = [ir.apply(lp.FLOORDIV, K - 3, ir.const(2)), ir.apply(lp.MOD, K - 3, ir.const(2))]
    integers = Type((N,), "i")
    block = [build(f"b{k}", "k", v, integers) for k, v in enumerate(values)]
    block[1] = build("b1", "q", ir.substitute([values[1]], {K: index("q")})[0], integers)
    program = function({"x": VECTOR}, block, array("b0", "i"), array("b1", "i"))
    assert [list(o) for o in run(program, [X])] == [[-2, -1, -1, 0], [1, 0, 1, 0]]


def test_loads_outside_are_moved_to_the_end() -> None:
    program = function({"x": VECTOR}, [], at("x", -5), at("x", N + 3))
    assert [float(v) for v in run(program, [X])] == [0.3, 1.1]


def test_updates_outside_are_errors() -> None:
    program = function({"x": VECTOR}, [update("y", "x", N, 1)], at("y", 0))
    with pytest.raises(SymdiffError, match="is outside of"):
        run(program, [X])


def test_no_iteration_leaves_what_there_was() -> None:
    program = function({"x": VECTOR}, [loop("i", N - 9, {"s": (7, var("s") + 1)})], var("s_end"),
                       index("i_trips"))  # fmt: skip
    assert [float(v) for v in run(program, [X])] == [7, 0]


def test_checks() -> None:
    check = lp.Check(ir.lt(N, ir.const(3)), "value", "too long")
    program = function({"x": VECTOR}, [check], at("x", 0))
    assert float(run(program, [[1.0, 2.0]])[0]) == 1.0
    with pytest.raises(ValueError, match="too long"):
        run(program, [X])


def test_tapes_are_last_in_first_out() -> None:
    save = Loop("i", N, (), (), "t", saves=(Save("tape", REAL, at("x", I)),))
    back = loop("j", N, {"s": (0, 2 * var("s") + var("r"))})
    restored = Loop(back.index, N, back.carried, (), back.trips, reverse=True,
                    restores=(Restore("tape", REAL, "r"),))  # fmt: skip
    program = function({"x": VECTOR}, [save, restored], var("s_end"))
    assert close(outputs(program, [X])[0], ((1.1 * 2 + 0.7) * 2 + 0.5) * 2 + 0.3)
    with pytest.raises(SymdiffError, match="values are left on the tapes"):
        run(function({"x": VECTOR}, [save], at("x", 0)), [X])


def test_sizes_must_agree() -> None:
    program = function({"x": VECTOR, "y": VECTOR}, [], at("x", 0) * at("y", 0))
    with pytest.raises(SymdiffError, match="an axis of y has the size 2, not 4"):
        run(program, [X, [1.0, 2.0]])


def test_data_that_is_known_when_traced() -> None:
    table = load(array("t"), load(array("p", "i"), I))
    sum_ = loop("i", N, {"s": (0, var("s") + table * at("x", I))})
    plain = function({"x": VECTOR}, [sum_], var("s_end"))
    program = LoopProgram("f", plain.params, plain.block, plain.outputs, 0,
                         {"t": np.array([2.0, 3.0]), "p": np.array([0, 1, 1, 0])})  # fmt: skip
    assert close(outputs(program, [X])[0], 2 * 0.3 + 3 * 0.5 + 3 * 0.7 + 2 * 1.1)
