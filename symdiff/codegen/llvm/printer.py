"""Print lowered outputs as LLVM IR text: one straight walk over the DAG.

The SIMD code is vectorised by construction: every value is a vector of as many
elements as a register holds, and functions are calls to glibc's libmvec, or to
libm lane by lane. Nothing is left to LLVM's loop vectoriser, so nothing can
silently disable it. No fast-math flag is ever printed and nothing is contracted.

Two shapes are printed. `print_point` computes one element; it defines

    i8 @point(ptr in, ptr out)

with `in` the parameters' values and `out` the outputs'; it returns whether the
`flagged` condition holds. `print_body` computes `steps` registers full; it defines

    void @body(i64 steps, ptr operands, i64 stream)

with `operands` the addresses of the parameters', the outputs' and (if there is a
`flagged` condition) the flags' contiguous elements, and `stream` how the outputs are written
(see `codegen.llvm.nontemporal`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from symdiff import ir
from symdiff.codegen.llvm import directed, flags, nontemporal, sincos
from symdiff.codegen.llvm.nontemporal import Streams
from symdiff.errors import UnsupportedError
from symdiff.ir import Expr, Op
from symdiff.ir.functions import CONSTANT_VALUES
from symdiff.ir.plain import real_op
from symdiff.lowering.double_double.arithmetic import EXPONENT, POWER_OF_TWO
from symdiff.lowering.target import OVERFLOWS, UNDERFLOWS, nearest, nearest_single

CHUNK, INLINE = 200, 2000
"""Operations per LLVM function, and those up to which the loop over arrays has all of them
in one: instruction selection and register allocation are superlinear in the size of a
function."""

_ARITHMETIC = {ir.ADD: "fadd", ir.SUB: "fsub", ir.MUL: "fmul", ir.DIV: "fdiv"}
_COMPARISONS = {ir.LT: "olt", ir.LE: "ole", ir.EQ: "oeq"}
_LOGIC = {ir.AND: "and", ir.OR: "or"}
_PURE = "nounwind willreturn memory(none)"


@dataclass(frozen=True, slots=True)
class Lanes:
    """How many elements a value holds, and which SIMD functions may be called.

    Attributes
    ----------
    width : elements in a value; 1 prints scalar code.
    registers : how many registers a value takes.
    permutes : whether the processor picks elements from two registers of 64 bytes.
    isa : letter of the instruction set in the names of SIMD functions, or "".
    library : the names of the SIMD functions that are there.
    directed : whether code is also run with the processor rounding up or down (`runtime.loops.probe`).
    """

    width: int = 1
    isa: str = ""
    library: frozenset[str] = frozenset()
    registers: int = 1
    permutes: bool = False
    directed: bool = False

    @property
    def doubled(self) -> Lanes:
        """With two registers for a value, whose operations do not depend on each other."""
        return replace(self, width=2 * self.width, registers=2 * self.registers)

    def variant(self, function: str, arity: int) -> str | None:
        """The name of the SIMD variant of a libm function, if it is there."""
        name = variant_name(self.isa, self.width, function, arity)
        return name if name in self.library else None


def variant_name(isa: str, width: int, function: str, arity: int) -> str:
    """The name of a SIMD function in the vector function ABI."""
    return f"_ZGV{isa}N{width}{'v' * arity}_{function}"


def print_point(
    params: Sequence[str],
    outputs: Sequence[Expr],
    flagged: Expr | None,
    dtype: str,
    lean: bool = False,
    writer: Writer | None = None,
) -> str:
    """A module with `i8 @point(ptr in, ptr out)` for one element; if `lean`, the processor's flags count too.

    Where the `flagged` condition holds, the function whose address is in the global
    `second`, if there is one, is called with the global `plan`; it computes the element again and decides.
    """
    writer = writer or Writer(dtype, Lanes())
    real = writer.real
    for k, name in enumerate(params):
        writer.inputs[name] = f"getelementptr {real}, ptr %in, i64 {k}"
    stores = [
        _Store(e, f"getelementptr {real}, ptr %out, i64 {k}", real) for k, e in enumerate(outputs)
    ]
    if flagged is not None:
        stores.append(_Store(flagged, "getelementptr i8, ptr %flag, i64 0", "i8"))
    signature = "ptr noalias %in, ptr noalias %out, ptr noalias %flag"
    parts = writer.chunks("point", signature, stores)
    alone = " noinline" if lean else ""  # nothing is moved out of where flags are watched
    calls = [f"call void @{part}({signature}, ptr %spill){alone}" for part in parts]
    lines = [
        *(("@second = global ptr null", "@plan = global ptr null") if flagged is not None else ()),
        "define i8 @point(ptr noalias %in, ptr noalias %out) #0 {",
        "%flag = alloca i8",
        "store i8 0, ptr %flag",
        f"%spill = alloca {writer.value}, i64 {max(1, writer.spilled)}, align 64",
        *(_watched(calls) if lean else calls),
        f"%{'tested' if lean else 'flagged'} = load i8, ptr %flag",
        *(_RAISED if lean else ()),
        *(_SECOND if flagged is not None else ()),
        "ret i8 %flagged",
        "}",
    ]
    return writer.module([flags.DECLARED, *lines] if lean else lines)


def _watched(calls: Sequence[str]) -> list[str]:
    return [*flags.PLACES, *flags.watched(calls, UNDERFLOWS | OVERFLOWS)]


_RAISED = (
    "%some = icmp ne i32 %bits, 0",
    "%raised = zext i1 %some to i8",
    "%flagged = or i8 %tested, %raised",
)
_SECOND = (
    "%next = load ptr, ptr @second",
    "%alone = icmp eq ptr %next, null",
    "%fine = icmp eq i8 %flagged, 0",
    "%enough = or i1 %alone, %fine",
    "br i1 %enough, label %done, label %again",
    "again:",
    "%with = load ptr, ptr @plan",
    "%verdict = call i8 %next(ptr %in, ptr %out, ptr %with)",
    "ret i8 %verdict",
    "done:",
)


def print_body(
    params: Sequence[str],
    outputs: Sequence[Expr],
    flagged: Expr | None,
    dtype: str,
    lanes: Lanes,
    writer: Writer | None = None,
) -> str:
    """A module with `void @body(i64 steps, ptr operands, i64 stream)` for arrays, and the
    number of elements in a step as the global `width`."""
    writer = writer or Writer(dtype, lanes)
    real = writer.real
    count = len(params) + len(outputs) + (flagged is not None)
    for k, name in enumerate(params):
        writer.inputs[name] = f"getelementptr {real}, ptr %p{k}, i64 %i"
    stores = [
        _Store(e, f"getelementptr {real}, ptr %p{k}, i64 %i", real)
        for k, e in enumerate(outputs, len(params))
    ]
    if flagged is not None:
        stores.append(_Store(flagged, f"getelementptr i8, ptr %p{count - 1}, i64 %i", "i8"))
    pointers = [
        line
        for k in range(count)
        for line in (
            f"%a{k} = getelementptr ptr, ptr %operands, i64 {k}",
            f"%p{k} = load ptr, ptr %a{k}, !invariant.load !0",
        )
    ]
    parts = writer.chunks("body", "ptr noalias readonly %operands, i64 %i", stores, pointers)
    ways, last = writer.streams, "turn"
    if ways is not None:
        writer.declared.update(ways.declared())
        last = "joined"
    lines = [
        f"@width = constant i64 {lanes.width}",
        "define void @body(i64 %steps, ptr noalias readonly %operands, i64 %stream) #0 {",
        "entry:",
        f"%spill = alloca {writer.value}, i64 {max(1, writer.spilled)}, align 64",
        f"%end = mul i64 %steps, {lanes.width}",
        *(pointers if writer.inline else []),
        *(ways.entry() if ways else []),
        "%some = icmp sgt i64 %steps, 0",
        "br i1 %some, label %loop, label %done",
        "loop:",
        f"%i = phi i64 [ 0, %entry ], [ %next, %{last} ]",
        *(ways.begin() if ways else []),
        *writer.inline,
        *(
            f"call void @{part}(ptr noalias readonly %operands, i64 %i, ptr %spill)"
            for part in parts
        ),
        *([] if ways else ["br label %turn", "turn:"]),
        f"%next = add nuw nsw i64 %i, {lanes.width}",
        "%more = icmp slt i64 %next, %end",
        "br i1 %more, label %loop, label %end.loop",
        "end.loop:",
        *(ways.end() if ways else ["br label %done"]),
        "done:",
        "ret void",
        "}",
    ]
    return writer.module(lines) + "!1 = !{i32 1}\n" + sincos.RARE


@dataclass(frozen=True, slots=True)
class _Store:
    """Where the value of an output goes, and the type of its elements there."""

    value: Expr
    address: str
    element: str


class Writer:
    """Prints one module; `real` is the type of an element, `value` of a register. With
    `shares`, functions of one number share what `codegen.llvm.sincos` says."""

    def __init__(self, dtype: str, lanes: Lanes, shares: bool = False) -> None:
        self.shares = shares
        self.single = dtype == "float32"
        self.real = "float" if self.single else "double"
        self.lanes = lanes
        self.value = self.vector(self.real)
        self.condition = self.vector("i1")
        self.suffix = f"{'' if lanes.width == 1 else f'v{lanes.width}'}f{32 if self.single else 64}"
        self.inputs: dict[str, str] = {}
        self.names: dict[Expr, str] = {}
        self.declared: dict[str, str] = {}
        self.functions: list[str] = []
        self.spilled = 0
        self.inline: list[str] = []
        self.whole = False
        self.streams: Streams | None = None

    def vector(self, element: str) -> str:
        return element if self.lanes.width == 1 else f"<{self.lanes.width} x {element}>"

    def module(self, lines: Iterable[str]) -> str:
        text = [*self.declared.values(), *self.functions, *lines]
        attributes = f"attributes #0 = {{ nounwind }}\nattributes #1 = {{ {_PURE} }}\n"
        return "\n".join(text) + "\n" + attributes + "!0 = !{}\n"

    # ------------------------------------------------------------------ chunks
    def chunks(
        self,
        name: str,
        signature: str,
        stores: Sequence[_Store],
        prologue: Sequence[str] = (),
    ) -> list[str]:
        """Print the operations as functions of at most CHUNK each.

        A value that a later function needs goes through memory. Returns the
        functions' names; a loop body of at most INLINE operations is left in `inline`.
        """
        order = self.neighbours([e for e in ir.topological(s.value for s in stores) if e.args])
        self.whole = bool(prologue) and len(order) <= INLINE
        if self.whole:
            self.inline = self.chunk(order, stores, {}, {})
            if (
                len(stores) <= nontemporal.MOST
                and self.lanes.width > 1
                and self.lanes.registers == 1
            ):
                self.inline = self.inline[: -len(stores)] + self.streamed(stores)
            return []
        groups = [order[k : k + CHUNK] for k in range(0, len(order), CHUNK)] or [[]]
        home = {e: k for k, group in enumerate(groups) for e in group}
        used: list[dict[Expr, None]] = [{} for _ in groups]
        for k, group in enumerate(groups):
            for e in group:
                used[k].update((a, None) for a in e.args if home.get(a, k) != k)
        slots = {e: i for i, e in enumerate({e: None for needs in used for e in needs})}
        self.spilled = len(slots)
        parts = []
        for k, group in enumerate(groups):
            mine = [s for s in stores if home.get(s.value, 0) == k]
            loads = {e: slots[e] for e in used[k]}
            saves = {e: slots[e] for e in group if e in slots}
            lines = self.chunk(group, mine, loads, saves)
            part = f"{name}.{k}"
            self.functions += [
                f"define internal void @{part}({signature}, ptr noalias %spill) #0 {{",
                *prologue,
                *lines,
                "ret void",
                "}",
            ]
            parts.append(part)
        return parts

    def chunk(
        self,
        order: Sequence[Expr],
        stores: Sequence[_Store],
        loads: dict[Expr, int],
        saves: dict[Expr, int],
    ) -> list[str]:
        """The instructions of some operations: loads, operations, saves and stores."""
        lines: list[str] = []
        self.names = {}
        needed = {a: None for e in order for a in e.args if a.op is ir.VAR}
        needed.update((s.value, None) for s in stores if s.value.op is ir.VAR)
        for k, e in enumerate(needed):
            self.names[e] = f"%v{k}"
            lines.append(f"%v{k}.p = {self.inputs[e.value]}")
            lines.append(f"%v{k} = load {self.value}, ptr %v{k}.p, align 1")
        for e, slot in loads.items():
            lines += self.reload(e, slot)
        paired = self.paired(order)
        for k, e in enumerate(order):
            if e in paired:
                if e not in self.names:
                    lines += self.both(f"b{k}", *paired[e])
            else:
                self.names[e] = f"%t{k}"
                lines += self.operation(e)
            if e in saves:
                lines += self.save(e, saves[e])
        for k, store in enumerate(stores):
            lines += self.result(k, store)
        return lines + self.writes(stores)

    def slot(self, e: Expr, slot: int, tag: str) -> str:
        return f"%s{slot}.{tag} = getelementptr {self.value}, ptr %spill, i64 {slot}"

    def save(self, e: Expr, slot: int) -> list[str]:
        address, value, kind = self.slot(e, slot, "o"), self.names[e], self.value
        lines = [address]
        if e.op.boolean:
            kind = self.vector("i8")
            lines.append(f"%s{slot}.w = zext {self.condition} {value} to {kind}")
            value = f"%s{slot}.w"
        return [*lines, f"store {kind} {value}, ptr %s{slot}.o, align 1"]

    def reload(self, e: Expr, slot: int) -> list[str]:
        self.names[e] = f"%s{slot}"
        address = self.slot(e, slot, "i")
        if not e.op.boolean:
            return [address, f"%s{slot} = load {self.value}, ptr %s{slot}.i, align 1"]
        kind = self.vector("i8")
        return [
            address,
            f"%s{slot}.b = load {kind}, ptr %s{slot}.i, align 1",
            f"%s{slot} = trunc {kind} %s{slot}.b to {self.condition}",
        ]

    def result(self, k: int, store: _Store) -> list[str]:
        """What is stored of an output: a real number, or a flag as a byte."""
        lines = [f"%o{k}.p = {store.address}"]
        value, kind = self.operand(store.value), self.vector(store.element)
        if store.value.op.boolean:
            convert = "zext" if store.element == "i8" else "uitofp"
            return [*lines, f"%o{k} = {convert} {self.condition} {value} to {kind}"]
        # the real number zero has no sign
        zero = "zeroinitializer" if kind.startswith("<") else "0.0"
        return [*lines, f"%o{k} = fadd {kind} {value}, {zero}"]

    def writes(self, stores: Sequence[_Store]) -> list[str]:
        """Stores of results, one line each."""
        kinds = [self.vector(store.element) for store in stores]
        return [f"store {kind} %o{k}, ptr %o{k}.p, align 1" for k, kind in enumerate(kinds)]

    def streamed(self, stores: Sequence[_Store]) -> list[str]:
        """Stores of results in the body's loop, as usual or past the caches."""
        writes = self.writes(stores)
        reals = sum(s.element != "i8" for s in stores)
        bases = [f"%p{len(self.inputs) + k}" for k in range(reals)]
        reads = [f"{name}.p" for e, name in self.names.items() if e.op is ir.VAR]
        self.streams = Streams(
            self.real, self.lanes.width, bases, reads, writes, writes[reals:], self.lanes.permutes
        )
        return self.streams.store()

    # -------------------------------------------------------------- operations
    def operand(self, e: Expr) -> str:
        """How an instruction names a value."""
        name = self.names.get(e)
        if name is None:
            name = self.names[e] = self.literal(e)
        return name

    def literal(self, e: Expr) -> str:
        if e.op is ir.BOOL:
            return self.splat("i1", "true" if e.value else "false")
        value = CONSTANT_VALUES[e.op] if e.op in CONSTANT_VALUES else constant(e.value, self.single)
        if self.single:
            value = _single(value)
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return self.splat(self.real, f"0x{bits:016X}")

    def splat(self, element: str, text: str) -> str:
        width = self.lanes.width
        return text if width == 1 else "<" + ", ".join([f"{element} {text}"] * width) + ">"

    def paired(self, order: Sequence[Expr]) -> dict[Expr, tuple[Expr, Expr]]:
        """Operations that are computed with another, if they may be."""
        if not self.shares or self.single or self.lanes.width == 1 or self.lanes.directed:
            return {}
        found = {(e.op, e.args[0]): e for e in order if e.op in sincos.PARTNER}
        pairs = {}
        for (op, x), e in found.items():
            pair = sincos.PARTNER[op]
            if all((other, x) in found for other in pair):
                pairs[e] = found[pair[0], x], found[pair[1], x]
        return pairs

    def neighbours(self, order: Sequence[Expr]) -> list[Expr]:
        """The operations with those that are computed together next to each other."""
        pairs = self.paired(order)
        placed: dict[Expr, None] = {}
        for e in order:
            placed.update(dict.fromkeys((e, *pairs.get(e, ()))))
        return list(placed)

    def both(self, name: str, first: Expr, second: Expr) -> list[str]:
        """Two functions of one number: in its place, or by a call where there are many."""
        x, width, pair = self.operand(first.args[0]), self.lanes.width, (first.op, second.op)
        self.declared.update(sincos.declared(width))
        self.names[first], self.names[second] = f"%{name}.v0", f"%{name}.v1"
        slow = [self.call(self.function(op), [x if self.whole else "%x"]) for op in pair]
        if self.whole:
            return sincos.both(name, x, width, pair, slow)
        function = "both." + ".".join(op.name for op in pair)
        self.declared.setdefault(function, sincos.function(function, width, pair, slow))
        return sincos.called(name, function, x, width)

    def operation(self, e: Expr) -> list[str]:
        args = [self.operand(a) for a in e.args]
        if e.op is POWER_OF_TWO:
            return self.power_of_two(self.names[e], args[0])
        if e.op is EXPONENT:
            return self.exponent(self.names[e], args[0])
        return [f"{self.names[e]} = {self.instruction(e, args)}"]

    def power_of_two(self, name: str, k: str) -> list[str]:
        """The exponent field, by a sum whose last bits hold it: 1.5*2**52 + 1023 + k."""
        bits = self.vector("i64")
        return [
            f"{name}.s = fadd {self.value} {k}, {self.splat('double', '0x43380000000003FF')}",
            f"{name}.i = bitcast {self.value} {name}.s to {bits}",
            f"{name}.e = shl {bits} {name}.i, {self.splat('i64', '52')}",
            f"{name} = bitcast {bits} {name}.e to {self.value}",
        ]

    def exponent(self, name: str, x: str) -> list[str]:
        """The exponent field as the last bits of 2**52 + k + 1023."""
        bits = self.vector("i64")
        return [
            f"{name}.i = bitcast {self.value} {x} to {bits}",
            f"{name}.e = lshr {bits} {name}.i, {self.splat('i64', '52')}",
            f"{name}.o = or {bits} {name}.e, {self.splat('i64', str(0x4330 << 48))}",
            f"{name}.d = bitcast {bits} {name}.o to {self.value}",
            f"{name} = fsub {self.value} {name}.d, {self.splat('double', '0x43300000000003FF')}",
        ]

    def instruction(self, e: Expr, args: Sequence[str]) -> str:
        """What computes a node from the names of its operands."""
        op = real_op(e.op)
        if op in _ARITHMETIC:
            return f"{_ARITHMETIC[op]} {self.value} {args[0]}, {args[1]}"
        if op is ir.NEG:
            return f"fneg {self.value} {args[0]}"
        if op in _COMPARISONS:
            return f"fcmp {_COMPARISONS[op]} {self.value} {args[0]}, {args[1]}"
        if op in _LOGIC:
            return f"{_LOGIC[op]} {self.condition} {args[0]}, {args[1]}"
        if op is ir.NOT:
            return f"xor {self.condition} {args[0]}, {self.splat('i1', 'true')}"
        if op is ir.WHERE:
            return "select " + _typed((self.condition, self.value, self.value), args)
        if op is ir.POW and e.args[1] is ir.HALF:
            return self.call(self.intrinsic("llvm.sqrt", 1), args[:1])
        return self.call(self.function(op), args)

    def call(self, function: str, args: Sequence[str]) -> str:
        typed = _typed([self.value] * len(args), args)
        return f"call {self.value} @{function}({typed}) #1"

    def declare(self, name: str, kind: str, arity: int) -> str:
        if name not in self.declared:
            self.declared[name] = f"declare {kind} @{name}({', '.join([kind] * arity)}) #1"
        return name

    def intrinsic(self, name: str, arity: int) -> str:
        return self.declare(f"{name}.{self.suffix}", self.value, arity)

    def function(self, op: Op) -> str:
        """The function that computes an op: an intrinsic, libm's, or libmvec's."""
        if op.intrinsic is not None:
            return self.intrinsic(op.intrinsic, op.arity)
        if op.libm is None:
            raise UnsupportedError(f"{op.name} has no function in libm")
        libm = op.libm + ("f" if self.single else "")
        if self.lanes.width == 1:
            return self.declare(libm, self.real, op.arity)
        variant = self.lanes.variant(libm, op.arity) if op.vector else None
        if variant is None:
            return self.lanewise(libm, op.arity)
        self.declare(variant, self.value, op.arity)
        if not self.lanes.directed or op not in directed.TO_NEAREST:
            return variant
        slow = self.lanewise(libm, op.arity)
        self.declared.setdefault("faint", directed.FAINT)
        self.declared.setdefault(
            f"directed.{libm}", directed.function(libm, self.value, variant, slow)
        )
        return f"directed.{libm}"

    def lanewise(self, libm: str, arity: int) -> str:
        """A function of registers that calls libm once for each element."""
        name = f"lanes.{libm}"
        if name in self.declared:
            return name
        self.declare(libm, self.real, arity)
        lines, last = [], "poison"
        for k in range(self.lanes.width):
            args = []
            for j in range(arity):
                args.append(f"{self.real} %e{j}.{k}")
                lines.append(f"%e{j}.{k} = extractelement {self.value} %x{j}, i64 {k}")
            lines.append(f"%y{k} = call {self.real} @{libm}({', '.join(args)}) #1")
            lines.append(f"%r{k} = insertelement {self.value} {last}, {self.real} %y{k}, i64 {k}")
            last = f"%r{k}"
        params = ", ".join(f"{self.value} %x{j}" for j in range(arity))
        self.declared[name] = "\n".join(
            [
                f"define internal {self.value} @{name}({params}) #1 {{",
                *lines,
                f"ret {self.value} {last}",
                "}",
            ]
        )
        return name


def _typed(kinds: Sequence[str], args: Sequence[str]) -> str:
    return ", ".join(f"{kind} {arg}" for kind, arg in zip(kinds, args, strict=True))


def constant(value: Fraction | float, single: bool) -> float:
    """The nearest double or float (as a double) to an exact constant."""
    if not isinstance(value, Fraction):
        return value
    return nearest_single(value) if single else nearest(value)


def _single(value: float) -> float:
    """A double rounded to float32."""
    if not math.isfinite(value):
        return value
    return nearest_single(Fraction(value)) if value else value
