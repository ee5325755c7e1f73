"""Programs with arrays and loops as a person writes them: index notation and short loops.

total = sum(x[i]*y[i], i = 0..n-1)
out[i] = 2*x[i]                          for i = 0..n-1
for t = 0..n-1:
    h = ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from symdiff import ir
from symdiff.codegen.common.liveness import Point
from symdiff.codegen.common.naming import named
from symdiff.codegen.source.loops import Printer
from symdiff.codegen.sympy.text import TextWriter
from symdiff.ir import TRUE, Expr
from symdiff.ir.formula_text import Formulas, factors, tree_sizes
from symdiff.ir.functions import MAXIMA, MINIMA
from symdiff.ir.integers import linear
from symdiff.ir.loop_program import (
    LOAD,
    Block,
    Build,
    Call,
    Check,
    Loop,
    LoopProgram,
    Type,
    Update,
    index,
    name_of,
)
from symdiff.ir.plain import exactly

SHORT = 60
"""Formulas with more operations than this have names for what they share."""
_REDUCTIONS = {
    ir.ADD: "sum",
    ir.MUL: "product",
    **dict.fromkeys(MAXIMA, "max"),
    **dict.fromkeys(MINIMA, "min"),
}
_STARTS = {
    ir.ADD: ir.ZERO,
    ir.MUL: ir.ONE,
    **dict.fromkeys(MAXIMA, ir.neg(ir.INF)),
    **dict.fromkeys(MINIMA, ir.INF),
}


def loop_lines(program: LoopProgram) -> tuple[list[str], list[str]]:
    """The statements of a program, and the texts of its outputs."""
    printer = _TextPrinter(program, "float64")
    for p in program.params:
        for n in p.type.shape:
            if n.op is not ir.CONST:
                printer.sizes.add(n)
    printer.block(program.block, program.outputs)
    texts = printer.texts(program.outputs)
    return printer.lines, texts


def formula_lines(
    program: LoopProgram, labels: Sequence[str], shorten: Callable[[Expr], Expr]
) -> tuple[list[str], list[str]]:
    """A derivative for people: the statements, and the remaining lines on the outputs.

    Parameters
    ----------
    labels : what each output is, such as `d/dx`. Outputs that are arrays made by one of the
        statements have that name there.
    shorten : the shortest form of a formula.
    """
    printer = _FormulaPrinter(program, shorten)
    for p in program.params:
        for n in p.type.shape:
            if n.op is not ir.CONST:
                printer.sizes.add(n)
    printer.block(program.block, program.outputs)
    texts = printer.texts(program.outputs)
    own = {printer.name(p.name) for p in program.params}
    lines = _one_name([*printer.lines, *texts], own)
    lines = _renumbered(lines, own)
    lines, texts = lines[: len(lines) - len(texts)], lines[len(lines) - len(texts) :]
    left: list[str] = []
    for label, text in zip(labels, texts, strict=True):
        whole = re.compile(rf"(?<![\w.]){re.escape(text)}(?!\w)")
        uses = [k for k, line in enumerate(lines) for _ in whole.finditer(line)]
        if len(uses) == 1 and lines[uses[0]].startswith(f"{text}["):
            lines[uses[0]] = lines[uses[0]].replace(text, label, 1)
        else:
            left.append(f"{label}: {text}")
    return lines, left


_ALIAS = re.compile(r"( *)([^\W\d]\w*) = ([^\W\d]\w*)")


def _one_name(lines: list[str], own: set[str]) -> list[str]:
    """The lines without those that only give a value another name.

    Before:  g_1[i] = 0 for i = 0..n - 1; g = g_1; for i = 0..n - 1: g[i] += x[i]
    After:   g[i] = 0 for i = 0..n - 1; for i = 0..n - 1: g[i] += x[i]
    """
    k = 0
    while k < len(lines):
        found = _ALIAS.fullmatch(lines[k])
        joined = (
            None
            if found is None or own & {*found.groups()}
            else _without(lines, k, *found.groups())
        )
        if joined is None:
            k += 1
        else:
            lines, k = joined, 0
    return lines


def _without(lines: list[str], k: int, indent: str, new: str, old: str) -> list[str] | None:
    """The lines without the one in which a value that is not used any more gets a new name; None
    if it is used."""
    uses = {n: [j for j, t in enumerate(lines) if n in _WORDS.findall(t)] for n in (new, old)}
    starts = [j for j in uses[old] if lines[j].startswith((f"{indent}{old} = ", f"{indent}{old}["))]
    one_block = all(_depth(t) >= len(indent) for t in lines[min(uses[old]) : k])
    removed = {k}
    if not (starts and starts[0] == min(uses[old]) and max(uses[old]) == k and one_block):
        # `new = old` before a loop that changes it, and `old = new` behind that
        last = max(uses[new])
        if (
            min(uses[new]) < k
            or lines[last] != f"{indent}{old} = {new}"
            or any(k < j < last for j in uses[old])
        ):
            return None
        if any(_depth(t) < len(indent) for t in lines[k:last]):
            return None
        removed, new, old = {k, last}, old, new
    elif min(uses[new]) < k:
        return None
    return [
        _WORDS.sub(lambda m: new if m[0] == old else m[0], t)
        for j, t in enumerate(lines)
        if j not in removed
    ]


_WORDS = re.compile(r"[^\W\d]\w*")


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _renumbered(lines: list[str], own: set[str]) -> list[str]:
    """The lines with names that are not counted on where they need not be: `total` for
    `total_3`, if there is only one."""
    found = dict.fromkeys(w for line in lines for w in re.findall(r"[^\W\d]\w*", line))
    groups: dict[str, list[str]] = {}
    for word in found:
        stem, _, number = word.rpartition("_")
        if stem and number.isdigit() and word not in own:
            groups.setdefault(stem, []).append(word)
    new: dict[str, str] = {}
    for stem, words in groups.items():
        names = [stem] if stem not in found and len(words) == 1 else []
        count = 1
        while len(names) < len(words):
            name = f"{stem}_{count}"
            if name not in own and (name in words or name not in found):
                names.append(name)
            count += 1
        new.update(zip(words, names, strict=True))
    return [re.sub(r"[^\W\d]\w*", lambda m: new.get(m[0], m[0]), line) for line in lines]


class _TextPrinter(Printer):
    """Prints for people: no memory, no conversions."""

    def __init__(self, program: LoopProgram, dtype: str) -> None:
        super().__init__(program, dtype)
        self.writer = TextWriter()

    def share(self, block: Block, start: int, after: Sequence[Expr]) -> int:
        return start + 1  # people read each statement by itself

    def lowered(self, roots: Sequence[Expr]) -> Sequence[Expr]:
        return roots

    def range(self, name: str, n: Expr) -> str:
        """The values of an index."""
        return f"{self.name(name)} = 0..{self.integer(linear(ir.sub(n, ir.ONE)))}"

    def statement(self, s: Build | Update | Loop | Call | Check, point: Point) -> None:
        match s:
            case Call():
                left = ", ".join(self.name(n) for n, _ in s.results)
                self.line(f"{left} = {s.routine}({', '.join(self.texts(s.args))})")
            case Check():
                self.line(f"require {self.texts((s.condition,))[0]}")
            case _:
                super().statement(s, point)

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

    def loop(self, s: Loop, point: Point) -> None:
        if self.reduction(s):
            return
        super().loop(s, point)

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

    def bounds(self, count: Expr, reverse: bool) -> str:
        if not reverse:
            return super().bounds(count, reverse)
        return f"{self.integer(linear(ir.sub(count, ir.ONE)))}, -1, -1"

    def element_of(self, e: Expr) -> str:
        at = ", ".join(self.integer(i) for i in e.args[1:])
        return self.kept.get(e, f"{self.name(name_of(e.args[0]))}[{at}]")


class _FormulaPrinter(_TextPrinter):
    """Prints formulas as short as they are, norms as such."""

    def __init__(self, program: LoopProgram, shorten: Callable[[Expr], Expr]) -> None:
        super().__init__(program, "float64")
        self.shorten = shorten
        self.norms: dict[Expr, Expr] = {}
        self.note = ""

    def reduction(self, s: Loop) -> bool:
        return self.norm(s) or super().reduction(s)

    def norm(self, s: Loop) -> bool:
        """A loop that sums the squares of all elements of an array: its result is the square of
        the norm."""
        if len(s.carried) != 1 or s.body or s.saves or s.restores or s.condition is not TRUE:
            return False
        c = s.carried[0]
        if c.type.shape or c.next.op is not ir.ADD or c.init is not ir.ZERO:
            return False
        first, square = c.next.args
        if (
            first is not ir.var(c.name)
            or square.op is not ir.POW
            or square.args[1] is not ir.const(2)
        ):
            return False
        element = square.args[0]
        if element.op is not LOAD or element.args[1:] != (index(s.index),):
            return False
        name = name_of(element.args[0])
        shape = next((p.type.shape for p in self.program.params if p.name == name), ())
        if shape != (s.count,):
            return False
        self.norms[ir.var(c.result)] = ir.var(f"norm({self.name(name)})")
        return True

    def leaves(self, roots: Sequence[Expr]) -> dict[Expr, Expr]:
        found = super().leaves(roots)
        return {**found, **{v: norm**2 for v, norm in self.norms.items()}}

    def written(self, plain: Sequence[Expr]) -> list[str]:
        if any(n > SHORT for n in tree_sizes(plain).values()):
            return super().written(plain)
        shown = [self._short(e) for e in exactly(plain)]
        definitions, formulas = named([e for e, _ in shown], self.taken)
        for name, e in definitions:
            self.taken.add(name)
            self.line(f"{name} = {Formulas().text(e)}")
        self.note = "".join(dict.fromkeys(note for _, note in shown if note))
        return [Formulas().text(e) for e in formulas]

    def _short(self, e: Expr) -> tuple[Expr, str]:
        """A formula with its norms, and where it is something else."""
        norms = set(self.norms.values())

        def rule(node: Expr, args: tuple[Expr, ...]) -> Expr:
            made = ir.power(*args) if node.op is ir.POW else ir.rebuild(node, args)
            return made.args[0] if made.op is ir.ABS and made.args[0] in norms else made

        (e,) = ir.transform((e,), rule)
        unit, found = factors(e)
        product, note = ir.const(unit), ""
        for base, exponent in found:
            if base.op is ir.WHERE and exponent is ir.ONE and base.args[1] is ir.ZERO:
                condition, _, other = base.args
                norm = next(
                    (
                        n
                        for n in norms
                        if condition in (ir.eq(n, 0), ir.eq(n**2, 0), ir.eq(0, n**2))
                    ),
                    None,
                )
                if norm is not None:
                    base, note = other, f"  # 0 where {norm.value} == 0"
            product = ir.mul(product, ir.power(base, exponent))
        return (self.shorten(product), note) if note else (e, "")

    def line(self, text: str) -> None:
        super().line(text + self.note)
        self.note = ""
