"""Absolute values, maxima and minima inside of branches that know the sign.

Before:  where(x < 0, -log1p(abs(x)), log1p(abs(x))), where(0 < x, x, expm1(min(x, 0)))
After:   where(x < 0, -log1p(-x), log1p(x)), where(0 < x, x, expm1(x))

Requires: any DAG.
Ensures: the same values, also of nan, except for the sign of a zero that nothing divides by. The branch that
is taken counts at its edge too, in derivatives: of the first example, the slope at 0 is 1, that of both
sides, where the kink of abs(x) would have made it 0; of the second it is 1 where a tie of the minimum, which
only keeps the other side from being computed, would have made it 1/2. A maximum that the condition says
to be one of its arguments, `max(x, y) == x`, is that. A step that is multiplied with a function of the absolute value,
`copysign(1, x)*log1p(abs(x))` or `copysign(log1p(abs(x)), x)`, is such a branch, if it is 0 where the step is.
"""

from __future__ import annotations

from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    DIV,
    EQ,
    LE,
    LT,
    MUL,
    NEG,
    NOT,
    POW,
    SIGN,
    SUB,
    VAR,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.ir.functions import COPYSIGN, EXTREMES, LARGER, MAXIMA, MINIMA, SMALLER
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.cancel.linear_forms import form, solved

_DECIDED = (ABS, *EXTREMES)
_TOTAL = (VAR, ADD, SUB, MUL, NEG, ABS)
"""Operations that map numbers to numbers."""
MAX_NODES = 4000
"""Largest number of nodes of outputs."""
MAX_DEPTH = 8
"""Largest depth of nested products."""
MAX_WORK = 40_000
"""The most nodes of branches to visit."""


def decided_by_branches(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs without absolute values whose sign their branch decides, and without
    maxima and minima that it decides."""
    outputs = tuple(outputs)
    order = ir.topological(outputs)
    if len(order) > MAX_NODES or not any(e.op in _DECIDED for e in order):
        return outputs
    if not any(e.op in (WHERE, COPYSIGN) for e in order):
        return outputs
    return _Branches().of(outputs)


class _Branches:
    """One program."""

    def __init__(self) -> None:
        self.work = MAX_WORK

    def of(self, outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return ir.transform(outputs, self._rule)

    def _rule(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op is COPYSIGN and (made := self._copied(*args)) is not None:
            return made
        if e.op is MUL:
            for step, other in (args, args[::-1]):
                if (made := self._multiplied(step, other)) is not None:
                    return made
        if e.op is WHERE and args[0].op is not ir.BOOL:
            return ir.where(
                args[0], self._on(args[1], args[0]), self._on(args[2], ir.not_(args[0]))
            )
        return ir.rebuild(e, args)

    def _copied(self, size: Expr, of: Expr) -> Expr | None:
        """A size with a sign, as branches; including the sign of a zero, if there is a step."""
        if not self._in_sizes(of, size):
            return None
        below = ir.lt(of, ZERO)
        if not _vanishes(size, of):
            sides = self._on(size, below), self._on(size, ir.not_(below))
            return ir.where(below, *(COPYSIGN(side, of) for side in sides))
        written, size = size, _absolute(size)
        above = self._on(size, ir.not_(below))
        if any(e.op is ABS and _vanishes(e, of) for e in ir.topological((above,))):
            return SIGN(of) * ir.abs_(written)  # both sides of the kink at the edge count
        return ir.where(below, self._on(-size, below), above)

    def _multiplied(self, step: Expr, other: Expr) -> Expr | None:
        """A product with a step, as branches, if it contains absolute values of the step's
        argument."""
        if step.op is COPYSIGN and ir.rational(step.args[0]) is not None:
            factor, of = step.args
            if not self._in_sizes(of, other) or not _vanishes(other, of):
                return None
            below, first, last = ir.lt(of, ZERO), -ir.abs_(factor), ir.abs_(factor)
        elif step.op is WHERE and all(ir.rational(a) is not None for a in step.args[1:]):
            below, first, last = step.args
            compared = _compared(below)
            if compared is None or not self._in_sizes(compared, other):
                return None
        else:
            return None
        branches = self._on(first * other, below), self._on(last * other, ir.not_(below))
        return ir.where(below, *branches)

    def _in_sizes(self, of: Expr, e: Expr) -> bool:
        """Whether this contains the absolute value of the argument of a step, or of a multiple."""
        base = ir.scaled(of)[1]
        inside = ir.topological((e,))
        self.work -= len(inside)
        return self.work > 0 and any(
            n.op is ABS and ir.scaled(n.args[0])[1] is base for n in inside
        )

    def _on(self, branch: Expr, condition: Expr) -> Expr:
        """A branch, where its condition holds."""
        inside = ir.topological((branch,))
        self.work -= len(inside)
        if self.work <= 0 or not any(n.op in _DECIDED for n in inside):
            return branch
        signs, best = Signs((condition,)), _best(condition)
        if not signs.facts and not best:
            return branch
        fragile = _where_signs_of_zeros_count(inside, signs)

        def rule(e: Expr, args: tuple[Expr, ...]) -> Expr:
            if e in best:
                return best[e]
            if e.op is ABS and (e not in fragile or signs.nonzero(e.args[0])):
                if side := signs.side(e.args[0]):
                    return args[0] if side > 0 else ir.neg(args[0])
            if e.op in EXTREMES and (side := signs.side(e.args[0] - e.args[1])):
                first = (side > 0) == (e.op in MAXIMA)
                kept, dropped = e.args if first else e.args[::-1]
                if e not in fragile or dropped is not ZERO or signs.nonzero(kept):
                    return _decided(e, args, first, signs.is_number(dropped))
            return ir.rebuild(e, args)

        return ir.transform((branch,), rule)[0]


def _best(condition: Expr) -> dict[Expr, Expr]:
    """The maxima and minima that a condition equates with one of their arguments,
    `max(x, y, z) == y`."""
    found: dict[Expr, Expr] = {}
    for fact in ir.conjuncts(condition):
        if fact.op is EQ:
            for u, v in (fact.args, fact.args[::-1]):
                if u.op in EXTREMES and v in _candidates(u):
                    found[u] = v
    return found


def _candidates(e: Expr) -> set[Expr]:
    """The arguments of a maximum of maxima, or of a minimum of minima."""
    alike = MAXIMA if e.op in MAXIMA else MINIMA
    return set(ir.reached((e,), ir.through(*alike))) - {e}


def _decided(e: Expr, args: tuple[Expr, ...], first: bool, number: bool) -> Expr:
    """The first or second argument of a maximum or minimum, which is not worse than the other, in a
    form that is nan where the maximum is nan, and a number where it is one."""
    a, b = args
    if e.op in (LARGER, SMALLER):
        return a if first else ir.where(ir.le(*((a, b) if e.op is LARGER else (b, a))), b, a)
    sure = number and all(
        n.op in _TOTAL or ir.rational(n) is not None for n in ir.topological(e.args)
    )
    kept, dropped = args if first else args[::-1]
    if sure or ir.rational(dropped) is not None:
        return kept
    return ir.where(ir.raw(EQ, (dropped, dropped)), kept, dropped)


def _compared(condition: Expr) -> Expr | None:
    """The quantity that a condition compares with 0."""
    if condition.op is NOT:
        condition = condition.args[0]
    if condition.op in (LT, LE, EQ):
        a, b = condition.args
        return b if a is ZERO else a if b is ZERO else a - b
    return None


def _where_signs_of_zeros_count(order: Iterable[Expr], signs: Signs) -> set[Expr]:
    """The nodes for which the sign of a zero may matter: those below a divisor that may be 0,
    a power that is not positive, a pole, or a function of several that may jump."""
    found: set[Expr] = set()
    for e in reversed(list(order)):
        if e in found and signs.nonzero(e):
            continue
        if e in found or _has_pole_at_zero(e) or e.op.cut is not None or e.op is COPYSIGN:
            found.update(e.args)
        elif e.op is DIV:
            found.add(e.args[1])
        elif e.op is POW and ((q := ir.rational(e.args[1])) is None or q <= 0):
            found.add(e.args[0])
    return found


def _has_pole_at_zero(e: Expr) -> bool:
    return e.op.pole is not None and e.op.pole(*[ZERO for _ in e.args]) is not ir.FALSE


def _absolute(e: Expr, depth: int = 0) -> Expr:
    """The absolute value; for products and quotients that of each factor, so that factors that are
    absolute values already are not wrapped in another."""
    if e.op is ABS:
        return e
    if e.op in (MUL, DIV) and depth < MAX_DEPTH:
        return ir.rebuild(e, tuple(_absolute(a, depth + 1) for a in e.args))
    return ir.abs_(e)


def _vanishes(e: Expr, at: Expr) -> bool:
    """Whether an expression is 0 where a linear form is 0, by substitution for a variable."""
    found = solved(form(at, constants=True))
    return found is not None and ir.substitute((e,), dict([found]))[0] is ZERO
