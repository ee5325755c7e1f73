"""Statements of a program in LLVM IR: builds, updates, loops, checks, calls.

Carried numbers are variables of the function, which LLVM turns into registers. A carried
array lies in a place; if an iteration ends with the array elsewhere, the places change
their addresses and nothing is copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from symdiff.codegen.common.liveness import Point, destinations, moves, shares
from symdiff.codegen.common.scopes import Blocks
from symdiff.codegen.llvm.flags import unwatched
from symdiff.codegen.llvm.loops.interrupts import PATIENCE, WATCHED, period, weight
from symdiff.codegen.llvm.loops.memory import NO_MEMORY
from symdiff.codegen.llvm.loops.scoped import Scope, Slot, Stored
from symdiff.codegen.llvm.loops.tapes import Tape, Tapes
from symdiff.ir import TRUE, Expr
from symdiff.ir.loop_program import (
    ARRAY,
    Build,
    Call,
    Carried,
    Check,
    Loop,
    Type,
    Update,
    expressions,
    index,
    name_of,
)
from symdiff.lowering.loops.collected import SUMMED, long_sums

FIRST_CHECK = 3
"""Kernels return this and more if a check fails; 2 if a routine raises an error."""
NO_ROUTINE = 2
FEW = 4
"""Operations that an iteration of a loop inside of another one is taken to have."""
STEP, STEPS = "step", "steps"
"""Global variables: where the outermost loop that runs is, and how far it goes; 0 if that is
not known. They are for people who watch a long run, and may be of any of several calls."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where an array should be made: of a shape known further out, or at an address."""

    shape: tuple[Expr, ...] | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class LongSum:
    """A sum that a loop makes block by block: the variables of the block, of a block of these, and of
    all before it, their type, and the zero of that which changes no number it is added to."""

    places: tuple[str, str, str]
    of: str
    zero: str


@dataclass(slots=True)
class Counter:
    """A loop being printed: names of how often it ran and how often it will run (None if
    only its condition says that), labels, and the line where its body starts."""

    scope: Scope
    variable: str
    order: str
    count: str | None
    head: str
    exit: str
    start: int = 0


class Statements(Tapes, Blocks[Scope, Stored]):
    """Prints the statements of a program."""

    checks: list[Check]
    functions: list[str]
    once: set[str]
    destination: dict[str, object]
    part: int = 0
    taken: set[str]
    flags: int
    outlined: bool = False
    patience: str = ""

    def compute(self, e: Expr) -> None:
        if self.varies(e):
            self.vector(e)
        else:
            self.scalar(e)

    # ------------------------------------------------------------------- arrays
    def made(self, name: str, t: Type) -> Stored:
        """A new array under a name."""
        destination = self.destination.get(name)
        shape = t.shape
        if isinstance(destination, Destination):
            if destination.address is not None and destination.address not in self.taken:
                self.taken.add(destination.address)
                slot = Slot(self.variable("ptr"), 0)
                self.scope.lines.append(f"store ptr {destination.address}, ptr {slot.pointer}")
                return Stored(destination.address, shape, t.kind, slot)
            shape = destination.shape or shape
        made = self.new(shape, t.kind)
        return Stored(made.address, t.shape, t.kind, made.slot)

    def build(self, s: Build) -> None:
        a = self.made(s.name, s.type)
        self.elements_of(s, a, 0)
        self.scope.names[s.name] = a

    def elements_of(
        self, s: Build, a: Stored, axis: int, part: tuple[str, str] | None = None
    ) -> None:
        """Print the loops over the axes from one on; over a part of the first."""
        if axis == len(s.indices):
            self.block(s.body, (s.value,))
            value = self.typed(s.value, a.kind)
            self.store(a.kind, value, self.place(a, [index(i) for i in s.indices]))
            return
        with self.counted(s.indices[axis], s.type.shape[axis], part):
            self.elements_of(s, a, axis + 1)

    def update(self, s: Update, point: Point) -> None:
        value = self.typed(s.value, s.type.kind)
        guard = self.scalar(s.guard)
        a = self.stored(s.source)
        if not self.dies(s.source, point):
            made = self.made(s.name, s.type)
            self.copy(made.address, a)
            a = made
        self.scope.names[s.name] = Stored(a.address, a.shape, a.kind, a.slot)
        if s.guard is TRUE:
            self.change(s, a, value)
            return
        self.place(a, s.index)
        with self.branch(guard):
            self.change(s, a, value)

    def change(self, s: Update, a: Stored, value: str) -> None:
        """Replace an element in memory, or add to it."""
        address = self.place(a, s.index)
        if s.add:
            of = self.element_type(a.kind)
            old = self.emit(of, self.load(a.kind, address))
            value = self.emit(of, f"{'fadd' if a.kind == 'f' else 'add'} {of} {old}, {value}")
        self.store(a.kind, value, address)

    # -------------------------------------------------------------------- loops
    @contextmanager
    def branch(self, condition: str, rarely: bool = False) -> Iterator[None]:
        """What is printed inside is done only if a condition holds."""
        yes, end = self.label(), self.label()
        outer, inner = self.scope, Scope(self.scope)
        self.scope = inner
        yield
        self.scope = outer
        outer.lines += [
            f"br i1 {condition}, label %{yes}, label %{end}" + ", !prof !2" * rarely,
            f"{yes}:", *inner.lines,
            f"br label %{end}", f"{end}:",
        ]  # fmt: skip

    @contextmanager
    def counted(
        self, name: str, count: Expr, part: tuple[str, str] | None = None
    ) -> Iterator[Scope]:
        """A loop of an index over an axis, or a part of it."""
        first, past = part or ("0", self.at_least_zero(count))
        counter = self.begin(past, first)
        counter.scope.names[name] = counter.order
        counter.scope.ranges[name] = count
        self.test(counter, ())
        yield counter.scope
        self.finish(counter)

    def at_least_zero(self, count: Expr) -> str:
        value = self.scalar(count)
        if count in self.sizes or not value.startswith("%"):
            return value if value.startswith("%") else str(max(0, int(value)))
        return self.shared(
            ("count", count), (count,),
            lambda at: self.emit("i64", f"call i64 @llvm.smax.i64(i64 {value}, i64 0)", at),
        )  # fmt: skip

    def begin(self, count: str | None, first: str = "0") -> Counter:
        """Open a loop; what is printed next is its head, until `test`."""
        variable, head, done = self.variable("i64"), self.label(), self.label()
        scope = Scope(self.scope)
        scope.lines += [f"store i64 {first}, ptr {variable}", f"br label %{head}", f"{head}:"]
        self.scope = scope
        order = self.emit("i64", f"load i64, ptr {variable}")
        return Counter(scope, variable, order, count, head, done)

    def test(self, c: Counter, conditions: Sequence[Expr]) -> Counter:
        """Print the test of a loop; its body comes next."""
        body = self.label()
        tests = [self.scalar(e) for e in conditions]
        if c.count is not None:
            tests.insert(0, self.emit("i1", f"icmp slt i64 {c.order}, {c.count}"))
        go = tests[0] if tests else "true"
        for t in tests[1:]:
            go = self.emit("i1", f"and i1 {go}, {t}")
        c.scope.lines += [f"br i1 {go}, label %{body}, label %{c.exit}", f"{body}:"]
        c.start = len(c.scope.lines)
        c.scope.lines.append("")  # see `finish`
        return c

    def finish(self, c: Counter, step: str = "1") -> None:
        """Close a loop, and free what its iteration allocated."""
        scope = c.scope
        assert self.scope is scope and scope.parent is not None
        if scope.allocates:
            mark = self.fresh("ptr")
            scope.lines[c.start] = f"{mark} = load ptr, ptr {self.allocation}"
            scope.lines.append(f"call void @release(ptr {self.allocation}, ptr {mark})")
        following = self.emit("i64", f"add nsw i64 {c.order}, {step}")
        scope.lines += [
            f"store i64 {following}, ptr {c.variable}", f"br label %{c.head}", f"{c.exit}:",
        ]  # fmt: skip
        self.scope = scope.parent
        self.scope.lines += [line for line in scope.lines if line]
        if not self.outlined and self.scope.parent is not None:
            self.spend(c.order, FEW)

    # ------------------------------------------------------------------- signals
    def spend(self, count: str, operations: int) -> None:
        """Count operations that were made, so many times."""
        if not self.patience:
            self.patience = self.variable("i64", self.root)
            assert self.root.entry is not None
            self.root.entry.append(f"store i64 0, ptr {self.patience}")
        made = self.emit("i64", f"mul i64 {count}, {operations}")
        before = self.emit("i64", f"load i64, ptr {self.patience}")
        now = self.emit("i64", f"add i64 {before}, {made}")
        self.scope.lines.append(f"store i64 {now}, ptr {self.patience}")

    def asking(self, s: Loop) -> tuple[str, int]:
        """What a loop asks, and after how many operations."""
        if s.condition is TRUE:
            return "poll", PATIENCE
        return "watch", PATIENCE >> WATCHED

    def interruptible(self, s: Loop, c: Counter) -> None:
        """Let a signal interrupt a loop."""
        if self.outlined:
            return
        asks, patience = self.asking(s)
        operations = weight((*(x.next for x in s.carried), s.condition))
        if not any(isinstance(b, (Build, Loop, Call)) for b in s.body):
            every = period(operations + sum(weight(expressions(b)) for b in s.body), patience)
            passed = self.emit("i64", f"and i64 {c.order}, {every - 1}")
            self.ask(self.emit("i1", f"icmp eq i64 {passed}, {every - 1}"), asks)
            return
        self.spend("1", operations)
        spent = self.emit("i64", f"load i64, ptr {self.patience}")
        with self.branch(self.emit("i1", f"icmp ugt i64 {spent}, {patience}"), rarely=True):
            self.scope.lines.append(f"store i64 0, ptr {self.patience}")
            self.poll(asks)

    def ask(self, now: str, asks: str = "poll") -> None:
        """Ask for signals if a condition holds."""
        with self.branch(now, rarely=True):
            self.poll(asks)

    def poll(self, asks: str = "poll") -> None:
        """Leave the kernel if a signal has been handled with an error, or a measuring run is too long."""
        done = self.fresh("i32")
        self.scope.lines += self.aside_of_flags(f"{done} = call i32 @{asks}(ptr %signals)")
        self.require(f"icmp eq i32 {done}, 0", NO_ROUTINE)

    def loop(self, s: Loop, point: Point) -> None:
        count = None if s.count is None else self.at_least_zero(s.count)
        plain = count is not None and s.condition is TRUE
        places = [self.start(s, k, point) for k in range(len(s.carried))]
        tapes = self.open_tapes(s, count if plain else None)
        outermost = self.scope.parent is None
        of = self.element_type("f")
        long = self.long(s, [str(p) for p in places], of, "-0.0")
        if outermost:
            self.scope.lines.append(f"store volatile i64 {count or 0}, ptr @{STEPS}")
        c = self.begin(count)
        for v, place in zip(s.carried, places, strict=True):
            self.scope.names[v.name] = self.held(v, place)
        self.test(c, () if s.condition is TRUE else (s.condition,))
        if outermost:
            self.scope.lines.append(f"store volatile i64 {c.order}, ptr @{STEP}")
        self.interruptible(s, c)
        self.scope.names[s.index] = self.position(s, c)
        if s.count is not None:
            self.scope.ranges[s.index] = s.count
        for r in s.restores:
            self.restore(r, tapes[r.tape], c.order, c.count)
        self.iteration(s, places, tapes, c)
        self.end_block(c, long)
        self.finish(c)
        self.end_sums(long)
        for v, place in zip(s.carried, places, strict=True):
            self.scope.names[v.result] = self.held(v, place)
        self.close_tapes(s, tapes)
        trips = count if plain and count is not None else self.emit(
            "i64", f"load i64, ptr {c.variable}"
        )  # fmt: skip
        self.scope.names[s.trips] = trips

    # ---------------------------------------------------------------- long sums
    def long(self, s: Loop, places: Sequence[str], of: str, zero: str) -> list[LongSum]:
        """Begin the sums of a loop that are made block by block."""
        found = long_sums(s, self.scope.parent is None)
        sums = [
            LongSum((place, self.variable(of), self.variable(of)), of, zero)
            for c, place in zip(s.carried, places, strict=True) if c in found
        ]  # fmt: skip
        self.scope.lines += [f"store {of} {zero}, ptr {p}" for x in sums for p in x.places[1:]]
        return sums

    def end_block(self, c: Counter, sums: Sequence[LongSum]) -> None:
        """At the end of a block, add what it summed to what there is of larger ones."""
        if sums:
            with self.every(SUMMED, c):
                self.pass_up(sums, 0)
                with self.every(SUMMED**2, c):
                    self.pass_up(sums, 1)

    def end_sums(self, sums: Sequence[LongSum]) -> None:
        """After the loop, put all blocks together."""
        self.pass_up(sums, 0)
        self.pass_up(sums, 1)
        for x in sums:
            total = self.emit(x.of, f"load {x.of}, ptr {x.places[2]}")
            self.scope.lines.append(f"store {x.of} {total}, ptr {x.places[0]}")

    def every(self, count: int, c: Counter) -> AbstractContextManager[None]:
        """What is printed inside is done in each last one of so many iterations."""
        within = self.emit("i64", f"and i64 {c.order}, {count - 1}")
        last = self.emit("i1", f"icmp eq i64 {within}, {count - 1}")
        return self.branch(last, rarely=True)

    def pass_up(self, sums: Sequence[LongSum], level: int) -> None:
        """Add a block of sums to the larger one, and begin it anew."""
        for x in sums:
            block = self.emit(x.of, f"load {x.of}, ptr {x.places[level]}")
            larger = self.emit(x.of, f"load {x.of}, ptr {x.places[level + 1]}")
            both = self.emit(x.of, f"fadd {x.of} {larger}, {block}")
            self.scope.lines += [
                f"store {x.of} {both}, ptr {x.places[level + 1]}",
                f"store {x.of} {x.zero}, ptr {x.places[level]}",
            ]

    def position(self, s: Loop, c: Counter) -> str:
        """The index of the iteration."""
        if not s.reverse:
            return c.order
        last = self.emit("i64", f"sub i64 {c.count}, 1")
        return self.emit("i64", f"sub i64 {last}, {c.order}")

    def iteration(
        self, s: Loop, places: Sequence[str | Slot], tapes: Mapping[str, Tape], c: Counter
    ) -> None:
        """Print the body of a loop, and what is carried on and saved after it."""
        shapes = {
            name_of(v.next): Destination(v.type.shape) for v in s.carried if v.type.shape
        }  # the outer scope knows the shape of what is carried
        self.destination.update(destinations(s.body, shapes))
        self.body_of(s, lambda v: self.save(v, tapes[v.tape], c.order))
        values = [None if x.type.shape else self.typed(x.next, x.type.kind) for x in s.carried]
        for x, place, value in zip(s.carried, places, values, strict=True):
            if value is not None:
                self.store(x.type.kind, value, str(place))
        self.pass_on(
            [(v, p) for v, p in zip(s.carried, places, strict=True) if isinstance(p, Slot)]
        )

    def start(self, s: Loop, which: int, point: Point) -> str | Slot:
        """The variable or the place of a carried value, which it starts in."""
        v = s.carried[which]
        if not v.type.shape:
            variable = self.cell(v.type.kind)
            self.store(v.type.kind, self.typed(v.init, v.type.kind), variable)
            return variable
        a = self.stored(name_of(v.init))
        if a.slot is not None and shares(s, which) and self.dies(name_of(v.init), point):
            return a.slot
        made = self.made(v.result, v.type)
        self.copy(made.address, a)
        assert made.slot is not None
        return made.slot

    def held(self, v: Carried, place: str | Slot) -> str | Stored:
        """What a carried value is now."""
        if isinstance(place, Slot):
            address = self.emit("ptr", f"load ptr, ptr {place.pointer}")
            return Stored(address, v.type.shape, v.type.kind, place)
        return self.value_at(v.type.kind, place, v.name, v.result)

    def pass_on(self, arrays: Sequence[tuple[Carried, Slot]]) -> None:
        """Let the carried arrays be what they are at the end of an iteration."""
        found = [self.stored(name_of(v.next)) for v, _ in arrays]
        sources = [
            a.slot.pointer if a.slot is not None and a.slot.depth == place.depth
            and self.find(name_of(v.next))[0] is self.scope else None
            for a, (v, place) in zip(found, arrays, strict=True)
        ]  # fmt: skip
        todo = moves([slot.pointer for _, slot in arrays], sources)
        for cycle in todo.cycles:
            addresses = [self.emit("ptr", f"load ptr, ptr {p}") for p in cycle]
            for place, address in zip(cycle, [*addresses[1:], addresses[0]], strict=True):
                self.scope.lines.append(f"store ptr {address}, ptr {place}")
        for k in todo.copies:
            target = self.emit("ptr", f"load ptr, ptr {arrays[k][1].pointer}")
            self.copy(target, found[k])

    # ------------------------------------------------------------ checks, calls
    def check(self, s: Check) -> None:
        if not self.proved(s.condition):
            code = FIRST_CHECK + self.checks.index(s)
            self.require(f"icmp eq i1 {self.scalar(s.condition)}, true", code)
        if self.scope is self.root:
            self.sizes.check(s.condition)

    def call(self, s: Call) -> None:
        """Print a call of a routine: a record of its arguments, and of where results go.

        A number stands in the record as a real or an integer of 64 bits; an array as its
        address and the sizes of its axes.
        """
        arrays = [self.made(n, t) if t.shape else None for n, t in s.results]
        words: list[tuple[str, str]] = []
        for e in s.args:
            if e.op is ARRAY:
                a = self.stored(name_of(e))
                words.append(("ptr", a.address))
                words += [("i64", self.scalar(n)) for n in a.shape]
            elif self.kind(e) == "f":
                words.append(("double", self.doubled(self.number(e))))
            else:
                words.append(("i64", self.typed(e, "i")))
        for made, (_, t) in zip(arrays, s.results, strict=True):
            words.append(("i64", "0") if made is None else ("ptr", made.address))
            words += [("i64", self.at_least_zero(n)) for n in t.shape]
        record = self.variable(f"[{max(1, len(words))} x i64]")
        for k, (kind, value) in enumerate(words):
            place = self.emit("ptr", f"getelementptr i64, ptr {record}, i64 {k}")
            self.scope.lines.append(f"store {kind} {value}, ptr {place}")
        done = self.asked(s, record, arrays)
        self.require(f"icmp eq i32 {done}, 0", NO_ROUTINE)
        place_of = len(words)
        for made, (name, t) in reversed(list(zip(arrays, s.results, strict=True))):
            place_of -= 1 + len(t.shape)
            if made is not None:
                self.scope.names[name] = made
                continue
            place = self.emit("ptr", f"getelementptr i64, ptr {record}, i64 {place_of}")
            of = "i64" if t.kind != "f" else "double"
            value = self.emit(of, f"load {of}, ptr {place}")
            self.scope.names[name] = self.rounded(value) if t.kind == "f" else value

    def asked(self, s: Call, record: str, places: Sequence[Stored | None]) -> str:
        """Print the call of the library with a record; the name of its return code. The routine gets a text
        that says which it is, and of what kinds and ranks the words of the record are."""
        kinds = [f"{self.kind(e)}{self.rank(e)}" for e in s.args]
        results = [f"{t.kind}{len(t.shape)}" for _, t in s.results]
        text = f"{s.routine} {','.join(kinds)} {','.join(results)}"
        name = f'@"call {text}"'
        if name not in self.once:
            self.once.add(name)
            constant = f'[{len(text) + 1} x i8] c"{text}\\00"'
            self.functions.append(f"{name} = private constant {constant}\n")
        done = self.fresh("i32")
        which = f"i64 ptrtoint (ptr {name} to i64)"
        self.scope.lines += self.aside_of_flags(
            f"{done} = call i32 %routine({which}, ptr {record})"
        )
        return done

    def rank(self, e: Expr) -> int:
        return len(self.stored(name_of(e)).shape) if e.op is ARRAY else 0

    def aside_of_flags(self, call: str) -> list[str]:
        """A call of something else, whose flags are of no concern."""
        if not self.flags:
            return [call]
        return unwatched([call], self.variable("i32"))

    def doubled(self, value: str) -> str:
        """A real number as a double."""
        if self.real == "double":
            return value
        return self.emit("double", f"fpext float {value} to double")

    def rounded(self, value: str) -> str:
        """A double as a real number of the kernel."""
        if self.real == "double":
            return value
        return self.emit("float", f"fptrunc double {value} to float")


__all__ = ["FIRST_CHECK", "NO_MEMORY", "NO_ROUTINE", "Destination", "Statements"]
