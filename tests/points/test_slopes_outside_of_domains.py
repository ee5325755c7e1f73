"""In programs with arrays, derivatives are nan where the function has no value."""

import mpmath
import numpy as np
import pytest
from scipy import special

from symdiff import symgrad

OUTSIDE = {
    np.log: -1.5, np.log2: -1.5, np.log10: -1.5, np.log1p: -2.5, np.arctanh: 2.5, np.arccosh: 0.5,
    np.sqrt: -1.0, np.arcsin: 1.5, np.arccos: -1.5, special.logit: 1.5,
}  # fmt: skip


@pytest.mark.sampled(14)
@pytest.mark.parametrize("f", OUTSIDE, ids=lambda f: f.__name__)
def test_no_slope_outside_of_the_domain(f):
    x = np.array([OUTSIDE[f], 1.5 if f is np.arccosh else 0.5])
    total, each = symgrad(lambda x: np.sum(f(x))), symgrad(lambda x: 3 * f(x))
    assert np.isnan(total.grad(x)).all()  # the sum is nan
    assert np.isnan(total.hessian(x)).all()
    assert np.isnan(each.grad(x)).tolist() == [True, False]
    fast = symgrad(lambda x: np.sum(f(x)), accuracy="fast")
    assert np.isnan(fast.grad(x)).tolist() == [True, False]  # the formula of each element
    assert np.isfinite(fast.grad(x[1:])).all()


def test_what_cancels_says_where_it_was_defined():
    x = np.array([-1.0, 4.0])
    square = symgrad(lambda x: np.sum(np.sqrt(x) ** 2))
    assert np.isnan(square.grad(x)).all()
    assert np.isnan(square.hessian(x)).all()
    assert square.hessian(x[1:]) == 0.0


def test_formulas_are_those_of_the_domain():
    entropy = symgrad(lambda x: np.sum(x * np.log(x) - x))
    x = np.array([1 + 1e-9, 3.0])
    with mpmath.workdps(40):
        truth = [float(mpmath.log(mpmath.mpf(v))) for v in x]
    assert entropy.grad(x) == pytest.approx(truth, rel=1e-15)
    assert str(entropy.grad.expr) == "Lambda(k, log(x[k]))"
    assert str(symgrad(lambda x: np.sum(np.log(x))).grad.expr) == "Lambda(k, 1/x[k])"


@pytest.mark.slow
def test_branches_that_are_not_taken_stay_without_slopes():
    f = symgrad(lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)))
    assert f.grad(np.array([-1.0, 1.0])).tolist() == [0.0, 1.0]
    running = symgrad(lambda x: np.sum(np.log(np.cumsum(x))))
    assert np.isnan(running.grad(np.array([1.0, -3.0, 4.0]))).all()
    assert running.grad(np.array([1.0, 1.0])) == pytest.approx([1.5, 0.5])
