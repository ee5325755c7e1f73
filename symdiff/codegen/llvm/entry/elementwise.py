"""LLVM IR of a builtin that runs kernels on arrays without any Python.

It takes what is most common, and refuses the rest by returning NotImplemented:
arguments that are exact arrays of one dtype and one shape, C-contiguous or of one dimension;
or numbers: exact Python floats, integers that are exact in double precision, and NumPy's doubles
among doubles. Results are new arrays; or contiguous ones that follow the arguments, which are
contiguous then too and do not overlap them, and the builtin returns None. The caller of what
is refused takes the general path.
"""

from __future__ import annotations

from symdiff.codegen.llvm import tiers
from symdiff.codegen.llvm.array_loop import BLOCK, EXACT, JOB, loads
from symdiff.codegen.llvm.entry.sizes import print_test

API = ("PyCapsule_GetPointer", "float", "NotImplemented", "None", "ndarray",
       "PyArray_NewFromDescr", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef",
       "PyMem_RawMalloc", "PyMem_RawFree", "PyEval_SaveThread", "PyEval_RestoreThread",
       "int", "PyLong_AsLongLongAndOverflow", "numpy.float64")  # fmt: skip
"""The addresses in the global `api`, which must be filled before the first call."""

RECORD = ("tested", "tested_width", "lean", "lean_width", "few", "sure", "tried", "raised",
          "inputs", "outputs", "flagged", "width", "item", "limit", "descr", "second",
          "second_width", "between", "between_width", "long", "rank", "among", "never",
          "floats", "served")  # fmt: skip
"""What the capsule behind a builtin points to, each an i64.

tested, lean : the kernel's bodies, or 0; a call that needs one which is not there is refused.
tested_width, lean_width : elements that they compute at a time.
few : elements from which the lean body comes first.
sure, tried, raised : what `codegen.llvm.tiers` knows of it. inputs, outputs : how many.
flagged : 1 if a body also writes flags; a call in which one stays set is refused.
width, item : elements in a register, bytes in an element.
limit : most elements; more are refused, so that the caller may use threads.
descr : address of the dtype.
second, second_width : body of the second tier and its register, or 0.
between, between_width : those of what comes between; see `codegen.llvm.tiers`.
long : elements from which other threads of Python may run meanwhile.
rank : the dimensions that arrays must have, or `ANY_RANK`.
among : the arguments that must be arrays, as bits, unless they may have any rank.
never : a number of elements that is refused, or -1.
floats : 1 if Python's integers are refused.
served : address of a word for each axis, of the classes of sizes that are taken
    (`codegen.llvm.entry.sizes`).
"""

ANY_RANK = -1

ARRAY = {"data": 16, "nd": 24, "dims": 32, "strides": 40, "descr": 56, "flags": 64}
"""Where an array keeps its fields (NumPy's `PyArrayObject_fields`)."""

MOST_OPERANDS = 1000
SMALLEST_ALIGNED = 2048
"""Elements from which it pays to begin where outputs are aligned."""
_CONTIGUOUS, _WRITEABLE = 0x1, 0x400

_TEXT = """
@api = global [{api_size} x ptr] zeroinitializer
define ptr @call(ptr %self, ptr %args, i64 %nargs) #0 {{
entry:
  {api_loads}
  %record = call ptr %PyCapsule_GetPointer(ptr %self, ptr null)
  {record_loads}
  %writes = add i64 %outputs, %flagged
  %count = add i64 %inputs, %writes
  %first.s = alloca ptr
  %wide = alloca i32
  %n.s = alloca i64
  %k.s = alloca i64
  %d.s = alloca i64
  %job = alloca [{job_size} x i64]
  %lean_job = alloca [{job_size} x i64]
  %second_job = alloca [{job_size} x i64]
  %between_job = alloca [{job_size} x i64]
  %tiers = alloca [{tiers_size} x i64]
  %seen.s = alloca i64
  store i64 0, ptr %seen.s
  store ptr null, ptr %first.s
  store i64 0, ptr %k.s
  %all.args = add i64 %inputs, %outputs
  %to.new = icmp eq i64 %nargs, %inputs
  %to.given = icmp eq i64 %nargs, %all.args
  %right = or i1 %to.new, %to.given
  %small = icmp ult i64 %count, {most}
  %go = and i1 %right, %small
  br i1 %go, label %room, label %refuse
room:
  %operands = alloca i64, i64 %count
  %inner = alloca i64, i64 %count
  %outer = alloca i64, i64 %count
  %items = alloca i64, i64 %count
  %work = alloca i64, i64 %count
  %numbers = alloca double, i64 %count
  %news = alloca ptr, i64 %count
  br label %next
next:
  %k = load i64, ptr %k.s
  %all = icmp eq i64 %k, %nargs
  br i1 %all, label %known, label %look
look:
  %arg.p = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.p
  %type.p = getelementptr i8, ptr %arg, i64 {type_offset}
  %type = load ptr, ptr %type.p
  %operand.p = getelementptr i64, ptr %operands, i64 %k
  %inner.p = getelementptr i64, ptr %inner, i64 %k
  %outer.p = getelementptr i64, ptr %outer, i64 %k
  %items.p = getelementptr i64, ptr %items, i64 %k
  store i64 %item, ptr %items.p
  store i64 0, ptr %outer.p
  %is.array = icmp eq ptr %type, %ndarray
  br i1 %is.array, label %array, label %maybe.number
maybe.number:
  %is.float = icmp eq ptr %type, %float
  %is.numpy = icmp eq ptr %type, %numpy.float64
  %of.doubles = icmp eq i64 %item, 8
  %is.double = and i1 %is.numpy, %of.doubles
  %boxed = or i1 %is.float, %is.double
  %is.of.int = icmp eq ptr %type, %int
  %takes.int = icmp eq i64 %floats, 0
  %is.int = and i1 %is.of.int, %takes.int
  %some = or i1 %boxed, %is.int
  %is.read = icmp ult i64 %k, %inputs
  %is.number = and i1 %some, %is.read
  br i1 %is.number, label %which, label %refuse
which:
  br i1 %boxed, label %unbox, label %whole.int
whole.int:
  %whole.i = call i64 %PyLong_AsLongLongAndOverflow(ptr %arg, ptr %wide)
  %up = add i64 %whole.i, {exact}
  %is.exact = icmp ule i64 %up, {twice_exact}
  %overflow = load i32, ptr %wide
  %held = icmp eq i32 %overflow, 0
  %known.int = and i1 %is.exact, %held
  %converted = sitofp i64 %whole.i to double
  br i1 %known.int, label %number, label %refuse
unbox:
  %value.p = getelementptr i8, ptr %arg, i64 {value_offset}
  %unboxed = load double, ptr %value.p
  br label %number
number:
  %value = phi double [ %unboxed, %unbox ], [ %converted, %whole.int ]
  %number.p = getelementptr double, ptr %numbers, i64 %k
  %number.a = ptrtoint ptr %number.p to i64
  store i64 %number.a, ptr %operand.p
  store i64 0, ptr %inner.p
  br i1 %of.doubles, label %keep, label %round
keep:
  store double %value, ptr %number.p
  br label %step
round:
  %rounded = fptrunc double %value to float
  store float %rounded, ptr %number.p
  br label %step
array:
  %descr.p = getelementptr i8, ptr %arg, i64 {descr}
  %descr.a = load i64, ptr %descr.p
  %same.descr = icmp eq i64 %descr.a, %descr
  %flags.p = getelementptr i8, ptr %arg, i64 {flags}
  %flags = load i32, ptr %flags.p
  %is.input = icmp ult i64 %k, %inputs
  %needed = select i1 %is.input, i32 {contiguous}, i32 {contiguous_writeable}
  %found = and i32 %flags, %needed
  %dense = icmp eq i32 %found, %needed
  %nd.p = getelementptr i8, ptr %arg, i64 {nd}
  %nd32 = load i32, ptr %nd.p
  %is.line = icmp eq i32 %nd32, 1
  %may.stride = and i1 %is.line, %to.new
  %lies.well = or i1 %dense, %may.stride
  %usual = and i1 %same.descr, %lies.well
  br i1 %usual, label %stride, label %refuse
stride:
  %strides.p = getelementptr i8, ptr %arg, i64 {strides}
  %strides = load ptr, ptr %strides.p
  br i1 %dense, label %shape, label %strided
strided:
  %apart.by = load i64, ptr %strides
  br label %shape
shape:
  %step.by = phi i64 [ %item, %stride ], [ %apart.by, %strided ]
  %data.p = getelementptr i8, ptr %arg, i64 {data}
  %data = load i64, ptr %data.p
  store i64 %data, ptr %operand.p
  store i64 %step.by, ptr %inner.p
  %nd = sext i32 %nd32 to i64
  %dims.p = getelementptr i8, ptr %arg, i64 {dims}
  %dims = load ptr, ptr %dims.p
  store i64 0, ptr %d.s
  %bit.at = and i64 %k, 63
  %bit = shl i64 1, %bit.at
  %own.bit = select i1 %is.input, i64 %bit, i64 0
  %seen.bits = load i64, ptr %seen.s
  %more.bits = or i64 %seen.bits, %own.bit
  store i64 %more.bits, ptr %seen.s
  %first = load ptr, ptr %first.s
  %none.yet = icmp eq ptr %first, null
  br i1 %none.yet, label %lead, label %follow
lead:
  store ptr %arg, ptr %first.s
  store i64 1, ptr %n.s
  %scalar = icmp eq i64 %nd, 0
  br i1 %scalar, label %refuse, label %multiply
multiply:
  %d = load i64, ptr %d.s
  %counted = icmp eq i64 %d, %nd
  br i1 %counted, label %step, label %times
times:
  %dim.p = getelementptr i64, ptr %dims, i64 %d
  %dim = load i64, ptr %dim.p
  %n0 = load i64, ptr %n.s
  %n1 = mul i64 %n0, %dim
  store i64 %n1, ptr %n.s
  %d1 = add i64 %d, 1
  store i64 %d1, ptr %d.s
  %served.p = inttoptr i64 %served to ptr
  {size_test}
  br i1 %is.compared, label %multiply, label %refuse
follow:
  %fnd.p = getelementptr i8, ptr %first, i64 {nd}
  %fnd32 = load i32, ptr %fnd.p
  %fdims.p = getelementptr i8, ptr %first, i64 {dims}
  %fdims = load ptr, ptr %fdims.p
  %same.nd = icmp eq i32 %fnd32, %nd32
  br i1 %same.nd, label %compare, label %refuse
compare:
  %e = load i64, ptr %d.s
  %compared = icmp eq i64 %e, %nd
  br i1 %compared, label %step, label %equal
equal:
  %dim1.p = getelementptr i64, ptr %dims, i64 %e
  %dim1 = load i64, ptr %dim1.p
  %dim2.p = getelementptr i64, ptr %fdims, i64 %e
  %dim2 = load i64, ptr %dim2.p
  %e1 = add i64 %e, 1
  store i64 %e1, ptr %d.s
  %same = icmp eq i64 %dim1, %dim2
  br i1 %same, label %compare, label %refuse
step:
  %k1 = add i64 %k, 1
  store i64 %k1, ptr %k.s
  br label %next
known:
  %like = load ptr, ptr %first.s
  %n = load i64, ptr %n.s
  %none = icmp eq ptr %like, null
  br i1 %none, label %refuse, label %sized
sized:
  %rank.p = getelementptr i8, ptr %like, i64 {nd}
  %rank32 = load i32, ptr %rank.p
  %own.rank = sext i32 %rank32 to i64
  %same.rank = icmp eq i64 %own.rank, %rank
  %all.bits = load i64, ptr %seen.s
  %same.which = icmp eq i64 %all.bits, %among
  %same.kind = and i1 %same.rank, %same.which
  %any.rank = icmp slt i64 %rank, 0
  %of.kind = or i1 %any.rank, %same.kind
  br i1 %of.kind, label %measured, label %refuse
measured:
  %fits = icmp ule i64 %n, %limit
  %many = icmp uge i64 %n, %few
  %body = select i1 %many, i64 %lean, i64 %tested
  %is.there = icmp ne i64 %body, 0
  %nothing.to.do = icmp eq i64 %n, 0
  %may.run = or i1 %is.there, %nothing.to.do
  %is.meant = icmp ne i64 %n, %never
  %is.served = and i1 %fits, %is.meant
  %ready = and i1 %is.served, %may.run
  br i1 %ready, label %apart, label %refuse

apart:
  %bytes = mul i64 %n, %item
  store i64 %inputs, ptr %k.s
  br label %apart.out
apart.out:
  %ao = load i64, ptr %k.s
  %are.apart = icmp uge i64 %ao, %nargs
  br i1 %are.apart, label %create, label %apart.start
apart.start:
  %ao.p = getelementptr i64, ptr %operands, i64 %ao
  %written = load i64, ptr %ao.p
  store i64 0, ptr %d.s
  br label %apart.in
apart.in:
  %ai = load i64, ptr %d.s
  %seen = icmp eq i64 %ai, %inputs
  br i1 %seen, label %apart.next, label %apart.one
apart.one:
  %ai.p = getelementptr i64, ptr %operands, i64 %ai
  %read = load i64, ptr %ai.p
  %gap = sub i64 %written, %read
  %above = icmp ult i64 %gap, %bytes
  %gap.down = sub i64 %read, %written
  %below = icmp ult i64 %gap.down, %bytes
  %clash = or i1 %above, %below
  %ai1 = add i64 %ai, 1
  store i64 %ai1, ptr %d.s
  br i1 %clash, label %refuse, label %apart.in
apart.next:
  %ao1 = add i64 %ao, 1
  store i64 %ao1, ptr %k.s
  br label %apart.out

create:
  store i64 0, ptr %k.s
  %nd.like.p = getelementptr i8, ptr %like, i64 {nd}
  %nd.like = load i32, ptr %nd.like.p
  %dims.like.p = getelementptr i8, ptr %like, i64 {dims}
  %dims.like = load ptr, ptr %dims.like.p
  %descr.ptr = inttoptr i64 %descr to ptr
  %with.extra = add i64 %count, {extra}
  %memory.block = mul i64 %with.extra, {block_bytes}
  %memory.flags = mul i64 %n, %flagged
  %memory.size = add i64 %memory.block, %memory.flags
  %memory = call ptr %PyMem_RawMalloc(i64 %memory.size)
  %no.memory = icmp eq ptr %memory, null
  br i1 %no.memory, label %refuse, label %create.next
create.next:
  %c = load i64, ptr %k.s
  %created = icmp eq i64 %c, %outputs
  br i1 %created, label %flag.operand, label %create.one
create.one:
  %to = add i64 %inputs, %c
  %oi.p = getelementptr i64, ptr %inner, i64 %to
  store i64 %item, ptr %oi.p
  %oo.p = getelementptr i64, ptr %outer, i64 %to
  store i64 0, ptr %oo.p
  %ot.p = getelementptr i64, ptr %items, i64 %to
  store i64 %item, ptr %ot.p
  br i1 %to.given, label %create.end, label %create.new
create.new:
  call void %Py_IncRef(ptr %descr.ptr)
  %new = call ptr %PyArray_NewFromDescr(ptr %ndarray, ptr %descr.ptr, i32 %nd.like,
      ptr %dims.like, ptr null, ptr null, i32 0, ptr null)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %drop, label %create.put
create.put:
  %new.p = getelementptr ptr, ptr %news, i64 %c
  store ptr %new, ptr %new.p
  %o.p = getelementptr i64, ptr %operands, i64 %to
  %od.p = getelementptr i8, ptr %new, i64 {data}
  %od = load i64, ptr %od.p
  store i64 %od, ptr %o.p
  br label %create.end
create.end:
  %c1 = add i64 %c, 1
  store i64 %c1, ptr %k.s
  br label %create.next
flag.operand:
  %has.flags = icmp ne i64 %flagged, 0
  %flags.at = getelementptr i8, ptr %memory, i64 %memory.block
  br i1 %has.flags, label %flag.put, label %launch
flag.put:
  %last = add i64 %inputs, %outputs
  %fo.p = getelementptr i64, ptr %operands, i64 %last
  %flags.a = ptrtoint ptr %flags.at to i64
  store i64 %flags.a, ptr %fo.p
  %fi.p = getelementptr i64, ptr %inner, i64 %last
  store i64 1, ptr %fi.p
  %fu.p = getelementptr i64, ptr %outer, i64 %last
  store i64 0, ptr %fu.p
  %ft.p = getelementptr i64, ptr %items, i64 %last
  store i64 1, ptr %ft.p
  br label %launch
launch:
  %empty = icmp eq i64 %n, 0
  %row = select i1 %empty, i64 1, i64 %n
  %start = add i64 0, 0
  %stop = add i64 0, 0
  %buffers = getelementptr i8, ptr %memory, i64 0
  %stream = add i64 0, 0
  {job_stores}
  %no.flags = select i1 %many, i64 %sure, i64 0
  %lean.count = sub i64 %count, %no.flags
  {lean_job_stores}
  %cleared = mul i64 %memory.flags, %no.flags
  call void @llvm.memset.p0.i64(ptr %flags.at, i8 0, i64 %cleared, i1 false)
  {second_job_stores}
  {between_job_stores}
  %out.p = getelementptr i64, ptr %operands, i64 %inputs
  %out.a = load i64, ptr %out.p
  %register = mul i64 %width, %item
  %down = sub i64 0, %out.a
  %mask = sub i64 %register, 1
  %short = and i64 %down, %mask
  %is.8 = icmp eq i64 %item, 8
  %item.log = select i1 %is.8, i64 3, i64 2
  %steps = lshr i64 %short, %item.log
  %large = icmp uge i64 %n, {smallest_aligned}
  %begin = select i1 %large, i64 %steps, i64 0
  %lean.j = select i1 %many, ptr %lean_job, ptr null
  %has.second = icmp ne i64 %second, 0
  %second.j = select i1 %has.second, ptr %second_job, ptr null
  %has.between = icmp ne i64 %between, 0
  %between.j = select i1 %has.between, ptr %between_job, ptr null
  {tiers_stores}
  %slow = icmp uge i64 %n, %long
  br i1 %slow, label %launch.free, label %launch.held
launch.held:
  %status.held = call i64 @tiers(ptr %tiers)
  br label %launched
launch.free:
  %thread = call ptr %PyEval_SaveThread()
  %status.free = call i64 @tiers(ptr %tiers)
  call void %PyEval_RestoreThread(ptr %thread)
  br label %launched
launched:
  %outcome = phi i64 [ %status.held, %launch.held ], [ %status.free, %launch.free ]
  {counts}
  %left.p = getelementptr i64, ptr %tiers, i64 {left}
  %left = load i64, ptr %left.p
  %unfinished = or i64 %left, %outcome
  %finished = icmp eq i64 %unfinished, 0
  %to.verify = select i1 %has.second, i64 0, i64 %memory.flags
  br i1 %finished, label %verify, label %drop
verify:
  %flagged.any = call i1 @any(ptr %flags.at, i64 %to.verify)
  br i1 %flagged.any, label %drop, label %collect
collect:
  call void %PyMem_RawFree(ptr %memory)
  br i1 %to.given, label %nothing, label %results
nothing:
  call void %Py_IncRef(ptr %None)
  ret ptr %None
results:
  %one = icmp eq i64 %outputs, 1
  br i1 %one, label %bare, label %pack
bare:
  %only = load ptr, ptr %news
  ret ptr %only
pack:
  %tuple = call ptr %PyTuple_New(i64 %outputs)
  %no.tuple = icmp eq ptr %tuple, null
  br i1 %no.tuple, label %drop.arrays, label %pack.start
pack.start:
  store i64 0, ptr %k.s
  br label %pack.next
pack.next:
  %p = load i64, ptr %k.s
  %packed = icmp eq i64 %p, %outputs
  br i1 %packed, label %done, label %pack.one
pack.one:
  %item.p = getelementptr ptr, ptr %news, i64 %p
  %item.o = load ptr, ptr %item.p
  %status = call i32 %PyTuple_SetItem(ptr %tuple, i64 %p, ptr %item.o)
  %p1 = add i64 %p, 1
  store i64 %p1, ptr %k.s
  br label %pack.next
done:
  ret ptr %tuple

drop:
  %why = phi i1 [ true, %create.new ], [ false, %launched ], [ false, %verify ]
  call void %PyMem_RawFree(ptr %memory)
  br i1 %to.given, label %refuse, label %drop.next
drop.arrays:
  store i64 %outputs, ptr %k.s
  br label %drop.next
drop.next:
  %error = phi i1 [ %why, %drop ], [ true, %drop.arrays ], [ %error, %drop.one ]
  %r = load i64, ptr %k.s
  %dropped = icmp eq i64 %r, 0
  br i1 %dropped, label %dropped.all, label %drop.one
drop.one:
  %r1 = sub i64 %r, 1
  store i64 %r1, ptr %k.s
  %gone.p = getelementptr ptr, ptr %news, i64 %r1
  %gone = load ptr, ptr %gone.p
  call void %Py_DecRef(ptr %gone)
  br label %drop.next
dropped.all:
  br i1 %error, label %null, label %refuse
null:
  ret ptr null
refuse:
  call void %Py_IncRef(ptr %NotImplemented)
  ret ptr %NotImplemented
}}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define internal i1 @any(ptr %bytes, i64 %n) #0 {{
entry:
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k64, %wide ]
  %rest = sub i64 %n, %k
  %whole = icmp uge i64 %rest, 64
  br i1 %whole, label %wide, label %tail
wide:
  %wide.p = getelementptr i8, ptr %bytes, i64 %k
  %some = load <64 x i8>, ptr %wide.p, align 1
  %set = icmp ne <64 x i8> %some, zeroinitializer
  %bits = bitcast <64 x i1> %set to i64
  %k64 = add i64 %k, 64
  %clear = icmp eq i64 %bits, 0
  br i1 %clear, label %next, label %found
tail:
  %t = phi i64 [ %k, %next ], [ %t1, %one ]
  %end = icmp uge i64 %t, %n
  br i1 %end, label %none, label %one
one:
  %one.p = getelementptr i8, ptr %bytes, i64 %t
  %byte = load i8, ptr %one.p
  %t1 = add i64 %t, 1
  %zero = icmp eq i8 %byte, 0
  br i1 %zero, label %tail, label %found
found:
  ret i1 true
none:
  ret i1 false
}}
"""


def print_array_call(type_offset: int, value_offset: int) -> str:
    """The builtin `call(*arguments)`, to stand behind the driver's module.

    Its `__self__` is a capsule without a name that points to a record (`RECORD`).
    """
    api_loads = loads("@api", API, "ptr")
    record_loads = loads("%record", RECORD, "i64")
    values = dict.fromkeys(tiers.RECORD, "i64 0")
    values.update(
        lean="ptr %lean.j", tested="ptr %job", between="ptr %between.j", second="ptr %second.j",
        stop="i64 %n", lead="i64 %begin", sure="i64 %no.flags", tried="i64 %tried",
        raised="i64 %raised",
    )  # fmt: skip
    tiers_stores = _stores("tiers", tiers.RECORD, values)
    pointers = {"operands", "inner", "outer", "items", "buffers", "work"}
    values = {name: f"{'ptr' if name in pointers else 'i64'} %{name}" for name in JOB}
    tested = values | {"body": "i64 %tested", "width": "i64 %tested_width"}
    job_stores = _stores("job", JOB, tested)
    others = {
        f"{name}_job_stores": _stores(
            f"{name}_job", JOB, values | {"body": f"i64 %{name}", "width": f"i64 %{name}_width"}
        )
        for name in ("between", "second")
    }
    others["lean_job_stores"] = _stores(
        "lean_job",
        JOB,
        values | {"body": "i64 %lean", "width": "i64 %lean_width", "count": "i64 %lean.count"},
    )
    counts = "\n  ".join(
        f"%{name}.t = getelementptr i64, ptr %tiers, i64 {tiers.RECORD.index(name)}\n  "
        f"%{name}.now = load i64, ptr %{name}.t\n  store i64 %{name}.now, ptr %{name}.at"
        for name in ("tried", "raised")
    )
    return _TEXT.format(
        api_size=len(API),
        api_loads=api_loads,
        record_loads=record_loads,
        job_size=len(JOB),
        job_stores=job_stores,
        **others,
        counts=counts,
        tiers_size=len(tiers.RECORD),
        tiers_stores=tiers_stores,
        left=tiers.RECORD.index("left"),
        extra=tiers.EXTRA,
        most=MOST_OPERANDS,
        block_bytes=8 * BLOCK,
        smallest_aligned=SMALLEST_ALIGNED,
        size_test=print_test("%dim", "%served.p", "%d"),
        exact=EXACT,
        twice_exact=2 * EXACT,
        contiguous=_CONTIGUOUS,
        contiguous_writeable=_CONTIGUOUS | _WRITEABLE,
        type_offset=type_offset,
        value_offset=value_offset,
        **ARRAY,
    )


def _stores(place: str, names: tuple[str, ...], values: dict[str, str]) -> str:
    """Stores of all fields of a record, each an i64 or an address."""
    return "\n  ".join(
        f"%{place}.{name} = getelementptr i64, ptr %{place}, i64 {k}\n  "
        f"store {values[name]}, ptr %{place}.{name}"
        for k, name in enumerate(names)
    )
