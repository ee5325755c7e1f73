"""Reverse and forward mode along what a run recorded.

With `record` the derivatives are scalars of the same record, to be differentiated again; without, doubles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symdiff.frontend.by_value.local_slopes import recorded_slopes, slopes
from symdiff.frontend.by_value.reals import Real, value_of


def reached(roots: Sequence[Any]) -> list[Real]:
    """The scalars that others are computed from, in the order of the run."""
    seen: dict[int, Real] = {}
    stack = [r for r in roots if type(r) is Real]
    while stack:
        x = stack.pop()
        if x.n not in seen:
            seen[x.n] = x
            stack += [a for a in x.args if type(a) is Real]
    return [seen[n] for n in sorted(seen)]


def _is_zero(g: Any) -> bool:
    return type(g) is not Real and g == 0


def pulled_back(
    roots: Sequence[Any], seeds: Sequence[Any], leaves: Sequence[Real], record: bool
) -> list[Any]:
    """`sum_i seeds[i] * d roots[i]/d leaf` for each leaf, in reverse mode."""
    order = reached(roots)
    adjoint: dict[int, Any] = {}
    for r, seed in zip(roots, seeds, strict=True):
        if type(r) is Real:
            adjoint[r.n] = adjoint[r.n] + seed if r.n in adjoint else seed
    rule = recorded_slopes if record else slopes
    with np.errstate(all="ignore"):
        for x in reversed(order):
            g = adjoint.get(x.n, 0.0)
            if not x.args or _is_zero(g):
                continue
            for a, p in zip(x.args, rule(x), strict=True):
                if type(a) is Real and not _is_zero(p):
                    adjoint[a.n] = adjoint[a.n] + g * p if a.n in adjoint else g * p
    found = [adjoint.get(x.n, 0.0) for x in leaves]
    lost = any(
        type(r) is not Real and math.isnan(value_of(r)) and not _is_zero(s)
        for r, s in zip(roots, seeds, strict=True)
    )
    return [math.nan] * len(found) if lost else found


def pushed_forward(
    roots: Sequence[Any], tangents: Mapping[int, Any], record: bool
) -> list[Any]:  # fmt: skip
    """The derivative of each root along tangents of scalars, which are given by their places."""
    rule = recorded_slopes if record else slopes
    tangent: dict[int, Any] = dict(tangents)
    with np.errstate(all="ignore"):
        for x in reached(roots):
            moved = [
                k for k, a in enumerate(x.args)
                if type(a) is Real and not _is_zero(tangent.get(a.n, 0.0))
            ]  # fmt: skip
            if not moved:
                continue
            by, total = rule(x), 0.0
            for k in moved:
                if not _is_zero(by[k]):
                    total = total + by[k] * tangent[x.args[k].n]
            tangent[x.n] = total
    return [
        tangent.get(r.n, 0.0) if type(r) is Real else math.nan if math.isnan(r) else 0.0
        for r in roots
    ]
