"""The errors of products of matrices, and of the results of linear solvers.

Before:  c = matmul(a, b)
After:   size[k] = sum_j b[k, j]**2; column[j] = sum_k b[k, j]**2
         c_error[i] = max(column)/sum(column) * sum_k a[i, k]**2 * size[k], the square of the errors of row i

Requires: the errors of the arguments.
Ensures: roundings of different terms, and errors of different elements, are independent. A row
has one error: the root of the mean of the squares of those of its elements, times how much larger those of the
largest column are than others. So there is no second product of matrices. In products with a vector that
is the norm of a row times the largest element of the vector. Sums over rows of parameters are computed once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol

from symdiff import ir
from symdiff.ir import INF, ONE, ZERO, Expr, const, raw
from symdiff.ir.loop_program import (
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
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.eliminations import can_be_eliminated
from symdiff.passes.accuracy.propagation import EXACT, Error, element
from symdiff.passes.accuracy.solver_corrections import OF_ANY_SIZE

MEAN = Fraction(1, 2)
"""As of `estimates`."""
SOLVED = Fraction(8)
"""Units of the results of routines of which no errors are computed."""


class Named(Protocol):
    """The errors of a program's names.

    Attributes
    ----------
    first : statements before all others, and
    sums : the sums of squares that they make, by parameter and the axis that is left.
    partly_summed : whether roundings of partial sums count as such, not as those of terms.
    """

    program: LoopProgram
    names: Names
    dtype: str
    errors: dict[str, Error]
    first: list[Statement]
    sums: dict[tuple[str, int], Expr]
    partly_summed: bool

    def mark(self, *found: Expr) -> None: ...

    def of_squares(self, squares: Expr) -> tuple[Expr, bool]: ...


def after_call(work: Named, s: Call) -> list[Statement]:
    """Squares of the errors of a product of matrices. How far off a linear solver is hangs on the condition of
    the matrix, so it is not bounded, and is computed (`solver_corrections`); of other routines a few units."""
    if s.routine not in TURNED:
        computed = work.dtype == "float64" and _has_digits(work.program)
        found: list[Statement] = [s]
        for name, t in s.results:
            if t.kind != "f":
                continue
            work.errors[name] = Error(SOLVED)
            if not computed:
                continue
            more = (
                raw(ir.MUL, (INF, ir.abs_(ir.var(name))))
                if not t.shape
                else array(work.names.fresh(f"{name}_error"))
            )
            if t.shape:
                found.append(
                    Build(name_of(more), t, tuple(work.names.fresh("i") for _ in t.shape), INF)
                )
            work.mark(INF if t.shape else more)
            work.errors[name] = Error(more=more)
        return found
    known = types(work.program)
    ((result, t),) = s.results
    errors = [work.errors.get(name_of(a), EXACT) for a in s.args]
    own = sum((e.k for e in errors), Fraction(1)) * MEAN
    side = int(len(known[name_of(s.args[0])].shape) < 2)
    a, b = s.args[side], s.args[1 - side]
    e, other = errors[side], errors[1 - side]
    shape = known[name_of(a)].shape
    kept = int(TURNED[s.routine][side]) if side == 0 else 1 - int(TURNED[s.routine][side])
    made: list[Statement] = [s]
    if len(known[name_of(s.args[0])].shape) == len(known[name_of(s.args[1])].shape) == 2:
        return _of_product(work, s, own, made)
    count = shape[1 - kept] if len(shape) > 1 else shape[0]
    rounded = _rounded(work, own, count)
    square, both = _largest(work, b, known[name_of(b)], other, rounded, not e.flat, made)
    if len(shape) < 2:
        sums = _sums(work, a, e, [index(k := work.names.fresh("k"))], k, shape[0], made)
        total = sum((x * y for x, y in zip(sums, (both, square), strict=False)), ZERO)
        work.mark(total)
        total, squared = work.of_squares(total)
        work.errors[result] = Error(Fraction(0), total**ir.HALF if squared else total)
        return made
    i, k = work.names.fresh("i"), work.names.fresh("k")
    places = [index(i), index(k)] if kept == 0 else [index(k), index(i)]
    body: list[Statement] = []
    if e.flat and any(p.name == name_of(a) for p in work.program.params):
        sums = [load(_once(work, a, shape, kept), index(i))]
    else:
        sums = _sums(work, a, e, places, k, shape[1 - kept], body)
    value = sum((x * y for x, y in zip(sums, (both, square), strict=False)), ZERO)
    value, squared = work.of_squares(value)
    work.mark(value)
    name = work.names.fresh(f"{result}_error")
    made.append(Build(name, Type((shape[kept],)), (i,), value, tuple(body)))
    axes = None if len(t.shape) < 2 else (side,)
    work.errors[result] = Error(Fraction(0), array(name), squared, axes)
    return made


def _of_product(work: Named, s: Call, own: Fraction, made: list[Statement]) -> list[Statement]:
    """The errors of the rows of a product of two matrices."""
    known = types(work.program)
    ((result, t),), (a, b) = s.results, s.args
    first, other = (work.errors.get(name_of(x), EXACT) for x in s.args)
    left, right = TURNED[s.routine]
    i, k = work.names.fresh("i"), work.names.fresh("k")
    here = [index(k), index(i)] if left else [index(i), index(k)]
    shape = known[name_of(b)].shape
    count = known[name_of(a)].shape[0 if left else 1]
    rounded = _rounded(work, own, count)
    plain = first.flat and other.flat
    terms: list[Expr] = []
    if not (first.flat and not other.flat):
        of_b = _weights(work, b, shape, right, EXACT, ONE, ZERO, made)
        each = [] if first.flat else [_squared(first, here)]
        each += [rounded * load(a, *here) ** 2] if other.flat else []
        terms.append(of_b(k) * functools.reduce(ir.add, each))
    if not plain and not other.flat:
        with_errors = _weights(work, b, shape, right, other, rounded, ONE, made)
        terms.append(with_errors(k) * load(a, *here) ** 2)
    body: list[Statement] = []
    (value,) = _collected(work, [(k, count)], [functools.reduce(ir.add, terms)], False, body)
    value, squared = work.of_squares(ir.where(ir.lt(value, INF), value, INF))
    work.mark(value)
    name = work.names.fresh(f"{result}_error")
    made.append(Build(name, Type((t.shape[0],)), (i,), value, tuple(body)))
    work.errors[result] = Error(Fraction(0), array(name), squared, (0,))
    return made


def _rounded(work: Named, own: Fraction, count: Expr) -> Expr:
    """The square of what a term of a sum of so many is off by: a partial sum, rounded at each term, is half of them."""
    if not work.partly_summed:
        return const(own**2)
    return const(own**2) * (ONE + ir.HALF * raw(REAL_OF, (count,)))


def _weights(
    work: Named, b: Expr, shape: Sequence[Expr], turned: bool, e: Error, of_squares: Expr,
    of_errors: Expr, made: list[Statement],
) -> Callable[[str], Expr]:  # fmt: skip
    """Of the squares of a matrix, and of its errors, for each row their sum, times the share of the largest column in
    all of them. Those of a parameter are computed once."""
    once = e.flat and any(p.name == name_of(b) for p in work.program.params)
    key = f"weights {name_of(b)}", int(turned)
    if once and key in work.sums:
        return lambda k: load(work.sums[key], index(k))
    axis = int(turned)
    block: list[Statement] = []

    def summed(kept: int) -> Expr:
        x, y = work.names.fresh("k"), work.names.fresh("k")
        places = [index(x), index(y)] if kept == 0 else [index(y), index(x)]
        each = of_squares * load(b, *places) ** 2
        if of_errors is not ZERO:
            each = each + _squared(e, places)
        body: list[Statement] = []
        (value,) = _collected(work, [(y, shape[1 - kept])], [each], False, body)
        work.mark(value)
        name = work.names.fresh("squares")
        block.append(Build(name, Type((shape[kept],)), (x,), value, tuple(body)))
        return array(name)

    rows, columns = summed(axis), summed(1 - axis)
    j = work.names.fresh("k")
    column = load(columns, index(j))
    (largest,) = _collected(work, [(j, shape[1 - axis])], [column], True, block)
    j = work.names.fresh("k")
    (total,) = _collected(work, [(j, shape[1 - axis])], [load(columns, index(j))], False, block)
    k, name = work.names.fresh("k"), work.names.fresh("weights")
    share = ir.where(ir.lt(ZERO, total), largest / total, ir.where(ir.le(total, ZERO), ZERO, INF))
    value = load(rows, index(k)) * share
    work.mark(value)
    block.append(Build(name, Type((shape[axis],)), (k,), value))
    if once:
        work.first += block
        work.sums[key] = array(name)
    else:
        made += block
    return lambda k: load(array(name), index(k))


def _has_digits(program: LoopProgram) -> bool:
    """Whether all routines of a program have versions with more digits, without which none is computed so."""
    calls = (s for s in walk(program.block) if isinstance(s, Call) and s.routine not in TURNED)
    return all(can_be_eliminated(s) or s.routine in OF_ANY_SIZE for s in calls)


def _sums(
    work: Named, a: Expr, e: Error, places: Sequence[Expr], k: str, count: Expr,
    made: list[Statement],
) -> list[Expr]:  # fmt: skip
    """Over one axis, the sum of the squares of the elements, and of those of their errors."""
    each = [load(a, *places) ** 2]
    if not e.flat:
        each.append(_squared(e, places))
    return _collected(work, [(k, count)], each, False, made)


def _largest(
    work: Named, b: Expr, t: Type, e: Error, rounded: Expr, needed: bool, made: list[Statement]
) -> tuple[Expr, Expr]:
    """The largest square of an element, and that with its errors and the roundings of a product;
    without errors, the first is not needed by itself."""
    ks = [work.names.fresh("k") for _ in t.shape]
    places = list(map(index, ks))
    square, axes = load(b, *places) ** 2, list(zip(ks, t.shape, strict=True))
    if e.flat:
        (found,) = _collected(work, axes, [square], True, made)
        return found, rounded * found
    both = rounded * square + _squared(e, places)
    if not needed:
        (found,) = _collected(work, axes, [both], True, made)
        return ZERO, found
    first, second = _collected(work, axes, [square, both], True, made)
    return first, second


def _squared(e: Error, places: Sequence[Expr]) -> Expr:
    return element(e._replace(squared=False), places) ** (1 if e.squared else 2)


def _collected(
    work: Named, axes: Sequence[tuple[str, Expr]], each: Sequence[Expr], largest: bool,
    made: list[Statement],
) -> list[Expr]:  # fmt: skip
    """Over all indices, the sums of values, or the largest of each."""
    block: tuple[Statement, ...] = ()
    for k, count in reversed(axes):
        carried = []
        for e in each:
            name, result = work.names.fresh("squares"), work.names.fresh("squares")
            now = ir.var(name)
            end = ir.where(ir.lt(now, e), e, now) if largest else now + e
            work.mark(end)
            carried.append(Carried(name, REAL, ZERO, end, result))
        block = (Loop(k, count, tuple(carried), block, work.names.fresh("trips")),)
        each = [ir.var(c.result) for c in carried]
    made += block
    return list(each)


def _once(work: Named, a: Expr, shape: Sequence[Expr], kept: int) -> Expr:
    """The sums of the squares of a parameter over one axis."""
    key = name_of(a), kept
    if key not in work.sums:
        i, k = work.names.fresh("i"), work.names.fresh("k")
        places = [index(i), index(k)] if kept == 0 else [index(k), index(i)]
        body: list[Statement] = []
        (value,) = _sums(work, a, EXACT, places, k, shape[1 - kept], body)
        name = work.names.fresh("squares")
        work.first.append(Build(name, Type((shape[kept],)), (i,), value, tuple(body)))
        work.sums[key] = array(name)
    return work.sums[key]
