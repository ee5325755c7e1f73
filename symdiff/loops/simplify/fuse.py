"""Compute the elements of an array where they are used.

Before:  y = [x[i]*x[i] for all i];  for j in range(n): s = s + y[j]
After:   for j in range(n): s = s + x[j]*x[j]

Requires: a valid program.
Ensures: the same values. An array goes if it is loaded from at one place only, and there
once for each of its elements. Before differentiation an array that takes loops stays if
the reverse sweep may need its elements: what it needs of them by their values alone, as
of a tanh, is said by `Op.by_value`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff.ir import Expr, substitute, topological
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Block,
    Build,
    Call,
    Loop,
    Statement,
    array,
    block_of,
    expressions,
    expressions_in,
    index,
    leaves,
    name_of,
    replaced,
    uses,
    walk,
)
from symdiff.loops.simplify.repeated import changed

Path = tuple[Statement, ...]
"""Statements around an expression, the innermost last."""


def fused(block: Block, roots: Sequence[Expr], *, late: bool) -> Block:
    """The block without arrays that are used once.

    Parameters
    ----------
    roots : expressions after the block.
    late : after differentiation.
    """
    in_place = changed(block)
    block = tuple(
        replace(s, body=fused(s.body, expressions(s), late=late))
        if isinstance(s, Build | Loop)
        else s
        for s in block
    )
    readers = _Readers()
    for name in [s.name for s in block if isinstance(s, Build)]:
        made = next(s for s in block if isinstance(s, Build) and s.name == name)
        if not _names(made) & in_place:
            block = _without(block, made, roots, late, readers)
    return block


class _Readers:
    """The names from outside that statements use, found once for each."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Statement, set[str]]] = {}  # they live while identities count

    def reads(self, s: Statement, name: str) -> bool:
        """Whether a statement uses a name."""
        if (found := self._known.get(id(s))) is None:
            found = self._known[id(s)] = s, uses(s)
        return name in found[1]


def _names(s: Build) -> set[str]:
    """The arrays that a statement reads."""
    roots = expressions_in((s,))
    return {name_of(e) for e in leaves(roots) if e.op is ARRAY}


@dataclass(frozen=True, slots=True)
class _Use:
    """Where an array is loaded from: a statement of the block, the statements around the
    load, and the load."""

    position: int
    path: Path
    element: Expr


def _without(block: Block, s: Build, roots: Sequence[Expr], late: bool, readers: _Readers) -> Block:
    """The block without an array, if it is used once for each element."""
    use = _use(block, s, roots, readers)
    if use is None or not use.path or not _once(use):
        return block
    holder = use.path[-1]
    loops = any(isinstance(b, Loop | Call) for b in walk(s.body))
    stored = isinstance(holder, Build) and holder.value.op.by_value is not None
    if loops and not late and not stored:
        return block
    here = dict(zip(map(index, s.indices), use.element.args[1:], strict=True))
    body = replaced(s.body, here)
    (value,) = substitute((s.value,), here)
    user = _with_body(block[use.position], use.path, {use.element: value}, body)
    return tuple(user if b is block[use.position] else b for b in block if b is not s)


def _use(block: Block, s: Build, roots: Sequence[Expr], readers: _Readers) -> _Use | None:
    leaf = array(s.name, s.type.kind)
    if any(e is leaf for e in topological(roots)):
        return None
    found: set[_Use] = set()
    for position, b in enumerate(block):
        for path, e in _placed(b, ()) if readers.reads(b, s.name) else ():
            if e is leaf:
                return None
            found |= {
                _Use(position, path, n)
                for n in topological((e,))
                if n.op is LOAD and n.args[0] is leaf
            }
            if len(found) > 1:
                return None
    return next(iter(found), None)


def _placed(s: Statement, path: Path) -> Iterator[tuple[Path, Expr]]:
    """The expressions of a statement, with the statements around each."""
    outside: set[Expr] = set()
    if isinstance(s, Loop):
        outside = {c.init for c in s.carried} | ({s.count} if s.count is not None else set())
    inner = (*path, s) if isinstance(s, Build | Loop) else path
    for e in expressions(s):
        yield (path if e in outside else inner), e
    for b in block_of(s):
        yield from _placed(b, inner)


def _once(use: _Use) -> bool:
    """Whether every element is loaded once: at the indices of all statements around."""
    bound = [i for b in use.path for i in (b.indices if isinstance(b, Build) else [_index_of(b)])]
    place = use.element.args[1:]
    names = [name_of(e) for e in place if e.op is INDEX]
    return len(names) == len(place) and sorted(names) == sorted(bound)


def _index_of(s: Statement) -> str:
    return s.index if isinstance(s, Loop) else ""


def _with_body(s: Statement, path: Path, mapping: Mapping[Expr, Expr], body: Block) -> Statement:
    """A statement with an element written out, and before it what that needs."""
    assert isinstance(s, Build | Loop)
    if len(path) > 1:
        block = tuple(_with_body(b, path[1:], mapping, body) if b is path[1] else b for b in s.body)
        return replace(s, body=block)
    (s,) = replaced((s,), mapping)
    assert isinstance(s, Build | Loop)
    return replace(s, body=(*body, *s.body))
