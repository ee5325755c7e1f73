"""The rounding errors of pseudoinverses, and of their residuals, to first order.

Before:  p = pinv(a); r = y - a x
After:   p, p_rest = corrected_pinv(a, a_rest); r_rest = y - a x - r, computed with twice the digits

Requires: the errors of the arguments, of each result of a call.
Ensures: the correction of each result, and the remainder of higher order. The former is a routine
(`ir.linalg.corrected_pseudoinverse`), as the statements would take long to compile.
"""

from __future__ import annotations

from symdiff import ir
from symdiff.ir import ZERO, Expr, raw
from symdiff.ir.linalg.derivatives import Writer, result_of
from symdiff.ir.loop_program import Call, array, load
from symdiff.lowering.double_double.arithmetic import Pair, two_sum
from symdiff.passes.accuracy.spectral_corrections import Rests, residual, sizes_of


def pseudoinverse(w: Writer, s: Call, errors: list[Expr]) -> Rests:
    """A pseudoinverse, and its errors."""
    (a, least), da, ((p, t),) = s.args, errors[0], s.results
    if da is ZERO:
        da = w.build(w.shape(a), lambda i, j: ZERO)
    rest, left = (w.fresh(stem, t) for stem in ("rest", "left"))
    w.out.append(Call("corrected_pinv", ((p, t), (rest, t), (left, t)), (a, least, da)))
    return [(array(rest), lambda i, j: load(array(left), i, j))]


def difference(w: Writer, s: Call, errors: list[Expr]) -> Rests:
    """The errors of Y - A X."""
    (y, a, x), (dy, da, dx), c = s.args, errors, result_of(s)

    def start(i: Expr, j: Expr) -> Pair:
        return two_sum(load(y, i, j), raw(ir.NEG, (load(c, i, j),)))

    rest = residual(
        w, w.shape(c), lambda i, j: start(i, j).hi, lambda i, k: load(a, i, k),
        lambda k, j: load(x, k, j), w.shape(x)[0], low=lambda i, j: start(i, j).lo,
    )  # fmt: skip
    more = w.plus(w.times(da, w.plus(x, dx)), w.times(a, dx))
    return [(w.plus(rest, w.plus(dy, w.minus(more))), lambda i, j: ZERO)]


def bound_of_pseudoinverse(w: Writer, s: Call, lost: list[Expr]) -> list[Expr]:
    """The loss of the result due to losses of the matrix: the derivative rule in absolute
    values."""
    p, d = sizes_of(w, result_of(s)), lost[0]
    if d is ZERO:
        return [ZERO]
    back, turned = w.transposed(p), w.transposed(d)
    bound = w.plus(w.times(w.times(p, back), turned), w.times(turned, w.times(back, p)))
    return [w.plus(w.times(w.times(p, d), p), bound)]


def bound_of_difference(w: Writer, s: Call, lost: list[Expr]) -> list[Expr]:
    """The same for Y - A X."""
    (_, a, x), (dy, da, dx) = s.args, lost
    more = w.plus(w.times(da, sizes_of(w, x)), w.times(sizes_of(w, a), dx))
    return [w.plus(dy, more)]
