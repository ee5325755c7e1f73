"""Values that only some branches read become 0 where the other is taken: nothing undefined leaks.

Before:  k[i] = w[i]/th; for i: s = s + k[i]*v[i]                       where(th < eps, 0, s)
After:   k[i] = where(th < eps, 0, w[i]/th); the same loop              where(th < eps, 0, s)

Requires: a valid program, not differentiated yet.
Ensures: equal results. Only arrays and sums change that may be singular where the condition of the
branch decides: else the derivatives of the branch that is not taken, which are 0, would be
multiplied by infinity or nan.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import ADD, WHERE, ZERO, Expr, raw
from symdiff.ir import loop_program as lp
from symdiff.lowering.loops.collected import added
from symdiff.passes.analysis.roots import loci

Taken = frozenset[tuple[Expr, bool]]
"""Conditions, and whether they hold."""
LARGEST = 64
"""Nodes of the condition that one of several branches is taken; a larger one is left out."""


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
        under = functools.reduce(_either, made) if made else frozenset()
        later = lp.own_names(block[place:])
        own = [(c, holds) for c, holds in under if not lp.names_in(c) & later]
        s = _restricted(s, _in_order(own))
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
            paths[a] = _either(paths[a], there) if a in paths else there
    for e in lp.leaves(paths):
        name = lp.name_of(e)
        read[name] = _either(read[name], paths[e]) if name in read else paths[e]


def _either(a: Taken, b: Taken) -> Taken:
    """What holds if all conditions of one or the other hold."""
    if a <= b or b <= a:
        return a & b
    one = ir.or_(_all(a - b), _all(b - a))
    small = one is not ir.TRUE and len(ir.topological((one,))) <= LARGEST
    return a & b | ({(one, True)} if small else set())


def _all(taken: Taken) -> Expr:
    """The conjunction of conditions, in a fixed order."""
    conditions = [c if holds else ir.not_(c) for c, holds in _in_order(taken)]
    return functools.reduce(ir.and_, conditions)


def _in_order(taken: Iterable[tuple[Expr, bool]]) -> list[tuple[Expr, bool]]:
    return sorted(taken, key=lambda one: (ir.format_expr(one[0]), one[1]))


def _restricted(s: lp.Statement, under: Sequence[tuple[Expr, bool]]) -> lp.Statement:
    """A statement whose results are read under conditions only."""
    if isinstance(s, lp.Build) and s.type.kind == "f":
        return replace(s, value=_chosen(under, s.value))
    if isinstance(s, lp.Loop):
        return replace(s, carried=tuple(_sum(r, under) for r in s.carried))
    return s


def _sum(r: lp.Carried, under: Sequence[tuple[Expr, bool]]) -> lp.Carried:
    term = added(r)
    if term is None or (chosen := _chosen(under, term)) is term:
        return r
    return replace(r, next=raw(ADD, (r.leaf, chosen)))


def _chosen(under: Sequence[tuple[Expr, bool]], value: Expr) -> Expr:
    """A value, or 0 where conditions do not hold, if one of them may decide whether it is singular."""
    if any(_may_be_singular(value, c) for c, _ in under):
        for c, holds in under:
            value = ir.where(c, value, ZERO) if holds else ir.where(c, ZERO, value)
    return value


def _may_be_singular(e: Expr, c: Expr) -> bool:
    """Whether the variables of a condition may make an expression singular."""
    about = lp.names_in(c)
    return any(lp.names_in(d) & about for n in ir.topological((e,)) for d in loci(n))
