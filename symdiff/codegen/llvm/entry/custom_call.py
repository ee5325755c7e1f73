"""LLVM IR of a handler of XLA's custom calls, which calls a kernel without any Python.

XLA hands over a frame with the buffers of arguments and results. The handler copies a prepared record of
the kernel's, puts their addresses and values in, and calls the kernel. Where that does not end well,
for whatever reason, it calls a function of Python instead, which computes everything anew.

Source: the C interface of XLA's custom calls, `xla/ffi/api/c_api.h`, versions 0.0 to 0.3, whose structures
grow at their ends only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from symdiff.codegen.llvm.array_loop import loads
from symdiff.codegen.llvm.assembly import Function

PLAN = ("callback", "kernel", "words", "each", "template", "args", "taken", "rets", "given",
        "moves", "moved", "counts", "counted", "watched", "most")  # fmt: skip
"""What the global `plan` points to, each an i64 or an address.

callback : address of `ptr callback(ptr frame)`, which computes everything and returns an error or null.
kernel : address of `i32 kernel(ptr record)`, which returns 0 if all went well; or 0: there is none.
template, words : what the record begins as, and how many i64 it has.
each : 1 if a byte behind the record is for each element of the first result: all must be zero in the end.
args, taken : arguments, and a pair for each: where it stands in the record, and how (`ADDRESS`, ...).
rets, given : results, and the same for each.
moves, moved : entries that point into the record, and a pair for each: the entry, and what it points to.
counts, counted : entries that are the number of elements of the first result.
watched : the entry that must be zero in the end.
most : elements of the first result from which the callback does better, as it uses threads.
"""

ADDRESS, DOUBLE, SINGLE = 0, 1, 2
"""How an argument or a result stands in the record: as an address; or as a double, of a double or of
a single in the buffer."""

_EXECUTE, _METADATA = 3, 1
"""The stage in which to compute, and the extension of a frame that asks for the interface's version."""

_FRAME = {"extension": 8, "api": 16, "stage": 32, "inputs": 72, "outputs": 112}
_EXTENSION = {"kind": 8, "next": 16, "about": 24}
_BUFFER = {"data": 24, "rank": 32, "sizes": 40}
"""Where XLA's structures keep their fields, in bytes."""


def print_handler() -> str:
    """The text of `ptr handler(ptr frame)` and of the global `plan`."""
    f = Function()
    f.do("%record = load ptr, ptr @plan", loads("%record", PLAN, "i64"))
    _answer(f)
    now = f.compare("eq", f.field("%frame", _FRAME["stage"], "i32"), str(_EXECUTE), "i32")
    f.leave_unless(now, "nothing")
    inputs, outputs = (f.field("%frame", _FRAME[n], "ptr") for n in ("inputs", "outputs"))
    elements = _elements(f, f.read("ptr", outputs))
    has_none = f.compare("eq", "%kernel", "0"), f.compare("eq", elements, "0")
    f.leave_if(f.either(*has_none, f.compare("uge", elements, "%most")), "python")
    own, behind = f.whole("mul", "%words", "8"), f.whole("mul", "%each", elements)
    f.do(f"%memory = call ptr @malloc(i64 {f.whole('add', own, behind)})")
    f.leave_if(f.compare("eq", "%memory", "null", "ptr"), "python")
    template = f.address("i64", "%template")
    f.do(f"call void @llvm.memcpy.p0.p0.i64(ptr %memory, ptr {template}, i64 {own}, i1 false)")
    with _pairs(f, "%args", "%taken") as (k, entry, how):
        data = _data(f, inputs, k)
        f.write("ptr", data, entry)
        _converted(f, how, data, entry, take=True)
    with (
        _pairs(f, "%rets", "%given") as (k, entry, how),
        f.when(f.compare("eq", how, str(ADDRESS))),
    ):
        f.write("ptr", _data(f, outputs, k), entry)
    with _pairs(f, "%moves", "%moved") as (k, entry, what):
        f.write("ptr", f.place("%memory", what, "i64"), entry)
    counted = f.address("i64", "%counted")
    with f.loop("0", "%counts") as k:
        f.store(elements, "%memory", f.load(counted, k, "i64"), "i64")
    status = f.emit(f"call i32 {f.address('i64', '%kernel')}(ptr %memory)")
    clean = f.compare("eq", f.load("%memory", "%watched", "i64"), "0")
    f.leave_unless(f.both(clean, f.compare("eq", status, "0", "i32")), "give.up")
    with f.loop("0", behind) as k:
        flag = f.load("%memory", f.whole("add", own, k), "i8")
        f.leave_unless(f.compare("eq", flag, "0", "i8"), "give.up")
    with _pairs(f, "%rets", "%given") as (k, entry, how):
        _converted(f, how, _data(f, outputs, k), entry, take=False)
    f.do("call void @free(ptr %memory)")
    f.go("nothing")
    f.label("give.up")
    f.do("call void @free(ptr %memory)")
    f.label("python")
    said = f.emit(f"call ptr {f.address('i64', '%callback')}(ptr %frame)")
    f.give(f"ptr {said}")
    f.label("nothing")
    return (
        _DECLARED + f.function("ptr @handler(ptr %frame) #0", "ret ptr null", how="") + _ATTRIBUTES
    )


_DECLARED = """
@plan = global ptr null
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
"""
_ATTRIBUTES = "\nattributes #0 = { nounwind }\n"


def _answer(f: Function) -> None:
    """Return the version of the interface, if a call requests it."""
    extension = f.variable("ptr", f.field("%frame", _FRAME["extension"], "ptr"))
    f.label("extension")
    this = f.read("ptr", extension)
    f.leave_if(f.compare("eq", this, "null", "ptr"), "staged")
    f.write("ptr", f.field(this, _EXTENSION["next"], "ptr"), extension)
    kind = f.field(this, _EXTENSION["kind"], "i32")
    f.leave_unless(f.compare("eq", kind, str(_METADATA), "i32"), "extension")
    about = f.field(this, _EXTENSION["about"], "ptr")
    minor = f.field(f.field("%frame", _FRAME["api"], "ptr"), 36, "i32")
    for offset, value in ((24, "0"), (28, minor), (32, "0")):
        f.write("i32", value, f.place(about, str(offset), "i8"))
    f.go("nothing")
    f.label("staged")


def _elements(f: Function, buffer: str) -> str:
    """How many elements a buffer has."""
    count, sizes = f.variable("i64", "1"), f.field(buffer, _BUFFER["sizes"], "ptr")
    with f.loop("0", f.field(buffer, _BUFFER["rank"], "i64")) as d:
        f.write("i64", f.whole("mul", f.read("i64", count), f.load(sizes, d, "i64")), count)
    return f.read("i64", count)


@contextmanager
def _pairs(f: Function, count: str, table: str) -> Iterator[tuple[str, str, str]]:
    """A loop over the pairs of a table: the first says which entry of the record, the other how
    or what."""
    rows = f.address("i64", table)
    with f.loop("0", count) as k:
        row = f.place(rows, f.whole("shl", k, "1"), "i64")
        entry = f.place("%memory", f.read("i64", row), "i64")
        yield k, entry, f.load(row, "1", "i64")


def _data(f: Function, buffers: str, k: str) -> str:
    """The address of what is in a buffer."""
    return f.field(f.load(buffers, k, "ptr"), _BUFFER["data"], "ptr")


def _converted(f: Function, how: str, data: str, entry: str, take: bool) -> None:
    """Take a number into an entry of the record, or put it out of it."""
    source, target = (data, entry) if take else (entry, data)
    with f.when(f.compare("eq", how, str(DOUBLE))):
        f.write("double", f.read("double", source), target)
    with f.when(f.compare("eq", how, str(SINGLE))):
        if take:
            found = f.emit(f"fpext float {f.read('float', source)} to double")
            f.write("double", found, target)
        else:
            found = f.emit(f"fptrunc double {f.read('double', source)} to float")
            f.write("float", found, target)
