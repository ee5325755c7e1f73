"""Builds that several threads share, in LLVM IR: the elements of a range, as a function.

A build of the outermost block that is worth it becomes a function of a range of its first
index, `void @part.k(ptr frame, i64 first, i64 past)`. What it uses of the kernel stands in
the frame. The kernel calls it for all of its range, or has `parallel` divide the range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from symdiff.codegen.llvm.flags import PLACES, watched
from symdiff.codegen.llvm.loops.body import NO_ROUTINE
from symdiff.codegen.llvm.loops.scoped import Scope, Stored
from symdiff.codegen.llvm.loops.vectorised import Spans
from symdiff.ir import Expr, topological
from symdiff.ir.loop_program import Build, Loop, walk

GRAIN = 200_000.0
"""Nanoseconds of work that are worth several threads."""
PIECE = 5e7
"""Nanoseconds of work between two looks for signals."""
STOPPED = -1
"""The routine that says whether an error ended the work of threads."""
NANOSECONDS = 0.3
"""Of an addition."""
WORD = 128
"""Bytes of a value in a frame: as many 64-bit integers as there are lanes of single precision at most."""

_NAME = re.compile(r"(?<!label )%[\w.]+")
_DEFINED = re.compile(r"^(%[\w.]+) = ")


class Parts(Spans):
    """Prints builds as functions that threads may share."""

    functions: list[str]
    once: set[str]
    flags: int
    parts: int = 0

    def build(self, s: Build) -> None:
        if self.scope is not self.root or not self.divisible(s):
            super().build(s)
            return
        a = self.made(s.name, s.type)
        work = self.work_of(s)
        count = self.at_least_zero(s.type.shape[0])
        frame, part = self.part_of(s, a)
        self.divided(part, f"{part}.watched" if self.flags else part, frame, count, work)
        self.scope.names[s.name] = a

    def divided(self, part: str, shared: str, frame: str, count: str, work: str) -> None:
        """Call a function for all of a range, or have threads call the `shared` one for parts
        of it if that is worth it: `work` nanoseconds for each of `count`."""
        total = self.emit("double", f"fmul double {work}, {self.as_double(count)}")
        large = self.emit("i1", f"fcmp ogt double {total}, {GRAIN}")
        allowed = self.emit("i1", "icmp ne ptr %parallel, null")
        both = self.emit("i1", f"and i1 {large}, {allowed}")
        alone = self.emit("i1", f"xor i1 {both}, true")
        with self.branch(both):
            self.poll()
            call = f"call void %parallel(ptr @{shared}, ptr {frame}, i64 {count}, double {work})"
            self.scope.lines += self.aside_of_flags(call)
            done = self.fresh("i32")
            stopped = f"{done} = call i32 %routine(i64 {STOPPED}, ptr null)"
            self.scope.lines += self.aside_of_flags(stopped)
            self.require(f"icmp eq i32 {done}, 0", NO_ROUTINE)
        with self.branch(alone):
            self.alone(part, frame, count, total)

    def alone(self, part: str, frame: str, count: str, total: str) -> None:
        """Call a function for all of a range, and in between look for signals."""
        pieces = self.emit("double", f"fdiv double {total}, {PIECE}")
        number = self.emit("i64", f"fptosi double {self.least(pieces)} to i64")
        pieces = self.emit("i64", f"add i64 {number}, 1")
        size = self.emit("i64", f"udiv i64 {count}, {pieces}")
        size = self.emit("i64", f"add i64 {size}, 1")
        c = self.begin(count)
        self.test(c, ())
        end = self.emit("i64", f"add i64 {c.order}, {size}")
        end = self.emit("i64", f"call i64 @llvm.smin.i64(i64 {end}, i64 {count})")
        self.scope.lines.append(f"call void @{part}(ptr {frame}, i64 {c.order}, i64 {end})")
        with self.branch(self.emit("i1", f"icmp slt i64 {end}, {count}")):
            self.poll()
        self.finish(c, size)

    def least(self, pieces: str) -> str:
        """Not more pieces than there can be."""
        few = self.emit("i1", f"fcmp olt double {pieces}, 1.0e9")
        return self.emit("double", f"select i1 {few}, double {pieces}, double 1.0e9")

    def divisible(self, s: Build) -> bool:
        """Whether the elements are numbers of numbers, which cannot fail."""
        return all(
            isinstance(b, Loop) and not b.saves and not b.restores
            and not any(c.type.shape for c in b.carried) for b in walk(s.body)
        )  # fmt: skip

    def as_double(self, value: str) -> str:
        return self.emit("double", f"sitofp i64 {value} to double")

    def work_of(self, s: Build) -> str:
        """Nanoseconds for the elements of one value of the first index."""
        ranges = dict(zip(s.indices, s.type.shape, strict=True))
        plan = self.plan_build(s)
        with self.trial(ranges, (), s.body):
            inside = [self.plan_loop(b) for b in s.body if isinstance(b, Loop)]
        alone = float(len(topological((s.value,))))
        cost = plan.cost if plan is not None else alone + sum(
            16.0 * p.cost if p is not None else 100.0 for p in inside
        )  # fmt: skip
        value = f"{NANOSECONDS * cost:.6e}"
        sizes: list[Expr] = list(s.type.shape[1:])
        for b in s.body:
            if isinstance(b, Loop) and b.count is not None and self.is_known(b.count):
                sizes.append(b.count)
                value = f"{float(value) / 16:.6e}"
                break
        for n in sizes:
            size = self.as_double(self.at_least_zero(n))
            value = self.emit("double", f"fmul double {value}, {size}")
        return value

    def part_of(self, s: Build, a: Stored) -> tuple[str, str]:
        """Print the function of a build; returns the names of its frame and its own."""
        outer, entry = self.scope, list[str]()
        self.scope = inside = Scope(outer, entry=entry)
        self.outlined = True
        self.elements_of(s, a, 0, ("%first", "%past"))
        lines = [*entry, *inside.lines]
        self.scope, self.outlined = outer, False
        self.parts += 1
        name = f"part.{self.parts}"
        used = [*self.captured(lines), *(["%raised.p"] if self.flags else [])]
        frame = self.variable(f"[{WORD * max(1, len(used))} x i8]")
        loads = []
        for k, value in enumerate(used):
            kind = self.types.get(value, "ptr")
            at = f"getelementptr i8, ptr {frame}, i64 {WORD * k}"
            place = self.emit("ptr", at)
            self.scope.lines.append(f"store {kind} {value}, ptr {place}, align 8")
            loads += [
                f"%word.{k} = getelementptr i8, ptr %frame, i64 {WORD * k}",
                f"{value} = load {kind}, ptr %word.{k}, align 8",
            ]
        self.functions += [
            f"define internal void @{name}(ptr %frame, i64 %first, i64 %past) #0 {{",
            *loads, *lines, "ret void", "}",
        ]  # fmt: skip
        if self.flags:
            self.functions += [
                f"define internal void @{name}.watched(ptr %frame, i64 %first, i64 %past) #0 {{",
                *PLACES,
                *watched([f"call void @{name}(ptr %frame, i64 %first, i64 %past) noinline"], self.flags),
                "%raised = zext i32 %bits to i64",
                f"%at = getelementptr i8, ptr %frame, i64 {WORD * used.index('%raised.p')}",
                "%word = load ptr, ptr %at, align 8",
                "%before = atomicrmw or ptr %word, i64 %raised acq_rel",
                "ret void", "}",
            ]  # fmt: skip
        return frame, name

    def captured(self, lines: Sequence[str]) -> list[str]:
        """The names that instructions use and do not define, in order."""
        defined = {m.group(1) for line in lines if (m := _DEFINED.match(line))}
        defined |= {"%first", "%past"}
        used = dict.fromkeys(name for line in lines for name in _NAME.findall(line))
        return [n for n in used if n not in defined]
