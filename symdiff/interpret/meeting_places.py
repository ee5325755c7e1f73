"""Places where a program is not smooth, and which of them matter where they meet.

Before:  max(x, 0), max(y, 0) and max(max(x, 0) - 1, 0)
After:   the first and the third may be wrong together: the third is computed from the first

A smooth function of kinks has the mean of its one-sided slopes if each of the kinks has. Formulas may be wrong where
a kink is computed from another, or meets a branch, a step or a pole.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from symdiff import ir
from symdiff.ir import ZERO, Expr, and_, or_, topological
from symdiff.ir.functions import (
    ASINH,
    ATAN,
    COS,
    COSH,
    ERF,
    ERFC,
    EXP,
    EXPM1,
    EXTREMES,
    IVE,
    LOGADDEXP,
    SIN,
    SINH,
    TANH,
)  # fmt: skip

SLOPED = (ir.ABS, IVE, *EXTREMES)
"""Continuous functions whose slopes jump."""
SMOOTH = frozenset((
    ir.ADD, ir.SUB, ir.NEG, ir.MUL, EXP, EXPM1, SIN, COS, SINH, COSH, TANH, ATAN, ASINH, ERF, ERFC, LOGADDEXP,
))  # fmt: skip
"""Functions without singularities."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program is not smooth.

    Attributes
    ----------
    condition : holds there, in the doubles that are compared.
    zeros : quantities that are all zero there.
    at : the node that is not smooth.
    asks : for a branch at a single point, or in a thin band, the comparisons in its condition.
    within : holds wherever the program evaluates the node, and at the ends of the branches around it.
    """

    condition: Expr
    zeros: tuple[Expr, ...]
    at: Expr
    asks: tuple[Expr, ...] = ()
    within: Expr = ir.TRUE


def pairs_of(places: Sequence[Place], free: set[Place]) -> list[tuple[Place, Place]]:
    """Pairs of places whose meeting may matter, as not both are `free`; first those where one is computed from the
    other."""
    found = [p for p in itertools.combinations(places, 2) if not free.issuperset(p)]
    below = {p: set(topological((p.at,))) for p in places}
    found.sort(key=lambda pair: not (pair[0].at in below[pair[1]] or pair[1].at in below[pair[0]]))
    return found


def independent(places: Sequence[Place], outputs: Sequence[Expr]) -> set[Place]:
    """Continuous kinks of which outputs are smooth functions, and that are functions of no others."""
    bits: dict[Expr, int] = {}
    for k, p in enumerate(places):
        bits[p.at] = bits.get(p.at, 0) | 1 << k
    masks: dict[Expr, int] = {}
    inside = 0  # of operations that are not smooth
    for e in topological((*outputs, *bits)):
        below = functools.reduce(operator.or_, (masks[a] for a in e.args), 0)
        masks[e] = below | bits.get(e, 0)
        inside |= 0 if _is_smooth(e) else below
    return {
        p
        for k, p in enumerate(places)
        if p.at.op in SLOPED and not inside >> k & 1 and masks[p.at] == bits[p.at]
    }


def _is_smooth(e: Expr) -> bool:
    """Whether an operation is smooth everywhere."""
    if e.op is ir.DIV:
        return ir.rational(e.args[1]) is not None
    if e.op is ir.POW:
        power = ir.rational(e.args[1])
        return power is not None and power > 0 and power.denominator == 1
    return e.op in SMOOTH


def several(
    places: Sequence[Place], pairs: bool, free: set[Place], second: bool = False
) -> Iterator[Expr]:
    """Where more places meet than were tested: three that one coordinate may change, or two if not
    all `pairs` were tested. The terms of one maximum or minimum are one kink, however many are
    equal, unless derivatives are second ones; kinks that are `free` meet as they like."""
    nodes = [p.at for p in places]
    chains = {e: e for e in nodes} if second else _chains(nodes)
    changing: dict[Expr, list[Place]] = {}
    for p in dict.fromkeys(places):
        for v in ir.variables((p.condition, *p.zeros)):
            changing.setdefault(v, []).append(p)
    groups = {frozenset(group): group for group in changing.values() if len(group) >= 3 - pairs}
    for every, group in groups.items():
        if any(every < other for other in groups):
            continue
        rest = [p for p in group if p not in free]
        if not rest:
            continue
        held: dict[Expr, list[Place]] = {}
        for p in group:
            held.setdefault(chains[p.at], []).append(p)
        count = _sum(p.condition for p in group)
        parts = _sum(functools.reduce(or_, (p.condition for p in own)) for own in held.values())
        met = and_(ir.le(ir.const(3 - pairs), count), ir.le(ir.const(2), parts))
        other = functools.reduce(or_, (p.condition for p in rest))
        yield met if len(rest) == len(group) else and_(met, other)


def _sum(conditions: Iterable[Expr]) -> Expr:
    return functools.reduce(ir.add, (ir.where(c, ir.ONE, ZERO) for c in conditions), ZERO)


def _chains(nodes: Sequence[Expr]) -> dict[Expr, Expr]:
    """The outermost maximum or minimum that contains each node as a term."""
    found: dict[Expr, Expr] = {}
    for e in reversed(topological(nodes)):
        found.setdefault(e, e)
        for a in e.args if e.op in EXTREMES else ():
            if a.op is e.op:
                found.setdefault(a, found[e])
    return found
