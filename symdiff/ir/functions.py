"""The elementary functions: one table entry each, nothing about them elsewhere.

An entry says how the function is called in Python, its derivative, its real
domain and kinks, and how each target evaluates it. A test samples every entry
because it is in this table. Formulas: NIST DLMF, chapters 4, 5 and 7.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from symdiff.ir import (
    ABS,
    CONST,
    EQ,
    FALSE,
    HALF,
    NAN,
    NEG,
    ONE,
    OPS,
    POW,
    SIGN,
    TRUE,
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
    power,
    rational,
    raw,
    scaled,
    sqrt,
    topological,
    where,
)


def _at_zero(value: int) -> Callable[..., Fraction | None]:
    """Fold f(0) = value."""
    return lambda x: Fraction(value) if x == 0 else None


def _odd(op_name: str) -> Callable[[Expr], Expr | None]:
    """f(-x) = -f(x)."""
    return lambda x: neg(OPS[op_name](x.args[0])) if x.op is NEG else None


def _even(op_name: str) -> Callable[[Expr], Expr | None]:
    return lambda x: OPS[op_name](x.args[0]) if x.op in (NEG, ABS) else None


# ------------------------------------------------------------------- constants
PI: Op = Op(
    "pi", 0, sign="positive",
    sympy=lambda sp: sp.pi, python="math.pi",
    ball=lambda: _flint().arb.pi(),
)  # fmt: skip
LN2: Op = Op(
    "ln2", 0, sign="positive",
    sympy=lambda sp: sp.log(2), python="0.6931471805599453",
    ball=lambda: _flint().arb.const_log2(),
)  # fmt: skip
LN10: Op = Op(
    "ln10", 0, sign="positive",
    sympy=lambda sp: sp.log(10), python="2.302585092994046",
    ball=lambda: _flint().arb.const_log10(),
)  # fmt: skip
CONSTANT_VALUES: dict[Op, float] = {PI: math.pi, LN2: math.log(2), LN10: math.log(10)}
"""The doubles nearest to the named constants."""


def _flint() -> Any:
    import flint

    return flint


# ------------------------------------------------------- exponential, logarithm
def _like_its_argument(name: str) -> Callable[[Any], Any]:
    """The ball of a function with |f(x)/x - 1| <= |x| near 0. Where the exponent of x is a
    long number, FLINT has few digits of it."""

    def ball(x: Any) -> Any:
        flint = _flint()
        if x.abs_upper() < flint.arb(2) ** (-4 * flint.ctx.prec):
            return x * (1 + x * flint.arb(0, 1))
        return getattr(x, name)()

    return ball


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
    fold=_at_zero(1),
    names=("math.exp", "numpy.exp"),
    sympy=lambda sp, x: sp.exp(x),
    libm="exp", vector=True, python="math.exp({0})",
    ball=lambda x: x.exp(),
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
    ball=lambda x: x.log(),
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
    ball=lambda x: (x * _flint().arb.const_log2()).exp(),
)  # fmt: skip
EXPM1: Op = Op(
    "expm1", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (EXP(x),),
    slope=lambda x: (EXPM1(x) + ONE,),
    fold=_at_zero(0),
    names=("math.expm1", "numpy.expm1", "scipy.special.expm1"),
    sympy=lambda sp, x: sp.exp(x) - 1,
    libm="expm1", vector=True, python="math.expm1({0})",
    ball=_like_its_argument("expm1"),
)  # fmt: skip
LOG1P: Op = Op(
    "log1p", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, add(ONE, x)),),
    domain=lambda x: le(const(-1), x),
    pole=lambda x: eq(x, const(-1)),
    fold=_at_zero(0),
    names=("math.log1p", "numpy.log1p", "scipy.special.log1p"),
    sympy=lambda sp, x: sp.log(1 + x),
    libm="log1p", vector=True, python="math.log1p({0})",
    ball=lambda x: x.log1p(),
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
    ball=lambda x: x.log() / _flint().arb.const_log2(),
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
    ball=lambda x: x.log() / _flint().arb.const_log10(),
)  # fmt: skip


def _exact_log(x: Fraction, base: int) -> Fraction | None:
    if x <= 0 or 1 not in (x.numerator, x.denominator):
        return None
    n, k = max(x.numerator, x.denominator), 0
    while n % base == 0:
        n, k = n // base, k + 1
    return Fraction(k if x >= 1 else -k) if n == 1 else None


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
    expand=lambda a, b: MAXIMUM(a, b) + LOG1P(EXP(neg(abs_(a - b)))),
    ball=lambda a, b: a.max(b) + (-abs(a - b)).exp().log1p(),
)  # fmt: skip


# ------------------------------------------------- products with a logarithm, 0 at 0
def _share(a: Expr, b: Expr) -> bool:
    """Whether two formulas have a variable, or an element of an array, in common."""
    of_a = {e for e in topological((a,)) if e.op is VAR or e.op.arity < 0}
    return any(e in of_a for e in topological((b,)))


def _times_log(log: Op, edge: int) -> dict[str, Any]:
    """The columns of u*log(x), which is 0 where u is, though the logarithm may not exist.

    An operation of its own, as `where(u == 0, 0, u*log(x))` would have the derivative 0
    there, which is that of no product."""

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
        """u/x, completed with 0 at u = 0 as u*log(x) is. There it is written as a product with a
        logarithm again, which is 0 and has the poles of u/x as derivatives by u."""
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


# ------------------------------------------------------------------------ roots
CBRT: Op = Op(
    "cbrt", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, mul(const(3), power(CBRT(x), 2))),),
    slope=lambda x: (abs_(div(CBRT(x), const(3) * x)),),
    simplify=_odd("cbrt"),
    fold=lambda x: _exact_cbrt(x),
    names=("math.cbrt", "numpy.cbrt", "scipy.special.cbrt"),
    sympy=lambda sp, x: sp.real_root(x, 3) if x.is_number else sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3),
    libm="cbrt", vector=True, python="np.cbrt({0})",
    ball=lambda x: x if x.is_zero() else x.root(3) if x > 0 else -((-x).root(3)),
)  # fmt: skip


def _exact_cbrt(x: Fraction) -> Fraction | None:
    if max(abs(x.numerator), x.denominator) >= 2**150:
        return None
    n, d = round(abs(x.numerator) ** (1 / 3)), round(x.denominator ** (1 / 3))
    r = Fraction(n, max(d, 1)) * (1 if x >= 0 else -1)
    return r if r**3 == x else None


UNIT: Op = Op(
    "unit", 2,
    partials=lambda w, norm: (div(ONE, norm), neg(div(div(w, norm), norm))),
    sympy=lambda sp, w, norm: w / norm,
    expand=lambda w, norm: where(eq(norm, ZERO), ZERO, div(w, norm)),
    ball=lambda w, norm: norm if norm.is_zero() else w / norm,
    kink=lambda w, norm: norm,
    kink_rule="the derivative of a norm at 0 is 0, its subgradient of least norm",
)  # fmt: skip
HYPOT: Op = Op(
    "hypot", 2,
    sign="nonnegative",
    partials=lambda x, y: (UNIT(x, HYPOT(x, y)), UNIT(y, HYPOT(x, y))),
    slope=lambda x, y: (ONE, ONE),
    simplify=lambda x, y: _hypot_simplify(x, y),
    names=("math.hypot", "numpy.hypot"),
    sympy=lambda sp, x, y: sp.sqrt(x**2 + y**2),
    libm="hypot", vector=True, python="math.hypot({0}, {1})",
    ball=lambda x, y: (x * x + y * y).sqrt(),
    kink=lambda x, y: HYPOT(x, y),
    kink_rule="the derivative of a norm at 0 is 0, its subgradient of least norm",
)  # fmt: skip


def _hypot_simplify(x: Expr, y: Expr) -> Expr | None:
    if x is ZERO or y is ZERO:
        return abs_(y if x is ZERO else x)
    if x.op in (NEG, ABS) or y.op in (NEG, ABS):
        return HYPOT(*(e.args[0] if e.op in (NEG, ABS) else e for e in (x, y)))
    return None


# ----------------------------------------------------------------- trigonometric
_TURNS = {  # of which fractions of pi sine is rational (Niven's theorem)
    Fraction(0): ZERO, Fraction(1, 6): HALF, Fraction(1, 2): ONE, Fraction(5, 6): HALF,
    Fraction(1): ZERO, Fraction(7, 6): neg(HALF), Fraction(3, 2): neg(ONE),
    Fraction(11, 6): neg(HALF),
}  # fmt: skip


def _of_pi(x: Expr, ahead: Fraction) -> Expr | None:
    """sin(x + ahead*pi) for a rational multiple x of pi, where that is rational."""
    factor, rest = scaled(x)
    return _TURNS.get((factor + ahead) % 2) if rest.op is PI else None


def _sin_simplify(x: Expr) -> Expr | None:
    found = _odd("sin")(x)
    return _of_pi(x, Fraction(0)) if found is None else found


def _cos_simplify(x: Expr) -> Expr | None:
    found = _even("cos")(x)
    return _of_pi(x, Fraction(1, 2)) if found is None else found


def _tan_simplify(x: Expr) -> Expr | None:
    factor, rest = scaled(x)
    if rest.op is PI and 4 * factor % 4 in (0, 1, 3):
        return const({0: 0, 1: 1, 3: -1}[int(4 * factor % 4)])
    return _odd("tan")(x)


SIN: Op = Op(
    "sin", 1,
    partials=lambda x: (COS(x),),
    slope=lambda x: (ONE,),
    simplify=_sin_simplify, fold=_at_zero(0),
    names=("math.sin", "numpy.sin"),
    sympy=lambda sp, x: sp.sin(x),
    libm="sin", vector=True, python="math.sin({0})",
    ball=lambda x: x.sin(),
)  # fmt: skip
COS: Op = Op(
    "cos", 1,
    partials=lambda x: (neg(SIN(x)),),
    slope=lambda x: (ONE,),
    simplify=_cos_simplify, fold=_at_zero(1),
    names=("math.cos", "numpy.cos"),
    sympy=lambda sp, x: sp.cos(x),
    libm="cos", vector=True, python="math.cos({0})",
    ball=lambda x: x.cos(),
)  # fmt: skip
TAN: Op = Op(
    "tan", 1,
    partials=lambda x: (add(power(TAN(x), 2), ONE),),
    slope=lambda x: (ONE + power(TAN(x), 2),),
    simplify=_tan_simplify, fold=_at_zero(0),
    names=("math.tan", "numpy.tan"),
    sympy=lambda sp, x: sp.tan(x),
    libm="tan", vector=True, python="math.tan({0})",
    ball=lambda x: x.tan(),
)  # fmt: skip
ASIN: Op = Op(
    "asin", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, sqrt(mul(ONE - x, ONE + x))),),
    domain=lambda x: le(abs_(x), ONE),
    simplify=_odd("asin"), fold=_at_zero(0),
    names=("math.asin", "numpy.arcsin", "numpy.asin"),
    sympy=lambda sp, x: sp.asin(x),
    libm="asin", vector=True, python="math.asin({0})",
    ball=lambda x: x.asin(),
)  # fmt: skip
ACOS: Op = Op(
    "acos", 1,
    monotone=True,
    sign="nonnegative",
    partials=lambda x: (div(const(-1), sqrt(mul(ONE - x, ONE + x))),),
    domain=lambda x: le(abs_(x), ONE),
    fold=lambda x: Fraction(0) if x == 1 else None,
    names=("math.acos", "numpy.arccos", "numpy.acos"),
    sympy=lambda sp, x: sp.acos(x),
    libm="acos", vector=True, python="math.acos({0})",
    ball=lambda x: x.acos(),
)  # fmt: skip
ATAN: Op = Op(
    "atan", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, add(power(x, 2), ONE)),), steepest=1,
    simplify=_odd("atan"), fold=_at_zero(0),
    names=("math.atan", "numpy.arctan", "numpy.atan"),
    sympy=lambda sp, x: sp.atan(x),
    libm="atan", vector=True, python="math.atan({0})",
    ball=lambda x: x.atan(),
)  # fmt: skip


def _angle(y: Expr, x: Expr) -> Expr:
    """The angle of a vector by the quadrant it is in."""
    half = mul(HALF, PI())
    steep = where(lt(ZERO, y), half, neg(half)) - ATAN(div(x, y))
    turned = where(lt(ZERO, x), ZERO, where(le(ZERO, y), PI(), neg(PI())))
    return where(lt(ABS(x), ABS(y)), steep, ATAN(div(y, x)) + turned)


ATAN2: Op = Op(
    "atan2", 2,
    partials=lambda y, x: (
        div(x, add(power(x, 2), power(y, 2))),
        neg(div(y, add(power(x, 2), power(y, 2)))),
    ),
    slope=lambda y, x: (div(ONE, HYPOT(x, y)), div(ONE, HYPOT(x, y))),
    names=("math.atan2", "numpy.arctan2", "numpy.atan2"),
    sympy=lambda sp, y, x: sp.atan2(y, x),
    libm="atan2", vector=True, python="math.atan2({0}, {1})",
    ball=lambda y, x: y + x if y.is_nan() or x.is_nan() else _flint().arb.atan2(y, x),
    cut=lambda y, x: y, pieces=lambda y, x: _angle(y, x),
)  # fmt: skip

# -------------------------------------------------------------------- hyperbolic
SINH: Op = Op(
    "sinh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (COSH(x),),
    slope=lambda x: (ONE + abs_(SINH(x)),),
    simplify=_odd("sinh"), fold=_at_zero(0),
    names=("math.sinh", "numpy.sinh"),
    sympy=lambda sp, x: sp.sinh(x),
    libm="sinh", vector=True, python="math.sinh({0})",
    ball=_like_its_argument("sinh"),
)  # fmt: skip
COSH: Op = Op(
    "cosh", 1,
    sign="positive",
    partials=lambda x: (SINH(x),),
    slope=lambda x: (COSH(x),),
    simplify=_even("cosh"), fold=_at_zero(1),
    names=("math.cosh", "numpy.cosh"),
    sympy=lambda sp, x: sp.cosh(x),
    libm="cosh", vector=True, python="math.cosh({0})",
    ball=lambda x: x.cosh(),
)  # fmt: skip
TANH: Op = Op(
    "tanh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, power(COSH(x), 2)),),
    by_value=lambda y: (mul(ONE - y, ONE + y),),
    slope=lambda x: (ONE - power(TANH(x), 2) + const(Fraction(1, 2**50)),), steepest=1,
    simplify=_odd("tanh"), fold=_at_zero(0),
    names=("math.tanh", "numpy.tanh"),
    sympy=lambda sp, x: sp.tanh(x),
    libm="tanh", vector=True, python="math.tanh({0})",
    ball=_like_its_argument("tanh"),
)  # fmt: skip
ASINH: Op = Op(
    "asinh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, sqrt(add(power(x, 2), ONE))),), steepest=1,
    simplify=_odd("asinh"), fold=_at_zero(0),
    names=("math.asinh", "numpy.arcsinh", "numpy.asinh"),
    sympy=lambda sp, x: sp.asinh(x),
    libm="asinh", vector=True, python="math.asinh({0})",
    ball=lambda x: x.asinh(),
)  # fmt: skip
ACOSH: Op = Op(
    "acosh", 1,
    monotone=True,
    sign="nonnegative",
    partials=lambda x: (div(ONE, mul(sqrt(x - ONE), sqrt(x + ONE))),),
    domain=lambda x: le(ONE, x),
    fold=lambda x: Fraction(0) if x == 1 else None,
    names=("math.acosh", "numpy.arccosh", "numpy.acosh"),
    sympy=lambda sp, x: sp.acosh(x),
    libm="acosh", vector=True, python="math.acosh({0})",
    ball=lambda x: x.acosh(),
)  # fmt: skip
ATANH: Op = Op(
    "atanh", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (div(ONE, mul(ONE - x, ONE + x)),),
    domain=lambda x: le(abs_(x), ONE),
    pole=lambda x: eq(abs_(x), ONE),
    simplify=_odd("atanh"), fold=_at_zero(0),
    names=("math.atanh", "numpy.arctanh", "numpy.atanh"),
    sympy=lambda sp, x: sp.atanh(x),
    libm="atanh", vector=True, python="math.atanh({0})",
    ball=lambda x: x.atanh(),
)  # fmt: skip


# ------------------------------------------------------------- error and gamma
def _erfc_ball(x: Any) -> Any:
    """By its ends where it falls so fast that the radius would say nothing else."""
    if x.is_exact() or not x > 100:
        return x.erfc()
    return x.upper().erfc().union(x.lower().erfc())


ERF: Op = Op(
    "erf", 1,
    monotone=True,
    sign="same",
    partials=lambda x: (mul(div(const(2), sqrt(PI())), EXP(neg(power(x, 2)))),),
    slope=lambda x: (const(2),),
    simplify=_odd("erf"), fold=_at_zero(0),
    names=("math.erf", "scipy.special.erf"),
    sympy=lambda sp, x: sp.erf(x),
    libm="erf", vector=True, python="math.erf({0})",
    ball=lambda x: x.erf(),
)  # fmt: skip
ERFC: Op = Op(
    "erfc", 1,
    monotone=True,
    sign="positive",
    partials=lambda x: (neg(mul(div(const(2), sqrt(PI())), EXP(neg(power(x, 2))))),), steepest=2,
    slope=lambda x: (mul(ERFC(x), add(add(abs_(x), x), const(Fraction(3, 2)))),),  # DLMF 7.8.2
    fold=_at_zero(1),
    names=("math.erfc", "scipy.special.erfc"),
    sympy=lambda sp, x: sp.erfc(x),
    libm="erfc", vector=True, python="math.erfc({0})",
    ball=_erfc_ball,
)  # fmt: skip


def _no_gamma(x: Expr) -> Expr:
    """The poles of gamma: 0, -1, -2, ..."""
    return and_(le(x, ZERO), eq(FLOOR(x), x))


GAMMA: Op = Op(
    "gamma", 1,
    pole=_no_gamma,
    partials=lambda x: (mul(GAMMA(x), POLYGAMMA(ZERO, x)),),
    fold=lambda x: Fraction(math.factorial(int(x) - 1)) if x.denominator == 1 and 0 < x < 100 else None,
    names=("math.gamma", "scipy.special.gamma"),
    sympy=lambda sp, x: sp.gamma(x),
    libm="tgamma", python="math.gamma({0})",
    ball=lambda x: x.gamma(),
)  # fmt: skip
LGAMMA: Op = Op(
    "lgamma", 1,
    pole=_no_gamma,
    partials=lambda x: (POLYGAMMA(ZERO, x),),
    fold=lambda x: Fraction(0) if x in (1, 2) else None,
    names=("math.lgamma", "scipy.special.gammaln", "scipy.special.loggamma"),
    sympy=lambda sp, x: sp.log(sp.Abs(sp.gamma(x))),
    libm="lgamma", python="math.lgamma({0})",
    ball=lambda x: x.lgamma() if x > 0 else abs(x.gamma()).log(),
)  # fmt: skip


def _polygamma_ball(n: Any, x: Any) -> Any:
    order = int(n.unique_fmpz())
    if order == 0:
        return x.digamma()
    flint = _flint()
    if not (x > 0 or x < 0):
        return flint.arb("nan")
    far = x if x > 0 else 1 - x  # (-1)**(n+1) n! zeta(n+1, x)
    value = flint.arb(order + 1).zeta(far) * math.factorial(order)
    if x > 0:
        return value if order % 2 else -value
    ctx = flint.ctx  # (-1)**n psi_n(1 - x) less the derivative of pi*cot(pi*x)
    cap, ctx.cap = ctx.cap, order + 1
    try:
        waves = flint.arb_series([x, 1]).cot_pi()[order]
    finally:
        ctx.cap = cap
    return -value - flint.arb.pi() * waves * math.factorial(order)


def _sin_pi(x: Expr) -> Expr:
    """sin(pi*x), with the whole turns taken off before pi is rounded."""
    n = ROUND(x)
    odd = n - mul(const(2), FLOOR(mul(HALF, n)))
    return mul(ONE - mul(const(2), odd), SIN(mul(PI(), x - n)))


_BERNOULLI_NUMBERS = 18
"""Terms of the asymptotic series of the polygamma function."""


@functools.cache
def _bernoulli() -> tuple[Fraction, ...]:
    """B_2, B_4 and so on, by the recurrence DLMF 24.5.3."""
    found = [Fraction(1)]
    for m in range(1, 2 * _BERNOULLI_NUMBERS + 1):
        total = sum((math.comb(m + 1, k) * b for k, b in enumerate(found)), Fraction(0))
        found.append(-total / (m + 1))
    return tuple(found[2::2])


def _polygamma_expand(n: Expr, x: Expr) -> Expr:
    """Reflection for x < 1/2, recurrence up to x + 22 + 2*n, then the asymptotic
    series, which is right to 2**-110 there (DLMF 5.5.2, 5.5.4, 5.11.2, 5.15.5, 5.15.6, 5.15.8)."""
    order = integer(n)
    if order is None or not 0 <= order <= MAX_POLYGAMMA:
        raise NotImplementedError(f"polygamma of order {n} has no kernel")
    reflected = lt(x, HALF)
    t = where(reflected, ONE - x, x)
    steps = 22 + 2 * order
    shift = t + const(steps)
    z = div(ONE, power(shift, 2))
    series: Expr = ZERO
    for k in range(_BERNOULLI_NUMBERS, 0, -1):
        scale = Fraction(math.factorial(2 * k + order - 1), math.factorial(2 * k))
        series = mul(z, series + const(_bernoulli()[k - 1] * scale))
    if order == 0:
        tail = LOG(shift) - div(HALF, shift) - series
        for k in range(steps - 1, -1, -1):
            tail = tail - div(ONE, t + const(k))
        return where(reflected, tail - div(PI(), TAN(mul(PI(), x - ROUND(x)))), tail)
    lead = const(math.factorial(order - 1)) + div(const(Fraction(math.factorial(order), 2)), shift)
    total = div(lead + series, power(shift, order))
    for k in range(steps - 1, -1, -1):
        total = total + div(const(math.factorial(order)), power(t + const(k), order + 1))
    value = total if order % 2 else neg(total)
    mirrored = neg(value) if order % 2 else value
    return where(reflected, mirrored - _cotangent_slope(order, x), value)


def _cotangent_slope(order: int, x: Expr) -> Expr:
    """The derivative of pi*cot(pi*x), as a polynomial in c = cot(pi*x): each
    differentiation takes p(c) to -pi*(1 + c**2)*p'(c)."""
    p = [0, 1]
    for _ in range(order):
        slope = [k * a for k, a in enumerate(p)][1:]
        p = [-(a + b) for a, b in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    c = div(ONE, TAN(mul(PI(), x - ROUND(x))))
    total: Expr = ZERO
    for a in reversed(p):
        total = total * c + const(a)
    return mul(power(PI(), order + 1), total)


MAX_POLYGAMMA = 20
"""Highest order of the polygamma function that has a kernel."""


POLYGAMMA: Op = Op(
    "polygamma", 2,
    pole=lambda n, x: _no_gamma(x),
    partials=lambda n, x: (None, POLYGAMMA(n + ONE, x)),
    names=("scipy.special.polygamma",),
    sympy=lambda sp, n, x: sp.polygamma(n, x),
    expand=_polygamma_expand, written=True,
    ball=_polygamma_ball,
)  # fmt: skip


# ---------------------------------------------------------- angles, sinc, others
def _sinc_partial(x: Expr) -> tuple[Expr]:
    t = mul(PI(), x)
    return (div(COS(t) - SINC(x), x),)


SINC: Op = Op(
    "sinc", 1,
    partials=_sinc_partial,
    simplify=_even("sinc"), fold=_at_zero(1),
    names=("numpy.sinc",),
    sympy=lambda sp, x: sp.sinc(sp.pi * x),
    python="np.sinc({0})",
    expand=lambda x: where(eq(x, ZERO), ONE, div(_sin_pi(x), mul(PI(), x))),
    ball=lambda x: x.sinc_pi(),
)  # fmt: skip

# ------------------------------------------------------------ steps and selection
FLOOR: Op = Op(
    "floor", 1,
    partials=lambda x: (ZERO,),
    fold=lambda x: Fraction(math.floor(x)),
    names=("math.floor", "numpy.floor"),
    sympy=lambda sp, x: sp.floor(x),
    libm="floor", intrinsic="llvm.floor", python="np.floor({0})",
    ball=lambda x: _step(x.floor()),
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
    ball=lambda x: _step(x.ceil()),
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
    ball=lambda x: _step(x.floor() if x >= 0 else x.ceil()),
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
    ball=lambda x: _round_ball(x),
    kink=lambda x: COS(mul(PI(), x)),
    kink_rule="the derivative of a step function is 0",
)  # fmt: skip


def _step(x: Any) -> Any:
    """A step function is known only where the ball holds one integer."""
    return x if x.is_exact() else _flint().arb("nan")


def _round_ball(x: Any) -> Any:
    """Half to even, as Python and IEEE round."""
    half = _flint().arb("0.5")
    low, high = (x + half).floor(), (x - half).ceil()
    if low.is_exact() and high.is_exact():
        even = low if int(low.unique_fmpz()) % 2 == 0 else high
        return low if low == high else even
    return _flint().arb("nan")


FMOD: Op = Op(
    "fmod", 2,
    partials=lambda x, y: (ONE, neg(TRUNC(div(x, y)))),
    fold=lambda x, y: x - y * math.trunc(x / y) if y != 0 else None,
    names=("math.fmod", "numpy.fmod"),
    sympy=lambda sp, x, y: x - y * sp.sign(x / y) * sp.floor(sp.Abs(x / y)),
    libm="fmod", python="np.fmod({0}, {1})",
    ball=lambda x, y: x - y * TRUNC.ball(x / y),  # type: ignore[misc]
    kink=lambda x, y: SIN(mul(PI(), div(x, y))),
    kink_rule="fmod jumps where x/y is an integer; its derivative there is that of the piece",
)  # fmt: skip
COPYSIGN: Op = Op(
    "copysign", 2,
    partials=lambda x, y: (mul(SIGN(x), where(lt(y, ZERO), const(-1), ONE)), ZERO),
    fold=lambda x, y: abs(x) if y >= 0 else -abs(x),
    names=("math.copysign", "numpy.copysign"),
    sympy=lambda sp, x, y: sp.Piecewise((-sp.Abs(x), y < 0), (sp.Abs(x), True)),
    python="math.copysign({0}, {1})",
    expand=lambda x, y: where(lt(y, ZERO), neg(abs_(x)), abs_(x)),
    ball=lambda x, y: -abs(x) if y < 0 else abs(x) if y >= 0 else _flint().arb("nan"),
    kink=lambda x, y: mul(x, y),
    kink_rule="as abs in x; 0 in y",
)  # fmt: skip


TAKEN: Op = Op(
    "taken", 2, sign="positive",
    partials=lambda a, b: (ZERO, ZERO), simplify=lambda a, b: {TRUE: HALF, FALSE: ONE}.get(eq(a, b)),
    sympy=lambda sp, a, b: sp.Piecewise((sp.Rational(1, 2), sp.Eq(a, b)), (1, True)),
    expand=lambda a, b: where(eq(a, b), HALF, ONE),
    kink=lambda a, b: a - b, kink_rule="a tie gives the mean of the sides",
)  # fmt: skip
"""The slope of max(a, b) by a, which counts only where b <= a."""


def _extreme(better: Callable[[Expr, Expr], Expr], a: Expr, b: Expr) -> Expr:
    """The better of two numbers; nan if one of them is."""
    if a.op is CONST:
        a, b = b, a
    if b is NAN:
        return NAN
    found = where(better(a, b), b, a)
    return found if b.op is CONST else where(raw(EQ, (b, b)), found, b)


def _one_of(name: str, sign: int, expand: Callable[..., Expr], *names: str) -> Op:
    """The larger (for `sign` 1) or smaller (-1) of two numbers; `expand` says what it is beside nan."""
    at_least = le if sign > 0 else lambda a, b: le(b, a)
    return Op(
        name, 2, names=names, expand=expand,
        partials=lambda a, b: (TAKEN(a, b), TAKEN(b, a))[::sign],
        live=lambda a, b: (at_least(b, a), at_least(a, b)),
        simplify=lambda a, b: a if a is b else None,
        fold=lambda a, b: max(a, b) if sign > 0 else min(a, b),
        sympy=lambda sp, a, b: sp.Max(a, b) if sign > 0 else sp.Min(a, b),
        python="max({0}, {1})" if sign > 0 else "min({0}, {1})",
        ball=lambda a, b: a.max(b) if sign > 0 else a.min(b),
        kink=lambda a, b: a - b, kink_rule="a tie gives the mean of the sides",
    )  # fmt: skip


MAXIMUM: Op = _one_of("maximum", 1, lambda a, b: _extreme(lt, a, b), "numpy.maximum", "numpy.fmax")
MINIMUM: Op = _one_of(
    "minimum", -1, lambda a, b: _extreme(lambda u, v: lt(v, u), a, b), "numpy.minimum", "numpy.fmin"
)
LARGER = _one_of("larger", 1, lambda a, b: where(lt(a, b), b, a))
SMALLER = _one_of("smaller", -1, lambda a, b: where(lt(b, a), b, a))
"""Python's `max(a, b)` and `min(a, b)`, which are a where b is nan, and nan where a is."""
MAXIMA, MINIMA = (MAXIMUM, LARGER), (MINIMUM, SMALLER)
EXTREMES = (*MAXIMA, *MINIMA)
"""What has the value of one of two arguments."""

EXTENDED = Op(
    "extended", 2,
    partials=lambda value, smooth: (None, ONE),
    simplify=lambda value, smooth: value if smooth is value or smooth.op is CONST else None,
    expand=lambda value, smooth: value, sympy=lambda sp, value, smooth: value,
)  # fmt: skip
"""The value that a guard puts near a singularity, with the derivatives of the smooth
extension; made by `passes.guards.guards`."""

SQUARES: Op = Op(
    "squares", 1, sign="nonnegative", partials=lambda s: (ONE,),
    simplify=lambda s: s if s.op is SQUARES or s.op is CONST else None,
    expand=lambda s: s, sympy=lambda sp, s: s,
)  # fmt: skip
"""A number that is a sum of squares; made by `loops.simplify.running_norms`."""

ROOT_SLOPE: Op = Op(
    "root_slope", 1, sign="nonnegative",
    partials=lambda s: (neg(div(ROOT_SLOPE(s), mul(const(2), s))),),
    expand=lambda s: where(eq(s, ZERO), ZERO, div(ONE, mul(const(2), power(s, HALF)))),
    sympy=lambda sp, s: 1 / (2 * sp.sqrt(s)), ball=lambda s: s if s.is_zero() else 1 / (2 * s.sqrt()),
    kink=lambda s: s, kink_rule="the derivative of a norm at 0 is 0, its subgradient of least norm",
)  # fmt: skip
"""The slope of the root of a sum of squares: 0 where that is 0, which stands for no limit. Before it
is differentiated, `loops.simplify.norm_slopes` has the quotient that it is in its place."""

DETACHED = Op(
    "detached", 1,
    partials=lambda x: (None,), simplify=lambda x: x if x.op is CONST else None,
    expand=lambda x: x, sympy=lambda sp, x: x,
)  # fmt: skip
"""A number of which no derivative is taken, as what it is used for does not depend on it;
made by `loops.simplify.exponents`."""

PINNED: Op = Op(
    "pinned", 3, partials=lambda h, value, closed: (None, None, ONE),
    expand=lambda h, value, closed: where(eq(h, ZERO), value, closed),
    sympy=lambda sp, h, value, closed: closed,
)  # fmt: skip
"""A formula with the value that it is given where h = 0. That is the value of a point: no
branch, which would count beside it as well; made by `passes.complete.removable`."""

MARKS = (DETACHED, EXTENDED, SQUARES)
"""What says something of its first argument, whose value it has: only derivatives are its own."""
DERIVED = (*MARKS, TAKEN, ROOT_SLOPE)
"""What only derivatives ask for: written out before anything is computed."""

TABLE: tuple[Op, ...] = (
    PI, LN2, LN10, ABS, SIGN, EXP, EXP2, EXPM1, LOG, LOG1P, LOG2, LOG10, LOGADDEXP, XLOGY, XLOG1PY, CBRT, UNIT, HYPOT,
    SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, SINH, COSH, TANH, ASINH, ACOSH, ATANH, ERF, ERFC,
    GAMMA, LGAMMA, POLYGAMMA, SINC, FLOOR, CEIL, TRUNC, ROUND, FMOD, COPYSIGN, *EXTREMES,
)  # fmt: skip
"""Every elementary function, in the order of this file."""


def normal_below(x: Expr) -> Expr:
    """The normal distribution function."""
    return mul(HALF, ERFC(neg(div(x, sqrt(const(2))))))


_degrees = functools.partial(mul, const(180 / Fraction(math.pi)))  # with the double, as in Python
_radians = functools.partial(mul, const(Fraction(math.pi) / 180))
COMPOSITES: dict[str, Callable[..., Expr]] = {
    "math.sqrt": sqrt,
    "numpy.sqrt": sqrt,
    "math.pow": power,
    "numpy.power": power,
    "numpy.pow": power,
    "numpy.float_power": power,
    "numpy.square": lambda x: power(x, 2),
    "numpy.reciprocal": lambda x: div(ONE, x),
    "numpy.negative": neg,
    "numpy.positive": lambda x: x,
    "numpy.add": add,
    "numpy.subtract": lambda a, b: a - b,
    "numpy.multiply": mul,
    "numpy.divide": div,
    "numpy.true_divide": div,
    **dict.fromkeys(("math.degrees", "numpy.degrees", "numpy.rad2deg"), _degrees),
    **dict.fromkeys(("math.radians", "numpy.radians", "numpy.deg2rad"), _radians),
    "numpy.heaviside": lambda x, h: where(
        eq(x, ZERO), h, where(lt(x, ZERO), ZERO, where(lt(ZERO, x), ONE, NAN))
    ),
    "numpy.logaddexp2": lambda a, b: div(LOGADDEXP(mul(LN2(), a), mul(LN2(), b)), LN2()),
    "numpy.floor_divide": lambda a, b: FLOOR(div(a, b)),
    "numpy.mod": lambda a, b: a - mul(b, FLOOR(div(a, b))),
    "numpy.remainder": lambda a, b: a - mul(b, FLOOR(div(a, b))),
    "scipy.special.digamma": lambda x: POLYGAMMA(ZERO, x),
    "scipy.special.psi": lambda x: POLYGAMMA(ZERO, x),
    "scipy.special.expit": lambda x: div(ONE, ONE + EXP(neg(x))),
    "scipy.special.log_expit": lambda x: neg(LOGADDEXP(ZERO, neg(x))),
    "scipy.special.logit": lambda x: LOG(div(x, ONE - x)),
    "scipy.special.entr": lambda x: neg(mul(x, LOG(x))),
    "scipy.special.exprel": lambda x: where(eq(x, ZERO), ONE, div(EXPM1(x), x)),
    "scipy.special.ndtr": normal_below,
    "numpy.conj": lambda x: x,
    "numpy.real": lambda x: x,
    "numpy.imag": lambda x: ZERO,
    "numpy.angle": lambda x: where(lt(x, ZERO), PI(), ZERO),
    "numpy.conjugate": lambda x: x,
    "scipy.special.rgamma": lambda x: div(ONE, GAMMA(x)),
    "scipy.special.beta": lambda a, b: div(mul(GAMMA(a), GAMMA(b)), GAMMA(a + b)),
    "scipy.special.betaln": lambda a, b: LGAMMA(a) + LGAMMA(b) - LGAMMA(a + b),
    "scipy.special.poch": lambda z, m: div(GAMMA(z + m), GAMMA(z)),
    "scipy.special.binom": lambda n, k: div(
        GAMMA(n + ONE), mul(GAMMA(k + ONE), GAMMA(n - k + ONE))
    ),
    "scipy.special.erfcx": lambda x: mul(EXP(power(x, 2)), ERFC(x)),
    "scipy.special.log_ndtr": lambda x: LOG(normal_below(x)),
    "scipy.special.rel_entr": lambda x, y: where(
        and_(eq(x, ZERO), eq(y, ZERO)), XLOGY(x, x) - XLOGY(x, y), XLOGY(x, div(x, y))
    ),
    "scipy.special.kl_div": lambda x, y: COMPOSITES["scipy.special.rel_entr"](x, y) - x + y,
    "scipy.special.huber": lambda d, r: where(
        le(abs_(r), d), mul(HALF, power(r, 2)), mul(d, abs_(r) - mul(HALF, d))
    ),
    "scipy.special.pseudo_huber": lambda d, r: mul(
        power(d, 2), sqrt(ONE + power(div(r, d), 2)) - ONE
    ),
    "scipy.special.boxcox": lambda x, k: where(eq(k, ZERO), LOG(x), div(power(x, k) - ONE, k)),
    "scipy.special.boxcox1p": lambda x, k: where(
        eq(k, ZERO), LOG1P(x), div(EXPM1(mul(k, LOG1P(x))), k)
    ),
    "scipy.special.inv_boxcox": lambda y, k: where(
        eq(k, ZERO), EXP(y), power(mul(k, y) + ONE, div(ONE, k))
    ),
    "scipy.special.exp10": lambda x: EXP(mul(LN10(), x)),
    "scipy.special.cosm1": lambda x: mul(const(-2), power(SIN(div(x, const(2))), 2)),
}
"""Python names that are shorthands for combinations of table entries."""


def domain(op: Op, args: tuple[Expr, ...]) -> Expr:
    """The closed condition outside of which `op(*args)` is nan over the reals."""
    if op.domain is not None:
        return op.domain(*args)
    if op is POW and integer(args[1]) is None:
        if rational(args[1]) is not None:
            return le(ZERO, args[0])
        return or_(le(ZERO, args[0]), eq(FLOOR(args[1]), args[1]))
    return TRUE


BUILTIN = frozenset(OPS.values())
"""The operations that symdiff itself defines; users and passes may make others."""
