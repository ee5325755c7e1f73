"""Linear solvers as loops, for arithmetic that libraries lack.

Before:  x = solve(a, b)
After:   for k: move the row of [a b] with the largest a[i, k] first, and subtract multiples of it
         from the others that make their a[i, k] zero;  x[i] = b[i]/a[i, i]

Requires: `can_be_eliminated`; square matrices.
Ensures: the same results. Gauss-Jordan elimination with partial pivoting: Higham, Accuracy and
Stability of Numerical Algorithms (2002), section 14.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from symdiff import ir
from symdiff.ir import CONST, ONE, ZERO, Expr, const
from symdiff.ir.functions import LOG
from symdiff.ir.loop_program import (
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
from symdiff.ir.names import Names

MINORS = 3
"""The most rows of matrices whose cofactors are written as minors."""


def can_be_eliminated(s: Call) -> bool:
    """Whether a call can be written as loops."""
    return s.routine in (
        "solve",
        "inv",
        "det",
        "slogdet",
        "cofactors",
        "cofactor_slopes",
        "cholesky",
    )


def eliminated(s: Call, known: Mapping[str, Type], names: Names) -> list[Statement]:
    """The statements of a solver."""
    n = known[name_of(s.args[0])].shape[0]
    if s.routine == "cofactors" and n.op is CONST and 1 <= n.value <= MINORS:
        return [_minors(s, int(n.value), names)]
    if s.routine == "cholesky":
        return _triangle(s, n, names)
    made, reduced, sign = _reduced(s, known, n, names)
    if s.routine == "cofactors":
        inverse = lambda i, j: load(reduced, i, n + j) / load(reduced, i, i)
        return [*made, *cofactors(s, n, lambda i: load(reduced, i, i), sign, inverse, names)]
    if s.routine == "cofactor_slopes":
        inverse = lambda i, j: load(reduced, i, n + j) / load(reduced, i, i)
        return [*made, *_slopes(s, n, lambda i: load(reduced, i, i), sign, inverse, names)]
    if s.routine in ("solve", "inv"):
        ((name, t),) = s.results
        places = [index(names.fresh(i)) for i in "ij"[: len(t.shape)]]
        i, column = places[0], n + places[1] if len(places) > 1 else n
        value = load(reduced, i, column) / load(reduced, i, i)
        made.append(Build(name, t, tuple(map(name_of, places)), value))
        return made
    made.append(of_pivots(s, n, lambda i: load(reduced, i, i), sign, names))
    return made


def of_pivots(
    s: Call, n: Expr, pivot: Callable[[Expr], Expr], sign: Expr, names: Names
) -> Statement:
    """A determinant, or its sign and logarithm, from the pivots and the sign of the row order."""
    i = index(names.fresh("i"))
    now = [ir.var(names.fresh("product")) for _ in s.results]
    starts, ends = [sign], [now[0] * pivot(i)]
    if s.routine == "slogdet":
        starts = [sign, ZERO]
        turned = ir.where(ir.eq(pivot(i), ZERO), ZERO, ONE)
        turned = ir.where(ir.lt(pivot(i), ZERO), const(-1), turned)
        ends = [now[0] * turned, now[1] + LOG(ir.abs_(pivot(i)))]
    carried = tuple(
        Carried(name_of(v), REAL, start, end, name)
        for v, start, end, (name, _) in zip(now, starts, ends, s.results, strict=True)
    )
    return Loop(name_of(i), n, carried, (), names.fresh("trips"))


def cofactors(
    s: Call, n: Expr, pivot: Callable[[Expr], Expr], sign: Expr,
    inverse: Callable[[Expr, Expr], Expr], names: Names,
) -> list[Statement]:  # fmt: skip
    """Cofactors of a matrix from its pivots and its inverse; nan where it is singular."""
    ((name, t),) = s.results
    i, j = (index(names.fresh(c)) for c in "ij")
    determinant = names.fresh("determinant")
    pivots = of_pivots(
        replace(s, routine="det", results=((determinant, REAL),)), n, pivot, sign, names
    )
    size = ir.var(determinant)
    value = ir.where(ir.eq(size, ZERO), ir.NAN, size * inverse(j, i))
    return [pivots, Build(name, t, (name_of(i), name_of(j)), value)]


def _slopes(
    s: Call, n: Expr, pivot: Callable[[Expr], Expr], sign: Expr,
    inverse: Callable[[Expr, Expr], Expr], names: Names,
) -> list[Statement]:  # fmt: skip
    """Derivatives of cofactors, det(A) (tr(X D) X' - (X D X)') with the inverse X; nan where the
    matrix is singular."""
    ((name, t),), (_, d) = s.results, s.args
    determinant = names.fresh("determinant")
    only = replace(s, routine="det", results=((determinant, REAL),))
    size = ir.var(determinant)

    def summed(term: Callable[[Expr], Expr]) -> tuple[Loop, Expr]:
        k, now, end = index(names.fresh("k")), names.fresh("sum"), names.fresh("sum")
        carried = Carried(now, REAL, ZERO, ir.var(now) + term(k), end)
        return Loop(name_of(k), n, (carried,), (), names.fresh("trips")), ir.var(end)

    def product(made: str, term: Callable[[Expr, Expr, Expr], Expr]) -> Build:
        i, j = (index(names.fresh(c)) for c in "ij")
        loop, total = summed(lambda k: term(i, k, j))
        return Build(made, t, (name_of(i), name_of(j)), total, (loop,))

    moved, twice = names.fresh("moved"), names.fresh("twice")
    first = product(moved, lambda i, k, j: inverse(i, k) * load(d, k, j))
    second = product(twice, lambda i, k, j: load(array(moved), i, k) * inverse(k, j))
    diagonal, trace = summed(lambda k: load(array(moved), k, k))
    i, j = (index(names.fresh(c)) for c in "ij")
    value = size * (trace * inverse(j, i) - load(array(twice), j, i))
    value = ir.where(ir.eq(size, ZERO), ir.NAN, value)
    last = Build(name, t, (name_of(i), name_of(j)), value)
    return [of_pivots(only, n, pivot, sign, names), first, second, diagonal, last]


def _minors(s: Call, n: int, names: Names) -> Statement:
    """Minors of rows and columns in cyclic order, so that they have the signs of cofactors."""
    ((name, t),), (a,) = s.results, s.args
    i, j = (index(names.fresh(c)) for c in "ij")

    def at(k: Expr, step: int) -> Expr:
        past = k + const(step)
        return ir.where(ir.lt(past, const(n)), past, past - const(n))

    if n == 1:
        value = ONE
    elif n == 2:
        sign = ir.where(ir.eq(i, j), ONE, const(-1))
        value = sign * load(a, at(i, 1), at(j, 1))
    else:
        r, q, k, m = at(i, 1), at(i, 2), at(j, 1), at(j, 2)
        value = load(a, r, k) * load(a, q, m) - load(a, r, m) * load(a, q, k)
    return Build(name, t, (name_of(i), name_of(j)), value)


def _triangle(s: Call, n: Expr, names: Names) -> list[Statement]:
    """The factor of Cholesky, a column at a time, of the lower triangle: the rest of the matrix stands
    right of the columns that are done."""
    ((name, t),), (a,) = s.results, s.args
    i, j = (index(names.fresh(c)) for c in "ij")
    start, before, after = (names.fresh("left") for _ in range(3))
    below = ir.where(ir.lt(i, j), load(a, j, i), load(a, i, j))
    first = Build(start, t, (name_of(i), name_of(j)), below)
    k, p, q = (index(names.fresh(c)) for c in "kij")
    rows = array(before)
    pivot = load(rows, k, k)
    column = ir.where(ir.eq(p, k), ir.sqrt(pivot), load(rows, p, k) / ir.sqrt(pivot))
    rest = load(rows, p, q) - load(rows, p, k) * load(rows, q, k) / pivot
    done = ir.or_(ir.lt(q, k), ir.lt(p, k))
    value = ir.where(done, load(rows, p, q), ir.where(ir.eq(q, k), column, rest))
    turn = Build(names.fresh("less"), t, (name_of(p), name_of(q)), value)
    carried = (Carried(before, t, array(start), array(turn.name), after),)
    loop = Loop(name_of(k), n, carried, (turn,), names.fresh("trips"))
    i, j = (index(names.fresh(c)) for c in "ij")
    lower = ir.where(ir.lt(i, j), ZERO, load(array(after), i, j))
    return [first, loop, Build(name, t, (name_of(i), name_of(j)), lower)]


def _reduced(
    s: Call, known: Mapping[str, Type], n: Expr, names: Names
) -> tuple[list[Statement], Expr, Expr]:
    """What brings a matrix, augmented by the right-hand sides, to its diagonal; that; and whether
    an odd number of rows was exchanged, as a sign."""
    a, width = s.args[0], n
    i, j = (index(names.fresh(c)) for c in "ij")
    value = load(a, i, j)
    if s.routine in ("inv", "cofactors", "cofactor_slopes"):
        width, right = n + n, ir.where(ir.eq(j - n, i), ONE, ZERO)
        value = ir.where(ir.lt(j, n), value, right)
    elif s.routine == "solve":
        shape = known[name_of(s.args[1])].shape
        width = n + (shape[1] if len(shape) > 1 else 1)
        right = load(s.args[1], i, j - n) if len(shape) > 1 else load(s.args[1], i)
        value = ir.where(ir.lt(j, n), value, right)
    t = Type((n, width))
    start = names.fresh("augmented")
    made: list[Statement] = [Build(start, t, (name_of(i), name_of(j)), value)]
    k, before, after = index(names.fresh("k")), names.fresh("rows"), names.fresh("rows")
    matrix = array(before)
    row = index(names.fresh("i"))
    best, place = ir.var(names.fresh("best")), index(names.fresh("place"))
    size = ir.abs_(load(matrix, row, k))
    better = ir.and_(ir.le(k, row), ir.lt(best, size))
    found = index(names.fresh("place"))
    search = Loop(
        name_of(row), n,
        (
            Carried(name_of(best), REAL, const(-1), ir.where(better, size, best),
                    names.fresh("best")),
            Carried(name_of(place), Type((), "i"), k, ir.where(better, row, place),
                    name_of(found)),
        ),
        (), names.fresh("trips"),
    )  # fmt: skip
    p, q, swapped = index(names.fresh("i")), index(names.fresh("j")), names.fresh("exchanged")
    source = ir.where(ir.eq(p, k), found, ir.where(ir.eq(p, found), k, p))
    exchange = Build(swapped, t, (name_of(p), name_of(q)), load(matrix, source, q))
    p, q, less = index(names.fresh("i")), index(names.fresh("j")), names.fresh("less")
    rows = array(swapped)
    pivot = load(rows, k, k)
    factor = ir.where(ir.eq(pivot, ZERO), ZERO, load(rows, p, k) / pivot)
    here = load(rows, p, q)
    rest = ir.where(
        ir.and_(ir.eq(q, k), ir.not_(ir.eq(pivot, ZERO))), ZERO, here - factor * load(rows, k, q)
    )
    done = ir.or_(ir.eq(p, k), ir.lt(q, k))
    value = ir.where(done, here, rest)  # computed zeros have unknown errors
    subtract = Build(less, t, (name_of(p), name_of(q)), value)
    sign, last = ir.var(names.fresh("sign")), ir.var(names.fresh("sign"))
    turned = ir.where(ir.eq(found, k), sign, -sign)
    made.append(
        Loop(
            name_of(k), n,
            (
                Carried(before, t, array(start), array(less), after),
                Carried(name_of(sign), REAL, ONE, turned, name_of(last)),
            ),
            (search, exchange, subtract), names.fresh("trips"),
        )
    )  # fmt: skip
    return made, array(after), last
