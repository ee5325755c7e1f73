"""LLVM IR of a builtin that runs kernels on arrays without any Python.

It takes what is most common, and refuses the rest by returning NotImplemented:
arguments that are exact arrays of one dtype and one shape, C-contiguous or of one dimension;
or numbers: exact Python floats, integers that are exact in double precision, and NumPy's doubles
among doubles. Results are new arrays; or contiguous ones that follow the arguments, which are
contiguous then too and do not overlap them, and the builtin returns None. The caller of what
is refused takes the general path.
"""

from __future__ import annotations

from collections.abc import Mapping

from symdiff.codegen.llvm import tiers
from symdiff.codegen.llvm.array_loop import BLOCK, JOB
from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.entry.objects import Builtin
from symdiff.codegen.llvm.entry.sizes import is_served

API = ("PyCapsule_GetPointer", "float", "NotImplemented", "None", "ndarray",
       "PyArray_NewFromDescr", "PyTuple_New", "PyTuple_SetItem", "Py_IncRef", "Py_DecRef",
       "PyMem_RawMalloc", "PyMem_RawFree", "PyEval_SaveThread", "PyEval_RestoreThread",
       "int", "PyLong_AsLongLongAndOverflow", "numpy.float64")  # fmt: skip
"""The addresses in the global `api`, which must be filled before the first call."""

RECORD = ("tested", "tested_width", "lean", "lean_width", "few", "sure", "tried", "raised",
          "inputs", "outputs", "flagged", "width", "item", "limit", "descr", "between",
          "between_width", "balls", "plan", "long", "rank", "among", "never", "floats", "served")  # fmt: skip
"""What the capsule behind a builtin points to, each an i64.

tested, lean : the kernel's bodies, or 0; a call that needs one which is not there is refused.
tested_width, lean_width : elements that they compute at a time.
few : elements from which the lean body comes first.
sure, tried, raised : what `codegen.llvm.tiers` knows of it. inputs, outputs : how many.
flagged : 1 if a body also writes flags; a call in which one stays set is refused.
width, item : elements in a register, bytes in an element.
limit : most elements; more are refused, so that the caller may use threads.
descr : address of the dtype.
between, between_width : body that computes flagged elements again, and its register, or 0.
balls, plan : the same in ball arithmetic, and its last argument, or 0.
long : elements from which other threads of Python may run meanwhile.
rank : the dimensions that arrays must have, or `ANY_RANK`.
among : the arguments that must be arrays, as bits, unless they may have any rank.
never : a number of elements that is refused, or -1.
floats : 1 if Python's integers are refused.
served : address of a word for each axis, of the classes of sizes that are taken
    (`codegen.llvm.entry.sizes`).
"""

ANY_RANK = -1

MOST_OPERANDS = 1000
SMALLEST_ALIGNED = 2048
"""Elements from which it pays to begin where outputs are aligned."""
_CONTIGUOUS, _WRITEABLE = 0x1, 0x400

_POINTERS = ("operands", "inner", "outer", "items", "work", "buffers")


def print_array_call(type_offset: int, value_offset: int) -> str:
    """The builtin `call(*arguments)`, to stand behind the driver's module.

    Its `__self__` is a capsule without a name that points to a record (`RECORD`).
    """
    f = Builtin("api", API, RECORD, (type_offset, value_offset))
    f.do("%writes = add i64 %outputs, %flagged", "%count = add i64 %inputs, %writes")
    jobs = {name: f.room(f"[{len(JOB)} x i64]") for name in ("tested", "lean", "between", "balls")}
    record = f.room(f"[{len(tiers.RECORD)} x i64]")
    first, size, seen = f.variable("ptr", "null"), f.variable("i64", "1"), f.variable("i64", "0")
    thread = f.variable("ptr", "null")
    all_given = f.whole("add", "%inputs", "%outputs")
    f.do("%to.new = icmp eq i64 %nargs, %inputs", f"%to.given = icmp eq i64 %nargs, {all_given}")
    small = f.compare("ult", "%count", str(MOST_OPERANDS))
    f.leave_unless(f.both(f.either("%to.new", "%to.given"), small), "refuse")
    for name in _POINTERS[:-1]:
        f.do(f"%{name} = alloca i64, i64 %count")
    f.do("%numbers = alloca double, i64 %count")
    f.news = f.room("ptr", "%count")
    _take(f, first, size, seen)
    like, n = f.read("ptr", first), f.read("i64", size)
    f.leave_if(f.compare("eq", like, "null", "ptr"), "refuse")
    _check(f, like, n, seen)
    _check_apart(f, f.whole("mul", n, "%item"))
    flags = _make(f, like, n)
    many = f.compare("uge", n, "%few")
    _fill(f, n, many, flags, jobs, record)
    is_long = f.compare("uge", n, "%long")
    with f.when(is_long):
        f.write("ptr", f.emit("call ptr %PyEval_SaveThread()"), thread)
    status = f.emit(f"call i64 @tiers(ptr {record})")
    with f.when(is_long):
        f.do(f"call void %PyEval_RestoreThread(ptr {f.read('ptr', thread)})")
    after = f.words(record, tiers.RECORD)
    for name in ("tried", "raised"):
        f.write("i64", after[name], f"%{name}.at")
    f.leave_unless(f.compare("eq", status, "0"), "drop")
    f.leave_if(f.emit(f"call i1 @any(ptr {flags}, i64 %memory.flags)"), "drop")
    f.do("call void %PyMem_RawFree(ptr %memory)")
    with f.when("%to.given"):
        f.do("call void %Py_IncRef(ptr %None)")
        f.give("ptr %None")
    f.hand_out("%outputs", "lost")
    f.label("failed")
    f.write("i1", "true", f.is_error)
    f.label("drop")
    f.do("call void %PyMem_RawFree(ptr %memory)")
    f.go("dropping")
    f.label("lost")
    f.write("i1", "true", f.is_error)
    f.label("dropping")
    f.drop()
    declared = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
    return f.text("call") + declared + _print_any()


def _take(f: Builtin, first: str, size: str, seen: str) -> None:
    """Take the arguments: addresses and strides of arrays of one shape, and of numbers."""
    of_doubles, integers = f.compare("eq", "%item", "8"), f.compare("eq", "%floats", "0")
    with f.loop("0", "%nargs") as k:
        argument, following = f.load("%args", k, "ptr"), f.name("following")
        kind, is_input = f.type_of(argument), f.compare("ult", k, "%inputs")
        f.store("%item", "%items", k, "i64")
        f.store("0", "%outer", k, "i64")
        with f.when(f.compare("ne", kind, "%ndarray", "ptr")):
            f.leave_unless(is_input, "refuse")
            place = f.place("%numbers", k, "double")
            f.real(argument, place, kind, integers, of_doubles)
            f.store(f.address("ptr", place), "%operands", k, "i64")
            f.store("0", "%inner", k, "i64")
            f.leave_if(of_doubles, following)
            rounded = f.emit(f"fptrunc double {f.read('double', place)} to float")
            f.write("float", rounded, place)
            f.go(following)
        needed = f.choose(is_input, str(_CONTIGUOUS), str(_CONTIGUOUS | _WRITEABLE), "i32")
        found = f.emit(f"and i32 {f.array(argument, 'flags', 'i32')}, {needed}")
        dense = f.compare("eq", found, needed, "i32")
        rank, dims = f.array(argument, "nd", "i32"), f.array(argument, "dims")
        may_stride = f.both(f.compare("eq", rank, "1", "i32"), "%to.new")
        same = f.compare("eq", f.array(argument, "descr", "i64"), "%descr")
        f.leave_unless(f.both(same, f.either(dense, may_stride)), "refuse")
        f.store("%item", "%inner", k, "i64")
        strided = f.emit(f"xor i1 {dense}, true")
        with f.when(strided):
            f.store(f.read("i64", f.array(argument, "strides")), "%inner", k, "i64")
        f.store(f.array(argument, "data", "i64"), "%operands", k, "i64")
        bit = f.whole("shl", "1", f.whole("and", k, "63"))
        own = f.choose(is_input, bit, "0")
        f.write("i64", f.whole("or", f.read("i64", seen), own), seen)
        leading, axes = f.read("ptr", first), f.emit(f"sext i32 {rank} to i64")
        with f.when(f.compare("eq", leading, "null", "ptr")):
            f.leave_if(f.compare("eq", axes, "0"), "refuse")
            f.write("ptr", argument, first)
            served = f.address("i64", "%served")
            with f.loop("0", axes) as d:
                n = f.load(dims, d, "i64")
                f.write("i64", f.whole("mul", f.read("i64", size), n), size)
                f.leave_unless(is_served(f, n, served, d), "refuse")
            f.go(following)
        same_rank = f.compare("eq", f.array(leading, "nd", "i32"), rank, "i32")
        f.leave_unless(same_rank, "refuse")
        others = f.array(leading, "dims")
        with f.loop("0", axes) as d:
            same = f.compare("eq", f.load(dims, d, "i64"), f.load(others, d, "i64"))
            f.leave_unless(same, "refuse")
        f.label(following)


def _check(f: Builtin, like: str, n: str, seen: str) -> None:
    """Refuse other ranks and sizes than those that are served, and what no body is there for."""
    rank = f.emit(f"sext i32 {f.array(like, 'nd', 'i32')} to i64")
    same = f.both(f.compare("eq", rank, "%rank"), f.compare("eq", f.read("i64", seen), "%among"))
    f.leave_unless(f.either(f.compare("slt", "%rank", "0"), same), "refuse")
    body = f.choose(f.compare("uge", n, "%few"), "%lean", "%tested")
    may_run = f.either(f.compare("ne", body, "0"), f.compare("eq", n, "0"))
    is_served = f.both(f.compare("ule", n, "%limit"), f.compare("ne", n, "%never"))
    f.leave_unless(f.both(is_served, may_run), "refuse")


def _check_apart(f: Builtin, size: str) -> None:
    """Refuse arrays for results that overlap arguments."""
    with f.loop("%inputs", "%nargs") as j:
        written = f.load("%operands", j, "i64")
        with f.loop("0", "%inputs") as k:
            read = f.load("%operands", k, "i64")
            gaps = f.whole("sub", written, read), f.whole("sub", read, written)
            f.leave_if(f.either(*(f.compare("ult", g, size) for g in gaps)), "refuse")


def _make(f: Builtin, like: str, n: str) -> str:
    """Make memory, new arrays and flags; where the flags lie."""
    f.do(
        f"%with.extra = add i64 %count, {tiers.EXTRA}",
        f"%memory.block = mul i64 %with.extra, {8 * BLOCK}",
        f"%memory.flags = mul i64 {n}, %flagged",
        "%memory.size = add i64 %memory.block, %memory.flags",
        "%memory = call ptr %PyMem_RawMalloc(i64 %memory.size)",
    )
    f.leave_if(f.compare("eq", "%memory", "null", "ptr"), "refuse")
    rank, dims, descr = (
        f.array(like, "nd", "i32"),
        f.array(like, "dims"),
        f.address("i64", "%descr"),
    )
    with f.loop("0", "%outputs") as c:
        k = f.whole("add", "%inputs", c)
        for name, value in (("inner", "%item"), ("outer", "0"), ("items", "%item")):
            f.store(value, f"%{name}", k, "i64")
        with f.when("%to.new"):
            made = f.new(c, descr, rank, dims)
            f.store(f.array(made, "data", "i64"), "%operands", k, "i64")
            f.write("i64", f.whole("add", c, "1"), f.made)
    flags = f.place("%memory", "%memory.block", "i8")
    with f.when(f.compare("ne", "%flagged", "0")):
        last = f.whole("add", "%inputs", "%outputs")
        values = {"operands": f.address("ptr", flags), "inner": "1", "outer": "0", "items": "1"}
        for name, value in values.items():
            f.store(value, f"%{name}", last, "i64")
    return flags


def _fill(f: Builtin, n: str, many: str, flags: str, jobs: Mapping[str, str], record: str) -> None:
    """Fill in the jobs of the bodies, and what the tiers take."""
    row = f.choose(f.compare("eq", n, "0"), "1", n)
    sure = f.choose(many, "%sure", "0")
    common = {name: f"ptr %{name}" for name in _POINTERS} | {
        "buffers": "ptr %memory", "inputs": "i64 %inputs", "count": "i64 %count", "row": f"i64 {row}",
    }  # fmt: skip
    lean_count = f.whole("sub", "%count", sure)
    for name, job in jobs.items():
        own = {"body": f"i64 %{name}", "width": f"i64 %{name}_width"}
        if name == "balls":
            own |= {"width": "i64 1", "stream": "i64 %plan"}
        own |= {"count": f"i64 {lean_count}"} if name == "lean" else {}
        f.fill(job, JOB, common | own)
    cleared = f.whole("mul", "%memory.flags", sure)
    f.do(f"call void @llvm.memset.p0.i64(ptr {flags}, i8 0, i64 {cleared}, i1 false)")
    start = f.whole("sub", "0", f.load("%operands", "%inputs", "i64"))
    register = f.whole("mul", "%width", "%item")
    short = f.whole("and", start, f.whole("sub", register, "1"))
    steps = f.whole("lshr", short, f.choose(f.compare("eq", "%item", "8"), "3", "2"))
    lead = f.choose(f.compare("uge", n, str(SMALLEST_ALIGNED)), steps, "0")

    def given(name: str, condition: str) -> str:
        return f"ptr {f.choose(condition, jobs[name], 'null', 'ptr')}"

    f.fill(record, tiers.RECORD, {
        "lean": given("lean", many), "tested": f"ptr {jobs['tested']}",
        "between": given("between", f.compare("ne", "%between", "0")),
        "balls": given("balls", f.compare("ne", "%balls", "0")),
        "stop": f"i64 {n}", "lead": f"i64 {lead}", "sure": f"i64 {sure}", "tried": "i64 %tried",
        "raised": "i64 %raised",
    })  # fmt: skip


def _print_any() -> str:
    """Whether any of some bytes is not 0."""
    f = Function()
    whole = f.whole("and", "%n", "-64")
    with f.loop("0", whole, step=64) as k:
        some = f.read("<64 x i8>", f.place("%bytes", k, "i8"))
        bits = f.emit(
            f"bitcast <64 x i1> {f.emit(f'icmp ne <64 x i8> {some}, zeroinitializer')} to i64"
        )
        f.leave_unless(f.compare("eq", bits, "0"), "found")
    with f.loop(whole, "%n") as k:
        f.leave_unless(f.compare("eq", f.load("%bytes", k, "i8"), "0", "i8"), "found")
    f.give("i1 false")
    f.label("found")
    return f.function("i1 @any(ptr %bytes, i64 %n) #0", "ret i1 true")
