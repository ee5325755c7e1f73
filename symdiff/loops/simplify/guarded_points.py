"""Points that a program treats apart; their derivatives are computed when it is called there.

Before:  return where(k == 0, sum(x), (product(1 + k*x) - 1)/k)
After:   the same, and a check "accuracy" that k == 0 does not hold

Requires: a program of derivatives, after the last differentiation.
Ensures: equal results; the check fails at the points. `passes.guards` handles guards whose formulas
are in one block; sums and products of arrays, which are names there, are left as written, and so
are computed quantities such as the norm of an array. `runtime.loops.by_definition` has the derivatives
there.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from symdiff import ir
from symdiff.errors import Location
from symdiff.ir import ABS, EQ, LE, LT, SUB, Expr
from symdiff.ir import loop_program as lp
from symdiff.ir.functions import SQUARES
from symdiff.ir.plain import exactly
from symdiff.ir.prune import pruned
from symdiff.loops.simplify import exits
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.guards.shape import differentiated

WIDEST = Fraction(1, 1000)
"""The radius of a band that only avoids a point."""


class GuardedPoint(NamedTuple):
    """A condition that holds at a point or close to it: on one parameter, by its position, or on a
    computed quantity. The radius is that of a band, in the compared quantity."""

    condition: Expr
    place: int | None = None
    centre: float = 0.0
    radius: float = 0.0


class GuardedPoints(NamedTuple):
    """Points, statements for their conditions, in front of a program, and the equalities that end its loops."""

    points: tuple[GuardedPoint, ...] = ()
    before: lp.Block = ()
    exits: frozenset[Expr] = frozenset()

    def block(self, program: lp.LoopProgram) -> lp.Block:
        """The statements of a program and of the conditions."""
        return (*self.before, *exits.flagged(program.block, self.exits))


def guarded_points(
    program: lp.LoopProgram, value: lp.LoopProgram, by: Container[str]
) -> GuardedPoints:
    """The points that remain in a program of derivatives.

    Parameters
    ----------
    value : the simplified program of the value.
    by : the parameters of differentiation.
    """
    places = {
        p.leaf: k for k, p in enumerate(program.params)
        if p.type.kind == "f" and not p.type.shape and p.name in by
    }  # fmt: skip
    left, found = dict.fromkeys(_conditions(program)), []
    for c in _conditions(value) if places else ():
        if c in left and (point := _point(c)) is not None and point[0] in places:
            leaf, centre, radius = point
            found.append(GuardedPoint(c, places[leaf], float(centre), float(radius)))
            del left[c]
    before: lp.Block = ()
    computed = _of_names(program, left)
    wanted = _of_names(value, _conditions(value))
    if wanted and not computed:  # second derivatives have all of them in loops
        before, new = lp.renamed(pruned(value.block, wanted), lp.names_of(program))
        computed = list(ir.substitute(wanted, new))
    found += [GuardedPoint(c, radius=0.0) for c in computed if wanted]
    return GuardedPoints(tuple(found), before, exits.exits(program.block, by))


def _of_names(program: lp.LoopProgram, conditions: Iterable[Expr]) -> list[Expr]:
    """Equalities of quantities computed outside loops, bounds for them, and counts of
    equalities."""
    given = {p.name for p in program.params}
    known = given | {n for s in program.block for n, _ in lp.defined(s)}
    known |= {lp.name_of(e) for p in program.params for e in lp.leaves(p.type.shape)}
    counts = _counts(program)
    found = []
    for c in conditions:
        names = lp.names_in(c)
        if names <= known and (names - given or _loads(c)):
            if (count := next((n for n in names if n in counts), None)) is not None:
                none = ir.eq(next(e for e in lp.leaves((c,)) if lp.name_of(e) == count), ir.ZERO)
                found.append(none if counts[count] else ir.not_(none))
            elif _is_computed(c):
                found.append(_near(c))
    return list(dict.fromkeys(found))


def _counts(program: lp.LoopProgram) -> dict[str, bool]:
    """The names of integers that count elements equal to a value, or, as True, those that are
    not."""
    found = {}
    for s in program.block:
        for c in s.carried if isinstance(s, lp.Loop) else ():
            if c.type.kind == "i" and c.next.op is ir.ADD and c.init is ir.ZERO:
                for e in c.next.args:
                    if e.op is ir.WHERE and e.args[0].op is EQ and _is_computed(e.args[0]):
                        if set(e.args[1:]) == {ir.ZERO, ir.ONE}:
                            found[c.result] = e.args[1] is ir.ZERO
    return found


def met(program: lp.LoopProgram, found: GuardedPoints) -> lp.LoopProgram:
    """Which of the conditions hold, and in which iterations equalities end loops."""
    conditions = (
        *(p.condition for p in found.points),
        *exits.iterations(program.block, found.exits),
    )
    block = pruned(found.block(program), conditions)
    return replace(program, block=block, outputs=conditions, tree=list(range(len(conditions))))


def bounded(program: lp.LoopProgram) -> lp.LoopProgram:
    """A program with another argument, the last: the most iterations of a `while`."""
    most = lp.names_of(program).fresh("most")
    params = (*program.params, lp.Parameter(most, lp.INTEGER))
    return replace(program, params=params, block=_bounded(program.block, lp.index(most)))


def _bounded(block: lp.Block, most: Expr) -> lp.Block:
    """A block whose conditional loops fail after so many iterations."""
    made: list[lp.Statement] = []
    for s in block:
        if isinstance(s, lp.Loop | lp.Build):
            s = replace(s, body=_bounded(s.body, most))
        if isinstance(s, lp.Loop) and s.count is None:
            check = lp.Check(ir.lt(lp.index(s.index), most), "value", lp.ENDLESS)
            s = replace(s, body=(check, *s.body))
        made.append(s)
    return tuple(made)


def places(program: lp.LoopProgram, found: GuardedPoints) -> list[Location | None]:
    """The source lines of the conditions: the first of a captured program with the same
    comparison."""
    stand: dict[Fraction, Location] = {}
    for e, place in program.locations.items():
        for a in e.args if e.op in (EQ, LT, LE) else ():
            if (q := ir.rational(a)) is not None:
                stand.setdefault(q, place)
    numbers = [[ir.rational(n) for n in ir.topological((p.condition,))] for p in found.points]
    return [next((stand[q] for q in row if q in stand), None) for row in numbers]


def _is_computed(c: Expr) -> bool:
    """Whether this is an equality of real numbers that depend on elements or names, or a small bound."""
    if c.op is not EQ and not 0 < _radius(c) <= WIDEST and not _is_zero_of_size(c):
        return False
    return all(lp.kind_of(a) == "f" or ir.rational(a) is not None for a in c.args) and any(
        n.op in (lp.LOAD, ir.VAR) for n in ir.topological((c,))
    )


def _radius(c: Expr) -> float:
    """The bound for the size of a quantity, where there is one."""
    return 0.0 if c.op is EQ else float(max(ir.rational(a) or 0 for a in c.args))


def _is_zero_of_size(c: Expr) -> bool:
    """Whether c tests if a size is 0, as `np.linalg.norm(x) > 0` does."""
    u = next((a for a in c.args if a is not ir.ZERO), c)
    power = ir.rational(u.args[1]) if u.op is ir.POW else None
    root = power is not None and power.denominator % 2 == 0
    return ir.ZERO in c.args and (root or u.op in (ABS, SQUARES) or _is_positive(u))


def _is_positive(u: Expr) -> bool:
    """Whether a quantity is never negative, as a sum of squares."""
    return Signs().holds(ir.le(ir.ZERO, *exactly((u,)))) is True


def _near(c: Expr) -> Expr:
    """The condition that the compared quantity is small, on whichever side of the bound that is."""
    if c.op is EQ:
        return c
    if _is_zero_of_size(c):
        return ir.eq(next(a for a in c.args if a is not ir.ZERO), ir.ZERO)
    u, bound = c.args if ir.rational(c.args[1]) is not None else reversed(c.args)
    below = ir.lt if (c.op is LT) == (u is c.args[0]) else ir.le
    return below(ir.abs_(u), bound)


def _loads(c: Expr) -> bool:
    return any(n.op is lp.LOAD for n in ir.topological((c,)))


def told(program: lp.LoopProgram, found: GuardedPoints) -> lp.LoopProgram:
    """The program with checks that fail at the points."""
    none = [ir.not_(p.condition) for p in found.points]
    none += map(ir.not_, exits.met(program.block, found.exits))
    text = f"{program.name}: at a guarded point"
    checks = tuple(lp.Check(c, "accuracy", text) for c in none)
    return replace(program, block=(*found.block(program), *checks))


def _conditions(program: lp.LoopProgram) -> list[Expr]:
    """Comparisons that affect derivatives, except those that only say where there is no value."""
    every = (
        e for s in lp.walk(program.block) if not isinstance(s, lp.Check) for e in lp.expressions(s)
    )
    order = ir.topological(map(differentiated, (*every, *program.outputs)))
    undefined = {n.args[0] for n in order if n.op is ir.WHERE and ir.NAN in n.args[1:]}
    return [n for n in order if n.op in (EQ, LT, LE) and n not in undefined]


def _point(c: Expr) -> tuple[Expr, Fraction, Fraction] | None:
    """The variable of a condition, the point and the radius."""
    a, b = c.args
    if c.op is EQ:
        if ir.rational(a) is not None:
            a, b = b, a
        u, radius = a - b, Fraction(0)
    else:
        if a.op is not ABS or (bound := ir.rational(b)) is None or not 0 < bound <= WIDEST:
            return None
        u, radius = a.args[0], bound
    leaf, centre = (u.args[0], ir.rational(u.args[1])) if u.op is SUB else (u, Fraction(0))
    return None if centre is None or leaf.op is not ir.VAR else (leaf, centre, radius)
