"""Functions in LLVM IR with loops and branches: blocks, labels and names are counted here.

Before:  with f.loop("0", "%n") as k:
             f.store("0.0", "%a", k, "double")
After:   a block that tests the index, a block that stores, and a block that goes on
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

SIZES = {"i8": 1, "i32": 4, "float": 4}
"""Bytes of the types that do not have 8."""


class Function:
    """The instructions of one function, in their order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.block = "start"
        self.is_open = True

    def name(self, stem: str) -> str:
        """A new name of a block."""
        self.count += 1
        return f"{stem}{self.count}"

    def fresh(self, stem: str = "v") -> str:
        """A new name of a value."""
        return f"%{self.name(stem)}"

    def emit(self, text: str) -> str:
        """An instruction; its result."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, *texts: str) -> None:
        """Instructions without results, or that name their results."""
        self.lines += [f"  {text}" for text in texts]

    # ------------------------------------------------------------------- control
    def label(self, name: str) -> None:
        """The beginning of a block, which the one before goes on to unless it has left."""
        if self.is_open:
            self.lines.append(f"  br label %{name}")
        self.lines.append(f"{name}:")
        self.block, self.is_open = name, True

    def go(self, name: str) -> None:
        """Go on with another block."""
        self.do(f"br label %{name}")
        self.is_open = False

    def give(self, value: str) -> None:
        """Return a value with its type, or `void`."""
        self.do(f"ret {value}")
        self.is_open = False

    def fork(self, condition: str, yes: str, no: str) -> None:
        """Go on with one of two blocks."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")
        self.is_open = False

    @contextmanager
    def loop(self, first: str, past: str, down: bool = False, step: int | str = 1) -> Iterator[str]:
        """A loop over [first, past), or over it from its end."""
        head, body, back, end = map(self.name, ("head", "body", "back", "end"))
        i, following = self.fresh("i"), self.fresh("n")
        before, start = self.block, past if down else first
        self.label(head)
        self.do(f"{i} = phi i64 [ {start}, %{before} ], [ {following}, %{back} ]")
        more = self.compare("sgt" if down else "slt", i, first if down else past)
        self.fork(more, body, end)
        self.label(body)
        yield self.whole("sub", i, "1") if down else i
        self.label(back)
        self.do(f"{following} = {'sub' if down else 'add nsw'} i64 {i}, {step}")
        self.go(head)
        self.label(end)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is done only if a condition holds."""
        yes, end = self.name("yes"), self.name("end")
        self.fork(condition, yes, end)
        self.label(yes)
        yield
        self.label(end)

    def leave_if(self, condition: str, where: str = "leave") -> None:
        """Go on with another block if a condition holds."""
        on = self.name("on")
        self.fork(condition, where, on)
        self.label(on)

    def leave_unless(self, condition: str, where: str = "leave") -> None:
        """Go on with another block if a condition does not hold."""
        on = self.name("on")
        self.fork(condition, on, where)
        self.label(on)

    # -------------------------------------------------------------------- values
    def whole(self, op: str, a: str, b: str) -> str:
        """An operation on integers."""
        return self.emit(f"{op} i64 {a}, {b}")

    def both(self, *conditions: str) -> str:
        """Whether all conditions hold."""
        found, *rest = conditions
        for c in rest:
            found = self.emit(f"and i1 {found}, {c}")
        return found

    def either(self, *conditions: str) -> str:
        """Whether a condition holds."""
        found, *rest = conditions
        for c in rest:
            found = self.emit(f"or i1 {found}, {c}")
        return found

    def compare(self, how: str, a: str, b: str, of: str = "i64") -> str:
        """A comparison of integers or addresses."""
        return self.emit(f"icmp {how} {of} {a}, {b}")

    def choose(self, condition: str, a: str, b: str, of: str = "i64") -> str:
        """One of two values."""
        return self.emit(f"select i1 {condition}, {of} {a}, {of} {b}")

    def least(self, a: str, b: str) -> str:
        """The smaller of two integers."""
        return self.emit(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def address(self, of: str, value: str) -> str:
        """An integer as an address, or the other way round."""
        to, text = (
            ("i64", f"ptrtoint ptr {value}") if of == "ptr" else ("ptr", f"inttoptr i64 {value}")
        )
        return self.emit(f"{text} to {to}")

    def place(self, array: str, at: str, of: str) -> str:
        """The address of an element."""
        return self.emit(f"getelementptr {of}, ptr {array}, i64 {at}")

    def load(self, array: str, at: str, of: str) -> str:
        """An element of an array."""
        return self.read(of, self.place(array, at, of))

    def store(self, value: str, array: str, at: str, of: str) -> None:
        """Put a value into an element of an array."""
        self.write(of, value, self.place(array, at, of))

    def field(self, record: str, offset: int | str, of: str) -> str:
        """What stands so many bytes behind an address."""
        return self.read(of, self.place(record, str(offset), "i8"))

    def variable(self, kind: str, value: str) -> str:
        """A place for a value that changes."""
        name = self.emit(f"alloca {kind}, align 8")
        self.write(kind, value, name)
        return name

    def room(self, kind: str, count: str = "1") -> str:
        """Places for some values, which hold nothing yet."""
        return self.emit(f"alloca {kind}, i64 {count}, align 8")

    def fill(self, record: str, names: Sequence[str], values: Mapping[str, str]) -> None:
        """Put values with their types into the fields of a record, each 64 bits; 0 where there
        is none."""
        for k, name in enumerate(names):
            of, value = values.get(name, "i64 0").split()
            self.store(value, record, str(k), of)

    def words(self, record: str, names: Sequence[str]) -> dict[str, str]:
        """The fields of a record, each an integer."""
        return {name: self.load(record, str(k), "i64") for k, name in enumerate(names)}

    def read(self, kind: str, variable: str) -> str:
        """What a place holds."""
        return self.emit(f"load {kind}, ptr {variable}{self.align(kind)}")

    def write(self, kind: str, value: str, variable: str) -> None:
        """Put a value into a place."""
        self.do(f"store {kind} {value}, ptr {variable}{self.align(kind)}")

    def align(self, kind: str) -> str:
        """What is said of the address of a value: vectors lie as their elements do."""
        element = kind.partition(" x ")[2].rstrip(">")
        return f", align {SIZES.get(element, 8)}" if element else ""

    # ------------------------------------------------------------------- functions
    def function(self, head: str, *tail: str, how: str = "internal ") -> str:
        """The text of the function; `tail` are its last instructions."""
        self.do(*tail)
        return "\n".join([f"define {how}{head} {{", "start:", *self.lines, "}"])


class Elements(Function):
    """A function of arrays of real numbers, one by one or in vectors.

    Attributes
    ----------
    real, vector : the types of an element, and of a register full.
    width, item : elements in a register, bytes in an element.
    """

    def __init__(self, real: str, width: int) -> None:
        super().__init__()
        self.real, self.width = real, width
        self.item = 8 if real == "double" else 4
        self.vector = real if width == 1 else f"<{width} x {real}>"

    def place(self, array: str, at: str, of: str = "") -> str:
        return super().place(array, at, self.real)

    def load(self, array: str, at: str, of: str = "") -> str:
        return super().load(array, at, of or self.real)

    def store(self, value: str, array: str, at: str, of: str = "") -> None:
        super().store(value, array, at, of or self.real)

    def at(self, i: str, n: str, j: str) -> str:
        """The place of an element of a matrix with n columns."""
        return self.whole("add", self.whole("mul", i, n), j)

    def real_op(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{op} {self.real} {a}, {b}")

    def compare(self, how: str, a: str, b: str, of: str = "i64") -> str:
        if how[0] == "s" or how in ("eq", "ne"):
            return super().compare(how, a, b, of)
        return self.emit(f"fcmp {how} {self.real} {a}, {b}")

    def spread(self, value: str) -> str:
        """One value in all lanes."""
        if self.width == 1:
            return value
        one = self.emit(f"insertelement {self.vector} poison, {self.real} {value}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.emit(f"shufflevector {self.vector} {one}, {self.vector} poison, {zeros}")


__all__ = ["Elements", "Function"]
