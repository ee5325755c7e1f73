"""Points at which values tend to infinity so slowly, or from so far below, that they look like a limit."""

import math

import numpy as np
import pytest
import scipy.special

from symdiff import ir, symgrad
from symdiff.interpret import Certified
from symdiff.ir.functions import EXP, GAMMA, LGAMMA

X, Y = ir.var("x"), ir.var("y")


def at(e, *point):
    return Certified([X, Y], [e], (), 200_000).at_with_status([*point, 0.0][:2])[0]


@pytest.mark.sampled
@pytest.mark.parametrize("x", [-3.0, -1000.0, -1e16, -1e22, -1.7e308])
def test_poles_of_gamma(x):
    assert at(GAMMA(X), x).status == "pole"
    assert at(LGAMMA(X), x).status in ("pole", "budget")
    gamma = symgrad(lambda x: scipy.special.gamma(x))
    assert math.isnan(gamma(x)) and np.isnan(gamma(np.full(3, x))).all()
    assert symgrad(lambda x: scipy.special.gammaln(x))(x) == math.inf


def test_a_pole_of_a_small_number_is_none_of_0():
    assert at(EXP(Y) / X, 0.0, -2000.0).status == "pole"
    assert at(X * EXP(Y) / X, 0.0, -2000.0).value == 0.0


@pytest.mark.slow
def test_one_to_the_infinity_is_no_number():
    def f(y, k):
        return math.exp(y) if k == 0 else (1 + k * y) ** (1 / k)

    for accuracy in ("fast", "high"):
        g = symgrad(f, accuracy=accuracy)
        assert g(1.0, 0.0) == math.e
        assert g(1e20, 0.0) == g(1e308, 0.0) == math.inf  # beyond what limits are looked for
        assert symgrad(lambda x, y: np.power(x, 1 / y), accuracy=accuracy)(1.0, 0.0) == 1.0


@pytest.mark.slow
def test_the_copula_of_clayton():
    def copula(u, v, t):
        return u * v if t == 0 else max(u**-t + v**-t - 1, 0) ** (-1 / t)

    c = symgrad(copula, accuracy="fast")
    assert c(0.5, 0.5, 0.0) == 0.25
    assert c.diff("u", "v")(0.5, 0.5, 0.0) == 1.0
    np.testing.assert_array_equal(c(np.array([0.5, 0.25]), 0.5, 0.0), [0.25, 0.125])
