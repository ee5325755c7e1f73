"""Rewriting of blocks of statements, nested blocks included, and elements of arrays written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from symdiff.ir import Expr, substitute, topological
from symdiff.ir.loop_program import (
    INTEGER,
    LOAD,
    Block,
    Build,
    Carried,
    Check,
    Loop,
    Statement,
    Type,
    index,
    name_of,
)

S = TypeVar("S", bound=Statement)
Rewrite = Callable[[Block, tuple[Expr, ...]], tuple[Block, tuple[Expr, ...]]]
"""Maps a block and the expressions at its end to others."""


def with_inside(s: S, rewrite: Rewrite) -> S:
    """The statement with its own block rewritten, and with it the expressions at the end of the
    block: the value of a build; the condition of a loop, its carried values and its saves."""
    if isinstance(s, Build):
        body, (value,) = rewrite(s.body, (s.value,))
        return replace(s, body=body, value=value)
    if not isinstance(s, Loop):
        return s
    ends = (s.condition, *(c.next for c in s.carried), *(v.value for v in s.saves))
    body, ends = rewrite(s.body, ends)
    left = iter(ends)
    return replace(
        s, body=body, condition=next(left),
        carried=tuple(replace(c, next=next(left)) for c in s.carried),
        saves=tuple(replace(v, value=next(left)) for v in s.saves),
    )  # fmt: skip


def element(made: Build, at: Sequence[Expr]) -> Expr:
    """The expression of one element of an array."""
    return substitute((made.value,), dict(zip(map(index, made.indices), at, strict=True)))[0]


def elements(e: Expr, builds: Mapping[str, Build]) -> dict[Expr, Expr]:
    """The expressions of those array elements that an expression loads."""
    loads = (n for n in topological((e,)) if n.op is LOAD and name_of(n.args[0]) in builds)
    return {n: element(builds[name_of(n.args[0])], n.args[1:]) for n in loads}


def bottom_up(block: Block, rule: Callable[[Statement], Iterable[Statement]]) -> Block:
    """The block with a rule applied to each statement, inner statements first."""
    made: list[Statement] = []
    for s in block:
        if isinstance(s, (Build, Loop)):
            s = replace(s, body=bottom_up(s.body, rule))
        made += rule(s)
    return tuple(made)


def nested(
    axes: Sequence[tuple[str, Expr]],
    carried: Sequence[Carried],
    body: Block,
    fresh: Callable[[str, Type], str],
) -> Loop:
    """Loops over axes, which are indices and their counts, around a body.

    Parameters
    ----------
    carried : the values that the innermost loop changes, each with its value before the outermost
        loop and its name after it ("" for a new name).
    fresh : gives new names of a type.
    """
    starts, ends = [c.leaf for c in carried], [c.next for c in carried]
    for depth in reversed(range(len(axes))):
        outer = [c.type.leaf(fresh(c.name, c.type)) if depth else c.init for c in carried]
        results = [("" if depth else c.result) or fresh(c.name, c.type) for c in carried]
        passed = tuple(
            Carried(name_of(start), c.type, init, end, result)
            for c, start, init, end, result in zip(
                carried, starts, outer, ends, results, strict=True
            )
        )
        loop = Loop(*axes[depth], passed, body, fresh("trips", INTEGER))
        body, starts, ends = (loop,), outer, [c.after for c in passed]
    return loop


def unchecked(block: Block, error: str | None = None) -> Block:
    """The block without its checks, or those that raise one error."""

    def rule(s: Statement) -> Block:
        return () if isinstance(s, Check) and error in (None, s.error) else (s,)

    return bottom_up(block, rule)


__all__ = ["bottom_up", "element", "elements", "nested", "unchecked", "with_inside"]
