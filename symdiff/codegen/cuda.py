"""Print lowered outputs as CUDA C++: the kernels that are compiled when called.

One statement for each node of the DAG, in its order, as the printer of LLVM has it, so
that compiled with `--fmad=false` a kernel rounds as on the CPU; only the functions of
CUDA's own library differ. A kernel runs over the elements in a grid-stride loop,

    extern "C" __global__ void symdiff_0(const double2* in, ..., double2* out, ..., long long n)

and takes `width` neighbouring elements at a time where operands are dense. In double
precision an element in doubt is computed again in double-double arithmetic, in the same
thread. In single precision there is no double anywhere: such elements are only marked,
a byte for each group of `width`, and a second kernel, `repair`, computes those in double.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symdiff.codegen.cudaloop import Entry, Part, define, print_loop
from symdiff.codegen.cudamath import SINGLE, single_functions
from symdiff.codegen.doubledouble import EXPONENT, POWER_OF_TWO
from symdiff.codegen.llvm import constant
from symdiff.codegen.pairs import PARTS, PairFunction
from symdiff.errors import UnsupportedError
from symdiff.functions import CONSTANT_VALUES
from symdiff.ir import (
    ADD,
    AND,
    BOOL,
    CONST,
    DIV,
    EQ,
    HALF,
    LE,
    LT,
    MUL,
    NEG,
    NOT,
    OPS,
    OR,
    POW,
    SUB,
    VAR,
    WHERE,
    Expr,
    Op,
    topological,
)

FMA = OPS["fma"]

LOGIC = (AND, OR, NOT)
MAX_LOGIC = 32
"""With more connectives in a function, the compiler must not see through them: what it
would make of them can take minutes."""

_FORMATS: dict[Op, str] = {
    ADD: "{0} + {1}",
    SUB: "{0} - {1}",
    MUL: "{0} * {1}",
    DIV: "{0} / {1}",
    NEG: "-{0}",
    LT: "{0} < {1}",
    LE: "{0} <= {1}",
    EQ: "{0} == {1}",
    AND: "{0} & {1}",
    OR: "{0} | {1}",
    NOT: "!{0}",
    WHERE: "{0} ? {1} : {2}",
    POWER_OF_TWO: "ldexp(1.0, (int){0})",
    EXPONENT: "(double)ilogb({0})",
}


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


_PRELUDE = """\
struct pair { double hi, lo; };
"""


class _Printer:
    """Prints functions of one element."""

    def __init__(self, dtype: str) -> None:
        self.single = dtype == "float32"
        self.real = "float" if self.single else "double"
        self.pairs: dict[str, str] = {}
        self.own: dict[str, None] = {}

    def helpers(self) -> list[str]:
        """The functions that the others call, which therefore stand before them."""
        return [*([single_functions(self.own)] if self.own else []), *self.pairs.values()]

    def point(self, part: Part, params: Sequence[str]) -> str:
        """The function of one element, which says whether it is in doubt."""
        outputs = [f"{self.real} &r{k}" for k in range(len(part.first.outputs))]
        lines, names = self.body((*part.first.outputs, part.first.suspect), params)
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
        lines, names = self.body((*part.second.outputs, part.second.suspect), params)
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

    def leaf(self, e: Expr) -> str:
        if e.op is BOOL:
            return "true" if e.value else "false"
        value = e.value if e.op is CONST else Fraction(CONSTANT_VALUES[e.op])
        return self.literal(constant(value, self.single))

    def literal(self, value: float) -> str:
        if math.isnan(value):
            text = "__int_as_float(0x7fc00000)" if self.single else _NAN
        elif math.isinf(value):
            text = "__int_as_float(0x7f800000)" if self.single else _INF
            text = text if value > 0 else f"(-{text})"
        else:
            text = value.hex() if self.single else repr(value)
            text = text + "f" if self.single else text
            text = text if value >= 0 else f"({text})"
        return text

    def operation(self, e: Expr, args: Sequence[str]) -> str:
        op = e.op
        if op in _FORMATS:
            return _FORMATS[op].format(*args)
        suffix = "f" if self.single else ""
        if op is FMA:
            return f"fma{suffix}({', '.join(args)})"
        if op is POW:
            root = e.args[1] is HALF
            return f"sqrt{suffix}({args[0]})" if root else f"pow{suffix}({', '.join(args)})"
        if op.libm is None:
            raise UnsupportedError(f"{op.name} cannot be computed on CUDA: it has no formula")
        name = op.libm + suffix
        if self.single and name in SINGLE:
            self.own[name] = None
            name = f"symdiff_{name}"
        return f"{name}({', '.join(args)})"

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


_NAN = "__longlong_as_double(0x7ff8000000000000LL)"
_INF = "__longlong_as_double(0x7ff0000000000000LL)"


def operations(parts: Sequence[Part]) -> int:
    """How many operations the first tiers have."""
    return sum(sum(bool(e.args) for e in topological(p.first.outputs)) for p in parts)
