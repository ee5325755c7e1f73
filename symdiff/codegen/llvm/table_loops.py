"""The loops in LLVM IR that run tables of ball arithmetic (`codegen.llvm.operation_table`): elements at one
precision, and one element with growing precision."""

from __future__ import annotations

from symdiff.codegen.llvm.operation_table import FALSE, TRUE, UNKNOWN


def logic() -> bytes:
    """NOT, AND and OR of truth values, as tables of nine."""
    three = (FALSE, TRUE, UNKNOWN)

    def both(a: int, b: int) -> int:
        return FALSE if FALSE in (a, b) else TRUE if a == b == TRUE else UNKNOWN

    def either(a: int, b: int) -> int:
        return TRUE if TRUE in (a, b) else FALSE if a == b == FALSE else UNKNOWN

    negated = [(TRUE, FALSE, UNKNOWN)[a] for a in three for _ in three]
    pairs = [(a, b) for a in three for b in three]
    return bytes([*negated, *(both(*p) for p in pairs), *(either(*p) for p in pairs)])


PLAN = ("inputs", "rows", "row_count", "order", "columns", "roots", "root_count", "balls", "truths", "truth_count",
        "constants", "levels", "level_count", "guard", "fill", "stable")  # fmt: skip
"""What `climb` takes, each an i64 or an address.

inputs : the arguments of a point; order, columns : which of them are columns, unless `fill`, the address of
    `i8 fill(in, columns)`, is not 0.
truths, truth_count : what truth values begin as. balls, constants : how many there are.
levels : for each precision its bits, the address of the constants, and the last argument of `run`.
guard : bits that are added to those that are known to lack.
stable : the plan of other forms of the outputs, which are tried where the outputs have finite balls; or 0.
"""
NONE = -(2**63)
"""Bits of what has no finite ball. (FLINT has -(2**63 - 1) for a ball around 0.)"""
PREFIXED = "symdiff_"
"""Begins the names of FLINT's functions in compiled code, so that no other library's are meant."""


def print_loop() -> str:
    """The module with the functions `run`, `climb`, and `clear`, which frees registers.

    The arguments of `run`: registers of balls and truth values; rows and their number; columns (a row for
    each element) and their number; elements; places of outputs and their number; results, what is
    found of each element, and the bits that are accurate (`NONE` where a ball is not finite); precision; whether results are float32;
    and the bits from which an argument is known so well that more of them do not help.

    `i8 climb(in, out, plan)` computes the outputs at one point with growing precision, and returns
    whether they remain unproven, or are infinite; then `out` is unchanged. `plan` points to the numbers `PLAN`.
    `void climbs(steps, operands, plan)` does so for elements, as a body of arrays.
    """
    table = "".join(f"\\{b:02X}" for b in logic())
    own = _LOOP.replace("@arb", f"@{PREFIXED}arb").replace("@arf", f"@{PREFIXED}arf")
    loads = [
        f"%{name}.p0 = getelementptr i64, i64* %plan, i64 {k}\n  %{name} = load i64, i64* %{name}.p0"
        for k, name in enumerate(PLAN)
    ]
    return (
        own.replace("TABLE", table)
        .replace("LOADS", "\n  ".join(loads))
        .replace("NONE", str(NONE))
        .replace("ROOTS", str(PLAN.index("root_count")))
    )


_LOOP = r"""
@logic = internal constant [27 x i8] c"TABLE"
declare void @arb_set(i8*, i8*)
declare void @arb_indeterminate(i8*)
declare i32 @arb_is_finite(i8*)
declare i64 @arb_rel_accuracy_bits(i8*)
declare void @arb_get_interval_arf(i8*, i8*, i8*, i64)
declare double @arf_get_d(i8*, i32)
declare void @arf_clear(i8*)
declare void @arb_clear(i8*)

define void @clear(i8* %R, i64 %count) {
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %one]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %one, label %end
one:
  %o = mul i64 %k, 48
  %x = getelementptr i8, i8* %R, i64 %o
  call void @arb_clear(i8* %x)
  %next = add i64 %k, 1
  br label %head
end:
  ret void
}

define void @run(i8* %R, i8* %B, i64* %rows, i64 %nrows, double* %cols, i64 %ncols, i64 %count,
                 i64* %roots, i64 %nroots, double* %out, i8* %status, i64* %bits, i64 %prec,
                 i64 %single, i64 %well) {
entry:
  %low.m = alloca [32 x i8], align 16
  %high.m = alloca [32 x i8], align 16
  store [32 x i8] zeroinitializer, [32 x i8]* %low.m
  store [32 x i8] zeroinitializer, [32 x i8]* %high.m
  %low = bitcast [32 x i8]* %low.m to i8*
  %high = bitcast [32 x i8]* %high.m to i8*
  %is32 = icmp ne i64 %single, 0
  %hopeless = alloca i8
  br label %elements
elements:
  %e = phi i64 [0, %entry], [%e.next, %element.done]
  %e.more = icmp slt i64 %e, %count
  br i1 %e.more, label %element, label %end
element:
  %e.col = mul i64 %e, %ncols
  %col = getelementptr double, double* %cols, i64 %e.col
  store i8 0, i8* %hopeless
  br label %rows.head
rows.head:
  %r = phi i64 [0, %element], [%r.next, %row.done]
  %r.more = icmp slt i64 %r, %nrows
  br i1 %r.more, label %row, label %outputs
row:
  %r.at = mul i64 %r, 8
  %p0 = getelementptr i64, i64* %rows, i64 %r.at
  %p1 = getelementptr i64, i64* %p0, i64 1
  %p2 = getelementptr i64, i64* %p0, i64 2
  %p3 = getelementptr i64, i64* %p0, i64 3
  %p4 = getelementptr i64, i64* %p0, i64 4
  %p5 = getelementptr i64, i64* %p0, i64 5
  %p6 = getelementptr i64, i64* %p0, i64 6
  %p7 = getelementptr i64, i64* %p0, i64 7
  %kind = load i64, i64* %p0
  %f = load i64, i64* %p1
  %d = load i64, i64* %p2
  %a = load i64, i64* %p3
  %b = load i64, i64* %p4
  %c = load i64, i64* %p5
  %number = load i64, i64* %p6
  %d.o = mul i64 %d, 48
  %a.o = mul i64 %a, 48
  %b.o = mul i64 %b, 48
  %z = getelementptr i8, i8* %R, i64 %d.o
  %x = getelementptr i8, i8* %R, i64 %a.o
  %y = getelementptr i8, i8* %R, i64 %b.o
  switch i64 %kind, label %row.done [i64 0, label %unary
    i64 1, label %binary
    i64 2, label %withnumber
    i64 3, label %column
    i64 4, label %compare
    i64 5, label %logic
    i64 6, label %select]
unary:
  %f1 = inttoptr i64 %f to void (i8*, i8*, i64)*
  call void %f1(i8* %z, i8* %x, i64 %prec)
  br label %result
binary:
  %f2 = inttoptr i64 %f to void (i8*, i8*, i8*, i64)*
  call void %f2(i8* %z, i8* %x, i8* %y, i64 %prec)
  br label %result
withnumber:
  %f3 = inttoptr i64 %f to void (i8*, i8*, i64, i64)*
  call void %f3(i8* %z, i8* %x, i64 %number, i64 %prec)
  br label %result
column:
  %v.p = getelementptr double, double* %col, i64 %number
  %v = load double, double* %v.p
  %f4 = inttoptr i64 %f to void (i8*, double)*
  call void %f4(i8* %z, double %v)
  br label %row.done
compare:
  %truth = getelementptr i8, i8* %B, i64 %d
  %f5 = inttoptr i64 %f to i32 (i8*, i8*)*
  %proves = call i32 %f5(i8* %x, i8* %y)
  %holds = icmp ne i32 %proves, 0
  br i1 %holds, label %compared, label %refute
refute:
  %g = load i64, i64* %p7
  %f6 = inttoptr i64 %g to i32 (i8*, i8*)*
  %refutes = call i32 %f6(i8* %x, i8* %y)
  %fails = icmp ne i32 %refutes, 0
  %not = select i1 %fails, i8 0, i8 2
  br label %compared
compared:
  %found = phi i8 [1, %compare], [%not, %refute]
  store i8 %found, i8* %truth
  br label %row.done
logic:
  %ta.p = getelementptr i8, i8* %B, i64 %a
  %tb.p = getelementptr i8, i8* %B, i64 %b
  %ta = load i8, i8* %ta.p
  %tb = load i8, i8* %tb.p
  %ta.i = zext i8 %ta to i64
  %tb.i = zext i8 %tb to i64
  %l3 = mul i64 %ta.i, 3
  %l4 = add i64 %l3, %tb.i
  %l5 = add i64 %l4, %number
  %l.p = getelementptr [27 x i8], [27 x i8]* @logic, i64 0, i64 %l5
  %l = load i8, i8* %l.p
  %td.p = getelementptr i8, i8* %B, i64 %d
  store i8 %l, i8* %td.p
  br label %row.done
result:
  %w.finite = call i32 @arb_is_finite(i8* %z)
  %w.bad = icmp eq i32 %w.finite, 0
  br i1 %w.bad, label %why.first, label %row.done
why.first:
  %a.bits = call i64 @arb_rel_accuracy_bits(i8* %x)
  %a.known = icmp sge i64 %a.bits, %well
  br i1 %a.known, label %why.second, label %row.done
why.second:
  %b.bits = call i64 @arb_rel_accuracy_bits(i8* %y)
  %b.known = icmp sge i64 %b.bits, %well
  br i1 %b.known, label %why.none, label %row.done
why.none:
  store i8 1, i8* %hopeless
  br label %row.done
select:
  %tc.p = getelementptr i8, i8* %B, i64 %a
  %tc = load i8, i8* %tc.p
  %unknown = icmp eq i8 %tc, 2
  br i1 %unknown, label %indeterminate, label %known
indeterminate:
  call void @arb_indeterminate(i8* %z)
  br label %row.done
known:
  %yes = icmp eq i8 %tc, 1
  %c.o = mul i64 %c, 48
  %taken = select i1 %yes, i64 %b.o, i64 %c.o
  %w = getelementptr i8, i8* %R, i64 %taken
  call void @arb_set(i8* %z, i8* %w)
  br label %row.done
row.done:
  %r.next = add i64 %r, 1
  br label %rows.head

outputs:
  %e.out = mul i64 %e, %nroots
  br label %outputs.head
outputs.head:
  %k = phi i64 [0, %outputs], [%k.next, %output.done]
  %state = phi i8 [0, %outputs], [%state.next, %output.done]
  %worst = phi i64 [9223372036854775807, %outputs], [%worst.next, %output.done]
  %k.more = icmp slt i64 %k, %nroots
  br i1 %k.more, label %output, label %checked
output:
  %root.p = getelementptr i64, i64* %roots, i64 %k
  %root = load i64, i64* %root.p
  %root.o = mul i64 %root, 48
  %ball = getelementptr i8, i8* %R, i64 %root.o
  %finite = call i32 @arb_is_finite(i8* %ball)
  %is.finite = icmp ne i32 %finite, 0
  br i1 %is.finite, label %round, label %undefined
round:
  call void @arb_get_interval_arf(i8* %low, i8* %high, i8* %ball, i64 %prec)
  br i1 %is32, label %as.single, label %as.double
as.double:
  %dl = call double @arf_get_d(i8* %low, i32 4)
  %dh = call double @arf_get_d(i8* %high, i32 4)
  br label %rounded
as.single:
  %sl = call double @arf_get_d(i8* %low, i32 2)
  %sh = call double @arf_get_d(i8* %high, i32 3)
  %fl = fptrunc double %sl to float
  %fh = fptrunc double %sh to float
  %xl = fpext float %fl to double
  %xh = fpext float %fh to double
  br label %rounded
rounded:
  %least = phi double [%dl, %as.double], [%xl, %as.single]
  %most = phi double [%dh, %as.double], [%xh, %as.single]
  %e.k = add i64 %e.out, %k
  %o.p = getelementptr double, double* %out, i64 %e.k
  store double %most, double* %o.p
  %same = fcmp oeq double %least, %most
  br i1 %same, label %output.done, label %open
open:
  %accurate = call i64 @arb_rel_accuracy_bits(i8* %ball)
  %tie = icmp sge i64 %accurate, 200
  %open.state = select i1 %tie, i8 2, i8 1
  %lower = icmp slt i64 %accurate, %worst
  %worst.1 = select i1 %lower, i64 %accurate, i64 %worst
  br label %merged
undefined:
  br label %merged
merged:
  %new.state = phi i8 [%open.state, %open], [1, %undefined]
  %new.worst = phi i64 [%worst.1, %open], [NONE, %undefined]
  %s.larger = icmp ugt i8 %new.state, %state
  %s.max = select i1 %s.larger, i8 %new.state, i8 %state
  br label %output.done
output.done:
  %state.next = phi i8 [%state, %rounded], [%s.max, %merged]
  %worst.next = phi i64 [%worst, %rounded], [%new.worst, %merged]
  %k.next = add i64 %k, 1
  br label %outputs.head

checked:
  %st.p = getelementptr i8, i8* %status, i64 %e
  store i8 %state, i8* %st.p
  %bits.p = getelementptr i64, i64* %bits, i64 %e
  store i64 %worst, i64* %bits.p
  %lost = icmp eq i64 %worst, NONE
  br i1 %lost, label %why, label %element.done
why:
  %w.seen = load i8, i8* %hopeless
  %w.none = icmp eq i8 %w.seen, 0
  br i1 %w.none, label %element.done, label %ask
ask:
  store i8 2, i8* %st.p
  br label %element.done
element.done:
  %e.next = add i64 %e, 1
  br label %elements
end:
  call void @arf_clear(i8* %low)
  call void @arf_clear(i8* %high)
  ret void
}

declare void @llvm.memset.p0i8.i64(i8*, i8, i64, i1)
declare void @llvm.memcpy.p0i8.p0i8.i64(i8*, i8*, i64, i1)
declare double @llvm.fabs.f64(double)

define i8 @climb(double* %in, double* %out, i64* %plan) {
entry:
  LOADS
  %c.size = mul i64 %constants, 48
  %b.size = mul i64 %balls, 48
  %size = add i64 %c.size, %b.size
  %all = alloca i8, i64 %size, align 16
  %R = getelementptr i8, i8* %all, i64 %c.size
  call void @llvm.memset.p0i8.i64(i8* %R, i8 0, i64 %b.size, i1 false)
  %B = alloca i8, i64 %truth_count
  %truths.p = inttoptr i64 %truths to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %B, i8* %truths.p, i64 %truth_count, i1 false)
  %cols = alloca double, i64 %columns
  %found = alloca double, i64 %root_count
  %status = alloca i8
  %accurate = alloca i64
  %others = alloca i64
  store i64 %stable, i64* %others
  %rows.p = inttoptr i64 %rows to i64*
  %order.p = inttoptr i64 %order to i64*
  %roots.p = inttoptr i64 %roots to i64*
  %levels.p = inttoptr i64 %levels to i64*
  br label %gather
gather:
  %arguments = icmp eq i64 %fill, 0
  br i1 %arguments, label %take, label %called
called:
  %fill.f = inttoptr i64 %fill to i8 (double*, double*)*
  %ignored = call i8 %fill.f(double* %in, double* %cols)
  br label %known
known:
  %n = phi i64 [0, %called], [0, %take], [%n.next, %column]
  %n.more = icmp slt i64 %n, %columns
  br i1 %n.more, label %column, label %given
column:
  %n.p = getelementptr double, double* %cols, i64 %n
  %n.x = load double, double* %n.p
  %n.size = call double @llvm.fabs.f64(double %n.x)
  %n.fine = fcmp une double %n.size, 0x7FF0000000000000
  %n.next = add i64 %n, 1
  br i1 %n.fine, label %known, label %leave
given:
  %g = phi i64 [0, %known], [%g.next, %argument]
  %g.more = icmp slt i64 %g, %inputs
  br i1 %g.more, label %argument, label %level
argument:
  %g.p = getelementptr double, double* %in, i64 %g
  %g.x = load double, double* %g.p
  %g.d = fsub double %g.x, %g.x
  %g.fine = fcmp oeq double %g.d, 0.0
  %g.next = add i64 %g, 1
  br i1 %g.fine, label %given, label %leave
take:
  %j = phi i64 [0, %gather], [%j.next, %one]
  %j.more = icmp slt i64 %j, %columns
  br i1 %j.more, label %one, label %known
one:
  %o.p = getelementptr i64, i64* %order.p, i64 %j
  %o = load i64, i64* %o.p
  %x.p = getelementptr double, double* %in, i64 %o
  %x = load double, double* %x.p
  %col.p = getelementptr double, double* %cols, i64 %j
  store double %x, double* %col.p
  %j.next = add i64 %j, 1
  br label %take
level:
  %k = phi i64 [0, %given], [%k.next, %next]
  %needed = phi i64 [0, %given], [%needed.next, %next]
  %k.more = icmp slt i64 %k, %level_count
  br i1 %k.more, label %try, label %leave
try:
  %l.at = mul i64 %k, 3
  %l.p = getelementptr i64, i64* %levels.p, i64 %l.at
  %bits = load i64, i64* %l.p
  %enough = icmp sle i64 %needed, %bits
  br i1 %enough, label %compute, label %next
compute:
  %l.1 = getelementptr i64, i64* %l.p, i64 1
  %l.2 = getelementptr i64, i64* %l.p, i64 2
  %own = load i64, i64* %l.1
  %well = load i64, i64* %l.2
  %own.p = inttoptr i64 %own to i8*
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %all, i8* %own.p, i64 %c.size, i1 false)
  call void @run(i8* %R, i8* %B, i64* %rows.p, i64 %row_count, double* %cols, i64 %columns, i64 1,
                 i64* %roots.p, i64 %root_count, double* %found, i8* %status, i64* %accurate, i64 %bits,
                 i64 0, i64 %well)
  %s = load i8, i8* %status
  switch i8 %s, label %leave [i8 0, label %proven
    i8 1, label %more]
more:
  %a = load i64, i64* %accurate
  %negative = sub i64 0, %bits
  %some = icmp sgt i64 %a, %negative
  %up = add i64 %bits, %guard
  %lacking = sub i64 %up, %a
  %wanted = select i1 %some, i64 %lacking, i64 0
  %other = load i64, i64* %others
  %there = icmp ne i64 %other, 0
  %has.ball = icmp ne i64 %a, NONE
  %turn = and i1 %there, %has.ball
  br i1 %turn, label %rewritten, label %next
rewritten:
  store i64 0, i64* %others
  %other.p = inttoptr i64 %other to i64*
  %unsettled = call i8 @climb(double* %in, double* %out, i64* %other.p)
  %settled = icmp eq i8 %unsettled, 0
  br i1 %settled, label %leave, label %next
next:
  %needed.next = phi i64 [%needed, %try], [%wanted, %more], [%wanted, %rewritten]
  %k.next = add i64 %k, 1
  br label %level
proven:
  %q = phi i64 [0, %compute], [%q.next, %q.result]
  %q.more = icmp slt i64 %q, %root_count
  br i1 %q.more, label %q.result, label %copy
q.result:
  %q.p = getelementptr double, double* %found, i64 %q
  %q.x = load double, double* %q.p
  %q.d = fsub double %q.x, %q.x
  %q.fine = fcmp oeq double %q.d, 0.0
  %q.next = add i64 %q, 1
  br i1 %q.fine, label %proven, label %leave
copy:
  %found.b = bitcast double* %found to i8*
  %out.b = bitcast double* %out to i8*
  %o.size = mul i64 %root_count, 8
  call void @llvm.memcpy.p0i8.p0i8.i64(i8* %out.b, i8* %found.b, i64 %o.size, i1 false)
  br label %leave
leave:
  %open = phi i8 [1, %column], [1, %argument], [1, %level], [1, %compute], [1, %q.result], [0, %copy], [0, %rewritten]
  call void @clear(i8* %R, i64 %balls)
  ret i8 %open
}

define void @climbs(i64 %steps, double** %work, i64* %plan) {
entry:
  %inputs = load i64, i64* %plan
  %roots.p = getelementptr i64, i64* %plan, i64 ROOTS
  %roots = load i64, i64* %roots.p
  %count = add i64 %inputs, %roots
  %point = alloca double, i64 %inputs
  %found = alloca double, i64 %roots
  %flags.p = getelementptr double*, double** %work, i64 %count
  %flags.d = load double*, double** %flags.p
  %flags = bitcast double* %flags.d to i8*
  br label %head
head:
  %s = phi i64 [0, %entry], [%s.next, %done]
  %more = icmp slt i64 %s, %steps
  br i1 %more, label %take, label %end
take:
  %j = phi i64 [0, %head], [%j.next, %one]
  %j.more = icmp slt i64 %j, %inputs
  br i1 %j.more, label %one, label %compute
one:
  %from.p = getelementptr double*, double** %work, i64 %j
  %from = load double*, double** %from.p
  %x.p = getelementptr double, double* %from, i64 %s
  %x = load double, double* %x.p
  %to = getelementptr double, double* %point, i64 %j
  store double %x, double* %to
  %j.next = add i64 %j, 1
  br label %take
compute:
  %open = call i8 @climb(double* %point, double* %found, i64* %plan)
  %flag.p = getelementptr i8, i8* %flags, i64 %s
  store i8 %open, i8* %flag.p
  %fine = icmp eq i8 %open, 0
  br label %put
put:
  %k = phi i64 [0, %compute], [%k.next, %result]
  %k.more = icmp slt i64 %k, %roots
  br i1 %k.more, label %result, label %done
result:
  %y.p = getelementptr double, double* %found, i64 %k
  %y = load double, double* %y.p
  %z = select i1 %fine, double %y, double 0x7FF8000000000000
  %place = add i64 %inputs, %k
  %o.p = getelementptr double*, double** %work, i64 %place
  %o = load double*, double** %o.p
  %z.p = getelementptr double, double* %o, i64 %s
  store double %z, double* %z.p
  %k.next = add i64 %k, 1
  br label %put
done:
  %s.next = add i64 %s, 1
  br label %head
end:
  ret void
}
"""
