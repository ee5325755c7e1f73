"""LLVM IR that runs the tiers of a kernel over arrays, chunk by chunk, around the driver.

A chunk goes through the first of the bodies that serves:

1. lean: no test of its own for overflow, underflow or invalid operations. The processor
   keeps a flag for each (IEEE 754, section 7), which is read after the chunk; where one
   is set, the chunk is computed again by
2. tested, which says of every element whether it is flagged.

Flagged elements are then gathered, computed again by the bodies `between` and `second`,
each of which takes what the one before it flags, whole registers at a time, and put back;
what the last body flags stays flagged. So an element's result does not depend on others.
"""

from __future__ import annotations

from symdiff.codegen.llvm.array_loop import BLOCK, JOB
from symdiff.codegen.llvm.flags import DECLARED, PLACES, watched
from symdiff.lowering.target import OVERFLOWS, UNDERFLOWS

CHUNK = 4096
"""Elements between two looks at the processor's flags."""
RECORD = ("lean", "tested", "between", "second", "position", "stop", "left", "tried", "raised",
          "lead", "sure")  # fmt: skip
"""What `tiers` takes, each an i64 or an address.

lean, tested, between, second : jobs (see `driver.JOB`), or null; start and stop are filled
    in. The bodies of all but `lean` may be null until they are asked for.
position, stop : the elements still to be computed.
left : how many stay flagged after the second tier.
tried, raised : chunks that the lean body computed, and those of them it failed.
lead : elements before the first that lies at a multiple of a register's size; chunks
    begin there, and at multiples of CHUNK elements from there.
sure : whether the lean body leaves the flags as they are: it has no flagged element.
"""
JOBS = 4
"""So many entries of a record are jobs."""
DONE, NEEDS_TESTED, NEEDS_BETWEEN, NEEDS_SECOND = 0, 1, 2, 3
"""What `tiers` returns: finished, or which body is missing to go on."""
EXTRA = 2
"""Further blocks of memory that the second job needs behind its buffers."""
MOST_RAISED = 4
"""The lean body is given up when one of so many chunks raised a flag."""

SPARSE = 64
"""Where more than one element of so many is computed again, results are not written past the
caches: that would bring their lines back."""

_TIERS = """
define i64 @tiers(ptr %record) #0 {{
entry:
  {places}
  {loads}
  %has.lean = icmp ne ptr %lean, null
  %has.between = icmp ne ptr %between, null
  %has.second = icmp ne ptr %second, null
  %has.flags = icmp eq i64 %sure, 0
  %picks = alloca i64
  %writer = select i1 %has.lean, ptr %lean, ptr %tested
  %stream.p = getelementptr i64, ptr %writer, i64 {stream}
  %tested.stream.p = getelementptr i64, ptr %tested, i64 {stream}
  %stream = load i64, ptr %stream.p
  br label %chunk
chunk:
  %k = load i64, ptr %position.p
  %more = icmp ult i64 %k, %stop
  br i1 %more, label %choose, label %finish
choose:
  %rest = sub i64 %stop, %k
  %beyond = sub i64 %k, %lead
  %within = urem i64 %beyond, {chunk}
  %room = sub i64 {chunk}, %within
  %size = call i64 @llvm.umin.i64(i64 %rest, i64 %room)
  %end = add i64 %k, %size
  %tried = load i64, ptr %tried.p
  %raised = load i64, ptr %raised.p
  %failed = mul i64 %raised, {most}
  %mostly = icmp ule i64 %failed, %tried
  %young = icmp ult i64 %tried, {most}
  %promising = or i1 %mostly, %young
  %try = and i1 %has.lean, %promising
  br i1 %try, label %attempt, label %careful
attempt:
  %tried1 = add i64 %tried, 1
  store i64 %tried1, ptr %tried.p
  {lean}
  br i1 %silent, label %fine, label %raise
fine:
  store i64 0, ptr %picks
  br i1 %has.flags, label %repair, label %next
raise:
  %raised1 = add i64 %raised, 1
  store i64 %raised1, ptr %raised.p
  br label %careful
careful:
  %body = load ptr, ptr %tested
  %missing = icmp eq ptr %body, null
  br i1 %missing, label %ask, label %run
ask:
  ret i64 {needs_tested}
run:
  call void @part(ptr %tested, i64 %k, i64 %end)
  store i64 0, ptr %picks
  br label %repair
repair:
  br i1 %has.between, label %better, label %last.tier
better:
  %remaining = call i64 @repair(ptr %between, i64 %k, i64 %end, ptr %picks)
  %lacks = icmp slt i64 %remaining, 0
  br i1 %lacks, label %ask.between, label %looked
ask.between:
  ret i64 {needs_between}
looked:
  %finished = icmp eq i64 %remaining, 0
  br i1 %finished, label %next, label %last.tier
last.tier:
  br i1 %has.second, label %again, label %next
again:
  %stays = call i64 @repair(ptr %second, i64 %k, i64 %end, ptr %picks)
  %wants = icmp slt i64 %stays, 0
  br i1 %wants, label %ask.second, label %count
ask.second:
  ret i64 {needs_second}
count:
  %left0 = load i64, ptr %left.p
  %left1 = add i64 %left0, %stays
  store i64 %left1, ptr %left.p
  br label %next
next:
  %picked = load i64, ptr %picks
  %scaled = mul i64 %picked, {sparse}
  %often = icmp ugt i64 %scaled, %size
  %how = select i1 %often, i64 0, i64 %stream
  store i64 %how, ptr %stream.p
  store i64 %how, ptr %tested.stream.p
  store i64 %end, ptr %position.p
  br label %chunk
finish:
  {fence}
  ret i64 {done}
}}

define internal void @part(ptr %job, i64 %first, i64 %last) #0 {{
  %start.p = getelementptr i64, ptr %job, i64 {start}
  store i64 %first, ptr %start.p
  %stop.p = getelementptr i64, ptr %job, i64 {stop}
  store i64 %last, ptr %stop.p
  call void @run(ptr %job)
  ret void
}}
"""

_DECLARED = DECLARED + "declare void @llvm.x86.sse.sfence()\n"
_FENCE = "call void @llvm.x86.sse.sfence()"
"""What was written past the caches is there for all threads."""

_REPAIR = """
declare i64 @llvm.ctpop.i64(i64)
define internal i64 @repair(ptr %job, i64 %first, i64 %last, ptr %picks) #0 {{
entry:
  {loads}
  %picked = getelementptr i8, ptr %buffers, i64 %behind
  %at = sub i64 %count, 1
  %flag.a = getelementptr ptr, ptr %operands, i64 %at
  %flags = load ptr, ptr %flag.a
  %flag.b = getelementptr i64, ptr %inner, i64 %at
  %flag.inner = load i64, ptr %flag.b
  %flag.c = getelementptr i64, ptr %outer, i64 %at
  %flag.outer = load i64, ptr %flag.c
  %one.row = icmp uge i64 %row, %last
  br label %operand
operand:
  %j = phi i64 [ 0, %entry ], [ %j1, %straight ]
  %flat = phi i1 [ true, %entry ], [ %flat1, %straight ]
  %seen = icmp eq i64 %j, %count
  br i1 %seen, label %begin, label %straight
straight:
  {operand_j}
  %j.whole = mul i64 %j.inner, %row
  %j.close = icmp eq i64 %j.whole, %j.outer
  %j.flat = or i1 %j.close, %one.row
  %flat1 = and i1 %flat, %j.flat
  %j1 = add i64 %j, 1
  br label %operand
begin:
  %unit = icmp eq i64 %flag.inner, 1
  %dense = and i1 %unit, %flat
  br label %scan
scan:
  %k = phi i64 [ %first, %begin ], [ %next, %look ], [ %next, %take ]
  %n = phi i64 [ 0, %begin ], [ %n.here, %look ], [ %n1, %take ]
  %left = phi i64 [ 0, %begin ], [ %left.here, %look ], [ %left.now, %take ]
  %over = icmp uge i64 %k, %last
  br i1 %over, label %end, label %measure
measure:
  %k64 = add i64 %k, 64
  %next = call i64 @llvm.umin.i64(i64 %k64, i64 %last)
  %whole = icmp ule i64 %k64, %last
  %wide = and i1 %whole, %dense
  br i1 %wide, label %word, label %single
word:
  %word.p = getelementptr i8, ptr %flags, i64 %k
  %bytes = load <64 x i8>, ptr %word.p, align 1
  %set = icmp ne <64 x i8> %bytes, zeroinitializer
  %word.bits = bitcast <64 x i1> %set to i64
  br label %look
single:
  %m = phi i64 [ 0, %measure ], [ %m1, %single ]
  %mask = phi i64 [ 0, %measure ], [ %mask1, %single ]
  %e = add i64 %k, %m
  %o = udiv i64 %e, %row
  %before = mul i64 %o, %row
  %i = sub i64 %e, %before
  %down = mul i64 %o, %flag.outer
  %along = mul i64 %i, %flag.inner
  %offset = add i64 %down, %along
  %f.p = getelementptr i8, ptr %flags, i64 %offset
  %f = load i8, ptr %f.p
  %f.set = icmp ne i8 %f, 0
  %f.bit = zext i1 %f.set to i64
  %f.there = shl i64 %f.bit, %m
  %mask1 = or i64 %mask, %f.there
  %m1 = add i64 %m, 1
  %e1 = add i64 %e, 1
  %singles = icmp ult i64 %e1, %next
  br i1 %singles, label %single, label %look
look:
  %bits = phi i64 [ %word.bits, %word ], [ %mask1, %single ]
  %n.here = phi i64 [ %n, %word ], [ %n, %single ]
  %left.here = phi i64 [ %left, %word ], [ %left, %single ]
  %none = icmp eq i64 %bits, 0
  br i1 %none, label %scan, label %pick
pick:
  %ready = icmp ne ptr %body, null
  br i1 %ready, label %room, label %ask
ask:
  ret i64 -1
room:
  %tally0 = load i64, ptr %picks
  %tally1 = call i64 @llvm.ctpop.i64(i64 %bits)
  %tally = add i64 %tally0, %tally1
  store i64 %tally, ptr %picks
  %most = add i64 %n, 64
  %full = icmp ugt i64 %most, {block}
  br i1 %full, label %flush, label %start.take
flush:
  %some = call i64 @compute(ptr %job, ptr %picked, i64 %n, i1 %flat)
  %left1 = add i64 %left, %some
  br label %start.take
start.take:
  %n0 = phi i64 [ %n, %room ], [ 0, %flush ]
  %left.now = phi i64 [ %left, %room ], [ %left1, %flush ]
  br label %take
take:
  %set.left = phi i64 [ %bits, %start.take ], [ %set.rest, %take ]
  %nt = phi i64 [ %n0, %start.take ], [ %n1, %take ]
  %ahead = call i64 @llvm.cttz.i64(i64 %set.left, i1 true)
  %found = add i64 %k, %ahead
  %found.p = getelementptr i64, ptr %picked, i64 %nt
  store i64 %found, ptr %found.p
  %n1 = add i64 %nt, 1
  %set.below = sub i64 %set.left, 1
  %set.rest = and i64 %set.left, %set.below
  %took = icmp eq i64 %set.rest, 0
  br i1 %took, label %scan, label %take
end:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %rest
rest:
  %others = call i64 @compute(ptr %job, ptr %picked, i64 %n, i1 %flat)
  %all = add i64 %left, %others
  ret i64 %all
done:
  ret i64 %left
}}

define internal i64 @compute(ptr %job, ptr %picked, i64 %n, i1 %flat) #0 {{
entry:
  {loads}
  %up = add i64 %n, %width
  %up1 = sub i64 %up, 1
  %steps = udiv i64 %up1, %width
  %padded = mul i64 %steps, %width
  %lines = getelementptr i8, ptr %picked, i64 {block_bytes}
  br i1 %flat, label %operand, label %divide
divide:
  %d = phi i64 [ 0, %entry ], [ %d1, %divide ]
  %d.p = getelementptr i64, ptr %picked, i64 %d
  %d.e = load i64, ptr %d.p
  %d.o = udiv i64 %d.e, %row
  %d.before = mul i64 %d.o, %row
  %d.i = sub i64 %d.e, %d.before
  store i64 %d.i, ptr %d.p
  %d.q = getelementptr i64, ptr %lines, i64 %d
  store i64 %d.o, ptr %d.q
  %d1 = add i64 %d, 1
  %divides = icmp ult i64 %d1, %n
  br i1 %divides, label %divide, label %operand
operand:
  %j = phi i64 [ 0, %entry ], [ 0, %divide ], [ %j1, %bound ]
  %brought = icmp eq i64 %j, %count
  br i1 %brought, label %call, label %bring
bring:
  %lead = mul i64 %j, {block_bytes}
  %buffer = getelementptr i8, ptr %buffers, i64 %lead
  %slot = getelementptr ptr, ptr %work, i64 %j
  store ptr %buffer, ptr %slot
  %is.input = icmp ult i64 %j, %inputs
  br i1 %is.input, label %gather, label %bound
gather:
  {operand_j}
  br i1 %flat, label %element, label %far.element
element:
  %s = phi i64 [ 0, %gather ], [ %s1, %element ]
  {address_s}
  %x = load double, ptr %s.place, align 1
  %near = getelementptr double, ptr %buffer, i64 %s
  store double %x, ptr %near
  %s1 = add i64 %s, 1
  %elements = icmp ult i64 %s1, %n
  br i1 %elements, label %element, label %pad
far.element:
  %t = phi i64 [ 0, %gather ], [ %t1, %far.element ]
  {address_t}
  %far.x = load double, ptr %t.far, align 1
  %far.near = getelementptr double, ptr %buffer, i64 %t
  store double %far.x, ptr %far.near
  %t1 = add i64 %t, 1
  %far.elements = icmp ult i64 %t1, %n
  br i1 %far.elements, label %far.element, label %pad
pad:
  %u = phi i64 [ %n, %element ], [ %n, %far.element ], [ %u1, %fill ]
  %last.x = phi double [ %x, %element ], [ %far.x, %far.element ], [ %last.x, %fill ]
  %short = icmp ult i64 %u, %padded
  br i1 %short, label %fill, label %bound
fill:
  %pad.p = getelementptr double, ptr %buffer, i64 %u
  store double %last.x, ptr %pad.p
  %u1 = add i64 %u, 1
  br label %pad
bound:
  %j1 = add i64 %j, 1
  br label %operand
call:
  call void %body(i64 %steps, ptr %work, i64 0)
  br label %result
result:
  %h = phi i64 [ %inputs, %call ], [ %h1, %column ]
  {operand_h}
  %behind.h = mul i64 %h, {block_bytes}
  %source = getelementptr i8, ptr %buffers, i64 %behind.h
  %h1 = add i64 %h, 1
  %is.flag = icmp eq i64 %h1, %count
  br i1 %is.flag, label %put.flag, label %scatter
scatter:
  br i1 %flat, label %put, label %far.put
put:
  %r = phi i64 [ 0, %scatter ], [ %r1, %put ]
  {address_r}
  %value.p = getelementptr double, ptr %source, i64 %r
  %value = load double, ptr %value.p
  store double %value, ptr %r.place, align 1
  %r1 = add i64 %r, 1
  %puts = icmp ult i64 %r1, %n
  br i1 %puts, label %put, label %column
far.put:
  %v = phi i64 [ 0, %scatter ], [ %v1, %far.put ]
  {address_v}
  %far.p = getelementptr double, ptr %source, i64 %v
  %far.value = load double, ptr %far.p
  store double %far.value, ptr %v.far, align 1
  %v1 = add i64 %v, 1
  %far.puts = icmp ult i64 %v1, %n
  br i1 %far.puts, label %far.put, label %column
column:
  br label %result
put.flag:
  %w = phi i64 [ 0, %result ], [ %w1, %put.flag.on ]
  %left = phi i64 [ 0, %result ], [ %left1, %put.flag.on ]
  {address_w}
  %flag.p = getelementptr i8, ptr %source, i64 %w
  %flag = load i8, ptr %flag.p
  br i1 %flat, label %put.near, label %put.far
put.near:
  store i8 %flag, ptr %w.place
  br label %put.flag.on
put.far:
  {address_far_w}
  store i8 %flag, ptr %w.far
  br label %put.flag.on
put.flag.on:
  %flag.n = zext i8 %flag to i64
  %left1 = add i64 %left, %flag.n
  %w1 = add i64 %w, 1
  %flagged = icmp ult i64 %w1, %n
  br i1 %flagged, label %put.flag, label %finish
finish:
  ret i64 %left1
}}
"""

_OPERAND = """
  %{j}.a = getelementptr ptr, ptr %operands, i64 %{j}
  %{j}.base = load ptr, ptr %{j}.a
  %{j}.b = getelementptr i64, ptr %inner, i64 %{j}
  %{j}.inner = load i64, ptr %{j}.b
  %{j}.c = getelementptr i64, ptr %outer, i64 %{j}
  %{j}.outer = load i64, ptr %{j}.c"""
_ADDRESS = """
  %{s}.p = getelementptr i64, ptr %picked, i64 %{s}
  %{s}.at = load i64, ptr %{s}.p
  %{s}.along = mul i64 %{s}.at, %{j}.inner
  %{s}.place = getelementptr i8, ptr %{j}.base, i64 %{s}.along"""
"""Where an element lies, counted along a row."""
_FAR_ADDRESS = """
  %{s}.row.p = getelementptr i64, ptr %lines, i64 %{s}
  %{s}.row = load i64, ptr %{s}.row.p
  %{s}.down = mul i64 %{s}.row, %{j}.outer
  %{s}.far = getelementptr i8, ptr %{s}.place, i64 %{s}.down"""
"""And across rows."""
_LOAD = """
  %{name}.p = getelementptr i64, ptr %{whose}, i64 {index}
  %{name} = load {kind}, ptr %{name}.p"""


def print_tiers(flags: bool) -> str:
    """Functions that stand behind the driver's: `i64 @tiers(ptr record)`.

    `flags` says whether the processor's flags can be read, as they can on x86; without
    them the lean body must not be given."""
    block_bytes = 8 * BLOCK
    pointers = {"body", "operands", "inner", "outer", "buffers", "work"}
    job = "".join(
        _LOAD.format(whose="job", name=name, index=k, kind="ptr" if name in pointers else "i64")
        for k, name in enumerate(JOB)
        if name not in ("items", "start", "stop")
    )
    behind = f"\n  %behind = mul i64 %count, {block_bytes}"
    record = "".join(
        _LOAD.format(whose="record", name=name, index=k, kind="ptr" if k < JOBS else "i64")
        if k < JOBS or name in ("stop", "lead", "sure")
        else f"\n  %{name}.p = getelementptr i64, ptr %record, i64 {k}"
        for k, name in enumerate(RECORD)
    )
    tiers = _TIERS.format(
        loads=record,
        chunk=CHUNK,
        most=MOST_RAISED,
        places="\n  ".join(PLACES),
        lean="\n  ".join(_lean(flags)),
        fence=_FENCE if flags else "",
        sparse=SPARSE,
        stream=JOB.index("stream"),
        start=JOB.index("start"),
        stop=JOB.index("stop"),
        needs_tested=NEEDS_TESTED,
        needs_between=NEEDS_BETWEEN,
        needs_second=NEEDS_SECOND,
        done=DONE,
    )
    repair = _REPAIR.format(
        loads=job + behind,
        block=BLOCK,
        block_bytes=block_bytes,
        operand_j=_OPERAND.format(j="j"),
        operand_h=_OPERAND.format(j="h"),
        address_s=_ADDRESS.format(s="s", j="j"),
        address_t=(_ADDRESS + _FAR_ADDRESS).format(s="t", j="j"),
        address_r=_ADDRESS.format(s="r", j="h"),
        address_v=(_ADDRESS + _FAR_ADDRESS).format(s="v", j="h"),
        address_w=_ADDRESS.format(s="w", j="h"),
        address_far_w=_FAR_ADDRESS.format(s="w", j="h"),
    )
    return tiers + repair + (_DECLARED if flags else "")


def _lean(flags: bool) -> list[str]:
    """Instructions that run the lean body for a chunk and say whether it raised no flag."""
    call = "call void @part(ptr %lean, i64 %k, i64 %end)"
    if not flags:
        return [call, "%silent = icmp eq i64 0, 1"]
    return [*watched([call], UNDERFLOWS | OVERFLOWS), "%silent = icmp eq i32 %bits, 0"]
