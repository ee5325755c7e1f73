"""Walks over parts of a DAG meet each node once, in their order, at any depth."""

from __future__ import annotations

from symdiff import ir

A, B, C = (ir.var(n) for n in "abc")


def test_parents_come_first_and_shared_nodes_once() -> None:
    product = A * B
    total = product + product * C
    found = list(ir.reached((total,), ir.through(ir.ADD, ir.MUL)))
    assert found == [total, product, A, B, product * C, C]


def test_what_is_below_is_asked_after_a_node_was_taken() -> None:
    total = A * B + C
    taken = []
    for e in ir.reached((total,), lambda e: () if e in taken else e.args):
        if e.op is ir.MUL:
            taken.append(e)
    assert A not in ir.reached((total,), lambda e: () if e in taken else e.args)
    assert taken == [A * B]


def test_children_come_first() -> None:
    product = A * B
    total = product + product * C
    order = ir.children_first((total,), lambda e: e.args)
    assert order == ir.topological((total,))
    assert ir.children_first((total,), lambda e: e.args, {product}) == [C, product * C, total]


def test_conjunctions_are_taken_apart() -> None:
    first, second = ir.lt(A, B), ir.lt(B, C)
    both = ir.and_(ir.and_(first, second), first)
    assert list(ir.conjuncts(both, second)) == [first, second]


def test_nodes_are_counted_as_far_as_needed() -> None:
    e = A
    for _ in range(5000):
        e = ir.raw(ir.NEG, (e,))
    assert not ir.has_at_most(5000, (e,))
    assert ir.has_at_most(5001, (e,))


def test_topmost_nodes_hide_those_below() -> None:
    inner = ir.abs_(A)
    outer = ir.abs_(inner * B - C)
    assert ir.topmost((outer + inner, C), (ir.ABS,)) == [outer, inner]


def test_nodes_over_other_children_stay_as_they_are() -> None:
    e = ir.raw(ir.ADD, (A, B))
    assert ir.with_args(e, (A, B)) is e
    assert ir.with_args(e, (A, ir.ZERO)).args == (A, ir.ZERO)
