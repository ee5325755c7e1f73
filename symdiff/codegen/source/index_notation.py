"""Programs with arrays and loops as a person writes them: index notation and short loops.

total = sum(x[i]*y[i], i = 0..n-1)
out[i] = 2*x[i]                          for i = 0..n-1
for t = 0..n-1:
    h = ...
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff import ir
from symdiff.codegen.source.loops import Printer
from symdiff.codegen.sympy.text import TextWriter
from symdiff.ir import TRUE, Expr
from symdiff.ir.functions import MAXIMUM, MINIMUM
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import (
    Build,
    Call,
    Check,
    Loop,
    Structured,
    Type,
    Update,
    index,
    name_of,
)

_REDUCTIONS = {ir.ADD: "sum", ir.MUL: "product", MAXIMUM: "max", MINIMUM: "min"}
_STARTS = {ir.ADD: ir.ZERO, ir.MUL: ir.ONE, MAXIMUM: ir.neg(ir.INF), MINIMUM: ir.INF}


def nest_lines(program: Structured) -> tuple[list[str], list[str]]:
    """The statements of a program, and the texts of its outputs."""
    printer = _TextPrinter(program, "float64")
    for p in program.params:
        for n in p.type.shape:
            if n.op is not ir.CONST:
                printer.sizes.add(n)
    printer.block(program.block, program.outputs)
    texts = printer.texts(program.outputs)
    return printer.lines, texts


class _TextPrinter(Printer):
    """Prints for people: no memory, no conversions."""

    def __init__(self, program: Structured, dtype: str) -> None:
        super().__init__(program, dtype)
        self.writer = TextWriter()

    def lowered(self, roots: Sequence[Expr]) -> Sequence[Expr]:
        return roots

    def range(self, name: str, n: Expr) -> str:
        """The values of an index."""
        return f"{self.name(name)} = 0..{self.integer(linear(ir.sub(n, ir.ONE)))}"

    def statement(self, s: Build | Update | Loop | Call | Check, later: set[str]) -> None:
        match s:
            case Call():
                left = ", ".join(self.name(n) for n, _ in s.results)
                self.line(f"{left} = {s.routine}({', '.join(self.texts(s.args))})")
            case Check():
                self.line(f"require {self.texts((s.condition,))[0]}")
            case _:
                super().statement(s, later)

    def build(self, s: Build) -> None:
        name, at = self.name(s.name), ", ".join(self.name(i) for i in s.indices)
        ranges = dict(self.ranges)
        self.ranges |= {index(i): n for i, n in zip(s.indices, s.type.shape, strict=True)}
        where = ", ".join(self.range(i, n) for i, n in zip(s.indices, s.type.shape, strict=True))
        start = len(self.lines)
        with self.indented():
            self.block(s.body, (s.value,))
            (text,) = self.texts((s.value,), (s.type.kind,))
        if len(self.lines) == start:
            self.line(f"{name}[{at}] = {text}  for {where}")
        else:
            self.lines.insert(start, "    " * self.depth + f"for {where}:")
            with self.indented():
                self.line(f"{name}[{at}] = {text}")
        self.ranges = ranges

    def loop(self, s: Loop, later: set[str]) -> None:
        if self.reduction(s):
            return
        super().loop(s, later)

    def reduction(self, s: Loop) -> bool:
        """A loop that sums, as one line."""
        if len(s.carried) != 1 or s.body or s.saves or s.restores or s.count is None:
            return False
        c = s.carried[0]
        plain = s.condition is TRUE and not c.type.shape
        if not plain or c.next.op not in _REDUCTIONS or c.init is not _STARTS[c.next.op]:
            return False
        own = {ir.var(c.name), index(c.name)}
        first, second = c.next.args
        if second in own:
            first, second = second, first
        if first not in own or own & set(ir.topological((second,))):
            return False
        ranges = dict(self.ranges)
        self.ranges[index(s.index)] = s.count
        start = len(self.lines)
        (text,) = self.texts((second,))
        self.ranges = ranges
        if len(self.lines) != start:
            del self.lines[start:]
            return False
        word = _REDUCTIONS[c.next.op]
        self.line(f"{self.name(c.result)} = {word}({text}, {self.range(s.index, s.count)})")
        return True

    def save(self, tape: str, t: Type, text: str) -> None:
        self.line(f"push {text} on {self.name(tape)}")

    def restore(self, name: str, tape: str, t: Type) -> None:
        self.line(f"pop {self.name(name)} from {self.name(tape)}")

    def element_of(self, e: Expr) -> str:
        at = ", ".join(self.integer(i) for i in e.args[1:])
        return self.kept.get(e, f"{self.name(name_of(e.args[0]))}[{at}]")
