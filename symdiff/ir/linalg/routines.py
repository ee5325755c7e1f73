"""Routines of libraries that programs call: one table entry each.

An entry computes the results with NumPy, and in ball arithmetic as the reference, and
writes the statements of its derivatives: tangents of the results from those of the
arguments (jvp), and cotangents the other way (vjp). The rules are those of Giles,
Collected matrix derivative results for forward and reverse mode algorithmic
differentiation (2008). As in NumPy, `cholesky` and `eigh` read the lower triangle of
their argument only, so the derivative by the elements above it is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symdiff.ir import HALF, ONE, ZERO, Expr, and_, eq, lt, where
from symdiff.ir.linalg import reference as algebra
from symdiff.ir.linalg.derivatives import Routine, Writer, over_gap, result_of
from symdiff.ir.linalg.discrete_fourier import TRANSFORMS
from symdiff.ir.linalg.svd import DIFFERENCE, PINV, SVD
from symdiff.ir.loop_program import Call, Type, array, load, name_of


# ------------------------------------------------------------------------- products
def _matmul_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    (a, b), (da, db) = s.args, dots
    return [w.plus(w.times(da, b), w.times(a, db))]


def _matmul_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    (a, b), (c,) = s.args, bars
    if len(w.shape(a)) == 1:
        return [w.times(b, c), w.outer(a, c)]
    return [w.outer(c, b), w.times(w.transposed(a), c)]


# -------------------------------------------------------------------- linear systems
def _solve_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    (a, b), (da, db), x = s.args, dots, result_of(s)
    right = w.plus(db, w.minus(w.times(da, x)))
    return [ZERO if right is ZERO else w.call("solve", w.shape(b), a, right)]


def _solve_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    (a, b), x = s.args, result_of(s)
    right = w.call("solve", w.shape(b), w.transposed(a), bars[0])
    return [w.minus(w.outer(right, x)), right]


def _inv_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    c = result_of(s)
    return [w.minus(w.times(w.times(c, dots[0]), c))]


def _inv_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    t = w.transposed(result_of(s))
    return [w.minus(w.times(w.times(t, bars[0]), t))]


# ---------------------------------------------------------------------- determinants
def _det_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO]
    cofactors = w.call("cofactors", w.shape(s.args[0]), s.args[0])
    return [w.trace_of_product(w.transposed(cofactors), dots[0])]


def _det_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    cofactors = w.call("cofactors", w.shape(s.args[0]), s.args[0])
    return [w.build(w.shape(cofactors), lambda i, j: bars[0] * load(cofactors, i, j))]


def _cofactors_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    return [ZERO if dots[0] is ZERO else _slopes(w, s.args[0], dots[0])]


def _cofactors_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    return [_slopes(w, s.args[0], bars[0])]  # second derivatives are symmetric


def _slopes(w: Writer, a: Expr, d: Expr) -> Expr:
    return w.call("cofactor_slopes", w.shape(a), a, d)


def _cofactor_slopes_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    (a, d), (da, dd) = s.args, dots
    return [w.plus(_slopes_by(w, a, d, da), ZERO if dd is ZERO else _slopes(w, a, dd))]


def _cofactor_slopes_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    (a, d), bar = s.args, bars[0]
    return [_slopes_by(w, a, d, bar), _slopes(w, a, bar)]  # third derivatives are symmetric


def _slopes_by(w: Writer, a: Expr, d: Expr, da: Expr) -> Expr:
    """With T the transposed inverse the slopes are C tr(T' D) - C D' T, and dT = -T dA' T."""
    if da is ZERO:
        return ZERO
    shape = w.shape(a)
    t, c = w.transposed(w.call("inv", shape, a)), w.call("cofactors", shape, a)
    dc, dt = _slopes(w, a, da), w.minus(w.times(w.times(t, w.transposed(da)), t))
    size, change = (w.trace_of_product(w.transposed(m), d) for m in (t, dt))
    turned = w.transposed(d)
    other = w.plus(w.times(w.times(dc, turned), t), w.times(w.times(c, turned), dt))
    return w.build(
        shape, lambda i, j: size * load(dc, i, j) + change * load(c, i, j) - load(other, i, j)
    )


def _slogdet_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO, ZERO]
    inverse = w.call("inv", w.shape(s.args[0]), s.args[0])
    return [ZERO, w.trace_of_product(inverse, dots[0])]


def _slogdet_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    if bars[1] is ZERO:
        return [ZERO]
    inverse = w.call("inv", w.shape(s.args[0]), s.args[0])
    return [w.build(w.shape(inverse), lambda i, j: bars[1] * load(inverse, j, i))]


# -------------------------------------------------------------------- factorisations
def _half(w: Writer, a: Expr) -> Expr:
    """The lower triangle, with half of the diagonal."""
    at = lambda i, j: where(eq(i, j), HALF, where(lt(j, i), ONE, ZERO)) * load(a, i, j)
    return w.build(w.shape(a), at)


def _cholesky_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO]
    factor = result_of(s)
    left = w.call("solve", w.shape(factor), factor, w.symmetric(dots[0]))
    both = w.call("solve", w.shape(factor), factor, w.transposed(left))
    return [w.times(factor, _half(w, both))]


def _cholesky_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    """Half of P + P' with P = inv(L)' half(L' Lbar) inv(L)."""
    factor = result_of(s)
    turned = w.transposed(factor)
    inside = _half(w, w.times(turned, bars[0]))
    left = w.call("solve", w.shape(factor), turned, inside)
    p = w.call("solve", w.shape(factor), turned, w.transposed(left))
    mean = w.build(w.shape(p), lambda i, j: HALF * (load(p, i, j) + load(p, j, i)))
    return [w.lower(mean)]


def _gaps(w: Writer, values: Expr, k: Expr, part: Expr) -> Expr:
    """part[i, j]/(w[j] - w[i]), of rotations by k."""

    def at(i: Expr, j: Expr) -> Expr:
        none = and_(eq(load(k, i, j), ZERO), eq(load(k, j, i), ZERO))
        found = over_gap(load(part, i, j), load(values, j) - load(values, i), none)
        return where(eq(i, j), ZERO, found)

    return w.build(w.shape(k), at)


def _eigh_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO, ZERO]
    values, vectors = result_of(s), result_of(s, 1)
    k = w.times(w.times(w.transposed(vectors), w.symmetric(dots[0])), vectors)
    first = w.build(w.shape(values), lambda i: load(k, i, i))
    return [first, w.times(vectors, _gaps(w, values, k, k))]


def _eigh_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    values, vectors = result_of(s), result_of(s, 1)
    wbar, vbar = bars
    turned = w.transposed(vectors)
    inside = ZERO
    if vbar is not ZERO:
        k = w.times(turned, vbar)
        odd = w.build(w.shape(k), lambda i, j: HALF * (load(k, i, j) - load(k, j, i)))
        inside = _gaps(w, values, k, odd)
    if wbar is not ZERO:
        diagonal = lambda i, j: where(eq(i, j), load(wbar, i), ZERO)
        inside = w.plus(inside, w.build(w.shape(vectors), diagonal))
    return [w.lower(w.times(w.times(vectors, inside), turned))]


# --------------------------------------------------------------------------- sorting
def _nothing(w: Writer, s: Call, given: list[Expr]) -> list[Expr]:
    return [ZERO]


def _sort_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO]
    order = _order(w, s)
    return [w.build(w.shape(s.args[0]), lambda i: load(dots[0], load(order, i)))]


def _sort_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    """The rank of an element is its place in the order of the order."""
    order = _order(w, s)
    t = w.types[name_of(order)]
    ranks = array(w.fresh("ranks", t), "i")
    w.out.append(Call("argsort", ((name_of(ranks), t),), (order,)))
    return [w.build(w.shape(s.args[0]), lambda i: load(bars[0], load(ranks, i)))]


def _order(w: Writer, s: Call) -> Expr:
    t = Type(w.shape(s.args[0]), "i")
    name = w.fresh("order", t)
    w.out.append(Call("argsort", ((name, t),), s.args))
    return array(name, "i")


def _cofactors(a: Any) -> tuple[Any]:
    """From singular values, so that singular matrices have them too."""
    u, sizes, v = np.linalg.svd(a)
    others = [np.prod(np.delete(sizes, i)) for i in range(len(sizes))]
    sign = np.linalg.det(u) * np.linalg.det(v)
    return (np.round(sign) * (u * np.array(others)) @ v,)


def _cofactor_slopes(a: Any, d: Any) -> tuple[Any]:
    """The derivative of the matrix of cofactors along d, from singular values."""
    u, sizes, v = np.linalg.svd(a)
    along = u.T @ d @ v.T
    n = len(sizes)
    others = np.array([[np.prod(np.delete(sizes, [i, j])) for j in range(n)] for i in range(n)])
    others = others.reshape(n, n) * (1 - np.eye(n))
    sign = np.round(np.linalg.det(u) * np.linalg.det(v))
    return (sign * u @ (np.diag(others @ np.diag(along)) - others * along.T) @ v,)


ROUTINES: dict[str, Routine] = {
    "matmul": Routine(
        lambda a, b: (a @ b,), algebra.matmul, _matmul_jvp, _matmul_vjp, "{0} @ {1}"
    ),
    "solve": Routine(
        lambda a, b: (np.linalg.solve(a, b),), algebra.solve, _solve_jvp, _solve_vjp,
        "np.linalg.solve({0}, {1})",
    ),
    "inv": Routine(
        lambda a: (np.linalg.inv(a),), algebra.inv, _inv_jvp, _inv_vjp, "np.linalg.inv({0})"
    ),
    "det": Routine(
        lambda a: (np.linalg.det(a),), algebra.det, _det_jvp, _det_vjp, "np.linalg.det({0})"
    ),
    "cofactors": Routine(
        _cofactors, algebra.cofactors, _cofactors_jvp, _cofactors_vjp, "_cofactors({0})"
    ),
    "cofactor_slopes": Routine(
        _cofactor_slopes, algebra.cofactor_slopes, _cofactor_slopes_jvp, _cofactor_slopes_vjp,
        "_cofactor_slopes({0}, {1})",
    ),
    "slogdet": Routine(
        lambda a: tuple(np.linalg.slogdet(a)), algebra.slogdet, _slogdet_jvp, _slogdet_vjp,
        "np.linalg.slogdet({0})",
    ),
    "cholesky": Routine(
        lambda a: (np.linalg.cholesky(a),), algebra.cholesky, _cholesky_jvp, _cholesky_vjp,
        "np.linalg.cholesky({0})",
    ),
    "eigh": Routine(
        lambda a: tuple(np.linalg.eigh(a)), algebra.eigh, _eigh_jvp, _eigh_vjp,
        "np.linalg.eigh({0})",
    ),
    "argsort": Routine(
        lambda a: (np.argsort(a, kind="stable"),), algebra.argsort, _nothing, _nothing,
        'np.argsort({0}, kind="mergesort")',
    ),
    "argsort_rows": Routine(
        lambda a: (np.argsort(a, axis=-1, kind="stable"),), algebra.argsort_rows,
        _nothing, _nothing, "_argsort_rows({0})",
    ),
    "svd": SVD,
    "pinv": PINV,
    "difference": DIFFERENCE,
    **TRANSFORMS,
    "sort": Routine(
        lambda a: (np.sort(a),), algebra.sort, _sort_jvp, _sort_vjp, "np.sort({0})"
    ),
}  # fmt: skip
"""Every routine, by its name."""

__all__ = ["ROUTINES", "Writer"]
