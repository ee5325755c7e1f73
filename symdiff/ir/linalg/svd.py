"""Singular values and pseudoinverses, with their derivatives.

The rules hold for matrices of full rank (Golub and Pereyra, The differentiation of
pseudo-inverses and nonlinear least squares problems whose variables separate, SIAM Journal on
Numerical Analysis 10, 1973; Giles 2008 for singular values). Where singular values are equal
the derivative of the vectors is nan if anything depends on it, as that of eigenvectors is.
"""

from __future__ import annotations

import numpy as np

from symdiff.ir import HALF, ONE, ZERO, Expr, and_, eq, lt, raw, where
from symdiff.ir.linalg import reference as algebra
from symdiff.ir.linalg.derivatives import Routine, Writer, over_gap, result_of
from symdiff.ir.loop_program import REAL_OF, Call, load


# ------------------------------------------------------------------ pseudoinverses
def _left_of(w: Writer, y: Expr, a: Expr, x: Expr) -> Expr:
    """Y - A X."""
    return w.call("difference", w.shape(y), y, a, x)


def _unless_full(w: Writer, reached: Expr, size: Expr, part: Expr) -> Expr:
    """The part of rows or columns that a matrix does not reach: zero if its rank is their number.
    The rank is the trace of the projection P A."""
    n = w.shape(reached)[0]
    rank = w.total(n, lambda i: load(reached, i, i))
    full = lt(raw(REAL_OF, (size,)), rank + HALF)
    return w.build(w.shape(part), lambda i, j: where(full, ZERO, load(part, i, j)))


def _pinv_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    """dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P."""
    a, p, d = s.args[0], result_of(s), dots[0]
    if d is ZERO:
        return [ZERO]
    turned, back, reached = w.transposed(d), w.transposed(p), w.times(p, a)
    first = w.minus(w.times(w.times(p, d), p))
    y = w.times(w.times(p, back), turned)
    second = _unless_full(w, reached, w.shape(a)[0], _left_of(w, y, w.times(y, a), p))
    y = w.times(w.times(turned, back), p)
    third = _unless_full(w, reached, w.shape(a)[1], _left_of(w, y, reached, y))
    return [w.plus(first, w.plus(second, third))]


def _pinv_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    """The transposed of the map above. No matrix has as many columns as A has rows."""
    a, p, bar = s.args[0], result_of(s), bars[0]
    turned, back, reached = w.transposed(bar), w.transposed(p), w.times(p, a)
    first = w.minus(w.times(back, w.times(bar, back)))
    y = w.times(turned, w.times(p, back))
    second = _unless_full(w, reached, w.shape(a)[0], _left_of(w, y, a, w.times(p, y)))
    y = w.times(back, w.times(p, turned))
    third = _unless_full(w, reached, w.shape(a)[1], _left_of(w, y, y, reached))
    return [w.plus(first, w.plus(second, third)), ZERO]


def _difference_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    (_, a, x), (dy, da, dx) = s.args, dots
    return [w.plus(dy, w.minus(w.plus(w.times(da, x), w.times(a, dx))))]


def _difference_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    (_, a, x), (bar,) = s.args, bars
    by_a, by_x = w.times(bar, w.transposed(x)), w.times(w.transposed(a), bar)
    return [bar, w.minus(by_a), w.minus(by_x)]


# ----------------------------------------------------------------- singular values
def _rotated(w: Writer, sizes: Expr, both: Expr, apart: Expr) -> Expr:
    """The odd parts of `both` over s[j] - s[i], plus those of `apart` over s[j] + s[i], halved."""

    def at(i: Expr, j: Expr) -> Expr:
        x, y = load(sizes, i), load(sizes, j)
        one, other = load(both, i, j), load(both, j, i)
        none = and_(eq(one, ZERO), eq(other, ZERO))
        beside = eq(load(apart, i, j), load(apart, j, i))
        found = over_gap(one - other, y - x, none)
        found = found + over_gap(load(apart, i, j) - load(apart, j, i), y + x, beside)
        return where(eq(i, j), ZERO, HALF * found)

    return w.build(w.shape(both), at)


def _rotations(w: Writer, sizes: Expr, p: Expr, sign: Expr) -> Expr:
    """The even part of p over s[j] - s[i], plus or minus the odd part over s[j] + s[i]."""

    def at(i: Expr, j: Expr) -> Expr:
        x, y = load(sizes, i), load(sizes, j)
        even, odd = load(p, i, j) + load(p, j, i), load(p, i, j) - load(p, j, i)
        found = over_gap(even, y - x, eq(even, ZERO))
        return where(eq(i, j), ZERO, HALF * (found + sign * over_gap(odd, y + x, eq(odd, ZERO))))

    return w.build(w.shape(p), at)


def _columns(w: Writer, a: Expr, sizes: Expr, over: bool = False) -> Expr:
    """The columns of a matrix times (or over) the singular values."""

    def at(i: Expr, j: Expr) -> Expr:
        return load(a, i, j) / load(sizes, j) if over else load(a, i, j) * load(sizes, j)

    return w.build(w.shape(a), at)


def _beside(w: Writer, u: Expr, a: Expr) -> Expr:
    """(I - U U') A, the part of columns outside of the span of orthonormal columns."""
    return w.plus(a, w.minus(w.times(u, w.times(w.transposed(u), a))))


def _svd_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO, ZERO, ZERO]
    u, sizes, right = result_of(s), result_of(s, 1), result_of(s, 2)
    v, d = w.transposed(right), dots[0]
    p = w.times(w.times(w.transposed(u), d), v)
    first = w.build(w.shape(sizes), lambda i: load(p, i, i))
    du = w.plus(
        w.times(u, _rotations(w, sizes, p, ONE)),
        _columns(w, _beside(w, u, w.times(d, v)), sizes, over=True),
    )
    dv = w.plus(
        w.times(v, _rotations(w, sizes, p, -ONE)),
        _columns(w, _beside(w, v, w.times(w.transposed(d), u)), sizes, over=True),
    )
    return [du, first, w.transposed(dv)]


def _svd_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    u, sizes, right = result_of(s), result_of(s, 1), result_of(s, 2)
    v = w.transposed(right)
    ubar, sbar, rightbar = bars
    found = ZERO
    if sbar is not ZERO:
        found = w.times(_columns(w, u, sbar), right)
    of_u, of_v = ZERO, ZERO
    if ubar is not ZERO:
        of_u = w.times(w.transposed(u), ubar)
        beside = w.times(_columns(w, _beside(w, u, ubar), sizes, over=True), right)
        found = w.plus(found, beside)
    if rightbar is not ZERO:
        vbar = w.transposed(rightbar)
        of_v = w.times(right, vbar)
        beside = _columns(w, _beside(w, v, vbar), sizes, over=True)
        found = w.plus(found, w.times(u, w.transposed(beside)))
    if of_u is not ZERO or of_v is not ZERO:
        both, apart = w.plus(of_u, of_v), w.plus(of_u, w.minus(of_v))
        found = w.plus(found, w.times(w.times(u, _rotated(w, sizes, both, apart)), right))
    return [found]


PINV = Routine(
    lambda a, least: (np.linalg.pinv(a, least[0]),),
    algebra.pinv,
    _pinv_jvp,
    _pinv_vjp,
    "np.linalg.pinv({0}, {1}[0])",
)
"""A function of the matrix and of the size, in an array of one, of the singular values that count
as 0, relative to the largest."""
DIFFERENCE = Routine(
    lambda y, a, x: (y - a @ x,),
    algebra.difference,
    _difference_jvp,
    _difference_vjp,
    "{0} - {1} @ {2}",
)
"""The remainder of a matrix after subtracting a product: a routine, as it may consist of roundings only."""
SVD = Routine(
    lambda a: tuple(np.linalg.svd(a, full_matrices=False)), algebra.svd, _svd_jvp, _svd_vjp,
    "np.linalg.svd({0}, False)",
)  # fmt: skip
