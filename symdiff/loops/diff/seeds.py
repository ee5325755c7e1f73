"""Loops over unit directions: a Jacobian element by element of one side.

Before:  y = Build(i: sin(x[i]))
After:   for k in range(n): for i in range(n): J[i, k] = cos(x[i])*(1 if i == k else 0)

Requires: a valid program.
Ensures: statements that follow the program's own and compute the entries. Parts that do not
depend on the direction are left to the program's own statements. `loops.simplify.deltas` sums
over the directions where only one term remains.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff import ir
from symdiff.ir import ONE, ZERO, Expr, substitute
from symdiff.ir import loop_program as lp
from symdiff.loops.context import Context
from symdiff.loops.diff.checkpoint import Checkpoint
from symdiff.loops.diff.forward import Duals
from symdiff.loops.diff.reverse import Sweep


def fewer(a: Sequence[lp.Type], b: Sequence[lp.Type]) -> bool:
    """Whether values of some types surely have fewer elements than those of others."""
    return _elements(a) < _elements(b)


def _elements(parts: Sequence[lp.Type]) -> tuple[int, float]:
    """The number of elements: the degree in the unknown sizes, and its coefficient."""
    sizes = []
    for t in parts:
        known = [ir.integer(n) for n in t.shape]
        factor = 1.0
        for n in known:
            factor *= 1.0 if n is None else max(n, 0)
        sizes.append((known.count(None), factor))
    degree = max((d for d, _ in sizes), default=0)
    return degree, sum(f for d, f in sizes if d == degree)


class Seeds:
    """The sweeps over unit directions of one program.

    Parameters
    ----------
    base : the program.
    first : whether the axes of the direction come before those of the result.

    Attributes
    ----------
    statements : the statements that follow the program's own.
    """

    def __init__(self, base: lp.LoopProgram, first: bool) -> None:
        self.base, self.first = base, first
        self.statements: list[lp.Statement] = []
        self.context = Context(base, ())
        self.names = self.context.names

    def tangents(self, name: str) -> list[Expr]:
        """The derivatives of every output by a parameter."""
        t = self.context.types[name]
        ks = [self.names.fresh("k") for _ in t.shape]
        unit, seed = self._unit(t, ks)
        context = Context(self.base, (name,))
        context.names, context.types = self.names, {**context.types, **self.context.types}
        duals = Duals(context, {name: seed})
        block = [*unit, *duals.block(self.base.block)]
        kinds = [lp.Type(self._type(e).shape) for e in self.base.outputs]
        outputs = zip(self.base.outputs, kinds, strict=True)
        results = [duals.dense(e, kind, block) for e, kind in outputs]
        return self._looped(ks, t, block, results, kinds)

    def cotangents(self, output: Expr, wrt: Sequence[str], checkpoint: Checkpoint) -> list[Expr]:
        """The derivatives of an output by every parameter."""
        t = self._type(output)
        ks = [self.names.fresh("k") for _ in t.shape]
        unit, seed = self._unit(t, ks)
        context = Context(self.base, wrt)
        context.names, context.types = self.names, {**context.types, **self.context.types}
        sweep = Sweep(context, self.base.block, wrt, self.base.outputs, checkpoint=checkpoint)
        sweep.cotangent(output, seed)
        sweep.run()
        kinds = [self.context.types[n] for n in wrt]
        results = [sweep.bar(n, k) for n, k in zip(wrt, kinds, strict=True)]
        return self._looped(ks, t, [*unit, *sweep.forward, *sweep.out], results, kinds)

    def _type(self, e: Expr) -> lp.Type:
        return self.context.types[lp.name_of(e)] if e.op is lp.ARRAY else lp.REAL

    def _unit(self, t: lp.Type, ks: Sequence[str]) -> tuple[list[lp.Statement], Expr]:
        """The direction that is one at an element and zero elsewhere."""
        if not t.shape:
            return [], ONE
        axes = tuple(self.names.fresh("i") for _ in ks)
        here = ir.TRUE
        for i, k in zip(axes, ks, strict=True):
            here = ir.and_(here, ir.eq(lp.index(i), lp.index(k)))
        name = self.context.fresh("unit", t)
        return [lp.Build(name, t, axes, ir.where(here, ONE, ZERO))], lp.array(name)

    def _looped(
        self,
        ks: Sequence[str],
        t: lp.Type,
        block: Sequence[lp.Statement],
        results: Sequence[Expr],
        kinds: Sequence[lp.Type],
    ) -> list[Expr]:
        """Store the results of all directions in arrays."""
        own = self._own(block)
        copy, new = lp.renamed(own, self.names)
        results = substitute(results, new)
        if not ks:
            self.statements += copy
            return list(results)
        body = list(copy)
        carried: list[tuple[str, lp.Type, str]] = []
        for e, kind in zip(results, kinds, strict=True):
            shape = (*t.shape, *kind.shape) if self.first else (*kind.shape, *t.shape)
            entries = lp.Type(shape)
            start = self.context.fresh("entries", entries)
            end = self._stored(body, start, entries, e, kind, ks)
            carried.append((start, entries, end))
        return self._nest(ks, t, body, carried)

    def _own(self, block: Sequence[lp.Statement]) -> lp.Block:
        """The statements that depend on the direction, and those that share tapes
        with them."""
        shared = {id(s) for s in self.base.block}
        while True:
            tapes = {x for s in block if id(s) not in shared for x in _tapes(s)}
            more = {id(s) for s in block if id(s) in shared and _tapes(s) & tapes}
            if not more:
                return tuple(s for s in block if id(s) not in shared)
            shared -= more

    def _stored(
        self,
        body: list[lp.Statement],
        start: str,
        entries: lp.Type,
        e: Expr,
        kind: lp.Type,
        ks: Sequence[str],
    ) -> str:
        """Loops that copy one result to its place; the array after that."""
        axes = [self.names.fresh("i") for _ in kind.shape]
        direction, own = [lp.index(k) for k in ks], [lp.index(i) for i in axes]
        place = (*direction, *own) if self.first else (*own, *direction)
        value = lp.load(e, *own) if kind.shape else e
        source = start if not axes else self.context.fresh("entries", entries)
        end = self.context.fresh("entries", entries)
        block: tuple[lp.Statement, ...] = (lp.Update(end, source, entries, place, value),)
        for depth, (i, n) in reversed(list(enumerate(zip(axes, kind.shape, strict=True)))):
            init = start if depth == 0 else self.context.fresh("entries", entries)
            result = self.context.fresh("entries", entries)
            c = lp.Carried(source, entries, lp.array(init), lp.array(end), result)
            trips = self.context.fresh("trips", lp.INTEGER)
            block = (lp.Loop(i, n, (c,), block, trips),)
            source, end = init, result
        body += block
        return end

    def _nest(
        self,
        ks: Sequence[str],
        t: lp.Type,
        body: Sequence[lp.Statement],
        carried: list[tuple[str, lp.Type, str]],
    ) -> list[Expr]:
        """Loops over the directions around the statements for one of them."""
        block = tuple(body)
        for depth, (k, n) in reversed(list(enumerate(zip(ks, t.shape, strict=True)))):
            following = []
            parts = []
            for start, entries, end in carried:
                init = self.context.fresh("entries", entries)
                result = self.context.fresh("entries", entries)
                parts.append(lp.Carried(start, entries, lp.array(init), lp.array(end), result))
                following.append((init, entries, result))
                if depth == 0:
                    axes = tuple(self.names.fresh("i") for _ in entries.shape)
                    self.statements.append(lp.Build(init, entries, axes, ZERO))
            trips = self.context.fresh("trips", lp.INTEGER)
            block = (lp.Loop(k, n, tuple(parts), block, trips),)
            carried = following
        self.statements += block
        return [lp.array(result) for _, _, result in carried]


def _tapes(s: lp.Statement) -> set[str]:
    loops = [b for b in lp.walk((s,)) if isinstance(b, lp.Loop)]
    saved = {v.tape for b in loops for v in b.saves}
    return saved | {r.tape for b in loops for r in b.restores}
