"""What need not be computed: copies of arrays, looks at sums that do not cancel, factors of errors in inner loops."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symdiff import ir, symgrad
from symdiff.ir import ZERO, const, var
from symdiff.ir.functions import EXP
from symdiff.ir.loop_program import Build, Loop, array, expressions, load, replaced, walk
from symdiff.ir.verify.loops import faults
from symdiff.loops.simplify.copies import without_copies
from symdiff.lowering.loops.vector_ready import ready
from symdiff.passes.accuracy.one_signed import never_negative
from tests.law.made import made
from tests.loops.programs import MATRIX, VECTOR, M, N, at, build, function, loop, update
from tests.loops.simplify.test_block_by_block import C, K, R, _same


def of_kernel(name: str, before: str, then: str, result: str) -> Any:
    """A sum of shifted images, each times an element of the kernel."""
    return made(
        "out, total = 0 * image[2:], 0.0", "for i in range(3):",
        f"    out = {before} + kernel[i] * image[i : len(image) - 2 + i]", f"    {then}",
        f"return {result}", name=name, params="kernel, image",
    )  # fmt: skip


filtered = of_kernel("filtered", "out", "pass", "np.sum(out**2)")
faded = of_kernel("faded", "out / 2", "pass", "np.sum(out**2)")
read_twice = of_kernel("read_twice", "out", "total = total + np.sum(out**2)", "total")


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [5, 6, 7])
@pytest.mark.parametrize("f", [filtered, faded, read_twice])
def test_adjoints_that_pass_through_loops_are_right(f: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernel, image = rng.normal(size=3), rng.normal(size=9)
    exact, given = [Fraction(v) for v in kernel], np.array([Fraction(v) for v in image])
    truth = []
    for k in range(3):  # a quadratic function: its central differences are its slopes
        sides = [np.array([x + s * (j == k) for j, x in enumerate(exact)]) for s in (1, -1)]
        truth.append((f(sides[0], given) - f(sides[1], given)) / 2)
    found = symgrad(f, wrt="kernel").grad(kernel, image)
    least = max(map(abs, truth)) / 2**50  # an array is as accurate as its largest element
    assert all(abs(Fraction(a) - b) <= least for a, b in zip(found, truth, strict=True))


def _copying(source: str, shift: int = 0) -> Any:
    return function({"d": MATRIX, "x": VECTOR}, [
        build("a", "k", load(array("x"), K) * 2),
        build("z", "k", ZERO),
        loop("r", N, {"b": (array("z"), array("b_1"), VECTOR), "s": (array("z"), array("s_1"), VECTOR)}, [
            update("b_1", "b", R, at(source, R + shift), add=True),
            update("s_1", "s", const(0), at("a", R) * at("x", R), add=True),
        ]),
    ], array("b_end"))  # fmt: skip


def test_an_array_that_a_loop_copies_is_not_copied() -> None:
    program = _copying("a")
    _, roots = without_copies(program.block, program.outputs)
    assert roots == (array("a"),)
    for other in (_copying("a", shift=1), _copying("b")):
        assert without_copies(other.block, other.outputs)[1] == other.outputs


def test_sums_of_squares_are_never_negative() -> None:
    program = function({"d": MATRIX}, [
        loop("r", N, {"s": (ZERO, var("s_inner_end")), "t": (ZERO, var("t") + at("d", R, const(0)))}, [
            loop("c", M, {"s_inner": (var("s"), var("s_inner") + at("d", R, C) ** 2)}, []),
        ]),
    ], var("s_end"))  # fmt: skip
    found = never_negative(program.block)
    assert {"s", "s_inner", "s_end", "s_inner_end"} <= found
    assert not {"t", "t_end"} & found


def test_functions_of_elements_around_inner_loops_are_computed_ahead() -> None:
    inside = EXP(at("x", R)) * at("d", R, C)
    program = function({"d": MATRIX, "x": VECTOR}, [
        build("z", "k", ZERO),
        loop("r", N, {"b": (array("z"), array("b_inner_end"), VECTOR)}, [
            loop("c", M, {"b_inner": (array("b"), array("b_1"), VECTOR)}, [
                update("b_1", "b_inner", R, inside, add=True),
            ]),
        ]),
    ], array("b_end"))  # fmt: skip
    after = ready(program)
    assert faults(after) == []
    ahead = [s for s in after.block if isinstance(s, Build) and s.value.op is EXP]
    assert [s.type for s in ahead] == [VECTOR]
    (nest,) = (s for s in after.block if isinstance(s, Loop))
    assert not any(n.op is EXP for s in walk(nest.body) for n in ir.topological(expressions(s)))
    assert _same(program, after, [[[0.3, 0.5, 0.7], [1.0, 2.0, 3.0]], [0.25, -1.5]])
    nested = replaced(program.block, {inside: EXP(at("b_inner", R)) * at("d", R, C)})
    kept = ready(replace(program, block=nested))
    assert not any(isinstance(s, Build) and s.value.op is EXP for s in kept.block)
