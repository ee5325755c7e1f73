"""Numbers rounded to decimal digits as Python rounds them: by their exact decimals.

Before:  round(x, 2)
After:   round(100*x)/100; where the double of 100*x is halfway between two integers, rounded to the
         side of the exact product: round(2.675, 2) is 2.67, as the double 2.675 is a little less
"""

from __future__ import annotations

from symdiff import ir
from symdiff.frontend.trace.values import Real, written
from symdiff.ir import Expr, functions
from symdiff.ir.plain import plain, real_op


def nearest(value: Real, scaled: Real, scale: int, found: Real) -> Real:
    """A scaled number rounded as in Python, which rounds the exact decimal: where the scaled double
    is halfway between two integers, its rounding error decides."""
    x, by, y = written(value), ir.const(scale), written(scaled)
    if scale > 10**22:  # not a double
        return found
    off = _error(x, by, y) if real_op(y.op) is ir.MUL else _rest(x, y, by)
    below = functions.FLOOR(y)
    past = plain(ir.SUB, plain(ir.SUB, y, below), ir.HALF)  # 0, or above the rounding error of y
    sign = plain(ir.MUL, plain(ir.ADD, past, off), ir.const(2**126))
    part = functions.MAXIMUM(ir.neg(ir.HALF), functions.MINIMUM(ir.HALF, sign))
    rounded = functions.ROUND(plain(ir.ADD, below, plain(ir.ADD, ir.HALF, part)))
    return Real(rounded, found.defined)


def _error(a: Expr, b: Expr, product: Expr) -> Expr:
    """The rounding error of a product of two doubles (Veltkamp and Dekker, 1971)."""
    (high, low), (top, rest) = _halves(a), _halves(b)
    parts = plain(ir.SUB, plain(ir.MUL, high, top), product)
    for u, v in ((high, rest), (low, top), (low, rest)):
        parts = plain(ir.ADD, parts, plain(ir.MUL, u, v))
    return parts


def _rest(a: Expr, quotient: Expr, b: Expr) -> Expr:
    """The rounding error of a quotient of two doubles: the remainder, divided."""
    product = plain(ir.MUL, quotient, b)
    remainder = plain(ir.SUB, plain(ir.SUB, a, product), _error(quotient, b, product))
    return plain(ir.DIV, remainder, b)


def _halves(x: Expr) -> tuple[Expr, Expr]:
    """A double as the sum of two numbers of 26 bits."""
    large = plain(ir.MUL, ir.const(2**27 + 1), x)
    high = plain(ir.SUB, large, plain(ir.SUB, large, x))
    return high, plain(ir.SUB, x, high)
