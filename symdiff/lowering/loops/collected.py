"""Reductions: numbers that a loop carries and only adds to, multiplies, or keeps the largest or
smallest of; and sums over nests of loops, whose terms may be scaled by their largest."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import ADD, EQ, LE, LT, MUL, ONE, SUB, WHERE, ZERO, Expr, topological, var
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import MAXIMUM
from symdiff.ir.names import Names

SUMMED = 512
"""Terms of a long sum that are added up one after the other; then so many of these sums, and at last
all that there are. So roundings are those of small numbers (Higham, Accuracy and Stability of
Numerical Algorithms (2002), section 4.2, blocked summation)."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A carried value that collects terms: `next = carried + term`, or `*`, or the larger
    or smaller; of those `nan` says whether a term that is nan stays, or is passed over."""

    carried: lp.Carried
    kind: str
    term: Expr
    nan: bool = False


def reduction(c: lp.Carried) -> Reduction | None:
    """What a carried number collects, if it does nothing else."""
    leaf = c.leaf
    for kind, collect in (("add", _sum), ("mul", _product), ("max", _extreme), ("min", _extreme)):
        term = collect(c.next, leaf, kind)
        if term is not None and leaf not in set(topological((term,))):
            return Reduction(c, kind, term, kind in ("max", "min") and c.next.args[0].op is EQ)
    return None


def added(c: lp.Carried) -> Expr | None:
    """The term that a carried real number adds up, if it does nothing else."""
    found = reduction(c) if c.type == lp.REAL else None
    return found.term if found is not None and found.kind == "add" else None


@dataclass(frozen=True, slots=True)
class LoopSum:
    """A number that a nest of loops adds up from 0.

    Attributes
    ----------
    loops : from the outermost to the innermost, each with what it carries of the number.
    term : what the innermost adds.
    """

    loops: tuple[tuple[lp.Loop, lp.Carried], ...]
    term: Expr

    @property
    def over(self) -> tuple[tuple[Expr, Expr], ...]:
        """The indices of the loops, and their counts."""
        return tuple((lp.index(s.index), s.count) for s, _ in self.loops if s.count is not None)

    @property
    def alone(self) -> bool:
        """Whether the loops compute nothing else; they may check."""
        inside = [[b for b in s.body if not isinstance(b, lp.Check)] for s, _ in self.loops]
        sizes = [*(1 for _ in self.loops[1:]), 0]
        return all(len(s.carried) == 1 for s, _ in self.loops) and sizes == [*map(len, inside)]

    def with_terms(self, term: Expr) -> lp.Loop:
        """The loops with other terms, where they compute nothing else."""
        s, c = self.loops[-1]
        made = replace(s, carried=(replace(c, next=c.leaf + term),))
        for s, _ in self.loops[-2::-1]:
            made = replace(s, body=tuple(made if isinstance(b, lp.Loop) else b for b in s.body))
        return made

    def largest(self, sizes: Sequence[Expr], least: Expr, names: Names) -> tuple[lp.Loop, Expr]:
        """Loops that find the largest of the sizes of all terms, or else `least`, and their result."""
        size = functools.reduce(MAXIMUM, sizes)
        before, after = ([names.fresh("largest") for _ in self.loops] for _ in range(2))
        found = ir.where(ir.lt(var(before[-1]), size), size, var(before[-1]))
        body: lp.Block = ()
        new = {lp.index(s.index): lp.index(names.fresh(s.index)) for s, _ in self.loops}
        for k in reversed(range(len(self.loops))):
            s, _ = self.loops[k]
            carried = lp.Carried(
                before[k], lp.REAL, var(before[k - 1]) if k else least, found, after[k]
            )
            i, trips = lp.name_of(new[lp.index(s.index)]), names.fresh(s.trips)
            body, found = (lp.Loop(i, s.count, (carried,), body, trips),), var(after[k])
        (made,) = lp.replaced(body, new)
        assert isinstance(made, lp.Loop)
        return made, found


def nests(block: lp.Block) -> dict[Expr, LoopSum]:
    """The numbers that nests of loops in a block add up from 0."""
    loops = (s for s in lp.walk(block) if isinstance(s, lp.Loop))
    found = ((c, _nest(s, c, ())) for s in loops for c in s.carried if c.init is ZERO)
    return {c.after: made for c, made in found if made is not None}


def _nest(
    s: lp.Loop, c: lp.Carried, around: tuple[tuple[lp.Loop, lp.Carried], ...]
) -> LoopSum | None:
    """What a loop inside of others adds to a number that it carries, or a loop inside of it."""
    if not lp.plain_loop(s) or c.type != lp.REAL:
        return None
    loops = (*around, (s, c))
    if (found := reduction(c)) is not None:
        own = {d.name for _, d in loops} | {n for b in s.body for n, _ in lp.defined(b)}
        fits = found.kind == "add" and own.isdisjoint(map(lp.name_of, lp.leaves((found.term,))))
        return LoopSum(loops, found.term) if fits else None
    deeper = ((b, d) for b in s.body if isinstance(b, lp.Loop) for d in b.carried)
    inside = ((b, d) for b, d in deeper if d.init is c.leaf and c.next is d.after)
    return next((_nest(b, d, loops) for b, d in inside), None)


def long_sums(s: lp.Loop, outermost: bool) -> tuple[lp.Carried, ...]:
    """The sums of real terms that a loop makes and does not look at before its end, if it may have
    more than `SUMMED` terms; inside of another loop only those that start from a constant, as
    what goes on from iteration to iteration there is a longer one."""
    if s.count is None or (s.count.op is ir.CONST and s.count.value <= SUMMED):
        return ()
    found = [
        c
        for c in s.carried
        if (outermost or c.init.op is ir.CONST) and added(c) not in (None, ZERO)
    ]  # fmt: skip
    for c in found[:]:
        leaf = lp.scalar(c.name, "f")
        read = lp.expressions_in(s.body)
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
        return ZERO
    if e.op is ADD or e.op is SUB:
        a, b = e.args
        if e.op is ADD and not _uses(a, leaf):
            a, b = b, a
        rest = _sum(a, leaf, kind) if not _uses(b, leaf) else None
        if rest is None:
            return None
        if rest is ZERO:
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
    return any(a.op is MUL and all(x.op is lp.LOAD for x in a.args) for a in e.args)


def is_of_library(e: Expr) -> bool:
    """Whether an operation calls a function of the library; whole and half powers are products and roots."""
    simple = e.op is ir.POW and ir.integer(e.args[1] * 2) is not None
    return e.op.libm is not None and e.op.intrinsic is None and not simple
