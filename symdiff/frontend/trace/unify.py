"""Sizes that must agree get one name.

Before:  x of n elements, y of m, `require n == m`
After:   x and y of n elements, which each call checks

Requires: checks that hold wherever the program runs at all.
Ensures: the same programs for arguments that fit; indices of one axis are in the range of
the other without a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff.errors import Location
from symdiff.ir import CONST, EQ, TRUE, Expr, substitute
from symdiff.ir.integers import axis_of
from symdiff.ir.loop_program import INDEX, Block, Check, Parameter, Type, replaced


def unified(
    params: Sequence[Parameter], checks: Sequence[Check], block: Block, roots: Sequence[Expr]
) -> tuple[tuple[Parameter, ...], Block, tuple[Expr, ...], dict[Expr, Location]]:
    """The parameters, the block after the remaining checks, and the roots; and the places that fix
    the sizes of axes, by `axis_of`."""
    sizes = {n for p in params for n in p.type.shape}
    names: dict[Expr, Expr] = {}
    places: dict[Expr, Location | None] = {}

    def named(n: Expr) -> Expr:
        while n in names:
            n = names[n]
        return n

    for check in checks:
        if check.condition.op is not EQ:
            continue
        a, b = map(named, check.condition.args)
        if a is b or not {a, b} <= {n for n in (a, b) if n in sizes or n.op is CONST}:
            continue
        if a.op is CONST:
            a, b = b, a
        if b.op is CONST and a.op is INDEX:
            names[a] = b
        elif a.op is INDEX and b.op is INDEX:
            names[b] = a
        for n in check.condition.args:
            places.setdefault(n, check.location)
    mapping = {n: named(n) for n in names}
    if not mapping:
        return tuple(params), (*checks, *block), tuple(roots), {}
    left = []
    for check in checks:
        (condition,) = substitute((check.condition,), mapping)
        if condition is not TRUE:
            left.append(replace(check, condition=condition))
    sized = tuple(
        replace(p, type=Type(tuple(mapping.get(n, n) for n in p.type.shape), p.type.kind))
        for p in params
    )
    met = {
        axis_of(p.name, k): place
        for p in params for k, n in enumerate(p.type.shape)
        if (place := places.get(n)) is not None
    }  # fmt: skip
    return sized, (*left, *replaced(block, mapping)), substitute(roots, mapping), met
