"""Branches between sums, as sums of branches: a guard of a sum then guards its terms.

Before:  for i in range(n): s = s + expm1(k*x[i])/k
         for j in range(n): t = t + x[j]                      where(k == 0, t, s)
After:   for i in range(n): u = u + where(k == 0, x[i], expm1(k*x[i])/k)        u

and likewise for functions of one sum on each side, such as means.

Requires: a valid program.
Ensures: equal values: the condition does not change within the loops, and both sums have the same
number of terms. `prune` removes the loops that are no longer used.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace

from symdiff.ir import (
    ADD,
    FALSE,
    TRUE,
    VAR,
    WHERE,
    ZERO,
    Expr,
    raw,
    substitute,
    topological,
    var,
    where,
)
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import with_inside
from symdiff.ir.effects import has_checks
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import added


def of_sums(
    block: lp.Block, roots: Sequence[Expr], names: Names
) -> tuple[lp.Block, tuple[Expr, ...]]:
    """The block and the expressions after it."""
    done: list[lp.Statement] = []
    sums: dict[Expr, lp.Loop] = {}
    for s in block:
        s = with_inside(s, lambda b, ends: of_sums(b, ends, names))
        mapping = _mapping(lp.expressions(s), sums, done, names, lp.own_names((s,)))
        (s,) = lp.replaced((s,), mapping) if mapping else (s,)
        done.append(s)
        if isinstance(s, lp.Loop) and _term(s) is not None:
            sums[s.carried[0].after] = s
    mapping = _mapping(roots, sums, done, names)
    return tuple(done), substitute(tuple(roots), mapping) if mapping else tuple(roots)


def _term(s: lp.Statement) -> Expr | None:
    """The term of a sum from 0, if its loop does nothing else for later statements."""
    if not isinstance(s, lp.Loop) or len(s.carried) != 1 or not lp.plain_loop(s):
        return None
    (c,) = s.carried
    return added(c) if c.init is ZERO else None


def _mapping(
    roots: Iterable[Expr], sums: Mapping[Expr, lp.Loop], done: list[lp.Statement], names: Names,
    own: Container[str] = (),
) -> dict[Expr, Expr]:  # fmt: skip
    """Replacements for branches between sums in expressions. The new sums are appended to `done`,
    the statements before, where the names in `own` are not defined yet."""
    mapping: dict[Expr, Expr] = {}
    for e in topological(tuple(roots)) if sums else ():
        if e.op is not WHERE:
            continue
        condition, *sides = e.args
        if any(lp.name_of(n) in own for n in lp.leaves((condition,))):
            continue
        found = [_sums_in(side, sums) for side in sides]
        if any(len(f) != 1 for f in found):
            continue
        (one,), (two,) = found
        counts = [_given(sums[n].count, condition, c) for n, c in ((one, TRUE), (two, FALSE))]
        if one is two or counts[0] is not counts[1]:
            continue
        always = counts[0] is sums[one].count and counts[1] is sums[two].count
        if not always and not _may_run_always(condition, (sums[one], sums[two])):
            continue
        total = _joined(condition, replace(sums[one], count=counts[0]), sums[two], done, names)
        a, b = (
            substitute((side,), {t: total})[0] for side, t in zip(sides, (one, two), strict=True)
        )
        mapping[e] = where(condition, a, b)
    return mapping


def _given(e: Expr | None, condition: Expr, value: Expr) -> Expr | None:
    """An expression where a condition holds, or does not: the code after an early `return` would
    run no loop."""
    return None if e is None else substitute((e,), {condition: value})[0]


def _may_run_always(condition: Expr, loops: tuple[lp.Loop, ...]) -> bool:
    """Whether loops that run on a condition can run without: no index depends on it, and none is checked."""
    return not has_checks(*loops) and not any(n.op is lp.INDEX for n in topological((condition,)))


def _sums_in(e: Expr, sums: Mapping[Expr, lp.Loop]) -> list[Expr]:
    return [n for n in topological((e,)) if n.op is VAR and n in sums]


def _joined(
    condition: Expr, one: lp.Loop, two: lp.Loop, done: list[lp.Statement], names: Names
) -> Expr:
    """The sum of the terms of one loop or the other."""
    (first,), _ = lp.renamed((one,), names)
    (second,), _ = lp.renamed((two,), names)
    assert isinstance(first, lp.Loop) and isinstance(second, lp.Loop)
    (second,) = lp.replaced(
        (replace(second, index=first.index),), {lp.index(second.index): lp.index(first.index)}
    )
    assert isinstance(second, lp.Loop)
    (c,) = first.carried
    mine, other = _term(first), _term(second)
    assert mine is not None and other is not None
    following = raw(ADD, (var(c.name), where(condition, mine, other)))
    done.append(replace(
        first, carried=(replace(c, next=following),), body=(*first.body, *second.body),
    ))  # fmt: skip
    return var(c.result)
