"""The state of a trace: the current place and conditions, and how the two sides of a condition on
real values are merged.

Both sides of a branch are run once, on copies of the local names, and merged with
`where`, so twenty nested branches or early returns cost twenty merges. Statements
that a symbolic `return`, `break` or `continue` may skip run in a *region*: the rest
of the block under the condition that it is reached. Lists and arrays that a side
changes are logged and restored, then their contents are merged like names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.frontend.trace import implied, scalars
from symdiff.frontend.trace.aliases import containers, referenced
from symdiff.frontend.trace.array_memory import Memory
from symdiff.frontend.trace.complex_pairs import alike
from symdiff.frontend.trace.decisions import NEVER
from symdiff.frontend.trace.facts import Conditions
from symdiff.frontend.trace.frames import (
    Changes,
    Container,
    Flow,
    Region,
    Side,
    contents,
    dict_like,
    restore,
    tuple_like,
)
from symdiff.frontend.trace.recorder import Retrace
from symdiff.frontend.trace.values import (
    UNBOUND,
    UNREACHED,
    Choice,
    Cond,
    Integral,
    Maybe,
    Mixed,
    Record,
    Refused,
    SmallArray,
    SymArray,
    array_of,
    is_number,
    of_one_kind,
)
from symdiff.ir import FALSE, TRUE, Expr, loop_program


class Tracer(Conditions):
    """One capture in progress."""

    # ----------------------------------------------------------------- branches
    def enter(self, literal: Expr) -> Region:
        region = Region(self.tick(), self.path, self.facts)
        self.path = ir.and_(self.path, literal)
        self.facts = self.facts.union(implied.consequences(literal))
        self.regions.append(region)
        return region

    @contextmanager
    def attempt(self, transparent: bool = False) -> Iterator[None]:
        """Undo everything in here if it is refused and the refusal is caught. Iterators made
        outside may be used in it, if it is transparent to them."""
        frame, env, flow, path = self.frame, self.frame.env, self.frame.flow, self.path
        depth, always, levels, memories = (
            self.depth,
            self.always,
            len(self.levels),
            len(self.memories),
        )
        counts, assumed, ranges = len(self.counts), len(self.assumptions), dict(self.ranges)
        executed, spent, checks = len(self.executions), len(self.spent), len(self.checks)
        block, statements, steps, written = self.block, len(self.block), self.steps, len(self.written)  # fmt: skip
        log: dict[Memory, Expr | None] = {}
        self.memories.append(log)
        frame.env, frame.flow = dict(env), copy(flow)
        region = self.enter(TRUE)
        region.transparent = transparent
        try:
            yield
        except BaseException:
            while self.regions[-1] is not region:
                self.leave(self.regions[-1])
            self.leave(region)
            frame.env, frame.flow = env, flow
            self.frame, self.path, self.depth, self.always = frame, path, depth, always
            self.block, self.steps, self.ranges = block, steps, ranges
            for memory, leaf in log.items():
                memory.leaf = leaf
            for stream, compute, items in reversed(self.spent[spent:]):
                stream.compute, stream.items = compute, items
            del self.spent[spent:]
            for memory in self.written[written:]:
                memory.leaf = None
            del self.block[statements:], self.written[written:], self.assumptions[assumed:]
            del self.executions[executed:]
            for key in list(self.checks)[checks:]:
                del self.checks[key]
            del self.levels[levels:], self.memories[memories:], self.counts[counts:]
            raise
        changes = self.leave(region)
        for container, _, after in changes.values():
            self.mutate_owned(container)
            restore(container, after)
        self.memories.pop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Keep only the statements that run in here: names, containers and memory are restored."""
        frame, env, flow = self.frame, self.frame.env, self.frame.flow
        log: dict[Memory, Expr | None] = {}
        self.memories.append(log)
        frame.env, frame.flow = dict(env), Flow()
        region = self.enter(TRUE)
        yield  # after an error, `attempt` restores the state
        self.leave(region)
        for memory, leaf in log.items():
            memory.leaf = leaf
        self.memories.pop()
        frame.env, frame.flow = env, flow

    def leave(self, region: Region) -> Changes:
        """End a region; containers get back the contents they had before it."""
        assert self.regions.pop() is region
        self.path, self.facts = region.path, region.facts
        changes = {}
        for key, (container, before) in region.log.items():
            changes[key] = container, before, contents(container)
            restore(container, before)
        return changes

    def either(self, c: Cond, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        """Run both sides of a condition, and merge their states and results."""
        self.need(c)
        if self.of_sizes(c.expr):
            self.decisive.update(dict.fromkeys(loop_program.leaves((c.expr,))))
        frame, start, sides = self.frame, self.frame.env, []
        for literal, run in ((c.expr, then), (ir.not_(c.expr), other)):
            frame.env, frame.flow = dict(start), Flow()
            region = self.enter(literal)
            value = run()
            changes = self.leave(region)
            sides.append(Side(frame.env, frame.flow, value, changes))
        a, b = sides
        frame.flow = self._merge_flow(c.expr, a.flow, b.flow)
        if a.flow.raised or b.flow.raised:  # only the other side continues
            here, there = (b, ir.not_(c.expr)) if a.flow.raised else (a, c.expr)
            frame.flow = here.flow
            self.facts = self.facts.union(implied.consequences(there))
        if a.flow.returned is TRUE or b.flow.returned is TRUE:
            here, dead = (b, a) if a.flow.returned is TRUE else (a, b)
            frame.env, value = here.env, here.value
            self._merge_changes(c.expr, a.changes, b.changes, a is here, dead)
            return value
        frame.env = self._merge_names(c.expr, a.env, b.env, a.changes, b.changes)
        x, y = self._as_left(a.value, a.changes), self._as_left(b.value, b.changes)
        self._merge_changes(c.expr, a.changes, b.changes)
        if a.value is b.value:
            return a.value
        self._must_be_alike(c.expr, x, y)
        return self._chosen("", self.merge(c.expr, x, y), (a.value, a.env), (b.value, b.env))

    def of_sizes(self, condition: Expr) -> bool:
        """Whether a condition depends on sizes of arguments alone, which are known in a call."""
        leaves = loop_program.leaves((condition,))
        return self.shapes is not None and bool(leaves) and self.parameter_sizes.issuperset(leaves)

    def _must_be_alike(self, condition: Expr, a: Any, b: Any) -> None:
        """Refuse arrays of two kinds if sizes decide which one is returned."""
        if self.frame.caller is None and self.of_sizes(condition):
            kinds = {getattr(v, "kind", "") for v in (a, b)}
            if len(kinds) > 1 and "" not in kinds:
                raise Refused("what is returned has another dtype for other sizes")

    def _as_left(self, value: Any, changes: Changes) -> Any:
        """A value with the contents that its containers had at the end of a side."""
        if not changes or not any(id(v) in changes for v in containers(value)):
            return value
        for container, _, after in changes.values():
            restore(container, after)
        found = self.freeze(value)
        for container, before, _ in changes.values():
            restore(container, before)
        self.aliases.chosen(found, value)
        return found

    def _chosen(self, name: str, found: Any, *sides: tuple[Any, dict[str, Any]]) -> Any:
        """The choice of a condition between two sides' containers: it may be changed if nothing
        else shows these."""
        old = {id(c) for v, _ in sides for c in containers(v)}
        new = [c for c in containers(found) if id(c) not in old]
        if not new:
            return found
        self.aliases.chosen(found, *(v for v, _ in sides))
        own = all(id(c) in self._owned for v, _ in sides for c in containers(v))
        if own and not any(referenced(v, name, e, self.frame, self._owned) for v, e in sides):
            for c in new:
                self.own(c)
        return found

    def _merge_flow(self, c: Expr, a: Flow, b: Flow) -> Flow:
        flow = Flow(ir.where(c, a.returned, b.returned), ir.where(c, a.broken, b.broken))
        flow.continued = ir.where(c, a.continued, b.continued)
        if a.returned is FALSE or b.returned is FALSE:
            flow.value = b.value if a.returned is FALSE else a.value
        else:
            self._must_be_alike(c, a.value, b.value)
            flow.value = self.merge(c, a.value, b.value)
        return flow

    def _merge_names(
        self, c: Expr, a: dict[str, Any], b: dict[str, Any], ours: Changes, theirs: Changes
    ) -> dict[str, Any]:
        """The names of two sides, whose containers have the contents of each side's end."""
        if len(a) == len(b) and all(b.get(k, UNBOUND) is v for k, v in a.items()):
            return a
        merged = {}
        for name in (*a, *(k for k in b if k not in a)):
            x, y = a.get(name, UNBOUND), b.get(name, UNBOUND)
            if x is y:
                merged[name] = x
                continue
            found = self.merge(c, self._as_left(x, ours), self._as_left(y, theirs))
            merged[name] = self._chosen(name, found, (x, a), (y, b))
        return merged

    def _merge_changes(
        self, c: Expr, a: Changes, b: Changes, first: bool = True, dead: Side | None = None
    ) -> None:
        """Give the changed containers their merged contents. On a side that has
        returned (`dead`), containers of the call itself no longer count."""
        for key in {**a, **b}:
            container, before, _ = a.get(key) or b[key]
            x = a[key][2] if key in a else before
            y = b[key][2] if key in b else before
            if dead is not None and self._owned[key][1] > self.frame.birth:
                new = x if first else y
            else:
                new = self._merge_contents(c, container, x, y)
            self.mutate_owned(container)
            restore(container, new)

    def mutate_owned(self, container: Container) -> None:
        stamp = self._owned[id(container)][1]
        for region in reversed(self.regions):
            if id(container) in region.log or stamp > region.start:
                break
            region.log[id(container)] = container, contents(container)

    def _merge_contents(self, c: Expr, container: Container, x: Any, y: Any) -> Any:
        if isinstance(container, np.ndarray):
            new = np.empty_like(container)
            for i in np.ndindex(container.shape):
                new[i] = self.merge(c, x[i], y[i])
            return new
        if isinstance(container, list) and len(x) == len(y):
            return [self.merge(c, u, v) for u, v in zip(x, y, strict=True)]
        if isinstance(container, dict) and x.keys() == y.keys():
            return dict_like(x, {k: self.merge(c, u, y[k]) for k, u in x.items()})
        if isinstance(container, set) and x == y:
            return x
        raise Refused(
            f"a {type(container).__name__} changes its size only when {self.text(c)}",
            "its size must not depend on real values",
        )

    # ------------------------------------------------------------------ regions
    def open(self, skip: Expr) -> Region:
        """Begin a stretch that runs only where `skip` does not hold."""
        frame = self.frame
        region = self.enter(ir.not_(skip))
        region.skip, region.env, region.flow = skip, dict(frame.env), frame.flow
        frame.flow = Flow()
        return region

    def close(self, region: Region) -> None:
        """End it: where it was skipped, names and contents are as they were before."""
        frame, inner, saved = self.frame, self.frame.flow, region.flow
        changes = self.leave(region)
        flow = Flow(
            _or_later(saved.returned, inner.returned, saved.broken, saved.continued),
            _or_later(saved.broken, inner.broken, saved.returned, saved.continued),
        )
        flow.continued = _or_later(saved.continued, inner.continued, saved.returned, saved.broken)
        if saved.returned is FALSE or inner.returned is FALSE:
            flow.value = inner.value if saved.returned is FALSE else saved.value
        else:
            self._must_be_alike(saved.returned, saved.value, inner.value)
            flow.value = self.merge(saved.returned, saved.value, inner.value)
        frame.flow = flow
        stopped = ir.or_(saved.broken, saved.continued)
        if stopped is not FALSE:
            dead = inner.returned is TRUE
            if dead:
                frame.env = region.env
            else:
                frame.env = self._merge_names(stopped, region.env, frame.env, {}, changes)
        for key, (container, before, after) in changes.items():
            mine = self._owned[key][1] > frame.birth
            c = stopped if mine else region.skip
            self.mutate_owned(container)
            restore(container, after if c is FALSE else self._merge_contents(c, container, before, after))  # fmt: skip

    # -------------------------------------------------------------------- merge
    def merge(self, c: Expr, a: Any, b: Any) -> Any:
        """One value that is `a` where the condition holds, else `b`."""
        if a is b or b is UNREACHED:
            return a
        if a is UNREACHED:
            return b
        if a is UNBOUND or b is UNBOUND or isinstance(a, Maybe) or isinstance(b, Maybe):
            return self._merge_bound(c, a, b)
        a, b = alike(a, b)
        if is_number(a) and is_number(b):
            if type(a) is type(b) and isinstance(a, int) and a == b:
                return a
            of_one_kind(a, b)
            found = scalars.select(c, self.defined(c), a, b, bool(self.array_parameters))
            mixed = isinstance(found, Integral) and isinstance(a, (bool, Cond)) is not isinstance(
                b, (bool, Cond)
            )
            return Mixed(found.expr, found.defined) if mixed else found
        if isinstance(a, SymArray) or isinstance(b, SymArray):
            return self._merge_arrays(c, a, b)
        if type(a) is not type(b):
            return Choice(c, a, b)
        if isinstance(a, SmallArray) and a.items.shape == b.items.shape:
            pairs = zip(a.items.ravel(), b.items.ravel(), strict=True)
            return array_of([self.merge(c, u, v) for u, v in pairs], a.items.shape)
        if isinstance(a, (tuple, list)) and len(a) == len(b):
            new = [
                self.merge(c, u, v) for u, v in zip(map(self.raw, a), map(self.raw, b), strict=True)
            ]
            return new if isinstance(a, list) else tuple_like(a, new)
        if isinstance(a, dict) and a.keys() == b.keys():
            return dict_like(
                a, {k: self.merge(c, self.raw(v), self.raw(b[k])) for k, v in a.items()}
            )
        if isinstance(a, Record) and a.made_of is b.made_of and a.fields.keys() == b.fields.keys():
            return (
                a if a.fields is b.fields else Record(a.made_of, self.merge(c, a.fields, b.fields))
            )
        if isinstance(a, (str, bytes, range, frozenset)) and a == b:
            return a
        return Choice(c, a, b)

    def _merge_arrays(self, c: Expr, a: Any, b: Any) -> Any:
        """One of two arrays, at least one of which has an unknown size."""
        if isinstance(a, SmallArray) or isinstance(b, SmallArray):
            raise Retrace(what="an array has elements traced one by one on one side only")
        found = self.one_of_arrays(c, a, b) if type(a) is type(b) else None
        return Choice(c, a, b) if found is None else found

    def _merge_bound(self, c: Expr, a: Any, b: Any) -> Any:
        """Merge where a side is not bound, or not on all of its paths."""
        (x, p), (y, q) = (self._bound_part(v, side) for v, side in ((a, c), (b, ir.not_(c))))
        bound = ir.where(c, p, q)
        if bound is FALSE:
            return UNBOUND
        value = y if p is FALSE else x if q is FALSE else self.merge(c, x, y)
        return value if bound is TRUE else Maybe(value, bound)

    def _bound_part(self, value: Any, side: Expr) -> tuple[Any, Expr]:
        """A side's value, and where it is bound as far as the side leaves that open."""
        if not isinstance(value, Maybe):
            return value, FALSE if value is UNBOUND else TRUE
        d = self._decisions
        here, bound = d.both(d.of(self.path), d.of(side)), d.of(value.bound)
        if d.implies(here, bound):
            return value.value, TRUE
        never = d.both(here, bound) == NEVER
        return value.value, FALSE if never else value.bound

    def raw(self, value: Any) -> Any:
        """Like `wrap`, but a `Choice` stays undecided until it is used."""
        return value if isinstance(value, Choice) else self.wrap(value)

    def freeze(self, value: Any) -> Any:
        """A copy that later changes do not reach."""
        if isinstance(value, list):
            return [self.freeze(v) for v in value]
        if isinstance(value, tuple):
            return tuple_like(value, [self.freeze(v) for v in value])
        if isinstance(value, dict):
            return dict_like(value, {k: self.freeze(v) for k, v in value.items()})
        if isinstance(value, Record):
            return Record(value.made_of, self.freeze(value.fields))
        if isinstance(value, Choice):
            return Choice(value.condition, self.freeze(value.then), self.freeze(value.other))
        return (
            SmallArray(value.items.copy(), value.kind) if isinstance(value, SmallArray) else value
        )


def _or_later(before: Expr, later: Expr, *others: Expr) -> Expr:
    """Where the block was left in one way, before a region or in it, unless it had been
    left in another."""
    return ir.or_(before, ir.and_(ir.not_(ir.or_(*others)), later))
