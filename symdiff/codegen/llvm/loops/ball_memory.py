"""Functions of kernels in balls (`in_balls`): memory whose numbers are balls with their doubles, and the ends of balls.

A number takes `CELL` bytes: a ball of FLINT's, which begins as zeros, and its double. What belongs to balls is freed with
the memory that they are in.
"""

from __future__ import annotations

import functools

from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.loops.memory import MARK, PRELUDE, print_release
from symdiff.codegen.llvm.table_loops import PREFIXED

CELL = 64
"""Bytes of a number: a ball, and its double."""
DOUBLE = 48
"""Where the double is."""
FAR = 40
"""Binary logarithm of the exponents that numbers may have from one iteration to the next."""
_RADIUS = 32
"""Where the radius of a ball is."""
_PER_NUMBER = 64
"""Operations of a transform for each number, about."""
_NEAR = 256
"""Bits of the ends of balls, before they are rounded to doubles."""


def _called(name: str, *args: str) -> str:
    return f"call void @{PREFIXED}{name}({', '.join(args)})"


def _cells(f: Function, bytes_: str) -> str:
    return f.emit(f"sdiv i64 {bytes_}, {CELL}")


def _at(f: Function, array: str, k: str) -> str:
    return f.place(array, k, f"[{CELL // 8} x i64]")


def _print_clear() -> str:
    f = Function()
    with f.loop("0", _cells(f, "%bytes")) as k:
        f.do(_called("arb_clear", f"ptr {_at(f, '%cells', k)}"))
    return f.function("void @clear(ptr %cells, i64 %bytes) noinline", "ret void")


def _print_take() -> str:
    f = Function()
    made = f.emit("call ptr @take(ptr %list, i64 %bytes)")
    f.leave_if(f.compare("eq", made, "null", "ptr"), "none")
    size = f.whole("add", "%bytes", str(CELL))  # an empty array may be read, too
    f.do(f"call void @llvm.memset.p0.i64(ptr {made}, i8 0, i64 {size}, i1 false)")
    f.store("%bytes", f.read("ptr", "%list"), str(MARK), "i64")
    f.label("none")
    return f.function("ptr @take.balls(ptr %list, i64 %bytes) noinline", f"ret ptr {made}")


def _print_copy() -> str:
    f = Function()
    with f.loop("0", _cells(f, "%bytes")) as k:
        to, of = _at(f, "%to", k), _at(f, "%of", k)
        f.do(_called("arb_set", f"ptr {to}", f"ptr {of}"))
        f.write("double", f.field(of, DOUBLE, "double"), f.place(to, str(DOUBLE), "i8"))
    return f.function("void @copy.balls(ptr %to, ptr %of, i64 %bytes) noinline", "ret void")


def _print_widen() -> str:
    f = Function()
    with f.loop("0", _cells(f, "%bytes")) as k:
        to, x = _at(f, "%to", k), f.load("%of", k, "double")
        f.do(_called("arb_set_d", f"ptr {to}", f"double {x}"))
        f.write("double", x, f.place(to, str(DOUBLE), "i8"))
    return f.function("void @widen(ptr %to, ptr %of, i64 %bytes) noinline", "ret void")


def _print_doubles() -> str:
    f = Function()
    with f.loop("0", _cells(f, "%bytes")) as k:
        f.store(f.field(_at(f, "%of", k), DOUBLE, "double"), "%to", k, "double")
    return f.function("void @doubles(ptr %to, ptr %of, i64 %bytes) noinline", "ret void")


def _print_drop() -> str:
    f = Function()
    data = f.read("ptr", "%tape")
    with f.when("%balls"):
        f.do(f"call void @clear(ptr {data}, i64 {f.load('%tape', '2', 'i64')})")
    f.do(f"call void @free(ptr {data})")
    return f.function("void @drop.tape(ptr %tape, i1 %balls) noinline", "ret void")


def _print_reserve() -> str:
    f = Function()
    before = f.load("%tape", "2", "i64")
    done = f.emit(f"call i1 @reserve(ptr %tape, i64 {f.whole('add', '%more', str(CELL))})")
    after = f.load("%tape", "2", "i64")
    grown = f.whole("sub", after, before)
    with f.when(f.compare("sgt", grown, "0")):
        end = f.place(f.read("ptr", "%tape"), before, "i8")
        f.do(f"call void @llvm.memset.p0.i64(ptr {end}, i8 0, i64 {grown}, i1 false)")
    return f.function("i1 @reserve.zeros(ptr %tape, i64 %more) noinline", f"ret i1 {done}")


def _print_keep(middles: bool) -> str:
    """Copy a ball, or its middle, to where the next iteration reads it. What is beyond 2**`FAR` has no value, and what is below
    2**-`FAR` is 0 up to that: numbers that are squared again and again would have exponents of any length."""
    f, far = Function(), str(1 << FAR)
    f.do(_called("arb_get_mid_arb" if middles else "arb_set", "ptr %to", "ptr %of"))
    mid, size = (f.field("%to", k, "i64") for k in (0, 8))
    rad = f.field("%to", _RADIUS, "i64")
    inside = [f.compare("ult", f.whole("add", x, far), str(2 << FAR)) for x in (mid, rad)]
    f.leave_if(f.both(*inside), "fine")
    radius = f.place("%to", str(_RADIUS), "i8")
    beyond = [
        f.compare("sgt", f.emit(f"call i32 @{PREFIXED}{name}(ptr {x}, i64 {far})"), "0", "i32")
        for name, x in (("arf_cmpabs_2exp_si", "%to"), ("mag_cmp_2exp_si", radius))
    ]
    special = f.compare("eq", size, "0")  # zeros, and infinities, which are constants
    f.leave_if(f.both(special, inside[1]), "fine")
    with f.when(f.choose(special, beyond[1], f.either(*beyond), "i1")):
        f.do(_called("arb_indeterminate", "ptr %to"))
        f.give("void")
    f.leave_if(f.either(special, inside[0]), "added")
    f.do(_called("arb_zero", "ptr %to"))
    known = f.choose(inside[1], rad, f"-{far}")
    f.do(_called("arb_add_error_2exp_si", "ptr %to", f"i64 {known}"))
    f.label("added")
    f.do(_called("arb_add_error_2exp_si", "ptr %to", f"i64 -{far}"))
    f.label("fine")
    return f.function("void @keep(ptr %to, ptr %of) noinline", "ret void")


def _print_ends() -> str:
    f = Function()
    low, high = (f.variable("[4 x i64]", "zeroinitializer") for _ in range(2))
    n = _cells(f, "%bytes")
    twice = f.whole("mul", n, "2")
    with f.loop("0", n) as k:
        ball = _at(f, "%cells", k)
        places = [f.place("%out", at, "double") for at in (k, f.whole("add", k, n), f.whole("add", k, twice))]  # fmt: skip
        for place, x in zip(places, ("0x7FF8000000000000", "0x7FF8000000000000", "-1.0e18"), strict=True):  # fmt: skip
            f.write("double", x, place)
        finite = f.emit(f"call i32 @{PREFIXED}arb_is_finite(ptr {ball})")
        with f.when(f.compare("ne", finite, "0", "i32")):
            f.do(_called("arb_get_interval_arf", f"ptr {low}", f"ptr {high}", f"ptr {ball}", f"i64 {_NEAR}"))  # fmt: skip
            for place, end in zip(places, (low, high), strict=False):
                near = f.emit(f"call double @{PREFIXED}arf_get_d(ptr {end}, i32 4)")
                f.write("double", near, place)
            bits = f.emit(f"call i64 @{PREFIXED}arb_rel_accuracy_bits(ptr {ball})")
            f.write("double", f.emit(f"sitofp i64 {bits} to double"), places[2])
    f.do(*(_called("arf_clear", f"ptr {x}") for x in (low, high)))
    return f.function("void @ends(ptr %cells, i64 %bytes, ptr %out) noinline", "ret void")


def print_transform(work: int) -> str:
    """Transforms of rows by FLINT, whose complex balls are two balls side by side. The budget is spent as by
    loops, of so much work between two looks at it. Gives 1 if it is spent, 2 if there is no memory."""
    f = Function()
    ball, pair = "[6 x i64]", 12 * 8
    balls, half = f.whole("mul", "%n", "4"), f.whole("mul", "%n", str(pair))
    size = f.whole("mul", half, "2")
    given = f.emit(f"call ptr @malloc(i64 {f.whole('add', size, str(pair))})")
    f.leave_if(f.compare("eq", given, "null", "ptr"), "none")
    f.do(f"call void @llvm.memset.p0.i64(ptr {given}, i8 0, i64 {size}, i1 false)")
    found = f.place(given, half, "i8")
    status = f.variable("i32", "0")
    looks = f.whole("add", f.whole("sdiv", f.whole("mul", "%n", str(_PER_NUMBER)), str(work)), "1")
    with f.loop("0", "%rows") as row:
        with f.loop("0", looks) as _:
            asked = f.emit("call i32 @watch(ptr %signals)")
            f.write("i32", f.emit(f"or i32 {asked}, {f.read('i32', status)}"), status)
        with f.when(f.compare("eq", f.read("i32", status), "0", "i32")):
            first = f.whole("mul", row, "%n")
            with f.loop("0", "%n") as k:
                cell, real = f.whole("add", first, k), f.whole("mul", k, "2")
                for part, of in ((real, "%re"), (f.whole("add", real, "1"), "%im")):
                    f.do(_called("arb_set", f"ptr {f.place(given, part, ball)}", f"ptr {_at(f, of, cell)}"))  # fmt: skip
            f.do(_called("acb_dft", f"ptr {found}", f"ptr {given}", "i64 %n", "i64 %bits"))
            with f.loop("0", "%n") as k:
                cell, real = f.whole("add", first, k), f.whole("mul", k, "2")
                for part, to in ((real, "%u"), (f.whole("add", real, "1"), "%v")):
                    of, place = f.place(found, part, ball), _at(f, to, cell)
                    f.do(_called("arb_set", f"ptr {place}", f"ptr {of}"))
                    near = f.emit(f"call double @{PREFIXED}arf_get_d(ptr {of}, i32 4)")
                    f.write("double", near, f.place(place, str(DOUBLE), "i8"))
    with f.loop("0", balls) as k:
        f.do(_called("arb_clear", f"ptr {f.place(given, k, ball)}"))
    f.do(f"call void @free(ptr {given})")
    f.give(f"i32 {f.read('i32', status)}")
    f.label("none")
    head = "i32 @transform(ptr %re, ptr %im, ptr %u, ptr %v, i64 %rows, i64 %n, i64 %bits, ptr %signals)"
    return f.function(f"{head} noinline", "ret i32 2")


@functools.cache
def prelude_of_balls(middles: bool) -> str:
    """The functions that kernels call. With `middles`, what iterations hand on are the middles of balls."""
    release, *_ = print_release().split("\n")
    start = PRELUDE.index(release)
    end = PRELUDE.index("\n}\n", start) + 3
    own = [print_release("clear"), _print_clear(), _print_take(), _print_copy(), _print_widen(), _print_doubles(),
           _print_drop(), _print_reserve(), _print_keep(middles), _print_ends(), "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)", ""]  # fmt: skip
    return PRELUDE[:start] + PRELUDE[end:] + "\n".join(own)


__all__ = ["CELL", "DOUBLE", "prelude_of_balls", "print_transform"]
