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
    (_, wide, _, balls, _, demand, written), columns = again
    point = [float(p) for p in point]
    if demand is not None:
        _demand(demand, point)
    if wide is None:
        return values
    found, sure = wide(*point)
    values = [_better(v, found[c], sure[c]) for v, c in zip(values, columns)]
    known = all(sure[c] for c in columns)
    if written is not None:
        known = known and not any(map(math.isnan, values)) and all(map(math.isfinite, point))
    if balls is None or known:
        return values
    return _settled(balls, columns, point, values, written)


def _settled(balls, columns, point, values, written):
    """The values that balls prove, or the limits, or what IEEE arithmetic has where there is none; of
    results that are nan then those of the function as it was written."""
    if all(map(math.isfinite, point)):
        values = _proven(balls, columns, point, values, _beyond)
    else:
        every = _beyond(balls, point)
        values = [every[c] for c in columns]
    return values if written is None else _as_written(written, columns, point, values)


def _as_written(written, columns, point, values):
    """Results with those that are nan, and with values at infinite points where branches are taken that
    may be guards, as they are written: where that has a value, at the point and not as a limit."""
    balls, own, everywhere, branches, value, smooth = written
    finite = all(map(math.isfinite, point))
    if not branches and (finite or any(map(math.isnan, point))):
        return values
    lost = [k for k, v in enumerate(values) if math.isnan(v) or (everywhere and not finite)]
    wanted = [k for k in lost if columns[k] < own]
    if finite and smooth is not None and len(wanted) < len(lost):
        function, column = smooth
        if _exactly(balls, (value,), point)[0] is not None:
            (other,) = _proven(function, (column,), point, [math.nan], _beyond)
            wanted = lost if math.isnan(other) else wanted
    if not wanted:
        return values
    places = [columns[k] for k in wanted]
    if finite:
        found = _exactly(balls, places, point)
    else:
        every = _beyond(balls, point)
        found = [None if math.isnan(every[c]) else every[c] for c in places]
    values = list(values)
    for k, v in zip(wanted, found):
        values[k] = values[k] if v is None else v
    return values


def _repair(again, columns, flat, out, at):
    """Compute the elements of arrays that are flagged, which are at these places, again."""
    compensated, wide, loops, balls, count, demand, written = again
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
    left = ~sure[list(columns)].all(axis=0)
    if written is not None:
        left |= np.any([np.isnan(o[at]) for o in out], axis=0)
        left |= ~np.all([np.isfinite(p) for p in part], axis=0)
    else:  # nothing comes of nan alone
        given = np.any([np.isnan(p) for p in part], axis=0)
        left &= ~(given & np.all([np.isnan(o[at]) for o in out], axis=0))
    left = np.flatnonzero(left)
    if balls is None or not left.size:
        return
    _SPENT[0], most = 0, _MOST if flint is None else 10 * _MOST
    for done, k in enumerate(left):
        if _SPENT[0] > most:
            text = f"{left.size - done} elements are not proven accurate"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
            break
        point = [float(p[k]) for p in part]
        values = _settled(balls, columns, point, [float(o[at[k]]) for o in out], written)
        for o, value in zip(out, values):
            o[at[k]] = value
