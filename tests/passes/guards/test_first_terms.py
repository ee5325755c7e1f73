"""Guards whose formula is the first term of a series that depends on the small quantity itself, too."""

from __future__ import annotations

import math
import types

import mpmath
import pytest

from symdiff import GuardWarning, symgrad
from tests.passes.evaluate import slope


def damped(t, w, z):
    d = 1 - z * z
    if abs(d) < 1e-12:
        return math.exp(-z * w * t) * w * t
    if d > 0:
        return math.exp(-z * w * t) * math.sin(w * math.sqrt(d) * t) / math.sqrt(d)
    return math.exp(-z * w * t) * math.sinh(w * math.sqrt(-d) * t) / math.sqrt(-d)


def between(t, z):
    d = 1 - z * z
    if d > 1e-12:
        return z * math.sin(math.sqrt(d) * t) / math.sqrt(d)
    elif d < -1e-12:
        return z * math.sinh(math.sqrt(-d) * t) / math.sqrt(-d)
    else:
        return z * t


def distance(z, om, ok):
    dc = z / math.sqrt(om * (1 + z) ** 3 + ok * (1 + z) ** 2 + 1 - om - ok)
    if abs(ok) < 1e-10:
        return dc
    if ok > 0:
        return math.sinh(math.sqrt(ok) * dc) / math.sqrt(ok)
    return math.sin(math.sqrt(-ok) * dc) / math.sqrt(-ok)


def circuit(t, a, w):
    d = w * w - a * a
    if abs(d) < 1e-10:
        return t * math.exp(-a * t)
    if d > 0:
        return math.exp(-a * t) * math.sin(math.sqrt(d) * t) / math.sqrt(d)
    return math.exp(-a * t) * math.sinh(math.sqrt(-d) * t) / math.sqrt(-d)


def spring(t, m, c, k):
    d = c * c - 4 * k * m
    if abs(d) < 1e-10:
        return t / m * math.exp(-c * t / (2 * m))
    s = math.sqrt(abs(d)) / (2 * m)
    return math.exp(-c * t / (2 * m)) * (math.sinh(s * t) if d > 0 else math.sin(s * t)) / (s * m)


def spheroid(a, c):
    if a == c:
        return 4 * math.pi * a * a
    if c < a:
        e = math.sqrt(1 - c * c / a / a)
        return 2 * math.pi * a * a * (1 + (1 - e * e) / e * math.atanh(e))
    e = math.sqrt(1 - a * a / c / c)
    return 2 * math.pi * a * a * (1 + c / (a * e) * math.asin(e))


def growth(x, k):
    d = math.log1p(x * (1 + k))
    if abs(k) < 1e-10:
        return d
    return math.expm1(k * d) / k


def lens(x, y, q):
    psi = math.sqrt(q * q * x * x + y * y)
    f = math.sqrt(abs(1 - q * q))
    if f < 1e-6:
        return x / psi
    return (math.atan(f * x / psi) if q < 1 else math.atanh(f * x / psi)) / f


def decays(n, a, b, t):
    if abs(a - b) < 1e-10:
        return n * a * t * math.exp(-a * t)
    return n * a / (b - a) * (math.exp(-a * t) - math.exp(-b * t))


def extreme(x, mu, s, xi):
    z = (x - mu) / (s * (1 + xi))
    if abs(xi) < 1e-9:
        return math.exp(-z)
    return (1 + xi * z) ** (-1 / xi)


def logarithmic_mean(a, b):
    if abs(a - b) < 1e-9:
        return math.sqrt(a * b)
    return (a - b) / math.log(a / b)


def universal(r, v, a):
    """A function of Stumpff, of a quantity that is a quotient itself."""
    al = 2 / r - v * v / a
    s = r * v / (1 + al)
    z = al * s * s
    if abs(z) < 1e-10:
        return s * s / 2
    if z > 0:
        return s * s * (1 - math.cos(math.sqrt(z))) / z
    return s * s * (math.cosh(math.sqrt(-z)) - 1) / -z


def differences(f, at):
    """Slopes by differences of the same code in 70 digits, which leave the guards' bands."""
    exact = types.FunctionType(f.__code__, {**f.__globals__, "math": mpmath})
    wide, narrow = ([slope(exact, at, i, h) for i in range(len(at))] for h in (2e-6, 1e-6))
    return tuple((4 * a - b) / 3 for a, b in zip(narrow, wide, strict=True))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "at"),
    [
        (damped, (1.0, 2.0, 1.0)),
        pytest.param(between, (1.0, -1.0), marks=pytest.mark.slow),
        (distance, (1.0, 0.3, 0.0)),
        pytest.param(circuit, (1.0, 2.0, 2.0), marks=pytest.mark.slow),
        (spring, (1.0, 1.0, 4.0, 4.0)),
        (spheroid, (1.0, 1.0)),
        (growth, (1.0, 0.0)),
        (lens, (0.3, 0.2, 1.0)),
        (decays, (1.0, 0.5, 0.5, 2.0)),
        (extreme, (1.0, 0.2, 1.5, 0.0)),
        (logarithmic_mean, (2.0, 2.0)),
        (universal, (2.0, 1.0, 1.0)),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
@pytest.mark.filterwarnings("error")
def test_the_slope_in_the_band_is_that_of_the_function(f, at):
    got = symgrad(f).grad(*at)
    assert got == pytest.approx(differences(f, at), rel=1e-9, abs=1e-12)
    assert symgrad(f)(*at) == pytest.approx(f(*at), rel=1e-15)


def test_a_root_that_vanishes_at_the_end_of_its_domain():
    @symgrad
    def deflection(q):
        f = math.sqrt(1 - q * q)
        if f < 1e-6:
            return 1 / q
        return math.atan(f / q) / f

    for at in (1.0, 1 - 1e-15):
        assert deflection.grad(at) == pytest.approx(-1 / 3, rel=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [
    lambda x: 1 + x * x / 6 if abs(x) < 1e-5 else math.sin(x) / x,  # a wrong sign
    lambda x: 1 + x / 1024 if abs(x) < 1e-5 else math.sin(x) / x,  # a wrong slope
    lambda x: 1 - x * x / 5 if abs(x) < 1e-3 else math.sin(x * x) / (x * x),  # a power in both
])  # fmt: skip
def test_a_series_with_another_term_is_named(f):
    with pytest.warns(GuardWarning, match="not the value without it"):
        symgrad(f).grad(0.5)


def odds(p):
    p = min(max(p, 1e-9), 1 - 1e-9)
    return math.log(p / (1 - p))


def log_odds(p):
    p = min(max(p, 1e-9), 1 - 1e-9)
    return math.log(p) - math.log(1 - p)


def one_sided(p):
    p = max(p, 1e-6)
    return p / (2 - p)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [odds, log_odds, one_sided])
@pytest.mark.filterwarnings("error")
def test_a_clip_that_keeps_away_from_no_singular_point_is_no_guard(f):
    assert symgrad(f).grad(0.25) == pytest.approx(differences(f, (0.25,))[0], rel=1e-9)
    assert symgrad(f).grad(-1.0) == 0.0


def test_a_clip_that_keeps_away_from_one_is():
    with pytest.warns(GuardWarning, match="is not the limit"):
        symgrad(lambda p: math.sin(p) / max(p, 1e-6)).grad(0.25)
