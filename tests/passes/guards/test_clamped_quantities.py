"""Quantities that are kept away from 0, as people write it, beside the formula without: the derivative is that of the
formula, or there is a warning."""

import math

import pytest

from symdiff import symgrad
from symdiff.errors import GuardWarning

E = 1e-8


def replaced(u: float) -> float:
    if abs(u) < E:
        u = E
    return u


def replaced_with_sign(u: float) -> float:
    if abs(u) < E:
        u = -E if u < 0 else E
    return u


CLAMPS = (replaced, replaced_with_sign)


@pytest.mark.sampled
@pytest.mark.parametrize("clamp", CLAMPS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("error")
def test_the_derivative_is_that_of_the_formula(clamp):
    def f(x):
        d = clamp(x - 1)
        return math.expm1(d) / d

    g = symgrad(f)
    # expm1(d)/d = 1 + d/2 + d**2/6 + ...
    assert g.grad(1.0) == pytest.approx(1 / 2, rel=1e-12)
    assert g.grad(1 + 2.0**-30) == pytest.approx(1 / 2 + 2.0**-30 / 3, rel=1e-12)
    assert g.grad(1 - 2.0**-30) == pytest.approx(1 / 2 - 2.0**-30 / 3, rel=1e-12)
    assert g.hessian(1.0) == pytest.approx(1 / 3, rel=1e-12)
    assert g(1 + 2.0**-30) == pytest.approx(f(1 + 2.0**-30), rel=2.0**-23)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "clamp",
    (*CLAMPS, pytest.param(lambda u: u + math.copysign(E, u), id="moved")),
    ids=lambda f: f.__name__,
)
def test_denominators_alone_are_named(clamp):
    f = symgrad(lambda x: math.sin(x - 1) / clamp(x - 1))
    with pytest.warns(GuardWarning, match="not the limit|not the value"):
        f.grad(1.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "size",
    (lambda u: max(abs(u), E), lambda u: abs(u) if abs(u) > E else E),
    ids=("max", "branch"),
)
@pytest.mark.filterwarnings("error")
def test_sizes_whose_squares_are_those_of_the_quantity(size):
    def f(x, y):
        d = size(x - y)
        return (math.exp(2 * d) - 1 - 2 * d) / d**2

    g = symgrad(f)
    # (expm1(2*d) - 2*d)/d**2 = 2 + 8*d/6 + 16*d**2/24 + ...
    for x in (1 + 2.0**-30, 1 - 2.0**-30, 1.0, 1 + 2.0**-26):
        d, side = abs(x - 1), (x > 1) - (x < 1)
        slope = side * (8 / 6 + 16 * d / 12)
        assert g.grad(x, 1.0) == pytest.approx((slope, -slope), rel=1e-11)
        value, both = g.value_and_grad(x, 1.0)
        assert value == g(x, 1.0) == pytest.approx(2 + 8 * d / 6, rel=2.0**-23)
        assert both == g.grad(x, 1.0)


def test_differences_of_two_variables():
    def f(x, y):
        d = replaced(x - y)
        return (math.exp(x) - math.exp(y)) / d

    with pytest.warns(GuardWarning, match="not the limit"):
        symgrad(f).grad(1.0, 1.0)


def test_epsilons_beside_other_constants_and_other_singular_points():
    with pytest.warns(GuardWarning, match="not the limit"):
        symgrad(lambda x: math.sin(x - 1) / (x - 1 + 1e-9)).grad(1.0)
    with pytest.warns(GuardWarning, match="not the limit"):
        symgrad(lambda x: math.log1p(x) / (x + 1e-9)).grad(0.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.sin(x) / max(2 + x, E),  # it never acts where something is singular
        lambda x: x * x / max(x + 1, E),  # a pole
        lambda x: math.sin(x) / max(abs(x), E),  # a jump
        lambda x: math.sin(x) / (x - 0.9999),
        lambda x: math.copysign(abs(x) + 1.0, x) * x,
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_is_no_guard_keeps_silent(f):
    assert symgrad(f).grad(0.5) == pytest.approx((f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6, rel=1e-6)


def test_values_in_a_clamp_that_is_visible_stay_as_written():
    def f(x):
        d = x if abs(x) > 1e-4 else 1e-4
        return math.expm1(d) / d

    with pytest.warns(GuardWarning, match="not the limit|not the value"):
        assert symgrad(f)(0.0) == pytest.approx(f(0.0), rel=1e-15)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_maximum_with_a_small_number_is_a_branch():
    def f(x):
        d = max(x - 1, E)
        return math.expm1(d) / d

    g = symgrad(f)
    for x in (0.5, 1.0, 1 + 2.0**-30):
        assert g(x) == pytest.approx(f(x), rel=2.0**-52)
        assert g.grad(x) == g.hessian(x) == 0.0
    assert g.grad(1 + 2.0**-20) == pytest.approx(1 / 2 + 2.0**-20 / 3, rel=1e-12)
    floor = symgrad(lambda x: math.log(max(x, 1e-10)))
    assert floor.grad(1e-11) == 0.0  # there is no limit below


def test_a_clamped_size_has_the_slopes_of_the_function_of_that_size():
    def f(x):
        d = max(abs(x), E)
        return math.expm1(d) / d

    g = symgrad(f)
    assert (
        g.grad(2.0**-30) == -g.grad(-(2.0**-30)) == pytest.approx(1 / 2 + 2.0**-30 / 3, rel=1e-12)
    )
    assert g.grad(0.0) == 0.0
    assert g.hessian(2.0**-30) == pytest.approx(1 / 3, rel=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x / max(x, 1e-12),
        lambda x: 3 * x / max(x, 1e-12) * math.exp(x),
        lambda x: x / (x if x > 1e-12 else 1e-12),
        lambda x: math.sin(x) / max(math.sin(x), 1e-12),
    ],
)
def test_a_clamped_denominator_that_cancels_is_named(f):
    with pytest.warns(GuardWarning, match="0.0 against 1.0"):
        assert symgrad(f)(1e-13) == f(1e-13)


@pytest.mark.filterwarnings("error")
def test_what_smooths_is_not_named():
    rate = symgrad(lambda s: s / (s + 1e-9))
    assert rate.grad(0.0) == pytest.approx(1e9)
    step = symgrad(lambda x: x / max(abs(x), 1e-12))
    assert step.grad(1e-13) == pytest.approx(1e12)
