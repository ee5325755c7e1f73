"""LLVM IR around kernels: the array driver, and the entry that Python calls.

The driver is the same for every kernel. It walks two strided dimensions as one
sequence of elements, hands contiguous operands to the kernel's `body` as they are,
and stages the others, and the last incomplete register, through buffers.

The entry is a METH_FASTCALL function for CPython: it takes numbers out of their boxes (exact
floats, integers that are exact in double precision, NumPy's doubles), calls the kernel's
`point` and boxes the results, as NumPy's if an argument was. For anything else it
returns NotImplemented and the caller takes the general path; for integers too where the builtin
is bound to NotImplemented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symdiff.codegen.llvm.assembly import Function

BLOCK = 512
"""Elements that are staged at a time."""

JOB = ("body", "operands", "inner", "outer", "items", "inputs", "count", "row", "start", "stop",
       "width", "buffers", "work", "stream")  # fmt: skip
"""The fields of a job, each an i64 or an address, in the order in which they lie.

body : address of the kernel's body.
operands, inner, outer, items : arrays of each operand's address, its strides in
    bytes along and across rows, and its element's size in bytes (8, 4 or 1).
inputs, count : how many operands are read, and how many there are.
row : elements in a row. start, stop : the elements to compute, counted over rows.
width : elements in a register, a power of two.
buffers : count * BLOCK * 8 bytes of memory; work : count addresses.
stream : 0, or how the body writes outputs that are contiguous (see `codegen.llvm.nontemporal`); or the plan of
    a body in ball arithmetic.
"""

TABLE = ("float", "NotImplemented", "PyFloat_FromDouble", "PyTuple_New", "PyTuple_SetItem",
         "Py_IncRef", "Py_DecRef", "int", "PyLong_AsLongLongAndOverflow", "numpy.float64",
         "_PyObject_New")  # fmt: skip
"""The addresses in the global `table` of an entry; "numpy.float64" is 0 if its numbers are to
be refused."""

EXACT = 2**53
"""Integers up to here are doubles."""

_ENTRY = """
@table = global [{table_size} x ptr] zeroinitializer
define internal ptr @box(double %d, i1 %numpy) alwaysinline #0 {{
entry:
  br i1 %numpy, label %scalar, label %float
float:
  %from.p = getelementptr ptr, ptr @table, i64 2
  %from = load ptr, ptr %from.p
  %python = call ptr %from(double %d)
  ret ptr %python
scalar:
  %new.p = getelementptr ptr, ptr @table, i64 10
  %new = load ptr, ptr %new.p
  %type.p = getelementptr ptr, ptr @table, i64 9
  %type = load ptr, ptr %type.p
  %made = call ptr %new(ptr %type)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %give, label %fill
fill:
  %value.p = getelementptr i8, ptr %made, i64 {value_offset}
  store double %d, ptr %value.p
  br label %give
give:
  ret ptr %made
}}
define ptr @entry(ptr %self, ptr %args, i64 %nargs) #0 {{
entry:
  %in = alloca [{slots_in} x {real}], align 16
  %out = alloca [{slots_out} x {real}], align 16
  %wide = alloca i32
  %float = load ptr, ptr @table
  %int.p = getelementptr ptr, ptr @table, i64 7
  %int.type = load ptr, ptr %int.p
  %not.p = getelementptr ptr, ptr @table, i64 1
  %not = load ptr, ptr %not.p
  %floats.only = icmp eq ptr %self, %not
  %int = select i1 %floats.only, ptr null, ptr %int.type
  %as.long.p = getelementptr ptr, ptr @table, i64 8
  %as.long = load ptr, ptr %as.long.p
  %double.p = getelementptr ptr, ptr @table, i64 9
  %double = load ptr, ptr %double.p
  %right = icmp eq i64 %nargs, {inputs}
  br i1 %right, label %next, label %refuse
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %put.in ]
  %numpy = phi i1 [ false, %entry ], [ %numpy1, %put.in ]
  %all = icmp eq i64 %k, {inputs}
  br i1 %all, label %compute, label %check
check:
  %arg.p = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.p
  %type.p = getelementptr i8, ptr %arg, i64 {type_offset}
  %type = load ptr, ptr %type.p
  %exact = icmp eq ptr %type, %float
  br i1 %exact, label %unbox, label %maybe.numpy
maybe.numpy:
  %is.numpy = icmp eq ptr %type, %double
  br i1 %is.numpy, label %unbox, label %maybe.int
maybe.int:
  %is.int = icmp eq ptr %type, %int
  br i1 %is.int, label %whole, label %refuse
whole:
  %long = call i64 %as.long(ptr %arg, ptr %wide)
  %up = add i64 %long, {exact}
  %small = icmp ule i64 %up, {twice_exact}
  %overflow = load i32, ptr %wide
  %held = icmp eq i32 %overflow, 0
  %known = and i1 %small, %held
  %converted = sitofp i64 %long to double
  br i1 %known, label %put.in, label %refuse
unbox:
  %numpy.here = phi i1 [ false, %check ], [ true, %maybe.numpy ]
  %value.p = getelementptr i8, ptr %arg, i64 {value_offset}
  %unboxed = load double, ptr %value.p
  br label %put.in
put.in:
  %value = phi double [ %unboxed, %unbox ], [ %converted, %whole ]
  %is.double = phi i1 [ %numpy.here, %unbox ], [ false, %whole ]
  %numpy1 = or i1 %numpy, %is.double
  {unbox}
  %in.p = getelementptr {real}, ptr %in, i64 %k
  store {real} %x, ptr %in.p
  %k1 = add i64 %k, 1
  br label %next
compute:
  %flag = call i8 @point(ptr %in, ptr %out)
  %fine = icmp eq i8 %flag, 0
  br i1 %fine, label %box, label %refuse
box:
  {box}
refuse:
  %none.p = getelementptr ptr, ptr @table, i64 1
  %none = load ptr, ptr %none.p
  %incref.p = getelementptr ptr, ptr @table, i64 5
  %incref = load ptr, ptr %incref.p
  call void %incref(ptr %none)
  ret ptr %none
}}
"""

_BOX_ONE = """
  %y = load {real}, ptr %out
  {extend}
  %r = call ptr @box(double %d, i1 %numpy)
  ret ptr %r
"""

_BOX_TUPLE = """
  %new.p = getelementptr ptr, ptr @table, i64 3
  %new = load ptr, ptr %new.p
  %set.p = getelementptr ptr, ptr @table, i64 4
  %set = load ptr, ptr %set.p
  %tuple = call ptr %new(i64 {outputs})
  %failed = icmp eq ptr %tuple, null
  br i1 %failed, label %null, label %fill
fill:
  %j = phi i64 [ 0, %box ], [ %j1, %put ]
  %full = icmp eq i64 %j, {outputs}
  br i1 %full, label %done, label %item
item:
  %y.p = getelementptr {real}, ptr %out, i64 %j
  %y = load {real}, ptr %y.p
  {extend}
  %r = call ptr @box(double %d, i1 %numpy)
  %bad = icmp eq ptr %r, null
  br i1 %bad, label %drop, label %put
put:
  call i32 %set(ptr %tuple, i64 %j, ptr %r)
  %j1 = add i64 %j, 1
  br label %fill
done:
  ret ptr %tuple
drop:
  %decref.p = getelementptr ptr, ptr @table, i64 6
  %decref = load ptr, ptr %decref.p
  call void %decref(ptr %tuple)
  br label %null
null:
  ret ptr null
"""


def loads(place: str, names: Sequence[str], kind: str, prefix: str = "") -> str:
    """Loads of all fields of a table at a place; `%name.at` is where each lies."""
    return "\n  ".join(
        f"%{prefix}{name}.at = getelementptr {kind}, ptr {place}, i64 {k}\n  "
        f"%{prefix}{name} = load {kind}, ptr %{prefix}{name}.at"
        for k, name in enumerate(names)
    )


def print_entry(
    inputs: int, outputs: int, dtype: str, *, scalar: bool, layout: tuple[int, int]
) -> str:
    """The builtin `entry(*numbers)`, to stand behind a module with `point`.

    Parameters
    ----------
    inputs, outputs : how many.
    dtype : of the kernel; Python's floats are converted.
    scalar : whether a single output is returned bare, not in a tuple.
    layout : where a Python float keeps its type and its value.

    Notes
    -----
    The global `table` must be filled with the addresses of `TABLE`.
    """
    single = dtype == "float32"
    real = "float" if single else "double"
    unbox = f"%x = {'fptrunc double %value to float' if single else 'fadd double %value, -0.0'}"
    extend = f"%d = {'fpext float %y to double' if single else 'fadd double %y, -0.0'}"
    box = (_BOX_ONE if scalar else _BOX_TUPLE).format(real=real, extend=extend, outputs=outputs)
    return _ENTRY.format(
        table_size=len(TABLE),
        exact=EXACT,
        twice_exact=2 * EXACT,
        inputs=inputs,
        slots_in=max(1, inputs),
        slots_out=max(1, outputs),
        real=real,
        type_offset=layout[0],
        value_offset=layout[1],
        unbox=unbox,
        box=box,
    )


_COPY = """
define internal void @{name}{bits}(ptr %buffer, ptr %base, i64 %inner, i64 %outer, i64 %row,
                                   i64 %first, i64 %count) #0 {{
entry:
  %o = udiv i64 %first, %row
  %i0 = urem i64 %first, %row
  %skip = mul i64 %o, %outer
  %line0 = getelementptr i8, ptr %base, i64 %skip
  br label %rows
rows:
  %i = phi i64 [ %i0, %entry ], [ 0, %end ]
  %r = phi i64 [ 0, %entry ], [ %r1, %end ]
  %line = phi ptr [ %line0, %entry ], [ %line1, %end ]
  %left = sub i64 %row, %i
  %wanted = sub i64 %count, %r
  %part = call i64 @llvm.umin.i64(i64 %left, i64 %wanted)
  %ahead = mul i64 %i, %inner
  %far0 = getelementptr i8, ptr %line, i64 %ahead
  %near0 = getelementptr i{bits}, ptr %buffer, i64 %r
  br label %elements
elements:
  %s = phi i64 [ 0, %rows ], [ %s1, %elements ]
  %far = phi ptr [ %far0, %rows ], [ %far1, %elements ]
  %near = phi ptr [ %near0, %rows ], [ %near1, %elements ]
  %x = load i{bits}, ptr {source}, align 1
  store i{bits} %x, ptr {target}, align 1
  %far1 = getelementptr i8, ptr %far, i64 %inner
  %near1 = getelementptr i{bits}, ptr %near, i64 1
  %s1 = add i64 %s, 1
  %more = icmp ult i64 %s1, %part
  br i1 %more, label %elements, label %end
end:
  %r1 = add i64 %r, %part
  %line1 = getelementptr i8, ptr %line, i64 %outer
  %again = icmp ult i64 %r1, %count
  br i1 %again, label %rows, label %done
done:
  ret void
}}
"""

_PAD = """
define internal void @pad{bits}(ptr %buffer, i64 %count, i64 %full) #0 {{
entry:
  %last = sub i64 %count, 1
  %last.p = getelementptr i{bits}, ptr %buffer, i64 %last
  %x = load i{bits}, ptr %last.p, align 1
  br label %next
next:
  %k = phi i64 [ %count, %entry ], [ %k1, %fill ]
  %more = icmp ult i64 %k, %full
  br i1 %more, label %fill, label %done
fill:
  %p = getelementptr i{bits}, ptr %buffer, i64 %k
  store i{bits} %x, ptr %p, align 1
  %k1 = add i64 %k, 1
  br label %next
done:
  ret void
}}
"""

_POINTERS = ("body", "operands", "inner", "outer", "items", "buffers", "work")


def job_fields(f: Function) -> dict[str, str]:
    """The fields of the job at `%job`."""
    return {
        name: f.load("%job", str(k), "ptr" if name in _POINTERS else "i64")
        for k, name in enumerate(JOB)
    }


def operand(f: Function, job: Mapping[str, str], j: str) -> tuple[str, str, str]:
    """Where an operand lies, and its strides along and across rows."""
    base = f.load(job["operands"], j, "ptr")
    return base, f.load(job["inner"], j, "i64"), f.load(job["outer"], j, "i64")


@dataclass(frozen=True, slots=True)
class _Operand:
    """An operand: where it and its buffer lie, its strides and the size of an element, and whether
    it is handed to the body as it is."""

    base: str
    inner: str
    outer: str
    item: str
    buffer: str
    is_direct: str


def _operand(f: Function, job: Mapping[str, str], j: str) -> _Operand:
    base, inner, outer = operand(f, job, j)
    item = f.load(job["items"], j, "i64")
    close = f.compare("eq", outer, f.whole("mul", item, job["row"]))
    flat = f.either(close, f.compare("uge", job["row"], job["stop"]))
    buffer = f.place(job["buffers"], f.whole("mul", j, str(8 * BLOCK)), "i8")
    return _Operand(base, inner, outer, item, buffer, f.both(f.compare("eq", inner, item), flat))


def print_driver() -> str:
    """The module with `void @run(ptr job)`; a job lies in memory as JOB says."""
    copies = "".join(
        _COPY.format(name=name, bits=bits, source=source, target=target)
        for bits in (64, 32, 8)
        for name, source, target in (("gather", "%far", "%near"), ("scatter", "%near", "%far"))
    )
    pads = "".join(_PAD.format(bits=bits) for bits in (64, 32, 8))
    declared = "declare i64 @llvm.umin.i64(i64, i64)\ndeclare i64 @llvm.cttz.i64(i64, i1)\n"
    declared += "declare i64 @llvm.smin.i64(i64, i64)\n"
    return copies + pads + declared + _print_run() + "\nattributes #0 = { nounwind }\n"


def _print_run() -> str:
    """Walk over the elements from `start` to `stop`, in blocks if any operand is staged."""
    f = Function()
    job = job_fields(f)
    count, inputs, width, work = (job[n] for n in ("count", "inputs", "width", "work"))
    log = f.emit(f"call i64 @llvm.cttz.i64(i64 {width}, i1 true)")
    every, outputs = f.variable("i1", "true"), f.variable("i1", "true")
    at = f.variable("i64", job["start"])
    f.leave_unless(f.compare("ult", job["start"], job["stop"]), "finish")
    with f.loop("0", count) as j:
        direct = _operand(f, job, j).is_direct
        f.write("i1", f.both(f.read("i1", every), direct), every)
        fits = f.either(direct, f.compare("ult", j, inputs))
        f.write("i1", f.both(f.read("i1", outputs), fits), outputs)
    f.label("blocks")
    k = f.read("i64", at)
    rest = f.whole("sub", job["stop"], k)
    limit = f.choose(f.read("i1", every), rest, f.least(rest, str(BLOCK)))
    whole = f.whole("lshr", limit, log)
    few = f.compare("eq", whole, "0")
    m = f.choose(few, limit, f.whole("mul", whole, width))
    steps = f.choose(few, "1", whole)
    padded, many = f.whole("mul", steps, width), f.emit(f"xor i1 {few}, true")
    with f.loop("0", count) as j:
        o, slot, brought = _operand(f, job, j), f.place(work, j, "ptr"), f.name("brought")
        with f.when(f.both(o.is_direct, many)):
            f.write("ptr", f.place(o.base, f.whole("mul", k, o.item), "i8"), slot)
            f.go(brought)
        f.write("ptr", o.buffer, slot)
        varies = f.compare("ne", o.inner, "0"), f.compare("ne", o.outer, "0")
        is_fresh = f.either(*varies, f.compare("eq", k, job["start"]), few)
        with f.when(f.both(f.compare("ult", j, inputs), is_fresh)):
            _copy(f, "gather", o, job["row"], k, m, padded)
        f.label(brought)
    past = f.choose(f.both(f.read("i1", outputs), many), job["stream"], "0")
    f.do(f"call void {job['body']}(i64 {steps}, ptr {work}, i64 {past})")
    with f.loop(inputs, count) as j:
        o = _operand(f, job, j)
        with f.when(f.compare("eq", f.load(work, j, "ptr"), o.buffer, "ptr")):
            _copy(f, "scatter", o, job["row"], k, m)
    following = f.whole("add", k, m)
    f.write("i64", following, at)
    f.leave_if(f.compare("ult", following, job["stop"]), "blocks")
    f.label("finish")
    return f.function("void @run(ptr %job) #0", "ret void", how="")


def _copy(f: Function, name: str, o: _Operand, row: str, k: str, m: str, padded: str = "") -> None:
    """Copy elements of an operand to its buffer, or from it, and fill up the last register."""
    where = f"ptr {o.buffer}, ptr {o.base}, i64 {o.inner}, i64 {o.outer}, i64 {row}"
    for size in (8, 4, 1):
        with f.when(f.compare("eq", o.item, str(size))):
            f.do(f"call void @{name}{8 * size}({where}, i64 {k}, i64 {m})")
            if padded:
                f.do(f"call void @pad{8 * size}(ptr {o.buffer}, i64 {m}, i64 {padded})")
