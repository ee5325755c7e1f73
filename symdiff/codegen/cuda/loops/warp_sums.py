"""Builds whose elements are sums of rows, as CUDA kernels: a warp for each element.

One thread for each element would read the rows side by side, each at its own place. The
threads of a warp read one row together, and add up what they have by shuffles, in an order
that is always the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.common.liveness import Point
from symdiff.codegen.cuda.loops.independence import Collected, Parallel, parallel
from symdiff.codegen.cuda.loops.kernel import Grid, space_of
from symdiff.codegen.cuda.loops.scoped import Scope
from symdiff.codegen.cuda.loops.steps import WARP
from symdiff.ir import ONE, Expr, add, rational, sub, substitute, topological
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import (
    LOAD,
    Build,
    Loop,
    Statement,
    expressions,
    index,
    inner,
    leaves,
    names_in,
    walk,
)


def row_loops(s: Build, sizes: set[Expr]) -> tuple[Parallel, ...] | None:
    """How the threads of a warp share the loops of a build, if they read rows together."""
    found = []
    for b in s.body:
        p = parallel(b, sizes) if isinstance(b, Loop) else None
        if p is None or len(p.levels) > 1 or len(p.collected) < len(p.levels[0].carried):
            return None
        loop = p.levels[0]
        if loop.saves or loop.restores or loop.count is None:
            return None
        mine = {n for t in (s, *s.body) for n, _ in inner(t)}
        if mine & names_in(loop.count):
            return None
        found.append(p)
    along = sum(_along(p.levels[0], s) for p in found)
    return tuple(found) if along > 0 else None


def _along(s: Loop, of: Build) -> int:
    """How many loads follow the loop along the last axis, less those that follow the
    element."""
    roots = [x for b in walk((s,)) for x in expressions(b)]
    score = 0
    for n in topological(roots):
        if n.op is LOAD and index(s.index) in leaves((n,)):
            last = n.args[-1]
            score += _follows(last, s.index) - _follows(last, of.indices[-1])
    return score


def _follows(e: Expr, name: str) -> bool:
    here = index(name)
    if any(n.op is LOAD for n in topological((e,))):
        return False
    moved = substitute((e,), {here: add(here, ONE)})[0]
    return rational(linear(sub(moved, e))) in (1, -1)


class Rows(Grid):
    """Prints one kernel with a warp for each element."""

    def build_rows(self, s: Build, shared: Sequence[Parallel]) -> None:
        """Print a build whose loops the threads of a warp share."""
        target = self.changed(s.name, s.type)
        by_loop = {b.index: p for b, p in zip(s.body, shared, strict=True) if isinstance(b, Loop)}
        self.row = by_loop
        self.lane = self.emit("lane", f"{self.language.rank} % {WARP}")

        def body(o: str) -> None:
            self.block(s.body, (s.value,))
            value = self.typed(s.value, s.type.kind)
            told = self.language.assign(f"{target.address}[{o}]", value)
            self.line(*self.language.only([f"{self.lane} == 0"], told))

        first, step = f"({self.language.turn}) / {WARP}", f"{self.language.stride} / {WARP}"
        self.spread(space_of(s), body, first, step)

    def statement(self, s: Statement, point: Point) -> None:
        if isinstance(s, Loop) and s.index in self.row:
            self.together(s, self.row[s.index])
        else:
            super().statement(s, point)

    def together(self, s: Loop, p: Parallel) -> None:
        """Print a loop that the threads of a warp share; all of them have the results."""
        inits = [self.typed(c.carried.init, c.carried.type.kind) for c in p.collected]
        variables = self.variables(p)

        def body(o: str) -> None:
            self.begin(p, variables)
            self.iteration(p.levels[0], variables)

        self.spread(p.space, body, self.lane, str(WARP))
        for c, init, v in zip(p.collected, inits, variables, strict=True):
            self.shuffled(c, v)
            whole = self.emit(c.carried.type.kind, self.whole(c, init, v))
            self.scope.names[c.carried.result] = whole
        if s.count is not None:
            self.scope.names[s.trips] = self.count(s.count)

    def shuffled(self, c: Collected, v: str) -> None:
        """Print how a warp makes one of what its threads have collected."""
        of = c.carried.type.kind
        w, outer = self.fresh("w"), self.scope
        self.scope = Scope(outer)
        a = self.emit(of, v)
        b = self.emit(of, f"__shfl_down_sync(0xffffffffu, {v}, {w})")
        self.line(self.language.assign(v, self.joined(c, a, b)))
        self.close(outer, self.language.halving(w, WARP // 2))
        self.line(self.language.assign(v, f"__shfl_sync(0xffffffffu, {v}, 0)"))


__all__ = ["Rows", "row_loops"]
