"""Where can rounded arithmetic be wrong? Running error analysis as expressions.

Before:  (1 - cos(t))/t**2
After:   and the condition 2*|cos(t)| > 7*|1 - cos(t)|, or t outside [2**-480, 2**480]

Requires: any DAG, to be computed operation by operation.
Ensures: where `doubt` is false, every output is finite and its error is at most
`FACTOR` times what rounding alone would make of the same operations without any
cancellation (`Doubt.inherent`), in units of rounding; and no branch was taken on
the strength of rounded values.

The error of a node v is bounded by k*|v| + A. k is a number known when
compiling: products, quotients, roots and sums of one sign only add to it. A is
computed along with v, but is zero until a sum can cancel or a function
amplifies the error of its argument. Underflow and overflow are excluded by
bounding the inputs: magnitudes follow statically from theirs.

First-order running error analysis after Wilkinson (1963) and Higham, Accuracy
and Stability of Numerical Algorithms (2002), section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from symdiff import ir
from symdiff.codegen.lower import MAX_CHAIN
from symdiff.functions import (
    ATAN,
    CEIL,
    COS,
    ERF,
    EXP,
    FLOOR,
    LOG,
    MAXIMUM,
    MINIMUM,
    ROUND,
    SIN,
    TANH,
    TRUNC,
)
from symdiff.ir import (
    ABS,
    ADD,
    COMPARISONS,
    DIV,
    FALSE,
    INF,
    MUL,
    NEG,
    POW,
    SIGN,
    SUB,
    VAR,
    WHERE,
    ZERO,
    Expr,
)
from symdiff.passes.magnitude import Magnitudes
from symdiff.passes.signs import Signs

STEPS = (FLOOR, CEIL, TRUNC, ROUND, SIGN)
TINY = {"float64": Fraction(1, 2**1010), "float32": Fraction(1, 2**120)}
"""An error of so many units is none, also of a value that is exactly zero."""
STRICT_SLACK = 3
MAX_SUM = 16
"""Terms of a sum that are bounded together."""
FUNCTION_ERROR = 2
"""Units by which a library function may miss the exact value."""
FACTOR, SLACK = Fraction(3, 2), 3
"""An output may err by `FACTOR` times its inherent rounding and `SLACK` units: worst
cases, of which a tenth is typical."""
UNITS = {"float64": 52, "float32": 23}
"""Two to the minus this bounds a unit of rounding, relative to the value."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The error of a node is at most `k*|node| + more` units of rounding."""

    k: Fraction = Fraction(0)
    more: Expr = ZERO

    @property
    def exact(self) -> bool:
        return self.k == 0 and self.more is ZERO


@dataclass(slots=True)
class Doubt:
    """Error bounds of the nodes of a DAG, and what must hold for them.

    Attributes
    ----------
    signs : sign analysis, which tells the sums that cannot cancel.
    bounds : of every node seen.
    inherent : units of rounding each node would carry if nothing cancelled.
    unsafe : branches and steps that hang on rounded values.
    """

    dtype: str = "float64"
    signs: Signs = field(default_factory=Signs)
    bounds: dict[Expr, Bound] = field(default_factory=dict)
    inherent: dict[Expr, Fraction] = field(default_factory=dict)
    unsafe: Expr = FALSE

    def of(self, e: Expr) -> Bound:
        for node in ir.topological((e,), self.bounds):
            self.bounds[node] = self._local(node)
            self.inherent[node] = self._inherent(node)
        return self.bounds[e]

    def within(self, e: Expr, units: Fraction) -> Expr:
        """The condition under which the error of a node is at most so many units.

        A product is as wrong, relative to itself, as its factors together; so its
        condition is that of the one factor whose error is not known statically."""
        bound = self.of(e)
        while bound.more is not ZERO:
            loose = [a for a in e.args if self.bounds[a].more is not ZERO]
            if e.op not in (MUL, DIV, NEG, ABS) or len(loose) != 1 or e.args[0] is e.args[-1]:
                break
            units, e = units - (bound.k - self.bounds[loose[0]].k), loose[0]
            bound = self.bounds[e]
        if bound.more is ZERO and units >= bound.k:
            return ir.TRUE
        allowed = ir.const(max(units - bound.k, Fraction(0))) * self.size(e)
        return ir.lt(bound.more, allowed + ir.const(TINY[self.dtype]))

    def size(self, e: Expr) -> Expr:
        """|e|, without the bars where they change nothing."""
        return e if self.signs.nonnegative(e) else ir.abs_(e)

    # ------------------------------------------------------------ propagation
    def _local(self, e: Expr) -> Bound:
        op, args = e.op, e.args
        if op.boolean:
            if op in COMPARISONS:
                self._decide(ir.sub(*args), args)
            return Bound()
        if (q := ir.rational(e)) is not None:
            return Bound() if is_exact(q, self.dtype) else Bound(Fraction(1))
        if not args:
            return Bound() if op in (VAR, ir.CONST) else Bound(Fraction(1))
        bounds = [self.bounds[a] for a in args]
        if op is NEG or op is ABS:
            return bounds[0]
        if op in (ADD, SUB):
            return self._sum(e, *bounds)
        if op is MUL:
            (a, b), (x, y) = args, bounds
            more = self._times(a, y.more) + self._times(b, x.more)
            rounding = 0 if _is_power_of_two(a) else 1
            return Bound(x.k + y.k + rounding, more)
        if op is DIV:
            x, y = bounds
            more = x.more + self._times(e, y.more)
            return Bound(x.k + y.k + 1, more if more is ZERO else more / ir.abs_(args[1]))
        if op is POW and (q := ir.rational(args[1])) is not None:
            more = bounds[0].more
            if more is not ZERO:
                more = ir.const(abs(q)) * ir.abs_(e) * (more / ir.abs_(args[0]))
            return Bound(abs(q) * bounds[0].k + _roundings(q), more)
        if op is WHERE:
            return self._join(args[0], *bounds[1:])
        if op in (MAXIMUM, MINIMUM):
            self._decide(args[0] - args[1], args)
            return self._join(ir.lt(*args) if op is MINIMUM else ir.lt(args[1], args[0]), *bounds)
        if op in STEPS:
            self._step(e)
            return Bound()
        return self._function(e, bounds)

    def _sum(self, e: Expr, x: Bound, y: Bound) -> Bound:
        if (x.exact and y.exact) or self._adds(e):
            return Bound(max(x.k, y.k) + 1, x.more + y.more)
        terms = _terms(e)
        spread, more = ZERO, ZERO
        for term, depth in terms:
            bound = self.bounds[term]
            spread = spread + self._scaled(bound.k + depth - 1, term)
            more = more + bound.more
        return Bound(Fraction(1), spread + more)

    def _adds(self, e: Expr) -> bool:
        """Whether both terms of a sum have one sign, so that nothing cancels."""
        a, b = (self.signs.of(x) for x in e.args)
        if e.op is SUB:
            b = self.signs.of(ir.neg(e.args[1]))
        return not (a | b) & 1 or not (a | b) & 4

    def _join(self, condition: Expr, x: Bound, y: Bound) -> Bound:
        return Bound(max(x.k, y.k), ir.where(condition, x.more, y.more))

    def _function(self, e: Expr, bounds: Sequence[Bound]) -> Bound:
        total: Expr = ZERO
        if not all(x.exact for x in bounds):
            for slope, x, a in zip(self._slopes(e), bounds, e.args, strict=True):
                if not x.exact:
                    total = total + slope * (self._scaled(x.k, a) + x.more)
        return Bound(Fraction(FUNCTION_ERROR), total)

    def _slopes(self, e: Expr) -> tuple[Expr, ...]:
        if e.op is POW:
            base, exponent = e.args
            return ir.abs_(e * exponent / base), ir.abs_(e * LOG(base))
        if e.op.slope is not None:
            return e.op.slope(*e.args)
        partials = e.op.partials(*e.args) if e.op.partials else (INF,) * len(e.args)
        return tuple(ZERO if p is None else ir.abs_(p) for p in partials)

    def _scaled(self, k: Fraction, e: Expr) -> Expr:
        return ZERO if k == 0 else _rounded_up(k) * self.size(e)

    def _times(self, a: Expr, error: Expr) -> Expr:
        return ZERO if error is ZERO else self.size(a) * error

    # --------------------------------------------------------------- decisions
    def _decide(self, difference: Expr, args: Sequence[Expr]) -> None:
        """The sign of a difference is in doubt within the error of its terms."""
        error: Expr = ZERO
        for a in args:
            error = error + self._scaled(self.bounds[a].k, a) + self.bounds[a].more
        self._near(difference, error)

    def _step(self, e: Expr) -> None:
        (x,) = e.args
        edge = x - FLOOR(x) - ir.HALF if e.op is ROUND else x if e.op is SIGN else x - ROUND(x)
        self._near(edge, self._scaled(self.bounds[x].k, x) + self.bounds[x].more)

    def _near(self, difference: Expr, error: Expr) -> None:
        if error is not ZERO:
            unit = ir.const(Fraction(1, 2 ** UNITS[self.dtype]))
            safe = ir.lt(unit * error, ir.abs_(difference))
            self.unsafe = ir.or_(self.unsafe, ir.not_(safe))

    # --------------------------------------------------------- without cancelling
    def _inherent(self, e: Expr) -> Fraction:
        op, args = e.op, e.args
        bound = self.bounds[e]
        if op.boolean or op in STEPS or not args:
            return bound.k
        ks = [self.inherent[a] for a in args]
        if op in (ADD, SUB):
            return max(ks) + 1
        if op in (MUL, DIV):
            return ks[0] + ks[1] + 1
        if op is POW and (q := ir.rational(args[1])) is not None:
            return abs(q) * ks[0] + _roundings(q)
        if op in (NEG, ABS, WHERE, MAXIMUM, MINIMUM):
            return max(ks)
        return max(ks) + FUNCTION_ERROR


def doubt(
    outputs: Iterable[Expr],
    limit: int | None = None,
    dtype: str = "float64",
    facts: Iterable[Expr] = (),
    strict: bool = False,
) -> Expr:
    """The condition under which some output may be off by more than `limit` units of
    rounding, or is not finite. Without a limit, an output may err by `FACTOR` times
    what it carries without cancellation, or by no more than that if `strict`."""
    outputs = tuple(dict.fromkeys(outputs))
    work = Doubt(dtype, Signs(facts))
    total, sizes = FALSE, ZERO
    unbounded: set[Expr] = set()
    for e in ir.topological(outputs):
        if _may_be_infinite(e) or any(a in unbounded for a in e.args):
            unbounded.add(e)
    for output in outputs:
        bound = work.of(output)
        if bound.exact and not output.args:
            continue
        units = Fraction(limit or 0)
        if limit is None:
            factor, slack = (1, STRICT_SLACK) if strict else (FACTOR, SLACK)
            units = factor * work.inherent[output] + slack
        if output in unbounded:
            sizes = sizes + work.size(output)
        total = ir.or_(total, ir.not_(work.within(output, units)))
    if sizes is not ZERO:
        total = ir.or_(total, ir.not_(ir.lt(sizes, INF)))
    total = ir.or_(total, work.unsafe)
    return ir.or_(total, Magnitudes(dtype, work.signs).outside(outputs))


FINITE = (ADD, SUB, MUL, NEG, ABS, WHERE, SIN, COS, TANH, ATAN, EXP, ERF, MAXIMUM, MINIMUM, *STEPS)
"""Finite for finite arguments, unless they overflow."""


def _may_be_infinite(e: Expr) -> bool:
    if e.op is POW and (q := ir.rational(e.args[1])) is not None:
        return q.denominator != 1
    return bool(e.args) and not e.op.boolean and e.op not in FINITE


def is_exact(q: Fraction, dtype: str = "float64") -> bool:
    """Whether a rational is a number of the type."""
    bits, low, high = (53, -1074, 1024) if dtype == "float64" else (24, -149, 128)
    n, d = abs(q.numerator), q.denominator
    if d & (d - 1):
        return False
    odd = n // (n & -n) if n else 0
    return odd.bit_length() <= bits and (n < 2**high) and (d <= 2**-low)


def _rounded_up(k: Fraction) -> Expr:
    return ir.const(Fraction(math.ceil(k * 4), 4))


def _terms(e: Expr) -> list[tuple[Expr, int]]:
    """The terms of a sum, up to signs, and how many additions each goes through."""
    terms = [(a, 1) for a in e.args]
    while len(terms) < MAX_SUM:
        at = next((i for i, (t, _) in enumerate(terms) if t.op in (ADD, SUB)), None)
        if at is None:
            break
        inner, depth = terms[at]
        terms[at : at + 1] = [(a, depth + 1) for a in inner.args]
    return terms


def _roundings(q: Fraction) -> int:
    """Units that a constant power adds to the error of its base: those of repeated
    squaring, or of a library function."""
    if q == Fraction(1, 2):
        return 1
    if q.denominator == 1 and q <= MAX_CHAIN:
        return int(q) - 1
    return FUNCTION_ERROR


def _is_power_of_two(e: Expr) -> bool:
    q = ir.rational(e)
    if q is None or q == 0:
        return False
    n, d = abs(q.numerator), q.denominator
    return not n & (n - 1) and not d & (d - 1)
