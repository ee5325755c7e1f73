"""The tools of the rules of routines: a writer of statements of derivatives, and table entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symdiff.ir import NAN, ZERO, Expr, eq, le, lt, var, where
from symdiff.ir.loop_program import (
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
        """The result of a routine that has one result."""
        return self.calls(routine, [shape], *args)[0]

    def calls(self, routine: str, shapes: Sequence[Sequence[Expr]], *args: Expr) -> list[Expr]:
        """The results of a routine."""
        results = [(self.fresh(routine, t), t) for t in (Type(tuple(s)) for s in shapes)]
        self.out.append(Call(routine, tuple(results), args))
        return [t.leaf(name) for name, t in results]

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
        """The symmetric matrix with the lower triangle of `a`."""
        at = lambda i, j: where(le(j, i), load(a, i, j), load(a, j, i))
        return a if a is ZERO else self.build(self.shape(a), at)

    def lower(self, a: Expr) -> Expr:
        """The derivative by the lower triangle, from the derivative by a symmetric matrix."""

        def at(i: Expr, j: Expr) -> Expr:
            below = where(lt(j, i), load(a, i, j) + load(a, j, i), ZERO)
            return where(eq(i, j), load(a, i, i), below)

        return self.build(self.shape(a), at)


def over_gap(part: Expr, gap: Expr, none: Expr) -> Expr:
    """A part of a rotation over the distance of two values. For equal values 0 if `none` holds, which
    says that nothing depends on the rotation; else nan: functions that do not depend on the choice
    of the vectors may be smooth there, but their slopes depend on more than this."""
    return where(eq(gap, ZERO), where(none, ZERO, NAN), part / gap)


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
        """The results in an arithmetic of `symdiff.interpret.loops`."""
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


def result_of(s: Call, k: int = 0) -> Expr:
    name, t = s.results[k]
    return t.leaf(name)
