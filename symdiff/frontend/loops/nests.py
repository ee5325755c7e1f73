"""Nests of loops over the axes of arrays, with carried values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symdiff.frontend.arrays.symbolic import LETTERS
from symdiff.frontend.trace.tracer import Tracer
from symdiff.ir import Expr, loop_program
from symdiff.ir.loop_program import Carried, Loop, Statement, Type, index

State = tuple[str, Type, Expr]
"""A carried value: a stem for its names, its type, the value before."""

Step = Callable[[tuple[Expr, ...], Sequence[Expr]], tuple[Sequence[Statement], Sequence[Expr]]]
"""Maps the indices and the carried values to statements and the values after them."""


def loops(
    t: Tracer, counts: Sequence[Expr], states: Sequence[State], step: Step
) -> tuple[tuple[Statement, ...], list[Expr]]:
    """Loops inside of each other, the last count the innermost; and the values after them."""

    def level(
        k: int, indices: tuple[Expr, ...], now: Sequence[Expr]
    ) -> tuple[tuple[Statement, ...], list[Expr]]:
        if k == len(counts):
            statements, after = step(indices, now)
            return tuple(statements), list(after)
        letter = t.names.fresh(LETTERS[k])
        inside = [type.leaf(t.names.fresh(stem)) for stem, type, _ in states]
        body, nexts = level(k + 1, (*indices, index(letter)), inside)
        results = [type.leaf(t.names.fresh(stem)) for stem, type, _ in states]
        carried = tuple(
            Carried(loop_program.name_of(i), type, before, after, loop_program.name_of(r))
            for i, (_, type, _), before, after, r in zip(
                inside, states, now, nexts, results, strict=True
            )
        )
        loop = Loop(letter, counts[k], carried, body, t.names.fresh("trips"))
        return (loop,), results

    return level(0, (), [init for _, _, init in states])


def folded(
    t: Tracer,
    counts: Sequence[Expr],
    start: Expr,
    kind: str,
    name: str,
    step: Callable[[tuple[Expr, ...], Expr], Expr],
) -> Expr:
    """A number combined with every element in turn."""

    def one(at: tuple[Expr, ...], now: Sequence[Expr]) -> tuple[list[Any], list[Expr]]:
        return [], [step(at, now[0])]

    block, (result,) = loops(t, counts, ((name, Type((), kind), start),), one)
    for s in block:
        t.emit(s)
    return result
