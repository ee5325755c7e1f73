"""Norms of positive parts over arrays at their edges, before they are differentiated.

Before:  for i: total = total + max(u[i], 0)**2;  sqrt(total)
After:   for i: total = ..., largest = max(largest, u[i]);  where(total <= 0, max(largest, 0), sqrt(total))

Requires: a program that is to be differentiated.
Ensures: equal values. Where one of the parts begins and the others are 0 beside the point too, the norm has the
slopes 0 and 1 by it, as a maximum has, and their mean at the edge: not 0, the least of the slopes that a norm
has where it is pointed. So what a distance is outside of a box meets what it is inside. Of numbers the rule of
norms knows that.
"""

from __future__ import annotations

from dataclasses import replace

from symdiff import ir
from symdiff.ir import ADD, HALF, LE, MUL, POW, WHERE, ZERO, Expr, var
from symdiff.ir.functions import MAXIMA, MAXIMUM, SQUARES
from symdiff.ir.loop_program import (
    LOAD,
    REAL,
    Block,
    Build,
    Carried,
    Loop,
    LoopProgram,
    Statement,
    array,
    expressions,
    leaves,
    load,
    mapped_block,
    name_of,
    renamed,
    walk,
)
from symdiff.loops.context import names_of

BELOW = ir.const(-1)
"""Where the largest part begins: below 0, nothing is asked of it."""


def edges_of_norms(program: LoopProgram) -> LoopProgram:
    """The program with norms of positive parts as maxima where they are 0."""
    every = (*(e for s in walk(program.block) for e in expressions(s)), *program.outputs)
    order = ir.topological(every)
    if not any(n.op in MAXIMA for n in order):
        return program
    known = {n.args[0] for n in order if n.op is LE and n.args[1] is ZERO}
    roots = {n: _total(n) for n in order if n.op is POW and n.args[1] is HALF}
    wanted = {t for t in roots.values() if t not in known}
    names, largest = names_of(program), dict[Expr, Expr]()

    def one(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Build):
            return (replace(s, body=go(s.body)), *beside(s))
        if not isinstance(s, Loop):
            return (s,)
        more = []
        for c in s.carried:
            if var(c.result) in wanted and (u := _part(c)) is not None:
                name, result = names.fresh("largest"), names.fresh("largest")
                more.append(Carried(name, REAL, BELOW, MAXIMUM(var(name), u), result))
                largest[var(c.result)] = var(result)
        return (replace(s, carried=(*s.carried, *more), body=go(s.body)),)

    def beside(s: Build) -> Block:
        """The array of the largest parts beside an array of totals."""
        if s.name not in rows:
            return ()
        for loop in (b for b in s.body if isinstance(b, Loop)):
            own = {n for c in loop.carried for n in (c.name, c.result)}
            for c in loop.carried:
                u = _part(c) if s.value is var(c.result) else None
                if u is None or not own.isdisjoint(map(name_of, leaves((u,)))):
                    continue
                most, result = names.fresh("largest"), names.fresh("largest")
                alone = replace(
                    loop, carried=(Carried(most, REAL, BELOW, MAXIMUM(var(most), u), result),)
                )
                body = tuple(alone if b is loop else b for b in s.body)
                copy, new = renamed((replace(s, value=var(result), body=body),), names)
                arrays[array(s.name)] = new[array(s.name)]
                return copy
        return ()

    def go(block: Block) -> Block:
        return tuple(made for s in block for made in one(s))

    arrays: dict[Expr, Expr] = {}
    rows = {name_of(t.args[0]) for t in wanted if t.op is LOAD}
    block = go(program.block)
    for t in wanted:
        if t.op is LOAD and t.args[0] in arrays:
            largest[t] = load(arrays[t.args[0]], *t.args[1:])
    found = {n: _at_edge(n, t, largest[t]) for n, t in roots.items() if t in largest}

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return found[n] if n in found else ir.rebuild(n, args)

    def mapped(e: Expr) -> Expr:
        return e if found.keys().isdisjoint(ir.topological((e,))) else ir.transform((e,), rule)[0]

    return replace(
        program, block=mapped_block(block, mapped), outputs=tuple(map(mapped, program.outputs))
    )


def _at_edge(norm: Expr, size: Expr, largest: Expr) -> Expr:
    """A norm, and where a size says that it is 0 the positive part of the largest of what it is made of."""
    return ir.raw(WHERE, (ir.raw(LE, (size, ZERO)), MAXIMUM(largest, ZERO), norm))


def _total(root: Expr) -> Expr:
    """What a root is taken of."""
    (e, _) = root.args
    return e.args[0] if e.op is SQUARES else e


def _part(c: Carried) -> Expr | None:
    """u, where a loop adds up max(u, 0)**2."""
    if c.init is not ZERO or c.next.op is not ADD:
        return None
    terms = [a for a in c.next.args if a is not var(c.name)]
    return _root(terms[0]) if len(terms) == 1 else None


def _root(e: Expr) -> Expr | None:
    """u in max(u, 0)**2, and the root of c times u in c*max(u, 0)**2."""
    if e.op is MUL and (c := ir.rational(e.args[0])) is not None and c > 0:
        inner = _root(e.args[1])
        return None if inner is None else ir.sqrt(e.args[0]) * inner
    if e.op is MUL and e.args[0] is e.args[1]:
        return _above(e.args[0])
    return _above(e.args[0]) if e.op is POW and ir.rational(e.args[1]) == 2 else None


def _above(e: Expr) -> Expr | None:
    """u in max(u, 0)."""
    if e.op not in MAXIMA or ZERO not in e.args:
        return None
    return e.args[0] if e.args[1] is ZERO else e.args[1]


__all__ = ["edges_of_norms"]
