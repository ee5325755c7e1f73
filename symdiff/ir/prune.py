"""Removes statements of programs with arrays and loops that nothing uses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from symdiff.ir import Expr
from symdiff.ir.loop_program import (
    Block,
    Build,
    Check,
    Loop,
    Statement,
    defined,
    free,
    names_in,
    uses,
    walk,
)


def pruned(block: Block, wanted: Iterable[Expr], tapes: Iterable[str] = ()) -> Block:
    """The block without parts that no wanted expression depends on: statements, carried
    values, saves to tapes that nothing reads; `tapes` are read elsewhere."""
    elsewhere = set(tapes)
    read = _read(block) | elsewhere
    while True:
        smaller = _pruned(block, names_in(*wanted), read)
        left = _read(smaller) | elsewhere
        if left == read:
            return smaller
        block, read = smaller, left


def _read(block: Block) -> set[str]:
    return {r.tape for s in walk(block) if isinstance(s, Loop) for r in s.restores}


def _pruned(block: Block, needed: set[str], read: set[str]) -> Block:
    kept: list[Statement] = []
    for s in reversed(block):
        if isinstance(s, Loop):
            s = _pruned_loop(s, needed, read)
            ends = {s.trips, *(c.result for c in s.carried)}
            live = bool(s.saves) or not ends.isdisjoint(needed) or _acts(s.body)
        else:
            live = isinstance(s, Check) or any(n in needed for n, _ in defined(s))
        if not live:
            continue
        if isinstance(s, Build):
            s = replace(s, body=_pruned(s.body, names_in(s.value), read))
        kept.append(s)
        needed |= uses(s)
    return tuple(reversed(kept))


def _acts(block: Block) -> bool:
    """Whether a block does more than define values: it checks, or saves on tapes."""
    return any(isinstance(s, Check) or (isinstance(s, Loop) and s.saves) for s in walk(block))


def _pruned_loop(s: Loop, needed: set[str], read: set[str]) -> Loop:
    saves = tuple(v for v in s.saves if v.tape in read)
    alive = {c.name for c in s.carried if c.result in needed}
    outer = names_in(s.condition)
    while True:
        roots = [c.next for c in s.carried if c.name in alive | outer]
        roots += [v.value for v in saves]
        wanted = names_in(*roots) | outer
        body = _pruned(s.body, set(wanted), read)
        inside = free(body, roots) | outer
        grown = alive | {c.name for c in s.carried if c.name in inside}
        restores = tuple(r for r in s.restores if r.name in inside)
        if grown == alive:
            carried = tuple(c for c in s.carried if c.name in alive)
            return replace(s, carried=carried, body=body, saves=saves, restores=restores)
        alive = grown
