"""Clamps below functions whose slope is infinite at their edge."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from symdiff import symgrad


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
    def margin(c, m):
        return c * math.cos(m) - math.sqrt(max(0.0, 1 - c * c)) * math.sin(m)

    hessian = symgrad(margin).hessian(1 + 1e-8, 0.5)
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
    def total(x, w):
        return np.sum(np.sqrt(np.maximum(0.0, 1 - x)) * w)

    hessian = symgrad(total).hessian(np.array([1.5, 0.75]), np.array([0.5, 2.0]))
    mixed = np.array(hessian[0][1])
    np.testing.assert_allclose(mixed, [[0.0, 0.0], [0.0, -1.0]], rtol=1e-14)
