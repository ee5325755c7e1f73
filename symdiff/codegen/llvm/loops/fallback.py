"""Values that are computed again where they are flagged, in LLVM IR.

    tested(which, value, screen, flagged, leaf, ...)    the value, or a better one where flagged

`which` is a constant that numbers such values, `flagged` the error test. `screen` is a condition
that holds wherever the test does; a test that is another one is only computed where it holds.

The test is one branch that is predicted well: whether any lane is flagged. The way out of
it is a function of its own, so that nothing of it stands in the loop: lane by lane, it calls
the function that stands in the table `again.table` under the number of the value, with the
address that stands behind it, or, where there is none yet or where that flags it as well, `%again`: a function
of the runtime, the last of the kernel's fixed words, which puts one there when it is first called.

    i8 table[which](ptr leaves, ptr result, ptr behind)         whether it flags it itself
    void again(i64 which, i64 stage, ptr leaves, ptr result)    0: none was there; 1: it did

Leaves and result are doubles whatever the kernel computes in. Behind the result stands the
value as the kernel computed it, for those that nothing better is found for.

Overflow, underflow and invalid operations need no test where the processor tells of them: it
keeps a flag for each (IEEE 754, section 7). A kernel that leaves them to it is called through
`i32 @watched(ptr arguments)`, which puts the flags that were raised, by threads that shared the
work as well, into the word `raised`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from symdiff.codegen.llvm.assembly import Function
from symdiff.codegen.llvm.flags import unwatched
from symdiff.codegen.llvm.jit import has_flags
from symdiff.codegen.llvm.printer import Writer
from symdiff.ir import Expr, raw, topological
from symdiff.lowering.target import TESTED

TABLE = "again.table"

_ONE = """
@{table} = internal global [{count} x [2 x ptr]] zeroinitializer
define internal void @recompute(ptr %again, i64 %which, ptr %in, ptr %out) noinline #0 {{
  %mode = alloca i32
  {save}
  %first = load double, ptr %out
  %behind = getelementptr double, ptr %out, i64 1
  store double %first, ptr %behind
  %slot = getelementptr [2 x ptr], ptr @{table}, i64 %which
  %f = load atomic ptr, ptr %slot acquire, align 8
  %none = icmp eq ptr %f, null
  br i1 %none, label %ask, label %try
try:
  %plan.p = getelementptr ptr, ptr %slot, i64 1
  %plan = load ptr, ptr %plan.p
  %flag = call i8 %f(ptr %in, ptr %out, ptr %plan)
  %fine = icmp eq i8 %flag, 0
  br i1 %fine, label %done, label %ask
ask:
  %stage = phi i64 [ 0, %0 ], [ 1, %try ]
  %nobody = icmp eq ptr %again, null
  br i1 %nobody, label %done, label %call
call:
  call void %again(i64 %which, i64 %stage, ptr %in, ptr %out)
  br label %done
done:
  {restore}
  ret void
}}
define ptr @place(i64 %which) #0 {{
  %slot = getelementptr [2 x ptr], ptr @{table}, i64 %which
  ret ptr %slot
}}
"""

_VALUE = """
define internal {value} @recomputed.{name}(ptr %again, {value} %v, {mask} %flagged{params}) noinline cold #0 {{
  %in = alloca [{room} x {value}], align 64
  %out = alloca {value}, align 64
  store {value} %v, ptr %out
{stores}
  %bits = {bits}
  call void @recompute.lanes(ptr %again, i64 {which}, i64 %bits, i64 {leaves}, i64 {width}, ptr %in, ptr %out)
  %r = load {value}, ptr %out
  ret {value} %r
}}
define internal {value} @tested.{name}(ptr %again, {value} %v, {mask} %flagged{params}) alwaysinline #0 {{
  %any = {any}
  br i1 %any, label %cold, label %done, !prof !2
cold:
  %w = call {value} @recomputed.{name}(ptr %again, {value} %v, {mask} %flagged{names})
  br label %done
done:
  %r = phi {value} [ %v, %0 ], [ %w, %cold ]
  ret {value} %r
}}
"""

WEIGHTS = '!2 = !{!"branch_weights", i32 1, i32 1000000}\n'
"""Of the branches, as metadata."""


def usually(exprs: Iterable[Expr]) -> tuple[Expr, ...]:
    """Expressions as they are where no screen holds."""
    new: dict[Expr, Expr] = {}
    exprs = tuple(exprs)
    for e in topological(exprs):
        args = tuple(new[a] for a in e.args)
        if e.op is TESTED:
            args = (*args[:3], args[2], *args[4:])
        new[e] = e if args == e.args else raw(e.op, args, e.value)
    return tuple(new[e] for e in exprs)


def tested_call(w: Writer, which: int, args: Sequence[str]) -> str:
    """The call that computes a tested value from the names of what it is now, its error
    test and its leaves.

    `w` writes numbers or vectors; the functions that are called are declared with it.
    """
    leaves = len(args) - 2
    width = w.lanes.width
    name = f"{which}" if width == 1 else f"{which}.v{width}"
    if name not in w.declared:
        w.declared[name] = _value(w, name, which, leaves)
        w.declared.setdefault("recompute.lanes", _lanes(w.single))
    kinds = [w.value, w.condition, *[w.value] * leaves]
    typed = ", ".join(f"{k} {a}" for k, a in zip(kinds, args, strict=True))
    return f"call {w.value} @tested.{name}(ptr %again, {typed})"


def any_lane(w: Writer, condition: str) -> str:
    """The instruction that says whether a condition holds, for any lane."""
    width = w.lanes.width
    if width == 1:
        return f"or i1 {condition}, false"
    function = f"llvm.vector.reduce.or.v{width}i1"
    w.declared[function] = f"declare i1 @{function}({w.condition})"
    return f"call i1 @{function}({w.condition} {condition})"


def _value(w: Writer, name: str, which: int, leaves: int) -> str:
    width, mask = w.lanes.width, w.condition
    params = "".join(f", {w.value} %l{k}" for k in range(leaves))
    stores = "\n".join(
        f"  %p{k} = getelementptr {w.value}, ptr %in, i64 {k}\n  store {w.value} %l{k}, ptr %p{k}"
        for k in range(leaves)
    )
    if width == 1:
        bits = "zext i1 %flagged to i64"
    else:
        bits = f"zext i{width} %m to i64"
        stores += f"\n  %m = bitcast {mask} %flagged to i{width}"
    return _VALUE.format(
        value=w.value, mask=mask, name=name, which=which, leaves=leaves, params=params,
        room=max(1, leaves), stores=stores, bits=bits, width=width, any=any_lane(w, "%flagged"),
        names=params,
    )  # fmt: skip


def _lanes(single: bool) -> str:
    """The function that computes the flagged ones of some lanes again."""
    f, real = Function(), "float" if single else "double"
    point, result = f.room("double", "%leaves"), f.room("[2 x double]")
    left = f.variable("i64", "%bits")

    def widened(array: str, at: str) -> str:
        value = f.load(array, at, real)
        return f.emit(f"fpext float {value} to double") if single else value

    f.label("lane")
    bits = f.read("i64", left)
    k = f.emit(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 false)")
    with f.loop("0", "%leaves") as j:
        at = f.whole("add", f.whole("mul", j, "%width"), k)
        f.store(widened("%in", at), point, j, "double")
    f.write("double", widened("%out", k), result)
    f.do(f"call void @recompute(ptr %again, i64 %which, ptr {point}, ptr {result})")
    found = f.read("double", result)
    found = f.emit(f"fptrunc double {found} to float") if single else found
    f.store(found, "%out", k, real)
    rest = f.whole("and", bits, f.whole("sub", bits, "1"))
    f.write("i64", rest, left)
    f.leave_if(f.compare("ne", rest, "0"), "lane")
    head = (
        "void @recompute.lanes(ptr %again, i64 %which, i64 %bits, i64 %leaves, i64 %width, "
        "ptr %in, ptr %out) noinline #0"
    )
    return "declare i64 @llvm.cttz.i64(i64, i1)\n" + f.function(head, "ret void")


def recompute_functions(count: int) -> str:
    """What every kernel with tested values defines; nothing without."""
    if not count:
        return ""
    save, restore = unwatched((), "%mode") if has_flags() else ("", "")
    return _ONE.format(table=TABLE, count=count, save=save, restore=restore)


__all__ = ["TESTED", "WEIGHTS", "any_lane", "recompute_functions", "tested_call", "usually"]
