"""Reductions: numbers that a loop carries and only adds to, multiplies, or keeps the largest or
smallest of."""

from __future__ import annotations

from dataclasses import dataclass

from symdiff import ir
from symdiff.ir import ADD, EQ, LE, LT, MUL, ONE, SUB, WHERE, Expr, topological
from symdiff.ir.loop_program import LOAD, Carried, Loop, expressions, scalar, walk

SUMMED = 512
"""Terms of a long sum that are added up one after the other; then so many of these sums, and at last
all that there are. So roundings are those of small numbers (Higham, Accuracy and Stability of
Numerical Algorithms (2002), section 4.2, blocked summation)."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A carried value that collects terms: `next = carried + term`, or `*`, or the larger
    or smaller; of those `nan` says whether a term that is nan stays, or is passed over."""

    carried: Carried
    kind: str
    term: Expr
    nan: bool = False


def reduction(c: Carried) -> Reduction | None:
    """What a carried number collects, if it does nothing else."""
    leaf = c.leaf
    for kind, collect in (("add", _sum), ("mul", _product), ("max", _extreme), ("min", _extreme)):
        term = collect(c.next, leaf, kind)
        if term is not None and leaf not in set(topological((term,))):
            return Reduction(c, kind, term, kind in ("max", "min") and c.next.args[0].op is EQ)
    return None


def long_sums(s: Loop, outermost: bool) -> tuple[Carried, ...]:
    """The sums of real terms that a loop makes and does not look at before its end, if it may have
    more than `SUMMED` terms; inside of another loop only those that start from a constant, as
    what goes on from iteration to iteration there is a longer one."""
    if s.count is None or (s.count.op is ir.CONST and s.count.value <= SUMMED):
        return ()
    found = [
        c
        for c in s.carried
        if not c.type.shape and c.type.kind == "f" and (outermost or c.init.op is ir.CONST)
        and (r := reduction(c)) is not None and r.kind == "add" and r.term is not ir.ZERO
    ]  # fmt: skip
    for c in found[:]:
        leaf = scalar(c.name, "f")
        read = [e for inner in walk(s.body) for e in expressions(inner)]
        read += [s.condition, *(o.next for o in s.carried if o is not c)]
        read += [v.value for v in s.saves]
        if leaf in set(topological(read)):
            found.remove(c)
    return tuple(found)


def _uses(e: Expr, leaf: Expr) -> bool:
    return leaf in set(topological((e,)))


def _sum(e: Expr, leaf: Expr, kind: str) -> Expr | None:
    """The sum of what is added to a leaf."""
    if e is leaf:
        return ir.ZERO
    if e.op is ADD or e.op is SUB:
        a, b = e.args
        if e.op is ADD and not _uses(a, leaf):
            a, b = b, a
        rest = _sum(a, leaf, kind) if not _uses(b, leaf) else None
        if rest is None:
            return None
        if rest is ir.ZERO:
            return b if e.op is ADD else ir.raw(ir.NEG, (b,))
        return ir.raw(e.op, (rest, b))
    if e.op is WHERE and not _uses(e.args[0], leaf):
        either = [_sum(x, leaf, kind) for x in e.args[1:]]
        terms = [x for x in either if x is not None]
        return ir.raw(WHERE, (e.args[0], *terms)) if len(terms) == 2 else None
    return None


def _product(e: Expr, leaf: Expr, kind: str) -> Expr | None:
    if e is leaf:
        return ONE
    if e.op is MUL:
        a, b = e.args if _uses(e.args[0], leaf) else reversed(e.args)
        rest = _product(a, leaf, kind) if not _uses(b, leaf) else None
        if rest is None:
            return None
        return b if rest is ONE else ir.raw(MUL, (rest, b))
    return None


def _extreme(e: Expr, leaf: Expr, kind: str) -> Expr | None:
    """`y` of `where(x < y, y, x)` and the like, with x the leaf; or `where(y == y, where(x < y, y, x), y)`."""
    if e.op is WHERE and e.args[0] is ir.raw(EQ, (e.args[2], e.args[2])):
        e = e.args[1]
    if e.op is not WHERE or e.args[0].op not in (LT, LE):
        return None
    low, high = e.args[0].args
    chosen, other = e.args[1:]
    if leaf not in (chosen, other) or {low, high} != {chosen, other}:
        return None
    found = "max" if chosen is high else "min"
    return (other if chosen is leaf else chosen) if found == kind else None


def adds_product(e: Expr) -> bool:
    """Whether a sum adds a product of two elements of arrays."""
    return any(a.op is MUL and all(x.op is LOAD for x in a.args) for a in e.args)


def is_of_library(e: Expr) -> bool:
    """Whether an operation calls a function of the library; whole and half powers are products and roots."""
    simple = e.op is ir.POW and ir.integer(e.args[1] * 2) is not None
    return e.op.libm is not None and e.op.intrinsic is None and not simple
