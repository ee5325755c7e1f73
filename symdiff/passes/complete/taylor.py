"""Is a formula the first terms of another's series?

Before:  1 - x**2/6 and sin(x)/x at x = 0
After:   yes: its coefficients, up to its degree, are those of the series

Requires: formulas of the same variables, moved so that the point is 0.
Ensures: True only for polynomials; in one variable all coefficients up to the degree are
compared, in several the derivatives along each variable that leads away from the point, and
along two lines between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.interpret import Certified, exclusive
from symdiff.ir import Expr
from symdiff.passes.differentiate import pushforward
from symdiff.series import Germs, OutOfBudget
from symdiff.series.coefficients import to_ball

MAX_DEGREE, MAX_SLOPES = 10, 3
"""The largest degree of a polynomial in one variable; in several, along a line."""
SAME = 2.0**-45
"""Coefficients that are closer than this, relatively, are equal."""
WORK = 400_000
"""Operations for one proof; see `symdiff.interpret.work`."""
SLANTED = tuple(
    tuple(ws[(i + shift) % 3] for i in range(6))
    for shift in (0, 1)
    for ws in [(Fraction(1), Fraction(-5, 8), Fraction(3, 4))]
)
"""Directions between variables."""


def is_taylor(small: Expr, other: Expr, params: Sequence[Expr], varied: Sequence[Expr]) -> bool:
    """Whether `small` is a polynomial, the first terms of the series of `other` at 0 by
    the variables in `varied`."""
    if len(params) == 1:
        return _in_one_variable(small, other, params[0])
    lines = [{v: ir.ONE} for v in varied]
    if len(varied) > 1:
        lines += [{v: ir.const(w) for v, w in zip(varied, ws, strict=False)} for ws in SLANTED]
    return all(_along(small, other, params, line) for line in lines)


def _in_one_variable(small: Expr, other: Expr, v: Expr) -> bool:
    nodes = [n for n in ir.topological((small, other)) if ir.variables((n,))]
    try:
        germs = Germs(v, Fraction(0), nodes)
        if not germs.germs[small].kind == germs.germs[other].kind == "analytic":
            return False
        with exclusive():
            own, true = (
                [to_ball(germs.coefficient(e, k)) for k in range(MAX_DEGREE + 2)]
                for e in (small, other)
            )
    except (OutOfBudget, ArithmeticError, RecursionError, KeyError):
        return False
    degree = max((k for k, c in enumerate(own) if not c.is_zero()), default=0)
    pairs = list(zip(own, true, strict=True))[: degree + 1]
    return degree <= MAX_DEGREE and all(abs(a - b) <= SAME * abs(b) for a, b in pairs)


def _along(small: Expr, other: Expr, params: Sequence[Expr], line: Mapping[Expr, Expr]) -> bool:
    for _ in range(MAX_SLOPES + 1):
        small, other = pushforward((small, other), line)
        if small is ir.ZERO:
            return True
        program = Certified(params, [other, small], (), WORK)
        true, own = program.at_with_status([0.0] * len(params))
        if true.status not in ("exact", "limit") or own.status != "exact":
            return False
        if abs(own.value - true.value) > SAME * abs(true.value):
            return False
    return False
