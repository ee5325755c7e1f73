"""The rounding errors of products of matrices and of linear solvers, to first order.

Before:  x = solve(a, b)
After:   x = solve(a, b); r = b - a x, computed without errors;
         x_rest = solve(a, r + b_rest - a_rest x)

Requires: the errors of the arguments.
Ensures: what is to be added to each result, to first order. What a library computes is the result
for arguments that are a little different; how different is computed with twice the digits, and the
derivative of the routine says what that makes of the result, in its own arithmetic. So a solver
costs a product of matrices in sums of two numbers, which runs in vectors, and one or two further
calls, where elimination in such arithmetic takes a hundred times as long as the library.
What is left, of second order, is estimated by the size of the largest correction squared. Where that is more
than a rounding of an element, its correction is unknown (nan), or that is what it lost, where losses are carried.
Products of matrices have no second order but that of the errors of both factors, which is computed.

Reference: N. Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, CONST, INF, NAN, ONE, WHERE, ZERO, Expr, const, raw
from symdiff.ir.linalg.derivatives import Writer, result_of
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.loop_program import (
    INTEGER,
    REAL,
    REAL_OF,
    Build,
    Call,
    Carried,
    Loop,
    LoopProgram,
    Names,
    Statement,
    Type,
    array,
    index,
    load,
    name_of,
    types,
    walk,
)
from symdiff.lowering.double_double.arithmetic import two_product, two_sum
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.eliminations import cofactors, of_pivots
from symdiff.passes.accuracy.estimated_statements import over_elements

LEAST = 4
"""Rows of matrices below which sums and eliminations in loops take less time."""


LARGEST = Fraction(1, 2**27)
"""Of the largest correction, beside the largest element: more is not known, as its square counts."""
SECOND = Fraction(1, 2**51)
"""Of an element: what of second order counts as nothing."""
FAR = Fraction(1, 2**200)
"""Of numbers that are far from 1; squared, of what may be lost beside the largest element; its cube, of what is
then lost of a result."""
BY_PIVOTS = ("det", "slogdet", "cofactors")


def has_correction(s: Call, known: Mapping[str, Type]) -> bool:
    """Whether the errors of a call are computed so."""
    shapes = [known[name_of(a)].shape for a in s.args]
    n = shapes[0][0]
    if n.op is CONST and n.value < LEAST:
        return False
    if s.routine in TURNED:
        return all(len(shape) == 2 for shape in shapes)
    return s.routine in ("solve", "inv", "cholesky", *BY_PIVOTS)


def calls_with_corrections(program: LoopProgram) -> bool:
    """Whether a program solves linear systems so; products of matrices do not count."""
    known = types(program)
    return any(
        isinstance(s, Call) and s.routine not in TURNED and has_correction(s, known)
        for s in walk(program.block)
    )


def with_correction(
    s: Call, rests: Mapping[str, str], known: Mapping[str, Type], names: Names,
    losses: Mapping[str, str] | None = None,
) -> tuple[list[Statement], str, str | None]:  # fmt: skip
    """A call and what computes its errors; the name of these, and of what is lost beside them, if that is carried.

    Parameters
    ----------
    rests : the names of the errors of its arguments.
    losses : the names of what those lost beside; None if that is not carried.
    """
    w, errors = _writer(s, rests, known, names)
    w.types.update({losses[n]: t for n, t in known.items() if losses and n in losses})
    w.out.append(s)
    if s.routine in TURNED:
        assert losses is None
        return w.out, name_of(_product(w, s, errors)), None
    rest = _RULES[s.routine](w, s, errors)
    rest, second = _known(w, names, result_of(s), rest, losses is not None)
    if losses is None:
        return w.out, name_of(rest), None
    return w.out, name_of(rest), name_of(_lost(w, names, s, losses, second))


def by_pivots(
    s: Call, rests: Mapping[str, str], known: Mapping[str, Type], names: Names
) -> tuple[list[Statement], list[Statement], dict[str, str]]:
    """What makes the pivots of a matrix with their errors, in doubles; and the determinant of them, or cofactors, to be
    computed with its roundings; and names whose errors the former computes. With M A = U + F, where M has the determinant 1
    or -1, a pivot is that of U and, relative to it, its part of the trace of inv(U) (F + M dA)."""
    w, (da,) = _writer(s, rests, known, names)
    a = s.args[0]
    n = w.shape(a)[0]
    square = Type((n, n))
    results = (
        (names.fresh("sign"), REAL), (names.fresh("elimination"), square), (names.fresh("upper"), square),
    )  # fmt: skip
    w.out.append(Call("eliminated", results, s.args))
    w.types.update(results)
    sign, m, upper = (t.leaf(name) for name, t in results)
    left = _residual(w, (n, n), lambda i, j: load(upper, i, j), lambda i, k: load(m, i, k),
                     lambda k, j: load(a, k, j), n)  # fmt: skip
    left = w.plus(w.minus(left), w.times(m, da))
    no_zeros = w.build((n, n), lambda i, j: ir.where(
        ir.and_(ir.eq(i, j), ir.eq(load(upper, i, j), ZERO)), ONE, load(upper, i, j)
    ))  # fmt: skip
    part = w.call("solve", (n, n), no_zeros, left)
    size = raw(ir.MUL, (raw(REAL_OF, (n,)), _largest(w, names, part)))
    near = raw(ir.LE, (size, const(LARGEST)))

    def pivot(i: Expr) -> Expr:
        return load(upper, i, i) * raw(WHERE, (near, ONE + load(part, i, i), NAN))

    if s.routine != "cofactors":
        return w.out, [of_pivots(s, n, pivot, sign, names)], {}
    inverse = w.call("solve", (n, n), no_zeros, m)
    rest, _ = _known(w, names, inverse, _rest_of_inverse(w, a, inverse, da), False)
    last = cofactors(s, n, pivot, sign, lambda i, j: load(inverse, i, j), names)
    return w.out, last, {name_of(inverse): name_of(rest)}


def _writer(
    s: Call, rests: Mapping[str, str], known: Mapping[str, Type], names: Names
) -> tuple[Writer, list[Expr]]:
    """What writes rules of a call, and the errors of its arguments."""
    own = {name_of(a) for a in s.args}
    shapes = {n: known[n] for n in own} | dict(s.results)
    shapes |= {rests[n]: known[n] for n in own if n in rests}

    def fresh(stem: str, t: Type) -> str:
        name = names.fresh(stem)
        shapes[name] = t
        return name

    errors = [array(rests[name_of(a)]) if name_of(a) in rests else ZERO for a in s.args]
    return Writer(fresh, shapes), errors


# ----------------------------------------------------------------------------- rules
def _product(w: Writer, s: Call, errors: list[Expr]) -> Expr:
    (a, b), c, (da, db) = s.args, result_of(s), errors
    turned = TURNED[s.routine]
    x: Callable[[Expr, Expr], Expr] = lambda i, k: load(a, k, i) if turned[0] else load(a, i, k)
    if turned[1]:
        b = w.transposed(b)
    rest = _residual(w, w.shape(c), lambda i, j: load(c, i, j), x, lambda k, j: load(b, k, j),
                     w.shape(a)[0 if turned[0] else 1])  # fmt: skip
    rest = w.minus(rest)
    for left, right in ((da, w.plus(s.args[1], db)), (s.args[0], db)):
        if left is not ZERO and right is not ZERO:
            rest = w.plus(rest, w.call(s.routine, w.shape(c), left, right))
    return rest


def _solution(w: Writer, s: Call, errors: list[Expr]) -> Expr:
    (a, b), x, (da, db) = s.args, result_of(s), errors
    n = w.shape(a)[0]
    if len(w.shape(b)) == 1:
        t = w.transposed(a)
        left = _residual(w, (n,), lambda i: load(b, i), lambda k: load(x, k),
                         lambda k, i: load(t, k, i), n)  # fmt: skip
    else:
        left = _residual(w, w.shape(b), lambda i, j: load(b, i, j), lambda i, k: load(a, i, k),
                         lambda k, j: load(x, k, j), n)  # fmt: skip
    (rest,) = ROUTINES["solve"].jvp(w, s, [da, w.plus(left, db)])
    return rest


def _inverse(w: Writer, s: Call, errors: list[Expr]) -> Expr:
    return _rest_of_inverse(w, s.args[0], result_of(s), errors[0])


def _rest_of_inverse(w: Writer, a: Expr, c: Expr, da: Expr) -> Expr:
    one = lambda i, j: ir.where(ir.eq(i, j), ONE, ZERO)
    left = _residual(w, w.shape(a), one, lambda i, k: load(a, i, k), lambda k, j: load(c, k, j),
                     w.shape(a)[0])  # fmt: skip
    return w.times(c, w.plus(left, w.minus(w.times(da, c))))


def _factor(w: Writer, s: Call, errors: list[Expr]) -> Expr:
    (a,), factor, (da,) = s.args, result_of(s), errors
    n = w.shape(a)[0]
    turned = w.transposed(factor)
    below = lambda i, j: ir.where(ir.lt(i, j), load(a, j, i), load(a, i, j))
    left = _residual(w, w.shape(a), below, lambda i, k: load(factor, i, k),
                     lambda k, j: load(turned, k, j), n, lambda i: i + ONE)  # fmt: skip
    (rest,) = ROUTINES["cholesky"].jvp(w, s, [w.plus(left, da)])
    return rest


_RULES = {"solve": _solution, "inv": _inverse, "cholesky": _factor}


# ------------------------------------------------------------------------- arithmetic
def _residual(
    w: Writer, shape: tuple[Expr, ...], start: Callable[..., Expr], x: Callable[..., Expr],
    y: Callable[..., Expr], count: Expr, terms: Callable[[Expr], Expr] | None = None,
) -> Expr:  # fmt: skip
    """What is left of elements after products are subtracted, whose elements lie side by side as those of
    the result do: with twice the digits, rounded.

    Parameters
    ----------
    x, y : the factors by their indices but the last, and that of the sum, and by that and the last.
    count : of the products; terms : how many are not zero, by the first index.
    """
    t = Type(shape)
    places = [index(w.fresh("i", INTEGER)) for _ in shape]
    k = index(w.fresh("k", INTEGER))
    total, low = w.fresh("left", REAL), w.fresh("low", REAL)
    ends = w.fresh("left", REAL), w.fresh("low", REAL)
    p = two_product(raw(ir.NEG, (x(*places[:-1], k),)), y(k, places[-1]))
    both = two_sum(ir.var(total), p.hi)
    errors = raw(ADD, (both.lo, p.lo))
    carried = (
        Carried(total, REAL, start(*places), both.hi, ends[0]),
        Carried(low, REAL, ZERO, raw(ADD, (ir.var(low), errors)), ends[1]),
    )
    upto = count if terms is None else terms(places[0])
    loop = Loop(name_of(k), upto, carried, (), w.fresh("trips", INTEGER))
    name = w.fresh("residual", t)
    value = raw(ADD, tuple(map(ir.var, ends)))
    w.out.append(Build(name, t, tuple(map(name_of, places)), value, (loop,)))
    return array(name)


# --------------------------------------------------------------------- what is left
def _known(
    w: Writer, names: Names, x: Expr, rest: Expr, carried: bool
) -> tuple[Expr, Callable[..., Expr]]:
    """Corrections where they are known; and what is left of an element beside them, by its indices, which is
    nothing unless it is `carried`."""
    largest, most = _largest(w, names, x), _largest(w, names, rest)
    size = raw(ir.MUL, (most, raw(ir.DIV, (most, largest))))
    near = raw(ir.LE, (most, raw(ir.MUL, (const(LARGEST), largest))))

    def nothing(*i: Expr) -> Expr:
        own, value = raw(ir.ABS, (load(rest, *i),)), raw(ir.ABS, (load(x, *i),))
        exact = raw(ir.AND, (raw(ir.LE, (own, ZERO)), raw(ir.LE, (value, ZERO))))
        return raw(ir.OR, (exact, raw(ir.LE, (size, raw(ir.MUL, (const(SECOND), value))))))

    def correction(*i: Expr) -> Expr:
        known = near if carried else raw(ir.AND, (near, nothing(*i)))
        return raw(WHERE, (known, load(rest, *i), NAN))

    return w.build(w.shape(x), correction), lambda *i: raw(WHERE, (nothing(*i), ZERO, size))


def _lost(
    w: Writer, names: Names, s: Call, losses: Mapping[str, str], second: Callable[..., Expr]
) -> Expr:
    """What the results of a solver lost beside their corrections: what it makes of what its arguments lost, what is
    left of second order, and by underflow next to nothing, unless numbers are far from 1; then it is not known."""
    result = result_of(s)
    fine: Expr = ir.TRUE
    for a in (*s.args, result):
        size = _largest(w, names, a)
        fine = ir.and_(fine, ir.and_(ir.le(const(FAR), size), ir.le(size, const(1 / FAR))))
    by_underflow = raw(WHERE, (fine, raw(ir.MUL, (const(FAR**3), size)), INF))
    own = w.build(w.shape(result), lambda *i: raw(ADD, (by_underflow, second(*i))))
    lost = [array(losses[name_of(a)]) if name_of(a) in losses else ZERO for a in s.args]
    return own if all(e is ZERO for e in lost) else w.plus(own, _BOUNDS[s.routine](w, s, lost))


def _bound_of_solution(w: Writer, s: Call, lost: list[Expr]) -> Expr:
    (a, _), (da, db) = s.args, lost
    inverse = _sizes(w, w.call("inv", w.shape(a), a))
    return w.times(inverse, w.plus(db, w.times(da, _sizes(w, result_of(s)))))


def _bound_of_inverse(w: Writer, s: Call, lost: list[Expr]) -> Expr:
    inverse = _sizes(w, result_of(s))
    return w.times(w.times(inverse, lost[0]), inverse)


def _bound_of_factor(w: Writer, s: Call, lost: list[Expr]) -> Expr:
    factor = result_of(s)
    inverse = _sizes(w, w.call("inv", w.shape(factor), factor))
    middle = w.times(w.times(inverse, lost[0]), w.transposed(inverse))
    return w.times(_sizes(w, factor), middle)


_BOUNDS = {"solve": _bound_of_solution, "inv": _bound_of_inverse, "cholesky": _bound_of_factor}
"""What results lose by what arguments lost, to first order: the rules of derivatives with sizes."""


def _sizes(w: Writer, a: Expr) -> Expr:
    return w.build(w.shape(a), lambda *i: raw(ir.ABS, (load(a, *i),)))


def _largest(w: Writer, names: Names, x: Expr) -> Expr:
    """The size of the largest element of an array."""
    places = [w.fresh("i", INTEGER) for _ in w.shape(x)]
    each = raw(ir.ABS, (load(x, *map(index, places)),))
    ((found,), block) = over_elements(names, places, Type(w.shape(x)), [each], [True])
    w.out += block
    return found


__all__ = [
    "BY_PIVOTS",
    "by_pivots",
    "calls_with_corrections",
    "has_correction",
    "with_correction",
]
