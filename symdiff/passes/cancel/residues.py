"""The residues of numerators at zeros that they miss by the rounding of a literal, as polynomials.

Before:  sin(pi*x)/(x - 1), with the double next to pi, whose sine is 1.2e-16
After:   (sin(pi*x) - sin(pi))/(x - 1), which is removable

Requires: a numerator, a denominator, and a test for negligible values.
Ensures: the numerator minus the correction vanishes at each zero of the denominator that it
missed by negligible amounts, to the same order as the denominator; where it vanished
before, it still does. The correction is Hermite's interpolant of the residues. Residues with
branches or kinks are left alone: their size is known on one side only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ONE, POW, WHERE, ZERO, Expr
from symdiff.passes.analysis.bottlenecks import bottleneck
from symdiff.passes.analysis.zeros import Solution, sampled, value_there, zero_sets
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.differentiate import pushforward

MAX_ORDER = 4
"""Order of a zero up to which residues are computed."""

QUANTITY = ir.var("the quantity that vanishes")

Negligible = Callable[[Expr, dict[Expr, Fraction]], bool]
"""Whether a formula has no value at a point only because of rounded literals."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The excess of a numerator, and the zero that it missed."""

    polynomial: Expr
    zero: Solution


@dataclass(frozen=True, slots=True)
class _Missed:
    """A zero of the denominator, and the numerator's first Taylor coefficients there."""

    solution: Solution
    coefficients: tuple[Expr, ...]

    @property
    def root(self) -> Expr:
        return next(iter(self.solution.values()))

    @property
    def exact(self) -> bool:
        return all(c is ZERO for c in self.coefficients)


def correction(numerator: Expr, denominator: Expr, negligible: Negligible) -> Correction | None:
    """The correction to subtract from the numerator; None if it is zero, or unknown.

    Where both depend on the variables through one quantity only, as x**2 + y**2, the
    polynomial is one in that, or in its root if roots of it occur."""
    t = bottleneck((numerator, denominator), denominator)
    if t is None:
        return _polynomial(numerator, denominator, negligible)
    n, d = ir.substitute((numerator, denominator), {t: QUANTITY})
    for changed, quantity, least in ((_by_root(n, d), ir.sqrt(t), 0), ((n, d), t, -math.inf)):
        if changed is not None and (found := _polynomial(*changed, negligible, least)):
            (polynomial,) = ir.substitute((found.polynomial,), {QUANTITY: quantity})
            (root,) = found.zero.values()
            return Correction(polynomial, {quantity: root})
    return None


def _by_root(n: Expr, d: Expr) -> tuple[Expr, Expr] | None:
    """Formulas of the quantity as formulas of its root, if they contain that."""
    roots = False

    def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
        nonlocal roots
        if e is QUANTITY:
            return QUANTITY**2
        q = ir.rational(e.args[1]) if e.op is POW and e.args[0] is QUANTITY else None
        if q is not None and q.denominator == 2:
            roots = True
            return ir.power(QUANTITY, ir.const(2 * q))
        return ir.rebuild(e, args)

    n, d = ir.transform((n, d), rule)
    return (n, d) if roots else None


def _polynomial(
    numerator: Expr, denominator: Expr, negligible: Negligible, least: float = -math.inf
) -> Correction | None:
    """The same in the only variable of the zeros, if it is at least `least`."""
    solutions = [s for s in zero_sets(denominator) if len(s) == 1]
    solutions = [s for s in solutions if all((ir.rational(r) or 0) >= least for r in s.values())]
    variables = {v for s in solutions for v in s}
    if len(variables) != 1:
        return None
    (v,) = variables
    met = [_missed(numerator, denominator, s, negligible) for s in solutions]
    places = [m for m in met if m is not None and m.coefficients]
    missed = [m for m in places if not m.exact]
    if not missed or (len(places) > 1 and any(ir.rational(m.root) is None for m in places)):
        return None
    total = ZERO
    for m in missed:
        total = total + _term(m, [p for p in places if p is not m], v)
    return Correction(total, missed[-1].solution)


def _missed(
    numerator: Expr, denominator: Expr, solution: Solution, negligible: Negligible
) -> _Missed | None:
    """The coefficients below the order of the denominator's zero. If one of them is not
    negligible, the preceding ones, which are zero."""
    ((v, _),) = solution.items()
    points = list(sampled(solution, ir.variables((numerator, denominator))))
    if not points:
        return None
    found: list[Expr] = []
    exact = 0
    for k in range(MAX_ORDER):
        if k and ir.substitute((denominator,), solution)[0] is not ZERO:
            return _Missed(solution, tuple(found))
        there = value_there(numerator, solution)
        if there is None:
            return None
        (value,) = cancel((there,))
        if value is ZERO:
            exact += exact == k
        elif not _is_smooth(value) or not all(negligible(numerator, p) for p in points):
            return _Missed(solution, (ZERO,) * exact)
        found.append(value / ir.const(math.factorial(k)))
        numerator, denominator = pushforward((numerator, denominator), {v: ONE})
    return None


def _is_smooth(value: Expr) -> bool:
    """Whether a residue has one formula everywhere: points see one branch of a piecewise one,
    as 0 in `where(k < 2, 0, v)`, but not the others."""
    return not any(
        n.op is WHERE or n.op.boolean or n.op.live or n.op.kink or n.op.cut
        for n in ir.topological((value,))
        if n.args
    )


def _term(m: _Missed, others: list[_Missed], v: Expr) -> Expr:
    """The polynomial with the given coefficients at one place and zeros at the others."""
    root = ir.rational(m.root)
    weight, inverse = ONE, [Fraction(1)] + [Fraction(0)] * (len(m.coefficients) - 1)
    for o in others:
        p = ir.rational(o.root)
        assert root is not None and p is not None
        gap = root - p
        for _ in o.coefficients:
            weight = weight * ((v - o.root) / ir.const(gap))
            for k in range(1, len(inverse)):  # divide the series by 1 + h/gap
                inverse[k] -= inverse[k - 1] / gap
    total = ZERO
    for k in range(len(m.coefficients)):
        c = ZERO
        for j in range(k + 1):
            c = c + m.coefficients[j] * ir.const(inverse[k - j])
        total = total + c * ir.power(v - m.root, k)
    return total * weight
