"""LLVM IR of the builtin that a call of a function goes to.

A few builtins serve most calls, one those with Python floats, others those with arrays of one
dtype, and return NotImplemented for others. The dispatch stub asks the one that served last, then the
others, then the forms of calls (`codegen.llvm.entry.binding`), and then the general path. It is a
METH_FASTCALL | METH_KEYWORDS function for CPython. A second builtin asks the entries alone.
"""

from __future__ import annotations

from symdiff.codegen.llvm.array_loop import loads
from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.entry import binding

CALLS = ("PyCapsule_GetPointer", "PyObject_Vectorcall", "PyTuple_Size", "PyTuple_GetItem",
       "PyTuple_GetSlice", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef",
       "NotImplemented", "PyDict_GetItem", "PyObject_GetAttr", "PyObject_CallNoArgs", "PyErr_Clear",
       "True")  # fmt: skip
API = (*CALLS, *(name for name in binding.API if name not in CALLS))
"""The addresses in the global `dispatch.api`, which must be filled before the first call."""

MOST = 8
"""Builtins that a dispatch stub asks."""
MOST_FORMS = 128
"""Forms of calls that it knows."""

RECORD = (*(f"entry{k}" for k in range(MOST)), *(f"pair{k}" for k in range(MOST)),
          *(f"placed{k}" for k in range(MOST)), "entries", "general", "out", "inputs", "captures", "epoch", "forms", "form_count")  # fmt: skip
"""What the capsule behind a dispatch stub points to, each an address or i64.

entry0 ... : the builtins, in the order in which they are asked. entries : how many.
pair0 ... : 1 if the tuple of results is to become its first and the tuple of the others.
placed0 ... : called instead if the only keyword is `out`; it takes that as its last
    argument, after `inputs` others, and the result of the call is that argument.
general : what is called in the end.
out : the name, interned.
captures : what the function was captured with, the header of `symdiff.frontend.captures`; where
    something has changed since, the general path is taken. epoch : that of the builtins.
forms, form_count : address of the addresses of forms, in the order in which they are tried.
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


def print_dispatch(type_offset: int) -> str:
    """A module with the builtins `dispatch(*args, **kwargs)`, and `ask(*args)`, which returns
    NotImplemented if no entry serves the call.

    Their `__self__` is a capsule without a name that points to a record (`RECORD`).
    `type_offset` : where an object keeps its class.
    """
    api = loads("@dispatch.api", CALLS, "ptr")
    places = {name: RECORD.index(name) for name in ("captures", "epoch")}
    text = _TEXT.format(size=len(API), watch_loads=api, **places)
    bind = binding.print_binding("@dispatch.api", API, type_offset)
    return "\n".join([text, bind, _print_served(api), _print_ask(api), _print_front(api)]) + "\n"


def _print_served(api: str) -> str:
    """What the entries return for arguments by position."""
    f = Function()
    f.do(api)
    counted = f.place("%record", str(RECORD.index("entries")), "i64")
    with f.loop("0", f.read("i64", counted)) as k:
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
    _give_none(f)
    f.label("drop.rest")
    f.do(f"call void %Py_DecRef(ptr {rest})")
    f.label("error")
    f.do(f"call void %Py_DecRef(ptr {result})")
    return f.function("ptr @served(ptr %record, ptr %args, i64 %nargs)", "ret ptr null")


def _print_ask(api: str) -> str:
    """The builtin that asks the entries alone."""
    f = Function()
    f.do(api, "%record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)")
    f.leave_unless(f.emit("call i1 @unchanged(ptr %record)"), "refuse")
    f.give(f"ptr {f.emit(f'call ptr {_SERVED}')}")
    f.label("refuse")
    _give_none(f)
    return "\n".join(
        ["define ptr @ask(ptr %self, ptr %args, i64 %nargs) {", "start:", *f.lines, "}"]
    )


def _print_front(api: str) -> str:
    """The builtin in front of everything."""
    f = Function()
    f.do(api, "%record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)")
    f.leave_unless(f.emit("call i1 @unchanged(ptr %record)"), "otherwise")
    by_name = f.compare("ne", "%names", "null", "ptr")
    with f.when(by_name):
        _place(f, f.load("%record", str(RECORD.index("entries")), "i64"))
    f.leave_if(by_name, "forms")
    _give_if_served(f, f.emit(f"call ptr {_SERVED}"))
    f.label("forms")
    forms = f.load("%record", str(RECORD.index("forms")), "ptr")
    counted = f.place("%record", str(RECORD.index("form_count")), "i64")
    with f.loop("0", f.read("i64", counted)) as k:
        form = f.place(forms, k, "ptr")
        given = f"ptr {f.read('ptr', form)}, ptr %args, i64 %nargs, ptr %names"
        result = f.emit(f"call ptr @bind({given})")
        is_known = f.compare("ult", k, f.read("i64", counted))
        served = f.compare("ne", result, "%NotImplemented", "ptr")
        with f.when(f.both(served, f.compare("ne", k, "0"), is_known)):
            _exchange(f, "ptr", forms, form)
        _give_if_served(f, result)
    f.go("otherwise")
    f.label("fail")
    f.give("ptr null")
    f.label("otherwise")
    general = f.load("%record", str(RECORD.index("general")), "ptr")
    other = _called(f, general, "%nargs", "%names")
    head = "ptr @dispatch(ptr %self, ptr %args, i64 %nargs, ptr %names)"
    return f.function(head, f"ret ptr {other}", how="")


_SERVED = "@served(ptr %record, ptr %args, i64 %nargs)"


def _give_if_served(f: Function, result: str) -> None:
    """Return a result that is not NotImplemented."""
    with f.when(f.compare("ne", result, "%NotImplemented", "ptr")):
        f.give(f"ptr {result}")
    f.do(f"call void %Py_DecRef(ptr {result})")


def _give_none(f: Function) -> None:
    """Return NotImplemented."""
    f.do("call void %Py_IncRef(ptr %NotImplemented)")
    f.give("ptr %NotImplemented")


def _called(f: Function, function: str, count: str, names: str = "null") -> str:
    """The result of a call with so many of the arguments."""
    given = f"ptr {function}, ptr %args, i64 {count}, ptr {names}"
    return f.emit(f"call ptr %PyObject_Vectorcall({given})")


def _place(f: Function, entries: str) -> None:
    """Serve a call whose only keyword is `out`; go on with the forms if that is another one, else with
    the general path."""
    size = f.emit("call i64 %PyTuple_Size(ptr %names)")
    inputs = f.load("%record", str(RECORD.index("inputs")), "i64")
    usual = f.both(f.compare("eq", size, "1"), f.compare("eq", "%nargs", inputs))
    f.leave_unless(usual, "forms")
    name = f.emit("call ptr %PyTuple_GetItem(ptr %names, i64 0)")
    out = f.load("%record", str(RECORD.index("out")), "ptr")
    f.leave_unless(f.compare("eq", name, out, "ptr"), "forms")
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
