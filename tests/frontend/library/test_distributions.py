"""Methods of scipy.stats' distributions, against SciPy's values and differences of them."""

import math

import numpy as np
import pytest
from scipy import special, stats

from symdiff import UnsupportedError, symgrad
from symdiff.frontend.library.scipy.located import METHODS as KINDS
from symdiff.frontend.library.scipy.located import has
from tests.frontend.differences import slopes_by

SHAPES = {
    "lognorm": (0.7,), "weibull_min": (1.5,), "gamma": (2.3,), "chi2": (3.2,), "t": (4.5,),
    "beta": (2.2, 3.1),
}  # fmt: skip
COUNTS = {"bernoulli": (0.3,), "binom": (7.0, 0.3), "poisson": (2.2,)}


NAMES = (
    "norm", "lognorm", "expon", "laplace", "weibull_min", "gamma", "chi2", "logistic", "cauchy", "t", "uniform", "beta", *COUNTS,
)  # fmt: skip
METHODS = [
    (name, method)
    for name in NAMES
    for method in KINDS
    if has(name, method) and (name, method) != ("bernoulli", "logsf")  # -inf at 1
]


def traced(name, method):
    """The method as a function of all that is real, and where to try it."""
    call = getattr(getattr(stats, name), method)
    shapes = SHAPES.get(name, COUNTS.get(name))
    whole = shapes is not None and name in COUNTS and method in ("cdf", "sf")
    if whole and name == "binom":  # SciPy takes whole numbers only
        return (lambda p: call(2, 7, p)), (0.3,)
    if name in COUNTS and len(shapes) == 1:
        return (lambda p: call(3 if name == "poisson" else 1, p)), shapes
    if name in COUNTS:
        return (lambda n, p: call(2, n, p)), shapes
    if shapes is None:
        return (lambda x, m, s: call(x, loc=m, scale=s)), (0.8, 0.1, 1.3)
    if len(shapes) == 1:
        return (lambda x, a, m, s: call(x, a, m, scale=s)), (0.8, *shapes, 0.1, 1.3)
    return (lambda x, a, b, m, s: call(x, a, b, loc=m, scale=s)), (0.8, *shapes, 0.1, 1.3)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_every_method_agrees_with_scipy(name, method):
    f, at = traced(name, method)
    g = symgrad(f)
    assert g(*at) == pytest.approx(f(*at), rel=1e-13)
    slopes = g.grad(*at)
    for k, slope in enumerate(slopes if isinstance(slopes, tuple) else (slopes,)):
        if (name, k) != ("binom", 0):  # SciPy rounds the number of trials
            assert slope == pytest.approx(slopes_by(f, at, k, 1e-4, fine=True), rel=1e-7, abs=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "method"), [m for m in METHODS if m[0] not in COUNTS], ids="-".join
)
def test_outside_of_the_support_and_for_arrays(name, method):
    f, at = traced(name, method)
    xs = np.array([-3.0, 0.05, 0.4, 1.2, 5.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(symgrad(f)(xs, *at[1:]), f(xs, *at[1:]), rtol=1e-12)


def test_a_likelihood_of_an_array():
    def loss(x, m, s):
        return -np.sum(stats.norm.logpdf(x, m, s))

    x, m, s = np.array([0.1, 0.4, 0.7]), 0.2, 1.3
    by_x, by_m, by_s = symgrad(loss).grad(x, m, s)
    np.testing.assert_allclose(by_x, (x - m) / s**2, rtol=1e-14)
    assert by_m == pytest.approx(-np.sum(x - m) / s**2, rel=1e-14)
    assert by_s == pytest.approx(3 / s - np.sum((x - m) ** 2) / s**3, rel=1e-14)


@pytest.mark.slow
def test_lists_are_arrays():
    data, counts = [0.3, 1.2, 0.7], (1, 0, 2)

    def likelihood(a, m):
        found = np.sum(stats.norm.logpdf(data, loc=[m, 2 * m, a]))
        return found + np.sum(stats.poisson.logpmf(counts, a))

    # d/da: z of the third, and k/a - 1; d/dm: z of the first, and twice that of the second
    f = symgrad(likelihood)
    assert f(1.5, 0.4) == pytest.approx(likelihood(1.5, 0.4), rel=1e-14)
    assert f.grad(1.5, 0.4) == pytest.approx((0.7 - 1.5 + 3 / 1.5 - 3, -0.1 + 2 * 0.4), rel=1e-14)


def test_the_logarithm_of_a_tail_keeps_its_digits():
    g = symgrad(lambda x: stats.norm.logcdf(x))
    for x in (-40.0, -8.0, 0.0, 9.0):
        assert g(x) == pytest.approx(special.log_ndtr(x), rel=1e-12)
    assert g.grad(-40.0) == pytest.approx(40.02496884720726, rel=1e-15)


def test_what_has_no_closed_form_is_refused():
    with pytest.raises(UnsupportedError, match=r"'stats\.gamma\.ppf' cannot be traced"):
        symgrad(lambda x: stats.gamma.ppf(x, 2.0))(0.5)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("call", "at"),
    [
        (lambda x: special.rgamma(x), (0.6,)), (lambda x, y: special.beta(x, y), (0.6, 1.4)),
        (lambda x, y: special.betaln(x, y), (0.6, 1.4)), (lambda x, y: special.poch(x, y), (0.6, 1.4)),
        (lambda x, y: special.binom(x, y), (3.6, 1.4)), (lambda x: special.erfcx(x), (0.6,)),
        (lambda x: special.erfcx(x), (30.0,)), (lambda x: special.log_ndtr(x), (-30.0,)),
        (lambda x, y: special.rel_entr(x, y), (0.6, 0.7)), (lambda x, y: special.kl_div(x, y), (0.6, 0.7)),
        (lambda x, y: special.kl_div(x, y), (0.0, 0.7)), (lambda d, r: special.huber(d, r), (1.0, 3.0)),
        (lambda d, r: special.huber(d, r), (1.0, -0.3)), (lambda d, r: special.pseudo_huber(d, r), (1.3, 0.4)),
        (lambda x, k: special.boxcox(x, k), (1.7, 0.3)), (lambda x, k: special.boxcox(x, k), (1.7, 0.0)),
        (lambda x, k: special.boxcox1p(x, k), (1.7, 0.3)), (lambda y, k: special.inv_boxcox(y, k), (1.7, 0.3)),
    ],
)  # fmt: skip
def test_shorthands_of_scipy_special(call, at):
    g = symgrad(call)
    assert g(*at) == pytest.approx(call(*at), rel=2e-13)
    slopes = g.grad(*at)
    for k, slope in enumerate(slopes if isinstance(slopes, tuple) else (slopes,)):
        if at[k] != 0.0:
            assert slope == pytest.approx(
                slopes_by(call, at, k, 1e-4, fine=True), rel=1e-7, abs=1e-9
            )


@pytest.mark.slow
def test_box_and_cox_at_zero():
    g = symgrad(lambda x, k: special.boxcox(x, k))
    assert g.grad(1.7, 0.0)[1] == pytest.approx(math.log(1.7) ** 2 / 2, rel=1e-15)


EDGES = {
    "gamma.logpdf": (lambda x, a: stats.gamma.logpdf(x, a), (0.0, 1.0), -1.0),
    "gamma.pdf": (lambda x, a: stats.gamma.pdf(x, a), (0.0, 1.0), -1.0),
    "chi2.logpdf": (lambda x, a: stats.chi2.logpdf(x, a), (0.0, 2.0), -0.5),
    "beta.logpdf": (lambda x, a: stats.beta.logpdf(x, a, 3.0), (0.0, 1.0), -2.0),
    "beta.logpdf at 1": (lambda x, b: stats.beta.logpdf(x, 2.0, b), (1.0, 1.0), 1.0),
    "weibull_min.logpdf": (lambda x, c: stats.weibull_min.logpdf(x, c), (0.0, 1.0), -1.0),
    "weibull_min.pdf": (lambda x, c: stats.weibull_min.pdf(x, c), (0.0, 2.0), 2.0),
    "infinite": (lambda x, a: stats.gamma.logpdf(x, a), (0.0, 0.5), -math.inf),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize(("f", "at", "slope"), EDGES.values(), ids=EDGES)
def test_the_edge_of_the_support_belongs_to_it(f, at, slope):
    g = symgrad(f)
    assert g(*at) == pytest.approx(f(*at), rel=1e-15)
    assert g.grad(*at)[0] == slope


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["rel_entr", "kl_div"])
def test_relative_entropies_are_steep_at_zero(name):
    f = getattr(special, name)
    g = symgrad(lambda x, y: f(x, y))
    for at in ((0.0, 0.0), (0.0, 0.7), (0.3, 0.0)):
        assert g(*at) == f(*at)
    by_x, by_y = g.grad(0.0, 0.7)
    assert (by_x, by_y) == (-math.inf, 1.0 if name == "kl_div" else 0.0)


@pytest.mark.slow
def test_distribution_functions_beyond_their_supports_and_by_shapes():
    for f, at in (
        (lambda x: stats.gamma.cdf(x, 2.5), (-1.0, 0.0, 1e-200, 3.0, 900.0)),
        (lambda x: stats.beta.sf(x, 2.5, 0.5), (-1.0, 0.0, 1e-9, 0.7, 1.0, 2.0)),
        (lambda x: stats.t.cdf(x, 3), (-1e10, -2.0, 0.0, 0.5, 40.0)),
        (lambda x: stats.poisson.cdf(x, 2.5), (-1.0, -0.5, 0.0, 2.0, 2.7, 90.0)),
        (lambda x: stats.chi2.sf(x, 3), (-1.0, 0.0, 0.2, 700.0)),
        (lambda x: stats.binom.cdf(x, 5, 0.25), (-1.0, 0.0, 2.5, 5.0, 9.0)),
    ):
        for x in at:
            assert symgrad(f)(x) == pytest.approx(f(x), rel=1e-12), x
    by_df = symgrad(lambda x, df: stats.t.cdf(x, df)).grad(0.7, 2.2)[1]
    assert by_df == pytest.approx(slopes_by(stats.t.cdf, (0.7, 2.2), 1, 1e-4, fine=True), rel=1e-8)
    assert symgrad(lambda x: stats.t.cdf(x, 3)).grad(0.0) == pytest.approx(stats.t.pdf(0.0, 3))
    with np.errstate(all="ignore"):
        q = np.array([-0.5, 0.0, 0.3, 1.0])
        for f in (lambda q: stats.norm.ppf(q), lambda q: stats.cauchy.ppf(q)):
            np.testing.assert_allclose(symgrad(f)(q)[2], f(q)[2], rtol=1e-13)


def test_holomorphic_are_computed_where_they_are_real():
    w = symgrad(lambda x: special.lambertw(x).real)
    assert w.grad(0.0) == 1.0 and math.isnan(w(-0.5))
    for k, points in ((0, (-0.3, 0.5, 3.0)), (-1, (-0.3, -0.01))):
        both = symgrad(lambda x, k=k: special.lambertw(x, k) + 1, static="k")
        for x in points:
            assert both(x) == pytest.approx(special.lambertw(x, k) + 1, rel=1e-14)
        assert math.isnan(both(-0.5).real)
    for bad, x in (
        (lambda x: special.lambertw(x), 0.5j),
        (lambda x: special.lambertw(x, 1).real, 0.5),
    ):
        with pytest.raises(UnsupportedError):
            symgrad(bad)(x)


def test_the_sign_of_the_gamma_function():
    x = np.array([-3.5, -2.5, -0.5, 0.0, 0.5, 2.0, -2.0])
    np.testing.assert_array_equal(symgrad(lambda x: special.gammasgn(x))(x), special.gammasgn(x))
    assert symgrad(lambda x: special.gammasgn(x) * x).grad(-2.5) == -1.0


@pytest.mark.sampled
@pytest.mark.parametrize("method", ["pdf", "cdf"])
@pytest.mark.parametrize("name", ["norm", "gamma", "t", "weibull_min"])
def test_negative_scales_and_shapes_give_nan(name, method):
    shapes, call = SHAPES.get(name, ()), getattr(getattr(stats, name), method)
    f = symgrad((lambda s, a: call(1.5, a, scale=s)) if shapes else lambda s: call(1.5, scale=s))
    assert math.isfinite(f(2.0, *shapes)) and math.isnan(f(-2.0, *shapes))
    if shapes:
        assert math.isnan(f(2.0, -2.5))
