"""The errors of products of matrices, and of the results of linear solvers.

Before:  c = matmul(a, b)
After:   c_error[i, j] = sum_k a[i, k]**2 * max_k (2*b[k, j])**2, the square of its error

Requires: the errors of the arguments.
Ensures: roundings of different terms, and errors of different elements, are independent. The
largest of a column stands for all of it, so that there is no second product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Protocol

from symdiff import ir
from symdiff.ir import ZERO, Expr, const
from symdiff.ir.loop_program import (
    REAL,
    Build,
    Call,
    Carried,
    Loop,
    Names,
    Statement,
    Structured,
    Type,
    array,
    index,
    load,
    name_of,
    types,
)
from symdiff.lowering.loops.matmul import TURNED
from symdiff.passes.accuracy.propagation import EXACT, Error

MEAN = Fraction(1, 2)
"""As of `estimates`."""
SOLVED = Fraction(8)
"""Units of the results of linear solvers."""


class Named(Protocol):
    """The errors of a program's names."""

    program: Structured
    names: Names
    errors: dict[str, Error]

    def mark(self, *found: Expr) -> None: ...

    def of_squares(self, squares: Expr) -> tuple[Expr, bool]: ...


def after_call(work: Named, s: Call) -> list[Statement]:
    """Squares of the errors of a product of matrices; of other routines a few units."""
    if s.routine not in TURNED:
        for name, t in s.results:
            if t.kind == "f":
                work.errors[name] = Error(SOLVED)
        return [s]
    known = types(work.program)
    made: list[Statement] = []
    errors = [work.errors.get(name_of(a), EXACT) for a in s.args]
    own = sum((e.k for e in errors), Fraction(1)) * MEAN

    def squares(k: Fraction, e: Error, a: Expr) -> Expr:
        t = known[name_of(a)]
        indices = tuple(work.names.fresh("i") for _ in t.shape)
        places = [index(i) for i in indices]
        value = const(k * k) * load(a, *places) ** 2
        if not e.flat:
            x = load(e.more, *places)
            value = value + (x if e.squared else x**2)
        work.mark(value)
        name = work.names.fresh("squares")
        made.append(Build(name, t, indices, value))
        return array(name)

    (a, b), (x, y) = s.args, errors
    if all(len(known[name_of(e)].shape) == 2 for e in s.args):
        return [s, *_of_matrices(work, s, known, own)]
    products = [(squares(Fraction(1), EXACT, a), squares(own, y, b))]
    if not x.flat:
        products.append((squares(Fraction(0), x, a), squares(Fraction(1), EXACT, b)))
    ((result, t),) = s.results
    parts = []
    for p in products:
        parts.append(work.names.fresh(f"{result}_error"))
        made.append(Call(s.routine, ((parts[-1], t),), p))
    if not t.shape:
        total, squared = work.of_squares(sum((ir.var(n) for n in parts), ZERO))
        work.errors[result] = Error(Fraction(0), total**ir.HALF if squared else total)
        return [s, *made]
    indices = tuple(work.names.fresh("i") for _ in t.shape)
    value = sum((load(array(n), *map(index, indices)) for n in parts), ZERO)
    value, squared = work.of_squares(value)
    total_name = parts[0]
    if len(parts) > 1 or not squared:
        work.mark(value)
        total_name = work.names.fresh(f"{result}_error")
        made.append(Build(total_name, t, indices, value))
    work.errors[result] = Error(Fraction(0), array(total_name), squared)
    return [s, *made]


def _of_matrices(work: Named, s: Call, known: Mapping[str, Type], own: Fraction) -> list[Statement]:
    """As of `call`, from the sums of squares of rows and the largest of columns."""
    made: list[Statement] = []
    ((result, t),) = s.results
    left, right = TURNED[s.routine]

    def along(a: Expr, turned: bool, first: bool, each: Callable[..., Expr], sums: bool) -> Expr:
        """Of each row of the first matrix, or column of the second, a sum or the largest."""
        shape = known[name_of(a)].shape
        kept = int(turned) if first else 1 - int(turned)
        i, k, now, end = (work.names.fresh(n) for n in ("i", "k", "now", "now"))
        place = (index(i), index(k)) if kept == 0 else (index(k), index(i))
        value, before = each(a, *place), ir.var(now)
        total = before + value if sums else ir.where(ir.lt(before, value), value, before)
        work.mark(total)
        loop = Loop(k, shape[1 - kept], (Carried(now, REAL, ZERO, total, end),), (),
                    work.names.fresh("trips"))  # fmt: skip
        name = work.names.fresh("squares")
        work.mark(ir.var(end))
        made.append(Build(name, Type((shape[kept],)), (i,), ir.var(end), (loop,)))
        return array(name)

    def error(a: Expr, *place: Expr) -> Expr:
        e = work.errors.get(name_of(a), EXACT)
        if e.flat:
            return ZERO
        found = load(e.more, *place)
        return found if e.squared else found**2

    def square(a: Expr, *place: Expr) -> Expr:
        return load(a, *place) ** 2

    def both(a: Expr, *place: Expr) -> Expr:
        return const(own * own) * square(a, *place) + error(a, *place)

    a, b = s.args
    i, j = work.names.fresh("i"), work.names.fresh("j")
    rows, columns = along(a, left, True, square, True), along(b, right, False, both, False)
    value = load(rows, index(i)) * load(columns, index(j))
    if not work.errors.get(name_of(a), EXACT).flat:
        rows, columns = along(a, left, True, error, True), along(b, right, False, square, False)
        value = value + load(rows, index(i)) * load(columns, index(j))
    value, squared = work.of_squares(value)
    work.mark(value)
    name = work.names.fresh(f"{result}_error")
    made.append(Build(name, t, (i, j), value))
    work.errors[result] = Error(Fraction(0), array(name), squared)
    return made
