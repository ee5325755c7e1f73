"""A program with arrays and loops in double-double arithmetic, with bounds of its errors.

Before:  for i: s = s + x[i]*y[i]
After:   for i: s, s_low = (s, s_low) + x[i]*y[i]; s_error = s_error + 4*|s|
         wrong = 1 if s_error*2**-105 > 2**-50*|s| else 0

Requires: a program in closed forms, whose functions have rules (`widen.has_rules`).
Ensures: the same outputs, and one more: how many real numbers among them are not known to be
within 2**-50 of themselves. Every real name is the high part of a pair; further names are the low part and
the bound of `passes.accuracy.widen`; what is given is exact. Adjoints and tapes too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.ir import FALSE, INF, ONE, ZERO, Expr, const, raw
from symdiff.ir import loop_program as lp
from symdiff.lowering.double_double.arithmetic import Pair
from symdiff.lowering.double_double.functions import UNIT
from symdiff.passes.accuracy.elements import over_elements
from symdiff.passes.accuracy.other_parts import Parts, WithOtherParts
from symdiff.passes.accuracy.widen import Choice, Wide, add, has_rules, widen_over
from symdiff.passes.stabilise import stabilise

ACCEPTED = Fraction(1, 2**50)
"""Accepted relative error of a result."""


def widened(program: lp.LoopProgram) -> lp.LoopProgram:
    """The program in double-double arithmetic.

    Raises
    ------
    UnsupportedError : if it calls a routine, or a function without a rule.
    """
    return _Widening(program).whole_program()


def stable_forms(program: lp.LoopProgram) -> lp.LoopProgram:
    """The program with real expressions in forms that keep their digits."""

    def one(e: Expr) -> Expr:
        if e.op is lp.ARRAY or lp.kind_of(e) != "f":
            return e
        leaves = {n: ir.var(f"leaf {k}") for k, n in enumerate(ir.topmost((e,), lp.LEAVES))}
        (made,) = stabilise(ir.substitute((e,), leaves))
        return ir.substitute((made,), {v: n for n, v in leaves.items()})[0]

    outputs = tuple(map(one, program.outputs))
    return replace(program, block=lp.mapped_block(program.block, one), outputs=outputs)


class _Widening(WithOtherParts):
    """Numbers are the high part of a pair, the low part and the bound of the error."""

    suffixes = ("low", "error")

    def wide(self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]) -> list[Wide | Choice]:
        forms = stabilise(tuple(outputs))
        if not has_rules(forms):
            raise UnsupportedError("a function has no double-double version")
        return widen_over(forms, {v: _wide(p) for v, p in leaves.items()})

    def parts_of(self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]) -> list[Parts]:
        made: list[Parts] = []
        for w in self.wide(outputs, leaves):
            if isinstance(w, Choice):
                made.append((ir.where(w.holds, ONE, ZERO), ZERO, ir.where(w.unsure, INF, ZERO)))
            else:
                made.append((w.hi, w.pair.lo, w.error))
        return made

    def conditions(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> list[tuple[Expr, Expr]]:
        made = []
        for w in self.wide(outputs, leaves):
            assert isinstance(w, Choice)
            made.append((w.holds, w.unsure))
        return made

    def added(self, x: Parts, y: Parts) -> Parts:
        w = add(*(Wide(Pair(hi, lo), error) for hi, lo, error in (x, y)))
        return w.hi, w.pair.lo, w.error

    def unsure(self, x: Parts, where: Expr) -> Parts:
        return x if where is FALSE else (x[0], x[1], ir.where(where, INF, x[2]))

    # ------------------------------------------------------------------------ results
    def output(self, e: Expr, checks: list[lp.Statement], wrong: list[Expr]) -> Expr:
        """A result; the statements that count its inaccurate numbers are added to the checks."""
        if e.op is not lp.ARRAY:
            if lp.kind_of(e, self.kinds) != "f":
                return self.whole(e)
            ((hi, _, error),) = self.real(e)
            if error is not ZERO:
                wrong.append(_wrong(hi, error))
            return hi
        t = self.sized(lp.types(self.program)[lp.name_of(e)])
        if t.kind != "f" or lp.name_of(e) not in self.other_parts:
            return e
        places = [self.names.fresh("i") for _ in t.shape]
        at = [lp.index(i) for i in places]
        off = lp.load(lp.array(self.other_parts[lp.name_of(e)][1]), *at)
        (value,), block = over_elements(
            self.names, places, t, [_wrong(lp.load(e, *at), off)], [False]
        )
        checks += block
        wrong.append(value)
        return e


def _wide(parts: Parts) -> Wide:
    """A leaf as a wide number; an exact one may be nan."""
    hi, lo, error = parts
    exact = lo is ZERO and error is ZERO and hi.op is not lp.REAL_OF
    return Wide(Pair(hi, lo), error, ir.not_(raw(ir.EQ, (hi, hi))) if exact else FALSE)


def _wrong(hi: Expr, error: Expr) -> Expr:
    """1 where a value is not accurate."""
    size = raw(ir.ABS, (hi,))
    bound = raw(ir.MUL, (const(2 * UNIT / ACCEPTED), error))
    fine = raw(ir.AND, (raw(ir.LE, (bound, size)), raw(ir.LT, (size, INF))))
    return raw(ir.WHERE, (fine, ZERO, ONE))


__all__: Sequence[str] = ["stable_forms", "widened"]
