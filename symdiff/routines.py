"""Routines of libraries that programs call: one table entry each.

An entry computes the results with NumPy, and in ball arithmetic as the reference, and
writes the statements of its derivatives: tangents of the results from those of the
arguments (jvp), and cotangents the other way (vjp). The rules are those of Giles,
Collected matrix derivative results for forward and reverse mode algorithmic
differentiation (2008). As in NumPy, `cholesky` and `eigh` read the lower triangle of
their argument only, so the derivative by what is above it is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff import ballalgebra as algebra
from symdiff.ir import HALF, ONE, ZERO, Expr, eq, le, lt, var, where
from symdiff.structure import (
    INTEGER,
    REAL,
    Build,
    Call,
    Carried,
    Loop,
    Statement,
    Type,
    array,
    index,
    load,
    name_of,
)


class Writer:
    """Writes the statements of a rule.

    Parameters
    ----------
    fresh : gives a new name of a type.
    types : of every name.

    Attributes
    ----------
    out : the statements.
    """

    def __init__(self, fresh: Callable[[str, Type], str], types: dict[str, Type]) -> None:
        self.fresh, self.types = fresh, types
        self.out: list[Statement] = []

    def shape(self, a: Expr) -> tuple[Expr, ...]:
        """The shape of an array."""
        return self.types[name_of(a)].shape

    def build(self, shape: Sequence[Expr], value: Callable[..., Expr]) -> Expr:
        """An array from its indices."""
        t = Type(tuple(shape))
        axes = tuple(self.fresh("i", INTEGER) for _ in shape)
        name = self.fresh("part", t)
        self.out.append(Build(name, t, axes, value(*map(index, axes))))
        return array(name)

    def total(self, count: Expr, value: Callable[[Expr], Expr]) -> Expr:
        """The sum of values."""
        i, trips = self.fresh("i", INTEGER), self.fresh("trips", INTEGER)
        start, end = self.fresh("sum", REAL), self.fresh("sum", REAL)
        c = Carried(start, REAL, ZERO, var(start) + value(index(i)), end)
        self.out.append(Loop(i, count, (c,), (), trips))
        return var(end)

    def call(self, routine: str, shape: Sequence[Expr], *args: Expr) -> Expr:
        """The result of a routine that has one."""
        t = Type(tuple(shape))
        name = self.fresh(routine, t)
        self.out.append(Call(routine, ((name, t),), args))
        return array(name) if t.shape else var(name)

    # -------------------------------------------------------------- of matrices
    def plus(self, a: Expr, b: Expr) -> Expr:
        """The sum of arrays; ZERO is one of any shape."""
        if a is ZERO or b is ZERO:
            return b if a is ZERO else a
        return self.build(self.shape(a), lambda *i: load(a, *i) + load(b, *i))

    def minus(self, a: Expr) -> Expr:
        """The negative of an array."""
        return a if a is ZERO else self.build(self.shape(a), lambda *i: -load(a, *i))

    def times(self, a: Expr, b: Expr) -> Expr:
        """The product of two matrices, or of a matrix and a vector."""
        if a is ZERO or b is ZERO:
            return ZERO
        return self.call("matmul", (*self.shape(a)[:-1], *self.shape(b)[1:]), a, b)

    def transposed(self, a: Expr) -> Expr:
        """The transposed matrix."""
        n, m = self.shape(a)
        return self.build((m, n), lambda i, j: load(a, j, i))

    def outer(self, a: Expr, b: Expr) -> Expr:
        """The product of a column of `a` with a row of `b`, summed over further axes."""
        if len(self.shape(a)) == 2:
            return self.times(a, self.transposed(b))
        shape = (*self.shape(a), *self.shape(b))
        return self.build(shape, lambda i, j: load(a, i) * load(b, j))

    def trace_of_product(self, a: Expr, b: Expr) -> Expr:
        """The trace of the product of two square matrices."""
        n = self.shape(a)[0]
        product = self.call("matmul", (n, n), a, b)
        return self.total(n, lambda i: load(product, i, i))

    def symmetric(self, a: Expr) -> Expr:
        """The symmetric matrix of which `a` has the lower triangle."""
        at = lambda i, j: where(le(j, i), load(a, i, j), load(a, j, i))
        return a if a is ZERO else self.build(self.shape(a), at)

    def lower(self, a: Expr) -> Expr:
        """The derivative by the lower triangle, from that by a symmetric matrix."""

        def at(i: Expr, j: Expr) -> Expr:
            below = where(lt(j, i), load(a, i, j) + load(a, j, i), ZERO)
            return where(eq(i, j), load(a, i, i), below)

        return self.build(self.shape(a), at)


Tangents = Callable[[Writer, Call, list[Expr]], list[Expr]]


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine.

    Attributes
    ----------
    numpy : the results, from NumPy arrays and numbers.
    ball : the results in ball arithmetic, from arrays of algebra.
    jvp : tangents of the results, from those of the arguments; ZERO where there is none.
    vjp : cotangents of the arguments, from those of the results; likewise.
    python : how Numba Python writes the call; "" where it cannot. Numba's linear algebra
        needs SciPy.
    """

    numpy: Callable[..., tuple[Any, ...]]
    ball: Callable[..., tuple[Any, ...]]
    jvp: Tangents
    vjp: Tangents
    python: str = ""

    def exact(self, args: Sequence[Any], numbers: Any) -> list[Any]:
        """The results in an arithmetic of `symdiff.interpret.blocks`."""
        if numbers.bits <= 53:
            plain = [np.array(a, float) if np.ndim(a) else a for a in args]
            return [_objects(r, numbers) for r in self.numpy(*plain)]
        return [_objects(r, numbers) for r in self.ball(*args)]


def _objects(value: Any, numbers: Any) -> Any:
    if not np.ndim(value):
        return numbers.real(value)
    if np.asarray(value).dtype.kind in "iu":
        return np.asarray(value)
    result = np.empty(np.shape(value), object)
    for place in np.ndindex(*np.shape(value)):
        result[place] = numbers.real(value[place])
    return result


def _result(s: Call, k: int = 0) -> Expr:
    name, t = s.results[k]
    return array(name, t.kind) if t.shape else var(name)


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
    (a, b), (da, db), x = s.args, dots, _result(s)
    right = w.plus(db, w.minus(w.times(da, x)))
    return [ZERO if right is ZERO else w.call("solve", w.shape(b), a, right)]


def _solve_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    (a, b), x = s.args, _result(s)
    right = w.call("solve", w.shape(b), w.transposed(a), bars[0])
    return [w.minus(w.outer(right, x)), right]


def _inv_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    c = _result(s)
    return [w.minus(w.times(w.times(c, dots[0]), c))]


def _inv_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    t = w.transposed(_result(s))
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
    """C = det(A) T with T the transposed inverse: dC = C tr(T' dA) - C dA' T."""
    a, c, d = s.args[0], _result(s), dots[0]
    if d is ZERO:
        return [ZERO]
    t = w.transposed(w.call("inv", w.shape(a), a))
    size = w.trace_of_product(w.transposed(t), d)
    turned = w.times(w.times(c, w.transposed(d)), t)
    return [w.build(w.shape(a), lambda i, j: size * load(c, i, j) - load(turned, i, j))]


def _cofactors_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    """The transposed of the map above: T tr(C' Cbar) - T Cbar' C."""
    a, c, bar = s.args[0], _result(s), bars[0]
    t = w.transposed(w.call("inv", w.shape(a), a))
    size = w.trace_of_product(w.transposed(c), bar)
    turned = w.times(w.times(t, w.transposed(bar)), c)
    return [w.build(w.shape(a), lambda i, j: size * load(t, i, j) - load(turned, i, j))]


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
    """The lower triangle, and half of the diagonal."""
    at = lambda i, j: where(eq(i, j), HALF, where(lt(j, i), ONE, ZERO)) * load(a, i, j)
    return w.build(w.shape(a), at)


def _cholesky_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO]
    factor = _result(s)
    left = w.call("solve", w.shape(factor), factor, w.symmetric(dots[0]))
    both = w.call("solve", w.shape(factor), factor, w.transposed(left))
    return [w.times(factor, _half(w, both))]


def _cholesky_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    """Half of P + P' with P = inv(L)' half(L' Lbar) inv(L)."""
    factor = _result(s)
    turned = w.transposed(factor)
    inside = _half(w, w.times(turned, bars[0]))
    left = w.call("solve", w.shape(factor), turned, inside)
    p = w.call("solve", w.shape(factor), turned, w.transposed(left))
    mean = w.build(w.shape(p), lambda i, j: HALF * (load(p, i, j) + load(p, j, i)))
    return [w.lower(mean)]


def _gaps(w: Writer, values: Expr, k: Expr) -> Expr:
    """k[i, j]/(w[j] - w[i]), and 0 for equal eigenvalues: what is smooth there does not
    depend on the choice of the vectors."""

    def at(i: Expr, j: Expr) -> Expr:
        gap = load(values, j) - load(values, i)
        return where(eq(gap, ZERO), ZERO, load(k, i, j) / gap)

    return w.build(w.shape(k), at)


def _eigh_jvp(w: Writer, s: Call, dots: list[Expr]) -> list[Expr]:
    if dots[0] is ZERO:
        return [ZERO, ZERO]
    values, vectors = _result(s), _result(s, 1)
    k = w.times(w.times(w.transposed(vectors), w.symmetric(dots[0])), vectors)
    first = w.build(w.shape(values), lambda i: load(k, i, i))
    return [first, w.times(vectors, _gaps(w, values, k))]


def _eigh_vjp(w: Writer, s: Call, bars: list[Expr]) -> list[Expr]:
    values, vectors = _result(s), _result(s, 1)
    wbar, vbar = bars
    turned = w.transposed(vectors)
    inside = ZERO
    if vbar is not ZERO:
        k = w.times(turned, vbar)
        odd = w.build(w.shape(k), lambda i, j: HALF * (load(k, i, j) - load(k, j, i)))
        inside = _gaps(w, values, odd)
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
    "cofactors": Routine(_cofactors, algebra.cofactors, _cofactors_jvp, _cofactors_vjp),
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
    "sort": Routine(
        lambda a: (np.sort(a),), algebra.sort, _sort_jvp, _sort_vjp, "np.sort({0})"
    ),
}  # fmt: skip
"""Every routine, by its name."""
