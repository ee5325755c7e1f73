"""Guards that belong together: on one condition, and around a quantity of either sign."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from symdiff import symgrad
from tests.passes.evaluate import slope

pytestmark = pytest.mark.filterwarnings("error::symdiff.ValidationWarning")


def bond(r, k, m, s, t):
    b = (1 - math.exp(-k * t)) / k if k else t
    a = (
        math.exp((m - s**2 / (2 * k**2)) * (b - t) - s**2 * b**2 / (4 * k))
        if k
        else math.exp(s**2 * t**3 / 6)
    )
    return a * math.exp(-b * r)


@pytest.mark.slow
def test_two_guards_of_one_quantity_whose_values_overflow_at_large_samples():
    at = (0.02, 0.0, 0.05, 0.15, 2.0)

    def smooth(k):
        r, m, s, t = map(mpf, (at[0], at[2], at[3], at[4]))
        b = (1 - mp.exp(-k * t)) / k
        return mp.exp((m - s**2 / (2 * k**2)) * (b - t) - s**2 * b**2 / (4 * k) - b * r)

    f = symgrad(bond, cache=False)
    assert f(*at) == pytest.approx(bond(*at), rel=1e-15)
    assert f.grad(*at)[1] == pytest.approx(slope(smooth, [0.0]), rel=1e-14)


def premium(x, k, t):
    shift = t - x / k if k != 0 else t
    b = (1 - math.exp(-k)) / k if k else 1.0
    return shift * b


def premium_of_difference(x, k, t):
    shift = t - x / k if k != 0 else t
    b = (1 - math.exp(-k)) / k if k else 1.0
    return shift * (b - 1)


def premium_of_band(x, k, t):
    shift = t - x / k if k != 0 else t
    b = (1 - math.exp(-k)) / k if abs(k) > 1e-8 else 1.0
    return shift * b


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "slopes"),
    [(premium, (0.0, 0.0, 1.0)), (premium_of_difference, (0.0, 0.0, 0.0)),
     (premium_of_band, (0.0, 0.0, 1.0))],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::symdiff.GuardWarning")
def test_where_one_of_two_guards_is_no_limit_derivatives_are_those_of_the_branch(f, slopes):
    g = symgrad(f, cache=False)
    assert g(1.0, 0.0, 2.0) == f(1.0, 0.0, 2.0)
    assert g.grad(1.0, 0.0, 2.0) == slopes
    assert g(1.0, 0.5, 2.0) == pytest.approx(f(1.0, 0.5, 2.0), rel=1e-15)


@pytest.mark.slow
def test_a_guard_of_another_point_stays_smooth():
    def f(x, k, t):
        shift = t - x / k if k != 0 else t
        return shift + (math.sin(x) / x if x else 1.0) ** 2 * math.exp(x)

    assert symgrad(f, cache=False).grad(0.0, 0.0, 2.0) == (1.0, 0.0, 1.0)


def test_an_unguarded_quotient_beside_a_jump_raises_no_alarm():
    def f(x, k, t):
        shift = t - x / k if k != 0 else t
        return shift * ((1 - math.exp(-k)) / k)

    assert symgrad(f, cache=False)(1.0, 0.0, 2.0) == 2.0


def sines(z):
    """sin(sqrt(z))/sqrt(z), for z of either sign."""
    if z > 0:
        return math.sin(math.sqrt(z)) / math.sqrt(z)
    return math.sinh(math.sqrt(-z)) / math.sqrt(-z) if z < 0 else 1.0


def cosines(z):
    """(1 - cos(sqrt(z)))/z, with its series in a band."""
    if z > 1e-6:
        return (1 - math.cos(math.sqrt(z))) / z
    if z < -1e-6:
        return (math.cosh(math.sqrt(-z)) - 1) / -z
    return 0.5 - z / 24 + z**2 / 720


def halves(z):
    """The same, with a constant in the band; the sides share a name."""
    if z > 1e-6:
        s = math.sqrt(z)
        return (1 - math.cos(s)) / s**2
    elif z < -1e-6:
        s = math.sqrt(-z)
        return (math.cosh(s) - 1) / s**2
    return 0.5


QUANTITIES = {
    "product": (lambda a, c: a * c * c, lambda a, c: (c * c, 2 * a * c)),
    "power": (lambda a, c: a * c**2, lambda a, c: (c * c, 2 * a * c)),
    "shifted": (lambda a, c: (a + 1) * c, lambda a, c: (c, a + 1)),
}
SLOPES = {sines: -1 / 6, cosines: -1 / 24, halves: -1 / 24}


@pytest.mark.sampled
@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("g", SLOPES)
def test_three_branches_on_the_sign_of_a_product(g, name):
    z, slopes = QUANTITIES[name]
    f = symgrad(lambda a, c: g(z(a, c)), cache=False)
    for at in ((1.0, 0.0), (-2.0, 0.0), (0.0, 0.0), (3.0, 0.0), (0.0, 1e-9)):
        assert f(*at) == pytest.approx(g(z(*at)), rel=1e-9)
        true = [SLOPES[g] * d for d in slopes(*at)]
        for a, b in zip(f.grad(*at), true, strict=True):  # 0 along what does not leave the band
            assert a == pytest.approx(b, rel=1e-6, abs=1e-300) or (a == 0 and abs(b) < 1e-9)
    assert np.array_equal(f(np.array([1.0, 2.0]), np.zeros(2)), [g(0.0)] * 2)


@pytest.mark.slow
def test_universal_variables_at_the_start():
    def f(chi, alpha):
        z = alpha * chi**2
        if z > 0:
            s = math.sqrt(z)
            return chi**3 * ((s - math.sin(s)) / s**3)
        if z < 0:
            s = math.sqrt(-z)
            return chi**3 * ((math.sinh(s) - s) / s**3)
        return chi**3 / 6

    g = symgrad(f, cache=False)
    assert g(0.0, 1.0) == 0.0
    assert g.grad(0.0, 1.0) == (0.0, 0.0)


def test_a_product_is_completed_as_one_quantity():
    f = symgrad(lambda x, y: math.sin(math.sqrt(x * y * y)) / math.sqrt(x * y * y), cache=False)
    for at in ((2.0, 0.0), (0.0, 2.0), (0.0, 0.0)):
        assert f(*at) == 1.0
    assert f.grad(0.0, 2.0) == (pytest.approx(-4 / 6), 0.0)


def quantile(p, m, s, xi):
    return m + s * ((-math.log(p)) ** (-xi) - 1) / xi if xi else m - s * math.log(-math.log(p))


@pytest.mark.slow
def test_a_guard_beside_a_probability():
    """Both sides are defined for 0 < p < 1 only."""
    f = symgrad(quantile, cache=False)
    assert f.grad(0.3, 0.0, 1.0, 0.0)[3] == pytest.approx(math.log(-math.log(0.3)) ** 2 / 2)
