"""Calls as loops, for devices: products of matrices, and arrays with calls for each element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ZERO, var
from symdiff.ir.loop_program import (
    REAL,
    Block,
    Build,
    Call,
    Carried,
    Loop,
    Statement,
    Type,
    Update,
    array,
    index,
    load,
    name_of,
)
from symdiff.ir.names import Names
from symdiff.lowering.loops.matmul import TURNED


def product(s: Call, types: Mapping[str, Type], names: Names) -> Build:
    """A call of "matmul", or of one that takes transposed matrices, as the sums that it is."""
    a, b = s.args
    ((name, t),) = s.results
    turned = TURNED[s.routine]
    left = types[name_of(a)].shape
    places = tuple(names.fresh("i") for _ in t.shape)
    k = names.fresh("k")
    start, end = names.fresh("sum"), names.fresh("sum")
    rows = [index(i) for i in places[: len(left) - 1]]
    columns = [index(i) for i in places[len(left) - 1 :]]
    first, second = (*rows, index(k)), (index(k), *columns)
    factors = (
        load(a, *(reversed(first) if turned[0] else first)),
        load(b, *(reversed(second) if turned[1] else second)),
    )
    term = ir.raw(ir.MUL, factors)
    carried = Carried(start, REAL, ZERO, ir.raw(ir.ADD, (var(start), term)), end)
    inside = Loop(k, left[0 if turned[0] else -1], (carried,), (), names.fresh("trips"))
    return Build(name, t, places, var(end), (inside,))


def products(block: Block, types: Mapping[str, Type], names: Names) -> Block:
    """A block in which products of matrices are the sums that they are."""
    made: list[Statement] = []
    for s in block:
        if isinstance(s, (Build, Loop)):
            s = replace(s, body=products(s.body, types, names))
        elif isinstance(s, Call) and s.routine in TURNED:
            s = product(s, types, names)
        made.append(s)
    return tuple(made)


def one_by_one(s: Build, names: Names) -> tuple[Build, Loop]:
    """A build as a loop over its elements, each put into its place."""
    empty, last = names.fresh(s.name), s.name
    places = tuple(names.fresh("i") for _ in s.indices)
    start = Build(empty, s.type, places, ZERO)
    source = names.fresh(s.name)
    update = names.fresh(s.name)
    body: Block = (
        *s.body, Update(update, source, s.type, tuple(map(index, s.indices)), s.value),
    )  # fmt: skip
    for axis in reversed(range(len(s.indices))):
        outer, result = (empty, last) if axis == 0 else (names.fresh(s.name), names.fresh(s.name))
        carried = Carried(
            source, s.type, array(outer, s.type.kind), array(update, s.type.kind), result
        )
        loop = Loop(s.indices[axis], s.type.shape[axis], (carried,), body, names.fresh("trips"))
        body, source, update = (loop,), outer, result
    return start, loop


__all__ = ["one_by_one", "product", "products"]
