"""Incomplete gamma and beta functions, as shares of the whole ones (DLMF 8.2, 8.17), and Student's
distribution, which uses them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from symdiff.ir import (
    HALF,
    INF,
    ONE,
    ZERO,
    Expr,
    Op,
    abs_,
    and_,
    eq,
    le,
    lt,
    neg,
)
from symdiff.ir.functions.columns import LARGEST_PARAMETER, by_balls, flint, slope_by, unknown
from symdiff.ir.functions.exponential import EXP, LOG, LOG1P, XLOG1PY, XLOGY
from symdiff.ir.functions.gamma import LGAMMA, POLYGAMMA
from symdiff.ir.functions.named_numbers import PI

ENOUGH = 40
"""Bits of a ball that make its precision worth its time."""
BEYOND, NEXT_TO_ONE = 800.0, 50.0
"""Powers of e that are no doubles, and that change nothing when added to 1."""
LARGEST = 1e150
FAR = 2.0**40
"""Parameters beyond which the function is a step for all but few arguments."""


# ----------------------------------------------------------------------------- gamma
def _upper(a: Any, x: Any) -> Any:
    if not (a >= 0 and x >= 0):
        return flint().arb("nan")
    if a.is_zero() or x.is_zero():
        return flint().arb(0 if x > 0 else 1 if a > 0 else "nan")
    return x.gamma_upper(a, 1)


def _lower(a: Any, x: Any) -> Any:
    """The lower function: by its series where it is small (DLMF 8.11.4), else by the upper one."""
    library = flint()
    rest = 1 - _upper(a, x)
    if not rest.is_finite() or a.is_zero() or x.is_zero():
        return rest
    if rest.rel_accuracy_bits() >= min(ENOUGH, library.ctx.prec // 2):
        return rest
    if not x < 0.9 * a + 1:
        return rest
    term, total, k = (a * x.log() - x - (a + 1).lgamma()).exp(), library.arb(0), 0
    small = library.arb(2) ** -library.ctx.prec
    while not (total > 0 and term < total * small):
        total, k = total + term, k + 1
        if k > 40 * library.ctx.prec:
            return library.arb("nan")
        term = term * x / (a + k)
    ratio = x / (a + k)  # the remainder is less than a geometric series
    left = (term / (1 - ratio)).upper()
    return total + library.arb(0.5, 0.5) * left if ratio < 1 else library.arb("nan")


def _gamma_log(a: float, x: float) -> float:
    """A bound on the logarithm of x**a exp(-x)/gamma(a + 1), for large a."""
    return a * (math.log(x) - math.log(a) + 1) - x


def _gamma_edges(below: float, above: float) -> Any:
    """Values where all of the share is below, or all above."""

    def edges(a: float, x: float) -> float | None:
        if a < 0 or x < 0 or (a == 0 and x == 0) or (math.isinf(a) and math.isinf(x)):
            return math.nan
        if a == 0 or math.isinf(x):
            return below
        if x == 0 or math.isinf(a):
            return above
        if a > FAR:
            return below if x > 1.01 * a else above if x < 0.99 * a else None
        if a > 1 and not 0.99 * a < x < 1.01 * a + 1 and _gamma_log(a, x) < -BEYOND:
            return below if x > a else above
        return None if x < 2.0**60 or a > 1 else below

    return edges


def gamma_density(a: Expr, x: Expr) -> Expr:
    """x**(a - 1) exp(-x)/gamma(a)."""
    return EXP(XLOGY(a - ONE, x) - x - LGAMMA(a))


def _complex_upper(a: Any, x: Any) -> Any:
    return flint().acb(x).gamma_upper(a, 1)


def _slope_edges(*args: float) -> float | None:
    a, x = args
    if 0 < a < math.inf and x in (0, math.inf):
        return 0.0
    return None if 0 < a <= LARGEST_PARAMETER and 0 < x < math.inf else math.nan


GAMMAINCC_TWICE = unknown(
    "gammaincc_by_parameter_twice", 2,
    "the second derivative of gammainc and gammaincc by their parameter is not known: "
    "differentiate by the parameter once",
)  # fmt: skip
GAMMAINCC_BY_PARAMETER: Op = Op(
    "gammaincc_by_parameter", 2,
    partials=lambda a, x: (
        GAMMAINCC_TWICE(a, x), neg(gamma_density(a, x) * (LOG(x) - POLYGAMMA(ZERO, a)))
    ),
    slope=lambda a, x: (INF, abs_(gamma_density(a, x) * (LOG(x) - POLYGAMMA(ZERO, a)))),
    domain=lambda a, x: and_(le(ZERO, a), le(ZERO, x)),
    pole=lambda a, x: and_(eq(a, ZERO), eq(x, ZERO)),
    sympy=lambda sp, a, x: sp.Function("gammaincc_by_parameter")(a, x),
    **by_balls("gammaincc_by_parameter", slope_by(0, _upper, _complex_upper), _slope_edges),
)  # fmt: skip
GAMMAINC: Op = Op(
    "gammainc", 2, sign="nonnegative",
    partials=lambda a, x: (neg(GAMMAINCC_BY_PARAMETER(a, x)), gamma_density(a, x)),
    domain=lambda a, x: and_(and_(le(ZERO, a), le(ZERO, x)), lt(ZERO, a + x)),
    names=("scipy.special.gammainc",),
    sympy=lambda sp, a, x: sp.lowergamma(a, x) / sp.gamma(a),
    **by_balls("gammainc", _lower, _gamma_edges(1.0, 0.0)),
)  # fmt: skip
GAMMAINCC: Op = Op(
    "gammaincc", 2, sign="nonnegative",
    partials=lambda a, x: (GAMMAINCC_BY_PARAMETER(a, x), neg(gamma_density(a, x))),
    domain=lambda a, x: and_(and_(le(ZERO, a), le(ZERO, x)), lt(ZERO, a + x)),
    names=("scipy.special.gammaincc",),
    sympy=lambda sp, a, x: sp.uppergamma(a, x) / sp.gamma(a),
    **by_balls("gammaincc", _upper, _gamma_edges(0.0, 1.0)),
)  # fmt: skip


# ------------------------------------------------------------------------------ beta
NEXT_TO_AN_END = 2.0**-60
"""Shares this close to 0 or 1 are computed from the near end alone."""


def _share(a: Any, b: Any, x: Any) -> Any:
    """The share, computed from the nearer end."""
    library = flint()
    if not (a >= 0 and b >= 0 and x >= 0 and x <= 1) or (a.is_zero() and b.is_zero()):
        return library.arb("nan")
    if a.is_zero() or b.is_zero() or x.is_zero() or (1 - x).is_zero():
        return library.arb(1 if (1 - x).is_zero() or (a.is_zero() and x > 0) else 0)
    end = 1 - x
    ways: list[Callable[[], Any]]
    ways = [partial(x.beta_lower, a, b, 1), lambda: 1 - end.beta_lower(b, a, 1)]
    near, far = ways if x.mid() <= library.arb(0.5) else ways[::-1]
    found = near()
    if found.rel_accuracy_bits() >= min(ENOUGH, library.ctx.prec // 2):
        return found
    if x < NEXT_TO_AN_END or end < NEXT_TO_AN_END:  # from the other end it takes minutes
        return found
    other = far()
    return other if other.rel_accuracy_bits() > found.rel_accuracy_bits() else found


def _least(a: float, b: float, x: float) -> float:
    """An upper bound on the logarithm of the share, which is at most
    x**a max(1, (1 - x)**(b - 1))/(a*B(a, b))."""
    size = min(p * math.log(a + b) - math.lgamma(p) for p in (a, b) if p <= max(1.0, a + b - p))
    return a * math.log(x) - math.log(a) + size + max(0.0, (b - 1) * math.log1p(-x))


def _beta_edges(a: float, b: float, x: float) -> float | None:
    infinite = math.isinf(a) and math.isinf(b)
    if a < 0 or b < 0 or not 0 <= x <= 1 or (a == 0 and b == 0) or infinite:
        return math.nan
    if x in (0, 1):
        return x
    if a == 0 or math.isinf(b):
        return 1.0
    if b == 0 or math.isinf(a):
        return 0.0
    if 1 < max(a, b) < LARGEST:
        if b >= 1 and _least(a, b, x) < -BEYOND:
            return 0.0
        if a >= 1 and x > 2.0**-50 and _least(b, a, 1 - x) < -NEXT_TO_ONE:
            return 1.0
    return None if max(a, b) < FAR else math.nan


def beta_density(a: Expr, b: Expr, x: Expr) -> Expr:
    """x**(a - 1) (1 - x)**(b - 1)/B(a, b)."""
    size = LGAMMA(a + b) - LGAMMA(a) - LGAMMA(b)
    return EXP(XLOGY(a - ONE, x) + XLOG1PY(b - ONE, neg(x)) + size)


def _beta_partial(a: Expr, b: Expr, x: Expr, by: Expr, end: Expr) -> Expr:
    """The derivative of the density by one of its parameters."""
    return beta_density(a, b, x) * (LOG(end) - POLYGAMMA(ZERO, by) + POLYGAMMA(ZERO, a + b))


def _complex_share(a: Any, b: Any, x: Any) -> Any:
    return flint().acb(x).beta_lower(a, b, 1)


def _between(a: float, b: float, x: float) -> float | None:
    if 0 < a < math.inf and 0 <= b < math.inf and (b == 0 or x in (0, 1)):
        return 0.0 if 0 <= x <= 1 else math.nan
    near = 0 < a <= LARGEST_PARAMETER and 0 < b <= LARGEST_PARAMETER and 0 < x < 1
    return None if near else math.nan


BETAINC_TWICE = unknown(
    "betainc_by_parameters_twice", 3,
    "the second derivatives of betainc by its parameters are not known: "
    "differentiate by the parameters once",
)  # fmt: skip


def _in_range(a: Expr, b: Expr, x: Expr) -> Expr:
    return and_(and_(le(ZERO, a), le(ZERO, b)), and_(le(ZERO, x), le(x, ONE)))


BETAINC_BY_A: Op = Op(
    "betainc_by_a", 3,
    partials=lambda a, b, x: (
        BETAINC_TWICE(a, b, x), BETAINC_TWICE(a, b, x), _beta_partial(a, b, x, a, x)
    ),
    slope=lambda a, b, x: (INF, INF, abs_(_beta_partial(a, b, x, a, x))),
    domain=_in_range,
    sympy=lambda sp, a, b, x: sp.Function("betainc_by_a")(a, b, x),
    **by_balls("betainc_by_a", slope_by(0, _share, _complex_share), _between),
)  # fmt: skip
BETAINC: Op = Op(
    "betainc", 3, sign="nonnegative",
    partials=lambda a, b, x: (
        BETAINC_BY_A(a, b, x), neg(BETAINC_BY_A(b, a, ONE - x)), beta_density(a, b, x)
    ),
    domain=_in_range,
    names=("scipy.special.betainc",),
    sympy=lambda sp, a, b, x: sp.betainc_regularized(a, b, 0, x),
    **by_balls("betainc", _share, _beta_edges),
)  # fmt: skip


# ------------------------------------------------------------- Student's distribution
def student_density(df: Expr, t: Expr) -> Expr:
    """(1 + t**2/df)**(-(df + 1)/2)/(sqrt(df)*B(df/2, 1/2))."""
    size = LGAMMA((df + ONE) * HALF) - LGAMMA(df * HALF) - LOG(PI() * df) * HALF
    return EXP(size - (df + ONE) * HALF * LOG1P(t * t / df))


def _side(df: Any, t: Any, small: bool) -> Any:
    """The share below t < 0, minus 1/2 if t is small, by the incomplete beta function from the end
    that is nearer then."""
    square = t * t
    if small:
        return (square / (df + square)).beta_lower(0.5, df / 2, 1) / -2
    return (df / (df + square)).beta_lower(df / 2, 0.5, 1) / 2


def _below(df: Any, t: Any) -> Any:
    library = flint()
    if not df > 0 or not (t < 0 or t > 0 or t.is_zero()):
        return library.arb("nan")
    small = bool(t * t < df)
    tail = _side(df, t, small) + (0.5 if small else 0)
    return 1 - tail if t > 0 else tail


def _but_for_a_constant(df: Any, t: Any) -> Any:
    """The same up to a constant, which would cost its derivative by df digits; the constant must
    not depend on df."""
    if not (t < 0 or t > 0):
        return flint().arb("nan")
    found = _side(df, t, bool(abs(t) < 1))
    return -found if t > 0 else found


def _student_edges(df: float, t: float) -> float | None:
    if not 0 < df < FAR:
        return math.nan
    return (1.0 if t > 0 else 0.0) if math.isinf(t) else None


def _student_slope_edges(df: float, t: float) -> float | None:
    if math.isinf(t) or t == 0:
        return 0.0 if df > 0 else math.nan
    return None if 0 < df <= LARGEST_PARAMETER else math.nan


STUDENT_TWICE = unknown(
    "stdtr_by_parameter_twice", 2,
    "the second derivative of Student's distribution function by its degrees of freedom is not "
    "known: differentiate by them once",
)  # fmt: skip


def _density_by_df(df: Expr, t: Expr) -> Expr:
    """The derivative of the density by the degrees of freedom."""
    square = t * t
    inner = POLYGAMMA(ZERO, (df + ONE) * HALF) - POLYGAMMA(ZERO, df * HALF) - ONE / df
    inner = inner - LOG1P(square / df) + (df + ONE) * square / (df * (df + square))
    return student_density(df, t) * inner * HALF


STUDENT_BY_DF: Op = Op(
    "stdtr_by_parameter", 2,
    partials=lambda df, t: (STUDENT_TWICE(df, t), _density_by_df(df, t)),
    slope=lambda df, t: (INF, abs_(_density_by_df(df, t))),
    domain=lambda df, t: lt(ZERO, df),
    sympy=lambda sp, df, t: sp.Function("stdtr_by_parameter")(df, t),
    **by_balls("stdtr_by_parameter", slope_by(0, _but_for_a_constant, _but_for_a_constant), _student_slope_edges),
)  # fmt: skip
STUDENT: Op = Op(
    "stdtr", 2, sign="nonnegative",
    partials=lambda df, t: (STUDENT_BY_DF(df, t), student_density(df, t)),
    domain=lambda df, t: lt(ZERO, df),
    names=("scipy.special.stdtr",),
    sympy=lambda sp, df, t: sp.Function("stdtr")(df, t),
    **by_balls("stdtr", _below, _student_edges),
)  # fmt: skip
"""The share of Student's distribution below t."""

ENTRIES: tuple[Op, ...] = (
    GAMMAINC, GAMMAINCC, GAMMAINCC_BY_PARAMETER, BETAINC, BETAINC_BY_A, STUDENT, STUDENT_BY_DF,
)  # fmt: skip
