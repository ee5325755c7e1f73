"""Compute once what several statements compute.

Before:  s[i] = sum_k a[i, k]*x[k];  t[i] = sum_k a[i, k]*x[k];  f(s, t)
After:   s[i] = sum_k a[i, k]*x[k];  f(s, s)

Requires: a valid program.
Ensures: the same values. A statement goes whose definitions are those of an earlier one that
it can see, up to names. Arrays that are changed in place stay apart, and so does what costs no
more than to read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symdiff.ir import Expr, substitute, topological
from symdiff.ir.blocks import with_inside
from symdiff.ir.loop_program import (
    Block,
    Build,
    Call,
    Loop,
    Statement,
    Update,
    defined,
    name_of,
    renamed,
    replaced,
    walk,
)
from symdiff.ir.names import Names


def shared(block: Block, roots: Sequence[Expr]) -> tuple[Block, tuple[Expr, ...]]:
    """The block and the expressions after it, without statements that repeat others."""
    return _shared(block, tuple(roots), {}, changed(block))


def changed(block: Block) -> set[str]:
    """The arrays that statements change in place, and those that loops begin with and change."""
    found = {s.source for s in walk(block) if isinstance(s, Update)}
    begin = {
        c.name: name_of(c.init)
        for s in walk(block)
        if isinstance(s, Loop)
        for c in s.carried
        if c.type.shape
    }
    left = [begin[n] for n in found if n in begin]
    while left:
        name = left.pop()
        found.add(name)
        if name in begin and begin[name] not in found:
            left.append(begin[name])
    return found


class _Numbers(Names):
    """Names by the order in which they are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def copied(self, stem: str) -> str:
        self._count += 1
        return f"= {self._count}"


def _shared(
    block: Block, roots: tuple[Expr, ...], known: Mapping[Block, Statement], apart: set[str]
) -> tuple[Block, tuple[Expr, ...]]:
    seen = dict(known)
    done: list[Statement] = []
    now: dict[Expr, Expr] = {}
    for s in block:
        (s,) = replaced((s,), now) if now else (s,)
        key = renamed((s,), _Numbers())[0] if _worth(s, apart) else None
        same = None if key is None else seen.get(key)
        if same is not None:
            pairs = zip(defined(s), defined(same), strict=True)
            now |= {t.leaf(name): t.leaf(other) for (name, t), (other, _) in pairs}
            continue
        if key is not None:
            seen[key] = s
        done.append(with_inside(s, lambda b, ends: _shared(b, ends, seen, apart)))
    return tuple(done), substitute(roots, now)


def _worth(s: Statement, apart: set[str]) -> bool:
    """Whether a statement may be left out, and costs more than to load what it makes."""
    if any(name in apart for name, _ in defined(s)):
        return False
    if any(isinstance(b, Loop) and (b.saves or b.restores) for b in walk((s,))):
        return False
    if isinstance(s, Build):
        costly = any(n.op.libm is not None for n in topological((s.value,)))
        return bool(s.body) or costly
    return isinstance(s, (Call, Loop))
