"""The shapes of guards: conditions on one quantity, and branches.

Before:  not (x != 0 and 1e-9 <= abs(x - 1))
After:   x in [0, 0], and x in (1 - 1e-9, 1 + 1e-9): one of these must hold

Requires: any DAG. Ensures: only reads it; unknown shapes are no guards.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.ir import ADD, AND, DIV, EQ, MUL, NOT, OR, SUB, TRUE, WHERE, Expr
from symdiff.ir.functions import DETACHED, EXTENDED, FILLED, ROUND
from symdiff.ir.functions import domain as domain_of
from symdiff.ir.walks import children_first
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.guards.regions import NONNEGATIVE, Known, Piece, constraint, intersection

TINY = Fraction(1e-3)
"""A constant up to this, added to a quantity or bounding it, may be a guard."""
MAX_DISJUNCTS = 4
MAX_PARTS = 256
"""The conditions of a domain."""
POINT = Piece(Fraction(0), Fraction(0), (True, True))


class Part(NamedTuple):
    """A conjunction of a condition: the interval of the quantity that it bounds (None: no such quantity), and
    whether other conditions must hold too."""

    condition: Expr
    quantity: Expr | None
    piece: Piece = POINT
    is_partial: bool = False


def parts_of(condition: Expr, signs: Signs) -> list[Part]:
    """The conjunctions of which one must hold; none if they are too many."""
    return [_part(written, signs) for written in disjuncts(condition)]


def _part(written: Expr, signs: Signs) -> Part:
    found = Known(positive(written), True)
    bounded: list[tuple[Expr, Piece]] = []
    for u, pieces in found.sets.items():
        if signs.nonnegative(u):
            pieces = intersection(pieces, (NONNEGATIVE,))
        if len(pieces) == 1 and -math.inf < pieces[0].low <= pieces[0].high < math.inf:
            if not (u.op is SUB and any(v is ir.sub(u.args[1], u.args[0]) for v, _ in bounded)):
                bounded.append((u, pieces[0]))
    if not bounded:
        return Part(written, None)
    u, piece = min(bounded, key=lambda b: b[1].high - b[1].low)
    alone = {u, ir.sub(u.args[1], u.args[0])} if u.op is SUB else {u}
    compared = (constraint(n) for n in ir.conjuncts(positive(written)))
    return Part(written, u, piece, any(c is None or c[0] not in alone for c in compared))


def domain(e: Expr) -> Expr:
    """A condition under which all executed operations below a node are defined; false if it has too
    many parts."""
    inside: dict[Expr, dict[Expr, None]] = {}  # for each node, conditions that all must hold
    for n in ir.topological((e,)):
        own = domain_of(n.op, n.args) if n.args else TRUE
        found = {} if own is TRUE else {own: None}
        if n.op is WHERE:
            c, a, b = n.args
            found |= inside[c]
            for unless, side, rest in ((ir.not_(c), a, b), (c, b, a)):
                for d in inside[side]:
                    found[d if d in inside[rest] else ir.or_(unless, d)] = None
        else:
            for arg in n.args:
                found |= inside[arg]
        if len(found) > MAX_PARTS:
            return ir.FALSE
        inside[n] = found
    return functools.reduce(ir.and_, inside[e], TRUE)


def differentiated(e: Expr) -> Expr:
    """The part of a node that derivatives see."""

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return args[1] if n.op is EXTENDED else ir.rebuild(n, args)

    return ir.transform((e,), rule)[0]


def without_detached(outputs: Iterable[Expr]) -> tuple[tuple[Expr, ...], dict[Expr, Expr]]:
    """With variables for detached values, and what these denote."""
    outputs = tuple(outputs)
    detached = [e for e in ir.topological(outputs) if e.op is DETACHED]
    variables = {e: ir.var(f"detached {k}") for k, e in enumerate(detached)}
    return ir.substitute(outputs, variables), {v: e for e, v in variables.items()}


def outside_of_conditions(outputs: Iterable[Expr]) -> list[Expr]:
    """The nodes whose values reach outputs, children first; not those in conditions only."""
    return ir.topological(outputs, ir.CONDITIONS)


def filled(outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The outputs without the marks where they were singular as written."""
    if not any(n.op is FILLED for n in ir.topological(outputs)):
        return outputs

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        return args[0] if n.op is FILLED else ir.rebuild(n, args)

    return ir.transform(outputs, rule)


def rounded_to_zero(
    outputs: tuple[Expr, ...], origin: dict[Expr, Expr] | None = None
) -> tuple[Expr, ...]:
    """The outputs with `round(u) == 0` as what it says: that u is between -1/2 and 1/2, as half is rounded to
    even. Origin: for new conditions, the old ones; it grows."""
    if not any(n.op is ROUND for n in ir.topological(outputs)):
        return outputs

    def rule(n: Expr, args: tuple[Expr, ...]) -> Expr:
        if n.op is EQ and ir.ZERO in args:
            (u,) = (a for a in args if a is not ir.ZERO)
            while u.op is ir.DIV and ir.rational(u.args[1]):
                u = u.args[0]
            if u.op is ROUND:
                made = ir.le(ir.abs_(u.args[0]), ir.HALF)
                if origin is not None:
                    origin.setdefault(made, n)
                return made
        return ir.rebuild(n, args)

    return ir.transform(outputs, rule)


def disjuncts(condition: Expr) -> list[Expr]:
    """Conjunctions, at least one of which must hold; none if too many."""
    done: list[Expr] = []
    stack = [condition]
    while stack:
        e = stack.pop()
        if e.op is OR:
            stack.extend(reversed(e.args))
        elif e.op is NOT and e.args[0].op is AND:
            stack.extend(ir.not_(a) for a in reversed(e.args[0].args))
        elif e.op is NOT and e.args[0].op is OR:
            a, b = e.args[0].args
            stack.append(ir.and_(ir.not_(a), ir.not_(b)))
        else:
            done.append(e)
        if len(done) + len(stack) > MAX_DISJUNCTS:
            return []
    return [] if any(e.op is OR for e in ir.reached(done, ir.through(AND, NOT))) else done


def positive(e: Expr) -> Expr:
    """A condition without negations around the comparisons of its conjunction: over the reals, not a < b is b <= a."""
    new: dict[Expr, Expr] = {}
    for n in children_first((e,), ir.through(AND)):
        new[n] = n
        if n.op is AND:
            new[n] = ir.and_(*(new[a] for a in n.args))
        elif n.op is NOT and n.args[0].op in (ir.LT, ir.LE):
            a, b = n.args[0].args
            new[n] = (ir.le if n.args[0].op is ir.LT else ir.lt)(b, a)
    return new[e]


def branch_of(e: Expr) -> tuple[Expr, Expr, Expr] | None:
    """The condition and both sides of a branch; of a quotient, product, sum or difference of two branches on one
    condition; or of a quotient by a branch."""
    if e.op is WHERE:
        return e.args[0], e.args[1], e.args[2]
    if e.op not in (DIV, MUL, ADD, SUB):
        return None
    a, b = e.args
    if a.op is b.op is WHERE and a.args[0] is b.args[0]:
        c, *sides = a.args
        return c, e.op(sides[0], b.args[1]), e.op(sides[1], b.args[2])
    if e.op is DIV and b.op is WHERE and a.op is not WHERE:
        c, *sides = b.args
        first, second = (FILLED(a / s, s.args[1]) if s.op is DIV else a / s for s in sides)
        return c, first, second
    return None
