"""LLVM IR of a program with arrays and loops: one function, `i32 @kernel(ptr arguments)`.

The words are 64 bits each and lie as `Layout` says: addresses of arrays, sizes of axes,
numbers. The function returns 0, or why it failed: 1 for no memory, 2 for a routine that
raised an error, 3 and more for the checks, counted as `Layout.checks` lists them.

Sums over the lanes of a register are added up at the end of a loop, so that the order of
a sum is that of its lanes; apart from that every value is rounded as it stands in the
program, and no fast-math flag is ever printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symdiff.codegen.common.liveness import destinations
from symdiff.codegen.llvm.flags import DECLARED, PLACES, watched
from symdiff.codegen.llvm.jit import has_flags
from symdiff.codegen.llvm.loops.body import FIRST_CHECK, NO_MEMORY, STEP, STEPS, Destination
from symdiff.codegen.llvm.loops.fallback import WEIGHTS, recompute_functions
from symdiff.codegen.llvm.loops.interrupts import POLL, WATCH
from symdiff.codegen.llvm.loops.memory import PRELUDE
from symdiff.codegen.llvm.loops.scoped import Stored
from symdiff.codegen.llvm.loops.systems import Systems
from symdiff.codegen.llvm.printer import Lanes
from symdiff.ir import Expr, const
from symdiff.ir.blocks import bottom_up
from symdiff.ir.loop_program import (
    ARRAY,
    INDEX,
    Block,
    Check,
    Loop,
    LoopProgram,
    Parameter,
    Statement,
    Type,
    expressions,
    index,
    kind_of,
    mapped_block,
    name_of,
    names_in,
    types,
    walk,
)
from symdiff.ir.names import Names
from symdiff.lowering.loops.twins import without_twins
from symdiff.lowering.loops.vector_ready import ready
from symdiff.lowering.lower import lower
from symdiff.lowering.moving import moving
from symdiff.lowering.quotients import fused_quotients
from symdiff.lowering.target import MAX_CHAIN

FIXED = ("allocations", "routine", "parallel", "again", "signals", "raised")
"""The first words: the list of allocations; functions that the kernel may call, `i32
routine(i64 call, ptr record)`, `void parallel(ptr part, ptr frame, i64 count, double work)` of
`parallel`, which may be null, and `again` of `fallback`; the table of `interrupts`; and the
flags that were raised."""
TOLD = ("accuracy",)
"""Checks that are no errors of the program: they come last among its checks."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the arguments and the results of a kernel stand among its words.

    Attributes
    ----------
    params : the parameters, and the arrays known when traced.
    places : of each of them: of the number, or of the array's address.
    sizes : the places of sizes by their names.
    outputs : the type of each output; a shape in terms of the sizes, or, if it is only
        known when computed, one of unknown sizes (None).
    results : the place of each output: of the number, or of the address where the array
        should be. If the shape is not known the kernel puts the address there, and the
        sizes of the axes after it.
    count : how many words there are.
    checks : what may fail, by their numbers.
    """

    params: tuple[Parameter, ...]
    places: tuple[int, ...]
    sizes: Mapping[str, int]
    outputs: tuple[Type, ...]
    known: tuple[bool, ...]
    results: tuple[int, ...]
    count: int
    checks: tuple[Check, ...]


def lowered(
    program: LoopProgram, accuracy: str = "high", tested: bool = False, probed: bool = False
) -> LoopProgram:
    """The program in operations that every CPU has, rearranged for vectors; a program with
    tested values is already. `probed`: whether functions move with the direction of rounding."""
    program = program if tested else ready(without_twins(program))
    found: dict[Expr, None] = {}
    for s in walk(program.block):
        found.update((e, None) for e in expressions(s) if e.op is not ARRAY)
    found.update((e, None) for e in program.outputs if e.op is not ARRAY)
    chain = {"strict": 4, "fast": 64}.get(accuracy, MAX_CHAIN)
    roots = lower(fused_quotients(tuple(found)), chain=chain, divide=accuracy != "fast")
    roots = moving(roots) if probed else roots
    new = dict(zip(found, roots, strict=True))

    def one(e: Expr) -> Expr:
        return new.get(e, e)

    block = bottom_up(mapped_block(program.block, one), _whole)
    return LoopProgram(
        program.name, program.params, block, tuple(map(one, program.outputs)),
        program.tree, program.data, program.locations,
    )  # fmt: skip


def as_it_stands(program: LoopProgram) -> LoopProgram:
    """A program whose operations are those of processors already."""
    return replace(program, block=bottom_up(program.block, _whole))


def _whole(s: Statement) -> Block:
    """A statement in which truth values that are passed on are integers."""

    def typed(v: Any) -> Any:
        flag = not v.type.shape and v.type.kind == "b"
        return replace(v, type=Type((), "i")) if flag else v

    if not isinstance(s, Loop):
        return (s,)
    carried, saves = tuple(map(typed, s.carried)), tuple(map(typed, s.saves))
    return (replace(s, carried=carried, saves=saves, restores=tuple(map(typed, s.restores))),)


def layout_of(program: LoopProgram) -> Layout:
    """The words of a program's kernel."""
    held = tuple(
        Parameter(n, Type(tuple(const(k) for k in a.shape), "i" if a.dtype.kind in "iu" else "f"))
        for n, a in program.data.items()
    )
    params = (*program.params, *held)
    at = len(FIXED)
    places = []
    for _ in params:
        places.append(at)
        at += 1
    sizes: dict[str, int] = {}
    for p in params:
        for n in p.type.shape:
            if n.op is INDEX and name_of(n) not in sizes:
                sizes[name_of(n)] = at
                at += 1
    numbers = {name_of(p.leaf) for p in params if not p.type.shape and p.type.kind != "f"}
    outputs = output_types(program)
    known, results = [], []
    for t in outputs:
        results.append(at)
        names = names_in(*t.shape)
        known.append(names <= set(sizes) - numbers)
        at += 1 if known[-1] else 1 + len(t.shape)
    statements = list(walk(program.block))
    checks = tuple(sorted(
        (s for s in statements if isinstance(s, Check)), key=lambda s: s.error in TOLD
    ))  # fmt: skip
    return Layout(params, tuple(places), sizes, outputs, tuple(known), tuple(results), at, checks)


def output_types(program: LoopProgram) -> tuple[Type, ...]:
    """The type of each output."""
    known = types(program)
    return tuple(
        known[name_of(e)] if e.op is ARRAY else Type((), kind_of(e)) for e in program.outputs
    )


class Kernel(Systems):
    """Prints the function of one program."""

    prelude = PRELUDE

    def __init__(
        self, program: LoopProgram, dtype: str, lanes: Lanes, tested: int = 0, flags: int = 0,
        kinds: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(dtype, lanes)
        self.given_kinds = kinds
        self.tested, self.flags = tested, flags
        self.program, self.layout = program, layout_of(program)
        self.entry: list[str] = []
        self.root.entry = self.entry
        self.tapes, self.destination, self.taken = {}, {}, set()
        self.checks = list(self.layout.checks)
        self.sizes.update(map(index, self.layout.sizes))
        self.failures: dict[int, str] = {}
        self.late: set[int] = set()
        self.proofs = {}
        self.functions: list[str] = []
        self.once = set()
        self.names = Names(types(program))
        self.unrolls = {}

    def word(self, place: int) -> str:
        """The address of a word."""
        return self.emit("ptr", f"getelementptr i64, ptr %arguments, i64 {place}")

    def read(self, place: int, kind: str) -> str:
        return self.emit(kind, f"load {kind}, ptr {self.word(place)}, !invariant.load !0")

    def fail(self, code: int) -> str:
        return self.failures.setdefault(code, f"fail.{code}")

    def bind(self) -> None:
        """Name the parameters."""
        names = self.scope.names
        for name, place in self.layout.sizes.items():
            names[name] = self.read(place, "i64")
        for p, place in zip(self.layout.params, self.layout.places, strict=True):
            if p.type.shape:
                names[p.name] = Stored(self.read(place, "ptr"), p.type.shape, p.type.kind)
            elif p.type.kind == "f":
                names[p.name] = self.rounded(self.read(place, "double"))
            else:
                names[p.name] = self.read(place, "i64")

    def print(self) -> str:
        self.bind()
        for k, name in enumerate(FIXED[1:-1], 1):
            self.scope.lines.append(f"%{name}.p = getelementptr i64, ptr %arguments, i64 {k}")
            self.scope.lines.append(f"%{name} = load ptr, ptr %{name}.p")
        self.scope.lines.append(
            f"%raised.p = getelementptr i64, ptr %arguments, i64 {len(FIXED) - 1}"
        )
        targets: dict[str, str] = {}
        for e, known, place in zip(
            self.program.outputs, self.layout.known, self.layout.results, strict=True
        ):
            if e.op is ARRAY and known and name_of(e) not in targets:
                targets[name_of(e)] = self.read(place, "ptr")
        self.destination.update(destinations(
            self.program.block, {n: Destination(address=p) for n, p in targets.items()}
        ))  # fmt: skip
        block, late = _apart(self.program.block)
        self.block(block, (*self.program.outputs, *(s.condition for s in late)))
        self.results(targets)
        for s in late:
            self.late.add(FIRST_CHECK + self.checks.index(s))
            self.check(s)
        return self.text()

    def results(self, targets: Mapping[str, str]) -> None:
        """Put the outputs where they are wanted."""
        moved: dict[int, str] = {}
        places = list(
            zip(self.program.outputs, self.layout.known, self.layout.results, strict=True)
        )
        outs = [self.read(at, "ptr") if e.op is ARRAY and known else "" for e, known, at in places]
        for k, (e, known, at) in enumerate(places):
            if e.op is not ARRAY:
                self.number_out(
                    e, at, self.given_kinds[k] if k < len(self.given_kinds) else self.kind(e)
                )
            elif not known:
                a = self.copied(self.stored(name_of(e)))
                self.scope.lines.append(f"store ptr {a.address}, ptr {self.word(at)}")
                for axis, n in enumerate(a.shape):
                    size = self.at_least_zero(n)
                    self.scope.lines.append(f"store i64 {size}, ptr {self.word(at + 1 + axis)}")
            else:
                moved[k] = self.aside(self.stored(name_of(e)), outs[k], outs)
        for k, address in moved.items():
            a = self.stored(name_of(places[k][0]))
            with self.branch(self.emit("i1", f"icmp ne ptr {address}, {outs[k]}")):
                self.copy(outs[k], Stored(address, a.shape, a.kind))

    def aside(self, a: Stored, out: str, outs: list[str]) -> str:
        """Where an array is that does not lie where the result of another output goes."""
        others = [o for o in outs if o and o != out]
        if not others:
            return a.address
        variable = self.variable("ptr")
        self.scope.lines.append(f"store ptr {a.address}, ptr {variable}")
        size = self.bytes_of(a.shape, a.kind)
        for other in others:
            with self.branch(self.emit("i1", f"icmp eq ptr {a.address}, {other}")):
                new = self.emit("ptr", f"call ptr @take(ptr {self.allocation}, i64 {size})")
                self.require(f"icmp ne ptr {new}, null", NO_MEMORY)
                self.copy(new, a)
                self.scope.lines.append(f"store ptr {new}, ptr {variable}")
        return self.emit("ptr", f"load ptr, ptr {variable}")

    def number_out(self, e: Expr, at: int, kind: str) -> None:
        if kind == "f":
            zero = self.emit(self.real, f"fadd {self.real} {self.number(e)}, 0.0")  # no sign
            self.scope.lines.append(f"store double {self.doubled(zero)}, ptr {self.word(at)}")
        else:
            value = self.typed(e, "i")
            self.scope.lines.append(f"store i64 {value}, ptr {self.word(at)}")

    def text(self) -> str:
        """The whole module."""
        keep = not all(self.layout.known)
        release = "call void @release(ptr %allocations, ptr null)"
        lines = [
            "define i32 @kernel(ptr %arguments) #0 {",
            "%allocations = getelementptr i64, ptr %arguments, i64 0",
            "store ptr null, ptr %allocations",
            "%status = alloca i32",
            *self.entry,
            *self.root.lines,
            *([] if keep else [release]),
            "store i32 0, ptr %status",
            "br label %leave",
        ]
        for code, label in self.failures.items():
            kept = keep and code in self.late
            lines += [f"{label}:", f"store i32 {code}, ptr %status", *([] if kept else [release]),
                      "br label %leave"]  # fmt: skip
        lines += ["leave:", *self.ended(), "%code = load i32, ptr %status", "ret i32 %code", "}"]
        drops = [
            line for k in range(len(self.tapes))
            for line in (
                f"%at.{k} = atomicrmw xchg ptr @tape.{k}, i64 0 acq_rel",
                f"%p.{k} = inttoptr i64 %at.{k} to ptr", f"call void @free(ptr %p.{k})",
            )
        ]  # fmt: skip
        lines += ["define void @drop() #0 {", *drops, "call void @unpool()", "ret void", "}"]
        lines += ["define void @finish(ptr %arguments) #0 {", f"{release.replace('%allocations', '%arguments')}",
                  "ret void", "}"]  # fmt: skip
        if self.flags:
            lines += _watched(self.flags)
        text = self.scalars.module([*self.functions, *lines])
        kept_tapes = [f"tape.{k}" for k in range(len(self.tapes))]
        watched = "".join(f"@{name} = global i64 0\n" for name in (STEP, STEPS, *kept_tapes))
        likely = '!1 = !{!"branch_weights", i32 1000000, i32 1}\n'
        own = recompute_functions(self.tested) + (DECLARED if has_flags() else "")
        return self.prelude + POLL + WATCH + own + watched + text + likely + WEIGHTS

    def ended(self) -> list[str]:
        """What is done in the end, also after errors."""
        return [
            f"call void @keep.tape(ptr @tape.{k}, ptr {record})"
            for k, record in enumerate(self.tapes.values())
        ]


def _apart(block: Block) -> tuple[Block, list[Check]]:
    """The block, and its last checks of accuracy, which come after the results are stored."""
    late = [s for s in block if isinstance(s, Check) and s.error == "accuracy"]
    return tuple(s for s in block if not any(s is x for x in late)), late


def _watched(flags: int) -> list[str]:
    """The kernel, as it is called to see the flags that it raises."""
    return [
        "define i32 @watched(ptr %arguments) #0 {",
        f"%raised.p = getelementptr i64, ptr %arguments, i64 {len(FIXED) - 1}",
        "store i64 0, ptr %raised.p",
        *PLACES,
        *watched(["%code = call i32 @kernel(ptr %arguments) noinline"], flags),
        "%raised = zext i32 %bits to i64",
        "%others = load i64, ptr %raised.p",
        "%all = or i64 %others, %raised",
        "store i64 %all, ptr %raised.p",
        "ret i32 %code",
        "}",
    ]


def print_kernel(
    program: LoopProgram, dtype: str, lanes: Lanes, accuracy: str = "high", tested: int = 0,
    flags: int = 0, kinds: Sequence[str] = (), probed: bool = False,
) -> str:  # fmt: skip
    """The module with the kernel of a program.

    Parameters
    ----------
    program : what is computed; its completed operations are written out already. It is
        rearranged for vectors, unless it has tested values, of which that has been done.
    dtype : "float64" or "float32".
    lanes : the registers and their functions; of width 1 for scalar code.
    accuracy : as for `Kernel` of scalar programs.
    tested : how many tested values it has.
    flags : those of the processor's flags that are to be read.
    probed : whether it is run with other directions of rounding, too.
    kinds : of the outputs, which callers read; an integer among real numbers is stored as one.
    """
    made = lowered(program, accuracy, tested > 0, probed)
    return Kernel(made, dtype, replace(lanes, directed=probed), tested, flags, kinds).print()


__all__ = ["FIXED", "Layout", "layout_of", "print_kernel"]
