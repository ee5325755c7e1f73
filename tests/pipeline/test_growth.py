"""Compiling an unrolled loop costs about as much for each of its iterations, however many."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from benchmarks.compile_time import debye, shock
from symdiff import ir, symgrad
from symdiff.frontend.capture import capture
from symdiff.interpret import exclusive
from symdiff.ir.functions import COS, EXP, SIN
from symdiff.ir.nodes import topological
from symdiff.passes.analysis.band_extent import with_truncation
from symdiff.passes.analysis.bottlenecks import Ways, bottleneck
from symdiff.passes.analysis.signs import Signs
from symdiff.pipeline import scalar
from symdiff.series.germs import Germs, order_of
from tests.work import calls


@pytest.mark.slow
def test_a_sum_of_guarded_terms():
    symgrad(debye(2), cache=False).grad(300.0)  # what is done once
    few, many = (calls(lambda n=n: symgrad(debye(n), cache=False).grad(300.0)) for n in (6, 12))
    assert many < 2.5 * few


@pytest.mark.slow
def test_steps_until_they_are_short():
    def work(n: int) -> int:
        program = capture(shock(n), {})
        return calls(lambda: scalar.value(program))

    scalar.forget()
    few, many = work(2), work(4)  # longer ones are kept as loops
    assert many < 2.5 * few


@pytest.mark.slow
def test_returns_in_a_helper_do_not_multiply_with_the_iterations():
    few, many = (calls(lambda n=n: capture(shock(n), {})) for n in (8, 16))
    assert many < 3.5 * few


@pytest.mark.slow
def test_a_helper_with_two_returns_in_many_steps():
    f = shock(40)
    assert symgrad(f, cache=False)(2.0, 5.0) == pytest.approx(f(2.0, 5.0), rel=1e-12)


def test_conditions_may_nest_deep():
    """As those of a loop of many steps do."""
    x = ir.var("x")
    deep = ir.lt(0, x)
    for n in range(3000):
        deep = ir.raw(ir.AND, (ir.lt(-n, x), deep))
    chosen = ir.where(deep, x, -x)
    assert with_truncation((chosen,), ir.var("share")) == (chosen,)
    assert Signs([deep]).nonnegative(x)


def _random(seed: int) -> tuple[list[ir.Expr], list[ir.Expr]]:
    rng = random.Random(seed)
    names = [ir.var(f"v{i}") for i in range(rng.choice((1, 3, 80)))]
    nodes = list(names)
    for _ in range(60):
        op = rng.choice((ir.ADD, ir.MUL, ir.SUB))
        nodes.append(ir.raw(op, (rng.choice(nodes[-12:]), rng.choice(nodes[-6:]))))
    return nodes, rng.sample(nodes, 3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(40))
def test_a_node_remembers_its_variables(seed):
    nodes, roots = _random(seed)
    for asked in ([roots[0]], roots, roots[::-1], [nodes[-1]], roots):
        assert ir.variables(asked) == [e for e in topological(asked) if e.op is ir.VAR]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(40))
def test_what_all_ways_pass_is_found_by_counting(seed):
    """A node is passed by all ways to a variable if there are none when it is a leaf."""
    nodes, roots = _random(seed)
    ways = Ways(roots)

    def past(t: ir.Expr) -> bool:
        seen, stack = {t}, list(roots)
        while stack:
            e = stack.pop()
            if e not in seen:
                if e in below:
                    return True
                seen.add(e)
                stack.extend(e.args)
        return False

    for t in topological(roots):
        below = set(ir.variables((t,)))
        assert ways.all_pass(t, below) is not past(t)
    t = bottleneck(roots, roots[0])
    assert t is None or len(ir.variables((t,))) == len(ir.variables(roots))


def test_germs_that_are_asked_for_later_are_those_of_a_fresh_start():
    x = ir.var("x")
    terms = [SIN(x) / x, (1 - COS(x)) / x**2, (x * x) ** ir.HALF, (EXP(x) - 1) / x, x**ir.HALF * x]
    total = ir.ZERO
    sums = [total := total + t for t in terms]

    def above(e: ir.Expr) -> list[ir.Expr]:
        return [n for n in topological((e,)) if x in ir.variables((n,))]

    with exclusive():
        order = max(order_of(above(e)) for e in sums)
        shared = Germs(x, Fraction(0), above(sums[0]))
        shared.order = order
        for e in sums[1:]:
            shared.more(above(e))
            fresh = Germs(x, Fraction(0), above(e))
            for n in above(e):
                assert shared.germs[n] == fresh.germs[n], n


def test_guards_are_judged_once_when_stages_are_switched_off(monkeypatch):
    judged = []
    real = scalar.guards

    def counted(*args):
        judged.append(args[0])
        return real(*args)

    monkeypatch.setattr(scalar, "guards", counted)
    scalar.forget()
    program = capture(lambda x: math.expm1(x) / x if x != 0 else 1.0, {})
    notes = []
    for without in (set(), {"cancel"}, {"complete"}, {"cancel", "stabilise"}):
        notes.append(scalar.Notes(without=frozenset(without)))
        scalar.simplified(program, notes[-1])
    assert len(judged) == 1
    assert notes[0].guards.guards
    assert all(n.guards.guards == notes[0].guards.guards for n in notes)
