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
  br label %take
{arguments}{results}{moved}{counted}compute:
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
  br i1 %none, label %put, label %give.up
give.up:
  call void @free(ptr %memory)
  br label %python
{numbers}finish:
  call void @free(ptr %memory)
  ret ptr null
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
attributes #0 = {{ nounwind }}
"""


def _loop(name: str, count: str, before: str, after: str, body: str) -> str:
    """A loop over a count, between the blocks before and after it. The body is of iteration
    `%name.k`, and may leave for the next one, `%name.next`, early."""
    return f"""{name}:
  %{name}.k = phi i64 [ 0, %{before} ], [ %{name}.k1, %{name}.next ]
  %{name}.all = icmp eq i64 %{name}.k, %{count}
  br i1 %{name}.all, label %{after}, label %{name}.one
{name}.one:
{body}
  br label %{name}.next
{name}.next:
  %{name}.k1 = add i64 %{name}.k, 1
  br label %{name}
"""


def _pair(name: str, table: str, second: str) -> str:
    """Loads of a pair of a table: the first says which entry of the record, the other how or what."""
    return f"""  %{name}.table = inttoptr i64 %{table} to ptr
  %{name}.row = shl i64 %{name}.k, 1
  %{name}.place.p = getelementptr i64, ptr %{name}.table, i64 %{name}.row
  %{name}.place = load i64, ptr %{name}.place.p
  %{name}.entry = getelementptr i64, ptr %memory, i64 %{name}.place
  %{name}.{second}.p = getelementptr i64, ptr %{name}.place.p, i64 1
  %{name}.{second} = load i64, ptr %{name}.{second}.p"""


def _data(name: str, buffers: str) -> str:
    """The address of what is in a buffer."""
    return f"""  %{name}.buffer.p = getelementptr ptr, ptr %{buffers}, i64 %{name}.k
  %{name}.buffer = load ptr, ptr %{name}.buffer.p
  %{name}.data.p = getelementptr i8, ptr %{name}.buffer, i64 24
  %{name}.data = load ptr, ptr %{name}.data.p"""


_TAKE = f"""{_pair("take", "taken", "how")}
{_data("take", "inputs")}
  switch i64 %take.how, label %take.address [ i64 {DOUBLE}, label %take.double
    i64 {SINGLE}, label %take.single ]
take.address:
  store ptr %take.data, ptr %take.entry
  br label %take.next
take.double:
  %number = load double, ptr %take.data
  store double %number, ptr %take.entry
  br label %take.next
take.single:
  %narrow = load float, ptr %take.data
  %widened = fpext float %narrow to double
  store double %widened, ptr %take.entry"""

_PLACE = f"""{_pair("place", "given", "how")}
  %is.array = icmp eq i64 %place.how, {ADDRESS}
  br i1 %is.array, label %place.address, label %place.next
place.address:
{_data("place", "outputs")}
  store ptr %place.data, ptr %place.entry"""

_MOVE = f"""{_pair("move", "moved", "what")}
  %target = getelementptr i64, ptr %memory, i64 %move.what
  store ptr %target, ptr %move.entry"""

_COUNT = """  %count.table = inttoptr i64 %counted to ptr
  %count.place.p = getelementptr i64, ptr %count.table, i64 %count.k
  %count.place = load i64, ptr %count.place.p
  %count.entry = getelementptr i64, ptr %memory, i64 %count.place
  store i64 %elements, ptr %count.entry"""

_PUT = f"""{_pair("put", "given", "how")}
{_data("put", "outputs")}
  switch i64 %put.how, label %put.next [ i64 {DOUBLE}, label %put.double
    i64 {SINGLE}, label %put.single ]
put.double:
  %found = load double, ptr %put.entry
  store double %found, ptr %put.data
  br label %put.next
put.single:
  %wide = load double, ptr %put.entry
  %rounded = fptrunc double %wide to float
  store float %rounded, ptr %put.data"""


def print_handler() -> str:
    """The text of `ptr handler(ptr frame)` and of the global `plan`."""
    return _TEXT.format(
        loads=loads("%record", PLAN, "i64"), metadata=_METADATA, execute=_EXECUTE,
        arguments=_loop("take", "args", "copy", "place", _TAKE),
        results=_loop("place", "rets", "take", "move", _PLACE),
        moved=_loop("move", "moves", "place", "count", _MOVE),
        counted=_loop("count", "counts", "move", "compute", _COUNT),
        numbers=_loop("put", "rets", "flags.end", "finish", _PUT),
    )  # fmt: skip
