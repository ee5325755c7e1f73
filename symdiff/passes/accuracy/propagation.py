"""The error of an expression from those of the names in it.

Before:  (x[i] - m)**2, with m off by 3 units of itself
After:   2 units of its own, and 6*|x[i] - m|*|m| units that come of m

Requires: an expression that `loop_tiers` gives an error test, so that its own error is a few units.
Ensures: the error is at most `k*|value| + more` units of rounding, to first order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from symdiff import ir
from symdiff.errors import SymdiffError
from symdiff.ir import (
    ABS,
    ADD,
    CONST,
    DIV,
    FALSE,
    INF,
    MUL,
    NEG,
    ONE,
    POW,
    SUB,
    VAR,
    WHERE,
    ZERO,
    Expr,
    const,
)
from symdiff.ir.functions import COSH, EXTREMES, TANH
from symdiff.ir.loop_program import (
    LEAVES,
    LOAD,
    kind_of,
    load,
    name_of,
)
from symdiff.lowering.target import ARRAY_CHAIN
from symdiff.passes.accuracy.bounds import FUNCTION_ERROR, UNITS, Bounds
from symdiff.passes.accuracy.common_factors import with_common_factors
from symdiff.passes.accuracy.error_test import ErrorTest
from symdiff.passes.accuracy.residual import Bound
from symdiff.passes.analysis.band_extent import series_in_bands
from symdiff.passes.analysis.signs import Signs
from symdiff.passes.complete.complete import expand_completed
from symdiff.passes.differentiate import gradient
from symdiff.passes.stabilise import stabilise

HALF_UNIT = Fraction(1, 2)
"""Of a rounding in a recurrence, whose roundings do not all have one sign."""
LEFT = 2
"""Units that cancelling leaves of what a tested value may have, in the mean."""
NEGATIVE, POSITIVE = 1, 4
LOST_OF_ONE = Fraction(1, 2**50)
FLOOR = {"float64": Fraction(1, 2**1022), "float32": Fraction(1, 2**126)}
"""The units that an operation loses that underflows."""
MANY = 64
"""Terms of products of matrices that may underflow and still count."""
_KEEPS = (ADD, SUB, NEG, ABS, WHERE, *EXTREMES, LOAD)
"""Operations that do not underflow."""


class Error(NamedTuple):
    """By how many units a value may be off: `k*|value| + more`; of an array, `more` is an array
    of them, or of their squares, along those of its axes along which they differ."""

    k: Fraction = Fraction(0)
    more: Expr = ZERO
    squared: bool = False
    axes: tuple[int, ...] | None = None

    @property
    def static(self) -> bool:
        return self.more is ZERO

    @property
    def flat(self) -> bool:
        """Whether it is the same at all elements: beside `k`, at most what underflow costs."""
        return self.more.op is CONST and not self.squared


EXACT = Error()


def element(e: Error, places: Sequence[Expr]) -> Expr:
    """The error of an element of an array."""
    if e.flat:
        return e.more
    found = load(e.more, *(places if e.axes is None else [places[i] for i in e.axes]))
    return found**ir.HALF if e.squared else found


def while_finite(name: str, k: Fraction) -> Error:
    """Of a running maximum or minimum, which is infinite before the first element."""
    size = ir.abs_(ir.var(name))
    return Error(Fraction(0), ir.where(ir.lt(size, INF), const(k) * size, ZERO))


def larger(a: Expr, b: Expr) -> Expr:
    """Of two constants."""
    return a if (ir.rational(a) or 0) >= (ir.rational(b) or 0) else b


def over(a: Expr, b: Expr) -> Expr:
    return ZERO if a is ZERO else a / b


class Linear(Bounds):
    """Bounds of what becomes of the errors of leaves, with so much for each rounding."""

    def _own_error(self, e: Expr) -> int:
        return int(FUNCTION_ERROR * self.unit)

    def _power_error(self, e: Expr, q: Fraction, more: Expr) -> Expr:
        """Without a quotient, which is 0/0 for what is exactly 0, but never 0 beside an error."""
        base, exponent = e.args
        if (ir.rational(exponent) or 0) < 1:
            return ir.const(q) * ir.abs_(e) * (more / ir.abs_(base))
        unit = const(Fraction(1, 2 ** UNITS[self.dtype]))
        return const(q) * (ir.abs_(base) + unit * more) ** const(q - 1) * more


@dataclass(slots=True)
class Propagation:
    """The errors of names, and what they make of expressions.

    Attributes
    ----------
    errors : of names that are not exact.
    positive : numbers that are not negative.
    counts : integers that are not negative.
    unwatched : what is not a value of the program.
    own : units that tested expressions have of their own.
    tests : whether expressions are tested at all (see `loop_tiers`) if their bounds are not known
        statically; only of those in `kept` if not.
    untested : the others, whose bounds are computed.
    underflows : whether what underflow may cost counts too.
    known : what was found of single expressions; those of one program come again with other tests,
        and each time a loop is looked at.
    """

    dtype: str
    counts: set[Expr] = field(default_factory=set)
    errors: dict[str, Error] = field(default_factory=dict)
    positive: set[str] = field(default_factory=set)
    unwatched: set[Expr] = field(default_factory=set)
    own: dict[Expr, Fraction] = field(default_factory=dict)
    tests: bool = True
    kept: set[Expr] = field(default_factory=set)
    untested: dict[Expr, Error] = field(default_factory=dict)
    forms: dict[Expr, tuple[Expr, dict[Expr, Expr]]] = field(default_factory=dict)
    slopes: dict[Any, tuple[Expr, ...]] = field(default_factory=dict)
    kinds: dict[Expr, str] = field(default_factory=dict)
    underflows: bool = False
    known: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.forms = self.known.setdefault("written", {})
        self.slopes = self.known.setdefault("slopes", {})

    def error(self, e: Expr, *, step: bool = False) -> Error:
        """Of an expression: its own, and what comes of those of its leaves. Of a step of a
        recurrence all roundings count."""
        if kind_of(e, self.kinds) != "f":
            return EXACT
        if e.op is VAR:
            return self.errors.get(name_of(e), EXACT)
        if step:
            if not self.tests and e not in self.kept:
                self.untested.setdefault(e, EXACT)
            found = self.propagated(e, lambda _: True, HALF_UNIT)
            return Error(found.k, found.more + self.floor(e))
        found, own = self.propagated(e, lambda _: True), self.rounded(e)
        return Error(found.k + own.k, found.more + own.more + self.floor(e))

    def rounded(self, e: Expr) -> Error:
        """Of the roundings of an expression itself."""
        if not e.args or e.op is LOAD:
            return EXACT
        if self.tests or e in self.kept:
            return Error(self.rounding(e))
        if e not in self.untested:
            form, over = self.written(e)
            bound, unsafe = self.linear(form, over, {}, Fraction(1))
            more = bound.more + ir.abs_(form) * bound.relative
            if unsafe is not FALSE:
                more = ir.where(unsafe, INF, more)
            self.untested[e] = Error(bound.k, ir.substitute((more,), over)[0])
        return self.untested[e]

    def floor(self, e: Expr) -> Expr:
        """What a tested expression may lose as it underflows, in units."""
        if not self.underflows or all(
            n.op in _KEEPS or n.op.boolean or not n.args for n in ir.topological((e,))
        ):
            return ZERO
        return const(FLOOR[self.dtype])

    def of_squares(self, squares: Expr) -> tuple[Expr, bool]:
        """The error of a sum from the squares of those of its terms, and whether it is squared;
        not where what underflow costs counts, which squared would underflow itself."""
        if not self.underflows:
            return squares, True
        return squares**ir.HALF + const(MANY * FLOOR[self.dtype]), False

    def written(self, e: Expr) -> tuple[Expr, dict[Expr, Expr]]:
        """An expression as it is computed over variables, and the leaves they stand for."""
        if e not in self.forms:
            found: dict[Expr, Expr] = {}
            seen: set[Expr] = set()
            stack = [e]
            while stack:
                n = stack.pop()
                if n in seen:
                    continue
                seen.add(n)
                if n.op in LEAVES:
                    found[n] = ir.var(f"leaf {len(found)}")
                else:
                    stack.extend(reversed(n.args))
            form = stabilise(expand_completed(ir.substitute((e,), found)))[0]
            self.forms[e] = form, {v: n for n, v in found.items()}
        return self.forms[e]

    def signs(self, over: Mapping[Expr, Expr]) -> Signs:
        whole = [v for v, n in over.items() if n in self.counts]
        facts = tuple(ir.le(ZERO, v) for v in (*whole, *map(ir.var, sorted(self.positive))))
        key = "signs", facts
        if key not in self.known:
            self.known[key] = Signs(facts)
        found: Signs = self.known[key]
        return found

    def _facts(self, form: Expr, over: Mapping[Expr, Expr]) -> tuple[Expr, ...]:
        """The variables of a form that are not negative."""
        return tuple(
            v
            for v in ir.variables((form,))
            if over.get(v) in self.counts or name_of(v) in self.positive
        )

    def rounding(self, e: Expr) -> Fraction:
        """Units of its own that an expression has once it is tested."""
        if not e.args or e.op is LOAD:
            return Fraction(0)
        if e not in self.own:
            form, over = self.written(e)
            key = "rounding", form, self.dtype, self._facts(form, over)
            if key not in self.known:
                work = ErrorTest(
                    self.dtype, self.signs(over), fuses=True, lean=True, chain=ARRAY_CHAIN,
                    series=series_in_bands((form,)),
                )  # fmt: skip
                bound = work.of(form)
                self.known[key] = bound.k if bound.static else work.rounding(form) + LEFT
            self.own[e] = self.known[key]
        return self.own[e]

    def propagated(
        self, e: Expr, counts: Callable[[Expr], bool], unit: Fraction = Fraction(0)
    ) -> Error:
        """What becomes of the errors of the leaves that count."""
        form, over = self.written(e)
        found = {v: self.of_leaf(over.get(v, v)) for v in ir.variables((form,))}
        found = {v: b for v, b in found.items() if not b.exact and counts(over.get(v, v))}
        if not found and not unit:
            return EXACT
        bound, unsafe = self.linear(form, over, found, unit)
        if bound.static and unsafe is FALSE:
            return Error(bound.k)
        k, more = bound.k, ZERO
        if unit:  # of its own roundings
            own, _ = self.linear(form, over, {}, unit)
            k, more = own.k, own.more + ir.abs_(form) * own.relative
        if not bound.static or unit:
            slopes = self.slopes_of(form, tuple(found))
            for slope, (v, b) in zip(slopes, found.items(), strict=True):
                if slope is not ZERO:
                    off = const(b.k) * ir.abs_(v) + b.more if b.k else b.more
                    more = more + ir.abs_(slope) * off
            k = k if unit else Fraction(0)
        if unsafe is not FALSE:
            more = ir.where(unsafe, INF, more)
        return Error(k, ir.substitute((more,), over)[0])

    def slopes_of(self, form: Expr, wrt: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Derivatives of a form; of one without any, infinite ones."""
        key = form, wrt
        if key not in self.slopes:
            self.slopes[key] = _slopes(form, wrt)
        return self.slopes[key]

    def linear(
        self, form: Expr, over: Mapping[Expr, Expr], found: Mapping[Expr, Bound], unit: Fraction
    ) -> tuple[Bound, Expr]:
        """The bound of a form, with so much for each rounding; and where decisions in it hang on
        errors."""
        key = "linear", form, self.dtype, self._facts(form, over), tuple(found.items()), unit
        if key not in self.known:
            work = Linear(
                self.dtype, self.signs(over), lean=True, chain=ARRAY_CHAIN, unit=unit,
                series=series_in_bands((form,)),
            )  # fmt: skip
            for v in ir.variables((form,)):
                work.bounds[v] = found.get(v, Bound())
                work.inherent[v] = Fraction(0)
            self.known[key] = work.of(form), work.unsafe
        result: tuple[Bound, Expr] = self.known[key]
        return result

    def of_leaf(self, leaf: Expr) -> Bound:
        """The bound of a number by its name, or of an element of an array."""
        if leaf.op is VAR:
            found = self.errors.get(name_of(leaf), EXACT)
            return Bound(found.k, found.more)
        if leaf.op is LOAD:
            found = self.errors.get(name_of(leaf.args[0]), EXACT)
            return Bound(found.k, element(found, leaf.args[1:]))
        return Bound()

    def units(self, e: Expr, found: Error) -> Expr:
        """An error as an expression."""
        if found.k == 0:
            return with_common_factors(found.more)
        return with_common_factors(const(found.k) * self.size(e) + found.more)

    def size(self, e: Expr) -> Expr:
        return e if e.op is VAR and name_of(e) in self.positive else ir.abs_(e)

    def mark(self, *found: Expr) -> None:
        self.unwatched.update(e for e in found if e.args and e.op is not LOAD)

    def never(self, sign: int, e: Expr) -> bool:
        form, over = self.written(e)
        return not self.signs(over).of(form) & sign

    def is_factor(self, e: Expr, varies: Callable[[Expr], bool]) -> bool:
        """Whether the leaves that do not vary, and are inexact, are factors of a term."""
        form, over = self.written(e)
        stack = [form]
        while stack:
            n = stack.pop()
            if n.op in (MUL, DIV, NEG) or (n.op is POW and n.args[1].op is CONST):
                stack += n.args
                continue
            found = [over.get(v, v) for v in ir.variables((n,))]
            fixed = [x for x in found if not varies(x) and not self.of_leaf(x).exact]
            if fixed and any(varies(x) for x in found):
                return False
        return True


def _slopes(form: Expr, wrt: tuple[Expr, ...]) -> tuple[Expr, ...]:
    if form.op.boolean:
        return (ZERO,) * len(wrt)
    try:
        return ir.transform(gradient(form, wrt), _by_value)
    except (SymdiffError, NotImplementedError):
        return (INF,) * len(wrt)


def _by_value(n: Expr, args: tuple[Expr, ...]) -> Expr:
    """The slope of a hyperbolic tangent by its value, which is there; what is lost of it counts."""
    below = args[1] if n.op is DIV else None
    if below is not None and below.op is POW and ir.rational(below.args[1]) == 2:
        if below.args[0].op is COSH:
            return args[0] * _slope_of_tanh(below.args[0].args[0])
    if n.op is POW and args[0].op is COSH and ir.rational(args[1]) == -2:
        return _slope_of_tanh(args[0].args[0])
    return ir.rebuild(n, args)


def _slope_of_tanh(x: Expr) -> Expr:
    return ONE - TANH(x) ** 2 + const(LOST_OF_ONE)
