"""LLVM IR of a builtin that calls kernels with arrays and loops without any Python.

It takes what is most common, and refuses the rest by returning NotImplemented: arguments
that are exact, C-contiguous arrays with elements, or exact numbers (as `driver`'s entry does),
and results whose shapes are those of arguments. Results are new arrays and Python numbers. It
also refuses if the kernel reports an error, or that some value went out of range: the general
path computes again and says what is wrong. The code is the same for all kernels; a record has
tables that say what is where.
"""

from __future__ import annotations

from symdiff.codegen.llvm.array_loop import EXACT, loads
from symdiff.codegen.llvm.entry.elementwise import ARRAY
from symdiff.codegen.llvm.entry.sizes import print_test
from symdiff.codegen.llvm.loops.kernel import FIXED

API = ("PyCapsule_GetPointer", "float", "int", "numpy.float64", "NotImplemented", "ndarray",
       "PyArray_NewFromDescr", "PyLong_AsLongLongAndOverflow", "PyFloat_FromDouble",
       "PyLong_FromLongLong", "PyBool_FromLong", "PyTuple_New", "PyTuple_SetItem",
       "Py_IncRef", "Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread",
       "PyObject_CallNoArgs")  # fmt: skip
"""The addresses in the global `loops.api`, which must be filled before the first call."""

RECORD = ("function", "finish", "count", "template", "inputs", "takes", "outputs", "makes",
          "watching", "used", "account", "tried", "refused",
          "turn", "changed")  # fmt: skip
"""What the capsule behind a builtin points to, each an i64.

function, finish : addresses of the kernel, and of what frees the results of one that is given up.
count, template : how many words, and the address of what they are at first; -1 in that of a size.
inputs, takes : how many arguments, and a table with a row for each: `TAKE`.
outputs, makes : how many results, and a table with a row for each: `MAKE`.
watching : address of a number; if it is not 0, somebody watches loops, and calls are refused.
used, account : address of a number, and what to call without arguments after a call that left
    something else than 0 there.
tried, refused : calls of the kernel, and those of them that were refused afterwards.
turn : address of the schedule of probes (`runtime.loops.probe.Schedule.state`), or 0: a call is refused
    if one is due, or if an exponent of an argument or a result is none of those that were probed.
changed : a bit for each array that the function changes: calls in which it shares memory with another are refused.
"""

TAKE = ("place", "kind", "descr", "rank", "axes", "served")
"""place : the word. kind : 0 a real number, 1 an integer, 2 an array, 3 a float. descr : address of the
dtype. axes : address of three words for each axis, the place of its size, or -1, and the size, and the
least size that is taken.
served : address of a word for each axis, of the classes of sizes that are taken
(`codegen.llvm.entry.sizes`)."""
MAKE = ("place", "kind", "descr", "rank", "axes", "served")
"""The same of a result; kind : 0 a real number, 1 an integer, 2 a truth value, 3 an array; served is not read."""

MOST_WORDS, MOST_AXES = 4096, 64
SAMPLE = 64
"""Elements of an array of which the exponents are looked at."""
MOST_CHANGED = 63
"""Arguments among which those that are changed have bits."""
MOST_REFUSED = 4
"""No call is tried any more when one of so many was refused afterwards."""
_READY = 0x101
"""NumPy's flags of arrays that lie row by row and are aligned."""

_EXPONENTS = """
define internal i64 @length(ptr %array) {{
entry:
  %nd.p = getelementptr i8, ptr %array, i64 {nd}
  %nd32 = load i32, ptr %nd.p
  %nd = sext i32 %nd32 to i64
  %dims.p = getelementptr i8, ptr %array, i64 {dims}
  %dims = load ptr, ptr %dims.p
  br label %axis
axis:
  %a = phi i64 [ 0, %entry ], [ %a1, %next ]
  %length = phi i64 [ 8, %entry ], [ %longer, %next ]
  %all = icmp eq i64 %a, %nd
  br i1 %all, label %done, label %next
next:
  %dim.p = getelementptr i64, ptr %dims, i64 %a
  %dim = load i64, ptr %dim.p
  %longer = mul i64 %length, %dim
  %a1 = add i64 %a, 1
  br label %axis
done:
  ret i64 %length
}}
define internal i1 @known(ptr %turn, i64 %which, i64 %from, i64 %to) {{
entry:
  %bytes = sub i64 %to, %from
  %step.of = udiv i64 %bytes, {sample_bytes}
  %steps = shl i64 %step.of, 3
  %small = icmp eq i64 %steps, 0
  %step = select i1 %small, i64 8, i64 %steps
  br label %look
look:
  %at = phi i64 [ %from, %entry ], [ %at1, %one ]
  %most = phi i64 [ 0, %entry ], [ %more, %one ]
  %left = icmp ult i64 %at, %to
  br i1 %left, label %one, label %judge
one:
  %p = inttoptr i64 %at to ptr
  %bits = load i64, ptr %p
  %shifted = lshr i64 %bits, 52
  %e = and i64 %shifted, 2047
  %larger = icmp ugt i64 %e, %most
  %more = select i1 %larger, i64 %e, i64 %most
  %at1 = add i64 %at, %step
  br label %look
judge:
  %own = shl i64 %which, 5
  %word.of = lshr i64 %most, 6
  %word.own = add i64 %own, %word.of
  %word.i = add i64 %word.own, 2
  %word.p = getelementptr i64, ptr %turn, i64 %word.i
  %word = load i64, ptr %word.p
  %bit.i = and i64 %most, 63
  %bits.left = lshr i64 %word, %bit.i
  %known = trunc i64 %bits.left to i1
  ret i1 %known
}}
"""

_TEXT = """
@loops.api = global [{api_size} x ptr] zeroinitializer
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define ptr @loops(ptr %self, ptr %args, i64 %nargs) {{
entry:
  {api_loads}
  %record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)
  {record_loads}
  %wide = alloca i32
  %shape = alloca [{most_axes} x i64]
  %right = icmp eq i64 %nargs, %inputs
  %watching.p = inttoptr i64 %watching to ptr
  %watched = load i64, ptr %watching.p
  %unwatched = icmp eq i64 %watched, 0
  %often = mul i64 %refused, {most_refused}
  %seldom = icmp ule i64 %often, %tried
  %few = icmp ult i64 %tried, {most_refused}
  %hopeful = or i1 %seldom, %few
  %free = and i1 %right, %unwatched
  %go = and i1 %free, %hopeful
  br i1 %go, label %room, label %refuse
room:
  %arguments = alloca i64, i64 %count
  %news = alloca ptr, i64 %outputs
  %lows = alloca i64, i64 %inputs
  %ends = alloca i64, i64 %inputs
  %template.p = inttoptr i64 %template to ptr
  %bytes = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %arguments, ptr %template.p, i64 %bytes, i1 false)
  %takes.p = inttoptr i64 %takes to ptr
  %makes.p = inttoptr i64 %makes to ptr
  br label %take

take:
  %k = phi i64 [ 0, %room ], [ %k1, %taken ]
  %all.taken = icmp eq i64 %k, %inputs
  br i1 %all.taken, label %together, label %look
look:
  %low.k = getelementptr i64, ptr %lows, i64 %k
  %end.k = getelementptr i64, ptr %ends, i64 %k
  store i64 0, ptr %low.k
  store i64 0, ptr %end.k
  %t.o = mul i64 %k, {row}
  %t = getelementptr i64, ptr %takes.p, i64 %t.o
  {take_loads}
  %word = getelementptr i64, ptr %arguments, i64 %t.place
  %arg.p = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.p
  %type.p = getelementptr i8, ptr %arg, i64 {type_offset}
  %type = load ptr, ptr %type.p
  switch i64 %t.kind, label %array [ i64 0, label %real i64 1, label %integer i64 3, label %real ]
real:
  %is.float = icmp eq ptr %type, %float
  %is.numpy = icmp eq ptr %type, %numpy.float64
  %boxed = or i1 %is.float, %is.numpy
  br i1 %boxed, label %unbox, label %maybe.int
unbox:
  %value.p = getelementptr i8, ptr %arg, i64 {value_offset}
  %value = load double, ptr %value.p
  store double %value, ptr %word
  br label %taken
maybe.int:
  %is.of.int = icmp eq ptr %type, %int
  %takes.int = icmp eq i64 %t.kind, 0
  %is.int = and i1 %is.of.int, %takes.int
  br i1 %is.int, label %convert, label %refuse
convert:
  %whole = call i64 %PyLong_AsLongLongAndOverflow(ptr %arg, ptr %wide)
  %up = add i64 %whole, {exact}
  %is.exact = icmp ule i64 %up, {twice_exact}
  %over = load i32, ptr %wide
  %held = icmp eq i32 %over, 0
  %known = and i1 %is.exact, %held
  %converted = sitofp i64 %whole to double
  store double %converted, ptr %word
  br i1 %known, label %taken, label %refuse
integer:
  %is.int2 = icmp eq ptr %type, %int
  br i1 %is.int2, label %count.it, label %refuse
count.it:
  %number = call i64 %PyLong_AsLongLongAndOverflow(ptr %arg, ptr %wide)
  %over2 = load i32, ptr %wide
  %held2 = icmp eq i32 %over2, 0
  store i64 %number, ptr %word
  br i1 %held2, label %taken, label %refuse
array:
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %lies, label %refuse
lies:
  %descr.p = getelementptr i8, ptr %arg, i64 {descr}
  %descr = load i64, ptr %descr.p
  %same.descr = icmp eq i64 %descr, %t.descr
  %flags.p = getelementptr i8, ptr %arg, i64 {flags}
  %flags = load i32, ptr %flags.p
  %found = and i32 %flags, {ready}
  %ready = icmp eq i32 %found, {ready}
  %nd.p = getelementptr i8, ptr %arg, i64 {nd}
  %nd32 = load i32, ptr %nd.p
  %nd = sext i32 %nd32 to i64
  %same.nd = icmp eq i64 %nd, %t.rank
  %usual.1 = and i1 %same.descr, %ready
  %usual = and i1 %usual.1, %same.nd
  br i1 %usual, label %sizes, label %refuse
sizes:
  %data.p = getelementptr i8, ptr %arg, i64 {data}
  %data = load i64, ptr %data.p
  store i64 %data, ptr %word
  store i64 %data, ptr %low.k
  %dims.p = getelementptr i8, ptr %arg, i64 {dims}
  %dims = load ptr, ptr %dims.p
  %axes.p = inttoptr i64 %t.axes to ptr
  %served.p = inttoptr i64 %t.served to ptr
  br label %axis
axis:
  %a = phi i64 [ 0, %sizes ], [ %a1, %axis.next ]
  %length = phi i64 [ 8, %sizes ], [ %length.next, %axis.next ]
  %a1 = add i64 %a, 1
  %all.axes = icmp eq i64 %a, %nd
  br i1 %all.axes, label %axes.done, label %axis.look
axes.done:
  %end = add i64 %data, %length
  store i64 %end, ptr %end.k
  br label %taken
axis.look:
  %dim.p = getelementptr i64, ptr %dims, i64 %a
  %dim = load i64, ptr %dim.p
  %length.next = mul i64 %length, %dim
  %row.o = mul i64 %a, 3
  %row = getelementptr i64, ptr %axes.p, i64 %row.o
  %least.p = getelementptr i64, ptr %row, i64 2
  %least = load i64, ptr %least.p
  %odd = icmp slt i64 %dim, %least
  br i1 %odd, label %refuse, label %axis.class
axis.class:
  {size_test}
  br i1 %is.compared, label %axis.size, label %refuse
axis.size:
  %size.place = load i64, ptr %row
  %fixed = icmp slt i64 %size.place, 0
  br i1 %fixed, label %axis.fixed, label %axis.named
axis.fixed:
  %size.p = getelementptr i64, ptr %row, i64 1
  %size = load i64, ptr %size.p
  %agrees = icmp eq i64 %dim, %size
  br i1 %agrees, label %axis.next, label %refuse
axis.named:
  %size.word = getelementptr i64, ptr %arguments, i64 %size.place
  %before = load i64, ptr %size.word
  %new.size = icmp eq i64 %before, -1
  %same.size = icmp eq i64 %before, %dim
  %fits = or i1 %new.size, %same.size
  store i64 %dim, ptr %size.word
  br i1 %fits, label %axis.next, label %refuse
axis.next:
  br label %axis
taken:
  %k1 = add i64 %k, 1
  br label %take

together:
  %alone = icmp eq i64 %changed, 0
  br i1 %alone, label %begin, label %first
first:
  %p = phi i64 [ 0, %together ], [ %p1, %second.done ]
  %all.pairs = icmp eq i64 %p, %inputs
  br i1 %all.pairs, label %begin, label %first.one
first.one:
  %p1 = add i64 %p, 1
  %low.p = getelementptr i64, ptr %lows, i64 %p
  %end.p = getelementptr i64, ptr %ends, i64 %p
  %low.first = load i64, ptr %low.p
  %end.first = load i64, ptr %end.p
  %changed.p = lshr i64 %changed, %p
  br label %second
second:
  %q = phi i64 [ 0, %first.one ], [ %q1, %second.one ]
  %all.second = icmp eq i64 %q, %p
  br i1 %all.second, label %second.done, label %second.one
second.one:
  %q1 = add i64 %q, 1
  %low.q = getelementptr i64, ptr %lows, i64 %q
  %end.q = getelementptr i64, ptr %ends, i64 %q
  %low.second = load i64, ptr %low.q
  %end.second = load i64, ptr %end.q
  %changed.q = lshr i64 %changed, %q
  %changed.one = or i64 %changed.p, %changed.q
  %is.changed = trunc i64 %changed.one to i1
  %before.end = icmp ult i64 %low.first, %end.second
  %after.low = icmp ult i64 %low.second, %end.first
  %overlap = and i1 %before.end, %after.low
  %shared = and i1 %overlap, %is.changed
  br i1 %shared, label %refuse, label %second
second.done:
  br label %first
begin:
  %turn.p = inttoptr i64 %turn to ptr
  %probed = icmp ne i64 %turn, 0
  br i1 %probed, label %turn.on, label %make
turn.on:
  %left = load i64, ptr %turn.p
  %left1 = sub i64 %left, 1
  store i64 %left1, ptr %turn.p
  %early = icmp sgt i64 %left1, 0
  br i1 %early, label %scale, label %refuse
scale:
  %s = phi i64 [ 0, %turn.on ], [ %s1, %scale.one ]
  %all.scaled = icmp eq i64 %s, %inputs
  br i1 %all.scaled, label %make, label %scale.one
scale.one:
  %s1 = add i64 %s, 1
  %s.low.p = getelementptr i64, ptr %lows, i64 %s
  %s.end.p = getelementptr i64, ptr %ends, i64 %s
  %s.low = load i64, ptr %s.low.p
  %s.end = load i64, ptr %s.end.p
  %s.array = icmp ne i64 %s.low, 0
  %s.o = mul i64 %s, {row}
  %s.row = getelementptr i64, ptr %takes.p, i64 %s.o
  %s.place = load i64, ptr %s.row
  %s.word = getelementptr i64, ptr %arguments, i64 %s.place
  %s.at = ptrtoint ptr %s.word to i64
  %s.after = add i64 %s.at, 8
  %s.from = select i1 %s.array, i64 %s.low, i64 %s.at
  %s.to = select i1 %s.array, i64 %s.end, i64 %s.after
  %s.known = call i1 @known(ptr %turn.p, i64 %s, i64 %s.from, i64 %s.to)
  br i1 %s.known, label %scale, label %refuse

make:
  %c = phi i64 [ 0, %begin ], [ 0, %scale ], [ %c1, %made ]
  %all.made = icmp eq i64 %c, %outputs
  br i1 %all.made, label %launch, label %make.one
make.one:
  %m.o = mul i64 %c, {row}
  %m = getelementptr i64, ptr %makes.p, i64 %m.o
  {make_loads}
  %new.p = getelementptr ptr, ptr %news, i64 %c
  store ptr null, ptr %new.p
  %is.place = icmp eq i64 %m.kind, 3
  br i1 %is.place, label %extent, label %made
extent:
  %d = phi i64 [ 0, %make.one ], [ %d1, %extent.put ]
  %all.extents = icmp eq i64 %d, %m.rank
  br i1 %all.extents, label %create, label %extent.one
extent.one:
  %maxes.p = inttoptr i64 %m.axes to ptr
  %mrow.o = mul i64 %d, 3
  %mrow = getelementptr i64, ptr %maxes.p, i64 %mrow.o
  %from = load i64, ptr %mrow
  %is.fixed = icmp slt i64 %from, 0
  %size.of = getelementptr i64, ptr %arguments, i64 %from
  %fixed.p = getelementptr i64, ptr %mrow, i64 1
  %source = select i1 %is.fixed, ptr %fixed.p, ptr %size.of
  %extent.v = load i64, ptr %source
  br label %extent.put
extent.put:
  %extent.p = getelementptr i64, ptr %shape, i64 %d
  store i64 %extent.v, ptr %extent.p
  %d1 = add i64 %d, 1
  br label %extent
create:
  %m.descr.p = inttoptr i64 %m.descr to ptr
  call void %Py_IncRef(ptr %m.descr.p)
  %rank32 = trunc i64 %m.rank to i32
  %new = call ptr %PyArray_NewFromDescr(ptr %ndarray, ptr %m.descr.p, i32 %rank32, ptr %shape,
      ptr null, ptr null, i32 0, ptr null)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %error, label %created
created:
  store ptr %new, ptr %new.p
  %od.p = getelementptr i8, ptr %new, i64 {data}
  %od = load i64, ptr %od.p
  %result.word = getelementptr i64, ptr %arguments, i64 %m.place
  store i64 %od, ptr %result.word
  br label %made
made:
  %c1 = add i64 %c, 1
  br label %make

launch:
  %function.p = inttoptr i64 %function to ptr
  %thread = call ptr %PyEval_SaveThread()
  %status = call i32 %function.p(ptr %arguments)
  call void %PyEval_RestoreThread(ptr %thread)
  %tried.now = load i64, ptr %tried.at
  %tried.next = add i64 %tried.now, 1
  store i64 %tried.next, ptr %tried.at
  %used.p = inttoptr i64 %used to ptr
  %was.used = load i64, ptr %used.p
  %nothing.used = icmp eq i64 %was.used, 0
  br i1 %nothing.used, label %inspect, label %account.it
account.it:
  %account.p = inttoptr i64 %account to ptr
  %accounted = call ptr %PyObject_CallNoArgs(ptr %account.p)
  %unaccounted = icmp eq ptr %accounted, null
  br i1 %unaccounted, label %error, label %accounted.well
accounted.well:
  call void %Py_DecRef(ptr %accounted)
  br label %inspect
inspect:
  %well = icmp eq i32 %status, 0
  br i1 %well, label %range, label %give.up
range:
  %raised.p = getelementptr i64, ptr %arguments, i64 {raised}
  %raised = load i64, ptr %raised.p
  %in.range = icmp eq i64 %raised, 0
  br i1 %in.range, label %usual.size, label %out.of.range
usual.size:
  br i1 %probed, label %result, label %box.first
result:
  %u = phi i64 [ 0, %usual.size ], [ %u1, %result.known ]
  %all.results = icmp eq i64 %u, %outputs
  br i1 %all.results, label %box.first, label %result.one
result.one:
  %u1 = add i64 %u, 1
  %u.o = mul i64 %u, {row}
  %u.row = getelementptr i64, ptr %makes.p, i64 %u.o
  %u.place = load i64, ptr %u.row
  %u.kind.p = getelementptr i64, ptr %u.row, i64 1
  %u.kind = load i64, ptr %u.kind.p
  %u.word = getelementptr i64, ptr %arguments, i64 %u.place
  %u.at = ptrtoint ptr %u.word to i64
  %u.after = add i64 %u.at, 8
  %u.array = icmp eq i64 %u.kind, 3
  br i1 %u.array, label %result.array, label %result.look
result.array:
  %u.data = load i64, ptr %u.word
  %u.new.p = getelementptr ptr, ptr %news, i64 %u
  %u.new = load ptr, ptr %u.new.p
  %u.length = call i64 @length(ptr %u.new)
  %u.end = add i64 %u.data, %u.length
  br label %result.look
result.look:
  %u.from = phi i64 [ %u.at, %result.one ], [ %u.data, %result.array ]
  %u.to = phi i64 [ %u.after, %result.one ], [ %u.end, %result.array ]
  %u.index = add i64 %u, %inputs
  %u.known = call i1 @known(ptr %turn.p, i64 %u.index, i64 %u.from, i64 %u.to)
  br i1 %u.known, label %result.known, label %out.of.range
result.known:
  br label %result
out.of.range:
  %finish.p = inttoptr i64 %finish to ptr
  call void %finish.p(ptr %arguments)
  br label %give.up
give.up:
  %refused.now = load i64, ptr %refused.at
  %refused.next = add i64 %refused.now, 1
  store i64 %refused.next, ptr %refused.at
  br label %drop

box.first:
  br label %box
box:
  %b = phi i64 [ 0, %box.first ], [ %b1, %box.put ]
  %all.boxed = icmp eq i64 %b, %outputs
  br i1 %all.boxed, label %hand.out, label %box.one
box.one:
  %b1 = add i64 %b, 1
  %r.o = mul i64 %b, {row}
  %r = getelementptr i64, ptr %makes.p, i64 %r.o
  %r.place = load i64, ptr %r
  %r.kind.p = getelementptr i64, ptr %r, i64 1
  %r.kind = load i64, ptr %r.kind.p
  %r.word = getelementptr i64, ptr %arguments, i64 %r.place
  %slot = getelementptr ptr, ptr %news, i64 %b
  switch i64 %r.kind, label %is.made [
    i64 0, label %as.float i64 1, label %as.int i64 2, label %as.bool ]
is.made:
  %there = load ptr, ptr %slot
  br label %box.put
as.float:
  %x = load double, ptr %r.word
  %float.o = call ptr %PyFloat_FromDouble(double %x)
  br label %box.put
as.int:
  %i = load i64, ptr %r.word
  %int.o = call ptr %PyLong_FromLongLong(i64 %i)
  br label %box.put
as.bool:
  %truth = load i64, ptr %r.word
  %bool.o = call ptr %PyBool_FromLong(i64 %truth)
  br label %box.put
box.put:
  %object = phi ptr [ %there, %is.made ], [ %float.o, %as.float ], [ %int.o, %as.int ],
                    [ %bool.o, %as.bool ]
  store ptr %object, ptr %slot
  %no.object = icmp eq ptr %object, null
  br i1 %no.object, label %error, label %box
hand.out:
  %single = icmp eq i64 %outputs, 1
  br i1 %single, label %bare, label %pack
bare:
  %only = load ptr, ptr %news
  ret ptr %only
pack:
  %tuple = call ptr %PyTuple_New(i64 %outputs)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %error, label %fill
fill:
  %j = phi i64 [ 0, %pack ], [ %j1, %fill.one ]
  %full = icmp eq i64 %j, %outputs
  br i1 %full, label %done, label %fill.one
fill.one:
  %item.p = getelementptr ptr, ptr %news, i64 %j
  %item = load ptr, ptr %item.p
  %put = call i32 %PyTuple_SetItem(ptr %tuple, i64 %j, ptr %item)
  %j1 = add i64 %j, 1
  br label %fill
done:
  ret ptr %tuple

error:
  %filled = phi i64 [ %c, %create ], [ %outputs, %account.it ], [ %outputs, %box.put ],
                    [ %outputs, %pack ]
  br label %drop
drop:
  %is.error = phi i1 [ true, %error ], [ false, %give.up ]
  %many = phi i64 [ %filled, %error ], [ %outputs, %give.up ]
  br label %drop.next
drop.next:
  %g = phi i64 [ 0, %drop ], [ %g1, %drop.end ]
  %all.dropped = icmp eq i64 %g, %many
  br i1 %all.dropped, label %dropped, label %drop.one
drop.one:
  %gone.p = getelementptr ptr, ptr %news, i64 %g
  %gone = load ptr, ptr %gone.p
  %nothing = icmp eq ptr %gone, null
  br i1 %nothing, label %drop.end, label %drop.it
drop.it:
  call void %Py_DecRef(ptr %gone)
  br label %drop.end
drop.end:
  %g1 = add i64 %g, 1
  br label %drop.next
dropped:
  br i1 %is.error, label %null, label %refuse
null:
  ret ptr null
refuse:
  call void %Py_IncRef(ptr %NotImplemented)
  ret ptr %NotImplemented
}}
"""


def print_entry(type_offset: int, value_offset: int) -> str:
    """A module with the builtin `loops(*arguments)`.

    Its `__self__` is a capsule without a name that points to a record (`RECORD`).
    """
    exponents = _EXPONENTS.format(sample_bytes=8 * SAMPLE, **ARRAY)
    return exponents + _TEXT.format(
        api_size=len(API),
        api_loads=loads("@loops.api", API, "ptr"),
        record_loads=loads("%record", RECORD, "i64"),
        take_loads=loads("%t", TAKE, "i64", "t."),
        make_loads=loads("%m", MAKE, "i64", "m."),
        size_test=print_test("%dim", "%served.p", "%a"),
        row=len(TAKE),
        most_axes=MOST_AXES,
        most_refused=MOST_REFUSED,
        exact=EXACT,
        twice_exact=2 * EXACT,
        ready=_READY,
        raised=FIXED.index("raised"),
        type_offset=type_offset,
        value_offset=value_offset,
        **ARRAY,
    )
