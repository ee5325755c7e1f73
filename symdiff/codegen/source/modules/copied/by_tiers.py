"""From a call of a module's function to its results, of which modules contain copies.

Before : the kernel of double arithmetic with its error test, and what computes again.
After  : the results for numbers, or element by element for arrays, of which those flagged are
         computed again by double-double arithmetic and by balls.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math
import warnings

import numpy as np

_MOST = 4_000_000
"""Bits of balls, summed over evaluations, that one call may take; with python-flint ten times as
many."""


def _demand(demand, point):
    """Refuse arguments that are not what they must be."""
    broken, texts, names = demand
    found = broken(*point)
    if found:
        values = ", ".join(f"{n} = {p!r}" for n, p in zip(names, point))
        raise ValueError(f"{texts[found - 1]}, for {values}")


def _better(first, found, sure):
    """What was found again, unless it is neither sure nor finite."""
    return found if sure or abs(found) < math.inf else first


def _at(kernel, again, count, point):
    """The results for numbers."""
    values = kernel(*point)
    if again is None:
        return values if count != 1 else (values,)
    *values, flagged = values
    if not flagged:
        return values
    (_, wide, _, balls, _, demand), columns = again
    point = [float(p) for p in point]
    if demand is not None:
        _demand(demand, point)
    if wide is None:
        return values
    found, sure = wide(*point)
    values = [_better(v, found[c], sure[c]) for v, c in zip(values, columns)]
    if balls is None or all(sure[c] for c in columns):
        return values
    return _proven(balls, columns, point, values)


def _repair(again, columns, flat, out, at):
    """Compute the elements of arrays that are flagged, which are at these places, again."""
    compensated, wide, loops, balls, count, demand = again
    part = [a[at].astype(np.float64) for a in flat]
    if demand is not None:
        for point in zip(*part):
            _demand(demand, [float(p) for p in point])
    if wide is None:
        return
    if compensated is not None:
        found, flagged = np.empty((count, at.size)), np.empty(at.size, np.bool_)
        compensated[at.size >= _PARALLEL](*part, found, flagged)
        for o, c in zip(out, columns):
            o[at] = np.where(flagged, o[at], found[c])
        at, part = at[flagged], [p[flagged] for p in part]
    found, sure = np.empty((count, at.size)), np.empty((count, at.size), np.bool_)
    loops[at.size >= _PARALLEL](*part, found, sure)
    for o, c in zip(out, columns):
        taken = sure[c] | np.isfinite(found[c])
        o[at[taken]] = found[c][taken]
    left = np.flatnonzero(~sure[list(columns)].all(axis=0))
    if balls is None or not left.size:
        return
    _SPENT[0], most = 0, _MOST if flint is None else 10 * _MOST
    for done, k in enumerate(left):
        if _SPENT[0] > most:
            text = f"{left.size - done} elements are not proven accurate"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
            break
        point = [float(p[k]) for p in part]
        values = _proven(balls, columns, point, [float(o[at[k]]) for o in out])
        for o, value in zip(out, values):
            o[at[k]] = value
