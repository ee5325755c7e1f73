"""Python's `max` and `min`, which take no notice of nan but in the first place, in every tier; and clamps
below functions whose slope is infinite at their edge."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

from symdiff import symgrad

VALUES = (math.nan, 1.0, 2.0, -1.0, math.inf)
ACCURACIES = ("high", "fast", "strict", "certified")


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: max(x, y),
        lambda x, y: min(x, y),
        lambda x, y: min(max(x, 0.5), y) * 3,
        lambda x, y: max(0.0, x) - min(0.0, y),
        lambda x, y: max(x, y, 1.5) + min([y, x, 0.5]),
        lambda x, y: max(x, np.log(y)),
        lambda x, y: np.tanh(max(x, y) - min(x, y) / 3),
        lambda x, y: np.maximum(x, y) + np.minimum(0.0, x),
    ],
)
def test_nan_in_any_place(f, accuracy):
    g = symgrad(f, accuracy=accuracy)
    points = list(itertools.product(VALUES, repeat=2))
    with np.errstate(all="ignore"):
        want = [float(f(np.float64(x), np.float64(y))) for x, y in points]
    one_by_one = [g(x, y) for x, y in points]
    as_arrays = g(*map(np.array, zip(*points, strict=True)))
    for p, w, a, b in zip(points, want, one_by_one, as_arrays, strict=True):
        assert same(a, w) and same(b, w), (p, w, a, b)


def of_filtered(x):
    return max(a for a in x if not a < 0)


def with_default(x):
    return min(x, default=3.0)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "f", [lambda x: max(x), lambda x: min(a * 2 for a in x), of_filtered, with_default]
)
def test_of_arrays(f):
    g = symgrad(f)
    rows = [1.0, math.nan, 2.0], [math.nan, 1.0], [-math.inf, -math.inf], [-1.0, math.nan, 5.0, 2.0], [math.inf], []  # fmt: skip
    for row in rows:
        x = np.array(row)
        try:
            want = float(f(x))
        except ValueError:
            with pytest.raises(ValueError, match="of nothing"):
                g(x)
            continue
        assert same(g(x), want), row


@pytest.mark.slow
def test_derivatives_are_those_of_maxima():
    assert symgrad(lambda x: max(0.0, x)).grad(np.array([-1.0, 0.0, 2.0])).tolist() == [0, 0.5, 1]
    assert symgrad(lambda x: max(0, x) ** 2 + min(0, x) ** 2).hessian(0.0) == 2.0
    assert symgrad(lambda x: max(0, x) + np.log1p(np.exp(-abs(x)))).hessian(0.0) == 0.25
    assert symgrad(of_filtered).grad(np.array([-1.0, 4.0, 2.0])).tolist() == [0, 1, 0]
    assert symgrad(with_default).grad(np.array([])).tolist() == []


def test_a_number_outside_of_its_domain_is_no_maximum():
    f = symgrad(lambda x: max(-5.0, np.sqrt(x) ** 2))
    assert f(-1.0) == -5.0 and f(4.0) == 4.0
    assert f.grad(-1.0) == 0.0 and f.grad(4.0) == 1.0


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ACCURACIES)
def test_powers_of_one_and_by_zero_are_one_beside_nan(accuracy):
    f, h = (
        symgrad(lambda x, y: x**y, accuracy=accuracy),
        symgrad(lambda x, y: (2 * x) ** (y - 1), accuracy=accuracy),
    )
    assert f(1.0, math.nan) == f(math.nan, 0.0) == h(0.5, math.nan) == h(math.nan, 1.0) == 1.0
    for x in (0.0, 2.0, math.nan):
        assert math.isnan(f(x, math.nan))
    assert f(np.array([1.0, math.nan, 0.0]), np.array([math.nan, 0.0, math.nan]))[:2].tolist() == [1, 1]  # fmt: skip


# --- clamps below functions whose slope is infinite at their edge
@pytest.mark.sampled
@pytest.mark.parametrize("root", [math.sqrt, lambda t: t**0.5, lambda t: t**0.25 * t**0.25])
def test_second_derivatives_where_a_clamp_is_not_met(root):
    f = symgrad(lambda c, m: root(max(0.0, 1 - c)) * m)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f.hessian(1.5, 0.5) == ((0.0, 0.0), (0.0, 0.0))
    by_both = f.hessian(0.75, 0.5)[0][1]
    assert by_both == pytest.approx(-1.0, rel=1e-14)


@pytest.mark.slow
def test_reflection_beyond_the_critical_angle():
    def reflected(angle, index):
        inside = math.sqrt(max(0.0, 1 - (math.sin(angle) / index) ** 2))
        outside = math.cos(angle)
        return ((outside - index * inside) / (outside + index * inside)) ** 2

    assert symgrad(reflected).hessian(0.5, 0.3) == ((0.0, 0.0), (0.0, 0.0))


def test_angular_margins_beyond_the_end():

    hessian = symgrad(
        lambda c, m: c * math.cos(m) - math.sqrt(max(0.0, 1 - c * c)) * math.sin(m)
    ).hessian(1 + 1e-8, 0.5)
    assert hessian[0][1] == pytest.approx(-math.sin(0.5), rel=1e-15)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("function", "high"),
    [
        (lambda t: math.sqrt(min(1.0, max(0.0, t))), 0.25),
        (lambda t: math.acos(min(1.0, max(-1.0, t))), math.nan),
        (lambda t: math.asin(max(-1.0, min(1.0, t))), math.nan),
        (lambda t: np.arccos(np.clip(t, -1, 1)), math.nan),
        (lambda t: np.sum(np.arccos(np.clip(np.array([t, 0.5]), -1, 1))), math.nan),
    ],
)
def test_a_finite_and_an_infinite_side_have_no_mean(function, high):
    f = symgrad(function)
    start = 0.0 if high == 0.25 else -1.0
    np.testing.assert_equal([f.grad(start), f.grad(1.0)], [math.nan, high])
    assert f.grad(start - 1) == f.grad(2.0) == 0.0


def test_roots_of_clamps_in_sums():
    f = symgrad(lambda x: np.sum(np.sqrt(np.clip(x, 0, None))))
    np.testing.assert_equal(f.grad(np.array([0.0, 1.0, -1.0])), [math.nan, 0.5, 0.0])
    g = symgrad(lambda x: np.sum(np.where(x > 0, np.sqrt(np.maximum(x, 0.0)), 0.0)))
    np.testing.assert_equal(g.grad(np.array([0.0, 1.0, -1.0])), [0.0, 0.5, 0.0])


@pytest.mark.slow
def test_arrays_too():

    hessian = symgrad(lambda x, w: np.sum(np.sqrt(np.maximum(0.0, 1 - x)) * w)).hessian(
        np.array([1.5, 0.75]), np.array([0.5, 2.0])
    )
    mixed = np.array(hessian[0][1])
    np.testing.assert_allclose(mixed, [[0.0, 0.0], [0.0, -1.0]], rtol=1e-14)
