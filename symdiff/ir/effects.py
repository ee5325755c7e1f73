"""What statements change, read and check, and over which indices they run.

Before:  for i in range(n): check(k < n); a[i] = x[k]
After:   changes a; reads x[k]; has a check, no tapes; i runs over n

`changed`      the arrays that statements change in place
`dependent`    the names that depend on others
`loads`        the elements that expressions load
`has_checks`   whether statements check
`has_tapes`    whether statements use tapes, whose order counts
`ranges`       the indices of a statement and how many values they have
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from symdiff.ir import loop_program as lp
from symdiff.ir.nodes import Expr, topological


def changed(block: lp.Block) -> set[str]:
    """The arrays that statements change in place, and those that loops begin with and change."""
    found = {s.source for s in lp.walk(block) if isinstance(s, lp.Update)}
    loops = (s for s in lp.walk(block) if isinstance(s, lp.Loop))
    begin = {c.name: lp.name_of(c.init) for s in loops for c in s.carried if c.type.shape}
    left = [begin[n] for n in found if n in begin]
    while left:
        name = left.pop()
        found.add(name)
        if name in begin and begin[name] not in found:
            left.append(begin[name])
    return found


def dependent(block: lp.Block, names: Iterable[str]) -> set[str]:
    """The names, and those that statements compute from them."""
    found, before = set(names), 0
    while len(found) != before:
        before = len(found)
        for s in lp.walk(block):
            used = lp.uses(s)
            if isinstance(s, lp.Loop):
                used |= lp.names_in(*lp.expressions(s))
            if used & found:
                found |= {n for n, _ in (*lp.defined(s), *lp.inner(s))}
    return found


def loads(roots: Iterable[Expr], arrays: Container[Expr]) -> list[Expr]:
    """The elements of arrays that expressions load, each once."""
    return [e for e in topological(roots) if e.op is lp.LOAD and e.args[0] in arrays]


def has_checks(*block: lp.Statement) -> bool:
    """Whether statements, or statements inside of them, check."""
    return any(isinstance(s, lp.Check) for s in lp.walk(block))


def has_tapes(*block: lp.Statement) -> bool:
    """Whether statements, or statements inside of them, save on tapes or restore from them."""
    return any(isinstance(s, lp.Loop) and (s.saves or s.restores) for s in lp.walk(block))


def ranges(s: lp.Statement) -> dict[Expr, Expr]:
    """The indices of a statement, and how many values each has, from 0; without the index of a
    loop that only a condition ends."""
    if isinstance(s, lp.Build):
        return dict(zip(map(lp.index, s.indices), s.type.shape, strict=True))
    if isinstance(s, lp.Loop) and s.count is not None:
        return {lp.index(s.index): s.count}
    return {}
