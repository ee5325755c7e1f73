"""LLVM IR of a builtin that calls kernels with arrays and loops without any Python.

It takes what is most common, and refuses the rest by returning NotImplemented: arguments
that are exact, C-contiguous arrays with elements, or exact numbers (as `driver`'s entry does),
and results whose shapes are those of arguments. Results are new arrays and Python numbers. It
also refuses if the kernel reports an error, or that some value went out of range: the general
path computes again and says what is wrong. The code is the same for all kernels; a record has
tables that say what is where.
"""

from __future__ import annotations

from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.entry.objects import ARRAY, Builtin
from symdiff.codegen.llvm.entry.sizes import is_served
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
    if one is due, which is sooner if an argument or a result is larger or smaller than those that were probed.
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
SAMPLE, EVERY_ONE = 64, 512
"""About how many elements of an array are looked at, if it has more than the second number."""
LANES = 8
"""Doubles of a register in which they are."""
HEAD, WORDS = 3, 3
"""Where the words of arguments and results begin in the schedule of probes, and how many each has: the least and the
largest exponent that was probed, and whether zeros were."""
MOST_CHANGED = 63
"""Arguments among which those that are changed have bits."""
MOST_REFUSED = 4
"""No call is tried any more when one of so many was refused afterwards."""
_READY = 0x101
"""NumPy's flags of arrays that lie row by row and are aligned."""


def print_entry(type_offset: int, value_offset: int) -> str:
    """A module with the builtin `loops(*arguments)`.

    Its `__self__` is a capsule without a name that points to a record (`RECORD`).
    """
    f = Builtin("loops.api", API, RECORD, (type_offset, value_offset))
    shape = f.room("i64", str(MOST_AXES))
    _check(f)
    f.do(
        "%arguments = alloca i64, i64 %count", "%lows = alloca i64, i64 %inputs",
        "%ends = alloca i64, i64 %inputs", "%bytes = mul i64 %count, 8",
    )  # fmt: skip
    f.news = f.room("ptr", "%outputs")
    names = ("template", "takes", "makes", "turn")
    f.do(*(f"%{name}.p = inttoptr i64 %{name} to ptr" for name in names))
    copy = "call void @llvm.memcpy.p0.p0.i64(ptr %arguments, ptr %template.p, i64 %bytes, i1 false)"
    f.do(copy)
    _take(f)
    _check_apart(f)
    f.do("%probed = icmp ne i64 %turn, 0")
    sooner = f.variable("i1", "false")
    with f.when("%probed"):
        f.write("i1", _check_turn(f), sooner)
    _make(f, shape)
    _run(f)
    with f.when("%probed"):
        _check_results(f, f.read("i1", sooner))
    _box(f)
    f.hand_out("%outputs", "failed")
    f.label("failed")
    f.write("i1", "true", f.is_error)
    f.go("drop")
    f.label("out.of.range")
    f.do(f"call void {f.address('i64', '%finish')}(ptr %arguments)")
    f.label("give.up")
    _count(f, "refused")
    f.go("drop")
    f.label("new.sizes")
    f.do(f"call void {f.address('i64', '%finish')}(ptr %arguments)")
    f.label("drop")
    f.drop()
    declared = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    added = f"double @llvm.vector.reduce.fadd.v{LANES}f64(double, <{LANES} x double>)"
    declared += f"declare {added}\n"
    return "\n".join([_print_length(), _print_known(), declared + f.text("loops")])


def _print_length() -> str:
    """The bytes of an array of doubles."""
    f = Function()
    rank, dims = (f.field("%array", ARRAY[n], of) for n, of in (("nd", "i32"), ("dims", "ptr")))
    length = f.variable("i64", "8")
    with f.loop("0", f.emit(f"sext i32 {rank} to i64")) as d:
        f.write("i64", f.whole("mul", f.read("i64", length), f.load(dims, d, "i64")), length)
    return f.function("i64 @length(ptr %array)", f"ret i64 {f.read('i64', length)}")


def _print_known() -> str:
    """Whether the largest exponent of a sample of some numbers is one that a call may have now: of what is finite,
    and, where probes come `%sooner` for others, between those that were probed."""
    f = Function()
    size = f.whole("lshr", f.whole("sub", "%to", "%from"), "3")
    data, most = f.address("i64", "%from"), f.variable("i64", "0")
    short = f.compare("ule", size, str(EVERY_ONE))
    with f.when(f.both(short, f.emit("xor i1 %sooner, true"))):
        f.give(f"i1 {_all_finite(f, data, size)}")
    with f.loop("0", size, step=f.choose(short, "1", f.whole("udiv", size, str(SAMPLE)))) as k:
        exponent = f.whole("and", f.whole("lshr", f.load(data, k, "i64"), "52"), "2047")
        before = f.read("i64", most)
        f.write("i64", f.choose(f.compare("ugt", exponent, before), exponent, before), most)
    found = f.read("i64", most)
    place = f.whole("add", f.whole("mul", "%which", str(WORDS)), str(HEAD))
    low, high, zero = (f.load("%turn", f.whole("add", place, str(k)), "i64") for k in range(WORDS))
    between = f.both(f.compare("sge", found, low), f.compare("sle", found, high))
    was = f.compare("ne", zero, "0")
    known = f.emit(f"select i1 {f.compare('eq', found, '0')}, i1 {was}, i1 {between}")
    finite = f.compare("ne", found, "2047")
    served = f.emit(f"select i1 %sooner, i1 {known}, i1 {finite}")
    head = "i1 @known(ptr %turn, i64 %which, i64 %from, i64 %to, i1 %sooner)"
    return f.function(head, f"ret i1 {served}")


def _all_finite(f: Function, data: str, size: str) -> str:
    """Whether some doubles are finite: their differences from themselves add up to 0, not to nan."""
    kind, total = f"<{LANES} x double>", f.variable(f"<{LANES} x double>", "zeroinitializer")
    one, whole = f.variable("double", "0.0"), f.whole("and", size, str(-LANES))
    for of, first, past, step in ((kind, "0", whole, LANES), ("double", whole, size, 1)):
        place = total if of == kind else one
        with f.loop(first, past, step=step) as k:
            x = f.emit(f"load {of}, ptr {f.place(data, k, 'double')}, align 8")
            apart = f.emit(f"fsub {of} {x}, {x}")
            f.write(of, f.emit(f"fadd {of} {f.read(of, place)}, {apart}"), place)
    start = f"double {f.read('double', one)}, {kind} {f.read(kind, total)}"
    added = f.emit(f"call double @llvm.vector.reduce.fadd.v{LANES}f64({start})")
    return f.emit(f"fcmp oeq double {added}, 0.0")


def _check(f: Builtin) -> None:
    """Refuse other counts of arguments, calls that somebody watches, and kernels that are refused
    often."""
    watched = f.read("i64", f.address("i64", "%watching"))
    often = f.whole("mul", "%refused", str(MOST_REFUSED))
    hopeful = f.either(
        f.compare("ule", often, "%tried"), f.compare("ult", "%tried", str(MOST_REFUSED))
    )
    right = f.both(f.compare("eq", "%nargs", "%inputs"), f.compare("eq", watched, "0"))
    f.leave_unless(f.both(right, hopeful), "refuse")


def _row(f: Builtin, table: str, k: str) -> dict[str, str]:
    """A row of a table, with the word that it is about as `word`."""
    row = f.place(table, f.whole("mul", k, str(len(TAKE))), "i64")
    found = f.words(row, TAKE)
    return found | {"word": f.place("%arguments", found["place"], "i64")}


def _take(f: Builtin) -> None:
    """Put the arguments and the sizes of arrays into words, and note where arrays lie."""
    length = f.variable("i64", "8")
    with f.loop("0", "%inputs") as k:
        low, end = f.place("%lows", k, "i64"), f.place("%ends", k, "i64")
        f.write("i64", "0", low)
        f.write("i64", "0", end)
        t, argument, taken = _row(f, "%takes.p", k), f.load("%args", k, "ptr"), f.name("taken")
        kind, word = f.type_of(argument), t["word"]
        with f.when(f.compare("eq", t["kind"], "1")):
            f.integer(argument, word, kind)
            f.go(taken)
        with f.when(f.compare("ne", t["kind"], "2")):
            f.real(argument, word, kind, f.compare("eq", t["kind"], "0"))
            f.go(taken)
        f.leave_unless(f.compare("eq", kind, "%ndarray", "ptr"), "refuse")
        same = f.compare("eq", f.array(argument, "descr", "i64"), t["descr"])
        flags = f.emit(f"and i32 {f.array(argument, 'flags', 'i32')}, {_READY}")
        rank = f.emit(f"sext i32 {f.array(argument, 'nd', 'i32')} to i64")
        usual = f.compare("eq", flags, str(_READY), "i32"), f.compare("eq", rank, t["rank"])
        f.leave_unless(f.both(same, *usual), "refuse")
        data, dims = f.array(argument, "data", "i64"), f.array(argument, "dims")
        f.write("i64", data, word)
        f.write("i64", data, low)
        f.write("i64", "8", length)
        axes, served = f.address("i64", t["axes"]), f.address("i64", t["served"])
        with f.loop("0", rank) as d:
            size = f.load(dims, d, "i64")
            f.write("i64", f.whole("mul", f.read("i64", length), size), length)
            axis = f.words(f.place(axes, f.whole("mul", d, "3"), "i64"), _AXIS)
            f.leave_if(f.compare("slt", size, axis["least"]), "refuse")
            f.leave_unless(is_served(f, size, served, d), "refuse")
            following = f.name("following")
            with f.when(f.compare("slt", axis["place"], "0")):
                f.leave_unless(f.compare("eq", size, axis["size"]), "refuse")
                f.go(following)
            known = f.place("%arguments", axis["place"], "i64")
            before = f.read("i64", known)
            f.write("i64", size, known)
            is_new = f.compare("eq", before, "-1")
            f.leave_unless(f.either(is_new, f.compare("eq", before, size)), "refuse")
            f.label(following)
        f.write("i64", f.whole("add", data, f.read("i64", length)), end)
        f.label(taken)


def _check_apart(f: Builtin) -> None:
    """Refuse arrays that share memory with one that is changed."""
    with f.when(f.compare("ne", "%changed", "0")), f.loop("0", "%inputs") as p:
        low, end = f.load("%lows", p, "i64"), f.load("%ends", p, "i64")
        changed = f.whole("lshr", "%changed", p)
        with f.loop("0", p) as q:
            either = f.whole("or", changed, f.whole("lshr", "%changed", q))
            overlap = f.both(
                f.compare("ult", low, f.load("%ends", q, "i64")),
                f.compare("ult", f.load("%lows", q, "i64"), end),
            )
            f.leave_if(f.both(overlap, f.emit(f"trunc i64 {either} to i1")), "refuse")


def _check_turn(f: Builtin) -> str:
    """Refuse a call if a probe is due; whether one would be for arguments and results of new sizes, which
    is refused, too."""
    left = f.whole("sub", f.read("i64", "%turn.p"), "1")
    f.write("i64", left, "%turn.p")
    f.leave_unless(f.compare("sgt", left, "0"), "refuse")
    sooner = f.compare("sle", left, f.load("%turn.p", "1", "i64"))
    with f.when(sooner), f.loop("0", "%inputs") as k:
        low = f.load("%lows", k, "i64")
        word = _row(f, "%takes.p", k)["word"]
        is_array = f.compare("ne", low, "0")
        ends = low, f.load("%ends", k, "i64")
        _check_known(f, k, word, is_array, *ends, sooner, "refuse")
    return sooner


def _check_known(
    f: Builtin, which: str, word: str, is_array: str, low: str, end: str, sooner: str, where: str
) -> None:
    """Go on elsewhere if a number in a word, or an array, is to be looked at in Python."""
    at = f.address("ptr", word)
    first = f.choose(is_array, low, at)
    past = f.choose(is_array, end, f.whole("add", at, "8"))
    known = f"call i1 @known(ptr %turn.p, i64 {which}, i64 {first}, i64 {past}, i1 {sooner})"
    f.leave_unless(f.emit(known), where)


def _make(f: Builtin, shape: str) -> None:
    """Make the arrays of the results."""
    with f.loop("0", "%outputs") as k:
        m = _row(f, "%makes.p", k)
        f.store("null", f.news, k, "ptr")
        with f.when(f.compare("eq", m["kind"], "3")):
            axes = f.address("i64", m["axes"])
            with f.loop("0", m["rank"]) as d:
                row = f.place(axes, f.whole("mul", d, "3"), "i64")
                place = f.read("i64", row)
                named, fixed = f.place("%arguments", place, "i64"), f.place(row, "1", "i64")
                source = f.choose(f.compare("slt", place, "0"), fixed, named, "ptr")
                f.store(f.read("i64", source), shape, d, "i64")
            rank = f.emit(f"trunc i64 {m['rank']} to i32")
            new = f.new(k, f.address("i64", m["descr"]), rank, shape)
            f.write("i64", f.array(new, "data", "i64"), m["word"])
        f.write("i64", f.whole("add", k, "1"), f.made)


def _count(f: Builtin, name: str) -> None:
    """One more of a field of the record."""
    f.write("i64", f.whole("add", f.read("i64", f"%{name}.at"), "1"), f"%{name}.at")


def _run(f: Builtin) -> None:
    """Call the kernel, account for what it used, and give it up if it reports an error or that a
    value went out of range."""
    function = f.address("i64", "%function")
    thread = f.emit("call ptr %PyEval_SaveThread()")
    status = f.emit(f"call i32 {function}(ptr %arguments)")
    f.do(f"call void %PyEval_RestoreThread(ptr {thread})")
    _count(f, "tried")
    used = f.read("i64", f.address("i64", "%used"))
    with f.when(f.compare("ne", used, "0")):
        call = f"call ptr %PyObject_CallNoArgs(ptr {f.address('i64', '%account')})"
        accounted = f.emit(call)
        f.leave_if(f.compare("eq", accounted, "null", "ptr"), "failed")
        f.do(f"call void %Py_DecRef(ptr {accounted})")
    f.leave_unless(f.compare("eq", status, "0", "i32"), "give.up")
    raised = f.load("%arguments", str(FIXED.index("raised")), "i64")
    f.leave_unless(f.compare("eq", raised, "0"), "out.of.range")


def _check_results(f: Builtin, sooner: str) -> None:
    """Give the results up if one is to be looked at in Python."""
    low, end = f.variable("i64", "0"), f.variable("i64", "0")
    with f.loop("0", "%outputs") as k:
        m = _row(f, "%makes.p", k)
        is_array = f.compare("eq", m["kind"], "3")
        with f.when(is_array):
            data = f.read("i64", m["word"])
            length = f.emit(f"call i64 @length(ptr {f.load(f.news, k, 'ptr')})")
            f.write("i64", data, low)
            f.write("i64", f.whole("add", data, length), end)
        ends = f.read("i64", low), f.read("i64", end)
        which = f.whole("add", k, "%inputs")
        _check_known(f, which, m["word"], is_array, *ends, sooner, "new.sizes")


def _box(f: Builtin) -> None:
    """Make Python's objects of the results that are numbers."""
    with f.loop("0", "%outputs") as k:
        m = _row(f, "%makes.p", k)
        for kind, (of, make) in enumerate(_BOXED):
            with f.when(f.compare("eq", m["kind"], str(kind))):
                value = f.read(of, m["word"])
                f.store(f.emit(f"call ptr %{make}({of} {value})"), f.news, k, "ptr")
        made = f.load(f.news, k, "ptr")
        f.leave_if(f.compare("eq", made, "null", "ptr"), "failed")


_BOXED = (
    ("double", "PyFloat_FromDouble"), ("i64", "PyLong_FromLongLong"), ("i64", "PyBool_FromLong"),
)  # fmt: skip
"""The type of a number in a word, and what makes an object of it, by the kind of a result."""
_AXIS = ("place", "size", "least")
