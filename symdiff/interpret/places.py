"""Where a captured program is not smooth, or may not be.

Before:  where(abs(k) < 1e-9, t, expm1(k*t)/k)
After:   the band abs(k) < 1e-9, with k = 0 in its middle; its ends

Places are comparisons of equal numbers, points and thin bands that branches ask for, zeros of absolute values, ties,
steps, and where functions have edges or poles.

Requires: formulas as captured.
Ensures: each place has a condition in the doubles that the program compares, and real quantities that are 0 there.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from fractions import Fraction

from symdiff import ir
from symdiff.interpret.lines import THIN, is_size, is_step, small_offset, zeros_of
from symdiff.interpret.meeting_places import Place
from symdiff.interpret.secants import RATIONAL
from symdiff.ir import EQ, FALSE, LE, LT, SIGN, WHERE, ZERO, Expr, and_, not_, or_, topological
from symdiff.ir.functions import ACOS, ASIN, ATAN, ATAN2, HYPOT, LOG
from symdiff.ir.plain import exactly

LOGIC = (ir.AND, ir.OR, ir.NOT)
"""The operations that combine comparisons to conditions."""
MOST_BRANCHES = 8
"""The most branches around a place that its condition names."""
LITTLE = 1e-9
"""The value of a parameter that only conditions read, at general points."""


def atoms_of(condition: Expr) -> list[Expr]:
    """The comparisons of a condition."""
    nodes = ir.reached((condition,), ir.through(*LOGIC))
    return [e for e in nodes if e.op in ir.COMPARISONS]


def places_of(outputs: Sequence[Expr]) -> Iterator[Place]:
    """Guards first, in the order of evaluation."""
    order = topological(outputs)
    tolerances = {*ir.variables(outputs)} - ir.variables_of_values(outputs)
    found: dict[Expr, Place] = {}
    every: list[Place] = []
    for e in order:
        if e.op is WHERE:
            every += (guards := list(_guards(e, tolerances)))
            found = {p.condition: p for p in guards} | found
    for e in order:
        own = _boundary(e) if e.op in (LT, LE) else _edge(e) or _kink(e)
        for place in (*(poles(e) if own is None else (own,)), *_cut(e)):
            if place.condition is not FALSE:
                every.append(place)
                found.setdefault(place.condition, place)
    singular = [p for e in order if (p := _singular(e)) is not None and p.condition is not FALSE]
    if found or len({p.at.op is LOG for p in singular}) == 2:
        for p in singular:
            every.append(p)
            found.setdefault(p.condition, p)
    around = _branches_around(outputs)
    common: dict[Expr, tuple[Expr, ...]] = {}
    for p in every:
        common[p.condition] = _both(around[p.at], common.get(p.condition, around[p.at]))
    for condition, p in found.items():
        yield replace(p, within=functools.reduce(and_, common[condition], ir.TRUE))


def _branches_around(outputs: Sequence[Expr]) -> dict[Expr, tuple[Expr, ...]]:
    """For each node, conditions of branches around it, with their ends, on all paths to it."""
    found: dict[Expr, tuple[Expr, ...]] = dict.fromkeys(outputs, ())
    for e in reversed(topological(outputs)):
        outside = found[e]
        inside = [outside] * len(e.args)
        if e.op is WHERE and len(outside) < MOST_BRANCHES:
            inside[1:] = ((*outside, closed(e.args[0], side)) for side in (True, False))
        for a, own in zip(e.args, inside, strict=True):
            found[a] = _both(own, found.get(a, own))
    return found


def _both(one: tuple[Expr, ...], other: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return one if one is other else tuple(e for e in one if e in other)


def closed(condition: Expr, truth: bool) -> Expr:
    """What holds where a condition does, or where it fails, and at the ends of these sets."""
    if condition.op is ir.NOT:
        return closed(condition.args[0], not truth)
    if condition.op in (ir.AND, ir.OR):
        join = and_ if (condition.op is ir.AND) is truth else or_
        return functools.reduce(join, (closed(a, truth) for a in condition.args))
    if condition.op in (LT, LE):
        return ir.le(*(condition.args if truth else reversed(condition.args)))
    return condition if truth else ir.TRUE


def _guards(e: Expr, tolerances: Set[Expr]) -> Iterator[Place]:
    """The points and thin bands that the condition of a branch tests for."""
    atoms = atoms_of(e.args[0])
    points = [p for a in atoms if (p := _point(a, e, tolerances)) is not None]
    yield from points
    if len(points) > 1:
        whole = functools.reduce(and_, (p.condition for p in points))
        zeros = tuple(z for p in points for z in p.zeros)
        yield Place(whole, zeros, e, tuple(c for p in points for c in p.asks))


def _point(c: Expr, at: Expr, tolerances: Set[Expr]) -> Place | None:
    a, b = c.args
    if c.op is EQ:
        return Place(c, zeros_of(_difference(a, b)), at, (c,))
    for u, bound, inside in ((a, b, c), (b, a, not_(c))):
        (size,), q = exactly((u,)), ir.rational(bound)
        if q is None and is_size(size) and _is_small(bound, tolerances):
            return Place(and_(inside, ir.le(bound, THIN)), zeros_of(size), at, (c,))
        if q is not None and 0 <= q <= THIN and is_size(size):
            return Place(inside if q else ir.eq(u, ZERO), zeros_of(size), at, (c,))
        offset = small_offset(bound)
        if q is None and {*ir.variables((bound,))} <= tolerances != set():
            near = and_(ir.le(ir.abs_(u), ir.abs_(bound)), ir.le(ir.abs_(bound), THIN))
            return Place(near, zeros_of(size), at, (c,))
        if offset is not None:
            (d,) = exactly((u - offset[0],))
            near = ir.le(ir.abs_(u - offset[0]), ir.const(offset[1]))
            return Place(near, zeros_of(d), at, (c,))
    return None


def bound_of(c: Expr) -> float:
    """The width of a band that a comparison asks for, if it is constant; that of computed bounds is tiny at tries."""
    found = (small_offset(a) for a in c.args)
    return next((f[1] for f in found if f is not None), LITTLE)


def _is_small(bound: Expr, tolerances: Set[Expr]) -> bool:
    """Whether a computed bound may be that of a thin band: it is made of tolerances, or has a small factor."""
    found = {*ir.variables((bound,))}
    return found <= tolerances or any(
        0 < (ir.rational(n) or 0) <= THIN for n in topological((bound,))
    )


def _boundary(c: Expr) -> Place:
    a, b = c.args if c.args[0].args else reversed(c.args)
    return Place(ir.eq(a, b), zeros_of(_difference(a, b)), c)


def _kink(e: Expr) -> Place | None:
    if e.op.kink is None or e.op.name.startswith("plain:"):
        return None
    if e.op is not SIGN and len(e.args) == 1 and is_step(e):
        return Place(ir.eq(e, e.args[0]), exactly(e.args), e)
    u = e.op.kink(*e.args)
    condition = ir.eq(*u.args) if u.op is ir.SUB else ir.eq(u, ZERO)
    return Place(condition, zeros_of(*exactly((u,))), e)


def _edge(e: Expr) -> Place | None:
    if e.op in (ACOS, ASIN):
        (a,) = e.args
        at = or_(ir.eq(a, ir.ONE), ir.eq(a, -ir.ONE))
        return Place(at, exactly((a - ir.ONE,)), e)
    if e.op is ATAN2:
        a, b = e.args
        return Place(and_(ir.eq(a, ZERO), ir.eq(b, ZERO)), exactly((a, b)), e)
    return None


def _cut(e: Expr) -> Iterator[Place]:
    """Where an angle jumps, though functions of it need not: its formulas are those of one side."""
    if e.op is ATAN2:
        y, x = e.args
        yield Place(and_(ir.eq(y, ZERO), ir.lt(x, ZERO)), exactly((y,)), e)


def poles(e: Expr) -> Iterator[Place]:
    """Poles at which a function is finite, but has different sides: arc tangents have slopes
    there."""
    for n in ir.reached(e.args, ir.through(*RATIONAL, ir.POW)) if e.op is ATAN else ():
        power = ir.rational(n.args[1]) if n.op is ir.POW else None
        divisor = n.args[1] if n.op is ir.DIV else n.args[0] if power and power < 0 else None
        if divisor is not None:
            yield Place(ir.eq(divisor, ZERO), zeros_of(*exactly((divisor,))), e)


def _singular(e: Expr) -> Place | None:
    """Where a norm or a logarithm has no derivative: formulas are right unless something else has
    none."""
    if e.op is LOG:
        if e.args[0].op.sign == "positive":
            return None
        return Place(ir.eq(e.args[0], ZERO), zeros_of(*exactly(e.args)), e)
    is_root = e.op is ir.POW and ir.rational(e.args[1]) == Fraction(1, 2)
    if e.op is HYPOT or (is_root and is_size(e.args[0])):
        return Place(ir.eq(e, ZERO), zeros_of(*exactly((e,))), e)
    return None


def _difference(a: Expr, b: Expr) -> Expr:
    x, y = exactly((a, b))
    return x if y is ZERO else y if x is ZERO else x - y


__all__ = ["LITTLE", "atoms_of", "bound_of", "places_of", "poles"]
