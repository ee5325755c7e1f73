"""Distributions of `scipy.stats` by their standard forms: values and slopes against SciPy's, frozen ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy import stats

from symdiff import UnsupportedError, symgrad
from symdiff.frontend.library.scipy.densities import TABLE
from tests.frontend.differences import slopes_by

SHAPES: dict[str, tuple[float, ...]] = {
    "chi": (3.3,), "nakagami": (1.2,), "foldnorm": (1.2,), "rice": (0.8,), "invgamma": (2.2,), "gengamma": (2.0, 1.5),
    "loggamma": (1.3,), "pareto": (2.5,), "lomax": (2.0,), "f": (3.3, 4.4), "betaprime": (2.0, 3.0), "fisk": (2.0,),
    "burr": (2.0, 3.0), "burr12": (2.0, 3.0), "mielke": (2.0, 3.0), "invgauss": (0.8,), "alpha": (1.5,), "loglaplace": (2.0,),
    "weibull_max": (1.7,), "genextreme": (0.3,), "genpareto": (0.3,), "gompertz": (0.7,), "exponpow": (1.5,), "exponweib": (1.5, 1.2),
    "genlogistic": (1.5,), "laplace_asymmetric": (1.3,), "dweibull": (1.5,), "dgamma": (1.5,), "gennorm": (1.5,),
    "johnsonsu": (1.0, 2.0), "exponnorm": (1.5,), "skewnorm": (1.2,), "vonmises": (1.5,), "powerlaw": (1.7,), "loguniform": (0.1, 3.0),
    "bradford": (0.7,), "triang": (0.3,), "johnsonsb": (1.0, 2.0), "truncnorm": (-1.0, 2.0), "geom": (0.3,), "nbinom": (4.2, 0.4),
    "logser": (0.4,), "betabinom": (10, 2.0, 3.0), "planck": (0.5,), "boltzmann": (1.4, 19), "dlaplace": (0.8,), "randint": (1, 9),
    "yulesimon": (3.0,), "hypergeom": (20, 7, 12), "lognorm": (0.7,), "weibull_min": (1.5,), "gamma": (2.3,), "chi2": (3.2,),
    "t": (4.5,), "beta": (2.2, 3.1), "bernoulli": (0.3,), "binom": (7, 0.3), "poisson": (2.2,),
}  # fmt: skip
POINTS = (-2.3, -0.4, 0.25, 0.9, 1.6, 4.5)
PLACES = {"weibull_max": -0.9, "pareto": 2.0, **dict.fromkeys(["powerlaw", "triang", "bradford", "arcsine", "johnsonsb"], 0.7)}  # fmt: skip
COUNTS = (-1.0, 0.0, 1.0, 3.0, 5.0)
"""In the tails of counts SciPy subtracts from 1."""
QUICK = ("halfnorm", "truncnorm", "genextreme", "gumbel_r", "nbinom", "geom")
"""In the default suite."""
EVERY = [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in TABLE]


def kinds(name: str) -> list[str]:
    of = TABLE[name]
    found = ["logpmf", "pmf"] if of.whole else ["logpdf", "pdf"]
    if of.below is not None or of.above is not None:
        found += ["cdf", "sf", "logcdf", "logsf"]
    return found


def of_all(name: str, names: list[str]) -> Any:
    """All methods at once, of a distribution that is frozen."""
    distribution = getattr(stats, name)

    def f(x, params):
        made = distribution(*params)
        return [getattr(made, k)(x) for k in names]

    return f


@pytest.mark.sampled
@pytest.mark.parametrize("name", EVERY)
def test_values_are_scipys(name: str) -> None:
    whole, names = TABLE[name].whole, kinds(name)
    params = SHAPES.get(name, ()) if whole else (*SHAPES.get(name, ()), 0.1, 1.3)
    f = of_all(name, names)
    g = symgrad(f)
    for x in COUNTS if whole else POINTS:
        with np.errstate(all="ignore"):
            want = [float(v) for v in f(x, params)]
        got = [float(v) for v in g(x, params)]
        assert got == pytest.approx(want, rel=2e-11, abs=1e-300, nan_ok=True), (x, names)


@pytest.mark.sampled
@pytest.mark.parametrize("name", EVERY)
def test_slopes_are_those_of_scipys_values(name: str) -> None:
    if name == "bernoulli":
        return  # it has no third count: see `test_distributions`
    distribution, given = getattr(stats, name), SHAPES.get(name, ())
    if TABLE[name].whole:
        shapes = [v for v in given if isinstance(v, float)]
        if not shapes:
            return

        def f(a):
            left = list(a)
            return distribution(*[left.pop(0) if v in shapes else v for v in given]).logpmf(3)

        params = tuple(shapes)
    else:

        def f(a):
            return distribution(*a[1:]).logpdf(a[0])

        params = (PLACES.get(name, 0.9), *given, 0.1, 1.3)
    expected = slopes_by(lambda a: float(f(tuple(a))), (list(params),), 0)
    assert list(symgrad(f).grad(params)) == pytest.approx(expected.tolist(), rel=1e-6, abs=1e-7)


@pytest.mark.slow
def test_arguments_by_name_and_of_arrays() -> None:
    x = np.array([0.3, 0.9, 1.7])
    for f in (
        lambda x, m, s: stats.halfnorm.logpdf(x, loc=m, scale=s),
        lambda x, m, s: stats.invgamma(a=s, loc=m).logpdf(x),
        lambda x, m, s: stats.norm(m, scale=s).cdf(x) + stats.gamma(s).sf(x),
    ):
        got = symgrad(f)(x, 0.1, 1.4)
        np.testing.assert_allclose(got, f(x, 0.1, 1.4), rtol=1e-13)
    total = symgrad(lambda x, m, s: np.sum(stats.gumbel_r(m, s).logpdf(x)))
    slopes = total.grad(x, 0.1, 1.4)
    z = (x - 0.1) / 1.4
    np.testing.assert_allclose(slopes[1], np.sum(1 - np.exp(-z)) / 1.4, rtol=1e-13)


@pytest.mark.sampled
@pytest.mark.parametrize("z", [-40.0, -5.0, 1e-9, 3.0, 37.0])
def test_tails_have_their_digits(z: float) -> None:
    with mp.workdps(60):
        x = mp.mpf(z)
        want = float(mp.log(-mp.expm1(-mp.exp(-x)))), float(-mp.exp(-x))
        half = float(mp.erfc(abs(x) / mp.sqrt(2)))
    f = symgrad(lambda x: (stats.gumbel_r.logsf(x), stats.gumbel_r.logcdf(x)))
    assert f(z) == pytest.approx(want, rel=4e-16)
    assert symgrad(lambda x: stats.halfnorm.sf(x))(abs(z)) == pytest.approx(half, rel=9e-16)


def test_bernoullis_counts_are_0_and_1() -> None:
    f = symgrad(lambda k, p: stats.bernoulli.pmf(k, p))
    assert [f(k, 0.3) for k in (-1.0, 0.0, 1.0, 3.0)] == pytest.approx([0.0, 0.7, 0.3, 0.0])


def test_methods_that_have_no_formula_are_refused() -> None:
    with pytest.raises(UnsupportedError):
        symgrad(lambda x: stats.skewnorm.ppf(x, 1.2))(0.3)
    with pytest.raises(UnsupportedError, match=r"stats\.invgamma takes a, loc, scale"):
        symgrad(lambda x: stats.invgamma.logpdf(x))(0.3)
