"""Methods of the distributions of `scipy.stats`, such as `norm.cdf(x, loc, scale)`: plain Python
that is traced like a user's.

Formulas are those of the documentation of scipy.stats, in the standard form of each
distribution at z = (x - loc)/scale. Outside of its support a density is 0 and its logarithm
-inf. Distribution functions that have no form in elementary functions are not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import Expr, const, sqrt
from symdiff.ir.functions import COSH, EXP, LGAMMA, LOG, PI, XLOG1PY, XLOGY, normal_below

Number = Any


# ----------------------------------------------------------- with constants that are exact
def density(z: Number) -> Number:
    """The normal density."""
    raise NotImplementedError


def below(z: Number) -> Number:
    """The normal distribution function."""
    raise NotImplementedError


def log_pi(v: Number) -> Number:
    """log(pi*v)."""
    raise NotImplementedError


def bell(z: Number) -> Number:
    """The logistic density."""
    raise NotImplementedError


def xlogy(x: Number, y: Number) -> Number:
    """x*log(y), 0 for x = 0."""
    raise NotImplementedError


def xlog1py(x: Number, y: Number) -> Number:
    """x*log(1 + y), 0 for x = 0."""
    raise NotImplementedError


def log_gamma(x: Number) -> Number:
    """The logarithm of the gamma function."""
    raise NotImplementedError


EXACT: dict[Callable[..., Any], Callable[..., Expr]] = {
    density: lambda z: EXP(-(z**2) / const(2)) / sqrt(const(2) * PI()),
    below: normal_below,
    log_pi: lambda v: LOG(PI() * v),
    bell: lambda z: ir.ONE / (const(4) * COSH(z / const(2)) ** 2),
    xlogy: lambda x, y: XLOGY(x, y),
    xlog1py: lambda x, y: XLOG1PY(x, y),
    log_gamma: lambda x: LGAMMA(x),
}
"""What these functions are, as formulas."""


# --------------------------------------------------------------------------------- normal
def norm_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return density((x - loc) / scale) / scale


def norm_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return -(((x - loc) / scale) ** 2) / 2 - log_pi(2.0) / 2 - np.log(scale)


def norm_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return below((x - loc) / scale)


def norm_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return below((loc - x) / scale)


def norm_logcdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.log(below((x - loc) / scale))


def norm_logsf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.log(below((loc - x) / scale))


def lognorm_logpdf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = -((np.log(z) / s) ** 2) / 2 - log_pi(2.0) / 2 - np.log(s * z) - np.log(scale)
    return np.where(z > 0, inner, -np.inf)


def lognorm_pdf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z > 0, density(np.log(z) / s) / (s * z * scale), 0.0)


def lognorm_cdf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z > 0, below(np.log(z) / s), 0.0)


# ------------------------------------------------------------ exponential and its relatives
def expon_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z >= 0, -z - np.log(scale), -np.inf)


def expon_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z >= 0, np.exp(-z) / scale, 0.0)


def expon_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z >= 0, -np.expm1(-z), 0.0)


def expon_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z >= 0, np.exp(-z), 1.0)


def laplace_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return -np.abs((x - loc) / scale) - np.log(2 * scale)


def laplace_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.exp(-np.abs((x - loc) / scale)) / (2 * scale)


def weibull_min_logpdf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = np.log(c) + xlogy(c - 1, z) - z**c - np.log(scale)
    return np.where(z >= 0, inner, -np.inf)


def weibull_min_pdf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z >= 0, c * z ** (c - 1) * np.exp(-(z**c)) / scale, 0.0)


def weibull_min_cdf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z > 0, -np.expm1(-(z**c)), 0.0)


def weibull_min_sf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where(z > 0, np.exp(-(z**c)), 1.0)


def gamma_logpdf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = xlogy(a - 1, z) - z - log_gamma(a) - np.log(scale)
    return np.where(z >= 0, inner, -np.inf)


def gamma_pdf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = np.exp(xlogy(a - 1, z) - z - log_gamma(a)) / scale
    return np.where(z >= 0, inner, 0.0)


def chi2_logpdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return gamma_logpdf(x, df / 2, loc, 2 * scale)


def chi2_pdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return gamma_pdf(x, df / 2, loc, 2 * scale)


# ------------------------------------------------------------------------------ the others
def logistic_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return bell((x - loc) / scale) / scale


def logistic_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return -z - 2 * np.logaddexp(0.0, -z) - np.log(scale)


def logistic_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return 1 / (1 + np.exp((loc - x) / scale))


def logistic_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return 1 / (1 + np.exp((x - loc) / scale))


def cauchy_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.exp(-log_pi(1.0)) / (scale * (1 + z * z))


def cauchy_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return -log_pi(1.0) - np.log1p(z * z) - np.log(scale)


def t_logpdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    size = log_gamma((df + 1) / 2) - log_gamma(df / 2) - log_pi(df) / 2
    return size - (df + 1) / 2 * np.log1p(z * z / df) - np.log(scale)


def t_pdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.exp(t_logpdf(x, df, loc, scale))


def uniform_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where((z >= 0) & (z <= 1), 1 / scale, 0.0)


def uniform_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return np.where((z >= 0) & (z <= 1), -np.log(scale), -np.inf)


def uniform_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.clip((x - loc) / scale, 0.0, 1.0)


def beta_logpdf(x: Number, a: Number, b: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    size = log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    inner = size + xlogy(a - 1, z) + xlog1py(b - 1, -z) - np.log(scale)
    return np.where((z >= 0) & (z <= 1), inner, -np.inf)


def beta_pdf(x: Number, a: Number, b: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.exp(beta_logpdf(x, a, b, loc, scale))


# ---------------------------------------------------------------- counts, that are whole
def bernoulli_logpmf(k: Number, p: Number, loc: Number = 0) -> Number:
    return xlogy(k - loc, p) + xlog1py(1 - (k - loc), -p)


def binom_logpmf(k: Number, n: Number, p: Number, loc: Number = 0) -> Number:
    k = k - loc
    count = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)
    return count + xlogy(k, p) + xlog1py(n - k, -p)


def poisson_logpmf(k: Number, mu: Number, loc: Number = 0) -> Number:
    return xlogy(k - loc, mu) - mu - log_gamma(k - loc + 1)


def poisson_pmf(k: Number, mu: Number, loc: Number = 0) -> Number:
    return np.exp(poisson_logpmf(k, mu, loc))


def _methods() -> Mapping[tuple[str, str], FunctionType]:
    kinds = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "pmf", "logpmf")
    found = {}
    for name, fun in globals().items():
        owner, _, kind = name.rpartition("_")
        if owner and kind in kinds and isinstance(fun, FunctionType):
            found[owner, kind] = fun
    return found


METHODS = _methods()
"""By the names of the distribution and of its method."""


def find(function: MethodType) -> FunctionType | None:
    """What a method of a distribution is; None if it is not known, or belongs to none."""
    owner = function.__self__
    if not (type(owner).__module__ or "").startswith("scipy.stats."):
        return None
    return METHODS.get((str(getattr(owner, "name", "")), function.__name__))
