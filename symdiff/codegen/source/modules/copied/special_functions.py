"""Special functions of balls on Python's integers, of which modules contain copies.

Before : x, a ball of `integer_balls`.
After  : `_integer_erf(x)`, which is `x.erf()`, a ball that holds the value.
Ensures: as there; nan beyond 2500 bits where Bernoulli's numbers would take too long.

Nothing here is called by symdiff: `codegen.source.modules.helpers` copies what a module uses.
"""

# mypy: ignore-errors

import math


def _integer_erf(x):
    """The error function."""
    if x.r and x.r.bit_length() + x.e > 0:  # wide
        return _between(x.lower().erf().lower(), x.upper().erf().upper())
    a = x.mid()
    square = a * a
    if square > _BITS[0] + 8:
        value = 1 - abs(a).erfc()
        value = -value if a.m < 0 else value
    else:
        w = _BITS[0] + 40
        y = _fixed(2 * a.m * a.m, 2 * a.e + w)
        term = total = 1 << w
        n = 0
        while term:
            n += 1
            term = (term * y >> w) // (2 * n + 1)
            total += term
        error = (8 + 4 * n) * ((total >> w) + 1)
        value = 2 * a * _integer(total, error, -w) * (-square).exp() / _integer_pi().sqrt()
    if x.r == 0:
        return value
    near = _Ball(max(0, abs(x.m) - x.r), 0, x.e)
    return _widened(value, _Ball(2 * x.r, 0, x.e) * (-near * near).exp())


def _integer_erfc(x):
    """1 - erf(x)."""
    if x.r and x.r.bit_length() + x.e > 0:  # wide
        return _between(x.upper().erfc().lower(), x.lower().erfc().upper())
    a = x.mid()
    square = a * a
    if a.m > 0 and _size(square) > 4000:  # from 0 to exp(-x*x), whose exponent has no digits
        return (-square).exp()
    if a.m <= 0:
        value = 1 + (-a).erf()
    elif square * 10 > 7 * _BITS[0] + 300:  # its asymptotic series, which envelops it
        w = _BITS[0] + 20
        y = _fixed(square.m, square.e + w)
        term, total, n = 1 << w, 0, 0
        while term:
            total += -term if n % 2 else term
            n += 1
            term = ((2 * n - 1) * term << (w - 1)) // y
        value = _integer(total, 2 * n + 8, -w) * (-square).exp() / (a * _integer_pi().sqrt())
    else:
        value = _sharper(int(1.5 * float(square)) + 32, lambda a: 1 - a.erf(), a)
    if x.r == 0:
        return value
    near = _Ball(max(0, x.m - x.r), 0, x.e)
    return _widened(value, _Ball(2 * x.r, 0, x.e) * (-near * near).exp())


_BERNOULLI = [(1, 1)]
"""Numerators and denominators of B(0), B(2), B(4), ..."""


def _bernoulli(k):
    """B(2*k), as a ball, by B(n) = -sum(C(n + 1, j)*B(j), j < n)/(n + 1)."""
    while len(_BERNOULLI) <= k:
        n = 2 * len(_BERNOULLI)
        common = math.lcm(2, *(d for _, d in _BERNOULLI))
        total = -(n + 1) * common // 2  # of B(1) = -1/2
        for i, (top, below) in enumerate(_BERNOULLI):
            total += math.comb(n + 1, 2 * i) * top * (common // below)
        shared = math.gcd(total, common * (n + 1))
        _BERNOULLI.append((-total // shared, common * (n + 1) // shared))
    top, below = _BERNOULLI[k]
    return _Ball(top) / below


def _asymptotic(term):
    """term(1) + term(2) + ..., whose error is less than the first term that is left out."""
    total, k = _Ball(0), 1
    while True:
        part = term(k)
        if part.r < 0:
            return part
        if k > 600 or _size(part) < _size(total) - _BITS[0] or _size(part) < -9 * _BITS[0]:
            return _widened(total, part)
        total, k = total + part, k + 1


def _shifted_up(x, each):
    """x + n, large enough for asymptotic series, and the sum of each(x + i) for i < n."""
    n = max(0, _BITS[0] // 4 + 4 - int(float(x.mid()))) if _size(x) < 40 else 0
    total = _Ball(0)
    for i in range(n):
        total = total + each(x + i)
    return x + n, total


def _integer_lgamma(x):
    """log(gamma(x)) for positive x, by Stirling's series."""
    if x.m <= x.r or _BITS[0] > 2500:
        return _Ball(0, -1)
    if (x - 1) * (x - 2) == 0:
        return _Ball(0)
    product = [_Ball(1)]

    def each(y):
        product[0] = product[0] * y
        return _Ball(0)

    z, _ = _shifted_up(x, each)
    series = _asymptotic(lambda k: _bernoulli(k) / (2 * k * (2 * k - 1) * z ** (2 * k - 1)))
    half = _Ball(1, 0, -1)
    value = (z - half) * z.log() - z + (2 * _integer_pi()).log() * half + series
    return value - product[0].log()


def _integer_gamma(x):
    """The gamma function."""
    if x.m > x.r:
        return x.lgamma().exp()
    return 1 / (x * x.sinc_pi() * (1 - x).lgamma().exp())


def _integer_digamma(x):
    """The derivative of log(gamma(x))."""
    if x.m <= x.r:
        if x.e >= 0:
            return _Ball(0, -1)
        pi, beside = _integer_pi(), x - _nearest(x)
        if not beside.m or abs(beside.m) <= beside.r:  # a pole
            return _Ball(0, -1)
        return (1 - x).digamma() - pi / (pi * beside).tan()
    if _BITS[0] > 2500:
        return _Ball(0, -1)
    z, total = _shifted_up(x, lambda y: 1 / y)
    series = _asymptotic(lambda k: _bernoulli(k) / (2 * k * z ** (2 * k)))
    return z.log() - 1 / (2 * z) - series - total


def _integer_hurwitz(x, s):
    """The sum of 1/(x + i)**s over all i, for positive x."""
    if x.m <= x.r or _BITS[0] > 2500:
        return _Ball(0, -1)
    z, total = _shifted_up(x, lambda y: 1 / y**s)

    def term(k):
        rising = math.perm(s + 2 * k - 2, 2 * k - 1)
        return _bernoulli(k) * rising / (math.factorial(2 * k) * z ** (s + 2 * k - 1))

    return total + 1 / ((s - 1) * z ** (s - 1)) + 1 / (2 * z**s) + _asymptotic(term)
