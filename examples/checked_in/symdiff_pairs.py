"""Functions that the generated modules in this folder import, written by symdiff 0.1.0.

They compute with pairs of doubles, and with doubles and their rounding errors. A pair is the sum of
two doubles, of which the second is the rounding error of the first: a number to about 32 digits.
"""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import get_num_threads, njit
from numba.core.errors import TypingError
from numba.extending import intrinsic


_helper = njit(
    error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)  # called by compiled code only


@_helper
def _pair_neg(x):
    """pair_neg(x)."""
    return (-x[0], -x[1])


@_helper
def _pair_magnitude(x):
    """pair_magnitude(x)."""
    return _pair_neg(x) if x[0] < 0.0 else x


@_helper
def _abs(x):
    """|x|."""
    return (_pair_magnitude(x[0]), x[1])


@_helper
def _pair_scale(x, factor):
    """x times a power of two, exact where nothing under- or overflows."""
    return (x[0]*factor, x[1]*factor)


@_helper
def _pair_shift(x, k):
    """x * 2**k, in two steps, so that 2**k itself may be out of range."""
    t0 = np.floor(k*0.5)
    return _pair_scale(_pair_scale(x, math.ldexp(1.0, int(t0))), math.ldexp(1.0, int(k - t0)))


@_helper
def _usual(x):
    """x without its exponent: what is huge is infinite, what is tiny may be 0."""
    t0 = _pair_shift(x[0], -2000.0 if x[1] < -2000.0 else x[1])
    return x[0] if x[1] == 0.0 else (x[0][0]*(math.inf), 0.0) if x[1] > 0.0 else t0


@_helper
def _two_sum(a, b):
    """a + b exactly."""
    t0 = a + b
    t1 = t0 - a
    return (t0, a - (t0 - t1) + (b - t1))


@_helper
def _fast_two_sum(a, b):
    """a + b exactly, for |a| >= |b|."""
    t0 = a + b
    return (t0, b - (t0 - a))


@_helper
def _pair_add_double(x, y):
    """x + y within 2 u**2 (DWPlusFP)."""
    t0 = _two_sum(x[0], y)
    return _fast_two_sum(t0[0], x[1] + t0[1])


@intrinsic
def _fma(typing, a, b, c):
    """a*b + c, rounded once: an instruction of the processor."""

    def code(context, builder, signature, args):
        return builder.fma(*args)

    return a(a, b, c), code


@_helper
def _two_product(a, b):
    """a * b exactly, where nothing underflows."""
    t0 = a*b
    return (t0, _fma(a, b, -t0))


@_helper
def _pair_mul(x, y):
    """x * y within 4 u**2 (DWTimesDW3)."""
    t0 = _two_product(x[0], y[0])
    return _fast_two_sum(t0[0], t0[1] + _fma(x[0], y[1], _fma(x[1], y[0], x[1]*y[1])))


@_helper
def _pair_sqrt(x):
    """The square root within 25/8 u**2; that of 0 is 0."""
    t0 = math.sqrt(x[0])
    return (0.0, 0.0) if x[0] == 0.0 else _fast_two_sum(t0, (x[1] + _fma(-t0, t0, x[0]))/(2.0*t0))


@_helper
def _pair_leg(x):
    """sqrt(1 - x**2), nan for |x| > 1."""
    return _pair_sqrt(_pair_mul(_pair_add_double(_pair_neg(x), 1.0), _pair_add_double(x, 1.0)))


@_helper
def _pair_add(x, y):
    """x + y within 3 u**2, cancellation included (AccurateDWPlusDW)."""
    t0 = _two_sum(x[0], y[0])
    t1 = _two_sum(x[1], y[1])
    t2 = _fast_two_sum(t0[0], t0[1] + t1[0])
    return _fast_two_sum(t2[0], t1[1] + t2[1])


@_helper
def _pair_div(x, y):
    """x / y within 9.8 u**2 (DWDivDW3 with the residual in full)."""
    t0 = x[0]/y[0]
    return _fast_two_sum(t0, _pair_add(x, _pair_neg(_pair_mul((t0, 0.0), y)))[0]/y[0])


_SIN_TERMS = (
    4.779477332387385e-14, 4.399205485834081e-31, -1.1470745597729725e-11,
    -2.0655512752830745e-28, 2.08767569878681e-09, -1.20734505911326e-25, -2.755731922398589e-07,
    -2.3767714622250297e-23, 2.48015873015873e-05, 2.1511947866775882e-23, -0.001388888888888889,
    5.300543954373577e-20, 0.041666666666666664, 2.3129646346357427e-18, -0.5, 0.0, 1.0, 0.0,
)


_SIN_TAIL = (
    3.279889237069838e-30, -2.4795962632247976e-27, 1.6117375710961184e-24,
    -8.896791392450574e-22, 4.110317623312165e-19, -1.5619206968586225e-16,
)


@_helper
def _polynomial(x, terms, tail):
    """A polynomial of a pair by Horner's rule, last terms first: pairs, after a tail of doubles."""
    total = 0.0
    for c in tail:
        total = _fma(total, x[0], c)
    value = (total, 0.0)
    for k in range(0, len(terms), 2):
        value = _pair_add((terms[k], terms[k + 1]), _pair_mul(value, x))
    return value


_SIN_TERMS_ = (
    -7.647163731819816e-13, -7.03872877733453e-30, 1.6059043836821613e-10, 1.2585294588752098e-26,
    -2.505210838544172e-08, 1.448814070935912e-24, 2.7557319223985893e-06, -1.858393274046472e-22,
    -0.0001984126984126984, -1.7209558293420705e-22, 0.008333333333333333, 1.1564823173178714e-19,
    -0.16666666666666666, -9.25185853854297e-18, 1.0, 0.0,
)


_SIN_TAIL_ = (
    1.1309962886447716e-31, -9.183689863795546e-29, 6.446950284384474e-26, -3.868170170630684e-23,
    1.9572941063391263e-20, -8.22063524662433e-18, 2.8114572543455206e-15,
)


@_helper
def _pair_small_atan(t):
    """The angle for 0 <= t <= 1: libm's value and one Newton step."""
    t0 = math.atan(t[0])
    t1 = _two_product(t0, t0)
    t2 = _polynomial(t1, _SIN_TERMS, _SIN_TAIL)
    t3 = _pair_mul((t0, 0.0), _polynomial(t1, _SIN_TERMS_, _SIN_TAIL_))
    t4 = _pair_add(_pair_mul(t, t2), _pair_neg(t3))[0]/_pair_add(t2, _pair_mul(t, t3))[0]
    return _fast_two_sum(t0, t4)


@_helper
def _pair_atan2(y, x):
    """The angle of (x, y); nan at the origin."""
    t0 = _pair_magnitude(x)
    t1 = _pair_magnitude(y)
    t2 = t0 < t1
    t3 = t1 if t2 else t0
    t4 = abs(t3[0])
    t5 = (math.nan, 0.0) if t4 < 1.1830521861667747e-271 and t4 > 0.0 else t3
    t6 = _pair_small_atan(_pair_div(t0 if t2 else t1, t5))
    t7 = _pair_add((1.5707963267948966, 6.123233995736766e-17), _pair_neg(t6)) if t2 else t6
    t8 = _pair_add((3.141592653589793, 1.2246467991473532e-16), _pair_neg(t7))
    t9 = t8 if x[0] < 0.0 else t7
    return _pair_neg(t9) if y[0] < 0.0 else t9


@_helper
def _pair_acos(x):
    """pair_acos(x)."""
    return _pair_atan2(_pair_leg(x), x)


@_helper
def _rescaled(x, k):
    """x * 2**k, for what is neither 0 nor infinite."""
    t0 = float(math.frexp(abs(x[0]))[1] - 1)
    t1 = k + t0
    t2 = abs(t1) < 300.0
    return (_pair_shift(x, k if t2 else -t0), 0.0 if t2 else t1)


@_helper
def _scaled(x, k):
    """x * 2**k."""
    t0 = abs(x[0])
    t1 = k == 0.0 and t0 > 4.909093465297727e-91 and t0 < 2.037035976334486e+90
    return (x, 0.0) if t1 or t0 == 0.0 or not t0 < math.inf else _rescaled(x, k)


@_helper
def _double(x):
    """The nearest double."""
    t0 = -5000.0 if x[1] < -5000.0 else x[1]
    return math.ldexp(x[0][0], int(5000.0 if t0 > 5000.0 else t0))


@_helper
def _number(a):
    """A double."""
    return _scaled((a, 0.0), 0.0)


@_helper
def _acos(x):
    """acos(x)."""
    t0 = _scaled(_pair_acos(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.acos(_double(x)))


_SMALL_EXPM1_TERMS = (
    1.6059043836821613e-10, 1.2585294588752098e-26, 2.08767569878681e-09, -1.20734505911326e-25,
    2.505210838544172e-08, -1.448814070935912e-24, 2.755731922398589e-07, 2.3767714622250297e-23,
    2.7557319223985893e-06, -1.858393274046472e-22, 2.48015873015873e-05, 2.1511947866775882e-23,
    0.0001984126984126984, 1.7209558293420705e-22, 0.001388888888888889, -5.300543954373577e-20,
    0.008333333333333333, 1.1564823173178714e-19, 0.041666666666666664, 2.3129646346357427e-18,
    0.16666666666666666, 9.25185853854297e-18, 0.5, 0.0, 1.0, 0.0,
)


_SMALL_EXPM1_TAIL = (
    3.868170170630684e-23, 8.896791392450574e-22, 1.9572941063391263e-20, 4.110317623312165e-19,
    8.22063524662433e-18, 1.5619206968586225e-16, 2.8114572543455206e-15, 4.779477332387385e-14,
    7.647163731819816e-13, 1.1470745597729725e-11,
)


@_helper
def _pair_small_expm1(r):
    """exp(r) - 1 for |r| <= 0.35, without loss at 0."""
    return _pair_mul(r, _polynomial(r, _SMALL_EXPM1_TERMS, _SMALL_EXPM1_TAIL))


@_helper
def _pair_small_log1p(d):
    """log(1 + d) for d from -0.3 to 0.42: libm's value and one Newton step."""
    t0 = math.log1p(d[0])
    t1 = _pair_small_expm1((t0, 0.0))
    t2 = _pair_add(d, _pair_neg(t1))[0]/(1.0 + t1[0])
    return _fast_two_sum(t0, t2 - 0.5*(t2*t2))


@_helper
def _pair_log(x):
    """pair_log(x)."""
    t0 = float(math.frexp(x[0])[1] - 1)
    t1 = _pair_shift(x, -t0)
    t2 = t1[0] > 1.4140625
    t3 = _pair_small_log1p(_pair_add_double(_pair_scale(t1, 0.5) if t2 else t1, -1.0))
    t4 = _pair_mul((t0 + 1.0 if t2 else t0, 0.0), (0.6931471805599453, 2.3190468138462996e-17))
    return _pair_add(t4, t3 if x[0] > 0.0 else (math.nan, 0.0))


@_helper
def _pair_log1p(x):
    """pair_log1p(x)."""
    t0 = x[0] > -0.3 and x[0] < 0.4
    t1 = _pair_add_double(x, 1.0)
    t2 = float(math.frexp(t1[0])[1] - 1)
    t3 = _pair_shift(t1, -t2)
    t4 = t3[0] > 1.4140625
    t5 = x if t0 else _pair_add_double(_pair_scale(t3, 0.5) if t4 else t3, -1.0)
    t6 = _pair_small_log1p(t5)
    t7 = (0.0 if t0 else t2 + 1.0 if t4 else t2, 0.0)
    t8 = t6 if t0 else _pair_add(_pair_mul(t7, (0.6931471805599453, 2.3190468138462996e-17)), t6)
    return t8 if x[0] > -1.0 else t8 if t0 else (math.nan, 0.0)


@_helper
def _pair_acosh(x):
    """pair_acosh(x)."""
    t0 = x[0] > 1.152921504606847e+18
    t1 = _pair_add_double((1.0, 0.0) if t0 else x, -1.0)
    t2 = _pair_log1p(_pair_add(t1, _pair_sqrt(_pair_mul(t1, _pair_add_double(t1, 2.0)))))
    return _pair_add(_pair_log(x), (0.6931471805599453, 2.3190468138462996e-17)) if t0 else t2


@_helper
def _acosh(x):
    """acosh(x)."""
    t0 = _scaled(_pair_acosh(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.acosh(_double(x)))


@_helper
def _at_exponent(x, k):
    """x / 2**k, where k is at least its own exponent."""
    t0 = x[1] - k
    t1 = -2000.0 if t0 < -2000.0 else t0
    return _pair_shift(x[0], 0.0 if t1 > 0.0 else t1)


@_helper
def _add_apart(x, y, k):
    """x + y, by way of their common exponent k."""
    return _scaled(_pair_add(_at_exponent(x, k), _at_exponent(y, k)), k)


@_helper
def _add(x, y):
    """x + y."""
    t0 = x[0][0]
    t1 = y[0][0]
    t2 = y[1] if t0 == 0.0 else x[1] if t1 == 0.0 else y[1] if x[1] < y[1] else x[1]
    t3 = _scaled(_pair_add(x[0], y[0]), x[1]) if x[1] == y[1] else _add_apart(x, y, t2)
    t4 = t3[0][0]
    return t3 if t4 == t4 else ((t0 + t1, 0.0), 0.0)


def _refuse(demands, point):
    """Refuse arguments that are not what they must be."""
    broken, names, texts = demands or (lambda *point: 0, (), ())
    found = broken(*point)
    if found:
        values = ", ".join(f"{n} = {float(p)!r}" for n, p in zip(names, point))
        raise ValueError(f"{texts[found - 1]}, for {values}")


def _in_threads(size, least, task):
    """Call a task for all elements, or for parts of at least so many, each in a thread."""
    count = max(1, min(get_num_threads(), size // least))
    ends = [size * k // count for k in range(count + 1)]
    parts = [slice(a, b) for a, b in zip(ends[:-1], ends[1:])]
    if count == 1:
        task(parts[0])
        return
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(task, parts))


def _again(parts, flat, out, at, slopes):
    """Compute the elements of arrays that are flagged, which are at these places, again."""
    again, demands = parts[3:]
    points = [a[at].astype(np.float64) for a in flat]
    for point in zip(*points) if demands else ():
        _refuse(demands, point)
    if again is not None and at.size:
        found = np.empty((len(out), at.size))

        def task(s):
            again(*(p[s] for p in points), tuple(f[s] for f in found), slopes)

        _in_threads(at.size, 1 << 10, task)
        out[:, at] = found


@_helper
def _pair_asin(x):
    """pair_asin(x)."""
    return _pair_atan2(x, _pair_leg(x))


@_helper
def _asin(x):
    """asin(x)."""
    t0 = x if x[1] < 0.0 else _scaled(_pair_asin(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.asin(_double(x)))


@_helper
def _pair_asinh(x):
    """pair_asinh(x)."""
    t0 = _pair_magnitude(x)
    t1 = t0[0] > 1.152921504606847e+18
    t2 = (1.0, 0.0) if t1 else t0
    t3 = _pair_mul(t2, t2)
    t4 = _pair_div(t3, _pair_add_double(_pair_sqrt(_pair_add_double(t3, 1.0)), 1.0))
    t5 = _pair_add(_pair_log(t0), (0.6931471805599453, 2.3190468138462996e-17))
    t6 = t5 if t1 else _pair_log1p(_pair_add(t2, t4))
    return _pair_neg(t6) if x[0] < 0.0 else t6


@_helper
def _asinh(x):
    """asinh(x)."""
    t0 = x if x[1] < 0.0 else _scaled(_pair_asinh(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.asinh(_double(x)))


def _at(parts, point, slopes):
    """The results for numbers."""
    kernel, _, repaired, _, demands = parts
    values, flagged = kernel(*point, slopes)
    if flagged:
        _refuse(demands, point)
        values = values if repaired is None else repaired(*map(float, point), slopes)
    return values


@_helper
def _neg(x):
    """-x."""
    return (_pair_neg(x[0]), x[1])


@_helper
def _sub(x, y):
    """x - y."""
    return _add(x, _neg(y))


@_helper
def _at_most(x, y):
    """x <= y."""
    t0 = x[1] == y[1]
    return t0 and x[0] <= y[0] or not t0 and not _sub(x, y)[0][0] > 0.0


@_helper
def _pair_atan(x):
    """pair_atan(x)."""
    return _pair_atan2(x, (1.0, 0.0))


@_helper
def _atan(x):
    """atan(x)."""
    t0 = x if x[1] < 0.0 else _scaled(_pair_atan(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.atan(_double(x)))


@_helper
def _atan2(x, y):
    """atan2(x, y)."""
    t0 = y[1] if x[0][0] == 0.0 else x[1] if y[0][0] == 0.0 else y[1] if x[1] < y[1] else x[1]
    t1 = _scaled(_pair_atan2(_at_exponent(x, t0), _at_exponent(y, t0)), 0.0)
    t2 = t1[0][0]
    return t1 if t2 == t2 else _number(math.atan2(_double(x), _double(y)))


@_helper
def _pair_atanh(x):
    """pair_atanh(x)."""
    t0 = _pair_magnitude(x)
    t1 = _pair_log1p(_pair_div(_pair_scale(t0, 2.0), _pair_add_double(_pair_neg(t0), 1.0)))
    t2 = _pair_scale(t1, 0.5)
    return _pair_neg(t2) if x[0] < 0.0 else t2


@_helper
def _atanh(x):
    """atanh(x)."""
    t0 = x if x[1] < 0.0 else _scaled(_pair_atanh(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.atanh(_double(x)))


@_helper
def _pair_cbrt(x):
    """pair_cbrt(x)."""
    t0 = abs(x[0])
    t1 = np.cbrt(x[0])
    t2 = _two_product(t1, t1)
    t3 = _pair_add(x, _pair_neg(_pair_mul(t2, (t1, 0.0))))[0]/(3.0*t2[0])
    t4 = (0.0, 0.0) if x[0] == 0.0 else _fast_two_sum(t1, t3 - t3*t3/t1)
    return (math.nan, 0.0) if t0 < 1.1830521861667747e-271 and t0 > 0.0 else t4


@_helper
def _cbrt(x):
    """cbrt(x)."""
    t0 = np.floor(x[1]/3.0)
    t1 = _scaled(_pair_cbrt(_pair_shift(x[0], x[1] - 3.0*t0)), t0)
    t2 = t1[0][0]
    return t1 if t2 == t2 else _number(np.cbrt(_double(x)))


def _check_fixed(text, value, known):
    """A parameter that has one value in this module."""
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) is not type(known) or repr(value) != repr(known):
        raise ValueError(f"{text} (given: {value!r})")


@_helper
def _sum_error(a, b):
    """The rounding error of a sum."""
    t0 = a + b
    t1 = t0 - a
    return a - (t0 - t1) + (b - t1)


@_helper
def _product_error(a, b):
    """The rounding error of a product."""
    return _fma(a, b, -a*b)


@_helper
def _corrected_acos(x):
    """acos(x), its rounding error, and the slope there."""
    t0 = math.acos(x)
    t1 = 1.0 + x
    t2 = 1.0 + (-x)
    t3 = t1*t2
    t4 = _fma(_sum_error(1.0, x), t2, _fma(t1, _sum_error(1.0, -x), _product_error(t1, t2)))
    t5 = t3 + t4
    t6 = abs(math.sqrt(t5))
    t7 = np.rint(t0*0.6366197723675814)
    t8 = t7*0.5
    t9 = np.floor(t8)
    t10 = t9 < t8
    t11 = _fma(-t7, 1.5707963267923333, t0)
    t12 = -t7*2.563344151594519e-12
    t13 = t11 + t12
    t14 = _fma(t7, -1.1351118607522202e-28, _product_error(t7, 2.563344151594519e-12))
    t15 = _sum_error(t11, t12) - t14
    t16 = t13 + t15
    t17 = t16*t16
    t18 = _fma(8.22063524662433e-18, t17, -2.8114572543455206e-15)
    t19 = _fma(_fma(t18, t17, 7.647163731819816e-13), t17, -1.6059043836821613e-10)
    t20 = _fma(_fma(t19, t17, 2.505210838544172e-08), t17, -2.7557319223985893e-06)
    t21 = _fma(t20, t17, 0.0001984126984126984)
    t22 = t17*t21
    t23 = -0.008333333333333333 + t22
    t24 = t17*t23
    t25 = 0.16666666666666666 + t24
    t26 = -t25
    t27 = t17*t26
    t28 = t16*t27
    t29 = t16 + t28
    t30 = _fma(4.110317623312165e-19, t17, -1.5619206968586225e-16)
    t31 = _fma(_fma(t30, t17, 4.779477332387385e-14), t17, -1.1470745597729725e-11)
    t32 = _fma(_fma(t31, t17, 2.08767569878681e-09), t17, -2.755731922398589e-07)
    t33 = _fma(_fma(t32, t17, 2.48015873015873e-05), t17, -0.001388888888888889)
    t34 = t17*t33
    t35 = 0.041666666666666664 + t34
    t36 = t17*t35
    t37 = -0.5 + t36
    t38 = t17*t37
    t39 = 1.0 + t38
    t40 = np.floor(t8 + 0.5)*0.5
    t41 = -1.0 if np.floor(t40) < t40 else 1.0
    t42 = (t29 if t10 else t39)*t41
    t43 = t15 - (t16 - t13)
    t44 = _fma(t16 + t16, t43, _product_error(t16, t16))
    t45 = _fma(t44, t21, _product_error(t17, t21) + (t22 - (t23 + 0.008333333333333333)))
    t46 = _product_error(t17, t23) + (t24 - (t25 - 0.16666666666666666))
    t47 = -(_fma(t44, t23, _fma(t17, t45 - 1.1564823173178714e-19, t46)) + 9.25185853854297e-18)
    t48 = _fma(t44, t26, _fma(t17, t47, _product_error(t17, t26)))
    t49 = t28 - (t29 - t16) + (t43 + _fma(t43, t27, _fma(t16, t48, _product_error(t16, t27))))
    t50 = _fma(t44, t33, _product_error(t17, t33) + (t34 - (t35 - 0.041666666666666664)))
    t51 = _fma(t17, t50 + 2.3129646346357427e-18, _product_error(t17, t35) + (t36 - (t37 + 0.5)))
    t52 = _fma(t17, _fma(t44, t35, t51), _product_error(t17, t37) + (t38 - (t39 - 1.0)))
    t53 = _fma(t44, t37, t52)
    t54 = (t49 if t10 else t53)*t41
    t55 = t42 + t54
    t56 = t9*0.5
    t57 = -1.0 if np.floor(t56) < t56 else 1.0
    t58 = (t39 if t10 else t29)*t57
    t59 = (t53 if t10 else t49)*t57
    t60 = t58 + t59
    t61 = _fma(t6, t54 - (t55 - t42), _product_error(t6, t55))
    t62 = _fma((_fma(-t6, t6, t5) + (t4 - (t5 - t3)))/(t6 + t6), t55, t61)
    return t0, t6*t55 - t60*x + (t62 - _fma(t59 - (t60 - t58), x, _product_error(t60, x))), -1.0/t6


@_helper
def _corrected_acosh(x):
    """acosh(x), its rounding error, and the slope there."""
    t0 = x - 1.0
    t1 = x + 1.0
    t2 = t0*t1
    t3 = _sum_error(x, -1.0)
    t4 = _fma(t3, t1, _fma(t0, _sum_error(x, 1.0), _product_error(t0, t1)))
    t5 = t2 + t4
    t6 = abs(math.sqrt(t5))
    t7 = t0 + t6
    t8 = _sum_error(t0, t6) + t3 + (_fma(-t6, t6, t5) + (t4 - (t5 - t2)))/(t6 + t6)
    t9 = t7 + t8
    t10 = abs(t9 - 0.0625) < 0.3125
    t11 = 1.0 + t9
    t12 = float(math.frexp(t11*1.4142135623730951)[1] - 1)
    t13 = 0.0 if t10 else t12
    t14 = t13 == 0.0
    t15 = math.ldexp(1.0, int(-t12))
    t16 = t9 if t10 else t11*t15 - 1.0
    t17 = 2.0 + t16
    t18 = 1.0/t17
    t19 = t16*t18
    t20 = t19*t19
    t21 = _fma(_fma(0.08, t20, 0.08695652173913043), t20, 0.09523809523809523)
    t22 = _fma(_fma(t21, t20, 0.10526315789473684), t20, 0.11764705882352941)
    t23 = _fma(_fma(t22, t20, 0.13333333333333333), t20, 0.15384615384615385)
    t24 = _fma(_fma(t23, t20, 0.18181818181818182), t20, 0.2222222222222222)
    t25 = _fma(_fma(t24, t20, 0.2857142857142857), t20, 0.4)
    t26 = t20*t25
    t27 = 0.6666666666666666 + t26
    t28 = t20*t27
    t29 = 2.0 + t28
    t30 = t19*t29
    t31 = t13*0.6931471805598903
    t32 = t31 + t30
    t33 = t30 if t14 else t32
    t34 = -t19
    t35 = t8 - (t9 - t7)
    t36 = t35 if t10 else (_sum_error(1.0, t9) + t35)*t15
    t37 = _fma(t34, _sum_error(2.0, t16) + t36, _fma(t34, t17, t16) + t36)*t18
    t38 = _fma(t19 + t19, t37, _product_error(t19, t19))
    t39 = _fma(t38, t25, _product_error(t20, t25) + (t26 - (t27 - 0.6666666666666666)))
    t40 = _fma(t20, t39 + 3.700743415417188e-17, _product_error(t20, t27) + (t28 - (t29 - 2.0)))
    t41 = _fma(t37, t29, _fma(t19, _fma(t38, t27, t40), _product_error(t19, t29)))
    t42 = t41 if t14 else _fma(t13, 5.497923018708371e-14, t30 - (t32 - t31)) + t41
    t43 = t33 + t42
    return t43, t42 - (t43 - t33), 1.0/t6


@_helper
def _corrected_asin(x):
    """asin(x), its rounding error, and the slope there."""
    t0 = math.asin(x)
    t1 = np.rint(t0*0.6366197723675814)
    t2 = t1*0.5
    t3 = np.floor(t2)
    t4 = t3 < t2
    t5 = _fma(-t1, 1.5707963267923333, t0)
    t6 = -t1*2.563344151594519e-12
    t7 = t5 + t6
    t8 = _fma(t1, -1.1351118607522202e-28, _product_error(t1, 2.563344151594519e-12))
    t9 = _sum_error(t5, t6) - t8
    t10 = t7 + t9
    t11 = t10*t10
    t12 = _fma(8.22063524662433e-18, t11, -2.8114572543455206e-15)
    t13 = _fma(_fma(t12, t11, 7.647163731819816e-13), t11, -1.6059043836821613e-10)
    t14 = _fma(_fma(t13, t11, 2.505210838544172e-08), t11, -2.7557319223985893e-06)
    t15 = _fma(t14, t11, 0.0001984126984126984)
    t16 = t11*t15
    t17 = -0.008333333333333333 + t16
    t18 = t11*t17
    t19 = 0.16666666666666666 + t18
    t20 = -t19
    t21 = t11*t20
    t22 = t10*t21
    t23 = t10 + t22
    t24 = _fma(4.110317623312165e-19, t11, -1.5619206968586225e-16)
    t25 = _fma(_fma(t24, t11, 4.779477332387385e-14), t11, -1.1470745597729725e-11)
    t26 = _fma(_fma(t25, t11, 2.08767569878681e-09), t11, -2.755731922398589e-07)
    t27 = _fma(_fma(t26, t11, 2.48015873015873e-05), t11, -0.001388888888888889)
    t28 = t11*t27
    t29 = 0.041666666666666664 + t28
    t30 = t11*t29
    t31 = -0.5 + t30
    t32 = t11*t31
    t33 = 1.0 + t32
    t34 = np.floor(t2 + 0.5)*0.5
    t35 = -1.0 if np.floor(t34) < t34 else 1.0
    t36 = (t23 if t4 else t33)*t35
    t37 = t9 - (t10 - t7)
    t38 = _fma(t10 + t10, t37, _product_error(t10, t10))
    t39 = _fma(t38, t15, _product_error(t11, t15) + (t16 - (t17 + 0.008333333333333333)))
    t40 = _product_error(t11, t17) + (t18 - (t19 - 0.16666666666666666))
    t41 = -(_fma(t38, t17, _fma(t11, t39 - 1.1564823173178714e-19, t40)) + 9.25185853854297e-18)
    t42 = _fma(t38, t20, _fma(t11, t41, _product_error(t11, t20)))
    t43 = t22 - (t23 - t10) + (t37 + _fma(t37, t21, _fma(t10, t42, _product_error(t10, t21))))
    t44 = _fma(t38, t27, _product_error(t11, t27) + (t28 - (t29 - 0.041666666666666664)))
    t45 = _fma(t11, t44 + 2.3129646346357427e-18, _product_error(t11, t29) + (t30 - (t31 + 0.5)))
    t46 = _fma(t11, _fma(t38, t29, t45), _product_error(t11, t31) + (t32 - (t33 - 1.0)))
    t47 = _fma(t38, t31, t46)
    t48 = (t43 if t4 else t47)*t35
    t49 = t36 + t48
    t50 = 1.0 + x
    t51 = 1.0 + (-x)
    t52 = t50*t51
    t53 = _fma(_sum_error(1.0, x), t51, _fma(t50, _sum_error(1.0, -x), _product_error(t50, t51)))
    t54 = t52 + t53
    t55 = abs(math.sqrt(t54))
    t56 = t3*0.5
    t57 = -1.0 if np.floor(t56) < t56 else 1.0
    t58 = (t33 if t4 else t23)*t57
    t59 = (t47 if t4 else t43)*t57
    t60 = t58 + t59
    t61 = (_fma(-t55, t55, t54) + (t53 - (t54 - t52)))/(t55 + t55)
    t62 = _fma(t61, t60, _fma(t55, t59 - (t60 - t58), _product_error(t55, t60)))
    return t0, t49*x - t55*t60 + (_fma(t48 - (t49 - t36), x, _product_error(t49, x)) - t62), 1.0/t55


@_helper
def _corrected_asinh(x):
    """asinh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0*t0
    t2 = 1.0 + t1
    t3 = math.sqrt(t2)
    t4 = 1.0 + t3
    t5 = 1.0/t4
    t6 = t1*t5
    t7 = t0 + t6
    t8 = -t6
    t9 = _product_error(t0, t0)
    t10 = _sum_error(1.0, t3) + (_fma(-t3, t3, t2) + (_sum_error(1.0, t1) + t9))/(t3 + t3)
    t11 = _sum_error(t0, t6) + _fma(t8, t10, _fma(t8, t4, t1) + t9)*t5
    t12 = t7 + t11
    t13 = abs(t12 - 0.0625) < 0.3125
    t14 = 1.0 + t12
    t15 = float(math.frexp(t14*1.4142135623730951)[1] - 1)
    t16 = 0.0 if t13 else t15
    t17 = t16 == 0.0
    t18 = math.ldexp(1.0, int(-t15))
    t19 = t12 if t13 else t14*t18 - 1.0
    t20 = 2.0 + t19
    t21 = 1.0/t20
    t22 = t19*t21
    t23 = t22*t22
    t24 = _fma(_fma(0.08, t23, 0.08695652173913043), t23, 0.09523809523809523)
    t25 = _fma(_fma(t24, t23, 0.10526315789473684), t23, 0.11764705882352941)
    t26 = _fma(_fma(t25, t23, 0.13333333333333333), t23, 0.15384615384615385)
    t27 = _fma(_fma(t26, t23, 0.18181818181818182), t23, 0.2222222222222222)
    t28 = _fma(_fma(t27, t23, 0.2857142857142857), t23, 0.4)
    t29 = t23*t28
    t30 = 0.6666666666666666 + t29
    t31 = t23*t30
    t32 = 2.0 + t31
    t33 = t22*t32
    t34 = t16*0.6931471805598903
    t35 = t34 + t33
    t36 = t33 if t17 else t35
    t37 = -t22
    t38 = t11 - (t12 - t7)
    t39 = t38 if t13 else (_sum_error(1.0, t12) + t38)*t18
    t40 = _fma(t37, _sum_error(2.0, t19) + t39, _fma(t37, t20, t19) + t39)*t21
    t41 = _fma(t22 + t22, t40, _product_error(t22, t22))
    t42 = _fma(t41, t28, _product_error(t23, t28) + (t29 - (t30 - 0.6666666666666666)))
    t43 = _fma(t23, t42 + 3.700743415417188e-17, _product_error(t23, t30) + (t31 - (t32 - 2.0)))
    t44 = _fma(t40, t32, _fma(t22, _fma(t41, t30, t43), _product_error(t22, t32)))
    t45 = t44 if t17 else _fma(t16, 5.497923018708371e-14, t33 - (t35 - t34)) + t44
    t46 = t36 + t45
    t47 = -1.0 if x < 0.0 else 1.0
    return t46*t47, (t45 - (t46 - t36))*t47, 1.0/t3


@_helper
def _corrected_atan(x):
    """atan(x), its rounding error, and the slope there."""
    t0 = math.atan(x)
    t1 = np.rint(t0*0.6366197723675814)
    t2 = t1*0.5
    t3 = np.floor(t2)
    t4 = t3 < t2
    t5 = _fma(-t1, 1.5707963267923333, t0)
    t6 = -t1*2.563344151594519e-12
    t7 = t5 + t6
    t8 = _fma(t1, -1.1351118607522202e-28, _product_error(t1, 2.563344151594519e-12))
    t9 = _sum_error(t5, t6) - t8
    t10 = t7 + t9
    t11 = t10*t10
    t12 = _fma(8.22063524662433e-18, t11, -2.8114572543455206e-15)
    t13 = _fma(_fma(t12, t11, 7.647163731819816e-13), t11, -1.6059043836821613e-10)
    t14 = _fma(_fma(t13, t11, 2.505210838544172e-08), t11, -2.7557319223985893e-06)
    t15 = _fma(t14, t11, 0.0001984126984126984)
    t16 = t11*t15
    t17 = -0.008333333333333333 + t16
    t18 = t11*t17
    t19 = 0.16666666666666666 + t18
    t20 = -t19
    t21 = t11*t20
    t22 = t10*t21
    t23 = t10 + t22
    t24 = _fma(4.110317623312165e-19, t11, -1.5619206968586225e-16)
    t25 = _fma(_fma(t24, t11, 4.779477332387385e-14), t11, -1.1470745597729725e-11)
    t26 = _fma(_fma(t25, t11, 2.08767569878681e-09), t11, -2.755731922398589e-07)
    t27 = _fma(_fma(t26, t11, 2.48015873015873e-05), t11, -0.001388888888888889)
    t28 = t11*t27
    t29 = 0.041666666666666664 + t28
    t30 = t11*t29
    t31 = -0.5 + t30
    t32 = t11*t31
    t33 = 1.0 + t32
    t34 = np.floor(t2 + 0.5)*0.5
    t35 = -1.0 if np.floor(t34) < t34 else 1.0
    t36 = (t23 if t4 else t33)*t35
    t37 = t9 - (t10 - t7)
    t38 = _fma(t10 + t10, t37, _product_error(t10, t10))
    t39 = _fma(t38, t15, _product_error(t11, t15) + (t16 - (t17 + 0.008333333333333333)))
    t40 = _product_error(t11, t17) + (t18 - (t19 - 0.16666666666666666))
    t41 = -(_fma(t38, t17, _fma(t11, t39 - 1.1564823173178714e-19, t40)) + 9.25185853854297e-18)
    t42 = _fma(t38, t20, _fma(t11, t41, _product_error(t11, t20)))
    t43 = t22 - (t23 - t10) + (t37 + _fma(t37, t21, _fma(t10, t42, _product_error(t10, t21))))
    t44 = _fma(t38, t27, _product_error(t11, t27) + (t28 - (t29 - 0.041666666666666664)))
    t45 = _fma(t11, t44 + 2.3129646346357427e-18, _product_error(t11, t29) + (t30 - (t31 + 0.5)))
    t46 = _fma(t11, _fma(t38, t29, t45), _product_error(t11, t31) + (t32 - (t33 - 1.0)))
    t47 = _fma(t38, t31, t46)
    t48 = (t43 if t4 else t47)*t35
    t49 = t36 + t48
    t50 = t3*0.5
    t51 = -1.0 if np.floor(t50) < t50 else 1.0
    t52 = (t33 if t4 else t23)*t51
    t53 = (t47 if t4 else t43)*t51
    t54 = t52 + t53
    t55 = t49*x - t54 + (_fma(t48 - (t49 - t36), x, _product_error(t49, x)) - (t53 - (t54 - t52)))
    return t0, t55/_fma(x, t54, t49), 1.0/_fma(x, x, 1.0)


@_helper
def _corrected_atanh(x):
    """atanh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0 + t0
    t2 = -t0
    t3 = 1.0 + t2
    t4 = 1.0/t3
    t5 = t1*t4
    t6 = -t5
    t7 = _fma(t6, _sum_error(1.0, t2), _fma(t6, t3, t1) + 0.0)*t4
    t8 = t5 + t7
    t9 = abs(t8 - 0.0625) < 0.3125
    t10 = 1.0 + t8
    t11 = float(math.frexp(t10*1.4142135623730951)[1] - 1)
    t12 = 0.0 if t9 else t11
    t13 = t12 == 0.0
    t14 = math.ldexp(1.0, int(-t11))
    t15 = t8 if t9 else t10*t14 - 1.0
    t16 = 2.0 + t15
    t17 = 1.0/t16
    t18 = t15*t17
    t19 = t18*t18
    t20 = _fma(_fma(0.08, t19, 0.08695652173913043), t19, 0.09523809523809523)
    t21 = _fma(_fma(t20, t19, 0.10526315789473684), t19, 0.11764705882352941)
    t22 = _fma(_fma(t21, t19, 0.13333333333333333), t19, 0.15384615384615385)
    t23 = _fma(_fma(t22, t19, 0.18181818181818182), t19, 0.2222222222222222)
    t24 = _fma(_fma(t23, t19, 0.2857142857142857), t19, 0.4)
    t25 = t19*t24
    t26 = 0.6666666666666666 + t25
    t27 = t19*t26
    t28 = 2.0 + t27
    t29 = t18*t28
    t30 = t12*0.6931471805598903
    t31 = t30 + t29
    t32 = t29 if t13 else t31
    t33 = -t18
    t34 = t7 - (t8 - t5)
    t35 = t34 if t9 else (_sum_error(1.0, t8) + t34)*t14
    t36 = _fma(t33, _sum_error(2.0, t15) + t35, _fma(t33, t16, t15) + t35)*t17
    t37 = _fma(t18 + t18, t36, _product_error(t18, t18))
    t38 = _fma(t37, t24, _product_error(t19, t24) + (t25 - (t26 - 0.6666666666666666)))
    t39 = _fma(t19, t38 + 3.700743415417188e-17, _product_error(t19, t26) + (t27 - (t28 - 2.0)))
    t40 = _fma(t36, t28, _fma(t18, _fma(t37, t26, t39), _product_error(t18, t28)))
    t41 = t40 if t13 else _fma(t12, 5.497923018708371e-14, t29 - (t31 - t30)) + t40
    t42 = t32 + t41
    t43 = -0.5 if x < 0.0 else 0.5
    return t42*t43, (t41 - (t42 - t32))*t43, 1.0/((1.0 + x)*(1.0 - x))


@_helper
def _corrected_cbrt(x):
    """cbrt(x), its rounding error, and the slope there."""
    t0 = np.cbrt(x)
    t1 = t0*t0
    t2 = 1.0/(3.0*t1)
    return t0, (x - t1*t0 - _fma(_product_error(t0, t0), t0, _product_error(t1, t0)))*t2, t2


@_helper
def _corrected_cos(x):
    """cos(x), its rounding error, and the slope there."""
    t0 = np.rint(x*0.6366197723675814)
    t1 = t0*0.5
    t2 = np.floor(t1)
    t3 = t2 < t1
    t4 = _fma(-t0, 1.5707963267923333, x)
    t5 = -t0*2.563344151594519e-12
    t6 = t4 + t5
    t7 = _fma(t0, -1.1351118607522202e-28, _product_error(t0, 2.563344151594519e-12))
    t8 = _sum_error(t4, t5) - t7
    t9 = t6 + t8
    t10 = t9*t9
    t11 = _fma(8.22063524662433e-18, t10, -2.8114572543455206e-15)
    t12 = _fma(_fma(t11, t10, 7.647163731819816e-13), t10, -1.6059043836821613e-10)
    t13 = _fma(_fma(t12, t10, 2.505210838544172e-08), t10, -2.7557319223985893e-06)
    t14 = _fma(t13, t10, 0.0001984126984126984)
    t15 = t10*t14
    t16 = -0.008333333333333333 + t15
    t17 = t10*t16
    t18 = 0.16666666666666666 + t17
    t19 = -t18
    t20 = t10*t19
    t21 = t9*t20
    t22 = t9 + t21
    t23 = _fma(4.110317623312165e-19, t10, -1.5619206968586225e-16)
    t24 = _fma(_fma(t23, t10, 4.779477332387385e-14), t10, -1.1470745597729725e-11)
    t25 = _fma(_fma(t24, t10, 2.08767569878681e-09), t10, -2.755731922398589e-07)
    t26 = _fma(_fma(t25, t10, 2.48015873015873e-05), t10, -0.001388888888888889)
    t27 = t10*t26
    t28 = 0.041666666666666664 + t27
    t29 = t10*t28
    t30 = -0.5 + t29
    t31 = t10*t30
    t32 = 1.0 + t31
    t33 = np.floor(t1 + 0.5)*0.5
    t34 = -1.0 if np.floor(t33) < t33 else 1.0
    t35 = (t22 if t3 else t32)*t34
    t36 = t8 - (t9 - t6)
    t37 = _fma(t9 + t9, t36, _product_error(t9, t9))
    t38 = _fma(t37, t14, _product_error(t10, t14) + (t15 - (t16 + 0.008333333333333333)))
    t39 = _product_error(t10, t16) + (t17 - (t18 - 0.16666666666666666))
    t40 = -(_fma(t37, t16, _fma(t10, t38 - 1.1564823173178714e-19, t39)) + 9.25185853854297e-18)
    t41 = _fma(t37, t19, _fma(t10, t40, _product_error(t10, t19)))
    t42 = t21 - (t22 - t9) + (t36 + _fma(t36, t20, _fma(t9, t41, _product_error(t9, t20))))
    t43 = _fma(t37, t26, _product_error(t10, t26) + (t27 - (t28 - 0.041666666666666664)))
    t44 = _fma(t10, t43 + 2.3129646346357427e-18, _product_error(t10, t28) + (t29 - (t30 + 0.5)))
    t45 = _fma(t10, _fma(t37, t28, t44), _product_error(t10, t30) + (t31 - (t32 - 1.0)))
    t46 = _fma(t37, t30, t45)
    t47 = (t42 if t3 else t46)*t34
    t48 = t35 + t47
    t49 = t2*0.5
    t50 = -1.0 if np.floor(t49) < t49 else 1.0
    return t48, t47 - (t48 - t35), -((t32 if t3 else t22)*t50 + (t46 if t3 else t42)*t50)


@_helper
def _corrected_cosh(x):
    """cosh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = np.rint(t0*1.4426950408889634)
    t2 = math.ldexp(1.0, int(t1))
    t3 = t2 - 1.0
    t4 = _fma(-t1, 0.6931471805598903, t0)
    t5 = t1*5.497923018708371e-14
    t6 = t4 - t5
    t7 = _fma(_fma(4.779477332387385e-14, t6, 7.647163731819816e-13), t6, 1.1470745597729725e-11)
    t8 = _fma(_fma(t7, t6, 1.6059043836821613e-10), t6, 2.08767569878681e-09)
    t9 = _fma(_fma(t8, t6, 2.505210838544172e-08), t6, 2.755731922398589e-07)
    t10 = _fma(_fma(t9, t6, 2.7557319223985893e-06), t6, 2.48015873015873e-05)
    t11 = _fma(_fma(t10, t6, 0.0001984126984126984), t6, 0.001388888888888889)
    t12 = _fma(t11, t6, 0.008333333333333333)
    t13 = t6*t12
    t14 = 0.041666666666666664 + t13
    t15 = t6*t14
    t16 = 0.16666666666666666 + t15
    t17 = t6*t16
    t18 = 0.5 + t17
    t19 = t6*t18
    t20 = 1.0 + t19
    t21 = t2*(t6*t20)
    t22 = t3 + t21
    t23 = 1.0 + t22
    t24 = 1.0/t23
    t25 = 1.0*t24
    t26 = t23 + t25
    t27 = t4 - t6 - t5
    t28 = _fma(t27, t12, _product_error(t6, t12) + (t13 - (t14 - 0.041666666666666664)))
    t29 = _product_error(t6, t14) + (t15 - (t16 - 0.16666666666666666))
    t30 = _fma(t27, t14, _fma(t6, t28 + 2.3129646346357427e-18, t29)) + 9.25185853854297e-18
    t31 = _fma(t27, t16, _fma(t6, t30, _product_error(t6, t16) + (t17 - (t18 - 0.5))))
    t32 = _fma(t27, t18, _fma(t6, t31, _product_error(t6, t18) + (t19 - (t20 - 1.0))))
    t33 = _fma(t2, _fma(t27, t20, _fma(t6, t32, _product_error(t6, t20))), _sum_error(t3, t21))
    t34 = t33 + _sum_error(t2, -1.0)
    t35 = _sum_error(1.0, t22) + t34
    t36 = -t25
    t37 = _fma(t36, t35, _fma(t36, t23, 1.0) + 0.0)*t24
    t38 = _sum_error(t23, t25) + t35 + t37
    t39 = t26 + t38
    t40 = t22*t25
    t41 = _sum_error(t22, t40) + t34 + _fma(t34, t25, _fma(t22, t37, _product_error(t22, t25)))
    return t39*0.5, (t38 - (t39 - t26))*0.5, (t22 + t40 + t41)*(-0.5 if x < 0.0 else 0.5)


@_helper
def _corrected_erf(x):
    """erf(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0 < 1.0
    t2 = x if t1 else 1.0
    t3 = t2*t2
    t4 = _fma(_fma(1.977064753877905e-23, t3, -4.5518467589282e-22), t3, 1.0025164934907719e-20)
    t5 = _fma(_fma(t4, t3, -2.107855191442136e-19), t3, 4.221407288807088e-18)
    t6 = _fma(_fma(t5, t3, -8.032735012415773e-17), t3, 1.4483264643598138e-15)
    t7 = _fma(_fma(t6, t3, -2.466827010264457e-14), t3, 3.9554295164585257e-13)
    t8 = _fma(_fma(t7, t3, -5.9477940136376354e-12), t3, 8.35070279514724e-11)
    t9 = _fma(_fma(t8, t3, -1.0892221037148573e-09), t3, 1.3122532963802806e-08)
    t10 = _fma(_fma(t9, t3, -1.4503852223150468e-07), t3, 1.4589169000933706e-06)
    t11 = _fma(_fma(t10, t3, -1.3227513227513228e-05), t3, 0.00010683760683760684)
    t12 = t3*t11
    t13 = -0.0007575757575757576 + t12
    t14 = t3*t13
    t15 = 0.004629629629629629 + t14
    t16 = t3*t15
    t17 = -0.023809523809523808 + t16
    t18 = t3*t17
    t19 = 0.1 + t18
    t20 = t3*t19
    t21 = -0.3333333333333333 + t20
    t22 = t3*t21
    t23 = 1.0 + t22
    t24 = 1.1283791670955126*t23
    t25 = 6.5 if t0 > 6.5 else t0
    t26 = -t25*t25
    t27 = np.rint(t26*1.4426950408889634)
    t28 = _fma(-t27, 0.6931471805598903, t26)
    t29 = t27*5.497923018708371e-14
    t30 = t28 - t29
    t31 = _fma(4.779477332387385e-14, t30, 7.647163731819816e-13)
    t32 = _fma(_fma(t31, t30, 1.1470745597729725e-11), t30, 1.6059043836821613e-10)
    t33 = _fma(_fma(t32, t30, 2.08767569878681e-09), t30, 2.505210838544172e-08)
    t34 = _fma(_fma(t33, t30, 2.755731922398589e-07), t30, 2.7557319223985893e-06)
    t35 = _fma(_fma(t34, t30, 2.48015873015873e-05), t30, 0.0001984126984126984)
    t36 = _fma(_fma(t35, t30, 0.001388888888888889), t30, 0.008333333333333333)
    t37 = t30*t36
    t38 = 0.041666666666666664 + t37
    t39 = t30*t38
    t40 = 0.16666666666666666 + t39
    t41 = t30*t40
    t42 = 0.5 + t41
    t43 = t30*t42
    t44 = 1.0 + t43
    t45 = t30*t44
    t46 = 1.0 + t45
    t47 = t28 - t30 - t29
    t48 = _fma(t47, t36, _product_error(t30, t36) + (t37 - (t38 - 0.041666666666666664)))
    t49 = _product_error(t30, t38) + (t39 - (t40 - 0.16666666666666666))
    t50 = _fma(t47, t38, _fma(t30, t48 + 2.3129646346357427e-18, t49)) + 9.25185853854297e-18
    t51 = _fma(t47, t40, _fma(t30, t50, _product_error(t30, t40) + (t41 - (t42 - 0.5))))
    t52 = _fma(t47, t42, _fma(t30, t51, _product_error(t30, t42) + (t43 - (t44 - 1.0))))
    t53 = t45 - (t46 - 1.0) + _fma(t47, t44, _fma(t30, t52, _product_error(t30, t44)))
    t54 = t46 + t53
    t55 = math.ldexp(1.0, int(t27))
    t56 = t54*t55
    t57 = t25 - 2.75
    t58 = t25 + 2.75
    t59 = 1.0/t58
    t60 = t57*t59
    t61 = _fma(1.5889135810127038e-08, t60, -1.2672820687072748e-08)
    t62 = _fma(_fma(t61, t60, -1.2883685109356058e-07), t60, -4.4964148317557594e-08)
    t63 = _fma(_fma(t62, t60, 6.487697687366961e-07), t60, 7.624043379114421e-07)
    t64 = _fma(_fma(t63, t60, -3.128122107650579e-06), t60, -6.056281651232589e-06)
    t65 = _fma(_fma(t64, t60, 1.7498791258609406e-05), t60, 4.086785251787799e-05)
    t66 = _fma(_fma(t65, t60, -0.0001321880371235004), t60, -0.00023002372326090965)
    t67 = _fma(_fma(t66, t60, 0.0013448702870971847), t60, -0.000191825921294452)
    t68 = t60*t67
    t69 = -0.013682984893427739 + t68
    t70 = t60*t69
    t71 = 0.05683380308440488 + t70
    t72 = t60*t71
    t73 = -0.1397375984634967 + t72
    t74 = t60*t73
    t75 = 0.24989043128302502 + t74
    t76 = t60*t75
    t77 = -0.3478070065834916 + t76
    t78 = t60*t77
    t79 = 0.1936620962790687 + t78
    t80 = -t56*t79
    t81 = 1.0 + t80
    t82 = -1.0 if x < 0.0 else 1.0
    t83 = t2*t24 if t1 else t81*t82
    t84 = _product_error(t2, t2)
    t85 = _fma(t84, t11, _product_error(t3, t11) + (t12 - (t13 + 0.0007575757575757576)))
    t86 = _product_error(t3, t13) + (t14 - (t15 - 0.004629629629629629))
    t87 = _fma(t84, t13, _fma(t3, t85 - 6.570922257487906e-22, t86)) + 2.569960705150825e-19
    t88 = _fma(t3, t87, _product_error(t3, t15) + (t16 - (t17 + 0.023809523809523808)))
    t89 = _product_error(t3, t17) + (t18 - (t19 - 0.1))
    t90 = _fma(t84, t17, _fma(t3, _fma(t84, t15, t88) - 1.32169407693471e-18, t89))
    t91 = _product_error(t3, t19) + (t20 - (t21 + 0.3333333333333333))
    t92 = _fma(t84, t19, _fma(t3, t90 - 5.551115123125783e-18, t91)) - 1.850371707708594e-17
    t93 = _fma(t84, t21, _fma(t3, t92, _product_error(t3, t21) + (t22 - (t23 - 1.0))))
    t94 = _fma(1.1283791670955126, t93, _product_error(1.1283791670955126, t23))
    t95 = -t60
    t96 = _fma(t95, _sum_error(t25, 2.75), _fma(t95, t58, t57) + 0.0)*t59
    t97 = _fma(t96, t67, _product_error(t60, t67) + (t68 - (t69 + 0.013682984893427739)))
    t98 = _product_error(t60, t69) + (t70 - (t71 - 0.05683380308440488))
    t99 = _fma(t96, t69, _fma(t60, t97 - 2.501931889054169e-19, t98)) - 8.667335848831601e-19
    t100 = _fma(t60, t99, _product_error(t60, t71) + (t72 - (t73 + 0.1397375984634967)))
    t101 = _product_error(t60, t73) + (t74 - (t75 - 0.24989043128302502))
    t102 = _fma(t96, t73, _fma(t60, _fma(t96, t71, t100) - 8.874440737381502e-18, t101))
    t103 = _product_error(t60, t75) + (t76 - (t77 + 0.3478070065834916))
    t104 = _fma(t96, t75, _fma(t60, t102 - 1.1268913160327033e-18, t103)) - 1.0627298081316261e-17
    t105 = _fma(t60, t104, _product_error(t60, t77) + (t78 - (t79 - 0.1936620962790687)))
    t106 = _fma(t56, _fma(t96, t77, t105) - 1.2016015501702091e-17, _product_error(t56, t79))
    t107 = _fma(_fma(-_product_error(t25, t25), t56, (t53 - (t54 - t46))*t55), t79, t106)
    t108 = _fma(t2, _fma(1.533545961316588e-17, t23, t94), _product_error(t2, t24))
    t109 = t108 if t1 else (t80 - (t81 - 1.0) - t107)*t82
    t110 = t83 + t109
    return t110, t109 - (t110 - t83), 1.1283791670955126*t56


@_helper
def _corrected_erfc(x):
    """erfc(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0 < 1.0
    t2 = x if t1 else 1.0
    t3 = t2*t2
    t4 = _fma(_fma(1.977064753877905e-23, t3, -4.5518467589282e-22), t3, 1.0025164934907719e-20)
    t5 = _fma(_fma(t4, t3, -2.107855191442136e-19), t3, 4.221407288807088e-18)
    t6 = _fma(_fma(t5, t3, -8.032735012415773e-17), t3, 1.4483264643598138e-15)
    t7 = _fma(_fma(t6, t3, -2.466827010264457e-14), t3, 3.9554295164585257e-13)
    t8 = _fma(_fma(t7, t3, -5.9477940136376354e-12), t3, 8.35070279514724e-11)
    t9 = _fma(_fma(t8, t3, -1.0892221037148573e-09), t3, 1.3122532963802806e-08)
    t10 = _fma(_fma(t9, t3, -1.4503852223150468e-07), t3, 1.4589169000933706e-06)
    t11 = t3*t10
    t12 = -1.3227513227513228e-05 + t11
    t13 = t3*t12
    t14 = 0.00010683760683760684 + t13
    t15 = t3*t14
    t16 = -0.0007575757575757576 + t15
    t17 = t3*t16
    t18 = 0.004629629629629629 + t17
    t19 = t3*t18
    t20 = -0.023809523809523808 + t19
    t21 = t3*t20
    t22 = 0.1 + t21
    t23 = t3*t22
    t24 = -0.3333333333333333 + t23
    t25 = t3*t24
    t26 = 1.0 + t25
    t27 = 1.1283791670955126*t26
    t28 = -t2*t27
    t29 = 1.0 + t28
    t30 = x < 0.0
    t31 = 6.5 if t0 > 6.5 else t0
    t32 = -t31*t31
    t33 = np.rint(t32*1.4426950408889634)
    t34 = _fma(-t33, 0.6931471805598903, t32)
    t35 = t33*5.497923018708371e-14
    t36 = t34 - t35
    t37 = _fma(4.779477332387385e-14, t36, 7.647163731819816e-13)
    t38 = _fma(_fma(t37, t36, 1.1470745597729725e-11), t36, 1.6059043836821613e-10)
    t39 = _fma(_fma(t38, t36, 2.08767569878681e-09), t36, 2.505210838544172e-08)
    t40 = _fma(_fma(t39, t36, 2.755731922398589e-07), t36, 2.7557319223985893e-06)
    t41 = _fma(_fma(t40, t36, 2.48015873015873e-05), t36, 0.0001984126984126984)
    t42 = _fma(_fma(t41, t36, 0.001388888888888889), t36, 0.008333333333333333)
    t43 = t36*t42
    t44 = 0.041666666666666664 + t43
    t45 = t36*t44
    t46 = 0.16666666666666666 + t45
    t47 = t36*t46
    t48 = 0.5 + t47
    t49 = t36*t48
    t50 = 1.0 + t49
    t51 = t36*t50
    t52 = 1.0 + t51
    t53 = t34 - t36 - t35
    t54 = _fma(t53, t42, _product_error(t36, t42) + (t43 - (t44 - 0.041666666666666664)))
    t55 = _product_error(t36, t44) + (t45 - (t46 - 0.16666666666666666))
    t56 = _fma(t53, t44, _fma(t36, t54 + 2.3129646346357427e-18, t55)) + 9.25185853854297e-18
    t57 = _fma(t53, t46, _fma(t36, t56, _product_error(t36, t46) + (t47 - (t48 - 0.5))))
    t58 = _fma(t53, t48, _fma(t36, t57, _product_error(t36, t48) + (t49 - (t50 - 1.0))))
    t59 = t51 - (t52 - 1.0) + _fma(t53, t50, _fma(t36, t58, _product_error(t36, t50)))
    t60 = t52 + t59
    t61 = math.ldexp(1.0, int(t33))
    t62 = t60*t61
    t63 = t31 - 2.75
    t64 = t31 + 2.75
    t65 = 1.0/t64
    t66 = t63*t65
    t67 = _fma(1.5889135810127038e-08, t66, -1.2672820687072748e-08)
    t68 = _fma(_fma(t67, t66, -1.2883685109356058e-07), t66, -4.4964148317557594e-08)
    t69 = _fma(_fma(t68, t66, 6.487697687366961e-07), t66, 7.624043379114421e-07)
    t70 = _fma(_fma(t69, t66, -3.128122107650579e-06), t66, -6.056281651232589e-06)
    t71 = _fma(_fma(t70, t66, 1.7498791258609406e-05), t66, 4.086785251787799e-05)
    t72 = _fma(_fma(t71, t66, -0.0001321880371235004), t66, -0.00023002372326090965)
    t73 = t66*t72
    t74 = 0.0013448702870971847 + t73
    t75 = t66*t74
    t76 = -0.000191825921294452 + t75
    t77 = t66*t76
    t78 = -0.013682984893427739 + t77
    t79 = t66*t78
    t80 = 0.05683380308440488 + t79
    t81 = t66*t80
    t82 = -0.1397375984634967 + t81
    t83 = t66*t82
    t84 = 0.24989043128302502 + t83
    t85 = t66*t84
    t86 = -0.3478070065834916 + t85
    t87 = t66*t86
    t88 = 0.1936620962790687 + t87
    t89 = t62*t88
    t90 = -t89
    t91 = 2.0 + t90
    t92 = t29 if t1 else t91 if t30 else t89
    t93 = _product_error(t2, t2)
    t94 = _fma(t93, t10, _product_error(t3, t10) + (t11 - (t12 + 1.3227513227513228e-05)))
    t95 = _product_error(t3, t12) + (t13 - (t14 - 0.00010683760683760684))
    t96 = _fma(t93, t12, _fma(t3, t94 + 5.532155926405864e-22, t95)) + 9.266685234918841e-23
    t97 = _fma(t3, t96, _product_error(t3, t14) + (t15 - (t16 + 0.0007575757575757576)))
    t98 = _product_error(t3, t16) + (t17 - (t18 - 0.004629629629629629))
    t99 = _fma(t93, t16, _fma(t3, _fma(t93, t14, t97) - 6.570922257487906e-22, t98))
    t100 = _product_error(t3, t18) + (t19 - (t20 + 0.023809523809523808))
    t101 = _fma(t93, t18, _fma(t3, t99 + 2.569960705150825e-19, t100)) - 1.32169407693471e-18
    t102 = _fma(t93, t20, _fma(t3, t101, _product_error(t3, t20) + (t21 - (t22 - 0.1))))
    t103 = _product_error(t3, t22) + (t23 - (t24 + 0.3333333333333333))
    t104 = _fma(t93, t22, _fma(t3, t102 - 5.551115123125783e-18, t103)) - 1.850371707708594e-17
    t105 = _fma(t93, t24, _fma(t3, t104, _product_error(t3, t24) + (t25 - (t26 - 1.0))))
    t106 = _fma(1.1283791670955126, t105, _product_error(1.1283791670955126, t26))
    t107 = _fma(t2, _fma(1.533545961316588e-17, t26, t106), _product_error(t2, t27))
    t108 = -t66
    t109 = _fma(t108, _sum_error(t31, 2.75), _fma(t108, t64, t63) + 0.0)*t65
    t110 = _fma(t109, t72, _product_error(t66, t72) + (t73 - (t74 - 0.0013448702870971847)))
    t111 = _product_error(t66, t74) + (t75 - (t76 + 0.000191825921294452))
    t112 = _fma(t109, t74, _fma(t66, t110 + 1.0028376450225295e-19, t111)) - 3.76507783638464e-21
    t113 = _fma(t66, t112, _product_error(t66, t76) + (t77 - (t78 + 0.013682984893427739)))
    t114 = _product_error(t66, t78) + (t79 - (t80 - 0.05683380308440488))
    t115 = _fma(t109, t78, _fma(t66, _fma(t109, t76, t113) - 2.501931889054169e-19, t114))
    t116 = _product_error(t66, t80) + (t81 - (t82 + 0.1397375984634967))
    t117 = _fma(t109, t80, _fma(t66, t115 - 8.667335848831601e-19, t116)) - 8.874440737381502e-18
    t118 = _fma(t66, t117, _product_error(t66, t82) + (t83 - (t84 - 0.24989043128302502)))
    t119 = _product_error(t66, t84) + (t85 - (t86 + 0.3478070065834916))
    t120 = _fma(t109, t84, _fma(t66, _fma(t109, t82, t118) - 1.1268913160327033e-18, t119))
    t121 = _product_error(t66, t86) + (t87 - (t88 - 0.1936620962790687))
    t122 = _fma(t109, t86, _fma(t66, t120 - 1.0627298081316261e-17, t121)) - 1.2016015501702091e-17
    t123 = _fma(-_product_error(t31, t31), t62, (t59 - (t60 - t52))*t61)
    t124 = _fma(t123, t88, _fma(t62, t122, _product_error(t62, t88)))
    t125 = t28 - (t29 - 1.0) - t107 if t1 else t90 - (t91 - 2.0) - t124 if t30 else t124
    t126 = t92 + t125
    return t126, t125 - (t126 - t92), -1.1283791670955126*t62


@_helper
def _corrected_exp(x):
    """exp(x), its rounding error, and the slope there."""
    t0 = np.rint(x*1.4426950408889634)
    t1 = _fma(-t0, 0.6931471805598903, x)
    t2 = t0*5.497923018708371e-14
    t3 = t1 - t2
    t4 = _fma(_fma(4.779477332387385e-14, t3, 7.647163731819816e-13), t3, 1.1470745597729725e-11)
    t5 = _fma(_fma(t4, t3, 1.6059043836821613e-10), t3, 2.08767569878681e-09)
    t6 = _fma(_fma(t5, t3, 2.505210838544172e-08), t3, 2.755731922398589e-07)
    t7 = _fma(_fma(t6, t3, 2.7557319223985893e-06), t3, 2.48015873015873e-05)
    t8 = _fma(_fma(t7, t3, 0.0001984126984126984), t3, 0.001388888888888889)
    t9 = _fma(t8, t3, 0.008333333333333333)
    t10 = t3*t9
    t11 = 0.041666666666666664 + t10
    t12 = t3*t11
    t13 = 0.16666666666666666 + t12
    t14 = t3*t13
    t15 = 0.5 + t14
    t16 = t3*t15
    t17 = 1.0 + t16
    t18 = t3*t17
    t19 = 1.0 + t18
    t20 = t1 - t3 - t2
    t21 = _fma(t20, t9, _product_error(t3, t9) + (t10 - (t11 - 0.041666666666666664)))
    t22 = _product_error(t3, t11) + (t12 - (t13 - 0.16666666666666666))
    t23 = _fma(t20, t11, _fma(t3, t21 + 2.3129646346357427e-18, t22)) + 9.25185853854297e-18
    t24 = _fma(t20, t13, _fma(t3, t23, _product_error(t3, t13) + (t14 - (t15 - 0.5))))
    t25 = _fma(t20, t15, _fma(t3, t24, _product_error(t3, t15) + (t16 - (t17 - 1.0))))
    t26 = t18 - (t19 - 1.0) + _fma(t20, t17, _fma(t3, t25, _product_error(t3, t17)))
    t27 = t19 + t26
    t28 = math.ldexp(1.0, int(t0))
    t29 = t27*t28
    return t29, (t26 - (t27 - t19))*t28, t29


@_helper
def _corrected_exp2(x):
    """exp2(x), its rounding error, and the slope there."""
    t0 = np.rint(x)
    t1 = x - t0
    t2 = t1*0.6931471805599453
    t3 = _fma(_fma(4.779477332387385e-14, t2, 7.647163731819816e-13), t2, 1.1470745597729725e-11)
    t4 = _fma(_fma(t3, t2, 1.6059043836821613e-10), t2, 2.08767569878681e-09)
    t5 = _fma(_fma(t4, t2, 2.505210838544172e-08), t2, 2.755731922398589e-07)
    t6 = _fma(_fma(t5, t2, 2.7557319223985893e-06), t2, 2.48015873015873e-05)
    t7 = _fma(_fma(t6, t2, 0.0001984126984126984), t2, 0.001388888888888889)
    t8 = _fma(t7, t2, 0.008333333333333333)
    t9 = t2*t8
    t10 = 0.041666666666666664 + t9
    t11 = t2*t10
    t12 = 0.16666666666666666 + t11
    t13 = t2*t12
    t14 = 0.5 + t13
    t15 = t2*t14
    t16 = 1.0 + t15
    t17 = t2*t16
    t18 = 1.0 + t17
    t19 = _fma(t1, 2.3190468138462996e-17, _product_error(t1, 0.6931471805599453))
    t20 = _fma(t19, t8, _product_error(t2, t8) + (t9 - (t10 - 0.041666666666666664)))
    t21 = _product_error(t2, t10) + (t11 - (t12 - 0.16666666666666666))
    t22 = _fma(t19, t10, _fma(t2, t20 + 2.3129646346357427e-18, t21)) + 9.25185853854297e-18
    t23 = _fma(t19, t12, _fma(t2, t22, _product_error(t2, t12) + (t13 - (t14 - 0.5))))
    t24 = _fma(t19, t14, _fma(t2, t23, _product_error(t2, t14) + (t15 - (t16 - 1.0))))
    t25 = t17 - (t18 - 1.0) + _fma(t19, t16, _fma(t2, t24, _product_error(t2, t16)))
    t26 = t18 + t25
    t27 = math.ldexp(1.0, int(t0))
    t28 = t26*t27
    return t28, (t25 - (t26 - t18))*t27, t28*0.6931471805599453


@_helper
def _corrected_expm1(x):
    """expm1(x), its rounding error, and the slope there."""
    t0 = np.rint(x*1.4426950408889634)
    t1 = math.ldexp(1.0, int(t0))
    t2 = t1 - 1.0
    t3 = _fma(-t0, 0.6931471805598903, x)
    t4 = t0*5.497923018708371e-14
    t5 = t3 - t4
    t6 = _fma(_fma(4.779477332387385e-14, t5, 7.647163731819816e-13), t5, 1.1470745597729725e-11)
    t7 = _fma(_fma(t6, t5, 1.6059043836821613e-10), t5, 2.08767569878681e-09)
    t8 = _fma(_fma(t7, t5, 2.505210838544172e-08), t5, 2.755731922398589e-07)
    t9 = _fma(_fma(t8, t5, 2.7557319223985893e-06), t5, 2.48015873015873e-05)
    t10 = _fma(_fma(t9, t5, 0.0001984126984126984), t5, 0.001388888888888889)
    t11 = _fma(t10, t5, 0.008333333333333333)
    t12 = t5*t11
    t13 = 0.041666666666666664 + t12
    t14 = t5*t13
    t15 = 0.16666666666666666 + t14
    t16 = t5*t15
    t17 = 0.5 + t16
    t18 = t5*t17
    t19 = 1.0 + t18
    t20 = t1*(t5*t19)
    t21 = t2 + t20
    t22 = t3 - t5 - t4
    t23 = _fma(t22, t11, _product_error(t5, t11) + (t12 - (t13 - 0.041666666666666664)))
    t24 = _product_error(t5, t13) + (t14 - (t15 - 0.16666666666666666))
    t25 = _fma(t22, t13, _fma(t5, t23 + 2.3129646346357427e-18, t24)) + 9.25185853854297e-18
    t26 = _fma(t22, t15, _fma(t5, t25, _product_error(t5, t15) + (t16 - (t17 - 0.5))))
    t27 = _fma(t22, t17, _fma(t5, t26, _product_error(t5, t17) + (t18 - (t19 - 1.0))))
    t28 = _fma(t1, _fma(t22, t19, _fma(t5, t27, _product_error(t5, t19))), _sum_error(t2, t20))
    t29 = t28 + _sum_error(t1, -1.0)
    t30 = t21 + t29
    return t30, t29 - (t30 - t21), t30 + 1.0


@_helper
def _corrected_log(x):
    """log(x), its rounding error, and the slope there."""
    t0 = float(math.frexp(x*1.4142135623730951)[1] - 1)
    t1 = t0 == 0.0
    t2 = x*math.ldexp(1.0, int(-t0)) - 1.0
    t3 = 2.0 + t2
    t4 = 1.0/t3
    t5 = t2*t4
    t6 = t5*t5
    t7 = _fma(_fma(0.08, t6, 0.08695652173913043), t6, 0.09523809523809523)
    t8 = _fma(_fma(t7, t6, 0.10526315789473684), t6, 0.11764705882352941)
    t9 = _fma(_fma(t8, t6, 0.13333333333333333), t6, 0.15384615384615385)
    t10 = _fma(_fma(t9, t6, 0.18181818181818182), t6, 0.2222222222222222)
    t11 = _fma(_fma(t10, t6, 0.2857142857142857), t6, 0.4)
    t12 = t6*t11
    t13 = 0.6666666666666666 + t12
    t14 = t6*t13
    t15 = 2.0 + t14
    t16 = t5*t15
    t17 = t0*0.6931471805598903
    t18 = t17 + t16
    t19 = t16 if t1 else t18
    t20 = -t5
    t21 = _fma(t20, _sum_error(2.0, t2) + 0.0, _fma(t20, t3, t2) + 0.0)*t4
    t22 = _fma(t5 + t5, t21, _product_error(t5, t5))
    t23 = _fma(t22, t11, _product_error(t6, t11) + (t12 - (t13 - 0.6666666666666666)))
    t24 = _fma(t6, t23 + 3.700743415417188e-17, _product_error(t6, t13) + (t14 - (t15 - 2.0)))
    t25 = _fma(t21, t15, _fma(t5, _fma(t22, t13, t24), _product_error(t5, t15)))
    t26 = t25 if t1 else _fma(t0, 5.497923018708371e-14, t16 - (t18 - t17)) + t25
    t27 = t19 + t26
    return t27, t26 - (t27 - t19), 1.0/x


@_helper
def _corrected_log10(x):
    """log10(x), its rounding error, and the slope there."""
    t0 = float(math.frexp(x*1.4142135623730951)[1] - 1)
    t1 = t0 == 0.0
    t2 = x*math.ldexp(1.0, int(-t0)) - 1.0
    t3 = 2.0 + t2
    t4 = 1.0/t3
    t5 = t2*t4
    t6 = t5*t5
    t7 = _fma(_fma(0.08, t6, 0.08695652173913043), t6, 0.09523809523809523)
    t8 = _fma(_fma(t7, t6, 0.10526315789473684), t6, 0.11764705882352941)
    t9 = _fma(_fma(t8, t6, 0.13333333333333333), t6, 0.15384615384615385)
    t10 = _fma(_fma(t9, t6, 0.18181818181818182), t6, 0.2222222222222222)
    t11 = _fma(_fma(t10, t6, 0.2857142857142857), t6, 0.4)
    t12 = t6*t11
    t13 = 0.6666666666666666 + t12
    t14 = t6*t13
    t15 = 2.0 + t14
    t16 = t5*t15
    t17 = t0*0.6931471805598903
    t18 = t17 + t16
    t19 = t16 if t1 else t18
    t20 = -t5
    t21 = _fma(t20, _sum_error(2.0, t2) + 0.0, _fma(t20, t3, t2) + 0.0)*t4
    t22 = _fma(t5 + t5, t21, _product_error(t5, t5))
    t23 = _fma(t22, t11, _product_error(t6, t11) + (t12 - (t13 - 0.6666666666666666)))
    t24 = _fma(t6, t23 + 3.700743415417188e-17, _product_error(t6, t13) + (t14 - (t15 - 2.0)))
    t25 = _fma(t21, t15, _fma(t5, _fma(t22, t13, t24), _product_error(t5, t15)))
    t26 = t25 if t1 else _fma(t0, 5.497923018708371e-14, t16 - (t18 - t17)) + t25
    t27 = t19 + t26
    t28 = t27*0.4342944819032518
    t29 = _fma(t27, 1.098319650216765e-17, _product_error(t27, 0.4342944819032518))
    t30 = _fma(t26 - (t27 - t19), 0.4342944819032518, t29)
    t31 = t28 + t30
    return t31, t30 - (t31 - t28), 0.4342944819032518/x


@_helper
def _corrected_log1p(x):
    """log1p(x), its rounding error, and the slope there."""
    t0 = abs(x - 0.0625) < 0.3125
    t1 = 1.0 + x
    t2 = float(math.frexp(t1*1.4142135623730951)[1] - 1)
    t3 = 0.0 if t0 else t2
    t4 = t3 == 0.0
    t5 = math.ldexp(1.0, int(-t2))
    t6 = x if t0 else t1*t5 - 1.0
    t7 = 2.0 + t6
    t8 = 1.0/t7
    t9 = t6*t8
    t10 = t9*t9
    t11 = _fma(_fma(0.08, t10, 0.08695652173913043), t10, 0.09523809523809523)
    t12 = _fma(_fma(t11, t10, 0.10526315789473684), t10, 0.11764705882352941)
    t13 = _fma(_fma(t12, t10, 0.13333333333333333), t10, 0.15384615384615385)
    t14 = _fma(_fma(t13, t10, 0.18181818181818182), t10, 0.2222222222222222)
    t15 = _fma(_fma(t14, t10, 0.2857142857142857), t10, 0.4)
    t16 = t10*t15
    t17 = 0.6666666666666666 + t16
    t18 = t10*t17
    t19 = 2.0 + t18
    t20 = t9*t19
    t21 = t3*0.6931471805598903
    t22 = t21 + t20
    t23 = t20 if t4 else t22
    t24 = -t9
    t25 = 0.0 if t0 else _sum_error(1.0, x)*t5
    t26 = _fma(t24, _sum_error(2.0, t6) + t25, _fma(t24, t7, t6) + t25)*t8
    t27 = _fma(t9 + t9, t26, _product_error(t9, t9))
    t28 = _fma(t27, t15, _product_error(t10, t15) + (t16 - (t17 - 0.6666666666666666)))
    t29 = _fma(t10, t28 + 3.700743415417188e-17, _product_error(t10, t17) + (t18 - (t19 - 2.0)))
    t30 = _fma(t26, t19, _fma(t9, _fma(t27, t17, t29), _product_error(t9, t19)))
    t31 = t30 if t4 else _fma(t3, 5.497923018708371e-14, t20 - (t22 - t21)) + t30
    t32 = t23 + t31
    return t32, t31 - (t32 - t23), 1.0/t1


@_helper
def _corrected_log2(x):
    """log2(x), its rounding error, and the slope there."""
    t0 = float(math.frexp(x*1.4142135623730951)[1] - 1)
    t1 = t0 == 0.0
    t2 = x*math.ldexp(1.0, int(-t0)) - 1.0
    t3 = 2.0 + t2
    t4 = 1.0/t3
    t5 = t2*t4
    t6 = t5*t5
    t7 = _fma(_fma(0.08, t6, 0.08695652173913043), t6, 0.09523809523809523)
    t8 = _fma(_fma(t7, t6, 0.10526315789473684), t6, 0.11764705882352941)
    t9 = _fma(_fma(t8, t6, 0.13333333333333333), t6, 0.15384615384615385)
    t10 = _fma(_fma(t9, t6, 0.18181818181818182), t6, 0.2222222222222222)
    t11 = _fma(_fma(t10, t6, 0.2857142857142857), t6, 0.4)
    t12 = t6*t11
    t13 = 0.6666666666666666 + t12
    t14 = t6*t13
    t15 = 2.0 + t14
    t16 = t5*t15
    t17 = t0*0.6931471805598903
    t18 = t17 + t16
    t19 = t16 if t1 else t18
    t20 = -t5
    t21 = _fma(t20, _sum_error(2.0, t2) + 0.0, _fma(t20, t3, t2) + 0.0)*t4
    t22 = _fma(t5 + t5, t21, _product_error(t5, t5))
    t23 = _fma(t22, t11, _product_error(t6, t11) + (t12 - (t13 - 0.6666666666666666)))
    t24 = _fma(t6, t23 + 3.700743415417188e-17, _product_error(t6, t13) + (t14 - (t15 - 2.0)))
    t25 = _fma(t21, t15, _fma(t5, _fma(t22, t13, t24), _product_error(t5, t15)))
    t26 = t25 if t1 else _fma(t0, 5.497923018708371e-14, t16 - (t18 - t17)) + t25
    t27 = t19 + t26
    t28 = t27*1.4426950408889634
    t29 = _fma(t27, 2.0355273740931033e-17, _product_error(t27, 1.4426950408889634))
    t30 = _fma(t26 - (t27 - t19), 1.4426950408889634, t29)
    t31 = t28 + t30
    return t31, t30 - (t31 - t28), 1.4426950408889634/x


@_helper
def _corrected_sin(x):
    """sin(x), its rounding error, and the slope there."""
    t0 = np.rint(x*0.6366197723675814)
    t1 = t0*0.5
    t2 = np.floor(t1)
    t3 = t2 < t1
    t4 = _fma(-t0, 1.5707963267923333, x)
    t5 = -t0*2.563344151594519e-12
    t6 = t4 + t5
    t7 = _fma(t0, -1.1351118607522202e-28, _product_error(t0, 2.563344151594519e-12))
    t8 = _sum_error(t4, t5) - t7
    t9 = t6 + t8
    t10 = t9*t9
    t11 = _fma(4.110317623312165e-19, t10, -1.5619206968586225e-16)
    t12 = _fma(_fma(t11, t10, 4.779477332387385e-14), t10, -1.1470745597729725e-11)
    t13 = _fma(_fma(t12, t10, 2.08767569878681e-09), t10, -2.755731922398589e-07)
    t14 = _fma(_fma(t13, t10, 2.48015873015873e-05), t10, -0.001388888888888889)
    t15 = t10*t14
    t16 = 0.041666666666666664 + t15
    t17 = t10*t16
    t18 = -0.5 + t17
    t19 = t10*t18
    t20 = 1.0 + t19
    t21 = _fma(8.22063524662433e-18, t10, -2.8114572543455206e-15)
    t22 = _fma(_fma(t21, t10, 7.647163731819816e-13), t10, -1.6059043836821613e-10)
    t23 = _fma(_fma(t22, t10, 2.505210838544172e-08), t10, -2.7557319223985893e-06)
    t24 = _fma(t23, t10, 0.0001984126984126984)
    t25 = t10*t24
    t26 = -0.008333333333333333 + t25
    t27 = t10*t26
    t28 = 0.16666666666666666 + t27
    t29 = -t28
    t30 = t10*t29
    t31 = t9*t30
    t32 = t9 + t31
    t33 = t2*0.5
    t34 = -1.0 if np.floor(t33) < t33 else 1.0
    t35 = (t20 if t3 else t32)*t34
    t36 = t8 - (t9 - t6)
    t37 = _fma(t9 + t9, t36, _product_error(t9, t9))
    t38 = _fma(t37, t14, _product_error(t10, t14) + (t15 - (t16 - 0.041666666666666664)))
    t39 = _fma(t10, t38 + 2.3129646346357427e-18, _product_error(t10, t16) + (t17 - (t18 + 0.5)))
    t40 = _fma(t10, _fma(t37, t16, t39), _product_error(t10, t18) + (t19 - (t20 - 1.0)))
    t41 = _fma(t37, t18, t40)
    t42 = _fma(t37, t24, _product_error(t10, t24) + (t25 - (t26 + 0.008333333333333333)))
    t43 = _product_error(t10, t26) + (t27 - (t28 - 0.16666666666666666))
    t44 = -(_fma(t37, t26, _fma(t10, t42 - 1.1564823173178714e-19, t43)) + 9.25185853854297e-18)
    t45 = _fma(t37, t29, _fma(t10, t44, _product_error(t10, t29)))
    t46 = t31 - (t32 - t9) + (t36 + _fma(t36, t30, _fma(t9, t45, _product_error(t9, t30))))
    t47 = (t41 if t3 else t46)*t34
    t48 = t35 + t47
    t49 = np.floor(t1 + 0.5)*0.5
    t50 = -1.0 if np.floor(t49) < t49 else 1.0
    return t48, t47 - (t48 - t35), (t32 if t3 else t20)*t50 + (t46 if t3 else t41)*t50


@_helper
def _corrected_sinh(x):
    """sinh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = np.rint(t0*1.4426950408889634)
    t2 = math.ldexp(1.0, int(t1))
    t3 = t2 - 1.0
    t4 = _fma(-t1, 0.6931471805598903, t0)
    t5 = t1*5.497923018708371e-14
    t6 = t4 - t5
    t7 = _fma(_fma(4.779477332387385e-14, t6, 7.647163731819816e-13), t6, 1.1470745597729725e-11)
    t8 = _fma(_fma(t7, t6, 1.6059043836821613e-10), t6, 2.08767569878681e-09)
    t9 = _fma(_fma(t8, t6, 2.505210838544172e-08), t6, 2.755731922398589e-07)
    t10 = _fma(_fma(t9, t6, 2.7557319223985893e-06), t6, 2.48015873015873e-05)
    t11 = _fma(_fma(t10, t6, 0.0001984126984126984), t6, 0.001388888888888889)
    t12 = _fma(t11, t6, 0.008333333333333333)
    t13 = t6*t12
    t14 = 0.041666666666666664 + t13
    t15 = t6*t14
    t16 = 0.16666666666666666 + t15
    t17 = t6*t16
    t18 = 0.5 + t17
    t19 = t6*t18
    t20 = 1.0 + t19
    t21 = t2*(t6*t20)
    t22 = t3 + t21
    t23 = 1.0 + t22
    t24 = 1.0/t23
    t25 = 1.0*t24
    t26 = t22*t25
    t27 = t22 + t26
    t28 = t4 - t6 - t5
    t29 = _fma(t28, t12, _product_error(t6, t12) + (t13 - (t14 - 0.041666666666666664)))
    t30 = _product_error(t6, t14) + (t15 - (t16 - 0.16666666666666666))
    t31 = _fma(t28, t14, _fma(t6, t29 + 2.3129646346357427e-18, t30)) + 9.25185853854297e-18
    t32 = _fma(t28, t16, _fma(t6, t31, _product_error(t6, t16) + (t17 - (t18 - 0.5))))
    t33 = _fma(t28, t18, _fma(t6, t32, _product_error(t6, t18) + (t19 - (t20 - 1.0))))
    t34 = _fma(t2, _fma(t28, t20, _fma(t6, t33, _product_error(t6, t20))), _sum_error(t3, t21))
    t35 = t34 + _sum_error(t2, -1.0)
    t36 = -t25
    t37 = _sum_error(1.0, t22) + t35
    t38 = _fma(t36, t37, _fma(t36, t23, 1.0) + 0.0)*t24
    t39 = _sum_error(t22, t26) + t35 + _fma(t35, t25, _fma(t22, t38, _product_error(t22, t25)))
    t40 = t27 + t39
    t41 = -0.5 if x < 0.0 else 0.5
    return t40*t41, (t39 - (t40 - t27))*t41, (t23 + t25 + (_sum_error(t23, t25) + t37 + t38))*0.5


@_helper
def _corrected_tan(x):
    """tan(x), its rounding error, and the slope there."""
    t0 = np.rint(x*0.6366197723675814)
    t1 = t0*0.5
    t2 = np.floor(t1)
    t3 = t2 < t1
    t4 = _fma(-t0, 1.5707963267923333, x)
    t5 = -t0*2.563344151594519e-12
    t6 = t4 + t5
    t7 = _fma(t0, -1.1351118607522202e-28, _product_error(t0, 2.563344151594519e-12))
    t8 = _sum_error(t4, t5) - t7
    t9 = t6 + t8
    t10 = t9*t9
    t11 = _fma(4.110317623312165e-19, t10, -1.5619206968586225e-16)
    t12 = _fma(_fma(t11, t10, 4.779477332387385e-14), t10, -1.1470745597729725e-11)
    t13 = _fma(_fma(t12, t10, 2.08767569878681e-09), t10, -2.755731922398589e-07)
    t14 = _fma(_fma(t13, t10, 2.48015873015873e-05), t10, -0.001388888888888889)
    t15 = t10*t14
    t16 = 0.041666666666666664 + t15
    t17 = t10*t16
    t18 = -0.5 + t17
    t19 = t10*t18
    t20 = 1.0 + t19
    t21 = _fma(8.22063524662433e-18, t10, -2.8114572543455206e-15)
    t22 = _fma(_fma(t21, t10, 7.647163731819816e-13), t10, -1.6059043836821613e-10)
    t23 = _fma(_fma(t22, t10, 2.505210838544172e-08), t10, -2.7557319223985893e-06)
    t24 = _fma(t23, t10, 0.0001984126984126984)
    t25 = t10*t24
    t26 = -0.008333333333333333 + t25
    t27 = t10*t26
    t28 = 0.16666666666666666 + t27
    t29 = -t28
    t30 = t10*t29
    t31 = t9*t30
    t32 = t9 + t31
    t33 = t2*0.5
    t34 = -1.0 if np.floor(t33) < t33 else 1.0
    t35 = (t20 if t3 else t32)*t34
    t36 = t8 - (t9 - t6)
    t37 = _fma(t9 + t9, t36, _product_error(t9, t9))
    t38 = _fma(t37, t14, _product_error(t10, t14) + (t15 - (t16 - 0.041666666666666664)))
    t39 = _fma(t10, t38 + 2.3129646346357427e-18, _product_error(t10, t16) + (t17 - (t18 + 0.5)))
    t40 = _fma(t10, _fma(t37, t16, t39), _product_error(t10, t18) + (t19 - (t20 - 1.0)))
    t41 = _fma(t37, t18, t40)
    t42 = _fma(t37, t24, _product_error(t10, t24) + (t25 - (t26 + 0.008333333333333333)))
    t43 = _product_error(t10, t26) + (t27 - (t28 - 0.16666666666666666))
    t44 = -(_fma(t37, t26, _fma(t10, t42 - 1.1564823173178714e-19, t43)) + 9.25185853854297e-18)
    t45 = _fma(t37, t29, _fma(t10, t44, _product_error(t10, t29)))
    t46 = t31 - (t32 - t9) + (t36 + _fma(t36, t30, _fma(t9, t45, _product_error(t9, t30))))
    t47 = (t41 if t3 else t46)*t34
    t48 = t35 + t47
    t49 = np.floor(t1 + 0.5)*0.5
    t50 = -1.0 if np.floor(t49) < t49 else 1.0
    t51 = (t32 if t3 else t20)*t50
    t52 = (t46 if t3 else t41)*t50
    t53 = t51 + t52
    t54 = 1.0/t53
    t55 = t48*t54
    t56 = -t55
    t57 = _fma(t56, t52 - (t53 - t51), _fma(t56, t53, t48) + (t47 - (t48 - t35)))*t54
    t58 = t55 + t57
    return t58, t57 - (t58 - t55), _fma(t58, t58, 1.0)


@_helper
def _corrected_tanh(x):
    """tanh(x), its rounding error, and the slope there."""
    t0 = 23.0 if x > 23.0 else -23.0 if x < -23.0 else x
    t1 = t0 + t0
    t2 = np.rint(t1*1.4426950408889634)
    t3 = math.ldexp(1.0, int(t2))
    t4 = t3 - 1.0
    t5 = _fma(-t2, 0.6931471805598903, t1)
    t6 = t2*5.497923018708371e-14
    t7 = t5 - t6
    t8 = _fma(_fma(4.779477332387385e-14, t7, 7.647163731819816e-13), t7, 1.1470745597729725e-11)
    t9 = _fma(_fma(t8, t7, 1.6059043836821613e-10), t7, 2.08767569878681e-09)
    t10 = _fma(_fma(t9, t7, 2.505210838544172e-08), t7, 2.755731922398589e-07)
    t11 = _fma(_fma(t10, t7, 2.7557319223985893e-06), t7, 2.48015873015873e-05)
    t12 = _fma(_fma(t11, t7, 0.0001984126984126984), t7, 0.001388888888888889)
    t13 = _fma(t12, t7, 0.008333333333333333)
    t14 = t7*t13
    t15 = 0.041666666666666664 + t14
    t16 = t7*t15
    t17 = 0.16666666666666666 + t16
    t18 = t7*t17
    t19 = 0.5 + t18
    t20 = t7*t19
    t21 = 1.0 + t20
    t22 = t3*(t7*t21)
    t23 = t4 + t22
    t24 = t23 + 2.0
    t25 = 1.0/t24
    t26 = t23*t25
    t27 = -t26
    t28 = t5 - t7 - t6
    t29 = _fma(t28, t13, _product_error(t7, t13) + (t14 - (t15 - 0.041666666666666664)))
    t30 = _product_error(t7, t15) + (t16 - (t17 - 0.16666666666666666))
    t31 = _fma(t28, t15, _fma(t7, t29 + 2.3129646346357427e-18, t30)) + 9.25185853854297e-18
    t32 = _fma(t28, t17, _fma(t7, t31, _product_error(t7, t17) + (t18 - (t19 - 0.5))))
    t33 = _fma(t28, t19, _fma(t7, t32, _product_error(t7, t19) + (t20 - (t21 - 1.0))))
    t34 = _fma(t3, _fma(t28, t21, _fma(t7, t33, _product_error(t7, t21))), _sum_error(t4, t22))
    t35 = t34 + _sum_error(t3, -1.0)
    t36 = _fma(t27, _sum_error(t23, 2.0) + t35, _fma(t27, t24, t23) + t35)*t25
    t37 = t26 + t36
    return t37, t36 - (t37 - t26), _fma(-t37, t37, 1.0)


@_helper
def _cos(x):
    """cos(x)."""
    t0 = _usual(x)
    t1 = np.rint(t0[0]*0.6366197723675814)
    t2 = t1 - 4.0*np.floor(t1*0.25)
    t3 = _pair_add(t0, _pair_neg(_two_product(t1, 1.5707963267948966)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t1, 6.123233995736766e-17)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t1, -1.4973849048591698e-33)))
    t6 = _pair_add(t5, _pair_neg(_two_product(t1, 5.562271104316826e-50)))
    t7 = _pair_add(t6, _pair_neg(_two_product(t1, 2.836115989820158e-66)))
    t8 = _pair_add(t7, _pair_neg(_two_product(t1, 8.724931080676303e-84)))
    t9 = t8 if abs(t0[0]) <= 1000000000000000.0 else (math.nan, 0.0)
    t10 = _pair_mul(t9, t9)
    t11 = _pair_mul(t9, _polynomial(t10, _SIN_TERMS_, _SIN_TAIL_))
    t12 = t11 if t2 == 1.0 or t2 == 3.0 else _polynomial(t10, _SIN_TERMS, _SIN_TAIL)
    t13 = _scaled(_pair_neg(t12) if abs(t2 - 1.5) == 0.5 else t12, 0.0)
    t14 = t13[0][0]
    return t13 if t14 == t14 else _number(math.cos(_double(x)))


@_helper
def _exp(x):
    """exp(x)."""
    t0 = _usual(x)
    t1 = (-1000000000000000.0, 0.0) if t0[0] < -1000000000000000.0 else t0
    t2 = (1000000000000000.0, 0.0) if t1[0] > 1000000000000000.0 else t1
    t3 = np.rint(t2[0]*1.4426950408889634)
    t4 = _pair_add(t2, _pair_neg(_two_product(t3, 0.6931471805599453)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t3, 2.3190468138462996e-17)))
    t6 = _pair_small_expm1(_pair_add(t5, _pair_neg(_two_product(t3, 5.707708438416212e-34))))
    t7 = _scaled(_pair_add_double(t6, 1.0), t3)
    t8 = t7[0][0]
    return t7 if t8 == t8 else _number(math.exp(_double(x)))


@_helper
def _div(x, y):
    """x / y."""
    t0 = _scaled(_pair_div(x[0], y[0]), x[1] - y[1])
    t1 = t0[0][0]
    return t0 if t1 == t1 else ((x[0][0]/y[0][0], 0.0), 0.0)


@_helper
def _mul(x, y):
    """x * y."""
    t0 = _scaled(_pair_mul(x[0], y[0]), x[1] + y[1])
    t1 = t0[0][0]
    return t0 if t1 == t1 else ((x[0][0]*y[0][0], 0.0), 0.0)


@_helper
def _cosh(x):
    """cosh(x)."""
    t0 = _exp(x)
    t1 = _mul(_add(t0, _div(_number(1.0), t0)), _number(0.5))
    t2 = t1[0][0]
    return t1 if t2 == t2 else _number(math.cosh(_double(x)))


@_helper
def _difference_error(a, b):
    """The rounding error of a difference."""
    t0 = a + (-b)
    t1 = t0 - a
    return a - (t0 - t1) + (-b - t1)


@_helper
def _equal(x, y):
    """x == y."""
    t0 = x[1] == y[1]
    return t0 and x[0] == y[0] or not t0 and _sub(x, y)[0][0] == 0.0


_ERF_NEAR_TERMS = (
    4.221407288807088e-18, 9.59729713379293e-36, -8.032735012415773e-17, -3.308132020922888e-33,
    1.4483264643598138e-15, -6.435992101166303e-32, -2.466827010264457e-14,
    1.2997717914814896e-30, 3.9554295164585257e-13, 7.122590604424395e-30,
    -5.9477940136376354e-12, 3.715898253979538e-28, 8.35070279514724e-11, -1.2104650565335437e-27,
    -1.0892221037148573e-09, -2.691902001941988e-26, 1.3122532963802806e-08,
    -7.589026085854777e-25, -1.4503852223150468e-07, -2.75729942161183e-24,
    1.4589169000933706e-06, 1.009163436691398e-22, -1.3227513227513228e-05, 5.532155926405864e-22,
    0.00010683760683760684, 9.266685234918841e-23, -0.0007575757575757576, -6.570922257487906e-22,
    0.004629629629629629, 2.569960705150825e-19, -0.023809523809523808, -1.32169407693471e-18,
    0.1, -5.551115123125783e-18, -0.3333333333333333, -1.850371707708594e-17, 1.0, 0.0,
)


_ERF_NEAR_TAIL = (
    -1.930357208815108e-36, 6.180307588222796e-35, -1.9169428621097826e-33, 5.754191643982172e-32,
    -1.669761793417372e-30, 4.6784835155184856e-29, -1.2641078988989164e-27,
    3.289260349175752e-26, -8.230149299214221e-25, 1.977064753877905e-23, -4.5518467589282e-22,
    1.0025164934907719e-20, -2.107855191442136e-19,
)


@_helper
def _pair_erf_near(x):
    """The power series, for |x| < `ERF_NEAR`."""
    t0 = _polynomial(_pair_mul(x, x), _ERF_NEAR_TERMS, _ERF_NEAR_TAIL)
    return _pair_mul(_pair_mul((1.1283791670955126, 1.533545961316588e-17), x), t0)


@_helper
def _pair_exp(x):
    """pair_exp(x)."""
    t0 = (-800.0, 0.0) if x[0] < -800.0 else x
    t1 = (800.0, 0.0) if t0[0] > 800.0 else t0
    t2 = np.rint(t1[0]*1.4426950408889634)
    t3 = _pair_add(t1, _pair_neg(_two_product(t2, 0.6931471805599453)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t2, 2.3190468138462996e-17)))
    t5 = _pair_small_expm1(_pair_add(t4, _pair_neg(_two_product(t2, 5.707708438416212e-34))))
    return _pair_shift(_pair_add_double(t5, 1.0), t2)


_ERF_BEYOND_TERMS = (
    3.1610394975596103e-10, -2.365867637358762e-26, 5.307201864645038e-10, 5.024428457551349e-26,
    -4.917483899024539e-10, -2.099378153537023e-26, -2.9735813841660707e-09,
    -1.8800203502554093e-25, -2.1315343960268424e-09, 1.3185876721677006e-25,
    1.0254462189518722e-08, 5.44756044791863e-25, 2.3074581164022188e-08, 8.271083663882081e-25,
    -1.9610132710177074e-08, -2.722607573243014e-25, -1.3375933027278165e-07,
    -5.9861388503997074e-24, -4.280846126321065e-08, 2.6831950110354047e-24,
    6.503408672305555e-07, 3.921229977500057e-23, 7.620272336328314e-07, -1.1656202779861803e-23,
    -3.12840504954807e-06, 1.6690848628765275e-22, -6.056241567088279e-06, -3.815557845080508e-23,
    1.749882199466417e-05, 1.2727247411004725e-21, 4.0867849866080004e-05, 2.268064845460171e-22,
    -0.00013218803915934313, 5.981048249670328e-22, -0.00023002372315276864,
    -7.824415757804573e-21, 0.001344870287176857, -2.7590715533442097e-20,
    -0.00019182592129705252, 1.1149925462966226e-22, -0.013682984893429435, 8.622580325515764e-19,
    0.056833803084404916, -2.2849725405554336e-18, -0.1397375984634967, 7.56259065668772e-18,
    0.24989043128302502, -1.3038983730772416e-18, -0.3478070065834916, -1.067406954161698e-17,
    0.1936620962790687, -1.2015846532739174e-17,
)


_ERF_BEYOND_TAIL = (
    -1.376725668414182e-15, 5.812953086370901e-15, 1.154011858026819e-14, -1.475617952956473e-14,
    -5.183559286577727e-14, -3.357493840269681e-14, 8.991932577051856e-14, 2.7456142067374786e-13,
    2.2738774729747994e-13, -5.182207838642674e-13, -1.7670597897639386e-12,
    -1.405273212000876e-12, 3.8212929792478134e-12, 1.1962500655449499e-11, 6.855034813244595e-12,
    -3.325010373654986e-11, -8.266915197829818e-11, -7.609234748239282e-12,
)


@_helper
def _pair_erf_beyond(y):
    """1 - erf(y) = exp(-y**2)*p((y - a)/(y + a)), from `ERF_NEAR` to `_ERF_REACH`."""
    t0 = _pair_div(_pair_add_double(y, -2.75), _pair_add_double(y, 2.75))
    t1 = _polynomial(t0, _ERF_BEYOND_TERMS, _ERF_BEYOND_TAIL)
    return _pair_mul(_pair_exp(_pair_neg(_pair_mul(y, y))), t1)


@_helper
def _pair_erf(x):
    """pair_erf(x)."""
    t0 = _pair_magnitude(x)
    t1 = t0[0] < 1.0
    t2 = _pair_add_double(_pair_neg(_pair_erf_beyond((8.5, 0.0) if t0[0] > 8.5 else t0)), 1.0)
    return _pair_erf_near(x if t1 else (1.0, 0.0)) if t1 else _pair_neg(t2) if x[0] < 0.0 else t2


@_helper
def _erf(x):
    """erf(x)."""
    t0 = _mul(x, ((1.1283791670955126, 1.533545961316588e-17), 0.0))
    t1 = t0 if x[1] < 0.0 else _scaled(_pair_erf(_usual(x)), 0.0)
    t2 = t1[0][0]
    return t1 if t2 == t2 else _number(math.erf(_double(x)))


_ERFCX_WITHIN_TERMS = (
    -0.0033072988788714367, 1.0824450901369162e-19, 0.00425813028074146, 6.635866024402048e-20,
    -0.005423799245521647, 3.9626061330162156e-19, 0.006835203102815158, -2.140825885054182e-19,
    -0.008522854507328271, -1.5783230011156573e-19, 0.010515403987189904, -6.3013977098035885e-19,
    -0.012837907934552698, 5.352769861298287e-19, 0.01550989769875772, -6.827552216288969e-19,
    -0.01854333337591285, -1.225223600681919e-19, 0.02194055263929064, 8.634633137324065e-19,
    -0.025692347670202762, -3.253723291950961e-19, 0.02977631892853642, 1.6389311424172286e-18,
    -0.03415566031902194, 5.884083502729885e-19, 0.03877852397060142, 2.61648489791751e-18,
    -0.04357809295048184, -3.3730698307876596e-19, 0.048473456577140805, -3.1866101936341473e-18,
    -0.053371336774809555, -3.806453612461381e-19, 0.058168657785365036, -1.6276384854757911e-19,
    -0.06275588953363846, -6.221628415997618e-18, 0.06702103210298611, 2.9940216743493734e-18,
    -0.07085405080509567, 4.279465364411242e-18, 0.07415152394705844, 2.4346263656899666e-18,
    -0.07682123374658799, 6.8182307179940854e-18, 0.07878641886084266, -5.999991132342342e-18,
    -0.07998941690307998, 6.397400869958102e-18, 0.04019722865021846, 2.325980932168429e-18,
)


_ERFCX_WITHIN_TAIL = (
    -2.9349782175349576e-06, 8.779289916669729e-06, -1.4163783624376954e-05,
    1.991732214969786e-05, -2.9614335806653993e-05, 4.5038763539736575e-05,
    -6.737142751431182e-05, 9.918401185006865e-05, -0.00014432301121419629,
    0.00020765256007886405, -0.00029536748777603554, 0.0004153701426459544,
    -0.0005775638981655289, 0.0007941358898695462, -0.0010798270196001134, 0.0014521488525933348,
    -0.0019315104227625715, 0.00254121693381211,
)


@_helper
def _pair_erfcx_within(y):
    """The same up to `_ERFC_REACH`, by one of two polynomials."""
    t0 = y[0] > 8.5
    t1 = 14.0 if t0 else 2.75
    t2 = _pair_div(_pair_add_double(y, -t1), _pair_add_double(y, t1))
    t3 = _ERFCX_WITHIN_TERMS if t0 else _ERF_BEYOND_TERMS
    return _polynomial(t2, t3, _ERFCX_WITHIN_TAIL if t0 else _ERF_BEYOND_TAIL)


@_helper
def _pair_erfc_beyond(y):
    """1 - erf(y) from `ERF_NEAR` to `_ERFC_REACH`."""
    return _pair_mul(_pair_exp(_pair_neg(_pair_mul(y, y))), _pair_erfcx_within(y))


@_helper
def _pair_erfc(x):
    """nan where it is subnormal, as `_erfc_beyond` reaches no further."""
    t0 = _pair_magnitude(x)
    t1 = t0[0] < 1.0
    t2 = t0[0] > 26.5
    t3 = _pair_erfc_beyond((26.5, 0.0) if t2 else t0)
    t4 = _pair_add_double(_pair_neg(t3), 2.0)
    t5 = _pair_add_double(_pair_neg(_pair_erf_near(x if t1 else (1.0, 0.0))), 1.0)
    return t5 if t1 else t4 if x[0] < 0.0 else (math.nan, math.nan) if t2 else t3


_ERFCX_TERMS = (
    7918.06640625, 0.0, -1055.7421875, 0.0, 162.421875, 0.0, -29.53125, 0.0, 6.5625, 0.0, -1.875,
    0.0, 0.75, 0.0, -0.5, 0.0, 1.0, 0.0,
)


_ERFCX_TAIL = (
    -48314360586264.42, 2928143065834.2075, -188912455860.27145, 13028445231.742859,
    -965070017.1661377, 77205601.37329102, -6713530.554199219, 639383.8623046875, -67303.564453125,
)


@_helper
def _pair_erfcx(y):
    """(1 - erf(y))*exp(y**2) from `ERF_NEAR` on: polynomials up to `_ERFC_REACH`, an asymptotic series beyond."""
    t0 = _pair_div((1.0, 0.0), y)
    t1 = _pair_mul(t0, (0.5641895835477563, 7.66772980658294e-18))
    t2 = _pair_mul(t1, _polynomial(_pair_mul(t0, t0), _ERFCX_TERMS, _ERFCX_TAIL))
    return t2 if y[0] > 26.5 else _pair_erfcx_within(y)


@_helper
def _erfc(x):
    """erfc(x)."""
    t0 = _abs(x)
    t1 = _usual(t0)
    t2 = _mul(_exp(_neg(_mul(t0, t0))), _scaled(_pair_erfcx(t1), 0.0))
    t3 = _sub(_number(2.0), t2) if x[0][0] < 0.0 else t2
    t4 = _scaled(_pair_erfc(_usual(x)), 0.0) if t1[0] < 1.0 else t3
    t5 = t4[0][0]
    return t4 if t5 == t5 else _number(math.erfc(_double(x)))


def _evaluate(parts, count, *args, slopes=(), single=False):
    """The results of a kernel for numbers, or element by element for arrays."""
    loop, real = parts[1], np.float32 if single else float
    if all(type(a) in (float, int) for a in args):
        return [float(v) for v in _at(parts, [real(a) for a in args], slopes)]
    args = [a if type(a) in (float, int) else np.asarray(a) for a in args]
    kind = np.result_type(*args)
    if kind.kind not in "fiub":
        raise TypeError(f"arguments must be real numbers, not {kind}")
    result = np.dtype(np.float32 if single else kind if kind.kind == "f" else np.float64)
    work = np.dtype(np.float32 if result.itemsize <= 4 else np.float64)
    shape = np.broadcast_shapes(*(np.shape(a) for a in args))
    if shape == ():
        return [result.type(v) for v in _at(parts, [real(a) for a in args], slopes)]
    flat = [np.ascontiguousarray(np.broadcast_to(a, shape), work).reshape(-1) for a in args]
    size = flat[0].size
    out, flagged = np.empty((count, size), work), np.empty(size, np.bool_)

    def task(s):
        loop(*(a[s] for a in flat), tuple(o[s] for o in out), flagged[s], slopes)

    _in_threads(size, 1 << 15, task)
    _again(parts, flat, out, np.flatnonzero(flagged), slopes)
    return [o.reshape(shape).astype(result, copy=False) for o in out]


@_helper
def _pair_exp2(x):
    """pair_exp2(x)."""
    t0 = (-1200.0, 0.0) if x[0] < -1200.0 else x
    t1 = (1200.0, 0.0) if t0[0] > 1200.0 else t0
    t2 = np.rint(t1[0])
    t3 = _pair_mul(_pair_add_double(t1, -t2), (0.6931471805599453, 2.3190468138462996e-17))
    return _pair_shift(_pair_add_double(_pair_small_expm1(t3), 1.0), t2)


@_helper
def _exp2(x):
    """exp2(x)."""
    t0 = _scaled(_pair_exp2(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(np.exp2(_double(x)))


@_helper
def _pair_expm1(x):
    """pair_expm1(x)."""
    t0 = (-800.0, 0.0) if x[0] < -800.0 else x
    t1 = (800.0, 0.0) if t0[0] > 800.0 else t0
    t2 = np.rint(t1[0]*1.4426950408889634)
    t3 = _pair_add(t1, _pair_neg(_two_product(t2, 0.6931471805599453)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t2, 2.3190468138462996e-17)))
    t5 = _pair_small_expm1(_pair_add(t4, _pair_neg(_two_product(t2, 5.707708438416212e-34))))
    t6 = _pair_add(_pair_shift(t5, t2), _pair_add_double(_pair_shift((1.0, 0.0), t2), -1.0))
    return t5 if t2 == 0.0 else t6


@_helper
def _expm1(x):
    """expm1(x)."""
    t0 = _usual(x)
    t1 = x if x[1] < 0.0 else _scaled(_pair_expm1(t0), 0.0)
    t2 = _sub(_exp(x), _number(1.0)) if abs(t0[0]) > 40.0 else t1
    t3 = t2[0][0]
    return t2 if t3 == t3 else _number(math.expm1(_double(x)))


@_helper
def _sqrt(x):
    """The square root."""
    t0 = np.floor(x[1]*0.5)
    t1 = _scaled(_pair_sqrt(_pair_scale(x[0], 2.0 if not t0 + t0 == x[1] else 1.0)), t0)
    t2 = t1[0][0]
    return t1 if t2 == t2 else ((math.sqrt(x[0][0]), 0.0), 0.0)


@_helper
def _hypot(x, y):
    """hypot(x, y)."""
    t0 = _sqrt(_add(_mul(x, x), _mul(y, y)))
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.hypot(_double(x), _double(y)))


@_helper
def _less(x, y):
    """x < y."""
    t0 = x[1] == y[1]
    return t0 and x[0] < y[0] or not t0 and _sub(x, y)[0][0] < 0.0


@_helper
def _light_acos(x):
    """acos(x), its rounding error, and the slope there."""
    t0 = math.acos(x)
    t1 = 1.0 + x
    t2 = 1.0 + (-x)
    t3 = t1*t2
    t4 = _fma(_sum_error(1.0, x), t2, _fma(t1, _sum_error(1.0, -x), _product_error(t1, t2)))
    t5 = t3 + t4
    t6 = abs(math.sqrt(t5))
    t7 = np.rint(t0*0.6366197723675814)
    t8 = t7*0.5
    t9 = np.floor(t8)
    t10 = t9 < t8
    t11 = _fma(-t7, 1.5707963267923333, t0)
    t12 = -t7*2.563344151594519e-12
    t13 = t11 + t12
    t14 = _fma(t7, -1.1351118607522202e-28, _product_error(t7, 2.563344151594519e-12))
    t15 = _sum_error(t11, t12) - t14
    t16 = t13 + t15
    t17 = t16*t16
    t18 = t16*t17
    t19 = t18*(-0.16666666666666666)
    t20 = t16 + t19
    t21 = _fma(-8.22063524662433e-18, t17, 2.8114572543455206e-15)
    t22 = _fma(_fma(t21, t17, -7.647163731819816e-13), t17, 1.6059043836821613e-10)
    t23 = _fma(_fma(t22, t17, -2.505210838544172e-08), t17, 2.7557319223985893e-06)
    t24 = _product_error(t16, t16)
    t25 = _product_error(t18, -0.16666666666666666)
    t26 = _fma(_fma(t16, t24, _product_error(t16, t17)), -0.16666666666666666, t25)
    t27 = t15 - (t16 - t13)
    t28 = t19 - (t20 - t16) + (_fma(t18, -9.25185853854297e-18, t26) + _fma(-t17*0.5, t27, t27))
    t29 = _fma(_fma(t23, t17, -0.0001984126984126984), t17, 0.008333333333333333)
    t30 = _fma(t18*t17, t29, t28)
    t31 = t20 + t30
    t32 = t17*(-0.5)
    t33 = 1.0 + t32
    t34 = _fma(4.110317623312165e-19, t17, -1.5619206968586225e-16)
    t35 = _fma(_fma(t34, t17, 4.779477332387385e-14), t17, -1.1470745597729725e-11)
    t36 = _fma(_fma(t35, t17, 2.08767569878681e-09), t17, -2.755731922398589e-07)
    t37 = _fma(_fma(t36, t17, 2.48015873015873e-05), t17, -0.001388888888888889)
    t38 = _fma(-t31, t27, _fma(t24, -0.5, t32 - (t33 - 1.0)))
    t39 = _fma(t17*t17, _fma(t37, t17, 0.041666666666666664), t38)
    t40 = t33 + t39
    t41 = np.floor(t8 + 0.5)*0.5
    t42 = -1.0 if np.floor(t41) < t41 else 1.0
    t43 = (t31 if t10 else t40)*t42
    t44 = t9*0.5
    t45 = -1.0 if np.floor(t44) < t44 else 1.0
    t46 = (t40 if t10 else t31)*t45
    t47 = t30 - (t31 - t20)
    t48 = t39 - (t40 - t33)
    t49 = _fma(t6, (t47 if t10 else t48)*t42, _product_error(t6, t43))
    t50 = _fma((_fma(-t6, t6, t5) + (t4 - (t5 - t3)))/(t6 + t6), t43, t49)
    return t0, t6*t43 - t46*x + (t50 - _fma((t48 if t10 else t47)*t45, x, _product_error(t46, x))), -1.0/t6


@_helper
def _light_acosh(x):
    """acosh(x), its rounding error, and the slope there."""
    t0 = x - 1.0
    t1 = x + 1.0
    t2 = t0*t1
    t3 = _sum_error(x, -1.0)
    t4 = _fma(t3, t1, _fma(t0, _sum_error(x, 1.0), _product_error(t0, t1)))
    t5 = t2 + t4
    t6 = abs(math.sqrt(t5))
    t7 = t0 + t6
    t8 = _sum_error(t0, t6) + t3 + (_fma(-t6, t6, t5) + (t4 - (t5 - t2)))/(t6 + t6)
    t9 = t7 + t8
    t10 = abs(t9 - 0.0625) < 0.3125
    t11 = 1.0 + t9
    t12 = float(math.frexp(t11*1.4142135623730951)[1] - 1)
    t13 = 0.0 if t10 else t12
    t14 = t13 == 0.0
    t15 = math.ldexp(1.0, int(-t12))
    t16 = t9 if t10 else t11*t15 - 1.0
    t17 = 2.0 + t16
    t18 = 1.0/t17
    t19 = t16*t18
    t20 = 2.0*t19
    t21 = t13*0.6931471805598903
    t22 = t21 + t20
    t23 = t20 if t14 else t22
    t24 = t19*t19
    t25 = _fma(_fma(0.08, t24, 0.08695652173913043), t24, 0.09523809523809523)
    t26 = _fma(_fma(t25, t24, 0.10526315789473684), t24, 0.11764705882352941)
    t27 = _fma(_fma(t26, t24, 0.13333333333333333), t24, 0.15384615384615385)
    t28 = _fma(_fma(t27, t24, 0.18181818181818182), t24, 0.2222222222222222)
    t29 = -t19
    t30 = t8 - (t9 - t7)
    t31 = t30 if t10 else (_sum_error(1.0, t9) + t30)*t15
    t32 = t24*_fma(_fma(_fma(t28, t24, 0.2857142857142857), t24, 0.4), t24, 0.6666666666666666)
    t33 = 2.0*(_fma(t29, _sum_error(2.0, t16) + t31, _fma(t29, t17, t16) + t31)*t18)
    t34 = _fma(t19, t32, t33)
    t35 = t34 if t14 else _fma(t13, 5.497923018708371e-14, t20 - (t22 - t21)) + t34
    t36 = t23 + t35
    return t36, t35 - (t36 - t23), 1.0/t6


@_helper
def _light_asin(x):
    """asin(x), its rounding error, and the slope there."""
    t0 = math.asin(x)
    t1 = np.rint(t0*0.6366197723675814)
    t2 = t1*0.5
    t3 = np.floor(t2)
    t4 = t3 < t2
    t5 = _fma(-t1, 1.5707963267923333, t0)
    t6 = -t1*2.563344151594519e-12
    t7 = t5 + t6
    t8 = _fma(t1, -1.1351118607522202e-28, _product_error(t1, 2.563344151594519e-12))
    t9 = _sum_error(t5, t6) - t8
    t10 = t7 + t9
    t11 = t10*t10
    t12 = t10*t11
    t13 = t12*(-0.16666666666666666)
    t14 = t10 + t13
    t15 = _fma(-8.22063524662433e-18, t11, 2.8114572543455206e-15)
    t16 = _fma(_fma(t15, t11, -7.647163731819816e-13), t11, 1.6059043836821613e-10)
    t17 = _fma(_fma(t16, t11, -2.505210838544172e-08), t11, 2.7557319223985893e-06)
    t18 = _product_error(t10, t10)
    t19 = _product_error(t12, -0.16666666666666666)
    t20 = _fma(_fma(t10, t18, _product_error(t10, t11)), -0.16666666666666666, t19)
    t21 = t9 - (t10 - t7)
    t22 = t13 - (t14 - t10) + (_fma(t12, -9.25185853854297e-18, t20) + _fma(-t11*0.5, t21, t21))
    t23 = _fma(_fma(t17, t11, -0.0001984126984126984), t11, 0.008333333333333333)
    t24 = _fma(t12*t11, t23, t22)
    t25 = t14 + t24
    t26 = t11*(-0.5)
    t27 = 1.0 + t26
    t28 = _fma(4.110317623312165e-19, t11, -1.5619206968586225e-16)
    t29 = _fma(_fma(t28, t11, 4.779477332387385e-14), t11, -1.1470745597729725e-11)
    t30 = _fma(_fma(t29, t11, 2.08767569878681e-09), t11, -2.755731922398589e-07)
    t31 = _fma(_fma(t30, t11, 2.48015873015873e-05), t11, -0.001388888888888889)
    t32 = _fma(-t25, t21, _fma(t18, -0.5, t26 - (t27 - 1.0)))
    t33 = _fma(t11*t11, _fma(t31, t11, 0.041666666666666664), t32)
    t34 = t27 + t33
    t35 = np.floor(t2 + 0.5)*0.5
    t36 = -1.0 if np.floor(t35) < t35 else 1.0
    t37 = (t25 if t4 else t34)*t36
    t38 = 1.0 + x
    t39 = 1.0 + (-x)
    t40 = t38*t39
    t41 = _fma(_sum_error(1.0, x), t39, _fma(t38, _sum_error(1.0, -x), _product_error(t38, t39)))
    t42 = t40 + t41
    t43 = abs(math.sqrt(t42))
    t44 = t3*0.5
    t45 = -1.0 if np.floor(t44) < t44 else 1.0
    t46 = (t34 if t4 else t25)*t45
    t47 = t24 - (t25 - t14)
    t48 = t33 - (t34 - t27)
    t49 = _fma(t43, (t48 if t4 else t47)*t45, _product_error(t43, t46))
    t50 = _fma((_fma(-t43, t43, t42) + (t41 - (t42 - t40)))/(t43 + t43), t46, t49)
    return t0, t37*x - t43*t46 + (_fma((t47 if t4 else t48)*t36, x, _product_error(t37, x)) - t50), 1.0/t43


@_helper
def _light_asinh(x):
    """asinh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0*t0
    t2 = 1.0 + t1
    t3 = math.sqrt(t2)
    t4 = 1.0 + t3
    t5 = 1.0/t4
    t6 = t1*t5
    t7 = t0 + t6
    t8 = -t6
    t9 = _product_error(t0, t0)
    t10 = _sum_error(1.0, t3) + (_fma(-t3, t3, t2) + (_sum_error(1.0, t1) + t9))/(t3 + t3)
    t11 = _sum_error(t0, t6) + _fma(t8, t10, _fma(t8, t4, t1) + t9)*t5
    t12 = t7 + t11
    t13 = abs(t12 - 0.0625) < 0.3125
    t14 = 1.0 + t12
    t15 = float(math.frexp(t14*1.4142135623730951)[1] - 1)
    t16 = 0.0 if t13 else t15
    t17 = t16 == 0.0
    t18 = math.ldexp(1.0, int(-t15))
    t19 = t12 if t13 else t14*t18 - 1.0
    t20 = 2.0 + t19
    t21 = 1.0/t20
    t22 = t19*t21
    t23 = 2.0*t22
    t24 = t16*0.6931471805598903
    t25 = t24 + t23
    t26 = t23 if t17 else t25
    t27 = t22*t22
    t28 = _fma(_fma(0.08, t27, 0.08695652173913043), t27, 0.09523809523809523)
    t29 = _fma(_fma(t28, t27, 0.10526315789473684), t27, 0.11764705882352941)
    t30 = _fma(_fma(t29, t27, 0.13333333333333333), t27, 0.15384615384615385)
    t31 = _fma(_fma(t30, t27, 0.18181818181818182), t27, 0.2222222222222222)
    t32 = -t22
    t33 = t11 - (t12 - t7)
    t34 = t33 if t13 else (_sum_error(1.0, t12) + t33)*t18
    t35 = t27*_fma(_fma(_fma(t31, t27, 0.2857142857142857), t27, 0.4), t27, 0.6666666666666666)
    t36 = 2.0*(_fma(t32, _sum_error(2.0, t19) + t34, _fma(t32, t20, t19) + t34)*t21)
    t37 = _fma(t22, t35, t36)
    t38 = t37 if t17 else _fma(t16, 5.497923018708371e-14, t23 - (t25 - t24)) + t37
    t39 = t26 + t38
    t40 = -1.0 if x < 0.0 else 1.0
    return t39*t40, (t38 - (t39 - t26))*t40, 1.0/t3


@_helper
def _light_atan(x):
    """atan(x), its rounding error, and the slope there."""
    t0 = math.atan(x)
    t1 = np.rint(t0*0.6366197723675814)
    t2 = t1*0.5
    t3 = np.floor(t2)
    t4 = t3 < t2
    t5 = _fma(-t1, 1.5707963267923333, t0)
    t6 = -t1*2.563344151594519e-12
    t7 = t5 + t6
    t8 = _fma(t1, -1.1351118607522202e-28, _product_error(t1, 2.563344151594519e-12))
    t9 = _sum_error(t5, t6) - t8
    t10 = t7 + t9
    t11 = t10*t10
    t12 = t10*t11
    t13 = t12*(-0.16666666666666666)
    t14 = t10 + t13
    t15 = _fma(-8.22063524662433e-18, t11, 2.8114572543455206e-15)
    t16 = _fma(_fma(t15, t11, -7.647163731819816e-13), t11, 1.6059043836821613e-10)
    t17 = _fma(_fma(t16, t11, -2.505210838544172e-08), t11, 2.7557319223985893e-06)
    t18 = _product_error(t10, t10)
    t19 = _product_error(t12, -0.16666666666666666)
    t20 = _fma(_fma(t10, t18, _product_error(t10, t11)), -0.16666666666666666, t19)
    t21 = t9 - (t10 - t7)
    t22 = t13 - (t14 - t10) + (_fma(t12, -9.25185853854297e-18, t20) + _fma(-t11*0.5, t21, t21))
    t23 = _fma(_fma(t17, t11, -0.0001984126984126984), t11, 0.008333333333333333)
    t24 = _fma(t12*t11, t23, t22)
    t25 = t14 + t24
    t26 = t11*(-0.5)
    t27 = 1.0 + t26
    t28 = _fma(4.110317623312165e-19, t11, -1.5619206968586225e-16)
    t29 = _fma(_fma(t28, t11, 4.779477332387385e-14), t11, -1.1470745597729725e-11)
    t30 = _fma(_fma(t29, t11, 2.08767569878681e-09), t11, -2.755731922398589e-07)
    t31 = _fma(_fma(t30, t11, 2.48015873015873e-05), t11, -0.001388888888888889)
    t32 = _fma(-t25, t21, _fma(t18, -0.5, t26 - (t27 - 1.0)))
    t33 = _fma(t11*t11, _fma(t31, t11, 0.041666666666666664), t32)
    t34 = t27 + t33
    t35 = np.floor(t2 + 0.5)*0.5
    t36 = -1.0 if np.floor(t35) < t35 else 1.0
    t37 = (t25 if t4 else t34)*t36
    t38 = t3*0.5
    t39 = -1.0 if np.floor(t38) < t38 else 1.0
    t40 = (t34 if t4 else t25)*t39
    t41 = t24 - (t25 - t14)
    t42 = t33 - (t34 - t27)
    t43 = _fma((t41 if t4 else t42)*t36, x, _product_error(t37, x)) - (t42 if t4 else t41)*t39
    return t0, (t37*x - t40 + t43)/_fma(x, t40, t37), 1.0/_fma(x, x, 1.0)


@_helper
def _light_atanh(x):
    """atanh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0 + t0
    t2 = -t0
    t3 = 1.0 + t2
    t4 = 1.0/t3
    t5 = t1*t4
    t6 = -t5
    t7 = _fma(t6, _sum_error(1.0, t2), _fma(t6, t3, t1) + 0.0)*t4
    t8 = t5 + t7
    t9 = abs(t8 - 0.0625) < 0.3125
    t10 = 1.0 + t8
    t11 = float(math.frexp(t10*1.4142135623730951)[1] - 1)
    t12 = 0.0 if t9 else t11
    t13 = t12 == 0.0
    t14 = math.ldexp(1.0, int(-t11))
    t15 = t8 if t9 else t10*t14 - 1.0
    t16 = 2.0 + t15
    t17 = 1.0/t16
    t18 = t15*t17
    t19 = 2.0*t18
    t20 = t12*0.6931471805598903
    t21 = t20 + t19
    t22 = t19 if t13 else t21
    t23 = t18*t18
    t24 = _fma(_fma(0.08, t23, 0.08695652173913043), t23, 0.09523809523809523)
    t25 = _fma(_fma(t24, t23, 0.10526315789473684), t23, 0.11764705882352941)
    t26 = _fma(_fma(t25, t23, 0.13333333333333333), t23, 0.15384615384615385)
    t27 = _fma(_fma(t26, t23, 0.18181818181818182), t23, 0.2222222222222222)
    t28 = -t18
    t29 = t7 - (t8 - t5)
    t30 = t29 if t9 else (_sum_error(1.0, t8) + t29)*t14
    t31 = t23*_fma(_fma(_fma(t27, t23, 0.2857142857142857), t23, 0.4), t23, 0.6666666666666666)
    t32 = 2.0*(_fma(t28, _sum_error(2.0, t15) + t30, _fma(t28, t16, t15) + t30)*t17)
    t33 = _fma(t18, t31, t32)
    t34 = t33 if t13 else _fma(t12, 5.497923018708371e-14, t19 - (t21 - t20)) + t33
    t35 = t22 + t34
    t36 = -0.5 if x < 0.0 else 0.5
    return t35*t36, (t34 - (t35 - t22))*t36, 1.0/((1.0 + x)*(1.0 - x))


@_helper
def _light_cbrt(x):
    """cbrt(x), its rounding error, and the slope there."""
    t0 = np.cbrt(x)
    t1 = t0*t0
    t2 = 1.0/(3.0*t1)
    return t0, (x - t1*t0 - _fma(_product_error(t0, t0), t0, _product_error(t1, t0)))*t2, t2


@_helper
def _light_cos(x):
    """cos(x), its rounding error, and the slope there."""
    t0 = np.rint(x*0.6366197723675814)
    t1 = t0*0.5
    t2 = np.floor(t1)
    t3 = t2 < t1
    t4 = _fma(-t0, 1.5707963267923333, x)
    t5 = -t0*2.563344151594519e-12
    t6 = t4 + t5
    t7 = _fma(t0, -1.1351118607522202e-28, _product_error(t0, 2.563344151594519e-12))
    t8 = _sum_error(t4, t5) - t7
    t9 = t6 + t8
    t10 = t9*t9
    t11 = t9*t10
    t12 = t11*(-0.16666666666666666)
    t13 = t9 + t12
    t14 = _fma(-8.22063524662433e-18, t10, 2.8114572543455206e-15)
    t15 = _fma(_fma(t14, t10, -7.647163731819816e-13), t10, 1.6059043836821613e-10)
    t16 = _fma(_fma(t15, t10, -2.505210838544172e-08), t10, 2.7557319223985893e-06)
    t17 = _product_error(t9, t9)
    t18 = _product_error(t11, -0.16666666666666666)
    t19 = _fma(_fma(t9, t17, _product_error(t9, t10)), -0.16666666666666666, t18)
    t20 = t8 - (t9 - t6)
    t21 = t12 - (t13 - t9) + (_fma(t11, -9.25185853854297e-18, t19) + _fma(-t10*0.5, t20, t20))
    t22 = _fma(_fma(t16, t10, -0.0001984126984126984), t10, 0.008333333333333333)
    t23 = _fma(t11*t10, t22, t21)
    t24 = t13 + t23
    t25 = t10*(-0.5)
    t26 = 1.0 + t25
    t27 = _fma(4.110317623312165e-19, t10, -1.5619206968586225e-16)
    t28 = _fma(_fma(t27, t10, 4.779477332387385e-14), t10, -1.1470745597729725e-11)
    t29 = _fma(_fma(t28, t10, 2.08767569878681e-09), t10, -2.755731922398589e-07)
    t30 = _fma(_fma(t29, t10, 2.48015873015873e-05), t10, -0.001388888888888889)
    t31 = _fma(-t24, t20, _fma(t17, -0.5, t25 - (t26 - 1.0)))
    t32 = _fma(t10*t10, _fma(t30, t10, 0.041666666666666664), t31)
    t33 = t26 + t32
    t34 = np.floor(t1 + 0.5)*0.5
    t35 = -1.0 if np.floor(t34) < t34 else 1.0
    t36 = t2*0.5
    return (t24 if t3 else t33)*t35, (t23 - (t24 - t13) if t3 else t32 - (t33 - t26))*t35, -(t33 if t3 else t24)*(-1.0 if np.floor(t36) < t36 else 1.0)


@_helper
def _light_cosh(x):
    """cosh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = np.rint(t0*1.4426950408889634)
    t2 = math.ldexp(1.0, int(t1))
    t3 = t2 - 1.0
    t4 = _fma(-t1, 0.6931471805598903, t0)
    t5 = t1*5.497923018708371e-14
    t6 = t4 - t5
    t7 = t6*t6
    t8 = t7*0.5
    t9 = t6 + t8
    t10 = t2*t9
    t11 = t3 + t10
    t12 = _fma(_fma(1.1470745597729725e-11, t6, 1.6059043836821613e-10), t6, 2.08767569878681e-09)
    t13 = _fma(_fma(t12, t6, 2.505210838544172e-08), t6, 2.755731922398589e-07)
    t14 = _fma(_fma(t13, t6, 2.7557319223985893e-06), t6, 2.48015873015873e-05)
    t15 = _fma(_fma(t14, t6, 0.0001984126984126984), t6, 0.001388888888888889)
    t16 = _fma(_fma(t15, t6, 0.008333333333333333), t6, 0.041666666666666664)
    t17 = t4 - t6 - t5
    t18 = _fma(t6*t7, _fma(t16, t6, 0.16666666666666666), _fma(t6, t17, t17))
    t19 = _fma(t2, t8 - (t9 - t6) + _fma(_product_error(t6, t6), 0.5, t18), _sum_error(t3, t10))
    t20 = t19 + _sum_error(t2, -1.0)
    t21 = t11 + t20
    t22 = 1.0 + t21
    t23 = 1.0/t22
    t24 = 1.0*t23
    t25 = t22 + t24
    t26 = t20 - (t21 - t11)
    t27 = _sum_error(1.0, t21) + t26
    t28 = -t24
    t29 = _fma(t28, t27, _fma(t28, t22, 1.0) + 0.0)*t23
    t30 = _sum_error(t22, t24) + t27 + t29
    t31 = t25 + t30
    t32 = t21*t24
    t33 = _sum_error(t21, t32) + t26 + _fma(t26, t24, _fma(t21, t29, _product_error(t21, t24)))
    return t31*0.5, (t30 - (t31 - t25))*0.5, (t21 + t32 + t33)*(-0.5 if x < 0.0 else 0.5)


@_helper
def _light_erf(x):
    """erf(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0 < 1.0
    t2 = x if t1 else 1.0
    t3 = t2*t2
    t4 = _fma(_fma(1.977064753877905e-23, t3, -4.5518467589282e-22), t3, 1.0025164934907719e-20)
    t5 = _fma(_fma(t4, t3, -2.107855191442136e-19), t3, 4.221407288807088e-18)
    t6 = _fma(_fma(t5, t3, -8.032735012415773e-17), t3, 1.4483264643598138e-15)
    t7 = _fma(_fma(t6, t3, -2.466827010264457e-14), t3, 3.9554295164585257e-13)
    t8 = _fma(_fma(t7, t3, -5.9477940136376354e-12), t3, 8.35070279514724e-11)
    t9 = _fma(_fma(t8, t3, -1.0892221037148573e-09), t3, 1.3122532963802806e-08)
    t10 = _fma(_fma(t9, t3, -1.4503852223150468e-07), t3, 1.4589169000933706e-06)
    t11 = _fma(_fma(t10, t3, -1.3227513227513228e-05), t3, 0.00010683760683760684)
    t12 = _fma(_fma(t11, t3, -0.0007575757575757576), t3, 0.004629629629629629)
    t13 = _fma(t12, t3, -0.023809523809523808)
    t14 = t3*t13
    t15 = 0.1 + t14
    t16 = t3*t15
    t17 = -0.3333333333333333 + t16
    t18 = t3*t17
    t19 = 1.0 + t18
    t20 = 1.1283791670955126*t19
    t21 = 6.5 if t0 > 6.5 else t0
    t22 = -t21*t21
    t23 = np.rint(t22*1.4426950408889634)
    t24 = _fma(-t23, 0.6931471805598903, t22)
    t25 = t23*5.497923018708371e-14
    t26 = t24 - t25
    t27 = t26*t26
    t28 = t27*0.5
    t29 = t26 + t28
    t30 = 1.0 + t29
    t31 = _fma(1.1470745597729725e-11, t26, 1.6059043836821613e-10)
    t32 = _fma(_fma(t31, t26, 2.08767569878681e-09), t26, 2.505210838544172e-08)
    t33 = _fma(_fma(t32, t26, 2.755731922398589e-07), t26, 2.7557319223985893e-06)
    t34 = _fma(_fma(t33, t26, 2.48015873015873e-05), t26, 0.0001984126984126984)
    t35 = _fma(_fma(t34, t26, 0.001388888888888889), t26, 0.008333333333333333)
    t36 = t24 - t26 - t25
    t37 = _fma(_fma(t35, t26, 0.041666666666666664), t26, 0.16666666666666666)
    t38 = _fma(_product_error(t26, t26), 0.5, _fma(t26*t27, t37, _fma(t26, t36, t36)))
    t39 = t29 - (t30 - 1.0) + (t28 - (t29 - t26) + t38)
    t40 = t30 + t39
    t41 = math.ldexp(1.0, int(t23))
    t42 = t40*t41
    t43 = t21 - 2.75
    t44 = t21 + 2.75
    t45 = 1.0/t44
    t46 = t43*t45
    t47 = _fma(1.5889135810127038e-08, t46, -1.2672820687072748e-08)
    t48 = _fma(_fma(t47, t46, -1.2883685109356058e-07), t46, -4.4964148317557594e-08)
    t49 = _fma(_fma(t48, t46, 6.487697687366961e-07), t46, 7.624043379114421e-07)
    t50 = _fma(_fma(t49, t46, -3.128122107650579e-06), t46, -6.056281651232589e-06)
    t51 = _fma(_fma(t50, t46, 1.7498791258609406e-05), t46, 4.086785251787799e-05)
    t52 = _fma(_fma(t51, t46, -0.0001321880371235004), t46, -0.00023002372326090965)
    t53 = _fma(_fma(t52, t46, 0.0013448702870971847), t46, -0.000191825921294452)
    t54 = _fma(_fma(t53, t46, -0.013682984893427739), t46, 0.05683380308440488)
    t55 = _fma(t54, t46, -0.1397375984634967)
    t56 = t46*t55
    t57 = 0.24989043128302502 + t56
    t58 = t46*t57
    t59 = -0.3478070065834916 + t58
    t60 = t46*t59
    t61 = 0.1936620962790687 + t60
    t62 = -t42*t61
    t63 = 1.0 + t62
    t64 = -1.0 if x < 0.0 else 1.0
    t65 = t2*t20 if t1 else t63*t64
    t66 = _product_error(t2, t2)
    t67 = _fma(t66, t13, _product_error(t3, t13) + (t14 - (t15 - 0.1))) - 5.551115123125783e-18
    t68 = _fma(t3, t67, _product_error(t3, t15) + (t16 - (t17 + 0.3333333333333333)))
    t69 = _product_error(t3, t17) + (t18 - (t19 - 1.0))
    t70 = _fma(t66, t17, _fma(t3, _fma(t66, t15, t68) - 1.850371707708594e-17, t69))
    t71 = _fma(1.1283791670955126, t70, _product_error(1.1283791670955126, t19))
    t72 = -t46
    t73 = _fma(t72, _sum_error(t21, 2.75), _fma(t72, t44, t43) + 0.0)*t45
    t74 = _fma(t73, t55, _product_error(t46, t55) + (t56 - (t57 - 0.24989043128302502)))
    t75 = _product_error(t46, t57) + (t58 - (t59 + 0.3478070065834916))
    t76 = _fma(t73, t57, _fma(t46, t74 - 1.1268913160327033e-18, t75)) - 1.0627298081316261e-17
    t77 = _fma(t46, t76, _product_error(t46, t59) + (t60 - (t61 - 0.1936620962790687)))
    t78 = _fma(t42, _fma(t73, t59, t77) - 1.2016015501702091e-17, _product_error(t42, t61))
    t79 = _fma(_fma(-_product_error(t21, t21), t42, (t39 - (t40 - t30))*t41), t61, t78)
    t80 = _fma(t2, _fma(1.533545961316588e-17, t19, t71), _product_error(t2, t20))
    t81 = t80 if t1 else (t62 - (t63 - 1.0) - t79)*t64
    t82 = t65 + t81
    return t82, t81 - (t82 - t65), 1.1283791670955126*t42


@_helper
def _light_erfc(x):
    """erfc(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = t0 < 1.0
    t2 = x if t1 else 1.0
    t3 = t2*t2
    t4 = _fma(_fma(1.977064753877905e-23, t3, -4.5518467589282e-22), t3, 1.0025164934907719e-20)
    t5 = _fma(_fma(t4, t3, -2.107855191442136e-19), t3, 4.221407288807088e-18)
    t6 = _fma(_fma(t5, t3, -8.032735012415773e-17), t3, 1.4483264643598138e-15)
    t7 = _fma(_fma(t6, t3, -2.466827010264457e-14), t3, 3.9554295164585257e-13)
    t8 = _fma(_fma(t7, t3, -5.9477940136376354e-12), t3, 8.35070279514724e-11)
    t9 = _fma(_fma(t8, t3, -1.0892221037148573e-09), t3, 1.3122532963802806e-08)
    t10 = _fma(_fma(t9, t3, -1.4503852223150468e-07), t3, 1.4589169000933706e-06)
    t11 = _fma(_fma(t10, t3, -1.3227513227513228e-05), t3, 0.00010683760683760684)
    t12 = _fma(t11, t3, -0.0007575757575757576)
    t13 = t3*t12
    t14 = 0.004629629629629629 + t13
    t15 = t3*t14
    t16 = -0.023809523809523808 + t15
    t17 = t3*t16
    t18 = 0.1 + t17
    t19 = t3*t18
    t20 = -0.3333333333333333 + t19
    t21 = t3*t20
    t22 = 1.0 + t21
    t23 = 1.1283791670955126*t22
    t24 = -t2*t23
    t25 = 1.0 + t24
    t26 = x < 0.0
    t27 = 6.5 if t0 > 6.5 else t0
    t28 = -t27*t27
    t29 = np.rint(t28*1.4426950408889634)
    t30 = _fma(-t29, 0.6931471805598903, t28)
    t31 = t29*5.497923018708371e-14
    t32 = t30 - t31
    t33 = t32*t32
    t34 = t33*0.5
    t35 = t32 + t34
    t36 = 1.0 + t35
    t37 = _fma(1.1470745597729725e-11, t32, 1.6059043836821613e-10)
    t38 = _fma(_fma(t37, t32, 2.08767569878681e-09), t32, 2.505210838544172e-08)
    t39 = _fma(_fma(t38, t32, 2.755731922398589e-07), t32, 2.7557319223985893e-06)
    t40 = _fma(_fma(t39, t32, 2.48015873015873e-05), t32, 0.0001984126984126984)
    t41 = _fma(_fma(t40, t32, 0.001388888888888889), t32, 0.008333333333333333)
    t42 = t30 - t32 - t31
    t43 = _fma(_fma(t41, t32, 0.041666666666666664), t32, 0.16666666666666666)
    t44 = _fma(_product_error(t32, t32), 0.5, _fma(t32*t33, t43, _fma(t32, t42, t42)))
    t45 = t35 - (t36 - 1.0) + (t34 - (t35 - t32) + t44)
    t46 = t36 + t45
    t47 = math.ldexp(1.0, int(t29))
    t48 = t46*t47
    t49 = t27 - 2.75
    t50 = t27 + 2.75
    t51 = 1.0/t50
    t52 = t49*t51
    t53 = _fma(1.5889135810127038e-08, t52, -1.2672820687072748e-08)
    t54 = _fma(_fma(t53, t52, -1.2883685109356058e-07), t52, -4.4964148317557594e-08)
    t55 = _fma(_fma(t54, t52, 6.487697687366961e-07), t52, 7.624043379114421e-07)
    t56 = _fma(_fma(t55, t52, -3.128122107650579e-06), t52, -6.056281651232589e-06)
    t57 = _fma(_fma(t56, t52, 1.7498791258609406e-05), t52, 4.086785251787799e-05)
    t58 = _fma(_fma(t57, t52, -0.0001321880371235004), t52, -0.00023002372326090965)
    t59 = _fma(_fma(t58, t52, 0.0013448702870971847), t52, -0.000191825921294452)
    t60 = _fma(_fma(t59, t52, -0.013682984893427739), t52, 0.05683380308440488)
    t61 = t52*t60
    t62 = -0.1397375984634967 + t61
    t63 = t52*t62
    t64 = 0.24989043128302502 + t63
    t65 = t52*t64
    t66 = -0.3478070065834916 + t65
    t67 = t52*t66
    t68 = 0.1936620962790687 + t67
    t69 = t48*t68
    t70 = -t69
    t71 = 2.0 + t70
    t72 = t25 if t1 else t71 if t26 else t69
    t73 = _product_error(t2, t2)
    t74 = _fma(t73, t12, _product_error(t3, t12) + (t13 - (t14 - 0.004629629629629629)))
    t75 = _product_error(t3, t14) + (t15 - (t16 + 0.023809523809523808))
    t76 = _fma(t73, t14, _fma(t3, t74 + 2.569960705150825e-19, t75)) - 1.32169407693471e-18
    t77 = _fma(t73, t16, _fma(t3, t76, _product_error(t3, t16) + (t17 - (t18 - 0.1))))
    t78 = _product_error(t3, t18) + (t19 - (t20 + 0.3333333333333333))
    t79 = _fma(t73, t18, _fma(t3, t77 - 5.551115123125783e-18, t78)) - 1.850371707708594e-17
    t80 = _fma(t73, t20, _fma(t3, t79, _product_error(t3, t20) + (t21 - (t22 - 1.0))))
    t81 = _fma(1.1283791670955126, t80, _product_error(1.1283791670955126, t22))
    t82 = _fma(t2, _fma(1.533545961316588e-17, t22, t81), _product_error(t2, t23))
    t83 = -t52
    t84 = _fma(t83, _sum_error(t27, 2.75), _fma(t83, t50, t49) + 0.0)*t51
    t85 = _fma(t84, t60, _product_error(t52, t60) + (t61 - (t62 + 0.1397375984634967)))
    t86 = _product_error(t52, t62) + (t63 - (t64 - 0.24989043128302502))
    t87 = _fma(t84, t62, _fma(t52, t85 - 8.874440737381502e-18, t86)) - 1.1268913160327033e-18
    t88 = _fma(t52, t87, _product_error(t52, t64) + (t65 - (t66 + 0.3478070065834916)))
    t89 = _product_error(t52, t66) + (t67 - (t68 - 0.1936620962790687))
    t90 = _fma(t84, t66, _fma(t52, _fma(t84, t64, t88) - 1.0627298081316261e-17, t89))
    t91 = _fma(t48, t90 - 1.2016015501702091e-17, _product_error(t48, t68))
    t92 = _fma(_fma(-_product_error(t27, t27), t48, (t45 - (t46 - t36))*t47), t68, t91)
    t93 = t24 - (t25 - 1.0) - t82 if t1 else t70 - (t71 - 2.0) - t92 if t26 else t92
    t94 = t72 + t93
    return t94, t93 - (t94 - t72), -1.1283791670955126*t48


@_helper
def _light_exp(x):
    """exp(x), its rounding error, and the slope there."""
    t0 = np.rint(x*1.4426950408889634)
    t1 = _fma(-t0, 0.6931471805598903, x)
    t2 = t0*5.497923018708371e-14
    t3 = t1 - t2
    t4 = t3*t3
    t5 = t4*0.5
    t6 = t3 + t5
    t7 = 1.0 + t6
    t8 = _fma(_fma(1.1470745597729725e-11, t3, 1.6059043836821613e-10), t3, 2.08767569878681e-09)
    t9 = _fma(_fma(t8, t3, 2.505210838544172e-08), t3, 2.755731922398589e-07)
    t10 = _fma(_fma(t9, t3, 2.7557319223985893e-06), t3, 2.48015873015873e-05)
    t11 = _fma(_fma(t10, t3, 0.0001984126984126984), t3, 0.001388888888888889)
    t12 = _fma(_fma(t11, t3, 0.008333333333333333), t3, 0.041666666666666664)
    t13 = t1 - t3 - t2
    t14 = _fma(t3*t4, _fma(t12, t3, 0.16666666666666666), _fma(t3, t13, t13))
    t15 = t6 - (t7 - 1.0) + (t5 - (t6 - t3) + _fma(_product_error(t3, t3), 0.5, t14))
    t16 = t7 + t15
    t17 = math.ldexp(1.0, int(t0))
    t18 = t16*t17
    return t18, (t15 - (t16 - t7))*t17, t18


@_helper
def _light_exp2(x):
    """exp2(x), its rounding error, and the slope there."""
    t0 = np.rint(x)
    t1 = x - t0
    t2 = t1*0.6931471805599453
    t3 = t2*t2
    t4 = t3*0.5
    t5 = t2 + t4
    t6 = 1.0 + t5
    t7 = _fma(_fma(1.1470745597729725e-11, t2, 1.6059043836821613e-10), t2, 2.08767569878681e-09)
    t8 = _fma(_fma(t7, t2, 2.505210838544172e-08), t2, 2.755731922398589e-07)
    t9 = _fma(_fma(t8, t2, 2.7557319223985893e-06), t2, 2.48015873015873e-05)
    t10 = _fma(_fma(t9, t2, 0.0001984126984126984), t2, 0.001388888888888889)
    t11 = _fma(_fma(t10, t2, 0.008333333333333333), t2, 0.041666666666666664)
    t12 = _fma(t1, 2.3190468138462996e-17, _product_error(t1, 0.6931471805599453))
    t13 = _fma(t2*t3, _fma(t11, t2, 0.16666666666666666), _fma(t2, t12, t12))
    t14 = t5 - (t6 - 1.0) + (t4 - (t5 - t2) + _fma(_product_error(t2, t2), 0.5, t13))
    t15 = t6 + t14
    t16 = math.ldexp(1.0, int(t0))
    t17 = t15*t16
    return t17, (t14 - (t15 - t6))*t16, t17*0.6931471805599453


@_helper
def _light_expm1(x):
    """expm1(x), its rounding error, and the slope there."""
    t0 = np.rint(x*1.4426950408889634)
    t1 = math.ldexp(1.0, int(t0))
    t2 = t1 - 1.0
    t3 = _fma(-t0, 0.6931471805598903, x)
    t4 = t0*5.497923018708371e-14
    t5 = t3 - t4
    t6 = t5*t5
    t7 = t6*0.5
    t8 = t5 + t7
    t9 = t1*t8
    t10 = t2 + t9
    t11 = _fma(_fma(1.1470745597729725e-11, t5, 1.6059043836821613e-10), t5, 2.08767569878681e-09)
    t12 = _fma(_fma(t11, t5, 2.505210838544172e-08), t5, 2.755731922398589e-07)
    t13 = _fma(_fma(t12, t5, 2.7557319223985893e-06), t5, 2.48015873015873e-05)
    t14 = _fma(_fma(t13, t5, 0.0001984126984126984), t5, 0.001388888888888889)
    t15 = _fma(_fma(t14, t5, 0.008333333333333333), t5, 0.041666666666666664)
    t16 = t3 - t5 - t4
    t17 = _fma(t5*t6, _fma(t15, t5, 0.16666666666666666), _fma(t5, t16, t16))
    t18 = _fma(t1, t7 - (t8 - t5) + _fma(_product_error(t5, t5), 0.5, t17), _sum_error(t2, t9))
    t19 = t18 + _sum_error(t1, -1.0)
    t20 = t10 + t19
    return t20, t19 - (t20 - t10), t20 + 1.0


@_helper
def _light_log(x):
    """log(x), its rounding error, and the slope there."""
    t0 = float(math.frexp(x*1.4142135623730951)[1] - 1)
    t1 = t0 == 0.0
    t2 = x*math.ldexp(1.0, int(-t0)) - 1.0
    t3 = 2.0 + t2
    t4 = 1.0/t3
    t5 = t2*t4
    t6 = 2.0*t5
    t7 = t0*0.6931471805598903
    t8 = t7 + t6
    t9 = t6 if t1 else t8
    t10 = t5*t5
    t11 = _fma(_fma(0.08, t10, 0.08695652173913043), t10, 0.09523809523809523)
    t12 = _fma(_fma(t11, t10, 0.10526315789473684), t10, 0.11764705882352941)
    t13 = _fma(_fma(t12, t10, 0.13333333333333333), t10, 0.15384615384615385)
    t14 = _fma(_fma(t13, t10, 0.18181818181818182), t10, 0.2222222222222222)
    t15 = -t5
    t16 = t10*_fma(_fma(_fma(t14, t10, 0.2857142857142857), t10, 0.4), t10, 0.6666666666666666)
    t17 = _fma(t5, t16, 2.0*(_fma(t15, _sum_error(2.0, t2) + 0.0, _fma(t15, t3, t2) + 0.0)*t4))
    t18 = t17 if t1 else _fma(t0, 5.497923018708371e-14, t6 - (t8 - t7)) + t17
    t19 = t9 + t18
    return t19, t18 - (t19 - t9), 1.0/x


@_helper
def _light_log10(x):
    """log10(x), its rounding error, and the slope there."""
    t0 = float(math.frexp(x*1.4142135623730951)[1] - 1)
    t1 = t0 == 0.0
    t2 = x*math.ldexp(1.0, int(-t0)) - 1.0
    t3 = 2.0 + t2
    t4 = 1.0/t3
    t5 = t2*t4
    t6 = 2.0*t5
    t7 = t0*0.6931471805598903
    t8 = t7 + t6
    t9 = t6 if t1 else t8
    t10 = t5*t5
    t11 = _fma(_fma(0.08, t10, 0.08695652173913043), t10, 0.09523809523809523)
    t12 = _fma(_fma(t11, t10, 0.10526315789473684), t10, 0.11764705882352941)
    t13 = _fma(_fma(t12, t10, 0.13333333333333333), t10, 0.15384615384615385)
    t14 = _fma(_fma(t13, t10, 0.18181818181818182), t10, 0.2222222222222222)
    t15 = -t5
    t16 = t10*_fma(_fma(_fma(t14, t10, 0.2857142857142857), t10, 0.4), t10, 0.6666666666666666)
    t17 = _fma(t5, t16, 2.0*(_fma(t15, _sum_error(2.0, t2) + 0.0, _fma(t15, t3, t2) + 0.0)*t4))
    t18 = t17 if t1 else _fma(t0, 5.497923018708371e-14, t6 - (t8 - t7)) + t17
    t19 = t9 + t18
    t20 = t19*0.4342944819032518
    t21 = _fma(t19, 1.098319650216765e-17, _product_error(t19, 0.4342944819032518))
    t22 = _fma(t18 - (t19 - t9), 0.4342944819032518, t21)
    t23 = t20 + t22
    return t23, t22 - (t23 - t20), 0.4342944819032518/x


@_helper
def _light_log1p(x):
    """log1p(x), its rounding error, and the slope there."""
    t0 = abs(x - 0.0625) < 0.3125
    t1 = 1.0 + x
    t2 = float(math.frexp(t1*1.4142135623730951)[1] - 1)
    t3 = 0.0 if t0 else t2
    t4 = t3 == 0.0
    t5 = math.ldexp(1.0, int(-t2))
    t6 = x if t0 else t1*t5 - 1.0
    t7 = 2.0 + t6
    t8 = 1.0/t7
    t9 = t6*t8
    t10 = 2.0*t9
    t11 = t3*0.6931471805598903
    t12 = t11 + t10
    t13 = t10 if t4 else t12
    t14 = t9*t9
    t15 = _fma(_fma(0.08, t14, 0.08695652173913043), t14, 0.09523809523809523)
    t16 = _fma(_fma(t15, t14, 0.10526315789473684), t14, 0.11764705882352941)
    t17 = _fma(_fma(t16, t14, 0.13333333333333333), t14, 0.15384615384615385)
    t18 = _fma(_fma(t17, t14, 0.18181818181818182), t14, 0.2222222222222222)
    t19 = -t9
    t20 = 0.0 if t0 else _sum_error(1.0, x)*t5
    t21 = t14*_fma(_fma(_fma(t18, t14, 0.2857142857142857), t14, 0.4), t14, 0.6666666666666666)
    t22 = _fma(t9, t21, 2.0*(_fma(t19, _sum_error(2.0, t6) + t20, _fma(t19, t7, t6) + t20)*t8))
    t23 = t22 if t4 else _fma(t3, 5.497923018708371e-14, t10 - (t12 - t11)) + t22
    t24 = t13 + t23
    return t24, t23 - (t24 - t13), 1.0/t1


@_helper
def _light_log2(x):
    """log2(x), its rounding error, and the slope there."""
    t0 = float(math.frexp(x*1.4142135623730951)[1] - 1)
    t1 = t0 == 0.0
    t2 = x*math.ldexp(1.0, int(-t0)) - 1.0
    t3 = 2.0 + t2
    t4 = 1.0/t3
    t5 = t2*t4
    t6 = 2.0*t5
    t7 = t0*0.6931471805598903
    t8 = t7 + t6
    t9 = t6 if t1 else t8
    t10 = t5*t5
    t11 = _fma(_fma(0.08, t10, 0.08695652173913043), t10, 0.09523809523809523)
    t12 = _fma(_fma(t11, t10, 0.10526315789473684), t10, 0.11764705882352941)
    t13 = _fma(_fma(t12, t10, 0.13333333333333333), t10, 0.15384615384615385)
    t14 = _fma(_fma(t13, t10, 0.18181818181818182), t10, 0.2222222222222222)
    t15 = -t5
    t16 = t10*_fma(_fma(_fma(t14, t10, 0.2857142857142857), t10, 0.4), t10, 0.6666666666666666)
    t17 = _fma(t5, t16, 2.0*(_fma(t15, _sum_error(2.0, t2) + 0.0, _fma(t15, t3, t2) + 0.0)*t4))
    t18 = t17 if t1 else _fma(t0, 5.497923018708371e-14, t6 - (t8 - t7)) + t17
    t19 = t9 + t18
    t20 = t19*1.4426950408889634
    t21 = _fma(t19, 2.0355273740931033e-17, _product_error(t19, 1.4426950408889634))
    t22 = _fma(t18 - (t19 - t9), 1.4426950408889634, t21)
    t23 = t20 + t22
    return t23, t22 - (t23 - t20), 1.4426950408889634/x


@_helper
def _light_sin(x):
    """sin(x), its rounding error, and the slope there."""
    t0 = np.rint(x*0.6366197723675814)
    t1 = t0*0.5
    t2 = np.floor(t1)
    t3 = t2 < t1
    t4 = _fma(-t0, 1.5707963267923333, x)
    t5 = -t0*2.563344151594519e-12
    t6 = t4 + t5
    t7 = _fma(t0, -1.1351118607522202e-28, _product_error(t0, 2.563344151594519e-12))
    t8 = _sum_error(t4, t5) - t7
    t9 = t6 + t8
    t10 = t9*t9
    t11 = t10*(-0.5)
    t12 = 1.0 + t11
    t13 = _fma(4.110317623312165e-19, t10, -1.5619206968586225e-16)
    t14 = _fma(_fma(t13, t10, 4.779477332387385e-14), t10, -1.1470745597729725e-11)
    t15 = _fma(_fma(t14, t10, 2.08767569878681e-09), t10, -2.755731922398589e-07)
    t16 = _fma(_fma(t15, t10, 2.48015873015873e-05), t10, -0.001388888888888889)
    t17 = t9*t10
    t18 = t17*(-0.16666666666666666)
    t19 = t9 + t18
    t20 = _fma(-8.22063524662433e-18, t10, 2.8114572543455206e-15)
    t21 = _fma(_fma(t20, t10, -7.647163731819816e-13), t10, 1.6059043836821613e-10)
    t22 = _fma(_fma(t21, t10, -2.505210838544172e-08), t10, 2.7557319223985893e-06)
    t23 = _product_error(t9, t9)
    t24 = _product_error(t17, -0.16666666666666666)
    t25 = _fma(_fma(t9, t23, _product_error(t9, t10)), -0.16666666666666666, t24)
    t26 = t8 - (t9 - t6)
    t27 = t18 - (t19 - t9) + (_fma(t17, -9.25185853854297e-18, t25) + _fma(-t10*0.5, t26, t26))
    t28 = _fma(_fma(t22, t10, -0.0001984126984126984), t10, 0.008333333333333333)
    t29 = _fma(t17*t10, t28, t27)
    t30 = t19 + t29
    t31 = _fma(-t30, t26, _fma(t23, -0.5, t11 - (t12 - 1.0)))
    t32 = _fma(t10*t10, _fma(t16, t10, 0.041666666666666664), t31)
    t33 = t12 + t32
    t34 = t2*0.5
    t35 = -1.0 if np.floor(t34) < t34 else 1.0
    t36 = np.floor(t1 + 0.5)*0.5
    return (t33 if t3 else t30)*t35, (t32 - (t33 - t12) if t3 else t29 - (t30 - t19))*t35, (t30 if t3 else t33)*(-1.0 if np.floor(t36) < t36 else 1.0)


@_helper
def _light_sinh(x):
    """sinh(x), its rounding error, and the slope there."""
    t0 = abs(x)
    t1 = np.rint(t0*1.4426950408889634)
    t2 = math.ldexp(1.0, int(t1))
    t3 = t2 - 1.0
    t4 = _fma(-t1, 0.6931471805598903, t0)
    t5 = t1*5.497923018708371e-14
    t6 = t4 - t5
    t7 = t6*t6
    t8 = t7*0.5
    t9 = t6 + t8
    t10 = t2*t9
    t11 = t3 + t10
    t12 = _fma(_fma(1.1470745597729725e-11, t6, 1.6059043836821613e-10), t6, 2.08767569878681e-09)
    t13 = _fma(_fma(t12, t6, 2.505210838544172e-08), t6, 2.755731922398589e-07)
    t14 = _fma(_fma(t13, t6, 2.7557319223985893e-06), t6, 2.48015873015873e-05)
    t15 = _fma(_fma(t14, t6, 0.0001984126984126984), t6, 0.001388888888888889)
    t16 = _fma(_fma(t15, t6, 0.008333333333333333), t6, 0.041666666666666664)
    t17 = t4 - t6 - t5
    t18 = _fma(t6*t7, _fma(t16, t6, 0.16666666666666666), _fma(t6, t17, t17))
    t19 = _fma(t2, t8 - (t9 - t6) + _fma(_product_error(t6, t6), 0.5, t18), _sum_error(t3, t10))
    t20 = t19 + _sum_error(t2, -1.0)
    t21 = t11 + t20
    t22 = 1.0 + t21
    t23 = 1.0/t22
    t24 = 1.0*t23
    t25 = t21*t24
    t26 = t21 + t25
    t27 = t20 - (t21 - t11)
    t28 = -t24
    t29 = _sum_error(1.0, t21) + t27
    t30 = _fma(t28, t29, _fma(t28, t22, 1.0) + 0.0)*t23
    t31 = _sum_error(t21, t25) + t27 + _fma(t27, t24, _fma(t21, t30, _product_error(t21, t24)))
    t32 = t26 + t31
    t33 = -0.5 if x < 0.0 else 0.5
    return t32*t33, (t31 - (t32 - t26))*t33, (t22 + t24 + (_sum_error(t22, t24) + t29 + t30))*0.5


@_helper
def _light_tan(x):
    """tan(x), its rounding error, and the slope there."""
    t0 = np.rint(x*0.6366197723675814)
    t1 = t0*0.5
    t2 = np.floor(t1)
    t3 = t2 < t1
    t4 = _fma(-t0, 1.5707963267923333, x)
    t5 = -t0*2.563344151594519e-12
    t6 = t4 + t5
    t7 = _fma(t0, -1.1351118607522202e-28, _product_error(t0, 2.563344151594519e-12))
    t8 = _sum_error(t4, t5) - t7
    t9 = t6 + t8
    t10 = t9*t9
    t11 = t10*(-0.5)
    t12 = 1.0 + t11
    t13 = _fma(4.110317623312165e-19, t10, -1.5619206968586225e-16)
    t14 = _fma(_fma(t13, t10, 4.779477332387385e-14), t10, -1.1470745597729725e-11)
    t15 = _fma(_fma(t14, t10, 2.08767569878681e-09), t10, -2.755731922398589e-07)
    t16 = _fma(_fma(t15, t10, 2.48015873015873e-05), t10, -0.001388888888888889)
    t17 = t9*t10
    t18 = t17*(-0.16666666666666666)
    t19 = t9 + t18
    t20 = _fma(-8.22063524662433e-18, t10, 2.8114572543455206e-15)
    t21 = _fma(_fma(t20, t10, -7.647163731819816e-13), t10, 1.6059043836821613e-10)
    t22 = _fma(_fma(t21, t10, -2.505210838544172e-08), t10, 2.7557319223985893e-06)
    t23 = _product_error(t9, t9)
    t24 = _product_error(t17, -0.16666666666666666)
    t25 = _fma(_fma(t9, t23, _product_error(t9, t10)), -0.16666666666666666, t24)
    t26 = t8 - (t9 - t6)
    t27 = t18 - (t19 - t9) + (_fma(t17, -9.25185853854297e-18, t25) + _fma(-t10*0.5, t26, t26))
    t28 = _fma(_fma(t22, t10, -0.0001984126984126984), t10, 0.008333333333333333)
    t29 = _fma(t17*t10, t28, t27)
    t30 = t19 + t29
    t31 = _fma(-t30, t26, _fma(t23, -0.5, t11 - (t12 - 1.0)))
    t32 = _fma(t10*t10, _fma(t16, t10, 0.041666666666666664), t31)
    t33 = t12 + t32
    t34 = t2*0.5
    t35 = -1.0 if np.floor(t34) < t34 else 1.0
    t36 = (t33 if t3 else t30)*t35
    t37 = np.floor(t1 + 0.5)*0.5
    t38 = -1.0 if np.floor(t37) < t37 else 1.0
    t39 = (t30 if t3 else t33)*t38
    t40 = 1.0/t39
    t41 = t36*t40
    t42 = -t41
    t43 = t29 - (t30 - t19)
    t44 = t32 - (t33 - t12)
    t45 = _fma(t42, (t43 if t3 else t44)*t38, _fma(t42, t39, t36) + (t44 if t3 else t43)*t35)*t40
    t46 = t41 + t45
    return t46, t45 - (t46 - t41), _fma(t46, t46, 1.0)


@_helper
def _light_tanh(x):
    """tanh(x), its rounding error, and the slope there."""
    t0 = 23.0 if x > 23.0 else -23.0 if x < -23.0 else x
    t1 = t0 + t0
    t2 = np.rint(t1*1.4426950408889634)
    t3 = math.ldexp(1.0, int(t2))
    t4 = t3 - 1.0
    t5 = _fma(-t2, 0.6931471805598903, t1)
    t6 = t2*5.497923018708371e-14
    t7 = t5 - t6
    t8 = t7*t7
    t9 = t8*0.5
    t10 = t7 + t9
    t11 = t3*t10
    t12 = t4 + t11
    t13 = _fma(_fma(1.1470745597729725e-11, t7, 1.6059043836821613e-10), t7, 2.08767569878681e-09)
    t14 = _fma(_fma(t13, t7, 2.505210838544172e-08), t7, 2.755731922398589e-07)
    t15 = _fma(_fma(t14, t7, 2.7557319223985893e-06), t7, 2.48015873015873e-05)
    t16 = _fma(_fma(t15, t7, 0.0001984126984126984), t7, 0.001388888888888889)
    t17 = _fma(_fma(t16, t7, 0.008333333333333333), t7, 0.041666666666666664)
    t18 = t5 - t7 - t6
    t19 = _fma(t7*t8, _fma(t17, t7, 0.16666666666666666), _fma(t7, t18, t18))
    t20 = _fma(t3, t9 - (t10 - t7) + _fma(_product_error(t7, t7), 0.5, t19), _sum_error(t4, t11))
    t21 = t20 + _sum_error(t3, -1.0)
    t22 = t12 + t21
    t23 = t22 + 2.0
    t24 = 1.0/t23
    t25 = t22*t24
    t26 = -t25
    t27 = t21 - (t22 - t12)
    t28 = _fma(t26, _sum_error(t22, 2.0) + t27, _fma(t26, t23, t22) + t27)*t24
    t29 = t25 + t28
    return t29, t28 - (t29 - t25), _fma(-t29, t29, 1.0)


@_helper
def _log(x):
    """log(x)."""
    t0 = _pair_log(x[0])
    t1 = _pair_add(_pair_mul((x[1], 0.0), (0.6931471805599453, 2.3190468138462996e-17)), t0)
    t2 = _scaled(t0 if x[1] == 0.0 else t1, 0.0)
    t3 = t2[0][0]
    return t2 if t3 == t3 else _number(math.log(_double(x)))


@_helper
def _pair_log10(x):
    """pair_log10(x)."""
    return _pair_mul(_pair_log(x), (0.4342944819032518, 1.098319650216765e-17))


@_helper
def _log10(x):
    """log10(x)."""
    t0 = _scaled(_pair_log10(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.log10(_double(x)))


@_helper
def _log1p(x):
    """log1p(x)."""
    t0 = x if x[1] < 0.0 else _log(x) if x[1] > 0.0 else _scaled(_pair_log1p(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.log1p(_double(x)))


@_helper
def _pair_log2(x):
    """pair_log2(x)."""
    t0 = float(math.frexp(x[0])[1] - 1)
    t1 = _pair_shift(x, -t0)
    t2 = t1[0] > 1.4140625
    t3 = _pair_small_log1p(_pair_add_double(_pair_scale(t1, 0.5) if t2 else t1, -1.0))
    t4 = (1.4426950408889634, 2.0355273740931033e-17)
    t5 = _pair_mul(t3 if x[0] > 0.0 else (math.nan, 0.0), t4)
    return _pair_add_double(t5, t0 + 1.0 if t2 else t0)


@_helper
def _log2(x):
    """log2(x)."""
    t0 = _scaled(_pair_log2(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.log2(_double(x)))


def _only_numbers(*args):
    """Compiled functions call those of this module with numbers alone."""
    if any(hasattr(a, "ndim") for a in args):
        raise TypingError("arguments are numbers here: call it in a loop over the elements")


@_helper
def _pair_ceil(x):
    """pair_ceil(x)."""
    t0 = np.ceil(x[0])
    return _fast_two_sum(t0, np.ceil(x[1])) if t0 == x[0] else (t0, 0.0)


@_helper
def _pair_cos(x):
    """pair_cos(x)."""
    t0 = np.rint(x[0]*0.6366197723675814)
    t1 = t0 - 4.0*np.floor(t0*0.25)
    t2 = _pair_add(x, _pair_neg(_two_product(t0, 1.5707963267948966)))
    t3 = _pair_add(t2, _pair_neg(_two_product(t0, 6.123233995736766e-17)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t0, -1.4973849048591698e-33)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t0, 5.562271104316826e-50)))
    t6 = t5 if abs(x[0]) <= 100000.0 else (math.nan, 0.0)
    t7 = _pair_mul(t6, t6)
    t8 = _pair_mul(t6, _polynomial(t7, _SIN_TERMS_, _SIN_TAIL_))
    t9 = t8 if t1 == 1.0 or t1 == 3.0 else _polynomial(t7, _SIN_TERMS, _SIN_TAIL)
    return _pair_neg(t9) if abs(t1 - 1.5) == 0.5 else t9


@_helper
def _pair_cosh(x):
    """pair_cosh(x)."""
    t0 = _pair_exp(_pair_magnitude(x))
    return _pair_scale(_pair_add(t0, _pair_div((1.0, 0.0), t0)), 0.5)


@_helper
def _pair_floor(x):
    """pair_floor(x)."""
    t0 = np.floor(x[0])
    return _fast_two_sum(t0, np.floor(x[1])) if t0 == x[0] else (t0, 0.0)


@_helper
def _pair_hypot(x, y):
    """pair_hypot(x, y)."""
    t0 = _pair_magnitude(x)
    t1 = _pair_magnitude(y)
    t2 = t1[0] if t0[0] < t1[0] else t0[0]
    t3 = float(math.frexp(t2)[1] - 1)
    t4 = -t3
    t5 = _pair_shift(t0, t4)
    t6 = _pair_shift(t1, t4)
    t7 = _pair_shift(_pair_sqrt(_pair_add(_pair_mul(t5, t5), _pair_mul(t6, t6))), t3)
    return (0.0, 0.0) if t2 == 0.0 else t7


@_helper
def _pair_power(x, y):
    """x**y over the reals: for x < 0 the exponent must be an integer."""
    t0 = _pair_scale(y, 0.5)
    t1 = _pair_exp(_pair_mul(y, _pair_log(_pair_magnitude(x))))
    t2 = _pair_neg(t1) if not _pair_floor(t0) == t0 else t1
    t3 = (t2 if _pair_floor(y) == y else (math.nan, 0.0)) if x[0] < 0.0 else t1
    t4 = (0.0 if y[0] > 0.0 else math.inf, 0.0) if x[0] == 0.0 else t3
    return (1.0, 0.0) if y[0] == 0.0 else t4


@_helper
def _pair_rint(x):
    """The nearest integer, ties to even."""
    t0 = np.rint(x[0])
    t1 = np.floor(x[0])
    t2 = abs(x[0] - t1) == 0.5 and not x[1] == 0.0
    t3 = ((t1 if x[1] < 0.0 else np.ceil(x[0])) if t2 else t0, 0.0)
    return _fast_two_sum(t0, np.rint(x[1])) if t0 == x[0] else t3


@_helper
def _pair_sin(x):
    """pair_sin(x)."""
    t0 = np.rint(x[0]*0.6366197723675814)
    t1 = t0 - 4.0*np.floor(t0*0.25)
    t2 = _pair_add(x, _pair_neg(_two_product(t0, 1.5707963267948966)))
    t3 = _pair_add(t2, _pair_neg(_two_product(t0, 6.123233995736766e-17)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t0, -1.4973849048591698e-33)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t0, 5.562271104316826e-50)))
    t6 = t5 if abs(x[0]) <= 100000.0 else (math.nan, 0.0)
    t7 = _pair_mul(t6, t6)
    t8 = _pair_mul(t6, _polynomial(t7, _SIN_TERMS_, _SIN_TAIL_))
    t9 = _polynomial(t7, _SIN_TERMS, _SIN_TAIL) if t1 == 1.0 or t1 == 3.0 else t8
    return _pair_neg(t9) if t1 > 1.5 else t9


@_helper
def _pair_sinh(x):
    """pair_sinh(x)."""
    t0 = _pair_expm1(_pair_magnitude(x))
    t1 = _pair_scale(_pair_add(t0, _pair_div(t0, _pair_add_double(t0, 1.0))), 0.5)
    return _pair_neg(t1) if x[0] < 0.0 else t1


@_helper
def _pair_tan(x):
    """pair_tan(x)."""
    t0 = np.rint(x[0]*0.6366197723675814)
    t1 = t0 - 4.0*np.floor(t0*0.25)
    t2 = t1 == 1.0 or t1 == 3.0
    t3 = _pair_add(x, _pair_neg(_two_product(t0, 1.5707963267948966)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t0, 6.123233995736766e-17)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t0, -1.4973849048591698e-33)))
    t6 = _pair_add(t5, _pair_neg(_two_product(t0, 5.562271104316826e-50)))
    t7 = t6 if abs(x[0]) <= 100000.0 else (math.nan, 0.0)
    t8 = _pair_mul(t7, t7)
    t9 = _polynomial(t8, _SIN_TERMS, _SIN_TAIL)
    t10 = _pair_mul(t7, _polynomial(t8, _SIN_TERMS_, _SIN_TAIL_))
    return _pair_div(_pair_neg(t9) if t2 else t10, t10 if t2 else t9)


@_helper
def _pair_tanh(x):
    """pair_tanh(x)."""
    t0 = _pair_magnitude(x)
    t1 = (-40.0, 0.0) if t0[0] < -40.0 else t0
    t2 = _pair_expm1(_pair_scale((40.0, 0.0) if t1[0] > 40.0 else t1, 2.0))
    t3 = _pair_div(t2, _pair_add_double(t2, 2.0))
    return _pair_neg(t3) if x[0] < 0.0 else t3


@_helper
def _pair_trunc(x):
    """pair_trunc(x)."""
    return _pair_ceil(x) if x[0] < 0.0 else _pair_floor(x)


@_helper
def _pow(x, y):
    """pow(x, y)."""
    t0 = x[0][0]
    t1 = _usual(y)
    t2 = _pair_scale(t1, 0.5)
    t3 = _exp(_mul(y, _log(_abs(x))))
    t4 = _neg(t3) if not _pair_floor(t2) == t2 else t3
    t5 = (t4 if _pair_floor(t1) == t1 else ((math.nan, 0.0), 0.0)) if t0 < 0.0 else t3
    t6 = ((0.0 if t1[0] > 0.0 else math.inf, 0.0), 0.0) if t0 == 0.0 else t5
    t7 = ((1.0, 0.0), 0.0) if y[0][0] == 0.0 else t6
    t8 = t7[0][0]
    return t7 if t8 == t8 else _number(math.pow(_double(x), _double(y)))


@_helper
def _rounded(x, step):
    """An integer near x: x itself where that is huge."""
    return x if x[1] > 0.0 else _scaled(step, 0.0)


@_helper
def _sin(x):
    """sin(x)."""
    t0 = _usual(x)
    t1 = np.rint(t0[0]*0.6366197723675814)
    t2 = t1 - 4.0*np.floor(t1*0.25)
    t3 = _pair_add(t0, _pair_neg(_two_product(t1, 1.5707963267948966)))
    t4 = _pair_add(t3, _pair_neg(_two_product(t1, 6.123233995736766e-17)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t1, -1.4973849048591698e-33)))
    t6 = _pair_add(t5, _pair_neg(_two_product(t1, 5.562271104316826e-50)))
    t7 = _pair_add(t6, _pair_neg(_two_product(t1, 2.836115989820158e-66)))
    t8 = _pair_add(t7, _pair_neg(_two_product(t1, 8.724931080676303e-84)))
    t9 = t8 if abs(t0[0]) <= 1000000000000000.0 else (math.nan, 0.0)
    t10 = _pair_mul(t9, t9)
    t11 = _pair_mul(t9, _polynomial(t10, _SIN_TERMS_, _SIN_TAIL_))
    t12 = _polynomial(t10, _SIN_TERMS, _SIN_TAIL) if t2 == 1.0 or t2 == 3.0 else t11
    t13 = x if x[1] < 0.0 else _scaled(_pair_neg(t12) if t2 > 1.5 else t12, 0.0)
    t14 = t13[0][0]
    return t13 if t14 == t14 else _number(math.sin(_double(x)))


@_helper
def _sinh(x):
    """sinh(x)."""
    t0 = _usual(x)
    t1 = _exp(x)
    t2 = _mul(_sub(t1, _div(_number(1.0), t1)), _number(0.5))
    t3 = t2 if abs(t0[0]) > 40.0 else x if x[1] < 0.0 else _scaled(_pair_sinh(t0), 0.0)
    t4 = t3[0][0]
    return t3 if t4 == t4 else _number(math.sinh(_double(x)))


def _stack(values, shape):
    """Results as one array with the leading axes of `shape`."""
    return np.stack(np.broadcast_arrays(*values)).reshape(shape + np.shape(values[0]))


@_helper
def _tan(x):
    """tan(x)."""
    t0 = _usual(x)
    t1 = np.rint(t0[0]*0.6366197723675814)
    t2 = t1 - 4.0*np.floor(t1*0.25)
    t3 = t2 == 1.0 or t2 == 3.0
    t4 = _pair_add(t0, _pair_neg(_two_product(t1, 1.5707963267948966)))
    t5 = _pair_add(t4, _pair_neg(_two_product(t1, 6.123233995736766e-17)))
    t6 = _pair_add(t5, _pair_neg(_two_product(t1, -1.4973849048591698e-33)))
    t7 = _pair_add(t6, _pair_neg(_two_product(t1, 5.562271104316826e-50)))
    t8 = _pair_add(t7, _pair_neg(_two_product(t1, 2.836115989820158e-66)))
    t9 = _pair_add(t8, _pair_neg(_two_product(t1, 8.724931080676303e-84)))
    t10 = t9 if abs(t0[0]) <= 1000000000000000.0 else (math.nan, 0.0)
    t11 = _pair_mul(t10, t10)
    t12 = _polynomial(t11, _SIN_TERMS, _SIN_TAIL)
    t13 = _pair_mul(t10, _polynomial(t11, _SIN_TERMS_, _SIN_TAIL_))
    t14 = _scaled(_pair_div(_pair_neg(t12) if t3 else t13, t13 if t3 else t12), 0.0)
    t15 = x if x[1] < 0.0 else t14
    t16 = t15[0][0]
    return t15 if t16 == t16 else _number(math.tan(_double(x)))


@_helper
def _tanh(x):
    """tanh(x)."""
    t0 = x if x[1] < 0.0 else _scaled(_pair_tanh(_usual(x)), 0.0)
    t1 = t0[0][0]
    return t0 if t1 == t1 else _number(math.tanh(_double(x)))


@_helper
def _tiny(x, least):
    """Whether a number is so small that products of it may underflow."""
    return (abs(x) < least) & (x != 0.0)
