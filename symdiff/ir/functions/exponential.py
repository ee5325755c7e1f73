"""Exponentials, logarithms, and products with these."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    CONST,
    ONE,
    POW,
    VAR,
    ZERO,
    Expr,
    Op,
    abs_,
    add,
    and_,
    const,
    div,
    eq,
    integer,
    le,
    lt,
    mul,
    neg,
    or_,
    rational,
    raw,
    topological,
    where,
)
from symdiff.ir.functions.columns import at_zero, flint, like_its_argument
from symdiff.ir.functions.named_numbers import LN2, LN10
from symdiff.ir.functions.selection import LARGER, MAXIMUM


def _log_simplify(x: Expr) -> Expr | None:
    if x is ZERO:
        return const(-math.inf)
    if x.op is EXP:
        return x.args[0]
    if x.op is POW and (n := integer(x.args[1])) is not None and n % 2 == 0:
        return mul(x.args[1], LOG(abs_(x.args[0])))
    return None


EXP: Op = Op(
    "exp", 1,
    monotone=True,
    sign="positive",
    partials=lambda x: (EXP(x),),
    simplify=lambda x: x.args[0] if x.op is LOG else None,
    fold=at_zero(1),
    names=("math.exp", "numpy.exp"),
    sympy=lambda sp, x: sp.exp(x),
    libm="exp", vector=True, python="math.exp({0})",
    ball=lambda x: x.exp(), flint="arb_exp",
)  # fmt: skip
LOG: Op = Op(
    "log", 1,
    monotone=True,
    partials=lambda x: (div(ONE, x),),
    domain=lambda x: le(ZERO, x),
    pole=lambda x: eq(x, ZERO),
    simplify=_log_simplify,
    fold=lambda x: Fraction(0) if x == 1 else None,
    names=("math.log", "numpy.log"),
    sympy=lambda sp, x: sp.log(x),
    libm="log", vector=True, python="math.log({0})",
    ball=lambda x: x.log(), flint="arb_log",
)  # fmt: skip
EXP2: Op = Op(
    "exp2", 1,
    monotone=True,
    sign="positive",
    partials=lambda x: (mul(EXP2(x), LN2()),),
    fold=lambda x: Fraction(2) ** int(x) if x.denominator == 1 and abs(x) < 1024 else None,
    names=("math.exp2", "numpy.exp2", "scipy.special.exp2"),
    sympy=lambda sp, x: 2**x,
    libm="exp2", vector=True, python="np.exp2({0})",
    ball=lambda x: (x * flint().arb.const_log2()).exp(),
    flint=lambda x: raw(EXP, (mul(x, LN2()),)),
)  # fmt: skip
EXPM1: Op = Op(
    "expm1", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (EXP(x),),
    slope=lambda x: (EXPM1(x) + ONE,),
    fold=at_zero(0),
    names=("math.expm1", "numpy.expm1", "scipy.special.expm1"),
    sympy=lambda sp, x: sp.exp(x) - 1,
    libm="expm1", vector=True, python="math.expm1({0})",
    ball=like_its_argument("expm1"), flint="arb_expm1",
)  # fmt: skip
LOG1P: Op = Op(
    "log1p", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, add(ONE, x)),),
    domain=lambda x: le(const(-1), x),
    pole=lambda x: eq(x, const(-1)),
    fold=at_zero(0),
    names=("math.log1p", "numpy.log1p", "scipy.special.log1p"),
    sympy=lambda sp, x: sp.log(1 + x),
    libm="log1p", vector=True, python="math.log1p({0})",
    ball=lambda x: x.log1p(), flint="arb_log1p",
)  # fmt: skip
LOG2: Op = Op(
    "log2", 1,
    monotone=True,
    partials=lambda x: (div(ONE, mul(x, LN2())),),
    domain=lambda x: le(ZERO, x),
    pole=lambda x: eq(x, ZERO),
    fold=lambda x: _exact_log(x, 2),
    names=("math.log2", "numpy.log2"),
    sympy=lambda sp, x: sp.log(x) / sp.log(2),
    libm="log2", vector=True, python="math.log2({0})",
    ball=lambda x: x.log() / flint().arb.const_log2(),
    flint=lambda x: div(raw(LOG, (x,)), LN2()),
)  # fmt: skip
LOG10: Op = Op(
    "log10", 1,
    monotone=True,
    partials=lambda x: (div(ONE, mul(x, LN10())),),
    domain=lambda x: le(ZERO, x),
    pole=lambda x: eq(x, ZERO),
    fold=lambda x: _exact_log(x, 10),
    names=("math.log10", "numpy.log10"),
    sympy=lambda sp, x: sp.log(x) / sp.log(10),
    libm="log10", vector=True, python="math.log10({0})",
    ball=lambda x: x.log() / flint().arb.const_log10(),
    flint=lambda x: div(raw(LOG, (x,)), LN10()),
)  # fmt: skip


def _exact_log(x: Fraction, base: int) -> Fraction | None:
    if x <= 0 or 1 not in (x.numerator, x.denominator):
        return None
    n, k = max(x.numerator, x.denominator), 0
    while n % base == 0:
        n, k = n // base, k + 1
    return Fraction(k if x >= 1 else -k) if n == 1 else None


def gap(a: Expr, b: Expr) -> Expr:
    """a - b, and 0 where both are -inf."""
    if CONST in (a.op, b.op):
        return a - b
    return LARGER(a, LOWEST) - LARGER(b, LOWEST)


LOWEST = const(-1e270)
"""What -inf counts as in exponents."""


LOGADDEXP: Op = Op(
    "logaddexp", 2,
    partials=lambda a, b: (
        div(ONE, add(ONE, EXP(b - a))),
        div(ONE, add(ONE, EXP(a - b))),
    ),
    slope=lambda a, b: (ONE, ONE),
    names=("numpy.logaddexp",),
    sympy=lambda sp, a, b: sp.log(sp.exp(a) + sp.exp(b)),
    python="np.logaddexp({0}, {1})",
    expand=lambda a, b: MAXIMUM(a, b) + LOG1P(EXP(neg(abs_(gap(a, b))))),
    ball=lambda a, b: a.max(b) + (-abs(a - b)).exp().log1p(),
    flint=lambda a, b: MAXIMUM(a, b) + LOG1P(EXP(neg(abs_(gap(a, b))))),
)  # fmt: skip


# ------------------------------------------------- products with a logarithm, 0 at 0
def _share(a: Expr, b: Expr) -> bool:
    """Whether two formulas have a variable, or an element of an array, in common."""
    of_a = {e for e in topological((a,)) if e.op is VAR or e.op.arity < 0}
    return any(e in of_a for e in topological((b,)))


def _times_log(log: Op, edge: int) -> dict[str, Any]:
    """The columns of u*log(x), which is 0 where u is, though the logarithm may not exist.

    An operation of its own: `where(u == 0, 0, u*log(x))` would have the derivative 0
    there, which no product has.
    """

    def simplify(u: Expr, x: Expr) -> Expr | None:
        if u is ZERO:
            return ZERO
        exists = x.op.sign == "positive" or ((q := rational(x)) is not None and q > edge)
        return mul(u, log(x)) if exists else None

    def expand(u: Expr, x: Expr) -> Expr:
        vanishes = eq(u, ZERO)
        if u.op is POW:  # a power may also underflow
            vanishes = and_(eq(u.args[0], ZERO), lt(ZERO, u.args[1]))
        if u.op is not POW or u.args[0] is not x or edge:
            vanishes = and_(vanishes, le(x, const(edge)))
        return where(vanishes, ZERO, mul(u, log(x)))

    def slope(u: Expr, x: Expr) -> Expr:
        """u/x, completed with 0 at u = 0 as u*log(x) is. It is written as a product with a
        logarithm there, which is 0 and has the poles of u/x as derivatives by u."""
        step = x - const(edge)
        if _share(u, step):  # they may cancel
            return div(u, step)
        return where(and_(eq(u, ZERO), eq(step, ZERO)), neg(XLOGY(u, step)), div(u, step))

    ball = log.ball
    assert ball is not None
    return {
        "partials": lambda u, x: (log(x), slope(u, x)),
        "domain": lambda u, x: or_(and_(eq(u, ZERO), le(x, const(edge))), le(const(edge), x)),
        "pole": lambda u, x: and_(eq(x, const(edge)), lt(ZERO, abs_(u))),
        "simplify": simplify,
        "expand": expand,
        "ball": lambda u, x: u if u.is_zero() else u * ball(x),
        "flint": lambda u, x: where(eq(u, ZERO), ZERO, mul(u, log(x))),
    }


XLOGY: Op = Op(
    "xlogy", 2,
    names=("scipy.special.xlogy",),
    sympy=lambda sp, u, x: sp.Piecewise((0, sp.Eq(u, 0)), (u * sp.log(x), True)),
    **_times_log(LOG, 0),
)  # fmt: skip
XLOG1PY: Op = Op(
    "xlog1py", 2,
    names=("scipy.special.xlog1py",),
    sympy=lambda sp, u, x: sp.Piecewise((0, sp.Eq(u, 0)), (u * sp.log(1 + x), True)),
    **_times_log(LOG1P, -1),
)  # fmt: skip

ENTRIES: tuple[Op, ...] = (
    EXP, EXP2, EXPM1, LOG, LOG1P, LOG2, LOG10, LOGADDEXP, XLOGY, XLOG1PY,
)  # fmt: skip
