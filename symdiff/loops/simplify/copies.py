"""Remove arrays that loops only copy.

Before:  b = 0; for i in range(n): s[k] += a[i]*x[i]; b[i] += a[i]
After:   for i in range(n): s[k] += a[i]*x[i]; and a in place of b

An example is the adjoint of an array to which a loop adds terms: it passes through steps unchanged.

Requires: a valid program.
Ensures: the same values. The loop that copies stays until it is pruned.
"""

from __future__ import annotations

from collections.abc import Mapping

from symdiff.ir import TRUE, ZERO, Expr, substitute
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import with_inside
from symdiff.ir.effects import changed
from symdiff.lowering.loops.chains import chain


def without_copies(block: lp.Block, roots: tuple[Expr, ...]) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block, and expressions after it, with the originals in place of copies."""
    known = {n: t for s in lp.walk(block) for n, t in (*lp.defined(s), *lp.inner(s))}
    return _without(block, roots, known)


def _without(
    block: lp.Block, roots: tuple[Expr, ...], known: Mapping[str, lp.Type]
) -> tuple[lp.Block, tuple[Expr, ...]]:
    done: list[lp.Statement] = []
    left = list(block)
    while left:
        s = with_inside(left.pop(0), lambda b, r: _without(b, r, known))
        if isinstance(s, lp.Loop):
            zeros = {b.name for b in done if isinstance(b, lp.Build) and b.value is ZERO}
            apart = changed(tuple(left))
            for c in s.carried:
                source = _copied(s, c, zeros, known)
                if source is None or {c.result, lp.name_of(source)} & apart:
                    continue
                new = {lp.array(c.result, c.type.kind): source}
                left = list(lp.replaced(tuple(left), new))
                roots = substitute(roots, new)
        done.append(s)
    return tuple(done), roots


def _copied(
    s: lp.Loop, c: lp.Carried, zeros: set[str], known: Mapping[str, lp.Type]
) -> Expr | None:
    """The array that a loop copies."""
    if c.type.kind != "f" or not c.type.shape or c.init.op is not lp.ARRAY:
        return None
    found = chain(s, c)
    if found is None or len(found.sites) != 1 or found.loads:
        return None
    ((path, update),) = ((x.path, x.update) for x in found.sites)
    value = update.value
    at = tuple(lp.index(b.index) for b in path)
    if (
        update.index != at
        or update.guard is not TRUE
        or value.op is not lp.LOAD
        or value.args[1:] != at
    ):
        return None
    if not all(map(lp.plain_loop, path)) or tuple(b.count for b in path) != c.type.shape:
        return None
    if update.add and lp.name_of(c.init) not in zeros:
        return None
    source = value.args[0]
    own = lp.own_names((s,))
    return source if source.op is lp.ARRAY and lp.name_of(source) not in own and known.get(
        lp.name_of(source)
    ) == c.type else None  # fmt: skip
