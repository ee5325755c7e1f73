"""Arrays reduced along axes: folds, running folds, products of matrices."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from symdiff import ir
from symdiff.frontend.arrays import symbolic
from symdiff.frontend.arrays.symbolic import SLOTS, placed
from symdiff.frontend.loops import nests
from symdiff.frontend.trace import scalars
from symdiff.frontend.trace.extents import common_shape, extent, same_size
from symdiff.frontend.trace.tracer import Tracer
from symdiff.frontend.trace.values import Real, Refused, SymArray
from symdiff.ir import ONE, ZERO, Expr, loop_program
from symdiff.ir.loop_program import Build, Statement, Type, array, index

Combine = Callable[[Expr, Expr], Expr]


def numbers(a: SymArray) -> Expr:
    """The element at the slots as a number; nan where undefined."""
    return symbolic.stored(a, "i" if a.kind == "b" else a.kind)


def split(a: SymArray, axes: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """The axes that remain, and those that are reduced."""
    rank = len(a.shape)
    gone = sorted(k % rank for k in (range(rank) if axes is None else axes))
    return [k for k in range(rank) if k not in gone], gone


def fold(
    t: Tracer, a: SymArray, axes: Sequence[int] | None, start: Expr, combine: Combine, name: str
) -> Any:
    """Elements combined one after the other along axes: a number, or an array."""
    value = numbers(a)
    kind = "i" if a.kind in "ib" and loop_program.kind_of(start) == "i" else "f"

    def one(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Statement], list[Expr]]:
        return [], [combine(now[0], placed(value, at))]

    (total,) = reduce(t, a, axes, [(name, Type((), kind), start)], one)
    return total


def reduce(
    t: Tracer,
    a: SymArray,
    axes: Sequence[int] | None,
    states: Sequence[nests.State],
    step: nests.Step,
    result: Callable[[Sequence[Expr]], Sequence[Expr]] = lambda found: found,
) -> list[Any]:
    """Numbers carried along axes of an array; their final values, for every element of the
    remaining axes."""
    kept, gone = split(a, axes)
    outer = [index(n) for n in symbolic.fresh_letters(t, len(kept))]

    def inner(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[Sequence[Statement], Sequence[Expr]]:  # fmt: skip
        full = [ZERO] * len(a.shape)
        for k, e in zip((*kept, *gone), (*outer, *at), strict=True):
            full[k] = e
        return step(tuple(full), now)

    block, totals = nests.loops(t, [a.shape[k] for k in gone], states, inner)
    totals = list(result(totals))
    kinds = ["i" if loop_program.kind_of(e) == "i" and s[1].kind == "i" else "f" for e, s in zip(totals, states, strict=False)]  # fmt: skip
    if not kept:
        for s in block:
            t.emit(s)
        return [scalars.whole(e) if k == "i" else Real(e) for e, k in zip(totals, kinds, strict=True)]  # fmt: skip
    shape = tuple(a.shape[k] for k in kept)
    names = tuple(loop_program.name_of(i) for i in outer)
    found: list[SymArray] = []
    for e, kind, (stem, _, _) in zip(totals, kinds, states, strict=False):
        name = t.names.fresh(stem)
        body, letters, value = block, names, e
        if found:  # a body belongs to one statement
            body, letters, value = _again(t, block, names, e)
        t.emit(Build(name, Type(tuple(extent(t, n) for n in shape), kind), letters, value, body))
        found.append(symbolic.in_memory(array(name, kind), shape, kind))
    return found


def _again(
    t: Tracer, block: tuple[Statement, ...], letters: tuple[str, ...], value: Expr
) -> tuple[tuple[Statement, ...], tuple[str, ...], Expr]:
    """A copy of the body of a `Build` with names of its own."""
    fresh = tuple(t.names.fresh(n) for n in letters)
    mapping = {index(n): index(m) for n, m in zip(letters, fresh, strict=True)}
    copy, names = loop_program.renamed(block, t.names)
    value = ir.substitute((value,), {**mapping, **names})[0]
    return loop_program.replaced(copy, mapping), fresh, value


def scan(t: Tracer, a: SymArray, axis: int, start: Expr, combine: Combine, name: str) -> SymArray:
    """The same along one axis, with every intermediate value."""
    value = numbers(a)
    kind = "i" if a.kind in "ib" else "f"
    own = Type(tuple(extent(t, n) for n in a.shape), kind)
    order = [k for k in range(len(a.shape)) if k != axis]
    out = symbolic.build(t, a.shape, kind, ZERO, name)
    leaf = out.memory.leaf
    assert leaf is not None

    def row(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[Sequence[Statement], list[Expr]]:
        def one(k: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Statement], list[Expr]]:
            full = [ZERO] * len(a.shape)
            for i, e in zip((*order, axis), (*at, *k), strict=True):
                full[i] = e
            total, source = combine(now[0], placed(value, full)), loop_program.name_of(now[1])
            last = t.names.fresh(name)
            update = loop_program.Update(last, source, own, tuple(full), total)
            return [update], [total, array(last, kind)]

        states = (("total", Type((), kind), start), (name, own, now[0]))
        block, (_, last) = nests.loops(t, [a.shape[axis]], states, one)
        return block, [last]

    block, (last,) = nests.loops(t, [a.shape[k] for k in order], ((name, own, leaf),), row)
    for s in block:
        t.emit(s)
    return symbolic.in_memory(last, a.shape, kind)


def extreme_place(t: Tracer, a: SymArray, axis: int, better: Callable[[Expr, Expr], Expr]) -> Any:
    """The first index of the largest or smallest element along an axis."""
    a = symbolic.reused(t, a)
    value = symbolic.plainly(a) if a.kind == "f" else numbers(a)

    def one(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Statement], list[Expr]]:
        (best,) = now
        there = tuple(best if k == axis else i for k, i in enumerate(at))
        new, old = placed(value, at), placed(value, there)
        wins = better(new, old)
        if a.kind == "f":  # the first nan, if there is one
            wins = ir.and_(ir.or_(wins, ir.not_(ir.le(new, ir.INF))), ir.le(old, ir.INF))
        return [], [ir.where(wins, at[axis], best)]

    (found,) = reduce(t, a, (axis,), [("best", loop_program.INTEGER, ZERO)], one)
    return found


# ---------------------------------------------------------------------- products
LARGE = 8
"""Products along axes known to be at most this long are expanded here; a library computes
others."""


def counts(a: SymArray) -> SymArray:
    """Truth values as 0 and 1."""
    return symbolic.lazy(a.shape, "i", symbolic.as_kind(a, "i"), symbolic.needs(a))


def any_of(t: Tracer, number: Any) -> Any:
    """Whether counts are not 0."""
    return symbolic.elementwise(t, lambda v: scalars.compare(ast.NotEq, v, 0), number)


def matmul(t: Tracer, a: SymArray, b: SymArray) -> Any:
    """`a @ b`; for more than two dimensions, of the matrices in the last two. For truth values, a
    truth value: whether any product is true."""
    if a.kind == b.kind == "b":
        return any_of(t, matmul(t, *map(counts, (a, b))))
    if not a.shape or not b.shape:
        raise Refused("'@' of a number")
    for x in (a, b):
        symbolic.must_have_rows(t, x)
    same_size(t, a.shape[-1], b.shape[-2] if len(b.shape) > 1 else b.shape[0])
    if len(a.shape) == 1 or len(b.shape) == 1:
        return _with_vector(t, a, b)
    if len(a.shape) == 2 == len(b.shape) and _by_library(a, b):
        result = (a.shape[0], b.shape[1]), "f"
        return routine(t, "matmul", [result], reals(a), reals(b))[0]
    stack = common_shape(t, [a.shape[:-2], b.shape[:-2]])
    rank = len(stack) + 2
    rows, columns, k = SLOTS[rank - 2], SLOTS[rank - 1], SLOTS[rank]
    shape = (*stack, a.shape[-2], b.shape[-1], a.shape[-1])
    left = symbolic.gathered(symbolic.reused(t, a), shape, [*_stack(a, stack), rows, k])
    right = symbolic.gathered(symbolic.reused(t, b), shape, [*_stack(b, stack), k, columns])
    return contract(t, left, right)


def _by_library(a: SymArray, b: SymArray) -> bool:
    """Whether a library computes a product: not of small matrices."""
    known = [ir.integer(n) for n in (*a.shape, *b.shape)]
    return all(n is None or n > LARGE for n in known)


def reals(a: SymArray) -> SymArray:
    """An array of reals."""
    if a.kind == "f":
        return a
    return symbolic.lazy(a.shape, "f", symbolic.as_kind(a, "f"), symbolic.needs(a))


def routine(
    t: Tracer, name: str, results: Sequence[tuple[Sequence[Expr], str]], *args: SymArray | Expr
) -> list[Any]:
    """The results of a routine of a library, of these shapes and kinds; from arrays, and numbers."""
    made = [(t.names.fresh(name), Type(tuple(shape), kind)) for shape, kind in results]
    leaves = tuple(a if isinstance(a, Expr) else symbolic.leaf_of(t, a) for a in args)
    t.emit(loop_program.Call(name, tuple(made), leaves))
    return [
        symbolic.in_memory(array(n, type.kind), type.shape, type.kind)
        if type.shape
        else symbolic.scalar_of(loop_program.scalar(n, type.kind), type.kind)
        for n, type in made
    ]


def _with_vector(t: Tracer, a: SymArray, b: SymArray) -> Any:
    if len(a.shape) == 1 and len(b.shape) == 1:
        return contract(t, a, b)
    if len(b.shape) == 1:
        rank = len(a.shape)
        vector = symbolic.gathered(symbolic.reused(t, b), a.shape, [SLOTS[rank - 1]])
        return contract(t, a, vector)
    rank = len(b.shape)
    shape = (*b.shape[:-2], b.shape[-1], b.shape[-2])
    right = symbolic.gathered(b, shape, [*SLOTS[: rank - 2], SLOTS[rank - 1], SLOTS[rank - 2]])
    left = symbolic.gathered(symbolic.reused(t, a), shape, [SLOTS[rank - 1]])
    return contract(t, left, right)


def _stack(a: SymArray, stack: Sequence[Expr]) -> list[Expr]:
    """The indices in front of the last two."""
    offset = len(stack) - (len(a.shape) - 2)
    return [ZERO if n is ONE else SLOTS[offset + i] for i, n in enumerate(a.shape[:-2])]


def contract(t: Tracer, a: SymArray, b: SymArray) -> Any:
    """The sum of products along the last axis."""
    product = symbolic.elementwise(t, _times, a, b)
    return fold(t, product, (-1,), ZERO, ir.add, "total")


def _times(x: Any, y: Any) -> Any:

    return scalars.binary(ast.Mult, x, y)
