"""Values that only one branch reads become 0 where the other is taken: nothing undefined leaks.

Before:  k[i] = w[i]/th; for i: s = s + k[i]*v[i]                       where(th < eps, 0, s)
After:   k[i] = where(th < eps, 0, w[i]/th); the same loop              where(th < eps, 0, s)

Requires: a valid program, not differentiated yet.
Ensures: equal results. Only arrays and sums change that may be singular where the condition of the
branch decides: else the derivatives of the branch that is not taken, which are 0, would be
multiplied by infinity or nan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ADD, WHERE, ZERO, Expr, raw
from symdiff.ir import loop_program as lp
from symdiff.lowering.loops.collected import added
from symdiff.passes.analysis.roots import loci

Taken = frozenset[tuple[Expr, bool]]
"""Conditions, and whether they hold."""


def only_where_read(block: lp.Block, roots: Sequence[Expr]) -> lp.Block:
    """The block of a program with these expressions after it."""
    if not any(n.op is WHERE for n in ir.topological((*roots, *lp.expressions_in(block)))):
        return block
    read: dict[str, Taken] = {}
    _note(roots, frozenset(), read)
    found: list[lp.Statement] = []
    for place in range(len(block) - 1, -1, -1):
        s = block[place]
        made = [read[n] for n, _ in lp.defined(s) if n in read]
        under = frozenset.intersection(*made) if made else frozenset()
        later = lp.own_names(block[place:])
        own = [(c, holds) for c, holds in under if not lp.names_in(c) & later]
        s = _restricted(s, sorted(own, key=lambda taken: ir.format_expr(taken[0])))
        found.append(s)
        _note(lp.expressions_in((s,)), under, read)
    return tuple(reversed(found))


def _note(roots: Iterable[Expr], under: Taken, read: dict[str, Taken]) -> None:
    """Record the conditions under which expressions read names, if they count under some
    themselves."""
    paths: dict[Expr, Taken] = dict.fromkeys(roots, under)
    for n in reversed(ir.topological(paths)):
        here = paths[n]
        for k, a in enumerate(n.args):
            there = here | {(n.args[0], k == 1)} if n.op is WHERE and k else here
            paths[a] = paths[a] & there if a in paths else there
    for e in lp.leaves(paths):
        name = lp.name_of(e)
        read[name] = read[name] & paths[e] if name in read else paths[e]


def _restricted(s: lp.Statement, under: Sequence[tuple[Expr, bool]]) -> lp.Statement:
    """A statement whose results are read under conditions only."""
    for c, holds in under:
        if isinstance(s, lp.Build) and s.type.kind == "f" and _may_be_singular(s.value, c):
            return replace(s, value=_chosen(c, holds, s.value))
        if isinstance(s, lp.Loop):
            s = replace(s, carried=tuple(_sum(r, c, holds) for r in s.carried))
    return s


def _sum(r: lp.Carried, c: Expr, holds: bool) -> lp.Carried:
    term = added(r)
    if term is None or not _may_be_singular(term, c):
        return r
    return replace(r, next=raw(ADD, (r.leaf, _chosen(c, holds, term))))


def _chosen(c: Expr, holds: bool, value: Expr) -> Expr:
    return ir.where(c, value, ZERO) if holds else ir.where(c, ZERO, value)


def _may_be_singular(e: Expr, c: Expr) -> bool:
    """Whether the variables of a condition may make an expression singular."""
    about = lp.names_in(c)
    return any(lp.names_in(d) & about for n in ir.topological((e,)) for d in loci(n))
