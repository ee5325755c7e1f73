"""For which inputs can nothing overflow or underflow?

Before:  x/(x*x + y*y)
After:   |x| and |y| each 0 or within [2**-480, 2**480]

Requires: any DAG.
Ensures: for sources within the bounds that `Magnitudes.bounded` finds, every intermediate value
that is not zero has its exponent well inside the range of the type, whatever cancels in sums.
Magnitudes are propagated statically through the DAG from those of the sources: the inputs, and
functions such as exp whose range is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    CONST,
    DIV,
    MUL,
    NEG,
    POW,
    SIGN,
    SUB,
    VAR,
    WHERE,
    Expr,
)
from symdiff.ir.functions import (
    ASIN,
    ASINH,
    ATAN,
    CBRT,
    COS,
    ERF,
    EXPM1,
    EXTREMES,
    HYPOT,
    LOG,
    LOG1P,
    LOG2,
    LOG10,
    SIN,
    TANH,
)
from symdiff.ir.plain import is_decided
from symdiff.lowering.target import COMPENSATED, LIGHT, PLAIN
from symdiff.passes.analysis.signs import Signs

RANGE = {"float64": (53, 960), "float32": (24, 100)}
"""Bits of the significand, and the largest exponent of intermediates."""
LEVELS = {
    "float64": (900, 600, 480, 320, 240, 160, 120, 80, 60, 48, 40, 32, 28, 24, 16, 12, 8),
    "float32": (96, 60, 48, 32, 24, 16, 12, 8, 6, 4),
}
"""Exponents that the sources may be bounded by; the first that is safe is taken."""

ANY = 10**9
"""Beyond all exponents."""
Span = tuple[int, int]
"""Exponents between which the magnitude lies unless it is zero."""

LIKE_ARGUMENT = (SIN, TANH, ATAN, ASIN, ASINH, ERF)
"""Bounded by their argument, and about equal to it near 0."""
LOGARITHMS = (LOG, LOG2, LOG10, LOG1P)


class Magnitudes:
    """Spans of the nodes of a DAG for given bounds on the sources."""

    def __init__(self, dtype: str, signs: Signs) -> None:
        self.bits, self.limit = RANGE[dtype]
        self.levels, self.signs = LEVELS[dtype], signs
        self.spans: dict[Expr, Span] = {}

    def above(self, outputs: Sequence[Expr]) -> Expr:
        """The condition under which something may overflow."""
        return self.beyond(*self.bounded(outputs))

    def beyond(self, level: int, sources: Sequence[Expr]) -> Expr:
        """The condition under which sources are above a level; always if that is 0."""
        sizes = ir.ZERO
        for e in sources:
            sizes = sizes + (e if self.signs.nonnegative(e) else ir.abs_(e))
        return ir.not_(ir.le(sizes, ir.const(2**level))) if level else ir.TRUE

    def bounded(self, outputs: Sequence[Expr]) -> tuple[int, list[Expr]]:
        """The sources, and the level by which they must be bounded; 0 if none is safe."""
        order = [e for e in ir.topological(outputs) if not e.op.boolean and not is_decided(e)]
        for level in self.levels:
            sources = self._sources(order, level)
            if sources is not None:
                return level, sources
        return 0, []

    def least(self, e: Expr) -> int:
        """The exponent of the least magnitude that a node has unless it is zero, whatever the
        sources are; far below all exponents if there is none."""
        for n in ir.topological((e,), self.spans):
            if n.op.boolean or is_decided(n):
                self.spans[n] = (0, 0)
                continue
            compensated = n.op in (COMPENSATED, LIGHT)  # less than a unit of its terms may remain
            span = None if compensated else self.span(n, [self.spans[a] for a in n.args])
            self.spans[n] = span if span is not None else (-ANY, ANY)
        return self.spans[e][0]

    def _sources(self, order: Sequence[Expr], level: int) -> list[Expr] | None:
        """The sources to be bounded by 2**±level, or None if that is not safe."""
        spans: dict[Expr, Span] = {}
        sources = []
        for e in order:
            span = self.span(e, [spans.get(a, (0, 0)) for a in e.args])
            if span is None:
                span = (-level, level)
                sources.append(e)
            spans[e] = span
            if e.op is not CONST and (span[0] < -self.limit or span[1] > self.limit):
                return None
        return sources

    def span(self, e: Expr, spans: Sequence[Span]) -> Span | None:
        """The span of a node from those of its children; None for a source."""
        op = e.op
        if op is CONST:
            return _constant(e)
        if op is VAR:
            return None
        if not e.args:
            return (-2, 3)
        (a, b), *rest = spans
        if op in (NEG, ABS, COMPENSATED, LIGHT, PLAIN):
            return a, b
        if op in (ADD, SUB):
            return self._sum(e, (a, b), rest[0])
        if op is MUL:
            c, d = rest[0]
            return a + c, b + d
        if op is DIV:
            c, d = rest[0]
            return a - d, b - c
        if op is POW:
            return self._power(e, a, b)
        if op is WHERE or op in (*EXTREMES, HYPOT):
            sides = spans[1:] if op is WHERE else spans
            return min(s[0] for s in sides), max(s[1] for s in sides) + 1
        if op is CBRT:
            return a // 3 - 1, b // 3 + 1
        if op is SIGN:
            return 0, 0
        if op in LIKE_ARGUMENT:
            return min(a, -self.bits) - self.bits, max(0, min(b, 10)) + 2
        if op is COS:
            return -2 * self.bits, 0
        if op in LOGARITHMS:
            return min(a if op is LOG1P else 0, -self.bits) - 4, 12
        if op is EXPM1 and b <= 8:
            return a - 1, 2**b + 2 if b > 0 else 2
        return None

    def _sum(self, e: Expr, x: Span, y: Span) -> Span:
        """The span of a sum. Of terms of one sign the larger one remains. Terms that cancel are about equally
        large, so that at least a unit in the last place of the larger lower bound remains; if one term is zero,
        the other is the sum."""
        low = max(x[0], y[0]) - (0 if self.signs.adds_up(e) else self.bits + 1)
        if not self.signs.nonzero(e.args[0]):
            low = min(low, y[0])
        if not self.signs.nonzero(e.args[1]):
            low = min(low, x[0])
        return low, max(x[1], y[1]) + 1

    def _power(self, e: Expr, a: int, b: int) -> Span | None:
        q = ir.rational(e.args[1])
        if q is None:
            return None
        ends = (math.floor(a * q), math.ceil(b * q), math.floor(b * q), math.ceil(a * q))
        return min(ends), max(ends)


def _constant(e: Expr) -> Span:
    q = ir.rational(e)
    if not q:
        return 0, 0
    exponent = abs(q.numerator).bit_length() - q.denominator.bit_length()
    return exponent - 1, exponent + 1
