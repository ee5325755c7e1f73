"""Double-double numbers with error bounds in plain Python, of which modules contain copies.

Before : x and y, numbers (hi, lo, error): hi + lo, and a bound of the error in units of 2**-106.
After  : `_mul(x, y)`, such a number.
Ensures: the bounds of `passes.accuracy.widen`, of which these are the same formulas. An infinite
         error says that nothing is known, a negative one that the number is certainly nan.
         Conditions are 1.0 (true), 0.0 (false) or 0.5 (rounding may have decided).

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math

import numpy as np

_UNIT = 2.465190328815662e-32
"""2**-105 turns a bound into an absolute error; twice, for the rounding of the bounds."""
_FLOOR = 2.5653355008114852e-290
"""2**-962, in those units: what underflow may cost."""
_NOWHERE = (math.nan, 0.0, -1.0)
"""No real number."""


def _number(a):
    """A double, exactly."""
    if a == a:
        return a, 0.0, 0.0
    return _NOWHERE


def _neg(x):
    """-x."""
    return -x[0], -x[1], x[2]


def _abs(x):
    """|x|."""
    return _neg(x) if x[0] < 0.0 else x


def _add(x, y):
    """x + y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    hi, lo = _pair_add(x[:2], y[:2])
    own = 0.0 if x[1] == 0.0 and y[1] == 0.0 else 4.0 * abs(hi)
    return hi, lo, x[2] + y[2] + own


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
    if (x[0] != 0.0 or x[2] != 0.0) and (y[0] != 0.0 or y[2] != 0.0):
        error += _FLOOR
    return hi, lo, error


def _div(x, y):
    """x/y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    hi, lo = _pair_div(x[:2], y[:2])
    if (
        x[1] == y[1] == lo == 0.0 and x[2] == y[2] == 0.0 and abs(hi) > 3.8725919148493183e-121
    ):  # 2**-400
        p, e = _two_product(hi, y[0])
        if p == x[0] and e == 0.0:
            return hi, lo, 0.0
    room = abs(y[0]) - y[2] * _UNIT
    if not room > 0.0:
        return hi, lo, math.inf
    floor = 0.0 if x[0] == x[2] == 0.0 else _FLOOR
    return hi, lo, (x[2] + y[2] * abs(hi) + floor) / room + floor + 16.0 * abs(hi)


def _sqrt(x):
    """The square root."""
    if x[2] < 0.0 or x[0] < -(x[2] * _UNIT):
        return _NOWHERE
    if x[0] == x[2] == 0.0:
        return 0.0, 0.0, 0.0
    hi, lo = _pair_sqrt(x[:2])
    if x[1] == x[2] == lo == 0.0 and hi > 3.8725919148493183e-121:  # 2**-400
        p, e = _two_product(hi, hi)
        if p == x[0] and e == 0.0:
            return hi, lo, 0.0
    return hi, lo, (x[2] + _FLOOR) / hi + 4.0 * hi


def _maximum(x, y):
    """The larger one: which is taken matters no more than the errors do."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    below = x[0] < y[0] or (x[0] == y[0] and x[1] < y[1])
    return (y[0], y[1], x[2] + y[2]) if below else (x[0], x[1], x[2] + y[2])


def _minimum(x, y):
    """The smaller one."""
    return _neg(_maximum(_neg(x), _neg(y)))


# ------------------------------------------------------------------------ conditions
def _equal(x, y):
    """x == y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return 0.5
    if x[1] == x[2] == y[1] == y[2] == 0.0:
        return 1.0 if x[0] == y[0] else 0.0
    difference = _sub(x, y)
    return 0.0 if abs(difference[0]) > difference[2] * _UNIT else 0.5


def _less(x, y):
    """x < y."""
    if x[2] < 0.0 or y[2] < 0.0:
        return 0.5
    if x[1] == x[2] == y[1] == y[2] == 0.0:
        return 1.0 if x[0] < y[0] else 0.0
    difference = _sub(x, y)
    if abs(difference[0]) > difference[2] * _UNIT:
        return 1.0 if difference[0] < 0.0 else 0.0
    return 0.5


def _at_most(x, y):
    """x <= y."""
    if x[1] == x[2] == y[1] == y[2] == 0.0 and x[0] == y[0]:
        return 1.0
    return _less(x, y)


def _choose(condition, x, y):
    """x where the condition holds, else y."""
    if condition == 1.0:
        return x
    if condition == 0.0:
        return y
    return x[0], x[1], math.inf


# ----------------------------------------------------------------------------- steps
def _step(x, hi, lo, distance):
    """An integer is off by a whole or not at all."""
    if x[2] < 0.0:
        return _NOWHERE
    return hi, lo, 0.0 if x[2] == 0.0 or x[2] * _UNIT < distance else math.inf


def _beside(x):
    """How far x is from the nearest integer."""
    low = _pair_floor(x[:2])
    down = _pair_sub(x[:2], low)[0]
    return min(down, 1.0 - down)


def _floor(x):
    """The largest integer up to x."""
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


def _power(x, y):
    """x**y, which changes by |dx*y/x| + |dy*log x| of itself."""
    if x[2] < 0.0 or y[2] < 0.0:
        return _NOWHERE
    if x[0] < -(x[2] * _UNIT) and y[1] == y[2] == 0.0 and np.floor(y[0]) != y[0]:
        return _NOWHERE
    hi, lo = _pair_pow(x[:2], y[:2])
    own = 65536.0 * abs(hi) + _FLOOR
    if x[2] == 0.0 and y[2] == 0.0:
        return hi, lo, own
    change = 0.0
    if not x[0] == x[2] == 0.0:
        change = abs(y[0]) * x[2] / abs(x[0])
        change += (abs(math.log(abs(x[0]))) + 9.094947017729282e-13) * y[2]
    steady = x[2] * _UNIT <= 0.125 * abs(x[0]) and (x[0] > 0.0 or y[2] == 0.0)
    if steady and change * _UNIT <= 0.125:
        return hi, lo, own + 2.0 * change * abs(hi)
    return hi, lo, math.inf


def _unknown(x):
    """A function that has no double-double version."""
    return math.nan, 0.0, math.inf


# --------------------------------------------------------------------------- results
def _settled(x):
    """Whether x is known to 2**-57 of itself, is below the normal doubles, or certainly nan."""
    if x[2] < 0.0:
        return True
    close = x[2] * 1.7763568394002505e-15 <= abs(x[0]) and abs(x[0]) < math.inf
    return close or x[2] * _UNIT + abs(x[0]) < 2.2250738585072014e-308
