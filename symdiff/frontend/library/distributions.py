"""Methods of the distributions of `scipy.stats`, such as `norm.cdf(x, loc, scale)`: plain Python
that is traced like a user's.

Formulas are those of the documentation of scipy.stats, in the standard form of each
distribution at z = (x - loc)/scale. Outside of its support a density is 0 and its logarithm
-inf. Counts are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from symdiff import ir
from symdiff.ir import Expr, const, sqrt
from symdiff.ir.functions import (
    ATAN,
    BETAINC,
    COSH,
    EXP,
    GAMMAINC,
    GAMMAINCC,
    LAMBERTW,
    LAMBERTW_LOWER,
    LGAMMA,
    LOG,
    PI,
    STUDENT,
    TAN,
    XLOG1PY,
    XLOGY,
    normal_below,
    normal_quantile,
)

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


def gamma_share(a: Number, z: Number) -> Number:
    """The share of the gamma function below z."""
    raise NotImplementedError


def gamma_rest(a: Number, z: Number) -> Number:
    """The share above z."""
    raise NotImplementedError


def beta_share(a: Number, b: Number, z: Number) -> Number:
    """The share of the beta function below z."""
    raise NotImplementedError


def student_share(df: Number, z: Number) -> Number:
    """The share of Student's distribution below z."""
    raise NotImplementedError


def quantile(p: Number) -> Number:
    """Of the normal distribution."""
    raise NotImplementedError


def turns(z: Number) -> Number:
    """atan(z)/pi."""
    raise NotImplementedError


def tangent(p: Number) -> Number:
    """tan(pi*p)."""
    raise NotImplementedError


def principal_branch(z: Number) -> Number:
    """Lambert's W from -1/e on, at least -1."""
    raise NotImplementedError


def lower_branch(z: Number) -> Number:
    """The other real branch, at most -1."""
    raise NotImplementedError


EXACT: dict[Callable[..., Any], Callable[..., Expr]] = {
    density: lambda z: EXP(-(z**2) / const(2)) / sqrt(const(2) * PI()),
    below: normal_below,
    log_pi: lambda v: LOG(PI() * v),
    bell: lambda z: ir.ONE / (const(4) * COSH(z / const(2)) ** 2),
    xlogy: lambda x, y: XLOGY(x, y),
    xlog1py: lambda x, y: XLOG1PY(x, y),
    log_gamma: lambda x: LGAMMA(x),
    gamma_share: lambda a, z: GAMMAINC(a, z),
    gamma_rest: lambda a, z: GAMMAINCC(a, z),
    beta_share: lambda a, b, z: BETAINC(a, b, z),
    student_share: lambda df, z: STUDENT(df, z),
    quantile: normal_quantile,
    turns: lambda z: ATAN(z) / PI(),
    tangent: lambda p: TAN(PI() * p),
    principal_branch: lambda z: LAMBERTW(z),
    lower_branch: lambda z: LAMBERTW_LOWER(z),
}
"""What these functions are, as formulas."""


def positive(value: Number, *numbers: Number) -> Number:
    """A value where no scale or shape is negative, else nan."""
    for v in numbers:
        value = value + 0.0 * np.sqrt(v)
    return value


def inside(q: Number, value: Number) -> Number:
    """A value where q is a probability, else nan."""
    return np.where((q >= 0) & (q <= 1), value, np.nan)


# --------------------------------------------------------------------------------- normal
def norm_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(density((x - loc) / scale) / scale, scale)


def norm_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(-(((x - loc) / scale) ** 2) / 2 - log_pi(2.0) / 2 - np.log(scale), scale)


def norm_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(below((x - loc) / scale), scale)


def norm_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(below((loc - x) / scale), scale)


def norm_logcdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.log(below((x - loc) / scale)), scale)


def norm_logsf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.log(below((loc - x) / scale)), scale)


def norm_ppf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(loc + scale * quantile(q), scale)


def norm_isf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(loc - scale * quantile(q), scale)


def lognorm_logpdf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = -((np.log(z) / s) ** 2) / 2 - log_pi(2.0) / 2 - np.log(s * z) - np.log(scale)
    return positive(np.where(z > 0, inner, -np.inf), s, scale)


def lognorm_pdf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, density(np.log(z) / s) / (s * z * scale), 0.0), s, scale)


def lognorm_cdf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, below(np.log(z) / s), 0.0), s, scale)


def lognorm_sf(x: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, below(-np.log(z) / s), 1.0), s, scale)


def lognorm_ppf(q: Number, s: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(loc + scale * np.exp(s * quantile(q)), s, scale)


# ------------------------------------------------------------ exponential and its relatives
def expon_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, -z - np.log(scale), -np.inf), scale)


def expon_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, np.exp(-z) / scale, 0.0), scale)


def expon_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, -np.expm1(-z), 0.0), scale)


def expon_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, np.exp(-z), 1.0), scale)


def expon_logcdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, np.log(-np.expm1(-z)), -np.inf), scale)


def expon_logsf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, -z, 0.0), scale)


def expon_ppf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(inside(q, loc - scale * np.log1p(-q)), scale)


def expon_isf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(inside(q, loc - scale * np.log(q)), scale)


def laplace_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(-np.abs((x - loc) / scale) - np.log(2 * scale), scale)


def laplace_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.exp(-np.abs((x - loc) / scale)) / (2 * scale), scale)


def laplace_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, 1 - np.exp(-z) / 2, np.exp(z) / 2), scale)


def laplace_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, np.exp(-z) / 2, 1 - np.exp(z) / 2), scale)


def weibull_min_logpdf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = np.log(c) + xlogy(c - 1, z) - z**c - np.log(scale)
    return positive(np.where(z >= 0, inner, -np.inf), c, scale)


def weibull_min_pdf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z >= 0, c * z ** (c - 1) * np.exp(-(z**c)) / scale, 0.0), c, scale)


def weibull_min_cdf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, -np.expm1(-(z**c)), 0.0), c, scale)


def weibull_min_sf(x: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, np.exp(-(z**c)), 1.0), c, scale)


def weibull_min_ppf(q: Number, c: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(inside(q, loc + scale * (-np.log1p(-q)) ** (1 / c)), c, scale)


def gamma_logpdf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = xlogy(a - 1, z) - z - log_gamma(a) - np.log(scale)
    return positive(np.where(z >= 0, inner, -np.inf), a, scale)


def gamma_pdf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    inner = np.exp(xlogy(a - 1, z) - z - log_gamma(a)) / scale
    return positive(np.where(z >= 0, inner, 0.0), a, scale)


def gamma_cdf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, gamma_share(a, z), 0.0), a, scale)


def gamma_sf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, gamma_rest(a, z), 1.0), a, scale)


def gamma_logcdf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.log(gamma_cdf(x, a, loc, scale))


def gamma_logsf(x: Number, a: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.log(gamma_sf(x, a, loc, scale))


def chi2_logpdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return gamma_logpdf(x, df / 2, loc, 2 * scale)


def chi2_pdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return gamma_pdf(x, df / 2, loc, 2 * scale)


def chi2_cdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return gamma_cdf(x, df / 2, loc, 2 * scale)


def chi2_sf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return gamma_sf(x, df / 2, loc, 2 * scale)


def chi2_logcdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.log(gamma_cdf(x, df / 2, loc, 2 * scale))


def chi2_logsf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.log(gamma_sf(x, df / 2, loc, 2 * scale))


# ------------------------------------------------------------------------------ the others
def logistic_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(bell((x - loc) / scale) / scale, scale)


def logistic_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(-z - 2 * np.logaddexp(0.0, -z) - np.log(scale), scale)


def logistic_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(1 / (1 + np.exp((loc - x) / scale)), scale)


def logistic_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(1 / (1 + np.exp((x - loc) / scale)), scale)


def logistic_logcdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(-np.logaddexp(0.0, (loc - x) / scale), scale)


def logistic_logsf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(-np.logaddexp(0.0, (x - loc) / scale), scale)


def logistic_ppf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(inside(q, loc + scale * np.log(q / (1 - q))), scale)


def cauchy_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.exp(-log_pi(1.0)) / (scale * (1 + z * z)), scale)


def cauchy_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(-log_pi(1.0) - np.log1p(z * z) - np.log(scale), scale)


def cauchy_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(0.5 + turns((x - loc) / scale), scale)


def cauchy_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(0.5 - turns((x - loc) / scale), scale)


def cauchy_ppf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(inside(q, loc + scale * tangent(q - 0.5)), scale)


def t_logpdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    size = log_gamma((df + 1) / 2) - log_gamma(df / 2) - log_pi(df) / 2
    return positive(size - (df + 1) / 2 * np.log1p(z * z / df) - np.log(scale), df, scale)


def t_pdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.exp(t_logpdf(x, df, loc, scale))


def t_cdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(student_share(df, (x - loc) / scale), df, scale)


def t_sf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(student_share(df, (loc - x) / scale), df, scale)


def t_logcdf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.log(student_share(df, (x - loc) / scale)), df, scale)


def t_logsf(x: Number, df: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.log(student_share(df, (loc - x) / scale)), df, scale)


def uniform_pdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where((z >= 0) & (z <= 1), 1 / scale, 0.0), scale)


def uniform_logpdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where((z >= 0) & (z <= 1), -np.log(scale), -np.inf), scale)


def uniform_cdf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.clip((x - loc) / scale, 0.0, 1.0), scale)


def uniform_sf(x: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(np.clip((loc + scale - x) / scale, 0.0, 1.0), scale)


def uniform_ppf(q: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return positive(inside(q, loc + scale * q), scale)


def beta_logpdf(x: Number, a: Number, b: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    size = log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    inner = size + xlogy(a - 1, z) + xlog1py(b - 1, -z) - np.log(scale)
    return positive(np.where((z >= 0) & (z <= 1), inner, -np.inf), a, b, scale)


def beta_pdf(x: Number, a: Number, b: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    return np.exp(beta_logpdf(x, a, b, loc, scale))


def beta_cdf(x: Number, a: Number, b: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(np.where(z > 0, np.where(z < 1, beta_share(a, b, z), 1.0), 0.0), a, b, scale)


def beta_sf(x: Number, a: Number, b: Number, loc: Number = 0.0, scale: Number = 1.0) -> Number:
    z = (x - loc) / scale
    return positive(
        np.where(z > 0, np.where(z < 1, beta_share(b, a, 1 - z), 0.0), 1.0), a, b, scale
    )


# ---------------------------------------------------------------- counts, that are whole
def bernoulli_logpmf(k: Number, p: Number, loc: Number = 0) -> Number:
    k = k - loc
    return np.where((k == 0) | (k == 1), xlogy(k, p) + xlog1py(1 - k, -p), -np.inf)


def binom_logpmf(k: Number, n: Number, p: Number, loc: Number = 0) -> Number:
    k = k - loc
    count = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)
    return count + xlogy(k, p) + xlog1py(n - k, -p)


def poisson_logpmf(k: Number, mu: Number, loc: Number = 0) -> Number:
    return xlogy(k - loc, mu) - mu - log_gamma(k - loc + 1)


def poisson_pmf(k: Number, mu: Number, loc: Number = 0) -> Number:
    return np.exp(poisson_logpmf(k, mu, loc))


def poisson_cdf(k: Number, mu: Number, loc: Number = 0) -> Number:
    n = np.floor(k - loc)
    return np.where(n >= 0, gamma_rest(n + 1, mu), 0.0)


def poisson_sf(k: Number, mu: Number, loc: Number = 0) -> Number:
    n = np.floor(k - loc)
    return np.where(n >= 0, gamma_share(n + 1, mu), 1.0)


def binom_pmf(k: Number, n: Number, p: Number, loc: Number = 0) -> Number:
    return np.exp(binom_logpmf(k, n, p, loc))


def binom_cdf(k: Number, n: Number, p: Number, loc: Number = 0) -> Number:
    m = np.floor(k - loc)
    inside = np.where(m < n, beta_share(n - m, m + 1, 1 - p), 1.0)
    return np.where(m >= 0, inside, 0.0)


def binom_sf(k: Number, n: Number, p: Number, loc: Number = 0) -> Number:
    m = np.floor(k - loc)
    inside = np.where(m < n, beta_share(m + 1, n - m, p), 0.0)
    return np.where(m >= 0, inside, 1.0)


def bernoulli_pmf(k: Number, p: Number, loc: Number = 0) -> Number:
    k = k - loc
    return positive(np.where(k == 0, 1 - p, np.where(k == 1, p, 0.0)), p, 1 - p)


def _methods() -> Mapping[tuple[str, str], FunctionType]:
    kinds = (
        "pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "pmf", "logpmf", "ppf", "isf",
    )  # fmt: skip
    found = {}
    for name, fun in globals().items():
        owner, _, kind = name.rpartition("_")
        if owner and kind in kinds and isinstance(fun, FunctionType):
            found[owner, kind] = fun
    return found


METHODS = _methods()
"""By the names of the distribution and of its method."""
