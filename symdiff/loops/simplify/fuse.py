"""Compute the elements of an array where they are used.

Before:  y = [x[i]*x[i] for all i];  for j in range(n): s = s + y[j]
After:   for j in range(n): s = s + x[j]*x[j]

Requires: a valid program.
Ensures: the same values. An array is removed if it is loaded from at one place only, and there
once for each of its elements. Before differentiation an array that takes loops stays if
the reverse sweep may need its elements; `Op.by_value` lists the operations whose reverse needs
only their values, such as tanh.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff.ir import Expr, substitute, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.effects import changed, loads

Path = tuple[lp.Build | lp.Loop, ...]
"""Statements around an expression, the innermost last."""


def fused(block: lp.Block, roots: Sequence[Expr], *, late: bool) -> lp.Block:
    """The block without arrays that are used once.

    Parameters
    ----------
    roots : expressions after the block.
    late : after differentiation.
    """
    in_place = changed(block)
    block = tuple(
        replace(s, body=fused(s.body, lp.expressions(s), late=late))
        if isinstance(s, lp.Build | lp.Loop)
        else s
        for s in block
    )
    readers = _Readers()
    for name in [s.name for s in block if isinstance(s, lp.Build)]:
        made = next(s for s in block if isinstance(s, lp.Build) and s.name == name)
        if not in_place & lp.names_in(*lp.expressions_in((made,))):
            block = _without(block, made, roots, late, readers)
    return block


class _Readers:
    """The outer names that statements use, cached for each statement, which must stay alive for
    that."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[lp.Statement, set[str]]] = {}

    def reads(self, s: lp.Statement, name: str) -> bool:
        """Whether a statement uses a name."""
        if (found := self._known.get(id(s))) is None:
            found = self._known[id(s)] = s, lp.uses(s)
        return name in found[1]


@dataclass(frozen=True, slots=True)
class _Use:
    """The load of an array: a statement of the block, the statements around the
    load, and the load."""

    position: int
    path: Path
    element: Expr


def _without(
    block: lp.Block, s: lp.Build, roots: Sequence[Expr], late: bool, readers: _Readers
) -> lp.Block:
    """The block without an array, if it is used once for each element."""
    use = _use(block, s, roots, readers)
    if use is None or not use.path or not _once(use):
        return block
    holder = use.path[-1]
    loops = any(isinstance(b, lp.Loop | lp.Call) for b in lp.walk(s.body))
    stored = isinstance(holder, lp.Build) and holder.value.op.by_value is not None
    if loops and not late and not stored:
        return block
    here = dict(zip(map(lp.index, s.indices), use.element.args[1:], strict=True))
    body = lp.replaced(s.body, here)
    (value,) = substitute((s.value,), here)
    user = _with_body(block[use.position], use.path, {use.element: value}, body)
    return tuple(user if b is block[use.position] else b for b in block if b is not s)


def _use(block: lp.Block, s: lp.Build, roots: Sequence[Expr], readers: _Readers) -> _Use | None:
    leaf = lp.array(s.name, s.type.kind)
    if leaf in topological(roots):
        return None
    found: set[_Use] = set()
    for position, b in enumerate(block):
        for path, e in _placed(b, ()) if readers.reads(b, s.name) else ():
            if e is leaf:
                return None
            found |= {_Use(position, path, n) for n in loads((e,), (leaf,))}
            if len(found) > 1:
                return None
    return next(iter(found), None)


def _placed(s: lp.Statement, path: Path) -> Iterator[tuple[Path, Expr]]:
    """The expressions of a statement, with the statements around each."""
    outside: set[Expr] = set()
    if isinstance(s, lp.Loop):
        outside = {c.init for c in s.carried} | ({s.count} if s.count is not None else set())
    inner = (*path, s) if isinstance(s, lp.Build | lp.Loop) else path
    for e in lp.expressions(s):
        yield (path if e in outside else inner), e
    for b in lp.block_of(s):
        yield from _placed(b, inner)


def _once(use: _Use) -> bool:
    """Whether every element is loaded once: at the indices of all statements around."""
    bound = [i for b in use.path for i in (b.indices if isinstance(b, lp.Build) else (b.index,))]
    place = use.element.args[1:]
    names = [lp.name_of(e) for e in place if e.op is lp.INDEX]
    return len(names) == len(place) and sorted(names) == sorted(bound)


def _with_body(
    s: lp.Statement, path: Path, mapping: Mapping[Expr, Expr], body: lp.Block
) -> lp.Statement:
    """A statement with an element written out, preceded by the statements that this needs."""
    assert isinstance(s, lp.Build | lp.Loop)
    if len(path) > 1:
        block = tuple(_with_body(b, path[1:], mapping, body) if b is path[1] else b for b in s.body)
        return replace(s, body=block)
    (s,) = lp.replaced((s,), mapping)
    assert isinstance(s, lp.Build | lp.Loop)
    return replace(s, body=(*body, *s.body))
