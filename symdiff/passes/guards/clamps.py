"""Clamps and epsilons: quantities that are kept away from 0.

Before:  copysign(max(abs(u), 1e-8), u)
After:   it is u, except for abs(u) < 1e-8, where it is copysign(1e-8, u)

Requires: any DAG. Ensures: only reads it; a node that may not be a clamp is none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ABS, ADD, CONST, MUL, NEG, SIGN, SUB, TRUE, VAR, WHERE, Expr
from symdiff.ir.functions import COPYSIGN, EXTREMES, MAXIMA
from symdiff.passes.guards.shape import TINY, positive
from symdiff.passes.guards.verdicts import QUANTITY

MAX_LOOKED = 40
"""The most nodes of a clamp."""
MAX_QUANTITIES = 6
"""The most nodes to try as the quantity that it keeps away from 0."""
MAX_DENOMINATOR = 1000
LEAST, ROUNDED = Fraction(1e-7), Fraction(2) ** -50
"""A constant this close to such a fraction may be the fraction plus an epsilon."""
_STEPS = (WHERE, ABS, COPYSIGN, SIGN, NEG, ADD, SUB, MUL, *EXTREMES)
_SIZES = (CONST, VAR, NEG, ABS, *EXTREMES)
"""Operations in compared expressions, so that pieces begin and end at constants only."""


class Clamp(NamedTuple):
    """The condition under which it acts (`TRUE`: always, as an epsilon), the value then, and the
    quantity otherwise; the largest change by it."""

    condition: Expr
    inside: Expr
    plain: Expr
    epsilon: Fraction


def clamp_of(e: Expr) -> Clamp | None:
    """max(u, eps) and the like, and branches that replace a quantity by a constant; u + eps, and u
    + eps*sign(u); and forms that also keep the sign of u, as copysign(max(abs(u), eps), u)."""
    if e.op in EXTREMES:
        for c, u in (e.args, e.args[::-1]):
            if (q := ir.rational(c)) is not None and 0 < abs(q) <= TINY:
                return Clamp(ir.lt(u, c) if e.op in MAXIMA else ir.lt(c, u), c, u, abs(q))
    if e.op is WHERE:
        condition, a, b = e.args
        for holds, c, u in ((condition, a, b), (positive(ir.not_(condition)), b, a)):
            if (q := ir.rational(c)) is not None and u.op is not CONST and holds.op is not ir.OR:
                return Clamp(holds, c, u, abs(q))
    if e.op in (ADD, SUB):
        if (added := _added(e)) is not None:
            return added
        for u, term in (e.args, e.args[::-1]):
            if u.op is not CONST and 0 < (size := _step(term)) <= TINY:
                plain = u if u is e.args[0] or e.op is ADD else ir.neg(u)
                return Clamp(TRUE, e, plain, size)
    return _signed(e) if e.op in (WHERE, COPYSIGN, MUL) else None


def _added(e: Expr) -> Clamp | None:
    """An epsilon that was added to another constant, as in x - 1 + 1e-8."""
    for c in e.args:
        if q := ir.rational(c):
            r = q.limit_denominator(MAX_DENOMINATOR)
            if r and abs(r) * ROUNDED < abs(q - r) <= LEAST:
                return Clamp(TRUE, e, ir.substitute((e,), {c: ir.const(r)})[0], abs(q - r))
    return None


def is_clamped(condition: Expr, small: Expr, other: Expr) -> bool:
    """Whether a branch is the value of the other one at the end of the band of its condition, as
    when the code after `if abs(u) < eps: u = eps` was written out for both."""
    for n in ir.topological((condition,)):
        if n.op in (ir.LT, ir.LE, ir.EQ) and (q := ir.rational(n.args[1])) is not None:
            u = n.args[0].args[0] if n.args[0].op is ABS else n.args[0]
            if u.op is CONST or not 0 <= q <= TINY:
                continue
            ends = [a for a in _ends(small) if not q or {abs(b) for b in _values(a)} == {q}]
            made = {ir.substitute((other,), {u: end})[0] for end in ends}
            if made and made.issuperset(_sides(small)):
                return True
    return False


def _sides(e: Expr) -> list[Expr]:
    """The formula itself, or the sides of branches, if all of it are branches."""
    seen = {e}
    stack = [e]
    found: list[Expr] = []
    while stack and len(seen) < MAX_LOOKED:
        n = stack.pop()
        found += [n] if n.op is not WHERE else []
        new = [a for a in n.args[1:] if a not in seen] if n.op is WHERE else []
        seen.update(new)
        stack += new
    return found if not stack else [e]


def _ends(e: Expr) -> list[Expr]:
    """The small constants of a formula, their negatives, and branches between them."""
    order = ir.topological((e,))
    small = [n for n in order if n.op in (CONST, WHERE) and all(abs(q) <= TINY for q in _values(n))]
    return [n for n in small if 0 not in _values(n)]


def _values(e: Expr) -> list[Fraction]:
    """The value of a constant, or of branches between constants; 0 for other formulas."""
    return [ir.rational(s) or Fraction(0) for s in _sides(e)]


def _step(e: Expr) -> Fraction:
    """The size of a number with the sign of a node, or of a constant; 0 for other nodes."""
    factor, rest = ir.scaled(e)
    if rest.op is SIGN:
        return abs(factor)
    if rest.op is COPYSIGN:
        return abs(factor * (ir.rational(rest.args[0]) or Fraction(0)))
    ends = rest.args[1:] if rest.op is WHERE else (rest,)
    sizes = {abs(ir.rational(a) or Fraction(0)) for a in ends}
    return abs(factor) * sizes.pop() if len(sizes) == 1 else Fraction(0)


def _signed(e: Expr) -> Clamp | None:
    """A formula that is u, or u away from 0 by a small number, except near 0, where it is a small
    constant on each side."""
    for u in itertools.islice(_bases(e), MAX_QUANTITIES):
        if not _is_of(e, u):
            continue
        (m,) = ir.substitute((e,), {u: QUANTITY, ir.neg(u): -QUANTITY})
        if (ends := _piecewise(m)) is None:
            continue
        epsilon, above, below, moved = ends
        inside = ir.const(above)
        if below != above:
            inside = ir.where(ir.lt(u, ir.ZERO), ir.const(below), inside)
        if moved:
            return Clamp(TRUE, e, u, epsilon)
        return Clamp(ir.lt(ir.abs_(u), ir.const(epsilon)), inside, u, epsilon)
    return None


def _is_of(e: Expr, u: Expr) -> bool:
    """Whether e is a short formula of u alone."""
    own = {u, ir.neg(u)}
    others = (n for n in ir.reached((e,), lambda n: () if n in own else n.args) if n not in own)
    return all(n.op is not VAR and k < MAX_LOOKED - 2 for k, n in enumerate(others))


_inner = ir.through(*_STEPS)


def _bases(e: Expr) -> Iterator[Expr]:
    """The quantities that a clamp may bound."""
    nodes = (n for n in ir.reached((e,), lambda n: _inner(n)[::-1]) if n.op is not CONST)
    for n in itertools.islice(nodes, MAX_LOOKED):
        if n.op in (ABS, SIGN, COPYSIGN, *EXTREMES, WHERE):
            inner = n.args[1:] if n.op in (COPYSIGN, WHERE) else n.args
            yield from (a for a in inner if a.op is not CONST and a.op not in (ABS, *EXTREMES))


def _piecewise(m: Expr) -> tuple[Fraction, Fraction, Fraction, bool] | None:
    """For a function of `QUANTITY` that equals it beyond a small number: that number, the values
    below it on both sides of 0; and whether instead it is farther from 0 by that number everywhere.
    None for other functions."""
    order = ir.topological((m,))
    if len(order) > MAX_LOOKED or ir.variables((m,)) != [QUANTITY]:
        return None
    products = 0
    for n in order:
        if n.op in (*ir.COMPARISONS, *EXTREMES):
            if not all(k.op in _SIZES for k in ir.topological(n.args)):
                return None
        elif n.args and n.op not in (*_STEPS, ir.AND, ir.OR, ir.NOT):
            return None
        products += n.op is MUL
    ends = sorted({abs(q) for n in order if (q := ir.rational(n)) is not None} - {Fraction(0)})
    small = [q for q in ends if q <= TINY]
    if len(small) != 1 or products > 2:
        return None
    (epsilon,) = small
    parts = [Fraction(0), *ends, 8 * ends[-1]]
    pieces = [(a, b) for a, b in itertools.pairwise(parts)]
    shares = [Fraction(k, 5) for k in range(1, 5)]  # a product of two has degree 3 at most
    near: set[Fraction] = set()  # how much farther from 0 it is
    beyond: set[Fraction] = set()
    inside: tuple[set[Fraction], set[Fraction]] = (set(), set())
    for negative, (a, b) in itertools.product((0, 1), pieces):
        for share in shares:
            t = a + share * (b - a)
            t = -t if negative else t
            q = ir.rational(ir.substitute((m,), {QUANTITY: ir.const(t)})[0])
            if q is None:
                return None
            (near if b <= epsilon else beyond).add(t - q if negative else q - t)
            if b <= epsilon:
                inside[negative].add(q)
    at = ir.rational(ir.substitute((m,), {QUANTITY: ir.ZERO})[0])
    if not at or abs(at) > epsilon:
        return None
    if beyond == near == {epsilon}:
        return epsilon, at, at, True
    if beyond != {0} or any(len(values) != 1 or abs(max(values)) > epsilon for values in inside):
        return None
    return epsilon, inside[0].pop(), inside[1].pop(), False
