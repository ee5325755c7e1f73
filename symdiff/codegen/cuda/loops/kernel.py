"""One CUDA kernel of a program with arrays: what it takes, how threads share its work.

grid      one thread for each element of an index space, neighbours along the last axis
collect   what the threads of a block have collected becomes one number, by a tree in
          shared memory; a second kernel of one block adds up those of all blocks, so
          that sums do not depend on which thread is first
single    one thread for all
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from symdiff.codegen.common.liveness import Point
from symdiff.codegen.cuda.loops.body import DeclinedError, Tape, Thread
from symdiff.codegen.cuda.loops.independence import Collected, Parallel
from symdiff.codegen.cuda.loops.language import Language
from symdiff.codegen.cuda.loops.scoped import Scope, Stored
from symdiff.codegen.cuda.loops.steps import THREADS, Argument, Kernel, Word
from symdiff.ir import Expr
from symdiff.ir.effects import has_checks
from symdiff.ir.loop_program import Build, Carried, Check, Loop, Type, Update, name_of, walk


def space_of(s: Build) -> list[tuple[str, Expr, bool]]:
    """The index space of a build, as `Grid.spread` takes it."""
    return [(i, n, False) for i, n in zip(s.indices, s.type.shape, strict=True)]


Outside = str | Word | Type
"""What a name means outside of kernels: "i" an integer and "f" a real number that the host
knows, a number on the device, an array."""


class Grid(Thread):
    """Prints one kernel.

    Parameters
    ----------
    name : of the kernel.
    names : what names mean outside of it.
    sizes : integers that are not negative.
    ranges : how many values the indices of the host's loops have.
    """

    def __init__(
        self,
        name: str,
        language: Language,
        names: Mapping[str, Outside],
        sizes: set[Expr],
        checks: Sequence[Check],
        ranges: Mapping[str, Expr],
    ) -> None:
        super().__init__(language, checks)
        self.name, self.names = name, names
        self.sizes.update(sizes)
        self.root.ranges.update(ranges)
        self.arguments: dict[Argument, str] = {}
        self.taken: set[str] = set()
        self.top: Loop | None = None
        self.ends: dict[str, str] = {}

    # ---------------------------------------------------------------- arguments
    def argument(
        self, a: Argument, kind: str, stem: str, memory: bool = False, changed: bool = False
    ) -> str:
        """The name of an argument of a kind, which is taken if it was not yet."""
        for known, text in self.arguments.items():
            if known == a:
                return text.rpartition(" ")[2]
        name = self.language.name(stem, self.taken)
        self.taken.add(name)
        self.arguments[a] = self.language.argument(kind, name, memory, changed)
        return name

    def outside(self, name: str) -> str | Stored:
        found = self.names[name]
        made: str | Stored
        if isinstance(found, Type):
            a = Argument("array", name, found.kind)
            pointer = self.argument(a, found.kind, name, memory=True)
            made = Stored(pointer, found.shape, found.kind)
        elif isinstance(found, Word):
            made = self.emit(found.kind, self.word(found.slot, found.kind), self.root)
        elif found == "f":
            made = self.argument(Argument("real", name), "f", name)
        else:
            made = self.argument(Argument("integer", name), "i", name)
        self.root.names[name] = made
        return made

    def changed(self, name: str, t: Type) -> Stored:
        """An array that the kernel writes."""
        a = Argument("changed", name, t.kind)
        pointer = self.argument(a, t.kind, name, memory=True, changed=True)
        return Stored(pointer, t.shape, t.kind, own=True)

    def words(self, kind: str = "i") -> str:
        if not self.language.by_kind:
            return self.argument(Argument("words", ""), "word", "words", True, True)
        of = "f" if kind == "f" else "i"
        name = "numbers" if of == "f" else "counts"
        return self.argument(Argument("words", "", of), of, name, True, True)

    def word(self, slot: int, kind: str) -> str:
        """A number on the device."""
        return self.language.word(self.words(kind), slot, kind)

    def scratch(self, shape: tuple[Expr, ...], kind: str) -> str:
        k = sum(a.role == "scratch" for a in self.arguments)
        memory = self.argument(Argument("scratch", str(k), kind, shape), kind, f"w{k}", True, True)
        size = self.argument(Argument("room", str(k), "i", shape), "i", f"size{k}")
        first = f"({self.language.turn}) * {size}"
        return self.pointer(kind, self.language.past(memory, first), self.root)

    # -------------------------------------------------------------------- tapes
    def use_tape(self, tape: str, kind: str, start: str, known: bool) -> None:
        """Make a tape known whose end lies at a place, relative to how much is used."""
        data = self.argument(Argument("tape", tape, kind), kind, tape, True, True)
        used = self.argument(Argument("end", tape), "i", f"{tape}_end")
        room = ""
        if not known:
            room = self.argument(Argument("capacity", tape), "i", f"{tape}_room")
        end = self.fresh("e")
        self.line(self.language.variable("i", end, f"{used}{start}"))
        self.tapes[tape] = Tape(data, end, room)

    def own_tape(self, tape: str, kind: str, elements: Expr) -> None:
        """Make a tape of each thread known, which an iteration leaves as it found it. Those
        of neighbours are interleaved."""
        k = sum(a.role == "scratch" for a in self.arguments)
        a = Argument("scratch", str(k), kind, (elements,))
        memory = self.argument(a, kind, tape, True, True)
        first = self.language.past(memory, f"({self.language.turn})")
        data = self.pointer(kind, first, self.root)
        step = self.emit("i", self.language.stride, self.root)
        end = self.fresh("e")
        self.line(self.language.variable("i", end, "0"))
        self.tapes[tape] = Tape(data, end, "", step)

    # -------------------------------------------------------------------- kinds
    def spread(
        self,
        space: Sequence[tuple[str, Expr, bool]],
        body: Callable[[str], None],
        first: str = "",
        step: str = "",
        leavable: bool = False,
    ) -> None:
        """Print the loop of a thread over its elements: index names, how many there are,
        and whether they go backwards. `leavable` leaves only the loop where a thread stops.
        Threads take turns, or start and go on as is said."""
        counts = [self.count(n) for _, n, _ in space]
        total = counts[0]
        if len(counts) > 1:
            total = self.emit("i", " * ".join(counts))
        o, outer = self.fresh("o"), self.scope
        self.scope = Scope(outer)
        rest = o
        places: list[str] = [""] * len(space)
        for k in reversed(range(1, len(space))):
            row = self.emit("i", self.language.divide(rest, counts[k]))
            places[k] = self.emit("i", f"{rest} - {row} * {counts[k]}")
            rest = row
        places[0] = rest
        for (name, n, reverse), place, count in zip(space, places, counts, strict=True):
            if reverse:
                place = self.emit("i", f"{count} - 1 - {place}")
            self.scope.names[name] = place
            self.scope.ranges[name] = n
        body(o)
        head = self.language.counting(
            o, total, first or self.language.turn, step or self.language.stride
        )
        lines = self.language.inside(head, self.scope.lines)
        self.scope = outer
        self.line(*(self.language.leavable(lines) if leavable else lines))

    def build_all(self, s: Build) -> None:
        """Print a build as a grid."""
        target = self.changed(s.name, s.type)

        def body(o: str) -> None:
            self.block(s.body, (s.value,))
            value = self.typed(s.value, s.type.kind)
            self.line(self.language.assign(f"{target.address}[{o}]", value))

        self.spread(space_of(s), body)

    def share(
        self,
        p: Parallel,
        results: Mapping[str, str],
        tapes: Mapping[str, tuple[str, Expr, bool]],
        own: Mapping[str, tuple[str, Expr]],
        parts: Sequence[str],
    ) -> None:
        """Print a loop whose iterations threads share.

        Parameters
        ----------
        results : what the carried arrays of the innermost loop are called after all.
        tapes : what an iteration does with tapes: kind, elements, whether it saves.
        own : tapes that an iteration saves and restores: kind, elements at most.
        parts : the names of what the blocks collect.
        """
        last = p.levels[-1]
        variables = self.variables(p)
        targets = {
            c.name: self.changed(results[c.name], c.type) for c in last.carried if c.type.shape
        }
        self.common |= {t.address for t in targets.values()}

        def body(o: str) -> None:
            self.begin(p, variables)
            self.scope.names.update(targets)
            for tape, (kind, elements, saves) in tapes.items():
                each = self.value(elements)
                self.use_tape(tape, kind, f" {'+' if saves else '-'} {o} * {each}", True)
            for tape, (kind, elements) in own.items():
                self.own_tape(tape, kind, elements)
            places = [
                targets[c.name] if c.type.shape
                else str(self.scope.names[c.name]) for c in last.carried
            ]  # fmt: skip
            self.iteration(last, places)

        checked = has_checks(*last.body)
        leavable = bool(p.collected) and checked
        self.stays = leavable and not self.language.leaves
        if self.stays and any(isinstance(b, Loop) and b.count is None for b in walk(last.body)):
            raise DeclinedError("a loop that may not end once a check has failed")
        self.spread(p.space, body, leavable=leavable)
        for c, v, part in zip(p.collected, variables, parts, strict=True):
            total = self.collect(c, v)
            kind = c.carried.type.kind
            a = Argument("part", part, kind)
            place = self.argument(a, kind, f"part_{part}", True, True)
            told = self.language.assign(f"{place}[{self.language.block}]", total)
            self.line(*self.language.only([f"{self.language.rank} == 0"], told))
            self.line(self.language.barrier)

    def variables(self, p: Parallel) -> list[str]:
        """Print variables for what a thread collects."""
        found = []
        for c in p.collected:
            kind = c.carried.type.kind
            found.append(self.fresh("c"))
            self.line(self.language.variable(kind, found[-1], self.nothing(c)))
        return found

    def nothing(self, c: Collected) -> str:
        """What collecting starts from; of places, none."""
        if c.start is None:
            return self.language.whole(-1)
        return self.typed(c.start, c.carried.type.kind)

    def begin(self, p: Parallel, variables: Sequence[str]) -> None:
        """Let an iteration know what its thread has collected."""
        here = self.scope.names[p.levels[-1].index]
        for c, v in zip(p.collected, variables, strict=True):
            self.scope.names[c.carried.name] = v
            if c.places:
                first = self.language.choice(f"{v} < 0", str(here), v)
                self.line(self.language.assign(v, first))

    def collect(self, c: Collected, variable: str) -> str:
        """Print how the threads of a block make one of what each has collected."""
        of = c.carried.type.kind
        shared, rank = f"shared_{of}", self.language.rank
        if shared not in self.taken:
            self.taken.add(shared)
            self.root.lines.insert(0, self.language.shared(of, shared))
        self.line(self.language.assign(f"{shared}[{rank}]", variable))
        self.line(self.language.barrier)
        w, outer = self.fresh("w"), self.scope
        self.scope = Scope(outer)
        inside, between = self.scope, Scope(self.scope)
        self.scope = between
        mine, other = f"{shared}[{rank}]", f"{shared}[{rank} + {w}]"
        a, b = self.emit(of, mine), self.emit(of, other)
        self.line(self.language.assign(mine, self.joined(c, a, b)))
        self.close(inside, self.language.when([f"{rank} < {w}"]))
        self.line(self.language.barrier)
        self.close(outer, self.language.halving(w, THREADS // 2))
        return f"{shared}[0]"

    def whole(self, c: Collected, init: str, found: str) -> str:
        """What has been collected, after what was there before."""
        joined = self.joined(c, init, found, True)
        return self.language.choice(f"{found} < 0", init, joined) if c.places else joined

    def joined(self, c: Collected, a: str, b: str, ordered: bool = False) -> str:
        """One of two collected values, in the scope they are values of."""
        names = self.scope.names
        if c.places and not ordered:
            low = self.emit("i", self.language.choice(f"{a} < {b}", a, b))
            high = self.emit("i", self.language.choice(f"{a} < {b}", b, a))
            chosen = self.joined(c, low, high, True)
            return self.language.choice(f"{low} < 0", high, chosen)
        names[name_of(c.first)], names[name_of(c.second)] = a, b
        return self.typed(c.joined, c.carried.type.kind)

    def total(self, collected: Sequence[Collected], inits: Sequence[Expr], parts: Sequence[str],
              slots: Sequence[int]) -> None:  # fmt: skip
        """Print the kernel that makes one of what the blocks have collected."""
        count = self.argument(Argument("parts", ""), "i", "parts")
        for c, init, part, slot in zip(collected, inits, parts, slots, strict=True):
            kind = c.carried.type.kind
            place = self.argument(Argument("part", part, kind), kind, f"part_{part}", True)
            v, k, outer = self.fresh("c"), self.fresh("k"), self.scope
            start = self.nothing(c)
            first = self.typed(init, kind)
            self.line(self.language.variable(kind, v, start))
            self.scope = Scope(outer)
            b = self.emit(kind, f"{place}[{k}]")
            a = self.emit(kind, v)
            self.line(self.language.assign(v, self.joined(c, a, b)))
            self.close(outer, self.language.counting(k, count, self.language.rank, str(THREADS)))
            total = self.collect(c, v)
            self.scope = Scope(outer)
            found = self.emit(kind, total)
            self.tell(slot, kind, self.whole(c, first, found))
            self.close(outer, self.language.when([f"{self.language.rank} == 0"]))
            self.line(self.language.barrier)

    def tell(self, slot: int, kind: str, value: str) -> None:
        """Put a value into a word."""
        self.line(self.language.assign(self.word(slot, kind), value))

    def alone(self, s: Loop, slots: Mapping[str, int]) -> None:
        """Print a loop that one thread runs; carried numbers go to words in the end."""
        self.top = s
        self.loop(s, Point((s,), 0, (), {}))
        for c in s.carried:
            if not c.type.shape:
                self.tell(slots[c.result], c.type.kind, str(self.scope.names[c.result]))
        if s.trips in slots:
            self.tell(slots[s.trips], "i", str(self.scope.names[s.trips]))

    def start(self, s: Loop, which: int, point: Point) -> str | Stored:
        c: Carried = s.carried[which]
        if s is self.top and c.type.shape:
            return self.changed(c.result, c.type)
        return super().start(s, which, point)

    def update_one(self, s: Update) -> None:
        """Print an update by one thread."""
        self.scope.names[s.source] = self.changed(s.name, s.type)
        self.update(s, Point((s,), 0, (), {}))

    def put(self, slot: int, e: Expr, kind: str) -> None:
        """Print an expression into a word, after all that was read."""
        name = self.emit(kind, self.typed(e, kind))
        self.ends[name] = self.word(slot, kind)

    # --------------------------------------------------------------------- text
    def kernel(self) -> Kernel:
        return Kernel(self.name, tuple(self.arguments))

    def text(self) -> str:
        last = [self.language.assign(word, name) for name, word in self.ends.items()]
        arguments = list(self.arguments.values())
        return self.language.kernel(self.name, arguments, [*self.root.lines, *last])


__all__ = ["DeclinedError", "Grid", "Outside", "space_of"]
