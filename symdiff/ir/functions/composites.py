"""Names that are shorthands for combinations of entries."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction

from symdiff.ir import (
    HALF,
    INF,
    NAN,
    ONE,
    ZERO,
    Expr,
    abs_,
    add,
    and_,
    const,
    div,
    eq,
    le,
    lt,
    mul,
    neg,
    or_,
    power,
    sqrt,
    where,
)
from symdiff.ir.functions.bessel import IV, IVE, JV, KV, KVE, YV
from symdiff.ir.functions.elliptic import ELLIPE, ELLIPEINC, ELLIPF, ELLIPK
from symdiff.ir.functions.exponential import EXP, EXPM1, LOG, LOG1P, LOGADDEXP, XLOGY
from symdiff.ir.functions.faddeeva import voigt
from symdiff.ir.functions.gamma import GAMMA, LGAMMA, POLYGAMMA
from symdiff.ir.functions.incomplete import BETAINC, GAMMAINC, GAMMAINCC
from symdiff.ir.functions.integrals import EXPINT, of_whole_order
from symdiff.ir.functions.named_numbers import LN2, LN10, PI
from symdiff.ir.functions.normal import ERFC, ERFI, normal_below, normal_quantile
from symdiff.ir.functions.roots_and_norms import HYPOT
from symdiff.ir.functions.selection import FLOOR, FLOOR_QUOTIENT, TRUNC
from symdiff.ir.functions.trigonometric import COS, SIN, TAN


def sign_of_gamma(x: Expr) -> Expr:
    """The sign of the gamma function; nan at its poles except 0, as in SciPy."""
    whole = FLOOR(x)
    odd = eq(whole - mul(const(2), FLOOR(div(whole, const(2)))), ONE)
    below = where(eq(x, whole), NAN, where(odd, neg(ONE), ONE))
    return where(le(ZERO, x), ONE, where(lt(x, ZERO), below, NAN))


def _of_degrees(x: Expr) -> Expr:
    """Radians, by the symbol pi, so that sines of whole half-turns are 0, as in SciPy."""
    return mul(div(PI(), const(180)), x)


def _infinite_below(x: Expr, y: Expr, value: Expr) -> Expr:
    """Infinite where one of two numbers is negative and none is nan."""

    def unless_nan(x: Expr, e: Expr) -> Expr:
        return where(le(ZERO, x), e, where(lt(x, ZERO), e, NAN))

    below = where(or_(lt(x, ZERO), lt(y, ZERO)), unless_nan(x, unless_nan(y, INF)), NAN)
    return where(and_(le(ZERO, x), le(ZERO, y)), value, below)


def _not_below(x: Expr, value: Expr) -> Expr:
    """nan of negative numbers."""
    return where(lt(x, ZERO), NAN, value)


def _relative_entropy(x: Expr, y: Expr) -> Expr:
    none = and_(eq(x, ZERO), eq(y, ZERO))
    return where(none, XLOGY(x, x) - XLOGY(x, y), XLOGY(x, div(x, y)))


def _of_degrees_of_freedom(a: Expr, b: Expr, x: Expr, value: Expr, last: Expr) -> Expr:
    """The value for finite a, b > 0 and x >= 0; `last` where x is inf; nan elsewhere."""
    finite = and_(lt(a, INF), lt(b, INF))
    inside = and_(and_(lt(ZERO, a), lt(ZERO, b)), le(ZERO, x))
    return where(inside, where(eq(x, INF), last, where(finite, value, NAN)), NAN)


_degrees = functools.partial(mul, const(180 / Fraction(math.pi)))  # with the double, as in Python
_radians = functools.partial(mul, const(Fraction(math.pi) / 180))
_BESSEL = (
    ("j", "", JV),
    ("y", "", YV),
    ("i", "", IV),
    ("i", "e", IVE),
    ("k", "", KV),
    ("k", "e", KVE),
)
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
    "numpy.mod": lambda a, b: a - mul(b, FLOOR_QUOTIENT(a, b)),
    "numpy.remainder": lambda a, b: a - mul(b, FLOOR_QUOTIENT(a, b)),
    "scipy.special.digamma": lambda x: POLYGAMMA(ZERO, x),
    "scipy.special.psi": lambda x: POLYGAMMA(ZERO, x),
    "scipy.special.expit": lambda x: div(ONE, ONE + EXP(neg(x))),
    "scipy.special.log_expit": lambda x: neg(LOGADDEXP(ZERO, neg(x))),
    "scipy.special.logit": lambda x: LOG(div(x, ONE - x)),
    "scipy.special.dawsn": lambda x: mul(
        div(sqrt(PI()), const(2)), mul(EXP(neg(mul(x, x))), ERFI(x))
    ),
    "scipy.special.entr": lambda x: where(lt(x, ZERO), neg(INF), neg(mul(x, LOG(x)))),
    "scipy.special.exprel": lambda x: where(eq(x, ZERO), ONE, div(EXPM1(x), x)),
    "scipy.special.ndtr": normal_below,
    "scipy.special.ndtri": normal_quantile,
    "scipy.special.expn": of_whole_order,
    "scipy.special.yn": lambda n, x: YV(TRUNC(n), x),
    "scipy.special.kn": lambda n, x: KV(TRUNC(n), x),
    "scipy.special.ellipk": lambda m: ELLIPK(ZERO, m),
    "scipy.special.ellipkm1": lambda p: ELLIPK(ZERO, ONE - p),
    "scipy.special.ellipe": lambda m: ELLIPE(ZERO, m),
    "scipy.special.ellipkinc": lambda phi, m: ELLIPF(ZERO, phi, m),
    "scipy.special.ellipeinc": lambda phi, m: ELLIPEINC(ZERO, phi, m),
    "scipy.special.voigt_profile": voigt,
    "scipy.special.gammasgn": sign_of_gamma,
    "scipy.special.loggamma": lambda x: where(lt(x, ZERO), NAN, LGAMMA(x)),
    "scipy.special.exp1": lambda x: EXPINT(ONE, x),
    "scipy.special.betaincc": lambda a, b, x: BETAINC(b, a, ONE - x),
    **{
        f"scipy.special.{f}{n}{scaled}": functools.partial(op, const(n))
        for f, scaled, op in _BESSEL
        for n in (0, 1)
    },
    "numpy.i0": lambda x: IV(ZERO, x),
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
    "scipy.special.rel_entr": lambda x, y: _infinite_below(x, y, _relative_entropy(x, y)),
    "scipy.special.kl_div": lambda x, y: _infinite_below(x, y, _relative_entropy(x, y) - x + y),
    "scipy.special.huber": lambda d, r: where(
        lt(d, ZERO),
        INF,
        where(le(abs_(r), d), mul(HALF, power(r, 2)), mul(d, abs_(r) - mul(HALF, d))),
    ),
    "scipy.special.pseudo_huber": lambda d, r: where(lt(d, ZERO), INF, mul(d, HYPOT(d, r) - d)),
    "scipy.special.boxcox": lambda x, k: where(
        lt(x, ZERO), NAN, where(eq(k, ZERO), LOG(x), div(power(x, k) - ONE, k))
    ),
    "scipy.special.boxcox1p": lambda x, k: where(
        eq(k, ZERO), LOG1P(x), div(EXPM1(mul(k, LOG1P(x))), k)
    ),
    "scipy.special.inv_boxcox": lambda y, k: where(
        eq(k, ZERO), EXP(y), EXP(div(LOG1P(mul(k, y)), k))
    ),
    "scipy.special.inv_boxcox1p": lambda y, k: where(
        eq(k, ZERO), EXPM1(y), EXPM1(div(LOG1P(mul(k, y)), k))
    ),
    "scipy.special.powm1": lambda x, y: where(
        lt(ZERO, x), EXPM1(mul(y, LOG(x))), power(x, y) - ONE
    ),
    "scipy.special.softplus": lambda x: LOGADDEXP(ZERO, x),
    "scipy.special.sindg": lambda x: SIN(_of_degrees(x)),
    "scipy.special.cosdg": lambda x: COS(_of_degrees(x)),
    "scipy.special.tandg": lambda x: TAN(_of_degrees(x)),
    "scipy.special.cotdg": lambda x: div(ONE, TAN(_of_degrees(x))),
    "scipy.special.radian": lambda d, m, s: _of_degrees(
        d + div(m, const(60)) + div(s, const(3600))
    ),
    "scipy.special.agm": lambda a, b: div(
        mul(div(PI(), const(4)), a + b), ELLIPK(ZERO, power(div(a - b, a + b), 2))
    ),
    "scipy.special.chdtr": lambda v, x: GAMMAINC(mul(HALF, v), mul(HALF, x)),
    "scipy.special.chdtrc": lambda v, x: GAMMAINCC(mul(HALF, v), mul(HALF, x)),
    "scipy.special.gdtr": lambda a, b, x: _not_below(x, GAMMAINC(b, mul(a, x))),
    "scipy.special.gdtrc": lambda a, b, x: _not_below(x, GAMMAINCC(b, mul(a, x))),
    "scipy.special.pdtr": lambda k, m: _not_below(k, GAMMAINCC(FLOOR(k) + ONE, m)),
    "scipy.special.pdtrc": lambda k, m: _not_below(k, GAMMAINC(FLOOR(k) + ONE, m)),
    "scipy.special.fdtr": lambda a, b, x: _of_degrees_of_freedom(
        a, b, x, BETAINC(mul(HALF, a), mul(HALF, b), div(mul(a, x), mul(a, x) + b)), ONE
    ),
    "scipy.special.fdtrc": lambda a, b, x: _of_degrees_of_freedom(
        a, b, x, BETAINC(mul(HALF, b), mul(HALF, a), div(b, mul(a, x) + b)), ZERO
    ),
    "scipy.special.exp10": lambda x: EXP(mul(LN10(), x)),
    "scipy.special.cosm1": lambda x: mul(const(-2), power(SIN(div(x, const(2))), 2)),
}
"""Python names that are shorthands for combinations of table entries."""
