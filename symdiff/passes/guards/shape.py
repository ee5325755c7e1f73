"""The shapes of guards: conditions, clamps, epsilons, and what they depend on.

Before:  not (x != 0 and y != 0)
After:   x == 0, y == 0: one of these must hold

Requires: any DAG. Ensures: only reads it; unknown shapes are no guards.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, ADD, AND, DIV, EQ, LT, MUL, NOT, OR, SUB, TRUE, VAR, WHERE, Expr
from symdiff.ir.functions import (
    COS,
    DETACHED,
    EXTENDED,
    EXTREMES,
    FILLED,
    HYPOT,
    ROUND,
    SIN,
    TAN,
)
from symdiff.ir.functions import domain as domain_of
from symdiff.ir.walks import children_first
from symdiff.passes.differentiate import pushforward
from symdiff.passes.guards.diagonals import beside

TINY = Fraction(1e-3)
"""A constant up to this, added to a quantity or bounding it, may be a guard."""
MOST_ANGLE = Fraction(3, 2)
"""Sizes of angles below which a sine vanishes at 0 alone."""
MAX_DISJUNCTS = 4
MAX_NODES = 1500
MAX_PARTS = 256
"""The conditions of a domain."""

ALGEBRAIC = (*ir.ARITHMETIC, *ir.COMPARISONS, AND, NOT, ABS, HYPOT, *EXTREMES)
"""Operations of conditions whose regions can be trusted to have a simple shape."""


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


def was_singular(e: Expr, params: Iterable[Expr]) -> bool:
    """Whether a formula, as written, was singular where its variables are 0."""
    gone = [n.args[1] for n in ir.topological((e,)) if n.op is FILLED]
    return ir.ZERO in ir.substitute(gone, dict.fromkeys(params, ir.ZERO))


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


def has_slopes(e: Expr, about: Expr) -> Expr:
    """The condition under which a formula has finite derivatives by the variables of a
    condition."""
    slopes = [pushforward((e,), {v: ir.ONE})[0] for v in ir.variables((about,))]
    poles = [ir.not_(n.op.pole(*n.args)) for n in ir.topological(slopes) if n.op.pole is not None]
    return functools.reduce(ir.and_, [*map(domain, slopes), *poles], TRUE)


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


def near_and_beyond(part: Expr) -> tuple[Expr, Expr] | None:
    """A conjunction split into its part near one point, which may be a guard, and the rest;
    None if no comparison bounds

    - a sine, a tangent or 1 - cos: near is the angle between -3/2 and 3/2, beyond is the rest;
    - a difference, as sin(b) - sin(a): near is a = b, beyond is the rest;
    - u, which may be negative, as in u < 1e-9 and u <= 0: near is abs(u), beyond is negative u.
    """
    for e in part.args if part.op is AND else (part,):
        if e.op not in ir.COMPARISONS:
            continue
        if (split := _about_angle(e)) is not None:
            near, beyond = split
        elif e.op is not EQ and (side := _half_line(e)) is not None:
            u, bound = side
            near = e.op(ir.abs_(u), bound) if bound else ir.eq(u, 0)
            beyond = ir.lt(u, 0)
            if (split := _about_angle(near)) is not None:
                near, beyond = split[0], ir.or_(beyond, split[1])
        elif not _is_algebraic(e) and (nearby := beside(e)) not in (None, TRUE):
            assert nearby is not None
            near, beyond = ir.and_(e, nearby), ir.and_(e, ir.not_(nearby))
        else:
            continue
        return ir.substitute((part,), {e: near})[0], ir.substitute((part,), {e: beyond})[0]
    return None


def _about_angle(e: Expr) -> tuple[Expr, Expr] | None:
    """A bound on a function of an angle as a bound on the angle near 0, and on larger angles."""
    if (angle := _small_angle(e)) is None:
        return None
    size = ir.abs_(angle[0])
    near = ir.eq(angle[0], 0) if e.op is EQ else e.op(size, ir.const(Fraction(angle[1])))
    return near, ir.and_(e, ir.le(MOST_ANGLE, size))


def is_half_line(part: Expr) -> bool:
    """Whether a comparison of a conjunction bounds a quantity only from above."""
    return any(
        e.op in ir.COMPARISONS and e.op is not EQ and _half_line(e) is not None
        for e in (part.args if part.op is AND else (part,))
    )


def is_edge(part: Expr) -> bool:
    """Whether a comparison of a conjunction holds on one side of 0: the edge of a formula."""
    found = (
        _half_line(e) for e in (part.args if part.op is AND else (part,))
        if e.op in ir.COMPARISONS and e.op is not EQ
    )  # fmt: skip
    return any(side is not None and not side[1] for side in found)


def _half_line(e: Expr) -> tuple[Expr, Fraction] | None:
    """u and its small upper bound, if a comparison is no more than that."""
    a, b = e.args
    if (q := ir.rational(b)) is None and (q := ir.rational(a)) is not None:
        a, q = ir.neg(b), -q
    if (
        q is None
        or not 0 <= q <= TINY
        or (not q and e.op is LT)
        or a.op is ABS
        or a.op.sign == "nonnegative"
    ):
        return None
    return a, q


def _small_angle(e: Expr) -> tuple[Expr, float] | None:
    """The angle that a comparison bounds, and the bound."""
    a, b = e.args
    if e.op is EQ:
        for u, c in ((a, b), (b, a)):
            if (u.op in (SIN, TAN) and ir.rational(c) == 0) or (
                u.op is COS and ir.rational(c) == 1
            ):
                return u.args[0], 0.0
            if (
                u.op is SUB
                and c is ir.ZERO
                and ir.ONE in u.args
                and COS in (u.args[0].op, u.args[1].op)
            ):
                return next(x for x in u.args if x.op is COS).args[0], 0.0
        return None
    if a.op is ir.CONST:  # c < cos(u)
        return _of_cosine(b, 1 - (ir.rational(a) or Fraction(1)))
    q = ir.rational(b)
    if q is None or not 0 < q < 1:
        return None
    inner = a.args[0] if a.op is ABS else a
    if inner.op is SUB and ir.ONE in inner.args and (a.op is ABS or inner.args[0] is ir.ONE):
        return _of_cosine(next(x for x in inner.args if x is not ir.ONE), q)
    if a.op is ir.POW and ir.integer(a.args[1]) == 2:
        inner, q = a.args[0], Fraction(math.sqrt(q))
    elif a.op is not ABS:
        return None
    if inner.op in (SIN, TAN):
        return inner.args[0], (math.asin if inner.op is SIN else math.atan)(q)
    return None


def _of_cosine(u: Expr, drop: Fraction) -> tuple[Expr, float] | None:
    """The bound of the angle of a cosine that is at least 1 minus a number."""
    if u.op is not COS or not 0 < drop < 1:
        return None
    return u.args[0], 2 * math.asin(math.sqrt(drop / 2))


def joint_branch(e: Expr) -> tuple[Expr, Expr, Expr] | None:
    """The condition and both sides of a quotient, product, sum or difference of two
    branches on one condition, or of a quotient by a branch."""
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


def is_small(roots: Iterable[Expr]) -> bool:
    return ir.has_at_most(MAX_NODES, roots)


def as_function_of_size(
    roots: tuple[Expr, Expr, Expr], size: Expr, v: Expr
) -> tuple[Expr, Expr, Expr] | None:
    """Formulas in abs(u) alone, also in even powers written as those of u, with v for it; None if
    there are none, or the formulas contain more."""
    if size.op is not ABS:
        return None
    (u,) = size.args
    powers = {
        n: ir.power(v, n.args[1])
        for n in ir.topological(roots)
        if n.op is ir.POW and n.args[0] is u and (ir.integer(n.args[1]) or 1) % 2 == 0
    }
    condition, small, other = ir.substitute(roots, {size: v, **powers})
    alone = ir.variables((condition, small, other)) == [v]
    return (condition, small, other) if powers and alone else None


def bottleneck(roots: Sequence[Expr], about: Expr) -> Expr | None:
    """The lowest node below `about` through which alone the roots depend on the
    variables."""
    found = ir.variables(roots)
    if len(found) <= 1:
        return found[0] if found else None
    bits = {v: 1 << i for i, v in enumerate(found)}
    mask: dict[Expr, int] = {}
    ways = Ways(roots)
    for t in ir.topological((about,)):
        mask[t] = bits.get(t, 0)
        for a in t.args:
            mask[t] |= mask[a]
        if mask[t] == (1 << len(found)) - 1 and not t.op.boolean:
            if ways.all_pass(t, found) and not _reaches(roots, t):
                return t
    return None


def quantities(roots: Sequence[Expr], about: Expr) -> Iterator[Expr]:
    """The nodes below `about` through which alone the roots depend on what those depend
    on, the lowest first."""
    found = ir.variables(roots)
    ways = Ways(roots)
    for t in ir.topological((about,)):
        if t.op.boolean or t.op is VAR or not t.args:
            continue
        below = set(ir.variables((t,)))
        if not below or not ways.all_pass(t, below):
            continue
        if not _reaches(roots, t, below if len(below) < len(found) else None):
            yield t


class Ways:
    """The number of paths from roots down to each node, and from there to variables.

    They are counted modulo a prime, as there may be very many: a node that some paths avoid is
    almost always found without a walk of its own, and a node on all paths is never missed.
    """

    PRIME = (1 << 61) - 1

    def __init__(self, roots: Sequence[Expr]) -> None:
        order = ir.topological(roots)
        self._down: dict[Expr, int] = {}
        for n in order:
            own = 1 if n.op is VAR else 0
            self._down[n] = (own + sum([self._down[a] for a in n.args])) % self.PRIME
        self._above = dict.fromkeys(order, 0)
        for r in roots:
            self._above[r] += 1
        for n in reversed(order):
            ways = self._above[n] = self._above[n] % self.PRIME
            for a in n.args:
                self._above[a] += ways

    def all_pass(self, t: Expr, variables: Iterable[Expr]) -> bool:
        """False if some path from the roots to a variable below t avoids t."""
        through = self._above.get(t, 0) * self._down.get(t, 0)
        return (sum([self._above.get(v, 0) for v in variables]) - through) % self.PRIME == 0


def is_simple(condition: Expr, single: bool) -> bool:
    """Whether a condition is a conjunction of comparisons of a simple shape: of one
    quantity or of monotone functions of it, with at most one even power or absolute
    value, with constants; or algebraic, of several quantities; or near the zero set
    of the quantity that it compares."""
    parts = set(ir.conjuncts(condition))
    if not single:
        near = {e: beside(e) for e in parts if not _is_algebraic(e)}
        return all(n is TRUE or n in parts for n in near.values())
    for n in ir.topological((condition,)):
        if n.args and n.op not in ALGEBRAIC and not n.op.monotone:
            return False
        if n.op in ir.COMPARISONS:
            e = next((a for a in n.args if a.op is not ir.CONST), n)
            if n.op is not EQ and (len(ir.variables(n.args)) > 1 or not _folds_once(e)):
                return False
    return True


def is_first_term(condition: Expr, small: Expr, other: Expr) -> bool:
    """Whether a formula depends on what a condition compares only through other parts of the
    formula it replaces, as exp(-z)*t for exp(-z)*sin(sqrt(d)*t)/sqrt(d), where d = 1 - z**2 is
    small, or log1p(k*x) for expm1(k*log1p(k*x))/k, where k is: the first term of a series whose
    coefficients are functions of those."""
    compared: set[Expr] = set()
    for n in ir.topological((condition,)):
        if n.op in ir.COMPARISONS:
            compared.update(a.args[0] if a.op is ABS else a for a in n.args if a.op is not ir.CONST)
    parts = ir.topological((other,))
    for n in parts:  # and of its powers and multiples
        if n.op in (ir.NEG, MUL, DIV, ir.POW) and any(a in compared for a in n.args):
            if all(a in compared or a.op is ir.CONST for a in n.args):
                compared.add(n)
    there = set(parts)
    below = ir.reached((small,), lambda n: () if n in there else n.args)
    return compared.isdisjoint(below)


def is_equation(condition: Expr) -> bool:
    """Whether a condition holds only where equations do."""
    return all(e.op is EQ for e in ir.conjuncts(condition))


def _is_algebraic(e: Expr) -> bool:
    return all(n.op in ALGEBRAIC for n in ir.topological((e,)) if n.args)


def _folds_once(e: Expr) -> bool:
    folds = 0
    while e.op is not VAR:
        inner = [a for a in e.args if ir.variables((a,))]
        if len(inner) != 1 or e.op in (HYPOT, *EXTREMES):
            return False
        q = ir.rational(e.args[1]) if e.op is ir.POW else Fraction(1)
        if q is None or q <= 0:
            return False
        folds += e.op is ABS or (q.denominator == 1 and q.numerator % 2 == 0)
        e = inner[0]
    return folds <= 1


def _reaches(roots: Sequence[Expr], t: Expr, variables: set[Expr] | None = None) -> bool:
    """Whether some path from the roots to variables (None: any) avoids t."""
    beside = (e for e in ir.reached(roots, lambda e: () if e is t else e.args) if e is not t)
    return any(e.op is VAR and (variables is None or e in variables) for e in beside)
