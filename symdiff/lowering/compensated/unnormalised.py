"""Unnormalised pairs of doubles, for functions with their rounding errors.

Before:  the coefficients of a polynomial
After:   its value at a pair as a value and what is to be added to it

Requires: doubles and pairs of them, `value + error`, where the error is relatively small.
Ensures: a few units of 2**-53 of the error, which is 2**-53 or so of the value itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from symdiff.ir import ONE, ZERO, Expr, const
from symdiff.lowering.double_double.arithmetic import (
    Pair,
    expansion,
    fast_two_sum,
    fma,
    minus_of,
    over,
    pick,
    plus,
    times,
    two_sum,
)
from symdiff.lowering.target import nearest


class Unnormalised(NamedTuple):
    """A function at a double: value + error, and its derivative to a few bits less than
    a double has."""

    value: Expr
    error: Expr
    slope: Expr


def polynomial(z: Pair, coefficients: Sequence[Fraction], full: int) -> Pair:
    """The sum of c[k] * z**k, where the first `full` steps of Horner's rule are
    computed with their errors; their constants must be larger than what they are added to."""
    tail = const(Fraction(nearest(coefficients[-1])))
    for c in reversed(coefficients[full:-1]):
        tail = fma(tail, z.hi, const(Fraction(nearest(c))))
    value = Pair(tail, ZERO)
    for c in reversed(coefficients[:full]):
        hi, lo = expansion(c, 2)
        step = times(z.hi, value.hi)
        lost = fma(z.hi, value.hi, minus_of(step))
        s = fast_two_sum(hi, step)
        low = fma(z.hi, value.lo, plus(lost, s.lo)) if value.lo is not ZERO else plus(lost, s.lo)
        if z.lo is not ZERO:
            low = fma(z.lo, value.hi, low)
        value = Pair(s.hi, low if lo is ZERO else plus(low, lo))
    return value


def product(x: Pair, y: Pair) -> Pair:
    """x*y, of unnormalised pairs."""
    p = times(x.hi, y.hi)
    low = fma(x.hi, y.hi, minus_of(p))
    low = low if y.lo is ZERO else fma(x.hi, y.lo, low)
    return Pair(p, low if x.lo is ZERO else fma(x.lo, y.hi, low))


def total(x: Pair, y: Pair) -> Pair:
    s = two_sum(x.hi, y.hi)
    low = s.lo if x.lo is ZERO else plus(s.lo, x.lo)
    return Pair(s.hi, low if y.lo is ZERO else plus(low, y.lo))


def quotient(x: Pair, y: Pair) -> Pair:
    inverse = over(ONE, y.hi)
    q = times(x.hi, inverse)
    rest = plus(fma(minus_of(q), y.hi, x.hi), x.lo)
    return Pair(q, times(fma(minus_of(q), y.lo, rest), inverse))


def square(x: Expr) -> Pair:
    s = times(x, x)
    return Pair(s, fma(x, x, minus_of(s)))


def ordered(x: Pair) -> Pair:
    return fast_two_sum(x.hi, x.lo)


def short(q: Fraction, bits: int) -> tuple[Fraction, list[Expr]]:
    """The leading bits of a constant, and two doubles that hold the rest."""
    exponent = math.frexp(nearest(q))[1]
    unit = Fraction(2) ** (exponent - bits)
    head = round(q / unit) * unit
    return head, expansion(q - head, 2)


def signed(negative: Expr, x: Pair) -> Pair:
    """Minus x where a condition holds."""
    sign = pick(negative, const(-1), ONE)
    return Pair(times(x.hi, sign), times(x.lo, sign))
