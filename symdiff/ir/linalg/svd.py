"""Singular values and pseudoinverses, with their derivatives.

The rules hold for matrices of full rank (Golub and Pereyra, The differentiation of
pseudo-inverses and nonlinear least squares problems whose variables separate, SIAM Journal on
Numerical Analysis 10, 1973; Giles 2008 for singular values). Where singular values are equal
the derivative of the vectors counts as zero, as that of eigenvectors does.
"""

from __future__ import annotations

import numpy as np

from symdiff.ir import ZERO, Expr, eq, where
from symdiff.ir.linalg import reference as algebra
from symdiff.ir.linalg.derivatives import Routine, Writer, result_of
from symdiff.ir.loop_program import Call, load


# ------------------------------------------------------------------ pseudoinverses
def _rest(w: Writer, a: Expr, p: Expr) -> Expr:
    """I - A P, which projects onto what A does not reach."""
    product = w.times(a, p)
    at = lambda i, j: where(eq(i, j), 1, ZERO) - load(product, i, j)
    return w.build(w.shape(product), at)


def _pinv_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    """dP = -P dA P + P P' dA' (I - A P) + (I - P A) dA' P' P."""
    a, p, d = s.args[0], result_of(s), dots[0]
    if d is ZERO:
        return [ZERO]
    turned, back = w.transposed(d), w.transposed(p)
    first = w.minus(w.times(w.times(p, d), p))
    second = w.times(w.times(w.times(p, back), turned), _rest(w, a, p))
    third = w.times(w.times(_rest(w, p, a), turned), w.times(back, p))
    return [w.plus(first, w.plus(second, third))]


def _pinv_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    """The transposed of the map above."""
    a, p, bar = s.args[0], result_of(s), bars[0]
    turned, back = w.transposed(bar), w.transposed(p)
    first = w.minus(w.times(w.times(back, bar), back))
    second = w.times(w.times(_rest(w, a, p), turned), w.times(p, back))
    third = w.times(w.times(w.times(back, p), turned), _rest(w, p, a))
    return [w.plus(first, w.plus(second, third))]


# ----------------------------------------------------------------- singular values
def _gaps(w: Writer, sizes: Expr, k: Expr) -> Expr:
    """k[i, j]/(s[j]**2 - s[i]**2), and 0 for equal ones."""

    def at(i: Expr, j: Expr) -> Expr:
        x, y = load(sizes, i), load(sizes, j)
        gap = (y - x) * (y + x)
        return where(eq(i, j), ZERO, where(eq(gap, ZERO), ZERO, load(k, i, j) / gap))

    return w.build(w.shape(k), at)


def _columns(w: Writer, a: Expr, sizes: Expr, over: bool = False) -> Expr:
    """The columns of a matrix times (or over) the singular values."""

    def at(i: Expr, j: Expr) -> Expr:
        return load(a, i, j) / load(sizes, j) if over else load(a, i, j) * load(sizes, j)

    return w.build(w.shape(a), at)


def _beside(w: Writer, u: Expr, a: Expr) -> Expr:
    """(I - U U') A, the part of columns that orthonormal columns do not reach."""
    return w.plus(a, w.minus(w.times(u, w.times(w.transposed(u), a))))


def _svd_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO, ZERO, ZERO]
    u, sizes, right = result_of(s), result_of(s, 1), result_of(s, 2)
    v, d = w.transposed(right), dots[0]
    p = w.times(w.times(w.transposed(u), d), v)
    first = w.build(w.shape(sizes), lambda i: load(p, i, i))
    turned = w.transposed(p)
    left = w.plus(_columns(w, p, sizes), w.transposed(_columns(w, p, sizes)))
    other = w.plus(w.transposed(_columns(w, turned, sizes)), _columns(w, turned, sizes))
    du = w.plus(
        w.times(u, _gaps(w, sizes, left)),
        _columns(w, _beside(w, u, w.times(d, v)), sizes, over=True),
    )
    dv = w.plus(
        w.times(v, _gaps(w, sizes, other)),
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
    if ubar is not ZERO:
        k = w.times(w.transposed(u), ubar)
        inside = _gaps(w, sizes, _odd(w, k))
        turning = w.times(w.times(u, _columns(w, inside, sizes)), right)
        beside = w.times(_columns(w, _beside(w, u, ubar), sizes, over=True), right)
        found = w.plus(found, w.plus(turning, beside))
    if rightbar is not ZERO:
        vbar = w.transposed(rightbar)
        k = w.times(right, vbar)
        inside = w.transposed(_columns(w, w.transposed(_gaps(w, sizes, _odd(w, k))), sizes))
        turning = w.times(w.times(u, inside), right)
        beside = _columns(w, _beside(w, v, vbar), sizes, over=True)
        found = w.plus(found, w.plus(turning, w.times(u, w.transposed(beside))))
    return [found]


def _odd(w: Writer, k: Expr) -> Expr:
    """K - K'."""
    return w.build(w.shape(k), lambda i, j: load(k, i, j) - load(k, j, i))


PINV = Routine(
    lambda a: (np.linalg.pinv(a),), algebra.pinv, _pinv_jvp, _pinv_vjp, "np.linalg.pinv({0})"
)
SVD = Routine(
    lambda a: tuple(np.linalg.svd(a, full_matrices=False)), algebra.svd, _svd_jvp, _svd_vjp,
    "np.linalg.svd({0}, False)",
)  # fmt: skip
