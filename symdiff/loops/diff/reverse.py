"""Reverse mode through arrays and loops.

Before:  for i in range(n): s = s + sin(x[i])
After:   for i in reversed(range(n)): x_bar[i] += s_bar*cos(x[i])

Requires: a valid program.
Ensures: a program that runs the forward statements, where loops save the values that their
reverse restores, and then the statements of the reverse sweep.

A `Sweep` reverses one block. Within it the adjoints of scalars are expressions over
the DAG of the block, as in `passes.differentiate`, and the adjoint of an array is the
name of an array, or None while it is zero. Statements and expressions share one topological
order: a node has the level of the last statement that it depends on, and all its users come
later. So statements and nodes are reversed together, from the last level to the first.

The adjoint of an element is added at the element's load. Where possible, `loops.simplify.tabulate`
replaces such loops by an array built from its indices. `loops.diff.tape_selection` finds the values
that a reversed loop needs from the forward one, after its body is simplified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from symdiff import ir
from symdiff.ir import ONE, TRUE, VAR, ZERO, Expr, topological, var
from symdiff.ir.blocks import unchecked
from symdiff.ir.linalg.routines import ROUTINES, Writer
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    INTEGER,
    LOAD,
    REAL,
    Block,
    Build,
    Call,
    Carried,
    Loop,
    Restore,
    Save,
    Statement,
    Type,
    Update,
    array,
    block_of,
    defined,
    expressions,
    index,
    inner,
    load,
    name_of,
    renamed,
    replaced,
    walk,
)
from symdiff.loops.adjoint_loops import Accumulator, nested
from symdiff.loops.context import Context
from symdiff.loops.diff import extremes
from symdiff.loops.diff.checkpoint import Checkpoint, Plan, Revolve, parts, plan_of, saves_values
from symdiff.loops.diff.extremes import Extreme
from symdiff.loops.diff.tape_selection import fragile_names, kept
from symdiff.loops.simplify.block_by_block import simplified
from symdiff.passes.differentiate import (
    Path,
    accumulate,
    all_of,
    combine,
    gated,
    local_partials,
)


@dataclass(frozen=True, slots=True)
class Share:
    """The adjoint of each term of a loop that equals its maximum or minimum."""

    carried: Carried
    extreme: Extreme
    bar: Expr


class Sweep:
    """The reverse of one block.

    Parameters
    ----------
    context : of the program.
    block : to be reversed.
    local : names whose adjoints begin at zero in this block: those defined in it or by
        the statement that it belongs to.
    roots : the expressions after the block that have adjoints.
    fragile : arrays of the loops around that are changed element by element.
    checkpoint : how the states of loops are stored; see `loops.diff.checkpoint`.

    Attributes
    ----------
    out : the statements of the reverse sweep.
    within : the maxima or minima that outer loops keep, by the names of the values after inner
        loops.
    stored : expressions whose values are elements of existing arrays.
    """

    def __init__(
        self,
        context: Context,
        block: Block,
        local: Iterable[str] = (),
        roots: Sequence[Expr] = (),
        fragile: frozenset[str] = frozenset(),
        checkpoint: Checkpoint = None,
    ) -> None:
        self.context, self.block, self.fragile = context, block, fragile
        self.checkpoint = checkpoint
        self.out: list[Statement] = []
        self.parts: list[tuple[Statement, ...]] = [(s,) for s in block]
        self.local = {*local, *(n for s in block for n, _ in defined(s))}
        self.starts: dict[str, str] = {}
        self.adjoint: dict[str, str] = {}
        self.pending: dict[Expr, dict[Path, Expr]] = {}
        self.within: dict[str, Extreme] = {}
        self.stored: dict[Expr, Expr] = {}
        self.levels = self._leveled([*roots, *(e for s in block for e in expressions(s))])

    def _leveled(self, roots: Sequence[Expr]) -> list[list[Expr]]:
        """The nodes of the block, by the last statement that they depend on."""
        position = {n: p for p, s in enumerate(self.block, 1) for n, _ in defined(s)}
        levels: list[list[Expr]] = [[] for _ in range(len(self.block) + 1)]
        level: dict[Expr, int] = {}
        for e in topological(roots):
            own = position.get(name_of(e), 0) if e.op in (VAR, INDEX, ARRAY) else 0
            level[e] = max([own, *(level[a] for a in e.args)])
            if self.context.active(e):
                levels[level[e]].append(e)
        return levels

    @property
    def forward(self) -> Block:
        """The block with loops that save the values that `out` restores."""
        return tuple(s for part in self.parts for s in part)

    # ------------------------------------------------------------------ adjoints
    def seed(self, e: Expr, bar: Expr, path: Path = ()) -> None:
        """Add to the adjoint of a scalar that is executed on a path."""
        if self.context.active(e) and bar is not ZERO:
            accumulate(self.pending, e, path, bar)

    def give(self, name: str, bar: str) -> None:
        """Add an array to the adjoint of an array."""
        if not self.context.active(name):
            return
        if name in self.adjoint or name not in self.local:
            bar = self._sum(self.array(name), bar)
        self.adjoint[name] = bar

    def _sum(self, a: str, b: str) -> str:
        t = self.context.types[a]
        axes = tuple(self.context.fresh("i", INTEGER) for _ in t.shape)
        at = [index(i) for i in axes]
        total = load(array(a), *at) + load(array(b), *at)
        name = self.context.fresh(a, t)
        self.out.append(Build(name, t, axes, total))
        return name

    def receive(self, e: Expr, bar: str) -> None:
        """Add an adjoint with this name to that of a scalar or array."""
        if e.op is ARRAY:
            self.give(name_of(e), bar)
        else:
            self.seed(e, var(bar))

    def receive_share(self, s: Loop, share: Share) -> None:
        """Add the adjoint of a largest or least term; other terms, whose adjoints are 0, may have
        infinite derivatives."""
        c, extreme = share.carried, share.extreme
        inner, step = extremes.nested_in(s, c), extremes.step_of(s, c)
        if inner is not None:
            self.within[inner] = replace(extreme, slope=ONE)
            self.seed(c.next, share.bar)
        elif step is not None:
            path = () if step.guard is TRUE else (step.guard,)
            self.seed(step.term, share.bar, (*path, extreme.is_last(step.term)))

    def cotangent(self, e: Expr, bar: Expr) -> None:
        """Add to the adjoint of an output: a scalar to that of a scalar, an array to that
        of an array."""
        if e.op is ARRAY:
            self.give(name_of(e), name_of(bar))
        else:
            self.seed(e, bar)

    def array(self, name: str) -> str:
        """The current adjoint of an array; zero at first."""
        if name not in self.adjoint:
            t = self.context.types[name]
            self.adjoint[name] = bar = self.context.fresh(f"{name}_bar", t)
            if name in self.local:
                axes = tuple(self.context.fresh("i", INTEGER) for _ in t.shape)
                self.out.append(Build(bar, t, axes, ZERO))
            else:
                self.starts[name] = bar
        return self.adjoint[name]

    def scalar(self, name: str) -> Expr:
        """The adjoint of a scalar that the block does not define."""
        paths = self.pending.pop(var(name), None)
        return ZERO if paths is None else gated(*combine(paths))

    def bar(self, name: str, t: Type) -> Expr:
        """The adjoint of a name of a type."""
        return array(self.array(name)) if t.shape else self.scalar(name)

    def reached(self, name: str) -> bool:
        """Whether a name has an adjoint that is not known to be zero."""
        return name in self.adjoint or var(name) in self.pending

    def accumulators(self) -> list[Accumulator]:
        """The adjoints of names from outside that the block adds to."""
        found = [
            Accumulator(n, self.context.types[n], b, array(self.adjoint[n]))
            for n, b in self.starts.items()
        ]
        for leaf in [e for e in self.pending if e.op is VAR and name_of(e) not in self.local]:
            name = name_of(leaf)
            start = self.context.fresh(f"{name}_bar", REAL)
            found.append(Accumulator(name, REAL, start, var(start) + self.scalar(name)))
        return found

    # ----------------------------------------------------------------- the sweep
    def run(self) -> None:
        """Reverse the block, whose roots have been seeded."""
        for p in range(len(self.block), 0, -1):
            self._nodes(p)
            self._statement(p - 1)
        self._nodes(0)

    def _nodes(self, level: int) -> None:
        for e in reversed(self.levels[level]):
            if e.op is VAR or e not in self.pending:
                continue
            path, bar = combine(self.pending.pop(e))
            if e.op is LOAD:
                self._add_to(name_of(e.args[0]), e.args[1:], bar, all_of(path))
                continue
            for child, partial, counts in self._partials(e):
                if self.context.active(child) and partial is not ZERO:
                    deeper = path if counts is TRUE or counts in path else (*path, counts)
                    accumulate(self.pending, child, deeper, bar * partial)

    def _partials(self, e: Expr) -> Iterable[tuple[Expr, Expr, Expr]]:
        if e in self.stored and e.op.by_value is not None:
            partials = e.op.by_value(self.stored[e])
            return [(a, p, TRUE) for a, p in zip(e.args, partials, strict=True)]
        return local_partials(e)

    def _add_to(self, name: str, place: tuple[Expr, ...], bar: Expr, guard: Expr) -> None:
        source = self.array(name)
        t = self.context.types[name]
        self.adjoint[name] = new = self.context.fresh(f"{name}_bar", t)
        self.out.append(Update(new, source, t, place, bar, guard, add=True))

    def _statement(self, position: int) -> None:
        s = self.block[position]
        match s:
            case Update():
                self._update(s)
            case Build():
                self._build(s)
            case Loop():
                self.parts[position] = self._loop(s)
            case Call():
                self._call(s)

    def _update(self, s: Update) -> None:
        bar = self.adjoint.pop(s.name, None)
        if bar is None:
            return
        path = () if s.guard is TRUE else (s.guard,)
        self.seed(s.value, load(array(bar), *s.index), path)
        if not s.add and self.context.active(s.source):
            new = self.context.fresh(bar, s.type)
            self.out.append(Update(new, bar, s.type, s.index, ZERO, s.guard))
            bar = new
        self.give(s.source, bar)

    def _call(self, s: Call) -> None:
        """Reverse a call by the rule of the routine."""
        if not any(self.reached(n) for n, _ in s.results):
            return
        bars = []
        for name, t in s.results:
            if not t.shape:
                bars.append(self.scalar(name))
            elif name in self.adjoint:
                bars.append(array(self.adjoint.pop(name)))
            else:
                bars.append(ZERO)
        writer = Writer(self.context.fresh, self.context.types)
        found = ROUTINES[s.routine].vjp(writer, s, bars)
        self.out += writer.out
        for e, bar in zip(s.args, found, strict=True):
            if bar is not ZERO:
                self.cotangent(e, bar)

    def _build(self, s: Build) -> None:
        """Reverse a build element by element: its body again, and the reverse of that."""
        bar = self.adjoint.pop(s.name, None)
        if bar is None:
            return
        at = [index(i) for i in s.indices]
        sweep = Sweep(self.context, s.body, s.indices, (s.value,))
        if _costly(s.value) and (s.body or self.context.is_heavy(s.value)):
            sweep.stored[s.value] = load(array(s.name), *at)
        sweep.seed(s.value, load(array(bar), *at))
        sweep.run()
        added = sweep.accumulators()
        again = {s.value: load(array(s.name), *at)} if _costly(s.value) else {}
        body = (*unchecked(sweep.forward), *replaced(tuple(sweep.out), again))
        ends = ir.substitute([a.end for a in added], again)
        body, new = self._copied(body, s.indices)
        added = [replace(a, end=e) for a, e in zip(added, ir.substitute(ends, new), strict=True)]
        axes = [ir.substitute((index(i),), new)[0] for i in s.indices]
        loops = list(zip(map(name_of, axes), s.type.shape, strict=True))
        inits = [self._bar_now(a.primal) for a in added]
        statements, results = nested(self.context, loops, body, added, inits)
        self.out += statements
        for a, result in zip(added, results, strict=True):
            self._bar_becomes(a.primal, result)

    def _copied(self, body: Block, indices: Sequence[str]) -> tuple[Block, dict[Expr, Expr]]:
        """A copy of the body of a `Build`, and the new names."""
        shell = Build(self.context.names.fresh("copy"), REAL, tuple(indices), ZERO, body)
        known = {n: t for s in walk(body) for n, t in (*defined(s), *inner(s))}
        (copy,), mapping = renamed((shell,), self.context.names)
        for old, new in mapping.items():
            if name_of(old) in known:
                self.context.types.setdefault(name_of(new), known[name_of(old)])
        return block_of(copy), mapping

    def _bar_now(self, primal: str) -> Expr:
        """The adjoint with which a loop that adds to it begins: zero for scalars."""
        return array(self.array(primal)) if self.context.types[primal].shape else ZERO

    def _bar_becomes(self, primal: str, bar: Expr) -> None:
        if bar.op is ARRAY:
            self.adjoint[primal] = name_of(bar)
        else:
            self.seed(var(primal), bar)

    # --------------------------------------------------------------------- loops
    def _loop(self, s: Loop) -> tuple[Statement, ...]:
        """Reverse a loop; the forward loop, with what it saves."""
        live = {c.name for c in s.carried if self.reached(c.result)}
        if not live and not any(v.tape in self.context.tape_bars for v in _saves(s)):
            return (s,)
        s, counts, kept = self._kept(s, live)
        fragile = self.fragile | fragile_names(s)
        while True:
            bars = {c.name: self.context.fresh(f"{c.name}_bar", c.type)
                    for c in s.carried if c.name in live}  # fmt: skip
            sweep, restores = self._body(s, bars, fragile, kept)
            found = {c.name for c in s.carried if sweep.reached(c.name)}
            if found <= live:
                break
            live |= found
        return (*self._reversed(s, sweep, bars, restores), *counts)

    def _kept(self, s: Loop, live: set[str]) -> tuple[Loop, list[Statement], list[Share]]:
        """The loop with the values that distinguish ties, loops after it that count them, and the
        adjoints of its largest and least terms, which are no longer `live`: their initial values
        have adjoints of their own."""
        if self.checkpoint not in (None, "none"):
            return s, [], []
        found = {c.name: e for c in s.carried if (e := self.within.get(c.result)) is not None}
        alone = [(c, op) for c, op in extremes.kept(s) if c.name in live and c.name not in found]
        s, counts, more = extremes.with_seconds(self.context, s, alone)
        shares = []
        for c in s.carried:
            extreme = found.get(c.name) or more.get(c.name)
            if extreme is not None and c.name in live:
                live.discard(c.name)
                bar = self.scalar(c.result) * extreme.slope
                shares.append(Share(c, extreme, bar))
                if c.name in more:
                    self.seed(c.init, bar, (extreme.is_last(c.init),))
        return s, counts, shares

    def _body(
        self, s: Loop, bars: Mapping[str, str], fragile: frozenset[str], shares: Sequence[Share]
    ) -> tuple[Sweep, list[Restore]]:
        """The reverse of one iteration, from the adjoints of the values it passes on."""
        roots = [*(c.next for c in s.carried), *(v.value for v in s.saves)]
        sweep = Sweep(self.context, s.body, (n for n, _ in inner(s)), roots, fragile)
        for c in s.carried:
            if c.name in bars:
                sweep.receive(c.next, bars[c.name])
        for share in shares:
            sweep.receive_share(s, share)
        restores = []
        for v in s.saves:
            if (tape := self.context.tape_bars.get(v.tape)) is not None:
                bar = self.context.fresh(f"{v.tape}_bar", v.type)
                restores.append(Restore(tape, v.type, bar))
                sweep.receive(v.value, bar)
        sweep.run()
        return sweep, restores

    def _reversed(
        self, s: Loop, sweep: Sweep, bars: Mapping[str, str], restores: list[Restore]
    ) -> tuple[Statement, ...]:
        context = self.context
        passed = [c for c in s.carried if c.name in bars]
        nexts = [sweep.bar(c.name, c.type) for c in passed]
        saves = []
        for r in s.restores:
            if sweep.reached(r.name):
                tape = context.tape_bars[r.tape] = context.names.fresh(f"{r.tape}_bar")
                saves.append(Save(tape, r.type, sweep.bar(r.name, r.type)))
        added = sweep.accumulators()
        roots = (*nexts, *(a.end for a in added), *(v.value for v in saves))
        body, roots = simplified(
            tuple(sweep.out), roots, context.names, late=True, tapes=context.tape_bars.values()
        )
        forward = replace(s, body=sweep.forward)
        keep = kept(context, forward, body, roots, self.fragile)
        forward = replace(forward, saves=(*s.saves, *keep.saves))
        plan = self._plan(s, forward)
        if plan is not None and plan.first is not ZERO:
            return self._in_parts(s, plan)
        body, roots = replaced(keep.body, keep.mapping), ir.substitute(roots, keep.mapping)
        ends = iter(roots)
        carried = []
        for c in passed:
            result = context.fresh(bars[c.name], c.type)
            carried.append(Carried(bars[c.name], c.type, self._end_bar(c), next(ends), result))
        for a in added:
            result = context.fresh(a.start, a.type)
            init = self._bar_now(a.primal)
            carried.append(Carried(a.start, a.type, init, next(ends), result))
        saves = [replace(v, value=next(ends)) for v in saves]
        plain = s.condition is TRUE and s.count is not None
        back = Loop(
            keep.index, s.count if plain else index(s.trips), (*carried, *keep.carried), body,
            context.fresh("trips", INTEGER), reverse=not s.reverse, saves=tuple(saves),
            restores=(*restores, *keep.restores),
        )  # fmt: skip
        if plan is not None:
            self.out += Revolve(context, s, forward, back, len(carried), plan).statements()
            forward = s
        else:
            self.out.append(back)
        for a, bar in zip(added, carried[len(passed) :], strict=True):
            self._bar_becomes(a.primal, context.leaf(bar.result))
        for c, bar in zip(passed, carried, strict=False):
            self.receive(c.init, bar.result)
        return (forward,)

    def _plan(self, s: Loop, forward: Loop) -> Plan | None:
        """How the states of a loop are stored, if its values are not all saved."""
        loops = [b for b in walk((s,)) if isinstance(b, Loop)]
        if self.checkpoint in (None, "none") or any(b.saves or b.restores for b in loops):
            return None
        return plan_of(self.checkpoint, s, forward) if saves_values(forward) else None

    def _in_parts(self, s: Loop, plan: Plan) -> tuple[Statement, ...]:
        """The first steps with their values saved, the others with checkpointed states."""
        first, rest = parts(self.context, s, plan.first)
        self.local |= {n for n, _ in defined(first)}
        whole, self.checkpoint = self.checkpoint, replace(plan, first=ZERO)
        after = self._loop(rest)
        self.checkpoint = None
        before = self._loop(first)
        self.checkpoint = whole
        return (*before, *after)

    def _end_bar(self, c: Carried) -> Expr:
        """The adjoint of a carried value after the loop."""
        if not c.type.shape:
            return self.scalar(c.result)
        bar = array(self.array(c.result))
        del self.adjoint[c.result]
        return bar


def _saves(s: Loop) -> list[Save]:
    return [v for b in (s, *walk(s.body)) if isinstance(b, Loop) for v in b.saves]


def _costly(value: Expr) -> bool:
    """Whether a value is worth loading instead of recomputing it."""
    return any(e.op not in _CHEAP for e in topological((value,)))


_CHEAP = frozenset((*ir.ARITHMETIC, ir.CONST, VAR, INDEX, ARRAY, LOAD)) - {ir.DIV, ir.POW}
