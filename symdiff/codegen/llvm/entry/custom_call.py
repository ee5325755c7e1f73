"""LLVM IR of a handler of XLA's custom calls, which calls a kernel without any Python.

XLA hands over a frame with the buffers of arguments and results. The handler copies a prepared record of
the kernel's, puts their addresses and values in, and calls the kernel. Where that does not end well,
for whatever reason, it calls a function of Python instead, which computes everything anew.

Source: the C interface of XLA's custom calls, `xla/ffi/api/c_api.h`, versions 0.0 to 0.3, whose structures
grow at their ends only.
"""

from __future__ import annotations

from symdiff.codegen.llvm.array_loop import loads

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

_TEXT = """
@plan = global ptr null
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @handler(ptr %frame) #0 {{
entry:
  %record = load ptr, ptr @plan
  {loads}
  %first.extension.p = getelementptr i8, ptr %frame, i64 8
  %first.extension = load ptr, ptr %first.extension.p
  br label %extension
extension:
  %this = phi ptr [ %first.extension, %entry ], [ %following, %another ]
  %no.more = icmp eq ptr %this, null
  br i1 %no.more, label %staged, label %which
which:
  %kind.p = getelementptr i8, ptr %this, i64 8
  %kind = load i32, ptr %kind.p
  %asks = icmp eq i32 %kind, {metadata}
  br i1 %asks, label %answer, label %another
another:
  %following.p = getelementptr i8, ptr %this, i64 16
  %following = load ptr, ptr %following.p
  br label %extension
answer:
  %about.p = getelementptr i8, ptr %this, i64 24
  %about = load ptr, ptr %about.p
  %api.p = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %api.p
  %theirs.p = getelementptr i8, ptr %api, i64 36
  %minor = load i32, ptr %theirs.p
  %major.p = getelementptr i8, ptr %about, i64 24
  store i32 0, ptr %major.p
  %minor.p = getelementptr i8, ptr %about, i64 28
  store i32 %minor, ptr %minor.p
  %traits.p = getelementptr i8, ptr %about, i64 32
  store i32 0, ptr %traits.p
  ret ptr null
staged:
  %stage.p = getelementptr i8, ptr %frame, i64 32
  %stage = load i32, ptr %stage.p
  %now = icmp eq i32 %stage, {execute}
  br i1 %now, label %begin, label %nothing
nothing:
  ret ptr null
begin:
  %inputs.p = getelementptr i8, ptr %frame, i64 72
  %inputs = load ptr, ptr %inputs.p
  %outputs.p = getelementptr i8, ptr %frame, i64 112
  %outputs = load ptr, ptr %outputs.p
  %leading = load ptr, ptr %outputs
  %rank.p = getelementptr i8, ptr %leading, i64 32
  %rank = load i64, ptr %rank.p
  %sizes.p = getelementptr i8, ptr %leading, i64 40
  %sizes = load ptr, ptr %sizes.p
  br label %axis
axis:
  %d = phi i64 [ 0, %begin ], [ %d1, %size ]
  %elements = phi i64 [ 1, %begin ], [ %product, %size ]
  %measured = icmp eq i64 %d, %rank
  br i1 %measured, label %choose, label %size
size:
  %size.p = getelementptr i64, ptr %sizes, i64 %d
  %length = load i64, ptr %size.p
  %product = mul i64 %elements, %length
  %d1 = add i64 %d, 1
  br label %axis
choose:
  %missing = icmp eq i64 %kernel, 0
  %large = icmp uge i64 %elements, %most
  %empty = icmp eq i64 %elements, 0
  %hand0 = or i1 %missing, %large
  %hand = or i1 %hand0, %empty
  br i1 %hand, label %python, label %room
python:
  %callback.f = inttoptr i64 %callback to ptr
  %said = call ptr %callback.f(ptr %frame)
  ret ptr %said
room:
  %own = mul i64 %words, 8
  %behind = mul i64 %each, %elements
  %whole = add i64 %own, %behind
  %memory = call ptr @malloc(i64 %whole)
  %full = icmp eq ptr %memory, null
  br i1 %full, label %python, label %copy
copy:
  %template.p = inttoptr i64 %template to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %memory, ptr %template.p, i64 %own, i1 false)
  br label %argument
argument:
  %a = phi i64 [ 0, %copy ], [ %a1, %argument.next ]
  %all.taken = icmp eq i64 %a, %args
  br i1 %all.taken, label %result, label %take
take:
  %taken.p = inttoptr i64 %taken to ptr
  %taken.row = shl i64 %a, 1
  %taken.place.p = getelementptr i64, ptr %taken.p, i64 %taken.row
  %taken.place = load i64, ptr %taken.place.p
  %taken.how.p = getelementptr i64, ptr %taken.place.p, i64 1
  %taken.how = load i64, ptr %taken.how.p
  %input.p = getelementptr ptr, ptr %inputs, i64 %a
  %input = load ptr, ptr %input.p
  %input.data.p = getelementptr i8, ptr %input, i64 24
  %input.data = load ptr, ptr %input.data.p
  %to = getelementptr i64, ptr %memory, i64 %taken.place
  switch i64 %taken.how, label %take.address [ i64 {double}, label %take.double
    i64 {single}, label %take.single ]
take.address:
  store ptr %input.data, ptr %to
  br label %argument.next
take.double:
  %number = load double, ptr %input.data
  store double %number, ptr %to
  br label %argument.next
take.single:
  %narrow = load float, ptr %input.data
  %widened = fpext float %narrow to double
  store double %widened, ptr %to
  br label %argument.next
argument.next:
  %a1 = add i64 %a, 1
  br label %argument
result:
  %r = phi i64 [ 0, %argument ], [ %r1, %result.next ]
  %all.placed = icmp eq i64 %r, %rets
  br i1 %all.placed, label %move, label %place
place:
  %given.p = inttoptr i64 %given to ptr
  %given.row = shl i64 %r, 1
  %given.place.p = getelementptr i64, ptr %given.p, i64 %given.row
  %given.place = load i64, ptr %given.place.p
  %given.how.p = getelementptr i64, ptr %given.place.p, i64 1
  %given.how = load i64, ptr %given.how.p
  %is.array = icmp eq i64 %given.how, {address}
  br i1 %is.array, label %place.address, label %result.next
place.address:
  %output.p = getelementptr ptr, ptr %outputs, i64 %r
  %output = load ptr, ptr %output.p
  %output.data.p = getelementptr i8, ptr %output, i64 24
  %output.data = load ptr, ptr %output.data.p
  %from = getelementptr i64, ptr %memory, i64 %given.place
  store ptr %output.data, ptr %from
  br label %result.next
result.next:
  %r1 = add i64 %r, 1
  br label %result
move:
  %m = phi i64 [ 0, %result ], [ %m1, %move.one ]
  %all.moved = icmp eq i64 %m, %moves
  br i1 %all.moved, label %count, label %move.one
move.one:
  %moved.p = inttoptr i64 %moved to ptr
  %moved.row = shl i64 %m, 1
  %moved.place.p = getelementptr i64, ptr %moved.p, i64 %moved.row
  %moved.place = load i64, ptr %moved.place.p
  %moved.what.p = getelementptr i64, ptr %moved.place.p, i64 1
  %moved.what = load i64, ptr %moved.what.p
  %entry.p = getelementptr i64, ptr %memory, i64 %moved.place
  %target = getelementptr i64, ptr %memory, i64 %moved.what
  store ptr %target, ptr %entry.p
  %m1 = add i64 %m, 1
  br label %move
count:
  %c = phi i64 [ 0, %move ], [ %c1, %count.one ]
  %all.counted = icmp eq i64 %c, %counts
  br i1 %all.counted, label %compute, label %count.one
count.one:
  %counted.p = inttoptr i64 %counted to ptr
  %counted.place.p = getelementptr i64, ptr %counted.p, i64 %c
  %counted.place = load i64, ptr %counted.place.p
  %counted.entry = getelementptr i64, ptr %memory, i64 %counted.place
  store i64 %elements, ptr %counted.entry
  %c1 = add i64 %c, 1
  br label %count
compute:
  %kernel.f = inttoptr i64 %kernel to ptr
  %status = call i32 %kernel.f(ptr %memory)
  %watched.p = getelementptr i64, ptr %memory, i64 %watched
  %left = load i64, ptr %watched.p
  %clean = icmp eq i64 %left, 0
  %done = icmp eq i32 %status, 0
  %well = and i1 %clean, %done
  br i1 %well, label %flag, label %give.up
flag:
  %f = phi i64 [ 0, %compute ], [ %f1, %flag.one ]
  %raised = phi i8 [ 0, %compute ], [ %either, %flag.one ]
  %all.seen = icmp eq i64 %f, %behind
  br i1 %all.seen, label %flags.end, label %flag.one
flag.one:
  %flag.at = add i64 %own, %f
  %flag.p = getelementptr i8, ptr %memory, i64 %flag.at
  %flagged = load i8, ptr %flag.p
  %either = or i8 %raised, %flagged
  %f1 = add i64 %f, 1
  br label %flag
flags.end:
  %none = icmp eq i8 %raised, 0
  br i1 %none, label %number.out, label %give.up
give.up:
  call void @free(ptr %memory)
  br label %python
number.out:
  %o = phi i64 [ 0, %flags.end ], [ %o1, %number.next ]
  %all.out = icmp eq i64 %o, %rets
  br i1 %all.out, label %finish, label %put
put:
  %put.p = inttoptr i64 %given to ptr
  %put.row = shl i64 %o, 1
  %put.place.p = getelementptr i64, ptr %put.p, i64 %put.row
  %put.place = load i64, ptr %put.place.p
  %put.how.p = getelementptr i64, ptr %put.place.p, i64 1
  %put.how = load i64, ptr %put.how.p
  %put.output.p = getelementptr ptr, ptr %outputs, i64 %o
  %put.output = load ptr, ptr %put.output.p
  %put.data.p = getelementptr i8, ptr %put.output, i64 24
  %put.data = load ptr, ptr %put.data.p
  %found.p = getelementptr i64, ptr %memory, i64 %put.place
  switch i64 %put.how, label %number.next [ i64 {double}, label %put.double
    i64 {single}, label %put.single ]
put.double:
  %found = load double, ptr %found.p
  store double %found, ptr %put.data
  br label %number.next
put.single:
  %wide = load double, ptr %found.p
  %rounded = fptrunc double %wide to float
  store float %rounded, ptr %put.data
  br label %number.next
number.next:
  %o1 = add i64 %o, 1
  br label %number.out
finish:
  call void @free(ptr %memory)
  ret ptr null
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
attributes #0 = {{ nounwind }}
"""


def print_handler() -> str:
    """The text of `ptr handler(ptr frame)` and of the global `plan`."""
    return _TEXT.format(
        loads=loads("%record", PLAN, "i64"), metadata=_METADATA, execute=_EXECUTE,
        address=ADDRESS, double=DOUBLE, single=SINGLE,
    )  # fmt: skip
