"""One CUDA kernel of a program with arrays: what it takes, how threads share its work.

grid      one thread for each element of an index space, neighbours along the last axis
collect   what the threads of a block have collected becomes one number, by a tree in
          shared memory; a second kernel of one block adds up those of all blocks, so
          that sums do not depend on which thread is first
single    one thread for all
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from symdiff.codegen.cudaloop import define
from symdiff.codegen.cudaops import Operations
from symdiff.codegen.cudaparallel import Collected, Parallel
from symdiff.codegen.cudasteps import FULL, STATUS, THREADS, Argument, Cell, Kernel
from symdiff.codegen.cudathread import DeclinedError, Tape, Thread
from symdiff.codegen.cudavalues import INTEGER, Scope, Stored
from symdiff.codegen.nestlife import Point
from symdiff.ir import Expr
from symdiff.structure import Build, Carried, Check, Loop, Type, Update, name_of, walk


def space_of(s: Build) -> list[tuple[str, Expr, bool]]:
    """The index space of a build, as `Grid.spread` takes it."""
    return [(i, n, False) for i, n in zip(s.indices, s.type.shape, strict=True)]


Outside = str | Cell | Type
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
        operations: Operations,
        names: Mapping[str, Outside],
        sizes: set[Expr],
        checks: Sequence[Check],
        ranges: Mapping[str, Expr],
    ) -> None:
        super().__init__(operations, checks)
        self.name, self.names, self.sizes = name, names, sizes
        self.root.ranges.update(ranges)
        self.arguments: dict[Argument, str] = {}
        self.taken: set[str] = set()
        self.top: Loop | None = None
        self.ends: dict[str, tuple[str, str]] = {}

    # ---------------------------------------------------------------- arguments
    def argument(self, a: Argument, kind: str, stem: str) -> str:
        """The name of an argument of a type, which is taken if it was not yet."""
        for known, text in self.arguments.items():
            if known == a:
                return text.rpartition(" ")[2]
        name = "_" + re.sub(r"\W", "_", stem)
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        self.arguments[a] = f"{kind} {name}"
        return name

    def outside(self, name: str) -> str | Stored:
        found = self.names[name]
        made: str | Stored
        if isinstance(found, Type):
            of = self.element_type(found.kind)
            a = Argument("array", name, found.kind)
            pointer = self.argument(a, f"const {of}* __restrict__", name)
            made = Stored(pointer, found.shape, found.kind)
        elif isinstance(found, Cell):
            of = self.element_type(found.kind)
            made = self.emit(of, f"*({of}*)({self.cell(found.slot)})", self.root)
        elif found == "f":
            made = self.argument(Argument("real", name), f"const {self.real}", name)
        else:
            made = self.argument(Argument("integer", name), f"const {INTEGER}", name)
        self.root.names[name] = made
        return made

    def changed(self, name: str, t: Type) -> Stored:
        """An array that the kernel writes."""
        of = self.element_type(t.kind)
        pointer = self.argument(Argument("changed", name, t.kind), f"{of}*", name)
        return Stored(pointer, t.shape, t.kind, own=True)

    def cell(self, slot: int) -> str:
        cells = self.argument(Argument("cells", ""), "char*", "cells")
        return f"{cells} + {8 * slot}"

    def status(self) -> str:
        return f"(int*)({self.cell(STATUS)})"

    def full(self) -> str:
        return f"*(int*)({self.cell(FULL)}) = 1;"

    def scratch(self, shape: tuple[Expr, ...], kind: str) -> str:
        k = sum(a.role == "scratch" for a in self.arguments)
        of = self.element_type(kind)
        memory = self.argument(Argument("scratch", str(k), kind, shape), f"{of}*", f"w{k}")
        size = self.argument(Argument("room", str(k), "i", shape), f"const {INTEGER}", f"size{k}")
        thread = "((long long)blockIdx.x * blockDim.x + threadIdx.x)"
        return self.emit(f"{of}*", f"{memory} + {thread} * {size}".replace("const ", ""), self.root)

    def emit(self, kind: str, text: str, scope: Scope | None = None) -> str:
        if kind.endswith("*"):
            name = self.fresh("p")
            (scope or self.scope).lines.append(f"{kind} const {name} = {text};")
            return name
        return super().emit(kind, text, scope)

    # -------------------------------------------------------------------- tapes
    def use_tape(self, tape: str, kind: str, start: str, known: bool) -> None:
        """Make a tape known whose end lies at a place, relative to how much is used."""
        of = self.element_type(kind)
        data = self.argument(Argument("tape", tape, kind), f"{of}*", tape)
        used = self.argument(Argument("end", tape), f"const {INTEGER}", f"{tape}_end")
        room = ""
        if not known:
            room = self.argument(Argument("capacity", tape), f"const {INTEGER}", f"{tape}_room")
        end = self.fresh("e")
        self.line(f"long long {end} = {used}{start};")
        self.tapes[tape] = Tape(data, end, room)

    def own_tape(self, tape: str, kind: str, elements: Expr) -> None:
        """Make a tape of each thread known, which an iteration leaves as it found it. Those
        of neighbours are interleaved."""
        k = sum(a.role == "scratch" for a in self.arguments)
        of = self.element_type(kind)
        memory = self.argument(Argument("scratch", str(k), kind, (elements,)), f"{of}*", tape)
        thread = "(long long)blockIdx.x * blockDim.x + threadIdx.x"
        data = self.emit(f"{of}*", f"{memory} + ({thread})", self.root)
        step = self.emit(INTEGER, "(long long)gridDim.x * blockDim.x", self.root)
        end = self.fresh("e")
        self.line(f"long long {end} = 0;")
        self.tapes[tape] = Tape(data, end, "", step)

    # -------------------------------------------------------------------- kinds
    def spread(
        self,
        space: Sequence[tuple[str, Expr, bool]],
        body: Callable[[str], None],
        first: str = "(long long)blockIdx.x * blockDim.x + threadIdx.x",
        step: str = "(long long)gridDim.x * blockDim.x",
        apart: bool = False,
    ) -> None:
        """Print the loop of a thread over its elements: index names, how many there are,
        and whether they go backwards. `apart` leaves only the loop where a thread stops."""
        counts = [self.count(n) for _, n, _ in space]
        total = counts[0]
        if len(counts) > 1:
            total = self.emit(INTEGER, " * ".join(counts))
        o, outer = self.fresh("o"), self.scope
        self.scope = Scope(outer)
        rest = o
        places: list[str] = [""] * len(space)
        for k in reversed(range(1, len(space))):
            row = self.emit(INTEGER, f"symdiff_divide({rest}, {counts[k]})")
            places[k] = self.emit(INTEGER, f"{rest} - {row} * {counts[k]}")
            rest = row
        places[0] = rest
        for (name, n, reverse), place, count in zip(space, places, counts, strict=True):
            if reverse:
                place = self.emit(INTEGER, f"{count} - 1 - {place}")
            self.scope.names[name] = place
            self.scope.ranges[name] = n
        body(o)
        head = f"for (long long {o} = {first}; {o} < {total}; {o} += {step}) {{"
        if apart:
            outer.lines.append("[&] {")
        self.close(outer, head)
        if apart:
            outer.lines.append("}();")

    def build_all(self, s: Build) -> None:
        """Print a build as a grid."""
        target = self.changed(s.name, s.type)

        def body(o: str) -> None:
            self.block(s.body, (s.value,))
            self.line(f"{target.address}[{o}] = {self.typed(s.value, s.type.kind)};")

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

        checked = any(isinstance(b, Check) for b in walk(last.body))
        self.spread(p.space, body, apart=bool(p.collected) and checked)
        for c, v, part in zip(p.collected, variables, parts, strict=True):
            total = self.collect(c, v)
            kind = c.carried.type.kind
            of = self.element_type(kind)
            place = self.argument(Argument("part", part, kind), f"{of}*", f"part_{part}")
            self.line(f"if (threadIdx.x == 0) {place}[blockIdx.x] = {total};")
            self.line("__syncthreads();")

    def variables(self, p: Parallel) -> list[str]:
        """Print variables for what a thread collects."""
        found = []
        for c in p.collected:
            kind = c.carried.type.kind
            found.append(self.fresh("c"))
            start = "-1ll" if c.start is None else self.typed(c.start, kind)
            self.line(f"{self.element_type(kind)} {found[-1]} = {start};")
        return found

    def begin(self, p: Parallel, variables: Sequence[str]) -> None:
        """Let an iteration know what its thread has collected."""
        here = self.scope.names[p.levels[-1].index]
        for c, v in zip(p.collected, variables, strict=True):
            self.scope.names[c.carried.name] = v
            if c.places:
                self.line(f"{v} = {v} < 0 ? {here} : {v};")

    def collect(self, c: Collected, variable: str) -> str:
        """Print how the threads of a block make one of what each has collected."""
        of = self.element_type(c.carried.type.kind)
        shared = f"shared_{c.carried.type.kind}"
        if shared not in self.taken:
            self.taken.add(shared)
            self.root.lines.insert(0, f"__shared__ {of} {shared}[{THREADS}];")
        self.line(f"{shared}[threadIdx.x] = {variable};")
        self.line("__syncthreads();")
        w, outer = self.fresh("w"), self.scope
        self.scope = Scope(outer)
        inside, between = self.scope, Scope(self.scope)
        self.scope = between
        mine, other = f"{shared}[threadIdx.x]", f"{shared}[threadIdx.x + {w}]"
        a, b = self.emit(of, mine), self.emit(of, other)
        self.line(f"{mine} = {self.joined(c, a, b)};")
        self.close(inside, f"if (threadIdx.x < {w}) {{")
        self.line("__syncthreads();")
        self.close(outer, f"for (int {w} = {THREADS // 2}; {w} > 0; {w} >>= 1) {{")
        return f"{shared}[0]"

    def whole(self, c: Collected, init: str, found: str) -> str:
        """What has been collected, after what was there before."""
        joined = self.joined(c, init, found, True)
        return f"{found} < 0 ? {init} : {joined}" if c.places else joined

    def joined(self, c: Collected, a: str, b: str, ordered: bool = False) -> str:
        """One of two collected values, in the scope they are values of."""
        names = self.scope.names
        if c.places and not ordered:
            low = self.emit(INTEGER, f"{a} < {b} ? {a} : {b}")
            high = self.emit(INTEGER, f"{a} < {b} ? {b} : {a}")
            chosen = self.joined(c, low, high, True)
            return f"{low} < 0 ? {high} : {chosen}"
        names[name_of(c.first)], names[name_of(c.second)] = a, b
        return self.typed(c.joined, c.carried.type.kind)

    def total(self, collected: Sequence[Collected], inits: Sequence[Expr], parts: Sequence[str],
              slots: Sequence[int]) -> None:  # fmt: skip
        """Print the kernel that makes one of what the blocks have collected."""
        count = self.argument(Argument("parts", ""), f"const {INTEGER}", "parts")
        for c, init, part, slot in zip(collected, inits, parts, slots, strict=True):
            kind = c.carried.type.kind
            of = self.element_type(kind)
            place = self.argument(Argument("part", part, kind), f"const {of}* __restrict__",
                                  f"part_{part}")  # fmt: skip
            v, k, outer = self.fresh("c"), self.fresh("k"), self.scope
            start = "-1ll" if c.start is None else self.typed(c.start, kind)
            first = self.typed(init, kind)
            self.line(f"{of} {v} = {start};")
            self.scope = Scope(outer)
            b = self.emit(of, f"{place}[{k}]")
            a = self.emit(of, v)
            self.line(f"{v} = {self.joined(c, a, b)};")
            head = f"for (long long {k} = threadIdx.x; {k} < {count}; {k} += {THREADS}) {{"
            self.close(outer, head)
            total = self.collect(c, v)
            self.scope = Scope(outer)
            found = self.emit(of, total)
            self.line(f"*({of}*)({self.cell(slot)}) = {self.whole(c, first, found)};")
            self.close(outer, "if (threadIdx.x == 0) {")
            self.line("__syncthreads();")

    def alone(self, s: Loop, slots: Mapping[str, int]) -> None:
        """Print a loop that one thread runs; carried numbers go to cells in the end."""
        self.top = s
        self.loop(s, Point((s,), 0, (), {}))
        for c in s.carried:
            if not c.type.shape:
                of = self.element_type(c.type.kind)
                value = self.scope.names[c.result]
                self.line(f"*({of}*)({self.cell(slots[c.result])}) = {value};")
        if s.trips in slots:
            self.line(f"*({INTEGER}*)({self.cell(slots[s.trips])}) = {self.scope.names[s.trips]};")

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
        """Print an expression into a cell, after all that was read."""
        of = self.element_type(kind)
        value = self.typed(e, kind)
        name = self.emit(of, value)
        self.ends[name] = of, self.cell(slot)

    # --------------------------------------------------------------------- text
    def kernel(self) -> Kernel:
        return Kernel(self.name, tuple(self.arguments))

    def text(self) -> str:
        last = [f"*({of}*)({cell}) = {name};" for name, (of, cell) in self.ends.items()]
        head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {self.name}'
        return define(head, list(self.arguments.values()), [*self.root.lines, *last])


__all__ = ["DeclinedError", "Grid", "Outside", "space_of"]
