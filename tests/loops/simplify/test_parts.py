"""Small parts of the simplification of loops, each by itself."""

from __future__ import annotations

from symdiff import ir
from symdiff.ir import ONE, ZERO, var
from symdiff.ir import functions as F
from symdiff.ir.loop_program import Check, array, index
from symdiff.loops.simplify.deltas import _without_sums
from symdiff.loops.simplify.forwarding import _Rewriter
from symdiff.loops.simplify.fuse import _placed
from symdiff.loops.simplify.repeated import _worth
from tests.loops.programs import VECTOR, M, N, at, build, loop, update

K = index("k")
S = var("s")


def test_what_repeats_others_goes_only_where_it_costs_something() -> None:
    cheap = build("a", "i", at("x", index("i")) + 1)
    assert not _worth(cheap, set())
    costly = build("a", "i", F.EXP(at("x", index("i"))))
    assert _worth(costly, set()) and not _worth(costly, {"a"})
    inner = loop("l", N, {"s": (ZERO, S + at("x", index("l")))})
    assert _worth(build("a", "i", var("s_end"), body=(inner,)), set())
    assert _worth(inner, set())


def test_a_sum_over_a_delta_has_one_term_beside_the_others() -> None:
    """s + where(k == 2, x[k], 0) + y[k]: the delta leaves the loop, the rest stays."""
    once = ir.where(ir.eq(K, ir.const(2)), at("x", K), ZERO)
    s = loop("k", N, {"s": (ZERO, S + once + at("y", K))})
    left, sums = _without_sums(s)
    (c,) = left.carried
    assert c.next is S + at("y", K)
    (extra,) = sums.values()
    assert at("x", 2) in ir.topological((extra,)) and K not in ir.topological((extra,))


def test_a_product_with_the_total_is_no_sum() -> None:
    once = ir.where(ir.eq(K, ir.const(2)), at("x", K), ZERO)
    s = loop("k", N, {"s": (ONE, 2 * S + once)})
    assert _without_sums(s) == (s, {})


def test_the_start_of_a_loop_is_outside_of_it() -> None:
    start, step = at("x", 0), S + at("x", K)
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
        check = Check(ir.raw(op, sizes), "value", "sizes differ")
        work = _Rewriter((check, build("a", "i", ONE)), (array("a"),))
        work.block((check,))
        assert work.leaves == leaves


def test_updates_of_one_element_are_one() -> None:
    block = (update("b", "a", 0, 1.0), update("c", "b", 0, 2.0))
    work = _Rewriter(block, (array("c"),))
    *_, last = work.block(block)
    assert (last.source, last.value) == ("a", ir.const(2)) and last.type == VECTOR
