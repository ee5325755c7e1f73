"""The first terms of the series of a formula at a point, as a formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.interpret.balls import Undecided
from symdiff.ir import Expr
from symdiff.series.coefficients import Coefficient, Number, is_zero, to_ball, to_expr, to_fraction
from symdiff.series.expansion import Expansion, Failure
from symdiff.series.laurent import OutOfBudget, Ramified

Terms = list[tuple[Fraction, Coefficient]]
"""Increasing exponents, and the nonzero coefficients."""


def first_terms(e: Expr, t: Expr, point: Coefficient, side: int, below: int) -> Expr:
    """The sum of the terms c*(t - point)**q with q < below.

    Other variables are parameters in general position: a coefficient is zero if it is
    identically zero. Callers hold `interpret.exclusive`.

    Parameters
    ----------
    point : a rational or a `Number`, or 1 or -1 times `math.inf`.
    side : 1 or -1 for the series on one side, in powers of (point - t) where it is -1; 0 for that
        of both sides, or of the one where the formula is defined.

    Raises
    ------
    Failure : where there is no such series, with the reason.
    """
    if isinstance(point, float):
        u = ir.var(f"1/{t.value}")
        (turned,) = ir.substitute((e,), {t: ir.const(int(math.copysign(1, point))) / u})
        size = t if point > 0 else ir.neg(t)
        return _sum(_one_side(turned, u, Fraction(0), 1, below), ir.ONE / size)
    at = to_expr(point) if isinstance(point, Number) else ir.const(to_fraction(point))
    if side:
        h = t - at if side > 0 else at - t
        return _sum(_one_side(e, t, point, side, below), h)
    found: dict[int, Terms] = {}
    outside = Failure("outside")
    for one in (1, -1):
        try:
            found[one] = _one_side(e, t, point, one, below)
        except Failure as failure:
            if failure.kind != "outside":
                raise
            outside = failure
    if not found:
        raise outside
    if len(found) == 2 and not _same(found[1], found[-1]):
        raise Failure("jump")
    (one, terms), *_ = found.items()
    return _sum(terms, t - at if one > 0 else at - t)


def taylor_coefficients(e: Expr, t: Expr, order: int) -> list[float]:
    """The coefficients of t**0 to t**order of the series of a formula of t alone at 0, rounded.

    Callers hold `interpret.exclusive`.

    Raises
    ------
    Failure : where both sides have no common series in natural powers, with the reason.
    """
    found: dict[int, Terms] = {}
    outside = Failure("outside")
    for one in (1, -1):
        expansion = Expansion(t, Fraction(0), one)
        try:
            found[one] = _terms(expansion, e, order + 1)
        except Ramified:
            raise Failure("branch point") from None
        except (OutOfBudget, RecursionError):
            raise Failure("undecided") from None
        except Failure as failure:
            if failure.kind != "outside":
                raise
            outside = failure
        else:
            if not expansion.sided:
                break
    if not found:
        raise outside
    if len(found) == 2 and not _same(found[1], found[-1]):
        raise Failure("jump")
    ((one, terms), *_) = found.items()
    if any(q < 0 or q.denominator != 1 for q, _ in terms):
        raise Failure("pole" if terms[0][0] < 0 else "branch point")
    values = [0.0] * (order + 1)
    for q, c in terms:
        value = float(to_ball(c).mid())
        values[int(q)] = -value if one < 0 and q.numerator % 2 else value
    return values


def _one_side(e: Expr, t: Expr, point: Coefficient, side: int, below: int) -> Terms:
    """The terms in h = side*(t - point) > 0."""
    generic, ramification = any(v is not t for v in ir.variables((e,))), 1
    while True:
        expansion = Expansion(t, point, side, ramification, generic)
        try:
            return _terms(expansion, e, below)
        except Ramified as more:
            ramification *= more.degree
        except (OutOfBudget, RecursionError):
            raise Failure("undecided") from None


def _terms(expansion: Expansion, e: Expr, below: int) -> Terms:
    r, stream = expansion.ramification, expansion.of(e)
    expansion.check(e, below)
    found: Terms = []
    for k in range(stream.low, below * r):
        c = stream.coefficient(k)
        try:
            if not is_zero(c):
                found.append((Fraction(k, r), c))
        except Undecided:
            raise Failure("undecided") from None
    return found


def _same(right: Terms, left: Terms) -> bool:
    """Whether both sides have one series in integer powers."""
    if [q for q, _ in right] != [q for q, _ in left]:
        return False
    try:
        return all(
            q.denominator == 1 and is_zero(c - (-d if q.numerator % 2 else d))
            for (q, c), (_, d) in zip(right, left, strict=True)
        )
    except Undecided:
        return False


def _sum(terms: Sequence[tuple[Fraction, Coefficient]], h: Expr) -> Expr:
    total: Expr = ir.ZERO
    for q, c in terms:
        total = total + to_expr(c) * ir.power(h, ir.const(q))
    return total
