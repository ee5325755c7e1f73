"""LLVM IR of the builtin that a call of a function goes to.

A few builtins serve most calls, one those with Python floats, others those with arrays of one
dtype, and return NotImplemented for others. The dispatch stub asks the one that served last, then the
others, and then the general path, which takes keywords as well. It is a
METH_FASTCALL | METH_KEYWORDS function for CPython.
"""

from __future__ import annotations

from symdiff.codegen.llvm.array_loop import loads
from symdiff.codegen.llvm.assembly import Function

API = ("PyCapsule_GetPointer", "PyObject_Vectorcall", "PyTuple_Size", "PyTuple_GetItem",
       "PyTuple_GetSlice", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef",
       "NotImplemented", "PyDict_GetItem", "PyObject_GetAttr", "PyObject_CallNoArgs", "PyErr_Clear",
       "True")  # fmt: skip
"""The addresses in the global `dispatch.api`, which must be filled before the first call."""

MOST = 8
"""Builtins that a dispatch stub asks."""

RECORD = (*(f"entry{k}" for k in range(MOST)), *(f"pair{k}" for k in range(MOST)),
          *(f"placed{k}" for k in range(MOST)), "entries", "general", "out", "inputs", "captures", "epoch")  # fmt: skip
"""What the capsule behind a dispatch stub points to, each an address or i64.

entry0 ... : the builtins, in the order in which they are asked. entries : how many.
pair0 ... : 1 if the tuple of results is to become its first and the tuple of the others.
placed0 ... : called instead if the only keyword is `out`; it takes that as its last
    argument, after `inputs` others, and the result of the call is that argument.
general : what is called in the end.
out : the name, interned.
captures : what the function was captured with, the header of `symdiff.frontend.captures`; where
    something has changed since, the general path is taken. epoch : that of the builtins.
"""

_TEXT = """
@dispatch.api = global [{size} x ptr] zeroinitializer
declare i32 @memcmp(ptr, ptr, i64)
define internal i1 @unchanged(ptr %record) {{
entry:
  {watch_loads}
  %header.p = getelementptr ptr, ptr %record, i64 {captures}
  %header = load ptr, ptr %header.p
  %epoch.p = getelementptr i64, ptr %record, i64 {epoch}
  %epoch = load i64, ptr %epoch.p
  %now.p = getelementptr i64, ptr %header, i64 2
  %now = load i64, ptr %now.p
  %current = icmp eq i64 %now, %epoch
  br i1 %current, label %open, label %no
open:
  %rows = load ptr, ptr %header
  %count.p = getelementptr i64, ptr %header, i64 1
  %count = load i64, ptr %count.p
  br label %next
next:
  %k = phi i64 [ 0, %open ], [ %k1, %same ], [ %k.after, %skip ], [ %k1, %renew ]
  %done = icmp uge i64 %k, %count
  br i1 %done, label %yes, label %look
look:
  %k1 = add i64 %k, 1
  %row.o = shl i64 %k, 2
  %row = getelementptr i64, ptr %rows, i64 %row.o
  %b.p = getelementptr i64, ptr %row, i64 2
  %c.p = getelementptr i64, ptr %row, i64 3
  %a.p = getelementptr i64, ptr %row, i64 1
  %kind = load i64, ptr %row
  %a = load ptr, ptr %a.p
  %b = load i64, ptr %b.p
  %c = load i64, ptr %c.p
  %b.ptr = inttoptr i64 %b to ptr
  %c.ptr = inttoptr i64 %c to ptr
  switch i64 %kind, label %call [
    i64 1, label %word i64 2, label %item i64 3, label %bytes i64 4, label %attribute
    i64 6, label %version ]
word:
  %w = load i64, ptr %a
  %w.same = icmp eq i64 %w, %b
  br i1 %w.same, label %same, label %no
item:
  %found = call ptr %PyDict_GetItem(ptr %a, ptr %b.ptr)
  %i.same = icmp eq ptr %found, %c.ptr
  br i1 %i.same, label %same, label %no
bytes:
  %live = load ptr, ptr %a
  %differ = call i32 @memcmp(ptr %live, ptr %b.ptr, i64 %c)
  %m.same = icmp eq i32 %differ, 0
  br i1 %m.same, label %same, label %no
attribute:
  %value = call ptr %PyObject_GetAttr(ptr %a, ptr %b.ptr)
  %gone = icmp eq ptr %value, null
  br i1 %gone, label %clear, label %has
has:
  call void %Py_DecRef(ptr %value)
  %v.same = icmp eq ptr %value, %c.ptr
  br i1 %v.same, label %same, label %no
version:
  %tag = load i64, ptr %a
  %t.same = icmp eq i64 %tag, %b
  br i1 %t.same, label %skip, label %renew
skip:
  %k.after = add i64 %k1, %c
  br label %next
renew:
  store i64 %tag, ptr %b.p
  br label %next
call:
  %answer = call ptr %PyObject_CallNoArgs(ptr %a)
  %failed = icmp eq ptr %answer, null
  br i1 %failed, label %clear, label %said
said:
  call void %Py_DecRef(ptr %answer)
  %is.true = icmp eq ptr %answer, %True
  br i1 %is.true, label %same, label %no
same:
  br label %next
clear:
  call void %PyErr_Clear()
  br label %no
no:
  ret i1 false
yes:
  ret i1 true
}}
"""


def print_dispatch() -> str:
    """A module with the builtin `dispatch(*args, **kwargs)`.

    Its `__self__` is a capsule without a name that points to a record (`RECORD`).
    """
    api = loads("@dispatch.api", API, "ptr")
    places = {name: RECORD.index(name) for name in ("captures", "epoch")}
    f = Function()
    f.do(api, "%record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)")
    counted = f.place("%record", str(RECORD.index("entries")), "i64")
    entries = f.read("i64", counted)
    f.leave_unless(f.emit("call i1 @unchanged(ptr %record)"), "otherwise")
    with f.when(f.compare("ne", "%names", "null", "ptr")):
        _place(f, entries)
    with f.loop("0", entries) as k:
        entry = f.place("%record", k, "ptr")
        pair = f.place(entry, str(MOST), "i64")
        is_pair, result = f.read("i64", pair), _called(f, f.read("ptr", entry), "%nargs")
        with f.when(f.compare("ne", result, "%NotImplemented", "ptr")):
            is_known = f.compare("ult", k, f.read("i64", counted))
            with f.when(f.both(f.compare("ne", k, "0"), is_known)):
                _exchange(f, "ptr", "%record", entry)
                _exchange(f, "i64", f.place("%record", str(MOST), "i64"), pair)
            failed = f.compare("eq", result, "null", "ptr")
            with f.when(f.either(failed, f.compare("eq", is_pair, "0"))):
                f.give(f"ptr {result}")
            rest = _split(f, result)
        f.do(f"call void %Py_DecRef(ptr {result})")
    f.go("otherwise")
    f.label("drop.rest")
    f.do(f"call void %Py_DecRef(ptr {rest})")
    f.label("error")
    f.do(f"call void %Py_DecRef(ptr {result})")
    f.label("fail")
    f.give("ptr null")
    f.label("otherwise")
    general = f.load("%record", str(RECORD.index("general")), "ptr")
    other = _called(f, general, "%nargs", "%names")
    head = "ptr @dispatch(ptr %self, ptr %args, i64 %nargs, ptr %names)"
    text = _TEXT.format(size=len(API), watch_loads=api, **places)
    return text + f.function(head, f"ret ptr {other}", how="") + "\n"


def _called(f: Function, function: str, count: str, names: str = "null") -> str:
    """The result of a call with so many of the arguments."""
    given = f"ptr {function}, ptr %args, i64 {count}, ptr {names}"
    return f.emit(f"call ptr %PyObject_Vectorcall({given})")


def _place(f: Function, entries: str) -> None:
    """Serve a call whose only keyword is `out`, or go on with the general path."""
    size = f.emit("call i64 %PyTuple_Size(ptr %names)")
    inputs = f.load("%record", str(RECORD.index("inputs")), "i64")
    usual = f.both(f.compare("eq", size, "1"), f.compare("eq", "%nargs", inputs))
    f.leave_unless(usual, "otherwise")
    name = f.emit("call ptr %PyTuple_GetItem(ptr %names, i64 0)")
    out = f.load("%record", str(RECORD.index("out")), "ptr")
    f.leave_unless(f.compare("eq", name, out, "ptr"), "otherwise")
    every = f.whole("add", "%nargs", "1")
    with f.loop("0", entries) as j:
        placed = f.load("%record", f.whole("add", j, str(2 * MOST)), "ptr")
        done = _called(f, placed, every)
        f.leave_if(f.compare("eq", done, "null", "ptr"), "fail")
        served = f.compare("ne", done, "%NotImplemented", "ptr")
        f.do(f"call void %Py_DecRef(ptr {done})")
        with f.when(served):
            given = f.load("%args", "%nargs", "ptr")
            f.do(f"call void %Py_IncRef(ptr {given})")
            f.give(f"ptr {given}")
    f.go("otherwise")


def _exchange(f: Function, kind: str, one: str, other: str) -> None:
    """Exchange what two places hold."""
    a, b = f.read(kind, one), f.read(kind, other)
    f.write(kind, b, one)
    f.write(kind, a, other)


def _split(f: Function, result: str) -> str:
    """Return a tuple as its first and the tuple of the others, which is given back as well."""
    count = f.emit(f"call i64 %PyTuple_Size(ptr {result})")
    rest = f.emit(f"call ptr %PyTuple_GetSlice(ptr {result}, i64 1, i64 {count})")
    f.leave_if(f.compare("eq", rest, "null", "ptr"), "error")
    whole = f.emit("call ptr %PyTuple_New(i64 2)")
    f.leave_if(f.compare("eq", whole, "null", "ptr"), "drop.rest")
    lead = f.emit(f"call ptr %PyTuple_GetItem(ptr {result}, i64 0)")
    f.do(f"call void %Py_IncRef(ptr {lead})")
    for k, part in enumerate((lead, rest)):
        f.emit(f"call i32 %PyTuple_SetItem(ptr {whole}, i64 {k}, ptr {part})")
    f.do(f"call void %Py_DecRef(ptr {result})")
    f.give(f"ptr {whole}")
    return rest
