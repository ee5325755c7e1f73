"""Equations of Sylvester, Lyapunov and Riccati, and generalised eigenvalues, in terms of NumPy's functions:
plain Python that is traced like a user's, as in `composed`.

Riccati equations are solved by iterations without derivatives, and then by Newton's steps, of
which each doubles how many derivatives are right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows, trace_stop_gradient, traced
from symdiff.frontend.library.scipy.implicit import MINIMA
from symdiff.frontend.trace.tracer import Tracer

ArrayLike = Any

CLOSE = 1e-13
MOST = 60
"""The relative change at which an iteration has converged, and the most iterations."""

STILL = 1e-3
"""The largest change of a solution by Newton's steps, relative to its size."""

ORDERS = 3
"""The number of correct derivatives of solutions of Riccati equations, by two Newton steps."""


def solve_sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> Any:
    """The solution of A X + X B = Q, as a linear system for all of its elements."""
    a, b, q = np.asarray(a), np.asarray(b), np.asarray(q)
    n, m = a.shape[0], b.shape[0]
    left = a[:, None, :, None] * np.eye(m)[None, :, None, :]
    right = np.eye(n)[:, None, :, None] * b.T[None, :, None, :]
    system = np.reshape(left + right, (n * m, n * m))
    return np.reshape(np.linalg.solve(system, np.reshape(q, (n * m,))), (n, m))


def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike) -> Any:
    """The solution of A X + X A^T = Q."""
    return solve_sylvester(a, np.asarray(a).T, q)


def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, method: Any = None) -> Any:
    """The solution of X - A X A^T = Q."""
    a, q = np.asarray(a), np.asarray(q)
    n = a.shape[0]
    both = a[:, None, :, None] * a[None, :, None, :]
    one = np.eye(n)[:, None, :, None] * np.eye(n)[None, :, None, :]
    system = np.reshape(one - both, (n * n, n * n))
    return np.reshape(np.linalg.solve(system, np.reshape(q, (n * n,))), (n, n))


def solve_continuous_are(
    a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: Any = None, s: Any = None,
    balanced: bool = True,
) -> Any:  # fmt: skip
    """The solution by the sign function of the Hamiltonian matrix: Roberts, Int. J. Control 32
    (1980)."""
    if e is not None or s is not None:
        raise TypeError("Riccati's equations with e or s are not supported")
    a, b, q = np.asarray(a) * 1.0, np.asarray(b) * 1.0, np.asarray(q) * 1.0
    n = a.shape[0]
    g = b @ np.linalg.solve(np.asarray(r) * 1.0, b.T)
    upper = np.concatenate([a, -g], axis=1)
    z = detached(np.concatenate([upper, np.concatenate([-q, -a.T], axis=1)], axis=0))
    count, is_open = 0, True
    while is_open and count < MOST:
        scale = detached(np.exp(np.linalg.slogdet(z)[1] / (2 * n)))
        new = detached((z / scale + scale * np.linalg.inv(z)) / 2)
        is_open = np.max(np.abs(new - z)) > CLOSE * np.max(np.abs(new))
        z = new
        count = count + 1
    left = np.concatenate([z[:n, n:], z[n:, n:] + np.eye(n)], axis=0)
    right = np.concatenate([z[:n, :n] + np.eye(n), z[n:, :n]], axis=0)
    start = x = detached(-np.linalg.solve(left.T @ left, left.T @ right))
    for _ in range(2):  # Kleinman's form of Newton's step
        x = solve_continuous_lyapunov((a - g @ x).T, -(q + x @ g @ x))
    return _stabilising(start, x, is_open)


def solve_discrete_are(
    a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: Any = None, s: Any = None,
    balanced: bool = True,
) -> Any:  # fmt: skip
    """The solution by doubling: Chu, Fan, Lin and Wang, Int. J. Control 77 (2004)."""
    if e is not None or s is not None:
        raise TypeError("Riccati's equations with e or s are not supported")
    a, b, q, r = (np.asarray(v) * 1.0 for v in (a, b, q, r))
    n = a.shape[0]
    power, gain, x = detached(a), detached(b @ np.linalg.solve(r, b.T)), detached(q)
    count, is_open = 0, True
    while is_open and count < MOST:
        w = np.eye(n) + gain @ x
        by_power, by_gain = np.linalg.solve(w, power), np.linalg.solve(w, gain)
        more = detached(power.T @ x @ by_power)
        gain = detached(gain + power @ by_gain @ power.T)
        power = detached(power @ by_power)
        x = detached(x + more)
        is_open = np.max(np.abs(more)) > CLOSE * np.max(np.abs(x))
        count = count + 1
    start = x
    for _ in range(2):  # Hewer's form of Newton's step
        k = np.linalg.solve(r + b.T @ x @ b, b.T @ x @ a)
        x = solve_discrete_lyapunov((a - b @ k).T, q + k.T @ r @ k)
    return _stabilising(start, x, is_open)


def _stabilising(start: ArrayLike, x: ArrayLike, is_open: Any) -> Any:
    """The solution; an error if Newton's steps changed the iterated one much."""
    if is_open or not np.max(np.abs(x - start)) <= STILL * np.max(np.abs(x)):
        raise ValueError("Riccati's equation has no stabilising solution")
    return (x + x.T) / 2


@traced
def detached(t: Tracer, x: Any) -> Any:
    """A matrix without derivatives."""
    t.solved(ORDERS, MINIMA)
    return trace_stop_gradient(t, x)


# ------------------------------------------------------------------- eigenvalues
def eigh(
    a: ArrayLike, b: ArrayLike = None, *, lower: bool = True, eigvals_only: bool = False,
    type: int = 1, subset_by_index: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    """Eigenvalues; with `b` those of L^-1 A L^-T, where L is its Cholesky factor."""
    triangle: Any = "L" if lower else "U"
    if b is None:
        values: Any = None
        vectors: Any = None
        if eigvals_only:
            values = np.linalg.eigvalsh(a, triangle)
        else:
            values, vectors = np.linalg.eigh(a, triangle)
    else:
        if type != 1:
            raise TypeError("eigh() of type 2 or 3 is not supported")
        a, b = _symmetric(a, lower), _symmetric(b, lower)
        factor = np.linalg.cholesky(b)
        inner = np.linalg.solve(factor, np.linalg.solve(factor, a).T)
        inner = (inner + inner.T) / 2
        if eigvals_only:
            values, vectors = np.linalg.eigvalsh(inner), None
        else:
            values, vectors = np.linalg.eigh(inner)
            vectors = np.linalg.solve(factor.T, vectors)
    if subset_by_index is not None:
        first, last = subset_by_index
        values = values[first : last + 1]
        vectors = None if vectors is None else vectors[:, first : last + 1]
    return values if eigvals_only else (values, vectors)


def _symmetric(a: ArrayLike, lower: bool) -> Any:
    part = np.tril(a, -1) if lower else np.triu(a, 1)
    return part + part.T + np.diag(np.diag(a))


def eigvalsh(
    a: ArrayLike, b: ArrayLike = None, *, lower: bool = True, type: int = 1,
    subset_by_index: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    return eigh(
        a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index
    )  # fmt: skip


TABLE = (
    rows("scipy.linalg", 1, eigh, eigvalsh)
    | rows("scipy.linalg", 2, solve_continuous_lyapunov, solve_discrete_lyapunov, solve_lyapunov=solve_continuous_lyapunov)
    | rows("scipy.linalg", 3, solve_sylvester)
    | rows("scipy.linalg", 4, solve_continuous_are, solve_discrete_are)
)  # fmt: skip
"""Like `composed.TABLE`."""
