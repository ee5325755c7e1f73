"""Estimate the rounding errors of a program with arrays and loops, beside what it computes.

Before:  for i: s = s + x[i]*y[i]
After:   for i: s = s + x[i]*y[i]; q = q + (2*x[i]*y[i])**2
         check sqrt(q) <= 64*|s|

Requires: a program. Of its real expressions `loop_tiers` tests the elements of results that are
functions of what is given, and with "strict" all: those have a few units of error of their own,
and those of what they load (a unit is half of an ulp). Of the others the roundings are bounded here.
Ensures: the same outputs. A check "accuracy" fails unless each number is within `LIMIT` units, and
each array within as many of its largest element, and each of its n elements within `SMALL*n` units
and half of its own digits; with "strict" each element is within `LIMIT` units. So does it where a
result is nan. Results whose errors are bounded statically have no check. With tests for underflow,
what that costs on the way counts as well, so that sums of squares of small numbers are no
denominators in silence; and where something overflowed, errors are not finite, which no check passes.

An `Error` says of a name that its value is off by at most `k*|value| + more` units. Errors of
the terms of a sum that come of their own roundings, or of different elements of arrays, are
taken as independent of each other: their squares add up. An error that all terms share, as
that of a mean, adds up as it stands. Numbers that a loop computes from each other have a
covariance (`joint_errors`), if they are not many; of other recurrences all errors add up. Roundings of the
partial sums of a reduction count as one of each term, since its lanes keep them short, unless the loop reads
them; those of sums in memory count as they are. Results of linear solvers count as a few units.

First-order running error analysis: Higham, Accuracy and Stability of Numerical Algorithms
(2002), section 3.3; independent roundings: Higham and Mary, SIAM J. Sci. Comput. 41 (2019).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.ir import INF, ONE, ZERO, Expr, const, raw
from symdiff.ir.loop_program import (
    ARRAY,
    REAL_OF,
    Check,
    LoopProgram,
    Statement,
    Type,
    index,
    load,
    name_of,
    types,
)
from symdiff.ir.prune import pruned
from symdiff.lowering.target import SMALL as AT_ONCE
from symdiff.passes.accuracy.estimated_statements import (
    may_be_nan,
    over_elements,
)
from symdiff.passes.accuracy.program_errors import ProgramErrors
from symdiff.passes.accuracy.propagation import (
    EXACT,
    FLOOR,
    element,
)

LIMIT, HALF = 32, 2**27
"""Units that a result may be off by, and at most a single element of an array that is not the
largest, half of its digits: 32 units are 16 ulp at least."""
SMALL = 256
"""Of an array of n elements, the smallest is a part in n of the largest, as things go: it may be off by
so many times n units."""
FEW, CHANCE = 4, 64
"""In calls of many numbers so many elements at most, and one in so many, may be off by more, as long as they keep half
of their digits: by chance some are smaller than that. And arrays of fewer than `SMALL` elements count as that many."""
SUBNORMAL = 2**16
"""Where errors of underflow count, numbers may be off by as many times what one costs."""


class Estimated(NamedTuple):
    """A program with checks, the expressions that only they need, and those whose own
    roundings they count, so that these need no error tests; whether the errors of all results
    are bounded statically; and whether there are numbers that loops compute from each other, whose
    errors are carried together (see `joint_errors`)."""

    program: LoopProgram
    unwatched: frozenset[Expr]
    untested: frozenset[Expr]
    bounded: bool = True
    joint: bool = False


def estimated(
    program: LoopProgram, dtype: str = "float64", strict: bool = False, tests: bool = False,
    by_rows: bool = False, norm: bool = False, known: dict[Any, Any] | None = None,
    together: bool = True,
) -> Estimated:  # fmt: skip
    """The program with a check for each result whose error is not known statically.

    Parameters
    ----------
    tests : whether what underflow and overflow cost counts.
    by_rows : whether all values keep their error tests, as they do with `strict`.
    norm : whether an array is checked by its largest element alone.
    known : see `Propagation`.
    together : see `ProgramErrors`.
    """
    work = _Checking(program, dtype, strict, tests, by_rows, norm, known, together)
    block = work.block(program.block)
    checks = [c for e in dict.fromkeys(program.outputs) for c in work.check(e)]
    if not checks:
        return Estimated(program, frozenset(), frozenset())
    made = pruned((*work.first, *block, *checks), program.outputs)
    return Estimated(
        replace(program, block=made), frozenset(work.unwatched), frozenset(work.untested),
        work.bounded, work.joint,
    )  # fmt: skip


class _Checking(ProgramErrors):
    """The checks of results."""

    def check(self, e: Expr) -> list[Statement]:
        """What fails unless a result is within the limit."""
        if e.op is not ARRAY:
            self.keep(e)
            found = self.error(e)
            if found.flat and found.k <= LIMIT:
                number = ir.or_(ir.lt(e, ZERO), ir.le(ZERO, e))
                return [self._check(number)] if may_be_nan(self.program, e) else []
            self.bounded = False
            fine = self._fine(self.units(e, found), const(LIMIT), self.size(e))
            return [self._check(fine)]
        t = types(self.program)[name_of(e)]
        found = self.errors.get(name_of(e), EXACT)
        static = found.flat and found.k <= LIMIT
        if t.kind != "f" or (static and not may_be_nan(self.program, e)):
            return []
        self.bounded = self.bounded and static
        places = [self.names.fresh("i") for _ in t.shape]
        at = [index(i) for i in places]
        size = ir.abs_(load(e, *at))
        off = const(found.k) * size + element(found, at)
        each, by_chance = const(LIMIT), ZERO
        if not self.strict:
            each, by_chance = self._of_each(t)
        if self.norm:
            one = ir.where(ir.le(ZERO, size), ZERO, ONE)
        else:
            one = ir.where(self._fine(off, each, size), ZERO, ONE)
            if by_chance is not ZERO:
                half = self._fine(off, const(HALF), size)
                one = ir.where(half, one, const(2 * FEW))
        each_ = over_elements(
            self.names, places, t, (one, size, off), (False, True, True), self.mark
        )
        (wrong, largest, most), block = each_
        fine = ir.le(wrong, by_chance)
        if not self.strict:
            fine = ir.and_(fine, self._fine(most, const(LIMIT), largest))
        return [*block, self._check(fine)]

    def _of_each(self, t: Type) -> tuple[Expr, Expr]:
        """The units that an element may be off by, and how many elements may be off by more."""
        many: Expr = ONE
        for n in t.shape:
            many = many * raw(REAL_OF, (n,))
        count: Expr = ZERO
        for p in self.program.params:
            if p.type.kind == "f" and p.type.shape:
                size: Expr = ONE
                for n in p.type.shape:
                    size = size * raw(REAL_OF, (n,))
                count = count + size
        few = ir.le(count, const(AT_ONCE))
        least = ir.where(few, ZERO, const(SMALL))
        each = const(SMALL) * ir.where(ir.lt(many, least), least, many)
        each = ir.where(ir.lt(each, const(HALF)), each, const(HALF))
        by_chance = ir.where(ir.lt(many, const(FEW * CHANCE)), many / CHANCE, const(FEW))
        return each, ir.where(few, ZERO, by_chance)

    def _fine(self, off: Expr, limit: Expr, size: Expr) -> Expr:
        """Whether an error is within so many units of what has this size."""
        if not self.underflows:
            return ir.le(off, limit * size)
        tiny = ir.le(off, const(SUBNORMAL * FLOOR[self.dtype]))
        return ir.and_(ir.or_(ir.le(off, limit * size), tiny), ir.lt(off, INF))

    def _check(self, fine: Expr) -> Check:
        self.mark(fine)
        return Check(fine, "accuracy", f"{self.program.name}: a result lost digits")


__all__ = ["Estimated", "estimated"]
