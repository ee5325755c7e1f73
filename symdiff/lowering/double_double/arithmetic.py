"""Double-double arithmetic: a real number as a pair of doubles, written as DAG nodes.

Before : x + y, nodes of real values.
After  : two nodes whose sum, unevaluated, is x + y to about 2**-104.

Everything here builds raw nodes, one per rounded operation, in the order given;
they must be evaluated as they stand, without reassociation, contraction or
folding. `fma` rounds once, as IEEE 754 defines it.

Source code that people read has calls in the place of the operations (`as_calls`):

    _pair_add(_pair_mul(x, y), z)

A call is one node; a pair has its two parts, `HI` and `LO` of it. `CALLED` says what a call computes.

References: T. J. Dekker, Numer. Math. 18 (1971); M. Joldes, J.-M. Muller and
V. Popescu, ACM TOMS 44 (2017), whose error bounds are quoted with u = 2**-53.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, NamedTuple, ParamSpec, TypeVar

from symdiff import ir
from symdiff.ir import Expr, Op
from symdiff.ir.functions import CEIL, FLOOR, ROUND
from symdiff.lowering.target import FMA, nearest

Condition = Expr
"""What a comparison of numbers gives."""
_P = ParamSpec("_P")
_T = TypeVar("_T")
LOGB = Op("logb", 1, libm="logb", python="float(math.frexp({0})[1] - 1)")
"""The exponent of a positive double: the largest k with 2**k <= x."""
POWER_OF_TWO = Op("power_of_two", 1, intrinsic="-", python="math.ldexp(1.0, int({0}))")
"""2**k, exactly, for an integer k from -1022 to 1023."""
LDEXP = Op("ldexp", 2, python="math.ldexp({0}, int({1}))")
"""x * 2**k."""
EXPONENT = Op("exponent", 1, intrinsic="-", python="float(math.frexp({0})[1] - 1)")
"""As `LOGB` of a positive normal double, in the processor's registers."""


class Pair(NamedTuple):
    """The real number hi + lo, where hi is the double nearest to it."""

    hi: Expr
    lo: Expr


class Scaled(NamedTuple):
    """A pair times a power of two; see `scaled`."""

    pair: Pair
    exponent: Expr


# ------------------------------------------------------------ operations as calls
HI = Op("first of two", 1, python="{0}[0]")
LO = Op("second of two", 1, python="{0}[1]")
PAIR = Op("two", 2, python="({0}, {1})")
"""A pair of two doubles."""
TERMS = Op("pair_terms", 0)
TAIL = Op("pair_tail", 0)
"""Coefficients of a polynomial, last ones first: those that are pairs, and those that are doubles."""
POLYNOMIAL = Op("polynomial", 3, python="_polynomial({0}, {1}, {2})")
"""A polynomial, by its argument and both."""
CALLED: dict[Op, Called] = {}
"""What each call computes."""
_as_calls: ContextVar[bool] = ContextVar("operations on pairs are calls", default=False)


@contextmanager
def as_calls(on: bool = True) -> Iterator[None]:
    """Write operations on pairs as calls, in this block."""
    token = _as_calls.set(on)
    try:
        yield
    finally:
        _as_calls.reset(token)


def called_as(
    name: str, takes: Sequence[str] = (), gives: str = ""
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """An operation that is a call of this name where `as_calls` says so.

    Parameters
    ----------
    takes, gives : "Expr", "Pair" or "Scaled" for each argument, and for the result, which may be a
        "Condition"; without these, what the annotations say.
    """

    def decorated(build: Callable[_P, _T]) -> Callable[_P, _T]:
        known = inspect.get_annotations(build) if not takes else {}
        kinds = tuple(takes or [k for n, k in known.items() if n != "return"])
        result = gives or known["return"]
        slots = ", ".join(f"{{{k}}}" for k in range(len(kinds)))
        holds = result == "Condition"
        op = Op(f"call {name}", len(kinds), boolean=holds, python=f"_{name}({slots})")
        given = list(known)[: len(kinds)] if known else list("xyz"[: len(kinds)])
        CALLED[op] = Called(name, tuple(zip(given, kinds, strict=True)), build)

        @functools.wraps(build)
        def operation(*args: _P.args, **named: _P.kwargs) -> _T:
            if not _as_calls.get():
                return build(*args, **named)
            given: tuple[Any, ...] = args
            made = ir.raw(op, tuple(a if isinstance(a, Expr) else one(a) for a in given))
            found: _T = parts(made, result)
            return found

        return operation

    return decorated


def called(build: Callable[_P, _T]) -> Callable[_P, _T]:
    """The same, by the name of the function."""
    name = build.__name__.strip("_")
    return called_as(name if name in _EXACT else f"pair_{name}")(build)


_EXACT = ("two_sum", "fast_two_sum", "two_product")


class Called(NamedTuple):
    """What a call computes.

    Attributes
    ----------
    name : of the function, without its underscore.
    takes : the name of each argument, and what it is: "Expr", "Pair" or "Scaled".
    build : the rule.
    """

    name: str
    takes: tuple[tuple[str, str], ...]
    build: Callable[..., Any]


def parts(made: Expr, kind: str = "Pair") -> Any:
    """What one node is, by its parts."""
    if kind in ("Expr", "Condition"):
        return made
    first, second = ir.raw(HI, (made,)), ir.raw(LO, (made,))
    return Pair(first, second) if kind == "Pair" else Scaled(parts(first), second)


def one(x: Pair | Scaled) -> Expr:
    """A pair, or a pair with its exponent, as one node."""
    hi, lo = x if isinstance(x, Pair) else (one(x.pair), x.exponent)
    if hi.op is HI and lo.op is LO and hi.args == lo.args:
        return hi.args[0]
    return ir.raw(PAIR, (hi, lo))


def choose(condition: Expr, x: Scaled, y: Scaled) -> Scaled:
    """One of two numbers with exponents."""
    if _as_calls.get():
        found: Scaled = parts(pick(condition, one(x), one(y)), "Scaled")
        return found
    return Scaled(select(condition, x.pair, y.pair), pick(condition, x.exponent, y.exponent))


# ----------------------------------------------------- one rounded operation each
def plus(a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.ADD, (a, b))


def minus(a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.SUB, (a, b))


def times(a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.MUL, (a, b))


def over(a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.DIV, (a, b))


def minus_of(a: Expr) -> Expr:
    return ir.raw(ir.NEG, (a,))


def size(a: Expr) -> Expr:
    return ir.raw(ir.ABS, (a,))


def fma(a: Expr, b: Expr, c: Expr) -> Expr:
    return ir.raw(FMA, (a, b, c))


def below(a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.LT, (a, b))


def same(a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.EQ, (a, b))


def both(p: Expr, q: Expr) -> Expr:
    return ir.raw(ir.AND, (p, q))


def either(p: Expr, q: Expr) -> Expr:
    return ir.raw(ir.OR, (p, q))


def pick(condition: Expr, a: Expr, b: Expr) -> Expr:
    return ir.raw(ir.WHERE, (condition, a, b))


def nearest_integer(a: Expr) -> Expr:
    return ir.raw(ROUND, (a,))


# ------------------------------------------------------------ exact transformations
@called
def fast_two_sum(a: Expr, b: Expr) -> Pair:
    """a + b exactly, for |a| >= |b|."""
    s = plus(a, b)
    return Pair(s, minus(b, minus(s, a)))


@called
def two_sum(a: Expr, b: Expr) -> Pair:
    """a + b exactly."""
    s = plus(a, b)
    t = minus(s, a)
    return Pair(s, plus(minus(a, minus(s, t)), minus(b, t)))


@called
def two_product(a: Expr, b: Expr) -> Pair:
    """a * b exactly, where nothing underflows."""
    p = times(a, b)
    return Pair(p, fma(a, b, minus_of(p)))


# --------------------------------------------------------------------- arithmetic
def exact(a: Expr) -> Pair:
    """A double as a pair."""
    return Pair(a, ir.ZERO)


def constant(q: Fraction | int) -> Pair:
    """A rational rounded to a pair."""
    hi, lo = expansion(Fraction(q), 2)
    return Pair(hi, lo)


def expansion(q: Fraction, terms: int) -> list[Expr]:
    """Doubles of falling size whose sum is q to 53 bits each."""
    parts = []
    for _ in range(terms):
        part = Fraction(nearest(q))
        parts.append(ir.const(part))
        q -= part
    return parts


@called
def neg(x: Pair) -> Pair:
    return Pair(minus_of(x.hi), minus_of(x.lo))


def add(x: Pair, y: Pair) -> Pair:
    """x + y, by the parts that are not 0."""
    if x.lo is ir.ZERO and y.lo is ir.ZERO:
        return two_sum(x.hi, y.hi)
    if y.lo is ir.ZERO:
        return _add_double(x, y.hi)
    if x.lo is ir.ZERO:
        return _add_double(y, x.hi)
    return add_pairs(x, y)


@called_as("pair_add")
def add_pairs(x: Pair, y: Pair) -> Pair:
    """x + y within 3 u**2, cancellation included (AccurateDWPlusDW)."""
    s, t = two_sum(x.hi, y.hi), two_sum(x.lo, y.lo)
    v = fast_two_sum(s.hi, plus(s.lo, t.hi))
    return fast_two_sum(v.hi, plus(t.lo, v.lo))


@called
def _add_double(x: Pair, y: Expr) -> Pair:
    """x + y within 2 u**2 (DWPlusFP)."""
    s = two_sum(x.hi, y)
    return fast_two_sum(s.hi, plus(x.lo, s.lo))


def sub(x: Pair, y: Pair) -> Pair:
    return add(x, neg(y) if y.lo is not ir.ZERO else exact(minus_of(y.hi)))


def mul(x: Pair, y: Pair) -> Pair:
    """x * y, exact for doubles."""
    return two_product(x.hi, y.hi) if x.lo is ir.ZERO and y.lo is ir.ZERO else mul_pairs(x, y)


@called_as("pair_mul")
def mul_pairs(x: Pair, y: Pair) -> Pair:
    """x * y within 4 u**2 (DWTimesDW3)."""
    p = two_product(x.hi, y.hi)
    cross = fma(x.hi, y.lo, fma(x.lo, y.hi, times(x.lo, y.lo)))
    return fast_two_sum(p.hi, plus(p.lo, cross))


@called
def div(x: Pair, y: Pair) -> Pair:
    """x / y within 9.8 u**2 (DWDivDW3 with the residual in full)."""
    q = over(x.hi, y.hi)
    rest = sub(x, mul(exact(q), y))
    return fast_two_sum(q, over(rest.hi, y.hi))


@called
def sqrt(x: Pair) -> Pair:
    """The square root within 25/8 u**2; that of 0 is 0."""
    root = ir.raw(ir.POW, (x.hi, ir.HALF))
    rest = plus(x.lo, fma(minus_of(root), root, x.hi))
    found = fast_two_sum(root, over(rest, times(ir.const(2), root)))
    return select(same(x.hi, ir.ZERO), exact(ir.ZERO), found)


@called
def scale(x: Pair, factor: Expr) -> Pair:
    """x times a power of two, exact where nothing under- or overflows."""
    return Pair(times(x.hi, factor), times(x.lo, factor))


@called
def magnitude(x: Pair) -> Pair:
    return select(negative(x), neg(x), x)


# ---------------------------------------------------------- conditions and steps
def select(condition: Expr, x: Pair, y: Pair) -> Pair:
    if _as_calls.get():
        made: Pair = parts(pick(condition, one(x), one(y)))
        return made
    return Pair(pick(condition, x.hi, y.hi), pick(condition, x.lo, y.lo))


def negative(x: Pair) -> Expr:
    """x < 0: hi decides, as lo is 0 where hi is."""
    return below(x.hi, ir.ZERO)


def compared(op: Op, x: Pair, y: Pair) -> Expr:
    """A comparison, which the second parts decide where the first ones are alike."""
    if _as_calls.get():  # tuples compare so
        return ir.raw(op, (one(x), one(y)))
    alike = both(same(x.hi, y.hi), ir.raw(op, (x.lo, y.lo)))
    return alike if op is ir.EQ else either(below(x.hi, y.hi), alike)


less = functools.partial(compared, ir.LT)
less_equal = functools.partial(compared, ir.LE)
equal = functools.partial(compared, ir.EQ)


def negation(condition: Expr) -> Expr:
    return ir.raw(ir.NOT, (condition,))


@called
def floor(x: Pair) -> Pair:
    return _step(FLOOR, x)


@called
def ceil(x: Pair) -> Pair:
    return _step(CEIL, x)


def _step(op: Op, x: Pair) -> Pair:
    """Where hi is an integer, lo decides."""
    top = ir.raw(op, (x.hi,))
    return select(same(top, x.hi), fast_two_sum(top, ir.raw(op, (x.lo,))), exact(top))


@called
def trunc(x: Pair) -> Pair:
    return select(negative(x), ceil(x), floor(x))


@called
def rint(x: Pair) -> Pair:
    """The nearest integer, ties to even."""
    top = ir.raw(ROUND, (x.hi,))
    half = same(size(minus(x.hi, ir.raw(FLOOR, (x.hi,)))), ir.HALF)
    beside = pick(below(x.lo, ir.ZERO), ir.raw(FLOOR, (x.hi,)), ir.raw(CEIL, (x.hi,)))
    decided = pick(both(half, negation(same(x.lo, ir.ZERO))), beside, top)
    whole = fast_two_sum(top, ir.raw(ROUND, (x.lo,)))
    return select(same(top, x.hi), whole, exact(decided))


def polynomial(x: Pair, coefficients: Sequence[Fraction], full: int) -> Pair:
    """The sum of c[k] * x**k by Horner's rule, from `full` on in double only: there
    the terms must be below 2**-53 of the sum."""
    return either_polynomial(None, x, coefficients, coefficients, full)


def either_polynomial(
    condition: Expr | None,
    x: Pair,
    left: Sequence[Fraction],
    right: Sequence[Fraction],
    full: int,
) -> Pair:
    """One of two polynomials, as a condition says; only the first one without a condition."""

    def chosen(a: Expr, b: Expr) -> Expr:
        return a if condition is None else pick(condition, a, b)

    if _as_calls.get():
        terms, tail = (
            chosen(*(ir.raw(op, (), tuple(reversed(c[part]))) for c in (left, right)))
            for op, part in ((TERMS, slice(full)), (TAIL, slice(full, None)))
        )
        made: Pair = parts(ir.raw(POLYNOMIAL, (one(x), terms, tail)))
        return made
    rows = list(zip(left, right, strict=True))
    tail = ir.ZERO
    for a, b in reversed(rows[full:]):
        c = chosen(expansion(a, 1)[0], expansion(b, 1)[0])
        tail = fma(tail, x.hi, c) if tail is not ir.ZERO else c
    total = exact(tail)
    for a, b in reversed(rows[:full]):
        pairs = constant(a), constant(b)
        c_full = pairs[0] if condition is None else select(condition, *pairs)
        total = add(c_full, mul(total, x))
    return total
