"""How long arrays are used: what printers ask before they change one in place."""

from __future__ import annotations

import math

import numpy as np

from symdiff.codegen.common.liveness import Point, last_uses, shares
from symdiff.codegen.source.loops import loop_source
from symdiff.ir import ONE, ZERO, var
from symdiff.ir.loop_program import Loop, array, index
from symdiff.ir.verify.loops import faults
from tests.loops.programs import VECTOR, N, at, build, function, loop, outputs, update

A, B, C = array("a"), array("b"), array("c")


def points(block, roots) -> list[Point]:
    last = last_uses(block, roots)
    return [Point(block, k, tuple(roots), last) for k in range(len(block))]


def test_an_array_ends_with_the_last_statement_that_uses_it() -> None:
    block = (build("a", "i", ONE), update("b", "a", 0, 2.0), update("c", "b", 0, 3.0))
    first, second, third = points(block, (C,))
    assert not first.ends("a") and second.ends("a")
    assert not second.ends("b") and third.ends("b")
    assert not third.ends("c")  # a result
    assert not points(block, (C, A))[1].ends("a")


def test_elements_that_are_read_later_are_listed() -> None:
    block = (build("a", "i", ONE), update("b", "a", 0, 2.0))
    _, point = points(block, (at("a", 1) + at("b", 1),))
    assert not point.ends("a") and point.later("a") == [at("a", 1)]
    _, point = points(block, (A, B))
    assert point.later("a") is None  # it is used as a whole


def carrying(second: str) -> Loop:
    """Two arrays, of which each iteration changes the first."""
    changed = update("d", "b", 0, at("b", 0) + at("c", 1))
    carried = {"b": (A, array("d"), VECTOR), "c": (array(second), array("d"), VECTOR)}
    return loop("k", N, carried, (changed,))


def test_a_start_is_shared_only_if_nothing_else_uses_it() -> None:
    assert shares(carrying("e"), 0)
    assert not shares(carrying("a"), 0)


def test_arrays_that_go_on_as_one_are_copied() -> None:
    """Both are what was changed; the next change must not be seen through the other one."""
    after = update("d", "b", 0, at("b", 0) + at("c", 1))
    total = loop("l", N, {"s": (ZERO, var("s") + at("d", 0) - at("c", 0))})
    carried = {
        "b": (A, array("d"), VECTOR), "c": (array("e"), array("d"), VECTOR),
        "t": (ZERO, var("t") + var("s_end")),
    }  # fmt: skip
    block = (
        build("a", "i", at("x", index("i"))), build("e", "j", 2 * at("x", index("j"))),
        loop("k", N, carried, (after, total)),
    )  # fmt: skip
    program = function({"x": VECTOR}, block, var("t_end"))
    assert faults(program) == []
    text, _ = loop_source("f", program)
    plain = "\n".join(s for s in text.splitlines() if not s.startswith("@"))
    scope = {"np": np, "math": math, "_at": lambda i, n: max(0, min(i, n - 1))}
    exec(plain, scope)
    x = np.array([1.0, 2.0, 3.0])
    assert scope["f"](x) == float(outputs(program, [x])[0])
