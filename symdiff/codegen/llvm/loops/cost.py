"""Which loops are vectorised: what their bodies cost in lanes and element by element.

    Build     over its last axis; loops inside of it then run on vectors
    Loop      if what it carries are sums, products and extremes, and arrays whose elements
              change at places that follow the index, each in one iteration only

Elements that follow the index are loaded as vectors where that is within the array, which
is made sure by leaving the first and last iterations to the loop without SIMD. Other
elements are gathered one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from symdiff import ir
from symdiff.codegen.llvm.loops.fallback import usually
from symdiff.codegen.llvm.loops.memory import Memory
from symdiff.codegen.llvm.loops.scoped import Scope
from symdiff.ir import DIV, ONE, POW, TRUE, VAR, Expr, topological
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import (
    ARRAY,
    FLOORDIV,
    INDEX,
    LOAD,
    MOD,
    REAL,
    Block,
    Build,
    Loop,
    Statement,
    Update,
    defined,
    index,
    leaves,
    name_of,
)
from symdiff.ir.plain import real_op
from symdiff.lowering.loops.collected import Reduction, reduction

INNER = 16.0
"""How often the body of an inner loop is taken to run."""
UNROLLS = (4, 2)
"""How many vectors a step may have,"""
SMALL = 24.0
"""as long as they cost no more than this."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An index that must be within an axis: its step with the loop, 1 or -1, and the size."""

    at: Expr
    size: Expr
    step: int


@dataclass(frozen=True, slots=True)
class Plan:
    """How a loop is vectorised.

    Attributes
    ----------
    cost : of an iteration, in units of an addition.
    unroll : vectors per step.
    bounds : what the loop on vectors needs to be within arrays.
    """

    cost: float
    unroll: int
    bounds: tuple[Bound, ...]


class Choice(Memory):
    """Decides what is vectorised."""

    # ----------------------------------------------------------------- analysis
    @contextmanager
    def trial(
        self, ranges: Mapping[str, Expr], varying: Iterable[str], body: Block = ()
    ) -> Iterator[None]:
        """A scope to try names in, those that a body defines too, in which nothing is printed."""
        outer = self.scope
        self.scope = Scope(outer)
        made = (n for s in body for n, _ in defined(s))
        self.scope.names.update(dict.fromkeys((*ranges, *varying, *made), "?"))
        self.scope.ranges.update(ranges)
        self.scope.varying.update(varying)
        try:
            yield
        finally:
            self.scope = outer

    def plan_build(self, s: Build) -> Plan | None:
        """How a build is vectorised over its last axis."""
        inner = self.nested(s.body)
        if inner is None or s.type.kind == "b":
            return None
        ranges = dict(zip(s.indices, s.type.shape, strict=True))
        return self.plan(s.indices[-1], ranges, inner, (s.value,), (), ())

    def plan_loop(self, s: Loop) -> Plan | None:
        """How a loop is vectorised; not at all where a lane elsewhere runs it step by step."""
        if s.count is None or s.condition is not TRUE or self.alike():
            return None
        arrays = [v.type.shape for v in s.saves] + [v.type.shape for v in s.restores]
        if any(arrays) or (s.reverse and s.saves):
            return None
        if s.restores and not s.reverse:
            return None
        numbers = [c for c in s.carried if not c.type.shape]
        found = [reduction(c) for c in numbers]
        terms = [r.term for r in found if r is not None]
        updates = [b for b in s.body if isinstance(b, Update)]
        inner = self.nested([b for b in s.body if not isinstance(b, Update)])
        if inner is None or len(terms) < len(numbers):
            return None
        own = {c.name for c in s.carried}
        changes = [x for u in updates for x in (u.value, u.guard, *u.index)]
        inside = [x for b in inner for c in b.carried for x in (c.init, c.next)]
        inside += [b.count for b in inner if b.count is not None]
        roots = (*terms, *(v.value for v in s.saves), *changes)
        if any(e.op is not ARRAY and name_of(e) in own for e in leaves((*roots, *inside))):
            return None
        if not self.separate(s, updates, (*roots, *inside)):
            return None
        restored = tuple(r.name for r in s.restores)
        return self.plan(s.index, {s.index: s.count}, inner, roots, updates, restored)

    def nested(self, block: Sequence[Statement]) -> list[Loop] | None:
        """The loops of a block and inside of them, if they are sums over all iterations."""
        found: list[Loop] = []
        for s in block:
            if not isinstance(s, Loop) or s.count is None or s.condition is not TRUE:
                return None
            if s.saves or s.restores or any(c.type != REAL for c in s.carried):
                return None
            inside = self.nested(s.body)
            if inside is None:
                return None
            found += [s, *inside]
        return found

    def separate(self, s: Loop, updates: Sequence[Update], roots: Sequence[Expr]) -> bool:
        """Whether the iterations change arrays independently of each other."""
        state = {c.name: c.name for c in s.carried if c.type.shape}
        places: dict[str, set[tuple[Expr, ...]]] = {}
        adds: dict[str, bool] = {}
        for u in updates:
            owner = state.pop(u.source, None)
            if owner is None or u.type.kind == "b":
                return False
            state[u.name] = owner
            places.setdefault(owner, set()).add(u.index)
            adds[owner] = adds.get(owner, True) and u.add
        ends = {owner: name for name, owner in state.items()}
        for c in s.carried:
            if c.type.shape and (c.name not in places or name_of(c.next) != ends[c.name]):
                return False
        nodes = topological(roots)
        owners = {**{c.name: c.name for c in s.carried if c.type.shape}}
        for u in updates:
            owners[u.name] = owners[u.source]
        read: dict[str, set[tuple[Expr, ...]]] = {}
        for n in nodes:
            if n.op is LOAD and name_of(n.args[0]) in owners:
                read.setdefault(owners[name_of(n.args[0])], set()).add(n.args[1:])
        return all(
            (adds[o] and o not in read) or (len(at) == 1 and read.get(o, at) == at)
            for o, at in places.items()
        )

    def plan(
        self,
        v: str,
        ranges: Mapping[str, Expr],
        inner: Sequence[Loop],
        roots: Sequence[Expr],
        updates: Sequence[Update],
        restored: Sequence[str],
    ) -> Plan | None:
        """How a body is vectorised over an index, if that pays."""
        if self.width == 1:
            return None
        deep = {s.index: s.count for s in inner if s.count is not None}
        names = {c.name for s in inner for c in s.carried}
        names |= {c.result for s in inner for c in s.carried}
        exprs = [*roots, *(x for s in inner for c in s.carried for x in (c.init, c.next))]
        versions = {u.name for u in updates}
        with self.trial({**ranges, **deep}, {v, *names, *restored}):
            # an inner index is a number; an updated array is where its source is
            self.scope.varying -= set(deep)
            self.scope.names.update(dict.fromkeys(versions, "?"))
            for u in updates:
                self.scope.names.setdefault(u.source, "?")
            if any(self.varies(s.count) for s in inner if s.count is not None):
                return None
            return self.priced(v, set(deep) | names, exprs, updates)

    def priced(
        self, v: str, deep: set[str], exprs: Sequence[Expr], updates: Sequence[Update]
    ) -> Plan | None:
        bounds: dict[Bound, None] = {}
        scalar_cost = packed_cost = 0.0
        for u in updates:
            found = self.follows(v, u.index, u.type.shape)
            if found is None:
                return None
            bounds.update(dict.fromkeys(found))
            scalar_cost, packed_cost = scalar_cost + 2, packed_cost + 2
        inside: dict[Expr, bool] = {}
        for n in topological(usually(exprs)):
            leaf = n.op in (VAR, INDEX, ARRAY)
            inside[n] = name_of(n) in deep if leaf else any(inside[a] for a in n.args)
            if not n.args or not self.varies(n):
                continue
            weight = INNER if inside[n] else 1.0
            if n.op is LOAD:
                shape = self.shape_of(name_of(n.args[0]), updates)
                found = None if shape is None else self.follows(v, n.args[1:], shape)
                if shape is None:
                    return None
                bounds.update(dict.fromkeys(found or ()))
                one, all_lanes = 1.0, 1.0 if found is not None else 2.0 * self.width
            else:
                one, all_lanes = self.work(n)
            scalar_cost += weight * one
            packed_cost += weight * all_lanes
        cost = packed_cost / self.width
        if cost > 0.8 * scalar_cost:
            return None
        unroll = next((k for k in UNROLLS if k * packed_cost <= SMALL), 1)
        return Plan(cost, unroll, tuple(bounds))

    def shape_of(self, name: str, updates: Sequence[Update]) -> tuple[Expr, ...] | None:
        """The shape of an array that is read in a loop."""
        for u in updates:
            if name in (u.name, u.source):
                return u.type.shape
        try:
            return self.stored(name).shape
        except (KeyError, AssertionError):
            return None

    def work(self, n: Expr) -> tuple[float, float]:
        """The cost of an operation by itself, and in all lanes."""
        op = real_op(n.op)
        if op is DIV or (op is POW and n.args[1] is ir.HALF):
            return 4.0, 8.0
        if op in (FLOORDIV, MOD):
            return 8.0, 10.0 * self.width
        if self.kind(n) == "i":
            return 1.0, 1.0
        libm = op.libm if op.intrinsic is None else None
        if libm is None:
            return 1.0, 1.0
        name = libm + ("f" if self.scalars.single else "")
        variant = self.packed.lanes.variant(name, op.arity) if op.vector else None
        return 20.0, 25.0 if variant is not None else 22.0 * self.width

    def follows(
        self, v: str, indices: Sequence[Expr], shape: Sequence[Expr]
    ) -> tuple[Bound, ...] | None:
        """What must hold for elements that lie side by side in the lanes; None if they
        do not."""
        if any(self.varies(i) for i in indices[:-1]):
            return None
        at, size = indices[-1], shape[-1]
        step = self.step(at, v)
        if step not in (1, -1):
            return None
        if self.in_range(at, size):
            return ()
        first = ir.substitute((at,), {index(v): ir.ZERO})[0]
        fixed = all(
            name_of(e) not in self.scope.names for e in leaves((first, size)) if e.op is not ARRAY
        )
        return (Bound(at, size, step),) if fixed else None

    def step(self, e: Expr, v: str) -> int | None:
        """How an index changes from lane to lane, if always alike."""
        if not self.varies(e):
            return 0
        here = index(v)
        others = [n for n in leaves((e,)) if n is not here and self.varies(n)]
        if others or any(n.op is LOAD and self.varies(n) for n in topological((e,))):
            return None
        moved = ir.substitute((e,), {here: ir.add(here, ONE)})[0]
        q = ir.rational(linear(ir.sub(moved, e)))
        return int(q) if q is not None and q.denominator == 1 else None


__all__ = ["Bound", "Choice", "Plan", "Reduction", "reduction"]
