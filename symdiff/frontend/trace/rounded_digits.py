"""Numbers rounded to decimal digits as Python rounds them: by their exact decimals.

Before:  round(x, 2)
After:   round(100*x)/100, but where the double of 100*x is in the middle of two integers on the side on which
         the exact product is: round(2.675, 2) is 2.67, as the double 2.675 is a little less
"""

from __future__ import annotations

from symdiff import ir
from symdiff.frontend.trace.values import Real, written
from symdiff.ir import Expr, functions
from symdiff.ir.plain import plain, real_op


def nearest(value: Real, scaled: Real, scale: int, found: Real) -> Real:
    """A scaled number rounded as Python does, which rounds its decimals: where the double of it is in the middle
    of two integers, what it was rounded by says to which side."""
    x, by, y = written(value), ir.const(scale), written(scaled)
    if scale > 10**22:  # which is no double
        return found
    off = _error(x, by, y) if real_op(y.op) is ir.MUL else _rest(x, y, by)
    below = functions.FLOOR(y)
    middle = ir.eq(plain(ir.SUB, y, below), ir.HALF)
    up, down = ir.and_(middle, ir.lt(ir.ZERO, off)), ir.and_(middle, ir.lt(off, ir.ZERO))
    return Real(ir.where(up, functions.CEIL(y), ir.where(down, below, found.expr)), found.defined)


def _error(a: Expr, b: Expr, product: Expr) -> Expr:
    """What a product of two doubles was rounded by (Veltkamp and Dekker, 1971)."""
    (high, low), (top, rest) = _halves(a), _halves(b)
    parts = plain(ir.SUB, plain(ir.MUL, high, top), product)
    for u, v in ((high, rest), (low, top), (low, rest)):
        parts = plain(ir.ADD, parts, plain(ir.MUL, u, v))
    return parts


def _rest(a: Expr, quotient: Expr, b: Expr) -> Expr:
    """The remainder of a dividend: its sign is that of the rounding error of the quotient."""
    product = plain(ir.MUL, quotient, b)
    return plain(ir.SUB, plain(ir.SUB, a, product), _error(quotient, b, product))


def _halves(x: Expr) -> tuple[Expr, Expr]:
    """A double as the sum of two of 26 bits."""
    large = plain(ir.MUL, ir.const(2**27 + 1), x)
    high = plain(ir.SUB, large, plain(ir.SUB, large, x))
    return high, plain(ir.SUB, x, high)
