"""The remaining error of a value that is computed with the errors of its parts.

Before:  compensated(log(x*x - y)/(x - y))
After:   the relative errors of x*x - y and x - y are below 2**-20; then at most 2**-6 of
         the error without corrections remains (`lowering.compensated.evaluate`)

Requires: the bounds of `passes.accuracy.error_test` for the value, each operation rounded
by itself.
Ensures: where the conditions hold, the error is at most the given part of that bound: the
errors of functions (`lowering.compensated.functions.BITS`), products of two errors and the squares
of errors in arguments, however many follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ABS, ADD, AND, DIV, MUL, NEG, OR, POW, SUB, WHERE, ZERO, Expr
from symdiff.ir.functions import EXP, EXTREMES
from symdiff.lowering.compensated.functions import BITS, CORRECTED, LIGHT_BITS
from symdiff.lowering.target import COMPENSATED_OPS, PLAIN
from symdiff.passes.analysis.band_extent import FURTHER, is_band

SUMS = Fraction(1, 2**40)
"""The remaining part where no two errors are multiplied and there are no functions."""
PRODUCTS = Fraction(1, 2**12)
FUNCTIONS, LIGHT_FUNCTIONS = Fraction(1, 2 ** (BITS - 52)), Fraction(1, 2 ** (LIGHT_BITS - 52))
"""The error of a function is counted as two units, of at least 2**-53 each."""
SERIES = Fraction(1, 2**FURTHER)
"""The truncation error of a series in a band in units."""
SMALL = 2**33
"""Errors of this many units are 2**-20 or less: their products stay below
`PRODUCTS` through hundreds of operations."""
FEW = 64
"""With this many units of error, every argument of a function is well within its margin."""
LARGEST_EXPONENT = 600


Conditions = dict[Expr, None]
"""A set in a fixed order."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The error of a node is at most `(k + relative)*|node| + more` units of rounding."""

    k: Fraction = Fraction(0)
    more: Expr = ZERO
    relative: Expr = ZERO

    @property
    def exact(self) -> bool:
        return self.k == 0 and self.static

    @property
    def static(self) -> bool:
        """Whether the error is known when compiling, relative to the value."""
        return self.more is ZERO and self.relative is ZERO


@dataclass(slots=True)
class ResidualBounds:
    """The remaining errors of nodes; each node is visited once.

    Attributes
    ----------
    bounds : of all nodes below the requested ones.
    slopes : bounds of the derivatives of a function by its arguments.
    light : whether functions have fewer bits.
    errorless : whether values are taken without their errors; then only functions have
        conditions, without which their values are arbitrary.
    parts : of the bound of a node that are left.
    series : units of error that come of series in bands.
    safe : conditions for a node, all of which must hold.
    """

    bounds: Mapping[Expr, Bound]
    slopes: Callable[[Expr], tuple[Expr, ...]]
    light: bool = False
    errorless: bool = False
    worst: dict[Expr, Fraction | None] = field(default_factory=dict)
    parts: dict[Expr, Fraction] = field(default_factory=dict)
    series: dict[Expr, Expr] = field(default_factory=dict)
    safe: dict[Expr, Conditions] = field(default_factory=dict)

    def of(self, e: Expr) -> tuple[Fraction, Expr]:
        """The part of its bound that the error of a node retains where it is `safe`, and the error
        to add."""
        for n in ir.topological((e,), self.parts):
            self.worst[n] = self._worst(n)
            self.parts[n] = self._local(n)
            self.series[n] = self._truncation(n)
            self.safe[n] = self._conditions(n)
        return self.parts[e], self.series[e]

    def _local(self, n: Expr) -> Fraction:
        part = max((self.parts[a] for a in n.args), default=SUMS)
        if n.op in CORRECTED:
            return max(part, LIGHT_FUNCTIONS if self.light else FUNCTIONS)
        return max(part, PRODUCTS) if self._squared(n) else part

    def _conditions(self, n: Expr) -> Conditions:
        """The conditions of a node."""
        found = safe_above(n, [self.safe[a] for a in n.args])
        if n.op in CORRECTED:
            found[CORRECTED[n.op].inside(n.args[0])] = None
        small = ir.FALSE
        for a, room in () if self.errorless else self._squared(n):
            small = ir.or_(small, ir.le(_error(a, self.bounds[a]), ir.const(SMALL) * room))
        if small is not ir.FALSE:
            found[small] = None
        return found

    def _truncation(self, n: Expr) -> Expr:
        """The truncation error of series."""
        below = [self.series[a] for a in n.args]
        if n.op is WHERE:
            inside = below[1]
            if is_band(n):
                inside = inside + ir.const(SERIES) * ir.abs_(n)
            return ir.where(n.args[0], inside, below[2])
        if n.op.boolean or all(t is ZERO for t in below):
            return ZERO
        if n.op is DIV:
            return (below[0] + ir.abs_(n) * below[1]) / ir.abs_(n.args[1])
        if n.op is MUL:
            below = [t * ir.abs_(a) for t, a in zip(below, reversed(n.args), strict=True)]
        elif n.op is POW:
            below = [ir.abs_(n.args[1] * n / n.args[0]) * below[0]]
        elif n.op in CORRECTED:
            below = [self.slopes(n)[0] * below[0]]
        return sum(below, ZERO)

    def _squared(self, n: Expr) -> list[tuple[Expr, Expr]]:
        """The arguments, one of whose errors must be small, and relative to what."""
        args = n.args
        if n.op in CORRECTED:
            loose = [a for a in args if (k := self.worst[a]) is None or k > FEW]
            return [(a, CORRECTED[n.op].room(a)) for a in loose]
        loose = [a for a in args if not a.op.boolean and self.worst[a] is None]
        if n.op is MUL:
            loose = loose if len(loose) == 2 else []
        elif n.op is DIV:
            loose = [a for a in loose if a is args[1]]
        elif n.op is not POW:
            loose = []
        return [(a, ir.abs_(a)) for a in loose]

    def _worst(self, n: Expr) -> Fraction | None:
        """The relative error of a node in units, if it is known to be small."""
        bound = self.bounds[n]
        value: Fraction | None = None
        if bound.static:
            value = bound.k
        elif bound.more is ZERO and n.op in _COMBINE:
            below = [self.worst[a] for a in n.args if not a.op.boolean]
            known = [b for b in below if b is not None]
            if len(known) == len(below):
                value = _COMBINE[n.op](known)
        return value if value is not None and value <= SMALL else None


def safe_above(n: Expr, below: Sequence[Conditions]) -> Conditions:
    """What must hold for a node, from what must hold for its arguments: for a choice the side that is
    taken; for a conjunction both operands, unless one is surely false."""
    if n.op is WHERE:
        yes, no = below[1:]
        found = {c: None for c in yes if c in no}
        for side, taken in ((yes, n.args[0]), (no, ir.not_(n.args[0]))):
            own = all_of(c for c in side if c not in found)
            found[ir.or_(ir.not_(taken), own)] = None
        found |= below[0]
    elif n.op in (AND, OR):
        found = {c: None for c in below[0] if c in below[1]}
        x, y = (all_of(c for c in side if c not in found) for side in below)
        settled = [a if n.op is OR else ir.not_(a) for a in n.args]
        found |= dict.fromkeys((ir.or_(x, settled[1]), ir.or_(y, settled[0]), ir.or_(x, y)))
    else:
        found = {c: None for side in below for c in side}
    found.pop(ir.TRUE, None)
    return found


def all_of(conditions: Iterable[Expr]) -> Expr:
    """The conjunction."""
    total = ir.TRUE
    for c in conditions:
        total = ir.and_(total, c)
    return total


def _error(a: Expr, bound: Bound) -> Expr:
    size = ir.abs_(a)
    total = bound.more + size * bound.relative
    return total if bound.k == 0 else total + ir.const(bound.k) * size


_COMBINE: dict[ir.Op, Callable[[list[Fraction]], Fraction]] = {
    EXP: lambda w: w[0] * LARGEST_EXPONENT + 2,
    MUL: lambda w: sum(w, Fraction(1)),
    DIV: lambda w: sum(w, Fraction(1)),
    NEG: lambda w: w[0],
    ABS: lambda w: w[0],
    ADD: lambda w: max(w) + 1,
    SUB: lambda w: max(w) + 1,
    POW: lambda w: w[0] * 16 + 16,
    WHERE: lambda w: max(w),
    **dict.fromkeys(EXTREMES, lambda w: max(w)),
}
"""For nodes that do not cancel."""


def plainly(condition: Expr, nodes: set[Expr]) -> Expr:
    """An expression over compensated values, which uses the values alone."""

    def is_value(e: Expr) -> bool:
        return e in nodes and bool(e.args) and not e.op.boolean

    def below(e: Expr) -> tuple[Expr, ...]:
        return () if e.op in COMPENSATED_OPS or is_value(e) else e.args

    new: dict[Expr, Expr] = {}
    for e in ir.children_first((condition,), below):
        if not e.args or e.op in COMPENSATED_OPS:
            new[e] = e
        elif is_value(e):
            new[e] = ir.raw(PLAIN, (e,))
        else:
            new[e] = ir.raw(e.op, tuple(new[a] for a in e.args), e.value)
    return new[condition]
