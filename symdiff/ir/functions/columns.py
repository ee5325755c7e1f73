"""What entries of several families say alike."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import ABS, NEG, OPS, Expr, neg


def at_zero(value: int) -> Callable[..., Fraction | None]:
    """Fold f(0) = value."""
    return lambda x: Fraction(value) if x == 0 else None


def odd(op_name: str) -> Callable[[Expr], Expr | None]:
    """f(-x) = -f(x)."""
    return lambda x: neg(OPS[op_name](x.args[0])) if x.op is NEG else None


def even(op_name: str) -> Callable[[Expr], Expr | None]:
    return lambda x: OPS[op_name](x.args[0]) if x.op in (NEG, ABS) else None


def flint() -> Any:
    import flint

    return flint


def like_its_argument(name: str) -> Callable[[Any], Any]:
    """The ball of a function with |f(x)/x - 1| <= |x| near 0. Where the exponent of x is a
    long number, FLINT has few digits of it."""

    def ball(x: Any) -> Any:
        library = flint()
        if x.abs_upper() < library.arb(2) ** (-4 * library.ctx.prec):
            return x * (1 + x * library.arb(0, 1))
        return getattr(x, name)()

    return ball
