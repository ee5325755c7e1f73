"""Is a formula the first terms of another's series?

Before:  1 - x**2/6 and sin(x)/x at x = 0
After:   yes: its coefficients, up to its degree, are those of the series

Requires: formulas of one variable, moved so that the point is 0.
Ensures: True only for polynomials, of which all coefficients up to the degree are compared.
"""

from __future__ import annotations

from fractions import Fraction

from symdiff import ir
from symdiff.interpret import exclusive
from symdiff.ir import Expr
from symdiff.series import Germs, OutOfBudget
from symdiff.series.coefficients import to_ball

MAX_DEGREE = 10
"""The largest degree of a polynomial."""
SAME = 2.0**-45
"""Coefficients that are closer than this, relatively, are equal."""
WORK = 400_000
"""Operations for one proof; see `symdiff.interpret.work`."""


def is_taylor(small: Expr, other: Expr, v: Expr) -> bool:
    """Whether `small` is a polynomial, the first terms of the series of `other` at v = 0."""
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
