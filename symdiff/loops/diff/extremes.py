"""Loops that keep the largest or the least of their terms: one kink, however many terms meet.

Before:  for i in range(n): m = maximum(m, x[i])
After:   the same, with the second largest: second = where(m < x[i], m, maximum(second, x[i]))

A term that is the largest has the slope 1, and 1/2 where another is equal, so one `Op` tells the slope of
all of them: `taken(m, second)` of the last values. The reverse of such a loop needs no tape, and its terms are
found by comparison with m. Terms that depend on the same numbers, as copies of an array, may be equal
everywhere: where more than two are, each has one over how many they are.

Requires: a carried number that is only compared with terms, in one loop or in nested ones.
Ensures: the same values; `second`, and the number of equal terms, are no inputs of a derivative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import ONE, TRUE, ZERO, Expr, var
from symdiff.ir.functions.selection import EXTREMES, HELD, LARGER, MAXIMA, SMALLER, TAKEN
from symdiff.ir.loop_program import (
    LOAD,
    REAL,
    Carried,
    Loop,
    expressions,
    index,
    leaves,
    name_of,
    walk,
)
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
    """What a carried number is compared with in an iteration, under a condition; whether the loop begins with
    its first term."""

    op: ir.Op
    term: Expr
    guard: Expr
    begins: bool = False


def step_of(s: Loop, c: Carried) -> Step | None:
    """None for a number that is not kept so. A first term with which it begins is not met again."""
    made, guard = c.next, TRUE
    if made.op is ir.WHERE and c.leaf in made.args[1:]:
        at = 2 if made.args[1] is c.leaf else 1
        guard = made.args[0] if at == 1 else ir.not_(made.args[0])
        made = made.args[at]
    own = [a for a in made.args if a is not c.leaf]
    if made.op not in EXTREMES or len(own) != 1 or c.leaf in leaves((*own, guard)):
        return None
    if guard is TRUE and not s.reverse:
        (first,) = ir.substitute((own[0],), {index(s.index): ZERO})
        if first is c.init:
            return Step(made.op, own[0], ir.lt(ZERO, index(s.index)), begins=True)
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
        step = step_of(s, c)
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
        first = None if _are_apart(context, s, c) else ONE
        s, (second, *equal) = _with_second(context, s, c, op, worst, first)
        order = (c.after, second)[:: 1 if op in MAXIMA else -1]
        slope = (HELD if op in (LARGER, SMALLER) else TAKEN)(*order)
        for n in equal:
            slope = ir.where(ir.lt(ir.const(2), n), ONE / n, slope)
        found[c.name] = Extreme(op, c.after, slope)
    return s, found


def _with_second(
    context: Context, s: Loop, c: Carried, op: ir.Op, second: Expr, equal: Expr | None = None
) -> tuple[Loop, list[Expr]]:
    """The loop with the second value, and how many terms are equal unless that is None; both at its end."""

    def made(stem: str) -> tuple[str, str]:
        return context.fresh(f"{c.name}_{stem}", REAL), context.fresh(f"{c.result}_{stem}", REAL)

    starts = [second] if equal is None else [second, equal]
    names = [made(stem) for stem in ("second", "equal")[: len(starts)]]
    body, now = s.body, [var(name) for name, _ in names]
    nested = _within(s, c)
    if nested is None:
        step = step_of(s, c)
        assert step is not None
        new = better(op, step.term, c.leaf)
        below = ir.where(better(op, step.term, now[0]), step.term, now[0])
        ends = [ir.where(new, c.leaf, below)]
        for n in now[1:]:
            ends.append(ir.where(new, ONE, ir.where(ir.eq(step.term, c.leaf), n + ONE, n)))
        ends = [ir.where(step.guard, e, n) for e, n in zip(ends, now, strict=True)]
    else:
        loop, inner = nested
        new_loop, ends = _with_second(context, loop, inner, op, *now)
        body = tuple(new_loop if t is loop else t for t in body)
    added = [
        Carried(name, REAL, init, end, result)
        for (name, result), init, end in zip(names, starts, ends, strict=True)
    ]
    loop = replace(s, carried=(*s.carried, *added), body=body)
    return loop, [var(result) for _, result in names]


def _are_apart(context: Context, s: Loop, c: Carried) -> bool:
    """Whether no two terms depend on the same number: each reads what it depends on with all the indices."""
    init = c.init
    indices, step = {index(s.index)}, step_of(s, c)
    while step is None:
        nested = _within(s, c)
        assert nested is not None
        s, c = nested
        indices.add(index(s.index))
        step = step_of(s, c)
    read: dict[Expr, set[tuple[Expr, ...]]] = {}
    for source, place in _reads(context, step.term):
        read.setdefault(source, set()).add(place)
    return (step.begins or not context.active(init)) and all(
        len(places) == 1 and indices <= {*next(iter(places))} for places in read.values()
    )


def _reads(context: Context, e: Expr) -> Iterator[tuple[Expr, tuple[Expr, ...]]]:
    """The numbers and arrays that an expression depends on, and where it reads them; () if that is open."""
    for n in ir.topological((e,)):
        if n.op is ir.VAR and context.active(n):
            yield n, ()
        if n.op is not LOAD or not context.active(n):
            continue
        name, place = name_of(n.args[0]), n.args[1:]
        if name in context.inputs:
            yield n.args[0], place
        elif (made := context.builds.get(name)) is None:
            yield n.args[0], ()
        else:
            axes = zip(map(index, made.indices), place, strict=True)
            yield from _reads(context, *ir.substitute((made.value,), dict(axes)))


def nested_in(s: Loop, c: Carried) -> str | None:
    """The name of the value after the inner loop that goes on with a carried number."""
    found = _within(s, c)
    return None if found is None else found[1].result


__all__ = ["Extreme", "better", "kept", "nested_in", "step_of", "with_seconds"]
