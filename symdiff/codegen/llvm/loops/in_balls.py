"""LLVM IR of a program with arrays and loops in ball arithmetic: every real number is a ball of FLINT's.

Before:  for i: s = s + x[i]**2
After:   for i: r1 = x[i] (arb_set_d); r2 = r1**2 (arb_pow_ui); r3 = s + r2 (arb_add); s = r3 (arb_set)

Each operation has a register of its own, which keeps its memory from one iteration to the next. Arrays of real
numbers and tapes hold balls; arguments stay doubles. What decides (control flow, sizes, indices, comparisons that
have no error) is computed in doubles beside, as in all kernels: `decisive` finds which numbers that concerns.
Other comparisons are of balls: whether they are proved, and whether they are refuted.

The kernel gives three doubles for each element of an output: both ends of its ball, and its accurate bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any

from symdiff import ir
from symdiff.codegen.common.liveness import Point
from symdiff.codegen.llvm.loops.ball_memory import CELL, DOUBLE, prelude_of_balls, print_transform
from symdiff.codegen.llvm.loops.body import NO_ROUTINE, Statements
from symdiff.codegen.llvm.loops.decisive import Decisive
from symdiff.codegen.llvm.loops.kernel import FIXED, Kernel, Layout, as_it_stands, layout_of
from symdiff.codegen.llvm.loops.memory import NO_MEMORY
from symdiff.codegen.llvm.loops.scoped import Scope, Slot, Stored
from symdiff.codegen.llvm.operation_table import COMPARISONS, c_function, powered
from symdiff.codegen.llvm.printer import Lanes
from symdiff.codegen.llvm.table_loops import PREFIXED
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, rational
from symdiff.ir import functions as f
from symdiff.ir.loop_program import (
    ARRAY,
    LOAD,
    REAL_OF,
    Build,
    Call,
    Carried,
    Check,
    Loop,
    LoopProgram,
    Type,
    Update,
    name_of,
    walk,
)
from symdiff.ir.plain import real_op
from symdiff.lowering.loops.refined import WITHIN

MOST_REGISTERS = 100_000
WORK = 1 << 16
"""Operations of a kernel between two looks at the table of `interrupts`."""
_BALLS: Callable[[Scope], dict[Hashable, str]] = attrgetter("balls")
VANISHING = frozenset((ir.MUL, ir.DIV, ir.POW, f.EXP, f.EXPM1))
TINY = "0x0010000000000000"
"""Operations whose doubles may underflow, and the smallest normal one."""


SIGNATURES = {
    "arb_clear": "void (ptr)", "arb_set": "void (ptr, ptr)", "arb_set_d": "void (ptr, double)",
    "arb_set_si": "void (ptr, i64)", "arb_indeterminate": "void (ptr)", "arb_is_finite": "i32 (ptr)",
    "arb_get_interval_arf": "void (ptr, ptr, ptr, i64)", "arf_get_d": "double (ptr, i32)", "arf_clear": "void (ptr)",
    "arb_rel_accuracy_bits": "i64 (ptr)", "arb_zero": "void (ptr)", "arb_add_error_2exp_si": "void (ptr, i64)",
    "arb_get_mid_arb": "void (ptr, ptr)", "arf_cmpabs_2exp_si": "i32 (ptr, i64)", "mag_cmp_2exp_si": "i32 (ptr, i64)",
}  # fmt: skip
"""FLINT's functions that every kernel uses."""


def layout_in_balls(program: LoopProgram) -> Layout:
    """The words of a kernel in balls: of outputs, addresses of what is found, and the sizes of axes."""
    made = layout_of(program)
    at, results = made.count, []
    for t in made.outputs:
        results.append(at)
        at += 1 + len(t.shape)
    known = (False,) * len(made.outputs)
    return Layout(made.params, made.places, made.sizes, made.outputs, known, tuple(results), at, ())  # fmt: skip


class BallKernel(Kernel):
    """Prints the kernel of a program (`lowering.loops.ball_operations`).

    Attributes
    ----------
    proves : whether comparisons are to be proven.
    middles : whether iterations hand on the middles of balls.
    decisive : the expressions whose doubles decide.
    twins : the doubles of some balls.
    called : the C functions that it calls, with their types.
    """

    by_library = False

    def __init__(self, program: LoopProgram, proves: bool = False, middles: bool = False) -> None:
        self.proves, self.prelude = proves, prelude_of_balls(middles)
        program = as_it_stands(program)
        super().__init__(program, "float64", Lanes())
        self.layout = layout_in_balls(program)
        self.decisive = Decisive(program, self.kinds)
        self.twins: dict[str, str] = {}
        self.called = dict(SIGNATURES)
        self.registers = 0

    # ---------------------------------------------------------------- functions of FLINT
    def do(self, name: str, *args: str, scope: Scope | None = None, gives: str = "void") -> str:
        """Call a function of FLINT."""
        kinds = ", ".join(a.split(" ")[0] for a in args)
        self.called.setdefault(name, f"{gives} ({kinds})")
        call = f"call {gives} @{PREFIXED}{name}({', '.join(args)})"
        if gives != "void":
            return self.emit(gives, call, scope)
        (scope or self.scope).lines.append(call)
        return ""

    def compute_ball(self, name: str, *args: str, scope: Scope | None = None) -> str:
        """A new ball, computed from others at the precision of the call."""
        z = self.register()
        self.do(name, f"ptr {z}", *args, "i64 %bits", scope=scope)
        return z

    def set_ball(self, name: str, *args: str, scope: Scope | None = None) -> str:
        """A new ball, which is exact."""
        z = self.register()
        self.do(name, f"ptr {z}", *args, scope=scope)
        return z

    def register(self) -> str:
        """A place for a ball."""
        name = self.fresh("ptr")
        self.entry.append(f"{name} = getelementptr i8, ptr %registers, i64 {CELL * self.registers}")
        self.registers += 1
        if self.registers > MOST_REGISTERS:
            raise UnsupportedError("a program has too many operations to be computed in balls")
        return name

    # ------------------------------------------------------------------------- expressions
    def operation(self, n: Expr, scope: Scope) -> str:
        """Print an operation on doubles."""
        op = real_op(n.op)
        written = self.kind(n) == "f" and op.libm is None and op.intrinsic is None
        if written and op.expand is not None:
            return self.number(op.expand(*n.args))
        found = super().operation(n, scope)
        if op in VANISHING and op is n.op and self.kind(n) == "f":
            self.vanishes(found, [self.number(a) for a in n.args], scope)
        return found

    def vanishes(self, value: str, args: Sequence[str], scope: Scope) -> None:
        """Note that a double underflowed: then its number need not be small."""
        size = self.emit("double", f"call double @llvm.fabs.f64(double {value})", scope)
        found = self.emit("i1", f"fcmp olt double {size}, {TINY}", scope)
        for a in args:
            some = self.emit("i1", f"fcmp one double {a}, 0.0", scope)
            found = self.emit("i1", f"and i1 {found}, {some}", scope)
        before = self.emit("i1", "load i1, ptr %underflow", scope)
        now = self.emit("i1", f"or i1 {before}, {found}", scope)
        scope.lines.append(f"store i1 {now}, ptr %underflow")

    def compute(self, e: Expr) -> None:
        if self.kind(e) != "f":
            self.scalar(e)
            return
        self.typed(e, "f")
        if e.op is LOAD and name_of(e.args[0]) in self.decisive.names:
            self.scalar(e)  # its double, too, before the array changes

    def typed(self, e: Expr, kind: str) -> str:
        if kind != "f":
            return super().typed(e, kind)
        ball = self.ball(e)
        if e in self.decisive:
            self.twins[ball] = self.number(e)
        return ball

    def ball(self, e: Expr) -> str:
        """The register of a real number."""
        if not e.args or self.kind(e) != "f":
            return self.leaf_ball(e)
        found = _BALLS(self.scope_of(e)).get(e)
        if found is not None:
            return found
        for n in self.missing(e, _BALLS, self.below):
            scope = self.scope_of(n)
            if n not in scope.balls:
                scope.balls[n] = self.ball_of(n, scope)
        return self.scope_of(e).balls[e]

    def below(self, n: Expr) -> Sequence[Expr]:
        """The real numbers that are computed before one."""
        if n.op is LOAD or self.decisive.is_double(n):
            return ()
        if n.op is ir.POW and rational(n.args[1]) is not None:
            return n.args[:1]
        found = list(n.args)
        if n.op is ir.WHERE:
            found = [*self.compared(n.args[0]), *n.args[1:]]
        return [a for a in found if self.kind(a) == "f"]

    def compared(self, condition: Expr) -> list[Expr]:
        """The numbers whose balls a condition compares."""
        order = ir.reached((condition,), self._open)
        return [
            a
            for c in order
            if c.op in ir.COMPARISONS and not self._is_of_doubles(c)
            for a in c.args
        ]

    def _open(self, c: Expr) -> tuple[Expr, ...]:
        """The conditions in one that doubles do not decide."""
        return () if c.op in ir.COMPARISONS or self._is_of_doubles(c) else c.args

    def _is_of_doubles(self, c: Expr) -> bool:
        return self.decisive.by_doubles(c) and not self.decisive.of_balls(c)

    def leaf_ball(self, e: Expr) -> str:
        if e.op is ir.VAR:
            scope, _ = self.find(name_of(e))
            return scope.balls[e]
        if e.op is ir.CONST:
            return self.shared(("constant", e), (), lambda at: self.constant(e.value, at), _BALLS)
        if self.kind(e) != "f":
            whole = self.typed(e, "i")
            return self.shared(("whole", e), (e,), lambda at: self.set_ball("arb_set_si", f"i64 {whole}", scope=at), _BALLS)  # fmt: skip
        if isinstance(e.op.flint, str):
            name = e.op.flint
            return self.shared(("constant", e), (), lambda at: self.compute_ball(name, scope=at), _BALLS)  # fmt: skip
        raise UnsupportedError(f"{e.op.name} has no C function")

    def constant(self, value: Any, scope: Scope) -> str:
        """A number of the program."""
        if isinstance(value, float) and not math.isfinite(value):
            name = "arb_indeterminate" if math.isnan(value) else "arb_pos_inf" if value > 0 else "arb_neg_inf"  # fmt: skip
            return self.set_ball(name, scope=scope)
        q = Fraction(value)
        try:
            near = float(q)
        except OverflowError:
            near = math.inf
        if math.isfinite(near) and Fraction(near) == q:
            return self.set_ball("arb_set_d", f"double {self.exactly(near)}", scope=scope)
        parts = [self.integer(n, scope) for n in (q.numerator, q.denominator)]
        return self.compute_ball("arb_div", *(f"ptr {x}" for x in parts), scope=scope)

    def exactly(self, x: float) -> str:
        """The text of a double."""
        return self.scalars.literal(ir.const(x))

    def integer(self, n: int, scope: Scope) -> str:
        """An integer of any size."""
        if abs(n) < 2**63:
            return self.set_ball("arb_set_si", f"i64 {n}", scope=scope)
        text = str(n)
        name = f'@"integer {text}"'
        if name not in self.once:
            self.once.add(name)
            self.functions.append(f'{name} = private constant [{len(text) + 1} x i8] c"{text}\\00"\n')  # fmt: skip
        z = self.register()
        self.do("arb_set_str", f"ptr {z}", f"ptr {name}", "i64 %bits", scope=scope, gives="i32")
        return z

    def ball_of(self, n: Expr, scope: Scope) -> str:
        """Print one operation, whose operands are there."""
        op = n.op
        if op is LOAD:
            a = self.stored(name_of(n.args[0]))
            address = self.place(a, n.args[1:], scope)
            if a.kind == "d":
                x = self.emit("double", f"load double, ptr {address}", scope)
                return self.set_ball("arb_set_d", f"double {x}", scope=scope)
            return self.set_ball("arb_set", f"ptr {address}", scope=scope)
        if self.decisive.is_double(n):
            return self.set_ball("arb_set_d", f"double {self.number(n)}", scope=scope)
        if op is ir.WHERE:
            return self.chosen(n, scope)
        if op is ir.POW and (q := rational(n.args[1])) is not None:
            return self.power(self.ball(n.args[0]), q, scope)
        if op is REAL_OF:
            return self.ball(n.args[0])
        if op is WITHIN:
            if self.proves:
                raise UnsupportedError("the radius of a refined result is no proof")
            ball, radius = map(self.ball, n.args)
            z = self.set_ball("arb_set", f"ptr {ball}", scope=scope)
            self.do("arb_add_error", f"ptr {z}", f"ptr {radius}", scope=scope)
            return z
        name = c_function(op, len(n.args))
        return self.compute_ball(name, *(f"ptr {self.ball(a)}" for a in n.args), scope=scope)

    def power(self, x: str, q: Fraction, scope: Scope) -> str:
        for name, n in powered(q):
            number = () if n is None else (f"i64 {n}",)
            x = self.compute_ball(name, f"ptr {x}", *number, scope=scope)
        return x

    # -------------------------------------------------------------------------- conditions
    def chosen(self, n: Expr, scope: Scope) -> str:
        condition, *sides = n.args
        yes, no = map(self.ball, sides)
        if self.decisive.by_doubles(condition) and not self.decisive.of_balls(condition):
            c = self.scalar(condition)
            return self.emit("ptr", f"select i1 {c}, ptr {yes}, ptr {no}", scope)
        proved, refuted = self.truth(condition, scope)
        one = self.emit("ptr", f"select i1 {proved}, ptr {yes}, ptr {no}", scope)
        known = self.emit("i1", f"or i1 {proved}, {refuted}", scope)
        unknown = self.shared("unknown", (), lambda at: self.set_ball("arb_indeterminate", scope=at), _BALLS)  # fmt: skip
        return self.emit("ptr", f"select i1 {known}, ptr {one}, ptr {unknown}", scope)

    def truth(self, c: Expr, scope: Scope) -> tuple[str, str]:
        """Whether a condition is proved, and whether it is refuted; `scope` knows its numbers."""
        if c not in scope.truths:
            scope.truths[c] = self.truth_of(c, scope)
        return scope.truths[c]

    def truth_of(self, c: Expr, scope: Scope) -> tuple[str, str]:
        by_doubles, of_balls = self.decisive.by_doubles(c), self.decisive.of_balls(c)
        if by_doubles and not of_balls:
            holds = self.scalar(c)
            return holds, self.emit("i1", f"xor i1 {holds}, true", scope)
        if c.op in COMPARISONS:
            balls = [f"ptr {self.ball(a)}" for a in c.args]
            found = [self.do(name, *balls, scope=scope, gives="i32") for name in COMPARISONS[c.op]]
            proved, refuted = (self.emit("i1", f"icmp ne i32 {x}, 0", scope) for x in found)
            if not self.proves:  # balls alike to the last bit are those of one number
                alike = self.do("arb_equal", *balls, scope=scope, gives="i32")
                alike = self.emit("i1", f"icmp ne i32 {alike}, 0", scope)
                if c.op is ir.LT:
                    refuted = self.emit("i1", f"or i1 {refuted}, {alike}", scope)
                else:
                    proved = self.emit("i1", f"or i1 {proved}, {alike}", scope)
            if not by_doubles:
                return proved, refuted
            holds = self.scalar(c)  # unless doubles underflowed
            fails = self.emit("i1", f"xor i1 {holds}, true", scope)
            lost = self.emit("i1", "load i1, ptr %underflow", scope)
            first, second = (
                self.emit("i1", f"select i1 {lost}, i1 {x}, i1 {y}", scope)
                for x, y in ((proved, holds), (refuted, fails))
            )
            return first, second
        parts = [self.truth(a, scope) for a in c.args]
        if c.op is ir.NOT:
            return parts[0][1], parts[0][0]
        if c.op not in (ir.AND, ir.OR):
            raise UnsupportedError("a condition is chosen by another one")
        first, second = ("and", "or") if c.op is ir.AND else ("or", "and")
        (p, r), (q, s) = parts[0], parts[-1]
        return (
            self.emit("i1", f"{first} i1 {p}, {q}", scope),
            self.emit("i1", f"{second} i1 {r}, {s}", scope),
        )

    # ------------------------------------------------------------------------------ memory
    def element_type(self, kind: str) -> str:
        if kind == "f":
            return f"[{CELL // 8} x i64]"
        return "double" if kind == "d" else super().element_type(kind)

    def element_bytes(self, kind: str) -> int:
        return CELL if kind == "f" else 8 if kind == "d" else super().element_bytes(kind)

    def taker(self, kind: str) -> str:
        return "take.balls" if kind == "f" else "take"

    def element(self, n: Expr, scope: Scope) -> str:
        a = self.stored(name_of(n.args[0]))
        if a.kind != "f":
            return super().element(n, scope)
        return self.double_at(self.place(a, n.args[1:], scope), scope)

    def double_at(self, cell: str, scope: Scope | None = None) -> str:
        """The double of a number in memory."""
        place = self.emit("ptr", f"getelementptr i8, ptr {cell}, i64 {DOUBLE}", scope)
        return self.emit("double", f"load double, ptr {place}", scope)

    def store(self, kind: str, value: str, address: str) -> None:
        if kind != "f":
            super().store(kind, value, address)
            return
        self.scope.lines.append(f"call void @keep(ptr {address}, ptr {value})")
        if value in self.twins:
            place = self.emit("ptr", f"getelementptr i8, ptr {address}, i64 {DOUBLE}")
            self.scope.lines.append(f"store double {self.twins[value]}, ptr {place}")

    def cell(self, kind: str) -> str:
        return self.register() if kind == "f" else super().cell(kind)

    def value_at(self, kind: str, address: str, *names: str) -> str:
        if kind != "f":
            return super().value_at(kind, address, *names)
        ball = self.set_ball("arb_set", f"ptr {address}")
        self.scope.balls.update((ir.var(n), ball) for n in names)
        return self.double_at(address)

    def copy(self, to: str, of: Stored) -> None:
        if of.kind not in "fd":
            super().copy(to, of)
            return
        how = "copy.balls" if of.kind == "f" else "widen"
        size = self.bytes_of(of.shape, "f")
        self.scope.lines.append(f"call void @{how}(ptr {to}, ptr {of.address}, i64 {size})")

    def copied(self, a: Stored) -> Stored:
        made = self.new(a.shape, "f" if a.kind == "d" else a.kind)
        self.copy(made.address, a)
        return made

    def reserve(self, tape: Any, size: str) -> None:
        done = self.emit("i1", f"call i1 @reserve.zeros(ptr {tape.record}, i64 {size})")
        self.require(f"icmp eq i1 {done}, true", NO_MEMORY)

    # -------------------------------------------------------------------------- statements
    def build(self, s: Build) -> None:
        Statements.build(self, s)

    def elements_of(
        self, s: Build, a: Stored, axis: int, part: tuple[str, str] | None = None
    ) -> None:
        Statements.elements_of(self, s, a, axis, part)

    def loop(self, s: Loop, point: Point) -> None:
        Statements.loop(self, s, point)

    def long(self, s: Loop, places: Sequence[str], of: str, zero: str) -> list[Any]:
        return []

    def held(self, v: Carried, place: str | Slot) -> str | Stored:
        return Statements.held(self, v, place)

    def change(self, s: Update, a: Stored, value: str) -> None:
        if not s.add or a.kind != "f":
            super().change(s, a, value)
            return
        address = self.place(a, s.index)
        self.do("arb_add", f"ptr {address}", f"ptr {address}", f"ptr {value}", "i64 %bits")
        if value in self.twins:
            place = self.emit("ptr", f"getelementptr i8, ptr {address}, i64 {DOUBLE}")
            old = self.emit("double", f"load double, ptr {place}")
            new = self.emit("double", f"fadd double {old}, {self.twins[value]}")
            self.scope.lines.append(f"store double {new}, ptr {place}")

    def check(self, s: Check) -> None:
        """The call has checked it."""
        if self.scope is self.root:
            self.sizes.check(s.condition)

    def asking(self, s: Loop) -> tuple[str, int]:
        return "watch", WORK

    def made(self, name: str, t: Type) -> Stored:
        if self.by_library and t.kind == "f":
            return Stored(self.new(t.shape, "d").address, t.shape, "d")
        return super().made(name, t)

    def call(self, s: Call) -> None:
        """A routine of a library gets doubles, and gives doubles."""
        if s.routine == "dft":
            self.transform(s)
            return
        given = {name_of(e) for e in s.args if e.op is ARRAY}
        whole = self.scope
        self.scope = Scope(whole)
        for name in given:
            a = self.stored(name)
            if a.kind == "f":
                made = self.new(a.shape, "d")
                size = self.bytes_of(a.shape, "f")
                self.scope.lines.append(f"call void @doubles(ptr {made.address}, ptr {a.address}, i64 {size})")  # fmt: skip
                a = Stored(made.address, a.shape, "f")
            self.scope.names[name] = a
        self.by_library = True
        Statements.call(self, s)
        self.by_library = False
        whole.lines += self.scope.lines
        whole.names.update((n, self.scope.names[n]) for n, _ in s.results)
        whole.allocates = whole.allocates or self.scope.allocates
        self.scope = whole

    def transform(self, s: Call) -> None:
        """FLINT's transforms of rows."""
        if "transform" not in self.once:
            self.once.add("transform")
            self.called["acb_dft"] = "void (ptr, ptr, i64, i64)"
            self.functions.append(print_transform(WORK))
        made = [self.made(name, t) for name, t in s.results]
        given = [self.stored(name_of(e)) for e in s.args[:2]]
        places = [a if a.kind == "f" else self.copied(a) for a in given] + made
        *rows, n = [self.at_least_zero(size) for size in given[0].shape]
        count = "1"
        for size in rows:
            count = self.emit("i64", f"mul i64 {count}, {size}")
        pointers = ", ".join(f"ptr {a.address}" for a in places)
        done = self.emit("i32", f"call i32 @transform({pointers}, i64 {count}, i64 {n}, i64 %bits, ptr %signals)")  # fmt: skip
        self.require(f"icmp ne i32 {done}, 2", NO_MEMORY)
        self.require(f"icmp eq i32 {done}, 0", NO_ROUTINE)
        self.scope.names.update((name, a) for (name, _), a in zip(s.results, made, strict=True))

    def asked(self, s: Call, record: str, places: Sequence[Stored | None]) -> str:
        return Statements.asked(self, s, record, places)

    # ----------------------------------------------------------------------------- function
    def bind(self) -> None:
        super().bind()
        for p in self.layout.params:
            found = self.scope.names[p.name]
            if isinstance(found, Stored):
                kind = "d" if found.kind == "f" else found.kind
                self.scope.names[p.name] = Stored(found.address, found.shape, kind)
            elif p.type.kind == "f":
                self.scope.balls[ir.var(p.name)] = self.set_ball("arb_set_d", f"double {found}")
        self.scope.lines.append(f"%bits.p = getelementptr i64, ptr %arguments, i64 {FIXED.index('again')}")  # fmt: skip
        self.scope.lines.append("%bits = load i64, ptr %bits.p")
        raised = self.read(FIXED.index("raised"), "i64")
        lost = self.emit("i1", f"trunc i64 {raised} to i1")
        self.scope.lines.append(f"store i1 {lost}, ptr %underflow")
        self.scalars.declared["llvm.fabs.f64"] = "declare double @llvm.fabs.f64(double)"

    def results(self, targets: Any) -> None:
        lost = self.emit("i64", f"zext i1 {self.emit('i1', 'load i1, ptr %underflow')} to i64")
        self.scope.lines.append(f"store i64 {lost}, ptr {self.word(FIXED.index('raised'))}")
        for e, t, at in zip(
            self.program.outputs, self.layout.outputs, self.layout.results, strict=True
        ):
            if t.kind != "f" and e.op is not ARRAY:
                self.scope.lines.append(f"store i64 {self.typed(e, 'i')}, ptr {self.word(at)}")
                continue
            if e.op is ARRAY:
                a = self.stored(name_of(e))
                a = a if a.kind == "f" else self.copied(a)
                address, size = a.address, self.bytes_of(a.shape, "f")
                for axis, n in enumerate(a.shape):
                    self.scope.lines.append(f"store i64 {self.at_least_zero(n)}, ptr {self.word(at + 1 + axis)}")  # fmt: skip
                if t.kind != "f":
                    self.scope.lines.append(f"store ptr {a.address}, ptr {self.word(at)}")
                    continue
            else:
                address, size = self.ball(e), str(CELL)
            room = self.emit("ptr", f"call ptr @take(ptr {self.allocation}, i64 {size})")
            self.require(f"icmp ne ptr {room}, null", NO_MEMORY)
            self.scope.lines.append(f"call void @ends(ptr {address}, i64 {size}, ptr {room})")
            self.scope.lines.append(f"store ptr {room}, ptr {self.word(at)}")

    def ended(self) -> list[str]:
        kinds = {v.tape: v.type.kind for s in loops_of(self.program) for v in s.saves}
        return [
            f"call void @drop.tape(ptr {record}, i1 {str(kinds[name] == 'f').lower()})"
            for name, record in self.tapes.items()
        ]

    def text(self) -> str:
        size = CELL * max(self.registers, 1)
        self.entry[:0] = [
            "%underflow = alloca i1",
            f"%registers = call ptr @take.balls(ptr %allocations, i64 {size})",
        ]
        self.root.lines[:0] = [
            "%is.there = icmp ne ptr %registers, null",
            f"br i1 %is.there, label %begin, label %{self.fail(NO_MEMORY)}",
            "begin:",
        ]
        for name, kind in self.called.items():
            gives, _, kinds = kind.partition(" ")
            self.scalars.declared[PREFIXED + name] = f"declare {gives} @{PREFIXED}{name}{kinds}"
        return super().text()


def loops_of(program: LoopProgram) -> list[Loop]:
    """The loops of a program."""
    return [s for s in walk(program.block) if isinstance(s, Loop)]
