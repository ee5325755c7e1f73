"""Is a branch only a guard around a removable singularity, and is it right?

Before:  for x in (-1e-4, 1e-4), the value 1 - x**2/6 in place of sin(x)/x
After:   right: sin(x)/x tends to 1 at x = 0, and they agree to rounding

Requires: an interval of one quantity, or a point, and two formulas.
Ensures: "right" only if the other side is analytic at the one singular point of the interval, and the small side is
the limit there within 2 ulp and the other side's value within 4 ulp at all sampled points; or the small side is a
Taylor polynomial of the other (or constant) that differs little from it there ("coarse" if by more than single
precision). At a point other variables are parameters, with some values each of which must be right; in an interval
there are none, as they may be large. Values and limits come from ball arithmetic, being analytic from exact power
series.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.interpret import Answer, Certified, ulp_error
from symdiff.ir import ABS, MUL, POW, VAR, Expr
from symdiff.ir.functions import FILLED, SLOPES
from symdiff.passes.analysis.bottlenecks import Ways, is_small
from symdiff.passes.analysis.roots import loci, rational_roots
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.analysis.zeros import zero_sets
from symdiff.passes.complete.taylor import WORK, is_taylor
from symdiff.passes.guards.notes import Place, Solved
from symdiff.passes.guards.regions import Piece
from symdiff.passes.guards.shape import POINT, TINY, Part
from symdiff.series import Germs, OutOfBudget

QUANTITY = ir.var("the guarded quantity")
POINT_ULPS = 2
BAND_ULPS = 4
NARROW = 0.1
"""A band that is wider than this, relative to max(1, |x|), and whose values are far from the limit,
is a branch and no guard."""
CLOSE = 1e-3
FINE = 2.0**-23
"""Within this of it, the first terms of the series represent the whole band."""
VISIBLE = 2.0**-20
"""The least error of an epsilon that is reported."""
FRACTIONS = (1 - 2.0**-10, 0.9, 0.7, 0.45, 0.2, 0.05, 1e-3)
"""Parts of the radius of a band at which the two sides are compared."""
PARAMETERS = (
    (Fraction(5, 8), Fraction(7, 4), Fraction(18, 7)),
    (Fraction(-9, 7), Fraction(11, 9), Fraction(-7, 9)),
    (Fraction(3, 10), Fraction(-11, 20), Fraction(-4, 5)),
    (Fraction(2, 5), Fraction(1, 5), Fraction(3, 5)),
)
"""Values of parameters, in turn."""
MAX_PARAMETERS = 12
MAX_KNOWN = 4096
"""The most answers to keep: the same branches recur in each block and formula that is searched."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a guard.

    right : whether its value is the limit.
    singular : the singular point.
    where : where the guard is most wrong, or least right.
    got, truth, ulps : the guard's value there, the true one, and their distance.
    at_singular : whether that is the singular point.
    outside : whether the guard is also the value where the other side has none.
    coarse : whether it is right as the limit, but not as the value of the whole band.
    is_regular : whether the other side is not singular there: the guard is a shortcut, if it is right.
    """

    right: bool
    singular: Solved
    where: Place
    got: float
    truth: float
    ulps: float
    at_singular: bool
    outside: bool = False
    coarse: bool = False
    is_regular: bool = False


def verdict(
    part: Part, small: Expr, other: Expr, signs: Signs, clamped: bool = False
) -> Verdict | None:
    """The verdict on `where(part.condition, small, other)`; None: it is no guard, or that is open. The value of
    a clamp need not be the limit to rounding."""
    if part.quantity is None or not is_small((small, other)):
        return None
    found: list[Verdict] = []
    for form in _forms(part, small, other, signs):
        names = {
            v: ir.var(f"guarded {k}")
            for k, v in enumerate(ir.variables(form.sides))
            if v is not QUANTITY
        }
        if part.is_partial and names:
            return None  # other conditions may hold at other points of parameters
        band = form.piece.low != form.piece.high and bool(names)
        piece = _middle(form.piece, form.above) if band else form.piece
        if piece is None:
            return None
        one = _judged(ir.substitute(form.sides, names), piece, form.above, clamped)
        if one is None or ((form.is_loose or one.is_regular) and not one.right):
            return None
        if (band or form.is_band) and one.right:
            return None  # other variables may be large, so that it is not right in all of the band
        found.append(form.named(one))
    return min(found, key=lambda v: v.right) if found else None


@dataclass(frozen=True, slots=True)
class _Form:
    """Both sides as functions of `QUANTITY`, which stands for `quantity`; at 0 this is `variable` being `value`."""

    sides: tuple[Expr, ...]
    piece: Piece
    variable: Expr
    value: Expr | None = None
    above: bool = False  # never negative
    is_loose: bool = False  # parameters are not independent of the quantity
    is_band: bool = False  # of which this is the middle

    def named(self, v: Verdict) -> Verdict:
        ((_, q),) = v.where
        if self.value is not None:
            at = ir.rational(self.value)
            where = (
                ((self.variable, at + q),)
                if at is not None
                else ((ir.sub(self.variable, self.value), q),)
            )
            return replace(v, singular=((self.variable, self.value),), where=where)
        ((_, x),) = v.singular
        return replace(v, singular=((self.variable, x),), where=((self.variable, q),))


def _forms(part: Part, small: Expr, other: Expr, signs: Signs) -> Iterator[_Form]:
    """The guard as a function of the compared quantity, where all depends on it; a point where a quantity vanishes
    also along one variable, for each set of its zeros."""
    u, piece = part.quantity, part.piece
    assert u is not None
    ways = Ways((small, other))
    own = set(ir.variables((u,)))
    if u.op is VAR or ways.all_pass(u, own):
        yield _Form(
            ir.substitute((small, other), {u: QUANTITY}), piece, u, None, signs.nonnegative(u)
        )
        return
    if u.op is ABS:
        (w,) = u.args
        powers = (n for n in ir.topological((small, other)) if n.op is POW and n.args[0] is w)
        even = {
            n: ir.power(QUANTITY, n.args[1])
            for n in powers
            if (ir.integer(n.args[1]) or 1) % 2 == 0
        }
        made = ir.substitute((small, other), {u: QUANTITY, **even})
        if own.isdisjoint(ir.variables(made)):
            yield _Form(made, piece, u, None, True)
            return
    if piece.low != piece.high:
        root, power = _even_root(u)
        if root is not None and (root.op is VAR or ways.all_pass(root, own)):
            reach = Fraction(float(piece.high) ** (1 / power))
            made = ir.substitute((small, other), {root: QUANTITY})
            yield _Form(made, Piece(-reach, reach), root)
            return
    band = piece.low != piece.high
    if not _is_simple(u) or (middle := _middle(piece, signs.nonnegative(u))) is None:
        return
    for solution in zero_sets(ir.sub(u, ir.const(Fraction(middle.low)))):
        if len(solution) != 1:
            if band:
                return
            made = ir.substitute((small, other), {u: QUANTITY})
            if made[1] is not other:
                yield _Form(made, piece, u, None, signs.nonnegative(u), True)
            return
        ((v, value),) = solution.items()
        made = ir.substitute((small, other), {v: value + QUANTITY})
        yield _Form(made, POINT, v, value, is_band=band)


def _middle(piece: Piece, above: bool) -> Piece | None:
    """The middle of a thin interval, or what is no interval but a point."""
    low, high = Fraction(piece.low), Fraction(piece.high)
    if high - low > 2 * TINY:
        return None
    at = low if above and not low else (low + high) / 2
    return Piece(at, at, (True, True))


def _even_root(u: Expr) -> tuple[Expr | None, int]:
    """What an even power is the power of, and its exponent; None for other quantities."""
    if u.op is MUL and u.args[0] is u.args[1]:
        return u.args[0], 2
    power = ir.integer(u.args[1]) if u.op is POW else None
    return (u.args[0], power) if power and power > 0 and power % 2 == 0 else (None, 1)


def _is_simple(u: Expr) -> bool:
    """Whether all zeros of a difference from a number are found: it is algebraic, or takes each value once."""
    order = [n for n in ir.topological((u,)) if n.args]
    return all(n.op in ir.ARITHMETIC or n.op.monotone for n in order)


@lru_cache(maxsize=MAX_KNOWN)
def _judged(sides: tuple[Expr, ...], piece: Piece, above: bool, clamped: bool) -> Verdict | None:
    """The verdict for all values of parameters: that of those for which it can be told."""
    params = [v for v in ir.variables(sides) if v is not QUANTITY]
    if not params:
        return _of_one(sides, piece, above, clamped)
    if piece.low != piece.high or len(params) > MAX_PARAMETERS:
        return None
    if (same := _shortcut(sides, piece)) is not None:
        return same
    found: list[Verdict] = []
    for values in PARAMETERS:
        at = {v: ir.const(q) for v, q in zip(params, itertools.cycle(values), strict=False)}
        one = _of_one(ir.substitute(sides, at), piece, above, clamped)
        if one is not None and one.is_regular:
            return None  # both sides may be equal for these values alone
        if one is not None:
            found.append(one)
    kinds = {v.right for v in found}
    return found[0] if len(kinds) == 1 and len(found) > 1 else None


def _shortcut(sides: tuple[Expr, ...], piece: Piece) -> Verdict | None:
    """A value at a point at which both sides are the same formula, and neither is singular."""
    order = ir.topological(sides)
    if any(n.op in SLOPES for n in order):
        return None  # the mean of both sides at a tie
    at = {QUANTITY: ir.const(Fraction(piece.low))}
    singular = [d for n in order for d in loci(n)]
    one, two, *singular = ir.substitute((*sides, *singular), at)
    if one is not two or not all(ir.rational(d) for d in singular):
        return None
    q = Fraction(piece.low)
    return Verdict(True, ((QUANTITY, ir.const(q)),), ((QUANTITY, q),), 0.0, 0.0, 0.0, True)


def _of_one(sides: tuple[Expr, ...], piece: Piece, above: bool, clamped: bool) -> Verdict | None:
    small, other = sides
    try:
        centre = _centre(other, piece, above)
        return None if centre is None else _at(small, other, piece, centre, above, clamped)
    except (SymdiffError, NotImplementedError, TypeError, ArithmeticError):
        return None


def _centre(other: Expr, piece: Piece, above: bool) -> Fraction | None:
    """The one point of an interval at which the other side is singular, or may be, though its formula does not show it."""
    low, high = Fraction(piece.low), Fraction(piece.high)
    if low == high:
        return low
    constants = [q for n in ir.topological((other,)) if (q := ir.rational(n)) is not None]
    found: set[Fraction] = set()
    for n in ir.topological((other,)):
        for d in loci(n):
            found.update(r for r in rational_roots(d, QUANTITY, constants) if low <= r <= high)
    if found:
        return found.pop() if len(found) == 1 else None
    middle = low if above and low == 0 else (low + high) / 2
    return middle if high - low <= NARROW else None


def _at(
    small: Expr, other: Expr, piece: Piece, centre: Fraction, above: bool, clamped: bool
) -> Verdict | None:
    small, other = ir.substitute((small, other), {QUANTITY: ir.const(centre) + QUANTITY})
    program = Certified([QUANTITY], [other, small], (), WORK)
    truth, got = program.at_with_status([0.0])
    if truth.status == "exact" and not _is_singular(other):
        return None if piece.low != piece.high else _regular(small, other, centre, truth, got)
    if truth.status not in ("exact", "limit") or not math.isfinite(got.value):
        return None
    place, zero = ((QUANTITY, centre),), ((QUANTITY, ir.const(centre)),)
    seen = Verdict(True, zero, place, got.value, truth.value, _ulps(got, truth), True)
    moved = clamped and piece.low == piece.high  # no more than a point that an epsilon moves
    if moved and not _is_far(got, truth, VISIBLE):
        return seen
    if _kind(other) != "analytic":  # series of long sums take long
        return None
    if moved:
        return replace(seen, right=False)
    errors = [(seen.ulps / POINT_ULPS, seen)]
    outside = False
    reach = (
        Fraction(piece.high) - centre,
        Fraction(0) if above and not centre else centre - Fraction(piece.low),
    )
    for sign, size in zip((1, -1), map(float, reach), strict=True):
        for step in (sign * size * part for part in FRACTIONS if size):
            at, value = program.at_with_status([step])
            if at.status == "domain":
                outside = True
            elif at.status not in ("exact", "limit") or not math.isfinite(value.value):
                return None
            else:
                there = replace(
                    seen, where=((QUANTITY, centre + Fraction(step)),), got=value.value, truth=at.value,
                    ulps=_ulps(value, at), at_singular=False,
                )  # fmt: skip
                errors.append((there.ulps / BAND_ULPS, there))
    score, worst = max(errors, key=lambda e: e[0])
    wide = max(reach) > NARROW * max(1.0, abs(float(centre)))
    miss = max(abs(v.got - v.truth) for _, v in errors) / (abs(truth.value) or 1)
    close = seen.ulps <= POINT_ULPS and (miss <= FINE or (miss <= CLOSE and not wide))
    constant = QUANTITY not in ir.variables_of_values((small,))
    if score <= 1 or (clamped and miss <= FINE) or (
        close and (constant or is_taylor(small, other, QUANTITY))
    ):  # fmt: skip
        coarse = score > 1 and any(abs(v.got - v.truth) > FINE * abs(v.truth) for _, v in errors)
        return replace(worst, outside=outside, coarse=coarse)
    if constant and miss <= FINE:  # as of the end of the band
        return replace(worst, outside=outside, coarse=True)
    if clamped or (wide and _is_far(got, truth, CLOSE)):
        return None
    return replace(worst, right=False)


def _regular(
    small: Expr, other: Expr, centre: Fraction, truth: Answer, got: Answer
) -> Verdict | None:
    """A shortcut to the value at a regular point: right, or no guard."""
    if any(n.op in SLOPES for n in ir.topological((small, other))):
        return None
    at, off = ((QUANTITY, ir.const(centre)),), _ulps(got, truth)
    place = ((QUANTITY, centre),)
    return Verdict(off <= POINT_ULPS, at, place, got.value, truth.value, off, True, is_regular=True)


def _is_singular(other: Expr) -> bool:
    """Whether the other side, moved so that the point is 0, has a singular operation there."""
    order = ir.topological((other,))
    at = [*(d for n in order for d in loci(n)), *(n.args[1] for n in order if n.op is FILLED)]
    return not all(ir.rational(d) for d in ir.substitute(at, {QUANTITY: ir.ZERO}))


def _kind(other: Expr) -> str:
    """The kind of a function of the quantity at 0; with balls for constants, series take much less time, and show
    only that it is analytic."""
    above = {QUANTITY}
    nodes = [QUANTITY]
    for n in ir.topological((other,)):
        if any(a in above for a in n.args):
            above.add(n)
            nodes.append(n)
    for balls in (True, False):
        try:
            kind = Germs(QUANTITY, Fraction(0), nodes, balls).germs[other].kind
        except (OutOfBudget, ArithmeticError, RecursionError, KeyError):
            continue
        if kind == "analytic":
            return kind
    return ""


def _ulps(got: Answer, truth: Answer) -> float:
    """The distance of a value from the true one, in ulps of the true one."""
    return ulp_error(got.value, truth.ball if truth.ball is not None else truth.value)


def _is_far(got: Answer, truth: Answer, tolerance: float) -> bool:
    return abs(got.value - truth.value) > tolerance * abs(truth.value)
