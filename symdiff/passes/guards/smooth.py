"""Is a formula smooth at a point?

Before:  v + (a*v - b)*sin(sqrt(s))/sqrt(s), with s = a**2 + b**2 + c**2, at a = b = c = 0
After:   yes: as a function of s, a, b, c and v

Requires: a formula that may be undefined at the point.
Ensures: its derivatives up to the second have limits there. Vanishing sums of squares are replaced
by independent variables: smoothness in these implies smoothness at more points than necessary, and
saves the analysis of how the variables of a sum tend to 0, which takes much longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.interpret import Certified
from symdiff.ir import ADD, HALF, Expr
from symdiff.ir.functions import HYPOT
from symdiff.passes.analysis.roots import loci, rational_roots
from symdiff.passes.analysis.zeros import sampled, zero_sets
from symdiff.passes.cancel.cancel import cancel
from symdiff.passes.complete.complete import complete, pinned_forms
from symdiff.passes.complete.taylor import WORK
from symdiff.passes.differentiate import pushforward, squares

SUM = ir.var("the sum of squares")


class OfSum(NamedTuple):
    """A formula with a variable, `SUM`, for a sum of squares; its singularities are filled."""

    total: Expr
    filled: Expr


def is_smooth(params: Sequence[Expr], other: Expr, varied: Sequence[Expr]) -> bool:
    """Whether the derivatives up to the second by some parameters have limits at the point 0."""
    for outputs in _derivatives(other, varied):
        program = Certified(params, outputs, (), WORK)
        answers = program.at_with_status([0.0] * len(params))
        if any(a.status not in ("exact", "limit") for a in answers):
            return False
    return True


def of_sums(condition: Expr, other: Expr) -> list[OfSum]:
    """A formula by each sum of squares that a condition compares."""
    order = ir.topological((condition,))
    parts = {a for n in order if n.op is ADD for a in n.args}
    found = []
    for n in order:
        total = n
        new = {n: SUM}
        if n.op is HYPOT:
            total = ir.power(n.args[0], ir.const(2)) + ir.power(n.args[1], ir.const(2))
            new = {n: ir.power(SUM, HALF), total: SUM}
        elif n.op is not ADD or n in parts or squares(n) is None:
            continue
        (made,) = ir.substitute((other,), new)
        if made is not other:
            (filled,) = complete(cancel((made,)))
            found.append(OfSum(total, filled))
    return found


def is_smooth_in(
    sums: Iterable[OfSum], centre: Mapping[Expr, Fraction], varied: Sequence[Expr]
) -> bool:
    """Whether a formula is smooth at a point by one of the sums, which vanishes there, and by the
    variables that lead away from it."""
    at = {v: ir.const(q) for v, q in centre.items()}
    for total, filled in sums:
        if ir.substitute((total,), at)[0] is not ir.ZERO:
            continue
        slopes, curves = _derivatives(filled, (SUM, *varied))
        outputs = ir.substitute(pinned_forms((filled, *slopes, *curves)), {SUM: ir.ZERO, **at})
        program = Certified((), outputs, (), WORK)
        if all(a.status == "exact" for a in program.at_with_status([])):
            return True
    return False


def is_smooth_quantity(t: Expr, acts: Expr, slot: Expr) -> bool:
    """Whether a quantity has no singular point or kink where a condition on it (with `slot` for the
    quantity) holds, as far as such points are found."""
    params = ir.variables((t,))
    constants = [q for n in ir.topological((t,)) if (q := ir.rational(n)) is not None]
    for n in ir.topological((t,)):
        if n.op is ir.WHERE:
            return False
        places = list(loci(n))
        if n.op.kink is not None:
            places.append(n.op.kink(*n.args))
        for d in places:
            if len(params) == 1:
                points = [{params[0]: r} for r in rational_roots(d, params[0], constants)]
            else:
                points = [p for s in zero_sets(d) for p in sampled(s, params)]
            for point in points:
                program = Certified(params, [t], (), WORK)
                (at,) = program.at_with_status([float(point[v]) for v in params])
                if at.status not in ("exact", "budget"):
                    continue
                if ir.substitute((acts,), {slot: ir.const(at.value)})[0] is not ir.FALSE:
                    return False
    return True


def _derivatives(e: Expr, varied: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The first and the second by some variables."""
    slopes = [pushforward((e,), {v: ir.ONE})[0] for v in varied]
    curves = [pushforward((s,), {v: ir.ONE})[0] for i, s in enumerate(slopes) for v in varied[i:]]
    return slopes, curves
