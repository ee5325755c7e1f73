"""A program over rows together with its rounding errors, and flags of inaccurate rows.

Before:  for row: out[row] = f(x[row])
After:   for row: out[row], rest[row] = f(x[row]), its error; out + rest; wrong[row] = |rest| > 2**-40*|out|

Requires: a program of rows (`symdiff.loops.rows`), each of whose results has an axis of rows.
Ensures: the same outputs, corrected, and one more: for each row, how many of its real numbers may
be inaccurate. Rows do not affect each other. Completed operations may be in their closed forms,
unlike in calls that are corrected as a whole: near their singularities corrections are large, and
nothing is finite there. Tests for underflow change no bits of accurate results.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff import ir
from symdiff.ir import LT, ZERO, Expr, const, raw
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
from symdiff.passes.accuracy.corrected_program import (
    ARITHMETIC,
    EACH,
    Correcting,
    is_wrong,
    together,
)
from symdiff.passes.accuracy.elements import over_elements
from symdiff.passes.accuracy.float_expansions import added_up
from symdiff.passes.accuracy.underflow_losses import is_lost


def corrected_rows(program: LoopProgram, tests: bool) -> LoopProgram:
    """The program with its corrections, and one more output, an array over rows.

    `tests`: whether losses by underflow count.

    Raises
    ------
    UnsupportedError : if it calls a routine, or a function without a correction.
    """
    return _Rows(program, tests).whole_program()


def corrected_formulas(
    program: LoopProgram, outputs: Sequence[Expr], tests: bool
) -> tuple[tuple[Expr, ...], Expr]:
    """The same for the formulas of a row, over the names of its numbers: their values with their
    errors, and whether any of them may be inaccurate.

    Raises
    ------
    UnsupportedError : for a function without a correction.
    """
    work = Correcting(program, tests=tests, lanes=False)
    leaves = {v: (v, *(ZERO,) * len(work.suffixes)) for v in ir.variables(outputs)}
    found = work.numbers(outputs, leaves)
    limit = const(EACH if work.functions else ARITHMETIC)
    values, wrong = list[Expr](), list[Expr]()
    for value, rest, *lost in found:
        wrong += [is_lost(value, x) for x in lost if x is not ZERO]
        if rest is not ZERO:
            wrong.append(is_wrong(limit, value, rest))
        values.append(value if rest is ZERO else together(value, rest))
    return tuple(values), raw(LT, (ZERO, added_up(wrong)))


class _Rows(Correcting):
    """Corrected rows, each with an account of its own.

    Attributes
    ----------
    row : the index of rows in the account.
    counted : the counts of inaccurate numbers: statements, and a number for each output.
    """

    def __init__(self, program: LoopProgram, tests: bool) -> None:
        super().__init__(program, tests=tests, lanes=False)  # rows are short
        self.row = self.names.fresh("row")
        self.counted: tuple[Block, list[Expr]] = (), []

    def account(self, wrong: Sequence[Expr], checks: list[Statement]) -> Expr:
        shape = types(self.program)[name_of(self.program.outputs[0])].shape
        block, counts = self.counted
        name = self.names.fresh("wrong")
        checks.append(Build(name, Type(shape[:1]), (self.row,), added_up(counts), block))
        return array(name)

    def output(self, e: Expr, checks: list[Statement], wrong: list[Expr]) -> Expr:
        """An array of results; the count of inaccurate numbers in a row goes to its account."""
        assert e.op is ARRAY
        t, name = self.sized(types(self.program)[name_of(e)]), name_of(e)
        if t.kind != "f" or name not in self.trailing:
            return e
        places = [self.names.fresh("i") for _ in t.shape[1:]]
        at = [index(self.row), *map(index, places)]
        value, rest, *lost = (load(array(n), *at) for n in (name, *self.trailing[name]))
        each = [is_wrong(const(EACH if self.functions else ARITHMETIC), value, rest)]
        each += [is_lost(value, x) for x in lost]
        counts, block = over_elements(
            self.names, places, Type(t.shape[1:]), each, [False] * len(each)
        )
        self.counted = (*self.counted[0], *block), [*self.counted[1], *counts]
        return self.corrected_array(e, t, checks)
