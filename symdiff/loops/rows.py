"""A program for each row of its arguments, as one program.

Before:  f(x, w) for a number x and an array w
After:   for row in range(rows): out[row] = f(x[row], w)

Requires: a valid program, and which parameters have rows.
Ensures: one more axis in front of these parameters and of every output. Rows are
independent. None where the shape of an output is only known at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ONE, ZERO, Expr, transform
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import nested
from symdiff.ir.names import Names


def rows(program: lp.LoopProgram, which: Sequence[bool]) -> lp.LoopProgram | None:
    """The program over rows of the parameters in `which`."""
    names = lp.names_of(program)
    count, row = lp.index(names.fresh("rows")), lp.index(names.fresh("row"))
    known = lp.types(program)
    sizes = {e for p in program.params for e in p.type.shape if e.op is lp.INDEX}
    results = [
        known[lp.name_of(e)] if e.op is lp.ARRAY else lp.Type((), lp.kind_of(e))
        for e in program.outputs
    ]
    if any(e not in sizes for t in results for e in lp.leaves(t.shape)):
        return None
    divided = {p.name: p for p, has in zip(program.params, which, strict=True) if has}
    params = [
        replace(p, type=lp.Type((count, *p.type.shape), p.type.kind)) if p.name in divided else p
        for p in program.params
    ]
    body, outputs = _of_a_row(program, divided, row, names)
    made: list[lp.Statement] = []
    carried: list[lp.Carried] = []
    for e, t in zip(outputs, results, strict=True):
        shape = lp.Type((count, *t.shape), t.kind)
        first, start, end = (names.fresh("out") for _ in range(3))
        letters = tuple(names.fresh("i") for _ in shape.shape)
        made.append(lp.Build(first, shape, letters, ZERO))
        filled = _stored(body, e, shape, start, row, names)
        carried.append(lp.Carried(start, shape, lp.array(first, t.kind), filled, end))
    loop = lp.Loop(lp.name_of(row), count, tuple(carried), tuple(body), names.fresh("trips"))
    ends = tuple(lp.array(c.result, c.type.kind) for c in carried)
    return replace(program, params=tuple(params), block=(*made, loop), outputs=ends)


def _of_a_row(
    program: lp.LoopProgram, divided: dict[str, lp.Parameter], row: Expr, names: Names
) -> tuple[list[lp.Statement], list[Expr]]:
    """The statements and the outputs of one row."""
    copies = {n: names.fresh(n) for n, p in divided.items() if p.type.shape}
    leaf = {p.leaf: p for p in divided.values()}

    def one(e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e in leaf:
            p = leaf[e]
            if p.type.shape:
                return lp.array(copies[p.name], p.type.kind)
            return lp.load(lp.array(p.name, p.type.kind), row)
        if e.op is lp.LOAD and e.args[0] in leaf:
            return lp.load(e.args[0], row, *args[1:])
        return ir.rebuild(e, args)

    def new(e: Expr) -> Expr:
        return transform((e,), one)[0]

    body: list[lp.Statement] = []
    for name, copy in copies.items():
        t = divided[name].type
        letters = tuple(names.fresh("i") for _ in t.shape)
        value = lp.load(lp.array(name, t.kind), row, *map(lp.index, letters))
        body.append(lp.Build(copy, t, letters, value))
    return [*body, *lp.mapped_block(program.block, new)], [new(e) for e in program.outputs]


def _stored(
    body: list[lp.Statement], e: Expr, t: lp.Type, start: str, row: Expr, names: Names
) -> Expr:
    """An output with the values of a row stored; loops over its axes, which go to the body."""
    letters = [names.fresh("i") for _ in t.shape[1:]]
    value = lp.load(e, *map(lp.index, letters)) if letters else e
    if t.kind == "b" and value.op.boolean:
        value = ir.where(value, ONE, ZERO)
    state = names.fresh("out") if letters else start
    after, done = names.fresh("out"), names.fresh("out")
    update = lp.Update(after, state, t, (row, *map(lp.index, letters)), value)
    if not letters:
        body.append(update)
        return lp.array(after, t.kind)
    passed = lp.Carried(state, t, lp.array(start, t.kind), lp.array(after, t.kind), done)
    axes = list(zip(letters, t.shape[1:], strict=True))
    body.append(nested(axes, [passed], (update,), lambda n, _: names.fresh(n)))
    return lp.array(done, t.kind)
