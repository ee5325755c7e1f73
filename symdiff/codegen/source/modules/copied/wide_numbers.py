"""Double-double numbers with error bounds in plain Python, of which modules contain copies.

Before : x and y, numbers (hi, lo, error, exponent): (hi + lo) * 2**exponent, and a bound of the
         error of hi + lo in units of 2**-106.
After  : `_mul(x, y)`, such a number.
Ensures: the bounds of `passes.accuracy.widen`, of which these are the same formulas, but nothing
         over- or underflows: the exponent is not 0 for numbers beyond 2**+-300, whose hi is near
         1. An infinite error says that nothing is known, a negative one that the number is
         certainly nan. Conditions are 1.0 (true), 0.0 (false) or 0.5 (rounding may have decided).

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math

import numpy as np

_UNIT = 2.465190328815662e-32
"""2**-105 turns a bound into an absolute error; twice, for the rounding of the bounds."""
_FLOOR = 2.5653355008114852e-290
"""2**-962, in those units: what underflow may cost."""
_NOWHERE = (math.nan, 0.0, -1.0, 0.0)
"""No real number."""


def _scaled(hi, lo, error, exponent):
    """A number whose hi is not too large or small to compute with."""
    size = abs(hi)
    if exponent == 0.0 and 4.9e-91 < size < 2.0e90:
        return hi, lo, error, 0.0
    if size == 0.0 or not size < math.inf:
        return hi, lo, error, exponent if error > 0.0 else 0.0
    k = math.frexp(hi)[1]
    total = exponent + k
    if abs(total) < 300.0:  # within the usual range
        k, total = int(-exponent), 0.0
    if error > 0.0:
        error = max(math.ldexp(error, -k), 1e-300)
    return math.ldexp(hi, -k), math.ldexp(lo, -k), error, total


def _number(a):
    """A double, exactly."""
    if a == a:
        return _scaled(a, 0.0, 0.0, 0.0)
    return _NOWHERE


def _argument(a):
    """The same of an argument: of what is not finite other tiers know more."""
    if abs(a) < math.inf:
        return _scaled(a, 0.0, 0.0, 0.0)
    return a, 0.0, math.inf, 0.0


def _deciding(a):
    """A double that decides something, exactly, also where it is not finite."""
    if abs(a) < math.inf:
        return _scaled(a, 0.0, 0.0, 0.0)
    return a, 0.0, 0.0, 0.0


def _neg(x):
    """-x."""
    return -x[0], -x[1], x[2], x[3]


def _abs(x):
    """|x|."""
    return _neg(x) if x[0] < 0.0 else x


def _at_exponent(x, exponent):
    """x written with a larger exponent."""
    if x[3] == exponent:
        return x
    k = int(max(x[3] - exponent, -3000.0))
    return math.ldexp(x[0], k), math.ldexp(x[1], k), math.ldexp(x[2], k) + _FLOOR, exponent


def _add(x, y):
    """x + y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    if x[3] != y[3]:
        if x[0] == 0.0 and x[2] == 0.0:
            return y
        if y[0] == 0.0 and y[2] == 0.0:
            return x
        exponent = max(x[3], y[3])
        x, y = _at_exponent(x, exponent), _at_exponent(y, exponent)
    hi, lo = _pair_add(x[:2], y[:2])
    own = 0.0 if x[1] == 0.0 and y[1] == 0.0 else 4.0 * abs(hi)
    return _scaled(hi, lo, x[2] + y[2] + own, x[3])


def _sub(x, y):
    """x - y."""
    return _add(x, _neg(y))


def _mul(x, y):
    """x*y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    hi, lo = _pair_mul(x[:2], y[:2])
    error = x[2] * (abs(y[0]) + y[2] * _UNIT) + abs(x[0]) * y[2]
    if x[1] != 0.0 or y[1] != 0.0:
        error += 6.0 * abs(hi)
    return _scaled(hi, lo, error, x[3] + y[3])


def _div(x, y):
    """x/y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    hi, lo = _pair_div(x[:2], y[:2])
    if x[1] == y[1] == lo == 0.0 and x[2] == y[2] == 0.0:
        p, e = _two_product(hi, y[0])
        if p == x[0] and e == 0.0:
            return _scaled(hi, lo, 0.0, x[3] - y[3])
    room = abs(y[0]) - y[2] * _UNIT
    if not room > 0.0:
        return hi, lo, math.inf, 0.0
    return _scaled(hi, lo, (x[2] + y[2] * abs(hi)) / room + 16.0 * abs(hi), x[3] - y[3])


def _sqrt(x):
    """The square root."""
    if x[2] < 0.0 or x[0] < -(x[2] * _UNIT):
        return _NOWHERE
    if x[0] == x[2] == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if x[3] % 2.0 != 0.0:
        x = 2.0 * x[0], 2.0 * x[1], 2.0 * x[2], x[3] - 1.0
    hi, lo = _pair_sqrt(x[:2])
    if x[1] == x[2] == lo == 0.0:
        p, e = _two_product(hi, hi)
        if p == x[0] and e == 0.0:
            return _scaled(hi, lo, 0.0, 0.5 * x[3])
    return _scaled(hi, lo, x[2] / hi + 4.0 * hi, 0.5 * x[3])


def _maximum(x, y):
    """The larger one: which is taken matters no more than the errors do."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    exponent = max(x[3], y[3])
    u, v = _at_exponent(x, exponent), _at_exponent(y, exponent)
    below = u[0] < v[0] or (u[0] == v[0] and u[1] < v[1])
    largest = v if below else u
    return _scaled(largest[0], largest[1], u[2] + v[2], exponent)


def _minimum(x, y):
    """The smaller one."""
    return _neg(_maximum(_neg(x), _neg(y)))


def _larger(x, y):
    """Python's maximum, which is x where y is nowhere."""
    return x if y[2] < 0.0 else _maximum(x, y)


def _smaller(x, y):
    """Python's minimum."""
    return x if y[2] < 0.0 else _minimum(x, y)


# ------------------------------------------------------------------------ conditions
def _equal(x, y):
    """x == y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return 0.5
    if x[1] == x[2] == y[1] == y[2] == 0.0:
        return 1.0 if x[0] == y[0] and x[3] == y[3] else 0.0
    difference = _sub(x, y)
    return 0.0 if abs(difference[0]) > difference[2] * _UNIT else 0.5


def _less(x, y):
    """x < y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return 0.5
    if abs(x[0]) == math.inf or abs(y[0]) == math.inf:  # what has an exponent may round to one
        if max(x[2], y[2]) < math.inf and x[3] == y[3] == 0.0:
            return 1.0 if x[0] < y[0] else 0.0
        return 0.5
    difference = _sub(x, y)
    if x[1] == x[2] == y[1] == y[2] == 0.0 and x[3] == y[3]:
        return 1.0 if x[0] < y[0] else 0.0
    if abs(difference[0]) > difference[2] * _UNIT:
        return 1.0 if difference[0] < 0.0 else 0.0
    return 0.5


def _at_most(x, y):
    """x <= y."""
    if x[1] == x[2] == y[1] == y[2] == 0.0 and x[0] == y[0] and x[3] == y[3]:
        return 1.0
    return _less(x, y)


def _choose(condition, x, y):
    """x where the condition holds, else y."""
    if condition == 1.0:
        return x
    if condition == 0.0:
        return y
    return x[0], x[1], math.inf, x[3]


# ----------------------------------------------------------------------------- steps
def _usual(x):
    """x without its exponent: what is huge is infinite, what is tiny is 0 within an error."""
    if x[3] == 0.0:
        return x
    if x[3] > 0.0:
        return math.copysign(math.inf, x[0]), 0.0, math.inf, 0.0
    return 0.0, 0.0, 4.0e-59, 0.0


def _step(x, hi, lo, distance):
    """An integer is off by a whole or not at all."""
    if x[2] < 0.0:
        return _NOWHERE
    return hi, lo, 0.0 if x[2] == 0.0 or x[2] * _UNIT < distance else math.inf, 0.0


def _beside(x):
    """How far x is from the nearest integer."""
    down = _pair_sub(x[:2], _pair_floor(x[:2]))[0]
    return min(down, 1.0 - down)


def _floor(x):
    """The largest integer up to x."""
    if x[3] > 0.0:
        return x if x[2] == 0.0 else (x[0], x[1], math.inf, x[3])
    if x[3] < 0.0:
        unsure = x[2] * _UNIT >= abs(x[0]) and x[2] > 0.0
        x = math.copysign(1e-90, x[0]), 0.0, math.inf if unsure else 0.0, 0.0
    hi, lo = _pair_floor(x[:2])
    return _step(x, hi, lo, _beside(x))


def _ceil(x):
    """The smallest integer from x on."""
    return _neg(_floor(_neg(x)))


def _trunc(x):
    """The integer towards 0."""
    return _ceil(x) if x[0] < 0.0 else _floor(x)


def _round(x):
    """The nearest integer, ties to even."""
    if x[3] > 0.0:
        return _floor(x)
    x = _usual(x)
    low = _pair_floor(x[:2])
    down = _pair_sub(x[:2], low)
    hi, lo = low
    odd = _pair_floor(_pair_scale(low, 0.5)) != _pair_scale(low, 0.5)
    up = down[0] > 0.5 or (down[0] == 0.5 and (down[1] > 0.0 or (down[1] == 0.0 and odd)))
    if up:
        hi, lo = _pair_add(low, (1.0, 0.0))
    return _step(x, hi, lo, abs(_pair_sub(down, (0.5, 0.0))[0]))


def _fmod(x, y):
    """x - n*y, where n = trunc(x/y)."""
    return _sub(x, _mul(_trunc(_div(x, y)), y))


# ------------------------------------------------------------------------- functions
def _carried(x, slope, room):
    """The error that a function inherits from its argument, where a change of the argument by
    `room` changes its slope by no more than a factor of 2."""
    if x[2] == 0.0:
        return 0.0
    return 4.0 * (slope * x[2]) if x[2] * _UNIT + abs(x[1]) <= room else math.inf


def _exp(x):
    """exp(x)."""
    if x[2] < 0.0:
        return _NOWHERE
    x = _usual(x)
    if x[0] == 0.0 and x[2] == 0.0:
        return 1.0, 0.0, 0.0, 0.0
    if not abs(x[0]) < 1.0e9:
        if x[0] < 0.0 and x[2] < 1e30:  # above 0, and below that
            return 1.0, 0.0, 1.0e32, -1.4e9
        return math.inf, 0.0, math.inf, 0.0
    k, r = _exp_reduced(x[:2])
    hi, lo = _pair_add((1.0, 0.0), _pair_small_expm1(r))
    reduction = abs(k) * 1.0e-9  # of log(2), in three parts
    return _scaled(hi, lo, (16.0 + reduction) * hi + _carried(x, 2.0, 0.125), k)


def _like_argument(x):
    """A function that is x but for terms of the second order, of a tiny x: as in 1/x - 1/tan(x) they
    may be all that is left."""
    return x[0], x[1], x[2] + math.ldexp(1.0, int(max(x[3] + 107.0, -990.0))), x[3]


def _log(x):
    """log(x)."""
    if x[2] < 0.0 or x[0] < -(x[2] * _UNIT):
        return _NOWHERE
    if x[0] == 1.0 and x[1] == x[2] == x[3] == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    if not x[2] * _UNIT + abs(x[1]) <= 0.125 * x[0]:
        return math.nan, 0.0, math.inf, 0.0
    hi, lo = _pair_log(x[:2])
    if x[3] != 0.0:
        hi, lo = _pair_add((hi, lo), _pair_mul((x[3], 0.0), _LN2[:2]))
    return _scaled(hi, lo, 24.0 * abs(hi) + _FLOOR + 4.0 * x[2] / x[0], 0.0)


def _power(x, y):
    """x**y over the reals: for x < 0 the exponent must be an integer."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    if y[0] == y[2] == 0.0:
        return 1.0, 0.0, 0.0, 0.0
    if x[0] == x[2] == 0.0:
        return (0.0, 0.0, 0.0, 0.0) if y[0] > y[2] * _UNIT else (math.inf, 0.0, math.inf, 0.0)
    value = _exp(_mul(y, _log(_abs(x))))
    if x[0] > x[2] * _UNIT:
        return value
    if y[1] != 0.0 or y[2] != 0.0 or y[3] < 0.0 or not -x[0] > x[2] * _UNIT:
        return value[0], value[1], math.inf, value[3]
    if y[3] == 0.0 and np.floor(y[0]) != y[0]:
        return _NOWHERE
    return _neg(value) if y[3] == 0.0 and np.floor(0.5 * y[0]) != 0.5 * y[0] else value


def _unknown(x):
    """A function that has no double-double version."""
    return math.nan, 0.0, math.inf, 0.0


# --------------------------------------------------------------------------- results
def _decided(x):
    """Whether x is known to 2**-57 of itself or to less than the least of doubles, or certainly nan."""
    if x[2] < 0.0:
        return True
    if not abs(x[0]) < math.inf:
        return False
    off = x[2] * _UNIT
    tiny = x[3] < -300.0 and off < 1e280 and math.frexp(off)[1] + x[3] < -1076.0
    return x[2] * 1.7763568394002505e-15 <= abs(x[0]) or tiny


def _double(x):
    """The double nearest to x; nan if less than ten of its bits are known."""
    if not x[2] * 1.262177448353619e-29 <= abs(x[0]) and not _decided(x):
        return math.nan
    return x[0] if x[3] == 0.0 else math.ldexp(x[0], int(min(max(x[3], -3000.0), 3000.0)))
