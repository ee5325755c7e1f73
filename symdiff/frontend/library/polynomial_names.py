"""NumPy's polynomials in terms of its other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.frontend.library.primitives import rows

ArrayLike = Any


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Any:
    n = len(x) if N is None else N
    powers = np.arange(n)
    return x[:, None] ** (powers if increasing else n - 1 - powers)


def polyder(p: ArrayLike, m: int = 1) -> Any:
    p = np.asarray(p)
    for _ in range(m):
        n = len(p)
        p = p[:-1] * np.arange(n - 1, 0, -1)
    return p


def polyint(p: ArrayLike, m: int = 1, k: Any = 0.0) -> Any:
    if np.ndim(k) > 0 or m > 1:
        raise ValueError("np.polyint() once, with a number as its constant")
    return np.concatenate([p / np.arange(len(p), 0, -1), np.full(1, k)])


def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int, rcond: Any = None, full: bool = False, w: Any = None,
    cov: bool = False,
) -> Any:  # fmt: skip
    if full or cov:
        raise TypeError("polyfit() with full or cov is not supported")
    powers = [np.ones(len(x)) if w is None else np.asarray(w) * 1.0]
    for _ in range(deg):
        powers = [x * powers[0], *powers]
    a = np.stack(powers, axis=1)
    lengths = np.sqrt(np.sum(a * a, axis=0))
    cut = 2.0**-52 * len(x) if rcond is None else rcond
    values = y if w is None else (np.asarray(y).T * w).T
    found = np.linalg.pinv(a / lengths, cut) @ values
    return (found.T / lengths).T


def polymul(a1: ArrayLike, a2: ArrayLike) -> Any:
    return np.convolve(np.asarray(a1), np.asarray(a2))


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Any:
    p, q = np.asarray(a1), np.asarray(a2)
    n = max(p.shape[0], q.shape[0])
    return np.pad(p, (n - p.shape[0], 0)) + np.pad(q, (n - q.shape[0], 0))


def polysub(a1: ArrayLike, a2: ArrayLike) -> Any:
    return polyadd(a1, -np.asarray(a2))


# ------------------------------------------------- coefficients from the lowest degree on
def poly(seq_of_zeros: ArrayLike) -> Any:
    roots = np.atleast_1d(np.asarray(seq_of_zeros))
    if np.ndim(roots) != 1:
        raise TypeError("np.poly() of a matrix is not supported: give it the eigenvalues")
    found = np.zeros(len(roots) + 1, dtype=roots.dtype)
    found[0] = 1
    for k in range(len(roots)):
        found[1:] = found[1:] - roots[k] * found[:-1]
    return found


def polynomial_value(x: Any, c: ArrayLike) -> Any:
    return np.polyval(_vector(c)[::-1], x)


def rising_derivative(c: ArrayLike) -> Any:
    return polyder(_vector(c)[::-1])[::-1]


def rising_integral(c: ArrayLike) -> Any:
    return polyint(_vector(c)[::-1])[::-1]


def rising_sum(c1: ArrayLike, c2: ArrayLike) -> Any:
    return polyadd(_vector(c1)[::-1], _vector(c2)[::-1])[::-1]


def rising_difference(c1: ArrayLike, c2: ArrayLike) -> Any:
    return polysub(_vector(c1)[::-1], _vector(c2)[::-1])[::-1]


def powers(x: ArrayLike, deg: int) -> Any:
    """`np.polynomial.polynomial.polyvander`."""
    return np.asarray(x)[..., None] ** np.arange(deg + 1)


def _vector(c: ArrayLike) -> Any:
    values = np.asarray(c)
    if np.ndim(values) != 1:
        raise ValueError("coefficients of several polynomials at once")
    return values


# ------------------------------------------------------------- orthogonal polynomials
def _clenshaw(x: Any, c: ArrayLike, step: Any, over: Any) -> tuple[Any, Any, Any]:
    """The first coefficient, and the last two sums of Clenshaw's recurrence, for polynomials with
    p[k + 1] = step(k)*p[k] + over(k)*p[k - 1]."""
    values = _vector(c)
    b, before = 0.0 * x, 0.0 * x
    for i in range(values.shape[0] - 1):
        k = values.shape[0] - 1 - i
        b, before = values[k] + step(k) * b + over(k + 1) * before, b
    return values[0], b, before


def chebval(x: Any, c: ArrayLike) -> Any:
    t = np.asarray(x) * 1.0
    first, b, before = _clenshaw(t, c, lambda k: 2 * t, lambda k: -1.0)
    return first + t * b - before


def legval(x: Any, c: ArrayLike) -> Any:
    t = np.asarray(x) * 1.0
    first, b, before = _clenshaw(t, c, lambda k: (2 * k + 1) / (k + 1) * t, lambda k: -k / (k + 1))
    return first + t * b - 0.5 * before


def hermval(x: Any, c: ArrayLike) -> Any:
    t = np.asarray(x) * 1.0
    first, b, before = _clenshaw(t, c, lambda k: 2 * t, lambda k: -2.0 * k)
    return first + 2 * t * b - 2 * before


def hermeval(x: Any, c: ArrayLike) -> Any:
    t = np.asarray(x) * 1.0
    first, b, before = _clenshaw(t, c, lambda k: t, lambda k: -1.0 * k)
    return first + t * b - before


def lagval(x: Any, c: ArrayLike) -> Any:
    t = np.asarray(x) * 1.0
    first, b, before = _clenshaw(t, c, lambda k: (2 * k + 1 - t) / (k + 1), lambda k: -k / (k + 1))
    return first + (1 - t) * b - 0.5 * before


TABLE = (
    rows("numpy", 1, vander, poly, polyder, polyint)
    | rows("numpy", 2, polyfit, polymul, polyadd, polysub)
    | rows(
        "numpy.polynomial.polynomial", 2, polymul, polyadd=rising_sum, polysub=rising_difference,
    )
    | rows("numpy.polynomial.polynomial", 1, polyder=rising_derivative, polyint=rising_integral)
    | rows("numpy.polynomial.polynomial", 0, polyval=polynomial_value, polyvander=powers)
    | rows("numpy.polynomial.chebyshev", 0, chebval)
    | rows("numpy.polynomial.legendre", 0, legval)
    | rows("numpy.polynomial.hermite", 0, hermval)
    | rows("numpy.polynomial.hermite_e", 0, hermeval)
    | rows("numpy.polynomial.laguerre", 0, lagval)
)  # fmt: skip
"""Like `composed.TABLE`."""
