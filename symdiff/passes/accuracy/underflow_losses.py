"""The loss by underflow of a value that is computed with its rounding error.

Before:  p = x*y, and its error fma(x, y, -p)
After:   and |x|*(loss of y) + |y|*(loss of x) + (2**-1072 if p is tiny)

Requires: a value and its error of first order (`lowering.compensated.evaluate`).
Ensures: a bound of the loss in addition to that error, to first order; for a condition, of what it depends on.
Errors of products, quotients and roots may not be doubles where those are small: they are lost as well. What
is not known is infinite or nan.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    DIV,
    FALSE,
    INF,
    LE,
    LT,
    MUL,
    NEG,
    POW,
    SUB,
    WHERE,
    ZERO,
    Expr,
    const,
    raw,
)
from symdiff.ir.functions import EXP, EXTREMES
from symdiff.ir.plain import decides_plainly, is_decided
from symdiff.lowering.compensated.evaluate import Known, ordered
from symdiff.lowering.compensated.functions import CORRECTED
from symdiff.passes.accuracy.float_expansions import added_up

ONCE = Fraction(1, 2**1072)
"""The loss of one operation that underflows, including the operations of its error."""
TINY = Fraction(1, 2**900)
"""From this size to its reciprocal, nothing underflows in the computation of the errors of
values."""
RELATIVE, ABSOLUTE = Fraction(1, 2**54), Fraction(1, 2**1058)
"""Losses that results may have: relative, or, if they are tiny, some thousand times `ONCE`."""


def loss(n: Expr, known: Known, lost: dict[Expr, Expr]) -> Expr:
    """The loss of a node, from the losses below it; for a condition, whether they may have decided
    it."""
    below = [lost.get(a, ZERO) for a in n.args]
    if is_decided(n):
        return ZERO
    if n.op.boolean and n.op is not WHERE:
        if n.op not in ir.COMPARISONS:
            found: Expr = FALSE
            for e in below:
                found = found if e is ZERO else ir.or_(found, e)
            return found
        if decides_plainly(n) and not (n.op is ir.EQ and ZERO in n.args):
            return FALSE  # decided in doubles; tests for 0 know the slope there
        both = added_up(below)
        if both is ZERO:
            return FALSE
        (x, _), (y, _) = (known[a] for a in n.args)
        apart = raw(LT, (both, _size(raw(SUB, (x, y)))))
        return ir.and_(ir.not_(apart), ir.not_(raw(LE, (both, ZERO))))
    if n.op is WHERE:
        unsure, yes, no = below
        holds = known[n.args[0]][0]
        side = yes if yes is no else raw(WHERE, (holds, yes, no))
        return side if unsure in (ZERO, FALSE) else raw(WHERE, (unsure, INF, side))
    if not n.args or all(ir.rational(a) is not None for a in n.args):
        return ZERO
    if n.op in (ADD, SUB, NEG, ABS) or n.op in EXTREMES:
        return added_up(below)
    args, value = [known[a][0] for a in n.args], known[n][0]
    if n.op is MUL:
        passed = [_times(x, e) for x, e in zip(args, reversed(below), strict=True)]
        if any(abs(q) >= 1 for a in n.args if (q := ir.rational(a)) is not None):
            return added_up(passed)
        return added_up((*passed, _where(_not_zero(args, below), _is_tiny(value), const(ONCE))))
    if n.op is DIV:
        return _of_quotient(args, value, below)
    if n.op is POW:
        return _of_power(n, args[0], value, below[0])
    if n.op not in CORRECTED:
        return ZERO if added_up(below) is ZERO else _infinite(added_up(below))
    own = _where(
        _not_zero(args, below) if n.op is not EXP else ir.TRUE, _is_tiny(value), const(ONCE)
    )
    if below[0] is ZERO:
        return own
    slope = value if n.op is EXP else CORRECTED[n.op].build(ordered(known[n.args[0]])[0], False)[2]
    return added_up((_times(slope, below[0]), own))


def is_lost(value: Expr, lost: Expr, relative: Fraction = RELATIVE) -> Expr:
    """1 where a result lost too much."""
    fine = raw(LE, (lost, raw(MUL, (const(relative), _size(value)))))
    either = raw(ir.OR, (fine, raw(LE, (lost, const(ABSOLUTE)))))
    return raw(WHERE, (either, ZERO, ir.ONE))


def _of_quotient(args: list[Expr], value: Expr, below: list[Expr]) -> Expr:
    (x, y), size = args, _size(args[1])
    passed = added_up((below[0], _times(value, below[1])))
    small = ir.or_(_is_tiny(value), _is_tiny(x))
    by = ir.rational(y)
    once = const(ONCE * (1 + 1 / abs(by))) if by else raw(
        ADD, (const(ONCE), raw(DIV, (const(ONCE), size)))
    )  # fmt: skip
    own = _where(_not_zero((x,), below), small, once)
    if by is None:  # its reciprocal has lost digits
        own = raw(WHERE, (raw(LE, (size, const(1 / TINY))), own, INF))
    if passed is ZERO:
        return own
    return added_up((raw(DIV, (passed, size)), own))


def _of_power(n: Expr, x: Expr, value: Expr, below: Expr) -> Expr:
    q = ir.rational(n.args[1])
    assert q is not None
    if q > 0 and q.denominator == 1:
        own = _where(_not_zero((x,), (below,)), _is_tiny(value), const(ONCE))
    else:
        safe = [raw(LE, (const(TINY), _size(e))) for e in (x, value)]
        safe += [raw(LE, (_size(e), const(1 / TINY))) for e in (x, value)]
        fine = safe[0]
        for e in safe[1:]:
            fine = raw(ir.AND, (fine, e))
        own = raw(WHERE, (fine, ZERO, INF))
    if below is ZERO:
        return own
    slope = x if q == 2 else raw(DIV, (value, x))
    return added_up((_times(raw(MUL, (const(abs(q)), slope)), below), own))


def _infinite(lost: Expr) -> Expr:
    """Infinite unless nothing was lost."""
    return raw(WHERE, (raw(LE, (lost, ZERO)), ZERO, INF))


def _size(e: Expr) -> Expr:
    """The magnitude; of a literal a float, as an integer beyond 64 bits is none of a kernel's
    integers."""
    q = ir.rational(e)
    return raw(ABS, (e,)) if q is None else const(abs(q))


def _is_tiny(e: Expr) -> Expr:
    return raw(LT, (_size(e), const(TINY)))


def _not_zero(given: Sequence[Expr], lost: Sequence[Expr]) -> Expr:
    """Whether none of the values is exactly 0: a value that vanished with a loss is not."""
    found: Expr = ir.TRUE
    for e, x in zip(given, lost, strict=False):
        if ir.rational(e) is None:
            found = ir.and_(found, raw(LT, (ZERO, added_up((_size(e), x)))))
    return found


def _where(here: Expr, small: Expr, once: Expr) -> Expr:
    return raw(WHERE, (small if here is ir.TRUE else raw(ir.AND, (here, small)), once, ZERO))


def _times(x: Expr, lost: Expr) -> Expr:
    return ZERO if lost is ZERO else raw(MUL, (_size(x), lost))
