"""Absolute values, maxima and minima inside of branches that know the sign.

Before:  where(x < 0, -log1p(abs(x)), log1p(abs(x))), where(0 < x, x, expm1(min(x, 0)))
After:   where(x < 0, -log1p(-x), log1p(x)), where(0 < x, x, expm1(x))

Requires: any DAG.
Ensures: the same values, also of nan, except for the sign of a zero that nothing divides by. The branch that
is taken counts at its edge too, in derivatives: of the first example, the slope at 0 is 1, that of both
sides, where the kink of abs(x) would have made it 0; of the second it is 1 where a tie of the minimum, which
only keeps the other side from being computed, would have made it 1/2. A maximum that the condition says
to be one of its arguments, `max(x, y) == x`, is that.
"""

from __future__ import annotations

from collections.abc import Iterable

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    DIV,
    EQ,
    MUL,
    NEG,
    POW,
    SUB,
    VAR,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.ir.functions import COPYSIGN, EXTREMES, LARGER, MAXIMA, MINIMA, SMALLER
from symdiff.passes.analysis.signs import Signs

_DECIDED = (ABS, *EXTREMES)
_TOTAL = (VAR, ADD, SUB, MUL, NEG, ABS)
"""Operations that map numbers to numbers."""
MAX_NODES = 4000
"""Largest number of nodes of outputs."""
MAX_WORK = 40_000
"""The most nodes of branches to visit."""


def decided_by_branches(outputs: Iterable[Expr]) -> tuple[Expr, ...]:
    """The outputs without absolute values whose sign their branch decides, and without
    maxima and minima that it decides."""
    outputs = tuple(outputs)
    order = ir.topological(outputs)
    found = {e.op for e in order}
    if len(order) > MAX_NODES or WHERE not in found or found.isdisjoint(_DECIDED):
        return outputs
    return _Branches().of(outputs)


class _Branches:
    """One program."""

    def __init__(self) -> None:
        self.work = MAX_WORK

    def of(self, outputs: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return ir.transform(outputs, self._rule)

    def _rule(self, e: Expr, args: tuple[Expr, ...]) -> Expr:
        if e.op is WHERE and args[0].op is not ir.BOOL:
            return ir.where(
                args[0], self._on(args[1], args[0]), self._on(args[2], ir.not_(args[0]))
            )
        return ir.rebuild(e, args)

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
