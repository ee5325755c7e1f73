"""Recurrences with values and adjoints by hand, in Numba, as `arrays.py` and `memory.py`
compare with.

An adjoint by hand keeps what the derivative needs and nothing else: one array of states
where it needs the states. Loops over a hidden state run over its elements innermost, so
that they are SIMD.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np


@dataclass(frozen=True)
class Recurrence:
    """A function that carries a state through a loop.

    Attributes
    ----------
    fun : the function.
    wrt : the parameters of its gradient.
    make : its arguments, for a number of steps.
    steps : how many there are.
    saved : bytes of the state that its derivative needs of each step.
    value, gradient : the same by hand; the gradient is a tuple if it is by several.
    """

    fun: Callable[..., Any]
    wrt: str | tuple[str, ...]
    make: Callable[[int], tuple[Any, ...]]
    steps: int
    saved: int
    value: Callable[..., Any]
    gradient: Callable[..., Any]


def fast(fun: Callable[..., Any]) -> Callable[..., Any]:
    return numba.njit(error_model="numpy")(fun)


# --------------------------------------------------------------------- one number
def ewma(d):
    e = 0.0
    for i in range(len(d)):
        e = 0.5 * d[i] + 0.5 * e
    return e


@fast
def ewma_gradient(d):
    g, bar = np.empty_like(d), 1.0
    for i in range(len(d) - 1, -1, -1):
        bar *= 0.5
        g[i] = bar
    return g


def blending(d):
    e = 0.0
    for i in range(len(d)):
        e = (1 - e) * d[i] + e
    return e**2


@fast
def blending_gradient(d):
    states, e = np.empty_like(d), 0.0
    for i in range(len(d)):
        states[i] = e
        e = (1 - e) * d[i] + e
    g, bar = np.empty_like(d), 2 * e
    for i in range(len(d) - 1, -1, -1):
        g[i] = (1 - states[i]) * bar
        bar *= 1 - d[i]
    return g


def sines(d):
    e = 0.1
    for i in range(len(d)):
        e = np.sin(e) + d[i]
    return e


@fast
def sines_gradient(d):
    states, e = np.empty_like(d), 0.1
    for i in range(len(d)):
        states[i] = e
        e = np.sin(e) + d[i]
    g, bar = np.empty_like(d), 1.0
    for i in range(len(d) - 1, -1, -1):
        g[i] = bar
        bar *= np.cos(states[i])
    return g


def damped(d):
    e = 0.1
    for i in range(len(d)):
        e = np.sin(e) + d[i] * e
    return e


@fast
def damped_gradient(d):
    states, e = np.empty_like(d), 0.1
    for i in range(len(d)):
        states[i] = e
        e = np.sin(e) + d[i] * e
    g, bar = np.empty_like(d), 1.0
    for i in range(len(d) - 1, -1, -1):
        g[i] = states[i] * bar
        bar *= np.cos(states[i]) + d[i]
    return g


# ------------------------------------------------------------------------ a vector
def rnn(W, U, x):
    h = np.zeros(W.shape[0])
    for t in range(len(x)):
        h = np.tanh(W @ h + U * x[t])
    return np.sum(h)


@fast
def rnn_value(W, U, x):
    columns, n = W.T.copy(), len(U)
    h, s = np.zeros(n), np.zeros(n)
    for t in range(len(x)):
        for i in range(n):
            s[i] = U[i] * x[t]
        for j in range(n):
            for i in range(n):
                s[i] += columns[j, i] * h[j]
        for i in range(n):
            h[i] = np.tanh(s[i])
    return np.sum(h)


@fast
def rnn_gradient(W, U, x):
    columns, n = W.T.copy(), len(U)
    states = np.zeros((len(x) + 1, n))
    for t in range(len(x)):
        h, s = states[t], states[t + 1]
        for i in range(n):
            s[i] = U[i] * x[t]
        for j in range(n):
            for i in range(n):
                s[i] += columns[j, i] * h[j]
        for i in range(n):
            s[i] = np.tanh(s[i])
    by_W, by_U, by_x = np.zeros((n, n)), np.zeros(n), np.empty(len(x))
    bar, inner = np.ones(n), np.zeros(n)
    for t in range(len(x) - 1, -1, -1):
        h, s = states[t], states[t + 1]
        total = 0.0
        for i in range(n):
            inner[i] = bar[i] * (1 - s[i] * s[i])
            by_U[i] += inner[i] * x[t]
            total += inner[i] * U[i]
            bar[i] = 0.0
        by_x[t] = total
        for i in range(n):
            for j in range(n):
                by_W[i, j] += inner[i] * h[j]
                bar[j] += W[i, j] * inner[i]
    return by_W, by_U, by_x


# ------------------------------------------------------------------------- the cases
def uniform(n: int) -> tuple[Any, ...]:
    return (np.random.default_rng(0).random(n),)


def normal(n: int) -> tuple[Any, ...]:
    """Adjoints that shrink reach 0 with these; slow changes leave them subnormal for ever."""
    return (0.5 * np.random.default_rng(0).normal(size=n),)


def network(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return 0.25 * rng.normal(size=(16, 16)), rng.normal(size=16), rng.normal(size=n)


RECURRENCES = {
    "ewma": Recurrence(ewma, "d", uniform, 10**6, 0, fast(ewma), ewma_gradient),
    "blending": Recurrence(blending, "d", uniform, 10**6, 8, fast(blending), blending_gradient),
    "sines": Recurrence(sines, "d", normal, 10**6, 8, fast(sines), sines_gradient),
    "rnn": Recurrence(rnn, ("W", "U", "x"), network, 10**5, 128, rnn_value, rnn_gradient),
    "damped": Recurrence(damped, "d", normal, 10**7, 8, fast(damped), damped_gradient),
}
