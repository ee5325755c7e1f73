"""Several rows at once: sums over rows of arrays, made together.

Before:  for i: s = 0; for k: s += a[i, k]*x[k]; y[i] = s
After:   for i by 4: s0 = s1 = s2 = s3 = 0
                     for k: s0 += a[i, k]*x[k]; s1 += a[i + 1, k]*x[k]; ...
                     y[i] = s0; y[i + 1] = s1; ...

Requires: as many iterations for each row; rows of a triangle stay alone.

What the rows have in common is loaded once, the sums do not wait for each other, and memory
is read as several streams. Each sum has its terms in the same order as alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from symdiff.ir import TRUE, Expr
from symdiff.ir.loop_program import (
    Build,
    Loop,
    exchanged,
    index,
    leaves,
    name_of,
    renamed,
    replaced,
)
from symdiff.ir.names import Names

ROWS = 4
"""How many, a power of two."""


def together(s: Build, places: Sequence[str], names: Names) -> tuple[Loop, list[Expr]] | None:
    """The loop that computes the sums of several elements of a build, and their values; None
    if the build is not of one sum, or if its elements have sums of different lengths.

    Parameters
    ----------
    places : the last index of each of the elements.
    """
    if len(s.body) != 1 or not isinstance(s.body[0], Loop):
        return None
    first = s.body[0]
    if first.count is None or first.condition is not TRUE or first.saves or first.restores:
        return None
    if any(c.type.shape for c in first.carried):
        return None
    if any(name_of(e) == s.indices[-1] for e in leaves((first.count,))):
        return None  # a sum of its own length for each element
    loops: list[Loop] = []
    values: list[Expr] = []
    for place in places:
        (copy,), new = renamed((first,), names, exactly=True)
        here = {index(s.indices[-1]): index(place)}
        values += exchanged(exchanged((s.value,), new), here)
        (copy,) = replaced((copy,), here, exactly=True)
        assert isinstance(copy, Loop)
        if loops:
            (copy,) = replaced((copy,), {index(copy.index): index(loops[0].index)}, exactly=True)
        assert isinstance(copy, Loop)
        loops.append(copy)
    carried = tuple(c for loop in loops for c in loop.carried)
    body = tuple(b for loop in loops for b in loop.body)
    return replace(loops[0], carried=carried, body=body), values


__all__ = ["ROWS", "together"]
