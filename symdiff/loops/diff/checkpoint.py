"""Reverse a long loop in bounded memory: some states are stored, and the steps
between them are recomputed.

Before:  for i in range(n): s = f(s, i), saved;   for i in reversed(range(n)): s restored, ...
After:   for i in range(n): s = f(s, i);   for each chunk of steps, from the last one:
         advance from the nearest stored state to the chunk, storing states on the
         way; repeat its steps, now saved; and reverse them

Requires: a loop and its reverse, which shares tapes with no other loop.
Ensures: the same values. There are never more than the given number of states, and the
saved values of one chunk. The program decides at run time which states to store, by the
binomial schedule of Griewank and Walther (ACM TOMS 26, 2000, algorithm 799), which minimises
the number of repeated steps. A step sees the same index as in the loop. The schedule is written in
loops and arrays, so that it is differentiated and compiled like any other program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from symdiff import ir
from symdiff.ir import ONE, TRUE, ZERO, Expr, apply, const, substitute
from symdiff.ir import loop_program as lp
from symdiff.ir.blocks import unchecked
from symdiff.loops.context import Context

STATES, STEPS = 32, 32
"""The number of stored states, and of steps in a saved chunk."""
AUTOMATIC = 256 * 2**20
"""Bytes that tapes may take before states are stored instead."""
BYTES = 8
"""The size of a number."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The storage for one loop.

    Attributes
    ----------
    first : steps from the start of the loop that are saved as without checkpoints.
    states : the number of stored states for the others, and
    steps : the length of a chunk.
    """

    first: Expr
    states: Expr
    steps: Expr


Checkpoint = str | int | Plan | None
"""The user's option: None or "none", "auto", "revolve", a number of bytes; or a plan."""


def plan_of(checkpoint: Checkpoint, s: lp.Loop, forward: lp.Loop) -> Plan:
    """The plan of a user's option for a loop, whose forward sweep saves values."""
    if isinstance(checkpoint, Plan):
        return checkpoint
    if checkpoint == "revolve":
        return Plan(ZERO, const(STATES), const(STEPS))
    budget = AUTOMATIC if checkpoint == "auto" else int(checkpoint or 0)
    part = const(max(budget // (4 * BYTES), 1))
    state = _size([c.type for c in s.carried])
    step = _saved(forward, {}, frozenset())
    states = _between(ONE, apply(lp.FLOORDIV, part, state), const(STATES))
    return Plan(
        apply(lp.FLOORDIV, 2 * part, step), states, _at_least(ONE, apply(lp.FLOORDIV, part, step))
    )


def saves_values(s: lp.Loop) -> bool:
    """Whether a loop, or a loop inside it, saves values."""
    return any(isinstance(b, lp.Loop) and b.saves for b in lp.walk((s,)))


def _size(types: Sequence[lp.Type], largest: Callable[[Expr], Expr] = lambda n: n) -> Expr:
    """The numbers in values of some types; at least one."""
    total: Expr = ZERO
    for t in types:
        size: Expr = ONE
        for n in t.shape:
            size = size * largest(n)
        total = total + size
    return _at_least(ONE, total)


def _saved(s: lp.Loop, counts: Mapping[Expr, Expr], hidden: frozenset[str]) -> Expr:
    """The numbers that a step saves, as far as known before the loop.

    Parameters
    ----------
    counts : of the loops around the step, by their indices. A size that depends on an
        index counts as if the loop had ended.
    hidden : other names from inside these loops. A size that depends on them, and the
        number of iterations of a loop that does, counts as one.
    """
    own = lp.own_names(s.body)
    hidden |= (own | {n for n, _ in lp.inner(s)}) - {s.index}

    def largest(n: Expr) -> Expr:
        (n,) = substitute((n,), counts)
        return ONE if lp.names_in(n) & (hidden | {s.index}) else n

    if s.count is not None:
        counts = {**counts, lp.index(s.index): largest(s.count)}
    total = _size([v.type for v in s.saves], largest) if s.saves else ZERO
    for b in s.body:
        if isinstance(b, lp.Loop) and saves_values(b):
            times = ONE if b.count is None else largest(b.count)
            total = total + times * _saved(b, counts, hidden)
    return _at_least(ONE, total)


def _at_least(low: Expr, e: Expr) -> Expr:
    return ir.where(ir.lt(e, low), low, e)


def _at_most(high: Expr, e: Expr) -> Expr:
    return ir.where(ir.lt(high, e), high, e)


def _between(low: Expr, e: Expr, high: Expr) -> Expr:
    return _at_least(low, _at_most(high, e))


def parts(context: Context, s: lp.Loop, first: Expr) -> tuple[lp.Loop, lp.Loop]:
    """A loop split in two: some first steps, and the others."""
    known = s.condition is TRUE and s.count is not None
    ahead = first if s.count is None else _at_most(first, _at_least(ZERO, s.count))
    (copy,), mapping = lp.renamed((s,), context.names)
    context.adopt(mapping)
    copy = cast(lp.Loop, copy)
    i = lp.index(copy.index)
    if s.reverse:
        assert known and s.count is not None
        (copy,) = lp.replaced((copy,), {i: i + (s.count - ahead)})
    copy = replace(cast(lp.Loop, copy), count=ahead)
    made = lp.index(copy.trips)
    results = [mapping[context.leaf(c.result)] for c in s.carried]
    carried = tuple(replace(c, init=e) for c, e in zip(s.carried, results, strict=True))
    rest = replace(s, carried=carried, count=None if s.count is None else s.count - made)
    if not s.reverse:
        (rest,) = lp.replaced((rest,), {lp.index(s.index): lp.index(s.index) + made})  # type: ignore[assignment]
    context.refresh((copy, rest))
    return copy, rest


# ---------------------------------------------------------------------- the schedule
class Revolve:
    """The reverse of one loop.

    Parameters
    ----------
    s : the loop.
    forward, back : the loop with its saves, and its reverse with the restores.
    passed : how many of the values that `back` carries are adjoints; the others are
        states of the forward loop.
    states, steps : see `Plan`.
    """

    def __init__(
        self, context: Context, s: lp.Loop, forward: lp.Loop, back: lp.Loop, passed: int, plan: Plan
    ) -> None:
        self.context, self.back = context, back
        self.s = replace(s, body=unchecked(s.body))
        self.forward = replace(forward, body=unchecked(forward.body))
        self.passed = passed
        known = s.condition is TRUE and s.count is not None
        self.count = _at_least(
            ZERO, s.count if known and s.count is not None else lp.index(s.trips)
        )
        self.states, self.steps = plan.states, plan.steps
        self.out: list[lp.Statement] = []

    def statements(self) -> list[lp.Statement]:
        """The reverse sweep; its results have the names of the results of `back`."""
        stores = [self._store(c) for c in self.s.carried]
        places = self._built("places", lp.Type((self.states,), "i"), lambda *_: ZERO, self.out)
        j = self._integer("chunk")
        chunks = apply(lp.FLOORDIV, self.count + self.steps - ONE, self.steps)
        top = self._integer("top")
        held = [self._name("places", lp.Type((self.states,), "i"))]
        held += [self._name("kept", self._kept(c)) for c in self.s.carried]
        body: list[lp.Statement] = []
        start = [
            self._state(c, h, lp.index(top), body)
            for c, h in zip(self.s.carried, held[1:], strict=True)
        ]
        walk_loop, last, places_end, kept_end, states = self._advance(j, top, held, start)
        body.append(walk_loop)
        taped, ends = self._steps(self.forward, lp.index(j), self._length(lp.index(j)), states)
        body.append(taped)
        adjoints = self.back.carried[: self.passed]
        starts = [self._name(c.name, c.type) for c in adjoints]
        reverse, results = self._reversed(lp.index(j), starts, ends)
        body.append(reverse)
        here = ir.eq(lp.load(lp.array(places_end, "i"), lp.index(last)), lp.index(j))
        integers = lp.Type((self.states,), "i")
        carried = [
            lp.Carried(
                top,
                lp.INTEGER,
                ZERO,
                ir.where(here, lp.index(last) - ONE, lp.index(last)),
                self._integer("top"),
            ),
            lp.Carried(
                held[0], integers, places, lp.array(places_end, "i"), self._name("places", integers)
            ),
        ]
        for c, h, init, kept in zip(self.s.carried, held[1:], stores, kept_end, strict=True):
            t = self._kept(c)
            carried.append(lp.Carried(h, t, init, lp.array(kept, t.kind), self._name("kept", t)))
        for c, name, end in zip(adjoints, starts, results, strict=True):
            carried.append(lp.Carried(name, c.type, c.init, end, c.result))
        trips = self._integer("trips")
        self.out.append(lp.Loop(j, chunks, tuple(carried), tuple(body), trips, reverse=True))
        return self.out

    # ------------------------------------------------------------------ the parts
    def _advance(
        self, j: str, top: str, held: Sequence[str], start: Sequence[Expr]
    ) -> tuple[lp.Loop, str, str, list[str], list[Expr]]:
        """Advance from the last stored state to a chunk, and store states on the way."""
        now, last = self._integer("now"), self._integer("last")
        integers = lp.Type((self.states,), "i")
        places = self._name("places", integers)
        kept = [self._name("kept", self._kept(c)) for c in self.s.carried]
        state = [self._name(c.name, c.type) for c in self.s.carried]
        body: list[lp.Statement] = []
        room = self.states - ONE - lp.index(last)
        more = ir.lt(ZERO, room)
        ahead = self._distance(lp.index(j) + ONE - lp.index(now), room, body)
        target = lp.index(now) + ahead
        leaves = [c.type.leaf(n) for n, c in zip(state, self.s.carried, strict=True)]
        steps, ends = self._steps(self.s, lp.index(now), ahead * self.steps, leaves)
        body.append(steps)
        slot = lp.index(last) + ONE
        marked = self._name("places", integers)
        body.append(lp.Update(marked, places, integers, (slot,), target, more))
        stored = [
            self._put(c, k, slot, e, more, body)
            for c, k, e in zip(self.s.carried, kept, ends, strict=True)
        ]
        results = [self._integer("now"), self._integer("last"), self._name("places", integers)]
        carried = [
            lp.Carried(
                now, lp.INTEGER, lp.load(lp.array(held[0], "i"), lp.index(top)), target, results[0]
            ),
            lp.Carried(
                last,
                lp.INTEGER,
                lp.index(top),
                lp.index(last) + ir.where(more, ONE, ZERO),
                results[1],
            ),
            lp.Carried(places, integers, lp.array(held[0], "i"), lp.array(marked, "i"), results[2]),
        ]
        kept_end, state_end = [], []
        for c, k, h, put in zip(self.s.carried, kept, held[1:], stored, strict=True):
            t = self._kept(c)
            kept_end.append(self._name("kept", t))
            carried.append(
                lp.Carried(k, t, lp.array(h, t.kind), lp.array(put, t.kind), kept_end[-1])
            )
        for c, n, init, end in zip(self.s.carried, state, start, ends, strict=True):
            result = self._name(c.name, c.type)
            carried.append(lp.Carried(n, c.type, init, end, result))
            state_end.append(c.type.leaf(result))
        condition = ir.lt(lp.index(now), lp.index(j))
        loop = lp.Loop(
            self._integer("leg"),
            None,
            tuple(carried),
            tuple(body),
            self._integer("trips"),
            condition,
        )
        return loop, results[1], results[2], kept_end, state_end

    def _distance(self, left: Expr, room: Expr, body: list[lp.Statement]) -> Expr:
        """The distance, in chunks, to the next state to store, with so many chunks
        left to reverse; the whole distance if there is no room for another state."""
        number, r, size = room + ONE, self._integer("repeated"), self._integer("reach")
        often, reach = self._integer("repeated"), self._integer("reach")
        following = apply(
            lp.FLOORDIV, lp.index(size) * (number + lp.index(r) + ONE), lp.index(r) + ONE
        )
        condition = ir.and_(ir.lt(lp.index(size), left), ir.lt(ZERO, room))
        carried = (
            lp.Carried(r, lp.INTEGER, ZERO, lp.index(r) + ONE, often),
            lp.Carried(size, lp.INTEGER, ONE, following, reach),
        )
        body.append(
            lp.Loop(self._integer("i"), None, carried, (), self._integer("trips"), condition)
        )
        r_, b = lp.index(often), lp.index(reach)
        below = apply(lp.FLOORDIV, b * r_, number + r_)
        rest = apply(lp.FLOORDIV, below * number, _at_least(ONE, number + r_ - ONE))
        binomial = _between(ONE, _at_most(below, left - rest), left - ONE)
        return ir.where(ir.lt(ZERO, room), binomial, left - ONE)

    def _length(self, j: Expr) -> Expr:
        """The number of steps in a chunk; the last may be shorter."""
        return _at_most(self.steps, self.count - j * self.steps)

    def _steps(
        self, s: lp.Loop, chunk: Expr, count: Expr, init: Sequence[Expr]
    ) -> tuple[lp.Loop, list[Expr]]:
        """Some steps of the loop from the start of a chunk, and the state after them."""
        copy = self._copied(s, chunk, count)
        carried = tuple(replace(c, init=e) for c, e in zip(copy.carried, init, strict=True))
        copy = replace(copy, carried=carried, condition=TRUE, reverse=False)
        return copy, [c.after for c in carried]

    def _reversed(
        self, chunk: Expr, starts: Sequence[str], ends: Sequence[Expr]
    ) -> tuple[lp.Loop, list[Expr]]:
        """The reverse of a chunk, and the adjoints after it."""
        copy = self._copied(self.back, chunk, self._length(chunk))
        after = {c.after: e for c, e in zip(self.s.carried, ends, strict=True)}
        carried = [
            replace(c, init=c.type.leaf(n)) for c, n in zip(copy.carried, starts, strict=False)
        ]
        for c in copy.carried[self.passed :]:
            carried.append(replace(c, init=substitute((c.init,), after)[0]))
        copy = replace(copy, carried=tuple(carried), reverse=True)
        return copy, [c.after for c in carried[: self.passed]]

    def _copied(self, s: lp.Loop, chunk: Expr, count: Expr) -> lp.Loop:
        """A loop over steps of one chunk, under new names, in terms of their number."""
        (copy,), _ = lp.renamed((s,), self.context.names)
        copy = cast(lp.Loop, copy)
        i = lp.index(copy.index)
        step = chunk * self.steps + i
        place = self.count - ONE - step if self.s.reverse else step
        (copy,) = lp.replaced((copy,), {i: place})
        return replace(cast(lp.Loop, copy), count=count)

    # ------------------------------------------------------------------- the states
    def _kept(self, c: lp.Carried) -> lp.Type:
        """The type of the array of the states of a value."""
        return lp.Type((self.states, *c.type.shape), c.type.kind)

    def _store(self, c: lp.Carried) -> Expr:
        """The stored states of a value; the first is that before the loop."""
        at = lambda _, *i: lp.load(c.init, *i) if c.type.shape else c.init
        return self._built("kept", self._kept(c), at, self.out)

    def _state(self, c: lp.Carried, kept: str, slot: Expr, body: list[lp.Statement]) -> Expr:
        """One of the states."""
        a = lp.array(kept, c.type.kind)
        if not c.type.shape:
            return lp.load(a, slot)
        return self._built(c.name, c.type, lambda *i: lp.load(a, slot, *i), body)

    def _put(
        self,
        c: lp.Carried,
        kept: str,
        slot: Expr,
        value: Expr,
        guard: Expr,
        body: list[lp.Statement],
    ) -> str:
        """Store a state; the array of states after that."""
        t = self._kept(c)
        axes = [self._integer("i") for _ in c.type.shape]
        source = kept if not axes else self._name("kept", t)
        end = self._name("kept", t)
        place = (slot, *map(lp.index, axes))
        element = lp.load(value, *map(lp.index, axes)) if axes else value
        block: lp.Block = (lp.Update(end, source, t, place, element, TRUE if axes else guard),)
        for depth, (i, n) in reversed(list(enumerate(zip(axes, c.type.shape, strict=True)))):
            init = kept if depth == 0 else self._name("kept", t)
            result = self._name("kept", t)
            count = ir.where(guard, n, ZERO) if depth == 0 else n
            one = lp.Carried(source, t, lp.array(init, t.kind), lp.array(end, t.kind), result)
            block = (lp.Loop(i, count, (one,), block, self._integer("trips")),)
            source, end = init, result
        body += block
        return end

    def _built(
        self, stem: str, t: lp.Type, value: Callable[..., Expr], body: list[lp.Statement]
    ) -> Expr:
        axes = tuple(self._integer("i") for _ in t.shape)
        name = self._name(stem, t)
        body.append(lp.Build(name, t, axes, value(*map(lp.index, axes))))
        return lp.array(name, t.kind)

    def _name(self, stem: str, t: lp.Type) -> str:
        return self.context.fresh(stem, t)

    def _integer(self, stem: str) -> str:
        return self.context.fresh(stem, lp.INTEGER)
