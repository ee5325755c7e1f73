"""The rounding errors of products of matrices and of linear solvers, to first order.

Before:  x = solve(a, b)
After:   x = solve(a, b); r = b - a x, computed without errors;
         x_rest = solve(a, r + b_rest - a_rest x)

Requires: the errors of the arguments.
Ensures: the correction of each result, to first order. A library computes the exact result for
slightly different arguments. Their difference is computed with twice the digits, and the
derivative of the routine converts it to the error of the result, in its own arithmetic. So a solver
costs a product of matrices in sums of two numbers, which is vectorised, and one or two further
calls, where elimination in such arithmetic takes a hundred times as long as the library.
The remainder, of second order, is estimated by the correction of the correction. Where that is more than a
rounding of an element, its correction is unknown (nan), or that is what it lost, where losses are carried.
Products of matrices have no second order but that of the errors of both factors, which is computed.

Reference: N. Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from symdiff import ir
from symdiff.ir import ADD, CONST, INF, NAN, ONE, WHERE, ZERO, Expr, const, raw
from symdiff.ir import loop_program as lp
from symdiff.ir.linalg.derivatives import Writer, result_of
from symdiff.ir.linalg.routines import ROUTINES
from symdiff.ir.names import Names
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.elements import over_elements
from symdiff.passes.accuracy.eliminations import cofactors, of_pivots
from symdiff.passes.accuracy.pseudoinverse_corrections import (
    bound_of_difference,
    bound_of_pseudoinverse,
    difference,
    pseudoinverse,
)
from symdiff.passes.accuracy.spectral_corrections import (
    LARGEST,
    Rests,
    bound_of_eigen,
    bound_of_singular,
    eigen,
    residual,
    singular,
    sizes_of,
)

LEAST = 4
"""For matrices with fewer rows than this, sums and eliminations in loops are faster."""


SECOND = Fraction(1, 2**51)
"""Relative to an element: smaller terms of second order count as nothing."""
FAR = Fraction(1, 2**200)
"""Numbers below this or above its reciprocal are far from 1. Its square is the same for products;
its cube is the loss by underflow relative to the largest element."""
OF_ANY_SIZE = ("eigh", "svd", "pinv", "difference")
"""Routines that are corrected for matrices of any size."""
BY_PIVOTS = ("det", "slogdet", "cofactors")


def has_correction(s: lp.Call, known: Mapping[str, lp.Type]) -> bool:
    """Whether the errors of a call are computed this way."""
    shapes = [known[lp.name_of(a)].shape for a in s.args]
    n = shapes[0][0]
    if s.routine in OF_ANY_SIZE:
        return True
    if n.op is CONST and n.value < LEAST:
        return False
    if s.routine in TURNED:
        return all(len(shape) == 2 for shape in shapes)
    return s.routine in ("solve", "inv", "cholesky", *BY_PIVOTS)


def calls_with_corrections(program: lp.LoopProgram) -> bool:
    """Whether a program solves linear systems this way; products of matrices do not count."""
    known = lp.types(program)
    return any(
        isinstance(s, lp.Call) and s.routine not in TURNED and has_correction(s, known)
        for s in lp.walk(program.block)
    )


def with_correction(
    s: lp.Call, rests: Mapping[str, str], known: Mapping[str, lp.Type], names: Names,
    losses: Mapping[str, str] | None = None,
) -> tuple[list[lp.Statement], dict[str, tuple[str, ...]]]:  # fmt: skip
    """A call with the statements that compute its errors; the names of the errors by result, and of
    the losses, if those are carried.

    Parameters
    ----------
    rests : the names of the errors of its arguments.
    losses : the names of the losses of its arguments; None if losses are not carried.
    """
    w, errors = _writer(s, rests, known, names)
    w.types.update({losses[n]: t for n, t in known.items() if losses and n in losses})
    if s.routine != "pinv":  # is computed by its rule
        w.out.append(s)
    found: dict[str, tuple[str, ...]]
    if s.routine in TURNED:
        rest = _product(w, s, errors)
        found = {s.results[0][0]: (lp.name_of(rest),)}
        if losses is not None:
            found[s.results[0][0]] += (lp.name_of(_lost_in_product(w, names, s, rest, losses)),)
        return w.out, found
    rests_of_results = _RULES[s.routine](w, s, errors)
    bounds = [ZERO for _ in s.results] if losses is None else _passed(w, s, losses)
    found = {}
    for k, (rest, left) in enumerate(rests_of_results):
        result = result_of(s, k)
        rest, second = _known(w, names, result, rest, left, losses is not None)
        found[lp.name_of(result)] = (lp.name_of(rest),)
        if losses is not None:
            lost = w.plus(_lost(w, names, s, result, rest, second), bounds[k])
            found[lp.name_of(result)] += (lp.name_of(lost),)
    return w.out, found


def by_pivots(
    s: lp.Call, rests: Mapping[str, str], known: Mapping[str, lp.Type], names: Names,
    losses: Mapping[str, str] | None = None,
) -> tuple[list[lp.Statement], list[lp.Statement], dict[str, tuple[str, ...]]]:  # fmt: skip
    """The statements for the pivots of a matrix with their errors, in doubles; those for the
    determinant from them, or cofactors, which are computed with their roundings; and the names of
    the errors and losses that the former compute. With M A = U + F, where M has the determinant 1
    or -1, a pivot is that of U and, relative to it, its part of the trace of inv(U) (F + M dA)."""
    w, (da,) = _writer(s, rests, known, names)
    w.types.update({losses[n]: t for n, t in known.items() if losses and n in losses})
    a = s.args[0]
    n = w.shape(a)[0]
    square = lp.Type((n, n))
    results = (
        (names.fresh("sign"), lp.REAL), (names.fresh("elimination"), square), (names.fresh("upper"), square),
    )  # fmt: skip
    w.out.append(lp.Call("eliminated", results, s.args))
    w.types.update(results)
    sign, m, upper = (t.leaf(name) for name, t in results)
    left = residual(w, (n, n), lambda i, j: lp.load(upper, i, j), lambda i, k: lp.load(m, i, k),
                     lambda k, j: lp.load(a, k, j), n)  # fmt: skip
    left = w.plus(w.minus(left), w.times(m, da))
    no_zeros = w.build((n, n), lambda i, j: ir.where(
        ir.and_(ir.eq(i, j), ir.eq(lp.load(upper, i, j), ZERO)), ONE, lp.load(upper, i, j)
    ))  # fmt: skip
    part = w.call("solve", (n, n), no_zeros, left)
    size = raw(ir.MUL, (raw(lp.REAL_OF, (n,)), _largest(w, names, part)))
    near = raw(ir.LE, (size, const(LARGEST)))
    pivots = w.build((n,), lambda i: lp.load(upper, i, i))
    rest = w.build((n,), lambda i: raw(
        WHERE, (near, raw(ir.MUL, (lp.load(upper, i, i), lp.load(part, i, i))), NAN)
    ))  # fmt: skip
    found: dict[str, tuple[str, ...]] = {lp.name_of(pivots): (lp.name_of(rest),)}
    if losses is not None:
        squared = raw(ir.MUL, (size, size))
        own = _lost(
            w,
            names,
            s,
            pivots,
            rest,
            lambda i: raw(ir.MUL, (squared, raw(ir.ABS, (lp.load(pivots, i),)))),
        )
        if lp.name_of(a) in losses:
            lost = w.times(sizes_of(w, m), lp.array(losses[lp.name_of(a)]))
            passed = w.times(sizes_of(w, w.call("inv", (n, n), no_zeros)), lost)
            own = w.plus(own, w.build((n,), lambda i: raw(
                ir.MUL, (raw(ir.ABS, (lp.load(pivots, i),)), lp.load(passed, i, i))
            )))  # fmt: skip
        found[lp.name_of(pivots)] += (lp.name_of(own),)
    if s.routine != "cofactors":
        return w.out, [of_pivots(s, n, lambda i: lp.load(pivots, i), sign, names)], found
    inverse = w.call("solve", (n, n), no_zeros, m)
    carried = losses is not None
    rest, second = _known(w, names, inverse, *_of_inverse(w, a, inverse, da), carried)
    found[lp.name_of(inverse)] = (lp.name_of(rest),)
    if losses is not None:
        sizes = sizes_of(w, inverse)
        lost = lp.array(losses[lp.name_of(a)]) if lp.name_of(a) in losses else ZERO
        own = w.plus(
            _lost(w, names, s, inverse, rest, second), w.times(w.times(sizes, lost), sizes)
        )
        found[lp.name_of(inverse)] += (lp.name_of(own),)
    last = cofactors(
        s, n, lambda i: lp.load(pivots, i), sign, lambda i, j: lp.load(inverse, i, j), names
    )
    return w.out, last, found


def _writer(
    s: lp.Call, rests: Mapping[str, str], known: Mapping[str, lp.Type], names: Names
) -> tuple[Writer, list[Expr]]:
    """A writer for the rules of a call, and the errors of its arguments."""
    own = {lp.name_of(a) for a in s.args}
    shapes = {n: known[n] for n in own} | dict(s.results)
    shapes |= {rests[n]: known[n] for n in own if n in rests}

    def fresh(stem: str, t: lp.Type) -> str:
        name = names.fresh(stem)
        shapes[name] = t
        return name

    errors = [lp.array(rests[lp.name_of(a)]) if lp.name_of(a) in rests else ZERO for a in s.args]
    return Writer(fresh, shapes), errors


# ----------------------------------------------------------------------------- rules
def _product(w: Writer, s: lp.Call, errors: list[Expr]) -> Expr:
    (a, b), c, (da, db) = s.args, result_of(s), errors
    turned = TURNED[s.routine]
    x: Callable[[Expr, Expr], Expr] = lambda i, k: (
        lp.load(a, k, i) if turned[0] else lp.load(a, i, k)
    )
    if turned[1]:
        b = w.transposed(b)
    rest = residual(w, w.shape(c), lambda i, j: lp.load(c, i, j), x, lambda k, j: lp.load(b, k, j),
                     w.shape(a)[0 if turned[0] else 1])  # fmt: skip
    rest = w.minus(rest)
    for left, right in ((da, w.plus(s.args[1], db)), (s.args[0], db)):
        if left is not ZERO and right is not ZERO:
            rest = w.plus(rest, w.call(s.routine, w.shape(c), left, right))
    return rest


def _solution(w: Writer, s: lp.Call, errors: list[Expr]) -> Rests:
    (a, b), x, (da, db) = s.args, result_of(s), errors
    n = w.shape(a)[0]
    if len(w.shape(b)) == 1:
        t = w.transposed(a)
        left = residual(w, (n,), lambda i: lp.load(b, i), lambda k: lp.load(x, k),
                         lambda k, i: lp.load(t, k, i), n)  # fmt: skip
    else:
        left = residual(w, w.shape(b), lambda i, j: lp.load(b, i, j), lambda i, k: lp.load(a, i, k),
                         lambda k, j: lp.load(x, k, j), n)  # fmt: skip
    left = w.plus(left, db)
    (rest,) = ROUTINES["solve"].jvp(w, s, [da, left])
    left = w.plus(left, w.minus(w.times(da, w.plus(x, rest))))
    again = w.call("solve", w.shape(b), a, w.plus(left, w.minus(w.times(a, rest))))
    return [(rest, lambda *i: _further(again, *i))]


def _inverse(w: Writer, s: lp.Call, errors: list[Expr]) -> Rests:
    return [_of_inverse(w, s.args[0], result_of(s), errors[0])]


def _of_inverse(w: Writer, a: Expr, c: Expr, da: Expr) -> tuple[Expr, Callable[..., Expr]]:
    """The errors of an inverse, and the remainder."""
    one = lambda i, j: ir.where(ir.eq(i, j), ONE, ZERO)
    left = residual(w, w.shape(a), one, lambda i, k: lp.load(a, i, k), lambda k, j: lp.load(c, k, j),
                    w.shape(a)[0])  # fmt: skip
    rest = w.times(c, w.plus(left, w.minus(w.times(da, c))))
    left = w.plus(left, w.minus(w.times(da, w.plus(c, rest))))
    again = w.times(c, w.plus(left, w.minus(w.times(a, rest))))
    return rest, lambda *i: _further(again, *i)


def _further(again: Expr, *i: Expr) -> Expr:
    """The remainder of an element, by the correction of its correction, which has an error of that size."""
    return raw(ir.MUL, (const(4), raw(ir.ABS, (lp.load(again, *i),))))


def _factor(w: Writer, s: lp.Call, errors: list[Expr]) -> Rests:
    """With the correction as L E, the remainder is of the size of L E E': small rows of L have large parts of it."""
    (a,), factor, (da,) = s.args, result_of(s), errors
    n = w.shape(a)[0]
    turned = w.transposed(factor)
    below = lambda i, j: ir.where(ir.lt(i, j), lp.load(a, j, i), lp.load(a, i, j))
    left = residual(w, w.shape(a), below, lambda i, k: lp.load(factor, i, k),
                     lambda k, j: lp.load(turned, k, j), n, lambda i: i + ONE)  # fmt: skip
    (rest,) = ROUTINES["cholesky"].jvp(w, s, [w.plus(left, da)])
    part = sizes_of(w, w.call("solve", w.shape(a), factor, rest))
    square = w.times(sizes_of(w, factor), w.times(part, w.transposed(part)))
    return [(rest, lambda i, j: ir.where(ir.lt(i, j), ZERO, lp.load(square, i, j)))]


_RULES = {
    "solve": _solution, "inv": _inverse, "cholesky": _factor, "eigh": eigen, "svd": singular,
    "pinv": pseudoinverse, "difference": difference,
}  # fmt: skip


# ---------------------------------------------------------------------- remainders
def _known(
    w: Writer, names: Names, x: Expr, rest: Expr, left: Callable[..., Expr], carried: bool
) -> tuple[Expr, Callable[..., Expr]]:
    """Corrections where they are known, and the remainder of an element, by its indices; if the
    remainder is not `carried`, a correction is known only where that is negligible."""
    largest, most = _largest(w, names, x), _largest(w, names, rest)
    near = raw(ir.LE, (most, raw(ir.MUL, (const(LARGEST), largest))))

    def nothing(*i: Expr) -> Expr:
        value = raw(ir.ABS, (lp.load(x, *i),))
        return raw(ir.LE, (left(*i), raw(ir.MUL, (const(SECOND), value))))

    def correction(*i: Expr) -> Expr:
        known = near if carried else ir.and_(near, nothing(*i))
        return ir.where(known, lp.load(rest, *i), NAN)

    return w.build(w.shape(x), correction), left


def _lost(
    w: Writer, names: Names, s: lp.Call, result: Expr, rest: Expr, second: Callable[..., Expr]
) -> Expr:
    """The loss of second order, and by underflow (negligible unless numbers are far from 1; then
    infinite); 0 without an error loses nothing by underflow."""
    fine: Expr = ir.TRUE
    for a in (*s.args, result):
        size = _largest(w, names, a)
        fine = ir.and_(fine, _usual(size, FAR))
    by_underflow = raw(WHERE, (fine, raw(ir.MUL, (const(FAR**3), size)), INF))

    def lost(*i: Expr) -> Expr:
        own = raw(WHERE, (_exact(result, rest, *i), ZERO, by_underflow))
        return raw(ADD, (own, second(*i)))

    return w.build(w.shape(result), lost)


def _exact(x: Expr, rest: Expr, *i: Expr) -> Expr:
    """Whether an element is 0 without an error."""
    value, off = (raw(ir.LE, (raw(ir.ABS, (lp.load(e, *i),)), ZERO)) for e in (x, rest))
    return ir.and_(value, off)


def _usual(size: Expr, far: Fraction) -> Expr:
    """Whether computing with numbers of at most a size never underflows; 0 is exact."""
    inside = ir.and_(ir.le(const(far), size), ir.le(size, const(1 / far)))
    return ir.or_(ir.le(size, ZERO), inside)


def _lost_in_product(
    w: Writer, names: Names, s: lp.Call, rest: Expr, losses: Mapping[str, str]
) -> Expr:
    """The losses of the elements of a product of matrices: those of the terms, and by underflow."""
    size = raw(ir.MUL, tuple(_largest(w, names, a) for a in s.args))
    own = raw(WHERE, (_usual(size, FAR**2), raw(ir.MUL, (const(FAR**3), size)), INF))
    result = result_of(s)
    found = w.build(w.shape(result), lambda *i: raw(WHERE, (_exact(result, rest, *i), ZERO, own)))
    for k, a in enumerate(s.args):
        if lp.name_of(a) in losses:
            both = [sizes_of(w, e) for e in s.args]
            both[k] = lp.array(losses[lp.name_of(a)])
            found = w.plus(found, w.call(s.routine, w.shape(result), *both))
    return found


def _passed(w: Writer, s: lp.Call, losses: Mapping[str, str]) -> list[Expr]:
    """The losses of the results due to losses of the arguments, to first order: derivative rules in
    absolute values."""
    lost = [lp.array(losses[lp.name_of(a)]) if lp.name_of(a) in losses else ZERO for a in s.args]
    if all(e is ZERO for e in lost):
        return [ZERO for _ in s.results]
    return _BOUNDS[s.routine](w, s, lost)


def _bound_of_solution(w: Writer, s: lp.Call, lost: list[Expr]) -> list[Expr]:
    (a, _), (da, db) = s.args, lost
    inverse = sizes_of(w, w.call("inv", w.shape(a), a))
    return [w.times(inverse, w.plus(db, w.times(da, sizes_of(w, result_of(s)))))]


def _bound_of_inverse(w: Writer, s: lp.Call, lost: list[Expr]) -> list[Expr]:
    inverse = sizes_of(w, result_of(s))
    return [w.times(w.times(inverse, lost[0]), inverse)]


def _bound_of_factor(w: Writer, s: lp.Call, lost: list[Expr]) -> list[Expr]:
    factor = result_of(s)
    inverse = sizes_of(w, w.call("inv", w.shape(factor), factor))
    middle = w.times(w.times(inverse, lost[0]), w.transposed(inverse))
    bound = w.times(sizes_of(w, factor), middle)
    return [
        w.build(w.shape(factor), lambda i, j: ir.where(ir.lt(i, j), ZERO, lp.load(bound, i, j)))
    ]


_BOUNDS = {
    "solve": _bound_of_solution, "inv": _bound_of_inverse, "cholesky": _bound_of_factor, "eigh": bound_of_eigen,
    "svd": bound_of_singular, "pinv": bound_of_pseudoinverse, "difference": bound_of_difference,
}  # fmt: skip


def _largest(w: Writer, names: Names, x: Expr) -> Expr:
    """The size of the largest element of an array."""
    places = [w.fresh("i", lp.INTEGER) for _ in w.shape(x)]
    each = raw(ir.ABS, (lp.load(x, *map(lp.index, places)),))
    ((found,), block) = over_elements(names, places, lp.Type(w.shape(x)), [each], [True])
    w.out += block
    return found
