"""What is simplified in blocks before and after differentiation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from symdiff import ir
from symdiff.ir import TRUE, ZERO, var
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import EXP, SIN
from symdiff.ir.loop_program import Build, Loop, LoopProgram, array, index, names_of, walk
from symdiff.ir.verify.loops import faults
from symdiff.loops.simplify import block_by_block
from symdiff.loops.simplify.deltas import _without_sums
from symdiff.loops.simplify.forwarding import _Rewriter
from symdiff.loops.simplify.fuse import _placed, fused
from symdiff.loops.simplify.promote import promoted
from symdiff.loops.simplify.repeated import _worth
from symdiff.loops.simplify.tabulate import gathered
from symdiff.passes.complete.complete import complete
from symdiff.passes.complete.removable import meaning
from symdiff.pipeline import loops as loop_pipeline
from tests.loops.corpus import PROGRAMS, C, I, J, K, R
from tests.loops.programs import (
    MATRIX,
    VECTOR,
    M,
    N,
    at,
    build,
    close,
    function,
    loop,
    outputs,
    update,
)

ARGS = [[[0.3, 0.5, 0.7], [1.0, 2.0, 3.0]]]


def _with_block(program: LoopProgram, block) -> LoopProgram:
    new = LoopProgram(program.name, program.params, tuple(block), program.outputs, program.tree)
    assert faults(new) == []
    return new


def _same(a: LoopProgram, b: LoopProgram, args: list) -> bool:
    return all(map(close, outputs(a, args), outputs(b, args)))


def _rows_of_sums(value: ir.Expr, **options) -> LoopProgram:
    """What two loops do to the element of a row in the inner one."""
    return function({"d": MATRIX}, [
        build("z", "k", ZERO),
        loop("r", N, {"e": (array("z"), array("f_end"), VECTOR)}, [
            loop("c", M, {"f": (array("e"), array("g"), VECTOR)}, [
                update("g", "f", R, value, **options),
            ]),
        ]),
    ], array("e_end"))  # fmt: skip


def test_an_element_that_a_loop_changes_becomes_a_number() -> None:
    program, args, _ = PROGRAMS["blending_rows"]
    after = _with_block(program, promoted(program.block, names_of(program)))
    (inner,) = (s for s in walk(after.block) if isinstance(s, Loop) and s.index == "c")
    assert all(not c.type.shape for c in inner.carried)
    assert _same(program, after, args)


def test_a_loop_over_elements_becomes_an_array() -> None:
    program = _rows_of_sums(SIN(at("d", R, C)), add=True)
    after = _with_block(program, gathered(program.block, names_of(program)))
    assert all(isinstance(s, Build) for s in after.block)
    assert not any(isinstance(s, lp.Update) for s in walk(after.block))
    assert _same(program, after, ARGS)


def test_a_loop_whose_iterations_depend_on_each_other_stays() -> None:
    program, args, _ = PROGRAMS["history"]
    after = _with_block(program, gathered(program.block, names_of(program)))
    assert after == program
    assert _same(program, after, args)


def test_shifted_places_have_bounds() -> None:
    program = function({"x": VECTOR}, [
        loop("i", N - 2, {"e": (array("x"), array("g"), VECTOR)}, [
            update("g", "e", I + 2, at("x", I), add=True),
        ]),
    ], array("e_end"))  # fmt: skip
    after = _with_block(program, gathered(program.block, names_of(program)))
    assert isinstance(after.block[0], Build)
    assert _same(program, after, [[0.3, 0.5, 0.7, 0.9]])


def test_the_last_of_several_writes_counts() -> None:
    program = _rows_of_sums(at("d", R, C))
    assert _same(program, loop_pipeline.value(program), ARGS)


def test_an_array_that_is_used_once_is_fused() -> None:
    program, args, _ = PROGRAMS["dot"]
    after = _with_block(program, fused(program.block, program.outputs, late=False))
    assert [type(s) for s in after.block] == [Loop]
    assert _same(program, after, args)


def test_an_array_that_takes_loops_stays_for_the_reverse_sweep() -> None:
    total = loop("j", M, {"s": (0, var("s") + at("d", K, J))})
    program = function({"d": MATRIX}, [
        build("y", "k", var("s_end"), VECTOR, [total]),
        build("z", "q", EXP(at("y", index("q")))),
    ], array("z"))  # fmt: skip
    assert fused(program.block, program.outputs, late=False) == program.block
    late = _with_block(program, fused(program.block, program.outputs, late=True))
    assert len(late.block) == 1
    assert _same(program, late, ARGS)


def test_sizes_that_are_checked_to_be_equal_have_one_name() -> None:
    block = [
        lp.Check(ir.eq(M, N), "value", "the sizes differ"),
        loop("i", M, {"e": (array("x"), array("g"), VECTOR)}, [
            update("g", "e", I, SIN(at("x", I)), guard=ir.lt(I, N)),
        ]),
    ]  # fmt: skip
    program = function({"x": VECTOR, "d": MATRIX}, block, array("e_end"))
    after = loop_pipeline.value(program)
    (made,) = (s for s in after.block if isinstance(s, Build))
    assert made.value is SIN(at("x", index(made.indices[0])))


def test_removable_singularities_are_filled_in_elements() -> None:
    x = at("x", K)
    program = function({"x": VECTOR}, [build("y", "k", (EXP(x) - 1) / x)], array("y"))
    assert close(outputs(loop_pipeline.value(program), [[0.0, 1.0]])[0], [1.0, 1.718281828459045])
    rows = outputs(loop_pipeline.jacobian(program, ["x"]), [[0.0, 0.0]])[0]
    assert close(rows, [[0.5, 0.0], [0.0, 0.5]])


def test_what_is_emitted_has_no_completed_operations() -> None:
    program, _, _ = PROGRAMS["expm1"]
    last = loop_pipeline.final(loop_pipeline.gradient(program, ["d"]))
    assert faults(last) == []
    assert close(outputs(last, [[0.0, 0.0, 0.0]])[0], [0.75, 0.75, 0.5])


OPTIONAL = sorted({p.name for p in (*block_by_block.EARLY, *block_by_block.LATE) if p.optional})


@pytest.mark.sampled
@pytest.mark.parametrize("name", OPTIONAL)
def test_values_do_not_depend_on_a_pass_that_may_be_switched_off(name: str) -> None:
    changed = False
    for late in (False, True):
        for program, args, _ in PROGRAMS.values():
            found = []
            for off in ((), (name,)):
                block, roots = block_by_block.simplified(
                    program.block, program.outputs, names_of(program), late=late, without=off
                )
                found.append(replace(program, block=block, outputs=roots))
                assert faults(found[-1]) == []
            if found[0] != found[1]:
                changed = True
                assert _same(found[0], found[1], args)
    assert changed == (name not in UNSEEN)


UNSEEN = (
    "absent_terms", "copies", "deltas", "exponents", "only_where_read", "repeated",
    "running_norms", "slopes", "through",
)  # fmt: skip
"""Passes that these programs do not call for; `tests/passes/text` has programs that do."""


def test_completed_functions_are_written_out_where_they_only_count() -> None:
    """for i in range(3): if sin(x)/x < 1: n = n + 1"""
    x, n = ir.var("x"), index("n")
    (ratio,) = complete((SIN(x) / x,))
    assert meaning(ratio.op) is not None
    counted = ir.where(ir.lt(ratio, ir.ONE), ir.add(n, ir.ONE), n)
    loop = Loop(
        "i",
        ir.const(3),
        (lp.Carried("n", lp.INTEGER, ir.ZERO, counted, "last"),),
        (),
        "trips",
        TRUE,
    )
    (made,), _ = block_by_block.final((loop,), (index("last"),))
    assert not any(meaning(e.op) for e in ir.topological(lp.expressions(made)))


# ------------------------------------------------------- small parts, each by itself
def test_what_repeats_others_goes_only_where_it_costs_something() -> None:
    cheap = build("a", "i", at("x", index("i")) + 1)
    assert not _worth(cheap, set())
    costly = build("a", "i", EXP(at("x", index("i"))))
    assert _worth(costly, set()) and not _worth(costly, {"a"})
    inner = loop("l", N, {"s": (ZERO, var("s") + at("x", index("l")))})
    assert _worth(build("a", "i", var("s_end"), body=(inner,)), set())
    assert _worth(inner, set())


def test_a_sum_over_a_delta_has_one_term_beside_the_others() -> None:
    """s + where(k == 2, x[k], 0) + y[k]: the delta leaves the loop, the rest stays."""
    once = ir.where(ir.eq(K, ir.const(2)), at("x", K), ZERO)
    s = loop("k", N, {"s": (ZERO, var("s") + once + at("y", K))})
    left, sums = _without_sums(s)
    (c,) = left.carried
    assert c.next is var("s") + at("y", K)
    (extra,) = sums.values()
    assert at("x", 2) in ir.topological((extra,)) and K not in ir.topological((extra,))


def test_a_product_with_the_total_is_no_sum() -> None:
    once = ir.where(ir.eq(K, ir.const(2)), at("x", K), ZERO)
    s = loop("k", N, {"s": (ir.ONE, 2 * var("s") + once)})
    assert _without_sums(s) == (s, {})


def test_the_start_of_a_loop_is_outside_of_it() -> None:
    start, step = at("x", 0), var("s") + at("x", K)
    s = loop("k", N, {"s": (start, step)})
    places = {e: path for path, e in _placed(s, ())}
    assert places[start] == () and places[N] == () and places[step] == (s,)


def test_equal_sizes_have_one_name() -> None:
    three = ir.const(3)
    for op, sizes, leaves in (
        (ir.EQ, (N, three), {N: three}),
        (ir.EQ, (three, N), {N: three}),
        (ir.EQ, (N, M), {N: M}),
        (ir.LE, (N, three), {}),
    ):
        check = lp.Check(ir.raw(op, sizes), "value", "sizes differ")
        work = _Rewriter((check, build("a", "i", ir.ONE)), (array("a"),))
        work.block((check,))
        assert work.leaves == leaves


def test_updates_of_one_element_are_one() -> None:
    block = (update("b", "a", 0, 1.0), update("c", "b", 0, 2.0))
    work = _Rewriter(block, (array("c"),))
    *_, last = work.block(block)
    assert (last.source, last.value) == ("a", ir.const(2)) and last.type == VECTOR
