"""Derivatives are nan outside of the domain of the function, even where their formulas are not.

Before:  log(x), whose derivative is 1/x for negative x too
After:   within(log(x), x), whose derivative is within(1, x)/x, nan for negative x

Requires: any DAG.
Ensures: `with_margins` changes no value, and `inside_margins` only makes values nan. Formulas are
simplified as if they were defined everywhere; then the result is marked with its domain, unless one
of its operations implies that. Each branch of a formula has its own domain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from symdiff import ir
from symdiff.ir import ABS, CONST, LE, TRUE, WHERE, ZERO, Expr
from symdiff.ir.functions import WITHIN, domain
from symdiff.ir.loop_program import LOAD
from symdiff.passes.analysis.signs import NEGATIVE, Signs

Outputs = tuple[Expr, ...]
Margins = dict[Expr, None]
DEPTH = 6
"""Largest depth of nested products whose factors are examined."""


def margin(e: Expr) -> Expr | None:
    """A quantity that is negative outside the domain of an operation; None if none is known."""
    condition = TRUE if e.op.boolean or e.op is WITHIN else domain(e.op, e.args)
    if condition.op is not LE:
        return None
    a, b = condition.args
    return (b - a.args[0]) * (b + a.args[0]) if a.op is ABS and b.op is CONST else b - a


def _may_be_negative(u: Expr) -> bool:
    return bool(Signs().of(u) & NEGATIVE)


def may_be_outside(e: Expr) -> bool:
    """Whether an operation may be outside its domain, by the signs of its arguments."""
    u = margin(e)
    return u is not None and _may_be_negative(u)


def with_margins(
    outputs: Iterable[Expr], may_be_negative: Callable[[Expr], bool] = _may_be_negative
) -> Outputs:
    """Formulas, prepared for differentiation, whose operations mark where they are defined."""

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        made = ir.rebuild(e, args)
        u = margin(made)
        return made if u is None or not may_be_negative(u) else WITHIN(made, u)

    return ir.transform(outputs, rule)


def inside_margins(outputs: Outputs, passes: Callable[[Outputs], Outputs]) -> Outputs:
    """The result of passes on formulas without marks, enclosed in the margins of these."""
    if not any(n.op is WITHIN for n in ir.topological(outputs)):
        return passes(outputs)
    plain: dict[Expr, Expr] = {}
    found: dict[Expr, Margins] = {}
    for n in ir.topological(outputs):
        own = {u: None for a in n.args for u in found[a]}
        args = [plain[a] for a in n.args]
        if n.op is WITHIN:
            plain[n], own = args[0], {**own, args[1]: None}
        elif n.op is WHERE:
            sides = [_within(plain[a], found[a]) for a in n.args[1:]]
            plain[n], own = ir.where(args[0], *sides), {}
        elif n.op.boolean or n.op is LOAD or not n.args:
            plain[n], own = n, {}
        else:
            plain[n] = ir.rebuild(n, tuple(args))
        found[n] = own
    made = passes(tuple(plain[o] for o in outputs))
    return tuple(_within(m, found[o]) for m, o in zip(made, outputs, strict=True))


def _within(e: Expr, margins: Margins) -> Expr:
    """A formula within margins that it does not imply; in a sum, one term carries them."""
    if not margins:
        return e
    kept = ir.reached((e,), lambda n: () if n.op is WHERE or n.op.live is not None else n.args)
    known = {u for n in kept if (u := n.args[1] if n.op is WITHIN else margin(n)) is not None}
    left = [u for u in margins if u not in known]
    if not left:
        return e
    if e.op in (ir.ADD, ir.SUB):
        a, b = e.args
        if b.args and b.op is not LOAD:
            return e.op(a, _around(b, left))
        if a.args and a.op is not LOAD:
            return e.op(_around(a, left), b)
    return _around(e, left)


def _around(e: Expr, margins: Iterable[Expr], depth: int = DEPTH) -> Expr:
    """A formula within margins; for a factor that is 0 on one side of a branch, its other side."""
    if e.op is WHERE and ZERO in e.args[1:]:
        c, *sides = e.args
        return ir.where(c, *(v if v is ZERO else _around(v, margins, depth) for v in sides))
    if e.op in (ir.MUL, ir.DIV, ir.NEG) and depth:
        for k, a in enumerate(e.args):
            if (made := _around(a, margins, depth - 1)).op is not WITHIN:
                return ir.rebuild(e, (*e.args[:k], made, *e.args[k + 1 :]))
    for u in margins:
        e = WITHIN(e, u)
    return e


__all__ = ["inside_margins", "margin", "may_be_outside", "with_margins"]
