"""The rounding errors of eigenvalues, singular values and their vectors, to first order.

Before:  w, v = eigh(a)
After:   r = a v - v w, computed without errors; w_rest = diagonal of v' r;
         v_rest = v e, where e[i, j] = (v' r)[i, j]/(w[j] - w[i])

Requires: the errors of the arguments, of each result of a call.
Ensures: the correction of each result, and the remainder of second order. Vectors of values that
are too close are unknown (nan), unless their remainder vanishes.

Reference: T. Ogita, K. Aishima, Iterative refinement for symmetric eigenvalue decomposition, Japan
J. Indust. Appl. Math. 35 (2018); Iterative refinement for singular value decomposition based on
matrix multiplication, J. Comput. Appl. Math. 369 (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, NAN, ONE, WHERE, ZERO, Expr, const, raw
from symdiff.ir.linalg.derivatives import Writer, result_of
from symdiff.ir.loop_program import (
    INTEGER,
    REAL,
    Build,
    Call,
    Carried,
    Loop,
    Type,
    array,
    index,
    load,
    name_of,
)
from symdiff.lowering.double_double.arithmetic import Pair, two_product, two_sum

LARGEST = Fraction(1, 2**27)
"""The largest correction relative to the largest element; larger ones are unknown, as their squares
count."""

Element = Callable[[Expr], Expr]
Entry = Callable[[Expr, Expr], Expr]
Rests = list[tuple[Expr, Callable[..., Expr]]]
"""For each result, its errors, and its remainder of second order by its indices."""


def eigen(w: Writer, s: Call, errors: list[Expr]) -> Rests:
    """With K = V' (A V - V W) and Y = I - V' V, the errors of values are the diagonal of K, and
    those of vectors V E, where E[i, j] is K[i, j] over the distance of the values, and E[i, i] is
    Y[i, i]/2."""
    (a,), (da,) = s.args, errors
    values, v = result_of(s), result_of(s, 1)
    (n,) = w.shape(values)
    whole, turned = w.symmetric(a), w.transposed(v)
    k = w.times(turned, _off(w, whole, v, v, values, w.symmetric(da)))
    skew = _skew(w, v, turned)
    gap: Entry = lambda i, j: raw(ir.SUB, (load(values, j), load(values, i)))
    part: Entry = lambda i, j: _apart(load(k, i, j), gap(i, j), load(skew, i, j))
    e = w.build((n, n), lambda i, j: ir.where(ir.eq(i, j), _half(load(skew, i, i)), part(i, j)))
    left = _of_values(w, n, lambda i, j: _size(load(k, i, j)), lambda i, j: _size(gap(i, j)))
    first = w.build((n,), lambda i: load(k, i, i))
    return [(first, lambda i: load(left, i)), _of_vectors(w, v, w.times(v, e))]


def singular(w: Writer, s: Call, errors: list[Expr]) -> Rests:
    """With P = U' (A V - U S), Q = V' (A' U - V S), Y = I - U' U and Z = I - V' V, the errors of
    values are the diagonal of P + S (Z - Y)/2. Those of vectors are U E and V F, plus the residuals
    outside the columns divided by the values. E and F are combinations of P and Q divided by the
    distances of squares."""
    (a,), (da,) = s.args, errors
    u, values, right = (result_of(s, k) for k in range(3))
    (n,) = w.shape(values)
    v, back = w.transposed(right), w.transposed(u)
    of_u = _off(w, a, v, u, values, da)
    of_v = _off(w, w.transposed(a), u, v, values, da if da is ZERO else w.transposed(da))
    p, q = w.times(back, of_u), w.times(right, of_v)
    y, z = _skew(w, u, back), _skew(w, v, right)
    size: Element = lambda i: load(values, i)

    def gap(i: Expr, j: Expr) -> Expr:
        less, more = raw(ir.SUB, (size(j), size(i))), raw(ADD, (size(j), size(i)))
        return raw(ir.MUL, (less, more))

    def both(p: Expr, q: Expr, skew: Expr) -> Expr:
        """E, or F with P and Q exchanged."""

        def at(i: Expr, j: Expr) -> Expr:
            k = raw(ADD, (
                raw(ir.MUL, (load(p, i, j), size(j))), raw(ir.MUL, (load(q, i, j), size(i)))
            ))  # fmt: skip
            off = _apart(k, gap(i, j), load(skew, i, j))
            return ir.where(ir.eq(i, j), _half(load(skew, i, i)), off)

        return w.build((n, n), at)

    def beside(u: Expr, p: Expr, off: Expr) -> tuple[Expr, Expr]:
        """The residual outside the span of the columns, and its lengths; only roundings for a
        square matrix."""
        left = w.plus(off, w.minus(w.times(u, p)))
        return left, _sums_of_columns(w, left, n)

    def over_values(left: Expr) -> Expr:
        none: Entry = lambda i, j: raw(ir.LE, (_size(load(left, i, j)), ZERO))
        return w.build(w.shape(left), lambda i, j: raw(
            WHERE, (none(i, j), ZERO, raw(ir.DIV, (load(left, i, j), size(j))))
        ))  # fmt: skip

    half: Element = lambda i: _half(
        raw(ir.MUL, (size(i), raw(ir.SUB, (load(z, i, i), load(y, i, i)))))
    )
    first = w.build((n,), lambda i: raw(ADD, (load(p, i, i), half(i))))
    mean: Entry = lambda i, j: _half(_size(raw(ADD, (load(p, i, j), load(q, i, j)))))
    near = _of_values(w, n, mean, lambda i, j: _size(raw(ir.SUB, (size(j), size(i)))))
    (beside_u, out_u), (beside_v, out_v) = beside(u, p, of_u), beside(v, q, of_v)
    out = w.build((n,), lambda i: ir.sqrt(raw(ADD, (load(out_u, i), load(out_v, i)))))
    left: Element = lambda i: raw(ADD, (load(near, i), _by_distance(load(out, i), size(i))))
    du = w.plus(w.times(u, both(p, q, y)), over_values(beside_u))
    dv = w.plus(w.times(v, both(q, p, z)), over_values(beside_v))
    (du, of_du), (dv, of_dv) = _of_vectors(w, u, du), _of_vectors(w, v, dv)
    return [(du, of_du), (first, left), (w.transposed(dv), lambda i, j: of_dv(j, i))]


# -------------------------------------------------------------------------- bounds
def bound_of_eigen(w: Writer, s: Call, lost: list[Expr]) -> list[Expr]:
    """The losses of values and vectors due to the losses of the matrix."""
    values, vectors = result_of(s), sizes_of(w, result_of(s, 1))
    k = w.times(w.times(w.transposed(vectors), w.symmetric(lost[0])), vectors)
    gap: Entry = lambda i, j: raw(ir.SUB, (load(values, j), load(values, i)))
    own = w.build(w.shape(values), lambda i: load(k, i, i))
    return [own, _at_most_all(w, w.times(vectors, _over_gaps(w, k, gap)))]


def bound_of_singular(w: Writer, s: Call, lost: list[Expr]) -> list[Expr]:
    """The same for singular values."""
    values = result_of(s, 1)
    u, v = (sizes_of(w, e) for e in (result_of(s), w.transposed(result_of(s, 2))))
    (d,) = lost
    k = w.times(w.times(w.transposed(u), d), v)
    both = w.plus(k, w.transposed(k))
    gap: Entry = lambda i, j: raw(ir.SUB, (load(values, j), load(values, i)))
    own = w.build(w.shape(values), lambda i: load(k, i, i))
    off = _over_gaps(w, both, gap)
    over: Element = lambda m: w.build(w.shape(m), lambda i, j: raw(
        WHERE, (raw(ir.LE, (load(m, i, j), ZERO)), ZERO, raw(ir.DIV, (load(m, i, j), load(values, j))))
    ))  # fmt: skip
    of_u = w.plus(w.times(u, w.plus(off, over(k))), over(w.times(d, v)))
    turned = w.transposed(d)
    of_v = w.plus(w.times(v, w.plus(off, over(w.transposed(k)))), over(w.times(turned, u)))
    return [_at_most_all(w, of_u), own, w.transposed(_at_most_all(w, of_v))]


def _at_most_all(w: Writer, lost: Expr) -> Expr:
    """Bounds of errors of elements of columns of length 1: at most 2."""
    return w.build(w.shape(lost), lambda i, j: raw(
        WHERE, (raw(ir.LE, (load(lost, i, j), const(2))), load(lost, i, j), const(2))
    ))  # fmt: skip


def _over_gaps(w: Writer, k: Expr, gap: Callable[[Expr, Expr], Expr]) -> Expr:
    def part(i: Expr, j: Expr) -> Expr:
        nothing = ir.or_(ir.eq(i, j), raw(ir.LE, (load(k, i, j), ZERO)))
        return ir.where(nothing, ZERO, raw(ir.DIV, (load(k, i, j), _size(gap(i, j)))))

    return w.build(w.shape(k), part)


# -------------------------------------------------------------------------- parts
def _off(w: Writer, a: Expr, v: Expr, u: Expr, values: Expr, da: Expr) -> Expr:
    """A V - U S, with the error of A."""
    times: Callable[[Expr, Expr], Pair] = lambda i, j: two_product(load(u, i, j), load(values, j))
    left = residual(
        w, w.shape(u), lambda i, j: times(i, j).hi, lambda i, k: load(a, i, k),
        lambda k, j: load(v, k, j), w.shape(v)[0], low=lambda i, j: times(i, j).lo,
    )  # fmt: skip
    return w.plus(w.minus(left), w.times(da, v))


def _skew(w: Writer, v: Expr, turned: Expr) -> Expr:
    """I - V' V."""
    n = w.shape(v)[1]
    one: Entry = lambda i, j: ir.where(ir.eq(i, j), ONE, ZERO)
    return residual(
        w, (n, n), one, lambda i, k: load(turned, i, k), lambda k, j: load(v, k, j), w.shape(v)[0]
    )


def _apart(own: Expr, gap: Expr, skew: Expr) -> Expr:
    """The rotation of one vector towards another; half of their inner product if both values agree
    exactly."""
    nothing = raw(ir.AND, (raw(ir.LE, (_size(own), ZERO)), raw(ir.LE, (_size(gap), ZERO))))
    near = raw(ir.LE, (_size(own), raw(ir.MUL, (const(LARGEST), _size(gap)))))
    return raw(WHERE, (nothing, _half(skew), raw(WHERE, (near, raw(ir.DIV, (own, gap)), NAN))))


def _of_vectors(w: Writer, v: Expr, rest: Expr) -> tuple[Expr, Entry]:
    """The corrections of columns of length 1, and the remainders of their elements. Where
    corrections are not small, only the length of the column is known, even for zeros."""
    squares = _sums_of_columns(w, rest, w.shape(rest)[1])
    near: Element = lambda j: raw(ir.LE, (load(squares, j), const(LARGEST**2)))
    known = w.build(w.shape(rest), lambda i, j: raw(WHERE, (near(j), load(rest, i, j), ZERO)))

    def left(i: Expr, j: Expr) -> Expr:
        zero, none = (raw(ir.LE, (_size(load(e, i, j)), ZERO)) for e in (v, known))
        few = raw(WHERE, (ir.and_(zero, none), ZERO, load(squares, j)))
        return raw(WHERE, (near(j), few, const(2)))

    return known, left


def _of_values(w: Writer, n: Expr, own: Entry, gap: Entry) -> Expr:
    """The errors of second order of values: squares of parts off the diagonal divided by the
    distances; or the length of those parts, for values that are too close."""

    def near(i: Expr, j: Expr) -> Expr:
        return raw(ir.LE, (own(i, j), raw(ir.MUL, (const(LARGEST), gap(i, j)))))

    def square(i: Expr, j: Expr) -> Expr:
        return raw(ir.MUL, (own(i, j), own(i, j)))

    def far(i: Expr, j: Expr) -> Expr:
        nothing = raw(ir.LE, (own(i, j), ZERO))
        here = ir.and_(near(i, j), ir.not_(nothing))
        return raw(WHERE, (here, raw(ir.DIV, (square(i, j), gap(i, j))), ZERO))

    one = _sums_of_rows(w, n, far)
    other = _sums_of_rows(w, n, lambda i, j: raw(WHERE, (near(i, j), ZERO, square(i, j))))
    return w.build((n,), lambda i: raw(ADD, (load(one, i), ir.sqrt(load(other, i)))))


def _by_distance(own: Expr, gap: Expr) -> Expr:
    """The square of a part divided by a distance, or the part where the distance is not much
    larger."""
    far = raw(ir.LE, (own, raw(ir.MUL, (const(LARGEST), gap))))
    square = raw(ir.MUL, (own, raw(ir.DIV, (own, gap))))
    return raw(WHERE, (raw(ir.LE, (own, ZERO)), ZERO, raw(WHERE, (far, square, own))))


def _sums_of_rows(w: Writer, n: Expr, value: Callable[[Expr, Expr], Expr]) -> Expr:
    """The sums over rows without the diagonal."""
    return _sums(w, n, n, lambda i, j: ir.where(ir.eq(i, j), ZERO, value(i, j)))


def _sums_of_columns(w: Writer, m: Expr, n: Expr) -> Expr:
    """The sums of the squares of columns."""
    return _sums(w, n, w.shape(m)[0], lambda i, j: raw(ir.MUL, (load(m, j, i), load(m, j, i))))


def _sums(w: Writer, n: Expr, count: Expr, value: Callable[[Expr, Expr], Expr]) -> Expr:
    i, j = (index(w.fresh(c, INTEGER)) for c in "ij")
    total, end, t = w.fresh("sum", REAL), w.fresh("sum", REAL), Type((n,))
    carried = Carried(total, REAL, ZERO, raw(ADD, (ir.var(total), value(i, j))), end)
    name = w.fresh("part", t)
    loop = Loop(name_of(j), count, (carried,), (), w.fresh("trips", INTEGER))
    w.out.append(Build(name, t, (name_of(i),), ir.var(end), (loop,)))
    return array(name)


def _size(e: Expr) -> Expr:
    return raw(ir.ABS, (e,))


def _half(e: Expr) -> Expr:
    return raw(ir.MUL, (ir.HALF, e))


def sizes_of(w: Writer, a: Expr) -> Expr:
    """The absolute values of the elements of a matrix."""
    return w.build(w.shape(a), lambda *i: _size(load(a, *i)))


# ------------------------------------------------------------------------- arithmetic
def residual(
    w: Writer, shape: tuple[Expr, ...], start: Callable[..., Expr], x: Callable[..., Expr],
    y: Callable[..., Expr], count: Expr, terms: Callable[[Expr], Expr] | None = None,
    low: Callable[..., Expr] = lambda *i: ZERO,
) -> Expr:  # fmt: skip
    """The elements minus the products, computed with twice the digits and rounded. Elements of
    products are contiguous as those of the result are.

    Parameters
    ----------
    x, y : the factors: x by the first indices and that of the sum, y by the index of the sum and
        the last.
    count : the number of products; terms : how many are not zero, by the first index.
    low : the low part of `start`.
    """
    t = Type(shape)
    places = [index(w.fresh("i", INTEGER)) for _ in shape]
    k = index(w.fresh("k", INTEGER))
    total, part = w.fresh("left", REAL), w.fresh("low", REAL)
    ends = w.fresh("left", REAL), w.fresh("low", REAL)
    p = two_product(raw(ir.NEG, (x(*places[:-1], k),)), y(k, places[-1]))
    both = two_sum(ir.var(total), p.hi)
    errors = raw(ADD, (both.lo, p.lo))
    carried = (
        Carried(total, REAL, start(*places), both.hi, ends[0]),
        Carried(part, REAL, low(*places), raw(ADD, (ir.var(part), errors)), ends[1]),
    )
    upto = count if terms is None else terms(places[0])
    loop = Loop(name_of(k), upto, carried, (), w.fresh("trips", INTEGER))
    name = w.fresh("residual", t)
    value = raw(ADD, tuple(map(ir.var, ends)))
    w.out.append(Build(name, t, tuple(map(name_of, places)), value, (loop,)))
    return array(name)
