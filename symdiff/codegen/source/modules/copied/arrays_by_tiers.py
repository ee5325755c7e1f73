"""Results of functions with arrays and loops that lost digits, computed again, of which modules
contain copies.

Before : what a function computed with its rounding errors, some of which are too large.
After  : the same in ball arithmetic, in double-double arithmetic, or both: the former first where
         it is short, as nothing needs to be compiled for it.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math
import warnings

import numpy as np

_FEW = 3_000
"""Operations in balls that come before double-double arithmetic."""
_MANY = 30_000
"""The same after it."""
_PATIENCE = 300_000
"""Operations that all calls of a function may take before it."""
_SPENT_BY = {}
"""What they have taken, by name."""
_EFFORT = 3_000_000
"""Operations times bits of one call in balls; with python-flint sixty times as many."""
_LEFT = [0, 0]
"""Operations, and operations times bits, that are left."""
_TINY = 2.0**-250
"""Below this products of few arguments underflow, which no rounding error tells."""
_DIVISORS = []
"""What was divided by."""


class _UnsureError(Exception):
    """What hangs on a condition that balls do not decide."""


class _TooLongError(Exception):
    """There is nothing left of the operations."""


def _spend(operations):
    """Count operations."""
    _LEFT[0] -= operations
    _LEFT[1] -= operations * (_BITS[0] if flint is None else flint.ctx.prec)
    if min(_LEFT) < 0:
        raise _TooLongError


def _noted(divisor):
    """What is divided by, where a formula may be undefined."""
    _DIVISORS.append(divisor)
    return divisor


def _certain_ball(condition):
    """A condition on which hangs what is done next."""
    if condition is None:
        raise _UnsureError
    return condition


def _integer_in_ball(x):
    """The integer that a ball is."""
    if not x.is_exact() or not x.is_integer():
        raise _UnsureError
    return int(x.unique_fmpz())


def _balls_of(values):
    """An array of exact balls."""
    balls = np.empty(np.shape(values), object)
    for place, value in np.ndenumerate(values):
        balls[place] = _ball(float(value))
    return balls


def _is_real(value):
    return np.asarray(value).dtype.kind == "f"


def _has_tiny(args):
    """Whether real arguments are so small that squares and cubes of them may underflow."""
    sizes = [np.abs(a) for a in args if _is_real(a)]
    return any(bool(np.any((size < _TINY) & (size > 0.0))) for size in sizes)


def _flat(values):
    """The numbers in all that is real."""
    return [float(x) for v in values if _is_real(v) for x in np.ravel(v)]


def _like(values, flat):
    """These numbers in place of all that is real; None where none is known."""
    numbers, made = iter(flat), []
    for v in values:
        if _is_real(v):
            part = [next(numbers) for _ in range(np.size(v))]
            part = [float(old) if new is None else new + 0.0 for old, new in zip(np.ravel(v), part)]
            v = np.array(part, np.float64).reshape(np.shape(v)) if np.ndim(v) else part[0]
        made.append(v)
    return made


def _in_balls(balls, args, first, operations):
    """For all real numbers in the results what balls prove, or the limit, or None; nothing at all
    if that takes more than so many operations."""
    point, count, marks = _flat(args), len(_flat(first)), []
    shapes = [(v.shape, _is_real(v)) for v in map(np.asarray, args)]

    def at(decide, *numbers):
        numbers, given = iter(numbers), []
        for a, (shape, real) in zip(args, shapes):
            if not real:
                given.append(a)
            elif not shape:
                given.append(next(numbers))
            else:
                part = np.empty(shape, object)
                for place in np.ndindex(*shape):
                    part[place] = next(numbers)
                given.append(part)
        _DIVISORS.clear()
        _LEFT[0] = operations
        try:
            results = balls(decide, *given)
        except (_UnsureError, StopIteration):
            return [_ball("nan")] * count, []
        if not marks:
            zeros = [k for k, d in enumerate(_DIVISORS) if not (d > 0 or d < 0)]
            marks.append(zeros[:8])
        divisors = [_DIVISORS[k] for k in marks[0] if k < len(_DIVISORS)]
        real = [r for r, v in zip(results, first) if _is_real(v)]
        return [x for r in real for x in (r.flat if isinstance(r, np.ndarray) else [r])], divisors

    _LEFT[1] = _EFFORT if flint is None else 60 * _EFFORT
    try:
        return _proven(at, range(count), point, [None] * count)
    except _TooLongError:
        return None


def _agree_all(plain, other):
    """Whether doubles have lost little: of the largest element of an array some ulps, of each one less
    than half of the digits."""
    for p, w in zip(plain, other):
        if not _is_real(w):
            continue
        p, w = np.asarray(p), np.asarray(w)
        if not (np.isfinite(w).all() and np.isfinite(p).all()):
            return False
        off, size = np.abs(p - w), np.abs(w)
        if np.any(off > 3.6e-15 * size.max(initial=0.0)) or np.any(off > 1.5e-8 * size):
            return False
    return True


def _same_all(near, wide):
    """Whether corrections of first order and double-double arithmetic have the same 50 bits."""
    pairs = ((a, b) for a, b in zip(near, wide) if _is_real(b))
    return all(np.all(np.abs(np.subtract(a, b)) <= 2.0**-50 * np.abs(b)) for a, b in pairs)


def _computed_again(name, args, near, plain, wide, balls):
    """The results of a call; `near` are those with their corrections. What is not proven stays as
    it is known best, with a warning."""
    first = plain(*args)
    first = list(first) if isinstance(first, tuple) else [first]
    reals = [np.asarray(a) for a in args if _is_real(a)]
    if not all(r.size and np.isfinite(r).all() for r in reals):
        return first
    with np.errstate(all="ignore"):
        best = _like(first, [x if math.isfinite(x) else None for x in _flat(near)])
        proven, spent = None, _SPENT_BY.get(name, 0)
        if balls is not None and spent < _PATIENCE:
            proven = _in_balls(balls, args, first, _FEW)
            _SPENT_BY[name] = spent + _FEW - max(_LEFT[0], 0)
        if proven is not None and None not in proven:
            return _like(first, proven)
        sure = None
        try:
            values, known = wide(*args) if wide is not None else (None, None)
        except ArithmeticError:  # a condition that rounding may have decided
            values = None
        if values is not None:
            if proven is None and _agree_all(first, values):
                return first
            values = [w if _is_real(v) else v for v, w in zip(first, values)]
            best = _like(best, [None if math.isnan(x) else x for x in _flat(values)])
            sure = [bool(s) for v, k in zip(first, known) if _is_real(v) for s in np.ravel(k)]
            if all(sure):
                return best if proven is None else _like(best, proven)
        if proven is None and balls is not None:
            proven = _in_balls(balls, args, first, _MANY)
        if values is not None and _same_all(near, values):
            return best if proven is None else _like(best, proven)
    if proven is not None:
        best = _like(best, proven)
    sure = sure or [False] * len(_flat(first))
    proven = proven or [None] * len(sure)
    left = sum(p is None and not s for p, s in zip(proven, sure))
    if left:
        text = f"{name}: {left} results may have lost digits, or are not finite"
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    return best
