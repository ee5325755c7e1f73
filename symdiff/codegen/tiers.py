"""LLVM IR that runs the tiers of a kernel over arrays, chunk by chunk, around the driver.

A chunk goes through the first of the bodies that serves:

1. lean: no test of its own for overflow, underflow or invalid operations. The processor
   keeps a flag for each (IEEE 754, section 7), which is read after the chunk; where one
   is set, the chunk is computed again by
2. tested, which says of every element whether it is suspect.

Suspect elements are then gathered, computed again by the bodies `between` and `second`,
each of which takes what the one before it flags, whole registers at a time, and put back;
what the last body flags stays flagged. So an element's result does not depend on others.
"""

from __future__ import annotations

from symdiff.codegen.driver import BLOCK, JOB
from symdiff.codegen.flags import DECLARED, OVERFLOWS, PLACES, UNDERFLOWS, watched

CHUNK = 4096
"""Elements between two looks at the processor's flags."""
RECORD = ("lean", "tested", "between", "second", "position", "stop", "left", "tried", "raised",
          "lead")  # fmt: skip
"""What `tiers` takes, each an i64 or an address.

lean, tested, between, second : jobs (see `driver.JOB`), or null; start and stop are filled
    in. The bodies of all but `lean` may be null until they are asked for.
position, stop : the elements still to be computed.
left : how many stay flagged after the second tier.
tried, raised : chunks that the lean body computed, and those of them it failed.
lead : elements before the first that lies at a multiple of a register's size; chunks
    begin there, and at multiples of CHUNK elements from there.
"""
JOBS = 4
"""So many entries of a record are jobs."""
DONE, NEEDS_TESTED, NEEDS_BETWEEN, NEEDS_SECOND = 0, 1, 2, 3
"""What `tiers` returns: finished, or which body is missing to go on."""
EXTRA = 2
"""Further blocks of memory that the second job needs behind its buffers."""
MOST_RAISED = 4
"""The lean body is given up when one of so many chunks raised a flag."""

_TIERS = """
define i64 @tiers(ptr %record) #0 {{
entry:
  {places}
  {loads}
  %has.lean = icmp ne ptr %lean, null
  %has.between = icmp ne ptr %between, null
  %has.second = icmp ne ptr %second, null
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
  br i1 %silent, label %repair, label %raise
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
  br label %repair
repair:
  br i1 %has.between, label %better, label %settle
better:
  %unsettled = call i64 @repair(ptr %between, i64 %k, i64 %end)
  %lacks = icmp slt i64 %unsettled, 0
  br i1 %lacks, label %ask.between, label %looked
ask.between:
  ret i64 {needs_between}
looked:
  %settled = icmp eq i64 %unsettled, 0
  br i1 %settled, label %next, label %settle
settle:
  br i1 %has.second, label %again, label %next
again:
  %stays = call i64 @repair(ptr %second, i64 %k, i64 %end)
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
declare i64 @llvm.cttz.i64(i64, i1)
define internal i64 @repair(ptr %job, i64 %first, i64 %last) #0 {{
entry:
  {loads}
  %rows = getelementptr i8, ptr %buffers, i64 %behind
  %columns = getelementptr i8, ptr %rows, i64 {block_bytes}
  %at = sub i64 %count, 1
  %flag.a = getelementptr ptr, ptr %operands, i64 %at
  %flags = load ptr, ptr %flag.a
  %flag.b = getelementptr i64, ptr %inner, i64 %at
  %flag.inner = load i64, ptr %flag.b
  %flag.c = getelementptr i64, ptr %outer, i64 %at
  %flag.outer = load i64, ptr %flag.c
  %one.row = icmp uge i64 %row, %last
  %close = icmp eq i64 %flag.outer, %row
  %flat = or i1 %one.row, %close
  %unit = icmp eq i64 %flag.inner, 1
  %dense = and i1 %unit, %flat
  br label %scan
scan:
  %k = phi i64 [ %first, %entry ], [ %k8, %skip ], [ %k1, %next ]
  %n = phi i64 [ 0, %entry ], [ %n, %skip ], [ %n2, %next ]
  %left = phi i64 [ 0, %entry ], [ %left, %skip ], [ %left2, %next ]
  %over = icmp uge i64 %k, %last
  br i1 %over, label %end, label %look
look:
  %k8 = add i64 %k, 8
  %whole = icmp ule i64 %k8, %last
  %wide = and i1 %whole, %dense
  br i1 %wide, label %word, label %single
word:
  %word.p = getelementptr i8, ptr %flags, i64 %k
  %bytes = load i64, ptr %word.p, align 1
  %none = icmp eq i64 %bytes, 0
  br i1 %none, label %skip, label %jump
skip:
  br label %scan
jump:
  %zeros = call i64 @llvm.cttz.i64(i64 %bytes, i1 true)
  %ahead = lshr i64 %zeros, 3
  %found = add i64 %k, %ahead
  br label %single
single:
  %e = phi i64 [ %k, %look ], [ %found, %jump ]
  br i1 %one.row, label %place, label %divide
divide:
  %quotient = udiv i64 %e, %row
  br label %place
place:
  %o = phi i64 [ 0, %single ], [ %quotient, %divide ]
  %before = mul i64 %o, %row
  %i = sub i64 %e, %before
  %down = mul i64 %o, %flag.outer
  %along = mul i64 %i, %flag.inner
  %offset = add i64 %down, %along
  %f.p = getelementptr i8, ptr %flags, i64 %offset
  %f = load i8, ptr %f.p
  %fine = icmp eq i8 %f, 0
  br i1 %fine, label %next, label %pick
pick:
  %ready = icmp ne ptr %body, null
  br i1 %ready, label %take, label %ask
ask:
  ret i64 -1
take:
  %at.row = getelementptr i64, ptr %rows, i64 %n
  store i64 %o, ptr %at.row
  %at.column = getelementptr i64, ptr %columns, i64 %n
  store i64 %i, ptr %at.column
  %n1 = add i64 %n, 1
  %full = icmp eq i64 %n1, {block}
  br i1 %full, label %flush, label %next
flush:
  %some = call i64 @compute(ptr %job, ptr %rows, ptr %columns, i64 %n1)
  %left1 = add i64 %left, %some
  br label %next
next:
  %n2 = phi i64 [ %n, %place ], [ %n1, %take ], [ 0, %flush ]
  %left2 = phi i64 [ %left, %place ], [ %left, %take ], [ %left1, %flush ]
  %k1 = add i64 %e, 1
  br label %scan
end:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %rest
rest:
  %others = call i64 @compute(ptr %job, ptr %rows, ptr %columns, i64 %n)
  %all = add i64 %left, %others
  ret i64 %all
done:
  ret i64 %left
}}

define internal i64 @compute(ptr %job, ptr %rows, ptr %columns, i64 %n) #0 {{
entry:
  {loads}
  %up = add i64 %n, %width
  %up1 = sub i64 %up, 1
  %steps = udiv i64 %up1, %width
  %padded = mul i64 %steps, %width
  br label %operand
operand:
  %j = phi i64 [ 0, %entry ], [ %j1, %bound ]
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
  br label %cell
cell:
  %s = phi i64 [ 0, %gather ], [ %s1, %cell ]
  {address_s}
  %x = load double, ptr %far, align 1
  %near = getelementptr double, ptr %buffer, i64 %s
  store double %x, ptr %near
  %s1 = add i64 %s, 1
  %cells = icmp ult i64 %s1, %n
  br i1 %cells, label %cell, label %pad
pad:
  %t = phi i64 [ %n, %cell ], [ %t1, %fill ]
  %short = icmp ult i64 %t, %padded
  br i1 %short, label %fill, label %bound
fill:
  %pad.p = getelementptr double, ptr %buffer, i64 %t
  store double %x, ptr %pad.p
  %t1 = add i64 %t, 1
  br label %pad
bound:
  %j1 = add i64 %j, 1
  br label %operand
call:
  call void %body(i64 %steps, ptr %work, i64 0)
  br label %result
result:
  %h = phi i64 [ %inputs, %call ], [ %h1, %column ]
  %left = phi i64 [ 0, %call ], [ %left3, %column ]
  %taken = icmp eq i64 %h, %count
  br i1 %taken, label %finish, label %scatter
scatter:
  {operand_h}
  %behind.h = mul i64 %h, {block_bytes}
  %source = getelementptr i8, ptr %buffers, i64 %behind.h
  %last.one = sub i64 %count, 1
  %is.flag = icmp eq i64 %h, %last.one
  br label %put
put:
  %r = phi i64 [ 0, %scatter ], [ %r1, %put.next ]
  %left1 = phi i64 [ %left, %scatter ], [ %left2, %put.next ]
  {address_r}
  br i1 %is.flag, label %put.flag, label %put.value
put.flag:
  %flag.p = getelementptr i8, ptr %source, i64 %r
  %flag = load i8, ptr %flag.p
  store i8 %flag, ptr %to
  %flag.n = zext i8 %flag to i64
  br label %put.next
put.value:
  %value.p = getelementptr double, ptr %source, i64 %r
  %value = load double, ptr %value.p
  store double %value, ptr %to, align 1
  br label %put.next
put.next:
  %more.left = phi i64 [ %flag.n, %put.flag ], [ 0, %put.value ]
  %left2 = add i64 %left1, %more.left
  %r1 = add i64 %r, 1
  %puts = icmp ult i64 %r1, %n
  br i1 %puts, label %put, label %column
column:
  %left3 = phi i64 [ %left2, %put.next ]
  %h1 = add i64 %h, 1
  br label %result
finish:
  ret i64 %left
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
  %{s}.row.p = getelementptr i64, ptr %rows, i64 %{s}
  %{s}.row = load i64, ptr %{s}.row.p
  %{s}.column.p = getelementptr i64, ptr %columns, i64 %{s}
  %{s}.column = load i64, ptr %{s}.column.p
  %{s}.down = mul i64 %{s}.row, %{j}.outer
  %{s}.along = mul i64 %{s}.column, %{j}.inner
  %{s}.offset = add i64 %{s}.down, %{s}.along
  %{name} = getelementptr i8, ptr %{j}.base, i64 %{s}.offset"""
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
        if k < JOBS or name in ("stop", "lead")
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
        address_s=_ADDRESS.format(s="s", j="j", name="far"),
        address_r=_ADDRESS.format(s="r", j="h", name="to"),
    )
    return tiers + repair + (_DECLARED if flags else "")


def _lean(flags: bool) -> list[str]:
    """Instructions that run the lean body for a chunk and say whether it raised no flag."""
    call = "call void @part(ptr %lean, i64 %k, i64 %end)"
    if not flags:
        return [call, "%silent = icmp eq i64 0, 1"]
    return [*watched([call], UNDERFLOWS | OVERFLOWS), "%silent = icmp eq i32 %bits, 0"]
