"""Divide a program with arrays into kernels for a device, and what the host does between them.

Before : a lowered `LoopProgram` program.
After  : a `Plan`: CUDA C++ of its kernels, and the steps that launch them.

A build is a kernel with a thread for each element. A loop at the top is one of these, the
first that it can be:

    shared      threads share its iterations, and add up what they collect
    repeated    the host repeats it, if there is work for many threads in its body
    alone       one thread runs it

A loop of the host is planned inside like the top. What one thread runs keeps everything in
one kernel; where that cannot be, the host repeats it, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from symdiff.codegen.common.liveness import last_uses
from symdiff.codegen.cuda.loops.independence import Parallel, is_work, parallel
from symdiff.codegen.cuda.loops.kernel import DeclinedError, Grid, Outside
from symdiff.codegen.cuda.loops.language import Language
from symdiff.codegen.cuda.loops.matmul import one_by_one, products
from symdiff.codegen.cuda.loops.scatter import gathered, without_constants
from symdiff.codegen.cuda.loops.steps import (
    FULL,
    Forget,
    Keep,
    Launch,
    Let,
    Plan,
    Repeat,
    Routine,
    Step,
    TapeUse,
    Test,
    View,
    Word,
)
from symdiff.codegen.cuda.loops.tapes import counted, tape_uses
from symdiff.codegen.cuda.loops.warp_sums import Rows, row_loops
from symdiff.errors import Location, UnsupportedError
from symdiff.ir import ONE, TRUE, VAR, Expr, topological
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    LOAD,
    Block,
    Build,
    Call,
    Check,
    Loop,
    LoopProgram,
    Statement,
    Type,
    Update,
    defined,
    exchanged,
    expressions_in,
    index,
    inner,
    kind_of,
    leaves,
    name_of,
    replaced,
    types,
    walk,
)
from symdiff.ir.names import Names

HINT = 'target="cpu" computes it'


def plan(program: LoopProgram, language: Language, name: str = "symdiff") -> Plan:
    """The plan of a lowered program, with kernels in a language, named after a name.

    Raises
    ------
    UnsupportedError : for what a device cannot do.
    """
    return _Planner(program, language, name).plan()


class _Planner:
    def __init__(self, program: LoopProgram, language: Language, name: str) -> None:
        self.language, self.name = language, name
        loops = [s for s in walk(program.block) if isinstance(s, Loop)]
        tapes = [v.tape for s in loops for v in s.saves]
        self.fresh = Names((*types(program), *tapes))
        self.kernels: dict[str, str] = {}
        self.checking: set[str] = set()
        self.made = 0
        self.slots = FULL + 1
        self.names: dict[str, Outside] = {}
        self.sizes: set[Expr] = set()
        self.ranges: dict[str, Expr] = {}
        self.steps: list[Step] = []
        for p in program.params:
            self.names[p.name] = p.type if p.type.shape else "f" if p.type.kind == "f" else "i"
            for n in p.type.shape:
                if n.op is INDEX:
                    self.names[name_of(n)] = "i"
                    self.sizes.add(n)
        gone: dict[Expr, Expr] = {}
        found = products(program.block, types(program), self.fresh)
        block = replaced(self.arranged(found, gone), gone, exactly=True)
        outputs = exchanged(program.outputs, gone)
        block, outputs = without_constants(block, outputs)
        self.program = replace(program, block=block, outputs=outputs)
        self.types = types(self.program)
        self.checks = [s for s in walk(block) if isinstance(s, Check)]
        for data in program.data:
            self.names[data] = self.types[data]

    def arranged(self, block: Block, gone: dict[Expr, Expr]) -> Block:
        """The block with loops that only add to arrays as sums for each element; and what
        the numbers of their iterations are."""
        made: list[Statement] = []
        for s in block:
            if isinstance(s, Loop) and parallel(s, self.sizes) is None:
                builds = gathered(s, self.fresh, self.sizes)
                if builds is not None and s.count is not None:
                    gone[index(s.trips)] = counted(s.count, self.sizes)
                    made += builds
                    continue
                if is_work(s.body, self.sizes):
                    s = replace(s, body=self.arranged(s.body, gone))
            made.append(s)
        return tuple(made)

    def plan(self) -> Plan:
        program = self.program
        self.block(program.block, program.outputs, ())
        words: list[Word | None] = []
        k = self.kernel()
        for e in program.outputs:
            if e.op is ARRAY:
                words.append(None)
                continue
            there = self.names.get(name_of(e)) if e.op in (VAR, INDEX) else None
            if isinstance(there, Word):
                words.append(there)
                continue
            kind = "f" if kind_of(e) == "f" else "i"
            words.append(self.slot(kind))
            k.put(self.slots - 1, e, kind)
        if k.ends:
            self.launch(k)
        text = self.language.unit([*self.kernels.values()])
        checked = bool(self.checking & self.kernels.keys())
        known = {n: c for n, c in self.names.items() if isinstance(c, Word)}
        return Plan(
            text, tuple(self.steps), known, self.slots, tuple(words), checked, tuple(self.checks)
        )

    # ------------------------------------------------------------------ kernels
    def kernel(self) -> Grid:
        self.made += 1
        return self.grid(f"{self.name}_{self.made - 1}")

    def grid(self, name: str) -> Grid:
        return Grid(name, self.language, self.names, self.sizes, self.checks, self.ranges)

    def launch(self, k: Grid, space: Sequence[Expr] | None = None, **how: object) -> None:
        """A step that starts a kernel; what says how much there is to do is made known to
        the host before."""
        counts = None if space is None else tuple(self.host(n) for n in space)
        self.kernels[k.name] = k.text()
        if k.checking:
            self.checking.add(k.name)
        arguments = tuple(
            replace(a, size=tuple(map(self.host, a.size))) if a.size else a for a in k.arguments
        )
        kernel = replace(k.kernel(), arguments=arguments)
        self.steps.append(Launch(kernel, counts, **how))  # type: ignore[arg-type]

    def slot(self, kind: str) -> Word:
        self.slots += 1
        return Word(self.slots - 1, kind)

    def host(self, e: Expr) -> Expr:
        """An integer in terms of names that the host can look up: its own, and words."""
        for n in topological((e,)):
            if n.op in (LOAD, VAR) or (n.args and kind_of(n) == "f"):
                return index(self.fetched(e))
        return e

    def fetched(self, e: Expr) -> str:
        """The name of a word with the value of an expression."""
        kind = "f" if kind_of(e) == "f" else "i"
        k, word, name = self.kernel(), self.slot(kind), self.fresh.fresh("value")
        k.put(word.slot, e, kind)
        self.launch(k)
        self.names[name] = word
        return name

    def typed(self, t: Type) -> Type:
        """A type whose sizes the host knows."""
        return Type(tuple(map(self.host, t.shape)), t.kind)

    # -------------------------------------------------------------------- blocks
    def block(
        self,
        block: Block,
        roots: Sequence[Expr],
        mine: Sequence[str],
        saves: Mapping[str, Sequence[Step]] | None = None,
    ) -> None:
        """Steps for statements; `mine` are arrays from before that only they use."""
        last = last_uses(block, roots)
        local = set(mine)
        for name in mine:
            if last.get(name, -1) < 0:
                self.forget({name}, local)
        for at, s in enumerate(block):
            dying = {n for n in local if last.get(n, -1) <= at}
            self.statement(s, dying)
            new = {n for n, t in defined(s) if t.shape}
            for name in sorted(new):
                self.steps += (saves or {}).get(name, ())
            local |= new
            self.forget({n for n in local if last.get(n, -1) <= at}, local)

    def forget(self, names: set[str], local: set[str]) -> None:
        if names:
            self.steps.append(Forget(tuple(sorted(names))))
        local -= names

    def statement(self, s: Statement, dying: set[str]) -> None:
        """Steps for one statement; the dying arrays are not used after it."""
        match s:
            case Build():
                self.build(s)
            case Update():
                k = self.kernel()
                k.update_one(s)
                t = self.typed(s.type)
                dies = s.source in dying and s.source not in _read(k)
                self.launch(k, changes=((s.name, s.source, t, dies),))
                self.names[s.name] = s.type
            case Loop():
                self.loop(s, dying)
            case Check():
                self.check(s)
            case Call():
                self.call(s)

    def build(self, s: Build) -> None:
        k = self.kernel()
        try:
            k.build_all(s)
        except DeclinedError as error:
            if not any(isinstance(b, Call) for b in walk(s.body)):
                raise UnsupportedError(
                    f"{error}, which is not computed on CUDA", self.located(s), HINT
                ) from None
            for b in one_by_one(s, self.fresh):
                self.statement(b, {s.name})
            return
        rows = None
        shared = row_loops(s, self.sizes)
        if shared is not None and self.language.warps:
            r = Rows(
                f"{k.name}_rows", self.language, self.names, self.sizes, self.checks, self.ranges
            )
            r.build_rows(s, shared)
            rows = r.kernel(), self.host(shared[0].space[0][1])
            self.kernels[r.name] = r.text()
        self.launch(k, s.type.shape, makes=((s.name, self.typed(s.type)),), rows=rows)
        self.names[s.name] = s.type

    def check(self, s: Check) -> None:
        used = topological((s.condition,))
        if all(n.op is not LOAD and n.op is not VAR for n in used) and all(
            self.names[name_of(n)] == "i" for n in leaves((s.condition,))
        ):
            if s.condition is not TRUE:
                self.steps.append(Test(s.condition, self.checks.index(s)))
            return
        k = self.kernel()
        k.check(s)
        if k.root.lines:
            self.launch(k)

    def call(self, s: Call) -> None:
        args: list[tuple[str, Type] | Word] = []
        for e in s.args:
            if e.op is ARRAY:
                args.append((name_of(e), self.typed(self.types[name_of(e)])))
                continue
            word = self.names[self.fetched(e)]
            assert isinstance(word, Word)
            args.append(word)
        makes: list[tuple[str, Type] | Word] = []
        for name, t in s.results:
            self.names[name] = t if t.shape else self.slot(t.kind)
            makes.append((name, self.typed(t)) if t.shape else self.names[name])  # type: ignore[arg-type]
        self.steps.append(Routine(s.routine, tuple(args), tuple(makes)))

    def located(self, s: Statement) -> Location | None:
        """The first place in the source that a statement comes from, if one is known."""
        found = self.program.locations
        roots = expressions_in((s,))
        return next((found[n] for n in topological(roots) if n in found), None)

    # --------------------------------------------------------------------- loops
    def loop(self, s: Loop, dying: set[str]) -> None:
        shared = parallel(s, self.sizes)
        ways: list[Callable[[], None]] = []
        if shared is not None:
            ways.append(lambda: self.shared(s, shared, dying))
        if is_work(s.body, self.sizes):
            ways.append(lambda: self.repeated(s, dying))
        else:
            ways += [lambda: self.alone(s, dying), lambda: self.repeated(s, dying)]
        for way in ways:
            outer, steps, names = self.steps, list(self.steps), dict(self.names)
            before = dict(self.kernels), self.made, self.slots
            try:
                way()
            except DeclinedError:
                self.kernels, self.made, self.slots = before
                self.steps = outer
                self.steps[:] = steps
                self.names.clear()
                self.names.update(names)
            else:
                return
        raise AssertionError("the host can repeat any loop")

    def trips(self, s: Loop) -> None:
        """The number of iterations of a counted loop."""
        assert s.count is not None
        self.steps.append(Let(s.trips, self.host(counted(s.count, self.sizes))))
        self.names[s.trips] = "i"

    def shared(self, s: Loop, p: Parallel, dying: set[str]) -> None:
        """Threads share the iterations."""
        last = p.levels[-1]
        uses = tape_uses(last, {t.index for t in p.levels}, self.sizes)
        known = {t: (u, u.elements) for t, u in uses.items() if u.elements is not None}
        each = {t: (u.kind, n, u.saves) for t, (u, n) in known.items() if not u.both}
        own = {t: (u.kind, n) for t, (u, n) in known.items() if u.both}
        if len(known) < len(uses):
            raise DeclinedError("a tape of a length that differs from one iteration to another")
        outermost = p.outermost()
        k = self.kernel()
        parts = [str(i) for i in range(len(p.collected))]
        k.share(p, {n: c.result for n, c in outermost.items()}, each, own, parts)
        counts = [t.count for t in p.levels if t.count is not None]
        total = ONE
        for n in counts:
            total = total * counted(n, self.sizes)
        tapes = tuple(
            TapeUse(t, kind, self.host(total * n), saves) for t, (kind, n, saves) in each.items()
        )
        changes = self.changes(k, s, dying)
        final, slots = None, []
        if p.collected:
            f = self.grid(f"{k.name}_total")
            carried = [outermost[c.carried.name] for c in p.collected]
            slots = [self.slot(c.type.kind) for c in carried]
            f.total(p.collected, [c.init for c in carried], parts, [x.slot for x in slots])
            final = f.kernel()
        self.launch(k, counts, final=final, changes=changes, tapes=tapes)
        if final is not None:
            self.kernels[f.name] = f.text()
        for c, word in zip(p.collected, slots, strict=True):
            self.names[outermost[c.carried.name].result] = word
        self.carried_out(s)

    def changes(self, k: Grid, s: Loop, dying: set[str]) -> tuple[tuple[str, str, Type, bool], ...]:
        """The arrays that a kernel changes as it runs a loop."""
        read = _read(k)
        found = []
        for c in s.carried:
            if c.type.shape:
                source = name_of(c.init)
                others = sum(d.init is c.init for d in s.carried)
                dies = source in dying and source not in read and others == 1
                found.append((c.result, source, self.typed(c.type), dies))
        return tuple(found)

    def carried_out(self, s: Loop) -> None:
        """What a loop's results are after it."""
        for c in s.carried:
            if c.type.shape:
                self.names[c.result] = c.type
        if s.trips not in self.names:
            self.trips(s)

    def alone(self, s: Loop, dying: set[str]) -> None:
        """One thread runs the loop."""
        k = self.kernel()
        slots = {c.result: self.slot(c.type.kind) for c in s.carried if not c.type.shape}
        plain = s.count is not None and s.condition is TRUE
        if not plain:
            slots[s.trips] = self.slot("i")
        tapes = []
        inside = {s.index, *(n for n, _ in inner(s))}
        for tape, use in tape_uses(s, inside, self.sizes).items():
            elements = use.elements
            if use.both:
                if elements is None:
                    raise DeclinedError("a tape whose length is not known")
                k.own_tape(tape, use.kind, elements)
                continue
            if elements is not None and plain and s.count is not None:
                elements = self.host(counted(s.count, self.sizes) * elements)
            else:
                elements = None
            k.use_tape(tape, use.kind, "", elements is not None or not use.saves)
            word = 0
            if elements is None:
                word = self.slot("i").slot
            tapes.append(TapeUse(tape, use.kind, elements, use.saves, word))
        k.alone(s, {n: c.slot for n, c in slots.items()})
        for t in tapes:
            if t.elements is None:
                k.tell(t.word, "i", k.tapes[t.tape].end)
        self.launch(k, changes=self.changes(k, s, dying), tapes=tuple(tapes))
        self.names.update(slots)
        self.carried_out(s)

    def repeated(self, s: Loop, dying: set[str]) -> None:
        """The host repeats the loop."""
        count = None if s.count is None else self.host(counted(s.count, self.sizes))
        numbers = [c for c in s.carried if not c.type.shape]
        arrays = [c for c in s.carried if c.type.shape]
        words = {c.name: self.slot(c.type.kind) for c in numbers}
        self.evaluate([(c.init, words[c.name]) for c in numbers])
        self.names.update(words)
        for c in arrays:
            self.names[c.name] = c.type
        self.names[s.index] = "i"
        outer, self.steps = self.steps, []
        condition = None
        if s.condition is not TRUE:
            made = self.names[self.fetched(s.condition)]
            assert isinstance(made, Word)
            condition = made.slot
        test, self.steps = self.steps, []
        self.restored(s)
        saves: dict[str, list[Step]] = {}
        for v in s.saves:
            if not v.type.shape:
                continue
            keep = Keep(v.tape, name_of(v.value), self.typed(v.type))
            if name_of(v.value) in self.names:
                self.steps.append(keep)
            else:
                saves.setdefault(name_of(v.value), []).append(keep)
        ends = [v for v in s.saves if not v.type.shape]
        roots = [*(c.next for c in s.carried), *(v.value for v in ends)]
        local = [c.name for c in arrays] + [r.name for r in s.restores if r.type.shape]
        if s.count is not None:
            self.ranges[s.index] = s.count
        self.block(s.body, roots, local, saves)
        self.evaluate([(c.next, words[c.name]) for c in numbers], s)
        body, self.steps = self.steps, outer
        starts = [name_of(c.init) for c in arrays]
        self.steps.append(Repeat(
            s.index, count, s.reverse, s.trips, condition,
            tuple(
                (c.name, n, name_of(c.next), c.result, n in dying and starts.count(n) == 1)
                for c, n in zip(arrays, starts, strict=True)
            ),
            tuple(test), tuple(body),
        ))  # fmt: skip
        for c in numbers:
            self.names[c.result] = words[c.name]
        for c in arrays:
            self.names[c.result] = c.type
        self.names[s.trips] = "i"

    def evaluate(self, found: Sequence[tuple[Expr, Word]], s: Loop | None = None) -> None:
        """Put expressions into words, and at the end of an iteration numbers on tapes."""
        saves = [v for v in s.saves if not v.type.shape] if s is not None else []
        if not found and not saves:
            return
        k = self.kernel()
        tapes = []
        for v in saves:
            k.use_tape(v.tape, v.type.kind, "", True)
            k.save(v)
            tapes.append(TapeUse(v.tape, v.type.kind, ONE, True))
        for e, word in found:
            k.put(word.slot, e, word.kind)
        self.launch(k, tapes=tuple(tapes))

    def restored(self, s: Loop) -> None:
        """Take what an iteration starts with off the tapes."""
        numbers = [r for r in s.restores if not r.type.shape]
        if numbers:
            k, tapes = self.kernel(), []
            for r in numbers:
                k.use_tape(r.tape, r.type.kind, "", True)
                k.restore(r)
                tapes.append(TapeUse(r.tape, r.type.kind, ONE, False))
            for r in numbers:
                self.names[r.name] = word = self.slot(r.type.kind)
                k.ends[str(k.scope.names[r.name])] = k.word(word.slot, r.type.kind)
            self.launch(k, tapes=tuple(tapes))
        for r in s.restores:
            if r.type.shape:
                self.steps.append(View(r.tape, r.name, self.typed(r.type)))
                self.names[r.name] = r.type


def _read(k: Grid) -> set[str]:
    """The arrays that a kernel reads."""
    return {a.name for a in k.arguments if a.role == "array"}


__all__ = ["plan"]
