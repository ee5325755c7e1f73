"""Where does an overflow or underflow affect a result?

Before:  y**2/2 - x*x*y**4/24
After:   where |x| + |y| is above 2**160, or one of them is below 2**-160 and not 0, unless it is
         above 2**-900 and the result above 2**-965

Requires: a DAG, to be computed operation by operation.
Ensures: where `outside` is false, nothing overflows or underflows (`passes.analysis.magnitude`), or
each underflow changes every result by less than a unit of rounding, and no comparison.

The error of an operation whose result is below the normal numbers is at most the least of these.
These errors are propagated through the DAG as powers of 2. If one side of a choice is inaccurate
for such sources, the condition demands the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, ADD, CONST, DIV, FALSE, MUL, NEG, POW, SUB, TRUE, VAR, WHERE, Expr
from symdiff.ir.functions import (
    ATAN,
    CBRT,
    COS,
    ERF,
    EXP,
    EXPM1,
    EXTREMES,
    HYPOT,
    LOG,
    LOG2,
    LOG10,
    SIN,
    TANH,
)
from symdiff.lowering.target import COMPENSATED, LIGHT, PLAIN
from symdiff.passes.analysis.magnitude import Magnitudes, Span
from symdiff.passes.analysis.signs import Signs

UNDER = {"float64": -1020, "float32": -120}
"""The exponent of a bound of the error of an operation whose result is below the normal numbers."""
LEVELS = {"float64": (900, 600, 480, 320, 240), "float32": (96, 60, 48)}
"""Exponents of the smallest sources; the first with accurate results is chosen."""
WIDE = {"float64": 240, "float32": 40}
"""If nothing underflows for sources of this size, that is enough."""

NONE = -(10**9)
"""The exponent of no error."""
UNKNOWN = 10**9
"""The exponent of an unbounded error."""

SUMS = (ADD, SUB, *EXTREMES, HYPOT)
LIPSCHITZ = (NEG, ABS, COMPENSATED, LIGHT, PLAIN, SIN, COS, TANH, ATAN, ERF)
"""Functions of one argument that change by hardly more than their argument."""


class Underflow:
    """Errors of the nodes of a DAG by underflow, for sources within [2**-low, 2**high] or zero.

    Attributes
    ----------
    errors : node -> the exponent of a bound of its absolute error.
    """

    def __init__(self, magnitudes: Magnitudes, dtype: str, low: int, high: int) -> None:
        self.magnitudes, self.low, self.high = magnitudes, low, high
        self.bits = magnitudes.bits + 2
        self.normal = -magnitudes.limit
        self.under = UNDER[dtype]
        self.spans: dict[Expr, Span] = {}
        self.errors: dict[Expr, int] = {}

    def visit(self, order: Sequence[Expr]) -> None:
        """Bound the errors of nodes, children first."""
        for e in order:
            span = self.magnitudes.span(e, [self.spans.get(a, (0, 0)) for a in e.args])
            source = span is None
            if e.op is WHERE and max(self._sides(e)) >= UNKNOWN:
                first, second = self._sides(e)
                span = self.spans[e.args[1] if first < second else e.args[2]]
            self.spans[e] = low, high = (-self.low, self.high) if span is None else span
            if e.op is CONST:
                self.errors[e] = NONE
                continue
            error = self._inherited(e, source)
            if high > -self.normal:
                error = UNKNOWN
            elif low < self.normal and not source:
                error = max(error, self.under)
            self.errors[e] = error

    def _inherited(self, e: Expr, source: bool) -> int:
        """The error of a node from those of its arguments."""
        op = e.op
        found = [self.errors.get(a, NONE) for a in e.args]
        if op is WHERE:  # one side is inaccurate: demand the other
            sides = found[1:]
            return min(sides) if max(sides) >= UNKNOWN else max(sides)
        worst = max(found, default=NONE)
        if op is DIV:
            return self._quotient(e, found)
        if worst <= NONE or worst >= UNKNOWN:
            return worst
        if op in LIPSCHITZ or op in SUMS:
            return worst + 1
        if op is MUL:
            (a, b), (x, y) = (self.spans[t] for t in e.args), found
            return max(_times(x, b[1]), _times(y, a[1]), _times(x, y)) + 2
        low, _ = self.spans[e.args[0]]
        fine = worst < low - self.bits  # the argument has nearly all its digits
        if op is POW:
            return self._power(e, found, fine)
        if op is CBRT:
            return worst - low + self.spans[e][1] if fine else UNKNOWN
        if op in (LOG, LOG2, LOG10):
            return worst - low + 2 if fine else UNKNOWN
        if op is EXPM1 and not source:
            return worst + max(self.spans[e][1], 0) + 2
        if op in (EXP, EXPM1):
            return worst + self.high + 2 if worst < -self.bits else UNKNOWN
        return UNKNOWN

    def _quotient(self, e: Expr, found: Sequence[int]) -> int:
        (_, high), (low, _) = (self.spans[t] for t in e.args)
        x, y = found
        if low < self.normal or y > low - self.bits or x >= UNKNOWN:
            return UNKNOWN
        return max(_times(x, -low), _times(y, high - 2 * low)) + 2

    def _power(self, e: Expr, found: Sequence[int], fine: bool) -> int:
        q = ir.rational(e.args[1])
        error, (low, high) = found[0], self.spans[e.args[0]]
        if q is None:
            return UNKNOWN
        if fine:
            return error - low + self.spans[e][1] + math.ceil(abs(q)).bit_length()
        if q.denominator == 1 and q > 0:
            return error + (int(q) - 1) * max(high, 0) + int(q).bit_length()
        return UNKNOWN

    def trusted(self, outputs: Sequence[Expr]) -> tuple[list[Expr], list[Expr]] | None:
        """The comparisons on which outputs depend, and further conditions; None if some
        error is not bounded."""
        comparisons, demands, seen = [], [], set()
        stack = list(outputs)
        while stack:
            e = stack.pop()
            if e in seen:
                continue
            seen.add(e)
            args = e.args
            if e.op is WHERE and max(self._sides(e)) >= UNKNOWN:
                first, second = self._sides(e)
                if min(first, second) >= UNKNOWN:
                    return None
                chosen = first < second
                demands.append(args[0] if chosen else ir.not_(args[0]))
                args = (args[0], args[1] if chosen else args[2])
            elif not e.op.boolean and self.errors[e] >= UNKNOWN:
                return None
            elif e.op.boolean and args and not args[0].op.boolean:
                if len(args) != 2 or any(self.errors.get(a, NONE) > self.under // 4 for a in args):
                    return None
                comparisons.append(e)
            stack += args
        return comparisons, demands

    def _sides(self, e: Expr) -> tuple[int, int]:
        return self.errors.get(e.args[1], NONE), self.errors.get(e.args[2], NONE)

    def condition(self, outputs: Sequence[Expr], sources: Sequence[Expr]) -> Expr | None:
        """Where errors by underflow are negligible; None if that is unknown."""
        found = self.trusted(outputs)
        if found is None:
            return None
        comparisons, demands = found
        total = TRUE
        for condition in dict.fromkeys(demands):
            total = ir.and_(total, condition)
        for e in sources:
            size = ir.abs_(e)
            inside = ir.le(ir.const(Fraction(1, 2**self.low)), size)
            if e.op is VAR:
                inside = ir.or_(inside, ir.eq(e, ir.ZERO))
            total = ir.and_(total, inside)
        for e in dict.fromkeys(outputs):
            error = self.errors.get(e, NONE)
            if error > NONE:
                total = ir.and_(total, ir.le(self._size(error + self.bits), ir.abs_(e)))
        for e in dict.fromkeys(comparisons):
            a, b = e.args
            error = max(self.errors.get(a, NONE), self.errors.get(b, NONE))
            if error > NONE:
                total = ir.and_(total, ir.lt(self._size(error + 3), ir.abs_(a - b)))
        return total

    def _size(self, exponent: int) -> Expr:
        return ir.const(Fraction(2) ** max(exponent, self.under))


def outside(outputs: Sequence[Expr], dtype: str, signs: Signs) -> Expr:
    """Where something may overflow, or underflow with an effect."""
    magnitudes = Magnitudes(dtype, signs)
    level, sources = magnitudes.bounded(outputs)
    below = FALSE
    for e in sources:
        size = e if signs.nonnegative(e) else ir.abs_(e)
        small = ir.lt(size, ir.const(Fraction(1, 2**level)))
        if _may_be_zero(e):
            small = ir.and_(small, ir.not_(ir.eq(e, ir.ZERO)))
        below = ir.or_(below, small)
    if 0 < level < WIDE[dtype]:
        below = ir.and_(below, ir.not_(_negligible(outputs, dtype, magnitudes, sources, level)))
    return ir.or_(below, magnitudes.beyond(level, sources))


def _negligible(
    outputs: Sequence[Expr], dtype: str, magnitudes: Magnitudes, sources: Sequence[Expr], high: int
) -> Expr:
    """Where underflows are negligible for sources that are at most 2**high."""
    order = ir.topological(outputs)
    for low in LEVELS[dtype]:
        if low <= high:
            break
        work = Underflow(magnitudes, dtype, low, high)
        work.visit(order)
        worst = max((work.errors.get(e, NONE) for e in outputs), default=NONE)
        if worst <= work.under // 4:
            found = work.condition(outputs, sources)
            if found is not None:
                return found
    return FALSE


def _may_be_zero(e: Expr) -> bool:
    """Whether a source that is zero is exactly zero, and has not underflowed."""
    fold = e.op.fold if e.op.arity == 1 else None
    return e.op is VAR or (fold is not None and fold(Fraction(0)) == 0)


def _times(error: int, exponent: int) -> int:
    return error + exponent if NONE < error < UNKNOWN else error
