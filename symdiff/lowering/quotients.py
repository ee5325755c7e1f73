"""The integer of `x // y` by one division and a fused product, where the target has one.

Before:  floor_quotient(x, y)
After:   q = floor(x/y); r = fma(-q, y, x); q - 1 if r has the wrong sign, else q

Requires: doubles. Ensures: the exact quotient of two doubles, rounded down, up to 2**53; the same as plain
Python for zeros and infinities. Beyond, the quotient is rounded, and error tests flag it. Targets without
`fma` use the `expand` column, which calls `fmod`.
"""

from __future__ import annotations

from collections.abc import Sequence

from symdiff.ir import (
    ABS,
    AND,
    DIV,
    EQ,
    INF,
    LT,
    NAN,
    NEG,
    NOT,
    ONE,
    OR,
    SUB,
    WHERE,
    ZERO,
    Expr,
    const,
    raw,
    topological,
    transform,
    with_args,
)
from symdiff.ir.functions import FLOOR, FLOOR_QUOTIENT
from symdiff.lowering.target import FMA


def fused_quotients(roots: Sequence[Expr]) -> tuple[Expr, ...]:
    """The roots with integer quotients in operations of processors."""
    if not any(e.op is FLOOR_QUOTIENT for e in topological(roots)):
        return tuple(roots)
    return transform(
        roots, lambda e, args: _quotient(*args) if e.op is FLOOR_QUOTIENT else with_args(e, args)
    )


def _quotient(x: Expr, y: Expr) -> Expr:
    """A rounded ratio reaches an integer from below, but does not pass it; the fused product tells."""
    ratio = raw(DIV, (x, y))
    q = raw(FLOOR, (ratio,))
    rest = raw(FMA, (raw(NEG, (q,)), y, x))
    positive, negative = raw(LT, (ZERO, y)), raw(LT, (y, ZERO))
    low = _if(positive, raw(LT, (rest, ZERO)), raw(LT, (ZERO, rest)))
    found = raw(WHERE, (low, raw(SUB, (q, ONE)), q))
    away = raw(
        OR, (raw(AND, (raw(LT, (x, ZERO)), positive)), raw(AND, (raw(LT, (ZERO, x)), negative)))
    )
    endless = raw(AND, (raw(EQ, (raw(ABS, (y,)), INF)), raw(LT, (raw(ABS, (x,)), INF))))
    unbounded = raw(AND, (raw(EQ, (raw(ABS, (x,)), INF)), raw(OR, (positive, negative))))
    far = raw(WHERE, (endless, raw(WHERE, (away, const(-1), ZERO)), ratio))
    far = raw(WHERE, (unbounded, NAN, far))
    return raw(WHERE, (raw(EQ, (rest, rest)), found, far))


def _if(c: Expr, a: Expr, b: Expr) -> Expr:
    """One of two conditions."""
    return raw(OR, (raw(AND, (c, a)), raw(AND, (raw(NOT, (c,)), b))))
