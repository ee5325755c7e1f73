"""The outputs in double-double arithmetic, and where even that may be wrong.

Before:  (1 - cos(t))/t**2
After:   its value as the high part of a pair computed to about 2**-100, and a
         condition: its error may be above 2**-57 of the value

Requires: any DAG in closed form; nodes that depend on a function without a double-double version
are flagged.
Ensures: where `flagged` is false, every output is the true value rounded to
double with an error below 0.57 ulp; or the true value is below the normal
doubles; or it is nan as an input is nan or outside the domain of a function.

Every node is a pair, a bound of its error in units of 2**-106, and a condition
under which it is certainly nan. A choice that rounding may have decided has an
infinite bound, which counts only where that choice does. Running error analysis:
Higham, Accuracy and Stability of Numerical Algorithms (2002), section 3.3.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from symdiff import ir
from symdiff.ir import FALSE, INF, NAN, ONE, TRUE, ZERO, Expr, Op, const
from symdiff.ir import functions as f
from symdiff.ir.loop_program import exchanged
from symdiff.ir.plain import is_plain
from symdiff.lowering.double_double import arithmetic as dd
from symdiff.lowering.double_double import pairs
from symdiff.lowering.double_double.arithmetic import Pair
from symdiff.lowering.double_double.functions import FLOOR, RULES, UNIT, named
from symdiff.lowering.lower import lower
from symdiff.lowering.quotients import fused_quotients
from symdiff.lowering.target import by_squaring
from symdiff.passes.accuracy.far_constants import without_far_constants
from symdiff.passes.accuracy.softmax import shared

ACCEPTED = Fraction(1, 2**57)
"""Relative error with which a result is accepted."""
LARGEST_POWER = 64
"""Integer powers up to this are multiplied out."""

_UNIT = const(2 * UNIT)
"""Converts a bound to an absolute error; the factor 2 covers the rounding of the bounds."""
_FLOOR = const(FLOOR / UNIT)
_SMALLEST = Fraction(1, 2**1022)


@dataclass(frozen=True, slots=True)
class Wide:
    """A real node: its pair, the bound of its error, where it is certainly nan."""

    pair: Pair
    error: Expr
    invalid: Expr = FALSE

    @property
    def hi(self) -> Expr:
        return self.pair.hi

    @property
    def size(self) -> Expr:
        return ir.abs_(self.pair.hi)


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition, and where rounding may have decided it."""

    holds: Expr
    unsure: Expr


def widen(outputs: Sequence[Expr]) -> tuple[tuple[Expr, ...], Expr]:
    """The outputs in double-double arithmetic, and the condition under which they are flagged.

    Parameters
    ----------
    outputs : real or boolean nodes in closed form: a series that only reaches
        double precision would be taken as exact.

    Returns
    -------
    tuple
            Raw nodes for `lowering.double_double.pairs` to print unchanged, and a condition.
    """
    widening = _Widening()
    values = [widening.of(o) for o in shared(without_far_constants(outputs))]
    flagged = FALSE
    for value in dict.fromkeys(values):
        if isinstance(value, Choice):
            flagged = ir.or_(flagged, value.unsure)
            continue
        fine = ir.and_(
            ir.le(ir.mul(const(UNIT / ACCEPTED), value.error), value.size),
            ir.lt(value.size, INF),
        )
        tiny = ir.lt(value.error * _UNIT + value.size, const(_SMALLEST))
        fine = ir.or_(ir.or_(fine, tiny), value.invalid)
        flagged = ir.or_(flagged, ir.not_(fine))
    results = tuple(v.holds if isinstance(v, Choice) else v.hi for v in values)
    return results, flagged


class _Widening:
    def __init__(self, leaves: Mapping[Expr, Wide] = MappingProxyType({})) -> None:
        self.known: dict[Expr, Wide | Choice] = dict(leaves)
        self.expanded: dict[Expr, Expr] = {}

    def of(self, e: Expr) -> Wide | Choice:
        for node in ir.children_first((e,), self._needs, self.known):
            self.known[node] = self._local(node)
        return self.known[e]

    def real(self, e: Expr) -> Wide:
        value = self.known[e]
        assert isinstance(value, Wide)
        return value

    def choice(self, e: Expr) -> Choice:
        value = self.known[e]
        assert isinstance(value, Choice)
        return value

    def _needs(self, e: Expr) -> tuple[Expr, ...]:
        """The nodes whose values this one depends on."""
        if e.op in _DIRECT:
            return e.args
        if e.op is f.FLOOR_QUOTIENT:
            return e.args
        if e.op in RULES:
            return (*e.args, f.domain(e.op, e.args))
        if e.op.expand is not None:
            if e not in self.expanded:
                self.expanded[e] = e.op.expand(*e.args)
            return (self.expanded[e],)
        return e.args

    def _local(self, e: Expr) -> Wide | Choice:
        op, args = e.op, e.args
        if e in self.expanded:
            return self.known[self.expanded[e]]
        if op.boolean:
            return self._condition(e)
        if not args:
            return _leaf(e)
        if op is f.FLOOR_QUOTIENT:
            (quotient,) = fused_quotients((ir.raw(op, tuple(self.real(a).hi for a in args)),))
            whole = ir.lt(ir.abs_(quotient), const(2**52))
            return Wide(dd.exact(quotient), ir.where(whole, ZERO, INF), FALSE)
        if is_plain(e):
            value = ir.raw(op, tuple(self.real(a).hi for a in args))
            return Wide(dd.exact(value), ZERO, ir.not_(ir.raw(ir.EQ, (value, value))))
        if op is ir.WHERE:
            condition = self.choice(args[0])
            a, b = self.known[args[1]], self.known[args[2]]
            assert isinstance(a, Wide) and isinstance(b, Wide)
            return _where(condition, a, b)
        wides = [self.real(a) for a in args]
        if op in _ARITHMETIC:
            return _ARITHMETIC[op](*wides)
        if op in _STEPS:
            return _step(op, wides[0])
        if op is f.FMOD:
            return _fmod(*wides)
        if op is ir.POW and (q := ir.rational(args[1])) is not None:
            found = _power(wides[0], q)
            if found is not None:
                return _outside(found, self._domain(e))
        if op in RULES:
            return _outside(_function(e, wides), self._domain(e))
        invalid = _any_invalid(wides)  # then it is nan; else it is unknown
        return Wide(Pair(ir.where(invalid, NAN, wides[0].hi), wides[0].pair.lo), INF, invalid)

    def _domain(self, e: Expr) -> Choice:
        return self.choice(f.domain(e.op, e.args))

    def _condition(self, e: Expr) -> Choice:
        op, args = e.op, e.args
        if op is ir.BOOL:
            return Choice(e, FALSE)
        if op in ir.COMPARISONS:
            return _compare(op, self.real(args[0]), self.real(args[1]))
        parts = [self.choice(a) for a in args]
        if op is ir.NOT:
            return Choice(ir.not_(parts[0].holds), parts[0].unsure)
        a, b = parts
        if op is ir.WHERE:
            raise ValueError("a choice between conditions consists of and, or, not")
        decides = a.holds if op is ir.OR else ir.not_(a.holds)
        other = b.holds if op is ir.OR else ir.not_(b.holds)
        settled = ir.or_(ir.and_(decides, ir.not_(a.unsure)), ir.and_(other, ir.not_(b.unsure)))
        unsure = ir.and_(ir.or_(a.unsure, b.unsure), ir.not_(settled))
        join = ir.or_ if op is ir.OR else ir.and_
        return Choice(join(a.holds, b.holds), unsure)


# ----------------------------------------------------------------------- helpers
def _any_invalid(wides: Sequence[Wide]) -> Expr:
    found = FALSE
    for w in wides:
        found = ir.or_(found, w.invalid)
    return found


def _outside(value: Wide, inside: Choice) -> Wide:
    """Certainly nan where an argument is certainly outside of the domain."""
    surely = ir.and_(ir.not_(inside.holds), ir.not_(inside.unsure))
    pair = Pair(ir.where(surely, NAN, value.hi), value.pair.lo)
    return Wide(pair, value.error, ir.or_(value.invalid, surely))


def _units(n: int, size: Expr) -> Expr:
    return ir.mul(const(n), size)


def _leaf(e: Expr) -> Wide:
    if e.op is ir.VAR:
        return Wide(dd.exact(e), ZERO, ir.not_(ir.raw(ir.EQ, (e, e))))
    if e.op is ir.CONST and not isinstance(e.value, Fraction):
        return Wide(dd.exact(e), ZERO, TRUE if math.isnan(e.value) else FALSE)
    q = named(e.op) if e.op is not ir.CONST else e.value
    hi, lo, rest = dd.expansion(q, 3)
    return Wide(Pair(hi, lo), ZERO if rest is ZERO else _units(1, ir.abs_(hi)))


def _where(condition: Choice, a: Wide, b: Wide) -> Wide:
    c = condition.holds
    error = ir.where(condition.unsure, INF, ir.where(c, a.error, b.error))
    invalid = ir.and_(ir.where(c, a.invalid, b.invalid), ir.not_(condition.unsure))
    pair = Pair(ir.where(c, a.pair.hi, b.pair.hi), ir.where(c, a.pair.lo, b.pair.lo))
    return Wide(pair, error, invalid)


def _distance(a: Pair, b: Pair) -> Expr:
    high = dd.minus(a.hi, b.hi)
    if a.lo is ZERO and b.lo is ZERO:
        return ir.abs_(high)
    return ir.abs_(dd.plus(high, dd.minus(a.lo, b.lo)))


def _compare(op: Op, a: Wide, b: Wide) -> Choice:
    """A comparison: False where an operand is certainly nan; undecided within the error, and where
    an operand overflowed."""
    found = _compare_numbers(op, a, b)
    numbers = ir.not_(ir.or_(a.invalid, b.invalid))
    return Choice(ir.and_(numbers, found.holds), ir.and_(numbers, found.unsure))


def _compare_numbers(op: Op, a: Wide, b: Wide) -> Choice:
    x, y = a.pair, b.pair
    if x.lo is ZERO and y.lo is ZERO:
        holds = ir.apply(op, x.hi, y.hi)
    else:
        holds = dd.compared(op, x, y)
    error = a.error + b.error
    if x.lo is ZERO and y.lo is ZERO and error is ZERO:
        return Choice(holds, FALSE)
    for one, other in ((a, b), (b, a)):
        if one.hi.op is ir.CONST and isinstance(one.hi.value, float):  # infinite
            finite = ir.lt(other.size, INF)
            clear = ir.or_(finite, ir.le(other.error, ZERO))
            return Choice(ir.apply(op, x.hi, y.hi), ir.not_(clear))
    distance = _distance(x, y)
    clear = ir.lt(ir.mul(error, _UNIT), distance)
    clear = ir.or_(clear, ir.le(error, ZERO))
    return Choice(holds, ir.not_(ir.and_(clear, ir.lt(distance, INF))))


# -------------------------------------------------------------------- arithmetic
def add(a: Wide, b: Wide) -> Wide:
    """The sum."""
    pair = pairs.add(a.pair, b.pair)
    error = a.error + b.error
    if a.pair.lo is not ZERO or b.pair.lo is not ZERO:
        error = error + _units(4, ir.abs_(pair.hi))
    return Wide(pair, error, ir.or_(a.invalid, b.invalid))


def _neg(a: Wide) -> Wide:
    lo = a.pair.lo
    pair = Pair(dd.minus_of(a.hi), ZERO if lo is ZERO else dd.minus_of(lo))
    return Wide(pair, a.error, a.invalid)


def _sub(a: Wide, b: Wide) -> Wide:
    return add(a, _neg(b))


def _abs(a: Wide) -> Wide:
    below = dd.negative(a.pair)
    minus = _neg(a).pair
    pair = Pair(ir.where(below, minus.hi, a.hi), ir.where(below, minus.lo, a.pair.lo))
    return Wide(pair, a.error, a.invalid)


def _larger(a: Wide, b: Wide) -> Wide:
    """The maximum: the choice matters no more than the errors do."""
    swap, invalid = dd.less(a.pair, b.pair), ir.or_(a.invalid, b.invalid)
    hi = ir.where(invalid, NAN, ir.where(swap, b.hi, a.hi))
    pair = Pair(hi, ir.where(swap, b.pair.lo, a.pair.lo))
    return Wide(pair, a.error + b.error, invalid)


def _smaller(a: Wide, b: Wide) -> Wide:
    return _neg(_larger(_neg(a), _neg(b)))


def _unless_invalid(found: Wide, a: Wide, b: Wide) -> Wide:
    """The first of two numbers where the second is nan, else the result."""
    if b.invalid is ir.FALSE:
        return found
    pair = Pair(ir.where(b.invalid, a.hi, found.hi), ir.where(b.invalid, a.pair.lo, found.pair.lo))
    return Wide(pair, ir.where(b.invalid, a.error, found.error), a.invalid)


def _floor_unless(zero: Expr, size: Expr) -> Expr:
    """The possible loss by underflow, if the exact result is not 0 by itself."""
    return ir.where(zero, ZERO, size)


def _mul(a: Wide, b: Wide) -> Wide:
    pair = pairs.mul(a.pair, b.pair)
    invalid = ir.or_(a.invalid, b.invalid)
    own = ZERO
    if a.pair.lo is not ZERO or b.pair.lo is not ZERO:
        own = _units(6, ir.abs_(pair.hi))
    zero = ir.or_(_is_zero(a), _is_zero(b))
    spread = a.error * (b.size + b.error * _UNIT) + a.size * b.error
    return Wide(pair, spread + own + _floor_unless(zero, _FLOOR), invalid)


def _is_zero(a: Wide) -> Expr:
    return ir.and_(ir.eq(a.hi, ZERO), ir.le(a.error, ZERO))


def _div(a: Wide, b: Wide) -> Wide:
    pair = pairs.div(a.pair, b.pair)
    size = ir.abs_(pair.hi)
    rest = b.size if b.error is ZERO else b.size - b.error * _UNIT
    floor = _floor_unless(_is_zero(a), _FLOOR)
    spread = (a.error + b.error * size + floor) / rest + floor + _units(16, size)
    error = spread if b.error is ZERO else ir.where(ir.lt(ZERO, rest), spread, INF)
    if a.error is ZERO and b.error is ZERO and a.pair.lo is ZERO and b.pair.lo is ZERO:
        remainder = dd.fma(pair.hi, b.hi, dd.minus_of(a.hi))
        error = ir.where(_exactly(pair, remainder), ZERO, error)
    return Wide(pair, error, ir.or_(a.invalid, b.invalid))


def _exactly(pair: Pair, remainder: Expr) -> Expr:
    """Whether a quotient or root of doubles is a double: nothing remains."""
    return ir.and_(
        ir.and_(ir.eq(pair.lo, ZERO), ir.eq(remainder, ZERO)),
        ir.lt(const(Fraction(1, 2**400)), ir.abs_(pair.hi)),
    )


def _sqrt(a: Wide) -> Wide:
    pair = pairs.sqrt(a.pair)
    size = ir.abs_(pair.hi)
    error = _floor_unless(_is_zero(a), (a.error + _FLOOR) / size + _units(4, size))
    if a.error is ZERO and a.pair.lo is ZERO:
        remainder = dd.fma(pair.hi, pair.hi, dd.minus_of(a.hi))
        error = ir.where(_exactly(pair, remainder), ZERO, error)
    return Wide(pair, error, a.invalid)


def _power(a: Wide, q: Fraction) -> Wide | None:
    """A rational power by products, roots and quotients, if it is one."""
    n, d = abs(q.numerator), q.denominator
    if d not in (1, 2, 3) or n > LARGEST_POWER:
        return None
    root = a
    if d == 2:
        root = _sqrt(a)
    elif d == 3:
        x = ir.var("x")
        root = _function(f.CBRT(x), [a])
    value = by_squaring(_mul, root, n)
    return _div(Wide(dd.exact(ONE), ZERO), value) if q < 0 else value


# --------------------------------------------------------------- steps, functions
def _step(op: Op, a: Wide) -> Wide:
    """A step function: its integer result is off by at least 1 or exact."""
    pair = _STEPS[op](a.pair)
    if a.error is ZERO:
        return Wide(pair, ZERO, a.invalid)
    low, high = dd.floor(a.pair), dd.ceil(a.pair)
    if op is f.ROUND:
        middle = dd.add(low, dd.exact(ir.HALF))
        distance = _distance(a.pair, middle)
    else:
        up, down = _distance(high, a.pair), _distance(a.pair, low)
        distance = ir.where(ir.lt(up, down), up, down)
    clear = ir.or_(ir.lt(a.error * _UNIT, distance), ir.le(a.error, ZERO))
    return Wide(pair, ir.where(clear, ZERO, INF), a.invalid)


def _fmod(a: Wide, b: Wide) -> Wide:
    """x - n*y, where n = trunc(x/y) is exact and the remainder below y in size."""
    quotient = pairs.div(a.pair, b.pair)
    n = dd.trunc(quotient).hi
    product = pairs.mul(dd.exact(n), b.pair)
    rest = pairs.add(a.pair, dd.neg(product))
    unit = dd.magnitude(b.pair)
    towards = dd.select(dd.negative(a.pair), dd.neg(unit), unit)
    wrong = ir.and_(dd.below(dd.times(rest.hi, towards.hi), ZERO), ir.not_(ir.eq(rest.hi, ZERO)))
    rest = dd.select(wrong, pairs.add(rest, towards), rest)
    size = ir.abs_(rest.hi)
    error = a.error + ir.mul(ir.abs_(n) + ONE, b.error) + _units(8, size)
    room = ir.where(ir.lt(size, b.size - size), size, b.size - size)
    exact = ir.le(a.error + b.error, ZERO)
    clear = ir.or_(ir.lt(error * _UNIT, room), ir.and_(exact, ir.lt(size, b.size)))
    clear = ir.and_(clear, ir.lt(ir.abs_(n), const(2**52)))
    return Wide(rest, ir.where(clear, error, INF), ir.or_(a.invalid, b.invalid))


def _function(e: Expr, wides: list[Wide]) -> Wide:
    """A function of the table: its own error, and its slopes times the arguments'."""
    rule = RULES[e.op]
    pair = pairs.TABLE[e.op](*(w.pair for w in wides))
    size = ir.abs_(pair.hi)
    error = ir.where(_folds(e.op, wides), ZERO, _units(rule.units, size) + _FLOOR)
    if e.op is ir.POW and _any_invalid(wides) is not FALSE:
        return _power_beside_nan(wides, pair, error)
    if all(w.error is ZERO for w in wides):
        return Wide(pair, error, _any_invalid(wides))
    if e.op is ir.POW:
        return _general_power(wides, pair, error)
    *slopes, room = _slopes(e.op, [w.hi for w in wides])
    for w, slope in zip(wides, slopes, strict=True):
        if w.error is not ZERO and slope is not ZERO:
            exact = ir.le(w.error, ZERO)
            spread = ir.where(exact, ZERO, ir.mul(const(4), slope * w.error))
            near = ir.or_(exact, ir.le(w.error * _UNIT + ir.abs_(w.pair.lo), room))
            error = ir.where(near, error + spread, INF)
    if e.op is f.ATAN2 and wides[0].error is not ZERO:  # its sign decides between pi and -pi
        y, x = wides
        sure = ir.or_(ir.le(y.error, ZERO), ir.lt(y.error * _UNIT, y.size))
        ahead = ir.lt(x.error * _UNIT, x.hi)
        error = ir.where(ir.or_(sure, ahead), error, INF)
    return Wide(pair, error, _any_invalid(wides))


def _folds(op: Op, wides: list[Wide]) -> Expr:
    """Where the value is exact: at 0 and 1, if it is rational there."""
    found = FALSE
    if op.arity == 1 and op.fold is not None:
        for point in (0, 1):
            if op.fold(Fraction(point)) is not None:
                here = ir.and_(ir.eq(wides[0].hi, const(point)), ir.eq(wides[0].pair.lo, ZERO))
                found = ir.or_(found, ir.and_(here, ir.le(wides[0].error, ZERO)))
    return found


@functools.cache
def _slope_template(op: Op) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Variables, and the slopes of a function over them with their margins."""
    args = tuple(ir.var(name) for name in "xyz"[: op.arity])
    if op.slope is not None:
        slopes = op.slope(*args)
    else:
        assert op.partials is not None
        slopes = tuple(ZERO if p is None else ir.abs_(p) for p in op.partials(*args))
    room = RULES[op].room
    return args, lower((*slopes, INF if room is None else room(*args)))


def _slopes(op: Op, heights: Sequence[Expr]) -> list[Expr]:
    """The slopes at a point of doubles, and the margins, as lowered nodes."""
    args, results = _slope_template(op)
    return list(exchanged(results, dict(zip(args, heights, strict=True))))


def _power_beside_nan(wides: list[Wide], pair: Pair, own: Expr) -> Wide:
    """x**y with nan operands: 1 where x is 1 or y is 0, whatever the other is."""
    found = _general_power(wides, pair, own)
    is_one = may_be = FALSE
    for w, value in zip(wides, (ONE, ZERO), strict=True):
        here = ir.and_(ir.eq(w.hi, value), ir.eq(w.pair.lo, ZERO))
        is_one = ir.or_(is_one, ir.and_(here, ir.le(w.error, ZERO)))
        may_be = ir.or_(may_be, ir.le(ir.abs_(w.hi - value), w.error * _UNIT))
    invalid = ir.and_(_any_invalid(wides), ir.not_(may_be))
    hi = ir.where(is_one, ONE, ir.where(_any_invalid(wides), NAN, pair.hi))
    return Wide(Pair(hi, ir.where(is_one, ZERO, pair.lo)), found.error, invalid)


def _general_power(wides: list[Wide], pair: Pair, own: Expr) -> Wide:
    """x**y: its relative change is |dx*y/x| + |dy*log x|."""
    x, y = wides
    change = ZERO
    if x.error is not ZERO:
        change = ir.where(_is_zero(x), ZERO, y.size * x.error / x.size)
    if y.error is not ZERO:
        change = change + (ir.abs_(f.LOG(x.size)) + const(Fraction(1, 2**40))) * y.error
    error = own + ir.mul(const(2), change) * ir.abs_(pair.hi)
    small = ir.le(change * _UNIT, const(Fraction(1, 8)))
    steady = ir.or_(ir.le(x.error, ZERO), ir.le(x.error * _UNIT, x.size * const(Fraction(1, 8))))
    whole = ir.or_(ir.lt(ZERO, x.hi), ir.le(y.error, ZERO))
    fine = ir.and_(ir.and_(small, steady), whole)
    return Wide(pair, ir.where(fine, error, INF), _any_invalid(wides))


_ARITHMETIC: dict[Op, Callable[..., Wide]] = {
    ir.ADD: add,
    ir.SUB: _sub,
    ir.MUL: _mul,
    ir.DIV: _div,
    ir.NEG: _neg,
    ir.ABS: _abs,
    f.MAXIMUM: _larger,
    f.MINIMUM: _smaller,
    f.LARGER: lambda a, b: _unless_invalid(_larger(a, b), a, b),
    f.SMALLER: lambda a, b: _unless_invalid(_smaller(a, b), a, b),
}
_STEPS: dict[Op, Callable[[Pair], Pair]] = {
    f.FLOOR: dd.floor,
    f.CEIL: dd.ceil,
    f.TRUNC: dd.trunc,
    f.ROUND: dd.rint,
}
_DIRECT = frozenset((*_ARITHMETIC, *_STEPS, f.FMOD, ir.WHERE, ir.VAR, ir.CONST, ir.BOOL,
                     ir.NOT, ir.AND, ir.OR, *ir.COMPARISONS))  # fmt: skip


def has_rules(outputs: Sequence[Expr]) -> bool:
    """Whether double-double arithmetic has every function of the outputs."""
    return all(
        e.op in _DIRECT or e.op in RULES or not e.args or e.op.expand
        for e in ir.topological(outputs)
    )
