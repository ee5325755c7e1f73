"""A program over rows together with its rounding errors, and what says which rows are not accurate.

Before:  for row: out[row] = f(x[row])
After:   for row: out[row], rest[row] = f(x[row]), its error; out + rest; wrong[row] = |rest| > 2**-40*|out|

Requires: a program of rows (`symdiff.loops.rows`), each of whose results has an axis of rows.
Ensures: the same outputs, corrected, and one more: of each row how many of its real numbers may not be
accurate. What is computed of a row does not depend on others. Completed operations may be in their closed
forms, unlike in calls that are corrected as a whole: near their singularities corrections are large, and
nothing is finite there. With tests for underflow a product, quotient or function that may have lost digits
by it has an error that is not known; the other numbers are the same bits without these tests.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, ADD, DIV, EQ, FALSE, LE, MUL, NAN, POW, WHERE, ZERO, Expr, const, raw
from symdiff.ir.loop_program import (
    ARRAY,
    Block,
    Build,
    LoopProgram,
    Statement,
    Type,
    array,
    index,
    load,
    name_of,
    types,
)
from symdiff.lowering.compensated.evaluate import Corrected, Known
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.passes.accuracy.beside import Parts
from symdiff.passes.accuracy.corrected_program import ARITHMETIC, EACH, Correcting, is_wrong
from symdiff.passes.accuracy.estimated_statements import over_elements

TINY = Fraction(1, 2**900)
"""Sizes of values and divisors from which on, and up to one over it, errors do not underflow."""


def corrected_rows(program: LoopProgram, tests: bool) -> LoopProgram:
    """The program with its corrections, and one more output, an array over rows; `tests`: whether what
    underflow cost counts.

    Raises
    ------
    UnsupportedError : if it calls a routine, or a function without a correction.
    """
    return _Rows(program, tests).whole_program()


class _Rows(Correcting):
    """Each row has an account of its own.

    Attributes
    ----------
    tests : whether what underflow cost counts.
    row : the index of rows in the account.
    account : what counts the numbers that are not accurate: statements, and a number for each output.
    """

    def __init__(self, program: LoopProgram, tests: bool) -> None:
        super().__init__(program)
        self.tests = tests
        self.row = self.names.fresh("row")
        self.account: tuple[Block, list[Expr]] = (), []

    def whole_program(self) -> LoopProgram:
        made = super().whole_program()
        rows = types(self.program)[name_of(self.program.outputs[0])].shape[0]
        block, counts = self.account
        total: Expr = ZERO
        for n in counts:
            total = n if total is ZERO else raw(ADD, (total, n))
        name = self.names.fresh("wrong")
        account = Build(name, Type((rows,)), (self.row,), total, block)
        return replace(
            made, block=(*made.block, account), outputs=(*made.outputs[:-1], array(name))
        )

    def seen(self, n: Expr, known: Known) -> Corrected:
        """A node whose error is not known if it may have underflowed, or what decides it may."""
        value, rest = known[n]
        if not self.tests:
            return value, rest
        if n.op is WHERE:
            unsure = _unsure(n.args[0], known)
            return (value, rest) if unsure is FALSE else (value, raw(WHERE, (unsure, NAN, rest)))
        if not (n.op in (MUL, DIV, POW) or n.op in CORRECTED):
            return value, rest
        sizes = [value]
        if n.op in (DIV, POW):
            sizes.append(known[n.args[0]][0])
        fine = functools.reduce(ir.and_, map(_is_safe, sizes))
        given = {MUL: n.args, DIV: n.args[:1]}.get(n.op, ())
        for e in (known[a][0] for a in given if ir.rational(a) is None):
            fine = ir.or_(fine, raw(EQ, (e, ZERO)))
        return value, raw(WHERE, (fine, rest, NAN))

    def conditions(
        self, outputs: Sequence[Expr], leaves: Mapping[Expr, Parts]
    ) -> list[tuple[Expr, Expr]]:
        if not self.tests:
            return super().conditions(outputs, leaves)
        sides = self.pairs([a for e in outputs for a in e.args], leaves)
        made = zip(sides[::2], sides[1::2], strict=True)
        holds = super().conditions(outputs, leaves)
        return [
            (one, ir.or_(_unknown(a[1]), _unknown(b[1])))
            for (one, _), (a, b) in zip(holds, made, strict=True)
        ]

    def unsure(self, x: Parts, where: Expr) -> Parts:
        return x if where is FALSE else (x[0], raw(WHERE, (where, NAN, x[1])))

    def output(self, e: Expr, checks: list[Statement], wrong: list[Expr]) -> Expr:
        """An array of results; what counts the numbers in a row that are not accurate goes to its account."""
        assert e.op is ARRAY
        t, name = self.sized(types(self.program)[name_of(e)]), name_of(e)
        if t.kind != "f" or name not in self.beside:
            return e
        (rests,) = self.beside[name]
        places = [self.names.fresh("i") for _ in t.shape[1:]]
        at = [index(self.row), *map(index, places)]
        value, rest = load(e, *at), load(array(rests), *at)
        each = const(EACH if self.functions else ARITHMETIC)
        counts, block = over_elements(
            self.names, places, Type(t.shape[1:]), [is_wrong(each, value, rest)], [False]
        )
        self.account = (*self.account[0], *block), [*self.account[1], *counts]
        return self.corrected_array(e, t, checks)


def _unsure(condition: Expr, known: Known) -> Expr:
    """Whether the error of something that a condition compares is not known."""
    found: Expr = FALSE
    stack = [condition]
    while stack:
        n = stack.pop()
        if n.op in ir.COMPARISONS:
            for a in n.args:
                found = ir.or_(found, _unknown(known[a][1]))
        else:
            stack.extend(n.args)
    return found


def _unknown(rest: Expr) -> Expr:
    return FALSE if rest is ZERO else ir.not_(raw(EQ, (rest, rest)))


def _is_safe(e: Expr) -> Expr:
    """Whether a number is of a size at which errors do not underflow."""
    size = raw(ABS, (e,))
    return ir.and_(raw(LE, (const(TINY), size)), raw(LE, (size, const(1 / TINY))))


__all__ = ["corrected_rows"]
