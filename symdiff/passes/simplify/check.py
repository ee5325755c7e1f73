"""Is a shorter formula equal to what it replaces? Tried at points, in ball arithmetic.

Requires: two formulas.
Ensures: False if some point proves that they differ, or that the second is undefined where the
first is defined. Points are of all sizes and signs, and on edges: zeros, ones, equal values.
Each rewrite is an identity to start with; this is the second line.
"""

from __future__ import annotations

import random
from fractions import Fraction

from flint import arb

from symdiff import ir
from symdiff.errors import UnsupportedError
from symdiff.interpret.balls import exclusive
from symdiff.interpret.flat import Tape
from symdiff.ir import Expr
from symdiff.ir.formula_text import factors

ENOUGH, MOST = 6, 40
"""Ordinary points at which both must be known, and points tried for that."""
EDGES = (Fraction(0), Fraction(1), Fraction(-1))
"""Each variable takes these values in turn, while the others are positive, and are anything."""
PRECISION = 128
TINY = arb(2) ** -80


def equal(before: Expr, after: Expr, strict: bool = True) -> bool:
    """Whether no point tells the two apart, and some point was seen at which both are known;
    strict: the second must also have the domain of the first."""
    inputs = ir.variables((before,))
    if not set(ir.variables((after,))) <= set(inputs):
        return False
    try:
        tape = Tape(inputs, ir.transform((before, after), _above))
    except (UnsupportedError, ValueError, NotImplementedError):
        return False
    rng, seen = random.Random(len(inputs)), 0
    with exclusive():
        for k in range(MOST + 2 * len(EDGES) * len(inputs)):
            edge = k >= MOST
            if not edge and (seen >= ENOUGH or (k and not inputs)):
                continue
            point = [arb(q.numerator) / q.denominator for q in _point(rng, len(inputs), k)]
            verdict = _verdict(tape, point, edge, strict)
            if verdict is False:
                return False
            seen += verdict is True and not edge
    return seen > 0


def _above(e: Expr, args: tuple[Expr, ...]) -> Expr:
    """Powers with symbols as exponents above the line: `1/x**a` is written for `x**(-a)`, which
    is 0 at 0 if -a is positive."""
    if e.op is not ir.DIV:
        return ir.rebuild(e, args)
    unit, found = factors(args[1])
    powers = [(b, x) for b, x in found if ir.rational(x) is None]
    if not powers:
        return ir.rebuild(e, args)
    top, bottom = args[0], ir.const(unit)
    for b, x in found:
        if (b, x) in powers:
            top = ir.mul(top, ir.power(b, ir.neg(x)))
        else:
            bottom = ir.mul(bottom, ir.power(b, x))
    return ir.div(top, bottom)


def _verdict(tape: Tape, point: list[arb], edge: bool, strict: bool) -> bool | None:
    """Whether the two are equal at a point; None if that is not known."""
    values = tape.run(point, PRECISION)
    a, b = (values[i] for i in tape.roots)
    if not isinstance(a, arb) or not isinstance(b, arb):
        return False
    if a.is_finite() and b.is_finite():
        if not a.overlaps(b):
            return False
        known = all(bool(v.rad() <= TINY * (1 + abs(v))) for v in (a, b))
        return True if known else None
    if a.is_finite():  # the second formula must not be undefined there
        return None if tape.trouble(tape.roots[1], values) == "undecided" else False
    if strict and b.is_finite() and not edge and tape.trouble(tape.roots[0], values) == "domain":
        return False  # the first has a domain that the second lost
    return None


def _point(rng: random.Random, count: int, k: int) -> list[Fraction]:
    """Values at which formulas differ if they do: ordinary ones, then edges."""
    if k < MOST:
        if k < 4:  # positive, within (0, 1) for every other
            low, high = ((0.1, 0.9), (1.1, 3.0), (0.1, 3.0), (0.3, 0.7))[k]
            return [Fraction(rng.uniform(low, high)) for _ in range(count)]
        size = (1.0, 3.0, 0.9, 8.0)[k % 4]
        return [Fraction(rng.uniform(-size, size)) for _ in range(count)]
    which, rest = divmod(k - MOST, 2 * len(EDGES))
    low = 1.1 if rest % 2 else -2.0
    point = [Fraction(rng.uniform(low, 3.0)) for _ in range(count)]
    point[which] = EDGES[rest // 2]
    return point
