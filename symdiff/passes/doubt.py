"""Where can rounded arithmetic be wrong? Running error analysis as expressions.

Before:  y - x*x
After:   and a bound on its error, |x*x| + |y - x*x|, in units of rounding

Requires: any DAG.
Ensures: `doubt` is true wherever the error of an output, computed operation by
operation in arithmetic of a given unit roundoff, may exceed `limit` units of
the output, where it is not finite, and where a branch is taken on the strength
of rounded values. Inputs, and what is exact in any precision, carry no error.

First-order running error analysis after Wilkinson (1963) and Higham, Accuracy
and Stability of Numerical Algorithms (2002), section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from symdiff import ir
from symdiff.functions import CEIL, FLOOR, ROUND, SIGN, TRUNC
from symdiff.ir import (
    ABS,
    ADD,
    AND,
    COMPARISONS,
    DIV,
    FALSE,
    MUL,
    NEG,
    NOT,
    ONE,
    OR,
    POW,
    SUB,
    VAR,
    WHERE,
    ZERO,
    Expr,
)

STEPS = (FLOOR, CEIL, TRUNC, ROUND, SIGN)
FUNCTION_ERROR = 2
"""Units by which a library function may miss the rounded value."""


class Errors:
    """Bounds on the error of every node, in units of the roundoff."""

    def __init__(self, tiny: Fraction) -> None:
        self.tiny = ir.const(tiny)
        self.bounds: dict[Expr, Expr] = {}
        self.branches: Expr = FALSE

    def of(self, e: Expr) -> Expr:
        for node in ir.topological((e,)):
            if node not in self.bounds:
                self.bounds[node] = self._local(node)
        return self.bounds[e]

    def _local(self, e: Expr) -> Expr:
        op, args = e.op, e.args
        if op.boolean:
            if op in COMPARISONS:
                self._compare(*args)
            return ZERO
        errors = [self.bounds[a] for a in args]
        if (q := ir.rational(e)) is not None:
            return ZERO if is_exact(q) else ir.const(abs(q))
        if op is VAR or not args:
            return ZERO if op is VAR else ir.abs_(e)
        if op is NEG or op is ABS:
            return errors[0]
        if op in (ADD, SUB):
            return errors[0] + errors[1] + ir.abs_(e)
        if op is MUL:
            a, b = args
            spread = ir.abs_(a) * errors[1] + ir.abs_(b) * errors[0]
            return spread if _is_shift(a) else spread + ir.abs_(e) + self.tiny
        if op is DIV:
            spread = errors[0] + ir.abs_(e) * errors[1]
            spread = spread if spread is ZERO else spread / ir.abs_(args[1])
            return spread + ir.abs_(e) + self.tiny
        if op is POW:
            return self._power(e, errors)
        if op is WHERE:
            return ir.where(args[0], errors[1], errors[2])
        if op in STEPS:
            return self._step(e, args[0], errors[0])
        return self._function(e, errors)

    def _power(self, e: Expr, errors: list[Expr]) -> Expr:
        base, exponent = e.args
        q = ir.rational(exponent)
        rounds = ir.const(FUNCTION_ERROR)
        if q is not None:
            steps = 1 if q == Fraction(1, 2) else min(int(abs(q)) + 1, 8)
            own = ir.const(steps) * ir.abs_(e) + self.tiny
            if errors[0] is ZERO:
                return own
            return ir.const(abs(q)) * ir.abs_(e) * (errors[0] / ir.abs_(base)) + own
        from symdiff.functions import LOG

        spread = ir.abs_(exponent) * errors[0] / ir.abs_(base)
        if errors[1] is not ZERO:
            spread = spread + ir.abs_(LOG(base)) * errors[1]
        return ir.abs_(e) * (spread + rounds) + self.tiny

    def _function(self, e: Expr, errors: list[Expr]) -> Expr:
        total = ir.const(FUNCTION_ERROR) * ir.abs_(e) + self.tiny
        if all(err is ZERO for err in errors):
            return total
        slopes = e.op.slope(*e.args) if e.op.slope else self._slopes(e)
        for slope, error in zip(slopes, errors, strict=True):
            if error is not ZERO:
                total = total + slope * error
        return total

    def _slopes(self, e: Expr) -> tuple[Expr, ...]:
        partials = e.op.partials(*e.args) if e.op.partials else (None,) * len(e.args)
        return tuple(ZERO if p is None else ir.abs_(p) for p in partials)

    def _step(self, e: Expr, x: Expr, error: Expr) -> Expr:
        if error is not ZERO:
            edge = (
                x if e.op is SIGN else x - ROUND(x) if e.op is not ROUND else x - FLOOR(x) - ir.HALF
            )
            self._near(edge, error)
        return ZERO

    def _compare(self, a: Expr, b: Expr) -> None:
        error = self.bounds[a] + self.bounds[b]
        if error is not ZERO:
            self._near(a - b, error)

    def _near(self, difference: Expr, error: Expr) -> None:
        """A decision on the sign of the difference is in doubt within the error."""
        safe = ir.lt(error * self.scale, ir.abs_(difference))
        self.branches = ir.or_(self.branches, ir.not_(safe))

    scale: Expr = ir.const(Fraction(1, 2**52))


def doubt(outputs: Iterable[Expr], limit: int = 4) -> Expr:
    """The condition under which some output, in double arithmetic, may be off by
    more than about `limit` ulps, or is not finite."""
    errors = Errors(Fraction(1, 2**1020))
    total = FALSE
    for output in dict.fromkeys(outputs):
        bound = errors.of(output)
        if bound is not ZERO:
            size = ir.const(limit) * ir.abs_(output)
            total = ir.or_(total, ir.not_(ir.le(bound, size)))
    return ir.or_(total, errors.branches)


def is_exact(q: Fraction) -> bool:
    """Whether a rational is a double."""
    try:
        return Fraction(float(q)) == q
    except OverflowError:
        return False


def _is_shift(e: Expr) -> bool:
    """Whether multiplying by a node is exact: a constant power of two."""
    q = ir.rational(e)
    return (
        q is not None
        and q != 0
        and (abs(q).numerator & (abs(q).numerator - 1)) == 0
        and (q.denominator & (q.denominator - 1)) == 0
    )


__all__ = ["AND", "NOT", "ONE", "OR", "Errors", "doubt", "is_exact"]
