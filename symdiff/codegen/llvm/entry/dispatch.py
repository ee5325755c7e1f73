"""LLVM IR of the builtin that a call of a function goes to.

A few builtins serve most calls, one those with Python floats, others those with arrays of one
dtype, and return NotImplemented for others. The dispatch stub asks the one that served last, then the
others, and then the general path, which takes keywords as well. It is a
METH_FASTCALL | METH_KEYWORDS function for CPython.
"""

from __future__ import annotations

from symdiff.codegen.llvm.array_loop import loads

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
placed0 ... : what is asked instead if the only keyword is `out`; it takes that as its last
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
define ptr @dispatch(ptr %self, ptr %args, i64 %nargs, ptr %names) {{
entry:
  {loads}
  %record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)
  %entries.p = getelementptr i64, ptr %record, i64 {entries}
  %entries = load i64, ptr %entries.p
  %is.fresh = call i1 @unchanged(ptr %record)
  br i1 %is.fresh, label %fresh, label %otherwise
fresh:
  %plain = icmp eq ptr %names, null
  br i1 %plain, label %ask, label %named
named:
  %names.size = call i64 %PyTuple_Size(ptr %names)
  %one = icmp eq i64 %names.size, 1
  %inputs.p = getelementptr i64, ptr %record, i64 {inputs}
  %inputs = load i64, ptr %inputs.p
  %usual = icmp eq i64 %nargs, %inputs
  %single = and i1 %one, %usual
  br i1 %single, label %which, label %otherwise
which:
  %name = call ptr %PyTuple_GetItem(ptr %names, i64 0)
  %out.p = getelementptr ptr, ptr %record, i64 {out}
  %out = load ptr, ptr %out.p
  %is.out = icmp eq ptr %name, %out
  br i1 %is.out, label %place, label %otherwise
place:
  %j = phi i64 [ 0, %which ], [ %j1, %drop.done ]
  %no.place = icmp eq i64 %j, %entries
  br i1 %no.place, label %otherwise, label %write
write:
  %placed.at = add i64 %j, {placed}
  %placed.p = getelementptr ptr, ptr %record, i64 %placed.at
  %placed = load ptr, ptr %placed.p
  %all = add i64 %nargs, 1
  %done = call ptr %PyObject_Vectorcall(ptr %placed, ptr %args, i64 %all, ptr null)
  %unknown = icmp eq ptr %done, %NotImplemented
  %wrong = icmp eq ptr %done, null
  br i1 %wrong, label %fail, label %drop.done
drop.done:
  call void %Py_DecRef(ptr %done)
  %j1 = add i64 %j, 1
  br i1 %unknown, label %place, label %give
fail:
  ret ptr null
give:
  %given.p = getelementptr ptr, ptr %args, i64 %nargs
  %given = load ptr, ptr %given.p
  call void %Py_IncRef(ptr %given)
  ret ptr %given
ask:
  %k = phi i64 [ 0, %fresh ], [ %k1, %drop ]
  %none = icmp eq i64 %k, %entries
  br i1 %none, label %otherwise, label %try
try:
  %entry.p = getelementptr ptr, ptr %record, i64 %k
  %asked = load ptr, ptr %entry.p
  %pair.p = getelementptr i64, ptr %entry.p, i64 {most}
  %pair = load i64, ptr %pair.p
  %result = call ptr %PyObject_Vectorcall(ptr %asked, ptr %args, i64 %nargs, ptr null)
  %refused = icmp eq ptr %result, %NotImplemented
  br i1 %refused, label %drop, label %served
drop:
  call void %Py_DecRef(ptr %result)
  %k1 = add i64 %k, 1
  br label %ask
served:
  %was.first = icmp eq i64 %k, 0
  %entries.now = load i64, ptr %entries.p
  %forgotten = icmp uge i64 %k, %entries.now
  %stays = or i1 %was.first, %forgotten
  br i1 %stays, label %shape, label %swap
swap:
  %pair0.p = getelementptr i64, ptr %record, i64 {most}
  %a = load ptr, ptr %record
  %b = load ptr, ptr %entry.p
  store ptr %b, ptr %record
  store ptr %a, ptr %entry.p
  %c = load i64, ptr %pair0.p
  %d = load i64, ptr %pair.p
  store i64 %d, ptr %pair0.p
  store i64 %c, ptr %pair.p
  br label %shape
shape:
  %failed = icmp eq ptr %result, null
  %bare = icmp eq i64 %pair, 0
  %as.it.is = or i1 %failed, %bare
  br i1 %as.it.is, label %return, label %split
return:
  ret ptr %result
split:
  %count = call i64 %PyTuple_Size(ptr %result)
  %rest = call ptr %PyTuple_GetSlice(ptr %result, i64 1, i64 %count)
  %no.rest = icmp eq ptr %rest, null
  br i1 %no.rest, label %error, label %around
around:
  %whole = call ptr %PyTuple_New(i64 2)
  %no.whole = icmp eq ptr %whole, null
  br i1 %no.whole, label %drop.rest, label %fill
fill:
  %lead = call ptr %PyTuple_GetItem(ptr %result, i64 0)
  call void %Py_IncRef(ptr %lead)
  %status.1 = call i32 %PyTuple_SetItem(ptr %whole, i64 0, ptr %lead)
  %status.2 = call i32 %PyTuple_SetItem(ptr %whole, i64 1, ptr %rest)
  call void %Py_DecRef(ptr %result)
  ret ptr %whole
drop.rest:
  call void %Py_DecRef(ptr %rest)
  br label %error
error:
  call void %Py_DecRef(ptr %result)
  ret ptr null
otherwise:
  %general.p = getelementptr ptr, ptr %record, i64 {general}
  %general = load ptr, ptr %general.p
  %other = call ptr %PyObject_Vectorcall(ptr %general, ptr %args, i64 %nargs, ptr %names)
  ret ptr %other
}}
"""


def print_dispatch() -> str:
    """A module with the builtin `dispatch(*args, **kwargs)`.

    Its `__self__` is a capsule without a name that points to a record (`RECORD`).
    """
    fields = ("entries", "general", "out", "inputs", "captures", "epoch")
    places = {name: RECORD.index(name) for name in fields}
    watched = loads("@dispatch.api", API, "ptr")
    return _TEXT.format(
        size=len(API),
        loads=loads("@dispatch.api", API, "ptr"),
        watch_loads=watched,
        most=MOST,
        placed=2 * MOST,
        **places,
    )
