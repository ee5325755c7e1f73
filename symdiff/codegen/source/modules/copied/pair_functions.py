"""Double-double arithmetic in plain Python, of which modules contain copies.

Before : x and y, pairs (hi, lo) of doubles that stand for hi + lo.
After  : `_pair_mul(x, y)`, the pair of x*y to about 2**-104.
Ensures: the error bounds of `lowering.double_double`, of which these are the same formulas.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses,
where Numba compiles it. Whatever is nan or overflows shows as nan or infinite.
"""

# mypy: ignore-errors

import math

import numpy as np


def _two_sum(a, b):
    """a + b exactly, as the rounded sum and its error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _fast_two_sum(a, b):
    """a + b exactly, for |a| >= |b|."""
    s = a + b
    return s, b - (s - a)


def _two_product(a, b):
    """a*b exactly, as the rounded product and its error."""
    p = a * b
    return p, _fma(a, b, -p)


def _sum_error(a, b):
    """a + b minus that rounded."""
    s = a + b
    t = s - a
    return (a - (s - t)) + (b - t)


def _difference_error(a, b):
    """a - b minus that rounded."""
    s = a - b
    t = s - a
    return (a - (s - t)) - (b + t)


def _product_error(a, b):
    """a*b minus that rounded."""
    return _fma(a, b, -(a * b))


def _pair_add(x, y):
    """x + y."""
    s, e = _two_sum(x[0], y[0])
    if x[1] == 0.0 and y[1] == 0.0:
        return s, e
    t, f = _two_sum(x[1], y[1])
    s, e = _fast_two_sum(s, e + t)
    return _fast_two_sum(s, e + f)


def _pair_sub(x, y):
    """x - y."""
    return _pair_add(x, (-y[0], -y[1]))


def _pair_mul(x, y):
    """x*y."""
    p, e = _two_product(x[0], y[0])
    if x[1] == 0.0 and y[1] == 0.0:
        return p, e
    return _fast_two_sum(p, e + (x[0] * y[1] + (x[1] * y[0] + x[1] * y[1])))


def _pair_div(x, y):
    """x/y."""
    q = x[0] / y[0]
    rest = _pair_sub(x, _pair_mul((q, 0.0), y))
    return _fast_two_sum(q, rest[0] / y[0])


def _pair_sqrt(x):
    """The square root."""
    if x[0] == 0.0:
        return 0.0, 0.0
    root = math.sqrt(x[0])
    p, e = _two_product(root, root)
    return _fast_two_sum(root, ((x[0] - p) - e + x[1]) / (2.0 * root))


def _pair_scale(x, factor):
    """x times a power of two."""
    return x[0] * factor, x[1] * factor


def _pair_shift(x, k):
    """x * 2**k, in two steps, so that 2**k itself may be out of range."""
    half = math.floor(0.5 * k)
    x = _pair_scale(x, math.ldexp(1.0, int(half)))
    return _pair_scale(x, math.ldexp(1.0, int(k - half)))


def _pair_abs(x):
    """|x|."""
    if x[0] < 0.0:
        return -x[0], -x[1]
    return x[0], x[1]


def _pair_floor(x):
    """The largest integer up to x: where hi is an integer, lo decides."""
    top = np.floor(x[0])
    if top == x[0]:
        return _fast_two_sum(top, np.floor(x[1]))
    return top, 0.0


def _pair_polynomial(x, terms, tail):
    """Horner's rule, last terms first: `tail` in doubles, `terms` in pairs."""
    total = 0.0
    for c in tail:
        total = total * x[0] + c
    value = (total, 0.0)
    for c in terms:
        value = _pair_add(c, _pair_mul(value, x))
    return value


def _exponent(x):
    """k and m with x = m * 2**k and m between 0.7 and 1.42, for x > 0."""
    m, k = math.frexp(x[0])
    if m < 0.7071067811865476:
        k -= 1
    return float(k), _pair_shift(x, -float(k))


# ------------------------------------------------------------------- exponentials
def _pair_small_expm1(x):
    """exp(x) - 1 for |x| <= 0.35."""
    return _pair_mul(x, _pair_polynomial(x, _EXPM1, _EXPM1_TAIL))


def _exp_reduced(x):
    """k and x - k*log(2)."""
    k = np.rint(x[0] * 1.4426950408889634)
    rest = (x[0], x[1])
    for part in _LN2:
        rest = _pair_sub(rest, _two_product(k, part))
    return k, rest


def _clamped(x, limit):
    """x, or the limit beyond that."""
    if abs(x[0]) > limit:
        return math.copysign(limit, x[0]), 0.0
    return x[0], x[1]


def _pair_exp(x):
    """exp(x)."""
    k, r = _exp_reduced(_clamped(x, 800.0))
    return _pair_shift(_pair_add((1.0, 0.0), _pair_small_expm1(r)), k)


def _pair_exp2(x):
    """2**x."""
    x = _clamped(x, 1200.0)
    k = np.rint(x[0])
    r = _pair_mul(_pair_sub(x, (k, 0.0)), _LN2)
    return _pair_shift(_pair_add((1.0, 0.0), _pair_small_expm1(r)), k)


def _pair_expm1(x):
    """exp(x) - 1."""
    k, r = _exp_reduced(_clamped(x, 800.0))
    small = _pair_small_expm1(r)
    if k == 0.0:
        return small
    power = _pair_add(_pair_shift((1.0, 0.0), k), (-1.0, 0.0))
    return _pair_add(_pair_shift(small, k), power)


# --------------------------------------------------------------------- logarithms
def _pair_small_log1p(x):
    """log(1 + x) for x from -0.3 to 0.42: the library's value and a step of Newton's method."""
    y = math.log1p(x[0])
    e = _pair_small_expm1((y, 0.0))
    q = _pair_sub(x, e)[0] / (1.0 + e[0])
    return _fast_two_sum(y, q - 0.5 * (q * q))


def _pair_log(x):
    """log(x); nan unless x > 0."""
    if not 0.0 < x[0] < math.inf:
        return math.nan, 0.0
    k, m = _exponent(x)
    return _pair_add(_pair_mul((k, 0.0), _LN2), _pair_small_log1p(_pair_add(m, (-1.0, 0.0))))


def _pair_log2(x):
    """The logarithm to 2."""
    if not 0.0 < x[0] < math.inf:
        return math.nan, 0.0
    k, m = _exponent(x)
    small = _pair_small_log1p(_pair_add(m, (-1.0, 0.0)))
    return _pair_add((k, 0.0), _pair_mul(small, _INVERSE_LN2))


def _pair_log10(x):
    """The logarithm to 10."""
    return _pair_mul(_pair_log(x), _INVERSE_LN10)


def _pair_log1p(x):
    """log(1 + x)."""
    if -0.3 < x[0] < 0.4:
        return _pair_small_log1p(x)
    return _pair_log(_pair_add((1.0, 0.0), x))


# --------------------------------------------------------------------------- powers
def _pair_cbrt(x):
    """The cube root: the library's value and a step of Newton's method."""
    if abs(x[0]) < 1.1830521861667747e-271:  # 2**-900: its last bits are lost
        return (0.0 if x[0] == 0.0 else math.nan), 0.0
    y = np.cbrt(x[0])
    square = _two_product(y, y)
    rest = _pair_sub(x, _pair_mul(square, (y, 0.0)))
    step = rest[0] / (3.0 * square[0])
    return _fast_two_sum(y, step - step * step / y)


def _pair_hypot(x, y):
    """sqrt(x**2 + y**2)."""
    largest = max(abs(x[0]), abs(y[0]))
    if largest == 0.0 or not largest < math.inf:
        return largest, 0.0
    k = float(math.frexp(largest)[1])
    x, y = _pair_shift(x, -k), _pair_shift(y, -k)
    return _pair_shift(_pair_sqrt(_pair_add(_pair_mul(x, x), _pair_mul(y, y))), k)


# ------------------------------------------------------------------ trigonometric
def _pair_small_sin_cos(x):
    """Sine and cosine for |x| <= 0.79."""
    z = _pair_mul(x, x)
    sine = _pair_mul(x, _pair_polynomial(z, _SINE, _SINE_TAIL))
    return sine, _pair_polynomial(z, _COSINE, _COSINE_TAIL)


def _pair_sin_cos(x):
    """Sine and cosine; nan for angles beyond 100000."""
    if not abs(x[0]) <= 100000.0:
        return (math.nan, 0.0), (math.nan, 0.0)
    n = np.rint(x[0] * 0.6366197723675814)
    rest = (x[0], x[1])
    for part in _HALF_PI:
        rest = _pair_sub(rest, _two_product(n, part))
    sine, cosine = _pair_small_sin_cos(rest)
    quadrant = int(n) % 4
    if quadrant == 1:
        return cosine, (-sine[0], -sine[1])
    if quadrant == 2:
        return (-sine[0], -sine[1]), (-cosine[0], -cosine[1])
    if quadrant == 3:
        return (-cosine[0], -cosine[1]), sine
    return sine, cosine


def _pair_sin(x):
    """sin(x)."""
    return _pair_sin_cos(x)[0]


def _pair_cos(x):
    """cos(x)."""
    return _pair_sin_cos(x)[1]


def _pair_tan(x):
    """tan(x)."""
    sine, cosine = _pair_sin_cos(x)
    return _pair_div(sine, cosine)


def _pair_small_atan(x):
    """The angle for 0 <= x <= 1: the library's value and a step of Newton's method."""
    y = math.atan(x[0])
    sine, cosine = _pair_small_sin_cos((y, 0.0))
    rest = _pair_sub(_pair_mul(x, cosine), sine)
    return _fast_two_sum(y, rest[0] / _pair_add(cosine, _pair_mul(x, sine))[0])


def _pair_atan2(y, x):
    """The angle of (x, y); nan at the origin, and where a quotient underflows."""
    up, right = _pair_abs(y), _pair_abs(x)
    steep = right[0] < up[0] or (right[0] == up[0] and right[1] < up[1])
    if max(up[0], right[0]) < 1.1830521861667747e-271:
        return math.nan, 0.0
    if steep:
        angle = _pair_sub((0.5 * _PI[0], 0.5 * _PI[1]), _pair_small_atan(_pair_div(right, up)))
    else:
        angle = _pair_small_atan(_pair_div(up, right))
    if x[0] < 0.0:
        angle = _pair_sub(_PI, angle)
    if y[0] < 0.0:
        return -angle[0], -angle[1]
    return angle


def _pair_atan(x):
    """atan(x)."""
    return _pair_atan2(x, (1.0, 0.0))


def _pair_leg(x):
    """sqrt(1 - x**2)."""
    return _pair_sqrt(_pair_mul(_pair_sub((1.0, 0.0), x), _pair_add((1.0, 0.0), x)))


def _pair_asin(x):
    """asin(x)."""
    return _pair_atan2(x, _pair_leg(x))


def _pair_acos(x):
    """acos(x)."""
    return _pair_atan2(_pair_leg(x), x)


# --------------------------------------------------------------------- hyperbolic
def _pair_odd(x, value):
    """A value with the sign of x."""
    if x[0] < 0.0:
        return -value[0], -value[1]
    return value


def _pair_sinh(x):
    """sinh(x)."""
    e = _pair_expm1(_pair_abs(x))
    both = _pair_add(e, _pair_div(e, _pair_add((1.0, 0.0), e)))
    return _pair_odd(x, _pair_scale(both, 0.5))


def _pair_cosh(x):
    """cosh(x)."""
    e = _pair_exp(_pair_abs(x))
    return _pair_scale(_pair_add(e, _pair_div((1.0, 0.0), e)), 0.5)


def _pair_tanh(x):
    """tanh(x)."""
    e = _pair_expm1(_pair_scale(_clamped(_pair_abs(x), 40.0), 2.0))
    return _pair_odd(x, _pair_div(e, _pair_add(e, (2.0, 0.0))))


def _pair_asinh(x):
    """asinh(x)."""
    y = _pair_abs(x)
    if y[0] > 1152921504606846976.0:  # 2**60
        return _pair_odd(x, _pair_add(_pair_log(y), _LN2))
    square = _pair_mul(y, y)
    root = _pair_add((1.0, 0.0), _pair_sqrt(_pair_add((1.0, 0.0), square)))
    return _pair_odd(x, _pair_log1p(_pair_add(y, _pair_div(square, root))))


def _pair_acosh(x):
    """acosh(x)."""
    if x[0] > 1152921504606846976.0:  # 2**60
        return _pair_add(_pair_log(x), _LN2)
    t = _pair_add(x, (-1.0, 0.0))
    root = _pair_sqrt(_pair_mul(t, _pair_add(t, (2.0, 0.0))))
    return _pair_log1p(_pair_add(t, root))


def _pair_atanh(x):
    """atanh(x)."""
    y = _pair_abs(x)
    t = _pair_div(_pair_scale(y, 2.0), _pair_sub((1.0, 0.0), y))
    return _pair_odd(x, _pair_scale(_pair_log1p(t), 0.5))


# ----------------------------------------------------------------------- constants
_EXPM1 = (
    (1.6059043836821613e-10, 1.2585294588752098e-26),
    (2.08767569878681e-09, -1.20734505911326e-25),
    (2.505210838544172e-08, -1.448814070935912e-24),
    (2.755731922398589e-07, 2.3767714622250297e-23),
    (2.7557319223985893e-06, -1.858393274046472e-22),
    (2.48015873015873e-05, 2.1511947866775882e-23),
    (0.0001984126984126984, 1.7209558293420705e-22),
    (0.001388888888888889, -5.300543954373577e-20),
    (0.008333333333333333, 1.1564823173178714e-19),
    (0.041666666666666664, 2.3129646346357427e-18),
    (0.16666666666666666, 9.25185853854297e-18),
    (0.5, 0.0),
    (1.0, 0.0),
)
_EXPM1_TAIL = (
    3.868170170630684e-23,
    8.896791392450574e-22,
    1.9572941063391263e-20,
    4.110317623312165e-19,
    8.22063524662433e-18,
    1.5619206968586225e-16,
    2.8114572543455206e-15,
    4.779477332387385e-14,
    7.647163731819816e-13,
    1.1470745597729725e-11,
)
"""Of (exp(x) - 1)/x, last terms first; of the tail, doubles are enough."""
_SINE = (
    (-7.647163731819816e-13, -7.03872877733453e-30),
    (1.6059043836821613e-10, 1.2585294588752098e-26),
    (-2.505210838544172e-08, 1.448814070935912e-24),
    (2.7557319223985893e-06, -1.858393274046472e-22),
    (-0.0001984126984126984, -1.7209558293420705e-22),
    (0.008333333333333333, 1.1564823173178714e-19),
    (-0.16666666666666666, -9.25185853854297e-18),
    (1.0, 0.0),
)
_SINE_TAIL = (
    1.1309962886447716e-31,
    -9.183689863795546e-29,
    6.446950284384474e-26,
    -3.868170170630684e-23,
    1.9572941063391263e-20,
    -8.22063524662433e-18,
    2.8114572543455206e-15,
)
"""Of sin(x)/x by x**2."""
_COSINE = (
    (4.779477332387385e-14, 4.399205485834081e-31),
    (-1.1470745597729725e-11, -2.0655512752830745e-28),
    (2.08767569878681e-09, -1.20734505911326e-25),
    (-2.755731922398589e-07, -2.3767714622250297e-23),
    (2.48015873015873e-05, 2.1511947866775882e-23),
    (-0.001388888888888889, 5.300543954373577e-20),
    (0.041666666666666664, 2.3129646346357427e-18),
    (-0.5, 0.0),
    (1.0, 0.0),
)
_COSINE_TAIL = (
    3.279889237069838e-30,
    -2.4795962632247976e-27,
    1.6117375710961184e-24,
    -8.896791392450574e-22,
    4.110317623312165e-19,
    -1.5619206968586225e-16,
)
"""Of cos(x) by x**2."""
_LN2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
_HALF_PI = (
    1.5707963267948966,
    6.123233995736766e-17,
    -1.4973849048591698e-33,
    5.562271104316826e-50,
)
_PI = (3.141592653589793, 1.2246467991473532e-16)
_INVERSE_LN2 = (1.4426950408889634, 2.0355273740931033e-17)
_INVERSE_LN10 = (0.4342944819032518, 1.098319650216765e-17)
