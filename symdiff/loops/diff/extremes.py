"""Loops that keep the largest or the least of their terms: one kink, however many terms meet.

Before:  for i in range(n): m = maximum(m, x[i])
After:   the same, with the second largest: second = where(m < x[i], m, maximum(second, x[i]))

A term that is the largest has the slope 1, and 1/2 where another is equal, so one `Op` tells the slope of
all of them: `taken(m, second)` of the last values. The reverse of such a loop needs no tape, and its terms are
found by comparison with m.

Requires: a carried number that is only compared with terms, in one loop or in nested ones.
Ensures: the same values; `second` is no input of a derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import TRUE, Expr, var
from symdiff.ir.functions.selection import EXTREMES, HELD, LARGER, MAXIMA, SMALLER, TAKEN
from symdiff.ir.loop_program import REAL, Carried, Loop, expressions, leaves, walk
from symdiff.loops.context import Context


@dataclass(frozen=True, slots=True)
class Extreme:
    """What a loop keeps.

    Attributes
    ----------
    op : the operation.
    last : its value after the outermost loop.
    slope : that of each term that is equal to it; in nested loops 1, as the outermost one multiplies by it.
    """

    op: ir.Op
    last: Expr
    slope: Expr

    def is_last(self, term: Expr) -> Expr:
        """Whether a term is the last value; for what is nan beside nan, whether it may be."""
        if self.op in (LARGER, SMALLER):
            return ir.eq(term, self.last)
        return ir.not_(better(self.op, self.last, term))


def better(op: ir.Op, a: Expr, b: Expr) -> Expr:
    """Whether a is taken for sure."""
    return ir.lt(b, a) if op in MAXIMA else ir.lt(a, b)


@dataclass(frozen=True, slots=True)
class Step:
    """What a carried number is compared with in an iteration, under a condition."""

    op: ir.Op
    term: Expr
    guard: Expr


def step_of(c: Carried) -> Step | None:
    """None for a number that is not kept so."""
    made, guard = c.next, TRUE
    if made.op is ir.WHERE and c.leaf in made.args[1:]:
        at = 2 if made.args[1] is c.leaf else 1
        guard = made.args[0] if at == 1 else ir.not_(made.args[0])
        made = made.args[at]
    own = [a for a in made.args if a is not c.leaf]
    if made.op not in EXTREMES or len(own) != 1 or c.leaf in leaves((*own, guard)):
        return None
    return Step(made.op, own[0], guard)


def kept(s: Loop) -> Iterator[tuple[Carried, ir.Op]]:
    """The carried numbers that are the largest or the least so far, and read by nothing else in a loop."""
    for c in s.carried:
        if c.type == REAL and (op := _op_of(s, c)) is not None:
            yield c, op


def _op_of(s: Loop, c: Carried) -> ir.Op | None:
    nested = _within(s, c)
    others = [other.next for other in s.carried if other is not c]
    body = tuple(t for t in s.body if nested is None or t is not nested[0])
    read = [*others, s.condition, *(v.value for v in s.saves)]
    read += [e for t in walk(body) for e in expressions(t)]
    if nested is None:
        step = step_of(c)
        return None if step is None or c.leaf in leaves(read) else step.op
    loop, inner = nested
    read += [e for o in loop.carried for e in (o.init, o.next) if o is not inner]
    read.append(inner.next)
    read += [] if loop.count is None else [loop.count]
    read += [e for t in walk(loop.body) for e in expressions(t)]
    if not {c.leaf, inner.after}.isdisjoint(leaves(read)):
        return None
    return _op_of(loop, inner)


def _within(s: Loop, c: Carried) -> tuple[Loop, Carried] | None:
    """The inner loop that goes on with a carried number."""
    for t in s.body:
        if not isinstance(t, Loop):
            continue
        for o in t.carried:
            if o.after is c.next and o.init is c.leaf:
                return t, o
    return None


def with_seconds(
    context: Context, s: Loop, extremes: Iterable[tuple[Carried, ir.Op]]
) -> tuple[Loop, dict[str, Extreme]]:
    """The loop with the second values of what it keeps, and the slopes that those give."""
    found: dict[str, Extreme] = {}
    for c, op in extremes:
        worst = ir.neg(ir.INF) if op in MAXIMA else ir.INF
        s, second = _with_second(context, s, c, op, worst)
        slope = HELD if op in (LARGER, SMALLER) else TAKEN
        order = (c.after, var(second))[:: 1 if op in MAXIMA else -1]
        found[c.name] = Extreme(op, c.after, slope(*order))
    return s, found


def _with_second(context: Context, s: Loop, c: Carried, op: ir.Op, init: Expr) -> tuple[Loop, str]:
    name, result = (context.fresh(f"{n}_second", REAL) for n in (c.name, c.result))
    second, body = var(name), s.body
    nested = _within(s, c)
    if nested is None:
        step = step_of(c)
        assert step is not None
        below = ir.where(better(op, step.term, second), step.term, second)
        after = ir.where(better(op, step.term, c.leaf), c.leaf, below)
        after = ir.where(step.guard, after, second)
    else:
        loop, inner = nested
        made, end = _with_second(context, loop, inner, op, second)
        body, after = tuple(made if t is loop else t for t in body), var(end)
    added = Carried(name, REAL, init, after, result)
    return replace(s, carried=(*s.carried, added), body=body), result


def nested_in(s: Loop, c: Carried) -> str | None:
    """The name of the value after the inner loop that goes on with a carried number."""
    found = _within(s, c)
    return None if found is None else found[1].result


__all__ = ["Extreme", "better", "kept", "nested_in", "step_of", "with_seconds"]
