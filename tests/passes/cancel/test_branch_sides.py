"""Absolute values, maxima and minima inside of branches that know their sign, and steps of users beside them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from symdiff import symgrad

LOGARITHM, EXPONENTIAL, LINE = lambda t: 1 / (1 + t), math.exp, lambda t: 1.0
"""Slopes of what the functions are of the size of x."""
ODD = {
    "branches": (lambda x: -math.log1p(abs(x)) if x < 0 else math.log1p(abs(x)), LOGARITHM),
    "other edge": (lambda x: math.log1p(abs(x)) if x > 0 else -math.log1p(abs(x)), LOGARITHM),
    "where": (lambda x: np.where(x < 0, -np.log1p(np.abs(x)), np.log1p(np.abs(x))), LOGARITHM),
    "step": (lambda x: np.where(x < 0, -1.0, 1.0) * np.log1p(np.abs(x)), LOGARITHM),
    "sign": (lambda x: np.sign(x) * np.log1p(np.abs(x)), LOGARITHM),
    "copysign of 1": (lambda x: math.copysign(1.0, x) * math.log1p(abs(x)), LOGARITHM),
    "copysign": (lambda x: math.copysign(math.log1p(abs(x)), x), LOGARITHM),
    "multiples": (lambda x: math.copysign(math.log1p(abs(2 * x) / 2), 3 * x), LOGARITHM),
    "expm1": (lambda x: math.copysign(math.expm1(abs(x)), x), EXPONENTIAL),
    "exp": (lambda x: math.copysign(math.exp(abs(x)) - 1, x), EXPONENTIAL),
    "power": (
        lambda x: math.copysign(2 * ((1 + abs(x)) ** 0.5 - 1), x), lambda t: (1 + t) ** -0.5
    ),
    "itself": (lambda x: math.copysign(abs(x), x), LINE),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("error")
def test_odd_functions_of_a_size_have_the_slope_of_both_sides(name):
    plain, slope = ODD[name]
    f = symgrad(plain)
    assert f.grad(0.0) == f.grad(-0.0) == 1.0
    for x in (-0.7, -1e-9, 1e-200, 0.3):
        near = 1e-7 if abs(x) < 1e-8 else 1e-13
        assert f(x) == pytest.approx(float(plain(x)), rel=near, abs=1e-16)
        assert f.grad(x) == pytest.approx(slope(abs(x)), rel=1e-14)
    points = np.array([-0.7, -0.0, 0.0, 0.3])
    assert f.grad(points) == pytest.approx([slope(abs(x)) for x in points], rel=1e-14)


def test_a_branch_that_is_taken_counts_at_its_edge():
    assert symgrad(lambda x: abs(x) if x >= 0 else 0.0).grad(0.0) == 1.0
    assert symgrad(lambda x: abs(x) if x > 0 else 0.0).grad(0.0) == 0.0


def test_the_sign_of_a_zero_stays_where_something_divides_by_it():
    points = np.array([-0.0, 0.0, 2.0])
    with np.errstate(divide="ignore"):
        inverse = symgrad(lambda x: np.where(x >= 0, 1 / np.abs(x), 5.0))
        assert np.array_equal(inverse(points), [np.inf, np.inf, 0.5])
        angle = symgrad(lambda x: np.where(x >= 0, np.arctan2(np.abs(x), -1.0), 5.0))
        assert np.array_equal(angle(points), np.arctan2(np.abs(points), -1.0))


def test_nan_is_in_the_last_branch():
    f = symgrad(lambda x: -np.abs(x) if x < 0 else np.abs(x) + 1)
    assert math.isnan(f(math.nan))


@pytest.mark.filterwarnings("error")
def test_a_step_that_jumps_stays_a_step():
    f = symgrad(lambda x: math.copysign(1 + abs(x), x))
    assert (f(-2.0), f(2.0)) == (-3.0, 3.0)
    assert f.grad(2.0) == f.grad(-2.0) == f.grad(0.0) == 1.0


@pytest.mark.slow
def test_curvature_of_either_sign_has_the_slope_of_both():
    def distance(size, curvature):
        root = np.sqrt(np.abs(curvature))
        bent = np.where(curvature < 0, np.sin(root * size) / root, size)
        return np.where(curvature > 0, np.sinh(root * size) / root, bent)

    f = symgrad(distance)
    assert f.grad(1.0, 0.0) == (1.0, 1 / 6)
    assert f.grad(2.0, 1e-15) == pytest.approx((1.0, 8 / 6), rel=1e-14)
    assert f.hessian(1.0, 0.0) == ((0.0, 0.5), (0.5, pytest.approx(1 / 60, rel=1e-15)))


@pytest.mark.sampled
@pytest.mark.parametrize("power", [1.5, 1.25, 1.9, 2.5])
def test_functions_whose_second_derivative_is_unbounded_are_not_taken_for_faults(power):
    f = symgrad(lambda x: np.sign(x - 1) * abs(x - 1) ** power + x)
    assert f.grad(1.0) == 1.0
    assert f.grad(3.0) == pytest.approx(1 + power * 2 ** (power - 1), rel=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize("y", [2.0, -2.0])
def test_sizes_with_factors(y):
    for f, slope in (
        (lambda x, y: math.copysign(abs(x) * y, x), abs(y)),
        (lambda x, y: math.copysign(abs(x) / y, x), 1 / abs(y)),
        (lambda x, y: math.copysign(y * abs(x) * math.exp(-abs(x)), x), abs(y)),
        (lambda x, y: math.copysign(abs(x) * y, -x), -abs(y)),
    ):
        assert symgrad(f).grad(0.0, y) == (slope, 0.0)
        for x in (0.7, -0.7):
            assert symgrad(f)(x, y) == pytest.approx(f(x, y), rel=1e-15)
            h = 2.0**-20
            by_x = (f(x + h, y) - f(x - h, y)) / (2 * h)
            assert symgrad(f).grad(x, y)[0] == pytest.approx(by_x, rel=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("f", "at", "slopes"),
    [
        (lambda x, y: max(x, y) if x > y else min(x, y), (1.0, 1.0), (1.0, 0.0)),
        (lambda x, y: max(x, y) if x >= y else x, (1.0, 1.0), (1.0, 0.0)),
        (lambda x, y: np.maximum(x, y) if x >= y else 2 * x, (1.0, 1.0), (1.0, 0.0)),
        (lambda x, y: np.where(x <= y, np.fmin(x, y), y), (1.0, 1.0), (1.0, 0.0)),
        (lambda x, y: max(y, x) ** 2 if x >= y else 0.0, (3.0, 3.0), (6.0, 0.0)),
        (lambda x, y: max(x - y, 0.0) if x >= y else 0.0, (1.0, 1.0), (1.0, -1.0)),
        (lambda x: max(x, 0.0) if x >= 0 else 0.0, (0.0,), (1.0,)),
        (lambda x: max(x, 0.0) if x > 0 else x, (0.0,), (1.0,)),
        (lambda x: min(x, 0.0) if x <= 0 else x, (0.0,), (1.0,)),
        (lambda x, y: min(x, 2 * y) + 1 if x <= 2 * y else x + 1, (2.0, 1.0), (1.0, 0.0)),
        (lambda x, y: max(x, y) if x + y > 0 else min(x, y), (1.0, 1.0), (0.5, 0.5)),  # a kink
    ],
)
@pytest.mark.filterwarnings("error")
def test_extremes_that_a_branch_decides(f, at, slopes):
    """The function that is written there is one of the two."""
    g = symgrad(f)
    found = g.grad(*at)
    rows = g.grad(*(np.full(3, a) for a in at))
    assert (found if isinstance(found, tuple) else (found,)) == slopes
    assert tuple(r[1] for r in (rows if isinstance(rows, tuple) else (rows,))) == slopes


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: max(x, y) if x > y else min(x, y),
        lambda x, y: max(x, y) if x > y else min(y, x),
        lambda x, y: np.maximum(x, y) if x > y else np.minimum(x, y),
        lambda x, y: np.fmax(x, y) if x > y else np.fmin(y, x),
    ],
)
def test_nan_in_decided_extremes(f):
    for at in itertools.product((1.0, 2.0, math.nan), repeat=2):
        assert symgrad(f)(*at) == pytest.approx(f(*at), nan_ok=True)


EXTREMES = {
    "elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))), 0.0, 1.0),
    "elu of Python": (lambda x: x if x > 0 else math.expm1(min(x, 0.0)), 0.0, 1.0),
    "elu, the other way round": (lambda x: x if x > 0 else math.expm1(min(0.0, x)), 0.0, 1.0),
    "elu with another slope": (lambda x: np.where(x > 0, x, 3 * np.expm1(np.fmin(x, 0.0))), 0.0, 3.0),
    "softplus": (lambda x: np.where(x > 1, x, np.log1p(np.exp(np.minimum(x, 1)))), 1.0, 1 / (1 + math.exp(-1))),
    "logarithm": (lambda x: np.where(x < 1, x, 1 + 2 * np.log(np.maximum(x, 1.0))), 1.0, 2.0),
    "clipped": (lambda x: np.where(x < 1, x, 1 + 2 * np.log(np.clip(x, 1.0, 9.0))), 1.0, 2.0),
    "root": (lambda x: np.where(x >= 0, x + np.maximum(x, 0) ** 1.5, 5 * x), 0.0, 1.0),
    "not taken": (lambda x: np.where(x > 0, 2 + np.maximum(x, 0), x), 0.0, 1.0),
    "of another": (lambda x: x if x > 2 else max(4 * x, 3 * x + 2), 2.0, 3.0),
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.filterwarnings("error")
def test_maxima_that_keep_the_other_side_from_being_computed_have_no_tie(name):
    plain, at, slope = EXTREMES[name]
    f = symgrad(plain)
    assert f.grad(at) == pytest.approx(slope, rel=1e-15)
    assert f.grad(np.array([at, at])) == pytest.approx([slope, slope], rel=1e-15)
    for x in (-3.0, -1e-9, 0.0, 0.3, 1.0, 2.0, 5.0, 800.0, math.inf, -math.inf):
        assert f(x) == pytest.approx(float(plain(x)), rel=1e-15)


def test_ties_of_sides_of_two_arguments():
    f = symgrad(lambda x, y: np.where(x > y, x - y, np.expm1(np.minimum(x, y) - y)))
    assert f.grad(0.5, 0.5) == (1.0, -1.0)
    assert f(0.25, 0.5) == pytest.approx(math.expm1(-0.25), rel=1e-15)
    assert math.isnan(f(math.nan, 0.5)) and math.isnan(f(0.5, math.nan))


@pytest.mark.sampled
@pytest.mark.parametrize("x", [math.nan, 0.0, -1.0])
def test_extremes_in_branches_keep_nan_as_python_does(x):
    for plain in (
        lambda x: x if x > 0 else min(0.0, x),
        lambda x: x if x > 0 else min(x, 0.0),
        lambda x: np.where(x > 0, x, np.minimum(0.0, x)),
        lambda x: np.where(x > 0, x, np.fmin(np.log(x + 0.5), np.log(0.5))),
        lambda x: 5.0 if x < 0 else max(0.0, x),
    ):
        with np.errstate(invalid="ignore"):
            expected = float(plain(x))
        assert symgrad(plain)(x) == pytest.approx(expected, rel=1e-15, nan_ok=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_extremes_in_sums_of_arrays():
    f = symgrad(lambda x: np.sum(np.where(x > 0, x, np.expm1(np.minimum(x, 0)))))
    assert np.array_equal(f.grad(np.array([0.0, 1.0, -0.0])), [1.0, 1.0, 1.0])
    g = symgrad(lambda x: np.sum(np.where(x >= 0, np.abs(x), 0 * x)))
    assert np.array_equal(g.grad(np.array([0.0, 1.0, -2.0])), [1.0, 1.0, 0.0])

    @symgrad
    def loop(x):
        total = 0.0
        for v in x:
            total += v if v > 0 else math.expm1(min(v, 0.0)) * total
        return total

    assert np.array_equal(loop.grad(np.array([2.0, 0.0, 3.0])), [1.0, 2.0, 1.0])


def hue(r, g, b):
    """Of a colour, in sixths of the circle."""
    most, least = max(r, g, b), min(r, g, b)
    if most == least:
        return 0.0
    if most == r:
        return (g - b) / (most - least) % 6
    if most == g:
        return (b - r) / (most - least) + 2
    return (r - g) / (most - least) + 4


@pytest.mark.slow
@pytest.mark.parametrize("colour", [(0.75, 0.75, 0.25), (0.5, 0.75, 0.75), (0.75, 0.5, 0.75)])
def test_a_maximum_that_is_said_to_be_an_argument_has_no_tie(colour):
    f = symgrad(hue)
    assert f(*colour) == hue(*colour)
    h = 2.0**-20
    for i, slope in enumerate(f.grad(*colour)):
        if hue(*colour[:i], colour[i] + h, *colour[i + 1 :]) > 5.5:
            continue  # from red to pink: it jumps by a turn
        above, below = (hue(*colour[:i], colour[i] + s * h, *colour[i + 1 :]) for s in (1, -1))
        assert any(
            slope == pytest.approx(d, rel=1e-5, abs=1e-5)
            for d in ((above - hue(*colour)) / h, (hue(*colour) - below) / h)
        )
    for f, slopes in (
        (lambda x, y: 2 * max(x, y) if max(x, y) == x else 3 * y, (2.0, 0.0)),
        (lambda x, y: min(x, y) ** 2 if x == min(x, y) else y, (2.0, 0.0)),
        (lambda x, y: min(x, y) ** 2 if min(x, y) != x else y, (0.0, 1.0)),
    ):
        assert symgrad(f).grad(1.0, 1.0) == slopes
