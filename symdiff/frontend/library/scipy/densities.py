"""Distributions of `scipy.stats` by their standard forms: plain Python that is traced like a user's.

Each has the logarithm of its density (for counts, of its probability) at z = (x - loc)/scale, and,
where there is a closed form, its distribution function and the complement of that. Formulas are
those of the documentation of scipy.stats. The common parts, support, location and scale, are in
`located`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.frontend.library.scipy.distributions import (
    arc_share,
    bell,
    below,
    beta_share,
    density,
    gamma_rest,
    gamma_share,
    hypergeometric,
    i0e,
    log_gamma,
    log_pi,
    owen,
    positive,
    quantile,
    rice_rest,
    rice_share,
    student_share,
    tangent,
    turns,
    xlog1py,
    xlogy,
)

Number = Any


@dataclass(frozen=True)
class Standard:
    """A distribution in standard form.

    Attributes
    ----------
    shapes : names of its parameters other than location and scale.
    log : the logarithm of the density, or of the probability of a count.
    below, above : the distribution function, and 1 minus it; one may be None.
    log_below, log_above : their logarithms, if these are simpler.
    density : the density, or the probability of a count, if it is simpler than its logarithm.
    quantile, upper_quantile : the inverses of `below` and `above`; one may be None.
    low, high : the ends of the support: numbers, or functions of the shapes.
    whole : whether it is a distribution of counts.
    """

    shapes: tuple[str, ...]
    log: Callable[..., Number]
    below: Callable[..., Number] | None = None
    above: Callable[..., Number] | None = None
    log_below: Callable[..., Number] | None = None
    log_above: Callable[..., Number] | None = None
    density: Callable[..., Number] | None = None
    quantile: Callable[..., Number] | None = None
    upper_quantile: Callable[..., Number] | None = None
    low: float | Callable[..., Number] = -np.inf
    high: float | Callable[..., Number] = np.inf
    whole: bool = False


def log_beta(a: Number, b: Number) -> Number:
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def betabinom_log(k: Number, n: Number, a: Number, b: Number) -> Number:
    return log_beta(k + a, n - k + b) - log_beta(a, b) - np.log(n + 1) - log_beta(n - k + 1, k + 1)


def betabinom_below(k: Number, n: Number, a: Number, b: Number) -> Number:
    total = 0.0
    for j in range(int(k) + 1):
        total += np.exp(betabinom_log(j, n, a, b))
    return total


def betabinom_above(k: Number, n: Number, a: Number, b: Number) -> Number:
    return betabinom_below(n - k - 1, n, b, a)


def hypergeom_log(k: Number, M: Number, n: Number, N: Number) -> Number:
    found = log_beta(n + 1, 1) + log_beta(M - n + 1, 1) + log_beta(M - N + 1, N + 1)
    found = found - log_beta(k + 1, n - k + 1) - log_beta(N - k + 1, M - n - N + k + 1)
    return found - log_beta(M + 1, 1)


def hypergeom_below(k: Number, M: Number, n: Number, N: Number) -> Number:
    total = 0.0
    for j in range(int(np.maximum(0, n + N - M)), int(k) + 1):
        total += np.exp(hypergeom_log(j, M, n, N))
    return total


def hypergeom_above(k: Number, M: Number, n: Number, N: Number) -> Number:
    return hypergeom_below(N - k - 1, M, M - n, N)


def softplus(z: Number) -> Number:
    return np.logaddexp(0.0, z)


TABLE: dict[str, Standard] = {
    # ---------------------------------------------------------------------------- the best known
    "norm": Standard(
        (), lambda z: -z * z / 2 - log_pi(2.0) / 2, lambda z: below(z), lambda z: below(-z), density=lambda z: density(z),
        quantile=lambda q: quantile(q), upper_quantile=lambda q: -quantile(q),
    ),
    "lognorm": Standard(
        ("s",), lambda z, s: -np.log(z) * (np.log(z) / (2 * s * s) + 1) - np.log(s) - log_pi(2.0) / 2,
        lambda z, s: positive(below(np.log(z) / s), s), lambda z, s: positive(below(-np.log(z) / s), s),
        quantile=lambda q, s: positive(np.exp(s * quantile(q)), s), low=0.0,
    ),
    "expon": Standard(
        (), lambda z: -z, lambda z: -np.expm1(-z), lambda z: np.exp(-z), log_above=lambda z: -z, density=lambda z: np.exp(-z),
        quantile=lambda q: -np.log1p(-q), upper_quantile=lambda q: -np.log(q), low=0.0,
    ),
    "laplace": Standard(
        (), lambda z: -np.abs(z) - np.log(2), lambda z: np.where(z > 0, 1 - np.exp(-z) / 2, np.exp(z) / 2),
        lambda z: np.where(z > 0, np.exp(-z) / 2, 1 - np.exp(z) / 2),
        lambda z: np.where(z > 0, np.log1p(-np.exp(-z) / 2), z - np.log(2)),
        lambda z: np.where(z > 0, -z - np.log(2), np.log1p(-np.exp(z) / 2)),
        quantile=lambda q: np.where(q > 0.5, -np.log(2 - 2 * q), np.log(2 * q)),
    ),
    "weibull_min": Standard(
        ("c",), lambda z, c: np.log(c) + xlogy(c - 1, z) - z**c, lambda z, c: positive(-np.expm1(-(z**c)), c),
        lambda z, c: positive(np.exp(-(z**c)), c), log_above=lambda z, c: positive(-(z**c), c),
        density=lambda z, c: positive(c * z ** (c - 1) * np.exp(-(z**c)), c),
        quantile=lambda q, c: positive((-np.log1p(-q)) ** (1 / c), c),
        upper_quantile=lambda q, c: positive((-np.log(q)) ** (1 / c), c), low=0.0,
    ),
    "gamma": Standard(
        ("a",), lambda z, a: positive(xlogy(a - 1, z) - z - log_gamma(a), a),
        lambda z, a: positive(gamma_share(a, z), a), lambda z, a: positive(gamma_rest(a, z), a), low=0.0,
    ),
    "chi2": Standard(
        ("df",), lambda z, df: positive(xlogy(df / 2 - 1, z / 2) - z / 2 - log_gamma(df / 2) - np.log(2), df),
        lambda z, df: positive(gamma_share(df / 2, z / 2), df), lambda z, df: positive(gamma_rest(df / 2, z / 2), df), low=0.0,
    ),
    "logistic": Standard(
        (), lambda z: -z - 2 * np.logaddexp(0.0, -z), lambda z: 1 / (1 + np.exp(-z)), lambda z: 1 / (1 + np.exp(z)),
        lambda z: -np.logaddexp(0.0, -z), lambda z: -np.logaddexp(0.0, z), density=lambda z: bell(z),
        quantile=lambda q: np.log(q / (1 - q)), upper_quantile=lambda q: np.log((1 - q) / q),
    ),
    "cauchy": Standard(
        (), lambda z: -log_pi(1.0) - np.log1p(z * z), lambda z: 0.5 + turns(z), lambda z: 0.5 - turns(z),
        density=lambda z: np.exp(-log_pi(1.0)) / (1 + z * z), quantile=lambda q: tangent(q - 0.5), upper_quantile=lambda q: tangent(0.5 - q),
    ),
    "t": Standard(
        ("df",), lambda z, df: log_gamma((df + 1) / 2) - log_gamma(df / 2) - log_pi(df) / 2 - (df + 1) / 2 * np.log1p(z * z / df),
        lambda z, df: positive(student_share(df, z), df), lambda z, df: positive(student_share(df, -z), df),
    ),
    "uniform": Standard(
        (), lambda z: 0.0 * z, lambda z: z, lambda z: 1 - z, density=lambda z: 1.0 + 0.0 * z, quantile=lambda q: q,
        upper_quantile=lambda q: 1 - q, low=0.0, high=1.0,
    ),
    "beta": Standard(
        ("a", "b"), lambda z, a, b: positive(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + xlogy(a - 1, z) + xlog1py(b - 1, -z), a, b),
        lambda z, a, b: positive(beta_share(a, b, z), a, b), lambda z, a, b: positive(beta_share(b, a, 1 - z), a, b), low=0.0, high=1.0,
    ),
    # --------------------------------------------------------------------------- their counts
    "bernoulli": Standard(
        ("p",), lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p), lambda k, p: positive(np.where(k < 1, 1 - p, 1.0), p, 1 - p),
        lambda k, p: positive(np.where(k < 1, p, 0.0), p, 1 - p),
        density=lambda k, p: positive(np.where(k == 0, 1 - p, p), p, 1 - p), low=0, high=1, whole=True,
    ),
    "binom": Standard(
        ("n", "p"), lambda k, n, p: log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p),
        lambda k, n, p: np.where(k < n, beta_share(n - k, k + 1, 1 - p), 1.0),
        lambda k, n, p: np.where(k < n, beta_share(k + 1, n - k, p), 0.0), low=0, high=lambda n, p: n, whole=True,
    ),
    "poisson": Standard(
        ("mu",), lambda k, mu: xlogy(k, mu) - mu - log_gamma(k + 1), lambda k, mu: gamma_rest(k + 1, mu),
        lambda k, mu: gamma_share(k + 1, mu), low=0, whole=True,
    ),
    # ------------------------------------------------------------- on a half line, of squares
    "halfnorm": Standard(
        (), lambda z: -z * z / 2 - log_pi(0.5) / 2,
        lambda z: gamma_share(0.5, z * z / 2), lambda z: 2 * below(-z), low=0.0,
    ),
    "halfcauchy": Standard(
        (), lambda z: -log_pi(0.5) - np.log1p(z * z), lambda z: 2 * turns(z), lambda z: 2 * turns(1 / z), low=0.0,
    ),
    "halflogistic": Standard(
        (), lambda z: np.log(2) - z - 2 * np.log1p(np.exp(-z)), lambda z: np.tanh(z / 2), lambda z: 2 / (1 + np.exp(z)), low=0.0,
    ),
    "rayleigh": Standard(
        (), lambda z: np.log(z) - z * z / 2, lambda z: -np.expm1(-z * z / 2), lambda z: np.exp(-z * z / 2),
        log_above=lambda z: -z * z / 2, low=0.0,
    ),
    "maxwell": Standard(
        (), lambda z: 2 * np.log(z) - z * z / 2 - log_pi(0.5) / 2,
        lambda z: gamma_share(1.5, z * z / 2), lambda z: gamma_rest(1.5, z * z / 2), low=0.0,
    ),
    "chi": Standard(
        ("df",), lambda z, df: (1 - df / 2) * np.log(2) - log_gamma(df / 2) + xlogy(df - 1, z) - z * z / 2,
        lambda z, df: gamma_share(df / 2, z * z / 2), lambda z, df: gamma_rest(df / 2, z * z / 2), low=0.0,
    ),
    "nakagami": Standard(
        ("nu",), lambda z, nu: np.log(2) + nu * np.log(nu) - log_gamma(nu) + xlogy(2 * nu - 1, z) - nu * z * z,
        lambda z, nu: gamma_share(nu, nu * z * z), lambda z, nu: gamma_rest(nu, nu * z * z), low=0.0,
    ),
    "foldnorm": Standard(
        ("c",), lambda z, c: np.log(density(z - c) + density(z + c)),
        lambda z, c: below(z - c) - below(-z - c), lambda z, c: below(c - z) + below(-c - z), low=0.0,
    ),
    "rice": Standard(
        ("b",), lambda z, b: np.log(z) - (z - b) ** 2 / 2 + np.log(i0e(b * z)),
        lambda z, b: rice_share(b, z), lambda z, b: rice_rest(b, z), low=0.0,
    ),
    # -------------------------------------------------------------- of powers and quotients
    "invgamma": Standard(
        ("a",), lambda z, a: -(a + 1) * np.log(z) - log_gamma(a) - 1 / z,
        lambda z, a: gamma_rest(a, 1 / z), lambda z, a: gamma_share(a, 1 / z), low=0.0,
    ),
    "gengamma": Standard(
        ("a", "c"), lambda z, a, c: np.log(abs(c)) + xlogy(c * a - 1, z) - z**c - log_gamma(a),
        lambda z, a, c: np.where(c > 0, gamma_share(a, z**c), gamma_rest(a, z**c)),
        lambda z, a, c: np.where(c > 0, gamma_rest(a, z**c), gamma_share(a, z**c)), low=0.0,
    ),
    "loggamma": Standard(
        ("c",), lambda z, c: c * z - np.exp(z) - log_gamma(c),
        lambda z, c: gamma_share(c, np.exp(z)), lambda z, c: gamma_rest(c, np.exp(z)),
    ),
    "levy": Standard(
        (), lambda z: -(3 * np.log(z) + 1 / z + log_pi(2.0)) / 2,
        lambda z: 2 * below(-1 / np.sqrt(z)), lambda z: gamma_share(0.5, 0.5 / z), low=0.0,
    ),
    "moyal": Standard(
        (), lambda z: -(z + np.exp(-z) + log_pi(2.0)) / 2,
        lambda z: 2 * below(-np.exp(-z / 2)), lambda z: gamma_share(0.5, np.exp(-z) / 2),
    ),
    "pareto": Standard(
        ("b",), lambda z, b: np.log(b) - (b + 1) * np.log(z), lambda z, b: -np.expm1(-b * np.log(z)), lambda z, b: z**-b,
        log_above=lambda z, b: -b * np.log(z), low=1.0,
    ),
    "lomax": Standard(
        ("c",), lambda z, c: np.log(c) - (c + 1) * np.log1p(z), lambda z, c: -np.expm1(-c * np.log1p(z)),
        lambda z, c: (1 + z) ** -c, log_above=lambda z, c: -c * np.log1p(z), low=0.0,
    ),
    "f": Standard(
        ("dfn", "dfd"),
        lambda z, dfn, dfd: xlogy(dfn / 2, dfn) + xlogy(dfd / 2, dfd) + xlogy(dfn / 2 - 1, z)
        - (dfn + dfd) / 2 * np.log(dfd + dfn * z) - log_beta(dfn / 2, dfd / 2),
        lambda z, dfn, dfd: beta_share(dfn / 2, dfd / 2, dfn * z / (dfd + dfn * z)),
        lambda z, dfn, dfd: beta_share(dfd / 2, dfn / 2, dfd / (dfd + dfn * z)), low=0.0,
    ),
    "betaprime": Standard(
        ("a", "b"), lambda z, a, b: xlogy(a - 1, z) - (a + b) * np.log1p(z) - log_beta(a, b),
        lambda z, a, b: beta_share(a, b, z / (1 + z)), lambda z, a, b: beta_share(b, a, 1 / (1 + z)), low=0.0,
    ),
    "fisk": Standard(
        ("c",), lambda z, c: np.log(c) + xlogy(c - 1, z) - 2 * np.log1p(z**c),
        lambda z, c: 1 / (1 + z**-c), lambda z, c: 1 / (1 + z**c), low=0.0,
    ),
    "burr": Standard(
        ("c", "d"), lambda z, c, d: np.log(c * d) - (c + 1) * np.log(z) - (d + 1) * np.log1p(z**-c),
        lambda z, c, d: (1 + z**-c) ** -d, lambda z, c, d: -np.expm1(-d * np.log1p(z**-c)), low=0.0,
    ),
    "burr12": Standard(
        ("c", "d"), lambda z, c, d: np.log(c * d) + xlogy(c - 1, z) - (d + 1) * np.log1p(z**c),
        lambda z, c, d: -np.expm1(-d * np.log1p(z**c)), lambda z, c, d: (1 + z**c) ** -d, low=0.0,
    ),
    "mielke": Standard(
        ("k", "s"), lambda z, k, s: np.log(k) + xlogy(k - 1, z) - (1 + k / s) * np.log1p(z**s),
        lambda z, k, s: z**k / (1 + z**s) ** (k / s), low=0.0,
    ),
    "invgauss": Standard(
        ("mu",), lambda z, mu: -(log_pi(2.0) + 3 * np.log(z)) / 2 - (z / mu - 1) ** 2 / (2 * z),
        lambda z, mu: below((z / mu - 1) / np.sqrt(z)) + np.exp(2 / mu) * below(-(z / mu + 1) / np.sqrt(z)),
        lambda z, mu: below((1 - z / mu) / np.sqrt(z)) - np.exp(2 / mu) * below(-(z / mu + 1) / np.sqrt(z)), low=0.0,
    ),
    "wald": Standard(
        (), lambda z: -(log_pi(2.0) + 3 * np.log(z)) / 2 - (z - 1) ** 2 / (2 * z),
        lambda z: below((z - 1) / np.sqrt(z)) + np.exp(2) * below(-(z + 1) / np.sqrt(z)),
        lambda z: below((1 - z) / np.sqrt(z)) - np.exp(2) * below(-(z + 1) / np.sqrt(z)), low=0.0,
    ),
    "alpha": Standard(
        ("a",), lambda z, a: -2 * np.log(z) - (a - 1 / z) ** 2 / 2 - log_pi(2.0) / 2 - np.log(below(a)),
        lambda z, a: below(a - 1 / z) / below(a), low=0.0,
    ),
    "loglaplace": Standard(
        ("c",), lambda z, c: np.log(c / 2) + np.where(z < 1, c - 1, -c - 1) * np.log(z),
        lambda z, c: np.where(z < 1, z**c / 2, 1 - z**-c / 2), lambda z, c: np.where(z < 1, 1 - z**c / 2, z**-c / 2), low=0.0,
    ),
    # --------------------------------------------------------------------- of extreme values
    "gumbel_r": Standard(
        (), lambda z: -z - np.exp(-z), lambda z: np.exp(-np.exp(-z)), lambda z: -np.expm1(-np.exp(-z)),
        log_below=lambda z: -np.exp(-z),
    ),
    "gumbel_l": Standard(
        (), lambda z: z - np.exp(z), lambda z: -np.expm1(-np.exp(z)), lambda z: np.exp(-np.exp(z)),
        log_above=lambda z: -np.exp(z),
    ),
    "weibull_max": Standard(
        ("c",), lambda z, c: np.log(c) + xlogy(c - 1, -z) - (-z) ** c, lambda z, c: np.exp(-((-z) ** c)),
        lambda z, c: -np.expm1(-((-z) ** c)), log_below=lambda z, c: -((-z) ** c), high=0.0,
    ),
    "genextreme": Standard(
        ("c",), lambda z, c: np.log1p(-c * z) / c - np.log1p(-c * z) - np.exp(np.log1p(-c * z) / c),
        lambda z, c: np.exp(-np.exp(np.log1p(-c * z) / c)), lambda z, c: -np.expm1(-np.exp(np.log1p(-c * z) / c)),
        log_below=lambda z, c: -np.exp(np.log1p(-c * z) / c),
        low=lambda c: np.where(c < 0, 1 / c, -np.inf), high=lambda c: np.where(c > 0, 1 / c, np.inf),
    ),
    "genpareto": Standard(
        ("c",), lambda z, c: -np.log1p(c * z) / c - np.log1p(c * z), lambda z, c: -np.expm1(-np.log1p(c * z) / c),
        lambda z, c: np.exp(-np.log1p(c * z) / c), log_above=lambda z, c: -np.log1p(c * z) / c,
        low=0.0, high=lambda c: np.where(c < 0, -1 / c, np.inf),
    ),
    "gompertz": Standard(
        ("c",), lambda z, c: np.log(c) + z - c * np.expm1(z), lambda z, c: -np.expm1(-c * np.expm1(z)),
        lambda z, c: np.exp(-c * np.expm1(z)), log_above=lambda z, c: -c * np.expm1(z), low=0.0,
    ),
    "exponpow": Standard(
        ("b",), lambda z, b: np.log(b) + 1 + xlogy(b - 1, z) + z**b - np.exp(z**b),
        lambda z, b: -np.expm1(-np.expm1(z**b)), lambda z, b: np.exp(-np.expm1(z**b)), log_above=lambda z, b: -np.expm1(z**b), low=0.0,
    ),
    "exponweib": Standard(
        ("a", "c"), lambda z, a, c: np.log(a * c) + xlogy(a - 1, -np.expm1(-(z**c))) - z**c + xlogy(c - 1, z),
        lambda z, a, c: (-np.expm1(-(z**c))) ** a, low=0.0,
    ),
    # ------------------------------------------------------------------------ on the real line
    "hypsecant": Standard(
        (), lambda z: np.log(2) - log_pi(1.0) - np.logaddexp(z, -z), lambda z: 2 * turns(np.exp(z)), lambda z: 2 * turns(np.exp(-z)),
    ),
    "genlogistic": Standard(
        ("c",), lambda z, c: np.log(c) - z - (c + 1) * softplus(-z), lambda z, c: np.exp(-c * softplus(-z)),
        lambda z, c: -np.expm1(-c * softplus(-z)), log_below=lambda z, c: -c * softplus(-z),
    ),
    "laplace_asymmetric": Standard(
        ("kappa",), lambda z, k: np.where(z >= 0, -z * k, z / k) - np.log(k + 1 / k),
        lambda z, k: np.where(z >= 0, 1 - np.exp(-z * k) / (1 + k * k), np.exp(z / k) * k * k / (1 + k * k)),
        lambda z, k: np.where(z >= 0, np.exp(-z * k) / (1 + k * k), 1 - np.exp(z / k) * k * k / (1 + k * k)),
    ),
    "dweibull": Standard(
        ("c",), lambda z, c: np.log(c / 2) + xlogy(c - 1, abs(z)) - abs(z) ** c,
        lambda z, c: np.where(z > 0, 1 - np.exp(-(abs(z) ** c)) / 2, np.exp(-(abs(z) ** c)) / 2),
        lambda z, c: np.where(z > 0, np.exp(-(abs(z) ** c)) / 2, 1 - np.exp(-(abs(z) ** c)) / 2),
    ),
    "dgamma": Standard(
        ("a",), lambda z, a: xlogy(a - 1, abs(z)) - abs(z) - np.log(2) - log_gamma(a),
        lambda z, a: np.where(z > 0, (1 + gamma_share(a, abs(z))) / 2, gamma_rest(a, abs(z)) / 2),
        lambda z, a: np.where(z > 0, gamma_rest(a, abs(z)) / 2, (1 + gamma_share(a, abs(z))) / 2),
    ),
    "gennorm": Standard(
        ("beta",), lambda z, b: np.log(b / 2) - log_gamma(1 / b) - abs(z) ** b,
        lambda z, b: np.where(z > 0, (1 + gamma_share(1 / b, abs(z) ** b)) / 2, gamma_rest(1 / b, abs(z) ** b) / 2),
        lambda z, b: np.where(z > 0, gamma_rest(1 / b, abs(z) ** b) / 2, (1 + gamma_share(1 / b, abs(z) ** b)) / 2),
    ),
    "johnsonsu": Standard(
        ("a", "b"), lambda z, a, b: np.log(b) - (log_pi(2.0) + np.log1p(z * z) + (a + b * np.arcsinh(z)) ** 2) / 2,
        lambda z, a, b: below(a + b * np.arcsinh(z)), lambda z, a, b: below(-a - b * np.arcsinh(z)),
    ),
    "exponnorm": Standard(
        ("K",), lambda z, K: (0.5 / K - z) / K - np.log(K) + np.log(below(z - 1 / K)),
        lambda z, K: below(z) - np.exp((0.5 / K - z) / K) * below(z - 1 / K),
        lambda z, K: below(-z) + np.exp((0.5 / K - z) / K) * below(z - 1 / K),
    ),
    "skewnorm": Standard(
        ("a",), lambda z, a: np.log(2) - (z * z + log_pi(2.0)) / 2 + np.log(below(a * z)),
        lambda z, a: below(z) - 2 * owen(z, a), lambda z, a: below(-z) + 2 * owen(z, a),
    ),
    "vonmises": Standard(
        ("kappa",), lambda z, kappa: kappa * (np.cos(z) - 1) - log_pi(2.0) - np.log(i0e(kappa)),
        lambda z, kappa: arc_share(kappa, z), lambda z, kappa: arc_share(kappa, -z),
    ),
    # ------------------------------------------------------------------------- on an interval
    "powerlaw": Standard(
        ("a",), lambda z, a: np.log(a) + xlogy(a - 1, z), lambda z, a: z**a, lambda z, a: -np.expm1(a * np.log(z)), low=0.0, high=1.0,
    ),
    "loguniform": Standard(
        ("a", "b"), lambda z, a, b: -np.log(z) - np.log(np.log(b / a)), lambda z, a, b: np.log(z / a) / np.log(b / a),
        lambda z, a, b: np.log(b / z) / np.log(b / a), low=lambda a, b: a, high=lambda a, b: b,
    ),
    "bradford": Standard(
        ("c",), lambda z, c: np.log(c / np.log1p(c)) - np.log1p(c * z), lambda z, c: np.log1p(c * z) / np.log1p(c), low=0.0, high=1.0,
    ),
    "triang": Standard(
        ("c",), lambda z, c: np.log(np.where(z < c, 2 * z / c, 2 * (1 - z) / (1 - c))),
        lambda z, c: np.where(z < c, z * z / c, 1 - (1 - z) ** 2 / (1 - c)),
        lambda z, c: np.where(z < c, 1 - z * z / c, (1 - z) ** 2 / (1 - c)), low=0.0, high=1.0,
    ),
    "semicircular": Standard(
        (), lambda z: np.log1p(-z * z) / 2 - log_pi(0.5), lambda z: 0.5 + (z * np.sqrt(1 - z * z) + np.arcsin(z)) / np.pi,
        lambda z: 0.5 - (z * np.sqrt(1 - z * z) + np.arcsin(z)) / np.pi, low=-1.0, high=1.0,
    ),
    "arcsine": Standard(
        (), lambda z: -np.log(z * (1 - z)) / 2 - log_pi(1.0), lambda z: 2 * np.arcsin(np.sqrt(z)) / np.pi,
        lambda z: 2 * np.arcsin(np.sqrt(1 - z)) / np.pi, low=0.0, high=1.0,
    ),
    "cosine": Standard(
        (), lambda z: np.log1p(np.cos(z)) - log_pi(2.0), lambda z: 0.5 + (z + np.sin(z)) / (2 * np.pi),
        lambda z: 0.5 - (z + np.sin(z)) / (2 * np.pi), low=-np.pi, high=np.pi,
    ),
    "johnsonsb": Standard(
        ("a", "b"),
        lambda z, a, b: np.log(b) - log_pi(2.0) / 2 - np.log(z * (1 - z)) - (a + b * np.log(z / (1 - z))) ** 2 / 2,
        lambda z, a, b: below(a + b * np.log(z / (1 - z))), lambda z, a, b: below(-a - b * np.log(z / (1 - z))), low=0.0, high=1.0,
    ),
    "truncnorm": Standard(
        ("a", "b"), lambda z, a, b: -(z * z + log_pi(2.0)) / 2 - np.log(below(b) - below(a)),
        lambda z, a, b: (below(z) - below(a)) / (below(b) - below(a)),
        lambda z, a, b: (below(-z) - below(-b)) / (below(-a) - below(-b)), low=lambda a, b: a, high=lambda a, b: b,
    ),
    # ------------------------------------------------------------------------------- of counts
    "geom": Standard(
        ("p",), lambda k, p: xlog1py(k - 1, -p) + np.log(p), lambda k, p: -np.expm1(k * np.log1p(-p)),
        lambda k, p: np.exp(k * np.log1p(-p)), log_above=lambda k, p: k * np.log1p(-p), low=1.0, whole=True,
    ),
    "nbinom": Standard(
        ("n", "p"), lambda k, n, p: log_gamma(k + n) - log_gamma(k + 1) - log_gamma(n) + xlogy(n, p) + xlog1py(k, -p),
        lambda k, n, p: beta_share(n, k + 1, p), lambda k, n, p: beta_share(k + 1, n, 1 - p), low=0.0, whole=True,
    ),
    "logser": Standard(
        ("p",), lambda k, p: xlogy(k, p) - np.log(k) - np.log(-np.log1p(-p)),
        above=lambda k, p: -np.exp((k + 1) * np.log(p)) * hypergeometric(1.0, k + 1, k + 2, p) / ((k + 1) * np.log1p(-p)),
        low=1.0, whole=True,
    ),
    "betabinom": Standard(
        ("n", "a", "b"), lambda k, n, a, b: betabinom_log(k, n, a, b),
        lambda k, n, a, b: betabinom_below(k, n, a, b), lambda k, n, a, b: betabinom_above(k, n, a, b),
        low=0.0, high=lambda n, a, b: n, whole=True,
    ),
    "planck": Standard(
        ("lambda_",), lambda k, rate: np.log(-np.expm1(-rate)) - rate * k, lambda k, rate: -np.expm1(-rate * (k + 1)),
        lambda k, rate: np.exp(-rate * (k + 1)), log_above=lambda k, rate: -rate * (k + 1), low=0.0, whole=True,
    ),
    "boltzmann": Standard(
        ("lambda_", "N"), lambda k, rate, N: np.log(-np.expm1(-rate)) - rate * k - np.log(-np.expm1(-rate * N)),
        lambda k, rate, N: np.expm1(-rate * (k + 1)) / np.expm1(-rate * N), low=0.0, high=lambda rate, N: N - 1, whole=True,
    ),
    "dlaplace": Standard(
        ("a",), lambda k, a: np.log(np.tanh(a / 2)) - a * abs(k),
        lambda k, a: np.where(k < 0, np.exp(a * (k + 1)) / (np.exp(a) + 1), 1 - np.exp(-a * k) / (np.exp(a) + 1)),
        lambda k, a: np.where(k < 0, 1 - np.exp(a * (k + 1)) / (np.exp(a) + 1), np.exp(-a * k) / (np.exp(a) + 1)), whole=True,
    ),
    "randint": Standard(
        ("low", "high"), lambda k, low, high: 0 * k - np.log(high - low), lambda k, low, high: (k - low + 1) / (high - low),
        lambda k, low, high: (high - k - 1) / (high - low), low=lambda low, high: low, high=lambda low, high: high - 1, whole=True,
    ),
    "yulesimon": Standard(
        ("alpha",), lambda k, alpha: np.log(alpha) + log_beta(k, alpha + 1), lambda k, alpha: 1 - k * np.exp(log_beta(k, alpha + 1)),
        lambda k, alpha: k * np.exp(log_beta(k, alpha + 1)), low=1.0, whole=True,
    ),
    "hypergeom": Standard(
        ("M", "n", "N"),
        lambda k, M, n, N: hypergeom_log(k, M, n, N), lambda k, M, n, N: hypergeom_below(k, M, n, N),
        lambda k, M, n, N: hypergeom_above(k, M, n, N),
        low=lambda M, n, N: np.maximum(0, n + N - M), high=lambda M, n, N: np.minimum(n, N), whole=True,
    ),
}  # fmt: skip
"""The distributions, by their names in SciPy."""
