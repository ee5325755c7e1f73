"""Run the steps of a program with arrays on a device.

Arrays are buffers by their names. A kernel that changes an array gets a copy of it, unless
nothing else has the same buffer; then it changes the buffer itself. Numbers that say how
much there is to do are read back where they are needed, and with them whether a check
failed; everything else is queued on one stream.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.codegen.cuda.loops.steps import (
    FULL,
    PARTS,
    STATUS,
    THREADS,
    WARP,
    Argument,
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
from symdiff.ir import Expr
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.loop_program import Type, name_of
from symdiff.runtime.cuda.driver import Device
from symdiff.runtime.loops.arguments import BYTE, FLOAT32, FLOAT64, INT64, whole_value

WAVES = 8
"""A grid is at most so many times what the device holds at once."""
FEW = 64
"""Threads of a block where there are not enough elements for every multiprocessor."""
SCRATCH = 1 << 28
"""Bytes of scratch memory that threads share at most, as long as there is one thread."""
FIRST_ROOM = 1024
"""Elements of a tape that may turn out to be too short."""
NONE = 2**31 - 1
"""The status of a run in which no check has failed."""


@dataclass(eq=False, slots=True)
class Buffer:
    """Memory on the device for the elements of an array.

    Attributes
    ----------
    address, size : where, and how many bytes.
    own : whether it may be changed, and is given back when not used any more.
    owner : what keeps memory alive that is not ours.
    """

    address: int
    size: int
    own: bool = True
    owner: Any = None


@dataclass(slots=True)
class Tape:
    """Values for the reverse of loops: memory, and how many elements are used of how many."""

    buffer: Buffer
    used: int = 0
    room: int = 0


Place = Callable[[str, int], Buffer | None]
"""Where a new array should be made, by its name and bytes; None anywhere."""


class CheckError(Exception):
    """A check of the program failed: its number."""


class Run:
    """One run of a plan; the device's context must be current.

    Parameters
    ----------
    kernels : the kernels by their names, and how many blocks of each fit at once.
    single : whether real numbers are floats.
    values : what the names mean that the program starts from: buffers and numbers.
    place : where new arrays should be made.
    """

    def __init__(
        self,
        device: Device,
        plan: Plan,
        kernels: Mapping[str, tuple[Any, int]],
        single: bool,
        values: Mapping[str, Buffer | int | float],
        stream: int,
        place: Place,
    ) -> None:
        self.device, self.plan, self.kernels, self.stream = device, plan, kernels, stream
        self.single, self.place = single, place
        self.env: dict[str, Any] = {**plan.words, **values}
        self.tapes: dict[str, Tape] = {}
        self.sizes = {"f": 4 if single else 8, "i": 8, "b": 1}
        self.words = Buffer(device.reserve(8 * plan.slots, stream), 8 * plan.slots)
        self.open: list[Buffer] = [self.words]
        device.fill(self.words.address, 0, 2 * plan.slots, stream)
        device.fill(self.words.address + 8 * STATUS, NONE, 1, stream)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: Any) -> None:
        for buffer in self.open:
            self.device.release(buffer.address, self.stream)
        self.open.clear()

    # ------------------------------------------------------------------- memory
    def new(self, size: int) -> Buffer:
        buffer = Buffer(self.device.reserve(max(size, 8), self.stream), size)
        self.open.append(buffer)
        return buffer

    def free(self, buffer: Buffer) -> None:
        if buffer in self.open:
            self.open.remove(buffer)
            self.device.release(buffer.address, self.stream)

    def drop(self, name: str) -> None:
        """Forget an array, and its memory if no other name has it."""
        buffer = self.env.pop(name, None)
        if isinstance(buffer, Buffer) and buffer.own and not self.has(buffer):
            self.free(buffer)

    def has(self, buffer: Buffer) -> bool:
        return any(b is buffer for b in self.env.values())

    def bytes_of(self, t: Type) -> int:
        total = self.sizes[t.kind]
        for n in t.shape:
            total *= max(0, self.integer(n))
        return total

    def made(self, name: str, size: int) -> Buffer:
        """Memory for a new array."""
        return self.place(name, size) or self.new(size)

    def taken(self, name: str, source: str, t: Type, dies: bool) -> Buffer:
        """The array that a kernel changes: the source, or a copy."""
        buffer: Buffer = self.env[source]
        if dies and buffer.own:
            del self.env[source]
            if not self.has(buffer):
                return buffer
            self.env[source] = buffer
        size = self.bytes_of(t)
        made = self.made(name, size)
        if size:
            self.device.copy(made.address, buffer.address, size, self.stream)
        return made

    # ------------------------------------------------------------------ numbers
    def integer(self, e: Expr) -> int:
        """The value of an integer that the host knows, or reads from a word."""
        return whole_value(e, self.named)

    def named(self, leaf: Expr) -> int:
        found = self.env[name_of(leaf)]
        if isinstance(found, Word):
            return int(self.read()[found.slot])
        return int(found)

    def read(self) -> np.ndarray[Any, Any]:
        """All words, as integers; raises if a check has failed."""
        words = np.empty(self.plan.slots, np.int64)
        self.device.download(words.ctypes.data, self.words.address, words.nbytes, self.stream)
        status = int(words[STATUS : STATUS + 1].view(np.int32)[0])
        if status != NONE:
            raise CheckError(status - 1)
        return words

    # -------------------------------------------------------------------- steps
    def run(self) -> None:
        self.steps(self.plan.steps)

    def steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        match step:
            case Launch():
                self.launch(step)
            case Repeat():
                self.repeat(step)
            case Test():
                if not whole_value(step.condition, self.named):
                    self.read()  # a check before this one may have failed
                    raise CheckError(step.number)
            case Let():
                self.env[step.name] = self.integer(step.value)
            case Routine():
                self.routine(step)
            case Keep():
                buffer: Buffer = self.env[step.name]
                count = self.bytes_of(step.type) // self.sizes[step.type.kind]
                tape = self.tape(step.tape, step.type.kind, count)
                size = self.sizes[step.type.kind]
                if count:
                    self.device.copy(
                        tape.buffer.address + tape.used * size, buffer.address, count * size,
                        self.stream,
                    )  # fmt: skip
                tape.used += count
            case View():
                tape, size = self.tapes[step.tape], self.sizes[step.type.kind]
                tape.used -= self.bytes_of(step.type) // size
                at = tape.buffer.address + tape.used * size
                self.env[step.name] = Buffer(at, 0, own=False, owner=tape.buffer)
            case Forget():
                for name in step.names:
                    self.drop(name)

    def repeat(self, step: Repeat) -> None:
        count = None if step.count is None else self.integer(step.count)
        for name, init, _, _, dies in step.arrays:
            self.env[name] = self.env[init]
            if dies:
                self.env.pop(init)
        trips = 0
        while count is None or trips < count:
            self.steps(step.test)
            if step.condition is not None and not self.read()[step.condition]:
                break
            self.env[step.index] = count - 1 - trips if step.reverse and count else trips
            before = set(self.env)
            self.steps(step.body)
            nexts = [self.env[following] for _, _, following, _, _ in step.arrays]
            names = [name for name, *_ in step.arrays]
            held = {id(b) for b in nexts}
            for name in {*(n for n in self.env if n not in before), *names}:
                old = self.env.get(name)
                if isinstance(old, Buffer):
                    del self.env[name]
                    if old.own and id(old) not in held and not self.has(old):
                        self.free(old)
            self.env.update(zip(names, nexts, strict=True))
            trips += 1
        for name, _, _, result, _ in step.arrays:
            self.env[result] = self.env.pop(name)
        self.env[step.trips] = trips

    def routine(self, step: Routine) -> None:
        """Compute on the host, after all that is queued."""
        words = self.read()  # a check before this one may have failed
        args = []
        for a in step.args:
            if isinstance(a, Word):
                args.append(words[a.slot : a.slot + 1].view(self.element(a.kind))[0])
                continue
            name, t = a
            found = np.empty([max(0, self.integer(n)) for n in t.shape], self.element(t.kind))
            if found.nbytes:
                self.device.download(
                    found.ctypes.data, self.env[name].address, found.nbytes, self.stream
                )
            args.append(found)
        for place, value in zip(step.makes, ROUTINES[step.routine].numpy(*args), strict=True):
            kind = place.kind if isinstance(place, Word) else place[1].kind
            data = np.ascontiguousarray(value, self.element(kind))
            if isinstance(place, Word):
                address = self.words.address + 8 * place.slot
            else:
                self.env[place[0]] = made = self.made(place[0], data.nbytes)
                address = made.address
            if data.nbytes:
                self.device.upload(address, data.ctypes.data, data.nbytes, self.stream)

    def element(self, kind: str) -> np.dtype[Any]:
        """The dtype of numbers of a kind."""
        return {"f": FLOAT32 if self.single else FLOAT64, "i": INT64, "b": BYTE}[kind]

    # -------------------------------------------------------------------- tapes
    def tape(self, name: str, kind: str, more: int) -> Tape:
        """A tape with room for more elements."""
        tape = self.tapes.get(name)
        if tape is None:
            tape = self.tapes[name] = Tape(self.new(0))
        if tape.used + more > tape.room:
            tape.room = max(tape.used + more, 2 * tape.room)
            longer = self.new(tape.room * self.sizes[kind])
            if tape.used:
                self.device.copy(
                    longer.address, tape.buffer.address, tape.used * self.sizes[kind], self.stream
                )
            self.free(tape.buffer)
            tape.buffer = longer
        return tape

    # ----------------------------------------------------------------- launches
    def launch(self, step: Launch) -> None:
        counts = [1] if step.space is None else [max(0, self.integer(n)) for n in step.space]
        total = int(np.prod(counts, dtype=object))
        growing = [t for t in step.tapes if t.saves and t.elements is None]
        for t in step.tapes:
            known = 0  # a tape that is read may be one that a loop of no iterations saved on
            if t.saves:
                known = FIRST_ROOM if t.elements is None else self.integer(t.elements)
            self.tape(t.tape, t.kind, known)
        for name, made in step.makes:
            self.env[name] = self.made(name, self.bytes_of(made))
        while True:
            changed = {
                name: self.taken(name, source, t, dies and not growing)
                for name, source, t, dies in step.changes
            }
            if not growing:
                self.env.update(changed)
            with contextlib.ExitStack() as stack:
                if total or step.final is not None:
                    self.start(step, total, changed, stack)
            if not growing or not self.overflow(step):
                break
            for t in growing:
                self.tape(t.tape, t.kind, self.tapes[t.tape].room + 1)
            for buffer in changed.values():
                self.free(buffer)
        self.env.update(changed)
        self.ends(step.tapes)

    def overflow(self, step: Launch) -> bool:
        """Whether a tape was too short; then that is not so any more."""
        full = bool(self.read()[FULL])
        if full:
            self.device.fill(self.words.address + 8 * FULL, 0, 2, self.stream)
        return full

    def ends(self, tapes: Sequence[TapeUse]) -> None:
        """How much is used of the tapes after a launch."""
        words = self.read() if any(t.elements is None for t in tapes) else None
        for t in tapes:
            tape = self.tapes[t.tape]
            if t.elements is None:
                assert words is not None
                tape.used = int(words[t.word])
            else:
                count = self.integer(t.elements)
                tape.used += count if t.saves else -count

    def start(
        self, step: Launch, total: int, changed: Mapping[str, Buffer], stack: contextlib.ExitStack
    ) -> None:
        """Launch a kernel, and the one that completes it."""
        kernel = step.kernel
        wide = step.rows is not None and self.integer(step.rows[1]) >= WARP
        if wide and step.rows is not None:
            kernel = step.rows[0]
        function, resident = self.kernels[kernel.name]
        blocks, threads = self.shape(step, total * (WARP if wide else 1), resident)
        parts: dict[str, int] = {}
        for a in (*kernel.arguments, *(step.final.arguments if step.final else ())):
            if a.role == "part" and a.name not in parts:
                parts[a.name] = self.borrowed(PARTS * 8, stack)
        sizes = {
            a.name: self.bytes_of(Type(a.size, a.kind)) for a in kernel.arguments
            if a.role == "scratch"
        }  # fmt: skip
        while blocks > 1 and blocks * threads * sum(sizes.values()) > SCRATCH:
            blocks //= 2
        while step.final is None and threads > 1 and threads * sum(sizes.values()) > SCRATCH:
            threads //= 2
        shared = {n: self.borrowed(size * blocks * threads, stack) for n, size in sizes.items()}
        if total:
            args = [self.value(a, changed, parts, shared, blocks) for a in kernel.arguments]
            self.device.launch(function, blocks, threads, args, self.stream)
        if step.final is not None:
            number = blocks if total else 0
            args = [self.value(a, changed, parts, shared, number) for a in step.final.arguments]
            function, _ = self.kernels[step.final.name]
            self.device.launch(function, 1, THREADS, args, self.stream)

    def shape(self, step: Launch, total: int, resident: int) -> tuple[int, int]:
        """Blocks and threads of a kernel."""
        if step.space is None:
            return 1, 1
        if step.final is not None:
            return min(PARTS, -(-total // THREADS)), THREADS
        threads = THREADS if total >= THREADS * resident else FEW
        return max(1, min(-(-total // threads), WAVES * resident * (THREADS // threads))), threads

    def borrowed(self, size: int, stack: contextlib.ExitStack) -> int:
        buffer = self.new(size)
        stack.callback(self.free, buffer)
        return buffer.address

    def value(
        self,
        a: Argument,
        changed: Mapping[str, Buffer],
        parts: Mapping[str, int],
        shared: Mapping[str, int],
        blocks: int,
    ) -> Any:
        """An argument of a kernel, as the driver takes it."""
        match a.role:
            case "array":
                return ctypes.c_uint64(self.env[a.name].address)
            case "changed":
                found = changed[a.name] if a.name in changed else self.env[a.name]
                return ctypes.c_uint64(found.address)
            case "integer":
                return ctypes.c_int64(self.env[a.name])
            case "real":
                number = ctypes.c_float if self.single else ctypes.c_double
                return number(self.env[a.name])
            case "words":
                return ctypes.c_uint64(self.words.address)
            case "scratch":
                return ctypes.c_uint64(shared[a.name])
            case "room":
                size = 1
                for n in a.size:
                    size *= max(0, self.integer(n))
                return ctypes.c_int64(size)
            case "tape":
                return ctypes.c_uint64(self.tapes[a.name].buffer.address)
            case "end":
                return ctypes.c_int64(self.tapes[a.name].used)
            case "capacity":
                return ctypes.c_int64(self.tapes[a.name].room)
            case "part":
                return ctypes.c_uint64(parts[a.name])
            case "parts":
                return ctypes.c_int64(blocks)
        raise AssertionError(a.role)


__all__ = ["Buffer", "CheckError", "Run"]
