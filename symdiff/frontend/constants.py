"""Deciding conditions between constants, such as `sin(1/2) < 1/3`, rigorously.

Exact rationals are decided when built. Others are enclosed in balls of growing
precision; two constants that stay within each other's balls are undecided.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from symdiff import ir
from symdiff.ir import Expr

PRECISIONS = (64, 256, 1024, 4096)

_closed: WeakKeyDictionary[Expr, bool] = WeakKeyDictionary()


def is_closed(e: Expr) -> bool:
    """Whether no variable occurs in `e`; remembered for every node it looks at."""
    if e.op is ir.VAR:
        return False
    if not e.args:
        return True
    if (known := _closed.get(e)) is not None:
        return known
    stack = [e]
    while stack:
        n = stack[-1]
        answer: bool | None = True
        for a in n.args:
            if a.args:
                value = _closed.get(a)
                if value is None:
                    stack.append(a)
                    answer = None
                    break
            else:
                value = a.op is not ir.VAR
            if not value:
                answer = False
                break
        if answer is not None:
            _closed[n] = answer
            stack.pop()
    return _closed[e]


_ARITHMETIC = {
    ir.ADD: lambda a, b: a + b,
    ir.SUB: lambda a, b: a - b,
    ir.MUL: lambda a, b: a * b,
    ir.DIV: lambda a, b: a / b,
    ir.NEG: lambda a: -a,
}


def _power(a: Any, b: Any, exponent: Expr) -> Any:
    n = ir.integer(exponent)
    return a**n if n is not None else a.sqrt() if exponent is ir.HALF else a**b


def _leaf(e: Expr) -> Any:
    import flint

    if e.op is ir.BOOL:
        return bool(e.value)
    q = ir.rational(e)
    if q is None:
        return flint.arb("nan")
    return flint.arb(flint.fmpq(q.numerator, q.denominator))


def _compare(e: Expr, a: Any, b: Any) -> bool | None:
    if e.op is ir.LT:
        return True if a < b else False if a >= b else None
    if e.op is ir.LE:
        return True if a <= b else False if a > b else None
    return False if a != b else True if a.is_exact() and b.is_exact() and a == b else None


def _connect(e: Expr, args: list[bool | None]) -> bool | None:
    if e.op is ir.NOT:
        return None if args[0] is None else not args[0]
    decisive = e.op is ir.OR
    if decisive in args:
        return decisive
    return None if None in args else not decisive


def _evaluate(root: Expr) -> Any:
    """The ball around a closed real expression, or a bool or None (undecided)."""
    import flint

    value: dict[Expr, Any] = {}
    for e in ir.topological((root,)):
        args = [value[a] for a in e.args]
        if not e.args and e.op.ball is None:
            value[e] = _leaf(e)
        elif e.op is ir.WHERE:
            value[e] = flint.arb("nan") if args[0] is None else args[1 if args[0] else 2]
        elif e.op in ir.COMPARISONS:
            value[e] = _compare(e, *args)
        elif e.op.boolean:
            value[e] = _connect(e, args)
        elif e.op is ir.POW:
            value[e] = _power(args[0], args[1], e.args[1])
        elif e.op in _ARITHMETIC:
            value[e] = _ARITHMETIC[e.op](*args)
        elif e.op.ball is not None:
            value[e] = e.op.ball(*args)
        else:
            value[e] = flint.arb("nan")
    return value[root]


def decide(condition: Expr) -> bool | None:
    """The truth of a condition without variables, proven; None if undecided."""
    import flint

    before = flint.ctx.prec
    try:
        for precision in PRECISIONS:
            flint.ctx.prec = precision
            answer = _evaluate(condition)
            if answer is not None:
                return bool(answer)
    finally:
        flint.ctx.prec = before
    return None


def integer_part(e: Expr) -> int | None:
    """A closed real rounded towards zero; None if undecided."""
    import flint

    if (q := ir.rational(e)) is not None:
        return int(q)
    before = flint.ctx.prec
    try:
        for precision in PRECISIONS:
            flint.ctx.prec = precision
            ball = _evaluate(e)
            floor = ball.floor()
            if floor.is_exact() and floor.is_finite():
                n = int(floor.unique_fmpz())
                return n if n >= 0 or ball == floor else n + 1
    finally:
        flint.ctx.prec = before
    return None
