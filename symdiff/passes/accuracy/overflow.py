"""Where may overflow or underflow have spoilt a result?

Before:  sqrt(x*x + y*y)
After:   not (2/sqrt(x*x + y*y) <= 4*(2**1021*sqrt(x*x + y*y) + 1)), or the result not finite

Requires: any DAG, to be computed operation by operation.
Ensures: where both conditions are false, the result is finite, no intermediate overflowed without
a trace in it, and the loss by underflow is below 4 units in its last place; or the
result is below the normal numbers.

An operation that underflows loses at most half of the smallest number. The DAG propagates these
losses to the result as a number of smallest numbers, which is a constant for most products and
sums. So a small product of small numbers is not flagged, unlike in `passes.analysis.magnitude`,
which bounds the inputs instead. Overflow in sums and products is visible in the result; for other
operations the inputs are bounded as there.

Where few products may underflow before the last operation, that one did is a shorter condition,
and often the same for many elements: that of `(a*b)*x[i]` is that `a*b` is not a normal number.
So underflow has two conditions; the second counts only where the first holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    DIV,
    FALSE,
    HALF,
    INF,
    MUL,
    NEG,
    ONE,
    POW,
    SUB,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.ir.functions import EXTREMES, UNIT
from symdiff.ir.plain import decides_plainly, is_decided
from symdiff.lowering.compensated.evaluate import is_power_of_two
from symdiff.lowering.target import COMPENSATED, COMPENSATED_EXP, COMPENSATED_EXPM1, PLAIN
from symdiff.passes.accuracy.bounds import STEPS
from symdiff.passes.accuracy.error_test import ErrorTest
from symdiff.passes.analysis.magnitude import Magnitudes

ALLOWED = 4
FLOOR = {"float64": Fraction(1, 2**1022), "float32": Fraction(1, 2**126)}
"""The smallest normal numbers."""
SMALLEST = {"float64": (1074, 1021), "float32": (149, 125)}
"""The smallest number is two to the minus the first; times two to the second, a number becomes
its unit in the last place in smallest numbers."""
FEW = 2
"""Products with a separate test of underflow."""
ALONG = 4
"""The number of products that replace one, where errors are computed along."""
_SHOWN = (ADD, SUB, MUL, NEG, ABS)


class Underflow(NamedTuple):
    """Where underflow may have spoilt a result: where both conditions hold.

    Attributes
    ----------
    some : that something underflowed on the way to the result; it is shorter.
    counts : that this affects the result.
    """

    some: Expr
    counts: Expr


def overflow(form: Expr, work: ErrorTest) -> Expr:
    """The condition for overflow, division by zero and invalid operations; `work` has the
    signs, and the way powers are lowered."""
    result = ir.not_(ir.lt(work.size(form), INF))
    if not _is_shown(form):
        result = ir.or_(result, Magnitudes(work.dtype, work.signs).above((form,)))
    return result


def underflow(form: Expr, work: ErrorTest) -> Underflow:
    """The conditions for underflow; both are equal where no shorter one is known."""
    losses = _Losses(work)
    loss = losses.of(form)
    if (q := ir.rational(loss)) is not None and q <= ALLOWED:
        return Underflow(losses.unsafe, losses.unsafe)
    smallest, scale = SMALLEST[work.dtype]
    size, allowed = work.size(form), ir.const(ALLOWED)
    fine = ir.and_(ir.le(loss, allowed * (ir.const(2**scale) * size + ONE)), ir.lt(loss, INF))
    few = ir.lt(loss, ir.const(2 ** (smallest - scale - 3)))
    tiny = ir.and_(few, ir.lt(size, ir.const(Fraction(1, 2 ** (scale + 2)))))
    counts = ir.or_(losses.unsafe, ir.not_(ir.or_(fine, tiny)))
    some = losses.some(form)
    return Underflow(counts if some is None else some, counts)


def _is_shown(form: Expr) -> bool:
    """Whether the result is not finite if any intermediate is not."""
    return all(
        not e.args or e.op in _SHOWN or e.op.boolean or (e.op is POW and (ir.integer(e.args[1]) or 0) > 0)
        for e in ir.topological((form,))
    ) and not any(e.op.boolean for e in ir.topological((form,)))  # fmt: skip


class _Losses:
    """The losses of the nodes by underflow, in smallest numbers; with their errors if
    `compensated`.

    Attributes
    ----------
    own : the losses of the operations themselves that may underflow.
    errors : whether errors are computed somewhere: they may underflow where nothing else does.
    """

    def __init__(self, work: ErrorTest, compensated: bool = False) -> None:
        self.work, self.compensated = work, compensated
        self.magnitudes = Magnitudes(work.dtype, work.signs)
        self.known: dict[Expr, Expr] = {}
        self.own: dict[Expr, int] = {}
        self.unsafe: Expr = FALSE
        self.errors = False

    def of(self, e: Expr) -> Expr:
        for node in ir.topological((e,), self.known):
            self.known[node] = self._local(node, [self.known[a] for a in node.args])
        return self.known[e]

    def some(self, form: Expr) -> Expr | None:
        """The condition that an operation before the last lost something; None if the condition on
        the amount is shorter."""
        before = [e for e in self.own if e is not form]
        if self.errors or self.own.get(form, 0) > ALLOWED or len(before) > FEW:
            return None
        found: Expr = FALSE
        for e in before:
            factors = e.args[:1] if e.op in (POW, DIV) else e.args
            if e.op not in (MUL, DIV) and (e.op is not POW or (ir.integer(e.args[1]) or 0) < 1):
                return None
            small = ir.lt(self.work.size(e), ir.const(FLOOR[self.work.dtype]))
            for a in factors:
                if not ir.rational(a):
                    small = ir.and_(small, ir.not_(ir.eq(a, ZERO)))
            found = ir.or_(found, small)
        return found

    def _once(self, e: Expr, times: int = 1) -> Expr:
        """The loss of an operation itself."""
        if not self.compensated and self.magnitudes.least(e) > -self.magnitudes.limit:
            return ZERO
        self.own[e] = times
        return ir.const(times)

    def _local(self, e: Expr, losses: Sequence[Expr]) -> Expr:
        op, args = e.op, e.args
        if is_decided(e):
            return ZERO
        if op.boolean:
            if op in ir.COMPARISONS and not decides_plainly(e):
                self._decide(args, losses)
            return ZERO
        if not args:
            return ZERO
        if op in STEPS:
            self._decide((args[0], ZERO), (losses[0], ZERO))
            return ZERO
        if op is COMPENSATED:
            return self._with_errors(args[0])
        if op in (COMPENSATED_EXP, COMPENSATED_EXPM1):
            slope = e if op is COMPENSATED_EXP else ir.abs_(e) + ONE
            return slope * self._with_errors(args[0]) + self._once(e)
        return self._arithmetic(e, losses)

    def _arithmetic(self, e: Expr, losses: Sequence[Expr]) -> Expr:
        """The total loss of an operation that passes losses on."""
        op, args = e.op, e.args
        if op in (NEG, ABS, PLAIN):
            return losses[0]
        if op in (ADD, SUB, *EXTREMES):
            return losses[0] + losses[1]
        if op is MUL:
            own = self._times(args[0], losses[1]) + self._times(args[1], losses[0])
            return own if _is_unit(args[0]) else own + self._once(e)
        if op in (DIV, UNIT):
            own = losses[0] + self._times(e, losses[1])
            return (ZERO if own is ZERO else own / ir.abs_(args[1])) + self._once(e)
        if op is WHERE:
            return ir.where(args[0], losses[1], losses[2])
        if op is POW and (q := ir.rational(args[1])) is not None:
            own = ZERO if args[1] is HALF else self._once(e, max(1, abs(int(q))))
            if losses[0] is ZERO:
                return own
            slope = ir.abs_(e) if q == 1 else ir.abs_(ir.const(q) * e / args[0])
            return slope * losses[0] + own
        total = self._once(e)
        if all(x is ZERO for x in losses):
            return total
        steepest = (ir.const(op.steepest),) * len(args)
        for slope, x in zip(steepest if op.steepest else self.work.slopes(e), losses, strict=True):
            total = total + (ZERO if x is ZERO else slope * x)
        return total

    def _with_errors(self, e: Expr) -> Expr:
        """The loss of a sum that is computed with its errors: each product needs three more,
        one for its own error and two for the errors of its factors."""
        inside = _Losses(self.work, compensated=True)
        loss = ir.const(ALONG) * inside.of(e)
        self.errors = True
        self.unsafe = ir.or_(self.unsafe, inside.unsafe)
        return loss

    def _decide(self, args: Sequence[Expr], losses: Sequence[Expr]) -> None:
        """Flag a comparison within the losses of its sides."""
        loss = losses[0] + losses[1]
        if loss is not ZERO:
            unit = ir.const(Fraction(1, 2 ** SMALLEST[self.work.dtype][0]))
            far = ir.lt(loss * unit, ir.abs_(args[0] - args[1]))
            self.unsafe = ir.or_(self.unsafe, ir.not_(far))

    def _times(self, a: Expr, loss: Expr) -> Expr:
        return ZERO if loss is ZERO else self.work.size(a) * loss


def _is_unit(e: Expr) -> bool:
    return is_power_of_two(e) and abs(ir.rational(e) or Fraction(0)) >= 1
