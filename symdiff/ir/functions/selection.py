"""Steps and selections."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    ADD,
    CONST,
    DIV,
    EQ,
    FALSE,
    HALF,
    NAN,
    ONE,
    SIGN,
    SUB,
    TRUE,
    ZERO,
    Expr,
    Op,
    abs_,
    const,
    div,
    eq,
    le,
    lt,
    mul,
    neg,
    not_,
    raw,
    where,
)
from symdiff.ir.functions.columns import flint
from symdiff.ir.functions.named_numbers import PI
from symdiff.ir.functions.trigonometric import COS, SIN
from symdiff.process.lazy_modules import Later

_plain = Later("symdiff.ir.plain")  # plain operations use these

FLOOR: Op = Op(
    "floor", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction(math.floor(x)),
    names=("math.floor", "numpy.floor"),
    sympy=lambda sp, x: sp.floor(x),
    libm="floor", intrinsic="llvm.floor", python="np.floor({0})",
    ball=lambda x: step_ball(x.floor()), flint="arb_floor",
    kink=lambda x: SIN(mul(PI(), x)),
    kink_rule="the derivative of a step function is 0",
)  # fmt: skip
CEIL: Op = Op(
    "ceil", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction(math.ceil(x)),
    names=("math.ceil", "numpy.ceil"),
    sympy=lambda sp, x: sp.ceiling(x),
    libm="ceil", intrinsic="llvm.ceil", python="np.ceil({0})",
    ball=lambda x: step_ball(x.ceil()), flint="arb_ceil",
    kink=lambda x: SIN(mul(PI(), x)),
    kink_rule="the derivative of a step function is 0",
)  # fmt: skip
TRUNC: Op = Op(
    "trunc", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction(math.trunc(x)),
    names=("math.trunc", "numpy.trunc", "numpy.fix"),
    sympy=lambda sp, x: sp.sign(x) * sp.floor(sp.Abs(x)),
    libm="trunc", intrinsic="llvm.trunc", python="np.trunc({0})",
    ball=lambda x: step_ball(x.floor() if x >= 0 else x.ceil()), flint="arb_trunc",
    kink=lambda x: SIN(mul(PI(), x)),
    kink_rule="the derivative of a step function is 0",
)  # fmt: skip
ROUND: Op = Op(
    "round", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction(round(x)),
    names=("numpy.round", "numpy.rint", "numpy.around"),
    sympy=lambda sp, x: sp.Function("round")(x),
    libm="rint", intrinsic="llvm.rint", python="np.rint({0})",
    ball=lambda x: _round_ball(x), flint="arb_nint",
    kink=lambda x: COS(mul(PI(), x)),
    kink_rule="the derivative of a step function is 0",
)  # fmt: skip


def step_ball(x: Any) -> Any:
    """A step function is known only where the ball holds one integer."""
    return x if x.is_exact() else flint().arb("nan")


def _round_ball(x: Any) -> Any:
    """Half to even, as Python and IEEE round."""
    half = flint().arb("0.5")
    low, high = (x + half).floor(), (x - half).ceil()
    if low.is_exact() and high.is_exact():
        even = low if int(low.unique_fmpz()) % 2 == 0 else high
        return low if low == high else even
    return flint().arb("nan")


FLOOR_QUOTIENT: Op = Op(
    "floor_quotient", 2,
    partials=lambda x, y: (ZERO, ZERO),
    fold=lambda x, y: Fraction(x // y) if y != 0 else None,
    names=("numpy.floor_divide",),
    sympy=lambda sp, x, y: sp.floor(x / y),
    python="np.floor_divide({0}, {1})",
    expand=lambda x, y: _floor_quotient(x, y),
    ball=lambda x, y: step_ball((x / y).floor()), flint=lambda x, y: FLOOR(div(x, y)),
    kink=lambda x, y: SIN(mul(PI(), div(x, y))),
    kink_rule="the derivative of a step function is 0",
)  # fmt: skip
"""The integer of `x // y`: the exact quotient of two doubles, rounded down."""


def _floor_quotient(x: Expr, y: Expr) -> Expr:
    """What Python computes for `x // y`: fmod is exact, and the remaining quotient nearly so."""
    plain: Callable[..., Expr] = _plain.plain
    rest = plain(FMOD, x, y)
    other = where(lt(y, ZERO), lt(ZERO, rest), lt(rest, ZERO))
    quotient = plain(DIV, plain(SUB, x, rest), y)
    quotient = where(other, plain(SUB, quotient, ONE), quotient)
    whole = FLOOR(quotient)
    whole = where(lt(HALF, plain(SUB, quotient, whole)), plain(ADD, whole, ONE), whole)
    return where(eq(y, ZERO), plain(DIV, x, y), whole)


FMOD: Op = Op(
    "fmod", 2,
    partials=lambda x, y: (ONE, div(FMOD(x, y) - x, y)),
    fold=lambda x, y: x - y * math.trunc(x / y) if y != 0 else None,
    names=("math.fmod", "numpy.fmod"),
    sympy=lambda sp, x, y: x - y * sp.sign(x / y) * sp.floor(sp.Abs(x / y)),
    libm="fmod", python="np.fmod({0}, {1})",
    ball=lambda x, y: x - y * TRUNC.ball(x / y),  # type: ignore[misc]
    flint=lambda x, y: x - mul(y, TRUNC(div(x, y))),
    kink=lambda x, y: SIN(mul(PI(), div(x, y))),
    kink_rule="fmod jumps where x/y is an integer; its derivative there is that of the piece",
)  # fmt: skip
COPYSIGN: Op = Op(
    "copysign", 2,
    partials=lambda x, y: (mul(SIGN(x), where(lt(y, ZERO), const(-1), ONE)), ZERO),
    fold=lambda x, y: abs(x) if y >= 0 else -abs(x),
    simplify=lambda x, y: y if x is y or x is abs_(y) else None,
    names=("math.copysign", "numpy.copysign"),
    sympy=lambda sp, x, y: sp.Piecewise((-sp.Abs(x), y < 0), (sp.Abs(x), True)),
    python="math.copysign({0}, {1})",
    expand=lambda x, y: where(lt(y, ZERO), neg(abs_(x)), abs_(x)),
    ball=lambda x, y: -abs(x) if y < 0 else abs(x) if y >= 0 else flint().arb("nan"),
    flint=lambda x, y: where(lt(y, ZERO), neg(abs_(x)), abs_(x)),
    kink=lambda x, y: mul(x, y),
    kink_rule="as abs in x; 0 in y",
)  # fmt: skip


def _slope(name: str, elsewhere: Callable[[Expr, Expr], Expr]) -> Op:
    """The slope of max(a, b) by a, which counts only where not a < b: 1 or `elsewhere`, and 1/2 at a tie."""
    return Op(
        name, 2, sign="positive", partials=lambda a, b: (ZERO, ZERO),
        simplify=lambda a, b: {TRUE: HALF, FALSE: elsewhere(a, b)}.get(eq(a, b)),
        sympy=lambda sp, a, b: sp.Piecewise((sp.Rational(1, 2), sp.Eq(a, b)), (1, True)),
        expand=lambda a, b: where(eq(a, b), HALF, elsewhere(a, b)),
        kink=lambda a, b: a - b, kink_rule="a tie gives the mean of the sides",
    )  # fmt: skip


TAKEN: Op = _slope("taken", lambda a, b: where(lt(b, a), ONE, NAN))
"""The operation of `np.maximum`: nan if an argument is nan."""
HELD: Op = _slope("held", lambda a, b: ONE)
"""The operation of Python's `max`: the first argument if one is nan."""
SLOPES = (TAKEN, HELD)
"""Slopes of operations whose value is one of two arguments."""


def _extreme(better: Callable[[Expr, Expr], Expr], a: Expr, b: Expr) -> Expr:
    """The better of two numbers; nan if one of them is."""
    if a.op is CONST:
        a, b = b, a
    if b is NAN:
        return NAN
    found = where(better(a, b), b, a)
    return found if b.op is CONST else where(raw(EQ, (b, b)), found, b)


def _one_of(name: str, sign: int, slope: Op, expand: Callable[..., Expr], *names: str) -> Op:
    """The larger (for `sign` 1) or smaller (-1) of two numbers; `expand` is its formula for nan, and
    `slope` what its slopes are: no argument is out that is not on the other side."""

    def live(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        x, y = (a, b)[::sign]
        return not_(lt(x, y)), not_(lt(y, x)) if slope is TAKEN else le(x, y)

    return Op(
        name, 2, names=names, expand=expand,
        partials=lambda a, b: (slope(a, b), slope(b, a))[::sign],
        slope=lambda a, b: (ONE, ONE),
        live=live,
        simplify=lambda a, b: a if a is b else None,
        fold=lambda a, b: max(a, b) if sign > 0 else min(a, b),
        sympy=lambda sp, a, b: sp.Max(a, b) if sign > 0 else sp.Min(a, b),
        python="max({0}, {1})" if sign > 0 else "min({0}, {1})",
        ball=lambda a, b: a.max(b) if sign > 0 else a.min(b),
        flint="arb_max" if sign > 0 else "arb_min",
        kink=lambda a, b: a - b, kink_rule="a tie gives the mean of the sides",
    )  # fmt: skip


MAXIMUM: Op = _one_of(
    "maximum", 1, TAKEN, lambda a, b: _extreme(lt, a, b), "numpy.maximum", "numpy.fmax"
)
MINIMUM: Op = _one_of(
    "minimum",
    -1,
    TAKEN,
    lambda a, b: _extreme(lambda u, v: lt(v, u), a, b),
    "numpy.minimum",
    "numpy.fmin",
)
LARGER = _one_of("larger", 1, HELD, lambda a, b: where(lt(a, b), b, a))
SMALLER = _one_of("smaller", -1, HELD, lambda a, b: where(lt(b, a), b, a))
"""Python's `max(a, b)` and `min(a, b)`, which are a where b is nan, and nan where a is."""
MAXIMA, MINIMA = (MAXIMUM, LARGER), (MINIMUM, SMALLER)
EXTREMES = (*MAXIMA, *MINIMA)
"""Operations whose value is one of two arguments."""

ENTRIES: tuple[Op, ...] = (
    FLOOR, CEIL, TRUNC, ROUND, FLOOR_QUOTIENT, FMOD, COPYSIGN, *EXTREMES,
)  # fmt: skip
