"""Functions of `scipy.special` at edges of their domains and at infinity, as SciPy's."""

import itertools
import math
from fractions import Fraction

import pytest
import scipy.special

from symdiff import ir, symgrad
from symdiff.interpret import Certified
from symdiff.ir.functions import BETAINC


def _power(n):
    return ir.const(Fraction(1, 2**n))


def test_pseudo_huber_where_the_width_is_0():
    f = symgrad(lambda d, r: scipy.special.pseudo_huber(d, r))
    for d, r in ((0.0, 2.0), (0.0, 0.0), (1.0, math.inf), (-1.0, 2.0), (1.0, 2.0)):
        assert f(d, r) == pytest.approx(scipy.special.pseudo_huber(d, r), rel=1e-15)
    assert f.grad(0.0, 2.0) == (2.0, 0.0)  # d*(sqrt(d*d + r*r) - d) is 2*d
    assert f(1.0, 1e-9) == pytest.approx(5e-19, rel=1e-15)


@pytest.mark.slow
def test_inverse_box_cox_at_0_and_at_infinity():
    f = symgrad(lambda y, k: scipy.special.inv_boxcox(y, k))
    assert f(1e20, 0.0) == f(1e308, 0.0) == math.inf
    for y, k in ((0.0, math.inf), (1.0, -math.inf), (-3.0, 2.0)):
        assert math.isnan(f(y, k)) and math.isnan(scipy.special.inv_boxcox(y, k))
    assert f(-1.0, 1.0) == 0.0 and f(1.0, 0.5) == 2.25
    assert f.grad(1.0, 0.0) == pytest.approx((math.e, -math.e / 2), rel=1e-14)


def test_shares_from_the_far_end_and_of_no_degrees_of_freedom():
    f = symgrad(lambda a, b, x: scipy.special.fdtr(a, b, x))
    odd = (0.0, -1.5, 2.0, math.inf)
    for p in itertools.product(odd, repeat=3):
        assert f(*p) == pytest.approx(float(scipy.special.fdtr(*p)), rel=1e-14, nan_ok=True)
    # what is left where almost all is: x = 1 - 2**-300, b = 2**-600
    share = Certified([], [BETAINC(ir.ONE, _power(600), ir.ONE - _power(300))]).at([])[0]
    assert share == pytest.approx(2.0**-600 * 300 * math.log(2), rel=1e-14)
