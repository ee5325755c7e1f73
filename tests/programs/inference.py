"""Likelihoods: Gaussian processes, filters, hidden Markov models, survival, phylogeny, curve fitting."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy import special, stats

from tests.programs.case import Case


def rbf(x1, x2, amp, length):
    sqdist = np.sum(x1**2, 1).reshape(-1, 1) + np.sum(x2**2, 1) - 2 * np.dot(x1, x2.T)
    return amp**2 * np.exp(-0.5 / length**2 * sqdist)


def gp_nll(theta, X, y):
    """Marginal likelihood by Cholesky, as scikit-learn has it."""
    amp, length, noise = np.exp(theta)
    K = rbf(X, X, amp, length) + noise**2 * np.eye(len(X))
    L = np.linalg.cholesky(K)
    alpha = scipy.linalg.cho_solve((L, True), y)
    return 0.5 * y.dot(alpha) + np.log(np.diag(L)).sum() + 0.5 * len(X) * np.log(2 * np.pi)


def hmm_forward(pi, A, means, sigma, obs):
    """Log-likelihood by the scaled forward algorithm with Gaussian emissions."""
    log_lik = 0.0
    alpha = None
    for x in obs:
        b = stats.norm.pdf(x, loc=means, scale=sigma)
        alpha = pi * b if alpha is None else (alpha @ A) * b
        scale = alpha.sum()
        alpha = alpha / scale
        log_lik += np.log(scale)
    return log_lik


def extended_kalman(q, r, measurements, x0):
    """Tracks a target by range and bearing; returns the negative log-likelihood."""
    dt = 0.5
    F = np.eye(4)
    F[0, 2] = F[1, 3] = dt
    Q = q * np.diag([dt**3 / 3, dt**3 / 3, dt, dt])
    R = np.diag(r)
    x, P = x0, np.eye(4)
    nll = 0.0
    for z in measurements:
        x = F @ x
        P = F @ P @ F.T + Q
        px, py = x[:2]
        rng2 = px**2 + py**2
        rng = np.sqrt(rng2)
        h = np.array([rng, np.arctan2(py, px)])
        H = np.array([[px / rng, py / rng, 0, 0], [-py / rng2, px / rng2, 0, 0]])
        innov = z - h
        innov[1] = (innov[1] + np.pi) % (2 * np.pi) - np.pi
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        nll += 0.5 * (innov @ np.linalg.solve(S, innov) + np.log(np.linalg.det(2 * np.pi * S)))
        x = x + K @ innov
        P = (np.eye(4) - K @ H) @ P
    return nll


def particle_filter(phi, sigma_x, sigma_y, ys, noise):
    """Bootstrap filter without resampling (sequential importance sampling) for a linear AR(1) state."""
    n = noise.shape[1]
    x = noise[0] * sigma_x / math.sqrt(1 - phi**2)
    logw = np.zeros(n)
    ll = 0.0
    for t, y in enumerate(ys):
        if t > 0:
            x = phi * x + sigma_x * noise[t]
        logg = -0.5 * ((y - x) / sigma_y) ** 2 - math.log(sigma_y) - 0.5 * math.log(2 * math.pi)
        before = special.logsumexp(logw)
        logw += logg
        ll += special.logsumexp(logw) - before
    return ll


def cox_partial_likelihood(beta, X, time, event):
    order = np.argsort(-time)
    X, event = X[order], event[order]
    eta = X @ beta
    log_risk = np.log(np.cumsum(np.exp(eta)))
    return -np.sum((eta - log_risk) * event) / event.sum()


def weibull_survival(shape, scale, times, censored):
    ll = 0
    for t, c in zip(times, censored):
        z = (t / scale) ** shape
        if c:
            ll -= z
        else:
            ll += math.log(shape / scale) + (shape - 1) * math.log(t / scale) - z
    return ll


class Node(NamedTuple):
    left: int
    right: int
    t_left: float
    t_right: float


BASES = "ACGT"


def felsenstein(kappa, lengths, sites):
    """Pruning under K80 on the tree ((0,1),(2,3)); `sites` are columns of the alignment."""

    def transition(t):
        p0 = (
            0.25
            + 0.25 * math.exp(-4 * t / (kappa + 2))
            + 0.5 * math.exp(-2 * t * (kappa + 1) / (kappa + 2))
        )
        p1 = (
            0.25
            + 0.25 * math.exp(-4 * t / (kappa + 2))
            - 0.5 * math.exp(-2 * t * (kappa + 1) / (kappa + 2))
        )
        p2 = 0.25 - 0.25 * math.exp(-4 * t / (kappa + 2))
        P = np.full((4, 4), p2)
        for i in range(4):
            P[i, i] = p0
            P[i, (i + 2) % 4] = p1
        return P

    P = [transition(t) for t in lengths]
    total = 0.0
    for site in sites:
        tips = {}
        for k, base in enumerate(site):
            v = np.zeros(4)
            v[BASES.index(base)] = 1.0
            tips[k] = v
        left = (P[0] @ tips[0]) * (P[1] @ tips[1])
        right = (P[2] @ tips[2]) * (P[3] @ tips[3])
        root = (P[4] @ left) * (P[5] @ right)
        total += math.log(0.25 * root.sum())
    return total


def soft_needleman_wunsch(gap, match, mismatch, temperature, a="GATTACA", b="GCATGCU"):
    """Alignment with a soft maximum over the three moves."""
    n, m = len(a), len(b)
    F = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        F[i][0] = i * gap
    for j in range(m + 1):
        F[0][j] = j * gap

    def softmax3(*vals):
        top = max(vals)
        return top + temperature * math.log(sum(math.exp((v - top) / temperature) for v in vals))

    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            F[i][j] = softmax3(F[i - 1][j - 1] + s, F[i - 1][j] + gap, F[i][j - 1] + gap)
    return F[n][m]


def peak_fit_residual(params, x, y):
    """Voigt-like sum of pseudo-Voigt peaks on a linear background."""
    background, peaks = params["background"], params["peaks"]
    model = background[0] + background[1] * x
    for centre, width, height, eta in peaks:
        u = (x - centre) / width
        model = model + height * (eta / (1 + u**2) + (1 - eta) * np.exp(-np.log(2) * u**2))
    res = y - model
    return np.sum(np.where(np.abs(res) < 0.5, 0.5 * res**2, 0.5 * (np.abs(res) - 0.25)))


def qr_regression(X, y):
    """Residual sum of squares by QR, and the norm of the coefficients."""
    Q, R = np.linalg.qr(X)
    beta = scipy.linalg.solve_triangular(R, Q.T @ y)
    resid = y - X @ beta
    return resid @ resid + 0.1 * beta @ beta


def mvn_logpdf(x, mean, A):
    """Cholesky log-likelihood of several points."""
    cov = A @ A.T + 0.5 * np.eye(len(mean))
    L = np.linalg.cholesky(cov)
    z = scipy.linalg.solve_triangular(L, (x - mean).T, lower=True)
    k = len(mean)
    logdet = 2 * np.sum(np.log(np.diagonal(L)))
    return np.sum(-0.5 * (np.sum(z**2, axis=0) + k * np.log(2 * np.pi) + logdet))


def pca_reconstruction(X, k=2):
    """Mean squared error of rank k, by svd, relative to the total variance."""
    Xc = X - X.mean(axis=0)
    U, s, Vt = np.linalg.svd(Xc, full_matrices=False)
    approx = (U[:, :k] * s[:k]) @ Vt[:k, :]
    return np.sum((Xc - approx) ** 2) / np.sum(s**2)


def gaussian_mixture(logits, means, log_sd, data):
    weights = np.exp(logits) / np.sum(np.exp(logits))
    ll = 0.0
    for x in data:
        comp = []
        for w, m, s in zip(weights, means, log_sd):
            z = (x - m) / np.exp(s)
            comp.append(np.log(w) - 0.5 * z**2 - s - 0.5 * np.log(2 * np.pi))
        top = max(comp)
        ll += top + np.log(sum(np.exp(c - top) for c in comp))
    return ll


def negative_binomial_glm(beta, log_r, X, counts, exposure):
    mu = exposure * np.exp(X @ beta)
    r = np.exp(log_r)
    ll = (
        special.gammaln(counts + r)
        - special.gammaln(r)
        - special.gammaln(counts + 1)
        + r * np.log(r / (r + mu))
        + counts * np.log(mu / (r + mu))
    )
    return -ll.sum()


def arma_likelihood(phi, theta, sigma, y):
    """Conditional ARMA(2,1)."""
    e = [0.0, 0.0]
    for t in range(2, len(y)):
        pred = phi[0] * y[t - 1] + phi[1] * y[t - 2] + theta * e[t - 1]
        e.append(y[t] - pred)
    sse = sum(v * v for v in e)
    n = len(y) - 2
    return -0.5 * n * math.log(2 * math.pi * sigma**2) - sse / (2 * sigma**2)


def elbo(mu, log_sigma, eps, X, y):
    """Reparametrised evidence bound of a Bayesian linear model, given standard normals."""
    sigma = np.exp(log_sigma)
    total = 0.0
    for e in eps:
        w = mu + sigma * e
        total += stats.norm.logpdf(y, X @ w, 0.5).sum() + stats.norm.logpdf(w).sum()
    entropy = np.sum(log_sigma + 0.5 * np.log(2 * np.pi * np.e))
    return total / len(eps) + entropy


def ordinal_probit(beta, cuts, X, y):
    eta = X @ beta
    bounds = np.concatenate(([-np.inf], np.cumsum(np.exp(cuts)) - 1, [np.inf]))
    p = special.ndtr(bounds[y + 1] - eta) - special.ndtr(bounds[y] - eta)
    return -np.log(p).sum()


_rng = np.random.default_rng(4)
_X = _rng.normal(size=(10, 2))
_t = np.linspace(0, 6, 25)

PROGRAMS = [
    Case(gp_nll, (np.array([0.1, -0.3, -1.0]), _X, np.sin(_X[:, 0])), ("theta", "y")),
    Case(hmm_forward, (np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([-1.0, 1.5]), 0.8, [-0.9, -1.2, 0.3, 1.4, 1.7])),
    Case(extended_kalman, (0.1, np.array([0.05, 0.01]), [np.array([5.1, 0.62]), np.array([5.4, 0.7]), np.array([5.9, 0.75])], np.array([4.0, 3.0, 0.3, 0.6]))),
    Case(particle_filter, (0.8, 0.5, 0.3, [0.2, 0.5, -0.1, 0.4], _rng.normal(size=(4, 20))), ("phi", "sigma_x", "sigma_y", "ys")),
    Case(cox_partial_likelihood, (np.array([0.3, -0.5]), _X, 5 * _rng.random(10), (_rng.random(10) > 0.3).astype(float)), ("beta", "X")),
    Case(weibull_survival, (1.4, 3.0, [1.0, 2.5, 0.7, 4.0], [False, True, False, True]), ("shape", "scale", "times")),
    Case(felsenstein, (2.0, [0.1, 0.2, 0.15, 0.3, 0.05, 0.08], ["AAAG", "CCTC", "GGGG", "TATT"]), ("kappa", "lengths"), ("sites",)),
    Case(soft_needleman_wunsch, (-1.0, 1.0, -0.7, 0.4), ("gap", "match", "mismatch", "temperature")),
    Case(
        peak_fit_residual,
        ({"background": [0.2, 0.05], "peaks": [(1.5, 0.4, 2.0, 0.3), (4.0, 0.7, 1.2, 0.8)]}, _t, 2.2 * np.exp(-((_t - 1.6) ** 2) / 0.3) + 0.8 / (1 + (_t - 4.1) ** 2)),
        ("params",),
    ),
    Case(qr_regression, (_rng.normal(size=(8, 3)), _rng.normal(size=8))),
    Case(mvn_logpdf, (_rng.normal(size=(5, 3)), _rng.normal(size=3), _rng.normal(size=(3, 3)))),
    Case(pca_reconstruction, (_rng.normal(size=(7, 4)),), ("X",)),
    Case(gaussian_mixture, (np.array([0.1, -0.2]), np.array([-1.0, 2.0]), np.array([0.1, -0.3]), [-0.8, 1.9, 0.4, 2.6])),
    Case(negative_binomial_glm, (np.array([0.2, -0.1]), 0.7, _X, np.arange(10.0) % 4, 1 + _rng.random(10)), ("beta", "log_r")),
    Case(arma_likelihood, ([0.5, -0.2], 0.3, 0.9, _rng.normal(size=12))),
    Case(elbo, (np.array([0.1, 0.4]), np.array([-0.5, -1.0]), _rng.normal(size=(3, 2)), _X, _rng.normal(size=10)), ("mu", "log_sigma")),
    Case(ordinal_probit, (np.array([0.4, -0.3]), np.array([-0.2, 0.3]), _X, np.array([0, 1, 2, 2, 1, 0, 0, 1, 2, 1])), ("beta", "cuts")),
]  # fmt: skip
