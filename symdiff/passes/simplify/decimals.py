"""Literals of programs as people wrote them.

Before:  3602879701896397/36028797018963968*x, 884279719003555/281474976710656*r**2
After:   x/10, pi*r**2

A literal of a program is the double that it denotes. Displayed formulas have the decimal
instead, which the text shows anyway: people write numbers with few digits, and
products of these have few digits, unlike products of doubles.

Requires: formulas.
Ensures: formulas whose values differ by less than one part in 10**12 at points where both are
known, or the given ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from flint import arb

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.balls import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import CONST, Expr
from symdiff.ir.functions import PI
from symdiff.passes.simplify.check import ordinary_points

DIGITS = 12
"""Numbers with more digits were not written by people."""
SIMPLE = 64
"""The largest numerators and denominators of multiples of pi."""
BITS = 42
"""The most bits of quotients that were computed from literals: one in a thousand
numbers is that close to such a quotient by chance."""
PRECISION = 192
NEAR = Fraction(1, 2**50)
"""The largest relative distance of a decimal from its double."""
SAME = arb(10) ** -12

_PI = Fraction(math.pi)
_DECIMAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+)(?![\w.])")


def as_written(outputs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The formulas with decimals, and multiples of pi, for the doubles that they denote."""
    outputs = tuple(outputs)
    new: dict[Expr, Expr] = {}
    for e in ir.topological(outputs):
        if e.op is CONST and (made := _written(e)) is not None:
            new[e] = made
    if not new:
        return outputs
    found = ir.substitute(outputs, new)
    return found if _alike(outputs, found) else outputs


def decimals_of(
    before: Sequence[Expr], after: Sequence[Expr], text: str = ""
) -> tuple[Fraction, ...]:
    """The numbers that were written as decimals, the shortest first.

    Parameters
    ----------
    before, after : formulas as captured, and by `as_written`.
    text : the source text, if that was a formula.
    """
    found = {Fraction(t) for t in _DECIMAL.findall(text)}
    known = set(ir.topological(before))
    for e in ir.topological(after):
        q = ir.rational(e)
        if q is not None and e not in known and 10**DIGITS % q.denominator == 0:
            found.add(abs(q))
    return tuple(sorted(found - {Fraction(0), Fraction(1)}, key=lambda q: (len(str(q)), q)))


def _written(e: Expr) -> Expr | None:
    q = ir.rational(e)
    if q is None or (q.denominator == 1 and abs(q) < 2**53):
        return None
    if q.denominator & (q.denominator - 1) == 0 or abs(q) >= 2**53:
        decimal = Fraction(Decimal(f"{float(q):.{DIGITS}g}")) if _is_double(q) else q
        if decimal != q and abs(decimal - q) <= NEAR * abs(q):
            return ir.const(decimal)
    elif (near := _simple(q)) is not None:
        return ir.const(near)
    for multiple, made in ((q / _PI, PI()), (q * _PI, ir.div(ir.ONE, PI()))):
        if max(abs(multiple.numerator), multiple.denominator) <= SIMPLE:
            return ir.mul(ir.const(multiple), made)
    return None


def _simple(q: Fraction) -> Fraction | None:
    """A quotient of numbers with few digits that is as close as products of a few doubles are to
    those of their decimals."""
    if q.numerator.bit_length() + q.denominator.bit_length() < 64:
        return None
    for largest in (10**3, 10**5, 10**7):
        found = q.limit_denominator(largest)
        small = found.numerator.bit_length() + found.denominator.bit_length() <= BITS
        if found and small and abs(found - q) <= NEAR * abs(q):
            return found
    return None


def _is_double(q: Fraction) -> bool:
    """Whether a number is within the range of doubles."""
    return Fraction(2) ** -1000 < abs(q) < Fraction(2) ** 1000


def _alike(before: Sequence[Expr], after: Sequence[Expr]) -> bool:
    """Whether no point shows a difference: where numbers cancel, the values may consist of
    rounding only."""
    params = ir.variables((*before, *after))
    try:
        tape = Tape(params, (*before, *after))
    except (UnsupportedError, ValueError, NotImplementedError):
        return False
    with exclusive():
        for point in ordinary_points(len(params)):
            values = tape.run(point, PRECISION)
            roots = [values[i] for i in tape.roots]
            for a, b in zip(roots[: len(before)], roots[len(before) :], strict=True):
                if not isinstance(a, arb) or not isinstance(b, arb):
                    return False
                if a.is_finite() != b.is_finite():
                    return False
                if a.is_finite() and not bool(abs(a - b) <= SAME * (abs(a) + abs(b))):
                    if not (a.is_zero() and b.is_zero()):
                        return False
    return True
