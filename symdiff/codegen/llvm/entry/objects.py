"""Python's objects in LLVM IR: what the builtins take out of arguments, and give back.

A builtin has a table of addresses, of Python's functions and objects, and a record with what
it serves. What it does not serve goes on at the block `refuse`, which returns NotImplemented; after
an error that Python knows of, at `failed`, which drops what has been made.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.codegen.llvm.array_loop import EXACT, loads
from symdiff.codegen.llvm.assembly import Function

ARRAY = {"data": 16, "nd": 24, "dims": 32, "strides": 40, "descr": 56, "flags": 64}
"""Where an array keeps its fields (NumPy's `PyArrayObject_fields`)."""


class Builtin(Function):
    """The text of a builtin `(ptr self, ptr args, i64 nargs)`.

    Parameters
    ----------
    table, api : the global with the addresses, and the names of these.
    record : the fields of what the capsule behind the builtin points to.
    layout : where a Python float keeps its type and its value.

    Attributes
    ----------
    made, is_error : variables: how many results there are in `news`, and whether an error is set.
    """

    def __init__(
        self, table: str, api: Sequence[str], record: Sequence[str], layout: tuple[int, int]
    ) -> None:
        super().__init__()
        self.type_offset, self.value_offset = layout
        self.table, self.api = table, api
        self.do(
            loads(f"@{table}", api, "ptr"),
            "%record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)",
            loads("%record", record, "i64"),
        )
        self.wide = self.variable("i32", "0")
        self.made, self.is_error = self.variable("i64", "0"), self.variable("i1", "false")
        self.news = ""

    # ----------------------------------------------------------------- arguments
    def type_of(self, argument: str) -> str:
        return self.field(argument, self.type_offset, "ptr")

    def array(self, argument: str, field: str, of: str = "ptr") -> str:
        """A field of an array."""
        return self.field(argument, ARRAY[field], of)

    def integer(self, argument: str, place: str, kind: str) -> str:
        """Take an integer; what is none, or has more than 64 bits, is refused."""
        self.leave_unless(self.compare("eq", kind, "%int", "ptr"), "refuse")
        call = f"call i64 %PyLong_AsLongLongAndOverflow(ptr {argument}, ptr {self.wide})"
        found = self.emit(call)
        self.leave_unless(self.compare("eq", self.read("i32", self.wide), "0", "i32"), "refuse")
        if place:
            self.write("i64", found, place)
        return found

    def real(
        self, argument: str, place: str, kind: str, integers: str, doubles: str = "true"
    ) -> None:
        """Put a number into a place as a double: a float, one of NumPy's where `doubles`, or an
        integer that is exact where `integers`; what is none of these is refused."""
        done = self.name("done")
        numpy = self.both(self.compare("eq", kind, "%numpy.float64", "ptr"), doubles)
        with self.when(self.either(self.compare("eq", kind, "%float", "ptr"), numpy)):
            self.write("double", self.field(argument, self.value_offset, "double"), place)
            self.go(done)
        self.leave_unless(integers, "refuse")
        found = self.integer(argument, "", kind)
        exact = self.compare("ule", self.whole("add", found, str(EXACT)), str(2 * EXACT))
        self.leave_unless(exact, "refuse")
        self.write("double", self.emit(f"sitofp i64 {found} to double"), place)
        self.label(done)

    # ------------------------------------------------------------------- results
    def new(self, which: str, descr: str, rank: str, dims: str) -> str:
        """A new array as one of the results."""
        self.do(f"call void %Py_IncRef(ptr {descr})")
        made = self.emit(
            f"call ptr %PyArray_NewFromDescr(ptr %ndarray, ptr {descr}, i32 {rank}, ptr {dims}, "
            "ptr null, ptr null, i32 0, ptr null)"
        )
        self.leave_if(self.compare("eq", made, "null", "ptr"), "failed")
        self.store(made, self.news, which, "ptr")
        return made

    def hand_out(self, count: str, lost: str) -> None:
        """Return the result, or a tuple of the results; go on with a block if there is none."""
        with self.when(self.compare("eq", count, "1")):
            self.give(f"ptr {self.read('ptr', self.news)}")
        made = self.emit(f"call ptr %PyTuple_New(i64 {count})")
        self.leave_if(self.compare("eq", made, "null", "ptr"), lost)
        with self.loop("0", count) as k:
            one = self.load(self.news, k, "ptr")
            self.emit(f"call i32 %PyTuple_SetItem(ptr {made}, i64 {k}, ptr {one})")
        self.give(f"ptr {made}")

    def drop(self) -> None:
        """Drop the results that there are; return null after an error, or refuse."""
        with self.loop("0", self.read("i64", self.made)) as k:
            one = self.load(self.news, k, "ptr")
            with self.when(self.compare("ne", one, "null", "ptr")):
                self.do(f"call void %Py_DecRef(ptr {one})")
        with self.when(self.read("i1", self.is_error)):
            self.give("ptr null")
        self.label("refuse")
        self.do("call void %Py_IncRef(ptr %NotImplemented)")

    def text(self, name: str) -> str:
        """The global with the addresses, and the builtin, after `drop`."""
        head = f"ptr @{name}(ptr %self, ptr %args, i64 %nargs) #0"
        table = f"@{self.table} = global [{len(self.api)} x ptr] zeroinitializer\n"
        return table + self.function(head, "ret ptr %NotImplemented", how="") + "\n"


__all__ = ["ARRAY", "Builtin"]
