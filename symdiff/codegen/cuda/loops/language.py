"""How the languages of CUDA kernels spell the statements of kernels of programs with arrays.

The printers of `cudavalues`, `cudathread` and `cudagrid` say what a kernel does, a `Language`
how that is written: `Cplusplus` here, which NVIDIA's run-time compiler takes, and Python for
Numba in `symdiff.codegen.source.modules.cuda.kernels`, which modules hold.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from symdiff.codegen.cuda.loops.steps import FULL, STATUS, THREADS
from symdiff.codegen.cuda.operations import Operations
from symdiff.codegen.cuda.thread_loop import define
from symdiff.ir import ABS, ADD, EQ, LE, LT, MUL, NEG, POW, SUB, WHERE, Expr, Op
from symdiff.ir.loop_program import FLOORDIV, MOD
from symdiff.lowering.target import TESTED

HELPERS = """\
static __device__ __forceinline__ long long symdiff_at(const long long i, const long long n)
{
    return i >= n ? (n > 0 ? n - 1 : 0) : i < 0 ? 0 : i;
}

static __device__ __forceinline__ long long symdiff_floordiv(const long long a, const long long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long long)(0ull - (unsigned long long)a);
    const long long q = a / b, r = a - q * b;
    return q - (r != 0 && (r < 0) != (b < 0));
}

static __device__ __forceinline__ long long symdiff_divide(const long long a, const long long b)
{
    return (a | b) >> 31 ? a / b : (long long)((unsigned)a / (unsigned)b);
}

static __device__ __forceinline__ long long symdiff_mod(const long long a, const long long b)
{
    return b == 0 || b == -1 ? 0 : a - symdiff_floordiv(a, b) * b;
}

static __device__ __forceinline__ long long symdiff_power(long long a, long long k)
{
    long long p = 1;
    for (; k > 0; k >>= 1, a *= a) p = k & 1 ? p * a : p;
    return p;
}
"""
"""Indices moved into their axes, division rounded down, powers of integers; and division of
what is not negative, in 32 bits where that is enough."""

COMPARISONS = {LT: "{0} < {1}", LE: "{0} <= {1}", EQ: "{0} == {1}"}
"""Of integers, or of truth values."""


class Language(ABC):
    """The texts of one language, in one precision.

    Kinds are "f" a real number, "i" an integer of 64 bits, "b" a byte that is 0 or 1, "c" a
    condition. Operands are names or literals; memory is named by what points to its first
    element.

    Attributes
    ----------
    rank, block, turn, stride : the number of a thread in its block, of the block, of the thread
        among all; and how many there are.
    barrier : what all threads of a block wait at.
    leaves : whether a thread can leave an inner loop and go on after the outermost one.
    warps : whether the threads of a warp can pass each other values.
    by_kind : whether words of real numbers and of integers are kept apart.
    """

    rank: str
    block: str
    turn: str
    stride: str
    barrier: str
    leaves: bool
    warps: bool
    by_kind: bool

    # -------------------------------------------------------------- expressions
    @abstractmethod
    def leaf(self, e: Expr) -> str:
        """A real constant, or a truth value."""

    @abstractmethod
    def operation(self, e: Expr, args: Sequence[str]) -> str:
        """An operation on real numbers, or on truth values."""

    @abstractmethod
    def integer(self, op: Op, args: Sequence[str]) -> str:
        """An operation on integers."""

    @abstractmethod
    def whole(self, k: int) -> str:
        """A literal integer."""

    @abstractmethod
    def cast(self, kind: str, text: str) -> str:
        """A number as one of another kind."""

    @abstractmethod
    def choice(self, test: str, a: str, b: str) -> str:
        """One of two values."""

    @abstractmethod
    def at(self, i: str, n: str) -> str:
        """An index moved into an axis of n elements."""

    @abstractmethod
    def divide(self, a: str, b: str) -> str:
        """The quotient of integers that are not negative, rounded down."""

    @abstractmethod
    def past(self, memory: str, by: str) -> str:
        """Memory from an element on."""

    @abstractmethod
    def word(self, words: str, slot: int, kind: str) -> str:
        """A number in a word."""

    # --------------------------------------------------------------- statements
    @abstractmethod
    def name(self, stem: str, taken: set[str]) -> str:
        """A name of the language for a name of the program, which is none of those taken."""

    @abstractmethod
    def argument(self, kind: str, name: str, memory: bool = False, changed: bool = False) -> str:
        """An argument of a kernel: a number, or memory that it may change."""

    @abstractmethod
    def constant(self, kind: str, name: str, text: str, memory: bool = False) -> str:
        """Give a value, or a place in memory, a name."""

    @abstractmethod
    def variable(self, kind: str, name: str, text: str) -> str:
        """A name for values that change."""

    @abstractmethod
    def assign(self, place: str, text: str) -> str:
        """Change a variable or an element."""

    @abstractmethod
    def put(self, memory: str, end: str, step: str, text: str) -> list[str]:
        """Put a value behind the last in memory."""

    @abstractmethod
    def take(self, kind: str, name: str, memory: str, end: str, step: str) -> list[str]:
        """Give the last value in memory a name, and take it away."""

    @abstractmethod
    def copy(self, i: str, size: str, target: str, source: str) -> list[str]:
        """Copy so many elements; `i` is a new name."""

    @abstractmethod
    def advance(self, variable: str, by: str, back: bool = False) -> str:
        """Add to a variable, or subtract from it."""

    @abstractmethod
    def counting(self, i: str, count: str, first: str = "", step: str = "") -> str:
        """The head of a loop that counts up from 0, in steps of 1."""

    @abstractmethod
    def repeating(self, i: str, count: str | None) -> str:
        """The head of a loop with a counter that was there before, with or without a limit."""

    @abstractmethod
    def halving(self, i: str, first: int) -> str:
        """The head of a loop over powers of 2 that get smaller."""

    @abstractmethod
    def when(self, tests: Sequence[str]) -> str:
        """The head of what is done if all conditions hold."""

    @abstractmethod
    def inside(self, head: str, lines: Sequence[str]) -> list[str]:
        """What a head holds for."""

    @abstractmethod
    def only(self, tests: Sequence[str], statement: str) -> list[str]:
        """A statement that is done if all conditions hold."""

    @abstractmethod
    def unless(self, condition: str, lines: Sequence[str]) -> list[str]:
        """What is done unless a condition holds."""

    @abstractmethod
    def follow(self, i: str) -> list[str]:
        """The end of a `repeating` loop."""

    @abstractmethod
    def stop(self, condition: str) -> list[str]:
        """Leave the innermost loop unless a condition holds."""

    @abstractmethod
    def leave(self) -> list[str]:
        """Leave the kernel, or what is `leavable`."""

    @abstractmethod
    def failed(self, words: str, number: int) -> str:
        """Say that a check has failed, if none of a lower number has."""

    @abstractmethod
    def full(self, words: str) -> str:
        """Say that a tape is full."""

    @abstractmethod
    def shared(self, kind: str, name: str) -> str:
        """Memory that the threads of a block share."""

    @abstractmethod
    def leavable(self, lines: Sequence[str]) -> list[str]:
        """Statements, of which `leave` leaves only these."""

    @abstractmethod
    def kernel(self, name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
        """The whole kernel."""

    @abstractmethod
    def unit(self, kernels: Sequence[str]) -> str:
        """All kernels, and what they need."""


_TYPES = {"i": "long long", "b": "unsigned char", "c": "bool", "lane": "int"}


class Cplusplus(Operations, Language):
    """CUDA C++.

    Parameters
    ----------
    tested : the text of functions that compute flagged values again; see
        `symdiff.codegen.cuda.printer.print_tested`.
    """

    rank, block = "threadIdx.x", "blockIdx.x"
    turn = "(long long)blockIdx.x * blockDim.x + threadIdx.x"
    stride = "(long long)gridDim.x * blockDim.x"
    barrier = "__syncthreads();"
    leaves = warps = True
    by_kind = False
    _WHOLE: ClassVar[Mapping[Op, str]] = {
        ADD: "{0} + {1}",
        SUB: "{0} - {1}",
        MUL: "{0} * {1}",
        NEG: "-{0}",
        ABS: "llabs({0})",
        FLOORDIV: "symdiff_floordiv({0}, {1})",
        MOD: "symdiff_mod({0}, {1})",
        POW: "symdiff_power({0}, {1})",
        WHERE: "{0} ? {1} : {2}",
    }

    def __init__(self, dtype: str, tested: str = "") -> None:
        super().__init__(dtype)
        self.tested = tested

    def operation(self, e: Expr, args: Sequence[str]) -> str:
        if e.op is TESTED:
            given = ", ".join((args[1], *args[3:]))  # the error test itself, without its screen
            return f"symdiff_tested_{int(e.args[0].value)}({given})"
        return super().operation(e, args)

    def type(self, kind: str) -> str:
        """What a kind is called."""
        return {"f": self.real, **_TYPES}[kind]

    def integer(self, op: Op, args: Sequence[str]) -> str:
        return self._WHOLE[op].format(*args)

    def whole(self, k: int) -> str:
        return f"{k}ll" if k >= 0 else f"({k}ll)"

    def cast(self, kind: str, text: str) -> str:
        return f"({self.type(kind)}){text}"

    def choice(self, test: str, a: str, b: str) -> str:
        return f"{test} ? {a} : {b}"

    def at(self, i: str, n: str) -> str:
        return f"symdiff_at({i}, {n})"

    def divide(self, a: str, b: str) -> str:
        return f"symdiff_divide({a}, {b})"

    def past(self, memory: str, by: str) -> str:
        return f"{memory} + {by}"

    def word(self, words: str, slot: int, kind: str) -> str:
        return f"*({self.type(kind)}*)({words} + {8 * slot})"

    def name(self, stem: str, taken: set[str]) -> str:
        name = "_" + re.sub(r"\W", "_", stem)
        while name in taken:
            name += "_"
        return name

    def argument(self, kind: str, name: str, memory: bool = False, changed: bool = False) -> str:
        if not memory:
            return f"const {self.type(kind)} {name}"
        of = "char" if kind == "word" else self.type(kind)
        return f"{of}* {name}" if changed else f"const {of}* __restrict__ {name}"

    def constant(self, kind: str, name: str, text: str, memory: bool = False) -> str:
        if memory:
            return f"{self.type(kind)}* const {name} = {text};"
        return f"const {self.type(kind)} {name} = {text};"

    def variable(self, kind: str, name: str, text: str) -> str:
        return f"{self.type(kind)} {name} = {text};"

    def assign(self, place: str, text: str) -> str:
        return f"{place} = {text};"

    def put(self, memory: str, end: str, step: str, text: str) -> list[str]:
        return [f"{memory}[{end}++{_times(step)}] = {text};"]

    def take(self, kind: str, name: str, memory: str, end: str, step: str) -> list[str]:
        return [self.constant(kind, name, f"{memory}[--{end}{_times(step)}]")]

    def copy(self, i: str, size: str, target: str, source: str) -> list[str]:
        return [f"for (long long {i} = 0; {i} < {size}; {i}++) ({target})[{i}] = {source}[{i}];"]

    def advance(self, variable: str, by: str, back: bool = False) -> str:
        return f"{variable} {'-=' if back else '+='} {by};"

    def counting(self, i: str, count: str, first: str = "", step: str = "") -> str:
        each = f"{i} += {step}" if step else f"{i}++"
        return f"for (long long {i} = {first or 0}; {i} < {count}; {each}) {{"

    def repeating(self, i: str, count: str | None) -> str:
        return f"for (; {'' if count is None else f'{i} < {count}'}; {i}++) {{"

    def halving(self, i: str, first: int) -> str:
        return f"for (int {i} = {first}; {i} > 0; {i} >>= 1) {{"

    def when(self, tests: Sequence[str]) -> str:
        return f"if ({' && '.join(tests)}) {{"

    def inside(self, head: str, lines: Sequence[str]) -> list[str]:
        return [head, *(f"    {line}" for line in lines), "}"]

    def only(self, tests: Sequence[str], statement: str) -> list[str]:
        return [f"if ({' && '.join(tests)}) {statement}" if tests else statement]

    def unless(self, condition: str, lines: Sequence[str]) -> list[str]:
        return self.inside(f"if (!({condition})) {{", lines)

    def follow(self, i: str) -> list[str]:
        return []

    def stop(self, condition: str) -> list[str]:
        return [f"if (!({condition})) break;"]

    def leave(self) -> list[str]:
        return ["return;"]

    def failed(self, words: str, number: int) -> str:
        return f"atomicMin((int*)({words} + {8 * STATUS}), {number});"

    def full(self, words: str) -> str:
        return f"*(int*)({words} + {8 * FULL}) = 1;"

    def shared(self, kind: str, name: str) -> str:
        return f"__shared__ {self.type(kind)} {name}[{THREADS}];"

    def leavable(self, lines: Sequence[str]) -> list[str]:
        return ["[&] {", *lines, "}();"]

    def kernel(self, name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
        head = f'extern "C" __global__ void __launch_bounds__({THREADS}) {name}'
        return define(head, list(arguments), list(lines))

    def unit(self, kernels: Sequence[str]) -> str:
        functions = [self.tested] if self.tested else []
        return "\n".join([HELPERS, *self.helpers(), *functions, *kernels])


def _times(step: str) -> str:
    return f" * {step}" if step else ""


__all__ = ["COMPARISONS", "Cplusplus", "Language"]
