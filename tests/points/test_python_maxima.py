"""Python's `max` and `min`, which take no notice of nan but in the first place, in every tier."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from symdiff import symgrad

VALUES = (math.nan, 1.0, 2.0, -1.0, math.inf)
ACCURACIES = ("high", "fast", "strict", "certified")


def larger(x, y):
    return max(x, y)


def smaller(x, y):
    return min(x, y)


def between(x, y):
    return min(max(x, 0.5), y) * 3


def floor_of_zero(x, y):
    return max(0.0, x) - min(0.0, y)


def of_three(x, y):
    return max(x, y, 1.5) + min([y, x, 0.5])


def outside(x, y):
    return max(x, np.log(y))


def inner(x, y):
    return np.tanh(max(x, y) - min(x, y) / 3)


def numpys(x, y):
    return np.maximum(x, y) + np.minimum(0.0, x)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or a == pytest.approx(b, rel=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("accuracy", ACCURACIES)
@pytest.mark.parametrize(
    "f", [larger, smaller, between, floor_of_zero, of_three, outside, inner, numpys]
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


def of_array(x):
    return max(x)


def of_generator(x):
    return min(a * 2 for a in x)


def of_filtered(x):
    return max(a for a in x if not a < 0)


def with_default(x):
    return min(x, default=3.0)


@pytest.mark.sampled
@pytest.mark.parametrize("f", [of_array, of_generator, of_filtered, with_default])
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
