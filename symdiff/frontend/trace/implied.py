"""Consequences of conditions that hold, by their form."""

from __future__ import annotations

from collections.abc import Collection

from symdiff import ir
from symdiff.ir import TRUE, Expr
from symdiff.ir.loop_program import kind_of

MAX_CONJUNCTS = 64


def canonical(condition: Expr) -> Expr:
    """A condition without a `not` before a comparison: over the reals, not a < b
    is b <= a. Signs are moved to constants: not 0 < -a, but a < 0."""
    if condition.op is ir.NOT:
        inner = condition.args[0]
        if inner.op is ir.LT:
            return _unsigned(ir.le(inner.args[1], inner.args[0]))
        if inner.op is ir.LE:
            return _unsigned(ir.lt(inner.args[1], inner.args[0]))
    return _unsigned(condition)


def _unsigned(c: Expr) -> Expr:
    """A comparison whose sides have no sign before them, except constants."""
    if c.op not in ir.COMPARISONS or all(a.op is not ir.NEG for a in c.args):
        return c
    if not all(a.op is ir.NEG or ir.rational(a) is not None for a in c.args):
        return c
    a, b = (-a for a in c.args)
    return ir.apply(c.op, b, a)


def consequences(condition: Expr) -> list[Expr]:
    """The conditions that follow syntactically, the condition itself included."""
    found: list[Expr] = []
    queue = [condition]
    while queue and len(found) < MAX_CONJUNCTS:
        given = queue.pop()
        c = canonical(given)
        found.append(c)
        if c is not given:
            found.append(given)  # it implies that the other does not hold for nan
        if c.op is ir.AND:
            queue.extend(c.args)
        elif c.op is ir.NOT and c.args[0].op is ir.OR:
            queue.extend(ir.not_(a) for a in c.args[0].args)
        elif c.op is ir.LT:
            a, b = c.args
            found += [ir.le(a, b), ir.not_(ir.eq(a, b)), ir.not_(ir.eq(b, a))]
        elif c.op is ir.EQ:
            a, b = c.args
            found += [ir.eq(b, a), ir.le(a, b), ir.le(b, a)]
    return found


def follows(condition: Expr, facts: Collection[Expr], strictly: bool = False) -> bool:
    """Whether a condition is among the facts, or is a weaker bound by a constant; `strictly`: for nan
    too, for which no comparison holds."""
    c = canonical(condition)
    strictly = strictly and c is condition and c.op in (ir.LT, ir.LE)
    strictly = strictly and any(kind_of(a) != "i" for a in c.args)
    if c in facts and not (strictly and _opposite(c) in facts):
        return True
    if c.op not in (ir.LT, ir.LE):
        return False
    if strictly:
        facts = [f for f in facts if f.op not in (ir.LT, ir.LE) or _opposite(f) not in facts]
    low, high = (ir.rational(a) for a in c.args)
    if (low is None) is (high is None):
        return False
    for fact in facts:
        if fact.op not in (ir.LT, ir.LE):
            continue
        if low is not None and fact.args[1] is c.args[1]:
            bound = ir.rational(fact.args[0])
            gap = None if bound is None else bound - low
        elif high is not None and fact.args[0] is c.args[0]:
            bound = ir.rational(fact.args[1])
            gap = None if bound is None else high - bound
        else:
            continue
        if gap is not None and (gap > 0 or (gap == 0 and (c.op is ir.LE or fact.op is ir.LT))):
            return True
    return False


def _opposite(c: Expr) -> Expr:
    """The negation of a comparison over the reals."""
    return ir.not_((ir.lt if c.op is ir.LE else ir.le)(c.args[1], c.args[0]))


def conjuncts(condition: Expr) -> list[Expr]:
    """The parts of a conjunction, each once; unsplit where there are very many."""
    found: dict[Expr, None] = {}
    seen: set[Expr] = set()
    stack = [condition]
    while stack:
        c = stack.pop()
        if c in seen or c is TRUE:
            continue
        seen.add(c)
        if c.op is ir.AND and len(seen) < 4 * MAX_CONJUNCTS:
            stack += [c.args[1], c.args[0]]
        else:
            found[c] = None
    return list(found)
