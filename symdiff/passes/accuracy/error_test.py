"""Where can rounded arithmetic be wrong? These conditions become part of a kernel.

Before:  (1 - cos(t))/t**2
After:   and the condition 2*|cos(t)| > 7*|1 - cos(t)|, or t outside [2**-480, 2**480]

Requires: any DAG, to be computed operation by operation.
Ensures: where `flagged` is false, every output is finite and its error is at most
`SLACK` units of rounding beyond the rounding error of the same operations
without any cancellation (`ErrorTest.inherent`); and no branch depended on
rounding.

Errors are bounded by `passes.accuracy.bounds`. Underflow and overflow are excluded by
bounding the inputs: magnitudes follow statically from theirs. Where the processor
flags them by itself (`lean`), no test is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    INF,
    MUL,
    NEG,
    ONE,
    POW,
    SUB,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.ir.functions import ATAN, COS, ERF, EXP, EXTREMES, SIN, TANH
from symdiff.ir.plain import is_decided
from symdiff.lowering.target import COMPENSATED, LIGHT, MAX_CHAIN, PLAIN
from symdiff.passes.accuracy.bounds import STEPS, Bounds
from symdiff.passes.accuracy.residual import all_of, plainly
from symdiff.passes.analysis.band_extent import series_in_bands
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.analysis.underflow import outside

TINY = {"float64": Fraction(1, 2**1010), "float32": Fraction(1, 2**120)}
"""An error of this many units counts as none, even for a value that is exactly zero."""
STRICT_SLACK = 3
SLACK = 10
"""Units by which an output may err beyond its inherent rounding, through cancellation
and arguments of functions: a worst case; even half of it is rare."""


class ErrorTest(Bounds):
    """Error bounds of the nodes of a DAG, and the conditions for them."""

    def within(self, tests: Iterable[tuple[Expr, Fraction]]) -> Expr:
        """The condition under which the error of each node is at most so many units.

        A product is as wrong, relative to itself, as its factors together; so its
        condition is that of the one factor whose error is not known statically. Of
        several conditions on one factor the strictest is enough."""
        left: dict[tuple[Expr, Expr], Fraction] = {}
        for e, units in tests:
            bound = self.of(e)
            factor = self.loose(e)
            if self.bounds[factor].more is ZERO:
                factor = ONE
            if bound.static and units >= bound.k:
                continue
            key = factor, bound.relative
            left[key] = min(left.get(key, units), max(units - bound.k, Fraction(0)))
        total = ir.TRUE
        for (factor, relative), units in left.items():
            harder = (units < u for (f, r), u in left.items() if f is factor and r is not relative)
            if relative is not ZERO or all(harder):
                total = ir.and_(total, self._small(factor, relative, units))
        return total

    def _small(self, factor: Expr, relative: Expr, units: Fraction) -> Expr:
        left = ir.const(units)
        if factor is ONE:
            return ir.le(relative, left)
        allowed = ir.sub(left, relative) * self.size(factor)
        if self.lean:
            return ir.le(self.bounds[factor].more, allowed)
        return ir.lt(self.bounds[factor].more, allowed + ir.const(TINY[self.dtype]))

    def margin(self, e: Expr) -> Expr:
        """The part of a node's error that is not known statically, relative to the allowed
        error: an element is flagged above 1."""
        bound = self.of(e)
        left = ir.const(max(self.allowed(e) - bound.k, Fraction(1)))
        return (bound.relative + bound.more / ir.abs_(e)) / left

    def allowed(self, e: Expr) -> Fraction:
        """Units by which an output may be off."""
        self.of(e)
        return self.inherent[e] + STRICT_SLACK if self.strict else self.rounding(e) + SLACK

    def rounding(self, e: Expr) -> Fraction:
        """Units that an output carries if nothing cancels."""
        return max(self.of(e).k, self.inherent[e])


def flagged_where(
    outputs: Iterable[Expr],
    limit: int | None = None,
    dtype: str = "float64",
    facts: Iterable[Expr] = (),
    *,
    strict: bool = False,
    fuses: bool = False,
    lean: bool = False,
    chain: int = MAX_CHAIN,
) -> Expr:
    """The condition under which some output may be off by more than `limit` units of
    rounding, or is not finite.

    Parameters
    ----------
    limit : None for the inherent rounding error plus `SLACK`; if `strict` the error
        without cancellation plus `STRICT_SLACK`.
    facts : conditions that hold on the domain.
    fuses, chain : how the outputs are lowered.
    lean : leave overflow, underflow and invalid operations to the processor's flags.
    """
    outputs = tuple(dict.fromkeys(outputs))
    work = ErrorTest(
        dtype, Signs(facts), fuses=fuses, lean=lean, chain=chain, strict=strict,
        series=series_in_bands(outputs),
    )  # fmt: skip
    tests, sizes = [], ZERO
    unbounded = _unbounded(outputs)
    for output in outputs:
        bound = work.of(output)
        if bound.exact and not output.args:
            continue
        units = work.allowed(output) if limit is None else Fraction(limit)
        if output in unbounded:
            sizes = sizes + work.size(output)
        tests.append((output, units))
    safe = {c: None for output, _ in tests for c in work.safe[output]}
    total = ir.or_(ir.not_(work.within(tests)), ir.not_(all_of(safe)))
    if not lean:
        if sizes is not ZERO:
            total = ir.or_(total, ir.not_(ir.lt(sizes, INF)))
        total = ir.or_(total, outside(outputs, dtype, work.signs))
    return plainly(total, work.compensated) if work.compensated else total


def overflow(outputs: Sequence[Expr], dtype: str) -> Expr:
    """The condition that a `lean` test omits: some output is not finite, or an intermediate
    may overflow or underflow."""
    large: Expr = ZERO
    unbounded = _unbounded(outputs)
    for output in dict.fromkeys(outputs):
        if output in unbounded:
            large = large + ir.abs_(output)
    total = outside(outputs, dtype, Signs(()))
    return total if large is ZERO else ir.or_(ir.not_(ir.lt(large, INF)), total)


FINITE = (ADD, SUB, MUL, NEG, ABS, WHERE, SIN, COS, TANH, ATAN, EXP, ERF, *EXTREMES, COMPENSATED, LIGHT, PLAIN,
          *STEPS)  # fmt: skip
"""Finite for finite arguments, unless they overflow."""


def _unbounded(outputs: Iterable[Expr]) -> set[Expr]:
    """The nodes that are not finite for all finite arguments."""
    found: set[Expr] = set()
    for e in ir.topological(outputs):
        if _may_be_infinite(e) or any(a in found for a in e.args):
            found.add(e)
    return found


def _may_be_infinite(e: Expr) -> bool:
    if e.op is POW and (q := ir.rational(e.args[1])) is not None:
        return q.denominator != 1
    return bool(e.args) and not e.op.boolean and e.op not in FINITE and not is_decided(e)
