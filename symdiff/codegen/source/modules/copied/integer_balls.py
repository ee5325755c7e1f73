"""Ball arithmetic on Python's integers, of which modules contain copies: for where there is no
python-flint.

Before : x and y, of the class `_Ball`: the numbers from (m - r)*2**e to (m + r)*2**e.
After  : `x*y`, `x.sin()`, such a ball that holds every product, every sine.
Ensures: the names and meanings of python-flint's `arb`, as far as modules use them; rounding is to
         `_BITS[0]` bits, its errors are in r. A negative r says nan. `x.name()` is
         `_integer_name(x)`, and nan where a module has no such function.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math

_BITS = [128]
"""The precision of `_Ball`."""
_CONSTANTS = {}
"""Of pi and log(2): how many bits are known, and these."""


class _Ball:
    """The numbers from (m - r)*2**e to (m + r)*2**e, all integers; nan if r is negative."""

    __slots__ = ("e", "m", "r")
    __hash__ = object.__hash__

    def __init__(self, m, r=0, e=0):
        self.m, self.r, self.e = m, r, e

    def __getattr__(self, name):
        function = globals().get("_integer_" + name)
        return lambda *args: function(self, *args) if function and self.r >= 0 else _Ball(0, -1)

    def __neg__(self):
        return _Ball(-self.m, self.r, self.e)

    def __abs__(self):
        if self.r < 0 or abs(self.m) >= self.r:
            return _Ball(abs(self.m), self.r, self.e)
        return _integer(abs(self.m) + self.r, abs(self.m) + self.r, self.e - 1)

    def __add__(self, other):
        x, y = self, _ball_of(other)
        if x.r < 0 or y.r < 0:
            return _Ball(0, -1)
        if x.e < y.e:
            x, y = y, x
        if x.m == x.r == 0:
            return y
        if y.m == y.r == 0:
            return x
        up = min(x.e - y.e, 2 * _BITS[0] + 64)
        down = x.e - y.e - up
        m, r = y.m, y.r
        if down and (m or r):  # far below the last bit of x
            m, r = m >> down, (r >> down) + 2
        return _integer((x.m << up) + m, (x.r << up) + r, x.e - up)

    def __sub__(self, other):
        return self + -_ball_of(other)

    def __mul__(self, other):
        x, y = self, _ball_of(other)
        if x.r < 0 or y.r < 0:
            return _Ball(0, -1)
        r = abs(x.m) * y.r + x.r * (abs(y.m) + y.r)
        return _integer(x.m * y.m, r, x.e + y.e)

    def __truediv__(self, other):
        x, y = self, _ball_of(other)
        room = abs(y.m) - y.r
        if x.r < 0 or y.r < 0 or room <= 0:
            return _Ball(0, -1)
        up = max(0, _BITS[0] + 4 - x.m.bit_length() + y.m.bit_length())
        m, rest = divmod(x.m << up, y.m)
        r = abs(x.m) * y.r + abs(y.m) * x.r
        if r or rest:
            r = (r << up) // (abs(y.m) * room) + 2
        return _integer(m, r, x.e - y.e - up)

    def __pow__(self, n):
        if n < 0:
            return 1 / self**-n
        value, square = _Ball(1), self
        while n:
            if n & 1:
                value = value * square
            n >>= 1
            square = square * square if n else square
        return value

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return _ball_of(other) - self

    def __rtruediv__(self, other):
        return _ball_of(other) / self

    def __lt__(self, other):
        gap = _ball_of(other) - self
        return gap.m > gap.r >= 0

    def __le__(self, other):
        gap = _ball_of(other) - self
        return gap.m >= gap.r >= 0

    def __gt__(self, other):
        return _ball_of(other) < self

    def __ge__(self, other):
        return _ball_of(other) <= self

    def __eq__(self, other):
        gap = _ball_of(other) - self
        return gap.m == gap.r == 0

    def __ne__(self, other):
        gap = _ball_of(other) - self
        return abs(gap.m) > gap.r >= 0

    def __float__(self):
        """The double nearest to m*2**e."""
        if self.m == 0 or self.m.bit_length() + self.e < -1100:
            return 0.0
        if self.m.bit_length() + self.e > 1100:
            return math.inf if self.m > 0 else -math.inf
        try:
            return float(self.m << self.e) if self.e >= 0 else self.m / (1 << -self.e)
        except OverflowError:
            return math.inf if self.m > 0 else -math.inf

    def is_finite(self):
        return self.r >= 0

    def is_exact(self):
        return self.r == 0

    def is_zero(self):
        return self.m == self.r == 0

    def is_integer(self):
        return self.r == 0 and self == self.floor()

    def unique_fmpz(self):
        return self.m << self.e if self.e >= 0 else self.m >> -self.e

    def mid(self):
        return _Ball(self.m, min(self.r, 0), self.e)

    def lower(self):
        return _Ball(self.m - max(self.r, 0), min(self.r, 0), self.e)

    def upper(self):
        return _Ball(self.m + max(self.r, 0), min(self.r, 0), self.e)

    def abs_upper(self):
        return abs(self).upper()

    def rel_accuracy_bits(self):
        return self.m.bit_length() - self.r.bit_length()


def _integer(m, r, e):
    """A ball, rounded."""
    extra = max(m.bit_length() - _BITS[0], r.bit_length() - 32)
    if extra <= 0:
        return _Ball(m, r, e)
    if r == 0 and (m >> extra) << extra == m:
        return _Ball(m >> extra, 0, e + extra)
    return _Ball(m >> extra, (r >> extra) + 2, e + extra)


def _ball_of(x):
    """A ball of an integer, a double, or "nan"."""
    if type(x) is _Ball:
        return x
    if type(x) is int:
        return _Ball(x)
    x = float(x)
    if not math.isfinite(x):  # an infinity is nan but beside comparisons
        return _Ball((x > 0) - (x < 0), -1)
    n, e = math.frexp(x)
    return _Ball(int(n * 2.0**53), 0, e - 53)


def _between(low, high):
    """The ball from one exact number to another."""
    middle, half = (low + high) * _Ball(1, 0, -1), (high - low) * _Ball(1, 0, -1)
    return _widened(middle, half)


def _widened(x, by):
    """x with more of a radius."""
    return x + _Ball(0, abs(by.m) + by.r if by.r >= 0 else -1, by.e)


def _size(x):
    """The magnitude of x is below 2**size."""
    return max(x.m.bit_length(), x.r.bit_length()) + x.e


def _sharper(bits, function, x):
    """A function to more bits."""
    _BITS[0] += bits
    try:
        return function(x)
    finally:
        _BITS[0] -= bits


def _like_its_argument(x):
    """A function with |f(x)/x - 1| <= |x|, for tiny x."""
    return x * (1 + x * _Ball(0, 1))


def _fixed(m, k):
    """m*2**k, rounded down."""
    return m << k if k >= 0 else m >> -k


def _inverse_series(n, w, sign):
    """atan(1/n), or for the sign 1 atanh(1/n), times 2**w."""
    power = total = (1 << w) // n
    k = 1
    while power:
        power //= n * n
        k += 2
        total += power // k if sign == 1 or k % 4 == 1 else -(power // k)
    return total


def _known(name, w):
    """A constant times 2**w, rounded down."""
    bits, value = _CONSTANTS.get(name, (0, 0))
    if bits < w:
        bits = w + w // 4 + 64
        if name == "pi":
            value = 16 * _inverse_series(5, bits, -1) - 4 * _inverse_series(239, bits, -1)
        else:
            value = 18 * _inverse_series(26, bits, 1) - 2 * _inverse_series(4801, bits, 1)
            value += 8 * _inverse_series(8749, bits, 1)
        _CONSTANTS[name] = bits, value
    return value >> (bits - w)


def _nearest(x):
    """The integer nearest to the middle of x, for x.e < 0."""
    return ((x.m >> (-x.e - 1)) + 1) >> 1


def _integer_pi():
    """pi."""
    w = _BITS[0] + 16
    return _integer(_known("pi", w), 2, -w)


def _integer_log2():
    """log(2)."""
    w = _BITS[0] + 16
    return _integer(_known("log2", w), 2, -w)


def _integer_sqrt(x):
    """The square root."""
    if x.m < x.r:
        return _Ball(0, -1)
    if x.m == 0:
        return x
    up = max(0, 2 * _BITS[0] + 8 - x.m.bit_length())
    up += (x.e - up) % 2
    root = math.isqrt(x.m << up)
    if x.r or root * root != x.m << up:
        return _integer(root, (x.r << up) // root + 2, (x.e - up) // 2)
    return _integer(root, 0, (x.e - up) // 2)


def _integer_exp(x):
    """exp(x)."""
    if x.m == x.r == 0:
        return _Ball(1)
    if x.r and x.r.bit_length() + x.e > 0:  # wide
        return _between(x.lower().exp().lower(), x.upper().exp().upper())
    size = max(0, x.m.bit_length() + x.e)
    if size > 4000:
        return _Ball(0, -1) if x.m > 0 else _Ball(0, 1, -(1 << 4000))
    w = _BITS[0] + 20 + size
    n, t = divmod(_fixed(x.m, x.e + w), _known("log2", w))
    s = math.isqrt(w)
    wide = w + s + 16
    t <<= 16  # over 2**s
    term = total = 1 << wide
    k = 0
    while term:
        k += 1
        term = (term * t >> wide) // k
        total += term
    for _ in range(s):
        total = total * total >> wide
    total >>= s + 16
    error = 4 * abs(n) + 32
    if x.r:
        error += 2 * (total * (_fixed(x.r, x.e + w) + 1) >> w) + 2
    return _integer(total, error, n - w)


def _integer_expm1(x):
    """exp(x) - 1."""
    size = _size(x)
    if x.m == 0 or size < -_BITS[0]:
        return _like_its_argument(x) if size < 0 else x.exp() - 1
    return _sharper(max(0, -size), lambda x: x.exp() - 1, x)


def _integer_log(x):
    """log(x)."""
    if x.m <= x.r:
        return _Ball(0, -1)
    top = x.m.bit_length()
    k = top + x.e
    if 3 * x.m < 2 << top:  # x is u*2**k, for u from 2/3 to 4/3
        top, k = top - 1, k - 1
    distance = (x.m - (1 << top)).bit_length()
    if distance == 0 and k == 0 and x.r == 0:
        return _Ball(0)
    w = _BITS[0] + 20 + (top - distance if k == 0 else 0)
    j = math.isqrt(w) // 2
    wide = w + j + 16
    one = 1 << wide
    v = _fixed(x.m, wide - top)
    for _ in range(j):
        v = math.isqrt(v << wide)
    power = total = z = ((v - one) << wide) // (v + one)
    square, n = z * z >> wide, 1
    while power not in (0, -1):
        power = power * square >> wide
        n += 2
        total += power // n
    total = _fixed(total, j + 1 - (j + 16))
    if k:
        more = k.bit_length()
        total += k * _known("log2", w + more) >> more
    return _integer(total, 8 + (x.r << w) // (x.m - x.r) + 1, -w)


def _integer_log1p(x):
    """log(1 + x)."""
    size = _size(x)
    if size < -_BITS[0]:
        return _like_its_argument(x)
    return _sharper(max(0, -size), lambda x: (1 + x).log(), x)


def _integer_sin_cos(x):
    """The sine and the cosine."""
    if x.m == x.r == 0:
        return x, _Ball(1)
    if _size(x) > 5000 or (x.r and x.r.bit_length() + x.e > 1):
        return _Ball(0, 1), _Ball(0, 1)
    if x.m == 0:
        return x, _widened(_Ball(1), x * x)
    if _size(x) < -_BITS[0]:
        return _like_its_argument(x), _widened(_Ball(1), x * x)
    size, w = max(0, x.m.bit_length() + x.e), _BITS[0] + 20
    for _ in range(6):
        n, t = divmod(_fixed(x.m, x.e + w + size), _known("pi", w + size) >> 1)
        s = math.isqrt(w) // 2
        wide = w + 2 * s + 16
        two = 2 << wide
        t = _fixed(t, s + 16 - size)  # over 2**s
        square = t * t >> wide
        term, less, k = square >> 1, 0, 2
        while term:
            less += term if k % 4 else -term  # 1 - cos(t)
            term = (term * square >> wide) // ((k + 1) * (k + 2))
            k += 2
        for _ in range(s):
            less = less * (two - less) >> (wide - 1)
        sin = math.isqrt(max(0, less * (two - less))) >> (wide - w)
        cos = ((1 << wide) - less) >> (wide - w)
        unsure = 8 + (2 << w) // max(sin, 1)
        lost = max(unsure.bit_length() - sin.bit_length(), 4 - abs(cos).bit_length())
        if lost <= -_BITS[0] or (x.r and w + x.r.bit_length() + x.e > 64):
            break  # to as many bits as are wanted, or as x has
        w += lost + _BITS[0] + 8
    sin, cos = _integer(sin, unsure, -w), _integer(cos, 8, -w)
    sin, cos = ((sin, cos), (cos, -sin), (-sin, -cos), (-cos, sin))[n % 4]
    more = _Ball(x.r, 0, x.e)
    return _widened(sin, more), _widened(cos, more)


def _integer_sin(x):
    """The sine."""
    return _integer_sin_cos(x)[0]


def _integer_cos(x):
    """The cosine."""
    return _integer_sin_cos(x)[1]


def _integer_tan(x):
    """The tangent."""
    sin, cos = _integer_sin_cos(x)
    return sin / cos


def _integer_sinc_pi(x):
    """sin(pi*x)/(pi*x)."""
    pi = _integer_pi()
    if abs(x.m) <= x.r:
        return _widened(_Ball(1), pi * x * (pi * x))
    if x.e >= 0:
        return (pi * _Ball(0, x.r, x.e)).sin() / (pi * x)
    n = _nearest(x)
    sin = (pi * (x - n)).sin() / (pi * x)
    return -sin if n % 2 else sin


def _integer_atan(x):
    """The arc tangent."""
    if x.m == x.r == 0:
        return x
    if _size(x) < -_BITS[0]:
        return _like_its_argument(x)
    m, size = abs(x.m), x.m.bit_length() + x.e if x.m else 0
    w = _BITS[0] + 20 + max(0, min(-size, _BITS[0]))
    s = math.isqrt(w) // 2
    wide = w + s + 16
    one = 1 << wide
    if m == 0:
        t = 0
    elif size > 0:  # pi/2 less that of 1/x
        t = (1 << (wide - x.e)) // m if wide > x.e else 0
    else:
        t = _fixed(m, x.e + wide)
    for _ in range(s):
        t = (t << wide) // (one + math.isqrt((one << wide) + t * t))
    power, square, total, k = t, t * t >> wide, 0, 1
    while power:
        total += power // k if k % 4 == 1 else -(power // k)
        power = power * square >> wide
        k += 2
    total = _fixed(total, s - (s + 16))
    if size > 0:
        total = (_known("pi", w) >> 1) - total
    value = _integer(-total if x.m < 0 else total, 8, -w)
    if x.r == 0:
        return value
    near = _Ball(max(0, m - x.r), 0, x.e)
    return _widened(value, _Ball(x.r, 0, x.e) / (1 + near * near))


def _integer_atan2(y, x):
    """The angle of the point (x, y)."""
    if x > 0:
        return (y / x).atan()
    half = _integer_pi() * _Ball(1, 0, -1)
    if y > 0:
        return half - (x / y).atan()
    if y < 0:
        return -half - (x / y).atan()
    if y == 0:
        return _integer_pi() if x < 0 else y if x == 0 else _Ball(0, -1)
    return _Ball(0, -1)


def _integer_asin(x):
    """The arc sine."""
    if abs(x) == 1:
        return _integer_pi() * x * _Ball(1, 0, -1)
    return (x / ((1 - x) * (1 + x)).sqrt()).atan()


def _integer_acos(x):
    """The arc cosine."""
    return _integer_pi() if x == -1 else 2 * ((1 - x) / (1 + x)).sqrt().atan()


def _integer_cosh(x):
    """The hyperbolic cosine."""
    value = abs(x).exp()
    return (value + 1 / value) * _Ball(1, 0, -1)


def _integer_sinh(x):
    """The hyperbolic sine."""
    if x.m < 0:
        return -(-x).sinh()
    value = x.expm1()
    return (value + value / (1 + value)) * _Ball(1, 0, -1)


def _integer_tanh(x):
    """The hyperbolic tangent."""
    if _size(x) < 0:
        value = (2 * x).expm1()
        return value / (value + 2)
    if x.m < 0:
        return -(-x).tanh()
    value = (-2 * x).exp()
    return 1 - 2 * value / (1 + value)


def _integer_asinh(x):
    """The inverse of the hyperbolic sine."""
    size = abs(x.mid())
    value = (size + size * size / (1 + (1 + size * size).sqrt())).log1p()
    value = -value if x.m < 0 else value
    if x.r == 0:
        return value
    near = _Ball(max(0, abs(x.m) - x.r), 0, x.e)
    return _widened(value, _Ball(x.r, 0, x.e) / (1 + near * near).sqrt())


def _integer_acosh(x):
    """The inverse of the hyperbolic cosine."""
    above = x - 1
    return (above + (above * (above + 2)).sqrt()).log1p()


def _integer_atanh(x):
    """The inverse of the hyperbolic tangent."""
    return (2 * x / (1 - x)).log1p() * _Ball(1, 0, -1)


def _integer_root(x, n):
    """The root of degree n of a positive number."""
    return (x.log() / n).exp()


def _integer_floor(x):
    """The largest integer up to x."""
    if x.e >= 0:
        return x
    return _between(_Ball((x.m - x.r) >> -x.e), _Ball((x.m + x.r) >> -x.e))


def _integer_ceil(x):
    """The smallest integer from x on."""
    return -(-x).floor()


def _integer_max(x, y):
    """The larger one."""
    if x.r < 0 or y.r < 0:
        return _Ball(0, -1)
    low = y.lower() if x.lower() < y.lower() else x.lower()
    return _between(low, y.upper() if x.upper() < y.upper() else x.upper())


def _integer_min(x, y):
    """The smaller one."""
    return -(-x).max(-y)


def _integer_union(x, y):
    """A ball that holds both."""
    low, high = x.min(y), x.max(y)
    return _between(low.lower(), high.upper())
