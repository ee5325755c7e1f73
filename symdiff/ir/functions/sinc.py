"""Sines of multiples of pi."""

from __future__ import annotations

from symdiff.ir import HALF, ONE, ZERO, Expr, Op, const, div, eq, mul, where
from symdiff.ir.functions.columns import at_zero, even
from symdiff.ir.functions.named_numbers import PI
from symdiff.ir.functions.selection import FLOOR, ROUND
from symdiff.ir.functions.trigonometric import COS, SIN


def sin_pi(x: Expr) -> Expr:
    """sin(pi*x), with whole turns subtracted before pi is rounded."""
    n = ROUND(x)
    odd = n - mul(const(2), FLOOR(mul(HALF, n)))
    return mul(ONE - mul(const(2), odd), SIN(mul(PI(), x - n)))


def _sinc_partial(x: Expr) -> tuple[Expr]:
    t = mul(PI(), x)
    return (div(COS(t) - SINC(x), x),)


SINC: Op = Op(
    "sinc", 1,
    partials=_sinc_partial,
    simplify=even("sinc"), fold=at_zero(1),
    names=("numpy.sinc",),
    sympy=lambda sp, x: sp.sinc(sp.pi * x),
    python="np.sinc({0})",
    expand=lambda x: where(eq(x, ZERO), ONE, div(sin_pi(x), mul(PI(), x))),
    ball=lambda x: x.sinc_pi(), flint="arb_sinc_pi",
)  # fmt: skip

ENTRIES: tuple[Op, ...] = (
    SINC,
)  # fmt: skip
