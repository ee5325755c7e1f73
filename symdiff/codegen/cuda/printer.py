"""Print lowered outputs as CUDA C++: the kernels that are compiled when called.

One statement for each node of the DAG, in its order, as the printer of LLVM has it, so
that compiled with `--fmad=false` a kernel rounds as on the CPU; only the functions of
CUDA's own library differ. A kernel runs over the elements in a grid-stride loop,

    extern "C" __global__ void symdiff_0(const double2* in, ..., double2* out, ..., long long n)

and takes `width` neighbouring elements at a time where operands are dense. In double
precision a flagged element is computed again in double-double arithmetic, in the same
thread. In single precision there is no double anywhere: such elements are only marked,
a byte for each group of `width`, and a second kernel, `repair`, computes those in double.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from symdiff.codegen.cuda.operations import Operations
from symdiff.codegen.cuda.thread_loop import Entry, Part, define, print_loop
from symdiff.ir import AND, NOT, OR, VAR, Expr, topological
from symdiff.lowering.double_double.pairs import PARTS, PairFunction

LOGIC = (AND, OR, NOT)
MAX_LOGIC = 32
"""With more connectives in a function, the compiler must not see through them: what it
would make of them can take minutes."""


def print_kernels(params: Sequence[str], entries: Sequence[Entry], dtype: str) -> str:
    """One translation unit with some kernels of one function.

    Parameters
    ----------
    params : names of the function's parameters, in the order of the layouts' inputs.
    entries : the kernels.
    dtype : in which they compute.
    """
    printer = _Printer(dtype)
    functions: dict[str, str] = {}
    kernels = []
    for entry in entries:
        part = entry.part
        functions.setdefault(part.name, printer.point(part, params))
        if part.tested and part.second is not None:
            functions.setdefault(f"{part.name}_again", printer.again(part, params))
        kernels.append(print_loop(entry, dtype))
    return "\n".join([_PRELUDE, *printer.helpers(), *functions.values(), *kernels])


def print_device_function(name: str, params: Sequence[str], part: Part) -> str:
    """One translation unit with a device function of one element, that others link to:

        extern "C" __device__ int name(double* r, double x0, ...)

    It writes the outputs, and returns 0. It computes in double precision, and flagged elements
    again in double-double arithmetic.
    """
    printer = _Printer("float64")
    functions = [printer.point(part, params)]
    results = [f"r[{k}]" for k in range(len(part.first.outputs))]
    given = [f"x{k}" for k in range(len(params))]
    call = f"{part.name}_point({', '.join([*given, *results])})"
    lines = [f"{call};"]
    if part.tested and part.second is not None:
        functions.append(printer.again(part, params))
        lines = [f"if ({call}) {part.name}_again({', '.join([*given, 'r'])});"]
    functions.append(
        define(
            f'extern "C" __device__ int {name}',
            ["double* r", *(f"const double {x}" for x in given)],
            [*lines, "return 0;"],
        )
    )
    return "\n".join([_PRELUDE, *printer.helpers(), *functions])


_PRELUDE = """\
struct pair { double hi, lo; };
"""


class _Printer(Operations):
    """Prints functions of one element."""

    def __init__(self, dtype: str) -> None:
        super().__init__(dtype)
        self.pairs: dict[str, str] = {}

    def helpers(self) -> list[str]:
        """The functions that the others call, which therefore stand before them."""
        return [*super().helpers(), *self.pairs.values()]

    def point(self, part: Part, params: Sequence[str]) -> str:
        """The function of one element, which says whether it is flagged."""
        outputs = [f"{self.real} &r{k}" for k in range(len(part.first.outputs))]
        lines, names = self.body((*part.first.outputs, part.first.flagged), params)
        lines += [
            f"r{k} = {self.as_real(e, n)};"
            for k, (e, n) in enumerate(zip(part.first.outputs, names, strict=False))
        ]
        return define(
            f"static __device__ __forceinline__ bool {part.name}_point",
            [*(f"const {self.real} x{k}" for k in range(len(params))), *outputs],
            [*lines, f"return {names[-1]};"],
        )

    def again(self, part: Part, params: Sequence[str]) -> str:
        """The function of one element in double-double arithmetic: it replaces what it
        can tell better."""
        assert part.second is not None
        lines, names = self.body((*part.second.outputs, part.second.flagged), params)
        better = "{v} - {v} == 0.0" if part.complete else "false"
        for k, (e, n) in enumerate(zip(part.second.outputs, names, strict=False)):
            lines.append(f"const double v{k} = {self.as_real(e, n)};")
            test = better.format(v=f"v{k}")
            lines.append(f"if (!({names[-1]}) || {test}) r[{k}] = v{k};")
        return define(
            f"static __device__ __noinline__ void {part.name}_again",
            [*(f"const double x{k}" for k in range(len(params))), "double* r"],
            lines,
        )

    def as_real(self, e: Expr, name: str) -> str:
        """An output: a truth value as a number; the real number zero has no sign."""
        if e.op.boolean:
            return f"{name} ? {self.literal(1.0)} : {self.literal(0.0)}"
        return f"{name} + {self.literal(0.0)}"

    def body(self, roots: Sequence[Expr], params: Sequence[str]) -> tuple[list[str], list[str]]:
        """A statement for each operation, and the roots' names."""
        names: dict[Expr, str] = {}
        position = {name: k for k, name in enumerate(params)}
        lines: list[str] = []
        calls: dict[tuple[Any, ...], str] = {}
        order = topological(roots)
        hidden = sum(e.op in LOGIC for e in order) > MAX_LOGIC
        for e in order:
            if e.op is VAR:
                names[e] = f"x{position[e.value]}"
            elif not e.args:
                names[e] = self.leaf(e)
            elif e.op in PARTS:
                function, half = PARTS[e.op]
                key = (function, *e.args)
                if key not in calls:
                    calls[key] = f"c{len(calls)}"
                    call = self.call(function, [names[a] for a in e.args])
                    lines.append(f"const pair {calls[key]} = {call};")
                names[e] = f"{calls[key]}.{('hi', 'lo')[half]}"
            else:
                names[e] = f"t{len(lines)}"
                text = self.operation(e, [names[a] for a in e.args])
                if hidden and e.op in LOGIC:
                    lines.append(f'int {names[e]} = {text}; asm("" : "+r"({names[e]}));')
                    continue
                kind = "bool" if e.op.boolean else self.real
                lines.append(f"const {kind} {names[e]} = {text};")
        return lines, [names[r] for r in roots]

    def call(self, function: PairFunction, args: Sequence[str]) -> str:
        if function.symbol not in self.pairs:
            self.pairs[function.symbol] = ""  # its place, before those that call it
            names, result = function.definition()
            lines, found = self.body(result, names)
            self.pairs[function.symbol] = define(
                f"static __device__ __noinline__ pair {function.symbol}",
                [f"const double x{k}" for k in range(len(names))],
                [*lines, f"const pair r = {{{found[0]}, {found[1]}}};", "return r;"],
            )
        return f"{function.symbol}({', '.join(args)})"


class Again(NamedTuple):
    """A value of a program with arrays that is computed again where it is flagged.

    Attributes
    ----------
    params : names of the numbers that it is computed from.
    plain : the value, lowered, without anything that is to make it more accurate: it is infinite
        where the truth is, for which there is no double-double arithmetic.
    second, flagged : the value in double-double arithmetic, and whether that is flagged as well.
    complete : whether such a value is still worth more than the first.
    """

    params: tuple[str, ...]
    plain: Expr
    second: Expr
    flagged: Expr
    complete: bool


def print_tested(values: Sequence[Again]) -> str:
    """Functions that return each value, or a better one where it is flagged: of number k

    double symdiff_tested_k(double value, bool flagged, double leaf, ...)
    """
    if not values:
        return ""
    printer = _Printer("float64")
    functions = []
    for k, v in enumerate(values):
        leaves = [f"x{i}" for i in range(len(v.params))]
        given = ["const double value", *(f"const double {x}" for x in leaves)]
        lines, names = printer.body((v.second, v.flagged, v.plain), v.params)
        second, plain = (
            printer.as_real(e, n) for e, n in ((v.second, names[0]), (v.plain, names[2]))
        )
        better = " || better - better == 0.0" if v.complete else ""
        lines += [
            f"const double better = {second};",
            f"if (!({names[1]}){better}) return better;",
            f"return value - value == 0.0 ? value : {plain};",
        ]
        functions.append(
            define(f"static __device__ __noinline__ double symdiff_again_{k}", given, lines)
        )
        functions.append(define(
            f"static __device__ __forceinline__ double symdiff_tested_{k}",
            [given[0], "const bool flagged", *given[1:]],
            [f"return flagged ? symdiff_again_{k}({', '.join(['value', *leaves])}) : value;"],
        ))  # fmt: skip
    return "\n".join([_PRELUDE, *printer.helpers(), *functions])


def operations(parts: Sequence[Part]) -> int:
    """How many operations the first tiers have."""
    return sum(sum(bool(e.args) for e in topological(p.first.outputs)) for p in parts)
