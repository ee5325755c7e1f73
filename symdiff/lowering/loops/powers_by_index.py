"""Powers by the index of a loop, as products that the loop carries.

Before:  for i: s = s + c[i]*x**i
After:   p = 1; for i: s = s + c[i]*p; p = p*x

Requires: any program.
Ensures: the same values, up to rounding; a loop that runs backwards runs forward where the order of its
iterations makes no difference.
"""

from __future__ import annotations

from dataclasses import replace

from symdiff.ir import MUL, ONE, POW, TRUE, Expr, raw, topological, var
from symdiff.ir.blocks import bottom_up
from symdiff.ir.loop_program import (
    LOAD,
    REAL,
    REAL_OF,
    Block,
    Carried,
    Loop,
    Statement,
    Update,
    expressions,
    expressions_in,
    index,
    leaves,
    name_of,
    own_names,
    replaced,
    walk,
)
from symdiff.ir.names import Names
from symdiff.lowering.loops.collected import reduction


def with_recurrences(block: Block, names: Names) -> Block:
    """The block, with products in place of such powers."""
    return bottom_up(block, lambda s: (_carried(s, names),))


def _carried(s: Statement, names: Names) -> Statement:
    if not isinstance(s, Loop) or s.count is None or s.condition is not TRUE:
        return s
    local = own_names((s,))
    roots = expressions_in(s.body)
    roots += [*(c.next for c in s.carried), *(v.value for v in s.saves)]
    own = index(s.index)
    found = [
        e for e in topological(roots)
        if e.op is POW and e.args[1] in (own, raw(REAL_OF, (own,)))
        and not any(name_of(n) in local for n in leaves((e.args[0],)))
    ]  # fmt: skip
    if not found or (s.reverse and not _commutes(s)):
        return s
    mapping: dict[Expr, Expr] = {}
    products = []
    for e in found:
        name = names.fresh("power")
        mapping[e] = var(name)
        end = raw(MUL, (var(name), e.args[0]))
        products.append(Carried(name, REAL, ONE, end, names.fresh("power")))
    inits = {c.name: c.init for c in s.carried}
    (made,) = replaced((s,), mapping)
    assert isinstance(made, Loop)
    carried = tuple(replace(c, init=inits[c.name]) for c in made.carried)
    return replace(made, carried=(*carried, *products), reverse=False)


def _commutes(s: Loop) -> bool:
    """Whether each iteration only adds to numbers, or to elements that others leave alone."""
    if s.saves or s.restores or any(isinstance(b, Loop) for b in walk(s.body)):
        return False
    changed = {c.name for c in s.carried}
    for b in walk(s.body):
        if isinstance(b, Update):
            if b.source not in changed or index(s.index) not in b.index:
                return False
            changed.add(b.name)
    read = {
        name_of(e.args[0]) if e.op is LOAD else name_of(e)
        for b in walk(s.body) for root in expressions(b) for e in topological((root,))
        if e.op is LOAD or (not e.args and e.op.arity == 0 and isinstance(e.value, str))
    }  # fmt: skip
    numbers = [c for c in s.carried if not c.type.shape]
    terms = [reduction(c) for c in numbers]
    if changed & read or any(t is None for t in terms):
        return False
    inside = {name_of(e) for t in terms if t is not None for e in leaves((t.term,))}
    return not inside & {c.name for c in s.carried}
