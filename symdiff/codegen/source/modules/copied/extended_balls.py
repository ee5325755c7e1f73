"""Balls beside infinities and nan, as IEEE arithmetic has these, of which modules contain copies.

Before : a function of balls, and a point where a coordinate is not finite, or where the formula is
         undefined and has no limit.
After  : `_beyond(balls, point)`, its values there: 1/0 is inf, 1/-0.0 is -inf, inf - inf is nan.
Ensures: as `interpret.extended` has it, finite values stay balls, and the sign of a zero is that
         which doubles have; functions of what is infinite are those of the C library.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math

import numpy as np


class _Extended:
    """A finite ball, or a float that is not finite, and the double that plain arithmetic has."""

    __slots__ = ("ball", "double")
    __hash__ = object.__hash__

    def __init__(self, ball, double):
        self.ball, self.double = ball, double

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda: _extended_call(name, lambda x: getattr(x, name)(), self)

    def __neg__(self):
        return _Extended(-self.ball, -self.double)

    def __abs__(self):
        return _Extended(abs(self.ball), abs(self.double))

    def __add__(self, other):
        return _extended_sum(self, _extended(other))

    def __sub__(self, other):
        return _extended_sum(self, -_extended(other))

    def __rsub__(self, other):
        return _extended_sum(_extended(other), -self)

    def __mul__(self, other):
        other = _extended(other)
        double = self.double * other.double
        if _is_ball(self) and _is_ball(other):
            return _known_ball(self.ball * other.ball, double, math.nan)
        return _of_float(_stand_in(self) * _stand_in(other), double)

    def __truediv__(self, other):
        other = _extended(other)
        double = self.double / other.double
        quotient = _stand_in(self) / _stand_in(other)
        if _is_ball(self) and _is_ball(other):
            return _known_ball(self.ball / other.ball, double, quotient)
        return _of_float(quotient, double)

    def __rtruediv__(self, other):
        return _extended(other) / self

    def __pow__(self, n):
        power = np.power(_stand_in(self), float(n))
        if _is_ball(self):
            return _known_ball(self.ball**n, self.double**n, power)
        return _of_float(power, self.double**n)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        return _ordered(self, _extended(other), lambda x, y: x < y)

    def __le__(self, other):
        return _ordered(self, _extended(other), lambda x, y: x <= y)

    def __gt__(self, other):
        return _ordered(self, _extended(other), lambda x, y: x > y)

    def __ge__(self, other):
        return _ordered(self, _extended(other), lambda x, y: x >= y)

    def __eq__(self, other):
        return _ordered(self, _extended(other), lambda x, y: x == y)

    def __ne__(self, other):
        return _ordered(self, _extended(other), lambda x, y: x != y)


def _extended(x):
    """A ball, an integer or a float as such a number."""
    if type(x) is _Extended:
        return x
    if isinstance(x, (int, float)):
        double = np.float64(x)
        return _Extended(_ball(x) if math.isfinite(x) else double, double)
    if x.is_finite():
        return _Extended(x, np.float64(float(x.mid())))
    double = np.float64(_infinity_of(x))
    return _Extended(double, double)


def _infinity_of(x):
    """The infinity that a ball is, or nan."""
    if flint is None:
        return math.copysign(math.inf, x.m) if x.r < 0 and x.m else math.nan
    return math.inf if x > 0 else -math.inf if x < 0 else math.nan


def _is_ball(x):
    return not isinstance(x.ball, float)


def _stand_in(x):
    """A double of the same sign, of the same zero or infinity; nan where that is not known."""
    if not _is_ball(x):
        return x.ball
    if x.ball.is_zero():
        return x.double if x.double == 0.0 else np.float64(0.0)
    return np.float64(1.0 if x.ball > 0 else -1.0 if x.ball < 0 else math.nan)


def _nearest_double(x):
    """The double nearest to a number; nan if it is not certain."""
    if not _is_ball(x):
        return x.ball
    if x.ball.is_zero():
        return _stand_in(x)
    value = _rounded(x.ball)
    return np.float64(math.nan if value is None else value)


def _of_float(value, double):
    """A number of which only a float is known: a zero is exact, others are not finite or doubles."""
    value = np.float64(value)
    return _Extended(_ball(float(value)) if math.isfinite(value) else value, np.float64(double))


def _known_ball(ball, double, otherwise):
    """A ball, or if it is not finite a float."""
    return _Extended(ball, double) if ball.is_finite() else _of_float(otherwise, double)


def _extended_sum(x, y):
    double = x.double + y.double
    if _is_ball(x) and _is_ball(y):
        return _known_ball(x.ball + y.ball, double, math.nan)
    return _of_float(sum(z.ball for z in (x, y) if not _is_ball(z)), double)


def _ordered(x, y, compare):
    """A comparison; False where it is not certain."""
    if _is_ball(x) and _is_ball(y):
        return compare(x.ball, y.ball)
    return bool(compare(*(0.0 if _is_ball(z) else z.ball for z in (x, y))))


def _library(name, doubles):
    """A function of doubles."""
    if name in ("xlogy", "xlog1py"):
        u, x = doubles
        return u * 0.0 if u == 0.0 and x == x else u * _library(name[1:-1], (x,))
    if name == "power" and doubles[0] == -math.inf and not float(doubles[1]).is_integer():
        return np.float64(math.nan)  # as of every negative number
    function = getattr(np, name, None) or getattr(math, name, None)
    try:
        return np.float64(math.nan if function is None else function(*doubles))
    except (ArithmeticError, TypeError, ValueError):
        return np.float64(math.nan)


def _extended_call(name, function, *args):
    """A function of balls, or where these are not finite that of the library."""
    args = [_extended(a) for a in args]
    double = _library(name, [a.double for a in args])
    if all(map(_is_ball, args)):
        value = function(*(a.ball for a in args))
        if value.is_finite():
            return _Extended(value, double)
    return _of_float(_library(name, [_nearest_double(a) for a in args]), double)


def _extended_compare(compare, x, y):
    """A comparison; it is false of what is not defined."""
    found = compare(x, y)
    undefined = any(not _is_ball(z) and z.ball != z.ball for z in map(_extended, (x, y)))
    return False if found is None and undefined else found


def _extended_power(x, n, d):
    """x**(n/d)."""
    x = _extended(x)
    double = _library("power", (x.double, n / d))
    if _is_ball(x):
        value = _ball_power(x.ball, n, d)
        if value.is_finite():
            return _Extended(value, double)
    return _of_float(_library("power", (_nearest_double(x), n / d)), double)


def _extended_largest(name, function, x, y):
    """The larger or the smaller of two numbers; Python's is the first one where the other is nan."""
    x, y = _extended(x), _extended(y)
    if _is_ball(x) and _is_ball(y):
        return _Extended(function(x.ball, y.ball), _library(name, (x.double, y.double)))
    if y != y or x != x:
        return x if x != x or name in ("larger", "smaller") else y
    return y if (x < y) is (name in ("maximum", "larger")) else x


def _extended_pinned(h, value, closed):
    """What is given where h is 0, and a formula beside that."""
    h = _extended(h)
    return value if h == 0 else closed if h > 0 or h < 0 else _extended(math.nan)


def _extended_double(x):
    """A number beside an infinity: what rounds to one is one."""
    x = _extended(x)
    return _extended(np.float64(float(_ball_double(x.ball).mid()))) if _is_ball(x) else x


def _extended_rule(name, function):
    """What a function of `ball_functions` does with extended numbers; others stay."""
    short = name.removeprefix("_ball_")
    if not name.startswith("_ball") or short in ("where", "not", "and", "or"):
        return function
    if name in ("_ball", "_ball_ratio"):
        return lambda *given: _extended(function(*given))
    if short in ("less", "at_most", "equal"):
        return lambda x, y: _extended_compare(function, x, y)
    if short in ("maximum", "minimum", "larger", "smaller"):
        return lambda x, y: _extended_largest(short, function, x, y)
    other = {"power": _extended_power, "double": _extended_double, "pinned": _extended_pinned}
    if short in other:
        return other[short]
    if short == "pow":
        short = "power"
    return lambda *args: _extended_call(short, function, *args) if args else _extended(function())


def _beyond(balls, point):
    """The values of a function of balls at any point, as IEEE arithmetic has them."""
    known = balls.__globals__
    scope = {n: _extended_rule(n, known[n]) for n in balls.__code__.co_names if n in known}
    before = _precision(320)
    try:
        with np.errstate(all="ignore"):
            function = type(balls)(balls.__code__, scope)
            results, _ = function(lambda p: p, *(_extended(float(x)) for x in point))
            found = [_extended(r) for r in results]
            return [float(r.ball.mid()) if _is_ball(r) else float(r.ball) for r in found]
    finally:
        _precision(before)
