"""Norms of any size: sums of squares under roots, scaled by what is largest.

Before:  for i in range(n): s = s + x[i]**2                   y/sqrt(squares(s)), s
After:   for i in range(n): m = |x[i]| if m < |x[i]| else m
         for i in range(n): s = s + (u*x[i])**2               y/(sqrt(s)/u), (sqrt(s)/u)**2

with u a power of two that is 1 unless m is large or small.

Requires: a program that is ready for error tests: `loops.simplify.running_norms` has marked the sums.
Ensures: equal values, of which none overflows or vanishes before the norm does. Sums that
are saved on tapes, or are the elements of an array, are saved as their roots.

It takes a second loop over what is added up. So the kernel that is called first does without,
and the processor's flags tell whether it has to be called again; see `pipeline.lowered.loops`. The
constants are those of a simple form of Blue's algorithm (ACM Transactions on Mathematical
Software 4, 1978): what is too small beside the largest term does not count.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.ir import (
    ADD,
    DIV,
    EQ,
    HALF,
    MUL,
    ONE,
    POW,
    VAR,
    ZERO,
    Expr,
    const,
    power,
    substitute,
    topological,
    var,
    where,
)
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import ROOT_SLOPE, SQUARES
from symdiff.lowering.loops.collected import nests

SCALES = {"float64": (480, 600), "float32": (45, 90)}
"""Sums whose largest term is beyond two to the first, or its reciprocal, are scaled by two to
the second."""
TWO = const(2)


def scaled(program: lp.LoopProgram, dtype: str) -> lp.LoopProgram:
    """The program, itself if it has no such sums."""
    work = _Lengths(program, dtype)
    for s in lp.walk(program.block):
        for e in lp.expressions(s):
            work.look(e)
    for e in program.outputs:
        work.look(e)
    if not work.roots:
        return program
    outputs = tuple(work.new(e) for e in program.outputs)
    return replace(program, block=work.block(program.block), outputs=outputs)


class _Lengths:
    """Which numbers are kept as their roots, and what stands for them.

    Attributes
    ----------
    roots : the root of each number, or for an array the array of the roots.
    loops : for the names of their iteration counts, loops that find scales, and those with scaled terms.
    """

    def __init__(self, program: lp.LoopProgram, dtype: str) -> None:
        self.names = lp.names_of(program)
        self.level, self.scale = SCALES[dtype]
        self.roots: dict[Expr, Expr] = {}
        self.loops: dict[str, tuple[lp.Loop, lp.Loop]] = {}
        self.sums = {e: n for e, n in nests(program.block).items() if n.alone}
        self.builds: dict[Expr, lp.Build] = {}
        self.restored: dict[Expr, str] = {}
        self.saved: dict[str, list[Expr]] = {}
        for s in lp.walk(program.block):
            if isinstance(s, lp.Build):
                self.builds[lp.array(s.name)] = s
            elif isinstance(s, lp.Loop):
                for r in s.restores:
                    self.restored[var(r.name)] = r.tape
                for v in s.saves:
                    self.saved.setdefault(v.tape, []).append(v.value)
        self.tapes: set[str] = set()
        everything = lp.expressions_in(program.block)
        self.whole = {e for e in (*everything, *program.outputs) if e.op is lp.ARRAY}
        self.whole |= {
            lp.array(s.source) for s in lp.walk(program.block) if isinstance(s, lp.Update)
        }

    # ------------------------------------------------------------- what is kept as a root
    def look(self, e: Expr) -> None:
        """Find sums of squares under roots."""
        for n in topological((e,)):
            if n.op in (POW, ROOT_SLOPE) and n.args[0].op is SQUARES:
                for s in topological(n.args[0].args):
                    self.keep(s.args[0] if s.op is lp.LOAD else s)

    def keep(self, s: Expr) -> bool:
        """Let a number, or the elements of an array, be kept as roots, if it can be."""
        if s in self.roots:
            return True
        if s in self.restored:
            tape = self.restored[s]
            if all(self.keep(v) for v in self.saved[tape]):
                self.tapes.add(tape)
                self.roots |= {r: r for r, t in self.restored.items() if t == tape}
        elif s in self.builds and s not in self.whole:
            if self.keep(self.builds[s].value):
                self.roots[s] = s
        elif s in self.sums:
            nest = self.sums[s]
            if terms := _squared(nest.term):
                first, largest = nest.largest([ir.abs_(t) for t in terms], ZERO, self.names)
                unit = self.unit(largest)
                second = nest.with_terms(_scaled(nest.term, unit))
                self.loops[second.trips] = first, second
                self.roots[s] = power(s, HALF) * unit
        return s in self.roots

    def unit(self, m: Expr) -> Expr:
        """One over the scale, for the largest term."""
        high, low = const(2**self.level), const(Fraction(1, 2**self.level))
        big, small = const(2**self.scale), const(Fraction(1, 2**self.scale))
        return where(ir.lt(high, m), big, where(ir.lt(m, low), small, ONE))

    # --------------------------------------------------------------------- rewriting
    def new(self, e: Expr) -> Expr:
        """An expression over the roots."""
        mapping: dict[Expr, Expr] = {}
        for n in topological((e,)):
            below = n.args[0] if n.args else n
            if (root := self.root(n)) is not None:
                mapping[n] = power(root, TWO)
            elif (root := self.root(below)) is None:
                continue
            elif n.op is POW:
                mapping[n] = power(root, TWO * n.args[1])
            elif n.op is ROOT_SLOPE:
                mapping[n] = where(ir.eq(root, ZERO), ZERO, ONE / (TWO * root))
            elif n.op is EQ and n.args[1] is ZERO:
                mapping[n] = ir.eq(root, ZERO)
        return substitute((e,), mapping)[0] if mapping else e

    def root(self, n: Expr) -> Expr | None:
        """The root that stands for a number or an element, if it is kept so."""
        if n.op is SQUARES:
            (n,) = n.args
        if n.op is lp.LOAD:
            return n if n.args[0] in self.roots else None
        return self.roots.get(n) if n.op is VAR else None

    def block(self, block: lp.Block) -> lp.Block:
        done: list[lp.Statement] = []
        for s in block:
            if isinstance(s, lp.Loop) and s.trips in self.loops:
                done += lp.mapped_block(self.loops[s.trips], self.new)
                continue
            t = lp.mapped(s, self.new, self.block)
            if (
                isinstance(s, lp.Build)
                and isinstance(t, lp.Build)
                and lp.array(s.name) in self.roots
            ):
                t = replace(t, value=self.roots[s.value])
            elif isinstance(s, lp.Loop) and isinstance(t, lp.Loop):
                pairs = zip(s.saves, t.saves, strict=True)
                t = replace(t, saves=tuple(
                    replace(v, value=self.roots[old.value]) if v.tape in self.tapes else v
                    for old, v in pairs
                ))  # fmt: skip
            done.append(t)
        return tuple(done)


def _squared(e: Expr) -> list[Expr]:
    """What is squared in each term of a sum, if each has a square as a factor; else nothing."""
    if e.op is POW and e.args[1] is TWO:
        return [e.args[0]]
    if e.op is MUL and e.args[0] is e.args[1]:
        return [e.args[0]]
    if e.op is MUL:
        return _squared(e.args[0]) or _squared(e.args[1])
    if e.op is DIV:
        return _squared(e.args[0])
    if e.op is ADD:
        either = [_squared(a) for a in e.args]
        return [t for found in either for t in found] if all(either) else []
    return []


def _scaled(e: Expr, unit: Expr) -> Expr:
    """A sum of squares with each of what is squared divided by the unit."""
    if e.op is POW:
        return power(e.args[0] / unit, TWO)
    if e.op is MUL and e.args[0] is e.args[1]:
        return power(e.args[0] / unit, TWO)
    if e.op is MUL:
        at = 0 if _squared(e.args[0]) else 1
        return _scaled(e.args[at], unit) * e.args[1 - at]
    if e.op is DIV:
        return _scaled(e.args[0], unit) / e.args[1]
    return _scaled(e.args[0], unit) + _scaled(e.args[1], unit)
