"""Options, rates, volatility, portfolios."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from tests.programs.case import Case


def black_scholes(S, K, T, r, sigma, option="call"):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    if option == "call":
        return S * norm.cdf(d1) - K * np.exp(-r * T) * norm.cdf(d2)
    elif option == "put":
        return K * np.exp(-r * T) * norm.cdf(-d2) - S * norm.cdf(-d1)
    raise ValueError(f"unknown option type {option!r}")


def straddle_book(spots, strikes, vols, weights):
    """A book of straddles, one for each name."""
    value = 0
    for S, K, v, w in zip(spots, strikes, vols, weights):
        value += w * (black_scholes(S, K, 0.5, 0.02, v) + black_scholes(S, K, 0.5, 0.02, v, "put"))
    return value


def american_put(S0, K, r, sigma, T, N=30):
    """Cox-Ross-Rubinstein tree."""
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    disc = np.exp(-r * dt)
    S = np.array([S0 * u**j * d ** (N - j) for j in range(N + 1)])
    V = np.maximum(K - S, 0)
    for i in range(N - 1, -1, -1):
        S = S0 * u ** np.arange(i + 1) * d ** (i - np.arange(i + 1))
        V = disc * (p * V[1:] + (1 - p) * V[:-1])
        V = np.maximum(V, K - S)
    return V[0]


@dataclass
class HestonParams:
    v0: float
    kappa: float
    theta: float
    sigma: float
    rho: float


def heston_cf(u, T, p):
    """Characteristic function in the form of Albrecher et al."""
    iu = 1j * u
    d = cmath.sqrt((p.rho * p.sigma * iu - p.kappa) ** 2 + p.sigma**2 * (iu + u**2))
    g = (p.kappa - p.rho * p.sigma * iu - d) / (p.kappa - p.rho * p.sigma * iu + d)
    e = cmath.exp(-d * T)
    C = (
        p.kappa
        * p.theta
        / p.sigma**2
        * ((p.kappa - p.rho * p.sigma * iu - d) * T - 2 * cmath.log((1 - g * e) / (1 - g)))
    )
    D = (p.kappa - p.rho * p.sigma * iu - d) / p.sigma**2 * (1 - e) / (1 - g * e)
    return cmath.exp(C + D * p.v0)


def heston_call(S, K, T, p):
    """Lewis' formula by the trapezoid rule."""
    k = math.log(S / K)
    n, umax = 120, 60.0
    h = umax / n
    total = 0.0
    for i in range(n + 1):
        u = i * h
        w = 0.5 if i in (0, n) else 1.0
        total += w * (cmath.exp(1j * u * k) * heston_cf(u - 0.5j, T, p)).real / (u * u + 0.25)
    return S - math.sqrt(S * K) / math.pi * total * h


def sabr_vol(F, K, T, alpha, beta, rho, nu):
    """Hagan's formula."""
    if abs(F - K) < 1e-12:
        fk = F ** (1 - beta)
        z_over_x = 1.0
        denom = fk
    else:
        logfk = math.log(F / K)
        fkb = (F * K) ** ((1 - beta) / 2)
        z = nu / alpha * fkb * logfk
        x = math.log((math.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
        z_over_x = z / x
        denom = fkb * (1 + (1 - beta) ** 2 / 24 * logfk**2 + (1 - beta) ** 4 / 1920 * logfk**4)
    A = (1 - beta) ** 2 / 24 * alpha**2 / (F * K) ** (1 - beta)
    B = 0.25 * rho * beta * nu * alpha / (F * K) ** ((1 - beta) / 2)
    C = (2 - 3 * rho**2) / 24 * nu**2
    return alpha / denom * z_over_x * (1 + (A + B + C) * T)


def bond_price(y, coupon, face, n, freq=2):
    c = coupon * face / freq
    return sum(c / (1 + y / freq) ** t for t in range(1, n + 1)) + face / (1 + y / freq) ** n


def bond_yield(price, coupon, face=100.0, n=10):
    """Newton with a numerical derivative, until it no longer moves."""
    y = coupon
    while True:
        f = bond_price(y, coupon, face, n) - price
        h = 1e-5
        slope = (bond_price(y + h, coupon, face, n) - bond_price(y - h, coupon, face, n)) / (2 * h)
        step = f / slope
        y -= step
        if abs(step) < 1e-14:
            return y


def implied_vol(price, S, K, T, r):
    lo, hi = 1e-3, 2.0
    for _ in range(60):
        mid = 0.5 * (lo + hi)
        if black_scholes(S, K, T, r, mid) > price:
            hi = mid
        else:
            lo = mid
    sigma = 0.5 * (lo + hi)
    for _ in range(3):
        d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
        sigma -= (black_scholes(S, K, T, r, sigma) - price) / (S * norm.pdf(d1) * np.sqrt(T))
    return sigma


def garch_nll(params, returns):
    """Gaussian GARCH(1,1)."""
    mu, omega, alpha, beta = params
    eps = returns - mu
    sigma2 = np.empty(len(returns))
    sigma2[0] = np.var(returns)
    for t in range(1, len(returns)):
        sigma2[t] = omega + alpha * eps[t - 1] ** 2 + beta * sigma2[t - 1]
    return 0.5 * np.sum(np.log(2 * np.pi) + np.log(sigma2) + eps**2 / sigma2)


def portfolio_loss(w, mu, cov, risk_aversion=3.0):
    """Mean-variance with softmax weights, a concentration penalty and turnover."""
    previous = np.full(len(mu), 1 / len(mu))
    weights = np.exp(w - w.max())
    weights /= weights.sum()
    ret = weights @ mu
    vol = np.sqrt(weights @ cov @ weights)
    turnover = np.sum(np.abs(weights - previous))
    hhi = (weights**2).sum()
    return -(ret - 0.5 * risk_aversion * vol**2) + 0.01 * turnover + 0.05 * hhi


def asian_option(S0, sigma, r, normals):
    """Pathwise Monte Carlo with given normals (paths by steps), arithmetic mean."""
    npaths, nsteps = normals.shape
    dt = 1.0 / nsteps
    increments = (r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * normals
    paths = S0 * np.exp(np.cumsum(increments, axis=1))
    payoff = np.maximum(paths.mean(axis=1) - 100.0, 0.0)
    return np.exp(-r) * payoff.mean()


def bootstrap_curve(swap_rates):
    """Discount factors from annual par swap rates, then a forward rate."""
    dfs = []
    for rate in swap_rates:
        annuity = sum(dfs)
        dfs.append((1 - rate * annuity) / (1 + rate))
    forwards = [a / b - 1 for a, b in zip(dfs[:-1], dfs[1:])]
    return dfs[-1] + sum(f * (i + 1) for i, f in enumerate(forwards))


def cds_par_spread(hazards, recovery, r):
    """Piecewise constant hazard rates, quarterly premiums."""
    survival, protection, annuity = 1.0, 0.0, 0.0
    t = 0.0
    for h in hazards:
        for _ in range(4):
            t += 0.25
            nxt = survival * math.exp(-h * 0.25)
            df = math.exp(-r * t)
            protection += (1 - recovery) * df * (survival - nxt)
            annuity += 0.25 * df * 0.5 * (survival + nxt)
            survival = nxt
    return protection / annuity * 1e4


_rng = np.random.default_rng(2)
_A = _rng.normal(size=(5, 5))
_returns = 0.01 * _rng.normal(size=60)

PROGRAMS = [
    Case(black_scholes, (100.0, 105.0, 0.75, 0.03, 0.22), ("S", "K", "T", "r", "sigma")),
    Case(straddle_book, (np.array([100.0, 50.0, 20.0]), np.array([95.0, 55.0, 20.5]), np.array([0.2, 0.3, 0.45]), np.array([1.0, -2.0, 5.0]))),
    Case(american_put, (100.0, 102.0, 0.05, 0.3, 1.0), ("S0", "K", "r", "sigma", "T")),
    Case(heston_call, (100.0, 95.0, 0.8, HestonParams(0.04, 1.5, 0.05, 0.4, -0.6))),
    Case(sabr_vol, (0.03, 0.035, 2.0, 0.02, 0.5, -0.3, 0.4)),
    Case(bond_yield, (97.0, 0.05), ("price", "coupon")),
    Case(implied_vol, (9.5, 100.0, 102.0, 0.75, 0.02)),
    Case(garch_nll, (np.array([0.001, 2e-5, 0.1, 0.8]), _returns)),
    Case(portfolio_loss, (0.3 * _rng.normal(size=5), 0.05 + 0.02 * _rng.normal(size=5), _A @ _A.T / 50)),
    Case(asian_option, (100.0, 0.25, 0.03, _rng.normal(size=(40, 12))), ("S0", "sigma", "r")),
    Case(bootstrap_curve, ([0.02, 0.022, 0.025, 0.027, 0.028],)),
    Case(cds_par_spread, ([0.01, 0.015, 0.02], 0.4, 0.03)),
]  # fmt: skip
