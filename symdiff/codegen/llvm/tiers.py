"""LLVM IR that runs the tiers of a kernel over arrays, chunk by chunk, around the driver.

A chunk goes through the first of the bodies that serves:

1. lean: no test of its own for overflow, underflow or invalid operations. The processor
   keeps a flag for each (IEEE 754, section 7), which is read after the chunk; where one
   is set, the chunk is computed again by
2. tested, which says of every element whether it is flagged.

Flagged elements are then gathered, computed again by the body `between`, whole registers at a time, and put
back; what that flags, by ball arithmetic (`balls`), if there is little of it. The rest stays flagged. So an
element's result does not depend on others.
"""

from __future__ import annotations

from collections.abc import Callable

from symdiff.codegen.llvm.array_loop import BLOCK, JOB, job_fields, operand
from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.flags import DECLARED, PLACES, watched
from symdiff.lowering.target import OVERFLOWS, UNDERFLOWS

CHUNK = 4096
"""Elements between two looks at the processor's flags."""
RECORD = (
    "lean",
    "tested",
    "between",
    "balls",
    "position",
    "stop",
    "tried",
    "raised",
    "lead",
    "sure",
)
"""What `tiers` takes, each an i64 or an address.

lean, tested, between, balls : jobs (see `driver.JOB`), or null; start and stop are filled
    in. The bodies of `tested` and `between` may be null until they are asked for.
position, stop : the elements still to be computed.
tried, raised : chunks that the lean body computed, and those of them it failed.
lead : elements before the first that lies at a multiple of a register's size; chunks
    begin there, and at multiples of CHUNK elements from there.
sure : whether the lean body leaves the flags as they are: it has no flagged element.
"""
JOBS = 4
"""So many entries of a record are jobs."""
DONE, NEEDS_TESTED, NEEDS_BETWEEN = 0, 1, 2
"""What `tiers` returns: finished, or which body is missing to go on."""
EXTRA = 2
"""Further blocks of memory that the second job needs behind its buffers."""
MOST_IN_BALLS, SHARE_IN_BALLS = 16, 16
"""Of a chunk at most so many elements, or one of so many, are computed in balls there: of others Python looks
for signals, and equal ones are computed once."""
MOST_RAISED = 4
"""The lean body is given up when one of so many chunks raised a flag."""

SPARSE = 64
"""Where more than one element of so many is computed again, results are not written past the
caches: that would bring their lines back."""

_DECLARED = DECLARED + "declare void @llvm.x86.sse.sfence()\n"
_FENCE = "call void @llvm.x86.sse.sfence()"
"""What was written past the caches is there for all threads."""
_PART = """
define internal void @part(ptr %job, i64 %first, i64 %last) #0 {{
  %start.p = getelementptr i64, ptr %job, i64 {start}
  store i64 %first, ptr %start.p
  %stop.p = getelementptr i64, ptr %job, i64 {stop}
  store i64 %last, ptr %stop.p
  call void @run(ptr %job)
  ret void
}}
declare i64 @llvm.ctpop.i64(i64)
"""


def print_tiers(flags: bool) -> str:
    """Functions that stand behind the driver's: `i64 @tiers(ptr record)`.

    `flags` says whether the processor's flags can be read, as they can on x86; without
    them the lean body must not be given."""
    part = _PART.format(start=JOB.index("start"), stop=JOB.index("stop"))
    functions = [_print_chunks(flags), part, _print_repair(), _print_compute()]
    return "\n".join([*functions, _DECLARED if flags else ""])


def _print_chunks(flags: bool) -> str:
    """`tiers` itself."""
    f = Function()
    f.do(*PLACES)
    places = {name: f.place("%record", str(k), "i64") for k, name in enumerate(RECORD)}
    lean, tested, between, balls = (f.read("ptr", places[name]) for name in RECORD[:JOBS])
    stop, lead, sure = (f.read("i64", places[name]) for name in ("stop", "lead", "sure"))
    has = {job: f.compare("ne", job, "null", "ptr") for job in (lean, between, balls)}
    picks = f.variable("i64", "0")
    writer = f.choose(has[lean], lean, tested, "ptr")
    streams = [f.place(job, str(JOB.index("stream")), "i64") for job in (writer, tested)]
    stream = f.read("i64", streams[0])
    f.label("chunk")
    k = f.read("i64", places["position"])
    f.leave_unless(f.compare("ult", k, stop), "finish")
    within = f.whole("urem", f.whole("sub", k, lead), str(CHUNK))
    size = f.least(f.whole("sub", stop, k), f.whole("sub", str(CHUNK), within))
    end = f.whole("add", k, size)
    tried, raised = f.read("i64", places["tried"]), f.read("i64", places["raised"])
    seldom = f.compare("ule", f.whole("mul", raised, str(MOST_RAISED)), tried)
    young = f.compare("ult", tried, str(MOST_RAISED))
    with f.when(f.both(has[lean], f.either(seldom, young))):
        f.write("i64", f.whole("add", tried, "1"), places["tried"])
        with f.when(_lean(f, f"call void @part(ptr {lean}, i64 {k}, i64 {end})", flags)):
            f.write("i64", "0", picks)
            f.fork(f.compare("eq", sure, "0"), "repair", "next")
        f.write("i64", f.whole("add", raised, "1"), places["raised"])
    f.leave_if(f.compare("eq", f.read("ptr", tested), "null", "ptr"), "ask.tested")
    f.do(f"call void @part(ptr {tested}, i64 {k}, i64 {end})")
    f.write("i64", "0", picks)
    f.label("repair")
    call = f"call i64 @repair(ptr {{}}, i64 {k}, i64 {end}, ptr {picks}, i64 {{}})"
    with f.when(has[between]):
        remaining = f.emit(call.format(between, CHUNK))
        f.leave_if(f.compare("slt", remaining, "0"), "ask.between")
        f.leave_if(f.compare("eq", remaining, "0"), "next")
    with f.when(has[balls]):
        share = f.whole("udiv", size, str(SHARE_IN_BALLS))
        few = f.compare("ult", share, str(MOST_IN_BALLS))
        most = f.choose(few, str(MOST_IN_BALLS), share)
        f.emit(call.format(balls, most))
    f.label("next")
    often = f.compare("ugt", f.whole("mul", f.read("i64", picks), str(SPARSE)), size)
    how = f.choose(often, "0", stream)
    for place in streams:
        f.write("i64", how, place)
    f.write("i64", end, places["position"])
    f.go("chunk")
    needs = {"tested": NEEDS_TESTED, "between": NEEDS_BETWEEN}
    for name, code in needs.items():
        f.label(f"ask.{name}")
        f.give(f"i64 {code}")
    f.label("finish")
    f.do(*[_FENCE] * flags)
    return f.function("i64 @tiers(ptr %record) #0", f"ret i64 {DONE}", how="")


def _lean(f: Function, call: str, flags: bool) -> str:
    """Run the lean body for a chunk; whether it raised no flag."""
    if not flags:
        f.do(call)
        return "false"
    f.do(*watched([call], UNDERFLOWS | OVERFLOWS))
    return f.compare("eq", "%bits", "0", "i32")


def _print_repair() -> str:
    """Compute the flagged elements of a chunk again, unless there are more of them than `most`; how many
    stay flagged, or -1 if the body is missing."""
    f = Function()
    job = job_fields(f)
    count, row = job["count"], job["row"]
    picked = f.place(job["buffers"], f.whole("mul", count, str(8 * BLOCK)), "i8")
    flags, inner, outer = operand(f, job, f.whole("sub", count, "1"))
    one_row, flat = f.compare("uge", row, "%last"), f.variable("i1", "true")
    n, left, bits = (f.variable("i64", "0") for _ in range(3))
    with f.loop("0", count) as j:
        _, along, across = operand(f, job, j)
        close = f.compare("eq", f.whole("mul", along, row), across)
        f.write("i1", f.both(f.read("i1", flat), f.either(close, one_row)), flat)
    is_flat = f.read("i1", flat)
    dense = f.both(f.compare("eq", inner, "1"), is_flat)

    def compute() -> None:
        given = f"ptr %job, ptr {picked}, i64 {f.read('i64', n)}, i1 {is_flat}"
        with f.when(f.compare("ule", f.read("i64", n), "%most")):
            some = f.emit(f"call i64 @compute({given})")
            f.write("i64", f.whole("add", f.read("i64", left), some), left)

    with f.loop("%first", "%last", step=64) as k:
        past, following, again = f.whole("add", k, "64"), f.name("following"), f.name("again")
        whole = f.both(f.compare("ule", past, "%last"), dense)
        f.write("i64", "0", bits)
        with f.when(whole):
            word = f.read("<64 x i8>", f.place(flags, k, "i8"))
            some = f.emit(f"icmp ne <64 x i8> {word}, zeroinitializer")
            f.write("i64", f.emit(f"bitcast <64 x i1> {some} to i64"), bits)
        single = f.emit(f"xor i1 {whole}, true")
        with f.when(single), f.loop(k, f.least(past, "%last")) as e:
            o = f.whole("udiv", e, row)
            i = f.whole("sub", e, f.whole("mul", o, row))
            at = f.whole("add", f.whole("mul", o, outer), f.whole("mul", i, inner))
            is_set = f.compare("ne", f.load(flags, at, "i8"), "0", "i8")
            bit = f.whole("shl", f.emit(f"zext i1 {is_set} to i64"), f.whole("sub", e, k))
            f.write("i64", f.whole("or", f.read("i64", bits), bit), bits)
        found = f.read("i64", bits)
        f.leave_if(f.compare("eq", found, "0"), following)
        f.leave_if(f.compare("eq", job["body"], "null", "ptr"), "ask")
        tally = f.emit(f"call i64 @llvm.ctpop.i64(i64 {found})")
        f.write("i64", f.whole("add", f.read("i64", "%picks"), tally), "%picks")
        full = f.whole("add", f.read("i64", n), "64")
        with f.when(f.compare("ugt", full, str(BLOCK))):
            compute()
            f.write("i64", "0", n)
        f.label(again)
        some, place = f.read("i64", bits), f.read("i64", n)
        ahead = f.emit(f"call i64 @llvm.cttz.i64(i64 {some}, i1 true)")
        f.store(f.whole("add", k, ahead), picked, place, "i64")
        f.write("i64", f.whole("add", place, "1"), n)
        rest = f.whole("and", some, f.whole("sub", some, "1"))
        f.write("i64", rest, bits)
        f.leave_if(f.compare("ne", rest, "0"), again)
        f.label(following)
    with f.when(f.compare("ne", f.read("i64", n), "0")):
        compute()
    f.give(f"i64 {f.read('i64', left)}")
    f.label("ask")
    head = "i64 @repair(ptr %job, i64 %first, i64 %last, ptr %picks, i64 %most) #0"
    return f.function(head, "ret i64 -1")


def _print_compute() -> str:
    """Compute picked elements, and put them back; how many stay flagged."""
    f = Function()
    job = job_fields(f)
    count, row, work = job["count"], job["row"], job["work"]
    up = f.whole("sub", f.whole("add", "%n", job["width"]), "1")
    steps = f.whole("udiv", up, job["width"])
    padded = f.whole("mul", steps, job["width"])
    lines = f.place("%picked", str(8 * BLOCK), "i8")
    left, far = f.variable("i64", "0"), f.emit("xor i1 %flat, true")
    with f.when(far), f.loop("0", "%n") as d:
        e = f.load("%picked", d, "i64")
        o = f.whole("udiv", e, row)
        f.store(f.whole("sub", e, f.whole("mul", o, row)), "%picked", d, "i64")
        f.store(o, lines, d, "i64")

    def each(j: str, done: Callable[[str, str], None]) -> None:
        """Do something with every picked element of an operand, and where it lies."""
        base, inner, outer = operand(f, job, j)
        for condition in ("%flat", far):
            with f.when(condition), f.loop("0", "%n") as s:
                place = f.place(base, f.whole("mul", f.load("%picked", s, "i64"), inner), "i8")
                if condition is far:
                    place = f.place(place, f.whole("mul", f.load(lines, s, "i64"), outer), "i8")
                done(s, place)

    with f.loop("0", count) as j:
        buffer = f.place(job["buffers"], f.whole("mul", j, str(8 * BLOCK)), "i8")
        f.store(buffer, work, j, "ptr")
        with f.when(f.compare("ult", j, job["inputs"])):
            each(j, lambda s, place: f.store(
                f.emit(f"load double, ptr {place}, align 1"), buffer, s, "double"
            ))  # fmt: skip
            last = f.load(buffer, f.whole("sub", "%n", "1"), "double")
            with f.loop("%n", padded) as u:
                f.store(last, buffer, u, "double")
    f.do(f"call void {job['body']}(i64 {steps}, ptr {work}, i64 {job['stream']})")
    flags = f.whole("sub", count, "1")
    with f.loop(job["inputs"], flags) as j:
        source = f.load(work, j, "ptr")
        each(j, lambda s, place: f.do(
            f"store double {f.load(source, s, 'double')}, ptr {place}, align 1"
        ))  # fmt: skip
    marks = f.load(work, flags, "ptr")

    def mark(s: str, place: str) -> None:
        flag = f.load(marks, s, "i8")
        f.write("i8", flag, place)
        more = f.emit(f"zext i8 {flag} to i64")
        f.write("i64", f.whole("add", f.read("i64", left), more), left)

    each(flags, mark)
    head = "i64 @compute(ptr %job, ptr %picked, i64 %n, i1 %flat) #0"
    return f.function(head, f"ret i64 {f.read('i64', left)}")
