"""The logarithm of the posterior density of a mixture of normal distributions, with a Wishart prior.

Precisions are Q.T @ Q with Q lower triangular: the exponentials of q on its diagonal, and l below it, column by
column.
"""

from __future__ import annotations

import numpy as np
from scipy.special import multigammaln

from benchmarks.gradbench.evals import Eval, Functions
from symdiff import symgrad

WRT = ("alpha", "mu", "q", "lower")
KEYS = ("alpha", "mu", "q", "l")


def logsumexp(v):
    top = np.max(v)
    return top + np.log(np.sum(np.exp(v - top)))


def factor(q, lower):
    """The lower triangular Q of one component: q has shape (d,), lower (d*(d-1)/2,)."""
    d = len(q)
    factor = np.diag(np.exp(q))
    first = 0
    for j in range(d):
        below = d - 1 - j
        factor[j + 1 :, j] = lower[first : first + below]
        first += below
    return factor


def objective(alpha, mu, q, lower, x, m, gamma):
    n, d = x.shape
    k = len(alpha)
    likelihood = -n * (d / 2 * np.log(2 * np.pi) + logsumexp(alpha))
    log_densities = np.zeros((n, k))
    prior = 0.0
    for i in range(k):
        triangle = factor(q[i], lower[i])
        whitened = (x - mu[i]) @ triangle.T
        log_densities[:, i] = alpha[i] + np.sum(q[i]) - 0.5 * np.sum(whitened**2, axis=1)
        prior += m * np.sum(q[i]) - gamma**2 / 2 * np.sum(triangle**2)
    for row in log_densities:
        likelihood += logsumexp(row)
    freedom = d + m + 1
    constant = freedom * d * np.log(gamma / np.sqrt(2)) - multigammaln(freedom / 2, d)
    return likelihood + prior + k * constant


def functions(accuracy: str) -> Functions:
    f = symgrad(objective, wrt=WRT, static=("m", "gamma"), accuracy=accuracy)
    return {"objective": f, "jacobian": f.grad}


def output(name, result, _):
    if name == "objective":
        return float(result)
    return {key: part.tolist() for key, part in zip(KEYS, result, strict=True)}


def given(rng, d, k, n):
    return {
        "d": d,
        "k": k,
        "n": n,
        "x": rng.normal(size=(n, d)).tolist(),
        "m": 0,
        "gamma": 1.0,
        "alpha": rng.normal(size=k).tolist(),
        "mu": rng.uniform(size=(k, d)).tolist(),
        "q": rng.normal(size=(k, d)).tolist(),
        "l": rng.normal(size=(k, d * (d - 1) // 2)).tolist(),
    }


def prepare(given):
    arrays = [np.array(given[key], dtype=float) for key in (*KEYS, "x")]
    return (*arrays, given["m"], given["gamma"])


def sizes():
    rng = np.random.default_rng(31337)
    cases = [(2, 5), (10, 10), (20, 25), (64, 10), (64, 100)]
    return {f"{d}_{k}_1000": given(rng, d, k, 1000) for d, k in cases}


EVAL = Eval(
    prepare=prepare,
    functions=functions,
    output=output,
    example=lambda rng: given(rng, 3, 2, 4) | {"m": 1, "gamma": 1.5},
    derivative="jacobian",
    sizes=sizes,
)
