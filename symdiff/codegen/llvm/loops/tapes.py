"""Tapes in LLVM IR: values that a loop saves and its reverse restores.

A tape is a buffer that grows. A loop that is counted reserves its part of it before it
starts, and its iterations use that part like an array; other loops push and pop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symdiff.codegen.llvm.loops.memory import NO_MEMORY, Memory
from symdiff.codegen.llvm.loops.scoped import Stored
from symdiff.ir.loop_program import Loop, Restore, Save, name_of


@dataclass(slots=True)
class Tape:
    """A tape: the name of its record, and of the array it is in a counted loop.

    Attributes
    ----------
    record : address of (data, bytes used, bytes there are).
    size : bytes of one value.
    base, total : address and bytes of the values of the loop, if it is counted.
    """

    record: str
    size: str
    base: str | None = None
    total: str = "0"


class Tapes(Memory):
    """Prints what is done with tapes."""

    tapes: dict[str, str]

    def tape(self, name: str) -> str:
        """The record of a tape."""
        if name not in self.tapes:
            record = self.fresh("ptr")
            entry = self.root.entry
            assert entry is not None
            entry.append(f"{record} = alloca [3 x i64], align 8")
            entry.append(f"store [3 x i64] zeroinitializer, ptr {record}")
            entry.append(f"call void @unpark(ptr @tape.{len(self.tapes)}, ptr {record})")
            self.tapes[name] = record
        return self.tapes[name]

    def used(self, tape: Tape) -> tuple[str, str]:
        """How many bytes of a tape are used, and where that stands."""
        place = self.emit("ptr", f"getelementptr i64, ptr {tape.record}, i64 1")
        return self.emit("i64", f"load i64, ptr {place}"), place

    def reserve(self, tape: Tape, size: str) -> None:
        """Make room on a tape."""
        call = f"call i1 @reserve(ptr {tape.record}, i64 {size})"
        self.require(f"icmp eq i1 {self.emit('i1', call)}, true", NO_MEMORY)

    def top(self, tape: Tape) -> str:
        """The address of the end of a tape."""
        used, _ = self.used(tape)
        data = self.emit("ptr", f"load ptr, ptr {tape.record}")
        return self.emit("ptr", f"getelementptr i8, ptr {data}, i64 {used}")

    def move(self, tape: Tape, size: str, sign: str) -> None:
        """Say that a tape is longer ("add") or shorter ("sub")."""
        used, place = self.used(tape)
        now = self.emit("i64", f"{sign} i64 {used}, {size}")
        self.scope.lines.append(f"store i64 {now}, ptr {place}")

    def open_tapes(self, s: Loop, count: str | None) -> dict[str, Tape]:
        """The tapes of a loop; in a counted loop they are made as long as they get."""
        found: dict[str, Tape] = {}
        every: tuple[Save | Restore, ...] = (*s.saves, *s.restores)
        for v in every:
            if (
                isinstance(v, Restore) and v.tape not in self.tapes
            ):  # what is read would be any memory
                raise RuntimeError(f"the tape {v.tape} is restored but not saved")
            tape = Tape(self.tape(v.tape), "")
            found[v.tape] = tape
            if not all(self.is_known(n) for n in v.type.shape):
                continue
            tape.size = self.bytes_of(v.type.shape, v.type.kind)
            if count is None:
                continue
            tape.total = self.emit("i64", f"call i64 @bytes(i64 {tape.size}, i64 {count})")
            if isinstance(v, Save):
                self.reserve(tape, tape.total)
            else:
                self.move(tape, tape.total, "sub")
            tape.base = self.top(tape)
        return found

    def close_tapes(self, s: Loop, tapes: Mapping[str, Tape]) -> None:
        for v in s.saves:
            tape = tapes[v.tape]
            if tape.base is not None:
                self.move(tape, tape.total, "add")

    def save(self, v: Save, tape: Tape, order: str) -> None:
        """Put a value on the end of a tape."""
        size = tape.size or self.bytes_of(v.type.shape, v.type.kind)
        if tape.base is None:
            self.reserve(tape, size)
            address = self.top(tape)
            self.move(tape, size, "add")
        else:
            address = self.slice(tape, order)
        if v.type.shape:
            self.copy(address, self.stored(name_of(v.value)))
        else:
            self.store(v.type.kind, self.typed(v.value, v.type.kind), address)

    def restore(self, r: Restore, tape: Tape, order: str, count: str | None) -> None:
        """Take a value off the end of a tape."""
        if tape.base is None:
            self.move(tape, tape.size or self.bytes_of(r.type.shape, r.type.kind), "sub")
            address = self.top(tape)
        else:
            last = self.emit("i64", f"sub i64 {count}, 1")
            address = self.slice(tape, self.emit("i64", f"sub i64 {last}, {order}"))
        if r.type.shape:
            self.scope.names[r.name] = Stored(address, r.type.shape, r.type.kind)
            return
        self.scope.names[r.name] = self.value_at(r.type.kind, address, r.name)

    def slice(self, tape: Tape, which: str) -> str:
        """The address of one of the values of a counted loop."""
        before = self.emit("i64", f"mul nsw i64 {which}, {tape.size}")
        return self.emit("ptr", f"getelementptr i8, ptr {tape.base}, i64 {before}")
