"""Pseudoinverses with their rounding errors, for corrected kernels.

With V the right singular vectors over the singular values and B = A V, computed with twice the digits, the columns
of B are orthonormal up to the roundings of the library: so E = I - B'B is small, and what V is off does not matter. Of as many
columns as the rank, the pseudoinverse is V (I + E + E E + ...) B'. Matrices with more columns than rows are transposed. Of
lower rank, with G = A' - A'A P, Q = I - P A, H = Q A' and D = P P' G, it differs from P by D - D A P + H P' P - Q Q P, to
first order: the last terms are the part of P outside the rows and columns of A. The singular values that the library counts
as 0 count as 0.

Reference: A. Bjorck, Numerical Methods for Least Squares Problems (1996), sections 2.9 and 6.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Matrix = Any
Pair = tuple[Any, Any]
"""Sums of two numbers."""

UNIT = 2.0**-50
"""Roundings of a product, and squared, of one with twice the digits."""
SPLIT = 2.0**27 + 1


def corrected_pseudoinverse(a: Matrix, least: Matrix, da: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """The pseudoinverse, its correction where `a` is off by `da`, and the remainder of that."""
    p = np.linalg.pinv(a, least[0])
    with np.errstate(all="ignore"):
        if a.shape[0] < a.shape[1]:
            rest, left = (part.T for part in _of_tall(a.T, least[0], p.T, da.T))
        else:
            rest, left = _of_tall(a, least[0], p, da)
        return *_renormalised(p, rest), left


def _of_tall(a: Matrix, least: Any, p: Matrix, da: Matrix) -> tuple[Matrix, Matrix]:
    if not a.size or not np.isfinite(a).all():
        return np.zeros(p.shape), np.full(p.shape, np.inf)
    _, sizes, right = np.linalg.svd(a, full_matrices=False)
    if sizes[-1] > least * sizes[0]:
        return _of_full(a, p, da, right.T / sizes)
    return _of_lower(a, p, da)


def _of_full(a: Matrix, p: Matrix, da: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
    one = np.eye(a.shape[1])
    b, low = _less(0 * a, a, -v)
    low = low + da @ v
    e = sum(_less(one, b.T, b)) - (low.T @ b + b.T @ low)
    rest = -sum(_less(p, v, b.T)) + v @ (low.T + (e + e @ e + e @ e @ e) @ b.T)
    sizes, columns, roundings = abs(v), abs(b.T), abs(a) @ abs(v)
    inside = 4 * abs(e @ e @ e @ e) + UNIT * abs(e) + UNIT**2 * (columns @ roundings)
    return rest, sizes @ (inside @ columns + UNIT**2 * roundings.T)


def _of_lower(a: Matrix, p: Matrix, da: Matrix) -> tuple[Matrix, Matrix]:
    square, low = _less(np.zeros((a.shape[1],) * 2), a.T, -a)
    low = low + da.T @ a + a.T @ da
    g = sum(_less(a.T, square, p)) + (da.T - low @ p)
    q, low = _less(np.eye(a.shape[1]), p, a)
    low = low - p @ da
    h = sum(_less(0 * p, q, -a.T)) + low @ a.T + q @ da.T
    qp = sum(_less(0 * p, q, -p)) + low @ p
    d = p @ p.T @ g
    rest = d - d @ a @ p + h @ p.T @ p - q @ qp
    second = (rest @ p.T + p @ rest.T) @ g, h @ rest.T @ p + h @ p.T @ rest, rest @ a @ rest
    b, x = abs(a), abs(p)
    rounded = x @ x.T @ abs(g) + abs(h) @ x.T @ x
    return rest, 4 * sum(map(abs, second)) + UNIT * rounded + UNIT**2 * (x @ x.T @ (b.T @ b) @ x)


# ------------------------------------------------------------------ twice the digits
def _less(y: Matrix, a: Matrix, x: Matrix) -> Pair:
    """Y - A X, by the shorter of the loops over its rows and over its terms."""
    if a.shape[1] > len(y):
        rows = [_sum(_product(-row[:, None], x)) for row in a]
        total = np.array([s[0] for s in rows]), np.array([s[1] for s in rows])
        return _sum_of_pairs((y, np.zeros(y.shape)), total)
    total = y, np.zeros(y.shape)
    for k in range(a.shape[1]):
        total = _sum_of_pairs(total, _product(-a[:, k, None], x[k]))
    return total


def _sum(terms: Pair) -> Pair:
    """The sum over the first axis, of halves."""
    while len(terms[0]) > 1:
        n = len(terms[0])
        both = _sum_of_pairs(
            (terms[0][: n // 2], terms[1][: n // 2]),
            (terms[0][n // 2 : n - n % 2], terms[1][n // 2 : n - n % 2]),
        )
        high, low = (np.concatenate([t, u[n - n % 2 :]]) for t, u in zip(both, terms, strict=True))
        terms = high, low
    return terms[0][0], terms[1][0]


def _sum_of_pairs(x: Pair, y: Pair) -> Pair:
    total = x[0] + y[0]
    part = total - x[0]
    low = (x[0] - (total - part)) + (y[0] - part)
    return _renormalised(total, low + (x[1] + y[1]))


def _renormalised(high: Matrix, low: Matrix) -> Pair:
    total = high + low
    return total, low - (total - high)


def _product(x: Matrix, y: Matrix) -> Pair:
    (a, b), (c, d) = _halves(x), _halves(y)
    p = x * y
    return p, ((a * c - p) + a * d + b * c) + b * d


def _halves(x: Matrix) -> Pair:
    part = SPLIT * x
    high = part - (part - x)
    return high, x - high


__all__ = ["corrected_pseudoinverse"]
