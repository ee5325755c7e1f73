"""Bounds of the rounding errors of nodes: running error analysis as expressions.

Before:  1 - cos(t), with t a double
After:   at most 1 unit of its own, and 2*|cos(t)| units from the cosine

Requires: any DAG, to be computed operation by operation.
Ensures: the error of a node v is at most (k + R)*|v| + A units of rounding, to first order.
k is a number known when compiling: products, quotients, roots and sums of one sign only add to
it. R and A are expressions to be computed along with v, but are zero until a sum can cancel or
a function amplifies the error of its argument.

First-order running error analysis after Wilkinson (1963) and Higham, Accuracy
and Stability of Numerical Algorithms (2002), section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from symdiff import ir
from symdiff.ir import (
    ABS,
    ADD,
    COMPARISONS,
    DIV,
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
from symdiff.ir.functions import (
    CEIL,
    EXTREMES,
    FLOOR,
    FLOOR_QUOTIENT,
    LOG,
    MINIMA,
    ROUND,
    TRUNC,
    UNIT,
)
from symdiff.ir.plain import decides_plainly, real_op
from symdiff.lowering.compensated.evaluate import is_power_of_two
from symdiff.lowering.lower import fused
from symdiff.lowering.target import (
    ARRAY_CHAIN,
    COMPENSATED,
    COMPENSATED_EXP,
    COMPENSATED_EXPM1,
    LIGHT,
    MAX_CHAIN,
    PLAIN,
)
from symdiff.passes.accuracy.residual import (
    LIGHT_FUNCTIONS,
    PRODUCTS,
    Bound,
    Conditions,
    ResidualBounds,
    safe_above,
)
from symdiff.passes.analysis.band_extent import largest
from symdiff.passes.analysis.signs import Signs

STEPS = (FLOOR, CEIL, TRUNC, ROUND, SIGN)
INTEGERS = {"float64": 2**52, "float32": 2**23}
"""All integers up to this are numbers of the type."""
CHEAP = 2
"""A term with no more units of error is bounded by the other and the sum."""
MAX_SUM = 16
"""The most terms of a sum to bound together."""
FUNCTION_ERROR, VECTOR_ERROR = 2, 2
"""Units of error of a library function, and of a SIMD one."""
EXPONENT_ERROR = 4
"""Units of error from the rounding of an exponent; a very large or small base has more."""
LARGEST_LOGARITHM = 700
"""About the largest logarithm of a double, and of a reciprocal of a normal one."""
UNITS = {"float64": 52, "float32": 23}
"""Two to the minus this bounds a unit of rounding, relative to the value."""


@dataclass(slots=True)
class Bounds:
    """Error bounds of the nodes of a DAG.

    Attributes
    ----------
    signs : sign analysis, which finds the sums that cannot cancel.
    fuses : whether sums are rounded together with a product, as in `lower`.
    lean : whether the processor flags overflow and underflow.
    bounds : the bounds of all nodes so far.
    inherent : units of rounding each node would carry if nothing cancelled.
    safe : conditions under which no value that decides a branch or a step of a node depends on rounding.
    term_by_term : the bounds of the nodes if each operation is rounded by itself.
    functions : their parts due to functions, in which an operation counts as `unit`.
    series : see `extent.series_in_bands`.
    left : their remainders where errors are computed along.
    values : bounds of functions whose values are used without their errors.
    compensated : the nodes that are computed with their errors.
    """

    dtype: str = "float64"
    signs: Signs = field(default_factory=Signs)
    bounds: dict[Expr, Bound] = field(default_factory=dict)
    inherent: dict[Expr, Fraction] = field(default_factory=dict)
    safe: dict[Expr, Conditions] = field(default_factory=dict)
    fuses: bool = False
    lean: bool = False
    chain: int = MAX_CHAIN
    strict: bool = False
    term_by_term: Bounds | None = None
    functions: Bounds | None = None
    left: ResidualBounds | None = None
    values: ResidualBounds | None = None
    unit: Fraction = Fraction(1)
    series: Mapping[Expr, Expr] = field(default_factory=dict)
    compensated: set[Expr] = field(default_factory=set)

    def of(self, e: Expr) -> Bound:
        for node in ir.topological((e,), self.bounds):
            self.safe[node] = safe_above(node, [self.safe[a] for a in node.args])
            self.bounds[node] = self._local(node)
            if node in self.series:
                self.bounds[node] = self._over_band(self.series[node], self.bounds[node])
            bound, inherent = self.bounds[node], self._inherent(node)
            self.inherent[node] = min(inherent, bound.k) if bound.static else inherent
        return self.bounds[e]

    def loose(self, e: Expr) -> Expr:
        """The one factor of a product that makes its error unknown statically."""
        while self.bounds[e].more is not ZERO:
            found = [a for a in e.args if self.bounds[a].more is not ZERO]
            if e.op not in (MUL, DIV, NEG, ABS) or len(found) != 1 or e.args[0] is e.args[-1]:
                break
            e = found[0]
        return e

    def _roundings(self, q: Fraction) -> int:
        """Units that a constant power adds to the error of its base: those of repeated
        squaring, or of a library function."""
        if q == Fraction(1, 2):
            return 1
        n = abs(q.numerator)
        if q.denominator <= 2 and n <= self.chain:
            return (n if q.denominator == 1 else 2 * n) - (q > 0)
        return FUNCTION_ERROR + (EXPONENT_ERROR if self._exponent_error(q) else 0)

    def _exponent_error(self, q: Fraction) -> Fraction:
        """The error of an exponent that is no number of the type; roots are computed as such."""
        if q.denominator <= 3 or is_exact(q, self.dtype):
            return Fraction(0)
        return abs(q) * Fraction(1, 2 ** (UNITS[self.dtype] + 1))

    def _rounded_exponent(self, e: Expr, q: Fraction) -> None:
        """Flag bases of powers so large or small that the rounding of an exponent counts."""
        error = self._exponent_error(q)
        if not error:
            return
        most = EXPONENT_ERROR * Fraction(1, 2 ** UNITS[self.dtype]) / error
        if most < LARGEST_LOGARITHM:
            large, size = Fraction(math.exp(most)), ir.abs_(e.args[0])
            small = ir.and_(ir.lt(ZERO, size), ir.lt(size, ir.const(1 / large)))
            self._demand(e, ir.not_(ir.or_(ir.lt(ir.const(large), size), small)))

    def size(self, e: Expr) -> Expr:
        """|e|, without the bars where they change nothing."""
        return e if self.signs.nonnegative(e) else ir.abs_(e)

    # ------------------------------------------------------------ propagation
    def _local(self, e: Expr) -> Bound:
        op, args = real_op(e.op), e.args
        if op is FLOOR_QUOTIENT:
            self._rounded_integer(e)
            return Bound()
        if op.boolean:
            if op in COMPARISONS and not decides_plainly(e):
                self._decide(e, ir.sub(*args))
            return Bound()
        if (q := ir.rational(e)) is not None:
            return Bound() if is_exact(q, self.dtype) else Bound(self.unit)
        if not args:
            return Bound() if op in (VAR, ir.CONST) else Bound(self.unit)
        if op is COMPENSATED or op is LIGHT:
            return self._compensated(e)
        if op is PLAIN:
            return self._plain(e)
        if op in (COMPENSATED_EXP, COMPENSATED_EXPM1):
            return Bound(Fraction(self._own_error(e) + 2))
        bounds = [self.bounds[a] for a in args]
        if op is WHERE:
            return self._join(args[0], self._over_band(e, bounds[1]), bounds[2])
        if op in EXTREMES:
            if not decides_plainly(e):
                self._decide(e, args[0] - args[1])
            return self._join(ir.lt(*args) if op in MINIMA else ir.lt(args[1], args[0]), *bounds)
        if op in STEPS:
            if not decides_plainly(e):
                self._step(e)
            elif self.dtype == "float32" and args[0].args:  # the integer is found in doubles
                self._rounded_integer(e)
            return Bound()
        return self._arithmetic(e, bounds)

    def _arithmetic(self, e: Expr, bounds: list[Bound]) -> Bound:
        """The bounds of operations that round, and of functions."""
        op, args = real_op(e.op), e.args
        if op is NEG or op is ABS:
            return bounds[0]
        if op in (ADD, SUB):
            return self._sum(e, *bounds)
        if op is MUL:
            (a, b), (x, y) = args, bounds
            more = self._times(a, y.more) + self._times(b, x.more)
            rounding = 0 if is_power_of_two(a) else self.unit
            return Bound(x.k + y.k + rounding, more, x.relative + y.relative)
        if op in (DIV, UNIT):
            x, y = bounds
            more = x.more + self._times(e, y.more)
            more = more if more is ZERO else more / ir.abs_(args[1])
            rounding = 0 if is_power_of_two(args[1]) else self.unit
            return Bound(x.k + y.k + rounding, more, x.relative + y.relative)
        if op is POW and (q := ir.rational(args[1])) is not None:
            own = self.unit * self._roundings(q)
            if op is e.op:
                self._rounded_exponent(e, q)
            k, more, relative = abs(q) * bounds[0].k + own, bounds[0].more, ZERO
            if more is not ZERO:
                more = self._power_error(e, abs(q), more)
            if bounds[0].relative is not ZERO:
                relative = ir.const(abs(q)) * bounds[0].relative
            return Bound(k, more, relative)
        return self._function(e, bounds)

    def _power_error(self, e: Expr, q: Fraction, more: Expr) -> Expr:
        """The error of a power, from the error of its base; q: the size of the exponent."""
        return ir.const(q) * ir.abs_(e) * (more / ir.abs_(e.args[0]))

    def _sum(self, e: Expr, x: Bound, y: Bound) -> Bound:
        if (x.exact and y.exact) or self.signs.adds_up(e):
            relative = x.relative if y.relative is ZERO else y.relative
            more = x.more + y.more
            if ZERO is not x.relative is not y.relative is not ZERO:
                relative = ZERO
                for bound, a in zip((x, y), e.args, strict=True):
                    more = more + self._times(a, bound.relative)
            ks = (b.k - s for b, s in zip((x, y), self._saved(e), strict=True))
            return Bound(max(ks) + self.unit, more, relative)
        terms = self._terms(e)
        own = self.unit
        if len(terms) == 2:  # |a| <= |b| + |a+b|
            terms.sort(key=lambda term: (ir.rational(term[0]) is None, term[1]))
            (a, k), (b, more_k) = terms
            if more_k <= CHEAP and self.bounds[b].relative is ZERO:
                own, terms = own + more_k, [(a, k + more_k)]
                return Bound(own, self._absolute(terms) + self.bounds[b].more)
        return Bound(own, self._absolute(terms))

    def _absolute(self, terms: Iterable[tuple[Expr, Fraction]]) -> Expr:
        """The error of terms, each with its k."""
        total = ZERO
        for term, k in terms:
            bound = self.bounds[term]
            total = total + self._scaled(k, term) + bound.more
            total = total + self._times(term, bound.relative)
        return total

    def _saved(self, e: Expr) -> tuple[int, int]:
        """The roundings of the operands of a sum that are saved."""
        at = fused(e) if self.fuses else None
        if at is None:
            return 0, 0
        product = e.args[at].args[0] if e.args[at].op is NEG else e.args[at]
        saved = int(product.op is not MUL or not is_power_of_two(product.args[0]))
        return (saved, 0) if at == 0 else (0, saved)

    def _terms(self, e: Expr) -> list[tuple[Expr, Fraction]]:
        """The terms of a sum, up to signs, and the units of error of each without the last
        addition."""
        terms = [(a, Fraction(-s)) for a, s in zip(e.args, self._saved(e), strict=True)]
        while len(terms) < MAX_SUM:
            at = next((i for i, (t, _) in enumerate(terms) if t.op in (ADD, SUB)), None)
            if at is None:
                break
            inner, extra = terms[at]
            parts = zip(inner.args, self._saved(inner), strict=True)
            terms[at : at + 1] = [(a, extra + self.unit - s) for a, s in parts]
        return [(t, self.bounds[t].k + extra) for t, extra in terms]

    def _term_by_term(self, e: Expr) -> Bound:
        """The error of a node if every operation is rounded by itself."""
        if self.term_by_term is None:
            self.term_by_term = Bounds(
                self.dtype, self.signs, chain=ARRAY_CHAIN, lean=self.lean, series=self.series
            )
        return self.term_by_term.of(e)

    def _compensated(self, node: Expr) -> Bound:
        """The bounds of a node that is computed with its errors."""
        (e,), light = node.args, node.op is LIGHT
        bound = self._term_by_term(e)
        assert self.term_by_term is not None
        if self.left is None:
            self.left = ResidualBounds(self.term_by_term.bounds, self.term_by_term.slopes, light)
        part, series = self.left.of(e)
        if light and part == LIGHT_FUNCTIONS:
            if self.functions is None:
                self.functions = replace(
                    self.term_by_term,
                    bounds={},
                    inherent={},
                    safe={},
                    unit=PRODUCTS / LIGHT_FUNCTIONS,
                )
            bound = self.functions.of(e)
        self.safe[node] = self.term_by_term.safe[e] | self.left.safe[e]
        self.compensated.update(ir.topological((e,), self.compensated))
        error = bound.more + self._times(e, bound.relative)
        return Bound(max(Fraction(2), 1 + bound.k * part), ir.const(part) * error + series)

    def _plain(self, node: Expr) -> Bound:
        """The bounds of the value of such a node without its errors."""
        (e,) = node.args
        bound = self._term_by_term(e)
        assert self.term_by_term is not None
        if self.values is None:
            self.values = ResidualBounds(
                self.term_by_term.bounds, self.term_by_term.slopes, errorless=True
            )
        self.values.of(e)
        self.safe[node] = self.term_by_term.safe[e] | self.values.safe[e]
        self.compensated.update(ir.topological((e,), self.compensated))
        return bound

    def _over_band(self, e: Expr, bound: Bound) -> Bound:
        """The error of a series in a band, where it is bounded over the whole band."""
        if bound.static:
            return bound
        e, node = e.args[1], e
        more = self.loose(e)
        worst = largest(bound.relative + self.bounds[more].more / ir.abs_(more), node)
        if worst is None:
            return bound
        self.inherent[e] = min(self.inherent.get(e, bound.k + worst), bound.k + worst)
        return Bound(bound.k + worst)

    def _join(self, condition: Expr, x: Bound, y: Bound) -> Bound:
        relative = ir.where(condition, x.relative, y.relative)
        return Bound(max(x.k, y.k), ir.where(condition, x.more, y.more), relative)

    def _function(self, e: Expr, bounds: Sequence[Bound]) -> Bound:
        total: Expr = ZERO
        relative: Expr = ZERO
        if not all(x.exact for x in bounds):
            for slope, x, a in zip(self.slopes(e), bounds, e.args, strict=True):
                if x.exact:
                    continue
                error = self._absolute([(a, x.k)])
                if slope is e or slope is ir.abs_(e):
                    relative = relative + error
                else:
                    total = total + slope * error
        return Bound(Fraction(self._own_error(e)), total, relative)

    def _own_error(self, e: Expr) -> int:
        scalar = self.strict or not (real_op(e.op).vector or e.op is COMPENSATED_EXP)
        return FUNCTION_ERROR if scalar else VECTOR_ERROR

    def slopes(self, e: Expr) -> tuple[Expr, ...]:
        """Bounds of the derivatives of a function by each argument."""
        op = real_op(e.op)
        if op is POW:
            base, exponent = e.args
            return ir.abs_(e * exponent / base), ir.abs_(e * LOG(base))
        if op.slope is not None:
            return op.slope(*e.args)
        partials = op.partials(*e.args) if op.partials else (INF,) * len(e.args)
        return tuple(ZERO if p is None else ir.abs_(p) for p in partials)

    def _scaled(self, k: Fraction, e: Expr) -> Expr:
        return ZERO if k == 0 else _rounded_up(k) * self.size(e)

    def _times(self, a: Expr, error: Expr) -> Expr:
        return ZERO if error is ZERO else self.size(a) * error

    # --------------------------------------------------------------- decisions
    def _demand(self, e: Expr, condition: Expr) -> None:
        """Flag a node where a condition does not hold."""
        self.safe[e][condition] = None

    def _decide(self, e: Expr, difference: Expr) -> None:
        """Flag what depends on the sign of the difference of its arguments within the error of these;
        the sign of a single one is not flagged, if its relative error is known, nor whether a value is nan."""
        args = e.args
        if args[0] is args[1]:
            return
        if any(a is ZERO for a in args) and all(self.bounds[a].static for a in args):
            return
        error = self._absolute((a, self.bounds[a].k) for a in args)
        self._near(e, difference, error)

    def _step(self, e: Expr) -> None:
        (x,) = e.args
        edge = x - FLOOR(x) - ir.HALF if e.op is ROUND else x if e.op is SIGN else x - ROUND(x)
        self._near(e, edge, self._absolute([(x, self.bounds[x].k)]))

    def _rounded_integer(self, e: Expr) -> None:
        """Flag integers that are computed in doubles and may be no numbers of the type."""
        self._demand(e, ir.not_(ir.lt(ir.const(INTEGERS[self.dtype]), ir.abs_(e))))

    def _near(self, e: Expr, difference: Expr, error: Expr) -> None:
        if error is not ZERO:
            unit = ir.const(Fraction(1, 2 ** UNITS[self.dtype]))
            self._demand(e, ir.lt(unit * error, ir.abs_(difference)))

    # --------------------------------------------------------- without cancelling
    def _inherent(self, e: Expr) -> Fraction:
        op, args = real_op(e.op), e.args
        bound = self.bounds[e]
        if op.boolean or op in STEPS or not args or op is FLOOR_QUOTIENT:
            return bound.k
        ks = [self.inherent[a] for a in args]
        if op in (ADD, SUB):
            return max(k - s for k, s in zip(ks, self._saved(e), strict=True)) + 1
        if op in (MUL, DIV, UNIT):
            exact = is_power_of_two(args[0] if op is MUL else args[1])
            return ks[0] + ks[1] + (not exact)
        if op is POW and (q := ir.rational(args[1])) is not None:
            return abs(q) * ks[0] + self._roundings(q)
        if op in (COMPENSATED, LIGHT, PLAIN):
            assert self.term_by_term is not None
            return self.term_by_term.inherent[args[0]]
        if op in (NEG, ABS, WHERE, *EXTREMES):
            return max(ks)
        return max(ks) + self._own_error(e)


def is_exact(q: Fraction, dtype: str = "float64") -> bool:
    """Whether a rational is a number of the type."""
    bits, low, high = (53, -1074, 1024) if dtype == "float64" else (24, -149, 128)
    n, d = abs(q.numerator), q.denominator
    if d & (d - 1):
        return False
    odd = n // (n & -n) if n else 0
    return odd.bit_length() <= bits and (n < 2**high) and (d <= 2**-low)


def _rounded_up(k: Fraction) -> Expr:
    """A short number that is no less, for tests."""
    steps = 4 if k >= 1 else 256
    return ir.const(Fraction(math.ceil(k * steps), steps))
