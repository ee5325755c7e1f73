"""Compute once what several statements compute.

Before:  s[i] = sum_k a[i, k]*x[k];  t[i] = sum_k a[i, k]*x[k];  f(s, t)
After:   s[i] = sum_k a[i, k]*x[k];  f(s, s)

Requires: a valid program.
Ensures: the same values. A statement is removed if an earlier visible one has the same definitions,
up to names. Arrays that are changed in place stay separate, and so do values that are as cheap
to compute as to load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symdiff.ir import Expr, substitute, topological
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import with_inside
from symdiff.ir.effects import changed, has_tapes
from symdiff.ir.names import Names


def shared(block: lp.Block, roots: Sequence[Expr]) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it, without statements that repeat others."""
    return _shared(block, tuple(roots), {}, changed(block))


class _Numbers(Names):
    """Names numbered by the order of first use."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def copied(self, stem: str) -> str:
        self._count += 1
        return f"= {self._count}"


def _shared(
    block: lp.Block,
    roots: tuple[Expr, ...],
    known: Mapping[lp.Block, lp.Statement],
    apart: set[str],
) -> tuple[lp.Block, tuple[Expr, ...]]:
    seen = dict(known)
    done: list[lp.Statement] = []
    now: dict[Expr, Expr] = {}
    for s in block:
        (s,) = lp.replaced((s,), now) if now else (s,)
        key = lp.renamed((s,), _Numbers())[0] if _worth(s, apart) else None
        same = None if key is None else seen.get(key)
        if same is not None:
            pairs = zip(lp.defined(s), lp.defined(same), strict=True)
            now |= {t.leaf(name): t.leaf(other) for (name, t), (other, _) in pairs}
            continue
        if key is not None:
            seen[key] = s
        done.append(with_inside(s, lambda b, ends: _shared(b, ends, seen, apart)))
    return tuple(done), substitute(roots, now)


def _worth(s: lp.Statement, apart: set[str]) -> bool:
    """Whether a statement may be left out, and costs more than loading its results."""
    if any(name in apart for name, _ in lp.defined(s)) or has_tapes(s):
        return False
    if isinstance(s, lp.Build):
        costly = any(n.op.libm is not None for n in topological((s.value,)))
        return bool(s.body) or costly
    return isinstance(s, (lp.Call, lp.Loop))
