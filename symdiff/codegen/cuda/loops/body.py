"""Statements of a program as one thread of a CUDA kernel runs them, one after the other.

Arrays that a thread makes lie in scratch memory that the host allocates, as large as they
can get. A carried array stays in its place: what an iteration ends with is copied there
unless it was changed in place. Values for the reverse of a loop go to tapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from symdiff.codegen.common.liveness import Point, shares
from symdiff.codegen.cuda.loops.language import Language
from symdiff.codegen.cuda.loops.scoped import Scope, Stored, Values
from symdiff.ir import TRUE, Expr, neg
from symdiff.ir.integers import in_range, least, linear
from symdiff.ir.loop_program import (
    Build,
    Call,
    Carried,
    Check,
    Loop,
    Restore,
    Save,
    Type,
    Update,
    index,
    leaves,
    name_of,
)


class DeclinedError(Exception):
    """What a kernel cannot do; the host may have another way."""


@dataclass(frozen=True, slots=True)
class Tape:
    """A tape in a kernel.

    Attributes
    ----------
    data, end : names of the pointer to its elements, and of how many are used.
    room : of how many it can hold; "" if it is known to be long enough.
    step : of how far its elements are from each other; "" for one.
    """

    data: str
    end: str
    room: str = ""
    step: str = ""


class Thread(Values):
    """Prints the statements of one thread.

    Attributes
    ----------
    checks : the checks of the program, whose order numbers them.
    tapes : the tapes that the kernel uses.
    common : pointers to arrays that several threads change.
    checking : whether anything is checked.
    stays : whether a thread goes on where a check fails, for others wait for it.
    """

    def __init__(self, language: Language, checks: Sequence[Check]) -> None:
        super().__init__(language)
        self.checks = checks
        self.tapes: dict[str, Tape] = {}
        self.common: set[str] = set()
        self.checking = self.stays = False

    def scratch(self, shape: tuple[Expr, ...], kind: str) -> str:
        """A pointer to memory of this thread for an array that is at most so large; the
        sizes are those of names outside of the kernel."""
        raise NotImplementedError

    def words(self, kind: str = "i") -> str:
        """The numbers of a kind that kernels keep on the device."""
        raise NotImplementedError

    def call(self, s: Call) -> None:
        raise DeclinedError(f"'{s.routine}' is called for each element")

    def compute(self, e: Expr) -> None:
        self.value(e)

    # ------------------------------------------------------------------- arrays
    def new(self, t: Type) -> Stored:
        """A new array of this thread, whose elements are not set yet."""
        ranges = self.ranges()
        most = []
        for n in t.shape:
            bound = neg(linear(least(linear(neg(n)), ranges)))
            if any(not self.comes_from_outside(e) for e in leaves((bound,))):
                raise DeclinedError("an array for each element has a size that is computed")
            most.append(bound)
        return Stored(self.scratch(tuple(most), t.kind), t.shape, t.kind, own=True)

    def comes_from_outside(self, leaf: Expr) -> bool:
        try:
            scope, found = self.find(name_of(leaf))
        except KeyError:
            return False
        return scope is self.root and not isinstance(found, Stored)

    def copy(self, address: str, a: Stored) -> None:
        """Copy all elements."""
        if a.address in self.common:
            raise DeclinedError("an array is copied while other threads change it")
        i = self.fresh("i")
        size = self.length(a.shape)
        self.line(*self.language.copy(i, size, address, a.address))

    def build(self, s: Build) -> None:
        a = self.new(s.type)
        self.elements_of(s, a, 0)
        self.scope.names[s.name] = a

    def elements_of(self, s: Build, a: Stored, axis: int) -> None:
        if axis == len(s.indices):
            self.block(s.body, (s.value,))
            value = self.typed(s.value, a.kind)
            at = self.offset(a.shape, [index(i) for i in s.indices])
            self.line(self.language.assign(f"{a.address}[{at}]", value))
            return
        i, n, outer = self.fresh("i"), s.type.shape[axis], self.scope
        head = self.language.counting(i, self.count(n))
        self.scope = Scope(outer)
        self.scope.names[s.indices[axis]] = i
        self.scope.ranges[s.indices[axis]] = n
        self.elements_of(s, a, axis + 1)
        self.close(outer, head)

    def close(self, outer: Scope, head: str) -> None:
        """Go back to a scope, and print the inner one in it."""
        outer.lines += self.language.inside(head, self.scope.lines)
        self.scope = outer

    def update(self, s: Update, point: Point) -> None:
        value = self.typed(s.value, s.type.kind)
        tests = [] if s.guard is TRUE else [self.value(s.guard)]
        a = self.stored(s.source)
        if not self.dies(s.source, point):
            made = self.new(s.type)
            self.copy(made.address, a)
            a = made
        ranges = self.ranges()
        for i, n in zip(s.index, a.shape, strict=True):
            if not in_range(i, n, ranges, self.sizes):
                tests += [f"0 <= {self.value(i)}", f"{self.value(i)} < {self.value(n)}"]
        element = f"{a.address}[{self.offset(a.shape, s.index)}]"
        change = self.language.assign(element, f"{element} + {value}" if s.add else value)
        self.scope.names[s.name] = Stored(a.address, s.type.shape, a.kind, own=True)
        self.line(*self.language.only(tests, change))

    # -------------------------------------------------------------------- loops
    def loop(self, s: Loop, point: Point) -> None:
        count = None if s.count is None else self.count(s.count)
        plain = count is not None and s.condition is TRUE
        places = [self.start(s, k, point) for k in range(len(s.carried))]
        order, outer = self.fresh("o"), self.scope
        if not plain:
            self.line(self.language.variable("i", order, "0"))
        self.scope = Scope(outer)
        for c, place in zip(s.carried, places, strict=True):
            self.scope.names[c.name] = place
        if s.condition is not TRUE:
            self.line(*self.language.stop(self.value(s.condition)))
        i = order
        if s.reverse:
            i = self.emit("i", f"{count} - 1 - {order}")
        self.scope.names[s.index] = i
        if s.count is not None:
            self.scope.ranges[s.index] = s.count
        self.iteration(s, places)
        if plain and count is not None:
            head = self.language.counting(order, count)
        else:
            self.line(*self.language.follow(order))
            head = self.language.repeating(order, count)
        self.close(outer, head)
        for c, place in zip(s.carried, places, strict=True):
            self.scope.names[c.result] = place
        self.scope.names[s.trips] = count if plain and count is not None else order

    def start(self, s: Loop, which: int, point: Point) -> str | Stored:
        """The variable or the place of a carried value, which it starts in."""
        c = s.carried[which]
        if not c.type.shape:
            name = self.fresh("c")
            value = self.typed(c.init, c.type.kind)
            self.line(self.language.variable(c.type.kind, name, value))
            return name
        a = self.stored(name_of(c.init))
        if shares(s, which) and self.dies(name_of(c.init), point):
            return Stored(a.address, c.type.shape, c.type.kind, own=True)
        made = self.new(c.type)
        self.copy(made.address, a)
        return made

    def iteration(self, s: Loop, places: Sequence[str | Stored]) -> None:
        """Print the body of a loop, what it restores before and what it saves and carries
        on after it."""
        for r in s.restores:
            self.restore(r)
        self.body_of(s, self.save)
        values = [None if c.type.shape else self.typed(c.next, c.type.kind) for c in s.carried]
        variables = {p for p in places if isinstance(p, str)}
        for k, (c, value) in enumerate(zip(s.carried, values, strict=True)):
            if value in variables and value != places[k]:
                values[k] = self.emit(c.type.kind, str(value))
        for place, value in zip(places, values, strict=True):
            if value is not None and value != place:
                self.line(self.language.assign(str(place), value))
        self.pass_on([
            (c, p) for c, p in zip(s.carried, places, strict=True) if isinstance(p, Stored)
        ])  # fmt: skip

    def pass_on(self, arrays: Sequence[tuple[Carried, Stored]]) -> None:
        """Copy what an iteration ends with to the places of the carried arrays."""
        left = {}
        for c, place in arrays:
            a = self.stored(name_of(c.next))
            if a.address != place.address:
                left[place.address] = a
        while left:
            needed = {a.address for a in left.values()}
            free = [address for address in left if address not in needed]
            if not free:
                raise DeclinedError("arrays of a loop change places")
            for address in free:
                if address in self.common:
                    raise DeclinedError("an array is replaced while other threads use it")
                self.copy(address, left.pop(address))

    # ------------------------------------------------------------------- checks
    def check(self, s: Check) -> None:
        if self.proved(s.condition):
            return
        number = self.checks.index(s) + 1
        self.checking = True
        condition = self.value(s.condition)
        told = [self.language.failed(self.words(), number)]
        if not self.stays:
            told += self.language.leave()
        self.line(*self.language.unless(condition, told))

    # -------------------------------------------------------------------- tapes
    def save(self, v: Save) -> None:
        """Put a value on the end of a tape."""
        tape = self.tapes[v.tape]
        a = self.stored(name_of(v.value)) if v.type.shape else None
        size = "1" if a is None else self.length(a.shape)
        if tape.room:
            told = [self.language.full(self.words()), *self.language.leave()]
            head = self.language.when([f"{tape.end} + {size} > {tape.room}"])
            self.line(*self.language.inside(head, told))
        if a is None:
            value = self.typed(v.value, v.type.kind)
            self.line(*self.language.put(tape.data, tape.end, tape.step, value))
            return
        if tape.step:
            raise DeclinedError("each thread keeps arrays")
        self.copy(self.language.past(tape.data, tape.end), a)
        self.line(self.language.advance(tape.end, size))

    def restore(self, r: Restore) -> None:
        """Take a value off the end of a tape."""
        tape = self.tapes[r.tape]
        if not r.type.shape:
            self.scope.names[r.name] = name = self.fresh()
            kind = r.type.kind
            self.line(*self.language.take(kind, name, tape.data, tape.end, tape.step))
            return
        self.line(self.language.advance(tape.end, self.length(r.type.shape), back=True))
        view = self.pointer(r.type.kind, self.language.past(tape.data, tape.end))
        self.scope.names[r.name] = Stored(view, r.type.shape, r.type.kind)


__all__ = ["DeclinedError", "Tape", "Thread"]
