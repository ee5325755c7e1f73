"""Loops that keep the largest or the least of their terms: one kink, however many terms meet.

Before:  for i in range(n): m = maximum(m, x[i])
After:   the same, with the second largest: second = where(m < x[i], m, maximum(second, x[i]))

A term that is the largest has the slope 1, and 1/2 where another is equal, so one `Op` gives the
slope of all of them: `taken(m, second)` of the last values. The reverse of such a loop needs no
tape, and finds its terms by comparison with m. Terms that depend on the same numbers, as in copies
of an array, may be equal everywhere: their number is carried instead, or counted after the loop,
and each of more than two has one over it.

Requires: a carried number that is only compared with terms, in one loop or in nested ones.
Ensures: the same values; `second` and the number of equal terms are no inputs of a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import ONE, TRUE, ZERO, Expr, var
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import element
from symdiff.ir.functions.selection import EXTREMES, HELD, LARGER, MAXIMA, SMALLER, TAKEN
from symdiff.loops.context import Context


@dataclass(frozen=True, slots=True)
class Extreme:
    """A maximum or minimum that a loop keeps.

    Attributes
    ----------
    op : the operation.
    last : its value after the outermost loop.
    slope : the slope of each term that equals it; in nested loops 1, as the outermost loop
        multiplies by it.
    """

    op: ir.Op
    last: Expr
    slope: Expr

    def is_last(self, term: Expr) -> Expr:
        """Whether a term is the last value; if both are nan, whether it may be."""
        if self.op in (LARGER, SMALLER):
            return ir.eq(term, self.last)
        return ir.not_(better(self.op, self.last, term))


def better(op: ir.Op, a: Expr, b: Expr) -> Expr:
    """Whether a is certainly chosen."""
    return ir.lt(b, a) if op in MAXIMA else ir.lt(a, b)


@dataclass(frozen=True, slots=True)
class Step:
    """The term with which a carried number is compared in an iteration, under a condition; whether
    the loop begins with its first term."""

    op: ir.Op
    term: Expr
    guard: Expr
    begins: bool = False


def step_of(s: lp.Loop, c: lp.Carried) -> Step | None:
    """The step of a carried number; None for other numbers. An initial first term does not occur
    again."""
    made, guard = c.next, TRUE
    if made.op is ir.WHERE and c.leaf in made.args[1:]:
        at = 2 if made.args[1] is c.leaf else 1
        guard = made.args[0] if at == 1 else ir.not_(made.args[0])
        made = made.args[at]
    own = [a for a in made.args if a is not c.leaf]
    if made.op not in EXTREMES or len(own) != 1 or c.leaf in lp.leaves((*own, guard)):
        return None
    if guard is TRUE and not s.reverse:
        (first,) = ir.substitute((own[0],), {lp.index(s.index): ZERO})
        if first is c.init:
            return Step(made.op, own[0], ir.lt(ZERO, lp.index(s.index)), begins=True)
    return Step(made.op, own[0], guard)


def kept(s: lp.Loop) -> Iterator[tuple[lp.Carried, ir.Op]]:
    """The carried numbers that are the largest or the least so far, and that nothing else in a loop
    reads."""
    for c in s.carried:
        if c.type == lp.REAL and (op := _op_of(s, c)) is not None:
            yield c, op


def _op_of(s: lp.Loop, c: lp.Carried) -> ir.Op | None:
    nested = _within(s, c)
    others = [other.next for other in s.carried if other is not c]
    body = tuple(t for t in s.body if nested is None or t is not nested[0])
    read = [*others, s.condition, *(v.value for v in s.saves)]
    read += lp.expressions_in(body)
    if nested is None:
        step = step_of(s, c)
        return None if step is None or c.leaf in lp.leaves(read) else step.op
    loop, inner = nested
    read += [e for o in loop.carried for e in (o.init, o.next) if o is not inner]
    read.append(inner.next)
    read += [] if loop.count is None else [loop.count]
    read += lp.expressions_in(loop.body)
    if not {c.leaf, inner.after}.isdisjoint(lp.leaves(read)):
        return None
    return _op_of(loop, inner)


def _within(s: lp.Loop, c: lp.Carried) -> tuple[lp.Loop, lp.Carried] | None:
    """The inner loop that continues a carried number."""
    for t in s.body:
        if not isinstance(t, lp.Loop):
            continue
        for o in t.carried:
            if o.after is c.next and o.init is c.leaf:
                return t, o
    return None


def with_seconds(
    context: Context, s: lp.Loop, extremes: Iterable[tuple[lp.Carried, ir.Op]]
) -> tuple[lp.Loop, list[lp.Statement], dict[str, Extreme]]:
    """The loop with the second values of its extremes, loops after it that count, and the resulting
    slopes."""
    found: dict[str, Extreme] = {}
    counts: list[lp.Statement] = []
    for c, op in extremes:
        worst = ir.neg(ir.INF) if op in MAXIMA else ir.INF
        if _are_apart(context, s, c):
            s, second = _with_one_more(context, s, c, op, "second", worst)
            equal = None
        else:
            count = _count(context, s, c, worst)
            if count is None:
                s, equal = _with_one_more(context, s, c, op, "equal", ONE)
            else:
                counts.append(count)
                equal = count.carried[0].after
            second = ir.where(ir.lt(ONE, equal), c.after, worst)
        order = (c.after, second)[:: 1 if op in MAXIMA else -1]
        slope = (HELD if op in (LARGER, SMALLER) else TAKEN)(*order)
        if equal is not None:
            known = ir.raw(ir.EQ, (c.after, c.after))  # nan counts as a single value
            several = ir.and_(known, ir.lt(ir.const(2), equal))
            slope = ir.where(several, ONE / equal, slope)
        found[c.name] = Extreme(op, c.after, slope)
    return s, counts, found


def _count(context: Context, s: lp.Loop, c: lp.Carried, worst: Expr) -> lp.Loop | None:
    """A loop that counts the terms equal to the last value, if terms are elements of arrays."""
    step = step_of(s, c)
    if (
        step is None
        or step.term.op is not lp.LOAD
        or s.body
        or s.count is None
        or s.condition is not TRUE
    ):
        return None
    alike: Callable[[Expr], Expr] = lambda term: ir.where(ir.eq(term, c.after), ONE, ZERO)
    now, i = (
        var(context.fresh(f"{c.name}_equal", lp.REAL)),
        lp.index(context.fresh(s.index, lp.INTEGER)),
    )
    term, guard = ir.substitute((step.term, step.guard), {lp.index(s.index): i})
    one = alike(term) if step.begins else ir.where(guard, alike(term), ZERO)
    start = ZERO if step.begins or c.init is worst else alike(c.init)
    result = context.fresh(f"{c.result}_equal", lp.REAL)
    counted = lp.Carried(lp.name_of(now), lp.REAL, start, now + one, result)
    return lp.Loop(lp.name_of(i), s.count, (counted,), (), context.fresh(s.trips, lp.INTEGER))


def _with_one_more(
    context: Context, s: lp.Loop, c: lp.Carried, op: ir.Op, stem: str, start: Expr
) -> tuple[lp.Loop, Expr]:
    """The loop with one more number, and its final value: the "second" value, or how many terms are
    "equal"."""
    now = var(context.fresh(f"{c.name}_{stem}", lp.REAL))
    body, nested = s.body, _within(s, c)
    if nested is None:
        step = step_of(s, c)
        assert step is not None
        new = better(op, step.term, c.leaf)
        if stem == "second":
            below = ir.where(better(op, step.term, now), step.term, now)
            end = ir.where(new, c.leaf, below)
        else:
            end = ir.where(new, ONE, ir.where(ir.eq(step.term, c.leaf), now + ONE, now))
        end = ir.where(step.guard, end, now)
    else:
        loop, inner = nested
        new_loop, end = _with_one_more(context, loop, inner, op, stem, now)
        body = tuple(new_loop if t is loop else t for t in body)
    result = context.fresh(f"{c.result}_{stem}", lp.REAL)
    added = lp.Carried(lp.name_of(now), lp.REAL, start, end, result)
    return replace(s, carried=(*s.carried, added), body=body), var(result)


def _are_apart(context: Context, s: lp.Loop, c: lp.Carried) -> bool:
    """Whether no two terms depend on the same number: each loads its arguments with all the
    indices."""
    init = c.init
    indices, step = {lp.index(s.index)}, step_of(s, c)
    while step is None:
        nested = _within(s, c)
        assert nested is not None
        s, c = nested
        indices.add(lp.index(s.index))
        step = step_of(s, c)
    read: dict[Expr, set[tuple[Expr, ...]]] = {}
    for source, place in _reads(context, step.term):
        read.setdefault(source, set()).add(place)
    return (step.begins or not context.active(init)) and all(
        len(places) == 1 and indices <= {*next(iter(places))} for places in read.values()
    )


def _reads(context: Context, e: Expr) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """The numbers and arrays that an expression depends on, and where it reads them; () if that is
    open."""
    for n in ir.topological((e,)):
        if n.op is ir.VAR and context.active(n):
            yield n, ()
        if n.op is not lp.LOAD or not context.active(n):
            continue
        name, place = lp.name_of(n.args[0]), n.args[1:]
        if name in context.inputs:
            yield n.args[0], place
        elif (made := context.builds.get(name)) is None:
            yield n.args[0], ()
        else:
            yield from _reads(context, element(made, place))


def nested_in(s: lp.Loop, c: lp.Carried) -> str | None:
    """The name of the value after the inner loop that continues a carried number."""
    found = _within(s, c)
    return None if found is None else found[1].result
