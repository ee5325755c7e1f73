"""The errors of numbers that a loop carries and computes from each other, with what they have in common.

Before:  a, b = a - v*b, b + v*a
After:   the mean squares of the errors of a and b, and the mean of their product, go from iteration to
         iteration as C = J*C*J' + Q: J are the slopes of the next values, Q the squares of the roundings

Bounds that only add up sizes grow as products of |J| do: for anything that turns, as an oscillator does, without
end. Squares that are added as if errors of terms were independent are too small where the terms hang on
one value that keeps its error. The covariance has the signs, and what is kept.

Requires: numbers whose errors are not bounded statically.
Ensures: their mean squares, to first order, where roundings are independent of each other. Errors that
numbers from outside have (a mean) stay the same in all iterations. What the body makes of the
numbers in statements of its own adds up by its size.

Reference: the propagation of covariances by a linear system, as of Kalman filters; independent
roundings: Higham and Mary, SIAM J. Sci. Comput. 41 (2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import FALSE, INF, ONE, VAR, ZERO, Expr, const
from symdiff.ir.loop_program import (
    REAL,
    Block,
    Carried,
    Loop,
    Names,
    defined,
    expressions,
    inner,
    leaves,
    name_of,
    walk,
)
from symdiff.passes.accuracy.propagation import FLOOR, HALF_UNIT, Propagation

MOST = 6
"""Numbers of which covariances are carried: the work for an iteration is of the third order."""


class Row(NamedTuple):
    """How the next value of one number depends on the others: slopes by number, the mean square of what is
    new, and the size of what adds up as it stands."""

    slopes: dict[Expr, Expr]
    square: Expr
    size: Expr


@dataclass(slots=True)
class Joint:
    """The covariance of the numbers that a loop carries.

    Attributes
    ----------
    leaves : the numbers at the start of an iteration, by their names.
    squares : by number, the names of its mean square at the start of an iteration and after the last.
    memory : of those that are saved, the names of how many roundings their errors consist of.
    """

    names: Names
    leaves: dict[str, Expr] = field(default_factory=dict)
    squares: dict[Expr, tuple[str, str]] = field(default_factory=dict)
    memory: dict[Expr, tuple[str, str]] = field(default_factory=dict)

    def add(self, c: Carried) -> None:
        leaf = ir.var(c.name)
        self.leaves[c.name] = leaf
        stem = f"{c.name}_square"
        self.squares[leaf] = self.names.fresh(stem), self.names.fresh(stem)

    def error(self, c: Carried, which: int) -> Expr:
        """Of the value at the start of an iteration (0), or after the last (1)."""
        return ir.abs_(ir.var(self.squares[self.leaves[c.name]][which])) ** ir.HALF

    def lasting(self, c: Carried) -> Expr:
        """What the error of a number counts for in a recurrence that reads it in each iteration. Those of
        neighbouring iterations are alike as far as they consist of the same roundings; as there they
        count as independent, each is larger by the root of twice as many as it consists of."""
        leaf = self.leaves[c.name]
        if leaf not in self.memory:
            stem = f"{c.name}_memory"
            self.memory[leaf] = self.names.fresh(stem), self.names.fresh(stem)
        many = ir.const(2) * ir.var(self.memory[leaf][0])
        return (ir.abs_(ir.var(self.squares[leaf][0])) * many) ** ir.HALF

    def carried(
        self, work: Propagation, rows: dict[Expr, Row], fixed: dict[Expr, Expr], init: dict[Expr, Expr]
    ) -> list[Carried]:  # fmt: skip
        """What a loop carries for the covariance.

        Parameters
        ----------
        rows : of each number.
        fixed : mean squares of numbers from outside that have an error.
        init : errors before the loop.
        """
        order = {e: k for k, e in enumerate((*rows, *fixed))}
        slopes = {e: row.slopes for e, row in rows.items()} | {e: {e: ONE} for e in fixed}
        pairs = _related(list(order), slopes)
        now: dict[tuple[Expr, Expr], Expr] = {}
        ends: dict[tuple[Expr, Expr], str] = {}
        for a, b in pairs:
            if a is b:
                now[a, b] = fixed[a] if a in fixed else ir.var(self.squares[a][0])
            elif order[a] < order[b]:
                stem = f"{name_of(a)}_{name_of(b) if b.op is VAR else 'fixed'}_product"
                name = self.names.fresh(stem)
                ends[a, b] = self.names.fresh(stem)
                now[a, b] = now[b, a] = ir.var(name)
        turned: dict[tuple[Expr, Expr], Expr] = {}
        for a in rows:
            for b in order:
                terms = [s * now[x, b] for x, s in slopes[a].items() if (x, b) in now]
                turned[a, b] = _sum(terms)
        made = []
        for a, row in rows.items():
            for b in order:
                if a is not b and (a, b) not in ends:
                    continue
                end = _sum(turned[a, x] * s for x, s in slopes[b].items())
                if a is b:
                    if row.size is not ZERO:
                        end = (ir.abs_(end) ** ir.HALF + row.size) ** 2
                    new = row.square + const(FLOOR[work.dtype])  # it may underflow
                    old, end = end, end + new
                    name, result = self.squares[a]
                    start = init[a] ** 2
                    if a in self.memory:
                        made.append(self._remembered(work, a, old / end))
                else:
                    name, result, start = name_of(now[a, b]), ends[a, b], ZERO
                work.mark(start, end)
                made.append(Carried(name, REAL, start, end, result))
        return made

    def _remembered(self, work: Propagation, leaf: Expr, kept: Expr) -> Carried:
        name, result = self.memory[leaf]
        end = ONE + kept * ir.var(name)
        work.mark(end)
        return Carried(name, REAL, ONE, end, result)


def row(
    work: Propagation, e: Expr, of: dict[str, Expr], fixed: dict[Expr, Expr], depends: set[str],
    inside: set[str], lasting: Mapping[str, Expr], own: Expr | None = None,
) -> Row:  # fmt: skip
    """How a next value depends on the numbers `of`.

    Parameters
    ----------
    fixed : mean squares of numbers from outside that have errors; those that are met are added.
    depends : names of the body whose values depend on the numbers.
    inside : names of the loop.
    lasting : what errors count for that last, by name.
    own : the error of its own roundings; None if all operations are rounded once.
    """
    form, over = work.written(e)
    found = {v: work.of_leaf(over.get(v, v)) for v in ir.variables((form,))}
    found = {v: b for v, b in found.items() if not b.exact}
    _, unsafe = work.linear(form, over, found, HALF_UNIT)
    if own is None:
        bound, _ = work.linear(form, over, {}, HALF_UNIT)
        off = const(bound.k) * ir.abs_(form) + bound.more + ir.abs_(form) * bound.relative
        own = ir.substitute((off,), over)[0]
    slopes: dict[Expr, Expr] = {}
    square, size = own**2, ZERO
    for v, slope in zip(found, work.slopes_of(form, tuple(found)), strict=True):
        if slope is ZERO:
            continue
        leaf, bound = over.get(v, v), found[v]
        (slope,) = ir.substitute((slope,), over)
        off = const(bound.k) * ir.abs_(leaf) + bound.more
        if leaf.op is VAR and name_of(leaf) in lasting:
            off = lasting[name_of(leaf)]
        used = {name_of(x) for x in leaves((leaf,))}
        if leaf.op is VAR and name_of(leaf) in of:
            slopes[leaf] = slope
        elif not used & inside:
            fixed.setdefault(leaf, off**2)
            slopes[leaf] = slope
        elif used & depends:
            size = size + ir.abs_(slope) * off
        else:
            square = square + (slope * off) ** 2
    if unsafe is not FALSE:
        square = ir.where(ir.substitute((unsafe,), over)[0], INF, square)
    return Row(slopes, square, size)


def dependent(body: Block, names: Iterable[str]) -> set[str]:
    """The names of a body whose values depend on some names."""
    found, before = set(names), -1
    while before != len(found):
        before = len(found)
        for s in walk(body):
            used = {name_of(e) for e in leaves(expressions(s))}
            if isinstance(s, Loop):
                used |= {name_of(e) for b in s.body for e in leaves(expressions(b))}
            if used & found:
                found |= {n for n, _ in (*defined(s), *inner(s))}
    return found - set(names)


def is_read(s: Loop, c: Carried) -> bool:
    """Whether what a loop carries is read in it, but for its own next value."""
    read = [e for b in walk(s.body) for e in expressions(b)]
    read += [s.condition, *(o.next for o in s.carried if o is not c), *(v.value for v in s.saves)]
    return any(name_of(e) == c.name for e in leaves(read))


def is_collected_inside(s: Loop, c: Carried) -> bool:
    """Whether a number is but the start of what a loop inside collects, and its next value what that ends
    with: a sum over several indices."""
    for b in s.body:
        if isinstance(b, Loop) and ir.var(c.name) in (
            d.init for d in b.carried if c.next is ir.var(d.result)
        ):
            inits = [d for d in b.carried if ir.var(c.name) in leaves((d.init,))]
            read = [e for d in walk((b,)) for e in expressions(d)]
            return len(inits) == 1 and sum(name_of(e) == c.name for e in leaves(read)) <= 1
    return False


def _related(order: Sequence[Expr], slopes: dict[Expr, dict[Expr, Expr]]) -> set[tuple[Expr, Expr]]:
    """The pairs whose errors may have something in common."""
    found = {(a, a) for a in order}
    before = -1
    while before != len(found):
        before = len(found)
        for a in order:
            for b in order:
                if (a, b) not in found and any(
                    (x, y) in found for x in slopes[a] for y in slopes[b]
                ):
                    found |= {(a, b), (b, a)}
    return found


def _sum(terms: Iterable[Expr]) -> Expr:
    total = ZERO
    for e in terms:
        total = total + e
    return total


__all__ = ["MOST", "Joint", "Row", "dependent", "is_collected_inside", "is_read", "row"]
