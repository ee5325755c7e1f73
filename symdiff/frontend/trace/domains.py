"""Where values are defined: conditions on the operations that lead to them."""

from __future__ import annotations

from collections.abc import Callable

from symdiff import ir
from symdiff.frontend.trace import implied
from symdiff.frontend.trace.values import domains, join
from symdiff.ir import TRUE, Expr, functions
from symdiff.ir.loop_program import LOAD


def by_side(condition: Expr, then: Expr, other: Expr) -> Expr:
    """Where `where(condition, a, b)` is defined, if a is defined where `then` holds
    and b where `other` does."""
    if then is other:
        return then
    here, there = implied.conjuncts(then), implied.conjuncts(other)
    both = set(here) & set(there)
    result = TRUE
    for c in here:
        if c in both:
            result = join(result, c)
    sides = ((condition, here), (ir.not_(condition), there))
    for side, needs in sides:
        given = set(implied.consequences(side))
        for c in needs:
            if c not in both and not implied.follows(c, given):
                result = join(result, ir.or_(ir.not_(side), c))
    return result


def all_given_real(e: Expr) -> Expr:
    """Whether all inputs of a value are neither nan nor infinite; false for inputs themselves, and
    with constants that are nan or infinite."""
    found = TRUE
    for n in ir.topological((e,)):
        if n.op is ir.CONST and ir.rational(n) is None:
            return ir.FALSE
        if n.op is ir.VAR or n.op is LOAD:
            if n is e:
                return ir.FALSE
            found = ir.and_(found, ir.lt(ir.abs_(n), ir.INF))
    return found


def domain_of(roots: tuple[Expr, ...]) -> dict[Expr, Expr]:
    """For each node, the condition that all operations that lead to it are defined;
    a side of `where` that is not taken does not count."""
    return conditions(roots, functions.domain, domains.get())


def conditions(
    roots: tuple[Expr, ...], own: Callable[[ir.Op, tuple[Expr, ...]], Expr],
    known: dict[Expr, Expr] | None = None,
) -> dict[Expr, Expr]:  # fmt: skip
    """For each node, the conjunction of conditions of all operations that lead to it."""
    found: dict[Expr, Expr] = {} if known is None else known
    for e in ir.topological(roots, found):
        needs = [found[a] for a in e.args]
        if e.op is ir.WHERE:
            found[e] = join(needs[0], by_side(e.args[0], needs[1], needs[2]))
            continue
        result = own(e.op, e.args)
        for d in needs:
            result = join(d, result)
        found[e] = result
    return found
