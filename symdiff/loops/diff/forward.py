"""Forward mode through arrays and loops: dual statements.

Before:  for i in range(n): s = s*x[i]
After:   for i in range(n): s, s_dot = s*x[i], s_dot*x[i] + s*x_dot[i]

Requires: a valid program.
Ensures: the statements of the program, with a tangent for each number and array that
depends on the inputs: an expression for a number, an array for an array, or None while it
is zero. Loops carry, save and restore tangents along with values, so that a program with a
reverse sweep is differentiated like any other (forward over reverse).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symdiff import ir
from symdiff.ir import VAR, WHERE, ZERO, Expr, topological, var
from symdiff.ir import loop_program as lp
from symdiff.ir.linalg.routines import ROUTINES, Writer
from symdiff.loops.context import Context
from symdiff.loops.diff import extremes
from symdiff.passes.differentiate import local_partials, multiplied, of_branches


class Duals:
    """The tangents of a program's names.

    Parameters
    ----------
    context : of the program.
    tangents : of its inputs: expressions for numbers, `ARRAY` leaves for arrays.
    """

    def __init__(self, context: Context, tangents: Mapping[str, Expr]) -> None:
        self.context = context
        self.dots: dict[str, Expr] = {n: t for n, t in tangents.items() if t is not ZERO}
        self.known: dict[Expr, Expr] = {}
        self.tapes: dict[str, str] = {}
        self.within: set[str] = set()

    # --------------------------------------------------------------- expressions
    def of(self, e: Expr) -> Expr:
        """The tangent of an expression; for an array an `ARRAY` leaf, or ZERO."""
        if e.op is lp.ARRAY:
            return self.dots.get(lp.name_of(e), ZERO)
        for n in topological((e,), self.known):
            self.known[n] = self._tangent(n)
        return self.known[e]

    def _tangent(self, n: Expr) -> Expr:
        if n.op is VAR or n.op is lp.ARRAY:
            return self.dots.get(lp.name_of(n), ZERO)
        if not self.context.active(n):
            return ZERO
        if n.op is lp.LOAD:
            dot = self.dots.get(lp.name_of(n.args[0]))
            return ZERO if dot is None else lp.load(dot, *n.args[1:])
        if n.op is WHERE:
            return of_branches(n, self.known.__getitem__)
        total = ZERO
        for child, partial, counts in local_partials(n):
            if (dot := self.known[child]) is not ZERO:
                total = total + ir.where(counts, multiplied(dot, partial), ZERO)
        return total

    # ---------------------------------------------------------------- statements
    def block(self, block: lp.Block) -> lp.Block:
        """The block with the tangents of what it defines."""
        result: list[lp.Statement] = []
        for s in block:
            match s:
                case lp.Build():
                    result += self._build(s)
                case lp.Update():
                    result += self._update(s)
                case lp.Loop():
                    result += self._loop(s)
                case lp.Call():
                    result += self._call(s)
                case _:
                    result.append(s)
        return tuple(result)

    def _name(self, name: str, t: lp.Type) -> str:
        return self.context.fresh(f"{name}_dot", t)

    def _set(self, name: str, dot: Expr) -> None:
        self.dots[name] = dot
        self.known.pop(self.context.leaf(name), None)

    def _build(self, s: lp.Build) -> list[lp.Statement]:
        if not self.context.active(s.name):
            return [s]
        body = self.block(s.body)
        value = self.of(s.value)
        if value is ZERO:
            return [s]
        name = self._name(s.name, s.type)
        dual = lp.Build(name, s.type, s.indices, value, body)
        (copy,), _ = lp.renamed((dual,), self.context.names)
        assert isinstance(copy, lp.Build)
        for n, t in (d for b in lp.walk(copy.body) for d in (*lp.defined(b), *lp.inner(b))):
            self.context.types.setdefault(n, t)
        self._set(s.name, lp.array(name))
        return [s, replace(copy, name=name)]

    def zeros(self, t: lp.Type, out: list[lp.Statement]) -> Expr:
        """An array of zeros, built at the end of the statements."""
        name = self.context.fresh("zeros", t)
        axes = tuple(self.context.fresh("i", lp.INTEGER) for _ in t.shape)
        out.append(lp.Build(name, t, axes, ZERO))
        return lp.array(name)

    def dense(self, e: Expr, t: lp.Type, out: list[lp.Statement]) -> Expr:
        """The tangent of an expression; for an array without one an array of zeros, built there."""
        dot = self.of(e)
        return self.zeros(lp.Type(t.shape), out) if t.shape and dot is ZERO else dot

    def _update(self, s: lp.Update) -> list[lp.Statement]:
        if not self.context.active(s.name):
            return [s]
        source, value = self.of(lp.array(s.source)), self.of(s.value)
        if source is ZERO and value is ZERO:
            return [s]
        out: list[lp.Statement] = []
        if source is ZERO:
            source = self.zeros(s.type, out)
        name = self._name(s.name, s.type)
        out.append(replace(s, name=name, source=lp.name_of(source), value=value))
        self._set(s.name, lp.array(name))
        return [*out, s]

    def _call(self, s: lp.Call) -> list[lp.Statement]:
        """Differentiate a call by the rule of the routine."""
        dots = [self.of(e) for e in s.args]
        if all(dot is ZERO for dot in dots):
            return [s]
        writer = Writer(self.context.fresh, self.context.types)
        for (name, _), dot in zip(s.results, ROUTINES[s.routine].jvp(writer, s, dots), strict=True):
            if dot is not ZERO:
                self._set(name, dot)
        return [s, *writer.out]

    # --------------------------------------------------------------------- loops
    def _loop(self, s: lp.Loop) -> list[lp.Statement]:
        """The loop with the tangents of its carried values; these are found by
        adding more until none is missing."""
        kept = [(c, op) for c, op in extremes.kept(s) if c.result not in self.within]
        kept = [(c, op) for c, op in kept if self.context.active(c.result)]
        s, counts, found = extremes.with_seconds(self.context, s, kept)
        alone = {c.name for c in s.carried if c.name in found or c.result in self.within}
        self.within |= {r for c in s.carried if c.name in alone and (r := extremes.nested_in(s, c))}
        out = self._carried(s, alone)
        for c in s.carried:
            if c.name in found and (dot := self.of(c.after)) is not ZERO:
                self._set(c.result, dot * found[c.name].slope)
        return [*out, *counts]

    def _carried(self, s: lp.Loop, alone: set[str]) -> list[lp.Statement]:
        """The same; the carried values in `alone` have the sum of the tangents of equal terms."""
        live = {c.name for c in s.carried if self.of(c.init) is not ZERO}
        while True:
            attempt = self._attempt(s, live)
            ends = {c.name: self._next(s, c, c.name in alone) for c in s.carried}
            found = {n for n, dot in ends.items() if dot is not ZERO}
            if found <= live:
                return self._dual(s, live, ends, *attempt)
            live |= found

    def _next(self, s: lp.Loop, c: lp.Carried, alone: bool) -> Expr:
        """The tangent of a value that an iteration passes on."""
        step = extremes.step_of(s, c) if alone else None
        if step is None:
            return self.of(c.next)
        dot, now = self.of(step.term), self.of(c.leaf)
        equal = ir.where(ir.eq(step.term, c.leaf), now + dot, now)
        found = ir.where(extremes.better(step.op, step.term, c.leaf), dot, equal)
        return ir.where(step.guard, found, now)

    def _attempt(self, s: lp.Loop, live: set[str]) -> tuple[lp.Block, list[lp.Restore]]:
        """The body, if these of its carried values have tangents."""
        self.known = {}
        for c in s.carried:
            self.dots.pop(c.name, None)
            if c.name in live:
                name = self._name(c.name, c.type)
                self.dots[c.name] = lp.array(name) if c.type.shape else var(name)
        restores = []
        for r in s.restores:
            if (tape := self.tapes.get(r.tape)) is not None:
                name = self._name(r.name, r.type)
                restores.append(lp.Restore(tape, r.type, name))
                self.dots[r.name] = lp.array(name) if r.type.shape else var(name)
        return self.block(s.body), restores

    def _dual(
        self,
        s: lp.Loop,
        live: set[str],
        ends: Mapping[str, Expr],
        body: lp.Block,
        restores: Sequence[lp.Restore],
    ) -> list[lp.Statement]:
        if body == s.body and not live and not restores:
            if all(self.of(v.value) is ZERO for v in s.saves):
                return [s]
        before: list[lp.Statement] = []
        after: list[lp.Statement] = list(body)
        carried = []
        results: dict[str, str] = {}
        for c in s.carried:
            carried.append(c)
            if c.name not in live:
                continue
            start, end = self.dots[c.name], ends[c.name]
            init = self.dense(c.init, c.type, before)
            if c.type.shape:
                end = self.zeros(c.type, after) if end is ZERO else end
            results[c.result] = result = self._name(c.result, c.type)
            carried.append(lp.Carried(lp.name_of(start), c.type, init, end, result))
        saves = list(s.saves)
        for v in s.saves:
            if (dot := self.of(v.value)) is not ZERO:
                tape = self.tapes[v.tape] = self.context.names.fresh(f"{v.tape}_dot")
                saves.append(lp.Save(tape, v.type, dot))
        for name, end_dot in results.items():
            self._set(name, self.context.leaf(end_dot))
        new = replace(
            s,
            carried=tuple(carried),
            body=tuple(after),
            saves=tuple(saves),
            restores=(*s.restores, *restores),
        )
        return [*before, new]
