"""Means and divided differences whose guard is on the difference of functions of both arguments."""

from __future__ import annotations

import math

import mpmath
import pytest

from symdiff import symgrad

EPS = 1e-12


def of_logarithm(a, b):
    d = math.log(b / a)
    return (b - a) / d if abs(d) > EPS else a


def of_logarithms(a, b):
    d = math.log(b) - math.log(a)
    if d == 0:
        return a
    return (b - a) / d


def of_sines(a, b):
    d = math.sin(b) - math.sin(a)
    return (b - a) / d if d else 1 / math.cos(a)


def of_exponentials(a, b):
    d = math.exp(b) - math.exp(a)
    return (b - a) / d if abs(d) > EPS else math.exp(-a)


def of_tangents(a, b):
    d = math.tan(b) - math.tan(a)
    return (b - a) / d if abs(d) >= EPS else math.cos(a) ** 2


def of_latitudes(a, b):
    d = math.log(math.tan(math.pi / 4 + b / 2) / math.tan(math.pi / 4 + a / 2))
    return (b - a) / d if abs(d) > EPS else math.cos(a)


AT = 0.5
SLOPES = {  # of the mean, by symmetry half of that of its value for equal arguments
    of_logarithm: 0.5,
    of_logarithms: 0.5,
    of_sines: math.sin(AT) / math.cos(AT) ** 2 / 2,
    of_exponentials: -math.exp(-AT) / 2,
    of_tangents: -math.sin(AT) * math.cos(AT),
    of_latitudes: -math.sin(AT) / 2,
}


@pytest.mark.sampled
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("error")
def test_the_slopes_of_a_mean_of_equal_arguments(f):
    g = symgrad(f)
    assert g(AT, AT) == pytest.approx(f(AT, AT), rel=1e-15)
    assert g.grad(AT, AT) == pytest.approx((SLOPES[f],) * 2, rel=1e-14)
    assert g(0.4, 0.7) == pytest.approx(f(0.4, 0.7), rel=1e-14)


@pytest.mark.slow
def test_second_derivatives_of_the_logarithmic_mean():
    with mpmath.workdps(60):
        h, a = mpmath.mpf(10) ** -15, mpmath.mpf(AT)
        mean = lambda x, y: (y - x) / mpmath.log(y / x)
        along = (mean(a + h, a - 2 * h) - 2 * a + mean(a - h, a + 2 * h)) / h**2
        truth = -along / 9  # the mean is homogeneous: f_aa = f_bb = -f_ab where a = b
    bend = symgrad(of_logarithm).hessian(AT, AT)
    assert bend[0][1] == pytest.approx(float(truth), rel=1e-5)
    assert bend[0][0] == pytest.approx(-bend[0][1], rel=1e-14)


@pytest.mark.slow
def test_where_the_difference_vanishes_elsewhere_the_guard_stays():
    def band(a, b):
        d = math.sin(b) - math.sin(a)
        return (b - a) / d if abs(d) > 1e-12 else 7 * a

    def right(a, b):
        d = math.sin(b) - math.sin(a)
        return (b - a) / d if abs(d) > 1e-12 else 1 / math.cos(a)

    f = symgrad(right)
    assert f(0.5, math.pi - 0.5) == right(0.5, math.pi - 0.5)
    assert f.grad(0.5, math.pi - 0.5)[1] == 0.0
    with pytest.warns(match="is not the limit"):
        assert symgrad(band).grad(0.5, 0.5) == (7.0, 0.0)
